package sandbox

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
)

var (
	prefixForm = regexp.MustCompile(`^10\.[0-9]+$`)
	nameForm   = regexp.MustCompile(`^10\.[0-9]+/`)
)

// doiName reads a DOI name in any case, bare or as "doi:" or resolver address,
// and returns it in lower case. ok is false when it is none.
func doiName(text string) (name string, ok bool) {
	name = lower(strings.ReplaceAll(text, "\u200b", ""))
	for _, lead := range []string{"https://doi.org/", "http://doi.org/", "https://dx.doi.org/", "http://dx.doi.org/", "doi:"} {
		if rest, found := strings.CutPrefix(name, lead); found {
			name = rest
			break
		}
	}
	prefix, suffix := splitName(name)
	return name, suffix != "" && nameForm.MatchString(prefix+"/")
}

// splitName cuts a DOI name at its first slash.
func splitName(name string) (prefix, suffix string) {
	prefix, suffix, _ = strings.Cut(name, "/")
	return prefix, suffix
}

// lower folds ASCII letters only: the case of other letters tells DOI names apart.
func lower(text string) string { return mapASCII(text, 'A', 'Z', 'a'-'A') }

func upper(text string) string { return mapASCII(text, 'a', 'z', -('a' - 'A')) }

func mapASCII(text string, from, to, shift rune) string {
	return strings.Map(func(r rune) rune {
		if from <= r && r <= to {
			return r + shift
		}
		return r
	}, text)
}

const base32 = "0123456789abcdefghjkmnpqrstvwxyz"

// mintSuffix makes a random suffix as the service does: six characters of
// base 32 and two check digits, as in "003r-j076".
func mintSuffix() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return suffixFor(binary.BigEndian.Uint32(b[:]) >> 2)
}

func suffixFor(number uint32) string {
	digits := make([]byte, 6)
	for i, rest := 5, number; i >= 0; i, rest = i-1, rest/32 {
		digits[i] = base32[rest%32]
	}
	check := 98 - uint64(number)*100%97
	return fmt.Sprintf("%s-%s%02d", digits[:4], digits[4:], check)
}

// nameInPath is the DOI that a path means.
func nameInPath(path string) (string, error) {
	name, ok := doiName(path)
	if !ok {
		return "", errNoDOI
	}
	return name, nil
}

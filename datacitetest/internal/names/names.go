// Package names parses DOI names, and mints names like the deployed service.
package names

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/datacite-go/datacite-go/internal/lazy"
)

var (
	PrefixForm = lazy.Regexp(`^10\.[0-9]+$`)
	nameForm   = lazy.Regexp(`^10\.[0-9]+/`)
	newForm    = lazy.Regexp(`^10\.[0-9]+/[-._;()/a-z0-9]+$`)
)

// IsNew says whether a new DOI may have that name: it uses only the characters of specification
// §2.3. Names from before July 2018 may contain others and stay reachable.
func IsNew(name string) bool { return newForm().MatchString(name) }

// Read reads a DOI name in any case, bare or as "doi:" or resolver address,
// and returns it in lower case. ok is false if it is not a DOI name.
func Read(text string) (name string, ok bool) {
	name = Lower(strings.ReplaceAll(text, "\u200b", ""))
	for _, lead := range []string{"https://doi.org/", "http://doi.org/", "https://dx.doi.org/", "http://dx.doi.org/",
		"doi:"} {
		if rest, found := strings.CutPrefix(name, lead); found {
			name = rest
			break
		}
	}
	prefix, suffix := Split(name)
	return name, suffix != "" && nameForm().MatchString(prefix+"/")
}

// Split cuts a DOI name at its first slash.
func Split(name string) (prefix, suffix string) {
	prefix, suffix, _ = strings.Cut(name, "/")
	return prefix, suffix
}

// Lower folds ASCII letters only: the case of other letters is significant in DOI names.
func Lower(text string) string { return mapASCII(text, 'A', 'Z', 'a'-'A') }

// Upper is the counterpart of Lower.
func Upper(text string) string { return mapASCII(text, 'a', 'z', -('a' - 'A')) }

func mapASCII(text string, from, to, shift rune) string {
	return strings.Map(func(r rune) rune {
		if from <= r && r <= to {
			return r + shift
		}
		return r
	}, text)
}

const base32 = "0123456789abcdefghjkmnpqrstvwxyz"

// MintUnder makes a random name under the prefix at the start of a text, as the deployed
// service does: text after a slash, then six characters of base 32 and two check digits, as
// in "003r-j076".
func MintUnder(text string) (name string, ok bool) {
	m := prefixStart().FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	name = m[1] + "/"
	if _, shoulder, _ := strings.Cut(text, "/"); shoulder != "" {
		name += shoulder + "-"
	}
	return name + SuffixFor(rand.Uint64N(1<<30)), true
}

var prefixStart = lazy.Regexp(`\A` + resolver + `(10\.[0-9]{4,5})`)

// resolver is what may stand before a name.
const resolver = `(?:https?://?(?:dx\.)?(?:doi.org|handle.stage.datacite.org|handle.test.datacite.org)/)?(?:doi:)?`

// SuffixFor makes the suffix of a number, in groups of four from the end.
func SuffixFor(number uint64) string {
	suffix := fmt.Sprintf("%02d", 98-number%97*100%97)
	for rest := number; rest > 0 || len(suffix) < 9; rest /= 32 {
		if len(suffix)%5 == 4 {
			suffix = "-" + suffix
		}
		suffix = string(base32[rest%32]) + suffix
	}
	return suffix
}

// Package doi parses DOI names as people write them, and writes them into request paths so that
// they reach exactly that DOI. It checks which names may be registered anew.
package doi

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
)

// ErrName is the sentinel that every [NameError] matches.
var ErrName = errors.New("not a usable DOI name")

// A NameError says what is wrong with a DOI name.
type NameError struct{ Name, Reason string }

func (e *NameError) Error() string { return fmt.Sprintf("DOI name %q %s", e.Name, e.Reason) }

// Is matches [ErrName].
func (e *NameError) Is(target error) bool { return target == ErrName }

// At returns an error about a DOI name as one about the parameter that held it, and
// other errors as they are.
func At(path string, err error) error {
	if e, ok := errors.AsType[*NameError](err); ok {
		return datacite.Invalid(datacite.Finding{Path: path, Code: datacite.CodeDOI,
			Reason: fmt.Sprintf("%q %s", e.Name, e.Reason), Err: datacite.ErrInvalidDOI})
	}
	return err
}

// CheckNew refuses a name that the service would not register anew: its prefix
// is "10." and four or five digits, its suffix a-z, A-Z, 0-9 and - . _ ; ( ) /
// (specification §2.3, §8).
func CheckNew(name string) error {
	prefix, suffix, _ := strings.Cut(name, "/")
	if err := CheckPrefix(prefix); err != nil {
		return &NameError{name, `has a prefix that is not "10." and four or five digits`}
	}
	for _, r := range suffix {
		if !newSuffixRune(r) {
			return &NameError{name, fmt.Sprintf(
				"has the character %s, which new names cannot have; allowed are letters, digits and - . _ ; ( ) /", describe(r))}
		}
	}
	return nil
}

// CheckPrefix accepts "10." followed by four or five digits. Of a longer one the
// deployed service uses only the beginning, and registers other names under that.
func CheckPrefix(prefix string) error {
	number := strings.TrimPrefix(prefix, "10.")
	if !IsPrefix(prefix) || strings.Contains(number, ".") || len(number) < 4 || len(number) > 5 {
		return &NameError{prefix, `is not a prefix: "10." and four or five digits`}
	}
	return nil
}

// IsPrefix reports whether registered names may have the prefix: "10." and digits. Old
// ones have further dotted parts.
func IsPrefix(prefix string) bool {
	if !strings.HasPrefix(prefix, "10.") || prefix[len(prefix)-1] == '.' {
		return false
	}
	for i := len("10."); i < len(prefix); i++ {
		if c := prefix[i]; (c < '0' || c > '9') && (c != '.' || prefix[i-1] == '.') {
			return false
		}
	}
	return true
}

func newSuffixRune(r rune) bool {
	return r < utf8.RuneSelf && (isASCIILetterOrDigit(byte(r)) || strings.ContainsRune("-._;()/", r))
}

func isASCIILetterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Prefix returns what stands before the first slash.
func Prefix(name string) string {
	prefix, _, _ := strings.Cut(name, "/")
	return prefix
}

// Equal compares two names as the DOI system does: ignoring the case of ASCII letters,
// but not of others.
func Equal(a, b string) bool { return Normal(a) == Normal(b) }

// Normal returns the form that all spellings of a name share: ASCII letters in
// lower case.
func Normal(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// Address returns the address of a name at the global resolver. Parse reads it back.
func Address(name string) string { return "https://doi.org/" + Path(name) }

// Path returns a name as the end of a request path. Slashes stay, also double ones.
// Everything with a meaning in paths is percent-encoded, and so are the segments "." and
// "..", which some servers would resolve.
func Path(name string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i, segment := range strings.Split(name, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		isStep := segment == "." || segment == ".."
		for j := range len(segment) {
			if c := segment[j]; plainInPath(c) && !isStep {
				b.WriteByte(c)
			} else {
				b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			}
		}
	}
	return b.String()
}

// plainInPath leaves out the plus sign: some servers read it as a blank.
func plainInPath(c byte) bool {
	return isASCIILetterOrDigit(c) || strings.IndexByte("-._~;():@!$&'*,=", c) >= 0
}

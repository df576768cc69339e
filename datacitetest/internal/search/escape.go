package search

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// unescape removes the backslashes from a word, a phrase or a bound: \x is x,
// and \uXXXX is the character of that number.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var out []rune
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		if r == '\\' {
			var err error
			if r, s, err = escaped(s); err != nil {
				return "", err
			}
		}
		out = append(out, r)
	}
	return string(out), nil
}

// escaped reads the text after a backslash.
func escaped(s string) (r rune, rest string, err error) {
	if s == "" {
		return 0, "", refuse("Term can not end with escape character")
	}
	if s[0] != 'u' {
		r, n := utf8.DecodeRuneInString(s)
		return r, s[n:], nil
	}
	s = s[1:]
	for i, r := range s[:min(len(s), 4)] {
		if !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return 0, "", refuse("Non-hex character in Unicode escape sequence: %q", s[i:i+1])
		}
	}
	if len(s) < 4 {
		return 0, "", refuse("Truncated unicode escape sequence")
	}
	n, err := strconv.ParseUint(s[:4], 16, 16)
	if utf16.IsSurrogate(rune(n)) {
		err = wire.QueryEscape.Refusal(s[:4])
	}
	return rune(n), s[4:], err
}

// Wildcards in a pattern; other runes are literal.
const (
	anyRunes rune = -1 - iota // *
	oneRune                   // ?
)

// pattern reads a wildcard pattern. A backslash makes the next character
// literal; \uXXXX is not decoded, which is how search servers read patterns.
func pattern(s string) []rune {
	var out []rune
	literal := false
	for _, r := range s {
		switch {
		case literal:
			literal = false
		case r == '\\':
			literal = true
			continue
		case r == '*':
			r = anyRunes
		case r == '?':
			r = oneRune
		}
		out = append(out, r)
	}
	return out
}

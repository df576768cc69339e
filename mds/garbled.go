package mds

import (
	"bytes"
	"fmt"
	"strings"
)

// garbled reports whether a response may have lost characters: each of them has two
// bytes or more.
func garbled[T string | []byte](text T) bool {
	ascii := strings.IndexFunc(string(text), func(r rune) bool { return r >= 0x80 }) < 0
	return ascii && bytes.Contains([]byte(text), []byte("??"))
}

func garbledError(op, name string) error {
	return fmt.Errorf("%s: %s: %w", op, name, ErrGarbled)
}

// garble replaces characters as the service does.
func garble(text string) string {
	out := []byte(text)
	for i, c := range out {
		if c >= 0x80 {
			out[i] = '?'
		}
	}
	return string(out)
}

func asIs(text string) string { return text }

// A comparison is the result of comparing given with stored metadata.
type comparison struct {
	same    bool     // stored is what was given, or what the service makes of it each time
	altered []string // where stored differs from given, as far as can be seen
}

// compareMetadata compares what was given with what is stored. Garbled metadata are
// never the same, as that cannot be seen; where they differ only by the garbling they
// are not altered.
func compareMetadata(given, stored []byte) comparison {
	expected := []byte(rewritten.Replace(string(given)))
	seen := asIs
	if garbled(stored) {
		seen = garble
		if _, err := leaves(stored); err != nil {
			// The name of an element or attribute is garbled. What the service changes each
			// time is known even so.
			return comparison{altered: alterations(given, expected, asIs)}
		}
	}
	c := comparison{altered: alterations(given, stored, seen)}
	c.same = !garbled(stored) && (c.altered == nil || alterations(expected, stored, seen) == nil)
	return c
}

// seemsSame is sameURL for a stored URL that may be garbled.
func seemsSame(stored, given string) bool {
	return sameURL(stored, given) || garbled(stored) && sameURL(stored, garble(given))
}

// isCopy reports whether metadata of the DOI API are those that the store sent, which may be
// garbled. They are not if the API lags behind.
func isCopy(whole, sent []byte) bool {
	return len(whole) > 0 && garbled(sent) && garble(string(bytes.TrimSpace(whole))) == string(bytes.TrimSpace(sent))
}

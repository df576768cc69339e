package mds

import (
	"bytes"
	"fmt"
)

// hasReplaced reports whether a response may have lost characters: each of them has two
// bytes or more.
func hasReplaced[T string | []byte](text T) bool {
	lost := false
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
		lost = lost || text[i] == '?' && i > 0 && text[i-1] == '?'
	}
	return lost
}

func replacedError(op, name string) error {
	return fmt.Errorf("%s: %s: %w", op, name, ErrReplacedCharacters)
}

// replaceCharacters replaces characters as the service does.
func replaceCharacters(text string) string {
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

// compareMetadata compares what was given with what is stored. Metadata with replaced characters are
// never the same, as that cannot be seen; where they differ only by the replaced characters they
// are not altered.
func compareMetadata(givenData, storedData []byte) comparison {
	given, stored := string(givenData), string(storedData)
	seen, lost := asIs, hasReplaced(stored)
	if lost {
		seen = replaceCharacters
	}
	altered, err := alterations(given, stored, seen)
	expected := rewritten.Replace(given)
	if lost && err != nil && err != errNotXML {
		// The name of an element or attribute has replaced characters. What the service changes each time
		// is known even so.
		altered, err = alterations(given, expected, asIs)
	}
	switch {
	case err == errNotXML:
		return comparison{altered: []string{"the metadata were not XML; the service turned them into XML"}}
	case err != nil:
		return comparison{altered: []string{"what is stored cannot be read: " + err.Error()}}
	case lost || altered == nil:
		return comparison{same: !lost, altered: altered}
	}
	same, _ := sameLeaves(leavesOf(expected), leavesOf(stored), seen) // an error is a difference
	return comparison{same, altered}
}

// seemsSame is sameURL for a stored URL that may have replaced characters.
func seemsSame(stored, given string) bool {
	return sameURL(stored, given) || hasReplaced(stored) && sameURL(stored, replaceCharacters(given))
}

// isCopy reports whether metadata of the DOI API are those that the store sent, which may
// have replaced characters. They do not if the API lags behind.
func isCopy(whole, sent []byte) bool {
	whole, sent = bytes.TrimSpace(whole), bytes.TrimSpace(sent)
	if len(whole) != len(sent) || len(whole) == 0 || !hasReplaced(sent) {
		return false
	}
	for i, c := range whole {
		if c != sent[i] && (c < 0x80 || sent[i] != '?') {
			return false
		}
	}
	return true
}

package mds

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// garbled tells whether an answer may have lost characters: each of them has two
// bytes or more.
func garbled[T string | []byte](text T) bool {
	ascii := strings.IndexFunc(string(text), func(r rune) bool { return r >= 0x80 }) < 0
	return ascii && bytes.Contains([]byte(text), []byte("??"))
}

func garbledError(op, name string) error {
	return fmt.Errorf("%s: %s: %w", op, name, ErrGarbled)
}

// garble does to a text what the service does.
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

// A comparison says what a look at stored metadata has shown.
type comparison struct {
	same    bool     // they are what was given, or what the service makes of it each time
	altered []string // where they are not what was given, as far as can be seen
}

// compareMetadata compares what was given with what is stored. Of garbled metadata
// it cannot be said that they are the same; that they seem so is not an alteration.
func compareMetadata(given, stored []byte) comparison {
	expected := []byte(rewritten.Replace(string(given)))
	seen := asIs
	if garbled(stored) {
		seen = garble
		if _, err := leaves(stored); err != nil {
			// The name of an element or attribute is garbled, too. What is known is what
			// the service does each time.
			return comparison{altered: alterations(given, expected, asIs)}
		}
	}
	c := comparison{altered: alterations(given, stored, seen)}
	c.same = !garbled(stored) && (c.altered == nil || alterations(expected, stored, seen) == nil)
	return c
}

// seemsSame is sameAddress, as far as can be seen.
func seemsSame(stored, given string) bool {
	return sameAddress(stored, given) || garbled(stored) && sameAddress(stored, garble(given))
}

// errStored: EnsureOptions.Stored failed. Why, and for how long, only the caller
// knows.
var errStored error = &transport.Condition{Text: "EnsureOptions.Stored", Passes: true}

// unharmed reads metadata that the service shows garbled from where the caller
// said.
func (r *registration) unharmed(ctx context.Context, shown []byte) ([]byte, error) {
	if r.options.Stored == nil || !garbled(shown) {
		return shown, nil
	}
	data, err := r.options.Stored(ctx, r.done.DOI)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w: %w", opRegister, r.done.DOI, errStored, err)
	}
	return data, nil
}

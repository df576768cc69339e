// Package spelling compares misspelt words with known ones.
package spelling

import (
	"slices"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the known word that was probably meant, "" if none is near: a third of the
// letters may be wrong, at most three, and one of a short word.
func Nearest(word string, known []string) (best string) {
	least := min(4, max(len(word)/3, 1)+1)
	for _, candidate := range known {
		if len(word) < 2 {
			break
		}
		if d := Distance(word, candidate, least); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// Distance returns how many letters must be changed, added or removed to turn a into b, at most
// limit. Two that are exchanged count as one, if nothing else differs.
func Distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	switch {
	case len(x)-len(y) >= limit, len(y)-len(x) >= limit:
		return limit
	case len(x) == 2 && len(y) == 2 && slices.Equal(x, []rune{y[1], y[0]}):
		return 1
	}
	return min(levenshtein.ComputeDistance(string(x), string(y)), limit)
}

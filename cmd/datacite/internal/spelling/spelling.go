// Package spelling compares misspelt words with known ones.
package spelling

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the known word that was probably meant, "" if none is near: a third of the
// letters may be wrong, at most three, and one of a short word; or the end of the word is missing. The
// case of letters does not count.
func Nearest(word string, known []string) (best string) {
	const shortest, begun = 2, 3 // letters
	if word = strings.ToLower(word); len(word) < shortest {
		return ""
	}
	least := min(4, max(len(word)/3, 1)+1)
	for _, candidate := range known {
		if d := distance(word, strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	for _, candidate := range known {
		if best == "" && len(word) >= begun && strings.HasPrefix(strings.ToLower(candidate), word) {
			best = candidate
		}
	}
	return best
}

// distance is how many letters must be changed, added or removed to turn a into b. Two that are exchanged count as
// one, if nothing else differs.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	if len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0] {
		return 1
	}
	return levenshtein.ComputeDistance(string(x), string(y))
}

// Package spelling compares misspelt words with known ones.
package spelling

// Nearest returns the known word that was probably meant, "" if none is near.
func Nearest(word string, known []string) (best string) {
	least := min(4, len(word)/2+2)
	for _, candidate := range known {
		if d := Distance(word, candidate, least); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// Distance returns how many bytes must be changed, added or removed to turn a into b, at
// most limit.
func Distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return min(row[len(b)], limit)
}

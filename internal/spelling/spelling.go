// Package spelling compares misspelt words with known ones.
package spelling

// Distance returns how many bytes must be changed, added, removed or exchanged with the next
// one to turn a into b, at most limit.
func Distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		from, to := max(i-limit, 0), min(i+limit, len(b)) // beyond them, the distance is too large
		next[min(to+1, len(b))], next[from] = limit, min(i+1, limit)
		for j := from; j < to; j++ {
			if a[i] == b[j] {
				next[j+1] = row[j]
				continue
			}
			next[j+1] = 1 + min(row[j], next[j], row[j+1])
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], 1+before[j-1])
			}
		}
		before, row, next = row, next, before
	}
	return min(row[len(b)], limit)
}

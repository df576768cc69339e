package search

// Bare is an index of n records that has none of their fields, so that each query reads them.
func Bare(n int, record func(n int) map[string]any) *Index {
	return &Index{Record: record, size: n, live: full(n), root: new(member)}
}

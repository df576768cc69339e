package shell

import (
	"slices"
	"sync"
)

// workers is how many items InOrder works on at the same time.
const workers = 4

// InOrder calls work for all items, a few at the same time, and done with each result in the order of the items.
// The first error ends it, after done was called for the other items that were under way. things are what the items are
// called in the progress.
func InOrder[T, R any](s *Shell, items []T, things string, work func(T) (R, error), done func(T, R)) (first error) {
	n := 0
	for some := range slices.Chunk(items, workers) {
		var all sync.WaitGroup
		results, errs := make([]R, len(some)), make([]error, len(some))
		for i, item := range some {
			all.Go(func() { results[i], errs[i] = work(item) })
		}
		all.Wait()
		for i, err := range errs {
			if err == nil {
				done(some[i], results[i])
			} else if first == nil {
				first = err
			}
		}
		if first != nil {
			return first
		}
		n += len(some)
		s.Progress(n, len(items), things, "")
	}
	return nil
}

// Package subset cuts a stream into parts and prepares parts ahead of their use.
package subset

import (
	"iter"
	"sync"
)

// Cut groups the items of src into parts of at most most items. An error of src
// ends the sequence after the items before it were dropped: half a part is of
// no use to anyone.
func Cut[T any](src iter.Seq2[T, error], most int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var part []T
		for item, err := range src {
			if err != nil {
				yield(nil, err)
				return
			}
			part = append(part, item)
			if len(part) == most {
				if !yield(part, nil) {
					return
				}
				part = nil
			}
		}
		if len(part) > 0 {
			yield(part, nil)
		}
	}
}

// Ahead applies work to the items of src with several workers at once and
// yields the results in the order of the items. It reads src on the caller's
// goroutine, holds at most workers items in work, ends at the first error, and
// has stopped all its goroutines when it ends or is left.
func Ahead[In, Out any](src iter.Seq2[In, error], workers int, work func(In) (Out, error)) iter.Seq2[Out, error] {
	type result struct {
		out Out
		err error
	}
	return func(yield func(Out, error) bool) {
		var wg sync.WaitGroup
		defer wg.Wait()
		var pending []chan result
		first := func() bool {
			r := <-pending[0]
			pending = pending[1:]
			return yield(r.out, r.err) && r.err == nil
		}
		for in, err := range src {
			done := make(chan result, 1)
			if err != nil {
				done <- result{err: err}
			} else {
				wg.Go(func() {
					out, err := work(in)
					done <- result{out, err}
				})
			}
			pending = append(pending, done)
			if err != nil {
				break
			}
			if len(pending) >= workers && !first() {
				return
			}
		}
		for len(pending) > 0 {
			if !first() {
				return
			}
		}
	}
}

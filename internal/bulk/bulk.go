// Package bulk does work on many items, several at a time.
package bulk

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/datacite-go/datacite-go/internal/call"
)

// ErrLeft says that the loop over the results was left.
var ErrLeft = errors.New("loop left")

// Run calls do for each item, with several workers, and take for each result, in the
// caller's goroutine and in the order in which the results come. Items are taken one by
// one, in another goroutine, as workers become free. Run returns when all goroutines
// have ended. A panic of items or do is raised again in the caller's goroutine.
//
// The run ends at an error of take and when ctx ends: no more items are begun, and the
// context of do and take ends. Results of items under way still go to take, unless the
// error is ErrLeft, which is returned whatever else happened. After an error of items,
// the items that were begun are finished.
func Run[T, R any](ctx context.Context, items iter.Seq2[T, error], workers int, do func(context.Context, T) R,
	take func(context.Context, R) error) error {
	caller := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	work, done := make(chan T), make(chan R)
	defer func() { // also when take panics
		cancel(nil)
		for range done { // until the goroutines have ended
		}
	}()
	var source, taken error
	running := Group{Stop: func() { cancel(nil) }}
	running.Go(func() {
		defer close(work)
		source = feed(ctx, items, work)
	})
	for range workers {
		running.Go(func() {
			for item := range work {
				done <- do(ctx, item)
			}
		})
	}
	go func() { running.Wait(); close(done) }()
	left := false
	for result := range done {
		if left {
			continue
		}
		if err := take(ctx, result); err != nil {
			left, taken = errors.Is(err, ErrLeft), cmp.Or(taken, err)
			cancel(err)
		}
	}
	running.Rethrow()
	if left {
		return ErrLeft
	}
	return cmp.Or(taken, call.Ended(caller), source)
}

// feed hands out work until none is left or the run ends.
func feed[T any](ctx context.Context, items iter.Seq2[T, error], work chan<- T) error {
	for item, err := range items {
		if err != nil || ctx.Err() != nil { // a worker may be free when the run has ended
			return err
		}
		select {
		case work <- item:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// Map calls do for each item, in goroutines, and take for each result, in the caller's goroutine and in the order of
// the items. Items are taken one by one, in another goroutine. Work on at most so many is begun ahead of the one whose
// result take has or gets next. Map returns when all goroutines have ended. A panic of items or do is raised again in
// the caller's goroutine.
//
// The run ends at an error of take, of items, after what came before it, and when ctx ends.
func Map[T, R any](ctx context.Context, items iter.Seq2[T, error], ahead int, do func(T) R,
	take func(R) error) error {
	caller := ctx
	ctx, cancel := context.WithCancel(ctx)
	running, results := Group{Stop: cancel}, make(chan chan R, ahead)
	defer func() { // also when take panics
		cancel()
		running.Wait()
	}()
	var source, taken error
	running.Go(func() {
		defer close(results)
		source = spread(ctx, items, results, func(item T, result chan<- R) {
			running.Go(func() { result <- do(item) })
		})
	})
	for result := range results {
		select {
		case r := <-result:
			taken = take(r)
		case <-ctx.Done():
		}
		if taken != nil || ctx.Err() != nil {
			break
		}
	}
	cancel()
	running.Wait()
	running.Rethrow()
	return cmp.Or(taken, call.Ended(caller), source)
}

// spread begins the work on each item, as long as there is room for another result.
func spread[T, R any](ctx context.Context, items iter.Seq2[T, error], results chan<- chan R,
	begin func(T, chan<- R)) error {
	for item, err := range items {
		if err != nil || ctx.Err() != nil { // there may be room when the run has ended
			return err
		}
		result := make(chan R, 1)
		select {
		case results <- result:
			begin(item, result)
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

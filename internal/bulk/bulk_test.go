package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/bulk"
)

// A task is to work on numbers, each of which takes as many seconds as it says, or until its context ends.
type task struct {
	numbers []int
	pause   time.Duration // of the source, before each number and before its end
	broken  error         // what the source ends with
	errs    map[int]error // of take
	panics  string        // what does: items, do, "do, later" than the first take, or take
	exits   bool          // with runtime.Goexit instead
}

// A work is a task, and what has been done of it.
type work struct {
	task
	started     time.Time
	read, begun atomic.Int32 // numbers
	now         atomic.Int32 // how many are worked on
	ahead       int32        // read when the first result was taken and all others waited
	taken       []string
}

var (
	errItems  = errors.New("items")
	errTake   = errors.New("take")
	errCaller = errors.New("the caller had enough")
)

func (w *work) fails(what string) {
	if w.panics == what && w.exits {
		runtime.Goexit()
	}
	if w.panics == what {
		panic(what)
	}
}

func (w *work) items() iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		w.fails("items")
		for _, n := range w.numbers {
			time.Sleep(w.pause)
			w.read.Add(1)
			if !yield(n, nil) {
				return
			}
		}
		time.Sleep(w.pause)
		if w.broken != nil {
			yield(0, w.broken)
		}
	}
}

func (w *work) do(ctx context.Context, n int) int {
	w.begun.Add(1)
	w.now.Add(1)
	defer w.now.Add(-1)
	w.fails("do")
	select {
	case <-time.After(time.Duration(n) * time.Second):
	case <-ctx.Done():
	}
	if n > 1 {
		w.fails("do, later")
	}
	return n
}

func (w *work) take(n int) error {
	w.fails("take")
	w.taken = append(w.taken, fmt.Sprintf("%v: %d", time.Since(w.started), n))
	if synctest.Wait(); len(w.taken) == 1 {
		w.ahead = w.read.Load()
	}
	return w.errs[n]
}

// run works with Run and two workers.
func (w *work) run(ctx context.Context) error {
	err := bulk.Run(ctx, w.items(), 2, w.do, func(_ context.Context, n int) error { return w.take(n) })
	slices.Sort(w.taken) // those of one moment come in any order
	return err
}

// mapped works with Map, one number ahead.
func (w *work) mapped(ctx context.Context) error {
	return bulk.Map(ctx, w.items(), 1, func(n int) int { return w.do(ctx, n) }, w.take)
}

var ways = map[string]func(*work, context.Context) error{"Run": (*work).run, "Map": (*work).mapped}

func TestWork(t *testing.T) {
	type outcome struct {
		taken        []string
		ahead, begun int32
		err          error
	}
	for name, test := range map[string]struct {
		task task
		ends time.Duration // of the caller's context; 0 for never
		want map[string]outcome
	}{
		"nothing": {task: task{}, want: map[string]outcome{"Run": {}, "Map": {}}},
		"all": {
			task: task{numbers: []int{5, 2, 4, 3}},
			want: map[string]outcome{
				"Run": {taken: []string{"2s: 2", "5s: 5", "6s: 4", "8s: 3"}, ahead: 4, begun: 4},
				"Map": {taken: []string{"5s: 5", "5s: 2", "9s: 4", "9s: 3"}, ahead: 3, begun: 4},
			},
		},
		"items fail: what came before is finished": {
			task: task{numbers: []int{3, 1}, broken: errItems},
			want: map[string]outcome{
				"Run": {taken: []string{"1s: 1", "3s: 3"}, ahead: 2, begun: 2, err: errItems},
				"Map": {taken: []string{"3s: 3", "3s: 1"}, ahead: 2, begun: 2, err: errItems},
			},
		},
		"take fails: Run takes what is under way, and the first error counts": {
			task: task{numbers: []int{5, 2, 4, 3, 6}, errs: map[int]error{2: errTake, 5: errItems, 4: errItems}},
			want: map[string]outcome{
				"Run": {taken: []string{"2s: 2", "2s: 4", "2s: 5"}, ahead: 4, begun: 3, err: errTake},
				"Map": {taken: []string{"5s: 5"}, ahead: 3, begun: 2, err: errItems},
			},
		},
		"take fails: of a slow source, nothing more is begun": {
			task: task{numbers: []int{1, 1, 1, 1, 1, 1}, pause: 2 * time.Second, errs: map[int]error{1: errTake}},
			want: map[string]outcome{
				"Run": {taken: []string{"3s: 1"}, ahead: 1, begun: 1, err: errTake},
				"Map": {taken: []string{"3s: 1"}, ahead: 1, begun: 1, err: errTake},
			},
		},
		"left: nothing more is taken": {
			task: task{numbers: []int{5, 2, 4, 3, 6}, errs: map[int]error{2: bulk.ErrLeft, 5: bulk.ErrLeft}},
			want: map[string]outcome{
				"Run": {taken: []string{"2s: 2"}, ahead: 4, begun: 3, err: bulk.ErrLeft},
				"Map": {taken: []string{"5s: 5"}, ahead: 3, begun: 2, err: bulk.ErrLeft},
			},
		},
		"left after take failed": {
			task: task{numbers: []int{3, 2}, errs: map[int]error{2: errTake, 3: bulk.ErrLeft}},
			want: map[string]outcome{
				"Run": {taken: []string{"2s: 2", "2s: 3"}, ahead: 2, begun: 2, err: bulk.ErrLeft},
				"Map": {taken: []string{"3s: 3"}, ahead: 2, begun: 2, err: bulk.ErrLeft},
			},
		},
		"the caller's context ends": {
			task: task{numbers: []int{1, 5, 4, 3}}, ends: 2 * time.Second,
			want: map[string]outcome{
				"Run": {taken: []string{"1s: 1", "2s: 4", "2s: 5"}, ahead: 4, begun: 3, err: errCaller},
				"Map": {taken: []string{"1s: 1"}, ahead: 3, begun: 3, err: errCaller},
			},
		},
		"the caller's context ends, and then items and take fail": {
			task: task{numbers: []int{5}, pause: time.Second, broken: errItems, errs: map[int]error{5: errTake}},
			ends: 1500 * time.Millisecond,
			want: map[string]outcome{
				"Run": {taken: []string{"1.5s: 5"}, ahead: 1, begun: 1, err: errTake},
				"Map": {begun: 1, err: errCaller},
			},
		},
		"the caller's context ends, and then items fail": {
			task: task{pause: time.Second, broken: errItems}, ends: time.Millisecond,
			want: map[string]outcome{"Run": {err: errCaller}, "Map": {err: errCaller}},
		},
	} {
		for way, run := range ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // which fails if a goroutine outlives it
					ctx := t.Context()
					if test.ends != 0 {
						ended, cancel := context.WithTimeoutCause(ctx, test.ends, errCaller)
						defer cancel()
						ctx = ended
					}
					w, want := &work{task: test.task, started: time.Now()}, test.want[way]
					require.ErrorIs(t, run(w, ctx), want.err)
					require.Equal(t, want, outcome{w.taken, w.ahead, w.begun.Load(), want.err})
					require.Zero(t, w.now.Load(), "returned while something was worked on")
				})
			})
		}
	}
}

// What panics in a goroutine of its own panics in that of the caller, who can recover.
func TestPanics(t *testing.T) {
	for way, run := range ways {
		for _, what := range []string{"items", "do", "do, later", "take"} {
			t.Run(way+"/"+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					todo := task{numbers: []int{1, 3, 1, 1}, errs: map[int]error{1: errTake}, panics: what}
					w := &work{task: todo}
					require.PanicsWithValue(t, what, func() { _ = run(w, t.Context()) })
					require.Zero(t, w.now.Load())
					require.Less(t, int(w.begun.Load()), len(todo.numbers))

					todo.exits = true
					exited := make(chan bool)
					go func() {
						defer close(exited)
						_ = run(&work{task: todo}, t.Context())
						exited <- false
					}()
					_, returned := <-exited
					require.False(t, returned, "runtime.Goexit")
				})
			})
		}
	}
}

func TestGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var none, some bulk.Group
		none.Go(func() {})
		none.Wait()
		none.Rethrow()

		stopped := make(chan bool)
		some.Stop = sync.OnceFunc(func() { close(stopped) })
		some.Go(func() { <-stopped; panic("the second") })
		some.Go(func() { panic("the first") })
		some.Go(func() {})
		some.Wait()
		require.PanicsWithValue(t, "the first", some.Rethrow)

		none.Go(func() { panic("nothing to stop") })
		none.Wait()
		require.PanicsWithValue(t, "nothing to stop", none.Rethrow)
	})
}

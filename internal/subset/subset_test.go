package subset_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/subset"
)

// settings for parts of ten items and of any size, written as [a,b,c].
func settings() subset.Settings {
	return subset.Settings{
		MaxItems: 10, MaxBytes: 1 << 24, Workers: 2, Level: 6,
		Head: []byte("["), Separator: []byte(","), Tail: []byte("]"),
	}
}

// numbered makes items of texts, in memory that it uses again.
func numbered(texts iter.Seq2[string, error]) iter.Seq2[subset.Item, error] {
	return func(yield func(subset.Item, error) bool) {
		var buf []byte
		n := 0
		for text, err := range texts {
			buf = append(buf[:0], text...)
			if !yield(subset.Item{Number: n, Text: buf}, err) {
				return
			}
			n++
		}
	}
}

func values(items []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// thenFail yields the items and then an error.
func thenFail(items []string, err error) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for item := range values(items) {
			if !yield(item, nil) {
				return
			}
		}
		yield("", err)
	}
}

func numbers(n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprint(i)
	}
	return items
}

// noise is n items of the given length that do not compress.
func noise(seed uint64, n, length int) []string {
	random := rand.New(rand.NewPCG(seed, 0))
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	items := make([]string, n)
	for i := range items {
		var b strings.Builder
		for range length {
			b.WriteByte(letters[random.IntN(64)])
		}
		items[i] = b.String()
	}
	return items
}

// packed is what Pack made: all parts, and their bodies one after the other.
type packed struct {
	parts []subset.Part
	bytes.Buffer
}

func (p *packed) emit(part subset.Part) error {
	p.parts = append(p.parts, part)
	return nil
}

// pack packs the items into parts.
func pack(t testing.TB, s subset.Settings, items []string) *packed {
	t.Helper()
	var p packed
	require.NoError(t, subset.Pack(t.Context(), s, numbered(values(items)), &p, p.emit))
	return &p
}

// read returns the items of a part.
func read(t testing.TB, p subset.Part, body []byte) []string {
	t.Helper()
	assert.Equal(t, p.Checksum, sha256.Sum256(body))
	source := bytes.NewReader(body)
	r, err := gzip.NewReader(source)
	require.NoError(t, err)
	r.Multistream(false)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Zero(t, source.Len(), "a part is one member")
	inner, ok := bytes.CutPrefix(data, []byte("["))
	require.True(t, ok)
	inner, ok = bytes.CutSuffix(inner, []byte("]"))
	require.True(t, ok)
	items := strings.Split(string(inner), ",")
	assert.Len(t, items, p.Items)
	return items
}

// readAll returns the items of all parts.
func readAll(t testing.TB, p *packed) (items []string) {
	t.Helper()
	body := p.Bytes()
	for _, part := range p.parts {
		items = append(items, read(t, part, body[:part.Bytes])...)
		body = body[part.Bytes:]
	}
	return items
}

func TestCutByCount(t *testing.T) {
	for n, want := range map[int][]int{0: nil, 1: {1}, 10: {10}, 11: {10, 1}, 20: {10, 10}, 25: {10, 10, 5}} {
		all := pack(t, settings(), numbers(n))
		var sizes []int
		for _, p := range all.parts {
			sizes = append(sizes, p.Items)
		}
		assert.Equal(t, want, sizes, "%d items", n)
		if n > 0 {
			assert.Equal(t, numbers(n), readAll(t, all))
		}
	}
}

func TestCutByBytes(t *testing.T) {
	s := settings()
	s.MaxItems, s.MaxBytes = 50_000, 40_000
	items := noise(1, 600, 700)
	all := pack(t, s, items)
	assert.Equal(t, items, readAll(t, all))
	assert.Greater(t, len(all.parts), 5)
	for i, p := range all.parts {
		assert.LessOrEqual(t, p.Bytes, int64(40_000))
		if i < len(all.parts)-1 {
			assert.Greater(t, p.Bytes, int64(20_000), "part %d is at least half full", i)
		}
	}
}

// TestCutIsRight packs random items under random limits: nothing is lost or
// moved, no limit is broken, and the number of workers changes no byte.
func TestCutIsRight(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		items := slices.Concat(noise(seed, 1+random.IntN(40), 1+random.IntN(900)), numbers(random.IntN(3000)))
		random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		s := settings()
		s.MaxItems, s.MaxBytes, s.Level = 1+random.IntN(500), 2000+random.Int64N(20_000), 1+random.IntN(9)

		var first *packed
		for _, workers := range []int{1, 2, 8} {
			s.Workers = workers
			all := pack(t, s, items)
			if first == nil {
				first = all
				require.Equal(t, items, readAll(t, all), "seed %d", seed)
			}
			require.Equal(t, first.parts, all.parts, "seed %d, %d workers", seed, workers)
		}
		for _, p := range first.parts {
			require.LessOrEqual(t, p.Items, s.MaxItems, "seed %d", seed)
			require.LessOrEqual(t, p.Bytes, s.MaxBytes, "seed %d", seed)
		}
	}
}

func TestManyBlocks(t *testing.T) {
	items := slices.Concat(noise(3, 300, 9_000), noise(4, 1, 3<<20), numbers(300_000))
	s := settings()
	s.MaxItems, s.Level = 200_000, 1
	all := pack(t, s, items)
	assert.True(t, slices.Equal(items, readAll(t, all)))
	assert.Len(t, all.parts, 2)
}

func TestItemLargerThanAPart(t *testing.T) {
	items := slices.Concat(numbers(12), noise(1, 1, 50_000), numbers(3))
	s := settings()
	s.MaxBytes = 20_000
	var all packed
	err := subset.Pack(t.Context(), s, numbered(values(items)), &all, all.emit)
	e, ok := errors.AsType[*subset.TooLargeError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, 12, e.Number)
	assert.Greater(t, e.Bytes, int64(20_000))
	assert.EqualError(t, err, fmt.Sprintf("item 12 alone makes a part of %d bytes; 20000 are allowed", e.Bytes))

	s.MaxBytes = e.Bytes
	assert.Equal(t, items, readAll(t, pack(t, s, items)), "the size in the error is exact")
	s.MaxBytes = e.Bytes - 1
	require.ErrorAs(t, subset.Pack(t.Context(), s, numbered(values(items)), &all, all.emit), &e)
}

func TestNoRoomForItems(t *testing.T) {
	s := settings()
	s.MaxBytes = 30
	err := subset.Pack(t.Context(), s, numbered(values(numbers(1))), io.Discard, func(subset.Part) error { return nil })
	assert.ErrorContains(t, err, "no room")
}

var errBroken = errors.New("broken")

// TestAnErrorOfTheWriterEndsTheSource: a full disk, for one.
func TestAnErrorOfTheWriterEndsTheSource(t *testing.T) {
	endless := func(yield func(string, error) bool) {
		for yield("item", nil) {
		}
	}
	for room := 0; room < 200; room += 9 {
		w := &fullAfter{room}
		err := subset.Pack(t.Context(), settings(), numbered(endless), w, func(subset.Part) error { return nil })
		require.ErrorIs(t, err, errBroken, "room for %d bytes", room)
	}
}

// fullAfter is a writer with room for so many bytes.
type fullAfter struct{ room int }

func (w *fullAfter) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestFullPartsBeforeAnErrorAreEmitted(t *testing.T) {
	for range 20 {
		var all packed
		err := subset.Pack(t.Context(), settings(), numbered(thenFail(numbers(35), errBroken)), &all, all.emit)
		require.ErrorIs(t, err, errBroken)
		assert.Equal(t, numbers(30), readAll(t, &all), "and the part that was not full is dropped")

		all = packed{}
		err = subset.Pack(t.Context(), settings(), numbered(thenFail(numbers(20), errBroken)), &all, all.emit)
		require.ErrorIs(t, err, errBroken)
		assert.Equal(t, numbers(20), readAll(t, &all), "the error comes with the item after the last full part")
	}
}

func TestAnErrorOfEmitEndsTheSource(t *testing.T) {
	calls, read := 0, 0
	endless := func(yield func(string, error) bool) {
		for yield("item", nil) {
			read++
		}
	}
	err := subset.Pack(t.Context(), settings(), numbered(endless), io.Discard, func(subset.Part) error {
		calls++
		return errBroken
	})
	require.ErrorIs(t, err, errBroken)
	assert.Equal(t, 1, calls)
	assert.Positive(t, read)
}

// TestCancelWhileEmitIsAtWork ends the context while emit is at work. Time in a synctest bubble
// stands still unless all goroutines wait, and a goroutine that is left behind
// fails the test.
func TestCancelWhileEmitIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		endless := func(yield func(string, error) bool) {
			for yield("item", nil) {
			}
		}
		emitted := 0
		go func() {
			time.Sleep(3500 * time.Millisecond)
			cancel(errBroken)
		}()
		start := time.Now()
		err := subset.Pack(ctx, settings(), numbered(endless), io.Discard, func(subset.Part) error {
			select {
			case <-time.After(time.Second):
				emitted++
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		require.ErrorIs(t, err, errBroken)
		assert.Equal(t, 3, emitted)
		assert.Equal(t, 3500*time.Millisecond, time.Since(start))
	})
}

// TestPanicsReachTheCaller recovers, on the caller's goroutine, what the source or emit
// panics with. A goroutine that is left behind fails the test.
func TestPanicsReachTheCaller(t *testing.T) {
	for _, items := range []int{10, 15, 1000} {
		for _, who := range []string{"source", "emit"} {
			t.Run(fmt.Sprint(who, " of ", items), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					panics := func(now string) {
						if now == who {
							panic(now)
						}
					}
					source := func(yield func(string, error) bool) {
						for range items - 1 {
							if !yield("item", nil) {
								return
							}
						}
						panics("source")
						yield("last", nil)
					}
					assert.PanicsWithValue(t, who, func() {
						_ = subset.Pack(t.Context(), settings(), numbered(source), io.Discard, func(subset.Part) error {
							panics("emit")
							return nil
						})
					})
				})
			})
		}
	}
}

// TestPartsAreEmittedWhileTheSourceIsRead: not only in the end.
func TestPartsAreEmittedWhileTheSourceIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		emitted, read := []int{}, 0
		err := subset.Pack(t.Context(), settings(), numbered(func(yield func(string, error) bool) {
			for range 30 {
				read++
				if time.Sleep(time.Second); !yield("item", nil) {
					return
				}
			}
		}), io.Discard, func(subset.Part) error {
			emitted = append(emitted, read)
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, []int{11, 21, 30}, emitted)
	})
}

func TestMemoryIsUsedAgain(t *testing.T) {
	items := noise(1, 64, 4096)
	endless := func(n int) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for i := range n {
				if !yield(items[i%len(items)], nil) {
					return
				}
			}
		}
	}
	s := settings()
	s.MaxItems, s.Level = 1000, 1
	allocations := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			require.NoError(t, subset.Pack(t.Context(), s, numbered(endless(n)), io.Discard, func(subset.Part) error {
				return nil
			}))
		})
	}
	few, many := allocations(2000), allocations(20_000)
	assert.Less(t, (many-few)/18_000, 0.05, "allocations for each further item")
}

func TestAShortStreamNeedsLittleMemory(t *testing.T) {
	s := settings()
	s.MaxItems, s.Workers = 1000, 8
	items := numbers(100)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	pack(t, s, items)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), "bytes allocated")
}

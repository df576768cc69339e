package subset_test

import (
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/subset"
)

var errSource = errors.New("source failed")

// numbers yields 0..n-1 and then err, if there is one.
func numbers(n int, err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}

func collect[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for item, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, item)
	}
	return all, nil
}

func TestCut(t *testing.T) {
	for n, want := range map[int][]int{0: nil, 1: {1}, 3: {3}, 4: {3, 1}, 6: {3, 3}, 7: {3, 3, 1}} {
		parts, err := collect(subset.Cut(numbers(n, nil), 3))
		require.NoError(t, err)
		var sizes []int
		for _, p := range parts {
			sizes = append(sizes, len(p))
		}
		assert.Equal(t, want, sizes)
		assert.Len(t, slices.Concat(parts...), n)
	}
	parts, err := collect(subset.Cut(numbers(4, errSource), 3))
	require.ErrorIs(t, err, errSource)
	assert.Equal(t, [][]int{{0, 1, 2}}, parts)
}

func TestAheadKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		slowFirst := func(n int) (int, error) {
			time.Sleep(time.Duration(10-n) * time.Second)
			return n * n, nil
		}
		got, err := collect(subset.Ahead(numbers(6, nil), 3, slowFirst))
		require.NoError(t, err)
		assert.Equal(t, []int{0, 1, 4, 9, 16, 25}, got)
		assert.Less(t, time.Since(start), 45*time.Second, "three at a time")
	})
}

func TestAheadEndsAtTheFirstError(t *testing.T) {
	got, err := collect(subset.Ahead(numbers(4, errSource), 2, func(n int) (int, error) { return n, nil }))
	require.ErrorIs(t, err, errSource)
	assert.Equal(t, []int{0, 1, 2, 3}, got)

	errWork := errors.New("work failed")
	got, err = collect(subset.Ahead(numbers(9, nil), 4, func(n int) (int, error) {
		if n == 2 {
			return 0, errWork
		}
		return n, nil
	}))
	require.ErrorIs(t, err, errWork)
	assert.Equal(t, []int{0, 1}, got)
}

func TestAheadWaitsForItsWorkersWhenLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finished := 0
		work := func(n int) (int, error) {
			time.Sleep(time.Second)
			finished++ // the race detector would tell if a worker outlived the loop
			return n, nil
		}
		for range subset.Ahead(numbers(9, nil), 1, work) {
			break
		}
		assert.Equal(t, 1, finished)
		for range subset.Ahead(numbers(9, nil), 4, func(n int) (int, error) { time.Sleep(time.Second); return n, nil }) {
			break
		}
	})
}

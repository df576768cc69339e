package versions

import (
	"encoding/json"
	"io/fs"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/extsort"
)

func text(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }

// numbers adds numbers to a comparison and returns what it makes of them.
func numbers(t *testing.T, c *Comparison, add ...Number) (list []Number) {
	t.Helper()
	defer func() { require.NoError(t, c.Close()) }()
	for _, n := range add {
		require.NoError(t, c.Add(&n))
	}
	for n, err := range c.Numbers() {
		require.NoError(t, err)
		list = append(list, *n)
	}
	for range c.Numbers() {
		break
	}
	return list
}

func TestComparison(t *testing.T) {
	add := []Number{
		{Name: "b", Metric: "views", In: []int{Plan}, Count: 3},
		{Name: "c", Metric: "views", In: []int{Plan}},

		{Name: "bi", Metric: "views", In: []int{Stored}, Count: 1, About: text("before all of b, if names did not end")},
		{Name: "b", Metric: "views", In: []int{Stored}, Count: 5, About: text("less")},
		{Name: "b", Metric: "views", In: []int{Stored}, Count: 7, About: text("the greatest of the stored report")},
		{Name: "b", Metric: "views", In: []int{Stored}, Count: 7, About: text("as great")},
		{Name: "b", Metric: "downloads", In: []int{Stored}, Count: 2, About: text("another metric")},

		{Name: "b", Metric: "views", In: []int{Earlier}, Count: 9, About: text("earlier than the stored report")},
		{Name: "a", Metric: "views", In: []int{Earlier}, About: text("earlier")},
	}
	want := []Number{
		{Name: "a", Metric: "views", In: []int{Earlier}, About: text("earlier")},
		{Name: "b", Metric: "downloads", In: []int{Stored}, Count: 2, About: text("another metric")},
		{Name: "b", Metric: "views", In: []int{Plan, Stored, Earlier}, Count: 7, Planned: 3,
			About: text("the greatest of the stored report")},
		{Name: "bi", Metric: "views", In: []int{Stored}, Count: 1, About: text("before all of b, if names did not end")},
		{Name: "c", Metric: "views", In: []int{Plan}},
	}
	require.Equal(t, want, numbers(t, New(t.TempDir()), add...))
	require.Empty(t, numbers(t, New(t.TempDir())))

	used := New(t.TempDir())
	used.Used = true
	want = slices.DeleteFunc(want, func(n Number) bool { return n.Count == 0 })
	require.Equal(t, want, numbers(t, used, add...))
}

func TestComparisonWithoutADisk(t *testing.T) {
	small := func(folder string) *Comparison {
		return &Comparison{sorter: extsort.Sorter{Memory: 1, Dir: folder}}
	}
	c := small(t.TempDir() + "/none")
	require.NoError(t, c.Add(&sparse))
	require.ErrorIs(t, c.Add(&sparse), fs.ErrNotExist)

	c = small(t.TempDir())
	require.NoError(t, c.Add(&sparse))
	require.NoError(t, c.Add(&sparse))
	require.NoError(t, c.Close())
	var failed error
	for _, err := range c.Numbers() {
		failed = err
	}
	require.ErrorIs(t, failed, fs.ErrClosed)
	require.ErrorIs(t, c.Close(), fs.ErrClosed)
	require.Error(t, c.Add(&Number{About: json.RawMessage(`{`)}))
}

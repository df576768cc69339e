package reports_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

// use is one regular request on a day of October 1999.
func use(doi string, day int, country string, count int64) reports.Row {
	return reports.Row{
		DOI: doi, Date: reports.Date(fmt.Sprintf("1999-10-%02d", day)),
		Metric: reports.MetricTotalDatasetRequests, Access: reports.AccessRegular, Country: country, Count: count,
	}
}

func rowsOf(rows ...reports.Row) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// grouped returns the datasets before the first error.
func grouped(rows iter.Seq2[reports.Row, error], opts *reports.GroupOptions) (list []reports.Dataset, err error) {
	for d, err := range reports.Group(rows, opts) {
		if err != nil {
			return list, err
		}
		list = append(list, d)
	}
	return list, nil
}

// TestGroupOfAPartOfAMonth: the performances end with the report.
func TestGroupOfAPartOfAMonth(t *testing.T) {
	part := reports.Period{BeginDate: "2026-10-01", EndDate: "2026-10-14"}
	for date, want := range map[reports.Date]reports.Period{"2026-10-01": part, "2026-10-14": part,
		"2026-09-30": reports.Month(2026, 9), "2026-10-15": {}} {
		row := reports.Row{DOI: "10.5072/a", Date: date, Metric: reports.MetricTotalDatasetInvestigations,
			Access: reports.AccessRegular, Count: 1}
		list, err := grouped(rowsOf(row), &reports.GroupOptions{Period: part})
		if want == (reports.Period{}) {
			require.ErrorContains(t, err, "line 1: date: is 2026-10-15, after the last day of the report, 2026-10-14")
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, list[0].Performance[0].Period)
	}
}

func TestGroupAddsUp(t *testing.T) {
	robot := use("10.5072/a", 1, "", 6)
	robot.Access = reports.AccessMachine
	later := use("10.5072/a", 1, "de", 100)
	later.Date = "1999-11-30"
	first, second := use("https://doi.org/10.5072/B", 1, "DE", 1), use("10.5072/b", 2, "de", 2)
	first.Title, second.Publisher = "Glacier length", "University"
	list, err := grouped(rowsOf(second, first, use("10.5072/A", 1, "fr", 4), use("10.5072/a", 1, "de", 5),
		use("10.5072/a", 2, "", 3), robot, later), nil)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, []reports.TypedValue{{Type: "doi", Value: "10.5072/A"}}, list[0].DatasetID,
		"as its first row writes it")
	assert.Equal(t, []reports.Performance{
		{Period: reports.Month(1999, 10), Instance: []reports.Instance{
			{Count: 6, MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessMachine},
			{Count: 12, MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessRegular,
				CountryCounts: reports.CountryCounts{{"de", 5}, {"fr", 4}}},
		}},
		{Period: reports.Month(1999, 11), Instance: []reports.Instance{
			{Count: 100, MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessRegular,
				CountryCounts: reports.CountryCounts{{"de", 100}}},
		}},
	}, list[0].Performance)
	assert.Equal(t, "Glacier length", list[1].Title)
	assert.Equal(t, "University", list[1].Publisher)
	assert.EqualValues(t, 3, list[1].Performance[0].Instance[0].Count)
	list, err = grouped(rowsOf(), nil)
	require.NoError(t, err)
	assert.Empty(t, list)
	list, err = grouped(rowsOf(use("10.5072/a", 1, "", math.MaxInt64-1), use("10.5072/a", 2, "", 1)), nil)
	require.NoError(t, err)
	assert.EqualValues(t, int64(math.MaxInt64), list[0].Performance[0].Instance[0].Count)

	seen := use("10.5072/a", 1, "", math.MaxInt64-1)
	seen.Metric = reports.MetricTotalDatasetInvestigations
	rows := []reports.Row{use("10.5072/a", 1, "", math.MaxInt64-1), seen, use("10.5072/a", 2, "", 1), seen}
	rows[3].Date, rows[3].Count = "1999-10-02", 1
	list, err = grouped(rowsOf(rows...), nil)
	require.NoError(t, err, "each sum by itself")
	for _, n := range list[0].Performance[0].Instance {
		assert.EqualValues(t, int64(math.MaxInt64), n.Count)
	}
	_, err = grouped(rowsOf(append(rows, use("10.5072/a", 3, "", 1))...), nil)
	require.ErrorContains(t, err, "count: makes a sum of more than")
}

// TestGroupInAnyOrder: the same rows make the same datasets in the same order, in
// memory or with a temporary file, sorted or not.
func TestGroupInAnyOrder(t *testing.T) {
	var rows []reports.Row
	for i := range 3000 {
		r := use(fmt.Sprintf("10.5072/d%03d", i%300), 1+i/300, []string{"", "de", "fr"}[i%3], int64(i))
		r.Title = fmt.Sprint("Dataset ", i%300)
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b reports.Row) int { return strings.Compare(a.DOI, b.DOI) })
	want, err := grouped(rowsOf(rows...), &reports.GroupOptions{Sorted: true, TempDir: "/dev/null/none"})
	require.NoError(t, err)
	require.Len(t, want, 300)
	for seed := range uint64(3) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, memory := range []int{0, 1, 10_000} {
			dir := t.TempDir()
			got, err := grouped(rowsOf(rows...), &reports.GroupOptions{Memory: memory, TempDir: dir})
			require.NoError(t, err)
			require.Equal(t, want, got)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		}
	}
	_, err = grouped(rowsOf(rows...), &reports.GroupOptions{Sorted: true})
	require.ErrorContains(t, err, ": doi: 10.5072/d")
	require.ErrorContains(t, err, "; sort the rows, or leave GroupOptions.Sorted unset")
	_, err = grouped(rowsOf(rows...), &reports.GroupOptions{Memory: 1, TempDir: t.TempDir() + "/none"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestGroupNamesEachFault(t *testing.T) {
	with := func(edit func(*reports.Row)) reports.Row {
		r := use("10.5072/a", 3, "de", 1)
		r.Line = 7
		edit(&r)
		return r
	}
	codes := map[datacite.Code]int{}
	for _, tt := range []struct {
		row  reports.Row
		want string
	}{
		{with(func(r *reports.Row) { r.DOI = "abc" }), `line 7: doi: is "abc", not a DOI such as 10.5072/abc`},
		{with(func(r *reports.Row) { r.Title = "\xff" }), "line 7: title: is not valid UTF-8"},
		{with(func(r *reports.Row) { r.YOP = "\xff" }), "line 7: yop: is not valid UTF-8"},
		{with(func(r *reports.Row) { r.URI = "\xff" }), "line 7: uri: is not valid UTF-8"},
		{with(func(r *reports.Row) { r.Platform = "\xff" }), "line 7: platform: is not valid UTF-8"},
		{with(func(r *reports.Row) { r.Publisher = "\xff" }), "line 7: publisher: is not valid UTF-8"},
		{with(func(r *reports.Row) { r.Date = "October" }), `line 7: date: is "October", not a date`},
		{with(func(r *reports.Row) { r.Date = "" }), `line 7: date: is ""`},
		{with(func(r *reports.Row) { r.Metric = "downloads" }),
			`line 7: metric: is "downloads"; the service knows total-dataset-requests`},
		{with(func(r *reports.Row) { r.Access = "robot" }),
			`line 7: access: is "robot"; the service knows regular and machine`},
		{with(func(r *reports.Row) { r.Country = "Germany" }), `line 7: country: is "germany", not a country code`},
		{with(func(r *reports.Row) { r.Count = -1 }), "line 7: count: is -1"},
		{with(func(r *reports.Row) { r.Date = "1999-10-01" }), "line 7: counts what line 1 of 10.5072/a counts already"},
		{with(func(r *reports.Row) { r.Count = math.MaxInt64 }),
			"line 7: count: makes a sum of more than 9223372036854775807"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			rows := rowsOf(use("10.5072/a", 1, "de", 1), tt.row, use("10.5072/b", 1, "", 1))
			list, err := grouped(rows, nil)
			_, ok := errors.AsType[*datacite.ValidationError](err)
			require.True(t, ok, "%v", err)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			require.ErrorContains(t, err, tt.want)
			assert.Equal(t, strings.Contains(tt.want, "counts what"), errors.Is(err, reports.ErrRepeated))
			assert.Empty(t, list, "nothing is yielded after a fault")
			codes[datacite.Findings(err)[0].Code]++
			if !strings.Contains(tt.want, "counts what") && !strings.Contains(tt.want, "makes a sum") {
				_, err = grouped(rowsOf(tt.row), nil)
				require.ErrorContains(t, err, tt.want, "it is the first row")
			}

			var leftOut []string
			list, err = grouped(rows, &reports.GroupOptions{Memory: 1, TempDir: t.TempDir(), LeaveOut: func(err error) bool {
				leftOut = append(leftOut, err.Error())
				require.Len(t, datacite.Findings(err), 1)
				assert.Contains(t, datacite.Findings(err)[0].String(), tt.want)
				return true
			}})
			require.NoError(t, err)
			require.Len(t, leftOut, 1)
			if !strings.HasPrefix(leftOut[0], "dataset ") {
				assert.Len(t, list, 2, "a row that names no DOI leaves no dataset out")
				return
			}
			assert.Contains(t, leftOut[0], "dataset 10.5072/a: ")
			require.Len(t, list, 1)
			assert.Equal(t, "10.5072/b", list[0].DatasetID[0].Value)

			list, err = grouped(rows, &reports.GroupOptions{LeaveOut: func(error) bool { return false }})
			require.ErrorIs(t, err, datacite.ErrInvalid)
			require.ErrorContains(t, err, tt.want)
			assert.LessOrEqual(t, len(list), 1, "nothing is yielded after a fault")
		})
	}
	assert.Equal(t, map[datacite.Code]int{"doi": 1, "encoding": 5, "date": 2, "vocabulary": 3, "limit": 2, "repeated": 1},
		codes)
}

func TestGroupBoundsItsFaults(t *testing.T) {
	read := 0
	_, err := grouped(func(yield func(reports.Row, error) bool) {
		for read = range 1000 {
			if !yield(reports.Row{DOI: "10.5072/a",
				Err: datacite.Invalid(datacite.Finding{Line: 2, Code: "syntax", Reason: "has too few cells"})}, nil) {
				return
			}
		}
	}, nil)
	v, ok := errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok, "%v", err)
	assert.Len(t, v.Findings, 100)
	assert.Equal(t, 99, read, "it reads on to name further faults, and not for ever")
}

// A fault of a row that its source found leaves one dataset out; a source that is damaged ends
// all, although its error is one of the input, too.
func TestFaultsOfRowsAndOfTheirSource(t *testing.T) {
	damaged := datacite.Invalid(datacite.Finding{File: "a.csv", Line: 9, Code: "syntax", Reason: "cut off"})
	odd := use("10.5072/b", 1, "", 1)
	odd.Err = errors.New("is \"x\", not a number")
	rows := rowsOf(use("10.5072/a", 1, "", 1), odd)
	for _, sorted := range []bool{false, true} {
		var left []string
		opts := &reports.GroupOptions{Sorted: sorted, LeaveOut: func(err error) bool {
			left = append(left, err.Error())
			return true
		}}
		list, err := grouped(rows, opts)
		require.NoError(t, err)
		assert.Len(t, list, 1)
		assert.Equal(t, []string{`dataset 10.5072/b: datacite: line 2: is "x", not a number`}, left)
		left = nil
		_, err = grouped(func(yield func(reports.Row, error) bool) {
			for r := range rows {
				if !yield(r, nil) {
					return
				}
			}
			yield(reports.Row{}, damaged)
		}, opts)
		require.Equal(t, damaged, err)
		assert.Empty(t, left, "nothing is grouped of a part")
		for range reports.Group(rows, opts) {
			break
		}
	}
	for path, tt := range map[string]struct {
		rows   iter.Seq2[reports.Row, error]
		memory int
	}{"rows": {nil, 0}, "GroupOptions.Memory": {rows, -1}} {
		_, err := grouped(tt.rows, &reports.GroupOptions{Memory: tt.memory})
		require.ErrorContains(t, err, path)
		assert.ErrorIs(t, err, datacite.ErrInvalid)
	}
}

func TestGroupMergesRepeats(t *testing.T) {
	a, b := use("10.5072/a", 1, "de", 1), use("10.5072/a", 1, "de", 2)
	a.Title, b.Title = "Glacier", "Volcano"
	var warned []string
	list, err := grouped(rowsOf(a, b, b), &reports.GroupOptions{MergeRepeats: true, Warn: func(f datacite.Finding) {
		warned = append(warned, f.String())
	}})
	require.NoError(t, err)
	assert.EqualValues(t, 5, list[0].Performance[0].Instance[0].Count)
	assert.Equal(t, "Glacier", list[0].Title)
	assert.Equal(t, []string{
		"warning: line 2: title: differs from line 1 of 10.5072/a, whose text is taken",
		"warning: line 3: title: differs from line 1 of 10.5072/a, whose text is taken",
		"warning: 10.5072/a: has no unique-dataset-investigations or unique-dataset-requests (regular); records show no " +
			"other counts",
	}, warned)
}

// TestGroupNeedsLittleMemory: what is held does not grow with the number of rows.
func TestGroupNeedsLittleMemory(t *testing.T) {
	const n = 80_000 // some 24 MiB of rows, if they were held
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, peak, datasets := held(), uint64(0), 0
	rows := func(yield func(reports.Row, error) bool) {
		for i := range n {
			r := use(fmt.Sprintf("10.5072/d%07d", i*7919%n), 1, "de", 1)
			r.Title = fmt.Sprintf("%0100d", i)
			if i%20_000 == 0 {
				peak = max(peak, held())
			}
			if !yield(r, nil) {
				return
			}
		}
	}
	for _, err := range reports.Group(rows, &reports.GroupOptions{Memory: 1 << 20, TempDir: t.TempDir()}) {
		require.NoError(t, err)
		if datasets++; datasets%20_000 == 0 {
			peak = max(peak, held())
		}
	}
	assert.Equal(t, n, datasets)
	assert.Less(t, int64(peak)-int64(before), int64(8<<20), "bytes more than before")
}

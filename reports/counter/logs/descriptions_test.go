package logs_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// described reads lines of Dataverse's log, with n titles of day, into d.
func described(t *testing.T, d *logs.Descriptions, day, n int) {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		lines.WriteString(line("event_time", fmt.Sprintf("2026-10-%02dT10:01:00Z", day), "identifier",
			fmt.Sprintf("doi:10.5072/%04d", i), "title", fmt.Sprintf("Title %d of day %d", i, day)))
	}
	for _, err := range logs.Read([]logs.Log{logs.FromReader("counter.log", strings.NewReader(lines.String()))},
		logs.Dataverse, &logs.Options{Descriptions: d}) {
		require.NoError(t, err)
	}
}

// TestDescriptionsOfEarlierNights: what was saved describes as the logs do, in memory or not,
// and the later description of a dataset is taken, in whatever order they come.
func TestDescriptionsOfEarlierNights(t *testing.T) {
	titles := func(d *logs.Descriptions, n int) (list []string) {
		var datasets []reports.Dataset
		for i := range n {
			datasets = append(datasets, reports.Dataset{
				DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: fmt.Sprintf("10.5072/%04d", i)}}})
		}
		for set, err := range d.Describe(reports.Source(datasets)) {
			require.NoError(t, err)
			list = append(list, set.Title)
		}
		return list
	}
	for _, memory := range []int{0, 4 << 10} {
		saved := map[int][]logs.Description{}
		for _, day := range []int{1, 2, 3} {
			d := &logs.Descriptions{Memory: memory, TempDir: t.TempDir()}
			described(t, d, day, 100*(4-day))
			for about, err := range d.All() {
				require.NoError(t, err)
				assert.NotContains(t, about.Fields, "192.0.2")
				saved[day] = append(saved[day], about)
			}
			assert.Equal(t, fmt.Sprint("Title 99 of day ", day), titles(d, 100)[99], "it can still be used")
			require.NoError(t, d.Close())
		}
		all := &logs.Descriptions{Memory: memory, TempDir: t.TempDir()}
		for _, day := range []int{3, 1} {
			for _, about := range saved[day] {
				require.NoError(t, all.Add(about))
			}
		}
		described(t, all, 2, 200)
		var want []string
		for i := range 300 {
			want = append(want, fmt.Sprintf("Title %d of day %d", i, 3-i/100))
		}
		assert.Equal(t, want, titles(all, 300))
		require.NoError(t, all.Close())
	}
}

func datasets(names ...string) (list []reports.Dataset) {
	for _, name := range names {
		list = append(list, reports.Dataset{DatasetID: []reports.TypedValue{{Type: "handle", Value: "1/2"},
			{Type: reports.TypeDOI, Value: name}}})
	}
	return list
}

// What the log says fills in what is missing.
func TestDescribedValues(t *testing.T) {
	own := reports.Dataset{Title: "Own", Publisher: "Own", URI: "/own", YOP: "1999",
		PublisherID:  []reports.TypedValue{{Type: "isni", Value: "1"}},
		Contributors: []reports.TypedValue{{Type: "name", Value: "Own"}},
		Dates:        []reports.TypedValue{{Type: "pub-date", Value: "1999-01-01"}}}
	describe := func(set reports.Dataset, replace ...string) reports.Dataset {
		about := &logs.Descriptions{}
		_, err := collect(read(logs.Dataverse, strings.NewReader(line(replace...)), &logs.Options{Descriptions: about}))
		require.NoError(t, err)
		for d, err := range about.Describe(reports.Source([]reports.Dataset{set})) {
			require.NoError(t, err)
			set = d
		}
		return set
	}
	own.DatasetID = []reports.TypedValue{{Type: "doi", Value: "10.5072/FK2/ABC"}}
	assert.Equal(t, own, describe(own))
	for code, want := range map[string]string{"grid.4711.3": "grid grid.4711.3", "GRID:4711.3": "grid grid.4711.3",
		"grid:grid.4711.3": "grid grid.4711.3", "urn=a:b": "urn a:b", "client-id.x": "client-id x",
		"ISNI:0000": "isni 0000",
		"orcid:1":   "orcid 1", "ror:1": "", "grid": "", "grid.": "", "x-grid.1": ""} {
		var got []string
		for _, id := range describe(datasets("10.5072/fk2/abc")[0], "publisher_id", code).PublisherID {
			got = append(got, string(id.Type)+" "+id.Value)
		}
		assert.Equal(t, want, strings.Join(got, ", "), code)
	}
	for date, want := range map[string]string{"2024-05-06": "2024-05-06", "2024-05-06T07:08:09Z": "2024-05-06",
		"2024-05":    "",
		"2024-13-01": "", "T": ""} {
		var got []string
		for _, date := range describe(datasets("10.5072/fk2/abc")[0], "publication_date", date).Dates {
			got = append(got, date.Value)
		}
		assert.Equal(t, want, strings.Join(got, ", "), date)
	}
	publishers := map[[2]string]string{{"grid", "tbd"}: "", {"grid", "grid.1"}: "grid", {"Press", "tbd"}: "Press"}
	for of, want := range publishers {
		assert.Equal(t, want, describe(datasets("10.5072/fk2/abc")[0], "publisher", of[0], "publisher_id", of[1]).Publisher)
	}
	names := describe(datasets("10.5072/fk2/abc")[0], "authors", "| Doe, Jane ||Roe, Richard|").Contributors
	assert.Equal(t, []reports.TypedValue{{Type: "name", Value: "Doe, Jane"}, {Type: "name", Value: "Roe, Richard"}},
		names)
	assert.Equal(t, []reports.TypedValue{{Type: "handle", Value: "1/2"}, {Type: "doi", Value: "10.5072/FK2/ABC"}},
		describe(datasets("10.5072/fk2/abc")[0]).DatasetID)
}

// Of two descriptions of the same time, the same one is taken in any order.
func TestDescriptionsOfTheSameTime(t *testing.T) {
	at := time.Date(2026, 10, 14, 10, 0, 0, 5, time.UTC)
	fields := func(title string) string { return title + strings.Repeat("\t", 8) }
	all := []logs.Description{{"10.5072/a", at, fields("A")}, {"10.5072/A", at, fields("B")}, {"10.5072/a", at,
		fields("B")},
		{"10.5072/A", at.Add(-1), fields("Z")}}
	for _, memory := range []int{0, 1} {
		for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1, 2}, {1, 2, 1}} {
			d := &logs.Descriptions{Memory: memory, TempDir: t.TempDir()}
			for _, i := range order {
				require.NoError(t, d.Add(all[i]))
			}
			var got []logs.Description
			for about, err := range d.All() {
				require.NoError(t, err)
				about.Time = about.Time.UTC()
				got = append(got, about)
			}
			require.NoError(t, d.Close())
			assert.Equal(t, all[2:3], got)
		}
	}
}

func TestDescriptionsThatFail(t *testing.T) {
	about := func(memory int) *logs.Descriptions {
		d := &logs.Descriptions{Memory: memory, TempDir: t.TempDir()}
		described(t, d, 1, 3)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return d
	}
	lost := errors.New("disk is dead")
	failing := func(yield func(reports.Dataset, error) bool) {
		_ = yield(datasets("10.5072/0001")[0], nil) && yield(reports.Dataset{Title: "?"}, lost)
	}
	for _, memory := range []int{0, 1} {
		n := 0
		for d, err := range about(memory).Describe(failing) {
			if n++; n == 1 {
				require.NoError(t, err)
				assert.Equal(t, "Title 1 of day 1", d.Title)
			} else {
				assert.Equal(t, lost, err)
			}
		}
		assert.Equal(t, 2, n)
		for d, err := range about(memory).Describe(reports.Source(datasets("10.5072/0001", "10.5072/0001",
			"10.5072/0000"))) {
			if n++; n < 5 {
				require.NoError(t, err)
				continue
			}
			assert.Empty(t, d)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.EqualError(t, err, "datacite: datasets: have 10.5072/0000 after 10.5072/0001; sort them by DOI")
		}
		assert.Equal(t, 5, n)
		for range about(memory).Describe(reports.Source(datasets("10.5072/0000", "10.5072/0001"))) {
			n++
			break
		}
		for range about(memory).All() {
			n++
			break
		}
		assert.Equal(t, 7, n)
	}

	none := filepath.Join(t.TempDir(), "none")
	for memory, spilled := range map[int]bool{32 << 10: true, 1 << 20: false} { // short descriptions take room, too
		d := &logs.Descriptions{Memory: memory, TempDir: none}
		var err error
		for i := range 1000 {
			err = cmp.Or(err, d.Add(logs.Description{DOI: fmt.Sprint("10.5072/", i), Fields: strings.Repeat("\t", 8)}))
		}
		assert.Equal(t, spilled, errors.Is(err, fs.ErrNotExist), memory)
	}
	late := &logs.Descriptions{Memory: 16 << 10, TempDir: none} // until they are asked for, no file is needed
	long := strings.Repeat("long ", 1000) + strings.Repeat("\t", 8)
	require.NoError(t, late.Add(logs.Description{DOI: "10.5072/a", Fields: long}))
	require.NoError(t, late.Add(logs.Description{DOI: "10.5072/b", Fields: strings.Repeat("\t", 8)}))
	n := 0
	for about, err := range late.All() {
		n++
		assert.Empty(t, about)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	for d, err := range late.Describe(reports.Source(datasets("10.5072/a", "10.5072/b"))) {
		n++
		assert.Empty(t, d)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	assert.Equal(t, 2, n)
	d := &logs.Descriptions{Memory: 1, TempDir: none}
	_, err := collect(logs.Read([]logs.Log{logs.FromReader("a.log", strings.NewReader(line()+line("identifier",
		"doi:10.5072/b")))}, logs.Dataverse, &logs.Options{Descriptions: d, Tolerance: all}))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, datacite.ErrInvalid)
	assert.ErrorContains(t, err, "a.log, line 2: logs: sorting descriptions: ")
	require.ErrorIs(t, d.Add(logs.Description{DOI: "10.5072/c", Fields: strings.Repeat("\t", 8)}), fs.ErrNotExist)
}

package logs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

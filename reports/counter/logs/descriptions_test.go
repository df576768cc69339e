package logs_test

import (
	"bytes"
	"fmt"
	"slices"
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
		fmt.Fprintf(&lines, "2026-10-%02dT10:01:00Z\t192.0.2.1\ts\t-\t-\thttps://example.org/dataset.xhtml\tdoi:10.5072/%04d\t-\t-\tM\tTitle %d of day %d\tP\t-\tDoe, Jane\t2024-05-06\t1\t-\t-\t2024\n", day, i, i, day)
	}
	for _, err := range logs.Read([]logs.Source{logs.FromReader("counter.log", strings.NewReader(lines.String()))}, logs.Dataverse, &logs.Options{Descriptions: d}) {
		require.NoError(t, err)
	}
}

// TestDescriptionsOfEarlierNights: what was saved describes as the logs do, in memory or not,
// and the later description of a dataset is taken, in whatever order they come.
func TestDescriptionsOfEarlierNights(t *testing.T) {
	titles := func(d *logs.Descriptions, n int) (list []string) {
		var datasets []reports.Dataset
		for i := range n {
			datasets = append(datasets, reports.Dataset{DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: fmt.Sprintf("10.5072/%04d", i)}}})
		}
		for set, err := range d.Describe(reports.Source(datasets)) {
			require.NoError(t, err)
			list = append(list, set.Title)
		}
		return list
	}
	for _, memory := range []int{0, 4 << 10} {
		saved := map[int]*bytes.Buffer{}
		for _, day := range []int{1, 2, 3} {
			d := &logs.Descriptions{Memory: memory, TempDir: t.TempDir()}
			described(t, d, day, 100*(4-day))
			saved[day] = &bytes.Buffer{}
			require.NoError(t, d.Save(saved[day]))
			assert.NotContains(t, saved[day].String(), "192.0.2")
			assert.Equal(t, fmt.Sprint("Title 99 of day ", day), titles(d, 100)[99], "it can still be used")
			require.NoError(t, d.Close())
		}
		all := &logs.Descriptions{Memory: memory, TempDir: t.TempDir()}
		for _, day := range []int{3, 1} {
			require.NoError(t, all.Load(saved[day]))
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

// FuzzLoadDescriptions: damage is an error or other texts, never a panic.
func FuzzLoadDescriptions(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x0e123456789012a\x00"))
	f.Add(bytes.Repeat([]byte{0xff}, 12))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &logs.Descriptions{}
		if d.Load(bytes.NewReader(data)) == nil && len(data) > 0 {
			var out bytes.Buffer
			require.NoError(t, d.Save(&out))
			again := &logs.Descriptions{}
			require.NoError(t, again.Load(bytes.NewReader(out.Bytes())))
			var same bytes.Buffer
			require.NoError(t, again.Save(&same))
			assert.True(t, slices.Equal(out.Bytes(), same.Bytes()))
		}
	})
}

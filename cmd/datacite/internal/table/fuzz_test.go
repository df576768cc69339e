package table_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
)

// FuzzReader: whatever a table holds, it is read without a panic, and what Write does not
// call lost is the same when it is read back.
func FuzzReader(f *testing.F) {
	f.Add(items)
	f.Add(strings.ReplaceAll(items, "\n", "\r\n"))
	f.Add("doi;url\n10.5072/a;https://a.example/\n")
	f.Add("title\tcreators\tpublisher\tyear\ttype\trights\n=a\t:unkn; a\\;b,c | x | \n\tP | \t26\tDataset||\tMIT; x |; " +
		"|\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := table.NewReader("a.csv", strings.NewReader(text), nil)
		if err != nil {
			return
		}
		var out bytes.Buffer
		var rows []*table.Row
		var kept []bool
		w := table.NewWriter(&out, nil)
		for row, err := range r.All() {
			if err != nil {
				break
			}
			lost, err := w.Write(row)
			require.NoError(t, err)
			rows, kept = append(rows, row), append(kept, len(lost) == 0 && row.Err() == nil)
		}
		require.NoError(t, w.Flush())
		again := read(t, "a.csv", out.String())
		require.LessOrEqual(t, len(again), len(rows))
		if len(again) < len(rows) { // rows of nothing but texts that are blank
			return
		}
		for i, row := range rows {
			if kept[i] {
				assert.Equal(t, row.DOI+row.URL+row.State, again[i].DOI+again[i].URL+again[i].State)
				if row.Record != nil {
					assert.Equal(t, row.Record, again[i].Record)
				}
			}
		}
	})
}

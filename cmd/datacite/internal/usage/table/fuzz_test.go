package table_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/table"
	"github.com/datacite-go/datacite-go/reports"
)

// FuzzRead: whatever the bytes are, a fault is one of the table, and rows without a fault are read back
// as they were read, from CSV and from an .xlsx.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		head + "10.5072/a,unique-dataset-requests,regular,1,Portal,University\n10.5072/a,,regular,x,Portal\n",
		"\ufeffdoi;metric;access;count;country;title;year;uri\r\n10.5072/a;total-dataset-requests;machine;7;de;'=SUM(1);2024;https://a.example/\r\n",
		"doi\tmetric\taccess\tcount\n\"a\n\"\"b\"\tm\t\t-1\n", "\x1f\x8b", "PK\x03\x04",
	} {
		f.Add([]byte(seed))
	}
	opts := &table.Options{Platform: "Portal", Publisher: "University"}
	f.Fuzz(func(t *testing.T, data []byte) {
		var good []reports.Row
		for row, err := range table.Read("counts", bytes.NewReader(data), "2026-10-01", opts) {
			if err != nil {
				require.ErrorIs(t, err, datacite.ErrInvalid)
				break
			}
			require.Positive(t, row.Line)
			if row.Err != nil {
				require.ErrorIs(t, row.Err, datacite.ErrInvalid)
				continue
			}
			good = append(good, row)
		}
		if len(good) == 0 {
			return
		}
		for _, spreadsheet := range []bool{false, true} {
			var out bytes.Buffer
			w := table.NewWriter(&out, &table.WriterOptions{Spreadsheet: spreadsheet})
			for _, r := range good {
				require.NoError(t, w.Write(r))
			}
			require.NoError(t, w.Close())
			n := 0
			for r, err := range table.Read("counts", bytes.NewReader(out.Bytes()), "2026-10-01", nil) {
				require.NoError(t, err)
				r.Line = good[n].Line
				require.Equal(t, good[n], r)
				n++
			}
			require.Len(t, good, n)
		}
	})
}

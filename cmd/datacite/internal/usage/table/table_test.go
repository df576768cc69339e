package table_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/table"
	"github.com/datacite-go/datacite-go/reports"
)

func ExampleRead() {
	const counts = `doi;metric;access;country;count
10.5072/glacier;unique-dataset-requests;regular;de;12
10.5072/glacier;unique-dataset-requests;regular;;3
`
	rows := table.Read("counts.csv", strings.NewReader(counts), "2026-10-01", &table.Options{Platform: "My Portal", Publisher: "My University"})
	for d, err := range reports.Group(rows, nil) {
		if err != nil {
			log.Print(err)
			return
		}
		fmt.Println(d.DatasetID[0].Value, d.Performance[0].Instance[0].Count)
	}
	// Output: 10.5072/glacier 15
}

const head = "doi,metric,access,count,platform,publisher\n"

// After the fault of a row the next rows follow; an error of the table ends them.
func TestFaults(t *testing.T) {
	const good = "10.5072/a,unique-dataset-requests,regular,1,Portal,University\n"
	for content, says := range map[string]string{
		head + "10.5072/a,unique-dataset-requests,regular,many,Portal,University\n" + good: `counts.csv, line 2, column 4: count: is "many", not a whole number`,
		head + "10.5072/a,unique-dataset-requests,regular,1,,University\n" + good:          "counts.csv, line 2, column 5: platform: is empty; each dataset needs one",
		head + "10.5072/a,unique-dataset-requests\n" + good:                                "counts.csv, line 2: there are 2 cells for 6 columns",
	} {
		var rows []reports.Row
		for row, err := range table.Read("counts.csv", strings.NewReader(content), "2026-10-01", nil) {
			require.NoError(t, err)
			assert.EqualValues(t, "2026-10-01", row.Date)
			rows = append(rows, row)
		}
		require.Len(t, rows, 2)
		require.ErrorContains(t, rows[0].Err, says)
		require.ErrorIs(t, rows[0].Err, datacite.ErrInvalid)
		assert.Equal(t, "counts.csv", rows[1].File)
		assert.Equal(t, 3, rows[1].Line)
		assert.NoError(t, rows[1].Err)
	}
	for says, src := range map[string]io.Reader{
		"counts.csv: is empty": strings.NewReader(""),
		`counts.csv, line 1: column 2 is named "counts" (did you mean "count"?)`: strings.NewReader("doi,counts\n"),
		"counts.csv, line 1: there is no column access, platform, publisher":     strings.NewReader("doi,metric,count\n"),
		`extraneous or missing "`:     strings.NewReader(head + "10.5072/a,\"x\n"),
		"gzip: invalid header":        strings.NewReader("\x1f\x8bnot gzip, but long enough"),
		"counts.csv: the disk failed": iotest.ErrReader(errors.New("the disk failed")),
	} {
		var last error
		for _, err := range table.Read("counts.csv", src, "2026-10-01", nil) {
			assert.NoError(t, last, "an error is the last of the sequence")
			last = err
		}
		require.ErrorContains(t, last, says)
		assert.Equal(t, !strings.Contains(says, "disk"), errors.Is(last, datacite.ErrInvalid), "a disk that fails is no fault of the table")
	}
}

// A table is read back as it was written, in both forms.
func TestWriter(t *testing.T) {
	wanted := []reports.Row{
		{DOI: "10.5072/a", Title: "=SUM(1)", YOP: "2024", URI: "https://a.example/", Publisher: "University", Platform: "Portal", Metric: reports.TotalDatasetRequests, Access: reports.Machine, Country: "de", Count: 7},
		{DOI: "10.5072/b", Title: "a, \"b\"\nc;", Publisher: "University", Platform: "Portal", Metric: reports.UniqueDatasetRequests, Access: reports.Regular, Count: 1 << 40},
	}
	for _, spreadsheet := range []bool{false, true} {
		var out strings.Builder
		w := table.NewWriter(&out, &table.WriterOptions{Spreadsheet: spreadsheet})
		for _, r := range wanted {
			require.NoError(t, w.Write(r))
		}
		require.NoError(t, w.Close())
		n := 0
		for r, err := range table.Read("counts", strings.NewReader(out.String()), "2026-10-01", nil) {
			require.NoError(t, err)
			require.NoError(t, r.Err)
			want := wanted[n]
			want.Date, want.File, want.Line = "2026-10-01", r.File, r.Line
			assert.Equal(t, want, r)
			n++
		}
		assert.Len(t, wanted, n)
	}
	read, write := io.Pipe()
	require.NoError(t, read.Close())
	assert.ErrorIs(t, table.NewWriter(write, nil).Close(), io.ErrClosedPipe)
}

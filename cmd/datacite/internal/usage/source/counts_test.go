package source

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

const head = "doi,metric,access,count,platform,publisher\n"

// After the fault of a row the next rows follow; an error of the table ends them.
func TestFaultsOfCounts(t *testing.T) {
	const good = "10.5072/a,unique-dataset-requests,regular,1,Portal,University\n"
	for content, says := range map[string]string{
		head + "10.5072/a,unique-dataset-requests,regular,many,Portal,University\n" +
			good: `counts.csv, line 2, column 4: count: is "many", not a whole number`,
		head + "10.5072/a,unique-dataset-requests,regular,1,,University\n" +
			good: "counts.csv, line 2, column 5: platform: is empty; each dataset needs one",
		head + "10.5072/a,unique-dataset-requests\n" + good: "counts.csv, line 2: there are 2 cells for 6 columns",
	} {
		var rows []reports.Row
		for row, err := range (&counts{name: "counts.csv", day: "2026-10-01"}).rows(strings.NewReader(content)) {
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
		`counts.csv, line 1: column 2 is named "counts"; the columns are doi, title, year, uri, publisher, platform, metric, access, country, count; did you mean count?`: strings.NewReader("doi,counts\n"),
		"counts.csv, line 1: there is no column access, platform, publisher":                                                                                              strings.NewReader("doi,metric,count\n"),
		`extraneous or missing "`:     strings.NewReader(head + "10.5072/a,\"x\n"),
		"gzip: invalid header":        strings.NewReader("\x1f\x8bnot gzip, but long enough"),
		"counts.csv: the disk failed": iotest.ErrReader(errors.New("the disk failed")),
	} {
		var last error
		for _, err := range (&counts{name: "counts.csv"}).rows(src) {
			assert.NoError(t, last, "an error is the last of the sequence")
			last = err
		}
		require.ErrorContains(t, last, says)
		assert.Equal(t, !strings.Contains(says, "disk"), errors.Is(last, datacite.ErrInvalid),
			"a disk that fails is no fault of the table")
	}
	read, write := io.Pipe()
	require.NoError(t, read.Close())
	assert.ErrorIs(t, NewWriter(write, false).Close(), io.ErrClosedPipe)
}

// FuzzCounts: whatever the bytes are, a fault is one of the table, and rows without a fault are read back
// as they were read, from CSV and from an .xlsx.
func FuzzCounts(f *testing.F) {
	for _, seed := range []string{
		head + "10.5072/a,unique-dataset-requests,regular,1,Portal,University\n10.5072/a,,regular,x,Portal\n10.5072/b," +
			"unique-dataset-requests,regular,1099511627776,P,U\n",
		"\ufeffdoi;metric;access;count;country;title;year;uri\r\n10.5072/a;total-dataset-requests;machine;7;de;'=SUM(1);2024;https://a.example/\r\n",
		"doi\tmetric\taccess\tcount\ttitle\n\"a\n\"\"b\"\tm\t\t-1\ta, \"b\"\nc;\n", "\x1f\x8b", "PK\x03\x04",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var good []reports.Row
		for row, err := range (&counts{name: "counts", day: "2026-10-01", platform: "Portal",
			publisher: "University"}).rows(bytes.NewReader(data)) {
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
		for _, spreadsheet := range []bool{false, true} {
			var out bytes.Buffer
			w := NewWriter(&out, spreadsheet)
			for _, r := range good {
				require.NoError(t, w.Write(r))
			}
			require.NoError(t, w.Close())
			n := 0
			for r, err := range (&counts{name: "counts", day: "2026-10-01"}).rows(&out) {
				require.NoError(t, err)
				r.Line = good[n].Line
				require.Equal(t, good[n], r)
				n++
			}
			require.Len(t, good, n)
		}
	})
}

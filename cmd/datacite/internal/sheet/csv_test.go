package sheet_test

import (
	"encoding/csv"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
)

func readAll(r *sheet.Reader) (all [][]string, err error) {
	for {
		row, err := r.Read()
		if err != nil {
			return all, err
		}
		all = append(all, row)
	}
}

// A table is read as encoding/csv reads it, in whatever pieces it comes.
func TestTables(t *testing.T) {
	long := strings.Repeat("long ", 5_000)
	for name, text := range map[string]string{
		"plain":              "doi,url\n10.5072/a,https://example.org/a\n10.5072/b,\n",
		"no end of line":     "a,b\n1,2",
		"Windows":            "a,b\r\n1,2\r\n\"3\r\n4\",5\r\n",
		"cells of lines":     "a,b\n\"1\n2\n\n3\",\"4 \"\"5\"\" 6\"\n7,8\n",
		"empty lines":        "\n\na,b\n\n1,2\n\n\n3,4\n\n",
		"long cells":         "a,b\n" + long + ",1\n\"" + long + "\n" + long + "\",2\n3,4\n",
		"too few cells":      "a,b\n1\n",
		"a stray quote":      "a,b\n1,2\"3\n",
		"a quote left open":  "a,b\n1,2\n3,\"4\n5,6\n",
		"nothing":            "",
		"nothing but blanks": " \n",
	} {
		t.Run(name, func(t *testing.T) {
			plain := csv.NewReader(strings.NewReader(text))
			var want [][]string
			var fault error
			for fault == nil {
				var row []string
				if row, fault = plain.Read(); fault == nil {
					want = append(want, row)
				}
			}
			for _, src := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)),
				iotest.DataErrReader(strings.NewReader(text))} {
				got, err := readAll(sheet.NewReader("t", src))
				assert.Equal(t, want, got)
				if found := datacite.Findings(err); len(found) == 1 {
					err = found[0].Err
				}
				assert.Equal(t, fault, err)
			}
		})
	}
}

func TestNamesAndLines(t *testing.T) {
	r := sheet.NewReader("t", strings.NewReader("\ufeff DOI ,State\n\n\"10.5072/a\n\",findable\n10.5072/b,\n"))
	names, err := r.Names()
	require.NoError(t, err)
	assert.Equal(t, []string{"doi", "state"}, names)
	_, err = r.Read()
	require.NoError(t, err)
	assert.Equal(t, []int{3, 4}, []int{r.Line(0), r.Line(1)})
	_, err = r.Read()
	require.NoError(t, err)
	assert.Equal(t, 5, r.Line(0))
	r = sheet.NewReader("t", strings.NewReader("sep=;\ndoi;title\n10.5072/a;A\n"))
	_, err = r.Read()
	require.NoError(t, err)
	assert.Equal(t, 2, r.Line(0), "the line before it counts")
	_, err = readAll(sheet.NewReader("t",
		io.MultiReader(strings.NewReader("a,b\n1,2\n"), iotest.ErrReader(io.ErrClosedPipe))))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// Tables of any usual make are the same table.
func TestTablesOfAnyUsualProgramAreTheSame(t *testing.T) {
	want := [][]string{{"doi", "title", "note"}, {"10.5072/a", "Eis, Schnee; Firn\tund mehr", "grün"},
		{"10.5072/b", "", ""}}
	for name, text := range map[string]string{
		"commas":             "doi,title,note\n10.5072/a,\"Eis, Schnee; Firn\tund mehr\",grün\n10.5072/b,,\n",
		"semicolons":         "doi;title;note\r\n10.5072/a;\"Eis, Schnee; Firn\tund mehr\";grün\r\n10.5072/b;;\r\n",
		"tabs":               "doi\ttitle\tnote\n10.5072/a\t\"Eis, Schnee; Firn\tund mehr\"\tgrün\n10.5072/b\t\t\n",
		"a mark":             "\ufeffdoi;title;note\n10.5072/a;\"Eis, Schnee; Firn\tund mehr\";grün\n10.5072/b;;",
		"a mark and a quote": "\ufeff\"doi\";\"title\";\"note\"\n10.5072/a;\"Eis, Schnee; Firn\tund mehr\";grün\n10.5072/b;;",
		"a line that says":   "sep=;\r\ndoi;title;note\r\n10.5072/a;\"Eis, Schnee; Firn\tund mehr\";grün\r\n10.5072/b;;\r\n",
		"the same in quotes": "\ufeff\"sep=\t\"\ndoi\ttitle\tnote\n10.5072/a\t\"Eis, Schnee; Firn\tund " +
			"mehr\"\tgrün\n10.5072/b\t\t\n",
		"an empty line": "\r\ndoi;title;note\n10.5072/a;\"Eis, Schnee; Firn\tund mehr\";grün\n10.5072/b;;",
	} {
		for _, src := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			got, err := readAll(sheet.NewReader("t", src))
			require.ErrorIs(t, err, io.EOF, name)
			assert.Equal(t, want, got, name)
		}
	}
}

// What is not UTF-8 is refused with its place.
func TestOtherEncodings(t *testing.T) {
	for text, says := range map[string]string{
		"doi,title\na,b\nc,gr\xfcn\n": "t, line 3, column 5: the text is not UTF-8; save the table again as " +
			".xlsx, or as \"CSV UTF-8\"",
		"doi,title\na,\"b\n\nd gr\xfcn\"\n": "t, line 4, column 5: the text is not UTF-8; save the table again as " +
			".xlsx, or as \"CSV UTF-8\"; the row begins on line 2",
		"doi,gr\xfcn\na,b\n":                    "t, line 1, column 7: the text is not UTF-8",
		"doi,title\na,b\nc,d,gr\xfcn\n":         "t, line 3, column 7: the text is not UTF-8",
		"\xff\xfed\x00o\x00i\x00\n\x00":         "t, line 1, column 1: the text is not UTF-8",
		"d\x00o\x00i\x00,\x00u\x00\n\x00":       "t, line 1, column 2: the text is not UTF-8",
		"PK\x03\x04\x14\x00\x06\x00xl/workbook": "the spreadsheet cannot be read",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":      "an old .xls file, or protected by a password",
	} {
		_, err := readAll(sheet.NewReader("t", strings.NewReader(text)))
		assert.ErrorContains(t, err, says, "%q", text)
	}
}

// endless repeats a text without end, and counts what was read of it.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], e.text[(e.read+n)%len(e.text):])
	}
	e.read += n
	return n, nil
}

// A table whose rows do not end, such as one with a quote left open, ends with an error that
// names the row, in bounded memory.
func TestRowsWithoutEnd(t *testing.T) {
	for name, tt := range map[string]struct{ start, goes, says string }{
		"a quote left open": {"a,b\n1,2\n\n3,\"", "line\n",
			"t, line 52433, column 1: the row is longer than 256 KiB; a quotation mark may be missing; the row begins on line " +
				"4"},
		"a line without end":       {"a,b\n1,2\n", "cell ", "t, line 3, column 1: the row is longer than 256 KiB"},
		"cells without end":        {"a,b\n1,2\n", ",", "t, line 3"},
		"a header without end":     {"", "a,", "t, line 1"},
		"a quoted line, no breaks": {"a,b\n\"", "x", "t, line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			src := &endless{text: tt.goes}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readAll(sheet.NewReader("t", io.MultiReader(strings.NewReader(tt.start), src)))
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, sheet.ErrTooLong)
			assert.ErrorContains(t, err, tt.says)
			_, isParse := errors.AsType[*csv.ParseError](err)
			assert.True(t, isParse)
			assert.Less(t, src.read, 2*sheet.MaxSize)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200*sheet.MaxSize))
		})
	}
}

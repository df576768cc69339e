package sheet

import (
	"encoding/csv"
	"io"
	"strings"
)

// A CSVWriter writes CSV that people open in a spreadsheet program. Such a program takes a
// cell that begins with one of = + - @ for a formula, which may be a stranger's: a title can
// be =HYPERLINK(…). Those cells get an apostrophe in front, and a Reader takes it away again.
type CSVWriter struct {
	*csv.Writer
	Defused int // cells with an apostrophe
}

// NewCSVWriter returns a writer of CSV.
func NewCSVWriter(out io.Writer) *CSVWriter { return &CSVWriter{Writer: csv.NewWriter(out)} }

// Write writes a row.
func (w *CSVWriter) Write(cells []string) error {
	safe := make([]string, len(cells))
	for i, cell := range cells {
		if safe[i] = cell; isFormula(cell) {
			safe[i] = "'" + cell
			w.Defused++
		}
	}
	return w.Writer.Write(safe)
}

// Close writes what is buffered. It does not close what the table is written to.
func (w *CSVWriter) Close() error {
	w.Flush()
	return w.Error()
}

// isFormula reports whether a cell begins like a formula, or like one that was defused, so
// that each text is read back as it was.
func isFormula(cell string) bool {
	start := strings.TrimLeft(cell, "'")
	return start != "" && strings.ContainsRune("=+-@\t\r", rune(start[0]))
}

// asItWas is a cell before it was defused.
func asItWas(cell string) string {
	if text, defused := strings.CutPrefix(cell, "'"); defused && isFormula(text) {
		return text
	}
	return cell
}

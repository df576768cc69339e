package table

import (
	"io"
	"strconv"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
	"github.com/datacite-go/datacite-go/reports"
)

// WriterOptions are the optional settings of a [Writer].
type WriterOptions struct {
	Spreadsheet bool // write an .xlsx, in which all cells are texts, instead of CSV
}

// A Writer writes a table that [Read] reads, with all columns. CSV begins with a byte order mark, so
// that spreadsheet programs read it as UTF-8; a text in it that begins with one of = + - @ gets an
// apostrophe in front, so that these programs do not take it for a formula. Read removes it.
type Writer struct {
	rows sheet.RowWriter
	err  error // the first one
}

// NewWriter returns a writer that has written the names of the columns.
func NewWriter(out io.Writer, opts *WriterOptions) *Writer {
	w := &Writer{}
	if opts != nil && opts.Spreadsheet {
		w.rows, w.err = sheet.NewWriter(out)
	} else {
		_, w.err = io.WriteString(out, "\ufeff")
		w.rows = sheet.NewCSVWriter(out)
	}
	var names []string
	for _, c := range knownColumns {
		names = append(names, string(c))
	}
	w.write(names)
	return w
}

func (w *Writer) write(cells []string) {
	if w.err == nil {
		w.err = w.rows.Write(cells)
	}
}

// Write writes a row, without its date, file and line. The error is that of the first row that
// could not be written.
func (w *Writer) Write(r reports.Row) error {
	cells := make([]string, len(knownColumns))
	for i, c := range knownColumns {
		cells[i] = map[column]string{
			columnDOI: r.DOI, columnTitle: r.Title, columnYear: r.YOP, columnURI: r.URI, columnPublisher: r.Publisher, columnPlatform: r.Platform,
			columnMetric: string(r.Metric), columnAccess: string(r.Access), columnCountry: r.Country, columnCount: strconv.FormatInt(r.Count, 10),
		}[c]
	}
	w.write(cells)
	return w.err
}

// Close writes buffered data, and ends an .xlsx. It does not close what the table is written to.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.rows.Close()
	}
	return w.err
}

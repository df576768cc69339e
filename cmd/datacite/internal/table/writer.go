package table

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
	"github.com/datacite-go/datacite-go/metadata"
)

// WriterOptions are the optional settings of a Writer.
type WriterOptions struct {
	Columns     []string     // names of the [Columns] to write, in this order; nil means all
	Others      []string     // further columns, after those of this package
	Layout      sheet.Layout // of CSV
	Spreadsheet bool         // write an .xlsx, in which all cells are texts, instead of CSV

	// UsedOnly leaves out those of the further columns of which no row has a cell. The table is written by Flush, which
	// comes once; a Writer that is not flushed must be discarded.
	UsedOnly bool
}

// A Writer writes a table. CSV begins with a byte order mark, so that spreadsheet programs
// read it as UTF-8. A text in CSV that begins with one of = + - @ gets an apostrophe in front,
// so that these programs do not take it for a formula; a Reader removes it.
type Writer struct {
	rows    sheet.RowWriter
	held    *usedColumns // with UsedOnly
	columns []column
	others  int
	err     error // of the first fault
}

// NewWriter returns a writer that has written the header.
func NewWriter(out io.Writer, opts *WriterOptions) *Writer {
	if opts == nil {
		opts = &WriterOptions{}
	}
	w := &Writer{columns: columns, others: len(opts.Others)} // Flush returns the errors
	if opts.Columns != nil {
		w.columns = nil
	}
	for _, name := range opts.Columns {
		c, known := columnOf(name)
		if !known {
			w.err = datacite.Invalid(datacite.Finding{Path: "WriterOptions.Columns", Code: "column", Value: name,
				Reason: fmt.Sprintf("%q is not a column of this package", name), Err: ErrUnknownColumn})
			return w
		}
		w.columns = append(w.columns, c)
	}
	var names []string
	for _, c := range w.columns {
		names = append(names, c.Name)
	}
	create := func() (sheet.RowWriter, error) { return sheet.Create(out, opts.Spreadsheet, opts.Layout) }
	if names = append(names, opts.Others...); opts.UsedOnly {
		if w.held, w.err = holdRows(common, len(w.columns), len(names), create); w.err == nil {
			w.rows, w.err = w.held, w.held.head(names)
		}
		return w
	}
	w.rows, w.err = create()
	w.write(names)
	return w
}

// Discard removes what a Writer of UsedOnly keeps.
func (w *Writer) Discard() {
	if w != nil && w.held != nil {
		_ = w.held.discard() // what it removes is of no use
	}
}

func (w *Writer) write(cells []string) {
	if w.err == nil {
		w.err = w.rows.Write(cells)
	}
}

// Write writes a row. lost lists the JSON names of properties that the columns cannot hold
// completely, such as contributors: a record that is read back from the row differs in them; [Complete] keeps
// them. File, Line and Findings are not written. The error is that of the first row that could not be
// written.
func (w *Writer) Write(row *Row) (lost []string, err error) {
	whole := *row
	if whole.Record == nil {
		whole.Record = &metadata.Record{}
	}
	cells, read := make([]string, len(w.columns), len(w.columns)+w.others), &Row{Record: &metadata.Record{}}
	for i, c := range w.columns {
		if cells[i] = row.faulty[c.Name]; cells[i] != "" {
			continue
		}
		if cells[i] = c.cell(&whole); cells[i] != "" {
			_ = c.read(cells[i], read) // what is stored may be kept, though it would not be accepted as new
		}
	}
	others := slices.Clone(row.Others[:min(len(row.Others), w.others)])
	cells = append(cells, append(others, make([]string, w.others-len(others))...)...)
	w.write(cells)
	return differing(whole.Record, read.Record), w.err
}

// cell is the text of a column as a [Reader] has it.
func (c *column) cell(r *Row) string {
	text := newlines.Replace(c.write(r))
	if c.Name != "description" {
		text = oneLine(text)
	}
	return strings.TrimSpace(text)
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Defused is the number of cells so far that got an apostrophe in front.
func (w *Writer) Defused() int {
	rows := w.rows
	if w.held != nil {
		rows = w.held.rows
	}
	if c, ok := rows.(*sheet.CSVWriter); ok {
		return c.Defused
	}
	return 0
}

// Flush writes buffered data, and ends an .xlsx. Call it after the last row; a CSV may get
// further rows after it.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.rows.Close()
	}
	return w.err
}

// differing returns the members of two records that are not the same. The DOI has a column
// of its own.
func differing(a, b *metadata.Record) (names []string) {
	x, y := members(a), members(b)
	for name := range x {
		if name != "doi" && name != "schemaVersion" && !reflect.DeepEqual(x[name], y[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// members are those of the JSON, without empty ones and the types that the service derives.
func members(r *metadata.Record) map[string]any {
	whole := *r
	whole.Types = metadata.Types{ResourceTypeGeneral: r.Types.ResourceTypeGeneral, ResourceType: r.Types.ResourceType}
	r = &whole
	var all map[string]any
	data, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil // a record is always JSON
	}
	for name, value := range all {
		if list, ok := value.([]any); ok && len(list) == 0 {
			delete(all, name)
		}
	}
	return all
}

package table

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"io"
	"reflect"
	"slices"

	"github.com/datacite-go/datacite-go/metadata"
)

// WriterOptions are the optional settings of a Writer.
type WriterOptions struct {
	Others    []string // further columns, after those of this package
	Separator rune     // between cells; 0 means a comma
}

// A Writer writes a CSV table with all columns. It begins with a byte order mark, so that
// spreadsheet programs read it as UTF-8.
type Writer struct {
	buffer *bufio.Writer
	csv    *csv.Writer
	others int
}

// NewWriter returns a writer that has written the header.
func NewWriter(out io.Writer, opts *WriterOptions) *Writer {
	if opts == nil {
		opts = &WriterOptions{}
	}
	w := &Writer{buffer: bufio.NewWriter(out), others: len(opts.Others)}
	w.csv = csv.NewWriter(w.buffer)
	w.csv.Comma = cmp.Or(opts.Separator, ',')
	_, _ = w.buffer.WriteString("\ufeff") // Flush returns the error
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	_ = w.csv.Write(append(names, opts.Others...)) // Flush returns the error
	return w
}

// Write writes a row. lost are the members of the record, in the JSON form, that the
// columns cannot represent completely, such as contributors: reading the row back gives a
// different record. Place and Findings are not written.
func (w *Writer) Write(row *Row) (lost []string, err error) {
	whole := *row
	if whole.Record == nil {
		whole.Record = &metadata.Record{}
	}
	cells, read := make([]string, 0, len(columns)+w.others), &Row{Record: &metadata.Record{}}
	for _, c := range columns {
		cell := c.write(&whole)
		if unread := row.unread[c.Name]; unread != "" {
			cell = unread
		} else if cell != "" {
			_ = c.read(cell, read) // a cell that cannot be read counts as lost
		}
		cells = append(cells, cell)
	}
	others := slices.Clone(row.Others[:min(len(row.Others), w.others)])
	cells = append(cells, append(others, make([]string, w.others-len(others))...)...)
	return differing(whole.Record, read.Record), w.csv.Write(cells)
}

// Flush writes what is buffered. Call it after the last row.
func (w *Writer) Flush() error {
	w.csv.Flush()
	if err := w.csv.Error(); err != nil {
		return err
	}
	return w.buffer.Flush()
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

func members(r *metadata.Record) map[string]any {
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

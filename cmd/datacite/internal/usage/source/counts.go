package source

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/reports"
)

// A table of counts is CSV or an .xlsx; see Help. Each row counts one metric of one DOI, for one kind of access
// and one country.

// A column of a table of counts is a text of a row, or the count.
type column struct {
	name  string
	of    func(*reports.Row) *string // nil of the count
	check func(string) error         // what only a table can get wrong
}

var columns = []column{
	{"doi", func(r *reports.Row) *string { return &r.DOI }, nil},
	{"title", func(r *reports.Row) *string { return &r.Title }, nil},
	{"year", func(r *reports.Row) *string { return &r.YOP }, checkYear},
	{"uri", func(r *reports.Row) *string { return &r.URI }, checkURI},
	{"publisher", func(r *reports.Row) *string { return &r.Publisher }, notEmpty},
	{"platform", func(r *reports.Row) *string { return &r.Platform }, notEmpty},
	{"metric", func(r *reports.Row) *string { return (*string)(&r.Metric) }, nil},
	{"access", func(r *reports.Row) *string { return (*string)(&r.Access) }, nil},
	{"country", func(r *reports.Row) *string { return &r.Country }, nil},
	{"count", nil, nil},
}

func columnNames() (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// set takes a cell. An empty one leaves the default.
func (c column) set(r *reports.Row, text string) (err error) {
	if c.of == nil {
		if r.Count, err = strconv.ParseInt(text, 10, 64); err != nil {
			return fmt.Errorf("is %q, not a whole number", text)
		}
		return nil
	}
	value := c.of(r)
	*value = cmp.Or(text, *value)
	if c.check == nil {
		return nil
	}
	return c.check(*value)
}

func checkYear(text string) error {
	if n, err := strconv.Atoi(text); text != "" && (err != nil || len(text) != 4 || n < 1000) {
		return fmt.Errorf("is %q, not a year of four digits", text)
	}
	return nil
}

func checkURI(text string) error {
	if u, err := url.Parse(text); text != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		return fmt.Errorf("is %q, not an address https://…", text)
	}
	return nil
}

func notEmpty(text string) error {
	if text == "" {
		return errors.New("is empty; each dataset needs one")
	}
	return nil
}

// A counts is a table of counts that is read. Its name is for messages, and its date is a day of the month.
type counts struct {
	name                string
	day                 reports.Date
	platform, publisher string // where a row has none
	r                   *sheet.Reader
	columns             []column // of the table
}

// rows yields the rows of a table. A cell that cannot be read is a fault of its row, in Row.Err. An error ends
// the rows, such as that of a column that is missing or unknown, or of a damaged file; these match
// datacite.ErrInvalid.
func (t *counts) rows(src io.Reader) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		err := t.begin(src)
		for err == nil {
			var cells []string
			if cells, err = t.r.Read(); err == nil || errors.Is(err, csv.ErrFieldCount) {
				if err = nil; !yield(t.row(cells), nil) {
					return
				}
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(reports.Row{}, err)
		}
	}
}

// begin reads the first row.
func (t *counts) begin(src io.Reader) error {
	content, err := inflated(src)
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
		return datacite.Invalid(datacite.Finding{File: t.name, Code: datacite.CodeSyntax, Reason: err.Error(), Err: err})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	t.r = sheet.NewReader(t.name, content)
	names, err := t.r.Names()
	if errors.Is(err, io.EOF) {
		return datacite.Invalid(datacite.Finding{File: t.name, Code: datacite.CodeMissing,
			Reason: "is empty; the first row has to name the columns"})
	}
	if err != nil {
		return err
	}
	return t.readColumns(names)
}

// inflated returns the content of a file that may be compressed. Where it can seek, an .xlsx is read from it.
func inflated(src io.Reader) (io.Reader, error) {
	start := int64(0)
	seeker, canSeek := src.(io.Seeker)
	if canSeek {
		now, err := seeker.Seek(0, io.SeekCurrent)
		start, canSeek = now, err == nil // a pipe is a file that cannot seek
	}
	buffered := bufio.NewReaderSize(src, 64<<10)
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" { // reading tells the error
		return gzip.NewReader(buffered)
	}
	if canSeek {
		_, err := seeker.Seek(start, io.SeekStart)
		return src, err
	}
	return buffered, nil
}

// readColumns understands the first row.
func (t *counts) readColumns(names []string) error {
	invalid := func(code datacite.Code, format string, args ...any) error {
		return datacite.Invalid(datacite.Finding{File: t.name, Line: 1, Code: code, Reason: fmt.Sprintf(format, args...)})
	}
	known := columnNames()
	for i, name := range names {
		at := slices.Index(known, name)
		switch {
		case at < 0:
			return invalid("column", "column %d is named %q; the columns are %s%s", i+1, name, strings.Join(known, ", "),
				shell.DidYouMean(name, known))
		case slices.Contains(names[:i], name):
			return invalid("column", "two columns are named %s", name)
		}
		t.columns = append(t.columns, columns[at])
	}
	needed := []string{"doi", "metric", "access", "count"}
	if t.platform == "" {
		needed = append(needed, "platform")
	}
	if t.publisher == "" {
		needed = append(needed, "publisher")
	}
	if needed = slices.DeleteFunc(needed, func(name string) bool {
		return slices.Contains(names, name)
	}); len(needed) > 0 {
		return invalid(datacite.CodeMissing, "there is no column %s", strings.Join(needed, ", "))
	}
	return nil
}

// row reads the cells of a row. A cell may contain line breaks, so each one has its own line. Err is about the
// first cell that cannot be read.
func (t *counts) row(cells []string) (r reports.Row) {
	r = reports.Row{File: t.name, Line: t.r.Line(0), Date: t.day, Platform: t.platform, Publisher: t.publisher}
	if len(cells) != len(t.columns) {
		r.Err = datacite.Invalid(datacite.Finding{File: r.File, Line: r.Line, Code: "cells",
			Reason: fmt.Sprintf("there are %d cells for %d columns", len(cells), len(t.columns))})
	}
	for i, c := range t.columns[:min(len(cells), len(t.columns))] {
		if err := c.set(&r, strings.TrimSpace(cells[i])); err != nil && r.Err == nil {
			r.Err = datacite.Invalid(datacite.Finding{File: r.File, Line: t.r.Line(i), Column: i + 1, Path: c.name,
				Code: datacite.CodeSyntax, Reason: err.Error()})
		}
	}
	return r
}

// A Writer writes a table of counts with all columns, from which the same rows are read again.
type Writer struct {
	rows sheet.RowWriter
	err  error // the first one
}

// NewWriter returns a writer of CSV, or of an .xlsx in which all cells are texts.
func NewWriter(out io.Writer, spreadsheet bool) *Writer {
	w := &Writer{}
	if w.rows, w.err = sheet.Create(out, spreadsheet, sheet.Layout{}); w.err == nil {
		w.err = w.rows.Write(columnNames())
	}
	return w
}

// Write writes a row, without its date, file and line. The error is that of the first row that
// could not be written.
func (w *Writer) Write(r reports.Row) error {
	var cells []string
	for _, c := range columns {
		if c.of == nil {
			cells = append(cells, strconv.FormatInt(r.Count, 10))
		} else {
			cells = append(cells, *c.of(&r))
		}
	}
	if w.err == nil {
		w.err = w.rows.Write(cells)
	}
	return w.err
}

// Close writes buffered data, and ends an .xlsx. It does not close what the table is written to.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.rows.Close()
	}
	return w.err
}

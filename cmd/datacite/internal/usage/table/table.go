// Package table reads and writes tables of counts, from which [reports.Group] makes the datasets of a usage
// report:
//
//	rows := table.Read("counts.csv", file, "2026-10-01", &table.Options{Platform: "My Portal", Publisher: "My University"})
//	receipt, err := client.Submit(ctx, header, reports.Group(rows, nil), nil)
//
// A table is CSV in UTF-8, separated by commas, semicolons or tabs, or the first sheet of an .xlsx that is
// not hidden; either may be compressed with gzip. Its first row names the columns, in any order:
//
//	doi        in any form that people paste
//	metric     total-dataset-requests, unique-dataset-requests, total-dataset-investigations
//	           or unique-dataset-investigations
//	access     regular or machine
//	count      a whole number
//	country    two letters; empty if it is not known
//	title, year, uri, publisher, platform
//	           of the dataset; not every row needs them
//
// Each further row counts one metric of one DOI, for one kind of access and one country. doi, metric,
// access and count are required, and publisher and platform unless [Options] have them. A [Writer] writes
// such tables.
package table

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
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/spelling"
	"github.com/datacite-go/datacite-go/reports"
)

// Options are the optional settings of [Read].
type Options struct {
	Platform, Publisher string // where a row has none
}

// Read yields the rows of a table whose counts are of one month; day is any day of it. The name is for messages.
//
// A cell that cannot be read is a fault of its row, in Row.Err. An error ends the rows, such as that of a
// column that is missing or unknown, or of a damaged file; these match datacite.ErrInvalid.
//
// Where src can seek and read at an offset, as files can, an .xlsx is read from it. Otherwise up to 64 MiB of it are held
// in memory, as they are of one that is compressed.
func Read(name string, src io.Reader, day reports.Date, opts *Options) iter.Seq2[reports.Row, error] {
	if opts == nil {
		opts = &Options{}
	}
	t := &table{Options: *opts, name: name, day: day}
	return func(yield func(reports.Row, error) bool) {
		err := t.begin(src)
		for err == nil {
			var cells []string
			cells, err = t.r.Read()
			if err != nil && !errors.Is(err, csv.ErrFieldCount) {
				break
			}
			if !yield(t.row(cells), nil) {
				return
			}
			err = nil
		}
		if !errors.Is(err, io.EOF) {
			yield(reports.Row{}, err)
		}
	}
}

type table struct {
	Options
	name    string
	day     reports.Date
	r       *sheet.Reader
	columns []column
}

// A column is the name of one.
type column string

const (
	columnDOI       column = "doi"
	columnTitle     column = "title"
	columnYear      column = "year"
	columnURI       column = "uri"
	columnPublisher column = "publisher"
	columnPlatform  column = "platform"
	columnMetric    column = "metric"
	columnAccess    column = "access"
	columnCountry   column = "country"
	columnCount     column = "count"
)

var (
	knownColumns = []column{
		columnDOI, columnTitle, columnYear, columnURI, columnPublisher, columnPlatform,
		columnMetric, columnAccess, columnCountry, columnCount,
	}
	neededColumns = []column{columnDOI, columnMetric, columnAccess, columnCount}
)

// begin reads the first row.
func (t *table) begin(src io.Reader) error {
	content, err := inflated(src)
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
		return datacite.Invalid(datacite.Finding{File: t.name, Code: "syntax", Reason: err.Error(), Err: err})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	t.r = sheet.NewReader(t.name, content)
	names, err := t.r.Names()
	if errors.Is(err, io.EOF) {
		return datacite.Invalid(datacite.Finding{File: t.name, Code: "missing", Reason: "is empty; the first row has to name the columns"})
	}
	if err != nil {
		return err
	}
	return t.readColumns(names)
}

// inflated returns the content of a file that may be compressed.
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
func (t *table) readColumns(names []string) error {
	fault := func(code datacite.Code, format string, args ...any) error {
		return datacite.Invalid(datacite.Finding{File: t.name, Line: 1, Code: code, Reason: fmt.Sprintf(format, args...)})
	}
	t.columns = make([]column, len(names))
	for i, name := range names {
		c := column(name)
		switch {
		case !slices.Contains(knownColumns, c):
			meant := spelling.Nearest(name, strings.Split(list(knownColumns), ", "))
			if meant != "" {
				meant = fmt.Sprintf(" (did you mean %q?)", meant)
			}
			return fault("column", "column %d is named %q%s; the columns are %s", i+1, name, meant, list(knownColumns))
		case slices.Contains(t.columns[:i], c):
			return fault("column", "two columns are named %s", c)
		}
		t.columns[i] = c
	}
	needed := slices.Clone(neededColumns)
	if t.Platform == "" {
		needed = append(needed, columnPlatform)
	}
	if t.Publisher == "" {
		needed = append(needed, columnPublisher)
	}
	needed = slices.DeleteFunc(needed, func(c column) bool { return slices.Contains(t.columns, c) })
	if len(needed) > 0 {
		return fault("missing", "there is no column %s", list(needed))
	}
	return nil
}

func list(columns []column) string {
	var names []string
	for _, c := range columns {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// row reads the cells of a row. A cell may contain line breaks, so each one has its
// own line. Err is about the first cell that cannot be read.
func (t *table) row(cells []string) (r reports.Row) {
	r = reports.Row{File: t.name, Line: t.r.Line(0), Date: t.day, Platform: t.Platform, Publisher: t.Publisher}
	if len(cells) != len(t.columns) {
		r.Err = datacite.Invalid(datacite.Finding{File: r.File, Line: r.Line, Code: "cells", Reason: fmt.Sprintf("there are %d cells for %d columns", len(cells), len(t.columns))})
	}
	for i, c := range t.columns[:min(len(cells), len(t.columns))] {
		if err := set(&r, c, strings.TrimSpace(cells[i])); err != nil && r.Err == nil {
			r.Err = datacite.Invalid(datacite.Finding{File: r.File, Line: t.r.Line(i), Column: i + 1, Path: string(c), Code: "syntax", Reason: err.Error()})
		}
	}
	return r
}

// set takes one cell. What only a table can get wrong is checked here.
func set(r *reports.Row, c column, text string) (err error) {
	switch c {
	case columnDOI:
		r.DOI = text
	case columnTitle:
		r.Title = text
	case columnYear:
		r.YOP = text
		return checkYear(text)
	case columnURI:
		r.URI = text
		return checkURI(text)
	case columnPublisher:
		r.Publisher = cmp.Or(text, r.Publisher)
		return notEmpty(r.Publisher)
	case columnPlatform:
		r.Platform = cmp.Or(text, r.Platform)
		return notEmpty(r.Platform)
	case columnMetric:
		r.Metric = reports.MetricType(text)
	case columnAccess:
		r.Access = reports.AccessMethod(text)
	case columnCountry:
		r.Country = text
	case columnCount:
		if r.Count, err = strconv.ParseInt(text, 10, 64); err != nil {
			return fmt.Errorf("is %q, not a whole number", text)
		}
	}
	return nil
}

func checkYear(text string) error {
	if n, err := strconv.Atoi(text); text != "" && (err != nil || len(text) != 4 || n < 1000) {
		return fmt.Errorf("is %q, not a year of four digits", text)
	}
	return nil
}

func checkURI(text string) error {
	if text == "" {
		return nil
	}
	if u, err := url.Parse(text); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
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

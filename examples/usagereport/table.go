package main

import (
	"cmp"
	"context"
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
	"github.com/datacite-go/datacite-go/internal/sheet"
	"github.com/datacite-go/datacite-go/internal/spelling"
	"github.com/datacite-go/datacite-go/reports"
)

// tableSettings are the options for tables.
type tableSettings struct {
	platform, publisher string // where a row does not say
	period              reports.Period
}

// A table is a CSV file of counts. Package reports makes datasets of its rows.
type table struct {
	tableSettings
	name     string
	open     func() (io.Reader, error)
	progress func(rows int64)
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

// readColumns understands the first row of a table.
func readColumns(names []string, s tableSettings) ([]column, error) {
	columns := make([]column, len(names))
	for i, name := range names {
		c := column(name)
		switch {
		case !slices.Contains(knownColumns, c):
			meant := spelling.Nearest(name, strings.Split(list(knownColumns), ", "))
			if meant != "" {
				meant = fmt.Sprintf(" (did you mean %q?)", meant)
			}
			return nil, fmt.Errorf("line 1: column %d is named %q%s; the columns are %s", i+1, name, meant, list(knownColumns))
		case slices.Contains(columns[:i], c):
			return nil, fmt.Errorf("line 1: two columns are named %s", c)
		}
		columns[i] = c
	}
	needed := slices.Clone(neededColumns)
	if s.platform == "" {
		needed = append(needed, columnPlatform)
	}
	if s.publisher == "" {
		needed = append(needed, columnPublisher)
	}
	needed = slices.DeleteFunc(needed, func(c column) bool { return slices.Contains(columns, c) })
	if len(needed) > 0 {
		return nil, fmt.Errorf("line 1: there is no column %s (-platform and -publisher stand in for theirs)", list(needed))
	}
	return columns, nil
}

func list(columns []column) string {
	var names []string
	for _, c := range columns {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// rows yields the rows of the table. A cell that cannot be read is a fault of its
// row.
func (t *table) rows(ctx context.Context) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		r, columns, err := t.reader()
		for n := int64(1); err == nil; n++ {
			var cells []string
			if cells, err = t.next(ctx, r); err != nil {
				break
			}
			t.progress(n)
			if !yield(t.row(columns, cells, r.Line), nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(reports.Row{}, err)
		}
	}
}

// reader returns a reader that stands after the first row, and what that says.
func (t *table) reader() (*sheet.Reader, []column, error) {
	content, err := t.open()
	if err != nil {
		return nil, nil, t.broken(err)
	}
	r := sheet.NewReader(t.name, content)
	names, err := r.Names()
	if errors.Is(err, io.EOF) {
		err = errors.New("is empty; the first row has to name the columns")
	}
	if err != nil {
		return nil, nil, t.broken(err)
	}
	columns, err := readColumns(names, t.tableSettings)
	if err != nil {
		return nil, nil, t.broken(err)
	}
	return r, columns, nil
}

func (t *table) broken(err error) error { return &inputError{fmt.Errorf("%s: %w", t.name, err)} }

// next reads one row, which may have too few cells, or too many.
func (t *table) next(ctx context.Context, r *sheet.Reader) ([]string, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	cells, err := r.Read()
	switch {
	case err == nil, errors.Is(err, csv.ErrFieldCount):
		return cells, nil
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	}
	return nil, &inputError{err}
}

// row reads the cells of a row. A cell may contain line breaks, so each one has its
// own line. Err is about the first cell that cannot be read.
func (t *table) row(columns []column, cells []string, lineOf func(cell int) int) (r reports.Row) {
	r = reports.Row{Line: lineOf(0), Date: t.period.BeginDate, Platform: t.platform, Publisher: t.publisher}
	if len(cells) != len(columns) {
		r.Err = datacite.Invalid(datacite.Finding{Line: r.Line, Code: "cells", Reason: fmt.Sprintf("there are %d cells for %d columns", len(cells), len(columns))})
	}
	for i, c := range columns[:min(len(cells), len(columns))] {
		if err := set(&r, c, strings.TrimSpace(cells[i])); err != nil && r.Err == nil {
			r.Err = datacite.Invalid(datacite.Finding{Line: lineOf(i), Column: i + 1, Path: string(c), Code: "syntax", Reason: err.Error()})
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
		return notEmpty(r.Publisher, "-publisher")
	case columnPlatform:
		r.Platform = cmp.Or(text, r.Platform)
		return notEmpty(r.Platform, "-platform")
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

func notEmpty(text, option string) error {
	if text == "" {
		return errors.New("is empty; " + option + " gives what empty cells stand for")
	}
	return nil
}

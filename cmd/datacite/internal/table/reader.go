package table

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/spelling"
	"github.com/datacite-go/datacite-go/metadata"
)

// Options are the optional settings of a Reader.
type Options struct {
	Others []string // further columns that a table may have; their cells are Row.Others

	// Partial accepts tables without some of the columns or cells that a complete record
	// needs, to compare or correct the properties that they have. Their records may be
	// incomplete.
	Partial bool
}

// ErrUnknownColumn: the header has a column that is not one of [Columns], nor of
// [Options].Others. It is the Err of a [datacite.Finding].
var ErrUnknownColumn = errors.New("table: unknown column")

// A Reader reads the rows of one table, once.
type Reader struct {
	name    string
	rows    *sheet.Reader
	others  []string // known to the caller
	partial bool
	header  []field
	records bool // the table has metadata
	own     []string
}

// A field is a cell of the header.
type field struct {
	column
	other int  // index of others, -1 if it is a column of this package
	blank bool // without a name
}

// NewReader reads the header of a table, CSV or .xlsx, and returns a reader of its rows. The
// name is that of the file, for messages. A header with faults is a
// [*datacite.ValidationError], which matches [ErrUnknownColumn] if it has unknown columns; so is
// a file that is damaged. Any other error is that of src.
//
// An .xlsx is read as a whole before its first row is returned, so a damaged file gives an error
// and no rows. Then it is read again for its rows: src must stay open, and should be a file; a
// src without Seek and ReadAt may have at most 64 MiB.
func NewReader(name string, src io.Reader, opts *Options) (*Reader, error) {
	r := &Reader{name: name, rows: sheet.NewReader(name, src)}
	return r, r.readHeader(opts)
}

// next returns the cells of the next row. A wrong number of them is reported with the row.
func (r *Reader) next() ([]string, error) {
	cells, err := r.rows.Read()
	if errors.Is(err, csv.ErrFieldCount) {
		return cells, nil
	}
	return cells, err
}

func (r *Reader) readHeader(opts *Options) error {
	if opts != nil {
		r.partial = opts.Partial
		for _, name := range opts.Others {
			r.others = append(r.others, plain(name))
		}
	}
	var names []string
	var err error
	for err == nil && empty(names) {
		names, err = r.next()
	}
	switch {
	case errors.Is(err, io.EOF):
		return datacite.Invalid(datacite.Finding{File: r.name, Code: datacite.CodeMissing,
			Reason: "the table is empty; the first row names the columns"})
	case err != nil:
		return err
	}
	needed := map[string]bool{}
	var unknown []int
	for i, name := range names {
		f, known := r.field(name)
		if !known && r.Has(lastResult) && r.nearest(name) == "" {
			f, known = field{column: column{Column: Column{Name: plain(name)}}, other: len(r.others)}, true
			r.own, r.others = append(r.own, strings.TrimSpace(name)), append(r.others, f.Name)
		}
		if !known {
			unknown = append(unknown, i)
			continue
		}
		if slices.ContainsFunc(r.header, func(other field) bool { return !f.blank && other.Name == f.Name }) {
			return datacite.Invalid(r.inHeader(i, fmt.Sprintf("the column is named %q; another column is %q, too",
				strings.TrimSpace(name), f.Name)))
		}
		r.header = append(r.header, f)
		r.records = r.records || f.member != ""
		needed[f.Name] = f.needed
	}
	if len(unknown) > 0 {
		return r.unknown(names, unknown)
	}
	var missing []string
	for _, c := range columns {
		if c.needed && r.records && !needed[c.Name] {
			missing = append(missing, c.Name)
		}
	}
	if len(missing) > 0 && !r.partial {
		return datacite.Invalid(datacite.Finding{File: r.name, Code: datacite.CodeMissing,
			Reason: "the table also needs the columns " + strings.Join(missing, ", ") + ", or no metadata columns at all"})
	}
	return nil
}

// field finds the column of a name in the header.
func (r *Reader) field(name string) (field, bool) {
	if strings.TrimSpace(name) == "" {
		return field{blank: true, other: -1}, true
	}
	name = plain(name)
	if at := slices.Index(r.others, name); at >= 0 {
		return field{column: column{Column: Column{Name: name}}, other: at}, true
	}
	c, ok := columnOf(name)
	return field{column: c, other: -1}, ok
}

// meant are columns by the names that other programs and people have for them.
var meant = map[string]string{
	"source url": "url", "landing page": "url", "author": "creators", "authors": "creators", "abstract": "description",
	"keyword": "subjects", "keywords": "subjects", "licence": "rights", "license": "rights", "resource type": "type",
	"resourcetype": "type",
}

// unknown is the error for names in the header that are not known. Each has a suggestion, or
// the first one a list of all that are.
func (r *Reader) unknown(names []string, unknown []int) error {
	which := "not one of " + strings.Join(r.known(), ", ")
	var all []datacite.Finding
	for _, i := range unknown {
		name := strings.TrimSpace(names[i])
		reason := fmt.Sprintf("the column is named %q", name)
		if near := cmp.Or(meant[plain(name)], r.nearest(name)); near != "" {
			reason += fmt.Sprintf("; did you mean %q?", near)
		} else {
			reason, which = reason+", which is "+which, "not one of these columns either"
		}
		f := r.inHeader(i, reason)
		f.Err = ErrUnknownColumn
		all = append(all, f)
	}
	return datacite.Invalid(all...)
}

// known are the names that a header may have.
func (r *Reader) known() (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return append(names, r.others...)
}

func (r *Reader) nearest(name string) string { return spelling.Nearest(plain(name), r.known()) }

// inHeader is what is wrong with a cell of the header.
func (r *Reader) inHeader(i int, reason string) datacite.Finding {
	return r.at(i, datacite.Finding{Code: "column", Reason: reason})
}

// at gives a finding the place of a cell of the row read last, or of the row for -1.
func (r *Reader) at(cell int, f datacite.Finding) datacite.Finding {
	f.File, f.Line, f.Column = r.name, r.rows.Line(max(cell, 0)), cell+1
	return f
}

// Has reports whether the table has a column.
func (r *Reader) Has(name string) bool {
	return slices.ContainsFunc(r.header, func(f field) bool { return f.Name == name })
}

// Columns returns the columns of this package for a table of its results: the common ones, and the
// further ones that it has.
func (r *Reader) Columns() (names []string) {
	for i, c := range columns {
		if i < common || r.Has(c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Own returns the columns that a result table has behind its own last one, and that are not known:
// register writes those there that it passed over. Their cells are in Row.Others, behind those of the
// Options.
func (r *Reader) Own() []string { return slices.Clone(r.own) }

// HasRecords reports whether the table has metadata.
func (r *Reader) HasRecords() bool { return r.records }

// Layout returns what a table of CSV that goes with this one should be like. It is zero for .xlsx.
func (r *Reader) Layout() sheet.Layout { return r.rows.Layout() }

// Sheets returns the names of the sheets of an .xlsx, and nil for CSV. Only the first of
// them is read; it is the first one in the file that is not hidden.
func (r *Reader) Sheets() []string { return slices.Clone(r.rows.Sheets()) }

// All returns the rows. Faults of a row are its findings. An error ends the rows: the
// table cannot be read further.
func (r *Reader) All() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		for {
			cells, err := r.next()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(nil, err)
				return
			case empty(cells):
			case !yield(r.row(cells), nil):
				return
			}
		}
	}
}

func empty(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

// row reads the cells of a row. Each has its own line, as cells may hold line breaks.
func (r *Reader) row(cells []string) *Row {
	row := &Row{File: r.name, Line: r.rows.Line(0), Others: make([]string, len(r.others))}
	if r.records {
		row.Record = &metadata.Record{}
	}
	for i, text := range cells {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		if i >= len(r.header) {
			row.add(r.at(-1, datacite.Finding{Code: "cells", Value: text,
				Reason: fmt.Sprintf("there are %d cells for %d columns", len(cells), len(r.header))}))
			break
		}
		f := r.header[i]
		if end := strings.Count(cells[i], "\n"); r.Sheets() == nil && strings.Contains(text, "\n") &&
			f.Name != "description" {
			from := r.rows.Line(i)
			row.add(r.at(i, datacite.Finding{Path: f.Name, Code: datacite.CodeSyntax, Value: text, Warning: f.other >= 0,
				Reason: fmt.Sprintf("the cell has line breaks, from line %d to line %d: a quotation mark too many or too few "+
					"makes one cell of several rows; write the cell in one line", from, from+end)}))
			if f.other < 0 {
				row.spoil(f.Name, text)
				continue
			}
		}
		switch {
		case f.blank:
			row.add(r.at(i, datacite.Finding{Code: "column", Value: text, Reason: "the column has no name"}))
		case f.other >= 0:
			row.Others[f.other] = text
		default:
			if number := r.rows.Number(i); number != "" && f.member == yearMember {
				text = r.year(row, i, text, number)
			}
			if err := f.read(text, row); err != nil {
				row.spoil(f.Name, text)
				row.add(r.at(i, datacite.Finding{Path: f.Name, Code: datacite.CodeSyntax, Value: text, Reason: err.Error()}))
			} else if doubt := doubtful(f.Name, row.Record); doubt != "" {
				row.add(r.at(i, datacite.Finding{Path: f.Name, Code: datacite.CodeValue, Value: text, Warning: true,
					Reason: doubt}))
			}
		}
	}
	if len(cells) < len(r.header) {
		row.add(r.at(-1, datacite.Finding{Code: "cells",
			Reason: fmt.Sprintf("there are %d cells for %d columns", len(cells), len(r.header))}))
	}
	if row.Record != nil {
		row.Record.DOI = row.DOI
		r.check(row, cells)
	}
	return row
}

// year is the year in a cell that a spreadsheet shows as a date: the number behind it, or that
// of the date. A number that could be either is taken for the year, with a warning.
func (r *Reader) year(row *Row, cell int, date, number string) string {
	if readYear(number, &Row{Record: &metadata.Record{}}) != nil {
		return date[:min(len(date), len("2026"))]
	}
	row.add(r.at(cell, datacite.Finding{Path: r.header[cell].Name, Code: datacite.CodeDate, Value: date, Warning: true,
		Reason: fmt.Sprintf("the cell is shown as the date %s, and its number is %s, which is taken for the year; show the "+
			"cell as a number", date, number)}))
	return number
}

// spoil keeps a cell with a fault.
func (r *Row) spoil(column, text string) {
	if r.faulty == nil {
		r.faulty = map[string]string{}
	}
	r.faulty[column] = text
}

func (r *Row) add(f datacite.Finding) { r.Findings = append(r.Findings, f) }

// check adds the findings of the record, with their places.
func (r *Reader) check(row *Row, cells []string) {
	unread := maps.Clone(row.faulty)
	for _, f := range row.Record.Findings() {
		name := ofMember(f.Path)
		if f.Code == datacite.CodeJSON || unread[name] != "" {
			continue // the record is sent as XML; the cell has its fault already
		}
		at := slices.IndexFunc(r.header, func(h field) bool { return h.Name == name })
		said := at >= 0 && at < len(cells) && strings.TrimSpace(cells[at]) != ""
		if r.partial && f.Code == datacite.CodeMissing && !said {
			continue
		}
		f.Path = name
		mistyped := f.Code == datacite.CodeScheme && slices.Contains([]string{"creators", "publisher", "rights",
			"contributors"}, name)
		if f.Warning = f.Warning && !mistyped && f.Code != datacite.CodeDate; !f.Warning && said {
			row.spoil(name, strings.TrimSpace(cells[at]))
		}
		if at >= len(cells) {
			at = -1
		}
		row.add(r.at(at, f))
	}
}

// Package sheet reads and writes tables row by row, in bounded memory: CSV of any usual make
// and the sheets of .xlsx files. CSV is UTF-8 with or without a byte order mark, cells are
// separated by commas, semicolons or tabs, also after a line such as sep=; for spreadsheet
// programs, and lines may end as on Windows.
//
// An .xlsx file is read as a whole or not at all: before its first row is returned, all of it
// was read once, so that a damaged file is an error and not a shorter table.
package sheet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/datacite-go/datacite-go"
)

// MaxSize is how many bytes a row may have.
const MaxSize = 256 << 10

// ErrTooLong says that a row is longer than [MaxSize]. In CSV it comes in a
// [*csv.ParseError].
var ErrTooLong = errors.New("the row is longer than 256 KiB; a quotation mark may be missing")

// ErrEncoding says that a text is not UTF-8. Which other encoding it has is not guessed. It
// comes in a [*csv.ParseError].
var ErrEncoding = errors.New("the text is not UTF-8; save the table again as .xlsx, or as \"CSV UTF-8\"")

// ErrSpreadsheet says that an .xlsx file is damaged, or that it has what cannot be read for
// certain.
var ErrSpreadsheet = errors.New("the spreadsheet cannot be read")

// A Reader reads a table.
type Reader struct {
	name   string
	src    io.Reader
	watch  watch
	rows   rows
	layout Layout
	book   *workbook // nil of CSV
}

// rows are those of a table in one format.
type rows interface {
	read() ([]string, error)
	line(cell int) int
}

// NewReader returns a reader of the table in src, which is a file with a name. The first line of CSV decides what
// separates cells: commas, semicolons or tabs. Of an .xlsx file the first sheet that is not
// hidden is read. It is read from src where src can seek and read at an offset, as files
// can; otherwise up to 64 MiB of it are held in memory.
func NewReader(name string, src io.Reader) *Reader {
	return &Reader{name: name, src: src, layout: Layout{Comma: ','}}
}

// peeked is how many bytes of a CSV table decide what separates its cells.
const peeked = 64 << 10

// begin looks at the start of the table.
func (r *Reader) begin() error {
	buffer := bufio.NewReaderSize(&watched{r.src, &r.watch}, peeked)
	start, _ := buffer.Peek(4) // reading tells the error
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		at, size, err := seekable(r.src, buffer)
		if err != nil {
			return r.watch.note(err)
		}
		book, err := openBook(&watchedAt{at, &r.watch}, size)
		if err != nil {
			return err
		}
		r.book, r.rows, r.layout = book, book, Layout{}
	case bytes.HasPrefix(start, []byte("\xd0\xcf\x11\xe0")):
		return broken("it is an old .xls file, or protected by a password; save it as .xlsx without a password, or as " +
			"\"CSV UTF-8\"")
	default:
		rows, err := newCSV(buffer)
		if err != nil {
			return err
		}
		r.rows, r.layout = rows, Layout{rows.csv.Comma, rows.crlf}
	}
	return nil
}

// Layout is that of CSV, and zero of .xlsx. It is known when the first row was read.
func (r *Reader) Layout() Layout { return r.layout }

// Sheets returns the names of the sheets of an .xlsx file, that which is read first, and
// nothing of CSV. They are known when the first row was read.
func (r *Reader) Sheets() []string {
	if r.book == nil {
		return nil
	}
	return r.book.sheets
}

// Names reads the first row: the names of the columns, in lower case.
func (r *Reader) Names() ([]string, error) {
	names, err := r.Read()
	for i, name := range names {
		names[i] = strings.ToLower(strings.TrimSpace(name))
	}
	return names, err
}

// Read reads the next row; empty lines are left out. The error is [io.EOF] after the last
// one, and matches [csv.ErrFieldCount] with a row that has not as many cells as the first;
// cells missing at the end of a row of .xlsx are empty. A table that is damaged is a
// [*datacite.ValidationError] with its place; any other error is that of the source.
//
// A cell of .xlsx gives its value and not its looks: a number without its format, a date as
// 2026-01-31 or 2026-01-31T12:30:00, a formula as its last result.
func (r *Reader) Read() ([]string, error) {
	if r.rows == nil {
		if err := r.begin(); err != nil {
			return nil, r.invalid(err)
		}
	}
	cells, err := r.rows.read()
	return cells, r.invalid(err)
}

// invalid is the error to return for one of the table.
func (r *Reader) invalid(err error) error {
	switch {
	case err == nil, err == io.EOF, errors.Is(err, csv.ErrFieldCount):
		return err
	case r.watch.failed:
		return fmt.Errorf("%s: %w", r.name, err)
	}
	f := datacite.Finding{File: r.name, Code: datacite.CodeSyntax, Reason: err.Error(), Err: err}
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		if f.Line, f.Column, f.Reason = at.Line, at.Column, at.Err.Error(); at.StartLine != at.Line {
			f.Reason += fmt.Sprintf("; the row begins on line %d", at.StartLine)
		}
	}
	switch {
	case errors.Is(err, ErrTooLong):
		f.Code = datacite.CodeLimit
	case errors.Is(err, ErrEncoding):
		f.Code = datacite.CodeEncoding
	}
	return datacite.Invalid(f)
}

// Line is where a cell of the row that was read last begins, from 1. Cells of CSV may hold
// line breaks.
func (r *Reader) Line(cell int) int { return r.rows.line(cell) }

// Number returns the number behind a date in a cell of the row that was read last, and ""
// for any other cell: the same number is 1905-07-18 as a date and 2026 as a year.
func (r *Reader) Number(cell int) string {
	if r.book == nil {
		return ""
	}
	return r.book.numbers[cell]
}

// A watch knows whether a source failed: then its content is not to blame.
type watch struct{ failed bool }

// note returns err, and remembers if that is a failure.
func (w *watch) note(err error) error {
	w.failed = w.failed || err != nil && err != io.EOF
	return err
}

type watched struct {
	io.Reader
	watch *watch
}

func (r *watched) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	return n, r.watch.note(err)
}

type watchedAt struct {
	io.ReaderAt
	watch *watch
}

func (r *watchedAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	return n, r.watch.note(err)
}

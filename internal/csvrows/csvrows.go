// Package csvrows reads CSV tables row by row, in bounded memory. A program that is copied
// takes this file along.
package csvrows

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// MaxSize is how many bytes a row may have.
const MaxSize = 256 << 10

// ErrTooLong says that a row is longer than [MaxSize]. It comes in a [*csv.ParseError].
var ErrTooLong = errors.New("the row is longer than 256 KiB; a quotation mark may be missing")

// A Reader reads a table. Its errors name the line.
type Reader struct {
	csv   *csv.Reader
	lines lines
}

// NewReader returns a reader of the table in src.
func NewReader(src io.Reader) *Reader {
	r := &Reader{lines: lines{src: bufio.NewReaderSize(src, 64<<10), number: 1}}
	r.csv = csv.NewReader(&r.lines)
	return r
}

// Names reads the first row: the names of the columns, in lower case.
func (r *Reader) Names() ([]string, error) {
	names, err := r.Read()
	for i, name := range names {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff") // spreadsheets begin a file with it
		}
		names[i] = strings.ToLower(strings.TrimSpace(name))
	}
	return names, err
}

// Read reads the next row. The error is [io.EOF] after the last one, and matches
// [csv.ErrFieldCount] with a row that has not as many cells as the first.
func (r *Reader) Read() ([]string, error) {
	r.lines.size = 0
	cells, err := r.csv.Read()
	if errors.Is(err, ErrTooLong) {
		err = &csv.ParseError{StartLine: r.lines.first, Line: r.lines.number, Column: 1, Err: ErrTooLong}
	}
	return cells, err
}

// Line is where a cell of the row that was read last begins, from 1. Cells may hold
// line breaks.
func (r *Reader) Line(cell int) int {
	line, _ := r.csv.FieldPos(cell)
	return line
}

// lines gives at most one line at a time, so that csv.Reader never holds more than its
// row.
type lines struct {
	src    *bufio.Reader
	rest   []byte // of the line, not yet given
	number int    // of the line
	first  int    // line of the row
	size   int    // bytes of the row so far
}

func (l *lines) Read(p []byte) (int, error) {
	if l.size > MaxSize {
		return 0, ErrTooLong
	}
	if len(l.rest) == 0 {
		var err error
		if l.rest, err = l.src.ReadSlice('\n'); len(l.rest) == 0 {
			return 0, err
		}
	}
	if l.size == 0 {
		l.first = l.number
	}
	n := copy(p, l.rest)
	if empty := l.rest[0] == '\n' || string(l.rest) == "\r\n"; l.size > 0 || !empty { // no row begins with an empty line
		l.size += n
	}
	if p[n-1] == '\n' {
		l.number++
	}
	l.rest = l.rest[n:]
	return n, nil
}

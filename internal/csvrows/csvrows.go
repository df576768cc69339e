// Package csvrows reads CSV tables of any usual make row by row, in bounded memory: UTF-8
// with or without a byte order mark, cells separated by commas, semicolons or tabs, lines
// that end as on Windows. A program that is copied takes this file along.
package csvrows

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// MaxSize is how many bytes a row may have.
const MaxSize = 256 << 10

// ErrTooLong says that a row is longer than [MaxSize]. It comes in a [*csv.ParseError].
var ErrTooLong = errors.New("the row is longer than 256 KiB; a quotation mark may be missing")

// ErrEncoding says that a text is not UTF-8. Which other encoding it has is not guessed. It
// comes in a [*csv.ParseError].
var ErrEncoding = errors.New("the text is not UTF-8; save the table again as \"CSV UTF-8\"")

// ErrSpreadsheet says that the table is the file of a spreadsheet program.
var ErrSpreadsheet = errors.New("this is a spreadsheet, not CSV; save it as \"CSV UTF-8\"")

// A Reader reads a table. Its errors name the line.
type Reader struct {
	csv   *csv.Reader
	lines lines
	begun bool
}

// NewReader returns a reader of the table in src. Its first line decides what separates
// cells: commas, semicolons or tabs.
func NewReader(src io.Reader) *Reader {
	r := &Reader{lines: lines{src: bufio.NewReaderSize(src, 64<<10), number: 1}}
	r.csv = csv.NewReader(&r.lines)
	return r
}

// begin looks at the start of the table.
func (r *Reader) begin() error {
	r.begun = true
	mark := []byte("\ufeff") // spreadsheets begin a file with it
	if start, _ := r.lines.src.Peek(len(mark)); bytes.Equal(start, mark) {
		_, _ = r.lines.src.Discard(len(mark)) // it is there
	}
	start, _ := r.lines.src.Peek(64 << 10) // reading tells the error
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return ErrSpreadsheet
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return &csv.ParseError{StartLine: 1, Line: 1, Column: 1, Err: ErrEncoding} // UTF-16
	}
	r.csv.Comma = separator(start)
	return nil
}

// separator is the most frequent of those in the first line that says something.
func separator(text []byte) rune {
	counts, quoted := map[byte]int{}, false
	for _, c := range bytes.TrimLeft(text, "\r\n") {
		if c == '\n' && !quoted {
			break
		}
		switch {
		case c == '"':
			quoted = !quoted
		case !quoted:
			counts[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte{';', '\t'} {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return rune(best)
}

// Separator is what separates cells. It is known when the first row was read.
func (r *Reader) Separator() rune { return r.csv.Comma }

// Names reads the first row: the names of the columns, in lower case.
func (r *Reader) Names() ([]string, error) {
	names, err := r.Read()
	for i, name := range names {
		names[i] = strings.ToLower(strings.TrimSpace(name))
	}
	return names, err
}

// Read reads the next row. The error is [io.EOF] after the last one, and matches
// [csv.ErrFieldCount] with a row that has not as many cells as the first.
func (r *Reader) Read() ([]string, error) {
	if !r.begun {
		if err := r.begin(); err != nil {
			return nil, err
		}
	}
	r.lines.size = 0
	cells, err := r.csv.Read()
	if errors.Is(err, ErrTooLong) {
		err = &csv.ParseError{StartLine: r.lines.first, Line: r.lines.number, Column: 1, Err: ErrTooLong}
	}
	for i, cell := range cells {
		if !utf8.ValidString(cell) || strings.Contains(cell, "\x00") {
			return nil, r.badText(i, cell)
		}
	}
	return cells, err
}

// badText is the error of a cell that is not UTF-8, with the place of its first such byte.
func (r *Reader) badText(i int, cell string) error {
	good := strings.ToValidUTF8(cell, "\x00")
	good, _, _ = strings.Cut(good, "\x00")
	start, column := r.csv.FieldPos(i)
	line := start + strings.Count(good, "\n")
	if at := strings.LastIndexByte(good, '\n'); at >= 0 {
		column, good = 1, good[at+1:]
	}
	return &csv.ParseError{StartLine: start, Line: line, Column: column + len(good), Err: ErrEncoding}
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

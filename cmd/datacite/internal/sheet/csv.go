package sheet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
)

// csvRows are the rows of a CSV table.
type csvRows struct {
	csv   *csv.Reader
	lines lines
	crlf  bool
}

// newCSV looks at the start of the table.
func newCSV(src *bufio.Reader) (*csvRows, error) {
	mark := []byte("\ufeff") // spreadsheet programs begin a file with it
	if start, _ := src.Peek(len(mark)); bytes.Equal(start, mark) {
		_, _ = src.Discard(len(mark)) // it is there
	}
	start, _ := src.Peek(peeked) // reading tells the error
	if bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff")) {
		return nil, &csv.ParseError{StartLine: 1, Line: 1, Column: 1, Err: ErrEncoding} // UTF-16
	}
	r := &csvRows{lines: lines{src: src, number: 1}}
	r.csv = csv.NewReader(&r.lines)
	r.csv.Comma, r.crlf = layout(start)
	if said := separatorLine().FindSubmatch(start); said != nil {
		r.csv.Comma = rune(said[1][0])
		_, _ = src.Discard(len(said[0])) // it is there
		r.lines.rest = []byte("\n")      // empty lines count, and are left out
	}
	return r, nil
}

// separatorLine is what tells spreadsheet programs the separator.
var separatorLine = lazy.Regexp(`^"?sep=([,;\t])"?\r?\n`)

// layout is the most frequent separator in the first line that says something, and how that line ends.
func layout(text []byte) (comma rune, crlf bool) {
	counts, quoted := map[byte]int{}, false
	text = bytes.TrimLeft(text, "\r\n")
	for i, c := range text {
		if c == '\n' && !quoted {
			crlf = bytes.HasSuffix(text[:i], []byte("\r"))
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
	return rune(best), crlf
}

func (r *csvRows) read() ([]string, error) {
	r.lines.size = 0
	cells, err := r.csv.Read()
	if errors.Is(err, ErrTooLong) {
		err = &csv.ParseError{StartLine: r.lines.first, Line: r.lines.number, Column: 1, Err: ErrTooLong}
	}
	for i, cell := range cells {
		if !utf8.ValidString(cell) || strings.Contains(cell, "\x00") {
			return nil, r.badText(i, cell)
		}
		cells[i] = asItWas(cell)
	}
	return cells, err
}

// badText is the error of a cell that is not UTF-8, with the place of its first such byte.
func (r *csvRows) badText(i int, cell string) error {
	good := strings.ToValidUTF8(cell, "\x00")
	good, _, _ = strings.Cut(good, "\x00")
	start, column := r.csv.FieldPos(i)
	line := start + strings.Count(good, "\n")
	if at := strings.LastIndexByte(good, '\n'); at >= 0 {
		column, good = 1, good[at+1:]
	}
	return &csv.ParseError{StartLine: start, Line: line, Column: column + len(good), Err: ErrEncoding}
}

// line is where a cell begins: cells may hold line breaks.
func (r *csvRows) line(cell int) int {
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

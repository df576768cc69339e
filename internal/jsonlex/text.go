package jsonlex

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads a text. The bytes are valid until the next call.
func (l *Lexer) Text() []byte {
	if b := l.buf[l.pos:]; len(b) > 0 && b[0] == '"' {
		n, ascii := plain(b[1:])
		if n++; n < len(b) && b[n] == '"' && (ascii || utf8.Valid(b[1:n])) {
			l.pos += n + 1
			return b[1:n]
		}
	}
	return l.text()
}

// text reads a text of any kind, also one that the window does not hold yet.
func (l *Lexer) text() []byte {
	if l.Kind() != '"' {
		l.unexpected("a text")
		return nil
	}
	n := 1
	escaped, ascii := false, true
	for {
		b := l.buf[l.pos:]
		if n >= len(b) {
			if !l.fill() {
				l.truncated()
				return nil
			}
			continue
		}
		k, plainASCII := plain(b[n:])
		n += k
		ascii = ascii && plainASCII
		if n == len(b) {
			continue
		}
		switch c := b[n]; c {
		case '"':
			l.pos += n + 1
			if !escaped && (ascii || utf8.Valid(b[1:n])) {
				return b[1:n]
			}
			return l.unescape(b[1:n])
		case '\\':
			escaped = true
			n += 2
		default:
			if !l.control(c, n) {
				return nil
			}
			n++
		}
	}
}

// control tells whether a text may have a control character, which is n bytes ahead.
func (l *Lexer) control(c byte, n int) bool {
	if !l.raw {
		l.pos += n
		l.Failf("the control character %#x in a text", c)
	}
	return l.raw
}

// Match reads a text if it is quoted, quotation marks included, and written just
// so. It spares looking for the end of a text that is mostly the same.
func (l *Lexer) Match(quoted string) bool {
	if !l.need(len(quoted)) || string(l.buf[l.pos:l.pos+len(quoted)]) != quoted {
		return false
	}
	l.pos += len(quoted)
	return true
}

// plain counts the bytes before the first one that a text does not hold as it
// is, and tells whether all of them are ASCII. It looks at eight at a time.
func plain(b []byte) (n int, ascii bool) {
	var seen uint64
	rest := b
	for len(rest) >= 8 {
		x := binary.LittleEndian.Uint64(rest)
		seen |= x
		if stop := escapes(x) & Highs; stop != 0 {
			return len(b) - len(rest) + bits.TrailingZeros64(stop)>>3, seen&Highs == 0
		}
		rest = rest[8:]
	}
	for n, c := range rest {
		if c == '"' || c == '\\' || c < ' ' {
			return len(b) - len(rest) + n, seen&Highs == 0
		}
		seen |= uint64(c)
	}
	return len(b), seen&Highs == 0
}

// unescape resolves escapes in b, which ends before the closing quote that was read last.
func (l *Lexer) unescape(b []byte) []byte {
	out, end := l.scratch[:0], l.Offset()-1
	for {
		n, ascii := plain(b)
		if run := b[:n]; ascii || utf8.Valid(run) {
			out = append(out, run...)
		} else {
			l.notUTF8(end - int64(len(b)) + int64(invalid(run)))
			for _, r := range string(run) {
				out = utf8.AppendRune(out, r)
			}
		}
		if b = b[n:]; len(b) == 0 || l.err != nil {
			break
		}
		if b[0] < ' ' {
			out, b = append(out, b[0]), b[1:]
			continue
		}
		r, n := escape(b)
		switch n {
		case 0:
			l.Failf("a bad escape in a text")
		case half:
			n = -half
			l.notUTF8(end - int64(len(b)))
		}
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	if l.err != nil {
		return nil
	}
	l.scratch = out
	return out
}

// half is the length of an escape that is half of a surrogate pair, below 0.
const half = -6

// escape decodes the escape, or the two of a surrogate pair, that b begins with,
// and returns how long it is; 0 if it is not an escape, and half.
func escape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	first := hex4(b)
	switch {
	case first < 0:
		return 0, 0
	case !utf16.IsSurrogate(first):
		return first, 6
	}
	if r := utf16.DecodeRune(first, hex4(b[6:])); r != unicode.ReplacementChar {
		return r, 12
	}
	return unicode.ReplacementChar, half
}

// hex4 decodes \u and four hexadecimal digits; -1 if b does not begin so.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// skipText reads a text of any length and drops it.
func (l *Lexer) skipText() {
	l.pos++
	for {
		if l.pos == len(l.buf) && !l.fill() {
			l.truncated()
			return
		}
		b := l.buf[l.pos:]
		n, ascii := plain(b)
		if !ascii {
			n = l.runes(b, n)
		}
		if l.err != nil {
			return
		}
		if l.pos += n; n == len(b) {
			continue
		}
		switch c := l.buf[l.pos]; {
		case c == '"':
			l.pos++
			return
		case c == '\\':
			if l.nextEscape() == nil {
				return
			}
		case c < ' ':
			if !l.control(c, 0) {
				return
			}
			l.pos++
		case !l.need(len(l.buf) - l.pos + 1): // a character that the window cuts
			l.truncated()
			return
		}
	}
}

// runes checks the first n bytes of b. It returns fewer if b ends within a character.
func (l *Lexer) runes(b []byte, n int) int {
	for last := n - 1; n == len(b) && last >= max(0, n-utf8.UTFMax); last-- {
		if utf8.RuneStart(b[last]) {
			if !utf8.FullRune(b[last:]) {
				n = last
			}
			break
		}
	}
	if run := b[:n]; !utf8.Valid(run) {
		l.notUTF8(l.Offset() + int64(invalid(run)))
	}
	return n
}

// nextEscape reads and decodes the escape that comes next.
func (l *Lexer) nextEscape() []byte {
	const longest = 12 // a surrogate pair
	whole := l.need(longest)
	if l.err != nil {
		return nil
	}
	r, n := escape(l.buf[l.pos:])
	switch {
	case n == 0 && !whole && bytes.IndexByte(l.buf[l.pos:], '"') < 0:
		l.truncated()
	case n == 0:
		l.Failf("a bad escape in a text")
	case n == half:
		n = -half
		l.notUTF8(l.Offset())
	}
	if l.err != nil {
		return nil
	}
	l.pos += n
	l.scratch = utf8.AppendRune(l.scratch[:0], r)
	return l.scratch
}

// OpenText begins a text that Piece or Reader reads.
func (l *Lexer) OpenText() bool {
	l.escaped = false
	return l.expect('"', "a text")
}

// Piece reads the next piece of a text that OpenText began, straight from the
// window, and returns nil at its end. It is for long texts such as base64, whose
// content the caller checks: it lets control characters and invalid UTF-8 pass.
// The bytes are valid until the next call.
func (l *Lexer) Piece() []byte {
	if l.pos == len(l.buf) && !l.fill() {
		l.truncated()
		return nil
	}
	b := l.buf[l.pos:]
	n := l.pieceEnd(b)
	if n > 0 {
		l.pos += n
		return b[:n]
	}
	if b[0] == '\\' {
		l.escaped = true
		return l.nextEscape()
	}
	l.pos++ // the closing quote
	return nil
}

// pieceEnd finds the first quote or backslash. A text without escapes is
// searched with the processor's widest instructions; one with escapes must not
// be searched for its end once for each.
func (l *Lexer) pieceEnd(b []byte) int {
	if l.escaped {
		for i, c := range b {
			if c == '"' || c == '\\' {
				return i
			}
		}
		return len(b)
	}
	if end := bytes.IndexByte(b, '"'); end >= 0 {
		b = b[:end]
	}
	if slash := bytes.IndexByte(b, '\\'); slash >= 0 {
		return slash
	}
	return len(b)
}

// Reader reads a text that OpenText began, up to its closing quote.
func (l *Lexer) Reader() io.Reader { return &textReader{lex: l} }

type textReader struct {
	lex  *Lexer
	rest []byte
	done bool
}

func (t *textReader) Read(p []byte) (int, error) {
	for len(t.rest) == 0 {
		if t.done {
			return 0, io.EOF
		}
		if t.rest = t.lex.Piece(); t.rest == nil {
			if t.lex.err != nil {
				return 0, t.lex.err
			}
			t.done = true
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

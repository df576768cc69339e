// Package jsonlex reads JSON from a stream in constant memory, value by value,
// into whatever the caller makes of it. It checks the syntax as encoding/json
// does, and refuses text that is not UTF-8, which encoding/json replaces.
//
// The caller asks for what it expects next. Errors stick: after the first one
// every method returns its zero value and every loop ends, so that only Err
// needs to be asked, at the end.
package jsonlex

import (
	"errors"
	"fmt"
	"io"
)

const (
	windowSize = 64 << 10
	// MaxValue is the most bytes of input that one text, one number, what lies
	// between Mark and Unmark, or what is held may take.
	MaxValue = 16 << 20
	maxDepth = 10_000
)

// ErrTooLarge: one value is longer than MaxValue, or what was made of the input
// takes more memory than the budget allows.
var ErrTooLarge = errors.New("too large")

// A SyntaxError is input that is not JSON, or not of the kind asked for.
type SyntaxError struct {
	Offset   int64 // bytes before the place
	Reason   string
	Encoding bool // it is JSON but for a text that is not UTF-8
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("at byte %d: %s", e.Offset, e.Reason) }

// A Lexer reads one JSON text.
type Lexer struct {
	src     io.Reader // nil: nothing follows buf
	buf     []byte    // buf[pos:] is read and not yet used
	window  []byte    // the memory that buf starts in, empty
	pos     int
	base    int64 // offset of buf[0] in the input
	mark    int64 // offset of Mark; -1: none
	hold    int64 // offset of Hold; -1: none
	most    int   // in place of MaxValue
	budget  *Budget
	depth   int    // of Skip
	escaped bool   // Piece has met an escape in this text
	scratch []byte // of unescaped texts
	copied  []byte // name of a member, of Members
	odd     Odd
	lenient bool // of Tolerate
	raw     bool // of Controls
	err     error
}

// New makes a Lexer of a stream.
func New(src io.Reader) *Lexer {
	l := &Lexer{window: make([]byte, 0, windowSize)}
	l.Reset(src)
	return l
}

// Reset makes the Lexer read another stream.
func (l *Lexer) Reset(src io.Reader) {
	scratch, odd := l.scratch, Odd{l.odd.Texts[:0], l.odd.Values[:0]}
	if cap(scratch) > windowSize {
		scratch = nil
	}
	*l = Lexer{src: src, buf: l.window, window: l.window, mark: -1, hold: -1, most: MaxValue, scratch: scratch, odd: odd}
}

// OfBytes makes a Lexer of data, which must stay as they are meanwhile.
func OfBytes(data []byte) *Lexer { return &Lexer{buf: data, mark: -1, hold: -1} }

// Controls makes the Lexer read texts with line breaks, tabs and other control characters as they are, which JSON
// wants escaped: nothing else can be meant.
func (l *Lexer) Controls() { l.raw = true }

// Err returns the first error: of the stream, or a [*SyntaxError].
func (l *Lexer) Err() error { return l.err }

// Offset is how many bytes of the input have been used.
func (l *Lexer) Offset() int64 { return l.base + int64(l.pos) }

// Allow sets the most bytes of a value, in place of MaxValue, until the next input.
func (l *Lexer) Allow(most int) { l.most = most }

// Mark holds all that is read until Unmark to MaxValue bytes.
func (l *Lexer) Mark() { l.mark = l.Offset() }

// Unmark ends what Mark began.
func (l *Lexer) Unmark() { l.mark = -1 }

// Hold keeps what is read from here on until Held, at most MaxValue bytes.
func (l *Lexer) Hold() {
	l.Kind()
	l.hold = l.Offset()
}

// Held is what has been read since Hold, as it is written. The bytes are valid
// until the next call.
func (l *Lexer) Held() []byte {
	if l.err != nil {
		return nil
	}
	held := l.buf[l.hold-l.base : l.pos]
	l.hold = -1
	return held
}

// Keep is what has been read since Hold, for good: the part of the window that holds
// it is given away, and the window goes on behind it. What is long is copied, since
// it would leave a large gap at the end of a window. All that stays in memory is spent.
func (l *Lexer) Keep() []byte {
	held := l.Held()
	if l.window == nil || len(held) > windowSize/4 || cap(l.buf) > windowSize {
		l.Spend(len(held))
		return append(make([]byte, 0, len(held)), held...)
	}
	l.Spend(l.pos)
	l.base += int64(l.pos)
	l.buf, l.pos = l.buf[l.pos:], 0
	l.window = l.buf[:0]
	return held[:len(held):len(held)]
}

// A Budget is how much memory may be made of an input: a short one can ask for a lot.
type Budget struct{ allowed, left int64 }

// NewBudget allows so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{bytes, bytes} }

// Left is how much may still be made.
func (b *Budget) Left() int64 { return b.left }

// GiveBack has left what was left before something was made that is not kept.
func (b *Budget) GiveBack(left int64) { b.left = left }

// Renew allows as much again.
func (b *Budget) Renew() { b.left = b.allowed }

// Spend counts memory, and returns an [ErrTooLarge] beyond what is allowed.
func (b *Budget) Spend(bytes int) error {
	if b.left -= int64(bytes); b.left < 0 {
		return fmt.Errorf("%w: it takes more than %d bytes of memory", ErrTooLarge, b.allowed)
	}
	return nil
}

// Use makes the Lexer count against a budget, which others may use too.
func (l *Lexer) Use(b *Budget) { l.budget = b }

// Budget is what the Lexer counts against; nil: nothing.
func (l *Lexer) Budget() *Budget { return l.budget }

// Spend counts memory that is made of the input, and fails beyond the budget.
func (l *Lexer) Spend(bytes int) {
	if b := l.budget; b != nil {
		if b.left -= int64(bytes); b.left < 0 {
			l.overspent()
		}
	}
}

func (l *Lexer) overspent() { l.Fail(l.budget.Spend(0)) }

// Fail ends reading with an error, unless there is one already.
func (l *Lexer) Fail(err error) {
	if l.err != nil {
		return
	}
	l.err = err
	l.base = l.Offset()
	l.src, l.buf, l.pos = nil, nil, 0
}

// Failf ends reading with a [*SyntaxError] at the present place.
func (l *Lexer) Failf(format string, args ...any) {
	l.Fail(&SyntaxError{Offset: l.Offset(), Reason: fmt.Sprintf(format, args...)})
}

// fill reads more input behind buf[pos:], which stays with what is held, and
// tells whether there was more.
func (l *Lexer) fill() bool {
	if l.src == nil {
		return false
	}
	keep := l.pos
	if l.hold >= 0 {
		keep = int(l.hold - l.base)
	}
	l.base += int64(keep)
	l.buf = l.buf[:copy(l.buf, l.buf[keep:])]
	l.pos -= keep
	if len(l.buf) >= l.most || l.mark >= 0 && l.base+int64(len(l.buf))-l.mark > int64(l.most) {
		l.Fail(fmt.Errorf("%w: one value is longer than %d MiB", ErrTooLarge, l.most>>20))
		return false
	}
	if (len(l.buf) == cap(l.buf) || cap(l.buf) < windowSize/16) && !l.widen() {
		return false
	}
	const patience = 100
	for range patience {
		n, err := l.src.Read(l.buf[len(l.buf):cap(l.buf)])
		l.buf = l.buf[:len(l.buf)+n]
		switch {
		case err == io.EOF:
			l.src = nil
			return n > 0
		case err != nil:
			l.Fail(err)
			return false
		case n > 0:
			return true
		}
	}
	l.Fail(io.ErrNoProgress)
	return false
}

// widen moves buf to where there is more room behind it. What is left of a window
// of which Keep gave a part away stays in memory with that.
func (l *Lexer) widen() bool {
	room := max(windowSize, 2*len(l.buf))
	if room == windowSize {
		l.Spend(len(l.buf))
	}
	l.buf = append(make([]byte, 0, room), l.buf...)
	return l.err == nil
}

// need tries to have n unused bytes in buf.
func (l *Lexer) need(n int) bool {
	for len(l.buf)-l.pos < n {
		if !l.fill() {
			return false
		}
	}
	return true
}

// truncated says that the input ends too early.
func (l *Lexer) truncated() { l.Fail(io.ErrUnexpectedEOF) }

// Kind looks at the first byte of what comes next, white space left out: one of
// { [ ] } " , : t f n, a digit or a minus, or something that is no JSON. It is 0
// at the end of the input.
func (l *Lexer) Kind() (c byte) {
	if l.pos < len(l.buf) {
		c = l.buf[l.pos]
	}
	if c > ' ' {
		return c
	}
	return l.kind()
}

func (l *Lexer) kind() byte {
	for {
		for l.pos < len(l.buf) {
			switch c := l.buf[l.pos]; c {
			case ' ', '\n', '\r', '\t':
				l.pos++
			default:
				return c
			}
		}
		if !l.fill() {
			return 0
		}
	}
}

// unexpected says that something else was asked for.
func (l *Lexer) unexpected(want string) {
	if l.err != nil {
		return
	}
	if l.Kind() == 0 && l.pos == len(l.buf) {
		l.truncated()
		return
	}
	l.Failf("found %q instead of %s", l.buf[l.pos], want)
}

func (l *Lexer) expect(c byte, want string) bool {
	if l.Kind() != c {
		l.unexpected(want)
		return false
	}
	l.pos++
	return true
}

// List begins a list: [
func (l *Lexer) List() bool { return l.expect('[', "a list") }

// Element tells whether the list has an element number i, which then comes
// next. It is asked with 0, 1, 2 and so on until it returns false.
func (l *Lexer) Element(i int) bool {
	switch c := l.Kind(); {
	case c == ']':
		l.pos++
		return false
	case i == 0 && c != 0:
		return true
	case c == ',':
		l.pos++
		if l.Kind() != ']' {
			return l.err == nil
		}
	}
	l.unexpected("an element or the end of a list")
	return false
}

// End tells whether nothing but white space follows. It reads to the end of the
// stream.
func (l *Lexer) End() bool {
	if l.err == nil && (l.Kind() != 0 || l.pos < len(l.buf)) {
		l.unexpected("the end")
	}
	return l.err == nil
}

// Skip reads a value of any kind and drops it. Its length does not matter.
func (l *Lexer) Skip() {
	if l.depth++; l.depth > maxDepth {
		l.Failf("more than %d objects and lists inside each other", maxDepth)
	}
	switch l.Kind() {
	case '{':
		l.pos++
		for m := l.member(nil, End); m != End; m = l.member(nil, m) {
			l.Skip()
		}
	case '[':
		l.List()
		for i := 0; l.Element(i); i++ {
			l.Skip()
		}
	case '"':
		l.skipText()
	case 't':
		l.literal("true")
	case 'f':
		l.literal("false")
	case 'n':
		l.literal("null")
	default:
		l.Number()
	}
	l.depth--
}

// Null reads null if that is what comes next.
func (l *Lexer) Null() bool {
	if l.Kind() != 'n' {
		return false
	}
	l.literal("null")
	return true
}

// Bool reads true or false, as it is written.
func (l *Lexer) Bool() []byte {
	if l.Kind() == 't' {
		return l.literal("true")
	}
	return l.literal("false")
}

func (l *Lexer) literal(word string) []byte {
	l.Kind()
	if !l.need(len(word)) && l.err == nil && string(l.buf[l.pos:]) == word[:len(l.buf)-l.pos] {
		l.truncated()
		return nil
	}
	if l.err != nil {
		return nil
	}
	if found := l.buf[l.pos:min(l.pos+len(word), len(l.buf))]; string(found) == word {
		l.pos += len(word)
		return found
	}
	l.unexpected(word)
	return nil
}

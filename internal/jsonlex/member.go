package jsonlex

import (
	"bytes"
	"iter"
)

// What Object and Member return beside the place of a known name.
const (
	End     = -1 // the object is over
	Unknown = -2 // the value of an unknown member comes next
)

// Names are the members of an object that a decoder knows. Programs write the
// members of all their objects in the same order, so Names remembers which
// member followed which, and looks for that one first. It belongs to one
// decoder.
type Names struct {
	texts []string // `,"name":`
	after []guess  // after[i+2] is the member that followed member i
}

// A guess is a member as it stands in its place: without the comma if it is the first.
type guess struct {
	place int
	text  string
}

// NewNames makes Names. They match whatever their case, and with underscores for
// hyphens, since senders differ in that.
func NewNames(names ...string) *Names { return newNames(quoted(names)) }

// quoted are names as they stand between other members.
func quoted(names []string) []string {
	var texts []string
	for _, name := range names {
		texts = append(texts, `,"`+name+`":`)
	}
	return texts
}

func newNames(texts []string) *Names {
	n := &Names{texts: texts, after: make([]guess, len(texts)+2)}
	for i := range n.after {
		n.follow(i-2, 0)
	}
	return n
}

// follow remembers which member followed another one.
func (n *Names) follow(previous, place int) {
	text := n.texts[place]
	if previous == End {
		text = text[1:]
	}
	n.after[previous+2] = guess{place, text}
}

// Object begins an object and reads its first member up to the value, as Member
// does.
func (l *Lexer) Object(n *Names) int {
	if !l.expect('{', "an object") {
		return End
	}
	return l.Member(n, End)
}

// Member reads a member up to its value and returns its place in n, Unknown, or
// End. previous is what was returned before; the value of that has been read.
func (l *Lexer) Member(n *Names, previous int) int {
	b := l.buf[l.pos:]
	if len(b) > 0 && b[0] == '}' {
		l.pos++
		return End
	}
	guess := &n.after[previous+2]
	if text := guess.text; len(b) >= len(text) && string(b[:len(text)]) == text {
		l.pos += len(text)
		return guess.place
	}
	found := l.member(n, previous)
	if found >= 0 {
		n.follow(previous, found)
	}
	return found
}

func (l *Lexer) member(n *Names, previous int) int {
	if !l.hasMember(previous == End) {
		return End
	}
	found := l.name(n, previous)
	if !l.expect(':', "a colon") {
		return End
	}
	return found
}

// hasMember reads up to the name of the next member, and past the end of an object without one.
func (l *Lexer) hasMember(isFirst bool) bool {
	switch c := l.Kind(); {
	case c == '}':
		l.pos++
		return false
	case isFirst:
	case c == ',':
		l.pos++
	default:
		l.unexpected("a member or the end of an object")
		return false
	}
	if l.Kind() != '"' {
		l.unexpected("the name of a member")
		return false
	}
	return true
}

func (l *Lexer) name(n *Names, previous int) int {
	if n == nil {
		l.skipText()
		return Unknown
	}
	guess := n.after[previous+2].place
	text := n.texts[guess]
	text = text[1 : len(text)-1]
	if b := l.buf[l.pos:]; len(b) >= len(text) && string(b[:len(text)]) == text {
		l.pos += len(text)
		return guess
	}
	return n.place(l.Text())
}

// place finds a name.
func (n *Names) place(name []byte) int {
	for i, text := range n.texts {
		known := text[2 : len(text)-2]
		if len(known) == len(name) && same(name, known) {
			return i
		}
	}
	return Unknown
}

func same(name []byte, known string) bool {
	for i, c := range name {
		if c != known[i] && folded(c) != folded(known[i]) {
			return false
		}
	}
	return true
}

func folded(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		c += 'a' - 'A'
	case c == '_':
		c = '-'
	}
	return c
}

// Members reads an object whose names are data. After each name its value comes
// next. The bytes are valid until the next call.
func (l *Lexer) Members() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !l.expect('{', "an object") {
			return
		}
		for i := 0; ; i++ {
			if name, more := l.key(i); !more || !yield(name) {
				return
			}
		}
	}
}

// key reads member number i of an object up to its value, and returns its name;
// false at the end of the object.
func (l *Lexer) key(i int) ([]byte, bool) {
	if code := l.code(i); code != nil {
		return code, true
	}
	if !l.hasMember(i == 0) {
		return nil, false
	}
	name := l.Text()
	if l.pos < len(l.buf) && l.buf[l.pos] == ':' {
		l.pos++
		return name, true
	}
	name = append(l.copied[:0], name...) // reading on may move the window
	l.copied = name
	return name, l.expect(':', "a colon")
}

// code is key for a name of two lowercase letters written without white space: reports
// have little else than countries.
func (l *Lexer) code(i int) []byte {
	b := l.buf[l.pos:]
	if i > 0 && len(b) > 0 && b[0] == ',' {
		b = b[1:]
	} else if i > 0 {
		return nil
	}
	if len(b) < 5 || b[0] != '"' || b[1]-'a' >= 26 || b[2]-'a' >= 26 || b[3] != '"' || b[4] != ':' {
		return nil
	}
	l.pos = len(l.buf) - len(b) + 5
	return b[1:3]
}

// Known tells which member of n the object that comes next begins with, without
// reading it.
func (l *Lexer) Known(n *Names) int {
	if l.Kind() != '{' {
		return Unknown
	}
	for size := 64; ; size *= 2 {
		whole := !l.need(size)
		if found, ok := n.first(l.buf[l.pos:]); ok || whole || size >= windowSize {
			return found
		}
	}
}

// first finds the name of the first member in the text of an object, if the text
// reaches that far.
func (n *Names) first(b []byte) (found int, ok bool) {
	_, rest, _ := bytes.Cut(b, []byte{'"'})
	name, _, ok := bytes.Cut(rest, []byte{'"'})
	return n.place(name), ok
}

package metadata

import (
	"slices"
	"sync"
	"unicode/utf8"
)

// XML returns the record as the document the metadata store takes
// (specification §2.3), in version 4.7 of the schema. The same record always
// gives the same bytes: UTF-8, indented, the parts in the schema's order, nothing
// empty that could be left out. The identifier is always there, empty when the
// record has no DOI.
//
// XML does not ask whether the record is complete or right; see
// [Record.Validate]. The error is a [*ValidationError] when the record holds
// characters that XML cannot.
func (r *Record) XML() ([]byte, error) {
	w := writers.Get().(*writer)
	w.buf, w.depth, w.bad = w.buf[:0], 0, false
	w.record(r)
	document, bad := slices.Clone(w.buf), w.bad
	if cap(w.buf) <= maxPooled {
		writers.Put(w)
	}
	if bad {
		return nil, r.unwritable()
	}
	return document, nil
}

// writers keeps writers with buffers that have grown already. Those of records
// with thousands of people are not kept.
var writers = sync.Pool{New: func() any { return &writer{buf: make([]byte, 0, 16<<10)} }}

const maxPooled = 256 << 10

// writer appends the elements of a record. An element is opened, given its
// attributes, and then either filled with children and closed, or ended by its
// text. Attributes and optional elements without a value are left out, for the
// schema refuses empty ones in many places.
type writer struct {
	buf   []byte
	depth int
	bad   bool // a value holds what XML cannot
}

const indent = "\n            " // deep enough for every element of a record

// Each method stores the buffer once: a store costs more than a short append
// while the garbage collector runs.

func (w *writer) open(name string) {
	buf := append(w.buf, indent[:1+2*w.depth]...)
	buf = append(buf, '<')
	w.buf = append(buf, name...)
}

func (w *writer) attr(name, value string) {
	if value != "" {
		w.anyAttr(name, value)
	}
}

// anyAttr writes an attribute even when it is empty.
func (w *writer) anyAttr(name, value string) {
	buf := append(w.buf, ' ')
	buf = append(buf, name...)
	buf = append(buf, '=', '"')
	w.buf = append(w.escape(buf, value, &attributeEscapes), '"')
}

// fill ends a start tag that has children, and close writes its end tag.
func (w *writer) fill() {
	w.buf = append(w.buf, '>')
	w.depth++
}

func (w *writer) close(name string) {
	w.depth--
	w.buf = appendEndTag(append(w.buf, indent[:1+2*w.depth]...), name)
}

func appendEndTag(buf []byte, name string) []byte {
	buf = append(buf, '<', '/')
	buf = append(buf, name...)
	return append(buf, '>')
}

// text ends an element with its text.
func (w *writer) text(name, value string) {
	if value == "" {
		w.buf = append(w.buf, '/', '>')
		return
	}
	w.buf = appendEndTag(w.escape(append(w.buf, '>'), value, &textEscapes), name)
}

// element writes an element without attributes, if it has a value.
func (w *writer) element(name, value string) {
	if value != "" {
		w.open(name)
		w.text(name, value)
	}
}

// wrap writes a wrapper with an element for each item.
func wrap[T any](w *writer, name string, list []T, item func(*writer, *T)) {
	if len(list) == 0 {
		return
	}
	w.open(name)
	w.fill()
	for i := range list {
		item(w, &list[i])
	}
	w.close(name)
}

// escapes holds what stands for a byte in a document; bytes that cannot stand
// there at all have a mark instead.
type escapes [256]string

const illegal = "\x00"

var (
	textEscapes      = newEscapes(map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '\r': "&#13;"})
	attributeEscapes = newEscapes(map[byte]string{
		'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\r': "&#13;", '\n': "&#10;", '\t': "&#9;",
	})
)

func newEscapes(special map[byte]string) (e escapes) {
	for c := range byte(' ') {
		if !isBlank(c) {
			e[c] = illegal
		}
	}
	for c, s := range special {
		e[c] = s
	}
	return e
}

// escape appends s to buf and notes characters that XML cannot hold.
func (w *writer) escape(buf []byte, s string, table *escapes) []byte {
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			i += w.wide(s[i:])
			continue
		}
		i++
		if with := table[c]; with != "" {
			w.bad = w.bad || with == illegal
			buf = append(buf, s[done:i-1]...)
			buf = append(buf, with...)
			done = i
		}
	}
	return append(buf, s[done:]...)
}

// wide checks a character beyond ASCII and returns its length.
func (w *writer) wide(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 || !isChar(r) {
		w.bad = true
	}
	return size
}

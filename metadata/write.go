package metadata

import (
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// XML returns the record as a document for the metadata store (specification §2.3), in
// kernel 4: UTF-8, indented, in the order of the schema, without empty elements. The same
// record always gives the same bytes. A record without a DOI has an empty identifier.
//
// XML does not check whether the record is complete and valid; see [Record.Validate]. The
// error is a [*datacite.ValidationError]: the record is nil, or has characters that XML cannot
// contain.
func (r *Record) XML() ([]byte, error) {
	if r == nil {
		return nil, r.Validate()
	}
	w := writers.Get().(*writer)
	w.buf, w.depth, w.bad = w.buf[:0], 0, false
	w.buf = append(w.buf, declaration...)
	resourceElement().write(w, r)
	w.buf = append(w.buf, '\n')
	document, bad := slices.Clone(w.buf), w.bad
	if cap(w.buf) <= maxPooled {
		writers.Put(w)
	}
	if bad {
		return nil, r.checkWritable()
	}
	return document, nil
}

// writers keeps buffers that have grown, except those of very large records.
var writers = sync.Pool{New: func() any { return &writer{buf: make([]byte, 0, 16<<10)} }}

const maxPooled = 256 << 10

// writer has the document that the elements append to. Attributes and elements without a
// value are left out, because the schema refuses empty ones in many places.
type writer struct {
	buf   []byte
	depth int
	bad   bool // a value has what XML cannot contain
}

const declaration = `<?xml version="1.0" encoding="UTF-8"?>`

const indent = "\n            " // deep enough for every element of a record

// Each method stores the buffer as seldom as it can: a store costs more than a short append
// while the garbage collector runs.

// extra appends attributes that the schema does not name.
func (w *writer) extra(buf []byte, list []Attribute, known []string) []byte {
	for i, a := range list {
		w.bad = w.bad || !canAdd(list[:i], known, a.Name)
		buf = append(append(append(buf, ' '), a.Name...), '=', '"')
		buf = append(w.escape(buf, a.Value, &attributeEscapes), '"')
	}
	return buf
}

// close ends an element with child elements or none. Its start tag ends at an offset of the
// buffer.
func (w *writer) close(startTag int, end string) {
	w.depth--
	if len(w.buf) == startTag+1 {
		w.buf = append(w.buf[:startTag], '/', '>')
		return
	}
	w.buf = append(append(w.buf, indent[:1+2*w.depth]...), end...)
}

// element writes an element with only a text.
func (w *writer) element(start, end, value string) (present bool) {
	if value == "" {
		return false
	}
	buf := append(append(w.buf, indent[:1+2*w.depth]...), start...)
	w.buf = append(w.escape(append(buf, '>'), value, &textEscapes), end...)
	return true
}

// text ends an element with its text.
func (w *writer) text(end, value string) (present bool) {
	if value == "" {
		w.buf = append(w.buf, '/', '>')
		return false
	}
	w.buf = append(w.escape(append(w.buf, '>'), value, &textEscapes), end...)
	return true
}

// escapes has the text for each byte that is not written as it is; illegal is that of bytes
// which XML cannot contain.
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
		if !xmlscan.IsBlank(c) {
			e[c] = illegal
		}
	}
	for c, s := range special {
		e[c] = s
	}
	return e
}

// escape appends s to buf, and sets bad if XML cannot contain it.
func (w *writer) escape(buf []byte, s string, table *escapes) []byte {
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			w.bad = w.bad || r == utf8.RuneError && size == 1 || !xmlscan.IsChar(r)
			i += size
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

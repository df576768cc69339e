package metadata

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// jsonReader reads JSON into values by what is there rather than by what should
// be. The service has stored records of many years and clients, so a member may
// be of any type; encoding/json would refuse the record for it.
//
// The texts that it reads are parts of one copy of the data.
type jsonReader struct {
	data   string
	pos    int
	failed bool
}

var errNotJSON = errors.New("metadata: not JSON")

// reader is implemented by the types that need more than their kind and tags to
// be read.
type reader interface{ readFrom(r *jsonReader) }

func readJSON(data []byte, v reflect.Value) error {
	r := &jsonReader{data: string(data)}
	r.into(v, shapeOf(v.Type()))
	if r.peek() != 0 || r.failed {
		return errNotJSON
	}
	return nil
}

// A shape is what the reader has to know of a type.
type shape struct {
	kind   reflect.Kind
	own    bool             // it is a reader
	bare   bool             // a bare text may stand for it: for a struct, its first field is then the text
	item   *shape           // of a slice
	fields map[string]field // of a struct, by their JSON names
}

type field struct {
	index int
	*shape
}

var shapes sync.Map // reflect.Type to *shape

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	s := &shape{kind: t.Kind(), own: reflect.PointerTo(t).Implements(reflect.TypeFor[reader]())}
	switch s.kind {
	case reflect.String:
		s.bare = true
	case reflect.Slice:
		s.item = shapeOf(t.Elem())
	case reflect.Struct:
		s.bare = t.Field(0).Type == reflect.TypeFor[string]()
		s.fields = make(map[string]field, t.NumField())
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "-" {
				s.fields[name] = field{i, shapeOf(t.Field(i).Type)}
			}
		}
	}
	shapes.Store(t, s)
	return s
}

// readable reports whether a value that starts with c makes an item of the shape.
func (s *shape) readable(c byte) bool {
	switch c {
	case '{':
		return s.kind == reflect.Struct
	case '[', 'n':
		return false
	default:
		return s.bare
	}
}

func (r *jsonReader) into(v reflect.Value, s *shape) {
	switch {
	case s.own:
		v.Addr().Interface().(reader).readFrom(r)
	case s.kind == reflect.String:
		v.SetString(r.text())
	case s.kind == reflect.Slice:
		r.intoSlice(v, s)
	case s.kind == reflect.Struct:
		r.intoStruct(v, s)
	default:
		r.skip()
	}
}

func (r *jsonReader) intoSlice(v reflect.Value, s *shape) {
	if r.peek() == 'n' {
		v.SetZero()
		r.skip()
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	item := func() {
		if !s.item.readable(r.peek()) {
			r.skip()
			return
		}
		n := v.Len()
		v.Grow(1)
		v.SetLen(n + 1)
		last := v.Index(n)
		last.SetZero()
		r.into(last, s.item)
	}
	switch {
	case r.peek() == '[':
		r.array(item)
	case strings.HasPrefix(r.data[r.pos:], `""`):
		r.skip()
	default:
		item()
	}
}

func (r *jsonReader) intoStruct(v reflect.Value, s *shape) {
	v.SetZero()
	if c := r.peek(); c != '{' {
		if s.readable(c) {
			v.Field(0).SetString(r.text())
		} else {
			r.skip()
		}
		return
	}
	r.object(func(name string) {
		if f, ok := s.fields[name]; ok {
			r.into(v.Field(f.index), f.shape)
		} else {
			r.skip()
		}
	})
}

// peek returns the first byte of what comes next, and 0 at the end.
func (r *jsonReader) peek() byte {
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; c {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

// accept steps over c if it comes next.
func (r *jsonReader) accept(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.pos++
	return true
}

// fail makes the reader stop; readJSON then reports that the text is not JSON.
func (r *jsonReader) fail() { r.pos, r.failed = len(r.data), true }

func (r *jsonReader) array(item func()) {
	r.pos++ // [
	if r.accept(']') {
		return
	}
	for {
		item()
		if r.accept(',') {
			continue
		}
		if !r.accept(']') {
			r.fail()
		}
		return
	}
}

func (r *jsonReader) object(member func(name string)) {
	r.pos++ // {
	if r.accept('}') {
		return
	}
	for {
		if r.peek() != '"' {
			r.fail()
			return
		}
		name := r.text()
		if !r.accept(':') {
			r.fail()
			return
		}
		member(name)
		if r.accept(',') {
			continue
		}
		if !r.accept('}') {
			r.fail()
		}
		return
	}
}

// text reads a string, or a number, true or false as it is written. Null, lists
// and objects are the empty string.
func (r *jsonReader) text() string {
	c := r.peek()
	start := r.pos
	r.skip()
	if r.failed {
		return ""
	}
	raw := r.data[start:r.pos]
	switch c {
	case '"':
		return unquote(raw)
	case '[', '{', 'n':
		return ""
	default:
		return raw
	}
}

func unquote(raw string) string {
	inner := raw[1 : len(raw)-1]
	if strings.IndexByte(inner, '\\') < 0 && utf8.ValidString(inner) {
		return inner
	}
	var s string
	_ = json.Unmarshal([]byte(raw), &s) // encoding/json has accepted the text already
	return s
}

// skip steps over one value, whatever it is.
func (r *jsonReader) skip() {
	switch r.peek() {
	case '"':
		r.skipString()
	case '[', '{':
		r.skipNested()
	case 0, ']', '}', ',', ':':
		r.fail()
	default:
		end := strings.IndexAny(r.data[r.pos:], ",]} \t\r\n")
		if end < 0 {
			end = len(r.data) - r.pos
		}
		r.pos += end
	}
}

func (r *jsonReader) skipString() {
	for i := r.pos + 1; i < len(r.data); {
		end := strings.IndexByte(r.data[i:], '"')
		if end < 0 {
			break
		}
		escape := strings.IndexByte(r.data[i:i+end], '\\')
		if escape < 0 {
			r.pos = i + end + 1
			return
		}
		i += escape + 2 // and what it escapes
	}
	r.fail()
}

func (r *jsonReader) skipNested() {
	for depth := 0; r.pos < len(r.data); {
		switch r.data[r.pos] {
		case '"':
			r.skipString()
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		r.pos++
		if depth == 0 {
			return
		}
	}
	r.fail()
}

package metadata

import (
	"bytes"
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
type jsonReader struct {
	data   []byte
	pos    int
	failed bool
}

var errNotJSON = errors.New("metadata: not JSON")

// reader is implemented by the types that need more than their kind and tags to
// be read.
type reader interface{ readFrom(r *jsonReader) }

func readJSON(data []byte, v reflect.Value) error {
	r := &jsonReader{data: data}
	r.into(v)
	if r.peek() != 0 || r.failed {
		return errNotJSON
	}
	return nil
}

func (r *jsonReader) into(v reflect.Value) {
	if own, ok := v.Addr().Interface().(reader); ok {
		own.readFrom(r)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.text())
	case reflect.Slice:
		r.intoSlice(v)
	case reflect.Struct:
		r.intoStruct(v)
	default:
		r.skip()
	}
}

func (r *jsonReader) intoSlice(v reflect.Value) {
	if r.peek() == 'n' {
		v.SetZero()
		r.skip()
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	item := func() {
		if !readable(v.Type().Elem(), r.peek()) {
			r.skip()
			return
		}
		v.Grow(1)
		v.SetLen(v.Len() + 1)
		last := v.Index(v.Len() - 1)
		last.SetZero()
		r.into(last)
	}
	switch {
	case r.peek() == '[':
		r.array(item)
	case bytes.HasPrefix(r.data[r.pos:], []byte(`""`)):
		r.skip()
	default:
		item()
	}
}

// readable reports whether a value that starts with c makes an item of type t.
func readable(t reflect.Type, c byte) bool {
	switch c {
	case '{':
		return t.Kind() == reflect.Struct
	case '[', 'n':
		return false
	default:
		return t.Kind() == reflect.String || hasMainText(t)
	}
}

// hasMainText reports whether a bare string may stand for a struct of type t:
// its first field is then the text.
func hasMainText(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.Field(0).Type == reflect.TypeFor[string]()
}

func (r *jsonReader) intoStruct(v reflect.Value) {
	v.SetZero()
	if c := r.peek(); c != '{' {
		if readable(v.Type(), c) {
			v.Field(0).SetString(r.text())
		} else {
			r.skip()
		}
		return
	}
	fields := fieldsOf(v.Type())
	r.object(func(name []byte) {
		if i, ok := fields[string(name)]; ok {
			r.into(v.Field(i))
		} else {
			r.skip()
		}
	})
}

var fieldCache sync.Map // reflect.Type to map[string]int

// fieldsOf returns the fields of a struct type by their JSON names.
func fieldsOf(t reflect.Type) map[string]int {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(map[string]int)
	}
	fields := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "-" {
			fields[name] = i
		}
	}
	fieldCache.Store(t, fields)
	return fields
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

func (r *jsonReader) object(member func(name []byte)) {
	r.pos++ // {
	if r.accept('}') {
		return
	}
	for {
		if r.peek() != '"' {
			r.fail()
			return
		}
		name := r.memberName()
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

// memberName reads a string as bytes, which saves a copy for every member.
func (r *jsonReader) memberName() []byte {
	start := r.pos
	r.skipString()
	if r.failed {
		return nil
	}
	raw := r.data[start:r.pos]
	if bytes.IndexByte(raw, '\\') >= 0 {
		return []byte(unquote(raw))
	}
	return raw[1 : len(raw)-1]
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
		return string(raw)
	}
}

func unquote(raw []byte) string {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // encoding/json has accepted the text already
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
		end := bytes.IndexAny(r.data[r.pos:], ",]} \t\r\n")
		if end < 0 {
			end = len(r.data) - r.pos
		}
		r.pos += end
	}
}

func (r *jsonReader) skipString() {
	for i := r.pos + 1; i < len(r.data); i++ {
		switch r.data[i] {
		case '\\':
			i++
		case '"':
			r.pos = i + 1
			return
		}
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

package dois

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// into reads one value into v as far as it fits there: a number for a string, a
// string for a number, one item for a list. What does not fit is left out.
func (t *jsonText) into(v reflect.Value) {
	if own, ok := v.Addr().Interface().(json.Unmarshaler); ok {
		if raw := t.value(); t.err == nil {
			_ = own.UnmarshalJSON(raw) // fails only for what is no JSON
		}
		return
	}
	switch c := t.peek(); {
	case v.Kind() == reflect.Pointer && c == '{':
		v.Set(reflect.New(v.Type().Elem()))
		t.into(v.Elem())
	case v.Kind() == reflect.Slice && c == '[':
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		t.array(func() { t.intoItem(v) })
	case v.Kind() == reflect.Slice:
		t.intoItem(v)
	case v.Kind() == reflect.Struct && c == '{':
		t.intoStruct(v)
	default:
		intoScalar(v, t.value())
	}
}

// intoItem adds one value to a list, unless it is null or of a kind that makes
// no item.
func (t *jsonText) intoItem(v reflect.Value) {
	object := v.Type().Elem().Kind() == reflect.Struct
	if c := t.peek(); c == 'n' || c == '[' || object != (c == '{') {
		t.value()
		return
	}
	v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	t.into(v.Index(v.Len() - 1))
}

func (t *jsonText) intoStruct(v reflect.Value) {
	fields := fieldsOf(v.Type())
	t.object(func(name []byte) {
		if index, ok := fields[string(name)]; ok {
			t.into(v.FieldByIndex(index))
		} else {
			t.value()
		}
	})
}

func intoScalar(v reflect.Value, raw []byte) {
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || raw[0] == 'n' {
		return
	}
	text := string(raw)
	if raw[0] == '"' {
		text = unquote(raw)
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Int:
		if n, err := strconv.ParseFloat(text, 64); err == nil && n == float64(int(n)) {
			v.SetInt(int64(n))
		}
	case reflect.Float64:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			v.SetFloat(n)
		}
	}
}

var fieldCache sync.Map // reflect.Type to map[string][]int

// fieldsOf returns the places of a struct's fields, embedded ones too, by their
// JSON names.
func fieldsOf(typ reflect.Type) map[string][]int {
	if cached, ok := fieldCache.Load(typ); ok {
		return cached.(map[string][]int)
	}
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = f.Index
		}
	}
	fieldCache.Store(typ, fields)
	return fields
}

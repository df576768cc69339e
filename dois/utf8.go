package dois

import (
	"encoding"
	"encoding/json"
	"reflect"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
)

// checkUTF8 refuses a value with a text that JSON cannot hold. The output of encoding/json
// does not tell: since Go 1.27, bytes that are not UTF-8 are written as U+FFFD is.
func checkUTF8(path string, value any) error {
	if _, err := json.Marshal(value); err != nil {
		return datacite.Invalid(datacite.Finding{Path: path, Code: "syntax", Reason: "cannot be written as JSON: " + err.Error(), Err: err})
	}
	if !isUTF8(reflect.ValueOf(value)) {
		return datacite.Invalid(datacite.Finding{Path: path, Code: "encoding", Reason: "is not UTF-8; JSON would have U+FFFD instead"})
	}
	return nil
}

// isUTF8 goes through the texts that encoding/json writes of a value that it can write.
func isUTF8(v reflect.Value) bool {
	if text, ok := written(v); ok {
		return utf8.Valid(text)
	}
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || isUTF8(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !isUTF8(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if !isUTF8(key) || !isUTF8(value) {
				return false
			}
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if (field.IsExported() || field.Anonymous) && field.Tag.Get("json") != "-" && !isUTF8(value) {
				return false
			}
		}
	}
	return true
}

// written is what a value writes of itself. An error is encoding/json's to report.
func written(v reflect.Value) (text []byte, ok bool) {
	if !v.IsValid() || !v.CanInterface() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, false
	}
	switch value := v.Interface().(type) {
	case json.Marshaler:
		text, _ = value.MarshalJSON()
	case encoding.TextMarshaler:
		text, _ = value.MarshalText()
	case []byte: // in base64
	default:
		return nil, false
	}
	return text, true
}

package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode writes JSON as the service does: without escapes for HTML.
func Encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // all values came from JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// First is the first of the members that exists.
func First(o object, members ...string) any {
	for _, m := range members {
		if o[m] != nil {
			return o[m]
		}
	}
	return nil
}

// String is a value that is a string, else "".
func String(v any) string {
	s, _ := v.(string)
	return s
}

// Decode reads JSON that is not nested too deep.
func Decode(data []byte, v any) error {
	depth, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			if depth++; depth > maxNesting {
				return fmt.Errorf("nested more than %d deep", maxNesting)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return json.Unmarshal(data, v)
}

// Encoded are the entries of a list as JSON.
func Encoded[T any](entries []T, show func(T) any) ([]json.RawMessage, error) {
	out, size := []json.RawMessage{}, 0
	for _, entry := range entries {
		text := Encode(show(entry))
		if size += len(text); size > maxResponse {
			return nil, ErrTooMuch
		}
		out = append(out, text)
	}
	return out, nil
}

// MaxPage is the limit of page[size].
const MaxPage = 1000

// Window is the page of all, counted from 1.
func Window[T any](all []T, page, size int) []T {
	start := min(min(page-1, len(all))*size, len(all))
	return all[start:min(start+size, len(all))]
}

// Pages is how many pages there are.
func Pages(total, size int) int {
	if size <= 0 {
		return 0
	}
	return (total + size - 1) / size
}

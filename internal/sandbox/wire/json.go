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
		panic(err) // only values that came from JSON get here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func First(o object, members ...string) any {
	for _, m := range members {
		if o[m] != nil {
			return o[m]
		}
	}
	return nil
}

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

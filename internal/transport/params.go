package transport

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-querystring/query"
)

// Params turns a struct with url tags into parameters.
func Params(options any) (url.Values, error) { return query.Values(options) }

// EncodeParams writes parameters for a URL: sorted by name, a blank as %20 and a plus
// as %2B, as specification §4.2.1(7) asks.
func EncodeParams(v url.Values) string {
	return strings.ReplaceAll(v.Encode(), "+", "%20")
}

// ParamsJSON writes parameters as the JSON object that means the same: page[size]
// becomes the member size of the object page. All values are strings, because
// the service compares some of them, such as "true", with the text in a URL.
func ParamsJSON(v url.Values) ([]byte, error) {
	root := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(v)) { // so that the same fault makes the same text
		if len(v[name]) == 0 {
			continue
		}
		if err := set(root, name, v[name]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(root)
}

func set(root map[string]any, name string, values []string) error {
	keys := strings.Split(strings.ReplaceAll(name, "]", ""), "[")
	object := root
	last := len(keys) - 1
	for i, key := range keys {
		known, taken := object[key]
		inner, isObject := known.(map[string]any)
		switch {
		case taken && (i == last || !isObject):
			return fmt.Errorf("parameter %s: %s is a value and an object at once", name, key)
		case i == last && len(values) == 1:
			object[key] = values[0]
		case i == last:
			object[key] = values
		case !taken:
			inner = map[string]any{}
			object[key] = inner
		}
		object = inner
	}
	return nil
}

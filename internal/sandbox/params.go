package sandbox

import (
	"bytes"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

var errParams = fail(http.StatusBadRequest, "Error occurred while parsing request parameters")

// params are the parameters of a request. A name is spelled with underscores
// at the top, as in "client_id" and "page[size]".
type params map[string]string

// number is a parameter read as the service does: its leading digits.
func (p params) number(name string, missing int) int {
	text := p[name]
	if text == "" {
		return missing
	}
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[end] == '-') {
		end++
	}
	n, _ := strconv.Atoi(text[:end])
	return n
}

// is says whether the parameter has the value, or is not given.
func (p params) is(name, value string) bool { return p[name] == "" || p[name] == value }

// readParams reads the parameters of a request: those of a JSON body and those
// of the URL, which win (specification §4.2). A name may be spelled with
// hyphens or underscores.
func readParams(q *request) (params, error) {
	p, err := bodyParams(q)
	if err != nil {
		return nil, err
	}
	inURL, err := urlParams(q.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	maps.Copy(p, inURL)
	return p, nil
}

// urlParams reads a query string. It is not url.ParseQuery, which refuses ";",
// a character that a DOI name may hold.
func urlParams(raw string) (params, error) {
	p := params{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return nil, errParams
		}
		value, err = url.QueryUnescape(value)
		if err != nil {
			return nil, errParams
		}
		p[canonical(name)] = value
	}
	return p, nil
}

// canonical spells a name with underscores; what is in brackets stays.
func canonical(name string) string {
	outer, rest, nested := strings.Cut(name, "[")
	outer = strings.ReplaceAll(outer, "-", "_")
	if nested {
		return outer + "[" + rest
	}
	return outer
}

// bodyParams reads parameters from a JSON body, nested ones in objects:
// {"query": "...", "page": {"size": 5}}.
func bodyParams(q *request) (params, error) {
	p := params{}
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if !jsonTypes[kind] {
		return p, nil
	}
	body, err := readBody(q)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return p, err
	}
	var o object
	if decodeJSON(body, &o) != nil {
		return nil, errParams
	}
	return p, p.add("", o)
}

var jsonTypes = map[string]bool{
	"application/json": true, "application/vnd.api+json": true, "text/x-json": true, "application/jsonrequest": true,
}

func (p params) add(outer string, o object) error {
	for name, value := range o {
		key := canonical(name)
		if outer != "" {
			key = fmt.Sprintf("%s[%s]", outer, name)
		}
		if len(key) > 255 {
			continue // there is no such parameter
		}
		switch value := value.(type) {
		case nil:
		case string:
			p[key] = value
		case bool:
			p[key] = strconv.FormatBool(value)
		case float64:
			p[key] = strconv.FormatFloat(value, 'f', -1, 64)
		case object:
			if err := p.add(key, value); err != nil {
				return err
			}
		default:
			return errParams
		}
	}
	return nil
}

package wire

import (
	"bytes"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Listed says whether the comma list has a value, ignoring case.
func Listed(list, value string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(v string) bool {
		return strings.EqualFold(strings.TrimSpace(v), value)
	})
}

// IsBlank reports whether a text is empty or white space.
func IsBlank(text string) bool { return strings.TrimSpace(text) == "" }

var ErrParams = Fail(http.StatusBadRequest, "Error occurred while parsing request parameters")

// Params are the parameters of a request. A name is spelled with underscores
// at the top, as in "client_id" and "page[size]".
type Params map[string]string

// Number is a parameter as the service reads it: its leading digits.
func (p Params) Number(name string, missing int) int {
	if p[name] == "" {
		return missing
	}
	return Leading(p[name])
}

// Leading is the number at the start of a text, or 0; one that is too large is the largest.
func Leading(text string) int {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[end] == '-') {
		end++
	}
	n, _ := strconv.Atoi(text[:end])
	return n
}

// Is says whether the parameter has the value or is absent.
func (p Params) Is(name, value string) bool { return p[name] == "" || p[name] == value }

// ReadParams reads the parameters of a request: those of a JSON body and those
// of the URL, which win (specification §4.2). A name may be spelled with
// hyphens or underscores.
func ReadParams(q *Request) (Params, error) {
	p, err := bodyParams(q)
	if err != nil {
		return nil, err
	}
	inURL, err := URLParams(q.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	maps.Copy(p, inURL)
	return p, nil
}

// URLParams reads a query string. It is not url.ParseQuery, which refuses ";",
// a character allowed in DOI names.
func URLParams(raw string) (Params, error) {
	p := Params{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return nil, ErrParams
		}
		value, err = url.QueryUnescape(value)
		if err != nil {
			return nil, ErrParams
		}
		p[Canonical(name)] = value
	}
	return p, nil
}

// Canonical spells a name with underscores, except in brackets.
func Canonical(name string) string {
	outer, rest, nested := strings.Cut(name, "[")
	outer = strings.ReplaceAll(outer, "-", "_")
	if nested {
		return outer + "[" + rest
	}
	return outer
}

// bodyParams reads parameters from a JSON body, where objects nest them:
// {"query": "...", "page": {"size": 5}}.
func bodyParams(q *Request) (Params, error) {
	p := Params{}
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if !JSONTypes[kind] {
		return p, nil
	}
	body, err := ReadBody(q)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return p, err
	}
	var o object
	if Decode(body, &o) != nil {
		return nil, ErrParams
	}
	return p, p.add("", o)
}

var JSONTypes = map[string]bool{
	"application/json": true, "application/vnd.api+json": true, "text/x-json": true, "application/jsonrequest": true,
}

func (p Params) add(outer string, o object) error {
	for name, value := range o {
		key := Canonical(name)
		if outer != "" {
			key = fmt.Sprintf("%s[%s]", outer, name)
		}
		if len(key) > 255 {
			continue // no parameter has a name so long
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
			return ErrParams
		}
	}
	return nil
}

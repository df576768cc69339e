package mds

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// call is a request to one of the store's routes.
type call struct {
	*wire.Request
	of       *Service
	name     string // as in the path, or the parameter in its place
	doi      string // the DOI of the name, on routes that need one
	username string // as sent, valid or not
	account  *record.Account
	sent     map[string]string // the parameters of query string, form and JSON
	order    []string          // their names
	body     []byte
	isJSON   bool

	changes // requested for the DOI
}

const formType = "application/x-www-form-urlencoded"

// jsonTypes are the names of JSON.
var jsonTypes = []string{"application/json", "text/x-json", "application/jsonrequest"}

// read reads the body, and with Deployed the parameters. A name in the path wins over
// the parameter.
func (c *call) read(param string) (err error) {
	if !c.of.Deployed {
		c.body, err = wire.ReadBody(c.Request)
		return err
	}
	if c.body, err = wire.ReadAll(c.Body); err != nil {
		return err
	}
	kind, _ := c.SentType()
	c.isJSON = slices.Contains(jsonTypes, kind)
	if slices.Contains(cleanedTypes, kind) {
		c.body = cleaned(c.body)
	}
	if kind == formType {
		c.body = []byte(unsafeInForms.ReplaceAllStringFunc(names.Sanitise(string(c.body)), url.QueryEscape))
	}
	c.addForm(c.URL.RawQuery)
	switch {
	case c.isJSON && len(c.body) > 0:
		err = c.addJSON()
	case len(c.body) > 0 && strings.HasPrefix(kind, "multipart/") && strings.Contains(c.Header.Get("Content-Type"), "boundary="):
		err = broken(c.Request)
	case kind == formType, kind == "multipart/form-data":
		c.addForm(string(c.body))
	}
	if c.name != "" {
		c.sent[param] = names.Decode(c.name)
	}
	c.name = c.sent[param]
	return err
}

// cleanedTypes are those whose bodies lose a byte order mark and, if they are
// not UTF-8, every character that is not ASCII.
var cleanedTypes = []string{
	"text/plain", formType, "application/json", "text/javascript", "application/vnd.api+json", "application/xml",
}

func cleaned(body []byte) []byte {
	body = bytes.TrimPrefix(body, wire.ByteOrderMark)
	if !utf8.Valid(body) {
		return []byte(names.ReplaceBytes(string(body)))
	}
	return body
}

// unsafeInForms are the characters that the framework removes from forms, such as
// line breaks.
var unsafeInForms = regexp.MustCompile(`[^-_.!~*'()a-zA-Z0-9;/?:@&=+$,\[\]%]`)

func (c *call) addForm(form string) {
	for pair := range strings.SplitSeq(form, "&") {
		if name, value, _ := strings.Cut(pair, "="); name != "" {
			c.add(unescapeForm(name), unescapeForm(value))
		}
	}
}

// add adds a parameter. One with brackets would be a list or an object, which no route
// uses.
func (c *call) add(name, value string) {
	name, _, nested := strings.Cut(name, "[")
	c.order = append(c.order, name)
	if c.sent[name] = value; nested {
		delete(c.sent, name)
	}
}

func (c *call) addJSON() error {
	var value any
	if wire.Decode(c.body, &value) != nil {
		return broken(c.Request)
	}
	if _, ok := value.(object); !ok {
		c.add("_json", "")
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(c.body)) // once more, for the order
	_, _ = dec.Token()
	for dec.More() {
		name, _ := dec.Token()
		_ = dec.Decode(&value)
		switch value.(type) {
		case object, []any:
			name = wire.String(name) + "["
		}
		c.add(wire.String(name), wire.String(value))
	}
	return nil
}

// object is an object in JSON.
type object = map[string]any

// permit refuses parameters that a route does not know. For JSON the framework adds
// one, named after the controller.
func (c *call) permit(wrapper string, known ...string) error {
	order := c.order
	if c.isJSON && !slices.Contains(order, wrapper) {
		order = append(slices.Clone(order), wrapper)
		delete(c.sent, wrapper)
	}
	known = append(known, "testMode", "controller", "action")
	var odd []string
	for _, name := range order {
		if _, single := c.sent[name]; (!single || !slices.Contains(known, name)) && !slices.Contains(odd, name) {
			odd = append(odd, name)
		}
	}
	if len(odd) == 0 {
		return nil
	}
	return wire.Unpermitted(odd)
}

// worded is an error raised by the store's own code. Others arise outside of its
// routes and do not name the user.
type worded struct{ *wire.Failure }

func (a *worded) Unwrap() error { return a.Failure }

// unescapeForm decodes %xx and "+".
func unescapeForm(text string) string { return names.Unescape(strings.ReplaceAll(text, "+", " ")) }

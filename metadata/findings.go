package metadata

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// Validate reports all that the service would refuse and all that the schema
// makes mandatory, as one [*ValidationError], and nil when the record may be
// sent. A record without a DOI passes, since the path of a request may name it. What
// is refused as JSON alone has [CodeJSON]: a record that is sent as XML does without
// it, with [ValidationError.Except].
func (r *Record) Validate() error { return faults(r.Findings()) }

// Findings returns what [Record.Validate] reports, and warnings: what the
// service takes but drops or changes, identifiers whose check digits are wrong,
// dates it cannot read, and what goes against the schema's prose. Findings come
// in the order of the record's properties.
func (r *Record) Findings() []Finding {
	c := &checker{}
	c.characters(nil, reflect.ValueOf(r).Elem())
	resourceElement.check(c, nil, r.withAlternates())
	return c.findings
}

// unwritable returns the error for a record that holds what XML cannot.
func (r *Record) unwritable() error {
	c := &checker{}
	c.characters(nil, reflect.ValueOf(r).Elem())
	return faults(c.findings)
}

// checker collects what is wrong with a record.
type checker struct {
	findings []Finding
}

// A path leads to a value of a record. It is written out for findings only.
type path struct {
	parent *path
	name   string
	index  int // of an item, when name is empty
}

// dot leads to a member, and to the value itself where it has no name.
func (p *path) dot(name string) *path {
	if name == "" {
		return p
	}
	return &path{parent: p, name: name}
}

func (p *path) item(i int) *path { return &path{parent: p, index: i} }

func (p *path) String() string {
	switch {
	case p == nil:
		return ""
	case p.name == "":
		return p.parent.String() + "[" + strconv.Itoa(p.index) + "]"
	case p.parent == nil:
		return p.name
	}
	return p.parent.String() + "." + p.name
}

// value checks a member of what p leads to.
func (c *checker) value(p *path, member, value string, d datatype) {
	var f *fault
	if d.fault != nil {
		f = d.fault(value)
	}
	if f == nil && d.warning != nil {
		f = d.warning(value)
	}
	if f != nil {
		c.add(p.dot(member), value, f)
	}
}

func (c *checker) fault(code Code, p *path, value, format string, args ...any) {
	c.add(p, value, newFault(code, format, args...))
}

func (c *checker) warn(code Code, p *path, value, format string, args ...any) {
	c.add(p, value, warning(code, fmt.Sprintf(format, args...)))
}

func (c *checker) add(p *path, value string, f *fault) {
	c.findings = append(c.findings, f.at(p, value))
}

// scheme applies the rule of an identifier's scheme, as a warning: the service
// has taken identifiers with wrong check digits.
func (c *checker) scheme(p *path, value string, s schemeRule) {
	if message := s.fault(xmlscan.Trim(value)); message != "" {
		c.warn(CodeScheme, p, value, "%s", message)
	}
}

// characters finds, in every string of a value, what an XML document cannot
// hold, and attributes and elements that cannot be added where they should be.
func (c *checker) characters(p *path, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if bad := xmlscan.BadChar(v.String()); bad >= 0 {
			c.fault(CodeText, p, v.String(), "XML cannot hold the character at byte %d; leave it out", bad)
		}
		if n := v.Len(); n > maxIndexed && !slices.Contains(indexedWords, p.name) {
			c.warn(CodeLimit, p, v.String(), "the service stores a DOI with this text of %d bytes, and shows it in no list and no audit: its index takes %d", n, maxIndexed)
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.characters(p.item(i), v.Index(i))
		}
	case reflect.Struct:
		switch v := v.Addr().Interface().(type) {
		case *NameIdentifier:
			c.extra(p.dot("Extra"), v.Extra, nameIdentifierElement.names)
		case *Affiliation:
			c.extra(p.dot("Extra"), v.Extra, affiliationElement.names)
		case *Description:
			c.breaks(p.dot("Breaks"), v)
		}
		for i := range v.NumField() {
			if field := v.Field(i); field.Kind() != reflect.String || field.Len() > maxIndexed || xmlscan.BadChar(field.String()) >= 0 {
				c.characters(p.dot(memberName(v.Type().Field(i))), field)
			}
		}
	}
}

// maxIndexed is how many bytes a text may have that the service's index takes as a
// whole; of the others it takes the words.
const maxIndexed = 32_766

var indexedWords = []string{"description", "givenName", "familyName", "funderName", "relationTypeInformation", "date"}

// memberName is how a field is called in a path, where an embedded one has no name.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.Anonymous && (name == "" || name == "-") {
		return f.Name
	}
	return name
}

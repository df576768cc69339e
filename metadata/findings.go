package metadata

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// Validate returns nil if the record may be sent. Otherwise it returns one
// [*datacite.ValidationError] with all values that the service would refuse and all missing
// mandatory values.
//
// A record without a DOI is valid, since the path of the request may name it. So is a
// record that the service accepts as XML only; Findings warns of it (code "json").
func (r *Record) Validate() error { return datacite.Invalid(r.findings(true)...) }

// Findings returns the errors of [Record.Validate], and warnings: values that the service
// accepts but drops or changes, identifiers with wrong check digits, unreadable dates, and
// values that the documentation of the schema advises against. They are in the order of the
// record's properties.
func (r *Record) Findings() []datacite.Finding { return r.findings(false) }

func (r *Record) findings(isStrict bool) []datacite.Finding {
	if r == nil {
		return []datacite.Finding{{Path: "record", Code: datacite.CodeMissing, Reason: "is nil"}}
	}
	c := &checker{isStrict: isStrict}
	c.characters(nil, reflect.ValueOf(r).Elem())
	resourceElement().check(c, nil, r)
	return c.findings
}

// checkWritable returns the error for a record that holds what XML cannot.
func (r *Record) checkWritable() error {
	c := &checker{isStrict: true}
	c.characters(nil, reflect.ValueOf(r).Elem())
	return datacite.Invalid(c.findings...)
}

// checker collects what is wrong with a record.
type checker struct {
	findings []datacite.Finding
	isStrict bool // warnings are left out
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
	if f == nil && d.warning != nil && !c.isStrict {
		f = d.warning(value)
	}
	if f == nil && !c.isStrict && value != "" && xmlscan.Trim(value) == "" {
		f = warning(datacite.CodeLossy, "this is only white space, which the service drops; leave it out")
	}
	if f != nil {
		c.add(p.dot(member), value, f)
	}
}

func (c *checker) fault(code datacite.Code, p *path, value, format string, args ...any) {
	c.add(p, value, newFault(code, format, args...))
}

func (c *checker) warn(code datacite.Code, p *path, value, format string, args ...any) {
	if !c.isStrict {
		c.add(p, value, warning(code, fmt.Sprintf(format, args...)))
	}
}

func (c *checker) add(p *path, value string, f *fault) {
	c.findings = append(c.findings, f.at(p, value))
}

// scheme applies the rule of an identifier's scheme, as a warning: the service
// accepts identifiers with wrong check digits.
func (c *checker) scheme(p *path, value string, s schemeRule) {
	if c.isStrict {
		return
	}
	if message := s.reason(xmlscan.Trim(value)); message != "" {
		c.warn(datacite.CodeScheme, p, value, "%s", message)
	}
}

// notInXML warns of a value that the service leaves out when it writes XML from JSON.
func (c *checker) notInXML(p *path, value string) {
	if value != "" {
		c.warn(datacite.CodeNotInXML, p, value,
			"if the record is sent as JSON, the service leaves this out of its XML; package mds sends XML")
	}
}

// ofJSON are the codes of findings about records that are sent as JSON.
var ofJSON = []datacite.Code{datacite.CodeJSON, datacite.CodeNotInJSON, datacite.CodeNotInXML}

// padded warns of an identifier that the service does not recognise in XML, where it removes
// white space only from some values.
func (c *checker) padded(p *path, value string) {
	if bare := xmlscan.Trim(value); bare != "" && bare != value {
		c.warn(datacite.CodeLossy, p, value,
			"if the record is sent as XML, the service drops this identifier with the white space around it")
	}
}

// characters finds characters that XML cannot contain in every string of a value, and
// attributes and elements that cannot be added.
func (c *checker) characters(p *path, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if bad := xmlscan.BadChar(v.String()); bad >= 0 {
			c.fault(datacite.CodeEncoding, p, v.String(), "XML cannot contain the character at byte %d; leave it out", bad)
		}
		if n := v.Len(); n > maxIndexed && !slices.Contains(indexedWords, p.name) {
			c.warn(datacite.CodeLimit, p, v.String(),
				"the text has %d bytes: the service stores the DOI but never lists it, because its index takes %d bytes at "+
					"most", n, maxIndexed)
		}
		if strings.Contains(v.String(), lost) {
			c.warn(datacite.CodeEncoding, p, v.String(),
				"the character U+FFFD stands where a program lost what was written; write the text again")
		}
		if hidden := invisible(p.name, v.String()); hidden != "" {
			c.warn(datacite.CodeInvisible, p, v.String(),
				"the service keeps the invisible character %+q and takes it for part of the text; leave it out", hidden)
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.characters(p.item(i), v.Index(i))
		}
	case reflect.Struct:
		switch v := v.Addr().Interface().(type) {
		case *NameIdentifier:
			c.extra(p, v.Extra, nameIdentifierElement().names)
		case *Affiliation:
			c.extra(p, v.Extra, affiliationElement().names)
		case *Description:
			c.breaks(p.dot("Breaks"), v)
		}
		for i, name := range memberNames(v.Type()) {
			if field := v.Field(i); field.Kind() != reflect.String || !isPlain(field.String()) {
				c.characters(p.dot(name), field)
			}
		}
	}
}

// isPlain reports whether a text is of ASCII and has nothing to find.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && !xmlscan.IsBlank(c) || c >= utf8.RuneSelf {
			return false
		}
	}
	return len(text) <= maxIndexed
}

const (
	lost      = "\ufffd"
	zeroWidth = "\u00ad\u200b\u200c\u200d\u2060" // within words, some scripts use them
	direction = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)

// invisible is the first invisible character of a text that has no purpose there: anywhere in
// an identifier, an address or a date, and at the ends of other texts. U+FEFF is not among
// them: the service removes it.
func invisible(name, text string) string {
	if codeName().MatchString(name) {
		return firstOf(text, zeroWidth+direction)
	}
	inner := strings.Trim(text, zeroWidth)
	if len(inner) == len(text) {
		return ""
	}
	return firstOf(strings.Replace(text, inner, "", 1), zeroWidth)
}

func firstOf(text, chars string) string {
	at := strings.IndexAny(text, chars)
	if at < 0 {
		return ""
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	return text[at : at+size]
}

var codeName = lazy.Regexp(`(?i)(?:^DOI|identifier|uri|^date|year|number|code)$`)

// maxIndexed is the longest text in bytes that the service's index takes, except for
// those of which it indexes the words.
const maxIndexed = 32_766

var indexedWords = []string{"description", "givenName", "familyName", "funderName", "relationTypeInformation", "date"}

var namesOfTypes sync.Map // what memberNames returned

// memberNames are how the fields of a struct are called in a path.
func memberNames(t reflect.Type) []string {
	names, ok := namesOfTypes.Load(t)
	if !ok {
		made := make([]string, t.NumField())
		for i := range made {
			made[i] = memberName(t.Field(i))
		}
		names, _ = namesOfTypes.LoadOrStore(t, made)
	}
	return names.([]string)
}

// memberName is how a field is called in a path, where an embedded one has no name.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.Anonymous && (name == "" || name == "-") {
		return f.Name
	}
	return name
}

package record

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

const (
	kernelNamespace = "http://datacite.org/schema/kernel-4"
	kernelSpaces    = "http://datacite.org/schema/kernel"
	xmlSpace        = "http://www.w3.org/XML/1998/namespace"
)

// blanks are the characters that XML counts as such.
const blanks = " \t\r\n"

// Document is a parsed text.
type Document struct {
	Root *element
	top  []*element // the pieces outside of other elements, the root among them
}

// element is a piece of XML: an element if it is tagged, and else text, a comment and
// the like.
type element struct {
	tag      string // the name as it is written; "" for other pieces
	name     name
	attrs    []attribute
	children []*element

	text   string // of a piece of text
	isText bool
	markup string // of other pieces, and of text in CDATA: as it is written

	line int // where the start tag ends
}

// name is a name without its prefix. An unbound prefix is its own namespace.
type name struct{ space, local string }

type attribute struct {
	tag, value string
	name       name
}

// All methods that read return nothing for a nil element.

func (e *element) lookUp(attr string) (value string, ok bool) {
	if e == nil {
		return "", false
	}
	i := slices.IndexFunc(e.attrs, func(a attribute) bool { return a.name.local == attr })
	if i < 0 {
		return "", false
	}
	return strings.TrimSpace(e.attrs[i].value), true
}

// elements are the elements in e.
func (e *element) elements(yield func(*element) bool) {
	if e == nil {
		return
	}
	for _, c := range e.children {
		if c.tag != "" && !yield(c) {
			return
		}
	}
}

func (e *element) each(name string) func(yield func(*element) bool) {
	return func(yield func(*element) bool) {
		for c := range e.elements {
			if c.name.local == name && !yield(c) {
				return
			}
		}
	}
}

// child is the first child of that name, nil if there is none.
func (e *element) child(name string) *element {
	for c := range e.each(name) {
		return c
	}
	return nil
}

func (e *element) ChildText(name string) string { return e.child(name).trimmed() }

func (e *element) trimmed() string { return strings.TrimSpace(e.words()) }

// words is the text below e, without comments.
func (e *element) words() string {
	var out strings.Builder
	e.gather(&out)
	return out.String()
}

func (e *element) gather(out *strings.Builder) {
	if e == nil {
		return
	}
	if e.isText {
		out.WriteString(e.text)
	}
	for _, c := range e.children {
		c.gather(out)
	}
}

// mixed says whether e directly contains text other than white space.
func (e *element) mixed() bool {
	return slices.ContainsFunc(e.children, func(c *element) bool { return c.isText && strings.Trim(c.text, blanks) != "" })
}

// walk visits e and the elements below, in order, until visit says no.
func (e *element) walk(visit func(*element) bool) bool {
	if e == nil {
		return true
	}
	if !visit(e) {
		return false
	}
	for c := range e.elements {
		if !c.walk(visit) {
			return false
		}
	}
	return true
}

// ReadXML parses a metadata record and checks it (specification §7: invalid
// XML is 422).
func ReadXML(source []byte) (*Document, error) {
	doc, err := parseXML(source)
	if err != nil {
		return nil, notWellFormed(err)
	}
	if err := checkRecord(doc.Root); err != nil {
		return nil, wire.Fail(http.StatusUnprocessableEntity, "%v", err)
	}
	return doc, nil
}

// identifier is the first element of that name in the namespace that the root
// declares for names without a prefix; nil if there is none.
func (doc *Document) identifier() (found *element) {
	bound := map[string]string{}
	for _, a := range slices.Backward(doc.Root.attrs) {
		if prefix, ok := a.binds(); ok {
			bound[prefix] = a.value
		}
	}
	doc.Root.walk(func(e *element) bool {
		prefix, local, prefixed := strings.Cut(e.tag, ":")
		if e.tag == "identifier" || prefixed && local == "identifier" && bound[""] != "" && bound[prefix] == bound[""] {
			found = e
		}
		return found == nil
	})
	return found
}

// IdentifierIn is the DOI that a document gives for itself, in whatever namespace.
func IdentifierIn(body []byte) (text string) {
	doc, err := parseXML(body)
	if err != nil {
		return ""
	}
	doc.Root.walk(func(e *element) bool {
		found := e.name.local == "identifier"
		if found {
			text = e.words()
		}
		return !found
	})
	return text
}

var (
	textEscapes  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
	valueEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;", "\r", "&#13;",
		"\t", "&#9;")
)

func escapeText(text string) string { return textEscapes.Replace(text) }

// bytes serializes the document.
func (doc *Document) bytes() []byte {
	var out bytes.Buffer
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>`)
	for _, e := range doc.top {
		out.WriteByte('\n')
		e.write(&out, "", true)
	}
	return bytes.TrimSpace(out.Bytes())
}

// write writes a piece. Pieces of an element without text get lines of their own.
func (e *element) write(out *bytes.Buffer, indent string, lines bool) {
	switch {
	case e.markup != "":
		out.WriteString(e.markup)
		return
	case e.tag == "":
		out.WriteString(escapeText(e.text))
		return
	}
	out.WriteString("<" + e.tag)
	for _, bindings := range []bool{true, false} {
		for _, a := range e.attrs {
			if _, binds := a.binds(); binds == bindings {
				out.WriteString(" " + a.tag + `="` + valueEscapes.Replace(a.value) + `"`)
			}
		}
	}
	if len(e.children) == 0 {
		out.WriteString("/>")
		return
	}
	out.WriteByte('>')
	lines = lines && !slices.ContainsFunc(e.children, func(c *element) bool { return c.isText })
	for _, c := range e.children {
		if lines {
			out.WriteString("\n" + indent + "  ")
		}
		c.write(out, indent+"  ", lines)
	}
	if lines {
		out.WriteString("\n" + indent)
	}
	out.WriteString("</" + e.tag + ">")
}

// legal drops the characters that XML does not allow.
func legal(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && !strings.ContainsRune(blanks, r) || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, text)
}

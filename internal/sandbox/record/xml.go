package record

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

const kernelNamespace = "http://datacite.org/schema/kernel-4"

// blanks are the characters that XML counts as such.
const blanks = " \t\r\n"

// element is one XML element with all that is in it.
type element struct {
	name     xml.Name
	attrs    []xml.Attr
	doc      *document
	from, to int  // where the text of this element and those below stands in the document's
	mixed    bool // text other than blanks stands directly in it
	children []*element
	line     int // of its start tag
}

func (e *element) attr(name string) string {
	if e == nil {
		return ""
	}
	i := slices.IndexFunc(e.attrs, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(e.attrs[i].Value)
}

// child is the first child of that name. It is nil if there is none, and every
// reading of a nil element is empty.
func (e *element) child(name string) *element {
	for c := range e.each(name) {
		return c
	}
	return nil
}

func (e *element) each(name string) func(yield func(*element) bool) {
	return func(yield func(*element) bool) {
		if e == nil {
			return
		}
		for _, c := range e.children {
			if c.name.Local == name && !yield(c) {
				return
			}
		}
	}
}

func (e *element) hasAttr(name string) bool {
	return slices.ContainsFunc(e.attrs, func(a xml.Attr) bool { return a.Name.Local == name })
}

// walk visits e and all below, in order.
func (e *element) walk(visit func(*element)) {
	visit(e)
	for _, c := range e.children {
		c.walk(visit)
	}
}

func (e *element) trimmed() string {
	if e == nil {
		return ""
	}
	return strings.TrimSpace(e.text())
}

// text is that of this element and those below, as in the document.
func (e *element) text() string { return e.doc.text.String()[e.from:e.to] }

func (e *element) ChildText(name string) string { return e.child(name).trimmed() }

// document is a parsed metadata record.
type document struct {
	Root *element
	text strings.Builder
	// Where the identifier element stands in the source.
	identifierStart, identifierText, identifierEnd int64
}

// ReadXML parses a metadata record and checks it (specification §7: invalid
// XML is 422).
func ReadXML(source []byte) (*document, error) {
	doc, err := parseXML(source)
	if err != nil {
		return nil, wire.Fail(http.StatusUnprocessableEntity, "XML is not well formed: %v", err)
	}
	if err := checkRecord(doc.Root); err != nil {
		return nil, wire.Fail(http.StatusUnprocessableEntity, "%v", err)
	}
	return doc, nil
}

func parseXML(source []byte) (*document, error) {
	p := xmlParser{dec: xml.NewDecoder(bytes.NewReader(source))}
	// The service takes every document for UTF-8, whatever it declares.
	p.dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		before := p.dec.InputOffset()
		tok, err := p.dec.Token()
		if err == nil {
			err = p.take(tok, before)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if p.doc.Root == nil {
		return nil, errors.New("no root element")
	}
	return &p.doc, nil
}

type xmlParser struct {
	dec  *xml.Decoder
	doc  document
	open []*element
}

func (p *xmlParser) take(tok xml.Token, before int64) error {
	switch tok := tok.(type) {
	case xml.StartElement:
		return p.start(tok, before)
	case xml.EndElement:
		if len(p.open) == 2 && tok.Name.Local == "identifier" {
			p.doc.identifierEnd = before
		}
		p.open[len(p.open)-1].to = p.doc.text.Len()
		p.open = p.open[:len(p.open)-1]
	case xml.CharData:
		blank := len(bytes.Trim(bytes.TrimPrefix(tok, wire.ByteOrderMark), blanks)) == 0
		if len(p.open) == 0 && !blank {
			return errors.New("text outside the root element")
		}
		if !blank {
			p.open[len(p.open)-1].mixed = true
		}
		p.doc.text.Write(tok)
	}
	return nil
}

func (p *xmlParser) start(tok xml.StartElement, before int64) error {
	if len(p.open) == wire.MaxElements {
		return fmt.Errorf("elements nested more than %d deep", wire.MaxElements)
	}
	line, _ := p.dec.InputPos()
	e := &element{name: tok.Name, attrs: tok.Copy().Attr, line: line, doc: &p.doc, from: p.doc.text.Len()}
	for i, a := range e.attrs {
		if slices.ContainsFunc(e.attrs[:i], func(b xml.Attr) bool { return a.Name == b.Name }) {
			return fmt.Errorf("attribute %s of %s given twice", a.Name.Local, tok.Name.Local)
		}
	}
	switch {
	case len(p.open) > 0:
		parent := p.open[len(p.open)-1]
		parent.children = append(parent.children, e)
	case p.doc.Root != nil:
		return fmt.Errorf("second root element %s", tok.Name.Local)
	default:
		p.doc.Root = e
	}
	p.open = append(p.open, e)
	if len(p.open) == 2 && tok.Name.Local == "identifier" {
		p.doc.identifierStart, p.doc.identifierText = before, p.dec.InputOffset()
	}
	return nil
}

// withIdentifier is the source with another DOI in its identifier element; the
// rest stays as it is.
func (doc *document) withIdentifier(source []byte, name string) []byte {
	var text bytes.Buffer
	_ = xml.EscapeText(&text, []byte(name))
	tag := source[doc.identifierStart:doc.identifierText]
	var out bytes.Buffer
	out.Write(source[:doc.identifierStart])
	if open, empty := bytes.CutSuffix(tag, []byte("/>")); empty {
		qualified := bytes.FieldsFunc(tag, func(r rune) bool { return strings.ContainsRune("</> \t\r\n", r) })[0]
		fmt.Fprintf(&out, "%s>%s</%s>", bytes.TrimRight(open, " \t\r\n"), text.Bytes(), qualified)
	} else {
		out.Write(tag)
		out.Write(text.Bytes())
	}
	out.Write(source[doc.identifierEnd:])
	return out.Bytes()
}

package record

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// parser reads XML into elements.
type parser struct {
	*Document
	source []byte
	*xml.Decoder
	open []*element
}

// parseXML reads a document, which must be well-formed.
func parseXML(source []byte) (*Document, error) {
	p := &parser{Document: &Document{}, source: source, Decoder: xml.NewDecoder(bytes.NewReader(source))}
	p.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // whatever it declares, it is UTF-8
	for {
		err := p.token()
		if err == io.EOF && p.Root == nil {
			err = errors.New("no root element")
		}
		switch syntax, ok := errors.AsType[*xml.SyntaxError](err); {
		case err == nil:
		case err == io.EOF:
			return p.Document, nil
		case ok:
			return nil, fmt.Errorf("line %d: %s", syntax.Line, syntax.Msg)
		default:
			line, _ := p.InputPos()
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// token reads the next piece.
func (p *parser) token() error {
	start := int(p.InputOffset())
	token, err := p.Token()
	if err != nil {
		return err
	}
	end := int(p.InputOffset())
	markup := func() *element { return &element{markup: newlines.Replace(string(p.source[start:end]))} }
	switch t := token.(type) {
	case xml.StartElement:
		line, _ := p.InputPos()
		return p.startTag(t, &element{line: line}, string(p.source[start+1:end]))
	case xml.EndElement:
		p.open = p.open[:len(p.open)-1]
	case xml.CharData:
		return p.text(string(t), start, end)
	case xml.ProcInst:
		switch {
		case t.Target != "xml":
			p.add(markup())
		case len(p.top) > 0:
			return errors.New("a second declaration")
		case !xmlVersion().Match(t.Inst):
			return errors.New("it is not XML 1.0")
		}
	case xml.Directive:
		if p.Root != nil || !bytes.HasPrefix(t, []byte("DOCTYPE")) {
			return errors.New("markup that is not allowed here")
		}
		p.add(markup())
	case xml.Comment:
		p.add(markup())
	}
	return nil
}

var (
	xmlVersion = lazy.Regexp(`\A\s*version\s*=\s*["']1\.0["']`)
	// attributeForm is an attribute with white space before it.
	attributeForm = lazy.Regexp(`\s([^\s=]+)\s*=\s*("[^"]*"|'[^']*')`)
	// newlines are what the ends of lines become.
	newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")
	// valueBlanks are the blanks of a value.
	valueBlanks = strings.NewReplacer("\n", " ", "\t", " ")
)

func (p *parser) startTag(t xml.StartElement, e *element, markup string) error {
	switch {
	case p.Root != nil && len(p.open) == 0:
		return errors.New("a second root element")
	case len(p.open) == wire.MaxElements:
		return fmt.Errorf("elements nested more than %d deep", wire.MaxElements)
	}
	e.tag, e.name = markup[:strings.IndexAny(markup, blanks+"/>")], name{t.Name.Space, t.Name.Local}
	if err := e.setAttributes(t.Attr, markup); err != nil {
		return err
	}
	if len(p.open) == 0 {
		p.Root = e
	}
	p.add(e)
	p.open = append(p.open, e)
	return nil
}

// setAttributes keeps the names as they are written, too.
func (e *element) setAttributes(attrs []xml.Attr, markup string) error {
	if len(attrs) == 0 {
		return nil
	}
	written, seen := attributeForm().FindAllStringSubmatch(markup, -1), map[xml.Name]bool{}
	if len(written) != len(attrs) {
		return errors.New("no white space between attributes")
	}
	for i, a := range attrs {
		if seen[a.Name] {
			return fmt.Errorf("attribute %s of %s given twice", written[i][1], e.tag)
		}
		seen[a.Name] = true
		value := a.Value
		if strings.ContainsAny(written[i][2], "\n\r\t") { // not as references, which stay
			value = valueBlanks.Replace(value)
		}
		e.attrs = append(e.attrs, attribute{written[i][1], value, name{a.Name.Space, a.Name.Local}})
	}
	return nil
}

func (p *parser) text(text string, start, end int) error {
	markup := p.source[start:end]
	data, blank := bytes.HasPrefix(markup, []byte("<![CDATA[")), strings.Trim(text, blanks) == ""
	switch {
	case len(p.open) == 0:
		if !blank && (start > 0 || strings.Trim(text, blanks) != string(wire.ByteOrderMark)) {
			return errors.New("text outside of the root element")
		}
	case data:
		p.add(&element{text: text, isText: true, markup: newlines.Replace(string(markup))})
	case !blank || !p.ignorable(end):
		p.add(&element{text: text, isText: true})
	}
	return nil
}

// ignorable says whether white space that ends here is no text, as between elements.
func (p *parser) ignorable(end int) bool {
	around := p.open[len(p.open)-1].children
	if len(around) == 0 {
		return !bytes.HasPrefix(p.source[end:], []byte("</"))
	}
	return !around[len(around)-1].isText && !around[0].isText
}

func (p *parser) add(e *element) {
	if len(p.open) == 0 {
		p.top = append(p.top, e)
		return
	}
	parent := p.open[len(p.open)-1]
	parent.children = append(parent.children, e)
}

// binds says whether the attribute binds a prefix to a namespace.
func (a attribute) binds() (prefix string, ok bool) {
	if a.tag == "xmlns" {
		return "", true
	}
	return strings.CutPrefix(a.tag, "xmlns:")
}

// namespace is the first one of DataCite's that any element declares.
func (doc *Document) namespace() (found string) {
	doc.Root.walk(func(e *element) bool {
		i := slices.IndexFunc(e.attrs, func(a attribute) bool {
			_, binds := a.binds()
			return binds && strings.HasPrefix(a.value, kernelSpaces)
		})
		if i >= 0 {
			found = e.attrs[i].value
		}
		return i < 0
	})
	return found
}

package metadata

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// ParseXML reads the XML document of a record (specification §2.3) in any version of the
// schema; [Record].SchemaVersion has the namespace.
//
// It also reads documents that the schema refuses: with elements in the wrong order, missing
// elements or unknown values. It skips unknown elements; [FindingsXML] lists them. White
// space around a value is removed, except in descriptions and rights; a name of only white
// space becomes one blank, which the schema accepts. Another place, point or box within one
// geoLocation starts a new one, because the service keeps one of each.
//
// The texts of the record share the memory of the document. XML that is not well formed, not
// UTF-8, longer than 10 MiB, nested too deep or without the root element of a record, or that
// has a document type declaration, is a [*datacite.ValidationError] with line and column. Any
// other error is that of the reader.
func ParseXML(r io.Reader) (*Record, error) { return parseXML(r, false) }

func parseXML(r io.Reader, padded bool) (*Record, error) {
	s, err := openXML(r)
	if err != nil {
		return nil, err
	}
	p := &parser{Scanner: s, padded: padded}
	rec := p.document()
	if err := syntaxError(s); err != nil {
		return nil, err
	}
	return rec, nil
}

// syntaxError is the error of a document that cannot be read, nil if it can.
func syntaxError(s *xmlscan.Scanner) error {
	err := s.Err()
	if err == nil {
		return nil
	}
	return datacite.Invalid(datacite.Finding{Code: datacite.CodeSyntax, Reason: err.Reason, Line: err.Line,
		Column: err.Column})
}

func openXML(r io.Reader) (*xmlscan.Scanner, error) {
	if r == nil {
		return nil, datacite.Invalidf("r", datacite.CodeMissing, "is nil")
	}
	s, err := xmlscan.Open(r)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	return s, nil
}

// parser builds a record from the tokens of a document.
type parser struct {
	*xmlscan.Scanner
	kernel string // the namespace of the record's elements
	padded bool   // keep white space around the texts of elements
	loose  string // text beside the children of the element read last
	breaks []int  // offsets of the <br/> elements in the content read last
}

// isKernel reports whether a namespace is that of a record. The oldest documents have none.
func isKernel(space string) bool {
	return space == "" || strings.HasPrefix(space, "http://datacite.org/schema/") ||
		strings.HasPrefix(space, "https://datacite.org/schema/") || strings.HasPrefix(space, "http://schema.datacite.org/")
}

func (p *parser) document() *Record {
	if p.Next() != xmlscan.StartTag {
		return nil
	}
	if p.Name != "resource" || !isKernel(p.Space) {
		p.Fail(p.Start, "the root element is not <resource xmlns=%q>", Namespace)
		return nil
	}
	p.kernel = p.Space
	rec := &Record{SchemaVersion: p.Space}
	resourceElement().read(p, rec)
	p.Next() // the scanner finds what does not belong behind the root
	return rec
}

// children returns the names of the elements inside the one just opened. Elements that the
// loop does not read, and those of other namespaces, are skipped.
func (p *parser) children() iter.Seq[string] {
	depth := p.Depth()
	p.loose = ""
	return func(yield func(string) bool) {
		for {
			switch p.Next() {
			case xmlscan.StartTag:
				if p.Depth() == depth+1 && p.Space == p.kernel && !yield(p.Name) {
					return
				}
			case xmlscan.EndTag:
				if p.Depth() < depth {
					return
				}
			case xmlscan.Text:
				if p.Depth() == depth && xmlscan.Trim(p.Text) != "" {
					p.loose = p.Text
				}
			case xmlscan.End:
				return
			}
		}
	}
}

// content reads the text of the element just opened, up to its end. Text of
// elements inside belongs to it, and a <br/> is a line feed.
func (p *parser) content() string {
	depth := p.Depth()
	p.breaks = nil
	var first string
	var more strings.Builder
	add := func(s string) {
		if first == "" {
			first = s
			return
		}
		more.WriteString(s)
	}
	for {
		switch p.Next() {
		case xmlscan.Text:
			add(p.Text)
		case xmlscan.StartTag:
			if p.Name == "br" {
				p.breaks = append(p.breaks, len(first)+more.Len())
				add("\n")
			}
		case xmlscan.EndTag:
			if p.Depth() < depth {
				return first + more.String()
			}
		case xmlscan.End:
			return ""
		}
	}
}

// textOf is the content of an element without insignificant white space.
func (p *parser) textOf(s spaces) string {
	text := p.content()
	if s == preserved || p.padded {
		return text
	}
	value := xmlscan.Trim(text)
	if value == "" && text != "" && s == oneBlank {
		return " "
	}
	return value
}

// attributeValue returns an attribute of the tag just read.
func (p *parser) attributeValue(space, name string) string {
	for i := range p.Attrs {
		if p.Attrs[i].Name == name && p.Attrs[i].Space == space {
			return xmlscan.Trim(p.Attrs[i].Value)
		}
	}
	return ""
}

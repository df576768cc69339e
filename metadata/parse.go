package metadata

import (
	"io"
	"iter"
	"strings"
)

// ParseXML reads the XML document of a record, as the metadata store keeps it
// (specification §2.3).
//
// It reads every version of the schema, with any prefix and with or without a
// byte order mark; [Record].SchemaVersion says which one it was. It reads what
// the schema would refuse: parts in the wrong order, missing parts, unknown
// values. Elements it does not know are stepped over; [CheckXML] lists them.
// White space around a value is dropped, except in descriptions and rights. Where
// the schema takes a blank for a name, the name is a blank.
//
// A place, point or box that comes again within one geoLocation starts a
// further one, because the service keeps only one of each.
//
// The texts of the record share the memory of the document.
//
// The error is a [*SyntaxError], or that of the reader.
func ParseXML(r io.Reader) (*Record, error) {
	s, err := readDocument(r)
	if err != nil {
		return nil, err
	}
	p := &parser{scanner: s}
	rec := p.document()
	if p.err != nil {
		return nil, p.err
	}
	return rec, nil
}

// parser builds a record from the tokens of a document.
type parser struct {
	*scanner
	kernel string // the namespace of the record's elements
	loose  string // text beside the children of the element read last
	breaks []int  // offsets of the <br/> elements in the content read last
}

// isKernel reports whether a namespace is that of a record. Documents without
// any are about as old as the schema.
func isKernel(space string) bool {
	return space == "" || strings.HasPrefix(space, "http://datacite.org/schema/") ||
		strings.HasPrefix(space, "https://datacite.org/schema/") || strings.HasPrefix(space, "http://schema.datacite.org/")
}

func (p *parser) document() *Record {
	if p.err != nil || p.next() != startTag {
		return nil
	}
	if p.name != "resource" || !isKernel(p.space) {
		p.fail(p.start, "the root element is not <resource xmlns=%q>", Namespace)
		return nil
	}
	p.kernel = p.space
	rec := &Record{SchemaVersion: Text(p.space)}
	resourceElement.read(p, rec)
	for p.next() != endOfDocument {
		continue // the scanner finds what does not belong behind the root
	}
	return rec
}

// children steps through the elements inside the one just opened. What the loop
// does not read of an element, and elements of other namespaces, are skipped.
func (p *parser) children() iter.Seq[string] {
	depth := len(p.open)
	p.loose = ""
	return func(yield func(string) bool) {
		for {
			switch p.next() {
			case startTag:
				if len(p.open) == depth+1 && p.space == p.kernel && !yield(p.name) {
					return
				}
			case endTag:
				if len(p.open) < depth {
					return
				}
			case characters:
				if len(p.open) == depth && trim(p.text) != "" {
					p.loose = p.text
				}
			case endOfDocument:
				return
			}
		}
	}
}

// content reads the text of the element just opened, up to its end. Text of
// elements inside belongs to it, and a <br/> is a line feed.
func (p *parser) content() string {
	depth := len(p.open)
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
		switch p.next() {
		case characters:
			add(p.text)
		case startTag:
			if p.name == "br" {
				p.breaks = append(p.breaks, len(first)+more.Len())
				add("\n")
			}
		case endTag:
			if len(p.open) < depth {
				return first + more.String()
			}
		case endOfDocument:
			return ""
		}
	}
}

// textOf is the content of an element, without the white space that means nothing.
func (p *parser) textOf(s spaces) string {
	text := p.content()
	if s == preserved {
		return text
	}
	value := trim(text)
	if value == "" && text != "" && s == oneBlank {
		return " "
	}
	return value
}

// attributeValue returns an attribute of the tag just read.
func (p *parser) attributeValue(space, name string) string {
	for i := range p.attrs {
		if p.attrs[i].name == name && p.attrs[i].space == space {
			return trim(p.attrs[i].value)
		}
	}
	return ""
}

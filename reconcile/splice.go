package reconcile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
	"github.com/datacite-go/datacite-go/metadata"
)

// A span is a part of a document.
type span struct{ start, end int }

// elementOf is the element of a property.
func elementOf(property string) string {
	if property == "types" {
		return "resourceType"
	}
	return property
}

// replaced returns a document with other elements for some properties. All else stays byte for byte.
func replaced(document []byte, with *metadata.Record, properties []string) ([]byte, error) {
	source := bytes.TrimPrefix(document, []byte("\ufeff"))
	places, root, err := elements(string(source))
	if err != nil {
		return nil, err
	}
	data, err := pick(with, properties).XML()
	if err != nil {
		return nil, err
	}
	fresh, _, err := elements(string(data))
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, property := range properties {
		name, text := elementOf(property), ""
		for _, at := range fresh[name] {
			text = qualified(string(data[at.start:at.end]), name, root.prefixed)
		}
		for i, at := range places[name] {
			if edits = append(edits, edit{at, ""}); i == 0 {
				edits[len(edits)-1].text = text
			}
		}
		if len(places[name]) == 0 && text != "" {
			edits = append(edits, edit{span{root.end, root.end}, "  " + text + "\n"})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	out, done := document[:len(document)-len(source):len(document)-len(source)], 0
	for _, e := range edits {
		if out = append(out, source[done:e.start]...); e.text == "" { // with the blanks before it
			out = bytes.TrimRight(out, " \t\r\n")
		}
		out, done = append(out, e.text...), e.end
	}
	return append(out, source[done:]...), nil
}

// An edit is what a part of a document is replaced with.
type edit struct {
	span
	text string
}

// qualified declares the namespace where that of the document has a prefix.
func qualified(element, name string, prefixed bool) string {
	if !prefixed {
		return element
	}
	return "<" + name + ` xmlns="` + metadata.Namespace + `"` + strings.TrimPrefix(element, "<"+name)
}

// A root is the outermost element.
type root struct {
	end      int  // where its end tag begins
	prefixed bool // the default namespace is another one
}

// elements are the elements within the root, by their names.
func elements(source string) (map[string][]span, root, error) {
	all, found := map[string][]span{}, root{}
	s := xmlscan.Stored(source)
	var name string
	var start int
	for {
		switch s.Next() {
		case xmlscan.StartTag:
			switch s.Depth() {
			case 1:
				found.prefixed = !strings.HasPrefix(source[s.Start:], "<"+s.Name)
			case 2:
				name, start = s.Name, s.Start
			}
		case xmlscan.EndTag:
			switch s.Depth() {
			case 1:
				all[name] = append(all[name], span{start, s.Stop()})
			case 0:
				if found.end = s.Start; strings.HasPrefix(source[s.Start:], "</") {
					return all, found, nil
				}
				return nil, found, errors.New("the stored XML has no properties")
			}
		case xmlscan.End:
			if err := s.Err(); err != nil {
				return nil, found, fmt.Errorf("the stored XML cannot be corrected: %w", err)
			}
			return nil, found, errors.New("the stored XML has no root element")
		}
	}
}

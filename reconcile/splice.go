package reconcile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
	"github.com/datacite-go/datacite-go/metadata"
)

// A span is a part of a document: an element, with those in it.
type span struct {
	start, end int
	inside     []span
}

func (s span) of(document string) string { return document[s.start:s.end] }

// elementOf is the element of a property.
func elementOf(property string) string {
	if property == "types" {
		return "resourceType"
	}
	return property
}

// replaced returns a document with other elements for some properties. All else stays byte for byte, and
// so do the items of a list that are those of the stored record, which is that of the document.
func replaced(document []byte, stored, with *metadata.Record, properties []string) ([]byte, error) {
	source := strings.TrimPrefix(string(document), "\ufeff")
	places, root, err := elements(source)
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
			text = qualified(at.of(string(data)), name, root.prefixed)
			if len(places[name]) == 1 {
				text = items{source, places[name][0], field(stored, property)}.keptIn(items{string(data), at,
					field(with, property)}, root.prefixed, text)
			}
		}
		for i, at := range places[name] {
			if edits = append(edits, edit{at, ""}); i == 0 {
				edits[len(edits)-1].text = text
			}
		}
		if len(places[name]) == 0 && text != "" {
			edits = append(edits, edit{span{root.end, root.end, nil}, "  " + text + "\n"})
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

// The items of a list, in the element that a document has for it.
type items struct {
	document string
	element  span
	list     reflect.Value
}

// known reports whether each item is known by its place.
func (l items) known() bool {
	return l.list.Kind() == reflect.Slice && l.list.Len() > 0 && l.list.Len() == len(l.element.inside)
}

// keptIn is the element of other items, in which those that stay are as they are stored; text if none stays.
func (l items) keptIn(other items, prefixed bool, text string) string {
	if !l.known() || !other.known() {
		return text
	}
	places := map[string][]int{}
	for j := range l.list.Len() {
		key := inJSON(l.list.Index(j))
		places[key] = append(places[key], j)
	}
	first, last := l.element.inside[0], l.element.inside[len(l.element.inside)-1]
	start := l.document[l.element.start:first.start]
	between, stays := start[strings.LastIndexByte(start, '>')+1:], false
	var out strings.Builder
	out.WriteString(start)
	for i, at := range other.element.inside {
		value := other.list.Index(i)
		key, item := inJSON(value), at.of(other.document)
		n := slices.IndexFunc(places[key], func(j int) bool {
			return reflect.DeepEqual(l.list.Index(j).Interface(), value.Interface())
		})
		if n >= 0 {
			item, stays = l.element.inside[places[key][n]].of(l.document), true
			places[key] = slices.Delete(places[key], n, n+1)
		} else {
			item = qualified(item, item[1:strings.IndexAny(item, " />")], prefixed)
		}
		if i > 0 {
			out.WriteString(between)
		}
		out.WriteString(item)
	}
	if !stays {
		return text
	}
	out.WriteString(l.document[last.end:l.element.end])
	return out.String()
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
	var property span
	var item int
	for {
		switch s.Next() {
		case xmlscan.StartTag:
			switch s.Depth() {
			case 1:
				found.prefixed = !strings.HasPrefix(source[s.Start:], "<"+s.Name)
			case 2:
				name, property = s.Name, span{start: s.Start}
			case 3:
				item = s.Start
			}
		case xmlscan.EndTag:
			switch s.Depth() {
			case 2:
				property.inside = append(property.inside, span{item, s.Stop(), nil})
			case 1:
				property.end = s.Stop()
				all[name] = append(all[name], property)
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

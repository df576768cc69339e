package record

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Property is a member of a record in JSON, or of an object in a record, by the metadata schema,
// version 4.7.
type Property struct {
	Name  string // in JSON; "" if only XML has it
	List  bool
	Path  []Step // the elements in XML, from that of the property around it
	Attr  string // the attribute that holds the value, with its prefix; "" if it is the text
	Must  bool   // the attribute is required
	Index string // how the search index compares it; "" if not indexed

	Inside []*Property

	inXML bool
	notes []string
}

// A Step is an element on the way to a property.
type Step struct {
	Name  string
	Least int // how many there must be
}

// InXML says whether XML has the property.
func (p *Property) InXML() bool { return p.inXML }

// Is says whether the property has that note.
func (p *Property) Is(note string) bool { return slices.Contains(p.notes, note) }

// Note is the value of a note such as "text=year", "" without one.
func (p *Property) Note(name string) string {
	for _, note := range p.notes {
		if value, found := strings.CutPrefix(note, name+"="); found {
			return value
		}
	}
	return ""
}

// HasText says whether the element of an object has a text of its own.
func (p *Property) HasText() bool {
	return slices.ContainsFunc(p.Inside, func(in *Property) bool { return in.inXML && in.Attr == "" && len(in.Path) == 0 })
}

// Find is the property of a record with that name, nil if the table lacks it.
func Find(name string) *Property {
	i := slices.IndexFunc(Properties(), func(p *Property) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return Properties()[i]
}

// Properties are those of a record.
var Properties = sync.OnceValue(func() []*Property { return read(table) })

// read reads a table, one property a line; those of an object are indented by two spaces.
func read(table string) []*Property {
	levels := []*Property{{}}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) < 3 {
			continue
		}
		depth := 1 + (len(line)-len(strings.TrimLeft(line, " ")))/2
		p := &Property{inXML: words[1] != "-", notes: words[3:]}
		p.Name, p.List = strings.CutSuffix(strings.TrimPrefix(words[0], "-"), "[]")
		p.Index = strings.TrimPrefix(words[2], "-")
		p.readPath(words[1])
		around := levels[depth-1]
		around.Inside = append(around.Inside, p)
		levels = append(levels[:depth], p)
	}
	return levels[0].Inside
}

// readPath reads a path such as "creators!/creator!", "funderIdentifier@schemeURI" or
// "polygonPoint!4"; "." is the element of the property around.
func (p *Property) readPath(text string) {
	if text == "-" || text == "." {
		return
	}
	elements, attr, _ := strings.Cut(text, "@")
	p.Attr, p.Must = strings.CutSuffix(attr, "!")
	if elements == "" {
		return
	}
	for step := range strings.SplitSeq(elements, "/") {
		name, least, must := strings.Cut(step, "!")
		n := 0
		if must {
			n = 1
		}
		if count, err := strconv.Atoi(least); err == nil {
			n = count
		}
		p.Path = append(p.Path, Step{name, n})
	}
}

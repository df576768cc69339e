package record

import (
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// AttributesOf turns a metadata record in XML into the members of the JSON
// record (specification §2.2).
func AttributesOf(root *element) object {
	o := trimmedTexts(membersOf(root, true)).(object)
	o["types"] = typesOf(o["types"].(object))
	return o
}

// trimmedTexts is v with its texts trimmed.
func trimmedTexts(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case object:
		for name, inside := range v {
			v[name] = trimmedTexts(inside)
		}
	case []any:
		for i, inside := range v {
			v[i] = trimmedTexts(inside)
		}
	}
	return v
}

// membersOf reads the members that the schema has, untrimmed. empty says whether an
// element without a text is "" rather than missing.
func membersOf(root *element, empty bool) object {
	o := xmlReader{empty}.object(root, Properties())
	o["schemaVersion"] = root.name.space
	if o["types"] == nil {
		o["types"] = object{}
	}
	for _, name := range []string{"language", "version"} {
		if wire.IsBlank(wire.String(o[name])) {
			delete(o, name)
		}
	}
	delete(o, "publicationYear")
	if year, err := strconv.Atoi(root.ChildText("publicationYear")); err == nil {
		o["publicationYear"] = float64(year)
	}
	return o
}

type xmlReader struct{ empty bool }

func (r xmlReader) object(e *element, of []*Property) object {
	o := object{}
	for _, p := range of {
		if p.Name == "" || !p.InXML() {
			continue
		}
		if v := r.value(e, p); v != nil {
			o[p.Name] = v
		}
	}
	return o
}

// value is the value of a property in an element, nil if it is absent.
func (r xmlReader) value(e *element, p *Property) any {
	if p.Name == "geoLocationPolygon" {
		return polygonsOf(e)
	}
	for i, step := range p.Path {
		if p.List && i == len(p.Path)-1 {
			return r.list(e, step.Name, p)
		}
		e = e.child(step.Name)
	}
	if e == nil {
		return nil
	}
	if p.Attr != "" {
		if value, there := e.lookUp(strings.TrimPrefix(p.Attr, "xml:")); there {
			return value
		}
		return nil
	}
	text := e.words()
	lang, named := e.lookUp("lang")
	switch {
	case p.Name == "awardTitle" && named:
		return object{"lang": lang, "__content__": text} // as the service's parser has it
	case p.Inside != nil && p.HasText():
		return r.object(e, p.Inside)
	case p.Inside != nil:
		return coordinates(e)
	case text == "" && !r.empty:
		return nil
	}
	return text
}

func (r xmlReader) list(e *element, name string, p *Property) []any {
	out := []any{}
	for c := range e.each(name) {
		if p.Inside != nil {
			out = append(out, r.object(c, p.Inside))
		} else {
			out = append(out, c.words())
		}
	}
	return out
}

// polygonsOf is the list of points of a polygon, or a list of such lists if there are
// several polygons.
func polygonsOf(e *element) any {
	var out []any
	for polygon := range e.each("geoLocationPolygon") {
		points := []any{}
		for p := range polygon.elements {
			points = append(points, object{p.name.local: coordinates(p)})
		}
		out = append(out, points)
	}
	return unwrapped(out)
}

// coordinates are an object, or a string in old schemas.
func coordinates(e *element) any {
	if e.mixed() {
		return e.words()
	}
	o := object{}
	for c := range e.elements {
		o[c.name.local] = c.words()
	}
	return o
}

package record

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// kernelXML is the XML that the deployed service writes for a record in JSON. Some members
// are dropped: bolognese lib/bolognese/datacite_utils.rb.
func kernelXML(o object, doi string) []byte {
	root := tagged("resource", nil, tagged("identifier", doi).with("identifierType", "DOI"))
	root.writeMembers(asWritten(), completed(o))
	root.attrs = []attribute{
		{tag: "xmlns:xsi", value: schemaSpace},
		{tag: "xmlns", value: kernelNamespace},
		{tag: "xsi:schemaLocation", value: kernelNamespace + " http://schema.datacite.org/meta/kernel-4/metadata.xsd"},
	}
	return append((&Document{top: []*element{root}}).bytes(), '\n')
}

// asWritten are the properties in the order in which the service writes them.
var asWritten = sync.OnceValue(func() []*Property {
	items := Find("relatedItems")
	order := slices.DeleteFunc(slices.Clone(Properties()), func(p *Property) bool { return p == items })
	return slices.Insert(order, 1+slices.Index(order, Find("relatedIdentifiers")), items)
})

// writeMembers adds the members of an object, or a string in its place, to an element.
func (e *element) writeMembers(of []*Property, v any) {
	for _, p := range of {
		if p.Name != "" && p.InXML() && !p.Is("lost") {
			e.writeMember(p, v)
		}
	}
}

func (e *element) writeMember(p *Property, of any) {
	value := Member(of, p.Name)
	switch {
	case p.Name == "geoLocationPolygon":
		if value != nil {
			e.children = append(e.children, inElement(p.Name, value, func(v any) *element {
				point := &element{}
				point.writeMembers(p.Inside, v)
				return slices.Concat(point.children, []*element{nil})[0]
			}))
		}
	case p.Attr != "":
		e.writeAttribute(p, value)
	case len(p.Path) == 0:
		if text, ok := of.(string); ok {
			value = text
		}
		e.children = append(e.children, tagged("", value).children...)
	case p.List:
		e.writeList(p, listed(value))
	case p.Is("always"), p.Inside != nil && !p.HasText() && value != nil, isPresent(value):
		c := &element{tag: p.Path[0].Name}
		if p.Inside == nil {
			c = tagged(c.tag, value)
		}
		if parsed, ok := value.(object); ok && p.Inside == nil { // written as attributes, as its writer takes an object
			c.with("lang", parsed["lang"]).with("__content__", parsed["__content__"])
		}
		c.writeMembers(p.Inside, value)
		e.children = append(e.children, c)
	}
}

// writeAttribute writes an attribute of the element, or of a child. Without the child it
// is dropped, unless it is always written.
func (e *element) writeAttribute(p *Property, value any) {
	if len(p.Path) == 0 {
		if p.Is("always") {
			value = textOf(value)
		}
		e.with(p.Attr, value)
		return
	}
	tag := p.Path[0].Name
	i := slices.IndexFunc(e.children, func(c *element) bool { return c.tag == tag })
	if i < 0 && p.Is("always") && isPresent(value) {
		i, e.children = len(e.children), append(e.children, &element{tag: tag})
	}
	if i >= 0 {
		e.children[i].with(p.Attr, value)
	}
}

func (e *element) writeList(p *Property, items []any) {
	if len(p.Path) > 1 && (len(items) > 0 || p.Is("always")) {
		wrapper := &element{tag: p.Path[0].Name}
		e.children = append(e.children, wrapper)
		e = wrapper
	}
	for _, v := range items {
		if v == nil {
			continue
		}
		c := &element{tag: p.Path[len(p.Path)-1].Name}
		if p.Inside == nil {
			c = tagged(c.tag, v)
		}
		c.writeMembers(p.Inside, v)
		e.children = append(e.children, c)
	}
}

// completed is a record with the defaults that the service writes for missing members.
func completed(o object) object {
	o = maps.Clone(o)
	o["creators"], o["contributors"] = changed(o["creators"], indexed), changed(o["contributors"], indexed)
	o["dates"] = changed(o["dates"], func(d object) { orElse(d, "dateType", "Issued") })
	o["descriptions"] = changed(o["descriptions"], func(d object) { orElse(d, "descriptionType", "Abstract") })
	o["relatedItems"] = changed(o["relatedItems"], func(item object) {
		item["creators"] = changed(item["creators"], indexed)
		item["contributors"] = changed(item["contributors"], func(person object) {
			indexed(person)
			orElse(person, "contributorType", "Other")
		})
	})
	o["identifiers"] = slices.DeleteFunc(changed(o["identifiers"], func(object) {}), func(id any) bool {
		return Member(id, "identifierType") == "DOI"
	})
	if title := Member(o["container"], "title"); isPresent(title) {
		if len(listed(o["descriptions"])) == 0 {
			o["descriptions"] = []any{nil} // an empty element
		}
		if p, _ := o["publisher"].(object); p["name"] == nil {
			p = maps.Clone(p)
			if p == nil {
				p = object{}
			}
			p["name"] = title
			o["publisher"] = p
		}
	}
	if types := o["types"]; Member(types, "resourceTypeGeneral") == nil {
		delete(o, "types")
		if schema := wire.String(Member(types, "schemaOrg")); schema != "" {
			o["types"] = object{"resourceTypeGeneral": cmp.Or(generalOf[schema], "Other"),
				"resourceType": Member(types, "resourceType")}
		}
	}
	return o
}

// changed copies a list and applies a change to each object.
func changed(list any, change func(object)) []any {
	out := []any{}
	for _, v := range listed(list) {
		if o, ok := v.(object); ok {
			o = maps.Clone(o)
			change(o)
			v = o
		}
		out = append(out, v)
	}
	return out
}

func orElse(o object, name, value string) { o[name] = cmp.Or(wire.String(o[name]), value) }

// indexed gives a person a name in the form "Family, Given".
func indexed(person object) {
	if family := person["familyName"]; isPresent(family) {
		person["name"] = family
		if given := person["givenName"]; given != nil {
			person["name"] = textOf(family) + ", " + textOf(given)
		}
	}
}

// tagged is an element with a text, or with children; nil ones are left out.
func tagged(tag string, text any, children ...*element) *element {
	e := &element{tag: tag}
	if text := legal(strings.ToValidUTF8(textOf(text), "")); text != "" {
		e.children = []*element{{text: text, isText: true}}
	}
	for _, c := range children {
		if c != nil {
			e.children = append(e.children, c)
		}
	}
	return e
}

// with adds an attribute to the element, if there is a value.
func (e *element) with(name string, value any) *element {
	if e != nil && value != nil {
		e.attrs = append(e.attrs, attribute{tag: name, value: legal(strings.ToValidUTF8(textOf(value), ""))})
	}
	return e
}

// textOf is a JSON value as a string.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// Member is a member of v, nil if v is not an object.
func Member(v any, path ...string) any {
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

// listed is a value as a list: a single value is its only item.
func listed(v any) []any {
	switch v := v.(type) {
	case nil:
		return []any{}
	case []any:
		return v
	}
	return []any{v}
}

func inElement(tag string, list any, item func(any) *element) *element {
	var children []*element
	for _, v := range listed(list) {
		children = append(children, item(v))
	}
	return tagged(tag, nil, children...)
}

// containerOf is the container that the service derives from an item in which the
// record is published, or from a description of the series:
// bolognese lib/bolognese/utils.rb (generate_container, get_series_information).
func containerOf(o object) any {
	container := object{"type": "Series"}
	if Member(o["types"], "resourceTypeGeneral") == "Dataset" {
		container["type"] = "DataRepository"
	}
	set := func(name string, v any) {
		if v != nil && v != "" {
			container[name] = v
		}
	}
	for _, item := range listed(o["relatedItems"]) {
		if Member(item, "relationType") != "IsPublishedIn" {
			continue
		}
		set("identifier", Member(item, "relatedItemIdentifier", "relatedItemIdentifier"))
		set("identifierType", Member(item, "relatedItemIdentifier", "relatedItemIdentifierType"))
		for _, title := range listed(Member(item, "titles")) {
			set("title", Member(title, "title"))
			break
		}
		for name := range strings.FieldsSeq("volume issue edition number firstPage lastPage") {
			set(name, Member(item, name))
		}
		if Member(item, "numberType") == "Chapter" {
			set("chapterNumber", Member(item, "number"))
		}
		return container
	}
	for _, d := range listed(o["descriptions"]) {
		if Member(d, "descriptionType") != "SeriesInformation" {
			continue
		}
		s := seriesIn(wire.String(Member(d, "description")))
		if s["title"] == nil {
			return nil
		}
		for name, v := range s {
			set(name, v)
		}
		for _, r := range listed(o["relatedIdentifiers"]) {
			if Member(r, "relationType") == "IsPartOf" {
				set("identifier", Member(r, "relatedIdentifier"))
				set("identifierType", Member(r, "relatedIdentifierType"))
				break
			}
		}
		return container
	}
	return nil
}

// seriesIn reads "Title, 3(4), 5-6".
func seriesIn(text string) object {
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = slices.Delete(parts, len(parts)-1, len(parts))
	}
	s := object{}
	set := func(name, value string) {
		if value != "" {
			s[name] = value
		}
	}
	if len(parts) == 0 {
		return s
	}
	set("title", parts[0])
	if len(parts) > 2 {
		volume, rest, bracketed := strings.Cut(parts[1], "(")
		set("volume", volume)
		if issue, _, closed := strings.Cut(rest, ")"); bracketed && closed {
			set("issue", issue)
		}
	}
	if len(parts) > 1 {
		from, to, _ := strings.Cut(parts[len(parts)-1], "-")
		set("firstPage", strings.TrimSpace(from))
		set("lastPage", strings.TrimSpace(to))
	}
	return s
}

func isPresent(v any) bool { return !wire.IsAbsent(v) }

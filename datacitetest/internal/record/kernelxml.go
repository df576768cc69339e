package record

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// kernelXML is the XML that the deployed service makes of a record in JSON. It does
// not say all that the record says: bolognese lib/bolognese/datacite_utils.rb.
func kernelXML(o object, doi string) []byte {
	root := tagged("resource", nil,
		tagged("identifier", doi).with("identifierType", "DOI"),
		inElement("creators", o["creators"], personIn("creator")),
		inElement("titles", o["titles"], titleIn),
		publisherIn(o),
		tagged("publicationYear", o["publicationYear"]),
		resourceTypeIn(o["types"]),
		filledWrapper("subjects", o["subjects"], itemIn("subject", "subject",
			"subjectScheme", "schemeURI=schemeUri", "valueURI=valueUri", "classificationCode", "xml:lang=lang")),
		filledWrapper("contributors", o["contributors"], func(v any) *element {
			return personIn("contributor")(v).with("contributorType", member(v, "contributorType"))
		}),
		filledWrapper("dates", o["dates"], func(v any) *element {
			return tagged("date", member(v, "date")).with("dateType", cmp.Or(wire.String(member(v, "dateType")), "Issued")).
				with("dateInformation", member(v, "dateInformation"))
		}),
		present("language", o["language"]),
		filledWrapper("alternateIdentifiers", o["identifiers"], func(v any) *element {
			if member(v, "identifierType") == "DOI" {
				return nil
			}
			return tagged("alternateIdentifier", member(v, "identifier")).with("alternateIdentifierType", textOf(member(v, "identifierType")))
		}),
		filledWrapper("relatedIdentifiers", o["relatedIdentifiers"], itemIn("relatedIdentifier", "relatedIdentifier",
			"relatedIdentifierType", "relationType", "relationTypeInformation", "resourceTypeGeneral")),
		filledWrapper("relatedItems", o["relatedItems"], relatedItemIn),
		inElement("sizes", o["sizes"], func(v any) *element { return tagged("size", v) }),
		inElement("formats", o["formats"], func(v any) *element { return tagged("format", v) }),
		tagged("version", o["version"]),
		filledWrapper("rightsList", o["rightsList"], itemIn("rights", "rights",
			"rightsURI=rightsUri", "rightsIdentifier", "rightsIdentifierScheme", "schemeURI=schemeUri", "xml:lang=lang")),
		descriptionsIn(o),
		filledWrapper("geoLocations", o["geoLocations"], placeIn),
		filledWrapper("fundingReferences", o["fundingReferences"], fundingIn),
	)
	root.attrs = []attribute{
		{tag: "xmlns:xsi", value: schemaSpace},
		{tag: "xmlns", value: kernelNamespace},
		{tag: "xsi:schemaLocation", value: kernelNamespace + " http://schema.datacite.org/meta/kernel-4/metadata.xsd"},
	}
	return append((&Document{top: []*element{root}}).bytes(), '\n')
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

// with is the element with one more attribute, if there is a value.
func (e *element) with(name string, value any) *element {
	if e != nil && value != nil {
		e.attrs = append(e.attrs, attribute{tag: name, value: legal(strings.ToValidUTF8(textOf(value), ""))})
	}
	return e
}

// present is the element of a text that is not empty, and else nil.
func present(tag string, text any) *element {
	if !isPresent(text) {
		return nil
	}
	return tagged(tag, text)
}

// textOf is a value of JSON as a text.
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

// member is a member of an object; what is none has none.
func member(v any, path ...string) any {
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

// listed is a value as a list: what is none is the only item of one.
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

// filledWrapper is left out if the list is empty.
func filledWrapper(tag string, list any, item func(any) *element) *element {
	if e := inElement(tag, list, item); len(e.children) > 0 {
		return e
	}
	return nil
}

// itemIn makes an element of an object, or of a text in its place. An attribute
// is written as in "schemeURI=schemeUri" if the member has another name.
func itemIn(tag, text string, attrs ...string) func(any) *element {
	return func(v any) *element {
		if s, ok := v.(string); ok {
			return tagged(tag, s)
		}
		e := tagged(tag, member(v, text))
		for _, a := range attrs {
			name, from, renamed := strings.Cut(a, "=")
			if !renamed {
				from = name
			}
			e.with(name, member(v, from))
		}
		return e
	}
}

var titleIn = itemIn("title", "title", "titleType", "xml:lang=lang")

func personIn(kind string) func(any) *element {
	return func(v any) *element {
		name := member(v, "name")
		if family := member(v, "familyName"); isPresent(family) {
			name = family
			if given := member(v, "givenName"); given != nil {
				name = textOf(family) + ", " + textOf(given)
			}
		}
		e := tagged(kind, nil, tagged(kind+"Name", name).with("nameType", member(v, "nameType")),
			present("givenName", member(v, "givenName")), present("familyName", member(v, "familyName")))
		for _, id := range listed(member(v, "nameIdentifiers")) {
			e.children = append(e.children, tagged("nameIdentifier", member(id, "nameIdentifier")).
				with("nameIdentifierScheme", textOf(member(id, "nameIdentifierScheme"))).with("schemeURI", textOf(member(id, "schemeUri"))))
		}
		for _, a := range listed(member(v, "affiliation")) {
			e.children = append(e.children, tagged("affiliation", member(a, "name")).
				with("affiliationIdentifier", member(a, "affiliationIdentifier")).
				with("affiliationIdentifierScheme", member(a, "affiliationIdentifierScheme")).with("schemeURI", member(a, "schemeUri")))
		}
		return e
	}
}

func publisherIn(o object) *element {
	p := o["publisher"]
	name := member(p, "name")
	if name == nil {
		name = member(o["container"], "title")
	}
	return tagged("publisher", name).with("publisherIdentifier", member(p, "publisherIdentifier")).
		with("publisherIdentifierScheme", member(p, "publisherIdentifierScheme")).
		with("schemeURI", member(p, "schemeUri")).with("xml:lang", member(p, "lang"))
}

func resourceTypeIn(types any) *element {
	general, schema := wire.String(member(types, "resourceTypeGeneral")), wire.String(member(types, "schemaOrg"))
	if member(types, "resourceTypeGeneral") == nil && schema == "" {
		return nil
	}
	if member(types, "resourceTypeGeneral") == nil {
		general = cmp.Or(generalOf[schema], "Other")
	}
	return tagged("resourceType", member(types, "resourceType")).with("resourceTypeGeneral", general)
}

func descriptionsIn(o object) *element {
	e := inElement("descriptions", o["descriptions"], func(v any) *element {
		return itemIn("description", "description", "xml:lang=lang")(v).
			with("descriptionType", cmp.Or(wire.String(member(v, "descriptionType")), "Abstract"))
	})
	if len(e.children) == 0 && !isPresent(member(o["container"], "title")) {
		return nil
	}
	return e
}

func relatedItemIn(v any) *element {
	e := &element{tag: "relatedItem"}
	for _, name := range []string{"relatedItemType", "relationType", "relationTypeInformation"} {
		e.with(name, member(v, name))
	}
	add := func(c *element) {
		if c != nil {
			e.children = append(e.children, c)
		}
	}
	if id := member(v, "relatedItemIdentifier"); isPresent(id) {
		add(itemIn("relatedItemIdentifier", "relatedItemIdentifier",
			"relatedItemIdentifierType", "relatedMetadataScheme", "schemeURI", "schemeType")(id))
	}
	add(filledWrapper("creators", member(v, "creators"), personIn("creator")))
	add(inElement("titles", member(v, "titles"), titleIn))
	for name := range strings.FieldsSeq("publicationYear volume issue number firstPage lastPage publisher edition") {
		c := present(name, member(v, name))
		if name == "number" && c != nil {
			c.with("numberType", member(v, "numberType"))
		}
		add(c)
	}
	add(filledWrapper("contributors", member(v, "contributors"), func(p any) *element {
		return personIn("contributor")(p).with("contributorType", cmp.Or(wire.String(member(p, "contributorType")), "Other"))
	}))
	return e
}

func placeIn(v any) *element {
	e := &element{tag: "geoLocation"}
	coordinates := func(tag string, of any, names ...string) *element {
		c := &element{tag: tag}
		for _, name := range names {
			c.children = append(c.children, tagged(name, member(of, name)))
		}
		return c
	}
	point := func(tag string, of any) *element { return coordinates(tag, of, "pointLatitude", "pointLongitude") }
	if place := member(v, "geoLocationPlace"); place != nil {
		e.children = append(e.children, tagged("geoLocationPlace", place))
	}
	if p := member(v, "geoLocationPoint"); p != nil {
		e.children = append(e.children, point("geoLocationPoint", p))
	}
	if b := member(v, "geoLocationBox"); b != nil {
		e.children = append(e.children, coordinates("geoLocationBox", b, boxSides...))
	}
	if polygon := member(v, "geoLocationPolygon"); polygon != nil {
		e.children = append(e.children, inElement("geoLocationPolygon", polygon, func(v any) *element {
			if p := member(v, "polygonPoint"); p != nil {
				return point("polygonPoint", p)
			}
			return point("inPolygonPoint", member(v, "inPolygonPoint"))
		}))
	}
	return e
}

func fundingIn(v any) *element {
	e := tagged("fundingReference", nil, tagged("funderName", member(v, "funderName")))
	if id := member(v, "funderIdentifier"); isPresent(id) {
		e.children = append(e.children, tagged("funderIdentifier", id).with("funderIdentifierType", member(v, "funderIdentifierType")))
	}
	if number, address := member(v, "awardNumber"), member(v, "awardUri"); isPresent(number) || isPresent(address) {
		e.children = append(e.children, tagged("awardNumber", number).with("awardURI", address))
	}
	if title := present("awardTitle", member(v, "awardTitle")); title != nil {
		e.children = append(e.children, title)
	}
	return e
}

// containerOf is the container that the service makes of an item in which the
// record is published, or of a description of the series:
// bolognese lib/bolognese/utils.rb (generate_container, get_series_information).
func containerOf(o object) any {
	container := object{"type": "Series"}
	if member(o["types"], "resourceTypeGeneral") == "Dataset" {
		container["type"] = "DataRepository"
	}
	set := func(name string, v any) {
		if v != nil && v != "" {
			container[name] = v
		}
	}
	for _, item := range listed(o["relatedItems"]) {
		if member(item, "relationType") != "IsPublishedIn" {
			continue
		}
		set("identifier", member(item, "relatedItemIdentifier", "relatedItemIdentifier"))
		set("identifierType", member(item, "relatedItemIdentifier", "relatedItemIdentifierType"))
		for _, title := range listed(member(item, "titles")) {
			set("title", member(title, "title"))
			break
		}
		for name := range strings.FieldsSeq("volume issue edition number firstPage lastPage") {
			set(name, member(item, name))
		}
		if member(item, "numberType") == "Chapter" {
			set("chapterNumber", member(item, "number"))
		}
		return container
	}
	for _, d := range listed(o["descriptions"]) {
		if member(d, "descriptionType") != "SeriesInformation" {
			continue
		}
		s := seriesIn(wire.String(member(d, "description")))
		if s["title"] == nil {
			return nil
		}
		for name, v := range s {
			set(name, v)
		}
		for _, r := range listed(o["relatedIdentifiers"]) {
			if member(r, "relationType") == "IsPartOf" {
				set("identifier", member(r, "relatedIdentifier"))
				set("identifierType", member(r, "relatedIdentifierType"))
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

package record

import (
	"maps"
	"strconv"
	"strings"
)

// fields are members and the XML attributes they come from, as in "lang
// schemeUri=schemeURI".
type fields string

// of makes an object of the attributes of e that are there.
func (f fields) of(e *element) object {
	o := object{}
	for field := range strings.FieldsSeq(string(f)) {
		member, attribute, renamed := strings.Cut(field, "=")
		if !renamed {
			attribute = member
		}
		if value, there := e.lookUp(attribute); there {
			o[member] = value
		}
	}
	return o
}

// list makes one object of each child of that name: its text as the member text, and
// its attributes. Without a member it makes a text.
func list(e *element, name, text string, f fields) []any {
	out := []any{}
	for c := range e.each(name) {
		if text == "" {
			out = append(out, c.words())
			continue
		}
		o := f.of(c)
		o[text] = c.words()
		out = append(out, o)
	}
	return out
}

// lists are the members that are lists of texts with attributes.
var lists = []struct {
	member, wrapper, name, text string
	fields                      fields
}{
	{"titles", "titles", "title", "title", "titleType lang"},
	{"subjects", "subjects", "subject", "subject", "subjectScheme schemeUri=schemeURI valueUri=valueURI classificationCode lang"},
	{"dates", "dates", "date", "date", "dateType dateInformation"},
	{"identifiers", "alternateIdentifiers", "alternateIdentifier", "identifier", "identifierType=alternateIdentifierType"},
	{"relatedIdentifiers", "relatedIdentifiers", "relatedIdentifier", "relatedIdentifier", "relatedIdentifierType relationType " +
		"resourceTypeGeneral relatedMetadataScheme schemeUri=schemeURI schemeType relationTypeInformation"},
	{"sizes", "sizes", "size", "", ""},
	{"formats", "formats", "format", "", ""},
	{"rightsList", "rightsList", "rights", "rights", "rightsUri=rightsURI schemeUri=schemeURI rightsIdentifier rightsIdentifierScheme lang"},
	{"descriptions", "descriptions", "description", "description", "descriptionType lang"},
}

// AttributesOf turns a metadata record in XML into the members of the JSON
// record (specification §2.2).
func AttributesOf(root *element) object {
	o := trimmedTexts(membersOf(root)).(object)
	o["types"] = typesOf(o["types"].(object))
	return o
}

// trimmedTexts has no blanks around the texts in v.
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

// membersOf is AttributesOf with the blanks around texts, and nothing derived.
func membersOf(root *element) object {
	o := object{
		"creators":          people(root, "creators", "creator", "creatorName"),
		"contributors":      people(root, "contributors", "contributor", "contributorName"),
		"publisher":         publisherOf(root.child("publisher")),
		"types":             object{"resourceTypeGeneral": root.child("resourceType").attr("resourceTypeGeneral"), "resourceType": root.child("resourceType").words()},
		"geoLocations":      places(root),
		"fundingReferences": funding(root),
		"relatedItems":      relatedItems(root),
		"schemaVersion":     root.name.space,
		"language":          textOrNull(root, "language"),
		"version":           textOrNull(root, "version"),
	}
	for _, l := range lists {
		o[l.member] = list(root.child(l.wrapper), l.name, l.text, l.fields)
	}
	if year, err := strconv.Atoi(root.ChildText("publicationYear")); err == nil {
		o["publicationYear"] = float64(year)
	}
	return o
}

func textOrNull(e *element, name string) any {
	if e.ChildText(name) == "" {
		return nil
	}
	return e.child(name).words()
}

func publisherOf(e *element) any {
	if e == nil {
		return nil
	}
	o := fields("publisherIdentifier publisherIdentifierScheme schemeUri=schemeURI lang").of(e)
	o["name"] = e.words()
	return o
}

func people(e *element, wrapper, name, nameElement string) []any {
	out := []any{}
	for c := range e.child(wrapper).each(name) {
		o := fields("contributorType").of(c)
		maps.Copy(o, fields("nameType lang").of(c.child(nameElement)))
		o["name"] = c.child(nameElement).words()
		copyTexts(o, c, "givenName", "familyName")
		o["nameIdentifiers"] = list(c, "nameIdentifier", "nameIdentifier", "nameIdentifierScheme schemeUri=schemeURI")
		o["affiliation"] = list(c, "affiliation", "name", "affiliationIdentifier affiliationIdentifierScheme schemeUri=schemeURI")
		out = append(out, o)
	}
	return out
}

func funding(root *element) []any {
	out := []any{}
	for e := range root.child("fundingReferences").each("fundingReference") {
		o := fields("funderIdentifierType schemeUri=schemeURI").of(e.child("funderIdentifier"))
		if award := e.child("awardNumber"); award.attr("awardURI") != "" {
			o["awardUri"] = award.attr("awardURI")
		}
		copyTexts(o, e, "funderName", "funderIdentifier", "awardNumber", "awardTitle")
		out = append(out, o)
	}
	return out
}

// copyTexts copies the texts of the children that are there.
func copyTexts(o object, e *element, names ...string) {
	for _, name := range names {
		if e.child(name) != nil {
			o[name] = e.child(name).words()
		}
	}
}

func places(root *element) []any {
	out := []any{}
	for e := range root.child("geoLocations").each("geoLocation") {
		o := object{}
		copyTexts(o, e, "geoLocationPlace")
		for _, name := range []string{"geoLocationPoint", "geoLocationBox"} {
			if c := e.child(name); c != nil {
				o[name] = coordinates(c)
			}
		}
		if polygons := polygonsOf(e); len(polygons) == 1 {
			o["geoLocationPolygon"] = polygons[0]
		} else if len(polygons) > 1 {
			o["geoLocationPolygon"] = polygons
		}
		out = append(out, o)
	}
	return out
}

func polygonsOf(e *element) []any {
	var out []any
	for polygon := range e.each("geoLocationPolygon") {
		points := []any{}
		for p := range polygon.elements {
			points = append(points, object{p.name.local: coordinates(p)})
		}
		out = append(out, points)
	}
	return out
}

// coordinates are an object, or the text that stands in place of one.
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

func relatedItems(root *element) []any {
	out := []any{}
	for e := range root.child("relatedItems").each("relatedItem") {
		o := fields("relatedItemType relationType relationTypeInformation").of(e)
		if id := e.child("relatedItemIdentifier"); id != nil {
			// Here the JSON record has schemeURI in capitals.
			inside := fields("relatedItemIdentifierType relatedMetadataScheme schemeURI schemeType").of(id)
			inside["relatedItemIdentifier"] = id.words()
			o["relatedItemIdentifier"] = inside
		}
		o["titles"] = list(e.child("titles"), "title", "title", "titleType lang")
		o["creators"] = people(e, "creators", "creator", "creatorName")
		o["contributors"] = people(e, "contributors", "contributor", "contributorName")
		copyTexts(o, e, "publicationYear", "volume", "issue", "number", "firstPage", "lastPage", "publisher", "edition")
		if number := e.child("number"); number.attr("numberType") != "" {
			o["numberType"] = number.attr("numberType")
		}
		out = append(out, o)
	}
	return out
}

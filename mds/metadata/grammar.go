package metadata

// What may stand inside an element.
type contentKind int

const (
	textOnly contentKind = iota
	anyOrder             // elements, each as often as its child says
	inOrder              // elements in the order of the children
	mixed                // text and elements
	nothing
	untyped // anything: the schema gives the element no type
)

// An elementRule says what the schema asks of an element, and where the element
// is in the JSON form of a record.
type elementRule struct {
	name     string
	step     step   // from the parent's path to the element's
	member   string // from there to the text
	kind     contentKind
	text     rule // nil lets any text pass
	attrs    []attributeRule
	children []child
	missing  string // what to say when the element is mandatory and missing
}

// textPath leads to the text of the element at p.
func (e *elementRule) textPath(p *path) *path {
	if e.member == "" {
		return p
	}
	return p.dot(e.member)
}

// A step is a part of a JSON path: a member, an item of a list, or both.
type step struct {
	member string
	item   bool
	tail   string // member of the item
}

func (s step) from(p *path, index int) *path {
	if s.member != "" {
		p = p.dot(s.member)
	}
	if s.item {
		p = p.item(index)
	}
	if s.tail != "" {
		p = p.dot(s.tail)
	}
	return p
}

type child struct {
	*elementRule
	min  int
	many bool
}

func one(e *elementRule) child   { return child{e, 1, false} }
func maybe(e *elementRule) child { return child{e, 0, false} }
func some(e *elementRule) child  { return child{e, 1, true} }
func many(e *elementRule) child  { return child{e, 0, true} }

type attributeRule struct {
	name      string
	member    string // in JSON
	mandatory bool
	rule      rule // nil lets any value pass
}

func must(name string, r rule) attributeRule { return attributeRule{name, name, true, r} }
func may(name string, r rule) attributeRule  { return attributeRule{name, name, false, r} }

var (
	lang      = attributeRule{"xml:lang", "lang", false, optional(languageRule)}
	schemeURI = attributeRule{"schemeURI", "schemeUri", false, uriRule}
)

func wrapper(name string, children ...child) *elementRule {
	return &elementRule{name: name, step: step{member: name}, kind: inOrder, children: children}
}

// item is an entry of a list whose text is one of its members.
func item(name, member string, text rule, attrs ...attributeRule) *elementRule {
	return &elementRule{name: name, step: step{item: true}, member: member, text: text, attrs: attrs}
}

// entry is an entry of a list that has elements inside.
func entry(name string, kind contentKind, attrs []attributeRule, children ...child) *elementRule {
	return &elementRule{name: name, step: step{item: true}, kind: kind, attrs: attrs, children: children}
}

// flat is an element whose text and attributes are members of the same object.
func flat(name, member string, text rule, attrs ...attributeRule) *elementRule {
	return &elementRule{name: name, member: member, text: text, attrs: attrs}
}

func free(name string) *elementRule {
	return &elementRule{name: name, member: name, kind: untyped}
}

// named is an element that is a member, with its text in a member of its own.
func named(name, member, textMember string, text rule, attrs ...attributeRule) *elementRule {
	return &elementRule{name: name, step: step{member: member}, member: textMember, text: text, attrs: attrs}
}

func (e *elementRule) orSay(missing string) *elementRule {
	e.missing = missing
	return e
}

const (
	noCreator = "a record needs a creator; where nobody can be named, write the name :unkn"
	noTitle   = "a record needs a title; where there is none, write :unav"
)

func identifierRule(_ *CheckOptions, value string) *fault {
	if trim(value) == "" {
		return newFault(CodeIdentifier, "the identifier is empty; the schema wants the DOI, the service takes it from the path of the request")
	}
	return nil
}

func identifierTypeRule(_ *CheckOptions, value string) *fault {
	if value == "DOI" {
		return nil
	}
	return &fault{LevelWarning, CodeIdentifier, "the identifier of a record is a DOI, and its type is DOI"}
}

var nameAttributes = []attributeRule{may("nameType", nameTypeRule), lang}

func nameOf(element string, text rule) child {
	return one(flat(element, "name", text, nameAttributes...))
}

// agentParts are the elements beside the name of a creator or contributor.
func agentParts(name child) []child {
	return []child{
		name, maybe(free("givenName")), maybe(free("familyName")),
		many(&elementRule{
			name: "nameIdentifier", step: step{member: "nameIdentifiers", item: true}, member: "nameIdentifier", kind: untyped,
			attrs: []attributeRule{may("nameIdentifierScheme", nil), {"schemeURI", "schemeUri", false, nil}},
		}),
		many(&elementRule{
			name: "affiliation", step: step{member: "affiliation", item: true}, member: "name", kind: untyped,
			attrs: []attributeRule{
				may("affiliationIdentifier", nil), may("affiliationIdentifierScheme", nil), {"schemeURI", "schemeUri", false, nil},
			},
		}),
	}
}

// resourceRule is the root of the schema.
var resourceRule = &elementRule{name: "resource", kind: anyOrder, children: []child{
	one(flat("identifier", "doi", identifierRule, must("identifierType", identifierTypeRule))),
	one(wrapper("creators", some(entry("creator", inOrder, nil, agentParts(nameOf("creatorName", creatorNameRule))...).orSay(noCreator))).orSay(noCreator)),
	one(wrapper("titles", some(item("title", "title", titleRule, may("titleType", titleTypeRule), lang).orSay(noTitle))).orSay(noTitle)),
	one(named("publisher", "publisher", "", publisherRule,
		may("publisherIdentifier", nil), may("publisherIdentifierScheme", nil), schemeURI, lang)),
	one(flat("publicationYear", "publicationYear", yearRule)),
	one(named("resourceType", "types", "resourceType", nil, must("resourceTypeGeneral", resourceTypeRule))),
	maybe(wrapper("subjects", many(item("subject", "subject", nil, may("subjectScheme", nil), schemeURI,
		attributeRule{"valueURI", "valueUri", false, uriRule}, may("classificationCode", uriRule), lang)))),
	maybe(wrapper("contributors", many(entry("contributor", inOrder, []attributeRule{must("contributorType", contributorTypeRule)},
		agentParts(nameOf("contributorName", contributorNameRule))...)))),
	maybe(wrapper("dates", many(item("date", "date", nil, must("dateType", dateTypeRule), may("dateInformation", nil))))),
	maybe(flat("language", "language", languageRule)),
	maybe(wrapper("alternateIdentifiers", many(item("alternateIdentifier", "alternateIdentifier", nil,
		must("alternateIdentifierType", alternateTypeRule))))),
	maybe(wrapper("relatedIdentifiers", many(item("relatedIdentifier", "relatedIdentifier", nil,
		must("relatedIdentifierType", relatedIDTypeRule), must("relationType", relationTypeRule),
		may("resourceTypeGeneral", resourceTypeRule), may("relatedMetadataScheme", nil), schemeURI, may("schemeType", nil),
		may("relationTypeInformation", nil))))),
	maybe(wrapper("sizes", many(item("size", "", nil)))),
	maybe(wrapper("formats", many(item("format", "", nil)))),
	maybe(flat("version", "version", nil)),
	maybe(wrapper("rightsList", many(item("rights", "rights", rightsRule,
		attributeRule{"rightsURI", "rightsUri", false, uriRule}, may("rightsIdentifier", nil), may("rightsIdentifierScheme", nil),
		schemeURI, lang)))),
	maybe(wrapper("descriptions", many(descriptionElement))),
	maybe(wrapper("geoLocations", many(geoLocationElement))),
	maybe(wrapper("fundingReferences", many(fundingElement))),
	maybe(wrapper("relatedItems", many(relatedItemElement))),
}}

var descriptionElement = &elementRule{
	name: "description", step: step{item: true}, member: "description", kind: mixed,
	attrs:    []attributeRule{must("descriptionType", descriptionTypeRule), lang},
	children: []child{many(&elementRule{name: "br", kind: nothing})},
}

func coordinates(names []string, rules ...rule) []child {
	var out []child
	for i, name := range names {
		out = append(out, one(flat(name, name, rules[i])))
	}
	return out
}

func pointElement(name string, s step) *elementRule {
	return &elementRule{name: name, step: s, kind: anyOrder,
		children: coordinates([]string{"pointLongitude", "pointLatitude"}, longitudeRule, latitudeRule)}
}

var geoLocationElement = entry("geoLocation", anyOrder, nil,
	many(free("geoLocationPlace")),
	many(pointElement("geoLocationPoint", step{member: "geoLocationPoint"})),
	many(&elementRule{
		name: "geoLocationBox", step: step{member: "geoLocationBox"}, kind: anyOrder,
		children: coordinates([]string{"westBoundLongitude", "eastBoundLongitude", "southBoundLatitude", "northBoundLatitude"},
			longitudeRule, longitudeRule, latitudeRule, latitudeRule),
	}),
	many(&elementRule{
		name: "geoLocationPolygon", step: step{member: "geoLocationPolygon"}, kind: inOrder,
		children: []child{
			{pointElement("polygonPoint", step{item: true, tail: "polygonPoint"}), minPolygonPoints, true},
			maybe(pointElement("inPolygonPoint", step{item: true, tail: "inPolygonPoint"})),
		},
	}),
)

var fundingElement = entry("fundingReference", anyOrder, nil,
	one(flat("funderName", "funderName", funderNameRule)),
	maybe(flat("funderIdentifier", "funderIdentifier", nil, must("funderIdentifierType", funderIDTypeRule), schemeURI)),
	maybe(flat("awardNumber", "awardNumber", nil, attributeRule{"awardURI", "awardUri", false, uriRule})),
	maybe(free("awardTitle")),
)

var relatedItemElement = entry("relatedItem", inOrder,
	[]attributeRule{must("relatedItemType", resourceTypeRule), must("relationType", relationTypeRule), may("relationTypeInformation", nil)},
	maybe(named("relatedItemIdentifier", "relatedItemIdentifier", "relatedItemIdentifier", nil,
		may("relatedItemIdentifierType", relatedIDTypeRule), may("relatedMetadataScheme", nil),
		attributeRule{"schemeURI", "schemeURI", false, uriRule}, may("schemeType", nil))),
	maybe(wrapper("creators", many(entry("creator", inOrder, nil,
		nameOf("creatorName", creatorNameRule), maybe(free("givenName")), maybe(free("familyName")))))),
	maybe(wrapper("titles", many(item("title", "title", titleRule, may("titleType", titleTypeRule), lang)))),
	maybe(flat("publicationYear", "publicationYear", yearRule)),
	maybe(free("volume")), maybe(free("issue")),
	maybe(flat("number", "number", nil, may("numberType", numberTypeRule))),
	maybe(free("firstPage")), maybe(free("lastPage")), maybe(free("publisher")), maybe(free("edition")),
	maybe(wrapper("contributors", many(entry("contributor", inOrder, []attributeRule{must("contributorType", contributorTypeRule)},
		nameOf("contributorName", contributorNameRule), maybe(free("givenName")), maybe(free("familyName")))))),
)

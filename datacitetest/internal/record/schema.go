package record

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// shape says what an element of the metadata schema may hold. A nil shape is
// an element with text alone.
type shape struct {
	children map[string]*shape
	order    []string // children in the order they must have; nil: any order
	need     []string // children that must be there
	once     []string // children that may not be repeated
	attrs    []string // attributes it may have; "!" marks one it must have
	text     func(string) (fault string)
	mixed    bool // text between the children
	empty    bool // neither text nor children
	open     bool // the schema leaves it untyped: anything may be inside
}

var (
	yearForm     = regexp.MustCompile(`^[0-9]{4}$`)
	languageForm = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`)
	floatForm    = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
)

func IsYear(text string) bool { return yearForm.MatchString(strings.TrimSpace(text)) }

func year(text string) string {
	if IsYear(text) {
		return ""
	}
	return fmt.Sprintf(`[facet 'pattern'] The value '%s' is not accepted by the pattern '[\d]{4}'.`, text)
}

func language(text string) string {
	if languageForm.MatchString(strings.TrimSpace(text)) {
		return ""
	}
	return fmt.Sprintf("'%s' is not a valid value of the atomic type 'xs:language'.", text)
}

func filled(text string) string {
	if text != "" {
		return ""
	}
	return "[facet 'minLength'] The value has a length of '0'; this underruns the allowed minimum length of '1'."
}

// degrees is a number of degrees; the schema has single precision.
func degrees(kind string, most float64) func(string) string {
	return func(text string) string {
		trimmed := strings.TrimSpace(text)
		n, err := strconv.ParseFloat(trimmed, 32)
		switch n := float64(float32(n)); {
		case err != nil && !errors.Is(err, strconv.ErrRange), !floatForm.MatchString(trimmed):
			return fmt.Sprintf("'%s' is not a valid value of the atomic type '{%s}%s'.", text, kernelNamespace, kind)
		case n > most:
			return fmt.Sprintf("[facet 'maxInclusive'] The value '%s' is greater than the maximum value allowed ('%v').", text, most)
		case n < -most:
			return fmt.Sprintf("[facet 'minInclusive'] The value '%s' is less than the minimum value allowed ('-%v').", text, most)
		}
		return ""
	}
}

var latitude, longitude = degrees("latitudeType", 90), degrees("longitudeType", 180)

// wrapper is an element around others of one name.
func wrapper(name string, of *shape, need ...string) *shape {
	return &shape{children: map[string]*shape{name: of}, order: []string{name}, need: need}
}

// sequence is an element whose children have a fixed order and, but for those
// in many, come once.
func sequence(children map[string]*shape, order, many, need []string) *shape {
	once := slices.DeleteFunc(slices.Clone(order), func(name string) bool { return slices.Contains(many, name) })
	return &shape{children: children, order: order, once: once, need: need}
}

var (
	anything   = &shape{open: true}
	titleShape = &shape{attrs: []string{"titleType", "lang"}}
	pointShape = &shape{
		children: map[string]*shape{"pointLongitude": {text: longitude}, "pointLatitude": {text: latitude}},
		need:     []string{"pointLongitude", "pointLatitude"},
		once:     []string{"pointLongitude", "pointLatitude"},
	}
)

// person is a creator or a contributor. Within a related item people have no
// identifiers and affiliations.
func person(nameElement string, text func(string) string, more ...string) *shape {
	children := map[string]*shape{
		nameElement: {text: text, attrs: []string{"nameType", "lang"}}, "givenName": anything, "familyName": anything,
	}
	for _, name := range more {
		children[name] = anything
	}
	order := append([]string{nameElement, "givenName", "familyName"}, more...)
	p := sequence(children, order, more, []string{nameElement})
	if nameElement == "contributorName" {
		p.attrs = []string{"contributorType!"}
	}
	return p
}

var properties = strings.Fields(`identifier creators titles publisher publicationYear resourceType subjects contributors
	dates language alternateIdentifiers relatedIdentifiers sizes formats version rightsList descriptions geoLocations
	fundingReferences relatedItems`)

// kernelShape is the metadata schema, kernel 4, but for the syntax of URIs and
// one rule: the identifier may be empty (specification §2.3).
var kernelShape = &shape{
	need: properties[:6],
	once: properties,
	children: map[string]*shape{
		"identifier":      {attrs: []string{"identifierType!"}},
		"creators":        wrapper("creator", person("creatorName", nil, "nameIdentifier", "affiliation"), "creator"),
		"titles":          wrapper("title", titleShape, "title"),
		"publisher":       {text: filled, attrs: []string{"publisherIdentifier", "publisherIdentifierScheme", "schemeURI", "lang"}},
		"publicationYear": {text: year},
		"resourceType":    {attrs: []string{"resourceTypeGeneral!"}},
		"subjects": wrapper("subject", &shape{
			attrs: []string{"subjectScheme", "schemeURI", "valueURI", "classificationCode", "lang"},
		}),
		"contributors":         wrapper("contributor", person("contributorName", filled, "nameIdentifier", "affiliation")),
		"dates":                wrapper("date", &shape{attrs: []string{"dateType!", "dateInformation"}}),
		"language":             {text: language},
		"alternateIdentifiers": wrapper("alternateIdentifier", &shape{attrs: []string{"alternateIdentifierType!"}}),
		"relatedIdentifiers": wrapper("relatedIdentifier", &shape{attrs: []string{
			"relatedIdentifierType!", "relationType!", "relatedMetadataScheme", "schemeURI", "schemeType",
			"resourceTypeGeneral", "relationTypeInformation",
		}}),
		"sizes":   wrapper("size", nil),
		"formats": wrapper("format", nil),
		"version": nil,
		"rightsList": wrapper("rights", &shape{
			attrs: []string{"rightsURI", "rightsIdentifier", "rightsIdentifierScheme", "schemeURI", "lang"},
		}),
		"descriptions": wrapper("description", &shape{
			children: map[string]*shape{"br": {empty: true}}, order: []string{"br"}, mixed: true,
			attrs: []string{"descriptionType!", "lang"},
		}),
		"geoLocations":      wrapper("geoLocation", geoLocationShape),
		"fundingReferences": wrapper("fundingReference", fundingShape),
		"relatedItems":      wrapper("relatedItem", relatedItemShape()),
	},
}

var boxSides = []string{"westBoundLongitude", "eastBoundLongitude", "southBoundLatitude", "northBoundLatitude"}

var geoLocationShape = &shape{children: map[string]*shape{
	"geoLocationPlace": anything,
	"geoLocationPoint": pointShape,
	"geoLocationBox": {
		children: map[string]*shape{
			boxSides[0]: {text: longitude}, boxSides[1]: {text: longitude},
			boxSides[2]: {text: latitude}, boxSides[3]: {text: latitude},
		},
		need: boxSides, once: boxSides,
	},
	"geoLocationPolygon": {
		children: map[string]*shape{"polygonPoint": pointShape, "inPolygonPoint": pointShape},
		order:    []string{"polygonPoint", "inPolygonPoint"}, once: []string{"inPolygonPoint"},
		need: []string{"polygonPoint", "polygonPoint", "polygonPoint", "polygonPoint"},
	},
}}

var fundingShape = &shape{
	children: map[string]*shape{
		"funderName":       {text: filled},
		"funderIdentifier": {attrs: []string{"funderIdentifierType!", "schemeURI"}},
		"awardNumber":      {attrs: []string{"awardURI"}},
		"awardTitle":       {open: true, attrs: []string{"lang"}},
	},
	need: []string{"funderName"}, once: []string{"funderName", "funderIdentifier", "awardNumber", "awardTitle"},
}

func relatedItemShape() *shape {
	order := strings.Fields(`relatedItemIdentifier creators titles publicationYear volume issue number firstPage lastPage
		publisher edition contributors`)
	item := sequence(map[string]*shape{
		"relatedItemIdentifier": {
			attrs: []string{"relatedItemIdentifierType", "relatedMetadataScheme", "schemeURI", "schemeType"},
		},
		"creators": wrapper("creator", person("creatorName", nil)),
		"titles":   wrapper("title", titleShape), "publicationYear": {text: year},
		"volume": anything, "issue": anything, "number": {open: true, attrs: []string{"numberType"}},
		"firstPage": anything, "lastPage": anything, "publisher": anything, "edition": anything,
		"contributors": wrapper("contributor", person("contributorName", nil)),
	}, order, nil, nil)
	item.attrs = []string{"relatedItemType!", "relationType!", "relationTypeInformation"}
	return item
}

// checkRecord checks a document against the schema; the error names the first
// fault.
func checkRecord(root *element) error {
	if root.name.local == "resource" && root.name.space != kernelNamespace {
		return fmt.Errorf("schema %s is no longer supported", root.name.space)
	}
	for _, v := range violations(root) {
		return fmt.Errorf("%s: %s", v.source, v.brief())
	}
	return nil
}

// violation is a fault of an element against the schema, in the words of the
// deployed service's validator.
type violation struct {
	source string // the name of the element, or element', attribute 'name
	text   string
	line   int // of the element
}

// brief is the text with one thing at most that would be right.
func (v violation) brief() string {
	text, _, _ := strings.Cut(v.text, " {'")
	text, next, _ := strings.Cut(text, " Expected is")
	if _, next, found := strings.Cut(next, "}"); found {
		return text + " Expected: " + strings.TrimRight(strings.Split(next, ",")[0], " ).")
	}
	return text
}

const noDeclaration = "No matching global declaration available for the validation root."

// violations are all faults of a document, in their order.
func violations(root *element) (found []violation) {
	if root.name.local != "resource" || root.name.space != kernelNamespace {
		return []violation{{root.name.local, noDeclaration, root.line}}
	}
	kernelShape.check(root, &found)
	return found
}

func (want *shape) check(e *element, found *[]violation) {
	if want == nil {
		want = &shape{}
	}
	fault := func(source, text string) { *found = append(*found, violation{source, text, e.line}) }
	want.checkAttributes(e, fault)
	if want.open {
		return
	}
	want.checkText(e, fault)
	if want.children != nil {
		want.checkChildren(e, found)
	}
}

func (want *shape) checkText(e *element, fault func(source, text string)) {
	text := e.content((*element).plain)
	switch {
	case want.children != nil:
		if e.mixed() && !want.mixed {
			fault(e.name.local, "Character content other than whitespace is not allowed because the content type is 'element-only'.")
		}
		return
	case want.empty:
		if text != "" {
			fault(e.name.local, "Character content is not allowed, because the content type is empty.")
		}
		return
	}
	for range e.elements {
		fault(e.name.local, "Element content is not allowed, because the type definition is simple.")
		return
	}
	if want.text != nil {
		if why := want.text(text); why != "" {
			fault(e.name.local, why)
		}
	}
}

// checkChildren reads the children until one is out of place: nothing is said of
// those after it.
func (want *shape) checkChildren(e *element, found *[]violation) {
	seen, last := map[string]int{}, 0
	for c := range e.elements {
		name := c.name.local
		inside, known := want.children[name]
		place := slices.Index(want.order, name)
		if !known || c.name.space != kernelNamespace || seen[name] > 0 && slices.Contains(want.once, name) ||
			want.order != nil && want.tooFar(place, last, seen) {
			*found = append(*found, violation{name, "This element is not expected." + expected(want.expected(last, seen)), c.line})
			return
		}
		seen[name]++
		last = max(last, place)
		inside.check(c, found)
	}
	if want.order == nil && !want.complete(seen) || want.order != nil && want.tooFar(len(want.order), last, seen) {
		*found = append(*found, violation{e.name.local, "Missing child element(s)." + expected(want.expected(last, seen)), e.line})
	}
}

// needs is how many children of that name there must be.
func (want *shape) needs(name string) (n int) {
	for _, needed := range want.need {
		if needed == name {
			n++
		}
	}
	return n
}

// complete says whether no child is missing.
func (want *shape) complete(seen map[string]int) bool {
	return !slices.ContainsFunc(want.need, func(name string) bool { return seen[name] < want.needs(name) })
}

// tooFar says whether a child in this place of the order comes too early or too late.
func (want *shape) tooFar(place, last int, seen map[string]int) bool {
	if place < last {
		return true
	}
	return slices.ContainsFunc(want.order[last:place], func(name string) bool { return seen[name] < want.needs(name) })
}

// expected are the children that could come next. Where the order is free and
// none is missing, the validator names none.
func (want *shape) expected(last int, seen map[string]int) (names []string) {
	if want.order == nil {
		if want.complete(seen) {
			return nil
		}
		return slices.DeleteFunc(slices.Clone(want.once), func(name string) bool { return seen[name] > 0 })
	}
	for _, name := range want.order[last:] {
		if seen[name] == 0 || !slices.Contains(want.once, name) {
			names = append(names, name)
		}
		if seen[name] < want.needs(name) {
			break
		}
	}
	return names
}

// expected names ten elements at most.
func expected(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), 10)] {
		list = append(list, "{"+kernelNamespace+"}"+name)
	}
	switch len(list) {
	case 0:
		return ""
	case 1:
		return " Expected is ( " + list[0] + " )."
	}
	return " Expected is one of ( " + strings.Join(list, ", ") + " )."
}

const schemaSpace = "http://www.w3.org/2001/XMLSchema-instance"

func (want *shape) checkAttributes(e *element, fault func(source, text string)) {
	for _, a := range e.attrs {
		name := a.name.local
		source := e.name.local + "', attribute '" + name
		list, listed := listOfAttribute(name)
		switch space := a.name.space; {
		case space == "xmlns", name == "xmlns", space == schemaSpace, want.open && want.attrs == nil:
		case !slices.Contains(want.attrs, name) && !slices.Contains(want.attrs, name+"!"),
			name == "lang" && space != xmlSpace, name != "lang" && space != "":
			fault(source, fmt.Sprintf("The attribute '%s' is not allowed.", name))
		case name == "lang" && a.value != "" && !languageForm.MatchString(strings.TrimSpace(a.value)):
			fault(name, fmt.Sprintf("'%s' is not a valid value of the local union type.", a.value)) // the service's reading of it
		case listed && !slices.Contains(list, a.value):
			fault(source, fmt.Sprintf("[facet 'enumeration'] The value '%s' is not an element of the set {'%s'}.",
				a.value, strings.Join(list, "', '")))
		}
	}
	for _, name := range want.attrs {
		if name, must := strings.CutSuffix(name, "!"); must && !e.hasAttr(name) {
			fault(e.name.local, fmt.Sprintf("The attribute '%s' is required but missing.", name))
		}
	}
}

// isListed says whether a value is in the controlled list of an attribute, or
// of the JSON member of that name. Most have none and may be anything.
func isListed(name, value string) bool {
	list, controlled := listOfAttribute(name)
	return !controlled || slices.Contains(list, value)
}

// listOfAttribute is the controlled list of an attribute.
func listOfAttribute(name string) (list []string, ok bool) {
	switch name {
	case "relatedItemType":
		name = "resourceTypeGeneral"
	case "relatedItemIdentifierType":
		name = "relatedIdentifierType"
	}
	list, ok = vocabulary[name]
	return list, ok
}

// vocabulary is the controlled lists of the schema, version 4.7.
var vocabulary = map[string][]string{
	"resourceTypeGeneral": strings.Fields(`Audiovisual Award Book BookChapter Collection ComputationalNotebook
		ConferencePaper ConferenceProceeding DataPaper Dataset Dissertation Event Image Instrument InteractiveResource
		Journal JournalArticle Model OutputManagementPlan PeerReview PhysicalObject Poster Preprint Presentation Project
		Report Service Software Sound Standard StudyRegistration Text Workflow Other`),
	"contributorType": strings.Fields(`ContactPerson DataCollector DataCurator DataManager Distributor Editor
		HostingInstitution Other Producer ProjectLeader ProjectManager ProjectMember RegistrationAgency
		RegistrationAuthority RelatedPerson ResearchGroup RightsHolder Researcher Sponsor Supervisor Translator
		WorkPackageLeader`),
	"dateType": strings.Fields(`Accepted Available Collected Copyrighted Coverage Created Issued Other Submitted
		Updated Valid Withdrawn`),
	"descriptionType":      strings.Fields(`Abstract Methods SeriesInformation TableOfContents TechnicalInfo Other`),
	"titleType":            strings.Fields(`AlternativeTitle Subtitle TranslatedTitle Other`),
	"nameType":             strings.Fields(`Organizational Personal`),
	"numberType":           strings.Fields(`Article Chapter Report Other`),
	"funderIdentifierType": {"ISNI", "GRID", "ROR", "Crossref Funder ID", "Other"},
	"relatedIdentifierType": strings.Fields(`ARK arXiv bibcode CSTR DOI EAN13 EISSN Handle IGSN ISBN ISSN ISTC LISSN
		LSID PMID PURL RAiD RRID SWHID UPC URL URN w3id`),
	"relationType": strings.Fields(`IsCitedBy Cites IsSupplementTo IsSupplementedBy IsContinuedBy Continues
		IsNewVersionOf IsPreviousVersionOf IsPartOf HasPart IsPublishedIn IsReferencedBy References IsDocumentedBy
		Documents IsCompiledBy Compiles IsVariantFormOf IsOriginalFormOf IsIdenticalTo HasMetadata IsMetadataFor Reviews
		IsReviewedBy IsDerivedFrom IsSourceOf Describes IsDescribedBy HasVersion IsVersionOf Requires IsRequiredBy
		Obsoletes IsObsoletedBy Collects IsCollectedBy HasTranslation IsTranslationOf Other`),
}

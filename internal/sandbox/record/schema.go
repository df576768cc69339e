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
	text     func(string) bool
	open     bool // the schema leaves it untyped: anything may be inside
}

var (
	yearForm     = regexp.MustCompile(`^[0-9]{4}$`)
	languageForm = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`)
	floatForm    = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
)

func IsYear(text string) bool { return yearForm.MatchString(strings.TrimSpace(text)) }

func isLanguage(text string) bool { return languageForm.MatchString(strings.TrimSpace(text)) }

func isLatitude(text string) bool { return isDegrees(text, 90) }

func isEast(text string) bool { return isDegrees(text, 180) }

func isFilled(text string) bool { return text != "" }

func isEmpty(text string) bool { return text == "" }

func isDegrees(text string, most float32) bool {
	text = strings.TrimSpace(text)
	n, err := strconv.ParseFloat(text, 32) // the schema has single precision
	return err == nil && floatForm.MatchString(text) && -most <= float32(n) && float32(n) <= most
}

// wrapper is an element around others of one name.
func wrapper(name string, of *shape, need ...string) *shape {
	return &shape{children: map[string]*shape{name: of}, need: need}
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
		children: map[string]*shape{"pointLongitude": {text: isEast}, "pointLatitude": {text: isLatitude}},
		need:     []string{"pointLongitude", "pointLatitude"},
		once:     []string{"pointLongitude", "pointLatitude"},
	}
)

// person is a creator or a contributor. Within a related item people have no
// identifiers and affiliations.
func person(nameElement string, text func(string) bool, more ...string) *shape {
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
		"publisher":       {text: isFilled, attrs: []string{"publisherIdentifier", "publisherIdentifierScheme", "schemeURI", "lang"}},
		"publicationYear": {text: IsYear},
		"resourceType":    {attrs: []string{"resourceTypeGeneral!"}},
		"subjects": wrapper("subject", &shape{
			attrs: []string{"subjectScheme", "schemeURI", "valueURI", "classificationCode", "lang"},
		}),
		"contributors":         wrapper("contributor", person("contributorName", isFilled, "nameIdentifier", "affiliation")),
		"dates":                wrapper("date", &shape{attrs: []string{"dateType!", "dateInformation"}}),
		"language":             {text: isLanguage},
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
			children: map[string]*shape{"br": {text: isEmpty}}, text: func(string) bool { return true },
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
			boxSides[0]: {text: isEast}, boxSides[1]: {text: isEast},
			boxSides[2]: {text: isLatitude}, boxSides[3]: {text: isLatitude},
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
		"funderName":       {text: isFilled},
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
		"titles":   wrapper("title", titleShape), "publicationYear": {text: IsYear},
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
	if root.name.local != "resource" {
		return fmt.Errorf("%s: No matching global declaration available for the validation root", root.name.local)
	}
	if root.name.space != kernelNamespace {
		return fmt.Errorf("schema %s is no longer supported", root.name.space)
	}
	return kernelShape.check(root)
}

// violation is a fault of an element against the schema.
type violation struct {
	error
	line int // of the element
}

func (want *shape) check(e *element) error {
	err := want.checkAll(e)
	if _, deeper := errors.AsType[*violation](err); err == nil || deeper {
		return err
	}
	return &violation{err, e.line}
}

func (want *shape) checkAll(e *element) error {
	if want == nil {
		want = &shape{}
	}
	if err := want.checkAttributes(e); err != nil {
		return err
	}
	if want.text != nil && !want.text(e.content((*element).plain)) {
		return fmt.Errorf("%s: %q is not a valid value", e.name.local, e.trimmed())
	}
	if want.open {
		return nil
	}
	if e.mixed() && want.children != nil && want.text == nil {
		return fmt.Errorf("%s: Character content is not allowed", e.name.local)
	}
	return want.checkChildren(e)
}

func (want *shape) checkChildren(e *element) error {
	seen, last := map[string]int{}, 0
	for c := range e.elements {
		name := c.name.local
		inside, known := want.children[name]
		place := slices.Index(want.order, name)
		switch {
		case !known, c.name.space != kernelNamespace, want.order != nil && place < last:
			return fmt.Errorf("%s: This element is not expected", name)
		case seen[name] > 0 && slices.Contains(want.once, name):
			return fmt.Errorf("%s: This element is not expected a second time", name)
		}
		seen[name]++
		last = max(last, place)
		if err := inside.check(c); err != nil {
			return err
		}
	}
	for _, name := range want.need {
		if seen[name]--; seen[name] < 0 {
			return fmt.Errorf("%s: Missing child element %s", e.name.local, name)
		}
	}
	return nil
}

const schemaSpace = "http://www.w3.org/2001/XMLSchema-instance"

func (want *shape) checkAttributes(e *element) error {
	for _, a := range e.attrs {
		name := a.name.local
		switch space := a.name.space; {
		case space == "xmlns", name == "xmlns", space == schemaSpace, want.open && want.attrs == nil:
		case !slices.Contains(want.attrs, name) && !slices.Contains(want.attrs, name+"!"),
			name == "lang" && space != xmlSpace, name != "lang" && space != "":
			return fmt.Errorf("%s', attribute '%s': The attribute is not allowed", e.name.local, name)
		case name == "lang" && a.value != "" && !isLanguage(a.value), !isListed(name, a.value):
			return fmt.Errorf("%s', attribute '%s': %q is not a valid value", e.name.local, name, a.value)
		}
	}
	for _, name := range want.attrs {
		if name, must := strings.CutSuffix(name, "!"); must && !e.hasAttr(name) {
			return fmt.Errorf("%s: The attribute %s is required but missing", e.name.local, name)
		}
	}
	return nil
}

// isListed says whether a value is in the controlled list of an attribute, or
// of the JSON member of that name. Most have none and may be anything.
func isListed(name, value string) bool {
	switch name {
	case "relatedItemType":
		name = "resourceTypeGeneral"
	case "relatedItemIdentifierType":
		name = "relatedIdentifierType"
	}
	list, controlled := vocabulary[name]
	return !controlled || slices.Contains(list, value)
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

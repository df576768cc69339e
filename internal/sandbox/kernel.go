package sandbox

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// shape says what an element of the metadata schema may hold. A nil shape is
// an element with text alone, which may be repeated.
type shape struct {
	children map[string]*shape
	need     []string // children that must be there
	once     []string // children that may not be repeated
	attrs    map[string]string
	// Attributes that must be there. The value of an attribute in attrs is
	// the name of its controlled list.
	needAttrs []string
	text      func(string) bool // nil: any text
	open      bool              // anything may be inside: the schema leaves it untyped
}

var (
	yearForm     = regexp.MustCompile(`^[0-9]{4}$`)
	languageForm = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`)
	floatForm    = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
)

func isYear(text string) bool     { return yearForm.MatchString(strings.TrimSpace(text)) }
func isLanguage(text string) bool { return languageForm.MatchString(strings.TrimSpace(text)) }
func isNumber(text string) bool   { return floatForm.MatchString(strings.TrimSpace(text)) }
func notEmpty(text string) bool   { return text != "" }

// some is a wrapper around elements of one name.
func some(name string, of *shape, need ...string) *shape {
	return &shape{children: map[string]*shape{name: of}, need: need}
}

var (
	anything   = &shape{open: true}
	pointShape = &shape{
		children: map[string]*shape{"pointLongitude": {text: isNumber}, "pointLatitude": {text: isNumber}},
		need:     []string{"pointLongitude", "pointLatitude"},
		once:     []string{"pointLongitude", "pointLatitude"},
	}
	titleShape = some("title", &shape{attrs: map[string]string{"titleType": "titleType"}})
)

// person is a creator or a contributor.
func person(nameElement string, name *shape, needAttrs ...string) *shape {
	name.attrs = map[string]string{"nameType": "nameType"}
	return &shape{
		children: map[string]*shape{
			nameElement: name, "givenName": anything, "familyName": anything,
			"nameIdentifier": anything, "affiliation": anything,
		},
		need: []string{nameElement}, once: []string{nameElement, "givenName", "familyName"},
		attrs: map[string]string{"contributorType": "contributorType"}, needAttrs: needAttrs,
	}
}

// kernelShape is the metadata schema, kernel 4: mandatory properties, element
// names, controlled lists.
var kernelShape = &shape{
	need: []string{"identifier", "creators", "titles", "publisher", "publicationYear", "resourceType"},
	once: []string{
		"identifier", "creators", "titles", "publisher", "publicationYear", "resourceType", "subjects", "contributors",
		"dates", "language", "alternateIdentifiers", "relatedIdentifiers", "sizes", "formats", "version", "rightsList",
		"descriptions", "geoLocations", "fundingReferences", "relatedItems",
	},
	children: map[string]*shape{
		"identifier":      {needAttrs: []string{"identifierType"}}, // may be empty, specification §2.3
		"creators":        some("creator", person("creatorName", &shape{}), "creator"),
		"titles":          some("title", titleShape.children["title"], "title"),
		"publisher":       {text: notEmpty},
		"publicationYear": {text: isYear},
		"resourceType": {
			attrs: map[string]string{"resourceTypeGeneral": "resourceTypeGeneral"}, needAttrs: []string{"resourceTypeGeneral"},
		},
		"subjects":     some("subject", nil),
		"contributors": some("contributor", person("contributorName", &shape{text: notEmpty}, "contributorType")),
		"dates":        some("date", &shape{attrs: map[string]string{"dateType": "dateType"}, needAttrs: []string{"dateType"}}),
		"language":     {text: isLanguage},
		"alternateIdentifiers": some("alternateIdentifier", &shape{
			needAttrs: []string{"alternateIdentifierType"},
		}),
		"relatedIdentifiers": some("relatedIdentifier", &shape{
			text: notEmpty,
			attrs: map[string]string{
				"relatedIdentifierType": "relatedIdentifierType", "relationType": "relationType",
				"resourceTypeGeneral": "resourceTypeGeneral",
			},
			needAttrs: []string{"relatedIdentifierType", "relationType"},
		}),
		"sizes":      some("size", nil),
		"formats":    some("format", nil),
		"version":    nil,
		"rightsList": some("rights", nil),
		"descriptions": some("description", &shape{
			children:  map[string]*shape{"br": nil},
			attrs:     map[string]string{"descriptionType": "descriptionType"},
			needAttrs: []string{"descriptionType"},
		}),
		"geoLocations":      some("geoLocation", geoLocationShape),
		"fundingReferences": some("fundingReference", fundingShape),
		"relatedItems":      some("relatedItem", relatedItemShape),
	},
}

var geoLocationShape = &shape{children: map[string]*shape{
	"geoLocationPlace": anything,
	"geoLocationPoint": pointShape,
	"geoLocationBox": {
		children: map[string]*shape{
			"westBoundLongitude": {text: isNumber}, "eastBoundLongitude": {text: isNumber},
			"southBoundLatitude": {text: isNumber}, "northBoundLatitude": {text: isNumber},
		},
		need: []string{"westBoundLongitude", "eastBoundLongitude", "southBoundLatitude", "northBoundLatitude"},
		once: []string{"westBoundLongitude", "eastBoundLongitude", "southBoundLatitude", "northBoundLatitude"},
	},
	"geoLocationPolygon": {
		children: map[string]*shape{"polygonPoint": pointShape, "inPolygonPoint": pointShape},
		need:     []string{"polygonPoint"}, once: []string{"inPolygonPoint"},
	},
}}

var fundingShape = &shape{
	children: map[string]*shape{
		"funderName": {text: notEmpty},
		"funderIdentifier": {
			attrs:     map[string]string{"funderIdentifierType": "funderIdentifierType"},
			needAttrs: []string{"funderIdentifierType"},
		},
		"awardNumber": nil, "awardTitle": anything,
	},
	need: []string{"funderName"}, once: []string{"funderName", "funderIdentifier", "awardNumber", "awardTitle"},
}

var relatedItemShape = &shape{
	children: map[string]*shape{
		"relatedItemIdentifier": {attrs: map[string]string{"relatedItemIdentifierType": "relatedIdentifierType"}},
		"creators":              some("creator", person("creatorName", &shape{})),
		"titles":                titleShape,
		"publicationYear":       {text: isYear},
		"volume":                anything, "issue": anything, "firstPage": anything, "lastPage": anything,
		"publisher": anything, "edition": anything,
		"number":       {attrs: map[string]string{"numberType": "numberType"}, open: true},
		"contributors": some("contributor", person("contributorName", &shape{}, "contributorType")),
	},
	attrs:     map[string]string{"relatedItemType": "resourceTypeGeneral", "relationType": "relationType"},
	needAttrs: []string{"relatedItemType", "relationType"},
}

// checkRecord checks a document against the schema; the error names the first
// fault.
func checkRecord(root *element) error {
	if root.name.Local != "resource" {
		return fmt.Errorf("%s: No matching global declaration available for the validation root", root.name.Local)
	}
	if root.name.Space != kernelNamespace {
		return fmt.Errorf("Schema %s is no longer supported", root.name.Space)
	}
	return kernelShape.check(root)
}

func (want *shape) check(e *element) error {
	if want == nil {
		want = &shape{}
	}
	if err := want.checkAttributes(e); err != nil {
		return err
	}
	if want.text != nil && !want.text(e.text.String()) {
		return fmt.Errorf("%s: %q is not a valid value", e.name.Local, e.trimmed())
	}
	if want.open {
		return nil
	}
	seen := map[string]bool{}
	for _, c := range e.children {
		name := c.name.Local
		inside, known := want.children[name]
		if !known || c.name.Space != kernelNamespace {
			return fmt.Errorf("%s: This element is not expected", name)
		}
		if seen[name] && slices.Contains(want.once, name) {
			return fmt.Errorf("%s: This element is not expected a second time", name)
		}
		seen[name] = true
		if err := inside.check(c); err != nil {
			return err
		}
	}
	for _, name := range want.need {
		if !seen[name] {
			return fmt.Errorf("%s: Missing child element %s", e.name.Local, name)
		}
	}
	return nil
}

func (want *shape) checkAttributes(e *element) error {
	for _, a := range e.attrs {
		list, controlled := want.attrs[a.Name.Local]
		if controlled && !slices.Contains(vocabulary[list], a.Value) {
			return fmt.Errorf("%s', attribute '%s': %q is not an element of the set", e.name.Local, a.Name.Local, a.Value)
		}
	}
	for _, name := range want.needAttrs {
		if !e.hasAttr(name) {
			return fmt.Errorf("%s: The attribute %s is required but missing", e.name.Local, name)
		}
	}
	return nil
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

package search

import (
	"fmt"
	"strconv"
	"strings"
)

type kind uint8

const (
	exact  kind = iota // compared as a whole
	folded             // as a whole, in any case
	text               // word by word, in any case
	number
	date
	year
)

func (k kind) String() string {
	return [...]string{"keyword", "keyword", "text", "integer", "date", "date"}[k]
}

// field is a place in a record where values are looked for.
type field struct {
	name  string
	kind  kind
	paths [][]string          // all the places; each leads through arrays
	part  func(string) string // what of a stored value belongs to the field, "" for nothing; nil: all of it
}

const existsField = "_exists_"

// The names of the record by kind. A name that is not here is looked for as it
// is, and its values are compared as whole values.
var names = map[kind]string{
	text: `titles.title descriptions.description subjects.subject publisher publisher.name dates.date url reason
		creators.name creators.givenName creators.familyName creators.affiliation creators.affiliation.name
		contributors.name contributors.givenName contributors.familyName contributors.affiliation contributors.affiliation.name
		fundingReferences.funderName relatedIdentifiers.relationTypeInformation
		relatedItems.titles.title relatedItems.publisher relatedItems.relationTypeInformation
		relatedItems.creators.name relatedItems.creators.givenName relatedItems.creators.familyName
		relatedItems.contributors.name relatedItems.contributors.givenName relatedItems.contributors.familyName
		landingPage.url client.name provider.name`,
	folded: `doi identifiers.identifier relatedIdentifiers.relatedIdentifier types.resourceType
		relatedItems.relatedItemIdentifier.relatedItemIdentifier fundingReferences.funderIdentifier
		rightsList.rightsIdentifier container.identifier`,
	number: `viewCount downloadCount citationCount referenceCount partCount partOfCount versionCount versionOfCount
		metadataVersion landingPage.status landingPage.redirectCount
		geoLocations.geoLocationPoint.pointLatitude geoLocations.geoLocationPoint.pointLongitude
		geoLocations.geoLocationBox.northBoundLatitude geoLocations.geoLocationBox.southBoundLatitude
		geoLocations.geoLocationBox.eastBoundLongitude geoLocations.geoLocationBox.westBoundLongitude`,
	date: `created updated registered published landingPage.checked`,
	year: `publicationYear`,
	exact: `prefix suffix clientId providerId consortiumId state language version schemaVersion source agency sizes formats contentUrl isActive
		types.resourceTypeGeneral types.schemaOrg types.citeproc types.bibtex types.ris identifiers.identifierType
		titles.titleType titles.lang descriptions.descriptionType descriptions.lang
		subjects.subjectScheme subjects.schemeUri subjects.valueUri subjects.classificationCode subjects.lang
		publisher.publisherIdentifier publisher.publisherIdentifierScheme publisher.schemeUri publisher.lang
		creators.nameType creators.nameIdentifiers.nameIdentifier creators.nameIdentifiers.nameIdentifierScheme
		creators.nameIdentifiers.schemeUri creators.affiliation.affiliationIdentifier
		creators.affiliation.affiliationIdentifierScheme creators.affiliation.schemeUri
		contributors.contributorType contributors.nameType contributors.nameIdentifiers.nameIdentifier
		contributors.nameIdentifiers.nameIdentifierScheme contributors.nameIdentifiers.schemeUri
		contributors.affiliation.affiliationIdentifier contributors.affiliation.affiliationIdentifierScheme
		contributors.affiliation.schemeUri container.type container.title container.identifierType container.volume
		container.issue container.firstPage container.lastPage dates.dateType dates.dateInformation
		relatedIdentifiers.relatedIdentifierType relatedIdentifiers.relationType relatedIdentifiers.resourceTypeGeneral
		relatedIdentifiers.relatedMetadataScheme relatedIdentifiers.schemeUri relatedIdentifiers.schemeType
		relatedItems.relatedItemType relatedItems.relationType relatedItems.publicationYear relatedItems.volume
		relatedItems.issue relatedItems.number relatedItems.numberType relatedItems.firstPage relatedItems.lastPage
		relatedItems.edition relatedItems.relatedItemIdentifier.relatedItemIdentifierType
		rightsList.rights rightsList.rightsUri rightsList.schemeUri rightsList.rightsIdentifierScheme rightsList.lang
		fundingReferences.funderIdentifierType fundingReferences.schemeUri fundingReferences.awardNumber
		fundingReferences.awardUri fundingReferences.awardTitle geoLocations.geoLocationPlace`,
}

// kinds is names the other way round.
var kinds = func() map[string]kind {
	byName := make(map[string]kind)
	for k, list := range names {
		for name := range strings.FieldsSeq(list) {
			byName[name] = k
		}
	}
	return byName
}()

// commonFields are searched when a clause names no field (specification
// §4.2.1(2)).
var commonFields = []field{
	fieldNamed("doi"),
	fieldNamed("titles.title"),
	fieldNamed("creators.name"),
	fieldNamed("creators.nameIdentifiers.nameIdentifier"),
	fieldNamed("publisher"),
	fieldNamed("descriptions.description"),
	fieldNamed("subjects.subject"),
	fieldNamed("relatedIdentifiers.relatedIdentifier"),
}

// fieldsOf is the fields that a name in a query stands for: the common ones
// for none, all that fit for a pattern. named tells that it is one field.
func fieldsOf(name string) (fields []field, named bool) {
	if name == "" {
		return commonFields, true
	}
	if !strings.Contains(name, "*") {
		return []field{fieldNamed(name)}, true
	}
	p := pattern(strings.ReplaceAll(name, "?", `\?`))
	for known := range kinds {
		if like(known, p) {
			fields = append(fields, fieldNamed(known))
		}
	}
	return fields, false
}

// elsewhere tells where the record keeps what the deployed service's index has
// under a name of its own, or what has more than one shape.
var elsewhere = map[string][]string{
	"id":             {"doi"},
	"uid":            {"doi"},
	"aasmState":      {"state"},
	"versionInfo":    {"version"},
	"creatorNames":   {"creators.name"},
	"publisher":      {"publisher", "publisher.name"},
	"publisher.name": {"publisher", "publisher.name"},

	"creators.affiliation":          {"creators.affiliation", "creators.affiliation.name"},
	"creators.affiliation.name":     {"creators.affiliation", "creators.affiliation.name"},
	"contributors.affiliation":      {"contributors.affiliation", "contributors.affiliation.name"},
	"contributors.affiliation.name": {"contributors.affiliation", "contributors.affiliation.name"},

	"identifiers.identifier":                       {"identifiers.identifier", "alternateIdentifiers.alternateIdentifier"},
	"identifiers.identifierType":                   {"identifiers.identifierType", "alternateIdentifiers.alternateIdentifierType"},
	"alternateIdentifiers.alternateIdentifier":     {"identifiers.identifier", "alternateIdentifiers.alternateIdentifier"},
	"alternateIdentifiers.alternateIdentifierType": {"identifiers.identifierType", "alternateIdentifiers.alternateIdentifierType"},

	"client.id":    {"clientId"},
	"client.uid":   {"clientId"},
	"provider.id":  {"providerId"},
	"provider.uid": {"providerId"},

	"prefix": {"doi"},
	"suffix": {"doi"},

	"affiliationId":  {"creators.affiliation.affiliationIdentifier", "contributors.affiliation.affiliationIdentifier"},
	"organizationId": {"creators.nameIdentifiers.nameIdentifier", "contributors.nameIdentifiers.nameIdentifier"},
	"funderRors":     {"fundingReferences.funderIdentifier"},
}

// parts tells which part of a value in elsewhere the field holds.
var parts = map[string]func(string) string{
	"prefix":         func(doi string) string { before, _, _ := strings.Cut(doi, "/"); return before },
	"suffix":         func(doi string) string { _, after, _ := strings.Cut(doi, "/"); return after },
	"affiliationId":  rorID,
	"organizationId": rorID,
	"funderRors": func(s string) string {
		if id := rorID(s); id != "" {
			return "https://" + id
		}
		return ""
	},
}

// rorID is a ROR address without its scheme, the form that the index has.
func rorID(s string) string {
	if _, id, ok := strings.Cut(s, "ror.org/"); ok {
		return "ror.org/" + id
	}
	return ""
}

func fieldNamed(name string) field {
	canonical := camelCase(name)
	if rest, ok := strings.CutPrefix(canonical, "publisherObj."); ok {
		canonical = "publisher." + rest
	}
	if rest, ok := strings.CutPrefix(canonical, "creatorsAndContributors."); ok {
		f := fieldNamed("creators." + rest)
		f.paths = append(f.paths, fieldNamed("contributors."+rest).paths...)
		f.name = name
		return f
	}
	places := elsewhere[canonical]
	switch {
	case places != nil:
	case canonical != name:
		places = []string{canonical, name}
	default:
		places = []string{canonical}
	}
	f := field{name: name, part: parts[canonical]}
	if f.part == nil {
		f.kind = kinds[places[0]]
	}
	for _, place := range places {
		f.paths = append(f.paths, strings.Split(place, "."))
	}
	return f
}

// camelCase turns publication_year into publicationYear.
func camelCase(name string) string {
	pieces := strings.Split(name, "_")
	for i, piece := range pieces[1:] {
		if pieces[i] == "" || piece == "" || piece[0] < 'a' || piece[0] > 'z' {
			return name
		}
		pieces[i+1] = strings.ToUpper(piece[:1]) + piece[1:]
	}
	return strings.Join(pieces, "")
}

// any reports whether a value of the field passes the test.
func (f field) any(record map[string]any, t test) bool {
	if f.part != nil {
		t = f.ofPart(t)
	}
	for _, path := range f.paths {
		if reach(record, path, t) {
			return true
		}
	}
	return false
}

func (f field) ofPart(t test) test {
	return func(v any) bool {
		s, ok := scalar(v)
		if !ok {
			return false
		}
		s = f.part(s)
		return s != "" && t(s)
	}
}

// reach follows a path through objects and arrays and tests what is at its
// end, which may be an object.
func reach(v any, path []string, t test) bool {
	switch v := v.(type) {
	case nil:
		return false
	case []any:
		for _, item := range v {
			if reach(item, path, t) {
				return true
			}
		}
		return false
	case map[string]any:
		if len(path) > 0 {
			return reach(v[path[0]], path[1:], t)
		}
	}
	return len(path) == 0 && t(v)
}

// hasValue tells whether anything but null is below v.
func hasValue(v any) bool {
	object, ok := v.(map[string]any)
	if !ok {
		return true
	}
	for _, member := range object {
		if reach(member, nil, hasValue) {
			return true
		}
	}
	return false
}

// scalar is a value as text; objects have none.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case map[string]any:
		return "", false
	}
	return fmt.Sprint(v), true
}

package metadata

import "strings"

// Namespace is the XML namespace of every version of the schema's kernel 4.
// It carries no minor version.
const Namespace = "http://datacite.org/schema/kernel-4"

// Record is the metadata of one DOI: every property and sub-property of the
// metadata schema, kernel 4.7 (specification §2.2 and §2.3).
//
// In JSON a Record is the attributes object of the DOI query interface. In XML
// it is the document of the metadata store; see [ParseXML] and [Record.XML].
// It holds all that either form can say, so nothing is lost between them.
//
// The zero value of a field means the property is not there. In JSON a nil list
// is left out and an empty one is written as [], which tells the service to
// clear the property.
//
// Record has no JSON methods of its own, so it may be embedded in a larger
// struct. Its parts read whatever the service has been seen to send: a number
// or null for a string, one object for a list. What they cannot read they leave
// at its zero value, and they never fail.
type Record struct {
	// DOI is the name being described, such as 10.5438/0012. It may be empty
	// when a request path names the DOI or asks the service for a new one.
	DOI string `json:"doi,omitempty"`

	Creators        List[Creator] `json:"creators,omitzero"`
	Titles          List[Title]   `json:"titles,omitzero"`
	Publisher       Publisher     `json:"publisher,omitzero"`
	PublicationYear Year          `json:"publicationYear,omitempty"`
	Types           Types         `json:"types,omitzero"`

	Subjects     List[Subject]     `json:"subjects,omitzero"`
	Contributors List[Contributor] `json:"contributors,omitzero"`
	Dates        List[Date]        `json:"dates,omitzero"`
	Language     Text              `json:"language,omitempty"` // language tag such as en or pt-BR

	// AlternateIdentifiers are other names of the resource. JSON has two members
	// for them, this and the next, and the service takes either. Its full answers
	// have both, with the same content, and the others Identifiers only. XML and
	// package dois have one list; see [Record.Alternates].
	AlternateIdentifiers List[AlternateIdentifier] `json:"alternateIdentifiers,omitzero"`

	// Identifiers are AlternateIdentifiers by another name. Give one of the two:
	// sent both, the service drops AlternateIdentifiers.
	Identifiers List[Identifier] `json:"identifiers,omitzero"`

	RelatedIdentifiers List[RelatedIdentifier] `json:"relatedIdentifiers,omitzero"`
	Sizes              List[string]            `json:"sizes,omitzero"`
	Formats            List[string]            `json:"formats,omitzero"`
	Version            Text                    `json:"version,omitempty"`
	RightsList         List[Rights]            `json:"rightsList,omitzero"`
	Descriptions       List[Description]       `json:"descriptions,omitzero"`
	GeoLocations       List[GeoLocation]       `json:"geoLocations,omitzero"`
	FundingReferences  List[FundingReference]  `json:"fundingReferences,omitzero"`
	RelatedItems       List[RelatedItem]       `json:"relatedItems,omitzero"`

	// SchemaVersion is the XML namespace the record was read with. [Record.XML]
	// always writes [Namespace].
	SchemaVersion Text `json:"schemaVersion,omitempty"`
}

// Alternates returns the other names of the resource: AlternateIdentifiers, or
// when that is nil, Identifiers without the DOI of the record itself, which
// answers had among them until 2019.
func (r *Record) Alternates() []AlternateIdentifier {
	if r.AlternateIdentifiers != nil {
		return r.AlternateIdentifiers
	}
	var out []AlternateIdentifier
	for _, id := range r.Identifiers {
		if !r.isOwn(id) {
			out = append(out, AlternateIdentifier{AlternateIdentifier: id.Identifier, AlternateIdentifierType: id.IdentifierType})
		}
	}
	return out
}

// isOwn reports whether id is the DOI of the record, or a DOI that is not there.
func (r *Record) isOwn(id Identifier) bool {
	if id.IdentifierType != string(IdentifierDOI) {
		return false
	}
	name := doiRule.bare(trim(id.Identifier))
	return name == "" || strings.EqualFold(name, doiRule.bare(r.DOI))
}

// Creator is a person or organization that made the resource. The personal form
// of Name is "Family, Given".
type Creator struct {
	Name            string               `json:"name"`
	NameType        NameType             `json:"nameType,omitempty"`
	Lang            string               `json:"lang,omitempty"` // kept in XML; the service drops it from its JSON
	GivenName       string               `json:"givenName,omitempty"`
	FamilyName      string               `json:"familyName,omitempty"`
	NameIdentifiers List[NameIdentifier] `json:"nameIdentifiers,omitzero"`
	Affiliation     List[Affiliation]    `json:"affiliation,omitzero"`
}

// Contributor is a person or organization that had another part in the resource,
// named by ContributorType.
type Contributor struct {
	Name            string               `json:"name"`
	NameType        NameType             `json:"nameType,omitempty"`
	Lang            string               `json:"lang,omitempty"` // kept in XML; the service drops it from its JSON
	GivenName       string               `json:"givenName,omitempty"`
	FamilyName      string               `json:"familyName,omitempty"`
	NameIdentifiers List[NameIdentifier] `json:"nameIdentifiers,omitzero"`
	Affiliation     List[Affiliation]    `json:"affiliation,omitzero"`
	ContributorType ContributorType      `json:"contributorType,omitempty"`
}

// NameIdentifier names a person or organization in a scheme such as ORCID, ISNI
// or ROR.
type NameIdentifier struct {
	NameIdentifier       string      `json:"nameIdentifier,omitempty"`
	NameIdentifierScheme string      `json:"nameIdentifierScheme,omitempty"`
	SchemeURI            string      `json:"schemeUri,omitempty"`
	Extra                []Attribute `json:"-"` // XML attributes beside the schema's
}

// Affiliation is an organization a person belongs to. In JSON it is read from a
// plain string or from an object, and written as an object, the only form the
// service takes.
type Affiliation struct {
	Name                        string      `json:"name"`
	AffiliationIdentifier       string      `json:"affiliationIdentifier,omitempty"`
	AffiliationIdentifierScheme string      `json:"affiliationIdentifierScheme,omitempty"`
	SchemeURI                   string      `json:"schemeUri,omitempty"`
	Extra                       []Attribute `json:"-"` // XML attributes beside the schema's
}

// Title is a name of the resource; the main title has no type.
type Title struct {
	Title     string    `json:"title"`
	TitleType TitleType `json:"titleType,omitempty"`
	Lang      string    `json:"lang,omitempty"`
}

// Publisher holds, archives or releases the resource. In JSON a publisher of
// which only the name is known is a plain string, any other an object; both are
// read.
type Publisher struct {
	Name                      string `json:"name"`
	PublisherIdentifier       string `json:"publisherIdentifier,omitempty"`
	PublisherIdentifierScheme string `json:"publisherIdentifierScheme,omitempty"`
	SchemeURI                 string `json:"schemeUri,omitempty"`
	Lang                      string `json:"lang,omitempty"`
}

// Types is the type of the resource. The service derives the last four members
// from the first and keeps a stale one if it is sent back; they have no place in
// XML.
type Types struct {
	ResourceTypeGeneral ResourceTypeGeneral `json:"resourceTypeGeneral,omitempty"`
	ResourceType        string              `json:"resourceType,omitempty"` // free text
	SchemaOrg           string              `json:"schemaOrg,omitempty"`
	Citeproc            string              `json:"citeproc,omitempty"`
	BibTeX              string              `json:"bibtex,omitempty"`
	RIS                 string              `json:"ris,omitempty"`
}

// Subject is a keyword, a classification code or a key phrase.
type Subject struct {
	Subject            string `json:"subject"`
	SubjectScheme      string `json:"subjectScheme,omitempty"`
	SchemeURI          string `json:"schemeUri,omitempty"`
	ValueURI           string `json:"valueUri,omitempty"`
	ClassificationCode string `json:"classificationCode,omitempty"`
	Lang               string `json:"lang,omitempty"`
}

// Date is a date or range in the life of the resource: 2024, 2024-05,
// 2024-05-17, 2024-05-17T10:00:00Z, or two of these with a slash between.
type Date struct {
	Date            string   `json:"date"`
	DateType        DateType `json:"dateType,omitempty"`
	DateInformation string   `json:"dateInformation,omitempty"`
}

// AlternateIdentifier is another name of the resource, such as a local accession
// number.
type AlternateIdentifier struct {
	AlternateIdentifier     string `json:"alternateIdentifier"`
	AlternateIdentifierType string `json:"alternateIdentifierType"` // the service refuses a list in which one is missing
}

// Identifier is an alternate identifier as [Record].Identifiers carries it.
type Identifier struct {
	Identifier     string `json:"identifier"`
	IdentifierType string `json:"identifierType,omitempty"`
}

// RelatedIdentifier names a resource this one is related to.
// RelatedMetadataScheme, SchemeURI and SchemeType go with the relations
// HasMetadata and IsMetadataFor only.
type RelatedIdentifier struct {
	RelatedIdentifier       string                `json:"relatedIdentifier"`
	RelatedIdentifierType   RelatedIdentifierType `json:"relatedIdentifierType,omitempty"`
	RelationType            RelationType          `json:"relationType,omitempty"`
	ResourceTypeGeneral     ResourceTypeGeneral   `json:"resourceTypeGeneral,omitempty"`
	RelatedMetadataScheme   string                `json:"relatedMetadataScheme,omitempty"`
	SchemeURI               string                `json:"schemeUri,omitempty"`
	SchemeType              string                `json:"schemeType,omitempty"`
	RelationTypeInformation string                `json:"relationTypeInformation,omitempty"`
}

// Rights is a licence or other statement of rights; the text may be empty when a
// URI says it all. The service takes at most 2000 characters of text.
type Rights struct {
	Rights                 string `json:"rights,omitempty"`
	RightsURI              string `json:"rightsUri,omitempty"`
	RightsIdentifier       string `json:"rightsIdentifier,omitempty"`
	RightsIdentifierScheme string `json:"rightsIdentifierScheme,omitempty"`
	SchemeURI              string `json:"schemeUri,omitempty"`
	Lang                   string `json:"lang,omitempty"`
}

// Description is a text about the resource. Markup in it is text: a <br/> that
// stands there letter by letter is &lt;br/&gt; in XML, and the service keeps it.
//
// The only element the schema allows in XML is another <br/>, and that one is
// read as a line feed. Breaks has the byte offsets of the line feeds that are
// such elements, in ascending order; all others are mere line feeds. JSON has no
// elements, so there all of them are. The service keeps the element in its XML and
// joins the words around it in its JSON, where it keeps line feeds: a text of your
// own does better without Breaks.
type Description struct {
	Description     string          `json:"description"`
	DescriptionType DescriptionType `json:"descriptionType,omitempty"`
	Lang            string          `json:"lang,omitempty"`
	Breaks          []int           `json:"-"`
}

// isBreak reports whether entry i of Breaks is what it must be.
func (d *Description) isBreak(i int) bool {
	at := d.Breaks[i]
	return at >= 0 && at < len(d.Description) && d.Description[at] == '\n' && (i == 0 || d.Breaks[i-1] < at)
}

// GeoLocation is a place the data come from or are about.
type GeoLocation struct {
	Place    string   `json:"geoLocationPlace,omitempty"`
	Point    Point    `json:"geoLocationPoint,omitzero"`
	Box      Box      `json:"geoLocationBox,omitzero"`
	Polygons Polygons `json:"geoLocationPolygon,omitzero"` // the service keeps one in its JSON, so give each its own GeoLocation
}

// Point is a place in decimal degrees, WGS 84.
type Point struct {
	Longitude Coordinate `json:"pointLongitude,omitempty"` // -180 to 180
	Latitude  Coordinate `json:"pointLatitude,omitempty"`  // -90 to 90
}

// Box is an area between two meridians and two parallels, in decimal degrees.
type Box struct {
	West  Coordinate `json:"westBoundLongitude,omitempty"`
	East  Coordinate `json:"eastBoundLongitude,omitempty"`
	South Coordinate `json:"southBoundLatitude,omitempty"`
	North Coordinate `json:"northBoundLatitude,omitempty"`
}

// Polygon is an area with at least four corners, the last of which repeats the
// first. InPoint is any point inside; it settles which side is meant when the
// area is larger than half the earth.
type Polygon struct {
	Points  []Point
	InPoint Point
}

// FundingReference is a grant or other support.
type FundingReference struct {
	FunderName           string               `json:"funderName"`
	FunderIdentifier     string               `json:"funderIdentifier,omitempty"`
	FunderIdentifierType FunderIdentifierType `json:"funderIdentifierType,omitempty"`
	SchemeURI            string               `json:"schemeUri,omitempty"`
	AwardNumber          string               `json:"awardNumber,omitempty"`
	AwardURI             string               `json:"awardUri,omitempty"`
	AwardTitle           string               `json:"awardTitle,omitempty"`
}

// RelatedItem describes a related resource, such as the journal an article is
// in, whether or not it has an identifier.
type RelatedItem struct {
	RelatedItemType         ResourceTypeGeneral          `json:"relatedItemType,omitempty"`
	RelationType            RelationType                 `json:"relationType,omitempty"`
	RelationTypeInformation string                       `json:"relationTypeInformation,omitempty"`
	RelatedItemIdentifier   RelatedItemIdentifier        `json:"relatedItemIdentifier,omitzero"`
	Creators                List[RelatedItemCreator]     `json:"creators,omitzero"`
	Titles                  List[Title]                  `json:"titles,omitzero"`
	PublicationYear         string                       `json:"publicationYear,omitempty"`
	Volume                  string                       `json:"volume,omitempty"`
	Issue                   string                       `json:"issue,omitempty"`
	Number                  string                       `json:"number,omitempty"`
	NumberType              NumberType                   `json:"numberType,omitempty"`
	FirstPage               string                       `json:"firstPage,omitempty"`
	LastPage                string                       `json:"lastPage,omitempty"`
	Publisher               string                       `json:"publisher,omitempty"`
	Edition                 string                       `json:"edition,omitempty"`
	Contributors            List[RelatedItemContributor] `json:"contributors,omitzero"`
}

// RelatedItemIdentifier names a related item.
type RelatedItemIdentifier struct {
	RelatedItemIdentifier     string                `json:"relatedItemIdentifier,omitempty"`
	RelatedItemIdentifierType RelatedIdentifierType `json:"relatedItemIdentifierType,omitempty"`
	RelatedMetadataScheme     string                `json:"relatedMetadataScheme,omitempty"`
	SchemeURI                 string                `json:"schemeURI,omitempty"` // in capitals here, and only here
	SchemeType                string                `json:"schemeType,omitempty"`
}

// RelatedItemCreator made a related item. Unlike a [Creator] it has neither
// identifiers nor affiliations.
type RelatedItemCreator struct {
	Name       string   `json:"name"`
	NameType   NameType `json:"nameType,omitempty"`
	Lang       string   `json:"lang,omitempty"`
	GivenName  string   `json:"givenName,omitempty"`
	FamilyName string   `json:"familyName,omitempty"`
}

// RelatedItemContributor had another part in a related item.
type RelatedItemContributor struct {
	Name            string          `json:"name"`
	NameType        NameType        `json:"nameType,omitempty"`
	Lang            string          `json:"lang,omitempty"`
	GivenName       string          `json:"givenName,omitempty"`
	FamilyName      string          `json:"familyName,omitempty"`
	ContributorType ContributorType `json:"contributorType,omitempty"`
}

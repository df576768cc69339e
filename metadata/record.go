package metadata

import (
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
	"sync"
)

// Namespace is the XML namespace of all versions of kernel 4 of the schema.
const Namespace = "http://datacite.org/schema/kernel-4"

const schemaLocation = Namespace + " https://schema.datacite.org/meta/kernel-4/metadata.xsd"

// KernelVersion is the version of the metadata schema, within kernel 4, whose rules this package knows.
const KernelVersion = "4.7"

// Record is the metadata of one DOI: every property and sub-property of the
// metadata schema (specification §2.2 and §2.3).
//
// As JSON, a Record is the attributes object of the DOI query interface; as XML, the
// document of the metadata store (see [ParseXML] and [Record.XML]). It can hold everything
// that either form can contain.
//
// The zero value of a field means that the property is missing. JSON leaves out a nil list
// and has [] for an empty one, which tells the service to clear the property.
//
// Record has no JSON methods, so it may be embedded in a larger struct. Its parts accept
// the JSON that the service sends, such as a number or null for a string, or one object for
// a list. They never fail: a value that they cannot read becomes the zero value. For DOI,
// Language, Version and SchemaVersion, encoding/json accepts only strings and null;
// [ParseJSON] also accepts numbers. The service's lists have the alternate identifiers in the
// member identifiers, which encoding/json ignores and ParseJSON reads.
type Record struct {
	// DOI is the name of the resource, such as 10.5438/0012. It may be empty if the path of
	// the request has the name, or if the service is to choose one.
	DOI string `json:"doi,omitempty"`

	Creators        List[Creator] `json:"creators,omitzero"`
	Titles          List[Title]   `json:"titles,omitzero"`
	Publisher       Publisher     `json:"publisher,omitzero"`
	PublicationYear Year          `json:"publicationYear,omitempty"`
	Types           Types         `json:"types,omitzero"`

	Subjects     List[Subject]     `json:"subjects,omitzero"`
	Contributors List[Contributor] `json:"contributors,omitzero"`
	Dates        List[Date]        `json:"dates,omitzero"`
	Language     string            `json:"language,omitempty"` // language tag such as en or pt-BR

	// AlternateIdentifiers are other names of the resource. JSON has them in two members,
	// alternateIdentifiers and identifiers. [ParseJSON] and package dois read both, without the
	// record's own DOI in identifiers; only alternateIdentifiers is written, because the service
	// drops it beside the other.
	AlternateIdentifiers List[AlternateIdentifier] `json:"alternateIdentifiers,omitzero"`

	RelatedIdentifiers List[RelatedIdentifier] `json:"relatedIdentifiers,omitzero"`
	Sizes              List[string]            `json:"sizes,omitzero"`
	Formats            List[string]            `json:"formats,omitzero"`
	Version            string                  `json:"version,omitempty"`
	RightsList         List[Rights]            `json:"rightsList,omitzero"`
	Descriptions       List[Description]       `json:"descriptions,omitzero"`
	GeoLocations       List[GeoLocation]       `json:"geoLocations,omitzero"`
	FundingReferences  List[FundingReference]  `json:"fundingReferences,omitzero"`
	RelatedItems       List[RelatedItem]       `json:"relatedItems,omitzero"`

	// SchemaVersion is the XML namespace of the document that was read. [Record.XML]
	// always writes [Namespace].
	SchemaVersion string `json:"schemaVersion,omitempty"`
}

// resourceElement is the root of the schema.
var resourceElement = sync.OnceValue(func() *element[Record] {
	return newElement("resource", anyOrder,
		namespaces[Record](` xmlns="`+Namespace+`" xmlns:xsi="`+xmlscan.SchemaInstanceSpace+`" xsi:schemaLocation="`+
			schemaLocation+`"`),
		doiElement(),
		nonEmptyList("creators", creatorElement(), noCreator, func(r *Record) *List[Creator] { return &r.Creators }),
		checkPeople("creators", func(r *Record) int { return len(r.Creators) }),
		nonEmptyList("titles", titleElement(), noTitle, func(r *Record) *List[Title] { return &r.Titles }),
		object("publisher", once, publisherElement(), func(r *Record) *Publisher { return &r.Publisher }),
		yearElement(),
		object("types", once, typesElement(), func(r *Record) *Types { return &r.Types }),
		list("subjects", subjectElement(), func(r *Record) *List[Subject] { return &r.Subjects }),
		list("contributors", contributorElement(), func(r *Record) *List[Contributor] { return &r.Contributors }),
		checkPeople("contributors", func(r *Record) int { return len(r.Contributors) }),
		list("dates", dateElement(), func(r *Record) *List[Date] { return &r.Dates }),
		textElement("language", optional, languageTag, func(r *Record) *string { return &r.Language }),
		list("alternateIdentifiers", alternateElement(),
			func(r *Record) *List[AlternateIdentifier] { return &r.AlternateIdentifiers }),
		list("relatedIdentifiers", relatedIdentifierElement(),
			func(r *Record) *List[RelatedIdentifier] { return &r.RelatedIdentifiers }),
		list("sizes", textItem("size"), func(r *Record) *List[string] { return &r.Sizes }),
		list("formats", textItem("format"), func(r *Record) *List[string] { return &r.Formats }),
		textElement("version", optional, anyWord, func(r *Record) *string { return &r.Version }),
		list("rightsList", rightsElement(), func(r *Record) *List[Rights] { return &r.RightsList }),
		list("descriptions", descriptionElement(), func(r *Record) *List[Description] { return &r.Descriptions }),
		geoLocations(),
		list("fundingReferences", fundingElement(), func(r *Record) *List[FundingReference] { return &r.FundingReferences }),
		list("relatedItems", relatedItemElement(), func(r *Record) *List[RelatedItem] { return &r.RelatedItems }),
		// kernel 2 has no list
		readOnly("rights", func(p *parser, r *Record) { readItem(p, rightsElement(), &r.RightsList) }),
		jsonOnly(
			identifiersMember(),
			jsonlex.Field("schemaVersion", func(d *decoder, r *Record) { r.SchemaVersion = d.Word() }),
		),
	)
})

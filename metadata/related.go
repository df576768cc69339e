package metadata

import (
	"slices"
	"sync"

	"github.com/datacite-go/datacite-go"
)

// RelatedIdentifier is an identifier of a related resource. RelatedMetadataScheme,
// SchemeURI and SchemeType are for the relations HasMetadata and IsMetadataFor.
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

var relatedIdentifierElement = sync.OnceValue(func() *element[RelatedIdentifier] {
	return newElement("relatedIdentifier", textOnly,
		text("relatedIdentifier", anyText, func(r *RelatedIdentifier) *string { return &r.RelatedIdentifier }),
		mandatory("relatedIdentifierType", relatedIdentifierType,
			func(r *RelatedIdentifier) *RelatedIdentifierType { return &r.RelatedIdentifierType }),
		mandatory("relationType", relationType, func(r *RelatedIdentifier) *RelationType { return &r.RelationType }),
		attribute("resourceTypeGeneral", resourceTypeGeneral,
			func(r *RelatedIdentifier) *ResourceTypeGeneral { return &r.ResourceTypeGeneral }),
		attribute("relatedMetadataScheme", anyWord, func(r *RelatedIdentifier) *string { return &r.RelatedMetadataScheme }),
		schemeURI(func(r *RelatedIdentifier) *string { return &r.SchemeURI }),
		attribute("schemeType", anyWord, func(r *RelatedIdentifier) *string { return &r.SchemeType }),
		attribute("relationTypeInformation", anyText,
			func(r *RelatedIdentifier) *string { return &r.RelationTypeInformation }),
		also(func(c *checker, p *path, r *RelatedIdentifier) {
			c.relation(p, r.RelationType, r.RelationTypeInformation)
			c.related(p.dot("relatedIdentifier"), r.RelatedIdentifier, r.RelatedIdentifierType)
			c.notInXML(p.dot("relatedMetadataScheme"), r.RelatedMetadataScheme)
			c.notInXML(p.dot("schemeUri"), r.SchemeURI)
			c.notInXML(p.dot("schemeType"), r.SchemeType)
			metadata := r.RelationType == RelationHasMetadata || r.RelationType == RelationIsMetadataFor
			if !metadata && (r.RelatedMetadataScheme != "" || r.SchemeURI != "" || r.SchemeType != "") {
				c.warn(datacite.CodeConflict, p.dot("relatedMetadataScheme"), r.RelatedMetadataScheme,
					"a metadata scheme, its URI and its type are only for the relations HasMetadata and IsMetadataFor")
			}
		}),
	)
})

var (
	relatedIdentifierType = termOf(relatedIdentifierTypes, "related identifier type")
	relationType          = termOf(relationTypes, "relation type")
)

// relation checks how a resource is related.
func (c *checker) relation(p *path, t RelationType, information string) {
	if t == RelationOther && information == "" {
		c.warn(datacite.CodeMissing, p.dot("relationTypeInformation"), "",
			"describe the relation Other in relationTypeInformation")
	}
}

// related checks the identifier of a related resource by its type.
func (c *checker) related(p *path, value string, t RelatedIdentifierType) {
	if value == "" {
		c.warn(datacite.CodeMissing, p, value, "the related identifier is empty")
	} else if s, ok := relatedSchemes[t]; ok {
		c.scheme(p, value, s)
	}
	if t == IdentifierDOI {
		c.padded(p, value)
	}
}

// RelatedItem describes a related resource, such as the journal of an article. It may have
// no identifier. Identifiers and affiliations of its creators and contributors are not
// part of the schema.
type RelatedItem struct {
	RelatedItemType         ResourceTypeGeneral   `json:"relatedItemType,omitempty"`
	RelationType            RelationType          `json:"relationType,omitempty"`
	RelationTypeInformation string                `json:"relationTypeInformation,omitempty"`
	RelatedItemIdentifier   RelatedItemIdentifier `json:"relatedItemIdentifier,omitzero"`
	Creators                List[Creator]         `json:"creators,omitzero"`
	Titles                  List[Title]           `json:"titles,omitzero"`
	PublicationYear         string                `json:"publicationYear,omitempty"`
	Volume                  string                `json:"volume,omitempty"`
	Issue                   string                `json:"issue,omitempty"`
	Number                  string                `json:"number,omitempty"`
	NumberType              NumberType            `json:"numberType,omitempty"`
	FirstPage               string                `json:"firstPage,omitempty"`
	LastPage                string                `json:"lastPage,omitempty"`
	Publisher               string                `json:"publisher,omitempty"`
	Edition                 string                `json:"edition,omitempty"`
	Contributors            List[Contributor]     `json:"contributors,omitzero"`
}

var relatedItemElement = sync.OnceValue(func() *element[RelatedItem] {
	return newElement("relatedItem", inOrder,
		mandatory("relatedItemType", resourceTypeGeneral,
			func(r *RelatedItem) *ResourceTypeGeneral { return &r.RelatedItemType }),
		mandatory("relationType", relationType, func(r *RelatedItem) *RelationType { return &r.RelationType }),
		attribute("relationTypeInformation", anyText, func(r *RelatedItem) *string { return &r.RelationTypeInformation }),
		also(func(c *checker, p *path, r *RelatedItem) {
			c.relation(p, r.RelationType, r.RelationTypeInformation)
			if r.RelationTypeInformation != "" {
				c.warn(datacite.CodeLossy, p.dot("relationTypeInformation"), r.RelationTypeInformation,
					"if the record is sent as XML, the service leaves this out of its JSON")
			}
		}),
		object("relatedItemIdentifier", optional, relatedItemIdentifierElement(),
			func(r *RelatedItem) *RelatedItemIdentifier { return &r.RelatedItemIdentifier }),
		list("creators", relatedItemCreatorElement(), func(r *RelatedItem) *List[Creator] { return &r.Creators }),
		also(func(c *checker, p *path, r *RelatedItem) {
			if len(r.Titles) == 0 {
				c.warn(datacite.CodeMissing, p.dot("titles"), "", "a related item needs a title")
			}
			for i, title := range r.Titles {
				if title.Lang != "" {
					c.warn(datacite.CodeNotInJSON, p.dot("titles").item(i).dot("lang"), title.Lang,
						"if the record is sent as JSON, the service ignores this; package mds sends XML")
				}
			}
		}),
		list("titles", titleElement(), func(r *RelatedItem) *List[Title] { return &r.Titles }),
		textElement("publicationYear", optional, year, func(r *RelatedItem) *string { return &r.PublicationYear }),
		untypedElement("volume", unescapedText, func(r *RelatedItem) *string { return &r.Volume }),
		untypedElement("issue", unescapedText, func(r *RelatedItem) *string { return &r.Issue }),
		textElement("number", optional, anyText, func(r *RelatedItem) *string { return &r.Number },
			attribute("numberType", termOf(numberTypes, "number type"),
				func(r *RelatedItem) *NumberType { return &r.NumberType })),
		untypedElement("firstPage", unescapedText, func(r *RelatedItem) *string { return &r.FirstPage }),
		untypedElement("lastPage", unescapedText, func(r *RelatedItem) *string { return &r.LastPage }),
		untypedElement("publisher", unescapedText, func(r *RelatedItem) *string { return &r.Publisher }),
		untypedElement("edition", unescapedText, func(r *RelatedItem) *string { return &r.Edition }),
		list("contributors", relatedItemContributorElement(),
			func(r *RelatedItem) *List[Contributor] { return &r.Contributors }),
	)
})

// RelatedItemIdentifier is the identifier of a related item.
type RelatedItemIdentifier struct {
	RelatedItemIdentifier     string                `json:"relatedItemIdentifier,omitempty"`
	RelatedItemIdentifierType RelatedIdentifierType `json:"relatedItemIdentifierType,omitempty"`
	RelatedMetadataScheme     string                `json:"relatedMetadataScheme,omitempty"`
	SchemeURI                 string                `json:"schemeURI,omitempty"` // the other types have schemeUri
	SchemeType                string                `json:"schemeType,omitempty"`
}

var relatedItemIdentifierElement = sync.OnceValue(func() *element[RelatedItemIdentifier] {
	return newElement("relatedItemIdentifier", textOnly,
		text("relatedItemIdentifier", anyText, func(r *RelatedItemIdentifier) *string { return &r.RelatedItemIdentifier }),
		attribute("relatedItemIdentifierType", relatedIdentifierType,
			func(r *RelatedItemIdentifier) *RelatedIdentifierType { return &r.RelatedItemIdentifierType }),
		attribute("relatedMetadataScheme", anyWord,
			func(r *RelatedItemIdentifier) *string { return &r.RelatedMetadataScheme }),
		newAttribute(&valueRule{name: "schemeURI", member: "schemeURI"}, schemeAddress,
			func(r *RelatedItemIdentifier) *string { return &r.SchemeURI }),
		attribute("schemeType", anyWord, func(r *RelatedItemIdentifier) *string { return &r.SchemeType }),
		also(func(c *checker, p *path, id *RelatedItemIdentifier) {
			if id.RelatedItemIdentifier != "" && id.RelatedItemIdentifierType == "" {
				c.warn(datacite.CodeScheme, p.dot("relatedItemIdentifierType"), "",
					"an identifier needs its type, such as DOI or ISSN")
			}
			c.related(p.dot("relatedItemIdentifier"), id.RelatedItemIdentifier, id.RelatedItemIdentifierType)
		}),
	)
})

// NumberType is the kind of a related item's number; [Values] lists them.
type NumberType string

var numberTypes = vocabulary{"Article", "Chapter", "Report", "Other"}

func (NumberType) vocabulary() vocabulary { return numberTypes }

// RelatedIdentifierType is the scheme of a related identifier.
type RelatedIdentifierType string

// Frequent values of [RelatedIdentifierType]; write others as the schema has them. [Values] lists all.
const (
	IdentifierArXiv RelatedIdentifierType = "arXiv"
	IdentifierDOI   RelatedIdentifierType = "DOI"
	IdentifierEISSN RelatedIdentifierType = "EISSN"
	IdentifierISBN  RelatedIdentifierType = "ISBN"
	IdentifierISSN  RelatedIdentifierType = "ISSN"
	IdentifierLISSN RelatedIdentifierType = "LISSN"
	IdentifierSWHID RelatedIdentifierType = "SWHID" // since 4.7
	IdentifierURL   RelatedIdentifierType = "URL"
)

var relatedIdentifierTypes = terms("ARK", IdentifierArXiv, "bibcode", IdentifierDOI, "EAN13", IdentifierEISSN, "Handle",
	"IGSN",
	IdentifierISBN, IdentifierISSN, "ISTC", IdentifierLISSN, "LSID", "PMID", "PURL", "UPC", IdentifierURL, "URN", "w3id", "CSTR",
	"RRID", "RAiD", IdentifierSWHID)

func (RelatedIdentifierType) vocabulary() vocabulary { return relatedIdentifierTypes }

// RelationType is the relation of the resource to another resource: this resource IsPartOf
// the other.
type RelationType string

// Frequent values of [RelationType]; write others as the schema has them. [Values] lists all.
const (
	RelationIsCitedBy           RelationType = "IsCitedBy"
	RelationCites               RelationType = "Cites"
	RelationIsSupplementTo      RelationType = "IsSupplementTo"
	RelationIsNewVersionOf      RelationType = "IsNewVersionOf"
	RelationIsPreviousVersionOf RelationType = "IsPreviousVersionOf"
	RelationIsPartOf            RelationType = "IsPartOf"
	RelationHasPart             RelationType = "HasPart"
	RelationIsPublishedIn       RelationType = "IsPublishedIn" // since 4.4
	RelationIsReferencedBy      RelationType = "IsReferencedBy"
	RelationReferences          RelationType = "References"
	RelationIsDocumentedBy      RelationType = "IsDocumentedBy"
	RelationHasMetadata         RelationType = "HasMetadata"
	RelationIsMetadataFor       RelationType = "IsMetadataFor"
	RelationIsReviewedBy        RelationType = "IsReviewedBy"
	RelationIsDerivedFrom       RelationType = "IsDerivedFrom"
	RelationIsSourceOf          RelationType = "IsSourceOf"
	RelationIsDescribedBy       RelationType = "IsDescribedBy" // since 4.1
	RelationHasVersion          RelationType = "HasVersion"    // since 4.1
	RelationIsVersionOf         RelationType = "IsVersionOf"   // since 4.1
	RelationRequires            RelationType = "Requires"      // since 4.1
	RelationIsRequiredBy        RelationType = "IsRequiredBy"  // since 4.1
	RelationOther               RelationType = "Other"         // since 4.7
)

// inverses are pairs of opposite relations.
var inverses = []RelationType{
	RelationIsCitedBy, RelationCites, RelationIsSupplementTo, "IsSupplementedBy", "IsContinuedBy", "Continues",
	RelationIsNewVersionOf, RelationIsPreviousVersionOf, RelationIsPartOf, RelationHasPart, RelationIsReferencedBy, RelationReferences,
	RelationIsDocumentedBy, "Documents", "IsCompiledBy", "Compiles", "IsVariantFormOf", "IsOriginalFormOf",
	"IsIdenticalTo", "IsIdenticalTo", RelationHasMetadata, RelationIsMetadataFor, "Reviews", RelationIsReviewedBy,
	RelationIsDerivedFrom, RelationIsSourceOf, "Describes", RelationIsDescribedBy, RelationHasVersion, RelationIsVersionOf,
	RelationRequires, RelationIsRequiredBy, "Obsoletes", "IsObsoletedBy", "Collects", "IsCollectedBy",
	"HasTranslation", "IsTranslationOf",
}

var relationTypes = terms(append(slices.Compact(slices.Clone(inverses)), RelationIsPublishedIn, RelationOther)...)

func (RelationType) vocabulary() vocabulary { return relationTypes }

// Inverse returns the relation of the other resource to this one: Cites for IsCitedBy. It
// is empty if the schema has none, as for IsPublishedIn and Other.
func (t RelationType) Inverse() RelationType {
	if i := slices.Index(inverses, t); i >= 0 {
		return inverses[i^1]
	}
	return ""
}

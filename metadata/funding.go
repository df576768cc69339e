package metadata

import (
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"sync"
)

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

var fundingElement = sync.OnceValue(func() *element[FundingReference] {
	return newElement("fundingReference", anyOrder,
		textElement("funderName", once, datatype{fault: required("the name of the funder"), spaces: oneBlank},
			func(f *FundingReference) *string { return &f.FunderName }),
		textElement("funderIdentifier", optional, anyWord, func(f *FundingReference) *string { return &f.FunderIdentifier },
			mandatory("funderIdentifierType", termOf(funderIdentifierTypes, "funder identifier type"),
				func(f *FundingReference) *FunderIdentifierType { return &f.FunderIdentifierType }),
			also(func(c *checker, p *path, f *FundingReference) {
				if s, ok := agentSchemes[fold(string(f.FunderIdentifierType))]; ok && f.FunderIdentifier != "" {
					c.scheme(p.dot("funderIdentifier"), f.FunderIdentifier, s)
				}
				if f.FunderIdentifierType == FunderCrossref || f.FunderIdentifierType == FunderROR {
					c.padded(p.dot("funderIdentifier"), f.FunderIdentifier)
				}
				if f.FunderIdentifierType != FunderROR || f.SchemeURI != rorURI { // which reading the XML adds
					c.notInXML(p.dot("schemeUri"), f.SchemeURI)
				}
				if f.FunderIdentifier == "" {
					c.notInXML(p.dot("funderIdentifierType"), string(f.FunderIdentifierType))
				}
			}),
			schemeURI(func(f *FundingReference) *string { return &f.SchemeURI })),
		textElement("awardNumber", optional, unescapedText, func(f *FundingReference) *string { return &f.AwardNumber },
			attribute("awardURI", uri, func(f *FundingReference) *string { return &f.AwardURI })),
		awardTitle(),
	)
})

// awardTitle is a text, which the service shows as an object if the XML has its language. The text of that is read, and
// the language is a value without a place.
func awardTitle() part[FundingReference] {
	p := untypedElement("awardTitle", anyText, func(f *FundingReference) *string { return &f.AwardTitle })
	read := p.members[0].Read
	object := jsonlex.NewObject(jsonlex.Field("__content__", read)).Or(read)
	p.members[0].Read = object.Read
	return p
}

// FunderIdentifierType is the scheme of a funder identifier.
type FunderIdentifierType string

// Frequent values of [FunderIdentifierType]; write others as the schema has them. [Values] lists all.
const (
	FunderGRID     FunderIdentifierType = "GRID"
	FunderROR      FunderIdentifierType = "ROR" // since 4.3
	FunderCrossref FunderIdentifierType = "Crossref Funder ID"
	FunderOther    FunderIdentifierType = "Other"
)

var funderIdentifierTypes = terms("ISNI", FunderGRID, FunderCrossref, FunderOther, FunderROR)

func (FunderIdentifierType) vocabulary() vocabulary { return funderIdentifierTypes }

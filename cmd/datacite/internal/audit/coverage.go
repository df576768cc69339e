package audit

import (
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// A coverage counts the records at the service that lack a property.
type coverage struct {
	Records int
	lacking [len(properties)]int
}

// A property is what others look for in a record.
type property struct {
	Name, Explanation string
	in                func(*metadata.Record) bool
}

var properties = [...]property{
	{"Licence", "a licence or a statement of rights", func(r *metadata.Record) bool {
		return slices.ContainsFunc(r.RightsList, func(x metadata.Rights) bool {
			return x.Rights+x.RightsURI+x.RightsIdentifier != ""
		})
	}},
	{"ORCID", "the ORCID of a creator or contributor", func(r *metadata.Record) bool { return identified(r, "orcid") }},
	{"ROR", "the ROR of a creator's or contributor's organization", func(r *metadata.Record) bool {
		return identified(r, "ror") || slices.ContainsFunc(affiliations(r), func(x metadata.Affiliation) bool {
			return names(x.AffiliationIdentifierScheme, x.AffiliationIdentifier, "ror")
		})
	}},
	{"Abstract", "a description of the type Abstract", func(r *metadata.Record) bool {
		return slices.ContainsFunc(r.Descriptions, func(x metadata.Description) bool {
			return x.DescriptionType == metadata.DescriptionAbstract && strings.TrimSpace(x.Description) != ""
		})
	}},
	{"Funding", "a funding reference", func(r *metadata.Record) bool { return len(r.FundingReferences) > 0 }},
	{"Related works", "a related identifier or item, such as the article",
		func(r *metadata.Record) bool { return len(r.RelatedIdentifiers)+len(r.RelatedItems) > 0 }},
}

// names reports whether an identifier is of a scheme.
func names(scheme, identifier, of string) bool {
	return identifier != "" && (strings.EqualFold(scheme,
		of) || strings.Contains(strings.ToLower(identifier), "//"+of+".org/"))
}

// identified reports whether a creator or contributor has an identifier of a scheme.
func identified(r *metadata.Record, scheme string) bool {
	good := func(x metadata.NameIdentifier) bool { return names(x.NameIdentifierScheme, x.NameIdentifier, scheme) }
	return slices.ContainsFunc(r.Creators, func(c metadata.Creator) bool {
		return slices.ContainsFunc(c.NameIdentifiers, good)
	}) ||
		slices.ContainsFunc(r.Contributors,
			func(c metadata.Contributor) bool { return slices.ContainsFunc(c.NameIdentifiers, good) })
}

func affiliations(r *metadata.Record) (all []metadata.Affiliation) {
	for _, c := range r.Creators {
		all = append(all, c.Affiliation...)
	}
	for _, c := range r.Contributors {
		all = append(all, c.Affiliation...)
	}
	return all
}

// count counts a record.
func (c *coverage) count(r *dois.Record) {
	c.Records++
	for i, p := range properties {
		if !p.in(&r.Record) {
			c.lacking[i]++
		}
	}
}

// A lack is how many records lack a property.
type lack struct {
	property
	Records, Of int
}

// Lacks are those of all properties.
func (c *coverage) Lacks() (all []lack) {
	for i, p := range properties {
		all = append(all, lack{p, c.lacking[i], c.Records})
	}
	return all
}

package metadata

import (
	"slices"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// AlternateIdentifier is another name of the resource, such as a local accession number.
type AlternateIdentifier struct {
	AlternateIdentifier     string `json:"alternateIdentifier"`
	AlternateIdentifierType string `json:"alternateIdentifierType"` // mandatory, or the service refuses the list
}

// Identifier is an alternate identifier in [Record].Identifiers.
type Identifier struct {
	Identifier     string `json:"identifier"`
	IdentifierType string `json:"identifierType,omitempty"`
}

var alternateElement = sync.OnceValue(func() *element[AlternateIdentifier] {
	return newElement("alternateIdentifier", textOnly,
		text("alternateIdentifier", anyText, func(a *AlternateIdentifier) *string { return &a.AlternateIdentifier }),
		mandatory("alternateIdentifierType", datatype{fault: required("the type of an alternate identifier"), word: true},
			func(a *AlternateIdentifier) *string { return &a.AlternateIdentifierType }).always(),
		also(func(c *checker, p *path, a *AlternateIdentifier) {
			switch {
			case a.AlternateIdentifier == "":
				c.warn(datacite.CodeLossy, p.dot("alternateIdentifier"), a.AlternateIdentifier,
					"the service drops empty alternate identifiers")
			case strings.EqualFold(a.AlternateIdentifierType, "DOI"):
				c.warn(datacite.CodeLossy, p.dot("alternateIdentifierType"), a.AlternateIdentifierType,
					"the service drops DOIs from the alternate identifiers; relate them with IsIdenticalTo")
			}
		}),
	)
})

// identifierElement is for JSON only.
var identifierElement = sync.OnceValue(func() *element[Identifier] {
	return newElement("", textOnly,
		text("identifier", anyText, func(i *Identifier) *string { return &i.Identifier }),
		attribute("identifierType", anyWord, func(i *Identifier) *string { return &i.IdentifierType }),
	)
})

// The DOI of a record. The schema wants it in the document, and the service takes
// it from the path of the request, so only documents are checked for it.
func doiElement() part[Record] {
	doi := "DOI"
	identifierType := attribute("identifierType", datatype{fault: identifierTypeRule}, func(*Record) *string {
		return &doi
	}).always()
	identifierType.attribute.mandatory = true
	identifierType.attribute.set = func(*Record, string) {}
	identifierType.members = nil
	p := inside(once, newElement("identifier", textOnly,
		text("doi", datatype{fault: identifierRule}, func(r *Record) *string { return &r.DOI }), identifierType)).always()
	p.check, p.bare = nil, nil
	return p
}

func identifierRule(value string) *fault {
	if xmlscan.Trim(value) == "" {
		return newFault(datacite.CodeIdentifier,
			"the identifier is empty: the schema requires the DOI, and the service takes it from the path of the request")
	}
	return nil
}

func identifierTypeRule(value string) *fault {
	if value == "DOI" {
		return nil
	}
	return warning(datacite.CodeIdentifier, "the identifierType of a record is DOI")
}

// Alternates returns the other names of the resource: AlternateIdentifiers or, if that is
// nil, Identifiers without the record's own DOI, which responses contained until 2019.
func (r *Record) Alternates() []AlternateIdentifier {
	if r == nil {
		return nil
	}
	if r.AlternateIdentifiers != nil {
		return r.AlternateIdentifiers
	}
	var out []AlternateIdentifier
	for _, id := range r.Identifiers {
		if !r.isOwn(id) {
			out = append(out, AlternateIdentifier{AlternateIdentifier: id.Identifier,
				AlternateIdentifierType: id.IdentifierType})
		}
	}
	return out
}

// OwnNames returns a warning for each alternate identifier that is the DOI or the URL with
// which the record is registered: the service stores it, but shows it neither in JSON nor in
// searches. [Record.Findings] does not report these, because it does not know the URL.
func (r *Record) OwnNames(doi, url string) (found []datacite.Finding) {
	for i, a := range r.Alternates() {
		if value := a.AlternateIdentifier; value != "" && (value == url || strings.EqualFold(value, doi)) {
			found = append(found, warning(datacite.CodeLossy,
				"the service does not show an alternate identifier that is the DOI or its URL").
				at((&path{name: "alternateIdentifiers"}).item(i).dot("alternateIdentifier"), value))
		}
	}
	return found
}

// withAlternates returns the record with its Alternates as AlternateIdentifiers.
func (r *Record) withAlternates() *Record {
	if r.Identifiers == nil {
		return r
	}
	whole := *r
	whole.AlternateIdentifiers = r.Alternates()
	return &whole
}

// isOwn reports whether id is the DOI of the record, or an empty DOI.
func (r *Record) isOwn(id Identifier) bool {
	if id.IdentifierType != string(IdentifierDOI) {
		return false
	}
	name := doiRule.bare(xmlscan.Trim(id.Identifier))
	return name == "" || strings.EqualFold(name, doiRule.bare(r.DOI))
}

// checkIdentifiers compares the two lists of other names.
func checkIdentifiers(c *checker, _ *path, r *Record) {
	if r.AlternateIdentifiers == nil || r.Identifiers == nil {
		return
	}
	if other := (&Record{DOI: r.DOI, Identifiers: r.Identifiers}).Alternates(); !slices.Equal(other,
		r.AlternateIdentifiers) {
		c.warn(datacite.CodeLossy, (*path)(nil).dot("identifiers"), "",
			"identifiers and alternateIdentifiers differ, and only one of them is kept; leave the other empty")
	}
}

package metadata

import (
	"slices"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// AlternateIdentifier is another name of the resource, such as a local accession number.
type AlternateIdentifier struct {
	AlternateIdentifier     string `json:"alternateIdentifier"`
	AlternateIdentifierType string `json:"alternateIdentifierType"` // mandatory, or the service refuses the list
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

// readIdentifiers reads the other list of alternate identifiers in JSON.
var readIdentifiers = jsonlex.List[List[AlternateIdentifier]](jsonlex.NewObject(
	jsonlex.Field("identifier", func(d *decoder, a *AlternateIdentifier) { a.AlternateIdentifier = d.Text() }),
	jsonlex.Field("identifierType", func(d *decoder, a *AlternateIdentifier) { a.AlternateIdentifierType = d.Word() }),
).Or(func(d *decoder, a *AlternateIdentifier) { a.AlternateIdentifier = d.Text() }).Item)

// identifiersMember is read when the rest of the record is: it may have the DOI, and what AlternateIdentifiers
// has, too.
func identifiersMember() member[Record] {
	return jsonlex.Field("identifiers", func(d *decoder, r *Record) {
		list := readIdentifiers(d)
		d.Later(func() { r.takeIdentifiers(list) })
	})
}

// takeIdentifiers adds what the other list has. Up to 2019, responses had the DOI there, too, and DataCite's own JSON
// schema has it only there.
func (r *Record) takeIdentifiers(list List[AlternateIdentifier]) {
	isEmpty := len(list) == 0
	if r.DOI == "" {
		r.DOI = onlyDOI(list)
	}
	list = slices.DeleteFunc(list, func(a AlternateIdentifier) bool {
		name, isDOI := a.doi()
		return isDOI && (name == "" || strings.EqualFold(name, doiRule.bare(r.DOI)))
	})
	switch {
	case r.AlternateIdentifiers == nil && (isEmpty || len(list) > 0):
		r.AlternateIdentifiers = list
		return
	case slices.Equal(list, r.AlternateIdentifiers):
		return
	}
	known := make(map[AlternateIdentifier]bool, len(r.AlternateIdentifiers))
	for _, a := range r.AlternateIdentifiers {
		known[a] = true
	}
	for _, a := range list {
		if !known[a] {
			r.AlternateIdentifiers = append(r.AlternateIdentifiers, a)
		}
	}
}

// onlyDOI is the DOI in a list without a second one.
func onlyDOI(list []AlternateIdentifier) (only string) {
	for _, a := range list {
		switch name, _ := a.doi(); {
		case !doiPattern().MatchString(name) || strings.EqualFold(name, only):
		case only != "":
			return ""
		default:
			only = name
		}
	}
	return only
}

func (a AlternateIdentifier) doi() (name string, isDOI bool) {
	if a.AlternateIdentifierType != string(IdentifierDOI) {
		return "", false
	}
	return doiRule.bare(xmlscan.Trim(a.AlternateIdentifier)), true
}

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

// OwnNames returns a warning for each alternate identifier that is the DOI or the URL with
// which the record is registered: the service stores it, but shows it neither in JSON nor in
// searches. [Record.Findings] does not report these, because it does not know the URL.
func (r *Record) OwnNames(doi, url string) (found []datacite.Finding) {
	if r == nil {
		return nil
	}
	for i, a := range r.AlternateIdentifiers {
		if value := a.AlternateIdentifier; value != "" && (value == url || strings.EqualFold(value, doi)) {
			found = append(found, warning(datacite.CodeLossy,
				"the service does not show an alternate identifier that is the DOI or its URL").
				at((&path{name: "alternateIdentifiers"}).item(i).dot("alternateIdentifier"), value))
		}
	}
	return found
}

package dois_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// shelf has one word in a different place of each record.
var shelf = []string{
	`{"doi":"10.5072/title","titles":[{"title":"The amber archive"}]}`,
	`{"doi":"10.5072/creator","creators":[{"name":"Amber, Ada","givenName":"Ada","familyName":"Amber"}],"titles":[{"title":"Ice core data"}]}`,
	`{"doi":"10.5072/orcid","creators":[{"name":"Noether, Emmy","nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001-2345-6789","nameIdentifierScheme":"ORCID"}]}]}`,
	`{"doi":"10.5072/publisher","publisher":{"name":"Amber Press","publisherIdentifier":"https://ror.org/04z8jg394"}}`,
	`{"doi":"10.5072/description","descriptions":[{"description":"About amber and data","descriptionType":"Abstract"}]}`,
	`{"doi":"10.5072/subject","subjects":[{"subject":"amber"}],"types":{"resourceTypeGeneral":"Dataset"},"publicationYear":2020}`,
	`{"doi":"10.5072/related","relatedIdentifiers":[{"relatedIdentifier":"10.5072/xyz","relatedIdentifierType":"DOI","relationType":"Cites"}]}`,
	`{"doi":"10.5072/url","url":"https://example.org/amber","titles":[{"title":"Core ice drilled"}],"citationCount":9}`,
}

// TestQuerySyntax sends each rule of specification §4.2.1, as text and as the
// builder writes it.
func TestQuerySyntax(t *testing.T) {
	for _, tt := range []struct {
		name    string
		expr    query.Expr
		want    string
		instead *string // on the deployed service
	}{
		{"1 field and value", query.Raw("titles.title:archive"), "title", nil},
		{"1 field and value, built", query.FieldTitle.Is("archive"), "title", nil},
		{"1 field of a nested object", query.Raw("creators.nameIdentifiers.nameIdentifierScheme:ORCID"), "orcid", nil},
		{"1 field of an object", query.Raw("types.resourceTypeGeneral:Dataset"), "subject", nil},
		{"1 field with a year", query.FieldPublicationYear.Is("2020"), "subject", nil},
		{"1 field with a count", query.FieldCitationCount.Between("5", ""), "url", nil},
		{"1 field with a DOI", query.FieldDOI.Is("10.5072/URL"), "url", nil},
		{"2 no field, in five of the common ones", query.Term("amber"), "creator description publisher subject title", nil},
		{"2 no field, in creator nameIdentifier", query.Term("https://orcid.org/0000-0001-2345-6789"), "orcid", new("")},
		{"2 no field, in relatedIdentifier", query.Term("10.5072/xyz"), "related", nil},
		{"3 wildcard for any characters", query.Raw("arch*"), "title", nil},
		{"3 wildcard for one character", query.Raw("a?ber"), "creator description publisher subject title", nil},
		{"3 wildcard for one character is not for two", query.Wildcard("a?er"), "", nil},
		{"3 wildcard in a field", query.FieldCreatorFamilyName.Like("Amb*"), "creator", nil},
		{"3 any value of a field", query.Raw("subjects.subject:*"), "subject", nil},
		{"3 any value of a field, built", query.FieldSubject.Exists(), "subject", nil},
		{"4 terms are optional", query.Raw("archive data"), "creator description title", new("")},
		{"4 a term that must match", query.Raw("+data archive"), "creator description", new("")},
		{"4 a term that must not match", query.Raw("amber -archive"), "creator description publisher subject", nil},
		{"4 must and must not, built", query.Bool(query.Must(query.Term("data")), query.MustNot(query.Term("amber"))), "", nil},
		{"5 AND", query.Raw("amber AND data"), "creator description", nil},
		{"5 AND, built", query.And(query.Term("amber"), query.Term("data")), "creator description", nil},
		{"5 OR", query.Raw("archive OR core"), "creator title url", nil},
		{"5 OR, built", query.Or(query.Term("archive"), query.Term("core")), "creator title url", nil},
		{"5 NOT", query.Raw("core NOT data"), "url", nil},
		{"5 NOT, built", query.And(query.Term("core"), query.Not(query.Term("data"))), "url", nil},
		{"5 parentheses", query.Raw("(archive OR core) AND (ice OR nothing)"), "creator url", nil},
		{"5 parentheses, built", query.And(query.Or(query.Term("archive"), query.Term("core")), query.Term("ice")), "creator url", nil},
		{"5 operators are case-sensitive", query.Raw("archive and core"), "creator description title url", new("")},
		{"6 exact phrase", query.Raw(`"ice core"`), "creator", nil},
		{"6 exact phrase, built", query.Phrase("core ice"), "url", nil},
		{"6 exact phrase in a field", query.FieldTitle.Match(query.Phrase("ice core")), "creator", nil},
		{"7 special characters", query.FieldCreatorNameIdentifier.Is("https://orcid.org/0000-0001-2345-6789"), "orcid", nil},
		{"7 special characters that nothing has", query.Term(`a+b&c=d#e/f?g%h;"i"`), "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				seed(t, srv, shelf...)
				want := words(tt.want)
				if deployed(t) && tt.instead != nil {
					want = words(*tt.instead) // terms without an operator must all match there, and nameIdentifiers are not searched
				}
				for _, inBody := range []bool{false, true} {
					found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{Query: tt.expr, InBody: inBody})
					require.NoError(t, err)
					assert.Equal(t, want, sorted(found.Records), "query %s, in body: %v", tt.expr, inBody)
				}
			})
		})
	}
}

func TestQueryEncoding(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		expr := query.Bool(query.Must(query.Term("a b")), query.Term("c+d&e=f"))
		_, err := srv.DOIs().List(t.Context(), &dois.ListOptions{Query: expr})
		require.NoError(t, err)
		raw := last(t, srv).URL.RawQuery
		assert.Contains(t, raw, "%20", "a blank")
		assert.Contains(t, raw, "%2B", "a plus")
		assert.NotContains(t, raw, "+")
		sent, err := url.ParseQuery(raw)
		require.NoError(t, err)
		assert.Equal(t, expr.String(), sent.Get("query"), "the service reads what was written")
	})
}

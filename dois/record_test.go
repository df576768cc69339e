package dois_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// fullRecord has every field of specification §2.2.
const fullRecord = `{
	"doi":"10.5072/full","url":"https://example.org/full","created":"2020-01-02T03:04:05Z","registered":"2020-01-03T00:00:00Z",
	"titles":[{"title":"Ice cores"},{"title":"Cores of ice","titleType":"AlternativeTitle","lang":"en"}],
	"creators":[{"name":"Lovelace, Ada","nameType":"Personal","givenName":"Ada","familyName":"Lovelace",
		"affiliation":[{"name":"DataCite","schemeUri":"https://ror.org","affiliationIdentifier":"https://ror.org/04wxnsj81","affiliationIdentifierScheme":"ROR"},
			{"name":"A place without an identifier"}],
		"nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001-2345-6789","nameIdentifierScheme":"ORCID"}]}],
	"publisher":{"name":"Example Press","schemeUri":"https://ror.org","publisherIdentifier":"https://ror.org/04z8jg394","publisherIdentifierScheme":"ROR","lang":"en"},
	"publicationYear":2020,
	"descriptions":[{"description":"What they say","descriptionType":"Abstract"}],
	"subjects":[{"subject":"glaciology"}],
	"types":{"resourceTypeGeneral":"Dataset","resourceType":"Table"},
	"relatedIdentifiers":[
		{"relationType":"Cites","relatedIdentifier":"10.5072/cited","relatedIdentifierType":"DOI"},
		{"relationType":"IsCitedBy","relatedIdentifier":"10.5072/citing","relatedIdentifierType":"DOI"},
		{"relationType":"HasPart","relatedIdentifier":"10.5072/part","relatedIdentifierType":"DOI"},
		{"relationType":"IsPartOf","relatedIdentifier":"10.5072/whole","relatedIdentifierType":"DOI"},
		{"relationType":"HasVersion","relatedIdentifier":"10.5072/v2","relatedIdentifierType":"DOI"},
		{"relationType":"IsVersionOf","relatedIdentifier":"10.5072/v0","relatedIdentifierType":"DOI"}],
	"viewCount":11,"downloadCount":7,"citationCount":3,
	"viewsOverTime":[{"yearMonth":"2020-01","total":5},{"yearMonth":"2020-02","total":6}],
	"citationsOverTime":[{"year":"2021","total":3}],
	"alternateIdentifiers":[{"alternateIdentifier":"core-17","alternateIdentifierType":"Local accession number"}],
	"xml":"PHJlc291cmNlLz4="}`

// TestRecordFields reads every field of specification §2.2, each way there is.
func TestRecordFields(t *testing.T) {
	flags := struct{ affiliation, publisher, detail bool }{true, true, true}
	list := func(t *testing.T, srv *datacitetest.Server) *dois.Record {
		found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{
			IDs: []string{"10.5072/full"}, Affiliation: flags.affiliation, Publisher: flags.publisher, Detail: flags.detail,
		})
		require.NoError(t, err)
		require.Len(t, found.Records, 1)
		return &found.Records[0]
	}
	get := func(t *testing.T, srv *datacitetest.Server) *dois.Record {
		r, err := srv.DOIs().Get(t.Context(), "10.5072/full", &dois.GetOptions{
			Affiliation: flags.affiliation, Publisher: flags.publisher, Detail: flags.detail,
		})
		require.NoError(t, err)
		return r
	}
	for name, read := range map[string]func(*testing.T, *datacitetest.Server) *dois.Record{"in a list": list, "alone": get} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				seed(t, srv, fullRecord)
				for _, related := range []string{"cited", "citing", "part", "whole", "v2", "v0"} {
					seed(t, srv, `{"doi":"10.5072/`+related+`"}`)
				}
				r := read(t, srv)

				assert.Equal(t, "10.5072/full", r.DOI, "doi")
				assert.Equal(t, metadata.List[metadata.Title]{
					{Title: "Ice cores"}, {Title: "Cores of ice", TitleType: metadata.TitleAlternative, Lang: "en"},
				}, r.Titles, "titles")
				assert.Equal(t, metadata.List[metadata.Creator]{{
					Name: "Lovelace, Ada", NameType: metadata.NamePersonal, GivenName: "Ada", FamilyName: "Lovelace",
					Affiliation: []metadata.Affiliation{
						{Name: "DataCite", SchemeURI: "https://ror.org", AffiliationIdentifier: "https://ror.org/04wxnsj81", AffiliationIdentifierScheme: "ROR"},
						{Name: "A place without an identifier"},
					},
					NameIdentifiers: []metadata.NameIdentifier{{NameIdentifier: "https://orcid.org/0000-0001-2345-6789", NameIdentifierScheme: "ORCID"}},
				}}, r.Creators, "creators")
				assert.Equal(t, metadata.Publisher{
					Name: "Example Press", SchemeURI: "https://ror.org", PublisherIdentifier: "https://ror.org/04z8jg394", PublisherIdentifierScheme: "ROR", Lang: "en",
				}, r.Publisher, "publisher")
				assert.Equal(t, metadata.Year(2020), r.PublicationYear, "publicationYear")
				assert.Equal(t, metadata.List[metadata.Description]{{Description: "What they say", DescriptionType: "Abstract"}}, r.Descriptions, "descriptions")
				assert.Equal(t, metadata.List[metadata.Subject]{{Subject: "glaciology"}}, r.Subjects, "subjects")
				assert.Equal(t, metadata.ResourceTypeDataset, r.Types.ResourceTypeGeneral, "types.resourceTypeGeneral")
				assert.Equal(t, "Table", r.Types.ResourceType, "types.resourceType")
				require.Len(t, r.RelatedIdentifiers, 6, "relatedIdentifiers")
				assert.Equal(t, metadata.RelatedIdentifier{
					RelationType: "Cites", RelatedIdentifier: "10.5072/cited", RelatedIdentifierType: "DOI",
				}, r.RelatedIdentifiers[0])
				assert.Equal(t, [3]int{11, 7, 3}, [3]int{r.ViewCount, r.DownloadCount, r.CitationCount}, "counters")

				assert.Equal(t, "10.5072", r.Prefix, "prefix")
				assert.Equal(t, "full", r.Suffix, "suffix")
				assert.Equal(t, dois.Series{{YearMonth: "2020-01", Total: 5}, {YearMonth: "2020-02", Total: 6}}, r.ViewsOverTime, "viewsOverTime")
				assert.Equal(t, dois.Series{{Year: "2021", Total: 3}}, r.CitationsOverTime, "citationsOverTime")
				assert.Equal(t, "example", r.Provider, "provider")
				assert.Equal(t, "example.repo", r.Client)
				assert.Equal(t, []string{"10.5072/cited"}, r.References, "references")
				assert.Equal(t, []string{"10.5072/citing"}, r.Citations, "citations")
				assert.Equal(t, []string{"10.5072/part"}, r.Parts, "parts")
				assert.Equal(t, []string{"10.5072/whole"}, r.PartOf, "partOf")
				assert.Equal(t, []string{"10.5072/v2"}, r.Versions, "versions")
				assert.Equal(t, []string{"10.5072/v0"}, r.VersionOf, "versionOf")
				assert.Equal(t, "<resource/>", string(r.MetadataXML), "xml")
				assert.Equal(t, metadata.List[metadata.AlternateIdentifier]{
					{AlternateIdentifier: "core-17", AlternateIdentifierType: "Local accession number"},
				}, r.AlternateIdentifiers, "alternateIdentifiers")

				assert.Equal(t, "https://example.org/full", r.URL)
				assert.Equal(t, dois.StateFindable, r.State)
				created, err := r.Created.Time()
				require.NoError(t, err)
				assert.Equal(t, 2020, created.Year())
			})
		})
	}
}

// TestEveryShapeOfARecord reads one record in each shape of specification §2.2 and §9: the
// type in Go stays, and identifiers are there only when asked for.
func TestEveryShapeOfARecord(t *testing.T) {
	scene := func(name string, tell func(t *testing.T, srv *datacitetest.Server)) {
		story(t, name, []string{fullRecord}, tell)
	}
	list := func(t *testing.T, srv *datacitetest.Server, opts dois.ListOptions) dois.Record {
		found, err := srv.DOIs().List(t.Context(), &opts)
		require.NoError(t, err)
		require.Len(t, found.Records, 1)
		return found.Records[0]
	}
	raw := func(r dois.Record, name string) string {
		var v json.RawMessage
		_, err := r.Decode(name, &v)
		require.NoError(t, err)
		return string(v)
	}
	scene("plain affiliations", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{})
		assert.Equal(t, metadata.List[metadata.Affiliation]{{Name: "DataCite"}, {Name: "A place without an identifier"}}, r.Creators[0].Affiliation)
		assert.Contains(t, raw(r, "creators"), `"affiliation":["DataCite","A place without an identifier"]`)
	})
	scene("affiliations as objects", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{Affiliation: true})
		assert.Equal(t, "https://ror.org/04wxnsj81", r.Creators[0].Affiliation[0].AffiliationIdentifier)
		assert.Equal(t, metadata.Affiliation{Name: "A place without an identifier"}, r.Creators[0].Affiliation[1])
	})
	scene("plain publisher", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{})
		assert.Equal(t, metadata.Publisher{Name: "Example Press"}, r.Publisher)
		assert.Equal(t, `"Example Press"`, raw(r, "publisher"))
	})
	scene("publisher as an object", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{Publisher: true})
		assert.Equal(t, "https://ror.org/04z8jg394", r.Publisher.PublisherIdentifier)
	})
	scene("without detail", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{})
		assert.Empty(t, r.Prefix)
		assert.Nil(t, r.MetadataXML)
		assert.Nil(t, r.Citations)
		assert.Equal(t, []metadata.AlternateIdentifier{
			{AlternateIdentifier: "core-17", AlternateIdentifierType: "Local accession number"},
		}, r.Alternates(), "another attribute has them too")
	})
	scene("only some fields", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{Fields: []string{"doi", "titles"}})
		assert.Equal(t, "10.5072/full", r.DOI)
		assert.Len(t, r.Titles, 2)
		assert.Empty(t, r.Creators)
		assert.Empty(t, r.URL)
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(r.Raw, &members))
		assert.Len(t, members, 2, "nothing else was sent")
	})
	scene("fields without the name", func(t *testing.T, srv *datacitetest.Server) {
		assert.Equal(t, "10.5072/full", list(t, srv, dois.ListOptions{Fields: []string{"titles"}}).DOI)
	})
}

// xmlRecord is metadata XML as a Draft sends it.
const xmlRecord = `<resource xmlns="http://datacite.org/schema/kernel-4">` +
	`<identifier identifierType="DOI">10.5072/xml</identifier>` +
	`<creators><creator><creatorName>Hopper, Grace</creatorName></creator></creators>` +
	`<titles><title>From XML</title></titles><publisher>Example Press</publisher><publicationYear>2021</publicationYear>` +
	`<resourceType resourceTypeGeneral="Dataset">Table</resourceType></resource>`

func TestXMLAttribute(t *testing.T) {
	for name, given := range map[string]string{
		"absent":     `{"doi":"10.5072/x"}`,
		"null":       `{"doi":"10.5072/x","xml":null}`,
		"empty":      `{"doi":"10.5072/x","xml":""}`,
		"not base64": `{"doi":"10.5072/x","xml":"<resource>"}`,
		"an object":  `{"doi":"10.5072/x","xml":{"a":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := recordFrom(t, given)
			assert.Equal(t, "10.5072/x", r.DOI)
			assert.Nil(t, r.MetadataXML)
		})
	}
	r := recordFrom(t, `{"doi":"10.5072/x","xml":"`+base64.StdEncoding.EncodeToString([]byte(xmlRecord))+`"}`)
	assert.Equal(t, xmlRecord, string(r.MetadataXML))
}

// Members are found whatever the case of their names, as encoding/json does.
func TestMembersInAnyCase(t *testing.T) {
	var r dois.Record
	require.NoError(t, json.Unmarshal([]byte(`{"DOI":"10.5072/x","publicationyear":"2026"}`), &r))
	assert.Equal(t, "10.5072/x", r.DOI)
	assert.Equal(t, metadata.Year(2026), r.PublicationYear)
}

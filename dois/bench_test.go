package dois_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
)

// realisticPage is a page of records with all that a record usually has.
func realisticPage(records int) []byte {
	var b strings.Builder
	b.WriteString(`{"data":[`)
	for i := range records {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"10.5072/r%04d","type":"dois","attributes":{"doi":"10.5072/r%04[1]d","identifiers":[{"identifier":"core-%[1]d","identifierType":"Local"}],
"creators":[{"name":"Lovelace, Ada","nameType":"Personal","givenName":"Ada","familyName":"Lovelace","affiliation":["Analytical Society","Ice Archive"],"nameIdentifiers":[{"schemeUri":"https://orcid.org","nameIdentifier":"https://orcid.org/0000-0001-2345-6789","nameIdentifierScheme":"ORCID"}]},
{"name":"Hopper, Grace","nameType":"Personal","givenName":"Grace","familyName":"Hopper","affiliation":[],"nameIdentifiers":[]}],
"titles":[{"title":"Ice core measurements, drilling site %[1]d, with \"raw\" data"}],"publisher":"Ice Archive","container":{},"publicationYear":2020,
"subjects":[{"subject":"ice cores"},{"subject":"glaciology","subjectScheme":"GCMD"},{"subject":"climate"}],"contributors":[],
"dates":[{"date":"2020-03-01","dateType":"Issued"},{"date":"2019","dateType":"Collected"}],"language":"en",
"types":{"ris":"DATA","bibtex":"misc","citeproc":"dataset","schemaOrg":"Dataset","resourceType":"Table","resourceTypeGeneral":"Dataset"},
"relatedIdentifiers":[{"relationType":"IsCitedBy","relatedIdentifier":"10.5072/paper-%[1]d","relatedIdentifierType":"DOI"}],"relatedItems":[],"sizes":["5 MB"],"formats":["text/csv"],"version":"1.0",
"rightsList":[{"rights":"Creative Commons Attribution 4.0 International","rightsUri":"https://creativecommons.org/licenses/by/4.0/legalcode","schemeUri":"https://spdx.org/licenses/","rightsIdentifier":"cc-by-4.0","rightsIdentifierScheme":"SPDX"}],
"descriptions":[{"description":"%[2]s","descriptionType":"Abstract"}],
"geoLocations":[{"geoLocationPoint":{"pointLatitude":"78.22","pointLongitude":"15.65"},"geoLocationPlace":"Svalbard"}],"fundingReferences":[{"funderName":"Ice Council","awardNumber":"42"}],
"url":"https://repository.example.org/records/%[1]d","contentUrl":null,"metadataVersion":2,"schemaVersion":"http://datacite.org/schema/kernel-4","source":"mds","isActive":true,"state":"findable","reason":null,
"viewCount":12,"downloadCount":3,"referenceCount":0,"citationCount":1,"partCount":0,"partOfCount":0,"versionCount":0,"versionOfCount":0,
"created":"2020-03-01T10:00:00Z","registered":"2020-03-01T10:00:01Z","published":null,"updated":"2021-07-08T09:53:54Z"},"relationships":{"client":{"data":{"id":"ice.archive","type":"clients"}}}}`,
			i, strings.Repeat("The site was drilled to a depth of four hundred metres. ", 12))
	}
	b.WriteString(`],"meta":{"totalPages":1,"page":1},"links":{"self":"https://localhost/dois"}}`)
	return []byte(b.String())
}

// plainRecord has the fields of a record without its own way to be read.
type plainRecord dois.Record

type plainPage struct {
	Data []struct {
		ID            string          `json:"id"`
		Attributes    plainRecord     `json:"attributes"`
		Relationships json.RawMessage `json:"relationships"`
	} `json:"data"`
}

// TestBothReadTheSame makes sure that the benchmarks below do the same work.
func TestBothReadTheSame(t *testing.T) {
	data := realisticPage(1000)
	var plain plainPage
	require.NoError(t, json.Unmarshal(data, &plain))
	found, err := canned(t, data).List(t.Context(), &dois.ListOptions{Page: query.Page{Size: 1000}})
	require.NoError(t, err)
	require.Len(t, found.Records, 1000)
	for i, r := range found.Records {
		want := dois.Record(plain.Data[i].Attributes)
		want.AlternateIdentifiers, want.Identifiers = want.Alternates(), nil
		assert.Equal(t, want.Record, r.Record)
		assert.Equal(t, want.URL, r.URL)
		assert.Equal(t, want.ViewCount, r.ViewCount)
	}
}

// canned is a client of a service that always gives the same response.
func canned(t testing.TB, data []byte) *dois.Client {
	t.Helper()
	client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"}, HTTPClient: &http.Client{Transport: same(data)}})
	require.NoError(t, err)
	return client
}

type same []byte

func (s same) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(s)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(s)),
	}, nil
}

// BenchmarkPage reads a page of 1,000 records of 3 KB each. The way of encoding/json
// leaves the parts of the metadata to the readers of package metadata, which "metadata
// alone" measures; internal/bench compares with encoding/json alone.
func BenchmarkPage(b *testing.B) {
	data := realisticPage(1000)
	b.Run("encoding json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var page plainPage
			if err := json.Unmarshal(data, &page); err != nil || len(page.Data) != 1000 {
				b.Fatal(err)
			}
		}
	})
	client := canned(b, data)
	b.Run("List", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			found, err := client.List(b.Context(), &dois.ListOptions{Page: query.Page{Size: 1000}})
			if err != nil || len(found.Records) != 1000 {
				b.Fatal(err)
			}
		}
	})
	b.Run("All", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for _, err := range client.All(b.Context(), &dois.ListOptions{Page: query.Page{Size: 1000}}) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != 1000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("metadata alone", func(b *testing.B) {
		var page struct {
			Data []struct {
				Attributes map[string]json.RawMessage `json:"attributes"`
			} `json:"data"`
		}
		require.NoError(b, json.Unmarshal(data, &page))
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			for _, r := range page.Data {
				var m metadata.Record
				for name, part := range map[string]json.Unmarshaler{
					"creators": &m.Creators, "titles": &m.Titles, "publisher": &m.Publisher, "publicationYear": &m.PublicationYear,
					"types": &m.Types, "subjects": &m.Subjects, "contributors": &m.Contributors, "dates": &m.Dates,
					"identifiers": &m.Identifiers, "relatedIdentifiers": &m.RelatedIdentifiers, "sizes": &m.Sizes, "formats": &m.Formats,
					"rightsList": &m.RightsList, "descriptions": &m.Descriptions, "geoLocations": &m.GeoLocations,
					"fundingReferences": &m.FundingReferences, "relatedItems": &m.RelatedItems,
				} {
					if err := part.UnmarshalJSON(r.Attributes[name]); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
}

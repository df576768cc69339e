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
	"github.com/datacite-go/datacite-go/query"
)

// A record is read from the resource that the service sends as well as from its
// attributes.
func TestRecordFromResource(t *testing.T) {
	const attributes = `{"doi":"10.5072/a","titles":[{"title":"A"}]}`
	var alone, inside dois.Record
	require.NoError(t, json.Unmarshal([]byte(attributes), &alone))
	require.NoError(t, json.Unmarshal([]byte(`{"id":"10.5072/a","type":"dois","attributes":`+attributes+
		`,"relationships":{"client":{"data":{"id":"ice.archive","type":"clients"}}}}`), &inside))
	assert.Equal(t, alone.Record, inside.Record)
	assert.Equal(t, attributes, string(inside.Raw))
	assert.Equal(t, "ice.archive", inside.Client)

	for text, want := range map[string]string{
		`{"id":"ice.archive","type":"clients","attributes":{"name":"Ice Archive"}}`: `not a record, but a resource of the type "clients"`,
		`{"id":"10.5072/a","type":"dois","attributes":null}`:                        "no attributes",
		`[]`: "no attributes",
	} {
		require.ErrorContains(t, json.Unmarshal([]byte(text), &inside), want, text)
	}
}

// FuzzRecord compares the reader of records with encoding/json: both must agree
// on what is JSON, and an object of whatever members is a record, unless it is a resource.
func FuzzRecord(f *testing.F) {
	for _, seed := range []string{
		fullRecord, `{}`, ` { } `, `{"a":1,}`, `{"a" 1}`, `{"a":01}`, `{"a":-}`, `{"a":1e}`, `{"a":tru}`, `{"a":nul`, `{"a":"\x"}`, `{"a":"\u12"}`,
		`{"a":"\ud800"}`, `{"doi":"` + "\xff" + `"}`, "{\"a\":\"\n\"}", `{"a":[1,2,{"b":[]}]}`, `{"a":[1 2]}`, `{"a":}`, `{`, `[]`, `null`, `1`, `{}{}`, "{}\x00", "{\x00}", ``, `{"doi":1,"doi":null}`,
		`{"creators":[[[]]],"viewCount":1e400,"contentUrl":[[]],"landingPage":[{}],"container":[]}`, `{"a":"eight by\"te"}`, `{"a":"12345678\\90"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r dois.Record
		err := r.UnmarshalJSON(data)
		object := len(bytes.TrimLeft(data, " \t\r\n")) > 0 && bytes.TrimLeft(data, " \t\r\n")[0] == '{'
		var members map[string]json.RawMessage
		valid := json.Unmarshal(data, &members) == nil && object
		if _, resource := members["attributes"]; resource && valid {
			return
		}
		if valid != (err == nil) {
			t.Fatalf("%q: JSON object %v, error %v", data, valid, err)
		}
		if err != nil {
			return
		}
		if got := bytes.Trim(data, " \t\r\n"); !bytes.Equal(got, r.Raw) {
			t.Fatalf("Raw is %q, want %q", r.Raw, got)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("%q cannot be written: %v", data, err)
		}
	})
}

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

// BenchmarkPage reads a page of 1,000 records of 3 KB each; internal/bench compares with encoding/json.
func BenchmarkPage(b *testing.B) {
	data := realisticPage(1000)
	client := canned(b, data)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range client.All(b.Context(), &dois.ListOptions{Page: query.Page{Size: 1000}}) {
			require.NoError(b, err)
			n++
		}
		require.Equal(b, 1000, n)
	}
}

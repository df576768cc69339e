package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
)

const pageRecords = 1000

// pageOfRecords is a page as the service sends it, with affiliations and publishers
// as objects: of 4.3 KB a record in a list, and of 10 KB in detail, as real ones are.
func pageOfRecords(detail bool) []byte {
	var b bytes.Buffer
	b.WriteString(`{"data":[`)
	for i := range pageRecords {
		if i > 0 {
			b.WriteByte(',')
		}
		person := func(n int) string {
			return fmt.Sprintf(`{"name":"Family%d, Given%d","nameType":"Personal","givenName":"Given%d",`+
				`"familyName":"Family%d","affiliation":[{"name":"Institute of Glaciology, Example University `+
				`%d","schemeUri":"https://ror.org","affiliationIdentifier":"https://ror.org/0%07d",`+
				`"affiliationIdentifierScheme":"ROR"}],"nameIdentifiers":[{"schemeUri":"https://orcid.org",`+
				`"nameIdentifier":"https://orcid.org/0000-0002-1825-%04d","nameIdentifierScheme":"ORCID"}]}`,
				n, n, n, n, n%17, n%999_999, n%10_000)
		}
		fmt.Fprintf(&b, `{"id":"10.5072/r%04d","type":"dois","attributes":{"doi":"10.5072/r%04d",`+
			`"identifiers":[{"identifier":"core-%d","identifierType":"Local"}],"creators":[%s,%s,%s],"titles":[{"title":"Ice `+
			`core measurements, drilling site %d, with \"raw\" data"}],"publisher":{"name":"Ice `+
			`Archive","schemeUri":"https://ror.org","publisherIdentifier":"https://ror.org/04z8jg394",`+
			`"publisherIdentifierScheme":"ROR"},"container":{},"publicationYear":2020,"subjects":[{"subject":"ice `+
			`cores"},{"subject":"glaciology","subjectScheme":"GCMD"},{"subject":"climate"}],"contributors":[],`+
			`"dates":[{"date":"2020-03-01","dateType":"Issued"},{"date":"2019","dateType":"Collected"}],"language":"en",`+
			`"types":{"ris":"DATA","bibtex":"misc","citeproc":"dataset","schemaOrg":"Dataset","resourceType":"Table",`+
			`"resourceTypeGeneral":"Dataset"},"relatedIdentifiers":[{"relationType":"IsCitedBy",`+
			`"relatedIdentifier":"10.5072/paper-%d","relatedIdentifierType":"DOI"}],"relatedItems":[],"sizes":["5 `+
			`MB"],"formats":["text/csv"],"version":"1.0","rightsList":[{"rights":"Creative Commons Attribution 4.0 `+
			`International","rightsUri":"https://creativecommons.org/licenses/by/4.0/legalcode",`+
			`"schemeUri":"https://spdx.org/licenses/","rightsIdentifier":"cc-by-4.0","rightsIdentifierScheme":"SPDX"}],`+
			`"descriptions":[{"description":"%s","descriptionType":"Abstract"}],`+
			`"geoLocations":[{"geoLocationPoint":{"pointLatitude":"78.22","pointLongitude":"15.65"},`+
			`"geoLocationPlace":"Svalbard"}],"fundingReferences":[{"funderName":"Ice `+
			`Council","awardNumber":"42"}],"url":"https://repository.example.org/records/%d","contentUrl":null,`+
			`"metadataVersion":2,"schemaVersion":"http://datacite.org/schema/kernel-4","source":"mds","isActive":true,`+
			`"state":"findable","reason":null,"viewCount":12,"downloadCount":3,"referenceCount":0,"citationCount":1,`+
			`"partCount":0,"partOfCount":0,"versionCount":0,"versionOfCount":0,"created":"2020-03-01T10:00:00Z",`+
			`"registered":"2020-03-01T10:00:01Z","published":null,"updated":"2021-07-08T09:53:54Z"`,
			i, i, i, person(3*i), person(3*i+1), person(3*i+
				2), i, i, strings.Repeat("The site was drilled to a depth of four hundred metres. ", 12), i)
		var related strings.Builder
		if detail {
			xml := strings.Repeat("PHJlc291cmNlIHhtbG5zPSJodHRwOi8vZGF0YWNpdGUub3JnL3NjaGVtYS9rZXJuZWwtNCI+", 45)
			fmt.Fprintf(&b, `,"xml":"%s","prefix":"10.5072","suffix":"r%04d","viewsOverTime":[{"yearMonth":"2020-04",`+
				`"total":7},{"yearMonth":"2020-05","total":5}],"downloadsOverTime":[{"yearMonth":"2020-05","total":3}],`+
				`"citationsOverTime":[{"year":"2021","total":1}],"landingPage":null`, xml[:len(xml)/4*4], i)
			for n := range 20 {
				fmt.Fprintf(&related, `%s{"id":"10.5072/reference-%d","type":"dois"}`, map[bool]string{true: ","}[n > 0], n)
			}
		}
		fmt.Fprintf(&b, `},"relationships":{"client":{"data":{"id":"ice.archive","type":"clients"}},`+
			`"references":{"data":[%s]}}}`, related.String())
	}
	fmt.Fprintf(&b, `],"meta":{"total":%d,"totalPages":1,"page":1},"links":{"self":"https://localhost/dois"}}`,
		pageRecords)
	return b.Bytes()
}

// plainType is a type with the same members and without methods, as a program
// declares it that uses encoding/json alone.
func plainType(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.String:
		if t == reflect.TypeFor[metadata.Year]() {
			return reflect.TypeFor[int]()
		}
		return reflect.TypeFor[string]()
	case reflect.Pointer:
		return reflect.PointerTo(plainType(t.Elem()))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return reflect.TypeFor[[]byte]()
		}
		return reflect.SliceOf(plainType(t.Elem()))
	case reflect.Struct:
		var fields []reflect.StructField
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || name == "" || name == "-" || len(f.Index) > 1 && t != reflect.TypeFor[dois.Record]() {
				continue
			}
			fields = append(fields, reflect.StructField{Name: f.Name, Type: plainType(f.Type), Tag: f.Tag})
		}
		return reflect.StructOf(fields)
	}
	return t
}

// plainPage makes a place for a page, as encoding/json fills it.
func plainPage() any {
	record := reflect.StructOf([]reflect.StructField{
		{Name: "ID", Type: reflect.TypeFor[string](), Tag: `json:"id"`},
		{Name: "Attributes", Type: plainType(reflect.TypeFor[dois.Record]()), Tag: `json:"attributes"`},
		{Name: "Relationships", Type: reflect.TypeFor[json.RawMessage](), Tag: `json:"relationships"`},
	})
	return reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "Data", Type: reflect.SliceOf(record), Tag: `json:"data"`}})).Interface()
}

func listPage(c *dois.Client) (*dois.Results, error) {
	return c.List(context.Background(), &dois.ListOptions{Page: query.Page{Size: pageRecords}})
}

func TestBothWaysReadTheSameRecords(t *testing.T) {
	for _, detail := range []bool{false, true} {
		data := pageOfRecords(detail)
		c, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"},
			HTTPClient: &http.Client{Transport: inMemory(data)}})
		require.NoError(t, err)
		found, err := listPage(c)
		require.NoError(t, err)
		require.Len(t, found.Records, pageRecords)
		plain := plainPage()
		require.NoError(t, json.Unmarshal(data, plain))
		records := reflect.ValueOf(plain).Elem().Field(0)
		require.Equal(t, pageRecords, records.Len())
		for i := range pageRecords / 20 {
			var want, got map[string]any
			attributes := records.Index(i).Field(1).Interface()
			raw, err := json.Marshal(attributes)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(raw, &want))
			raw, err = json.Marshal(found.Records[i])
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(raw, &got))
			for name, value := range want {
				// written in another way, or united
				if !slices.Contains([]string{"identifiers", "publisher", "container", "geoLocations"}, name) {
					require.Equal(t, value, got[name], name)
				}
			}
		}
		t.Logf("%d bytes a record", len(data)/pageRecords)
		assert.Equal(t, "ice.archive", found.Records[9].Client)
	}
}

// plainRead reads a page as a program does that knows encoding/json, in the faster of
// the two usual ways: a json.Decoder of the body takes longer.
func plainRead(c *http.Client) error {
	res, err := c.Get("http://localhost/dois")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, plainPage())
}

// BenchmarkDecodeRecords reads pages of records, in a list and in detail: several in
// each measurement, or chance decides whether a cycle of the garbage collector is in it.
func BenchmarkDecodeRecords(b *testing.B) {
	const pages = 10
	times := func(read func() error) func() (int64, error) {
		return func() (int64, error) {
			for range pages {
				if err := read(); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}
	}
	for name, detail := range map[string]bool{"list": false, "detail": true} {
		b.Run(name, func(b *testing.B) {
			service := &http.Client{Transport: inMemory(pageOfRecords(detail))}
			c, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"}, HTTPClient: service})
			require.NoError(b, err)
			pairs(b, pages*pageRecords, times(func() error { return plainRead(service) }), times(func() error {
				found, err := listPage(c)
				if err == nil && len(found.Records) != pageRecords {
					err = fmt.Errorf("%d records", len(found.Records))
				}
				return err
			}))
		})
	}
}

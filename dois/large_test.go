package dois_test

import (
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

var largest = flag.Int("identifiers", 1600, "related identifiers of a large record; 16000 are more than the gateway takes uncompressed")

// large is a record with many related identifiers of some length.
func large(length int) metadata.Record {
	r := *datacitetest.RandomRecord(3)
	r.RelatedIdentifiers = nil
	for i := range *largest {
		r.RelatedIdentifiers = append(r.RelatedIdentifiers, metadata.RelatedIdentifier{
			RelatedIdentifier:     fmt.Sprintf("https://example.org/%d/%s", i, strings.Repeat("g", length)),
			RelatedIdentifierType: metadata.IdentifierURL, RelationType: metadata.RelationHasPart,
		})
	}
	return r
}

// A large record is sent compressed, again after a lost response, and is stored whole.
func TestLargeRecords(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		lost := false
		srv.SetFaults(func(_ int, r *http.Request) *datacitetest.Fault {
			if r.Method != http.MethodPut || lost {
				return nil
			}
			lost = true
			return &datacitetest.Fault{Kind: datacitetest.DropAfter}
		})
		r := large(575) // 11 MB of JSON with 16,000: the gateway takes 10
		must(srv.DOIs().Create(t.Context(), &dois.Draft{DOI: "10.5072/large", URL: "https://example.org/", Event: dois.Publish, Record: r}))(t)
		r = large(510) // 10 MB of XML, which are 14 in JSON, with 16,000
		r.Titles[0].Title = "Large"
		document := must(r.XML())(t)
		must(srv.DOIs().Update(t.Context(), "10.5072/large", &dois.Draft{MetadataXML: document}))(t)
		stored := must(srv.Record("10.5072/large"))(t)
		assert.Equal(t, "Large", stored.Titles[0].Title)
		assert.Len(t, stored.RelatedIdentifiers, *largest)
		assert.Equal(t, r.RelatedIdentifiers[*largest-1].RelatedIdentifier, stored.RelatedIdentifiers[*largest-1].RelatedIdentifier)
		var sent []string
		for _, q := range srv.Requests() {
			if q.Method != http.MethodGet {
				assert.Less(t, q.Bytes, int64(2<<20))
				sent = append(sent, q.Method+" "+q.Header.Get("Content-Encoding"))
			}
		}
		assert.Equal(t, []string{"POST gzip", "PUT gzip", "PUT gzip"}, sent)
	})
}

package reconcile_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// behaviours are the truths that the tests of this package hold under.
var behaviours = []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed}

// onEach runs a test once with an own server of each behaviour.
func onEach(t *testing.T, test func(t *testing.T, srv *datacitetest.Server)) {
	for _, b := range behaviours {
		t.Run(string(b), func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: b, NoPort: true})
			t.Cleanup(srv.Close)
			test(t, srv)
		})
	}
}

// onEachInTime is onEach with the time of testing/synctest, for tests in which
// requests are sent again.
func onEachInTime(t *testing.T, test func(t *testing.T, srv *datacitetest.Server)) {
	for _, b := range behaviours {
		t.Run(string(b), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, datacitetest.NewServer(&datacitetest.Options{Behaviour: b, NoPort: true}))
			})
		})
	}
}

// complete is metadata with all that a findable DOI needs.
func complete(title string) metadata.Record {
	return metadata.Record{
		Creators:        []metadata.Creator{{Name: "Lovelace, Ada"}},
		Titles:          []metadata.Title{{Title: title}},
		Publisher:       metadata.Publisher{Name: "Example Press"},
		PublicationYear: "2020",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Table"},
	}
}

// xmlRecord is metadata XML as a Draft sends it.
const xmlRecord = `<resource xmlns="http://datacite.org/schema/kernel-4">` +
	`<identifier identifierType="DOI">10.5072/xml</identifier>` +
	`<creators><creator><creatorName>Hopper, Grace</creatorName></creator></creators>` +
	`<titles><title>From XML</title></titles><publisher>Example Press</publisher><publicationYear>2021</publicationYear>` +
	`<resourceType resourceTypeGeneral="Dataset">Table</resourceType></resource>`

func recordName(i int) string { return "10.5072/r" + strconv.Itoa(10_000_000 + i)[1:] }

// A listing is a service with n records that are read only, and made as they are asked for.
type listing struct {
	n     int
	moved int // the page that would begin here shows records of the page before
	asked int
}

func (l *listing) RoundTrip(r *http.Request) (*http.Response, error) {
	l.asked++
	first := 0
	if cursor, err := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("page[cursor]")); err == nil &&
		len(cursor) > 1 {
		_, last, _ := strings.Cut(string(cursor), ",10.5072/r")
		first, _ = strconv.Atoi(last)
		first++
	}
	end := min(first+1000, l.n)
	if l.moved > 0 && first == l.moved {
		first, end = first-1001, first-1
	}
	var page strings.Builder
	record := func(name string) {
		fmt.Fprintf(&page, `{"id":%q,"type":"dois","attributes":{"doi":%q,"titles":[{"title":"Record"}]}}`, name, name)
	}
	if name, single := strings.CutPrefix(r.URL.Path, "/dois/"); single {
		page.WriteString(`{"data":`)
		record(name)
		page.WriteString(`}`)
		return listed(r, page.String()), nil
	}
	page.WriteString(`{"data":[`)
	for i := first; i < end; i++ {
		if i > first {
			page.WriteByte(',')
		}
		record(recordName(i))
	}
	fmt.Fprintf(&page, `],"meta":{"total":%d,"totalPages":1},"links":{"self":"https://localhost/dois"`, l.n)
	if end < l.n {
		next := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d,%s", end-1, recordName(end-1)))
		fmt.Fprintf(&page, `,"next":"https://localhost/dois?page[cursor]=%s&page[size]=1000"`, next)
	}
	page.WriteString(`}}`)
	return listed(r, page.String()), nil
}

func listed(r *http.Request, body string) *http.Response {
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: -1,
		Header: http.Header{"Content-Type": {
			"application/json; charset=utf-8"}}, Body: io.NopCloser(strings.NewReader(body)),
	}
}

func (l *listing) client(t *testing.T) *reconcile.Client {
	t.Helper()
	client, err := reconcile.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"},
		HTTPClient: &http.Client{Transport: l}})
	require.NoError(t, err)
	return client
}

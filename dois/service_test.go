package dois_test

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
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

// deployed tells whether a test of onEach runs with the behaviour of the deployed
// service, where that differs from the specification.
func deployed(t *testing.T) bool { return strings.HasSuffix(t.Name(), "/deployed") }

// story is one scene of a test, run with each behaviour on a server that has the
// records.
func story(t *testing.T, name string, records []string, tell func(t *testing.T, srv *datacitetest.Server)) {
	t.Run(name, func(t *testing.T) {
		onEach(t, func(t *testing.T, srv *datacitetest.Server) {
			seed(t, srv, records...)
			tell(t, srv)
		})
	})
}

// seed stores records given as the JSON of their attributes.
func seed(t *testing.T, srv *datacitetest.Server, records ...string) {
	t.Helper()
	for _, r := range records {
		require.NoError(t, srv.PutRecordJSON([]byte(r)))
	}
}

// anonymous is a client of srv without credentials.
func anonymous(t *testing.T, srv *datacitetest.Server) *dois.Client {
	t.Helper()
	client := must(dois.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL},
		HTTPClient: srv.HTTPClient()}))(t)
	return client
}

// suffixes are the names of records without the prefix, in the order of the
// records.
func suffixes(records []dois.Record) []string {
	names := []string{}
	for _, r := range records {
		names = append(names, strings.TrimPrefix(r.DOI, "10.5072/"))
	}
	return names
}

// sorted are the same, in alphabetical order.
func sorted(records []dois.Record) []string {
	names := suffixes(records)
	slices.Sort(names)
	return names
}

// words splits the expected names of a table.
func words(text string) []string { return append([]string{}, strings.Fields(text)...) }

// last is the latest request that srv has responded to.
func last(t *testing.T, srv *datacitetest.Server) datacitetest.Request {
	t.Helper()
	requests := srv.Requests()
	require.NotEmpty(t, requests)
	return requests[len(requests)-1]
}

// scripted is a client of a handler that is reached without a network, so that
// the test may live inside testing/synctest.
func scripted(t testing.TB, opts *datacite.Config, handler http.HandlerFunc) *dois.Client {
	t.Helper()
	cfg := *cmp.Or(opts, &datacite.Config{})
	cfg.Service.API, cfg.HTTPClient = "http://localhost", &http.Client{Transport: wire(handler)}
	client := must(dois.NewClient(cfg))(t)
	return client
}

// recordFrom is the record that a client makes of a response with these
// attributes.
func recordFrom(t *testing.T, attributes string) *dois.Record {
	t.Helper()
	client := scripted(t, nil, reply(200, `{"data":{"id":"10.5072/x","type":"dois","attributes":`+attributes+`}}`))
	r := must(client.Get(t.Context(), "10.5072/x", nil))(t)
	return r
}

// reply gives every request the same response.
func reply(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// wire carries requests to a handler in memory.
type wire http.HandlerFunc

func (h wire) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h(rec, r)
	}()
	<-done
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	res := rec.Result()
	if n := res.ContentLength; n > int64(rec.Body.Len()) {
		res.Body = io.NopCloser(io.MultiReader(rec.Body, broken{}))
	}
	return res, nil
}

// broken is a connection that was cut off.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// An archive is a service with n records, r0000000 and so on, that pages them as
// the deployed one does: 1,000 records a page at most, page numbers clamped at
// 10,000 records silently, a link to the next page that leaves out most
// parameters, a cursor that begins again when it cannot be read, and an empty
// page at the end when the number of records is a multiple of the page size.
//
// Sorting by name is the order of creation; filters are ignored.
type archive struct {
	n      int
	trap   func(page *archivePage) // changes a page before it is sent
	fail   func() fault            // what goes wrong with a request
	asked  int
	params []url.Values

	silent  bool  // it sends nothing in place of a slow page
	maxBody int64 // of the client
}

// A fault is something that goes wrong on the way.
type fault int

const (
	none fault = iota
	serverError
	badGateway
	htmlPage
	cutOff
	lostConnection
	faults
)

// often makes every twentieth request fail, each time in another way.
func often() func() fault {
	dice := rand.New(rand.NewPCG(1, 2))
	kind := 0
	return func() fault {
		if dice.IntN(20) != 0 {
			return none
		}
		kind++
		return fault(1 + kind%int(faults-1))
	}
}

// once fails the first request.
func once(kind fault) func() fault {
	return func() (now fault) {
		now, kind = kind, none
		return now
	}
}

// An archivePage is one page before it is written.
type archivePage struct {
	number     int // 0 by cursor
	first, end int // records from first, before end
	size       int
	total      int
	next       url.Values // nil at the end
	slow       bool       // it cannot be made in time
	asks       int        // requests so far
	asked      url.Values
}

func recordName(i int) string { return "10.5072/r" + strconv.Itoa(10_000_000 + i)[1:] }

func (a *archive) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked++
	kind := none
	if a.fail != nil {
		kind = a.fail()
	}
	status, body, contentType := 200, io.Reader(nil), "application/json; charset=utf-8"
	switch kind {
	case lostConnection:
		return nil, io.ErrUnexpectedEOF
	case serverError:
		status, body = 500, strings.NewReader(`{"status":500,"title":"Internal Server Error"}`)
	case badGateway:
		status, body, contentType = 502, strings.NewReader("<html><title>502 Bad Gateway</title></html>"), "text/html"
	case htmlPage:
		body, contentType = strings.NewReader("<!doctype html><title>Maintenance</title>"), "text/html"
	default:
		p := a.page(r.URL.Query())
		text := p.text()
		body = strings.NewReader(text)
		if kind == cutOff {
			body = io.MultiReader(strings.NewReader(text[:len(text)*2/3]), broken{})
		} else if p.slow && a.silent {
			<-r.Context().Done()
			return nil, r.Context().Err()
		} else if p.slow {
			status, body = 504, strings.NewReader("")
		}
	}
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: -1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body),
	}, nil
}

func (a *archive) page(asked url.Values) *archivePage {
	a.params = append(a.params, asked)
	p := &archivePage{size: 25, total: a.n, asked: asked, asks: len(a.params)}
	if size, err := strconv.Atoi(asked.Get("page[size]")); err == nil {
		p.size = min(size, 1000)
	}
	if cursor := asked.Get("page[cursor]"); cursor != "" {
		p.byCursor(cursor)
	} else {
		p.byNumber()
	}
	if a.trap != nil {
		a.trap(p)
	}
	return p
}

func (p *archivePage) byCursor(cursor string) {
	if plain, err := base64.RawURLEncoding.DecodeString(cursor); err == nil && cursor != "1" {
		if _, name, ok := strings.Cut(string(plain), ","); ok {
			last, _ := strconv.Atoi(strings.TrimPrefix(name, "10.5072/r"))
			p.first = last + 1
		}
	}
	p.end = min(p.first+p.size, p.total)
	if p.end-p.first == p.size && p.total > p.size {
		p.next = url.Values{"page[cursor]": {cursorAfter(p.end - 1)}, "page[size]": {strconv.Itoa(p.size)}}
	}
}

func cursorAfter(i int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d,%s", i, recordName(i)))
}

func (p *archivePage) byNumber() {
	p.number, _ = strconv.Atoi(p.asked.Get("page[number]"))
	p.number = min(max(p.number, 1), 10_000/p.size)
	p.first = min((p.number-1)*p.size, p.total)
	p.end = min(p.first+p.size, p.total)
	if p.end-p.first == p.size && p.number*p.size < min(p.total, 10_000) {
		p.next = url.Values{"page[number]": {strconv.Itoa(p.number + 1)}, "page[size]": {strconv.Itoa(p.size)}}
	}
}

func (p *archivePage) text() string {
	var b strings.Builder
	b.WriteString(`{"data":[`)
	for i := p.first; i < p.end; i++ {
		if i > p.first {
			b.WriteByte(',')
		}
		name := recordName(i)
		b.WriteString(`{"id":"` + name + `","type":"dois","attributes":{"doi":"` + name +
			`","titles":[{"title":"Record"}]},"relationships":{"client":{"data":{"id":"example.repo","type":"clients"}}}}`)
	}
	fmt.Fprintf(&b, `],"meta":{"total":%d,"totalPages":1`, p.total)
	if p.number > 0 {
		fmt.Fprintf(&b, `,"page":%d`, p.number)
	}
	b.WriteString(`},"links":{"self":"https://localhost/dois"`)
	if p.next != nil {
		fmt.Fprintf(&b, `,"next":"https://localhost/dois?%s"`, p.next.Encode())
	}
	b.WriteString(`}}`)
	return b.String()
}

// client is a client of the archive.
func (a *archive) client(t *testing.T) *dois.Client {
	t.Helper()
	client := must(dois.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"},
		HTTPClient: &http.Client{Transport: a}, MaxBody: a.maxBody}))(t)
	return client
}

// must is the result of a call that may not fail.
func must[T any](result T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return result
	}
}

// failures are the errors of a sequence.
func failures[T any](all iter.Seq2[T, error]) (errs []error) {
	for _, err := range all {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// failure is the error of a call with a result.
func failure[T any](_ T, err error) error { return err }

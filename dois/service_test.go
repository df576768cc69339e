package dois_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
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

// deployed tells whether a test of onEach is told by the behaviour of the deployed
// service, where that differs from the specification.
func deployed(t *testing.T) bool { return strings.HasSuffix(t.Name(), "/deployed") }

// story is one scene of a test, told with each behaviour to a server that has the
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
	client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, HTTPClient: srv.HTTPClient()})
	require.NoError(t, err)
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

// scripted is a client of a server that plays one trap.
func scripted(t *testing.T, opts *datacite.Config, handler http.HandlerFunc) *dois.Client {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	if opts == nil {
		opts = &datacite.Config{}
	}
	opts.Service.API, opts.HTTPClient = srv.URL, srv.Client()
	client, err := dois.NewClient(*opts)
	require.NoError(t, err)
	return client
}

// recordFrom is the record that a client makes of a response with these
// attributes.
func recordFrom(t *testing.T, attributes string) *dois.Record {
	t.Helper()
	client := scripted(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write([]byte(`{"data":{"id":"10.5072/x","type":"dois","attributes":` + attributes + `}}`))
	})
	r, err := client.Get(t.Context(), "10.5072/x", nil)
	require.NoError(t, err)
	return r
}

// reply gives every request the same response, and notes the Authorization
// header of the last one.
func reply(status int, body string, authorization *string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if authorization != nil {
			*authorization = r.Header.Get("Authorization")
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// offline is a client of a handler that is reached without a network, so that
// the test may live inside testing/synctest.
func offline(t *testing.T, opts *datacite.Config, handler http.HandlerFunc) *dois.Client {
	t.Helper()
	if opts == nil {
		opts = &datacite.Config{}
	}
	opts.Service.API, opts.HTTPClient = "http://localhost", &http.Client{Transport: wire(handler)}
	client, err := dois.NewClient(*opts)
	require.NoError(t, err)
	return client
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

// sized is a client of an archive that responds with 504 to pages larger than most.
func sized(t *testing.T, a *archive, most int) *dois.Client {
	t.Helper()
	a.trap = func(p *archivePage) {
		if p.size > most {
			panic(errTooLarge)
		}
	}
	client, err := dois.NewClient(datacite.Config{
		Service:    datacite.Service{API: "http://localhost"},
		HTTPClient: &http.Client{Transport: slow{a}}, MaxAttempts: 2,
	})
	require.NoError(t, err)
	return client
}

var errTooLarge = errors.New("too large")

// slow turns the panic of a page that is too large into the response of a gateway.
type slow struct{ http.RoundTripper }

func (s slow) RoundTrip(r *http.Request) (res *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			res = &http.Response{
				StatusCode: http.StatusGatewayTimeout, ProtoMajor: 1, ProtoMinor: 1, Request: r,
				Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")),
			}
		}
	}()
	return s.RoundTripper.RoundTrip(r)
}

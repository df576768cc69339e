package dois_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// TestListRefusedBeforeSending gives options that the service would refuse,
// ignore or read as something else.
func TestListRefusedBeforeSending(t *testing.T) {
	var sent atomic.Int64
	client := scripted(t, nil, func(http.ResponseWriter, *http.Request) { sent.Add(1) })
	for name, tt := range map[string]struct {
		opts dois.ListOptions
		want string
	}{
		// "none"
		"a cursor that is none": {dois.ListOptions{Page: query.Page{Cursor: "bm9uZQ"}}, "start from the first record"},
		"a cursor that is cut": {dois.ListOptions{Page: query.Page{Cursor: "MTIzLDEwLjU"[:5]}},
			"start from the first record"},
		"sort and cursor": {dois.ListOptions{Sort: query.ByName, Page: query.Page{Cursor: "1"}},
			"order of creation"},
		"years with a dash":     {dois.ListOptions{Registered: "2019-2020"}, "2019-2020"},
		"no year":               {dois.ListOptions{Created: "last year"}, "last year"},
		"two attributes in one": {dois.ListOptions{Fields: []string{"doi,titles"}}, "doi,titles"},
		"parameter given twice": {dois.ListOptions{ClientID: []string{"a.b"}, Extra: url.Values{"client-id": {"c.d"}}},
			"client-id"},
		"names given twice": {dois.ListOptions{Fields: []string{"doi"},
			Extra: url.Values{"fields[dois]": {"titles"}}}, "fields[dois], which has a field"},
		"a value and an object": {dois.ListOptions{InBody: true, Extra: url.Values{"a": {"1"}, "a[b]": {"2"}}},
			"a value and an object at once"},
		"parameter of a field": {dois.ListOptions{Extra: url.Values{"client_id": {"c.d"}}},
			"client_id, which has a field"},
		"parameter in camel case": {dois.ListOptions{Extra: url.Values{"clientId": {"c.d"}}},
			"clientId, which has a field"},
		"a value that is not UTF-8": {dois.ListOptions{ClientID: []string{"gla\xff"}}, "ListOptions.ClientID[0]"},
		"a value with a control":    {dois.ListOptions{ClientID: []string{"gla\x00cier"}}, "ListOptions.ClientID[0]"},
		"a filter beside IDs": {dois.ListOptions{IDs: []string{"10.5072/a"}, Extra: url.Values{"has_views": {"2"}}},
			"cannot be combined"},
		"page in Extra":     {dois.ListOptions{Extra: url.Values{"page[size]": {"5"}}}, "page[size]"},
		"no state":          {dois.ListOptions{States: []datacite.State{"nonsense"}}, `"nonsense" is not a state`},
		"no schema version": {dois.ListOptions{SchemaVersion: "four"}, "four"},
		"no prefix":         {dois.ListOptions{Prefix: []string{"5072"}}, `"5072" is not a prefix`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.List(t.Context(), &tt.opts)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			field, ok := errors.AsType[*datacite.ValidationError](err)
			require.True(t, ok)
			assert.Regexp(t, "^(ListOptions.*|query|sort|page|sample)$", field.Findings[0].Path)
			assert.NotEmpty(t, field.Findings[0].Code)
			assert.ErrorContains(t, err, tt.want)
			opts := tt.opts
			if opts.Page.Cursor != "" { // a walk follows it, and notices
				return
			}
			require.EqualError(t, failure(walked(t.Context(), client, &opts)), err.Error())
			require.Equal(t, []error{err}, failures(client.Pages(t.Context(), &opts)))
		})
	}
	assert.Zero(t, sent.Load())
	zero := failures(new(dois.Walk).All(t.Context()))
	require.Len(t, zero, 1)
	require.EqualError(t, zero[0], "datacite: walk: is the zero value; Client.Walk makes one")

	assert.EqualError(t, failure(client.List(t.Context(), &dois.ListOptions{Sort: "newest"})),
		`datacite: sort: "newest" is not an order that the service knows`)
}

// TestResponsesThatAreNotRecords gives responses with status 200 whose bodies are not records.
func TestResponsesThatAreNotRecords(t *testing.T) {
	for name, response := range map[string]struct{ contentType, body string }{
		"an HTML page":          {"text/html", "<!doctype html><title>Maintenance</title>"},
		"HTML as JSON":          {"application/json", "<html><body>no</body></html>"},
		"nothing":               {"application/json", ""},
		"text":                  {"application/json", "all is well"},
		"cut off JSON":          {"application/json", `{"data":[{"id":"10.5072/a","attributes":{"doi":"10.50`},
		"null":                  {"application/json", "null"},
		"no data":               {"application/json", `{"meta":{"total":0}}`},
		"data null":             {"application/json", `{"data":null}`},
		"attributes missing":    {"application/json", `{"data":{"id":"10.5072/a"}}`},
		"attributes not object": {"application/json", `{"data":[{"id":"10.5072/a","attributes":"gone"}],"meta":{"total":1}}`},
		"another resource":      {"application/json", `{"data":{"id":"ice.archive","type":"clients","attributes":{"doi":"10.5072/a"}}}`},
		"other resources": {"application/json",
			`{"data":[{"id":"ice.archive","type":"clients","attributes":{"doi":"10.5072/a"}}],"meta":{"total":1}}`},
		"more after the end": {"application/json", `{"data":[],"meta":{"total":0}}{"data":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			client := scripted(t, &datacite.Config{MaxAttempts: 1}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", response.contentType)
				_, _ = io.WriteString(w, response.body)
			})
			require.ErrorIs(t, failure(client.List(t.Context(), nil)), datacite.ErrUnreadable)
			require.ErrorIs(t, failure(client.Get(t.Context(), "10.5072/a", nil)), datacite.ErrUnreadable)
		})
	}
}

// TestAResponseThatBreaksOffIsAskedForAgain breaks the connection within the response, once: the client asks
// again, and keeps nothing of the first response.
func TestAResponseThatBreaksOffIsAskedForAgain(t *testing.T) {
	const (
		first  = `{"type":"dois","id":"10.5072/a","attributes":{"doi":"10.5072/a","language":"en"}}`
		second = `{"type":"dois","id":"10.5072/a","attributes":{"doi":"10.5072/a"}}`
	)
	for method, tt := range map[string]struct {
		before, after string
		read          func(context.Context, *dois.Client) ([]dois.Record, error)
	}{
		"List": {`{"data":[`, `],"meta":{"total":1},"links":{}}`,
			func(ctx context.Context, c *dois.Client) ([]dois.Record, error) {
				found, err := c.List(ctx, nil)
				if err != nil {
					return nil, err
				}
				return found.Records, nil
			}},
		"Get": {`{"data":`, `}`, func(ctx context.Context, c *dois.Client) ([]dois.Record, error) {
			record, err := c.Get(ctx, "10.5072/a", nil)
			if err != nil {
				return nil, err
			}
			return []dois.Record{*record}, nil
		}},
	} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				client := scripted(t, nil, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					if asked++; asked == 1 {
						w.Header().Set("Content-Length", "5000")
						_, _ = io.WriteString(w, tt.before+first+strings.Repeat(" ", 1000)) // so much is read in parts
						return
					}
					_, _ = io.WriteString(w, tt.before+second+tt.after)
				})
				records := must(tt.read(t.Context(), client))(t)
				require.Len(t, records, 1)
				assert.Equal(t, "10.5072/a", records[0].DOI)
				assert.Empty(t, records[0].Language)
				assert.Equal(t, 2, asked)
			})
		})
	}
}

// TestErrors maps what the deployed service has been seen to respond with.
func TestErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		want   error
		text   string
		field  string
	}{
		"query with a fault": {400, `{"errors":{"title":"parse_exception: Encountered \" \")\""}}`, datacite.ErrBadRequest,
			"parse_exception", ""},
		"bad credentials": {401, `{"errors":[{"status":"401","title":"Bad credentials."}]}`, datacite.ErrUnauthorized,
			"Bad credentials", ""},
		"not permitted": {403, `{"errors":[{"status":"403","title":"You are not authorized to access this ` +
			`resource."}]}`, datacite.ErrForbidden, "not authorized", ""},
		"load balancer": {403, `<html><head><title>403 Forbidden</title></head></html>`, datacite.ErrRateLimited,
			"HTML page", ""},
		"validation": {422, `{"errors":[{"source":"url","uid":"10.5072/a","title":"Can't be blank"}]}`,
			datacite.ErrInvalid, "url: Can't be blank", "url"},
		"taken": {422, `{"errors":[{"source":"doi","title":"This DOI has already been taken"}]}`,
			datacite.ErrConflict, "taken", "doi"},
		"unhandled exception": {500, `{"status":400,"title":"[503] no server available"}`, datacite.ErrServer, "no server",
			""},
		"gateway timeout page": {504, `<html><title>504 Gateway Time-out</title></html>`, datacite.ErrServer,
			"Gateway Time-out", ""},
	} {
		t.Run(name, func(t *testing.T) {
			client := scripted(t, &datacite.Config{MaxAttempts: 1, Token: "a.b.c"}, reply(tt.status, tt.body))
			_, err := client.Update(t.Context(), "10.5072/a", &dois.Draft{})
			require.ErrorIs(t, err, tt.want)
			assert.Equal(t, tt.want == datacite.ErrConflict, errors.Is(err, datacite.ErrConflict))
			assert.ErrorContains(t, err, tt.text)
			_, errGet := client.Get(t.Context(), "10.5072/a", nil)
			assert.NotErrorIs(t, errGet, dois.ErrForeign)
			e, ok := errors.AsType[*datacite.Error](err)
			require.True(t, ok)
			assert.Equal(t, tt.status, e.StatusCode)
			if tt.field != "" {
				require.NotEmpty(t, e.Details)
				assert.Equal(t, tt.field, e.Details[0].Path)
			}
		})
	}
}

// TestIDs asks for many records by name: the service would show 25 of them.
func TestIDs(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, series(60)...)
		var names []string
		for i := range 60 {
			names = append(names, fmt.Sprintf("10.5072/r%03d", i))
		}
		for _, more := range []int{0, 940} {
			found := must(srv.DOIs().List(t.Context(),
				&dois.ListOptions{IDs: append(names, slices.Repeat([]string{"10.5072/unknown"}, more)...)}))(t)
			assert.Len(t, found.Records, 60)
			assert.False(t, found.More)
		}

		found := must(srv.DOIs().List(t.Context(), &dois.ListOptions{IDs: names[:2], Sort: query.ByName,
			Include: []string{"client"}, Fields: []string{"doi", "client"}, Affiliation: true, Publisher: true,
			Detail: true, Facets: []string{"states"},
			Extra: url.Values{"mailto": {"me@example.org"}}}))(t)
		assert.Len(t, found.Records, 2, "none of these is a filter")

		for reason, opts := range map[string]dois.ListOptions{
			"would ignore":  {IDs: names, ClientID: []string{"a.b"}},
			"a query":       {IDs: names, Query: query.Term("x")},
			"1001 names":    {IDs: make([]string, 1001)},
			"has no suffix": {IDs: append(names, "10.5072/")},
			"comma":         {IDs: []string{"10.5072/a,b"}},
			"prefix":        {IDs: []string{"null"}},
		} {
			_, err := srv.DOIs().List(t.Context(), &opts)
			require.ErrorIs(t, err, datacite.ErrInvalid, reason)
			assert.ErrorContains(t, err, reason)
			fault := datacite.Findings(err)[0]
			assert.True(t, strings.HasPrefix(fault.Path, "ListOptions.IDs") && fault.Code != "", "%#v", fault)
		}
	})
}

// TestFacets reads counts in the forms that the deployed service gives them.
func TestFacets(t *testing.T) {
	client := scripted(t, nil, reply(200,
		`{"data":[],"included":[{"id":"a.b","type":"clients"}],"meta":{"total":7,"totalPages":1,"page":1,"scroll-id":"x",
		"published":[{"id":"2020","title":"2020","count":5},{"id":2999,"title":"2999","count":"2"}],
		"schemaVersions":[{"id":"4","title":"Schema 4","count":3},{"id":"4","title":"Schema 4","count":4}],
		"citationCount":12,"views":[],"odd":"text"},"links":{}}`))
	found := must(client.List(t.Context(), &dois.ListOptions{Facets: []string{"published"}}))(t)
	assert.Equal(t, []dois.FacetCount{{ID: "2020", Title: "2020", Count: 5}, {ID: "2999", Title: "2999", Count: 2}},
		found.Facets["published"].Counts)
	assert.Equal(t, 7, found.Facets["schemaVersions"].Count("4"), "entries of one value are added up")
	assert.Equal(t, 12, found.Facets["citationCount"].Number)
	assert.Empty(t, found.Facets["views"].Counts)
	assert.Contains(t, found.Facets, "odd")
	assert.Len(t, found.Facets, 5, "and nothing of the paging")
	assert.JSONEq(t, `"text"`, string(found.Meta["odd"]))
	assert.Equal(t, 7, found.Total)
	require.Len(t, found.Included, 1)
}

func TestWithoutATotal(t *testing.T) {
	for meta, want := range map[string]int{`{}`: -1, `null`: -1, `{"total":"many"}`: -1, `{"total":0}`: 0, `[]`: -1} {
		client := scripted(t, nil, reply(200, `{"data":[],"meta":`+meta+`}`))
		found := must(client.List(t.Context(), nil))(t)
		assert.Equal(t, want, found.Total, meta)
		times := must(walked(t.Context(), client, nil))(t)
		assert.Empty(t, times)
	}
	_, err := canned(t, []byte(`{"data":[],"meta":{"page":1}}`)).List(t.Context(),
		&dois.ListOptions{Page: query.Page{Number: 2}})
	require.ErrorContains(t, err, "it is page 1, not the requested page 2")
	const one = `{"id":"10.5072/a","attributes":{"doi":"10.5072/a"}}`
	for response, more := range map[string]bool{
		`{"data":[` + one + `],"links":{"next":"https://localhost/dois?page=2"}}`:              true,
		`{"data":[` + one + `],"links":{"next":""}}`:                                           false,
		`{"data":[],"links":{"next":"https://localhost/dois?page=2"}}`:                         false,
		`{"data":[` + one + `],"meta":{"total":26},"links":{}}`:                                true,
		`{"data":[` + one + `],"meta":{"total":25},"links":{"next":"https://localhost/dois"}}`: false,
		`{"data":[],"meta":{"total":26},"links":{"next":"https://localhost/dois?page=2"}}`:     false,
	} {
		found := must(canned(t, []byte(response)).List(t.Context(), nil))(t)
		assert.Equal(t, more, found.More, response)
	}
}

func TestStatistics(t *testing.T) {
	r := recordFrom(t, `{"doi":"10.5072/x",
		"viewsOverTime":[{"yearMonth":"2021-02","total":4},{"yearMonth":"2020-11","total":1},{"yearMonth":"2021-02","total":2},{"yearMonth":"soon","total":9}],
		"downloadsOverTime":[],"citationsOverTime":[{"year":"2021","total":3},{"year":2019,"total":1}]}`)

	months := r.ViewsOverTime.ByMonth()
	assert.Equal(t, dois.Series{{YearMonth: "2020-11", Total: 1}, {YearMonth: "2021-02", Total: 6}}, months,
		"each month once, the oldest first, its parts added up")
	want := dois.Series{{Year: "2020", Total: 1}, {Year: "2021", Total: 6}}
	assert.Equal(t, want, months.ByYear())
	assert.Equal(t, want, r.ViewsOverTime.ByYear())
	assert.Len(t, r.ViewsOverTime, 4, "what was sent is still there")

	assert.Empty(t, r.DownloadsOverTime.ByMonth())
	assert.Empty(t, r.DownloadsOverTime)
	assert.Equal(t, dois.Series{{Year: "2019", Total: 1}, {Year: "2021", Total: 3}}, r.CitationsOverTime.ByYear())
	assert.Empty(t, r.CitationsOverTime.ByMonth(), "years have no months")
}

func TestExists(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, `{"doi":"10.5072/there"}`, `{"doi":"10.5072/draft","state":"draft"}`)
		for name, want := range map[string]bool{"10.5072/there": true, "10.5072/not": false, "10.5072/draft": false} {
			found := must(anonymous(t, srv).Exists(t.Context(), name))(t)
			assert.Equal(t, want, found, name)
			assert.Equal(t, "GET", last(t, srv).Method)
		}
		found := must(srv.DOIs().Exists(t.Context(), "10.5072/draft"))(t)
		assert.True(t, found, "the owner sees it")
		require.ErrorIs(t, failure(srv.DOIs().Exists(t.Context(), "")), datacite.ErrInvalidDOI)
	})
	_, err := scripted(t, &datacite.Config{MaxAttempts: 1}, reply(500, "")).Exists(t.Context(), "10.5072/x")
	require.ErrorIs(t, err, datacite.ErrServer, "a failure is not a response")
	for body, fault := range map[string]string{"<html>": "HTML", `{"data":{"id":""}}`: "it has no DOI",
		`{"data":{"id":"10.5072/y"}}`: "it is the record of"} {
		_, err := scripted(t, &datacite.Config{MaxAttempts: 1}, reply(200, body)).Exists(t.Context(), "10.5072/x")
		require.ErrorIs(t, err, datacite.ErrUnreadable)
		require.ErrorContains(t, err, fault)
	}
}

// TestEvents takes a DOI from state to state (specification §3.1).
func TestEvents(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, client := t.Context(), srv.DOIs()
		state := func(r *dois.Record, err error) datacite.State {
			t.Helper()
			require.NoError(t, err)
			return r.State
		}
		must(client.Create(ctx, &dois.Draft{DOI: "10.5072/x", URL: "https://example.org/x", Record: complete("Events")}))(t)

		for _, name := range []string{"null", "10.5072/a/../b"} {
			require.ErrorIs(t, client.Delete(ctx, name), datacite.ErrInvalidDOI)
			require.ErrorIs(t, failure(client.ChangeState(ctx, name, dois.EventHide, nil)), datacite.ErrInvalidDOI)
		}
		_, err := client.ChangeState(ctx, "10.5072/x", dois.EventHide, nil)
		require.ErrorIs(t, err, datacite.ErrNotAllowed, "a draft is hidden as it is, and the service would say nothing")
		assert.ErrorContains(t, err, "10.5072/x is draft and cannot become registered")

		assert.Equal(t, datacite.StateRegistered, state(client.ChangeState(ctx, "10.5072/x", dois.EventRegister, nil)))
		assert.Equal(t, datacite.StateRegistered, state(client.ChangeState(ctx, "10.5072/x", dois.EventRegister, nil)),
			"once more changes nothing")
		assert.Equal(t, datacite.StateFindable, state(client.ChangeState(ctx, "10.5072/x", dois.EventPublish, nil)))
		require.ErrorIs(t, failure(client.ChangeState(ctx, "10.5072/x", dois.EventRegister, nil)), datacite.ErrNotAllowed)

		hidden := must(client.ChangeState(ctx, "10.5072/x", dois.EventHide, &dois.EventOptions{Reason: "out of date"}))(t)
		assert.Equal(t, datacite.StateRegistered, hidden.State)
		assert.Equal(t, "out of date", hidden.Reason)
		assert.Equal(t, datacite.StateFindable, state(client.ChangeState(ctx, "10.5072/x", dois.EventPublish, nil)))

		for _, event := range []dois.Event{dois.EventPublish, dois.EventRegister, dois.EventHide} {
			require.ErrorIs(t, failure(client.ChangeState(ctx, "10.5072/typo", event, nil)), datacite.ErrNotFound,
				"no DOI is made by mistake")
		}
		require.ErrorIs(t, client.Delete(ctx, "10.5072/x"), datacite.ErrNotAllowed, "only drafts can be deleted")
		require.ErrorIs(t, failure(client.ChangeState(ctx, "10.5072/x", "findable", nil)), datacite.ErrInvalid,
			"a state is not an event")

		must(client.Create(ctx, &dois.Draft{DOI: "10.5072/bare"}))(t)
		_, err = client.ChangeState(ctx, "10.5072/bare", dois.EventPublish, nil)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		e, ok := errors.AsType[*datacite.Error](err)
		require.True(t, ok)
		assert.NotEmpty(t, e.Details)
	})
}

// TestFlagsOfAWrite asks for the shape of the response to a write (specification
// §4.2).
func TestFlagsOfAWrite(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, fullRecord)
		for want, response := range map[string]*dois.GetOptions{
			"affiliation=true&publisher=true":                            nil,
			"affiliation=true&detail=true&include=client&publisher=true": {Detail: true, Include: []string{"client"}},
		} {
			r, err := srv.DOIs().Update(t.Context(), "10.5072/full", &dois.Draft{
				URL: "https://example.org/full", Clear: []string{"language"}, Response: response,
			})
			require.NoError(t, err)
			assert.Equal(t, want, last(t, srv).URL.RawQuery)
			assert.Equal(t, "application/json", last(t, srv).Header.Get("Accept"))
			assert.NotEmpty(t, r.Publisher.PublisherIdentifier)
			assert.NotEmpty(t, r.Creators[0].Affiliation[0].AffiliationIdentifier)
		}
	})
}

func TestDraftContradictions(t *testing.T) {
	client := (&archive{}).client(t)
	for name, draft := range map[string]*dois.Draft{
		"extra broken XML":     {Extra: map[string]any{"xml": base64.StdEncoding.EncodeToString([]byte("<resource>R&D"))}},
		"extra other name":     {Extra: map[string]any{"doi": "10.5072/other"}},
		"extra event":          {Extra: map[string]any{"event": "publsh"}},
		"extra prefix":         {Extra: map[string]any{"prefix": "10.5072"}},
		"extra repeats":        {URL: "https://example.org", Extra: map[string]any{"url": "https://example.org/2"}},
		"clear and a value":    {URL: "https://example.org", Clear: []string{"url"}},
		"an unknown event":     {Event: "Publish"},
		"clear and in the XML": {MetadataXML: []byte(xmlRecord), AllowOtherDOI: true, Clear: []string{"publisher"}},
		"clear what stays":     {Clear: []string{"schemaVersion"}},
		"clear what is not":    {Clear: []string{"versoin"}},
		"no XML":               {MetadataXML: []byte("TY  - DATA")},
	} {
		t.Run(name, func(t *testing.T) {
			err := failure(client.Update(t.Context(), "10.5072/x", draft))
			require.ErrorIs(t, err, datacite.ErrInvalid)
			first, _, _ := strings.Cut(name, " ")
			assert.Equal(t, map[string]string{"extra": "Draft.Extra", "clear": "Draft.Clear", "an": "Draft.Event",
				"no": "Draft.MetadataXML"}[first], datacite.Findings(err)[0].Path)
		})
	}
}

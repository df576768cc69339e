package dois_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
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
		"sort that does not exist":     {dois.ListOptions{Sort: "newest"}, "newest"},
		"relevance upside down":        {dois.ListOptions{Sort: "-relevance"}, "relevance"},
		"negative page":                {dois.ListOptions{Page: query.Page{Number: -1}}, "page: number"},
		"page too large":               {dois.ListOptions{Page: query.Page{Size: 1001}}, "page: size"},
		"page beyond the window":       {dois.ListOptions{Page: query.Page{Number: 401}}, "first 10000"},
		"number and cursor":            {dois.ListOptions{Page: query.Page{Number: 2, Cursor: "1"}}, "cursor"},
		"sort and cursor":              {dois.ListOptions{Sort: query.ByName, Page: query.Page{Cursor: "1"}}, "order of creation"},
		"random with a sort":           {dois.ListOptions{Sort: query.ByName, Sample: query.Sample{Random: true}}, "random"},
		"random with a cursor":         {dois.ListOptions{Page: query.Page{Cursor: "1"}, Sample: query.Sample{Random: true}}, "sample"},
		"group that does not exist":    {dois.ListOptions{Sample: query.Sample{Group: "country"}}, "country"},
		"negative sample":              {dois.ListOptions{Sample: query.Sample{Group: "client", Size: -1}}, "sample: size"},
		"sample without group":         {dois.ListOptions{Sample: query.Sample{Size: 3}}, "group"},
		"years with a dash":            {dois.ListOptions{Registered: "2019-2020"}, "2019-2020"},
		"no year":                      {dois.ListOptions{Created: "last year"}, "last year"},
		"two attributes in one":        {dois.ListOptions{Fields: []string{"doi,titles"}}, "doi,titles"},
		"query with an open quote":     {dois.ListOptions{Query: query.Raw(`"ice`)}, "quot"},
		"nothing to combine":           {dois.ListOptions{Query: query.And()}, ""},
		"parameter given twice":        {dois.ListOptions{ClientID: []string{"a.b"}, Extra: url.Values{"client-id": {"c.d"}}}, "client-id"},
		"parameter of a field":         {dois.ListOptions{Extra: url.Values{"client_id": {"c.d"}}}, "client_id, which has a field"},
		"parameter in camel case":      {dois.ListOptions{Extra: url.Values{"clientId": {"c.d"}}}, "clientId, which has a field"},
		"a value that is not UTF-8":    {dois.ListOptions{ClientID: []string{"gla\xff"}}, "ListOptions.ClientID[0]"},
		"a value with a control":       {dois.ListOptions{ClientID: []string{"gla\x00cier"}}, "ListOptions.ClientID[0]"},
		"a filter beside IDs":          {dois.ListOptions{IDs: []string{"10.5072/a"}, Extra: url.Values{"has_views": {"2"}}}, "cannot be combined"},
		"page in Extra":                {dois.ListOptions{Extra: url.Values{"page[size]": {"5"}}}, "page[size]"},
		"no state":                     {dois.ListOptions{States: []dois.State{"nonsense"}}, `"nonsense" is not a state`},
		"no prefix":                    {dois.ListOptions{Prefix: []string{"5072"}}, `"5072" is not a prefix`},
		"parameter in another writing": {dois.ListOptions{ClientID: []string{"a.b"}, Extra: url.Values{"client_id": {"c.d"}}}, "client_id"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.List(t.Context(), &tt.opts)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			field, ok := errors.AsType[*datacite.ValidationError](err)
			require.True(t, ok)
			assert.Regexp(t, "^(ListOptions.*|query|sort|page|sample)$", field.Findings[0].Path)
			assert.ErrorContains(t, err, tt.want)
		})
	}
	assert.Zero(t, sent.Load())

	_, err := client.List(t.Context(), &dois.ListOptions{Sort: "newest"})
	assert.EqualError(t, err, `datacite: sort: "newest" is not an order that the service knows`)
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
		"more after the end":    {"application/json", `{"data":[],"meta":{"total":0}}{"data":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			client := scripted(t, &datacite.Config{MaxAttempts: 1}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", response.contentType)
				_, _ = io.WriteString(w, response.body)
			})
			_, err := client.List(t.Context(), nil)
			require.ErrorIs(t, err, datacite.ErrUnreadable)
			_, err = client.Get(t.Context(), "10.5072/a", nil)
			require.ErrorIs(t, err, datacite.ErrUnreadable)
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
		"List": {`{"data":[`, `],"meta":{"total":1},"links":{}}`, func(ctx context.Context, c *dois.Client) ([]dois.Record, error) {
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
				client := offline(t, nil, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					if asked++; asked == 1 {
						w.Header().Set("Content-Length", "5000")
						_, _ = io.WriteString(w, tt.before+first+strings.Repeat(" ", 1000)) // so much is read in parts
						return
					}
					_, _ = io.WriteString(w, tt.before+second+tt.after)
				})
				records, err := tt.read(t.Context(), client)
				require.NoError(t, err)
				require.Len(t, records, 1)
				assert.Equal(t, "10.5072/a", records[0].DOI)
				assert.Empty(t, records[0].Language)
				assert.Equal(t, 2, asked)
			})
		})
	}
}

func TestRedirectToAnotherHost(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	client := scripted(t, &datacite.Config{Username: "EXAMPLE.REPO", Password: "secret-password"}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
	})
	_, err := client.Get(t.Context(), "10.5072/a", nil)
	e, ok := errors.AsType[*datacite.Error](err)
	require.True(t, ok)
	assert.Equal(t, http.StatusFound, e.StatusCode)
	require.ErrorIs(t, err, datacite.ErrRedirect)
	assert.ErrorContains(t, err, "not followed")
	assert.False(t, reached.Load())
}

// TestAServerThatNeverResponds asks a server that never responds: the client gives up by itself,
// and as soon as the context says so.
func TestAServerThatNeverResponds(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	t.Run("timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := offline(t, &datacite.Config{Timeout: time.Minute, MaxAttempts: 2}, silent)
			_, err := client.List(t.Context(), nil)
			e, ok := errors.AsType[*datacite.Error](err)
			require.True(t, ok)
			assert.Equal(t, 2, e.Attempts)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.ErrorContains(t, err, "dois.List")
		})
	})
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := offline(t, nil, silent).Get(ctx, "10.5072/a", nil)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
	})
	t.Run("a write is unclear", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := offline(t, &datacite.Config{Token: "a.b.c", Timeout: time.Minute}, silent)
			_, err := client.Create(t.Context(), &dois.Draft{DOI: "10.5072/a"})
			require.ErrorIs(t, err, datacite.ErrUnclear)
			e, _ := errors.AsType[*datacite.Error](err)
			assert.Equal(t, 1, e.Attempts, "a second one could make a second DOI")
		})
	})
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
		"query with a fault":   {400, `{"errors":{"title":"parse_exception: Encountered \" \")\""}}`, datacite.ErrBadRequest, "parse_exception", ""},
		"bad credentials":      {401, `{"errors":[{"status":"401","title":"Bad credentials."}]}`, datacite.ErrUnauthorized, "Bad credentials", ""},
		"not permitted":        {403, `{"errors":[{"status":"403","title":"You are not authorized to access this resource."}]}`, datacite.ErrForbidden, "not authorized", ""},
		"load balancer":        {403, `<html><head><title>403 Forbidden</title></head></html>`, datacite.ErrRateLimited, "HTML page", ""},
		"not found":            {404, `{"errors":[{"status":"404","title":"The resource you are looking for doesn't exist."}]}`, datacite.ErrNotFound, "doesn't exist", ""},
		"not a draft":          {405, `{"errors":[{"status":"405","title":"Method not allowed"}]}`, datacite.ErrNotAllowed, "not allowed", ""},
		"race":                 {409, `{"errors":[{"status":"409","title":"The resource already exists."}]}`, datacite.ErrConflict, "already exists", ""},
		"too large":            {413, `<html><title>413 Request Entity Too Large</title></html>`, datacite.ErrTooLarge, "", ""},
		"validation":           {422, `{"errors":[{"source":"url","uid":"10.5072/a","title":"Can't be blank"}]}`, datacite.ErrInvalid, "url: Can't be blank", "url"},
		"taken":                {422, `{"errors":[{"source":"doi","title":"This DOI has already been taken"}]}`, datacite.ErrConflict, "taken", "doi"},
		"unhandled exception":  {500, `{"status":400,"title":"[503] no server available"}`, datacite.ErrServer, "no server", ""},
		"empty gateway error":  {502, ``, datacite.ErrServer, "502 Bad Gateway", ""},
		"gateway timeout page": {504, `<html><title>504 Gateway Time-out</title></html>`, datacite.ErrServer, "Gateway Time-out", ""},
	} {
		t.Run(name, func(t *testing.T) {
			client := scripted(t, &datacite.Config{MaxAttempts: 1, Token: "a.b.c"}, reply(tt.status, tt.body, nil))
			_, err := client.Update(t.Context(), "10.5072/a", &dois.Draft{})
			require.ErrorIs(t, err, tt.want)
			assert.ErrorContains(t, err, tt.text)
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

// TestNoCredentialsInErrorsAndLogs makes the client fail in many ways and looks for the credentials
// in all it says.
func TestNoCredentialsInErrorsAndLogs(t *testing.T) {
	const password = "hunter2-hunter2"
	var log strings.Builder
	opts := &datacite.Config{
		Username: "EXAMPLE.REPO", Password: password, MaxAttempts: 1,
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	var header string
	echo := func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, "you sent %s, that is %s", header, password)
	}
	client := scripted(t, opts, echo)
	_, err := client.Create(t.Context(), &dois.Draft{DOI: "10.5072/a"})
	require.ErrorIs(t, err, datacite.ErrUnauthorized)
	e, _ := errors.AsType[*datacite.Error](err)
	slog.New(slog.NewTextHandler(&log, nil)).Error("failed", "err", e)

	encoded := strings.TrimPrefix(header, "Basic ")
	require.NotEmpty(t, encoded)
	for what, text := range map[string]string{
		"the error": err.Error(), "its parts": fmt.Sprintf("%+v", e), "the body": string(e.Body), "the log": log.String(),
		"the client": fmt.Sprintf("%+v", client),
	} {
		assert.NotContains(t, text, password, what)
		assert.NotContains(t, text, encoded, what)
	}
}

// TestOptionsRefused gives client options that cannot be right.
func TestOptionsRefused(t *testing.T) {
	for name, cfg := range map[string]datacite.Config{
		"no address":        {},
		"plain HTTP":        {Service: datacite.Service{API: "http://api.example.org"}},
		"token and source":  {Service: datacite.Test, Token: "c", TokenSource: func(context.Context) (string, error) { return "", nil }},
		"user alone":        {Service: datacite.Test, Username: "a"},
		"token with blank":  {Service: datacite.Test, Token: "a b"},
		"negative attempts": {Service: datacite.Test, MaxAttempts: -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dois.NewClient(cfg)
			require.ErrorIs(t, err, datacite.ErrInvalid)
		})
	}
}

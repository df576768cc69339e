package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reports"
)

func init() {
	for _, kind := range []string{
		"application/xml", "text/html", "application/gzip", "application/x-bibtex", "text/x-bibliography",
		"application/vnd.datacite.datacite+xml",
		"application/x-ndjson", "application/jsonl", "application/yaml",
	} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.PlainBodyDecoder)
	}
}

// An agreement compares requests and responses with the document.
type agreement struct {
	t       *testing.T
	router  routers.Router
	mu      sync.Mutex
	reached map[string]bool // operations
}

func agree(t *testing.T) *agreement {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(openAPI)
	require.NoError(t, err)
	require.NoError(t, document.Validate(t.Context(), openapi3.EnableExamplesValidation()))
	router, err := gorillamux.NewRouter(document)
	require.NoError(t, err)
	return &agreement{t: t, router: router, reached: map[string]bool{}}
}

// RoundTrip sends a request. The document must describe it, or it must be refused; and the document
// must describe the response.
func (a *agreement) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		sent, _ = io.ReadAll(r.Body)
	}
	r = r.Clone(r.Context())
	if r.Body = http.NoBody; len(sent) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return res, err
	}
	asked := r.Clone(r.Context())
	asked.Body = io.NopCloser(bytes.NewReader(sent))
	if asked.Header.Get("Content-Encoding") == "gzip" {
		asked.Header.Set("Content-Type", "application/gzip")
	}
	what := r.Method + " " + r.URL.RequestURI()
	route, parameters, err := a.router.FindRoute(asked)
	if !assert.NoError(a.t, err, what) {
		return res, nil
	}
	a.mu.Lock()
	a.reached[route.Operation.OperationID] = true
	a.mu.Unlock()
	in := &openapi3filter.RequestValidationInput{
		Request: asked, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true, MultiError: true},
	}
	err = openapi3filter.ValidateRequest(r.Context(), in)
	if res.StatusCode < 400 {
		assert.NoError(a.t, err, "%s: the sandbox accepts what the document does not describe", what)
	}
	assert.NoError(a.t, openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: in.Options,
	}), "%s: %d %s", what, res.StatusCode, body)
	return res, nil
}

// send sends a request with the kind of its body, and returns the response.
func (a *agreement) send(method, address, kind, body string, header ...string) (status int, text string) {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, address, strings.NewReader(body))
	require.NoError(a.t, err)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := (&http.Client{Transport: a, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}).Do(r)
	require.NoError(a.t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(a.t, err)
	return res.StatusCode, string(data)
}

const inJSON = "application/json"

// The document and the sandbox agree, in each operation.
func TestOpenAPI(t *testing.T) {
	a := agree(t)
	for _, behaviour := range []string{"documented", "deployed"} {
		address, stop := start(t, "--behaviour", behaviour, "--account", "OTHER.REPO:secret:10.1111")
		defer stop()
		a.control(address, behaviour)
		a.interfaces(address)
	}
	document, err := openapi3.NewLoader().LoadFromData(openAPI)
	require.NoError(t, err)
	described := map[string]bool{}
	for _, item := range document.Paths.Map() {
		for _, operation := range item.Operations() {
			described[operation.OperationID] = true
			assert.True(t, a.reached[operation.OperationID], "no request reaches %s", operation.OperationID)
		}
	}
	for _, one := range actions {
		found := false
		for path, item := range document.Paths.Map() {
			found = found || strings.HasPrefix(path, controlPath+one.path) && item.GetOperation(one.method) != nil
		}
		assert.True(t, found, "%s %s is not described", one.method, one.path)
	}
}

// control sends good and bad requests to each route of the control interface.
func (a *agreement) control(address, behaviour string) {
	base := address + controlPath
	usage := map[string]int{"documented": 409, "deployed": 204}[behaviour]
	const other = "https://attacker.example"
	for _, tt := range []struct {
		method, path, kind, body string
		want                     int
		says                     string
	}{
		{"GET", "health", "", "", 200, `"status":"ok"`},
		{"GET", "openapi.yaml", "", "", 200, "openapi: 3"},
		{"POST", "dois", inJSON, `{"doi":"10.5072/a","url":"https://example.org/a"}`, 201, `{"loaded":1}`},
		{"POST", "dois", "application/x-ndjson", "{\"doi\":\"10.5072/b/c\",\"state\":\"draft\"}\n[{\"doi\":\"10.5072/d\"}]",
			201, `{"loaded":2}`},
		{"POST", "dois", "application/vnd.api+json",
			`{"data":{"id":"10.5072/e","type":"dois","attributes":{"doi":"10.5072/e","state":"registered"}}` +
				`}`, 201, `{"loaded":1}`},
		{"POST", "dois", inJSON, `{"doi":"10.5072/f"}{"doi":"none"}`, 422,
			"after 1 record, which are stored: doi \\\"none\\\" is not a DOI"},
		{"POST", "dois", "text/plain", `{"doi":"10.5072/f"}`, 415, "--json"},
		{"GET", "dois", "", "", 200, `{"doi":"10.5072/b/c","state":"draft"}`},
		{"GET", "dois/10.5072/A", "", "", 200,
			`"doi":"10.5072/a","state":"findable","url":"https://example.org/a","resolves_to":"https://example.org/a"`},
		{"GET", "dois/10.5072/b%2Fc", "", "", 200, `"state":"draft","url":null,"resolves_to":null`},
		{"GET", "dois/10.5072/none", "", "", 404, "has no DOI 10.5072/none"},
		{"GET", "faults", "", "", 200, `{"faults":[]}`},
		{"POST", "faults", inJSON, `{"route":"GET /dois","fault":"503","count":1}`, 201,
			`{"id":1,"route":"GET /dois","fault":"503","count":1,"share":null,"seed":1,"met":0}`},
		{"POST", "faults", inJSON, `{"fault":"random","share":0.5,"seed":7}`, 201, `"share":0.5,"seed":7`},
		{"POST", "faults", inJSON, `{"fault":"429 retry-after 30s"}`, 201, `"id":3`},
		{"POST", "faults", inJSON, `{"fault":"503","cout":1}`, 400,
			`\"cout\" is unknown; there are route, fault, count, share, seed`},
		{"POST", "faults", inJSON, `{"route":"/dois"}`, 400, `there is no fault \"\"`},
		{"POST", "faults", inJSON, `{"fault":"503","count":-1}`, 400, "count is -1"},
		{"POST", "faults", inJSON, `{"fault":"503","share":0}`, 400, "share is 0"},
		{"POST", "faults", inJSON, `{"fault":"503","share":1.5}`, 400, "share is 1.5"},
		{"POST", "faults", inJSON, `{"fault":503}`, 400, "not the JSON object"},
		{"POST", "faults", inJSON, `{"fault":"503"} {}`, 400, "more than one"},
		{"POST", "faults", inJSON, `{"route":"dois","fault":"503"}`, 400, "does not begin with /"},
		{"POST", "faults", inJSON, `{"fault":"429 retry-after soon"}`, 400, "soon"},
		{"POST", "faults", "application/x-www-form-urlencoded", `{"fault":"503"}`, 415, "--json"},
		{"POST", "faults", inJSON, `{"fault":"` + strings.Repeat("5", maxBody) + `"}`, 413, "more than"},
		{"DELETE", "faults/3", "", "", 204, ""},
		{"DELETE", "faults/3", "", "", 404, "no fault 3"},
		{"DELETE", "faults", "", "", 204, ""},
		{"GET", "faults", "", "", 200, `{"faults":[]}`},
		{"GET", "requests", "", "", 200, `{"requests":[]}`},
		{"GET", "requests?wait=1ms&count=2", "", "", 404, "0 of 2 requests came within 1ms"},
		{"GET", "requests?count=2", "", "", 400, "add wait"},
		{"GET", "requests?wait=20m", "", "", 400, "at most 10m"},
		{"GET", "requests?rout=/dois", "", "", 400, `\"rout\" is unknown; there are route, fault`},
		{"GET", "requests?after=-1", "", "", 400, "must be 0 or more"},
		{"GET", "requests?route=dois", "", "", 400, "does not begin with /"},
		{"GET", "clock", "", "", 200, `{"now":"20`},
		{"POST", "clock", inJSON, `{"advance":"3m"}`, 200, `{"now":"20`},
		{"POST", "clock", inJSON, `{"advance":"-3m"}`, 400, "a time forward"},
		{"POST", "clock", inJSON, `{"advance":"2000000h"}`, 400, "100 years"},
		{"POST", "clock", inJSON, `{}`, 400, "a time forward"},
		{"POST", "process-usage", "", "", usage, ""},
		{"POST", "process-usage", "text/plain", "", 415, "--json"},
		{"POST", "tokens", "", "", 201, `"token":"`},
		{"POST", "tokens", inJSON, `{"username":"other.repo","expires_in":"-1h"}`, 201, `"expires":"20`},
		{"POST", "tokens", inJSON, `{"username":"nobody"}`, 400,
			`username: \"nobody\" is not one of EXAMPLE.REPO, OTHER.REPO`},
		{"POST", "tokens", inJSON, `{"expires_in":"soon"}`, 400, "expires_in"},
		{"GET", "resolver/10.5072/a", "", "", 302, ""},
		{"GET", "resolver/10.5072/none", "", "", 404, ""},
		{"POST", "reset", inJSON, `{"all":true}`, 400, `\"all\" is unknown; nothing`},
		{"POST", "reset", "text/plain", "", 415, "--json"},
		{"POST", "reset", inJSON, "{}", 204, ""},
		{"POST", "reset", "", "", 204, ""},
		{"GET", "dois", "", "", 200, `{"dois":[]}`},
	} {
		status, text := a.send(tt.method, base+tt.path, tt.kind, tt.body)
		assert.Equal(a.t, tt.want, status, "%s %s %s", tt.method, tt.path, tt.body)
		assert.Contains(a.t, text, tt.says, "%s %s %s", tt.method, tt.path, tt.body)
		if tt.method != "GET" {
			status, text = a.send(tt.method, base+tt.path, tt.kind, tt.body, "Origin", other)
			assert.Equal(a.t, 403, status, "%s %s", tt.method, tt.path)
			assert.Contains(a.t, text, "--allow-origin")
		}
	}
}

// interfaces uses the service as clients do.
func (a *agreement) interfaces(address string) {
	t, ctx := a.t, a.t.Context()
	var w welcome
	_, text := a.send("GET", address+controlPath+"health", "", "")
	require.NoError(t, json.Unmarshal([]byte(text), &w))
	cfg := datacite.Config{
		Service: datacite.Service{API: address, MDS: address}, Username: w.Username, Password: w.Password,
		HTTPClient: &http.Client{Transport: a}, MaxAttempts: 1,
	}
	store, err := mds.NewClient(cfg)
	require.NoError(t, err)
	found, err := dois.NewClient(cfg)
	require.NoError(t, err)
	cfg.Token = w.Token
	usage, err := reports.NewClient(cfg)
	require.NoError(t, err)
	cfg.Password, cfg.Token = "wrong", "wrong"
	stranger, err := mds.NewClient(cfg)
	require.NoError(t, err)

	xml := shelltest.Read(t, "../../../../testdata/records/minimal.xml")
	nameless := mds.XML(xml)
	_, err = store.Register(ctx, "10.5072/a", "https://example.org/a", nameless, nil)
	require.NoError(t, err)
	_, err = store.Mint(ctx, "10.5072", nameless)
	require.NoError(t, err)
	_, err = store.PutMetadata(ctx, "10.5072/draft", nameless)
	require.NoError(t, err)
	login := []string{"Authorization", "Basic RVhBTVBMRS5SRVBPOnNhbmRib3gtcGFzc3dvcmQ="}
	a.send("POST", address+"/metadata", "application/xml;charset=UTF-8", minimal, login...)
	a.send("POST", address+"/metadata/10.5072", "application/xml;charset=UTF-8", string(xml), login...)
	for _, call := range []error{
		errOf(store.URL(ctx, "10.5072/a")), errOf(store.Metadata(ctx, "10.5072/a")), errOf(store.URL(ctx, "10.5072/none")),
		errOf(store.Metadata(ctx, "10.5072/none")), errOf(store.PutURL(ctx, "10.5072/none", "https://example.org/")),
		errOf(store.PutURL(ctx, "10.1111/a",
			"https://example.org/")), errOf(stranger.PutURL(ctx, "10.5072/a", "https://example.org/")),
		errOf(stranger.URL(ctx, "10.5072/draft")), store.DeleteDraft(ctx,
			"10.5072/draft"), store.DeleteDraft(ctx, "10.5072/a"), store.Hide(ctx, "10.5072/a"),
	} {
		_ = call // whether it succeeds is not the question here
	}
	for _, path := range []string{"/doi", "/metadata/10.5072/none", "/doi?other=1"} {
		a.send("GET", address+path, "", "", login...)
	}

	record := &dois.Draft{DOI: "10.5072/b", Event: dois.EventPublish, URL: "https://example.org/b"}
	require.NoError(t, json.Unmarshal(
		[]byte(`{"titles":[{"title":"B"}],"creators":[{"name":"Lovelace, `+
			`Ada"}],"publisher":"P","publicationYear":2026,"types":{"resourceTypeGeneral":"Dataset"}}`), &record.Record))
	_, err = found.Create(ctx, record)
	require.NoError(t, err)
	_, err = found.Create(ctx, record)
	require.Error(t, err)
	record.URL = "https://example.org/c"
	_, err = found.Update(ctx, "10.5072/b", record)
	require.NoError(t, err)
	_, err = found.Create(ctx, &dois.Draft{DOI: "10.5072/c"})
	require.NoError(t, err)
	require.NoError(t, found.Delete(ctx, "10.5072/c"))
	require.Error(t, found.Delete(ctx, "10.5072/b"))
	require.Error(t, found.Delete(ctx, "10.5072/none"))
	a.send("PATCH", address+"/dois/10.5072/b", "application/vnd.api+json",
		`{"data":{"type":"dois","attributes":{"version":"2"}}}`, login...)
	a.send("PATCH", address+"/dois/10.5072/b", "application/vnd.api+json",
		`{"data":{"type":"dois","attributes":{"version":"2"}}}`)
	for _, query := range []string{"?query=titles.title:B",
		"?page[size]=1&sort=-created&detail=true&affiliation=true&publisher=true", "?page[cursor]=1", "?query=%22", "?facets=odd&disable-facets=false", "/10.5072/b", "/10.5072/none"} {
		status, _ := a.send("GET", address+"/dois"+query, "", "", login...)
		assert.NotZero(t, status)
	}
	for _, kind := range []string{"application/vnd.datacite.datacite+xml", "application/vnd.datacite.datacite+json",
		"application/vnd.citationstyles.csl+json", "application/x-bibtex", "text/x-bibliography", "text/turtle", "application/odd"} {
		a.send("GET", address+"/dois/10.5072/b", "", "", "Accept", kind)
	}

	month := reports.Month(2026, time.October)
	report := &reports.Report{Header: reports.NewHeader("Example", "2026-11-01", month), Datasets: []reports.Dataset{{
		Title: "B", Platform: "P", Publisher: "P", DataType: reports.DataTypeDataset,
		DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: "10.5072/b"}},
	}}}
	stored, err := usage.Create(ctx, report)
	require.NoError(t, err)
	_, err = usage.Put(ctx, stored.ID, report)
	require.NoError(t, err)
	_, err = usage.Get(ctx, stored.ID)
	require.NoError(t, err)
	_, err = usage.List(ctx, nil)
	require.NoError(t, err)
	second := reports.NewHeader("Other", "2026-11-01", month)
	_, err = usage.Submit(ctx, second, reports.Source(report.Datasets), &reports.SubmitOptions{LockDir: t.TempDir()})
	require.NoError(t, err)
	a.send("GET", address+"/reports/none", "", "")
	a.send("GET", address+"/reports?page[size]=1", "", "")
	a.send("POST", address+"/reports", inJSON, "{}")
	a.send("POST", address+"/reports", inJSON, "{}", "Authorization", "Bearer "+w.Token)
	a.send("DELETE", address+"/reports/"+stored.ID, "", "", "Authorization", "Bearer "+w.Token)
	a.send("DELETE", address+"/reports/"+stored.ID, "", "")
}

func errOf[T any](_ T, err error) error { return err }

// minimal is a record of an XML that names its DOI.
const minimal = `<?xml version="1.0" encoding="UTF-8"?>
<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI">10.5072/FROM-XML</identifier>
<creators><creator><creatorName>Lovelace, Ada</creatorName></creator></creators><titles><title>Glacier length</title></titles>
<publisher>Example Repository</publisher><publicationYear>2026</publicationYear><resourceType resourceTypeGeneral="Dataset"/></resource>`

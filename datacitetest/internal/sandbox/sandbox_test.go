package sandbox_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

const base = "https://api.example.org"

// call is one request of a test and what is expected of the answer.
type call struct {
	method, path string
	header       map[string]string
	body         string
	as           string // "repo" and "other" send Basic credentials, "token" a token, "token of x" one of another account
}

type answer struct {
	status int
	header http.Header
	body   string
}

// other is a second account, with a prefix of its own.
var other = sandbox.Account{
	Username: "OTHER.REPO", Password: "secret", ClientID: "other.repo", ProviderID: "other", ConsortiumID: "cons",
	Prefixes: []string{"10.70000"}, Domains: []string{"example.org", "*.example.net"},
}

// member is the member that the first account belongs to, and lead leads the consortium of the second.
var (
	member = sandbox.Account{Username: "EXAMPLE", Password: "secret", ClientID: "example", ProviderID: "example",
		Role: "provider_admin"}
	lead = sandbox.Account{Username: "CONS", Password: "secret", ClientID: "cons", ProviderID: "cons",
		Role: "consortium_admin"}
)

func newService() *sandbox.Service { return newServiceAs(sandbox.Documented) }

func deployed() *sandbox.Service { return newServiceAs(sandbox.Deployed) }

func newServiceAs(behaviour sandbox.Behaviour) *sandbox.Service {
	return sandbox.New(&sandbox.Options{Behaviour: behaviour,
		Accounts: []sandbox.Account{sandbox.DefaultAccount, other, member, lead}})
}

func (c call) do(t testing.TB, service *sandbox.Service) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), c.method, base+c.path, strings.NewReader(c.body))
	require.NoError(t, err)
	for name, value := range c.header {
		req.Header.Set(name, value)
	}
	switch c.as {
	case "repo":
		req.SetBasicAuth(sandbox.DefaultAccount.Username, sandbox.DefaultAccount.Password)
	case "other":
		req.SetBasicAuth(other.Username, other.Password)
	case "token":
		req.Header.Set("Authorization", "Bearer "+service.Token(service.Now().Add(time.Hour)))
	}
	if client, ok := strings.CutPrefix(c.as, "token of "); ok {
		req.Header.Set("Authorization", "Bearer "+service.TokenOf(client, service.Now().Add(time.Hour)))
	}
	res := send(t, service, req)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return answer{res.StatusCode, res.Header, string(body)}
}

// by sends a call with the token of another account.
func (c call) by(client string) call {
	c.as = "token of " + client
	return c
}

func send(t testing.TB, service *sandbox.Service, req *http.Request) *http.Response {
	t.Helper()
	res, err := service.Transport().RoundTrip(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// read decodes a JSON body.
func (a answer) read(t testing.TB) map[string]any {
	t.Helper()
	var o map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.body), &o), a.body)
	return o
}

// at walks into decoded JSON by member names and indexes, as in
// "data.0.attributes.doi"; what is not there is nil.
func at(v any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[step]
		case []any:
			i := 0
			if err := json.Unmarshal([]byte(step), &i); err != nil || i >= len(inner) {
				return nil
			}
			v = inner[i]
		default:
			return nil
		}
	}
	return v
}

func gzipPost(t testing.TB, service *sandbox.Service, body []byte) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/reports", bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/gzip")
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("Authorization", "Bearer "+service.Token(service.Now().Add(time.Hour)))
	return req
}

// onlyReport is the id of the one report that the service has.
func onlyReport(t testing.TB, service *sandbox.Service) string {
	t.Helper()
	list := call{method: http.MethodGet, path: "/reports"}.do(t, service).read(t)
	require.Len(t, list["reports"], 1)
	return at(list, "reports.0.id").(string)
}

const noteCompressed = `{"code":69,"severity":"warning","message":"report is compressed using gzip",` +
	`"help-url":"https://example.org/help","data":"usage data needs to be uncompressed"}`

// header is a report header, with the exceptions given.
func header(createdBy, begin, exceptions string) string {
	return `{"report-name":"Dataset Master Report","report-id":"DSR","release":"rd1","created-by":"` + createdBy +
		`","created":"2020-02-01","reporting-period":{"begin-date":"` + begin + `","end-date":"2020-12-31"},` +
		`"report-filters":[],"report-attributes":[],"exceptions":[` + exceptions + `]}`
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

func unzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	return out
}

// zipped is gzip of data.
func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)
	w.Reset(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }} // they are large

// stored is gzip that does not make smaller.
func stored(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.NoCompression)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}

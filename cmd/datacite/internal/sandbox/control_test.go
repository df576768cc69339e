package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

// do sends a request, and returns the response with its body; 0 if the connection is lost.
func do(t *testing.T, method, address, body string, header ...string) (status int, text string, got http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return 0, "", nil
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(data), res.Header
}

// states are the DOIs of the sandbox with their states.
func states(t *testing.T, address string) map[string]string {
	t.Helper()
	_, text, _ := do(t, "GET", address+"/sandbox/dois", "")
	var list struct{ DOIs []listedDOI }
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	all := map[string]string{}
	for _, one := range list.DOIs {
		all[one.DOI] = one.State
	}
	return all
}

// A reset returns to the records and the faults with which the sandbox was started, also after a restart that
// found other records in the file of the state.
func TestResetReturnsToTheStart(t *testing.T) {
	seed := shelltest.File(t, "seed.jsonl", `{"doi":"10.5072/loaded","state":"draft"}`)
	for _, behaviour := range []string{"documented", "deployed"} {
		state := filepath.Join(t.TempDir(), "state.json")
		args := []string{"--behaviour", behaviour, "--state", state, "--load", seed, "--fault", "GET /reports=1*503"}
		address, stop := start(t, args...)
		register(t, address, "10.5072/mine")
		register(t, address, "10.5072/loaded")
		stop()
		address, stop = start(t, args...)
		defer stop()
		assert.Equal(t, map[string]string{"10.5072/loaded": "findable", "10.5072/mine": "findable"}, states(t, address),
			"a restart keeps what was changed")
		for range 2 {
			status, _ := get(t, address+"/reports")
			assert.Equal(t, 503, status)
			status, _, _ = do(t, "POST", address+"/sandbox/faults", `{"fault":"500"}`)
			require.Equal(t, 201, status)
			status, _ = get(t, address+"/reports")
			assert.Equal(t, 500, status)
			status, _, _ = do(t, "POST", address+"/sandbox/clock", `{"advance":"36h"}`)
			require.Equal(t, 200, status)
			require.Contains(t, first(get(t, address)), "GET /reports")

			status, _, _ = do(t, "POST", address+"/sandbox/reset", "")
			require.Equal(t, 204, status)
			assert.Equal(t, map[string]string{"10.5072/loaded": "draft"}, states(t, address))
			_, requests, _ := do(t, "GET", address+"/sandbox/requests", "")
			assert.Equal(t, "{\"requests\":[]}\n", requests)
			assert.NotContains(t, first(get(t, address)), "GET /reports</code>", "the page forgets the requests, too")
			_, clock, _ := do(t, "GET", address+"/sandbox/clock", "")
			var now struct{ Now time.Time }
			require.NoError(t, json.Unmarshal([]byte(clock), &now))
			assert.Less(t, time.Until(now.Now), time.Hour)
			_, faults, _ := do(t, "GET", address+"/sandbox/faults", "")
			assert.Contains(t, faults, `"route":"GET /reports","fault":"503","count":1`)
			assert.Contains(t, faults, `"met":0`)
			assert.NotContains(t, faults, `"500"`)
		}
		stop()
		address, stop = start(t, "--behaviour", behaviour, "--state", state)
		defer stop()
		assert.Equal(t, map[string]string{"10.5072/loaded": "draft"}, states(t, address), "the file has followed")
	}
}

func first[A, B any](_ A, b B) B { return b }

// Restarting with the records of --load does not double what is made of them.
// A record keeps the account that the service names beside its attributes.
func TestLoadKeepsAccounts(t *testing.T) {
	seed := shelltest.File(t, "seed.json",
		`{"data":[{"id":"10.5072/a","attributes":{"doi":"10.5072/a"},"relationships":{"client":{"data":{"id":"ice.archive","type":"clients"}}}},
		{"attributes":{"doi":"10.5072/b"}}]}`)
	address, stop := start(t, "--load", seed)
	defer stop()
	for account, name := range map[string]string{"ice.archive": "10.5072/a", "example.repo": "10.5072/b"} {
		_, text := get(t, address+"/dois?client-id="+account)
		assert.Contains(t, text, `"total":1,`)
		assert.Contains(t, text, `"id":"`+name+`"`)
	}
	_, text := get(t, address+"/dois?provider-id=ice")
	assert.Contains(t, text, `"total":1,`)
}

func TestStateAndLoadTogether(t *testing.T) {
	seed, state := filepath.Join(t.TempDir(), "seed.jsonl"), filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(seed, []byte(`{"doi":"10.5072/old"}
{"doi":"10.5072/new","relatedIdentifiers":[{"relatedIdentifier":"10.5072/old","relatedIdentifierType":"DOI","relationType":"Cites"}]}`), 0o600))
	for range 3 {
		address, stop := start(t, "--state", state, "--load", seed)
		_, text := get(t, address+"/dois/10.5072/old")
		assert.Contains(t, text, `"citationCount":1,`)
		stop()
	}
}

// A fault that is added while the sandbox runs takes effect, and is listed with the request.
func TestFaultsOverHTTP(t *testing.T) {
	for _, behaviour := range []string{"documented", "deployed"} {
		address, stop := start(t, "--behaviour", behaviour)
		defer stop()
		add := func(fault string) {
			t.Helper()
			status, text, _ := do(t, "POST", address+"/sandbox/faults", fault)
			require.Equal(t, 201, status, text)
		}
		for _, tt := range []struct {
			fault  string
			want   int
			status string // that the service responded with
			kind   string
		}{
			{`{"route":"PUT /dois","fault":"drop-after"}`, 0, "201", `"drop-after"`},
			{`{"route":"PUT /dois","fault":"drop-before"}`, 0, "null", `"drop-before"`},
			{`{"route":"/dois/10.5072","fault":"504-after"}`, 504, "201", `"status-after"`},
			{`{"fault":"503"}`, 503, "503", `"status"`},
			{`{"route":"PUT","fault":"1ms"}`, 201, "201", `"delay"`},
			{`{"route":"GET","fault":"503"}`, 201, "201", "null"},
			{`{"route":"/reports","fault":"503"}`, 201, "201", "null"},
			{`{"fault":"503","share":1e-9}`, 201, "201", "null"},
		} {
			status, _, _ := do(t, "POST", address+"/sandbox/reset", "")
			require.Equal(t, 204, status)
			add(tt.fault)
			status, _, _ = do(t, "PUT", address+"/dois/10.5072/a", `{"data":{"type":"dois","attributes":{}}}`,
				"Content-Type", "application/vnd.api+json", "Authorization", "Basic RVhBTVBMRS5SRVBPOnNhbmRib3gtcGFzc3dvcmQ=")
			assert.Equal(t, tt.want, status, tt.fault)
			_, requests, _ := do(t, "GET", address+"/sandbox/requests?wait=1m&route=put+/DOIS", "")
			assert.Contains(t, requests, fmt.Sprintf(`"status":%s,"fault":%s}`, tt.status, tt.kind), tt.fault)
			assert.NotContains(t, requests, "Authorization")
			if tt.status == "201" {
				assert.Contains(t, requests, `"body":"{\"data\":`)
			}
			_, faults, _ := do(t, "GET", address+"/sandbox/faults", "")
			assert.Contains(t, faults, fmt.Sprintf(`"met":%d}`, map[bool]int{true: 0, false: 1}[tt.kind == "null"]), tt.fault)
		}
		add(`{"fault":"429 retry-after 30s","count":1}`)
		status, _, header := do(t, "GET", address+"/dois", "")
		assert.Equal(t, 429, status)
		assert.Equal(t, "30", header.Get("Retry-After"))
	}
}

// The same seed chooses the same requests, by flags and over HTTP.
func TestSharesAreRepeatable(t *testing.T) {
	run := func(args ...string) (failed string) {
		address, stop := start(t, args...)
		defer stop()
		if len(args) == 0 {
			status, _, _ := do(t, "POST", address+"/sandbox/faults",
				`{"route":"/dois","fault":"503","share":0.3,"seed":7,"count":5}`)
			require.Equal(t, 201, status)
		}
		for range 40 {
			status, _ := get(t, address+"/dois")
			failed += fmt.Sprint(status/100, " ")
		}
		return failed
	}
	over := run()
	assert.Equal(t, 5, strings.Count(over, "5"))
	assert.NotEqual(t, "5 5 5 5 5 ", over[:10])
	assert.Equal(t, over, run("--fault", "/dois=30%*5*503", "--seed", "7"))
}

// A test can wait for what another thread of its program does.
func TestWaitForRequests(t *testing.T) {
	address, stop := start(t)
	defer stop()
	waited := make(chan string, 1)
	go func() {
		_, text, _ := do(t, "GET", address+"/sandbox/requests?route=GET+/dois&count=2&wait=5m", "")
		waited <- text
	}()
	get(t, address+"/dois/10.5072/a%2Fb")
	get(t, address+"/reports")
	get(t, address+"/dois/10.5072/b")
	text := <-waited
	assert.Contains(t, text, `{"number":1,"method":"GET","path":"/dois/10.5072/a%2Fb","query":""`)
	assert.Contains(t, text, `{"number":3,`)
	assert.NotContains(t, text, `{"number":2,`)
	_, text, _ = do(t, "GET", address+"/sandbox/requests?after=2&status=404", "")
	assert.Contains(t, text, `{"requests":[{"number":3,`)
	// What waits does not keep the sandbox from stopping.
	go do(t, "GET", address+"/sandbox/requests?route=GET+/none&wait=10m", "")
	stop()
}

// Tokens expire by the clock of the sandbox.
func TestTokensExpire(t *testing.T) {
	address, stop := start(t)
	defer stop()
	_, text, _ := do(t, "POST", address+"/sandbox/tokens", `{"expires_in":"1h"}`)
	var issued struct{ Token string }
	require.NoError(t, json.Unmarshal([]byte(text), &issued))
	list := func() int {
		status, _, _ := do(t, "GET", address+"/dois", "", "Authorization", "Bearer "+issued.Token)
		return status
	}
	assert.Equal(t, 200, list())
	do(t, "POST", address+"/sandbox/clock", `{"advance":"1h1s"}`)
	assert.Equal(t, 401, list())
}

// No page of another origin controls the sandbox or reads it: neither a script nor a form, unless --allow-origin names
// it. Hosts are those of --host and of this machine.
func TestOriginsThatMayControl(t *testing.T) {
	const allowed = "http://localhost:3000"
	address, stop := start(t, "--allow-origin", "https://app.example:8443", "--allow-origin", allowed, "--host",
		"app.test")
	defer stop()
	for _, tt := range []struct {
		method, path string
		header       []string
		want         int
	}{
		{"POST", "reset", nil, 204},
		{"POST", "reset", []string{"Origin", address}, 204},
		{"POST", "reset", []string{"Origin", allowed}, 204},
		{"POST", "reset", []string{"Origin", "https://app.example:8443"}, 204},
		{"POST", "reset", []string{"Origin", "http://localhost:3001"}, 403},
		{"POST", "reset", []string{"Origin", "http://app.test"}, 403},
		{"POST", "reset", []string{"Origin", "https://app.example"}, 403},
		{"POST", "reset", []string{"Origin", "null"}, 403},
		{"GET", "requests", []string{"Origin", "http://localhost:3001"}, 403},
		{"GET", "requests", []string{"Origin", allowed}, 200},
		{"POST", "reset", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", "reset", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"POST", "reset", []string{"Sec-Fetch-Site", "same-origin"}, 204},
		{"POST", "reset", []string{"Sec-Fetch-Site", "cross-site", "Origin", allowed}, 204},
		{"POST", "reset", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"POST", "reset", []string{"Content-Type", "multipart/form-data; boundary=x"}, 415},
		{"POST", "reset", []string{"Content-Type", "text/plain"}, 415},
		{"GET", "health", []string{"Host", "attacker.example"}, 421},
		{"GET", "health", []string{"Host", "app.test:80", "Origin", "http://app.test"}, 403},
		{"GET", "health", []string{"Host", "app.test:80"}, 200},
		{"GET", "../", []string{"Host", "attacker.example"}, 421},
		{"GET", "../dois", []string{"Host", "attacker.example"}, 421},
		{"GET", "../dois", []string{"Origin", "https://attacker.example"}, 403},
		{"GET", "record?doi=10.5072/a", []string{"Host", "attacker.example"}, 421},
		{"OPTIONS", "faults", []string{"Origin", "http://localhost:3001", "Access-Control-Request-Method", "POST"}, 403},
		{"OPTIONS", "faults", nil, 405},
		{"PUT", "faults", nil, 405},
		{"HEAD", "health", nil, 200},
		{"GET", "none", nil, 404},
		{"GET", "", nil, 404},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, address+"/sandbox/"+tt.path, nil)
		require.NoError(t, err)
		for i := 0; i < len(tt.header); i += 2 {
			if r.Header.Set(tt.header[i], tt.header[i+1]); tt.header[i] == "Host" {
				r.Host = tt.header[i+1]
			}
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		res.Body.Close()
		assert.Equal(t, tt.want, res.StatusCode, "%s %s %s", tt.method, tt.path, tt.header)
		if tt.want == 421 {
			assert.Contains(t, string(text), "--host")
		}
		if origin := r.Header.Get("Origin"); tt.want < 400 && origin != "" && origin != address {
			assert.Equal(t, origin, res.Header.Get("Access-Control-Allow-Origin"))
		} else {
			assert.Empty(t, res.Header.Get("Access-Control-Allow-Origin"), "%s", tt.header)
		}
	}
	status, _, header := do(t, "OPTIONS", address+"/sandbox/faults", "", "Origin", allowed,
		"Access-Control-Request-Method", "DELETE",
		"Access-Control-Request-Headers", "content-type", "Access-Control-Request-Private-Network", "true")
	assert.Equal(t, 204, status)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": allowed, "Access-Control-Allow-Methods": "GET, POST, DELETE",
		"Access-Control-Allow-Headers":         "Content-Type",
		"Access-Control-Allow-Private-Network": "true", "Vary": "Origin",
	} {
		assert.Equal(t, want, header.Get(name), name)
	}
	status, _, _ = do(t, "GET", address+"/dois", "", "Origin", "https://app.example:8443")
	assert.Equal(t, 200, status, "such a page uses the service, too")
}

// The file of an earlier run does not lead a script to the wrong place, and the file of this one goes with it.
func TestAddressFileIsOfThisRun(t *testing.T) {
	file := shelltest.File(t, "address", "http://127.0.0.1:1\n")
	address, stop := start(t, "--address-file", file, "--quiet")
	text := shelltest.Read(t, file)
	assert.Equal(t, address+"\n", string(text))
	stop()
	assert.NoFileExists(t, file)
}

// The page shows the faults in the form of the flag.
func TestPageShowsFaults(t *testing.T) {
	address, stop := start(t, "--fault", "PUT /metadata=2*503", "--down", "dois", "--random-faults", "0.25")
	defer stop()
	status, _, _ := do(t, "POST", address+"/sandbox/faults", `{"route":"<b>","fault":"503"}`)
	assert.Equal(t, 400, status)
	_, page := get(t, address)
	for _, fault := range []string{"PUT /metadata=2*503", "/dois=503", "/=25%*random"} {
		assert.Contains(t, page, "<code>"+fault+"</code>")
	}
}

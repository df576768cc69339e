package sandbox

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reports"
)

// call runs the command to its end.
func call(ctx context.Context, out, notes io.Writer, args ...string) (code int) {
	s := &shell.Shell{Args: append([]string{"sandbox"}, args...), Getenv: func(string) string {
		return ""
	}, Stdin: strings.NewReader(""), Stdout: out, Stderr: notes}
	return s.Run(ctx, Command)
}

// start runs the command, and returns the address of the service and what stops it.
func start(t *testing.T, args ...string) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- call(ctx, in, io.Discard, append([]string{"--listen", "127.0.0.1", "--port", "0"}, args...)...)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	address = regexp.MustCompile(`https?://\S+`).FindString(lines.Text())
	if !slices.Contains(args, "--json") {
		require.Equal(t, address, lines.Text(), "scripts read the first line")
	}
	go io.Copy(io.Discard, out)
	return address, sync.OnceFunc(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		require.Zero(t, <-ended)
	})
}

func get(t *testing.T, address string) (status int, body string) {
	t.Helper()
	res, err := http.Get(address)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}

// register makes a findable DOI, as the welcome tells.
func register(t *testing.T, address, name string) {
	t.Helper()
	record := shelltest.Read(t, "../../../../testdata/records/minimal.xml")
	client, err := mds.NewClient(datacite.Config{Service: datacite.Service{MDS: address}, Username: datacitetest.Username,
		Password: datacitetest.Password})
	require.NoError(t, err)
	_, err = client.Register(t.Context(), name, "https://example.org/", mds.XML(record), nil)
	require.NoError(t, err)
}

func TestSandboxRefusesWhatItCannotUse(t *testing.T) {
	broken := shelltest.File(t, "broken", `{"doi":"10.5072/a"} {"doi":"nothing"}`)
	stopped, stop := context.WithCancel(t.Context())
	stop() // what is taken all the same ends at once
	for wrong, args := range map[string][]string{
		`"odd" is not one of deployed, documented`:         {"--behaviour", "odd"},
		"--port 0 takes a free port":                       {"--listen", "nowhere:x"},
		"--port is 70000":                                  {"--port", "70000"},
		"there is no fault \"600\"":                        {"--fault", "PUT /metadata=600"},
		"write it as \"PUT /metadata":                      {"--fault", "PUT /metadata"},
		"does not begin with /":                            {"--fault", "PUT metadata=503"},
		"is not a count of at least 1":                     {"--fault", "PUT /metadata=0*503"},
		"behind needs --behaviour deployed":                {"--fault", "/metadata=behind", "--behaviour", "documented"},
		`--down: "store" is not one of mds, dois, reports`: {"--down", "store"},
		"--resolve-delay must not be negative":             {"--resolve-delay", "-1s"},
		`"here" is not a flag; a command goes after --`:    {"here", "--port", "0"},
		"--random-faults is 2, not between 0 and 1":        {"--random-faults", "2"},
		"--random-faults is NaN":                           {"--random-faults", "NaN"},
		"--behaviour documented has none":                  {"--lag", "1s", "--behaviour", "documented"},
		"--usage-lag must not be negative":                 {"--usage-lag", "-1s"},
		"NAME:PASSWORD:PREFIX":                             {"--account", "OTHER.REPO"},
		"example.repo is there twice":                      {"--account", "example.repo:secret:10.1111"},
		"is not a host name":                               {"--host", "http://sandbox.test"},
		"no such file":                                     {"--load", "nowhere.jsonl"},
		"broken: after 1 record: doi \"nothing\" is not":   {"--load", broken},
		"after 1 record: at byte 44: the text is not UTF-8": {"--load",
			shelltest.File(t, "latin.jsonl", `{"doi":"10.5072/a"}{"doi":"10.5072/b","titles":[{"title":"Glaci`+"\xe8"+`rs"}]}`)},
		"has saved: json: unknown field":        {"--state", broken},
		"is not an origin as browsers send it":  {"--allow-origin", "localhost:3000"},
		`"*" is not an origin`:                  {"--allow-origin", "*"},
		`"PSOT" is not a method; there are GET`: {"--fault", "PSOT /dois=503"},
		`"x%" is not a share`:                   {"--fault", "/dois=x%*503"},
		"share is 2":                            {"--fault", "/dois=200%*503"},
		`exec: "no-such-program": `:             {"--", "no-such-program"},
	} {
		var out, notes strings.Builder
		assert.Equal(t, shell.ExitWrong, call(stopped, &out, &notes, args...), wrong)
		assert.Contains(t, shelltest.Plain(notes.String()), wrong)
		assert.Empty(t, out.String(), wrong)
	}
}

// A command finds the service in its environment, and its exit code is that of the sandbox.
func TestSandboxForACommand(t *testing.T) {
	var out, notes strings.Builder
	if shelltest.IsWindows {
		code := call(t.Context(), &out, &notes, "--", "cmd", "/c",
			"echo %DATACITE_SERVICE% %DATACITE_USERNAME% %DATACITE_PASSWORD%& exit 7")
		assert.Equal(t, 7, code, notes.String())
		assert.Regexp(t, `^http://127\.0\.0\.1:\d+ `+datacitetest.Username+` `+datacitetest.Password+`\r\n$`, out.String())
		return // it sends a command no signals
	}
	code := call(t.Context(), &out, &notes, "--", "sh", "-c",
		"echo $DATACITE_SERVICE $DATACITE_USERNAME $DATACITE_PASSWORD $DATACITE_TOKEN; exit 7")
	assert.Equal(t, 7, code)
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+ `+datacitetest.Username+` `+datacitetest.Password+` \S+\n$`, out.String())
	assert.Empty(t, notes.String())

	ctx, interrupt := context.WithCancel(t.Context())
	in, said := io.Pipe()
	go func() {
		_, _ = bufio.NewReader(in).ReadString('\n') // it has begun
		interrupt()
	}()
	assert.Equal(t, shell.ExitInterrupted,
		call(ctx, said, io.Discard, "--", "sh", "-c", "trap 'exit 130' INT; echo begun; while :; do sleep 0.01; done"))
}

// Scripts read the address from a file, or from the first line.
func TestSandboxSaysWhereItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "address")
	address, stop := start(t, "--address-file", file, "--json")
	defer stop()
	address = strings.TrimRight(strings.SplitN(address, `"`, 2)[0], `",`)
	assert.Eventually(t, func() bool {
		text, err := os.ReadFile(file)
		return err == nil && string(text) == address+"\n"
	}, 5*time.Minute, time.Millisecond)
	for path, want := range map[string]int{"/reports": 200, "/dois": 200, "/metadata/10.5072/x": 401} {
		status, _ := get(t, address+path)
		assert.Equal(t, want, status, path)
	}
	stop()
	_, err := http.Get(address)
	assert.Error(t, err)
}

// With --tls, clients that have the file of --tls-ca trust the service, also under a name of --host.
func TestSandboxServesTLS(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	address, stop := start(t, "--tls", "--tls-ca", file, "--host", "api.test")
	defer stop()
	require.Regexp(t, `^https://127\.0\.0\.1:\d+$`, address)
	_, err := http.Get(address)
	assert.ErrorAs(t, err, new(x509.UnknownAuthorityError))

	authority := shelltest.Read(t, file)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(authority))
	for _, name := range []string{"127.0.0.1", "localhost", "api.test"} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: name}}
		client := &http.Client{Transport: transport}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/sandbox/health", nil)
		require.NoError(t, err)
		request.Host = name
		res, err := client.Do(request)
		require.NoError(t, err, name)
		health, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		transport.CloseIdleConnections()
		assert.Contains(t, string(health), `"service":"https://`+name, name)
	}
}

// A COMMAND finds the file of --tls in the variables that clients of many languages read.
func TestSandboxTellsACommandWhatToTrust(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil || shelltest.IsWindows {
		t.Skip("needs a shell, and paths as it has them")
	}
	script := `case $DATACITE_SERVICE in https://*) ;; *) exit 1 ;; esac
for file in "$SSL_CERT_FILE" "$CURL_CA_BUNDLE" "$REQUESTS_CA_BUNDLE" "$NODE_EXTRA_CA_CERTS"; do
	grep -q 'BEGIN CERTIFICATE' "$file" || exit 1
done
case $NO_PROXY,$no_proxy in *localhost*,*localhost*) ;; *) exit 1 ;; esac
echo "$SSL_CERT_FILE"`
	var out strings.Builder
	require.Zero(t, call(t.Context(), &out, io.Discard, "--tls", "--", "sh", "-c", script))
	assert.NoFileExists(t, strings.TrimSpace(out.String()))
	assert.NoDirExists(t, filepath.Dir(strings.TrimSpace(out.String())))

	named := filepath.Join(t.TempDir(), "ca.pem")
	require.Zero(t, call(t.Context(), io.Discard, io.Discard, "--tls", "--tls-ca", named, "--", "sh", "-c", script))
	assert.FileExists(t, named)
	for said, args := range map[string][]string{"--tls-ca is for --tls": {"--tls-ca", "x"},
		"--tls needs --tls-ca": {"--tls"}, "no such": {"--tls", "--tls-ca", filepath.Join(named, "x"), "--", "sh"}} {
		var notes strings.Builder
		assert.NotZero(t, call(t.Context(), io.Discard, &notes, args...), args)
		if said != "no such" {
			assert.Contains(t, notes.String(), said)
		}
	}
}

// The text of a 501 names a flag that prints what is behind it.
func TestSandboxPrintsWhatIsUnsupported(t *testing.T) {
	address, stop := start(t)
	defer stop()
	code, said := get(t, address+"/dois?page[scroll]=1m")
	require.Equal(t, 501, code)
	assert.Contains(t, said, "datacite sandbox --unsupported")
	var out strings.Builder
	require.Zero(t, call(t.Context(), &out, io.Discard, "--unsupported"))
	assert.Contains(t, out.String(), "| this parameter of DOIs | `GET /dois?page[scroll]=1m as nobody` |")
	assert.NotContains(t, out.String(), "# Usage reports as deployed")
	require.Zero(t, call(t.Context(), &out, io.Discard, "--rules"))
	for _, title := range []string{"# Usage reports as deployed", "# Metadata store as deployed", "| Evidence |"} {
		assert.Contains(t, out.String(), title)
	}
}

// What one run holds, the next one has, with -state; and -load brings records of the
// service.
func TestSandboxKeepsItsState(t *testing.T) {
	state, seed := filepath.Join(t.TempDir(), "state.json"), shelltest.File(t, "seed.jsonl", `{"doi":"10.5072/line"}
{"id":"10.5072/record","type":"dois","attributes":{"doi":"10.5072/record","state":"registered"}}
{"data":[{"attributes":{"doi":"10.5072/page"}}],"meta":{}}
`)
	address, stop := start(t, "--state", state, "--load", seed)
	register(t, address, "10.5072/mine")
	stop()
	address, stop = start(t, "--state", state)
	defer stop()
	for _, name := range []string{"line", "page", "mine"} {
		status, _ := get(t, address+"/dois/10.5072/"+name)
		assert.Equal(t, http.StatusOK, status, name)
	}
	_, page := get(t, address)
	assert.Contains(t, page, "10.5072/record\n<td><span class=\"registered\">")
	_, err := os.Stat(state)
	require.NoError(t, err)
	left, err := filepath.Glob(state + ".*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A killed program has lost no more than the last second.
func TestSandboxSavesAsItGoes(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	address, stop := start(t, "--state", state)
	defer stop()
	register(t, address, "10.5072/mine")
	assert.Eventually(t, func() bool {
		text, err := os.ReadFile(state)
		return err == nil && strings.Contains(string(text), "10.5072/mine")
	}, 5*time.Minute, 20*time.Millisecond)
}

func TestSandboxFaultsAndAccounts(t *testing.T) {
	address, stop := start(t, "--random-faults", "1", "--account", "OTHER.REPO:secret:10.1111,10.2222")
	defer stop()
	_, page := get(t, address)
	assert.Contains(t, page, "Sandbox", "the page does not fail")
	failed := 0
	for range 20 {
		res, err := http.Get(address + "/dois")
		if err != nil {
			failed++
			continue
		}
		if _, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
			failed++
		}
		res.Body.Close()
	}
	assert.NotZero(t, failed)
	stop()

	address, stop = start(t, "--account", "OTHER.REPO:secret:10.1111,10.2222")
	defer stop()
	client, err := mds.NewClient(datacite.Config{Service: datacite.Service{MDS: address}, Username: "OTHER.REPO",
		Password: "secret"})
	require.NoError(t, err)
	require.NoError(t, client.CheckAccess(t.Context(), "10.2222", "https://example.org/"))
}

// sendReport sends a report with the token that a page shows.
func sendReport(t *testing.T, address, page string) {
	t.Helper()
	token := regexp.MustCompile(`<code id="token">([\w-]+\.[\w-]+\.)</code>`).FindStringSubmatch(page)
	require.NotNil(t, token)
	client, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: address}, Token: token[1]})
	require.NoError(t, err)
	_, err = client.Create(t.Context(), &reports.Report{
		Header: reports.NewHeader("Example Repository", "2026-11-01", reports.Month(2026, time.October)),
		Datasets: []reports.Dataset{{
			Title: "Glacier length", Platform: "Example", Publisher: "Example", DataType: reports.DataTypeDataset,
			PublisherID: []reports.TypedValue{},
			DatasetID:   []reports.TypedValue{{Type: reports.TypeDOI, Value: "10.5072/glacier"}},
			Performance: []reports.Performance{{Period: reports.Month(2026, time.October), Instance: []reports.Instance{
				{Count: 3, MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessRegular},
				{Count: 5, MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessRegular},
				{Count: 2, MetricType: reports.MetricUniqueDatasetRequests, AccessMethod: reports.AccessRegular},
			}}},
		}},
	})
	require.NoError(t, err)
}

func TestSandboxShowsUsage(t *testing.T) {
	address, stop := start(t)
	defer stop()
	register(t, address, "10.5072/glacier")
	_, page := get(t, address)
	assert.Contains(t, page, `data-name="Views">0<td class="number" data-name="Downloads">0`)
	sendReport(t, address, page)
	_, page = get(t, address)
	assert.Contains(t, page, `data-name="Views">5<td class="number" data-name="Downloads">2`)
}

// The page for people, as a browser shows it.
func TestSandboxPage(t *testing.T) {
	record := `{"doi":"10.5072/<b>#'q'"}`
	if *picture != "" { // for readers
		record = `{"doi":"10.5072/ice-core","titles":[{"title":"Ice core of ` +
			`2019"}],"url":"https://example.org/ice-core","state":"draft"}`
	}
	address, stop := start(t, "--load", shelltest.File(t, "load.jsonl", record))
	defer stop()
	_, page := get(t, address)
	register(t, address, "10.5072/glacier")
	sendReport(t, address, page)
	get(t, address+"/dois/10.5072/unknown")

	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs Chromium")
	}
	shown, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
		address).Output()
	require.NoError(t, err)
	for _, part := range []string{
		`<a class="title" href="/sandbox/record?doi=10.5072%2Fglacier">`, `<span class="findable">findable</span>`,
		`<a href="https://example.org/">`,
		`<button data-copies="token">Copy</button>`,
		"Example Repository<br>2026-10-01", "GET /dois/10.5072/unknown</code> <span " +
			"class=\"bad\">404", "PUT /metadata/10.5072/glacier</code> <span>201",
		"The resource you are looking for doesn't exist.", "2 DOIs",
	} {
		assert.Contains(t, string(shown), part)
	}
	assert.NotContains(t, string(shown), "<b>", "names are text")
	if *picture != "" {
		shelltest.Picture(t, address, *picture)
	}
}

var picture = flag.String("picture", "", "`file` for a picture of the page")

// It warns where other machines reach it, and only there.
func TestSandboxWarnsOfOtherMachines(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for address, warns := range map[string]bool{
		"localhost": false, "127.0.0.1": false, "127.9.9.9": false, "::1": false, "0.0.0.0": true, "::": true,
	} {
		var out, notes strings.Builder
		code := call(stopped, &out, &notes, "--listen", address, "--port", "0")
		if address == "::1" && code != 0 {
			continue // a machine without IPv6
		}
		require.Zero(t, code, address)
		assert.Equal(t, warns, strings.Contains(notes.String(), "WARNING"), address)
		if warns {
			assert.Contains(t, notes.String(), "unsigned tokens")
			assert.True(t, strings.HasPrefix(out.String(), "http://localhost:"),
				"a browser cannot open the address of all interfaces")
		}
	}
}

// What is under way when it is stopped is answered.
func TestSandboxEndsWhatItHasBegun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	begun := make(chan bool)
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(begun)
			<-ctx.Done()
			time.Sleep(20 * time.Millisecond)
			io.WriteString(w, "whole")
		}))
	}()
	go func() {
		<-begun
		stop()
	}()
	res, err := http.Get("http://" + listener.Addr().String())
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Equal(t, "whole", string(body))
	require.NoError(t, res.Body.Close())
	assert.NoError(t, <-ended)
}

// Chosen requests meet chosen faults; the rest is served.
func TestSandboxFaultsByRoute(t *testing.T) {
	for _, tt := range []struct {
		args    []string
		request string
		want    []int // of the same request, one after the other; 0: dropped
	}{
		{[]string{"--fault", "GET /dois=503"}, "GET /dois", []int{503, 503}},
		{[]string{"--fault", "get /dois=2*502"}, "GET /dois", []int{502, 502, 200}},
		{[]string{"--fault", "POST /dois=503"}, "GET /dois", []int{200}},
		{[]string{"--fault", "/doi=503"}, "GET /dois", []int{200}},
		{[]string{"--fault", "/metadata=504-after"}, "GET /metadata/10.5072/a=b", []int{504}},
		{[]string{"--fault", "/metadata/10.5072/A=B=500"}, "GET /metadata/10.5072/a=b", []int{500}},
		{[]string{"--fault", "/dois=drop-before"}, "GET /dois", []int{0}},
		{[]string{"--fault", "/dois=1ms"}, "GET /dois", []int{200}},
		{[]string{"--fault", "/dois=1*503", "--fault", "/dois=1*500"}, "GET /dois", []int{503, 500, 200}},
		{[]string{"--fault", "/metadata=behind"}, "GET /metadata/10.5072/a", []int{403}},
		{[]string{"--down", "mds"}, "GET /media/10.5072/a", []int{503}},
		{[]string{"--down", "mds"}, "GET /dois", []int{200}},
		{[]string{"--down", "dois", "--down", "reports"}, "GET /reports", []int{503}},
	} {
		address, stop := start(t, tt.args...)
		method, path, _ := strings.Cut(tt.request, " ")
		for i, want := range tt.want {
			req, err := http.NewRequestWithContext(t.Context(), method, address+path, nil)
			require.NoError(t, err)
			req.SetBasicAuth(datacitetest.Username, datacitetest.Password)
			status := 0
			if res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req); err == nil {
				status = res.StatusCode
				res.Body.Close()
			}
			assert.Equal(t, want, status, "%s: request %d", tt.args, i)
		}
		stop()
	}
}

// A DOI resolves after the delay, at the resolver of the sandbox.
func TestSandboxResolves(t *testing.T) {
	address, stop := start(t, "--resolve-delay", "300ms")
	defer stop()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	const odd = "10.5072/a_b(c);d/e"
	for _, name := range []string{"10.5072/glacier", odd} {
		leads := func() string {
			res, err := client.Head(address + resolverPath + "/" + name)
			require.NoError(t, err)
			assert.NoError(t, res.Body.Close())
			return res.Header.Get("Location")
		}
		assert.Empty(t, leads())
		register(t, address, name)
		require.Eventually(t, func() bool { return leads() == "https://example.org/" }, 5*time.Minute, 50*time.Millisecond)
	}
}

// The list is filtered by words of names, titles, URLs and states, and each record has a page.
func TestSandboxFindsRecords(t *testing.T) {
	seed := shelltest.File(t, "seed.jsonl",
		`{"doi":"10.5072/ice","titles":[{"title":"Glacier <i>length</i>"}],"url":"javascript:alert(1)","state":"registered"}
{"doi":"10.5072/sea","titles":[{"title":"Tides"}],"url":"https://repo.example.org/tides","created":"2026-11-02T08:09:10Z","creators":[{"name":"Lovelace, Ada"}]}
`)
	address, stop := start(t, "--load", seed)
	defer stop()
	for filter, want := range map[string][]bool{
		"": {true, true}, "glacier": {true, false}, "TIDES": {false, true}, "example.org+findable": {false, true},
		"registered": {true, false},
		"ice":        {true, false}, "glacier+findable": {false, false},
	} {
		_, page := get(t, address+"/?filter="+filter)
		assert.Equal(t, want, []bool{strings.Contains(page, "doi=10.5072%2Fice"),
			strings.Contains(page, "doi=10.5072%2Fsea")}, filter)
		assert.Contains(t, page, "2 DOIs")
		assert.NotContains(t, page, "<i>")
		assert.NotContains(t, page, `"javascript:`)
	}
	_, page := get(t, address+"/")
	assert.Contains(t, page, "2026-11-02 08:09")
	status, page := get(t, address+"/sandbox/record?doi=10.5072/sea")
	assert.Equal(t, http.StatusOK, status)
	for _, part := range []string{"<h1>Tides</h1>", "Lovelace, Ada", `<a href="https://repo.example.org/tides">`,
		`href="/dois/10.5072/sea"`} {
		assert.Contains(t, page, part)
	}
	status, page = get(t, address+"/sandbox/record?doi=10.5072/none")
	assert.Equal(t, http.StatusNotFound, status)
	assert.Contains(t, page, "10.5072/none")
	status, _ = get(t, address+"/sandbox/assets/page.js")
	assert.Equal(t, http.StatusOK, status)
}

package landing

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listed are pages to ask.
func listed(t *testing.T, all ...Page) *Pages {
	pages, err := NewPages()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pages.Close()) })
	for _, p := range all {
		pages.Add(p)
	}
	require.Equal(t, len(all), pages.Len())
	return pages
}

// A site answers for all hosts, without a network.
type site func(*http.Request) *http.Response

func (s site) RoundTrip(r *http.Request) (*http.Response, error) {
	if resp := s(r); resp != nil {
		return resp, nil
	}
	<-r.Context().Done() // a server that never answers
	return nil, r.Context().Err()
}

func response(status int, header map[string]string, body io.Reader) *http.Response {
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body)}
	for name, value := range header {
		resp.Header.Set(name, value)
	}
	return resp
}

func htmlPage(text string) *http.Response {
	return response(http.StatusOK, map[string]string{"Content-Type": "text/html; charset=utf-8"}, strings.NewReader(text))
}

// ask asks pages of a site.
func ask(t *testing.T, client http.RoundTripper, opts *Options, all ...Page) (results []Result) {
	c := &checker{opts: *opts, client: client, gates: map[string]*gate{}}
	for r, err := range c.check(t.Context(), listed(t, all...)) {
		require.NoError(t, err)
		results = append(results, r)
	}
	return results
}

const name = "10.5072/glacier(1)<a>"

var shownAs = map[string]string{
	"text":              `<p>DOI: 10.5072/GLACIER(1)&lt;a&gt;.</p>`,
	"link":              `<a href="https://doi.org/10.5072/glacier(1)%3Ca%3E">cite</a>`,
	"link, all encoded": `<a href="/cite?doi=10.5072%2Fglacier%281%29%3ca%3e&amp;style=apa">cite</a>`,
	"meta":              `<meta name="DC.identifier" content="doi:10.5072/glacier(1)&#60;a&#62;">`,
	"JSON-LD":           `<script type="application/ld+json">{"@id":"https:\/\/doi.org\/10.5072\/glacier(1)<a>"}</script>`,
}

func TestKinds(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		mu.Unlock()
		assert.Empty(t, r.Header.Get("Authorization"))
		assert.Empty(t, r.Header.Get("Cookie"))
		assert.Equal(t, "datacite/1 (mailto:ada@example.org)", r.Header.Get("User-Agent"))
		html := func(text string) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, text)
		}
		to := func(address string) { w.Header().Set("Location", address); w.WriteHeader(http.StatusFound) }
		switch path, as, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); path {
		case "robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /secret\n\nUser-agent: other\nDisallow: /\n")
		case "shown":
			html(shownAs[as])
		case "another":
			html("10.5072/glacier(1)<a>-2, 10.5072/glacier(1)<a>.v2, 10.5072/glacier(1)<a>/files, 110.5072/glacier(1)<a>")
		case "pdf":
			w.Header().Set("Content-Type", "application/pdf")
			fmt.Fprint(w, "%PDF-1.7")
		case "unsaid": // HTML without Content-Type
			w.Header()["Content-Type"] = nil
			fmt.Fprint(w, "<!doctype html>", shownAs["text"])
		case "chain":
			to(map[string]string{"": "/chain/2", "2": "3", "3": "/shown/text#top"}[as])
		case "loop":
			to("/loop")
		case "hops":
			to("/hops/x" + as)
		case "elsewhere":
			to(as)
		case "password":
			to(strings.Replace("http://"+r.Host, "//", "//ada:secret@", 1) + "/shown/text")
		case "cookies":
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
			to("/cookies")
		case "login":
			to("/form")
		case "form":
			html("<form>Please log in</form>")
		case "wall":
			http.Error(w, "log in", http.StatusUnauthorized)
		case "no-head", "lying-head":
			if r.Method == http.MethodHead {
				w.WriteHeader(map[string]int{"no-head": http.StatusMethodNotAllowed, "lying-head": http.StatusNotFound}[path])
				return
			}
			html(shownAs["text"])
		case "secret":
			html(shownAs["text"])
		case "":
			html(shownAs["text"])
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	for path, want := range map[string]struct {
		kind   Kind
		reason string
		via    string
		asked  string
	}{
		"/shown/text":              {kind: Right, asked: "HEAD /shown/text, GET /shown/text"},
		"/shown/link":              {kind: Right},
		"/shown/link, all encoded": {kind: Right},
		"/shown/meta":              {kind: Right},
		"/shown/JSON-LD":           {kind: Right},
		"":                         {kind: Right},
		"/unsaid":                  {kind: Right},
		"/no-head":                 {kind: Right, asked: "HEAD /no-head, GET /no-head"},
		"/lying-head":              {kind: Right},
		"/another":                 {kind: NoDOI, reason: "the DOI is not on the page"},
		"/missing":                 {kind: Status, reason: "404 Not Found", asked: "HEAD /missing, GET /missing"},
		"/wall":                    {kind: Status, reason: "401 Unauthorized"},
		"/login":                   {kind: NoDOI, reason: "the DOI is not on the page", via: "/form"},
		"/pdf":                     {kind: NotHTML, reason: "application/pdf", asked: "HEAD /pdf"},
		"/chain": {kind: Redirected, via: "/chain/2 /chain/3 /shown/text",
			asked: "HEAD /chain, HEAD /chain/2, HEAD /chain/3, HEAD /shown/text, GET /shown/text"},
		"/loop": {kind: Redirects, reason: "a loop of redirects", via: "/loop",
			asked: "HEAD /loop, HEAD /loop"},
		"/cookies": {kind: Redirects, reason: "a loop of redirects", via: "/cookies"},
		"/hops/": {kind: Redirects, reason: "more than 10 redirects",
			via: "/hops/x /hops/xx /hops/xxx /hops/xxxx /hops/xxxxx /hops/xxxxxx /hops/xxxxxxx /hops/xxxxxxxx /hops/xxxxxxxxx " +
				"/hops/xxxxxxxxxx"},
		"/elsewhere/ftp:%2F%2Fx%2Fy": {kind: Redirects, reason: `only http and https are asked, and not "ftp://x/y"`},
		"/elsewhere/javascript:1":    {kind: Redirects, reason: `only http and https are asked, and not "javascript:1"`},
		"/password":                  {kind: Redirected, via: "/shown/text"},
		"/secret/1":                  {kind: NotAsked, reason: "robots.txt of HOST disallows it", asked: "none"},
		"/elsewhere/%2Fsecret":       {kind: NotAsked, reason: "robots.txt of HOST disallows it", via: "/secret"},
		"mailto:ada@example.org": {kind: NotAsked,
			reason: `only http and https are asked, and not "mailto:ada@example.org"`},
		"http://a b/": {kind: NotAsked, reason: "what it leads to is not a URL"},
	} {
		t.Run(path, func(t *testing.T) {
			asked = nil
			address := path
			if strings.HasPrefix(path, "/") || path == "" {
				address = srv.URL + strings.ReplaceAll(path, " ", "%20")
			}
			transport := newTransport(true)
			defer transport.CloseIdleConnections()
			opts := &Options{UserAgent: "datacite/1 (mailto:ada@example.org)", Rate: 1e6, AllowPrivate: true}
			all := ask(t, transport, opts, Page{DOI: name, URL: address})
			require.Len(t, all, 1)
			r := all[0]
			assert.Equal(t, want.kind, r.Kind, r.Reason)
			assert.Equal(t, strings.ReplaceAll(want.reason, "HOST", strings.TrimPrefix(srv.URL, "http://")), r.Reason)
			assert.Equal(t, want.via, strings.ReplaceAll(strings.Join(r.Via, " "), srv.URL, ""))
			if want.asked != "" {
				rest := strings.TrimPrefix(strings.Join(asked, ", "), "GET /robots.txt")
				assert.Equal(t, strings.TrimPrefix(want.asked, "none"), strings.TrimPrefix(rest, ", "))
			}
		})
	}
}

// Without AllowPrivate nothing private is reached: not by address, by name, or by a redirect of a host that is public.
func TestPrivateAddresses(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer srv.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "http://"), ":")
	guarded := newTransport(false)
	defer guarded.CloseIdleConnections()
	client := roundTripper(func(r *http.Request) (*http.Response, error) {
		switch {
		case r.URL.Hostname() != "public.example":
			return guarded.RoundTrip(r)
		case r.URL.Path == "/robots.txt":
			return response(http.StatusNotFound, nil, strings.NewReader("")), nil
		}
		return response(http.StatusFound, map[string]string{"Location": srv.URL + "/internal"}, strings.NewReader("")), nil
	})
	for _, address := range []string{srv.URL, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port,
		"http://public.example/1"} {
		for _, r := range ask(t, client, &Options{Rate: 1e6}, Page{DOI: name, URL: address}) {
			assert.Equal(t, NotAsked, r.Kind, address)
			assert.Regexp(t, `^(127\.0\.0\.1|::1) is not a public address; --allow-private asks it$`, r.Reason)
		}
	}
	for address, public := range map[string]bool{
		"93.184.215.14:80": true, "[2606:2800:220:1::]:443": true, "[64:ff9b::5db8:d70e]:80": true,
		"10.1.2.3:80": false, "172.16.0.1:80": false, "192.168.1.1:80": false, "127.0.0.1:80": false, "169.254.169.254:80": false, "0.0.0.0:80": false,
		"100.64.0.1:80": false, "198.18.0.1:80": false, "224.0.0.1:80": false, "255.255.255.255:80": false, "[::1]:80": false, "[::]:80": false,
		"[fd00::1]:80": false, "[fe80::1%eth0]:80": false, "[::ffff:10.0.0.1]:80": false, "[::7f00:1]:80": false, "[64:ff9b::a00:1]:80": false,
		"[2002:7f00:1::]:80": false, "[ff02::1]:80": false, "no address": false,
	} {
		if err := checkPublic(address); public {
			assert.NoError(t, err, address)
		} else {
			assert.Error(t, err, address)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A host gets one request at a time, at its rate; several hosts are asked side by side.
func TestPolitely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most, sent := map[string]int{}, 0, map[string][]time.Time{}
		client := site(func(r *http.Request) *http.Response {
			mu.Lock()
			now[r.URL.Host]++
			assert.Equal(t, 1, now[r.URL.Host])
			all := 0
			for _, n := range now {
				all += n
			}
			most = max(most, all)
			sent[r.URL.Host] = append(sent[r.URL.Host], time.Now())
			mu.Unlock()
			time.Sleep(3 * time.Second)
			mu.Lock()
			now[r.URL.Host]--
			mu.Unlock()
			switch {
			case r.URL.Path == "/robots.txt" && r.URL.Host == "slow.example":
				return response(http.StatusOK, nil, strings.NewReader("User-agent: datacite\nCrawl-delay: 5\n"))
			case r.URL.Path == "/robots.txt":
				return response(http.StatusNotFound, nil, strings.NewReader(""))
			case r.URL.Host == "host0.example", r.URL.Host == "host1.example":
				return response(http.StatusFound, map[string]string{"Location": "https://shared.example" + r.URL.Path},
					strings.NewReader(""))
			}
			return htmlPage(name)
		})
		var pages []Page
		for i := range 40 {
			pages = append(pages, Page{DOI: name, URL: fmt.Sprintf("https://host%d.example/%d", i%20, i)},
				Page{DOI: name, URL: fmt.Sprintf("https://slow.example/%d", i)})
		}
		for _, r := range ask(t, client, &Options{Rate: 2}, pages...) {
			assert.Contains(t, []Kind{Right, Redirected}, r.Kind, r.Reason)
		}
		assert.Equal(t, sideBySide, most)
		assert.Contains(t, sent, "shared.example")
		for host, times := range sent {
			least := time.Second / 2
			if host == "slow.example" {
				least = 5 * time.Second
				times = times[1:] // robots.txt says it
			}
			for i := range times[1:] {
				assert.GreaterOrEqual(t, times[i+1].Sub(times[i]), least-time.Millisecond, host)
			}
		}
	})
}

// Who asks for patience is given it, once for each page.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := map[string]int{"/1": 1, "/2": 100}
		client := site(func(r *http.Request) *http.Response {
			if busy[r.URL.Path] > 0 {
				busy[r.URL.Path]--
				return response(http.StatusTooManyRequests, map[string]string{"Retry-After": "120"}, strings.NewReader(""))
			}
			return htmlPage(name)
		})
		began := time.Now()
		all := ask(t, client, &Options{}, Page{DOI: name, URL: "https://a.example/1"},
			Page{DOI: name, URL: "https://a.example/2"})
		assert.Equal(t, Right, all[0].Kind, all[0].Reason)
		assert.Equal(t, Unreachable, all[1].Kind)
		assert.Equal(t, "429 Too Many Requests", all[1].Reason)
		assert.GreaterOrEqual(t, time.Since(began), 3*2*time.Minute)
		for text, want := range map[string]time.Duration{"": 0, "-5": 0, "7": 7 * time.Second, "86400": longestPause,
			"soon": 0, time.Now().Add(time.Minute).UTC().Format(http.TimeFormat): time.Minute} {
			assert.Equal(t, want, pause(text), text)
		}
	})
}

// A host that does not answer is given up, and named; the others are asked.
func TestSilentHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		client := site(func(r *http.Request) *http.Response {
			switch {
			case r.URL.Host == "silent.example" && r.URL.Path != "/robots.txt":
				requests++
				return nil
			case r.URL.Host == "broken.example":
				return response(http.StatusInternalServerError, nil, strings.NewReader(""))
			case r.URL.Host == "odd.example" && r.URL.Path == "/robots.txt":
				return htmlPage("Disallow: /")
			case r.URL.Path == "/slow-body":
				return response(http.StatusOK, map[string]string{"Content-Type": "text/html"}, waiting{r.Context()})
			}
			return htmlPage(name)
		})
		var pages []Page
		for i := range 1000 {
			pages = append(pages, Page{DOI: name, URL: fmt.Sprint("https://silent.example/", i)})
		}
		pages = append(pages, Page{DOI: name, URL: "https://a.example/slow-body"}, Page{DOI: name, URL: "https://a.example/"},
			Page{DOI: name, URL: "https://broken.example/"}, Page{DOI: name, URL: "https://odd.example/"})
		began := time.Now()
		kinds, reasons := map[Kind]int{}, map[string]int{}
		for _, r := range ask(t, client, &Options{}, pages...) {
			kinds[r.Kind]++
			reasons[r.Reason]++
		}
		assert.Equal(t, map[Kind]int{Unreachable: 7, NotAsked: 996, Right: 1}, kinds)
		assert.Equal(t, map[string]int{
			"": 1, "no answer within 30s": 6, "the host was given up after 5 pages without an answer: no answer within 30s": 995,
			"robots.txt of broken.example: 500 Internal Server Error": 1, "robots.txt of odd.example cannot be read: Parse error(s): Disallow before User-agent at token #2.": 1,
		}, reasons)
		assert.Equal(t, 2*givesUp, requests)
		assert.Less(t, time.Since(began), 6*time.Minute)
	})
}

// waiting is a body that does not come.
type waiting struct{ ctx context.Context }

func (w waiting) Read([]byte) (int, error) {
	<-w.ctx.Done()
	return 0, w.ctx.Err()
}

// endless is a body without an end.
type endless struct{ read *int }

func (e endless) Read(p []byte) (int, error) {
	*e.read += len(p)
	return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
}

func TestMemoryIsBounded(t *testing.T) {
	read := 0
	client := site(func(r *http.Request) *http.Response {
		if r.URL.Path == "/endless" {
			return response(http.StatusOK, map[string]string{"Content-Type": "text/html"}, endless{&read})
		}
		return htmlPage(name)
	})
	all := ask(t, client, &Options{Rate: 1e9}, Page{DOI: name, URL: "https://a.example/endless"})
	assert.Equal(t, NoDOI, all[0].Kind)
	assert.Equal(t, "the DOI is not in the first 2 MiB of the page", all[0].Reason)
	assert.Less(t, read, 3*2*mostBytes) // robots.txt, HEAD, GET

	const many = 20_000
	before := held()
	pages, err := NewPages()
	require.NoError(t, err)
	defer pages.Close()
	for i := range many {
		pages.Add(Page{DOI: fmt.Sprintf("%s-%d", name, i),
			URL: fmt.Sprint("https://a.example/data/", strings.Repeat("x", 200), i), Title: "A title"})
	}
	c := &checker{opts: Options{Rate: 1e9}, client: client, gates: map[string]*gate{}}
	n, most := 0, before
	for r, err := range c.check(t.Context(), pages) {
		require.NoError(t, err)
		require.Equal(t, NoDOI, r.Kind)
		if n++; n%(many/4) == 0 {
			most = max(most, held())
		}
	}
	assert.Equal(t, many, n)
	assert.Less(t, most-before, uint64(2<<20), "the place of each page, and no page")
}

// held is the memory that is in use.
func held() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// A run that was interrupted continues; what may be otherwise soon is asked again.
func TestJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "out.csv.links")
		var asked []string
		down := true
		client := site(func(r *http.Request) *http.Response {
			if r.Method == http.MethodGet && r.URL.Path != "/robots.txt" {
				asked = append(asked, r.URL.Path)
			}
			if r.URL.Path == "/3" && down {
				return response(http.StatusServiceUnavailable, nil, strings.NewReader(""))
			}
			return htmlPage(name)
		})
		var pages []Page
		for i := range 10 {
			pages = append(pages, Page{DOI: name, URL: fmt.Sprint("https://a.example/", i)})
		}
		journal, err := OpenJournal(file)
		require.NoError(t, err)
		_, err = OpenJournal(file)
		require.ErrorContains(t, err, "another run writes")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		c := &checker{opts: Options{Journal: journal}, client: client, gates: map[string]*gate{}}
		n, ended := 0, error(nil)
		for _, err := range c.check(ctx, listed(t, pages...)) {
			if n++; n == 6 {
				stop()
			}
			ended = err
		}
		require.ErrorIs(t, ended, context.Canceled)
		require.NoError(t, journal.Close())

		written, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		_, err = written.WriteString(`{"doi":"10.50`) // it was killed
		require.NoError(t, err)
		require.NoError(t, written.Close())
		first := strings.Join(asked, "")
		asked, down = nil, false
		journal, err = OpenJournal(file)
		require.NoError(t, err)
		known := journal.Len()
		assert.GreaterOrEqual(t, known, 5)
		pages[0].URL += "?moved"
		all := ask(t, client, &Options{Journal: journal}, pages...)
		assert.Len(t, all, 10)
		for i, r := range all {
			assert.Equal(t, Right, r.Kind)
			assert.Equal(t, pages[i], r.Page)
		}
		assert.Equal(t, 10-known+1, len(asked), "%s, then %s", first, asked)
		assert.Subset(t, asked, []string{"/0", "/3", "/9"})
		require.NoError(t, journal.Remove())
		assert.NoFileExists(t, file)
		assert.NoFileExists(t, file+".lock")

		require.NoError(t, os.WriteFile(file, []byte("{}\n"), 0o600))
		_, err = OpenJournal(file)
		require.ErrorContains(t, err, "line 1 is damaged; remove the file")
		var none *Journal
		require.NoError(t, none.Close())
		require.NoError(t, none.Remove())
	})
}

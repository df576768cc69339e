//go:build linux

package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

var atOnce = flag.Int("crowd", 40, "requests that TestCost sends at once; its figures need 200")

const (
	population = 2000 // datasets
	dearest    = 20   // times what a landing page costs
)

// A dear request is the one that costs most of those that somebody without a login can send
// to a route, or one of several that could.
type dear struct {
	name, route, path string
	headers           map[string]string
	body              string
	want              int // status
}

// populate makes a repository with many datasets, one of which has as much of everything as
// the form takes. It returns the paths of that one and of one of the others.
func populate(t *testing.T, config Config) (large, usual string) {
	t.Helper()
	p, err := Open(config)
	require.NoError(t, err)
	publish := func(about dataset.About, files int) *dataset.Version {
		id, err := p.store.Create(t.Context(), "ada", "", config.Prefix, about)
		require.NoError(t, err)
		d, err := p.store.Dataset(t.Context(), id)
		require.NoError(t, err)
		var arrived []dataset.File
		for i := range files {
			f, err := p.store.Receive(fmt.Sprintf("part%d.csv", i),
				strings.NewReader(strings.Repeat(fmt.Sprint(i, ",month,length\n"), 2000)), 1<<20)
			require.NoError(t, err)
			arrived = append(arrived, f)
		}
		require.NoError(t, p.store.ChangeFiles(t.Context(), d.Last(), func([]dataset.File) ([]dataset.File, error) {
			return arrived, nil
		}))
		d, err = p.store.Dataset(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, p.store.Decide(t.Context(), d, d.Last().As(dataset.Published, "2026-01-01", "")))
		return d.Last()
	}
	person := dataset.Creator{Family: "Lovelace", Given: "Ada", ORCID: "0000-0001-5727-2427",
		Affiliations: []dataset.Affiliation{{Name: "Glacier Institute", ROR: "04wxnsj81"}, {Name: "DataCite"}}}
	about := dataset.About{Title: "Length of a glacier",
		Description: strings.Repeat("Monthly lengths of the Äletsch glacier, measured by hand. ",
			20), License: "CC-BY-4.0", Creators: []dataset.Creator{person, person}}
	usual = publish(about, 5).Path()
	for range 50 {
		about.Creators = append(about.Creators[:min(49, len(about.Creators))], person)
		about.Contributors = append(about.Contributors, dataset.Contributor{Role: "DataCollector", Creator: person})
		about.Related = append(about.Related, dataset.Related{Relation: "Cites", ID: "10.5072/abc"})
		about.Funders = append(about.Funders, dataset.Funder{Name: "Science Fund", ROR: "04wxnsj81", Award: "G-7"})
		about.Subjects = append(about.Subjects, dataset.Subject{Term: "ice", Scheme: "GND"})
	}
	large = publish(about, 100).Path()
	require.NoError(t, p.Close())
	db, err := sql.Open("sqlite", filepath.Join(config.Folder, "platform.db"))
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), fmt.Sprintf(`
		WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i+1 FROM n WHERE i < %[1]d) INSERT INTO dataset (id, owner, doi, changed) SELECT i, 'ada', '10.5072/c' || i, '2026-01-01T00:00:00Z' FROM n;
		WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i+1 FROM n WHERE i < %[1]d) INSERT INTO version (dataset, number, doi, state, shown, published, about, files)
			SELECT i, 1, '10.5072/v' || i, 'published', 'published', '2026-01-01', replace(about, 'month', 'month' || i), files FROM n, version WHERE version.dataset = 1;
		DELETE FROM indexed; DELETE FROM outbox`, population))
	require.NoError(t, errors.Join(err, db.Close()))
	return large, usual
}

// program is the platform as it is built for a server, without the race detector.
func program(t *testing.T, config Config) (url string, pid int) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "platform")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	cmd := exec.CommandContext(t.Context(), binary, "--data", config.Folder, "--service", config.API, "--prefix",
		config.Prefix, "--public", config.By.Public, "--port", "0", "--proxy", "127.0.0.0/8", "--proxy", "::1")
	cmd.Env = append(os.Environ(), "DATACITE_USERNAME="+config.Username, "DATACITE_PASSWORD="+config.Password)
	var log bytes.Buffer
	cmd.Stderr = &log
	said, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("log: %.3000s", log.String())
		}
	})
	_, err = fmt.Fscanf(said, "The repository is at %s", &url)
	require.NoError(t, err)
	return url, cmd.Process.Pid
}

// processor is how much time of a processor a process has used.
func processor(t *testing.T, pid int) (used time.Duration) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	require.NoError(t, err)
	for _, name := range threads {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		n, err := strconv.ParseInt(strings.Fields(string(data))[0], 10, 64)
		require.NoError(t, err)
		used += time.Duration(n)
	}
	return used
}

// Nobody without a login can stop the repository: what each route costs at most is bounded, and
// so is what many of them cost at once. docs/platform-operate.md has the figures that -v prints.
func TestCost(t *testing.T) {
	srv := serve(t, nil)
	config := settings(srv, filepath.Join(t.TempDir(), "data"))
	large, usual := populate(t, config)
	url, pid := program(t, config)
	var rows, ranges, accept strings.Builder
	for i := range 500 {
		fmt.Fprintf(&rows, "family%d=%s&", i, strings.Repeat("a", 50))
		fmt.Fprintf(&ranges, "%d-%d,", 2*i, 2*i)
		fmt.Fprintf(&accept, "application/x-%d;q=0.%d,", i, i)
	}
	parts := map[string]string{"Range": "bytes=" + ranges.String() + "0-1"}
	quotes := strings.Repeat("%22", 4000)
	wrong := "name=ada&password=a+guess+of+somebody"
	transport := &http.Transport{MaxIdleConnsPerHost: *atOnce}
	defer transport.CloseIdleConnections()
	var visitors atomic.Int64
	var page time.Duration
	for _, d := range []dear{
		{"a landing page", "GET /datasets/{suffix}", usual, nil, "", 200},
		{"the landing page with most", "GET /datasets/{suffix}", large, nil, "", 200},
		{"500 types in Accept", "GET /datasets/{suffix}", usual, map[string]string{"Accept": accept.String()}, "", 200},
		{"a concept DOI", "GET /datasets/{suffix}", "/datasets/c7", nil, "", 302},
		{"an old address", "GET /datasets/{suffix}/{number}", "/datasets/1/1/files/x", nil, "", 404},
		{"a file", "GET /datasets/{suffix}/files/{name}", usual + "/files/part0.csv", nil, "", 200},
		{"500 parts of a file", "GET /datasets/{suffix}/files/{name}", usual + "/files/part0.csv", parts, "", 200},
		{"100 files as ZIP", "GET /datasets/{suffix}/files.zip", large + "/files.zip", nil, "", 200},
		{"XML", "GET /datasets/{suffix}/export/{format}", large + "/export/datacite.xml", nil, "", 200},
		{"JSON", "GET /datasets/{suffix}/export/{format}", large + "/export/datacite.json", nil, "", 200},
		{"500 parts of JSON-LD", "GET /datasets/{suffix}/export/{format}", large + "/export/schema.jsonld", parts, "", 200},
		{"BibTeX", "GET /datasets/{suffix}/export/{format}", large + "/export/bibtex.bib", nil, "", 200},
		{"RIS", "GET /datasets/{suffix}/export/{format}", large + "/export/reference.ris", nil, "", 200},
		{"citation", "GET /datasets/{suffix}/export/{format}", large + "/export/citation.txt", nil, "", 200},
		{"the last page of all", "GET /", "/?page=100000", nil, "", 200},
		{"a word of all datasets", "GET /", "/?q=glacier", nil, "", 200},
		{"beginnings of words of all datasets", "GET /", "/?q=mon+len+gla+mea+han+ale+ada+lov+the+mont+leng+glac", nil, "",
			200},
		{"as many letters as it takes", "GET /", "/?q=" + strings.Repeat("m+l+g+", 160), nil, "", 200},
		{"phrases", "GET /", "/?q=" + strings.Repeat("%22of+the+glacier%22+", 48), nil, "", 200},
		{"DOIs", "GET /", "/?q=" + strings.Repeat("10.5072/v7+10.5072/v8+", 45), nil, "", 200},
		{"a guessed address", "GET /review/{secret}", "/review/x", nil, "", 404},
		{"the sitemap", "GET /sitemap.xml", "/sitemap.xml", nil, "", 200},
		{"robots.txt", "GET /robots.txt", "/robots.txt", nil, "", 200},
		{"the style", "GET /style.css", "/style.css", nil, "", 200},
		{"health", "GET /health", "/health", nil, "", 200},
		{"the form", "GET /login", "/login?next=/" + quotes, nil, "", 200},
		{"a form of 250 kB", "POST /login", "/login", nil, "name=" + strings.Repeat("%22", 80_000), 413},
		{"from one network", "POST /login", "/login", map[string]string{"X-Forwarded-For": "203.0.113.7"}, wrong, 429},
		{"a session that there is not", "POST /logout", "/logout", map[string]string{"Cookie": "session=x"}, "", 303},
		{"500 rows", "POST /new", "/new", nil, rows.String(), 401},
		{"500 rows", "POST /datasets/{suffix}/edit", usual + "/edit", nil, rows.String(), 401},
		{"an upload", "POST /datasets/{suffix}/files", usual + "/files", nil, rows.String(), 401},
		{"a page of curators", "GET /mine", "/mine", nil, "", 303},
		{"no page", "GET /", "/" + quotes, nil, "", 404},
		{"from 200 networks", "POST /login", "/login", nil, wrong, 401},
	} {
		crowd, leave := context.WithCancel(t.Context())
		defer leave()
		send := func() {
			req, err := http.NewRequestWithContext(crowd, strings.Fields(d.route)[0], url+d.path, strings.NewReader(d.body))
			if !assert.NoError(t, err) {
				return
			}
			n := visitors.Add(1)
			req.Header.Set("User-Agent", firefox)
			req.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", n/250%250, n%250))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			for name, value := range d.headers {
				req.Header.Set(name, value)
			}
			res, err := transport.RoundTrip(req)
			if crowd.Err() != nil || !assert.NoError(t, err, d.name) {
				return
			}
			_, err = io.Copy(io.Discard, res.Body)
			err = errors.Join(err, res.Body.Close())
			if crowd.Err() != nil {
				return
			}
			assert.NoError(t, err, d.name)
			if res.StatusCode != http.StatusServiceUnavailable { // too many log in at once
				assert.Equal(t, d.want, res.StatusCode, d.name)
			}
		}
		hashes := d.name == "from 200 networks" // a comparison has to cost what it costs; tries bound how many there are
		cost := time.Hour
		if d.want == http.StatusTooManyRequests {
			for range 10 {
				d.want = http.StatusUnauthorized
				send()
			}
			d.want = http.StatusTooManyRequests
		}
		times, rounds := 5, 4 // the first ones fill caches
		if hashes {
			times, rounds = 1, 1
		}
		for range rounds {
			before := processor(t, pid)
			for range times {
				send()
			}
			cost = min(cost, (processor(t, pid)-before)/time.Duration(times))
		}
		if page == 0 {
			page = cost
		}
		assert.True(t, hashes || cost <= dearest*page, "%s costs %v, and a page %v", d.name, cost, page)

		var people sync.WaitGroup
		for range *atOnce {
			people.Go(send)
		}
		time.Sleep(10 * time.Millisecond)
		before := processor(t, pid)
		status, _ := fetch(t, http.DefaultClient, url+"/health")
		health := processor(t, pid) - before
		if hashes {
			leave() // 50 of them would wait
		}
		people.Wait()
		assert.Equal(t, http.StatusOK, status)
		assert.Less(t, health, max(time.Second, 400*page), "/health beside %d of %s", *atOnce, d.name)
		used := most(t, pid)
		assert.Less(t, used, 150_000_000, "memory after %d of %s", *atOnce, d.name)
		t.Logf("| `%s` | %s | %v | %.1f | %v | %d MB |", d.route, d.name, cost.Round(10*time.Microsecond),
			float64(cost)/float64(page), health.Round(time.Millisecond), used/1_000_000)
	}
}

// most is the most memory that a process had until now, in bytes.
func most(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	kilobytes, err := strconv.Atoi(peak.FindStringSubmatch(string(status))[1])
	require.NoError(t, err)
	return kilobytes * 1024
}

var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

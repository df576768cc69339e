package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

var (
	load     = flag.Duration("load", time.Second, "how long readers and depositors of TestLoad are at work")
	datasets = flag.Int("datasets", 30, "how many datasets of 20 files there are in TestLoad")
)

const (
	readers    = 50
	depositors = 5
	perDataset = 20 // files
)

// A crowd sends requests, many at once, until its time is over.
type crowd struct {
	*testing.T
	client *http.Client
	url    string
	pages  []string // paths of landing pages, in the order of their numbers
}

// ask sends a request. Anything but the wanted text is a failure.
func (c *crowd) ask(method, path, contentType string, body io.Reader, want string) (address, text string) {
	req, err := http.NewRequest(method, c.url+path, body)
	if !assert.NoError(c, err) {
		return "", ""
	}
	req.Header.Set("User-Agent", firefox)
	req.Header.Set("Content-Type", contentType)
	// as a proxy has it: they all count
	req.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", rand.IntN(100), rand.IntN(250)))
	res, err := c.client.Do(req)
	if !assert.NoError(c, err) {
		return "", ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	assert.NoError(c, err)
	if res.StatusCode != http.StatusOK || !strings.Contains(string(data), want) {
		assert.Fail(c, "response", "%s %s, answered at %s %s: %s without %q: %.300s", method, path, res.Request.Method,
			res.Request.URL, res.Status, want, data)
	}
	return res.Request.URL.Path, string(data)
}

// read looks at a page as people do: mostly landing pages, which count.
func (c *crowd) read(random *rand.Rand) {
	n := 1 + random.IntN(*datasets)
	landing := c.pages[n-1]
	get := func(path, want string) { c.ask(http.MethodGet, path, "", nil, want) }
	switch d := random.IntN(20); {
	case d < 10:
		get(landing, fmt.Sprintf("Series %d of glacier lengths</h1>", n))
	case d < 13:
		get(landing+fmt.Sprintf("/files/part%d.csv", random.IntN(perDataset)), "month,length")
	case d < 15:
		get(landing+"/export/datacite.xml", fmt.Sprintf("Series %d of", n))
	case d < 17:
		get("/", `id="hits">`)
	default:
		get(fmt.Sprintf("/?q=glacier+%%22series+%d%%22", n), fmt.Sprintf("Series %d of", n))
	}
}

// deposit publishes a dataset of 20 files, as the form does it.
func (c *crowd) deposit(title string) {
	const form = "application/x-www-form-urlencoded"
	path, _ := c.ask(http.MethodPost, "/new", form, encode(fields(title)), title)
	var files []string
	for i := range perDataset {
		files = append(files, fmt.Sprintf("part%d.csv", i), strings.Repeat(fmt.Sprint(title, ",", i, "\n"), 400))
	}
	contentType, body := multipartForm(files...)
	c.ask(http.MethodPost, path+"/files", contentType, body, "part19.csv")
	_, question := c.ask(http.MethodGet, path+"/publish", "", nil, "part19.csv")
	if m := shown.FindStringSubmatch(question); assert.NotNil(c, m, "the question has no fingerprint") {
		c.ask(http.MethodPost, path+"/publish", form, encode(map[string]string{"shown": m[1]}), title)
	}
}

// fillFolder stores published datasets, whose DOIs the service does not have yet.
func fillFolder(t *testing.T, config Config) (pages []string) {
	t.Helper()
	p, err := Open(config)
	require.NoError(t, err)
	defer p.Close()
	var files []dataset.File
	for i := range 10 * perDataset { // datasets share them
		f, err := p.store.Receive(fmt.Sprintf("part%d.csv", i%perDataset),
			strings.NewReader(strings.Repeat(fmt.Sprintf("month,length,%d\n", i), 1000)), 1<<20)
		require.NoError(t, err)
		files = append(files, f)
	}
	for i := range *datasets {
		about := dataset.About{
			Title:       fmt.Sprintf("Series %d of glacier lengths", i+1),
			Description: strings.Repeat("Monthly lengths of the Äletsch glacier, measured by hand. ", 20),
			Year:        fmt.Sprint(2000 + i%20), License: dataset.Licenses[i%3], Creators: []dataset.Creator{
				{Family: fmt.Sprint("Lovelace ", i%50), Given: "Ada"}, {Family: "Somerville", Given: "Mary"}},
		}
		id, err := p.store.Create(t.Context(), "ada", "", config.Prefix, about)
		require.NoError(t, err)
		for _, step := range []func(*dataset.Dataset) error{
			func(d *dataset.Dataset) error {
				from := i % 10 * perDataset
				return p.store.ChangeFiles(t.Context(), d.Versions[0], func([]dataset.File) ([]dataset.File, error) {
					return files[from : from+perDataset], nil
				})
			},
			func(d *dataset.Dataset) error {
				return p.store.Decide(t.Context(), d,
					d.Versions[0].As(dataset.Published, time.Now().UTC().Format(time.DateOnly), ""))
			},
		} {
			d, err := p.store.Dataset(t.Context(), id)
			require.NoError(t, err)
			require.NoError(t, step(d))
			if i == len(pages) {
				pages = append(pages, d.Last().Path())
			}
		}
	}
	return pages
}

// Readers and depositors at once: no request fails, and every deposit is published
// exactly once.
func TestLoad(t *testing.T) {
	srv := serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	config := settings(srv, filepath.Join(t.TempDir(), "data"))
	config.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	client := login(t, config)
	pages := fillFolder(t, config)
	p := start(t, config)
	defer p.kill()
	settled := func() {
		t.Helper()
		require.Eventually(t, func() bool {
			_, page := fetch(t, client, p.url+"/status")
			return strings.Contains(page, "All DOIs agree with their datasets.")
		}, 10*patience, 100*time.Millisecond)
	}
	settled()

	transport := &http.Transport{MaxIdleConnsPerHost: readers}
	defer transport.CloseIdleConnections()
	public, own := &crowd{t, &http.Client{Transport: transport}, p.url, pages}, &crowd{t, client, p.url, nil}
	var titles []string
	var mu sync.Mutex
	ctx, cancel := context.WithTimeout(t.Context(), *load)
	defer cancel()
	var people sync.WaitGroup
	for i := range readers {
		people.Go(func() {
			for random := rand.New(rand.NewPCG(uint64(i), 1)); ctx.Err() == nil; {
				public.read(random)
			}
		})
	}
	for i := range depositors {
		people.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				title := fmt.Sprintf("Deposit %d of depositor %d", n, i)
				mu.Lock()
				titles = append(titles, title)
				mu.Unlock()
				own.deposit(title)
			}
		})
	}
	people.Wait()
	settled()
	p.kill()
	assert.Empty(t, p.errs.String(), "errors in the log")
	agree(t, srv, config)
	published := map[string]int{}
	everyDataset(t, config, func(d *dataset.Dataset) {
		if strings.HasPrefix(d.Last().About.Title, "Deposit") {
			published[d.Last().About.Title]++
			assert.Equal(t, "published", d.Last().Status())
			assert.Len(t, d.Last().Files, perDataset)
		}
	})
	assert.Len(t, published, len(titles))
	for _, title := range titles {
		assert.Equal(t, 1, published[title], title)
	}
	assert.Len(t, srv.Names(), 2*(*datasets+len(titles)))
	t.Logf("%d deposits of %d files", len(titles), perDataset)
}

// everyDataset visits all datasets in a folder that no process has.
func everyDataset(t *testing.T, config Config, visit func(*dataset.Dataset)) {
	t.Helper()
	s, err := store.Open(config.Folder)
	require.NoError(t, err)
	defer s.Close()
	list, err := s.Of(t.Context(), "ada", everything)
	require.NoError(t, err)
	for _, d := range list.Datasets {
		visit(d)
	}
}

package main

import (
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

// A repository is copied while curators work. Then its process is killed and its disk is
// lost: one that starts from the copy has everything, and the service agrees with it.
func TestBackup(t *testing.T) {
	srv := serve(t, nil)
	config := settings(srv, filepath.Join(t.TempDir(), "data"))
	client := login(t, config)
	p := start(t, config)
	backup := filepath.Join(t.TempDir(), "backup")

	ada := &curation{client: client, random: rand.New(rand.NewPCG(1, 2))}
	var death sync.WaitGroup
	death.Go(func() {
		defer p.kill()
		for range 4 {
			require.NoError(t, run(t.Context(), []string{"backup", backup, "--data", config.Folder}, io.Discard, io.Discard))
			whole(t, config, backup)
		}
	})
	ada.curate(p.url)
	death.Wait()

	p = start(t, config)
	draft := (&curation{client: client, url: p.url}).post("/new", fields("A draft"))
	require.Eventually(t, func() bool {
		_, page := fetch(t, client, p.url+"/status")
		return strings.Contains(page, "All DOIs agree with their datasets.")
	}, patience, patience/100)
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"backup", backup, "--data", config.Folder}, &out, io.Discard))
	assert.Contains(t, out.String(), " files, ")
	p.kill()
	versions, _ := agree(t, srv, config)
	require.NoError(t, os.RemoveAll(config.Folder))

	config.Folder = filepath.Join(t.TempDir(), "another machine")
	require.NoError(t, os.CopyFS(config.Folder, os.DirFS(backup)))
	require.NoError(t, os.Chmod(config.Folder, 0o700))
	p = start(t, config)
	status, page := fetch(t, client, p.url+draft)
	assert.Equal(t, http.StatusOK, status, "the session goes on")
	assert.Contains(t, page, "A draft")
	p.kill()
	restored, pending := agree(t, srv, config)
	assert.Equal(t, versions, restored)
	assert.NotZero(t, restored)
	assert.Zero(t, pending)
}

// whole makes sure that a copy has all that it names, and nothing else.
func whole(t *testing.T, config Config, backup string) {
	restored := config
	restored.Folder = filepath.Join(t.TempDir(), "restored")
	require.NoError(t, os.CopyFS(restored.Folder, os.DirFS(backup)))
	require.NoError(t, os.Chmod(restored.Folder, 0o700))
	files := func() (n int) {
		entries, err := os.ReadDir(filepath.Join(restored.Folder, "files"))
		require.NoError(t, err)
		return len(entries)
	}
	before := files()
	s, err := store.Open(restored.Folder)
	require.NoError(t, err)
	defer s.Close()
	assert.Equal(t, before, files(), "files that nobody needs were copied")
	list, err := s.Of(t.Context(), "ada", everything)
	require.NoError(t, err)
	for _, d := range list.Datasets {
		for _, v := range d.Versions {
			for _, f := range v.Files {
				info, err := os.Stat(filepath.Join(restored.Folder, "files", f.SHA256))
				if assert.NoError(t, err) {
					assert.Equal(t, f.Size, info.Size())
				}
			}
		}
	}
}

// A copy that is interrupted, or has no room, leaves the earlier one as it was.
func TestBackupFails(t *testing.T) {
	srv := serve(t, nil)
	var config Config
	c := open(t, srv, func(settings *Config) { config = *settings }).as("ada")
	c.publish("Glacier")
	backup := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, run(t.Context(), []string{"backup", backup, "--data", config.Folder}, io.Discard, io.Discard))
	c.publish("Stones")

	obstacle := filepath.Join(backup, "next.db")
	require.NoError(t, os.MkdirAll(filepath.Join(obstacle, "x"), 0o700))
	err := run(t.Context(), []string{"backup", backup, "--data", config.Folder}, io.Discard, io.Discard)
	require.Error(t, err)
	assert.Equal(t, 2, code(err))
	require.NoError(t, os.RemoveAll(obstacle))
	s, err := store.Open(backup)
	require.NoError(t, err)
	list, err := s.Of(t.Context(), "ada", everything)
	require.NoError(t, err)
	assert.Len(t, list.Datasets, 1)
	require.NoError(t, s.Close())

	err = run(t.Context(), []string{"backup", backup, "--data", filepath.Join(t.TempDir(), "nothing")}, io.Discard,
		io.Discard)
	assert.ErrorContains(t, err, "nothing")
	err = run(t.Context(), []string{"backup", config.Folder, "--data", config.Folder}, io.Discard, io.Discard)
	assert.ErrorContains(t, err, "is the folder of the repository itself")
}

// A backup is restored that lacks datasets whose DOIs are registered: no dataset or version
// that is made later gets an address that one of these DOIs leads to.
func TestAddressesAfterARestore(t *testing.T) {
	srv := serve(t, nil)
	var config Config
	c := open(t, srv, func(settings *Config) { config = *settings }).as("ada")
	kept := c.publish("Kept")
	c.settled(kept)
	backup := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, run(t.Context(), []string{"backup", backup, "--data", config.Folder}, io.Discard, io.Discard))
	c.settled(c.publish("Lost"))
	publishNext := func(c *person) {
		_, next := c.post(kept+"/version", nil)
		c.upload(next, "more.csv", "x")
		c.decide(next+"/publish", nil)
		c.settled(next)
	}
	publishNext(c)

	restored := open(t, srv, func(settings *Config) { settings.Folder = backup })
	c = restored.again("ada")
	c.settled(c.publish("Found"))
	publishNext(c)
	c.background(restored.platform.outbox.Check)
	_, findings, err := restored.platform.store.Findings(t.Context())
	require.NoError(t, err)
	require.Len(t, findings, 3, "the lost dataset with its concept DOI, and the lost version")
	_, page := c.get("/status")
	for _, f := range findings {
		assert.Contains(t, page, f.DOI+" is registered and belongs to no public dataset")
		c.post("/status/hide", map[string]string{"doi": f.DOI})
		require.Eventually(t, func() bool {
			return srv.State(f.DOI) == "registered"
		}, patience, 5*time.Millisecond)
	}
	c.post("/status/hide", map[string]string{"doi": srv.Names()[0]})
	c.background(restored.platform.outbox.Check)
	_, page = c.get("/status")
	assert.NotContains(t, page, "Hide it from searches")
	leads := map[string]string{}
	for _, name := range srv.Names() {
		r, err := srv.DOIs().Get(t.Context(), name, nil)
		require.NoError(t, err)
		assert.NotContains(t, leads, r.URL, "%s and %s", name, leads[r.URL])
		leads[r.URL] = name
	}
	assert.Len(t, leads, 8)
	assert.Equal(t, 5, strings.Count(strings.Join(states(srv), " "), "findable"),
		"only what was found is hidden")
}

// A reviewer reads a draft at a secret address, until it is taken back or published.
func TestReview(t *testing.T) {
	srv := serve(t, nil)
	reader := open(t, srv)
	ada, grace := reader.as("ada"), reader.as("grace")
	path := ada.draft(fields("Glacier"))
	link := func() string {
		_, page := ada.get(path)
		m := regexp.MustCompile(`href="[^"]*(/review/[^"]+)"`).FindStringSubmatch(page)
		if m == nil {
			return ""
		}
		return m[1]
	}
	assert.Empty(t, link())
	for _, who := range []*person{reader, grace} {
		status, _ := who.post(path+"/review", map[string]string{"make": "1"})
		assert.Contains(t, []int{http.StatusUnauthorized, http.StatusNotFound}, status)
	}
	ada.post(path+"/review", map[string]string{"make": "1"})
	first := link()
	require.NotEmpty(t, first)
	before := len(ada.accesses())
	res, page := reader.ask(http.MethodGet, first)
	assert.Equal(t, http.StatusOK, res.StatusCode)
	assert.Equal(t, []string{"noindex, nofollow", "no-referrer", "private, no-store"},
		[]string{res.Header.Get("X-Robots-Tag"), res.Header.Get("Referrer-Policy"), res.Header.Get("Cache-Control")})
	assert.Contains(t, page, "only its curator and its reviewers see it")
	assert.Contains(t, page, "Glacier")
	for _, change := range []string{"<form method=\"post\"", "/edit", "/publish", path} {
		assert.NotContains(t, page, change, "a reviewer changes nothing")
	}
	_, data := reader.ask(http.MethodGet, first+"/files/lengths.csv")
	assert.Equal(t, "month,length\n", data)
	assert.Len(t, ada.accesses(), before, "reviewers are not counted")
	_, robots := reader.get("/robots.txt")
	assert.Contains(t, robots, "Disallow: /review/\n")

	ada.post(path+"/review", map[string]string{"make": "1"})
	second := link()
	assert.NotEqual(t, first, second)
	status, _ := reader.get(first)
	assert.Equal(t, http.StatusNotFound, status)
	ada.post(path+"/review", nil)
	assert.Empty(t, link())
	for _, gone := range []string{second, "/review/", "/review/x"} {
		status, _ = reader.get(gone)
		assert.Equal(t, http.StatusNotFound, status, gone)
	}
	ada.post(path+"/review", map[string]string{"make": "1"})
	third := link()
	ada.decide(path+"/publish", nil)
	for _, gone := range []string{third, third + "/files/lengths.csv"} {
		status, _ = reader.get(gone)
		assert.Equal(t, http.StatusNotFound, status, "the draft is published: its page is public")
	}
}

func states(srv *datacitetest.Server) (all []string) {
	for _, name := range srv.Names() {
		all = append(all, srv.State(name))
	}
	return all
}

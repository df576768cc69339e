package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// settings are a platform's that uses srv.
func settings(srv *datacitetest.Server, database string) Config {
	return Config{
		Name: "Test Repository", Public: "https://repository.example.org", Database: database,
		API: srv.URL, Store: srv.URL, Username: datacitetest.Username, Password: datacitetest.Password, Token: srv.Token(srv.Now().Add(24 * time.Hour)), Prefix: datacitetest.Prefix,
		HTTPClient: srv.HTTPClient(), MaxWait: time.Millisecond, Retry: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	}
}

// A curator uses the pages of a platform.
type curator struct {
	*testing.T
	platform *Platform
	client   *http.Client
	url      string
}

// open starts a platform that uses srv, with its pages and background jobs.
func open(t *testing.T, srv *datacitetest.Server) *curator {
	t.Helper()
	p, err := Open(settings(srv, filepath.Join(t.TempDir(), "platform.db")))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- p.Run(ctx) }()
	site := httptest.NewServer(p.Handler())
	t.Cleanup(func() {
		site.Close()
		stop()
		assert.NoError(t, <-ran)
	})
	return &curator{t, p, site.Client(), site.URL}
}

// fields are a form that can be published.
func fields(title string) map[string]string {
	return map[string]string{
		"title": title, "description": "Monthly lengths of the Äletsch glacier.", "year": "2026", "license": "CC-BY-4.0", "revision": "0",
		"family0": "Lovelace", "given0": "Ada", "orcid0": "0000-0001-5727-2427", "affiliation0": "DataCite", "ror0": "04wxnsj81",
	}
}

func form(fields map[string]string, file string) (contentType string, body []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range fields {
		_ = w.WriteField(name, value)
	}
	if file != "" {
		part, _ := w.CreateFormFile("file", "lengths.csv")
		_, _ = io.WriteString(part, file)
	}
	_ = w.Close()
	return w.FormDataContentType(), b.Bytes()
}

// post sends a form, and returns the address of the page that it leads to.
func (c *curator) post(path string, fields map[string]string, file string) (status int, page string) {
	c.Helper()
	contentType, body := form(fields, file)
	res, err := c.client.Post(c.url+path, contentType, bytes.NewReader(body))
	require.NoError(c, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(c, err)
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusGone {
		return res.StatusCode, string(text)
	}
	return res.StatusCode, res.Request.URL.Path
}

func (c *curator) get(path, agent string) (status int, text string) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), http.MethodGet, c.url+path, nil)
	require.NoError(c, err)
	req.Header.Set("User-Agent", agent)
	res, err := c.client.Do(req)
	require.NoError(c, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(c, err)
	return res.StatusCode, string(body)
}

// publish makes a dataset and asks for a DOI.
func (c *curator) publish(title string) (path string) {
	c.Helper()
	status, path := c.post("/datasets", fields(title), "month,length\n")
	require.Equal(c, http.StatusOK, status, path)
	status, _ = c.post(path+"/publish", nil, "")
	require.Equal(c, http.StatusOK, status)
	return path
}

// settled waits until the outbox is empty, and returns the dataset.
func (c *curator) settled(path string) *Dataset {
	c.Helper()
	var d *Dataset
	require.Eventually(c, func() bool {
		var id int64
		_, err := fmt.Sscanf(path, "/datasets/%d", &id)
		require.NoError(c, err)
		d, err = c.platform.store.dataset(c.Context(), id)
		require.NoError(c, err)
		return !d.Pending
	}, 20*time.Second, 5*time.Millisecond)
	return d
}

// both runs a test on a service of either behaviour.
func both(t *testing.T, test func(*testing.T, datacitetest.Options)) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(behaviour), func(t *testing.T) { test(t, datacitetest.Options{Behaviour: behaviour}) })
	}
}

func TestTheLifeOfADataset(t *testing.T) {
	both(t, func(t *testing.T, opts datacitetest.Options) {
		srv := datacitetest.NewServer(&opts)
		defer srv.Close()
		c := open(t, srv)

		path := c.publish("Glacier length")
		d := c.settled(path)
		assert.Equal(t, "published", d.Status())
		record, err := srv.DOIs().Get(t.Context(), d.DOI, &dois.GetOptions{Affiliation: true})
		require.NoError(t, err)
		assert.Equal(t, dois.StateFindable, record.State)
		assert.Equal(t, "https://repository.example.org"+path, record.URL)
		assert.Equal(t, "Lovelace, Ada", record.Creators[0].Name)
		assert.Equal(t, "https://orcid.org/0000-0001-5727-2427", record.Creators[0].NameIdentifiers[0].NameIdentifier)
		assert.Equal(t, "https://ror.org/04wxnsj81", record.Creators[0].Affiliation[0].AffiliationIdentifier)

		_, page := c.get(path, "Mozilla/5.0 (X11) Firefox/140.0")
		assert.Contains(t, page, "Lovelace, Ada (2026): Glacier length. Test Repository. https://doi.org/"+d.DOI)
		assert.Contains(t, page, `"@type":"Dataset"`)
		_, file := c.get(path+"/file", "Mozilla/5.0 (X11) Firefox/140.0")
		assert.Equal(t, "month,length\n", file)

		edited := fields("Glacier length, corrected")
		edited["revision"] = fmt.Sprint(d.Revision)
		status, _ := c.post(path, edited, "")
		require.Equal(t, http.StatusOK, status)
		d = c.settled(path)
		record, err = srv.DOIs().Get(t.Context(), d.DOI, nil)
		require.NoError(t, err)
		assert.Equal(t, "Glacier length, corrected", record.Titles[0].Title)
		assert.Equal(t, metadata.Text("2"), record.Version)
		status, text := c.post(path, edited, "")
		assert.Equal(t, http.StatusConflict, status, "the form is from before the change: %s", text)

		status, _ = c.post(path+"/withdraw", nil, "")
		require.Equal(t, http.StatusGone, status)
		d = c.settled(path)
		assert.Equal(t, "withdrawn", d.Status())
		assert.Equal(t, datacitetest.StateRegistered, srv.State(d.DOI), "it resolves, to a page that says what was there")
		status, page = c.get(path, "Mozilla/5.0 (X11) Firefox/140.0")
		assert.Equal(t, http.StatusGone, status)
		assert.Contains(t, page, "was withdrawn")
		status, _ = c.get(path+"/file", "Mozilla/5.0 (X11) Firefox/140.0")
		assert.Equal(t, http.StatusNotFound, status)
		assert.Len(t, srv.Names(), 1)
	})
}

// What is wrong is said before anything is stored, in the words of the form's reader.
func TestBadForms(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	c := open(t, srv)
	for name, tt := range map[string]struct{ field, value, want string }{
		"no title":       {"title", "", "titles"},
		"a wrong year":   {"year", "26", "publicationYear"},
		"a wrong ORCID":  {"orcid0", "0000-0001-5727-2428", "nameIdentifiers"},
		"a wrong ROR":    {"ror0", "04wxnsj82", "affiliation"},
		"a wrong letter": {"title", "bell \a", "titles"},
	} {
		f := fields("Glacier")
		f[tt.field] = tt.value
		status, page := c.post("/datasets", f, "x")
		assert.Equal(t, http.StatusUnprocessableEntity, status, name)
		assert.Contains(t, page, tt.want, name)
	}
	status, page := c.post("/datasets", fields("Glacier"), "")
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, page, "needs a file")
	for _, path := range []string{"/datasets/7", "/datasets/x", "/datasets/7/file", "/nowhere"} {
		status, _ := c.get(path, "Mozilla/5.0 (X11) Firefox/140.0")
		assert.Equal(t, http.StatusNotFound, status, path)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/status/check", nil)
	require.NoError(t, err)
	req.Header.Set("Origin", "https://elsewhere.example.org")
	res, err := c.client.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusForbidden, res.StatusCode, "a page of another site cannot press the buttons")
	assert.Empty(t, srv.Names())
}

func TestPublishingThroughFaults(t *testing.T) {
	both(t, func(t *testing.T, opts datacitetest.Options) {
		opts.Faults = datacitetest.Schedule(7, 0.3)
		srv := datacitetest.NewServer(&opts)
		defer srv.Close()
		c := open(t, srv)
		var paths []string
		for i := range 5 {
			paths = append(paths, c.publish(fmt.Sprint("Dataset ", i)))
		}
		for _, path := range paths {
			d := c.settled(path)
			assert.Equal(t, datacitetest.StateFindable, srv.State(d.DOI))
		}
		assert.Len(t, srv.Names(), 5)
	})
}

// A name that is taken is somebody else's: it is left alone, and another is chosen.
func TestANameThatIsTaken(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	c := open(t, srv)
	_, path := c.post("/datasets", fields("Glacier"), "x")
	first := c.settled(path).DOI
	require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":%q,"titles":[{"title":"Of another system"}],"state":"findable"}`, first)))
	c.post(path+"/publish", nil, "")
	d := c.settled(path)
	assert.NotEqual(t, first, d.DOI)
	assert.Equal(t, datacitetest.StateFindable, srv.State(d.DOI))
	record, err := srv.DOIs().Get(t.Context(), first, nil)
	require.NoError(t, err)
	assert.Equal(t, "Of another system", record.Titles[0].Title)
}

// What the service refuses waits for a person, and the dataset does not say that it is
// published.
func TestARefusal(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Accounts: []datacitetest.Account{{Domains: []string{"elsewhere.example.org"}}}})
	defer srv.Close()
	c := open(t, srv)
	path := c.publish("Glacier")
	require.Eventually(t, func() bool {
		_, page := c.get("/status", "Mozilla/5.0 (X11) Firefox/140.0")
		return strings.Contains(page, "waiting: ")
	}, 20*time.Second, 5*time.Millisecond)
	_, page := c.get(path, "Mozilla/5.0 (X11) Firefox/140.0")
	assert.NotContains(t, page, `id="state">published`)
	assert.NotEqual(t, datacitetest.StateFindable, srv.State(srv.Names()[0]))
}

// The check of the service's records finds what others did to them, and puts it right.
func TestCheck(t *testing.T) {
	both(t, func(t *testing.T, opts datacitetest.Options) {
		srv := datacitetest.NewServer(&opts)
		defer srv.Close()
		c := open(t, srv)
		require.Eventually(t, func() bool { // that of the first night is over
			checked, _, err := c.platform.store.findings(t.Context())
			return err == nil && !checked.IsZero()
		}, 20*time.Second, 5*time.Millisecond)
		var paths, names []string
		for _, title := range []string{"Hidden", "Moved", "Renamed", "Right"} {
			paths = append(paths, c.publish(title))
			names = append(names, c.settled(paths[len(paths)-1]).DOI)
		}
		require.NoError(t, srv.MDS().Hide(t.Context(), names[0]))
		_, err := srv.MDS().PutURL(t.Context(), names[1], "https://elsewhere.example.org/")
		require.NoError(t, err)
		_, err = srv.DOIs().Update(t.Context(), names[2], &dois.Draft{Record: metadata.Record{Titles: []metadata.Title{{Title: "Another title"}}}})
		require.NoError(t, err)
		require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/foreign"}`)))

		status, text := c.post("/status/check", nil, "")
		require.Equal(t, http.StatusOK, status, text)
		_, page := c.get("/status", "Mozilla/5.0 (X11) Firefox/140.0")
		for _, want := range []string{names[0] + " is registered, not findable", names[1] + " leads to https://elsewhere", names[2] + " has another title", "10.5072/foreign is registered and belongs to no dataset"} {
			assert.Contains(t, page, want)
		}
		assert.NotContains(t, page, names[3])
		for i, path := range paths {
			d := c.settled(path)
			r, err := srv.DOIs().Get(t.Context(), names[i], nil)
			require.NoError(t, err)
			assert.Empty(t, c.platform.differs(d, r))
		}
		c.post("/status/check", nil, "")
		_, texts, err := c.platform.store.findings(t.Context())
		require.NoError(t, err)
		assert.Len(t, texts, 1, "only the foreign DOI is left")
	})
}

func TestUsage(t *testing.T) {
	both(t, func(t *testing.T, opts datacitetest.Options) {
		srv := datacitetest.NewServer(&opts)
		defer srv.Close()
		c := open(t, srv)
		path := c.publish("Glacier")
		d := c.settled(path)
		c.get(path, "Mozilla/5.0 (X11) Firefox/140.0")
		c.get(path, "Mozilla/5.0 (X11) Firefox/140.0") // a second click at once
		c.get(path+"/file", "Mozilla/5.0 (X11) Firefox/140.0")
		c.get(path+"/file", "curl/8")
		c.get(path, "Googlebot/2.1")
		require.NoError(t, c.platform.store.accessed(t.Context(), d.ID, counter.Event{Time: time.Now().AddDate(0, -2, 0), URL: path, Address: "earlier", Agent: "Mozilla/5.0 (X11) Firefox/140.0"}))

		for range 2 { // the second time it is there already
			status, text := c.post("/status/report", nil, "")
			require.Equal(t, http.StatusOK, status, text)
		}
		stored := srv.StoredReports()
		require.Len(t, stored, 1)
		report, err := stored[0].Report()
		require.NoError(t, err)
		require.Len(t, report.Datasets, 1)
		counts := map[string]int64{}
		for _, i := range report.Datasets[0].Performance[0].Instance {
			counts[string(i.MetricType)+" "+string(i.AccessMethod)] = i.Count
		}
		assert.Equal(t, map[string]int64{
			// Publishing led the curator's own client, a program, to the page.
			"total-dataset-investigations regular": 2, "unique-dataset-investigations regular": 1, "total-dataset-requests regular": 1, "unique-dataset-requests regular": 1,
			"total-dataset-investigations machine": counts["total-dataset-investigations machine"], "unique-dataset-investigations machine": counts["unique-dataset-investigations machine"],
			"total-dataset-requests machine": 1, "unique-dataset-requests machine": 1,
		}, counts)
		_, page := c.get("/status", "Mozilla/5.0 (X11) Firefox/140.0")
		assert.Contains(t, page, "1 datasets, report "+report.ID)

		require.NoError(t, c.platform.reportLastMonth(t.Context(), time.Now()), "nothing was counted then: nothing is sent")
		assert.Len(t, srv.StoredReports(), 1)

		// What is counted after a report so far is in the one of the whole month.
		c.get(path+"/file", "wget/1")
		now := time.Now().UTC()
		over := time.Date(now.Year(), now.Month()+1, 1, 1, 0, 0, 0, time.UTC)
		_, page = c.get("/status", "Mozilla/5.0 (X11) Firefox/140.0")
		assert.Contains(t, page, "so far")
		require.NoError(t, c.platform.reportLastMonth(t.Context(), over))
		stored = srv.StoredReports()
		require.Len(t, stored, 1)
		report, err = stored[0].Report()
		require.NoError(t, err)
		for _, i := range report.Datasets[0].Performance[0].Instance {
			if i.MetricType == "total-dataset-requests" && i.AccessMethod == "machine" {
				assert.EqualValues(t, 2, i.Count, "with the last download")
			}
		}
		before := len(srv.Requests())
		require.NoError(t, c.platform.reportLastMonth(t.Context(), over))
		assert.Len(t, srv.Requests(), before, "all of the month was sent")
	})
}

// Readers behind a trusted proxy are told apart, others are who they are whatever they
// write. A look at the head is no access, nor is one of a page that was withdrawn, and
// no address is stored.
func TestWhoIsCounted(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	c := open(t, srv)
	c.platform.config.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	pages := c.platform.Handler()
	path := c.publish("Glacier")
	d := c.settled(path)
	ask := func(method, from, forwarded string) {
		r := httptest.NewRequest(method, path, nil)
		r.RemoteAddr = from + ":4711"
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11) Firefox/140.0")
		r.Header.Set("X-Forwarded-For", forwarded)
		pages.ServeHTTP(httptest.NewRecorder(), r)
	}
	for i := range 10 {
		ask(http.MethodGet, "192.0.2.1", fmt.Sprint("198.51.100.", i))
		ask(http.MethodGet, "203.0.113.7", fmt.Sprint("198.51.100.", 100+i))
		ask(http.MethodHead, "203.0.113.8", "")
	}
	c.post(path+"/withdraw", nil, "")
	ask(http.MethodGet, "203.0.113.9", "")

	now := time.Now().UTC()
	counts := map[reports.MetricType]int64{}
	for row, err := range c.platform.usage(t.Context(), time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)) {
		require.NoError(t, err)
		assert.Equal(t, "Glacier", row.Title)
		if row.Access == reports.Regular {
			counts[row.Metric] = row.Count
		}
	}
	assert.Equal(t, map[reports.MetricType]int64{reports.TotalDatasetInvestigations: 11, reports.UniqueDatasetInvestigations: 11}, counts)
	for e, err := range c.platform.store.accesses(t.Context(), time.Unix(0, 0), now.AddDate(1, 0, 0)) {
		require.NoError(t, err)
		assert.Equal(t, d.DOI, e.DOI)
		_, err := netip.ParseAddr(e.Address)
		assert.Error(t, err, "%+v", e)
	}
}

func TestAPseudonymLastsADay(t *testing.T) {
	var v visitors
	noon := time.Date(2026, 10, 14, 12, 0, 0, 0, time.UTC)
	first := v.pseudonym("192.0.2.1", noon)
	assert.Equal(t, first, v.pseudonym("192.0.2.1", noon.Add(11*time.Hour)))
	assert.NotEqual(t, first, v.pseudonym("192.0.2.2", noon))
	assert.NotEqual(t, first, v.pseudonym("192.0.2.1", noon.Add(12*time.Hour)))
	assert.NotEqual(t, first, v.pseudonym("192.0.2.1", noon), "the key of the day before is gone")
	assert.NotEqual(t, first, new(visitors).pseudonym("192.0.2.1", noon))
}

func TestCommandLine(t *testing.T) {
	var out bytes.Buffer
	assert.ErrorContains(t, run(t.Context(), []string{"extra"}, &out), `"extra" is not a flag`)
	assert.ErrorContains(t, run(t.Context(), []string{"-proxy", "proxy.example.org"}, &out), "-proxy")
	assert.ErrorContains(t, run(t.Context(), []string{"-live", "-addr", "localhost:0"}, &out), "Username and Password")

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	pages, lines := io.Pipe()
	go func() { ended <- run(ctx, []string{"-addr", "localhost:0"}, lines) }()
	var address string
	_, err := fmt.Fscanf(pages, "The registration service runs in memory: no real DOI is registered.\nThe repository is at %s", &address)
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, pages) }()
	_, err = url.Parse(address)
	require.NoError(t, err)
	res, err := http.Get(address)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusOK, res.StatusCode)
	stop()
	assert.NoError(t, <-ended)
}

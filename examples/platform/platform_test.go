package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/examples/platform/accounts"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
	"github.com/datacite-go/datacite-go/metadata"
)

const (
	password = "a password of the tests"
	firefox  = "Mozilla/5.0 (X11) Firefox/140.0"
)

// settings are a platform's that uses srv.
func settings(srv *datacitetest.Server, folder string) Config {
	return Config{
		By: dataset.Repository{Name: "Test Repository", Public: "http://repository.example.org"}, Folder: folder,
		API: srv.URL, Store: srv.URL, Username: datacitetest.Username, Password: datacitetest.Password, Token: srv.Token(srv.Now().Add(24 * time.Hour)), Prefix: datacitetest.Prefix,
		HTTPClient: srv.HTTPClient(), MaxWait: time.Millisecond, Retry: time.Millisecond, Cost: bcrypt.MinCost, Log: slog.New(slog.DiscardHandler),
	}
}

// everything is a page with all of a list.
var everything = store.Page{Number: 1, Size: 1 << 30}

// A person uses the pages of a platform, with a browser of their own.
type person struct {
	*testing.T
	platform *Platform
	client   *http.Client
	url      string
}

// open starts a platform that uses srv, with its pages and background jobs. Nobody is
// logged in.
func open(t *testing.T, srv *datacitetest.Server, edits ...func(*Config)) *person {
	t.Helper()
	config := settings(srv, filepath.Join(t.TempDir(), "data"))
	for _, edit := range edits {
		edit(&config)
	}
	p, err := Open(config)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() {
		p.Run(ctx)
		close(ran)
	}()
	site := httptest.NewServer(p.pages.Handler())
	t.Cleanup(func() {
		site.Close()
		stop()
		<-ran
		assert.NoError(t, p.Close())
	})
	return &person{t, p, site.Client(), site.URL}
}

// serve starts a service.
func serve(t *testing.T, opts *datacitetest.Options) *datacitetest.Server {
	srv := datacitetest.NewServer(opts)
	t.Cleanup(srv.Close)
	return srv
}

// curated is a platform for a reader, and for ada, who is its administrator.
func curated(t *testing.T, srv *datacitetest.Server, edits ...func(*Config)) (reader, ada *person) {
	t.Helper()
	reader = open(t, srv, edits...)
	return reader, reader.as("ada")
}

// repository is a curated platform with a service of its own.
func repository(t *testing.T, edits ...func(*Config)) (srv *datacitetest.Server, reader, ada *person) {
	t.Helper()
	srv = serve(t, nil)
	reader, ada = curated(t, srv, edits...)
	return srv, reader, ada
}

// as is a curator who logs in.
func (c *person) as(name string) *person {
	c.Helper()
	require.NoError(c, c.platform.accounts.Add(c.Context(), name, password))
	require.NoError(c, c.platform.accounts.SetAdministrator(c.Context(), name, name == "ada"))
	return c.again(name)
}

// again is a curator who has a login already.
func (c *person) again(name string) *person {
	c.Helper()
	other := *c
	jar, err := cookiejar.New(nil)
	require.NoError(c, err)
	other.client = &http.Client{Transport: c.client.Transport, Jar: jar}
	status, page := other.post("/login", map[string]string{"name": name, "password": password})
	require.Equal(c, http.StatusOK, status, page)
	return &other
}

// fields are a form that can be stored.
func fields(title string) map[string]string {
	return map[string]string{
		"title": title, "description": "Monthly lengths of the Äletsch glacier.\r\n\r\nMeasured by hand.", "year": "2026",
		"license": "CC-BY-4.0", "revision": "0",
		"family0": "Lovelace", "given0": "Ada", "orcid0": "https://orcid.org/0000-0001-5727-2427", "affiliation0": "DataCite 04wxnsj81",
		"kind1": "Organisation", "family1": "Glacier Institute", "ror1": "https://ror.org/04wxnsj81",
		"funder0": "Science Fund", "funderror0": "04wxnsj81", "award0": "G-7", "awardtitle0": "Ice",
	}
}

func encode(fields map[string]string) io.Reader {
	values := url.Values{}
	for name, value := range fields {
		values.Set(name, value)
	}
	return strings.NewReader(values.Encode())
}

func (c *person) do(method, path, contentType string, body io.Reader) (status int, address, text string) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.url+path, body)
	require.NoError(c, err)
	req.Header.Set("User-Agent", firefox)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := c.client.Do(req)
	require.NoError(c, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(c, err)
	return res.StatusCode, res.Request.URL.Path, direction.ReplaceAllString(string(data), "")
}

// direction is what pages say of the direction of texts; TestDirections looks at it, and the
// others at the texts.
var direction = regexp.MustCompile(`</?bdi[^>]*>| dir="auto"( lang="[^"]*")?`)

func (c *person) get(path string) (status int, text string) {
	c.Helper()
	status, _, text = c.do(http.MethodGet, path, "", nil)
	return status, text
}

// post sends a form, and returns the path of the page that it leads to, or the page
// itself if it leads to none.
func (c *person) post(path string, fields map[string]string) (status int, page string) {
	c.Helper()
	status, address, text := c.do(http.MethodPost, path, "application/x-www-form-urlencoded", encode(fields))
	if status != http.StatusOK && status != http.StatusGone {
		return status, text
	}
	return status, address
}

// upload adds files, named and filled in turn.
func (c *person) upload(path string, files ...string) (status int, page string) {
	c.Helper()
	contentType, body := multipartForm(files...)
	status, _, page = c.do(http.MethodPost, path+"/files", contentType, body)
	return status, page
}

func multipartForm(files ...string) (contentType string, body *bytes.Buffer) {
	body = new(bytes.Buffer)
	w := multipart.NewWriter(body)
	for i := 0; i < len(files); i += 2 {
		part, _ := w.CreateFormFile("file", files[i])
		_, _ = io.WriteString(part, files[i+1])
	}
	_ = w.Close()
	return w.FormDataContentType(), body
}

// draft makes a dataset with a file.
func (c *person) draft(fields map[string]string) (path string) {
	c.Helper()
	status, path := c.post("/new", fields)
	require.Equal(c, http.StatusOK, status, path)
	require.Regexp(c, `^/datasets/[0-9a-z]{4}-[0-9a-z]{4}$`, path)
	status, page := c.upload(path, "lengths.csv", "month,length\n")
	require.Equal(c, http.StatusOK, status, page)
	return path
}

// publish makes a dataset and asks for its DOIs.
func (c *person) publish(title string) (path string) {
	c.Helper()
	path = c.draft(fields(title))
	status, page := c.decide(path+"/publish", nil)
	require.Equal(c, http.StatusOK, status, page)
	return path
}

var shown = regexp.MustCompile(`name="shown" value="([0-9a-f]+)"`)

// decide answers the question of a page, as somebody does who has just seen it.
func (c *person) decide(path string, fields map[string]string) (status int, page string) {
	c.Helper()
	status, page = c.get(path)
	m := shown.FindStringSubmatch(page)
	if m == nil {
		return status, page // it asks nothing
	}
	answer := maps.Clone(fields)
	if answer == nil {
		answer = map[string]string{}
	}
	answer["shown"] = m[1]
	return c.post(path, answer)
}

// now returns a dataset as it is.
func (c *person) now(path string) (*dataset.Dataset, *dataset.Version) {
	c.Helper()
	d, v, err := c.platform.store.Find(c.Context(), strings.TrimPrefix(path, "/datasets/"))
	require.NoError(c, err)
	return d, v
}

// patience ends what hangs. On a busy machine anything else may take its time.
const patience = 5 * time.Minute

// settled waits until the service has a dataset as it is here.
func (c *person) settled(path string) (d *dataset.Dataset, v *dataset.Version) {
	c.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if d, v = c.now(path); !d.Pending {
			return d, v
		}
		require.True(c, time.Now().Before(end), "%s is not settled: %s", path, d.Problem)
	}
}

// background has a job done between those of the platform, and waits for it.
func (c *person) background(work job) {
	c.Helper()
	done := make(chan error)
	c.platform.asked <- func(ctx context.Context) error {
		err := work(ctx)
		done <- err
		return err
	}
	require.NoError(c, <-done)
}

// both runs a test with a service of either behaviour.
func both(t *testing.T, faults datacitetest.Faults, test func(*testing.T, *datacitetest.Server)) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(behaviour), func(t *testing.T) {
			test(t, serve(t, &datacitetest.Options{Behaviour: behaviour, Faults: faults}))
		})
	}
}

// related returns the relations of a record, such as "HasVersion 10.5072/abc".
func related(t *testing.T, srv *datacitetest.Server, name string) []string {
	t.Helper()
	r, err := srv.DOIs().Get(t.Context(), name, nil)
	require.NoError(t, err)
	var all []string
	for _, i := range r.RelatedIdentifiers {
		all = append(all, fmt.Sprintf("%s %s", i.RelationType, strings.ToLower(i.RelatedIdentifier)))
	}
	return all
}

func TestTheLifeOfADataset(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		reader, c := curated(t, srv)

		path := c.publish("Glacier length")
		d, v := c.settled(path)
		assert.Equal(t, "published", v.Status())
		record, err := srv.DOIs().Get(t.Context(), v.DOI, nil)
		require.NoError(t, err)
		assert.Equal(t, datacite.StateFindable, record.State)
		assert.Equal(t, "http://repository.example.org"+path, record.URL)
		assert.Equal(t, "Lovelace, Ada", record.Creators[0].Name)
		assert.Equal(t, "https://orcid.org/0000-0001-5727-2427", record.Creators[0].NameIdentifiers[0].NameIdentifier)
		assert.Equal(t, "https://ror.org/04wxnsj81", record.Creators[0].Affiliation[0].AffiliationIdentifier)
		assert.Equal(t, metadata.NameOrganizational, record.Creators[1].NameType)
		assert.Equal(t, "https://ror.org/04wxnsj81", record.Creators[1].NameIdentifiers[0].NameIdentifier)
		assert.Equal(t, "G-7", record.FundingReferences[0].AwardNumber)
		assert.Equal(t, []string{"IsVersionOf " + d.DOI}, related(t, srv, v.DOI))
		assert.Equal(t, []string{"HasVersion " + v.DOI}, related(t, srv, d.DOI))

		_, page := reader.get(path)
		assert.Contains(t, page, "Lovelace, Ada; Glacier Institute (2026): Glacier length. Version 1. Test Repository. "+
			"https://doi.org/"+v.DOI)
		assert.Contains(t, page, `"@type":"Dataset"`)
		assert.Contains(t, page, `<meta name="citation_author" content="Lovelace, Ada">`)
		assert.Contains(t, page, `<meta name="citation_doi" content="`+v.DOI+`">`)
		assert.Contains(t, page, `<p class="paragraph">Measured by hand.</p>`)
		assert.NotContains(t, page, "/edit")
		_, file := reader.get(path + "/files/lengths.csv")
		assert.Equal(t, "month,length\n", file)

		edited := fields("Glacier length, corrected")
		edited["revision"] = fmt.Sprint(v.Revision)
		status, page := c.post(path+"/edit", edited)
		require.Equal(t, http.StatusOK, status, page)
		c.settled(path)
		for _, name := range []string{d.DOI, v.DOI} {
			record, err = srv.DOIs().Get(t.Context(), name, nil)
			require.NoError(t, err)
			assert.Equal(t, "Glacier length, corrected", record.Titles[0].Title)
		}
		edited["title"] = "Typed in another window"
		status, page = c.post(path+"/edit", edited)
		assert.Equal(t, http.StatusConflict, status, "the form is from before the change")
		assert.Contains(t, page, "Typed in another window", "nothing typed is lost")

		status, page = c.decide(path+"/withdraw", map[string]string{"reason": " "})
		assert.Equal(t, http.StatusUnprocessableEntity, status)
		assert.Contains(t, page, "Give a reason")
		status, _ = c.decide(path+"/withdraw", map[string]string{"reason": "The instrument was broken."})
		require.Equal(t, http.StatusGone, status)
		_, v = c.settled(path)
		assert.Equal(t, "withdrawn", v.Status())
		for _, name := range []string{d.DOI, v.DOI} {
			assert.Equal(t, "registered", srv.State(name), "it resolves, to a page that says what was there")
		}
		status, page = reader.get(path)
		assert.Equal(t, http.StatusGone, status)
		assert.Contains(t, page, "The instrument was broken.")
		status, _ = reader.get(path + "/files/lengths.csv")
		assert.Equal(t, http.StatusNotFound, status)
		_, page = reader.get("/")
		assert.NotContains(t, page, "Glacier")

		status, page = c.decide(path+"/publish", nil)
		require.Equal(t, http.StatusOK, status, page)
		status, page = c.post(path+"/publish", nil)
		assert.Equal(t, http.StatusConflict, status, "a second click")
		assert.Contains(t, page, "<h1>The dataset has changed in the meantime</h1>")
		c.settled(path)
		for _, name := range []string{d.DOI, v.DOI} {
			assert.Equal(t, "findable", srv.State(name))
		}
		_, page = reader.get(path)
		assert.NotContains(t, page, "withdrawn")
		assert.Len(t, srv.Names(), 2)
	})
}

func TestVersions(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		reader, c := curated(t, srv)
		first := c.publish("Glacier length")
		d, v1 := c.settled(first)
		home := d.Path()

		status, second := c.post(first+"/version", nil)
		require.Equal(t, http.StatusOK, status, second)
		assert.NotEqual(t, first, second)
		status, again := c.post(first+"/version", nil)
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, second, again, "there is one draft at a time")
		status, _ = reader.get(second)
		assert.Equal(t, http.StatusNotFound, status)
		_, page := c.get(second)
		assert.Contains(t, page, `<a href="`+first+`">Version 1</a>`)
		assert.NotContains(t, page, "citation_")
		_, address, _ := reader.do(http.MethodGet, home, "", nil)
		assert.Equal(t, first, address, "a draft is not the latest version")
		status, page = c.upload(second, "lengths-2.csv", "month,length\n2,3\n")
		require.Equal(t, http.StatusOK, status, page)
		status, _ = c.upload(first, "late.csv", "x")
		assert.Equal(t, http.StatusConflict, status, "the files of a published version do not change")

		status, page = c.decide(second+"/publish", nil)
		require.Equal(t, http.StatusOK, status, page)
		_, v2 := c.settled(second)
		assert.Equal(t, []string{"IsVersionOf " + d.DOI, "IsPreviousVersionOf " + v2.DOI}, related(t, srv, v1.DOI))
		assert.Equal(t, []string{"IsVersionOf " + d.DOI, "IsNewVersionOf " + v1.DOI}, related(t, srv, v2.DOI))
		assert.Equal(t, []string{"HasVersion " + v1.DOI, "HasVersion " + v2.DOI}, related(t, srv, d.DOI))
		_, address, _ = reader.do(http.MethodGet, home, "", nil)
		assert.Equal(t, second, address)
		_, page = reader.get(first)
		assert.Contains(t, page, "There is a newer version")
		_, page = reader.get("/?q=glacier")
		assert.Equal(t, 1, strings.Count(page, "Glacier length"), "a dataset is found once")

		c.decide(second+"/withdraw", map[string]string{"reason": "Wrong month."})
		c.settled(second)
		assert.Equal(t, "registered", srv.State(v2.DOI))
		assert.Equal(t, "findable", srv.State(v1.DOI))
		assert.Equal(t, "findable", srv.State(d.DOI))
		_, address, _ = reader.do(http.MethodGet, home, "", nil)
		assert.Equal(t, first, address, "the concept DOI leads to what can still be had")

		_, third := c.post(first+"/version", nil)
		status, _ = c.decide(third+"/discard", nil)
		assert.Equal(t, http.StatusOK, status)
		status, _ = c.get(third)
		assert.Equal(t, http.StatusNotFound, status)
		assert.Len(t, srv.Names(), 3)
	})
}

func TestEmbargo(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		reader, c := curated(t, srv)
		until := time.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)
		form := fields("Glacier length")
		form["embargo"] = until
		path := c.draft(form)
		status, page := c.decide(path+"/publish", nil)
		require.Equal(t, http.StatusOK, status, page)
		_, v := c.settled(path)
		record, err := srv.DOIs().Get(t.Context(), v.DOI, nil)
		require.NoError(t, err)
		dates := map[metadata.DateType]string{}
		for _, date := range record.Dates {
			dates[date.DateType] = date.Date
		}
		assert.Equal(t, until, dates[metadata.DateAvailable])
		assert.Equal(t, v.Published, dates[metadata.DateAccepted])

		_, page = reader.get(path)
		assert.Contains(t, page, "public from "+until)
		assert.Contains(t, page, "Monthly lengths", "the metadata is public")
		assert.NotContains(t, page, "lengths.csv")
		status, there := reader.get(path + "/files/lengths.csv")
		assert.Equal(t, http.StatusForbidden, status)
		status, none := reader.get(path + "/files/none.csv")
		assert.Equal(t, http.StatusForbidden, status, "which files there are is not public, either")
		assert.Equal(t, strings.ReplaceAll(there, "lengths.csv", "none.csv"), none)
		status, _ = c.get(path + "/files/lengths.csv")
		assert.Equal(t, http.StatusOK, status, "its curator has it")
		status, _ = c.get(path + "/files/none.csv")
		assert.Equal(t, http.StatusNotFound, status)

		form["embargo"] = time.Now().UTC().Format(time.DateOnly)
		form["revision"] = fmt.Sprint(v.Revision)
		status, page = c.post(path+"/edit", form)
		require.Equal(t, http.StatusOK, status, page)
		status, file := reader.get(path + "/files/lengths.csv")
		assert.Equal(t, http.StatusOK, status, "the day has come")
		assert.Equal(t, "month,length\n", file)
		_, next := c.post(path+"/version", nil)
		_, v = c.now(next)
		assert.Empty(t, v.About.Embargo, "it is over")
	})
}

// A name that is taken is somebody else's: it is left alone, and another is chosen.
func TestANameThatIsTaken(t *testing.T) {
	srv := serve(t, &datacitetest.Options{Faults: func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: datacitetest.FaultStatus}
	}})
	c := open(t, srv).as("ada")
	d, v := c.now(c.draft(fields("Glacier")))
	_, page := c.get(v.Path())
	assert.Contains(t, page, v.Address()+", not reserved yet")
	taken := []string{d.DOI, v.DOI}
	for _, name := range taken {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
			`{"doi":%q,"titles":[{"title":"Of another system"}],"state":"findable"}`, name)))
	}
	srv.SetFaults(nil)
	draft := func() *dataset.Version {
		d, err := c.platform.store.Dataset(t.Context(), d.ID)
		require.NoError(t, err)
		return d.Last()
	}
	require.Eventually(t, func() bool { return draft().Claimed }, patience, 5*time.Millisecond)
	path := draft().Path()
	_, page = c.get(path)
	assert.Contains(t, page, draft().Address()+", reserved")
	c.decide(path+"/publish", nil)
	d, v = c.settled(path)
	assert.NotContains(t, taken, d.DOI)
	assert.NotContains(t, taken, v.DOI)
	assert.Equal(t, "findable", srv.State(v.DOI))
	for _, name := range taken {
		record, err := srv.DOIs().Get(t.Context(), name, nil)
		require.NoError(t, err)
		assert.Equal(t, "Of another system", record.Titles[0].Title)
	}
}

// The check of the service's records finds what others did to them, and puts it right.
func TestCheck(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		c := open(t, srv).as("ada")
		var paths, names []string
		for _, title := range []string{"Hidden", "Moved", "Renamed", "Right"} {
			path := c.publish(title)
			_, v := c.settled(path)
			paths, names = append(paths, path), append(names, v.DOI)
		}
		require.NoError(t, srv.MDS().Hide(t.Context(), names[0]))
		_, err := srv.MDS().PutURL(t.Context(), names[1], "https://elsewhere.example.org/")
		require.NoError(t, err)
		_, err = srv.DOIs().Update(t.Context(), names[2],
			&dois.Draft{Record: metadata.Record{Titles: []metadata.Title{{Title: "Another title"}}}})
		require.NoError(t, err)
		require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/foreign","viewCount":3}`)))

		status, text := c.post("/status/check", nil)
		require.Equal(t, http.StatusOK, status, text)
		var page string
		require.Eventually(t, func() bool {
			_, page = c.get("/status")
			return strings.Contains(page, "10.5072/foreign")
		}, patience, 5*time.Millisecond)
		for _, want := range []string{names[0] + ": state", names[1] + ": url", names[2] + ": titles[0].title",
			"10.5072/foreign is registered and belongs to no public dataset"} {
			assert.Contains(t, page, want)
		}
		assert.NotContains(t, page, names[3])
		for _, path := range paths {
			c.settled(path)
		}
		c.background(c.platform.outbox.Check)
		_, texts, err := c.platform.store.Findings(t.Context())
		require.NoError(t, err)
		assert.Len(t, texts, 1, "only the foreign DOI is left")
	})
}

// Datasets that wait for their first registration are no findings, and no failure of the check.
func TestCheckBeforeTheFirstRegistration(t *testing.T) {
	srv := serve(t, nil)
	config := settings(srv, filepath.Join(t.TempDir(), "data"))
	fillFolder(t, config)
	p, err := Open(config)
	require.NoError(t, err)
	defer p.Close()
	require.NoError(t, p.outbox.Check(t.Context()))
	at, texts, err := p.store.Findings(t.Context())
	require.NoError(t, err)
	assert.Empty(t, texts)
	assert.False(t, at.IsZero())
}

func TestCommandLine(t *testing.T) {
	for _, name := range []string{"DATACITE_SERVICE", "DATACITE_USERNAME", "DATACITE_PASSWORD", "DATACITE_TOKEN"} {
		t.Setenv(name, "")
	}
	var out bytes.Buffer
	folder := filepath.Join(t.TempDir(), "data")
	for line, want := range map[string]string{
		"extra":                     `unknown command "extra"`,
		"--proxy proxy.example.org": "--proxy",
		"--servce test":             "--servce; platform -h lists the flags",
		"--service tset":            `--service: "tset" is not test, production or a URL`,
		"--service test": "the service test needs --data, --prefix, --public, DATACITE_USERNAME, " +
			"DATACITE_PASSWORD",
		"--log xml":                                `--log is "xml"`,
		"account add ada":                          "--data is missing",
		"account add --data " + folder:             "accepts 1 arg",
		"--data " + folder + " --listen 192.0.2.1": "listen tcp 192.0.2.1:8090",
	} {
		require.NoError(t, os.MkdirAll(folder, 0o700))
		err := run(t.Context(), strings.Fields(line), &out, io.Discard)
		assert.ErrorContains(t, err, want, line)
		assert.Equal(t, 2, code(err), line)
	}
	t.Setenv("DATACITE_USERNAME", "EXAMPLE.REPO")
	t.Setenv("DATACITE_PASSWORD", "secret")
	err := run(t.Context(), strings.Fields("--service test --prefix 10.1234 --public data.example.org --data "+folder),
		&out, io.Discard)
	assert.ErrorContains(t, err, `--public: "data.example.org" is not the address of a host`)
	err = run(t.Context(), strings.Fields("backup --data "+folder), &out, io.Discard)
	assert.ErrorContains(t, err, "backup needs one folder to copy to")
	assert.Equal(t, 2, code(err))
	t.Setenv("DATACITE_SERVICE", "production")
	assert.ErrorContains(t, run(t.Context(), nil, &out, io.Discard),
		"the service production needs --data, --prefix, --public", "a demonstration registers no real DOI")
	t.Setenv("DATACITE_SERVICE", "")

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	pages, lines := io.Pipe()
	go func() { ended <- run(ctx, []string{"--port", "0"}, lines, io.Discard) }()
	var address string
	_, err = fmt.Fscanf(pages, "The registration service runs in memory: no real DOI is registered.\nThe repository is "+
		"at %s", &address)
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, pages) }()
	res, err := http.Get(address)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusOK, res.StatusCode)
	stop()
	assert.NoError(t, <-ended)
}

// Whoever may log in is said on the command line.
func TestAccounts(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	var out bytes.Buffer
	account := func(words ...string) error {
		out.Reset()
		return run(t.Context(), append([]string{"account", "--data", folder}, words...), &out, io.Discard)
	}
	require.NoError(t, account("add", "ada", "--administrator"))
	assert.Regexp(t, `^The login ada has the password [A-Z2-7]{26} `, out.String())
	require.NoError(t, account("add", "eve"))
	require.NoError(t, account("add", "ada"), "another password")
	require.NoError(t, account("role", "eve", "administrator"))
	require.NoError(t, account("list"))
	assert.Equal(t, "ada\tadministrator\neve\tadministrator\n", out.String(), "the role stays")
	require.NoError(t, account("role", "ada", "curator"))
	require.NoError(t, account("list"))
	assert.Equal(t, "ada\neve\tadministrator\n", out.String())
	s, err := store.Open(folder)
	require.NoError(t, err)
	for range 2 {
		_, err = s.Create(t.Context(), "eve", "", "10.5072", dataset.About{})
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	for line, want := range map[string]string{
		"role ada owner": `"owner" is not administrator or curator`, "role nobody curator": `no curator "nobody"`,
		"remove nobody":            `no curator "nobody"`,
		"remove eve --heir nobody": `no curator "nobody"`, "remove nobody --heir ada": `no curator "nobody"`, "remove eve --heir eve": `"eve" cannot be the heir of "eve"`,
		"add e\ae": accounts.ErrName.Error(), "add " + strings.Repeat("e", 300): accounts.ErrName.Error(),
	} {
		err := account(strings.Fields(line)...)
		assert.ErrorContains(t, err, want, line)
		assert.Equal(t, 2, code(err), line)
	}
	for _, name := range []string{"", " eve"} {
		assert.ErrorIs(t, account("add", name), accounts.ErrName, "nobody can log in as %q", name)
	}
	require.NoError(t, account("remove", "eve", "--heir", "ada"))
	assert.Contains(t, out.String(), "2 datasets of eve belong to ada now")
	require.NoError(t, account("remove", "ada"))
	require.NoError(t, account("list"))
	assert.Empty(t, out.String())
}

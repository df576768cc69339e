package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/examples/platform/pages"
	"github.com/datacite-go/datacite-go/examples/platform/store"
	"github.com/datacite-go/datacite-go/examples/platform/usage"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// headers returns the status and the headers of a page, without following redirects.
func (c *person) headers(method, path string) (status int, h http.Header) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.url+path, nil)
	require.NoError(c, err)
	client := *c.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	require.NoError(c, err)
	_, _ = io.Copy(io.Discard, res.Body)
	require.NoError(c, res.Body.Close())
	return res.StatusCode, res.Header
}

// A cache in front of the pages stores what everybody may see, for as long as the header says
// to, and nothing else.
func TestCaches(t *testing.T) {
	srv := serve(t, nil)
	reader := open(t, srv)
	ada := reader.as("ada")
	public, withdrawn, draft := ada.publish("Public"), ada.publish("Withdrawn"), ada.draft(fields("Draft"))
	form := fields("Embargoed")
	form["embargo"] = time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	embargoed := ada.draft(form)
	ada.decide(embargoed+"/publish", nil)
	ada.decide(withdrawn+"/withdraw", map[string]string{"reason": "Wrong."})
	concept, _ := ada.now(public)
	for _, tt := range []struct {
		path   string
		public bool // may be stored; what somebody gets who is logged in may not
	}{
		{"/", true},
		{"/?q=glacier", true},
		{"/style.css", true},
		{public, true},
		{concept.Path(), true},
		{public + "/files/lengths.csv", true},
		{public + "/export/datacite.xml", true},
		{public + "/export/datacite.json", true},
		{public + "/export/bibtex.bib", true},
		{public + "/export/citation.txt", true},
		{public + "/files/none.csv", false},
		{public + "/edit", false},
		{embargoed, true},
		{embargoed + "/export/datacite.xml", true},
		{embargoed + "/files/lengths.csv", false},
		{withdrawn, true},
		{withdrawn + "/files/lengths.csv", false},
		{draft, false},
		{draft + "/files/lengths.csv", false},
		{draft + "/export/datacite.xml", false},
		{draft + "/export/citation.txt", false},
		{"/login", false}, // the page that it leads to is in it
		{"/mine", false},
		{"/nowhere", false},
	} {
		for _, who := range []*person{reader, ada} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				status, h := who.headers(method, tt.path)
				control := h.Get("Cache-Control")
				assert.Contains(t, strings.Join(h.Values("Vary"), ","), "Cookie", "%s %d", tt.path, status)
				if tt.public && (who == reader || tt.path == "/style.css") {
					assert.Regexp(t, `^public, max-age=\d+`, control, "%s %d", tt.path, status)
				} else {
					assert.Equal(t, "private, no-store", control, "%s %d", tt.path, status)
				}
			}
		}
	}
	for _, path := range []string{"/logout", "/nowhere", "/login"} { // and what comes of forms
		_, h := ada.headers(http.MethodPost, path)
		assert.Equal(t, "private, no-store", h.Get("Cache-Control"), path)
	}
}

// database runs SQL beside the platform.
func (c *person) database(statements string) {
	c.Helper()
	db, err := sql.Open("sqlite", filepath.Join(c.folder(), "platform.db")+"?_pragma=busy_timeout(10000)")
	require.NoError(c, err)
	_, err = db.Exec(statements)
	require.NoError(c, errors.Join(err, db.Close()))
}

// accesses are all that are stored.
func (c *person) accesses() (all []counter.Event) {
	c.Helper()
	c.platform.counter.Keep(c.Context()) // they are stored after their pages were sent
	for e, err := range c.platform.store.Accesses(c.Context(), time.Unix(0, 0), time.Now().AddDate(1, 0, 0)) {
		require.NoError(c, err)
		all = append(all, e)
	}
	return all
}

// What readers send is not stored but for what counting needs, and not without a limit. What
// is beyond the limit is missed, and curators see that.
func TestReadersCannotFillTheDisk(t *testing.T) {
	_, _, c := repository(t, func(c *Config) { c.Usage = usage.Limits{Day: 100, Visitor: 9} })
	path := c.publish("Glacier")
	c.settled(path)
	long := strings.Repeat("x", 7000)
	for i := range 20 { // networks
		for range 4 {
			for _, page := range []string{path, path + "/files/lengths.csv", path + "/export/citation.txt"} {
				require.Equal(t, http.StatusOK,
					c.visit(visit{"GET", page + "?" + long, fmt.Sprint("203.0.113.", i), long, firefox + long, ""}))
			}
		}
	}
	accesses := c.accesses()
	assert.Len(t, accesses, 100)
	from := map[string]int{}
	for _, e := range accesses {
		from[e.Address]++
		assert.LessOrEqual(t, len(e.URL)+len(e.Agent), 300)
	}
	for address, n := range from {
		assert.LessOrEqual(t, n, 9, address)
	}
	// and the curator was led to the page
	missed := fmt.Sprintf("Accesses that are missing in the report of %s: %d.", time.Now().UTC().Format("2006-01"),
		1+20*12-100)
	_, page := c.get("/status")
	assert.Contains(t, page, missed)
	c.background(c.platform.counter.Count)
	_, page = c.get("/status")
	assert.Contains(t, page, missed, "and after a restart")
}

// A page is shown whether or not its access can be counted.
func TestPagesDoNotNeedCounting(t *testing.T) {
	_, _, c := repository(t)
	path := c.publish("Glacier")
	c.settled(path)
	c.accesses() // the curator was led to the page
	c.database(`CREATE TRIGGER full BEFORE INSERT ON access BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`)
	for _, page := range []string{path, path + "/export/datacite.xml", path + "/export/citation.txt",
		path + "/files/lengths.csv"} {
		assert.Equal(t, http.StatusOK, c.visit(visit{"GET", page, "203.0.113.1", "", firefox, ""}), page)
	}
	c.platform.counter.Keep(t.Context())
	_, page := c.get("/status")
	assert.Regexp(t, `missing in the report of [\d-]+: 4\.`, page)
}

// A body is read for forms and uploads only, so nobody who is not logged in can send a
// large one.
func TestBodiesAreBounded(t *testing.T) {
	srv := serve(t, nil)
	c := open(t, srv)
	t.Setenv("TMPDIR", t.TempDir())
	for _, path := range []string{"/", "/login", "/mine", "/nowhere"} {
		contentType, form := multipartForm("large.bin", "")
		begin, _, _ := bytes.Cut(form.Bytes(), []byte("\r\n\r\n"))
		read := &endless{begin: strings.NewReader(string(begin) + "\r\n\r\n"), most: 64 << 20}
		r := httptest.NewRequest(http.MethodGet, path, read)
		r.Host = "repository.example.org"
		r.Header.Set("Content-Type", contentType)
		c.platform.pages.Handler().ServeHTTP(httptest.NewRecorder(), r)
		assert.Less(t, read.read, 3<<20, path)
	}

	c = c.as("ada") // whose form of a megabyte does not make a page of a hundred
	for creators, want := range map[int]int{50: http.StatusUnprocessableEntity, 51: http.StatusRequestEntityTooLarge,
		9000: http.StatusRequestEntityTooLarge, 60_000: http.StatusBadRequest} {
		var form strings.Builder
		for i := range creators {
			fmt.Fprintf(&form, "family%d=a&", i)
		}
		status, _, page := c.do(http.MethodPost, "/new", "application/x-www-form-urlencoded",
			strings.NewReader(form.String()))
		assert.Equal(t, want, status, creators)
		assert.Less(t, len(page), 1<<19, creators)
	}
}

// endless is a body that begins like a form, and does not end for a long time.
type endless struct {
	begin      io.Reader
	read, most int
}

func (e *endless) Read(buf []byte) (int, error) {
	n, _ := e.begin.Read(buf)
	if n == 0 {
		n = len(buf)
	}
	if e.read += n; e.read > e.most {
		return 0, io.ErrUnexpectedEOF
	}
	return n, nil
}

// Whoever tries many passwords at once has as many tries as one after the other, and the
// owner logs in meanwhile.
func TestManyWrongPasswordsAtOnce(t *testing.T) {
	srv := serve(t, nil)
	c := open(t, srv, func(c *Config) { c.Cost = 8 }) // so that tries meet each other
	require.NoError(t, c.platform.accounts.Add(t.Context(), "ada", password))
	known := c.as("ada") // a browser that has logged in here
	known.post("/logout", nil)
	statuses := make(chan int, 60)
	var tries sync.WaitGroup
	for range cap(statuses) {
		tries.Go(func() {
			res, err := http.PostForm(c.url+"/login", url.Values{"name": {"ada"}, "password": {"a guess of somebody"}})
			if assert.NoError(t, err) {
				assert.NoError(t, res.Body.Close())
				statuses <- res.StatusCode
			}
		})
	}
	tries.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	assert.Equal(t, map[int]int{http.StatusUnauthorized: 10, http.StatusTooManyRequests: 50}, count)
	_, page := known.post("/login", map[string]string{"name": "ada", "password": password})
	assert.Equal(t, "/mine", page, "from the same address, in a browser that is known")
}

// kept are the files on the disk.
func (c *person) kept() (names []string) {
	c.Helper()
	entries, err := os.ReadDir(filepath.Join(c.folder(), "files"))
	require.NoError(c, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// What a page says is removed is not on the disk any more.
func TestDeletingDeletes(t *testing.T) {
	srv, _, c := repository(t, func(c *Config) { c.Limits = pages.Limits{Files: 3, Bytes: 1000} })
	_, path := c.post("/new", fields("Glacier"))
	c.upload(path, "a.csv", "one", "b.csv", strings.Repeat("x", 1001))
	assert.Empty(t, c.kept(), "the second file was too large, so nothing was kept")
	c.upload(path, "a.csv", "one", "a.csv", "two")
	assert.Empty(t, c.kept(), "two files of one name")
	contentType, form := multipartForm("a.csv", "one", "b.csv", strings.Repeat("two", 100))
	for _, missing := range []int{5, 60, 100, form.Len() - 10} {
		status, _, page := c.do(http.MethodPost, path+"/files", contentType,
			bytes.NewReader(form.Bytes()[:form.Len()-missing]))
		assert.Equal(t, http.StatusBadRequest, status, missing)
		assert.Contains(t, page, "The upload was interrupted")
		assert.Empty(t, c.kept(), "an upload that broke off")
	}

	c.upload(path, "a.csv", "one", "same.csv", "one")
	assert.Len(t, c.kept(), 1)
	c.post(path+"/remove", map[string]string{"name": "a.csv"})
	assert.Len(t, c.kept(), 1, "the other file has the same bytes")
	c.post(path+"/remove", map[string]string{"name": "same.csv"})
	assert.Empty(t, c.kept())

	c.upload(path, "a.csv", "one")
	_, other := c.post("/new", fields("Stones"))
	c.upload(other, "a.csv", "one", "b.csv", "two")
	c.decide(other+"/discard", nil)
	assert.Len(t, c.kept(), 1, "another dataset has the same bytes")
	c.decide(path+"/publish", nil)
	_, next := c.post(path+"/version", nil)
	c.upload(next, "b.csv", "two")
	assert.Len(t, c.kept(), 2)
	c.decide(next+"/discard", nil)
	assert.Len(t, c.kept(), 1)

	// Somebody whose data are in a file withdraws the consent.
	status, _ := c.post(path+"/erase", nil)
	assert.Equal(t, http.StatusConflict, status, "what is published stays")
	c.decide(path+"/withdraw", map[string]string{"reason": "A consent was withdrawn."})
	assert.Len(t, c.kept(), 1, "it can be published again")
	status, _ = c.decide(path+"/erase", nil)
	assert.Equal(t, http.StatusGone, status)
	assert.Empty(t, c.kept())
	d, v := c.settled(path)
	record, err := srv.DOIs().Get(t.Context(), v.DOI, nil)
	require.NoError(t, err)
	assert.Empty(t, record.Sizes)
	assert.Equal(t, "withdrawn", v.Status())
	assert.Empty(t, v.About.Description)
	for _, name := range []string{"platform.db", "platform.db-wal"} {
		data, err := os.ReadFile(filepath.Join(c.platform.counter.Folder, name))
		require.NoError(t, err)
		assert.NotContains(t, string(data), "Measured by hand", "the description is gone from %s", name)
	}
	status, _ = c.post(path+"/publish", nil)
	assert.Equal(t, http.StatusConflict, status)
	_, page := c.get(d.Path())
	assert.NotContains(t, page, "Publish again")
}

// A file is deleted while another dataset gets the same bytes: neither takes the file of
// the other.
func TestDeletingBesideUploads(t *testing.T) {
	_, _, c := repository(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 4 {
				_, path := c.post("/new", fields("Glacier"))
				status, page := c.upload(path, "a.csv", "the same", "b.csv", "the same", "c.csv", fmt.Sprint("another ", i))
				assert.Equal(t, http.StatusOK, status, page)
				status, _ = c.get(path + "/files/a.csv")
				assert.Equal(t, http.StatusOK, status)
				status, _ = c.decide(path+"/discard", nil)
				assert.Equal(t, http.StatusOK, status)
			}
		})
	}
	all.Wait()
	assert.Empty(t, c.kept())
}

// A clock that steps back does not take away what was reported, not after a restart
// either. What cannot be counted is logged.
func TestAClockThatStepsBack(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		folder := filepath.Join(t.TempDir(), "data")
		now := time.Now().UTC()
		month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
		later := month.AddDate(0, 1, 0).Add(time.Hour)
		report := func(c *person) {
			c.background(func(ctx context.Context) error { return c.platform.counter.ReportDue(ctx, later) })
		}
		var path string
		t.Run("before", func(t *testing.T) {
			c := open(t, srv, func(c *Config) { c.Folder = folder }).as("ada")
			path = c.publish("Glacier")
			c.settled(path)
			for i := range 10 { // and the curator was led to the page
				c.visit(visit{"GET", path, fmt.Sprint("203.0.113.", i), "", firefox, ""})
			}
			report(c)
			require.EqualValues(t, 11, stored(t, srv)["unique-dataset-investigations regular"])
		})
		t.Run("after a restart", func(t *testing.T) {
			c := open(t, srv, func(c *Config) { c.Folder = folder }).as("ada")
			require.Equal(t, 200, c.visit(visit{"GET", path, "203.0.113.77", "", firefox, ""})) // it is the month before again
			_, v := c.now(path)
			final, err := c.platform.store.Accessed(t.Context(),
				store.Access{Dataset: v.Dataset, Number: v.Number,
					Event: counter.Event{Time: time.Unix(1000, 0), URL: path, Address: "a", Agent: firefox}})
			require.NoError(t, err)
			assert.Equal(t, 1, final, "nobody reads what is not published yet")
			c.background(c.platform.counter.Count)
			report(c)
			c.platform.pages.ReportNow()
			require.Eventually(t, func() bool {
				_, page := c.get("/status")
				return strings.Contains(page, "was not sent: the complete report was sent before; is the clock right?")
			}, patience, 5*time.Millisecond)
			assert.EqualValues(t, 11, stored(t, srv)["unique-dataset-investigations regular"])
			own, _, err := c.platform.store.Usage(t.Context(), v.DOI)
			require.NoError(t, err)
			assert.EqualValues(t, 11, own.Views)
			ahead := now.AddDate(10, 0, 0)
			_, err = c.platform.store.Accessed(t.Context(),
				store.Access{Dataset: v.Dataset, Number: v.Number,
					Event: counter.Event{Time: ahead, URL: path, Address: "a", Agent: firefox}})
			require.NoError(t, err)
			_, page := c.get("/status")
			assert.Contains(t, page, fmt.Sprintf("Accesses that are missing in the report of %s: 1.", month.Format("2006-01")))
			assert.Contains(t, page, fmt.Sprintf("There are accesses of %s, which has not begun.", ahead.Format("2006-01")))
		})
	})
}

// A month is not replaced by less because accesses were lost.
func TestAReportDoesNotShrink(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		c := open(t, srv).as("ada")
		path := c.publish("Glacier")
		c.settled(path)
		for i := range 10 {
			c.visit(visit{"GET", path, fmt.Sprint("203.0.113.", i), "", firefox, ""})
		}
		c.background(c.platform.reportSoFar)
		require.EqualValues(t, 11, stored(t, srv)["unique-dataset-investigations regular"])
		c.database(`DELETE FROM access WHERE rowid > 1; DELETE FROM report`) // an old copy was restored
		now := time.Now().UTC()
		month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
		later := month.AddDate(0, 1, 0).Add(time.Hour)
		due := func() (err error) {
			c.background(func(ctx context.Context) error {
				err = c.platform.counter.ReportDue(ctx, later)
				return nil
			})
			return err
		}
		assert.ErrorIs(t, due(), datacite.ErrConflict)
		assert.EqualValues(t, 11, stored(t, srv)["unique-dataset-investigations regular"])
		_, page := c.get("/status")
		assert.Contains(t, page, "was not sent")
	})
}

// After logging in, only a page of the repository is next. By https, the cookie goes to this host only
// and never in the clear, and no script reads it.
func TestNextPage(t *testing.T) {
	reader := open(t, serve(t, nil), func(c *Config) { c.By.Public = "https://repository.example.org" })
	require.NoError(t, reader.platform.accounts.Add(t.Context(), "ada", password))
	for next, want := range map[string]string{
		"/datasets/x/edit?x=1": "/datasets/x/edit?x=1",
		"/status":              "/status",
		"":                     "/mine",
		"/%09/evil.example":    "/%09/evil.example",
		"/\t/evil.example":     "/mine",
		"/\n/evil.example":     "/mine",
		"/\r\n/evil.example":   "/mine",
		"\t//evil.example":     "/mine",
		"//evil.example":       "/mine",
		"///evil.example":      "/mine",
		"/.//evil.example":     "/mine",
		"/x/..//evil.example":  "/mine",
		`/\evil.example`:       "/mine",
		`\\evil.example`:       "/mine",
		`/x\..\\evil.example`:  "/mine",
		"https://evil.example": "/mine",
		"javascript:alert(1)":  "/mine",
		"evil.example":         "/mine",
		"/\x00/evil.example":   "/mine",
		"/ /evil.example":      "/%20/evil.example",
		"/\u00a0/evil.example": "/%C2%A0/evil.example",
	} {
		r := httptest.NewRequest(http.MethodPost, "/login",
			encode(map[string]string{"name": "ada", "password": password, "next": next}))
		r.Host = "repository.example.org"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		reader.platform.pages.Handler().ServeHTTP(w, r)
		assert.Equal(t, http.StatusSeeOther, w.Code)
		assert.Equal(t, want, w.Header().Get("Location"), "%q", next)
		cookie := w.Result().Cookies()[0]
		assert.Equal(t, "__Host-session", cookie.Name)
		assert.True(t, cookie.Secure && cookie.HttpOnly && cookie.SameSite == http.SameSiteLaxMode && cookie.Path == "/" &&
			cookie.Domain == "")
	}
}

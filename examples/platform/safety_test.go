package main

import (
	"bytes"
	"cmp"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/examples/platform/accounts"
	"github.com/datacite-go/datacite-go/examples/platform/pages"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

// Drafts and their files are for their owners, and only they change what is public.
func TestWhoMayDoWhat(t *testing.T) {
	srv := serve(t, nil)
	reader := open(t, srv)
	ada, grace := reader.as("ada"), reader.as("grace")
	public := ada.publish("Public")
	ada.settled(public)
	draft := ada.draft(fields("Secret"))
	for _, tt := range []struct {
		method, path          string
		reader, grace         int // of the draft
		publicReader, another int // of the published dataset
	}{
		{"GET", "", 404, 404, 200, 200},
		{"GET", "/files/lengths.csv", 404, 404, 200, 200},
		{"GET", "/export/datacite.xml", 404, 404, 200, 200},
		{"GET", "/edit", 200, 404, 200, 403}, // the reader is led to the login
		{"GET", "/publish", 200, 404, 200, 403},
		{"GET", "/withdraw", 200, 404, 200, 403},
		{"GET", "/files.zip", 404, 404, 200, 200},
		{"GET", "/discard", 200, 404, 200, 403},
		{"GET", "/erase", 200, 404, 200, 403},
		{"POST", "/edit", 401, 404, 401, 403},
		{"POST", "/files", 401, 404, 401, 403},
		{"POST", "/remove", 401, 404, 401, 403},
		{"POST", "/publish", 401, 404, 401, 403},
		{"POST", "/withdraw", 401, 404, 401, 403},
		{"POST", "/discard", 401, 404, 401, 403},
		{"POST", "/erase", 401, 404, 401, 403},
		{"POST", "/version", 401, 404, 401, 403},
	} {
		for _, ask := range []struct {
			who    *person
			path   string
			status int
		}{
			{reader, draft, tt.reader}, {grace, draft, tt.grace}, {reader, public, tt.publicReader}, {grace, public, tt.another},
			// as if the draft did not exist
			{reader, "/datasets/9999-9999", tt.reader}, {grace, "/datasets/9999-9999", tt.grace},
		} {
			status, address, page := ask.who.do(tt.method, ask.path+tt.path, "application/x-www-form-urlencoded",
				strings.NewReader("reason=x&name=lengths.csv"))
			assert.Equal(t, ask.status, status, "%s %s: %s", tt.method, ask.path+tt.path, page)
			if status == http.StatusOK && tt.reader == 200 {
				assert.Equal(t, "/login", address)
			}
			assert.NotContains(t, page, "Secret")
		}
	}
	concept, _ := ada.now(draft)
	status, _ := reader.get(concept.Path())
	assert.Equal(t, http.StatusNotFound, status)
	for _, page := range []string{"/", "/?q=secret", "/mine"} {
		_, text := grace.get(page)
		assert.NotContains(t, text, "Secret", page)
	}
	for _, page := range []string{"/mine", "/new", "/status", "/password"} {
		_, address, _ := reader.do(http.MethodGet, page, "", nil)
		assert.Equal(t, "/login", address, page)
	}
	for _, page := range []string{"/status/check", "/status/report", "/password"} {
		status, _ := reader.post(page, nil)
		assert.Equal(t, http.StatusUnauthorized, status, page)
	}
	for _, path := range []string{"/nowhere", "/datasets/x", "/datasets/1", "/datasets/1/1", "/datasets/1/0",
		public + "/files/other.csv", public + "/files/..%2f..%2fplatform.db", public + "/export/exe"} {
		status, _ := ada.get(path)
		assert.Equal(t, http.StatusNotFound, status, path)
	}
	d, v := ada.now(public)
	assert.Equal(t, "published", v.Status())
	assert.Len(t, d.Versions, 1)
}

func TestLogins(t *testing.T) {
	srv := serve(t, nil)
	var log lockedBuffer
	reader := open(t, srv, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	ada := reader.as("ada")
	a := reader.platform.accounts

	status, page := reader.post("/login", map[string]string{"name": "ada", "password": "wrong"})
	assert.Equal(t, http.StatusUnauthorized, status)
	assert.Contains(t, page, `value="ada"`, "what was typed is there")
	reader.post("/login", map[string]string{"name": "my secret password", "password": ""})
	assert.Contains(t, log.String(), `msg="login refused" curator=ada network=127.0.0.0/24 error="`)
	assert.Contains(t, log.String(), `msg="login refused" curator="" network=127.0.0.0/24 error="`)
	assert.NotContains(t, log.String(), "my secret password", "some people type it in the place of the name")
	_, _, err := a.Login(t.Context(), "nobody", password, accounts.From{Address: "192.0.2.1"})
	assert.ErrorIs(t, err, accounts.ErrWrong)

	status, page = ada.post("/password", map[string]string{"old": password, "new": "short"})
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, page, "12 characters")
	status, _ = ada.post("/password", map[string]string{"old": "wrong", "new": "another password"})
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	_, page = ada.post("/password", map[string]string{"old": password, "new": "another password"})
	assert.Equal(t, "/login", page)
	_, page = ada.post("/login", map[string]string{"name": "ada", "password": "another password",
		"next": "//elsewhere.example.org"})
	assert.Equal(t, "/mine", page, "another site is no next page")
	_, page = ada.post("/logout", nil)
	assert.Equal(t, "/", page)
	_, address, _ := ada.do(http.MethodGet, "/mine", "", nil)
	assert.Equal(t, "/login", address)

	// A session ends with the clock, and does not last longer when the clock steps back.
	ada = reader.as("ada")
	db, err := sql.Open("sqlite", accountsFile(reader.folder()))
	require.NoError(t, err)
	defer db.Close()
	for _, step := range [][2]string{{"0", "/mine"}, {"-43300", "/login"}, {"43300", "/mine"}, {"31536000", "/login"}} {
		_, err = db.Exec(`UPDATE session SET expires = expires + ` + step[0])
		require.NoError(t, err)
		_, address, _ := ada.do(http.MethodGet, "/mine", "", nil)
		assert.Equal(t, step[1], address, step[0])
	}

	grace := reader.as("grace")
	require.NoError(t, a.Remove(t.Context(), "grace"))
	_, address, _ = grace.do(http.MethodGet, "/mine", "", nil)
	assert.Equal(t, "/login", address, "a removed login has no session")
}

// A page of another site cannot press buttons here, nor read pages under a name of its
// own.
func TestOtherSites(t *testing.T) {
	_, _, c := repository(t)
	path := c.draft(fields("Glacier"))
	for header, value := range map[string]string{"Origin": "https://elsewhere.example.org",
		"Sec-Fetch-Site": "cross-site"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+path+"/publish", nil)
		require.NoError(t, err)
		req.Header.Set(header, value)
		res, err := c.client.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, http.StatusForbidden, res.StatusCode)
	}
	for host, want := range map[string]int{
		"repository.example.org": 200, "REPOSITORY.example.org": 200, "localhost:8090": 200, "127.0.0.1": 200,
		"[::1]:80":              200,
		"elsewhere.example.org": 421, "repository.example.org.elsewhere.example.org": 421, "192.0.2.1": 421, "localhost.example.org": 421, "": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		c.platform.pages.Handler().ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, host)
	}
}

func TestBoundedUploads(t *testing.T) {
	_, _, c := repository(t, func(c *Config) { c.Limits = pages.Limits{Files: 3, Bytes: 100} })
	_, path := c.post("/new", fields("Glacier"))
	for _, tt := range []struct {
		files []string
		want  string
	}{
		{[]string{"a.csv", strings.Repeat("x", 101)}, "a.csv is larger than 100 bytes"},
		{[]string{"a", "1", "b", "2", "c", "3", "d", "4"}, "3 files at most"},
		{[]string{"a", "1", "a", "2"}, "There is a file a already"},
		{[]string{".htaccess", "1"}, "Rename the file"},
		{[]string{"zero\u200bwidth.csv", "1"}, "Rename the file"},
		{[]string{strings.Repeat("a", 256), "1"}, "Rename the file"},
		{[]string{`tables\..\..\evil.exe`, "1"}, "Rename the file"}, // Windows would unpack it elsewhere
		{[]string{"", ""}, "Choose a file first"},
	} {
		status, page := c.upload(path, tt.files...)
		assert.Equal(t, http.StatusUnprocessableEntity, status, tt.want)
		assert.Contains(t, page, tt.want)
		_, v := c.now(path)
		assert.Empty(t, v.Files)
	}
	status, page := c.decide(path+"/publish", nil)
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, page, "needs a file")

	status, page = c.upload(path, "../../Gletscher Äletsch;.csv", "1", "b", strings.Repeat("x", 100))
	require.Equal(t, http.StatusOK, status, page)
	res, err := c.client.Get(c.url + path + "/files/Gletscher%20%C3%84letsch;.csv")
	require.NoError(t, err)
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, "1", string(data))
	assert.Equal(t, "attachment; filename*=utf-8''Gletscher%20%C3%84letsch%3B.csv", res.Header.Get("Content-Disposition"))
	status, _ = c.post(path+"/remove", map[string]string{"name": "b"})
	assert.Equal(t, http.StatusOK, status)
	_, v := c.now(path)
	assert.Len(t, v.Files, 1)

	status, page = c.post("/new", map[string]string{"title": strings.Repeat("x", 2<<20)})
	assert.Equal(t, http.StatusRequestEntityTooLarge, status)
	assert.Contains(t, page, "The form or the upload is too large")
}

// An upload goes to the disk while it arrives. If it breaks off, nothing of it stays.
func TestUploadsAreStreamed(t *testing.T) {
	_, _, c := repository(t)
	_, path := c.post("/new", fields("Glacier"))
	arriving := func() (size int64) {
		matches, err := filepath.Glob(filepath.Join(c.folder(), "files", "new-*"))
		require.NoError(t, err)
		for _, match := range matches {
			if info, err := os.Stat(match); err == nil {
				size += info.Size()
			}
		}
		return size
	}
	body, rest := io.Pipe()
	contentType, form := multipartForm("large.bin", "")
	begin, _, _ := bytes.Cut(form.Bytes(), []byte("\r\n\r\n"))
	ended := make(chan error, 1)
	go func() {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+path+"/files", body)
		req.Header.Set("Content-Type", contentType)
		res, err := c.client.Do(req)
		if err == nil {
			err = res.Body.Close()
		}
		ended <- err
	}()
	_, err := rest.Write(append(begin, "\r\n\r\n"...))
	require.NoError(t, err)
	_, err = rest.Write(bytes.Repeat([]byte("x"), 4<<20))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return arriving() > 3<<20 }, patience, time.Millisecond)
	require.NoError(t, rest.CloseWithError(io.ErrUnexpectedEOF))
	assert.Error(t, <-ended)
	require.Eventually(t, func() bool { return arriving() == 0 }, patience, time.Millisecond)
	_, v := c.now(path)
	assert.Empty(t, v.Files)
}

// folder is where the platform keeps its data.
func (c *person) folder() string { return c.platform.counter.Folder }

// Nobody else on the machine reads what is kept, and what belongs to no dataset is
// removed at the next start.
func TestWhatIsKept(t *testing.T) {
	_, _, c := repository(t)
	path := c.draft(fields("Glacier"))
	_, first := c.now(path)
	count := 0
	require.NoError(t, filepath.WalkDir(c.folder(), func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		assert.Equal(t, want, info.Mode().Perm(), path)
		if data, err := os.ReadFile(path); err == nil {
			assert.NotContains(t, string(data), password)
		}
		count++
		return nil
	}))
	assert.GreaterOrEqual(t, count, 5, "two databases, two folders and a file")

	c.post(path+"/remove", map[string]string{"name": "lengths.csv"})
	c.upload(path, "other.csv", "kept")
	_, v := c.now(path)
	for _, name := range []string{"new-1", strings.Repeat("0", 64), "notes.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(c.folder(), "files", name), []byte("broken off"), 0o600))
	}
	_, err := store.Open(c.folder())
	assert.ErrorContains(t, err, "another process uses")
	require.NoError(t, c.platform.store.Close())
	again, err := store.Open(c.folder())
	require.NoError(t, err)
	given, err := again.Give(t.Context(), "ada", "grace")
	require.NoError(t, err)
	assert.EqualValues(t, 1, given)
	theirs, err := again.Of(t.Context(), "grace", everything)
	require.NoError(t, err)
	assert.Len(t, theirs.Datasets, 1, "a curator who leaves has an heir")
	require.NoError(t, again.Close())
	assert.NoFileExists(t, filepath.Join(c.folder(), "files", "new-1"))
	assert.NoFileExists(t, filepath.Join(c.folder(), "files", strings.Repeat("0", 64)), "received, and of no version")
	assert.FileExists(t, filepath.Join(c.folder(), "files", "notes.txt"), "no file of the platform")
	assert.NoFileExists(t, filepath.Join(c.folder(), "files", first.Files[0].SHA256))
	assert.FileExists(t, filepath.Join(c.folder(), "files", v.Files[0].SHA256))

	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o755))
	_, err = store.Open(open)
	assert.ErrorContains(t, err, "run chmod 700 "+open)
}

// What is wrong is said beside the field to be put right, in words of the form, and nothing that was typed is lost
// or stored. Other fields of its row go before that field.
func TestFaultsOfForms(t *testing.T) {
	srv, _, c := repository(t)
	for _, tt := range []struct{ field, value, label, want string }{
		{"title", "", "Title", "Give the dataset a title"},
		{"title", "bell \a", "Title", "XML"},
		{"year", "26", "Year of an earlier publication", "four digits"},
		{"license", "CC-BY-5.0", "Licence", "no licence"},
		{"embargo", "tomorrow", "Files are public from", "2026-12-31"},
		{"embargo", "2020-01-01", "Files are public from", "This day is over"},
		{"orcid0", "0000-0001-5727-2428", "Creator 1, ORCID", "[Cc]heck digit"},
		{"orcid0", "javascript:alert(1)", "Creator 1, ORCID", "looks like"},
		{"ror0", "04wxnsj81", "Creator 1, ROR of the organisation", "A person has no ROR"},
		{"ror1", "https://ror.org/04wxnsj82", "Creator 2, ROR of the organisation", "check digits"},
		{"orcid1", "0000-0001-5727-2427", "Creator 2, ORCID", "ORCIDs are for persons"},
		{"family0", "", "Creator 1, Family name, or name of the organisation", "needs a family name"},
		{"affiliation0", "04wxnsj81", "Creator 1, Affiliations", "Name the organisation"},
		{"affiliation0", "Ice Club\nDataCite 04wxnsj82", "Creator 1, Affiliations", "check digits"},
		{"affiliation0", "DataCite https://ror.example.org/1", "Creator 1, Affiliations", "ROR"},
		{"affiliation1", "DataCite", "Creator 2, Affiliations", "has no affiliation"},
		{"funderror0", "x", "Funder 1, ROR", "looks like"},
		{"funder0", "", "Funder 1, Name", "Name the funder"},
		{"funderror0", "04wxnsj82", "Funder 1, ROR", "check digits"},
		{"year", "2100", "Year of an earlier publication", "cannot be after"},
		{"language", "klingon", "Language", "no such language"},
		{"language", "en_x!", "Language", "no such language"},
		{"keywords", "ice\nbell \a", "Keywords", "XML"},
		{"methods", "bell \a", "Methods", "XML"},
		{"type", "Stone", "Type", "resource type"},
		{"related0", "volume 3", "Related work 1, DOI or address of the work", "Give a DOI"},
		{"related0", "javascript:alert(1)", "Related work 1, DOI or address of the work", "Give a DOI"},
		{"related0=10.5072/abc&relation0", "x", "Related work 1, This dataset", ""},
		{"scheme0=GND&term0", "", "Term of a classification 1, Term", "Write the term"},
		{"term0=glaciers&scheme0", "", "Term of a classification 1, Classification", "Name the classification"},
		{"cofamily0=Byron&role0", "x", "Contributor 1, Role", ""},
		{"coorcid0=0000-0001-5727-2427&cofamily0", "", "Contributor 1, Family name, or name of the organisation",
			"A person needs a family name"},
	} {
		f := fields("Glacier <b>&</b>")
		var field string
		for part := range strings.SplitSeq(tt.field+"="+tt.value, "&") {
			name, value, _ := strings.Cut(part, "=")
			field, f[name] = name, value
		}
		status, page := c.post("/new", f)
		assert.Equal(t, http.StatusUnprocessableEntity, status, tt)
		assert.Contains(t, page, fmt.Sprintf(`<a href="#%s">%s</a>`, field, tt.label))
		assert.Regexp(t, fmt.Sprintf(`<p class="fault" id="%s-fault">[^<]*%s`, field, tt.want), page)
		assert.Equal(t, 1, strings.Count(page, `class="fault"`), tt)
		for _, typed := range []string{"Measured by hand.", `value="Glacier Institute"`, `value="G-7"`} {
			assert.Contains(t, page, typed)
		}
	}
	list, err := c.platform.store.Of(t.Context(), "ada", everything)
	require.NoError(t, err)
	assert.Zero(t, list.Total)

	for _, tt := range []struct{ button, row, want string }{
		{"more", "creator", "Lovelace Glacier Institute <empty>"}, {"up", "creator 1", "Glacier Institute Lovelace"},
		{"up", "creator 0", "Lovelace Glacier Institute"},
		{"remove", "creator 0", "Glacier Institute"}, {"remove", "creator 7",
			"Lovelace Glacier Institute"}, {"remove", "funder 0", "Lovelace Glacier Institute"},
		{"remove", "creator x", "Lovelace Glacier Institute"}, {"remove", "creator",
			"Lovelace Glacier Institute"}, {"up", "creator x", "Lovelace Glacier Institute"},
	} {
		f := fields("Glacier")
		f[tt.button] = tt.row
		status, _, page := c.do(http.MethodPost, "/new", "application/x-www-form-urlencoded", encode(f))
		assert.Equal(t, http.StatusOK, status)
		form, families := typed(page), ""
		for i := range 9 {
			if name, there := form[fmt.Sprint("family", i)]; there {
				families += " " + cmp.Or(name, "<empty>")
			}
		}
		assert.Equal(t, tt.want, families[1:], tt)
		assert.Equal(t, tt.row == "funder 0", !strings.Contains(page, "Science Fund"))
	}
	c.post("/logout", nil)
	status, page := c.post("/new", fields("Glacier"))
	assert.Equal(t, http.StatusUnauthorized, status)
	assert.Contains(t, page, "Your login has expired")
	assert.NotContains(t, page, "Glacier Institute", "who is not logged in makes no page of their own")
	assert.Empty(t, srv.Names())
}

// Package pages serves the public pages, and those of curators and administrators.
package pages

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/datacite-go/datacite-go/examples/platform/accounts"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
	"github.com/datacite-go/datacite-go/examples/platform/usage"
)

// Pages are those of the repository.
type Pages struct {
	Store    *store.Store
	Accounts *accounts.Accounts
	Counter  *usage.Counter
	By       dataset.Repository
	Prefix   string // of new DOIs
	Limits   Limits
	Log      *slog.Logger

	Changed   func()           // the outbox has something new
	CheckNow  func()           // compare with DataCite's records
	ReportNow func()           // send the report of this month so far
	HideNow   func(doi string) // hide a DOI that belongs to no dataset

	Service  string    // host of the registration service
	Versions []Version // of the program, Go and modules

	mapped  sitemap
	working chan struct{} // has an element for each GET request that is worked on
	host    string        // that requests are for
	secure  bool          // reached by https
}

// A Version is that of a part of the repository.
type Version struct{ Of, Text string }

// Limits of what curators upload.
type Limits struct {
	Files int   // of a version; 0 means 100
	Bytes int64 // of a file; 0 means 1 GB
	Room  int64 // bytes of the disk that uploads leave free; 0 means store.Room
}

//go:embed html
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"size": size, "count": count, "time": moment, "path": url.PathEscape,
	"words": dataset.Words, "lower": strings.ToLower, "language": languageName, "paragraphs": dataset.Paragraphs, "add": func(a, b int) int { return a + b },
}).ParseFS(files, "html/*.html"))

// New returns pages with these settings.
func New(p *Pages) *Pages {
	p.Limits = Limits{cmp.Or(p.Limits.Files, 100), cmp.Or(p.Limits.Bytes, 1_000_000_000), cmp.Or(p.Limits.Room, store.Room)}
	p.working = make(chan struct{}, maxWorking)
	if public, err := url.Parse(p.By.Public); err == nil {
		p.host, p.secure = public.Host, public.Scheme == "https"
	}
	return p
}

// Errors that have a page of their own.
var (
	errLogin     = errors.New("not logged in")
	errForbidden = errors.New("the dataset of another curator")
	errEmbargo   = errors.New("the files are not public yet")
	errForm      = errors.New("a form that cannot be read")
	errElsewhere = errors.New("a form of another site")

	errAdministrator = errors.New("only for administrators")
)

// Handler returns the pages.
func (p *Pages) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, page := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                                  p.home,
		"GET /datasets/{suffix}":                    p.landing,
		"GET /datasets/{suffix}/files/{name}":       p.download,
		"GET /datasets/{suffix}/files.zip":          p.archive,
		"GET /datasets/{suffix}/export/{format}":    p.exported,
		"GET /datasets/{suffix}/{number}":           p.numbered,
		"GET /datasets/{suffix}/{number}/{rest...}": p.numbered,
		"GET /review/{secret}":                      p.review,
		"GET /review/{secret}/files/{name}":         p.reviewFile,
		"GET /sitemap.xml":                          p.sitemap,
		"GET /robots.txt":                           p.robots,

		"GET /login":     p.loginForm,
		"POST /login":    p.login,
		"POST /logout":   p.logout,
		"GET /password":  p.passwordForm,
		"POST /password": p.password,

		"GET /mine":                       p.mine,
		"GET /new":                        p.newForm,
		"POST /new":                       p.create,
		"GET /datasets/{suffix}/edit":     p.editForm,
		"POST /datasets/{suffix}/edit":    p.edit,
		"POST /datasets/{suffix}/files":   p.upload,
		"POST /datasets/{suffix}/remove":  p.removeFile,
		"POST /datasets/{suffix}/version": p.addVersion,
		"POST /datasets/{suffix}/review":  p.setReview,

		"GET /datasets/{suffix}/publish":   p.publish, // GET asks, POST answers
		"POST /datasets/{suffix}/publish":  p.publish,
		"GET /datasets/{suffix}/withdraw":  p.withdraw,
		"POST /datasets/{suffix}/withdraw": p.withdraw,
		"GET /datasets/{suffix}/erase":     p.erase,
		"POST /datasets/{suffix}/erase":    p.erase,
		"GET /datasets/{suffix}/discard":   p.discard,
		"POST /datasets/{suffix}/discard":  p.discard,

		"GET /status":         p.status,
		"POST /status/check":  p.checkNow,
		"POST /status/report": p.reportNow,
		"POST /status/again":  p.again,
		"POST /status/hide":   p.hide,
		"GET /":               func(http.ResponseWriter, *http.Request) error { return store.ErrNotFound },
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				p.handle(&response{ResponseWriter: w}, r, pattern, page)
				return
			}
			select {
			case p.working <- struct{}{}:
				done := sync.OnceFunc(func() { <-p.working })
				defer done()
				p.handle(&response{w, http.StatusOK, done}, r, pattern, page)
			case <-r.Context().Done():
			}
		})
	}
	mux.HandleFunc("GET /health", p.health)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
		public(w, r, time.Hour)
		http.ServeFileFS(w, r, files, "html/style.css")
	})
	sameSite := http.NewCrossOriginProtection() // a form of another site changes nothing here
	sameSite.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.fail(w, r, errElsewhere) }))
	return p.guard(sameSite.Handler(mux))
}

// maxWorking limits how many GET requests are worked on at the same time. Others wait. Sending
// the response does not count, since readers may be slow.
const maxWorking = 16

// A response remembers its status, and calls begins before it is sent.
type response struct {
	http.ResponseWriter
	status int
	begins func()
}

func (w *response) WriteHeader(status int) {
	if w.status = status; w.begins != nil {
		w.begins()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// status is that of a response.
func status(w http.ResponseWriter) int { return w.(*response).status }

// handle answers a request.
func (p *Pages) handle(w *response, r *http.Request, pattern string, page func(http.ResponseWriter, *http.Request) error) {
	r, err := p.recognise(r)
	if err == nil {
		err = readBody(w, r, pattern)
	}
	if err == nil {
		err = page(w, r)
	}
	if err != nil {
		p.fail(w, r, err)
	}
	if r.Method == http.MethodPost { // who changed what; of visitors nothing is logged
		p.Log.Info("form", "curator", curator(r), "path", short(r.URL.Path), "status", w.status)
	}
}

// fail sends the page of an error.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("Cache-Control", "private, no-store")
	status, title, text := http.StatusInternalServerError, "Something went wrong", "The error is in the log. Please try again later."
	var tooLarge *http.MaxBytesError
	switch {
	case r.Context().Err() != nil:
		w.WriteHeader(http.StatusRequestTimeout) // the browser is gone, or does not go on
		return
	case errors.Is(err, errLogin) && r.Method == http.MethodGet:
		http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.Path), http.StatusSeeOther)
		return
	case errors.Is(err, errLogin):
		status, title, text = http.StatusUnauthorized, "Your login has expired", "Nothing was stored. Log in in another window, go back to the form, which still has your input, and send it again."
	case errors.Is(err, store.ErrNotFound):
		status, title, text = http.StatusNotFound, "There is no such page", "The address may be wrong, or the dataset is a draft, which only its curator sees."
	case errors.Is(err, errForbidden):
		status, title, text = http.StatusForbidden, "This is the dataset of another curator", "Only its curator can change it."
	case errors.Is(err, errAdministrator):
		status, title, text = http.StatusForbidden, "This is for administrators", "Your datasets show whether they are registered."
	case errors.Is(err, errElsewhere):
		status, title, text = http.StatusForbidden, "The request came from another site", "Nothing was changed. If you pressed a button of this repository, tell its administrator that its public address is set wrongly."
	case errors.Is(err, errEmbargo):
		status, title, text = http.StatusForbidden, "The files are not public yet", "The page of the dataset has the date."
	case errors.Is(err, store.ErrChanged):
		status, title, text = http.StatusConflict, "The dataset has changed in the meantime", "Perhaps you changed it in another window. This request changed nothing. Go back, reload the page, and try again."
	case errors.As(err, &tooLarge):
		status, title, text = http.StatusRequestEntityTooLarge, "The form or the upload is too large", "Nothing was stored. Use fewer rows, shorter texts or smaller files."
	case errors.Is(err, errForm):
		status, title, text = http.StatusBadRequest, "The form cannot be read", "Nothing was changed. Reload the page and try again."
	}
	if status == http.StatusInternalServerError {
		p.Log.Error("page", "path", short(r.URL.Path), "error", err)
	}
	if err := p.render(w, r, status, "error", title, map[string]any{"Text": text, "Next": r.URL.Path}); err != nil {
		p.Log.Error("page", "path", short(r.URL.Path), "error", err)
	}
}

// render sends a page, with the data that all pages have in common.
func (p *Pages) render(w http.ResponseWriter, r *http.Request, status int, page, title string, data map[string]any) error {
	data["Repository"], data["Title"], data["Curator"], data["Administrator"], data["Here"] = p.By.Name, title, curator(r), administrator(r), r.URL.Path
	text := &untilGone{reader: r.Context()}
	if err := templates.ExecuteTemplate(text, page+".html", data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := io.WriteString(w, text.page.String()); err != nil && r.Context().Err() == nil {
		p.Log.Info("page", "path", short(r.URL.Path), "error", err) // its reader is gone
	}
	return nil
}

// untilGone collects a page, and stops when its reader is gone.
type untilGone struct {
	page   strings.Builder
	reader context.Context
}

func (b *untilGone) Write(text []byte) (int, error) {
	if err := b.reader.Err(); err != nil {
		return 0, err
	}
	return b.page.Write(text)
}

// version returns the version that a request is for. Drafts are not found by others than their
// owner.
func (p *Pages) version(r *http.Request) (*dataset.Dataset, *dataset.Version, error) {
	d, v, err := p.Store.Find(r.Context(), r.PathValue("suffix"))
	if err == nil && (v == nil || v.State == dataset.Draft && !mayEdit(r, d)) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	return d, v, nil
}

// own returns the version that a request changes, which must be the curator's own and in one of
// the states.
func (p *Pages) own(r *http.Request, states ...dataset.State) (*dataset.Dataset, *dataset.Version, error) {
	if curator(r) == "" {
		return nil, nil, errLogin
	}
	d, v, err := p.version(r)
	switch {
	case err == nil && !mayEdit(r, d):
		err = errForbidden
	case err == nil && len(states) > 0 && !slices.Contains(states, v.State):
		err = store.ErrChanged
	}
	return d, v, err
}

// lead redirects from a form to a page.
func lead(w http.ResponseWriter, r *http.Request, path string) error {
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

func mayEdit(r *http.Request, d *dataset.Dataset) bool { return curator(r) == d.Owner && d.Owner != "" }

// size writes a number of bytes for people.
func size(bytes int64) string {
	value, unit := float64(bytes), 0
	for value >= 1000 && unit < 4 {
		value, unit = value/1000, unit+1
	}
	switch {
	case bytes == 1:
		return "1 byte"
	case unit == 0:
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, []string{"", "kB", "MB", "GB", "TB"}[unit])
}

// moment writes a time.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }

// languageName is the name of a language.
func languageName(code string) string {
	return cmp.Or(display.English.Tags().Name(language.Make(code)), code)
}

// count writes a number of things.
func count(n any, thing string) string {
	if fmt.Sprint(n) != "1" {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Package pages serves the public pages, and those of curators and administrators.
package pages

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
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
	forms   chan struct{} // and for each form of a curator
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
	p.Limits = Limits{cmp.Or(p.Limits.Files, 100), cmp.Or(p.Limits.Bytes, 1_000_000_000),
		cmp.Or(p.Limits.Room, store.Room)}
	p.working, p.forms = make(chan struct{}, maxWorking), make(chan struct{}, maxForms)
	if public, err := url.Parse(p.By.Public); err == nil {
		p.host, p.secure = public.Host, public.Scheme == "https"
	}
	return p
}

// A problem is an error that has a page of its own.
type problem struct {
	status      int
	title, text string
}

func (e *problem) Error() string { return e.title }

var (
	errLogin = &problem{http.StatusUnauthorized, "Your login has expired",
		"Nothing was stored yet, and nothing that you typed is lost. Log in in another window. Then come back here and " +
			"reload this page: your browser sends the form again."}
	errNotFound = &problem{http.StatusNotFound, "There is no such page",
		"The address may be wrong, or the dataset is a draft, which only its curator sees, or was discarded."}
	errForbidden = &problem{http.StatusForbidden, "This is the dataset of another curator",
		"Only its curator can change it."}
	errAdministrator = &problem{http.StatusForbidden, "This is for administrators",
		"Your datasets show whether they are registered."}
	errElsewhere = &problem{http.StatusForbidden, "The request came from another site",
		"Nothing was changed. If you pressed a button of this repository, tell its administrator that its public address " +
			"is set wrongly."}
	errEmbargo = &problem{http.StatusForbidden, "The files are not public yet", "The page of the dataset has the date."}
	errChanged = &problem{http.StatusConflict, "The dataset has changed in the meantime",
		"Perhaps you changed it in another window, or pressed a button twice. This request changed nothing. Open the page " +
			"of the dataset to see what it is now."}
	errTooLarge = &problem{http.StatusRequestEntityTooLarge, "The form or the upload is too large",
		"Nothing was stored. Use fewer rows, shorter texts or smaller files."}
	errForm = &problem{http.StatusBadRequest, "The form cannot be read",
		"Nothing was changed. Reload the page and try again."}
	errFailed = &problem{http.StatusInternalServerError, "Something went wrong",
		"The error is in the log. Please try again later."}
)

// A handler answers a request, or returns why it does not.
type handler func(http.ResponseWriter, *http.Request) error

// Handler returns the pages.
func (p *Pages) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, page := range map[string]handler{
		"GET /{$}":                                  p.home,
		"GET /datasets/{suffix}":                    p.landing,
		"GET /datasets/{suffix}/files/{name}":       p.of(admitted(p.download)),
		"GET /datasets/{suffix}/files.zip":          p.of(admitted(p.archive)),
		"GET /datasets/{suffix}/export/{format}":    p.of(p.exported),
		"GET /datasets/{suffix}/{number}":           p.numbered,
		"GET /datasets/{suffix}/{number}/{rest...}": p.numbered,
		"GET /review/{secret}":                      p.reviewed(p.review),
		"GET /review/{secret}/files/{name}":         p.reviewed(p.sendFile),
		"GET /sitemap.xml":                          p.sitemap,
		"GET /robots.txt":                           p.robots,

		"GET /login":     p.loginForm,
		"POST /login":    p.login,
		"POST /logout":   p.logout,
		"GET /password":  loggedIn(p.passwordForm),
		"POST /password": loggedIn(p.password),

		"GET /mine":                       loggedIn(p.mine),
		"GET /new":                        loggedIn(p.newForm),
		"POST /new":                       loggedIn(p.create),
		"GET /datasets/{suffix}/edit":     p.own(p.editForm),
		"POST /datasets/{suffix}/edit":    p.own(p.edit),
		uploads:                           p.own(p.upload, dataset.Draft),
		"POST /datasets/{suffix}/remove":  p.own(p.removeFile, dataset.Draft),
		"POST /datasets/{suffix}/version": p.own(p.addVersion),
		"POST /datasets/{suffix}/review":  p.own(p.setReview, dataset.Draft),

		"GET /datasets/{suffix}/publish":   p.own(p.publish), // GET asks, POST answers
		"POST /datasets/{suffix}/publish":  p.own(p.publish),
		"GET /datasets/{suffix}/withdraw":  p.own(p.withdraw, dataset.Published),
		"POST /datasets/{suffix}/withdraw": p.own(p.withdraw, dataset.Published),
		"GET /datasets/{suffix}/erase":     p.own(p.erase, dataset.Withdrawn),
		"POST /datasets/{suffix}/erase":    p.own(p.erase, dataset.Withdrawn),
		"GET /datasets/{suffix}/discard":   p.own(p.discard, dataset.Draft),
		"POST /datasets/{suffix}/discard":  p.own(p.discard, dataset.Draft),

		"GET /status":         administered(p.status),
		"POST /status/check":  soon(func(*http.Request) { p.CheckNow() }),
		"POST /status/report": soon(func(*http.Request) { p.ReportNow() }),
		"POST /status/again":  administered(p.again),
		// of no dataset, as the last comparison found
		"POST /status/hide": soon(func(r *http.Request) { p.HideNow(r.PostFormValue("doi")) }),
		"GET /":             func(http.ResponseWriter, *http.Request) error { return errNotFound },
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

// maxForms limits how many forms of curators are worked on at the same time, since the page of one may have half a
// megabyte. Uploads do not count.
const maxForms = 4

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
func (p *Pages) handle(w *response, r *http.Request, pattern string, page handler) {
	r, err := p.recognise(r)
	if err == nil {
		err = readBody(w, r, pattern)
	}
	if err == nil && r.Method == http.MethodPost && curator(r) != "" && pattern != uploads {
		select {
		case p.forms <- struct{}{}:
			w.begins = sync.OnceFunc(func() { <-p.forms })
			defer w.begins()
		case <-r.Context().Done():
			return
		}
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
	shown := errFailed
	var tooLarge *http.MaxBytesError
	switch {
	case r.Context().Err() != nil:
		w.WriteHeader(http.StatusRequestTimeout) // the browser is gone, or does not go on
		return
	case errors.Is(err, errLogin) && r.Method == http.MethodGet:
		http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.Path), http.StatusSeeOther)
		return
	case errors.As(err, &tooLarge):
		shown = errTooLarge
	case errors.As(err, &shown):
	case errors.Is(err, store.ErrNotFound):
		shown = errNotFound
	case errors.Is(err, store.ErrChanged):
		shown = errChanged
	default:
		p.Log.Error("page", "path", short(r.URL.Path), "error", err)
	}
	if err := p.render(w, r, shown.status, "error", shown.title,
		map[string]any{"Text": shown.text, "Next": r.URL.Path, "Expired": shown == errLogin}); err != nil {
		p.Log.Error("page", "path", short(r.URL.Path), "error", err)
	}
}

// render sends a page, with the data that all pages have in common.
func (p *Pages) render(w http.ResponseWriter, r *http.Request, status int, page, title string,
	data map[string]any) error {
	data["Repository"], data["Title"], data["Curator"], data["Administrator"], data["Here"] = p.By.Name, title, curator(r), administrator(r), r.URL.Path
	var text strings.Builder
	if err := templates.ExecuteTemplate(&text, page+".html", data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := io.WriteString(w, text.String()); err != nil && r.Context().Err() == nil {
		p.Log.Info("page", "path", short(r.URL.Path), "error", err) // its reader is gone
	}
	return nil
}

// loggedIn is a page for people who are logged in.
func loggedIn(page handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if curator(r) == "" {
			return errLogin
		}
		return page(w, r)
	}
}

// administered is a page for administrators.
func administered(page handler) handler {
	return loggedIn(func(w http.ResponseWriter, r *http.Request) error {
		if !administrator(r) {
			return errAdministrator
		}
		return page(w, r)
	})
}

// A versionPage answers a request for a version.
type versionPage func(http.ResponseWriter, *http.Request, *dataset.Dataset, *dataset.Version) error

// of is a page of the version that a request is for. Drafts are not found by others than their
// owner.
func (p *Pages) of(page versionPage) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		d, v, err := p.Store.Find(r.Context(), r.PathValue("suffix"))
		switch {
		case err != nil:
			return err
		case v == nil || v.State == dataset.Draft && !mayEdit(r, d):
			return errNotFound
		}
		return page(w, r, d, v)
	}
}

// own is a page that changes a version, which must be the curator's own and in one of the states.
func (p *Pages) own(page versionPage, states ...dataset.State) handler {
	return loggedIn(p.of(func(w http.ResponseWriter, r *http.Request, d *dataset.Dataset, v *dataset.Version) error {
		switch {
		case !mayEdit(r, d):
			return errForbidden
		case len(states) > 0 && !slices.Contains(states, v.State):
			return p.done(w, r, v)
		}
		return page(w, r, d, v)
	}))
}

// done is the response where nothing is left to decide, such as after going back in a browser.
func (p *Pages) done(w http.ResponseWriter, r *http.Request, v *dataset.Version) error {
	if r.Method == http.MethodPost {
		return errChanged
	}
	return lead(w, r, v.Path(), nil)
}

// lead redirects from a form to a page, unless what it was sent for failed.
func lead(w http.ResponseWriter, r *http.Request, path string, err error) error {
	if err == nil {
		http.Redirect(w, r, path, http.StatusSeeOther)
	}
	return err
}

func mayEdit(r *http.Request, d *dataset.Dataset) bool { return curator(r) == d.Owner && d.Owner != "" }

// size writes a number of bytes for people.
func size(bytes int64) string {
	value, unit := float64(bytes), 0
	for value >= 1000 && unit < 4 {
		value, unit = value/1000, unit+1
	}
	if unit == 0 {
		return count(bytes, "byte")
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

// The most bytes of a form of a curator, and of somebody who may be one.
const (
	maxForm  = 1 << 20
	maxLogin = 4 << 10
)

const uploads = "POST /datasets/{suffix}/files"

// readBody reads the form of a request.
func readBody(w http.ResponseWriter, r *http.Request, pattern string) error {
	if pattern == uploads {
		return nil // it limits the body itself
	}
	if curator(r) == "" && r.Method == http.MethodPost && pattern != "POST /login" {
		r.Form = url.Values{} // nobody reads what was typed
		return nil
	}
	most := int64(maxForm)
	if curator(r) == "" {
		most = maxLogin
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); err != nil && r.Method == http.MethodPost {
		return fmt.Errorf("%w: %w", errForm, err)
	}
	return nil
}

// maxRanges is how many parts of a file somebody gets in one response.
const maxRanges = 10

// guard refuses requests for other host names (DNS rebinding), sets the security headers, and
// forbids caches to store responses; see public.
func (p *Pages) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.ours(r.Host) {
			http.Error(w, "This repository is at "+p.By.Public, http.StatusMisdirectedRequest)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy",
			"default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-store")
		h.Set("Vary", "Cookie")
		if p.secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if strings.Count(r.Header.Get("Range"), ",") >= maxRanges {
			r.Header.Del("Range") // the whole costs less
		}
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a host is the repository's, or this machine's own.
func (p *Pages) ours(host string) bool {
	if standard := map[bool]string{true: ":443", false: ":80"}[p.secure]; strings.EqualFold(strings.TrimSuffix(host,
		standard), strings.TrimSuffix(p.host, standard)) {
		return true
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	address, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return name == "localhost" || err == nil && address.IsLoopback()
}

// public lets caches store a response for some time, unless its reader is logged in and may see
// more. The time is 0 for responses that are counted: caches then revalidate each time.
func public(w http.ResponseWriter, r *http.Request, fresh time.Duration) {
	if curator(r) != "" {
		return
	}
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%.0f, must-revalidate", fresh.Seconds()))
}

// short shortens a text of a request for the log.
func short(text string) string { return fmt.Sprintf("%.200s", text) }

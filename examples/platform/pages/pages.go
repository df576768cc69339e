// Package pages shows the repository to people: to everybody what is public, to
// curators what is theirs.
package pages

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
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

	Changed   func()           // something new is in the outbox
	CheckNow  func()           // somebody wants the records to be compared
	ReportNow func()           // somebody wants the report of this month so far
	HideNow   func(doi string) // somebody wants a DOI without a dataset to be hidden

	Service  string    // host of the registration service
	Versions []Version // of what the repository is made of

	looked look
	host   string // that requests are for
	secure bool   // reached by https
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
			noted := &notedWriter{ResponseWriter: w, status: http.StatusOK}
			err := readBody(w, r, pattern)
			if err == nil {
				r, err = p.recognise(r)
			}
			if err == nil {
				err = page(noted, r)
			}
			if err != nil {
				p.fail(noted, r, err)
			}
			if r.Method != http.MethodGet && r.Method != http.MethodHead { // who changed what; of visitors nothing is logged
				p.Log.Info("form", "curator", curator(r), "path", short(r.URL.Path), "status", noted.status)
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

// A notedWriter keeps the status of a response.
type notedWriter struct {
	http.ResponseWriter
	status int
}

func (w *notedWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *notedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// fail shows what went wrong.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("Cache-Control", "private, no-store")
	status, title, text := http.StatusInternalServerError, "Something went wrong here", "It was noted. Please try again later."
	var tooLarge *http.MaxBytesError
	switch {
	case r.Context().Err() != nil:
		w.WriteHeader(http.StatusRequestTimeout) // the browser is gone, or does not go on
		return
	case errors.Is(err, errLogin) && r.Method == http.MethodGet:
		http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.Path), http.StatusSeeOther)
		return
	case errors.Is(err, errLogin):
		status, title, text = http.StatusUnauthorized, "You are not logged in any more", "Nothing was stored. Log in in another window, go back to the page before this one, where what you typed still is, and try again."
	case errors.Is(err, store.ErrNotFound):
		status, title, text = http.StatusNotFound, "There is no such page", "The address may be wrong, or the dataset is a draft: only the curator who writes it sees it."
	case errors.Is(err, errForbidden):
		status, title, text = http.StatusForbidden, "This is the dataset of another curator", "Only they can change it."
	case errors.Is(err, errAdministrator):
		status, title, text = http.StatusForbidden, "This is for administrators", "Your datasets show whether they are registered."
	case errors.Is(err, errElsewhere):
		status, title, text = http.StatusForbidden, "This came from another site", "Nothing was changed. If you pressed a button here, tell who runs this repository that its address is wrong."
	case errors.Is(err, errEmbargo):
		status, title, text = http.StatusForbidden, "The files are not public yet", "The page of the dataset says from when on they are."
	case errors.Is(err, store.ErrChanged):
		status, title, text = http.StatusConflict, "The dataset has changed in the meantime", "Perhaps in another window. Nothing was changed by you. Go back, load the page again, and decide again."
	case errors.As(err, &tooLarge):
		status, title, text = http.StatusRequestEntityTooLarge, "That was too much", "A form or an upload may not be that large."
	case errors.Is(err, errForm):
		status, title, text = http.StatusBadRequest, "This is no form of this repository", "Nothing was changed. Load the page again, and try once more."
	}
	if status == http.StatusInternalServerError {
		p.Log.Error("page", "path", short(r.URL.Path), "error", err)
	}
	if err := p.render(w, r, status, "error", title, map[string]any{"Text": text, "Next": r.URL.Path}); err != nil {
		p.Log.Error("page", "path", short(r.URL.Path), "error", err)
	}
}

// render writes a page. What every page needs comes beside its own data.
func (p *Pages) render(w http.ResponseWriter, r *http.Request, status int, page, title string, data map[string]any) error {
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

// version returns the version that a request is for. A draft exists for its owner only.
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

// own returns the version that a request wants to change.
func (p *Pages) own(r *http.Request) (*dataset.Dataset, *dataset.Version, error) {
	d, v, err := p.version(r)
	switch {
	case curator(r) == "":
		return nil, nil, errLogin
	case err == nil && !mayEdit(r, d):
		return nil, nil, errForbidden
	}
	return d, v, err
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

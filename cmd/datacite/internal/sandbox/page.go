package sandbox

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
)

//go:embed *.html page.js page.css
var assets embed.FS

var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"moment":    moment,
		"recordURL": func(doi string) string { return recordPath + "?" + url.Values{"doi": {doi}}.Encode() },
		"jsonURL":   func(doi string) string { return (&url.URL{Path: "/dois/" + doi}).EscapedPath() },
	}).ParseFS(assets, "*.html"))
})

// Paths of the sandbox, beside those of the service.
const (
	recordPath   = "/sandbox/record"
	resolverPath = "/sandbox/resolver"
	assetsPath   = "/sandbox/assets/"
)

// A site is the service with a resolver, and with pages for people at /, which show what
// it holds and what it was asked last.
type site struct {
	service   *datacitetest.Server
	ctx       context.Context // until the sandbox stops
	usernames []string
	origins   []string    // of pages that may control it
	first     []faultRule // those of the flags
	faults    faultList

	changed atomic.Bool  // since it was last looked at
	resets  atomic.Int64 // how many there were
	mu      sync.Mutex
	last    []exchange // newest first
}

const (
	mostShown = 200 // DOIs and reports
	newest    = 8   // requests that are shown at once
)

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch path := r.URL.Path; {
	case reads && path == "/":
		s.showAll(w, r)
	case reads && path == recordPath:
		s.showRecord(w, r)
	case reads && strings.HasPrefix(path, resolverPath+"/"):
		s.resolve(w, r)
	case reads && strings.HasPrefix(path, assetsPath):
		http.ServeFileFS(w, r, assets, strings.TrimPrefix(path, assetsPath))
	case strings.HasPrefix(path, controlPath):
		s.control(w, r)
	default:
		s.serve(w, r)
	}
}

// useFaults returns to the faults of the flags.
func (s *site) useFaults() {
	s.faults.remove("")
	for _, rule := range s.first {
		_, _ = s.faults.add(rule, s.service.Behaviour) // the command line was checked
	}
	s.service.SetFaults(s.faults.of)
}

// welcome is what a client needs to know, with a token that is valid for a year.
func (s *site) welcome(address string) welcome {
	return welcome{
		address, datacitetest.Username, datacitetest.Password, datacitetest.Prefix,
		s.service.Token(s.service.Now().Add(365 * 24 * time.Hour)), address + resolverPath, address + controlPath +
			"openapi.yaml",
	}
}

// resolve redirects to where a DOI leads, as the global resolver does.
func (s *site) resolve(w http.ResponseWriter, r *http.Request) {
	name, err := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), resolverPath+"/"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	address, _ := s.service.Resolve(r.Context(), name) // "" if it does not resolve yet
	if address == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Location", address) // as it is; http.Redirect would clean it
	w.WriteHeader(http.StatusFound)
}

type shownReport struct {
	ID, Account, Creator, Month string
	Subsets                     []datacitetest.StoredSubset
	Problem                     string
}

func (s *site) showAll(w http.ResponseWriter, r *http.Request) {
	filter := strings.TrimSpace(r.FormValue("filter"))
	found, more, all := s.find(filter)
	s.mu.Lock()
	last := slices.Clone(s.last)
	s.mu.Unlock()
	show(w, http.StatusOK, "page.html", map[string]any{
		"Behaviour": s.service.Behaviour, "Welcome": s.welcome(served(r)), "Faults": s.faults.list(), "Count": all,
		"Filter": filter, "DOIs": found, "More": more, "Reports": s.reports(),
		"Last": last[:min(len(last), newest)], "Older": last[min(len(last), newest):],
		"Counts": s.service.Behaviour == datacitetest.Deployed,
	})
}

// find returns the first records that a filter leaves, whether there may be more, and how
// many there are without it.
func (s *site) find(filter string) (found []*dois.Record, more bool, all int) {
	names := s.service.Names()
	for _, name := range names {
		if len(found) == mostShown {
			return found, true, len(names)
		}
		record, err := s.service.Record(name)
		if err != nil { // it is gone, or too odd to be read
			record = new(dois.Record)
			record.DOI, record.State = name, datacite.State(s.service.State(name))
		}
		if fits(record, filter) {
			found = append(found, record)
		}
	}
	return found, false, len(names)
}

// fits reports whether each word of the filter is in the name, state, URL or a title.
func fits(r *dois.Record, filter string) bool {
	text := r.DOI + "\n" + string(r.State) + "\n" + r.URL
	for _, title := range r.Titles {
		text += "\n" + title.Title
	}
	text = strings.ToLower(text)
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(filter)), func(word string) bool {
		return !strings.Contains(text, word)
	})
}

func (s *site) reports() (stored []shownReport) {
	for _, r := range s.service.StoredReports() {
		if len(stored) == mostShown {
			break
		}
		shown := shownReport{ID: r.ReportID, Account: r.ClientID, Subsets: r.Subsets}
		if report, err := r.Report(); err != nil {
			shown.Problem = shell.Message(err)
		} else {
			shown.Creator, shown.Month = report.Header.CreatedBy, string(report.Header.ReportingPeriod.BeginDate)
		}
		stored = append(stored, shown)
	}
	return stored
}

func (s *site) showRecord(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("doi")
	record, err := s.service.Record(name)
	if err != nil {
		show(w, http.StatusNotFound, "record.html", map[string]any{"DOI": name, "Problem": shell.Message(err)})
		return
	}
	leads, _ := s.service.Resolve(r.Context(), name)
	var asJSON bytes.Buffer
	_ = json.Indent(&asJSON, withoutXML(record.Raw), "", "  ")
	show(w, http.StatusOK, "record.html", map[string]any{
		"DOI": record.DOI, "Record": record, "Leads": leads, "XML": string(record.MetadataXML), "JSON": asJSON.String(),
		"Counts": s.service.Behaviour == datacitetest.Deployed,
	})
}

// withoutXML leaves out the metadata in base64, which nobody reads.
func withoutXML(attributes json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(attributes, &members) != nil {
		return attributes
	}
	delete(members, "xml")
	without, _ := json.Marshal(members)
	return without
}

func show(w http.ResponseWriter, status int, name string, data map[string]any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "+
			"frame-ancestors 'none'")
	w.WriteHeader(status)
	_ = pages().ExecuteTemplate(w, name, data)
}

// moment is a time to the minute.
func moment(t dois.Timestamp) string {
	at, err := t.Time()
	if err != nil {
		return string(t)
	}
	return at.UTC().Format("2006-01-02 15:04")
}

package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

//go:embed page.html
var pages embed.FS

var page = template.Must(template.ParseFS(pages, "page.html"))

// A site is the service with a page for people at /, which shows what it holds and
// what it was asked last.
type site struct {
	service *datacitetest.Server
	token   string

	changed atomic.Bool // since it was last looked at
	mu      sync.Mutex
	last    []exchange // newest first
}

// An exchange is a request and the response to it.
type exchange struct {
	At       time.Time
	Method   string
	Address  string
	Status   int // 0: the connection was dropped
	Response string
}

const (
	mostExchanges = 30
	mostShown     = 200  // DOIs and reports
	maxShown      = 4000 // bytes of a response
)

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" && r.Method == http.MethodGet {
		s.show(w)
		return
	}
	seen := &recorder{ResponseWriter: w}
	x := exchange{At: time.Now(), Method: r.Method, Address: r.URL.RequestURI()}
	defer func() { // a dropped connection is a panic
		x.Status, x.Response = seen.status, seen.text()
		if datacitetest.Writes(r) {
			s.changed.Store(true)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last = slices.Insert(s.last, 0, x)
		s.last = s.last[:min(len(s.last), mostExchanges)]
	}()
	s.service.ServeHTTP(seen, r)
}

type shownDOI struct {
	Name, Path, State string
	Views, Downloads  int64 // by usage reports
}

type shownReport struct {
	ID, Account, Creator, Month string
	Subsets                     []datacitetest.StoredSubset
	Problem                     string
}

func (s *site) show(w http.ResponseWriter) {
	names := s.service.Names()
	usage := map[string]map[reports.MetricType]int64{}
	for _, e := range s.service.UsageEvents() {
		if usage[e.DOI] == nil {
			usage[e.DOI] = map[reports.MetricType]int64{}
		}
		usage[e.DOI][e.Metric] += e.Count
	}
	var found []shownDOI
	for _, name := range names[:min(len(names), mostShown)] {
		found = append(found, shownDOI{
			name, (&url.URL{Path: "/dois/" + name}).EscapedPath(), s.service.State(name),
			usage[name][reports.UniqueDatasetInvestigations], usage[name][reports.UniqueDatasetRequests],
		})
	}
	var stored []shownReport
	for _, r := range s.service.StoredReports() {
		if len(stored) == mostShown {
			break
		}
		shown := shownReport{ID: r.ID, Account: r.ClientID, Subsets: r.Subsets}
		if report, err := r.Report(); err != nil {
			shown.Problem = err.Error()
		} else {
			shown.Creator, shown.Month = report.Header.CreatedBy, string(report.Header.ReportingPeriod.BeginDate)
		}
		stored = append(stored, shown)
	}
	s.mu.Lock()
	last := slices.Clone(s.last)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = page.Execute(w, map[string]any{
		"Behaviour": s.service.Behaviour, "Username": datacitetest.Username, "Password": datacitetest.Password, "Prefix": datacitetest.Prefix,
		"Token": s.token, "Count": len(names), "DOIs": found, "Reports": stored, "Last": last,
		"Counts": s.service.Behaviour == datacitetest.Deployed,
	})
}

// A recorder keeps the beginning of a response while it is sent.
type recorder struct {
	http.ResponseWriter
	status int
	start  bytes.Buffer
}

func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.start.Write(data[:min(len(data), maxShown-w.start.Len())])
	return w.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) text() string {
	var from io.Reader = &w.start
	if strings.Contains(w.Header().Get("Content-Encoding"), "gzip") {
		if unzipped, err := gzip.NewReader(&w.start); err == nil {
			from = unzipped
		}
	}
	text, _ := io.ReadAll(io.LimitReader(from, maxShown))
	return strings.ToValidUTF8(string(text), "\ufffd")
}

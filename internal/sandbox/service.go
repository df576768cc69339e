// Package sandbox is the registration service in memory: usage reports, DOI
// query and metadata store over one set of records, as an [http.Handler].
//
// By default it follows the specification, and where that says "not shown" it
// does what the servers in operation do. With [Deployed] it follows those
// servers throughout. It speaks raw JSON and XML and shares no type with the
// clients, so a wrong member name on one side cannot hide behind the same
// mistake on the other.
//
//	service := sandbox.New(nil)
//	client := &http.Client{Transport: service.Transport()}
//
// What it leaves out: the check of metadata follows the schema but for the
// syntax of URIs; answers in other formats are DataCite XML alone; there are no
// rate limits. Of what the servers in operation have besides, it leaves out
// JSONP, CORS, scrolling, and media by numbers that no answer tells.
package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Options sets up a [Service]; the zero value and nil are the defaults.
type Options struct {
	Behaviour    Behaviour        // "" means Documented
	Now          func() time.Time // clock; nil means time.Now. The service adds what Advance has moved.
	ResolveDelay time.Duration    // how long after PUT /doi a DOI starts to resolve; 0 means 3 minutes
	Accounts     []Account        // nil means DefaultAccount alone

	// WriteTime is how long a Deployed service works on a usage report it was
	// sent, by the time of package time. For three fifths of it the body is read,
	// and nothing is done; then the report is looked up; in the last quarter the
	// database is ahead of the stored document, and for a moment there is none.
	// 0 means no time at all. The work goes on when the client goes away.
	WriteTime time.Duration

	// IndexLag is how long, by the service's clock, a Deployed service takes until
	// lists and searches of DOIs show what was written; 0 means no time at all. A
	// single record is shown as it is at once.
	IndexLag time.Duration

	// Faults is asked what happens to a request; n counts from 1, nil means
	// nothing out of the ordinary. It is called by one goroutine at a time.
	Faults func(n int, r *http.Request) *Fault
}

// Service is the registration service in memory. Many goroutines may use it at
// once.
type Service struct {
	*Store
	front   front
	dois    *doiRoom
	mds     *mdsRoom
	reports *reportRoom
	work    atWork
}

// New returns an empty service.
func New(opts *Options) *Service {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if len(o.Accounts) == 0 {
		o.Accounts = []Account{DefaultAccount}
	}
	settings := Settings{
		Rules: documentedRules, Clock: o.Now, ResolveDelay: cmp.Or(o.ResolveDelay, 3*time.Minute), IndexLag: o.IndexLag, Accounts: o.Accounts,
	}
	if o.Behaviour == Deployed {
		settings.Rules = deployedRules
	}
	store := newStore(settings)
	s := &Service{Store: store, dois: newDOIRoom(store), mds: newMDSRoom(store), reports: newReportRoom(store, o.WriteTime)}
	s.front = front{ask: o.Faults, answer: s.answer, behind: func(r *http.Request) bool {
		area, _ := areaOf(r)
		return s.AsBuilt && area == storeArea
	}}
	return s
}

// Requests returns the last 1,000 requests, oldest first.
func (s *Service) Requests() []Request { return s.front.requests() }

// PutReport stores a report as it is: {"id", "report-header",
// "report-datasets"}, all of it optional but header and datasets. A report of
// the same id is replaced; without an id it gets a new one. The contents are
// not checked, so that odd reports can be played. Exceptions code 69 makes it
// a compressed report.
func (s *Service) PutReport(data json.RawMessage) (id string, err error) { return s.reports.put(data) }

// ServeHTTP answers a request to any of the three interfaces, by its path:
// /reports, /dois, or /doi, /metadata and /media.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.front.ServeHTTP(w, r) }

// answer does the work of a request, which may meet a fault at a step of it.
func (s *Service) answer(r *http.Request, f *Fault) (status int, send func(http.ResponseWriter)) {
	started := time.Now()
	q := newRequest(r, f)
	answer := s.answerDocumented
	if s.AsBuilt {
		answer = s.answerAsBuilt
	}
	res := answer(q)
	return res.status, func(w http.ResponseWriter) { res.send(w, q, time.Since(started)) }
}

// answerDocumented goes by the path as it arrives: decoded once, and cleaned by
// nothing, as a DOI name may hold "//", "#", "?" or "%".
func (s *Service) answerDocumented(q *request) reply {
	area, rest, _ := strings.Cut(strings.TrimPrefix(q.path, "/"), "/")
	switch area {
	case "reports":
		return inJSON(s.reports.serveReports(q, rest))
	case "dois":
		return inJSON(s.dois.serveDOIs(q, rest))
	}
	return s.mds.serveDocumentedStore(q, area, rest)
}

// The areas of the public host of the deployed servers.
const (
	reportsArea = iota
	doisArea
	storeArea
)

// areaOf goes by the path as it was sent, since each server has its own way to
// read it. The path is the one that the routes of the store or of the DOI service see.
func areaOf(r *http.Request) (area int, path string) {
	path = r.URL.EscapedPath()
	if _, ok := reportsPath(path); ok {
		return reportsArea, path
	}
	path = arrivesAtStore(path)
	if path == "/dois" || strings.HasPrefix(path, "/dois/") {
		return doisArea, strings.TrimPrefix(path, "/dois")
	}
	return storeArea, path
}

func (s *Service) answerAsBuilt(q *request) reply {
	switch area, path := areaOf(q.Request); area {
	case reportsArea:
		return inJSON(s.reports.serveDeployedReports(q)).coded(q, s.Now(), true)
	case doisArea:
		return inJSON(s.dois.serveDOIs(q, path)).coded(q, s.Now(), false)
	default:
		return s.mds.serveStore(q, path)
	}
}

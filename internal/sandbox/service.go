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
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
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
	deployed  bool
	writeTime time.Duration
	lag       time.Duration
	faults    faults
	work      atWork

	now      func() time.Time
	moved    atomic.Int64 // nanoseconds added by Advance
	delay    time.Duration
	accounts []Account
	keys     sync.Map // the *Account of each API key
	requests requestLog
	serial   atomic.Int64 // numbers of records, as the deployed service gives them

	archive archive // the usage reports of a Deployed service

	mu      sync.RWMutex
	records map[string]*record // by key; a stored record never changes, it is replaced
	removed map[string]*record // signs of removed ones, while the index lags
	ordered []*record          // all of them by creation; nil after a change
	reports map[string]*report // of a Documented service, by lower-case UUID; replaced, not changed
	periods map[reportKey]string
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
	if o.ResolveDelay == 0 {
		o.ResolveDelay = 3 * time.Minute
	}
	if len(o.Accounts) == 0 {
		o.Accounts = []Account{DefaultAccount}
	}
	return &Service{
		deployed: o.Behaviour == Deployed, writeTime: o.WriteTime, faults: faults{ask: o.Faults},
		lag: indexLag(o),
		now: o.Now, delay: o.ResolveDelay, accounts: o.Accounts,
		archive: newArchive(),
		records: map[string]*record{}, removed: map[string]*record{}, reports: map[string]*report{}, periods: map[reportKey]string{},
	}
}

func indexLag(o Options) time.Duration {
	if o.Behaviour != Deployed {
		return 0
	}
	return o.IndexLag
}

// Now is the time by the service's clock.
func (s *Service) Now() time.Time { return s.now().Add(time.Duration(s.moved.Load())).UTC() }

// Advance moves the service's clock forward by d.
func (s *Service) Advance(d time.Duration) { s.moved.Add(int64(d)) }

// ServeHTTP answers a request to any of the three interfaces, by its path:
// /reports, /dois, or /doi, /metadata and /media.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := s.faults.next(r); f != nil {
		s.play(f, w, r)
		return
	}
	s.serve(w, r)
}

func (s *Service) serve(w http.ResponseWriter, r *http.Request) { s.serveWith(nil, w, r) }

// serveWith serves a request that meets a fault at a step of its work, if it
// comes to it.
func (s *Service) serveWith(f *Fault, w http.ResponseWriter, r *http.Request) {
	started := time.Now()
	body := &countedBody{ReadCloser: r.Body}
	if r.Body == nil {
		body.ReadCloser = http.NoBody
	}
	q := &request{Request: r, path: r.URL.Path, method: r.Method, header: http.Header{}, fault: f}
	q.Request.Body = body
	if q.method == http.MethodHead {
		q.method = http.MethodGet // the same answer; net/http leaves the body out
	}
	res := s.answer(q)
	if s.deployed {
		res = s.coded(res, q)
	}
	s.requests.add(r, res.status, body.n)
	res.send(w, q, time.Since(started))
}

func (s *Service) answer(q *request) reply {
	// The path arrives decoded once, and nothing cleans it: a DOI name may
	// hold "//", "#", "?" or "%".
	area, rest, _ := strings.Cut(strings.TrimPrefix(q.path, "/"), "/")
	if s.deployed {
		return s.answerDeployed(q)
	}
	switch area {
	case "reports":
		return inJSON(s.serveReports(q, rest))
	case "dois":
		return inJSON(s.serveDOIs(q, rest))
	case "doi":
		return inText(s.serveDOI(q, rest))
	case "metadata":
		return inText(s.serveMetadata(q, rest))
	case "media":
		return inText(s.serveMedia(q, rest))
	}
	return inText(reply{}, errNoRoute)
}

// answerDeployed goes by the path as it was sent: each server has its own way
// to read it.
func (s *Service) answerDeployed(q *request) reply {
	if steps, ok := reportsPath(q.URL.EscapedPath()); ok {
		return inJSON(s.serveDeployedReports(q, steps))
	}
	path := arrivesAtStore(q.URL.EscapedPath())
	if path == "/dois" || strings.HasPrefix(path, "/dois/") {
		return inJSON(s.serveDOIs(q, strings.TrimPrefix(path, "/dois")))
	}
	return s.serveStore(q, path)
}

// Package sandbox is the registration service in memory, as an [http.Handler]. Usage
// reports, DOI query and metadata store share one set of records.
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
// The syntax of URIs in metadata is not checked; there are no rate limits. What is
// not supported has the status 501: see wire/unsupported.go.
package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/dois"
	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
	"github.com/datacite-go/datacite-go/datacitetest/internal/mds"
	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/reports"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// A Behaviour says what a service follows where the specification and the servers in
// operation differ.
type Behaviour string

const (
	// Documented follows the specification to the letter.
	Documented Behaviour = "documented"
	// Deployed does what the servers in operation do, flaws included.
	Deployed Behaviour = "deployed"
)

// Types that callers need.
type (
	Account = record.Account
	Fault   = faults.Fault
)

// DefaultAccount is the account of a service whose options name none.
var DefaultAccount = store.DefaultAccount

// Options sets up a [Service]; the zero value and nil are the defaults. The fields are those
// of datacitetest.Options, which documents them.
type Options struct {
	Behaviour   Behaviour // "" means Documented
	Now         func() time.Time
	Accounts    []Account // nil means DefaultAccount alone
	Hosts       []string
	Origins     []string
	TLS         bool
	Faults      func(n int, r *http.Request) *Fault
	MaxDatasets int

	ResolveDelay, UsageLag, IndexLag, WriteTime time.Duration

	MaxReport, MaxBody int64
}

// Service is the registration service in memory. Many goroutines may use it at
// once.
type Service struct {
	*store.Store
	front   faults.Front
	dois    *dois.Service
	mds     *mds.Service
	reports *reports.Service
	work    *atWork
	toCount toCount
	options Options
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
		o.Accounts = []record.Account{store.DefaultAccount}
	}
	settings := store.Settings{
		Deployed: o.Behaviour == Deployed, Clock: o.Now, ResolveDelay: cmp.Or(o.ResolveDelay, 3*time.Minute),
		IndexLag: o.IndexLag, Accounts: o.Accounts,
		MaxReport: atMost(o.MaxReport, wire.MaxReportBody), MaxBody: atMost(o.MaxBody,
			wire.MaxOtherBody), MaxDatasets: atMost(o.MaxDatasets, wire.MaxDatasets),
	}
	s := over(store.New(settings), o, new(atWork))
	s.front.SetFaults(o.Faults)
	return s
}

// over is a service over a store.
func over(store *store.Store, o Options, work *atWork) *Service {
	s := &Service{Store: store, dois: dois.New(store), mds: mds.New(store), reports: reports.New(store, o.WriteTime),
		work: work, options: o}
	s.toCount.lag = o.UsageLag
	s.reports.Stored, s.Store.Announce = s.announceReport, s.announceRecord
	s.front.Respond = s.respond
	s.front.Behind = func(r *http.Request) bool {
		area, _ := areaOf(r)
		return s.Deployed && area == storeArea
	}
	return s
}

// Copy returns a service with the same options and contents, without faults and requests. Changes
// of either do not reach the other.
func (s *Service) Copy() *Service {
	c := over(s.Store.Copy(), s.options, s.work)
	c.reports.Restore(s.reports.Snapshot())
	c.toCount.add(s.toCount.all()...)
	return c
}

// SetFaults replaces the faults of requests; nil means none. They are numbered from 1 again.
func (s *Service) SetFaults(ask func(n int, r *http.Request) *Fault) { s.front.SetFaults(ask) }

// Arrival returns a channel that is closed with the next request, or when the service is replaced.
func (s *Service) Arrival() <-chan struct{} { return s.front.Arrival() }

// atMost is a limit, of which 0 means the most.
func atMost[N int | int64](limit, most N) N { return min(cmp.Or(limit, most), most) }

// Requests returns the last 1,000 requests, oldest first.
func (s *Service) Requests() []faults.Request { return s.front.Requests() }

// PutReportOf stores a report of an account as it is; see datacitetest.PutReportJSON. A report
// of the same id is replaced.
func (s *Service) PutReportOf(clientID string, data json.RawMessage) (id string, err error) {
	return s.reports.Put(clientID, data)
}

// StoredReports are the reports with their subsets, by id.
func (s *Service) StoredReports() []reports.Kept { return s.reports.Kept() }

// ShowReport writes a report as GET shows it, without a request.
func (s *Service) ShowReport(w io.Writer, id string) error { return s.reports.Show(w, id) }

// ShowRecord is a record of any account and state as its owner sees it, without a
// request; nil if there is none.
func (s *Service) ShowRecord(doi string) map[string]any {
	if s.Deployed {
		s.countUsage(s.Now())
	}
	name, _ := names.Read(doi)
	rec := s.Find(name)
	if rec == nil {
		return nil
	}
	v := record.View{Affiliation: true, Publisher: true, Detail: true, Single: true, Deployed: s.Deployed, Owner: true,
		Agency: true}
	if s.Deployed {
		v.Known = s.Known
	}
	return rec.Resource(v)
}

// A snapshot is all that a service holds, as JSON.
type snapshot struct {
	Deployed bool
	Store    store.Snapshot
	Reports  reports.Snapshot
	Awaiting []announcement
}

// Save writes all that the service holds, apart from requests.
func (s *Service) Save(w io.Writer) error {
	s.countUsage(s.Now())
	return json.NewEncoder(w).Encode(snapshot{s.Deployed, s.Store.Snapshot(), s.reports.Snapshot(), s.toCount.all()})
}

// Restore adds what another service of the same behaviour has saved.
func (s *Service) Restore(r io.Reader) error {
	var snap snapshot
	saved := json.NewDecoder(r)
	saved.DisallowUnknownFields() // or any object would be an empty service
	if err := saved.Decode(&snap); err != nil {
		return err
	}
	if snap.Deployed != s.Deployed {
		return errors.New("it was saved by a service of the other behaviour")
	}
	s.Store.Restore(snap.Store)
	s.reports.Restore(snap.Reports)
	s.toCount.add(snap.Awaiting...)
	return nil
}

// ServeHTTP serves a request to any of the three interfaces, by its path:
// /reports, /dois, or /doi and /metadata.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.front.ServeHTTP(w, r) }

// respond does the work of a request, which may meet a fault at a step of it.
func (s *Service) respond(r *http.Request, f *faults.Fault) (status int, send func(http.ResponseWriter)) {
	started := time.Now()
	q := wire.NewRequest(r, f)
	if s.Deployed && seesUsage(q) {
		s.countUsage(s.Now())
	}
	respond := s.respondDocumented
	if s.Deployed {
		respond = s.respondDeployed
	}
	res := respond(q)
	return res.Status, func(w http.ResponseWriter) { res.Send(w, q, time.Since(started)) }
}

// seesUsage says whether a request may tell whether reports were counted before it, or
// takes from them what would have counted.
func seesUsage(q *wire.Request) bool {
	area, _ := areaOf(q.Request)
	return area != reportsArea || q.Verb == http.MethodPut || q.Verb == http.MethodDelete
}

// respondDocumented goes by the path as it arrives: decoded once, and cleaned by
// nothing, as a DOI name may hold "//", "#", "?" or "%".
func (s *Service) respondDocumented(q *wire.Request) wire.Reply {
	area, rest, _ := strings.Cut(strings.TrimPrefix(q.Path, "/"), "/")
	path := q.URL.EscapedPath()
	switch {
	case area == "reports":
		return wire.InJSON(s.reports.Serve(q.Limited(s.MaxReport), rest))
	case dois.Owns(path):
		return s.dois.Serve(q.Limited(s.MaxBody), path)
	}
	if err := dois.Unsupported(q.Verb, path); err != nil {
		return wire.InJSON(wire.Reply{}, err)
	}
	return s.mds.Serve(q.Limited(s.MaxBody), area, rest)
}

// The areas of the public host of the deployed servers.
const (
	reportsArea = iota
	doisArea
	storeArea
)

// areaOf goes by the path as it was sent, since each server reads it differently. A slash at
// the end does not count.
func areaOf(r *http.Request) (area int, path string) {
	path = r.URL.EscapedPath()
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	switch _, ofReports := reports.Path(path); {
	case ofReports:
		return reportsArea, path
	case dois.Owns(path):
		return doisArea, path
	}
	return storeArea, path
}

func (s *Service) respondDeployed(q *wire.Request) wire.Reply {
	switch area, path := areaOf(q.Request); area {
	case reportsArea:
		return wire.InJSON(s.reports.ServeDeployed(q.Limited(s.MaxReport))).Coded(q, s.Now())
	case doisArea:
		return s.dois.Serve(q.Limited(s.MaxBody), path).CodedUntagged(q)
	default:
		if err := dois.Unsupported(q.Verb, path); err != nil {
			return wire.InJSON(wire.Reply{}, err)
		}
		return s.mds.ServeDeployed(q.Limited(s.MaxBody), path)
	}
}

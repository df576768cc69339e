// Package doistest provides a server for tests of programs that use package
// dois: the registration service in memory, without a network.
//
//	srv := doistest.NewServer(nil)
//	defer srv.Close()
//	client := srv.Client()
//
// It is a service rather than a mock: what is written can be read, states change
// as the specification says, and errors have its codes. It is simpler than the
// real one in what it does not keep: no rate limits, few facets, no handles apart
// from Resolve.
//
// # Behaviour
//
// The specification and the service in operation differ in places.
// [Options.Behaviour] says which of the two a [Server] follows: [Documented], the
// default, keeps to the specification, and [Deployed] does what the service does,
// flaws included. A program that works with both works. Deployed differs, among
// other things, in this:
//
//   - Usage reports: no token is 422, an expired one 401. A report is told by its
//     creator, in any case and without accents, and by year and month. Reports
//     come with report-subsets, in no order that counts, and sent compressed with
//     no datasets. A PUT does not ask whose report it is, and keeps the members of
//     the header that it leaves out. Bad dates and bad gzip are 500. A compressed
//     PUT that is refused has destroyed what was there, and so has code 69 on
//     plain JSON. Writes that overlap break a report for good
//     ([Options.WriteTime]).
//   - DOI query: words without an operator must all match, identifiers of names
//     are not searched by default, some names of fields find nothing, filters for
//     provider and client are alternatives, an account sees the drafts of others
//     in lists, groups of samples are 500, and lists may lag behind
//     ([Options.IndexLag]).
//   - Metadata store: PUT /doi before the metadata is 422, what is no URL is 200
//     with a complaint, a wrong password still reads findable DOIs, GET /metadata
//     is never 204, DELETE /metadata of an unknown DOI makes a draft, "#" and "?"
//     cut a DOI in a path, and metadata come back in other bytes.
//
// # Faults
//
// [Options.Faults] makes requests fail: connections that drop before, while and
// after the work is done, answers that break off, pages of a load balancer,
// answers that are late. [Schedule] draws such faults at random, the same for the
// same seed.
package doistest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/sandbox"
)

// A Behaviour says which truth a Server follows.
type Behaviour string

const (
	// Documented follows the specification to the letter. Where the specification
	// says "not shown", it does what the deployed service does.
	Documented Behaviour = "documented"
	// Deployed does what the deployed service does throughout, flaws included.
	Deployed Behaviour = "deployed"
)

// Options are the optional settings of a Server.
type Options struct {
	Behaviour    Behaviour        // "" means Documented
	Now          func() time.Time // the server's clock; nil means time.Now
	ResolveDelay time.Duration    // how long a new DOI takes to resolve; 0 means 3 minutes
	Domains      []string         // hosts that the account's URLs may point to, "*.example.org" for all below; none means any
	NoPort       bool             // do not listen: only Client and HTTPClient reach the server. It may then live inside testing/synctest.

	// WriteTime is how long a Deployed server works on a usage report it was sent,
	// by the time of package time. For three fifths of it nothing is done but
	// reading; then the report is looked up; in the last quarter the database has
	// the new subset, the stored document has not. Until the end a report to which
	// a POST adds cannot be read, and two POSTs that look it up before either has
	// its row break it for good, as in the deployed service; a PUT shows its subset
	// at once. The work goes on when the client goes away. 0 means no time at all.
	WriteTime time.Duration

	// IndexLag is how long, by the server's clock, a Deployed server takes until
	// lists and searches of DOIs show what was written; a single record is shown
	// as it is at once. 0 means no time at all.
	IndexLag time.Duration

	// Faults is asked what happens to each request, n counting from 1; nil, the
	// function or its answer, means nothing out of the ordinary. It is called by
	// one goroutine at a time, and must leave the request's body alone.
	Faults func(n int, r *http.Request) *Fault
}

// Credentials of the account that every Server has. It may register DOIs under
// [Prefix].
const (
	Username = "EXAMPLE.REPO"
	Password = "sandbox-password"
	Prefix   = "10.5072"
)

// A Server is the whole service in memory: usage reports, DOI query and metadata
// store over one set of records. It is empty at first. Many goroutines may use
// it at once.
type Server struct {
	URL       string    // base URL of all three interfaces
	Behaviour Behaviour // the truth that it follows

	service *sandbox.Server
	client  *dois.Client
}

// NewServer starts a server; nil options mean the defaults. The caller closes
// it. It panics if opts names a behaviour that does not exist or no port can be
// had.
func NewServer(opts *Options) *Server {
	if opts == nil {
		opts = &Options{}
	}
	behaviour := cmp.Or(opts.Behaviour, Documented)
	if behaviour != Documented && behaviour != Deployed {
		panic(fmt.Sprintf("doistest: no behaviour %q", behaviour))
	}
	account := sandbox.DefaultAccount
	account.Domains = opts.Domains
	service := sandbox.Serve(&sandbox.Options{
		Behaviour: sandbox.Behaviour(behaviour), Now: opts.Now, ResolveDelay: opts.ResolveDelay,
		Accounts: []sandbox.Account{account}, WriteTime: opts.WriteTime, IndexLag: opts.IndexLag, Faults: inside(opts.Faults),
	}, opts.NoPort)
	s := &Server{URL: service.URL, Behaviour: behaviour, service: service}
	var err error
	s.client, err = dois.NewClient(s.URL, &dois.ClientOptions{Username: Username, Password: Password, HTTPClient: s.HTTPClient()})
	if err != nil {
		panic(fmt.Sprintf("doistest: %v", err)) // the options are constant
	}
	return s
}

// Close frees the port, and waits until the server has done its work on what
// it was sent.
func (s *Server) Close() { s.service.Close() }

// Client returns a client of the server's account.
func (s *Server) Client() *dois.Client { return s.client }

// ServeHTTP lets the server be mounted in another one.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.service.ServeHTTP(w, r) }

// HTTPClient returns an HTTP client that reaches the server, for clients of your
// own options.
func (s *Server) HTTPClient() *http.Client { return s.service.HTTPClient() }

// IssueKey returns a new API key of the server's account, which the DOI query takes
// as a token, as a user name and as a password, and the metadata store as a
// password. The specification does not show keys; both behaviours follow the
// deployed service.
func (s *Server) IssueKey() string { return s.service.IssueKey() }

// RevokeKey makes an API key one that never was.
func (s *Server) RevokeKey(key string) { s.service.RevokeKey(key) }

// Advance moves the server's clock forward.
func (s *Server) Advance(d time.Duration) { s.service.Advance(d) }

// Requests returns what the server was asked, oldest first, the last 1,000.
func (s *Server) Requests() []Request {
	var requests []Request
	for _, r := range s.service.Requests() {
		requests = append(requests, Request{Method: r.Method, Path: r.Path, Query: r.RawQuery, Header: r.Header, Bytes: r.BodySize, Status: r.Status})
	}
	return requests
}

// A Request is one that the server answered.
type Request struct {
	Method string
	Path   string      // still escaped
	Query  string      // still encoded
	Header http.Header // without credentials
	Bytes  int64       // of the body
	Status int         // of the answer; 0 when the connection was dropped before the work
}

// Put stores a record as it is, without checking it. Needed is the DOI; a record
// without State is findable. One with Raw is stored as Raw says.
func (s *Server) Put(r *dois.Record) error {
	data := r.Raw
	if data == nil {
		var err error
		if data, err = json.Marshal(r); err != nil {
			return err
		}
	}
	return s.service.PutRecord(data)
}

// PutJSON stores a record given as the JSON object of its attributes, in which
// any member may have any type.
func (s *Server) PutJSON(attributes []byte) error { return s.service.PutRecord(attributes) }

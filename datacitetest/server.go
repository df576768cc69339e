package datacitetest

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
)

// A Behaviour says whether a server follows the specification or the service in operation.
type Behaviour string

const (
	// Deployed, the default, follows the deployed service, including its flaws.
	Deployed Behaviour = "deployed"
	// Documented follows the specification, and the deployed service where the
	// specification says "not shown".
	Documented Behaviour = "documented"
)

// Options are the optional settings of a server.
type Options struct {
	Behaviour Behaviour // "" means Deployed
	// NoPort: the server does not listen. Only the server's clients and HTTPClient reach it; required inside
	// testing/synctest
	NoPort bool
	Now    func() time.Time // the server's clock; nil means time.Now
	// Accounts: the clients use the first unless As selects another; nil means
	// one zero Account
	Accounts []Account
	Faults   Faults // faults of requests; nil means none

	// Hosts are names such as "sandbox.test" under which requests may reach the port,
	// beside loopback names such as localhost and 127.0.0.1; requests under other names get
	// 421. Web pages of these hosts, on any port, may send requests; those of other hosts
	// get 403. See [Server.Guard].
	Hosts []string

	// TLS serves https instead of http, with a certificate for loopback names and Hosts. The server's
	// clients, Config and HTTPClient trust it; for others, see [Server.CA].
	TLS bool

	// Origins are further origins, such as "https://app.example.org:8443", whose pages may send
	// requests.
	Origins []string

	ResolveDelay time.Duration // how long a new DOI takes to resolve, by the server's clock; 0 means 3 minutes

	// UsageLag is the delay, by the server's clock, until the single records of a Deployed
	// server show the counts of a usage report, and relationships from related identifiers:
	// ReferenceCount, Citations, Versions and the like, in both records. 0 means no delay.
	// Lists show them IndexLag later. See [Server.ProcessUsage].
	UsageLag time.Duration

	// IndexLag is the delay, by the server's clock, until lists and searches of a Deployed
	// server show a change. A single record shows it at once. 0 means no delay.
	IndexLag time.Duration

	// WriteTime is how long a Deployed server works on a usage report, in the time of
	// package time, not of the server's clock:
	//
	//	the first three fifths   it reads the body
	//	then                     it looks the report up
	//	the last quarter         the database has the new subset, the document has not
	//
	// While a POST adds to a report, the report cannot be read; a PUT shows its subset at
	// once. If two POSTs both look the report up before one of them has stored its subset,
	// they break the report permanently. The work continues if the client goes away. 0
	// means no delay.
	WriteTime time.Duration

	// Limits of requests. Set small limits to test how a program exceeds them.
	MaxReport   int64 // bytes in the body of a usage report; more get 413; 0 means 20 MiB, the maximum
	MaxBody     int64 // bytes in any other body; more get 413; 0 means 10 MiB, the maximum
	MaxDatasets int   // datasets in one body; more get 422 from a Documented server; 0 means 50,000, the maximum
}

// A Server is the whole service in memory: usage reports, DOI query and metadata
// store over one set of records. It is empty at first. Many goroutines may use it at
// once. It is an [http.Handler].
type Server struct {
	URL       string // base URL of all three interfaces
	Behaviour Behaviour

	service   *sandbox.Server
	locks     *lockFolder
	account   sandbox.Account // of the clients, tokens, keys and stored records
	reports   *reports.Client
	dois      *dois.Client
	mds       *mds.Client
	reconcile *reconcile.Client
}

// NewServer starts a server; nil options mean the defaults. The caller closes it. It panics
// if opts has an unknown behaviour or the same account twice, if a username or password
// cannot be sent, or if no port is free.
func NewServer(opts *Options) *Server {
	if opts == nil {
		opts = &Options{}
	}
	behaviour := cmp.Or(opts.Behaviour, Deployed)
	if behaviour != Documented && behaviour != Deployed {
		panic(fmt.Sprintf("datacitetest: no behaviour %q", behaviour))
	}
	accounts := inside(opts.Accounts)
	service := sandbox.Serve(&sandbox.Options{
		Behaviour: sandbox.Behaviour(behaviour), Now: opts.Now, Accounts: accounts, Faults: opts.Faults.inside(),
		ResolveDelay: opts.ResolveDelay, UsageLag: opts.UsageLag, IndexLag: opts.IndexLag, WriteTime: opts.WriteTime,
		MaxReport: opts.MaxReport, MaxBody: opts.MaxBody, MaxDatasets: opts.MaxDatasets,
		Hosts: opts.Hosts, Origins: opts.Origins, TLS: opts.TLS,
	}, opts.NoPort)
	return (&Server{URL: service.URL, Behaviour: behaviour, service: service, locks: new(lockFolder)}).as(accounts[0])
}

// as is the server with the clients of an account.
func (s *Server) as(account sandbox.Account) *Server {
	as := Server{URL: s.URL, Behaviour: s.Behaviour, service: s.service, locks: s.locks, account: account}
	cfg := as.Config()
	var errs [4]error
	as.reports, errs[0] = reports.NewClient(cfg)
	as.dois, errs[1] = dois.NewClient(cfg)
	as.mds, errs[2] = mds.NewClient(cfg)
	as.reconcile, errs[3] = reconcile.NewClient(cfg)
	if err := errors.Join(errs[:]...); err != nil {
		s.Close()
		panic(fmt.Sprintf("datacitetest: account %q: %v", account.Username, err))
	}
	return &as
}

// Config returns the configuration of a client of the server: the account's login with a
// token that does not expire, and short pauses (see Clients above). Change it as your test
// needs.
func (s *Server) Config() datacite.Config {
	return datacite.Config{
		Service:  datacite.Service{API: s.URL, MDS: s.URL},
		Username: s.account.Username, Password: s.account.Password,
		TokenSource: func(context.Context) (string, error) { return s.Token(s.Now().Add(365 * 24 * time.Hour)), nil },
		HTTPClient:  s.HTTPClient(), MaxWait: time.Millisecond,
	}
}

// As returns the same server for another of its accounts: clients, tokens, API keys and
// stored records are that account's; everything else is shared, and closing one of the two
// closes both. It panics if [Options].Accounts does not have the account.
func (s *Server) As(username string) *Server {
	for _, account := range s.served().Current().Accounts {
		if strings.EqualFold(account.Username, username) {
			return s.as(account)
		}
	}
	panic(fmt.Sprintf("datacitetest: no account %q", username))
}

// served is the service of a server that NewServer made.
func (s *Server) served() *sandbox.Server {
	if s.service == nil {
		panic("datacitetest: the zero Server; NewServer makes one")
	}
	return s.service
}

// Close frees the port, waits until the current requests are finished, and removes the folder
// of the locks of Submit and Create.
func (s *Server) Close() {
	s.served().Close()
	s.locks.remove()
}

// Save writes the contents of the server, but not Requests: DOIs, usage reports with
// their subsets, API keys, and how far Advance has moved the clock.
func (s *Server) Save(w io.Writer) error { return s.served().Current().Save(w) }

// Restore adds the contents that another server of the same behaviour has saved, and moves
// the clock forward as far as the other server's was. Accounts are not saved: records of an
// account that this server does not have belong to none of its accounts.
func (s *Server) Restore(r io.Reader) error {
	if r == nil {
		return isNil
	}
	var watch input.Watch
	err := s.served().Current().Restore(watch.Reader(r))
	if watch.Failed() {
		return fmt.Errorf("datacitetest.Restore: %w", err)
	}
	return refused("r", err)
}

// Checkpoint makes the current contents of the server, as Save writes them, those to which Reset
// returns. No request should be under way.
func (s *Server) Checkpoint() { s.served().Checkpoint() }

// Reset returns the server to its last [Server.Checkpoint], or empties it if there was none: DOIs,
// usage reports, API keys, and the clock as far as Advance has moved it. Requests and faults are
// removed, those of Options, too (see [Server.SetFaults]); accounts and all other options stay. It
// takes a few milliseconds for 10,000 DOIs.
//
// A request that is under way ends as if there had been no reset, and leaves nothing behind.
func (s *Server) Reset() { s.served().Reset() }

// SetFaults replaces the faults of requests, those of Options, too; nil means none. The next request is the
// first for them.
func (s *Server) SetFaults(f Faults) { s.served().Current().SetFaults(f.inside()) }

// Guard returns a handler that serves requests only under loopback names and Options.Hosts, and
// only for web pages of these and of Options.Origins. Programs that serve a Server, or pages beside it, on a port of
// their own need it: otherwise any web page in a browser of the same machine could read the
// contents of the server. The server's own port is guarded; ServeHTTP and HTTPClient, which no
// page reaches, are not.
func (s *Server) Guard(h http.Handler) http.Handler { return s.served().Guard(h) }

// CA returns the certificate of the authority that has signed the server's, in PEM: clients
// that trust it reach the server with https. Each server makes its own, valid for a year,
// and keeps no key that could sign another certificate. CA is nil unless Options.TLS is set.
func (s *Server) CA() []byte { return s.served().CA() }

// TLSConfig returns the server's certificate for programs that serve a Server on a port of
// their own (see Guard), nil unless Options.TLS is set.
func (s *Server) TLSConfig() *tls.Config { return s.served().TLSConfig() }

// ServeHTTP serves a request to any of the three interfaces, under any name; see Guard.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.served().ServeHTTP(w, r) }

// HTTPClient returns an HTTP client that reaches the server. Clients of this module that
// use it have short pauses, like those of [Server.Config], and keep locks in a temporary folder
// of the server, unless DATACITE_LOCK_DIR or SubmitOptions.LockDir names another. If you wrap its
// Transport in your own, they do not.
func (s *Server) HTTPClient() *http.Client {
	client := *s.served().HTTPClient()
	client.Transport = transport.Embedded{RoundTripper: client.Transport, BaseURL: s.URL, RealTime: isBubble(),
		LockDir: s.locks.path}
	return &client
}

// isBubble reports whether the caller is within testing/synctest, where time begins in the
// year 2000 and waits take none.
func isBubble() bool { return time.Now().Year() < 2020 }

// Reports returns a client of the account for usage reports. Its token does not
// expire. Like those of DOIs and MDS it is made from [Server.Config].
func (s *Server) Reports() *reports.Client { return s.reports }

// DOIs returns a client of the account for DOI records.
func (s *Server) DOIs() *dois.Client { return s.dois }

// Reconcile returns a client of the account that compares and writes whole records.
func (s *Server) Reconcile() *reconcile.Client { return s.reconcile }

// MDS returns a client of the account for the metadata store.
func (s *Server) MDS() *mds.Client { return s.mds }

// Token returns a token of the account, which is valid for usage reports and the DOI query until
// it expires by the server's clock ([Server.Now]), to the second.
func (s *Server) Token(expires time.Time) string {
	return s.served().Current().TokenOf(s.account.ClientID, expires)
}

// IssueKey returns a new API key of the account, which the DOI query accepts as a
// token, as a username and as a password, and the metadata store as a password.
// Usage reports do not accept it. The specification does not show keys; both
// behaviours follow the deployed service.
func (s *Server) IssueKey() string { return s.served().Current().IssueKeyOf(s.account.ClientID) }

// RevokeKey makes an API key unknown to the server.
func (s *Server) RevokeKey(key string) { s.served().Current().RevokeKey(key) }

// Now returns the time by the server's clock.
func (s *Server) Now() time.Time { return s.served().Current().Now() }

// Advance moves the server's clock forward.
func (s *Server) Advance(d time.Duration) { s.served().Current().Advance(d) }

// A Request is a request that the server received, for [Server.Requests].
type Request struct {
	Number int // 1 for the first request; of simultaneous ones, the first that is done
	Method string
	URL    *url.URL    // path and query only; its EscapedPath is the path as it was sent
	Header http.Header // without credentials
	Body   []byte      // its first 16 KiB, as received
	Bytes  int64       // size of the body, as far as the server has read it
	Status int         // of the response, even if a fault replaced it; 0 when the connection was dropped before it
	Fault  FaultKind   // fault of the request; "" if there was none
}

// Requests returns the last 1,000 requests, oldest first.
func (s *Server) Requests() []Request {
	var requests []Request
	for _, r := range s.served().Current().Requests() {
		requests = append(requests, request(r))
	}
	return requests
}

// AwaitRequest returns the first request for which match returns true, and waits for it if there
// is none among the last 1,000. match gets each request once, oldest first, so it may count. A nil
// match is refused; other errors are the context's.
func (s *Server) AwaitRequest(ctx context.Context, match func(*Request) bool) (*Request, error) {
	if match == nil {
		return nil, datacite.Invalidf("match", datacite.CodeMissing, "is nil")
	}
	seen, of := 0, s.served().Current()
	for {
		arrival := of.Arrival()
		if current := s.served().Current(); current != of { // Reset has taken the requests away
			seen, of = 0, current
			continue
		}
		for _, r := range of.Requests() {
			if r.Number <= seen {
				continue
			}
			seen = r.Number
			if found := request(r); match(&found) {
				return &found, nil
			}
		}
		select {
		case <-arrival:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func request(r faults.Request) Request {
	return Request{Number: r.Number, Method: r.Method, URL: r.URL, Header: r.Header, Body: r.Body, Bytes: r.BodySize,
		Status: r.Status, Fault: FaultKind(r.Fault)}
}

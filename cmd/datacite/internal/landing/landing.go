// Package landing asks the landing pages of DOIs, and judges them by DataCite's rules: status 200, HTML, and the DOI on
// the page. Each host gets one request at a time, at a rate and by its robots.txt; several hosts are
// asked side by side.
package landing

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Page is a DOI with the URL that it leads to.
type Page struct {
	DOI   string `json:"doi"`
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// A Kind says how a page was found.
type Kind string

// The kinds.
const (
	Right       Kind = "page-right"
	Redirected  Kind = "page-redirected"  // right, at another address
	Status      Kind = "page-status"      // a status other than 200
	NotHTML     Kind = "page-not-html"    // such as a PDF
	NoDOI       Kind = "page-no-doi"      // HTML without the DOI
	Redirects   Kind = "page-redirects"   // they lead nowhere: a loop, too many, another scheme
	Unreachable Kind = "page-unreachable" // no answer, or the server is busy
	NotAsked    Kind = "page-not-asked"   // by robots.txt, at a private address, at a host that does not answer
)

// Faults are the kinds of pages that are not right, or not known to be.
var Faults = []Kind{Status, NotHTML, NoDOI, Redirects, Unreachable, NotAsked}

// A Result is what became of a page.
type Result struct {
	Page
	Kind   Kind     `json:"kind"`
	Reason string   `json:"reason,omitempty"` // of a fault
	Via    []string `json:"via,omitempty"`    // where redirects led to, one after the other
}

// Options are those of Check.
type Options struct {
	UserAgent string
	Rate      float64 // most requests a second to one host; 0 means 1
	// AllowPrivate: also private, loopback and link-local addresses are asked, and proxies of the
	// environment are used
	AllowPrivate bool
	Journal      *Journal // results of an earlier run, which are not asked again; nil for none
}

// The bounds.
const (
	sideBySide   = 8 // hosts
	mostHops     = 10
	mostBytes    = 2 << 20 // of a page
	timeout      = 30 * time.Second
	longestPause = 10 * time.Minute
	givesUp      = 5 // pages of a host without an answer, one after the other
)

// A checker is one run.
type checker struct {
	opts   Options
	client http.RoundTripper

	mu    sync.Mutex
	gates map[string]*gate // by host
}

// Check asks the pages, and returns a result for each; those of a host in their order. It ends with an error of
// the context, of the temporary file or of the journal.
func Check(ctx context.Context, pages *Pages, opts *Options) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		transport := newTransport(opts.AllowPrivate)
		defer transport.CloseIdleConnections()
		c := &checker{opts: *opts, client: transport, gates: map[string]*gate{}}
		c.check(ctx, pages)(yield)
	}
}

func newTransport(allowPrivate bool) *http.Transport {
	dialer := &net.Dialer{Timeout: timeout}
	t := &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 2 * sideBySide, MaxIdleConnsPerHost: 1,
		IdleConnTimeout: timeout, TLSHandshakeTimeout: timeout, MaxResponseHeaderBytes: 64 << 10,
	}
	if allowPrivate {
		t.Proxy = http.ProxyFromEnvironment
		return t
	}
	// The address is looked at when it is dialled: a name may lead elsewhere each time. A proxy would hide it.
	dialer.Control = func(_, address string, _ syscall.RawConn) error { return checkPublic(address) }
	return t
}

type found struct {
	Result
	err error
}

func (c *checker) check(ctx context.Context, pages *Pages) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		if err := pages.flush(); err != nil {
			yield(Result{}, err)
			return
		}
		var wg sync.WaitGroup
		defer wg.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		hosts, results := make(chan string), make(chan found)
		wg.Go(func() {
			defer close(hosts)
			for _, host := range pages.names() {
				select {
				case hosts <- host:
				case <-ctx.Done():
					return
				}
			}
		})
		var workers sync.WaitGroup
		for range min(sideBySide, len(pages.hosts)) {
			workers.Go(func() {
				for host := range hosts {
					c.host(ctx, pages, host, results)
				}
			})
		}
		wg.Go(func() { workers.Wait(); close(results) })
		for f := range results {
			if !yield(f.Result, f.err) || f.err != nil {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Result{}, err)
		}
	}
}

// host asks the pages of a host, until it has not answered several times.
func (c *checker) host(ctx context.Context, pages *Pages, host string, results chan<- found) {
	silent, last := 0, ""
	for page, err := range pages.of(host) {
		r := Result{Page: page}
		known := false
		if err == nil {
			r, known, err = c.opts.Journal.find(page)
		}
		switch {
		case err != nil || known:
		case silent == givesUp:
			r.Kind, r.Reason = NotAsked, fmt.Sprintf("the host was given up after %d pages without an answer: %s", givesUp, last)
		default:
			if r = c.ask(ctx, page); ctx.Err() != nil {
				return
			}
			if silent++; r.Kind != Unreachable {
				silent = 0
			}
			last = r.Reason
			err = c.opts.Journal.put(r)
		}
		select {
		case results <- found{r, err}:
		case <-ctx.Done():
			return
		}
	}
}

// A fault is why a page is not right.
type fault struct {
	kind   Kind
	reason string
}

func (f *fault) Error() string { return f.reason }

// ask asks a page.
func (c *checker) ask(ctx context.Context, page Page) Result {
	r := Result{Page: page, Kind: Right}
	answer, err := c.follow(ctx, &r)
	if err == nil {
		err = answer.judge(page.DOI)
	}
	if err != nil {
		f := faultOf(err)
		r.Kind, r.Reason = f.kind, f.reason
	} else if len(r.Via) > 0 {
		r.Kind = Redirected
	}
	return r
}

// follow asks with HEAD, and with GET what that did not tell, along redirects. HEAD settles only that
// something is not HTML: servers refuse it with all kinds of status.
func (c *checker) follow(ctx context.Context, r *Result) (*answer, error) {
	u, err := parse(nil, r.URL)
	if err != nil {
		return nil, err
	}
	method, seen := http.MethodHead, map[string]bool{}
	for {
		a, err := c.request(ctx, method, u)
		if err == nil && a.isRedirect() {
			if seen[u.String()] {
				return nil, &fault{Redirects, "a loop of redirects"}
			}
			seen[u.String()] = true
			if len(r.Via) == mostHops {
				return nil, &fault{Redirects, fmt.Sprintf("more than %d redirects", mostHops)}
			}
			if u, err = parse(u, a.location); err != nil {
				return nil, err
			}
			r.Via = append(r.Via, u.String())
			continue
		}
		if method == http.MethodGet || faultOf(err).kind == NotAsked ||
			err == nil && a.status == http.StatusOK && a.media != "" && !a.isHTML() {
			return a, err
		}
		method = http.MethodGet
	}
}

// An answer is the response to a request.
type answer struct {
	status    int
	media     string // "" if the server does not say it
	location  string
	retry     string
	body      []byte // as far as it was read
	truncated bool
}

func (a *answer) isRedirect() bool {
	return slices.Contains([]int{301, 302, 303, 307, 308}, a.status) && a.location != ""
}

func (a *answer) isHTML() bool { return a.media == "text/html" || a.media == "application/xhtml+xml" }

// isBusy reports whether the server asks for patience.
func (a *answer) isBusy() bool {
	return a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable
}

// judge applies DataCite's rules to a page.
func (a *answer) judge(name string) error {
	status := strings.TrimSpace(fmt.Sprint(a.status, " ", http.StatusText(a.status)))
	switch {
	case a.isBusy():
		return &fault{Unreachable, status}
	case a.status != http.StatusOK:
		return &fault{Status, status}
	case !a.isHTML():
		return &fault{NotHTML, a.media}
	case hasDOI(a.body, name):
		return nil
	case a.truncated:
		return &fault{NoDOI, fmt.Sprintf("the DOI is not in the first %d MiB of the page", mostBytes>>20)}
	}
	return &fault{NoDOI, "the DOI is not on the page"}
}

// read reads a response up to a bound.
func read(resp *http.Response, most int64) (*answer, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, err
	}
	a := &answer{status: resp.StatusCode, location: resp.Header.Get("Location"), retry: resp.Header.Get("Retry-After")}
	a.truncated = int64(len(body)) > most
	a.body = body[:min(int64(len(body)), most)]
	kind := resp.Header.Get("Content-Type")
	if len(body) > 0 {
		kind = cmp.Or(kind, http.DetectContentType(body))
	}
	kind, _, _ = mime.ParseMediaType(kind) // what is none is "", or the part before the parameters
	a.media = kind
	return a, nil
}

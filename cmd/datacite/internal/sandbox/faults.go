package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// A route is chosen requests, written as "PUT /metadata", "/metadata", "PUT" or "".
type route struct {
	method string // "" for any
	path   string // and all below it; "" for any
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

func readRoute(text string) (r route, err error) {
	first, path, found := strings.Cut(strings.TrimSpace(text), " ")
	if method := strings.ToUpper(first); slices.Contains(methods, method) {
		r.method = method
	} else {
		path = strings.TrimSpace(text)
	}
	if path = strings.TrimSpace(path); path != "" && !strings.HasPrefix(path, "/") {
		if found && r.method == "" {
			return r, fmt.Errorf("%q is not a method; there are %s", first, strings.Join(methods, ", "))
		}
		return r, fmt.Errorf(`the path %q does not begin with /; write a route as "PUT /metadata"`, path)
	}
	r.path = strings.TrimRight(path, "/")
	return r, nil
}

func (r route) fits(method, path string) bool {
	below := len(path) > len(r.path) && path[len(r.path)] == '/'
	return (r.method == "" || r.method == method) &&
		(r.path == "" || strings.EqualFold(path, r.path) || below && strings.EqualFold(path[:len(r.path)], r.path))
}

// A faultRule is what happens to which requests. Flags, the control interface and the page have
// these members.
type faultRule struct {
	Route string   `json:"route"` // "" for all requests
	Fault string   `json:"fault"` // such as 503 or drop-after; see readFault
	Count int      `json:"count"` // at most so many requests; 0 means no limit
	Share *float64 `json:"share"` // of the requests, at random; nil means all
	Seed  *uint64  `json:"seed"`  // decides which ones; nil means 1
}

// String is a rule in the form of --fault. The seed is missing.
func (r faultRule) String() string {
	what := r.Fault
	if r.Count > 0 {
		what = fmt.Sprintf("%d*%s", r.Count, what)
	}
	if r.Share != nil {
		what = fmt.Sprintf("%.6g%%*%s", *r.Share*100, what)
	}
	return cmp.Or(r.Route, "/") + "=" + what
}

// readRule reads a rule such as "PUT /metadata=2*503". The seed of --seed is for all of them.
func readRule(text string, seed uint64) (r faultRule, err error) {
	at := strings.LastIndexByte(text, '=') // a name may have one, too
	if at < 0 {
		return r, errors.New(`write it as "PUT /metadata=503"`)
	}
	r.Route, r.Fault = strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
	for {
		part, rest, found := strings.Cut(r.Fault, "*")
		if !found {
			return r, nil
		}
		r.Fault = rest
		if digits, isShare := strings.CutSuffix(part, "%"); isShare {
			percent, err := strconv.ParseFloat(digits, 64)
			if err != nil {
				return r, fmt.Errorf("%q is not a share such as 20%%", part)
			}
			r.Share, r.Seed = new(percent/100), new(seed)
		} else if r.Count, err = strconv.Atoi(part); err != nil || r.Count < 1 {
			return r, fmt.Errorf("%q is not a count of at least 1", part)
		}
	}
}

// A listedFault is a rule that is in force.
type listedFault struct {
	ID int `json:"id"`
	faultRule
	Met int `json:"met"` // how many requests it has met

	route  route
	fault  *datacitetest.Fault // nil for one of any kind
	chosen datacitetest.Faults // of the requests that fit
	fit    int                 // how many requests did
}

// newFault checks a rule.
func newFault(rule faultRule, behaviour datacitetest.Behaviour) (f *listedFault, err error) {
	f = &listedFault{faultRule: rule}
	share := cmp.Or(rule.Share, new(1.))
	f.Seed = cmp.Or(rule.Seed, new(uint64(1)))
	if f.route, err = readRoute(rule.Route); err != nil {
		return nil, err
	}
	if rule.Fault != "random" {
		if f.fault, err = readFault(rule.Fault); err != nil {
			return nil, err
		}
	}
	switch {
	case rule.Count < 0:
		return nil, fmt.Errorf("count is %d; it must be at least 1, and without it there is no limit", rule.Count)
	case !(*share > 0 && *share <= 1):
		return nil, fmt.Errorf("share is %v; it is more than 0 and at most 1", *share)
	case f.fault != nil && f.fault.Behind && behaviour != datacitetest.Deployed:
		return nil, errors.New("behind needs --behaviour deployed")
	}
	f.chosen = datacitetest.Schedule(*f.Seed, *share)
	return f, nil
}

// of is the fault of a request, nil if it has none.
func (f *listedFault) of(r *http.Request) *datacitetest.Fault {
	if f.Count > 0 && f.Met == f.Count || !f.route.fits(r.Method, r.URL.Path) {
		return nil
	}
	f.fit++
	chosen := f.chosen(f.fit, r)
	if chosen == nil {
		return nil
	}
	f.Met++
	return cmp.Or(f.fault, chosen)
}

// faultList is the faults of the sandbox. The first that fits a request counts.
type faultList struct {
	mu   sync.Mutex
	all  []*listedFault
	last int // id
}

// of is the fault of a request, a [datacitetest.Faults].
func (l *faultList) of(_ int, r *http.Request) *datacitetest.Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.all {
		if fault := f.of(r); fault != nil {
			return fault
		}
	}
	return nil
}

// add puts a fault at the end of the list.
func (l *faultList) add(rule faultRule, behaviour datacitetest.Behaviour) (added listedFault, err error) {
	f, err := newFault(rule, behaviour)
	if err != nil {
		return added, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	f.ID = l.last
	l.all = append(l.all, f)
	return *f, nil
}

// remove takes out the fault with an id, or all.
func (l *faultList) remove(id string) (found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.all)
	l.all = slices.DeleteFunc(l.all, func(f *listedFault) bool { return id == "" || strconv.Itoa(f.ID) == id })
	return id == "" || len(l.all) < n
}

// list is the faults as they are now.
func (l *faultList) list() []listedFault {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := []listedFault{}
	for _, f := range l.all {
		all = append(all, *f)
	}
	return all
}

// interfaces are what --down names.
var interfaces = map[string][]string{
	"mds": {"/doi", "/metadata", "/media"}, "dois": {"/dois"}, "reports": {"/reports"},
}

// readFaults reads the flags.
func (c *command) readFaults() (all []faultRule, err error) {
	for _, text := range c.chosen {
		rule, err := readRule(text, c.seed)
		if err == nil {
			_, err = newFault(rule, c.options.Behaviour) // add checks it again, and cannot fail
		}
		if err != nil {
			return nil, fmt.Errorf("--fault %q: %w", text, err)
		}
		all = append(all, rule)
	}
	for _, name := range c.down {
		paths, found := interfaces[name]
		if !found {
			return nil, fmt.Errorf("--down: %w", shell.NotOne(name, []string{"mds", "dois", "reports"}))
		}
		for _, path := range paths {
			all = append(all, faultRule{Route: path, Fault: "503"})
		}
	}
	if c.random > 0 {
		all = append(all, faultRule{Fault: "random", Share: &c.random, Seed: &c.seed})
	}
	return all, nil
}

var connectionFaults = []datacitetest.FaultKind{datacitetest.FaultDropBefore, datacitetest.FaultDropDuring,
	datacitetest.FaultDropAfter, datacitetest.FaultCutResponse}

// readFault reads a fault of a known kind.
func readFault(text string) (*datacitetest.Fault, error) {
	kind := datacitetest.FaultKind(text)
	if slices.Contains(connectionFaults, kind) {
		return &datacitetest.Fault{Kind: kind}, nil
	}
	if text == "behind" {
		return &datacitetest.Fault{Kind: datacitetest.FaultDropBefore, Behind: true}, nil
	}
	if delay, err := time.ParseDuration(text); err == nil && delay > 0 {
		return &datacitetest.Fault{Kind: datacitetest.FaultDelay, Delay: delay}, nil
	}
	code, wait, waits := strings.Cut(text, " retry-after ")
	pause, err := time.ParseDuration(wait)
	if waits && (err != nil || pause <= 0) {
		return nil, fmt.Errorf("%q is not a time such as 30s", wait)
	}
	digits, after := strings.CutSuffix(code, "-after")
	status, err := strconv.Atoi(digits)
	if err != nil || status < 400 || status > 599 {
		return nil, fmt.Errorf(`there is no fault %q: it is a status from 400 to 599, one with -after, either with `+
			`"retry-after 30s"; a time such as 5s; drop-before, drop-during, drop-after, cut-response, behind or random`, text)
	}
	kind = datacitetest.FaultStatus
	if after {
		kind = datacitetest.FaultStatusAfter
	}
	return &datacitetest.Fault{Kind: kind, Status: status, RetryAfter: pause}, nil
}

// asked is the route of a request that was logged.
func asked(r *datacitetest.Request) (method, path string) { return r.Method, r.URL.Path }

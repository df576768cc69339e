package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// A route is the requests that meet a fault.
type route struct {
	method string // "" for any
	path   string // and all below it
	most   int    // how many of them; 0 means all
	fault  datacitetest.Fault
}

func (r route) fits(q *http.Request) bool {
	below := len(q.URL.Path) > len(r.path) && q.URL.Path[len(r.path)] == '/'
	return (r.method == "" || r.method == q.Method) &&
		(strings.EqualFold(q.URL.Path, r.path) || below && strings.EqualFold(q.URL.Path[:len(r.path)], r.path))
}

func (r route) faults() datacitetest.Faults {
	return datacitetest.Faults(func(n int, _ *http.Request) *datacitetest.Fault {
		if r.most > 0 && n > r.most {
			return nil
		}
		return &r.fault
	}).When(r.fits)
}

// routes are those of a run.
type routes []route

// readRoutes reads faults such as "PUT /metadata=503", and the names of interfaces that are down.
func readRoutes(chosen, down []string) (all routes, err error) {
	for _, text := range chosen {
		one, err := readRoute(text)
		if err != nil {
			return nil, fmt.Errorf("--fault %q: %w", text, err)
		}
		all = append(all, one)
	}
	for _, name := range down {
		paths, found := interfaces[name]
		if !found {
			return nil, fmt.Errorf("--down: %w", shell.NotOne(name, []string{"mds", "dois", "reports"}))
		}
		for _, path := range paths {
			all = append(all, route{path: path, fault: datacitetest.Fault{Kind: datacitetest.Status, Status: http.StatusServiceUnavailable}})
		}
	}
	return all, nil
}

var interfaces = map[string][]string{
	"mds": {"/doi", "/metadata", "/media"}, "dois": {"/dois"}, "reports": {"/reports"},
}

// faults are those of the first route that fits.
func (r routes) faults() (all datacitetest.Faults) {
	for _, one := range r {
		all = all.Or(one.faults())
	}
	return all
}

func readRoute(text string) (one route, err error) {
	at := strings.LastIndexByte(text, '=') // a name may have one, too
	if at < 0 {
		return one, errors.New(`write it as "PUT /metadata=503"`)
	}
	where, what := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
	if method, path, found := strings.Cut(where, " "); found {
		one.method, where = strings.ToUpper(method), strings.TrimSpace(path)
	}
	if !strings.HasPrefix(where, "/") {
		return one, fmt.Errorf("the path %q does not begin with /", where)
	}
	one.path = strings.TrimRight(where, "/")
	if times, rest, found := strings.Cut(what, "*"); found {
		n, err := strconv.Atoi(times)
		if err != nil || n < 1 {
			return one, fmt.Errorf("%q is not how often, from 1 up", times)
		}
		one.most, what = n, rest
	}
	one.fault, err = readFault(what)
	return one, err
}

var connectionFaults = []datacitetest.FaultKind{datacitetest.DropBefore, datacitetest.DropDuring, datacitetest.DropAfter, datacitetest.CutResponse}

func readFault(text string) (datacitetest.Fault, error) {
	kind := datacitetest.FaultKind(text)
	if slices.Contains(connectionFaults, kind) {
		return datacitetest.Fault{Kind: kind}, nil
	}
	if text == "behind" {
		return datacitetest.Fault{Kind: datacitetest.DropBefore, Behind: true}, nil
	}
	if delay, err := time.ParseDuration(text); err == nil && delay > 0 {
		return datacitetest.Fault{Kind: datacitetest.Delay, Delay: delay}, nil
	}
	digits, after := strings.CutSuffix(text, "-after")
	status, err := strconv.Atoi(digits)
	if err != nil || status < 400 || status > 599 {
		return datacitetest.Fault{}, fmt.Errorf("there is no fault %q: it is a status from 400 to 599, one with -after, a time such as 5s, drop-before, drop-during, drop-after, cut-response or behind", text)
	}
	kind = datacitetest.Status
	if after {
		kind = datacitetest.StatusAfter
	}
	return datacitetest.Fault{Kind: kind, Status: status}, nil
}

package mds_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
)

// A fault is what happens to one request on its way to the service or back.
type fault int

const (
	pass            fault = iota
	loseRequest           // the connection breaks before the service reads the request
	loseResponse          // the service carries the request out, and the connection breaks
	failBefore            // 500, nothing carried out
	failAfter             // 502 with a page, carried out
	busy                  // 503 with Retry-After, nothing carried out
	tooMany               // 429, nothing carried out
	busyAfter             // 503 with Retry-After, carried out
	tooManyAfter          // 429, carried out
	cutResponse           // carried out, the body of the response breaks off
	otherPage             // carried out, 200 with somebody's page
	deniedPage            // 403 with a page, nothing carried out
	deniedPageAfter       // 403 with a page, carried out
	faults                // how many there are
)

// schedule is a fault for each request; requests beyond its end pass.
type schedule []fault

// line does with a request what happens to it between client and service.
type line func(*http.Request, http.RoundTripper) (*http.Response, error)

// between is a client of a server with something in the line between them.
func between(t testing.TB, srv *datacitetest.Server, l line) *mds.Client {
	t.Helper()
	return as(t, srv, account, &datacite.Config{HTTPClient: l.to(srv)})
}

func (l line) to(srv *datacitetest.Server) *http.Client {
	next := srv.HTTPClient().Transport
	return &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) { return l(req, next) })}
}

// faulty is a client whose requests meet the faults of a schedule, one each.
func faulty(t testing.TB, srv *datacitetest.Server, s schedule) *mds.Client {
	t.Helper()
	return between(t, srv, s.line())
}

func (s schedule) line() line {
	var mu sync.Mutex
	return func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		mu.Lock()
		f := pass
		if len(s) > 0 {
			f, s = s[0], s[1:]
		}
		mu.Unlock()
		return f.meet(req, next)
	}
}

var errLine = errors.New("connection reset by peer")

func (f fault) meet(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	switch f {
	case loseRequest:
		return nil, errLine
	case failBefore:
		return response(500, plain, "We're sorry, but something went wrong."), nil
	case tooMany:
		return turnedAway(429), nil
	case busy:
		return turnedAway(503), nil
	case deniedPage:
		return response(403, "text/html", "<html><title>403 Forbidden</title></html>"), nil
	}
	res, err := next.RoundTrip(req)
	if err != nil || f == pass {
		return res, err
	}
	defer res.Body.Close()
	switch f {
	case failAfter:
		return response(502, "text/html", "<html><title>Bad Gateway</title></html>"), nil
	case tooManyAfter:
		return turnedAway(429), nil
	case busyAfter:
		return turnedAway(503), nil
	case deniedPageAfter:
		return response(403, "text/html", "<html><title>403 Forbidden</title></html>"), nil
	case otherPage:
		return response(200, "text/html", "<html><title>Please log in</title></html>"), nil
	case cutResponse:
		cut := response(res.StatusCode, plain, "")
		cut.Body = io.NopCloser(io.MultiReader(strings.NewReader("O"), failing{}))
		return cut, nil
	}
	return nil, errLine
}

// turnedAway is the response of a gateway that has enough to do.
func turnedAway(status int) *http.Response {
	res := response(status, plain, "Come again later")
	res.Header.Set("Retry-After", "7")
	return res
}

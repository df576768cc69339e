package testkit_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
)

// conditions are the exported conditions of all packages.
var conditions = map[string]error{
	"datacite.ErrBadRequest": datacite.ErrBadRequest, "datacite.ErrUnauthorized": datacite.ErrUnauthorized,
	"datacite.ErrForbidden": datacite.ErrForbidden,
	"datacite.ErrNotFound":  datacite.ErrNotFound, "datacite.ErrNotAllowed": datacite.ErrNotAllowed, "datacite.ErrConflict": datacite.ErrConflict,
	"datacite.ErrTooLarge": datacite.ErrTooLarge, "datacite.ErrMediaType": datacite.ErrMediaType, "datacite.ErrInvalid": datacite.ErrInvalid,
	"datacite.ErrInvalidDOI": datacite.ErrInvalidDOI, "datacite.ErrRateLimited": datacite.ErrRateLimited, "datacite.ErrServer": datacite.ErrServer,
	"datacite.ErrRedirect": datacite.ErrRedirect, "datacite.ErrUnreadable": datacite.ErrUnreadable, "datacite.ErrIncomplete": datacite.ErrIncomplete,
	"datacite.ErrUnclear":    datacite.ErrUnclear,
	"mds.ErrMetadataMissing": mds.ErrMetadataMissing, "mds.ErrTimeout": mds.ErrTimeout, "mds.ErrNoMetadata": mds.ErrNoMetadata, "mds.ErrNoURL": mds.ErrNoURL,
	"mds.ErrReplacedCharacters": mds.ErrReplacedCharacters, "mds.ErrHalfRegistered": mds.ErrHalfRegistered, "mds.ErrHidden": mds.ErrHidden, "mds.ErrUnconfirmed": mds.ErrUnconfirmed,
	"dois.ErrNoFormat": dois.ErrNoFormat, "dois.ErrForeign": dois.ErrForeign,
	"reconcile.ErrNotAsDesired": reconcile.ErrNotAsDesired, "reconcile.ErrLoss": reconcile.ErrLoss, "reconcile.ErrHalfWritten": reconcile.ErrHalfWritten,
	"reconcile.ErrNothingListed": reconcile.ErrNothingListed,
	"reports.ErrTokenExpired":    reports.ErrTokenExpired, "reports.ErrRepeated": reports.ErrRepeated, "reports.ErrBusy": reports.ErrBusy, "reports.ErrBroken": reports.ErrBroken,
}

func exportedConditions(t *testing.T) (names []string) {
	for _, file := range publicFiles(t) {
		for _, d := range file.parsed.Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, spec := range vars.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if strings.HasPrefix(name.Name, "Err") {
						names = append(names, file.parsed.Name.Name+"."+name.Name)
					}
				}
			}
		}
	}
	return names
}

// callersContext is the context of one call, which a test ends when it wants to.
type callersContext struct {
	context.Context
	end func()
}

func callersContexts(t *testing.T, cause error) map[string]func() callersContext {
	return map[string]func() callersContext{
		"canceled": func() callersContext {
			ctx, cancel := context.WithCancelCause(t.Context())
			return callersContext{ctx, func() { cancel(cause) }}
		},
		"deadline": func() callersContext {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, cause)
			t.Cleanup(cancel)
			return callersContext{ctx, func() {
				<-ctx.Done()
				time.Sleep(time.Nanosecond) // contexts made of it end a moment after it
			}}
		},
	}
}

type limiter func(context.Context) error

func (f limiter) Wait(ctx context.Context) error { return f(ctx) }

type body func([]byte) (int, error)

func (f body) Read(p []byte) (int, error) { return f(p) }

// moments end the context at some point of a call, as often as it comes to it. Each does what
// net/http and others do: it returns the cause alone.
var moments = map[string]func(cfg *datacite.Config, end func(), number int){
	"before the call": func(*datacite.Config, func(), int) {},
	"in the limiter": func(cfg *datacite.Config, end func(), number int) {
		pass := first(number)
		cfg.Limiter = limiter(func(ctx context.Context) error {
			if pass() {
				return nil
			}
			end()
			return context.Cause(ctx)
		})
	},
	"in the source of tokens": func(cfg *datacite.Config, end func(), number int) {
		tokens, pass := cfg.TokenSource, first(number)
		cfg.TokenSource = func(ctx context.Context) (string, error) {
			if pass() {
				return tokens(ctx)
			}
			end()
			return "", context.Cause(ctx)
		}
	},
	"during a request": inTransport(func(r *http.Request, end func(), _ http.RoundTripper) (*http.Response, error) {
		end()
		return nil, context.Cause(r.Context())
	}),
	"during a response": inTransport(func(r *http.Request, end func(), service http.RoundTripper) (*http.Response, error) {
		res, err := service.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		res.Body.Close()
		res.Body = io.NopCloser(body(func([]byte) (int, error) {
			end()
			return 0, context.Cause(r.Context())
		}))
		return res, nil
	}),
	"before a retry": inTransport(func(r *http.Request, end func(), _ http.RoundTripper) (*http.Response, error) {
		end()
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{},
			Body: io.NopCloser(strings.NewReader("busy")), Request: r}, nil
	}),
}

// first is true the first times that it is called, from any goroutine.
func first(times int) func() bool {
	var called atomic.Int64
	return func() bool { return called.Add(1) <= int64(times) }
}

func inTransport(do func(r *http.Request, end func(),
	service http.RoundTripper) (*http.Response, error)) func(*datacite.Config, func(), int) {
	return func(cfg *datacite.Config, end func(), number int) {
		service, pass := cfg.HTTPClient.Transport, first(number)
		cfg.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if pass() {
				return service.RoundTrip(r)
			}
			return do(r, end, service)
		})}
	}
}

// sceneOf is a scene with clients of a configuration.
func sceneOf(t *testing.T, cfg datacite.Config) *scene {
	t.Helper()
	var s scene
	var errs [4]error
	s.reconcile, errs[3] = reconcile.NewClient(cfg)
	s.mds, errs[0] = mds.NewClient(cfg)
	s.reports, errs[1] = reports.NewClient(cfg)
	s.dois, errs[2] = dois.NewClient(cfg)
	require.NoError(t, errors.Join(errs[:]...))
	return &s
}

// A context that ends, with whatever cause and at whatever moment, is never taken for the
// response of the service.
func TestContextsThatEnd(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	require.ElementsMatch(t, exportedConditions(t), slices.Collect(maps.Keys(conditions)),
		"exported conditions, and those that are tested")
	all := errors.Join(slices.Collect(maps.Values(conditions))...)
	sibling := fmt.Errorf("sibling: %w: %w", &datacite.Error{StatusCode: http.StatusNotFound, Err: all},
		errors.Join(io.EOF, fs.ErrNotExist, context.DeadlineExceeded))
	var calls map[string]int
	synctest.Test(t, func(t *testing.T) { calls = sending(t) })
	for what, cause := range map[string]error{"none": nil, "the error of a sibling": sibling,
		"a bare condition": datacite.ErrNotFound, "the end of a file": io.EOF} {
		for moment, arm := range moments {
			for number := range 3 {
				if number > 0 && (moment == "before the call" || cause != sibling) {
					continue // what number changes does not depend on the cause
				}
				t.Run(fmt.Sprintf("%s/%s/%d", what, moment, number), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { endContexts(t, calls, cause, moment, arm, number) })
				})
			}
		}
	}
}

func endContexts(t *testing.T, calls map[string]int, cause error, moment string,
	arm func(*datacite.Config, func(), int), number int) {
	srv := serviceWithADOI(t)
	defer srv.Close()
	for kind, newContext := range callersContexts(t, cause) {
		for name, i := range calls {
			ctx, before := newContext(), len(srv.Requests())
			cfg := srv.Config()
			cfg.Token = ""
			cfg.TokenSource = func(context.Context) (string, error) { return srv.Token(srv.Now().Add(time.Hour)), nil }
			arm(&cfg, ctx.end, number)
			f := functions(sceneOf(t, cfg))[name]
			if moment == "before the call" {
				ctx.end()
			}
			errs := everyOutcome(f, combinations(ctx, f)[i])
			if ctx.Err() == nil {
				continue // it does not come to this moment
			}
			err := errs[0]
			if at := slices.IndexFunc(errs, func(err error) bool { return errors.Is(err, ctx.Err()) }); at >= 0 {
				err = errs[at] // other values may have come before
			}
			what := fmt.Sprintf("%s: %s: %v", kind, name, err)
			require.Error(t, err, what)
			var also []error // what the client knows of its own requests
			switch {
			case moment == "before the call":
				assert.Equal(t, before, len(srv.Requests()), what)
			case number > 0 || moment != "in the limiter" && moment != "in the source of tokens":
				also = []error{datacite.ErrUnclear, datacite.ErrIncomplete, mds.ErrHalfRegistered, mds.ErrUnconfirmed}
			}
			if moment == "before a retry" {
				if also = append(also, datacite.ErrServer); errors.Is(err, datacite.ErrUnclear) {
					continue // it is not sent again
				}
			}
			isEnd(t, ctx, cause, err, also, what)
		}
	}
}

func serviceWithADOI(t *testing.T) *datacitetest.Server {
	t.Helper()
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
	rec := dois.Record{Record: plain(0), URL: "https://example.org/", State: datacite.StateFindable}
	rec.DOI = names[0]
	require.NoError(t, srv.PutRecord(&rec))
	return srv
}

// sending is for each function with a context the place of the first of its combinations
// that sends a request.
func sending(t *testing.T) map[string]int {
	t.Helper()
	srv := serviceWithADOI(t)
	defer srv.Close()
	var sent atomic.Int64
	cfg := srv.Config()
	arrive := cfg.HTTPClient.Transport
	cfg.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent.Add(1)
		return arrive.RoundTrip(r)
	})}
	found := map[string]int{}
	for name, f := range functions(sceneOf(t, cfg)) {
		var err error
		for i, args := range combinations(t.Context(), f) {
			sent.Store(0)
			if err = outcome(f, args); sent.Load() > 0 {
				found[name] = i
				break
			}
		}
		require.Contains(t, found, name, "no call of it sends a request; the last one: %v", err)
	}
	return found
}

// isEnd checks that an error says that a context ended, and nothing that only the service can say.
func isEnd(t *testing.T, ctx context.Context, cause, err error, also []error, what string) {
	t.Helper()
	assert.ErrorIs(t, err, ctx.Err(), what)
	assert.False(t, datacite.Temporary(err), what)
	if _, bare := cause.(interface{ ServiceCondition() }); cause != nil && !bare {
		assert.ErrorIs(t, err, cause, what)
	}
	for name, condition := range conditions {
		if !slices.Contains(also, condition) {
			assert.NotErrorIs(t, err, condition, "%s: %s", name, what)
		}
	}
}

// A page is what a host that is not the service's responds to everything.
type page struct {
	status int
	kind   string
	body   string
}

var foreign = map[string]page{
	"another API": {200, "application/json", `{"status":"ok","version":"1.2"}`},
	"another API, a resource": {200, "application/json",
		`{"id":"5","name":"Ada","url":"https://elsewhere.example/5"}`},
	"another API, 201":     {201, "application/json", `{"id":"5","name":"Ada"}`},
	"another API, a list":  {200, "application/json", `[{"id":"5"}]`},
	"another API, nothing": {200, "application/json", `{}`},
	"another JSON:API": {200, "application/vnd.api+json",
		`{"data":{"type":"articles","id":"1","attributes":{"title":"Alps"}}}`},
	"another JSON:API, a list": {200, "application/vnd.api+json",
		`{"data":[{"type":"articles","id":"1","attributes":{"title":"Alps"}}],"meta":{"total":1}}`},
	"a login page": {200, "text/html",
		"<!DOCTYPE html><html><head><title>Log in</title></head></html>"},
	"a login page in XML": {200, "application/xhtml+xml",
		`<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html ` +
			`xmlns="http://www.w3.org/1999/xhtml"><head><title>Log in</title></head></html>`},
	"another service's XML": {200, "application/xml",
		`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"></feed>`},
	"a page of plain text":              {200, "text/plain", "It works!"},
	"a sentence like a URL":             {200, "text/plain", "Error: log in first"},
	"200 with nothing":                  {200, "", ""},
	"another page not found":            {404, "text/html", "<html><head><title>404 Not Found</title></head></html>"},
	"a cluster without the service":     {404, "text/plain; charset=utf-8", "404 page not found\n"},
	"another router":                    {404, "text/plain; charset=utf-8", "Not Found"},
	"another API without it":            {404, "application/json", `{"message":"Not Found"}`},
	"another API without it, in detail": {404, "application/json", `{"detail":"Not Found"}`},
	"another JSON:API without it": {404, "application/vnd.api+json",
		`{"errors":[{"status":"404","title":"Record not found"}]}`},
	"the words of the store as JSON":     {404, "application/json", `{"message":"DOI not found"}`},
	"another path of the metadata store": {404, "text/plain; charset=utf-8", "Resource not found"},
	"404 with nothing":                   {404, "", ""},
	"412 of a gateway": {412, "text/html",
		"<html><head><title>412 Precondition Failed</title></head></html>"},
	"412 of another API": {412, "application/json", `{"message":"Precondition Failed"}`},
	"a redirect":         {302, "text/html", "<html><head><title>302 Found</title></head></html>"},
}

// what are words of which one must be in an error, so that one sees what came.
func (p page) what() []string {
	if p.status >= 300 {
		return []string{fmt.Sprintf("%d %s: ", p.status, http.StatusText(p.status))}
	}
	return []string{"cannot be read: ", p.body}
}

// A host that is not the service's never has a success or a "does not exist" for an answer: the
// error names the host, and what came.
func TestForeignHosts(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	var calls map[string]int
	synctest.Test(t, func(t *testing.T) { calls = sending(t) })
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	defer srv.Close()
	for host, came := range foreign {
		t.Run(host, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := srv.Config()
				cfg.Service = datacite.Service{API: "https://wrong.example", MDS: "https://wrong.example"}
				cfg.MaxAttempts = 2
				cfg.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					header := http.Header{"Content-Type": {came.kind}, "Location": {"https://elsewhere.example/"}}
					return &http.Response{StatusCode: came.status, Header: header, Body: io.NopCloser(strings.NewReader(came.body)),
						Request: r}, nil
				})}
				for name, i := range calls {
					if strings.HasSuffix(name, ".Do") {
						continue // what it is to ask is up to the caller
					}
					f := functions(sceneOf(t, cfg))[name]
					errs := everyOutcome(f, combinations(t.Context(), f)[i])
					assert.NotEmpty(t, errs, name)
					for _, err := range errs {
						what := fmt.Sprintf("%s: %v", name, err)
						if assert.Error(t, err, what) {
							assert.ErrorContains(t, err, "https://wrong.example/", what)
							isOfAnotherHost(t, err, came, what)
						}
					}
				}
			})
		})
	}
}

func isOfAnotherHost(t *testing.T, err error, came page, what string) {
	t.Helper()
	failed, ok := errors.AsType[*datacite.Error](err)
	require.True(t, ok, what)
	assert.Equal(t, came.status, failed.StatusCode, what)
	if !strings.Contains(err.Error(), came.what()[0]) {
		assert.ErrorContains(t, err, came.what()[len(came.what())-1], what)
	}
	for name, condition := range conditions {
		switch condition {
		case datacite.ErrUnreadable, datacite.ErrUnclear, datacite.ErrRedirect, datacite.ErrInvalid, datacite.ErrIncomplete:
		default:
			assert.NotErrorIs(t, err, condition, "%s: %s", name, what)
		}
	}
}

// callables are the functions and methods of clients with a context, by name.
func callables(t *testing.T, line http.RoundTripper) map[string]reflect.Value {
	t.Helper()
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	srv.Close()
	cfg := datacite.Config{
		Service:    datacite.Service{API: "https://api.example", MDS: "https://mds.example"},
		HTTPClient: &http.Client{Transport: line},
		Username:   datacitetest.Username, Password: datacitetest.Password,
	}
	s := &scene{srv: srv}
	var errs [4]error
	s.dois, errs[0] = dois.NewClient(cfg)
	s.mds, errs[1] = mds.NewClient(cfg)
	s.reconcile, errs[3] = reconcile.NewClient(cfg)
	cfg.Token = srv.Token(time.Now().Add(1000 * time.Hour))
	s.reports, errs[2] = reports.NewClient(cfg)
	require.NoError(t, errors.Join(errs[:]...))
	return functions(s)
}

// Whatever a client sends, it sends by the options of the call, and its transport learns for which
// operation.
func TestEveryRequestFollowsTheCall(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	const attempts, timeout = 2, 7 * time.Second
	var mu sync.Mutex
	sent, operations := map[string]int{}, map[string]bool{}
	var longest time.Duration // of an attempt
	silent := roundTrip(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		sent[r.Header.Get("X-Request-Id")]++
		operations[datacite.Operation(r.Context())] = true
		mu.Unlock()
		start := time.Now()
		<-r.Context().Done()
		mu.Lock()
		longest = max(longest, time.Since(start)) // the others end with a loop that is left
		mu.Unlock()
		return nil, r.Context().Err()
	})
	for _, name := range slices.Sorted(maps.Keys(callables(t, silent))) {
		t.Run(name, func(t *testing.T) {
			clear(sent)
			clear(operations)
			longest = 0
			synctest.Test(t, func(t *testing.T) {
				f := callables(t, silent)[name]
				ctx := datacite.WithCallOptions(t.Context(), &datacite.CallOptions{MaxAttempts: attempts, Timeout: timeout})
				outcomes(ctx, f)
			})
			assert.Equal(t, timeout, longest)
			most := 0
			for _, n := range sent {
				most = max(most, n)
			}
			assert.Positive(t, most)
			assert.LessOrEqual(t, most, attempts, "attempts of one request")
			pkg, _, _ := strings.Cut(name, ".")
			for operation := range operations {
				assert.Regexp(t, `^(dois|mds|reports)\.[A-Z]\w+$`, operation)
				assert.True(t, pkg == "shown" || pkg == "reconcile" || strings.HasPrefix(operation, pkg+"."), operation)
			}
		})
	}
}

// Options of a call that no client could have are refused before anything is sent.
func TestNegativeCallOptions(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	ctx := datacite.WithCallOptions(t.Context(), &datacite.CallOptions{MaxAttempts: -1})
	for name, f := range callables(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		t.Error("sent", r.URL)
		return nil, context.Canceled
	})) {
		said := false
		for _, err := range outcomes(ctx, f) {
			refusal(t, err)
			said = said || strings.Contains(err.Error(), "CallOptions.MaxAttempts: is negative")
		}
		assert.True(t, said, name)
	}
}

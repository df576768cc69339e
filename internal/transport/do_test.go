package transport_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// script is a network that responds to the nth attempt with its nth step.
type script struct {
	steps []step
	seen  []time.Time
	reqs  []*http.Request
	sent  []string
}

type step func(*http.Request) (*http.Response, error)

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	s.seen = append(s.seen, time.Now())
	s.reqs = append(s.reqs, req)
	body := ""
	if req.Body != nil {
		data, _ := io.ReadAll(req.Body)
		body = string(data)
	}
	s.sent = append(s.sent, body)
	next := s.steps[min(len(s.seen), len(s.steps))-1]
	return next(req)
}

func respond(status int, contentType, body string, header ...string) step {
	return func(req *http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {contentType}}
		for i := 0; i+1 < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
	}
}

func ok(body string) step { return respond(200, "application/json", body) }

func lost(err error) step {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// bodiless is a response with a nil Body, which net/http takes for an empty one.
func bodiless(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 201, Request: req}, nil
}

// cut sends half a body and then drops the connection.
func cut(body string) step { return cutAt(200, body) }

func cutAt(status int, body string) step {
	return func(req *http.Request) (*http.Response, error) {
		r := io.MultiReader(strings.NewReader(body), iotestErr{io.ErrUnexpectedEOF})
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(r), Request: req}, nil
	}
}

type iotestErr struct{ error }

func (e iotestErr) Read([]byte) (int, error) { return 0, e.error }

// silent never responds.
func silent(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// late responds when the context has ended.
func late(s step) step {
	return func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return s(req)
	}
}

var refusedDial = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

func client(t *testing.T, net http.RoundTripper, change func(*config)) *transport.Client {
	t.Helper()
	cfg := config{BaseURL: "https://api.example.org", HTTPClient: &http.Client{Transport: net}}
	if change != nil {
		change(&cfg)
	}
	c := must(newClient(cfg))(t)
	return c
}

func get() transport.Request {
	return transport.Request{Op: "dois.Get", Method: "GET", Path: "/dois/10.5072/a", Accept: transport.JSONType}
}

func put() transport.Request {
	return transport.Request{Op: "mds.PutURL", Method: "PUT", Path: "/doi/10.5072/a", Body: strings.NewReader("body")}
}

func mint() transport.Request {
	r := put()
	r.Op, r.Replay = "mds.Mint", transport.IfUnsent
	return r
}

func TestRetriesFollowTheOperation(t *testing.T) {
	broken := errors.New("connection reset by peer")
	for _, tt := range []struct {
		name     string
		request  transport.Request
		steps    []step
		attempts int
		fails    bool
		unclear  bool
	}{
		{"read, lost response", get(), []step{lost(broken), ok(`{}`)}, 2, false, false},
		{"read, 500", get(), []step{respond(500, "", ""), ok(`{}`)}, 2, false, false},
		{"read, 501", get(), []step{respond(501, "", ""), ok(`{}`)}, 1, true, false}, // the same tomorrow
		{"read, 300", get(), []step{respond(300, "", ""), ok(`{}`)}, 1, true, false},
		{"idempotent write, 501", put(), []step{respond(501, "", ""), ok(`OK`)}, 1, true, false},
		{"read, HTML with 200", get(), []step{respond(200, "text/html", "<html><title>Sorry</title>"), ok(`{}`)}, 2, false,
			false},
		{"idempotent write, HTML after a byte order mark", put(), []step{respond(200, "", "\ufeff <html>"), ok(`OK`)}, 2,
			false, false},
		{"read, body cut off", get(), []step{cut(`{"a":`), ok(`{}`)}, 2, false, false},
		{"read, 404", get(), []step{respond(404, "", "")}, 1, true, false},
		{"read, lost for good", get(), []step{lost(broken)}, 5, true, false},
		{"idempotent write, lost response", put(), []step{lost(broken), ok(`OK`)}, 2, false, false},
		{"idempotent write, 503", put(), []step{respond(503, "", ""), ok(`OK`)}, 2, false, false},
		{"idempotent write, lost for good", put(), []step{lost(broken)}, 5, true, true},
		{"idempotent write, unclear and then refused", put(), []step{lost(broken), respond(403, "", "")}, 2, true, true},
		{"one-time write, never reached the service", mint(), []step{lost(refusedDial), ok(`OK`)}, 2, false, false},
		{"one-time write, never reached it at all", mint(), []step{lost(refusedDial)}, 5, true, false},
		{"one-time write, lost response", mint(), []step{lost(broken), ok(`OK`)}, 1, true, true},
		{"one-time write, 500", mint(), []step{respond(500, "", ""), ok(`OK`)}, 1, true, true},
		{"one-time write, HTML with 200", mint(), []step{respond(200, "text/html", "<p>"), ok(`OK`)}, 1, true, true},
		{"one-time write, body cut off", mint(), []step{cut("OK"), ok(`OK`)}, 1, true, true},
		{"one-time write, 429", mint(), []step{respond(429, "", ""), ok(`OK`)}, 1, true, true},
		{"one-time write, 503 with a time", mint(), []step{respond(503, "", "", "Retry-After", "7"), ok(`OK`)}, 1, true,
			true},
		{"idempotent write, 429", put(), []step{respond(429, "", ""), ok(`OK`)}, 2, false, false},
		{"idempotent write, 503 with a time", put(), []step{respond(503, "", "", "Retry-After", "7"), ok(`OK`)}, 2, false,
			false},
		{"idempotent write, 429 for good", put(), []step{respond(429, "", "")}, 5, true, true},
		{"idempotent write, 503 with a time for good", put(), []step{respond(503, "", "", "Retry-After", "7")}, 5, true,
			true},
		{"idempotent write, 429 and then refused", put(), []step{respond(429, "", ""), respond(404, "", "")}, 2, true, true},
		{"read, 429 for good", get(), []step{respond(429, "", "")}, 5, true, false},
		{"one-time write, bare 503", mint(), []step{respond(503, "", ""), ok(`OK`)}, 1, true, true},
		{"one-time write, 422", mint(), []step{respond(422, "", "")}, 1, true, false},
		{"read, a refusal that is cut", get(), []step{cutAt(422, `{"errors":[{"ti`), ok(`{}`)}, 2, false, false},
		{"read, refusals that are cut", get(), []step{cutAt(404, "")}, 5, true, false},
		{"one-time write, a refusal that is cut", mint(), []step{cutAt(422, `{"errors":[{"ti`), ok(`OK`)}, 1, true, true},
		{"write, TLS refused, never reached the service", put(),
			[]step{lost(&net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")})}, 1, true, false},
		{"write, a response without Body", mint(), []step{bodiless}, 1, false, false},
		{"write, neither response nor error", put(), []step{lost(nil), ok(`OK`)}, 2, false, false},
		{"one-time write, neither response nor error", mint(), []step{lost(nil), ok(`OK`)}, 1, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := &script{steps: tt.steps}
				_, err := client(t, net, nil).Do(t.Context(), tt.request)
				assert.Len(t, net.seen, tt.attempts)
				if !tt.fails {
					require.NoError(t, err)
					return
				}
				e, is := errors.AsType[*datacite.Error](err)
				require.True(t, is, "%T", err)
				assert.Equal(t, tt.unclear, e.Unclear, err)
				assert.Equal(t, tt.attempts, e.Attempts)
				assert.Equal(t, tt.unclear, strings.Contains(err.Error(), "not known whether"))
				assert.Equal(t, strings.Contains(tt.name, "HTML"), strings.Contains(err.Error(), "an HTML page"), err)
				if strings.Contains(tt.name, "cut") {
					assert.ErrorContains(t, err, "body cut off")
					assert.True(t, datacite.Temporary(err))
					assert.NotErrorIs(t, err, datacite.ErrInvalid)
				}
				assert.Equal(t, strings.Contains(tt.name, "never reached"), e.RequestID == "")
				assert.Error(t, net.reqs[0].Context().Err(), "nothing of the request is left")
			})
		})
	}
}

// Before each attempt, the limiter and the caller are asked, and each sends the whole body.
func TestEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		limiter := limiting(func(context.Context) error { asked++; return nil })
		r := put()
		r.Before = func() error { asked++; return nil }
		net := &script{steps: []step{respond(502, "", ""), respond(504, "", ""), ok("OK")}}
		must(client(t, net, func(c *config) { c.Limiter = limiter }).Do(t.Context(), r))(t)
		assert.Equal(t, []string{"body", "body", "body"}, net.sent)
		assert.Equal(t, 6, asked)

		full := errors.New("budget used up")
		ctx, cancel := context.WithCancel(t.Context())
		for _, before := range []func() error{nil, func() error { return full }, func() error { cancel(); return full }} {
			r.Before = before
			if limiter = func(context.Context) error { return nil }; before == nil {
				limiter = func(context.Context) error { return full }
			}
			net = &script{steps: []step{ok("OK")}}
			_, err := client(t, net, func(c *config) { c.Limiter = limiter }).Do(ctx, r)
			require.ErrorIs(t, err, full)
			assert.NotErrorIs(t, err, datacite.ErrUnclear)
			assert.Empty(t, net.seen)
		}
	})
}

func TestWaiting(t *testing.T) {
	waited := func(t *testing.T, s step, change func(*config)) time.Duration {
		net := &script{steps: []step{s, ok(`{}`)}}
		must(client(t, net, change).Do(t.Context(), get()))(t)
		return net.seen[1].Sub(net.seen[0])
	}
	synctest.Test(t, func(t *testing.T) {
		assert.Equal(t, 7*time.Second, waited(t, respond(503, "", "", "Retry-After", "7"), nil), "as asked")
		assert.Equal(t, 7*time.Second, waited(t, respond(429, "", "", "Retry-After", "7"), nil),
			"as asked, and not the longest")
		assert.Equal(t, 30*time.Second, waited(t, respond(429, "", "", "Retry-After", "3600"), nil), "capped by MaxWait")
		assert.Equal(t, 30*time.Second, waited(t, respond(503, "", "", "Retry-After", "5000000000"), nil),
			"more than 32 bits hold")
		assert.Equal(t, 30*time.Second, waited(t, respond(429, "", ""), nil), "429 without a hint")
		date := time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat)
		assert.InDelta(t, 9*time.Second, waited(t, respond(503, "", "", "Retry-After", date), nil), float64(time.Second),
			"a date")
		hour := func(c *config) { c.MaxWait = time.Hour }
		assert.Equal(t, time.Hour, waited(t, respond(429, "", "", "Retry-After", "7200"), hour), "MaxWait moves the cap")
		assert.LessOrEqual(t, waited(t, respond(500, "", ""), nil), 500*time.Millisecond, "first pause")
	})
}

func TestPausesGrowAndVary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sums := make([]time.Duration, 9)
		different := map[time.Duration]bool{}
		for range 200 {
			net := &script{steps: []step{respond(500, "", "")}}
			require.Error(t, failure(client(t, net, func(c *config) { c.MaxAttempts = 10 }).Do(t.Context(), get())))
			for i := range sums {
				pause := net.seen[i+1].Sub(net.seen[i])
				require.LessOrEqual(t, pause, 30*time.Second)
				sums[i] += pause
				different[pause] = true
			}
		}
		assert.Greater(t, sums[3], sums[0])
		assert.Greater(t, sums[6], sums[3])
		assert.Greater(t, len(different), 1000, "full jitter")
	})
}

func TestContextEndsTheWaitAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, cause)
		defer cancel()
		start := time.Now()
		net := &script{steps: []step{respond(503, "", "down for repair", "Retry-After", "20")}}
		_, err := client(t, net, nil).Do(ctx, get())
		assert.Equal(t, 5*time.Second, time.Since(start))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, cause)
		assert.ErrorContains(t, err, "down for repair", "what happened before is not forgotten")
		assert.Len(t, net.seen, 1)
	})
}

// Whether a request that the caller gave up has an unclear outcome depends on how far it came.
func TestContextEndsAnAttempt(t *testing.T) {
	dialing := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	connected := func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, there) }()
		return here, nil
	}
	for name, tt := range map[string]struct {
		net      http.RoundTripper
		request  transport.Request
		wait     time.Duration
		attempts int
		unclear  bool
	}{
		"before the call":            {&script{steps: []step{silent}}, put(), 0, 0, false},
		"while connecting":           {&http.Transport{DialContext: dialing}, mint(), time.Second, 1, false},
		"while the service works":    {&http.Transport{DialContext: connected}, put(), time.Second, 1, true},
		"in another kind of network": {&script{steps: []step{silent}}, put(), time.Second, 1, true},
		"while a response arrives":   {&script{steps: []step{late(cut("O"))}}, put(), time.Second, 1, true},
		"with a response to repeat":  {&script{steps: []step{late(respond(503, "", ""))}}, put(), time.Second, 1, true},
		"read":                       {&http.Transport{DialContext: connected}, get(), time.Second, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cause := fmt.Errorf("sibling: %w", &net.OpError{Op: "dial", Err: errors.New("refused")})
				ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(tt.wait), cause)
				defer cancel()
				c := client(t, tt.net, func(c *config) { c.BaseURL = "http://127.0.0.1" })
				_, err := c.Do(ctx, tt.request)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, cause)
				assert.False(t, datacite.Temporary(err))
				assert.Equal(t, name == "with a response to repeat", strings.Contains(err.Error(), "then gave up"), err)
				failed, ok := errors.AsType[*datacite.Error](err)
				require.True(t, ok)
				assert.Equal(t, tt.attempts, failed.Attempts)
				assert.Equal(t, tt.unclear && tt.request.Method != "GET", errors.Is(err, datacite.ErrUnclear), "%v", err)
				assert.Equal(t, tt.attempts == 0 || name == "while connecting", failed.RequestID == "", "%v", err)
				if idle, ok := tt.net.(*http.Transport); ok {
					idle.CloseIdleConnections()
				}
			})
		})
	}
}

func TestServiceThatNeverResponds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &script{steps: []step{silent}}
		c := client(t, net, func(c *config) { c.Timeout, c.MaxAttempts = time.Minute, 2 })
		_, err := c.Do(t.Context(), put())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.True(t, datacite.Temporary(err), "it is the client that had no patience, and not the caller")
		assert.ErrorContains(t, err, "mds.PutURL: PUT https://api.example.org/doi/10.5072/a: no response: nothing sent or "+
			"received for 1m0s")
		assert.Len(t, net.seen, 2)
		assert.Equal(t, time.Minute, net.seen[1].Sub(net.seen[0]).Truncate(time.Minute))
	})
}

func TestErrorBodies(t *testing.T) {
	for _, tt := range []struct {
		name, contentType, body string
		message                 string
		details                 []datacite.Finding
	}{
		{"JSON:API array", "application/json", `{"errors":[{"status":"404","title":"It doesn't exist."}]}`,
			"It doesn't exist.", []datacite.Finding{{Code: "refused", Reason: "It doesn't exist."}}},
		{"array with sources", "application/json",
			`{"errors":[{"source":"url","uid":"10.5072/a","title":"Can't be blank"},{"source":"creators","title":"is ` +
				`missing"}]}`, "url: Can't be blank; creators: is missing", []datacite.Finding{
				{Path: "url", Code: "refused", Reason: "Can't be blank"},
				{Path: "creators", Code: "refused", Reason: "is missing"}}},
		{"JSON:API pointer", "application/vnd.api+json",
			`{"errors":[{"source":{"pointer":"/data/attributes/url"},"title":"Invalid","detail":"no ` +
				`host"}]}`, "/data/attributes/url: Invalid: no host", []datacite.Finding{
				{Path: "/data/attributes/url", Code: "refused", Reason: "Invalid: no host"}}},
		{"object", "application/json", `{"errors":{"title":"parse_exception: line 1"}}`, "parse_exception: line 1",
			[]datacite.Finding{{Code: "refused", Reason: "parse_exception: line 1"}}},
		{"texts", "application/json", `{"errors":["one","two"]}`, "one; two",
			[]datacite.Finding{{Code: "refused", Reason: "one"}, {Code: "refused", Reason: "two"}}},
		{"bare title", "application/json", `{"status":400,"title":"invalid date"}`, "invalid date",
			[]datacite.Finding{{Code: "refused", Reason: "invalid date"}}},
		{"bare error", "", `{"status":500,"error":"Internal Server Error"}`, "Internal Server Error",
			[]datacite.Finding{{Code: "refused", Reason: "Internal Server Error"}}},
		{"field map", "application/json",
			`{"report_id":["can't be blank"],"base":[[{"#/report-id":"wrong type"},{"#/report-datasets/0":"no ` +
				`publisher"}]]}`, "#/report-id: wrong type; #/report-datasets/0: no publisher; report_id: can't be " +
				"blank", []datacite.Finding{{Path: "#/report-id", Code: "refused", Reason: "wrong type"},
				{Path: "#/report-datasets/0", Code: "refused",
					Reason: "no publisher"}, {Path: "report_id", Code: "refused", Reason: "can't be blank"}}},
		{"fields in their order", "application/json", `{"d":"4","b":"2","a":"1","e":"5","c":"3"}`,
			"a: 1; b: 2; c: 3; d: 4; e: 5", nil},
		{"bare detail", "", `{"status":500,"detail":"no"}`, "no", nil},
		{"as long as a message", "text/plain", strings.Repeat("x", 500), strings.Repeat("x", 500), nil},
		{"plain text", "text/plain", "DOI not found\n", "DOI not found", nil},
		{"HTML", "text/html", "<html><head><title>413 Request Entity\n Too Large</title></head>",
			"an HTML page: 413 Request Entity Too Large", nil},
		{"HTML after a byte order mark", "", "\ufeff<html><h1>Gone</h1>", "an HTML page: Gone", nil},
		{"HTML without a title", "text/html", "<html><p>x", "an HTML page without a title", nil},
		{"empty", "text/html", "", "the response is empty", nil},
		{"broken JSON", "application/json", `{"errors":[{"ti`, `{"errors":[{"ti`, nil},
		{"byte order mark", "application/json", "\ufeff" + `{"title":"x"}`, "x",
			[]datacite.Finding{{Code: "refused", Reason: "x"}}},
		{"control characters", "text/plain", "a\x00\x1b[31mb", "a [31mb", nil},
		{"six", "application/json", `{"errors":["1","2","3","4","5","6"]}`, "1; 2; 3; 4; 5; 6", nil},
		{"many", "application/json", `{"errors":["1","2","3","4","5","6","7"]}`, "1; 2; 3; 4; 5; and 2 more", nil},
		{"as deep as is read", "application/json",
			`{"a":[[[[[[[["1"]]]]]]]],"b":{"c":{"c":{"c":{"c":{"c":{"c":{"c":{"d":"2"}}}}}}}}}`, "a: 1; d: 2", nil},
		{"objects too deep", "application/json", `{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"b":"1"}}}}}}}}}}`,
			`{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"b":"1"}}}}}}}}}}`, nil},
		{"too deep", "application/json", `{"a":[[[[[[[[["1"]]]]]]]]]}`, `{"a":[[[[[[[[["1"]]]]]]]]]}`, nil},
		{"XML", "application/xml", "<error>no</error>", "<error>no</error>", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			net := &script{steps: []step{respond(422, tt.contentType, tt.body, "X-Request-Id", "id-7")}}
			_, err := client(t, net, nil).Do(t.Context(), put())
			e, is := errors.AsType[*datacite.Error](err)
			require.True(t, is)
			assert.Equal(t, tt.message, e.Message)
			if tt.details != nil {
				assert.Equal(t, tt.details, e.Details)
			}
			assert.Equal(t, tt.body, string(e.Body))
			assert.Equal(t, "id-7", e.RequestID)
			assert.Equal(t, "mds.PutURL: PUT https://api.example.org/doi/10.5072/a: 422 Unprocessable Entity: "+tt.message+
				" [request id-7]", err.Error())
		})
	}
}

func TestResponsesAreBounded(t *testing.T) {
	small := func(c *config) { c.MaxBody = 10 }
	net := &script{steps: []step{ok(`{"a":"0123456789"}`)}}
	require.ErrorIs(t, failure(client(t, net, small).Do(t.Context(), get())), datacite.ErrTooLarge)
	assert.Len(t, net.seen, 1, "asking again would not make it shorter")
	short := &script{steps: []step{ok(strings.Repeat(" ", 1<<20+1))}}
	require.ErrorIs(t, failure(client(t, short, nil).Do(t.Context(), get())), datacite.ErrTooLarge)
	long := get()
	long.Most = 1<<20 + 1
	must(client(t, short, nil).Do(t.Context(), long))(t)

	stream := get()
	stream.Stream = true
	res := must(client(t, net, small).Do(t.Context(), stream))(t)
	data, err := io.ReadAll(res.Body)
	require.ErrorIs(t, err, datacite.ErrTooLarge)
	assert.Equal(t, `{"a":"0123`, string(data))
	require.NoError(t, res.Body.Close())

	stream.Unbounded = true
	res = must(client(t, net, small).Do(t.Context(), stream))(t)
	data, err = io.ReadAll(res.Body)
	require.NoError(t, err, "whoever asks for it reads on without end")
	assert.Equal(t, `{"a":"0123456789"}`, string(data))
	require.NoError(t, res.Body.Close())
}

func TestRedirects(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("followed to another host")
	}))
	defer elsewhere.Close()
	mux := http.NewServeMux()
	mux.Handle("/other/host", http.RedirectHandler(elsewhere.URL+"/x", http.StatusTemporaryRedirect))
	mux.Handle("/same/host", http.RedirectHandler("/end", http.StatusMovedPermanently))
	turns := 0
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) {
		turns++
		http.Redirect(w, r, "/loop", http.StatusFound)
	})
	mux.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("Authorization"))
	})
	here := httptest.NewServer(mux)
	defer here.Close()
	c := must(newClient(config{BaseURL: here.URL, Authorize: basic("jane", "sesame")}))(t)

	for _, method := range []string{"GET", "PUT"} {
		_, err := c.Do(t.Context(), transport.Request{Op: "x", Method: method, Path: "/other/host",
			Access: transport.Required})
		assert.ErrorContains(t, err, "307 Temporary Redirect: redirect to "+elsewhere.URL+"/x not followed")
		assert.ErrorIs(t, err, datacite.ErrRedirect)
	}
	_, err := c.Do(t.Context(), transport.Request{Op: "x", Method: "PUT", Path: "/same/host", Access: transport.Required})
	assert.ErrorContains(t, err, "redirect to /end not followed", "a write goes nowhere else")
	res := must(c.Do(t.Context(), transport.Request{Op: "x", Method: "GET", Path: "/same/host",
		Access: transport.Required}))(t)
	assert.Equal(t, "Basic amFuZTpzZXNhbWU=", string(res.Data))
	require.ErrorIs(t, failure(c.Do(t.Context(), transport.Request{Op: "x", Method: "GET", Path: "/loop"})),
		datacite.ErrRedirect)
	assert.Equal(t, 10, turns)
}

func TestCredentials(t *testing.T) {
	vault, away := errors.New("vault sealed"), &url.Error{Op: "Post", URL: "https://login.example.com", Err: refusedDial}
	token := func(token string, err error) transport.Authorizer {
		source, _ := transport.Token(datacite.Config{TokenSource: func(context.Context) (string, error) {
			return token, err
		}})
		return transport.Bearer(source)
	}
	login := basic("jane", "sesame")
	for _, tt := range []struct {
		login  transport.Authorizer
		access transport.Access
		sent   string
		fault  error
	}{
		{nil, transport.Required, "", datacite.ErrUnauthorized},
		{nil, transport.Optional, "", nil},
		{login, transport.Anonymous, "", nil},
		{login, transport.Optional, "Basic amFuZTpzZXNhbWU=", nil},
		{login, transport.Required, "Basic amFuZTpzZXNhbWU=", nil},
		{token("abc.def", nil), transport.Required, "Bearer abc.def", nil},
		{token("", nil), transport.Required, "", datacite.ErrUnauthorized},
		{token("", vault), transport.Required, "", vault},
		{token("", away), transport.Optional, "", away},
		{token("", &url.Error{Err: &tls.CertificateVerificationError{Err: vault}}), transport.Optional, "", vault},
		{token("", fmt.Errorf("login: %w", &datacite.Error{StatusCode: 400, Err: away})), transport.Optional, "", away},
	} {
		net := &script{steps: []step{ok(`{}`)}}
		r := get()
		r.Access = tt.access
		_, err := client(t, net, func(c *config) { c.Authorize = tt.login }).Do(t.Context(), r)
		require.ErrorIs(t, err, tt.fault)
		if tt.fault != nil {
			assert.Empty(t, net.seen)
			ofCaller := tt.fault != datacite.ErrUnauthorized
			assert.Equal(t, !ofCaller, errors.Is(err, datacite.ErrUnauthorized))
			assert.Equal(t, ofCaller, strings.HasPrefix(err.Error(), "dois.Get: Config.TokenSource: ") &&
				!strings.Contains(err.Error(), "example.org"), err)
			assert.Equal(t, strings.HasPrefix(err.Error(), "dois.Get: Config.TokenSource: Post"), datacite.Temporary(err), err)
			continue
		}
		assert.Equal(t, tt.sent, net.reqs[0].Header.Get("Authorization"))
	}
}

func TestOneLogRecordPerAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		net := &script{steps: []step{respond(502, "text/html", "<title>Bad Gateway</title>"), ok(`{}`)}}
		logged := func(c *config) {
			c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		}
		must(client(t, net, logged).Do(t.Context(), get()))(t)
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		require.Len(t, lines, 2)
		assert.Contains(t, lines[0], "level=WARN msg=dois.Get method=GET url=https://api.example.org/dois/10.5072/a "+
			"attempt=1 status=502")
		assert.Regexp(t, `duration=\S+ request_id=[0-9a-f]{32} error="an HTML page: Bad Gateway"`, lines[0])
		assert.Contains(t, lines[1], "level=DEBUG msg=dois.Get")
		assert.Contains(t, lines[1], "attempt=2 status=200")

		log.Reset()
		r := get()
		r.Expected = 404
		_, err := client(t, &script{steps: []step{respond(404, "text/plain", "DOI not found")}}, logged).Do(t.Context(), r)
		require.Error(t, err, "it is an error all the same")
		assert.Contains(t, log.String(), "level=DEBUG")
	})
}

func TestHeaders(t *testing.T) {
	net := &script{steps: []step{ok(`{}`)}}
	c := client(t, net, func(c *config) { c.UserAgent, c.Contact = "repo/2.1", "mailto:ops@repo.example" })
	r := put()
	r.ContentType, r.ContentEncoding, r.Accept = transport.GzipType, "gzip", transport.JSONType
	must(c.Do(t.Context(), r))(t)
	h := net.reqs[0].Header
	assert.Equal(t, "repo/2.1 datacite-go/"+transport.Version+" (mailto:ops@repo.example)", h.Get("User-Agent"))
	assert.Equal(t, "application/gzip", h.Get("Content-Type"))
	assert.Equal(t, "gzip", h.Get("Content-Encoding"))
	assert.Equal(t, "application/json", h.Get("Accept"))
	assert.Regexp(t, "^[0-9a-f]{32}$", h.Get("X-Request-Id"))
	assert.Error(t, net.reqs[0].Context().Err(), "nothing of the request is left")
	assert.EqualValues(t, 4, net.reqs[0].ContentLength)
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cfg   config
		fault string
	}{
		{"no address", config{}, "Config.Service.API: is empty"},
		{"plain HTTP", config{BaseURL: "http://api.example.org"}, "is not HTTPS"},
		{"a name below localhost", config{BaseURL: "http://x.localhost"}, "is not HTTPS"},
		{"a name that begins as loopback does", config{BaseURL: "http://127.0.0.1.example"}, "is not HTTPS"},
		{"another scheme", config{BaseURL: "ftp://api.example.org"}, "does not start with https://"},
		{"no scheme", config{BaseURL: "api.example.org"}, "does not start with https://"},
		{"no host", config{BaseURL: "https:///x"}, "has no host"},
		{"credentials in the address", config{BaseURL: "https://jane:sesame@api.example.org"}, "holds credentials"},
		{"query", config{BaseURL: "https://api.example.org?x=1"}, "has a query"},
		{"not a URL", config{BaseURL: "https://jane:se same@x:y"}, "is not a URL"},
		{"line break in the agent", config{BaseURL: "https://api.example.org", UserAgent: "a\r\nX: y"},
			"a header cannot hold"},
		{"negative attempts", config{BaseURL: "https://api.example.org", MaxAttempts: -1}, "MaxAttempts: is negative"},
		{"negative wait", config{BaseURL: "https://api.example.org", MaxWait: -1}, "MaxWait: is negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newClient(tt.cfg)
			require.ErrorContains(t, err, tt.fault)
			assert.NotContains(t, err.Error(), "same")
			code := datacite.Findings(err)[0].Code
			assert.Equal(t, tt.cfg.BaseURL != "" && tt.cfg.UserAgent == "" && tt.cfg.MaxAttempts+int(tt.cfg.MaxWait) == 0,
				code == "uri", code)
		})
	}
	for _, base := range []string{"http://localhost:8080", "http://127.0.0.1:1", "http://[::1]:1",
		"https://api.example.org/v2/"} {
		assert.NoError(t, failure(newClient(config{BaseURL: base})), base)
	}
}

// The default port need not be named: a redirect to the address with it, or without, is on the same host.
func TestAnAddressHasOneSpelling(t *testing.T) {
	for base, want := range map[string]string{
		"HTTPS://API.example.org:443": "https://api.example.org/x",
		"https://api.example.org:80":  "https://api.example.org:80/x",
		"http://localhost:80/v2/":     "http://localhost/v2/x", "http://localhost:443": "http://localhost:443/x",
	} {
		var asked string
		c, err := newClient(config{BaseURL: base,
			HTTPClient: &http.Client{Transport: responding(func(r *http.Request) (*http.Response, error) {
				asked = r.URL.String()
				return response(200, "application/json", "{}"), nil
			})}})
		require.NoError(t, err)
		must(c.Do(t.Context(), transport.Request{Op: "x.Y", Method: "GET", Path: "/x", Query: "a=1"}))(t)
		assert.Equal(t, want+"?a=1", asked)
	}
}

func TestCallersClientIsNotChanged(t *testing.T) {
	own := &http.Client{}
	must(newClient(config{BaseURL: "https://api.example.org", HTTPClient: own}))(t)
	assert.Equal(t, &http.Client{}, own)
}

func TestCheckToken(t *testing.T) {
	assert.NoError(t, transport.CheckToken("!eyJh.eyJz.c2ln~"))
	for token, fault := range map[string]datacite.Finding{
		"":           {Code: "missing", Reason: "is empty"},
		`"eyJh"`:     {Code: "syntax", Reason: "has quotes around it"},
		"'eyJh'":     {Code: "syntax", Reason: "has quotes around it"},
		"s3 cret":    {Code: "encoding", Reason: "has a blank"},
		"s3\ncret":   {Code: "encoding", Reason: "has a blank"},
		"s3cret\x7f": {Code: "encoding", Reason: "has a blank"},
		"sécret":     {Code: "encoding", Reason: "has a blank"},
	} {
		err := transport.CheckToken(token)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		found := datacite.Findings(err)[0]
		assert.Equal(t, "Config.Token", found.Path)
		assert.Equal(t, fault.Code, found.Code, "%q", token)
		assert.Contains(t, found.Reason, fault.Reason)
		if token != "" {
			assert.NotContains(t, err.Error(), token)
		}
	}
}

func TestJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var texts []string
		read := jsonlex.List[[]string](jsonlex.TextItem)
		request := get()
		request.Read = func(d *jsonlex.Decoder) error {
			texts = read(d)
			return nil
		}
		net := &script{steps: []step{ok(`["a"]`)}}
		must(client(t, net, nil).Do(t.Context(), request))(t)
		assert.Equal(t, []string{"a"}, texts)

		net = &script{steps: []step{ok(`["x"`), ok(`["x`), ok(`["x"] 1`), ok(strings.Repeat(" ", 2000) + `["a"]`)}}
		res := must(client(t, net, nil).Do(t.Context(), request))(t)
		assert.Equal(t, []string{"a"}, texts)
		assert.Equal(t, 4, res.Attempts, "what is not whole is asked for again")

		net = &script{steps: []step{ok(`["` + strings.Repeat("b", 2000))}}
		_, err := client(t, net, nil).Do(t.Context(), request)
		require.ErrorIs(t, err, datacite.ErrUnreadable)
		_, errEmpty := client(t, &script{steps: []step{ok("")}}, nil).Do(t.Context(), request)
		require.ErrorIs(t, errEmpty, io.ErrUnexpectedEOF)
		failure, _ := errors.AsType[*datacite.Error](err)
		assert.Len(t, failure.Body, 2002, "the error shows what came")
	})
}

// A 404 says that something does not exist only in the words of the service, which each interface has.
func TestNotFoundInTheWordsOfTheService(t *testing.T) {
	const absent = "The resource you are looking for doesn't exist."
	errorsOf := func(title string) string { return `{"errors":[{"title":"` + title + `"}]}` }
	for _, tt := range []struct {
		name, method, body string
		found              bool
	}{
		{"API", "GET", errorsOf(absent), true},
		{"API", "GET", absent, false},
		{"API", "PUT", errorsOf("Not found"), false},
		{"MDS", "GET", "DOI not found", true},
		{"MDS", "GET", errorsOf("DOI not found"), false},
		{"MDS", "GET", "Not found", false},
		{"MDS", "PUT", "Not found", true},
		{"MDS", "PUT", "404 page not found", false},
	} {
		const base = "https://api.example.org"
		net := &script{steps: []step{respond(404, "", tt.body)}}
		c := must(transport.New(datacite.Config{Service: datacite.Service{API: base, MDS: base}, MaxAttempts: 1,
			HTTPClient: &http.Client{Transport: net}}, transport.Interface{Name: tt.name}))(t)
		r := put()
		r.Method = tt.method
		_, err := c.Do(t.Context(), r)
		assert.Equal(t, tt.found, transport.NotFound(err), "%+v", tt)
		assert.Equal(t, !tt.found, datacite.Temporary(err), "%+v", tt)
		assert.Equal(t, !tt.found, strings.Contains(err.Error(), "how a gateway or another host responds"), "%+v", tt)
	}
}

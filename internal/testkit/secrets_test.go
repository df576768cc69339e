package testkit_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
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
	"github.com/datacite-go/datacite-go/reports/shown"
)

var lives = flag.Int("lives", 1, "lives of clients, in which a service repeats their credentials")

// A gossip stands between clients and a service. It remembers every credential that it
// was ever sent, and puts one into responses to whatever comes later.
type gossip struct {
	srv  *datacitetest.Server // of the clients that know the password
	by   *datacitetest.Server // of the client that knows a token alone
	rand *rand.Rand

	mu      sync.Mutex
	secrets []string            // of the configuration of the other clients
	tokens  map[string][]string // that each client has sent
	said    []string            // how they were spelt
}

// byToken is the client that is not given the password.
const byToken = "records by token"

// hears remembers the secrets of a request, and returns those that its client knows.
func (g *gossip) hears(req *http.Request) []string {
	who := req.UserAgent()
	if scheme, credentials, _ := strings.Cut(req.Header.Get("Authorization"), " "); scheme == "Bearer" &&
		!slices.Contains(g.tokens[who], credentials) {
		g.tokens[who] = append(g.tokens[who], credentials)
	}
	if strings.HasPrefix(who, byToken) {
		return g.tokens[who]
	}
	return slices.Concat(g.secrets, g.tokens[who])
}

// spelt is a secret as one of the ways of writing shows it.
func (g *gossip) spelt(secrets []string) string {
	secret := secrets[g.rand.IntN(len(secrets))]
	text := secret
	switch g.rand.IntN(6) {
	case 0:
		text = url.QueryEscape(secret)
	case 1:
		text = url.PathEscape(secret)
	case 2:
		text = html.EscapeString(secret)
	case 3:
		text = base64.StdEncoding.EncodeToString([]byte(secret))
	case 4:
		quoted, _ := json.Marshal(secret)
		text = string(quoted[1 : len(quoted)-1])
	}
	g.said = append(g.said, text)
	return text
}

func (g *gossip) RoundTrip(req *http.Request) (*http.Response, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := g.hears(req)
	real, srv := req.Clone(req.Context()), g.srv
	if strings.HasPrefix(req.UserAgent(), byToken) {
		srv = g.by
	}
	if strings.HasPrefix(req.Header.Get("Authorization"), "Bearer ") {
		real.Header.Set("Authorization", "Bearer "+srv.Token(srv.Now().Add(time.Hour)))
	}
	res, err := srv.HTTPClient().Transport.RoundTrip(real)
	if err != nil {
		return nil, err
	}
	return g.talks(res, known)
}

// talks puts a secret into one place of a response, most of the time.
func (g *gossip) talks(res *http.Response, known []string) (*http.Response, error) {
	data, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil {
		return nil, err
	}
	status, kind, body := res.StatusCode, res.Header.Get("Content-Type"), string(data)
	text := "bad: " + strings.Repeat("x", g.rand.IntN(2)*g.rand.IntN(600)) + g.spelt(known) + " more"
	quoted, _ := json.Marshal(text)
	failed := []int{400, 401, 403, 404, 409, 422, 429, 500, 503}[g.rand.IntN(9)]
	switch g.rand.IntN(16) {
	case 0:
		status, kind, body = failed, "text/plain", text
	case 1:
		status, kind, body = failed, "application/json", fmt.Sprintf(`{"errors":[{"source":%s,"title":%s}]}`, quoted, quoted)
	case 2:
		status, kind, body = failed, "text/html", "<html><title>"+text+"</title></html>"
	case 3:
		kind, body = "text/html", "<html><title>"+text+"</title></html>"
	case 4:
		body = text
	case 5:
		body = body[:g.rand.IntN(len(body)+1)] + text
	case 6:
		res.Header.Set("X-Request-Id", text)
		status, body = failed, ""
	case 7:
		status = http.StatusFound
		// escaped once
		res.Header.Set("Location", "https://elsewhere.example/?"+url.QueryEscape(known[g.rand.IntN(len(known))]))
	case 8:
		return nil, errors.New("proxy says: " + text)
	case 9, 10, 11, 12:
		body = g.changed(body, known)
	}
	res.StatusCode, res.Status, res.Body, res.ContentLength = status, http.StatusText(status), io.NopCloser(strings.NewReader(body)), int64(len(body))
	res.Header.Set("Content-Type", kind)
	res.Header.Del("Content-Length")
	return res, nil
}

// member is a value of JSON, and text of XML.
var member = regexp.MustCompile(`:\s*("(?:[^"\\]|\\.)*"|-?[0-9.]+|null|true)|>[^<]+<`)

// changed puts a secret in the place of one of the values of a body.
func (g *gossip) changed(body string, known []string) string {
	all := member.FindAllStringIndex(body, -1)
	if len(all) == 0 {
		return body + g.spelt(known)
	}
	at := all[g.rand.IntN(len(all))]
	if body[at[0]] == '>' {
		return body[:at[0]+1] + html.EscapeString(g.spelt(known)) + body[at[1]-1:]
	}
	quoted, _ := json.Marshal(g.spelt(known))
	return body[:at[0]+1] + string(quoted) + body[at[1]:]
}

// A saying is all that clients say: the log, errors and what is below them, and the words of
// callbacks. The data that a service sends are handed out as they came.
type saying struct {
	mu sync.Mutex
	bytes.Buffer
}

func (x *saying) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Buffer.Write(p)
}

func (x *saying) add(values ...any) {
	for _, v := range values {
		if err, ok := v.(error); ok && err != nil {
			x.error(err)
			continue
		}
		fmt.Fprintf(x, "%+v\n", v)
	}
}

func (x *saying) error(err error) {
	fmt.Fprintf(x, "%v\n%+v\n", err, err)
	slog.New(slog.NewJSONHandler(x, nil)).Error("failed", "error", err)
	if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct {
		for field, value := range v.Fields() {
			if field.IsExported() && value.Kind() != reflect.Interface {
				fmt.Fprintf(x, "%s\n", value.Interface())
			}
		}
	}
	if e, ok := errors.AsType[*datacite.Error](err); ok && e != err {
		x.error(e)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if below := e.Unwrap(); below != nil {
			x.error(below)
		}
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			x.error(below)
		}
	}
}

// TestSecretsOfAWholeLife: whatever clients were given or have sent is in no text of their
// lives, although the service repeats it later, to others, anywhere.
func TestSecretsOfAWholeLife(t *testing.T) {
	for seed := range uint64(*lives) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Setenv("DATACITE_LOCK_DIR", t.TempDir()) // other runs of Repair on the machine have locks, too
			synctest.Test(t, func(t *testing.T) { live(t, rand.New(rand.NewPCG(seed, 18))) })
		})
	}
}

func live(t *testing.T, r *rand.Rand) {
	random := func(alphabet string, n int) string {
		letters := []rune(alphabet)
		return string(slices.Collect(func(yield func(rune) bool) {
			for range n {
				yield(letters[r.IntN(len(letters))])
			}
		}))
	}
	const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	password := random(alphanumeric+`!"#$&'()*+,-./:;<=>?@[]^_{|}~ äöüßéñÅ`, 10+r.IntN(20))
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true,
		Accounts: []datacitetest.Account{{Password: password}}})
	defer srv.Close()
	by := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	defer by.Close()
	said := &saying{}
	service := &gossip{srv: srv, by: by, rand: rand.New(rand.NewPCG(r.Uint64(), 1)), tokens: map[string][]string{},
		secrets: []string{
			password, base64.StdEncoding.EncodeToString([]byte(datacitetest.Username + ":" + password)),
		}}
	cfg := srv.Config()
	cfg.MaxAttempts, cfg.HTTPClient = 2, &http.Client{Transport: service}
	cfg.Logger = slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	// A token for a while, then another.
	token, uses := "", 0
	var mu sync.Mutex
	cfg.TokenSource = func(context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if uses--; uses < 0 {
			payload := fmt.Sprintf(`{"jti":%q,"uid":"example.repo","exp":%d}`, random(alphanumeric, 8+r.IntN(30)),
				srv.Now().Add(time.Hour).Unix())
			token = random(alphanumeric, 24) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + "." +
				random(alphanumeric+"-_", 40+r.IntN(300))
			uses = r.IntN(10)
		}
		return token, nil
	}
	calls := lifeOf(t, cfg, by.Config().Service, said)
	for range 150 {
		calls[r.IntN(len(calls))]()
	}
	shown := said.String()
	require.Greater(t, len(service.said), 100)
	secrets := slices.Concat(append(slices.Collect(maps.Values(service.tokens)), service.secrets)...)
	for _, secret := range slices.Concat(secrets, service.said) {
		whole := slices.Contains(secrets, secret)
		if i := strings.Index(shown, secret); i >= 0 {
			t.Fatalf("%q in: %s", secret, shown[max(0, i-300):min(len(shown), i+len(secret)+100)])
		}
		for i := 0; whole && i+24 <= len(secret); i += 8 {
			if at := strings.Index(shown, secret[i:i+24]); at >= 0 {
				t.Fatalf("a part of %q in: %s", secret, shown[max(0, at-300):min(len(shown), at+100)])
			}
		}
	}
	assert.Contains(t, shown, "REDACTED")
}

// A service may list a report with anything as its id: no error repeats it.
func TestIDsThatAreNone(t *testing.T) {
	const id = "a-password-of-the-account"
	cfg := datacite.Config{Service: datacite.Service{API: "https://api.example", MDS: "https://mds.example"},
		Username: datacitetest.Username, Password: datacitetest.Password, HTTPClient: &http.Client{
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				body := fmt.Sprintf(`{"reports":[{"id":%q,"report-header":{"created-by":"A",`+
					`"reporting-period":{"begin-date":"2026-10-01","end-date":"2026-10-31"}}}],"meta":{"total":1}}`, id)
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			})}}
	s := sceneOf(t, cfg)
	err := last(over(shown.Compare(t.Context(), s.reports, s.dois, "example.repo", nil)))
	require.ErrorIs(t, err, datacite.ErrInvalid)
	assert.NotContains(t, err.Error(), id)
}

// lifeOf is what clients of a configuration may do: a call of each function that sends something, and
// calls with functions of the caller. They add to said what they say. Each client has a name, and knows its own tokens.
func lifeOf(t *testing.T, cfg datacite.Config, by datacite.Service, said *saying) (calls []func()) {
	named := func(name string) datacite.Config {
		cfg.UserAgent = name
		return cfg
	}
	var s scene
	var errs [5]error
	s.dois, errs[0] = dois.NewClient(named("records"))
	s.mds, errs[1] = mds.NewClient(named("store"))
	s.reconcile, errs[4] = reconcile.NewClient(named("reconciled"))
	s.reports, errs[2] = reports.NewClient(named("usage"))
	without := named(byToken)
	without.Service, without.Username, without.Password = by, "", ""
	var tokens *dois.Client
	tokens, errs[3] = dois.NewClient(without)
	require.NoError(t, errors.Join(errs[:]...))
	alone := map[string]reflect.Value{}
	add(alone, "dois.Client.", tokens)

	sent := sending(t)
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		for _, of := range []map[string]reflect.Value{functions(&s), alone} {
			if f, found := of[name]; found {
				calls = append(calls, func() {
					for _, err := range everyOutcome(f, combinations(t.Context(), f)[sent[name]]) {
						said.add(err)
					}
				})
			}
		}
	}
	n := 0
	doc := func() []byte { // with markup, and another one each time
		n++
		rec := plain(n)
		rec.Titles[0].Title += " <sub>1</sub>"
		data := must(rec.XML())(t)
		return data
	}
	wanted := func(yield func(reconcile.Desired, error) bool) {
		for i := range 4 {
			if !yield(reconcile.Desired{DOI: fmt.Sprintf("10.5072/%d", i), URL: "https://example.org/",
				State: datacite.StateFindable, XML: doc()}, nil) {
				return
			}
		}
	}
	ctx := t.Context()
	submit := func() {
		r := report(n)
		receipt, err := s.reports.Submit(ctx, r.Header, reports.Source(r.Datasets), &reports.SubmitOptions{
			TempDir: t.TempDir(), LockDir: t.TempDir(), MaxDatasets: 1, ZeroDropped: n%2 == 0, CompareOthers: true,
			MaxOutage: time.Second,
			Warn:      func(f datacite.Finding) { said.add(f) }, Progress: func(p reports.Progress) { said.add(p) },
		})
		if receipt != nil {
			said.add(s.reports.Verify(ctx, receipt))
		}
		said.add(err)
	}
	return append(calls, submit, submit, submit, func() {
		done, err := s.mds.Register(ctx, "10.5072/a", "https://example.org/", mds.XML(doc()), nil)
		if done != nil {
			said.add(done.Altered, done.DOI, done.URL)
		}
		said.add(err)
	}, func() {
		for e, err := range s.reconcile.EnsureAll(ctx, wanted,
			&reconcile.Options{Pause: time.Millisecond, Progress: func(p reconcile.EnsureProgress) { said.add(p) }}) {
			if said.add(err); e != nil {
				said.add(e.Err)
			}
		}
	}, func() {
		audit := s.reconcile.Audit(ctx, wanted, &reconcile.AuditOptions{ClientID: []string{"example.repo"}, Prefix: []string{"10.5072"}, AllowEmpty: true, Progress: func(p reconcile.AuditProgress) { said.add(p) }})
		for repaired, err := range s.reconcile.EnsureAll(ctx, reconcile.Corrections(audit), nil) {
			if said.add(err); repaired != nil {
				said.add(repaired.Err)
			}
		}
	})
}

package testkit_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"iter"
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

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reports"
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
	if scheme, credentials, _ := strings.Cut(req.Header.Get("Authorization"), " "); scheme == "Bearer" && !slices.Contains(g.tokens[who], credentials) {
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
		res.Header.Set("Location", "https://elsewhere.example/?"+url.QueryEscape(text))
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
			t.Parallel()
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
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Accounts: []datacitetest.Account{{Password: password}}})
	defer srv.Close()
	by := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	defer by.Close()
	said := &saying{}
	service := &gossip{srv: srv, by: by, rand: rand.New(rand.NewPCG(r.Uint64(), 1)), tokens: map[string][]string{}, secrets: []string{
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
			payload := fmt.Sprintf(`{"jti":%q,"uid":"example.repo","exp":%d}`, random(alphanumeric, 8+r.IntN(30)), srv.Now().Add(time.Hour).Unix())
			token = random(alphanumeric, 24) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + "." + random(alphanumeric+"-_", 40+r.IntN(300))
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

// lifeOf is what clients of a configuration may do. They add to said what they say.
func lifeOf(t *testing.T, cfg datacite.Config, by datacite.Service, said *saying) []func() {
	ctx := t.Context()
	named := func(name string) datacite.Config {
		cfg.UserAgent = name
		return cfg
	}
	records, err := dois.NewClient(named("records"))
	require.NoError(t, err)
	store, err := mds.NewClient(named("store"))
	require.NoError(t, err)
	usage, err := reports.NewClient(named("usage"))
	require.NoError(t, err)
	without := named(byToken)
	without.Service = by
	without.Username, without.Password = "", ""
	tokens, err := dois.NewClient(without)
	require.NoError(t, err)

	const address = "https://repository.example.org/1"
	doc := func(title string) mds.Document {
		return mds.XML([]byte(`<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI">10.5072/a</identifier><creators><creator><creatorName>Ada</creatorName></creator></creators><titles><title>` + title + `</title></titles><publisher>P</publisher><publicationYear>2024</publicationYear><resourceType resourceTypeGeneral="Dataset"/></resource>`))
	}
	n := 0
	title := func() string { n++; return fmt.Sprintf("Title <sub>%d</sub>", n) }
	registration := func(r *mds.Registration, err error) {
		if r != nil {
			said.add(r.Altered, r.DOI, r.URL)
		}
		said.add(err)
	}
	report := func() *reports.Report {
		return &reports.Report{Header: reports.NewHeader("Example", "1999-11-01", reports.Month(1999, time.October)), Datasets: []reports.Dataset{{
			Title: "A", YOP: "2024", URI: address, Platform: "p", DataType: reports.DataTypeDataset, Publisher: "P",
			PublisherID: []reports.TypedValue{{Type: "grid", Value: "grid.0000.0"}}, DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: fmt.Sprintf("10.5072/a%d", n%3)}},
			Performance: []reports.Performance{{Period: reports.Month(1999, time.October), Instance: []reports.Instance{{Count: 1, MetricType: reports.UniqueDatasetRequests, AccessMethod: reports.Regular}}}},
		}}}
	}
	stored := ""
	submit := func(zero bool) func() {
		return func() {
			n++
			r := report()
			receipt, err := usage.Submit(ctx, r.Header, each(r.Datasets), &reports.SubmitOptions{
				TempDir: t.TempDir(), LockDir: t.TempDir(), MaxDatasets: 1, ZeroDropped: zero, CompareOthers: true, MaxOutage: time.Second,
				Warn: func(f datacite.Finding) { said.add(f) }, Progress: func(p reports.Progress) { said.add(p) },
			})
			if receipt != nil {
				stored = receipt.ReportID
				said.add(usage.Verify(ctx, receipt))
			}
			said.add(err)
		}
	}
	only := func(_ any, err error) { said.add(err) }
	return []func(){
		func() { only(records.Get(ctx, "10.5072/a", nil)) },
		func() { only(tokens.Get(ctx, "10.5072/a", nil)) },
		func() { only(tokens.List(ctx, nil)) },
		func() { only(tokens.Update(ctx, "10.5072/a", &dois.Draft{URL: address})) },
		func() { only(records.Exists(ctx, "10.5072/a")) },
		func() { only(records.Citation(ctx, "10.5072/a", nil)) },
		func() { only(records.List(ctx, &dois.ListOptions{ClientID: []string{"example.repo"}})) },
		func() {
			for _, err := range records.All(ctx, &dois.ListOptions{Prefix: []string{"10.5072"}}) {
				said.add(err)
			}
		},
		func() { only(records.Create(ctx, &dois.Draft{DOI: "10.5072/c" + fmt.Sprint(n)})) },
		func() { only(records.Update(ctx, "10.5072/a", &dois.Draft{URL: address})) },
		func() { only(records.ChangeState(ctx, "10.5072/a", dois.Hide, nil)) },
		func() { said.add(records.Delete(ctx, "10.5072/d")) },
		func() {
			wanted := func(yield func(dois.Wanted, error) bool) {
				yield(dois.Wanted{DOI: "10.5072/a", URL: address + "0"}, nil)
			}
			audit := records.Audit(ctx, wanted, &dois.AuditOptions{ClientID: "example.repo", Prefix: []string{"10.5072"}, AllowEmpty: true, Progress: func(p dois.AuditProgress) { said.add(p) }})
			for repaired, err := range records.Repair(ctx, audit, nil) {
				if said.add(err); repaired != nil {
					said.add(repaired.Err)
				}
			}
		},
		func() { only(records.Do(ctx, &datacite.Request{Method: "GET", Path: "/dois"})) },
		func() { registration(store.Register(ctx, "10.5072/a", address, doc(title()))) },
		func() { registration(store.Register(ctx, "10.5072/b", address, doc(title()))) },
		func() { registration(store.Ensure(ctx, "10.5072/b", address, doc("same"), nil)) },
		func() {
			wanted := func(yield func(dois.Wanted, error) bool) {
				for i := range 4 {
					if !yield(dois.Wanted{DOI: fmt.Sprintf("10.5072/%d", i), URL: address, State: dois.StateFindable, MetadataXML: doc(title()).Data}, nil) {
						return
					}
				}
			}
			for e, err := range records.EnsureAll(ctx, wanted, &dois.EnsureOptions{Pause: time.Millisecond, Progress: func(p dois.EnsureProgress) { said.add(p) }}) {
				if said.add(err); e != nil {
					said.add(e.Err)
				}
			}
		},
		func() { only(store.URL(ctx, "10.5072/a")) },
		func() { only(store.Metadata(ctx, "10.5072/a")) },
		func() { only(store.PutURL(ctx, "10.5072/a", address)) },
		func() { only(store.PutMetadata(ctx, "10.5072/a", doc(title()))) },
		func() { only(store.Mint(ctx, "10.5072", doc(title()))) },
		func() { said.add(store.Hide(ctx, "10.5072/a")) },
		func() { said.add(store.Show(ctx, "10.5072/a")) },
		func() { only(store.State(ctx, "10.5072/a")) },
		func() { said.add(store.CheckAccess(ctx, "10.5072", address)) },
		func() {
			n++
			s, err := usage.Create(ctx, report())
			if s != nil && uuid.Validate(s.ID) == nil {
				stored = s.ID
			}
			said.add(err)
		},
		func() { only(usage.Get(ctx, cmp.Or(stored, "0148536f-bfbc-4775-b93c-524e91d0b9f6"))) },
		func() { only(usage.Put(ctx, cmp.Or(stored, "0148536f-bfbc-4775-b93c-524e91d0b9f6"), report())) },
		func() {
			for _, err := range usage.All(ctx, nil) {
				said.add(err)
			}
		},
		submit(false), submit(true), submit(false), submit(true),
	}
}

func each(datasets []reports.Dataset) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		for _, d := range datasets {
			if !yield(d, nil) {
				return
			}
		}
	}
}

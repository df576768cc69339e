package mds_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
)

// behaviours are the truths that the client must be right on.
func behaviours() []datacitetest.Behaviour {
	return []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed}
}

// eachBehaviour runs a story against a fresh server of every behaviour.
func eachBehaviour(t *testing.T, story func(t *testing.T, srv *datacitetest.Server)) {
	t.Helper()
	for _, b := range behaviours() {
		t.Run(string(b), func(t *testing.T) { story(t, newServer(t, &datacitetest.Options{Behaviour: b})) })
	}
}

// newServer follows the specification, unless the options say otherwise.
func newServer(t testing.TB, opts *datacitetest.Options) *datacitetest.Server {
	t.Helper()
	o := datacitetest.Options{}
	if opts != nil {
		o = *opts
	}
	o.NoPort, o.Behaviour = true, cmp.Or(o.Behaviour, datacitetest.Documented)
	srv := datacitetest.NewServer(&o)
	t.Cleanup(srv.Close)
	return srv
}

// credentials are a login that a test uses.
type credentials struct{ Username, Password string }

var account = credentials{Username: datacitetest.Username, Password: datacitetest.Password}

// as makes a client of a server with other credentials or options.
func as(t testing.TB, srv *datacitetest.Server, creds credentials, opts *datacite.Config) *mds.Client {
	t.Helper()
	o := datacite.Config{}
	if opts != nil {
		o = *opts
	}
	if o.HTTPClient == nil {
		o.HTTPClient = srv.HTTPClient()
	}
	o.Service, o.Username, o.Password = srv.Config().Service, creds.Username, creds.Password
	client := must(mds.NewClient(o))(t)
	return client
}

// responding is a service that gives every request the same response.
func responding(t testing.TB, status int, contentType, body string, opts *datacite.Config) *mds.Client {
	t.Helper()
	return served(t, func(*http.Request) *http.Response { return response(status, contentType, body) }, opts)
}

// served is a client whose requests a function responds to.
func served(t testing.TB, serve func(*http.Request) *http.Response, opts *datacite.Config) *mds.Client {
	t.Helper()
	o := datacite.Config{MaxAttempts: 1}
	if opts != nil {
		o = *opts
	}
	o.HTTPClient = &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		res := serve(req)
		res.Request = req
		return res, nil
	})}
	o.Service.MDS, o.Username, o.Password = "https://mds.example.org", account.Username, account.Password
	client := must(mds.NewClient(o))(t)
	return client
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func response(status int, contentType, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

const plain = "text/plain; charset=utf-8"

const name = "10.5072/glacier-7"

// unowned is a DOI below a prefix that the account has no right to.
const unowned = "10.70000/new"

// wrong is a login that the service does not accept.
var wrong = credentials{Username: datacitetest.Username, Password: "not the password"}

// calls are the methods for one DOI.
var calls = map[string]func(ctx context.Context, c *mds.Client, doi string) error{
	"URL":      func(ctx context.Context, c *mds.Client, doi string) error { return failure(c.URL(ctx, doi)) },
	"Metadata": func(ctx context.Context, c *mds.Client, doi string) error { return failure(c.Metadata(ctx, doi)) },
	"State":    func(ctx context.Context, c *mds.Client, doi string) error { return failure(c.State(ctx, doi)) },
	"PutURL": func(ctx context.Context, c *mds.Client, doi string) error {
		return failure(c.PutURL(ctx, doi, address))
	},
	"PutMetadata": func(ctx context.Context, c *mds.Client, doi string) error {
		return failure(c.PutMetadata(ctx, doi, record("A")))
	},
	"Register": func(ctx context.Context, c *mds.Client, doi string) error {
		return failure(c.Register(ctx, doi, address, record("A"), &mds.RegisterOptions{NoReadBack: true}))
	},
	"Hide":        func(ctx context.Context, c *mds.Client, doi string) error { return c.Hide(ctx, doi) },
	"Show":        func(ctx context.Context, c *mds.Client, doi string) error { return c.Show(ctx, doi) },
	"DeleteDraft": func(ctx context.Context, c *mds.Client, doi string) error { return c.DeleteDraft(ctx, doi) },
}

// failure is the error of a call with a result.
func failure[T any](_ T, err error) error { return err }

// record is a complete metadata record with a title of its own.
func record(title string) mds.Document {
	return mds.XML([]byte(`<?xml version="1.0" encoding="UTF-8"?>
<resource xmlns="http://datacite.org/schema/kernel-4" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://datacite.org/schema/kernel-4 https://schema.datacite.org/meta/kernel-4/metadata.xsd">
  <identifier identifierType="DOI"></identifier>
  <creators>
    <creator><creatorName>Lovelace, Ada</creatorName></creator>
  </creators>
  <titles>
    <title>` + title + `</title>
  </titles>
  <publisher>Example Repository</publisher>
  <publicationYear>2026</publicationYear>
  <resourceType resourceTypeGeneral="Dataset">Table</resourceType>
</resource>
`))
}

// invalid is a metadata record without a mandatory property.
func invalid() mds.Document {
	return mds.XML(bytes.Replace(record("A").Data, []byte("<publisher>Example Repository</publisher>"), nil, 1))
}

const address = "https://repo.example.org/glacier/7"

// seed stores a record of which the service's rules need not hold.
func seed(t testing.TB, srv *datacitetest.Server, attributes map[string]any) {
	t.Helper()
	data := must(json.Marshal(attributes))(t)
	require.NoError(t, srv.PutRecordJSON(data))
}

// foreign is a findable DOI of another account.
func foreign(t testing.TB, srv *datacitetest.Server, doi string) {
	t.Helper()
	seed(t, srv, map[string]any{
		"doi": doi, "client": "other.repo", "url": "https://other.example.org/",
		"xml": base64.StdEncoding.EncodeToString(record("Theirs").Data),
	})
}

// findable registers a DOI.
func findable(t testing.TB, srv *datacitetest.Server, doi string) {
	t.Helper()
	must(srv.MDS().Register(t.Context(), doi, address, record("Glacier length"), nil))(t)
}

// paths lists what the server was asked since a number of requests.
func paths(srv *datacitetest.Server, since int) []string {
	var asked []string
	for _, r := range srv.Requests()[since:] {
		asked = append(asked, r.Method+" "+r.URL.EscapedPath())
	}
	return asked
}

// puts counts the writes that the server was asked for since a number of requests.
func puts(srv *datacitetest.Server, since int) int {
	n := 0
	for _, p := range paths(srv, since) {
		if strings.HasPrefix(p, "PUT ") {
			n++
		}
	}
	return n
}

func BenchmarkRegister(b *testing.B) {
	srv := newServer(b, nil)
	doc := record("Glacier length")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := srv.MDS().Register(b.Context(), name, address, doc, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRegisterUnchanged(b *testing.B) {
	srv := newServer(b, nil)
	doc := record("Glacier length")
	if _, err := srv.MDS().Register(b.Context(), name, address, doc, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		done, err := srv.MDS().Register(b.Context(), name, address, doc, nil)
		if err != nil || done.Change != mds.ChangeNone {
			b.Fatal(done, err)
		}
	}
}

// must is the result of a call that may not fail.
func must[T any](result T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return result
	}
}

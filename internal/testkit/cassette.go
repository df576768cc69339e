// Package testkit holds what the tests of several packages share: recorded
// exchanges that pin the wire format down.
package testkit

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gopkg.in/dnaeon/go-vcr.v3/cassette"
	"gopkg.in/dnaeon/go-vcr.v3/recorder"

	"github.com/datacite-go/datacite-go/internal/transport"
)

var record = flag.Bool("record", false,
	"record the cassettes anew: against the embedded service, or against the test hosts if DATACITE_USERNAME, "+
		"DATACITE_PASSWORD, DATACITE_TOKEN and DATACITE_PREFIX are set")

// Recording reports whether cassettes are recorded rather than replayed.
func Recording() bool { return *record }

// Replacements are texts that must not stand in a cassette, as they are or in
// lower case, such as the name of a real account, and what stands there instead.
type Replacements map[string]string

// Cassette returns an HTTP client that replays testdata/cassettes/<name>.yaml:
// it responds to each request, in any order and each recording once, and fails for
// one that differs in method, address, body or one of the headers that matter.
// With -record it passes the requests on to upstream and writes the cassette,
// without anything that is a secret or of no meaning.
func Cassette(t *testing.T, name string, upstream http.RoundTripper, replace Replacements) *http.Client {
	t.Helper()
	mode := recorder.ModeReplayOnly
	if *record {
		mode = recorder.ModeRecordOnly
	}
	rec, err := recorder.NewWithOptions(&recorder.Options{
		CassetteName:       filepath.Join(root(), "testdata", "cassettes", name),
		Mode:               mode,
		RealTransport:      upstream,
		SkipRequestLatency: true,
	})
	if err != nil {
		t.Fatalf("cassette %s: %v", name, err)
	}
	var sent []http.Header
	rec.AddHook(func(i *cassette.Interaction) error {
		sent = append(sent, i.Request.Headers.Clone())
		return nil
	}, recorder.AfterCaptureHook)
	rec.AddHook(func(i *cassette.Interaction) error {
		return scrub(i, replace, transport.Redaction(sent))
	}, recorder.BeforeSaveHook)
	rec.SetMatcher(matches)
	t.Cleanup(func() {
		if err := rec.Stop(); err != nil {
			t.Errorf("cassette %s: %v", name, err)
		}
	})
	return &http.Client{Transport: rec}
}

func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Headers that a cassette keeps. Of Authorization it keeps the scheme.
var (
	requestHeaders  = []string{"Accept", "Content-Type", "Content-Encoding"}
	responseHeaders = []string{"Content-Type", "Location", "Retry-After"}
)

// scrub takes out of an exchange what must not be saved, or says nothing. A server may
// repeat the credentials of any request.
func scrub(i *cassette.Interaction, replace Replacements, redact func(string) string) error {
	body, err := readable(i.Request.Headers.Get("Content-Encoding"), i.Request.Body)
	if err != nil {
		return err
	}
	i.Request.Headers = meaningful(i.Request.Headers, requestHeaders)
	i.Response.Headers = meaningful(i.Response.Headers, responseHeaders)
	i.Response.Headers.Del("Authorization")
	i.Request.Body, i.Request.Form, i.Request.ContentLength = body, nil, 0
	i.Request.RequestURI, i.Request.RemoteAddr = "", ""
	i.Response.Duration = 0
	i.Response.Body = redact(i.Response.Body)
	for _, values := range i.Response.Headers {
		for k := range values {
			values[k] = redact(values[k])
		}
	}
	for old, neutral := range replace {
		swap := strings.NewReplacer(old, neutral, strings.ToLower(old), strings.ToLower(neutral)).Replace
		i.Request.URL, i.Request.Body, i.Response.Body = swap(i.Request.URL), swap(i.Request.Body), swap(i.Response.Body)
		for _, values := range i.Response.Headers {
			for k := range values {
				values[k] = swap(values[k])
			}
		}
	}
	return nil
}

func meaningful(all http.Header, names []string) http.Header {
	kept := http.Header{}
	for _, name := range names {
		if values := all.Values(name); len(values) > 0 {
			kept[name] = slices.Clone(values)
		}
	}
	if scheme, _, ok := strings.Cut(all.Get("Authorization"), " "); ok {
		kept.Set("Authorization", scheme+" REDACTED")
	}
	return kept
}

// readable shows a compressed body as text: its bytes depend on the version of
// the compressor, and nobody could review them.
func readable(encoding, body string) (string, error) {
	if encoding != "gzip" {
		return body, nil
	}
	r, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("a body with Content-Encoding gzip: %w", err)
	}
	plain, err := io.ReadAll(r)
	return string(plain), err
}

// matches compares a request with a recorded one.
func matches(r *http.Request, want cassette.Request) bool {
	body := ""
	if r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return false
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
		if body, err = readable(r.Header.Get("Content-Encoding"), string(data)); err != nil {
			return false
		}
	}
	got := meaningful(r.Header, requestHeaders)
	if r.Method != want.Method || r.URL.String() != want.URL || body != want.Body || len(got) != len(want.Headers) {
		return false
	}
	for name := range got {
		if !slices.Equal(got[name], want.Headers[name]) {
			return false
		}
	}
	return true
}

package transport_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// encodings are the ways in which a server may write down what it was sent.
var encodings = map[string]func(string) string{
	"as it is": func(s string) string { return s },
	"query":    url.QueryEscape,
	"path":     url.PathEscape,
	"html":     html.EscapeString,
	"base64":   func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 for addresses, without padding": func(s string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(s))
	},
	"json": func(s string) string { data, _ := json.Marshal(s); return string(data[1 : len(data)-1]) },
}

// places are where a secret may stand in a response: alone, behind a text of any
// length, and cut in two wherever something is cut.
func places(secret string, limits ...int) []string {
	out := []string{secret, "login with " + secret + " failed"}
	for _, limit := range limits {
		for _, inside := range []int{1, len(secret) / 2, len(secret) - 1} {
			out = append(out, strings.Repeat("x", max(limit-inside, 0))+secret+"more")
		}
	}
	return append(out, strings.Repeat(secret+" ", 3))
}

// responses are the paths on which a response becomes an error.
var responses = map[string]func(text string) *http.Response{
	"plain": func(text string) *http.Response { return response(403, "text/plain", text) },
	"page": func(text string) *http.Response {
		return response(500, "text/html", "<html><title>"+text+"</title></html>")
	},
	"json": func(text string) *http.Response {
		return response(422, "application/json", jsonErrors(text))
	},
	"field map": func(text string) *http.Response {
		return response(422, "application/json", jsonMap(text))
	},
	"success that is a page": func(text string) *http.Response {
		return response(200, "text/html", "<html><h1>"+text+"</h1></html>")
	},
	"success that is no JSON": func(text string) *http.Response { return response(200, "application/json", text) },
	"success that is broken":  func(text string) *http.Response { return response(200, "application/json", "[x"+text) },
	"redirect": func(text string) *http.Response {
		res := response(302, "text/plain", "")
		res.Header.Set("Location", "https://elsewhere.example/?"+url.QueryEscape(text))
		return res
	},
	"request id": func(text string) *http.Response {
		res := response(400, "text/plain", "no")
		res.Header.Set("X-Request-Id", text)
		return res
	},
	"header": func(text string) *http.Response {
		res := response(400, "text/plain", "no")
		res.Header["X-Login"] = []string{"first", text}
		res.Header[text] = []string{"named"}
		return res
	},
	"network": func(string) *http.Response { return nil },
}

func jsonErrors(text string) string {
	data, _ := json.Marshal(map[string]any{"errors": []any{map[string]any{"title": text, "source": text}}})
	return string(data)
}

func jsonMap(text string) string {
	data, _ := json.Marshal(map[string]any{text: []string{text}})
	return string(data)
}

func response(status int, kind, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}},
		Body: io.NopCloser(strings.NewReader(body))}
}

type responding func(*http.Request) (*http.Response, error)

func (f responding) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Every secret goes through every path to an error, in every encoding and cut at
// every place, and is in no text.
func TestNoSecretInAnyText(t *testing.T) {
	const token = "eyJhbGciOiJSUzI1NiJ9.eyJ1aWQiOiJyZXBvIn0.c2lnbmF0dXJlIHRoYXQgbm9ib2R5IG1heSBzZWU"
	const user, password = "EXAMPLE.REPO", `p&ss <w>+rd/"é"`
	const key = "DC.Zx81kQw7Lm20PtRv55YhNc64BdGsAe93"
	for who, tt := range map[string]struct {
		authorize transport.Authorizer
		secrets   []string
	}{
		"token": {transport.Bearer(func(context.Context) (string, error) {
			return token, nil
		}), []string{token, "Bearer " + token}},
		"login": {basic(user, password),
			[]string{password, user + ":" + password, base64.StdEncoding.EncodeToString([]byte(user + ":" + password))}},
		"key as token":    {transport.Bearer(func(context.Context) (string, error) { return key, nil }), []string{key}},
		"key as password": {basic(user, key), []string{key}},
		"key as name":     {basic(key, ""), []string{key}},
	} {
		for path, response := range responses {
			t.Run(who+"/"+path, func(t *testing.T) {
				for _, secret := range tt.secrets {
					for name, encode := range encodings {
						limits := []int{500}
						if name == "as it is" {
							limits = []int{64, 500, 510}
						}
						if name == "as it is" && path == "plain" { // as long as the texts that are kept
							limits = append(limits, 64<<10)
						}
						for _, text := range places(encode(secret), limits...) {
							shown := everything(t, tt.authorize, response(text), text)
							assert.NotContains(t, shown, encode(secret), name)
							assert.NotContains(t, shown, secret, name)
							for i := 0; name == "as it is" && i+20 <= len(secret); i++ {
								require.NotContains(t, shown, secret[i:i+20], "a part of it")
							}
						}
					}
				}
			})
		}
	}
}

// everything is all that a request that fails shows: in the error, its fields,
// the errors below it, and the log.
func everything(t *testing.T, authorize transport.Authorizer, response *http.Response, text string) string {
	t.Helper()
	var log bytes.Buffer
	client, err := newClient(config{
		BaseURL: "https://service.example", Authorize: authorize, MaxAttempts: 1,
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		HTTPClient: &http.Client{Transport: responding(func(req *http.Request) (*http.Response, error) {
			if response == nil {
				return nil, errors.New("proxy says: " + text)
			}
			response.Request = req
			return response, nil
		})},
	})
	require.NoError(t, err)
	_, err = client.Do(t.Context(), transport.Request{
		Op: "x.Y", Method: "GET", Path: "/", Access: transport.Optional, Accept: transport.JSONType,
		Read: readList,
	})
	e, ok := err.(*datacite.Error)
	require.True(t, ok, "%v", err)
	slog.New(slog.NewJSONHandler(&log, nil)).Error("failed", "error", e)
	var out strings.Builder
	fmt.Fprintf(&out, "%v\n%s\n%s\n", e, e.Body, &log)
	if len(e.Body) < 4<<10 { // as numbers, long ones say no more
		fmt.Fprintf(&out, "%+v\n%#v\n", *e, *e)
	}
	below(&out, e)
	return out.String()
}

// below writes down an error and those below it.
func below(out *strings.Builder, err error) {
	if err == nil {
		return
	}
	fmt.Fprintf(out, "%v\n%+v\n", err, err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		below(out, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			below(out, err)
		}
	}
}

// A password may stand in an address that was given wrongly, or in that of a proxy.
func TestNoPasswordOfAnAddressInAnyText(t *testing.T) {
	for _, base := range []string{
		"https://repo:sesame@service.example", "http://repo:sesame@service.example", "ftp://repo:sesame@service.example",
		"repo:sesame@service.example",
		"https://repo:sesame@service.example:port", "//repo:sesame@service.example", "https:repo:sesame@service.example",
	} {
		_, err := newClient(config{BaseURL: base})
		require.Error(t, err, base)
		assert.NotContains(t, err.Error(), "sesame", base)
	}
	shown := everything(t, basic("repo", "password"), nil, `parse "http://admin:sesame@proxy.example:bad": invalid port`)
	assert.NotContains(t, shown, "sesame")
	assert.Contains(t, shown, "http://REDACTED@proxy.example")
}

// A server, a cache or a gateway may repeat what it was sent before: to a request without
// a login, after another token, or to one whose login is the caller's own.
func TestSecretsComeBackLater(t *testing.T) {
	var log bytes.Buffer
	var said, back string // what the service was sent last, and what it says now
	tokens := []string{"the-first-token-of-all", "the-second-token-of-all"}
	client, err := newClient(config{
		BaseURL: "https://service.example", MaxAttempts: 1,
		Authorize: transport.Bearer(func(context.Context) (string, error) {
			token := tokens[0]
			tokens = append(tokens[1:], token)
			return token, nil
		}),
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		HTTPClient: &http.Client{Transport: responding(func(req *http.Request) (*http.Response, error) {
			said = req.Header.Get("Authorization")
			return response(400, "text/html", "<html><title>bad: "+back+"</title></html>"), nil
		})},
	})
	require.NoError(t, err)
	ask := func(r transport.Request) string {
		log.Reset()
		r.Op, r.Method = "x.Y", "GET"
		_, err := client.Do(t.Context(), r)
		require.Error(t, err)
		e, _ := errors.AsType[*datacite.Error](err)
		return err.Error() + string(e.Body) + log.String()
	}
	ask(transport.Request{Path: "/", Access: transport.Required})
	require.Equal(t, "Bearer the-first-token-of-all", said)
	back = said
	for name, r := range map[string]transport.Request{
		"without a login": {Path: "/"},
		"another token":   {Path: "/", Access: transport.Required},
		"in an address":   {Path: "/", Query: "cursor=the-first-token-of-all"},
	} {
		assert.NotContains(t, ask(r), "the-first-token", name)
	}
	own := http.Header{"Authorization": {"key-of-the-caller"},
		"Proxy-Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("me:for-the-proxy"))}}
	ask(transport.Request{Path: "/", Header: own})
	back = "key-of-the-caller, for-the-proxy"
	assert.Contains(t, ask(transport.Request{Path: "/"}), "REDACTED, REDACTED")
}

// What is left of a page without its tags would not look like a secret that has some.
func TestSecretsThatLookLikeTags(t *testing.T) {
	shown := everything(t, basic("repo", "Summer<2026>!#"),
		response(400, "text/html", "<title>Summer<2026>!# is wrong</title>"), "")
	assert.Contains(t, shown, "an HTML page: REDACTED is wrong")
	assert.NotContains(t, shown, "Summer")
}

// An error whose text is redacted can be asked for what it is, and for what is below it as
// long as that shows nothing.
func TestErrorsWithWordsOfTheService(t *testing.T) {
	client := must(newClient(config{BaseURL: "https://service.example", Authorize: basic("repo", "Summer!2026")}))(t)
	_, err := client.Do(t.Context(), transport.Request{Op: "x.Y", Method: "GET", Path: "/", Access: transport.Required,
		Before: func() error { return errors.New("no") }})
	require.Error(t, err)
	below := &datacite.Error{Op: "x.Y", StatusCode: 404}
	shown := client.Shown(fmt.Errorf("reading Summer!2026: %w",
		datacite.Invalid(datacite.Finding{Path: "Summer!2026", Err: below})))
	assert.EqualError(t, shown, "reading REDACTED: datacite: REDACTED")
	assert.ErrorIs(t, shown, datacite.ErrNotFound)
	e, ok := errors.AsType[*datacite.Error](shown)
	assert.True(t, ok && e == below)
	fault, ok := errors.AsType[*datacite.ValidationError](shown)
	assert.False(t, ok, "it shows the password")
	assert.Nil(t, fault)
	plain := errors.New("nothing to hide")
	assert.Same(t, plain, client.Shown(plain))
	assert.NoError(t, client.Shown(nil))
}

func TestAShortPasswordLeavesTextsReadable(t *testing.T) {
	for _, password := range []string{"b", "test", "seven77"} {
		shown := everything(t, basic("repo", password), response(422, "text/plain", "the test b of seven77 is no table"), "")
		assert.Contains(t, shown, "the test b of seven77 is no table")
		plain := "repo:" + password
		shown = everything(t, basic("repo", password),
			response(403, "text/plain", "not "+plain+" or Basic "+base64.StdEncoding.EncodeToString([]byte(plain))), "")
		assert.Contains(t, shown, "not REDACTED or Basic REDACTED")
	}
}

func TestWhatAServerSaysIsOneBoundedLine(t *testing.T) {
	nasty := "\x1b[31mred\x07\u202eevil\u2066\r\n\x00" + strings.Repeat("long ", 10_000)
	for path, response := range responses {
		if path == "network" || path == "redirect" {
			continue
		}
		t.Run(path, func(t *testing.T) {
			res := response(nasty)
			client, err := newClient(config{
				BaseURL: "https://service.example", MaxAttempts: 1,
				HTTPClient: &http.Client{Transport: responding(func(*http.Request) (*http.Response, error) { return res, nil })},
			})
			require.NoError(t, err)
			_, err = client.Do(t.Context(),
				transport.Request{Op: "x.Y", Method: "GET", Path: "/", Accept: transport.JSONType, Read: readList})
			e, ok := err.(*datacite.Error)
			require.True(t, ok)
			var said strings.Builder
			said.WriteString(e.Error() + e.RequestID)
			for _, d := range e.Details {
				said.WriteString(d.Path + d.Reason)
			}
			for cause := e.Unwrap(); cause != nil; cause = errors.Unwrap(cause) {
				said.WriteString(strings.ReplaceAll(cause.Error(), "\n", " "))
			}
			assert.Less(t, len(said.String()), 4_000)
			assert.LessOrEqual(t, len(e.RequestID), 100)
			assert.NotRegexp(t, "[\x00-\x1f\x7f\u202e\u2066]", said.String())
		})
	}
	assert.Equal(t, "a\ufffdb", transport.Line("a\xffb"))
}

func readList(d *jsonlex.Decoder) error {
	d.List()
	return d.Err()
}

package transport_test

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A config is what a test says of a client: parts of a datacite.Config, and a login.
type config struct {
	BaseURL     string
	Authorize   transport.Authorizer
	HTTPClient  *http.Client
	UserAgent   string
	Contact     string
	Logger      *slog.Logger
	MaxAttempts int
	MaxWait     time.Duration
	Timeout     time.Duration
	MaxBody     int64
	Limiter     datacite.Limiter
}

func newClient(c config) (*transport.Client, error) {
	return transport.New(datacite.Config{
		Service: datacite.Service{API: c.BaseURL}, HTTPClient: c.HTTPClient, UserAgent: c.UserAgent, Contact: c.Contact,
		Logger:      c.Logger,
		MaxAttempts: c.MaxAttempts, MaxWait: c.MaxWait, Timeout: c.Timeout, MaxBody: c.MaxBody, Limiter: c.Limiter,
	}, transport.Interface{Name: "API", Login: c.Authorize})
}

// basic authorizes with a login, whatever it is.
func basic(username, password string) transport.Authorizer {
	return func(_ context.Context, h http.Header) error {
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(username+":"+password)))
		return nil
	}
}

func TestLoginsThatCannotBeSent(t *testing.T) {
	login := must(transport.Basic(datacite.Config{Username: "REPO.ONE", Password: "pass: word"}))(t)
	h := http.Header{}
	require.NoError(t, login(t.Context(), h))
	assert.Equal(t, "Basic UkVQTy5PTkU6cGFzczogd29yZA==", h.Get("Authorization"))
	for path, configs := range map[string][]datacite.Config{
		"Config.Username": {{Password: "x"}, {Username: "a:b", Password: "x"}, {Username: "a\nb", Password: "x"},
			{Username: "DC.sesamesesamesesamesesame", Password: "x"}},
		"Config.Password": {{Username: "x"}, {Username: "x", Password: "a\x7fb"}},
	} {
		for _, c := range configs {
			_, err := transport.Basic(c)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.Equal(t, path, datacite.Findings(err)[0].Path)
			assert.NotEmpty(t, datacite.Findings(err)[0].Code)
			assert.NotContains(t, err.Error(), "sesame")
		}
	}
	_, err := transport.Token(datacite.Config{Token: "a.b.c", TokenSource: func(context.Context) (string, error) {
		return "", nil
	}})
	assert.EqualError(t, err, "datacite: Config.Token: and TokenSource are both set; give one")
	require.ErrorIs(t, failure(transport.Token(datacite.Config{Token: "a b"})), datacite.ErrInvalid)
}

// must is the result of a call that may not fail.
func must[T any](result T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return result
	}
}

// failure is the error of a call with a result.
func failure[T any](_ T, err error) error { return err }

func TestEncodeParams(t *testing.T) {
	got := transport.EncodeParams(url.Values{"query": {`titles.title:"a b" +c`}, "page[size]": {"5"},
		"fields[dois]": {"doi,titles"}})
	assert.Equal(t, `fields%5Bdois%5D=doi%2Ctitles&page%5Bsize%5D=5&query=titles.title%3A%22a%20b%22%20%2Bc`, got)
}

func TestParamsJSON(t *testing.T) {
	got := must(transport.ParamsJSON(url.Values{"query": {"a +b"}, "page[size]": {"5"}, "page[cursor]": {"1"},
		"fields[dois]": {"doi"}, "x": {"1", "2"}, "none": {}}))(t)
	assert.JSONEq(t, `{"query":"a +b","page":{"size":"5","cursor":"1"},"fields":{"dois":"doi"},"x":["1","2"]}`,
		string(got))

	assert.ErrorContains(t, failure(transport.ParamsJSON(url.Values{"page": {"1"}, "page[size]": {"5"}})),
		"a value and an object at once")
}

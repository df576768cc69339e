package register

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A DOI is waited for with growing pauses until it leads to its address, for 15 minutes.
func TestResolver(t *testing.T) {
	const name, address = "10.5072/a#b", "https://Repo.example.org"
	broken := errors.New("the line is cut")
	for what, tt := range map[string]struct {
		responses []string      // locations, statuses, or "" for none; the last is repeated
		end       time.Duration // of the context
		took      time.Duration
		says      string
	}{
		"at once": {[]string{"https://repo.example.org/"}, time.Hour, 0, ""},
		"after a while": {[]string{"404", "", "502", "https://repo.example.org/old", address}, time.Hour,
			(5000 + 7500 + 11250 + 16875) * time.Millisecond, ""},
		"never": {[]string{"404"}, time.Hour, 15 * time.Minute,
			`10.5072/a#b does not resolve yet: it leads to ""`},
		"elsewhere": {[]string{"https://repo.example.org/old"}, time.Hour, 15 * time.Minute,
			`it leads to "https://repo.example.org/old"`},
		"the resolver fails": {[]string{"502"}, time.Hour, 15 * time.Minute,
			"HEAD https://resolver.example/10.5072/a%23b: 502 Bad Gateway is neither a redirect nor 404"},
		"no resolver":        {[]string{""}, time.Hour, 15 * time.Minute, broken.Error()},
		"the context ends":   {[]string{"404"}, time.Minute, time.Minute, "context deadline exceeded"},
		"a redirect nowhere": {[]string{"302"}, time.Hour, 15 * time.Minute, "is neither a redirect"},
		"a page":             {[]string{"200"}, time.Hour, 15 * time.Minute, "is neither a redirect"},
		"an odd address": {[]string{"https://repo.example.org/%zz"}, time.Hour, 15 * time.Minute,
			"failed to parse Location header"},
		"an unreadable query": {[]string{"https://repo.example.org/?%zz"}, time.Hour, 15 * time.Minute,
			`leads to "https://repo.example.org/?%zz"`},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.end)
				defer cancel()
				rest, begun := tt.responses, time.Now()
				r := resolver{"https://resolver.example/", transport(func(req *http.Request) (*http.Response, error) {
					assert.Equal(t, "HEAD https://resolver.example/10.5072/a%23b", req.Method+" "+req.URL.String())
					assert.Empty(t, req.Header.Get("Authorization"))
					now := rest[0]
					rest = rest[min(1, len(rest)-1):]
					if now == "" {
						return nil, broken
					}
					res := &http.Response{StatusCode: 302, Header: http.Header{"Location": {now}}, Body: http.NoBody, Request: req}
					if status, err := strconv.Atoi(now); err == nil {
						res.StatusCode, res.Status, res.Header = status, now+" "+http.StatusText(status), http.Header{}
					}
					return res, nil
				})}
				err := r.wait(ctx, name, address)
				assert.Equal(t, tt.took, time.Since(begun))
				if tt.says == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, tt.says)
				}
			})
		})
	}
}

package counter_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports/counter"
)

func TestFromRequest(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32")}
	for _, c := range []struct {
		name, remote string
		forwarded    []string
		want         string
	}{
		{"no proxy", "192.0.2.1:4711", nil, "192.0.2.1"},
		{"a header that anybody can send", "192.0.2.1:4711", []string{"198.51.100.7"}, "192.0.2.1"},
		{"a proxy", "127.0.0.1:4711", []string{"198.51.100.7"}, "198.51.100.7"},
		{"two proxies, and what the client invented", "127.0.0.1:4711", []string{"203.0.113.9, 198.51.100.7", "10.0.0.2"},
			"198.51.100.7"},
		{"no address", "127.0.0.1:4711", []string{"unknown"}, "127.0.0.1"},
		{"IPv6", "[::ffff:127.0.0.1]:4711", []string{"[2001:db8::1]:5"}, "2001:db8::1"},
	} {
		r := httptest.NewRequest("GET", "https://data.example.org/a?b=1", nil)
		r.RemoteAddr, r.Header = c.remote, http.Header{"X-Forwarded-For": c.forwarded,
			"X-Forwarded-Host": {"data.example.org"}, "User-Agent": {"curl/8"}}
		e, ok := counter.FromRequest(r, http.StatusOK, proxies)
		require.True(t, ok, c.name)
		assert.Equal(t, c.want, e.Address, c.name)
		assert.Equal(t, map[bool]string{true: "/a?b=1",
			false: "data.example.org/a?b=1"}[strings.Contains(c.remote, "127.0.0.1")], e.URL)
		assert.Equal(t, "curl/8", e.Agent)
		assert.WithinDuration(t, time.Now(), e.Time, time.Minute)
	}
	// behind a proxy, hosts may be those of instances
	for remote, want := range map[string]string{"127.0.0.1:4711": "/a", "192.0.2.1:4711": "one:8080/a"} {
		for _, forwarded := range []string{"", "data.example.org", "invented, data.example.org"} {
			r := httptest.NewRequest("GET", "http://one:8080/a", nil)
			r.RemoteAddr, r.Header = remote, http.Header{"X-Forwarded-Host": {forwarded}, "Forwarded": {"host=" + forwarded}}
			e, _ := counter.FromRequest(r, http.StatusOK, proxies)
			assert.Equal(t, want, e.URL, forwarded)
		}
	}
	for _, c := range []struct {
		method string
		status int
		ok     bool
	}{
		{"GET", 200, true}, {"GET", 206, true}, {"GET", 304, true}, {"POST", 200, true},
		{"HEAD", 200, false}, {"OPTIONS", 200, false}, {"GET", 302, false}, {"GET", 404, false}, {"GET", 500, false},
	} {
		_, ok := counter.FromRequest(httptest.NewRequest(c.method, "/", nil), c.status, nil)
		assert.Equal(t, c.ok, ok, "%s %d", c.method, c.status)
	}
}

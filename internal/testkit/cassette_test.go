package testkit_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/testkit"
)

// A request that differs from the recording in anything that matters must fail,
// or the cassettes would prove nothing.
func TestCassetteRefusesWhatIsNotOnIt(t *testing.T) {
	if testkit.Recording() {
		t.Skip("cassettes are being recorded")
	}
	const url = "https://mds.test.datacite.org/doi/10.5072/wire-draft"
	for _, tt := range []struct {
		name, method, url, body string
		header                  http.Header
		found                   bool
	}{
		{"the same request", "DELETE", url, "", http.Header{"Authorization": {"Basic whatever"}}, true},
		{"headers without meaning", "DELETE", url, "", http.Header{"Authorization": {"Basic whatever"}, "User-Agent": {"x"}, "X-Request-Id": {"y"}}, true},
		{"another method", "GET", url, "", http.Header{"Authorization": {"Basic whatever"}}, false},
		{"another address", "DELETE", url + "?x=1", "", http.Header{"Authorization": {"Basic whatever"}}, false},
		{"a body", "DELETE", url, "x", http.Header{"Authorization": {"Basic whatever"}}, false},
		{"another scheme", "DELETE", url, "", http.Header{"Authorization": {"Bearer whatever"}}, false},
		{"no credentials", "DELETE", url, "", http.Header{}, false},
		{"a content type", "DELETE", url, "", http.Header{"Authorization": {"Basic whatever"}, "Content-Type": {"text/plain"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hc := testkit.Cassette(t, "mds", nil, nil)
			req := must(http.NewRequest(tt.method, tt.url, strings.NewReader(tt.body)))(t)
			req.Header = tt.header
			res, err := hc.Do(req)
			if !tt.found {
				require.ErrorContains(t, err, "requested interaction not found")
				return
			}
			require.NoError(t, err)
			defer res.Body.Close()
			must(io.ReadAll(res.Body))(t)
		})
	}
}

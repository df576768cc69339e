package mds_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
)

// FuzzWirePath: for any text that is a DOI name, the path that goes on the wire
// decodes back to the same DOI, and so does the address for people.
func FuzzWirePath(f *testing.F) {
	for _, seed := range []string{
		"10.5072/abc", "doi:10.1/ä//..", "https://doi.org/10.1/a%2Fb", "10.1/%%%", `10.1/\`, "10.1/a+b?c#d", "10.5072%2Fa", "10.1/.", "10.1//",
		"0", "https://dx.doi.org/10.1/%E2%80%93", "10.1/a%2E%2e/", "10.1/a b", "10.1.2/;:@!$&'()*,=~", "info:doi/10.1/\U0001F600",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := doi.Parse(text)
		if err != nil {
			require.ErrorIs(t, err, datacite.ErrInvalidDOI)
			return
		}
		again, err := doi.Parse(doi.Address(name))
		require.NoError(t, err)
		assert.Equal(t, name, again)

		c := served(t, func(req *http.Request) *http.Response {
			wire := req.URL.RequestURI()
			arrived, err := url.ParseRequestURI(wire)
			require.NoError(t, err)
			assert.Equal(t, "/doi/"+name, arrived.Path)
			assert.Empty(t, arrived.RawQuery)
			for segment := range strings.SplitSeq(wire, "/") {
				assert.NotContains(t, []string{".", ".."}, segment)
			}
			assert.NotContains(t, wire, "+")
			return response(http.StatusOK, plain, address)
		}, nil)
		if _, err = c.URL(t.Context(), text); err != nil {
			require.ErrorIs(t, err, datacite.ErrInvalidDOI, "it would reach another DOI")
		}
	})
}

// FuzzURLBody: no URL ever adds a line to the body, and each arrives as it is.
func FuzzURLBody(f *testing.F) {
	for _, seed := range []string{address, "https://a.example/%0Aurl=b", "https://a.example/\nurl=b", "http://0??", "https://a.example/a+b%2Bc", "ftp://a.example/\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, to string) {
		srv := newServer(t, nil)
		_, err := srv.MDS().PutMetadata(t.Context(), name, record("A"))
		require.NoError(t, err)
		if _, err := srv.MDS().PutURL(t.Context(), name, to); err != nil {
			require.ErrorIs(t, err, datacite.ErrInvalid, "what is sent is taken")
			return
		}
		got, err := srv.MDS().URL(t.Context(), name)
		if !strings.Contains(to, "??") { // which may stand for characters that the service replaces
			require.NoError(t, err)
		}
		assert.Equal(t, to, got)
	})
}

package dois_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
)

// TestNamesWithTheCharactersOfURLs reads DOI names whose characters mean something else in a URL:
// the request must reach exactly that DOI, and the response must not show the
// record next to it.
func TestNamesWithTheCharactersOfURLs(t *testing.T) {
	for _, tt := range []struct{ kind, name, path string }{
		{"plain", "10.5072/abc", "/dois/10.5072/abc"},
		{"upper case", "10.5072/ABC-Def", "/dois/10.5072/ABC-Def"},
		{"space", "10.5072/a b", "/dois/10.5072/a%20b"},
		{"number sign", "10.5072/a#b", "/dois/10.5072/a%23b"},
		{"question mark", "10.5072/a?b=c", "/dois/10.5072/a%3Fb=c"},
		{"percent sign", "10.5072/a%20b", "/dois/10.5072/a%2520b"},
		{"two slashes", "10.5072/a//b", "/dois/10.5072/a%2F%2Fb"},
		{"two slashes after the prefix", "10.5072//a", "/dois/10.5072/%2Fa"},
		{"slash at the end", "10.5072/a/", "/dois/10.5072/a%2F"},
		{"what belongs to a DOI", "10.5072/a/media", "/dois/10.5072/a%2Fmedia"},
		{"what belongs to a DOI, and more", "10.5072/a/events/1/x", "/dois/10.5072/a%2Fevents%2F1%2Fx"},
		{"plus", "10.5072/a+b", "/dois/10.5072/a%2Bb"},
		{"angle brackets", "10.5072/0003(1999)<1:a>2.0.co;2-x", "/dois/10.5072/0003(1999)%3C1:a%3E2.0.co;2-x"},
		{"quotes", `10.5072/a"b'c`, "/dois/10.5072/a%22b'c"},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				attributes, err := json.Marshal(map[string]string{"doi": tt.name, "url": "https://example.org/right"})
				require.NoError(t, err)
				seed(t, srv, string(attributes), `{"doi":"10.5072/a","url":"https://example.org/wrong"}`)

				r, err := anonymous(t, srv).Get(t.Context(), tt.name, nil)
				require.NoError(t, err)
				assert.Equal(t, "https://example.org/right", r.URL)
				assert.Equal(t, tt.path, last(t, srv).URL.EscapedPath())
			})
		})
	}
}

// TestNamesThatNoPathHolds gives names that the deployed service takes for others
// in a path. Get asks the list for them.
func TestNamesThatNoPathHolds(t *testing.T) {
	for _, name := range []string{
		"10.5072/a/./b", "10.5072/../x", "10.5072/größe-日本", "https://doi.org/10.5072/a%20",
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				c := srv.DOIs()
				_, errExists := c.Exists(t.Context(), name)
				_, errXML := c.Open(t.Context(), name, dois.DataCiteXML)
				_, errUpdate := c.Update(t.Context(), name, &dois.Draft{URL: "https://example.org/"})
				_, errHide := c.ChangeState(t.Context(), name, dois.Hide, nil)
				for _, err := range []error{errExists, errXML, errUpdate, errHide, c.Delete(t.Context(), name)} {
					require.ErrorIs(t, err, datacite.ErrInvalidDOI)
					assert.ErrorContains(t, err, "another DOI")
				}
				assert.Empty(t, srv.Requests(), "nothing was sent")
				_, errGet := c.Get(t.Context(), name, nil)
				require.ErrorIs(t, errGet, datacite.ErrNotFound)
			})
		})
	}
	story(t, "in a list", []string{
		`{"doi":"10.5072/größe","titles":[{"title":"Size"}]}`, `{"doi":"10.5072/grosse"}`, `{"doi":"10.5072/größe,n"}`,
	}, func(t *testing.T, srv *datacitetest.Server) {
		r, err := srv.DOIs().Get(t.Context(), "10.5072/GRöße", &dois.GetOptions{Include: []string{"client"}})
		require.NoError(t, err)
		assert.Equal(t, "10.5072/größe", r.DOI)
		assert.Equal(t, "Size", r.Titles[0].Title)
		assert.NotEmpty(t, r.Included)
		_, err = srv.DOIs().Get(t.Context(), "10.5072/größe,n", nil)
		require.ErrorIs(t, err, datacite.ErrInvalidDOI, "a list takes the comma for the end of a name")
	})
}

func TestNamesPeopleWrite(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, `{"doi":"10.5072/abc"}`)
		for _, name := range []string{
			"10.5072/abc", "10.5072/ABC", "doi:10.5072/abc", "https://doi.org/10.5072/abc", "http://dx.doi.org/10.5072/abc", " 10.5072/abc\n",
		} {
			r, err := srv.DOIs().Get(t.Context(), name, nil)
			require.NoError(t, err, name)
			assert.Equal(t, "10.5072/abc", r.DOI)
		}
	})
}

// TestInvalidNamesAreNotSent gives names that are none. Nothing may be sent: a path
// without a name is the list of all DOIs.
func TestInvalidNamesAreNotSent(t *testing.T) {
	calls := map[string]func(*dois.Client, string) error{
		"Get": func(c *dois.Client, name string) error { _, err := c.Get(t.Context(), name, nil); return err },
		"Update": func(c *dois.Client, name string) error {
			_, err := c.Update(t.Context(), name, &dois.Draft{})
			return err
		},
		"Delete": func(c *dois.Client, name string) error { return c.Delete(t.Context(), name) },
	}
	for call, do := range calls {
		t.Run(call, func(t *testing.T) {
			for _, name := range []string{
				"", " ", "null", "undefined", "10.5072", "10.5072/", "/abc", "abc/10.5072", "10./x", "11.5072/x", "10.5072/a\x00b", "10.5072/a\nb",
				"10.5072/\xff", "https://example.org/10.5072/abc", "https://doi.org/10.5072/a%2",
			} {
				onEach(t, func(t *testing.T, srv *datacitetest.Server) {
					err := do(srv.DOIs(), name)
					require.ErrorIs(t, err, datacite.ErrInvalidDOI, "%q", name)
					require.ErrorIs(t, err, datacite.ErrInvalid)
					field, ok := errors.AsType[*datacite.ValidationError](err)
					require.True(t, ok)
					assert.Equal(t, "doi", field.Findings[0].Path)
					assert.Empty(t, srv.Requests(), "nothing was sent for %q", name)
				})
			}
		})
	}
}

func TestGetUnknown(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		_, err := srv.DOIs().Get(t.Context(), "10.5072/nothing", nil)
		require.ErrorIs(t, err, datacite.ErrNotFound)
		e, ok := errors.AsType[*datacite.Error](err)
		require.True(t, ok)
		assert.Equal(t, "dois.Get", e.Op)
		assert.Equal(t, 404, e.StatusCode)
		assert.NotEmpty(t, e.RequestID)
		assert.ErrorContains(t, err, "/dois/10.5072/nothing?affiliation=true&publisher=true: 404 Not Found")
	})
}

package mds_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
)

const unowned = "10.70000/new"

// writes are the methods that send one write for a name.
var writes = map[string]func(context.Context, *mds.Client, string) error{
	"Register": func(ctx context.Context, c *mds.Client, name string) error {
		_, err := c.Register(ctx, name, address, record("A"))
		return err
	},
	"PutMetadata": func(ctx context.Context, c *mds.Client, name string) error {
		_, err := c.PutMetadata(ctx, name, record("A"))
		return err
	},
	"PutURL": func(ctx context.Context, c *mds.Client, name string) error {
		_, err := c.PutURL(ctx, name, address)
		return err
	},
	"DeleteDraft": func(ctx context.Context, c *mds.Client, name string) error { return c.DeleteDraft(ctx, name) },
	"Hide":        func(ctx context.Context, c *mds.Client, name string) error { return c.Hide(ctx, name) },
	"CheckAccess": func(ctx context.Context, c *mds.Client, name string) error { return c.CheckAccess(ctx, "10.70000", "") },
	"Mint": func(ctx context.Context, c *mds.Client, name string) error {
		_, err := c.Mint(ctx, "10.70000", record("A"))
		return err
	},
}

// A refusal that the DOI API confirms is final: it costs a few requests, and is neither temporary nor
// unclear.
func TestAForeignPrefixIsFinal(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		for name, write := range writes {
			if name == "Hide" || name == "DeleteDraft" { // there is nothing to hide or delete
				continue
			}
			if srv.Behaviour == datacitetest.Documented && (name == "PutURL" || name == "CheckAccess") { // 400
				continue
			}
			t.Run(name, func(t *testing.T) {
				since := len(srv.Requests())
				err := write(t.Context(), srv.MDS(), unowned)
				require.ErrorIs(t, err, datacite.ErrForbidden)
				assert.NotErrorIs(t, err, datacite.ErrUnclear)
				assert.False(t, datacite.Temporary(err))
				assert.NotContains(t, err.Error(), "lost the service behind it")
				puts := 0
				for _, asked := range paths(srv, since) {
					if strings.HasPrefix(asked, "PUT /doi/") || strings.HasPrefix(asked, "PUT /metadata/") {
						puts++
					}
				}
				assert.Equal(t, 1, puts)
				assert.LessOrEqual(t, len(srv.Requests())-since, 4)
				assert.Empty(t, srv.Names())
			})
		}
	})
}

// So is a write to the DOI of somebody else, whatever its prefix.
func TestTheDOIOfAnotherAccountIsFinal(t *testing.T) {
	srv := newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	foreign(t, srv, "10.70000/theirs")
	for _, name := range []string{"PutMetadata", "PutURL", "Hide", "DeleteDraft"} {
		since := len(srv.Requests())
		err := writes[name](t.Context(), srv.MDS(), "10.70000/theirs")
		require.ErrorIs(t, err, datacite.ErrForbidden, name)
		assert.False(t, datacite.Temporary(err), name)
		assert.NotErrorIs(t, err, datacite.ErrUnclear, name)
		assert.Len(t, srv.Requests()[since:], 2, name)
	}
	assert.Equal(t, datacitetest.StateFindable, srv.State("10.70000/theirs"))
}

// Nothing but the API's own words confirms a refusal: what is lost, a page of a gateway, and a name of the
// account's own leave it as open as it was.
func TestOnlyTheAPIConfirmsARefusal(t *testing.T) {
	const unknown = `{"errors":[{"status":"404","title":"The resource you are looking for doesn't exist."}]}`
	const denied = `{"errors":[{"status":"403","title":"You are not authorized to access this resource."}]}`
	const owned = `{"data":{"attributes":{},"relationships":{"client":{"data":{"id":"example.repo"}}}}}`
	for name, tt := range map[string]struct {
		get, put func() (*http.Response, error)
		final    bool
	}{
		"unknown, and refused":              {says(404, unknown), says(403, denied), true},
		"unknown, and allowed":              {says(404, unknown), says(422, `{"errors":[{"source":"xml","title":"Can't be blank"}]}`), false},
		"unknown, and a wrong login":        {says(404, unknown), says(404, unknown), false},
		"unknown, and refused by a gateway": {says(404, unknown), says(403, `{"message":"Forbidden"}`), false},
		"unknown, and a page":               {says(404, unknown), says(403, `<html><title>403</title>`), false},
		"unknown, and lost":                 {says(404, unknown), says(0, ""), false},
		"unknown to a gateway":              {says(404, `{"message":"no route"}`), says(403, denied), false},
		"lost":                              {says(0, ""), says(403, denied), false},
		"the account's own":                 {says(200, owned), says(403, denied), false},
		"of an account that is not named":   {says(200, `{"data":{}}`), says(403, denied), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := trip(func(r *http.Request) (*http.Response, error) {
					switch {
					case r.URL.Host == "mds.example":
						return response(403, plain, "Access is denied"), nil
					case r.Method == http.MethodGet:
						return tt.get()
					}
					return tt.put()
				})
				c, err := mds.NewClient(datacite.Config{
					Service:  datacite.Service{MDS: "https://mds.example", API: "https://api.example"},
					Username: "EXAMPLE.REPO", Password: "secret", HTTPClient: &http.Client{Transport: net},
				})
				require.NoError(t, err)
				_, err = c.PutMetadata(t.Context(), unowned, record("A"))
				require.ErrorIs(t, err, datacite.ErrForbidden)
				assert.Equal(t, !tt.final, datacite.Temporary(err))
				if !tt.final {
					require.ErrorIs(t, err, datacite.ErrUnclear)
				}
			})
		})
	}
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// says is a response of the DOI API, or with status 0 none.
func says(status int, body string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		if status == 0 {
			return nil, errLine
		}
		return response(status, "application/json", body), nil
	}
}

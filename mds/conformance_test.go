package mds_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/mds"
)

// The tests of this file go through the specification row by row: the states of
// §3.1, the endpoints and codes of §4.3 and §7, authentication in §5, the limits
// of §8.

const name = "10.5072/glacier-7"

// wrong is a login that the service does not accept.
var wrong = credentials{Username: datacitetest.Username, Password: "not the password"}

// TestStates is specification §3.1.
func TestStates(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps func(t *testing.T, srv *datacitetest.Server, c *mds.Client)
		want  mds.State
	}{
		{"PUT metadata of an unknown DOI makes a draft", func(t *testing.T, _ *datacitetest.Server, c *mds.Client) {
			_, err := c.PutMetadata(t.Context(), name, record("A"))
			require.NoError(t, err)
		}, mds.StateDraft},
		{"PUT metadata of a draft leaves it a draft", func(t *testing.T, _ *datacitetest.Server, c *mds.Client) {
			for range 2 {
				_, err := c.PutMetadata(t.Context(), name, record("A"))
				require.NoError(t, err)
			}
		}, mds.StateDraft},
		{"PUT doi of a draft makes it findable", func(t *testing.T, _ *datacitetest.Server, c *mds.Client) {
			_, err := c.PutMetadata(t.Context(), name, record("A"))
			require.NoError(t, err)
			_, err = c.PutURL(t.Context(), name, address)
			require.NoError(t, err)
		}, mds.StateFindable},
		{"PUT doi of a findable DOI changes its URL", func(t *testing.T, srv *datacitetest.Server, c *mds.Client) {
			findable(t, srv, name)
			_, err := c.PutURL(t.Context(), name, "https://repo.example.org/new")
			require.NoError(t, err)
			got, err := c.URL(t.Context(), name)
			require.NoError(t, err)
			assert.Equal(t, "https://repo.example.org/new", got)
		}, mds.StateFindable},
		{"DELETE metadata of a findable DOI makes it registered", func(t *testing.T, srv *datacitetest.Server, c *mds.Client) {
			findable(t, srv, name)
			require.NoError(t, c.Hide(t.Context(), name))
		}, datacitetest.StateRegistered},
		{"PUT metadata of a registered DOI makes it findable", func(t *testing.T, srv *datacitetest.Server, c *mds.Client) {
			findable(t, srv, name)
			require.NoError(t, c.Hide(t.Context(), name))
			_, err := c.PutMetadata(t.Context(), name, record("A"))
			require.NoError(t, err)
		}, mds.StateFindable},
		{"DELETE doi of a draft removes it", func(t *testing.T, _ *datacitetest.Server, c *mds.Client) {
			_, err := c.PutMetadata(t.Context(), name, record("A"))
			require.NoError(t, err)
			require.NoError(t, c.DeleteDraft(t.Context(), name))
		}, mds.StateNone},
		{"DELETE doi of a findable DOI is refused", func(t *testing.T, srv *datacitetest.Server, c *mds.Client) {
			findable(t, srv, name)
			require.ErrorIs(t, c.DeleteDraft(t.Context(), name), datacite.ErrNotAllowed)
		}, mds.StateFindable},
		{"DELETE doi of a registered DOI is refused", func(t *testing.T, srv *datacitetest.Server, c *mds.Client) {
			findable(t, srv, name)
			require.NoError(t, c.Hide(t.Context(), name))
			require.ErrorIs(t, c.DeleteDraft(t.Context(), name), datacite.ErrNotAllowed)
		}, datacitetest.StateRegistered},
		{"DELETE metadata of a draft leaves it a draft", func(t *testing.T, _ *datacitetest.Server, c *mds.Client) {
			_, err := c.PutMetadata(t.Context(), name, record("A"))
			require.NoError(t, err)
			require.NoError(t, c.Hide(t.Context(), name))
		}, mds.StateDraft},
		{"DELETE metadata of an unknown DOI makes nothing", func(t *testing.T, _ *datacitetest.Server, c *mds.Client) {
			require.ErrorIs(t, c.Hide(t.Context(), name), datacite.ErrNotFound)
		}, mds.StateNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
				tt.steps(t, srv, srv.MDS())
				assert.Equal(t, tt.want, mds.State(srv.State(name)))
			})
		})
	}
}

// status is one row of the status codes: what leads to it, and what it is for a
// caller.
type status struct {
	name string
	do   func(t *testing.T, srv *datacitetest.Server) error
	want error
	code int // of the last response, by the specification

	// The deployed service responds differently; TestEveryResponseOfTheDeployedService
	// says what.
	documentedOnly bool
}

func (tt status) run(t *testing.T) {
	t.Run(tt.name, func(t *testing.T) {
		eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
			if tt.documentedOnly && srv.Behaviour != datacitetest.Documented {
				return
			}
			synctest.Test(t, func(t *testing.T) { tt.check(t, srv) })
		})
	})
}

func (tt status) check(t *testing.T, srv *datacitetest.Server) {
	err := tt.do(t, srv)
	if tt.want == nil {
		require.NoError(t, err)
	} else {
		require.ErrorIs(t, err, tt.want)
		assert.NotContains(t, err.Error(), datacitetest.Password)
	}
	if srv.Behaviour == datacitetest.Documented {
		log := slices.DeleteFunc(srv.Requests(), func(r datacitetest.Request) bool { return strings.HasPrefix(r.URL.Path, "/dois/") })
		assert.Equal(t, tt.code, log[len(log)-1].Status)
	}
}

// TestGetMetadata is GET /metadata/{doi} of specification §4.3 and §7.
func TestGetMetadata(t *testing.T) {
	get := func(t *testing.T, c *mds.Client) error {
		_, err := c.Metadata(t.Context(), name)
		return err
	}
	for _, tt := range []status{
		{"200 with the XML", func(t *testing.T, srv *datacitetest.Server) error {
			findable(t, srv, name)
			doc, err := srv.MDS().Metadata(t.Context(), name)
			require.NoError(t, err)
			assert.Equal(t, "application/xml; charset=utf-8", doc.ContentType)
			assert.Contains(t, string(doc.Data), "<title>Glacier length</title>")
			assert.Contains(t, strings.ToLower(string(doc.Data)), ">"+name+"</identifier>", "the service writes the identifier")
			return err
		}, nil, 200, false},
		{"204 known without metadata", func(t *testing.T, srv *datacitetest.Server) error {
			seed(t, srv, map[string]any{"doi": name, "state": "draft"})
			return get(t, srv.MDS())
		}, mds.ErrNoMetadata, 204, false},
		{"401 wrong login", func(t *testing.T, srv *datacitetest.Server) error {
			return get(t, as(t, srv, wrong, nil))
		}, datacite.ErrUnauthorized, 401, true},
		{"403 somebody else's DOI", func(t *testing.T, srv *datacitetest.Server) error {
			foreign(t, srv, name)
			return get(t, srv.MDS())
		}, datacite.ErrForbidden, 403, true},
		{"404 unknown DOI", func(t *testing.T, srv *datacitetest.Server) error {
			return get(t, srv.MDS())
		}, datacite.ErrNotFound, 404, false},
		{"422 stored metadata are invalid", func(t *testing.T, srv *datacitetest.Server) error {
			seed(t, srv, map[string]any{"doi": name, "xml": "PHJlc291cmNlLz4="})
			return get(t, srv.MDS())
		}, datacite.ErrInvalid, 422, true},
	} {
		tt.run(t)
	}
}

// TestPutMetadata is PUT /metadata/{doi} of specification §4.3 and §7.
func TestPutMetadata(t *testing.T) {
	put := func(t *testing.T, c *mds.Client, doi string, doc mds.Document) error {
		_, err := c.PutMetadata(t.Context(), doi, doc)
		return err
	}
	for _, tt := range []status{
		{"201 new", func(t *testing.T, srv *datacitetest.Server) error {
			status, err := srv.MDS().PutMetadata(t.Context(), name, record("A"))
			assert.Contains(t, []mds.Status{"CREATED", "OK"}, status)
			log := srv.Requests()
			assert.Equal(t, mds.XMLType, log[len(log)-1].Header.Get("Content-Type"))
			return err
		}, nil, 201, false},
		{"201 existing", func(t *testing.T, srv *datacitetest.Server) error {
			findable(t, srv, name)
			status, err := srv.MDS().PutMetadata(t.Context(), name, record("B"))
			assert.Contains(t, []mds.Status{"HANDLE_ALREADY_EXISTS", "OK"}, status)
			return err
		}, nil, 201, false},
		{"401 wrong login", func(t *testing.T, srv *datacitetest.Server) error {
			return put(t, as(t, srv, wrong, nil), name, record("A"))
		}, datacite.ErrUnauthorized, 401, false},
		{"403 prefix of another account", func(t *testing.T, srv *datacitetest.Server) error {
			return put(t, srv.MDS(), "10.70000/a", record("A"))
		}, datacite.ErrForbidden, 403, false},
		{"403 somebody else's DOI", func(t *testing.T, srv *datacitetest.Server) error {
			foreign(t, srv, name)
			return put(t, srv.MDS(), name, record("A"))
		}, datacite.ErrForbidden, 403, false},
		{"415 wrong content type", func(t *testing.T, srv *datacitetest.Server) error {
			return put(t, srv.MDS(), name, mds.Document{ContentType: "text/plain", Data: []byte("neither XML nor anything else")})
		}, datacite.ErrMediaType, 415, false},
		{"415 XML sent as something else", func(t *testing.T, srv *datacitetest.Server) error {
			return put(t, srv.MDS(), name, mds.Document{ContentType: "text/plain;charset=UTF-8", Data: record("A").Data})
		}, datacite.ErrMediaType, 415, true},
		{"422 mandatory property missing", func(t *testing.T, srv *datacitetest.Server) error {
			return put(t, srv.MDS(), name, invalid())
		}, datacite.ErrInvalid, 422, false},
	} {
		tt.run(t)
	}
}

// mintByService lets the service choose a name, as the documentation of Mint says.
func mintByService(ctx context.Context, c *mds.Client, prefix string, doc mds.Document) (string, error) {
	res, err := c.Do(ctx, &datacite.Request{Method: http.MethodPut, Path: "/metadata/" + prefix, ContentType: doc.ContentType, Body: doc.Data})
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimSuffix(string(res.Body), ")"), "OK (")
	if !ok {
		_, name, _ = strings.Cut(res.Header.Get("Location"), "/metadata/")
	}
	return strings.ToLower(name), nil
}

// TestMintByService is PUT /metadata/{prefix} of specification §4.3 and §7.
func TestMintByService(t *testing.T) {
	mint := func(t *testing.T, c *mds.Client, prefix string, doc mds.Document) error {
		_, err := mintByService(t.Context(), c, prefix, doc)
		return err
	}
	for _, tt := range []status{
		{"201 under a new name", func(t *testing.T, srv *datacitetest.Server) error {
			minted, err := mintByService(t.Context(), srv.MDS(), datacitetest.Prefix, record("A"))
			require.NoError(t, err)
			prefix, suffix, _ := strings.Cut(minted, "/")
			assert.Equal(t, datacitetest.Prefix, prefix)
			assert.Regexp(t, `^[0-9a-z]{4}-[0-9a-z]{4}$`, suffix)
			assert.Equal(t, datacitetest.StateDraft, srv.State(minted))
			return nil
		}, nil, 201, false},
		{"the identifier in the XML is overwritten", func(t *testing.T, srv *datacitetest.Server) error {
			doc := record("A")
			doc.Data = []byte(strings.Replace(string(doc.Data), "></identifier>", ">10.5072/another</identifier>", 1))
			minted, err := mintByService(t.Context(), srv.MDS(), datacitetest.Prefix, doc)
			require.NoError(t, err)
			stored, err := srv.MDS().Metadata(t.Context(), minted)
			require.NoError(t, err)
			assert.Contains(t, strings.ToLower(string(stored.Data)), ">"+minted+"</identifier>")
			assert.Empty(t, srv.State("10.5072/another"))
			return nil
		}, nil, 200, false},
		{"401 wrong login", func(t *testing.T, srv *datacitetest.Server) error {
			return mint(t, as(t, srv, wrong, nil), datacitetest.Prefix, record("A"))
		}, datacite.ErrUnauthorized, 401, false},
		{"403 prefix of another account", func(t *testing.T, srv *datacitetest.Server) error {
			return mint(t, srv.MDS(), "10.70000", record("A"))
		}, datacite.ErrForbidden, 403, false},
		{"415 wrong content type", func(t *testing.T, srv *datacitetest.Server) error {
			return mint(t, srv.MDS(), datacitetest.Prefix, mds.Document{ContentType: "text/plain", Data: []byte("?")})
		}, datacite.ErrMediaType, 415, false},
		{"422 invalid metadata", func(t *testing.T, srv *datacitetest.Server) error {
			return mint(t, srv.MDS(), datacitetest.Prefix, invalid())
		}, datacite.ErrInvalid, 422, false},
	} {
		tt.run(t)
	}
}

// TestGetURL is GET /doi/{doi} of specification §4.3.
func TestGetURL(t *testing.T) {
	get := func(t *testing.T, c *mds.Client) error {
		_, err := c.URL(t.Context(), name)
		return err
	}
	for _, tt := range []status{
		{"200 with the URL", func(t *testing.T, srv *datacitetest.Server) error {
			findable(t, srv, name)
			got, err := srv.MDS().URL(t.Context(), name)
			assert.Equal(t, address, got)
			return err
		}, nil, 200, false},
		{"204 a draft has none", func(t *testing.T, srv *datacitetest.Server) error {
			_, err := srv.MDS().PutMetadata(t.Context(), name, record("A"))
			require.NoError(t, err)
			return get(t, srv.MDS())
		}, mds.ErrNoURL, 204, false},
		{"401 wrong login", func(t *testing.T, srv *datacitetest.Server) error {
			return get(t, as(t, srv, wrong, nil))
		}, datacite.ErrUnauthorized, 401, true},
		{"403 somebody else's DOI", func(t *testing.T, srv *datacitetest.Server) error {
			foreign(t, srv, name)
			return get(t, srv.MDS())
		}, datacite.ErrForbidden, 403, true},
		{"404 unknown DOI", func(t *testing.T, srv *datacitetest.Server) error {
			return get(t, srv.MDS())
		}, datacite.ErrNotFound, 404, false},
	} {
		tt.run(t)
	}
}

// TestPutURL is PUT /doi/{doi} of specification §4.3 and §7.
func TestPutURL(t *testing.T) {
	put := func(t *testing.T, c *mds.Client, doi string) error {
		_, err := c.PutURL(t.Context(), doi, address)
		return err
	}
	for _, tt := range []status{
		{"201 registered", func(t *testing.T, srv *datacitetest.Server) error {
			_, err := srv.MDS().PutMetadata(t.Context(), name, record("A"))
			require.NoError(t, err)
			status, err := srv.MDS().PutURL(t.Context(), name, address)
			assert.EqualValues(t, "OK", status)
			log := srv.Requests()
			assert.Equal(t, "text/plain;charset=UTF-8", log[len(log)-1].Header.Get("Content-Type"))
			return err
		}, nil, 201, false},
		{"400 prefix of another account", func(t *testing.T, srv *datacitetest.Server) error {
			return put(t, srv.MDS(), "10.70000/a")
		}, datacite.ErrBadRequest, 400, true},
		{"401 wrong login", func(t *testing.T, srv *datacitetest.Server) error {
			return put(t, as(t, srv, wrong, nil), name)
		}, datacite.ErrUnauthorized, 401, false},
		{"403 somebody else's DOI", func(t *testing.T, srv *datacitetest.Server) error {
			foreign(t, srv, name)
			return put(t, srv.MDS(), name)
		}, datacite.ErrForbidden, 403, false},
		{"412 metadata not uploaded", func(t *testing.T, srv *datacitetest.Server) error {
			return put(t, srv.MDS(), name)
		}, mds.ErrMetadataMissing, 412, false},
	} {
		tt.run(t)
	}
	t.Run("400 domain of somebody else", func(t *testing.T) {
		srv := newServer(t, &datacitetest.Options{Accounts: []datacitetest.Account{{Domains: []string{"*.example.org"}}}})
		_, err := srv.MDS().PutMetadata(t.Context(), name, record("A"))
		require.NoError(t, err)
		_, err = srv.MDS().PutURL(t.Context(), name, "https://elsewhere.example.net/")
		require.ErrorIs(t, err, datacite.ErrBadRequest)
		require.NoError(t, put(t, srv.MDS(), name))
	})
	t.Run("400 body of other than two lines", func(t *testing.T) {
		// The client cannot be made to send one; the service says no all the same.
		srv := newServer(t, nil)
		for _, body := range []string{"", "doi=" + name, "doi=" + name + "\nurl=" + address + "\nurl=https://evil.example", "url=" + address + "\ndoi=" + name} {
			assert.Equal(t, 400, raw(t, srv, "PUT", "/doi/"+name, body, account), body)
		}
	})
}

// TestDeleteMetadata is DELETE /metadata/{doi} of specification §4.3.
func TestDeleteMetadata(t *testing.T) {
	for _, tt := range []status{
		{"200 hidden", func(t *testing.T, srv *datacitetest.Server) error {
			findable(t, srv, name)
			return srv.MDS().Hide(t.Context(), name)
		}, nil, 200, false},
		{"401 wrong login", func(t *testing.T, srv *datacitetest.Server) error {
			return as(t, srv, wrong, nil).Hide(t.Context(), name)
		}, datacite.ErrUnauthorized, 401, true},
		{"403 somebody else's DOI", func(t *testing.T, srv *datacitetest.Server) error {
			foreign(t, srv, name)
			return srv.MDS().Hide(t.Context(), name)
		}, datacite.ErrForbidden, 403, true},
		{"404 unknown DOI", func(t *testing.T, srv *datacitetest.Server) error {
			return srv.MDS().Hide(t.Context(), name)
		}, datacite.ErrNotFound, 404, false},
	} {
		tt.run(t)
	}
}

// TestDeleteDOI is DELETE /doi/{doi} of specification §4.3.
func TestDeleteDOI(t *testing.T) {
	for _, tt := range []status{
		{"200 draft deleted", func(t *testing.T, srv *datacitetest.Server) error {
			_, err := srv.MDS().PutMetadata(t.Context(), name, record("A"))
			require.NoError(t, err)
			return srv.MDS().DeleteDraft(t.Context(), name)
		}, nil, 200, false},
		{"401 wrong login", func(t *testing.T, srv *datacitetest.Server) error {
			_, err := srv.MDS().PutMetadata(t.Context(), name, record("A"))
			require.NoError(t, err)
			return as(t, srv, wrong, nil).DeleteDraft(t.Context(), name)
		}, datacite.ErrUnauthorized, 401, false},
		{"403 somebody else's draft", func(t *testing.T, srv *datacitetest.Server) error {
			seed(t, srv, map[string]any{"doi": name, "client": "other.repo", "state": "draft"})
			return srv.MDS().DeleteDraft(t.Context(), name)
		}, datacite.ErrForbidden, 403, false},
		{"404 unknown DOI", func(t *testing.T, srv *datacitetest.Server) error {
			return srv.MDS().DeleteDraft(t.Context(), name)
		}, datacite.ErrNotFound, 404, false},
		{"405 not a draft", func(t *testing.T, srv *datacitetest.Server) error {
			findable(t, srv, name)
			return srv.MDS().DeleteDraft(t.Context(), name)
		}, datacite.ErrNotAllowed, 405, false},
	} {
		tt.run(t)
	}
}

// TestAuthentication is specification §5 for interface C, and 401 of §7.
func TestAuthentication(t *testing.T) {
	t.Run("every request carries Basic credentials", func(t *testing.T) {
		c := served(t, func(req *http.Request) *http.Response {
			user, password, ok := req.BasicAuth()
			assert.True(t, ok, req.Method)
			assert.Equal(t, account, credentials{Username: user, Password: password})
			return response(http.StatusNotFound, plain, "DOI not found")
		}, nil)
		_, err := c.URL(t.Context(), name)
		assert.ErrorIs(t, err, datacite.ErrNotFound)
		_, err = c.Metadata(t.Context(), name)
		assert.ErrorIs(t, err, datacite.ErrNotFound)
		_, err = c.PutMetadata(t.Context(), name, record("A"))
		assert.ErrorIs(t, err, datacite.ErrUnauthorized, "an account that nobody knows")
		_, err = c.PutURL(t.Context(), name, address)
		assert.ErrorIs(t, err, datacite.ErrUnauthorized)
		assert.ErrorIs(t, c.DeleteDraft(t.Context(), name), datacite.ErrNotFound)
		assert.ErrorIs(t, c.Hide(t.Context(), name), datacite.ErrNotFound)
	})
	t.Run("401 without a login, on every endpoint", func(t *testing.T) {
		srv := newServer(t, nil)
		for _, request := range []string{"GET /doi/", "GET /metadata/", "PUT /metadata/", "PUT /doi/", "DELETE /metadata/", "DELETE /doi/"} {
			method, path, _ := strings.Cut(request, " ")
			assert.Equal(t, 401, raw(t, srv, method, path+name, "", credentials{}), request)
		}
	})
	t.Run("only HTTPS is supported", func(t *testing.T) {
		_, err := mds.NewClient(datacite.Config{Service: datacite.Service{MDS: "http://mds.example.org"}, Username: account.Username, Password: account.Password})
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.ErrorContains(t, err, "is not HTTPS")
	})
	t.Run("only assigned prefixes", func(t *testing.T) {
		srv := newServer(t, nil)
		_, err := srv.MDS().Register(t.Context(), "10.70000/a", address, record("A"))
		require.ErrorIs(t, err, datacite.ErrForbidden)
		assert.Empty(t, srv.State("10.70000/a"))
	})
}

// raw sends a request as no client would, and returns the status.
func raw(t *testing.T, srv *datacitetest.Server, method, path, body string, creds credentials) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "text/plain;charset=UTF-8")
	if creds.Username != "" {
		req.SetBasicAuth(creds.Username, creds.Password)
	}
	res, err := srv.HTTPClient().Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// TestSuffixCharacters is specification §2.3 and §8.
func TestSuffixCharacters(t *testing.T) {
	const all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/0123456789-._;()"
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		_, err := srv.MDS().PutMetadata(t.Context(), "10.5072/"+all, record("A"))
		require.NoError(t, err)
		assert.Equal(t, datacitetest.StateDraft, srv.State("10.5072/"+all))
	})
	for _, r := range " !\"#$%&'*+,:<=>?@[\\]^`{|}~äß€\u00b2\u0663" {
		err := doi.CheckNew("10.5072/a" + string(r) + "b")
		assert.ErrorIs(t, err, datacite.ErrInvalidDOI, "%q", r)
		assert.ErrorIs(t, err, datacite.ErrInvalid, "%q", r)
	}
}

// TestVisibilityDelay is specification §8: a new DOI resolves a few minutes after
// PUT /doi, and not before.
func TestVisibilityDelay(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		leads := func(to, when string) {
			t.Helper()
			target, err := srv.Resolve(t.Context(), name)
			require.NoError(t, err)
			assert.Equal(t, to, target, when)
		}
		findable(t, srv, name)
		leads("", "not at once")
		srv.Advance(2 * time.Minute)
		leads("", "not yet")
		srv.Advance(time.Minute)
		leads(address, "after the delay")

		require.NoError(t, srv.MDS().Hide(t.Context(), name))
		leads(address, "a hidden DOI goes on resolving")

		_, err := srv.MDS().PutURL(t.Context(), name, "https://repo.example.org/new")
		require.NoError(t, err)
		leads(address, "the old URL until the new one has arrived")
		srv.Advance(3 * time.Minute)
		leads("https://repo.example.org/new", "the new one")
	})
}

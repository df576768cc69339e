package mds_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/mds/mdstest"
)

// deployed makes a server that follows the specification answer like the public
// service where the two differ for a client: it cuts names, decodes them twice,
// has other codes and texts, lets anybody read findable DOIs, and makes drafts
// when told to hide what it does not know.
type deployed struct{ *mdstest.Server }

func (d deployed) line(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	req = d.cutName(req)
	if user, password, _ := req.BasicAuth(); req.Method == "GET" && (mds.Credentials{Username: user, Password: password}) != account {
		return d.anonymous(req, next)
	}
	res, err := next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	area, name, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	switch got := fmt.Sprint(req.Method, " ", area, " ", res.StatusCode); got {
	case "PUT doi 412":
		return instead(res, 422, "Can't be blank"), nil
	case "PUT doi 400":
		return instead(res, 403, "Access is denied"), nil
	case "PUT metadata 201":
		location := res.Header.Get("Location")
		stored, err := url.PathUnescape(location[strings.Index(location, "/metadata/")+len("/metadata/"):])
		if err != nil {
			return nil, err
		}
		return instead(res, 201, "OK ("+strings.ToUpper(stored)+")"), nil
	case "GET metadata 204":
		return instead(res, 200, ""), nil
	case "DELETE metadata 404":
		if err := d.PutJSON(fmt.Appendf(nil, `{"doi": %q, "state": "draft"}`, name)); err != nil {
			return nil, err
		}
		return instead(res, 201, ""), nil
	}
	return res, nil
}

// cutName cuts the path at a "#" or "?" that was percent-encoded.
func (d deployed) cutName(req *http.Request) *http.Request {
	if i := strings.IndexAny(req.URL.Path, "#?"); i >= 0 {
		req = req.Clone(req.Context())
		req.URL.Path, req.URL.RawPath = req.URL.Path[:i], ""
	}
	return req
}

// anonymous answers a read without a valid login: what is findable, anybody may
// see.
func (d deployed) anonymous(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	_, name, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	if d.State(name) != mds.Findable {
		return answer(404, plain, "DOI not found"), nil
	}
	req = req.Clone(req.Context())
	req.SetBasicAuth(account.Username, account.Password)
	return next.RoundTrip(req)
}

func instead(res *http.Response, status int, text string) *http.Response {
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return answer(status, plain, text)
}

func newDeployed(t *testing.T, opts *mds.ClientOptions) (*mdstest.Server, *mds.Client) {
	t.Helper()
	srv := newServer(t, nil)
	o := mds.ClientOptions{}
	if opts != nil {
		o = *opts
	}
	o.HTTPClient = line(deployed{srv}.line).to(srv)
	return srv, as(t, srv, account, &o)
}

func TestALifeOnTheDeployedService(t *testing.T) {
	ctx := t.Context()
	srv, c := newDeployed(t, nil)
	_, err := c.PutURL(ctx, name, address)
	require.ErrorIs(t, err, mds.ErrMetadataMissing)

	for _, want := range []mds.Change{mds.Created, mds.Unchanged} {
		done, err := c.Register(ctx, name, address, record("A"))
		require.NoError(t, err)
		assert.Equal(t, want, done.Change)
		assert.Equal(t, mds.StatusOK, done.MetadataStatus, "without the name in brackets")
	}
	done, err := c.Ensure(ctx, name, address, record("A"), nil)
	require.NoError(t, err)
	assert.Equal(t, mds.Unchanged, done.Change)
	require.NoError(t, c.Hide(ctx, name))
	require.NoError(t, c.Show(ctx, name))
	assert.Equal(t, mds.Findable, srv.State(name))

	minted, err := c.Mint(ctx, mdstest.Prefix, record("B"))
	require.NoError(t, err)
	require.NoError(t, c.DeleteDraft(ctx, minted))
	minted, err = c.MintRemotely(ctx, mdstest.Prefix, record("B"))
	require.NoError(t, err)
	assert.Equal(t, strings.ToLower(minted), minted)
	assert.Equal(t, mds.Draft, srv.State(minted))

	for o, err := range c.RegisterAll(ctx, batch(10), nil) {
		require.NoError(t, err)
		require.NoError(t, o.Err)
	}
}

func TestTrapsOfTheDeployedService(t *testing.T) {
	ctx := t.Context()
	t.Run("hiding an unknown DOI makes no draft", func(t *testing.T) {
		srv, c := newDeployed(t, nil)
		require.ErrorIs(t, c.Hide(ctx, name), mds.ErrNotFound)
		assert.Equal(t, mds.None, srv.State(name))
	})
	t.Run("a name with a # hits no other DOI", func(t *testing.T) {
		srv, c := newDeployed(t, nil)
		_, err := c.PutMetadata(ctx, "10.5072/a", record("Precious"))
		require.NoError(t, err)
		require.ErrorIs(t, c.DeleteDraft(ctx, "10.5072/a#part"), mds.ErrInvalidDOI)
		require.ErrorIs(t, c.DeleteDraft(ctx, "10.5072/a?part"), mds.ErrInvalidDOI)
		assert.Equal(t, mds.Draft, srv.State("10.5072/a"))
	})
	t.Run("who insists on such a name is told", func(t *testing.T) {
		_, c := newDeployed(t, &mds.ClientOptions{OldNames: true})
		_, err := c.PutMetadata(ctx, "10.5072/a#part", record("A"))
		require.ErrorIs(t, err, mds.ErrUnreadable)
		assert.ErrorContains(t, err, "stored the metadata under 10.5072/a")
	})
	t.Run("another DOI's metadata are found out, and not overwritten", func(t *testing.T) {
		srv, c := newDeployed(t, &mds.ClientOptions{OldNames: true})
		findable(t, srv, "10.5072/a")
		_, err := c.Metadata(ctx, "10.5072/a?part")
		require.ErrorIs(t, err, mds.ErrUnreadable)
		assert.ErrorContains(t, err, "those of 10.5072/a, at which the service cut the name")
		_, err = c.Register(ctx, "10.5072/a#part", address+"/part", record("Part"))
		require.ErrorIs(t, err, mds.ErrUnreadable)
		require.ErrorIs(t, c.Show(ctx, "10.5072/a#part"), mds.ErrUnreadable)
		assert.Equal(t, stored{mds.Findable, address, "Glacier length"}, look(t, srv, "10.5072/a"))
	})
	t.Run("a draft without metadata", func(t *testing.T) {
		srv, c := newDeployed(t, nil)
		seed(t, srv, map[string]any{"doi": name, "state": "draft"})
		_, err := c.Metadata(ctx, name)
		require.ErrorIs(t, err, mds.ErrNoMetadata)
	})
	t.Run("a wrong password can read and not write", func(t *testing.T) {
		srv, _ := newDeployed(t, nil)
		findable(t, srv, name)
		c := as(t, srv, wrong, &mds.ClientOptions{HTTPClient: line(deployed{srv}.line).to(srv)})
		got, err := c.URL(ctx, name)
		require.NoError(t, err)
		assert.Equal(t, address, got)
		require.ErrorIs(t, c.CheckAccess(ctx, mdstest.Prefix, address), mds.ErrUnauthorized, "which tells")
		require.ErrorIs(t, c.Hide(ctx, name), mds.ErrUnauthorized)
		_, err = c.Register(ctx, name, address+"/new", record("B"))
		require.ErrorIs(t, err, mds.ErrUnauthorized)
	})
	t.Run("a prefix of another account", func(t *testing.T) {
		_, c := newDeployed(t, nil)
		require.NoError(t, c.CheckAccess(ctx, mdstest.Prefix, address))
		require.ErrorIs(t, c.CheckAccess(ctx, "10.70000", address), mds.ErrForbidden)
	})
}

package mds_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
)

// losing is a deployed store that loses the service behind it when it is asked for
// something, a number of times.
func losing(t *testing.T, kind datacitetest.FaultKind, times int, when func(*http.Request) bool) *datacitetest.Server {
	t.Helper()
	losses := slices.Repeat([]*datacitetest.Fault{{Kind: kind, Behind: true}}, times)
	return newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed,
		Faults: datacitetest.First(losses...).When(when)})
}

func anything(*http.Request) bool { return true }

// What stays lost looks like a refusal to the end. The error says what it may be.
func TestARefusalMayBeALostService(t *testing.T) {
	for attempts, opts := range map[int]*datacite.Config{5: nil, 1: {MaxAttempts: 1}} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			srv := losing(t, datacitetest.FaultDropAfter, 1000, anything)
			c := as(t, srv, account, opts)
			_, errPut := c.PutMetadata(ctx, name, record("A"))
			_, errMint := mintByService(ctx, c, datacitetest.Prefix, record("A"))
			for _, err := range []error{errPut, errMint, c.CheckAccess(ctx, datacitetest.Prefix, address),
				c.DeleteDraft(ctx, name)} {
				require.ErrorIs(t, err, datacite.ErrForbidden)
				require.ErrorIs(t, err, datacite.ErrUnclear)
				assert.True(t, datacite.Temporary(err))
				assert.ErrorContains(t, err, "Access is denied (the service responds the same when it has lost the service "+
					"behind it); it is not known whether the service carried it out")
				wanted := attempts
				if err == errMint {
					wanted = 1 // what may not be sent twice
				}
				e, ok := errors.AsType[*datacite.Error](err)
				require.True(t, ok)
				assert.Equal(t, wanted, e.Attempts)
			}
			_, err := c.State(ctx, name)
			require.ErrorIs(t, err, datacite.ErrForbidden)
			assert.NotErrorIs(t, err, datacite.ErrUnclear, "reading changes nothing")
			assert.True(t, datacite.Temporary(err))
		})
	}
}

// Without the address of the DOI API, which could confirm it, one refusal costs what any other response
// does that may pass: the same request, MaxAttempts times at most, and no other one.
func TestARefusalIsAskedForNothingElse(t *testing.T) {
	for _, b := range behaviours() {
		synctest.Test(t, func(t *testing.T) {
			srv := newServer(t, &datacitetest.Options{Behaviour: b})
			for _, attempts := range []int{1, 3} {
				since := len(srv.Requests())
				_, err := withoutAPI(t, srv, attempts).PutMetadata(t.Context(), "10.70000/theirs", record("A"))
				require.ErrorIs(t, err, datacite.ErrForbidden)
				assert.True(t, datacite.Temporary(err))
				assert.Equal(t, slices.Repeat([]string{"PUT /metadata/10.70000/theirs"}, attempts), paths(srv, since))
			}
		})
	}
}

// The deployed service shows "J??ssica" for what it stores as "Jéssica".
func TestCharactersThatTheServiceDoesNotShow(t *testing.T) {
	ctx := t.Context()
	srv, c := newDeployed(t)
	jessica := record("Glacier length, measured by Jéssica")
	done := must(c.Register(ctx, name, address, jessica, nil))(t)
	assert.Empty(t, done.Altered, "as far as can be seen")

	doc, err := c.Metadata(ctx, name)
	require.ErrorIs(t, err, mds.ErrReplacedCharacters)
	require.NotNil(t, doc, "what it gave comes with the error")
	assert.Contains(t, string(doc.Data), "J??ssica")

	require.NoError(t, c.Hide(ctx, name))
	require.NoError(t, c.Show(ctx, name))
	assert.Equal(t, "findable", srv.State(name))
	assert.Contains(t, storedXML(t, srv, name), "Jéssica", "it was not written back as it was shown")

	again := must(c.Register(ctx, name, address, record("Glacier length, measured by Jàssica"), nil))(t)
	assert.Equal(t, mds.ChangeUpdated, again.Change, "what seems to be the same may not be")
	assert.Contains(t, storedXML(t, srv, name), "Jàssica")

	opts := &mds.RegisterOptions{}
	require.NoError(t, c.Hide(ctx, name))
	again, err = c.Register(ctx, name, address, record("Glacier length, measured by Jàssica"), opts)
	require.ErrorIs(t, err, mds.ErrHidden)
	assert.Equal(t, mds.ChangeNone, again.Change)
	assert.Equal(t, "registered", srv.State(name))
	opts.Show = true
	again = must(c.Register(ctx, name, address, jessica, opts))(t)
	assert.Equal(t, mds.ChangeUpdated, again.Change)
	assert.Empty(t, again.Altered, "the metadata before the change are not taken for those read back")

	const odd = "https://repo.example.org/größe"
	must(c.Register(ctx, name, odd, jessica, nil))(t)
	shown, err := c.URL(ctx, name)
	require.ErrorIs(t, err, mds.ErrReplacedCharacters)
	assert.Equal(t, "https://repo.example.org/gr????e", shown)
	require.NoError(t, c.Hide(ctx, name))
	require.ErrorIs(t, c.Show(ctx, name), mds.ErrReplacedCharacters, "there is nothing that could be written back")
	assert.Equal(t, "registered", srv.State(name))
}

// storedURL reads through the DOI query what the store may not show.
func storedURL(t *testing.T, srv *datacitetest.Server, name string) string {
	t.Helper()
	found := must(srv.DOIs().Get(t.Context(), name, nil))(t)
	return found.URL
}

// storedXML reads through the DOI query what the store does not show.
func storedXML(t *testing.T, srv *datacitetest.Server, name string) string {
	t.Helper()
	found := must(srv.DOIs().Get(t.Context(), name, &dois.GetOptions{Detail: true}))(t)
	return string(found.MetadataXML)
}

// A refusal that the DOI API confirms is final: it costs a few requests, and is neither temporary nor
// unclear.
func TestAForeignPrefixIsFinal(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		writes := []string{"Register", "PutMetadata", "Mint"}
		if srv.Behaviour == datacitetest.Deployed { // else it is 400
			writes = append(writes, "PutURL", "CheckAccess")
		}
		for _, name := range writes {
			t.Run(name, func(t *testing.T) {
				since := len(srv.Requests())
				var err error
				switch name {
				case "Mint":
					_, err = srv.MDS().Mint(t.Context(), "10.70000", record("A"))
				case "CheckAccess":
					err = srv.MDS().CheckAccess(t.Context(), "10.70000", "")
				default:
					err = calls[name](t.Context(), srv.MDS(), unowned)
				}
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
		err := calls[name](t.Context(), srv.MDS(), "10.70000/theirs")
		require.ErrorIs(t, err, datacite.ErrForbidden, name)
		assert.False(t, datacite.Temporary(err), name)
		assert.NotErrorIs(t, err, datacite.ErrUnclear, name)
		assert.Len(t, srv.Requests()[since:], 2, name)
	}
	assert.Equal(t, "findable", srv.State("10.70000/theirs"))
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
		"unknown, and refused": {says(404, unknown), says(403, denied), true},
		"unknown, and allowed": {says(404, unknown),
			says(422, `{"errors":[{"source":"xml","title":"Can't be blank"}]}`), false},
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
				net := roundTripper(func(r *http.Request) (*http.Response, error) {
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

// says is a response of the DOI API, or with status 0 none.
func says(status int, body string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		if status == 0 {
			return nil, errors.New("connection reset by peer")
		}
		return response(status, "application/json", body), nil
	}
}

func TestCheckAccess(t *testing.T) {
	for _, b := range behaviours() {
		srv := newServer(t, &datacitetest.Options{Behaviour: b,
			Accounts: []datacitetest.Account{{Domains: []string{"repo.example.org"}}}})
		c := srv.MDS()
		require.NoError(t, c.CheckAccess(t.Context(), datacitetest.Prefix, address))
		require.ErrorIs(t, as(t, srv, wrong, nil).CheckAccess(t.Context(), datacitetest.Prefix, address),
			datacite.ErrUnauthorized)
		assert.Error(t, c.CheckAccess(t.Context(), "10.70000", address), "prefix of another account")
		err := c.CheckAccess(t.Context(), datacitetest.Prefix, "https://elsewhere.example.net/")
		assert.Equal(t, b == datacitetest.Documented, errors.Is(err, datacite.ErrBadRequest), "domain of somebody else: %v",
			err)
		err = c.CheckAccess(t.Context(), datacitetest.Prefix, "")
		assert.Equal(t, b == datacitetest.Documented, err != nil, "the deployed service does not look at the address: %v",
			err)
		require.NoError(t, newServer(t, &datacitetest.Options{Behaviour: b}).MDS().CheckAccess(t.Context(),
			datacitetest.Prefix, ""))
		sent := len(srv.Requests())
		require.ErrorIs(t, c.CheckAccess(t.Context(), "10.5072/a", address), datacite.ErrInvalidDOI)
		require.ErrorIs(t, c.CheckAccess(t.Context(), datacitetest.Prefix, "nowhere"), datacite.ErrInvalid)
		assert.Len(t, srv.Requests(), sent)
		assert.Empty(t, srv.Names(), "nothing was written")
	}
	require.ErrorIs(t, responding(t, 201, plain, "OK", nil).CheckAccess(t.Context(), datacitetest.Prefix, address),
		datacite.ErrUnreadable)
}

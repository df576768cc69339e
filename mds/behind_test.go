package mds_test

import (
	"errors"
	"net/http"
	"slices"
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
	return newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed, Faults: datacitetest.First(losses...).When(when)})
}

func anything(*http.Request) bool { return true }

// The store says "Access is denied" when it loses the service behind it, before or
// after the work.
func TestALostServiceBehindTheStoreIsNoRefusal(t *testing.T) {
	for _, kind := range []datacitetest.FaultKind{datacitetest.DropBefore, datacitetest.DropAfter} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				srv := losing(t, kind, 2, datacitetest.Writes)
				done, err := srv.MDS().Register(ctx, name, address, record("A"))
				require.NoError(t, err)
				assert.Equal(t, mds.StateFindable, done.State)

				srv = losing(t, kind, 1, datacitetest.Writes)
				minted, err := srv.MDS().Mint(ctx, datacitetest.Prefix, record("A"))
				require.NoError(t, err)
				assert.Equal(t, []string{minted}, srv.Names())
				require.NoError(t, srv.MDS().DeleteDraft(ctx, minted))

				srv = losing(t, kind, 3, func(r *http.Request) bool { return r.Method == http.MethodDelete })
				_, err = srv.MDS().PutMetadata(ctx, name, record("A"))
				require.NoError(t, err)
				require.NoError(t, srv.MDS().DeleteDraft(ctx, name), "what was done at the first time is done")
				assert.Empty(t, srv.Names())

				srv = losing(t, kind, 4, func(r *http.Request) bool { return r.Method == http.MethodGet })
				_, err = srv.MDS().State(ctx, name)
				require.NoError(t, err)
			})
		})
	}
}

// What stays lost looks like a refusal to the end. The error says what it may be.
func TestARefusalMayBeALostService(t *testing.T) {
	for attempts, opts := range map[int]*datacite.Config{5: nil, 1: {MaxAttempts: 1}} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			srv := losing(t, datacitetest.DropAfter, 1000, anything)
			c := as(t, srv, account, opts)
			_, errPut := c.PutMetadata(ctx, name, record("A"))
			_, errMint := mintByService(ctx, c, datacitetest.Prefix, record("A"))
			for _, err := range []error{errPut, errMint, c.CheckAccess(ctx, datacitetest.Prefix, address), c.DeleteDraft(ctx, name)} {
				require.ErrorIs(t, err, datacite.ErrForbidden)
				require.ErrorIs(t, err, datacite.ErrUnclear)
				assert.True(t, datacite.Temporary(err))
				assert.ErrorContains(t, err, "Access is denied (the service responds the same when it has lost the service behind it); it is not known whether the service carried it out")
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
				c, err := mds.NewClient(datacite.Config{
					Service: datacite.Service{MDS: srv.URL}, Username: account.Username, Password: account.Password,
					HTTPClient: srv.HTTPClient(), MaxAttempts: attempts,
				})
				require.NoError(t, err)
				_, err = c.PutMetadata(t.Context(), "10.70000/theirs", record("A"))
				require.ErrorIs(t, err, datacite.ErrForbidden)
				assert.True(t, datacite.Temporary(err))
				assert.Equal(t, slices.Repeat([]string{"PUT /metadata/10.70000/theirs"}, attempts), paths(srv, since))
			}
		})
	}
}

// A connection that was lost once is not sent twice what may not be.
func TestWhatMayNotBeSentTwiceIsNot(t *testing.T) {
	srv := losing(t, datacitetest.DropAfter, 1, datacitetest.Writes)
	_, err := mintByService(t.Context(), srv.MDS(), datacitetest.Prefix, record("A"))
	require.ErrorIs(t, err, datacite.ErrUnclear)
	assert.Len(t, srv.Names(), 1, "it was carried out, once")
}

// A write is unclear if its response does not say whether it was carried out.
func TestAnEmptyResponseToAWriteIsUnclear(t *testing.T) {
	for _, status := range []int{200, 202, 204, 206} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			c := served(t, func(req *http.Request) *http.Response {
				if req.Method == http.MethodGet {
					return response(200, plain, address)
				}
				return response(status, plain, " ")
			}, nil)
			_, errURL := c.PutURL(ctx, name, address)
			_, errMetadata := c.PutMetadata(ctx, name, record("A"))
			for _, err := range []error{errURL, errMetadata, c.Hide(ctx, name), c.DeleteDraft(ctx, name)} {
				require.ErrorIs(t, err, datacite.ErrUnclear)
				require.ErrorIs(t, err, datacite.ErrUnreadable)
			}
		})
	}
}

func TestAnEmptyResponseIsNoDraft(t *testing.T) {
	c := responding(t, 200, plain, "", nil)
	_, err := c.State(t.Context(), name)
	require.ErrorIs(t, err, datacite.ErrUnreadable)
	_, err = c.URL(t.Context(), name)
	require.ErrorIs(t, err, datacite.ErrUnreadable)
}

// The deployed service shows "J??ssica" for what it stores as "Jéssica".
func TestCharactersThatTheServiceDoesNotShow(t *testing.T) {
	ctx := t.Context()
	srv, c := newDeployed(t)
	jessica := record("Glacier length, measured by Jéssica")
	done, err := c.Register(ctx, name, address, jessica)
	require.NoError(t, err)
	assert.Empty(t, done.Altered, "as far as can be seen")

	doc, err := c.Metadata(ctx, name)
	require.ErrorIs(t, err, mds.ErrReplacedCharacters)
	require.NotNil(t, doc, "what it gave comes with the error")
	assert.Contains(t, string(doc.Data), "J??ssica")

	require.NoError(t, c.Hide(ctx, name))
	require.NoError(t, c.Show(ctx, name))
	assert.Equal(t, datacitetest.StateFindable, srv.State(name))
	assert.Contains(t, storedXML(t, srv, name), "Jéssica", "it was not written back as it was shown")

	again, err := c.Ensure(ctx, name, address, record("Glacier length, measured by Jàssica"), nil)
	require.NoError(t, err)
	assert.Equal(t, mds.Updated, again.Change, "what seems to be the same may not be")
	assert.Contains(t, storedXML(t, srv, name), "Jàssica")

	opts := &mds.EnsureOptions{}
	require.NoError(t, c.Hide(ctx, name))
	again, err = c.Ensure(ctx, name, address, record("Glacier length, measured by Jàssica"), opts)
	require.NoError(t, err)
	assert.Equal(t, mds.Unchanged, again.Change)
	assert.Equal(t, datacitetest.StateRegistered, srv.State(name))
	opts.Show = true
	again, err = c.Ensure(ctx, name, address, jessica, opts)
	require.NoError(t, err)
	assert.Equal(t, mds.Updated, again.Change)
	assert.Empty(t, again.Altered, "the metadata before the change are not taken for those read back")

	const odd = "https://repo.example.org/größe"
	_, err = c.Register(ctx, name, odd, jessica)
	require.NoError(t, err)
	shown, err := c.URL(ctx, name)
	require.ErrorIs(t, err, mds.ErrReplacedCharacters)
	assert.Equal(t, "https://repo.example.org/gr????e", shown)
	require.NoError(t, c.Hide(ctx, name))
	require.ErrorIs(t, c.Show(ctx, name), mds.ErrReplacedCharacters, "there is nothing that could be written back")
	assert.Equal(t, datacitetest.StateRegistered, srv.State(name))
}

// storedURL reads through the DOI query what the store may not show.
func storedURL(t *testing.T, srv *datacitetest.Server, name string) string {
	t.Helper()
	found, err := srv.DOIs().Get(t.Context(), name, nil)
	require.NoError(t, err)
	return found.URL
}

// storedXML reads through the DOI query what the store does not show.
func storedXML(t *testing.T, srv *datacitetest.Server, name string) string {
	t.Helper()
	found, err := srv.DOIs().Get(t.Context(), name, &dois.GetOptions{Detail: true})
	require.NoError(t, err)
	return string(found.MetadataXML)
}

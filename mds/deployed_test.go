package mds_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/mds"
)

func newDeployed(t *testing.T) (*datacitetest.Server, *mds.Client) {
	t.Helper()
	srv := newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	return srv, srv.MDS()
}

func TestALifeOnTheDeployedService(t *testing.T) {
	ctx := t.Context()
	srv, c := newDeployed(t)
	_, err := c.PutURL(ctx, name, address)
	require.ErrorIs(t, err, mds.ErrMetadataMissing)

	for _, want := range []mds.Change{mds.Created, mds.Unchanged} {
		done, err := c.Register(ctx, name, address, record("A"))
		require.NoError(t, err)
		assert.Equal(t, want, done.Change)
		status, err := c.PutMetadata(ctx, name, record("A"))
		require.NoError(t, err)
		assert.EqualValues(t, "OK", status, "without the name in brackets")
	}
	done, err := c.Ensure(ctx, name, address, record("A"), nil)
	require.NoError(t, err)
	assert.Equal(t, mds.Unchanged, done.Change)
	require.NoError(t, c.Hide(ctx, name))
	require.NoError(t, c.Show(ctx, name))
	assert.Equal(t, datacitetest.StateFindable, srv.State(name))

	minted, err := c.Mint(ctx, datacitetest.Prefix, record("B"))
	require.NoError(t, err)
	require.NoError(t, c.DeleteDraft(ctx, minted))
	minted, err = mintByService(ctx, c, datacitetest.Prefix, record("B"))
	require.NoError(t, err)
	assert.Equal(t, strings.ToLower(minted), minted)
	assert.Equal(t, datacitetest.StateDraft, srv.State(minted))
}

func TestHidingAnUnknownDOIMakesNoDraft(t *testing.T) {
	srv, c := newDeployed(t)
	require.ErrorIs(t, c.Hide(t.Context(), name), datacite.ErrNotFound)
	assert.Empty(t, srv.Names())
}

// The draft 10.5072/a is precious. No write for another name reaches it, and no read
// of another name shows it.
func TestNamesThatTheDeployedServiceTakesForAnother(t *testing.T) {
	for _, other := range []string{
		"10.5072/a#part", "10.5072/a?part", "10.5072/a/", "10.5072//a", "10.5072/b/../a", "10.5072/a/.", "10.5072/%61", "10.5072/á", "10.5072/a/media",
		"10.5072/a/get-url", "10.5072/a/media/1", "https://doi.org/10.5072/a%E2%80%8B", "https://doi.org/10.5072/a%20", "10.5072/\uff41",
	} {
		t.Run(other, func(t *testing.T) {
			ctx := t.Context()
			srv, clean := newDeployed(t)
			_, err := clean.PutMetadata(ctx, "10.5072/a", record("Precious"))
			require.NoError(t, err)
			before := len(srv.Requests())
			c := as(t, srv, account, nil)
			_, errPut := c.PutMetadata(ctx, other, record("B"))
			_, errURL := c.PutURL(ctx, other, address)
			_, errRegister := c.Register(ctx, other, address, record("B"))
			_, errState := c.State(ctx, other)
			_, errGet := c.Metadata(ctx, other)
			for _, err := range []error{
				errPut, errURL, errRegister, errState, errGet, c.DeleteDraft(ctx, other), c.Hide(ctx, other), c.Show(ctx, other),
			} {
				require.ErrorIs(t, err, datacite.ErrInvalidDOI)
			}
			assert.Len(t, srv.Requests(), before, "nothing was sent")
			require.ErrorIs(t, doi.CheckNew(other), datacite.ErrInvalidDOI)
		})
	}
}

func TestPrefixesOfWhichTheDeployedServiceTakesAPart(t *testing.T) {
	ctx := t.Context()
	srv, c := newDeployed(t)
	for _, prefix := range []string{"10.507224", "10.5072.1", "10.507"} {
		_, errPut := c.PutMetadata(ctx, prefix+"/x", record("A"))
		_, errMint := c.Mint(ctx, prefix, record("A"))
		_, errRegister := c.Register(ctx, prefix+"/x", address, record("A"))
		for _, err := range []error{errPut, errMint, errRegister, c.CheckAccess(ctx, prefix, address)} {
			require.ErrorIs(t, err, datacite.ErrInvalidDOI)
		}
	}
	assert.Empty(t, srv.Names())
	assert.Empty(t, srv.Requests())
}

func TestADraftWithoutMetadata(t *testing.T) {
	srv, c := newDeployed(t)
	seed(t, srv, map[string]any{"doi": name, "state": "draft"})
	_, err := c.Metadata(t.Context(), name)
	require.ErrorIs(t, err, mds.ErrNoMetadata)
	state, err := c.State(t.Context(), name)
	require.NoError(t, err)
	assert.Equal(t, mds.StateDraft, state)
}

func TestAWrongPasswordReadsAndDoesNotWrite(t *testing.T) {
	ctx := t.Context()
	srv, clean := newDeployed(t)
	findable(t, srv, name)
	_, err := clean.PutMetadata(ctx, "10.5072/draft", record("Draft"))
	require.NoError(t, err)
	for who, creds := range map[string]credentials{"wrong password": wrong, "unknown account": {Username: "NO.BODY", Password: "x"}} {
		t.Run(who, func(t *testing.T) {
			c := as(t, srv, creds, nil)
			got, err := c.URL(ctx, name)
			require.NoError(t, err)
			assert.Equal(t, address, got)
			state, err := c.State(ctx, "10.5072/draft")
			require.NoError(t, err)
			assert.Equal(t, mds.StateDraft, state, "even of drafts")

			require.ErrorIs(t, c.CheckAccess(ctx, datacitetest.Prefix, address), datacite.ErrUnauthorized, "which tells")
			require.ErrorIs(t, c.Hide(ctx, name), datacite.ErrUnauthorized)
			_, err = c.Register(ctx, name, address+"/new", record("B"))
			require.ErrorIs(t, err, datacite.ErrUnauthorized)
			_, err = c.PutMetadata(ctx, "10.5072/new", record("B"))
			require.ErrorIs(t, err, datacite.ErrUnauthorized)
			assert.NotErrorIs(t, err, datacite.ErrNotFound)
		})
	}
	assert.Equal(t, []string{"10.5072/draft", name}, srv.Names())
}

func TestPrefixOfAnotherAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := newDeployed(t)
		require.NoError(t, c.CheckAccess(t.Context(), datacitetest.Prefix, address))
		require.ErrorIs(t, c.CheckAccess(t.Context(), "10.70000", address), datacite.ErrForbidden)
		_, err := mintByService(t.Context(), c, "10.70000", record("A"))
		require.ErrorIs(t, err, datacite.ErrForbidden, "though it cannot be sent again")
	})
}

// What the service makes of a document each time is no reason to write it again,
// and the registration says what it is.
func TestWhatTheDeployedServiceRewrites(t *testing.T) {
	for given, stored := range map[string]string{
		"H<sub>2</sub>O, <i>in situ</i>":            "",
		"<![CDATA[H<sub>2</sub>O & <br> <x>]]>":     "H&lt;sub&gt;2&lt;/sub&gt;O & &lt;br&gt; <x>",
		"zero\ufeffwidth":                           "zerowidth",
		"H&lt;sub&gt;2&lt;/sub&gt;O &amp; the rest": "H<sub>2</sub>O & the rest",
	} {
		t.Run(given, func(t *testing.T) {
			ctx := t.Context()
			srv, c := newDeployed(t)
			doc := mds.Document{ContentType: mds.XMLType, Data: []byte("\ufeff" + string(record(given).Data))}
			first, err := c.Register(ctx, name, address, doc)
			require.NoError(t, err)
			assert.Equal(t, !strings.Contains(given, "&lt;"), len(first.Altered) > 0, "%v", first.Altered)
			if stored != "" && len(first.Altered) > 0 {
				assert.Contains(t, strings.Join(first.Altered, "\n"), fmt.Sprintf("%q is stored and was not given", stored))
			}
			require.NoError(t, c.Hide(ctx, name))
			again, err := c.Ensure(ctx, name, address, doc, nil)
			require.NoError(t, err)
			assert.Equal(t, mds.Unchanged, again.Change)
			assert.Equal(t, first.Altered, again.Altered)
			assert.Equal(t, datacitetest.StateRegistered, srv.State(name), "what was hidden stays so")
		})
	}
}

func TestSchemesInCapitals(t *testing.T) {
	srv, c := newDeployed(t)
	for _, bad := range []string{"HTTPS://repo.example.org/", "Http://repo.example.org/", "FTP://repo.example.org/"} {
		_, err := c.PutURL(t.Context(), name, bad)
		fault, ok := errors.AsType[*datacite.ValidationError](err)
		require.True(t, ok)
		assert.Contains(t, fault.Findings[0].Reason, "in lower case")
	}
	assert.Empty(t, srv.Requests())
}

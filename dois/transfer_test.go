package dois_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// twoRepositories serves two repositories of the member EXAMPLE, and one of another member.
func twoRepositories(t *testing.T, behaviour datacitetest.Behaviour) *datacitetest.Server {
	t.Helper()
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour, Accounts: []datacitetest.Account{
		{}, {Username: "EXAMPLE.NEW", Prefixes: []string{"10.70000"}},
		{Username: "OTHER.REPO", Prefixes: []string{"10.80000"}, Consortium: "LEAD"},
		{Username: "EXAMPLE", Role: "provider_admin"}, {Username: "LEAD", Role: "consortium_admin"},
	}})
	t.Cleanup(srv.Close)
	_, err := srv.DOIs().Create(t.Context(), &dois.Draft{
		DOI: "10.5072/a", URL: "https://example.org/a", Event: dois.EventPublish, Record: *datacitetest.RandomRecord(7),
	})
	require.NoError(t, err)
	must(srv.DOIs().Create(t.Context(), &dois.Draft{DOI: "10.5072/draft"}))(t)
	return srv
}

func puts(srv *datacitetest.Server) (n int) {
	for _, r := range srv.Requests() {
		if r.Method == http.MethodPut {
			n++
		}
	}
	return n
}

// A transfer changes the account and nothing else; the logins that may not do it are told who may.
func TestTransfer(t *testing.T) {
	for _, behaviour := range behaviours {
		srv := twoRepositories(t, behaviour)
		ctx, member := t.Context(), srv.As("EXAMPLE").DOIs()
		before := must(member.Get(ctx, "10.5072/a", nil))(t)
		for _, tt := range []struct {
			client       *dois.Client
			doi, account string
			opts         *dois.TransferOptions
			want         error
			says         string
			puts         int
		}{
			{srv.DOIs(), "10.5072/a", "EXAMPLE.NEW", nil, datacite.ErrForbidden,
				"a repository's own login may not (You are not authorized", 1},
			{srv.As("LEAD").DOIs(), "10.5072/a", "EXAMPLE.NEW", nil, datacite.ErrForbidden, "the lead of the consortium", 1},
			{member, "10.5072/a", "EXAMPLE.NONE", nil, datacite.ErrNotFound,
				"the service knows no repository account of this name", 1},
			{member, "null", "EXAMPLE.NEW", nil, datacite.ErrInvalidDOI, "", 0},
			{member, "10.5072/none", "EXAMPLE.NEW", nil, datacite.ErrNotFound, "dois.Get", 0},
			{member, "10.5072/a", " ", nil, datacite.ErrInvalid, "account: is empty", 0},
			{member, "10.5072/a", "EXAMPLE.NEW", &dois.TransferOptions{From: "OTHER.REPO"}, datacite.ErrConflict,
				`10.5072/a belongs to "example.repo", not to "OTHER.REPO"`, 0},
			{member, "https://doi.org/10.5072/A", "example.repo", nil, nil, "", 0},
			{member, "10.5072/a", "EXAMPLE.NEW", &dois.TransferOptions{From: "EXAMPLE.REPO"}, nil, "", 1},
			{member, "10.5072/a", "EXAMPLE.NEW", nil, nil, "", 0},
			{member, "10.5072/draft", "OTHER.REPO", nil, nil, "", 1},
			{srv.As("LEAD").DOIs(), "10.5072/draft", "EXAMPLE.REPO", nil, nil, "", 1},
		} {
			sent := puts(srv)
			r, err := tt.client.Transfer(ctx, tt.doi, tt.account, tt.opts)
			assert.Equal(t, tt.puts, puts(srv)-sent, "%s to %s", tt.doi, tt.account)
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want)
				assert.ErrorContains(t, err, tt.says)
				continue
			}
			require.NoError(t, err, tt.doi)
			assert.Equal(t, strings.ToLower(tt.account), r.Client)
			assert.Empty(t, r.Warnings)
		}
		after, err := srv.As("EXAMPLE.NEW").DOIs().Update(ctx, "10.5072/a", &dois.Draft{})
		require.NoError(t, err, "the new account changes the DOI")
		assert.Empty(t, metadata.Diff(&before.Record, &after.Record))
		assert.Equal(t, []any{before.URL, before.State, before.Registered, before.MetadataXML},
			[]any{after.URL, after.State, after.Registered, after.MetadataXML})
		err = failure(srv.DOIs().Update(ctx, "10.5072/a", &dois.Draft{URL: "https://example.org/b"}))
		require.ErrorIs(t, err, dois.ErrForeign)
		require.ErrorContains(t, err, "the DOI or its prefix belongs to another account (You are not")
	}
}

// The response is lost, and a repeated PUT is refused since the DOI is of another member already.
func TestTransferAfterALostResponse(t *testing.T) {
	for _, behaviour := range behaviours {
		srv := twoRepositories(t, behaviour)
		lost := false
		srv.SetFaults(func(_ int, r *http.Request) *datacitetest.Fault {
			if r.Method != http.MethodPut || lost {
				return nil
			}
			lost = true
			return &datacitetest.Fault{Kind: datacitetest.FaultDropAfter}
		})
		r := must(srv.As("EXAMPLE").DOIs().Transfer(t.Context(), "10.5072/a", "OTHER.REPO", nil))(t)
		assert.Equal(t, "other.repo", r.Client)
		assert.Equal(t, 2, puts(srv))
		lost = false
		_, err := srv.As("EXAMPLE").DOIs().Transfer(t.Context(), "10.5072/draft", "OTHER.REPO", nil)
		require.Error(t, err, "a draft of another member cannot be looked at")
		assert.True(t, errors.Is(err, datacite.ErrUnclear))
	}
}

// Somebody writes between the look and the transfer; the result names what they changed.
func TestTransferNamesOtherChanges(t *testing.T) {
	srv := twoRepositories(t, datacitetest.Deployed)
	cfg := srv.As("EXAMPLE").Config()
	cfg.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut {
			body := must(io.ReadAll(must(r.GetBody())(t)))(t)
			assert.JSONEq(t, `{"data":{"type":"dois","attributes":{"mode":"transfer"},"relationships":{"client":{"data":{`+
				`"type":"clients","id":"example.new"}}}}}`, string(body))
			assert.NoError(t, failure(srv.DOIs().Update(t.Context(), "10.5072/a", &dois.Draft{URL: "https://example.org/b"})))
		}
		return srv.HTTPClient().Transport.RoundTrip(r)
	})}
	member := must(dois.NewClient(cfg))(t)
	r := must(member.Transfer(t.Context(), "10.5072/a", "EXAMPLE.NEW", nil))(t)
	var changed []string
	for _, f := range r.Warnings {
		assert.Equal(t, datacite.Code("changed"), f.Code)
		changed = append(changed, f.Path)
	}
	assert.Equal(t, []string{"schemaVersion", "url"}, changed)
}

// The service ignores the account of an update, and the result says so.
func TestAnUpdateMovesNoDOI(t *testing.T) {
	for _, behaviour := range behaviours {
		srv := twoRepositories(t, behaviour)
		r := must(srv.DOIs().Update(t.Context(), "10.5072/draft",
			&dois.Draft{ClientID: "EXAMPLE.NEW", URL: "https://example.org/b"}))(t)
		assert.Equal(t, "example.repo", r.Client)
		require.Len(t, r.Warnings, 1)
		assert.Contains(t, r.Warnings[0].String(),
			`the DOI stays with "example.repo": the service ignores the account of an update; Transfer moves a DOI`)
		r = must(srv.DOIs().Update(t.Context(), "10.5072/draft",
			&dois.Draft{ClientID: "EXAMPLE.REPO", URL: "https://example.org/c"}))(t)
		assert.Empty(t, r.Warnings)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

package mds_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/query"
)

// A gateway stands before the service. While it is busy it responds in the
// service's place.
type gateway struct {
	status int
	hint   time.Duration // of Retry-After
	kind   datacitetest.FaultKind
	meets  func(*http.Request) bool // nil means every request
	busy   atomic.Int64             // responses that it still has to give
}

func (g *gateway) fault(_ int, r *http.Request) *datacitetest.Fault {
	if g.meets != nil && !g.meets(r) || g.busy.Add(-1) < 0 {
		return nil
	}
	return &datacitetest.Fault{Kind: cmp.Or(g.kind, datacitetest.StatusAfter), Status: g.status, RetryAfter: g.hint}
}

// means checks that an error says what the gateway did.
func (g *gateway) means(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, datacite.ErrUnclear)
	assert.Equal(t, g.status == 429, errors.Is(err, datacite.ErrRateLimited))
	assert.Equal(t, g.status == 503, errors.Is(err, datacite.ErrServer))
	assert.True(t, datacite.Temporary(err))
}

const ever = 1000 // responses of a gateway that stays busy

// busyGateways tells a story for each behaviour and each way of a gateway to turn
// requests away.
func busyGateways(t *testing.T, story func(t *testing.T, srv *datacitetest.Server, g *gateway)) {
	t.Helper()
	for _, b := range behaviours() {
		for _, status := range []int{429, 503} {
			for _, hint := range []time.Duration{0, 7 * time.Second} {
				t.Run(fmt.Sprintf("%s/%d/%v", b, status, hint), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						g := &gateway{status: status, hint: hint}
						story(t, newServer(t, &datacitetest.Options{Behaviour: b, Faults: g.fault}), g)
					})
				})
			}
		}
	}
}

// drafts lists the drafts of the prefix, the newest first.
func drafts(t *testing.T, srv *datacitetest.Server) []string {
	t.Helper()
	found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{Prefix: []string{datacitetest.Prefix}, States: []dois.State{dois.StateDraft}, Sort: query.ByCreated.Desc()})
	require.NoError(t, err)
	names := []string{}
	for _, r := range found.Records {
		names = append(names, r.DOI)
	}
	return names
}

func TestWhatAddsSomethingIsSentOnceToABusyGateway(t *testing.T) {
	for _, op := range []struct {
		name string
		call func(context.Context, *mds.Client) error
		made func(*testing.T, *datacitetest.Server) int // seen where the documentation says to look
	}{
		{
			"Do",
			func(ctx context.Context, c *mds.Client) error {
				minted, err := mintByService(ctx, c, datacitetest.Prefix, record("A"))
				if minted != "" {
					return fmt.Errorf("%s and %w", minted, err)
				}
				return err
			},
			func(t *testing.T, srv *datacitetest.Server) int { return len(drafts(t, srv)) },
		},
	} {
		t.Run(op.name, func(t *testing.T) {
			busyGateways(t, func(t *testing.T, srv *datacitetest.Server, g *gateway) {
				findable(t, srv, name)
				since := len(srv.Requests())
				g.busy.Store(ever)
				err := op.call(t.Context(), srv.MDS())
				g.busy.Store(0)
				g.means(t, err)
				assert.Len(t, srv.Requests(), since+1, "sent once")
				assert.Equal(t, 1, op.made(t, srv))
			})
		})
	}
}

func TestMintAtABusyGateway(t *testing.T) {
	for _, tt := range []struct {
		name  string
		kind  datacitetest.FaultKind
		meets func() func(*http.Request) bool
		done  bool // Mint knows that it is done
		made  int
	}{
		{"the work is done", datacitetest.StatusAfter, func() func(*http.Request) bool { return datacitetest.Writes }, true, 1},
		{"the work is not done", datacitetest.Status, func() func(*http.Request) bool { return datacitetest.Writes }, false, 0},
		{"the work is done and looking fails", datacitetest.StatusAfter, func() func(*http.Request) bool {
			wrote := false
			return func(r *http.Request) bool { wrote = wrote || datacitetest.Writes(r); return wrote }
		}, false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			busyGateways(t, func(t *testing.T, srv *datacitetest.Server, g *gateway) {
				g.kind, g.meets = tt.kind, tt.meets()
				g.busy.Store(ever)
				minted, err := srv.MDS().Mint(t.Context(), datacitetest.Prefix, record("A"))
				g.busy.Store(0)
				require.NotEmpty(t, minted, "a DOI that may exist has a name")
				if tt.done {
					require.NoError(t, err)
				} else {
					g.means(t, err)
				}
				assert.Len(t, drafts(t, srv), tt.made)
				_, err = srv.MDS().PutMetadata(t.Context(), minted, record("A"))
				require.NoError(t, err)
				assert.Equal(t, []string{minted}, drafts(t, srv), "one DOI, and it is the one")
			})
		})
	}
}

func TestDeleteDraftAtABusyGateway(t *testing.T) {
	busyGateways(t, func(t *testing.T, srv *datacitetest.Server, g *gateway) {
		_, err := srv.MDS().PutMetadata(t.Context(), name, record("A"))
		require.NoError(t, err)
		g.busy.Store(1)
		require.NoError(t, srv.MDS().DeleteDraft(t.Context(), name), "the second request finds nothing, as the first did the work")
		assert.Empty(t, srv.State(name))
	})
}

func TestRegisterAtABusyGateway(t *testing.T) {
	t.Run("the URL is stored", func(t *testing.T) {
		busyGateways(t, func(t *testing.T, srv *datacitetest.Server, g *gateway) {
			g.meets = func(r *http.Request) bool { return datacitetest.Writes(r) && strings.HasPrefix(r.URL.Path, "/doi/") }
			g.busy.Store(ever)
			done, err := srv.MDS().Register(t.Context(), name, address, record("A"))
			require.NoError(t, err, "a look shows that it is done")
			assert.Equal(t, mds.StateFindable, done.State)
		})
	})
	t.Run("the URL is not stored", func(t *testing.T) {
		busyGateways(t, func(t *testing.T, srv *datacitetest.Server, g *gateway) {
			g.kind = datacitetest.Status
			g.meets = func(r *http.Request) bool { return datacitetest.Writes(r) && strings.HasPrefix(r.URL.Path, "/doi/") }
			g.busy.Store(ever)
			_, err := srv.MDS().Register(t.Context(), name, address, record("A"))
			require.ErrorIs(t, err, mds.ErrHalfRegistered)
			g.means(t, err)
			assert.ErrorContains(t, err, "setting the URL failed")
		})
	})
}

// Each write is turned away once, with the work done: a second run sends nothing of it again.
func TestRegisterAgainAtABusyGateway(t *testing.T) {
	busyGateways(t, func(t *testing.T, srv *datacitetest.Server, g *gateway) {
		seen := map[string]bool{}
		g.meets = func(r *http.Request) bool {
			again := seen[r.URL.Path]
			seen[r.URL.Path] = again || datacitetest.Writes(r)
			return datacitetest.Writes(r) && !again
		}
		g.busy.Store(ever)
		c := as(t, srv, account, &datacite.Config{HTTPClient: srv.HTTPClient(), MaxAttempts: 1})
		_, err := c.Register(t.Context(), name, address, record("A"))
		g.means(t, err)
		_, err = c.Register(t.Context(), name, address, record("A"))
		require.NoError(t, err)
		assert.Equal(t, datacitetest.StateFindable, srv.State(name))
		assert.Equal(t, 2, puts(srv, 0), "what is done is not sent again")
	})
}

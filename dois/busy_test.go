package dois_test

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// A gateway stands before the service and responds to writes in its place while it is
// busy.
type gateway struct {
	status int
	hint   time.Duration          // of Retry-After
	kind   datacitetest.FaultKind // "" means that the work is done
	busy   atomic.Int64           // responses that it still has to give
}

func (g *gateway) fault(_ int, r *http.Request) *datacitetest.Fault {
	if r.Method == http.MethodGet || g.busy.Add(-1) < 0 {
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
}

const ever = 1000 // responses of a gateway that stays busy

// busyGateways tells a story for each behaviour and each way of a gateway to turn
// writes away.
func busyGateways(t *testing.T, story func(t *testing.T, srv *datacitetest.Server, g *gateway)) {
	t.Helper()
	for _, b := range behaviours {
		for _, status := range []int{429, 503} {
			for _, hint := range []time.Duration{0, 7 * time.Second} {
				t.Run(fmt.Sprintf("%s/%d/%v", b, status, hint), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						g := &gateway{status: status, hint: hint}
						story(t, datacitetest.NewServer(&datacitetest.Options{Behaviour: b, NoPort: true, Faults: g.fault}), g)
					})
				})
			}
		}
	}
}

func TestCreateIsSentOnceToABusyGateway(t *testing.T) {
	latest := &dois.ListOptions{Prefix: []string{datacitetest.Prefix}, Sort: query.ByCreated.Desc()}
	for _, tt := range []struct {
		name  string
		draft dois.Draft
		kind  datacitetest.FaultKind
		made  int
	}{
		{"a name of ours, done", dois.Draft{DOI: "10.5072/ours"}, datacitetest.StatusAfter, 1},
		{"a name of ours, not done", dois.Draft{DOI: "10.5072/ours"}, datacitetest.Status, 0},
		{"a name that the service chooses, done", dois.Draft{Prefix: datacitetest.Prefix}, datacitetest.StatusAfter, 1},
		{"a name that the service chooses, not done", dois.Draft{Prefix: datacitetest.Prefix}, datacitetest.Status, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			busyGateways(t, func(t *testing.T, srv *datacitetest.Server, g *gateway) {
				g.kind = tt.kind
				g.busy.Store(ever)
				made, err := srv.DOIs().Create(t.Context(), &tt.draft)
				g.busy.Store(0)
				assert.Nil(t, made)
				g.means(t, err)
				require.Len(t, srv.Requests(), 1, "sent once")

				found, err := srv.DOIs().List(t.Context(), latest)
				require.NoError(t, err)
				assert.Len(t, found.Records, tt.made)
				if tt.draft.DOI != "" {
					_, err = srv.DOIs().Get(t.Context(), tt.draft.DOI, nil)
					assert.Equal(t, tt.made == 0, errors.Is(err, datacite.ErrNotFound), err)
				}
			})
		})
	}
}

// TestWritesAtABusyGateway does what may be done twice.
func TestWritesAtABusyGateway(t *testing.T) {
	for _, tt := range []struct {
		name  string
		write func(*testing.T, *dois.Client) error
		want  dois.State // after it; "" means no DOI
	}{
		{"Update", func(t *testing.T, c *dois.Client) error {
			_, err := c.Update(t.Context(), "10.5072/a", &dois.Draft{Record: complete("New")})
			return err
		}, dois.StateDraft},
		{"Publish", func(t *testing.T, c *dois.Client) error {
			_, err := c.ChangeState(t.Context(), "10.5072/a", dois.Publish, nil)
			return err
		}, dois.StateFindable},
		{"Delete", func(t *testing.T, c *dois.Client) error { return c.Delete(t.Context(), "10.5072/a") }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			busyGateways(t, func(t *testing.T, srv *datacitetest.Server, g *gateway) {
				_, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: "10.5072/a", URL: "https://example.org/a", Record: complete("Old")})
				require.NoError(t, err)
				g.busy.Store(1)
				require.NoError(t, tt.write(t, srv.DOIs()), "sent again")
				found, err := srv.DOIs().Get(t.Context(), "10.5072/a", nil)
				if tt.want == "" {
					require.ErrorIs(t, err, datacite.ErrNotFound)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, tt.want, found.State)
			})
			t.Run("for good", func(t *testing.T) {
				busyGateways(t, func(t *testing.T, srv *datacitetest.Server, g *gateway) {
					_, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: "10.5072/a", URL: "https://example.org/a", Record: complete("Old")})
					require.NoError(t, err)
					g.kind = datacitetest.Status
					g.busy.Store(ever)
					g.means(t, tt.write(t, srv.DOIs()))
				})
			})
		})
	}
}

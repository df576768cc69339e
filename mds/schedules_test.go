package mds_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/mds/mdstest"
)

// TestFaultSchedules runs registrations over lines that break in every way, a
// thousand times, and looks at what the service has at the end. The seed in a
// test's name brings its schedule back.
func TestFaultSchedules(t *testing.T) {
	schedules := 1000
	if testing.Short() {
		schedules = 100
	}
	for seed := range uint64(schedules) {
		story := []func(*testing.T, *mdstest.Server, *rand.Rand){registerStory, mintStory, bulkStory}[seed%3]
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				story(t, newServer(t, nil), rand.New(rand.NewPCG(seed, 7)))
			})
		})
	}
}

// broken is a client of a random number of attempts, on a line from nearly sound
// to nearly dead.
func broken(t *testing.T, srv *mdstest.Server, r *rand.Rand) *mds.Client {
	t.Helper()
	s := make(schedule, r.IntN(60))
	chance := r.Float64()
	for i := range s {
		if r.Float64() < chance {
			s[i] = fault(r.IntN(int(faults)))
		}
	}
	return as(t, srv, account, &mds.ClientOptions{HTTPClient: s.line().to(srv), MaxAttempts: 1 + r.IntN(5)})
}

// what the service has of a DOI, seen past the broken line.
type stored struct {
	state mds.State
	url   string
	title string
}

func look(t *testing.T, srv *mdstest.Server, doi string) stored {
	t.Helper()
	s := stored{state: srv.State(doi)}
	if s.state == mds.None {
		return s
	}
	var err error
	if s.url, err = srv.Client().URL(t.Context(), doi); !errors.Is(err, mds.ErrNoURL) {
		require.NoError(t, err)
	}
	doc, err := srv.Client().Metadata(t.Context(), doi)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(doc.Data), "<title>")
	s.title, _, _ = strings.Cut(rest, "</title>")
	return s
}

func registerStory(t *testing.T, srv *mdstest.Server, r *rand.Rand) {
	ctx, clean := t.Context(), srv.Client()
	const old = "https://repo.example.org/old"
	switch r.IntN(4) {
	case 1:
		_, err := clean.PutMetadata(ctx, name, record("Old"))
		require.NoError(t, err)
	case 2, 3:
		_, err := clean.Register(ctx, name, old, record("Old"))
		require.NoError(t, err)
		if r.IntN(2) == 0 {
			require.NoError(t, clean.Hide(ctx, name))
		}
	}
	before := look(t, srv, name)
	done, err := broken(t, srv, r).Register(ctx, name, address, record("New"))
	honest(t, before, look(t, srv, name), stored{mds.Findable, address, "New"}, err)
	assert.Equal(t, err == nil, done != nil)

	done, err = clean.Register(ctx, name, address, record("New"))
	require.NoError(t, err, "every run after it converges")
	assert.Equal(t, mds.Findable, done.State)
	assert.Equal(t, stored{mds.Findable, address, "New"}, look(t, srv, name))
}

// honest checks that an error, or its absence, tells the truth of what the
// service has.
func honest(t *testing.T, before, after, wanted stored, err error) {
	t.Helper()
	unclear := errors.Is(err, mds.ErrUnclear)
	switch {
	case err == nil, errors.Is(err, mds.ErrUnconfirmed):
		assert.Equal(t, wanted, after, "%v", err)
	case errors.Is(err, mds.ErrHalfRegistered):
		assert.Equal(t, wanted.title, after.title, "the metadata are stored: %v", err)
		if !unclear {
			assert.Equal(t, before.url, after.url, "the URL is not: %v", err)
		}
	case unclear:
		assert.Contains(t, []string{before.title, wanted.title}, after.title, "%v", err)
		assert.Equal(t, before.url, after.url, "the second step was not tried: %v", err)
	default:
		assert.Equal(t, before, after, "nothing was done: %v", err)
	}
}

func mintStory(t *testing.T, srv *mdstest.Server, r *rand.Rand) {
	ctx := t.Context()
	minted, err := broken(t, srv, r).Mint(ctx, mdstest.Prefix, record("New"))
	made := namesMade(srv)
	switch {
	case err == nil:
		assert.Equal(t, []string{minted}, made, "one DOI, and it is the one")
		assert.Equal(t, stored{mds.Draft, "", "New"}, look(t, srv, minted))
	case errors.Is(err, mds.ErrUnclear):
		require.NotEmpty(t, minted, "a DOI that may exist has a name")
		assert.Subset(t, []string{minted}, made)
		_, err := srv.Client().PutMetadata(ctx, minted, record("New"))
		require.NoError(t, err)
		assert.Equal(t, []string{minted}, namesMade(srv))
	default:
		assert.Empty(t, minted)
		assert.Empty(t, made, "%v", err)
	}
}

// namesMade lists the DOIs that the service has taken metadata for, each once.
func namesMade(srv *mdstest.Server) []string {
	var names []string
	seen := map[string]bool{}
	for _, r := range srv.Requests() {
		doi, ok := strings.CutPrefix(r.Path, "/metadata/")
		if ok && r.Method == "PUT" && r.Status == 201 && !seen[doi] {
			seen[doi] = true
			names = append(names, doi)
		}
	}
	return names
}

func bulkStory(t *testing.T, srv *mdstest.Server, r *rand.Rand) {
	const items = 6
	ctx := t.Context()
	fates := map[string]error{}
	c := broken(t, srv, r)
	for o, err := range c.RegisterAll(ctx, batch(items), &mds.BulkOptions{Workers: 1 + r.IntN(3), Rounds: 1 + r.IntN(3)}) {
		require.NoError(t, err)
		assert.NotContains(t, fates, o.Item.DOI, "one outcome each")
		fates[o.Item.DOI] = o.Err
	}
	require.Len(t, fates, items)
	for i := range items {
		it := item(i)
		wanted := stored{mds.Findable, it.URL, fmt.Sprintf("Item %d", i)}
		after := look(t, srv, it.DOI)
		if err := fates[it.DOI]; err == nil {
			assert.Equal(t, wanted, after)
		} else {
			// Earlier rounds may have come further than the last error says.
			assert.True(t, mds.Temporary(err), "%v", err)
			assert.Contains(t, []mds.State{mds.None, mds.Draft, mds.Findable}, after.state)
		}
	}
	for o, err := range srv.Client().RegisterAll(ctx, batch(items), nil) {
		require.NoError(t, err)
		require.NoError(t, o.Err, "every run after it converges")
	}
	for i := range items {
		assert.Equal(t, stored{mds.Findable, item(i).URL, fmt.Sprintf("Item %d", i)}, look(t, srv, item(i).DOI))
	}
	assert.Len(t, namesMade(srv), items)
}

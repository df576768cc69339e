package mds_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/testkit"
	"github.com/datacite-go/datacite-go/mds"
)

var schedules = flag.Int("schedules", 70, "random fault schedules that each behaviour is tried with")

// TestFaultSchedules writes over lines that break in every way, between client and
// store and between the store and the service behind it, and looks at what the
// service has at the end. The seed in a test's name brings its schedule back.
func TestFaultSchedules(t *testing.T) {
	stories := []func(*testing.T, *world, *rand.Rand){registerStory, ensureStory, mintStory, bulkStory, beforeStory, deleteStory, hideStory}
	for seed := range uint64(*schedules) {
		for _, b := range behaviours() {
			t.Run(fmt.Sprintf("%d/%s", seed, b), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &world{}
					w.Server = newServer(t, &datacitetest.Options{Behaviour: b, Faults: w.behind})
					stories[seed%uint64(len(stories))](t, w, rand.New(rand.NewPCG(seed, 7)))
				})
			})
		}
	}
}

// A world is a server whose store loses the service behind it, as long as there
// are faults.
type world struct {
	*datacitetest.Server
	faults []*datacitetest.Fault
}

// behind is called for one request at a time.
func (w *world) behind(int, *http.Request) *datacitetest.Fault {
	if len(w.faults) == 0 {
		return nil
	}
	f := w.faults[0]
	w.faults = w.faults[1:]
	return f
}

// broken is a client of a random number of attempts, on lines from nearly sound to
// nearly dead, until sound is called.
func (w *world) broken(t *testing.T, r *rand.Rand) *mds.Client {
	t.Helper()
	s := make(schedule, r.IntN(60))
	for i, chance := 0, r.Float64(); i < len(s); i++ {
		if r.Float64() < chance {
			s[i] = fault(r.IntN(int(faults)))
		}
	}
	w.faults = make([]*datacitetest.Fault, r.IntN(60))
	for i, chance := 0, r.Float64(); i < len(w.faults); i++ {
		if r.Float64() < chance {
			w.faults[i] = lost(r)
		}
	}
	return as(t, w.Server, account, &datacite.Config{HTTPClient: s.line().to(w.Server), MaxAttempts: 1 + r.IntN(5)})
}

func (w *world) sound() { w.faults = nil }

// lost is what can happen between the store and the service behind it, or before
// the store if there is none.
func lost(r *rand.Rand) *datacitetest.Fault {
	f := &datacitetest.Fault{Behind: true}
	switch f.Kind = []datacitetest.FaultKind{datacitetest.DropBefore, datacitetest.DropAfter, datacitetest.Status, datacitetest.StatusAfter, datacitetest.Delay}[r.IntN(5)]; f.Kind {
	case datacitetest.Status, datacitetest.StatusAfter:
		f.Status = []int{429, 500, 502, 503, 504, 403}[r.IntN(6)]
	case datacitetest.Delay:
		f.Delay = []time.Duration{time.Second, 30 * time.Second, 70 * time.Second}[r.IntN(3)]
	}
	return f
}

// maybe checks that an error does not call final what may pass: the login is good,
// the DOI is the account's, and the input is right.
func maybe(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, final := range []error{
		datacite.ErrUnauthorized, datacite.ErrNotFound, datacite.ErrNotAllowed, datacite.ErrInvalid, datacite.ErrBadRequest, mds.ErrMetadataMissing, datacite.ErrMediaType,
	} {
		assert.NotErrorIs(t, err, final)
	}
	assert.True(t, datacite.Temporary(err), "%v", err)
	for try := range strings.SplitSeq(err.Error(), "; an earlier try: ") {
		testkit.NamedOnce(t, try)
	}
}

// what the service has of a DOI, seen past the broken line.
type stored struct {
	state string
	url   string
	title string
}

func look(t *testing.T, srv *datacitetest.Server, doi string) stored {
	t.Helper()
	s := stored{state: srv.State(doi)}
	if s.state == "" {
		return s
	}
	var err error
	if s.url, err = srv.MDS().URL(t.Context(), doi); !errors.Is(err, mds.ErrNoURL) {
		require.NoError(t, err)
	}
	doc, err := srv.MDS().Metadata(t.Context(), doi)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(doc.Data), "<title>")
	s.title, _, _ = strings.Cut(rest, "</title>")
	return s
}

func registerStory(t *testing.T, w *world, r *rand.Rand) {
	ctx, clean := t.Context(), w.MDS()
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
	before := look(t, w.Server, name)
	done, err := w.broken(t, r).Register(ctx, name, address, record("New"))
	w.sound()
	if before.state == datacitetest.StateRegistered {
		assert.True(t, errors.Is(err, mds.ErrHidden) || datacite.Temporary(err), "%v", err)
		assert.Equal(t, before, look(t, w.Server, name), "a hidden DOI stays as it is: %v", err)
		_, err = clean.Ensure(ctx, name, address, record("New"), &mds.EnsureOptions{Show: true})
		require.NoError(t, err)
		assert.Equal(t, stored{datacitetest.StateFindable, address, "New"}, look(t, w.Server, name))
		return
	}
	maybe(t, err)
	honest(t, before, look(t, w.Server, name), stored{datacitetest.StateFindable, address, "New"}, err)
	assert.Equal(t, err == nil, done != nil)
	done, err = clean.Register(ctx, name, address, record("New"))
	require.NoError(t, err, "every run after it converges")
	assert.Equal(t, mds.StateFindable, done.State)
	assert.Equal(t, stored{datacitetest.StateFindable, address, "New"}, look(t, w.Server, name))
	assert.Equal(t, []string{name}, w.Names())
}

// ensureStory finds a DOI that has all, the URL, the metadata, or nothing of what
// it shall have, and may be hidden: then it is to be shown.
func ensureStory(t *testing.T, w *world, r *rand.Rand) {
	ctx, clean := t.Context(), w.MDS()
	titles, urls := []string{"Old", "New"}, []string{"https://repo.example.org/old", address}
	if r.IntN(5) > 0 {
		_, err := clean.Register(ctx, name, urls[r.IntN(2)], record(titles[r.IntN(2)]))
		require.NoError(t, err)
		if r.IntN(3) == 0 {
			require.NoError(t, clean.Hide(ctx, name))
		}
	}
	before, wanted := look(t, w.Server, name), stored{datacitetest.StateFindable, address, "New"}
	_, err := w.broken(t, r).Ensure(ctx, name, address, record("New"), &mds.EnsureOptions{NoReadBack: r.IntN(2) == 0, Show: true})
	w.sound()
	maybe(t, err)
	after := look(t, w.Server, name)
	if before.title == wanted.title && before.state != datacitetest.StateRegistered && err != nil && !errors.Is(err, mds.ErrUnconfirmed) {
		assert.Contains(t, []stored{before, wanted}, after, "%v", err)
		assert.True(t, after == before || errors.Is(err, datacite.ErrUnclear), "%v", err)
	} else {
		honest(t, before, after, wanted, err)
	}
	_, err = clean.Ensure(ctx, name, address, record("New"), &mds.EnsureOptions{Show: true})
	require.NoError(t, err, "every run after it converges")
	assert.Equal(t, wanted, look(t, w.Server, name))
	assert.Equal(t, []string{name}, w.Names())
}

func deleteStory(t *testing.T, w *world, r *rand.Rand) {
	ctx, clean := t.Context(), w.MDS()
	for _, doi := range []string{name, name + "-2"} {
		_, err := clean.PutMetadata(ctx, doi, record("Draft"))
		require.NoError(t, err)
	}
	err := w.broken(t, r).DeleteDraft(ctx, name)
	w.sound()
	maybe(t, err)
	switch after := w.State(name); {
	case err == nil:
		assert.Empty(t, after)
	case !errors.Is(err, datacite.ErrUnclear):
		assert.Equal(t, datacitetest.StateDraft, after, "%v", err)
	}
	if err := clean.DeleteDraft(ctx, name); err != nil {
		require.ErrorIs(t, err, datacite.ErrNotFound)
	}
	assert.Equal(t, []string{name + "-2"}, w.Names())
}

func hideStory(t *testing.T, w *world, r *rand.Rand) {
	ctx, clean := t.Context(), w.MDS()
	findable(t, w.Server, name)
	err := w.broken(t, r).Hide(ctx, name)
	w.sound()
	maybe(t, err)
	switch after := w.State(name); {
	case err == nil:
		assert.Equal(t, datacitetest.StateRegistered, after)
	case !errors.Is(err, datacite.ErrUnclear):
		assert.Equal(t, datacitetest.StateFindable, after, "%v", err)
	}
	require.NoError(t, clean.Hide(ctx, name))
	assert.Equal(t, datacitetest.StateRegistered, w.State(name))
	assert.Equal(t, []string{name}, w.Names())
}

// honest checks that an error, or its absence, tells the truth of what the
// service has.
func honest(t *testing.T, before, after, wanted stored, err error) {
	t.Helper()
	unclear := errors.Is(err, datacite.ErrUnclear)
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

func mintStory(t *testing.T, w *world, r *rand.Rand) {
	ctx := t.Context()
	minted, err := w.broken(t, r).Mint(ctx, datacitetest.Prefix, record("New"))
	w.sound()
	maybe(t, err)
	made := w.Names()
	switch {
	case err == nil:
		assert.Equal(t, []string{minted}, made, "one DOI, and it is the one")
		assert.Equal(t, stored{datacitetest.StateDraft, "", "New"}, look(t, w.Server, minted))
	case errors.Is(err, datacite.ErrUnclear):
		require.NotEmpty(t, minted, "a DOI that may exist has a name")
		assert.Subset(t, []string{minted}, made)
		_, err := w.MDS().PutMetadata(ctx, minted, record("New"))
		require.NoError(t, err)
		assert.Equal(t, []string{minted}, w.Names())
	default:
		assert.Empty(t, minted)
		assert.Empty(t, made, "%v", err)
	}
}

func bulkStory(t *testing.T, w *world, r *rand.Rand) {
	const items = 6
	ctx := t.Context()
	fates := map[string]error{}
	c := w.broken(t, r)
	for o, err := range c.RegisterAll(ctx, batch(items), &mds.BulkOptions{Workers: 1 + r.IntN(3), Rounds: 1 + r.IntN(3)}) {
		require.NoError(t, err)
		assert.NotContains(t, fates, o.Item.DOI, "one outcome each")
		fates[o.Item.DOI] = o.Err
		maybe(t, o.Err)
	}
	w.sound()
	require.Len(t, fates, items)
	for i := range items {
		it := item(i)
		wanted := stored{datacitetest.StateFindable, it.URL, fmt.Sprintf("Item %d", i)}
		honest(t, stored{}, look(t, w.Server, it.DOI), wanted, fates[it.DOI])
	}
	for o, err := range w.MDS().RegisterAll(ctx, batch(items), nil) {
		require.NoError(t, err)
		require.NoError(t, o.Err, "every run after it converges")
	}
	for i := range items {
		assert.Equal(t, stored{datacitetest.StateFindable, item(i).URL, fmt.Sprintf("Item %d", i)}, look(t, w.Server, item(i).DOI))
	}
	assert.Len(t, w.Names(), items)
}

// beforeStory refuses names that are taken. A run never refuses what it made itself.
func beforeStory(t *testing.T, w *world, r *rand.Rand) {
	const items, taken = 6, 2 // the first ones
	ctx := t.Context()
	for i := range taken {
		findable(t, w.Server, item(i).DOI)
	}
	refused := fmt.Errorf("taken: %w", &datacite.Error{StatusCode: 503}) // as temporary as can be
	var mu sync.Mutex
	seen := map[string][]mds.State{}
	opts := &mds.BulkOptions{Workers: 1 + r.IntN(3), Rounds: 1 + r.IntN(4)}
	opts.Ensure.Before = func(_ context.Context, doi string, found mds.State) error {
		mu.Lock()
		defer mu.Unlock()
		if seen[doi] = append(seen[doi], found); found != mds.StateNone {
			return refused
		}
		return nil
	}
	for o, err := range w.broken(t, r).RegisterAll(ctx, batch(items), opts) {
		require.NoError(t, err)
		if errors.Is(o.Err, refused) {
			assert.False(t, datacite.Temporary(o.Err), "%v", o.Err)
			continue
		}
		maybe(t, o.Err)
		mu.Lock() // other items are still being registered
		asked := len(seen[o.Item.DOI])
		mu.Unlock()
		assert.True(t, o.Err != nil || asked == 1, "%s was written without asking", o.Item.DOI)
	}
	w.sound()
	for i := range items {
		want := []mds.State{mds.StateNone}
		if i < taken {
			want[0] = mds.StateFindable
			assert.Equal(t, "Glacier length", look(t, w.Server, item(i).DOI).title, "it is somebody else's")
		}
		if asked := seen[item(i).DOI]; asked != nil { // it may have failed before
			assert.Equal(t, want, asked, item(i).DOI)
		}
	}
}

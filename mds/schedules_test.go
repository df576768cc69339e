package mds_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
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
	stories := []func(*testing.T, *world, *rand.Rand){registerStory, ensureStory, mintStory, beforeStory, deleteStory,
		hideStory}
	for seed := range uint64(*schedules) {
		for _, b := range behaviours() {
			t.Run(fmt.Sprintf("%d/%s", seed, b), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &world{}
					w.Server = newServer(t, &datacitetest.Options{Behaviour: b, Faults: w.next})
					stories[seed%uint64(len(stories))](t, w, rand.New(rand.NewPCG(seed, 7)))
				})
			})
		}
	}
}

// A world is a server that meets faults, as long as there are some.
type world struct {
	*datacitetest.Server
	faults []*datacitetest.Fault
}

// next is called for one request at a time.
func (w *world) next(int, *http.Request) *datacitetest.Fault {
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
	w.faults = make([]*datacitetest.Fault, r.IntN(60))
	for i, chance := 0, r.Float64(); i < len(w.faults); i++ {
		if r.Float64() < chance {
			w.faults[i] = anyFault(r)
		}
	}
	return as(t, w.Server, account, &datacite.Config{MaxAttempts: 1 + r.IntN(5)})
}

func (w *world) sound() { w.faults = nil }

// anyFault is what can happen between the client and the store, or between the store and the
// service behind it.
func anyFault(r *rand.Rand) *datacitetest.Fault {
	f := &datacitetest.Fault{Behind: r.IntN(2) == 0, RetryAfter: time.Duration(r.IntN(2)) * 7 * time.Second}
	kinds, statuses := []datacitetest.FaultKind{datacitetest.FaultDropBefore, datacitetest.FaultDropAfter,
		datacitetest.FaultStatus, datacitetest.FaultStatusAfter, datacitetest.FaultDelay}, []int{429, 500, 502, 503, 504, 403}
	if !f.Behind {
		kinds = append(kinds, datacitetest.FaultDropDuring, datacitetest.FaultCutResponse)
	}
	f.Kind = kinds[r.IntN(len(kinds))]
	if f.Kind == datacitetest.FaultStatusAfter && !f.Behind {
		statuses = append(statuses, 200) // somebody's page
	}
	f.Status = statuses[r.IntN(len(statuses))]
	f.Delay = []time.Duration{time.Second, 30 * time.Second, 70 * time.Second}[r.IntN(3)]
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
		datacite.ErrUnauthorized, datacite.ErrNotFound, datacite.ErrNotAllowed, datacite.ErrInvalid, datacite.ErrBadRequest,
		mds.ErrMetadataMissing, datacite.ErrMediaType,
	} {
		assert.NotErrorIs(t, err, final)
	}
	assert.True(t, datacite.Temporary(err), "%v", err)
	testkit.NamedOnce(t, err.Error())
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
	doc := must(srv.MDS().Metadata(t.Context(), doi))(t)
	_, rest, _ := strings.Cut(string(doc.Data), "<title>")
	s.title, _, _ = strings.Cut(rest, "</title>")
	return s
}

func registerStory(t *testing.T, w *world, r *rand.Rand) {
	ctx, clean := t.Context(), w.MDS()
	const old = "https://repo.example.org/old"
	switch r.IntN(4) {
	case 1:
		must(clean.PutMetadata(ctx, name, record("Old")))(t)
	case 2, 3:
		must(clean.Register(ctx, name, old, record("Old"), nil))(t)
		if r.IntN(2) == 0 {
			require.NoError(t, clean.Hide(ctx, name))
		}
	}
	before := look(t, w.Server, name)
	done, err := w.broken(t, r).Register(ctx, name, address, record("New"), nil)
	w.sound()
	if before.state == "registered" {
		assert.True(t, errors.Is(err, mds.ErrHidden) || datacite.Temporary(err), "%v", err)
		assert.Equal(t, before, look(t, w.Server, name), "a hidden DOI stays as it is: %v", err)
		_, err = clean.Register(ctx, name, address, record("New"), &mds.RegisterOptions{Show: true})
		require.NoError(t, err)
		assert.Equal(t, stored{"findable", address, "New"}, look(t, w.Server, name))
		return
	}
	maybe(t, err)
	honest(t, before, look(t, w.Server, name), stored{"findable", address, "New"}, err)
	assert.Equal(t, err == nil, done != nil)
	done, err = clean.Register(ctx, name, address, record("New"), nil)
	require.NoError(t, err, "every run after it converges")
	assert.Equal(t, datacite.StateFindable, done.State)
	assert.Equal(t, stored{"findable", address, "New"}, look(t, w.Server, name))
	assert.Equal(t, []string{name}, w.Names())
}

// ensureStory finds a DOI that has all, the URL, the metadata, or nothing of what
// it shall have, and may be hidden: then it is to be shown.
func ensureStory(t *testing.T, w *world, r *rand.Rand) {
	ctx, clean := t.Context(), w.MDS()
	titles, urls := []string{"Old", "New"}, []string{"https://repo.example.org/old", address}
	if r.IntN(5) > 0 {
		must(clean.Register(ctx, name, urls[r.IntN(2)], record(titles[r.IntN(2)]), nil))(t)
		if r.IntN(3) == 0 {
			require.NoError(t, clean.Hide(ctx, name))
		}
	}
	before, wanted := look(t, w.Server, name), stored{"findable", address, "New"}
	_, err := w.broken(t, r).Register(ctx, name, address, record("New"),
		&mds.RegisterOptions{NoReadBack: r.IntN(2) == 0, Show: true})
	w.sound()
	maybe(t, err)
	after := look(t, w.Server, name)
	if before.title == wanted.title && before.state != "registered" && err != nil &&
		!errors.Is(err, mds.ErrUnconfirmed) {
		assert.Contains(t, []stored{before, wanted}, after, "%v", err)
		assert.True(t, after == before || errors.Is(err, datacite.ErrUnclear), "%v", err)
	} else {
		honest(t, before, after, wanted, err)
	}
	require.NoError(t, failure(clean.Register(ctx, name, address, record("New"), &mds.RegisterOptions{Show: true})),
		"every run after it converges")
	assert.Equal(t, wanted, look(t, w.Server, name))
	assert.Equal(t, []string{name}, w.Names())
}

func deleteStory(t *testing.T, w *world, r *rand.Rand) {
	ctx, clean := t.Context(), w.MDS()
	for _, doi := range []string{name, name + "-2"} {
		must(clean.PutMetadata(ctx, doi, record("Draft")))(t)
	}
	err := w.broken(t, r).DeleteDraft(ctx, name)
	w.sound()
	maybe(t, err)
	switch after := w.State(name); {
	case err == nil:
		assert.Empty(t, after)
	case !errors.Is(err, datacite.ErrUnclear):
		assert.Equal(t, "draft", after, "%v", err)
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
		assert.Equal(t, "registered", after)
	case !errors.Is(err, datacite.ErrUnclear):
		assert.Equal(t, "findable", after, "%v", err)
	}
	require.NoError(t, clean.Hide(ctx, name))
	assert.Equal(t, "registered", w.State(name))
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
		assert.Equal(t, stored{"draft", "", "New"}, look(t, w.Server, minted))
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

// beforeStory refuses a name that is taken, and is asked once before a new one is written.
func beforeStory(t *testing.T, w *world, r *rand.Rand) {
	ctx, want := t.Context(), mds.StateNone
	if r.IntN(2) == 0 {
		findable(t, w.Server, name)
		want = datacite.StateFindable
	}
	before := look(t, w.Server, name)
	refused := fmt.Errorf("taken: %w", &datacite.Error{StatusCode: 503}) // as temporary as can be
	var seen []datacite.State
	_, err := w.broken(t, r).Register(ctx, name, address, record("New"),
		&mds.RegisterOptions{BeforeWrite: func(_ context.Context, _ string, found datacite.State) error {
			if seen = append(seen, found); found != mds.StateNone {
				return refused
			}
			return nil
		}})
	w.sound()
	if errors.Is(err, refused) {
		assert.False(t, datacite.Temporary(err), "%v", err)
	} else {
		maybe(t, err)
		assert.True(t, err != nil || len(seen) == 1, "it was written without asking")
	}
	if seen != nil { // it may have failed before
		assert.Equal(t, []datacite.State{want}, seen)
	}
	if want != mds.StateNone {
		assert.Equal(t, before, look(t, w.Server, name), "it is somebody else's")
	}
}

// between is a client of a server with something in the line between them.
func between(t testing.TB, srv *datacitetest.Server,
	line func(*http.Request, http.RoundTripper) (*http.Response, error)) *mds.Client {
	t.Helper()
	next := srv.HTTPClient().Transport
	return as(t, srv, account, &datacite.Config{
		HTTPClient: &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			return line(req, next)
		})}})
}

package mds_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
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
	"github.com/datacite-go/datacite-go/mds"
)

// batch is n items, good for any number of runs.
func batch(n int) iter.Seq2[mds.Item, error] {
	return func(yield func(mds.Item, error) bool) {
		for i := range n {
			if !yield(item(i), nil) {
				return
			}
		}
	}
}

func item(i int) mds.Item {
	return mds.Item{
		DOI: fmt.Sprintf("10.5072/item-%d", i), URL: fmt.Sprintf("https://repo.example.org/item/%d", i),
		Document: record(fmt.Sprintf("Item %d", i)),
	}
}

func TestRegisterAll(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		var last mds.Progress
		opts := &mds.BulkOptions{Progress: func(p mds.Progress) { last = p }}
		for _, want := range []mds.Change{mds.Created, mds.Unchanged} {
			done := map[string]bool{}
			for o, err := range srv.MDS().RegisterAll(t.Context(), batch(30), opts) {
				require.NoError(t, err)
				require.NoError(t, o.Err)
				assert.Equal(t, want, o.Registration.Change)
				assert.Equal(t, 1, o.Tries)
				assert.Equal(t, datacitetest.StateFindable, srv.State(o.Item.DOI))
				done[o.Item.DOI] = true
			}
			assert.Len(t, done, 30)
			assert.Equal(t, mds.Progress{Done: 30}, last)
		}
	})
}

func TestRegisterAllKeepsWorkersInBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, nil)
		var mu sync.Mutex
		now, most := 0, 0
		c := between(t, srv, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return next.RoundTrip(req)
		})
		for _, err := range c.RegisterAll(t.Context(), batch(20), &mds.BulkOptions{Workers: 3}) {
			require.NoError(t, err)
		}
		assert.Equal(t, 3, most)
	})
}

func TestRegisterAllTellsEachItemsFate(t *testing.T) {
	srv := newServer(t, &datacitetest.Options{Accounts: []datacitetest.Account{{Domains: []string{"repo.example.org"}}}})
	items := []mds.Item{item(0), item(1), item(2), item(3), item(0), item(5), item(5)}
	items[1].DOI = "10.5072/b d"
	items[2].URL = "https://elsewhere.example.net/"
	items[3].Document = invalid()
	items[4].DOI = "https://doi.org/10.5072/ITEM-0"
	items[5].DOI, items[5].Err = "10.5072/item-6", errors.New("line 7 cannot be read")
	items[6].DOI = "10.5072/item-6" // the one before was not sent
	var unread error
	fates := map[string]error{}
	for o, err := range srv.MDS().RegisterAll(t.Context(), each(items), &mds.BulkOptions{Workers: 1}) {
		require.NoError(t, err)
		if o.Item.Err != nil {
			unread = o.Err
			assert.Zero(t, o.Tries)
			continue
		}
		fates[o.Item.DOI] = o.Err
	}
	require.Len(t, fates, 6)
	require.EqualError(t, unread, "line 7 cannot be read")
	require.NoError(t, fates["10.5072/item-6"])
	require.NoError(t, fates["10.5072/item-0"])
	require.ErrorIs(t, fates["10.5072/b d"], datacite.ErrInvalidDOI)
	require.ErrorIs(t, fates["10.5072/item-2"], mds.ErrHalfRegistered)
	require.ErrorIs(t, fates["10.5072/item-3"], datacite.ErrInvalid)
	assert.ErrorContains(t, fates["https://doi.org/10.5072/ITEM-0"], "occurs twice")
	assert.EqualValues(t, "repeated", datacite.Findings(fates["https://doi.org/10.5072/ITEM-0"])[0].Code)
}

// An item with a temporary error, such as that of a database, is not tried either.
func TestItemsWithAnErrorAreNotTried(t *testing.T) {
	srv := newServer(t, nil)
	bad := item(1)
	bad.Err = fmt.Errorf("reading the item: %w", &datacite.Error{StatusCode: 503})
	outcomes := 0
	for o, err := range srv.MDS().RegisterAll(t.Context(), each([]mds.Item{bad, item(2)}), &mds.BulkOptions{Rounds: 9, Progress: func(p mds.Progress) { assert.Zero(t, p.Waiting) }}) {
		require.NoError(t, err)
		require.Equal(t, o.Item.Err, o.Err)
		outcomes++
	}
	assert.Equal(t, 2, outcomes)
	assert.Empty(t, srv.State(bad.DOI))
}

// Before sees each DOI that is written, before it is, and can refuse it.
func TestBeforeSeesEachWriteAndCanRefuseIt(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		c, taken := srv.MDS(), errors.New("taken")
		_, err := c.Register(t.Context(), item(1).DOI, item(1).URL, record("Of somebody else"))
		require.NoError(t, err)
		_, err = c.Register(t.Context(), item(2).DOI, item(2).URL, item(2).Document)
		require.NoError(t, err)
		var mu sync.Mutex
		seen := map[string]mds.State{}
		opts := &mds.BulkOptions{Ensure: mds.EnsureOptions{Before: func(_ context.Context, doi string, found mds.State) error {
			mu.Lock()
			defer mu.Unlock()
			seen[doi] = found
			if found != mds.StateNone {
				return taken
			}
			assert.Empty(t, srv.State(doi))
			return nil
		}}}
		for o, err := range c.RegisterAll(t.Context(), batch(3), opts) {
			require.NoError(t, err)
			assert.Equal(t, o.Item.DOI == item(1).DOI, errors.Is(o.Err, taken), o.Err)
		}
		assert.Equal(t, map[string]mds.State{item(0).DOI: mds.StateNone, item(1).DOI: mds.StateFindable}, seen)
		doc, err := c.Metadata(t.Context(), item(1).DOI)
		require.NoError(t, err)
		assert.Contains(t, string(doc.Data), "Of somebody else")
	})
}

func each(items []mds.Item) iter.Seq2[mds.Item, error] {
	return func(yield func(mds.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

func TestRegisterAllTriesOnlyFailuresAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, nil)
		down := map[string]int{"10.5072/item-1": 1, "10.5072/item-2": 100}
		looks := map[string]int{}
		next := srv.HTTPClient().Transport
		c := as(t, srv, account, &datacite.Config{MaxAttempts: 1, HTTPClient: &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			doi := strings.TrimPrefix(req.URL.Path, "/doi/")
			if req.Method == "GET" && doi != req.URL.Path {
				looks[doi]++
				if down[doi]--; down[doi] >= 0 {
					return response(500, plain, ""), nil
				}
			}
			return next.RoundTrip(req)
		})}})
		start := time.Now()
		var seen []mds.Progress
		opts := &mds.BulkOptions{Workers: 1, Rounds: 3, Ensure: mds.EnsureOptions{NoReadBack: true}, Progress: func(p mds.Progress) { seen = append(seen, p) }}
		tries := map[string]int{}
		for o, err := range c.RegisterAll(t.Context(), batch(3), opts) {
			require.NoError(t, err)
			tries[o.Item.DOI] = o.Tries
			assert.Equal(t, o.Item.DOI == "10.5072/item-2", o.Err != nil)
		}
		assert.Equal(t, map[string]int{"10.5072/item-0": 1, "10.5072/item-1": 2, "10.5072/item-2": 3}, tries)
		assert.Equal(t, map[string]int{"10.5072/item-0": 1, "10.5072/item-1": 2, "10.5072/item-2": 3}, looks)
		assert.Equal(t, []mds.Progress{
			{Done: 1}, {Done: 1, Waiting: 1}, {Done: 1, Waiting: 2}, {Done: 1, Waiting: 1}, {Done: 2, Waiting: 1}, {Done: 2, Failed: 1},
		}, seen)
		assert.Equal(t, time.Minute, time.Since(start), "two pauses, of the test's own clock")
	})
}

// strangers are n items of a prefix that is not the account's.
func strangers(n int) []mds.Item {
	var items []mds.Item
	for i := range n {
		it := item(i)
		it.DOI = strings.Replace(it.DOI, "10.5072", "10.70000", 1)
		items = append(items, it)
	}
	return items
}

func TestAJobStopsAskingForARefusedPrefix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
		items := strangers(50)
		for i := range 20 {
			items = append(items, item(i))
		}
		asked := map[string]int{}
		c := as(t, srv, account, &datacite.Config{MaxAttempts: 2, HTTPClient: line(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			if name, ok := strings.CutPrefix(req.URL.Path, "/metadata/10.70000/"); ok && req.Method == http.MethodPut {
				asked[name]++
			}
			return next.RoundTrip(req)
		}).to(srv)})
		sent := 0
		for o, err := range c.RegisterAll(t.Context(), each(items), &mds.BulkOptions{Workers: 1}) {
			require.NoError(t, err)
			if strings.HasPrefix(o.Item.DOI, "10.5072/") {
				require.NoError(t, o.Err)
				continue
			}
			require.ErrorIs(t, o.Err, datacite.ErrForbidden)
			sent += min(o.Tries, 1)
			assert.False(t, datacite.Temporary(o.Err))
			assert.NotErrorIs(t, o.Err, datacite.ErrUnclear)
			if o.Tries == 0 {
				assert.ErrorContains(t, o.Err, o.Item.DOI+" was not sent, as others of its prefix were refused")
				e, _ := errors.AsType[*datacite.Error](o.Err)
				assert.Zero(t, e.Attempts)
			}
		}
		assert.Equal(t, 1, sent)
		assert.Equal(t, map[string]int{"item-0": 1}, asked)
	})
}

// An account may have a DOI under a prefix to which it has no right, from another account: such DOIs are
// registered, although new ones of the prefix are refused.
func TestAJobRegistersWhatIsTheAccountsUnderAForeignPrefix(t *testing.T) {
	srv := newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	items := strangers(5)
	seed(t, srv, map[string]any{"doi": items[3].DOI, "state": "draft"})
	outcomes := map[string]error{}
	for o, err := range srv.MDS().RegisterAll(t.Context(), each(items), &mds.BulkOptions{Workers: 1}) {
		require.NoError(t, err)
		outcomes[o.Item.DOI] = o.Err
	}
	for i, it := range items {
		if i == 3 {
			require.NoError(t, outcomes[it.DOI])
			continue
		}
		require.ErrorIs(t, outcomes[it.DOI], datacite.ErrForbidden)
	}
	assert.Len(t, srv.Names(), 1)
}

// A service behind the store that is lost for a while makes every DOI look refused.
func TestAJobOutlivesALostService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		srv := newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed, Faults: func(int, *http.Request) *datacitetest.Fault {
			if time.Since(begun) < 20*time.Second {
				return &datacitetest.Fault{Kind: datacitetest.DropAfter, Behind: true}
			}
			return nil
		}})
		tries := 0
		for o, err := range as(t, srv, account, &datacite.Config{MaxAttempts: 1}).RegisterAll(t.Context(), batch(50), nil) {
			require.NoError(t, err)
			require.NoError(t, o.Err)
			tries += o.Tries
		}
		assert.Len(t, srv.Names(), 50)
		assert.Less(t, tries, 60, "few were sent in vain")
	})
}

// DOIs of others under the account's prefix do not stop the account's own.
func TestAJobGoesOnAfterDOIsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
		const theirs = 10
		for i := range theirs {
			foreign(t, srv, item(i).DOI)
		}
		refused := 0
		for o, err := range as(t, srv, account, &datacite.Config{MaxAttempts: 1}).RegisterAll(t.Context(), batch(40), nil) {
			require.NoError(t, err)
			if o.Err != nil {
				require.ErrorIs(t, o.Err, datacite.ErrForbidden)
				assert.Positive(t, o.Tries, o.Err)
				refused++
			}
		}
		assert.Equal(t, theirs, refused)
	})
}

// The first items are somebody else's, and so is the last one, with which the second round
// begins.
func TestEachRoundBeginsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
		for _, i := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 39} {
			foreign(t, srv, item(i).DOI)
		}
		refused := 0
		client := as(t, srv, account, &datacite.Config{MaxAttempts: 1})
		for o, err := range client.RegisterAll(t.Context(), batch(40), &mds.BulkOptions{Workers: 1}) {
			require.NoError(t, err)
			if o.Err != nil {
				require.ErrorIs(t, o.Err, datacite.ErrForbidden)
				assert.Positive(t, o.Tries, o.Err)
				refused++
			}
		}
		assert.Equal(t, 11, refused)
	})
}

func TestARunIsStoppedAndContinued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, nil)
		stopped := 0
		for _, err := range srv.MDS().RegisterAll(t.Context(), batch(40), nil) {
			require.NoError(t, err)
			if stopped++; stopped == 10 {
				break
			}
		}
		synctest.Wait() // the service goes on with the requests that were under way
		since := len(srv.Requests())
		changes := map[mds.Change]int{}
		for o, err := range srv.MDS().RegisterAll(t.Context(), batch(40), nil) {
			require.NoError(t, err)
			require.NoError(t, o.Err)
			changes[o.Registration.Change]++
		}
		assert.GreaterOrEqual(t, changes[mds.Unchanged], 10)
		assert.Equal(t, 40, changes[mds.Unchanged]+changes[mds.Created]+changes[mds.Updated])
		wanted := 2*changes[mds.Created] + changes[mds.Updated] // a draft that the first run left lacks its URL only
		assert.Equal(t, wanted, puts(srv, since), "what was right is not written again")
	})
}

func TestARunEndsWithAnError(t *testing.T) {
	t.Run("a login that is not accepted", func(t *testing.T) {
		srv := newServer(t, nil)
		outcomes := 0
		var end error
		for o, err := range as(t, srv, wrong, nil).RegisterAll(t.Context(), batch(1000), nil) {
			if err != nil {
				end = err
				assert.Empty(t, o)
				continue
			}
			outcomes++
		}
		require.ErrorIs(t, end, datacite.ErrUnauthorized)
		assert.Less(t, outcomes, 1000, "the rest was not tried")
	})
	t.Run("items that fail to come", func(t *testing.T) {
		srv := newServer(t, nil)
		lost := errors.New("database gone")
		items := func(yield func(mds.Item, error) bool) {
			_ = yield(item(0), nil) && yield(item(1), nil) && yield(mds.Item{}, lost)
		}
		outcomes := 0
		var end error
		for _, err := range srv.MDS().RegisterAll(t.Context(), items, nil) {
			if end = err; err == nil {
				outcomes++
			}
		}
		require.ErrorIs(t, end, lost)
		require.EqualError(t, end, "mds.RegisterAll: database gone")
		assert.Equal(t, 2, outcomes, "what came before is finished")
	})
	t.Run("the context ends while items wait for the next round", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			outcomes := 0
			var end error
			for o, err := range responding(t, 500, plain, "", nil).RegisterAll(ctx, batch(5), nil) {
				if end = err; err == nil {
					require.ErrorIs(t, o.Err, datacite.ErrServer)
					outcomes++
				}
			}
			require.ErrorIs(t, end, context.DeadlineExceeded)
			assert.Equal(t, 5, outcomes, "no item is lost silently")
		})
	})
	t.Run("the context ends within the second round", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			sent := 0
			c := served(t, func(*http.Request) *http.Response {
				if sent++; sent == 7 {
					cancel()
				}
				return response(500, plain, "")
			}, nil)
			outcomes := map[string]bool{}
			var end error
			for o, err := range c.RegisterAll(ctx, batch(5), &mds.BulkOptions{Workers: 1}) {
				if end = err; err == nil {
					require.Error(t, o.Err)
					outcomes[o.Item.DOI] = true
				}
			}
			require.ErrorIs(t, end, context.Canceled)
			assert.Len(t, outcomes, 5, "no item is lost silently")
		})
	})
	t.Run("the loop panics", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
			srv := newServer(t, nil)
			assert.PanicsWithValue(t, "stop", func() {
				for range srv.MDS().RegisterAll(t.Context(), batch(100), nil) {
					panic("stop")
				}
			})
		})
	})
}

func BenchmarkRegisterAll(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		srv := newServer(b, nil)
		for o, err := range srv.MDS().RegisterAll(b.Context(), batch(100), nil) {
			if err != nil || o.Err != nil {
				b.Fatal(err, o.Err)
			}
		}
	}
}

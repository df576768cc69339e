package reconcile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// wantedItem is good for any number of runs.
func wantedItem(i int) reconcile.Desired {
	rec := complete(fmt.Sprintf("Item %d", i))
	return reconcile.Desired{DOI: fmt.Sprintf("10.5072/item-%d", i),
		URL: fmt.Sprintf("https://repo.example.org/item/%d", i), State: datacite.StateFindable, Metadata: &rec, Whole: true}
}

func wantedItems(n int) iter.Seq2[reconcile.Desired, error] {
	var all []reconcile.Desired
	for i := range n {
		all = append(all, wantedItem(i))
	}
	return each(all)
}

// asXML has the metadata as XML instead.
func asXML(t *testing.T, w reconcile.Desired) reconcile.Desired {
	t.Helper()
	data, err := w.Metadata.XML()
	require.NoError(t, err)
	w.XML, w.Metadata, w.Whole = data, nil, false
	return w
}

// clientOf is a client of the service with a line of its own, and one attempt for each request.
func clientOf(t *testing.T, srv *datacitetest.Server, password string, line http.RoundTripper) *reconcile.Client {
	t.Helper()
	c, err := reconcile.NewClient(datacite.Config{
		Service: datacite.Service{API: srv.URL}, Username: datacitetest.Username, Password: password, MaxAttempts: 1,
		HTTPClient: &http.Client{Transport: line},
	})
	require.NoError(t, err)
	return c
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestEnsure walks every case: what is found, what is wanted, and what becomes of the first write.
func TestEnsure(t *testing.T) {
	const none = datacite.State("")
	outcomes := map[string]*datacitetest.Fault{
		"accepted": nil, "lost, not done": {Kind: datacitetest.FaultDropBefore},
		"lost, done": {Kind: datacitetest.FaultDropAfter},
		"away, not done": {Kind: datacitetest.FaultStatus,
			Status: 503}, "away, done": {Kind: datacitetest.FaultStatusAfter, Status: 504},
	}
	for outcome, fault := range outcomes {
		for _, found := range []datacite.State{none, datacite.StateDraft, datacite.StateRegistered, datacite.StateFindable} {
			for _, state := range []datacite.State{none, datacite.StateDraft, datacite.StateRegistered, datacite.StateFindable} {
				for _, kind := range [][2]bool{{true, true}, {false, true}, {false, false}} {
					isSame, isXML := kind[0], kind[1]
					t.Run(fmt.Sprintf("%s/found %s/wanted %s/same %v/XML %v", outcome, found, state, isSame, isXML),
						func(t *testing.T) {
							t.Parallel()
							onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
								w, title := wantedItem(0), "Item 0"
								if isXML {
									w = asXML(t, w)
								}
								if w.State = found; found != none {
									_, err := srv.Reconcile().Ensure(t.Context(), w, nil)
									require.NoError(t, err)
								}
								if !isSame {
									title = "Another title"
									rec := complete(title)
									w.URL, w.Metadata, w.XML = w.URL+"/new", &rec, nil
									if isXML {
										w = asXML(t, w)
									}
								}
								w.State = state
								before, failing := writes(srv), fault
								srv.SetFaults(func(_ int, r *http.Request) *datacitetest.Fault {
									if r.Method == http.MethodGet {
										return nil
									}
									f := failing
									failing = nil
									return f
								})
								done, err := srv.Reconcile().Ensure(t.Context(), w, nil)
								if state == datacite.StateDraft && (found == datacite.StateRegistered || found == datacite.StateFindable) {
									require.ErrorIs(t, err, reconcile.ErrNotAsDesired)
									assert.Equal(t, before, writes(srv))
									assert.Equal(t, string(found), string(srv.State(w.DOI)))
									return
								}
								require.NoError(t, err)
								want := state
								if want == none {
									want = max(found, datacite.StateDraft)
								}
								assert.Equal(t, want, done.Record.State)
								stored, err := srv.Record(w.DOI)
								require.NoError(t, err)
								assert.Equal(t, w.URL, stored.URL)
								assert.Equal(t, title, stored.Titles[0].Title)
								assert.Equal(t, found == none, done.Found == nil)
								needed := 1
								if found != none && isSame && want == found {
									needed = 0
								}
								assert.Equal(t, needed == 0, done.Draft == nil)
								if fault != nil && (found != none || strings.HasSuffix(outcome, "not done")) {
									needed *= 2 // a PUT is sent again at once, a POST after a look
								}
								assert.Equal(t, needed, writes(srv)-before)
								again, err := srv.Reconcile().Ensure(t.Context(), w, nil)
								require.NoError(t, err)
								assert.Nil(t, again.Draft, "a second pass changes nothing")
							})
						})
				}
			}
		}
	}
}

func TestEnsureAll(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		var last reconcile.EnsureProgress
		opts := &reconcile.Options{Progress: func(p reconcile.EnsureProgress) { last = p }}
		for run := range 2 {
			done, before := map[string]bool{}, len(srv.Requests())
			for e, err := range srv.Reconcile().EnsureAll(t.Context(), wantedItems(30), opts) {
				require.NoError(t, err)
				require.NoError(t, e.Err)
				assert.Equal(t, run > 0, e.Draft == nil)
				assert.Equal(t, 1, e.Attempts)
				assert.Equal(t, datacite.StateFindable, e.Record.State)
				done[e.Desired.DOI] = true
			}
			assert.Len(t, done, 30)
			assert.Equal(t, reconcile.EnsureProgress{Done: 30}, last)
			assert.Equal(t, 60-30*run, len(srv.Requests())-before, "a look, and a write where something differs")
		}
	})
}

// A name that was made now is not looked for.
func TestNewNames(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		w := wantedItem(0)
		w.New = true
		for run := range 2 {
			before := len(srv.Requests())
			done, err := srv.Reconcile().Ensure(t.Context(), w, nil)
			require.NoError(t, err)
			assert.Equal(t, 1+run, len(srv.Requests())-before, "one that exists is looked for, and is as desired")
			assert.NotNil(t, done.Record)
			assert.Equal(t, run == 0, done.Found == nil)
		}
		other := w
		other.URL += "/other"
		_, err := srv.Reconcile().Ensure(t.Context(), other, nil)
		require.ErrorIs(t, err, datacite.ErrConflict, "a name that is new replaces no DOI")
		kept, err := srv.DOIs().Get(t.Context(), w.DOI, nil)
		require.NoError(t, err)
		assert.Equal(t, w.URL, kept.URL)
	})
}

func TestEnsureAllKeepsWorkersInBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
		var mu sync.Mutex
		now, most := 0, 0
		c := clientOf(t, srv, datacitetest.Password, tripper(func(req *http.Request) (*http.Response, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return srv.HTTPClient().Transport.RoundTrip(req)
		}))
		begun := time.Now()
		var all []reconcile.Desired
		for i := range 19 {
			w := wantedItem(i)
			w.New = true
			all = append(all, w)
		}
		for _, err := range c.EnsureAll(t.Context(), each(all), &reconcile.Options{Workers: 3}) {
			require.NoError(t, err)
		}
		assert.Equal(t, 3, most)
		assert.Equal(t, 7*time.Second, time.Since(begun), "the first of a prefix is created alone")
	})
}

func TestEnsureAllTellsEachFate(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		bad, invalid, unread, twice := wantedItem(1), wantedItem(2), wantedItem(3), wantedItem(0)
		bad.DOI = "10.5072/b d"
		rec := metadata.Record{Titles: []metadata.Title{{Title: "No creator"}}}
		invalid.Metadata = &rec
		unread.Metadata, unread.Whole, unread.XML = nil, false, []byte("<resource>")
		twice.DOI = "https://doi.org/10.5072/ITEM-0"
		fates, told := map[string]error{}, 0
		opts := &reconcile.Options{Workers: 1, Progress: func(p reconcile.EnsureProgress) {
			if p.Err != nil {
				told++
			}
		}}
		for e, err := range srv.Reconcile().EnsureAll(t.Context(),
			each([]reconcile.Desired{wantedItem(0), bad, invalid, unread, twice}), opts) {
			require.NoError(t, err)
			fates[e.Desired.URL+e.Desired.DOI[:5]] = e.Err
		}
		require.Len(t, fates, 5)
		assert.Equal(t, 4, told)
		require.NoError(t, fates[wantedItem(0).URL+"10.50"])
		require.ErrorIs(t, fates[bad.URL+"10.50"], datacite.ErrInvalidDOI)
		require.ErrorIs(t, fates[invalid.URL+"10.50"], datacite.ErrInvalid)
		require.ErrorContains(t, fates[unread.URL+"10.50"], "desired[3].XML: is not a DataCite record")
		require.ErrorContains(t, fates[twice.URL+"https"], "is desired twice")
		assert.EqualValues(t, "repeated", datacite.Findings(fates[twice.URL+"https"])[0].Code)
		assert.Len(t, srv.Names(), 1)
	})
}

// That a DOI does not exist yet is nothing to warn of.
func TestANewNameIsNoWarning(t *testing.T) {
	var log bytes.Buffer
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	cfg := srv.Config()
	cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c, err := reconcile.NewClient(cfg)
	require.NoError(t, err)
	_, err = c.Ensure(t.Context(), wantedItem(0), nil)
	require.NoError(t, err)
	assert.Empty(t, log.String())
}

// Before sees each write, and can refuse it for good. So can Adapt, and it can complete what is wanted.
func TestBeforeAndAdapt(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		c, taken := srv.Reconcile(), fmt.Errorf("taken: %w", &datacite.Error{StatusCode: 503}) // as temporary as can be
		other := wantedItem(1)
		other.URL += "/of-somebody-else"
		for _, w := range []reconcile.Desired{other, wantedItem(2)} {
			_, err := c.Ensure(t.Context(), w, nil)
			require.NoError(t, err)
		}
		var mu sync.Mutex
		seen := map[string]bool{}
		refuse := func(name string, found *dois.Record) error {
			mu.Lock()
			defer mu.Unlock()
			seen[name] = found != nil
			assert.Equal(t, found != nil, srv.State(name) != "", "it is called before the write")
			if found != nil {
				return taken
			}
			return nil
		}
		before := &reconcile.Options{BeforeWrite: func(_ context.Context, e *reconcile.Outcome) error {
			assert.NotNil(t, e.Draft)
			return refuse(e.Desired.DOI, e.Found)
		}}
		adapt := &reconcile.Options{Adapt: func(w *reconcile.Desired, found *dois.Record) error {
			w.URL += "/adapted"
			return refuse(w.DOI, found)
		}}
		for i, opts := range []*reconcile.Options{before, adapt} {
			clear(seen)
			for e, err := range c.EnsureAll(t.Context(), wantedItems(3+i), opts) {
				require.NoError(t, err)
				isTaken := e.Desired.DOI == other.DOI || i == 1 && e.Desired.DOI != wantedItem(3).DOI
				assert.Equal(t, isTaken, errors.Is(e.Err, taken), e.Err)
				assert.Equal(t, 1, e.Attempts, "a refusal is final")
			}
			assert.Equal(t, []map[string]bool{{"10.5072/item-0": false, other.DOI: true},
				{"10.5072/item-0": true, other.DOI: true, "10.5072/item-2": true, "10.5072/item-3": false}}[i], seen)
		}
		for i, end := range map[int]string{1: "/of-somebody-else", 3: "/adapted"} {
			r, err := srv.DOIs().Get(t.Context(), wantedItem(i).DOI, nil)
			require.NoError(t, err)
			assert.Equal(t, wantedItem(i).URL+end, r.URL)
		}
	})
}

// What the service takes and makes something else of is named.
func TestWhatIsNotAsWantedAfterwardsIsNamed(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true})
	w := wantedItem(0)
	w.State, w.Metadata.PublicationYear = datacite.StateDraft, "last"
	_, err := srv.Reconcile().Ensure(t.Context(), w, nil)
	require.ErrorIs(t, err, reconcile.ErrNotAsDesired)
	assert.ErrorContains(t, err, `publicationYear: "last" is wanted, and "0000" was found`)
}

func TestEnsureAllTriesOnlyFailuresAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
		down := map[string]int{"10.5072/item-1": 1, "10.5072/item-2": 100}
		looks := map[string]int{}
		c := clientOf(t, srv, datacitetest.Password, tripper(func(req *http.Request) (*http.Response, error) {
			name := strings.TrimPrefix(req.URL.Path, "/dois/")
			if req.Method == http.MethodGet {
				looks[name]++
				if down[name]--; down[name] >= 0 {
					return &http.Response{StatusCode: 500, Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
				}
			}
			return srv.HTTPClient().Transport.RoundTrip(req)
		}))
		start := time.Now()
		var seen []reconcile.EnsureProgress
		opts := &reconcile.Options{Workers: 1, Progress: func(p reconcile.EnsureProgress) {
			assert.True(t, p.Pause == 0 || p.Err != nil)
			p.Err = nil
			seen = append(seen, p)
		}}
		tries := map[string]int{}
		for e, err := range c.EnsureAll(t.Context(), wantedItems(3), opts) {
			require.NoError(t, err)
			tries[e.Desired.DOI] = e.Attempts
			assert.Equal(t, e.Desired.DOI == "10.5072/item-2", e.Err != nil)
		}
		assert.Equal(t, map[string]int{"10.5072/item-0": 1, "10.5072/item-1": 2, "10.5072/item-2": 3}, tries)
		assert.Equal(t, tries, looks)
		const pause = 30 * time.Second
		assert.Equal(t, []reconcile.EnsureProgress{
			{Done: 1}, {Done: 1, Waiting: 1}, {Done: 1, Waiting: 2}, {Done: 1, Waiting: 2, Pause: pause},
			{Done: 2}, {Done: 2, Waiting: 1}, {Done: 2, Waiting: 1, Pause: pause}, {Done: 2, Failed: 1},
		}, seen)
		assert.Equal(t, 2*pause, time.Since(start))
	})
}

// A prefix of another account is asked once, whatever the number of workers, and DOIs of the
// account below it are brought to their state.
func TestAPrefixOfAnotherAccountIsAskedOnce(t *testing.T) {
	onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
		var all []reconcile.Desired
		for i := range 50 {
			w := wantedItem(i)
			if i%2 == 0 {
				w.DOI = strings.Replace(w.DOI, "10.5072", "10.70000", 1)
			}
			w.New = i%4 == 0
			all = append(all, w)
		}
		mine := all[6].DOI
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":%q,"state":"draft"}`, mine)))
		asked := 0
		srv.SetFaults(func(_ int, r *http.Request) *datacitetest.Fault {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			if r.Method == http.MethodPost && strings.Contains(string(body), `"10.70000/`) {
				asked++
			}
			return nil
		})
		fates := map[string]error{}
		for e, err := range srv.Reconcile().EnsureAll(t.Context(), each(all), nil) {
			require.NoError(t, err)
			fates[e.Desired.DOI] = e.Err
		}
		require.Len(t, fates, 50)
		sent := 0
		for name, err := range fates {
			if strings.HasPrefix(name, "10.5072/") || name == mine {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, datacite.ErrForbidden)
			require.ErrorContains(t, err, "belongs to another account")
			assert.False(t, datacite.Temporary(err))
			assert.NotErrorIs(t, err, datacite.ErrUnclear)
			e, _ := errors.AsType[*datacite.Error](err)
			sent += e.Attempts
			assert.Equal(t, e.Attempts == 0,
				strings.Contains(err.Error(), "not sent, as another new DOI below 10.70000 was refused"))
		}
		assert.Equal(t, 1, sent)
		assert.Equal(t, 1, asked)
	})
}

// A service, or a source of tokens, that is lost for a while gets what is wanted afterwards, and
// the 403 of a gateway before it is taken for no refusal of the prefix.
func TestARunOutlivesALostService(t *testing.T) {
	for _, fault := range []*datacitetest.Fault{nil, {Kind: datacitetest.FaultDropBefore},
		{Kind: datacitetest.FaultStatus, Status: 403}} {
		onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
			begun := time.Now()
			away := func() bool { return time.Since(begun) < 20*time.Second }
			key := srv.IssueKey()
			c, err := reconcile.NewClient(datacite.Config{
				Service: datacite.Service{API: srv.URL}, MaxAttempts: 1,
				HTTPClient: &http.Client{Transport: srv.HTTPClient().Transport},
				TokenSource: func(context.Context) (string, error) {
					if fault == nil && away() {
						return "", &net.OpError{Op: "dial", Err: errors.New("connection refused")}
					}
					return key, nil
				},
			})
			require.NoError(t, err)
			srv.SetFaults(func(int, *http.Request) *datacitetest.Fault {
				if away() {
					return fault
				}
				return nil
			})
			for e, err := range c.EnsureAll(t.Context(), wantedItems(20), nil) {
				require.NoError(t, err)
				require.NoError(t, e.Err)
			}
			assert.Len(t, srv.Names(), 20)
		})
	}
}

// How long the service turns requests away is counted from the last one that it served.
func TestAServiceThatIsBusyNowAndThen(t *testing.T) {
	onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
		begun := time.Now()
		srv.SetFaults(func(int, *http.Request) *datacitetest.Fault {
			if time.Since(begun)%(10*time.Minute) > time.Minute {
				return nil
			}
			return &datacitetest.Fault{Status: 429, RetryAfter: time.Minute}
		})
		c := clientOf(t, srv, datacitetest.Password, tripper(func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Minute)
			return srv.HTTPClient().Transport.RoundTrip(req)
		}))
		for o, err := range c.EnsureAll(t.Context(), wantedItems(100), &reconcile.Options{Rounds: 50}) {
			require.NoError(t, err, "it never turned requests away for long")
			require.NoError(t, o.Err)
		}
		assert.Greater(t, time.Since(begun), 40*time.Minute)
		assert.Len(t, srv.Names(), 100)
	})
}

// Where the service says when to come back, all workers wait once. What takes too long ends the run with
// that time; the rest is not tried.
func TestAllWorkersWaitAsTheServiceAsks(t *testing.T) {
	for name, tt := range map[string]struct {
		after, busy time.Duration // Retry-After, and how long the service wants it
		most        int           // requests that are turned away
	}{
		"a minute":         {time.Minute, 50 * time.Second, 4},
		"in parts":         {10 * time.Minute, 11 * time.Minute, 8},
		"an hour":          {time.Hour, time.Hour, 4},
		"always a minute":  {time.Minute, 24 * time.Hour, 4 * 31},
		"longer each time": {29 * time.Minute, time.Hour, 8},
	} {
		t.Run(name, func(t *testing.T) {
			onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
				begun, turnedAway := time.Now(), atomic.Int32{} // of a request that was left, too
				srv.SetFaults(func(int, *http.Request) *datacitetest.Fault {
					if time.Since(begun) >= tt.busy {
						return nil
					}
					turnedAway.Add(1)
					return &datacitetest.Fault{Status: 429, RetryAfter: tt.after}
				})
				c := clientOf(t, srv, datacitetest.Password, srv.HTTPClient().Transport)
				pauses, outcomes := 0, 0
				var end error
				for _, err := range c.EnsureAll(t.Context(), wantedItems(50),
					&reconcile.Options{Rounds: 50, Progress: func(p reconcile.EnsureProgress) {
						if p.Pause == tt.after {
							pauses++
							assert.ErrorIs(t, p.Err, datacite.ErrRateLimited)
						}
					}}) {
					if end = err; err == nil {
						outcomes++
					}
				}
				assert.LessOrEqual(t, int(turnedAway.Load()), tt.most)
				if tt.busy < 30*time.Minute {
					require.NoError(t, end)
					assert.Len(t, srv.Names(), 50)
					assert.LessOrEqual(t, pauses, tt.most/4)
					assert.NotZero(t, pauses)
					return
				}
				e, ok := errors.AsType[*datacite.Error](end)
				require.True(t, ok, "%v", end)
				assert.ErrorContains(t, end, "come back at "+e.RetryAt.UTC().Format("2006-01-02 15:04:05 UTC"))
				assert.True(t, datacite.Temporary(end))
				assert.LessOrEqual(t, outcomes, tt.most+4, "and those that were begun")
				assert.NotZero(t, outcomes, "that with which it ended has one")
				assert.Empty(t, srv.Names())
			})
		})
	}
}

// Over lines that break in every way, each DOI has one outcome, which is true: an error is
// temporary, and nothing was written unless it is unclear. The seed brings a schedule back.
func TestEnsureAllUnderRandomFaults(t *testing.T) {
	const taken = 2 // the first ones
	for seed := range uint64(*repairs) {
		onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
			for i := range taken {
				w := wantedItem(i)
				w.URL += "/of-somebody-else"
				_, err := srv.Reconcile().Ensure(t.Context(), w, nil)
				require.NoError(t, err)
			}
			r := rand.New(rand.NewPCG(seed, 9))
			srv.SetFaults(datacitetest.Schedule(seed, r.Float64()))
			refused := errors.New("taken")
			opts := &reconcile.Options{Workers: 1 + r.IntN(3), Rounds: 1 + r.IntN(4),
				BeforeWrite: func(_ context.Context, e *reconcile.Outcome) error {
					if e.Found != nil {
						return refused
					}
					return nil
				}}
			fates := map[string]error{}
			for e, err := range clientOf(t, srv, datacitetest.Password, srv.HTTPClient().Transport).EnsureAll(t.Context(),
				wantedItems(6), opts) {
				require.NoError(t, err)
				require.NotContains(t, fates, e.Desired.DOI)
				fates[e.Desired.DOI] = e.Err
			}
			srv.SetFaults(nil)
			time.Sleep(time.Minute) // the service goes on with what it was sent
			require.Len(t, fates, 6)
			for i := range 6 {
				name := wantedItem(i).DOI
				switch err := fates[name]; {
				case i < taken:
					assert.True(t, errors.Is(err, refused) || datacite.Temporary(err), "seed %d: %v", seed, err)
					r, err := srv.DOIs().Get(t.Context(), name, nil)
					require.NoError(t, err)
					assert.Equal(t, wantedItem(i).URL+"/of-somebody-else", r.URL)
				case err == nil:
					assert.Equal(t, string(datacite.StateFindable), string(srv.State(name)), "seed %d", seed)
				default:
					assert.True(t, datacite.Temporary(err), "seed %d: %v", seed, err)
					assert.True(t, srv.State(name) == "" || errors.Is(err, datacite.ErrUnclear), "seed %d: %v", seed, err)
				}
			}
			stop := r.IntN(6)
			for _, err := range srv.Reconcile().EnsureAll(t.Context(), wantedItems(6), nil) {
				require.NoError(t, err)
				if stop--; stop < 0 {
					break
				}
			}
			synctest.Wait() // the service goes on with the requests that were under way
			for e, err := range srv.Reconcile().EnsureAll(t.Context(), wantedItems(6), nil) {
				require.NoError(t, err)
				require.NoError(t, e.Err, "seed %d: every run after it converges", seed)
			}
			assert.Len(t, srv.Names(), 6)
		})
	}
}

// DOIs of others that the account does not see, and one that is removed between look and write, do not stop the others.
func TestDOIsOfOthers(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		unseen := wantedItem(5).DOI
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":%q,"state":"draft","client":"other.repo"}`, unseen)))
		for _, i := range []int{0, 1, 2, 7} {
			require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
				`{"doi":%q,"state":"findable","url":"https://theirs.example/","client":"other.repo"}`, wantedItem(i).DOI)))
		}
		removed := wantedItem(4).DOI
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":%q,"state":"draft"}`, removed)))
		c := clientOf(t, srv, datacitetest.Password, tripper(func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodPut && strings.HasSuffix(req.URL.Path, removed) {
				return &http.Response{StatusCode: 404, Request: req, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(strings.NewReader(
						`{"errors":[{"status":"404","title":"The resource you are looking for doesn't exist."}]}`))}, nil
			}
			return srv.HTTPClient().Transport.RoundTrip(req)
		}))
		refused := 0
		for e, err := range c.EnsureAll(t.Context(), wantedItems(20), nil) {
			require.NoError(t, err)
			if e.Desired.DOI == removed {
				require.ErrorIs(t, e.Err, datacite.ErrNotFound)
			} else if e.Desired.DOI == unseen {
				require.ErrorIs(t, e.Err, datacite.ErrConflict)
				require.ErrorContains(t, e.Err, "the DOI exists, and the account does not see it")
			} else if e.Err != nil {
				require.ErrorIs(t, e.Err, datacite.ErrForbidden)
				require.ErrorContains(t, e.Err, "belongs to another account")
				refused++
			}
		}
		assert.Equal(t, 4, refused)
	})
}

func TestEnsureAllEndsWithAnError(t *testing.T) {
	newServer := func() *datacitetest.Server { return datacitetest.NewServer(&datacitetest.Options{NoPort: true}) }
	t.Run("what cannot be asked", func(t *testing.T) {
		srv := newServer()
		items := func(n int) iter.Seq2[reconcile.Desired, error] { return wantedItems(n) }
		for _, tt := range []struct {
			all  iter.Seq2[reconcile.Desired, error]
			opts reconcile.Options
			path string
		}{
			{nil, reconcile.Options{}, "desired"}, {reconcile.Corrections(nil), reconcile.Options{}, "diffs"},
			{items(1), reconcile.Options{Workers: -1}, "Options"}, {items(1), reconcile.Options{Rounds: -1}, "Options"},
			{items(1), reconcile.Options{Pause: -1}, "Options"},
		} {
			n := 0
			for o, err := range srv.Reconcile().EnsureAll(t.Context(), tt.all, &tt.opts) {
				n++
				assert.Nil(t, o)
				require.ErrorIs(t, err, datacite.ErrInvalid)
				assert.Equal(t, tt.path, datacite.Findings(err)[0].Path)
			}
			assert.Equal(t, 1, n)
		}
		assert.Empty(t, srv.Requests())
		_, err := reconcile.NewClient(datacite.Config{})
		require.Error(t, err)
	})
	t.Run("a login that is not accepted", func(t *testing.T) {
		onEach(t, func(t *testing.T, srv *datacitetest.Server) {
			outcomes := 0
			var end error
			for e, err := range clientOf(t, srv, "wrong", srv.HTTPClient().Transport).EnsureAll(t.Context(), wantedItems(1000),
				nil) {
				if end = err; err == nil {
					outcomes++
				} else {
					assert.Nil(t, e)
				}
			}
			require.ErrorIs(t, end, datacite.ErrUnauthorized)
			assert.Less(t, outcomes, 1000, "the rest was not tried")
			assert.Equal(t, 1, writes(srv), "by one worker, and not by the others")
			assert.Empty(t, srv.Names())
		})
	})
	t.Run("a source that fails", func(t *testing.T) {
		srv, lost := newServer(), errors.New("database gone")
		items := func(yield func(reconcile.Desired, error) bool) {
			_ = yield(wantedItem(0), nil) && yield(wantedItem(1), nil) && yield(reconcile.Desired{}, lost)
		}
		outcomes := 0
		var end error
		for _, err := range srv.Reconcile().EnsureAll(t.Context(), items, nil) {
			if end = err; err == nil {
				outcomes++
			}
		}
		require.ErrorIs(t, end, lost)
		assert.Equal(t, 2, outcomes, "what came before is finished")
	})
	// Requests that fail until the context ends: at a time, or after a number of them.
	for name, after := range map[string]int{"the context ends while DOIs wait": 0,
		"the context ends within the second round": 7} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := newServer()
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
				if after == 0 {
					ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
				}
				defer cancel()
				sent := 0
				c := clientOf(t, srv, datacitetest.Password, tripper(func(req *http.Request) (*http.Response, error) {
					if sent++; sent == after {
						cancel()
					}
					return &http.Response{StatusCode: 500, Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
				}))
				outcomes := map[string]bool{}
				var end error
				var last reconcile.EnsureProgress
				for e, err := range c.EnsureAll(ctx, wantedItems(5),
					&reconcile.Options{Workers: 1, Progress: func(p reconcile.EnsureProgress) { last = p }}) {
					if end = err; err == nil {
						require.Error(t, e.Err)
						outcomes[e.Desired.DOI] = true
					}
				}
				require.ErrorIs(t, end, ctx.Err())
				assert.Len(t, outcomes, 5, "none is lost silently")
				last.Err = nil
				assert.Equal(t, reconcile.EnsureProgress{Failed: 5}, last, "and none waits any more")
			})
		})
	}
}

// What is refused for good holds nobody up, whatever the response says.
func TestARefusalIsNotWaitedFor(t *testing.T) {
	onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
		srv.SetFaults(datacitetest.Faults(func(int, *http.Request) *datacitetest.Fault {
			return &datacitetest.Fault{Status: 422, RetryAfter: time.Minute}
		}).When(datacitetest.Writes))
		begun := time.Now()
		for o, err := range srv.Reconcile().EnsureAll(t.Context(), wantedItems(10), nil) {
			require.NoError(t, err)
			require.ErrorIs(t, o.Err, datacite.ErrInvalid)
		}
		assert.Zero(t, time.Since(begun))
	})
}

// A DOI that waits for the first of its prefix ends with the context.
func TestTheContextEndsBeforeTheFirstOfAPrefixIsCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		c := clientOf(t, srv, datacitetest.Password, tripper(func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodPost {
				asked++
				time.Sleep(time.Second)
				cancel()
				time.Sleep(time.Second) // it takes no notice
			}
			return srv.HTTPClient().Transport.RoundTrip(req)
		}))
		var end error
		for o, err := range c.EnsureAll(ctx, wantedItems(2), nil) {
			if end = err; o != nil {
				require.ErrorIs(t, o.Err, context.Canceled)
			}
		}
		require.ErrorIs(t, end, context.Canceled)
		assert.Equal(t, 1, asked)
	})
}

// The error of the last try matches that of an earlier one which may have had its effect.
func TestTheOutcomeTellsWhatAnEarlierTryLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
		isLost := false
		c := clientOf(t, srv, datacitetest.Password, tripper(func(req *http.Request) (*http.Response, error) {
			if isLost = isLost || req.Method == http.MethodPost; isLost {
				return nil, errors.New("the line is cut")
			}
			return srv.HTTPClient().Transport.RoundTrip(req)
		}))
		for e, err := range c.EnsureAll(t.Context(), wantedItems(1), &reconcile.Options{Rounds: 2}) {
			require.NoError(t, err)
			assert.Equal(t, 2, e.Attempts)
			require.ErrorIs(t, e.Err, datacite.ErrUnclear)
			assert.True(t, datacite.Temporary(e.Err))
		}
	})
}

func BenchmarkEnsureAll(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
		for e, err := range srv.Reconcile().EnsureAll(b.Context(), wantedItems(100), nil) {
			if err != nil || e.Err != nil {
				b.Fatal(err, e.Err)
			}
		}
	}
}

package reconcile_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
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

var audited = flag.Int("audited", 300, "records of the long tests of an audit")

// A holding is what a repository wants to have, by DOI.
type holding map[string]reconcile.Desired

// newHolding has n DOIs with metadata.
func newHolding(n int) holding {
	h := holding{}
	for i := range n {
		name := fmt.Sprintf("10.5072/h%06d", i)
		rec := complete(fmt.Sprintf("Title %d", i))
		h[name] = reconcile.Desired{DOI: name, URL: fmt.Sprintf("https://example.org/%d", i), State: datacite.StateFindable,
			Metadata: &rec, Whole: true}
	}
	return h
}

// all comes in the order of maps, which is random.
func (h holding) all() iter.Seq2[reconcile.Desired, error] {
	return func(yield func(reconcile.Desired, error) bool) {
		for _, w := range h {
			if !yield(w, nil) {
				return
			}
		}
	}
}

// put stores what is wanted at the service, past its interfaces.
func (h holding) put(t testing.TB, srv *datacitetest.Server) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(h)) {
		w := h[name]
		rec := dois.Record{Record: *w.Metadata, URL: w.URL, State: w.State}
		rec.DOI = w.DOI
		require.NoError(t, srv.PutRecord(&rec))
	}
}

// write registers what is wanted.
func (h holding) write(t testing.TB, srv *datacitetest.Server) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(h)) {
		w := h[name]
		_, err := srv.DOIs().Create(t.Context(),
			&dois.Draft{DOI: w.DOI, URL: w.URL, Event: dois.EventPublish, Record: *w.Metadata})
		require.NoError(t, err)
	}
}

// damage stores what is wanted, with n of the DOIs different, in every way there is, and returns the
// kinds by DOI.
func (h holding) damage(t testing.TB, srv *datacitetest.Server, n int) map[string][]reconcile.DifferenceKind {
	t.Helper()
	h.put(t, srv)
	kinds := map[string][]reconcile.DifferenceKind{}
	names := slices.Sorted(maps.Keys(h))
	for i := range n {
		name := names[i*len(names)/n]
		w := h[name]
		rec := dois.Record{Record: *w.Metadata, URL: w.URL, State: w.State}
		rec.DOI = name
		kinds[name] = []reconcile.DifferenceKind{reconcile.KindChanged}
		switch i % 8 {
		case 0:
			kinds[name] = []reconcile.DifferenceKind{reconcile.KindMissing}
			require.NoError(t, srv.PutRecord(&dois.Record{Record: metadata.Record{DOI: name}, State: datacite.StateDraft}))
			require.NoError(t, srv.DOIs().Delete(t.Context(), name))
			continue
		case 1:
			rec.URL = "https://moved.example.org/"
		case 2:
			rec.State = datacite.StateRegistered
		case 3:
			rec.Titles = []metadata.Title{{Title: "Another title"}}
		case 4:
			rec.State = datacite.StateDraft
		case 5:
			rec.Subjects, rec.Version = []metadata.Subject{{Subject: "unwanted"}}, "1"
			rec.AlternateIdentifiers = []metadata.AlternateIdentifier{
				{AlternateIdentifier: "A 1", AlternateIdentifierType: "local"}}
		case 6:
			kinds[name] = []reconcile.DifferenceKind{reconcile.KindChanged, reconcile.KindInvalid}
			rec.Titles = nil
		case 7:
			kinds[name] = []reconcile.DifferenceKind{reconcile.KindOldSchema}
			rec.SchemaVersion = "http://datacite.org/schema/kernel-3"
		}
		require.NoError(t, srv.PutRecord(&rec))
	}
	return kinds
}

// plant does the same, and stores some that nobody wants.
func (h holding) plant(t testing.TB, srv *datacitetest.Server, n int) map[string][]reconcile.DifferenceKind {
	t.Helper()
	kinds := h.damage(t, srv, n)
	for i := range n / 8 {
		extra := fmt.Sprintf("10.5072/extra-%d", i)
		kinds[extra] = []reconcile.DifferenceKind{reconcile.KindExtra}
		require.NoError(t, srv.PutRecord(&dois.Record{Record: metadata.Record{DOI: extra}, State: datacite.StateDraft}))
	}
	return kinds
}

// differ collects the kinds of an audit by DOI.
func differ(t testing.TB, diffs iter.Seq2[*reconcile.Difference, error]) map[string][]reconcile.DifferenceKind {
	t.Helper()
	kinds := map[string][]reconcile.DifferenceKind{}
	for d, err := range diffs {
		require.NoError(t, err)
		kinds[d.DOI] = append(kinds[d.DOI], d.Kind)
	}
	for _, list := range kinds {
		slices.Sort(list)
	}
	return kinds
}

func TestAuditFindsWhatWasPlanted(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		n := max(1010, *audited)
		h := newHolding(n)
		planted := h.plant(t, srv, 80)
		before := len(srv.Requests())
		var seen []reconcile.AuditProgress
		opts := &reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}, Progress: func(p reconcile.AuditProgress) {
			seen = append(seen, p)
		}}
		assert.Equal(t, planted, differ(t, srv.Reconcile().Audit(t.Context(), h.all(), opts)))
		requests := srv.Requests()[before:]
		assert.LessOrEqual(t, len(requests), n/1000+2+len(planted))
		for _, r := range requests {
			assert.Equal(t, "GET", r.Method)
		}
		assert.Len(t, seen, n/1000+n/1000+(n+10)/1000+100+1, "after each thousandth entry, each difference, and at the end")
		assert.Equal(t, reconcile.AuditProgress{Desired: 1000, Total: -1}, seen[0])
		last := seen[len(seen)-1]
		assert.Equal(t, reconcile.AuditProgress{Desired: n, Found: n, Total: n, Compared: n + 10, Differences: 100}, last)
	})
}

func TestAuditTellsWhatDiffers(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		h := newHolding(3)
		h.put(t, srv)
		w := h["10.5072/h000001"]
		changed := complete("Title one")
		w.URL, w.State, w.Metadata = "https://example.org/new", datacite.StateRegistered, &changed
		h["10.5072/h000001"] = w
		h["missing"] = reconcile.Desired{DOI: "https://doi.org/10.5072/MISSING"}
		h["invalid"] = reconcile.Desired{DOI: "10.5072/invalid"}
		require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/invalid","state":"findable","url":"https://example.org/",`+
			`"creators":[{"name":"A"}],"titles":[{"title":"T"}],"publisher":{"name":"P"},"publicationYear":2020,`+
			`"types":{"resourceTypeGeneral":"Film"}}`)))
		h["unsaid"] = reconcile.Desired{DOI: "doi:10.5072/H000002"}
		delete(h, "10.5072/h000002")
		var found []string
		for d, err := range srv.Reconcile().Audit(t.Context(), h.all(),
			&reconcile.AuditOptions{ClientID: []string{strings.ToLower(datacitetest.Username)}}) {
			require.NoError(t, err)
			found = append(found, d.String())
		}
		assert.Equal(t, []string{
			"10.5072/h000001: changed\n" +
				"\turl: \"https://example.org/new\" is wanted, and \"https://example.org/1\" was found\n" +
				"\tstate: \"registered\" is wanted, and \"findable\" was found\n" +
				"\ttitles[0].title: \"Title one\" is wanted, and \"Title 1\" was found",
			"10.5072/invalid: invalid\n\ttypes.resourceTypeGeneral: the schema has no general resource type \"Film\"; " +
				"did you mean Audiovisual?",
			"10.5072/missing: missing",
		}, found)
	})
}

// The service shows a URL once, and not among the other names too.
func TestAuditOfAURLAmongTheNames(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		h := newHolding(1)
		w := h["10.5072/h000000"]
		w.Metadata.AlternateIdentifiers = []metadata.AlternateIdentifier{
			{AlternateIdentifier: w.URL, AlternateIdentifierType: "URL"},
			{AlternateIdentifier: "A 1", AlternateIdentifierType: "local"},
		}
		h.write(t, srv)
		assert.Empty(t, differ(t, srv.Reconcile().Audit(t.Context(), h.all(),
			&reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}})))
	})
}

// A page of the list is older than the records, and nothing is invented.
func TestAuditLooksBeforeItTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true,
			IndexLag: time.Hour})
		h := newHolding(20)
		h.write(t, srv)
		srv.Advance(2 * time.Hour)
		ctx, c := t.Context(), srv.Reconcile()
		for i := range 5 { // written a moment ago, so that the list has the old ones
			name := fmt.Sprintf("10.5072/h%06d", i)
			w := h[name]
			w.URL = "https://example.org/moved"
			h[name] = w
			_, err := srv.DOIs().Update(ctx, name, &dois.Draft{URL: w.URL})
			require.NoError(t, err)
		}
		made := complete("Made")
		_, err := srv.DOIs().Create(ctx, &dois.Draft{DOI: "10.5072/made", Record: made})
		require.NoError(t, err)
		h["made"] = reconcile.Desired{DOI: "10.5072/made", State: datacite.StateDraft, Metadata: &made}
		assert.Empty(t, differ(t, c.Audit(ctx, h.all(), &reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}})))
		delete(h, "made")
		assert.Empty(t, differ(t, c.Audit(ctx, h.all(), &reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}})),
			"the list does not have it yet")
		srv.Advance(2 * time.Hour)
		assert.Equal(t, map[string][]reconcile.DifferenceKind{"10.5072/made": {reconcile.KindExtra}},
			differ(t, c.Audit(ctx, h.all(), &reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}})))
	})
}

// TestAuditOverBadLines finds all and invents nothing, or says that it could not.
func TestAuditOverBadLines(t *testing.T) {
	whole := 0
	for seed := range uint64(*repairs) {
		for _, b := range behaviours {
			t.Run(fmt.Sprintf("%d/%s", seed, b), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var bad atomic.Bool
					faults := datacitetest.Schedule(seed, float64(seed%10)/10).When(func(*http.Request) bool { return bad.Load() })
					srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: b, NoPort: true, Faults: faults})
					h := newHolding(60)
					planted := h.plant(t, srv, 16)
					bad.Store(true)
					found := map[string][]reconcile.DifferenceKind{}
					var end error
					for d, err := range srv.Reconcile().Audit(t.Context(), h.all(),
						&reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}}) {
						if end = err; err == nil {
							found[d.DOI] = append(found[d.DOI], d.Kind)
						}
					}
					time.Sleep(time.Minute) // until the service has sent its last response
					if end == nil {
						whole++
						assert.Equal(t, planted, found)
						return
					}
					for name, kinds := range found { // it may break off between two of one DOI
						assert.Equal(t, planted[name][:len(kinds)], kinds)
					}
				})
			})
		}
	}
	assert.Greater(t, whole, *repairs/3)
}

func TestAuditOfSomeKinds(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		h := newHolding(30)
		planted := h.plant(t, srv, 16)
		opts := &reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix},
			Kinds: []reconcile.DifferenceKind{reconcile.KindMissing, reconcile.KindExtra, reconcile.KindOldSchema}}
		changed := &reconcile.AuditOptions{Prefix: opts.Prefix, Kinds: []reconcile.DifferenceKind{reconcile.KindChanged}}
		before := len(srv.Requests())
		found := differ(t, srv.Reconcile().Audit(t.Context(), h.all(), changed))
		assert.Len(t, srv.Requests(), before+1+len(found), "what is as wanted is seen in the list")
		for name, w := range h {
			w.Metadata = nil
			h[name] = w
		}
		maps.DeleteFunc(planted, func(_ string, kinds []reconcile.DifferenceKind) bool {
			return kinds[0] == reconcile.KindChanged
		})
		before = len(srv.Requests())
		assert.Equal(t, planted, differ(t, srv.Reconcile().Audit(t.Context(), h.all(), opts)))
		assert.Contains(t, srv.Requests()[before].URL.RawQuery, "fields", "no metadata are asked for")
		for _, kinds := range planted {
			assert.NotEqual(t, reconcile.KindInvalid, kinds[0])
		}
	})
}

// DOIs that are not wanted are reported as they are listed, or read one by one. Whoever counts
// something in what is listed sees whole records, whatever is compared.
func TestAuditOfExtras(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		h := newHolding(20)
		h.put(t, srv)
		for _, read := range []bool{false, true} {
			before, names := len(srv.Requests()), []string{}
			opts := &reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix},
				Kinds: []reconcile.DifferenceKind{reconcile.KindExtra}, ReadExtra: read, Listed: func(r *dois.Record) {
					names = append(names, r.DOI)
					assert.Equal(t, h[r.DOI].Metadata.Creators, r.Creators)
					assert.Equal(t, h[r.DOI].Metadata.Publisher.Name, r.Publisher.Name)
				}}
			for d, err := range srv.Reconcile().Audit(t.Context(), holding{}.all(), opts) {
				require.NoError(t, err)
				assert.Equal(t, h[d.DOI].URL, d.Found.URL)
				assert.Equal(t, h[d.DOI].State, d.Found.State)
				assert.Equal(t, h[d.DOI].Metadata.Titles, d.Found.Titles)
			}
			assert.ElementsMatch(t, slices.Collect(maps.Keys(h)), names)
			assert.Equal(t, map[bool]int{false: 1, true: 21}[read], len(srv.Requests())-before)
		}
	})
}

// A record that moves while the list is read may be on two of its pages.
func TestAuditOfAMovingRecord(t *testing.T) {
	service := &listing{n: 3500, moved: 3000}
	diffs := differ(t, service.client(t).Audit(t.Context(), holding{}.all(),
		&reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}}))
	assert.Len(t, diffs, 3500)
	assert.Equal(t, []reconcile.DifferenceKind{reconcile.KindExtra, reconcile.KindInvalid}, diffs[recordName(1999)])
}

// A source that says only a part is completed, and then only that part is compared and
// repaired.
func TestAuditOfAPart(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		h := newHolding(20)
		h.put(t, srv)
		whole := newHolding(20)
		for name, w := range h {
			w.Metadata, w.Whole, w.URL = &metadata.Record{Titles: w.Metadata.Titles}, false, "adapted"
			if name == "10.5072/h000007" {
				w.Metadata = &metadata.Record{Titles: []metadata.Title{{Title: "New"}}}
			}
			h[name] = w
		}
		opts := &reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix},
			Adapt: func(w *reconcile.Desired, found *dois.Record) error {
				w.URL = found.URL
				return nil
			}}
		before := len(srv.Requests())
		assert.Equal(t, map[string][]reconcile.DifferenceKind{"10.5072/h000007": {reconcile.KindChanged}},
			differ(t, srv.Reconcile().Audit(t.Context(), h.all(), opts)))
		assert.Equal(t, 2, len(srv.Requests())-before)
		// If the source says nothing of metadata, none are listed: a DOI of which an Adapter says some is read.
		urls := holding{}
		for name := range h {
			urls[name] = reconcile.Desired{DOI: name, URL: whole[name].URL}
		}
		before = len(srv.Requests())
		brief := &reconcile.AuditOptions{Prefix: opts.Prefix, Kinds: []reconcile.DifferenceKind{reconcile.KindChanged},
			Adapt: func(d *reconcile.Desired, _ *dois.Record) error {
				switch d.DOI {
				case "10.5072/h000007":
					d.Metadata = h[d.DOI].Metadata
				case "10.5072/h000008":
					d.Clear = []string{"version"}
				}
				return nil
			}}
		assert.Equal(t, map[string][]reconcile.DifferenceKind{"10.5072/h000007": {reconcile.KindChanged}},
			differ(t, srv.Reconcile().Audit(t.Context(), urls.all(), brief)))
		assert.Equal(t, 3, len(srv.Requests())-before)
		for r, err := range srv.Reconcile().EnsureAll(t.Context(),
			reconcile.Corrections(srv.Reconcile().Audit(t.Context(), h.all(), opts)), &reconcile.Options{Adapt: opts.Adapt}) {
			require.NoError(t, err)
			require.NoError(t, r.Err)
		}
		whole["10.5072/h000007"].Metadata.Titles[0].Title = "New"
		assert.Empty(t, differ(t, srv.Reconcile().Audit(t.Context(), whole.all(),
			&reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}})), "the rest is as it was")
	})
}

func TestAuditEndsWithAnError(t *testing.T) {
	lost := errors.New("database gone")
	source := func(wanted ...reconcile.Desired) iter.Seq2[reconcile.Desired, error] {
		return func(yield func(reconcile.Desired, error) bool) {
			for _, w := range wanted {
				var err error
				if w.DOI == "" {
					err = lost
				}
				if !yield(w, err) {
					return
				}
			}
		}
	}
	scope := &reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}}
	for name, tt := range map[string]struct {
		wanted iter.Seq2[reconcile.Desired, error]
		opts   *reconcile.AuditOptions
		faults datacitetest.Faults
		is     error
		says   string
	}{
		"no scope": {source(), nil, nil, datacite.ErrInvalid, "AuditOptions: has neither ClientID nor Prefix"},
		"no prefix": {source(), &reconcile.AuditOptions{Prefix: []string{"hello"}}, nil, datacite.ErrInvalid,
			"is not a prefix"},
		"no kind": {source(),
			&reconcile.AuditOptions{Prefix: []string{"10.5072"},
				Kinds: []reconcile.DifferenceKind{"mising"}}, nil, datacite.ErrInvalid, "not a kind of difference"},
		"no kinds": {source(),
			&reconcile.AuditOptions{Prefix: []string{"10.5072"}, Kinds: []reconcile.DifferenceKind{}}, nil, datacite.ErrInvalid,
			"AuditOptions.Kinds: is empty"},
		"no DOI": {source(reconcile.Desired{DOI: "10.5072/a"}, reconcile.Desired{DOI: "hello"}), scope, nil,
			datacite.ErrInvalidDOI, "desired[1].DOI"},
		"a DOI twice": {source(reconcile.Desired{DOI: "10.5072/a"}, reconcile.Desired{DOI: "10.5072/b"},
			reconcile.Desired{DOI: "doi:10.5072/A"}), scope, nil, datacite.ErrInvalid, `desired[2].DOI: "10.5072/a" is ` +
			`desired twice, also by desired[0]`},
		"a DOI twice, by place": {source(reconcile.Desired{DOI: "10.5072/a", Place: "line 2"},
			reconcile.Desired{DOI: "10.5072/A",
				Place: "line 9"}), scope, nil, datacite.ErrInvalid, `datacite: line 9, DOI: "10.5072/a" is desired twice, also ` +
			`by line 2`},
		"no state": {source(reconcile.Desired{DOI: "10.5072/a", State: datacite.StateDraft},
			reconcile.Desired{DOI: "10.5072/b",
				State: "public"}), scope, nil, datacite.ErrInvalid, `datacite: desired[1].State: is "public"; the states are ` +
			`draft, registered and findable`},
		"a state in capitals": {source(reconcile.Desired{DOI: "10.5072/b", State: "Findable", Place: "line 7"}), scope, nil,
			datacite.ErrInvalid, `datacite: line 7, State: is "Findable"`},
		"metadata of another": {source(reconcile.Desired{DOI: "10.5072/a", Metadata: &metadata.Record{DOI: "10.5072/b"}}),
			scope, nil, datacite.ErrInvalid, "desired[0].DOI"},
		"no source": {nil, scope, nil, datacite.ErrInvalid, "desired: is nil"},
		"no property": {source(reconcile.Desired{DOI: "10.5072/a", Clear: []string{"titels"}}), scope, nil,
			datacite.ErrInvalid, `desired[0].Clear: has "titels"; the properties are creators, titles, `},
		"a property with a value that is removed": {source(reconcile.Desired{DOI: "10.5072/a", Clear: []string{"version"},
			Metadata: &metadata.Record{Version: "1"}}), scope, nil, datacite.ErrInvalid, "desired[0].Clear: removes version"},
		"XML and Clear": {source(reconcile.Desired{DOI: "10.5072/a", XML: []byte(xmlRecord), Clear: []string{"version"}}),
			scope, nil, datacite.ErrInvalid, "desired[0].XML: is the whole record"},
		"XML and Whole": {source(reconcile.Desired{DOI: "10.5072/a", XML: []byte(xmlRecord), Whole: true}), scope,
			nil, datacite.ErrInvalid, "desired[0].XML: is the whole record"},
		"the source": {source(reconcile.Desired{DOI: "10.5072/a"}, reconcile.Desired{}), scope, nil, lost, ""},
		"no temporary file": {newHolding(8000).all(),
			&reconcile.AuditOptions{Prefix: []string{"10.5072"}, TempDir: "/nonexistent"}, nil, os.ErrNotExist, ""},
		"the list": {source(), scope, func(int, *http.Request) *datacitetest.Fault {
			return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: 500}
		}, datacite.ErrServer, ""},
		"a record looked up": {source(reconcile.Desired{DOI: "10.5072/a"}),
			&reconcile.AuditOptions{Prefix: []string{"10.5072"}, AllowEmpty: true}, onlySingle, datacite.ErrServer, ""},
		"nothing is listed, before any is looked up": {newHolding(8000).all(),
			&reconcile.AuditOptions{ClientID: []string{"exmple.repo"},
				Prefix: []string{"10.5072"}}, onlySingle, reconcile.ErrNothingListed, "the service lists no DOI of exmple.repo, " +
				"10.5072; is the name right?"},
		"a list that is cut": {source(), scope, func(int, *http.Request) *datacitetest.Fault {
			return &datacitetest.Fault{Kind: datacitetest.FaultCutResponse}
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true,
					Faults: tt.faults})
				var end error
				n := 0
				for d, err := range srv.Reconcile().Audit(t.Context(), tt.wanted, tt.opts) {
					require.NoError(t, end, "the error is the last")
					if end = err; err != nil {
						assert.Nil(t, d)
					}
					n++
				}
				require.Error(t, end)
				if tt.is != nil {
					require.ErrorIs(t, end, tt.is)
				}
				assert.ErrorContains(t, end, tt.says)
				if strings.HasPrefix(name, "a DOI twice") {
					assert.EqualValues(t, "repeated", datacite.Findings(end)[0].Code)
					assert.NotErrorIs(t, end, datacite.ErrInvalidDOI, "each of them is a DOI")
				}
			})
		})
	}
	t.Run("the context", func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
		newHolding(20).put(t, srv)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for _, err := range srv.Reconcile().Audit(ctx, holding{}.all(), scope) {
			if n++; n == 3 {
				cancel()
			}
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
			}
		}
		assert.Equal(t, 4, n)
	})
}

// onlySingle fails requests for a single record.
func onlySingle(_ int, r *http.Request) *datacitetest.Fault {
	if r.URL.Path == "/dois" {
		return nil
	}
	return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: http.StatusInternalServerError}
}

// TestAuditOnAllProcessors judges several DOIs at once, in their order all the same. However the audit
// ends, its goroutines have ended, which testing/synctest sees to.
func TestAuditOnAllProcessors(t *testing.T) {
	const n = 1000
	for name, tt := range map[string]struct {
		adapt reconcile.Adapter
		left  int // after how many differences the loop is left
		want  int // differences
		says  string
	}{
		"all":  {want: n},
		"left": {left: 3, want: 3},
		"an error": {adapt: func(d *reconcile.Desired, _ *dois.Record) error {
			return fmt.Errorf("not %s", d.DOI)
		}, says: "not " + recordName(0)},
		"no context": {want: 7, says: context.Canceled.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var together sync.WaitGroup
				together.Add(2)
				opts := &reconcile.AuditOptions{Prefix: []string{"10.5072"},
					Kinds: []reconcile.DifferenceKind{reconcile.KindChanged}, Adapt: tt.adapt}
				if tt.adapt == nil {
					var once sync.Map
					opts.Adapt = func(d *reconcile.Desired, _ *dois.Record) error {
						if _, again := once.LoadOrStore(d.DOI, true); !again && (d.DOI == recordName(0) || d.DOI == recordName(16)) {
							together.Done()
							together.Wait()
						}
						return nil
					}
				}
				desired := func(yield func(reconcile.Desired, error) bool) {
					for i := range n {
						if !yield(reconcile.Desired{DOI: recordName(n - 1 - i), URL: "https://example.org/"}, nil) {
							return
						}
					}
				}
				var names []string
				var end error
				for d, err := range (&listing{n: n}).client(t).Audit(ctx, desired, opts) {
					if end = err; err != nil {
						break
					}
					if names = append(names, d.DOI); len(names) == tt.left {
						break
					}
					if name == "no context" && len(names) == tt.want {
						cancel()
					}
				}
				assert.Len(t, names, tt.want)
				assert.True(t, slices.IsSorted(names))
				if tt.says != "" {
					require.ErrorContains(t, end, tt.says)
				} else {
					require.NoError(t, end)
				}
			})
		})
	}
}

// TestAuditMemory wants an audit of many records to hold no more than 64 bytes a DOI.
// The service makes its pages as they are asked for.
func TestAuditMemory(t *testing.T) {
	if *audited < 100_000 {
		t.Skip("needs -audited 100000: what an audit holds of fewer is lost in what the test holds")
	}
	service := &listing{n: *audited}
	wanted := func(yield func(reconcile.Desired, error) bool) {
		for i := range *audited {
			rec := &metadata.Record{Titles: []metadata.Title{{Title: "Record"}}}
			if !yield(reconcile.Desired{DOI: recordName(*audited - 1 - i), Metadata: rec}, nil) {
				return
			}
		}
	}
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	dir, client := t.TempDir(), service.client(t)
	calls, before, most := 0, inUse(), uint64(0)
	opts := &reconcile.AuditOptions{
		Prefix: []string{datacitetest.Prefix}, TempDir: dir,
		Kinds: []reconcile.DifferenceKind{reconcile.KindMissing, reconcile.KindExtra, reconcile.KindChanged},
		Progress: func(reconcile.AuditProgress) {
			if calls++; calls%5 == 0 {
				most = max(most, inUse())
			}
		},
	}
	assert.Empty(t, differ(t, client.Audit(t.Context(), wanted, opts)))
	t.Logf("%d records: %d requests, %.1f bytes a DOI", *audited, service.asked,
		float64(most-min(most, before))/float64(*audited))
	assert.LessOrEqual(t, most, before+64*uint64(*audited))
	assert.LessOrEqual(t, service.asked, *audited/1000+2)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A record whose stored text is not UTF-8 differs; it does not end the audit.
func TestAuditOfTextsThatAreNotUTF8(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		h := newHolding(3)
		h.put(t, srv)
		line := tripper(func(r *http.Request) (*http.Response, error) {
			r.Header.Set("Accept-Encoding", "identity")
			res, err := srv.HTTPClient().Transport.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(res.Body)
			body = bytes.ReplaceAll(body, []byte("Title 1"), []byte("Title \xff"))
			res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			res.Header.Del("Content-Length")
			return res, err
		})
		var all []string
		for d, err := range clientOf(t, srv, datacitetest.Password, line).Audit(t.Context(), h.all(),
			&reconcile.AuditOptions{Prefix: []string{"10.5072"}}) {
			require.NoError(t, err)
			all = append(all, d.String())
		}
		assert.Len(t, all, 1)
		assert.Contains(t, strings.Join(all, "\n"), "\ufffd")
	})
}

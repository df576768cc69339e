package reconcile_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
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
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

var repairs = flag.Int("repairs", 8,
	"random fault schedules that audits, repairs and EnsureAll go through with each behaviour")

// upgrade is for all that an audit finds.
var upgrade = &reconcile.Options{Upgrade: true, Rounds: 1}

func (h holding) audit(ctx context.Context, c *reconcile.Client) iter.Seq2[*reconcile.Difference, error] {
	return c.Audit(ctx, h.all(), &reconcile.AuditOptions{Prefix: []string{datacitetest.Prefix}})
}

// mended runs a repair and counts what was done.
func mended(t testing.TB, all iter.Seq2[*reconcile.Outcome, error]) (changed, failed int) {
	t.Helper()
	for r, err := range all {
		require.NoError(t, err)
		switch {
		case r.Err != nil:
			failed++
			t.Log(r.Err)
		case r.Draft != nil && r.Record != nil:
			changed++
		}
	}
	return changed, failed
}

func TestRepair(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, c := t.Context(), srv.Reconcile()
		h := newHolding(50)
		planted := h.damage(t, srv, 40)

		before := len(srv.Requests())
		changed, failed := mended(t, c.EnsureAll(ctx, reconcile.Corrections(h.audit(ctx, c)),
			&reconcile.Options{DryRun: true, Upgrade: true}))
		assert.Zero(t, changed+failed)
		for _, r := range srv.Requests()[before:] {
			assert.Equal(t, "GET", r.Method, "a dry run writes nothing")
		}

		before = writes(srv)
		changed, failed = mended(t, c.EnsureAll(ctx, reconcile.Corrections(h.audit(ctx, c)), upgrade))
		assert.Equal(t, len(planted), changed)
		assert.Zero(t, failed)
		assert.Empty(t, differ(t, h.audit(ctx, c)), "what was repaired is right")
		assert.Equal(t, len(planted), writes(srv)-before, "a request for each DOI")
	})
}

// A source of XML is audited and repaired as XML.
func TestRepairOfXML(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		h := newHolding(3)
		h.write(t, srv)
		for name, w := range h {
			if name == "10.5072/h000001" {
				w.Metadata.Titles = []metadata.Title{{Title: "New"}}
			}
			w.Metadata.DOI = name
			h[name] = asXML(t, w)
		}
		changed, failed := mended(t, srv.Reconcile().EnsureAll(t.Context(),
			reconcile.Corrections(h.audit(t.Context(), srv.Reconcile())), nil))
		assert.Equal(t, []int{1, 0}, []int{changed, failed})
		assert.Empty(t, differ(t, h.audit(t.Context(), srv.Reconcile())))
	})
}

// writes counts the requests that write.
func writes(srv *datacitetest.Server) (n int) {
	for _, r := range srv.Requests() {
		if r.Method != "GET" {
			n++
		}
	}
	return n
}

func TestRepairWritesOnlyWhatDiffers(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, c := t.Context(), srv.Reconcile()
		h := newHolding(8)
		h.damage(t, srv, 8)
		sent := map[string]*dois.Draft{}
		for r, err := range c.EnsureAll(ctx, reconcile.Corrections(h.audit(ctx, c)),
			&reconcile.Options{DryRun: true, Upgrade: true}) {
			require.NoError(t, err)
			require.NoError(t, r.Err)
			sent[r.Desired.DOI] = r.Draft
		}
		made := dois.Draft{DOI: "10.5072/h000000", URL: "https://example.org/0", Event: dois.EventPublish,
			Record: complete("Title 0")}
		assert.Equal(t, map[string]*dois.Draft{
			"10.5072/h000000": &made,
			"10.5072/h000001": {URL: "https://example.org/1"},
			"10.5072/h000002": {Event: dois.EventPublish},
			"10.5072/h000003": {Record: metadata.Record{Titles: []metadata.Title{{Title: "Title 3"}}}},
			"10.5072/h000004": {Event: dois.EventPublish},
			"10.5072/h000005": {Clear: []string{"subjects", "alternateIdentifiers", "version"}},
			"10.5072/h000006": {Record: metadata.Record{Titles: []metadata.Title{{Title: "Title 6"}}}},
			"10.5072/h000007": {Record: metadata.Record{SchemaVersion: metadata.Namespace}},
		}, sent)
	})
}

// TestRepairLooksFirst changes DOIs between the audit and the repair.
func TestRepairLooksFirst(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, c := t.Context(), srv.Reconcile()
		h := newHolding(13)
		h.damage(t, srv, 13)
		var diffs []*reconcile.Difference
		for d, err := range h.audit(ctx, c) {
			require.NoError(t, err)
			diffs = append(diffs, d)
		}
		write := func(name string, d dois.Draft) {
			_, err := srv.DOIs().Update(ctx, name, &d)
			require.NoError(t, err)
		}
		write("10.5072/h000000", dois.Draft{URL: "https://example.org/elsewhere", Record: complete("Made by another")})
		write("10.5072/h000001", dois.Draft{URL: "https://example.org/1"})
		write("10.5072/h000003", dois.Draft{Record: metadata.Record{Titles: []metadata.Title{{Title: "Newer than all"}}}})
		require.NoError(t, srv.DOIs().Delete(ctx, "10.5072/h000004"), "a draft")
		write("10.5072/h000011", dois.Draft{URL: "https://example.org/newer"})
		write("10.5072/h000012", dois.Draft{URL: "https://example.org/newer"})
		errs := map[string]error{}
		for r, err := range c.EnsureAll(ctx, reconcile.Corrections(each(diffs)), upgrade) {
			require.NoError(t, err)
			errs[r.Desired.DOI] = r.Err
			assert.Equal(t, r.Err == nil && r.Desired.DOI != "10.5072/h000001", r.Draft != nil && r.Record != nil, r.Desired.DOI)
		}
		require.ErrorIs(t, errs["10.5072/h000000"], datacite.ErrConflict)
		require.NoError(t, errs["10.5072/h000001"], "somebody has repaired it")
		for _, name := range []string{"10.5072/h000003", "10.5072/h000004", "10.5072/h000011", "10.5072/h000012"} {
			require.ErrorIs(t, errs[name], datacite.ErrConflict, name)
		}
		left, err := srv.DOIs().Get(ctx, "10.5072/h000003", nil)
		require.NoError(t, err)
		assert.Equal(t, "Newer than all", left.Titles[0].Title)
		assert.Empty(t, srv.State("10.5072/h000004"), "what somebody removed stays away")
	})
}

// What is wanted may be XML alone, which is read first.
func TestRepairFromXML(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		for text, is := range map[string]error{xmlRecord: nil, "<resource>": datacite.ErrInvalid} {
			missing := []*reconcile.Difference{
				{DOI: "10.5072/xml", Kind: reconcile.KindMissing,
					Desired: &reconcile.Desired{DOI: "10.5072/xml", XML: []byte(text)}}}
			tried := 0
			for r, err := range srv.Reconcile().EnsureAll(t.Context(), reconcile.Corrections(each(missing)), nil) {
				require.NoError(t, err)
				require.ErrorIs(t, r.Err, is)
				assert.Equal(t, is == nil, r.Record != nil)
				tried++
			}
			assert.Equal(t, 1, tried)
		}
	})
}

// each yields the items of a list.
func each[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range list {
			if !yield(item, nil) {
				return
			}
		}
	}
}

func TestRepairThatCannotBe(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		ctx, c := t.Context(), srv.Reconcile()
		h := newHolding(4)
		h.write(t, srv)
		want := func(name string, change func(*reconcile.Desired)) {
			w := h[name]
			change(&w)
			h[name] = w
		}
		want("10.5072/h000000", func(w *reconcile.Desired) { w.State = datacite.StateDraft })
		want("10.5072/h000001", func(w *reconcile.Desired) { w.Metadata.Types.ResourceTypeGeneral = "Film" })
		delete(h, "10.5072/h000002")
		h["none"] = reconcile.Desired{DOI: "10.70000/none"}
		errs := map[string]error{}
		for r, err := range c.EnsureAll(ctx, reconcile.Corrections(h.audit(ctx, c)), upgrade) {
			require.NoError(t, err)
			assert.Nil(t, r.Record)
			errs[r.Desired.DOI] = r.Err
		}
		require.Len(t, errs, 3)
		require.ErrorIs(t, errs["10.5072/h000000"], reconcile.ErrNotAsDesired)
		require.ErrorIs(t, errs["10.5072/h000001"], datacite.ErrInvalid)
		require.ErrorIs(t, errs["10.70000/none"], datacite.ErrForbidden)
		assert.Equal(t, "findable", srv.State("10.5072/h000002"), "it is extra, and stays")
	})
}

func TestRepairEndsWithAnError(t *testing.T) {
	h := newHolding(30)
	t.Run("a login that is not accepted", func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
		h.damage(t, srv, 24)
		c, err := reconcile.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL},
			Username: datacitetest.Username, Password: "wrong", HTTPClient: srv.HTTPClient()})
		require.NoError(t, err)
		var end error
		for _, err := range c.EnsureAll(t.Context(), reconcile.Corrections(h.audit(t.Context(), srv.Reconcile())), nil) {
			end = err
		}
		require.ErrorIs(t, end, datacite.ErrUnauthorized)
	})
	t.Run("the audit", func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
		var end error
		for r, err := range srv.Reconcile().EnsureAll(t.Context(),
			reconcile.Corrections(srv.Reconcile().Audit(t.Context(), h.all(), nil)), nil) {
			assert.Nil(t, r)
			end = err
		}
		require.ErrorIs(t, end, datacite.ErrInvalid)
	})
}

// TestRepairConverges repairs over lines that break, and stops at any moment. Then a
// run over sound ones has to bring all to an end, and a third finds nothing.
func TestRepairConverges(t *testing.T) {
	for seed := range uint64(*repairs) {
		for _, b := range behaviours {
			t.Run(fmt.Sprintf("%d/%s", seed, b), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := rand.New(rand.NewPCG(seed, 9))
					var bad atomic.Bool
					faults := datacitetest.Schedule(seed, r.Float64()/2).When(func(*http.Request) bool { return bad.Load() })
					srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: b, NoPort: true, Faults: faults,
						IndexLag: time.Minute})
					h := newHolding(20)
					h.damage(t, srv, 16)
					srv.Advance(time.Minute)
					bad.Store(true)
					stop := r.IntN(30)
					ctx, cancel := context.WithCancel(t.Context())
					for r, err := range srv.Reconcile().EnsureAll(ctx, reconcile.Corrections(h.audit(ctx, srv.Reconcile())),
						&reconcile.Options{Rounds: 1, Upgrade: true, Workers: 1 + r.IntN(4)}) {
						if err == nil && r.Err != nil {
							assert.True(t, datacite.Temporary(r.Err) || errors.Is(r.Err, context.Canceled) ||
								errors.Is(r.Err, datacite.ErrConflict), r.Err)
						}
						if stop--; stop < 0 {
							cancel() // as if it were killed
						}
					}
					cancel()
					time.Sleep(time.Minute) // the service goes on with what it was sent
					bad.Store(false)
					_, failed := mended(t, srv.Reconcile().EnsureAll(t.Context(),
						reconcile.Corrections(h.audit(t.Context(), srv.Reconcile())), upgrade))
					assert.Zero(t, failed)
					assert.Empty(t, differ(t, h.audit(t.Context(), srv.Reconcile())))
					assert.Len(t, srv.Names(), 20)
				})
			})
		}
	}
}

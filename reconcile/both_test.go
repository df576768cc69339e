package reconcile_test

import (
	"bytes"
	"context"
	"errors"
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
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// registerOdd makes a record of which only the stored XML has all, and a correction that takes two writes. It
// returns what is stored before and after it.
func registerOdd(t *testing.T, srv *datacitetest.Server) (desired reconcile.Desired, before, after string) {
	_, err := srv.MDS().PutMetadata(t.Context(), "10.5072/odd", mds.XML([]byte(odd)))
	require.NoError(t, err)
	_, err = srv.MDS().PutURL(t.Context(), "10.5072/odd", "https://example.org/odd")
	require.NoError(t, err)
	before = storedXML(t, srv)
	return reconcile.Desired{DOI: "10.5072/odd",
		Clear: []string{"language"}}, before, strings.Replace(before, "\n  <d:language>en</d:language>", "", 1)
}

func storedXML(t *testing.T, srv *datacitetest.Server) string {
	r, err := srv.DOIs().Get(t.Context(), "10.5072/odd", &dois.GetOptions{Detail: true})
	require.NoError(t, err)
	return string(r.MetadataXML)
}

// failing makes writes fail, from the n-th to before the end-th.
func failing(n, end int, f datacitetest.Fault) datacitetest.Faults {
	written := 0
	return datacitetest.Faults(func(int, *http.Request) *datacitetest.Fault {
		if written++; written >= n && written < end {
			return &f
		}
		return nil
	}).When(datacitetest.Writes)
}

// Whatever fails between the two writes of a correction, the document is stored again, or the error has it.
func TestBothWritesOfACorrectionArrive(t *testing.T) {
	const attempts = 5 // of each write
	for name, tt := range map[string]struct {
		from, to int
		lost     bool // for good
	}{
		"the first once":        {1, 2, false},
		"the first for a look":  {1, 1 + attempts, false},
		"the second once":       {2, 3, false},
		"the second for a look": {2, 2 + attempts, false},
		"the second in a round": {2, 2 + 4*attempts, false},
		"the second for good":   {2, 1000, true},
	} {
		for _, fault := range []datacitetest.Fault{
			{Kind: datacitetest.FaultDropBefore}, {Kind: datacitetest.FaultDropAfter}, {Kind: datacitetest.FaultCutResponse},
			{Kind: datacitetest.FaultStatus, Status: 503}, {Kind: datacitetest.FaultStatusAfter, Status: 502},
		} {
			t.Run(name+", "+string(fault.Kind), func(t *testing.T) {
				onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
					desired, _, after := registerOdd(t, srv)
					srv.SetFaults(failing(tt.from, tt.to, fault))
					for o, err := range srv.Reconcile().EnsureAll(t.Context(), each([]reconcile.Desired{desired}), nil) {
						require.NoError(t, err)
						assert.Equal(t, reconcile.RoadBoth, o.Road)
						if carriedOut := fault.Kind != datacitetest.FaultDropBefore && fault.Kind != datacitetest.FaultStatus; !tt.lost ||
							carriedOut {
							require.NoError(t, o.Err)
							continue
						}
						require.ErrorIs(t, o.Err, reconcile.ErrHalfWritten)
						assert.True(t, datacite.Temporary(o.Err))
						assert.Equal(t, after, string(o.Then.MetadataXML))
						srv.SetFaults(nil)
						_, err = srv.DOIs().Update(t.Context(), desired.DOI, o.Then)
						require.NoError(t, err)
					}
					assert.Equal(t, after, storedXML(t, srv))
				})
			})
		}
	}
}

// Where the first of both writes leaves the XML as it is, what it changes tells whether it has arrived.
func TestTheFirstWriteOfACorrectionIsSentUntilItArrives(t *testing.T) {
	const attempts = 5
	places := []metadata.GeoLocation{{Polygons: metadata.Polygons{square(), square()}}}
	file := []string{"https://example.org/a.csv"}
	r := rich()
	r.DOI, r.Language, r.GeoLocations = "10.5072/rich", "", places
	document, err := r.XML()
	require.NoError(t, err)
	for name, desired := range map[string]reconcile.Desired{
		"attributes":  {ContentURL: file, Container: &dois.Container{}, Metadata: &metadata.Record{GeoLocations: places}},
		"a container": {Container: &dois.Container{}, Metadata: &metadata.Record{GeoLocations: places}},
		// which the XML no longer has, and the JSON keeps
		"a language":        {Clear: []string{"language"}, Metadata: &metadata.Record{GeoLocations: places}},
		"a language of XML": {XML: document},
	} {
		for _, kind := range []datacitetest.FaultKind{datacitetest.FaultDropBefore, datacitetest.FaultDropAfter} {
			for from := range 2 {
				t.Run(fmt.Sprint(name, kind, from), func(t *testing.T) {
					onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
						made, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: "10.5072/rich", URL: "https://example.org/",
							Event: dois.EventPublish, Record: rich(), Container: &dois.Container{Title: "Ice Notes", Type: "Series"}})
						require.NoError(t, err)
						if desired.Container == nil {
							_, err = srv.DOIs().Update(t.Context(), made.DOI, &dois.Draft{AllowOtherDOI: true,
								MetadataXML: bytes.Replace(made.MetadataXML, []byte("  <language>eng</language>\n"), nil, 1)})
							require.NoError(t, err)
						}
						before := writes(srv)
						srv.SetFaults(failing(1+from, 1+from+attempts, datacitetest.Fault{Kind: kind}))
						desired.DOI = made.DOI
						for o, err := range srv.Reconcile().EnsureAll(t.Context(), each([]reconcile.Desired{desired}),
							&reconcile.Options{AllowLoss: true}) {
							require.NoError(t, err)
							require.NoError(t, o.Err)
							assert.Equal(t, reconcile.RoadBoth, o.Road)
							assert.ElementsMatch(t, desired.ContentURL, o.Record.ContentURL)
							assert.Equal(t, desired.Container == nil, o.Record.Language == "")
							assert.Equal(t, desired.Container == nil, o.Record.Container.Title != "")
							assert.Equal(t, 2, strings.Count(string(o.Record.MetadataXML), "<geoLocationPolygon>"))
						}
						sent := 2 + attempts
						if kind == datacitetest.FaultDropAfter && (from == 0 || desired.Clear != nil) {
							sent-- // it has arrived
						}
						assert.Equal(t, sent, writes(srv)-before)
					})
				})
			}
		}
	}
}

// A context that ends between the writes, and a service that never takes the second.
func TestTheSecondWriteOutlastsTheContext(t *testing.T) {
	for name, tt := range map[string]struct {
		fails   int
		fault   datacitetest.Fault
		arrives bool
		first   bool // the context ends while the first write is under way
	}{"soon": {7, datacitetest.Fault{}, true, false}, "never": {1000, datacitetest.Fault{}, false, false},
		"in an hour": {1000, datacitetest.Fault{Kind: datacitetest.FaultDelay, Delay: time.Hour}, false, false},
		"at once":    {0, datacitetest.Fault{}, true, true}} {
		t.Run(name, func(t *testing.T) {
			onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
				desired, _, after := registerOdd(t, srv)
				ctx, cancel := context.WithCancelCause(t.Context())
				begun, written := time.Now(), 0
				srv.SetFaults(datacitetest.Faults(func(int, *http.Request) *datacitetest.Fault {
					if written++; written == 1 && !tt.first {
						return nil
					}
					cancel(errors.New("shutting down"))
					time.Sleep(time.Second)
					if written <= tt.fails {
						return &tt.fault
					}
					return nil
				}).When(datacitetest.Writes))
				o, err := srv.Reconcile().Ensure(ctx, desired, nil)
				assert.LessOrEqual(t, time.Since(begun), time.Minute)
				time.Sleep(tt.fault.Delay) // until the service has responded
				if tt.arrives {
					require.NoError(t, err)
					assert.Equal(t, after, storedXML(t, srv))
					return
				}
				require.ErrorIs(t, err, reconcile.ErrHalfWritten)
				require.NotNil(t, o)
				assert.Equal(t, after, string(o.Then.MetadataXML))
			})
		})
	}
	t.Run("before the first", func(t *testing.T) {
		onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
			desired, before, _ := registerOdd(t, srv)
			ctx, cancel := context.WithCancel(t.Context())
			_, err := srv.Reconcile().Ensure(ctx, desired,
				&reconcile.Options{BeforeWrite: func(context.Context, *reconcile.Outcome) error { cancel(); return nil }})
			require.ErrorIs(t, err, context.Canceled)
			assert.NotErrorIs(t, err, reconcile.ErrHalfWritten)
			assert.Equal(t, before, storedXML(t, srv))
		})
	})
}

// What is refused for good is an error that has the document.
func TestADocumentThatWasNotStoredAgainIsReturned(t *testing.T) {
	onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
		desired, before, after := registerOdd(t, srv)
		srv.SetFaults(failing(1, 2, datacitetest.Fault{Status: 422}))
		_, err := srv.Reconcile().Ensure(t.Context(), desired, nil)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.NotErrorIs(t, err, reconcile.ErrHalfWritten, "the first was refused")
		assert.Equal(t, before, storedXML(t, srv))
		srv.SetFaults(failing(2, 3, datacitetest.Fault{Status: 422}))
		o, err := srv.Reconcile().Ensure(t.Context(), desired, nil)
		require.ErrorIs(t, err, reconcile.ErrHalfWritten)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.False(t, datacite.Temporary(err))
		_, err = srv.DOIs().Update(t.Context(), desired.DOI, o.Then)
		require.NoError(t, err)
		assert.Equal(t, after, storedXML(t, srv))
	})
}

// Over lines that break in every way: stored is what was, or what is desired, or the error has the document.
func TestCorrectionsUnderRandomFaults(t *testing.T) {
	for seed := range uint64(3 * *repairs) {
		synctest.Test(t, func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviours[seed%2], NoPort: true})
			desired, before, after := registerOdd(t, srv)
			r := rand.New(rand.NewPCG(seed, 5))
			srv.SetFaults(datacitetest.Schedule(seed, r.Float64()))
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(1000))*time.Second)
			defer cancel()
			for o, err := range srv.Reconcile().EnsureAll(ctx, each([]reconcile.Desired{desired}),
				&reconcile.Options{Rounds: 1 + r.IntN(3)}) {
				if o == nil {
					require.ErrorIs(t, err, context.DeadlineExceeded, "seed %d", seed)
					continue
				}
				srv.SetFaults(nil)
				time.Sleep(time.Minute) // the service goes on with what it was sent
				switch now := storedXML(t, srv); {
				case o.Err == nil:
					assert.Equal(t, after, now, "seed %d", seed)
				case errors.Is(o.Err, reconcile.ErrHalfWritten):
					assert.Equal(t, after, string(o.Then.MetadataXML), "seed %d", seed)
				default:
					assert.Equal(t, before, now, "seed %d: %v", seed, o.Err)
				}
			}
		})
	}
}

// Of stored XML that cannot be read, nobody can say what a write as JSON would take away.
func TestXMLThatCannotBeReadIsALoss(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true})
	stored := &dois.Record{URL: "https://example.org/odd", State: datacite.StateFindable, Record: complete("Broken"),
		MetadataXML: []byte(odd[:len(odd)-20])}
	stored.DOI = "10.5072/odd"
	require.NoError(t, srv.PutRecord(stored))
	desired := reconcile.Desired{DOI: "10.5072/odd",
		Metadata: &metadata.Record{Titles: []metadata.Title{{Title: "Whole"}}}}
	o, err := srv.Reconcile().Ensure(t.Context(), desired, nil)
	require.ErrorIs(t, err, reconcile.ErrLoss)
	assert.Equal(t, "xml", o.Losses[0].Path)
	_, err = srv.Reconcile().Ensure(t.Context(), desired, &reconcile.Options{AllowLoss: true})
	require.NoError(t, err)
	stored.MetadataXML = []byte(`<resource xmlns="http://datacite.org/schema/kernel-4"/>`)
	require.NoError(t, srv.PutRecord(stored))
	_, err = srv.Reconcile().Ensure(t.Context(), desired, nil)
	require.ErrorContains(t, err, "the stored XML has no properties")
}

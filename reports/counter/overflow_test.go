package counter_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports/counter"
)

// TestMoreURLsAtOnceThanMemoryHolds: what a user accesses within 30 seconds goes to a
// temporary file, and is counted as the model counts it. Most of it is close to a full hour.
func TestMoreURLsAtOnceThanMemoryHolds(t *testing.T) {
	for seed := range uint64(*randomLogs / 20) {
		r := rand.New(rand.NewPCG(seed, 31))
		user := []counter.Event{{User: "u"}, {Session: "s"}, {Address: "192.0.2.1"}, {Address: "192.0.2.1"}}[r.IntN(4)]
		at := time.Date(2026, 10, 14, 12, 59, 40, 0, time.UTC)
		var events []counter.Event
		for range 5 + r.IntN(25) {
			at = at.Add(time.Duration(r.IntN(7)) * time.Second)
			e := user
			e.DOI, e.Time, e.URL, e.Request = "10.5072/a", at, fmt.Sprint("/", r.IntN(6)), r.IntN(2) == 0
			e.Agent, e.Country = "Mozilla/5.0 (X11)", []string{"", "de", "fr"}[r.IntN(3)]
			events = append(events, e)
		}
		l := randomLog{events: events, zone: time.UTC}
		want, sum := model(l.events, l.period, l.zone)
		var got counter.Tally
		rows := count(t, events, &counter.Options{Memory: 1, TempDir: t.TempDir(), Tally: &got})
		requireCounts(t, want, total(rows), "seed %d: %+v", seed, l)
		require.Equal(t, sum.Counted, got.Counted)
		require.EqualValues(t, len(events), got.Events())
	}
}

// TestMemoryWhileAClockStandsStill: one user, one dataset, one second, ever more URLs.
func TestMemoryWhileAClockStandsStill(t *testing.T) {
	const memory = 1 << 20
	peak := func(urls int) (most uint64) {
		held := func() {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		var events iter.Seq2[counter.Event, error] = func(yield func(counter.Event, error) bool) {
			for i := range 2 * urls { // each twice
				if i%(urls/5) == 0 {
					held()
				}
				if !yield(counter.Event{DOI: "10.5072/a", User: "u", Time: time.Unix(1e9, 0), URL: fmt.Sprint("/", i%urls),
					Agent: "Mozilla/5.0 (X11)"}, nil) {
					return
				}
			}
			held()
		}
		var sum counter.Tally
		for row, err := range counter.Count(events, &counter.Options{Memory: memory, TempDir: t.TempDir(), Tally: &sum}) {
			held()
			assert.NoError(t, err)
			assert.Contains(t, []int64{1, int64(urls)}, row.Count)
		}
		assert.Equal(t, counter.Tally{Counted: int64(urls), DoubleClicks: int64(urls)}, sum)
		return most
	}
	few, many := peak(10_000), peak(60_000)
	assert.Less(t, many, few+4*memory, "%d KiB, then %d KiB", few>>10, many>>10)
}

package counter_test

import (
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // not every system has a database of time zones

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

var randomLogs = flag.Int("logs", 400, "how many random logs are counted and compared with the model")

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func source(events []counter.Event) iter.Seq2[counter.Event, error] {
	return func(yield func(counter.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func count(t testing.TB, events []counter.Event, opts *counter.Options) []reports.Row {
	t.Helper()
	rows := []reports.Row{}
	for row, err := range counter.Count(source(events), opts) {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

// A randomLog is a small log in which everything that decides happens often: hours,
// midnights, ends of months, ends and begins of summer time, chains, clicks at once.
type randomLog struct {
	events []counter.Event
	period reports.Period
	zone   *time.Location
}

func makeLog(r *rand.Rand, zones []*time.Location) randomLog {
	l := randomLog{zone: zones[r.IntN(len(zones))]}
	moments := []time.Time{
		time.Date(2026, 10, 1, 0, 0, 0, 0, l.zone), time.Date(2026, 11, 1, 0, 0, 0, 0, l.zone), // months
		time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC), time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), // summer time in Europe
		time.Date(2010, 11, 7, 2, 31, 0, 0, time.UTC), // in Newfoundland, a minute past midnight
		time.Date(2026, 10, 14, 13, 0, 0, 0, l.zone), time.Date(2026, 10, 15, 0, 0, 0, 0, l.zone),
		time.Date(1969, 12, 31, 23, 59, 0, 0, time.UTC),
	}
	if r.IntN(3) > 0 {
		l.period = reports.Month(2026, time.October)
	}
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	users := make([]counter.Event, 1+r.IntN(3)) // few, so that they meet themselves
	for i := range users {
		u := counter.Event{Agent: pick("Mozilla/5.0 (X11)", "Mozilla/5.0 (X11)", "curl/8", "")}
		name := pick("u", "v")
		switch r.IntN(5) {
		case 0:
			u.User = name
		case 1:
			u.Cookie = name
		case 2:
			u.Session = name
		default:
			u.Address = pick("192.0.2.1", "192.0.2.2", "")
		}
		users[i] = u
	}
	urls := []string{"/a", "/a#top", "/b", "/c"}[:1+r.IntN(4)]
	countries, steps, events := []string{"", "", "DE", "de",
		"fr"}, []time.Duration{0, 1, 1, 10, 10, 25, 29, 30, 31, 35, 59, 1800, 3600}, 14
	if r.IntN(5) == 0 { // more than are searched for one by one
		urls, countries = strings.Split("abcdefghijklmn", ""), strings.Fields("aa bb cc dd ee ff gg hh ii jj kk ll mm nn")
		steps, events = []time.Duration{0, 0, 1, 1, 1, 2, 30}, 80
	}
	at := moments[r.IntN(len(moments))].Add(-time.Duration(r.IntN(90)) * time.Second)
	for range r.IntN(events) {
		at = at.Add(steps[r.IntN(len(steps))] * time.Second)
		if r.IntN(4) == 0 {
			at = at.Add(time.Duration(r.IntN(3)-1) * time.Nanosecond)
		}
		if r.IntN(15) == 0 {
			at = moments[r.IntN(len(moments))]
		}
		e := users[r.IntN(len(users))]
		e.DOI, e.Time, e.Request = pick("10.5072/a", "10.5072/A", "doi:10.5072/a", "10.5072/b"), at, r.IntN(2) == 0
		e.URL, e.Country = pick(urls...), pick(countries...)
		if e.User+e.Cookie+e.Session != "" { // from wherever
			e.Address = pick("192.0.2.1", "192.0.2.2", "")
		}
		if r.IntN(8) == 0 {
			e.Access = reports.AccessMethod(pick("regular", "machine"))
		}
		if r.IntN(10) == 0 {
			e.Agent = pick("Mozilla/5.0 (X11)", "curl/8", "")
		}
		l.events = append(l.events, e)
	}
	return l
}

func zones(t testing.TB) []*time.Location {
	return []*time.Location{time.UTC, zone(t, "Europe/Berlin"), zone(t, "America/St_Johns"), zone(t, "Asia/Kathmandu")}
}

// TestEveryLogIsCountedAsTheCodeSays compares random logs with the model: -logs says
// how many.
func TestEveryLogIsCountedAsTheCodeSays(t *testing.T) {
	zones := zones(t)
	for seed := range uint64(*randomLogs) {
		r := rand.New(rand.NewPCG(seed, 24))
		l := makeLog(r, zones)
		want, sum := model(l.events, l.period, l.zone)
		var got counter.Tally
		opts := &counter.Options{Period: l.period, Location: l.zone, Tally: &got}
		if seed%4 == 0 {
			opts.Memory, opts.TempDir = 1+r.IntN(500), t.TempDir()
		}
		r.Shuffle(len(l.events), func(i, j int) { l.events[i], l.events[j] = l.events[j], l.events[i] })
		rows := count(t, l.events, opts)
		requireCounts(t, want, total(rows), "seed %d: %+v", seed, l)
		require.True(t, slices.IsSortedFunc(rows, func(a, b reports.Row) int {
			return strings.Compare(a.DOI, b.DOI)
		}), "seed %d", seed)
		require.Equal(t, len(l.events), int(got.Events()), "seed %d", seed)
		require.Equal(t, sum.Counted, got.Counted, "seed %d", seed)

		keys := map[string][]counter.Event{}
		for _, e := range l.events {
			keys[counter.Key(e)] = append(keys[counter.Key(e)], e)
		}
		var parts []reports.Row
		whole, others := got, counter.Tally{}
		for _, events := range keys {
			parts = append(parts, counter.CountKey(events, opts)...)
			others.Counted += got.Counted
			others.DoubleClicks += got.DoubleClicks
			others.Robots += got.Robots
			others.OtherMonths += got.OtherMonths
			others.NoDataset += got.NoDataset
		}
		require.Equal(t, whole, others, "seed %d: the keys' summaries add up", seed)
		requireCounts(t, want, total(parts), "seed %d, by keys: %+v", seed, l)
	}
}

// requireCounts lists what differs, which is less than all.
func requireCounts(t *testing.T, want, got map[reports.Row]int64, format string, args ...any) {
	t.Helper()
	if maps.Equal(want, got) {
		return
	}
	for row := range want {
		if got[row] != want[row] {
			t.Logf("%s %s %s %s %q: %d, want %d", row.DOI, row.Date, row.Metric, row.Access, row.Country, got[row], want[row])
		}
	}
	for row := range got {
		if want[row] == 0 {
			t.Logf("%s %s %s %s %q: %d, want none", row.DOI, row.Date, row.Metric, row.Access, row.Country, got[row])
		}
	}
	require.Fail(t, "counts differ", fmt.Sprintf(format, args...))
}

// total adds up rows that count the same.
func total(rows []reports.Row) map[reports.Row]int64 {
	sum := map[reports.Row]int64{}
	for _, row := range rows {
		n := row.Count
		row.Count = 0
		sum[row] += n
	}
	return sum
}

func TestRowsAreADataset(t *testing.T) {
	at := time.Date(2026, 10, 14, 10, 1, 0, 0, time.UTC)
	events := []counter.Event{
		{DOI: "10.5072/B", URL: "/b", Time: at, Address: "192.0.2.1", Agent: "Mozilla/5.0 (X11)", Country: "DE"},
		{DOI: "10.5072/A", URL: "/a", Time: at, Address: "192.0.2.1", Agent: "Mozilla/5.0 (X11)"},
		{DOI: "10.5072/b", URL: "/b.csv", Time: at.Add(time.Minute), Request: true, Address: "192.0.2.1", Agent: "curl/8"},
	}
	var all []reports.Dataset
	for d, err := range reports.Group(counter.Count(source(events), nil), &reports.GroupOptions{Sorted: true}) {
		require.NoError(t, err)
		all = append(all, d)
	}
	require.Len(t, all, 2)
	assert.Equal(t, "10.5072/a", all[0].DatasetID[0].Value)
	assert.Equal(t, []reports.Instance{
		{MetricType: reports.MetricTotalDatasetInvestigations, AccessMethod: reports.AccessMachine, Count: 1},
		{MetricType: reports.MetricTotalDatasetInvestigations, AccessMethod: reports.AccessRegular, Count: 1,
			CountryCounts: reports.CountryCounts{{Country: "de", Count: 1}}},
		{MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessMachine, Count: 1},
		{MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessMachine, Count: 1},
		{MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessRegular, Count: 1,
			CountryCounts: reports.CountryCounts{{Country: "de", Count: 1}}},
		{MetricType: reports.MetricUniqueDatasetRequests, AccessMethod: reports.AccessMachine, Count: 1},
	}, all[1].Performance[0].Instance)
}

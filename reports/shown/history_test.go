package shown_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/shown"
)

var histories = flag.Int("histories", 1, "random histories of reports that are compared")

// A history is a year of reports of some DOIs, with their corrections.
type history struct {
	random  *rand.Rand
	srv     *datacitetest.Server
	months  [12]map[string][]reports.Dataset // what the reports have, by DOI
	used    [12]map[string]bool              // DOIs that were changed
	planted []string                         // the differences that there should be

	outsider string                       // the DOI that another account reports, too
	doubles  map[string][]reports.Dataset // what is reported twice, by DOI
}

func (h *history) name(i int) string { return fmt.Sprintf("10.5072/h%02d", i) }

const historyDOIs = 40

// begin stores the reports of a year.
func (h *history) begin(t *testing.T) {
	for i := range historyDOIs {
		put(t, h.srv, h.name(i), nil, nil)
	}
	for m := range h.months {
		h.months[m], h.used[m] = map[string][]reports.Dataset{}, map[string]bool{}
		for i := range historyDOIs {
			if n := h.random.Int64N(100); n > 0 {
				h.months[m][h.name(i)] = []reports.Dataset{dataset(h.name(i), views(n+h.random.Int64N(9)), downloads(n))}
			}
		}
		h.store(t, m+1, header("Repository", m+1), h.months[m])
	}
}

// store stores a report, with its datasets in any order.
func (h *history) store(t *testing.T, id int, head reports.Header, datasets map[string][]reports.Dataset) {
	t.Helper()
	var all []reports.Dataset
	for _, name := range slices.Sorted(maps.Keys(datasets)) {
		all = append(all, datasets[name]...)
	}
	h.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	store(t, h.srv, id, head, all...)
}

// pick returns a DOI of a month that was not changed yet.
func (h *history) pick(m int) string {
	names := slices.Sorted(maps.Keys(h.months[m]))
	names = slices.DeleteFunc(names, func(name string) bool { return h.used[m][name] })
	name := names[h.random.IntN(len(names))]
	h.used[m][name] = true
	return name
}

func (h *history) expect(name string, m int, views, downloads shown.Cause) {
	for i, cause := range []shown.Cause{views, downloads} {
		if cause != "" {
			h.planted = append(h.planted, fmt.Sprintf("%s 2025-%02d %s %s", name, m+1, []shown.Metric{shown.Views, shown.Downloads}[i], cause))
		}
	}
}

// processed is when the service has made numbers of all that was stored, and its lists
// have them.
func (h *history) processed(listed bool) {
	h.srv.Advance(25 * time.Hour)
	h.srv.ProcessUsage()
	if listed {
		h.srv.Advance(25 * time.Hour)
	}
}

// A change is what a correction makes of a dataset with other views and downloads, and the causes why
// they then differ; "" if they do not.
type change struct {
	of               func(d reports.Dataset, v, n int64) []reports.Dataset
	views, downloads shown.Cause
}

// make returns what the report has after the change.
func (c change) make(d reports.Dataset) []reports.Dataset {
	old := d.Performance[0].Instance
	return c.of(d, old[0].Count+1000, old[1].Count+1000)
}

// having is the dataset with other counts.
func having(d reports.Dataset, counts ...reports.Instance) reports.Dataset {
	d.Performance = []reports.Performance{{Period: d.Performance[0].Period, Instance: counts}}
	return d
}

func doiOf(d reports.Dataset) string { return d.DatasetID[0].Value }

type list = []reports.Dataset

var changes = map[string]change{
	"nothing":           {func(d reports.Dataset, _, _ int64) list { return list{d} }, "", ""},
	"other counts":      {func(d reports.Dataset, v, n int64) list { return list{having(d, views(v), downloads(n))} }, "", ""},
	"zeros":             {func(d reports.Dataset, _, _ int64) list { return list{having(d, views(0), downloads(0))} }, "", ""},
	"dropped":           {func(reports.Dataset, int64, int64) list { return nil }, shown.Left, shown.Left},
	"without downloads": {func(d reports.Dataset, v, _ int64) list { return list{having(d, views(v))} }, "", shown.Left},
	"by machines": {func(d reports.Dataset, v, n int64) list {
		return list{having(d, instance(v, reports.UniqueDatasetInvestigations, reports.Machine), instance(n, reports.UniqueDatasetRequests, reports.Machine))}
	}, shown.NotRegular, shown.NotRegular},
	"only totals": {func(d reports.Dataset, v, n int64) list {
		return list{having(d, instance(v, reports.TotalDatasetInvestigations, reports.Regular), instance(n, reports.TotalDatasetRequests, reports.Regular))}
	}, shown.NotUnique, shown.NotUnique},
	"nine instances": {func(d reports.Dataset, v, n int64) list {
		return list{having(d, append([]reports.Instance{views(v), downloads(n)}, slices.Repeat([]reports.Instance{instance(1, reports.TotalDatasetRequests, reports.Machine)}, 7)...)...)}
	}, shown.TooManyInstances, shown.TooManyInstances},
	"views in a second performance": {func(d reports.Dataset, v, n int64) list {
		d.Performance = []reports.Performance{{Instance: []reports.Instance{downloads(n)}}, {Instance: []reports.Instance{views(v)}}}
		return list{d}
	}, shown.LaterPerformance, ""},
	"downloads by country": {func(d reports.Dataset, v, n int64) list {
		return list{having(d, views(v), downloads(n-7), downloads(7))}
	}, "", shown.SeveralCounts},
	"twice in a report": {func(d reports.Dataset, v, n int64) list {
		return list{having(d, views(v), downloads(n)), dataset("https://doi.org/"+doiOf(d), views(3))}
	}, shown.SeveralCounts, ""},
	"in halves": {func(d reports.Dataset, v, _ int64) list {
		return list{having(d, views(v)), dataset("https://doi.org/"+doiOf(d), downloads(3))}
	}, "", ""},
	"views without a count": {func(d reports.Dataset, _, n int64) list {
		none := views(0)
		none.NoCount = true
		return list{having(d, none, downloads(n))}
	}, shown.NoCount, ""},
	"spelt otherwise": {func(d reports.Dataset, v, n int64) list {
		return list{dataset("DOI:"+doiOf(d), views(v), downloads(n))}
	}, shown.Spelling, shown.Spelling},
	"after a handle": {func(d reports.Dataset, v, n int64) list {
		d = having(d, views(v), downloads(n))
		d.DatasetID = append([]reports.TypedValue{{Type: "hdl", Value: "1234/5"}}, d.DatasetID...)
		return list{d}
	}, shown.LaterIdentifier, shown.LaterIdentifier},
	"too large":            {func(d reports.Dataset, v, n int64) list { return list{having(d, views(v+1<<31), downloads(n))} }, shown.TooLarge, ""},
	"a part reported, too": {func(d reports.Dataset, _, _ int64) list { return list{d, dataset(doiOf(d)+"?version=2", views(3))} }, shown.OtherDOI, ""},
}

// TestHistories plants differences of every kind among a year's reports, with corrections,
// a renamed creator, another account, lists that lag and requests that fail. Each is found
// once, with its cause, and none is invented.
func TestHistories(t *testing.T) {
	whole := 0
	for seed := range uint64(*histories) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bad atomic.Bool
				h := &history{random: rand.New(rand.NewPCG(seed, 1))}
				h.srv = datacitetest.NewServer(&datacitetest.Options{
					Behaviour: datacitetest.Deployed, NoPort: true, UsageLag: 24 * time.Hour, IndexLag: 24 * time.Hour,
					Accounts: []datacitetest.Account{{}, {Username: "OTHER.REPO"}},
					Faults:   datacitetest.Schedule(seed, float64(seed%5)/20).When(func(*http.Request) bool { return bad.Load() }),
				})
				h.begin(t)
				h.processed(true)
				require.Empty(t, short(compare(t, h.srv, nil)), "nothing was planted yet")
				h.plant(t)
				bad.Store(true)
				var found []string
				var end error
				for d, err := range shown.Compare(t.Context(), h.srv.Reports(), h.srv.DOIs(), account, &shown.Options{Now: now}) {
					if end = err; err == nil {
						found = append(found, fmt.Sprintf("%s %s %s %s", d.DOI, d.Month, d.Metric, d.Cause))
					}
				}
				time.Sleep(time.Minute) // until the service has sent its last response
				if end == nil {
					whole++
					slices.Sort(h.planted)
					slices.Sort(found)
					assert.Equal(t, h.planted, found)
				} else {
					assert.Subset(t, h.planted, found)
				}
				bad.Store(false)
				h.repair(t)
				assert.Empty(t, short(compare(t, h.srv, nil)), "all has been repaired")
				assert.Empty(t, short(compare(t, h.srv, &shown.Options{CreatedBy: "Repository"})), "others have zeros only")
			})
		})
	}
	assert.Greater(t, whole, *histories/2)
}

// foreign stores another account's report.
func (h *history) foreign(t *testing.T, name string, n int64) {
	_, err := h.srv.As("OTHER.REPO").PutReport(&reports.Report{ID: reportID(101), Header: header("Aggregator", 1), Datasets: []reports.Dataset{dataset(name, views(n), downloads(n))}})
	require.NoError(t, err)
}

// plant corrects the reports, and sends others.
func (h *history) plant(t *testing.T) {
	h.outsider = h.pick(0)
	h.expect(h.outsider, 0, shown.Unreported, shown.Unreported)
	h.foreign(t, h.outsider, 4)
	h.processed(true) // no report of the account leads to it: lists have to show it
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		m := h.random.IntN(12)
		doi := h.pick(m)
		h.months[m][doi] = changes[name].make(h.months[m][doi][0])
		h.expect(doi, m, changes[name].views, changes[name].downloads)
		if name == "a part reported, too" {
			h.expect(doi+"?version=2", m, shown.OtherDOI, "")
		}
	}
	unknown := h.random.IntN(12)
	h.used[unknown]["unknown"] = true
	h.months[unknown]["unknown"] = []reports.Dataset{dataset("10.5072/unknown", views(1), downloads(1))}
	h.expect("10.5072/unknown", unknown, shown.NoRecord, shown.NoRecord)
	for m := range h.months {
		h.store(t, m+1, header("Repository", m+1), h.months[m])
	}
	h.double(t)
	h.processed(h.random.IntN(2) == 0)

	for _, tt := range []struct {
		created reports.Date
		cause   shown.Cause
	}{{"2026-05-31", shown.NotProcessed}, {"2026-01-31", shown.Lost}} {
		m := 4
		if tt.cause == shown.Lost {
			m = 5
		}
		late := h.pick(m)
		h.months[m][late] = changes["other counts"].make(h.months[m][late][0])
		h.expect(late, m, tt.cause, tt.cause)
		head := header("Repository", m+1)
		head.Created = tt.created
		h.store(t, m+1, head, h.months[m])
	}
}

// double reports some DOIs of a month again, under another name of the creator, with the
// same counts or others.
func (h *history) double(t *testing.T) {
	const m = 7
	head := header("Renamed Repository", m+1)
	head.Created = "2025-12-31"
	again := map[string][]reports.Dataset{}
	for i := range 3 {
		name := h.pick(m)
		again[name] = h.months[m][name]
		if i == 0 {
			again[name] = changes["other counts"].make(h.months[m][name][0])
		}
		h.expect(name, m, shown.ReportedTwice, shown.ReportedTwice)
	}
	h.store(t, 100, head, again)
	h.doubles = again
}

// repair puts everything right: with other counts, counts of 0, or the record.
func (h *history) repair(t *testing.T) {
	h.foreign(t, h.outsider, 0)
	for name := range h.doubles {
		h.doubles[name] = []reports.Dataset{dataset(name, views(0), downloads(0))}
	}
	head := header("Renamed Repository", 8)
	head.Created = "2025-12-31"
	h.store(t, 100, head, h.doubles)
	put(t, h.srv, "10.5072/unknown", nil, nil)
	for m := range h.months {
		for _, name := range slices.Sorted(maps.Keys(h.used[m])) {
			if name == "unknown" {
				continue
			}
			now := h.months[m][name]
			h.months[m][name] = []reports.Dataset{dataset(name, views(h.random.Int64N(3)), downloads(h.random.Int64N(3)))}
			if len(now) == 2 && now[1].DatasetID[0].Value == name+"?version=2" {
				h.months[m][name] = append(h.months[m][name], dataset(name+"?version=2", views(0)))
			}
		}
		h.store(t, m+1, header("Repository", m+1), h.months[m])
	}
	h.processed(h.random.IntN(2) == 0)
}

// anything is a dataset with everything that goes wrong in reports.
func anything(random *rand.Rand, id string) reports.Dataset {
	d := dataset(id)
	for range 1 + random.IntN(3)*random.IntN(3)*random.IntN(3) {
		n := views(random.Int64N(4) * random.Int64N(1<<random.IntN(33)))
		n.MetricType = []reports.MetricType{reports.UniqueDatasetInvestigations, reports.UniqueDatasetRequests, reports.TotalDatasetInvestigations}[random.IntN(3)]
		n.AccessMethod = []reports.AccessMethod{reports.Regular, reports.Regular, reports.Machine}[random.IntN(3)]
		if random.IntN(8) == 0 {
			n.Count, n.NoCount = 0, true
		}
		d.Performance[0].Instance = append(d.Performance[0].Instance, n)
	}
	switch random.IntN(12) {
	case 0:
		d.Performance = append(d.Performance, d.Performance[0])
	case 1:
		d.Performance = nil
	case 2:
		d.DatasetID = append([]reports.TypedValue{{Type: "uri", Value: "https://example.org/"}}, d.DatasetID...)
	}
	return d
}

// TestEveryDifferenceIsExplained: whatever reports hold and however often they are replaced, the
// service shows what Compare expects of the reports that it holds, or the difference has the
// cause that an earlier version left. None is taken as lost. The service was written from the sources of the deployed one, and
// not from the rules of Compare.
func TestEveryDifferenceIsExplained(t *testing.T) {
	records := []string{"10.5072/a", "10.5072/b", "10.5072/c", "10.5072/k"}
	spellings := append([]string{"10.5072/A", "doi:10.5072/a", "DOI:10.5072/a", "https://doi.org/10.5072/b", "http://dx.doi.org/10.5072/B", "https://doi.org/doi:10.5072/c",
		"www.doi.org/10.5072/a", "10.5072/c#part", "10.5072/c?part", "10.5072/a<", "10.5072/b ", "10.5072/\u212a", "10.5072/a\u200b", "10.5072/unregistered", "hdl:10.5072/a"}, records...)
	differences, left := 0, 0
	for seed := range uint64(8 * *histories) {
		random := rand.New(rand.NewPCG(seed, 3))
		corrected := seed%2 == 0
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
		for _, name := range records {
			put(t, srv, name, nil, nil)
		}
		for i := range 1 + random.IntN(8) {
			id := i
			if corrected {
				id = random.IntN(4)
			}
			h := header(fmt.Sprint("Repository ", id), 9+random.IntN(2))
			if begin := h.ReportingPeriod.BeginDate; random.IntN(8) == 0 {
				h.ReportingPeriod.BeginDate = begin + "T00:00:00+02:00"
			}
			var datasets []reports.Dataset
			for range random.IntN(6) {
				datasets = append(datasets, anything(random, spellings[random.IntN(len(spellings))]))
			}
			store(t, srv, id, h, datasets...)
			srv.ProcessUsage()
		}
		srv.Advance(25 * time.Hour) // for the lists
		for _, d := range compare(t, srv, nil) {
			differences++
			what := fmt.Sprintf("seed %d: %s, %v expected", seed, d, d.Expected)
			assert.NotEqual(t, shown.NotProcessed, d.Cause, what)
			assert.NotEqual(t, shown.Lost, d.Cause, what)
			switch {
			case !slices.Contains(records, d.DOI): // nobody has registered it
			case slices.Contains(d.Expected, d.Shown):
				assert.NotContains(t, []shown.Cause{shown.Left, shown.Unreported, shown.NoRecord}, d.Cause, what)
			default: // no report that was stored once alone is a surprise
				left++
				assert.True(t, corrected, what)
				assert.NotEqual(t, shown.NoRecord, d.Cause, what)
			}
		}
		require.False(t, t.Failed(), "seed %d", seed)
	}
	assert.Positive(t, left)
	assert.Greater(t, differences, 2*left)
}

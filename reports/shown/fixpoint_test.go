package shown_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// kinds are the counts that a dataset may have, by people, machines, in all, in any
// combination. nil stands for no dataset.
var kinds = []struct {
	name   string
	counts func(v, n int64) []reports.Instance
}{
	{"nothing", nil},
	{"people", func(v, _ int64) []reports.Instance { return []reports.Instance{views(v)} }},
	{"machines", func(v, n int64) []reports.Instance {
		return []reports.Instance{instance(v, reports.MetricUniqueDatasetInvestigations, reports.AccessMachine),
			instance(n, reports.MetricUniqueDatasetRequests, reports.AccessMachine)}
	}},
	{"totals", func(v, n int64) []reports.Instance {
		const more = 100 // so that no record shows a total by accident
		return []reports.Instance{instance(v+more, reports.MetricTotalDatasetInvestigations, reports.AccessRegular),
			instance(n+more, reports.MetricTotalDatasetRequests, reports.AccessRegular)}
	}},
	{"downloads", func(_, n int64) []reports.Instance { return []reports.Instance{downloads(n)} }},
	{"both", func(v, n int64) []reports.Instance { return []reports.Instance{views(v), downloads(n)} }},
	{"mixed", func(v, n int64) []reports.Instance {
		return []reports.Instance{views(v), instance(n, reports.MetricUniqueDatasetRequests, reports.AccessMachine)}
	}},
	{"zeros", func(int64, int64) []reports.Instance { return []reports.Instance{views(0), downloads(0)} }},
}

// shows is what a record is to show of the counts.
func shows(counts []reports.Instance) (both [2]int64) {
	for _, n := range counts {
		switch {
		case n.AccessMethod != reports.AccessRegular:
		case n.MetricType == reports.MetricUniqueDatasetInvestigations:
			both[0] += n.Count
		case n.MetricType == reports.MetricUniqueDatasetRequests:
			both[1] += n.Count
		}
	}
	return both
}

// shownOf is what a record shows for October.
func shownOf(t *testing.T, srv *datacitetest.Server, name string) (both [2]int64) {
	t.Helper()
	r, err := srv.DOIs().Get(t.Context(), name, nil)
	require.NoError(t, err)
	for i, series := range []dois.Series{r.ViewsOverTime, r.DownloadsOverTime} {
		for _, c := range series {
			if c.YearMonth == "2025-10" {
				both[i] += int64(c.Total)
			}
		}
	}
	return both
}

// TestRepairOfEveryKind: whatever kinds of counts two versions of a report had and the wanted one
// has, the repair is not refused, records show the wanted counts, and a second one sends nothing.
// A 0 of views beside downloads needs AllowInconsistent (see TestRepairRefuses).
func TestRepairOfEveryKind(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	var versions [3][]reports.Dataset
	right, remain := map[string][2]int64{}, []string(nil)
	for i, first := range kinds {
		for j, second := range kinds {
			for k, want := range kinds {
				name := fmt.Sprintf("10.5072/%s-%s-%s", first.name, second.name, want.name)
				put(t, srv, name, nil, nil)
				for v, counts := range []func(v, n int64) []reports.Instance{kinds[i].counts, kinds[j].counts, kinds[k].counts} {
					if counts != nil {
						versions[v] = append(versions[v], dataset(name, counts(int64(9-v), int64(5-v))...))
					}
				}
				right[name] = [2]int64{}
				if want.counts != nil {
					right[name] = shows(want.counts(7, 3))
				}
			}
		}
	}
	for _, stored := range versions[:2] {
		october(1, stored...)(t, srv)
		srv.ProcessUsage()
	}
	found, opts := compare(t, srv, nil), mending(t.TempDir(), false)
	opts.Submit.AllowInconsistent = true
	done, err := mend(t.Context(), srv, versions[2], opts)
	require.NoError(t, err)
	assert.Len(t, found, done.Found)
	srv.ProcessUsage()
	for name, want := range right {
		assert.Equal(t, want, shownOf(t, srv, name), name)
	}
	for _, d := range compare(t, srv, nil) {
		assert.True(t, d.Cause == datacite.CodeNotUnique && strings.HasSuffix(d.DOI, "-totals"),
			"%v: only totals are shown nowhere", d)
		if slices.ContainsFunc(found, func(before *shown.Difference) bool {
			return before.DOI == d.DOI && before.Metric == d.Metric
		}) {
			remain = append(remain, fmt.Sprint(d.DOI, " ", d.Metric))
		}
	}
	assert.Equal(t, remain, differing(done.Remain))
	before := written(srv)
	done, err = mend(t.Context(), srv, versions[2], opts)
	require.NoError(t, err)
	assert.Equal(t, before, written(srv))
	assert.Zero(t, done.Reports[0].Datasets)
	assert.Len(t, done.Remain, done.Found)
}

// A course is a random history of reports of a month: of two creators of an account and one of
// another account.
type course struct {
	t      *testing.T
	random *rand.Rand
	srv    *datacitetest.Server
	locks  string
	stored map[string]map[string][]reports.Instance // the last version, by creator and DOI
	fault  func(*http.Request) *datacitetest.Fault
}

const courseDOIs = 6

func courseDOI(i int) string { return fmt.Sprintf("10.5072/f%d", i) }

// version is a random version of a report.
func (c *course) version() map[string][]reports.Instance {
	all := map[string][]reports.Instance{}
	for i := range courseDOIs {
		if kind := kinds[c.random.IntN(len(kinds))]; kind.counts != nil && c.random.IntN(3) > 0 {
			n := 1 + c.random.Int64N(20)
			all[courseDOI(i)] = kind.counts(n+c.random.Int64N(5), n)
		}
	}
	return all
}

func listed(version map[string][]reports.Instance) (all []reports.Dataset) {
	for _, name := range slices.Sorted(maps.Keys(version)) {
		all = append(all, dataset(name, version[name]...))
	}
	return all
}

// later is when the service has read all reports, and its lists have the numbers.
func (c *course) later() {
	c.srv.Advance(25 * time.Hour)
	c.srv.ProcessUsage()
	c.srv.Advance(25 * time.Hour)
}

// store stores a version, as a program of its own or by Submit.
func (c *course) store(foreign bool) {
	creator, id := "Repository", 1
	switch n := c.random.IntN(4); {
	case n == 0 && foreign:
		creator, id = "Aggregator", 3
	case n < 2:
		creator, id = "Renamed Repository", 2
	}
	version := c.version()
	if c.stored[creator] = version; id == 3 {
		_, err := c.srv.As("OTHER.REPO").PutReport(&reports.Report{ID: reportID(id), Header: header(creator, 10),
			Datasets: listed(version)})
		require.NoError(c.t, err)
	} else if c.random.IntN(2) == 0 || len(version) == 0 {
		store(c.t, c.srv, id, header(creator, 10), listed(version)...)
	} else {
		_, err := c.srv.Reports().Submit(c.t.Context(), header(creator, 10), reports.Source(listed(version)),
			&reports.SubmitOptions{
				ID: reportID(id), LockDir: c.locks, AllowInconsistent: true, ZeroDropped: c.random.IntN(2) == 0,
				MaxDatasets: 1 + c.random.IntN(5),
			})
		require.NoError(c.t, err)
	}
	if c.random.IntN(6) > 0 {
		c.later()
	}
}

// cut repairs, and kills the run at a random request, which the service has carried out or not.
func (c *course) cut(wanted []reports.Dataset, opts *shown.RepairOptions) (*shown.Repaired, error) {
	ctx, kill := context.WithCancel(c.t.Context())
	defer kill()
	n, done, dead := 1+c.random.IntN(40), c.random.IntN(2) == 0, false
	c.fault = func(*http.Request) *datacitetest.Fault {
		if n--; n > 0 {
			return nil
		}
		if kind := datacitetest.FaultDropAfter; done && !dead {
			dead = true
			return &datacitetest.Fault{Kind: kind}
		}
		kill()
		return &datacitetest.Fault{Kind: datacitetest.FaultDropBefore}
	}
	defer func() { c.fault = nil }()
	return mend(ctx, c.srv, wanted, opts)
}

// differing are the numbers that differ.
func differing(all []*shown.Difference) (keys []string) {
	for _, d := range all {
		keys = append(keys, fmt.Sprint(d.DOI, " ", d.Metric))
	}
	return keys
}

// TestRepairIsAFixpoint: after any history, with cuts at any request and other faults, until a repair
// ends, records show what is wanted beside the numbers of reports that were left as they are, or the
// difference is named. A second repair sends nothing, before and after the service has read the reports.
// After a cut, a repair cannot tell what the service has not read from what no report has any more: it
// names such a number, and a later one mends it.
func TestRepairIsAFixpoint(t *testing.T) {
	for seed := range uint64(8 * *histories) {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			locks := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(now))
				c := &course{t: t, random: rand.New(rand.NewPCG(seed, 11)), locks: locks,
					stored: map[string]map[string][]reports.Instance{}}
				documented := seed%8 == 7
				behaviour := datacitetest.Deployed
				if documented {
					behaviour = datacitetest.Documented
				}
				c.srv = datacitetest.NewServer(&datacitetest.Options{
					Behaviour: behaviour, NoPort: true, UsageLag: 24 * time.Hour, IndexLag: 24 * time.Hour,
					Accounts: []datacitetest.Account{{}, {Username: "OTHER.REPO"}},
					Faults: func(_ int, r *http.Request) *datacitetest.Fault {
						if c.fault == nil {
							return nil
						}
						return c.fault(r)
					},
				})
				for i := range courseDOIs {
					var v, n []month
					if documented && c.random.IntN(2) == 0 {
						v, n = series("2025-10", c.random.IntN(9)), series("2025-10", c.random.IntN(9))
					}
					put(t, c.srv, courseDOI(i), v, n)
				}
				c.run(documented, datacitetest.Schedule(seed, float64(seed%4)/15))
			})
		}) {
			return
		}
	}
}

func (c *course) run(documented bool, faults datacitetest.Faults) {
	t, foreign := c.t, c.random.IntN(3) == 0
	for range 1 + c.random.IntN(5) {
		c.store(foreign)
	}
	c.later()
	opts := mending(c.locks, false)
	if c.stored["Renamed Repository"] != nil && c.random.IntN(2) == 0 {
		opts.Replaces = []string{"Renamed Repository"}
	}
	opts.Submit.MaxDatasets, opts.Submit.MaxProcessing, opts.Submit.AllowInconsistent = 1+
		c.random.IntN(7), time.Minute, true
	opts.Warn = func(string, datacite.Finding) {}
	wanted := c.version()
	datasets := listed(wanted)

	found := compare(t, c.srv, &shown.Options{Month: "2025-10"})
	dry := *opts
	dry.DryRun = true
	rehearsed, err := mend(t.Context(), c.srv, datasets, &dry)
	require.NoError(t, err)
	assert.Equal(t, len(found), rehearsed.Found)
	cut := false
	for i := c.random.IntN(4); i > 0; i-- {
		cut = true
		if _, err := c.cut(datasets, opts); err == nil {
			break
		}
		time.Sleep(time.Hour)
		if c.random.IntN(2) == 0 {
			c.later()
		}
	}
	var done *shown.Repaired
	requests := 0
	c.fault = func(r *http.Request) *datacitetest.Fault { requests++; return faults(requests, r) }
	for range 20 {
		if done, err = mend(t.Context(), c.srv, datasets, opts); err == nil {
			break
		}
		cut = true
		time.Sleep(time.Hour)
	}
	c.fault = nil
	time.Sleep(time.Minute) // until the service has sent its last response
	require.NoError(t, err)
	if cut && len(done.Remain) > 0 { // of what the service has not read again, only a later one can tell
		c.later()
		_, err := mend(t.Context(), c.srv, datasets, opts)
		require.NoError(t, err)
	}
	again := func() *shown.Repaired {
		before := written(c.srv)
		r, err := mend(t.Context(), c.srv, datasets, opts)
		require.NoError(t, err)
		assert.Equal(t, before, written(c.srv), "a second repair sends nothing")
		for _, one := range r.Reports {
			assert.Zero(t, one.Datasets, "nor says so")
			assert.Empty(t, one.Changes)
		}
		assert.Len(t, r.Remain, r.Found, "what differs, remains")
		return r
	}
	again()
	c.later()
	after := compare(t, c.srv, &shown.Options{Month: "2025-10"})
	assert.Equal(t, short(after), short(again().Remain))
	if documented {
		return
	}
	named := differing(rehearsed.Remain)
	for _, one := range rehearsed.Reports {
		for _, change := range one.Changes {
			if foreign && change.Cause != "" { // another account's share, which no one can tell from one's own
				named = append(named, fmt.Sprint(change.DOI, " ", change.Metric))
			}
		}
	}
	for i := range courseDOIs {
		name := courseDOI(i)
		right := shows(wanted[name])
		if opts.Replaces == nil {
			for m, n := range shows(c.stored["Renamed Repository"][name]) {
				right[m] += n
			}
		}
		for m, n := range shownOf(t, c.srv, name) {
			key := fmt.Sprint(name, " ", []shown.Metric{shown.MetricViews, shown.MetricDownloads}[m])
			if n != right[m] {
				assert.Contains(t, named, key, "%d in place of %d; %v, then %v", n, right[m], short(rehearsed.Remain),
					short(done.Remain))
				assert.Contains(t, differing(after), key)
			}
		}
	}
}

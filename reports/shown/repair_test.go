package shown_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
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

// mending are the settings of a repair of October whose locks are in a folder. Those of the comparison
// that Repair sets itself are wrong.
func mending(folder string, dry bool, replaces ...string) *shown.RepairOptions {
	return &shown.RepairOptions{
		DryRun: dry, Replaces: replaces, Submit: reports.SubmitOptions{LockDir: folder},
		Compare: shown.Options{Now: now, Month: "2024-03", Causes: []datacite.Code{datacite.CodeTooLarge},
			CreatedBy: "Nobody",
			LeaveOut:  func(error) bool { return true }},
	}
}

func mend(ctx context.Context, srv *datacitetest.Server, wanted []reports.Dataset,
	opts *shown.RepairOptions) (*shown.Repaired, error) {
	return shown.Repair(ctx, srv.Reports(), srv.DOIs(), account, header("Repository", 10), reports.Source(wanted), opts)
}

// said is what a repair changes: report, DOI, metric, numbers and cause.
func said(r *shown.Repaired) (lines []string) {
	for _, one := range r.Reports {
		for _, c := range one.Changes {
			lines = append(lines, fmt.Sprintf("%s: %s %s %d -> %d %s", one.Header.CreatedBy, c.DOI, c.Metric, c.Was, c.Now,
				c.Cause))
		}
	}
	return lines
}

// written counts the requests that write reports.
func written(srv *datacitetest.Server) (n int) {
	for _, r := range srv.Requests() {
		if r.Method != http.MethodGet {
			n++
		}
	}
	return n
}

// displayed is what records show for October.
func displayed(t *testing.T, srv *datacitetest.Server, names ...string) (lines []string) {
	t.Helper()
	for _, name := range names {
		both := shownOf(t, srv, name)
		lines = append(lines, fmt.Sprintf("%s %d %d", name[len("10.5072/"):], both[0], both[1]))
	}
	return lines
}

// both is a dataset with views and downloads.
func both(name string, v, n int64) reports.Dataset { return dataset(name, views(v), downloads(n)) }

// after returns a server with records of 10.5072/a, b and c, after stages that it has processed.
func after(t *testing.T, stages ...stage) *datacitetest.Server {
	t.Helper()
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true,
		Accounts: []datacitetest.Account{{}, {Username: "OTHER.REPO"}}})
	for _, name := range []string{"10.5072/a", "10.5072/b", "10.5072/c"} {
		put(t, srv, name, nil, nil)
	}
	proceed(t, srv, stages)
	return srv
}

func proceed(t *testing.T, srv *datacitetest.Server, stages []stage) {
	t.Helper()
	for _, s := range stages {
		s(t, srv)
		srv.ProcessUsage()
	}
}

// foreign stores a report of another account.
func foreign(creator string, datasets ...reports.Dataset) stage {
	return func(t *testing.T, srv *datacitetest.Server) {
		_, err := srv.As("OTHER.REPO").PutReport(&reports.Report{ID: reportID(9), Header: header(creator, 10),
			Datasets: datasets})
		require.NoError(t, err)
	}
}

// TestRepairMakesRecordsShowWhatTheLogsSay: a rehearsal says what the repair then does,
// records show the wanted numbers, and a second repair changes nothing.
func TestRepairMakesRecordsShowWhatTheLogsSay(t *testing.T) {
	a, b := both("10.5072/a", 5, 3), both("10.5072/b", 4, 2)
	nine := dataset("10.5072/a", slices.Repeat([]reports.Instance{views(3)}, 9)...)
	for name, tt := range map[string]struct {
		fault    []stage
		wanted   []reports.Dataset
		replaces []string
		changes  []string
		shows    []string // afterwards, of a, b and c
	}{
		"nothing is wrong": {[]stage{october(1, a, b)}, []reports.Dataset{a, b}, nil, nil,
			[]string{"a 5 3", "b 4 2", "c 0 0"}},
		"unreported": {nil, []reports.Dataset{a, b}, nil, []string{
			"Repository: 10.5072/a views 0 -> 5 ", "Repository: 10.5072/a downloads 0 -> 3 ",
			"Repository: 10.5072/b views 0 -> 4 ", "Repository: 10.5072/b downloads 0 -> 2 ",
		}, []string{"a 5 3", "b 4 2", "c 0 0"}},
		"the repository was renamed": {[]stage{october(2, a, b)}, []reports.Dataset{a}, []string{"Renamed Repository"},
			[]string{
				"Repository: 10.5072/a views 0 -> 5 ", "Repository: 10.5072/a downloads 0 -> 3 ",
				"Renamed Repository: 10.5072/a views 5 -> 0 ", "Renamed Repository: 10.5072/a downloads 3 -> 0 ",
				"Renamed Repository: 10.5072/b views 4 -> 0 ", "Renamed Repository: 10.5072/b downloads 2 -> 0 ",
			}, []string{"a 5 3", "b 0 0", "c 0 0"}},
		"a double report": {[]stage{october(1, a, b), october(2, both("10.5072/a", 6, 3))}, []reports.Dataset{a, b},
			[]string{"Renamed Repository"}, []string{
				"Renamed Repository: 10.5072/a views 6 -> 0 ", "Renamed Repository: 10.5072/a downloads 3 -> 0 ",
			}, []string{"a 5 3", "b 4 2", "c 0 0"}},
		"what another platform reports, too, is dropped": {[]stage{october(1, a, b), october(2, b)}, []reports.Dataset{a},
			nil, []string{
				"Repository: 10.5072/b views 4 -> 0 ", "Repository: 10.5072/b downloads 2 -> 0 ",
			}, []string{"a 5 3", "b 4 2", "c 0 0"}},
		"a double report of which a dataset was dropped": {[]stage{october(1, a, b), october(2, a), october(2, b)},
			[]reports.Dataset{a, b}, []string{reportID(2)}, []string{
				"Renamed Repository: 10.5072/a views 5 -> 0 left", "Renamed Repository: 10.5072/a downloads 3 -> 0 left",
				"Renamed Repository: 10.5072/b views 4 -> 0 ", "Renamed Repository: 10.5072/b downloads 2 -> 0 ",
			}, []string{"a 5 3", "b 4 2", "c 0 0"}},
		"a correction, lower and without a dataset": {[]stage{october(1, a, b)}, []reports.Dataset{both("10.5072/a", 4, 3)},
			nil, []string{
				"Repository: 10.5072/a views 5 -> 4 ", "Repository: 10.5072/b views 4 -> 0 ",
				"Repository: 10.5072/b downloads 2 -> 0 ",
			}, []string{"a 4 3", "b 0 0", "c 0 0"}},
		"a correction that was sent without zeros": {[]stage{october(1, a, b), october(1, dataset("10.5072/a", views(4)))},
			[]reports.Dataset{dataset("10.5072/a", views(4))}, nil, []string{
				"Repository: 10.5072/a downloads 3 -> 0 left", "Repository: 10.5072/b views 4 -> 0 left",
				"Repository: 10.5072/b downloads 2 -> 0 left",
			}, []string{"a 4 0", "b 0 0", "c 0 0"}},
		"a correction beside a 0 of another platform": {
			[]stage{october(1, a), october(1, dataset("10.5072/a", views(4))), october(2, both("10.5072/a", 0, 0))},
			[]reports.Dataset{both("10.5072/a", 4, 2)}, nil, []string{
				"Repository: 10.5072/a downloads 3 -> 2 left",
			}, []string{"a 4 2", "b 0 0", "c 0 0"}},
		"room for one 0": {[]stage{october(1, dataset("10.5072/a", views(5)))},
			[]reports.Dataset{dataset("10.5072/a",
				slices.Repeat([]reports.Instance{instance(1, reports.MetricTotalDatasetInvestigations, reports.AccessMachine)},
					7)...)}, nil, []string{
				"Repository: 10.5072/a views 5 -> 0 ",
			}, []string{"a 0 0", "b 0 0", "c 0 0"}},
		"a dropped dataset that is wanted": {[]stage{october(1, a, b), october(1, a)},
			[]reports.Dataset{a, both("10.5072/b", 3, 2)}, nil, []string{
				"Repository: 10.5072/b views 4 -> 3 left",
			}, []string{"a 5 3", "b 3 2", "c 0 0"}},
		"an earlier version of a dataset that is no longer read": {
			[]stage{october(1, dataset("10.5072/a", views(5)), b), october(1, nine, b)}, []reports.Dataset{b}, nil, []string{
				"Repository: 10.5072/a views 5 -> 0 too-many-instances",
			}, []string{"a 0 0", "b 4 2", "c 0 0"}},
		"a spelling that is not read": {[]stage{october(1, both("DOI:10.5072/a", 5, 3))},
			[]reports.Dataset{both("DOI:10.5072/a", 5, 3)}, nil, []string{
				"Repository: 10.5072/a views 0 -> 5 ", "Repository: 10.5072/a downloads 0 -> 3 ",
			}, []string{"a 5 3", "b 0 0", "c 0 0"}},
		"a part that counts for the whole": {[]stage{october(1, a, both("10.5072/a#part", 2, 2))}, []reports.Dataset{a}, nil,
			[]string{
				"Repository: 10.5072/a#part views 2 -> 0 ", "Repository: 10.5072/a#part downloads 2 -> 0 ",
			}, []string{"a 5 3", "b 0 0", "c 0 0"}},
		"a DOI that is not registered is dropped": {[]stage{october(1, a, dataset("10.5072/new", views(1)))},
			[]reports.Dataset{a}, nil, []string{
				"Repository: 10.5072/new views 1 -> 0 ",
			}, []string{"a 5 3", "b 0 0", "c 0 0"}},
		"nothing was counted": {[]stage{october(1, a)}, nil, nil, []string{
			"Repository: 10.5072/a views 5 -> 0 ", "Repository: 10.5072/a downloads 3 -> 0 ",
		}, []string{"a 0 0", "b 0 0", "c 0 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := after(t, tt.fault...)
			locks, before := t.TempDir(), written(srv)
			rehearsed, err := mend(t.Context(), srv, tt.wanted, mending(locks, true, tt.replaces...))
			require.NoError(t, err)
			assert.Equal(t, tt.changes, said(rehearsed))
			assert.Empty(t, short(rehearsed.Remain))
			assert.Equal(t, before, written(srv), "a rehearsal sends nothing")

			done, err := mend(t.Context(), srv, tt.wanted, mending(locks, false, tt.replaces...))
			require.NoError(t, err)
			for i, one := range done.Reports {
				assert.EqualValues(t, "2025-10-31", one.Header.Created, "the day of the wanted report")
				assert.Equal(t, rehearsed.Reports[i].Changes, one.Changes)
				assert.Equal(t, rehearsed.Reports[i].Datasets, one.Datasets)
				if one.Receipt != nil {
					assert.Equal(t, one.Datasets > 0, one.Receipt.Sent > 0, "%s: sent what was said", one.Header.CreatedBy)
				}
			}
			after := written(srv)
			for range 2 { // before and after the service has read the reports
				again, err := mend(t.Context(), srv, tt.wanted, mending(locks, false, tt.replaces...))
				require.NoError(t, err)
				for _, one := range again.Reports {
					assert.Zero(t, one.Datasets)
				}
				assert.Equal(t, after, written(srv), "again changes nothing")
				srv.ProcessUsage()
			}
			assert.Equal(t, tt.shows, displayed(t, srv, "10.5072/a", "10.5072/b", "10.5072/c"))
			assert.Empty(t, short(compare(t, srv, nil)))
			assert.Empty(t, short(compare(t, srv, &shown.Options{Month: "2025-10"})))
		})
	}
}

// TestWhatARepairDoesNotMend: it is named, and other reports are left as they are.
func TestWhatARepairDoesNotMend(t *testing.T) {
	a, b := both("10.5072/a", 5, 3), both("10.5072/b", 4, 2)
	for name, tt := range map[string]struct {
		fault  []stage
		wanted []reports.Dataset
		remain []string
		shows  []string
		others int // reports that are named
	}{
		"a report of another platform": {[]stage{october(1, a, b), october(2, both("10.5072/a", 1, 1))},
			[]reports.Dataset{a, b},
			[]string{"10.5072/a 2025-10 views 1 [6] 6 reported-twice 1,2",
				"10.5072/a 2025-10 downloads 1 [4] 4 reported-twice 1,2"}, []string{"a 6 4", "b 4 2"}, 1},
		"a number that another platform may have dropped": {
			[]stage{october(1, a), october(2, b), october(2, dataset("10.5072/d"))}, []reports.Dataset{a},
			[]string{"10.5072/b 2025-10 views 0 [0] 4 left 1,2",
				"10.5072/b 2025-10 downloads 0 [0] 2 left 1,2"}, []string{"a 5 3", "b 4 2"}, 0},
		"a report that was deleted": {[]stage{october(2, a), removed(2)}, []reports.Dataset{b},
			[]string{"10.5072/a 2025-10 views 0 [0] 5 unreported ",
				"10.5072/a 2025-10 downloads 0 [0] 3 unreported "}, []string{"a 5 3", "b 4 2"}, 0},
		"more than one earlier version may have had": {
			[]stage{foreign("Aggregator", dataset("10.5072/a", views(4))), october(1, a, b), october(1, b)},
			[]reports.Dataset{b},
			[]string{"10.5072/a 2025-10 views 0 [0] 9 left 1"}, []string{"a 4 0", "b 4 2"}, 0},
		"a part that another platform counts for the whole": {
			[]stage{october(1, a), october(2, dataset("10.5072/a#part", views(2)))}, []reports.Dataset{a},
			[]string{"10.5072/a 2025-10 views 5 [7] 7 other-doi 2",
				"10.5072/a#part 2025-10 views 2 [0] 0 other-doi 2"}, []string{"a 7 3", "b 0 0"}, 1},
		"a spelling of another platform that is not read": {[]stage{october(2, dataset("DOI:10.5072/a", views(5)))},
			[]reports.Dataset{b},
			[]string{"10.5072/a 2025-10 views 5 [0] 0 spelling 2"}, []string{"a 0 0", "b 4 2"}, 0},
		"characters with which the service finds no DOI": {
			[]stage{showing("10.5072/(a)<1>", nil, nil), october(1, dataset("10.5072/(a)<1>", views(5)))},
			[]reports.Dataset{b, dataset("10.5072/(a)<1>", views(5))},
			[]string{"10.5072/(a)<1> 2025-10 views 5 [0] 0 characters 1"}, []string{"a 0 0", "b 4 2"}, 0},
		"totals of another platform": {[]stage{
			october(2, dataset("10.5072/a",
				instance(8, reports.MetricTotalDatasetInvestigations, reports.AccessRegular)))}, []reports.Dataset{b},
			[]string{"10.5072/a 2025-10 views 8 [0] 0 not-unique 2"}, []string{"a 0 0", "b 4 2"}, 0},
		"several counts of one kind": {[]stage{october(1, dataset("10.5072/a", views(5), views(4)))},
			[]reports.Dataset{dataset("10.5072/a", views(5), views(4))},
			[]string{"10.5072/a 2025-10 views 9 [4 5] 4 several-counts 1"}, []string{"a 4 0", "b 0 0"}, 0},
		"a part that counts for the whole": {[]stage{october(1, a, dataset("10.5072/a#part", views(2)))},
			[]reports.Dataset{a, dataset("10.5072/a#part", views(2))},
			[]string{"10.5072/a 2025-10 views 5 [7] 7 other-doi 1",
				"10.5072/a#part 2025-10 views 2 [0] 0 other-doi 1"}, []string{"a 7 3", "b 0 0"}, 0},
		"a DOI that is not registered": {[]stage{october(1, a, both("10.5072/new", 1, 1))},
			[]reports.Dataset{a, both("10.5072/new", 1, 1)},
			[]string{"10.5072/new 2025-10 views 1 [1] 0 no-record 1",
				"10.5072/new 2025-10 downloads 1 [1] 0 no-record 1"}, []string{"a 5 3", "b 0 0"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			srv, locks := after(t, tt.fault...), t.TempDir()
			for _, dry := range []bool{true, false} {
				r, err := mend(t.Context(), srv, tt.wanted, mending(locks, dry))
				require.NoError(t, err)
				assert.Equal(t, tt.remain, short(r.Remain))
				assert.Len(t, r.Others, tt.others)
			}
			srv.ProcessUsage()
			assert.Equal(t, tt.shows, displayed(t, srv, "10.5072/a", "10.5072/b"))
		})
	}
}

// TestZerosHaveTheTitleOfTheRecord: nobody reported the dataset in a version that is stored.
func TestZerosHaveTheTitleOfTheRecord(t *testing.T) {
	srv := after(t, october(1, dataset("10.5072/a", views(5)), dataset("10.5072/b", views(4))),
		october(1, dataset("10.5072/a", views(5), downloads(3))))
	for _, dry := range []bool{true, false} {
		var warned []string
		opts := mending(t.TempDir(), dry)
		opts.Warn = func(doi string, f datacite.Finding) {
			if doi != "" { // else the stored report was sent from elsewhere
				warned = append(warned, doi+" "+f.Path)
			}
		}
		wanted := dataset("10.5072/a", views(5), instance(0, reports.MetricTotalDatasetRequests, reports.AccessMachine))
		wanted.Performance = append(wanted.Performance, wanted.Performance[0])
		_, err := mend(t.Context(), srv, []reports.Dataset{wanted}, opts)
		require.NoError(t, err)
		assert.Equal(t, []string{"10.5072/a report-datasets[0].performance[0].instance[1].count",
			"10.5072/a report-datasets[0].performance[1].instance[1].count", "10.5072/a report-datasets[0].performance"}, warned, "not of the zeros")
	}
	stored, err := srv.Reports().Get(t.Context(), reportID(1))
	require.NoError(t, err)
	require.Len(t, stored.Datasets, 2)
	assert.Equal(t, "Glacier", stored.Datasets[1].Title)
	assert.Equal(t, []reports.Instance{views(0)}, stored.Datasets[1].Performance[0].Instance)
}

// TestAnotherReportThatIsRefused with RefuseOthers is one that the repair does not replace.
func TestAnotherReportThatIsRefused(t *testing.T) {
	a, b := both("10.5072/a", 5, 3), both("10.5072/b", 4, 2)
	for name, tt := range map[string]struct {
		second   []reports.Dataset // of the second report
		replaces []string
		says     string
	}{
		"replaced":           {[]reports.Dataset{a, b}, []string{"Renamed Repository"}, ""},
		"of what is dropped": {[]reports.Dataset{b}, nil, ""},
		"of zeros":           {[]reports.Dataset{both("10.5072/a", 0, 0)}, nil, ""},
		"of the same": {[]reports.Dataset{both("10.5072/a", 1, 1), b}, nil,
			"report-datasets: report " + reportID(2) +
				` of "Renamed Repository" has 2 of the same numbers for that month, such as one of 10.5072/a; records show the ` +
				`sum`},
	} {
		t.Run(name, func(t *testing.T) {
			srv := after(t, october(1, a, b), october(2, tt.second...))
			for _, dry := range []bool{true, false} {
				opts := mending(t.TempDir(), dry, tt.replaces...)
				opts.Submit.RefuseOthers = true
				_, err := mend(t.Context(), srv, []reports.Dataset{a}, opts)
				if tt.says == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorContains(t, err, tt.says)
				require.ErrorIs(t, err, datacite.ErrInvalid)
			}
		})
	}
}

// TestZerosOfADatasetThatWasStoredTwice have the same description whatever order the service shows.
func TestZerosOfADatasetThatWasStoredTwice(t *testing.T) {
	first, second := both("10.5072/a", 5, 3), dataset("10.5072/a", views(0))
	second.Title = "Zeros"
	found := map[int]bool{}
	for _, datasets := range [][]reports.Dataset{{first, second}, {second, first}} {
		srv := after(t, october(1, datasets...))
		r, err := mend(t.Context(), srv, []reports.Dataset{both("10.5072/b", 1, 1)}, mending(t.TempDir(), false))
		require.NoError(t, err)
		found[r.Reports[0].Datasets] = true
		stored, err := srv.Reports().Get(t.Context(), reportID(1))
		require.NoError(t, err)
		for _, d := range stored.Datasets {
			assert.NotEqual(t, "Zeros", d.Title)
		}
	}
	assert.Len(t, found, 1)
}

// TestZerosOfSubmit: a dataset of zeros that Submit has stored beside the data stays, until the data change.
func TestZerosOfSubmit(t *testing.T) {
	locks := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now))
		zerosOfSubmit(t, locks)
	})
}

func zerosOfSubmit(t *testing.T, locks string) {
	srv, b, bare := after(t), both("10.5072/b", 4, 2), dataset("10.5072/c")
	bare.Performance = nil
	wanted := []reports.Dataset{dataset("10.5072/a", views(5)), b, bare}
	for _, version := range [][]reports.Dataset{{both("10.5072/a", 5, 3), b, bare}, wanted} {
		_, err := srv.Reports().Submit(t.Context(), header("Repository", 10), reports.Source(version),
			&reports.SubmitOptions{LockDir: locks, ZeroDropped: true, AllowInconsistent: true, MaxDatasets: 1})
		require.NoError(t, err)
		srv.ProcessUsage()
	}
	before := written(srv)
	for _, faults := range []datacitetest.Faults{nil,
		datacitetest.First(&datacitetest.Fault{Kind: datacitetest.FaultCutResponse}).When(func(r *http.Request) bool {
			return strings.HasPrefix(r.URL.Path, "/reports/")
		})} {
		srv.SetFaults(faults)
		done, err := mend(t.Context(), srv, wanted, mending(locks, false))
		require.NoError(t, err)
		assert.Zero(t, done.Reports[0].Datasets)
		assert.Equal(t, before, written(srv))
	}
	time.Sleep(time.Minute) // until the service has sent its last response
	wanted[0] = dataset("10.5072/a", views(6))
	done, err := mend(t.Context(), srv, wanted, mending(locks, false))
	require.NoError(t, err)
	assert.Equal(t, 2, done.Reports[0].Datasets, "a and its zeros")
	srv.ProcessUsage()
	assert.Equal(t, []string{"a 6 0", "b 4 2"}, displayed(t, srv, "10.5072/a", "10.5072/b"))
}

// TestRepairBySpecification: a service that shows numbers of its own gets a 0 for what no report
// has, once.
func TestRepairBySpecification(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
	a, locks := dataset("10.5072/a", views(5)), t.TempDir()
	store(t, srv, 1, header("Repository", 10), a, dataset("10.5072/c", views(1)))
	store(t, srv, 2, header("Renamed Repository", 10), a)
	put(t, srv, "10.5072/a", series("2025-10", 5, 5), nil)
	put(t, srv, "10.5072/b", series("2025-10", 4), nil)
	changes := []string{"Repository: 10.5072/b views 4 -> 0 left", "Repository: 10.5072/c views 1 -> 0 ",
		"Renamed Repository: 10.5072/a views 5 -> 0 ", "Renamed Repository: 10.5072/b views 4 -> 0 left"}
	for _, dry := range []bool{true, false} {
		before := written(srv)
		r, err := mend(t.Context(), srv, []reports.Dataset{a}, mending(locks, dry, "Renamed Repository"))
		require.NoError(t, err)
		assert.Equal(t, changes, said(r))
		assert.Equal(t, dry, written(srv) == before)
	}
	last := written(srv)
	put(t, srv, "10.5072/a", nil, nil)
	for cause, at := range map[datacite.Code]time.Time{datacite.CodeLost: now,
		datacite.CodeNotProcessed: time.Date(2025, time.November, 1, 0, 0, 0, 0, time.UTC)} {
		opts := mending(locks, false, "Renamed Repository")
		opts.Compare.Now = at
		r, err := mend(t.Context(), srv, []reports.Dataset{a}, opts)
		require.NoError(t, err)
		for _, one := range r.Reports {
			assert.Zero(t, one.Datasets)
		}
		assert.Contains(t, short(r.Remain), "10.5072/a 2025-10 views 5 [5] 0 "+string(cause)+" 1,2",
			"only the service can do it")
	}
	assert.Equal(t, last, written(srv))
}

func TestRepairRefuses(t *testing.T) {
	a := dataset("10.5072/a", views(5))
	eight := dataset("10.5072/a", slices.Repeat([]reports.Instance{
		instance(1, reports.MetricTotalDatasetInvestigations, reports.AccessMachine)}, 8)...)
	broken := errors.New("the log ends")
	for name, tt := range map[string]struct {
		stored   []stage
		wanted   []reports.Dataset
		replaces string
		is       error
		says     string
	}{
		"a report of another account": {[]stage{foreign("REPOSITORY", a)}, []reports.Dataset{a}, "", datacite.ErrConflict,
			"is not among those of"},
		"a name without a report": {[]stage{october(1, a)}, []reports.Dataset{a}, "Renamed", nil,
			`is "Renamed", which is neither the creator nor the id of another report`},
		"its own name": {[]stage{october(1, a)}, []reports.Dataset{a}, "Repository", nil,
			"neither the creator nor the id of another report"},
		"a fault of the datasets": {nil, []reports.Dataset{a, dataset("nothing", views(-1))}, "", nil,
			"report-datasets[1].performance[0].instance[0].count"},
		"inconsistent counts": {nil, []reports.Dataset{dataset("10.5072/a", views(1), downloads(2))}, "", nil,
			"are inconsistent"},
		"an inconsistent zero": {[]stage{october(1, a)}, []reports.Dataset{dataset("10.5072/a", downloads(2))}, "", nil,
			"are inconsistent"},
		"a dataset twice": {nil, []reports.Dataset{a, a}, "", nil, "report-datasets[1]"},
		"no room for a zero": {[]stage{october(1, a)}, []reports.Dataset{eight}, "", nil,
			"report-datasets[0].performance[0].instance: needs a 0 for a number of 10.5072/a that its record shows, and there " +
				"is no room for it"},
		"datasets that break off": {nil, nil, "", broken, ""},
	} {
		t.Run(name, func(t *testing.T) {
			srv := after(t, tt.stored...)
			before := written(srv)
			for _, dry := range []bool{true, false} {
				opts := mending(t.TempDir(), dry)
				if tt.replaces != "" {
					opts.Replaces = []string{tt.replaces}
				}
				source := reports.Source(tt.wanted)
				if tt.is == broken {
					source = func(yield func(reports.Dataset, error) bool) { yield(reports.Dataset{}, broken) }
				}
				_, err := shown.Repair(t.Context(), srv.Reports(), srv.DOIs(), account, header("Repository", 10), source, opts)
				require.ErrorContains(t, err, tt.says)
				if tt.is != nil {
					require.ErrorIs(t, err, tt.is)
				}
			}
			assert.Equal(t, before, written(srv))
		})
	}
}

// TestZerosBesideRepeats: a DOI that several wanted datasets have gets one 0.
func TestZerosBesideRepeats(t *testing.T) {
	bare := dataset("10.5072/a")
	bare.Performance = nil
	for name, wanted := range map[string][]reports.Dataset{
		"two with counts":   {dataset("10.5072/a", views(3)), dataset("10.5072/a", views(2))},
		"one without":       {dataset("10.5072/a", views(5)), bare},
		"the first without": {bare, dataset("10.5072/a", views(5))},
	} {
		t.Run(name, func(t *testing.T) {
			srv := after(t, october(1, both("10.5072/a", 5, 3)))
			opts := mending(t.TempDir(), false)
			opts.Submit.MergeRepeats = true
			for range 2 {
				_, err := mend(t.Context(), srv, wanted, opts)
				require.NoError(t, err)
				assert.Equal(t, 1, written(srv), "once")
				srv.ProcessUsage()
			}
			assert.Equal(t, []string{"a 5 0"}, displayed(t, srv, "10.5072/a"))
		})
	}
}

// TestANumberOfAnEarlierVersion may be that of a report that lacks the number, which only the next comparison can tell.
func TestANumberOfAnEarlierVersion(t *testing.T) {
	for _, second := range []bool{false, true} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
		inTurn(october(1, dataset("10.5072/a", views(5))), showing("10.5072/a", []int{4}, nil),
			showing("10.5072/b", []int{1}, nil))(t, srv)
		if second {
			october(2, dataset("10.5072/b", views(1)))(t, srv)
		}
		r, err := mend(t.Context(), srv, []reports.Dataset{dataset("10.5072/a", views(5))}, mending(t.TempDir(), false))
		require.NoError(t, err)
		assert.Equal(t, second, slices.Contains(short(r.Remain), "10.5072/a 2025-10 views 5 [5] 4 lost 1"), short(r.Remain))
	}
}

// TestLostBesideRepeats: whether repeats are sent is not known before they are added up, so what a record lost may
// remain.
func TestLostBesideRepeats(t *testing.T) {
	for _, wanted := range [][]reports.Dataset{{dataset("10.5072/a", views(5)), dataset("10.5072/b", views(5))},
		{dataset("10.5072/a", views(5)), dataset("10.5072/b", views(3)), dataset("10.5072/b", views(2))}} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
		inTurn(showing("10.5072/a", nil, nil), showing("10.5072/b", nil, nil))(t, srv)
		opts := mending(t.TempDir(), false)
		opts.Submit.MergeRepeats = true
		_, err := mend(t.Context(), srv, wanted, opts)
		require.NoError(t, err)
		srv.ProcessUsage()
		inTurn(showing("10.5072/a", []int{4}, nil), showing("10.5072/b", []int{5}, nil))(t, srv)
		r, err := mend(t.Context(), srv, wanted, opts)
		require.NoError(t, err)
		assert.Equal(t, []string{"10.5072/a 2025-10 views 5 [5] 4 lost 642b867b6b98"}, short(r.Remain))
		assert.Equal(t, 1, written(srv), "once")
	}
}

// TestRepairNeeds: what is missing is said before anything is asked.
func TestRepairNeeds(t *testing.T) {
	h, none := header("Repository", 10), reports.Source(nil)
	odd := h
	odd.ReportingPeriod.BeginDate = "2025-10-01T00:00:00+02:00"
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	for says, tt := range map[string]struct {
		reports *reports.Client
		dois    *dois.Client
		account string
		header  reports.Header
		wanted  iter.Seq2[reports.Dataset, error]
		opts    shown.RepairOptions
		code    datacite.Code
	}{
		"Repair: needs a client for reports and a client for DOIs": {nil, srv.DOIs(), account, h, none, shown.RepairOptions{},
			"missing"},
		"and a client for DOIs; one of them is nil": {srv.Reports(), nil, account, h, none, shown.RepairOptions{}, "missing"},
		"wanted: is nil": {srv.Reports(), srv.DOIs(), account, h, nil, shown.RepairOptions{},
			"missing"},
		`begins on "2025-10-01T00:00:00+02:00"`: {srv.Reports(), srv.DOIs(), account, odd, none, shown.RepairOptions{},
			"date"},
		`Header.ReportingPeriod: begins on ""`: {srv.Reports(), srv.DOIs(), account, reports.Header{}, none,
			shown.RepairOptions{}, "date"},
		"account: is empty": {srv.Reports(), srv.DOIs(), "", h, none, shown.RepairOptions{}, "missing"},
		"RepairOptions.Replaces[1]: is blank": {srv.Reports(), srv.DOIs(), account, h, none,
			shown.RepairOptions{Replaces: []string{"a", " "}}, "missing"},
		"no temporary file can be created": {srv.Reports(), srv.DOIs(), account, h, none,
			shown.RepairOptions{Submit: reports.SubmitOptions{TempDir: "/nonexistent"}}, ""},
	} {
		_, err := shown.Repair(t.Context(), tt.reports, tt.dois, tt.account, tt.header, tt.wanted, &tt.opts)
		require.ErrorContains(t, err, says)
		for _, f := range datacite.Findings(err) {
			assert.Equal(t, tt.code, f.Code, says)
		}
	}
	assert.Empty(t, srv.Requests())
}

// TestRepairEndsWithAnError: of the service, also if that has recovered before the next request, and nothing is sent.
func TestRepairEndsWithAnError(t *testing.T) {
	for name, tt := range map[string]struct {
		path string
		nth  int // of the requests for it: the first one that fails
		says string
	}{
		"the reports of the account":   {"/reports", 1, "reports.All"},
		"the reports of the creator":   {"/reports", 2, "reports.All"},
		"the report":                   {"/reports/" + reportID(1), 1, "reports.Open"},
		"another report":               {"/reports/" + reportID(2), 1, "reports.Open"},
		"the comparison":               {"/dois", 1, "dois.Walk"},
		"the record that gets a 0":     {"/dois/10.5072/b", 2, "the title of 10.5072/b, which gets a 0"},
		"the reports in a comparison":  {"/reports", 3, "reports.All"},
		"the report in the comparison": {"/reports/" + reportID(1), 2, "report " + reportID(1)},
	} {
		t.Run(name, func(t *testing.T) {
			locks := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				attempts := 5 // of the client
				if strings.HasPrefix(tt.path, "/reports/") {
					attempts *= 3 // of again
				}
				asked, fails := 0, false
				srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true,
					Faults: func(_ int, r *http.Request) *datacitetest.Fault {
						if fails && r.URL.Path == tt.path {
							if asked++; asked >= tt.nth && asked < tt.nth+attempts {
								return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: 500}
							}
						}
						return nil
					}})
				put(t, srv, "10.5072/b", nil, nil)
				proceed(t, srv, []stage{october(1, both("10.5072/b", 4, 2)), october(1, dataset("10.5072/c", views(1))),
					october(2, dataset("10.5072/c", views(1)))})
				before := written(srv)
				fails = true
				r, err := mend(t.Context(), srv, []reports.Dataset{both("10.5072/a", 5, 3)}, mending(locks, false))
				require.ErrorIs(t, err, datacite.ErrServer)
				require.ErrorContains(t, err, tt.says)
				assert.Nil(t, r)
				assert.Equal(t, before, written(srv))
			})
		})
	}
}

// TestOneMonth: other months are neither read nor compared.
func TestOneMonth(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
	store(t, srv, 1, header("Repo", 10), dataset("10.5072/a", views(5)))
	store(t, srv, 2, header("Repo", 11), dataset("10.5072/a", views(6)))
	put(t, srv, "10.5072/a", append(series("2025-10", 4), series("2025-11", 9)...), nil)
	before := len(srv.Requests())
	assert.Equal(t, []string{"10.5072/a 2025-11 views 6 [6] 9 lost 2"},
		short(compare(t, srv, &shown.Options{Month: "2025-11"})))
	assert.Len(t, srv.Requests()[before:], 1+1+1+1)
	assert.Len(t, compare(t, srv, nil), 2)
}

// A stage of a course of events, after which the service makes its numbers.
type stage func(t *testing.T, srv *datacitetest.Server)

// october stores a report of October under a number, that of a later number by another creator
// at a later day.
func october(id int, datasets ...reports.Dataset) stage {
	return func(t *testing.T, srv *datacitetest.Server) {
		h := header([]string{"Repository", "Renamed Repository", "Third"}[id-1], 10)
		h.Created = []reports.Date{"2025-10-31", "2025-11-30", "2025-12-31"}[id-1]
		store(t, srv, id, h, datasets...)
	}
}

// beginning stores a report with another begin date.
func beginning(begin reports.Date, datasets ...reports.Dataset) stage {
	return func(t *testing.T, srv *datacitetest.Server) {
		h := header("Repository", 10)
		h.ReportingPeriod.BeginDate = begin
		store(t, srv, 1, h, datasets...)
	}
}

// removed deletes a report, which only the operator's staff can.
func removed(id int) stage {
	return func(t *testing.T, srv *datacitetest.Server) {
		encode := base64.RawURLEncoding.EncodeToString
		token := encode([]byte(`{"alg":"RS256"}`)) + "." +
			encode([]byte(`{"uid":"x","role_id":"staff_admin","exp":4000000000}`)) + "."
		r, err := http.NewRequestWithContext(t.Context(), "DELETE", srv.URL+"/reports/"+reportID(id), nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := srv.HTTPClient().Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 204, res.StatusCode)
	}
}

// counting stores a compressed report of another client, which no schema has checked. Its
// views of 10.5072/a are given as JSON.
func counting(count string) stage {
	return func(t *testing.T, srv *datacitetest.Server) {
		h := header("Unchecked", 10)
		h.Exceptions = []reports.Exception{
			{Code: reports.ExceptionCompressed, Severity: "warning", Message: "Report is compressed using gzip",
				HelpURL: "https://github.com/datacite/sashimi", Data: "usage data needs to be uncompressed"}}
		head, err := json.Marshal(h)
		require.NoError(t, err)
		_, err = srv.PutReportJSON([]byte(`{"id":"` + reportID(8) + `","report-header":` + string(head) +
			`,"report-datasets":[{"dataset-id":[{"type":"doi","value":"10.5072/a"}],"performance":[{"instance":[{` +
			count + `"metric-type":"unique-dataset-investigations","access-method":"regular"}]}]}]}`))
		require.NoError(t, err)
	}
}

// TestDifferencesAfterCorrections: each number is that of the report that has it, and what was put right
// is a difference no more.
func TestDifferencesAfterCorrections(t *testing.T) {
	five, six, none := dataset("10.5072/a", views(5)), dataset("10.5072/a", views(6)), dataset("10.5072/a", views(0))
	a, b := both("10.5072/a", 5, 3), both("10.5072/b", 4, 2)
	machines := dataset("10.5072/a", instance(5, reports.MetricUniqueDatasetInvestigations, reports.AccessMachine))
	for name, tt := range map[string]struct {
		stages []stage
		want   []string
	}{
		"three reports, the last one zeroed": {[]stage{october(1, five), october(2, six), october(3, five), october(3, none)},
			[]string{"10.5072/a 2025-10 views 6 [11] 11 reported-twice 1,2"}},
		"zeroed in a report without the number": {
			[]stage{october(1, five), october(1, dataset("10.5072/b")), october(2, none)},
			[]string{"10.5072/a 2025-10 views 0 [0] 5 left 1"}},
		"not spelt so that the zero is read": {
			[]stage{october(1, five), october(2, six), october(2, dataset("DOI:10.5072/a", views(0)))},
			[]string{"10.5072/a 2025-10 views 5 [5] 11 left 2"}},
		"a zero for a number in a spelling that is not read": {
			[]stage{october(1, dataset("DOI:10.5072/a", views(5))), october(2, none)},
			[]string{"10.5072/a 2025-10 views 5 [0] 0 spelling 1"}},
		"a missing count": {[]stage{counting("")},
			[]string{"10.5072/a 2025-10 views 0 [1] 1 no-count 8"}},
		"a missing count in place of a number": {[]stage{counting(`"count":5,`), counting(`"count":null,`)},
			[]string{"10.5072/a 2025-10 views 0 [1] 5 no-count 8"}},
		"a missing count in place of a number, beside another report": {
			[]stage{counting(`"count":5,`), counting(`"count":null,`), october(3, six)},
			[]string{"10.5072/a 2025-10 views 6 [7] 11 no-count 8"}},
		"a number of a deleted report, where no more is shown than may be": {
			[]stage{october(1, dataset("10.5072/a", views(7), views(3))), october(2, dataset("10.5072/a", views(2))),
				removed(2)},
			[]string{"10.5072/a 2025-10 views 10 [3 7] 5 unreported "}},
		"a zero beside totals": {
			[]stage{october(1, six), october(2, none,
				dataset("10.5072/a", instance(3, reports.MetricTotalDatasetInvestigations, reports.AccessRegular)))}, nil},
		"a begin date of one digit": {[]stage{beginning("2025-10-1", five)}, nil},
		"the second report zeroed": {
			[]stage{october(1, a, b), october(2, both("10.5072/a", 6, 4)), october(2, both("10.5072/a", 0, 0))}, nil},
		"merged, and the other one zeroed": {
			[]stage{october(1, a, b), october(2, a, both("10.5072/c", 1, 1)),
				october(1, both("10.5072/a", 10, 6), b,
					both("10.5072/c", 1, 1)), october(2, both("10.5072/a", 0, 0), both("10.5072/c", 0, 0))}, nil},
		"zeroed, then deleted": {
			[]stage{october(1, a), october(2, a), october(2, both("10.5072/a", 0, 0)), removed(2)}, nil},
		"deleted, then sent again zeroed": {
			[]stage{october(1, a), october(2, a), removed(2), october(2, both("10.5072/a", 0, 0))}, nil},
		"a dropped dataset zeroed": {[]stage{october(1, a, b), october(1, a), october(1, a, both("10.5072/b", 0, 0))},
			nil},
		"dropped for machines, zeroed": {
			[]stage{october(1, dataset("10.5072/a", views(5))), october(1, machines),
				october(1, dataset("10.5072/a", views(0), machines.Performance[0].Instance[0]))}, nil},
		"another account's zeroed": {
			[]stage{october(1, a), foreign("Aggregator", both("10.5072/a", 6, 4)),
				foreign("Aggregator", both("10.5072/a", 0, 0))}, nil},
		"a spelling put right by another": {
			[]stage{october(1, both("DOI:10.5072/a", 5, 3)), october(2, a), october(1, both("DOI:10.5072/a", 0, 0))}, nil},
		"a part reported as the whole": {
			[]stage{october(1, a, both("10.5072/a#part", 2, 2)),
				october(1, both("10.5072/a", 7, 5), both("10.5072/a#part", 0, 0))}, nil},
		"a month that moved, with zeros": {
			[]stage{beginning("2025-09-01", a, b), beginning("2025-10-01", a),
				beginning("2025-10-01", a, both("10.5072/b", 0, 0))}, nil},
		"a missing count given": {[]stage{october(1, b), counting(`"count":null,`), october(2, both("10.5072/a", 0, 0)),
			counting(`"count":5,`)}, nil},
		"the month in UTC put right": {[]stage{beginning("2025-10-01T00:00:00+02:00", a, b), beginning("2025-10-01", a, b)},
			nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, short(compare(t, after(t, tt.stages...), &shown.Options{})))
		})
	}
}

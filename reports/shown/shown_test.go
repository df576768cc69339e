package shown_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"runtime"
	"strconv"
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

const account = "example.repo"

// now is long after the reports of 2025.
var now = time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)

// header is that of a report of a month of 2025, created on its last day.
func header(creator string, month int) reports.Header {
	period := reports.Month(2025, time.Month(month))
	return reports.NewHeader(creator, period.EndDate, period)
}

func instance(n int64, metric reports.MetricType, access reports.AccessMethod) reports.Instance {
	return reports.Instance{Count: n, MetricType: metric, AccessMethod: access}
}

func views(n int64) reports.Instance {
	return instance(n, reports.MetricUniqueDatasetInvestigations, reports.AccessRegular)
}

func downloads(n int64) reports.Instance {
	return instance(n, reports.MetricUniqueDatasetRequests, reports.AccessRegular)
}

// dataset has one performance.
func dataset(id string, counts ...reports.Instance) reports.Dataset {
	return reports.Dataset{
		Title: "Glacier", Platform: "Example", Publisher: "Example", DataType: reports.DataTypeDataset,
		DatasetID:   []reports.TypedValue{{Type: reports.TypeDOI, Value: id}},
		Performance: []reports.Performance{{Period: reports.Month(2025, time.October), Instance: counts}},
	}
}

// A month is one that a record shows.
type month struct {
	month string
	total int
}

// series are the numbers of a month of a record, as months.
func series(name string, totals ...int) (all []month) {
	for _, n := range totals {
		all = append(all, month{name, n})
	}
	return all
}

// put stores a record with its numbers.
func put(t testing.TB, srv *datacitetest.Server, name string, views, downloads []month) {
	t.Helper()
	list := func(months []month) (s dois.Series) {
		for _, m := range months {
			s = append(s, dois.Count{YearMonth: m.month, Total: m.total})
		}
		return s
	}
	data, err := json.Marshal(map[string]any{"doi": name, "titles": []any{map[string]any{"title": "Glacier"}},
		"viewsOverTime": list(views), "downloadsOverTime": list(downloads)})
	require.NoError(t, err)
	require.NoError(t, srv.PutRecordJSON(data))
}

// store stores a report under an id that ends with a number.
func store(t testing.TB, srv *datacitetest.Server, id int, h reports.Header, datasets ...reports.Dataset) {
	t.Helper()
	_, err := srv.PutReport(&reports.Report{ID: reportID(id), Header: h, Datasets: datasets})
	require.NoError(t, err)
}

func reportID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// compare returns all differences.
func compare(t testing.TB, srv *datacitetest.Server, opts *shown.Options) (all []*shown.Difference) {
	t.Helper()
	if opts == nil {
		opts = &shown.Options{}
	}
	if opts.Now.IsZero() {
		opts.Now = now
	}
	for d, err := range shown.Compare(t.Context(), srv.Reports(), srv.DOIs(), account, opts) {
		require.NoError(t, err)
		all = append(all, d)
	}
	return all
}

// short has what a difference says, with the last digits of ids.
func short(all []*shown.Difference) (lines []string) {
	for _, d := range all {
		var ids []string
		for _, id := range d.Reports {
			ids = append(ids, strings.TrimLeft(id[24:], "0"))
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %d %v %d %s %s", d.DOI, d.Month, d.Metric, d.Reported, d.Expected,
			d.Shown, d.Cause, strings.Join(ids, ",")))
	}
	return lines
}

// plant stores a report of October, and a record of 10.5072/a with views and downloads in
// October.
func plant(d reports.Dataset, views, downloads []int) stage {
	return inTurn(october(1, d), showing("10.5072/a", views, downloads))
}

// showing stores a record with numbers of October.
func showing(name string, views, downloads []int) stage {
	return func(t *testing.T, srv *datacitetest.Server) {
		put(t, srv, name, series("2025-10", views...), series("2025-10", downloads...))
	}
}

func inTurn(stages ...stage) stage {
	return func(t *testing.T, srv *datacitetest.Server) {
		for _, s := range stages {
			s(t, srv)
		}
	}
}

func TestCauses(t *testing.T) {
	nine := []reports.Instance{views(5), downloads(3)}
	for _, country := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		nine = append(nine, instance(1, reports.MetricTotalDatasetRequests, reports.AccessMethod(country)))
	}
	twoPerformances := dataset("10.5072/a", views(5))
	twoPerformances.Performance = append(twoPerformances.Performance,
		reports.Performance{Instance: []reports.Instance{downloads(3)}})
	handleFirst := dataset("hdl:1234/5", views(5))
	handleFirst.DatasetID = append(handleFirst.DatasetID, reports.TypedValue{Type: reports.TypeDOI, Value: "10.5072/a"})
	details := map[string]string{ // of the first difference
		"nine instances in a correction": "performance[0].instance has 9 entries; with more than 8, records show no count " +
			"of the dataset, or keep an earlier number; the number shown is that of an earlier version",
		"regular turned machine": "",
		"a correction overtaken": "",
		"read as another DOI":    `"10.5072/a#part" of 2025-10`,
		"another month in UTC":   `"10.5072/a" of 2025-10`,
	}
	for name, tt := range map[string]struct {
		plant stage
		opts  shown.Options
		want  []string
	}{
		"as reported": {
			plant(dataset("https://doi.org/10.5072/A", views(5), downloads(3)), []int{5}, []int{3}), shown.Options{}, nil},
		"machine counts are shown nowhere": {
			plant(dataset("10.5072/a", views(5), instance(7, reports.MetricUniqueDatasetInvestigations, reports.AccessMachine)),
				[]int{5}, nil), shown.Options{}, nil},
		"nothing at all": {plant(dataset("10.5072/a"), nil, nil), shown.Options{}, nil},
		"not processed": {
			plant(dataset("10.5072/a", views(5), downloads(3)), nil, nil),
			shown.Options{Now: time.Date(2025, time.November, 2, 23, 0, 0, 0, time.UTC)},
			[]string{"10.5072/a 2025-10 views 5 [5] 0 not-processed 1", "10.5072/a 2025-10 downloads 3 [3] 0 not-processed 1"},
		},
		"not processed, beside a report without the number": {
			inTurn(plant(dataset("10.5072/a", views(5)), nil, []int{3}), october(2, dataset("10.5072/a", downloads(3)))),
			shown.Options{Now: time.Date(2025, time.November, 1, 0, 0, 0, 0, time.UTC)},
			[]string{"10.5072/a 2025-10 views 5 [5] 0 not-processed 1"},
		},
		"lost": {
			plant(dataset("10.5072/a", views(5), downloads(3)), nil, []int{3}),
			shown.Options{Now: time.Date(2025, time.November, 3, 1, 0, 0, 0, time.UTC)},
			[]string{"10.5072/a 2025-10 views 5 [5] 0 lost 1"},
		},
		"a shorter lag": {
			plant(dataset("10.5072/a", views(5)), nil, nil),
			shown.Options{Now: time.Date(2025, time.November, 1, 2, 0, 0, 0, time.UTC), Lag: time.Hour},
			[]string{"10.5072/a 2025-10 views 5 [5] 0 lost 1"},
		},
		"a correction overtaken": {
			plant(dataset("10.5072/a", views(5)), []int{9}, nil), shown.Options{},
			[]string{"10.5072/a 2025-10 views 5 [5] 9 lost 1"},
		},
		"no such DOI": {
			october(1, dataset("10.5072/unknown", views(5))), shown.Options{},
			[]string{"10.5072/unknown 2025-10 views 5 [5] 0 no-record 1"},
		},
		"reported twice": {
			inTurn(october(2, dataset("10.5072/a", views(6))), plant(dataset("10.5072/a", views(5)), []int{5, 6}, nil)),
			shown.Options{},
			[]string{"10.5072/a 2025-10 views 6 [11] 11 reported-twice 1,2"},
		},
		"lost, and a later report of another creator has only totals": {
			inTurn(october(2, dataset("10.5072/a",
				instance(50, reports.MetricTotalDatasetInvestigations,
					reports.AccessRegular))), plant(dataset("10.5072/a", views(35)), nil, nil)), shown.Options{},
			[]string{"10.5072/a 2025-10 views 35 [35] 0 lost 1"},
		},
		"half of it reported by each of two": {
			inTurn(plant(dataset("10.5072/a", views(5)), []int{5}, []int{6}),
				october(2, dataset("10.5072/a", downloads(6)),
					dataset("10.5072/b", views(1))), showing("10.5072/b", []int{1}, nil)),
			shown.Options{}, nil,
		},
		"of one creator": {
			inTurn(plant(dataset("10.5072/a", views(5)), []int{5}, nil), october(2, dataset("10.5072/a", views(6)))),
			shown.Options{CreatedBy: "Repository"}, nil,
		},
		"left by a dropped dataset": {
			inTurn(plant(dataset("10.5072/b", views(1)), []int{5}, nil), showing("10.5072/b", []int{1}, nil)), shown.Options{},
			[]string{"10.5072/a 2025-10 views 0 [0] 5 left 1"},
		},
		"left by a dropped dataset, and a 0": {
			inTurn(plant(dataset("10.5072/b", views(1)), []int{0, 1}, nil), showing("10.5072/b", []int{1}, nil)),
			shown.Options{},
			[]string{"10.5072/a 2025-10 views 0 [0] 1 left 1"},
		},
		"left by dropped downloads": {
			plant(dataset("10.5072/a", views(5)), []int{5}, []int{3}), shown.Options{},
			[]string{"10.5072/a 2025-10 downloads 0 [0] 3 left 1"},
		},
		"regular turned machine": {
			plant(dataset("10.5072/a", instance(5, reports.MetricUniqueDatasetInvestigations, reports.AccessMachine)), []int{5},
				nil), shown.Options{},
			[]string{"10.5072/a 2025-10 views 0 [0] 5 not-regular 1"},
		},
		"a zero replaces": {
			plant(dataset("10.5072/a", views(0)), []int{0}, nil), shown.Options{}, nil,
		},
		"a zero that has not yet replaced": {
			plant(dataset("10.5072/a", views(0)), []int{5}, nil),
			shown.Options{Now: time.Date(2025, time.November, 1, 1, 0, 0, 0, time.UTC)},
			[]string{"10.5072/a 2025-10 views 0 [0] 5 not-processed 1"},
		},
		"reported by another account": {
			plant(dataset("10.5072/a", views(5)), []int{5, 9}, nil), shown.Options{},
			[]string{"10.5072/a 2025-10 views 5 [5] 14 unreported "},
		},
		"a month without a report": {
			func(t *testing.T, srv *datacitetest.Server) {
				put(t, srv, "10.5072/a", series("2024-03", 5), nil)
			}, shown.Options{},
			[]string{"10.5072/a 2024-03 views 0 [0] 5 unreported "},
		},
		"only totals": {
			plant(dataset("10.5072/a", instance(8, reports.MetricTotalDatasetInvestigations, reports.AccessRegular)), nil, nil),
			shown.Options{},
			[]string{"10.5072/a 2025-10 views 8 [0] 0 not-unique 1"},
		},
		"only totals, and a later report of another creator has the downloads": {
			inTurn(plant(dataset("10.5072/a", instance(8, reports.MetricTotalDatasetInvestigations, reports.AccessRegular)), nil,
				[]int{3}), october(2, dataset("10.5072/a", downloads(3)))), shown.Options{},
			[]string{"10.5072/a 2025-10 views 8 [0] 0 not-unique 1"},
		},
		"only totals, and a later report of another creator has a 0": {
			inTurn(plant(dataset("10.5072/a", instance(8, reports.MetricTotalDatasetInvestigations, reports.AccessRegular)), nil,
				nil), october(2, dataset("10.5072/a", views(0)))), shown.Options{},
			[]string{"10.5072/a 2025-10 views 8 [0] 0 not-unique 1"},
		},
		"nine instances": {
			plant(dataset("10.5072/a", nine...), nil, nil), shown.Options{},
			[]string{"10.5072/a 2025-10 views 5 [0] 0 too-many-instances 1",
				"10.5072/a 2025-10 downloads 3 [0] 0 too-many-instances 1"},
		},
		"nine instances in a correction": {
			plant(dataset("10.5072/a", nine...), []int{4}, []int{3}), shown.Options{},
			[]string{"10.5072/a 2025-10 views 5 [0] 4 too-many-instances 1"},
		},
		"a second performance": {
			plant(twoPerformances, []int{5}, nil), shown.Options{},
			[]string{"10.5072/a 2025-10 downloads 3 [0] 0 later-performance 1"},
		},
		"a count for each country": {
			plant(dataset("10.5072/a", views(5), views(4)), []int{4}, nil), shown.Options{},
			[]string{"10.5072/a 2025-10 views 9 [4 5] 4 several-counts 1"},
		},
		"a count for each country, lost": {
			plant(dataset("10.5072/a", views(5), views(4)), nil, nil), shown.Options{},
			[]string{"10.5072/a 2025-10 views 9 [4 5] 0 lost 1"},
		},
		"a dataset twice": {
			inTurn(october(1, dataset("10.5072/a", views(5), downloads(1)), dataset("10.5072/b", views(1)),
				dataset("doi:10.5072/A", views(7))), showing("10.5072/a", []int{5}, []int{1}), showing("10.5072/b", []int{1}, nil)),
			shown.Options{},
			[]string{"10.5072/a 2025-10 views 12 [5 7] 5 several-counts 1"},
		},
		"a handle before the DOI": {
			plant(handleFirst, nil, nil), shown.Options{},
			[]string{"10.5072/a 2025-10 views 5 [0] 0 later-identifier 1"},
		},
		"a handle": {
			october(1, dataset("hdl:1234/5", views(5))), shown.Options{},
			[]string{"hdl:1234/5 2025-10 views 5 [0] 0 not-a-doi 1"},
		},
		"spelling": {
			plant(dataset("DOI:10.5072/A", views(1)), nil, nil), shown.Options{},
			[]string{"10.5072/a 2025-10 views 1 [0] 0 spelling 1"},
		},
		"a character that texts do not have": {
			october(1, dataset("10.5072/a\x00b", views(5))), shown.Options{},
			[]string{"10.5072/a\ufffdb 2025-10 views 5 [0] 0 no-record 1"},
		},
		"characters": {
			inTurn(october(1, dataset("10.5072/(a)<1>", views(5))), showing("10.5072/(a)<1>", nil, nil)), shown.Options{},
			[]string{"10.5072/(a)<1> 2025-10 views 5 [0] 0 characters 1"},
		},
		"read as another DOI": {
			inTurn(october(1, dataset("10.5072/a", views(5)), dataset("10.5072/a#part", views(2))),
				showing("10.5072/a", []int{5, 2}, nil), showing("10.5072/a#part", nil, nil)), shown.Options{},
			[]string{"10.5072/a 2025-10 views 5 [7] 7 other-doi 1", "10.5072/a#part 2025-10 views 2 [0] 0 other-doi 1"},
		},
		"another month in UTC": {
			inTurn(beginning("2025-10-01T00:00:00+02:00", dataset("10.5072/a", views(5))),
				func(t *testing.T, srv *datacitetest.Server) {
					put(t, srv, "10.5072/a", series("2025-09", 5), nil)
				}), shown.Options{},
			[]string{"10.5072/a 2025-09 views 0 [5] 5 other-month 1", "10.5072/a 2025-10 views 5 [0] 0 other-month 1"},
		},
		"too large": {
			plant(dataset("10.5072/a", views(1<<31), downloads(1<<31-1)), nil, []int{1<<31 - 1}), shown.Options{},
			[]string{"10.5072/a 2025-10 views 2147483648 [0] 0 too-large 1"},
		},
		"causes that are not looked for": {
			plant(dataset("10.5072/a", views(5)), nil, []int{3}),
			shown.Options{Causes: []datacite.Code{datacite.CodeLeft, datacite.CodeNoRecord}},
			[]string{"10.5072/a 2025-10 downloads 0 [0] 3 left 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
			tt.plant(t, srv)
			all := compare(t, srv, &tt.opts)
			assert.Equal(t, tt.want, short(all))
			for _, d := range all {
				reported := ""
				if len(d.Reports) > 0 {
					reported = " (" + strings.Join(d.Reports, ", ") + ")"
				}
				assert.True(t, strings.HasSuffix(d.String(), cmp.Or(d.Detail, shown.Sentence(d.Cause))+reported), d)
			}
			if detail, ok := details[name]; ok {
				assert.Equal(t, detail, all[0].Detail)
			}
		})
	}
}

var compared = flag.Int("compared", 2_000, "DOIs of the long test of a comparison")

// Listed DOIs are looked up for differences of the wanted causes, and others if they may have one.
func TestWhatIsLookedUp(t *testing.T) {
	others := func(t *testing.T, srv *datacitetest.Server) {
		put(t, srv.As("OTHER.REPO"), "10.5072/a", series("2025-10", 4), nil)
	}
	lost := shown.Options{Causes: []datacite.Code{datacite.CodeLost}}
	for name, tt := range map[string]struct {
		plant  stage
		opts   shown.Options
		want   []string
		looked int
	}{
		"a difference of a listed one": {plant(dataset("10.5072/a", views(5)), []int{4}, nil), lost,
			[]string{"10.5072/a 2025-10 views 5 [5] 4 lost 1"}, 1},
		"of another cause": {plant(dataset("10.5072/a", views(5)), []int{5}, []int{3}), lost, nil, 0},
		"no difference":    {plant(dataset("10.5072/a", views(5)), []int{5}, nil), shown.Options{}, nil, 0},
		"a report of an unlisted one": {inTurn(october(1, dataset("10.5072/a", views(5))), others), lost,
			[]string{"10.5072/a 2025-10 views 5 [5] 4 lost 1"}, 1},
		"a right one": {inTurn(october(1, dataset("10.5072/a", views(4))), others), shown.Options{}, nil, 1},
		"of nothing":  {inTurn(october(1, dataset("10.5072/a")), others), lost, nil, 0},
		"no DOI": {october(1, dataset("hdl:1234/5", views(5))), shown.Options{},
			[]string{"hdl:1234/5 2025-10 views 5 [0] 0 not-a-doi 1"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true,
				Accounts: []datacitetest.Account{{}, {Username: "OTHER.REPO"}}})
			tt.plant(t, srv)
			before := len(srv.Requests())
			assert.Equal(t, tt.want, short(compare(t, srv, &tt.opts)))
			assert.Len(t, srv.Requests()[before:], 1+1+1+tt.looked)
		})
	}
}

// DOIs of other accounts are looked up together.
func TestDOIsOfOthers(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true,
		Accounts: []datacitetest.Account{{}, {Username: "OTHER.REPO"}}})
	var datasets []reports.Dataset
	for i := range 250 {
		name := fmt.Sprintf("10.5072/n%d", i)
		datasets = append(datasets, dataset(name, views(5)))
		shows := 5
		if i == 7 {
			shows = 4
		}
		if i != 8 {
			put(t, srv.As("OTHER.REPO"), name, series("2025-10", shows), nil)
		}
	}
	store(t, srv, 1, header("Repo", 10), datasets...)
	before := len(srv.Requests())
	assert.Equal(t, []string{"10.5072/n7 2025-10 views 5 [5] 4 lost 1", "10.5072/n8 2025-10 views 5 [5] 0 no-record 1"},
		short(compare(t, srv, nil)))
	assert.Len(t, srv.Requests()[before:], 1+1+1+3+2)
}

// A report whose connection breaks off is read again, and nothing of the first attempt counts.
func TestABrokenConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := &datacitetest.Fault{Kind: datacitetest.FaultCutResponse}
		ofReport := func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/reports/") }
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true,
			Faults: datacitetest.First(cut, cut).When(ofReport)})
		var datasets []reports.Dataset
		for i := range 200 {
			name := fmt.Sprintf("10.5072/n%d", i)
			datasets = append(datasets, dataset(name, views(1)))
			put(t, srv, name, series("2025-10", 1), nil)
		}
		put(t, srv, "10.5072/n0", series("2025-10", 3), nil)
		store(t, srv, 1, header("Repo", 10), datasets...)
		assert.Equal(t, []string{"10.5072/n0 2025-10 views 1 [1] 3 lost 1"}, short(compare(t, srv, nil)))
		srv.SetFaults(datacitetest.First(cut, cut, cut).When(ofReport))
		before := len(srv.Requests())
		for _, err := range shown.Compare(t.Context(), srv.Reports(), srv.DOIs(), account, nil) {
			require.ErrorContains(t, err, "report "+reportID(1)+": ")
		}
		assert.Len(t, srv.Requests()[before:], 1+3, "the list, and three attempts")
		time.Sleep(time.Minute) // until the service has sent its last response
	})
}

// A month of a report that cannot be read is not compared.
func TestLeaveOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true,
			Faults: failing("/reports/" + reportID(2))})
		store(t, srv, 1, header("Repo", 10), dataset("10.5072/a", views(5)))
		store(t, srv, 2, header("Repo", 11), dataset("10.5072/a", views(6)))
		put(t, srv, "10.5072/a", append(series("2025-10", 4), series("2025-11", 9)...), nil)
		var left []string
		all := compare(t, srv, &shown.Options{LeaveOut: func(err error) bool {
			left = append(left, err.Error())
			assert.ErrorIs(t, err, datacite.ErrServer)
			return true
		}})
		require.Len(t, left, 1)
		assert.Contains(t, left[0], "report "+reportID(2)+": ")
		assert.Equal(t, []string{"10.5072/a 2025-10 views 5 [5] 4 lost 1"}, short(all))
		for _, err := range shown.Compare(t.Context(), srv.Reports(), srv.DOIs(), account,
			&shown.Options{LeaveOut: func(error) bool { return false }}) {
			require.ErrorIs(t, err, datacite.ErrServer, "not left out, so the error ends the sequence")
		}
	})
}

// failing fails requests for a path.
func failing(path string) datacitetest.Faults {
	return func(_ int, r *http.Request) *datacitetest.Fault {
		if r.URL.Path != path {
			return nil
		}
		return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: 500}
	}
}

func TestCompareEndsWithAnError(t *testing.T) {
	for name, tt := range map[string]struct {
		account string
		opts    *shown.Options
		faults  datacitetest.Faults
		is      error
		says    string
	}{
		"no account": {"", nil, nil, datacite.ErrInvalid, "account: is empty"},
		"no such month": {account, &shown.Options{Month: "2025-13"}, nil, datacite.ErrInvalid,
			`Options.Month: is "2025-13", not YYYY-MM`},
		"no cause": {account, &shown.Options{Causes: []datacite.Code{}}, nil, datacite.ErrInvalid,
			"Options.Causes: is empty, so nothing would be reported"},
		"no such cause": {account, &shown.Options{Causes: []datacite.Code{"bad-luck"}}, nil, datacite.ErrInvalid,
			`Options.Causes: has "bad-luck"`},
		"a negative lag": {account, &shown.Options{Lag: -1}, nil, datacite.ErrInvalid, "Options.Lag: is negative"},
		"the list":       {account, nil, failing("/reports"), datacite.ErrServer, "reports.All"},
		"a report":       {account, nil, failing("/reports/" + reportID(1)), datacite.ErrServer, "reports.Open"},
		"the records":    {account, nil, failing("/dois"), datacite.ErrServer, "dois.Walk"},
		"a record":       {account, nil, failing("/dois/10.5072/a"), datacite.ErrServer, "dois.Get"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true,
					Faults: tt.faults})
				store(t, srv, 1, header("Repo", 10), dataset("10.5072/a", views(5)))
				put(t, srv, "10.5072/a", nil, nil)
				var end error
				for d, err := range shown.Compare(t.Context(), srv.Reports(), srv.DOIs(), tt.account, tt.opts) {
					require.NoError(t, end, "the error is the last")
					if end = err; err != nil {
						assert.Nil(t, d)
					}
				}
				require.ErrorIs(t, end, tt.is)
				assert.ErrorContains(t, end, tt.says)
				for _, f := range datacite.Findings(end) {
					assert.Equal(t, map[string]datacite.Code{"no account": "missing", "no such cause": "vocabulary",
						"a negative lag": "limit", "no such month": "date", "no cause": "value"}[name], f.Code)
				}
			})
		})
	}
	t.Run("the context", func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
		for i := range 20 {
			put(t, srv, fmt.Sprintf("10.5072/n%d", i), series("2025-10", 1), nil)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for _, err := range shown.Compare(ctx, srv.Reports(), srv.DOIs(), account, nil) {
			if n++; n == 3 {
				cancel()
			}
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
			}
		}
		assert.Equal(t, 4, n)
	})
	t.Run("no temporary file", func(t *testing.T) {
		w := &world{dois: 3_000}
		ofReports, ofDOIs := w.clients(t)
		for _, err := range shown.Compare(t.Context(), ofReports, ofDOIs, account, &shown.Options{TempDir: "/nonexistent"}) {
			require.ErrorIs(t, err, os.ErrNotExist)
		}
		assert.Less(t, w.asked, 1+12, "it ends at once")
	})
	t.Run("no client", func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
		for _, ofReports := range []*reports.Client{nil, srv.Reports()} {
			for _, err := range shown.Compare(t.Context(), ofReports, nil, account, nil) {
				require.ErrorContains(t, err, "one of them is nil")
				assert.Equal(t, datacite.CodeMissing, datacite.Findings(err)[0].Code)
			}
		}
	})
}

// A world makes its reports and records as they are asked for. Each month is reported for
// all DOIs, and one DOI in a thousand lacks a month.
type world struct {
	dois, asked int
}

func (w *world) clients(t testing.TB) (*reports.Client, *dois.Client) {
	cfg := datacite.Config{Service: datacite.Service{API: "https://api.example.org"},
		HTTPClient: &http.Client{Transport: w}, MaxAttempts: 1}
	ofReports, err := reports.NewClient(cfg)
	require.NoError(t, err)
	ofDOIs, err := dois.NewClient(cfg)
	require.NoError(t, err)
	return ofReports, ofDOIs
}

func (w *world) name(i int) string { return fmt.Sprintf("10.5072/r%07d", i) }

func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.asked++
	body, pipe := io.Pipe()
	go func() {
		out := bufio.NewWriter(pipe)
		w.write(out, r)
		pipe.CloseWithError(out.Flush())
	}()
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: -1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
	}, nil
}

func (w *world) write(out *bufio.Writer, r *http.Request) {
	query := r.URL.Query()
	last := path.Base(r.URL.Path)
	switch {
	case r.URL.Path == "/reports":
		var all []string
		for month := range 12 {
			h, _ := json.Marshal(header("Repo", month+1))
			all = append(all, fmt.Sprintf(`{"id":%q,"report-header":%s}`, reportID(month+1), h))
		}
		fmt.Fprintf(out, `{"reports":[%s],"meta":{"total":12}}`, strings.Join(all, ","))
	case r.URL.Path == "/dois":
		first, _ := strconv.Atoi(query.Get("page[cursor]"))
		size, _ := strconv.Atoi(query.Get("page[size]"))
		first-- // the first cursor is 1
		end := min(first+size, w.dois)
		fmt.Fprint(out, `{"data":[`)
		for i := first; i < end; i++ {
			if i > first {
				fmt.Fprint(out, ",")
			}
			w.record(out, w.dois-1-i)
		}
		fmt.Fprintf(out, `],"meta":{"total":%d},"links":{`, w.dois)
		if end < w.dois {
			fmt.Fprintf(out, `"next":"https://api.example.org/dois?page%%5Bcursor%%5D=%d"`, end+1)
		}
		fmt.Fprint(out, `}}`)
	case strings.HasPrefix(r.URL.Path, "/reports/"):
		month, _ := strconv.Atoi(last[24:])
		h, _ := json.Marshal(header("Repo", month))
		fmt.Fprintf(out, `{"report":{"id":%q,"report-header":%s,"report-datasets":[`, last, h)
		for i := range w.dois {
			if i > 0 {
				fmt.Fprint(out, ",")
			}
			fmt.Fprintf(out, `{"dataset-title":"T","dataset-id":[{"type":"doi","value":%q}],"performance":[{"period":{},`+
				`"instance":[{"count":%d,"metric-type":"unique-dataset-investigations","access-method":"regular"}]}`+
				`]}`, w.name(i), i+month)
		}
		fmt.Fprint(out, `]}}`)
	default:
		i, _ := strconv.Atoi(last[1:])
		fmt.Fprint(out, `{"data":`)
		w.record(out, i)
		fmt.Fprint(out, `}`)
	}
}

func (w *world) record(out *bufio.Writer, i int) {
	fmt.Fprintf(out, `{"id":%[1]q,"type":"dois","attributes":{"doi":%[1]q,"downloadsOverTime":[],"viewsOverTime":[`,
		w.name(i))
	for month := 1; month <= 12; month++ {
		n := i + month
		if i%1000 == 7 && month == 5 {
			n = 0
		}
		if month > 1 {
			fmt.Fprint(out, ",")
		}
		fmt.Fprintf(out, `{"yearMonth":"2025-%02d","total":%d}`, month, n)
	}
	fmt.Fprint(out, `]}}`)
}

// TestMemory compares many DOIs: in little memory, with one request for 1,000 DOIs, one for each report
// and one for each difference.
func TestMemory(t *testing.T) {
	w := &world{dois: *compared}
	ofReports, ofDOIs := w.clients(t)
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	dir, before, most, calls := t.TempDir(), inUse(), uint64(0), 0
	var last, listing shown.Progress
	var months []shown.Month
	opts := &shown.Options{TempDir: dir, Now: now, Months: func(m []shown.Month) {
		months = m
	}, Progress: func(p shown.Progress) {
		if p.Reports > last.Reports {
			assert.Equal(t, p.Reports**compared, p.Datasets, "after each report")
		}
		if last = p; p.Compared == 0 {
			listing = p
		}
		if calls++; calls%25 == 0 {
			most = max(most, inUse())
		}
	}}
	began, differences := time.Now(), 0
	for d, err := range shown.Compare(t.Context(), ofReports, ofDOIs, account, opts) {
		require.NoError(t, err)
		assert.Equal(t, "2025-05", d.Month)
		differences++
		assert.Equal(t, differences, last.Differences)
	}
	t.Logf("%d DOIs, 12 months: %d requests, %d differences, %v, %.1f MiB at most", *compared, w.asked, differences,
		time.Since(began).Round(time.Millisecond), float64(most-min(most, before))/(1<<20))
	n := *compared
	assert.Equal(t, (n+992)/1000, differences)
	assert.Equal(t, shown.Progress{Reports: 12, AllReports: 12, Datasets: 12 * n, Records: n, AllRecords: n, Compared: n,
		Differences: differences}, last)
	assert.Positive(t, listing.Records, "the records are read before they are compared")
	require.Len(t, months, 12)
	for i, m := range months {
		reported, lost := int64(n)*int64(n-1)/2+int64(n)*int64(i+1), shown.Total{}
		for at := 7; at < n && i == 4; at += 1000 {
			lost.Shown += int64(at + 5)
			lost.Differences++
		}
		assert.Equal(t, shown.Month{Month: fmt.Sprintf("2025-%02d", i+1),
			Views: shown.Total{Reported: reported, Shown: reported - lost.Shown, Differences: lost.Differences}}, m)
	}
	assert.LessOrEqual(t, w.asked, 1+12+(*compared+999)/1000+differences)
	assert.LessOrEqual(t, most, before+8<<20)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

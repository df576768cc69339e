package shown_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/shown"
)

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
		token := encode([]byte(`{"alg":"RS256"}`)) + "." + encode([]byte(`{"uid":"x","role_id":"staff_admin","exp":4000000000}`)) + "."
		r, err := http.NewRequestWithContext(t.Context(), "DELETE", srv.URL+"/reports/"+reportID(id), nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := srv.HTTPClient().Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 204, res.StatusCode)
	}
}

func registered(name string) stage {
	return func(t *testing.T, srv *datacitetest.Server) { put(t, srv, name, nil, nil) }
}

// TestRepairs: what a repair has put right is a difference no more.
func TestRepairs(t *testing.T) {
	both := func(name string, v, d int64) reports.Dataset { return dataset(name, views(v), downloads(d)) }
	a, b := both("10.5072/a", 5, 3), both("10.5072/b", 4, 2)
	machines := dataset("10.5072/a", instance(5, reports.UniqueDatasetInvestigations, reports.Machine))
	later := both("10.5072/a", 5, 3)
	later.Performance = append(later.Performance, later.Performance[0])
	later.Performance[0].Instance = nil
	handle := both("hdl:1234/5", 5, 3)
	handle.DatasetID = append(handle.DatasetID, reports.TypedValue{Type: reports.TypeDOI, Value: "10.5072/a"})
	nine := both("10.5072/a", 5, 3)
	for range 7 {
		nine.Performance[0].Instance = append(nine.Performance[0].Instance, instance(1, reports.TotalDatasetRequests, reports.Machine))
	}
	foreign := func(v, d int64) stage {
		return func(t *testing.T, srv *datacitetest.Server) {
			_, err := srv.As("OTHER.REPO").PutReport(&reports.Report{ID: reportID(9), Header: header("Aggregator", 10), Datasets: []reports.Dataset{both("10.5072/a", v, d)}})
			require.NoError(t, err)
		}
	}
	for name, tt := range map[string]struct {
		fault  []stage
		repair []stage
	}{
		"the second report zeroed":         {[]stage{october(1, a, b), october(2, both("10.5072/a", 6, 4))}, []stage{october(2, both("10.5072/a", 0, 0))}},
		"the same numbers twice":           {[]stage{october(1, a, b), october(2, a, b)}, []stage{october(2, both("10.5072/a", 0, 0), both("10.5072/b", 0, 0))}},
		"the first report zeroed":          {[]stage{october(1, a, b), october(2, a)}, []stage{october(1, both("10.5072/a", 0, 0), b)}},
		"two of three zeroed":              {[]stage{october(1, a), october(2, a), october(3, a)}, []stage{october(1, both("10.5072/a", 0, 0)), october(3, both("10.5072/a", 0, 0))}},
		"all zeroed, and one sent anew":    {[]stage{october(1, a), october(2, a)}, []stage{october(1, both("10.5072/a", 0, 0)), october(2, both("10.5072/a", 0, 0)), october(3, a)}},
		"zeroed, then deleted":             {[]stage{october(1, a), october(2, a)}, []stage{october(2, both("10.5072/a", 0, 0)), removed(2)}},
		"deleted, then sent again zeroed":  {[]stage{october(1, a), october(2, a), removed(2)}, []stage{october(2, both("10.5072/a", 0, 0))}},
		"one metric of the second zeroed":  {[]stage{october(1, a), october(2, dataset("10.5072/a", views(6)))}, []stage{october(2, dataset("10.5072/a", views(0)))}},
		"merged, and the other one zeroed": {[]stage{october(1, a, b), october(2, a, both("10.5072/c", 1, 1))}, []stage{october(1, both("10.5072/a", 10, 6), b, both("10.5072/c", 1, 1)), october(2, both("10.5072/a", 0, 0), both("10.5072/c", 0, 0))}},
		"one creator's part moved":         {[]stage{october(1, a), october(2, dataset("10.5072/a", views(6)))}, []stage{october(1, dataset("10.5072/a", views(0), downloads(3)))}},
		"a dropped dataset zeroed":         {[]stage{october(1, a, b), october(1, a)}, []stage{october(1, a, both("10.5072/b", 0, 0))}},
		"a dropped dataset sent again":     {[]stage{october(1, a, b), october(1, a)}, []stage{october(1, a, both("10.5072/b", 7, 8))}},
		"dropped downloads zeroed":         {[]stage{october(1, a), october(1, dataset("10.5072/a", views(5)))}, []stage{october(1, both("10.5072/a", 5, 0))}},
		"dropped for machines, zeroed":     {[]stage{october(1, dataset("10.5072/a", views(5))), october(1, machines)}, []stage{october(1, dataset("10.5072/a", views(0), machines.Performance[0].Instance[0]))}},
		"another account's zeroed":         {[]stage{october(1, a), foreign(6, 4)}, []stage{foreign(0, 0)}},
		"a spelling put right":             {[]stage{october(1, both("DOI:10.5072/a", 5, 3))}, []stage{october(1, a)}},
		"a spelling put right by another":  {[]stage{october(1, both("DOI:10.5072/a", 5, 3))}, []stage{october(2, a), october(1, both("DOI:10.5072/a", 0, 0))}},
		"the DOI put first":                {[]stage{october(1, handle)}, []stage{october(1, a)}},
		"halves added up":                  {[]stage{october(1, dataset("10.5072/a", views(2), views(3)))}, []stage{october(1, dataset("10.5072/a", views(5)))}},
		"entries added up":                 {[]stage{october(1, a, both("doi:10.5072/a", 1, 1))}, []stage{october(1, both("10.5072/a", 6, 4))}},
		"eight counts of nine":             {[]stage{october(1, nine)}, []stage{october(1, a)}},
		"in the first performance":         {[]stage{october(1, later)}, []stage{october(1, a)}},
		"only totals":                      {[]stage{october(1, dataset("10.5072/a", instance(5, reports.TotalDatasetInvestigations, reports.Regular)))}, []stage{october(1, a)}},
		"a smaller count":                  {[]stage{october(1, both("10.5072/a", 1<<31, 3))}, []stage{october(1, a)}},
		"a part reported as the whole":     {[]stage{october(1, a, both("10.5072/a#part", 2, 2))}, []stage{october(1, both("10.5072/a", 7, 5), both("10.5072/a#part", 0, 0))}},
		"the month in UTC put right":       {[]stage{beginning("2025-10-01T00:00:00+02:00", a, b)}, []stage{beginning("2025-10-01", a, b)}},
		"a month that moved, with zeros":   {[]stage{beginning("2025-09-01", a, b), beginning("2025-10-01", a)}, []stage{beginning("2025-10-01", a, both("10.5072/b", 0, 0))}},
		"a record that was missing":        {[]stage{october(1, both("10.5072/new", 5, 3))}, []stage{registered("10.5072/new")}},
		"a missing count given":            {[]stage{october(1, b), counting(`"count":null,`), october(2, both("10.5072/a", 0, 0))}, []stage{counting(`"count":5,`)}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Accounts: []datacitetest.Account{{}, {Username: "OTHER.REPO"}}})
			for _, name := range []string{"10.5072/a", "10.5072/b", "10.5072/c"} {
				put(t, srv, name, nil, nil)
			}
			course := func(stages []stage) []string {
				for _, s := range stages {
					s(t, srv)
					srv.ProcessUsage()
				}
				return short(compare(t, srv, nil))
			}
			assert.NotEmpty(t, course(tt.fault), "the fault is found")
			assert.Empty(t, course(tt.repair), "repaired")
		})
	}
}

// counting stores a compressed report of another client, which no schema has checked. Its
// views of 10.5072/a are given as JSON.
func counting(count string) stage {
	return func(t *testing.T, srv *datacitetest.Server) {
		h := header("Unchecked", 10)
		h.Exceptions = []reports.Exception{{Code: reports.CodeCompressed, Severity: "warning", Message: "Report is compressed using gzip", HelpURL: "https://github.com/datacite/sashimi", Data: "usage data needs to be uncompressed"}}
		head, err := json.Marshal(h)
		require.NoError(t, err)
		_, err = srv.PutReportJSON([]byte(`{"id":"` + reportID(8) + `","report-header":` + string(head) + `,"report-datasets":[{"dataset-id":[{"type":"doi","value":"10.5072/a"}],"performance":[{"instance":[{` +
			count + `"metric-type":"unique-dataset-investigations","access-method":"regular"}]}]}]}`))
		require.NoError(t, err)
	}
}

// TestDifferencesAfterCorrections: each number is that of the report that has it.
func TestDifferencesAfterCorrections(t *testing.T) {
	five, six, none := dataset("10.5072/a", views(5)), dataset("10.5072/a", views(6)), dataset("10.5072/a", views(0))
	for name, tt := range map[string]struct {
		stages []stage
		want   []string
	}{
		"three reports, the last one zeroed": {[]stage{october(1, five), october(2, six), october(3, five), october(3, none)},
			[]string{"10.5072/a 2025-10 views 6 [11] 11 reported-twice 1,2"}},
		"zeroed in a report without the number": {[]stage{october(1, five), october(1, dataset("10.5072/b")), october(2, none)},
			[]string{"10.5072/a 2025-10 views 0 [0] 5 left 1"}},
		"not spelt so that the zero is read": {[]stage{october(1, five), october(2, six), october(2, dataset("DOI:10.5072/a", views(0)))},
			[]string{"10.5072/a 2025-10 views 5 [5] 11 left 2"}},
		"a zero for a number in a spelling that is not read": {[]stage{october(1, dataset("DOI:10.5072/a", views(5))), october(2, none)},
			[]string{"10.5072/a 2025-10 views 5 [0] 0 spelling 1"}},
		"a missing count": {[]stage{counting("")},
			[]string{"10.5072/a 2025-10 views 0 [1] 1 no-count 8"}},
		"a missing count in place of a number": {[]stage{counting(`"count":5,`), counting(`"count":null,`)},
			[]string{"10.5072/a 2025-10 views 0 [1] 5 no-count 8"}},
		"a missing count in place of a number, beside another report": {[]stage{counting(`"count":5,`), counting(`"count":null,`), october(3, six)},
			[]string{"10.5072/a 2025-10 views 6 [7] 11 no-count 8"}},
		"a number of a deleted report, where no more is shown than may be": {[]stage{october(1, dataset("10.5072/a", views(7), views(3))), october(2, dataset("10.5072/a", views(2))), removed(2)},
			[]string{"10.5072/a 2025-10 views 10 [3 7] 5 unreported "}},
		"a zero beside totals":      {[]stage{october(1, six), october(2, none, dataset("10.5072/a", instance(3, reports.TotalDatasetInvestigations, reports.Regular)))}, nil},
		"a begin date of one digit": {[]stage{beginning("2025-10-1", five)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
			for _, name := range []string{"10.5072/a", "10.5072/b"} {
				put(t, srv, name, nil, nil)
			}
			for _, s := range tt.stages {
				s(t, srv)
				srv.ProcessUsage()
			}
			assert.Equal(t, tt.want, short(compare(t, srv, &shown.Options{})))
		})
	}
}

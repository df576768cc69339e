package reports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reports"
)

const id = "0148536f-bfbc-4775-b93c-524e91d0b9f6"

// year is how long a token is valid (specification §5).
const year = 365 * 24 * time.Hour

// server follows the specification.
func server(t *testing.T) *datacitetest.Server {
	t.Helper()
	return serve(t, &datacitetest.Options{Behaviour: datacitetest.Documented})
}

// serve starts a server with locks and records of its own: it may have the port of an earlier one.
func serve(t *testing.T, opts *datacitetest.Options) *datacitetest.Server {
	t.Helper()
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	srv := datacitetest.NewServer(opts)
	t.Cleanup(srv.Close)
	return srv
}

// behaviours are those of the embedded server.
var behaviours = []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed}

// eachBehaviour runs a test with each behaviour of the server.
func eachBehaviour(t *testing.T, test func(t *testing.T, srv *datacitetest.Server)) {
	t.Helper()
	for _, b := range behaviours {
		t.Run(string(b), func(t *testing.T) {
			test(t, serve(t, &datacitetest.Options{Behaviour: b}))
		})
	}
}

func header(creator string, month time.Month) reports.Header {
	return reports.NewHeader(creator, "1999-11-01", reports.Month(1999, month))
}

// dataset has a value in every field of specification §2.1.
func dataset(i int) reports.Dataset {
	period := reports.Month(1999, time.October)
	return reports.Dataset{
		Title: fmt.Sprintf("Table %d <&> \"ü\"", i), YOP: "2024", URI: "https://repository.example.org/item/1",
		Platform: "example",
		DataType: reports.DataTypeDataset, Publisher: "Example Repository",
		PublisherID:  []reports.TypedValue{{Type: "grid", Value: "grid.0000.0"}},
		DatasetID:    []reports.TypedValue{{Type: reports.TypeDOI, Value: fmt.Sprintf("10.5072/table-%d", i)}},
		Dates:        []reports.TypedValue{{Type: reports.TypePubDate, Value: "2024-05-17"}},
		Contributors: []reports.TypedValue{{Type: reports.TypeName, Value: "Lovelace, Ada"}},
		Performance: []reports.Performance{{Period: period, Instance: []reports.Instance{
			{Count: 7, MetricType: reports.MetricTotalDatasetInvestigations, AccessMethod: reports.AccessRegular,
				CountryCounts: reports.CountryCounts{{"de", 4}, {"fr", 3}}},
			{Count: 5, MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessRegular},
			{Count: 3, MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessMachine},
			{Count: 2, MetricType: reports.MetricUniqueDatasetRequests, AccessMethod: reports.AccessMachine},
		}}},
	}
}

func report(creator string, datasets int) *reports.Report {
	r := &reports.Report{Header: header(creator, time.October)}
	for i := range datasets {
		r.Datasets = append(r.Datasets, dataset(i))
	}
	return r
}

// collect returns what a sequence yields, all of it.
func collect[T any](t *testing.T, seq iter.Seq2[T, error]) (list []T) {
	t.Helper()
	for v, err := range seq {
		require.NoError(t, err)
		list = append(list, v)
	}
	return list
}

func TestCreateAndGet(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		client := srv.Reports()
		r := report("Example", 3)
		r.Header.ReportFilters = []reports.NameValue{{Name: "Platform", Value: "example"}}
		r.Header.ReportAttributes = []reports.NameValue{{Name: "Exclude", Value: "robots"}}
		r.Header.Exceptions = []reports.Exception{
			{Code: 3040, Severity: "warning", Message: "Partial data", HelpURL: "https://example.org", Data: "until 15 October"}}

		stored, err := client.Create(t.Context(), r)
		require.NoError(t, err)
		assert.Regexp(t, `^[0-9a-f-]{36}$`, stored.ID, "the service generates a UUID")
		assert.False(t, stored.Existing)

		got, err := client.Get(t.Context(), stored.ID)
		require.NoError(t, err)
		r.ID = stored.ID
		assert.Equal(t, r, got, "every field of §2.1 comes back")
	})
}

// What is sent is a copy: the caller's report stays as it is, and its id is not for the service.
func TestCreateChangesNothing(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		r := report("Example", 1)
		r.ID = id
		r.Datasets[0].DatasetID = []reports.TypedValue{{Type: "uri", Value: "x"}, {Type: "doi", Value: "DOI:10.5072/a"}}
		before := mustJSON(t, r)
		stored, err := srv.Reports().Create(t.Context(), r)
		require.NoError(t, err)
		assert.NotEqual(t, id, stored.ID)
		assert.JSONEq(t, string(before), string(mustJSON(t, r)))
		got, err := srv.Reports().Get(t.Context(), stored.ID)
		require.NoError(t, err)
		assert.Equal(t, "10.5072/a", got.Datasets[0].DatasetID[0].Value)
	})
}

func TestCreateReturnsTheReportThatIsThere(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		client := srv.Reports()
		first, err := client.Create(t.Context(), report("Example", 1))
		require.NoError(t, err)

		again, err := client.Create(t.Context(), report("Example", 1))
		require.NoError(t, err)
		assert.Equal(t, first.ID, again.ID)

		changed, err := client.Create(t.Context(), report("Example", 2))
		require.NoError(t, err)
		assert.Equal(t, first.ID, changed.ID)
		assert.True(t, changed.Existing, "the caller learns that the data were not stored")
		got, err := client.Get(t.Context(), first.ID)
		require.NoError(t, err)
		assert.Len(t, got.Datasets, 1)
		for _, edit := range []func(*reports.Header){
			func(h *reports.Header) { h.Created = "1999-11-02" }, func(h *reports.Header) { h.ReportID = "other" },
			func(h *reports.Header) { h.ReportingPeriod.EndDate = "1999-10-30" },
		} {
			r := report("Example", 1)
			edit(&r.Header)
			again, err := client.Create(t.Context(), r)
			require.NoError(t, err)
			assert.True(t, again.Existing)
		}

		other, err := client.Create(t.Context(), report("Another", 1))
		require.NoError(t, err)
		assert.NotEqual(t, first.ID, other.ID, "another creator, another report")
		november := report("Example", 1)
		november.Header.ReportingPeriod = reports.Month(1999, time.November)
		other, err = client.Create(t.Context(), november)
		require.NoError(t, err)
		assert.NotEqual(t, first.ID, other.ID, "another month, another report")
	})
}

func TestPutReplaces(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		client := srv.Reports()
		stored, err := client.Put(t.Context(), id, report("Example", 3))
		require.NoError(t, err)
		assert.Equal(t, id, stored.ID)
		_, err = client.Put(t.Context(), id, report("Example", 1))
		require.NoError(t, err)
		got, err := client.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Len(t, got.Datasets, 1)

		var statuses []int
		for _, r := range srv.Requests() {
			if r.Method == "PUT" {
				statuses = append(statuses, r.Status)
			}
		}
		assert.Equal(t, []int{201, 200}, statuses, "201 on creation")
	})
}

func TestListShowsHeaders(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		client := srv.Reports()
		want := map[string]string{}
		for i := range 30 {
			creator := fmt.Sprintf("Creator %d", i%3)
			h := header(creator, time.Month(1+i%12))
			h.ReportingPeriod = reports.Month(1970+i, time.Month(1+i%12))
			id, err := srv.PutReport(&reports.Report{Header: h, Datasets: []reports.Dataset{dataset(i)}})
			require.NoError(t, err)
			want[id] = creator
		}
		anyone, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}})
		require.NoError(t, err)

		page, err := anyone.List(t.Context(), nil)
		require.NoError(t, err, "reading needs no credentials")
		assert.Len(t, page.Reports, 25)
		assert.Equal(t, 30, page.Total)
		require.True(t, page.More)
		page, err = anyone.List(t.Context(), &reports.ListOptions{Page: page.Next})
		require.NoError(t, err)
		assert.Len(t, page.Reports, 5)
		assert.False(t, page.More)

		for name, opts := range map[string]*reports.ListOptions{
			"all": nil, "small pages": {Page: query.Page{Size: 7}}, "one creator": {CreatedBy: "Creator 1"},
			"one year": {Year: 1977},
		} {
			t.Run(name, func(t *testing.T) {
				got := map[string]string{}
				for _, s := range collect(t, client.All(t.Context(), opts)) {
					got[s.ID] = s.Header.CreatedBy
				}
				expected := map[string]string{}
				for id, creator := range want {
					if opts == nil || opts.CreatedBy == "" || creator == opts.CreatedBy {
						expected[id] = creator
					}
				}
				if name == "one year" {
					assert.Len(t, got, 1)
					return
				}
				assert.Equal(t, expected, got)
			})
		}
	})
}

func TestListRefusesWhatTheServiceWouldDrop(t *testing.T) {
	client := server(t).Reports()
	for want, opts := range map[string]*reports.ListOptions{
		"ListOptions conflict":             {CreatedBy: "a", Year: 1999},
		"ListOptions.CreatedBy value":      {CreatedBy: "a "},
		"ListOptions.ClientID value":       {ClientID: "a,b"},
		"ListOptions.Year year":            {Year: 999},
		"ListOptions.Year year, too":       {Year: 10_000},
		"ListOptions conflict, too":        {ClientID: "a", Year: 1999},
		"ListOptions.ClientID value, too":  {ClientID: " a"},
		"ListOptions.Page.Cursor conflict": {Page: query.Page{Cursor: "1"}},
		"ListOptions.Page.Size limit":      {Page: query.Page{Size: 1001}},
		"ListOptions.Page.Number limit":    {Page: query.Page{Number: -1}},
	} {
		_, err := client.List(t.Context(), opts)
		require.ErrorIs(t, err, datacite.ErrInvalid, want)
		f := datacite.Findings(err)[0]
		assert.Equal(t, strings.TrimSuffix(want, ", too"), fmt.Sprint(f.Path, " ", f.Code))
	}
	for _, opts := range []*reports.ListOptions{{Year: 1000}, {Year: 9999}, {Page: query.Page{Size: 1000}}} {
		_, err := client.List(t.Context(), opts)
		require.NoError(t, err)
	}
}

func TestCompressedReportsCarryTheirException(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		r := report("Example", 2)
		r.Header.Exceptions = []reports.Exception{
			{Code: reports.ExceptionCompressed, Severity: "warning", Message: "m", HelpURL: "h", Data: "d"}}
		stored, err := srv.Reports().Create(t.Context(), r)
		require.NoError(t, err)
		last := srv.Requests()[len(srv.Requests())-1]
		assert.Equal(t, "application/gzip", last.Header.Get("Content-Type"))
		assert.Equal(t, "gzip", last.Header.Get("Content-Encoding"))
		assert.Equal(t, "application/json", last.Header.Get("Accept"))
		require.Len(t, stored.Subsets, 1)

		got, err := srv.Reports().Get(t.Context(), stored.ID)
		require.NoError(t, err)
		assert.Equal(t, r.Datasets, got.Datasets)

		again, err := srv.Reports().Create(t.Context(), r)
		require.NoError(t, err)
		assert.True(t, again.Existing, "a second compressed POST would have doubled the data")
		got, err = srv.Reports().Get(t.Context(), stored.ID)
		require.NoError(t, err)
		assert.Len(t, got.Datasets, 2)
	})
}

func TestLargeReportsAreCompressed(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		r := report("Example", 600)
		for i := range r.Datasets {
			r.Datasets[i].Title = strings.Repeat("Long title ", 1600)
		}
		plain, err := json.Marshal(r)
		require.NoError(t, err)
		require.Greater(t, len(plain), 10_000_000)
		stored, err := srv.Reports().Put(t.Context(), id, r)
		require.NoError(t, err)
		last := srv.Requests()[len(srv.Requests())-1]
		assert.Equal(t, "gzip", last.Header.Get("Content-Encoding"))
		assert.Less(t, last.Bytes, int64(len(plain)/5))
		assert.Len(t, stored.Header.Exceptions, 1)
		assert.Equal(t, reports.ExceptionCompressed, stored.Header.Exceptions[0].Code)
		assert.Equal(t, "warning", stored.Header.Exceptions[0].Severity)
		assert.Empty(t, r.Header.Exceptions, "the caller's report is not changed")
	})
}

func TestDatesAndMonths(t *testing.T) {
	assert.Equal(t, reports.Period{"2024-02-01", "2024-02-29"}, reports.Month(2024, time.February))
	assert.Equal(t, reports.Period{"9999-12-01", "9999-12-31"}, reports.Month(9999, time.December))
	for begin, p := range map[reports.Date]reports.Period{
		"1999-13-01": reports.Month(1999, 13), "1999-00-01": reports.Month(1999, 0), "1999--1-01": reports.Month(1999, -1),
		"1999-113-01": reports.Month(1999, 113),
		"0-01-01":     reports.Month(0, 1), "-1-01-01": reports.Month(-1,
			1), "10000-01-01": reports.Month(10_000, 1), "1-13-01": reports.Month(1, 13), "0001-01-01": reports.Month(1, 1),
	} {
		r := report("Example", 1)
		r.Header.ReportingPeriod = p
		assert.Equal(t, begin, p.BeginDate)
		assert.Equal(t, begin == "0001-01-01", r.Validate() == nil, begin)
	}
	for _, d := range []reports.Date{"1999-10-31", "1999-10-31T23:59:59Z", "1999-10-31T00:00:00.123+02:00"} {
		at, err := d.Time()
		require.NoError(t, err, d)
		assert.Equal(t, reports.Date("1999-10-31"), reports.Day(at))
	}
	for _, d := range []reports.Date{"", "1999-02-30", "19991031", "yesterday"} {
		_, err := d.Time()
		assert.Error(t, err, d)
	}
}

func TestDeriveID(t *testing.T) {
	a := reports.DeriveID(header("Example", time.October))
	assert.Equal(t, "2479c038-f712-540b-8ed8-97b6dc12351e", a, "that of all releases")
	assert.NotEqual(t, a, reports.DeriveID(header("Example", time.November)))
	assert.NotEqual(t, a, reports.DeriveID(header("Another", time.October)))
	assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, a)
}

// What the service's specification shows must be what goes out.
func TestJSONShape(t *testing.T) {
	data, err := json.Marshal(report("Example", 1))
	require.NoError(t, err)
	assert.JSONEq(t, `{
	  "report-header": {"report-name":"Dataset Report","report-id":"dsr","release":"rd1","created-by":"Example","created":"1999-11-01",
	    "reporting-period":{"begin-date":"1999-10-01","end-date":"1999-10-31"},"report-filters":[],"report-attributes":[],"exceptions":[]},
	  "report-datasets": [{"uri":"https://repository.example.org/item/1","yop":"2024","platform":"example","data-type":"dataset","publisher":"Example Repository",
	    "dataset-id":[{"type":"doi","value":"10.5072/table-0"}],"publisher-id":[{"type":"grid","value":"grid.0000.0"}],
	    "dataset-dates":[{"type":"pub-date","value":"2024-05-17"}],"dataset-title":"Table 0 <&> \"ü\"",
	    "dataset-contributors":[{"type":"name","value":"Lovelace, Ada"}],
	    "performance":[{"period":{"begin-date":"1999-10-01","end-date":"1999-10-31"},"instance":[
	      {"count":7,"metric-type":"total-dataset-investigations","access-method":"regular","country-counts":{"de":4,"fr":3}},
	      {"count":5,"metric-type":"unique-dataset-investigations","access-method":"regular"},
	      {"count":3,"metric-type":"total-dataset-requests","access-method":"machine"},
	      {"count":2,"metric-type":"unique-dataset-requests","access-method":"machine"}]}]}]}`, string(data))

	empty, err := json.Marshal(reports.Report{Datasets: []reports.Dataset{{Performance: []reports.Performance{{}}}}})
	require.NoError(t, err)
	for _, list := range []string{`"report-filters":[]`, `"publisher-id":[]`, `"dataset-id":[]`, `"instance":[]`} {
		assert.Contains(t, string(empty), list, "a list the service requires is never null")
	}
	assert.NotContains(t, string(empty), "null")
}

// bypass sends a compressed report as a program does that knows nothing of locks.
func bypass(t *testing.T, srv *datacitetest.Server, method, path string, h reports.Header, datasets []reports.Dataset) {
	t.Helper()
	body := gz(string(mustJSON(t, reports.Report{Header: packed(h), Datasets: datasets})))
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, bytes.NewReader(body))
	require.NoError(t, err)
	req.Header = http.Header{"Content-Type": {"application/gzip"}, "Content-Encoding": {"gzip"},
		"Authorization": {"Bearer " + srv.Token(srv.Now().Add(year))}}
	res, err := srv.HTTPClient().Do(req)
	if assert.NoError(t, err) {
		assert.Equal(t, 201, res.StatusCode)
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
}

// packed is a header with the exception of a compressed report.
func packed(h reports.Header) reports.Header {
	h.Exceptions = []reports.Exception{{Code: reports.ExceptionCompressed}}
	return h
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

// byCountry are counts in the order of their countries.
func byCountry(counts map[string]int64) (list reports.CountryCounts) {
	for _, country := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, reports.CountryCount{Country: country, Count: counts[country]})
	}
	return list
}

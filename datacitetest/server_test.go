package datacitetest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reports"
)

// on tells a story to a server of each behaviour with these options.
func on(t *testing.T, opts datacitetest.Options, story func(t *testing.T, srv *datacitetest.Server)) {
	t.Helper()
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		opts := opts
		opts.Behaviour, opts.NoPort = behaviour, true
		t.Run(string(behaviour), func(t *testing.T) {
			srv := datacitetest.NewServer(&opts)
			defer srv.Close()
			story(t, srv)
		})
	}
}

// send asks the server for something with a token and returns the status, 0 if the
// connection is dropped.
func send(t *testing.T, srv *datacitetest.Server, method, path, token string, body io.Reader) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, body)
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := srv.HTTPClient().Do(req)
	if err != nil {
		return 0
	}
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

func TestBehaviours(t *testing.T) {
	for behaviour, status := range map[datacitetest.Behaviour]int{"": 422, datacitetest.Documented: 401,
		datacitetest.Deployed: 422} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour, NoPort: true})
		assert.Equal(t, status, send(t, srv, "POST", "/reports", "", nil), "a report without a token")
		srv.Close()
	}
}

// What cannot be meant is said at once.
func TestMisuseIsReportedAtOnce(t *testing.T) {
	for says, opts := range map[string]datacitetest.Options{
		`no behaviour "other"`:       {Behaviour: "other"},
		`two accounts "example.repo`: {Accounts: []datacitetest.Account{{}, {Username: "example.repo"}}},
		`account "A:B"`:              {Accounts: []datacitetest.Account{{Username: "A:B"}}},
	} {
		func() {
			defer func() { assert.Contains(t, recover(), says) }()
			datacitetest.NewServer(&opts)
		}()
	}
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	assert.PanicsWithValue(t, `datacitetest: no account "NOBODY.REPO"`, func() { srv.As("NOBODY.REPO") })
	assert.EqualError(t, srv.PutRecordJSON([]byte(`{"doi":"x"}`)), `datacite: attributes: doi "x" is not a DOI`)
	_, err := srv.PutReportJSON([]byte(`{}`))
	assert.EqualError(t, err, "datacite: report: report-header is missing")
	_, err = srv.PutReport(nil)
	assert.EqualError(t, err, "datacite: r: is nil")
}

func TestFaultsCompose(t *testing.T) {
	status := func(n int) *datacitetest.Fault { return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: n} }
	always := func(n int) datacitetest.Faults {
		return func(int, *http.Request) *datacitetest.Fault { return status(n) }
	}
	const requests = "GET HEAD POST GET DELETE PUT PATCH GET"
	for name, tt := range map[string]struct {
		faults datacitetest.Faults
		want   []int // 0 for no fault
	}{
		"none":                {datacitetest.First(), []int{0, 0, 0, 0, 0, 0, 0, 0}},
		"the first and third": {datacitetest.First(status(500), nil, status(502)), []int{500, 0, 502, 0, 0, 0, 0, 0}},
		"the second write": {datacitetest.First(nil, status(500)).When(datacitetest.Writes),
			[]int{0, 0, 0, 0, 500, 0, 0, 0}},
		"every write": {always(500).When(datacitetest.Writes), []int{0, 0, 500, 0, 500, 500, 500, 0}},
		"the first, then all": {datacitetest.First(status(502)).Or(always(500)),
			[]int{502, 500, 500, 500, 500, 500, 500, 500}},
		"first write, or read": {datacitetest.First(status(502)).When(datacitetest.Writes).Or(datacitetest.First(nil, nil,
			nil, status(500))), []int{0, 0, 502, 500, 0, 0, 0, 0}},
	} {
		var got []int
		for i, method := range strings.Fields(requests) {
			fault := tt.faults(i+1, httptest.NewRequest(method, "/", nil))
			if fault == nil {
				fault = status(0)
			}
			got = append(got, fault.Status)
		}
		assert.Equal(t, tt.want, got, name)
	}
}

func TestSchedule(t *testing.T) {
	fates := func(seed uint64, rate float64) (all []datacitetest.Fault, failed int) {
		fate := datacitetest.Schedule(seed, rate)
		for n := range 10_000 {
			f := fate(n, nil)
			if f == nil {
				all = append(all, datacitetest.Fault{})
				continue
			}
			failed++
			all = append(all, *f)
		}
		return all, failed
	}
	first, failed := fates(1, 0.2)
	again, _ := fates(1, 0.2)
	another, _ := fates(2, 0.2)
	assert.Equal(t, first, again)
	assert.NotEqual(t, first, another)
	assert.InDelta(t, 2000, failed, 200)
	kinds := map[datacitetest.FaultKind]bool{}
	for _, f := range first {
		kinds[f.Kind] = true
		assert.Less(t, f.Delay, time.Second)
	}
	assert.Len(t, kinds, 8, "all seven, and none")
	_, none := fates(1, 0)
	_, all := fates(1, 1)
	assert.Equal(t, []int{0, 10_000}, []int{none, all})
}

// A write takes its time, and is done though nobody waits for it.
func TestAWriteIsDoneThoughNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true,
			WriteTime: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := srv.Reports().Create(ctx, usage(1))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Empty(t, srv.StoredReports())
		started := time.Now()
		srv.Close()
		assert.Equal(t, 59*time.Second, time.Since(started))
		assert.Len(t, srv.StoredReports(), 1)
	})
}

// Each account has its own password, prefixes, keys, tokens and what is put for it.
func TestAccountsAreSeparate(t *testing.T) {
	accounts := []datacitetest.Account{
		{Username: "ALPS.REPO", Password: "edelweiss", Prefixes: []string{"10.1111"}},
		{Username: "ANDES.REPO", Prefixes: []string{"10.2222", "10.3333"}, Domains: []string{"andes.example.org"}},
	}
	on(t, datacitetest.Options{Accounts: accounts}, func(t *testing.T, alps *datacitetest.Server) {
		andes := alps.As("andes.repo")
		for _, srv := range []*datacitetest.Server{alps, andes} {
			for _, prefix := range []string{"10.1111", "10.2222", "10.3333", datacitetest.Prefix} {
				_, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: prefix + "/a"})
				own := (srv == alps) == (prefix == "10.1111") && prefix != datacitetest.Prefix
				assert.Equal(t, own, err == nil, "%s %v", prefix, err)
			}
		}
		_, err := andes.DOIs().Create(t.Context(),
			&dois.Draft{DOI: "10.2222/b", URL: "https://alps.example.org/", Event: dois.EventPublish,
				MetadataXML: glacier().Data})
		assert.ErrorIs(t, err, datacite.ErrInvalid, "another domain")

		require.NoError(t, andes.PutRecord(&dois.Record{Record: metadata.Record{DOI: "10.1111/put"}}))
		require.NoError(t, andes.PutRecordJSON([]byte(`{"doi":"10.1111/theirs","client":"alps.repo"}`)))
		found, err := alps.DOIs().List(t.Context(), &dois.ListOptions{ClientID: []string{"alps.repo"}})
		require.NoError(t, err)
		assert.Equal(t, 2, found.Total, "one made, one put")
		assert.Equal(t, []string{"10.1111/a", "10.1111/put", "10.1111/theirs", "10.2222/a", "10.3333/a"}, alps.Names())

		key := andes.IssueKey()
		client, err := mds.NewClient(datacite.Config{Service: datacite.Service{MDS: alps.URL}, Username: "ANDES.REPO",
			Password: key, HTTPClient: alps.HTTPClient()})
		require.NoError(t, err)
		_, err = client.PutMetadata(t.Context(), "10.2222/key", glacier())
		require.NoError(t, err)
		alps.RevokeKey(key)
		_, err = client.PutMetadata(t.Context(), "10.2222/key", glacier())
		assert.ErrorIs(t, err, datacite.ErrUnauthorized)

		november := usage(1)
		november.Header.ReportingPeriod = reports.Month(1999, time.November)
		_, err = andes.Reports().Create(t.Context(), usage(1))
		require.NoError(t, err)
		_, err = alps.PutReport(november)
		require.NoError(t, err)
		var owners []string
		for _, r := range alps.StoredReports() {
			owners = append(owners, r.ClientID)
		}
		slices.Sort(owners)
		assert.Equal(t, []string{"alps.repo", "andes.repo"}, owners)
	})
}

// A Deployed server looks at the role in a token.
func TestDeployedServersReadTheRoleInAToken(t *testing.T) {
	accounts := []datacitetest.Account{{}, {Username: "A.USER", Role: "user"}, {Username: "A.STAFF", Role: "staff_admin"}}
	want := map[datacitetest.Behaviour]map[string][3]int{ // of a PUT, a DELETE, and a look at DOIs
		datacitetest.Documented: {datacitetest.Username: {201, 401, 200}, "A.USER": {200, 401, 200},
			"A.STAFF": {200, 401, 200}},
		datacitetest.Deployed: {datacitetest.Username: {201, 401, 200}, "A.USER": {401, 401, 200},
			"A.STAFF": {200, 204, 200}},
	}
	data, err := usage(1).MarshalJSON()
	require.NoError(t, err)
	on(t, datacitetest.Options{Accounts: accounts}, func(t *testing.T, srv *datacitetest.Server) {
		for _, account := range accounts {
			name := account.Username
			if name == "" {
				name = datacitetest.Username
			}
			const path = "/reports/3f0c9d2e-7f3b-4b57-9a53-2f1d6c1c9a01"
			token := srv.As(name).Token(srv.Now().Add(time.Hour))
			got := [3]int{
				send(t, srv, "PUT", path, token, bytes.NewReader(data)), send(t, srv, "DELETE", path, token, nil),
				send(t, srv, "GET", "/dois", token, nil),
			}
			assert.Equal(t, want[srv.Behaviour][name], got, name)
		}
	})
}

// Small bodies meet small limits, whether their size is in the header or not.
func TestLimits(t *testing.T) {
	plain, err := usage(3).MarshalJSON()
	require.NoError(t, err)
	draft := []byte(`{"data":{"attributes":{"prefix":"10.5072"}}}`)
	for _, tt := range []struct {
		opts                 datacitetest.Options
		path                 string
		body                 []byte
		documented, deployed int
	}{
		{datacitetest.Options{MaxReport: int64(len(plain)), MaxBody: 1}, "/reports", plain, 201, 201},
		{datacitetest.Options{MaxReport: int64(len(plain)) - 1}, "/reports", plain, 413, 413},
		{datacitetest.Options{MaxDatasets: 3}, "/reports", plain, 201, 201},
		{datacitetest.Options{MaxDatasets: 2}, "/reports", plain, 422, 201},
		{datacitetest.Options{MaxBody: int64(len(draft)), MaxReport: 1}, "/dois", draft, 201, 201},
		{datacitetest.Options{MaxBody: int64(len(draft)) - 1}, "/dois", draft, 413, 413},
		{datacitetest.Options{MaxBody: 1 << 40}, "/dois", make([]byte, 10<<20+1), 413, 413},
	} {
		on(t, tt.opts, func(t *testing.T, srv *datacitetest.Server) {
			want := tt.documented
			if srv.Behaviour == datacitetest.Deployed {
				want = tt.deployed
			}
			for _, body := range []io.Reader{bytes.NewReader(tt.body), io.MultiReader(bytes.NewReader(tt.body))} {
				assert.Equal(t, want, send(t, srv, "POST", tt.path, srv.Token(srv.Now().Add(time.Hour)), body), "%s %+v", tt.path,
					tt.opts)
			}
		})
	}
	on(t, datacitetest.Options{MaxBody: 10}, func(t *testing.T, srv *datacitetest.Server) {
		_, err := srv.MDS().PutMetadata(t.Context(), "10.5072/x", glacier())
		assert.ErrorIs(t, err, datacite.ErrTooLarge)
	})
}

func named(datasets []reports.Dataset) (names []string) {
	for _, d := range datasets {
		names = append(names, d.DatasetID[0].Value)
	}
	return names
}

// Stored reports are seen with their subsets, byte by byte.
func TestStoredReports(t *testing.T) {
	on(t, datacitetest.Options{}, func(t *testing.T, srv *datacitetest.Server) {
		large, small := usage(5), usage(1)
		large.Header.CreatedBy = "Large Repository"
		receipt, err := srv.Reports().Submit(t.Context(), large.Header, reports.Source(large.Datasets),
			&reports.SubmitOptions{MaxDatasets: 2, LockDir: t.TempDir()})
		require.NoError(t, err)
		created, err := srv.Reports().Create(t.Context(), small)
		require.NoError(t, err)
		asked := len(srv.Requests())
		stored := map[string]datacitetest.StoredReport{}
		for _, r := range srv.StoredReports() {
			assert.Equal(t, "example.repo", r.ClientID)
			stored[r.ReportID] = r
		}
		require.Len(t, stored, 2)
		require.Len(t, stored[created.ID].Subsets, 1)
		var datasets []reports.Dataset
		for i, subset := range stored[receipt.ReportID].Subsets {
			assert.Equal(t, receipt.Subsets[i].Checksum, subset.Checksum)
			assert.Len(t, subset.Body, int(receipt.Subsets[i].Bytes))
			plain, err := gzip.NewReader(bytes.NewReader(subset.Body))
			require.NoError(t, err)
			read, err := reports.NewReader(plain)
			require.NoError(t, err)
			for d, err := range read.All() {
				require.NoError(t, err)
				datasets = append(datasets, d)
			}
		}
		assert.Equal(t, named(large.Datasets), named(datasets))
		for id, sent := range map[string]*reports.Report{receipt.ReportID: large, created.ID: small} {
			got, err := stored[id].Report()
			require.NoError(t, err)
			assert.ElementsMatch(t, named(sent.Datasets), named(got.Datasets))
			assert.Equal(t, sent.Header.CreatedBy, got.Header.CreatedBy)
			assert.Equal(t, id, got.ID)
			assert.Equal(t, got.Header, stored[id].Header)
		}
		assert.Len(t, srv.Requests(), asked, "this was no request")
	})
}

// A fault that there is not fails the call that meets it: it would never happen, or be retried.
func TestFaultsThatThereAreNot(t *testing.T) {
	for want, fault := range map[string]datacitetest.Fault{
		`501 Not Implemented: datacitetest: Fault: no step "row-insertd"`: {Kind: datacitetest.FaultStall,
			Step: "row-insertd"},
		`501 Not Implemented: datacitetest: Fault: no step ""`:    {Kind: datacitetest.FaultCrash},
		`501 Not Implemented: datacitetest: Fault: no kind "503"`: {Kind: "503"},
		"507 ": {Status: 507},
		"503 ": {},
	} {
		srv := datacitetest.NewServer(&datacitetest.Options{Faults: func(int, *http.Request) *datacitetest.Fault {
			return &fault
		}})
		_, err := srv.DOIs().Get(t.Context(), "10.5072/a", nil)
		assert.ErrorContains(t, err, want)
		assert.Equal(t, strings.HasPrefix(want, "501"), !datacite.Temporary(err))
		srv.Close()
	}
	assert.PanicsWithValue(t, "datacitetest: the zero Server; NewServer makes one", func() {
		new(datacitetest.Server).Names()
	})
	assert.PanicsWithValue(t, "datacitetest: the zero Server; NewServer makes one", new(datacitetest.Server).Close)
}

// A server can die between two steps of its work on a report.
func TestAServerDiesBetweenTwoSteps(t *testing.T) {
	for step, sound := range map[string]bool{"parsed": true, "document-deleted": false, "document-stored": true} {
		srv := datacitetest.NewServer(&datacitetest.Options{
			Behaviour: datacitetest.Deployed, NoPort: true,
			Faults: datacitetest.First(&datacitetest.Fault{Kind: datacitetest.FaultCrash, Step: step}),
		})
		id, err := srv.PutReport(usage(1))
		require.NoError(t, err)
		data, err := usage(2).MarshalJSON()
		require.NoError(t, err)
		assert.Zero(t, send(t, srv, "PUT", "/reports/"+id, srv.Token(srv.Now().Add(time.Hour)), bytes.NewReader(data)))
		_, err = srv.StoredReports()[0].Report()
		assert.Equal(t, sound, err == nil, "%s: %v", step, err)
		srv.Close()
	}
}

// Writes that overlap lose a subset and break the report, and that is seen.
func TestOverlappingWritesBreakTheReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true,
			WriteTime: time.Minute})
		post := func(datasets int) {
			r := usage(datasets)
			r.Header.Exceptions = []reports.Exception{{Code: reports.ExceptionCompressed}}
			var body bytes.Buffer
			z := gzip.NewWriter(&body)
			assert.NoError(t, json.NewEncoder(z).Encode(r))
			assert.NoError(t, z.Close())
			req, err := http.NewRequest("POST", srv.URL+"/reports", &body)
			assert.NoError(t, err)
			req.Header = http.Header{"Content-Type": {"application/gzip"}, "Content-Encoding": {"gzip"},
				"Authorization": {"Bearer " + srv.Token(srv.Now().Add(time.Hour))}}
			res, err := srv.HTTPClient().Do(req)
			assert.NoError(t, err)
			_ = res.Body.Close()
		}
		post(1)
		go post(2)
		post(3)
		srv.Close()
		stored := srv.StoredReports()[0]
		_, err := stored.Report()
		assert.ErrorContains(t, err, "datacitetest: report "+stored.ReportID+": ")
		assert.Len(t, stored.Subsets, 3)
		assert.Len(t, slices.DeleteFunc(stored.Subsets, func(s datacitetest.StoredSubset) bool {
			return s.Body != nil
		}), 1, "lost")
	})
}

// What came in is seen without what must be secret.
func TestRequestsAreShownWithoutSecrets(t *testing.T) {
	on(t, datacitetest.Options{}, func(t *testing.T, srv *datacitetest.Server) {
		token := srv.Token(srv.Now().Add(time.Hour))
		send(t, srv, "POST", "/dois?a=b%20c", token, strings.NewReader(`{"data":{}}`))
		_, _ = srv.MDS().URL(t.Context(), "10.5072/x y")
		seen := srv.Requests()
		require.Len(t, seen, 2)
		assert.Equal(t, []int{1, 2}, []int{seen[0].Number, seen[1].Number})
		assert.Equal(t, `{"data":{}}`, string(seen[0].Body))
		assert.Equal(t, []string{"application/json"}, seen[0].Header["Content-Type"])
		assert.Equal(t, "/doi/10.5072/x%20y", seen[1].URL.EscapedPath())
		assert.NotContains(t, fmt.Sprint(seen), token)
		assert.Equal(t, "a=b%20c", seen[0].URL.RawQuery)
		assert.Equal(t, int64(11), seen[0].Bytes)
		assert.Equal(t, 404, seen[1].Status)
		assert.NotContains(t, seen[1].Header, "Authorization")
	})
}

// The clock is the caller's, and goes on from there.
func TestTheClockIsTheCallers(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	on(t, datacitetest.Options{Now: func() time.Time {
		return noon
	}, ResolveDelay: time.Hour}, func(t *testing.T, srv *datacitetest.Server) {
		_, err := srv.MDS().Register(t.Context(), "10.5072/x", "https://example.org/x", glacier(), nil)
		require.NoError(t, err)
		token := srv.Token(srv.Now().Add(time.Hour))
		data, err := usage(1).MarshalJSON()
		require.NoError(t, err)
		assert.Equal(t, 201, send(t, srv, "POST", "/reports", token, bytes.NewReader(data)))
		srv.Advance(time.Hour)
		assert.Equal(t, noon.Add(time.Hour), srv.Now())
		leads, err := srv.Resolve(t.Context(), "10.5072/x")
		require.NoError(t, err)
		assert.Equal(t, "https://example.org/x", leads)
		assert.Contains(t, []int{401, 403}, send(t, srv, "POST", "/reports", token, bytes.NewReader(data)))
		_, err = srv.Reports().Create(t.Context(), usage(1))
		assert.NoError(t, err, "the client's token does not expire")
	})
}

// Records and reports can be as odd as real ones.
func TestOddRecordsAndReportsCanBePut(t *testing.T) {
	on(t, datacitetest.Options{}, func(t *testing.T, srv *datacitetest.Server) {
		require.NoError(t, srv.PutRecord(&dois.Record{Raw: []byte(`{"doi":"10.5072/raw","state":"registered","titles":7}`)}))
		assert.Equal(t, "registered", srv.State("https://doi.org/10.5072/RAW"))
		id, err := srv.PutReportJSON([]byte(`{"report-header":{"created-by":7},"report-datasets":[{"yop":1999}]}`))
		require.NoError(t, err)
		got, err := srv.Reports().Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, "7", got.Header.CreatedBy)
		assert.Len(t, got.Datasets, 1)
	})
}

// Another server can hold this one.
func TestAServerWithinAnotherServer(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	defer srv.Close()
	outer := httptest.NewServer(srv)
	defer outer.Close()
	client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: outer.URL}})
	require.NoError(t, err)
	_, err = client.List(t.Context(), nil)
	assert.NoError(t, err)
}

// The types are copies of the service's, with nothing left out.
func TestCopiesAreWhole(t *testing.T) {
	fields := func(v any) (names []string) {
		for f := range reflect.TypeOf(v).Fields() {
			names = append(names, f.Name)
		}
		slices.Sort(names)
		return names
	}
	assert.Equal(t, fields(sandbox.Options{}), slices.DeleteFunc(fields(datacitetest.Options{}), func(name string) bool {
		return name == "NoPort"
	}))
	assert.Equal(t, fields(sandbox.Fault{}), fields(datacitetest.Fault{}))
	assert.Len(t, fields(datacitetest.Request{}), len(fields(faults.Request{})))
}

func body(t *testing.T, srv *datacitetest.Server, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, nil)
	require.NoError(t, err)
	req.SetBasicAuth(datacitetest.Username, datacitetest.Password)
	res, err := srv.HTTPClient().Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(text)
}

// What becomes of a usage report: the record shows it after a while, which a test can skip,
// and numbers stay that a correction leaves out.
func TestUsageBecomesNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true,
			UsageLag: time.Hour})
		defer srv.Close()
		require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/alps"}`)))
		put := func(metrics ...string) {
			var instances []string
			for _, metric := range metrics {
				instances = append(instances, `{"metric-type":"`+metric+`","access-method":"regular","count":5}`)
			}
			_, err := srv.PutReportJSON([]byte(
				`{"id":"11111111-1111-4111-8111-111111111111","report-header":{"created":"2026-11-02","reporting-period":{"begin-date":"2026-10-01"}},
				"report-datasets":[{"dataset-id":[{"value":"10.5072/ALPS"}],"performance":[{"instance":[` + strings.Join(instances,
					",") + `]}]}]}`))
			require.NoError(t, err)
		}
		viewed := func() int {
			record, err := srv.DOIs().Get(t.Context(), "10.5072/alps", nil)
			require.NoError(t, err)
			return record.ViewCount
		}
		put("unique-dataset-investigations")
		assert.Zero(t, viewed())
		time.Sleep(time.Hour)
		assert.Equal(t, 5, viewed(), "after UsageLag")

		put("unique-dataset-requests")
		srv.ProcessUsage()
		assert.Equal(t, []datacitetest.UsageEvent{
			{"11111111-1111-4111-8111-111111111111", "10.5072/alps", reports.MetricUniqueDatasetInvestigations, "2026-10", 5},
			{"11111111-1111-4111-8111-111111111111", "10.5072/alps", reports.MetricUniqueDatasetRequests, "2026-10", 5},
		}, srv.UsageEvents())
	})
}

// A test sees what is stored, whoever owns it, without a request that a fault could meet.
func TestRecordShowsWhatIsStoredWithoutARequest(t *testing.T) {
	on(t, datacitetest.Options{Faults: always(datacitetest.FaultDropBefore)},
		func(t *testing.T, srv *datacitetest.Server) {
			require.NoError(t, srv.PutRecordJSON(
				[]byte(`{"doi":"10.5072/draft","state":"draft","client":"other.repo","titles":[{"title":"Glacier"}]}`)))
			record, err := srv.Record("10.5072/DRAFT")
			require.NoError(t, err)
			assert.Equal(t, "Glacier", record.Titles[0].Title)
			assert.Equal(t, datacite.StateDraft, record.State)
			assert.Equal(t, "other.repo", record.Client)
			_, err = srv.Record("10.5072/unknown")
			require.ErrorIs(t, err, datacite.ErrNotFound)
			assert.Empty(t, srv.Requests())
		})
}

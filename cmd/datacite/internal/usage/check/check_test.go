package check

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// report has a dataset for each of the DOIs, with n views and half as many downloads.
func report(creator string, month reports.Period, n int64, names ...string) *reports.Report {
	r := &reports.Report{Header: reports.NewHeader(creator, month.EndDate, month)}
	for i, name := range names {
		r.Datasets = append(r.Datasets, reports.Dataset{
			DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: name}},
			Performance: []reports.Performance{{Period: month, Instance: []reports.Instance{
				{Count: n + int64(i), MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessRegular},
				{Count: n / 2, MetricType: reports.MetricUniqueDatasetRequests, AccessMethod: reports.AccessRegular},
			}}},
		})
	}
	return r
}

// service has three DOIs: one as it was reported, one that was reported twice, and one that
// was dropped from a corrected report. A fourth one is only in a report.
func service(t *testing.T) *datacitetest.Server {
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	october := reports.Month(2025, time.October)
	for _, name := range []string{"right", "twice", "dropped"} {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/%s","titles":[{"title":"Glacier"}]}`, name)))
	}
	put := func(id string, r *reports.Report) {
		r.ID = "00000000-0000-4000-8000-00000000000" + id
		_, err := srv.PutReport(r)
		require.NoError(t, err)
		srv.ProcessUsage()
	}
	put("1", report("Old Name", october, 1000, "10.5072/right", "10.5072/twice", "10.5072/dropped"))
	put("1", report("Old Name", october, 1000, "10.5072/right", "10.5072/twice", "10.5072/unknown"))
	again := report("New Name", october, 2000, "10.5072/twice")
	again.Header.Created = "2025-12-01"
	put("2", again)
	return srv
}

// call runs the command.
func call(t *testing.T, srv *datacitetest.Server, args ...string) (out, notes string, code int) {
	t.Helper()
	code, out, notes = shelltest.At(srv).Do(t, Command, append([]string{"check"}, args...)...)
	return out, notes, code
}

func host(srv *datacitetest.Server) string { return strings.TrimPrefix(srv.URL, "http://") }

func TestFormats(t *testing.T) {
	srv := service(t)
	out, notes, code := call(t, srv, "EXAMPLE.REPO")
	assert.Equal(t, shell.ExitRefused, code)
	assert.Equal(t, `DOI	MONTH	OF	REPORTED	SHOWN	CAUSE
10.5072/dropped	2025-10	views	0	1,002	left
10.5072/dropped	2025-10	downloads	0	500	left
10.5072/twice	2025-10	views	2,000	3,001	reported-twice
10.5072/twice	2025-10	downloads	1,000	1,500	reported-twice
10.5072/unknown	2025-10	views	1,002	0	no-record
10.5072/unknown	2025-10	downloads	500	0	no-record
`, out)
	assert.Contains(t, notes, "      2 reported-twice: several reports have this count, and the service adds them up\n")
	assert.True(t, strings.HasSuffix(notes,
		"datacite: 2 reports and 4 DOIs at "+host(srv)+": 1 DOI right, 3 DOIs with 6 numbers that differ\n"), notes)

	out, notes, code = call(t, srv, "--format", "csv", "--only", "reported-twice", "--quiet", "example.repo")
	assert.Equal(t, shell.ExitRefused, code)
	assert.Equal(t, "\ufeff"+`doi,month,metric,reported,expected,shown,cause,detail,reports,service
10.5072/twice,2025-10,views,2000,3001,3001,reported-twice,,00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000002,`+host(srv)+`
10.5072/twice,2025-10,downloads,1000,1500,1500,reported-twice,,00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000002,`+host(srv)+`
`, out)
	assert.Equal(t, "datacite: 2 reports and 4 DOIs at "+host(srv)+
		": 3 DOIs right but for causes that were left out, 1 DOI with 2 numbers that differ\n", notes)

	out, _, _ = call(t, srv, "--format", "json", "--except", "reported-twice, left", "example.repo")
	assert.Equal(t, `{"doi":"10.5072/unknown","month":"2025-10","metric":"views","reported":1002,"expected":[1002],`+
		`"shown":0,"cause":"no-record","reports":["00000000-0000-4000-8000-000000000001"],"service":"`+host(srv)+`"}
{"doi":"10.5072/unknown","month":"2025-10","metric":"downloads","reported":500,"expected":[500],"shown":0,"cause":"no-record","reports":["00000000-0000-4000-8000-000000000001"],"service":"`+host(srv)+`"}
`, out)
}

func TestAllIsWell(t *testing.T) {
	srv := service(t)
	out, notes, code := call(t, srv, "--only", "spelling", "example.repo")
	assert.Equal(t, shell.ExitDone, code)
	assert.Empty(t, out)
	assert.Equal(t, "2 reports and 4 DOIs at "+host(srv)+": all numbers match but for causes that were left out\n", notes)
}

func TestPage(t *testing.T) {
	srv := service(t)
	name := filepath.Join(t.TempDir(), "report.html")
	_, notes, code := call(t, srv, "--html", name, "example.repo")
	assert.Equal(t, shell.ExitRefused, code)
	assert.Contains(t, notes, name+" is written\n")
	html := shelltest.Read(t, name)
	page := string(html)
	for _, part := range []string{
		"<b>6</b> numbers are not as reported",
		"<td class=\"month\">2025-10<td class=\"n\">4,002<td class=\"n\">5,003<td class=\"n differs\">&#43;1,001",
		"several reports have this count, and the service adds them " +
			"up.", ">10.5072/twice<", "<b>3 of 3</b> DOIs viewed at least " +
			"once", "The most used datasets", "<td class=\"title\">" +
			"Glacier", "<b>1 of 1</b> months reported", host(srv), "<title>2025-10: 5,003 shown</title>",
		"Store the report again with a count of 0 for these " +
			"DOIs.", "Register the DOI, or correct it in the report.", "All differences",
	} {
		assert.Contains(t, page, part)
	}
	for _, absent := range []string{"<script", "ZgotmplZ", "%!", "src=", "@import"} {
		assert.NotContains(t, page, absent, "it stands for itself, and runs nothing")
	}
	left, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	assert.Len(t, left, 1)
	// The most used datasets are those of the account, whoever reported their usage.
	_, _, _ = call(t, srv, "--html", name, "--creator", "New Name", "example.repo")
	html = shelltest.Read(t, name)
	assert.Contains(t, string(html), "reports of New Name")
	assert.NotContains(t, string(html), "The most used datasets")
	assert.NotContains(t, string(html), "viewed at least once")
	_, notes, code = call(t, srv, "--html", filepath.Join(t.TempDir(), "none", "report.html"), "example.repo")
	assert.Equal(t, shell.ExitWrong, code, notes)
}

func TestWrongUse(t *testing.T) {
	srv := service(t)
	for args, says := range map[string]string{
		"check_test.go":                 "is a file, and the service is checked: give the name of the account",
		"":                              "arguments are missing: datacite check ACCOUNT;",
		"a b":                           "too many arguments: datacite check ACCOUNT;",
		"--format xml a":                `--format: "xml" is not one of`,
		"--rate=-1 a":                   "--rate is -1",
		"--lag 0s a":                    "--lag is 0s",
		"--only left --except lost a":   "leave one of them out",
		"--only luck a":                 `"luck" is not one of`,
		"--only lef a":                  `"lef" is unknown; did you mean left?`,
		"--html /nonexistent/x.html a":  "no such file",
		"--service ftp://example.org a": "ftp",
		"--unknown a":                   "has no flag --unknown",
		"--only":                        "flag needs an argument",
	} {
		out, notes, code := call(t, srv, strings.Fields(args)...)
		assert.Equal(t, shell.ExitWrong, code, args)
		assert.Contains(t, notes, says, args)
		assert.Empty(t, out)
	}
	_, notes, code := call(t, srv, "--service", "http://127.0.0.1:1", "example.repo")
	assert.Equal(t, shell.ExitFailed, code, notes)
	help, _, code := call(t, srv, "--help")
	assert.Equal(t, shell.ExitDone, code)
	assert.Contains(t, help, "  reported-twice      several reports have this count, and the service adds them up\n")
}

// A report that cannot be read is left out if the user wants that.
func TestBadReports(t *testing.T) {
	srv := service(t)
	_, err := srv.PutReportJSON([]byte(
		`{"id":"00000000-0000-4000-8000-000000000003","report-header":{"created-by":"X","created":"2025-12-01",` +
			`"reporting-period":{"begin-date":"soon"}},"report-datasets":[]}`))
	require.NoError(t, err)
	_, notes, code := call(t, srv, "example.repo")
	assert.Equal(t, shell.ExitWrong, code)
	assert.Contains(t, notes, `begin-date: is "soon", not a date`)
	_, notes, code = call(t, srv, "--leave-out", "--only", "spelling", "example.repo")
	assert.Equal(t, shell.ExitRefused, code)
	assert.Contains(t, notes, "left out: report 00000000-0000-4000-8000-000000000003")
	assert.Contains(t, notes, ": all numbers match but for causes that were left out; 1 report could not be read\n")
}

// A name or a login that is wrong is an error, and not a comparison of nothing.
func TestWrongNamesAndLogins(t *testing.T) {
	srv := service(t)
	for want, args := range map[string][]string{
		"datacite: " + host(srv) + " has no report and no DOI of exmple.repo; is the name right?\n": {"exmple.repo"},
		"datacite: " + host(srv) + " has no report that \"Nobody\" created; is the name right?\n": {"--only", "spelling",
			"--creator", "Nobody", "example.repo"},
	} {
		_, notes, code := call(t, srv, args...)
		assert.Equal(t, shell.ExitWrong, code)
		assert.Equal(t, want, notes)
	}
	run := shelltest.At(srv)
	run.Env["DATACITE_PASSWORD"] = "wrong"
	code, out, notes := run.Do(t, Command, "check", "example.repo")
	assert.Equal(t, shell.ExitWrong, code)
	assert.Contains(t, notes, "refuses the login of "+datacitetest.Username)
	assert.Empty(t, out)
}

// What another creator has reported did not leave the reports of this one.
func TestCreator(t *testing.T) {
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	october := reports.Month(2025, time.October)
	for i, name := range []string{"one", "two"} {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/%s","titles":[{"title":"Glacier"}]}`, name)))
		r := report(name, october, 1000, "10.5072/"+name)
		r.ID = fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", i)
		_, err := srv.PutReport(r)
		require.NoError(t, err)
		srv.ProcessUsage()
	}
	out, notes, code := call(t, srv, "--creator", "one", "example.repo")
	assert.Equal(t, shell.ExitRefused, code)
	assert.Equal(t, `DOI	MONTH	OF	REPORTED	SHOWN	CAUSE
10.5072/two	2025-10	views	0	1,000	unreported
10.5072/two	2025-10	downloads	0	500	unreported
`, out)
	assert.True(t, strings.HasSuffix(notes,
		"datacite: 1 report and 2 DOIs at "+host(srv)+": 1 DOI right, 1 DOI with 2 numbers that differ\n"), notes)
	out, _, _ = call(t, srv, "--format", "json", "--creator", "one", "example.repo")
	assert.Contains(t, out, "only reports of one are compared; another creator may have reported it")
}

// The page is accessible, at 400 pixels, too, and shows hostile titles as they are.
func TestAccessibility(t *testing.T) {
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("10.5072/a%d", i))
		title := `<script>alert(1)</script>"><img src=x onerror=alert(1)> ` + strings.Repeat("long", 40)
		record, err := json.Marshal(map[string]any{"doi": names[i], "titles": []map[string]string{{"title": title}}})
		require.NoError(t, err)
		require.NoError(t, srv.PutRecordJSON(record))
	}
	put := func(id int, creator string, month time.Month, n int64) {
		r := report(creator, reports.Month(2025, month), n, names...)
		r.ID = fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", id)
		_, err := srv.PutReport(r)
		require.NoError(t, err)
		srv.ProcessUsage()
	}
	for i, month := range []time.Month{1, 2, 3, 5, 6} {
		put(i, "Repository", month, int64(1000*(i+1)))
	}
	put(6, "Other <b>name</b>", 6, 500)
	name := filepath.Join(t.TempDir(), "usage.html")
	_, notes, code := call(t, srv, "--html", name, "example.repo")
	require.Equal(t, shell.ExitRefused, code, notes)
	html := shelltest.Read(t, name)
	page := string(html)
	for _, part := range []string{"<b>5 of 6</b> months reported", "Months without a report: 2025-04",
		"views in the last 3 full months, compared with the 3 months " +
			"before", "<b>&#43;58 %</b>", "2025-04: 0 shown", "&lt;script&gt;alert(1)"} {
		assert.Contains(t, page, part)
	}
	assert.Equal(t, 20, strings.Count(page, `<td class="title">`))
	for _, absent := range []string{"<script", "<img", "ZgotmplZ", "%!"} {
		assert.NotContains(t, page, absent)
	}
	shelltest.Accessible(t, html)
}

// A month that is not over is not compared with whole ones.
func TestTrend(t *testing.T) {
	of := func(month string, shows int64) shown.Month {
		return shown.Month{Month: month, Views: shown.Total{Shown: shows}}
	}
	at := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		months  []shown.Month
		want    *trend
		running string
	}{
		{[]shown.Month{of("2026-09", 100), of("2026-10", 110), of("2026-11", 50)}, &trend{1, 100, 110}, "2026-11"},
		{[]shown.Month{of("2026-09", 100), of("2026-10", 110)}, &trend{1, 100, 110}, ""},
		{[]shown.Month{of("2026-10", 110), of("2026-11", 50)}, nil, "2026-11"},
		{[]shown.Month{of("2026-08", 7), of("2026-11", 50)}, &trend{1, 0, 0}, "2026-11"},
		{nil, nil, ""},
	} {
		p := &page{At: at, Months: tt.months}
		assert.Equal(t, tt.want, p.Trend())
		assert.Equal(t, tt.running, p.Running())
	}
}

// The newest months and the most frequent causes come first.
func TestOrderOfThePage(t *testing.T) {
	p := &page{Months: []shown.Month{{Month: "2026-09"}, {Month: "2026-10"}}, causes: map[datacite.Code]*causeTotal{}}
	var want []*causeTotal
	for i, cause := range shown.AllCauses() {
		p.causes[cause] = &causeTotal{Cause: cause, Differences: int64(i)}
		want = append([]*causeTotal{p.causes[cause]}, want...)
	}
	assert.Equal(t, want, p.Causes())
	assert.Equal(t, []shown.Month{{Month: "2026-10"}, {Month: "2026-09"}}, p.Newest())
}

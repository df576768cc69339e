package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/reports"
)

// report has a dataset for each of the DOIs, with n views and half as many downloads.
func report(creator string, month reports.Period, n int64, names ...string) *reports.Report {
	r := &reports.Report{Header: reports.NewHeader(creator, month.EndDate, month)}
	for i, name := range names {
		r.Datasets = append(r.Datasets, reports.Dataset{
			DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: name}},
			Performance: []reports.Performance{{Period: month, Instance: []reports.Instance{
				{Count: n + int64(i), MetricType: reports.UniqueDatasetInvestigations, AccessMethod: reports.Regular},
				{Count: n / 2, MetricType: reports.UniqueDatasetRequests, AccessMethod: reports.Regular},
			}}},
		})
	}
	return r
}

// service has three DOIs: one as it was reported, one that was reported twice, and one that
// was dropped from a corrected report. A fourth one is only in a report.
func service(t *testing.T) *datacitetest.Server {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed})
	t.Cleanup(srv.Close)
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

// call runs the program.
func call(t *testing.T, srv *datacitetest.Server, args ...string) (out, notes string, code int) {
	t.Helper()
	var o, n bytes.Buffer
	env := map[string]string{"DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": datacitetest.Password}
	p := &program.Program{
		Name: "usagecheck", Args: append([]string{"-api", srv.URL, "-rate", "100000"}, args...),
		Getenv: func(name string) string { return env[name] }, Stdout: &o, Stderr: &n,
	}
	code = p.Run(t.Context(), run)
	return o.String(), n.String(), code
}

func TestFormats(t *testing.T) {
	srv := service(t)
	out, notes, code := call(t, srv, "EXAMPLE.REPO")
	assert.Equal(t, program.ExitNotAllDone, code)
	assert.Equal(t, `DOI                              MONTH   OF             REPORTED         SHOWN  CAUSE
10.5072/dropped                  2025-10 views                 0         1,002  left
10.5072/dropped                  2025-10 downloads             0           500  left
10.5072/twice                    2025-10 views             2,000         3,001  reported-twice
10.5072/twice                    2025-10 downloads         1,000         1,500  reported-twice
10.5072/unknown                  2025-10 views             1,002             0  no-record
10.5072/unknown                  2025-10 downloads           500             0  no-record
`, out)
	assert.Contains(t, notes, "      2 reported-twice: several reports have this count, and the service adds them up\n")
	assert.True(t, strings.HasSuffix(notes, "usagecheck: 2 reports, 4 DOIs: 6 numbers differ\n"), notes)

	out, notes, code = call(t, srv, "-format", "csv", "-only", "reported-twice", "-quiet", "example.repo")
	assert.Equal(t, program.ExitNotAllDone, code)
	assert.Equal(t, `doi,month,metric,reported,expected,shown,cause,detail,reports
10.5072/twice,2025-10,views,2000,3001,3001,reported-twice,,00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000002
10.5072/twice,2025-10,downloads,1000,1500,1500,reported-twice,,00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000002
`, out)
	assert.Equal(t, "usagecheck: 2 reports, 4 DOIs: 2 numbers differ\n", notes)

	out, _, _ = call(t, srv, "-format", "jsonl", "-except", "reported-twice, left", "example.repo")
	assert.Equal(t, `{"doi":"10.5072/unknown","month":"2025-10","metric":"views","reported":1002,"expected":[1002],"shown":0,"cause":"no-record","reports":["00000000-0000-4000-8000-000000000001"]}
{"doi":"10.5072/unknown","month":"2025-10","metric":"downloads","reported":500,"expected":[500],"shown":0,"cause":"no-record","reports":["00000000-0000-4000-8000-000000000001"]}
`, out)
}

func TestAllIsWell(t *testing.T) {
	srv := service(t)
	out, notes, code := call(t, srv, "-only", "spelling", "example.repo")
	assert.Equal(t, program.ExitDone, code)
	assert.Empty(t, out)
	assert.Equal(t, "2 reports, 4 DOIs: no number differs\n", notes)
}

func TestPage(t *testing.T) {
	srv := service(t)
	name := filepath.Join(t.TempDir(), "report.html")
	_, notes, code := call(t, srv, "-html", name, "example.repo")
	assert.Equal(t, program.ExitNotAllDone, code)
	assert.Contains(t, notes, name+" is written\n")
	html, err := os.ReadFile(name)
	require.NoError(t, err)
	page := string(html)
	for _, part := range []string{
		"<b>6</b> numbers are not as reported", "<td class=\"month\">2025-10<td class=\"n\">4,002<td class=\"n\">5,003<td class=\"n differs\">&#43;1,001",
		"several reports have this count, and the service adds them up.", "https://doi.org/10.5072/twice", "<title>2025-10: 5,003 shown</title>",
		"Store the report again with a count of 0 for these DOIs.", "Register the DOI, or correct it in the report.", "All differences",
	} {
		assert.Contains(t, page, part)
	}
	for _, absent := range []string{"<script", "ZgotmplZ", "%!", "src=", "@import"} {
		assert.NotContains(t, page, absent, "it stands for itself, and runs nothing")
	}
	left, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	assert.Len(t, left, 1)
	_, notes, code = call(t, srv, "-html", filepath.Join(t.TempDir(), "none", "report.html"), "example.repo")
	assert.Equal(t, program.ExitWrong, code, notes)
}

func TestWrongUse(t *testing.T) {
	srv := service(t)
	for args, says := range map[string]string{
		"":                              "give one account, not 0",
		"a b":                           "give one account, not 2",
		"-format xml a":                 `-format "xml" is not one of`,
		"-rate 0 a":                     "-rate is 0",
		"-lag 0s a":                     "-lag is 0s",
		"-only left -except lost a":     "leave one of them out",
		"-only luck a":                  `"luck" is not a cause`,
		"-bad-reports ignore a":         `-bad-reports "ignore" is not one of`,
		"-html /nonexistent/x.html a":   "no such file",
		"-api ftp://example.org a":      "ftp",
		"-unknown a":                    "-h shows the flags",
		"-api http://127.0.0.1:1 -only": "flag needs an argument",
	} {
		out, notes, code := call(t, srv, strings.Fields(args)...)
		assert.Equal(t, program.ExitWrong, code, args)
		assert.Contains(t, notes, says, args)
		assert.Empty(t, out)
	}
	synctest.Test(t, func(t *testing.T) {
		_, notes, code := call(t, srv, "-api", "http://127.0.0.1:1", "example.repo")
		assert.Equal(t, program.ExitFailed, code, notes)
	})
	help, _, code := call(t, srv, "-h")
	assert.Equal(t, program.ExitDone, code)
	assert.Contains(t, help, "  reported-twice      several reports have this count, and the service adds them up\n")
}

// A report that cannot be read is left out if the user wants that.
func TestBadReports(t *testing.T) {
	srv := service(t)
	_, err := srv.PutReportJSON([]byte(`{"id":"00000000-0000-4000-8000-000000000003","report-header":{"created-by":"X","created":"2025-12-01","reporting-period":{"begin-date":"soon"}},"report-datasets":[]}`))
	require.NoError(t, err)
	_, notes, code := call(t, srv, "example.repo")
	assert.Equal(t, program.ExitWrong, code)
	assert.Contains(t, notes, `begin-date: is "soon", not a date`)
	_, notes, code = call(t, srv, "-bad-reports", "leave-out", "-only", "spelling", "example.repo")
	assert.Equal(t, program.ExitNotAllDone, code)
	assert.Contains(t, notes, "left out: report 00000000-0000-4000-8000-000000000003")
	assert.Contains(t, notes, "but 1 report could not be read")
}

// A name or a login that is wrong is an error, and not a comparison of nothing.
func TestWrongNamesAndLogins(t *testing.T) {
	srv := service(t)
	for want, args := range map[string][]string{
		"usagecheck: the service has no report and no DOI of exmple.repo; is the name right?\n": {"exmple.repo"},
		"usagecheck: the service has no report that \"Nobody\" created; is the name right?\n":   {"-only", "spelling", "-creator", "Nobody", "example.repo"},
	} {
		_, notes, code := call(t, srv, args...)
		assert.Equal(t, program.ExitWrong, code)
		assert.Equal(t, want, notes)
	}
	var out, notes bytes.Buffer
	env := map[string]string{"DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": "wrong"}
	p := &program.Program{Name: "usagecheck", Args: []string{"-api", srv.URL, "example.repo"}, Getenv: func(name string) string { return env[name] }, Stdout: &out, Stderr: &notes}
	assert.Equal(t, program.ExitWrong, p.Run(t.Context(), run))
	assert.Contains(t, notes.String(), "usagecheck: the service refuses the login; check DATACITE_USERNAME")
	assert.Empty(t, out.String())
}

// What another creator has reported did not leave the reports of this one.
func TestCreator(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed})
	t.Cleanup(srv.Close)
	october := reports.Month(2025, time.October)
	for i, name := range []string{"one", "two"} {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/%s","titles":[{"title":"Glacier"}]}`, name)))
		r := report(name, october, 1000, "10.5072/"+name)
		r.ID = fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", i)
		_, err := srv.PutReport(r)
		require.NoError(t, err)
		srv.ProcessUsage()
	}
	out, notes, code := call(t, srv, "-creator", "one", "example.repo")
	assert.Equal(t, program.ExitNotAllDone, code)
	assert.Equal(t, `DOI                              MONTH   OF             REPORTED         SHOWN  CAUSE
10.5072/two                      2025-10 views                 0         1,000  unreported
10.5072/two                      2025-10 downloads             0           500  unreported
`, out)
	assert.True(t, strings.HasSuffix(notes, "usagecheck: 1 report, 2 DOIs: 2 numbers differ\n"), notes)
	out, _, _ = call(t, srv, "-format", "jsonl", "-creator", "one", "example.repo")
	assert.Contains(t, out, "only reports of one are compared; another creator may have reported it")
}

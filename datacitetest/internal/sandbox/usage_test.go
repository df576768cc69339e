package sandbox_test

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/datacitetest/internal/usage"
)

const (
	firstReport  = "11111111-1111-4111-8111-111111111111"
	secondReport = "22222222-2222-4222-8222-222222222222"
	views        = "unique-dataset-investigations"
	downloads    = "unique-dataset-requests"
)

// counts is an instance of regular access, in JSON.
func counts(metric string, n any) string {
	return fmt.Sprintf(`{"metric-type":%q,"access-method":"regular","count":%v}`, metric, n)
}

// used is a dataset with instances.
func used(doi string, instances ...string) string {
	return fmt.Sprintf(`{"dataset-id":[{"type":"doi","value":%q}],"performance":[{"instance":[%s]}]}`, doi,
		strings.Join(instances, ","))
}

func viewed(n any) string     { return counts(views, n) }
func downloaded(n any) string { return counts(downloads, n) }

// usage is a report of a month, to be stored unchecked.
func usageOf(id, begin string, datasets ...string) string {
	return fmt.Sprintf(`{"id":%q,"report-header":{"release":"rd1","created":"2026-11-02","created-by":"Repo",`+
		`"reporting-period":{"begin-date":%q}},"report-datasets":[%s]}`,
		id, begin, strings.Join(datasets, ","))
}

// october is a report of October 2026.
func october(datasets ...string) string { return usageOf(firstReport, "2026-10-01", datasets...) }

// countingService is a Deployed service with two records, in December 2026.
func countingService(t *testing.T) *sandbox.Service {
	t.Helper()
	service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, Now: func() time.Time {
		return time.Date(2026, 12, 5, 0, 0, 0, 0, time.UTC)
	}})
	seed(t, service, `{"doi":"10.5072/alps"}`, `{"doi":"10.5072/reef"}`)
	return service
}

// shownBy is what a record shows: "views 2026-09:4 2026-10:5, downloads 2026-10:2".
func shownBy(t *testing.T, record any) string {
	t.Helper()
	var parts []string
	for _, metric := range []string{"view", "download"} {
		entries, _ := at(record, "attributes."+metric+"sOverTime").([]any)
		total, text := 0.0, metric+"s"
		for _, entry := range entries {
			n := at(entry, "total").(float64)
			text += fmt.Sprintf(" %s:%.0f", at(entry, "yearMonth"), n)
			total += n
		}
		assert.Equal(t, total, at(record, "attributes."+metric+"Count"), metric+" is the sum")
		if len(entries) > 0 {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// usageShown is what GET of the DOI shows.
func usageShown(t *testing.T, service *sandbox.Service, doi string) string {
	t.Helper()
	a := call{method: "GET", path: "/dois/" + doi}.do(t, service)
	require.Equal(t, 200, a.status, a.body)
	return shownBy(t, at(a.read(t), "data"))
}

// What becomes of reports that are stored one after the other. Records are 10.5072/alps
// and 10.5072/reef.
func TestDeployedUsage(t *testing.T) {
	var year []string
	var shownYear strings.Builder
	shownYear.WriteString("views")
	for m := 1; m <= 12; m++ {
		year = append(year, usageOf(fmt.Sprintf("%08d-1111-4111-8111-111111111111", m), fmt.Sprintf("2026-%02d-01", m),
			used("10.5072/alps", viewed(m))))
		shownYear.WriteString(fmt.Sprintf(" 2026-%02d:%d", m, m))
	}
	seven := slices.Repeat([]string{counts("total-dataset-requests", 1)}, 7)
	for name, c := range map[string]struct {
		reports    []string
		alps, reef string
	}{
		// What of a dataset is read.
		"views and downloads of two datasets": {
			[]string{october(used("10.5072/alps", viewed(5), downloaded(2)), used("10.5072/reef", viewed(1)))},
			"views 2026-10:5, downloads 2026-10:2", "views 2026-10:1"},
		"a second performance is not read": {
			[]string{october(strings.Replace(used("10.5072/alps", viewed(5)), `}]}]}`, `}]},{"instance":[`+downloaded(3)+`]}]}`,
				1))}, "views 2026-10:5", ""},
		"the first performance is empty": {
			[]string{october(`{"dataset-id":[{"value":"10.5072/alps"}],"performance":[{},{"instance":[`+viewed(5)+`]}]}`,
				used("10.5072/reef", viewed(1)))}, "", "views 2026-10:1"},
		"eight instances": {[]string{october(used("10.5072/alps", append(seven, viewed(5))...))},
			"views 2026-10:5", ""},
		"nine instances are too many": {
			[]string{october(used("10.5072/alps", append(seven, viewed(5), downloaded(5))...), used("10.5072/reef", viewed(1)))},
			"", "views 2026-10:1"},
		"an instance that is in no list": {
			[]string{october(`{"dataset-id":[{"value":"10.5072/alps"}],"performance":[{"instance":` + viewed(5) + `}]}`)},
			"views 2026-10:5", ""},
		"an instance in no list with nine members": {
			[]string{october(`{"dataset-id":[{"value":"10.5072/alps"}],"performance":[{"instance":{"a":1,"b":1,"c":1,"d":1,` +
				`"e":1,"f":1,` + viewed(5)[1:] + `}]}`)}, "", ""},
		"the first id counts, whatever its type": {
			[]string{october(strings.Replace(used("10.5072/alps", viewed(5)), `"type":"doi"`, `"type":"url"`, 1))},
			"views 2026-10:5", ""},
		"a handle before the DOI": {
			[]string{october(strings.Replace(used("10.5072/alps", viewed(5)), `[{`, `[{"type":"handle","value":"20.500/1"},{`,
				1))}, "", ""},
		"totals and machines are shown nowhere": {
			[]string{october(used("10.5072/alps", counts("total-dataset-investigations", 9),
				strings.Replace(viewed(5), "regular", "machine", 1)))}, "", ""},
		"a metric in capitals": {
			[]string{october(used("10.5072/alps", counts("Unique-Dataset-Investigations", 5)))}, "", ""},
		"a metric with underscores": {
			[]string{october(used("10.5072/alps", counts("unique_dataset_investigations", 5)))}, "", ""},
		"country counts are shown nowhere": {
			[]string{october(used("10.5072/alps",
				strings.Replace(viewed(5), `"count"`, `"country-counts":{"us":5},"count"`, 1)))}, "views 2026-10:5", ""},
		"data-type, title and platform are not read": {
			[]string{october(strings.Replace(used("10.5072/alps", viewed(5)), "{",
				`{"data-type":9,"dataset-title":null,"platform":[],`, 1))}, "views 2026-10:5", ""},
		"counts that are zero stay as entries": {[]string{october(used("10.5072/alps", viewed(0)))}, "views 2026-10:0",
			""},
		"negative counts": {[]string{october(used("10.5072/alps", viewed(-3)))}, "views 2026-10:-3",
			""},
		"the largest count": {
			[]string{october(used("10.5072/alps", viewed(2147483647), downloaded(int64(2147483648))))},
			"views 2026-10:2147483647", ""},
		"missing counts are one": {
			[]string{october(used("10.5072/alps", viewed("null"), downloaded("false")))}, "views 2026-10:1, downloads 2026-10:1",
			""},
		"counts of other kinds": {
			[]string{october(used("10.5072/alps", viewed("2.7"), downloaded(`"12 or so"`)))},
			"views 2026-10:2, downloads 2026-10:12", ""},
		"countries as instances: the last one": {[]string{october(used("10.5072/alps", viewed(5), viewed(7)))},
			"views 2026-10:7", ""},
		"a dataset twice: the last one of a metric": {
			[]string{october(used("10.5072/alps", viewed(5), downloaded(2)), used("https://doi.org/10.5072/ALPS", viewed(7)))},
			"views 2026-10:7, downloads 2026-10:2", ""},
		"a malformed dataset is skipped": {
			[]string{october("null", "[]", "7", `{}`, `{"dataset-id":[]}`, used("10.5072/alps", viewed(5)))}, "views 2026-10:5",
			""},
		"the month of the header in UTC": {
			[]string{usageOf(firstReport, "2026-10-01T00:00:00+02:00", used("10.5072/alps", viewed(5)))}, "views 2026-09:5", ""},
		"not the month of the performance": {
			[]string{october(strings.Replace(used("10.5072/alps", viewed(5)), `[{"instance"`,
				`[{"period":{"begin-date":"2026-03-01","end-date":"2026-03-31"},"instance"`, 1))}, "views 2026-10:5", ""},
		"a begin-date of one digit": {
			[]string{usageOf(firstReport, "2026-3-1", used("10.5072/alps", viewed(5)))}, "views 2026-03:5", ""},
		"no begin-date: the month of the import": {
			[]string{strings.Replace(october(used("10.5072/alps", viewed(5))), `"begin-date":"2026-10-01"`, "", 1)},
			"views 2026-12:5", ""},
		"no created": {[]string{strings.Replace(october(used("10.5072/alps", viewed(5))), `"created":"2026-11-02",`,
			"", 1)}, "", ""},
		"code 69 as a text": {[]string{strings.Replace(october(used("10.5072/alps", viewed(5))), `"release"`,
			`"exceptions":[{"code":"69"}],"release"`, 1)}, "views 2026-10:5", ""},
		// Reports after reports.
		"a correction replaces": {
			[]string{october(used("10.5072/alps", viewed(5))), october(used("10.5072/alps", viewed(3)))}, "views 2026-10:3", ""},
		"a dataset that is dropped keeps its number": {
			[]string{october(used("10.5072/alps", viewed(5)), used("10.5072/reef", viewed(1))),
				october(used("10.5072/reef", viewed(2)))}, "views 2026-10:5", "views 2026-10:2"},
		"downloads left out keep their number": {
			[]string{october(used("10.5072/alps", viewed(5), downloaded(2))), october(used("10.5072/alps", viewed(6)))},
			"views 2026-10:6, downloads 2026-10:2", ""},
		"a zero replaces": {
			[]string{october(used("10.5072/alps", viewed(5))), october(used("10.5072/alps", viewed(0)))}, "views 2026-10:0", ""},
		"regular counts corrected to machine": {
			[]string{october(used("10.5072/alps", viewed(5))),
				october(used("10.5072/alps", strings.Replace(viewed(5), "regular", "machine", 1)))}, "views 2026-10:5", ""},
		"a correction with nine instances": {
			[]string{october(used("10.5072/alps", viewed(5))),
				october(used("10.5072/alps", append(seven, viewed(6), downloaded(6))...))}, "views 2026-10:5", ""},
		"a correction with no instances": {
			[]string{october(used("10.5072/alps", viewed(5))), october(used("10.5072/alps"))}, "views 2026-10:5", ""},
		"a correction with the DOI as second identifier": {
			[]string{october(used("10.5072/alps", viewed(5))),
				october(strings.Replace(used("10.5072/alps", viewed(6)), `[{`, `[{"value":"x"},{`, 1))}, "views 2026-10:5", ""},
		"a correction in capitals": {
			[]string{october(used("10.5072/alps", viewed(5))),
				october(used("10.5072/alps", counts("UNIQUE-dataset-investigations", 6)))}, "views 2026-10:6", ""},
		"a correction that is null": {
			[]string{october(used("10.5072/alps", viewed(5))), october(used("10.5072/alps", viewed("null")))}, "views 2026-10:5",
			""},
		"a correction that is too large": {
			[]string{october(used("10.5072/alps", viewed(5))), october(used("10.5072/alps", viewed(int64(3000000000))))},
			"views 2026-10:5", ""},
		"another month moves what the report has": {
			[]string{october(used("10.5072/alps", viewed(5)), used("10.5072/reef", viewed(1))),
				usageOf(firstReport, "2026-09-01", used("10.5072/alps", viewed(5)))}, "views 2026-09:5", "views 2026-10:1"},
		"two ids for a month are summed": {
			[]string{october(used("10.5072/alps", viewed(5))),
				usageOf(secondReport, "2026-10-01", used("10.5072/alps", viewed(5)))}, "views 2026-10:5 2026-10:5", ""},
		"twelve months": {year, shownYear.String(), ""},
		"the same again changes nothing": {
			[]string{october(used("10.5072/alps", viewed(5))), october(used("10.5072/alps", viewed(5)))}, "views 2026-10:5", ""},
		"entries are by month, then as they were made": {
			[]string{october(used("10.5072/alps", viewed(5))),
				usageOf(secondReport, "2026-09-01", used("10.5072/alps", viewed(4)))}, "views 2026-09:4 2026-10:5", ""},
		"a fragment adds to its stem": {[]string{
			october(used("10.5072/alps", viewed(5)), used("10.5072/alps#map", viewed(2)),
				used("10.5072/alps?page=3", viewed(1)))}, "views 2026-10:5 2026-10:2 2026-10:1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			service := countingService(t)
			for _, report := range c.reports {
				_, err := service.PutReport([]byte(report))
				require.NoError(t, err)
				service.ProcessUsage()
			}
			assert.Equal(t, c.alps, usageShown(t, service, "10.5072/alps"), "alps")
			assert.Equal(t, c.reef, usageShown(t, service, "10.5072/reef"), "reef")
		})
	}
}

// Which spellings of a DOI find its record.
func TestDeployedUsageSpellings(t *testing.T) {
	long := "10.5072/" + strings.Repeat("x", 170)
	for _, c := range []struct {
		name, reported, registered string
		shows                      bool
	}{
		{"bare", "10.5072/a", "10.5072/a", true},
		{"in capitals", "10.5072/A", "10.5072/a", true},
		{"doi:", "doi:10.5072/a", "10.5072/a", true},
		{"https://doi.org", "https://doi.org/10.5072/a", "10.5072/a", true},
		{"http://dx.doi.org", "http://dx.doi.org/10.5072/a", "10.5072/a", true},
		{"https://doi.org with doi:", "https://doi.org/doi:10.5072/a", "10.5072/a", true},
		{"four digits", "10.5072/a", "10.5072/a", true},
		{"five digits", "10.82433/a", "10.82433/a", true},
		{"six digits", "10.123456/a", "10.123456/a", false},
		{"a prefix with dots", "10.1000.10/a", "10.1000/a", false},
		{"DOI:", "DOI:10.5072/a", "10.5072/a", false},
		{"HTTPS://DOI.ORG", "HTTPS://DOI.ORG/10.5072/a", "10.5072/a", false},
		{"www.doi.org", "https://www.doi.org/10.5072/a", "10.5072/a", false},
		{"no scheme", "doi.org/10.5072/a", "10.5072/a", false},
		{"info:doi/", "info:doi/10.5072/a", "10.5072/a", false},
		{"a blank before", " 10.5072/a", "10.5072/a", false},
		{"a blank behind", "10.5072/a ", "10.5072/a", false},
		{"a line feed behind", "10.5072/a\n", "10.5072/a", false},
		{"a zero-width space", "10.5072/a\u200b", "10.5072/a", true},
		{"what a URL holds as it is", "10.5072/(a):b;c,d@e!f$g&h'i*j+k=l~m_n", "10.5072/(a):b;c,d@e!f$g&h'i*j+k=l~m_n", true},
		{"angle brackets", "10.5072/s(96)4<65:a>2", "10.5072/s(96)4<65:a>2", false},
		{"brackets", "10.5072/a[1]", "10.5072/a[1]", false},
		{"a percent sign", "10.5072/a%2", "10.5072/a%2", false},
		{"a long one", long, long, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed})
			seed(t, service, fmt.Sprintf(`{"doi":%q}`, c.registered))
			_, err := service.PutReport([]byte(october(used(c.reported, viewed(5)))))
			require.NoError(t, err)
			want := map[bool]string{true: "views 2026-10:5"}[c.shows]
			assert.Equal(t, want, usageShown(t, service, url.PathEscape(c.registered)))
		})
	}
}

// alpsDataset is a dataset that the schema of reports takes.
func alpsDataset(doi string, n int) string {
	whole := strings.Replace(numbered(1), "10.5072/0001", doi, 1)
	return strings.Replace(whole, `{"count":2,"metric-type":"unique-dataset-investigations","access-method":"machine"}`,
		viewed(n), 1)
}

// Reports as clients send them, and the records after each step.
func TestDeployedUsageOfSentReports(t *testing.T) {
	plain := func(n int) string { return reportBody(month("Repo", "2026-10-01", ""), alpsDataset("10.5072/alps", n)) }
	packed := func(doi string, n int) string {
		return reportBody(month("Repo", "2026-10-01", noteCompressed), used(doi, viewed(n)))
	}
	type step struct {
		call
		status     int
		alps, reef string
	}
	remove := func(service *sandbox.Service, id string) call {
		return call{method: "DELETE", path: "/reports/" + id,
			header: map[string]string{"Authorization": "Bearer " +
				claims(fmt.Sprintf(`{"uid":"x","role_id":"staff_admin","exp":%d}`, service.Now().Unix()+60))}}
	}
	service := countingService(t)
	for name, steps := range map[string][]step{
		"POST, and a correction by PUT": {
			{postReport(plain(5)), 201, "views 2026-10:5", ""},
			{postReport(plain(6)), 201, "views 2026-10:5", ""}, // which is dropped
			{putReport("", plain(7)), 200, "views 2026-10:7", ""},
		},
		"subset by subset": {
			{postSubset(packed("10.5072/alps", 5)), 201, "views 2026-10:5", ""},
			{postSubset(packed("10.5072/reef", 1)), 201, "views 2026-10:5", "views 2026-10:1"},
		},
		"a compressed PUT drops the other subsets, not their numbers": {
			{postSubset(packed("10.5072/alps", 5)), 201, "views 2026-10:5", ""},
			{putSubset("", packed("10.5072/reef", 1)), 200, "views 2026-10:5", "views 2026-10:1"},
		},
		"plain, then compressed, is the same report": {
			{postReport(plain(5)), 201, "views 2026-10:5", ""},
			{putSubset("", packed("10.5072/alps", 6)), 200, "views 2026-10:6", ""},
		},
		"compressed reports are not checked": {
			{postSubset(reportBody(month("Repo", "2026-10-01", noteCompressed),
				`{"dataset-id":[{"value":"10.5072/alps"}],"performance":[{"instance":[{"metric-type":"unique-dataset-requests",`+
					`"access-method":"regular"}]}]}`)), 201, "downloads 2026-10:1", ""},
		},
		"a dataset with a null among its instances is skipped": {
			{postSubset(reportBody(month("Repo", "2026-10-01", noteCompressed), used("10.5072/alps", viewed(5), "null"), "null",
				used("10.5072/reef", viewed(1)))), 201, "", "views 2026-10:1"},
		},
		"a plain report has lost its nulls before": {
			{postReport(reportBody(month("Repo", "2026-10-01", ""),
				strings.Replace(alpsDataset("10.5072/alps", 5), `"instance":[`, `"instance":[null,`,
					1))), 201, "views 2026-10:5", ""},
		},
		"DELETE removes no number": {
			{postReport(plain(5)), 201, "views 2026-10:5", ""},
			{remove(service, ""), 204, "views 2026-10:5", ""},
		},
		"removed and sent again with another id": {
			{putReport(firstReport, plain(5)), 201, "views 2026-10:5", ""},
			{remove(service, ""), 204, "views 2026-10:5", ""},
			{putReport(secondReport, plain(5)), 201, "views 2026-10:5 2026-10:5", ""},
		},
		"removed and sent again with the id in capitals": {
			{putReport("aaaaaaaa-1111-4111-8111-111111111111", plain(5)), 201, "views 2026-10:5", ""},
			{remove(service, ""), 204, "views 2026-10:5", ""},
			{putReport("AAAAAAAA-1111-4111-8111-111111111111", plain(6)), 201, "views 2026-10:6", ""},
		},
		"a refused report counts nothing": {
			{postReport(reportBody(month("Repo", "2026-10-01", ""), used("10.5072/alps", viewed(5)))), 422, "", ""},
		},
		"a refused compressed PUT counts: its subset is stored": {
			{postSubset(packed("10.5072/alps", 5)), 201, "views 2026-10:5", ""},
			{putSubset("", reportBody(strings.Replace(month("Repo", "2026-10-01", noteCompressed), `"created":"2020-02-01"`,
				`"created":""`, 1), used("10.5072/alps", viewed(6)))), 422, "views 2026-10:6", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			service := countingService(t)
			id := ""
			for i, s := range steps {
				if s.method != "POST" && s.path == "/reports/" {
					s.path += id
				}
				a := s.do(t, service)
				require.Equal(t, s.status, a.status, "%d: %s", i, a.body)
				if stored := service.StoredReports(); len(stored) > 0 {
					id = stored[0].ID
				}
				assert.Equal(t, s.alps, usageShown(t, service, "10.5072/alps"), "alps after step %d", i)
				assert.Equal(t, s.reef, usageShown(t, service, "10.5072/reef"), "reef after step %d", i)
			}
		})
	}
}

// A subset that is broken ends the work: those before it count.
func TestDeployedUsageOfBrokenSubsets(t *testing.T) {
	good := func(doi string) []byte { return zipped([]byte(reportBody("{}", used(doi, viewed(5))))) }
	packed := zipped([]byte(reportBody("{}", used("10.5072/reef", viewed(5)))))
	for name, broken := range map[string][]byte{
		"no gzip":                    []byte("x"),
		"cut":                        packed[:len(packed)-4],
		"no JSON":                    zipped([]byte(`{"report-datasets":[`)),
		"something behind":           zipped([]byte(`{"report-datasets":[]} 7`)),
		"a list":                     zipped([]byte(`[]`)),
		"datasets, and then no list": zipped([]byte(`{"report-datasets":[],"report-datasets":0}`)),
		"datasets that are no list":  zipped([]byte(`{"report-datasets":null}`)),
	} {
		t.Run(name, func(t *testing.T) {
			report := usage.Report{
				ID: "X", Header: []byte(`{"created":"","exceptions":[{"code":69}]}`),
				Subsets: [][]byte{good("10.5072/alps"), broken, good("10.5072/reef")},
			}
			var events usage.Events
			assert.Equal(t, []string{"10.5072/alps"}, events.Import("http://localhost/reports/x", report, time.Now()))
			assert.Equal(t, "https://api.datacite.org/reports/X", events.All()[0].Report, "whatever it is fetched from")
		})
	}
	var events usage.Events
	plain := usage.Report{Header: []byte(`{"created":""}`), Datasets: []byte("[" + used("10.5072/alps", viewed(5)) + "]")}
	events.Import("https://api.datacite.org/reports/x", plain, time.Now())
	events.Import("http://api.datacite.org/reports/x", plain, time.Now())
	assert.Len(t, events.All(), 2, "a plain report is known by the address")
}

// A DOI that is registered after the report shows its numbers; a draft that is removed
// takes them along.
func TestDeployedUsageOfRecordsToCome(t *testing.T) {
	service := countingService(t)
	_, err := service.PutReport([]byte(october(used("10.5072/new", viewed(5)))))
	require.NoError(t, err)
	require.Equal(t, 201, create(`"doi":"10.5072/new"`).do(t, service).status)
	get := call{method: "GET", path: "/dois/10.5072/new", as: "repo"}
	assert.Equal(t, "views 2026-10:5", shownBy(t, at(get.do(t, service).read(t), "data")))

	require.Equal(t, 204, call{method: "DELETE", path: "/dois/10.5072/new", as: "repo"}.do(t, service).status)
	require.Equal(t, 201, create(`"doi":"10.5072/new"`).do(t, service).status)
	assert.Empty(t, shownBy(t, at(get.do(t, service).read(t), "data")))
	_, err = service.PutReport([]byte(october(used("10.5072/new", viewed(6)))))
	require.NoError(t, err)
	assert.Equal(t, "views 2026-10:6", shownBy(t, at(get.do(t, service).read(t), "data")))
}

// A record shows numbers after a while, lists later still.
func TestDeployedUsageLag(t *testing.T) {
	now := time.Date(2026, 12, 5, 0, 0, 0, 0, time.UTC)
	service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, UsageLag: time.Hour, IndexLag: 24 * time.Hour,
		Now: func() time.Time { return now }})
	seed(t, service, `{"doi":"10.5072/alps"}`, `{"doi":"10.5072/reef"}`)
	put := func(n int) {
		_, err := service.PutReport([]byte(october(used("10.5072/alps", viewed(n)))))
		require.NoError(t, err)
	}
	inList := func() string {
		return shownBy(t, at(listed(t, service, "detail=true&sort=-view-count", ""), "data.0"))
	}
	put(5)
	assert.Empty(t, usageShown(t, service, "10.5072/alps"))
	service.Advance(30 * time.Minute)
	put(6)
	service.Advance(30 * time.Minute)
	assert.Equal(t, "views 2026-10:6", usageShown(t, service, "10.5072/alps"), "the report is read when its turn comes")
	assert.Empty(t, inList())
	assert.Empty(t, listed(t, service, "has-views=1", "")["data"])

	service.Advance(24 * time.Hour)
	assert.Equal(t, "views 2026-10:6", inList())
	assert.Len(t, listed(t, service, "has-views=6", "")["data"], 1)
	assert.Len(t, listed(t, service, "query=viewCount:6", "")["data"], 1)

	put(7)
	service.ProcessUsage()
	assert.Equal(t, "views 2026-10:7", usageShown(t, service, "10.5072/alps"), "without waiting")
}

// A report that cannot be read when its turn comes is not counted.
func TestDeployedUsageOfReportsThatAreGone(t *testing.T) {
	service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, UsageLag: time.Hour})
	seed(t, service, `{"doi":"10.5072/alps"}`)
	a := postReport(reportBody(month("Repo", "2026-10-01", ""), alpsDataset("10.5072/alps", 5))).do(t, service)
	require.Equal(t, 201, a.status)
	staff := claims(fmt.Sprintf(`{"uid":"x","role_id":"staff_admin","exp":%d}`, service.Now().Unix()+60))
	gone := call{method: "DELETE", path: "/reports/" + onlyReport(t, service),
		header: map[string]string{"Authorization": "Bearer " + staff}}
	require.Equal(t, 204, gone.do(t, service).status)
	service.Advance(2 * time.Hour)
	assert.Empty(t, usageShown(t, service, "10.5072/alps"))
}

// What is saved is counted by the one that restores it, and what waits still waits.
func TestDeployedUsageIsSaved(t *testing.T) {
	of := func() *sandbox.Service {
		return sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, UsageLag: time.Hour})
	}
	service, restored := of(), of()
	seed(t, service, `{"doi":"10.5072/alps"}`)
	put := func(id string) {
		_, err := service.PutReport([]byte(usageOf(id, "2026-10-01", used("10.5072/alps", viewed(5)))))
		require.NoError(t, err)
	}
	put(firstReport)
	service.ProcessUsage()
	put(secondReport)
	var saved bytes.Buffer
	require.NoError(t, service.Save(&saved))
	require.NoError(t, restored.Restore(&saved))
	assert.Equal(t, "views 2026-10:5", usageShown(t, restored, "10.5072/alps"))
	restored.Advance(time.Hour)
	assert.Equal(t, "views 2026-10:5 2026-10:5", usageShown(t, restored, "10.5072/alps"))
}

// A Documented service counts no reports.
func TestUsageThatIsNotCounted(t *testing.T) {
	documented := newService()
	seed(t, documented, `{"doi":"10.5072/alps","viewCount":3,"viewsOverTime":[{"yearMonth":"2020-01","total":3}]}`)
	_, err := documented.PutReport([]byte(strings.Replace(october(used("10.5072/alps", viewed(5))), `"2026-10-01"`,
		`"2026-10-01","end-date":"2026-10-31"`, 1)))
	require.NoError(t, err)
	documented.ProcessUsage()
	assert.Equal(t, "views 2020-01:3", usageShown(t, documented, "10.5072/alps"))
	assert.Empty(t, documented.UsageEvents())
}

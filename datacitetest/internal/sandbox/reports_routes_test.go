package sandbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDeployedRoutes(t *testing.T) {
	service := withOne(t, deployed())
	for path, want := range map[string]int{
		"/reports": 200, "/reports/": 200, "/reports/" + someUUID + "/": 200, "/reports/" + someUUID + "/x": 404,
		"//reports": 501, "/reports.json": 501, "/reports//" + someUUID: 501, "/reports/" + someUUID +
			".json": 501, "/report-subsets/1": 501,
	} {
		a := call{method: "GET", path: path, header: map[string]string{"Accept": "application/json"}}.do(t, service)
		assert.Equal(t, want, a.status, path)
		if want == 404 {
			assert.JSONEq(t, `{"status":404,"error":"Not Found"}`, a.body, path)
		}
	}
	for _, c := range []call{
		{method: "POST", path: "/reports/" + someUUID}, {method: "PUT", path: "/reports"},
		{method: "PATCH", path: "/reports/" + someUUID},
		{method: "DELETE", path: "/reports"},
	} {
		a := c.do(t, service)
		assert.Equal(t, 404, a.status, "%s %s", c.method, c.path)
		assert.Empty(t, a.body, "no JSON was asked for")
		assert.Contains(t, a.header.Get("Content-Type"), "text/html")
	}
	a := call{method: "GET", path: "/reports/00000000-0000-4000-8000-000000000000"}.do(t, service)
	assertRefused(t, a, 404, "The resource you are looking for doesn't exist.")
}

// Only texts have a limit; what is kept as JSON has none.
func TestDeployedColumns(t *testing.T) {
	long := strings.Repeat("x", 256)
	plain := reportBody(month("Repo", "2020-01-01", ""), dataset)
	for column, change := range map[string][2]string{
		"report_name": {"Dataset Master Report", long}, "report_id": {`"DSR"`, `"` + long + `"`},
		"created":    {"2020-02-01", long},
		"created_by": {`"Repo"`, `"` + long + `"`},
	} {
		assertCrash(t, postReport(strings.Replace(plain, change[0], change[1], 1)).do(t, deployed()),
			"Mysql2::Error: Data too long for column '"+column+"' at row 1")
	}
	t.Run("characters are counted, and what is not written is not", func(t *testing.T) {
		most := strings.Repeat("é", 254) + "e"
		assert.Equal(t, 201, postReport(reportBody(month(most, "2020-01-01", ""), dataset)).do(t, deployed()).status)
		assert.Equal(t, 200, putSubset(someUUID, reportBody(month(long, "2020-01-01", noteCompressed), dataset)).do(t,
			withOne(t, deployed())).status)
	})
	for name, header := range map[string]string{
		"filters": strings.Replace(noted, `"report-filters":[]`,
			`"report-filters":[{"name":"`+long+`","value":"`+long+`"}]`, 1),
		"attributes": strings.Replace(noted, `"report-attributes":[]`, `"report-attributes":[{"name":"`+long+`","value":""}]`,
			1),
		"exceptions": strings.Replace(noted, "report is compressed using gzip", long, 1),
		"period":     strings.Replace(noted, `"2020-01-01"`, `"2020-01-01`+long+`"`, 1),
	} {
		assert.Equal(t, 201, postSubset(reportBody(header, dataset)).do(t, deployed()).status, name)
	}
	t.Run("a compressed PUT has replaced the subsets by then", func(t *testing.T) {
		service := withOne(t, deployed())
		assertCrash(t, putSubset(someUUID,
			reportBody(strings.Replace(noted, "Dataset Master Report", long, 1), numbered(2))).do(t, service), "report_name")
		got := stored200(t, service)
		assert.Contains(t, packed(t, got, 0), "10.5072/0002")
		assert.Equal(t, "Dataset Master Report", at(got, "report.report-header.report-name"))
	})
}

package sandbox_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

func TestDeployedRoutes(t *testing.T) {
	service := withOne(t, deployed())
	for path, want := range map[string]int{
		"/reports": 200, "//reports": 200, "/reports/": 200, "/reports.json": 200, "/reports/" + someUUID + "/": 200,
		"/reports//" + someUUID: 200, "/reports/" + someUUID + ".json": 200, "/reports/" + someUUID + ".xml": 200,
		"/reports/" + someUUID + "/x": 404, "/reports/" + someUUID + ".a.b": 404, "/reportsx": 404, "/report-subsets": 404,
		"/repositories-usage-reports": 404, "/reports%2F" + someUUID: 404,
	} {
		a := call{method: "GET", path: path, header: map[string]string{"Accept": "application/json"}}.do(t, service)
		assert.Equal(t, want, a.status, path)
		if want == 404 {
			assert.JSONEq(t, `{"status":404,"error":"Not Found"}`, a.body, path)
		}
	}
	for _, c := range []call{
		{method: "POST", path: "/reports/" + someUUID}, {method: "PUT", path: "/reports"}, {method: "PATCH", path: "/reports/" + someUUID},
		{method: "DELETE", path: "/reports"}, {method: "POST", path: "/report-subsets/1"}, {method: "PUT", path: "/repositories-usage-reports/x"},
	} {
		a := c.do(t, service)
		assert.Equal(t, 404, a.status, "%s %s", c.method, c.path)
		assert.Empty(t, a.body, "no JSON was asked for")
		assert.Contains(t, a.header.Get("Content-Type"), "text/html")
	}
	assertRefused(t, getReport("%2F").do(t, service), 404, "The resource you are looking for doesn't exist.")
	assertRefused(t, getReport(someUUID+"%2e").do(t, service), 404, "The resource you are looking for doesn't exist.")
	assertCrash(t, getReport("%ff").do(t, service), "Invalid path parameters: Invalid encoding for parameter: \ufffd")
	a := call{method: "GET", path: "/reports/00000000-0000-4000-8000-000000000000"}.do(t, service)
	assertRefused(t, a, 404, "The resource you are looking for doesn't exist.")
	for path, prefix := range map[string]string{"/report-types": "", "/publishers": "", "/heartbeat": "OK"} {
		assert.Contains(t, call{method: "GET", path: path}.do(t, service).body, prefix, "another interface has %s", path)
	}
}

func TestDeployedVary(t *testing.T) {
	service := withOne(t, deployed())
	const full = "Accept, Accept-Encoding, Origin"
	get := func(path, accept string) call {
		return call{method: "GET", path: path, header: map[string]string{"Accept": accept}}
	}
	for want, calls := range map[string][]call{
		full: {
			subsetNumber(2), putReport("x", "{}"), postReport("{"), get("/reports/x", "application/json"), get("/reports", "*/*"),
			get("/reports", "gzip"), get("/repositories-usage-reports/a.json", "application/json"),
		},
		"Accept-Encoding, Origin": {
			getReport(someUUID), getReport("x"), {method: "POST", path: "/reports"}, get("/reports", "text/html"),
			get("/reports", "application/json, */*"), get("/reports.json", "application/json"), get("/reports?format=json", "application/json"),
		},
		"Origin": {{method: "GET", path: "/reports?page=2"}, {method: "PATCH", path: "/reports"}, postSubset("hello")},
	} {
		for _, c := range calls {
			assert.Equal(t, want, c.do(t, service).header.Get("Vary"), "%s %s", c.method, c.path)
		}
	}
}

func TestDeployedCounts(t *testing.T) {
	service := deployed()
	for i, name := range []string{"Repo", "repo", "Other"} {
		body := reportBody(month(name, fmt.Sprintf("202%d-01-01", i), noteCompressed), dataset)
		require.Equal(t, 201, postSubset(body).do(t, service).status)
	}
	counts := call{method: "GET", path: "/repositories-usage-reports/example.repo", as: "token"}
	a := counts.do(t, service)
	require.Equal(t, 200, a.status)
	assert.Equal(t, "true", a.header.Get("X-Anonymous-Consumer"), "it looks at no token")
	got := a.read(t)
	assert.Equal(t, "example.repo", got["client-id"])
	assert.Equal(t, 3.0, got["total"])
	assert.Equal(t, map[string]any{"2020": 1.0, "2021": 1.0, "2022": 1.0}, got["year"])
	assert.Equal(t, map[string]any{"rd1": 3.0}, got["report-types"])
	assert.Len(t, got["created-by"], 2, "names that the database holds for one count as one")
	assert.Equal(t, 1.0, at(got, "created-by.Other"))

	require.Equal(t, 201, postSubset(reportBody(month("Repo", "2019-01-01", noteCompressed), dataset)).do(t, service).status)
	assert.Equal(t, a.body, counts.do(t, service).body, "for a day the cache answers")
	service.Advance(24 * time.Hour)
	assert.Equal(t, 4.0, counts.do(t, service).read(t)["total"])
	assert.JSONEq(t, `{"client-id":"no.body","total":0,"created-by":{},"year":{},"report-types":{}}`,
		call{method: "GET", path: "/repositories-usage-reports/no.body"}.do(t, service).body)
}

func TestDeployedSubsetByNumber(t *testing.T) {
	service := withOne(t, deployed())
	require.Equal(t, 201, subsetNumber(2).do(t, service).status)
	get := func(id any) answer {
		return call{method: "GET", path: fmt.Sprintf("/report-subsets/%v", id)}.do(t, service)
	}
	ids := service.RowIDs(someUUID)
	a := get(ids[1])
	require.Equal(t, 200, a.status, a.body)
	r := at(a.read(t), "report").(map[string]any)
	assert.Equal(t, someUUID, r["id"])
	assert.Equal(t, []any{}, r["report-datasets"])
	assert.Contains(t, r, "exceptions")
	assert.Nil(t, r["exceptions"])
	assert.Equal(t, []string{sumOf(t, 2)}, checksums(a.read(t)))
	assert.Contains(t, packed(t, a.read(t), 0), "10.5072/0002")
	assert.Equal(t, "Repo", at(r, "report-header.created-by"))
	assertRefused(t, get(1), 404, "The resource you are looking for doesn't exist.")
	assertRefused(t, get("x"), 404, "The resource you are looking for doesn't exist.")

	t.Run("without a document", func(t *testing.T) {
		refused := putSubset(someUUID, reportBody(month("Repo", "2020-01-01", ""), numbered(4)))
		require.Equal(t, 422, refused.do(t, service).status)
		assertCrash(t, get(service.RowIDs(someUUID)[0]), "no implicit conversion of nil into String")
	})
	t.Run("not in the document", func(t *testing.T) {
		service = sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, Faults: first([]sandbox.Fault{{}, {Kind: faults.Crash, Step: faults.RowInserted}})})
		withOne(t, service)
		_, err := service.Transport().RoundTrip(gzipPost(t, service, []byte(subsetNumber(2).body)))
		require.Error(t, err)
		assertRefused(t, get(service.RowIDs(someUUID)[1]), 422, "undefined method `[]' for nil:NilClass")
	})
}

// A body coded with deflate takes the way of plain JSON, and falls off it when
// the report exists.
func TestDeployedDeflate(t *testing.T) {
	deflated := func(method, path, body string) call {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		_, _ = w.Write([]byte(body))
		_ = w.Close()
		h := map[string]string{"Content-Type": "application/json", "Content-Encoding": "deflate", "Accept": "application/json"}
		return call{method: method, path: path, header: h, body: b.String(), as: "token"}
	}
	body := reportBody(month("Repo", "2020-01-01", ""), dataset)
	service := deployed()
	a := deflated("PUT", "/reports/"+someUUID, body).do(t, service)
	require.Equal(t, 201, a.status, a.body)
	assert.Equal(t, []string{"10.5072/0001"}, dois(stored200(t, service)))
	assertCrash(t, deflated("POST", "/reports", body).do(t, service), "no implicit conversion of nil into String")
	assert.Len(t, checksums(stored200(t, service)), 1)
	assertCrash(t, deflated("PUT", "/reports/"+someUUID, body).do(t, service), "no implicit conversion of nil into String")
	assert.Empty(t, checksums(stored200(t, service)), "destroyed")

	bad := deflated("POST", "/reports", "")
	bad.body = body
	a = bad.do(t, deployed())
	assert.Equal(t, 500, a.status)
	assert.JSONEq(t, `{"status":500,"error":"Internal Server Error"}`, a.body)
	assertRefused(t, deflated("POST", "/reports", strings.Replace(body, `"rd1"`, `"drl"`, 1)).do(t, deployed()), 422, "Report protocol is incorrect")
	octets := deflated("POST", "/reports", body)
	octets.header["Content-Type"] = "application/octet-stream"
	assertRefused(t, octets.do(t, deployed()), 422, "Report protocol is incorrect")
}

// Only texts have a limit; what is kept as JSON has none.
func TestDeployedColumns(t *testing.T) {
	long := strings.Repeat("x", 256)
	plain := reportBody(month("Repo", "2020-01-01", ""), dataset)
	for column, change := range map[string][2]string{
		"report_name": {"Dataset Master Report", long}, "report_id": {`"DSR"`, `"` + long + `"`}, "created": {"2020-02-01", long},
		"created_by": {`"Repo"`, `"` + long + `"`},
	} {
		assertCrash(t, postReport(strings.Replace(plain, change[0], change[1], 1)).do(t, deployed()),
			"Mysql2::Error: Data too long for column '"+column+"' at row 1")
	}
	for name, header := range map[string]string{
		"filters":    strings.Replace(noted, `"report-filters":[]`, `"report-filters":[{"name":"`+long+`","value":"`+long+`"}]`, 1),
		"attributes": strings.Replace(noted, `"report-attributes":[]`, `"report-attributes":[{"name":"`+long+`","value":""}]`, 1),
		"exceptions": strings.Replace(noted, "report is compressed using gzip", long, 1),
		"period":     strings.Replace(noted, `"2020-01-01"`, `"2020-01-01`+long+`"`, 1),
	} {
		assert.Equal(t, 201, postSubset(reportBody(header, dataset)).do(t, deployed()).status, name)
	}
	t.Run("a compressed PUT has replaced the subsets by then", func(t *testing.T) {
		service := withOne(t, deployed())
		assertCrash(t, putSubset(someUUID, reportBody(strings.Replace(noted, "Dataset Master Report", long, 1), numbered(2))).do(t, service), "report_name")
		got := stored200(t, service)
		assert.Contains(t, packed(t, got, 0), "10.5072/0002")
		assert.Equal(t, "Dataset Master Report", at(got, "report.report-header.report-name"))
	})
}

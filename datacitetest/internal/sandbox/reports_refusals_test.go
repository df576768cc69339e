package sandbox_test

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// Specification §5 and §7: tokens, with both behaviours. By the specification only the header
// of the first column counts.
func TestTokensOfReports(t *testing.T) {
	service := deployed()
	valid := service.Token(service.Now().Add(time.Hour))
	body, twoMonths := reportBody(month("Repo", "2020-01-01", ""),
		dataset), reportBody(header("Repo", "2020-01-01", ""), dataset)
	const noToken, no = "undefined method `uid' for nil:NilClass", "You are not authorized"
	for name, want := range map[string]struct {
		header, body         string
		documented, deployed int
		title                string // of the deployed service, or the caller
	}{
		"no token":     {"", body, 401, 422, noToken},
		"empty token":  {"Bearer ", body, 401, 401, no},
		"empty header": {" ", body, 401, 422, noToken},
		"unknown to the service": {"Bearer " + service.TokenOf("nobody", service.Now().Add(time.Hour)), body, 201, 201,
			"nobody"},
		"no token, before the dates":   {"", twoMonths, 401, 422, "uid"},
		"expired":                      {"Bearer " + service.Token(service.Now().Add(-time.Minute)), body, 403, 401, no},
		"expires now":                  {"Bearer " + service.Token(service.Now()), body, 403, 401, no},
		"garbled":                      {"Bearer x.y.z", body, 401, 401, no},
		"garbled, but the dates first": {"Bearer x.y.z", twoMonths, 401, 422, "Reports are monthly"},
		"not a token":                  {"Bearer secret", body, 401, 401, no},
		"in quotes":                    {`Bearer "` + valid + `"`, body, 401, 401, no},
		"not valid yet": {
			claims(`{"uid":"example.repo","role_id":"client_admin","exp":9999999999,"nbf":9999999990}`), body, 401, 401, no},
		"padded": {claims(`{"uid":"example.repo","role_id":"client_admin","exp":9999999999}`) + "==", body, 401,
			201, ""},
		"basic":                {"Basic RVhBTVBMRS5SRVBPOnNhbmRib3gtcGFzc3dvcmQ=", body, 401, 401, no},
		"without exp":          {claims(`{"uid":"example.repo","role_id":"client_admin"}`), body, 401, 401, no},
		"without uid":          {claims(`{"role_id":"client_admin","exp":9999999999}`), body, 401, 401, no},
		"uid of spaces":        {claims(`{"uid":" ","role_id":"client_admin","exp":9999999999}`), body, 401, 401, no},
		"another role":         {claims(`{"uid":"example.repo","role_id":"user","exp":9999999999}`), body, 401, 401, no},
		"valid":                {"Bearer " + valid, body, 201, 201, ""},
		"scheme in lower case": {"bearer " + valid, body, 201, 201, ""},
		"no scheme":            {valid, body, 401, 201, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []call{{method: "POST", path: "/reports"}, {method: "PUT", path: "/reports/" + someUUID}} {
				c.body, c.header = want.body, map[string]string{"Content-Type": "application/json", "Authorization": want.header}
				a := c.do(t, newService())
				assert.Equal(t, want.documented, a.status, c.method)
				if a.status >= 400 {
					assertRefused(t, a, a.status, "")
				}
				if a = c.do(t, deployed()); want.deployed >= 400 {
					assertRefused(t, a, want.deployed, want.title)
					assert.NotContains(t, a.header, "X-Credential-Username")
				} else {
					assert.Equal(t, want.deployed, a.status)
					assert.Equal(t, cmp.Or(want.title, "example.repo"), a.header.Get("X-Credential-Username"))
				}
			}
		})
	}
	t.Run("reads need none", func(t *testing.T) {
		for _, service := range []*sandbox.Service{newService(), deployed()} {
			for _, token := range []string{"", "Bearer x", "Bearer " + valid} {
				a := call{method: "GET", path: "/reports", header: map[string]string{"Authorization": token}}.do(t, service)
				assert.Equal(t, 200, a.status)
			}
		}
		a := call{method: "GET", path: "/reports", header: map[string]string{"Authorization": "Bearer x"}}.do(t, service)
		assert.Equal(t, []string{""}, a.header["X-Credential-Username"])
		assert.Equal(t, "true", call{method: "GET", path: "/reports"}.do(t, service).header.Get("X-Anonymous-Consumer"))
	})
	t.Run("deletion is for the staff", func(t *testing.T) {
		remove := call{method: "DELETE", path: "/reports/" + someUUID}
		assert.Equal(t, 401, remove.by("example.repo").do(t, newService()).status)
		service := deployed()
		require.Equal(t, 201, putReport(someUUID, body).do(t, service).status)
		assertRefused(t, remove.do(t, service), 422, "uid")
		assertRefused(t, remove.by("example.repo").do(t, service), 401, no)
		remove.header = map[string]string{"Authorization": claims(`{"uid":"admin","role_id":"staff_admin","exp":9999999999}`)}
		removed := remove.do(t, service)
		assert.Equal(t, 204, removed.status)
		assert.Equal(t, "admin", removed.header.Get("X-Credential-Username"))
		assertRefused(t, remove.do(t, service), 404, "doesn't exist")
		assert.Equal(t, 201, postReport(body).do(t, service).status)
	})
}

// Specification §4.1 and §7: types of bodies, with both behaviours.
func TestReportsContentType(t *testing.T) {
	plain := reportBody(month("Repo", "2020-01-01", ""), dataset)
	compressed := string(zipped([]byte(reportBody(month("Repo", "2020-01-01", noteCompressed), dataset))))
	const notRead = "undefined method `dig' for nil:NilClass"
	for name, want := range map[string]struct {
		kind, coding, body   string
		documented, deployed int
		text                 string // of the deployed service
	}{
		"JSON":                 {"application/json", "", plain, 201, 201, ""},
		"JSON with charset":    {"application/json; charset=utf-8", "", plain, 201, 201, ""},
		"JSON said to be gzip": {"application/gzip", "", plain, 415, 201, ""},
		"JSON or else":         {"Application/JSON, text/plain", "", plain, 415, 501, wire.MediaType.Name},
		"JSON:API":             {"application/vnd.api+json", "", plain, 415, 501, wire.ReportBody.Name},
		"JSON:API, gzip":       {"application/vnd.api+json", "gzip", compressed, 415, 501, wire.ReportBody.Name},
		"half a type":          {"application/", "", plain, 415, 501, wire.MediaType.Name},
		"half a type, gzip":    {"application/", "gzip", compressed, 415, 501, wire.MediaType.Name},
		"both in one header": {"application/gzip; Content-Encoding: gzip", "", compressed, 415, 400,
			"Error occurred while parsing"},
		"gzip, wrong checksum": {"application/gzip", "gzip",
			compressed[:len(compressed)-8] + "xxxx" + compressed[len(compressed)-4:], 201, 201, ""},
		"gzip, wrong length":   {"application/gzip", "gzip", compressed[:len(compressed)-4] + "xxxx", 201, 201, ""},
		"gzip without trailer": {"application/gzip", "gzip", compressed[:len(compressed)-4], 201, 201, ""},
		"gzip":                 {"application/gzip", "gzip", compressed, 201, 201, ""},
		"gzip of JSON":         {"application/json", "gzip", compressed, 415, 201, ""},
		"gzip of octets":       {"application/octet-stream", "gzip", compressed, 415, 501, wire.ReportBody.Name},
		"gzip without a type":  {"", "gzip", compressed, 415, 501, wire.ReportBody.Name},
		"gzip as a form": {"application/x-www-form-urlencoded", "gzip", compressed, 415, 501,
			wire.ReportBody.Name},
		"encoding in capitals":        {"application/gzip", "GZIP", compressed, 415, 501, wire.ReportBody.Name},
		"another encoding":            {"application/gzip", "x-gzip", compressed, 415, 501, wire.ReportBody.Name},
		"gzip bytes without encoding": {"application/gzip", "", compressed, 415, 400, "Error occurred while parsing"},
		"text":                        {"text/plain", "", plain, 415, 422, notRead},
		"no type":                     {"", "", plain, 415, 422, notRead},
		"form":                        {"application/x-www-form-urlencoded", "", plain, 415, 422, notRead},
		"a malformed type":            {"json", "", plain, 415, 501, wire.MediaType.Name},
		"empty":                       {"application/json", "", "", 422, 422, notRead},
		"empty gzip":                  {"application/gzip", "gzip", "", 422, 500, `"error":"Internal Server Error"`},
		"no gzip after all":           {"application/gzip", "gzip", plain, 422, 500, `"error":"Internal Server Error"`},
	} {
		t.Run(name, func(t *testing.T) {
			c := postReport(want.body)
			c.header = map[string]string{"Content-Encoding": want.coding, "Accept": "application/json"}
			if want.kind != "" {
				c.header["Content-Type"] = want.kind
			}
			assert.Equal(t, want.documented, c.do(t, newService()).status)
			a := c.do(t, deployed())
			assert.Equal(t, want.deployed, a.status, a.body)
			assert.Contains(t, a.body, want.text)
		})
	}
	c := postReport("")
	c.header = map[string]string{"Content-Type": "application/gzip", "Content-Encoding": "gzip"}
	a := c.do(t, deployed())
	assert.Equal(t, 500, a.status, "of the framework, JSON not accepted")
	assert.Empty(t, a.body)
	assert.Contains(t, a.header.Get("Content-Type"), "text/html")
}

// What is refused before the deployed service has touched anything.
func TestDeployedRefusals(t *testing.T) {
	plain := reportBody(month("Repo", "2020-01-01", ""), dataset)
	noted := reportBody(month("Repo", "2020-01-01", noteCompressed), dataset)
	change := func(body, old, replacement string) string {
		require.Contains(t, body, old)
		return strings.Replace(body, old, replacement, 1)
	}
	raw := func(body string) call {
		c := postSubset("")
		c.body = body
		return c
	}
	whole := string(zipped([]byte(noted)))
	for name, want := range map[string]struct {
		call
		status int
		title  string
	}{
		"broken JSON":     {postReport(plain[:40]), 400, "Error occurred while parsing"},
		"no header":       {postReport(`{"report-datasets":[]}`), 400, "Error occurred while parsing"},
		"header an array": {postReport(`{"report-header":[]}`), 400, "Error occurred while parsing"},
		"names with underscores": {postReport(strings.NewReplacer("created-by", "created_by").Replace(plain)), 501,
			wire.ReportValue.Name},
		"names in camel case": {postReport(change(plain, "report-header", "reportHeader")), 501, wire.ReportValue.Name},
		"created a number":    {postReport(change(plain, `"2020-02-01"`, `20200201`)), 501, wire.ReportValue.Name},
		"two months": {postReport(reportBody(header("Repo", "2020-01-01", ""), dataset)), 422,
			"Reports are monthly, reporting dates need to be within the same month"},
		"no begin-date": {postReport(change(plain, `"begin-date":"2020-01-01",`, "")), 500,
			"no implicit conversion of nil into String"},
		"no period": {postReport(change(plain, `"reporting-period"`, `"x"`)), 500,
			"no implicit conversion of nil into String"},
		"date a number": {postReport(change(plain, `"end-date":"2020-01-28"`, `"end-date":20200128`)), 501,
			wire.ReportValue.Name},
		"no such day": {postReport(change(plain, `"end-date":"2020-01-28"`, `"end-date":"2020-01-32"`)), 500,
			"invalid date"},
		"31 April": {postReport(change(plain, `"end-date":"2020-01-28"`, `"end-date":"2020-04-31"`)), 500,
			"invalid date"},
		"date with a blank": {postReport(change(plain, `"begin-date":"2020-01-01"`, `"begin-date":" 2020-01-01"`)), 500,
			"invalid date"},
		"release in capitals": {postReport(change(plain, `"rd1"`, `"RD1"`)), 422, "Report protocol is incorrect"},
		"resolutions, plain":  {postReport(change(plain, `"rd1"`, `"drl"`)), 422, "Report protocol is incorrect"},
		"no release": {postReport(change(plain, `"release":"rd1",`, "")), 422,
			"param is missing or the value is empty: release"},
		"no datasets": {postReport(reportBody(month("Repo", "2020-01-01", ""))), 422,
			"Report protocol is incorrect"},
		"sent back as it came": {postReport(change(plain, `"release"`,
			`"client-id":"x","year":"2020","month":"1","release"`)), 422, "found unpermitted parameters: :client_id, :month, " +
			":year"},
		"unknown deep inside": {postReport(change(plain, `"count":3`, `"country":"us","count":3`)), 422,
			"found unpermitted parameter: :country"},
		"filters null": {postReport(change(plain, `"report-filters":[]`, `"report-filters":null`)), 422,
			"found unpermitted parameter: :report_filters"},
		"country in capitals": {postReport(change(plain, `"us":2`, `"US":2`)), 422, "found unpermitted parameter: :US"},
		"no country":          {postReport(change(plain, `"us":2`, `"zz":2`)), 422, "found unpermitted parameter: :zz"},
		"exceptions an object": {postReport(change(plain, `"exceptions":[]`, `"exceptions":{"code":69}`)), 501,
			wire.ReportValue.Name},
		"invalid UTF-8":       {postReport(change(plain, "Alps", "\xff")), 500, "Invalid encoding for parameter"},
		"invalid UTF-8, gzip": {postSubset(change(noted, "Alps", "\xff")), 500, "Invalid encoding for parameter"},
		"gzip, unknown in header": {postSubset(change(noted, `"release"`, `"client-id":"x","release"`)), 400,
			"unknown attribute 'client_id' for Report."},
		"gzip, no header":       {postSubset(`{}`), 400, "Error occurred while parsing"},
		"gzip, header_":         {postSubset(`{"report_header":` + noted + `}`), 501, wire.ReportValue.Name},
		"gzip, header an array": {postSubset(`{"report-header":[]}`), 500, ""},
		"gzip, Created-By":      {postSubset(change(noted, `"created-by"`, `"Created-By"`)), 501, wire.ReportValue.Name},
		"gzip, odd exceptions":  {postSubset(change(noted, noteCompressed, `"x"`)), 501, wire.ReportValue.Name},
		"created-by an object":  {postReport(change(plain, `"Repo"`, `[{}]`)), 501, wire.ReportValue.Name},
		"period a text": {postReport(change(plain, `{"begin-date":"2020-01-01","end-date":"2020-01-28"}`,
			`"2020-01"`)), 501, wire.ReportValue.Name},
		"release null": {postReport(change(plain, `"rd1"`, `null`)), 422, "Report protocol is incorrect"},
		"only nulls": {postReport(reportBody(month("Repo", "2020-01-01", ""), "null")), 422,
			"Report protocol is incorrect"},
		"names of datasets": {postReport(strings.ReplaceAll(plain, "dataset-id", "dataset_id")), 422,
			"found unpermitted parameter: :dataset_id"},
		"unknown in two places": {postReport(change(change(plain, `"dataset-id":[{`, `"dataset-id":[{"a":1,`), `"count":3`,
			`"b":1,"count":3`)), 501, wire.ReportValue.Name},
		"gzip, cut off": {raw(whole[:len(whole)-20]), 500, ""},
		"gzip, no JSON": {postSubset("hello"), 500, ""},
	} {
		t.Run(name, func(t *testing.T) {
			service := deployed()
			a := want.do(t, service)
			switch {
			case want.title == "":
				assert.Equal(t, want.status, a.status)
				assert.JSONEq(t, `{"status":500,"error":"Internal Server Error"}`, a.body)
			case want.status == 500:
				assertCrash(t, a, want.title)
			default:
				assertRefused(t, a, want.status, want.title)
			}
			assert.Equal(t, 0.0, at(call{method: "GET", path: "/reports"}.do(t, service).read(t), "meta.total"))
		})
	}
	for name, body := range map[string]string{
		"a time for a date":          change(plain, `"begin-date":"2020-01-01"`, `"begin-date":"2020-01-01T00:00:00Z"`),
		"a short date":               change(plain, `"begin-date":"2020-01-01"`, `"begin-date":"2020-1-1"`),
		"months of different years":  change(plain, `"end-date":"2020-01-28"`, `"end-date":"2031-01-28"`),
		"backwards":                  change(plain, `"begin-date":"2020-01-01"`, `"begin-date":"2020-01-30"`),
		"text for a filter":          change(plain, `"report-filters":[]`, `"report-filters":["x"]`),
		"exceptions of another kind": change(plain, `"exceptions":[]`, `"exceptions":{}`),
		"an empty exception":         change(plain, `"exceptions":[]`, `"exceptions":[{}]`),
	} {
		t.Run("taken: "+name, func(t *testing.T) {
			a := postReport(body).do(t, deployed())
			require.Equal(t, 201, a.status, a.body)
			assert.Equal(t, "Repo", at(a.read(t), "report.report-header.created-by"))
		})
	}
}

// Faults of the contents have a shape of their own on POST, and none on PUT.
func TestDeployedValidation(t *testing.T) {
	plain := reportBody(month("Repo", "2020-01-01", ""), dataset)
	bad := strings.NewReplacer(`"report-id":"DSR",`, "", `"yop":"2019"`, `"yop":2019`, `"publisher":"Example",`, "",
		`"data-type":"dataset"`, `"data-type":"Dataset"`, `"count":3`, `"count":3.0`).Replace(plain)
	a := postReport(bad).do(t, deployed())
	assert.Equal(t, 422, a.status)
	assert.NotContains(t, a.read(t), "errors")
	assert.Equal(t, "can't be blank", at(a.read(t), "report_id.0"))
	assert.Equal(t, "example.repo", a.header.Get("X-Credential-Username"))
	found, order := map[string]string{}, []string{}
	for _, f := range at(a.read(t), "base.0").([]any) {
		for path, message := range f.(map[string]any) {
			found[path] = message.(string)
			order = append(order, path)
		}
	}
	for path, message := range map[string]string{
		"#/report-id": "The property '#/report-id' of type null did not match the " +
			"following type: string in schema ",
		"#/report-datasets/0":                                "did not contain a required property of 'publisher'",
		"#/report-datasets/0/yop":                            "of type integer did not match the following type: string",
		"#/report-datasets/0/data-type":                      `"Dataset"`,
		"#/report-datasets/0/performance/0/instance/0/count": "of type number did not match the following type: integer",
	} {
		assert.Contains(t, found[path], message)
	}
	assert.Equal(t, []string{
		"#/report-id", "#/report-datasets/0", "#/report-datasets/0/data-type", "#/report-datasets/0/yop",
		"#/report-datasets/0/performance/0/instance/0/count",
	}, order, "in the order of the schema")
	assertRefused(t, putReport(someUUID, bad).do(t, deployed()), 422,
		"undefined method `serialize' for #<ReportsController")

	for by, want := range map[string]int{"Repo ": 422, "Zürich Ü": 422, "ÜÜ Repo!": 422, "Ü, Repo": 201, "Repo*": 201} {
		a := postReport(reportBody(month(by, "2020-01-01", ""), dataset)).do(t, deployed())
		assert.Equal(t, want, a.status, by)
		if want == 422 {
			assert.JSONEq(t, `{"created_by":["is invalid"]}`, a.body)
		}
	}
	a = postSubset(reportBody(month("Repo", "2020-01-01", ""), dataset)).do(t, deployed())
	assert.Equal(t, 422, a.status)
	assert.JSONEq(t, `{"report_datasets":["can't be blank"],"base":[[{"#/report-datasets":"The property `+
		`'#/report-datasets' of type null did not match `+
		`the following type: array in schema 7757177d-ae02-5888-8cdf-d748b3fb8616"}]]}`, a.body, "code 69 is missing")

	// Fault by fault, as the server words it.
	for _, want := range []struct{ old, replacement, fault string }{
		{`"data-type":"dataset"`, `"data-type":null`,
			"value nil did not match one of the following values: dataset in schema 7757177d-ae02-5888-8cdf-d748b3fb8616#"},
		{`"data-type":"dataset"`, `"data-type":5`,
			"of type integer did not match the following type: string in schema 7757177d-ae02-5888-8cdf-d748b3fb8616#"},
		{`"total-dataset-requests"`, `"x"`,
			"following values: total-dataset-investigations, total-dataset-requests, unique-dataset-investigations, " +
				"unique-dataset-requests in"},
		{`"type":"client-id"`, `"type":"x"`, "following values: isni, orcid, grid, urn, client-id in"},
		{`"type":"name"`, `"type":"x"`, "following values: name, orcid, isni in"},
		{`"type":"pub-date"`, `"type":"x"`, "following values: pub-date, first-accessed-online, proprietary in"},
		{`"report-filters":[]`, `"report-filters":{}`,
			"of type object did not match the following type: array in schema 7757177d-ae02-5888-8cdf-d748b3fb8616\""},
	} {
		a := postReport(strings.Replace(plain, want.old, want.replacement, 1)).do(t, deployed())
		assert.Equal(t, 422, a.status)
		assert.Contains(t, a.body, want.fault)
	}
	of := `"period":{"begin-date":"2020-01-01","end-date":"2020-01-31"}`
	require.Contains(t, plain, of)
	assert.Equal(t, 201, postReport(strings.Replace(plain, of, `"period":[]`, 1)).do(t, deployed()).status,
		"the schema names no type for it")
}

// Any body is answered, and what is taken is there afterwards. Ids and gzip make
// the paths through the code differ from run to run, so fuzz with
// -fuzzminimizetime 0.
func FuzzDeployedReportBody(f *testing.F) {
	f.Add([]byte(reportBody(month("Repo", "2020-01-01", ""), dataset, dataset)), false)
	f.Add([]byte(reportBody(month("Repo", "2020-01-01", noteCompressed), dataset)), true)
	f.Add([]byte(`{"report-header":{"release":"rd1","exceptions":[null,{"code":69}],`+
		`"reporting-period":{"begin-date":"1-1-1","end-date":"1-1-1"}}}`), true)
	f.Fuzz(func(t *testing.T, body []byte, compressed bool) {
		service := deployed()
		c := putReport(someUUID, string(body))
		if compressed {
			c = putSubset(someUUID, string(body))
		}
		a := c.do(t, service)
		if len(a.body) > 0 && !json.Valid([]byte(a.body)) {
			t.Fatalf("%d with a body that is no JSON: %s", a.status, a.body)
		}
		got := getReport(someUUID).do(t, service)
		assert.Equal(t, a.status == 201, got.status == 200, "%d, but then %d", a.status, got.status)
		if compressed && a.status == 201 {
			assert.Equal(t, string(body), packed(t, got.read(t), 0))
		}
	})
}

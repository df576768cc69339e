package sandbox_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/sandbox"
)

func deployed() *sandbox.Service {
	return sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, Accounts: []sandbox.Account{sandbox.DefaultAccount, other}})
}

// month is a header of a report of one month.
func month(createdBy, begin, exceptions string) string {
	return strings.Replace(header(createdBy, begin, exceptions), "2020-12-31", begin[:8]+"28", 1)
}

func putSubset(id, body string) call {
	return call{method: "PUT", path: "/reports/" + id, header: gzipType, body: string(zipped([]byte(body))), as: "token"}
}

// byOther sends a call with the token of the other account.
func byOther(service *sandbox.Service, c call) call {
	h := map[string]string{"Authorization": "Bearer " + service.TokenFor(other.Username, service.Now().Add(time.Hour))}
	for name, value := range c.header {
		h[name] = value
	}
	c.as, c.header = "", h
	return c
}

// claims is a token with the payload as it stands.
func claims(payload string) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"RS256"}`)) + "." + part([]byte(payload)) + ".c2ln"
}

// packed unpacks a subset that an answer shows.
func packed(t testing.TB, report map[string]any, i int) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(at(report, fmt.Sprintf("report.report-subsets.%d.gzip", i)).(string))
	require.NoError(t, err)
	return string(unzipped(t, raw))
}

func checksums(report map[string]any) []string {
	var out []string
	subsets, _ := at(report, "report.report-subsets").([]any)
	for _, s := range subsets {
		out = append(out, at(s, "checksum").(string))
	}
	return out
}

const crash = "[UsageReports] cannot find gzip for a report-subset"

// bare answers of the deployed service: 500 with 400 inside, and no type.
func assertCrash(t testing.TB, a answer, title string) {
	t.Helper()
	assert.Equal(t, 500, a.status, a.body)
	assert.NotContains(t, a.header, "Content-Type")
	assert.Equal(t, 400.0, at(a.read(t), "status"))
	assert.Contains(t, at(a.read(t), "title"), title)
}

func assertRefused(t testing.TB, a answer, status int, title string) {
	t.Helper()
	assert.Equal(t, status, a.status, a.body)
	assert.Equal(t, fmt.Sprint(status), at(a.read(t), "errors.0.status"))
	assert.Contains(t, at(a.read(t), "errors.0.title"), title)
}

func TestDeployedPlainReport(t *testing.T) {
	service := deployed()
	a := postReport(reportBody(month("Repo", "2020-04-01", ""), numbered(1), numbered(2))).do(t, service)
	require.Equal(t, 201, a.status, a.body)
	id := at(a.read(t), "report.id").(string)
	got := getReport(id).do(t, service).read(t)
	assert.Equal(t, a.read(t), got, "the answer to POST is the report")

	h := at(got, "report.report-header").(map[string]any)
	assert.Equal(t, []any{"example.repo", "2020", "4"}, []any{h["client-id"], h["year"], h["month"]})
	assert.Equal(t, []string{"10.5072/0001", "10.5072/0002"}, dois(got))
	require.Len(t, checksums(got), 1, "the service's own compressed copy")
	assert.Contains(t, packed(t, got, 0), `"begin_date":"2020-04-01"`, "whose header is spelled with underscores")

	t.Run("POST again returns it and drops the body", func(t *testing.T) {
		again := postReport(reportBody(month("Repo", "2020-04-02", ""), numbered(3))).do(t, service)
		assert.Equal(t, 201, again.status)
		assert.Equal(t, a.body, again.body, "year and month of begin-date decide, not the day")
	})
	t.Run("PUT replaces the datasets and leaves the copy stale", func(t *testing.T) {
		changed := strings.Replace(month("Repo", "2020-04-01", ""), `"created":"2020-02-01",`, `"created":"2020-05-05",`, 1)
		put := putReport(id, reportBody(changed, numbered(7))).do(t, service)
		assert.Equal(t, 200, put.status, put.body)
		now := getReport(id).do(t, service).read(t)
		assert.Equal(t, []string{"10.5072/0007"}, dois(now))
		assert.Equal(t, checksums(got), checksums(now))
		assert.Equal(t, "2020-05-05", at(now, "report.report-header.created"))
	})
	t.Run("PUT of another account is taken", func(t *testing.T) {
		assert.Equal(t, 200, byOther(service, putReport(id, reportBody(month("Repo", "2020-04-01", ""), numbered(8)))).do(t, service).status)
	})
}

func TestDeployedHeaderIsMerged(t *testing.T) {
	service := deployed()
	require.Equal(t, 201, putReport(someUUID, reportBody(month("Repo", "2020-04-01", ""), dataset)).do(t, service).status)
	sent := `{"release":"rd1","report-id":"new","created-by":"Another","created":"2021-01-01","reporting-period":{"begin-date":"2021-06-01","end-date":"2021-06-30"}}`
	a := byOther(service, putReport(someUUID, reportBody(sent, dataset))).do(t, service)
	require.Equal(t, 200, a.status, a.body)
	answered := at(a.read(t), "report.report-header").(map[string]any)
	stored := at(getReport(someUUID).do(t, service).read(t), "report.report-header").(map[string]any)
	for name, want := range map[string][2]string{ // as answered, as stored
		"created-by":  {"Another", "Repo"},
		"report-id":   {"new", "DSR"},
		"client-id":   {"other.repo", "example.repo"},
		"year":        {"2021", "2020"},
		"month":       {"6", "4"},
		"created":     {"2021-01-01", "2021-01-01"},
		"report-name": {"Dataset Master Report", "Dataset Master Report"},
	} {
		assert.Equal(t, want, [2]string{answered[name].(string), stored[name].(string)}, name)
	}
	assert.Equal(t, "2021-06-01", at(stored, "reporting-period.begin-date"))
}

func TestDeployedSubsets(t *testing.T) {
	service := deployed()
	noted := month("Repo", "2020-01-01", noteCompressed)
	first := postSubset(reportBody(noted, numbered(1)))
	a := first.do(t, service)
	require.Equal(t, 201, a.status, a.body)
	id := at(a.read(t), "report.id").(string)
	one := checksums(a.read(t))

	second := postSubset(reportBody(month("Repo", "2020-01-15", ""), numbered(2)))
	a = second.do(t, service)
	require.Equal(t, 201, a.status, "code 69 is not asked for again")
	two := checksums(a.read(t))
	assert.Equal(t, one[0], two[0], "in order")
	got := getReport(id).do(t, service).read(t)
	assert.Equal(t, []any{}, at(got, "report.report-datasets"))
	assert.Equal(t, two, checksums(got))
	assert.Equal(t, reportBody(noted, numbered(1)), packed(t, got, 0), "the bytes as sent")

	t.Run("the same bytes again are a duplicate", func(t *testing.T) {
		assert.Equal(t, append(two, two[1]), checksums(second.do(t, service).read(t)))
	})
	t.Run("PUT clears, however often", func(t *testing.T) {
		for range 2 {
			a := putSubset(id, reportBody(noted, numbered(5))).do(t, service)
			assert.Equal(t, 200, a.status)
			assert.Len(t, checksums(a.read(t)), 1)
		}
		assert.Len(t, checksums(getReport(id).do(t, service).read(t)), 1)
	})
	t.Run("nothing is looked at but the header", func(t *testing.T) {
		a := postSubset(`{"report-header":`+noted+`,"report-datasets":{"bogus":3}}`).do(t, service)
		assert.Equal(t, 201, a.status, a.body)
		a = postSubset(`{"report-header":`+month("Repo 2", "2020-01-01", noteCompressed)+`}`).do(t, service)
		assert.Equal(t, 201, a.status, a.body)
	})
	t.Run("plain JSON changes nothing", func(t *testing.T) {
		before := checksums(getReport(id).do(t, service).read(t))
		assert.Equal(t, before, checksums(postReport(reportBody(month("Repo", "2020-01-01", ""), dataset)).do(t, service).read(t)))
	})
}

func TestDeployedIdentity(t *testing.T) {
	service := deployed()
	plain := func(createdBy, begin string) string { return reportBody(month(createdBy, begin, ""), dataset) }
	require.Equal(t, 201, putReport(someUUID, plain("Repo", "2020-01-01")).do(t, service).status)
	const next = "0a3c1c1e-3b7a-4a8e-9d55-0d3b8e7a4f10"
	assertRefused(t, byOther(service, postReport(plain("Repo", "2020-01-20"))).do(t, service), 409, "The resource already exists.")
	assertRefused(t, putReport(next, plain("Repo", "2020-01-20")).do(t, service), 409, "The resource already exists.")
	assert.Equal(t, 201, putReport(next, plain("Repo", "2021-01-01")).do(t, service).status)
	assertRefused(t, putReport("1-2-3", plain("Repo", "2022-01-01")).do(t, service), 422, "Record invalid")
	assert.Equal(t, 404, getReport("00000000-0000-4000-8000-000000000000").do(t, service).status)

	upper := strings.ToUpper("aa3c1c1e-3b7a-4a8e-9d55-0d3b8e7a4f10")
	a := putReport(upper, plain("Repo", "2023-01-01")).do(t, service)
	assert.Equal(t, upper, at(a.read(t), "report.id"), "stored as given")
	assert.Equal(t, 200, getReport(strings.ToLower(upper)+".json").do(t, service).status)
}

func TestDeployedReportsAuth(t *testing.T) {
	service := deployed()
	valid := service.Token(service.Now().Add(time.Hour))
	body := reportBody(month("Repo", "2020-01-01", ""), dataset)
	twoMonths := reportBody(header("Repo", "2020-01-01", ""), dataset)
	for name, want := range map[string]struct {
		header, body string
		status       int
		title        string
	}{
		"no token":                     {"", body, 422, "undefined method `uid' for nil:NilClass"},
		"empty token":                  {"Bearer ", body, 422, "undefined method `uid' for nil:NilClass"},
		"no token, before the dates":   {"", twoMonths, 422, "uid"},
		"expired":                      {"Bearer " + service.Token(service.Now().Add(-time.Minute)), body, 401, "You are not authorized"},
		"garbled":                      {"Bearer x.y.z", body, 401, "You are not authorized"},
		"garbled, but the dates first": {"Bearer x.y.z", twoMonths, 422, "Reports are monthly"},
		"in quotes":                    {`Bearer "` + valid + `"`, body, 401, "You are not authorized"},
		"basic":                        {"Basic RVhBTVBMRS5SRVBPOnNhbmRib3gtcGFzc3dvcmQ=", body, 401, "You are not authorized"},
		"without exp":                  {claims(`{"uid":"example.repo","role_id":"client_admin"}`), body, 401, "You are not authorized"},
		"without uid":                  {claims(`{"role_id":"client_admin","exp":9999999999}`), body, 401, "You are not authorized"},
		"another role":                 {claims(`{"uid":"example.repo","role_id":"user","exp":9999999999}`), body, 401, "You are not authorized"},
		"valid":                        {"Bearer " + valid, body, 201, ""},
		"scheme in lower case":         {"bearer " + valid, body, 201, ""},
		"no scheme":                    {valid, body, 201, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []call{{method: "POST", path: "/reports"}, {method: "PUT", path: "/reports/" + someUUID}} {
				c.body, c.header = want.body, map[string]string{"Content-Type": "application/json", "Authorization": want.header}
				a := c.do(t, deployed())
				if want.status >= 400 {
					assertRefused(t, a, want.status, want.title)
					assert.NotContains(t, a.header, "X-Credential-Username")
				} else {
					assert.Equal(t, want.status, a.status)
					assert.Equal(t, "example.repo", a.header.Get("X-Credential-Username"))
				}
			}
		})
	}
	t.Run("reading with a worthless token", func(t *testing.T) {
		a := call{method: "GET", path: "/reports", header: map[string]string{"Authorization": "Bearer x"}}.do(t, service)
		assert.Equal(t, 200, a.status)
		assert.Equal(t, []string{""}, a.header["X-Credential-Username"])
		assert.Equal(t, "true", call{method: "GET", path: "/reports"}.do(t, service).header.Get("X-Anonymous-Consumer"))
	})
	t.Run("deletion is for the staff", func(t *testing.T) {
		service := deployed()
		require.Equal(t, 201, putReport(someUUID, body).do(t, service).status)
		remove := call{method: "DELETE", path: "/reports/" + someUUID}
		assertRefused(t, remove.do(t, service), 422, "uid")
		remove.as = "token"
		assertRefused(t, remove.do(t, service), 401, "You are not authorized")
		remove.as, remove.header = "", map[string]string{"Authorization": claims(`{"uid":"admin","role_id":"staff_admin","exp":9999999999}`)}
		assert.Equal(t, 204, remove.do(t, service).status)
		assertRefused(t, remove.do(t, service), 404, "doesn't exist")
		assert.Equal(t, 201, postReport(body).do(t, service).status)
	})
}

func TestDeployedReportTypes(t *testing.T) {
	plain := reportBody(month("Repo", "2020-01-01", ""), dataset)
	compressed := string(zipped([]byte(reportBody(month("Repo", "2020-01-01", noteCompressed), dataset))))
	for name, want := range map[string]struct {
		kind, coding, body string
		status             int
		text               string
	}{
		"JSON":                        {"application/json", "", plain, 201, ""},
		"JSON with charset":           {"application/json; charset=utf-8", "", plain, 201, ""},
		"JSON said to be gzip":        {"application/gzip", "", plain, 201, ""},
		"gzip":                        {"application/gzip", "gzip", compressed, 201, ""},
		"gzip of JSON":                {"application/json", "gzip", compressed, 201, ""},
		"gzip of octets":              {"application/octet-stream", "gzip", compressed, 201, ""},
		"gzip without a type":         {"", "gzip", compressed, 400, `{"error":"Bad Request","status":400}`},
		"gzip as a form":              {"application/x-www-form-urlencoded", "gzip", compressed, 400, `"error":"Bad Request"`},
		"encoding in capitals":        {"application/gzip", "GZIP", compressed, 400, "Error occurred while parsing request parameters"},
		"another encoding":            {"application/gzip", "x-gzip", compressed, 400, "Error occurred while parsing"},
		"gzip bytes without encoding": {"application/gzip", "", compressed, 400, "Error occurred while parsing"},
		"text":                        {"text/plain", "", plain, 422, "undefined method `dig' for nil:NilClass"},
		"no type":                     {"", "", plain, 422, "undefined method `dig' for nil:NilClass"},
		"form":                        {"application/x-www-form-urlencoded", "", plain, 422, "dig"},
		"a type that is none":         {"json", "", plain, 500, `{"error":"Internal Server Error","status":500}`},
		"empty":                       {"application/json", "", "", 422, "dig"},
		"empty gzip":                  {"application/gzip", "gzip", "", 500, `"error":"Internal Server Error"`},
		"no gzip after all":           {"application/gzip", "gzip", plain, 500, `"error":"Internal Server Error"`},
	} {
		t.Run(name, func(t *testing.T) {
			c := postReport(want.body)
			c.header = map[string]string{"Content-Type": want.kind, "Content-Encoding": want.coding, "Accept": "application/json"}
			a := c.do(t, deployed())
			assert.Equal(t, want.status, a.status, a.body)
			assert.Contains(t, a.body, want.text)
		})
	}
	t.Run("an error from outside, to who asks for no JSON", func(t *testing.T) {
		c := postReport("")
		c.header = map[string]string{"Content-Type": "application/gzip", "Content-Encoding": "gzip"}
		a := c.do(t, deployed())
		assert.Equal(t, 500, a.status)
		assert.Empty(t, a.body)
		assert.Contains(t, a.header.Get("Content-Type"), "text/html")
	})
	t.Run("an Accept header that cannot be read", func(t *testing.T) {
		a := call{method: "GET", path: "/reports", header: map[string]string{"Accept": "json"}}.do(t, deployed())
		assert.Equal(t, 500, a.status)
		assert.Equal(t, 200, call{method: "GET", path: "/reports", header: map[string]string{"Accept": "gzip"}}.do(t, deployed()).status)
	})
	t.Run("no such route", func(t *testing.T) {
		a := call{method: "PATCH", path: "/reports/" + someUUID, header: jsonType, as: "token"}.do(t, deployed())
		assert.Equal(t, 404, a.status)
		assert.JSONEq(t, `{"status":404,"error":"Not Found"}`, a.body)
	})
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
		"broken JSON":             {postReport(plain[:40]), 400, "Error occurred while parsing"},
		"an array":                {postReport("[]"), 400, "Error occurred while parsing"},
		"byte order mark":         {postReport("\ufeff" + plain), 400, "Error occurred while parsing"},
		"no header":               {postReport(`{"report-datasets":[]}`), 400, "Error occurred while parsing"},
		"header an array":         {postReport(`{"report-header":[]}`), 400, "Error occurred while parsing"},
		"wrapped":                 {postReport(`{"report":` + plain + `}`), 400, "Error occurred while parsing"},
		"two months":              {postReport(reportBody(header("Repo", "2020-01-01", ""), dataset)), 422, "Reports are monthly, reporting dates need to be within the same month"},
		"no begin-date":           {postReport(change(plain, `"begin-date":"2020-01-01",`, "")), 500, "no implicit conversion of nil into String"},
		"no period":               {postReport(change(plain, `"reporting-period"`, `"x"`)), 500, "no implicit conversion of nil into String"},
		"date a number":           {postReport(change(plain, `"end-date":"2020-01-28"`, `"end-date":20200128`)), 500, "no implicit conversion of Integer into String"},
		"no such day":             {postReport(change(plain, `"end-date":"2020-01-28"`, `"end-date":"2020-01-32"`)), 500, "invalid date"},
		"31 April":                {postReport(change(plain, `"end-date":"2020-01-28"`, `"end-date":"2020-04-31"`)), 500, "invalid date"},
		"compact date":            {postReport(change(plain, `"begin-date":"2020-01-01"`, `"begin-date":"20200101"`)), 500, "invalid date"},
		"date with a blank":       {postReport(change(plain, `"begin-date":"2020-01-01"`, `"begin-date":" 2020-01-01"`)), 500, "invalid date"},
		"release in capitals":     {postReport(change(plain, `"rd1"`, `"RD1"`)), 422, "Report protocol is incorrect"},
		"resolutions, plain":      {postReport(change(plain, `"rd1"`, `"drl"`)), 422, "Report protocol is incorrect"},
		"no release":              {postReport(change(plain, `"release":"rd1",`, "")), 422, "param is missing or the value is empty: release"},
		"no datasets":             {postReport(reportBody(month("Repo", "2020-01-01", ""))), 422, "Report protocol is incorrect"},
		"sent back as it came":    {postReport(change(plain, `"release"`, `"client-id":"x","year":"2020","month":"1","release"`)), 422, "found unpermitted parameters: :client_id, :month, :year"},
		"unknown deep inside":     {postReport(change(plain, `"count":3`, `"country":"us","count":3`)), 422, "found unpermitted parameter: :country"},
		"filters null":            {postReport(change(plain, `"report-filters":[]`, `"report-filters":null`)), 422, "found unpermitted parameter: :report_filters"},
		"country in capitals":     {postReport(change(plain, `"us":2`, `"US":2`)), 422, "found unpermitted parameter: :US"},
		"no country":              {postReport(change(plain, `"us":2`, `"zz":2`)), 422, "found unpermitted parameter: :zz"},
		"exceptions an object":    {postReport(change(plain, `"exceptions":[]`, `"exceptions":{}`)), 500, "no implicit conversion"},
		"invalid UTF-8":           {postReport(change(plain, "Alps", "\xff")), 500, "Invalid encoding for parameter"},
		"invalid UTF-8, gzip":     {postSubset(change(noted, "Alps", "\xff")), 500, "Invalid encoding for parameter"},
		"gzip, unknown in header": {postSubset(change(noted, `"release"`, `"client-id":"x","release"`)), 400, "unknown attribute 'client_id' for Report."},
		"gzip, release":           {postSubset(change(noted, `"rd1"`, `"rd2"`)), 422, "Report protocol is incorrect"},
		"gzip, no header":         {postSubset(`{"report_header":{}}`), 400, "Error occurred while parsing"},
		"gzip, cut off":           {raw(whole[:len(whole)-20]), 500, ""},
		"gzip, no JSON":           {postSubset("hello"), 500, ""},
		"gzip, an array":          {postSubset("[]"), 500, ""},
		"gzip, byte order mark":   {postSubset("\ufeff" + noted), 500, ""},
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
		"a time for a date":         change(plain, `"begin-date":"2020-01-01"`, `"begin-date":"2020-01-01T00:00:00Z"`),
		"a short date":              change(plain, `"begin-date":"2020-01-01"`, `"begin-date":"2020-1-1"`),
		"months of different years": change(plain, `"end-date":"2020-01-28"`, `"end-date":"2031-01-28"`),
		"backwards":                 change(plain, `"begin-date":"2020-01-01"`, `"begin-date":"2020-01-30"`),
		"names with underscores":    strings.NewReplacer("created-by", "created_by", "dataset-id", "dataset_id").Replace(plain),
		"names in capitals":         change(plain, "report-id", "Report-ID"),
		"an empty exception":        change(plain, `"exceptions":[]`, `"exceptions":[{}]`),
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
	found := map[string]string{}
	for _, f := range at(a.read(t), "base.0").([]any) {
		for path, message := range f.(map[string]any) {
			found[path] = message.(string)
		}
	}
	for path, message := range map[string]string{
		"#/report-id":                                        "The property '#/report-id' of type null did not match the following type: string in schema ",
		"#/report-datasets/0":                                "did not contain a required property of 'publisher'",
		"#/report-datasets/0/yop":                            "of type integer did not match the following type: string",
		"#/report-datasets/0/data-type":                      `"Dataset"`,
		"#/report-datasets/0/performance/0/instance/0/count": "of type number did not match the following type: integer",
	} {
		assert.Contains(t, found[path], message)
	}
	assert.Len(t, found, 5)
	assertRefused(t, putReport(someUUID, bad).do(t, deployed()), 422, "undefined method `serialize' for #<ReportsController")

	for by, want := range map[string]int{"Repo ": 422, "Zürich Ü": 422, "ÜÜ Repo!": 422, "Ü, Repo": 201, "Repo*": 201} {
		a := postReport(reportBody(month(by, "2020-01-01", ""), dataset)).do(t, deployed())
		assert.Equal(t, want, a.status, by)
		if want == 422 {
			assert.JSONEq(t, `{"created_by":["is invalid"]}`, a.body)
		}
	}
	a = postSubset(reportBody(month("Repo", "2020-01-01", ""), dataset)).do(t, deployed())
	assert.Equal(t, 422, a.status)
	assert.JSONEq(t, `{"report_datasets":["can't be blank"]}`, a.body, "code 69 is missing")
}

// A compressed PUT that is refused has destroyed what was there.
func TestDeployedPutDestroys(t *testing.T) {
	noted := reportBody(month("Repo", "2020-01-01", noteCompressed), dataset)
	change := func(old, replacement string) string { return strings.Replace(noted, old, replacement, 1) }
	for name, want := range map[string]struct {
		body, title string
		status      int
		left        string // whose subset is there afterwards: "old", "new", or none
	}{
		"no code 69":            {change(noteCompressed, ""), "serialize", 422, "new"},
		"unknown header member": {change(`"release"`, `"foo":1,"release"`), "unknown attribute 'foo' for Report.", 400, "new"},
		"release":               {change(`"rd1"`, `"RD1"`), "Report protocol is incorrect", 422, ""},
		"no release":            {change(`"release":"rd1",`, ""), "param is missing", 422, ""},
		"two months":            {change(`"end-date":"2020-01-28"`, `"end-date":"2020-02-28"`), "Reports are monthly", 422, "old"},
	} {
		t.Run(name, func(t *testing.T) {
			service := deployed()
			a := putSubset(someUUID, noted).do(t, service)
			require.Equal(t, 201, a.status, a.body)
			old := checksums(a.read(t))
			require.Equal(t, 201, postSubset(reportBody(month("Repo", "2020-01-01", ""), numbered(2))).do(t, service).status)
			assertRefused(t, putSubset(someUUID, want.body).do(t, service), want.status, want.title)
			got := getReport(someUUID).do(t, service).read(t)
			switch want.left {
			case "old":
				assert.Len(t, checksums(got), 2)
			case "new":
				require.Len(t, checksums(got), 1)
				assert.NotEqual(t, old, checksums(got))
				assert.Equal(t, want.body, packed(t, got, 0))
			default:
				assert.Empty(t, checksums(got))
				assert.Equal(t, 201, postSubset(noted).do(t, service).status, "POST goes on from there")
			}
			assert.Equal(t, 69.0, at(got, "report.report-header.exceptions.0.code"), "the header stays")
		})
	}
	t.Run("code 69 on plain JSON", func(t *testing.T) {
		service := deployed()
		a := postReport(noted).do(t, service)
		assert.Equal(t, 201, a.status)
		got := getReport(onlyReport(t, service)).do(t, service).read(t)
		assert.Empty(t, at(got, "report.report-datasets"))
		assert.Contains(t, packed(t, got, 0), `"report-datasets":[]`)
	})
}

func TestDeployedSizes(t *testing.T) {
	noise := strings.Repeat("0123456789abcdef", 1<<20)
	body := reportBody(month("Repo", "2020-01-01", noteCompressed), `{"x":"`+noise+`"}`)
	c := postSubset("")
	c.body = string(stored([]byte(body)))
	require.Greater(t, len(c.body), 16_777_215)
	assertCrash(t, c.do(t, deployed()), "Mysql2::Error: Data too long")
	c.body += strings.Repeat("x", 4<<20)
	a := c.do(t, deployed())
	assert.Equal(t, 413, a.status)
	assert.Contains(t, a.header.Get("Content-Type"), "text/html")
	assert.Contains(t, a.body, "nginx")
}

func TestDeployedLongTexts(t *testing.T) {
	name := strings.Repeat("é", 254) + "e"
	require.Equal(t, 201, postReport(reportBody(month(name, "2020-01-01", ""), dataset)).do(t, deployed()).status)
	for _, c := range []call{
		postReport(reportBody(month(name+"e", "2020-01-01", ""), dataset)),
		postSubset(reportBody(month(name+"e", "2020-01-01", noteCompressed), dataset)),
	} {
		assertCrash(t, c.do(t, deployed()), "Mysql2::Error: Data too long for column 'created_by' at row 1")
	}
}

// A validator holds as long as nothing changes, but for compressed answers.
func TestDeployedCompressedAnswers(t *testing.T) {
	service := deployed()
	require.Equal(t, 201, putReport(someUUID, reportBody(month("Repo", "2020-01-01", ""), dataset)).do(t, service).status)
	for coding, want := range map[string]int{"gzip": 200, "identity": 304} {
		c := getReport(someUUID)
		c.header = map[string]string{"Accept-Encoding": coding}
		a := c.do(t, service)
		body := a.body
		if coding == "gzip" {
			assert.Equal(t, "gzip", a.header.Get("Content-Encoding"))
			body = string(unzipped(t, []byte(a.body)))
		}
		assert.Equal(t, getReport(someUUID).do(t, service).body, body)
		service.Advance(time.Second)
		c.header["If-None-Match"] = a.header.Get("ETag")
		assert.Equal(t, want, c.do(t, service).status, coding)
	}
}

func TestDeployedResolutions(t *testing.T) {
	service := deployed()
	drl := strings.Replace(month("Repo", "2020-01-01", noteCompressed), "rd1", "drl", 1)
	a := postSubset(reportBody(drl, dataset)).do(t, service)
	require.Equal(t, 201, a.status, a.body)
	assert.Contains(t, a.body, `"report-datasets":null`)
	assert.Contains(t, getReport(onlyReport(t, service)).do(t, service).body, `"report-datasets":[]`)
	later := strings.Replace(drl, noteCompressed, `{"code":3040},`+noteCompressed, 1)
	assert.Equal(t, 422, postSubset(reportBody(later, dataset)).do(t, deployed()).status, "code 69 comes first")
}

func TestDeployedReportHeaders(t *testing.T) {
	service := deployed()
	require.Equal(t, 201, putReport(someUUID, reportBody(month("Repo", "2020-01-01", ""), dataset)).do(t, service).status)
	a := getReport(someUUID).do(t, service)
	assert.Equal(t, "Accept, Accept-Encoding, Origin", a.header.Get("Vary"))
	assert.Equal(t, "max-age=0, private, must-revalidate", a.header.Get("Cache-Control"))
	c := getReport(someUUID)
	c.header = map[string]string{"If-None-Match": a.header.Get("ETag"), "X-Request-Id": "ticket-7"}
	same := c.do(t, service)
	assert.Equal(t, 304, same.status)
	assert.Equal(t, "ticket-7", same.header.Get("X-Request-Id"))
	putReport(someUUID, reportBody(month("Repo", "2020-01-01", ""), numbered(2))).do(t, service)
	assert.Equal(t, 200, c.do(t, service).status)
}

func TestDeployedReportList(t *testing.T) {
	service := deployed()
	for i := range 10 {
		body := reportBody(month("Repo", fmt.Sprintf("2020-%02d-01", i+1), ""), dataset)
		require.Equal(t, 201, postReport(body).do(t, service).status)
	}
	require.Equal(t, 201, byOther(service, postReport(reportBody(month("Other", "2019-01-01", ""), dataset))).do(t, service).status)
	list := func(query string) answer { return call{method: "GET", path: "/reports?" + query}.do(t, service) }
	all := list("").read(t)
	entry := at(all, "reports.0").(map[string]any)
	assert.Len(t, entry, 2)
	for _, hidden := range []string{"client-id", "year", "month"} {
		assert.NotContains(t, entry["report-header"], hidden)
	}
	id := entry["id"].(string)
	for query, want := range map[string]struct{ total, pages, page, shown float64 }{
		"":                                   {11, 1, 1, 11},
		"page[size]=4&page[number]=2":        {11, 3, 2, 4},
		"page[size]=4&page[number]=9":        {11, 3, 9, 0},
		"page[number]=0":                     {11, 1, 0, 11},
		"page[number]=-3":                    {11, 1, -3, 11},
		"page[size]=-2":                      {11, -5, 1, 11},
		"created-by=Repo":                    {10, 1, 1, 10},
		"created_by=repo":                    {0, 0, 1, 0},
		"year=2019":                          {1, 1, 1, 1},
		"client-id=other.repo":               {1, 1, 1, 1},
		"created-by=Repo&year=2019":          {10, 1, 1, 10},
		"id=" + id + "&created-by=nobody":    {1, 1, 1, 1},
		"year=2019&client-id=example.repo":   {1, 1, 1, 1},
		"release=x&sort=-created&month=true": {11, 1, 1, 11},
	} {
		got := list(query).read(t)
		assert.Equal(t, want, struct{ total, pages, page, shown float64 }{
			at(got, "meta.total").(float64), at(got, "meta.total-pages").(float64), at(got, "meta.page").(float64),
			float64(len(got["reports"].([]any))),
		}, query)
	}
	assertCrash(t, list("page[size]=0"), "Infinity")
	assertCrash(t, list("page[size]=many"), "Infinity")
	assertCrash(t, list("page=2"), "String does not have #dig method")
}

func TestDeployedListCapsRowsNotPages(t *testing.T) {
	service := deployed()
	for i := range 1001 {
		_, err := service.PutReport(fmt.Appendf(nil, `{"report-header":{"created-by":"r%d"},"report-datasets":[]}`, i))
		require.NoError(t, err)
	}
	got := call{method: "GET", path: "/reports?page[size]=1001"}.do(t, service).read(t)
	assert.Len(t, got["reports"], 1000)
	assert.Equal(t, 1.0, at(got, "meta.total-pages"), "counted by the size asked for")
}

func TestDeployedSeeds(t *testing.T) {
	service := deployed()
	odd := `{"id":"` + someUUID + `","report-header":{"created-by":"Repo","reporting-period":{"begin-date":"2020-04-01","end-date":"2020-04-30"},"exceptions":[{},{"code":69}]},"report-datasets":[{"yop":2019}]}`
	_, err := service.PutReport(json.RawMessage(odd))
	require.NoError(t, err)
	got := getReport(someUUID).do(t, service).read(t)
	assert.Empty(t, at(got, "report.report-datasets"))
	assert.Equal(t, odd, packed(t, got, 0))
	assert.Equal(t, "4", at(got, "report.report-header.month"))
	assert.Len(t, checksums(postSubset(reportBody(month("Repo", "2020-04-09", ""), dataset)).do(t, service).read(t)), 2)
}

package sandbox_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// month is a header of a report of one month.
func month(createdBy, begin, exceptions string) string {
	return strings.Replace(header(createdBy, begin, exceptions), "2020-12-31", begin[:8]+"28", 1)
}

func putSubset(id, body string) call {
	return call{method: "PUT", path: "/reports/" + id, header: gzipType, body: string(zipped([]byte(body))), as: "token"}
}

// byOther sends a call with the token of the other account.
func byOther(service *sandbox.Service, c call) call {
	h := map[string]string{"Authorization": "Bearer " + service.TokenOf(other.ClientID, service.Now().Add(time.Hour))}
	maps.Copy(h, c.header)
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
		"year":        {"2020", "2020"},
		"month":       {"4", "4"},
		"created":     {"2021-01-01", "2021-01-01"},
		"report-name": {"Dataset Master Report", "Dataset Master Report"},
	} {
		assert.Equal(t, want, [2]string{answered[name].(string), stored[name].(string)}, name)
	}
	assert.Equal(t, "2021-06-01", at(stored, "reporting-period.begin-date"))
}

// TestDeployedPartialReports: the end of a month that is not over moves with each PUT, and
// with no POST.
func TestDeployedPartialReports(t *testing.T) {
	service := deployed()
	until := func(day, exceptions string) string {
		return strings.Replace(month("Repo", "2020-01-01", exceptions), `"2020-01-28"`, `"2020-01-`+day+`"`, 1)
	}
	holds := func(end string, codes ...any) {
		t.Helper()
		h := at(getReport(someUUID).do(t, service).read(t), "report.report-header").(map[string]any)
		assert.Equal(t, "2020-01-"+end, at(h, "reporting-period.end-date"))
		var got []any
		for _, e := range h["exceptions"].([]any) {
			got = append(got, e.(map[string]any)["code"])
		}
		assert.Equal(t, codes, got)
	}
	const partial = `{"code":3040,"severity":"warning","message":"Partial Data Returned"},`
	require.Equal(t, 201, putSubset(someUUID, reportBody(until("14", partial+noteCompressed), dataset)).do(t, service).status)
	holds("14", 3040.0, 69.0)
	require.Equal(t, 201, postSubset(reportBody(until("31", noteCompressed), numbered(2))).do(t, service).status)
	holds("14", 3040.0, 69.0)
	require.Equal(t, 200, putSubset(someUUID, reportBody(until("31", noteCompressed), dataset)).do(t, service).status)
	holds("31", 69.0)
}

func TestDeployedSubsets(t *testing.T) {
	service := deployed()
	noted := month("Repo", "2020-01-01", noteCompressed)
	first := postSubset(reportBody(noted, numbered(1)))
	a := first.do(t, service)
	require.Equal(t, 201, a.status, a.body)
	id := at(a.read(t), "report.id").(string)
	one := checksums(a.read(t))

	next := postSubset(reportBody(month("Repo", "2020-01-15", ""), numbered(2)))
	a = next.do(t, service)
	require.Equal(t, 201, a.status, "code 69 is not asked for again")
	two := checksums(a.read(t))
	assert.Equal(t, one[0], two[0], "in order")
	got := getReport(id).do(t, service).read(t)
	assert.Equal(t, []any{}, at(got, "report.report-datasets"))
	assert.Equal(t, two, checksums(got))
	assert.Equal(t, reportBody(noted, numbered(1)), packed(t, got, 0), "the bytes as sent")

	t.Run("the same bytes again are a duplicate", func(t *testing.T) {
		assert.ElementsMatch(t, append(two, two[1]), checksums(next.do(t, service).read(t)))
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
		assert.ElementsMatch(t, before, checksums(postReport(reportBody(month("Repo", "2020-01-01", ""), dataset)).do(t, service).read(t)))
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
	assert.Equal(t, 200, getReport(strings.ToLower(upper)).do(t, service).status)
}

func TestDeployedSizes(t *testing.T) {
	noise := strings.Repeat("0123456789abcdef", 1<<20)
	body := reportBody(month("Repo", "2020-01-01", noteCompressed), `{"x":"`+noise+`"}`)
	c := postSubset("")
	c.body = string(stored([]byte(body)))
	require.Greater(t, len(c.body), 16_777_215)
	assertCrash(t, c.do(t, deployed()), "Mysql2::Error: Data too long")
	service := withOne(t, deployed())
	put := c
	put.method, put.path = "PUT", "/reports/"+someUUID
	assertCrash(t, put.do(t, service), "Mysql2::Error: Data too long for column 'compressed' at row 1")
	assert.Equal(t, 0, subsets(t, service), "destroyed before it is known")
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
	service := withOne(t, deployed())
	put := putSubset(someUUID, reportBody(month(name+"e", "2020-01-01", noteCompressed), dataset))
	assert.Equal(t, 200, put.do(t, service).status, "it is not written again")
}

// A validator holds as long as nothing changes, but for compressed answers.
func TestDeployedCompressedResponses(t *testing.T) {
	service := deployed()
	require.Equal(t, 201, putReport(someUUID, reportBody(month("Repo", "2020-01-01", ""), dataset)).do(t, service).status)
	for accept, want := range map[string]string{
		"gzip": "gzip", "gzip, deflate": "gzip", "*": "gzip", "gzip;q=0.5": "gzip", "": "", "br": "", "deflate": "", "x-gzip": "",
		"gzip;q=0": "", "gzip;q=0.5, identity": "", "gzip;q=0, *": "",
	} {
		for _, id := range []string{someUUID, "unknown"} {
			c := getReport(id)
			c.header = map[string]string{"Accept-Encoding": accept}
			assert.Equal(t, want, c.do(t, service).header.Get("Content-Encoding"), "%s %s", id, accept)
		}
	}
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

func TestDeployedReportHeaders(t *testing.T) {
	service := deployed()
	require.Equal(t, 201, putReport(someUUID, reportBody(month("Repo", "2020-01-01", ""), dataset)).do(t, service).status)
	a := getReport(someUUID).do(t, service)
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
		"":                            {11, 1, 1, 11},
		"page[size]=4&page[number]=2": {11, 3, 2, 4},
		"page[size]=4&page[number]=9": {11, 3, 9, 0},
		"created-by=Repo":             {10, 1, 1, 10},
		"created_by=r%C3%A9PO":        {10, 1, 1, 10},
		"created-by=Repo+2":           {0, 0, 1, 0},
		"created-by=+&year=+2019":     {0, 0, 1, 0},
		"year=2019":                   {1, 1, 1, 1},
		"client-id=OTHER.repo":        {1, 1, 1, 1},
		"created-by=Repo&year=2019":   {10, 1, 1, 10},
		"id=x," + strings.ToUpper(id) + "&created-by=nobody": {1, 1, 1, 1},
		"year=2019&client-id=example.repo":                   {1, 1, 1, 1},
		"release=x&sort=-created&month=true":                 {11, 1, 1, 11},
	} {
		got := list(query).read(t)
		assert.Equal(t, want, struct{ total, pages, page, shown float64 }{
			at(got, "meta.total").(float64), at(got, "meta.total-pages").(float64), at(got, "meta.page").(float64),
			float64(len(got["reports"].([]any))),
		}, query)
	}
	for _, query := range []string{"page[size]=0", "page[size]=many", "page[size]=", "page[number]=-3", "page[number]=1_0", "page=2", "page=", "created-by=100%"} {
		assertRefused(t, list(query), 501, wire.ReportParameter.Name)
	}
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
	odd := `{"id":"` + someUUID + `","report-header":{"report-id":"x","created":"2020-05-01T00:00:00Z","created-by":"Repo","reporting-period":{"begin-date":"2020-04-01","end-date":"2020-04-30"},"exceptions":[{},{"code":69}]},"report-datasets":[{"yop":2019}]}`
	_, err := service.PutReport(json.RawMessage(odd))
	require.NoError(t, err)
	got := getReport(someUUID).do(t, service).read(t)
	assert.Empty(t, at(got, "report.report-datasets"))
	assert.Equal(t, odd, packed(t, got, 0))
	assert.Equal(t, "4", at(got, "report.report-header.month"))
	assert.Len(t, checksums(postSubset(reportBody(month("Repo", "2020-04-09", ""), dataset)).do(t, service).read(t)), 2)
}

// Numbers in a header are told from others by their value, and shown as they came.
func TestDeployedNumbersByValue(t *testing.T) {
	note := strings.Replace(noteCompressed, `"code":69`, `"code":69.0`, 1)
	a := postSubset(reportBody(month("Repo", "2020-07-01", note), dataset)).do(t, deployed())
	require.Equal(t, 201, a.status, a.body)
	assert.Contains(t, a.body, `"code":69.0`)
	assert.Contains(t, a.body, `"report-datasets":[]`, "compressed it is")
}

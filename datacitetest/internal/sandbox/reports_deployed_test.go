package sandbox_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// month is a header of a report of one month.
func month(createdBy, begin, exceptions string) string {
	return strings.Replace(header(createdBy, begin, exceptions), "2020-12-31", begin[:8]+"28", 1)
}

func putSubset(id, body string) call {
	return call{method: "PUT", path: "/reports/" + id, header: gzipType, body: string(zipped([]byte(body))), as: "token"}
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

// held is what GET shows of a report, in parts: "by Repo; of example.repo; … subsets 1,2;".
// Numbers are those of datasets.
func held(t testing.TB, service *sandbox.Service) string {
	t.Helper()
	report := getReport(someUUID).do(t, service).read(t)
	h := at(report, "report.report-header").(map[string]any)
	datasets, codes, subsets := dois(report), []string{}, []string{}
	for _, e := range list(h["exceptions"]) {
		codes = append(codes, fmt.Sprint(at(e, "code")))
	}
	for i := range checksums(report) {
		var inside []string
		for _, m := range numberedDOI.FindAllStringSubmatch(packed(t, report, i), -1) {
			inside = append(inside, m[1])
		}
		subsets = append(subsets, cmp.Or(strings.Join(inside, "+"), "empty"))
	}
	slices.Sort(subsets) // they are listed in no order
	for i, doi := range datasets {
		datasets[i] = strings.TrimPrefix(doi, "10.5072/000")
	}
	all := func(of []string) string { return cmp.Or(strings.Join(of, ","), "-") }
	return fmt.Sprintf("by %v; id %v; named %v; of %v; month %v-%v; from %v to %v; created %v; filters %d; attributes "+
		"%d; codes %s; datasets %s; subsets %s;",
		h["created-by"], h["report-id"], h["report-name"], h["client-id"], h["year"], h["month"], at(h,
			"reporting-period.begin-date"), at(h, "reporting-period.end-date"),
		h["created"], len(list(h["report-filters"])), len(list(h["report-attributes"])), all(codes), all(datasets), all(subsets))
}

var numberedDOI = regexp.MustCompile(`10\.5072/000(\d)`)

// What a report holds after each of several writes.
func TestDeployedWrites(t *testing.T) {
	const partial = `{"code":3040,"severity":"warning","message":"Partial Data Returned"},`
	plain := month("Repo", "2020-01-01", "")
	bare := strings.Replace(plain, `,"exceptions":[]`, "", 1)
	few := `{"release":"rd1","reporting-period":{"begin-date":"2020-01-01","end-date":"2020-01-28"}}`
	full := strings.Replace(plain, `"report-filters":[],"report-attributes":[]`,
		`"report-filters":[{"name":"f","value":"1"}],"report-attributes":[{"name":"a","value":"2"}]`, 1)
	put := func(header string, datasets ...string) call {
		return putReport(someUUID, reportBody(header, datasets...))
	}
	putPacked := func(header string, datasets ...string) call {
		return putSubset(someUUID, reportBody(header, datasets...))
	}
	change := func(old, replacement string) call {
		return putSubset(someUUID, strings.Replace(reportBody(noted, numbered(3)), old, replacement, 1))
	}
	until := func(day, exceptions string) string {
		return strings.Replace(month("Repo", "2020-01-01", exceptions), `"2020-01-28"`, `"2020-01-`+day+`"`, 1)
	}
	type write struct {
		call
		status int
		says   string // in the response
		want   string // of held; "" is not looked at
	}
	for name, writes := range map[string][]write{
		"a plain report": {
			// its own copy
			{put(plain, numbered(1), numbered(2)), 201, `"client-id":"example.repo"`,
				"of example.repo; month 2020-1; datasets 1,2; subsets 1+2"},
			// year and month decide
			{postReport(reportBody(month("Repo", "2020-01-02", ""), numbered(3))), 201, someUUID, "datasets 1,2"},
			// the copy is stale
			{put(strings.Replace(plain, "2020-02-01", "2020-05-05", 1), numbered(7)), 200, "",
				"created 2020-05-05; datasets 7; subsets 1+2"},
			{put(plain, numbered(8)).by("other.repo"), 200, "", "of example.repo; datasets 8"},
		},
		"subsets": {
			{putNumber(1), 201, "", "datasets -; subsets 1; codes 69"},
			// code 69 is not needed again
			{postSubset(reportBody(month("Repo", "2020-01-15", ""), numbered(2))), 201, "", "subsets 1,2"},
			{postSubset(reportBody(month("Repo", "2020-01-15", ""), numbered(2))), 201, "", "subsets 1,2,2"},
			{postReport(reportBody(plain, numbered(3))), 201, "", "datasets -; subsets 1,2,2"},
			{putNumber(5), 200, "", "subsets 5"},
			{putNumber(5), 200, "", "subsets 5"},
			{postSubset(`{"report-header":` + noted + `,"report-datasets":{"bogus":3}}`), 201, "", "subsets 5,empty"},
			{postSubset(`{"report-header":` + noted + `}`), 201, "", "subsets 5,empty,empty"},
			{postSubset(strings.Replace(reportBody(noted, numbered(6)), `"rd1"`, `"RD1"`, 1)), 422,
				"Report protocol is incorrect", "subsets 5,empty,empty"},
		},
		"the end of a month moves with each PUT, and with no POST": {
			{putPacked(until("14", partial+noteCompressed), numbered(1)), 201, "",
				"from 2020-01-01 to 2020-01-14; codes 3040,69"},
			{postSubset(reportBody(until("31", noteCompressed), numbered(2))), 201, "",
				"from 2020-01-01 to 2020-01-14; codes 3040,69"},
			{putPacked(until("31", noteCompressed), numbered(1)), 200, "", "from 2020-01-01 to 2020-01-31; codes 69"},
		},
		"some members are written once": {
			{put(plain, numbered(1)), 201, "", ""},
			{put(`{"release":"rd1","report-id":"new","created-by":"Another","created":"2021-01-01",`+
				`"reporting-period":{"begin-date":"2021-06-01","end-date":"2021-06-30"}}`, numbered(1)).by("other.repo"), 200,
				`"client-id":"other.repo"; "created-by":"Another"; "report-id":"new"; ` +
					`"year":"2020"`, "by Repo; id DSR; named Dataset Master Report; of example.repo; month 2020-1; from 2021-06-01 " +
					"to 2021-06-30; created 2021-01-01"},
			{postReport(reportBody(month("Repo", "2021-06-01", ""), numbered(2))), 201, "2021", "datasets 1"}, // another report
		},
		"members that are left out stay": {
			{put(full, numbered(1)), 201, "", "filters 1; attributes 1"},
			{put(few, numbered(2)), 200, "", "by Repo; id DSR; filters 1; attributes 1; datasets 2"},
			{put(strings.Replace(few, `{`, `{"report-filters":[],`, 1), numbered(2)), 200, "", "filters 0; attributes 1"},
		},
		"a compressed report, plain, without exceptions": {
			{putNumber(1), 201, "", ""},
			{put(bare, `{"volume":5}`), 422, "found unpermitted parameter: :volume", "subsets 1"},
			{put(bare, `{"platform":5}`), 200, "", "codes 69; datasets -; subsets 1"}, // the schema is not looked at
		},
		"a compressed report, plain, with no exceptions": {{putNumber(1), 201, "", ""},
			{put(plain, numbered(4)), 200, "", "codes -; datasets 4; subsets 1"}},
		"a compressed report, gzip, without exceptions": {{putNumber(1), 201, "", ""},
			{putPacked(bare, numbered(4)), 200, "", "codes 69; subsets 4"}},
		"a compressed report, gzip, with no exceptions": {{putNumber(1), 201, "", ""},
			{putPacked(plain, numbered(4)), 422, "undefined method `serialize' for #<ReportsController", "codes 69; subsets 4"}},
		"a plain report, gzip, without 69": {{put(plain, numbered(1)), 201, "", ""},
			{putPacked(plain, numbered(4)), 200, "", "codes -; datasets 1; subsets 4"}},
		"plain JSON with code 69": {{put(noted, numbered(1)), 201, "", "datasets -; subsets empty"}},
		// A compressed PUT that is refused has destroyed what was there.
		"refused: an unknown member": {{putNumber(1), 201, "", ""}, {subsetNumber(2), 201, "", ""},
			{change(`"release"`, `"foo":1,"release"`), 400, "unknown attribute 'foo' for Report.", "subsets 3; codes 69"}},
		"refused: no release": {{putNumber(1), 201, "", ""}, {subsetNumber(2), 201, "", ""},
			{change(`"release":"rd1",`, ""), 422, "param is missing",
				"subsets -; codes 69"}, {subsetNumber(4), 201, "", "subsets 4"}},
		"refused: two months": {{putNumber(1), 201, "", ""}, {subsetNumber(2), 201, "", ""},
			{change(`"end-date":"2020-01-28"`, `"end-date":"2020-02-28"`), 422, "Reports are monthly", "subsets 1,2; codes 69"}},
		"refused: the release": {
			{putNumber(1), 201, "", ""}, {change(`"rd1"`, `"RD1"`), 422, "Report protocol is incorrect",
				"datasets -; subsets -; codes 69"},
			{postReport(reportBody(noted, numbered(1))), 201, "", ""}, // a row without meaning
			{putNumber(3), 200, "", "subsets 3"},
		},
		"of another account": {
			{putNumber(1), 201, "", "of example.repo"},
			{subsetNumber(2).by("stranger.repo"), 409, "The resource already exists.", "subsets 1"},
			{postReport(reportBody(plain, numbered(2))).by("stranger.repo"), 409, "The resource already exists.", "subsets 1"},
			// PUT does not ask
			{putNumber(2).by("stranger.repo"), 200, `"client-id":"stranger.repo"`, "of example.repo; subsets 2"},
			{subsetNumber(3), 201, `"client-id":"example.repo"`, "subsets 2,3"},
		},
		"year and month are those of the creation": {
			{putNumber(1), 201, "", ""},
			{putSubset(strings.ToUpper(someUUID), reportBody(month("Repo", "2019-12-01", noteCompressed), numbered(2))), 200,
				`"month":"1"`, "month 2020-1; from 2019-12-01 to 2019-12-28; subsets 2"},
			{postSubset(reportBody(noted, numbered(3))), 201, someUUID, "subsets 2,3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			service, validators := deployed(), map[string]string{}
			for i, w := range writes {
				a := w.do(t, service)
				assert.Equal(t, w.status, a.status, "%d: %s", i, a.body)
				for said := range strings.SplitSeq(w.says, "; ") {
					assert.Contains(t, a.body, said, i)
				}
				if w.want == "" {
					continue
				}
				now := held(t, service)
				for part := range strings.SplitSeq(w.want, "; ") {
					assert.Contains(t, now, part+";", i)
				}
				validator := getReport(someUUID).do(t, service).header.Get("ETag")
				assert.Equal(t, now, cmp.Or(validators[validator], now), "a report that changes has another validator")
				validators[validator] = now
			}
		})
	}
}

func TestDeployedIdentity(t *testing.T) {
	service := deployed()
	plain := func(createdBy, begin string) string { return reportBody(month(createdBy, begin, ""), dataset) }
	require.Equal(t, 201, putReport(someUUID, plain("Repo", "2020-01-01")).do(t, service).status)
	const next = "0a3c1c1e-3b7a-4a8e-9d55-0d3b8e7a4f10"
	assertRefused(t, postReport(plain("Repo", "2020-01-20")).by("other.repo").do(t, service), 409,
		"The resource already exists.")
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
	assertCrash(t, c.do(t, service), "Mysql2::Error: Data too long for column 'compressed' at row 1")
	assert.Equal(t, 1, subsets(t, service))
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

// A validator holds as long as nothing changes, but for compressed answers.
func TestDeployedCompressedResponses(t *testing.T) {
	service := deployed()
	require.Equal(t, 201, putReport(someUUID, reportBody(month("Repo", "2020-01-01", ""), dataset)).do(t, service).status)
	for accept, want := range map[string]string{
		"gzip": "gzip", "gzip, deflate": "gzip", "*": "gzip", "gzip;q=0.5": "gzip", "": "", "br": "", "deflate": "",
		"x-gzip": "", "*;q=0": "", "*;q=0, gzip": "gzip", "gzip, *;q=0": "gzip",
		"gzip;q=0": "", "gzip;q=0.5, identity": "", "identity, gzip": "gzip",
		"gzip;q=0.5 , identity;q=0.5": "gzip", "gzip;q=0, *": "",
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
	odd := `{"id":"` + someUUID + `","report-header":{"report-id":"x","created":"2020-05-01T00:00:00Z",` +
		`"created-by":"Repo","reporting-period":{"begin-date":"2020-04-01","end-date":"2020-04-30"},"exceptions":[{},` +
		`{"code":69}]},"report-datasets":[{"yop":2019}]}`
	_, err := service.PutReport(json.RawMessage(odd))
	require.NoError(t, err)
	got := getReport(someUUID).do(t, service).read(t)
	assert.Empty(t, at(got, "report.report-datasets"))
	assert.Equal(t, odd, packed(t, got, 0))
	assert.Equal(t, "4", at(got, "report.report-header.month"))
	assert.Len(t, checksums(postSubset(reportBody(month("Repo", "2020-04-09", ""), dataset)).do(t, service).read(t)), 2)
}

// Numbers in a header are distinguished by their value, and shown as they came.
func TestDeployedNumbersByValue(t *testing.T) {
	note := strings.Replace(noteCompressed, `"code":69`, `"code":69.0`, 1)
	a := postSubset(reportBody(month("Repo", "2020-07-01", note), dataset)).do(t, deployed())
	require.Equal(t, 201, a.status, a.body)
	assert.Contains(t, a.body, `"code":69.0`)
	assert.Contains(t, a.body, `"report-datasets":[]`, "compressed it is")
}

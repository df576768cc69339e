package sandbox_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

const dataset = `{"uri":"https://repo.example.org/1","yop":"2019","platform":"Example ` +
	`Repository","data-type":"dataset",` +
	`"publisher":"Example","dataset-id":[{"type":"doi","value":"10.5072/0001"}],` +
	`"performance":[{"period":{"begin-date":"2020-01-01","end-date":"2020-01-31"},"instance":[` +
	`{"count":3,"metric-type":"total-dataset-requests","access-method":"regular","country-counts":{"us":2,"de":1}},` +
	`{"count":2,"metric-type":"unique-dataset-investigations","access-method":"machine"}]}],` +
	`"publisher-id":[{"type":"client-id","value":"example.repo"}],"dataset-dates":[{"type":"pub-date",` +
	`"value":"2019-02-03"}],` +
	`"dataset-title":"Alps","dataset-contributors":[{"type":"name","value":"Garza, K."}]}`

// numbered is a dataset that differs from others.
func numbered(n int) string {
	return strings.Replace(dataset, "10.5072/0001", fmt.Sprintf("10.5072/%04d", n), 1)
}

func reportBody(header string, datasets ...string) string {
	return `{"report-header":` + header + `,"report-datasets":[` + strings.Join(datasets, ", ") + `]}`
}

var jsonType = map[string]string{"Content-Type": "application/json", "Accept": "application/json"}

var gzipType = map[string]string{"Content-Type": "application/gzip", "Content-Encoding": "gzip",
	"Accept": "application/json"}

func postReport(body string) call {
	return call{method: "POST", path: "/reports", header: jsonType, body: body, as: "token"}
}

func postSubset(body string) call {
	return call{method: "POST", path: "/reports", header: gzipType, body: string(zipped([]byte(body))), as: "token"}
}

func putReport(id, body string) call {
	return call{method: "PUT", path: "/reports/" + id, header: jsonType, body: body, as: "token"}
}

func getReport(id string) call { return call{method: "GET", path: "/reports/" + id} }

// dois lists the DOIs of a report's datasets.
func dois(report map[string]any) []string {
	var out []string
	datasets, _ := at(report, "report.report-datasets").([]any)
	for _, d := range datasets {
		out = append(out, at(d, "dataset-id.0.value").(string))
	}
	return out
}

const someUUID = "6f3c1c1e-3b7a-4a8e-9d55-0d3b8e7a4f10"

func TestReportHeaders(t *testing.T) {
	service := newService()
	require.Equal(t, 201, putReport(someUUID, reportBody(header("Repo", "2020-01-01", ""), dataset)).do(t, service).status)
	c := getReport(someUUID)
	a := c.do(t, service)
	assert.Equal(t, "application/json; charset=utf-8", a.header.Get("Content-Type"))
	assert.Regexp(t, `^W/"[0-9a-f]{32}"$`, a.header.Get("ETag"))
	assert.NotEmpty(t, a.header.Get("Cache-Control"))
	assert.NotEmpty(t, a.header.Get("X-Request-Id"))
	assert.NotEmpty(t, a.header.Get("X-Runtime"))
	assert.Equal(t, "true", a.header.Get("X-Anonymous-Consumer"))

	c.header = map[string]string{"X-Request-Id": "ticket-7", "If-None-Match": a.header.Get("ETag")}
	same := c.do(t, service)
	assert.Equal(t, 304, same.status)
	assert.Empty(t, same.body)
	assert.Equal(t, "ticket-7", same.header.Get("X-Request-Id"), "the caller's id comes back")

	putReport(someUUID, reportBody(header("Repo", "2020-01-01", ""), numbered(2))).do(t, service)
	assert.Equal(t, 200, c.do(t, service).status, "the validator changes with the report")

	c.as = "token"
	assert.Empty(t, c.do(t, service).header.Get("X-Anonymous-Consumer"))
}

// Specification §2.1 and §7: what is 422, and where the answer says it is.
func TestReportValidation(t *testing.T) {
	valid := reportBody(header("Repo", "2020-01-01", ""), dataset)
	change := func(old, replacement string) string {
		t.Helper()
		require.Equal(t, 1, strings.Count(valid, old), "%q is in one place", old)
		return strings.Replace(valid, old, replacement, 1)
	}
	for name, want := range map[string]struct{ body, title string }{
		"empty body":         {"", "unexpected EOF"},
		"broken JSON":        {valid[:len(valid)-3], "unexpected EOF"},
		"something after":    {valid + "x", "the end"},
		"nested without end": {`{"id":` + strings.Repeat("[", 200), "nested too deep"},
		"an array":           {"[" + valid + "]", "an object expected"},
		"wrapped in report":  {`{"report":` + valid + `}`, "report-header is missing"},
		"no header":          {`{"report-datasets":[]}`, "report-header is missing"},
		"no datasets": {`{"report-header":` + header("Repo", "2020-01-01", "") + `}`,
			"report-datasets is missing"},
		"datasets twice":        {strings.TrimSuffix(valid, "}") + `,"report-datasets":[]}`, "given twice"},
		"invalid UTF-8":         {change(`"Alps"`, "\"\xff\""), "invalid UTF-8"},
		"control character":     {change(`"Alps"`, "\"a\nb\""), "at byte"},
		"broken escape":         {change(`"Alps"`, `"\x"`), "a bad escape"},
		"header not an object":  {`{"report-header":[],"report-datasets":[]}`, "report-header: an object expected"},
		"header member unknown": {change(`"release":"rd1"`, `"release":"rd1","client-id":"x"`), ":client-id"},
		"no created-by": {change(`"created-by":"Repo",`, ""),
			"report-header: did not contain a required property of 'created-by'"},
		"created-by empty": {change(`"created-by":"Repo"`, `"created-by":""`),
			"report-header/created-by: can't be blank"},
		"release a number": {change(`"release":"rd1"`, `"release":1`), "report-header/release: of type"},
		"created a time": {change(`"created":"2020-02-01"`, `"created":"2020-02-01T00:00:00Z"`),
			"report-header/created"},
		"no period": {change(`,"reporting-period":{"begin-date":"2020-01-01","end-date":"2020-12-31"}`, ""),
			"report-header: did not contain a required property of 'reporting-period'"},
		"no begin-date": {change(`{"begin-date":"2020-01-01","end-date":"2020-12-31"}`,
			`{"end-date":"2020-12-31"}`), "report-header/reporting-period: did not contain a required property of 'begin-date'"},
		"no such day": {change(`"end-date":"2020-12-31"`, `"end-date":"2020-02-30"`),
			"report-header/reporting-period/end-date"},
		"ends before it begins": {change(`"end-date":"2020-12-31"`, `"end-date":"2019-12-31"`),
			"end-date 2019-12-31 is before begin-date 2020-01-01"},
		"exceptions an object": {change(`"exceptions":[]`, `"exceptions":{}`), "report-header/exceptions: of type"},
		"code a string": {change(`"exceptions":[]`, `"exceptions":[{"code":"69"}]`),
			"report-header/exceptions/0/code: of type"},
		"exception member unknown": {change(`"exceptions":[]`, `"exceptions":[{"helpUrl":"x"}]`), ":helpUrl"},
		"code 69 but not compressed": {change(`"exceptions":[]`, `"exceptions":[`+noteCompressed+`]`),
			"code 69 says compressed"},
		"datasets an object": {change(`"report-datasets":[`, `"report-datasets":{},"x":[`),
			"report-datasets: an array expected"},
		"dataset null": {strings.Replace(valid, dataset, "null", 1), "report-datasets/0: of type"},
		"the second dataset": {strings.Replace(valid, dataset, dataset+`,{}`, 1),
			"report-datasets/1: did not contain a required property of"},
		"dataset member unknown": {change(`"yop":"2019"`, `"volume":"3"`),
			"report-datasets/0: found unpermitted parameter: :volume"},
		"yop a number": {change(`"yop":"2019"`, `"yop":2019`), "report-datasets/0/yop: of type"},
		"other data-type": {change(`"data-type":"dataset"`, `"data-type":"Dataset"`),
			"report-datasets/0/data-type"},
		"no platform": {change(`"platform":"Example Repository",`, ""), "required property of 'platform'"},
		"publisher null": {change(`"publisher":"Example"`, `"publisher":null`),
			"report-datasets/0/publisher: of type"},
		"no performance":             {change(`"performance":`, `"dataset-attributes":[],"performances":`), ":performances"},
		"identifier of unknown type": {change(`"type":"doi"`, `"type":"handle"`), "report-datasets/0/dataset-id/0/type"},
		"performance period": {change(`"begin-date":"2020-01-01","end-date":"2020-01-31"`,
			`"begin-date":"2020-01","end-date":"2020-01-31"`), "report-datasets/0/performance/0/period/begin-date"},
		"count a string": {change(`"count":3`, `"count":"3"`),
			"report-datasets/0/performance/0/instance/0/count: of type"},
		"count a fraction":         {change(`"count":3`, `"count":3.0`), "count: of type"},
		"count with leading zeros": {change(`"count":3`, `"count":03`), "is not a number"},
		"metric-type not listed": {change(`"total-dataset-requests"`, `"total-requests"`),
			"report-datasets/0/performance/0/instance/0/metric-type"},
		"access-method not listed": {change(`"machine"`, `"robot"`),
			"report-datasets/0/performance/0/instance/1/access-method"},
		"country in capitals":        {change(`"us":2`, `"US":2`), `"US" is not a lowercase two-letter country code`},
		"country count a string":     {change(`"us":2`, `"us":"2"`), "country-counts/us: of type"},
		"country counts in an array": {change(`{"us":2,"de":1}`, `[]`), "country-counts: of type"},
	} {
		t.Run(name, func(t *testing.T) {
			service := newService()
			for _, c := range []call{postReport(want.body), putReport(someUUID, want.body)} {
				a := c.do(t, service)
				assert.Equal(t, 422, a.status, c.method)
				assert.Contains(t, at(a.read(t), "errors.0.title"), want.title)
			}
			assert.Equal(t, 0.0, at(call{method: "GET", path: "/reports"}.do(t, service).read(t), "meta.total"),
				"nothing is stored")
		})
	}
	for name, body := range map[string]string{
		"no datasets at all":          reportBody(header("Repo", "2020-01-01", "")),
		"optional members left out":   change(`"report-name":"Dataset Master Report",`, ""),
		"an id, which is ignored":     strings.TrimSuffix(valid, "}") + `,"id":"` + someUUID + `"}`,
		"filters with name and value": change(`"report-filters":[]`, `"report-filters":["a",{"name":"n","value":"v"}]`),
		"a publisher's ROR id":        change(`"type":"client-id"`, `"type":"ror"`),
		"a URI for an identifier":     change(`"type":"doi"`, `"type":"uri"`),
		"empty country counts":        change(`{"us":2,"de":1}`, `{}`),
		"escapes":                     change(`"Alps"`, `"\u00e9 \"x\" \\ \/ \ud83d\ude00"`),
		"escaped member name":         change(`"yop"`, `"\u0079op"`),
		"white space":                 strings.ReplaceAll(valid, `":`, "\" \r\n\t: "),
		"a long string":               change(`"Alps"`, `"`+strings.Repeat("é\\n", 100_000)+`"`),
	} {
		t.Run("fine: "+name, func(t *testing.T) {
			service := newService()
			a := postReport(body).do(t, service)
			require.Equal(t, 201, a.status, a.body)
			a.read(t)
		})
	}
}

// Specification §3.2 and §4.1: which reports a PUT may replace.
func TestPutReport(t *testing.T) {
	service := newService()
	const other = "0a3c1c1e-3b7a-4a8e-9d55-0d3b8e7a4f10"
	body := func(begin string) string { return reportBody(header("Repo", begin, ""), dataset) }
	require.Equal(t, 201, putReport(someUUID, body("2020-01-01")).do(t, service).status)
	assert.Equal(t, 200, putReport(strings.ToUpper(someUUID), body("2020-02-01")).do(t, service).status)
	assert.Equal(t, 409, putReport(other, body("2020-02-01")).do(t, service).status, "another report holds this period")
	assert.Equal(t, 201, putReport(other, body("2020-01-01")).do(t, service).status, "the old period is free again")
	for _, id := range []string{"1", "6f3c1c1e3b7a4a8e9d550d3b8e7a4f10", someUUID + "/x",
		"zzzc1c1e-3b7a-4a8e-9d55-0d3b8e7a4f10"} {
		assert.Equal(t, 422, putReport(id, body("2021-01-01")).do(t, service).status, id)
	}
}

// Specification §4.1, GET /reports, with both behaviours.
func TestListReports(t *testing.T) {
	type counts struct{ total, pages, page, shown float64 }
	all, none := counts{11, 1, 1, 11}, counts{0, 0, 1, 0}
	for i, service := range []*sandbox.Service{newService(), deployed()} {
		list := func(query string) answer { return call{method: "GET", path: "/reports?" + query}.do(t, service) }
		assert.JSONEq(t, `{"reports":[],"meta":{"total":0,"total-pages":0,"page":1}}`, list("").body)
		for n := range 9 {
			require.Equal(t, 201, postReport(reportBody(month("Repo", fmt.Sprintf("2020-%02d-01", n+1), ""), dataset)).do(t,
				service).status)
		}
		require.Equal(t, 201, postReport(reportBody(month("Other", "2019-01-01", ""), dataset)).by("other.repo").do(t,
			service).status)
		_, err := service.PutReport([]byte(
			`{"id":"00000000-0000-4000-8000-000000000001","report-header":{"created-by":"odd"},"report-datasets":[]}`))
		require.NoError(t, err)
		var ids []string
		for _, r := range list("").read(t)["reports"].([]any) {
			assert.Len(t, r, 2, "id and report-header alone")
			for _, hidden := range []string{"client-id", "year", "month"} {
				assert.NotContains(t, at(r, "report-header"), hidden)
			}
			ids = append(ids, at(r, "id").(string))
		}
		assert.IsIncreasing(t, ids)
		for query, want := range map[string][2]counts{
			"":                                    {all, all},
			"page[size]=4":                        {{11, 3, 1, 4}, {11, 3, 1, 4}},
			"page[size]=4&page[number]=3":         {{11, 3, 3, 3}, {11, 3, 3, 3}},
			"page%5Bsize%5D=4&page%5Bnumber%5D=9": {{11, 3, 9, 0}, {11, 3, 9, 0}},
			"created-by=Repo":                     {{9, 1, 1, 9}, {9, 1, 1, 9}},
			"created_by=r%C3%A9PO":                {none, {9, 1, 1, 9}},
			"created-by=Repo+2":                   {none, none},
			"created-by=+&year=+2019":             {none, none},
			"created-by=Repo&year=2019":           {none, {9, 1, 1, 9}},
			"year=2019":                           {{1, 1, 1, 1}, {1, 1, 1, 1}},
			"client-id=other.repo":                {{1, 1, 1, 1}, {1, 1, 1, 1}},
			"client-id=OTHER.repo":                {none, {1, 1, 1, 1}},
			"year=2019&client-id=example.repo":    {none, {1, 1, 1, 1}},
			"id=" + ids[0] + "," + ids[3] + ",x":  {{2, 1, 1, 2}, {2, 1, 1, 2}},
			"id=x," + strings.ToUpper(ids[0]) + "&created-by=nobody": {none, {1, 1, 1, 1}},
			"created-by=&year=&id=":                                  {all, all},
			"release=x&sort=-created&month=true":                     {all, all},
			"page[size]=0": {all,
				{}}, "page[size]=many": {all, {}}, "page[number]=-3": {all, {}}, "page=2": {all, {}}, "page=": {all, {}},
			"page[size]=": {all, {}}, "page[number]=1_0": {{11, 1, 1, 11}, {}},
		} {
			a := list(query)
			if want[i] == (counts{}) {
				assertRefused(t, a, 501, wire.ReportParameter.Name)
				continue
			}
			got := a.read(t)
			assert.Equal(t, want[i], counts{
				at(got, "meta.total").(float64), at(got, "meta.total-pages").(float64), at(got, "meta.page").(float64),
				float64(len(got["reports"].([]any))),
			}, query)
		}
	}
	assertRefused(t, call{method: "GET", path: "/reports?created-by=100%"}.do(t, deployed()), 501,
		wire.ReportParameter.Name)
}

func TestSeededReports(t *testing.T) {
	service := newService()
	odd := `{"id":"D0B2B372-1d0a-4aa6-8aad-a04673050cb2","report-header":{"created":"2020-02-01T00:00:00Z","client-id":"admin","exceptions":[{},{"code":69}]},
		"report-datasets":[{"yop":2019,"extra":[1,{"a":null}]},null]}`
	id, err := service.PutReport([]byte(odd))
	require.NoError(t, err)
	assert.Equal(t, "d0b2b372-1d0a-4aa6-8aad-a04673050cb2", id)
	got := getReport(id).do(t, service)
	assert.JSONEq(t, strings.Replace(odd, "D0B2B372", "d0b2b372", 1), string(mustJSON(t, got.read(t)["report"])),
		"odd as it is")

	id, err = service.PutReport([]byte(`{"report-header":{},"report-datasets":[]}`))
	require.NoError(t, err)
	assert.NotEmpty(t, id)
	for _, wrong := range []string{``, `[]`, `{"report-header":{}}`, `{"report-header":[],"report-datasets":[]}`,
		`{"report-header":{},"report-datasets":[}`} {
		_, err := service.PutReport([]byte(wrong))
		assert.Error(t, err, wrong)
	}
}

// A report of a damaged state is not shown as a shorter one.
func TestReportOfADamagedState(t *testing.T) {
	inBase64 := func(body []byte) string { return base64.StdEncoding.EncodeToString(body) }
	body := reportBody(header("Repo", "2020-01-01", ""), numbered(1), numbered(2))
	for damage, damaged := range map[string]string{"": body, "cut off": body[:len(body)-20], "another subset": "[]"} {
		service, restored := newService(), newService()
		require.Equal(t, 201, putReport(someUUID, body).do(t, service).status)
		var saved, shown bytes.Buffer
		require.NoError(t, service.Save(&saved))
		require.Contains(t, saved.String(), inBase64([]byte(body)))
		state := strings.Replace(saved.String(), inBase64([]byte(body)), inBase64([]byte(damaged)), 1)
		require.NoError(t, restored.Restore(strings.NewReader(state)))
		assert.Equal(t, damage == "", restored.ShowReport(&shown, someUUID) == nil, damage)
	}
}

func FuzzReportBody(f *testing.F) {
	f.Add([]byte(reportBody(header("Repo", "2020-01-01", ""), dataset, dataset)))
	f.Add([]byte(`{"report-header":{"created":"2020-01-01"},"report-datasets":[{"yop":"\u00e9"}]}`))
	service := newService()
	f.Fuzz(func(t *testing.T, body []byte) {
		a := call{method: "PUT", path: "/reports/" + someUUID, header: jsonType, body: string(body), as: "token"}.do(t,
			service)
		switch {
		case a.status == 422:
		case a.status >= 300:
			t.Fatal(a.status, a.body)
		case !json.Valid(body):
			t.Fatal("took a body that is not JSON")
		default:
			var sent, got map[string]any
			require.NoError(t, json.Unmarshal(body, &sent))
			require.NoError(t, json.NewDecoder(bytes.NewReader([]byte(getReport(someUUID).do(t, service).body))).Decode(&got))
			assert.Equal(t, sent["report-datasets"], at(got, "report.report-datasets"))
		}
	})
}

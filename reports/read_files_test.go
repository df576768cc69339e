package reports_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

type (
	typed    = reports.TypedValue
	instance = reports.Instance
	counts   = reports.CountryCounts
)

func performance(instances ...instance) []reports.Performance {
	return []reports.Performance{{Period: reports.Period{BeginDate: "2018-04-01", EndDate: "2018-04-30"},
		Instance: instances}}
}

const period = `"period":{"begin-date":"2018-04-01","end-date":"2018-04-30"}`

// Entries as they occur in reports of real senders, made by hand in their shape.
func TestEntriesOfRealFiles(t *testing.T) {
	for _, tt := range []struct {
		name, entry string
		want        reports.Dataset
	}{
		{"make-data-count-report_old_researchdata: empty counts, blanks, relative uri, publisher that is a scheme",
			`{"dataset-title":"T","publisher":"grid","publisher-id":[{"type":"grid","value":"tbd"}],` +
				`"uri":"/dataset.xhtml?id=1","dataset-contributors":[{"type":"name","value":" Doe, Jane"}],` +
				`"performance":[{` + period + `,"instance":[{"count":3,"metric-type":"total-dataset-requests",` +
				`"access-method":"regular","country-counts":{}}]}]}`,
			reports.Dataset{Title: "T", Publisher: "grid", PublisherID: []typed{{"grid", "tbd"}}, URI: "/dataset.xhtml?id=1",
				Contributors: []typed{{"name", " Doe, Jane"}},
				Performance: performance(instance{3, reports.MetricTotalDatasetRequests, reports.AccessRegular, counts{},
					false})}},
		{"DSR-D1-2012-07-10, README: access-method once for the entry, an empty instance list",
			`{"dataset-id":[{"type":"doi","value":"doi:10.5072/x"}],"access-method":"machine","performance":[{` + period +
				`,"instance":[]},{` + period + `,"instance":[{"count":2,"metric-type":"total-dataset-requests"},{"count":1,` +
				`"metric-type":"total-dataset-requests","access-method":"regular"}]}]}`,
			reports.Dataset{DatasetID: []typed{{"doi", "doi:10.5072/x"}}, Performance: []reports.Performance{
				{Period: reports.Period{BeginDate: "2018-04-01", EndDate: "2018-04-30"}, Instance: []instance{}},
				performance(instance{2, reports.MetricTotalDatasetRequests, reports.AccessMachine, nil, false},
					instance{1, reports.MetricTotalDatasetRequests, reports.AccessRegular, nil, false})[0]}}},
		{"report_resolution: uri null, other metrics, publisher-id client-id",
			`{"uri":null,"publisher-id":[{"type":"client-id","value":"cdl.dash"}],"performance":[{` + period +
				`,"instance":[{"count":1,"metric-type":"total-resolutions","access-method":"regular"}]}]}`,
			reports.Dataset{PublisherID: []typed{{"client-id", "cdl.dash"}},
				Performance: performance(instance{1, "total-resolutions", reports.AccessRegular, nil, false})}},
		{"report_4, report_5: yop a number, country in the instance",
			`{"yop":2010,"performance":[{` + period +
				`,"instance":[{"count":3,"metric-type":"unique-dataset-requests","access-method":"regular","country":"US"}]}]}`,
			reports.Dataset{YOP: "2010", Performance: performance(instance{3, reports.MetricUniqueDatasetRequests,
				reports.AccessRegular, nil, false})}},
		{"report_6: instances for instance",
			`{"performance":[{` + period + `,"instances":[{"count":3,"metric-type":"total-dataset-requests"}]}]}`,
			reports.Dataset{Performance: performance(instance{3, reports.MetricTotalDatasetRequests, "", nil, false})}},
		{"report_1, report_2: capitals in values, attributes",
			`{"data-type":"Dataset","dataset-id":[{"type":"DOI","value":"0931-865"}],"dataset-contributors":[{"type":"ORCID",` +
				`"value":"0000"}],"dataset-dates":[{"type":"Pub-Date","value":"2002-01-15"}],` +
				`"dataset-attributes":[{"type":"dataset-version","value":"VoR"}],"performance":[{` + period +
				`,"instance":[{"count":21,"metric-type":"Total-Dataset-Requests","access-method":"Regular"}]}]}`,
			reports.Dataset{DataType: "Dataset", DatasetID: []typed{{"DOI", "0931-865"}},
				Contributors: []typed{{"ORCID", "0000"}}, Dates: []typed{{"Pub-Date", "2002-01-15"}},
				Attributes: []typed{{"dataset-version",
					"VoR"}}, Performance: performance(instance{21, "Total-Dataset-Requests", "Regular", nil, false})}},
		{"production d0b2b372: timestamps, no yop, no uri, empty title, zero counts",
			`{"dataset-title":"","publisher-id":[],"dataset-id":[{"type":"DOI","value":"10.5072/X"}],` +
				`"performance":[{"period":{"begin-date":"2025-07-01T00:00:00Z","end-date":"2025-07-31T00:00:00Z"},` +
				`"instance":[{"count":0,"metric-type":"unique-dataset-requests","access-method":"machine"}]}]}`,
			reports.Dataset{PublisherID: []typed{}, DatasetID: []typed{{"DOI", "10.5072/X"}},
				Performance: []reports.Performance{{
					Period:   reports.Period{BeginDate: "2025-07-01T00:00:00Z", EndDate: "2025-07-31T00:00:00Z"},
					Instance: []instance{{0, reports.MetricUniqueDatasetRequests, reports.AccessMachine, nil, false}}}}}},
		{"report_error: platform, publisher, data-type missing", `{"dataset-title":"T"}`, reports.Dataset{Title: "T"}},
		{"Dataverse sushi_sample_logs: volume, a type that is empty",
			`{"publisher-id":[{"type":"","value":"tbd"}],"performance":[{` + period +
				`,"instance":[{"count":7,"volume":123,"metric-type":"total-dataset-requests","access-method":"regular",` +
				`"country-counts":{"us":2,"":5}}]}]}`,
			reports.Dataset{PublisherID: []typed{{"", "tbd"}},
				Performance: performance(instance{7, reports.MetricTotalDatasetRequests, reports.AccessRegular,
					counts{{"", 5}, {"us", 2}}, false})}},
		{"Make-Data-Count stat_output: names in capitals, YOP a number, uppercase countries",
			`{"Dataset-Title":"T","YOP":2017,"Dataset_ID":[{"Type":"DOI","Value":"10.5072/x"}],` +
				`"Performance":[{"Period":{"Begin-Date":"2018-04-01","End_Date":"2018-04-30"},"Instance":[{"Count":1,` +
				`"Metric-Type":"total-dataset-requests","Access-Method":"regular","Country":"US","Country-Counts":{"US":1,"DE":2}` +
				`}]}]}`,
			reports.Dataset{Title: "T", YOP: "2017", DatasetID: []typed{{"DOI", "10.5072/x"}},
				Performance: performance(instance{1, reports.MetricTotalDatasetRequests, reports.AccessRegular,
					counts{{"DE", 2}, {"US", 1}}, false})}},
		{"counts as texts, countries an empty list, null",
			`{"performance":[{` + period + `,"instance":[{"count":"12","country-counts":{"us":"3","de":4.0,"at":" 5 ` +
				`"}},{"count":3.0,"country-counts":[]},{"count":null,"country-counts":null},{"count":-1,"country-counts":{"b":1,` +
				`"a":2,"b":3}}]}]}`,
			reports.Dataset{Performance: performance(instance{12, "", "", counts{{"at", 5}, {"de", 4}, {"us", 3}}, false},
				instance{Count: 3}, instance{NoCount: true}, instance{-1, "", "", counts{{"a", 2}, {"b", 3}}, false})}},
		{"null for everything", `{"dataset-title":null,"yop":null,"uri":null,"platform":null,"data-type":null,` +
			`"publisher":null,"publisher-id":null,"dataset-id":null,"dataset-dates":null,"dataset-contributors":null,` +
			`"dataset-attributes":null,"performance":null}`, reports.Dataset{}},
		{"one value for a list of one, bare texts for typed values",
			`{"dataset-id":{"type":"doi","value":"10.5072/x"},"dataset-contributors":["Doe, Jane",7,null],"performance":{` +
				period + `,"instance":{"count":1}}}`,
			reports.Dataset{DatasetID: []typed{{"doi", "10.5072/x"}}, Contributors: []typed{{"", "Doe, Jane"}, {"", "7"}, {}},
				Performance: performance(instance{Count: 1})}},
		{"other types for texts", `{"dataset-title":{"en":"T"},"yop":true,"uri":["a"],"platform":7,` +
			`"performance":[{"period":"2018-04"},null]}`, reports.Dataset{YOP: "true", Platform: "7",
			Performance: []reports.Performance{{}, {}}}},
		{"unknown members of every kind", `{"a":{"b":[1,{"c":"]}"}]},"dataset-title":"T","z":null,"":"","é":-1.5e3}`,
			reports.Dataset{Title: "T"}},
		{"no entry", `null`, reports.Dataset{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d reports.Dataset
			require.NoError(t, json.Unmarshal([]byte(tt.entry), &d))
			assert.Equal(t, tt.want, d)
			r, err := reports.NewReader(strings.NewReader(`{"report-datasets":[` + tt.entry + `,` + tt.entry + `]}`))
			require.NoError(t, err)
			n := 0
			for d, err := range r.Scan() {
				require.NoError(t, err)
				assert.Equal(t, tt.want, *d)
				n++
			}
			assert.Equal(t, 2, n)
		})
	}
}

// What would be miscounted is an error, not a guess.
func TestEntriesThatAreNone(t *testing.T) {
	for _, entry := range []string{
		`7`, `"text"`, `[]`, `{"performance":[7]}`, `{"performance":"x"}`, `{"performance":[{"instance":[5]}]}`,
		`{"performance":[{"instance":[{"count":"many"}]}]}`,
		`{"performance":[{"instance":[{"count":1.5}]}]}`, `{"performance":[{"instance":[{"count":{}}]}` +
			`]}`, `{"performance":[{"instance":[{"count":1e30}]}]}`,
		`{"performance":[{"instance":[{"count":"0x1p4"}]}` +
			`]}`, `{"performance":[{"instance":[{"count":"1_000"}]}]}`, `{"performance":[{"instance":[{"count":"inf"}]}]}`,
		`{"performance":[{"instance":[{"count":1e-2}]}]}`, `{"performance":[{"instance":[{"count":9223372036854775808}]}]}`,
		`{"performance":[{"instance":[{"count":1,"country-counts":{"us":"x"}}]}` +
			`]}`, `{"performance":[{"instance":[{"count":true}]}]}`,
	} {
		var d reports.Dataset
		assert.Error(t, json.Unmarshal([]byte(entry), &d), entry)
		r, err := reports.NewReader(strings.NewReader(`{"report-datasets":[{},` + entry + `]}`))
		require.NoError(t, err)
		n := 0
		var last error
		for _, err := range r.All() {
			if last = err; err == nil {
				n++
			}
		}
		assert.ErrorContains(t, last, "dataset 1: ", entry)
		assert.Equal(t, 1, n, "%s: what came before has been read", entry)
	}
}

func TestHeadersOfRealFiles(t *testing.T) {
	month := reports.Period{BeginDate: "2018-04-01", EndDate: "2018-04-30"}
	const named = `"reporting-period":{"begin-date":"2018-04-01","end-date":"2018-04-30"}`
	for _, tt := range []struct {
		name, header string
		want         reports.Header
	}{
		{"stored: what the service adds",
			`{"report-name":"n","report-id":"DSR","client-id":"cdl.dash","year":"2018","month":"4","created-by":"Dash",` +
				named + `,"report-filters":[],"report-attributes":[],"exceptions":[]}`,
			reports.Header{ReportName: "n", ReportID: "DSR", CreatedBy: "Dash", ReportingPeriod: month,
				ReportFilters: []reports.NameValue{}, ReportAttributes: []reports.NameValue{}, Exceptions: []reports.Exception{}}},
		{"production d0b2b372: timestamps, 3071 then 69, empty help-url",
			`{"created":"2025-08-01T03:12:44Z","reporting-period":{"begin-date":"2025-07-01T00:00:00Z",` +
				`"end-date":"2025-07-31T00:00:00Z"},"exceptions":[{"code":3071,"help-url":""},{"code":69,"severity":"warning",` +
				`"message":"m","help-url":"h","data":"d"}]}`,
			reports.Header{Created: "2025-08-01T03:12:44Z",
				ReportingPeriod: reports.Period{BeginDate: "2025-07-01T00:00:00Z",
					EndDate: "2025-07-31T00:00:00Z"}, Exceptions: []reports.Exception{{Code: 3071}, {69, "warning", "m", "h", "d"}}}},
		{"Dryad 2010-11, Dataverse: an empty exception", `{"exceptions":[{}]}`,
			reports.Header{Exceptions: []reports.Exception{{}}}},
		{"codes that are texts, missing, no codes",
			`{"exceptions":[{"code":"69"},{"message":"m"},{"code":null},{"code":"x"},{"code":3040},"bare"]}`,
			reports.Header{Exceptions: []reports.Exception{{Code: 69}, {Message: "m"}, {}, {}, {Code: 3040},
				{Message: "bare"}}}},
		{"exceptions null", `{"exceptions":null}`, reports.Header{}},
		{"exceptions an object", `{"exceptions":{"code":69}}`, reports.Header{Exceptions: []reports.Exception{{Code: 69}}}},
		{"spec/requests: underscores, capitals",
			`{"report_name":"n","created_by":"c","reporting_period":{"begin_date":"2018-04-01","end_date":"2018-04-30"},` +
				`"exceptions":[{"Code":69,"Severity":"warning","Help-URL":"h","help_url":"i"}]}`,
			reports.Header{ReportName: "n", CreatedBy: "c", ReportingPeriod: month,
				Exceptions: []reports.Exception{{Code: 69, Severity: "warning", HelpURL: "i"}}}},
		{"report_1: an end date that does not exist",
			`{"reporting-period":{"begin-date":"2018-04-01","end-date":"2022-01-0"}}`, reports.Header{
				ReportingPeriod: reports.Period{BeginDate: "2018-04-01", EndDate: "2022-01-0"}}},
		{"README: created with lowercase letters", `{"created":"2016-09-08t22:47:31z"}`,
			reports.Header{Created: "2016-09-08t22:47:31z"}},
		{"report_8: filters with names; bare texts",
			`{"report-filters":[{"name":"Begin_Date","value":"2018-04-01"},"bare",{"name":"n","value":5}],` +
				`"report-attributes":null}`,
			reports.Header{ReportFilters: []reports.NameValue{{Name: "Begin_Date", Value: "2018-04-01"}, {Value: "bare"},
				{Name: "n", Value: "5"}}}},
		{"report-id that is a number", `{"report-id":1,"release":null,"created":20180401,"reporting-period":null}`,
			reports.Header{ReportID: "1", Created: "20180401"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h reports.Header
			require.NoError(t, json.Unmarshal([]byte(tt.header), &h))
			assert.Equal(t, tt.want, h)
			got, src, err := reports.ReadFile(strings.NewReader(`{"report":{"report-header":` + tt.header +
				`,"report-datasets":[{}]}}`))
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
			assert.Len(t, collect(t, src), 1)
		})
	}
}

// report_1, report_2 and report_10 have the header's members beside the datasets.
func TestFilesWithTheHeaderBesideTheDatasets(t *testing.T) {
	const file = `{"id":"x","report-name":"Dataset Report","report-id":"dsr","release":"rd1","created-by":"DataONE",` +
		`"reporting-period":{"begin-date":"2018-04-01","end-date":"2018-04-30"},` +
		`"exceptions":[{"code":3040}],"report-datasets":[{"dataset-title":"a"}]}`
	h, src, err := reports.ReadFile(strings.NewReader(file))
	require.NoError(t, err)
	assert.Equal(t, reports.Header{ReportName: "Dataset Report", ReportID: "dsr", Release: "rd1", CreatedBy: "DataONE",
		ReportingPeriod: reports.Month(2018, 4), Exceptions: []reports.Exception{{Code: 3040}}}, h)
	assert.Equal(t, []reports.Dataset{{Title: "a"}}, collect(t, src))
}

// Every type goes through encoding/json and back.
func TestJSONBothWays(t *testing.T) {
	r := report("Example", 3)
	r.ID = id
	r.Header.ReportFilters = []reports.NameValue{{Name: "a", Value: "b"}, {Value: "bare"}}
	r.Header.ReportAttributes = []reports.NameValue{}
	r.Header.Exceptions = []reports.Exception{{69, "warning", "m", "h", "d"}}
	roundTrip(t, *r)
	roundTrip(t, r.Header)
	roundTrip(t, r.Header.ReportingPeriod)
	roundTrip(t, r.Header.ReportFilters)
	roundTrip(t, r.Header.Exceptions[0])
	roundTrip(t, r.Datasets)
	roundTrip(t, r.Datasets[0].Performance[0])
	roundTrip(t, r.Datasets[0].Performance[0].Instance[0])
	roundTrip(t, r.Datasets[0].Performance[0].Instance[0].CountryCounts)
	roundTrip(t, r.Datasets[0].DatasetID[0])
	roundTrip(t, map[string]*reports.Dataset{"a": &r.Datasets[0], "b": nil})

	var wrapped reports.Report
	require.NoError(t, json.Unmarshal([]byte(`{"report":`+string(mustJSON(t, r))+`}`), &wrapped))
	assert.Equal(t, *r, wrapped, "a response of the service, too")
	assert.Error(t, json.Unmarshal([]byte(`{"report-datasets":[{},5]}`), &wrapped))
	for _, v := range []any{new(reports.Header), new(reports.Performance), new(reports.Instance)} {
		assert.Error(t, json.Unmarshal([]byte(`[7]`), v), "%T", v)
	}
	for _, v := range []json.Unmarshaler{new(reports.Report), new(reports.Header), new(reports.Dataset), new(reports.Period),
		new(reports.Performance), new(reports.Instance), new(reports.CountryCounts), new(reports.TypedValue),
		new(reports.Exception), new(reports.NameValue)} {
		assert.Error(t, v.UnmarshalJSON([]byte(`{"a":1`)), "%T", v)
	}
}

func roundTrip[T any](t *testing.T, value T) {
	t.Helper()
	var got T
	require.NoError(t, json.Unmarshal(mustJSON(t, value), &got))
	assert.Equal(t, value, got)
}

// Datasets may be kept, and those of Scan are valid until the next iteration.
func TestDatasetsAreIndependent(t *testing.T) {
	r := report("Example", 500)
	for i := range r.Datasets {
		for j := range i % 7 {
			r.Datasets[i].Contributors = append(r.Datasets[i].Contributors, typed{"name", strings.Repeat("x", i*j)})
			first := &r.Datasets[i].Performance[0].Instance[0]
			first.CountryCounts = append(first.CountryCounts,
				reports.CountryCount{Country: "g" + string(rune('a'+j)), Count: int64(j)})
		}
	}
	data := mustJSON(t, r)
	reader, err := reports.NewReader(strings.NewReader(string(data)))
	require.NoError(t, err)
	var kept []reports.Dataset
	for d, err := range reader.All() {
		require.NoError(t, err)
		kept = append(kept, d)
		if len(kept) > 1 { // a list of one must not grow into the next one's
			_ = append(kept[len(kept)-2].Contributors, typed{"overwritten", "overwritten"})
		}
	}
	require.Equal(t, r.Datasets, kept)

	reader, err = reports.NewReader(strings.NewReader(string(data)))
	require.NoError(t, err)
	var texts []string
	for d, err := range reader.Scan() {
		require.NoError(t, err)
		require.Equal(t, r.Datasets[len(texts)], *d)
		texts = append(texts, d.Title)
	}
	require.Len(t, texts, len(r.Datasets))
	for i, title := range texts {
		require.Equal(t, r.Datasets[i].Title, title, "texts may be kept")
	}
}

func TestCountsAreExact(t *testing.T) {
	for text, want := range map[string]int64{
		"9007199254740993.0": 9007199254740993, `"9007199254740993.0"`: 9007199254740993, "1e3": 1000, "120e-1": 12,
		`" 7 "`: 7, "-3.0": -3,
		"9223372036854775807": 9223372036854775807,
	} {
		var d reports.Dataset
		require.NoError(t, json.Unmarshal([]byte(`{"performance":[{"instance":[{"count":`+text+`}]}]}`), &d), text)
		assert.Equal(t, want, int64(d.Performance[0].Instance[0].Count), text)
	}
}

func TestReadFile(t *testing.T) {
	const datasets = `"report-datasets":[{"dataset-title":"a"},{"dataset-title":"b"}]`
	const head = `"report-header":{"created-by":"Example","client-id":"x"}`
	for name, text := range map[string]string{
		"as sent":             `{` + head + `,` + datasets + `}`,
		"as the service says": `{"report":{"id":"x",` + head + `,` + datasets + `,"report-subsets":[]}}`,
		"header last":         `{` + datasets + `,"exceptions":[],` + head + `}`,
		"blanks around":       " \n{" + head + "," + datasets + "} \n",
	} {
		t.Run(name, func(t *testing.T) {
			h, src, err := reports.ReadFile(strings.NewReader(text))
			require.NoError(t, err)
			assert.Equal(t, "Example", h.CreatedBy)
			assert.Equal(t, []reports.Dataset{{Title: "a"}, {Title: "b"}}, collect(t, src))
		})
	}
	for name, text := range map[string]string{
		"Latin-1": strings.Replace(`{`+head+`,`+datasets+`}`, "Example", "Mus\xe9e", 1), "no datasets": `{` + head + `}`,
		"a list": `[]`, "empty": ``, "not JSON": `report`, "no header": `{"id":"x",` + datasets + `}`,
		"cut off in the header": `{` + datasets + `,"report-header":{"created-by":"Ex`,
	} {
		_, _, err := reports.ReadFile(strings.NewReader(text))
		assert.ErrorIs(t, err, datacite.ErrInvalid, name)
	}
	_, read, err := reports.ReadFile(strings.NewReader(`{` + head + `,` + datasets + `}`))
	require.NoError(t, err)
	for range read {
		break
	}
	for _, text := range []string{`[]`, ``, `report`, `{}`} {
		_, err := reports.NewReader(strings.NewReader(text))
		assert.ErrorIs(t, err, datacite.ErrInvalid, text)
	}
	named, err := reports.NewReader(strings.NewReader(`{"report":{"id":"x",` + head + `,` + datasets + `}}`))
	require.NoError(t, err)
	assert.Equal(t, "x", named.ID)
	lost := iotest.ErrReader(errLost)
	_, err = reports.NewReader(lost)
	require.EqualError(t, err, "reports.NewReader: "+errLost.Error())
	_, _, err = reports.ReadFile(lost)
	require.EqualError(t, err, "reports.ReadFile: "+errLost.Error())
	_, _, err = reports.ReadFile(nil)
	require.ErrorContains(t, err, "r: is nil")
	_, err = reports.NewReader(nil)
	require.ErrorContains(t, err, "src: is nil")
	require.ErrorContains(t, lastError(new(reports.Reader).All()), "Reader: is the zero value")
	behind := strings.NewReader("a line before\n{" + datasets + "," + head + "}")
	_, err = behind.Seek(int64(len("a line before\n")), io.SeekStart)
	require.NoError(t, err)
	h, src, err := reports.ReadFile(behind)
	require.NoError(t, err, "it is read twice from where it was")
	assert.Equal(t, "Example", h.CreatedBy)
	assert.Len(t, collect(t, src), 2)
	_, _, err = reports.ReadFile(struct{ io.Reader }{strings.NewReader(`{` + datasets + `,` + head + `}`)})
	assert.ErrorContains(t, err, "put the header first", "a stream cannot be read twice")
	for name, text := range map[string]string{
		"cut off":       `{` + head + `,"report-datasets":[{"dataset-title":"a"},{"data`,
		"cut at an end": `{` + head + `,"report-datasets":[{"dataset-title":"a"}]`,
		"more follows":  `{` + head + `,` + datasets + `}{}`,
		"Latin-1":       `{` + head + `,"report-datasets":[{"dataset-title":"Glaci` + "\xe8" + `rs"}]}`,
		"half a pair":   `{` + head + `,"report-datasets":[{"unknown":"\ud800"}]}`,
		"no list":       `{` + head + `,"report-datasets":null}`,
	} {
		_, src, err := reports.ReadFile(strings.NewReader(text))
		require.NoError(t, err, name)
		assert.Error(t, lastError(src), name)
	}
}

// What is written is read back as it was, whatever is in its texts.
func TestWriteFile(t *testing.T) {
	h := reports.NewHeader("Example \"R\"", "2026-11-01", reports.Month(2026, 10))
	h.ReportFilters, h.ReportAttributes, h.Exceptions = []reports.NameValue{}, []reports.NameValue{}, []reports.Exception{}
	for _, datasets := range [][]reports.Dataset{{full("a\t<b>\u2028\"ü\""), dataset(1)}, nil} {
		var file strings.Builder
		require.NoError(t, reports.WriteFile(&file, h, reports.Source(datasets)))
		header, src, err := reports.ReadFile(strings.NewReader(file.String()))
		require.NoError(t, err)
		assert.Equal(t, h, header)
		assert.Equal(t, datasets, collect(t, src))
	}
	broken := func(yield func(reports.Dataset, error) bool) { yield(reports.Dataset{}, io.ErrUnexpectedEOF) }
	assert.ErrorIs(t, reports.WriteFile(io.Discard, h, broken), io.ErrUnexpectedEOF)
	assert.ErrorIs(t, reports.WriteFile(io.Discard, h, reports.Source([]reports.Dataset{{Title: "\xff"}})),
		datacite.ErrInvalid)
	read, write := io.Pipe()
	require.NoError(t, read.Close())
	assert.ErrorIs(t, reports.WriteFile(write, h, datasets(1)), io.ErrClosedPipe)
}

// The types of the specification, as encoding/json reads them.
type (
	strictPeriod struct {
		BeginDate string `json:"begin-date"`
		EndDate   string `json:"end-date"`
	}
	strictInstance struct {
		Count         int64            `json:"count"`
		MetricType    string           `json:"metric-type"`
		AccessMethod  string           `json:"access-method"`
		CountryCounts map[string]int64 `json:"country-counts"`
	}
	strictPerformance struct {
		Period   strictPeriod     `json:"period"`
		Instance []strictInstance `json:"instance"`
	}
	strictValue struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	strictDataset struct {
		Title        string              `json:"dataset-title"`
		YOP          string              `json:"yop"`
		URI          string              `json:"uri"`
		Platform     string              `json:"platform"`
		DataType     string              `json:"data-type"`
		Publisher    string              `json:"publisher"`
		PublisherID  []strictValue       `json:"publisher-id"`
		DatasetID    []strictValue       `json:"dataset-id"`
		Dates        []strictValue       `json:"dataset-dates"`
		Contributors []strictValue       `json:"dataset-contributors"`
		Attributes   []strictValue       `json:"dataset-attributes"`
		Performance  []strictPerformance `json:"performance"`
	}
)

func (d *strictDataset) dataset() reports.Dataset {
	out := reports.Dataset{
		Title: d.Title, YOP: d.YOP, URI: d.URI, Platform: d.Platform, DataType: d.DataType, Publisher: d.Publisher,
		PublisherID: values(d.PublisherID), DatasetID: values(d.DatasetID), Dates: values(d.Dates), Contributors: values(d.Contributors), Attributes: values(d.Attributes),
	}
	if d.Performance != nil {
		out.Performance = []reports.Performance{}
	}
	for _, p := range d.Performance {
		performance := reports.Performance{
			Period: reports.Period{BeginDate: reports.Date(p.Period.BeginDate), EndDate: reports.Date(p.Period.EndDate)}}
		if p.Instance != nil {
			performance.Instance = []reports.Instance{}
		}
		for _, n := range p.Instance {
			instance := reports.Instance{Count: n.Count, MetricType: reports.MetricType(n.MetricType),
				AccessMethod: reports.AccessMethod(n.AccessMethod)}
			if n.CountryCounts != nil {
				instance.CountryCounts = byCountry(n.CountryCounts)
			}
			performance.Instance = append(performance.Instance, instance)
		}
		out.Performance = append(out.Performance, performance)
	}
	return out
}

func values(list []strictValue) []reports.TypedValue {
	if list == nil {
		return nil
	}
	out := []reports.TypedValue{}
	for _, v := range list {
		out = append(out, reports.TypedValue(v))
	}
	return out
}

// decoded reads an entry in a report, in memory or byte by byte.
func decoded(entry string, stream func(io.Reader) io.Reader) (d reports.Dataset, err error) {
	r, err := reports.NewReader(stream(strings.NewReader(`{"report-datasets":[` + entry + `]}`)))
	if err != nil {
		return d, err
	}
	for d, err = range r.All() {
	}
	return d, err
}

// FuzzDataset holds the decoder against encoding/json: what is no JSON is an
// error, and what encoding/json can read as the specification has it is read the
// same.
func FuzzDataset(f *testing.F) {
	whole, err := json.Marshal(dataset(7))
	require.NoError(f, err)
	for _, entry := range []string{
		string(whole), `{}`, `null`, `[]`, `7`, `{"dataset-title":"\ud83d\ude00\u00e9\\\/"}`, "{\"yop\":\"\xff\"}",
		`{"performance":[{"instance":[{"count":1e3,"country-counts":{"us":1,"de":-2}}]}]}`,
		`{"publisher-id":[{"type":"doi"},null,{}],"performance":[null,{"period":null}` +
			`]}`, `{"unknown":[{"a":tru}]}`, `{"performance":[{"instance":[{"count":01}]}` +
			`]}`, `{"dataset-title":"a","dataset-title":null}`,
		`{"dataset-dates":[{"type":"pub-date","value":"2024"}] , "uri" : "x" , }`,
	} {
		f.Add(entry)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		got, err := decoded(entry, func(r io.Reader) io.Reader { return r })
		slow, slowErr := decoded(entry, iotest.OneByteReader)
		require.Equal(t, err == nil, slowErr == nil, "%v, byte by byte %v", err, slowErr)
		require.Equal(t, got, slow)
		if !json.Valid([]byte(entry)) {
			if json.Valid([]byte(`[` + entry + `]`)) {
				return // no entry or several
			}
			require.Error(t, err, "%q is no JSON", entry)
			return
		}
		if fault := datacite.Findings(err); len(fault) == 1 && fault[0].Code == "encoding" {
			return // encoding/json accepts it
		}
		var direct reports.Dataset
		require.Equal(t, err == nil, json.Unmarshal([]byte(entry), &direct) == nil, "%v", err)
		if err == nil {
			require.Equal(t, got, direct)
		}
		var want strictDataset
		if ambiguous(entry) || json.Unmarshal([]byte(entry), &want) != nil {
			return
		}
		require.NoError(t, err)
		require.Equal(t, want.dataset(), got)
	})
}

// full is a dataset with everything in it, and text wherever text can be.
func full(text string) reports.Dataset {
	pair := []typed{{text, "a"}, {"b", text}}
	return reports.Dataset{
		Title: text, YOP: text, URI: text, Platform: text, DataType: text, Publisher: text,
		PublisherID: pair, DatasetID: pair, Dates: pair, Contributors: pair, Attributes: pair,
		Performance: []reports.Performance{
			{Period: reports.Period{BeginDate: reports.Date(text), EndDate: "2026-10-31"}, Instance: []instance{
				{1, reports.MetricTotalDatasetRequests, reports.AccessRegular,
					byCountry(map[string]int64{"de": 1, "us": 10, text + "x": 1234567, text + "y": -9223372036854775808}), false},
				{-7, reports.MetricType(text), reports.AccessMethod(text), nil, false},
				{9223372036854775807, reports.MetricUniqueDatasetRequests, reports.AccessMachine, nil, false},
			}},
			{Instance: []instance{}},
		},
	}
}

// FuzzAppendDataset: encoding/json reads back what is written, whatever the texts are.
func FuzzAppendDataset(f *testing.F) {
	for _, text := range []string{
		"", "a", "ab", "abc", "plain", "seven77", "exactly8", "nine bytes", "Ünï©ødé — 数据集 🜚", `"`, `\`, `say "no"`,
		`C:\data`,
		"1234567\"", "12345678\"", "\"12345678", "123\"5678", "tab\there", "line\nend\r", "\b\f\x00\x01\x1f\x7f", "<a href='x'>&</a>", "\u2028\u2029",
		strings.Repeat("long ", 1000), strings.Repeat("x", 4095) + `"`,
		"\xff", "cut off \xe2\x82", "\xed\xa0\x80", "a perfectly good title, but for the end\xc0",
	} {
		f.Add(text, "de", int64(1))
	}
	f.Add("\"\\\n\x00", "\u2028", int64(-1))
	f.Add("\xdb", "\x86", int64(0)) // two halves of one letter, but apart
	f.Fuzz(func(t *testing.T, text, country string, count int64) {
		d := full(text)
		d.Performance[0].Instance[1].CountryCounts = counts{{country, count}}
		got, err := d.MarshalJSON()
		if !utf8.ValidString(text) || !utf8.ValidString(country) {
			require.ErrorIs(t, err, datacite.ErrInvalid)
			require.Empty(t, got)
			return
		}
		require.NoError(t, err)
		var read strictDataset
		require.NoError(t, json.Unmarshal(got, &read))
		require.Equal(t, d, read.dataset())
	})
}

// ambiguous finds objects in which encoding/json and the decoder may rightly see
// different members: repeated names, names in capitals or with underscores, and
// those that only the decoder knows.
func ambiguous(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	return ambiguousValue(dec, 0)
}

func ambiguousValue(dec *json.Decoder, depth int) bool {
	token, err := dec.Token()
	if err != nil {
		return true
	}
	seen := map[string]bool{}
	for dec.More() {
		if token == json.Delim('{') {
			name, err := dec.Token()
			text, _ := name.(string)
			folded := strings.ReplaceAll(strings.ToLower(text), "_", "-")
			if err != nil || seen[folded] || folded != text || text == "instances" || depth == 0 && text == "access-method" ||
				strings.ContainsFunc(text, func(r rune) bool { return r > '~' }) {
				return true
			}
			seen[folded] = true
		}
		if token != json.Delim('{') && token != json.Delim('[') {
			return false
		}
		if ambiguousValue(dec, depth+1) {
			return true
		}
	}
	if token == json.Delim('{') || token == json.Delim('[') {
		_, err = dec.Token()
	}
	return err != nil
}

// FuzzReader reads documents of any kind: the same whether they come in one piece
// or byte by byte, and never without an end.
func FuzzReader(f *testing.F) {
	for _, document := range []string{
		compressedDocument(part(inner("a b")), part(inner("c"))),
		`{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a b")) + `],"report-datasets":` + titled("a b") +
			`}}`,
		`{` + plainHeader + `,"report-datasets":{},"gzip":"` + b64(gz(`"{\"report-datasets\":[{}]}"`)) + `","checksum":""}`,
		`{"report-datasets":[{"gzip":"","checksum":null}],"report":null}`,
	} {
		f.Add(document)
	}
	f.Fuzz(func(t *testing.T, document string) {
		read := func(src io.Reader) (list []reports.Dataset, subsets []reports.Subset, failed bool) {
			r, err := reports.NewReader(src)
			if err != nil {
				return nil, nil, true
			}
			for d, err := range r.All() {
				if err != nil {
					return list, r.Subsets, true
				}
				list = append(list, d)
			}
			return list, r.Subsets, false
		}
		list, subsets, failed := read(strings.NewReader(document))
		slow, slowSubsets, slowFailed := read(&seekable{iotest.OneByteReader(strings.NewReader(document)), document})
		require.Equal(t, failed, slowFailed)
		require.Equal(t, list, slow)
		require.Equal(t, subsets, slowSubsets)
	})
}

package reports_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
)

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
		performance := reports.Performance{Period: reports.Period{BeginDate: reports.Date(p.Period.BeginDate), EndDate: reports.Date(p.Period.EndDate)}}
		if p.Instance != nil {
			performance.Instance = []reports.Instance{}
		}
		for _, n := range p.Instance {
			instance := reports.Instance{Count: n.Count, MetricType: reports.MetricType(n.MetricType), AccessMethod: reports.AccessMethod(n.AccessMethod)}
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
		string(whole), `{}`, `null`, `[]`, `7`, `{"dataset-title":"\ud83d\ude00\u00e9\\\/"}`, "{\"yop\":\"\xff\"}", `{"performance":[{"instance":[{"count":1e3,"country-counts":{"us":1,"de":-2}}]}]}`,
		`{"publisher-id":[{"type":"doi"},null,{}],"performance":[null,{"period":null}]}`, `{"unknown":[{"a":tru}]}`, `{"performance":[{"instance":[{"count":01}]}]}`, `{"dataset-title":"a","dataset-title":null}`,
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
			if err != nil || seen[folded] || folded != text || text == "instances" || depth == 0 && text == "access-method" || strings.ContainsFunc(text, func(r rune) bool { return r > '~' }) {
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
		`{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a b")) + `],"report-datasets":` + titled("a b") + `}}`,
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

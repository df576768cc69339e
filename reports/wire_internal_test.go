package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These types have the members of a dataset in the order of appendDataset, so
// that encoding/json writes what it should write, byte for byte.
type (
	orderedDataset struct {
		Contributors []TypedValue         `json:"dataset-contributors,omitempty"`
		YOP          string               `json:"yop,omitempty"`
		DataType     string               `json:"data-type"`
		Dates        []TypedValue         `json:"dataset-dates,omitempty"`
		Title        string               `json:"dataset-title"`
		PublisherID  []TypedValue         `json:"publisher-id"`
		DatasetID    []TypedValue         `json:"dataset-id"`
		Publisher    string               `json:"publisher"`
		URI          string               `json:"uri,omitempty"`
		Attributes   []TypedValue         `json:"dataset-attributes,omitempty"`
		Performance  []orderedPerformance `json:"performance"`
		Platform     string               `json:"platform"`
	}
	orderedPerformance struct {
		Period   Period            `json:"period"`
		Instance []orderedInstance `json:"instance"`
	}
	orderedInstance struct {
		MetricType    MetricType       `json:"metric-type"`
		AccessMethod  AccessMethod     `json:"access-method"`
		CountryCounts map[string]int64 `json:"country-counts,omitempty"`
		Count         int64            `json:"count"`
	}
)

func ordered(d *Dataset) orderedDataset {
	out := orderedDataset{
		Contributors: d.Contributors, YOP: d.YOP, DataType: d.DataType, Dates: d.Dates, Title: d.Title,
		PublisherID: orEmpty(d.PublisherID), DatasetID: orEmpty(d.DatasetID), Publisher: d.Publisher, URI: d.URI,
		Attributes: d.Attributes, Platform: d.Platform, Performance: []orderedPerformance{},
	}
	for _, p := range d.Performance {
		next := orderedPerformance{p.Period, []orderedInstance{}}
		for _, n := range p.Instance {
			counts := map[string]int64{}
			for _, c := range n.CountryCounts {
				counts[c.Country] = c.Count
			}
			next.Instance = append(next.Instance, orderedInstance{n.MetricType, n.AccessMethod, counts, n.Count})
		}
		out.Performance = append(out.Performance, next)
	}
	return out
}

// marshal is encoding/json without the escapes that only HTML needs.
func marshal(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	// It escapes two separators for the sake of JavaScript.
	return strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSpace(b.String()))
}

// full is a dataset with everything in it, and text wherever text can be.
func full(text string) *Dataset {
	pair := []TypedValue{{text, "a"}, {"b", text}}
	return &Dataset{
		Title: text, YOP: text, URI: text, Platform: text, DataType: text, Publisher: text,
		PublisherID: pair, DatasetID: pair, Dates: pair, Contributors: pair, Attributes: pair,
		Performance: []Performance{
			{Period{Date(text), "2026-10-31"}, []Instance{
				{1, TotalDatasetRequests, Regular, newCountryCounts(map[string]int64{"de": 1, "us": 10, text + "x": 1234567, text + "y": -9223372036854775808}), false},
				{-7, MetricType(text), AccessMethod(text), nil, false},
				{9223372036854775807, UniqueDatasetRequests, Machine, CountryCounts{}, false},
			}},
			{},
		},
	}
}

func TestAppendDatasetDoesNotAllocate(t *testing.T) {
	d := full("some text")
	buf := make([]byte, 0, 1<<16)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_, err := appendDataset(buf, d)
		if err != nil {
			t.Error(err)
		}
	}))
}

// FuzzAppendDataset compares what is written with what encoding/json writes, whatever the texts are.
func FuzzAppendDataset(f *testing.F) {
	for _, text := range []string{
		"", "a", "ab", "abc", "plain", "seven77", "exactly8", "nine bytes", "Ünï©ødé — 数据集 🜚", `"`, `\`, `say "no"`, `C:\data`,
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
		d.Performance[0].Instance[1].CountryCounts = CountryCounts{{country, count}}
		got, err := appendDataset([]byte("before "), d)
		if utf8.ValidString(text) && utf8.ValidString(country) {
			require.NoError(t, err)
			require.Equal(t, "before "+marshal(t, ordered(d)), string(got))
			return
		}
		require.ErrorIs(t, err, errNotUTF8)
		require.Equal(t, "before ", string(got))
	})
}

// What a response says of a report is read without its data, wherever they are.
func TestScanResponse(t *testing.T) {
	s, err := scanResponse(strings.NewReader(`{"report-subsets":[null,{"id":7,"gzip":null,"checksum":"a"}],"report-datasets":[{"gzip":"AAAA","checksum":"b"}],"gzip":"AA==","checksum":"c"}`))
	require.NoError(t, err)
	var found []int64
	for _, part := range s.Subsets {
		found = append(found, part.Bytes)
	}
	assert.Equal(t, []int64{0, 0, 3, 1}, found, "wherever they are")
	require.ErrorContains(t, s.damage, "subset 1 has no data")
	const response = `{"report":{"id":"an id","report-header":{"exceptions":[{},{"code":69}]},"report-datasets":[{"yop":1},{},{"a":[{"b":"]}"}]}],"report-subsets":[{"gzip":"+\/8="}]}}`
	s, err = scanResponse(iotest.OneByteReader(strings.NewReader(response)))
	require.NoError(t, err)
	assert.Equal(t, "an id", s.ID)
	assert.True(t, s.Header.compressed())
	assert.Equal(t, 3, s.Shown)
	assert.Equal(t, []Subset{{Checksum: fmt.Sprintf("%x", sha256.Sum256([]byte{0xfb, 0xff})), Bytes: 2}}, s.Subsets)
	for end := range response {
		_, err := scanResponse(strings.NewReader(response[:end]))
		require.Error(t, err, "cut off at %d", end)
	}
}

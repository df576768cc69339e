package reports

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/subset"
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

func BenchmarkAppendDataset(b *testing.B) {
	d := full("some text of a usual length")
	buf, err := appendDataset(nil, d)
	require.NoError(b, err)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = appendDataset(buf[:0], d)
	}
}

// A response to the k-th subset repeats all subsets before it.
func TestScanResponseMeasuresWhatItDrops(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 100_000, 100_001, 100_002}
	var subsets, sums []string
	for i, size := range sizes {
		data := bytes.Repeat([]byte{0xfb, byte(i)}, size)[:size]
		sums = append(sums, fmt.Sprintf("%x", sha256.Sum256(data)))
		content := base64.StdEncoding.EncodeToString(data)
		if i%2 == 0 {
			content = strings.ReplaceAll(content, "/", `\/`)
		}
		subsets = append(subsets, fmt.Sprintf(`{"gzip":"%s","checksum":"%s"}`, content, sums[i]))
	}
	response := `{"report":{"id":"an id","report-header":{"created-by":"Example","exceptions":[{},{"code":69}]},
	  "report-datasets":[{"yop":1},{},{"a":[{"b":"]}"}]}],"report-subsets":[` + strings.Join(subsets, ",") + `]}}`
	for name, r := range map[string]io.Reader{
		"at once":      strings.NewReader(response),
		"byte by byte": iotest.OneByteReader(strings.NewReader(response)),
	} {
		s, err := scanResponse(r)
		require.NoError(t, err, name)
		assert.Equal(t, "an id", s.ID)
		assert.True(t, s.Header.compressed())
		assert.Equal(t, 3, s.Shown)
		require.NoError(t, s.damage)
		require.Len(t, s.Subsets, len(sizes))
		for i, part := range s.Subsets {
			assert.Equal(t, Subset{Checksum: sums[i], Bytes: int64(sizes[i])}, part)
		}
	}
	s, err := scanResponse(strings.NewReader(`{"report-subsets":[null,{"id":7,"gzip":null,"checksum":"a"}],"report-datasets":[{"gzip":"AAAA","checksum":"b"}],"gzip":"AA==","checksum":"c"}`))
	require.NoError(t, err)
	var found []int64
	for _, part := range s.Subsets {
		found = append(found, part.Bytes)
	}
	assert.Equal(t, []int64{0, 0, 3, 1}, found, "wherever they are")
	require.ErrorContains(t, s.damage, "subset 1 has no data")
	for end := 0; end < len(response); end += 997 {
		_, err := scanResponse(strings.NewReader(response[:end]))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut off at %d", end)
	}
}

var packing = subset.Settings{MaxItems: 1000, MaxBytes: 100_000, Workers: 2, Level: 6}

func numbered(n int) []Dataset {
	list := make([]Dataset, n)
	for i := range list {
		list[i] = *full(fmt.Sprintf("dataset %d \"é\"", i))
	}
	return list
}

// encoded are the datasets as they are packed.
func encoded(datasets []Dataset) iter.Seq2[subset.Item, error] {
	return func(yield func(subset.Item, error) bool) {
		var text []byte
		for i := range datasets {
			var err error
			text, err = appendDataset(text[:0], &datasets[i])
			if !yield(subset.Item{Number: i, Text: text}, err) {
				return
			}
		}
	}
}

// A packed is a subset with its body.
type packed struct {
	Subset
	body []byte
}

func packAll(t *testing.T, s subset.Settings, src iter.Seq2[subset.Item, error]) (all []packed, err error) {
	t.Helper()
	var bodies bytes.Buffer
	err = pack(t.Context(), Header{CreatedBy: "Example"}, src, s, &bodies, func(s Subset) error {
		all = append(all, packed{Subset: s})
		return nil
	})
	for i := range all {
		all[i].body = bodies.Next(int(all[i].Bytes))
	}
	return all, err
}

// unpack reads a subset with the standard library alone.
func unpack(t *testing.T, p packed) []Dataset {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(p.body))
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	var report struct {
		Header   Header    `json:"report-header"`
		Datasets []Dataset `json:"report-datasets"`
	}
	require.NoError(t, json.Unmarshal(data, &report))
	assert.Equal(t, "Example", report.Header.CreatedBy)

	assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256(p.body)), p.Checksum)
	assert.Len(t, report.Datasets, p.Datasets)
	return report.Datasets
}

func TestPackedSubsetsHoldTheSource(t *testing.T) {
	datasets := numbered(2500)
	var want []packed
	for _, workers := range []int{1, 2, 8} {
		s := packing
		s.Workers = workers
		all, err := packAll(t, s, encoded(datasets))
		require.NoError(t, err)
		if want == nil {
			want = all
		}
		require.Equal(t, want, all, "%d workers", workers)
	}
	next := 0
	for _, p := range want {
		assert.LessOrEqual(t, p.Datasets, packing.MaxItems)
		assert.LessOrEqual(t, p.Bytes, packing.MaxBytes)
		for _, d := range unpack(t, p) {
			require.Equal(t, datasets[next].Title, d.Title)
			require.Equal(t, datasets[next].Performance[0].Instance[0].CountryCounts, d.Performance[0].Instance[0].CountryCounts)
			next++
		}
	}
	assert.Equal(t, len(datasets), next)
}

func TestPackStops(t *testing.T) {
	bad := errors.New("bad row")
	_, err := packAll(t, packing, func(yield func(subset.Item, error) bool) {
		for item := range encoded(numbered(3)) {
			yield(item, nil)
		}
		yield(subset.Item{}, bad)
	})
	require.ErrorIs(t, err, bad)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = pack(ctx, Header{}, encoded(numbered(10)), packing, io.Discard, func(Subset) error { return nil })
	require.ErrorIs(t, err, context.Canceled)
}

func TestPackNamesADatasetThatIsTooLarge(t *testing.T) {
	datasets := numbered(3)
	var title strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&title, "%x", i*i*i)
	}
	datasets[1].Title = title.String()
	_, err := packAll(t, packing, encoded(datasets))
	e, ok := errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "report-datasets[1]", e.Findings[0].Path)
	assert.Contains(t, e.Findings[0].Reason, "the most is 100000")
	require.ErrorIs(t, err, datacite.ErrInvalid)
}

package bench_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// BenchmarkSandbox measures the embedded service with 1,000 random records and more, up to n and 100,000: memory, and
// processor time of storing a record, reading one, a list of 25, a search for a word that half of the records have and for
// one that one has, a phrase, and walks, per record.
func BenchmarkSandbox(b *testing.B) {
	for _, n := range []int{1_000, 2_000, 4_000, 8_000, 20_000, 100_000} {
		if n <= *entryCount {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				for b.Loop() {
					benchSandbox(b, n)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func benchSandbox(b *testing.B, n int) {
	before := heap()
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	defer srv.Close()
	var load time.Duration
	for i := range n {
		data := numbered(b, i)
		load += processorTimeOf(func() { require.NoError(b, srv.PutRecordJSON(data)) })
	}
	b.ReportMetric(float64(load.Microseconds())/float64(n), "µs/load")
	runtime.GC() // what loading left is not collected while the first requests are measured
	for unit, path := range map[string]string{
		"record": "/n1", "list": "?", "word": "?query=odd", "title": fmt.Sprint("?query=titles.title:number", n/2), "phrase": fmt.Sprintf("?query=%%22number%d+odd%%22", n/2+1),
		"prefix": "?query=titles.title:number1*", "sorted": "?sort=title",
	} {
		var took []time.Duration
		for range 5 {
			took = append(took, processorTimeOf(func() {
				for range 5 {
					fetch(b, srv, "/dois"+map[bool]string{true: "/10.5072"}[path[0] == '/']+path)
				}
			}))
		}
		b.ReportMetric(float64(slices.Sorted(slices.Values(took))[2].Microseconds())/5000, "ms/"+unit)
	}
	for unit, opts := range map[string]*dois.ListOptions{
		"cursor": {Page: query.Page{Size: 1000}}, "small-pages": {Sort: query.ByName, Page: query.Page{Size: 10}}, "pages": {Created: "2001", Sort: query.ByName, Page: query.Page{Size: 100}},
	} {
		if unit == "small-pages" && n > 10_000 {
			continue // beyond what page numbers reach
		}
		walked := 0
		took := processorTimeOf(func() {
			for page, err := range srv.DOIs().Pages(b.Context(), opts) {
				require.NoError(b, err)
				walked += len(page.Records)
			}
		})
		b.ReportMetric(float64(took.Microseconds())/float64(max(walked, 1)), "µs/"+unit)
	}
	b.ReportMetric(float64(heap()-before)/float64(n), "B/DOI")
	runtime.KeepAlive(srv)
}

func processorTimeOf(do func()) time.Duration {
	before := processorTime()
	do()
	return processorTime() - before
}

// numbered is a random record with two more words in its title; a tenth were created in 2001, as JSON.
func numbered(b *testing.B, i int) []byte {
	r := &dois.Record{URL: fmt.Sprint("https://repo.example.org/items/", i), Record: *datacitetest.RandomRecord(uint64(i))}
	r.DOI = fmt.Sprint("10.5072/n", i)
	r.Created = "2020-01-01T00:00:00Z"
	if i%10 == 0 {
		r.Created = "2001-01-01T00:00:00Z"
	}
	r.Titles[0].Title += fmt.Sprintf(" number%d %s", i, []string{"even", "odd"}[i%2])
	data, err := json.Marshal(r)
	require.NoError(b, err)
	return data
}

func fetch(b *testing.B, srv *datacitetest.Server, path string) {
	response, err := srv.HTTPClient().Get(srv.URL + path)
	require.NoError(b, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(b, err)
	require.NoError(b, response.Body.Close())
	require.Equal(b, http.StatusOK, response.StatusCode)
}

// heap is how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

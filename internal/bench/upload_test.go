package bench_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/bench"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/reports"
)

var header = reports.NewHeader("Example Repository", "2025-11-02", reports.Month(2025, time.October))

// naiveUpload is what a program does that knows encoding/json and compress/gzip:
// collect a subset, marshal it, compress it, send it, and begin the next one.
func naiveUpload(url string, c *corpus, n, most int) (wire int64, err error) {
	type report struct {
		Header   reports.Header `json:"report-header"`
		Datasets []bench.Entry  `json:"report-datasets"`
	}
	for from := 0; from < n; from += most {
		data, err := json.Marshal(report{header, c.entries(from, min(from+most, n))})
		if err != nil {
			return 0, err
		}
		var body bytes.Buffer
		w := gzip.NewWriter(&body)
		w.Write(data)
		if err := w.Close(); err != nil {
			return 0, err
		}
		wire += int64(body.Len())
		res, err := http.Post(url+"/reports", "application/gzip", &body)
		if err != nil {
			return 0, err
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusCreated {
			return 0, fmt.Errorf("response %s", res.Status)
		}
	}
	return wire, nil
}

// upload is the same through Submit.
// benchToken is a token of the year 2100: {"uid":"bench","exp":4102444800}.
const benchToken = "e30.eyJ1aWQiOiJiZW5jaCIsImV4cCI6NDEwMjQ0NDgwMH0.e30"

func upload(ctx context.Context, url string, c *corpus, n int, opts *reports.SubmitOptions) (*reports.Receipt, error) {
	client, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: url}, Token: benchToken})
	if err != nil {
		return nil, err
	}
	o := reports.SubmitOptions{}
	if opts != nil {
		o = *opts
	}
	o.ID = sinkID
	return client.Submit(ctx, header, c.datasets(n), &o)
}

func sum(subsets []reports.Subset) (bytes int64) {
	for _, s := range subsets {
		bytes += s.Bytes
	}
	return bytes
}

// BenchmarkUpload sends whole reports: reading, checking, encoding, compressing,
// sending.
func BenchmarkUpload(b *testing.B) {
	for _, profile := range []bench.Profile{bench.Typical, bench.Heavy} {
		c := newCorpus(profile)
		n, most := *entryCount, reports.MaxDatasets
		if profile == bench.Heavy {
			n, most = n/10, 12_000
		}
		c.prepare(n)
		for _, kind := range []struct {
			name string
			opts reports.SubmitOptions
		}{
			{"default", reports.SubmitOptions{}},
			{"fast", reports.SubmitOptions{Level: 1}},
			{"small", reports.SubmitOptions{Level: 8}},
		} {
			b.Run(profile.String()+"/"+kind.name, func(b *testing.B) {
				url := serveApart(b)
				pairs(b, n, func() (int64, error) {
					return naiveUpload(url, c, n, most)
				}, func() (int64, error) {
					r, err := upload(b.Context(), url, c, n, &kind.opts)
					if err != nil {
						return 0, err
					}
					return sum(r.Subsets), nil
				})
			})
		}
		b.Run(profile.String()+"/deflate", func(b *testing.B) {
			url := serveApart(b)
			text, err := json.Marshal(c.ours)
			if err != nil {
				b.Fatal(err)
			}
			pairs(b, n, func() (int64, error) {
				_, err := upload(b.Context(), url, c, n, nil)
				return 0, err
			}, func() (int64, error) {
				return 0, deflateAlone(text, n, gzipbody.DefaultLevel)
			})
		})
	}
}

// deflateAlone compresses the text of a pool until n datasets are reached, on all
// processors: no upload can take less time. Its pair is the upload of those datasets.
func deflateAlone(text []byte, n, level int) error {
	var all sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, runtime.GOMAXPROCS(0))
	for i := range errs {
		all.Go(func() {
			var c *gzipbody.Compressor
			c, errs[i] = gzipbody.NewCompressor(level)
			var out []byte
			for errs[i] == nil && int(next.Add(poolSize))-poolSize < n {
				var block gzipbody.Block
				block, errs[i] = c.Block(out[:0], text)
				out = block.Data
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// BenchmarkLevels compresses the text of a pool by each level in turn, on one processor. The bytes and the processor
// time of each are those of level 6, times its x-bytes and its x-cpu.
func BenchmarkLevels(b *testing.B) {
	const least, most, base = 1, 9, 6
	for _, profile := range []bench.Profile{bench.Typical, bench.Heavy} {
		b.Run(profile.String(), func(b *testing.B) {
			text, err := json.Marshal(newCorpus(profile).ours)
			if err != nil {
				b.Fatal(err)
			}
			var cpu, size [most + 1][]float64
			for b.Loop() {
				for range *rounds {
					for level := least; level <= most; level++ {
						one := measure(b, func() (int64, error) { return deflated(text, *entryCount/poolSize, level) })
						cpu[level], size[level] = append(cpu[level], one.cpu.Seconds()), append(size[level], float64(one.wire))
					}
				}
			}
			b.ReportMetric(0, "ns/op") // of all levels: it says nothing
			for level := least; level <= most; level++ {
				var x []float64
				for i := range cpu[level] {
					x = append(x, cpu[level][i]/cpu[base][i])
				}
				b.ReportMetric(quantile(x, 0.5), fmt.Sprintf("x-cpu-%d", level))
				b.ReportMetric(size[level][0]/size[base][0], fmt.Sprintf("x-bytes-%d", level))
			}
		})
	}
}

// deflated compresses a text so many times, in blocks as Submit does.
func deflated(text []byte, times, level int) (wire int64, err error) {
	c, err := gzipbody.NewCompressor(level)
	for range times {
		for block := range slices.Chunk(text, 2<<20) {
			if err != nil {
				return wire, err
			}
			var made gzipbody.Block
			made, err = c.Block(nil, block)
			wire += int64(len(made.Data))
		}
	}
	return wire, err
}

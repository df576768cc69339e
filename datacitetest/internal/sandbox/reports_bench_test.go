package sandbox_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// largeReport is a report of n datasets of about 1 KB each.
func largeReport(createdBy string, n int, compressed bool) []byte {
	var b bytes.Buffer
	exceptions := ""
	if compressed {
		exceptions = noteCompressed
	}
	b.WriteString(`{"report-header":` + header(createdBy, "2020-01-01", exceptions) + `,"report-datasets":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"uri":"https://repo.example.org/dataset/%d","yop":"2019","platform":"Example Repository",`+
			`"data-type":"dataset","publisher":"Example","publisher-id":[{"type":"client-id","value":"example.repo"}],`+
			`"dataset-id":[{"type":"doi","value":"10.5072/%08x"}],"dataset-title":"Observations %d, a \"series\" — é",`+
			`"dataset-dates":[{"type":"pub-date","value":"2019-03-04"}],"dataset-contributors":[{"type":"name","value":"Garza, K."}],`+
			`"performance":[{"period":{"begin-date":"2020-01-01","end-date":"2020-01-31"},"instance":[`, i, i*7919, i)
		for j, metric := range []string{"total-dataset-requests", "unique-dataset-requests", "total-dataset-investigations", "unique-dataset-investigations"} {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"count":%d,"metric-type":"%s","access-method":"regular","country-counts":{"us":%d,"de":%d,"gb":1}}`, i%97, metric, i%13, i%7)
		}
		b.WriteString(`]}]}`)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }} // they are large

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)
	w.Reset(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func BenchmarkReports(b *testing.B) {
	plain := largeReport("bench", 50_000, true)
	body := zipped(plain)
	b.Run("post_50000_datasets", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(plain)))
		for b.Loop() {
			service := sandbox.New(nil)
			res := send(b, service, gzipPost(b, service, body))
			if res.StatusCode != http.StatusCreated {
				b.Fatal(res.Status)
			}
			_, _ = io.Copy(io.Discard, res.Body)
		}
	})
	b.Run("get_150000_datasets", func(b *testing.B) {
		service := sandbox.New(nil)
		for range 3 {
			res := send(b, service, gzipPost(b, service, body))
			_, _ = io.Copy(io.Discard, res.Body)
		}
		id := onlyReport(b, service)
		b.ReportAllocs()
		b.SetBytes(3 * int64(len(plain)))
		for b.Loop() {
			req, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, base+"/reports/"+id, nil)
			_, _ = io.Copy(io.Discard, send(b, service, req).Body)
		}
	})
}

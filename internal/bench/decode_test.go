package bench_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/bench"
	"github.com/datacite-go/datacite-go/reports"
)

// plainReport is a report as a program declares it that uses encoding/json.
type plainReport struct {
	Header struct {
		ReportName string `json:"report-name"`
		Release    string `json:"release"`
		CreatedBy  string `json:"created-by"`
	} `json:"report-header"`
	Datasets []bench.Entry `json:"report-datasets"`
}

const decodeEntries = 10_000

func plainJSON(t testing.TB, n int) []byte {
	t.Helper()
	var r plainReport
	r.Header.ReportName, r.Header.Release, r.Header.CreatedBy = "Dataset Report", "rd1", "Example"
	r.Datasets = newCorpus(bench.Typical).entries(0, n)
	data, err := json.Marshal(r)
	require.NoError(t, err)
	return data
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

const reportID = "0148536f-bfbc-4775-b93c-524e91d0b9f6"

// storedResponse is the response that shows a report whose subsets are all the same.
func storedResponse(t testing.TB, subset []byte, n int) (response []byte, receipt *reports.Receipt) {
	t.Helper()
	var b bytes.Buffer
	writeStored(&b, subset, n)
	receipt = &reports.Receipt{ReportID: reportID}
	for range n {
		receipt.Subsets = append(receipt.Subsets, reports.Subset{Checksum: checksum(subset), Bytes: int64(len(subset))})
	}
	return b.Bytes(), receipt
}

// writeStored writes that response. Whoever reads it may stop.
func writeStored(w io.Writer, subset []byte, n int) {
	part := fmt.Appendf(nil, `{"gzip":"%s","checksum":"%s"}`, base64.StdEncoding.EncodeToString(subset), checksum(subset))
	_, _ = io.WriteString(w, `{"report":{"id":"`+reportID+
		`","report-header":{"created-by":"Example","exceptions":[{"code":69}]},"report-datasets":[],"report-subsets":[`)
	for i := range n {
		if i > 0 {
			_, _ = io.WriteString(w, ",")
		}
		_, _ = w.Write(part)
	}
	_, _ = io.WriteString(w, "]}}")
}

// responding is a client whose service responds to everything with data, without a
// network.
func responding(t testing.TB, data []byte) *reports.Client {
	t.Helper()
	c, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"},
		HTTPClient: &http.Client{Transport: inMemory(data)}})
	require.NoError(t, err)
	return c
}

type inMemory []byte

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(m)), ContentLength: int64(len(m)),
	}, nil
}

func datasetsOf(t testing.TB, src io.Reader) []reports.Dataset {
	t.Helper()
	r, err := reports.NewReader(src)
	require.NoError(t, err)
	var all []reports.Dataset
	for d, err := range r.All() {
		require.NoError(t, err)
		all = append(all, d)
	}
	return all
}

// scan counts the datasets of a report without keeping any.
func scan(src io.Reader) (n int, err error) {
	r, err := reports.NewReader(src)
	if err != nil {
		return 0, err
	}
	for _, err := range r.Scan() {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// What is measured below has to give what encoding/json gives.
func TestDecodersAgree(t *testing.T) {
	const n = 1000
	data := plainJSON(t, n)
	var plain plainReport
	require.NoError(t, json.Unmarshal(data, &plain))
	var want []reports.Dataset
	for i := range plain.Datasets {
		want = append(want, dataset(&plain.Datasets[i]))
	}
	require.Len(t, want, n)
	require.Equal(t, want, datasetsOf(t, bytes.NewReader(data)))
	require.Equal(t, want, datasetsOf(t, bytes.NewReader(gzipped(t, data))))

	response, receipt := storedResponse(t, gzipped(t, data), 2)
	stored := datasetsOf(t, bytes.NewReader(response))
	require.Equal(t, want, stored[:n])
	require.Equal(t, want, stored[n:])
	receipt.Datasets = 2 * n
	require.NoError(t, responding(t, response).Verify(t.Context(), receipt))

	r, err := reports.NewReader(bytes.NewReader(response))
	require.NoError(t, err)
	i := 0
	for d, err := range r.Scan() {
		require.NoError(t, err)
		require.Equal(t, want[i%n], *d)
		i++
	}
	require.Equal(t, 2*n, i)
}

// BenchmarkDecodeReport reads a report of typical datasets. Its baselines
// unmarshal the whole report, inflated before where it is compressed.
func BenchmarkDecodeReport(b *testing.B) {
	data := plainJSON(b, decodeEntries)
	packed := gzipped(b, data)
	response, _ := storedResponse(b, packed, 1)
	naive := func(src io.Reader) error {
		var r plainReport
		all, err := io.ReadAll(src)
		if err != nil {
			return err
		}
		return json.Unmarshal(all, &r)
	}
	unmarshal := func() (int64, error) { var r plainReport; return 0, json.Unmarshal(data, &r) }
	inflate := func() (int64, error) {
		src, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return 0, err
		}
		return 0, naive(src)
	}
	expand := func() (int64, error) {
		var r struct {
			Report struct {
				Subsets []struct {
					Gzip []byte `json:"gzip"`
				} `json:"report-subsets"`
			} `json:"report"`
		}
		if err := json.Unmarshal(response, &r); err != nil {
			return 0, err
		}
		src, err := gzip.NewReader(bytes.NewReader(r.Report.Subsets[0].Gzip))
		if err != nil {
			return 0, err
		}
		return 0, naive(src)
	}
	fresh := func(src []byte) (int64, error) {
		_, each, err := reports.ReadFile(bytes.NewReader(src))
		if err != nil {
			return 0, err
		}
		all := make([]reports.Dataset, 0, decodeEntries)
		for d, err := range each {
			if err != nil {
				return 0, err
			}
			all = append(all, d)
		}
		return 0, complete(len(all))
	}
	reused := func(src []byte) (int64, error) {
		n, err := scan(bytes.NewReader(src))
		if err != nil {
			return 0, err
		}
		return 0, complete(n)
	}
	b.Run("fresh", func(b *testing.B) {
		pairs(b, decodeEntries, unmarshal, func() (int64, error) { return fresh(data) })
	})
	b.Run("reuse", func(b *testing.B) {
		pairs(b, decodeEntries, unmarshal, func() (int64, error) { return reused(data) })
	})
	b.Run("gzip", func(b *testing.B) {
		pairs(b, decodeEntries, inflate, func() (int64, error) { return reused(packed) })
	})
	b.Run("subset", func(b *testing.B) {
		pairs(b, decodeEntries, expand, func() (int64, error) { return reused(response) })
	})
}

func complete(n int) error {
	if n != decodeEntries {
		return fmt.Errorf("%d datasets of %d", n, decodeEntries)
	}
	return nil
}

// BenchmarkResponse reads the response of the service to the twentieth subset, all of
// which it repeats.
func BenchmarkResponse(b *testing.B) {
	const subsets = 20
	noise := make([]byte, 7_100_000)
	for i := range noise {
		noise[i] = byte(i * i >> 7)
	}
	response, receipt := storedResponse(b, noise, subsets)
	client := responding(b, response)
	naive := func() (int64, error) {
		data, err := io.ReadAll(bytes.NewReader(response))
		if err != nil {
			return 0, err
		}
		var r struct {
			Report struct {
				ID      string
				Subsets []struct{ Checksum string } `json:"report-subsets"`
			}
		}
		return 0, json.Unmarshal(data, &r)
	}
	ours := func() (int64, error) { return 0, client.Verify(b.Context(), receipt) }
	b.Run("20subsets", func(b *testing.B) {
		pairs(b, subsets, naive, ours)
		var speeds []float64
		for range 9 {
			speeds = append(speeds, float64(len(response))/measure(b, ours).elapsed.Seconds()/1e9)
		}
		b.ReportMetric(quantile(speeds, 0.5), "GB/s")
	})
}

// checksum is the name that the service gives to a subset.
func checksum(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }

package bench_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

// What reading may add to the memory of a process, in MiB, whatever the length
// of the report and of its parts. A process that has only reports and its
// libraries takes 7 MiB before it reads anything, so it stays within 16; that of
// the tests takes 9 to 10.
const (
	mostDecodeMemory = 9
	mostDecodeGrowth = 4 // from the shortest to the longest report
)

// TestMemoryOfReading reads from a process of its own, which gets the response of
// the service from this one: a stored report, the same as a file, and its
// checksums alone.
func TestMemoryOfReading(t *testing.T) {
	subset := gzipped(t, plainJSON(t, inSubset))
	most := min(*mostEntries, 500_000)
	least := most / 6 / inSubset * inSubset
	for _, how := range []string{"open", "file", "verify"} {
		var peaks []float64
		for _, n := range []int{least, most} {
			idle, peak := readApart(t, subset, how, n)
			for try := 1; try < 3 && peak-idle > mostDecodeMemory; try++ {
				idle, peak = readApart(t, subset, how, n)
			}
			t.Logf("%s, %d datasets: %.1f MiB, %.1f before", how, n, peak, idle)
			assert.LessOrEqual(t, peak-idle, float64(mostDecodeMemory), "MiB to %s %d datasets", how, n)
			peaks = append(peaks, peak)
		}
		assert.LessOrEqual(t, peaks[1]-peaks[0], float64(mostDecodeGrowth), "MiB more to %s a longer report", how)
	}
}

// inSubset is how many datasets each subset holds.
const inSubset = 2_500

// readApart reads in another process and returns its memory before and its peak,
// in MiB.
func readApart(t *testing.T, subset []byte, how string, n int) (idle, peak float64) {
	t.Helper()
	response, w := io.Pipe()
	defer response.Close() // it may have read enough
	go func() {
		writeStored(w, subset, n/inSubset)
		w.Close()
	}()
	out := apart(t, fmt.Sprintf("decode %s %d %s", how, n, checksum(subset)), response, "GOMAXPROCS=1")
	var datasets int
	_, err := fmt.Sscanf(out, "%f %f KiB for %d datasets", &idle, &peak, &datasets)
	require.NoError(t, err, out)
	require.Equal(t, n, datasets)
	return idle / (1 << 10), peak / (1 << 10)
}

// beDecoder is the process that readApart starts.
func beDecoder(arguments string) error {
	var how, checksum string
	var expected int
	if _, err := fmt.Sscan(arguments, &how, &expected, &checksum); err != nil {
		return err
	}
	c, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"},
		HTTPClient: &http.Client{Transport: fromStdin{}}})
	if err != nil {
		return err
	}
	if err := forgetPeak(); err != nil {
		return err
	}
	idle, err := peakMemory()
	if err != nil {
		return err
	}
	var n int
	switch how {
	case "open":
		n, err = countStored(c)
	case "file":
		n, err = countFile(os.Stdin)
	case "verify":
		n, err = expected, verifyStored(c, expected, checksum)
	}
	if err != nil {
		return err
	}
	peak, err := peakMemory()
	fmt.Printf("%d %d KiB for %d datasets\n", idle, peak, n)
	return err
}

type fromStdin struct{}

func (fromStdin) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: os.Stdin}, nil
}

func countStored(c *reports.Client) (n int, err error) {
	r, err := c.Open(context.Background(), reportID)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for _, err := range r.All() {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func countFile(r io.Reader) (n int, err error) {
	_, src, err := reports.ReadFile(r)
	if err != nil {
		return 0, err
	}
	for _, err := range src {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func verifyStored(c *reports.Client, n int, checksum string) error {
	receipt := &reports.Receipt{ReportID: reportID}
	for range n / inSubset {
		receipt.Subsets = append(receipt.Subsets, reports.Subset{Checksum: checksum})
	}
	return c.Verify(context.Background(), receipt)
}

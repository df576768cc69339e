package bench_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/bench"
)

// mostGrowth is how much more memory, in MiB, a report may take that is many times
// longer: what the garbage collector leaves lying about. On a busy machine the collector
// is late, as the operating system stops it and not the work: so tests that measure a
// process take the least of three, and give it one processor where the work needs no more.
const mostGrowth = 12

// TestMemoryOfUploads uploads from a process of its own, the server being in
// this one, and reads how much memory that process took at its peak.
func TestMemoryOfUploads(t *testing.T) {
	url := serve(t)
	for _, c := range []struct {
		profile bench.Profile
		most    int // MiB
		counts  [2]int
	}{
		{bench.Typical, 48, [2]int{*mostEntries / 6, *mostEntries}},
		{bench.Heavy, 72, [2]int{*mostEntries / 30, *mostEntries / 5}},
	} {
		t.Run(c.profile.String(), func(t *testing.T) {
			var peaks [2]int
			for i, n := range c.counts {
				peaks[i] = uploadApart(t, url, c.profile, n)
				for try := 1; try < 3 && (peaks[i] > c.most || peaks[i]-peaks[0] > mostGrowth); try++ {
					peaks[i] = min(peaks[i], uploadApart(t, url, c.profile, n))
				}
				t.Logf("%d datasets: %d MiB", n, peaks[i])
				assert.LessOrEqual(t, peaks[i], c.most, "MiB for %d datasets", n)
			}
			assert.LessOrEqual(t, peaks[1]-peaks[0], mostGrowth, "MiB more for more datasets")
		})
	}
}

// apart runs this program in a role, in a process of its own, and returns what it writes.
func apart(t *testing.T, role string, stdin io.Reader, env ...string) string {
	t.Helper()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system does not tell how much memory a process took")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), env...), roleVariable+"="+role, "GOGC=", "GOMEMLIMIT=",
		"DATACITE_LOCK_DIR="+t.TempDir())
	cmd.Stdin, cmd.Stderr = stdin, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

// uploadApart uploads in another process and returns its peak memory in MiB.
func uploadApart(t *testing.T, url string, profile bench.Profile, n int) (mib int) {
	t.Helper()
	out := apart(t, fmt.Sprintf("upload %s %d %d", url, int(profile), n), nil)
	var peak, datasets int
	_, err := fmt.Sscanf(out, "%d KiB for %d datasets", &peak, &datasets)
	require.NoError(t, err, out)
	require.Equal(t, n, datasets)
	return peak >> 10
}

// beUploader is the process that uploadApart starts.
func beUploader(arguments string) error {
	var url string
	var profile, n int
	if _, err := fmt.Sscanf(arguments, "%s %d %d", &url, &profile, &n); err != nil {
		return err
	}
	c := newCorpusOf(200, bench.Profile(profile))
	c.plain = nil
	if err := forgetPeak(); err != nil {
		return err
	}
	receipt, err := upload(context.Background(), url, c, n, nil)
	if err != nil {
		return err
	}
	peak, err := peakMemory()
	fmt.Printf("%d KiB for %d datasets\n", peak, receipt.Datasets)
	return err
}

// forgetPeak starts peakMemory afresh, after what a test had to prepare.
func forgetPeak() error {
	debug.FreeOSMemory()
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peakMemory is the most physical memory that this process has taken, in KiB.
func peakMemory() (kib int, err error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(rest, &kib)
	return kib, err
}

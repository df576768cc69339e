package bench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/dois/archive"
)

// archivePages is how many thousands of records the archives hold.
const archivePages = 4

// archiveLines are records as the lines of a data file.
func archiveLines(t testing.TB) []byte {
	t.Helper()
	var page struct{ Data []json.RawMessage }
	require.NoError(t, json.Unmarshal(pageOfRecords(false), &page))
	var b bytes.Buffer
	for range archivePages {
		for _, resource := range page.Data {
			b.Write(resource)
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// TestMemoryOfArchives reads archives of two lengths, in a process of its own that gets
// them from this one.
func TestMemoryOfArchives(t *testing.T) {
	const mostGrowth = 8 // MiB
	part := gzipped(t, archiveLines(t))
	read := func(parts int) (peak float64) {
		out := apart(t, "archive", bytes.NewReader(bytes.Repeat(part, parts)), "GOMAXPROCS=1")
		var records int
		_, err := fmt.Sscanf(out, "%f KiB for %d records", &peak, &records)
		require.NoError(t, err, out)
		require.Equal(t, parts*archivePages*pageRecords, records)
		t.Logf("%d records: %.1f MiB", records, peak/(1<<10))
		return peak / (1 << 10)
	}
	short, long := read(1), read(4)
	for try := 1; try < 3 && long-short > mostGrowth; try++ {
		long = min(long, read(4))
	}
	assert.LessOrEqual(t, long-short, float64(mostGrowth), "MiB more for a longer archive")
}

// beArchivist is the process that TestMemoryOfArchives starts.
func beArchivist() error {
	n := 0
	for _, err := range archive.NewReader(os.Stdin, nil).All() {
		if err != nil {
			return err
		}
		n++
	}
	peak, err := peakMemory()
	fmt.Printf("%d KiB for %d records\n", peak, n)
	return err
}

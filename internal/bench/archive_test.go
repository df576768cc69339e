package bench_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
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

func tarred(t testing.TB, member []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range 4 {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("dois/updated_2025-01/part_%04d.jsonl.gz", i), Mode: 0o644, Size: int64(len(member))}))
		_, err := w.Write(member)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// plainResource is a line of a data file, as encoding/json fills it.
var plainResource = reflect.TypeOf(plainPage()).Elem().Field(0).Type.Elem()

// plainLines reads lines one by one, as a program does that uses encoding/json.
func plainLines(src io.Reader) (n int, err error) {
	lines := bufio.NewReaderSize(src, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if err := json.Unmarshal(line, reflect.New(plainResource).Interface()); err != nil {
			return n, err
		}
		n++
	}
}

func plainGzip(src io.Reader) (n int, err error) {
	plain, err := gzip.NewReader(src)
	if err != nil {
		return 0, err
	}
	return plainLines(plain)
}

func plainTAR(src io.Reader) (n int, err error) {
	for members := tar.NewReader(src); ; {
		_, err := members.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		more, err := plainGzip(members)
		if n += more; err != nil {
			return n, err
		}
	}
}

func plainPages(src io.Reader) (n int, err error) {
	for pages := json.NewDecoder(src); pages.More(); n += pageRecords {
		if err := pages.Decode(plainPage()); err != nil {
			return n, err
		}
	}
	return n, nil
}

func readArchive(data []byte) (n int, err error) {
	for _, err := range archive.NewReader(bytes.NewReader(data), nil).All() {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// BenchmarkArchive reads archives from memory. The baselines use one core, and so does
// this with GOMAXPROCS=1 in the environment; -cpu says nothing with -benchtime 1x.
func BenchmarkArchive(b *testing.B) {
	lines := archiveLines(b)
	const records = archivePages * pageRecords
	b.Logf("%d bytes a record", len(lines)/records)
	for _, tt := range []struct {
		name  string
		data  []byte
		n     int
		plain func(io.Reader) (int, error)
	}{
		{"lines", lines, records, plainLines},
		{"gzip", gzipped(b, lines), records, plainGzip},
		{"tar", tarred(b, gzipped(b, lines)), 4 * records, plainTAR},
		{"pages", bytes.Repeat(pageOfRecords(false), archivePages), records, plainPages},
	} {
		b.Run(tt.name, func(b *testing.B) {
			exactly := func(n int, err error) (int64, error) {
				if err == nil && n != tt.n {
					err = fmt.Errorf("%d records of %d", n, tt.n)
				}
				return 0, err
			}
			pairs(b, tt.n, func() (int64, error) { return exactly(tt.plain(bytes.NewReader(tt.data))) },
				func() (int64, error) { return exactly(readArchive(tt.data)) })
		})
	}
	b.Run("names, against jq", func(b *testing.B) {
		if _, err := exec.LookPath("jq"); err != nil {
			b.Skip("there is no jq")
		}
		pairs(b, records, func() (int64, error) {
			jq := exec.Command("jq", "-c", ".attributes.doi")
			jq.Stdin = bytes.NewReader(lines)
			return 0, jq.Run()
		}, func() (int64, error) {
			for r, err := range archive.NewReader(bytes.NewReader(lines), nil).All() {
				if err != nil {
					return 0, err
				}
				fmt.Fprintln(io.Discard, r.DOI)
			}
			return 0, nil
		})
	})
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

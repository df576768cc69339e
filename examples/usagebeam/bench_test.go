package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports/counter"
)

var (
	lines  = flag.Int("lines", 20_000, "`lines` of the shortest log of the benchmark")
	rounds = flag.Int("rounds", 1, "`number` of measurements of each log, of which the least counts")
)

// BenchmarkAgainstCommand counts logs of n, 2n, 4n and 8n lines with this program, with everything in one process, and
// with datacite usage count, in turn. Both write the same table, and are compared in processor time of all threads.
func BenchmarkAgainstCommand(b *testing.B) {
	folder := b.TempDir()
	command := filepath.Join(folder, "datacite")
	out, err := exec.CommandContext(b.Context(), "go", "build", "-C", "../../cmd/datacite", "-o", command, ".").CombinedOutput()
	require.NoError(b, err, "%s", out)
	program, err := os.Executable()
	require.NoError(b, err)
	for _, format := range []string{"dataverse", "combined", "json"} {
		var first, last [2]cost // of the command and of this program
		for n := *lines; n <= 8**lines; n *= 2 {
			log := filepath.Join(folder, "a.log")
			writeLog(b, log, format, n)
			b.Run(fmt.Sprint(format, "/", n), func(b *testing.B) {
				for b.Loop() {
					last = compared(b, command, program, format, log, n)
				}
				last[0].report(b, "count", n)
				last[1].report(b, "beam", n)
				b.ReportMetric(last[1].seconds/last[0].seconds, "beam/count")
				b.ReportMetric(0, "ns/op")
				if n == *lines {
					first = last
				} else {
					further := (last[1].seconds - first[1].seconds) / (last[0].seconds - first[0].seconds)
					b.ReportMetric(further, "beam/count-per-further-line")
				}
			})
		}
	}
}

// A cost is that of a process.
type cost struct {
	seconds float64 // of processor
	memory  int64   // KiB at the peak
}

func (c cost) report(b *testing.B, name string, lines int) {
	b.ReportMetric(1e6*c.seconds/float64(lines), name+"-µs/line")
	b.ReportMetric(float64(c.memory)/1024, name+"-MiB")
}

// compared counts a log with both programs, which have to write the same table.
func compared(b *testing.B, command, program, format, log string, n int) (least [2]cost) {
	folder := b.TempDir()
	table, shards := filepath.Join(folder, "count.csv"), filepath.Join(folder, "beam.csv")
	settings := map[string]string{
		"month": "2026-10", "log-format": format, "platform": "P", "publisher": "U",
	}
	if format == "combined" {
		settings["investigations"] = `^/dataset/(10\..+)$`
		settings["requests"] = `^/file/(10\.[0-9]+/[^/]+)/`
	}
	flags := func(more ...string) (list []string) {
		for name, value := range settings {
			list = append(list, "--"+name, value)
		}
		return append(list, more...)
	}
	for round := range *rounds {
		each := [2]cost{
			ran(b, command, append([]string{"usage", "count", "--quiet"}, flags("--zone", "UTC", "--output", table, log)...)),
			ran(b, program, flags("-timezone", "UTC", "-o", shards, log)),
		}
		for i := range each {
			if round == 0 || each[i].seconds < least[i].seconds {
				least[i] = each[i]
			}
		}
	}
	names, err := filepath.Glob(filepath.Join(folder, "beam-*"))
	require.NoError(b, err)
	require.Len(b, names, 8)
	want, got := rowsIn(b, table), rowsIn(b, names...)
	require.Greater(b, want.rows, n/20)
	require.Equal(b, want, got)
	return least
}

// rows are those of tables in any order: their number and the sum of their checksums.
type rows struct {
	rows int
	sum  uint64
}

func rowsIn(b *testing.B, names ...string) (all rows) {
	for _, name := range names {
		file, err := os.Open(name)
		require.NoError(b, err)
		in := bufio.NewScanner(file)
		require.True(b, in.Scan())
		for in.Scan() {
			sum := fnv.New64a()
			_, _ = sum.Write(in.Bytes())
			all.rows++
			all.sum += sum.Sum64()
		}
		require.NoError(b, in.Err())
		require.NoError(b, file.Close())
	}
	return all
}

// ran runs a program.
func ran(b *testing.B, program string, args []string) cost {
	c := exec.CommandContext(b.Context(), program, args...)
	c.Env = append(os.Environ(), asProgram+"=yes")
	out, err := c.CombinedOutput()
	require.NoError(b, err, "%s", out)
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{(c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), usage.Maxrss}
}

var agents = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%d.1 Safari/605.1.15",
	"Mozilla/5.0 (X11; Linux x86_64; rv:%[1]d.0) Gecko/20100101 Firefox/%[1]d.0",
	"python-requests/2.%d.3",
	"Mozilla/5.0 (compatible; Googlebot/2.%d; +http://www.google.com/bot.html)",
}

// writeLog writes the log of a month, in the order of time: a few datasets have most accesses, a quarter of the
// accesses are to datasets that have a few, and every fourth one repeats the one before it some seconds later.
func writeLog(b *testing.B, name, format string, lines int) {
	file, err := os.Create(name)
	require.NoError(b, err)
	out := bufio.NewWriter(file)
	r := rand.New(rand.NewPCG(1, 2))
	var e counter.Event
	var dataset int
	for i := range lines {
		e.Time = time.Date(2026, 10, 1, 0, 0, i*(31*24*60*60)/lines, 0, time.UTC)
		if i%4 != 1 {
			if dataset = int(r.ExpFloat64() * 5000); r.IntN(4) == 0 {
				dataset = i
			}
			e.DOI, e.Request = fmt.Sprintf("10.5072/FK2/%06d", dataset), r.IntN(3) == 0
			e.Address, e.Agent = fmt.Sprintf("192.0.%d.%d", r.IntN(100), r.IntN(256)), fmt.Sprintf(agents[r.IntN(len(agents))], 90+r.IntN(40))
		}
		switch path := "/dataset.xhtml?persistentId=doi:" + e.DOI; format {
		case "json":
			e.URL = "https://data.example.org" + path
			line, err := json.Marshal(e)
			require.NoError(b, err)
			fmt.Fprintf(out, "%s\n", line)
		case "combined":
			if path = "/dataset/" + e.DOI; e.Request {
				path = "/file/" + strings.ReplaceAll(e.DOI, "FK2/", "FK2-") + "/1"
			}
			fmt.Fprintf(out, "%s - - [%s] \"GET %s HTTP/1.1\" 200 %d \"-\" %q\n",
				e.Address, e.Time.Format("02/Jan/2006:15:04:05 -0700"), path, r.IntN(100_000), e.Agent)
		default:
			if e.Request {
				path = fmt.Sprint("/api/access/datafile/", dataset)
			}
			fmt.Fprintf(out, "%s\t%s\t-\t-\t:guest\thttps://data.example.org%s\tdoi:%s\t-\t-\t%s\t",
				e.Time.Format("2006-01-02T15:04:05-0700"), e.Address, path, e.DOI, e.Agent)
			fmt.Fprintf(out, "The title of dataset %d\tExample University\tgrid.4711.3\tDoe, Jane|Roe, Richard\t", dataset)
			fmt.Fprintf(out, "2024-05-06T07:08:09Z\t1.0\t-\thttps://data.example.org%s\t2024\n", path)
		}
	}
	require.NoError(b, out.Flush())
	require.NoError(b, file.Close())
}

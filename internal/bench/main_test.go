package bench_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	entryCount  = flag.Int("n", 200_000, "typical datasets in a report; a tenth of that of heavy ones")
	rounds      = flag.Int("rounds", 3, "pairs of runs in each iteration of a benchmark")
	serverApart = flag.Bool("server", false, "run the server in a process of its own")
	hostileMiB  = flag.Int("hostile", 4, "MiB that the responses of hostile servers inflate to")
	logLines    = flag.Int("lines", 20_000, "lines of logs")
	mostEntries = flag.Int("most", 30_000, "datasets in the longest report of the memory tests; the shortest has a sixth")
)

// raced: the race detector has time and memory of its own, which would be measured.
var raced bool

// roleVariable says that this process was started by a test, and to do what.
const roleVariable = "BENCH_ROLE"

func TestMain(m *testing.M) {
	role, arguments, _ := strings.Cut(os.Getenv(roleVariable), " ")
	var err error
	switch role {
	case "":
		flag.Parse()
		if raced {
			fmt.Println("NOT CHECKED: speed and memory, which the race detector would change")
			return
		}
		if f := flag.Lookup("test.bench"); f != nil && f.Value.String() != "" {
			fmt.Println(machine())
		}
		os.Exit(m.Run())
	case "sink":
		err = beSink()
	case "upload":
		err = beUploader(arguments)
	case "victim":
		err = beVictim(arguments)
	case "limits":
		err = beReader(arguments)
	case "decode":
		err = beDecoder(arguments)
	case "archive":
		err = beArchivist()
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// machine says what the figures were measured on.
func machine() string {
	settings := map[string]string{}
	var modules strings.Builder
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		for _, d := range info.Deps {
			if strings.Contains(d.Path, "compress") {
				modules.WriteString(" " + d.Path + "@" + d.Version)
			}
		}
	}
	return fmt.Sprintf("%s %s/%s GOEXPERIMENT=%q GOAMD64=%s GOMAXPROCS=%d cpu=%q%s date=%s n=%d rounds=%d server-apart=%t",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, settings["GOEXPERIMENT"], settings["GOAMD64"], runtime.GOMAXPROCS(0),
		processor(), modules.String(), time.Now().UTC().Format(time.DateOnly), *entryCount, *rounds, *serverApart)
}

func processor() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// A run is what one way of doing the work cost.
type run struct {
	elapsed time.Duration
	cpu     time.Duration // of this process
	wire    int64
	allocs  uint64
}

// measure times work, which returns the bytes it sent.
func measure(b *testing.B, work func() (wire int64, err error)) run {
	b.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, used := time.Now(), processorTime()
	wire, err := work()
	elapsed := time.Since(start)
	used = processorTime() - used
	if err != nil {
		b.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return run{elapsed, used, wire, after.Mallocs - before.Mallocs}
}

// pairs runs both ways in turn and reports the medians of their ratios. The
// first pair warms up and does not count.
func pairs(b *testing.B, n int, naive, ours func() (wire int64, err error)) {
	b.Helper()
	measure(b, naive)
	measure(b, ours)
	var theirs, own []run
	for b.Loop() {
		for range *rounds {
			theirs = append(theirs, measure(b, naive))
			own = append(own, measure(b, ours))
		}
	}
	var ratios, cpu []float64
	for i := range own {
		ratios = append(ratios, theirs[i].elapsed.Seconds()/own[i].elapsed.Seconds())
		cpu = append(cpu, theirs[i].cpu.Seconds()/own[i].cpu.Seconds())
	}
	perSecond := func(runs []run) float64 {
		return float64(n) / quantile(seconds(runs), 0.5)
	}
	last := own[len(own)-1]
	b.ReportMetric(0, "ns/op") // of a pair: it says nothing
	b.ReportMetric(quantile(ratios, 0.5), "x-naive")
	b.ReportMetric(quantile(ratios, 0.25), "x-q25")
	b.ReportMetric(quantile(ratios, 0.75), "x-q75")
	if own[0].cpu > 0 {
		b.ReportMetric(quantile(cpu, 0.5), "x-cpu") // holds on a busy machine, too
	}
	b.ReportMetric(perSecond(own), "ds/s")
	b.ReportMetric(perSecond(theirs), "naive-ds/s")
	b.ReportMetric(float64(last.allocs)/float64(n), "allocs/ds")
	if last.wire > 0 {
		b.ReportMetric(float64(last.wire)/float64(n), "wire-B/ds")
		b.ReportMetric(float64(last.wire)/float64(theirs[0].wire), "wire-ratio")
	}
}

func seconds(runs []run) (list []float64) {
	for _, r := range runs {
		list = append(list, r.elapsed.Seconds())
	}
	return list
}

// quantile is the nearest value of the list, from 0, the least, to 1.
func quantile(list []float64, q float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[int(q*float64(len(list)-1)+0.5)]
}

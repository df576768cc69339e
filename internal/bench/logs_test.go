package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

var october = reports.Month(2026, time.October)

// An accessLog is a log of one month: most accesses are to a few of its datasets.
type accessLog struct {
	name     string
	format   logs.Format
	datasets int  // beside one for every fourth line, if it is negative
	agents   int  // user agents that differ
	shuffled bool // in no order of time
}

var accessLogs = []accessLog{
	{"json", logs.JSON, 20_000, 200, false},
	{"json/datasets", logs.JSON, -20_000, 200, false},
	{"dataverse", logs.Dataverse, 20_000, 200, false},
	{"dataverse/shuffled", logs.Dataverse, 20_000, 200, true},
	{"combined", logs.Combined, 20_000, 200, false},
	{"combined/agents", logs.Combined, 20_000, 80_000, false},
}

// agentFormats are those of three browsers, a program and a robot, by two numbers.
var agentFormats = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.0 Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%d.1 " +
		"Safari/605.1.%d",
	"Mozilla/5.0 (X11; Linux x86_64; rv:%[1]d.%[2]d) Gecko/20100101 Firefox/%[1]d.0",
	"python-requests/2.%d.%d",
	"Mozilla/5.0 (compatible; Googlebot/2.%d.%d; +http://www.google.com/bot.html)",
}

func (l *accessLog) line(w io.Writer, r *rand.Rand, n, lines int) error {
	share := float64(n) / float64(lines)
	if l.shuffled {
		share = r.Float64()
	}
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(share * float64(31*24*time.Hour)))
	most := max(l.datasets, -l.datasets)
	dataset := min(int(r.ExpFloat64()*float64(most)/5), most-1)
	if l.datasets < 0 && r.IntN(4) == 0 {
		dataset = most + n
	}
	number := r.IntN(l.agents)
	kind := number % len(agentFormats)
	if number%50 != 4 { // robots are few
		kind %= len(agentFormats) - 1
	}
	agent := fmt.Sprintf(agentFormats[kind], 90+number/len(agentFormats)%40, number/len(agentFormats)/40)
	name, address, request := fmt.Sprintf("10.5072/FK2/%06d",
		dataset), fmt.Sprintf("192.0.%d.%d", r.IntN(100), r.IntN(256)), r.IntN(3) == 0
	var err error
	switch l.format.Name {
	case logs.JSON.Name:
		return json.NewEncoder(w).Encode(counter.Event{DOI: name, Time: at,
			URL: "https://example.org/dataset?id=" + name + "&version=1", Request: request, Address: address, Agent: agent})
	case logs.Combined.Name:
		path := map[bool]string{false: "/dataset/" + name, true: "/file/" + name + "/1"}[request]
		_, err = fmt.Fprintf(w, "%s - - [%s] \"GET %s HTTP/1.1\" 200 %d \"-\" \"%s\"\n", address,
			at.Format("02/Jan/2006:15:04:05 -0700"), path, r.IntN(100_000), agent)
	default:
		url := "https://dataverse.example.org/dataset.xhtml?persistentId=doi:" + name
		if request {
			url = fmt.Sprintf("https://dataverse.example.org/api/access/datafile/%d", dataset*10+r.IntN(10))
		}
		_, err = fmt.Fprintf(w, "%s\t%s\t%08x\t-\t:guest\t%s\tdoi:%s\t-\t-\t%s\tThe title of dataset %d, as long as titles "+
			"are\tExample University\tgrid.4711.3\tDoe, Jane|Roe, "+
			"Richard\t2024-05-06T07:08:09Z\t1.0\t-\thttps://dataverse.example.org/dataset.xhtml?persistentId=doi:10.5072/FK2/%06[7]d\t2024\n",
			at.Format("2006-01-02T15:04:05-0700"), address, r.IntN(1e6), url, name, agent, dataset)
	}
	return err
}

// write writes the log into a file.
func (l *accessLog) write(name string, lines int) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	w, r := bufio.NewWriter(file), rand.New(rand.NewPCG(1, 2))
	for n := range lines {
		if err := l.line(w, r, n, lines); err != nil {
			return err
		}
	}
	return w.Flush()
}

// count goes the way from the log to a report.
func (l *accessLog) count(name, dir string) error {
	about := &logs.Descriptions{TempDir: dir}
	defer about.Close()
	opts := &logs.Options{Period: october, Descriptions: about}
	if l.format.Name == logs.Combined.Name {
		opts.Paths = &logs.Paths{
			Investigations: []*regexp.Regexp{regexp.MustCompile(`^/dataset/(10\..+)$`)},
			Requests:       []*regexp.Regexp{regexp.MustCompile(`^/file/(10\.[0-9]+/.+)/[0-9]+$`)},
		}
	}
	source := logs.Log{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
	rows := counter.Count(logs.Read([]logs.Log{source}, l.format, opts), &counter.Options{Period: october, TempDir: dir})
	return reports.WriteFile(io.Discard, header, about.Describe(reports.Group(rows, &reports.GroupOptions{Sorted: true})))
}

// sorted sorts the log by GNU sort.
func sorted(ctx context.Context, name, dir string) error {
	cmd := exec.CommandContext(ctx, "sort", "-T", dir, "-o", os.DevNull, name)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("sort: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// BenchmarkLogs counts logs of -lines lines, in turn with GNU sort of them. Processor time divided by that of sort is
// x-sort, by that of half the lines x-half.
func BenchmarkLogs(b *testing.B) {
	if _, err := exec.LookPath("sort"); err != nil {
		b.Skip("sort is not installed")
	}
	for _, l := range accessLogs {
		b.Run(l.name, func(b *testing.B) {
			dir := b.TempDir()
			whole, half := filepath.Join(dir, "whole"), filepath.Join(dir, "half")
			for name, lines := range map[string]int{whole: *logLines, half: *logLines / 2} {
				if err := l.write(name, lines); err != nil {
					b.Fatal(err)
				}
			}
			var ours, bySort, byHalf []float64
			for b.Loop() {
				for range *rounds {
					cpu := func(work func() error) float64 {
						return measure(b, func() (int64, error) { return 0, work() }).cpu.Seconds()
					}
					own := cpu(func() error { return l.count(whole, dir) })
					bySort = append(bySort, own/cpu(func() error { return sorted(b.Context(), whole, dir) }))
					byHalf = append(byHalf, own/cpu(func() error { return l.count(half, dir) }))
					ours = append(ours, own)
				}
			}
			info, err := os.Stat(whole)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(0, "ns/op") // of a round: it says nothing
			b.ReportMetric(float64(info.Size())/1e6, "MB")
			b.ReportMetric(quantile(ours, 0.5), "cpu-s")
			b.ReportMetric(quantile(bySort, 0.5), "x-sort")
			b.ReportMetric(quantile(bySort, 0), "x-least")
			b.ReportMetric(quantile(bySort, 1), "x-most")
			b.ReportMetric(quantile(byHalf, 0.5), "x-half")
		})
	}
}

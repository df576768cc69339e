package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports/counter"
)

func TestMain(m *testing.M) {
	beam.Init()
	os.Exit(m.Run())
}

func init() { register.Function2x1(workerOf) }

const workers = 4

func workerOf(key string, _ counter.Event) int { return int(partOf(key) % workers) }

// run runs a job on prism, and returns its table and what it told. Prism does each step
// at one place: here each log is read at a place of its own, and users are counted at
// several.
func run(t *testing.T, j job) (lines []string, sum map[string]int64, err error) {
	t.Helper()
	j.table = filepath.Join(t.TempDir(), "counts.csv")
	p, s := beam.NewPipelineWithRoot()
	var events, counts []beam.PCollection
	for _, log := range j.logs {
		events = append(events, j.read(s, []string{log}))
	}
	for _, part := range beam.Partition(s, workers, workerOf, beam.Flatten(s, events...)) {
		counts = append(counts, j.count(s, part))
	}
	j.write(s, beam.Flatten(s, counts...))
	result, err := prism.Execute(t.Context(), p)
	if err != nil {
		assert.NoFileExists(t, j.table)
		return nil, nil, err
	}
	table, err := os.ReadFile(j.table)
	require.NoError(t, err)
	return strings.SplitAfter(string(table), "\n"), told(result), nil
}

// A user is met again within seconds and within hours, and around the end of the month.
// Most are at one dataset.
func randomEvents(r *rand.Rand, zone *time.Location) []counter.Event {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	at := time.Date(2026, 10, 24, 21, 0, 0, 0, time.UTC) // summer time ends in the night
	end := time.Date(2026, 11, 1, 0, 0, 0, 0, zone)
	events := make([]counter.Event, 2000)
	for i := range events {
		e := counter.Event{
			DOI: pick("10.5072/hot", "10.5072/HOT", "doi:10.5072/hot", "10.5072/hot", `10.5072/a,"b"`, "10.5072/c", ""), URL: pick("/a", "/b#top", "/b"),
			Time: at.Add(time.Duration(r.IntN(4*60*60)) * time.Second), Request: r.IntN(3) == 0, Country: pick("", "DE", "de", "fr"),
			Agent: pick("Mozilla/5.0 (X11)", "Mozilla/5.0 (X11)", "curl/8", "", "Googlebot/2.1"),
		}
		if i%4 == 0 {
			e.Time = end.Add(time.Duration(r.IntN(120)-60) * time.Second)
		}
		*[]*string{&e.User, &e.Cookie, &e.Session, &e.Address}[r.IntN(4)] = fmt.Sprint(r.IntN(10))
		events[i] = e
	}
	return events
}

// store writes events into several logs, every other one compressed.
func store(t *testing.T, events []counter.Event) (names []string) {
	t.Helper()
	folder := t.TempDir()
	for i := range 8 {
		var log bytes.Buffer
		for _, e := range events[i*len(events)/8 : (i+1)*len(events)/8] {
			require.NoError(t, json.NewEncoder(&log).Encode(e))
		}
		name := filepath.Join(folder, fmt.Sprint("events.", i))
		if i%2 == 0 {
			name, log = name+".gz", compressed(t, log)
		}
		require.NoError(t, os.WriteFile(name, log.Bytes(), 0o600))
		names = append(names, name)
	}
	return names
}

func compressed(t *testing.T, text bytes.Buffer) (packed bytes.Buffer) {
	t.Helper()
	w := gzip.NewWriter(&packed)
	_, err := w.Write(text.Bytes())
	require.NoError(t, errors.Join(err, w.Close()))
	return packed
}

// TestTheRowsAreThoseOfCount: the machines count what one does.
func TestTheRowsAreThoseOfCount(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 24))
		j := job{rules: rules{Month: "2026-10", Zone: []string{"UTC", "Europe/Berlin"}[seed%2]}, json: true}
		if seed == 3 {
			j.rules.Robots = []string{"mozilla", "^$"}
		}
		opts, err := j.rules.options()
		require.NoError(t, err)
		events := randomEvents(r, opts.Location)
		j.logs = store(t, events)
		var want bytes.Buffer
		w := csv.NewWriter(&want)
		require.NoError(t, w.Write([]string{"doi", "metric", "access", "country", "count"}))
		for row, err := range counter.Count(func(yield func(counter.Event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}, opts) {
			require.NoError(t, err)
			require.NoError(t, w.Write([]string{row.DOI, string(row.Metric), string(row.Access), row.Country, fmt.Sprint(row.Count)}))
		}
		w.Flush()

		lines, sum, err := run(t, j)
		require.NoError(t, err)
		assert.Equal(t, "doi,metric,access,country,count\n", lines[0])
		assert.ElementsMatch(t, strings.SplitAfter(want.String(), "\n"), lines, "seed %d", seed)
		told := outcomes(*opts.Summary)
		told["lines about other pages"] = 0
		assert.Equal(t, told, sum, "seed %d", seed)
		assert.NotZero(t, opts.Summary.DoubleClicks)
		assert.NotZero(t, opts.Summary.Robots)
		assert.NotZero(t, opts.Summary.OtherMonths)
	}
}

// TestALogOfDataverse runs the pipeline as the program does.
func TestALogOfDataverse(t *testing.T) {
	line := func(at, url, agent string) string {
		return strings.Join([]string{at, "192.0.2.1", "-", "-", ":guest", "https://data.example.org" + url, "doi:10.5072/FK2/ABC", "-", "-", agent,
			"Glacier length", "Root", "grid.4711.3", "Lovelace, Ada", "2018-05-01", "1", "-", "-", "2018"}, "\t") + "\n"
	}
	folder := t.TempDir()
	for name, log := range map[string]string{
		"a.log": line("2026-10-14T10:01:00-0500", "/dataset.xhtml", "Mozilla/5.0 (X11)") + line("2026-10-14T10:01:20-0500", "/dataset.xhtml", "Googlebot"),
		"b.log": "# a comment\n" + line("2026-10-14T10:01:10-0500", "/dataset.xhtml", "Mozilla/5.0 (X11)") +
			line("2026-10-14T10:05:00-0500", "/api/access/datafile/7", "Mozilla/5.0 (X11)") + line("2026-10-14T10:06:00-0500", "/about", "Mozilla/5.0 (X11)"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(log), 0o600))
	}
	j := job{rules: rules{Month: "2026-10", Zone: "UTC"}, logs: []string{filepath.Join(folder, "*.log")}, table: filepath.Join(folder, "counts.csv")}
	p, s := beam.NewPipelineWithRoot()
	j.build(s)
	result, err := prism.Execute(t.Context(), p)
	require.NoError(t, err)
	table, err := os.ReadFile(j.table)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{
		"doi,metric,access,country,count", "10.5072/fk2/abc,total-dataset-investigations,regular,,2", "10.5072/fk2/abc,total-dataset-requests,regular,,1",
		"10.5072/fk2/abc,unique-dataset-investigations,regular,,1", "10.5072/fk2/abc,unique-dataset-requests,regular,,1", "",
	}, strings.Split(string(table), "\n"))
	assert.Equal(t, map[string]int64{
		"events counted": 2, "double clicks": 1, "events of robots": 1, "events of other months": 0, "events without a dataset": 0, "lines about other pages": 1,
	}, told(result))
}

// What cannot be read ends the pipeline, with its place, and there is no table.
func TestFaults(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	cut := func(name, text string) string {
		packed := compressed(t, *bytes.NewBufferString(text))
		return file(name, packed.String()[:packed.Len()-10])
	}
	good := `{"doi":"10.5072/a","time":"2026-10-14T10:00:00Z","url":"/a"}` + "\n"
	for _, tt := range []struct{ log, want string }{
		{file("a.jsonl", good+"{\n"), "a.jsonl, line 2"},
		{file("b.jsonl", good+strings.Replace(good, "10.5072/a", "a", 1)), `b.jsonl, line 2`},
		{file("c.jsonl.gz", good), "c.jsonl.gz: gzip: invalid header"},
		{cut("d.jsonl.gz", good), "d.jsonl.gz"},
		{filepath.Join(folder, "missing"), "missing"},
	} {
		_, _, err := run(t, job{rules: rules{Month: "2026-10", Zone: "UTC"}, json: true, logs: []string{tt.log, file("good.jsonl", good)}})
		assert.ErrorContains(t, err, tt.want)
	}
}

func TestArguments(t *testing.T) {
	list := filepath.Join(t.TempDir(), "robots")
	require.NoError(t, os.WriteFile(list, []byte("crawl\n^curl\n"), 0o600))
	for _, tt := range []struct {
		job          job
		robots, want string
	}{
		{job{rules: rules{Month: "2026-10"}}, "", "no logs"},
		{job{rules: rules{Month: "10/2026"}, logs: []string{"a"}}, "", "-month"},
		{job{rules: rules{Month: "2026-10", Zone: "Berlin"}, logs: []string{"a"}}, "", "Berlin"},
		{job{rules: rules{Month: "2026-10"}, logs: []string{"a"}}, list + "2", "robots2"},
	} {
		assert.ErrorContains(t, tt.job.check(tt.robots), tt.want)
	}
	j := job{rules: rules{Month: "2026-10"}, logs: []string{"a"}}
	require.NoError(t, j.check(list))
	assert.Equal(t, []string{"crawl"}, j.rules.Robots, "curl is no robot")
}

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/klauspost/compress/zstd"
	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// asProgram is the variable that makes the tests usagebeam itself.
const asProgram = "USAGEBEAM_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	flag.Parse()
	if os.Getenv(secondWorker) != "" {
		if err := renameMetrics(); err != nil {
			log.Fatal(err)
		}
	}
	beam.Init() // workers go no further
	if port := os.Getenv(jobServer); port != "" {
		serveJobs(port)
	}
	os.Exit(m.Run())
}

const header = "doi,title,year,uri,publisher,platform,metric,access,country,count"

// run runs a job on prism, and returns the lines of all shards and its numbers. Ranges and blocks are small, so that
// logs are read at many places.
func run(t *testing.T, j job) (lines []string, sum map[string]int64, err error) {
	t.Helper()
	j.table = filepath.Join(t.TempDir(), "counts.csv")
	j.parts, j.shards, j.block = cmp.Or(j.parts, 5), cmp.Or(j.shards, 3), cmp.Or(j.block, 300)
	p, s := beam.NewPipelineWithRoot()
	j.build(s)
	result, err := prism.Execute(t.Context(), p)
	names, wrong := filepath.Glob(filepath.Join(filepath.Dir(j.table), "*"))
	require.NoError(t, wrong)
	if err != nil {
		assert.Empty(t, names)
		return nil, nil, err
	}
	assert.Len(t, names, j.shards)
	return rowsOf(t, j), numbersOf(result), nil
}

// rowsOf are the lines of all shards without their headers.
func rowsOf(t *testing.T, j job) (lines []string) {
	for shard := range j.shards {
		table, err := os.ReadFile(shardName(j.table, shard, j.shards))
		require.NoError(t, err)
		rows := strings.SplitAfter(string(table), "\n")
		assert.Equal(t, "\ufeff"+header+"\n", rows[0])
		lines = append(lines, rows[1:len(rows)-1]...)
	}
	return lines
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
		*[]*string{&e.User, &e.Cookie, &e.Session, &e.Address}[r.IntN(4)] = pick("1", "2", "192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "2001:DB8:0::1")
		if r.IntN(8) == 0 {
			e.Access = []reports.AccessMethod{reports.AccessRegular, reports.AccessMachine}[r.IntN(2)]
		}
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

// TestTheRowsAreThoseOfCount: the machines count what one does, whatever the ranges of logs are.
func TestTheRowsAreThoseOfCount(t *testing.T) {
	for seed, block := range []int64{20, 100, 333, 1 << 20} {
		r := rand.New(rand.NewPCG(uint64(seed), 24))
		j := job{rules: rules{Month: "2026-10", Format: "json", Tolerance: logs.Tolerance{Always: []datacite.Code{"no-dataset"}}, Zone: []string{"UTC", "Europe/Berlin"}[seed%2]}}
		j.parts, j.shards, j.block = 1+r.IntN(20), 1+r.IntN(5), block
		opts, err := j.rules.options()
		require.NoError(t, err)
		events := randomEvents(r, opts.Location)
		j.logs = store(t, events)
		var want bytes.Buffer
		w := csv.NewWriter(&want)
		for row, err := range counter.Count(func(yield func(counter.Event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}, opts) {
			require.NoError(t, err)
			require.NoError(t, w.Write([]string{row.DOI, "", "", "", "", "", string(row.Metric), string(row.Access), row.Country, fmt.Sprint(row.Count)}))
		}
		w.Flush()

		lines, sum, err := run(t, j)
		require.NoError(t, err)
		assert.ElementsMatch(t, slices.Collect(strings.Lines(want.String())), lines, "blocks of %d bytes", block)
		numbers := outcomes(*opts.Tally)
		numbers["lines about other pages"], numbers["lines left out: no-dataset"], numbers["events without a dataset"] = 0, opts.Tally.NoDataset, 0
		assert.Equal(t, numbers, sum, "blocks of %d bytes", block)
		assert.NotZero(t, opts.Tally.DoubleClicks)
		assert.NotZero(t, opts.Tally.Robots)
		assert.NotZero(t, opts.Tally.OtherMonths)
	}
}

// TestALogOfDataverse runs the pipeline as the program does. Titles come from the last line
// about a dataset, whichever log it is in; one is a formula to a spreadsheet program.
func TestALogOfDataverse(t *testing.T) {
	line := func(at, url, agent, title string) string {
		return strings.Join([]string{at, "192.0.2.1", "-", "-", ":guest", "https://data.example.org" + url, "doi:10.5072/FK2/ABC", "-", "-", agent,
			title, "Root", "grid.4711.3", "Lovelace, Ada", "2018-05-01", "1", "-", "-", "2018"}, "\t") + "\n"
	}
	folder := t.TempDir()
	for name, log := range map[string]string{
		"a.log": line("2026-10-14T10:06:01-0500", "/dataset.xhtml", "Mozilla/5.0 (X11)", "=Glacier length") + line("2026-10-14T10:01:20-0500", "/dataset.xhtml", "Googlebot", "Old"),
		"b.log": "# a comment\n" + line("2026-10-14T10:06:10-0500", "/dataset.xhtml", "Mozilla/5.0 (X11)", "=Glacier lengths") +
			line("2026-10-14T10:05:00-0500", "/api/access/datafile/7", "Mozilla/5.0 (X11)", "Older") + line("2026-10-14T10:06:00-0500", "/about", "Mozilla/5.0 (X11)", "Older"),
		"c.log": strings.NewReplacer("ABC", "ABD", "Root", "-").Replace(line("2026-10-14T10:06:01-0500", "/dataset.xhtml", "Mozilla/5.0 (X11)", "No publisher")),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(log), 0o600))
	}
	j := job{rules: rules{Month: "2026-10", Format: "dataverse", Zone: "America/Chicago", Platform: "Portal ", Publisher: "@home"}, logs: []string{filepath.Join(folder, "*.log")}, shards: 1}
	lines, sum, err := run(t, j)
	require.NoError(t, err)
	const about, other = "10.5072/FK2/ABC,'=Glacier lengths,2018,,Root,Portal,", "10.5072/FK2/ABD,No publisher,2018,,'@home,Portal,"
	assert.Equal(t, []string{
		about + "total-dataset-investigations,regular,,2\n", about + "total-dataset-requests,regular,,1\n",
		about + "unique-dataset-investigations,regular,,1\n", about + "unique-dataset-requests,regular,,1\n",
		other + "total-dataset-investigations,regular,,1\n", other + "unique-dataset-investigations,regular,,1\n",
	}, lines)
	assert.Equal(t, map[string]int64{
		"events counted": 3, "double clicks": 1, "events of robots": 1, "events of other months": 0, "events without a dataset": 0, "lines about other pages": 1,
	}, sum)
}

// write writes a file and returns its name.
func write(t *testing.T, name string, text []byte) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// bzip2ed has the line of the visitor 192.0.2.3; nothing here writes bzip2.
const bzip2ed = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x72\xc1\xda\xfb\x00\x00\x1d\x5f\x80\x00\x10\x50\x63\xff\xb0\x02\xc2\xc4\x4a\x2c\x24\x84\x10\x20\x00\x74\x31\xea\x3c\x53\x4c\x8d\x03\x26\x4c\x86\x98\x84\x53\xf4\xa7\x94\xc4\xd3\x4d\x34\x00\x00\x0e\x3b\x1d\x30\x71\xe8\x13\x74\x78\xad\xe4\x40\x12\x89\x58\x8d\x31\xab\xbd\x0a\xac\x93\x08\x26\x2b\x78\xa9\xf1\x6a\x10\xc1\x0e\xd4\xc7\x60\xd1\x35\xa4\xae\xf1\x62\x45\x7e\x42\x00\xfc\xe0\xd5\x06\x2e\x80\x46\x26\x93\x7c\xfe\x90\xd4\x69\x3a\x4a\xbf\x8b\xb9\x22\x9c\x28\x48\x39\x60\xed\x7d\x80"

// TestALogOfAWebServer: plain and compressed logs, a table of paths, and countries.
func TestALogOfAWebServer(t *testing.T) {
	line := func(address, path, agent string) string {
		return fmt.Sprintf("%s - - [31/Oct/2026:23:30:00 -0400] \"GET %s HTTP/1.1\" 200 17 \"-\" %q\n", address, path, agent)
	}
	const browser = "Mozilla/5.0 (X11)"
	zipped := compressed(t, *bytes.NewBufferString(line("192.0.2.2", "/data/sun", browser)))
	packer, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	names := []string{
		write(t, "plain.log", []byte(line("192.0.2.1", "/data/sun", browser)+line("192.0.2.1", "/about", browser)+line("garden", "/data/sun", browser)+line("192.0.2.1", "/rain", "curl/8"))),
		write(t, "gzip", zipped.Bytes()), write(t, "bzip2.log", []byte(bzip2ed)),
		write(t, "zstd.log", packer.EncodeAll([]byte(line("192.0.2.4", "/data/sun", "Googlebot/2.1")), nil)), write(t, "empty.log", nil),
	}
	j, err := parsed(t, append([]string{
		"-log-format", "combined", "-timezone", "America/New_York", "-month", "2026-10", "-investigations", "^/data/(.+)", "-requests", "^/file/([a-z]+)$",
		"-paths", write(t, "paths.csv", []byte("\ufeffpath,doi,kind\n/rain/,10.5072/rain,request\n")), "-dois", write(t, "dois.csv", []byte("name,doi\nsun,10.5072/a\n10.5072/a,10.5072/a\n")),
		"-geoip", database(t, "GeoLite2-Country"), "-bad-lines", "50%", "-proxies", "198.51.100.0/24,2001:db8::/32", "-leave-out", "date", "-gap", "0",
	}, names...)...)
	require.NoError(t, err)
	lines, sum, err := run(t, j)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{
		"10.5072/a,,,,,,total-dataset-investigations,regular,de,3\n", "10.5072/a,,,,,,unique-dataset-investigations,regular,de,3\n",
		"10.5072/rain,,,,,,total-dataset-investigations,machine,de,1\n", "10.5072/rain,,,,,,unique-dataset-investigations,machine,de,1\n",
		"10.5072/rain,,,,,,total-dataset-requests,machine,de,1\n", "10.5072/rain,,,,,,unique-dataset-requests,machine,de,1\n",
	}, lines)
	assert.Equal(t, map[string]int64{
		"events counted": 4, "double clicks": 0, "events of robots": 1, "events of other months": 0, "events without a dataset": 0,
		"lines about other pages": 1, "lines left out: syntax": 1, "logs that are empty": 1,
	}, sum)

	for _, tt := range []struct {
		name   string
		change func(*job)
		want   string
	}{
		{"a share of all logs together", func(j *job) { j.rules.Tolerance.Share = 0.1 }, "garden"},
		{"no share", func(j *job) { j.rules.Tolerance.Share = 0 }, "cannot be read"},
		{"machines that do not see a table", func(j *job) { j.rules.Paths += "2" }, "paths.csv2"},
		{"nor the countries", func(j *job) { j.rules.GeoIP += "2" }, "countries.mmdb2"},
	} {
		other := j
		tt.change(&other)
		_, _, err := run(t, other)
		assert.ErrorContains(t, err, tt.want, tt.name)
	}
}

// database has a country for 192.0.2.0/24.
func database(t *testing.T, kind string) string {
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: kind, IncludeReservedNetworks: true})
	require.NoError(t, err)
	_, prefix, err := net.ParseCIDR("192.0.2.0/24")
	require.NoError(t, err)
	require.NoError(t, tree.Insert(prefix, mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String("DE")}}))
	var file bytes.Buffer
	_, err = tree.WriteTo(&file)
	require.NoError(t, err)
	return write(t, "countries.mmdb", file.Bytes())
}

// TestADayIsMissing: the table would look the same with a day less.
func TestADayIsMissing(t *testing.T) {
	var log strings.Builder
	for hour := range 31 * 24 {
		if hour/24 != 14 {
			fmt.Fprintf(&log, `{"doi":"10.5072/a","time":"2026-10-%02dT%02d:00:00Z","url":"/a"}`+"\n", 1+hour/24, hour%24)
		}
	}
	j := job{logs: []string{write(t, "events.log", []byte(log.String())), write(t, "another_server.log", []byte(strings.ReplaceAll(log.String(), "2026-10-14", "2026-10-15")))}}
	for gap, want := range map[time.Duration]string{24 * time.Hour: "none from 2026-10-15T00:00:00Z to 2026-10-16T00:00:00Z", 0: ""} {
		j.rules = rules{Month: "2026-10", Zone: "UTC", Gap: gap, Format: "json"}
		_, _, err := run(t, j)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
	}
}

// What cannot be read ends the pipeline, with its place, and there is no table.
func TestFaults(t *testing.T) {
	const good = `{"doi":"10.5072/a","time":"2026-10-14T10:00:00Z","url":"/a"}` + "\n"
	packed := compressed(t, *bytes.NewBufferString(good))
	for _, tt := range []struct {
		log, want string
		block     int64
	}{
		{write(t, "a.jsonl", []byte(good+"{\n")), "a.jsonl, line 2", 0},
		{write(t, "b.jsonl", []byte(good+strings.Replace(good, "10.5072/a", "a", 1))), `b.jsonl, line 2`, 0},
		{write(t, "d.jsonl.gz", packed.Bytes()[:packed.Len()-10]), "d.jsonl.gz", 0},
		{write(t, "e.jsonl", []byte(strings.Repeat(good, 99)+"{\n")), "e.jsonl, line 100", 5},
		{write(t, "f.jsonl", []byte(strings.Repeat(good, 50)+"\ufeff"+good)), "f.jsonl, line 51", 1},
		{write(t, "g.jsonl", []byte(good+strings.Repeat(" ", 1<<20)+"\n"+good+"{\n")), "g.jsonl, line 4", 5000},
		{filepath.Join(t.TempDir(), "missing"), "missing", 0},
	} {
		_, _, err := run(t, job{rules: rules{Month: "2026-10", Zone: "UTC", Format: "json"}, block: tt.block, logs: []string{tt.log, write(t, "good.jsonl", []byte(good))}})
		assert.ErrorContains(t, err, tt.want)
	}
	log := write(t, "good.jsonl", []byte(good))
	_, _, err := run(t, job{rules: rules{Month: "2026-10", Zone: "UTC", Format: "json"}, logs: []string{log, filepath.Join(filepath.Dir(log), "*")}})
	assert.ErrorContains(t, err, "given twice")
}

func TestArguments(t *testing.T) {
	table := func(text string) string { return write(t, "table.csv", []byte(text)) }
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "no logs"},
		{[]string{"-"}, "standard input"},
		{[]string{"-month", "10/2026", "a"}, "-month"},
		{[]string{"-timezone", "Berlin", "a"}, "Berlin"},
		{[]string{"-timezone", "", "a"}, "-timezone is needed"},
		{[]string{"-paths", table("") + "2", "a"}, "table.csv2"},
		{[]string{"-paths", table(""), "a"}, "table.csv: EOF"},
		{[]string{"-paths", table("path,doi\n"), "a"}, "table.csv"},
		{[]string{"-paths", table("path,kind,doi\n"), "a"}, `has the columns ["path" "kind" "doi"]`},
		{[]string{"-paths", table("path,doi,kind\n/a,10.5072/a,requests\n"), "a"}, `line 2: kind is "requests"`},
		{[]string{"-paths", table("path,doi,kind\n/%zz,10.5072/a,request\n"), "a"}, "line 2: "},
		{[]string{"-dois", table("name,doi\n17\n"), "a"}, "line 2: "},
		{[]string{"-geoip", table(""), "a"}, "-geoip: "},
		{[]string{"-geoip", database(t, "GeoLite2-ASN"), "a"}, "GeoLite2-ASN"},
		{[]string{"-log-format", "combined", "a"}, "Paths: are missing"},
		{[]string{"-log-format", "nginx", "a"}, `-log-format is "nginx"`},
		{[]string{"-requests", "a", "a"}, "belong together"},
		{[]string{"-requests", "(", "-investigations", "a", "a"}, "-requests: "},
		{[]string{"-requests", "a", "-investigations", "(", "a"}, "-investigations: "},
		{[]string{"-bad-lines", "2", "a"}, "not a share"},
		{[]string{"-proxies", "192.0.2.1", "a"}, "-proxies"},
		{[]string{"-o", "counts.xlsx", "a"}, "not a file .csv"},
		{[]string{"-o", strings.Replace(write(t, "counts-00001-of-00003.csv", nil), "-00001-of-00003", "", 1), "a"}, "other -shards"},
		{[]string{"-shards", "0", "a"}, "-shards is 0"},
		{[]string{"-parts", "-1", "a"}, "-parts is -1"},
		{[]string{"-untold", "a"}, "not defined: -untold"},
	} {
		_, err := parsed(t, append([]string{"-month", "2026-10", "-timezone", "UTC"}, tt.args...)...)
		assert.ErrorContains(t, err, tt.want, "%q", tt.args)
	}
	_, err := parsed(t, "-month", "2026-10", "-timezone", "UTC", "-paths", table("path,doi,kind\n"), "a")
	require.NoError(t, err, "the patterns are Dataverse's")
}

// parsed is the job of arguments, with Beam's flags beside its own.
func parsed(t *testing.T, args ...string) (j job, err error) {
	flags := flag.NewFlagSet("usagebeam", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flag.VisitAll(func(f *flag.Flag) { flags.Var(f.Value, f.Name, f.Usage) })
	j.addFlags(flags) // a name that Beam has panics
	if err := flags.Parse(args); err != nil {
		return j, err
	}
	j.logs = flags.Args()
	return j, j.check(t.Context())
}

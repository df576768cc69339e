package count

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/send"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

var december = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

var kills = flag.Int("kills", 1, "states of counts in whose making processes are killed")

func TestMain(m *testing.M) {
	shelltest.Main(m, func(s *shell.Shell) *cobra.Command { return newCommand(s, december) })
}

// line is a line as Dataverse writes it; page is a path and a query.
func line(at, address, session, page, doi string) string {
	return strings.Join([]string{
		at, address, session, "-", ":guest", "https://data.example.org" + page, "doi:" + doi, "-", "-", "Mozilla/5.0 (X11; Linux x86_64)",
		"Data of " + doi, "grid", "tbd", "Doe, Jane|Roe, Richard", "2024-05-06T07:08:09Z", "1", "-",
		"https://data.example.org/dataset.xhtml?persistentId=doi:" + doi, "2024",
	}, "\t") + "\n"
}

func view(at, session, doi string) string {
	return line(at, "192.0.2.1", session, "/dataset.xhtml?persistentId=doi:"+doi, doi)
}

func download(at, session, doi string) string {
	return line(at, "192.0.2.1", session, "/api/access/datafile/7", doi)
}

// october are the logs of two servers: three sessions with the dataset abc, one of which
// goes from server to server, and one with xyz.
func october(t *testing.T) []string {
	folder := t.TempDir()
	first := "#Fields: event_time\tclient_ip\tsession_cookie_id\tuser_cookie_id\tuser_id\trequest_url\tidentifier\tfilename\tsize\tuser-agent\ttitle\tpublisher\tpublisher_id\tauthors\tpublication_date\tversion\tother_id\ttarget_url\tpublication_year\n" +
		view("2026-10-14T10:01:00+0000", "s1", "10.5072/FK2/ABC") +
		view("2026-10-14T10:01:20+0000", "s1", "10.5072/FK2/ABC") + // a double click
		download("2026-10-14T10:02:00+0000", "s1", "10.5072/FK2/ABC") +
		strings.ReplaceAll(view("2026-10-14T10:03:00+0000", "s9", "10.5072/FK2/ABC"), "Mozilla/5.0", "Googlebot/2.1")
	second := view("2026-10-14T10:04:00+0000", "s1", "10.5072/FK2/ABC") + view("2026-10-15T10:04:00+0000", "s2", "10.5072/FK2/ABC")
	third := view("2026-10-16T10:04:00+0000", "s3", "10.5072/fk2/xyz") + view("2026-11-01T00:00:00+0000", "s3", "10.5072/fk2/xyz")

	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, second)
	w.Close()
	other, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return []string{
		write(t, folder, "counter_2026-10-14.log", first), write(t, folder, "web2.log.gz", zipped.String()),
		write(t, folder, "web3.log.zst", string(other.EncodeAll([]byte(third), nil))),
	}
}

func write(t *testing.T, folder, name, content string) string {
	t.Helper()
	name = filepath.Join(folder, name)
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// A result is what a run left behind.
type result struct {
	code        int
	out, errors string
}

// runs calls the command in December.
func runs(ctx context.Context, srv *datacitetest.Server, stdin string, args ...string) result {
	return runsAt(ctx, december, srv, stdin, args...)
}

func runsAt(ctx context.Context, now time.Time, srv *datacitetest.Server, stdin string, args ...string) result {
	return does(ctx, srv, stdin, append([]string{"count"}, args...), func(s *shell.Shell) *cobra.Command { return newCommand(s, now) })
}

// sends calls datacite usage send.
func sends(ctx context.Context, srv *datacitetest.Server, stdin string, args ...string) result {
	return does(ctx, srv, stdin, append([]string{"send"}, args...), send.Command)
}

func does(ctx context.Context, srv *datacitetest.Server, stdin string, args []string, command shell.Maker) result {
	var out, notes bytes.Buffer
	env := map[string]string{"DATACITE_CONFIG_DIR": "/datacite-no-settings"}
	if srv != nil {
		env["DATACITE_SERVICE"], env["DATACITE_TOKEN"] = srv.URL, srv.Token(srv.Now().Add(90*24*time.Hour))
	}
	s := &shell.Shell{Args: args, Getenv: func(name string) string { return env[name] }, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &notes}
	s.Config.MaxWait = 5 * time.Millisecond
	code := s.Run(ctx, command)
	return result{code, out.String(), notes.String()}
}

// service is an empty service.
func service(t *testing.T, faults datacitetest.Faults) *datacitetest.Server {
	t.Helper()
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed, Faults: faults})
	return srv
}

var ofOctober = []string{"--month", "2026-10", "--creator", "My Repository"}

func args(more ...string) []string { return append(append([]string{}, ofOctober...), more...) }

// TestFromLogsToAReport goes the way of an administrator: look at the counts, write the
// file for Dataverse, send it, and send it once more.
func TestFromLogsToAReport(t *testing.T) {
	srv, logs := service(t, nil), october(t)

	look := runs(t.Context(), nil, "", args(logs...)...)
	require.Equal(t, 0, look.code, look.errors)
	assert.Equal(t, `  9 lines in 3 files
  1 comments and empty lines
  0 neither investigations nor requests
  0 could not be read
  8 accesses
  1 not from 2026-10-01 to 2026-10-31
  0 without a dataset
  1 by robots
  1 double clicks
  5 counted
  2 datasets
  2 of them without a title or publisher; --describe and --publisher give them
  5 total investigations
  3 unique investigations
  1 total requests
  1 unique requests

First access         Last access          Days without  Hours without  Log
2026-10-14 10:01:00  2026-10-14 10:03:00  30 of 31      743 of 744     FOLDER/counter_2026-10-14.log
2026-10-14 10:04:00  2026-10-15 10:04:00  29 of 31      742 of 744     FOLDER/web2.log.gz
2026-10-16 10:04:00  2026-11-01 00:00:00  30 of 31      743 of 744     FOLDER/web3.log.zst

Most used        Investigations  unique  Requests  unique  Title
10.5072/FK2/ABC  4               2       1         1       Data of 10.5072/FK2/ABC
10.5072/fk2/xyz  1               1       0         0       Data of 10.5072/fk2/xyz

Report of My Repository, 2026-10-01 to 2026-10-31
  not written; --output writes a report (.json) or a table of counts (.csv, .xlsx)
`, strings.ReplaceAll(look.out, filepath.Dir(logs[0]), "FOLDER"))
	assert.Empty(t, look.errors)

	file := filepath.Join(t.TempDir(), "report.json")
	all := append(args(logs...), "--publisher", "My University", "--platform", "My Portal", "--output", file)
	counted := runs(t.Context(), nil, "", all...)
	require.Equal(t, 0, counted.code, counted.errors)
	assert.Contains(t, counted.out, "\n  written to "+file+"\n")
	sent := sends(t.Context(), srv, "", file)
	require.Equal(t, 0, sent.code, sent.errors)

	stored := srv.StoredReports()
	require.Len(t, stored, 1)
	atService, err := stored[0].Report()
	require.NoError(t, err)
	data := shelltest.Read(t, file)
	var inFile reports.Report
	require.NoError(t, json.Unmarshal(data, &inFile))
	assert.Equal(t, inFile.Datasets, atService.Datasets)
	assert.Equal(t, "My University", inFile.Datasets[0].Publisher)
	assert.Equal(t, "My Portal", inFile.Datasets[0].Platform)
	assert.Equal(t, reports.Month(2026, time.October), inFile.Header.ReportingPeriod)
	assert.EqualValues(t, "2026-11-01", inFile.Header.Created)

	requests := shelltest.Writes(srv)
	require.Equal(t, 0, runs(t.Context(), nil, "", all...).code)
	again := sends(t.Context(), srv, "", file)
	require.Equal(t, 0, again.code, again.errors)
	assert.Contains(t, again.out, "sent now       0 of 1 subset")
	assert.Equal(t, requests, shelltest.Writes(srv))
	same := shelltest.Read(t, file)
	assert.Equal(t, string(data), string(same))

	logs[0], logs[2] = logs[2], logs[0]
	require.NoError(t, os.Remove(file))
	turned := runs(t.Context(), nil, "", append(args(logs...), "--publisher", "My University", "--platform", "My Portal", "--output", file)...)
	require.Equal(t, 0, turned.code, turned.errors)
	same = shelltest.Read(t, file)
	assert.Equal(t, string(data), string(same), "the order of files changes nothing")
}

// TestDroppedDatasets: a corrected report lacks datasets that the stored one has. Their
// records would continue to show the old numbers, of which nobody would know.
func TestDroppedDatasets(t *testing.T) {
	const datasets = 15 // with two numbers each, more than are shown
	one, all := view("2026-10-14T10:01:00Z", "s1", "10.5072/stays"), ""
	for i := range datasets {
		at := fmt.Sprintf("2026-10-14T10:%02d", i)
		all += view(at+":00Z", "s2", fmt.Sprint("10.5072/gone", i)) + download(at+":50Z", "s2", fmt.Sprint("10.5072/gone", i))
	}
	for _, tt := range []struct {
		more             []string
		warned           int
		prints, suppress string
	}{
		{nil, 20, "\n  kept           30 numbers of earlier versions, which DOI records continue to show; run it again with --zero-dropped to remove them", "zeros"},
		{[]string{"--zero-dropped"}, 0, "\n  zeros          15 datasets with the count 0, which earlier versions had\n", "kept"},
		{[]string{"--quiet"}, 1, "", "stored"}, // not hidden: nobody else notices them
	} {
		srv := service(t, nil)
		pipe := func(log string, more ...string) result { // datacite usage count … | datacite usage send -
			counted := runs(t.Context(), nil, log, args("--publisher", "My University", "--output", "-", "-")...)
			require.Equal(t, 0, counted.code, counted.errors)
			return sends(t.Context(), srv, counted.out, append(more, "-")...)
		}
		first := pipe(one + all)
		require.Equal(t, 0, first.code, first.errors)
		assert.NotContains(t, first.errors, "warning")

		second := pipe(one, append(tt.more, "--allow-lower")...)
		require.Equal(t, 0, second.code, second.errors)
		assert.Contains(t, second.out, tt.prints)
		assert.NotContains(t, second.out, tt.suppress)
		assert.Equal(t, tt.warned, strings.Count(second.errors, "warning: "), second.errors)
		switch tt.warned {
		case 1:
			assert.Contains(t, second.errors, "warning: kept: 30 numbers")
		case 20:
			assert.Contains(t, second.errors, "of 10.5072/gone0 that the stored report has; its record continues to show 1 for 2026-10")
			assert.Contains(t, second.errors, "warnings: 30 in all, of which 20 are shown\n")
		}
	}
}

// TestAReportThatHasLess: the logs of a server are missing, which nobody sees in them alone.
func TestAReportThatHasLess(t *testing.T) {
	srv, folder := service(t, nil), t.TempDir()
	web1 := write(t, folder, "web1.log", hourly(all, "10.5072/a"))
	web2 := write(t, folder, "web2.log", hourly(all, "10.5072/a", "10.5072/b"))
	report := filepath.Join(folder, "report.json")
	count := []string{"--month", "2026-10", "--creator", "Mine", "--publisher", "P", "--quiet", "--output", report}
	require.Equal(t, result{}, runs(t.Context(), nil, "", append(count, web1, web2)...))
	require.Equal(t, result{}, sends(t.Context(), srv, "", "--quiet", report))
	requests := shelltest.Writes(srv)
	require.Equal(t, result{}, runs(t.Context(), nil, "", append(count, web1)...))
	less := sends(t.Context(), srv, "", "--quiet", report)
	assert.Equal(t, 1, less.code)
	assert.Equal(t, "datacite: the stored report has 2 counts that DOI records show, and this one has less in 1; nothing was sent\n"+
		"  10.5072/b, unique-dataset-investigations: 0, not 31\nA log may have been missing when it was counted; if this is the correction, add --allow-lower.\n", less.errors)
	assert.Equal(t, requests, shelltest.Writes(srv))
	meant := sends(t.Context(), srv, "", "--allow-lower", report)
	assert.Equal(t, 0, meant.code, meant.errors)
	assert.Greater(t, shelltest.Writes(srv), requests)
}

// TestQuiet: a run by cron prints nothing if all goes well, except the report itself.
func TestQuiet(t *testing.T) {
	good := view("2026-10-14T10:01:00Z", "s1", "10.5072/a")
	done := runs(t.Context(), nil, good, args("-", "--quiet", "--output", "-")...)
	assert.Equal(t, 0, done.code)
	assert.True(t, json.Valid([]byte(done.out)), done.out)
	assert.Empty(t, done.errors)
	log := write(t, t.TempDir(), "counter.log", good+"x\n"+strings.Repeat(good, 98))
	some := runs(t.Context(), nil, "", args(log, "--quiet", "--bad-lines", "leave-out", "--output", "-")...)
	assert.Equal(t, 0, some.code)
	assert.Equal(t, "warning: 1 line of 100 left out, since they cannot be read\n  syntax: 1 line\n    "+log+", line 2: fields are 1, not 19 separated by tabs\n", some.errors)
	wrong := runs(t.Context(), nil, "", args(log, "--quiet")...)
	assert.Equal(t, 2, wrong.code)
	assert.Contains(t, wrong.errors, "line 2: fields are 1")
}

// TestOutputsThatAreNotPlainFiles: links stay, with a target or before there is one, and a
// pipe is written to, not replaced.
func TestOutputsThatAreNotPlainFiles(t *testing.T) {
	log, folder, other := view("2026-10-14T10:01:00Z", "s1", "10.5072/a"), t.TempDir(), t.TempDir()
	write(t, other, "old.json", "an older report")
	require.NoError(t, os.Mkdir(filepath.Join(other, "sub"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(other, "sub"), filepath.Join(folder, "sub")))
	for link, to := range map[string]string{
		"old": filepath.Join(other, "old.json"), "new": filepath.Join(other, "new.json"), "twice": "new2", "new2": "new.json", "sub/up": "../up.json",
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(folder, link)))
	}
	for link, target := range map[string]string{
		"old": other + "/old.json", "new": other + "/new.json", "twice": folder + "/new.json", "sub/up": other + "/up.json",
	} {
		done := runs(t.Context(), nil, log, args("--output", filepath.Join(folder, link), "-")...)
		require.Equal(t, 0, done.code, done.errors)
		info, err := os.Lstat(filepath.Join(folder, link))
		require.NoError(t, err)
		assert.Equal(t, fs.ModeSymlink, info.Mode().Type(), link)
		data := shelltest.Read(t, target)
		assert.True(t, json.Valid(data), link)
	}
	require.NoError(t, os.Symlink("round", filepath.Join(folder, "round")))
	round := runs(t.Context(), nil, log, args("--output", filepath.Join(folder, "round"), "-")...)
	assert.Equal(t, 2, round.code)
	assert.Contains(t, round.errors, "too many levels of symbolic links")
	into := runs(t.Context(), nil, log, args("--output", folder, "-")...)
	assert.Equal(t, 2, into.code)
	assert.Contains(t, into.errors, folder+": is a folder; give the name of a file")

	if runtime.GOOS != "linux" {
		t.Skip("pipes have no name")
	}
	read, end, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	done := runs(t.Context(), nil, log, args("--output", fmt.Sprint("/dev/fd/", end.Fd()), "-")...)
	require.NoError(t, end.Close())
	require.Equal(t, 0, done.code, done.errors)
	data, err := io.ReadAll(read)
	require.NoError(t, err)
	assert.True(t, json.Valid(data))
}

// TestTheModeOfTheOutputStays: a report that only a group may read is not opened to all.
func TestTheModeOfTheOutputStays(t *testing.T) {
	file := write(t, t.TempDir(), "report.json", "{}")
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o664} {
		require.NoError(t, os.Chmod(file, mode))
		done := runs(t.Context(), nil, view("2026-10-14T10:01:00Z", "s1", "10.5072/a"), args("--output", file, "-")...)
		require.Equal(t, 0, done.code, done.errors)
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode())
	}
}

// TestTheNumbersOfARecord: after the report is
// sent, the record of the dataset shows the visitors of the month and their downloads.
func TestTheNumbersOfARecord(t *testing.T) {
	srv := service(t, nil)
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/example","titles":[{"title":"Glacier length"}],"publisher":"Example Repository","publicationYear":2026,"url":"https://example.org/","creators":[{"name":"Lovelace, Ada"}],"state":"findable"}`)))
	counted := runs(t.Context(), nil, "", "--month", "2026-10", "--creator", "Example Repository", "--output", "-", "testdata/counter_2026-10-14.log")
	require.Equal(t, 0, counted.code, counted.errors)
	for _, want := range []string{"10 accesses", "1 by robots", "1 double clicks", "10.5072/example    7               4       4         3       Glacier length"} {
		assert.Contains(t, counted.errors, want)
	}
	sent := sends(t.Context(), srv, counted.out, "-")
	require.Equal(t, 0, sent.code, sent.errors)
	srv.ProcessUsage()
	response, err := http.Get(srv.URL + "/dois/10.5072/example")
	require.NoError(t, err)
	defer response.Body.Close()
	var record struct {
		Data struct {
			Attributes struct {
				ViewCount, DownloadCount int
				ViewsOverTime            []struct {
					YearMonth string
					Total     int
				}
			}
		}
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&record))
	shown := record.Data.Attributes
	assert.Equal(t, 3, shown.ViewCount)
	assert.Equal(t, 2, shown.DownloadCount)
	require.Len(t, shown.ViewsOverTime, 1)
	assert.Equal(t, "2026-10", shown.ViewsOverTime[0].YearMonth)
}

// TestTables: a table of the counts makes the report that the report file makes.
func TestTables(t *testing.T) {
	given := append(args(october(t)...), "--publisher", "My University", "--geoip", database(t), "--output")
	stored := func(file string, more ...string) (all []reports.Dataset) {
		srv := service(t, nil)
		counted := runs(t.Context(), nil, "", append(given, file)...)
		require.Equal(t, 0, counted.code, counted.errors)
		sent := sends(t.Context(), srv, "", append(more, file)...)
		require.Equal(t, 0, sent.code, sent.errors)
		report, err := srv.StoredReports()[0].Report()
		require.NoError(t, err)
		for _, d := range report.Datasets {
			d.PublisherID, d.Contributors, d.Dates = nil, nil, nil // there are no columns for them
			d.DatasetID[0].Value = strings.ToLower(d.DatasetID[0].Value)
			all = append(all, d)
		}
		return all
	}
	want := stored(filepath.Join(t.TempDir(), "report.json"))
	require.Len(t, want, 2)
	for _, name := range []string{"counts.csv", "counts.XLSX"} {
		got := stored(filepath.Join(t.TempDir(), name), "--creator", "My Repository", "--month", "2026-10")
		assert.Equal(t, want, got, name)
	}
}

// TestSummaryForPrograms is one object.
func TestSummaryForPrograms(t *testing.T) {
	done := runs(t.Context(), nil, "", append(args(october(t)...), "--json", "--quiet")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Empty(t, done.errors)
	assert.Equal(t, 1, strings.Count(done.out, "\n"))
	var s summary
	require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(strings.ReplaceAll(done.out, `"counts":{`, `"_":{`), "\n", "")), &s))
	assert.EqualValues(t, 9, s.Lines)
	assert.EqualValues(t, s.Lines, s.Comments+s.Other+s.Faulty+s.Accesses)
	assert.EqualValues(t, s.Accesses, s.OutsidePeriod+s.NoDataset+s.Robots+s.DoubleClicks+s.Counted)
	assert.Contains(t, done.out, `"mostUsed":[{"doi":"10.5072/FK2/ABC","title":"Data of 10.5072/FK2/ABC","counts":{"totalInvestigations":4,"uniqueInvestigations":2,"totalRequests":1,"uniqueRequests":1}}`)
	require.Len(t, s.Servers, 3)
	assert.Equal(t, 30, s.Servers[0].EmptyDays)
}

// TestDataverseReadsTheReport does what parseSushiReport of Dataverse does
// (DatasetMetricsServiceBean.java): it takes the first id, and wants integers.
func TestDataverseReadsTheReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	done := runs(t.Context(), nil, "", append(args(october(t)...), "--output", file, "--geoip", database(t))...)
	require.Equal(t, 0, done.code, done.errors)
	var report struct {
		Datasets []struct {
			ID          []struct{ Type, Value string } `json:"dataset-id"`
			Performance []struct {
				Period   map[string]string
				Instance []struct {
					Metric    string         `json:"metric-type"`
					Access    string         `json:"access-method"`
					Count     int            `json:"count"`
					Countries map[string]int `json:"country-counts"`
				}
			}
		} `json:"report-datasets"`
	}
	data := shelltest.Read(t, file)
	require.NoError(t, json.Unmarshal(data, &report))
	metrics := map[string]int{}
	for _, d := range report.Datasets {
		for _, p := range d.Performance {
			for _, i := range p.Instance {
				left := i.Count
				for country, n := range i.Countries {
					metrics[d.ID[0].Type+":"+d.ID[0].Value+" "+p.Period["begin-date"]+" "+country+" "+i.Access+" "+i.Metric] += n
					left -= n
				}
				assert.Zero(t, left)
			}
		}
	}
	assert.Equal(t, map[string]int{
		"doi:10.5072/FK2/ABC 2026-10-01 de regular total-dataset-investigations":  4,
		"doi:10.5072/FK2/ABC 2026-10-01 de regular unique-dataset-investigations": 2,
		"doi:10.5072/FK2/ABC 2026-10-01 de regular total-dataset-requests":        1,
		"doi:10.5072/FK2/ABC 2026-10-01 de regular unique-dataset-requests":       1,
		"doi:10.5072/fk2/xyz 2026-10-01 de regular total-dataset-investigations":  1,
		"doi:10.5072/fk2/xyz 2026-10-01 de regular unique-dataset-investigations": 1,
	}, metrics)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.EqualValues(t, 0o644, info.Mode(), "Dataverse runs as another user")
}

func TestEventsAsJSON(t *testing.T) {
	done := runs(t.Context(), nil, `{"doi":"10.5072/a","time":"2026-10-31T23:30:00Z","url":"/a","request":true,"user":"jane"}`+"\n",
		args("--log-format", "json", "--zone", "America/New_York", "-")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Contains(t, done.out, "1 unique requests")
}

// TestListsOfAgents: tools that researchers use are no robots, whatever the list says.
func TestListsOfAgents(t *testing.T) {
	folder := t.TempDir()
	robots, machines := write(t, folder, "robots.txt", "Safari\ncurl\n"), write(t, folder, "machines.json", `[{"pattern":"opera"}]`)
	var log strings.Builder
	for i, agent := range []string{"safari", "curl/8", "Opera"} {
		log.WriteString(strings.ReplaceAll(view("2026-10-14T10:01:00Z", fmt.Sprint(i), "10.5072/a"), "Mozilla/5.0 (X11; Linux x86_64)", agent))
	}
	done := runs(t.Context(), nil, log.String(), args("--robots", robots, "--machines", machines, "--output", "-", "-")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Contains(t, done.errors, "1 by robots")
	assert.Equal(t, 2, strings.Count(done.out, `"machine"`), done.out) // the total and the unique investigations of Opera
	assert.Equal(t, 2, strings.Count(done.out, `"regular"`), done.out) // those of curl, which the list of machines does not have
}

// TestAClockThatJumpsBack: the time of each line counts, not their order.
func TestAClockThatJumpsBack(t *testing.T) {
	done := runs(t.Context(), nil, view("2026-10-14T10:01:00Z", "s1", "10.5072/a")+view("2026-10-14T10:00:50Z", "s1", "10.5072/a")+view("2026-10-14T09:00:00Z", "s1", "10.5072/a"), args("-")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Contains(t, done.out, "1 double clicks")
	assert.Contains(t, done.out, "2 counted")
}

// TestTheZoneOfTheLines: west of Greenwich the evenings of the last day are of the next month
// in UTC. Nobody means that who does not say so.
func TestTheZoneOfTheLines(t *testing.T) {
	var log strings.Builder
	newYork, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	from, until := time.Date(2026, 10, 1, 0, 10, 0, 0, newYork), time.Date(2026, 11, 1, 0, 0, 0, 0, newYork)
	for at := from; at.Before(until); at = at.Add(time.Hour) {
		log.WriteString(view(at.Format("2006-01-02T15:04:05-0700"), "s", "10.5072/a"))
	}
	unsaid := runs(t.Context(), nil, log.String(), args("--quiet", "-")...)
	assert.Equal(t, 2, unsaid.code)
	assert.Contains(t, unsaid.errors, "Lines have the offset -04:00 from UTC, 744 of them, this one first: name the zone of the repository, such as America/New_York; or -04:00; or UTC, in which the month begins and ends at another hour; --zone names it\n")
	for zone, want := range map[string]string{"America/New_York": "744 counted", "-04:00": "744 counted", "UTC": "740 counted"} {
		done := runs(t.Context(), nil, log.String(), args("--zone", zone, "-")...)
		require.Equal(t, 0, done.code, done.errors)
		assert.Contains(t, done.out, want)
		assert.Equal(t, zone == "UTC", strings.Contains(done.errors, "warning: 744 lines have the offset -04:00 from UTC, which UTC never has in this month; is --zone right? The first is in standard input, line 1\n"))
	}
	winter := strings.ReplaceAll(log.String(), "-0400", "-0500") // a server without summer time
	done := runs(t.Context(), nil, winter, args("--zone", "America/New_York", "--gap", "0", "-")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.NotContains(t, done.errors, "warning:")
	july := []string{"--month", "2026-07", "--creator", "My Repository", "--zone", "America/New_York", "--gap", "0", "--quiet", "-"}
	done = runs(t.Context(), nil, strings.ReplaceAll(winter, "2026-10-", "2026-07-"), july...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Contains(t, done.errors, "warning: 744 lines have the offset -05:00 from UTC, which America/New_York never has in this month")
}

// TestWhenTheServiceFails: titles are missing, and nothing is written.
func TestWhenTheServiceFails(t *testing.T) {
	logs := october(t)
	srv := service(t, func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: datacitetest.Status, Status: http.StatusNotImplemented}
	})
	broken := runs(t.Context(), srv, "", append(args(logs...), "--describe", "service", "--output", filepath.Join(t.TempDir(), "report.json"))...)
	assert.Equal(t, 3, broken.code, broken.errors)
	assert.Contains(t, broken.errors, "--describe: ")
	assert.Empty(t, broken.out)
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("Ctrl-C"))
	done := runs(ctx, nil, "", args(october(t)...)...)
	assert.Equal(t, 130, done.code)
	assert.Equal(t, "datacite: interrupted; nothing was written; run the same command again\n", done.errors)
	assert.Empty(t, done.out)
}

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
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
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
		at, address, session, "-", ":guest", "https://data.example.org" + page, "doi:" + doi, "-", "-",
		"Mozilla/5.0 (X11; Linux x86_64)",
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
	second := view("2026-10-14T10:04:00+0000", "s1",
		"10.5072/FK2/ABC") + view("2026-10-15T10:04:00+0000", "s2", "10.5072/FK2/ABC")
	third := view("2026-10-16T10:04:00+0000", "s3",
		"10.5072/fk2/xyz") + view("2026-11-01T00:00:00+0000", "s3", "10.5072/fk2/xyz")

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
	env := map[string]string{"DATACITE_CONFIG_DIR": "/datacite-no-settings"}
	if srv != nil {
		env["DATACITE_SERVICE"] = srv.URL
	}
	var out, notes bytes.Buffer
	s := &shell.Shell{Args: append([]string{"count"}, args...), Getenv: func(name string) string {
		return env[name]
	}, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &notes}
	s.Config.MaxWait = 5 * time.Millisecond
	code := s.Run(ctx, func(s *shell.Shell) *cobra.Command { return newCommand(s, now) })
	return result{code, out.String(), notes.String()}
}

// service has what no request changes.
func service(t *testing.T, faults datacitetest.Faults) *datacitetest.Server {
	t.Helper()
	return shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed, Faults: faults})
}

var ofOctober = []string{"--month", "2026-10", "--creator", "My Repository"}

func args(more ...string) []string { return append(append([]string{}, ofOctober...), more...) }

// TestFromLogsToAReport goes the way of an administrator: look at the counts, and write the file for Dataverse. The
// same logs make the same file.
func TestFromLogsToAReport(t *testing.T) {
	logs := october(t)
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
  3 views on DOI records: unique investigations by people, not programs
  1 downloads on DOI records: unique requests by people

First access         Last access          Days without  Hours without  Log
2026-10-14 10:01:00  2026-10-14 10:03:00  30 of 31      743 of 744     FOLDER/counter_2026-10-14.log
2026-10-14 10:04:00  2026-10-15 10:04:00  29 of 31      742 of 744     FOLDER/web2.log.gz
2026-10-16 10:04:00  2026-11-01 00:00:00  30 of 31      743 of 744     FOLDER/web3.log.zst

Most used        Investigations  unique  Requests  unique  Title
10.5072/FK2/ABC  4               2       1         1       Data of 10.5072/FK2/ABC
10.5072/fk2/xyz  1               1       0         0       Data of 10.5072/fk2/xyz

Report of My Repository, 2026-10-01 to 2026-10-31
  not written; --output writes a report (.json) or a table of counts (.csv, .xlsx)
`, strings.ReplaceAll(shelltest.Slashes(look.out), filepath.ToSlash(filepath.Dir(logs[0])), "FOLDER"))
	assert.Empty(t, look.errors)

	file := filepath.Join(t.TempDir(), "report.json")
	all := append(args(logs...), "--publisher", "My University", "--platform", "My Portal", "--output", file)
	counted := runs(t.Context(), nil, "", all...)
	require.Equal(t, 0, counted.code, counted.errors)
	assert.Contains(t, counted.out, "\n  written to "+file+"\n")
	data := shelltest.Read(t, file)
	var inFile reports.Report
	require.NoError(t, json.Unmarshal(data, &inFile))
	assert.Equal(t, "My University", inFile.Datasets[0].Publisher)
	assert.Equal(t, "My Portal", inFile.Datasets[0].Platform)
	assert.Equal(t, reports.Month(2026, time.October), inFile.Header.ReportingPeriod)
	assert.EqualValues(t, "2026-11-01", inFile.Header.Created)

	logs[0], logs[2] = logs[2], logs[0]
	turned := runs(t.Context(), nil, "",
		append(args(logs...), "--publisher", "My University", "--platform", "My Portal", "--output", file)...)
	require.Equal(t, 0, turned.code, turned.errors)
	same := shelltest.Read(t, file)
	assert.Equal(t, string(data), string(same), "the order of files changes nothing")
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
	assert.Equal(t, "warning: 1 line of 100 left out, since they cannot be read\n  syntax: 1 line\n    "+log+
		", line 2: fields are 1, not 19 separated by tabs\n", some.errors)
	wrong := runs(t.Context(), nil, "", args(log, "--quiet")...)
	assert.Equal(t, 2, wrong.code)
	assert.Contains(t, wrong.errors, "line 2: fields are 1")
}

// TestSummaryForPrograms is one object.
func TestSummaryForPrograms(t *testing.T) {
	done := runs(t.Context(), nil, "", append(args(october(t)...), "--json", "--quiet")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Empty(t, done.errors)
	assert.Equal(t, 1, strings.Count(done.out, "\n"))
	var s summary
	require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(strings.ReplaceAll(done.out, `"counts":{`, `"_":{`), "\n",
		"")), &s))
	assert.EqualValues(t, 9, s.Lines)
	assert.EqualValues(t, s.Lines, s.Comments+s.Other+s.Faulty+s.Accesses)
	assert.EqualValues(t, s.Accesses, s.OutsidePeriod+s.NoDataset+s.Robots+s.DoubleClicks+s.Counted)
	assert.Contains(t, done.out, `"mostUsed":[{"doi":"10.5072/FK2/ABC","title":"Data of `+
		`10.5072/FK2/ABC","counts":{"totalInvestigations":4,"uniqueInvestigations":2,"totalRequests":1,"uniqueRequests":1}}`)
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
	if !shelltest.IsWindows { // which has other rights
		assert.EqualValues(t, 0o644, info.Mode(), "Dataverse runs as another user")
	}
}

func TestEventsAsJSON(t *testing.T) {
	done := runs(t.Context(), nil, `{"doi":"10.5072/a","time":"2026-10-31T23:30:00Z","url":"/a","request":true,`+
		`"user":"jane"}`+"\n",
		args("--log-format", "json", "--zone", "America/New_York", "-")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Contains(t, done.out, "1 unique requests")
}

// TestListsOfAgents: tools that researchers use are no robots, whatever the list says.
func TestListsOfAgents(t *testing.T) {
	folder := t.TempDir()
	robots, machines := write(t, folder, "robots.txt",
		"Safari\ncurl\n"), write(t, folder, "machines.json", `[{"pattern":"opera"}]`)
	var log strings.Builder
	for i, agent := range []string{"safari", "curl/8", "Opera"} {
		log.WriteString(strings.ReplaceAll(view("2026-10-14T10:01:00Z", fmt.Sprint(i), "10.5072/a"),
			"Mozilla/5.0 (X11; Linux x86_64)", agent))
	}
	done := runs(t.Context(), nil, log.String(), args("--robots", robots, "--machines", machines, "--output", "-", "-")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Contains(t, done.errors, "1 by robots")
	assert.Equal(t, 2, strings.Count(done.out, `"machine"`), done.out) // the total and the unique investigations of Opera
	// those of curl, which the list of machines does not have
	assert.Equal(t, 2, strings.Count(done.out, `"regular"`), done.out)
}

// TestAClockThatJumpsBack: the time of each line counts, not their order.
func TestAClockThatJumpsBack(t *testing.T) {
	done := runs(t.Context(), nil, view("2026-10-14T10:01:00Z", "s1",
		"10.5072/a")+view("2026-10-14T10:00:50Z", "s1",
		"10.5072/a")+view("2026-10-14T09:00:00Z", "s1", "10.5072/a"), args("-")...)
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
	assert.Contains(t, unsaid.errors,
		"Lines have the offset -04:00 from UTC, 744 of them, this one first: name the zone of the repository, such as "+
			"America/New_York; or -04:00; or UTC, in which the month begins and ends at another hour; --zone names it\n")
	for zone, want := range map[string]string{"America/New_York": "744 counted", "-04:00": "744 counted",
		"UTC": "740 counted"} {
		done := runs(t.Context(), nil, log.String(), args("--zone", zone, "-")...)
		require.Equal(t, 0, done.code, done.errors)
		assert.Contains(t, done.out, want)
		assert.Equal(t, zone == "UTC", strings.Contains(done.errors,
			"warning: the offset of 744 lines is -04:00 from UTC, which UTC never has in this month; is --zone right? The "+
				"first is in standard input, line 1\n"))
	}
	winter := strings.ReplaceAll(log.String(), "-0400", "-0500") // a server without summer time
	done := runs(t.Context(), nil, winter, args("--zone", "America/New_York", "--gap", "0", "-")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.NotContains(t, done.errors, "warning:")
	july := []string{"--month", "2026-07", "--creator", "My Repository", "--zone", "America/New_York", "--gap", "0",
		"--quiet", "-"}
	done = runs(t.Context(), nil, strings.ReplaceAll(winter, "2026-10-", "2026-07-"), july...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Contains(t, done.errors, "warning: the offset of 744 lines is -05:00 from UTC, which America/New_York never "+
		"has in this month")
}

// TestWhenTheServiceFails: titles are missing, and nothing is written.
func TestWhenTheServiceFails(t *testing.T) {
	logs := october(t)
	srv := service(t, func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: http.StatusNotImplemented}
	})
	broken := runs(t.Context(), srv, "",
		append(args(logs...), "--describe", "service", "--output", filepath.Join(t.TempDir(), "report.json"))...)
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

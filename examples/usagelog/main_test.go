package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/examples/usagelog/geoip"
	"github.com/datacite-go/datacite-go/reports"
)

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

// runs calls the program in December.
func runs(ctx context.Context, srv *datacitetest.Server, stdin string, args ...string) result {
	return runsAt(ctx, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), srv, stdin, args...)
}

func runsAt(ctx context.Context, now time.Time, srv *datacitetest.Server, stdin string, args ...string) result {
	var out, notes bytes.Buffer
	p := program{stdin: strings.NewReader(stdin), stdout: &out, stderr: &notes, now: func() time.Time { return now }}
	p.getenv = func(name string) string {
		if name == "DATACITE_TOKEN" && srv != nil {
			return srv.Token(srv.Now().Add(24 * time.Hour))
		}
		return ""
	}
	code := p.run(ctx, args)
	return result{code, out.String(), notes.String()}
}

// service is an empty service.
func service(t *testing.T, faults datacitetest.Faults) *datacitetest.Server {
	t.Helper()
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, Faults: faults})
	t.Cleanup(srv.Close)
	return srv
}

var ofOctober = []string{"-month", "2026-10", "-name", "My Repository"}

func args(more ...string) []string { return append(append([]string{}, ofOctober...), more...) }

// TestFromLogsToAReport goes the way of an administrator: look at the counts, write the
// file for Dataverse, submit, and submit once more.
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
  2 of them without a title or publisher; -describe and -publisher give them
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
  neither written nor sent; -o writes it, -send submits it
`, strings.ReplaceAll(look.out, filepath.Dir(logs[0]), "FOLDER"))
	assert.Empty(t, look.errors)

	file := filepath.Join(t.TempDir(), "report.json")
	all := append(args(logs...), "-publisher", "My University", "-platform", "My Portal", "-o", file, "-send", "-api", srv.URL)
	sent := runs(t.Context(), srv, "", all...)
	require.Equal(t, 0, sent.code, sent.errors)
	assert.Contains(t, sent.out, "  written to "+file+"\n  stored as report ")

	stored := srv.StoredReports()
	require.Len(t, stored, 1)
	atService, err := stored[0].Report()
	require.NoError(t, err)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var inFile reports.Report
	require.NoError(t, json.Unmarshal(data, &inFile))
	assert.Equal(t, inFile.Datasets, atService.Datasets)
	assert.Equal(t, "My University", inFile.Datasets[0].Publisher)
	assert.Equal(t, "My Portal", inFile.Datasets[0].Platform)
	assert.Equal(t, reports.Month(2026, time.October), inFile.Header.ReportingPeriod)
	assert.EqualValues(t, "2026-11-01", inFile.Header.Created)

	requests := writes(srv)
	again := runs(t.Context(), srv, "", all...)
	require.Equal(t, 0, again.code, again.errors)
	assert.Contains(t, again.out, "stored before as report "+stored[0].ID)
	assert.Equal(t, requests, writes(srv))
	same, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(data), string(same))

	logs[0], logs[2] = logs[2], logs[0]
	require.NoError(t, os.Remove(file))
	turned := runs(t.Context(), nil, "", append(args(logs...), "-publisher", "My University", "-platform", "My Portal", "-o", file)...)
	require.Equal(t, 0, turned.code, turned.errors)
	same, err = os.ReadFile(file)
	require.NoError(t, err)
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
		{nil, 20, "\n  kept: 30 numbers of earlier versions, which DOI records continue to show; run it again with -dropped zero to remove them", "zeros"},
		{[]string{"-dropped", "zero"}, 0, "\n  zeros: 15 datasets with the count 0, which earlier versions had\n", "kept"},
		{[]string{"-quiet"}, 1, "", "stored"}, // not hidden: nobody else notices them
	} {
		srv := service(t, nil)
		send := append(args("-publisher", "My University", "-send", "-api", srv.URL, "-allow-lower", "-"), tt.more...)
		first := runs(t.Context(), srv, one+all, send...)
		require.Equal(t, 0, first.code, first.errors)
		assert.NotContains(t, first.errors, "warning")

		second := runs(t.Context(), srv, one, send...)
		require.Equal(t, 0, second.code, second.errors)
		assert.Contains(t, second.out, tt.prints)
		assert.NotContains(t, second.out, tt.suppress)
		assert.Equal(t, tt.warned, strings.Count(second.errors, "warning: "), second.errors)
		if tt.warned == 0 {
			assert.Empty(t, second.errors)
			continue
		}
		if tt.warned == 1 {
			assert.Contains(t, second.errors, "warning: kept: 30 numbers")
			continue
		}
		assert.Contains(t, second.errors, "of 10.5072/gone0 that the stored report has; its record continues to show 1 for 2026-10")
		assert.Contains(t, second.errors, "warnings: 30 in all, of which 20 are shown\n")
	}
}

// hourly is the log of a server with an access in each hour of some days of October.
func hourly(days func(day int) bool, dois ...string) string {
	var b strings.Builder
	for at := time.Date(2026, 10, 1, 0, 30, 0, 0, time.UTC); at.Month() == time.October; at = at.Add(time.Hour) {
		for i, doi := range dois {
			if days(at.Day()) {
				b.WriteString(view(at.Format(time.RFC3339), fmt.Sprint("s", i), doi))
			}
		}
	}
	return b.String()
}

func all(int) bool                  { return true }
func until(last int) func(int) bool { return func(day int) bool { return day <= last } }

// TestTheRunningMonth is counted until yesterday, and the report says so, until the month is over.
func TestTheRunningMonth(t *testing.T) {
	srv, folder := service(t, nil), t.TempDir()
	log := write(t, folder, "counter.log", hourly(all, "10.5072/a"))
	file := filepath.Join(folder, "report.json")
	for _, tt := range []struct {
		today, zone string
		more        []string
		last        reports.Date
		counted     int64
	}{
		{today: "2026-10-02T00:00:00Z", last: "2026-10-01", counted: 24},
		{today: "2026-10-23T12:00:00Z", last: "2026-10-22", counted: 22 * 24},
		{today: "2026-10-23T02:00:00Z", zone: "-05:00", last: "2026-10-21", counted: 21 * 24},
		{today: "2026-10-23T12:00:00Z", more: []string{"-until", "2026-10-14"}, last: "2026-10-14", counted: 14 * 24},
		{today: "2026-10-31T12:00:00Z", last: "2026-10-30", counted: 30 * 24},
		{today: "2026-11-01T00:00:00Z", last: "2026-10-31", counted: 31 * 24},
		{today: "2026-11-24T00:00:00Z", more: []string{"-until", "2026-10-31"}, last: "2026-10-31", counted: 31 * 24},
	} {
		now, err := time.Parse(time.RFC3339, tt.today)
		require.NoError(t, err)
		done := runsAt(t.Context(), now, srv, "", append([]string{"-month", "2026-10", "-name", "Mine", "-publisher", "P", "-zone", cmp.Or(tt.zone, "UTC"), "-o", file, "-send", "-api", srv.URL, "-allow-lower", log}, tt.more...)...)
		require.Equal(t, 0, done.code, done.errors)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var report reports.Report
		require.NoError(t, json.Unmarshal(data, &report))
		period := reports.Period{BeginDate: "2026-10-01", EndDate: tt.last}
		assert.Equal(t, period, report.Header.ReportingPeriod)
		assert.Equal(t, period, report.Datasets[0].Performance[0].Period)
		assert.Equal(t, tt.counted, report.Datasets[0].Performance[0].Instance[0].Count)
		stored, err := srv.StoredReports()[0].Report()
		require.NoError(t, err)
		assert.Equal(t, period, stored.Header.ReportingPeriod)
		assert.Equal(t, report.Datasets, stored.Datasets)
		if tt.last == "2026-10-31" {
			assert.Empty(t, report.Header.Exceptions)
			assert.NotContains(t, done.out, "part of the month")
			continue
		}
		assert.Equal(t, reports.CodePartial, report.Header.Exceptions[0].Code)
		assert.Equal(t, reports.CodePartial, stored.Header.Exceptions[0].Code)
		assert.Contains(t, done.out, "Report of Mine, 2026-10-01 to "+string(tt.last)+", a part of the month (exception 3040)\n")
	}
	assert.Len(t, srv.StoredReports(), 1)
	for today, more := range map[string][]string{
		"no day of 2026-10 is over: today is 2026-10-01":  {"2026-10-01T12:00:00Z", ""},
		"no day of 2026-10 is over: today is 2026-09-30":  {"2026-09-30T12:00:00Z", ""},
		"-until is 2026-10-23, which is not over":         {"2026-10-23T12:00:00Z", "2026-10-23"},
		`-until is "2026-11-01", not a day from`:          {"2026-11-23T12:00:00Z", "2026-11-01"},
		`-until is "2026-10-32", not a day from`:          {"2026-11-23T12:00:00Z", "2026-10-32"},
		`-until is "14", not a day from 2026-10-01 to 20`: {"2026-11-23T12:00:00Z", "14"},
	} {
		now, err := time.Parse(time.RFC3339, more[0])
		require.NoError(t, err)
		wrong := runsAt(t.Context(), now, nil, "", "-month", "2026-10", "-name", "Mine", "-until", cmp.Or(more[1], "2026-10-01"), log)
		assert.Equal(t, 2, wrong.code)
		assert.Contains(t, wrong.errors, today)
	}
}

// TestLogsThatAreMissing: a report with a day less looks like any other, so somebody must say
// that it is meant.
func TestLogsThatAreMissing(t *testing.T) {
	month := []string{"-month", "2026-10", "-name", "Mine", "-quiet"}
	day := func(n int) string { return hourly(func(day int) bool { return day == n }, "10.5072/a") }
	for name, tt := range map[string]struct {
		files map[string]string
		says  string // "" is nothing: the report is whole
		meant []string
	}{
		"whole":            {map[string]string{"a.log": hourly(all, "10.5072/a")}, "", nil},
		"1 to 14":          {map[string]string{"a.log": hourly(until(14), "10.5072/a")}, "a.log: none from 2026-10-15 00:00 to 2026-11-01 00:00", []string{"-until", "2026-10-14"}},
		"without the 15th": {map[string]string{"a.log": hourly(func(day int) bool { return day != 15 }, "10.5072/a")}, "a.log: none from 2026-10-15 00:00 to 2026-10-16 00:00", []string{"-gap", "25h"}},
		"one of two servers": {map[string]string{"web1.log": hourly(all, "10.5072/a"), "web2.log": hourly(until(20), "10.5072/a")},
			"web2.log: none from 2026-10-21 00:00 to 2026-11-01 00:00", []string{"-gap", "265h"}},
		"a day of daily logs": {map[string]string{"c_2026-10-01.log": day(1), "c_2026-10-02.log": day(2), "c_2026-10-04.log": day(4)},
			"c.log (3 logs): none from 2026-10-03 00:00 to 2026-10-04 00:00", []string{"-gap", "0"}},
		"a late log in a folder of its own": {map[string]string{"web1/c_2026-10-01.log": day(1), "web1/c_2026-10-02.log": day(2), "web1/c_2026-10-04.log": day(4), "late/c_2026-10-03.log": day(3)},
			"late/c_2026-10-03.log: none from 2026-10-01 00:00 to 2026-10-03 00:00", []string{"-gap", "0"}},
	} {
		folder, given := t.TempDir(), slices.Clone(month)
		for file, text := range tt.files {
			require.NoError(t, os.MkdirAll(filepath.Join(folder, filepath.Dir(file)), 0o755))
			given = append(given, write(t, folder, file, text))
		}
		done := runs(t.Context(), nil, "", given...)
		if tt.says == "" {
			assert.Equal(t, result{}, done, name)
			continue
		}
		assert.Equal(t, 2, done.code, name)
		assert.Contains(t, done.errors, "logs seem to be missing", name)
		assert.Contains(t, done.errors, filepath.Join(folder, "")+"/"+tt.says, name)
		ofItsServer := strings.Contains(done.errors, "put it with the others of its server")
		assert.Equal(t, strings.HasPrefix(tt.says, "late/"), ofItsServer, done.errors)
		meant := runs(t.Context(), nil, "", append(given, tt.meant...)...)
		assert.Equal(t, result{}, meant, name)
	}
}

// TestNightByNight: with -days, each night reads only what is new, and the report is the same as
// without, to the byte.
func TestNightByNight(t *testing.T) {
	folder, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	month := []string{"-month", "2026-10", "-name", "Mine", "-o", "-", "-publisher", "P"}
	lines := strings.SplitAfter(strings.TrimSuffix(hourly(all, "10.5072/a", "10.5072/b"), "\n"), "\n")
	titled := func(day int, text string) string { // the last title is reported
		return strings.ReplaceAll(text, "Data of 10.5072/a", fmt.Sprint("Title of day ", day))
	}
	growing, files := "", []string{}
	for day := 1; day <= 8; day++ {
		today := strings.Join(lines[(day-1)*48:day*48], "")
		growing += today // web1 has one log that grows
		web1 := write(t, folder, "web1.log", growing)
		if day != 4 { // comes a night late
			files = append(files, write(t, folder, fmt.Sprintf("web2_2026-10-%02d.log", day), titled(day, strings.ReplaceAll(today, ":30:00Z\t192.0.2.1", ":40:00Z\t192.0.2.2"))))
		}
		if day == 5 {
			files = append(files, write(t, folder, "web2_2026-10-04.log", titled(4, view("2026-10-04T10:31:00Z", "late", "10.5072/c"))))
		}
		night := time.Date(2026, 10, day+1, 1, 0, 0, 0, time.UTC)
		given := append(append(slices.Clone(month), "-gap", "0", web1), files...)
		plain := runsAt(t.Context(), night, nil, "", given...)
		require.Equal(t, 0, plain.code, plain.errors)
		kept := runsAt(t.Context(), night, nil, "", append(given, "-days", state)...)
		require.Equal(t, 0, kept.code, kept.errors)
		require.Equal(t, plain.out, kept.out, day)
		assert.Equal(t, day != 4, strings.Contains(kept.out, fmt.Sprint("Title of day ", day)))
		_, table, _ := strings.Cut(plain.errors, "First access")
		assert.Contains(t, kept.errors, table, "what the logs have, and the counts")
		assert.Equal(t, day > 1, strings.Contains(kept.errors, "files were counted before"), kept.errors)

		again := runsAt(t.Context(), night, nil, "", append(given, "-days", state)...)
		assert.Equal(t, plain.out, again.out)
		assert.Contains(t, again.errors, "0 lines in 0 files")
	}
	given := append(append(slices.Clone(month), "-days", state, filepath.Join(folder, "web1.log")), files...)
	december := runs(t.Context(), nil, "", given...)
	assert.Equal(t, 2, december.code, "the rest of the month is missing")
	assert.Contains(t, december.errors, "web1.log: none from 2026-10-09 00:00 to 2026-11-01 00:00")

	zone := runs(t.Context(), nil, "", append(given, "-gap", "0", "-zone", "+05:00")...)
	plain := runs(t.Context(), nil, "", append(append(slices.Clone(month), "-gap", "0", "-zone", "+05:00", filepath.Join(folder, "web1.log")), files...)...)
	assert.Equal(t, plain.out, zone.out, "other flags count anew")

	damaged, err := filepath.Glob(filepath.Join(state, "*", "descriptions.gz"))
	require.NoError(t, err)
	for _, name := range damaged {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, data[:len(data)-9], 0o600))
	}
	broken := runs(t.Context(), nil, "", append(given, "-gap", "0")...)
	assert.Equal(t, 2, broken.code)
	assert.Contains(t, broken.errors, "descriptions.gz is damaged")
	stdin := runs(t.Context(), nil, "", append(month, "-days", state, "-")...)
	assert.Contains(t, stdin.errors, "-days needs files")
	for name := range map[string]bool{"192.0.2": true, "Mozilla": true} {
		for _, file := range allFiles(t, state) {
			assert.NotContains(t, file, name, "nothing tells of visitors")
		}
	}
}

// allFiles are the texts of the files below a folder, unpacked.
func allFiles(t *testing.T, folder string) (texts []string) {
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if packed, wrong := gzip.NewReader(bytes.NewReader(data)); wrong == nil {
			data, _ = io.ReadAll(packed) // some were damaged
		}
		texts = append(texts, string(data))
		return err
	}))
	return texts
}

// TestAReportThatHasLess: the logs of a server are missing, which nobody sees in them alone.
func TestAReportThatHasLess(t *testing.T) {
	srv, folder := service(t, nil), t.TempDir()
	web1 := write(t, folder, "web1.log", hourly(all, "10.5072/a"))
	web2 := write(t, folder, "web2.log", hourly(all, "10.5072/a", "10.5072/b"))
	send := []string{"-month", "2026-10", "-name", "Mine", "-publisher", "P", "-quiet", "-send", "-api", srv.URL}
	whole := runs(t.Context(), srv, "", append(send, web1, web2)...)
	require.Equal(t, result{}, whole)
	requests := writes(srv)
	less := runs(t.Context(), srv, "", append(send, web1)...)
	assert.Equal(t, 2, less.code)
	assert.Equal(t, "usagelog: the stored report has 2 counts that DOI records show, and this one has less in 1; nothing was sent\n"+
		"  10.5072/b, unique-dataset-investigations: 0, not 31\n  give the logs that are missing, or -allow-lower if this is the correction\n", less.errors)
	assert.Equal(t, requests, writes(srv))
	meant := runs(t.Context(), srv, "", append(send, "-allow-lower", web1)...)
	assert.Equal(t, 0, meant.code, meant.errors)
	assert.Greater(t, writes(srv), requests)
}

// TestQuiet: a run by cron prints nothing if all goes well, except the report itself.
func TestQuiet(t *testing.T) {
	good := view("2026-10-14T10:01:00Z", "s1", "10.5072/a")
	done := runs(t.Context(), nil, good, args("-", "-quiet", "-o", "-")...)
	assert.Equal(t, 0, done.code)
	assert.True(t, json.Valid([]byte(done.out)), done.out)
	assert.Empty(t, done.errors)
	log := write(t, t.TempDir(), "counter.log", good+"x\n"+strings.Repeat(good, 98))
	some := runs(t.Context(), nil, "", args(log, "-quiet", "-bad-lines", "leave-out", "-o", "-")...)
	assert.Equal(t, 0, some.code)
	assert.Equal(t, "warning: 1 line of 100 left out, since they cannot be read\n  syntax: 1 line\n    "+log+", line 2: fields are 1, not 19 separated by tabs\n", some.errors)
	wrong := runs(t.Context(), nil, "", args(log, "-quiet")...)
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
		done := runs(t.Context(), nil, log, args("-o", filepath.Join(folder, link), "-")...)
		require.Equal(t, 0, done.code, done.errors)
		info, err := os.Lstat(filepath.Join(folder, link))
		require.NoError(t, err)
		assert.Equal(t, fs.ModeSymlink, info.Mode().Type(), link)
		data, err := os.ReadFile(target)
		require.NoError(t, err)
		assert.True(t, json.Valid(data), link)
	}
	require.NoError(t, os.Symlink("round", filepath.Join(folder, "round")))
	round := runs(t.Context(), nil, log, args("-o", filepath.Join(folder, "round"), "-")...)
	assert.Equal(t, 2, round.code)
	assert.Contains(t, round.errors, "-o: ")
	into := runs(t.Context(), nil, log, args("-o", folder, "-")...)
	assert.Equal(t, 2, into.code)
	assert.Contains(t, into.errors, "-o: "+folder+" is a folder")

	if runtime.GOOS != "linux" {
		t.Skip("pipes have no name")
	}
	read, end, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	done := runs(t.Context(), nil, log, args("-o", fmt.Sprint("/dev/fd/", end.Fd()), "-")...)
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
		done := runs(t.Context(), nil, view("2026-10-14T10:01:00Z", "s1", "10.5072/a"), args("-o", file, "-")...)
		require.Equal(t, 0, done.code, done.errors)
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode())
	}
}

// TestTheNumbersOfARecord is the trial of docs/counting.md, with its log: after the report is
// sent, the record of the dataset shows the visitors of the month and their downloads.
func TestTheNumbersOfARecord(t *testing.T) {
	srv := service(t, nil)
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/example","titles":[{"title":"Glacier length"}],"publisher":"Example Repository","publicationYear":2026,"url":"https://example.org/","creators":[{"name":"Lovelace, Ada"}],"state":"findable"}`)))
	sent := runs(t.Context(), srv, "", "-month", "2026-10", "-name", "Example Repository", "-send", "-api", srv.URL, "testdata/counter_2026-10-14.log")
	require.Equal(t, 0, sent.code, sent.errors)
	for _, want := range []string{"10 accesses", "1 by robots", "1 double clicks", "10.5072/example    7               4       4         3       Glacier length"} {
		assert.Contains(t, sent.out, want)
	}
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

func writes(srv *datacitetest.Server) (n int) {
	for _, r := range srv.Requests() {
		if r.Method != http.MethodGet {
			n++
		}
	}
	return n
}

// TestDataverseReadsTheReport does what parseSushiReport of Dataverse does
// (DatasetMetricsServiceBean.java): it takes the first id, and wants integers.
func TestDataverseReadsTheReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	done := runs(t.Context(), nil, "", append(args(october(t)...), "-o", file, "-geoip", database(t))...)
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
	data, err := os.ReadFile(file)
	require.NoError(t, err)
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

// database is a database of countries.
func database(t *testing.T) string {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test-Country", IncludeReservedNetworks: true})
	require.NoError(t, err)
	for network, code := range map[string]string{"192.0.2.0/24": "DE", "2001:db8::/32": "FR", "198.51.100.0/24": "T1"} {
		_, prefix, err := net.ParseCIDR(network)
		require.NoError(t, err)
		require.NoError(t, tree.Insert(prefix, mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String(code)}}))
	}
	var file bytes.Buffer
	_, err = tree.WriteTo(&file)
	require.NoError(t, err)
	return write(t, t.TempDir(), "countries.mmdb", file.String())
}

func TestCountries(t *testing.T) {
	known, err := geoip.Open(database(t))
	require.NoError(t, err)
	defer known.Close()
	for address, want := range map[string]string{
		"192.0.2.7": "de", "2001:db8:0:0:0:0:0:7": "fr", "::ffff:192.0.2.7": "de",
		"198.51.100.1": "", // a code that is no country
		"203.0.113.1":  "", "": "", "unknown": "",
	} {
		code, err := known.Of(address)
		require.NoError(t, err)
		assert.Equal(t, want, code, address)
	}
}

// TestCountriesThatAPlatformLookedUp: it had the address, and forgot it. -geoip looks up the
// others.
func TestCountriesThatAPlatformLookedUp(t *testing.T) {
	const log = `{"doi":"10.5072/a","time":"2026-10-14T10:00:00Z","url":"/a","cookie":"c","country":"FR"}` + "\n" +
		`{"doi":"10.5072/a","time":"2026-10-14T11:00:00Z","url":"/a","address":"192.0.2.1","country":"fr"}` + "\n" +
		`{"doi":"10.5072/a","time":"2026-10-14T12:00:00Z","url":"/a","address":"192.0.2.1"}` + "\n"
	for _, tt := range []struct {
		more []string
		want string
	}{
		{nil, `"country-counts":{"fr":2}`},
		{[]string{"-geoip", database(t)}, `"country-counts":{"de":1,"fr":2}`},
	} {
		done := runs(t.Context(), nil, log, args(append(tt.more, "-format", "json", "-o", "-", "-")...)...)
		require.Equal(t, 0, done.code, done.errors)
		assert.Contains(t, done.out, tt.want)
	}
}

// TestDatabasesWithoutCountries: no countries in the report would be the only sign of them.
func TestDatabasesWithoutCountries(t *testing.T) {
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "GeoLite2-ASN", IncludeReservedNetworks: true})
	require.NoError(t, err)
	_, prefix, err := net.ParseCIDR("192.0.2.0/24")
	require.NoError(t, err)
	require.NoError(t, tree.Insert(prefix, mmdbtype.Map{"autonomous_system_number": mmdbtype.Uint32(64496)}))
	var other bytes.Buffer
	_, err = tree.WriteTo(&other)
	require.NoError(t, err)
	whole, err := os.ReadFile(database(t))
	require.NoError(t, err)
	folder, log := t.TempDir(), view("2026-10-14T10:01:00Z", "s1", "10.5072/a")
	asn := runs(t.Context(), nil, log, args("-geoip", write(t, folder, "asn.mmdb", other.String()), "-quiet", "-")...)
	assert.Equal(t, 2, asn.code)
	assert.Contains(t, asn.errors, "asn.mmdb: it has no country of any address")

	damaged := 0
	for at := 0; at < len(whole); at += 41 {
		broken := bytes.Clone(whole)
		broken[at] ^= 0xff
		known, err := geoip.Open(write(t, folder, "broken.mmdb", string(broken)))
		if err != nil {
			damaged++
			continue
		}
		known.Close()
	}
	assert.Greater(t, damaged, 5, "a letter of a code is not told from another")
}

// TestAccessLogsAreDescribed: the log of a web server has no titles. They come from the
// service, with one request for 1,000 DOIs, or from an archive.
func TestAccessLogsAreDescribed(t *testing.T) {
	srv := service(t, nil)
	var log, archive strings.Builder
	const datasets = 1500
	for i := range datasets {
		fmt.Fprintf(&log, "192.0.2.1 - - [14/Oct/2026:10:%02d:00 +0000] \"GET /data/10.5072/R%04d HTTP/1.1\" 200 17 \"-\" \"Mozilla/5.0 (X11)\"\n", i%60, i)
		record := fmt.Sprintf(`{"doi":"10.5072/r%04d","titles":[{"title":"Rain %d"}],"publisher":"Rain Archive","publicationYear":2020,"url":"https://example.org/%d","creators":[{"name":"Doe, Jane"}],"state":"findable"}`, i, i, i)
		require.NoError(t, srv.PutRecordJSON([]byte(record)))
		fmt.Fprintln(&archive, record)
	}
	folder := t.TempDir()
	file := write(t, folder, "records.jsonl", archive.String())
	for name, where := range map[string]string{"service": srv.URL, "file": file, "folder": folder} {
		t.Run(name, func(t *testing.T) {
			done := runs(t.Context(), nil, log.String(), args("-format", "combined", "-investigations", "^/data/(10\\..*)", "-requests", "^/files/(10\\..*)", "-describe", where, "-o", "-", "-")...)
			require.Equal(t, 0, done.code, done.errors)
			var report reports.Report
			require.NoError(t, json.Unmarshal([]byte(done.out), &report))
			require.Len(t, report.Datasets, datasets)
			for i, d := range report.Datasets {
				require.Equal(t, fmt.Sprint("Rain ", i), d.Title)
				require.Equal(t, "Rain Archive", d.Publisher)
				require.Equal(t, "2020", d.YOP)
				require.Equal(t, fmt.Sprint("https://example.org/", i), d.URI)
				require.Equal(t, []reports.TypedValue{{Type: "name", Value: "Doe, Jane"}}, d.Contributors)
			}
			assert.Contains(t, done.errors, "1,500 datasets", "the summary makes room for the report")
			assert.NotContains(t, done.errors, "without a title")
		})
	}
	assert.Len(t, srv.Requests(), 2)
}

// TestUnknownDOIs: a path that is no dataset becomes one, which no record shows.
func TestUnknownDOIs(t *testing.T) {
	srv := service(t, nil)
	const record = `{"doi":"10.5072/known","titles":[{"title":"Rain"}],"publisher":"Rain Archive","state":"findable"}`
	require.NoError(t, srv.PutRecordJSON([]byte(record)))
	var log strings.Builder
	for i, path := range []string{"10.5072/known", "10.5072/KNOWN/", "10.5072/known;jsessionid=AB12", "10.5072/typo", "10.5072/other"} {
		fmt.Fprintf(&log, "192.0.2.%d - - [14/Oct/2026:10:00:00 +0000] \"GET /data/%s HTTP/1.1\" 200 17 \"-\" \"Mozilla/5.0 (X11)\"\n", i, path)
	}
	for _, where := range []string{srv.URL, write(t, t.TempDir(), "records.jsonl", record+"\n")} {
		given := args("-format", "combined", "-investigations", "^/data/(10\\..*)", "-requests", "^/files/(10\\..*)", "-describe", where, "-o", "-", "-")
		keep := runs(t.Context(), nil, log.String(), given...)
		assert.Equal(t, 0, keep.code)
		assert.Contains(t, keep.errors, "warning: -describe does not know 2 DOIs: 10.5072/other, 10.5072/typo; these datasets are in the report without a title")
		assert.Contains(t, keep.errors, "2 of them without a title or publisher; nor has -describe;")
		assert.Contains(t, keep.errors, "3 datasets\n")

		without := runs(t.Context(), nil, log.String(), append(given, "-unknown", "leave-out", "-quiet")...)
		assert.Equal(t, 0, without.code)
		assert.Equal(t, "warning: -describe does not know 2 DOIs: 10.5072/other, 10.5072/typo; these datasets are left out, with 2 investigations\n", without.errors)
		var report reports.Report
		require.NoError(t, json.Unmarshal([]byte(without.out), &report))
		require.Len(t, report.Datasets, 1)
		assert.EqualValues(t, 3, report.Datasets[0].Performance[0].Instance[0].Count)

		stopped := runs(t.Context(), nil, log.String(), append(given, "-unknown", "stop", "-quiet")...)
		assert.Equal(t, 2, stopped.code)
		assert.Equal(t, "usagelog: -describe does not know 2 DOIs: 10.5072/other, 10.5072/typo\n", stopped.errors)
	}
}

// TestPathsThatSayNothing are in a table, which one writes from one's own database.
func TestPathsThatSayNothing(t *testing.T) {
	const log = `192.0.2.1 - - [14/Oct/2026:10:01:00 +0000] "GET /records/17 HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11)"` + "\n" +
		`192.0.2.1 - - [14/Oct/2026:10:02:00 +0000] "GET /bits/a%20b.csv?v=2 HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11)"` + "\n" +
		`192.0.2.1 - - [14/Oct/2026:10:03:00 +0000] "GET /style.css HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11)"` + "\n"
	table := write(t, t.TempDir(), "paths.csv", "path,doi,kind\n/records/17,10.5072/a,investigation\n\"/bits/a b.csv\",https://doi.org/10.5072/A,request\n")
	done := runs(t.Context(), nil, log, args("-format", "combined", "-paths", table, "-")...)
	require.Equal(t, 0, done.code, done.errors)
	for _, want := range []string{"1 neither investigations nor requests", "1 datasets", "2 total investigations", "1 total requests"} {
		assert.Contains(t, done.out, want)
	}
}

// TestDSpace is the recipe of docs/counting.md: handles, items and files are in a table, also
// those that are no dataset, and the log is from west of Greenwich.
func TestDSpace(t *testing.T) {
	const item, file, thumbnail = "11111111-aaaa-4bbb-8ccc-000000000001", "22222222-aaaa-4bbb-8ccc-000000000002", "33333333-aaaa-4bbb-8ccc-000000000003"
	table := write(t, t.TempDir(), "dois.csv", "name,doi\n123456789/17,10.5072/a\n123456789/17.2,10.5072/a\n123456789/2,\n"+item+",10.5072/a\n"+file+",10.5072/a\n"+thumbnail+",\n")
	var log strings.Builder
	for i, path := range []string{
		"/handle/123456789/17", "/handle/123456789/17/", "/items/" + item, "/items/" + item + "/full", "/entities/publication/" + item, // five views
		"/handle/123456789/17.2",                                                                                    // a version
		"/server/api/core/bitstreams/" + file + "/content", "/server/api/core/bitstreams/" + thumbnail + "/content", // a download
		"/handle/123456789/2", "/browse/title", "/server/api/core/items/" + item + "/thumbnail", // others
	} {
		fmt.Fprintf(&log, "data.example.org:443 192.0.2.1 - - [31/Oct/2026:22:%02d:00 -0400] \"GET %s HTTP/1.1\" 200 1 \"-\" \"Mozilla/5.0 (X11)\"\n", i, path)
	}
	recipe := args("-zone", "America/New_York", "-format", "combined", "-dois", table,
		"-investigations", `^/handle/([0-9.]+/[0-9.]+)$`, "-investigations", `^/(?:items|entities/[a-z]+)/([0-9a-f-]{36})(?:/full)?$`,
		"-requests", `^/server/api/core/bitstreams/([0-9a-f-]{36})/content$`, "-")
	docs, err := os.ReadFile("../../docs/counting.md")
	require.NoError(t, err)
	for i, word := range recipe {
		if strings.HasPrefix(word, "^") {
			assert.Contains(t, string(docs), recipe[i-1]+" '"+word+"'")
		}
	}
	done := runs(t.Context(), nil, log.String(), recipe...)
	require.Equal(t, 0, done.code, done.errors)
	for _, want := range []string{"11 lines", "4 neither investigations nor requests", "7 total investigations", "1 total requests", "1 unique investigations"} {
		assert.Contains(t, done.out, want)
	}
	old := runs(t.Context(), nil, log.String()+strings.ReplaceAll(log.String(), "123456789/17", "123456789/18"), recipe...)
	assert.Equal(t, 2, old.code)
	assert.Contains(t, old.errors, `no-dataset: 3 lines`)
	assert.Contains(t, old.errors, `line 12: path is "/handle/123456789/18", whose dataset is not in the table`)
}

// TestDescriptionsOfTheLogStay: a record fills in what the log does not have.
func TestDescriptionsOfTheLogStay(t *testing.T) {
	file := write(t, t.TempDir(), "records.jsonl", `{"doi":"10.5072/fk2/abc","titles":[{"title":"Another title"}],"publisher":"Rain Archive","publicationYear":2020}`+"\n")
	done := runs(t.Context(), nil, view("2026-10-14T10:01:00Z", "s1", "10.5072/FK2/ABC"), args("-describe", file, "-o", "-", "-")...)
	require.Equal(t, 0, done.code, done.errors)
	var report reports.Report
	require.NoError(t, json.Unmarshal([]byte(done.out), &report))
	assert.Equal(t, "Data of 10.5072/FK2/ABC", report.Datasets[0].Title)
	assert.Equal(t, "Rain Archive", report.Datasets[0].Publisher)
	assert.Equal(t, "2024", report.Datasets[0].YOP)
}

func TestEventsAsJSON(t *testing.T) {
	done := runs(t.Context(), nil, `{"doi":"10.5072/a","time":"2026-10-31T23:30:00Z","url":"/a","request":true,"user":"jane"}`+"\n",
		args("-format", "json", "-zone", "America/New_York", "-")...)
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
	done := runs(t.Context(), nil, log.String(), args("-robots", robots, "-machines", machines, "-o", "-", "-")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Contains(t, done.errors, "1 by robots")
	assert.Equal(t, 2, strings.Count(done.out, `"machine"`), done.out) // the total and the unique investigations of Opera
	assert.Equal(t, 2, strings.Count(done.out, `"regular"`), done.out) // those of curl, which the list of machines does not have
}

// TestBadInput: each fault has its place and a clear word; nothing is written or sent.
func TestBadInput(t *testing.T) {
	srv, folder := service(t, nil), t.TempDir()
	good := view("2026-10-14T10:01:00Z", "s1", "10.5072/a")
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, strings.Repeat(good, 100))
	w.Close()
	put := func(content string) string {
		return write(t, folder, strings.ReplaceAll(t.Name(), "/", "_"), content)
	}
	for name, tt := range map[string]struct {
		log  string
		more []string
		says string
	}{
		"not UTF-8":           {good + strings.Replace(good, "Data of", "Daten f\xfcr", 1), nil, "line 2: line is not valid UTF-8"},
		"18 fields":           {good + good[strings.IndexByte(good, '\t')+1:], nil, "line 2: fields are 18, not 19 separated by tabs"},
		"no zone":             {view("2026-10-14T10:01:00", "s1", "10.5072/a"), nil, "line 1: event_time is \"2026-10-14T10:01:00\", without an offset"},
		"no DOI":              {view("2026-10-14T10:01:00Z", "s1", "hdl:1902.1/1"), nil, "line 1: identifier is \"doi:hdl:1902.1/1\", not a DOI"},
		"a handle":            {strings.Replace(good, "\tdoi:10.5072/a\t", "\thdl:1902.1/1\t", 1), nil, "line 1: identifier is \"hdl:1902.1/1\", a handle, and usage is reported of DOIs only\n  -bad-lines leave-out counts the other lines if these are at most 1%, -leave-out handle in any case\n"},
		"empty":               {"", nil, "no access is to be counted: of 0 lines"},
		"truncated":           {zipped.String()[:zipped.Len()-9], nil, "unexpected EOF"},
		"1970":                {view("1970-01-01T00:00:00Z", "s1", "10.5072/a"), nil, "of 1 accesses, 1 are not from 2026-10-01 to 2026-10-31"},
		"no country database": {good, []string{"-geoip", folder + "/none.mmdb"}, "none.mmdb: no such file"},
		"not a database":      {good, []string{"-geoip", write(t, folder, "x.mmdb", "x")}, "x.mmdb: "},
		"no list of robots":   {good, []string{"-robots", folder + "/none"}, "-robots: open " + folder + "/none: no such file"},
		"broken list":         {good, []string{"-machines", write(t, folder, "machines", "a\n(")}, "line 2: error parsing regexp"},
		"empty list":          {good, []string{"-machines", write(t, folder, "empty", "# nothing\n")}, "has no pattern"},
		"no archive":          {good, []string{"-describe", folder + "/none"}, "-describe: stat " + folder + "/none: no such file"},
		"not an archive":      {good, []string{"-describe", write(t, folder, "archive.jsonl", "x")}, "archive.jsonl: "},
		"paths without names": {good, []string{"-paths", write(t, folder, "a.csv", "/a,10.5072/a,request\n")}, "a.csv, line 1: the table has to name the columns path, doi and kind"},
		"wrong paths": {good, []string{"-paths", write(t, folder, "b.csv", "\ufeffkind,path,DOI\nrequest,a,10.5072/a\nview,/a,10.5072/a\nrequest,/a,a\nrequest,/a\nrequest,/a?x,10.5072/a\nrequest,/a,10.5072/a\nrequest,/%61,10.5072/b\n")},
			"b.csv, line 2, column 2: path: is \"a\", not a path such as /data/17, without host and query\n  " + folder + "/b.csv, line 3, column 1: kind: is \"view\", neither investigation nor request\n  " +
				folder + "/b.csv, line 4, column 3: doi: is \"a\", not a DOI such as 10.5072/abc\n  " + folder + "/b.csv, line 5: there are 2 cells for 3 columns\n  " +
				folder + "/b.csv, line 6, column 2: path: is \"/a?x\", not a path such as /data/17, without host and query\n  " + folder + "/b.csv, line 8, column 2: path: is \"/a\", which is in the table already, with another DOI or kind\n"},
		"no end of a quotation": {good, []string{"-paths", write(t, folder, "c.csv", "path,doi,kind\n\"/a,10.5072/a,request\n")}, "c.csv, line 2"},
		"no folder":             {good, []string{"-o", folder + "/none/report.json"}, "-o: "},
	} {
		t.Run(name, func(t *testing.T) {
			log, out := put(tt.log), filepath.Join(t.TempDir(), "report.json")
			done := runs(t.Context(), srv, "", append(args(log, "-o", out, "-send", "-api", srv.URL), tt.more...)...)
			assert.Equal(t, 2, done.code, done.errors)
			assert.Contains(t, done.errors, tt.says)
			assert.Empty(t, done.out)
			left, err := os.ReadDir(filepath.Dir(out))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
	assert.Empty(t, srv.Requests())
}

// TestAClockThatJumpsBack: the time of each line counts, not their order.
func TestAClockThatJumpsBack(t *testing.T) {
	done := runs(t.Context(), nil, view("2026-10-14T10:01:00Z", "s1", "10.5072/a")+view("2026-10-14T10:00:50Z", "s1", "10.5072/a")+view("2026-10-14T09:00:00Z", "s1", "10.5072/a"), args("-")...)
	require.Equal(t, 0, done.code, done.errors)
	assert.Contains(t, done.out, "1 double clicks")
	assert.Contains(t, done.out, "2 counted")
}

func TestLinesAreLeftOutIfToldTo(t *testing.T) {
	folder := t.TempDir()
	good := view("2026-10-14T10:01:00Z", "s1", "10.5072/a")
	handle := strings.Replace(good, "\tdoi:10.5072/a\t", "\thdl:1902.1/1\t", 1)
	logs := []string{
		write(t, folder, "counter.log", strings.Repeat("x\n", 3)+strings.Repeat(good, 200)), write(t, folder, "empty.log", ""),
		write(t, folder, "other.log", strings.Repeat("x\n", 3)+strings.Repeat(handle, 100)+strings.Repeat(good, 300)),
	}
	for _, tt := range []struct {
		flags []string
		code  int
	}{
		{nil, 2}, {[]string{"-bad-lines", "leave-out"}, 2}, // too many handles
		{[]string{"-bad-lines", "17%"}, 0}, {[]string{"-bad-lines", "16%"}, 2},
		{[]string{"-leave-out", "handle"}, 2}, {[]string{"-leave-out", "handle,syntax"}, 0},
		{[]string{"-leave-out", "handle", "-bad-lines", "leave-out"}, 0}, {[]string{"-leave-out", "handle", "-bad-lines", "0.5%"}, 2},
	} {
		for _, more := range [][]string{nil, {"-quiet"}} {
			done := runs(t.Context(), nil, "", append(args(logs...), append(more, tt.flags...)...)...)
			require.Equal(t, tt.code, done.code, "%q: %s", tt.flags, done.errors)
			if tt.code == 0 {
				assert.Contains(t, done.errors, "warning: 106 lines of 606 left out, since they cannot be read\n  handle: 100 lines\n    "+logs[2]+", line 4: identifier is \"hdl:1902.1/1\"")
				assert.Contains(t, done.errors, "and 97 more\n  syntax: 6 lines\n    "+logs[0]+", line 1: fields are 1, not 19 separated by tabs\n")
				assert.Contains(t, done.errors, "empty.log is empty")
			}
		}
	}
}

// TestALogThatWasCut: a copy that ended too soon is read as far as it goes, if that is meant.
func TestALogThatWasCut(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	for i := range 2000 {
		io.WriteString(w, view(fmt.Sprintf("2026-10-14T%02d:%02d:%02dZ", i/100, i%60, i%60), fmt.Sprint(i*7919), fmt.Sprint("10.5072/a", i)))
	}
	w.Close()
	log := write(t, t.TempDir(), "counter.log.gz", zipped.String()[:zipped.Len()/2])
	refused := runs(t.Context(), nil, "", args(log)...)
	assert.Equal(t, 2, refused.code)
	assert.Contains(t, refused.errors, "unexpected EOF")
	read := runs(t.Context(), nil, "", args(log, "-cut", "-gap", "0", "-quiet")...)
	assert.Equal(t, 0, read.code, read.errors)
	assert.Regexp(t, `warning: .*counter.log.gz is cut after line \d+; what followed is not counted`, read.errors)
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
	unsaid := runs(t.Context(), nil, log.String(), args("-quiet", "-")...)
	assert.Equal(t, 2, unsaid.code)
	assert.Contains(t, unsaid.errors, "Lines have the offset -04:00 from UTC, 744 of them, this one first: name the zone of the repository, such as -zone America/New_York; or -zone -04:00; or -zone UTC")
	for zone, want := range map[string]string{"America/New_York": "744 counted", "-04:00": "744 counted", "UTC": "740 counted"} {
		done := runs(t.Context(), nil, log.String(), args("-zone", zone, "-")...)
		require.Equal(t, 0, done.code, done.errors)
		assert.Contains(t, done.out, want)
		assert.Equal(t, zone == "UTC", strings.Contains(done.errors, "note: 744 lines have the offset -04:00 from UTC, which UTC has not at that time"))
	}
}

func TestWrongUse(t *testing.T) {
	log := write(t, t.TempDir(), "counter.log", view("2026-10-14T10:01:00Z", "s1", "10.5072/a"))
	for _, tt := range []struct {
		says string
		args []string
	}{
		{"-month and -name are needed", []string{log}},
		{"no log is given", args()},
		{"-month is \"October\", not YYYY-MM", []string{"-month", "October", "-name", "x", log}},
		{"-zone is \"Mars\", not a time zone", args(log, "-zone", "Mars")},
		{"-format is \"iis\", not dataverse, combined or json", args(log, "-format", "iis")},
		{"-bad-lines is \"ignore\"", args(log, "-bad-lines", "ignore")},
		{"-send (or -repair) and -api belong together", args(log, "-send")},
		{"-send (or -repair) and -api belong together", args(log, "-api", "https://api.test.datacite.org")},
		{"-dropped is \"remove\", not keep or zero", args(log, "-dropped", "remove")},
		{"-dropped has no effect without -send", args(log, "-dropped", "zero")},
		{"-send and -yes need a token", args(log, "-send", "-api", "https://api.test.datacite.org")},
		{"-investigations and requests belong together", args(log, "-requests", "x")},
		{"-paths, or -investigations and -requests, are missing", args(log, "-format", "combined")},
		{"have no effect on events as JSON", args(log, "-format", "json", "-requests", "x", "-investigations", "y")},
		{"missing closing )", args(log, "-requests", "(")},
		{"-memory is 0", args(log, "-memory", "0")},
		{"no such file", args(log + "x")},
		{"is a folder; name the logs in it", args(filepath.Dir(log))},
		{"is a variable not set?", args(log, "-platform", "")},
	} {
		done := runs(t.Context(), nil, "", tt.args...)
		assert.Equal(t, 2, done.code, tt.says)
		assert.Contains(t, done.errors, tt.says)
	}
	help := runs(t.Context(), nil, "", "-h")
	assert.Equal(t, 0, help.code)
	assert.Contains(t, help.out, "Exit codes:")
}

// TestWhenTheServiceFails: what was stored is told, and the exit code.
func TestWhenTheServiceFails(t *testing.T) {
	logs := october(t)
	srv := service(t, func(_ int, r *http.Request) *datacitetest.Fault {
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			return &datacitetest.Fault{Kind: datacitetest.Status, Status: http.StatusUnauthorized}
		}
		return nil
	})
	refused := runs(t.Context(), srv, "", append(args(logs...), "-send", "-api", srv.URL)...)
	assert.Equal(t, 2, refused.code, refused.errors)
	assert.Contains(t, refused.errors, "401")
	assert.Empty(t, refused.out)

	srv = service(t, func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: datacitetest.Status, Status: http.StatusNotImplemented}
	})
	broken := runs(t.Context(), nil, "", append(args(logs...), "-describe", srv.URL, "-o", filepath.Join(t.TempDir(), "report.json"))...)
	assert.Equal(t, 3, broken.code, broken.errors)
	assert.Contains(t, broken.errors, "-describe: ")
	assert.Empty(t, broken.out)

	sent := false
	srv = service(t, func(_ int, r *http.Request) *datacitetest.Fault {
		if sent = sent || r.Method == http.MethodPut; sent && r.Method == http.MethodGet {
			return &datacitetest.Fault{Kind: datacitetest.Status, Status: http.StatusNotImplemented}
		}
		return nil
	})
	unread := runs(t.Context(), srv, "", append(args(logs...), "-send", "-api", srv.URL)...)
	assert.Equal(t, 1, unread.code, unread.errors)
	assert.Contains(t, unread.errors, "the report was stored, but reading it back failed: ")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("Ctrl-C"))
	done := runs(ctx, nil, "", args(october(t)...)...)
	assert.Equal(t, 130, done.code)
	assert.Contains(t, done.errors, "usagelog: interrupted; run it again")
	assert.Empty(t, done.out)
}

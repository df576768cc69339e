package count

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/reports"
)

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

// The running month is counted until yesterday, and its report has an exception for that, until the month is over.
func TestTheRunningMonth(t *testing.T) {
	folder := t.TempDir()
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
		{today: "2026-10-23T12:00:00Z", more: []string{"--until", "2026-10-14"}, last: "2026-10-14", counted: 14 * 24},
		{today: "2026-10-31T12:00:00Z", last: "2026-10-30", counted: 30 * 24},
		{today: "2026-11-01T00:00:00Z", last: "2026-10-31", counted: 31 * 24},
		{today: "2026-11-24T00:00:00Z", more: []string{"--until", "2026-10-31"}, last: "2026-10-31", counted: 31 * 24},
	} {
		now, err := time.Parse(time.RFC3339, tt.today)
		require.NoError(t, err)
		done := runsAt(t.Context(), now, nil, "",
			append([]string{"--month", "2026-10", "--creator", "Mine", "--publisher", "P", "--zone", cmp.Or(tt.zone, "UTC"),
				"--output", file, log}, tt.more...)...)
		require.Equal(t, 0, done.code, done.errors)
		data := shelltest.Read(t, file)
		var report reports.Report
		require.NoError(t, json.Unmarshal(data, &report))
		period := reports.Period{BeginDate: "2026-10-01", EndDate: tt.last}
		assert.Equal(t, period, report.Header.ReportingPeriod)
		assert.Equal(t, period, report.Datasets[0].Performance[0].Period)
		assert.Equal(t, tt.counted, report.Datasets[0].Performance[0].Instance[0].Count)
		if tt.last == "2026-10-31" {
			assert.Empty(t, report.Header.Exceptions)
			assert.NotContains(t, done.out, "part of the month")
			continue
		}
		assert.Equal(t, reports.ExceptionPartial, report.Header.Exceptions[0].Code)
		assert.Contains(t, done.out, "Report of Mine, 2026-10-01 to "+string(tt.last)+
			", a part of the month (exception 3040)\n")
	}
	for today, more := range map[string][]string{
		"no day of 2026-10 is over: today is 2026-10-01":   {"2026-10-01T12:00:00Z", ""},
		"no day of 2026-10 is over: today is 2026-09-30":   {"2026-09-30T12:00:00Z", ""},
		"--until is 2026-10-23, which is not over":         {"2026-10-23T12:00:00Z", "2026-10-23"},
		`--until is "2026-11-01", not a day from`:          {"2026-11-23T12:00:00Z", "2026-11-01"},
		`--until is "2026-10-32", not a day from`:          {"2026-11-23T12:00:00Z", "2026-10-32"},
		`--until is "14", not a day from 2026-10-01 to 20`: {"2026-11-23T12:00:00Z", "14"},
	} {
		now, err := time.Parse(time.RFC3339, more[0])
		require.NoError(t, err)
		wrong := runsAt(t.Context(), now, nil, "", "--month", "2026-10", "--creator", "Mine", "--until",
			cmp.Or(more[1], "2026-10-01"), log)
		assert.Equal(t, 2, wrong.code)
		assert.Contains(t, wrong.errors, today)
	}
}

// TestLogsThatAreMissing: a report with a day less looks like any other, so somebody must say
// that it is meant.
func TestLogsThatAreMissing(t *testing.T) {
	month := []string{"--month", "2026-10", "--creator", "Mine", "--quiet"}
	day := func(n int) string { return hourly(func(day int) bool { return day == n }, "10.5072/a") }
	for name, tt := range map[string]struct {
		files map[string]string
		says  string // "" is nothing: the report is whole
		meant []string
	}{
		"whole": {map[string]string{"a.log": hourly(all, "10.5072/a")}, "", nil},
		"1 to 14": {map[string]string{"a.log": hourly(until(14), "10.5072/a")},
			"a.log: none from 2026-10-15 00:00 to 2026-11-01 00:00", []string{"--until", "2026-10-14"}},
		"without the 15th": {map[string]string{"a.log": hourly(func(day int) bool {
			return day != 15
		}, "10.5072/a")}, "a.log: none from 2026-10-15 00:00 to 2026-10-16 00:00", []string{"--gap", "25h"}},
		"one of two servers": {map[string]string{"web1.log": hourly(all, "10.5072/a"),
			"web2.log": hourly(until(20), "10.5072/a")},
			"web2.log: none from 2026-10-21 00:00 to 2026-11-01 00:00", []string{"--gap", "265h"}},
		"a day of daily logs": {map[string]string{"c_2026-10-01.log": day(1), "c_2026-10-02.log": day(2),
			"c_2026-10-04.log": day(4)},
			"c.log (3 logs): none from 2026-10-03 00:00 to 2026-10-04 00:00", []string{"--gap", "0"}},
		"a late log in a folder of its own": {
			map[string]string{"web1/c_2026-10-01.log": day(1), "web1/c_2026-10-02.log": day(2), "web1/c_2026-10-04.log": day(4),
				"late/c_2026-10-03.log": day(3)},
			"late/c_2026-10-03.log: none from 2026-10-01 00:00 to 2026-10-03 00:00", []string{"--gap", "0"}},
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
		assert.Contains(t, filepath.ToSlash(done.errors), filepath.ToSlash(folder)+"/"+tt.says, name)
		ofItsServer := strings.Contains(done.errors, "put it with the others of its server")
		assert.Equal(t, strings.HasPrefix(tt.says, "late/"), ofItsServer, done.errors)
		meant := runs(t.Context(), nil, "", append(given, tt.meant...)...)
		assert.Equal(t, result{}, meant, name)
	}
}

// TestALogThatIsLost: of two servers, one has a log of another layout, of other paths, or behind a proxy. Not
// even --quiet hides that.
func TestALogThatIsLost(t *testing.T) {
	hours := func(line string) string {
		var b strings.Builder
		for h := range 744 {
			at := time.Date(2026, 10, 1, h, 10, 0, 0, time.UTC)
			fmt.Fprintln(&b, strings.NewReplacer("TIME", at.Format("02/Jan/2006:15:04:05 -0700"), "DAY", at.Format("2006-01-02"),
				"HH", at.Format("15"), "N", fmt.Sprint(h%3)).Replace(line))
		}
		return b.String()
	}
	const good = `192.0.2.1 - - [TIME] "GET /data/10.5072/a HTTP/1.1" 200 512 "-" "Mozilla/5.0 (N)"`
	const event = `{"doi":"10.5072/a","time":"DAYTHH:10:00Z","url":"/a","address":"192.0.2.1N","agent":"Mozilla/5.0 (N)"}`
	visitors := strings.Replace(good, "192.0.2.1 ", "192.0.2.1N ", 1)
	web := []string{"--log-format", "combined", "--investigations", `^/data/(10\..+)$`, "--requests", `^/files/(10\..+)$`}
	proxies := databaseOf(t, map[string]string{"192.0.2.0/24": "ZZ"})
	for name, tt := range map[string]struct {
		other string
		more  []string
		code  int
		says  string // of FILE
	}{
		"good": {strings.Replace(visitors, "2.1N", "2.2N", 1), web, 0, ""},
		"seconds as status": {strings.Replace(good, "200 512", "0.003 200 512", 1), web, 2,
			"FILE, line 1: status is \"0.003\", not three digits such as 200; the log has a layout of its own"},
		"size as status": {strings.Replace(good, "200 512", "81920 200", 1), web, 2,
			"--layout names the layout of the log, as the configuration of its server has it.\n"},
		"no status": {strings.Replace(good, "200 512", "- 512", 1), web, 2, "FILE, line 1: status is \"-\""},
		"small letters": {strings.Replace(good, "GET", "get", 1), web, 2,
			"FILE, line 1: method is \"get\", not one such as GET"},
		"a size like a status": {strings.Replace(good, "200 512", "512 200", 1), web, 0,
			"warning: no line of FILE counts, of 744: none is a successful access to a dataset; is this its layout, and are " +
				"its paths those of the patterns?\n"},
		"other paths": {strings.Replace(good, "/data/", "/item/", 1), web, 0, "warning: no line of FILE counts"},
		"a proxy": {good, web, 0,
			"warning: all accesses in FILE come from one address, that of a proxy perhaps"},
		"three proxies": {strings.NewReplacer("192.0.2.1 ", "10.0.0.N ", "(N)", "(HH)").Replace(good), web, 0,
			"warning: all accesses in FILE come from 3 private addresses, those of proxies perhaps"},
		"three computers":       {strings.Replace(good, "192.0.2.1 ", "10.0.0.N ", 1), web, 0, ""},
		"visitors, as it seems": {strings.NewReplacer("192.0.2.1 ", "192.0.2.N ", "(N)", "(HH)").Replace(good), web, 0, ""},
		"a proxy, as JSON": {strings.Replace(event, "192.0.2.1N", "10.0.0.1", 1), []string{"--log-format", "json"}, 0,
			"warning: all accesses in FILE come from one address"},
		"logins behind a proxy": {strings.Replace(event, "192.0.2.1N", `10.0.0.1","user":"u`, 1),
			[]string{"--log-format", "json"}, 0, ""},
		"an event of other form": {strings.Replace(event, "doi", "identifier", 1), []string{"--log-format", "json"}, 2,
			"FILE, line 1: line is not an event: json: unknown field \"identifier\"; its members are doi, time, url"},
		"countries of nobody": {strings.Replace(visitors, "2.1N", "2.2N", 1), append(slices.Clone(web), "--geoip", proxies),
			0, "warning: --geoip " + proxies + ": no access has a country"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			first, second := write(t, folder, "web1.log", hours(visitors)), write(t, folder, "web2.log", hours(tt.other))
			if tt.more[1] == "json" {
				first = write(t, folder, "web1.log", hours(event))
			}
			for _, days := range [][]string{nil, {"--days", filepath.Join(folder, "days")}} {
				done := runs(t.Context(), nil, "", args(slices.Concat(tt.more, days, []string{"--quiet", first, second})...)...)
				assert.Equal(t, tt.code, done.code, done.errors)
				if tt.says == "" {
					assert.Empty(t, done.errors)
				}
				assert.Contains(t, done.errors, strings.ReplaceAll(tt.says, "FILE", second))
			}
		})
	}
}

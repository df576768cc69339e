package count

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// TestServersAreGuessedFromTheNamesOfLogs: which logs belong to a server.
func TestServersAreGuessedFromTheNamesOfLogs(t *testing.T) {
	for want, names := range map[string][]string{
		"/web1/counter.log": {"/web1/counter_2026-10-14.log", "/web1/counter_2026-10-15.log.gz",
			"/web1/counter-20261016.log"},
		"/web2/access.log": {"/web2/access.log", "/web2/access.log.1", "/web2/access.log.12.gz",
			"/web2/access.log-20261014.zst", "/web2/access.log-2026101423", "/web2/access.log.1793500000"},
		"/logs/web1.log":    {"/logs/2026-10-14/web1.log", "/logs/2026/10/15/web1.log"},
		"/logs/web2.log":    {"/logs/2026-10-14/web2.log"},
		"counter_web17.log": {"counter_web17_2026-10.log"},
		"counter_web18.log": {"counter_web18_2026-10.log"},
		"standard input":    {"standard input"},
	} {
		var files []logs.FileStats
		for _, name := range names {
			files = append(files, logs.FileStats{Name: name})
		}
		servers := serversOf(files)
		if assert.Len(t, servers, 1, "%v", names) {
			assert.Equal(t, want, servers[0].Name)
			assert.Len(t, servers[0].Logs, len(names))
		}
	}
	assert.Equal(t, "/id20070367612/x.log", serversOf([]logs.FileStats{{Name: "/id20070367612/x_2026-10-01.log"}})[0].Name,
		"no date")
	assert.Equal(t, "/id9920070312/x.log", serversOf([]logs.FileStats{{Name: "/id9920070312/x.log"}})[0].Name, "no date")
	assert.Len(t, serversOf([]logs.FileStats{{Name: "b/x.log"}, {Name: "a/x.log"}, {Name: "b/x.log.1"}}), 2)
}

// Numbers in names are days, or servers: what follows one another is of one server.
func TestServersOfNumberedLogs(t *testing.T) {
	log := func(name string, from, until int) logs.FileStats {
		return logs.FileStats{Name: name, First: time.Date(2026, 10, from, 0, 0, 9, 0, time.UTC),
			Last: time.Date(2026, 10, until, 0, 0, 7, 0, time.UTC)}
	}
	names := func(files ...logs.FileStats) (names []string) {
		for _, s := range serversOf(files) {
			names = append(names, fmt.Sprint(s.Name, " ", len(s.Logs)))
		}
		return names
	}
	assert.Equal(t, []string{"access-*.log 3"},
		names(log("access-01.log", 1, 2), log("access-02.log", 2, 3), log("access-03.log", 3, 4)))
	assert.Equal(t, []string{"access-*.log 3"},
		names(log("access-1.log", 1, 2), log("access-9.log", 9, 10), log("access-10.log", 10, 11)), "some are missing")
	assert.Equal(t, []string{"web1.log 1", "web2.log 1"}, names(log("web1.log", 1, 30), log("web2.log", 1, 30)))
	assert.Equal(t, []string{"web1/access.log 2", "web2/access.log 1"},
		names(log("web1/access.log.1", 1, 14), log("web1/access.log", 14, 30), log("web2/access.log", 1, 30)))
	assert.Equal(t, []string{"a*.log 3", "a1b.log 1"},
		names(log("a1.log", 1, 2), log("a1b.log", 1, 9), log("a2.log", 2, 3), log("a3.log", 3, 4)))
	assert.Equal(t, []string{"web1.log 1", "web2.log 1"}, names(log("web1.log", 1, 2), log("web2.log", 2, 3)),
		"two may be two servers")
	assert.Equal(t, []string{"1/a.log 1", "2/a.log 1", "3/a.log 1"},
		names(log("1/a.log", 1, 2), log("2/a.log", 2, 3), log("3/a.log", 3, 4)))
}

// TestCoverage: days and servers whose logs are missing, and those that had no visitor.
func TestCoverage(t *testing.T) {
	october := func(hours func(day, hour int) bool) (lines string) {
		for at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC); at.Month() == time.October; at = at.Add(time.Hour) {
			if hours(at.Day(), at.Hour()) {
				lines += fmt.Sprintf(`192.0.2.1 - - [%s] "GET /data/10.5072/a HTTP/1.1" 200 1 "-" "M"`+"\n",
					at.Format("02/Jan/2006:15:04:05 -0700"))
			}
		}
		return lines
	}
	gap := func(from, until time.Time) logs.Gap { return logs.Gap{From: from, Until: until} }
	day := func(n int) time.Time { return time.Date(2026, 10, n, 0, 0, 0, 0, time.UTC) }
	for name, tt := range map[string]struct {
		hours            func(day, hour int) bool
		days, emptyHours int
		gaps             []logs.Gap
	}{
		"all hours": {func(int, int) bool { return true }, 0, 0, nil},
		"only 14 days": {func(day, _ int) bool {
			return day <= 14
		}, 17, 17 * 24, []logs.Gap{gap(day(15), day(32))}},
		"without the 15th": {func(day, _ int) bool { return day != 15 }, 1, 24, []logs.Gap{gap(day(15), day(16))}},
		"begins late":      {func(day, _ int) bool { return day > 2 }, 2, 48, []logs.Gap{gap(day(1), day(3))}},
		"quiet nights, lost day": {func(day, hour int) bool {
			return day != 15 && hour >= 8 && hour < 20
		}, 1, 31*12 + 12, []logs.Gap{gap(day(14).Add(20*time.Hour), day(16).Add(8*time.Hour))}},
		"some hours":     {func(day, hour int) bool { return day != 15 || hour > 20 }, 0, 21, nil},
		"a quiet server": {func(day, hour int) bool { return day%3 == 0 && hour < 5 }, 21, 31*24 - 50, nil},
		"quiet until the 14th": {func(day, hour int) bool {
			return day <= 14 && day%2 == 0 && hour == 7
		}, 24, 31*24 - 7, []logs.Gap{gap(day(14).Add(8*time.Hour), day(32))}},
		"quiet, one day": {func(day, hour int) bool { return day == 14 && hour == 7 }, 30, 31*24 - 1, nil},
		"one busy day": {func(day, hour int) bool {
			return day == 14
		}, 30, 30 * 24, []logs.Gap{gap(day(1), day(14)), gap(day(15), day(32))}},
		"nothing of the month": {func(day, hour int) bool { return false }, 31, 31 * 24, nil},
	} {
		var sum logs.Stats
		opts := &logs.Options{Stats: &sum, Location: time.UTC, Period: reports.Month(2026, time.October)}

		table, err := readPaths(strings.NewReader("path,doi,kind\n/data/10.5072/a,10.5072/a,investigation\n"), "paths")
		require.NoError(t, err)
		opts.Paths = &logs.Paths{Table: table}
		for _, err := range logs.Read([]logs.Log{logs.FromReader("access.log", strings.NewReader(october(tt.hours)))},
			logs.Combined, opts) {
			require.NoError(t, err)
		}
		got := coverageOf(opts, 24*time.Hour, &serversOf(sum.Files)[0])
		assert.Equal(t, coverage{Days: 31, Hours: 744, EmptyDays: tt.days, EmptyHours: tt.emptyHours, Gaps: got.Gaps}, got,
			name)
		assert.True(t, slices.EqualFunc(tt.gaps, got.Gaps, func(a, b logs.Gap) bool {
			return a.From.Equal(b.From) && a.Until.Equal(b.Until)
		}), "%s: %v", name, got.Gaps)
	}
}

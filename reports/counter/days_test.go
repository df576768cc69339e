package counter_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/testkit"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

func openDays(t testing.TB, folder string, opts *counter.Options) *counter.Days {
	t.Helper()
	d, err := counter.OpenDays(folder, opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() }) // many are closed by then
	return d
}

func rowsOf(t testing.TB, d *counter.Days, period reports.Period) []reports.Row {
	t.Helper()
	rows := []reports.Row{}
	for row, err := range d.Rows(period) {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

func named(name string, events ...counter.Event) counter.EventLog {
	return counter.EventLog{Name: name, Events: source(events)}
}

// visit is an access by somebody with a cookie, who may click across midnight.
func visit(at string, url string) counter.Event {
	moment, err := time.Parse(time.RFC3339, at)
	if err != nil {
		panic(err)
	}
	return counter.Event{DOI: "10.5072/a", Time: moment, URL: url, Cookie: "c-17", Agent: "Mozilla/5.0 (X11)"}
}

// TestDaysAddUpToTheMonth counts random logs night by night: of one or several servers, growing, rotated,
// some of them late. The days add up to what one count of everything gives.
func TestDaysAddUpToTheMonth(t *testing.T) {
	zones := zones(t)
	for seed := range uint64(max(1, *randomLogs/20)) {
		r := rand.New(rand.NewPCG(seed, 7))
		var l randomLog
		for range 1 + r.IntN(4) {
			more := makeLog(r, zones)
			l.zone = more.zone
			l.events = append(l.events, more.events...)
		}
		slices.SortStableFunc(l.events, func(a, b counter.Event) int { return a.Time.Compare(b.Time) })
		folder := t.TempDir()
		servers := make([][]counter.Event, 1+r.IntN(3))
		for left := l.events; ; {
			var sources []counter.EventLog
			for i, events := range servers {
				name := fmt.Sprintf("server-%d.log", i)
				if r.IntN(2) == 0 {
					name += ".1" // rotated
				}
				if len(events) > 0 {
					sources = append(sources, named(name, events...))
				}
			}
			d := openDays(t, folder, &counter.Options{Location: l.zone})
			_, err := d.Add(sources, nil)
			require.NoError(t, err, "seed %d", seed)
			require.NoError(t, d.Close())
			if len(left) == 0 {
				break
			}
			tonight := min(len(left), 1+r.IntN(12))
			for _, e := range left[:tonight] {
				server := r.IntN(len(servers))
				servers[server] = append(servers[server], e)
			}
			left = left[tonight:]
		}
		for _, period := range []reports.Period{{}, reports.Month(2026, time.October)} {
			want := count(t, l.events, &counter.Options{Location: l.zone, Period: period})
			require.Equal(t, want, rowsOf(t, openDays(t, folder, &counter.Options{Location: l.zone}), period), "seed %d, %v",
				seed, period)
			matches, err := filepath.Glob(filepath.Join(folder, "*.tmp"))
			require.NoError(t, err)
			require.Empty(t, matches)
			lock := folder
			folder = copyOf(t, lock) // the other one is open
		}
	}
}

func copyOf(t testing.TB, folder string) string {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(to, "copy"), os.DirFS(folder)))
	return filepath.Join(to, "copy")
}

// Each night the log of the day that is over and the one that grows are counted; the others are
// not even opened.
func TestANightReadsWhatIsNew(t *testing.T) {
	d := openDays(t, t.TempDir(), nil)
	read := []string{}
	log := func(name, version string, events ...counter.Event) counter.EventLog {
		return counter.EventLog{Name: name, Version: version, Events: func(yield func(counter.Event, error) bool) {
			read = append(read, name)
			source(events)(yield)
		}}
	}
	first := log("14.log", "sum of 14", visit("2026-10-14T10:00:00Z", "/a"), visit("2026-10-14T23:59:50Z", "/a"))
	added, err := d.Add([]counter.EventLog{first}, nil)
	require.NoError(t, err)
	assert.Equal(t, []reports.Date{"2026-10-14"}, added.Counted)

	read = nil
	second := log("15.log", "sum of 15", visit("2026-10-15T00:00:10Z", "/a"), visit("2026-10-15T12:00:00Z", "/a"))
	added, err = d.Add([]counter.EventLog{first, second}, nil)
	require.NoError(t, err)
	assert.Equal(t, []reports.Date{"2026-10-14", "2026-10-15"}, added.Counted,
		"the double click over midnight belongs to the 15th")
	assert.Equal(t, []string{"14.log"}, added.Unchanged)
	assert.Equal(t, int64(3), rowsOf(t, d, reports.Month(2026, time.October))[0].Count)

	read = nil
	third := log("16.log", "sum of 16", visit("2026-10-16T12:00:00Z", "/a"))
	added, err = d.Add([]counter.EventLog{first, second, third}, nil)
	require.NoError(t, err)
	assert.Equal(t, []reports.Date{"2026-10-16"}, added.Counted)
	assert.Equal(t, []string{"16.log", "16.log"}, read, "once for its days, once to count")
	assert.Equal(t, []counter.Day{
		{Date: "2026-10-14", Events: 2, Sources: []string{"14.log"}},
		{Date: "2026-10-15", Events: 2, Sources: []string{"15.log"}},
		{Date: "2026-10-16", Events: 1, Sources: []string{"16.log"}},
	}, d.List())

	read = nil
	added, err = d.Add([]counter.EventLog{first, second, third}, nil)
	require.NoError(t, err)
	assert.Empty(t, added.Counted)
	assert.Empty(t, read)
}

// A log that comes late needs the others of its day: the same visitor may be in both.
func TestALateLogNeedsTheOthersOfItsDay(t *testing.T) {
	d := openDays(t, t.TempDir(), nil)
	one, other := named("one.log", visit("2026-10-14T10:00:00Z", "/a")), named("other.log",
		visit("2026-10-14T10:10:00Z", "/a"))
	_, err := d.Add([]counter.EventLog{one}, nil)
	require.NoError(t, err)
	before := rowsOf(t, d, reports.Period{})

	_, err = d.Add([]counter.EventLog{other}, nil)
	require.EqualError(t, err, "datacite: 2026-10-14: was counted from one.log (1 access), whose accesses are in none "+
		"of the logs: give all logs of the day")
	assert.Equal(t, before, rowsOf(t, d, reports.Period{}), "nothing has changed")

	all, names := []counter.EventLog{one, other}, []string{}
	for server := range 6 {
		name := fmt.Sprintf("p%d.log", server)
		names = append(names, name)
		e := visit("2026-10-14T10:20:00Z", "/a")
		e.DOI = "10.5072/z" + name
		all = append(all, named(name, e))
	}
	_, err = d.Add(all, nil)
	require.NoError(t, err)
	assert.Equal(t, []counter.Day{{Date: "2026-10-14", Events: 8, Sources: append([]string{"one.log", "other.log"},
		names...)}},
		d.List())
	rows := rowsOf(t, d, reports.Period{})
	assert.Equal(t, []int64{2, 1}, []int64{rows[0].Count, rows[1].Count}, "two accesses, one visitor")

	_, err = d.Add([]counter.EventLog{named("corrected.log", visit("2026-10-14T10:10:00Z", "/b"))},
		&counter.AddOptions{Replace: true})
	require.NoError(t, err)
	assert.Equal(t, int64(1), rowsOf(t, d, reports.Period{})[0].Count)
}

// A log that is replaced by one of other visitors, with the same times, URLs and user agents, is another log.
func TestWhoBelongsToALog(t *testing.T) {
	by := func(set func(*counter.Event, string)) (as func(who ...string) counter.EventLog) {
		return func(who ...string) counter.EventLog {
			var events []counter.Event
			for i, one := range who {
				e := visit(fmt.Sprintf("2026-10-14T10:%02d:00Z", i), "/a")
				set(&e, one)
				events = append(events, e)
			}
			return named("a.log", events...)
		}
	}
	for kind, as := range map[string]func(who ...string) counter.EventLog{
		"address": by(func(e *counter.Event, who string) { e.Cookie, e.Address = "", "192.0.2."+who }),
		"cookie":  by(func(e *counter.Event, who string) { e.Cookie = who }),
		"session": by(func(e *counter.Event, who string) { e.Cookie, e.Session = "", who }),
		"login":   by(func(e *counter.Event, who string) { e.User = who }),
	} {
		t.Run(kind, func(t *testing.T) {
			d := openDays(t, t.TempDir(), nil)
			_, err := d.Add([]counter.EventLog{as("1", "1", "1")}, nil)
			require.NoError(t, err)
			_, err = d.Add([]counter.EventLog{as("1", "2", "3")}, nil)
			require.ErrorContains(t, err, "2026-10-14: was counted from a.log (3 accesses), whose accesses are in none of the "+
				"logs")
			_, err = d.Add([]counter.EventLog{as("1", "2", "3")}, &counter.AddOptions{Replace: true})
			require.NoError(t, err)
			rows := rowsOf(t, d, reports.Period{})
			assert.Equal(t, []int64{3, 3}, []int64{rows[0].Count, rows[1].Count}, "three accesses by three visitors")
		})
	}
}

// Logs are rotated while they are counted: access.log of tonight is access.log.1 of tomorrow, and
// another one has its name.
func TestRotatedLogsAreKnown(t *testing.T) {
	d := openDays(t, t.TempDir(), nil)
	morning, evening := visit("2026-10-14T02:00:00Z", "/a"), visit("2026-10-14T22:00:00Z", "/a")
	next, third := visit("2026-10-15T02:00:00Z", "/a"), visit("2026-10-15T23:00:00Z", "/a")
	nights := [][]counter.EventLog{
		{named("access.log", morning)},
		{named("access.log", next), named("access.log.1", morning, evening)},
		{named("access.log.1", next, third), named("access.log.2.gz", morning, evening)},
		{named("access.log.1", next, third)}, // the other one is gone
	}
	for _, sources := range nights {
		_, err := d.Add(sources, nil)
		require.NoError(t, err)
	}
	assert.Equal(t, int64(4), rowsOf(t, d, reports.Period{})[0].Count)

	_, err := d.Add([]counter.EventLog{named("access.log", next, third), named("copy.log", next, third)}, nil)
	require.ErrorIs(t, err, datacite.ErrInvalid)
	require.ErrorContains(t, err, "sources[1]: copy.log has the same accesses as access.log")
}

// logsOf are logs written as "a.log: 5a 5b, b.log: 6a": accesses a and b of the 5th, and a of the 6th. 5a*
// is one at 10 seconds after midnight.
func logsOf(text string) (sources []counter.EventLog) {
	for log := range strings.SplitSeq(text, ", ") {
		name, accesses, given := strings.Cut(log, ":")
		var events []counter.Event
		for access := range strings.FieldsSeq(accesses) {
			at := "T10:00:00Z"
			if strings.HasSuffix(access, "*") {
				at = "T00:00:10Z"
			}
			events = append(events, visit("2026-02-0"+access[:1]+at, "/"+access))
		}
		if given {
			sources = append(sources, named(name, events...))
		}
	}
	return sources
}

// daysOf are total investigations, and Days of which counts are kept, as "5: 2, 6: 1; kept 5: 1 of a.log".
func daysOf(t *testing.T, d *counter.Days, kept []counter.Day) string {
	var days, stay []string
	for day := 1; day <= 28; day++ {
		date := reports.Date(fmt.Sprintf("2026-02-%02d", day))
		if rows := rowsOf(t, d, reports.Period{BeginDate: date, EndDate: date}); len(rows) > 0 {
			days = append(days, fmt.Sprintf("%d: %d", day, rows[0].Count))
		}
	}
	for _, k := range kept {
		stay = append(stay, fmt.Sprintf("%s: %d of %s", strings.TrimPrefix(string(k.Date), "2026-02-0"), k.Events,
			strings.Join(k.Sources, " ")))
	}
	return strings.Join(days, ", ") + "; kept " + strings.Join(stay, ", ")
}

// TestWhatADayStates: the counts of a day are those of its logs. A log that was given again states what it has
// now, and a log that is gone what it had.
func TestWhatADayStates(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want, replaced string }{
		"the same": {"a: 5a 6a, b: 5b", "a: 5a 6a, b: 5b", "5: 2, 6: 1; kept ", ""},
		"grown":    {"a: 5a, b: 5b", "a: 5a 5c 6a, b: 5b", "5: 3, 6: 1; kept ", ""},
		"grown, the other is gone": {"a: 5a, b: 5b", "a: 5a 5c", "2026-02-05: was counted from b (1 access)",
			"5: 2; kept "},
		"grown on another day": {"a: 5a, b: 5b", "a: 5a 6a", "5: 2, 6: 1; kept 5: 1 of b", ""},
		"renamed":              {"a: 5a 6a", "a.1: 5a 6a, a: 6b", "5: 1, 6: 2; kept ", ""},
		"emptied":              {"a: 5a", "a:", "2026-02-05: was counted from a (1 access)", "; kept "},
		"emptied, of two": {"a: 5a, b: 5b", "a:, b: 5b", "2026-02-05: was counted from a (1 access)",
			"5: 1; kept "},
		"emptied, the other is gone": {"a: 5a, b: 5b", "a:", "2026-02-05: was counted from a (1 access), b (1 access)",
			"; kept "},
		"a day filtered out":           {"a: 5a 6a", "a: 6a", "2026-02-05: was counted from a (1 access)", "6: 1; kept "},
		"a day filtered out, the last": {"a: 5a 6a", "a: 5a", "2026-02-06: was counted from a (1 access)", "5: 1; kept "},
		"filtered out and grown": {"a: 5a 6a", "a: 6a 6b", "2026-02-05: was counted from a (1 access)",
			"6: 2; kept "},
		"filtered out, of two": {"a: 5a 6a, b: 5b", "a: 6a, b: 5b", "2026-02-05: was counted from a (1 access)",
			"5: 1, 6: 1; kept "},
		"a day of both filtered out": {"a: 5a 6a, b: 5b 6b", "a: 6a, b: 6b",
			"2026-02-05: was counted from a (1 access), b (1 access)", "6: 2; kept "},
		"shrunk": {"a: 5a 5b 6a", "a: 5a 6a", "2026-02-05: was counted from a (2 accesses)",
			"5: 1, 6: 1; kept "},
		"replaced on the day": {"a: 5a", "a: 5b", "2026-02-05: was counted from a (1 access)", "5: 1; kept "},
		"replaced by days around it": {"a: 6a", "a: 5a 7a", "2026-02-06: was counted from a (1 access)",
			"5: 1, 7: 1; kept "},
		"replaced by an earlier day": {"a: 5a", "a: 4a", "2026-02-05: was counted from a (1 access)", "4: 1; kept "},
		"after midnight, filtered out": {"a: 5a 6a*", "a: 5a", "2026-02-05: was counted from a (2 accesses)",
			"5: 1; kept "},
		"after midnight alone": {"a: 6a*", "a:", "2026-02-06: was counted from a (1 access)", "; kept "},
		"moved to the other":   {"a: 5a, b: 6a", "a:, b: 5a 6a", "5: 1, 6: 1; kept ", ""},
		"gone":                 {"a: 5a, b: 6a", "b: 6a", "5: 1, 6: 1; kept 5: 1 of a", ""},
		"gone, one of two":     {"a: 5a, b: 5b", "b: 5b", "5: 2; kept 5: 1 of a", ""},
		"rotated, the last is gone": {"a: 7a, a.1: 6a, a.2: 5a", "a: 8a, a.1: 7a, a.2: 6a",
			"5: 1, 6: 1, 7: 1, 8: 1; kept 5: 1 of a.2", ""},
		"rotated at noon, the last gone": {"a: 6b 7a, a.1: 5b 6a, a.2: 4a 5a", "a: 7b 8a, a.1: 6b 7a, a.2: 5b 6a",
			"4: 1, 5: 2, 6: 2, 7: 2, 8: 1; kept 4: 1 of a.2, 5: 1 of a.2", ""},
		"rotated within a day":    {"a: 4a 6a", "a: 6b*, b: 6a", "4: 1, 6: 2; kept 4: 1 of a", ""},
		"one name for each night": {"a.1: 5a", "a.1: 6a", "5: 1, 6: 1; kept 5: 1 of a.1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			add := func(folder, text string, opts *counter.AddOptions) (*counter.Added, *counter.Days, error) {
				d := openDays(t, folder, nil)
				added, err := d.Add(logsOf(text), opts)
				return added, d, err
			}
			_, d, err := add(folder, c.before, nil)
			require.NoError(t, err)
			before := daysOf(t, d, nil)
			require.NoError(t, d.Close())

			added, d, err := add(folder, c.after, nil)
			if c.replaced == "" {
				require.NoError(t, err)
				assert.Equal(t, c.want, daysOf(t, d, added.Kept))
				return
			}
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, before, daysOf(t, d, nil), "nothing has changed")
			require.NoError(t, d.Close())
			added, d, err = add(folder, c.after, &counter.AddOptions{Replace: true})
			require.NoError(t, err)
			assert.Equal(t, c.replaced, daysOf(t, d, added.Kept))
		})
	}
}

// TestRandomHistoriesOfLogs: whatever becomes of logs from night to night, the counts of a day are those
// of the logs that are given, or its counts are named as those of logs that are gone, or an error names
// it and nothing changes.
func TestRandomHistoriesOfLogs(t *testing.T) {
	kept, refused := 0, 0
	for seed := range uint64(max(2, *randomLogs/50)) {
		r := rand.New(rand.NewPCG(seed, 48))
		d, logs, last, later := openDays(t, t.TempDir(), nil), map[string][]string{}, map[string][]string{}, map[string]bool{}
		for night := range 12 {
			given, texts, want := map[string]bool{}, []string{}, map[string]int64{}
			access := fmt.Sprintf("%d%c%d", 1+r.IntN(6), 'a'+rune(r.IntN(6)), night)
			for i, name := range []string{"p", "q", "r"} {
				switch r.IntN(8) {
				case 0, 1: // grows
					logs[name] = append(logs[name], fmt.Sprint(access, i))
				case 2: // shrinks
					logs[name] = slices.DeleteFunc(slices.Clone(logs[name]), func(string) bool { return r.IntN(2) == 0 })
				case 3:
					logs[name] = nil
				case 4: // is replaced
					logs[name] = []string{fmt.Sprint(access, i)}
				}
				if r.IntN(6) == 0 {
					continue // it is gone
				}
				given[name] = true
				texts = append(texts, name+": "+strings.Join(logs[name], " "))
				for _, a := range logs[name] {
					want[a[:1]]++
				}
				had := last[name]
				later[name] = later[name] || len(had) > 0 && len(logs[name]) > 0 &&
					slices.Min(logs[name])[:1] >= slices.Max(had)[:1]
				last[name] = slices.Clone(logs[name])
			}
			before := daysOf(t, d, nil)
			added, err := d.Add(logsOf(strings.Join(texts, ", ")), nil)
			if err != nil {
				require.ErrorContains(t, err, "give all logs of the day", "seed %d", seed)
				require.Equal(t, before, daysOf(t, d, nil))
				refused++
				added, err = d.Add(logsOf(strings.Join(texts, ", ")), &counter.AddOptions{Replace: true})
				require.NoError(t, err)
			}
			stays := map[string]bool{}
			for _, day := range added.Kept {
				kept++
				stays[strings.TrimPrefix(string(day.Date), "2026-02-0")] = true
				for _, name := range day.Sources {
					require.True(t, !given[name] || later[name], "seed %d: %v of %v", seed, day, texts)
				}
			}
			for day := range 7 {
				date, n := reports.Date(fmt.Sprintf("2026-02-%02d", day+1)), fmt.Sprint(day+1)
				if rows := rowsOf(t, d, reports.Period{BeginDate: date, EndDate: date}); !stays[n] && len(rows) > 0 {
					require.Equal(t, want[n], rows[0].Count, "seed %d, %s of %v", seed, date, texts)
				} else if !stays[n] {
					require.Zero(t, want[n], "seed %d, %s of %v", seed, date, texts)
				}
			}
		}
	}
	assert.Positive(t, kept)
	assert.Positive(t, refused)
}

func TestAFolderOfDaysThatIsNotSound(t *testing.T) {
	folder := t.TempDir()
	d := openDays(t, folder, nil)
	sources := []counter.EventLog{named("a.log", visit("2026-10-14T10:00:00Z", "/a"), visit("2026-10-15T10:00:00Z", "/a"))}
	_, err := d.Add(sources, nil)
	require.NoError(t, err)
	want := rowsOf(t, d, reports.Period{})

	_, err = counter.OpenDays(folder, nil)
	require.ErrorContains(t, err, "in use by another run")
	require.NoError(t, d.Close())
	for _, opts := range []counter.Options{{Location: zone(t, "Europe/Berlin")},
		{Period: reports.Month(2026, time.October)},
		{Robots: counter.Robots().Without("Googlebot/2.1")}, {Machines: counter.Machines().Without("curl/8")}} {
		_, err = counter.OpenDays(folder, &opts)
		require.ErrorContains(t, err, "another time zone, period or lists of user agents")
		require.ErrorIs(t, err, datacite.ErrInvalid)
	}

	files, err := filepath.Glob(filepath.Join(folder, "day-*.csv.gz"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	aside := filepath.Join(t.TempDir(), "aside")
	require.NoError(t, os.Rename(files[0], aside))
	testkit.Symlink(t, files[0], files[0])
	d, err = counter.OpenDays(folder, nil)
	require.NoError(t, err)
	_, err = d.Add([]counter.EventLog{named("b.log", visit("2026-10-14T11:00:00Z", "/a"))},
		&counter.AddOptions{Replace: true})
	require.ErrorContains(t, err, files[0], "a file that cannot be looked at was not removed")
	require.NoError(t, errors.Join(d.Close(), os.Rename(aside, files[0])))

	sound, err := os.ReadFile(files[0])
	require.NoError(t, err)
	other, err := os.ReadFile(files[1])
	require.NoError(t, err)
	damages := map[string][]byte{"cut": sound[:len(sound)-9], "empty": {}, "text": []byte("10.5072/a,"),
		"of another day": other, "another count": zipped(strings.Replace(inflated(t, files[0]), ",1\n", ",2\n", 1)),
		"no count": zipped(strings.Replace(inflated(t, files[0]), ",1\n", ",one\n", 1)), "no rows": zipped(""),
		"four cells": zipped("10.5072/a,total-dataset-investigations,regular,\n"),
		"more rows":  zipped(inflated(t, files[0]) + inflated(t, files[0]))}
	for name, damaged := range damages {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(files[0], damaged, 0o600))
			d, err := counter.OpenDays(folder, nil)
			require.NoError(t, err)
			defer d.Close()
			failed := false
			for _, err := range d.Rows(reports.Period{}) {
				if err != nil {
					failed = true
					assert.ErrorIs(t, err, datacite.ErrInvalid)
					assert.ErrorContains(t, err, files[0]+": the file is damaged")
					assert.ErrorContains(t, err, "; remove it, and add the logs of the day again")
				}
			}
			if name != "of another day" { // with the same text, its counts are the same
				assert.True(t, failed)
			}
			require.NoError(t, os.Remove(files[0]))
			_, err = d.Add([]counter.EventLog{named("b.log", visit("2026-10-14T10:00:00Z", "/b"))}, nil)
			require.ErrorContains(t, err, "2026-10-14: was counted from a.log (1 access)")
			_, err = d.Add(sources, nil)
			require.NoError(t, err)
			assert.Equal(t, want, rowsOf(t, d, reports.Period{}))
		})
	}
}

func TestALinkInPlaceOfTheLockIsRefused(t *testing.T) {
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	testkit.Symlink(t, elsewhere, filepath.Join(folder, "days.lock"))
	_, err := counter.OpenDays(folder, nil)
	require.ErrorContains(t, err, "is not a regular file")
	require.NoFileExists(t, elsewhere)
}

// An error of a source leaves everything as it was, and a run that was killed leaves nothing behind.
func TestDaysAreStoredWholeOrNotAtAll(t *testing.T) {
	folder := t.TempDir()
	d := openDays(t, folder, nil)
	_, err := d.Add([]counter.EventLog{named("a.log", visit("2026-10-14T10:00:00Z", "/a"))}, nil)
	require.NoError(t, err)
	want := rowsOf(t, d, reports.Period{})
	for _, broken := range []iter.Seq2[counter.Event, error]{
		func(yield func(counter.Event, error) bool) {
			_ = yield(visit("2026-10-15T10:00:00Z", "/a"), nil) && yield(counter.Event{}, os.ErrClosed)
		},
		source([]counter.Event{visit("2026-10-15T10:00:00Z", "/a"), {DOI: "10.5072/a", Time: time.Now(), Access: "other"}}),
	} {
		_, err = d.Add([]counter.EventLog{{Name: "b.log", Events: broken}}, nil)
		require.Error(t, err)
		assert.Contains(t, err.Error(), "b.log")
		assert.Equal(t, want, rowsOf(t, d, reports.Period{}))
	}
	require.NoError(t, d.Close())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "day-123.tmp"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes.txt"), nil, 0o600))
	openDays(t, folder, nil)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, entries, 4, "the index, the lock, a day, and what is not of a run: %v", entries)
}

// A folder that cannot be read or written is an error that says so, and nothing is counted by halves.
func TestAFolderOfDaysThatFails(t *testing.T) {
	log := []counter.EventLog{named("a.log", visit("2026-10-14T10:00:00Z", "/a"))}
	rows := func(d *counter.Days) (err error) {
		for row, failed := range d.Rows(reports.Period{}) {
			if err = failed; err != nil {
				assert.Zero(t, row)
			}
		}
		return err
	}
	mkdir := func(path ...string) { require.NoError(t, os.MkdirAll(filepath.Join(path...), 0o700)) }
	for name, tt := range map[string]struct {
		do   func(folder string, d *counter.Days) error // to a folder with a day
		want string
	}{
		"a file in its place": {func(folder string, _ *counter.Days) error {
			_, err := counter.OpenDays(filepath.Join(folder, "days.lock"), nil)
			return err
		}, "days.lock"},
		"a file above it": {func(folder string, _ *counter.Days) error {
			_, err := counter.OpenDays(filepath.Join(folder, "days.json", "days"), nil)
			return err
		}, "days.json"},
		"no index": {func(folder string, d *counter.Days) error {
			require.NoError(t, errors.Join(d.Close(), os.Remove(filepath.Join(folder, "days.json"))))
			mkdir(folder, "days.json")
			_, err := counter.OpenDays(folder, nil)
			return err
		}, "days.json"},
		"a damaged index": {func(folder string, d *counter.Days) error {
			path := filepath.Join(folder, "days.json")
			require.NoError(t, errors.Join(d.Close(), os.WriteFile(path, []byte(`{"rules":`), 0o600)))
			_, err := counter.OpenDays(folder, nil)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			require.NoError(t, os.Remove(path))
			_, err2 := counter.OpenDays(folder, nil)
			require.NoError(t, err2, "the lock was left")
			return err
		}, "days.json: the file is damaged: unexpected end of JSON input; count into an empty folder"},
		"what cannot be swept": {func(folder string, d *counter.Days) error {
			require.NoError(t, d.Close())
			mkdir(folder, "day-1.tmp", "below")
			_, err := counter.OpenDays(folder, nil)
			return err
		}, "day-1.tmp"},
		"an index that cannot be written": {func(folder string, d *counter.Days) error {
			require.NoError(t, os.Remove(filepath.Join(folder, "days.json")))
			mkdir(folder, "days.json")
			_, err := d.Add(append(log, named("b.log", visit("2026-10-15T10:00:00Z", "/a"))), nil)
			assert.Len(t, d.List(), 1)
			return err
		}, "days.json"},
		"a day that is a folder": {func(folder string, d *counter.Days) error {
			files, err := filepath.Glob(filepath.Join(folder, "day-*"))
			require.NoError(t, errors.Join(err, os.Remove(files[0])))
			mkdir(files[0])
			return rows(d)
		}, "counter: "},
		"a day that is gone": {func(folder string, d *counter.Days) error {
			files, err := filepath.Glob(filepath.Join(folder, "day-*"))
			require.NoError(t, errors.Join(err, os.Remove(files[0])))
			err = rows(d)
			require.ErrorIs(t, err, os.ErrNotExist)
			return err
		}, "day-2026-10-14-"},
		"it is gone": {func(folder string, d *counter.Days) error {
			require.NoError(t, os.Remove(folder)) // a link
			_, err := d.Add(append(log, named("b.log", visit("2026-10-15T10:00:00Z", "/a"))), nil)
			require.ErrorIs(t, err, os.ErrNotExist)
			assert.Len(t, d.List(), 1)
			return err
		}, "day-"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "link")
			testkit.Symlink(t, t.TempDir(), folder)
			d := openDays(t, folder, nil)
			_, err := d.Add(log, nil)
			require.NoError(t, err)
			err = tt.do(folder, d)
			require.ErrorContains(t, err, tt.want)
			assert.Equal(t, name == "a damaged index", errors.Is(err, datacite.ErrInvalid))
		})
	}
}

// Days that OpenDays did not make are an error, whatever is asked of them.
func TestDaysWithoutAFolder(t *testing.T) {
	d := new(counter.Days)
	_, added := d.Add(nil, nil)
	errs := []error{added, d.Close()}
	for row, err := range d.Rows(reports.Period{}) {
		assert.Zero(t, row)
		errs = append(errs, err)
	}
	require.Len(t, errs, 3)
	for _, err := range errs {
		require.ErrorIs(t, err, datacite.ErrInvalid)
		require.ErrorContains(t, err, "Days: is the zero value; OpenDays makes one")
	}
	assert.Empty(t, d.List())
	_, err := counter.OpenDays(t.TempDir(), &counter.Options{Memory: -1})
	require.ErrorContains(t, err, "Options.Memory")
	for _, err := range openDays(t, t.TempDir(), nil).Rows(reports.Period{BeginDate: "2026-10-31",
		EndDate: "2026-10-01"}) {
		require.ErrorContains(t, err, "Options.Period")
	}
}

// What is wrong with a log is an error that names it.
func TestLogsThatCannotBeAdded(t *testing.T) {
	one, lost := visit("2026-10-14T10:00:00Z", "/a"), errors.New("disk is dead")
	reads := 0
	flaky := func(yield func(counter.Event, error) bool) {
		if reads++; yield(one, nil) && reads > 1 {
			yield(counter.Event{}, lost)
		}
	}
	long := func(days int) iter.Seq2[counter.Event, error] {
		return func(yield func(counter.Event, error) bool) {
			for day := range days {
				e := one
				if e.Time = time.Unix(int64(day)*86_400, 0); !yield(e, nil) {
					return
				}
			}
		}
	}
	invalid := one
	invalid.Country = "Mars"
	d := openDays(t, t.TempDir(), nil)
	for want, sources := range map[string][]counter.EventLog{
		`sources[0]: is ""; each source needs a name of its own, and events`: {named("", one)},
		`sources[1]: is "a.log"; each source needs`: {named("a.log", one), named("a.log",
			visit("2026-10-15T10:00:00Z", "/a"))},
		`sources[0]: is "a.log"; each source`:                   {{Name: "a.log"}},
		`b.log: disk is dead`:                                   {{Name: "b.log", Events: flaky}},
		`b.log: event 2: datacite: country: is "Mars"`:          {named("b.log", one, invalid)},
		`c.log: datacite: has accesses of more than 10000 days`: {{Name: "c.log", Events: long(10_001)}},
	} {
		_, err := d.Add(sources, nil)
		require.ErrorContains(t, err, want)
		assert.Equal(t, !strings.Contains(want, "dead"), errors.Is(err, datacite.ErrInvalid), want)
		assert.Empty(t, d.List(), "nothing has changed")
	}
	assert.Equal(t, 2, reads)
}

// The numbers of all that became of the events of a night.
func TestTallyOfANight(t *testing.T) {
	october := openDays(t, t.TempDir(), &counter.Options{Period: reports.Month(2026, time.October)})
	robot, nothing, no := visit("2026-10-14T10:00:00Z", "/a"), visit("2026-10-14T10:00:00Z", "/a"),
		visit("2026-10-14T10:00:00Z", "/a")
	robot.Agent, nothing.DOI, no.DOI = "Googlebot/2.1", "", "none"
	events := []counter.Event{visit("2026-10-14T10:00:00Z", "/a"), visit("2026-10-14T10:00:10Z", "/a"), robot, nothing,
		nothing, no,
		visit("2026-09-30T23:59:59Z", "/a"), visit("2026-10-31T23:59:59Z", "/a"), visit("2026-11-01T00:00:10Z", "/b"),
		visit("2026-11-02T10:00:00Z", "/a"), visit("2026-10-26T00:00:10Z", "/a")}
	a, b := named("a.log", events...), named("b.log", visit("2026-10-20T10:00:00Z", "/a"), nothing)
	a.Version, b.Version = "1", "1"
	var sum counter.Tally
	_, err := october.Add([]counter.EventLog{a}, &counter.AddOptions{Tally: &sum})
	require.NoError(t, err)
	assert.Equal(t, counter.Tally{Counted: 3, DoubleClicks: 1, Robots: 1, OtherMonths: 3, NoDataset: 2, InvalidDOI: 1},
		sum)
	assert.EqualValues(t, len(events), sum.Events())
	assert.Equal(t, []counter.Day{{Date: "2026-10-14", Events: 3, Sources: []string{"a.log"}},
		{Date: "2026-10-26", Events: 1, Sources: []string{"a.log"}},
		{Date: "2026-10-31", Events: 1, Sources: []string{"a.log"}}}, october.List(),
		"none on the 25th, but a double click of it")
	_, err = october.Add([]counter.EventLog{a, b}, &counter.AddOptions{Tally: &sum})
	require.NoError(t, err)
	assert.Equal(t, counter.Tally{Counted: 1, NoDataset: 1}, sum, "of what was counted now")
	assert.Empty(t, rowsOf(t, october, reports.Month(2026, time.November)))
	for period, want := range map[reports.Period]int64{{BeginDate: "2026-10-14", EndDate: "2026-10-20"}: 2,
		{BeginDate: "2026-10-15", EndDate: "2026-10-31"}: 3, {BeginDate: "2026-10-31", EndDate: "2026-10-31"}: 1} {
		assert.Equal(t, want, rowsOf(t, october, period)[0].Count, period)
	}
}

// What is kept says nothing about visitors.
func TestDaysHoldNothingOfVisitors(t *testing.T) {
	folder := t.TempDir()
	d := openDays(t, folder, nil)
	e := visit("2026-10-14T10:00:00Z", "/a?token=t-17")
	e.User, e.Session, e.Address = "lovelace", "s-17", "192.0.2.17"
	_, err := d.Add([]counter.EventLog{named("a.log", e)}, nil)
	require.NoError(t, err)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		text := entry.Name() + inflated(t, filepath.Join(folder, entry.Name()))
		for _, personal := range []string{"lovelace", "c-17", "s-17", "192.0.2.17", "t-17", "Mozilla"} {
			assert.False(t, strings.Contains(text, personal), "%s in %s", personal, entry.Name())
		}
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text) // to memory
	_ = w.Close()
	return b.Bytes()
}

func inflated(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	if !strings.HasSuffix(path, ".gz") {
		return string(data)
	}
	zip, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	text, err := io.ReadAll(zip)
	require.NoError(t, err)
	return string(text)
}

package counter_test

import (
	"bytes"
	"compress/gzip"
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

func named(name string, events ...counter.Event) counter.Source {
	return counter.Source{Name: name, Events: source(events)}
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
			var sources []counter.Source
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
			require.Equal(t, want, rowsOf(t, openDays(t, folder, &counter.Options{Location: l.zone}), period), "seed %d, %v", seed, period)
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
	log := func(name, version string, events ...counter.Event) counter.Source {
		return counter.Source{Name: name, Version: version, Events: func(yield func(counter.Event, error) bool) {
			read = append(read, name)
			source(events)(yield)
		}}
	}
	first := log("14.log", "sum of 14", visit("2026-10-14T10:00:00Z", "/a"), visit("2026-10-14T23:59:50Z", "/a"))
	added, err := d.Add([]counter.Source{first}, nil)
	require.NoError(t, err)
	assert.Equal(t, []reports.Date{"2026-10-14"}, added.Counted)

	read = nil
	second := log("15.log", "sum of 15", visit("2026-10-15T00:00:10Z", "/a"), visit("2026-10-15T12:00:00Z", "/a"))
	added, err = d.Add([]counter.Source{first, second}, nil)
	require.NoError(t, err)
	assert.Equal(t, []reports.Date{"2026-10-14", "2026-10-15"}, added.Counted, "the double click over midnight belongs to the 15th")
	assert.Equal(t, []string{"14.log"}, added.Unchanged)
	assert.Equal(t, int64(3), rowsOf(t, d, reports.Month(2026, time.October))[0].Count)

	read = nil
	third := log("16.log", "sum of 16", visit("2026-10-16T12:00:00Z", "/a"))
	added, err = d.Add([]counter.Source{first, second, third}, nil)
	require.NoError(t, err)
	assert.Equal(t, []reports.Date{"2026-10-16"}, added.Counted)
	assert.Equal(t, []string{"16.log", "16.log"}, read, "once for its days, once to count")
	assert.Equal(t, []counter.Day{
		{Date: "2026-10-14", Events: 2, Sources: []string{"14.log"}},
		{Date: "2026-10-15", Events: 2, Sources: []string{"15.log"}},
		{Date: "2026-10-16", Events: 1, Sources: []string{"16.log"}},
	}, d.List())

	read = nil
	added, err = d.Add([]counter.Source{first, second, third}, nil)
	require.NoError(t, err)
	assert.Empty(t, added.Counted)
	assert.Empty(t, read)
}

// A log that comes late needs the others of its day: the same visitor may be in both.
func TestALateLogNeedsTheOthersOfItsDay(t *testing.T) {
	d := openDays(t, t.TempDir(), nil)
	one, other := named("one.log", visit("2026-10-14T10:00:00Z", "/a")), named("other.log", visit("2026-10-14T10:10:00Z", "/a"))
	_, err := d.Add([]counter.Source{one}, nil)
	require.NoError(t, err)
	before := rowsOf(t, d, reports.Period{})

	_, err = d.Add([]counter.Source{other}, nil)
	require.EqualError(t, err, "datacite: 2026-10-14: was counted from one.log (1 access), whose accesses are in none of the logs: give all logs of the day")
	assert.Equal(t, before, rowsOf(t, d, reports.Period{}), "nothing has changed")

	_, err = d.Add([]counter.Source{one, other}, nil)
	require.NoError(t, err)
	rows := rowsOf(t, d, reports.Period{})
	assert.Equal(t, []int64{2, 1}, []int64{rows[0].Count, rows[1].Count}, "two accesses, one visitor")

	_, err = d.Add([]counter.Source{named("corrected.log", visit("2026-10-14T10:10:00Z", "/b"))}, &counter.AddOptions{Replace: true})
	require.NoError(t, err)
	assert.Equal(t, int64(1), rowsOf(t, d, reports.Period{})[0].Count)
}

// A log that is replaced by one of other visitors, with the same times, URLs and user agents, is another log.
func TestWhoBelongsToALog(t *testing.T) {
	by := func(set func(*counter.Event, string)) (as func(who ...string) counter.Source) {
		return func(who ...string) counter.Source {
			var events []counter.Event
			for i, one := range who {
				e := visit(fmt.Sprintf("2026-10-14T10:%02d:00Z", i), "/a")
				set(&e, one)
				events = append(events, e)
			}
			return named("a.log", events...)
		}
	}
	for kind, as := range map[string]func(who ...string) counter.Source{
		"address": by(func(e *counter.Event, who string) { e.Cookie, e.Address = "", "192.0.2."+who }),
		"cookie":  by(func(e *counter.Event, who string) { e.Cookie = who }),
		"session": by(func(e *counter.Event, who string) { e.Cookie, e.Session = "", who }),
		"login":   by(func(e *counter.Event, who string) { e.User = who }),
	} {
		t.Run(kind, func(t *testing.T) {
			d := openDays(t, t.TempDir(), nil)
			_, err := d.Add([]counter.Source{as("1", "1", "1")}, nil)
			require.NoError(t, err)
			_, err = d.Add([]counter.Source{as("1", "2", "3")}, nil)
			require.ErrorContains(t, err, "2026-10-14: was counted from a.log (3 accesses), whose accesses are in none of the logs")
			_, err = d.Add([]counter.Source{as("1", "2", "3")}, &counter.AddOptions{Replace: true})
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
	nights := [][]counter.Source{
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

	_, err := d.Add([]counter.Source{named("access.log", next, third), named("copy.log", next, third)}, nil)
	require.ErrorIs(t, err, datacite.ErrInvalid)
	require.ErrorContains(t, err, "sources[1]: copy.log has the same accesses as access.log")
}

func TestAFolderOfDaysThatIsNotSound(t *testing.T) {
	folder := t.TempDir()
	d := openDays(t, folder, nil)
	sources := []counter.Source{named("a.log", visit("2026-10-14T10:00:00Z", "/a"), visit("2026-10-15T10:00:00Z", "/a"))}
	_, err := d.Add(sources, nil)
	require.NoError(t, err)
	want := rowsOf(t, d, reports.Period{})

	_, err = counter.OpenDays(folder, nil)
	require.ErrorContains(t, err, "in use by another run")
	require.NoError(t, d.Close())
	_, err = counter.OpenDays(folder, &counter.Options{Location: zone(t, "Europe/Berlin")})
	require.ErrorContains(t, err, "another time zone or other lists of user agents")
	require.ErrorIs(t, err, datacite.ErrInvalid)

	files, err := filepath.Glob(filepath.Join(folder, "day-*.csv.gz"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	sound, err := os.ReadFile(files[0])
	require.NoError(t, err)
	other, err := os.ReadFile(files[1])
	require.NoError(t, err)
	damages := map[string][]byte{"cut": sound[:len(sound)-9], "empty": {}, "text": []byte("10.5072/a,"), "of another day": other}
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
				}
			}
			if name != "of another day" { // with the same text, its counts are the same
				assert.True(t, failed)
			}
			require.NoError(t, os.Remove(files[0]))
			_, err = d.Add(sources, nil)
			require.NoError(t, err)
			assert.Equal(t, want, rowsOf(t, d, reports.Period{}))
		})
	}
}

// An error of a source leaves everything as it was, and a run that was killed leaves nothing behind.
func TestALinkInPlaceOfTheLockIsRefused(t *testing.T) {
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(folder, "days.lock")))
	_, err := counter.OpenDays(folder, nil)
	require.ErrorContains(t, err, "is not a regular file")
	require.NoFileExists(t, elsewhere)
}

func TestDaysAreStoredWholeOrNotAtAll(t *testing.T) {
	folder := t.TempDir()
	d := openDays(t, folder, nil)
	_, err := d.Add([]counter.Source{named("a.log", visit("2026-10-14T10:00:00Z", "/a"))}, nil)
	require.NoError(t, err)
	want := rowsOf(t, d, reports.Period{})
	for _, broken := range []iter.Seq2[counter.Event, error]{
		func(yield func(counter.Event, error) bool) {
			_ = yield(visit("2026-10-15T10:00:00Z", "/a"), nil) && yield(counter.Event{}, os.ErrClosed)
		},
		source([]counter.Event{visit("2026-10-15T10:00:00Z", "/a"), {DOI: "10.5072/a", Time: time.Now(), Access: "other"}}),
	} {
		_, err = d.Add([]counter.Source{{Name: "b.log", Events: broken}}, nil)
		require.Error(t, err)
		assert.Contains(t, err.Error(), "b.log")
		assert.Equal(t, want, rowsOf(t, d, reports.Period{}))
	}
	require.NoError(t, d.Close())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "day-123.tmp"), nil, 0o600))
	openDays(t, folder, nil)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, entries, 3, "the index, the lock and a day: %v", entries)
}

// What is kept says nothing about visitors.
func TestDaysHoldNothingOfVisitors(t *testing.T) {
	folder := t.TempDir()
	d := openDays(t, folder, nil)
	e := visit("2026-10-14T10:00:00Z", "/a?token=t-17")
	e.User, e.Session, e.Address = "lovelace", "s-17", "192.0.2.17"
	_, err := d.Add([]counter.Source{named("a.log", e)}, nil)
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

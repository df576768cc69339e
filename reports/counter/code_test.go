package counter_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
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

// clicks makes events of somebody with a browser on the page of one dataset.
func clicks(times ...string) (events []counter.Event) {
	for _, text := range times {
		if !strings.Contains(text, "T") {
			text = "2026-10-14T" + text
		}
		at, err := time.Parse("2006-01-02T15:04:05.999999999", text)
		if err != nil {
			panic(err)
		}
		events = append(events, counter.Event{DOI: "10.5072/a", Time: at, URL: "/a", Address: "192.0.2.1",
			Agent: "Mozilla/5.0 (X11)"})
	}
	return events
}

// with changes events.
func with(events []counter.Event, change func(*counter.Event)) []counter.Event {
	for i := range events {
		change(&events[i])
	}
	return events
}

func user(name string) func(*counter.Event)    { return func(e *counter.Event) { e.User = name } }
func cookie(name string) func(*counter.Event)  { return func(e *counter.Event) { e.Cookie = name } }
func session(name string) func(*counter.Event) { return func(e *counter.Event) { e.Session = name } }
func download(url string) func(*counter.Event) {
	return func(e *counter.Event) { e.URL, e.Request = url, true }
}

// TestExamplesOfTheGuide counts the examples of docs/counting-rules.md.
func TestExamplesOfTheGuide(t *testing.T) {
	known := map[string]func(*counter.Event){
		"address": func(*counter.Event) {}, "login": user("jane"), "user cookie": cookie("c"), "session cookie": session("s"),
	}
	for _, row := range testkit.Table(t, "../../docs/counting-rules.md", "Examples") {
		var events []counter.Event
		for access := range strings.SplitSeq(row[0], ", ") {
			at, file, _ := strings.Cut(access, " ")
			e := with(clicks(at), known[row[1]])
			if file != "" {
				with(e, download("/a/"+file))
			}
			events = append(events, e...)
		}
		n := map[reports.MetricType]int64{}
		for _, row := range count(t, events, nil) {
			n[row.Metric] += row.Count
		}
		got := fmt.Sprint(n[reports.MetricTotalDatasetInvestigations], n[reports.MetricTotalDatasetRequests],
			n[reports.MetricUniqueDatasetInvestigations], n[reports.MetricUniqueDatasetRequests])
		assert.Equal(t, strings.Join(row[2:], " "), got, "%s by %s", row[0], row[1])
	}
}

// TestMonths: an action belongs to the month of the click that is kept, on the
// clocks of the platform.
func TestMonths(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	months := func(opts counter.Options, events []counter.Event) (list []string) {
		for _, row := range count(t, events, &opts) {
			if row.Metric == reports.MetricTotalDatasetInvestigations {
				list = append(list, fmt.Sprint(row.Date, " ", row.Count))
			}
		}
		return list
	}
	across := with(clicks("2026-10-31T23:59:50", "2026-11-01T00:00:10"), cookie("c"))
	assert.Equal(t, []string{"2026-11-01 1"}, months(counter.Options{}, across))
	assert.Equal(t, []string{"2026-10-01 1"}, months(counter.Options{Location: zone(t, "America/New_York")}, across))
	assert.Equal(t, []string{"2026-11-01 1"}, months(counter.Options{Location: berlin}, across))

	var sum counter.Tally
	october := counter.Options{Period: reports.Month(2026, time.October), Tally: &sum}
	assert.Empty(t, months(october, across), "the click of October is removed by that of November")
	assert.Equal(t, counter.Tally{DoubleClicks: 1, OtherMonths: 1}, sum)
	assert.Equal(t, []string{"2026-10-01 1"}, months(october, across[:1]))
	assert.Equal(t, []string{"2026-10-01 1"}, months(october, clicks("2026-10-31T23:59:50", "2026-11-01T00:00:10")),
		"by address they are two sessions")

	days := counter.Options{Period: reports.Period{BeginDate: "2026-10-14", EndDate: "2026-10-14"}}
	assert.Equal(t, []string{"2026-10-01 1"},
		months(days, clicks("2026-10-13T23:00:00", "2026-10-14T00:00:00", "2026-10-15T00:00:00")))
}

func TestWhatBecameOfEachEvent(t *testing.T) {
	events := clicks("10:01:00", "10:01:10", "10:05:00", "2026-09-30T10:00:00", "2026-11-01T10:00:00")
	events = append(events, with(clicks("10:01:00"), func(e *counter.Event) { e.Agent = "Googlebot/2.1" })...)
	events = append(events, with(clicks("10:01:00", "10:01:00"), func(e *counter.Event) { e.DOI = "" })...)
	var sum counter.Tally
	count(t, events, &counter.Options{Period: reports.Month(2026, time.October), Tally: &sum})
	assert.Equal(t, counter.Tally{Counted: 2, DoubleClicks: 1, Robots: 1, OtherMonths: 2, NoDataset: 2}, sum)
	assert.EqualValues(t, len(events), sum.Events())
}

// TestOwnLists: robots and machines are those of the lists that the caller has.
func TestOwnLists(t *testing.T) {
	robots, err := counter.NewAgents("^Mozilla")
	require.NoError(t, err)
	machines, err := counter.NewAgents("goog")
	require.NoError(t, err)
	events := append(clicks("10:01:00"), with(clicks("10:01:00"), func(e *counter.Event) { e.Agent = "Googlebot/2.1" })...)
	rows := count(t, events, &counter.Options{Robots: robots, Machines: machines})
	require.Len(t, rows, 2)
	assert.Equal(t, reports.AccessMachine, rows[0].Access)
	assert.Len(t, count(t, events, &counter.Options{Robots: new(counter.Agents), Machines: new(counter.Agents)}), 2)
}

func TestKeys(t *testing.T) {
	events := []counter.Event{
		{DOI: "10.5072/a", User: "u"}, {DOI: "10.5072/b", User: "u"}, {DOI: "10.5072/a", User: "v"},
		{DOI: "10.5072/a", Cookie: "u"}, {DOI: "10.5072/a", Session: "u"}, {DOI: "10.5072/a", Address: "u"},
		{DOI: "10.5072/a", Address: "u",
			Agent: "v"}, {DOI: "10.5072/a", Address: "uv"}, {DOI: "10.5072/a", Agent: "uv"}, {DOI: "10.5072/a"},
		{DOI: "none"}, {DOI: "no"}, {},
	}
	keys := map[string]bool{}
	for _, e := range events {
		keys[counter.Key(e)] = true
	}
	assert.Len(t, keys, len(events))
	secret := counter.Event{DOI: "https://doi.org/10.5072/A", User: "jane", Cookie: "c", Session: "s",
		Address: "192.0.2.1", Agent: "x", URL: "/", Time: time.Now(), Request: true}
	assert.Equal(t, counter.Key(events[0]), counter.Key(counter.Event{DOI: "doi:10.5072/A", User: "u", Cookie: "c"}))
	assert.Regexp(t, "^10\\.5072/a\x00\\d\\d[0-9a-f]{32}$", counter.Key(secret), "a DOI, a kind and a hash")
	assert.NotPanics(t, func() { counter.Key(counter.Event{DOI: "none"}) })
}

func TestAllInvalidEventsAreInTheError(t *testing.T) {
	events := clicks("10:01:00", "10:02:00", "10:03:00", "10:04:00", "10:05:00", "10:06:00")
	events[0].DOI = "abc" // is left out
	events[1].Country, events[2].Country, events[3].Access, events[4].Time = "d", "Germany", "human", time.Time{}
	events[5].Time = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	n := 0
	for row, err := range counter.Count(source(events), nil) {
		n++
		assert.Zero(t, row)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.NotContains(t, err.Error(), "abc")
		for _, want := range []string{
			`event 2, country: is "d"`, `event 3, country: is "Germany"`, `event 4, access: is "human"`,
			"event 5, time: is missing", "event 6, time: is in the year 12026",
		} {
			assert.ErrorContains(t, err, want)
		}
	}
	assert.Equal(t, 1, n)
	for year, valid := range map[int]bool{0: false, 1: true, 9999: true, 10000: false} {
		e := clicks("10:01:00")[0]
		e.Time = time.Date(year, 7, 1, 0, 0, 0, 0, time.UTC)
		assert.Equal(t, valid, e.Validate() == nil, year)
	}
	assert.Panics(t, func() { counter.CountKey(events, nil) })
	assert.Nil(t, counter.CountKey(nil, nil))

	many := with(clicks(strings.Split(strings.Repeat("10:01:00,", 500)+"10:01:00", ",")...), func(e *counter.Event) {
		e.Country = "Germany"
	})
	for _, err := range counter.Count(source(many), nil) {
		invalid := &datacite.ValidationError{}
		require.ErrorAs(t, err, &invalid)
		require.Len(t, invalid.Findings, 100)
		assert.Equal(t, "event 100, country", invalid.Findings[99].Path)
	}
}

// TestADOIThatIsNoneIsLeftOutAndNamed: visitors type all kinds of text into URLs, and the month is
// counted all the same.
func TestADOIThatIsNoneIsLeftOutAndNamed(t *testing.T) {
	events := clicks(strings.Split(strings.Repeat("10:01:00,10:02:00,", 150)+"10:03:00", ",")...)
	for i := range events {
		if events[i].Session = fmt.Sprint(i); i%2 == 1 {
			events[i].DOI = "doi:none"
		}
	}
	var sum counter.Tally
	var faults []datacite.Finding
	opts := &counter.Options{Tally: &sum, Faulty: func(f datacite.Finding) { faults = append(faults, f) }}
	named := func(file string) {
		require.Len(t, faults, 100)
		assert.Equal(t, file+`event 2, doi: is "doi:none", not a DOI such as 10.5072/abc`, faults[0].String())
		assert.Equal(t, "event 200, doi", faults[99].Path)
		assert.Equal(t, counter.Tally{Counted: 151, InvalidDOI: 150}, sum)
		assert.EqualValues(t, len(events), sum.Events())
		faults, sum = nil, counter.Tally{}
	}
	rows := count(t, events, opts)
	named("")
	assert.Len(t, rows, 2)

	var logged bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	assert.EqualValues(t, 2, count(t, events[:3], nil)[0].Count)
	assert.Equal(t, 1, strings.Count(logged.String(), `msg="counter: an access is not counted" error="event 2, doi`),
		logged.String())

	days, err := counter.OpenDays(t.TempDir(), opts)
	require.NoError(t, err)
	defer days.Close()
	_, err = days.Add([]counter.EventLog{{Name: "a.log", Version: "1", Events: source(events)}},
		&counter.AddOptions{Tally: &sum})
	require.NoError(t, err)
	named("a.log: ")
	var stored []reports.Row
	for row, err := range days.Rows(reports.Period{}) {
		require.NoError(t, err)
		stored = append(stored, row)
	}
	assert.Equal(t, rows, stored)
}

func TestInvalidOptions(t *testing.T) {
	for _, o := range []counter.Options{
		{Period: reports.Period{BeginDate: "2026-10-01"}},
		{Period: reports.Period{BeginDate: "2026-10-31", EndDate: "2026-10-01"}},
		{Period: reports.Period{BeginDate: "October", EndDate: "2026-10-01"}}, {Memory: -1},
	} {
		var errs []error
		for _, err := range counter.Count(source(clicks("10:01:00")), &o) {
			errs = append(errs, err)
		}
		require.Len(t, errs, 1)
		assert.ErrorIs(t, errs[0], datacite.ErrInvalid)
		assert.Equal(t, map[bool]string{true: "Options.Memory", false: "Options.Period"}[o.Memory < 0],
			datacite.Findings(errs[0])[0].Path)
		assert.Panics(t, func() { counter.CountKey(clicks("10:01:00"), &o) })
	}
}

func TestCountEndsWithItsCallers(t *testing.T) {
	broken := errors.New("database gone")
	failing := func(yield func(counter.Event, error) bool) {
		for _, e := range clicks("10:01:00") {
			if !yield(e, nil) {
				return
			}
		}
		yield(counter.Event{}, broken)
	}
	n := 0
	for row, err := range counter.Count(failing, nil) {
		n++
		assert.Zero(t, row)
		assert.ErrorIs(t, err, broken)
	}
	require.Equal(t, 1, n)
	n = 0
	many := with(clicks("10:01:00", "11:00:00", "12:00:00"), func(e *counter.Event) { e.DOI += e.Time.Format("15") })
	rows := counter.Count(source(many), nil)
	for range rows {
		n++
		break
	}
	for range rows {
		n++ // from the start again
	}
	assert.Equal(t, 7, n)
	assert.PanicsWithValue(t, "caller", func() {
		for range counter.Count(func(func(counter.Event, error) bool) { panic("caller") }, nil) {
		}
	})
}

func TestNoRoomForTheTemporaryFile(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for name, tt := range map[string]struct {
		events, memory int
		click          func(i int) counter.Event
	}{
		"of many events": {5000, 1, func(i int) counter.Event {
			return counter.Event{URL: "/a", Time: time.Unix(int64(i), 0), User: fmt.Sprint(i)}
		}},
		"of few events": {50, 1, func(i int) counter.Event {
			return counter.Event{URL: "/a", Time: time.Unix(int64(i), 0), User: "u"}
		}},
		"of many URLs at once": {1500, 160_000 * runtime.GOMAXPROCS(0), func(i int) counter.Event {
			return counter.Event{URL: fmt.Sprint("/", i), Time: time.Unix(1e9, 0), User: "u"}
		}},
		"of URLs of several users and datasets": {3000, 160_000 * runtime.GOMAXPROCS(0), func(i int) counter.Event {
			return counter.Event{DOI: fmt.Sprint("10.5072/", i/1100), URL: fmt.Sprint("/", i), Time: time.Unix(1e9, 0),
				User: fmt.Sprint(i / 1050)}
		}},
	} {
		var events []counter.Event
		for i := range tt.events {
			e := tt.click(i)
			e.DOI = cmp.Or(e.DOI, "10.5072/a")
			events = append(events, e)
		}
		n := 0
		for row, err := range counter.Count(source(events), &counter.Options{Memory: tt.memory, TempDir: none}) {
			n++
			assert.Zero(t, row)
			require.ErrorIs(t, err, os.ErrNotExist, name)
			assert.ErrorContains(t, err, "counter: sorting: ")
		}
		assert.Equal(t, 1, n, name)
	}
	forever := func(yield func(counter.Event, error) bool) {
		for i := 0; yield(counter.Event{DOI: "10.5072/a", Time: time.Unix(int64(i), 0), User: fmt.Sprint(i % 100)}, nil); i++ {
		}
	}
	for _, err := range counter.Count(forever, &counter.Options{Memory: 1, TempDir: none}) {
		require.ErrorIs(t, err, os.ErrNotExist, "no more events are read")
	}
}

// TestAnIPv6AddressHasManySpellings: it is one visitor, by all of them.
func TestAnIPv6AddressHasManySpellings(t *testing.T) {
	spellings := [][]string{
		{"2001:db8::1", "2001:DB8:0:0:0:0:0:1", "2001:0db8::0001"}, {"192.0.2.1", "::ffff:192.0.2.1", "::FFFF:c000:0201"},
		{"a:pseudonym", "a:pseudonym"},
	}
	for _, one := range spellings {
		var events []counter.Event
		for i, address := range one {
			events = append(events, counter.Event{DOI: "10.5072/a", URL: "/a",
				Time: time.Date(2026, 10, 14, 10, 1, 10*i, 0, time.UTC), Address: address, Agent: "Mozilla/5.0 (X11)"})
			assert.Equal(t, counter.Key(events[0]), counter.Key(events[i]))
		}
		for _, rows := range [][]reports.Row{count(t, events, nil), counter.CountKey(events, nil)} {
			require.Len(t, rows, 2)
			assert.EqualValues(t, 1, rows[0].Count, one)
			assert.EqualValues(t, 1, rows[1].Count, one)
		}
	}
}

package logs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // not every system has a database of time zones

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

func in(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

// logAt is a log of Dataverse with lines at some times.
func logAt(times ...string) logs.Log {
	var text strings.Builder
	for _, at := range times {
		text.WriteString(line("event_time", at))
	}
	return logs.FromReader("a.log", strings.NewReader(text.String()))
}

// A gap is from the hour after the last line to the hour of the next one, in all logs of a server.
func TestHoursWithoutALine(t *testing.T) {
	day := reports.Period{BeginDate: "2026-10-14", EndDate: "2026-10-14"}
	howe := reports.Period{BeginDate: "2026-04-05", EndDate: "2026-04-05"} // of 24 hours and a half
	for name, tt := range map[string]struct {
		zone    string
		period  reports.Period
		atLeast time.Duration
		logs    []logs.Log
		want    string // from and until
	}{
		"no period": {"UTC", reports.Period{}, 0, []logs.Log{logAt("2026-10-14T00:00:00Z")}, ""},
		"no line":   {"UTC", day, 24 * time.Hour, []logs.Log{logAt()}, "14T00:00-15T00:00"},
		"no log":    {"UTC", day, 24 * time.Hour, nil, "14T00:00-15T00:00"},
		"too short": {"UTC", day, 24*time.Hour + 1, []logs.Log{logAt()}, ""},
		"beside the day": {"UTC", day, 0, []logs.Log{logAt("2026-10-13T23:59:59Z", "2026-10-15T00:00:00Z")},
			"14T00:00-15T00:00"},
		"first and last second": {"UTC", day, 0, []logs.Log{logAt("2026-10-14T00:00:00Z", "2026-10-14T23:59:59Z")},
			"14T01:00-14T23:00"},
		"first and last hour": {"UTC", day, 0, []logs.Log{logAt("2026-10-14T22:59:59Z", "2026-10-14T01:00:00Z")},
			"14T00:00-14T01:00 14T02:00-14T22:00 14T23:00-15T00:00"},
		"neighbours": {"UTC", day, 0, []logs.Log{logAt("2026-10-14T00:00:00Z", "2026-10-14T01:00:00Z",
			"2026-10-14T01:30:00Z",
			"2026-10-14T00:30:00Z")}, "14T02:00-15T00:00"},
		"two logs": {"UTC", day, 2 * time.Hour, []logs.Log{logAt("2026-10-14T10:00:00Z"), logAt("2026-10-14T01:00:00Z",
			"2026-10-14T08:00:00Z")}, "14T02:00-14T08:00 14T11:00-15T00:00"},
		"summer ends": {"Europe/Berlin", reports.Month(2026, time.October), 0,
			[]logs.Log{logAt("2026-09-30T22:00:00Z", "2026-10-31T22:30:00Z")}, "01T01:00-31T23:00"},
		"winter ends": {"Europe/Berlin", reports.Month(2026, time.March), 0,
			[]logs.Log{logAt("2026-02-28T23:00:00Z")}, "01T01:00-01T00:00"},
		"summer of half an hour ends": {"Australia/Lord_Howe", howe, 0, []logs.Log{logAt("2026-04-04T13:00:00Z")},
			"05T01:00-06T00:00"},
		"its last half hour": {"Australia/Lord_Howe", howe, 0, []logs.Log{logAt("2026-04-05T13:00:00Z")},
			"05T00:00-05T23:30"},
		"half an hour is too short": {"Australia/Lord_Howe", howe, time.Hour, []logs.Log{logAt("2026-04-05T12:00:00Z")},
			"05T00:00-05T22:30"},
	} {
		var sum logs.Stats
		opts := &logs.Options{Stats: &sum, Period: tt.period, Location: in(t, tt.zone)}
		_, err := collect(logs.Read(tt.logs, logs.Dataverse, opts))
		require.NoError(t, err)
		var got []string
		for _, g := range opts.Gaps(tt.atLeast, sum.Files...) {
			got = append(got, g.From.Format("02T15:04")+"-"+g.Until.Format("02T15:04"))
		}
		assert.Equal(t, tt.want, strings.Join(got, " "), name)
	}

	var before, after logs.Stats // of a shorter period
	for sum, period := range map[*logs.Stats]reports.Period{&before: day, &after: {BeginDate: "2026-10-14",
		EndDate: "2026-10-15"}} {
		_, err := collect(logs.Read([]logs.Log{logAt("2026-10-14T00:00:00Z")}, logs.Dataverse,
			&logs.Options{Stats: sum, Period: period}))
		require.NoError(t, err)
	}
	assert.Len(t, before.Files[0].Hours, 24)
	gaps := (&logs.Options{Period: reports.Period{BeginDate: "2026-10-14", EndDate: "2026-10-15"}}).Gaps(0,
		before.Files[0], after.Files[0])
	require.Len(t, gaps, 1)
	assert.Equal(t, 47*time.Hour, gaps[0].Until.Sub(gaps[0].From))
	assert.Empty(t, (&logs.Options{Period: reports.Period{BeginDate: "2026"}}).Gaps(0))
}

// The first and the last time of a log are those of any of its lines, also where it is read in parts.
func TestFirstAndLastTimeOfALog(t *testing.T) {
	at := []string{"2026-10-14T10:00:00Z", "2026-10-14T10:00:01Z", "2026-10-14T10:00:02Z"}
	for _, title := range []string{"short", strings.Repeat("long ", 25_000)} {
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			var text strings.Builder
			for _, i := range order {
				text.WriteString(line("event_time", at[i], "title", title))
			}
			var sum logs.Stats
			_, err := collect(read(logs.Dataverse, strings.NewReader(text.String()+"#\n"), &logs.Options{Stats: &sum}))
			require.NoError(t, err)
			got := []string{sum.Files[0].First.Format(time.RFC3339), sum.Files[0].Last.Format(time.RFC3339)}
			assert.Equal(t, []string{at[0], at[2]}, got, order)
		}
	}
}

// An offset that the platform has at another time of the year is one that it does not have.
func TestOffsetsThatThePlatformDoesNotHave(t *testing.T) {
	for name, tt := range map[string]struct {
		zone  string
		times []string
		want  string // offset, lines and first line of each
	}{
		"UTC": {"UTC", []string{"2026-10-14T10:00:00Z", "2026-10-14T12:00:00+0200",
			"2026-10-14T10:00:00+0000"}, "+02:00 1 2"},
		"no zone, though it is UTC": {"", []string{"2026-10-14T10:00:00+0100", "2026-10-14T10:00:00Z"}, "+01:00 1 1"},
		"to winter": {"Europe/Berlin", []string{"2026-10-25T02:59:59+0200", "2026-10-25T02:00:00+0100",
			"2026-10-25T01:00:00+0200"}, ""},
		"too late": {"Europe/Berlin", []string{"2026-10-25T02:59:59+0200", "2026-10-25T03:00:00+0200",
			"2026-10-25T03:00:01+0200",
			"2026-10-25T02:00:00+0100"}, "+02:00 2 2"},
		"too early": {"Europe/Berlin", []string{"2026-10-25T02:00:00+0100", "2026-10-25T02:59:59+0200",
			"2026-10-25T01:59:59+0100"}, "+01:00 1 3"},
		"an earlier year": {"Europe/Berlin", []string{"2026-10-14T10:00:00+0200", "1970-01-01T01:00:00+0100",
			"1969-12-31T23:00:00+0100",
			"1850-01-01T00:00:00+0000"}, "+00:00 1 4"},
		"most lines first": {"UTC", []string{"2026-10-14T10:00:00+0100", "2026-10-14T10:00:00+0200",
			"2026-10-14T10:00:00+0200"},
			"+02:00 2 2, +01:00 1 1"},
	} {
		var sum logs.Stats
		opts := &logs.Options{Stats: &sum}
		if tt.zone != "" {
			opts.Location = in(t, tt.zone)
		}
		_, err := collect(logs.Read([]logs.Log{logAt(tt.times...)}, logs.Dataverse, opts))
		require.NoError(t, err)
		var got []string
		for _, o := range sum.Offsets {
			assert.Equal(t, "a.log", o.First.File)
			got = append(got, o.String()+" "+fmt.Sprint(o.Lines, " ", o.First.Line))
		}
		assert.Equal(t, tt.want, strings.Join(got, ", "), name)
	}
}

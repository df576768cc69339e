package logs_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// one reads one line of a log, and checks that it is an event, a fault, or neither of them.
func one(t *testing.T, format logs.Format, line string) []counter.Event {
	t.Helper()
	var sum logs.Stats
	events, err := collect(read(format, strings.NewReader(line), &logs.Options{Tolerance: all, Stats: &sum}))
	require.NoError(t, err)
	require.EqualValues(t, min(1, len(line)), sum.Lines())
	require.LessOrEqual(t, int64(len(events))+sum.Faulty, sum.Lines())
	return events
}

// FuzzJSON: an event that is read is valid, and read again as it is written.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"doi":"10.5072/a","time":"2026-10-14T10:00:00Z","url":"/a","request":true,"user":"u","country":"de",` +
			`"access":"machine"}`,
		`{"doi":"doi:10.5072/ä","time":"2026-10-14T10:00:00.123+02:00","url":"","address":"192.0.2.1","agent":"\ud800 ` +
			`\u2028"}`,
		`{"doi":"hdl:1/2"}`, `{"DOI":"10.5072/a"} {}`, `# comment`, `null`, `[]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		for _, e := range one(t, logs.JSON, line) {
			require.NoError(t, e.Validate())
			again, err := json.Marshal(e)
			require.NoError(t, err)
			events := one(t, logs.JSON, string(again))
			require.Len(t, events, 1)
			require.True(t, e.Time.Equal(events[0].Time))
			e.Time = events[0].Time
			require.Equal(t, e, events[0])
		}
	})
}

// FuzzDataverse: a line that is read has the fields between its tabs.
func FuzzDataverse(f *testing.F) {
	f.Add(strings.TrimSuffix(line(), "\n"))
	f.Add(strings.TrimSuffix(line("user_id", "jane", "user_cookie_id", "????", "client_ip", "2001:db8::7", "event_time",
		"2026-10-14T10:01:00.5Z"), "\n"))
	f.Add(strings.TrimSuffix(line("identifier", "hdl:1/2", "user_agent", " a\\tb "), "\n"))
	f.Add(header)
	f.Fuzz(func(t *testing.T, text string) {
		text, _, _ = strings.Cut(text, "\n")
		events := one(t, logs.Dataverse, text)
		if len(events) == 0 {
			return
		}
		e := events[0]
		require.NoError(t, e.Validate())
		fields := strings.Split(strings.TrimLeft(strings.TrimRight(text, "\r"), "\x00"), "\t")
		require.Len(t, fields, 19)
		for i, field := range fields {
			if fields[i] = strings.TrimSpace(field); fields[i] == "-" || fields[i] == "????" {
				fields[i] = ""
			}
		}
		if fields[4] == ":guest" {
			fields[4] = ""
		}
		assert.Equal(t, fields[2:6], []string{e.Session, e.Cookie, e.User, e.URL})
		assert.Equal(t, fields[9], e.Agent)
		if _, err := netip.ParseAddr(fields[1]); err == nil {
			assert.Equal(t, fields[1], e.Address)
		}
		if at, err := time.Parse(time.RFC3339, fields[0]); err == nil {
			assert.True(t, at.Equal(e.Time), "%v, %v", at, e.Time)
		}
	})
}

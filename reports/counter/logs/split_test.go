package logs_test

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// inCombined is the combined format as one expression.
var inCombined = regexp.MustCompile(`^(\S+) - ([^\[]*) \[([^\]]*)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\S+) "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)"$`)

// FuzzCombined: a line that an expression takes for the combined format is read as it
// reads it, field by field.
func FuzzCombined(f *testing.F) {
	f.Add(`192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "GET /data/10.5072%2Fabc?x=1 HTTP/1.1" 200 2326 "-" "Mozilla/5.0 (\"quoted\") \\"`)
	f.Add(`2001:db8::1 - Jane Doe [31/Oct/2026:23:59:59 +0100] "GET /files/10.5072/abc HTTP/1.1" 206 - "a [b" "c"`)
	f.Add(`192.0.2.1 - a"b [29/Feb/2026:23:59:60 +0100] "\x16\x03" 400 0 "-" ""`)
	paths := pages()
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		want := inCombined.FindStringSubmatch(line)
		var sum logs.Summary
		events, err := collect(read(logs.Combined, strings.NewReader(line), &logs.Options{Paths: paths, LeaveOut: all, Summary: &sum}))
		require.NoError(t, err)
		require.EqualValues(t, min(1, len(line)), sum.Lines())
		if want == nil || strings.HasPrefix(want[2], "- ") {
			return
		}
		if _, err := netip.ParseAddr(want[1]); err != nil || strings.TrimRight(line, "\r") != line || sum.Faulty > 0 {
			return
		}
		at, err := time.Parse("02/Jan/2006:15:04:05 -0700", want[3])
		require.NoError(t, err)
		request := strings.SplitN(want[4], " ", 3)
		if want[5] != "200" || request[0] != "GET" || len(request) < 2 || !strings.HasPrefix(request[1], "/data/10.5072/") || strings.ContainsAny(request[1][len("/data/10.5072/"):], `\\;%/?#`) || len(request[1]) == len("/data/10.5072/") {
			return
		}
		require.Len(t, events, 1)
		plain := want[7]
		if unquoted, err := strconv.Unquote(`"` + plain + `"`); err == nil {
			plain = unquoted
		}
		e := events[0]
		assert.True(t, at.Equal(e.Time))
		assert.Equal(t, request[1], e.URL)
		present := func(text string) string {
			if text = strings.TrimSpace(text); text == "-" || text == "????" {
				return ""
			}
			return text
		}
		assert.Equal(t, present(want[2]), e.User)
		assert.Equal(t, present(plain), e.Agent)
	})
}

// A format of one's own is a value, with all that Read does for any: chunks, faults, limits.
func ExampleFormat() {
	stamped := logs.Format{Name: "stamped", Summary: "seconds, DOI and visitor", Parser: func(*logs.Options) (func() logs.ParseLine, error) {
		return func() logs.ParseLine {
			return func(line string) (e counter.Event, ok bool, err error) {
				var seconds int64
				if _, err := fmt.Sscan(line, &seconds, &e.DOI, &e.Cookie); err != nil {
					return e, false, &logs.Fault{Class: logs.BadLayout, Reason: "line is not seconds, DOI and visitor"}
				}
				e.Time, e.URL = time.Unix(seconds, 0), e.DOI
				return e, true, nil
			}
		}, nil
	}}
	log := strings.NewReader("1791986460 10.5072/abc v1\nyesterday\n1791986470 10.5072/abc v2\n")
	var sum logs.Summary
	for e, err := range logs.Read([]logs.Source{logs.FromReader("stamped.log", log)}, stamped, &logs.Options{Summary: &sum}) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(e.DOI, e.Cookie)
	}
	// Output:
	// 10.5072/abc v1
	// 10.5072/abc v2
	// logs: 1 of 3 lines cannot be read; layout: 1, first stamped.log, line 2, line is not seconds, DOI and visitor
}

package logs_test

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// inCombined is the combined format as one expression.
var inCombined = regexp.MustCompile(
	`^(\S+) - ([^\[]*) \[([^\]]*)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\S+) "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)"$`)

// FuzzCombined: a line that an expression takes for the combined format is read as it
// reads it, field by field.
func FuzzCombined(f *testing.F) {
	f.Add(`192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "GET /data/10.5072%2Fabc?x=1 HTTP/1.1" 200 2326 "-" "Mozilla/5.0 ` +
		`(\"quoted\") \\"`)
	f.Add(`2001:db8::1 - Jane Doe [31/Oct/2026:23:59:59 +0100] "GET /files/10.5072/abc HTTP/1.1" 206 - "a [b" "c"`)
	f.Add(`192.0.2.1 - a"b [29/Feb/2026:23:59:60 +0100] "\x16\x03" 400 0 "-" ""`)
	paths := pages()
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		want := inCombined.FindStringSubmatch(line)
		var sum logs.Stats
		events, err := collect(read(logs.Combined, strings.NewReader(line),
			&logs.Options{Paths: paths, Tolerance: all, Stats: &sum}))
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
		if want[5] != "200" || request[0] != "GET" || len(request) < 2 || !strings.HasPrefix(request[1], "/data/10.5072/") ||
			strings.ContainsAny(request[1][len("/data/10.5072/"):], `\\;%/?#`) || len(request[1]) == len("/data/10.5072/") {
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

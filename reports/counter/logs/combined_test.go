package logs_test

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// pages are paths with a DOI.
func pages() *logs.Paths {
	return &logs.Paths{
		Investigations: []*regexp.Regexp{regexp.MustCompile(`^/data/(10\..+)$`)},
		Requests:       []*regexp.Regexp{regexp.MustCompile(`^/files/(10\..+)$`)},
	}
}

// TestLayoutsOfWebServers: in each, three visitors look at one page.
func TestLayoutsOfWebServers(t *testing.T) {
	const (
		at   = `[14/Oct/2026:10:01:00 -0400]`
		get  = `"GET /data/10.5072/a?x=1 HTTP/1.1"`
		page = at + ` ` + get + ` 200 5 "-" "Mozilla/5.0 (X11; \"quoted\")"`
	)
	visitors := []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}
	for name, c := range map[string]struct{ layout, line, host string }{
		"combined":                        {"", `%s - - ` + page, ""},
		"combined with more":              {"", `%s - - ` + page + ` 1234 "-" TLSv1.3`, ""},
		"combined with a text":            {"", `%s - - ` + page + ` "TLSv1.3"`, ""},
		"combined with more, cut":         {"", `%s - - ` + page + ` "10.0.0.2`, ""},
		"with a virtual host":             {"", `data.example.org:443 %s - - ` + page, "data.example.org"},
		"with a virtual host, no port":    {"", `data.example.org %s - - ` + page, "data.example.org"},
		"with a virtual address":          {"", `198.51.100.1:443 %s - - ` + page, "198.51.100.1"},
		"with a virtual address, no port": {"", `198.51.100.1 %s - - ` + page, "198.51.100.1"},
		"combined, identd in use":         {"", `%s root - ` + page, ""},
		"with one, identd in use":         {"", `198.51.100.1 %s root - ` + page, "198.51.100.1"},
		"with a virtual address of IPv6":  {"", `[2001:db8::5] %s - - ` + page, "[2001:db8::5]"},
		"with one, and its port":          {"", `[2001:db8::5]:443 %s - - ` + page, "[2001:db8::5]"},
		"behind a proxy":                  {"", `%s, 10.0.0.2 - - ` + page, ""},
		"behind a proxy, with more":       {"", `%s, 10.0.0.2 - - ` + page + ` "203.0.113.9"`, ""},
		"behind two proxies":              {"", `203.0.113.9, %s, 10.0.0.2, 10.0.0.3 - - ` + page, ""},
		"as nginx proposes it":            {"", `10.0.0.2 - - ` + page + ` "%s"`, ""},
		"a proxy on the same machine":     {"", `127.0.0.1 - - ` + page + ` "%s, 127.0.0.1, ::1"`, ""},
		"a proxy without an address":      {"", `169.254.0.7 - - ` + page + ` "%s, fe80::1"`, ""},
		"as nginx proposes it, no proxy":  {"", `%s - - ` + page + ` "-"`, ""},
		"a header that anybody can write": {"", `%s - - ` + page + ` "203.0.113.9"`, ""},
		"given: Apache": {`LogFormat "%v:%p %a %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\" %D" mine`,
			`data.example.org:443 %s - - ` + page + ` 7`, "data.example.org"},
		"given: Apache, tabs": {`LogFormat "%h\t%t\t\"%r\"\t%>s\t\\\t%{User-Agent}i" mine`,
			"%s\t" + at + "\t" + get + "\t200\t\\\tMozilla/5.0 (X11; \\\"quoted\\\")", ""},
		"given: quotation marks around two": {`%h %t "%m %U" %s "%{User-Agent}i"`,
			`%s ` + at + ` "GET /data/10.5072/a?x=1" 200 "Mozilla/5.0 (X11; \"quoted\")"`, ""},
		"given: nginx, side by side": {
			"log_format mine '$remote_addr [$time_local] ''\"$request\" ''$status \"$http_user_agent\"';",
			`%s ` + at + ` ` + get + ` 200 "Mozilla/5.0 (X11; \"quoted\")"`, ""},
		"given: nginx": {"log_format mine '$time_iso8601 $remote_addr \"$request\" '\n    '$status \"$http_user_agent\" " +
			"rt=$request_time';",
			`2026-10-14T10:01:00-04:00 %s ` + get + ` 200 "Mozilla/5.0 (X11; \"quoted\")" rt=0.001`, ""},
		"given: nginx, parts of the request": {
			`$server_name $remote_addr [$time_local] $request_method $uri?$args $status "$http_user_agent"`,
			`data.example.org %s ` + at + ` GET /data/10.5072/a?x=1 200 "Mozilla/5.0 (X11; \"quoted\")"`, "data.example.org"},
		"given: nginx, other names of these": {
			`$host $remote_addr [$time_local] $request_method $document_uri?$query_string $status "$http_user_agent"`,
			`data.example.org %s ` + at + ` GET /data/10.5072/a?x=1 200 "Mozilla/5.0 (X11; \"quoted\")"`, "data.example.org"},
		"given: parts of the request": {`%h|%{%Y-%m-%d %H:%M:%S %z}t|%m|%U|%q|%s|%{User-Agent}i`,
			`%s|2026-10-14 10:01:00 -0400|GET|/data/10.5072/a|?x=1|200|Mozilla/5.0 (X11; "quoted")`, ""},
		"given: milliseconds": {`%h %{msec}t %m %U?%q %s "%{User-Agent}i"`,
			`%s 1791986460000 GET /data/10.5072/a?x=1 200 "Mozilla/5.0 (X11; \"quoted\")"`, ""},
		"given: nginx, JSON": {`{"a":"$remote_addr","t":$msec,"r":"$request","s":$status,"u":"$http_user_agent"}`,
			`{"a":"%s","t":1791986460.000,"r":` + get + `,"s":200,"u":"Mozilla/5.0 (X11; \"quoted\")"}`, ""},
		"given: a percent sign": {`%h %t "%r" %>s 100%% "%{User-Agent}i"`,
			`%s ` + at + ` ` + get + ` 200 100% "Mozilla/5.0 (X11; \"quoted\")"`, ""},
		"given: nginx, a percent sign": {`$remote_addr [$time_local] "$request" $status 100% "$http_user_agent"`,
			`%s ` + at + ` ` + get + ` 200 100% "Mozilla/5.0 (X11; \"quoted\")"`, ""},
		"given: the address of the connection": {`%{X-Forwarded-For}i %{c}a %{remote}p %t "%r" %s "%{User-Agent}i"`,
			`%s 10.0.0.2 4711 ` + at + ` ` + get + ` 200 "Mozilla/5.0 (X11; \"quoted\")"`, ""},
		"given: behind a CDN": {`%{X-Forwarded-For}i %h %t "%r" %s "%{User-Agent}i"`,
			`%s, 198.51.100.7 10.0.0.2 ` + at + ` ` + get + ` 200 "Mozilla/5.0 (X11; \"quoted\")"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			for _, v := range visitors {
				log.WriteString(strings.Replace(c.line, "%s", v, 1) + "\n")
			}
			events, err := collect(read(logs.Combined, strings.NewReader(log.String()), &logs.Options{
				Paths: pages(), Layout: c.layout, Proxies: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")},
			}))
			require.NoError(t, err)
			require.Len(t, events, 3)
			for i, e := range events {
				assert.True(t, e.Time.Equal(time.Date(2026, 10, 14, 14, 1, 0, 0, time.UTC)), e.Time)
				e.Time = time.Time{}
				assert.Equal(t, counter.Event{DOI: "10.5072/a", URL: c.host + "/data/10.5072/a?x=1", Address: visitors[i],
					Agent: `Mozilla/5.0 (X11; "quoted")`}, e)
			}
		})
	}
}

// TestLinesWithoutAnAddress are refused: what stands in its place would be one visitor.
func TestLinesWithoutAnAddress(t *testing.T) {
	const rest = ` - - [14/Oct/2026:10:01:00 +0000] "GET /data/10.5072/a HTTP/1.1" 200 5 "-" "Mozilla/5.0"`
	for line, class := range map[string]datacite.Code{
		"data.example.org" + rest: "syntax", "-" + rest: "address", "192.0.2.999" + rest: "syntax",
		"192.0.2.1, unknown" + rest: "syntax", "data.example.org:443 data.example.org" + rest: "syntax",
	} {
		var sum logs.Stats
		events, err := collect(read(logs.Combined, strings.NewReader(line),
			&logs.Options{Paths: pages(), Stats: &sum, Tolerance: all}))
		require.NoError(t, err)
		assert.Empty(t, events)
		require.Len(t, sum.Faults, 1, line)
		assert.Equal(t, class, sum.Faults[0].Code, line)
	}
	for word, want := range map[string]string{"%h": `address is "unknown", not an IP address`,
		"%{X-Forwarded-For}i": `X-Forwarded-For is "unknown", not an IP address`} {
		layout := word + ` %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`
		_, err := collect(read(logs.Combined, strings.NewReader("unknown"+rest),
			&logs.Options{Paths: pages(), Layout: layout}))
		require.Len(t, datacite.Findings(err), 1)
		f := datacite.Findings(err)[0]
		assert.Equal(t, "address: "+want, string(f.Code)+": "+f.Reason)
	}
	for _, more := range []string{` 203.0.113.9 "-"`, ` "" 7`, ` "203.0.113.9`, ` "203.0.113.9 \"a\""`} { // no lists
		events, err := collect(read(logs.Combined, strings.NewReader("10.0.0.2"+rest+more), &logs.Options{Paths: pages()}))
		require.NoError(t, err)
		assert.Equal(t, "10.0.0.2", events[0].Address, more)
	}
	for _, name := range []string{"host.example.org", "9f86d081884c7d65"} {
		events, err := collect(read(logs.Combined, strings.NewReader(name+rest),
			&logs.Options{Paths: pages(), Pseudonyms: true}))
		require.NoError(t, err)
		require.Len(t, events, 1)
		assert.Equal(t, name, events[0].Address)
	}
	events, err := collect(read(logs.Dataverse,
		strings.NewReader(line("client_ip", "-", "session_cookie_id", "s")+line("client_ip", "192.0.2.1:4711")), nil))
	require.NoError(t, err)
	assert.Equal(t, "", events[0].Address)
	assert.Equal(t, "192.0.2.1", events[1].Address, "a port is another one with each connection")
	_, err = collect(read(logs.Dataverse, strings.NewReader(line("client_ip", "203.0.113.9, 10.0.0.2")), nil))
	assert.ErrorContains(t, err, `line 1: client_ip is "203.0.113.9, 10.0.0.2", not an IP address`)
}

// TestWhatIsNoStatusIsAFault: it shows that the log has another layout, and all of its accesses
// would be missing. A line that cannot be read is no sign that the log of its hour is there.
func TestWhatIsNoStatusIsAFault(t *testing.T) {
	const given = `%h %t "%m %U" %s "%{User-Agent}i"`
	for _, c := range []struct{ layout, rest, reason string }{
		{"", `"GET /data/10.5072/a HTTP/1.1" 0.003 200 512 "-" "M"`,
			`status is "0.003", not three digits such as 200; the log has a layout of its own, which has to be named`},
		{"", `"GET /data/10.5072/a HTTP/1.1" 81920 200 "-" "M"`, `status is "81920"`},
		{"", `"GET /data/10.5072/a HTTP/1.1" - 512 "-" "M"`, `status is "-"`},
		{"", `"GET /data/10.5072/a HTTP/1.1" OK 512 "-" "M"`, `status is "OK"`},
		{"", `"get /data/10.5072/a HTTP/1.1" 200 512 "-" "M"`,
			`method is "get", not one such as GET; the log has a layout of its own`},
		{"", `"/data/10.5072/a GET" 200 512 "-" "M"`, `method is "/data/10.5072/a"`},
		{"", `"-" 200 512 "-" "M"`, `method is "-"`},
		{"", `"" 200 512 "-" "M"`, `method is ""`},
		{"", `"GET /data/10.5072/a HTTP/1.1" 20 512 "-" "M"`, `status is "20"`},
		{"", `"GET /data/10.5072/a HTTP/1.1" 2000 512 "-" "M"`, `status is "2000"`},
		{"", `"GET /data/10.5072/a HTTP/1.1" 2a0 512 "-" "M"`, `status is "2a0"`},
		{"", `"GET /data/10.5072/a HTTP/1.1" +20 512 "-" "M"`, `status is "+20"`},
		{"", `"@GET /data/10.5072/a HTTP/1.1" 200 512 "-" "M"`, `method is "@GET"`},
		{"", `"[GET /data/10.5072/a HTTP/1.1" 200 512 "-" "M"`, `method is "[GET"`},
		{"", `"G@ET /data/10.5072/a HTTP/1.1" 200 512 "-" "M"`, `method is "G@ET"`},
		{"", `"-GET /data/10.5072/a HTTP/1.1" 200 512 "-" "M"`, `method is "-GET"`},
		{"", `"_GET /data/10.5072/a HTTP/1.1" 200 512 "-" "M"`, `method is "_GET"`},
		{given, `"GET /data/10.5072/a" 0.003 "M"`,
			`status is "0.003", not three digits such as 200; is the layout that of this log?`},
		{given, `"data.example.org GET /data/10.5072/a" 200 "M"`, `method is "data.example.org"`},
		{"", `"GET /data/10.5072/a HTTP/1.1" 200 512 "-" "M"`, ""},
		{"", `"HEAD /data/10.5072/a HTTP/1.1" 200 512 "-" "M"`, ""},
		{"", `"A-Z_A-Z /data/10.5072/a HTTP/1.1" 200 512 "-" "M"`, ""},
		{"", `"VERSION-CONTROL /data/10.5072/a HTTP/1.1" 200 512 "-" "M"`, ""},
		{"", `"GET /data/10.5072/a HTTP/1.1" 000 0 "-" "M"`, ""},
		{"", `"\x16\x03\x01" 400 0 "-" "M"`, ""},
		{"", `"-" 408 0 "-" "-"`, ""},
		{"", `"GET /data/10.5072/a HTTP/1.1" 499 0 "-" "M"`, ""}, // nginx: the client went away
	} {
		line, sum := "192.0.2.1 - - [14/Oct/2026:10:01:00 +0000] "+c.rest+"\n", logs.Stats{}
		if c.layout != "" {
			line = strings.Replace(line, "- - ", "", 1)
		}
		var found []string
		_, err := collect(read(logs.Combined, strings.NewReader(line), &logs.Options{
			Paths: pages(), Layout: c.layout, Period: reports.Month(2026, time.October), Stats: &sum, Tolerance: all,
			Faulty: func(f datacite.Finding) { found = append(found, string(f.Code)+": "+f.Reason) },
		}))
		require.NoError(t, err)
		assert.Equal(t, c.reason == "", slices.Contains(sum.Files[0].Hours, true), c.rest)
		assert.Equal(t, c.reason == "", !sum.Files[0].First.IsZero(), c.rest)
		if c.reason == "" {
			assert.Empty(t, found, c.rest)
		} else if assert.Len(t, found, 1, c.rest) {
			assert.Contains(t, found[0], "syntax: "+c.reason)
		}
	}
}

func TestTimesOfGivenLayouts(t *testing.T) {
	zone := time.FixedZone("", 3600)
	for _, c := range []struct {
		word, text string
		nanos      int
		want       string // error
	}{
		{`%{sec}t`, "now", 0, `time is "now", not a number of seconds since 1970`},
		{`%{sec}t`, "now.5", 0, `time is "now.5"`},
		{`%{sec}t`, "1791986460.x", 0, `time is "1791986460.x"`},
		{`%{msec}t`, "1791986460000.x", 0, `time is "1791986460000.x"`},
		{`%{sec}t`, "1791986460.25", 25e7, ""}, {`%{sec}t`, "1791986460.1234567891", 123456789, ""},
		{`%{sec}t`, "1791986460", 0, ""}, {`%{begin:sec}t`, "1791986460", 0, ""},
		{`%{msec}t`, "1791986460250", 25e7, ""}, {`%{end:msec}t`, "1791986460000.7", 0, ""},
		{`%{usec}t`, "1791986460250001", 250001e3, ""},
		{`%{%F %T %z}t`, "2026-10-14 10:01:00 -0400", 0, ""},
		{`%{%d.%m.%Y %H-%M-%S %z}t`, "14.10.2026 10-01-00 -0400", 0, ""},
		{`%{begin:%e %b %Y %T %z}t`, "14 Oct 2026 10:01:00 -0400", 0, ""},
		{`%{%F %T %z}t`, "2026-10-14", 0, `time is "2026-10-14", not as %F %T %z`},
		{`%t`, "[14/Okt/2026:10:01:00 -0400]", 0, `time is "14/Okt/2026:10:01:00 -0400", not one such as`},
	} {
		events, err := collect(read(logs.Combined, strings.NewReader("192.0.2.1|"+c.text+`|GET|/data/10.5072/a|200|M`),
			&logs.Options{Paths: pages(), Layout: `%h|` + c.word + `|%m|%U|%s|%{User-Agent}i`, Location: zone}))
		if c.want != "" {
			assert.ErrorContains(t, err, c.want)
			continue
		}
		require.NoError(t, err, c.word)
		assert.EqualValues(t, 1791986460, events[0].Time.Unix(), c.word)
		assert.Equal(t, c.nanos, events[0].Time.Nanosecond(), c.text)
		_, offset := events[0].Time.Zone()
		assert.Equal(t, map[bool]int{true: 3600, false: -4 * 3600}[strings.Contains(c.word, "sec}")], offset,
			"that of the platform")
	}
}

// Each word that is read, in a line of its own.
func TestWordsOfGivenLayouts(t *testing.T) {
	const (
		page = "/data/10.5072/a"
		get  = "GET " + page + " HTTP/1.1"
	)
	for _, c := range []struct{ layout, line, user, address, url string }{
		{`%a|%r`, "192.0.2.1|" + get, "", "192.0.2.1", page},
		{`%u|%r`, "jane|" + get, "jane", "", page},
		{`%h|%l|%r`, "192.0.2.1|192.0.2.2|" + get, "", "192.0.2.1", page},
		{`%h|%r|%v`, "192.0.2.1|" + get + "|a.example", "", "192.0.2.1", "a.example" + page},
		{`%h|%r|%V`, "192.0.2.1|" + get + "|a.example", "", "192.0.2.1", "a.example" + page},
		{`%h|%r|%{HOST}i`, "192.0.2.1|" + get + "|a.example", "", "192.0.2.1", "a.example" + page},
		{`%{X-Forwarded-For}i|%r`, "192.0.2.1, 10.0.0.1|" + get, "", "192.0.2.1", page},
		{`%h|%m|%U|%q`, "192.0.2.1|POST|/data/10.5072/a|?x=1", "", "192.0.2.1", page + "?x=1"},
		{`%h|%m|%U|%q`, "192.0.2.1|GET|/data/10.5072/a|", "", "192.0.2.1", page},
		{`%h|%,200!404m|%<U|%{Referer}i|%{x}n|%^ti|%{remote}a`, "192.0.2.1|GET|/data/10.5072/a|-|-|-|192.0.2.2", "",
			"192.0.2.1", page},
		{`$remote_addr|$request`, "192.0.2.1|" + get, "", "192.0.2.1", page},
		{`${remote_addr}|$request`, "192.0.2.1|" + get, "", "192.0.2.1", page},
		{`$remote_user|$request`, "jane|" + get, "jane", "", page},
		{`$http_x_forwarded_for|$request`, "192.0.2.1, 10.0.0.1|" + get, "", "192.0.2.1", page},
		{`$proxy_add_x_forwarded_for|$request`, "192.0.2.1, 10.0.0.1|" + get, "", "192.0.2.1", page},
		{`$remote_addr|$request|$http_host`, "192.0.2.1|" + get + "|a.example", "", "192.0.2.1", "a.example" + page},
		{`$remote_addr|$request_method|$request_uri`, "192.0.2.1|GET|/data/10.5072/a?x=1", "", "192.0.2.1", page + "?x=1"},
		{`$remote_addr|$request_method|$uri|$args`, "192.0.2.1|GET|/data/10.5072/a|x=1", "", "192.0.2.1", page + "?x=1"},
		{`$remote_addr|$request_method|$uri|$args`, "192.0.2.1|GET|/data/10.5072/a|-", "", "192.0.2.1", page},
		{` %h|%r`, "192.0.2.1|" + get, "", "192.0.2.1", page},
		{"\n\tLogFormat  %h|%r", "192.0.2.1|" + get, "", "192.0.2.1", page},
		{`LogFormat %h|%r`, "192.0.2.1|" + get, "", "192.0.2.1", page},
	} {
		layout, line := c.layout+`|%t|%s|%{User-Agent}i`, c.line+"|[14/Oct/2026:10:01:00 -0400]|200|M"
		if strings.Contains(c.layout, "$") {
			layout = c.layout + `|[$time_local]|$status|$http_user_agent`
		}
		events, err := collect(read(logs.Combined, strings.NewReader(line), &logs.Options{Paths: pages(), Layout: layout}))
		require.NoError(t, err, layout)
		require.Len(t, events, 1, layout)
		e := events[0]
		assert.Equal(t, []string{c.user, c.address, c.url}, []string{e.User, e.Address, e.URL}, layout)
	}
}

func TestLayoutsOfWhichNothingCanBeCounted(t *testing.T) {
	for layout, want := range map[string]string{
		`%h %l %u %t "%r" %>s %b`:                                          "has no user agent",
		`%h "%r" %>s "%{User-Agent}i"`:                                     "has no time",
		`%h %t %>s "%{User-Agent}i"`:                                       "has no request",
		`%h %t "%r" "%{User-Agent}i"`:                                      "has no status",
		`%h %t %m %s "%{User-Agent}i"`:                                     "has no request",
		`%h %t %U %s "%{User-Agent}i"`:                                     "has no request",
		`%h %t %q %s "%{User-Agent}i"`:                                     "has no request",
		`%u %t %m %U %s "%{User-Agent}i"`:                                  "",
		`%h %D %O %t "%r" %s "%{User-Agent}i"`:                             "",
		`%h %{%c %z}t "%r" %s "%{User-Agent}i"`:                            "has the time",
		`%{X-Forwarded-For}i %t "%r" %s "%{User-Agent}i"`:                  "",
		`$remote_addr $msec $request_method $uri $status $http_user_agent`: "",
		`$remote_addr $msec $uri $status $http_user_agent`:                 "has no request",
		`LogFormat "%h %t`:                                                 "has no request",
		`log_format mine '$remote_addr $msec`:                              "has no time",
		`%h %t "%r" %<s "%{User-Agent}i"`:                                  "has no status", // before it was redirected
		`%t "%r" %s "%{User-Agent}i"`:                                      "has nothing that tells visitors apart",
		`%h%t "%r" %s "%{User-Agent}i"`:                                    "",
		`%h%u %t "%r" %s "%{User-Agent}i"`:                                 "has two fields with nothing between them",
		`%h %a %t "%r" %s "%{User-Agent}i"`:                                "has two fields of the same meaning",
		`%h %{%H:%M}t "%r" %s "%{User-Agent}i"`:                            "has the time",
		`%h %t "%r" %s %w "%{User-Agent}i"`:                                `has "%w"`,
		`$remote_addr [$time_local] "$request" $status`:                    "has no user agent",
		`combined`: "has no time",
		`$remote_addr $msec "$request" $status $http_user_agent`: "",
	} {
		_, err := collect(read(logs.Combined, strings.NewReader(""), &logs.Options{Paths: pages(), Layout: layout}))
		if want == "" {
			assert.NoError(t, err, layout)
			continue
		}
		require.ErrorIs(t, err, datacite.ErrInvalid, layout)
		assert.ErrorContains(t, err, "Options.Layout: "+want, layout)
	}
}

// TestSlashesAndSessionsInPaths make no other dataset.
func TestSlashesAndSessionsInPaths(t *testing.T) {
	paths := &logs.Paths{
		Investigations: []*regexp.Regexp{regexp.MustCompile(`^/handle/(\d+/\d+)$`), regexp.MustCompile(`^/data/(10\..+)$`),
			regexp.MustCompile(`^/set/(\d+)/$`), regexp.MustCompile(`^/page/\d$`)},
		DOIs: map[string]string{"1/17": "10.5072/a", "10.5072/1DB20": "10.5072/1DB20", "5": "10.5072/a",
			"/page/7": "10.5072/a"},
		Table: map[string]logs.Target{"/item/7": {DOI: "10.5072/a"}, "/": {DOI: "10.5072/root"}},
	}
	for path, want := range map[string]string{
		"/handle/1/17": "10.5072/a", "/handle/1/17/": "10.5072/a", "/handle/1/17//": "10.5072/a",
		"/handle/1/17;jsessionid=AB12": "10.5072/a", "/handle/1/17;jsessionid=AB12/?x=1": "10.5072/a",
		"/data/10.5072/1DB20/": "10.5072/1DB20", "/data/10.5072/1DB20;jsessionid=AB12": "10.5072/1DB20", "/handle;jsessionid=/1/17": "10.5072/a", "/item/7/": "10.5072/a", "/": "10.5072/root", "//": "10.5072/root", "http:///": "10.5072/root", "http://data.example.org": "10.5072/root", "http:///item/7": "10.5072/a", "/set/5/": "10.5072/a", "/set/5": "", "/page/7": "10.5072/a",
	} {
		log := fmt.Sprintf(`192.0.2.1 - - [14/Oct/2026:10:01:00 +0000] "GET %s HTTP/1.1" 200 5 "-" "Mozilla/5.0"`, path)
		events, err := collect(read(logs.Combined, strings.NewReader(log), &logs.Options{Paths: paths}))
		require.NoError(t, err)
		got := ""
		for _, e := range events {
			got = e.DOI
		}
		assert.Equal(t, want, got, path)
	}
}

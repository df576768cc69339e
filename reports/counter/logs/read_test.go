package logs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

const header = "#Fields: event_time	client_ip	session_cookie_id	user_cookie_id	user_id	request_url	identifier	filename	size	user-agent	title	publisher	publisher_id	authors	publication_date	version	other_id	target_url	publication_year\n"

// line is a line of Dataverse's log, with some fields replaced.
func line(replace ...string) string {
	fields := []string{
		"2026-10-14T10:01:00-0500", "192.0.2.1", "b94999cb", "-", ":guest",
		"https://data.example.org/dataset.xhtml?persistentId=doi:10.5072/FK2/ABC",
		"doi:10.5072/FK2/ABC", "-", "-", "Mozilla/5.0 (X11)", "Rain in Spain", "Example University", "grid.4711.3", "Doe, Jane|Roe, Richard",
		"2024-05-06T07:08:09Z", "1.0", "-", "https://data.example.org/dataset.xhtml?persistentId=doi:10.5072/FK2/ABC", "2024",
	}
	for i := 0; i < len(replace); i += 2 {
		for at, name := range strings.Fields(strings.TrimPrefix(header, "#Fields:")) {
			if name == replace[i] {
				fields[at] = replace[i+1]
			}
		}
	}
	return strings.Join(fields, "\t") + "\n"
}

// read reads one log.
func read(format logs.Format, r io.Reader, opts *logs.Options) iter.Seq2[counter.Event, error] {
	return logs.Read([]logs.Log{logs.FromReader("", r)}, format, opts)
}

// all lines that cannot be read are left out.
var all = logs.Tolerance{Share: 1}

func collect(events iter.Seq2[counter.Event, error]) (all []counter.Event, err error) {
	for e, err := range events {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

func source(events []counter.Event) iter.Seq2[counter.Event, error] {
	return func(yield func(counter.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestDataversesLog(t *testing.T) {
	log := "\ufeff#Version: 0.0.1\n" + header + line() +
		line("request_url", "/api/access/datafile/5#x", "user_id", "@doe", "session_cookie_id", "????") +
		line("event_time", "2026-10-14T15:01:00.5Z", "request_url", "/api/v1/datasets/:persistentId/versions", "identifier",
			"-", "user-agent", "") +
		line("request_url", "/robots.txt?u=/dataset.xhtml") + "\r\n" +
		strings.TrimSuffix(line("user_cookie_id", "c"), "\n")
	sum := logs.Stats{Counts: logs.Counts{Events: 7}} // of an earlier run
	events, err := collect(read(logs.Dataverse, strings.NewReader(log),
		&logs.Options{Stats: &sum, Tolerance: logs.Tolerance{Always: []datacite.Code{"no-dataset"}}}))
	require.NoError(t, err)
	for i := range events {
		events[i].Time = events[i].Time.UTC()
	}
	at := time.Date(2026, 10, 14, 15, 1, 0, 0, time.UTC)
	page := counter.Event{
		DOI: "10.5072/FK2/ABC", Time: at, URL: "https://data.example.org/dataset.xhtml?persistentId=doi:10.5072/FK2/ABC",
		Session: "b94999cb", Address: "192.0.2.1", Agent: "Mozilla/5.0 (X11)",
	}
	file, last := page, page
	file.URL, file.User, file.Session, file.Request = "/api/access/datafile/5#x", "@doe", "", true
	last.Cookie = "c"
	assert.Equal(t, []counter.Event{page, file, last}, events)
	assert.Equal(t, logs.Counts{Events: 3, Comments: 3, Other: 1, Faulty: 1}, sum.Counts)
	assert.True(t, at.Equal(sum.Files[0].First) && at.Equal(sum.Files[0].Last),
		"that of a line that cannot be read does not count")
}

// TestTimesAreThoseOfTheStandardLibrary: most times are read without it. Here each one is
// near those before it, some are no times, and offsets change.
func TestTimesAreThoseOfTheStandardLibrary(t *testing.T) {
	pick := func(r *rand.Rand, usual string, others ...string) string {
		if r.IntN(5) > 0 {
			return usual
		}
		return others[r.IntN(len(others))]
	}
	readable := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		var log strings.Builder
		var want []time.Time
		var faults []int
		for number := 1; number <= 40; number++ {
			zone, layout := pick(r, "+0000", "+0100", "-0330"), "2006-01-02T15:04:05-0700"
			switch r.IntN(8) {
			case 0:
				zone, layout = pick(r, "Z", "+05:45", ".25Z", ".000Z"), time.RFC3339
			case 1:
				zone = pick(r, "", "+01", "Z0", "+2500", "+0100 ")
			}
			text := pick(r, "2026", "2024", "1900", "0000", "202x") + pick(r, "-", "-", "/") + pick(r, "02", "10", "12", "13",
				"00") + "-" +
				pick(r, "01", "28", "29", "30", "31", "32", "00") + pick(r, "T", "T", "t") + pick(r, "00", "23", "24", "1:") + ":" +
				pick(r, "59", "00", "60") + ":" + pick(r, "59", "00", "60", "5") + zone
			fmt.Fprint(&log, line("event_time", text))
			at, err := time.Parse(layout, text)
			if err != nil {
				at, err = time.Parse("2006-01-02T15:04:05Z07", strings.TrimSpace(text))
			}
			if err != nil {
				at, err = time.Parse("2006-01-02T15:04:05Z0700", strings.TrimSpace(text))
			}
			if err != nil {
				faults = append(faults, number)
			} else {
				want = append(want, at)
			}
		}
		var got []int
		events, err := collect(read(logs.Dataverse, strings.NewReader(log.String()),
			&logs.Options{Tolerance: all, Faulty: func(f datacite.Finding) { got = append(got, f.Line) }}))
		require.NoError(t, err)
		require.Equal(t, faults, got, "seed %d: %s", seed, log.String())
		require.Len(t, events, len(want))
		readable += len(want)
		for i, e := range events {
			require.Equal(t, want[i].String(), e.Time.String(), "seed %d", seed)
		}
	}
	assert.Greater(t, readable, 2000)
}

func TestFaultyLines(t *testing.T) {
	for want, log := range map[string]string{
		`counter.log, line 2: fields are 18, not 19 separated by tabs`: line() + line()[25:],
		`counter.log, line 1: fields are 20, not 19 separated by tabs`: "\t" +
			line(),
		`counter.log, line 1: line is not valid UTF-8`:                                                                 line("title", "Regen in M\xfcnchen"),
		`counter.log, line 1: event_time is "2026-10-14T10:01:00", without an offset such as Z or +01:00`:              line("event_time", "2026-10-14T10:01:00"),
		`counter.log, line 1: event_time is "2026-10-14 10:01:00", without an offset such as Z or +01:00`:              line("event_time", "2026-10-14 10:01:00"),
		`counter.log, line 2: #Fields names other fields, or another order, than event_time`:                           line() + strings.Replace(header, "\tpublication_year", "", 1),
		`counter.log, line 3: #Fields names other fields, or another order, than event_time`:                           header + line() + strings.Replace(header, "\n", "\tmore\n", 1),
		`counter.log, line 1: event_time is "yesterday", not a time such as 2026-10-31T23:59:59+01:00`:                 line("event_time", "yesterday"),
		`counter.log, line 1: event_time is "", not a time`:                                                            line("event_time", "-"),
		`counter.log, line 1: identifier is "hdl:1902.1/11014", a handle, and usage is reported of DOIs only`:          line("identifier", "hdl:1902.1/11014"),
		`counter.log, line 1: #Fields names other fields, or another order, than event_time, client_ip, session_cooki`: strings.Replace(header, "event_time	client_ip", "client_ip	event_time", 1),
		`counter.log, line 2: line has more than 1048576 bytes`:                                                        line() + line("title", strings.Repeat("x", 1<<20)) + line(),
	} {
		_, err := collect(logs.Read([]logs.Log{logs.FromReader("counter.log", strings.NewReader(log))}, logs.Dataverse, nil))
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.ErrorContains(t, err, want)
		assert.Contains(t, logs.Codes(), datacite.Findings(err)[0].Code)
	}
}

// Faults that only accesses have are compared with the accesses, others with the lines.
func TestShareOfFaults(t *testing.T) {
	for code, refused := range map[datacite.Code]bool{"no-dataset": true, "handle": true, "doi": true, "address": true,
		"date": false, "syntax": false} {
		sum := logs.Stats{Counts: logs.Counts{Events: 9, Other: 90, Faulty: 1},
			Faults: []logs.CodeFaults{{Code: code, Lines: 1}}}
		assert.NoError(t, sum.Check(logs.Tolerance{Share: 0.1}), code)
		assert.Equal(t, refused, sum.Check(logs.Tolerance{Share: 0.01}) != nil, code)
		assert.Error(t, sum.Check(logs.Tolerance{Share: 0.009}), code)
		assert.Equal(t, refused && code != "doi", sum.Check(logs.Tolerance{Share: 0.01, DOIs: 0.1}) != nil, code)
	}
}

func TestAllFaultyLinesAreReportedOrLeftOut(t *testing.T) {
	log := line() + "a\tb\n" + line() + line("event_time", "now")
	events, err := collect(read(logs.Dataverse, strings.NewReader(log), nil))
	assert.Len(t, events, 2)
	assert.ErrorContains(t, err, "line 2: fields are 2")
	assert.ErrorContains(t, err, "line 4: event_time")
	for row, err := range counter.Count(read(logs.Dataverse, strings.NewReader(log), nil), nil) {
		assert.Zero(t, row)
		assert.ErrorContains(t, err, "line 4: event_time")
	}

	var left []datacite.Finding
	var sum logs.Stats
	events, err = collect(read(logs.Dataverse, strings.NewReader(log), &logs.Options{
		Tolerance: all, Faulty: func(f datacite.Finding) { left = append(left, f) }, Stats: &sum,
	}))
	require.NoError(t, err)
	assert.Len(t, events, 2)
	assert.Len(t, left, 2)
	assert.Equal(t, logs.Counts{Events: 2, Faulty: 2}, sum.Counts)

	_, err = collect(read(logs.Dataverse, strings.NewReader(strings.Repeat("x\n", 1000)), nil))
	faults := &logs.FaultsError{}
	require.ErrorAs(t, err, &faults)
	assert.EqualValues(t, 1000, faults.Faults[0].Lines)
	assert.Len(t, faults.Faults[0].First, 3)
}

// TestLongLogs are read in several chunks at the same time. Events keep the order of
// their lines, and faults have their numbers.
func TestLongLogs(t *testing.T) {
	const lines = 5000
	var log strings.Builder
	var want, faults []string
	for n := 1; n <= lines; n++ {
		address := fmt.Sprintf("192.0.%d.%d", n/256, n%256)
		switch {
		case n%1000 == 7:
			log.WriteString("x\n")
			faults = append(faults, fmt.Sprintf("line %d: fields are 1", n))
		case n == 3000:
			log.WriteString(line("title", strings.Repeat("x", 1<<20)))
			faults = append(faults, fmt.Sprintf("line %d: line has more than", n))
		case n == 4000:
			log.WriteString(line("title", strings.Repeat("x", 1<<20-1000), "client_ip", address))
			want = append(want, address)
		default:
			log.WriteString(line("client_ip", address))
			want = append(want, address)
		}
	}
	text := strings.TrimSuffix(log.String(), "\n")
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(text), "in halves": iotest.HalfReader(strings.NewReader(text)),
		"end with data": iotest.DataErrReader(strings.NewReader(text)),
	} {
		var left []string
		var sum logs.Stats
		events, err := collect(read(logs.Dataverse, r,
			&logs.Options{Stats: &sum, Tolerance: all, Faulty: func(f datacite.Finding) { left = append(left, f.String()) }}))
		require.NoError(t, err, name)
		var got []string
		for _, e := range events {
			got = append(got, e.Address)
		}
		assert.Equal(t, want, got, name)
		require.Len(t, left, len(faults), name)
		for i := range faults {
			assert.Contains(t, left[i], faults[i], name)
		}
		assert.Equal(t, logs.Counts{Events: int64(len(want)), Faulty: int64(len(faults))}, sum.Counts, name)
	}
	for _, err := range read(logs.Dataverse, io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrClosedPipe)),
		&logs.Options{Tolerance: all}) {
		if err != nil {
			assert.EqualError(t, err, "line 5000: io: read/write on closed pipe")
		}
	}
}

// TestReadersThatPanic: the panic is the caller's, who can recover.
func TestReadersThatPanic(t *testing.T) {
	r := io.MultiReader(strings.NewReader(strings.Repeat(line(), 1000)), readerFunc(func([]byte) (int, error) {
		panic("no more")
	}))
	assert.PanicsWithValue(t, "no more", func() { collect(read(logs.Dataverse, r, nil)) })
}

// TestLogsAtTheSameTime describe the same datasets.
func TestLogsAtTheSameTime(t *testing.T) {
	about := &logs.Descriptions{Memory: 1 << 10, TempDir: t.TempDir()}
	var reading sync.WaitGroup
	for server := range 4 {
		reading.Go(func() {
			var log strings.Builder
			for n := range 500 {
				fmt.Fprint(&log, line("event_time", fmt.Sprintf("2026-10-14T10:%02d:00Z", server), "identifier",
					fmt.Sprintf("doi:10.5072/%03d", n), "title", fmt.Sprint("server ", server)))
			}
			_, err := collect(read(logs.Dataverse, strings.NewReader(log.String()), &logs.Options{Descriptions: about}))
			assert.NoError(t, err)
		})
	}
	reading.Wait()
	var datasets []reports.Dataset
	for n := range 500 {
		datasets = append(datasets, reports.Dataset{
			DatasetID: []reports.TypedValue{{Type: "doi", Value: fmt.Sprintf("10.5072/%03d", n)}}})
	}
	for d, err := range about.Describe(reports.Source(datasets)) {
		require.NoError(t, err)
		require.Equal(t, "server 3", d.Title)
	}
	require.NoError(t, about.Close())
}

func TestDescriptions(t *testing.T) {
	log := line("event_time", "2026-10-14T10:00:00Z", "title", "Old", "identifier", "doi:10.5072/fk2/abc") +
		line("event_time", "2026-10-14T12:00:00Z") +
		line("event_time", "2026-10-14T11:00:00Z", "title", "Not so old") +
		line("identifier", "doi:10.5072/zzz", "title", "-", "publisher_id", "tbd", "authors", "-", "publication_date", "????",
			"publication_year", "", "target_url", "/z") +
		// as Dataverse writes of all
		line("identifier", "doi:10.5072/yyy", "title", "Y", "publisher", "grid", "publisher_id", "tbd", "authors", "-",
			"publication_date", "-", "publication_year", "-", "target_url", "-")
	for _, memory := range []int{0, 1} { // in memory and in a file
		about := &logs.Descriptions{Memory: memory, TempDir: t.TempDir()}
		events, err := collect(read(logs.Dataverse, strings.NewReader(log), &logs.Options{Descriptions: about}))
		require.NoError(t, err)
		events = append(events, counter.Event{DOI: "10.5072/mmm", Time: time.Now()})
		var datasets []reports.Dataset
		for d, err := range about.Describe(reports.Group(counter.Count(source(events), nil),
			&reports.GroupOptions{Sorted: true})) {
			require.NoError(t, err)
			assert.NotEmpty(t, d.Performance)
			d.Performance = nil
			datasets = append(datasets, d)
		}
		require.NoError(t, about.Close())
		assert.Equal(t, []reports.Dataset{{
			Title: "Rain in Spain", Publisher: "Example University",
			PublisherID: []reports.TypedValue{{Type: "grid", Value: "grid.4711.3"}},
			DataType:    reports.DataTypeDataset, DatasetID: []reports.TypedValue{
				{Type: "doi", Value: "10.5072/FK2/ABC"}}, YOP: "2024",
			URI:          "https://data.example.org/dataset.xhtml?persistentId=doi:10.5072/FK2/ABC",
			Dates:        []reports.TypedValue{{Type: "pub-date", Value: "2024-05-06"}},
			Contributors: []reports.TypedValue{{Type: "name", Value: "Doe, Jane"}, {Type: "name", Value: "Roe, Richard"}},
		}, {
			DataType: reports.DataTypeDataset, DatasetID: []reports.TypedValue{{Type: "doi", Value: "10.5072/mmm"}},
		}, {
			Title: "Y", DataType: reports.DataTypeDataset, DatasetID: []reports.TypedValue{{Type: "doi", Value: "10.5072/yyy"}},
		}, {
			Publisher: "Example University", URI: "/z",
			DataType: reports.DataTypeDataset, DatasetID: []reports.TypedValue{{Type: "doi", Value: "10.5072/zzz"}},
		}}, datasets)
	}
}

func TestAccessLogs(t *testing.T) {
	const browser = ` "https://example.org/" "Mozilla/5.0 (\"quoted\")"`
	log := `192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "GET /data/10.5072%2Fabc?x=1 HTTP/1.1" 200 2326` + browser + "\n" +
		`2001:db8::1 - Jane Doe [31/Oct/2026:23:59:59 +0100] "GET /data/10.5072/abc/file/7 HTTP/1.1" 206 -` + browser +
		" extra\n" +
		`192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "HEAD /data/10.5072/abc HTTP/1.1" 200 0 "-" "-"` + "\n" +
		`192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "GET /data/10.5072/abc HTTP/1.1" 404 0 "-" "-"` + "\n" +
		`192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "\x16\x03\x01" 400 0 "-" "-"` + "\n" +
		`192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "GET / HTTP/1.1" 200 0 "-" "-"` + "\n" +
		`192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "GET /data/10.5072/abc HTTP/1.1" 304 0 "-" "M \\"` + "\n"
	paths := &logs.Paths{
		Investigations: []*regexp.Regexp{regexp.MustCompile(`^/data/([^/]+(/[^/]+)?)$`)},
		Requests:       []*regexp.Regexp{regexp.MustCompile(`^/data/(.+)/file/\d+$`)},
	}
	var sum logs.Stats
	events, err := collect(read(logs.Combined, strings.NewReader(log), &logs.Options{Paths: paths, Stats: &sum}))
	require.NoError(t, err)
	for i := range events {
		events[i].Time = events[i].Time.UTC()
	}
	at := time.Date(2026, 10, 31, 22, 59, 59, 0, time.UTC)
	assert.Equal(t, []counter.Event{
		{DOI: "10.5072/abc", Time: at, URL: "/data/10.5072%2Fabc?x=1", Address: "192.0.2.1", Agent: `Mozilla/5.0 ("quoted")`},
		{DOI: "10.5072/abc", Time: at, URL: "/data/10.5072/abc/file/7", Request: true, Address: "2001:db8::1",
			User: "Jane Doe", Agent: `Mozilla/5.0 ("quoted")`},
		{DOI: "10.5072/abc", Time: at, URL: "/data/10.5072/abc", Address: "192.0.2.1", Agent: `M \`},
	}, events)
	assert.Equal(t, logs.Counts{Events: 3, Other: 4}, sum.Counts)
}

func TestAccessLogsWithATable(t *testing.T) {
	const log = `192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "GET /records/17 HTTP/1.1" 200 1 "-" "-"` + "\n" +
		`192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "GET /records/18 HTTP/1.1" 200 1 "-" "-"` + "\n" +
		`192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "GET /records/19 HTTP/1.1" 200 1 "-" "-"` + "\n" +
		`192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] "GET /records/18 HTTP/1.1" 200 1 "-" "-"` + "\n"
	paths := &logs.Paths{Investigations: []*regexp.Regexp{regexp.MustCompile(`^/records/(\d+)$`)},
		DOIs: map[string]string{"17": "10.5072/abc", "19": ""}}
	var sum logs.Stats
	events, err := collect(read(logs.Combined, strings.NewReader(log),
		&logs.Options{Paths: paths, Tolerance: all, Stats: &sum}))
	require.NoError(t, err)
	require.Len(t, events, 1)
	assert.Equal(t, "10.5072/abc", events[0].DOI)
	assert.Equal(t, logs.Counts{Events: 1, Other: 1, Faulty: 2}, sum.Counts,
		"19 is known to be none, of 18 nothing is known")
	assert.EqualValues(t, "no-dataset", sum.Faults[0].Code)
	assert.Equal(t, `line 2: path is "/records/18", whose dataset is not in the table`, sum.Faults[0].First[0].String())

	paths.DOIs = nil
	_, err = collect(logs.Read([]logs.Log{logs.FromReader("access.log", strings.NewReader(log+"common format\n"))},
		logs.Combined, &logs.Options{Paths: paths}))
	assert.ErrorContains(t, err, `access.log, line 1: path is "/records/17" and has "17", which is not a DOI`)
	assert.ErrorContains(t, err, `access.log, line 5: line is neither in the combined format nor in another common `+
		`layout that begins with the address of the visitor: "common format"`)
}

// TestAccessLogsWithATableOfPaths: some paths say nothing of a DOI, nor of what is there.
func TestAccessLogsWithATableOfPaths(t *testing.T) {
	var log strings.Builder
	for _, path := range []string{"/rain", "/files/ra%69n.csv?x=1", "/records/10.5072/abc", "/records/old", "/about",
		"/broken"} {
		fmt.Fprintf(&log, "192.0.2.1 - - [31/Oct/2026:23:59:59 +0100] \"GET %s HTTP/1.1\" 200 1 \"-\" \"-\"\n", path)
	}
	paths := &logs.Paths{
		Investigations: []*regexp.Regexp{regexp.MustCompile(`^/records/(.+)$`)},
		Table: map[string]logs.Target{
			"/rain": {DOI: "10.5072/rain"}, "/files/rain.csv": {DOI: "https://doi.org/10.5072/RAIN", Request: true},
			"/records/old": {DOI: "10.5072/old", Request: true}, "/broken": {DOI: "rain"},
		},
	}
	var sum logs.Stats
	var faults []string
	events, err := collect(read(logs.Combined, strings.NewReader(log.String()), &logs.Options{Paths: paths,
		Stats: &sum, Tolerance: all, Faulty: func(f datacite.Finding) { faults = append(faults, f.String()) },
	}))
	require.NoError(t, err)
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprint(e.URL, " ", e.DOI, " ", e.Request))
	}
	assert.Equal(t, []string{
		"/rain 10.5072/rain false", "/files/ra%69n.csv?x=1 10.5072/RAIN true",
		"/records/10.5072/abc 10.5072/abc false", "/records/old 10.5072/old true",
	}, got)
	assert.Equal(t, logs.Counts{Events: 4, Other: 1, Faulty: 1}, sum.Counts)
	assert.Equal(t, []string{`line 6: path is "/broken" and has "rain", which is not a DOI`}, faults)

	paths = logs.DataversePaths()
	paths.Table = map[string]logs.Target{"/api/files": {Request: true}}
	events, err = collect(read(logs.Dataverse,
		strings.NewReader(line("request_url", "https://data.example.org/api/files?id=7")+line()), &logs.Options{
			Paths: paths}))
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.True(t, events[0].Request)
	assert.False(t, events[1].Request)
}

func TestEventsAsJSON(t *testing.T) {
	want := []counter.Event{
		{DOI: "10.5072/abc", Time: time.Date(2026, 10, 14, 10, 1, 0, 5, time.UTC), URL: "/a", Request: true, User: "u",
			Cookie: "c", Session: "s", Address: "a", Agent: "b", Access: reports.AccessMachine, Country: "de"},
		{DOI: "10.5072/abc", Time: time.Date(2026, 10, 14, 10, 1, 0, 0, time.UTC)},
	}
	var log bytes.Buffer
	for _, e := range want {
		require.NoError(t, json.NewEncoder(&log).Encode(e))
	}
	events, err := collect(read(logs.JSON, io.MultiReader(strings.NewReader("# events\n"), &log), nil))
	require.NoError(t, err)
	assert.Equal(t, want, events)

	for text, want := range map[string]string{
		`{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","cokie":"c"}`: `syntax: line is not an event: json: unknown ` +
			`field "cokie"`,
		`{"doi":"10.5072/a"}`:                         "date: is missing",
		`{"doi":"abc","time":"2026-10-14T10:01:00Z"}`: `doi: is "abc", not a DOI`,
		`{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","country":"USA"}`: `value: is "USA", not a country code of two ` +
			`letters`,
		`{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","access":"human"}`: `value: is "human", neither regular nor ` +
			`machine`,
		`{"time":"2026-10-14T10:01:00Z"}`:   "no-dataset: doi is missing",
		`{"time":"2026-10-14T10:01:00Z"}{}`: "something follows it",
	} {
		_, err := collect(read(logs.JSON, strings.NewReader(text), nil))
		found := datacite.Findings(err)
		require.Len(t, found, 1)
		assert.Equal(t, 1, found[0].Line)
		assert.Contains(t, string(found[0].Code)+": "+found[0].Reason, want)
	}
}

// A handle has a code of its own in every format: an administrator may leave out handles, and not DOIs
// that are misspelt.
func TestAHandleIsAFaultInEveryFormat(t *testing.T) {
	path := &logs.Paths{Investigations: []*regexp.Regexp{regexp.MustCompile(`^/data/(.+)$`)}}
	for name, tt := range map[string]struct {
		format logs.Format
		line   string
		paths  *logs.Paths
	}{
		"Dataverse": {logs.Dataverse, line("identifier", "hdl:1902.1/11014"), nil},
		"combined": {logs.Combined, `192.0.2.1 - - [14/Oct/2026:10:00:00 +0000] "GET /data/hdl:1902.1/11014 HTTP/1.1" 200 ` +
			`1 "-" "M"` + "\n", path},
		"no name": {logs.Dataverse, line("identifier", "hdl:"), nil},
		"JSON":    {logs.JSON, `{"doi":"HDL:1902.1/11014","time":"2026-10-14T10:00:00Z","url":"/a"}` + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var sum logs.Stats
			for range logs.Read([]logs.Log{logs.FromReader("a.log", strings.NewReader(tt.line))}, tt.format,
				&logs.Options{Paths: tt.paths, Stats: &sum, Tolerance: logs.Tolerance{Always: []datacite.Code{"handle"}}}) {
			}
			require.Len(t, sum.Faults, 1)
			assert.EqualValues(t, "handle", sum.Faults[0].Code)
		})
	}
}

// Wrong options are errors before a log is opened.
func TestWhatReadRefuses(t *testing.T) {
	days := func(first, last reports.Date) logs.Options {
		return logs.Options{Period: reports.Period{BeginDate: first, EndDate: last}}
	}
	for _, tt := range []struct {
		format logs.Format
		opts   logs.Options
		want   string // "" if nothing is wrong
	}{
		{logs.Format{Name: "mine"}, logs.Options{}, `format: "mine" has no Parser`},
		{logs.Combined, logs.Options{}, "Options.Paths: are missing"},
		{logs.JSON, logs.Options{Paths: pages()}, "Options.Paths: have no effect"},
		{logs.JSON, logs.Options{Tolerance: logs.Tolerance{Share: 1.1}}, "Options.Tolerance: has the shares 1.1 and 0,"},
		{logs.JSON, logs.Options{Tolerance: logs.Tolerance{Share: 1, DOIs: 1}}, ""},
		{logs.JSON, logs.Options{Tolerance: logs.Tolerance{DOIs: -0.1}}, "Options.Tolerance: has the shares 0 and -0.1,"},
		{logs.JSON, logs.Options{Tolerance: logs.Tolerance{DOIs: 1.1}}, "Options.Tolerance: has the shares 0 and 1.1,"},
		{logs.JSON, logs.Options{Tolerance: logs.Tolerance{Share: -0.1}}, "Options.Tolerance: has the shares -0.1 and 0,"},
		{logs.JSON, days("2026-01-01", "2027-01-02"), ""},
		{logs.JSON, days("2026-01-01", "2027-01-03"), `Options.Period: is from "2026-01-01" to "2027-01-03"`},
		{logs.JSON, days("2026-10-02", "2026-10-01"), `Options.Period: is from "2026-10-02" to "2026-10-01"`},
		{logs.JSON, days("", "2026-10-01"), `Options.Period: is from "" to "2026-10-01"`},
		{logs.JSON, days("2026-10-01", ""), `Options.Period: is from "2026-10-01" to ""`},
	} {
		opened := false
		log := logs.Log{Name: "a.log", Open: func() (io.ReadCloser, error) { opened = true; return nil, io.ErrClosedPipe }}
		_, err := collect(logs.Read([]logs.Log{log}, tt.format, &tt.opts))
		assert.Equal(t, tt.want == "", opened, tt.want)
		if tt.want == "" {
			assert.Equal(t, io.ErrClosedPipe, err)
			continue
		}
		require.ErrorIs(t, err, datacite.ErrInvalid, tt.want)
		assert.ErrorContains(t, err, tt.want)
	}
}

// Databases have codes for networks of no country; anything else that is no code is a fault of
// the function.
func TestCountriesThatAreNone(t *testing.T) {
	for code, want := range map[string]string{"de": "de", "DE": "DE", "T1": "", "ZZ": "", "eu": "", "": "",
		"Germany": "Germany"} {
		opts := &logs.Options{Country: func(string) (string, error) { return code, nil }}
		for e, err := range logs.Read([]logs.Log{logs.FromReader("a.log", strings.NewReader(line()))}, logs.Dataverse, opts) {
			require.NoError(t, err)
			assert.Equal(t, want, e.Country)
			assert.Equal(t, code == "Germany", e.Validate() != nil)
		}
	}
}

// Where all visitors have the addresses of a few proxies, each address has many user agents.
func TestProxiesInPlaceOfVisitors(t *testing.T) {
	private := func(n int) func(int) string { return func(i int) string { return fmt.Sprint("10.0.0.", i%n) } }
	one := func(int) string { return "192.0.2.1" }
	agents := func(n int) func(int) string { return func(i int) string { return fmt.Sprint("Mozilla/", i/16%n) } }
	for name, tt := range map[string]struct {
		events         int
		address, agent func(i int) string
		more           string
		want           int
	}{
		"one address":                 {20, one, agents(2), "", 1},
		"few events":                  {19, one, agents(2), "", 0},
		"one browser":                 {99, one, agents(1), "", 0},
		"two proxies":                 {64, private(2), agents(2), "", 2},
		"sixteen proxies":             {64, private(16), agents(3), "", 16},
		"a proxy that is hardly used": {64, func(i int) string { return private(2)(i / 63) }, agents(2), "", 2},
		"seventeen people":            {99, private(17), agents(3), "", 0},
		"an office":                   {64, private(16), func(i int) string { return agents(1 + i%16/9)(i) }, "", 0},
		"two public addresses":        {64, func(i int) string { return fmt.Sprint("192.0.2.", i%2) }, agents(2), "", 0},
		"one public, then private": {64, func(i int) string {
			return []string{"192.0.2.1", "10.0.0.1"}[i%2]
		}, agents(2), "", 0},
		"one private, then public": {64, func(i int) string {
			return []string{"10.0.0.1", "192.0.2.1"}[i%2]
		}, agents(2), "", 0},
		"cookies":  {64, one, agents(2), `,"cookie":"c"`, 0},
		"sessions": {64, one, agents(2), `,"session":"s"`, 0},
		"logins":   {64, one, agents(2), `,"user":"u"`, 0},
	} {
		var log strings.Builder
		for i := range tt.events {
			fmt.Fprintf(&log, `{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","url":"/a","address":%q,"agent":%q%s}`+"\n",
				tt.address(i), tt.agent(i), tt.more)
		}
		var sum logs.Stats
		_, err := collect(read(logs.JSON, strings.NewReader(log.String()), &logs.Options{Stats: &sum}))
		require.NoError(t, err)
		assert.Equal(t, tt.want, sum.Files[0].Proxies, name)
	}
}

package count

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

// TestBadInput: each fault has its place and a clear word; nothing is written or sent.
func TestBadInput(t *testing.T) {
	folder := t.TempDir()
	good := view("2026-10-14T10:01:00Z", "s1", "10.5072/a")
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, strings.Repeat(good, 100))
	w.Close()
	put := func(content string) string {
		return write(t, folder, strings.ReplaceAll(t.Name(), "/", "_"), content)
	}
	for name, tt := range map[string]struct {
		log  string
		more []string
		says string
	}{
		"not UTF-8": {good + strings.Replace(good, "Data of", "Daten f\xfcr", 1), nil,
			"line 2: line is not valid UTF-8"},
		"18 fields": {good + good[strings.IndexByte(good, '\t')+1:], nil,
			"line 2: fields are 18, not 19 separated by tabs"},
		"no zone": {view("2026-10-14T10:01:00", "s1", "10.5072/a"), nil,
			"line 1: event_time is \"2026-10-14T10:01:00\", without an offset"},
		"no DOI": {view("2026-10-14T10:01:00Z", "s1", "hdl:1902.1/1"), nil,
			"line 1: identifier is \"doi:hdl:1902.1/1\", not a DOI"},
		"a handle": {strings.Replace(good, "\tdoi:10.5072/a\t", "\thdl:1902.1/1\t", 1), nil,
			"line 1: identifier is \"hdl:1902.1/1\", a handle, and usage is reported of DOIs only\n--bad-lines leave-out " +
				"counts the other lines if these are at most 1%, --leave-out handle in any case\n"},
		"empty":     {"", nil, "no access is to be counted: of 0 lines"},
		"truncated": {zipped.String()[:zipped.Len()-9], nil, "unexpected EOF"},
		"1970": {view("1970-01-01T00:00:00Z", "s1", "10.5072/a"), nil,
			"of 1 accesses, 1 are not from 2026-10-01 to 2026-10-31"},
		"no country database": {good, []string{"--geoip", folder + "/none.mmdb"}, "none.mmdb: no such file"},
		"not a database":      {good, []string{"--geoip", write(t, folder, "x.mmdb", "x")}, "x.mmdb: "},
		"no list of robots": {good, []string{"--robots", folder + "/none"},
			"--robots: open " + folder + "/none: no such file"},
		"broken list": {good, []string{"--machines", write(t, folder, "machines", "a\n(")},
			"line 2: error parsing regexp"},
		"empty list": {good, []string{"--machines", write(t, folder, "empty", "# nothing\n")}, "has no pattern"},
		"no archive": {good, []string{"--describe", folder + "/none"},
			"--describe " + folder + "/none: stat " + folder + "/none: no such file"},
		"not an archive": {good, []string{"--describe", write(t, folder, "archive.jsonl", "x")},
			"--describe " + folder + "/archive.jsonl: "},
		"paths without names": {good, []string{"--paths", write(t, folder, "a.csv", "/a,10.5072/a,request\n")},
			"a.csv, line 1: the table has to name the columns path, doi and kind"},
		"wrong paths": {good, []string{"--paths",
			write(t, folder, "b.csv", "\ufeffkind,path,DOI\nrequest,a,10.5072/a\nview,/a,10.5072/a\nrequest,/a,a\nrequest,"+
				"/a\nrequest,/a?x,10.5072/a\nrequest,/a,10.5072/a\nrequest,/%61,10.5072/b\n")},
			"b.csv, line 2, column 2: path: is \"a\", not a path such as /data/17, without host and query\n\t" + folder +
				"/b.csv, line 3, column 1: kind: is \"view\", neither investigation nor request\n\t" +
				folder + "/b.csv, line 4, column 3: doi: is \"a\", not a DOI such as 10.5072/abc\n\t" + folder +
				"/b.csv, line 5: there are 2 cells for 3 columns\n\t" +
				folder + "/b.csv, line 6, column 2: path: is \"/a?x\", not a path such as /data/17, without host and query\n\t" +
				folder + "/b.csv, line 8, column 2: path: is \"/a\", which is in the table already, with another DOI or kind\n"},
		"no end of a quotation": {good, []string{"--paths",
			write(t, folder, "c.csv", "path,doi,kind\n\"/a,10.5072/a,request\n")}, "c.csv, line 2"},
		"no folder": {good, []string{"--output", folder + "/none/report.json"},
			"create " + folder + "/none/report.json: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			log, out := put(tt.log), filepath.Join(t.TempDir(), "report.json")
			done := runs(t.Context(), nil, "", append(args(log, "--output", out), tt.more...)...)
			assert.Equal(t, 2, done.code, done.errors)
			assert.Contains(t, shelltest.Slashes(shelltest.Plain(done.errors)), shelltest.Slashes(tt.says))
			assert.Empty(t, done.out)
			left, err := os.ReadDir(filepath.Dir(out))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// TestNoTemporaryFiles: the folder for them is missing.
func TestNoTemporaryFiles(t *testing.T) {
	var log strings.Builder
	for i := range 20_000 { // more than fits in memory
		log.WriteString(view(fmt.Sprintf("2026-10-14T10:01:%02dZ", i%60), fmt.Sprint("s", i), fmt.Sprint("10.5072/a", i)))
	}
	shelltest.SetTemp(t, filepath.Join(t.TempDir(), "none"))
	done := runs(t.Context(), nil, log.String(), args("--memory", "1", "-")...)
	assert.Equal(t, 2, done.code)
	assert.Regexp(t, `open \S+[/\\]none[/\\]datacite-\S+: no such file or directory; (TMPDIR|TMP) names another folder `+
		`for temporary files\n$`, shelltest.Plain(done.errors))
	assert.Empty(t, done.out)
}

func TestWrongUse(t *testing.T) {
	log := write(t, t.TempDir(), "counter.log", view("2026-10-14T10:01:00Z", "s1", "10.5072/a"))
	for _, tt := range []struct {
		says string
		args []string
	}{
		{"--month is needed, such as --month 2026-10", []string{log}},
		{"a report needs --creator", []string{log, "--month", "2026-10", "--output", "report.json"}},
		{"--json prints the summary, and --output - the report", args(log, "--json", "--output", "-")},
		{"standard input can be read once", args("-", "-")},
		{"arguments are missing: datacite count FILE…;", args()},
		{"--month is \"October\", not YYYY-MM", []string{"--month", "October", "--creator", "x", log}},
		{"--zone is \"Mars\", not a time zone", args(log, "--zone", "Mars")},
		{"--log-format: \"iis\" is not one of dataverse, combined, json", args(log, "--log-format", "iis")},
		{"--bad-lines is \"ignore\"", args(log, "--bad-lines", "ignore")},
		{"--investigations and --requests belong together", args(log, "--requests", "x")},
		{"--paths, or --investigations and --requests, are missing", args(log, "--log-format", "combined")},
		{"have no effect on events as JSON", args(log, "--log-format", "json", "--requests", "x", "--investigations", "y")},
		{"missing closing )", args(log, "--requests", "(")},
		{"--memory is 0", args(log, "--memory", "0")},
		{"counter.log would replace a log", args(log, "--output", filepath.Dir(log)+"/./counter.log")},
		{"is a folder; name the logs in it", args(filepath.Dir(log))},
	} {
		done := runs(t.Context(), nil, "", tt.args...)
		assert.Equal(t, 2, done.code, tt.says)
		assert.Contains(t, done.errors, tt.says)
	}
}

// TestADOIThatIsNone is left out and named, with --quiet, too, as long as such accesses are few.
func TestADOIThatIsNone(t *testing.T) {
	good := `{"doi":"10.5072/a","time":"2026-10-14T10:01:00Z","url":"/a","cookie":"c"}` + "\n"
	for few, code := range map[int]int{1: 0, 10: 0, 11: 2} {
		log := write(t, t.TempDir(), "events.log",
			strings.Repeat(good, 1000-few)+strings.Repeat(strings.Replace(good, "10.5072/a", "42", 1), few))
		done := runs(t.Context(), nil, "", args(log, "--log-format", "json", "--gap", "0", "--quiet")...)
		assert.Equal(t, code, done.code, done.errors)
		assert.Contains(t, done.errors, fmt.Sprintf("line %d: doi: is \"42\", not a DOI", 1001-few))
	}
}

// TestAllFaultsInOneRun: of tables, of the lines of all logs, and of the zone.
func TestAllFaultsInOneRun(t *testing.T) {
	folder := t.TempDir()
	line := view("2026-10-14T10:01:00-0400", "s1", "10.5072/a")
	one, two := write(t, folder, "one.log", line+"x\n"), write(t, folder, "two.log", line+line+"y\n")
	paths := []string{"--paths", write(t, folder, "paths.csv", "path,doi,kind\n/a,none,request\n")}
	dois := []string{"--dois", write(t, folder, "dois.csv", "name,doi\nb,none\n")}
	lines := []string{one + ", line 2: fields are 1, not 19", two + ", line 3: fields are 1, not 19",
		"2 lines of 5 cannot be read", "Lines have the offset -04:00 from UTC, 3 of them"}
	for name, tt := range map[string]struct {
		more []string
		says []string
	}{
		"lines and zone": {nil, lines},
		"tables": {slices.Concat(paths, dois),
			append([]string{"paths.csv, line 2, column 2: doi: is \"none\"", "dois.csv, line 2, column 2: doi: is \"none\""},
				lines...)},
		"a good zone": {append(dois, "--zone", "-04:00"), append([]string{"dois.csv, line 2"}, lines[:3]...)},
	} {
		for _, days := range [][]string{nil, {"--days", t.TempDir()}} {
			done := runs(t.Context(), nil, "", append(args(one, two), append(days, tt.more...)...)...)
			assert.Equal(t, 2, done.code, name)
			for _, want := range tt.says {
				assert.Equal(t, 1, strings.Count(done.errors, want), "%s %q: %s in %s", name, days, want, done.errors)
			}
		}
	}
}

func TestLinesAreLeftOutOnRequest(t *testing.T) {
	folder := t.TempDir()
	good := view("2026-10-14T10:01:00Z", "s1", "10.5072/a")
	handle := strings.Replace(good, "\tdoi:10.5072/a\t", "\thdl:1902.1/1\t", 1)
	logs := []string{
		write(t, folder, "counter.log", strings.Repeat("x\n", 3)+strings.Repeat(good, 200)),
		write(t, folder, "empty.log", ""),
		write(t, folder, "other.log", strings.Repeat("x\n", 3)+strings.Repeat(handle, 100)+strings.Repeat(good, 300)),
	}
	for _, tt := range []struct {
		flags []string
		code  int
	}{
		{nil, 2}, {[]string{"--bad-lines", "leave-out"}, 2}, // too many handles
		{[]string{"--bad-lines", "17%"}, 0}, {[]string{"--bad-lines", "16%"}, 2},
		{[]string{"--leave-out", "handle"}, 2}, {[]string{"--leave-out", "handle,syntax"}, 0},
		{[]string{"--leave-out", "handle", "--bad-lines", "leave-out"},
			0}, {[]string{"--leave-out", "handle", "--bad-lines", "0.5%"}, 2},
	} {
		for _, more := range [][]string{nil, {"--quiet"}} {
			done := runs(t.Context(), nil, "", append(args(logs...), append(more, tt.flags...)...)...)
			require.Equal(t, tt.code, done.code, "%q: %s", tt.flags, done.errors)
			if tt.code == 0 {
				assert.Contains(t, done.errors,
					"warning: 106 lines of 606 left out, since they cannot be read\n  handle: 100 lines\n    "+logs[2]+
						", line 4: identifier is \"hdl:1902.1/1\"")
				assert.Contains(t, done.errors,
					"and 97 more\n  syntax: 6 lines\n    "+logs[0]+", line 1: fields are 1, not 19 separated by tabs\n")
				assert.Contains(t, done.errors, "empty.log is empty")
			}
		}
	}
}

// TestALogThatWasCut: a copy that ended too soon is read as far as it goes, if that is meant.
func TestALogThatWasCut(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	for i := range 2000 {
		io.WriteString(w, view(fmt.Sprintf("2026-10-14T%02d:%02d:%02dZ", i/100, i%60, i%60), fmt.Sprint(i*7919),
			fmt.Sprint("10.5072/a", i)))
	}
	w.Close()
	log := write(t, t.TempDir(), "counter.log.gz", zipped.String()[:zipped.Len()/2])
	refused := runs(t.Context(), nil, "", args(log)...)
	assert.Equal(t, 2, refused.code)
	assert.Contains(t, refused.errors, "unexpected EOF")
	read := runs(t.Context(), nil, "", args(log, "--cut", "--gap", "0", "--quiet")...)
	assert.Equal(t, 0, read.code, read.errors)
	assert.Regexp(t, `warning: .*counter.log.gz is cut after line \d+; what followed is not counted`, read.errors)
}

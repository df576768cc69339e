package usage

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

var seams = flag.Int("seams", 1, "random months of accesses that pass each seam, of each behaviour")

const creator, month = `Repository "Ä" & <Söhne> 1`, "2025-10"

// A writer is a way to the counts of a month.
type writer struct {
	file string // that --output names
	days bool   // the month is counted in two nights
}

var writers = []writer{{file: "report.json"}, {file: "counts.csv"}, {file: "counts.xlsx"}, {"report.json", true},
	{"counts.csv", true}, {"counts.xlsx", true}}

// readers are the commands that read what is written, and what is given with a file.
var readers = map[string][]string{"send": {"usage", "send"}, "repair": {"usage", "repair", "example.repo", "--yes"}}

// TestUsageSeams walks from the logs of a month over each output of "usage count" and each command that reads it to
// the stored report, and to what records show: unchanged, or refused, or named. A second pass changes nothing.
func TestUsageSeams(t *testing.T) {
	for seed := range uint64(*seams) {
		for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
			for _, w := range writers {
				for name, args := range readers {
					if w.days && behaviour == datacitetest.Documented {
						continue // days are counted before a service is asked
					}
					if !t.Run(fmt.Sprint(seed, " ", behaviour, " ", w, " ", name), func(t *testing.T) {
						newMonth(t, seed, behaviour).pass(w, args)
					}) {
						return
					}
				}
			}
		}
	}
}

// A monthOf is a service with records, and the logs of a month.
type monthOf struct {
	*testing.T
	srv    *datacitetest.Server
	shows  bool // its records show counts
	folder string
	logs   []string
	want   map[string]reports.Dataset // by DOI
	known  map[string]bool            // DOIs that have a record
}

// names are DOIs that people have. Some of them have no record.
var names = []string{
	"10.5072/plain", "10.5072/Upper.Case", "10.5072/a(b)c;d_e", "10.5072/s1234-5678(97)12:3<1::aid-x>3.0.co;2-#",
	"10.5072/a&b", "10.5072/a b",
	"10.5072/größe", "10.5072/数据", "10.5072/a+b=c", "10.5072/'quoted'", "10.5072/a%2fb", "10.5072/a?b=c", "10.5072/=1+1", "10.5072/a,b", "10.5072/a\"b", "10.5072//two/slashes/",
}

// texts are titles and publishers.
var texts = []string{
	"Salt & Pepper", "x<5 & y>3", "CO<sub>2</sub>", "R&amp;D", `"quoted", 'so'`, " blanks  around ", "气候", "שלום",
	"Ångström – µ", "=1+1", "+49 30 1", "-5 °C", "@home", "'=x", "'",
	"a;b,c|d", "007", "1e5", "2025-10-01", "_x0041_", "back\\slash", "tab\there", "two\nlines", "𝄞", "NULL", "#N/A", "%s%d", "\"", "a\"\"b",
}

func newMonth(t *testing.T, seed uint64, behaviour datacitetest.Behaviour) *monthOf {
	t.Helper()
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	random := rand.New(rand.NewPCG(seed, 40))
	pick := func(all []string) string { return all[random.IntN(len(all))] }
	m := &monthOf{T: t, shows: behaviour == datacitetest.Deployed,
		srv: datacitetest.NewServer(&datacitetest.Options{
			Behaviour: behaviour}), folder: t.TempDir(), want: map[string]reports.Dataset{}, known: map[string]bool{}}
	t.Cleanup(m.srv.Close)
	var events []counter.Event
	for i, name := range names {
		if random.IntN(3) == 0 && i > 0 {
			continue
		}
		d := reports.Dataset{Title: pick(texts), Publisher: pick(texts), YOP: fmt.Sprint(1900 + random.IntN(126)),
			URI: "https://repository.example.org/data?a=1&b=" + fmt.Sprint(i)}
		record := datacitetest.RandomRecord(seed*100 + uint64(i))
		if random.IntN(3) == 0 {
			d.Title = record.Titles[0].Title
		}
		record.Titles[0].Title, record.Publisher.Name, record.PublicationYear = d.Title, d.Publisher, metadata.Year(d.YOP)
		if random.IntN(6) > 0 || i == 0 {
			m.known[doi.Key(name)] = m.register(name, d.URI, record, random.IntN(2) == 0)
		}
		m.want[doi.Key(name)] = d
		for range 1 + random.IntN(9) {
			events = append(events, counter.Event{
				DOI: name, Time: time.Date(2025, 10, 1+random.IntN(31), random.IntN(24), random.IntN(60), 0, 0, time.UTC),
				URL: "/" + fmt.Sprint(random.IntN(3)), Request: random.IntN(3) == 0,
				Cookie: fmt.Sprint(random.IntN(4)), Agent: pick([]string{"Mozilla/5.0 (X11)",
					"curl/8"}), Country: pick([]string{"", "de", "FR", "us"}),
			})
		}
	}
	for row, err := range reports.Group(counter.Count(func(yield func(counter.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}, &counter.Options{Period: reports.Month(2025, 10)}), &reports.GroupOptions{Sorted: true}) {
		require.NoError(t, err)
		d := m.want[doi.Key(row.DatasetID[0].Value)]
		d.DatasetID, d.Performance = row.DatasetID, row.Performance
		m.want[doi.Key(row.DatasetID[0].Value)] = d
	}
	require.True(t, m.known[names[0]])
	// The first night has the first half of the log.
	slices.SortFunc(events, func(a, b counter.Event) int { return a.Time.Compare(b.Time) })
	for i, half := range [][]counter.Event{events[:len(events)/2], events[len(events)/2:]} {
		var lines strings.Builder
		for _, e := range half {
			require.NoError(t, json.NewEncoder(&lines).Encode(e))
		}
		m.logs = append(m.logs, m.file(fmt.Sprintf("web1-%d.log", i+1), lines.String()))
	}
	return m
}

// register registers a dataset, by either interface; false if it is refused.
func (m *monthOf) register(name, url string, record *metadata.Record, asXML bool) bool {
	if !asXML {
		_, err := m.srv.DOIs().Create(m.Context(),
			&dois.Draft{DOI: name, URL: url, Event: dois.EventPublish, Record: *record})
		return err == nil
	}
	doc, err := mds.NewDocument(record)
	if err == nil {
		_, err = m.srv.MDS().Register(m.Context(), name, url, doc, nil)
	}
	return err == nil
}

func (m *monthOf) file(name, content string) string {
	path := filepath.Join(m.folder, name)
	require.NoError(m, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// run runs a command, which must not fail without an error message.
func (m *monthOf) run(args ...string) (code int, notes string) {
	m.Helper()
	r := shelltest.At(m.srv)
	r.Env["DATACITE_TOKEN"] = m.srv.Token(m.srv.Now().Add(400 * 24 * time.Hour))
	code, out, notes := r.Do(m.T, Command, args...)
	require.True(m, code == 0 || strings.Contains(notes, "datacite: "), "%v: %d without an error message: %s", args, code,
		notes)
	return code, out + notes
}

// pass walks one road.
func (m *monthOf) pass(w writer, reader []string) {
	said := m.count(w)
	file := filepath.Join(m.folder, w.file)
	reader = append(slices.Clone(reader), file)
	if filepath.Ext(w.file) != ".json" {
		reader = append(reader, "--creator", creator, "--month", month)
	}
	notes := m.reads(reader)
	m.holds(said + notes)
	before := shelltest.Writes(m.srv)
	m.srv.ProcessUsage()
	for _, again := range [][]string{reader, append(slices.Clone(readers["send"]), reader[slices.Index(reader, file):]...),
		append(slices.Clone(readers["repair"]), reader[slices.Index(reader, file):]...)} {
		m.reads(again)
	}
	require.Equal(m, before, shelltest.Writes(m.srv), "a second pass changes nothing")
	m.holds(said + notes)
	if m.shows {
		m.checked(notes)
	}
}

// reads runs a command that reads a file. What a repair cannot mend is named, and judged by checked.
func (m *monthOf) reads(args []string) (notes string) {
	m.Helper()
	code, notes := m.run(args...)
	if args[1] == "repair" && code == 1 {
		require.Contains(m, notes, "may remain, which this repair does not mend")
		code = 0
	}
	require.Zero(m, code, notes)
	return notes
}

// count counts the month, if w.days in two nights, and again.
func (m *monthOf) count(w writer) (notes string) {
	file := filepath.Join(m.folder, w.file)
	args := append([]string{"usage", "count", "--month", month, "--creator", creator, "--log-format", "json", "--gap", "0",
		"--describe", "service", "--publisher", "Unknown & Co.", "--output", file}, m.logs...)
	code, notes := m.run(append(slices.Clone(args), "--output", m.report())...)
	require.Zero(m, code, notes)
	code, notes = m.run(args...)
	require.Zero(m, code, notes)
	plain, err := os.ReadFile(file)
	require.NoError(m, err)
	if !w.days {
		return notes
	}
	args = append(args, "--days", filepath.Join(m.folder, "days"))
	for _, night := range [][]string{args[:len(args)-3], args, args} {
		if len(night) < len(args) {
			night = append(slices.Clone(night), args[len(args)-2:]...)
		}
		code, notes = m.run(night...)
		require.Zero(m, code, notes)
	}
	kept, err := os.ReadFile(file)
	require.NoError(m, err)
	require.Equal(m, string(plain), string(kept), "--days makes the same file")
	return notes
}

// report is the file of the month as a report, which the others are compared with.
func (m *monthOf) report() string { return filepath.Join(m.folder, "reference.json") }

// holds compares the stored report with what was counted and registered. What differs must be named.
func (m *monthOf) holds(notes string) {
	m.Helper()
	var stored []reports.Dataset
	for s, err := range m.srv.Reports().All(m.Context(), nil) {
		require.NoError(m, err)
		require.Equal(m, creator, s.Header.CreatedBy)
		require.Equal(m, reports.Month(2025, 10), s.Header.ReportingPeriod)
		r, err := m.srv.Reports().Get(m.Context(), s.ID)
		require.NoError(m, err)
		stored = append(stored, r.Datasets...)
	}
	got, report := map[string]bool{}, map[string]reports.Dataset{}
	file, err := os.Open(m.report())
	require.NoError(m, err)
	defer file.Close()
	_, all, err := reports.ReadFile(file)
	require.NoError(m, err)
	for d, err := range all {
		require.NoError(m, err)
		report[doi.Key(d.DatasetID[0].Value)] = d
	}
	for _, d := range stored {
		name := doi.Key(d.DatasetID[0].Value)
		want := m.want[name]
		got[name] = true
		require.Equal(m, want.DatasetID[0].Value, d.DatasetID[0].Value)
		require.Equal(m, want.Performance, d.Performance, name)
		require.Equal(m, creator, d.Platform)
		require.Equal(m, []string{report[name].Title, report[name].Publisher, report[name].YOP, report[name].URI},
			[]string{d.Title, d.Publisher, d.YOP, d.URI}, name)
		about, has := []string{want.Title, want.Publisher, want.YOP, want.URI}, []string{d.Title, d.Publisher, d.YOP, d.URI}
		if !m.known[name] {
			assert.Contains(m, notes, name, "a DOI without a record is named")
			about = []string{"", "Unknown & Co.", "", ""}
		}
		for i := range about {
			assert.Equal(m, strings.Join(strings.Fields(about[i]), " "), strings.Join(strings.Fields(has[i]), " "), name)
		}
	}
	assert.ElementsMatch(m, slices.Collect(maps.Keys(m.want)), slices.Collect(maps.Keys(got)))
}

// checked asks "usage check" what records show. What differs has a cause, which a warning has announced or which
// is that the DOI has no record.
func (m *monthOf) checked(notes string) {
	m.Helper()
	code, found := m.run("usage", "check", "example.repo", "--format", "json")
	for line := range strings.Lines(found) {
		var d struct{ DOI, Cause, Detail string }
		if json.Unmarshal([]byte(line), &d) != nil {
			continue
		}
		require.Equal(m, 1, code)
		assert.NotContains(m, []string{"", "unexplained", "unreported", "left", "reported-twice"}, d.Cause, line)
		if m.known[doi.Key(d.DOI)] {
			assert.Contains(m, notes, d.DOI, "%s: not announced", line)
		}
	}
}

package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reports"
)

var seams = flag.Int("seams", 1, "random records that pass each seam between commands, of XML and of JSON each")

// What one command writes, another one reads: TestSeams passes each file of a writer to each reader. Those
// that read it change nothing, or name what they change; the others refuse it, and say what to do. Tables and
// usage reports are passed to their readers by tests of their own.

// A content is what files have.
type content string

const (
	recordJSON  content = "records as JSON"
	recordXML   content = "a record as XML"
	recordTable content = "a table of records"
	aCitation   content = "a record for other programs"
	differences content = "what an audit found"
	aReport     content = "a usage report"
	countTable  content = "a table of counts"
	counted     content = "days that were counted"
	outcomes    content = "what was done"
)

// A writer is a command line that writes one or more files, FILE, in a folder; {doi} stands for each DOI.
type writer struct {
	of   []string // its surfaces
	has  content
	file string // the name, whose ending may choose the format
	args string
	code int

	plain bool // it is without the XML, so that markup is lost which the service does not show
}

var writers = []writer{
	{of: []string{"get --json", "get --format json", "get --output"}, has: recordJSON, file: "get.json",
		args: "get {doi} --json --output FILE"},
	{of: []string{"get --format xml"}, has: recordXML, file: "get.xml", args: "get {doi} --format xml --output FILE"},
	{of: []string{"get --format datacite-json"}, has: recordJSON, plain: true, file: "datacite.json",
		args: "get {doi} --format datacite-json --output FILE"},
	{of: []string{"get --format citeproc"}, has: aCitation, file: "citeproc.json",
		args: "get {doi} --format citeproc --output FILE"},
	{of: []string{"harvest --output"}, has: recordJSON, file: "harvest.jsonl",
		args: "harvest --prefix 10.5072 --output FILE"},
	{of: []string{"harvest --output"}, has: recordJSON, file: "harvest.jsonl.gz",
		args: "harvest --prefix 10.5072 --output FILE"},
	{of: []string{"search --json", "search --format json"}, has: recordJSON, file: "search.jsonl",
		args: "search --prefix 10.5072 --output FILE"},
	{of: []string{"search --all"}, has: recordJSON, file: "all.jsonl",
		args: "search --prefix 10.5072 --all --output FILE"},
	{of: []string{"search --output", "search --format csv"}, has: recordTable, file: "search.csv",
		args: "search --prefix 10.5072 --output FILE"},
	{of: []string{"search --format xlsx"}, has: recordTable, file: "search.xlsx",
		args: "search --prefix 10.5072 --output FILE"},
	{of: []string{"register --output"}, has: recordTable, file: "result.csv", args: "register items.csv --output FILE"},
	{of: []string{"register --template"}, has: recordTable, file: "template.csv", args: "register --template"},
	{of: []string{"register --json"}, has: outcomes, file: "outcomes.json", args: "register items.csv --dry-run --json"},
	{of: []string{"audit --json", "audit --format json", "audit --output"}, has: differences, file: "audit.jsonl",
		args: "audit items.csv --prefix 10.5072 --output FILE", code: 1},
	{of: []string{"audit --format csv"}, has: differences, file: "audit.csv",
		args: "audit items.csv --prefix 10.5072 --output FILE", code: 1},
	{of: []string{"audit --format xlsx"}, has: differences, file: "audit.xlsx",
		args: "audit items.csv --prefix 10.5072 --output FILE", code: 1},
	{of: []string{"usage count --output"}, has: aReport, file: "report.json",
		args: "usage count accesses.log --month 2026-05 --creator Ice --gap 0 --output FILE"},
	{of: []string{"usage count --output"}, has: countTable, file: "counts.csv",
		args: "usage count accesses.log --month 2026-05 --creator Ice --gap 0 --output FILE"},
	{of: []string{"usage count --output"}, has: countTable, file: "counts.xlsx",
		args: "usage count accesses.log --month 2026-05 --creator Ice --gap 0 --output FILE"},
	{of: []string{"usage count --json"}, has: outcomes, file: "counted.json",
		args: "usage count accesses.log --month 2026-05 --creator Ice --gap 0 --json"},
	{of: []string{"usage check --json", "usage check --format json", "usage check --output"}, has: differences,
		file: "check.jsonl", args: "usage check example.repo --output FILE", code: 1},
	{of: []string{"usage check --format csv"}, has: differences, file: "check.csv",
		args: "usage check example.repo --output FILE", code: 1},
	{of: []string{"usage check --format xlsx"}, has: differences, file: "check.xlsx",
		args: "usage check example.repo --output FILE", code: 1},
}

// A reader is a command line that reads a file.
type reader struct {
	of      []string // its surfaces
	name    string
	args    string
	reads   []content
	changes func(text string) string // what a person makes of a file first; nil for nothing
	way     string                   // what it says of other files matches it
	ofTable string                   // flags that a table needs
}

var readers = []reader{
	{of: []string{"register FILE…"}, name: "register", args: "register FILE",
		reads: []content{recordJSON, recordXML, recordTable}, way: ways},
	{name: "register, a copy", args: "register FILE --url https://a.example/{suffix}",
		reads: []content{recordJSON, recordXML}, changes: copied},
	{name: "register, another year", args: "register FILE", reads: []content{recordJSON, recordXML}, changes: anotherYear},
	{name: "register, hidden", args: "register FILE", reads: []content{recordJSON}, changes: hidden},
	{of: []string{"audit SOURCE"}, name: "audit", args: "audit FILE --prefix 10.5072 --only missing,url,state,metadata",
		reads: []content{recordJSON, recordTable}, way: ways},
	{name: "audit of a folder", args: "audit FOLDER --prefix 10.5072 --only missing,url,state,metadata",
		reads: []content{recordXML}},
	{name: "audit --fix", args: "audit FILE --prefix 10.5072 --only missing,url,state,metadata --fix --yes",
		reads: []content{recordJSON, recordTable}, way: ways},
	{name: "audit --fix, another year", args: "audit FILE --prefix 10.5072 --only missing,url,state,metadata --fix --yes",
		reads: []content{recordJSON}, changes: anotherYear},
	{of: []string{"usage send FILE…"}, name: "usage send", args: "usage send FILE",
		ofTable: " --month 2026-05 --creator Ice", reads: []content{aReport, countTable}, way: ways},
	{of: []string{"usage repair FILE…"}, name: "usage repair", args: "usage repair example.repo FILE --yes",
		ofTable: " --month 2026-05 --creator Ice", reads: []content{aReport, countTable}, way: ways},
	{of: []string{"usage count FILE…"}, name: "usage count",
		args: "usage count FILE --month 2026-05 --creator Ice --gap 0", way: ways},
	{of: []string{"sandbox --load"}, name: "sandbox --load", args: "sandbox --port 0 --load FILE -- true",
		reads: []content{recordJSON, aReport}, way: ways},
}

// ways are those of refusals: another command, another file, a flag, or what is missing.
const ways = `datacite [a-z]+ |--[a-z]|\bgive |\bsave |is not one of|are required|the columns are|has no column|only ` +
	`.* are read|neither a header nor`

// noSeam are no surfaces of the command.
var noSeam = map[string]string{
	"get DOI…": "names", "search [WORD...]": "words", "harvest [WORD...]": "words", "usage check ACCOUNT": "a name",
	"usage repair ACCOUNT":    "a name",
	"upgrade FILE_OR_FOLDER…": "documents of older kernels, which no command writes", "upgrade --json": "what was done",
	"upgrade --output": "documents that stay as they are, but for what it prints",
	"hide DOI…":        "names", "show DOI…": "names", "delete DOI…": "names", "transfer DOI…": "names", "search --format doi": "names", "transfer --json": "what was done", "hide --json": "what was done", "show --json": "what was done",
	"delete --json": "what was done", "sandbox COMMAND]": "a program", "config [NAME": "a word", "config [VALUE]]": "a word",
	"get --format text": "for people", "get --format citation": "for people", "search --format table": "for people", "audit --format table": "for people",
	"usage check --format table": "for people", "audit --html": "for people", "search --html": "for people", "usage check --html": "for people",
	"get --format bibtex": "as citeproc: other programs read " +
		"it", "get --format codemeta": "as citeproc", "get --format crosscite": "as citeproc",
	"get --format jats": "as citeproc", "get --format ris": "as citeproc", "get --format schema.org": "as citeproc", "get --format csv": "as citeproc",
	"harvest --json": "what was done", "usage repair --json": "what was done", "usage send --json": "what was done", "login --json": "what was done",
	"config --json": "settings", "version --json": "the version", "sandbox --json": "an address", "sandbox --address-file": "an address",
	"sandbox --rules": "for people", "sandbox --unsupported": "for people", "sandbox --state": "its own file", "sandbox --tls-ca": "a certificate",
	"usage count --dois": "a list of names", "usage count --geoip": "another program's", "usage count --machines": "a list", "usage count --paths": "a list",
	"usage count --robots": "a list", "usage count --days": "its own file, which it alone reads",
}

// surfaces are where a command takes what another one wrote, or writes what another one may take: the words
// behind its name, the flags with files, and the flags that choose what it prints.
func surfaces(cmd *cobra.Command) (all []string) {
	words := strings.Fields(cmd.Use)[1:]
	for i, word := range words {
		if strings.ToLower(word) != word && (i == 0 || !strings.HasPrefix(words[i-1], "--")) {
			all = append(all, wordsOf(cmd)+" "+word)
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		takes, usage := pflag.UnquoteUsage(f)
		complete, _ := cmd.GetFlagCompletionFunc(f.Name)
		switch {
		case f.Name == "login", f.Name == "debug":
		case f.Name == "format":
			values, _ := complete(cmd, nil, "")
			for _, value := range values {
				all = append(all, wordsOf(cmd)+" --format "+value)
			}
		case takes == "file", takes == "files", takes == "folder", f.Value.Type() == "bool" &&
			strings.HasPrefix(usage, "print "):
			all = append(all, wordsOf(cmd)+" --"+f.Name)
		}
	})
	return all
}

// A new way in or out of a command has its row here, or a reason why it has none.
func TestEachSeamHasItsRow(t *testing.T) {
	places := map[string]int{}
	for _, w := range writers {
		for _, surface := range slices.Compact(slices.Clone(w.of)) {
			places[surface] |= 1
		}
	}
	for _, r := range readers {
		for _, surface := range r.of {
			places[surface] |= 1
		}
	}
	for surface := range noSeam {
		places[surface] |= 2
	}
	for _, cmd := range leaves() {
		for _, surface := range surfaces(cmd) {
			place := places[surface]
			assert.Contains(t, []int{1, 2}, place, "%s needs a row in writers or readers, or a reason in noSeam", surface)
			delete(places, surface)
		}
	}
	assert.Empty(t, places, "these are gone")
}

// A seam is a service with random records, half of them made of XML and half of JSON, and a folder for files.
type seam struct {
	*datacitetest.Server
	folder string
	dois   []string
}

func newSeam(t *testing.T, b datacitetest.Behaviour, records int) *seam {
	t.Helper()
	s := &seam{datacitetest.NewServer(&datacitetest.Options{Behaviour: b}), t.TempDir(), nil}
	t.Cleanup(s.Close)
	for i := range records {
		name, url := fmt.Sprintf("10.5072/seam-%d", i), fmt.Sprintf("https://repository.example.org/%d?a=1;b=2&c", i)
		rec := datacitetest.RandomRecord(uint64(i + 4))
		if i%2 == 0 {
			doc, err := mds.NewDocument(rec)
			require.NoError(t, err)
			_, err = s.MDS().Register(t.Context(), name, url, doc, nil)
			require.NoError(t, err)
		} else {
			_, err := s.DOIs().Create(t.Context(), &dois.Draft{DOI: name, URL: url, Event: dois.EventPublish, Record: *rec})
			require.NoError(t, err)
		}
		s.dois = append(s.dois, name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(s.folder, "items.csv"), []byte(tableOfRecords), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(s.folder, "accesses.log"),
		[]byte(strings.ReplaceAll(logOfDataverse, "10.5072/a", "10.5072/seam-0")), 0o600))
	return s
}

// run runs a command line in which FILE, FOLDER and items stand for files of the folder.
func (s *seam) run(t *testing.T, line, file string) (code int, out, notes string) {
	t.Helper()
	var args []string
	for word := range strings.FieldsSeq(line) {
		switch word {
		case "FILE":
			word = file
		case "FOLDER":
			word = filepath.Dir(file)
		case "items.csv", "accesses.log":
			word = filepath.Join(s.folder, word)
		}
		args = append(args, word)
	}
	return s.do(t, args...)
}

func (s *seam) do(t *testing.T, args ...string) (code int, out, notes string) {
	t.Helper()
	return at(s.Server).Do(t, maker(args[0]), args...)
}

// write returns the files of a writer, which are in a folder of their own.
func (s *seam) write(t *testing.T, w writer) (files []string) {
	t.Helper()
	if w.has == differences && strings.HasPrefix(w.args, "usage check") {
		for _, creator := range []string{"Ice", "Snow"} { // the same counts twice
			_, err := s.PutReport(&reports.Report{
				Header: reports.NewHeader(creator, "2026-05-31", reports.Month(2026, time.May)),
				Datasets: []reports.Dataset{{
					DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: s.dois[0]}},
					Performance: []reports.Performance{{Period: reports.Month(2026, time.May), Instance: []reports.Instance{
						{Count: 1000, MetricType: reports.MetricUniqueDatasetRequests, AccessMethod: reports.AccessRegular},
					}}},
				}},
			})
			require.NoError(t, err)
		}
		s.ProcessUsage()
	}
	folder := filepath.Join(s.folder, "written")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	names := []string{""}
	if strings.Contains(w.args, "{doi}") {
		names = s.dois
	}
	for i, name := range names {
		file := filepath.Join(folder, fmt.Sprintf("%d-%s", i, w.file))
		code, out, notes := s.run(t, strings.ReplaceAll(w.args, "{doi}", name), file)
		require.Equal(t, w.code, code, notes)
		if !strings.Contains(w.args, "FILE") {
			require.NoError(t, os.WriteFile(file, []byte(out), 0o600))
		}
		require.FileExists(t, file)
		files = append(files, file)
	}
	_ = os.Remove(filepath.Join(folder, "0-"+w.file+".position")) // a harvest has one
	return files
}

// documents are what is stored, by DOI or by the id of a report.
func (s *seam) documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range s.Names() {
		r, err := s.DOIs().Get(t.Context(), name, &dois.GetOptions{Detail: true})
		require.NoError(t, err)
		all[r.DOI] = fmt.Sprintf("%s %s\n%s", r.URL, r.State, r.MetadataXML)
	}
	for _, r := range s.StoredReports() {
		all["report "+r.ReportID] = fmt.Sprintf("%v %v", r.Header, r.Subsets)
	}
	return all
}

// copied makes records of other DOIs.
func copied(text string) string {
	return strings.NewReplacer("10.5072/seam-", "10.5072/copy-", "10.5072/SEAM-", "10.5072/COPY-", `"seam-`,
		`"copy-`).Replace(text)
}

var year = regexp.MustCompile(`("publicationYear":\s*"?|<publicationYear>)\d{4}`)

// anotherYear changes one property, with which all of a record is written.
func anotherYear(text string) string { return year.ReplaceAllString(text, "${1}2031") }

// hidden changes the state alone.
func hidden(text string) string {
	return regexp.MustCompile(`("state":\s*")findable"`).ReplaceAllString(text, `${1}registered"`)
}

// A file that a command wrote changes nothing when another one reads it, or is refused, or the change is
// named; what a person changes in it is all that changes. A second pass changes nothing. A file of something
// else is refused, and the message says what to do.
func TestSeams(t *testing.T) {
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		for _, w := range writers {
			var refusing []reader
			for _, r := range readers {
				reads, zipped := slices.Contains(r.reads, w.has), strings.HasSuffix(w.file, ".gz")
				switch {
				case !reads && r.way == "", reads && r.changes != nil && zipped:
					continue
				case reads && w.has != recordJSON && w.has != recordXML:
					continue // tests of their own
				case !reads, zipped && strings.HasPrefix(r.name, "register"): // which reads no gzip
					refusing = append(refusing, r)
					continue
				}
				t.Run(fmt.Sprintf("%s/%s %s/%s", b, w.of[0], w.file, r.name), func(t *testing.T) {
					s := newSeam(t, b, 2**seams)
					files := s.write(t, w)
					for i := range files {
						if r.changes == nil {
							break
						}
						text := shelltest.Read(t, files[i])
						changed := r.changes(string(text))
						require.NotEqual(t, string(text), changed)
						require.NoError(t, os.WriteFile(files[i], []byte(changed), 0o600))
					}
					if strings.Contains(r.args, "FOLDER") {
						files = files[:1]
					}
					s.passes(t, w, r, files)
				})
			}
			t.Run(fmt.Sprintf("%s/%s %s refused", b, w.of[0], w.file), func(t *testing.T) {
				s := newSeam(t, b, 2)
				file := s.write(t, w)[0]
				for _, r := range refusing {
					s.refuses(t, r, file)
				}
			})
		}
	}
}

func (s *seam) refuses(t *testing.T, r reader, file string) {
	t.Helper()
	before := shelltest.Writes(s.Server)
	line := r.args
	if slices.Contains([]string{".csv", ".xlsx", ".xml"}, filepath.Ext(file)) {
		line += r.ofTable
	}
	code, _, notes := s.run(t, line, file)
	assert.Equal(t, 2, code, "%s: %s", line, notes)
	assert.Equal(t, before, shelltest.Writes(s.Server), notes)
	notes = strings.ReplaceAll(notes, file, "")
	assert.Regexp(t, r.way, strings.TrimPrefix(notes, "datacite: "), "%s: the message does not say what to do", line)
}

func (s *seam) passes(t *testing.T, w writer, r reader, files []string) {
	t.Helper()
	before := s.documents(t)
	for pass := range 2 {
		stored, wrote := s.documents(t), shelltest.Writes(s.Server)
		var all strings.Builder // of the files; each has other DOIs
		for _, file := range files {
			code, _, notes := s.run(t, r.args, file)
			if code != 0 && pass == 0 && strings.Contains(notes, "error: ") {
				require.Equal(t, stored, s.documents(t), notes)
				t.Logf("refused: %s", notes)
				return
			}
			require.Zero(t, code, notes)
			if pass == 1 || r.changes == nil {
				require.Equal(t, wrote, shelltest.Writes(s.Server), "pass %d: %s", pass, notes)
			}
			all.WriteString(notes)
		}
		after := s.documents(t)
		if pass == 1 || r.changes == nil {
			assert.Equal(t, stored, after)
			continue
		}
		for _, name := range s.dois {
			compare(t, before[name], cmp.Or(after[r.changes(name)], after[name]), all.String(), w.plain)
		}
	}
}

// compare compares what is stored of two DOIs. Each difference but that of the year must be named.
func compare(t *testing.T, before, after, notes string, plain bool) {
	t.Helper()
	_, first, _ := strings.Cut(before, "\n")
	_, second, _ := strings.Cut(after, "\n")
	was, err := metadata.ParseXML(strings.NewReader(first))
	require.NoError(t, err)
	is, err := metadata.ParseXML(strings.NewReader(second))
	require.NoError(t, err)
	changes := metadata.Diff(was, is)
	var old, now map[string]string
	if !plain {
		old, now = texts(was), texts(is)
	}
	for text, path := range old {
		if now[text] == "" {
			changes = append(changes, metadata.Change{Path: path, Desired: text})
		}
	}
	for text, path := range now {
		if old[text] == "" {
			changes = append(changes, metadata.Change{Path: path, Found: text})
		}
	}
	for _, c := range changes {
		// the service shows the year as a date, too
		if c.Path != "doi" && !strings.HasSuffix(c.Path, "publicationYear") && !strings.HasSuffix(c.Found, "; Issued") {
			assert.Contains(t, notes, ": "+c.Path, "%s", c)
		}
	}
}

// texts are those of a record that the service shows as HTML, each with one of its paths.
func texts(r *metadata.Record) map[string]string {
	all := map[string]string{}
	add := func(text, format string, n int) {
		all[strings.Join(strings.Fields(text), " ")] = fmt.Sprintf(format, n)
	}
	for i, v := range r.Titles {
		add(v.Title, "titles[%d]", i)
	}
	for i, v := range r.Subjects {
		if !strings.HasPrefix(v.Subject, "FOS: ") { // the service adds some
			add(v.Subject, "subjects[%d]", i)
		}
	}
	for i, v := range r.Descriptions {
		add(v.Description, "descriptions[%d]", i)
	}
	for i, v := range r.Sizes {
		add(v, "sizes[%d]", i)
	}
	for i, v := range r.Formats {
		add(v, "formats[%d]", i)
	}
	return all
}

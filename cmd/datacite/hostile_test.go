package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// A use is how a command is called, so that it does its work. FILE is a file that it reads, of the
// content below, and OUT one that it writes; either has the ending that follows it. What the tests
// of this file want of a command is wanted of each command that has a use, and each has one.
type use struct {
	args    string
	content string // of FILE
	asks    bool   // the service, with a login
	writes  bool   // there; without a service it is refused
	silent  bool   // it prints nothing on standard output
	did     bool   // its output says what it did, and is repeated where nobody has read it
}

const (
	tableOfRecords = "doi,url,title,creators,publisher,year,type\n10.5072/a,https://repository.example.org/1,A,org: " +
		"Ice,R,2026,Dataset\n"
	tableOfCounts  = "doi,metric,access,count,platform,publisher\n10.5072/a,unique-dataset-requests,regular,3,P,R\n"
	logOfDataverse = "2026-05-14T10:01:00+0000\t192.0.2.1\ts\t-\t:guest\thttps://data.example.org/dataset.xhtml?persistentId=doi:10.5072/a\tdoi:10.5072/a\t-\t-\tMozilla/5.0 (X11; Linux x86_64)\tA\tgrid\ttbd\tDoe, Jane\t2024-05-06T07:08:09Z\t1\t-\thttps://data.example.org/dataset.xhtml?persistentId=doi:10.5072/a\t2024\n"
	oldRecord      = `<resource xmlns="http://datacite.org/schema/kernel-3"><identifier ` +
		`identifierType="DOI">10.5072/old</identifier><creators><creator><creatorName>Ice</creatorName></creator>` +
		`</creators><titles><title>A</title></titles><publisher>R</publisher><publicationYear>2014</publicationYear>` +
		`<resourceType resourceTypeGeneral="Dataset"/></resource>`
	aRecord = `{"doi":"10.5072/a","state":"findable","url":"https://repository.example.org/1","titles":[{"title":"A"}],` +
		`"creators":[{"name":"Ice"}],"publisher":"R","publicationYear":2026,"types":{"resourceTypeGeneral":"Dataset"}}`
	aMember = "DATACITE_USERNAME=EXAMPLE\nDATACITE_PASSWORD=" + datacitetest.Password + "\n"
	aLogin  = "DATACITE_USERNAME=" + datacitetest.Username + "\nDATACITE_PASSWORD=" + datacitetest.Password + "\n"
)

var uses = map[string]use{
	"get":      {args: "10.5072/a", asks: true},
	"search":   {asks: true},
	"harvest":  {args: "--output -", asks: true},
	"register": {args: "FILE.csv", content: tableOfRecords, asks: true, writes: true, did: true},
	"hide":     {args: "10.5072/a", asks: true, writes: true, did: true},
	"show":     {args: "10.5072/a", asks: true, writes: true, did: true},
	"delete":   {args: "10.5072/draft --yes", asks: true, writes: true, did: true},
	"transfer": {args: "10.5072/a --to example.new --yes --login FILE.env", content: aMember, asks: true, writes: true,
		did: true},
	"audit": {args: "FILE.csv --prefix 10.5072 --only missing",
		content: tableOfRecords + "10.5072/b,https://repository.example.org/2,A,org: Ice,R,2026,Dataset\n", asks: true},
	"upgrade":     {args: "FILE.xml", content: oldRecord, did: true},
	"usage count": {args: "FILE.log --month 2026-05 --creator Ice --gap 0", content: logOfDataverse, did: true},
	"usage send": {args: "FILE.csv --month 2026-05 --creator Ice --allow-lower", content: tableOfCounts, asks: true,
		writes: true, did: true},
	"usage check": {args: "example.repo", asks: true, silent: true},
	"usage repair": {args: "example.repo FILE.csv --month 2026-05 --creator Ice --yes", content: tableOfCounts, asks: true,
		writes: true, did: true},
	"sandbox": {args: "--rules"},
	"login":   {args: "--login FILE.env", content: aLogin, asks: true, writes: true, did: true},
	"config":  {},
	"version": {},
}

// service is one with a record and an account.
func service(t *testing.T) *datacitetest.Server {
	t.Helper()
	srv := shelltest.Serve(t, &datacitetest.Options{
		Accounts: []datacitetest.Account{{}, {Username: "EXAMPLE.NEW"}, {Username: "EXAMPLE", Role: "provider_admin"}}})
	require.NoError(t, srv.PutRecordJSON([]byte(aRecord)))
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/draft","state":"draft"}`)))
	return srv
}

// at is a run at a service with everything that a login has.
func at(srv *datacitetest.Server) shelltest.Run {
	run := shelltest.At(srv)
	run.Env["DATACITE_TOKEN"] = srv.Token(srv.Now().AddDate(1, 0, 0))
	return run
}

// leaves are the commands that do something, by their names below datacite.
func leaves() (all []*cobra.Command) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			walk(below)
		}
		if !cmd.HasSubCommands() {
			all = append(all, cmd)
		}
	}
	root := &cobra.Command{Use: "datacite"}
	for _, maker := range commands {
		cmd := maker(&shell.Shell{Getenv: func(string) string { return "" }})
		root.AddCommand(cmd)
		walk(cmd)
	}
	return all
}

func wordsOf(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "datacite ") }

// line is the command line of a use, whose file is written to a folder of its own.
func (u use) line(t *testing.T, name string) (args []string, folder string) {
	t.Helper()
	folder = t.TempDir()
	for word := range strings.FieldsSeq(name + " " + u.args) {
		if end, isFile := strings.CutPrefix(word, "FILE"); isFile {
			word = filepath.Join(folder, "in"+end)
			require.NoError(t, os.WriteFile(word, []byte(u.content), 0o600))
		}
		args = append(args, word)
	}
	return args, folder
}

// maker makes the command with a name.
func maker(name string) shell.Maker {
	return commands[slices.IndexFunc(commands, func(m shell.Maker) bool {
		return m(&shell.Shell{Getenv: func(string) string { return "" }}).Name() == name
	})]
}

// held runs a command line, and holds what all of them promise: an error is the last line, no line is
// without end, and nothing but the file that was given is left in the folder.
func held(t *testing.T, run shelltest.Run, folder string, args ...string) (code int, notes string) {
	t.Helper()
	before := list(t, folder)
	code, out, notes := run.Do(t, maker(args[0]), args...)
	what := fmt.Sprintf("%v: exit code %d\n%.3000s", args, code, notes)
	assert.Equal(t, before, list(t, folder), "files of %s", what)
	assert.Empty(t, out, what)
	lines := strings.Split(strings.TrimSuffix(notes, "\n"), "\n")
	assert.Equal(t, 1, strings.Count("\n"+notes, "\ndatacite: "), "one error in %s", what)
	for _, line := range lines {
		assert.Less(t, len(line), 9000, what)
		assert.NotContains(t, line, "\x00", what)
		assert.NotRegexp(t, `\b(goroutine|runtime error|panic|0x[0-9a-f]{6,})\b|%!`, line, what)
	}
	return code, notes
}

func list(t *testing.T, folder string) (names []string) {
	t.Helper()
	if folder == "" {
		return nil
	}
	require.NoError(t, filepath.WalkDir(folder, func(name string, _ os.DirEntry, err error) error {
		names = append(names, name)
		return err
	}))
	return names
}

func TestEachCommandHasAUse(t *testing.T) {
	var names []string
	for _, cmd := range leaves() {
		names = append(names, wordsOf(cmd))
		u, known := uses[wordsOf(cmd)]
		require.True(t, known, "%s has no use, with which it is tested", wordsOf(cmd))
		args, _ := u.line(t, wordsOf(cmd))
		code, out, notes := at(service(t)).Do(t, maker(args[0]), args...)
		assert.Contains(t, []int{shell.ExitDone, shell.ExitRefused}, code, "%v: %s", args, notes)
		assert.Equal(t, u.silent, out == "", "%v", args)
	}
	assert.Len(t, uses, len(names))
}

func TestWrongFlags(t *testing.T) {
	for _, cmd := range leaves() {
		t.Run(wordsOf(cmd), func(t *testing.T) {
			words := strings.Fields(wordsOf(cmd))
			code, notes := held(t, shelltest.Run{}, "", append(words, "--svalbard")...)
			assert.Equal(t, 2, code)
			assert.Contains(t, notes, "has no flag --svalbard")
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if f.Value.Type() == "bool" {
					return
				}
				code, notes := held(t, shelltest.Run{}, "", append(words, "--"+f.Name+"=")...)
				assert.Equal(t, 2, code, notes)
				assert.Contains(t, notes, "--"+f.Name)
				if !slices.Contains([]string{"int", "uint64", "float64", "duration"}, f.Value.Type()) {
					return
				}
				code, notes = held(t, shelltest.Run{}, "", append(words, "--"+f.Name+"=two")...)
				assert.Equal(t, 2, code, notes)
				assert.Contains(t, notes, "--"+f.Name)
			})
		})
	}
}

// A file with anything else is refused, and nothing is sent or written.
func TestWrongFiles(t *testing.T) {
	utf := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(tableOfRecords)) {
		utf = append(utf, byte(unit), byte(unit>>8))
	}
	contents := map[string]string{
		"empty": "", "blank lines": "\n\n\r\n \n", "zeros": strings.Repeat("\x00", 5000), "UTF-16": string(utf),
		"Latin-1": "doi,url,title\n10.5072/a,https://a.example/,M\xfcller\n", "a long line": strings.Repeat("x", 1<<19),
		"a long value": `{"doi":"` + strings.Repeat("x",
			1<<19) + `"}`, "half a gzip": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x02",
		"half an archive": "PK\x03\x04 and nothing more", "half an object": `{"doi":"10.5072/a","titles":[{`, "a page": "<!DOCTYPE html><html><body>Not found</body></html>",
	}
	srv := service(t)
	others := map[string]use{
		"register record": {args: "FILE --doi 10.5072/b --url https://a.example/"}, "register table": {args: "FILE.xlsx"},
		"audit records":   {args: "FILE.jsonl --client a.b"},
		"sandbox records": {args: "--port 0 --load FILE -- true"}, "sandbox state": {args: "--port 0 --state FILE -- true"},
		"usage send report": {args: "FILE.json"}, "get login": {args: "10.5072/a --login FILE"},
	}
	for name, u := range uses {
		if strings.Contains(u.args, "FILE") {
			others[name] = u
		}
	}
	for name, u := range others {
		t.Run(name, func(t *testing.T) {
			words := strings.Fields(name)
			if _, isUse := uses[name]; !isUse {
				words = words[:len(words)-1]
			}
			for content, text := range contents {
				if name == "sandbox state" && content == "empty" {
					continue // the first run has that file
				}
				u.content = text
				args, folder := u.line(t, strings.Join(words, " "))
				code, notes := held(t, at(srv), folder, args...)
				assert.Equal(t, 2, code, "%s: %v: %s", content, args, notes)
			}
			args, folder := u.line(t, strings.Join(words, " "))
			i := slices.IndexFunc(args, func(word string) bool { return strings.HasPrefix(word, folder) })
			require.NoError(t, os.Remove(args[i]))
			if name != "sandbox state" {
				code, notes := held(t, at(srv), folder, args...)
				assert.Equal(t, 2, code, notes)
				assert.Contains(t, notes, "no such file")
			}
			require.NoError(t, os.Mkdir(args[i], 0o700))
			code, notes := held(t, at(srv), folder, args...)
			assert.Equal(t, 2, code, notes)
			assert.Contains(t, notes, filepath.Base(args[i]))
		})
	}
	for _, r := range srv.Requests() {
		assert.Equal(t, http.MethodGet, r.Method, "nothing was sent: %v", r)
	}
}

// A place for output that cannot be written is known before the work.
func TestWrongOutputs(t *testing.T) {
	srv := service(t)
	for _, cmd := range leaves() {
		u := uses[wordsOf(cmd)]
		for _, flag := range []string{"output", "html", "address-file", "state"} {
			if cmd.Flags().Lookup(flag) == nil || wordsOf(cmd) != "sandbox" && flag == "state" { // of DOIs
				continue
			}
			t.Run(wordsOf(cmd)+" "+flag, func(t *testing.T) {
				for _, bad := range []string{"none/a.csv", "folder.csv", "file/a.csv"} {
					if wordsOf(cmd) == "upgrade" && bad == "folder.csv" {
						continue // it writes to a folder
					}
					u := u
					if wordsOf(cmd) == "sandbox" {
						u.args = "--port 0"
					}
					args, folder := u.line(t, wordsOf(cmd))
					require.NoError(t, os.Mkdir(filepath.Join(folder, "folder.csv"), 0o700))
					require.NoError(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
					if i := slices.Index(args, "--output"); i >= 0 {
						args = slices.Delete(args, i, i+2)
					}
					args = append(args, "--"+flag, filepath.Join(folder, bad))
					if wordsOf(cmd) == "sandbox" {
						args = append(args, "--", "true")
					}
					code, notes := held(t, at(srv), folder, args...)
					assert.Equal(t, 2, code, notes)
					assert.Contains(t, notes, filepath.Join(folder, bad))
				}
			})
		}
	}
	for _, r := range srv.Requests() {
		assert.Equal(t, http.MethodGet, r.Method, "nothing was sent: %v", r)
	}
}

func TestWrongServices(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	for name, u := range uses {
		if !u.asks {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for where, want := range map[string]struct {
				code int
				says string
			}{
				"http://127.0.0.1:1":    {3, "--service"},
				secure.URL:              {3, "--service"},
				"prodution":             {2, "did you mean production?"},
				"ftp://a.example":       {2, "is not test, production or a URL"},
				"http://a.example":      {2, "is not HTTPS"},
				"https://u:p@127.0.0.1": {2, "holds credentials"},
			} {
				if name == "register" && want.code == 3 {
					continue // it tries again after half a minute; its own test is quicker
				}
				args, folder := u.line(t, name)
				if name == "usage send" {
					args = append(args, "--max-outage", "100ms") // else it waits for half an hour
				}
				run := at(service(t))
				run.Env["DATACITE_SERVICE"] = where
				code, notes := held(t, run, folder, args...)
				assert.Equal(t, want.code, code, "%s: %s", where, notes)
				assert.Contains(t, notes, want.says, where)
			}
			args, folder := u.line(t, name)
			run := at(service(t))
			if delete(run.Env, "DATACITE_SERVICE"); u.writes {
				code, notes := held(t, run, folder, args...)
				assert.Equal(t, 2, code, notes)
				assert.Contains(t, notes, "say which service is meant")
			}
			run.Env["DATACITE_SERVICE"] = ""
			code, notes := held(t, run, folder, args...)
			assert.Equal(t, 2, code, notes)
			assert.Contains(t, notes, "the variable DATACITE_SERVICE is set and empty")
		})
	}
}

// A reader that has read enough is no fault to speak of, unless something was done; a full disk is
// one.
func TestOutputsThatEnd(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	for name, u := range uses {
		t.Run(name, func(t *testing.T) {
			read, closed, err := os.Pipe()
			require.NoError(t, err)
			require.NoError(t, read.Close())
			defer closed.Close()
			for i, out := range []*os.File{closed, full} {
				args, _ := u.line(t, name)
				run := at(service(t))
				run.Stdout = out
				code, _, notes := run.Do(t, maker(args[0]), args...)
				if name == "search" { // a signal would end a process
					cmd, _, stderr := run.Process(t, args...)
					cmd.Stdout = out
					code, notes = shelltest.ExitCode(t, cmd.Run()), stderr.String()
				}
				switch {
				case u.silent:
					assert.Zero(t, code, notes)
				case i == 0 && !u.did:
					assert.Equal(t, 1, code, notes)
					assert.NotContains(t, notes, "datacite: ")
				default:
					assert.Equal(t, 1, code, notes)
					assert.Contains(t, notes, "datacite: standard output ")
				}
			}
		})
	}
}

// Either signal ends a command whose service does not respond, and leaves nothing half-written.
func TestSignals(t *testing.T) {
	for name, u := range uses {
		if !u.asks {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
				asked, release := make(chan bool, 100), make(chan bool)
				srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					asked <- true
					select {
					case <-release:
					case <-r.Context().Done():
					}
				}))
				run := at(service(t))
				run.Env["DATACITE_SERVICE"] = srv.URL
				args, folder := u.line(t, name)
				before := list(t, folder)
				cmd, stdout, stderr := run.Process(t, args...)
				require.NoError(t, cmd.Start())
				<-asked
				require.NoError(t, cmd.Process.Signal(signal))
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				select {
				case err := <-ended:
					assert.Equal(t, 130, shelltest.ExitCode(t, err), stderr.String())
				case <-time.After(5 * time.Minute):
					t.Error("it does not end")
					_ = cmd.Process.Kill()
				}
				close(release)
				srv.Close()
				assert.Contains(t, stderr.String(), "datacite: interrupted", stdout.String())
				if name != "register" { // its table says what was done
					assert.Equal(t, before, list(t, folder))
				}
			}
		})
	}
}

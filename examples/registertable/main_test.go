package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/internal/sheet"
)

var (
	kills = flag.Int("kills", 5, "how often TestKilled kills the program")
	size  = flag.Int("rows", 300, "rows of the table of TestKilled")
)

// TestMain is the program itself when a test starts it as a process.
func TestMain(m *testing.M) {
	if os.Getenv("REGISTERTABLE_PROCESS") != "" {
		maxWait = 5 * time.Millisecond
		main()
	}
	os.Exit(m.Run())
}

const header = "doi,url,title,creators,publisher,year,type\n"

// line is a row without a DOI.
func line(i int) string {
	return fmt.Sprintf(",https://repository.example.org/%d,Item %d,\"Lovelace, Ada\",Repository,2026,Dataset\n", i, i)
}

// folder holds items.csv.
func folder(t *testing.T, items string) string {
	t.Helper()
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	path := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(path, "items.csv"), []byte(items), 0o600))
	return path
}

// start runs the program with the account of the embedded service.
func start(t *testing.T, args ...string) (code int, out, notes string) {
	t.Helper()
	maxWait = 5 * time.Millisecond
	account := map[string]string{"DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": datacitetest.Password}
	var o, n bytes.Buffer
	p := &program.Program{Name: "registertable", Args: args, Getenv: func(name string) string { return account[name] }, Stdout: &o, Stderr: &n}
	code = p.Run(t.Context(), run)
	return code, o.String(), n.String()
}

// read returns the rows of a CSV file by their columns.
func read(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	all, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))).ReadAll()
	require.NoError(t, err)
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func newServer(t *testing.T, opts *datacitetest.Options) *datacitetest.Server {
	t.Helper()
	srv := datacitetest.NewServer(opts)
	t.Cleanup(srv.Close)
	return srv
}

func TestATableIsRegisteredOnce(t *testing.T) {
	srv := newServer(t, nil)
	path := folder(t, header+line(1)+"10.5072/mine,https://repository.example.org/2,Mine,org: Ice,Repository,2026,Dataset\n")
	items, result := filepath.Join(path, "items.csv"), filepath.Join(path, "items.registered.csv")
	args := []string{"-live", "-mds", srv.URL, "-api", srv.URL, "-prefix", "10.5072"}

	code, out, notes := start(t, append(args, items)...)
	require.Equal(t, 0, code, notes)
	assert.Equal(t, result+": 2 of 2 rows registered, 2 of them now\n", out)
	rows := read(t, result)
	assert.Equal(t, "10.5072/mine", rows[1]["doi"])
	for _, row := range rows {
		assert.Equal(t, []string{"findable", "created", ""}, []string{row["state"], row["result"], row["error"]})
		assert.Equal(t, datacitetest.StateFindable, srv.State(row["doi"]))
	}
	assert.Len(t, srv.Requests(), 6)

	for _, again := range []string{items, result} { // neither sends anything
		code, out, notes = start(t, append(args, again)...)
		require.Equal(t, 0, code, notes)
		assert.Equal(t, result+": 2 of 2 rows registered, 0 of them now\n", out)
		assert.Equal(t, rows, read(t, result))
		assert.Len(t, srv.Requests(), 6)
	}

	// What is changed is registered, under its name.
	data, err := os.ReadFile(result)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(result, bytes.Replace(data, []byte("Item 1"), []byte("Item one"), 1), 0o600))
	code, _, notes = start(t, append(args, result)...)
	require.Equal(t, 0, code, notes)
	changed := read(t, result)
	assert.Equal(t, rows[0]["doi"], changed[0]["doi"])
	assert.Equal(t, "updated", changed[0]["result"])
	assert.Equal(t, rows[1], changed[1])

	// A hidden DOI is not shown.
	require.NoError(t, srv.MDS().Hide(t.Context(), "10.5072/mine"))
	require.NoError(t, os.WriteFile(result, bytes.Replace(data, []byte("Mine"), []byte("Yours"), 1), 0o600))
	code, _, notes = start(t, append(args, result)...)
	require.Equal(t, 1, code, notes)
	assert.Contains(t, read(t, result)[1]["error"], "the DOI is hidden, or may be, and registering it would show it")
	assert.Equal(t, datacitetest.StateRegistered, srv.State("10.5072/mine"))

	// What was registered at another service counts for that alone.
	other := newServer(t, nil)
	code, _, notes = start(t, "-live", "-mds", other.URL, result)
	require.Equal(t, 0, code, notes)
	assert.Equal(t, datacitetest.StateFindable, other.State("10.5072/mine"))
}

func TestFaultsStopAllOrAreLeftOut(t *testing.T) {
	srv := newServer(t, nil)
	path := folder(t, header+line(1)+",https://repository.example.org/2,B,Ada Lovelace,Repository,26,Datset\n"+line(3)+line(1)+
		",,No address,\"A, B\",R,2026,Dataset\n10.5072/a+b,https://repository.example.org/6,Plus,\"A, B\",R,2026,Dataset\n")
	items, result := filepath.Join(path, "items.csv"), filepath.Join(path, "items.registered.csv")
	args := []string{"-live", "-mds", srv.URL, "-prefix", "10.5072", items}
	for _, more := range []string{"-dry-run", "-quiet"} {
		code, out, notes := start(t, append(args, more)...)
		assert.Equal(t, 2, code)
		assert.Empty(t, out)
		for _, fault := range []string{
			`error: items.csv, line 3, column 4: creators: "Ada Lovelace": write persons as`,
			`error: items.csv, line 3, column 6: year: "26" is not a year of four digits`,
			`error: items.csv, line 3, column 7: type: the schema has no general resource type "Datset"; did you mean Dataset?`,
			`error: items.csv, line 5: url: it is that of items.csv, line 2, too`,
			`error: items.csv, line 6: url: the address that the DOI leads to is missing`,
			`error: items.csv, line 7: doi: `,
			"registertable: faults in 4 of 6 rows; nothing was sent",
		} {
			assert.Contains(t, notes, fault)
		}
	}
	assert.Empty(t, srv.Requests())
	assert.NoFileExists(t, result)

	code, out, notes := start(t, append(args, "-leave-out")...)
	assert.Equal(t, 1, code)
	assert.Equal(t, result+": 2 of 6 rows registered, 2 of them now\n", out)
	assert.Contains(t, notes, "faults in 4 rows, and 0 failed, as the column error says; correct them in the result table")
	rows := read(t, result)
	require.Len(t, rows, 6)
	assert.Equal(t, "failed", rows[1]["result"])
	assert.Equal(t, "Ada Lovelace", rows[1]["creators"], "nothing of a faulty row is lost")
	assert.Contains(t, rows[1]["error"], `"26" is not a year of four digits; items.csv, line 3, column 7: type`)

	// Corrected in the result table, the others are registered.
	data, err := os.ReadFile(result)
	require.NoError(t, err)
	fixed := strings.NewReplacer("Ada Lovelace,Repository,26,Datset", `"Lovelace, Ada",Repository,2026,Dataset`).Replace(string(data))
	require.NoError(t, os.WriteFile(result, []byte(fixed), 0o600))
	code, out, _ = start(t, "-live", "-mds", srv.URL, "-prefix", "10.5072", "-leave-out", result)
	assert.Equal(t, 1, code)
	assert.Equal(t, result+": 3 of 6 rows registered, 1 of them now\n", out)
}

func TestRefusals(t *testing.T) {
	path := folder(t, header+line(1))
	items := filepath.Join(path, "items.csv")
	file := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(path, name), []byte(text), 0o600))
		return filepath.Join(path, name)
	}
	srv := newServer(t, nil)
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{}, "give one file with a table, not 0"},
		{[]string{"-mds", srv.URL, items}, "-mds and -api have no effect without -live"},
		{[]string{"-result", "x", items}, "-result has no effect without -live"},
		{[]string{"-workers", "0", items}, "-workers is 0"},
		{[]string{"-prefix", "5072", items}, `-prefix is "5072", not "10." and four or five digits`},
		{[]string{"-live", "-mds", srv.URL, items}, "1 row without a DOI; give the -prefix for new ones"},
		{[]string{"-dry-run", items}, "1 row without a DOI; give the -prefix for new ones"},
		{[]string{"-dry-run", "-prefix", "10.5072", file("draft.csv", "state,"+header+"draft"+","+line(1)+"findable"+","+line(2))},
			"error: draft.csv, line 2: state: it is draft, and only findable or an empty cell registers the row; audit -fix makes drafts and registered DOIs\nregistertable: faults in 1 of 2 rows; nothing was sent"},
		{[]string{filepath.Join(path, "missing.csv")}, "missing.csv"},
		{[]string{file("columns.csv", "doi,url\n10.5072/a,https://a.example/\n")}, "the columns url, title, creators"},
		{[]string{file("header.csv", "dio,url\n")}, `did you mean "doi"?`},
		{[]string{file("rows.csv", header)}, "has no rows"},
		{[]string{file("cells.csv", header+"a,b\n"), "-leave-out"}, "rows have too many or too few cells; nothing was sent"},
		{[]string{file("latin.csv", header+"gr\xfcn\n")}, `line 2, column 3: the text is not UTF-8; save the table again as "CSV UTF-8"`},
		{[]string{file("open.csv", header+"\""+strings.Repeat("x\n", 200_000))}, "the row is longer than 256 KiB; a quotation mark may be missing"},
		{[]string{file("broken.xlsx", "PK\x03\x04 and nothing more")}, "broken.xlsx: "},
	} {
		code, out, notes := start(t, tt.args...)
		assert.Equal(t, 2, code, tt.args)
		assert.Empty(t, out)
		assert.Contains(t, notes, tt.says)
	}
	assert.Empty(t, srv.Requests())
}

// Names that were made are not lost when a table no longer has their rows.
func TestNamesWithoutARow(t *testing.T) {
	srv := newServer(t, nil)
	path := folder(t, header+line(1)+line(2))
	items := filepath.Join(path, "items.csv")
	args := []string{"-live", "-mds", srv.URL, "-prefix", "10.5072", items}
	code, _, notes := start(t, args...)
	require.Equal(t, 0, code, notes)
	require.NoError(t, os.WriteFile(items, []byte(header+line(0)+line(2)), 0o600))
	code, _, notes = start(t, args...)
	assert.Equal(t, 2, code)
	assert.Contains(t, notes, "items.registered.csv has 1 DOI that the rows of "+items+" lack")
	assert.Contains(t, notes, "for https://repository.example.org/1; go on with the result table")

	// Rows may come in another order, and new ones among them.
	require.NoError(t, os.WriteFile(items, []byte(header+line(0)+line(2)+line(1)), 0o600))
	code, _, notes = start(t, args...)
	require.Equal(t, 0, code, notes)
	assert.Len(t, srv.Names(), 3)
}

// A name that exists, as one in a billion does, is not overwritten: another is made.
func TestTakenNames(t *testing.T) {
	srv := newServer(t, nil)
	path := folder(t, header+line(1))
	results, err := loadResults(filepath.Join(path, "items.registered.csv"))
	require.NoError(t, err)
	require.NoError(t, results.begin())
	j := &job{settings: &settings{mds: srv.URL, prefix: "10.5072", workers: 1}, p: &program.Program{Stderr: &bytes.Buffer{}}, results: results,
		source: &source{file: filepath.Join(path, "items.csv")}, names: map[string]*item{}, client: srv.MDS()}
	taken := &item{entry: entry{DOI: "10.5072/a", URL: "x"}}
	j.names["10.5072/a"] = taken
	require.ErrorIs(t, j.before(t.Context(), "10.5072/a", "draft"), errTaken)
	assert.False(t, results.has("10.5072/a"))
	require.NoError(t, j.before(t.Context(), "10.5072/a", ""))
	assert.True(t, results.has("10.5072/a"))
	require.NoError(t, j.before(t.Context(), "10.5072/a", "draft"), "it is ours from here on")
}

// spreadsheet writes an .xlsx file.
func spreadsheet(t *testing.T, name string, rows [][]string) {
	t.Helper()
	file, err := os.Create(name)
	require.NoError(t, err)
	defer file.Close()
	w, err := sheet.NewWriter(file)
	require.NoError(t, err)
	for _, cells := range rows {
		require.NoError(t, w.Write(cells))
	}
	require.NoError(t, w.Close())
}

// The result of an .xlsx is an .xlsx, with which a run can go on.
func TestSpreadsheet(t *testing.T) {
	srv := newServer(t, nil)
	path := folder(t, header)
	file, result := filepath.Join(path, "items.xlsx"), filepath.Join(path, "items.registered.xlsx")
	rows := [][]string{
		{"URL", "Title", "Creators", "Publisher", "Year", "Type", "Dates"},
		{"https://repository.example.org/1", "Länge; Fläche", "Lovelace, Ada", "Repository", "2026", "Dataset"},
		{},
		{"https://repository.example.org/2", "=1+1", "org: Ice", "Repository", "26", "Dataset", "Issued 2026-01-31"},
	}
	spreadsheet(t, file, rows)
	args := []string{"-live", "-mds", srv.URL, "-prefix", "10.5072"}
	code, _, notes := start(t, append(args, file)...)
	assert.Equal(t, 2, code)
	assert.Contains(t, notes, `error: items.xlsx, line 4, column 5: year: "26" is not a year of four digits`)
	code, out, notes := start(t, append(args, "-leave-out", file)...)
	assert.Equal(t, 1, code, notes)
	assert.Contains(t, out, "items.registered.xlsx: 1 of 2 rows registered, 1 of them now")

	// The fault is corrected in the result table.
	table, err := os.Open(result)
	require.NoError(t, err)
	defer table.Close()
	r, corrected := sheet.NewReader("t", table), [][]string{}
	for cells, err := r.Read(); err == nil; cells, err = r.Read() {
		for i, cell := range cells {
			if cell == "26" {
				cells[i] = "2026"
			}
		}
		corrected = append(corrected, cells)
	}
	require.Len(t, corrected, 3)
	assert.Equal(t, "=1+1", corrected[2][3])
	assert.Contains(t, corrected[2], `items.xlsx, line 4, column 5: year: "26" is not a year of four digits`)
	spreadsheet(t, result, corrected)
	code, out, notes = start(t, append(args, result)...)
	assert.Equal(t, 0, code, notes)
	assert.Contains(t, out, "items.registered.xlsx: 2 of 2 rows registered, 1 of them now")
	assert.Len(t, srv.Names(), 2)
	code, out, _ = start(t, file)
	assert.Equal(t, 2, code, "the table itself still has its fault: %s", out)
}

// Of a damaged .xlsx nothing is registered, and the exit code says so.
func TestDamagedSpreadsheet(t *testing.T) {
	srv := newServer(t, nil)
	path := folder(t, header)
	file := filepath.Join(path, "items.xlsx")
	rows := [][]string{{"url", "title", "creators", "publisher", "year", "type"}}
	for i := range 10 {
		rows = append(rows, []string{fmt.Sprintf("https://repository.example.org/%d", i), "T", "Lovelace, Ada", "P", "2026", "Dataset"})
	}
	spreadsheet(t, file, rows)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for i := range 40 {
		damaged := bytes.Clone(whole)
		if at := rand.IntN(len(whole)); i%2 == 0 {
			damaged = damaged[:at]
		} else {
			clear(damaged[at:min(at+8, len(whole))])
		}
		require.NoError(t, os.WriteFile(file, damaged, 0o600))
		before := len(srv.Names())
		code, _, notes := start(t, "-live", "-mds", srv.URL, "-prefix", "10.5072", "-result", filepath.Join(path, fmt.Sprintf("%d.csv", i)), file)
		made := len(srv.Names()) - before
		assert.True(t, code == 2 && made == 0 && strings.Contains(notes, "items.xlsx") || code == 0 && made == 10, "%d, %d made: %s", code, made, notes)
	}
}

// process starts the program as a process.
func process(args ...string) (command *exec.Cmd, stdout, stderr *bytes.Buffer) {
	command, stdout, stderr = exec.Command(os.Args[0], args...), &bytes.Buffer{}, &bytes.Buffer{}
	command.Env = append(os.Environ(), "REGISTERTABLE_PROCESS=1", "DATACITE_USERNAME="+datacitetest.Username, "DATACITE_PASSWORD="+datacitetest.Password)
	command.Stdout, command.Stderr = stdout, stderr
	return command, stdout, stderr
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

func TestProcess(t *testing.T) {
	path := folder(t, header+line(1))
	items := filepath.Join(path, "items.csv")
	for _, tt := range []struct {
		args           []string
		code           int
		prints, stderr string
	}{
		{[]string{"-h"}, 0, "Exit codes:\n  0  done\n  1  not all done", ""},
		{[]string{"-columns"}, 0, "state\n    findable or empty; a row with another state is refused: audit -fix makes drafts and registered DOIs\n", ""},
		{[]string{"-template"}, 0, "\ufeffdoi,url,state,title,", ""},
		{[]string{items}, 0, ",created,", "in memory: nothing real was registered"},
		{[]string{"-dry-run", "-prefix", "10.5072", items}, 0, "1 row without faults", ""},
		{[]string{"-nothing"}, 2, "", "-h shows the flags"},
		{[]string{"-live", "-prefix", "10.5072", "-mds", "http://127.0.0.1:1", "-pause", "1ms", items}, 3, "0 of 1 row registered", "the service failed for all that was to do, 1 row; run the same command again\nthe first one: "},
	} {
		command, stdout, stderr := process(tt.args...)
		assert.Equal(t, tt.code, exitCode(t, command.Run()), "%v: %s", tt.args, stderr)
		assert.Contains(t, stdout.String(), tt.prints)
		assert.Contains(t, stderr.String(), tt.stderr)
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil || tt.code != 0 {
			continue
		}
		command, _, stderr = process(tt.args...)
		command.Stdout = full
		assert.Equal(t, 1, exitCode(t, command.Run()), tt.args)
		assert.Contains(t, stderr.String(), "registertable: standard output: ")
		require.NoError(t, full.Close())
	}
}

func TestInterrupted(t *testing.T) {
	path := folder(t, header+line(1)+line(2)+line(3)+line(4)+line(5)+line(6)+line(7)+line(8))
	var running atomic.Pointer[os.Process]
	srv := newServer(t, &datacitetest.Options{Faults: func(n int, _ *http.Request) *datacitetest.Fault {
		if n == 8 {
			_ = running.Load().Signal(syscall.SIGTERM)
		}
		if n >= 8 && n < 20 {
			return &datacitetest.Fault{Kind: datacitetest.Status}
		}
		return nil
	}})
	args := []string{"-live", "-mds", srv.URL, "-prefix", "10.5072", "-workers", "1", "-pause", "10ms", filepath.Join(path, "items.csv")}
	command, stdout, stderr := process(args...)
	require.NoError(t, command.Start())
	running.Store(command.Process)
	assert.Equal(t, 1, exitCode(t, command.Wait()))
	assert.Contains(t, stdout.String(), "2 of 8 rows registered, 2 of them now")
	assert.Contains(t, stderr.String(), "interrupted with 6 rows left; run the same command again, and it goes on")
	rows := read(t, filepath.Join(path, "items.registered.csv"))
	require.Len(t, rows, 8)
	assert.Empty(t, rows[7]["result"])
	again, stdout, stderr := process(args...)
	assert.Equal(t, 0, exitCode(t, again.Run()), stderr)
	assert.Contains(t, stdout.String(), "8 of 8 rows registered, 6 of them now")
	assert.Len(t, srv.Names(), 8)
}

// TestKilled kills the program at random requests and at random times, on a service with
// faults. In the end every row has one DOI, and no other DOI exists.
func TestKilled(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(behaviour), func(t *testing.T) {
			var items strings.Builder
			items.WriteString(header)
			for i := range *size {
				items.WriteString(line(i))
			}
			path := folder(t, items.String())
			kinds := []datacitetest.Fault{{Kind: datacitetest.Status}, {Kind: datacitetest.DropBefore}, {Kind: datacitetest.DropAfter}, {Kind: datacitetest.StatusAfter}}
			var victim atomic.Pointer[os.Process]
			var requests, last atomic.Int64 // last: the request that the victim does not survive
			srv := newServer(t, &datacitetest.Options{Behaviour: behaviour, Faults: func(n int, _ *http.Request) *datacitetest.Fault {
				requests.Store(int64(n))
				if int64(n) == last.Load() {
					_ = victim.Load().Kill() // it may have ended
				}
				if rand.IntN(20) > 0 {
					return nil
				}
				return &kinds[rand.IntN(len(kinds))]
			}})
			result, begun, runs := filepath.Join(path, "items.registered.csv"), time.Now(), 0
			for code := -1; code != 0; runs++ {
				require.Less(t, runs, *kills+50, "it does not end")
				command, _, stderr := process("-live", "-mds", srv.URL, "-prefix", "10.5072", "-pause", "10ms", filepath.Join(path, "items.csv"))
				require.NoError(t, command.Start())
				victim.Store(command.Process)
				switch {
				case runs < *kills && runs%2 == 0:
					last.Store(requests.Load() + 1 + rand.Int64N(int64(3**size / *kills)))
				case runs < *kills:
					time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
					_ = command.Process.Kill() // it may have ended
				}
				if code = exitCode(t, command.Wait()); code > 0 {
					require.Contains(t, []int{1, 3}, code, stderr.String())
				}
			}
			t.Logf("%d rows, %d runs, %d requests, %v", *size, runs, requests.Load(), time.Since(begun).Round(time.Millisecond))
			rows, seen := read(t, result), map[string]bool{}
			require.Len(t, rows, *size)
			for i, row := range rows {
				assert.Equal(t, fmt.Sprintf("https://repository.example.org/%d", i), row["url"])
				assert.Equal(t, datacitetest.StateFindable, srv.State(row["doi"]))
				assert.Equal(t, []string{"findable", ""}, []string{row["state"], row["error"]}, row)
				assert.NotEmpty(t, row["registered"])
				seen[row["doi"]] = true
			}
			assert.Equal(t, *size, len(seen))
			assert.Equal(t, *size, len(srv.Names()), "each row has one DOI, and there are no others: no name was lost")
			assert.NoFileExists(t, result+".journal")
		})
	}
}

var damaged = flag.Int("damaged", 60, "tables that TestDamagedTables damages")

// Of a damaged table each row is registered as it stands there or named with its fault, or
// nothing is sent and the exit code says so.
func TestDamagedTables(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range *damaged {
		srv := newServer(t, nil)
		var items strings.Builder
		items.WriteString("doi,url,title,creators,publisher,year,type,dates\n")
		for i := range 1 + random.IntN(8) {
			fmt.Fprintf(&items, "10.5072/d%d,https://repository.example.org/%[1]d,\"Item, \"\"%[1]d\"\"\nand more\",\"Lovelace, Ada; org: Ice\",Repository,2026,Dataset,Collected 202%[1]d\n", i)
		}
		text := damage(random, []byte(items.String()))
		path := folder(t, string(text))
		code, _, notes := start(t, "-live", "-mds", srv.URL, "-prefix", "10.5072", "-leave-out", filepath.Join(path, "items.csv"))
		if code == 2 {
			assert.Empty(t, srv.Names(), "%s\n%s", notes, text)
			assert.Contains(t, notes, "items.csv", "%s", text)
			continue
		}
		require.Contains(t, []int{0, 1}, code, notes)
		all := csv.NewReader(bytes.NewReader(text)) // another reader of the same table
		all.FieldsPerRecord = -1
		rows, err := all.ReadAll()
		require.NoError(t, err, "%d: %s", n, text)
		results := read(t, filepath.Join(path, "items.registered.csv"))
		require.Len(t, results, len(rows)-1, "%s\n%s", notes, text)
		registered := 0
		for _, row := range results {
			switch row["result"] {
			case "created":
				registered++
				assert.Empty(t, row["error"])
				assert.Equal(t, datacitetest.StateFindable, srv.State(row["doi"]))
			case "failed":
				assert.NotEmpty(t, row["error"])
			default:
				t.Errorf("neither registered nor failed: %v", row)
			}
		}
		assert.Equal(t, code == 0, registered == len(results), notes)
		assert.Len(t, srv.Names(), registered)
	}
}

// damage cuts, changes, repeats or takes out some bytes.
func damage(random *rand.Rand, text []byte) []byte {
	from := random.IntN(len(text))
	to := min(from+1+random.IntN(40), len(text))
	switch random.IntN(5) {
	case 0:
		return text[:from]
	case 1:
		text[from] = "\",;\n\x00\xff |&"[random.IntN(8)]
	case 2:
		clear(text[from:to])
	case 3:
		return append(text[:from], text[to:]...)
	case 4:
		return append(bytes.Clone(text[:to]), text[from:]...)
	}
	return text
}

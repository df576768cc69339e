package register

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

func TestMain(m *testing.M) { shelltest.Main(m, quick) }

// quick is the command that repeats soon what failed.
func quick(s *shell.Shell) *cobra.Command { return newCommand(s, 10*time.Millisecond) }

const header = "doi,url,title,creators,publisher,year,type\n"

// line is a row without a DOI.
func line(i int) string {
	return fmt.Sprintf(",https://repository.example.org/%d,Item %d,\"Lovelace, Ada\",Repository,2026,Dataset\n", i, i)
}

// folder holds items.csv.
func folder(t *testing.T, items string) string {
	t.Helper()
	path := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(path, "items.csv"), []byte(items), 0o600))
	return path
}

// start runs the command at the embedded service, with its account.
func start(t *testing.T, srv *datacitetest.Server, args ...string) (code int, out, notes string) {
	t.Helper()
	return shelltest.At(srv).Do(t, quick, append([]string{"register"}, args...)...)
}

// read returns the rows of a CSV file by their columns.
func read(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	data := shelltest.Read(t, path)
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

func TestTemplate(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	for _, name := range []string{"t.csv", "t.xlsx"} {
		file := filepath.Join(t.TempDir(), name)
		code, out, notes := start(t, srv, "--template", "--output", file)
		require.Zero(t, code, notes)
		assert.Empty(t, out)
		code, _, notes = start(t, srv, file)
		assert.Equal(t, 2, code)
		assert.Contains(t, notes, file+" has no rows; fill in one for each DOI")
		code, _, notes = start(t, srv, "--template", "--output", file)
		assert.Equal(t, 2, code)
		assert.Contains(t, notes, "is there already; give the name of a new file")
		code, _, notes = start(t, srv, "--template", file)
		assert.Equal(t, 2, code)
		assert.Contains(t, notes, "--template reads no file")
	}
	for _, args := range [][]string{{"--template"}, {"--template", "--output", "-"}} {
		code, out, notes := start(t, srv, args...)
		require.Zero(t, code, notes)
		assert.Contains(t, out, "doi,url,state,")
	}
	code, _, notes := start(t, srv, "--template", "--output", "t.ods")
	assert.Equal(t, 2, code)
	assert.Contains(t, notes, "--output t.ods is neither .csv nor .xlsx")
}

func TestATableIsRegisteredOnce(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	path := folder(t, header+line(1)+"10.5072/mine,https://repository.example.org/2,Mine,org: "+
		"Ice,Repository,2026,Dataset\n")
	items, result := filepath.Join(path, "items.csv"), filepath.Join(path, "items.registered.csv")
	where := strings.TrimPrefix(srv.URL, "http://")

	code, out, notes := start(t, srv, "--prefix", "10.5072", items)
	require.Equal(t, 0, code, notes)
	assert.Equal(t, result+": 2 records at "+where+": 2 created\n", out)
	rows := read(t, result)
	assert.Equal(t, "10.5072/mine", rows[1]["doi"])
	for _, row := range rows {
		assert.Equal(t, []string{"findable", "created", ""}, []string{row["state"], row["result"], row["error"]})
		assert.Equal(t, "findable", srv.State(row["doi"]))
	}
	assert.Len(t, srv.Requests(), 3, "one for a name that was made, two for another")

	for _, again := range []string{items, result} { // neither sends anything
		code, out, notes = start(t, srv, "--prefix", "10.5072", again)
		require.Equal(t, 0, code, notes)
		assert.Equal(t, result+": 2 records at "+where+": 2 written earlier\n", out)
		assert.Equal(t, rows, read(t, result))
		assert.Len(t, srv.Requests(), 3)
	}

	// Another result table knows nothing of the names that were made.
	elsewhere := filepath.Join(path, "other.csv")
	code, _, notes = start(t, srv, "--prefix", "10.5072", "--output", elsewhere, items)
	assert.Equal(t, 2, code)
	assert.Contains(t, notes, result+" has the DOIs that an earlier run made; leave out --output")
	assert.Len(t, srv.Requests(), 3)
	assert.NoFileExists(t, elsewhere)

	// What is changed is registered, under its name.
	data := shelltest.Read(t, result)
	require.NoError(t, os.WriteFile(result, bytes.Replace(data, []byte("Item 1"), []byte("Item one"), 1), 0o600))
	code, _, notes = start(t, srv, result)
	require.Equal(t, 0, code, notes)
	changed := read(t, result)
	assert.Equal(t, rows[0]["doi"], changed[0]["doi"])
	assert.Equal(t, "updated", changed[0]["result"])
	assert.Equal(t, rows[1], changed[1])
	assert.Len(t, srv.Requests(), 5)

	// A hidden DOI is changed and stays hidden, unless its row says otherwise.
	require.NoError(t, srv.MDS().Hide(t.Context(), "10.5072/mine"))
	for _, tt := range []struct{ state, want string }{{"", "registered"},
		{"findable", "findable"}} {
		mine := shelltest.File(t, "mine.csv",
			"doi,state,url,title,creators,publisher,year,type\n10.5072/mine,"+tt.state+",https://repository.example.org/2,Yours"+
				tt.state+",org: Ice,Repository,2026,Dataset\n")
		code, _, notes = start(t, srv, mine)
		require.Equal(t, 0, code, notes)
		assert.Equal(t, tt.want, srv.State("10.5072/mine"))
		assert.Equal(t, tt.want, read(t, strings.TrimSuffix(mine, ".csv")+".registered.csv")[0]["state"])
		record, err := srv.Record("10.5072/mine")
		require.NoError(t, err)
		assert.Equal(t, "Yours"+tt.state, record.Titles[0].Title)
	}

	// What was registered at another service counts for that alone.
	other := shelltest.Serve(t, nil)
	code, _, notes = start(t, other, result)
	require.Equal(t, 0, code, notes)
	assert.Equal(t, "findable", other.State("10.5072/mine"))
}

// Drafts, registered and findable DOIs, new and from one to another.
func TestStates(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour})
		path := folder(t, "")
		items := filepath.Join(path, "items.csv")
		for _, tt := range []struct {
			flag  string // --state
			cells []string
			want  []string
			fails string
		}{
			{"findable", []string{"draft", "registered", "findable", ""},
				[]string{"draft", "registered", "findable", "findable"}, ""},
			{"draft", []string{"", "", "", ""}, []string{"draft", "registered", "findable", "findable"}, ""},
			{"registered", []string{"", "findable", "registered", ""},
				[]string{"registered", "findable", "registered", "findable"}, ""},
			{"findable", []string{"draft", "", "", ""}, []string{"registered", "findable", "registered", "findable"},
				"items.csv, line 2: 10.5072/s0 is registered and cannot become draft"},
		} {
			var text strings.Builder
			text.WriteString("doi,state,url,title,creators,publisher,year,type\n")
			for i, state := range tt.cells {
				text.WriteString(fmt.Sprintf("10.5072/s%d,%s,https://repository.example.org/%[1]d,T,org: Ice,R,2026,Dataset\n", i,
					state))
			}
			require.NoError(t, os.WriteFile(items, []byte(text.String()), 0o600))
			code, _, notes := start(t, srv, "--state", tt.flag, items)
			assert.Equal(t, tt.fails != "", code == 1, notes)
			assert.Contains(t, notes, tt.fails)
			for i, want := range tt.want {
				assert.Equal(t, want, string(srv.State(fmt.Sprintf("10.5072/s%d", i))), "%v", tt)
			}
		}
	}
}

// What the columns of a table do not say of a DOI stays.
func TestWhatATableDoesNotSayStays(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	client := srv.DOIs()
	draft := &dois.Draft{DOI: "10.5072/a", URL: "https://repository.example.org/1", Event: dois.EventPublish,
		Record: metadata.Record{
			Titles: []metadata.Title{{Title: "Old"}}, Creators: []metadata.Creator{metadata.Organization("Ice")},
			Publisher:       metadata.Publisher{Name: "R"},
			PublicationYear: "2026", Types: metadata.Types{ResourceTypeGeneral: "Dataset"},
			Contributors: []metadata.Contributor{{Creator: metadata.Organization("Editors"), ContributorType: "Editor"}},
		}}
	_, err := client.Create(t.Context(), draft)
	require.NoError(t, err)
	path := folder(t, header+"10.5072/a,https://repository.example.org/1,New,org: Ice,R,2026,Dataset\n")
	code, _, notes := start(t, srv, filepath.Join(path, "items.csv"))
	require.Zero(t, code, notes)
	record, err := srv.Record("10.5072/a")
	require.NoError(t, err)
	assert.Equal(t, "New", record.Titles[0].Title)
	assert.Len(t, record.Contributors, 1)
}

// Empty cells of a DOI that exists change nothing, and each later correction of its row is seen.
func TestEmptyCellsOfADOIThatExists(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	path := folder(t, header+"10.5072/a"+line(1))
	items := filepath.Join(path, "items.csv")
	code, _, notes := start(t, srv, items)
	require.Zero(t, code, notes)
	for _, title := range []string{"Item 1", "Item 2", "Item 3"} {
		require.NoError(t, os.WriteFile(items, []byte(header+"10.5072/a,https://repository.example.org/1,"+title+",,,,\n"),
			0o600))
		code, _, notes = start(t, srv, items)
		require.Zero(t, code, notes)
		found, err := srv.Record("10.5072/a")
		require.NoError(t, err)
		assert.Equal(t, title, found.Title())
		assert.Equal(t, "Lovelace, Ada", found.Creators[0].Name)
	}
	require.NoError(t, os.WriteFile(items, []byte(header+"10.5072/new,https://repository.example.org/2,T,,,,\n"), 0o600))
	code, _, notes = start(t, srv, items, "--output", filepath.Join(path, "new.csv"))
	assert.Equal(t, shell.ExitWrong, code)
	assert.Contains(t, notes, "a record needs a creator")
}

// Columns of one's own stay in the table of results.
func TestColumnsToPassOver(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	path := folder(t, "shelf,"+header+"A 7,"+line(1))
	items := filepath.Join(path, "items.csv")
	code, _, notes := start(t, srv, "--prefix", "10.5072", items)
	assert.Equal(t, 2, code)
	assert.Contains(t, notes, "--pass-over names columns of your own")
	result := filepath.Join(path, "items.registered.csv")
	for _, args := range [][]string{{items, "--pass-over", "Shelf"}, {result, "--pass-over", "shelf"}, {result},
		{result}} {
		code, _, notes = start(t, srv, append(args, "--prefix", "10.5072")...)
		require.Zero(t, code, notes)
		assert.Equal(t, "A 7", cmp.Or(read(t, result)[0]["Shelf"], read(t, result)[0]["shelf"]))
	}
	assert.Contains(t, notes, `items.registered.csv: the column "shelf", behind the column registered, is passed over`)

	plain := filepath.Join(path, "items.csv")
	require.NoError(t, os.WriteFile(plain, []byte(header+line(1)), 0o600))
	code, _, notes = start(t, srv, plain, "--prefix", "10.5072")
	assert.Equal(t, 2, code)
	assert.Contains(t, notes, `items.registered.csv has the column "shelf", which would be lost; continue with that `+
		`table, or move it away`)

	// A column that is probably misspelt is none of one's own.
	text := strings.Replace(string(shelltest.Read(t, result)), ",shelf", ",fundng", 1)
	require.NoError(t, os.WriteFile(result, []byte(text), 0o600))
	code, _, notes = start(t, srv, result)
	assert.Equal(t, 2, code)
	assert.Contains(t, notes, `the column is named "fundng"; did you mean "funding"?`)
}

// The service's JSON and XML spell the identifier of a licence differently; its removal is one warning.
func TestARemovedIdentifierIsSaidOnce(t *testing.T) {
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	rights := func(cell string) string {
		return shelltest.File(t, "items.csv",
			strings.Replace(header, "\n", ",rights\n", 1)+"10.5072/a"+strings.Replace(line(1), "\n", ","+cell+"\n", 1))
	}
	for _, cell := range []string{"Open Access; CC-BY-4.0", "MIT"} {
		code, _, notes := start(t, srv, rights(cell))
		require.Zero(t, code, notes)
		assert.Equal(t, cell == "MIT", strings.Count(notes, "warning: ") == 1, notes)
	}
}

// An address that cannot be read is a fault, and not a second one because it is missing.
func TestAFaultIsReportedOnce(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	path := folder(t, header+"a/b,,A,\"Lovelace, Ada\",Repository,2026,Dataset\n")
	_, _, notes := start(t, srv, "--state", "draft", filepath.Join(path, "items.csv"))
	assert.Equal(t, 1, strings.Count(notes, "error: "), notes)
	path = folder(t, header+",repository.example.org/1,A,\"Lovelace, Ada\",Repository,2026,Dataset\n")
	_, _, notes = start(t, srv, "--prefix", "10.5072", filepath.Join(path, "items.csv"))
	assert.Equal(t, "error: items.csv, line 2, column 2: url: \"repository.example.org/1\" is not a URL that begins "+
		"with https:// or http://\n"+
		"datacite: faults in 1 of 1 record; nothing was sent; --leave-out registers the others\n", notes)
}

func TestFaultsStopAllOrAreLeftOut(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	path := folder(t, header+line(1)+",https://repository.example.org/2,B,Ada Lovelace,Repository,26,Datset\n"+line(3)+
		line(1)+
		",,No address,\"A, B\",R,2026,Dataset\n10.5072/a+b,https://repository.example.org/6,Plus,\"A, B\",R,2026,Dataset\n")
	items, result := filepath.Join(path, "items.csv"), filepath.Join(path, "items.registered.csv")
	for _, more := range []string{"--dry-run", "--quiet"} {
		code, out, notes := start(t, srv, "--prefix", "10.5072", items, more)
		assert.Equal(t, 2, code)
		assert.Empty(t, out)
		for _, fault := range []string{
			`error: items.csv, line 3, column 4: creators: "Ada Lovelace": write persons as`,
			`error: items.csv, line 3, column 6: year: "26" is not a year of four digits`,
			`error: items.csv, line 3, column 7: type: the schema has no general resource type "Datset"; did you mean Dataset?`,
			`error: items.csv, line 5: url: is that of items.csv, line 2, too`,
			`error: items.csv, line 6: url: is missing; it is where the DOI leads to`,
			`error: items.csv, line 7: doi: `,
			"datacite: faults in 4 of 6 records; nothing was sent",
		} {
			assert.Contains(t, notes, fault)
		}
	}
	assert.Empty(t, srv.Requests())
	assert.NoFileExists(t, result)

	code, out, notes := start(t, srv, "--prefix", "10.5072", items, "--leave-out")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, result+": 6 records at ")
	assert.Contains(t, notes, "4 with faults, as the column error says; correct them in the result table")
	rows := read(t, result)
	require.Len(t, rows, 6)
	assert.Equal(t, "failed", rows[1]["result"])
	assert.Equal(t, "Ada Lovelace", rows[1]["creators"], "nothing of a faulty row is lost")
	assert.Contains(t, rows[1]["error"], `"26" is not a year of four digits; items.csv, line 3, column 7: type`)

	// Corrected in the result table, the others are registered.
	data := shelltest.Read(t, result)
	fixed := strings.NewReplacer("Ada Lovelace,Repository,26,Datset",
		`"Lovelace, Ada",Repository,2026,Dataset`).Replace(string(data))
	require.NoError(t, os.WriteFile(result, []byte(fixed), 0o600))
	code, out, _ = start(t, srv, "--prefix", "10.5072", "--leave-out", result)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, result+": 6 records at ")
	assert.Contains(t, out, ": 1 created, 2 written earlier, 3 with faults\n")
}

func TestJSON(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	items := header + line(1) + "10.1234/other,https://repository.example.org/2,T,org: Ice,R,2026,Dataset\n"
	code, out, notes := start(t, srv, "--prefix", "10.5072", "--json", "--workers", "1",
		filepath.Join(folder(t, items), "items.csv"))
	assert.Equal(t, 1, code, notes)
	lines := strings.SplitAfter(out, "\n")
	require.Len(t, lines, 3)
	where := strings.TrimPrefix(srv.URL, "http://")
	assert.Regexp(t, `^\{"doi":"10\.5072/[^"]+","url":"https://repository\.example\.org/1","state":"findable",`+
		`"result":"created","place":"items\.csv, line 2","service":"`+where+`"\}\n$`, lines[0])
	assert.Regexp(t, `^\{"doi":"10\.1234/other","url":"https://repository\.example\.org/2","result":"failed",`+
		`"error":"[^"]+","place":"items\.csv, line 3","service":"`+where+`"\}\n$`, lines[1])

	code, out, _ = start(t, srv, "--prefix", "10.5072", "--json", "--dry-run",
		filepath.Join(folder(t, items), "items.csv"))
	assert.Zero(t, code)
	assert.Equal(t, `{"url":"https://repository.example.org/1","state":"findable","result":"checked",`+
		`"place":"items.csv, line 2","service":"`+where+`"}`+"\n"+
		`{"doi":"10.1234/other","url":"https://repository.example.org/2","state":"findable","result":"checked",`+
		`"place":"items.csv, line 3","service":"`+where+`","road":"as JSON"}`+"\n", out)
}

func TestRefusals(t *testing.T) {
	path := folder(t, header+line(1))
	items := filepath.Join(path, "items.csv")
	file := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(path, name), []byte(text), 0o600))
		return filepath.Join(path, name)
	}
	srv := shelltest.Serve(t, nil)
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{}, "give a file with a record or a table; datacite register --help shows how"},
		{[]string{items, items}, "give one table, or records alone"},
		{[]string{items, "--doi", "10.5072/a"}, "--doi and --url are for records"},
		{[]string{items, "--wait"}, "--wait is for a single record"},
		{[]string{items, "--resolver", "https://doi.org"}, "--resolver has no effect without --wait"},
		{[]string{items, "--output", filepath.Join(path, "a.txt")}, "a.txt is neither .csv nor .xlsx"},
		{[]string{items, "--output", filepath.Join(path, "none", "a.csv"), "--prefix", "10.5072"},
			"none/a.csv.lock: no such file or directory"},
		{[]string{"--workers", "0", items}, "--workers is 0"},
		{[]string{"--prefix", "5072", items}, `--prefix is "5072", not "10." and four or five digits`},
		{[]string{items}, "1 record without a DOI; give the --prefix of new ones"},
		{[]string{"--dry-run", items}, "1 record without a DOI; give the --prefix of new ones"},
		{[]string{filepath.Join(path, "missing.csv")}, "missing.csv"},
		{[]string{file("columns.csv", "doi,url\n10.5072/a,https://a.example/\n")},
			"use datacite audit --only url,state --fix"},
		{[]string{file("header.csv", "dio,url\n")}, `did you mean "doi"?`},
		{[]string{file("rows.csv", header)}, "has no rows"},
		{[]string{file("states.csv", "state,"+header+"published"+","+line(1))},
			`states.csv, line 2, column 1: state: "published" is not one of draft, registered, findable`},
		{[]string{file("cells.csv", header+"a,b\n"), "--leave-out"}, "rows have too many or too few cells; nothing was sent"},
		{[]string{file("t.ods", "PK\x03\x04")}, "the spreadsheet cannot be read"},
		{[]string{file("t.txt", "\xff\xfed\x00")},
			`t.txt is text in UTF-16; save it as UTF-8, and a table as .xlsx or as "CSV UTF-8"`},
		{[]string{file("d.csv", "doi,url,state,title,kind,path,desired,found,reason,service\n")},
			"d.csv is a table of differences that datacite audit wrote; correct the source that was compared"},
		{[]string{file("c.csv", "doi,metric,access,count\n")}, "c.csv is a table of counts; datacite usage send sends it"},
		{[]string{file("broken.xlsx", "PK\x03\x04 and nothing more")}, "broken.xlsx: "},
	} {
		code, out, notes := start(t, srv, tt.args...)
		assert.Equal(t, 2, code, tt.args)
		assert.Empty(t, out)
		assert.Contains(t, notes, tt.says)
	}
	assert.Empty(t, srv.Requests())
	left, err := filepath.Glob(filepath.Join(path, "*.registered.*"))
	require.NoError(t, err)
	assert.Empty(t, left, "nothing is written when nothing is sent")
}

// Without a service, or a login that is right, nothing is sent, and the error is one.
func TestNoServiceOrLogin(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	one, four := shelltest.File(t, "one.csv",
		header+line(1)), shelltest.File(t, "four.csv", header+line(5)+line(6)+line(7)+line(8))
	code, _, notes := shelltest.Run{}.Do(t, quick, "register", one, "--prefix", "10.5072")
	assert.Equal(t, 2, code)
	assert.Contains(t, notes, "say which service is meant: add --service test or --service production")
	for rows, table := range map[string]string{"1 record": one, "4 records": four} {
		code, _, notes = shelltest.At(srv).Do(t, Command, "register", table, "--prefix", "10.5072", "--service",
			"http://127.0.0.1:1")
		assert.Equal(t, 3, code)
		assert.Contains(t, notes, "the service failed for all that was to do, "+rows+
			"; run the same command again; the first one: ")
		assert.NotContains(t, notes, "canceled")
		assert.NotContains(t, notes, "trying again", "where nobody answers, nothing is waited for")
	}
	run := shelltest.At(srv)
	for stdin, says := range map[string]string{header + line(1): "a table from standard input needs --output FILE.csv",
		string(shelltest.Read(t, "record.json")): "url: is missing"} {
		run.Stdin = stdin
		code, _, notes = run.Do(t, quick, "register", "-", "--prefix", "10.5072")
		assert.Equal(t, 2, code)
		assert.Contains(t, notes, says)
	}
	run.Env["DATACITE_PASSWORD"] = "wrong"
	code, _, notes = run.Do(t, quick, "register", shelltest.File(t, "several.csv", string(shelltest.Read(t, four))),
		"--prefix", "10.5072")
	assert.Equal(t, 2, code)
	assert.NotContains(t, notes, "not known whether", "the others are not sent")
	assert.Contains(t, notes, "is the login right? datacite login tests it")
	assert.Empty(t, srv.Names())
}

// A prefix of another account is refused once, and not asked for with each row.
func TestPrefixesOfOthers(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	path := folder(t, header+"10.1234/1"+line(1)+"10.1234/2"+line(2)+"10.1234/3"+line(3)+"10.1234/4"+line(4)+"10.1234/5"+
		line(5))
	theirs := filepath.Join(path, "items.csv")
	code, _, notes := start(t, srv, theirs, "--workers", "1")
	assert.Equal(t, 1, code)
	assert.Equal(t, 1, strings.Count(notes, "belongs to another account"), notes)
	for i, row := range read(t, filepath.Join(path, "items.registered.csv")) {
		assert.Contains(t, row["error"], "belongs to another account")
		assert.Equal(t, i > 0, strings.Contains(row["error"], "not sent, as another new DOI below 10.1234 was refused"))
	}
	unnamed := shelltest.File(t, "new.csv", header+line(9))
	code, _, notes = start(t, srv, unnamed, "--prefix", "10.1234", "--output", filepath.Join(path, "new.csv"))
	assert.Equal(t, 1, code, notes)
	assert.Empty(t, read(t, filepath.Join(path, "new.csv"))[0]["doi"], "the row may get a name below another prefix")

	other := func(name string) string {
		return shelltest.File(t, name, detected["application/vnd.schemaorg.ld+json"])
	}
	args := []string{"--url", "https://a.example/{file}", "--prefix", "10.1234", "--output"}
	wrote := len(writesOf(srv))
	code, _, notes = start(t, srv, append(args, filepath.Join(path, "others.csv"), other("a.json"), other("b.json"),
		other("c.json"))...)
	assert.Equal(t, 1, code, notes)
	assert.Equal(t, 2, len(writesOf(srv))-wrote,
		"the metadata store is asked once for a prefix, and the DOI API why it refuses: %s", notes)
	assert.Equal(t, 2, strings.Count(notes, "not sent, as another DOI below 10.1234 was refused"))
	// After a lost response, the first DOI may have been written, and the others are not said to be.
	srv.SetFaults(datacitetest.First(&datacitetest.Fault{
		Kind: datacitetest.FaultDropAfter}).When(func(r *http.Request) bool { return r.Method == http.MethodPut }))
	code, _, notes = start(t, srv, append(args, filepath.Join(path, "unclear.csv"), other("d.json"), other("e.json"))...)
	assert.Equal(t, 1, code, notes)
	assert.Equal(t, 1, strings.Count(notes, "it is not known whether the service carried it out"), notes)

	// A dry run asks before.
	srv.SetFaults(datacitetest.First(&datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: http.StatusBadRequest}))
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{unnamed, "--prefix", "10.5072"}, 0,
			"warning: whether the account may make DOIs below 10.5072 cannot be asked: "},
		{[]string{unnamed, "--prefix", "10.1234"}, 1, "datacite: the prefix 10.1234 belongs to another account: "},
		{[]string{theirs}, 0, "warning: the prefix 10.1234 belongs to another account: "},
	} {
		code, _, notes = start(t, srv, append(tt.args, "--dry-run")...)
		assert.Equal(t, tt.code, code, notes)
		assert.Contains(t, notes, tt.says)
	}
}

// While nothing happens, the command says why, and when it goes on.
func TestWaitingIsSaid(t *testing.T) {
	srv := shelltest.Serve(t, &datacitetest.Options{Faults: func(n int, _ *http.Request) *datacitetest.Fault {
		if n <= 5 {
			return &datacitetest.Fault{Kind: datacitetest.FaultStatus}
		}
		return nil
	}})
	code, _, notes := start(t, srv, filepath.Join(folder(t, header+"10.5072/a"+line(1)), "items.csv"))
	assert.Zero(t, code)
	assert.Contains(t, notes, "the service failed for 1 record; trying again in 10ms; the first one: GET ")
}

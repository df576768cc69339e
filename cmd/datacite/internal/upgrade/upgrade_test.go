package upgrade

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/metadata"
)

// xml is a document of a kernel, with a part of its own.
func xml(kernel, doi, part string) string {
	return `<resource xmlns="http://datacite.org/schema/kernel-` + kernel + `"><identifier identifierType="DOI">` + doi +
		`</identifier>` +
		`<creators><creator><creatorName>Ice</creatorName></creator></creators><titles><title>A</title></titles><publisher>` +
		`R</publisher>` + part + `</resource>`
}

const (
	typed = `<publicationYear>2014</publicationYear><resourceType resourceTypeGeneral="Dataset"/>`
	dated = `<dates><date dateType="StartDate">2010</date><date dateType="EndDate">2011</date></dates>`
)

// old is a folder with documents of several kernels, two of which lack something.
func old(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range map[string]string{
		"a.xml": xml("2.2", "10.5072/a", typed+dated),
		"b.xml": xml("3", "10.5072/b", `<publicationYear>2014</publicationYear>`),
		"in/c.XML": xml("2.1", "10.5072/c",
			`<publicationYear>about 1987</publicationYear>`), "d.xml": xml("4", "10.5072/d", typed), "notes.txt": "",
	} {
		name = filepath.Join(folder, "old", filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return folder
}

// written are the files of a folder, which are valid.
func written(t *testing.T, folder string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			below, _ := filepath.Rel(folder, name)
			names = append(names, filepath.ToSlash(below))
			assert.NoError(t, metadata.ValidateXML(strings.NewReader(string(shelltest.Read(t, name)))), name)
		}
		return err
	}))
	return names
}

// Documents are checked, what is missing is filled in, and they are upgraded.
func TestUpgrade(t *testing.T) {
	for _, ending := range []string{".csv", ".tsv", ".xlsx"} {
		folder := old(t)
		t.Chdir(folder)
		table := "missing" + ending
		code, out, notes := shelltest.Run{}.Do(t, Command, "upgrade", "old", "--missing", table)
		assert.Equal(t, 2, code)
		assert.Equal(t, "a.xml: kernel 2.2, can be upgraded\n"+
			"  dates[0].dateType: \"StartDate\" becomes \"Other\"\n  dates[1].dateType: \"EndDate\" becomes \"Other\"\nd.xml: "+
			"is of kernel 4 already\n", out)
		assert.Equal(t, "error: b.xml, line 1: types.resourceTypeGeneral: the general resource type is mandatory\n"+
			"error: in/c.XML, line 1: types.resourceTypeGeneral: the general resource type is mandatory\n"+
			"error: in/c.XML, line 1: publicationYear: a year of publication is four digits\n"+table+" is written\n"+
			"1 of 4 files can be upgraded, 1 of kernel 4 already; --output FOLDER writes them\n"+
			"datacite: 2 of 4 files cannot be upgraded; the lines above say why\n", notes)

		assert.Equal(t, [][]string{
			{"a.xml", "10.5072/a", "dates[0].dateType", "Collected", "StartDate"},
			{"a.xml", "10.5072/a", "dates[1].dateType", "Collected", "EndDate"},
			{"b.xml", "10.5072/b", "types.resourceTypeGeneral", "Text", ""},
			{"in/c.XML", "10.5072/c", "types.resourceTypeGeneral", "Text",
				""}, {"in/c.XML", "10.5072/c", "publicationYear", "1987", "about 1987"},
		}, fillIn(t, table, map[string]string{"types.resourceTypeGeneral": "Text", "publicationYear": "1987",
			"dates[0].dateType": "Collected", "dates[1].dateType": "Collected"}))
		code, out, notes = shelltest.Run{}.Do(t, Command, "upgrade", "old", "--values", table, "--output", "new", "--missing",
			"rest.csv")
		assert.Zero(t, code, notes)
		assert.Contains(t, out, "in/c.XML: kernel 2.1, upgraded\n  publicationYear: \"about 1987\" becomes \"1987\"\n")
		assert.Equal(t, "nothing is missing; rest.csv is not written\n3 of 4 files upgraded in new, 1 of kernel 4 already\n",
			notes)
		assert.Equal(t, []string{"a.xml", "b.xml", "in/c.XML"}, written(t, "new"))
		assert.Contains(t, string(shelltest.Read(t, "new/a.xml")), `<date dateType="Collected">2010/2011</date>`)
		assert.NoFileExists(t, "rest.csv")

		code, out, notes = shelltest.Run{}.Do(t, Command, "upgrade", "new", "--json")
		assert.Zero(t, code, notes)
		assert.Equal(t, 3, strings.Count(out, `"result":"current"`))
	}
}

// fillIn fills in a table, and returns its rows without the reasons.
func fillIn(t *testing.T, name string, values map[string]string) (rows [][]string) {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	r := sheet.NewReader(name, file)
	heads, err := r.Read()
	require.NoError(t, err)
	assert.Equal(t, columns, heads)
	all := [][]string{heads}
	for cells, err := r.Read(); err == nil; cells, err = r.Read() {
		cells = append([]string(nil), cells...)
		cells[3] = values[cells[2]]
		all, rows = append(all, cells), append(rows, cells[:5])
	}
	to, err := os.Create(name)
	require.NoError(t, err)
	defer to.Close()
	w, err := sheet.Create(to, strings.HasSuffix(name, ".xlsx"), r.Layout())
	require.NoError(t, err)
	for _, cells := range all {
		require.NoError(t, w.Write(cells))
	}
	require.NoError(t, w.Close())
	return rows
}

// Where names that differ in case or in the form of Unicode are of one file, none replaces another.
func TestUpgradeOfNamesThatAreTheSame(t *testing.T) {
	t.Chdir(old(t))
	document := shelltest.Read(t, "old/a.xml")
	names := []string{"one/caf\u00e9.xml", "two/cafe\u0301.xml", "three/CAF\u00c9.xml"}
	for _, name := range names {
		require.NoError(t, os.Mkdir(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, document, 0o600))
	}
	code, out, notes := shelltest.Run{}.Do(t, Command, append([]string{"upgrade", "--output", "new"}, names...)...)
	got := written(t, "new")
	assert.Len(t, got, strings.Count(out, ", upgraded"), out+notes)
	assert.Equal(t, len(names)-len(got), strings.Count(out+notes, "would be that of"), out+notes)
	assert.Equal(t, len(got) == len(names), code == 0)
}

// A part of the documents is written, and no other file.
func TestUpgradeOfSome(t *testing.T) {
	t.Chdir(old(t))
	code, out, notes := shelltest.Run{}.Do(t, Command, "upgrade", "old", "--output", "new", "--json")
	assert.Equal(t, 2, code, notes)
	assert.Contains(t, notes, "2 of 4 files cannot be upgraded; the lines above say why; --missing TABLE writes a table "+
		"to fill in")
	assert.Equal(t, []string{"a.xml"}, written(t, "new"))
	var all []outcome
	for line := range strings.Lines(out) {
		var o outcome
		require.NoError(t, json.Unmarshal([]byte(line), &o))
		all = append(all, o)
	}
	require.Len(t, all, 4)
	assert.Equal(t, outcome{
		File: "a.xml", DOI: "10.5072/a", Kernel: "2.2", Result: upgraded, Output: filepath.Join("new", "a.xml"),
		Derived: []derived{
			{"schemaVersion", "http://datacite.org/schema/kernel-2.2", metadata.Namespace},
			{"dates[0].dateType", "StartDate", "Other"}, {"dates[1].dateType", "EndDate", "Other"},
		},
	}, all[0])
	assert.Equal(t, outcome{
		File: "b.xml", DOI: "10.5072/b", Kernel: "3", Result: refused,
		Derived: []derived{{"schemaVersion", "http://datacite.org/schema/kernel-3", metadata.Namespace}},
		Faults:  []fault{{"types.resourceTypeGeneral", "", "the general resource type is mandatory", 1}},
	}, all[1])
}

func TestRefusals(t *testing.T) {
	t.Chdir(old(t))
	require.NoError(t, os.Mkdir("empty", 0o700))
	tables := map[string]string{
		"two.csv": "doi,property,value\n10.5072/B,types.resourceTypeGeneral,Text\nhttps://doi.org/10.5072/b," +
			"types.resourceTypeGeneral,Dataset\n",
		"bare.csv": "file,property,value\n,publicationYear," +
			"2014\n", "other.csv": "doi,title\n10.5072/a,A\n", "latin.csv": "doi,property,value\n10.5072/b,publisher," +
			"M\xfcller\n",
		"wrong.csv": "doi,property,value\n10.5072/b,types.resourceTypeGeneral,Datset\n10.5072/none,publicationYear," +
			"2014\n", "right.csv": "doi,property,value\n10.5072/A,publicationYear,2015\n",
	}
	for name, text := range tables {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for _, tt := range []struct{ args, says string }{
		{"", "give FILE or FOLDER, or --client or --prefix"},
		{"old --prefix 10.5072", "give files, or --client or --prefix"},
		{"old --fix", "--fix is for DOIs of the service"},
		{"--prefix 10.5072 --output new", "--output is new, not a name that ends in .csv, .tsv or .xlsx"},
		{"--prefix 10.5072 --output a.csv --missing ./a.csv", "--output and --missing are both a.csv; give two files"},
		{"--prefix 10.5072 --fix", "say which service is meant"},
		{"empty", "empty has no files whose names end in .xml"},
		{"none", "none: no such file"},
		{"old --output old", "--output old would replace old/a.xml; give another folder"},
		{"old/a.xml old/a.xml", "old/a.xml and old/a.xml would both become a.xml"},
		{"old --output none/new", "none: no such file"},
		{"old --output two.csv", "two.csv is not a folder"},
		{"old --values a.csv --missing ./a.csv", "are both ./a.csv; give two files"},
		{"old --missing a.txt", "not a name that ends in .csv, .tsv or .xlsx"},
		{"old --values two.csv", "line 3: types.resourceTypeGeneral has the value \"Text\" in another row"},
		{"old --values bare.csv", "line 2: a value needs its property, and its file or DOI"},
		{"old --values other.csv", "the columns are file, doi, property, value, stored, reason"},
		{"old --values latin.csv", "is not UTF-8"},
		{"old/b.xml --values wrong.csv",
			"b.xml, line 1: types.resourceTypeGeneral: the schema has no general resource type \"Datset\"; did you mean " +
				"Dataset?"},
		{"old/b.xml --values wrong.csv", "wrong.csv: values for 1 document that there are not, first in line 3"},
		{"old/a.xml --values right.csv", "publicationYear: a value is given for this place, where none is needed"},
		{"old/notes.txt", "notes.txt, line 1: the document has no element"},
	} {
		code, out, notes := shelltest.Run{}.Do(t, Command, append([]string{"upgrade"}, strings.Fields(tt.args)...)...)
		assert.Equal(t, 2, code, "%s: %s", tt.args, notes)
		assert.Contains(t, filepath.ToSlash(notes), tt.says)
		assert.Empty(t, out, tt.args)
		assert.NoDirExists(t, "new")
	}
}

// An output in the folder that is read is left out, and an interrupted run can be repeated.
func TestUpgradeAgain(t *testing.T) {
	t.Chdir(filepath.Join(old(t), "old"))
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	code, _, notes := shelltest.Run{Ctx: ctx}.Do(t, Command, "upgrade", ".", "--output", "new")
	assert.Equal(t, 130, code)
	assert.Contains(t, notes, "interrupted; 0 of 4 files done; run the same command again")
	for range 2 {
		_, _, notes = shelltest.Run{}.Do(t, Command, "upgrade", ".", "--output", "new")
		assert.Contains(t, notes, "1 of 4 files upgraded in new, 1 of kernel 4 already")
	}
}

package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
)

// service has four DOIs: one as it should be, one moved, one hidden and one that nobody
// wants.
func service(t *testing.T, behaviour datacitetest.Behaviour) *datacitetest.Server {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour})
	t.Cleanup(srv.Close)
	record, err := os.ReadFile("../../testdata/records/minimal.xml")
	require.NoError(t, err)
	for name, address := range map[string]string{"right": "right", "moved": "old", "hidden": "hidden", "extra": "extra"} {
		_, err := srv.MDS().Register(t.Context(), "10.5072/"+name, "https://repo.example.org/"+address, mds.XML(record))
		require.NoError(t, err)
	}
	require.NoError(t, srv.MDS().Hide(t.Context(), "10.5072/hidden"))
	return srv
}

const table = `DOI,url,state
10.5072/right,https://repo.example.org/right,findable
10.5072/MOVED,https://repo.example.org/moved,findable
10.5072/hidden,https://repo.example.org/hidden,findable
10.5072/missing,https://repo.example.org/missing,findable
`

func file(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// call runs the program, and answers with what it is told.
func call(t *testing.T, srv *datacitetest.Server, answer string, args ...string) (out, notes string, err error) {
	var o, n bytes.Buffer
	env := map[string]string{"DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": datacitetest.Password}
	args = append([]string{"-api", srv.URL, "-prefix", "10.5072", "-rate", "100000"}, args...)
	err = run(t.Context(), args, program{getenv: func(name string) string { return env[name] }, in: strings.NewReader(answer), out: &o, notes: &n})
	return o.String(), n.String(), err
}

func TestAuditAndFix(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(behaviour), func(t *testing.T) {
			srv := service(t, behaviour)
			source := file(t, "own.csv", table)
			out, notes, err := call(t, srv, "", source)
			require.ErrorIs(t, err, errDiffers)
			assert.Equal(t, `kind,doi,path,wanted,found,reason
extra,10.5072/extra,,,,
changed,10.5072/hidden,state,findable,registered,
missing,10.5072/missing,,,,
changed,10.5072/moved,url,https://repo.example.org/moved,https://repo.example.org/old,
`, out)
			assert.Equal(t, "     1 missing\n     1 extra\n     2 changed\n", notes)

			_, notes, err = call(t, srv, "no\n", "-fix", source)
			require.ErrorIs(t, err, errDiffers)
			assert.Contains(t, notes, "Write 3 DOIs? Type yes: nothing was written")
			assert.Equal(t, datacitetest.StateRegistered, srv.State("10.5072/hidden"))

			_, notes, err = call(t, srv, "yes\n", "-fix", "-only", "url", source)
			require.NoError(t, err)
			assert.Contains(t, notes, "1 repaired, 0 left")
			record, err := srv.DOIs().Get(t.Context(), "10.5072/moved", nil)
			require.NoError(t, err)
			assert.Equal(t, "https://repo.example.org/moved", record.URL)
			assert.Equal(t, datacitetest.StateRegistered, srv.State("10.5072/hidden"), "that was not chosen")

			_, notes, err = call(t, srv, "", "-fix", "-yes", "-only", "state,missing", source)
			require.ErrorIs(t, err, errDiffers, "a DOI without metadata cannot be made findable")
			assert.Contains(t, notes, "10.5072/missing is left: ")
			assert.Equal(t, datacitetest.StateFindable, srv.State("10.5072/hidden"))

			_, notes, err = call(t, srv, "", "-only", "url,state,metadata", source)
			require.NoError(t, err)
			assert.Equal(t, "nothing differs\n", notes)
		})
	}
}

// Each kind of source says the same.
func TestSources(t *testing.T) {
	srv := service(t, datacitetest.Documented)
	var harvested strings.Builder
	folder := t.TempDir()
	for _, name := range []string{"right", "moved", "extra"} {
		record, err := srv.DOIs().Get(t.Context(), "10.5072/"+name, &dois.GetOptions{Affiliation: true, Publisher: true})
		require.NoError(t, err)
		fmt.Fprintf(&harvested, "%s\n", bytes.ReplaceAll(record.Raw, []byte("/old"), []byte("/moved")))
		xml, err := srv.DOIs().XML(t.Context(), "10.5072/"+name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".xml"), bytes.ReplaceAll(xml, []byte("Glacier length"), []byte("Glacier lengths")), 0o600))
	}
	out, _, err := call(t, srv, "", "-format", "table", file(t, "own.jsonl", harvested.String()))
	require.ErrorIs(t, err, errDiffers)
	assert.Equal(t, `extra      10.5072/hidden
changed    10.5072/moved                  url                  "https://repo.example.org/moved" is wanted, "https://repo.example.org/old" was found
`, out)
	out, _, err = call(t, srv, "", "-format", "jsonl", "-only", "metadata", folder)
	require.ErrorIs(t, err, errDiffers)
	assert.Equal(t, 3, strings.Count(out, "\n"))
	assert.Contains(t, out, `{"kind":"changed","doi":"10.5072/right","path":"titles[0].title","wanted":"Glacier lengths","found":"Glacier length"}`)
}

// What -only leaves out is not written, also of a DOI that is repaired.
func TestFixWritesOnlyWhatIsChosen(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	own := `{"doi":"10.5072/hidden","url":"https://repo.example.org/new","state":"findable","titles":[{"title":"Another title"}]}`
	out, notes, err := call(t, srv, "", "-fix", "-yes", "-only", "url", file(t, "own.jsonl", own))
	require.NoError(t, err, notes)
	assert.Equal(t, 2, strings.Count(out, "\n"), "the header and the URL")
	record, err := srv.DOIs().Get(t.Context(), "10.5072/hidden", nil)
	require.NoError(t, err)
	assert.Equal(t, "https://repo.example.org/new", record.URL)
	assert.Equal(t, dois.StateRegistered, record.State)
	assert.Equal(t, "Glacier length", record.Titles[0].Title)

	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/old","url":"https://repo.example.org/old","schemaVersion":"http://datacite.org/schema/kernel-3",
		"creators":[{"name":"Lovelace, Ada"}],"titles":[{"title":"Old"}],"publisher":{"name":"Example"},"publicationYear":2001,"types":{"resourceTypeGeneral":"Dataset"}}`)))
	own = `{"doi":"10.5072/old","url":"https://repo.example.org/new","titles":[{"title":"Another title"}]}`
	_, notes, err = call(t, srv, "", "-fix", "-yes", "-only", "old-schema", file(t, "own.jsonl", own))
	require.NoError(t, err, notes)
	record, err = srv.DOIs().Get(t.Context(), "10.5072/old", nil)
	require.NoError(t, err)
	assert.Equal(t, "http://datacite.org/schema/kernel-4", string(record.SchemaVersion))
	assert.Equal(t, "https://repo.example.org/old", record.URL)
	assert.Equal(t, "Old", record.Titles[0].Title)
}

func TestWrongSources(t *testing.T) {
	srv := service(t, datacitetest.Documented)
	for want, source := range map[string]string{
		"no such file":           "nowhere.csv",
		"must name the column":   file(t, "a.csv", "10.5072/a,https://example.org/\n"),
		"line 3, DOI \"\" is":    file(t, "b.csv", "doi,url\n10.5072/a,https://example.org/\n,https://example.org/\n"),
		"wrong number of field":  file(t, "c.csv", "doi,url\n10.5072/a\n"),
		"the header: EOF":        file(t, "d.csv", ""),
		`line 3, DOI "10.5072/`:  file(t, "e.csv", "doi,url\n10.5072/a,https://example.org/\n10.5072/A,https://example.org/\n"),
		`line 2, State is "Find`: file(t, "f.csv", "doi,state\n10.5072/a,Findable\n"),
		"g.csv: record on line 3; parse error on line 23834, column 1: the row is longer": file(t, "g.csv", "doi,url\n10.5072/a,https://example.org/\n10.5072/b,\""+strings.Repeat("a new line\n", 100_000)),
		"empty": filepath.Dir(file(t, "a.xml", `<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI"></identifier></resource>`)),
	} {
		_, _, err := call(t, srv, "", source)
		assert.ErrorContains(t, err, want)
		assert.NotErrorIs(t, err, errDiffers)
	}
}

func TestFlags(t *testing.T) {
	p := program{getenv: func(string) string { return "" }, out: &bytes.Buffer{}, notes: &bytes.Buffer{}}
	for want, args := range map[string][]string{
		"one SOURCE is needed":         {"-prefix", "10.5072"},
		"-prefix or -client is needed": {"own.csv"},
		`no -format "xml"`:             {"-prefix", "10.5072", "-format", "xml", "own.csv"},
		"-rate is 0":                   {"-prefix", "10.5072", "-rate", "0", "own.csv"},
		"-yes has no effect":           {"-prefix", "10.5072", "-yes", "own.csv"},
		"-fix needs DATACITE_USERNAME": {"-prefix", "10.5072", "-fix", "own.csv"},
		`-only has "all"`:              {"-prefix", "10.5072", "-only", "all", "own.csv"},
		"-client is given and empty":   {"-client", "", "own.csv"},
	} {
		assert.ErrorContains(t, run(t.Context(), args, p), want)
	}
	require.ErrorIs(t, run(t.Context(), []string{"-h"}, p), flag.ErrHelp)
	assert.Contains(t, p.out.(*bytes.Buffer).String(), usage)
}

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/internal/sheet"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
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

const ownTable = `DOI,url,state
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

// folder is one with a file in it.
func folder(t *testing.T, name, file, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Mkdir(path, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(path, file), []byte(text), 0o600))
	return path
}

func gzipped(t *testing.T, text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	require.NoError(t, errors.Join(err, w.Close()))
	return out.String()
}

// call runs the program, and answers with what it is told.
func call(t *testing.T, srv *datacitetest.Server, answer string, args ...string) (out, notes string, code int) {
	t.Helper()
	var o, n bytes.Buffer
	env := map[string]string{"DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": datacitetest.Password}
	p := &program.Program{
		Name: "audit", Args: append([]string{"-api", srv.URL, "-prefix", "10.5072", "-rate", "100000"}, args...),
		Getenv: func(name string) string { return env[name] }, Stdin: strings.NewReader(answer), Stdout: &o, Stderr: &n,
	}
	code = p.Run(t.Context(), run)
	return o.String(), n.String(), code
}

func TestAuditAndFix(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(behaviour), func(t *testing.T) {
			srv := service(t, behaviour)
			source := file(t, "own.csv", ownTable)
			out, notes, code := call(t, srv, "", "-format", "csv", source)
			assert.Equal(t, program.ExitNotAllDone, code)
			assert.Equal(t, `kind,doi,path,wanted,found,reason,title,url,state
extra,10.5072/extra,,,,,Glacier length,https://repo.example.org/extra,findable
changed,10.5072/hidden,state,findable,registered,,Glacier length,https://repo.example.org/hidden,registered
missing,10.5072/missing,,,,,,https://repo.example.org/missing,findable
changed,10.5072/moved,url,https://repo.example.org/moved,https://repo.example.org/old,,Glacier length,https://repo.example.org/old,findable
`, out)
			assert.Contains(t, notes, "      1 missing\n      2 changed\n      1 extra\n")
			assert.Regexp(t, `what was made or changed after \d\d:\d\d:\d\d may be missing: the list of the service lags behind`, notes)
			assert.True(t, strings.HasSuffix(notes, "audit: 4 DOIs wanted and 4 DOIs at the service: 4 differences\n"), notes)

			out, notes, code = call(t, srv, "no\n", "-fix", source)
			assert.Equal(t, program.ExitNotAllDone, code)
			assert.Contains(t, notes, "Write 3 DOIs? Type yes: nothing was written")
			assert.Contains(t, notes, `changed    10.5072/moved                    url: "https://repo.example.org/old", should be "https://repo.example.org/moved"`)
			assert.Empty(t, out)
			assert.Equal(t, datacitetest.StateRegistered, srv.State("10.5072/hidden"))

			out, notes, code = call(t, srv, "yes\n", "-fix", "-only", "url", source)
			assert.Equal(t, program.ExitDone, code, notes)
			assert.Equal(t, "changed    10.5072/moved                    repaired   url: \"https://repo.example.org/old\", should be \"https://repo.example.org/moved\"\n", out)
			assert.Contains(t, notes, "1 DOI repaired, 0 failed, 0 left")
			record, err := srv.DOIs().Get(t.Context(), "10.5072/moved", nil)
			require.NoError(t, err)
			assert.Equal(t, "https://repo.example.org/moved", record.URL)
			assert.Equal(t, datacitetest.StateRegistered, srv.State("10.5072/hidden"), "that was not chosen")

			out, notes, code = call(t, srv, "", "-fix", "-yes", "-format", "csv", "-only", "state,missing,extra", source)
			assert.Equal(t, program.ExitNotAllDone, code, "a DOI without metadata cannot be made findable")
			assert.Contains(t, out, "kind,doi,path,wanted,found,reason,title,url,state,result,error\n")
			assert.Contains(t, out, "changed,10.5072/hidden,state,findable,registered,,Glacier length,https://repo.example.org/hidden,registered,repaired,\n")
			assert.Contains(t, out, "missing,10.5072/missing,,,,,,https://repo.example.org/missing,findable,failed,")
			assert.Contains(t, out, "extra,10.5072/extra,,,,,Glacier length,https://repo.example.org/extra,findable,left,\n")
			assert.Contains(t, notes, ": 1 DOI repaired, 1 failed, 1 left for you to decide\n")
			assert.Equal(t, datacitetest.StateFindable, srv.State("10.5072/hidden"))

			out, notes, code = call(t, srv, "", "-quiet", "-fix", "-yes", "-only", "missing", source)
			assert.Equal(t, program.ExitNotAllDone, code)
			assert.Empty(t, out)
			assert.Contains(t, notes, "10.5072/missing: missing: failed: ")

			out, notes, code = call(t, srv, "", "-only", "url,state,metadata", source)
			assert.Equal(t, program.ExitDone, code)
			assert.Empty(t, out)
			assert.Contains(t, notes, "nothing differs\n")
		})
	}
}

// The table that datacite register takes: titles are compared, and missing DOIs are made. What it
// has no column for stays, such as contributors and the second title.
func TestTable(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed})
	t.Cleanup(srv.Close)
	record := `"publisher":{"name":"Example Repository"},"publicationYear":2026,"types":{"resourceTypeGeneral":"Dataset","resourceType":"Table"},
		"creators":[{"name":"Lovelace, Ada","givenName":"Ada","familyName":"Lovelace","nameType":"Personal",
			"nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001-5727-2427","nameIdentifierScheme":"ORCID","schemeUri":"https://orcid.org"}]}],
		"contributors":[{"name":"Example Institute","nameType":"Organizational","contributorType":"HostingInstitution"}],
		"subjects":[{"subject":"glaciers"}],"state":"findable","schemaVersion":"http://datacite.org/schema/kernel-4"`
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/same","url":"https://a.example/same","titles":[{"title":"Same"},{"title":"Gleich","titleType":"TranslatedTitle"}],`+record+`}`)))
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/other","url":"https://a.example/other","titles":[{"title":"Othre"},{"title":"Anders","titleType":"TranslatedTitle"}],`+record+`}`)))
	own := file(t, "items.registered.csv", strings.ReplaceAll("\ufeff"+`doi;url;state;title;creators;publisher;year;type;subjects;result;error;registered
10.5072/same;https://a.example/same;findable;Same;Lovelace, Ada;Example Repository;2026;Dataset;;created;;x
10.5072/other;https://a.example/other;findable;Other;Lovelace, Ada;Example Repository;2026;Dataset;;created;;x
10.5072/new;https://a.example/new;findable;New;Lovelace, Ada;Example Repository;2026;Dataset;glaciers;failed;;
10.5072/draft;https://a.example/draft;;Draft;Lovelace, Ada;Example Repository;2026;Dataset;;;;
`, "\n", "\r\n"))
	out, notes, code := call(t, srv, "", "-format", "csv", "-fix", "-yes", own)
	assert.Equal(t, program.ExitDone, code, notes)
	told := strings.SplitAfter(out, "\n")
	slices.Sort(told[1:]) // DOIs are repaired side by side
	assert.Equal(t, `kind,doi,path,wanted,found,reason,title,url,state,result,error
changed,10.5072/other,titles[0].title,Other,Othre,,Othre,https://a.example/other,findable,repaired,
missing,10.5072/draft,,,,,Draft,https://a.example/draft,draft,repaired,
missing,10.5072/new,,,,,New,https://a.example/new,findable,repaired,
`, strings.Join(told, ""))
	assert.Equal(t, datacitetest.StateFindable, srv.State("10.5072/new"))
	assert.Equal(t, datacitetest.StateDraft, srv.State("10.5072/draft"))
	other, err := srv.DOIs().Get(t.Context(), "10.5072/other", nil)
	require.NoError(t, err)
	assert.Equal(t, metadata.List[metadata.Title]{{Title: "Other"}, {Title: "Anders", TitleType: metadata.TitleTranslated}}, other.Titles)
	assert.Len(t, other.Contributors, 1)
	assert.Len(t, other.Creators[0].NameIdentifiers, 1)
	assert.EqualValues(t, "Table", other.Types.ResourceType)
	_, notes, code = call(t, srv, "", own)
	assert.Equal(t, program.ExitDone, code, notes)
}

// Thousands of DOIs that are not in the source are listed, and not read one by one.
func TestThousandsOfExtraDOIsAreListedAndNotRead(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	t.Cleanup(srv.Close)
	for i := range 2500 {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/e%04d","url":"https://a.example/%[1]d","titles":[{"title":"Item %[1]d"}]}`, i)))
	}
	own := file(t, "own.csv", "doi,url\n10.5072/e0000,https://a.example/0\n10.5072/e0001,https://a.example/moved\n")
	for _, only := range []string{"url,missing,extra", "missing,extra,url,invalid,old-schema"} {
		before := len(srv.Requests())
		out, notes, code := call(t, srv, "", "-format", "jsonl", "-only", only, own)
		assert.Equal(t, program.ExitNotAllDone, code, notes)
		assert.Contains(t, out, `{"kind":"extra","doi":"10.5072/e2499","title":"Item 2499","url":"https://a.example/2499","state":"findable"}`)
		assert.LessOrEqual(t, len(srv.Requests())-before, 6)
	}
}

func TestPage(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	source, name := file(t, "own.csv", ownTable), filepath.Join(t.TempDir(), "report.html")
	read := func() string {
		html, err := os.ReadFile(name)
		require.NoError(t, err)
		page := string(html)
		for _, absent := range []string{"<script", "ZgotmplZ", "%!", "src=", "@import"} {
			assert.NotContains(t, page, absent, "it stands for itself, and runs nothing")
		}
		return page
	}
	_, notes, code := call(t, srv, "", "-html", name, source)
	assert.Equal(t, program.ExitNotAllDone, code)
	assert.Contains(t, notes, name+" is written\n")
	page := read()
	for _, part := range []string{
		"<b>4</b> differences", "<b>2</b> different", "Audit of 10.5072", "compared with own.csv", "UTC may be missing here",
		`<td class="doi"><a href="https://doi.org/10.5072/moved">10.5072/moved</a><td class="title">Glacier length<td class="what">URL` +
			`<td class="side wanted" data-label="Should be">https://repo.example.org/moved<td class="side found" data-label="Is">https://repo.example.org/old`,
		`<td class="title">Glacier length<td class="url" data-label="URL">https://repo.example.org/extra<td data-label="State">findable`,
	} {
		assert.Contains(t, page, part)
	}
	_, _, code = call(t, srv, "", "-fix", "-yes", "-html", name, source)
	assert.Equal(t, program.ExitNotAllDone, code)
	page = read()
	for _, part := range []string{"<b>2</b> DOIs repaired", "<b>1</b> failed", "<b>1</b> left for a person", `<span class="done">repaired</span>`, `<span class="differs">failed</span>: `} {
		assert.Contains(t, page, part)
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	_, notes, code = call(t, srv, "", "-html", filepath.Join(t.TempDir(), "none", "report.html"), source)
	assert.Equal(t, program.ExitWrong, code, notes)
}

// The service sends & in metadata as &amp;; people read what they wrote.
func TestAmpersand(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	t.Cleanup(srv.Close)
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/a","url":"https://a.example/?a=1&amp;b=2","titles":[{"title":"Ice &amp; snow"}]}`)))
	source := file(t, "own.jsonl", `{"doi":"10.5072/a","url":"https://a.example/?a=1&b=2","titles":[{"title":"Ice & rain"}]}`)
	name := filepath.Join(t.TempDir(), "report.html")
	out, _, code := call(t, srv, "", "-only", "url,metadata", "-html", name, source)
	assert.Equal(t, program.ExitNotAllDone, code)
	assert.Contains(t, out, `titles[0].title: "Ice & snow", should be "Ice & rain"`)
	assert.Contains(t, out, `url: "https://a.example/?a=1&amp;b=2", should be "https://a.example/?a=1&b=2"`, "in a URL it is a fault")
	html, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(html), `data-label="Is">Ice &amp; snow`)
	assert.NotContains(t, string(html), "Ice &amp;amp; snow")
}

func TestOutcomes(t *testing.T) {
	changed := &dois.Difference{DOI: "10.5072/a", Kind: dois.Changed}
	for want, r := range map[outcome]*dois.Repaired{
		{Result: repaired}:                    {Difference: changed, Changed: true},
		{Result: asWanted}:                    {Difference: changed},
		{left, "interrupted"}:                 {Difference: changed, Err: context.Canceled},
		{left, "10.5072/a is findable"}:       {Difference: changed, Err: fmt.Errorf("%w: 10.5072/a is findable", dois.ErrNoRepair)},
		{left, datacite.ErrConflict.Error()}:  {Difference: changed, Err: datacite.ErrConflict},
		{failed, datacite.ErrUnclear.Error()}: {Difference: changed, Err: datacite.ErrUnclear},
		{failed, dois.ErrNoRepair.Error()}:    {Difference: changed, Changed: true, Err: dois.ErrNoRepair},
	} {
		assert.Equal(t, want, outcomeOf(r))
	}
}

func TestPartsInWords(t *testing.T) {
	for path, words := range map[string]string{
		"url": "URL", "titles[0].title": "title", "titles[1].title": "title 2", "creators[0].name": "creator 1", "creators[1].nameIdentifiers[0].nameIdentifier": "creator 2, nameIdentifiers[0].nameIdentifier",
		"publicationYear": "year", "types.resourceTypeGeneral": "type", "publisher.name": "publisher", "version": "version",
	} {
		assert.Equal(t, words, part(path))
	}
}

// Each kind of source says the same.
func TestSources(t *testing.T) {
	srv := service(t, datacitetest.Documented)
	var harvested strings.Builder
	folder := t.TempDir()
	for _, name := range []string{"right", "moved", "extra"} {
		record, err := srv.DOIs().Get(t.Context(), "10.5072/"+name, nil)
		require.NoError(t, err)
		fmt.Fprintf(&harvested, "%s\n", bytes.ReplaceAll(record.Raw, []byte("/old"), []byte("/moved")))
		detailed, err := srv.DOIs().Get(t.Context(), "10.5072/"+name, &dois.GetOptions{Detail: true})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".xml"), bytes.ReplaceAll(detailed.MetadataXML, []byte("Glacier length"), []byte("Glacier lengths")), 0o600))
	}
	out, _, code := call(t, srv, "", file(t, "own.jsonl", harvested.String()))
	assert.Equal(t, program.ExitNotAllDone, code)
	assert.Equal(t, `extra      10.5072/hidden                   registered https://repo.example.org/hidden  "Glacier length"
changed    10.5072/moved                    url: "https://repo.example.org/old", should be "https://repo.example.org/moved"
`, out)
	out, _, code = call(t, srv, "", "-format", "jsonl", "-only", "metadata", folder)
	assert.Equal(t, program.ExitNotAllDone, code)
	assert.Equal(t, 3, strings.Count(out, "\n"))
	assert.Contains(t, out, `{"kind":"changed","doi":"10.5072/right","path":"titles[0].title","wanted":"Glacier lengths","found":"Glacier length","title":"Glacier length",`)
}

// What -only leaves out is not written, also of a DOI that is repaired.
func TestFixWritesOnlyWhatIsChosen(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	own := `{"doi":"10.5072/hidden","url":"https://repo.example.org/new","state":"findable","titles":[{"title":"Another title"}]}`
	out, notes, code := call(t, srv, "", "-fix", "-yes", "-only", "url", file(t, "own.jsonl", own))
	require.Equal(t, program.ExitDone, code, notes)
	assert.Equal(t, 1, strings.Count(out, "\n"), "the URL")
	record, err := srv.DOIs().Get(t.Context(), "10.5072/hidden", nil)
	require.NoError(t, err)
	assert.Equal(t, "https://repo.example.org/new", record.URL)
	assert.Equal(t, dois.StateRegistered, record.State)
	assert.Equal(t, "Glacier length", record.Titles[0].Title)

	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/old","url":"https://repo.example.org/old","schemaVersion":"http://datacite.org/schema/kernel-3",
		"creators":[{"name":"Lovelace, Ada"}],"titles":[{"title":"Old"}],"publisher":{"name":"Example"},"publicationYear":2001,"types":{"resourceTypeGeneral":"Dataset"}}`)))
	own = `{"doi":"10.5072/old","url":"https://repo.example.org/new","titles":[{"title":"Another title"}]}`
	_, notes, code = call(t, srv, "", "-fix", "-yes", "-only", "old-schema", file(t, "own.jsonl", own))
	require.Equal(t, program.ExitDone, code, notes)
	record, err = srv.DOIs().Get(t.Context(), "10.5072/old", nil)
	require.NoError(t, err)
	assert.Equal(t, "http://datacite.org/schema/kernel-4", string(record.SchemaVersion))
	assert.Equal(t, "https://repo.example.org/old", record.URL)
	assert.Equal(t, "Old", record.Titles[0].Title)
}

// What is not in the source is left alone, whatever is wrong with it.
func TestFixLeavesOthersAlone(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	t.Cleanup(srv.Close)
	for _, name := range []string{"old", "mine"} {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/%s","url":"https://a.example/%[1]s","schemaVersion":"http://datacite.org/schema/kernel-3",
			"creators":[{"name":"Lovelace, Ada"}],"titles":[{"title":"Old"}],"publisher":{"name":"Example"},"publicationYear":2001,"types":{"resourceTypeGeneral":"Dataset"}}`, name)))
	}
	out, notes, code := call(t, srv, "", "-fix", "-yes", file(t, "own.csv", "doi,url\n10.5072/mine,https://a.example/mine\n"))
	assert.Equal(t, program.ExitNotAllDone, code)
	assert.Contains(t, out, "old-schema 10.5072/mine                     repaired")
	assert.Contains(t, out, "old-schema 10.5072/old                      left")
	assert.Contains(t, notes, "1 DOI repaired, 0 failed, 1 left")
	old, err := srv.DOIs().Get(t.Context(), "10.5072/old", nil)
	require.NoError(t, err)
	assert.Equal(t, "http://datacite.org/schema/kernel-3", string(old.SchemaVersion))
}

func TestWrongSources(t *testing.T) {
	srv := service(t, datacitetest.Documented)
	before := len(srv.Requests())
	damaged := file(t, "cut.jsonl", `{"doi":"10.5072/a"}`+"\n"+`{"doi":"10.50`)
	for want, source := range map[string]string{
		"no such file": "nowhere.csv",
		damaged + ": archive, line 2, byte 20, after the record 10.5072/a: ": damaged,
		"damaged: archive: b.jsonl, line 1, byte 0: ":                        folder(t, "damaged", "b.jsonl", "{"),
		"cut.xml: ":       folder(t, "documents", "cut.xml", `<resource xmlns="http://datacite.org/schema/kernel-4"><identifier`),
		"cut.gz: archive": file(t, "cut.gz", gzipped(t, `{"doi":"10.5072/a"}`)[:30]),
		`a.csv, line 1, column 1: the column is named "10.5072/a"`:                              file(t, "a.csv", "10.5072/a,https://example.org/\n"),
		"b.csv, line 3: doi: is empty; datacite register":                                       file(t, "b.csv", "doi,url\n10.5072/a,https://example.org/\n,https://example.org/\n"),
		"c.csv, line 2: there are 1 cells":                                                      file(t, "c.csv", "doi,url\n10.5072/a\n"),
		"d.csv: the table is empty":                                                             file(t, "d.csv", ""),
		`e.csv, line 3, DOI: "10.5072/`:                                                         file(t, "e.csv", "doi,url\n10.5072/a,https://example.org/\n10.5072/A,https://example.org/\n"),
		`f.csv, line 2, column 2: state: "published" is not one of draft, registered, findable`: file(t, "f.csv", "doi,state\n10.5072/a,published\n"),
		`g.csv, line 2, column 2: state: "public" is not one of`:                                file(t, "g.csv", "doi;state\n10.5072/a;public\n"),
		`State: is "public"; the states are`:                                                    file(t, "g.jsonl", `{"doi":"10.5072/a","state":"public"}`),
		"h.csv, line 23834, column 1: the row is longer":                                        file(t, "h.csv", "doi,url\n10.5072/a,https://example.org/\n10.5072/b,\""+strings.Repeat("a new line\n", 100_000)),
		`i.csv, line 2, column 42: the text is not UTF-8; save the table again as "CSV UTF-8"`:  file(t, "i.csv", "doi,url,title,creators,publisher,year,type\n10.5072/moved,https://example.org/moved,M\xfcller,\"Lovelace, Ada\",P,2026,Dataset\n"),
		`did you mean "title"?`:                                                                 file(t, "j.csv", "doi,tilte\n"),
		"k.xlsx: the spreadsheet cannot be read":                                                file(t, "k.xlsx", "PK\x03\x04"),
		"has no column doi":                                                                     file(t, "l.csv", "url\nhttps://example.org/\n"),
		"empty":                                                                                 filepath.Dir(file(t, "a.xml", `<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI"></identifier></resource>`)),
	} {
		page := filepath.Join(t.TempDir(), "report.html")
		out, notes, code := call(t, srv, "", "-fix", "-yes", "-html", page, source)
		assert.NoFileExists(t, page)
		assert.Contains(t, notes, want)
		assert.Equal(t, program.ExitWrong, code, notes)
		assert.NotContains(t, out, "repaired")
	}
	for _, r := range srv.Requests()[before:] {
		assert.Equal(t, "/dois/get-dois", r.Path, "only the login was checked: nothing was read, and nothing written")
	}
}

// A table for an audit has the columns that its owner has, and says what it says.
func TestTablesOfAFewColumns(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := service(t, behaviour)
		source := file(t, "own.csv", "DOI,title,Notes,shelf\n10.5072/right,Glacier width,look again,7\n10.5072/moved,Glacier length,,\n10.5072/hidden,,lost,\n")
		_, notes, code := call(t, srv, "", source)
		assert.Equal(t, program.ExitWrong, code)
		assert.Contains(t, notes, `own.csv, line 1, column 3: the column is named "notes"; did you mean "dates"?`)
		assert.Contains(t, notes, `own.csv, line 1, column 4: the column is named "shelf", which is not one of doi`)
		assert.Contains(t, notes, "-pass-over names columns that are not compared")

		out, notes, code := call(t, srv, "", "-pass-over", "Notes, shelf", "-only", "missing,url,state,metadata", "-fix", "-yes", source)
		assert.Equal(t, program.ExitDone, code, notes)
		assert.Equal(t, `changed    10.5072/right                    repaired   titles[0].title: "Glacier length", should be "Glacier width"`+"\n", out)
		record, err := srv.DOIs().Get(t.Context(), "10.5072/right", nil)
		require.NoError(t, err)
		assert.Equal(t, "Glacier width", record.Titles[0].Title)
		assert.NotEmpty(t, record.Creators)
		_, notes, code = call(t, srv, "", "-pass-over", "notes,shelf,title", "-only", "metadata", source)
		assert.Equal(t, program.ExitDone, code, notes)
	}
}

// A spreadsheet says the same as a table in CSV, a stranger's title is no formula, and what a
// damaged one has is not compared.
func TestSpreadsheets(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	rows := [][]string{{"doi", "title", "url"}, {"10.5072/right", "=1+1", ""}, {"10.5072/moved", "Glacier length", "https://repo.example.org/moved"}}
	var book, text bytes.Buffer
	w, err := sheet.NewWriter(&book)
	require.NoError(t, err)
	c := sheet.NewCSVWriter(&text)
	for _, row := range rows {
		require.NoError(t, errors.Join(w.Write(row), c.Write(row)))
	}
	c.Flush()
	require.NoError(t, errors.Join(w.Close(), c.Error()))
	args := []string{"-format", "csv", "-only", "missing,url,state,metadata"}
	out, notes, code := call(t, srv, "", append(args, file(t, "own.xlsx", book.String()))...)
	assert.Equal(t, program.ExitNotAllDone, code, notes)
	assert.Contains(t, out, "changed,10.5072/moved,url,https://repo.example.org/moved,https://repo.example.org/old,")
	assert.Contains(t, out, "changed,10.5072/right,titles[0].title,'=1+1,Glacier length,")
	assert.Contains(t, notes, "1 cell could be taken for a formula by a spreadsheet, and got an apostrophe in front")
	same, _, _ := call(t, srv, "", append(args, file(t, "own.csv", text.String()))...)
	assert.Equal(t, out, same)
	for _, size := range []int{30, book.Len() / 2, book.Len() - 10} {
		damaged := file(t, "cut.xlsx", book.String()[:size])
		out, notes, code := call(t, srv, "", "-fix", "-yes", damaged)
		assert.Equal(t, program.ExitWrong, code)
		assert.Contains(t, notes, "cut.xlsx: the spreadsheet cannot be read")
		assert.Empty(t, out)
	}
}

func TestFlags(t *testing.T) {
	for want, args := range map[string]string{
		"one SOURCE is needed":         "-prefix 10.5072",
		"-prefix or -client is needed": "own.csv",
		`-format "xml" is not one of`:  "-prefix 10.5072 -format xml own.csv",
		"-rate is 0":                   "-prefix 10.5072 -rate 0 own.csv",
		"-yes has no effect":           "-prefix 10.5072 -yes own.csv",
		"-fix needs DATACITE_USERNAME": "-prefix 10.5072 -fix own.csv",
		"with -quiet, give -yes":       "-prefix 10.5072 -fix -quiet own.csv",
		`-only has "all"`:              "-prefix 10.5072 -only all own.csv",
	} {
		var notes bytes.Buffer
		p := &program.Program{Name: "audit", Args: strings.Fields(args), Getenv: func(string) string { return "" }, Stdout: &bytes.Buffer{}, Stderr: &notes}
		assert.Equal(t, program.ExitWrong, p.Run(t.Context(), run))
		assert.Contains(t, notes.String(), want)
	}
}

// An interrupted repair tells what was repaired, on the page, too.
func TestInterrupt(t *testing.T) {
	srv := service(t, datacitetest.Documented)
	ctx, interrupt := context.WithCancel(t.Context())
	var out, notes bytes.Buffer
	name := filepath.Join(t.TempDir(), "report.html")
	p := &program.Program{
		Name: "audit", Args: []string{"-api", srv.URL, "-prefix", "10.5072", "-rate", "1000", "-fix", "-yes", "-html", name, file(t, "own.csv", ownTable)},
		Getenv: func(name string) string {
			return map[string]string{"DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": datacitetest.Password}[name]
		},
		Stdout: writer(func(text []byte) (int, error) { interrupt(); return out.Write(text) }), Stderr: &notes,
	}
	assert.Equal(t, program.ExitNotAllDone, p.Run(ctx, run))
	assert.Contains(t, notes.String(), "audit: interrupted\n")
	assert.Contains(t, notes.String(), "the same call goes on with the rest\n")
	html, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(html), "The repair was interrupted or failed.")
}

type writer func([]byte) (int, error)

func (w writer) Write(text []byte) (int, error) { return w(text) }

// Names and logins that are wrong are errors, although the service then shows what everybody
// may see, which may be all that is wanted.
func TestWrongNamesAndLogins(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	source := file(t, "own.csv", "doi,url\n10.5072/right,https://repo.example.org/right\n")
	before := len(srv.Requests())
	_, notes, code := call(t, srv, "", "-client", "exmple.repo", source)
	assert.Len(t, srv.Requests(), before+2, "the login and the list: no row was read")
	assert.Equal(t, program.ExitWrong, code)
	assert.True(t, strings.HasSuffix(notes, ": the service lists no DOI of exmple.repo, 10.5072; is the name right?\n"), notes)
	page := filepath.Join(t.TempDir(), "report.html")
	_, notes, code = call(t, srv, "", "-prefix", "10.5073", "-html", page, source)
	assert.Equal(t, program.ExitWrong, code)
	assert.Contains(t, notes, "the service lists no DOI of 10.5073; is the name right?")
	assert.NoFileExists(t, page)
	_, notes, code = call(t, srv, "", "-prefix", "10.5073", "-fix", "-yes", source)
	assert.Equal(t, program.ExitDone, code)
	assert.Contains(t, notes, "the service lists no DOI of 10.5073; is the name right?")

	for _, more := range [][]string{{source}, {"-fix", "-yes", source}} {
		var out, notes bytes.Buffer
		env := map[string]string{"DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": "wrong"}
		p := &program.Program{
			Name: "audit", Args: append([]string{"-api", srv.URL, "-prefix", "10.5072"}, more...),
			Getenv: func(name string) string { return env[name] }, Stdout: &out, Stderr: &notes,
		}
		assert.Equal(t, program.ExitWrong, p.Run(t.Context(), run))
		assert.True(t, strings.HasPrefix(notes.String(), "audit: the service refuses the login; check DATACITE_USERNAME and DATACITE_PASSWORD: "), notes.String())
		assert.Empty(t, out.String())
	}
}

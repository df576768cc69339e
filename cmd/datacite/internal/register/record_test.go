package register

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
)

const address = "https://repo.example.org/a"

func TestRecord(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		for _, file := range []string{"record.json", "record.xml"} {
			srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour})
			where := strings.TrimPrefix(srv.URL, "http://")
			for _, change := range []string{"created", "unchanged"} {
				code, out, notes := start(t, srv, "--doi", "10.5072/a", "--url", address, file)
				assert.Zero(t, code, notes)
				assert.Equal(t, "10.5072/a "+change+" at "+where+", now findable, leads to "+address+"\n", out)
			}
			record, err := srv.Record("10.5072/a")
			require.NoError(t, err)
			assert.Equal(t, "Glacier length", record.Titles[0].Title)
		}
	}
	srv := shelltest.Serve(t, nil)
	code, out, notes := start(t, srv, "--quiet", "--url", address, "record.xml", "--doi", "10.5072/a")
	assert.Zero(t, code)
	assert.Empty(t, out+notes)
	// another format than DataCite's goes to the metadata store
	code, out, notes = start(t, srv, "--url", address, "--doi", "10.5072/glacier-7", shelltest.File(t, "a.bib", bibTeX))
	assert.Zero(t, code, notes)
	assert.Equal(t, 1, strings.Count(out, "10.5072/glacier-7 created at "))
	assert.Equal(t, 1, strings.Count(out, "\n"), "it is not sent to the DOI API, too: %s", out)
	assert.Contains(t, notes, "a.bib: this format has no identifiers and affiliations of people")
	code, out, notes = shelltest.Run{}.Do(t, quick, "register", "--dry-run", "--service", "test", "--doi", "10.5072/a",
		"--url", address, "record.json")
	require.Zero(t, code, notes)
	assert.True(t, strings.HasPrefix(out,
		"10.5072/a would become findable at test (api.test.datacite.org), and lead to "+address+
			", with these metadata; nothing was sent\n<?xml"), out)
	assert.Contains(t, out, "<title>Glacier length</title>")
	assert.Empty(t, notes)
}

// Records in all forms in which the service writes JSON, and of several files.
func TestManyRecords(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	record := shelltest.Read(t, "record.json")
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, record))
	of := func(name string) string {
		return strings.Replace(compact.String(), "{", `{"doi":"10.5072/`+name+`","url":"https://a.example/`+name+`",`, 1)
	}
	folder := t.TempDir()
	lines, page := filepath.Join(folder, "lines.jsonl"), filepath.Join(folder, "page.json")
	require.NoError(t, os.WriteFile(lines, []byte(of("a")+"\n"+strings.Replace(of("b"), "{", `{"state":"draft",`, 1)+"\n"),
		0o600))
	require.NoError(t, os.WriteFile(page,
		[]byte(`[{"data":[{"id":"10.5072/c","attributes":`+of("c")+`}],"meta":{}},[`+of("d")+`]]`), 0o600))
	result := filepath.Join(folder, "results.csv")
	for _, change := range []string{"created", "unchanged"} {
		code, out, notes := start(t, srv, lines, page)
		require.Zero(t, code, notes)
		assert.Equal(t, 4, strings.Count(out, " "+change+" at "), out)
		assert.Contains(t, out, "4 records at ")
	}
	for name, state := range map[string]string{"a": "findable", "b": "draft", "c": "findable", "d": "findable"} {
		assert.Equal(t, state, string(srv.State("10.5072/"+name)))
	}
	// With a table of results, a second run sends nothing.
	for _, requests := range []int{4, 0} {
		before := len(srv.Requests())
		code, _, notes := start(t, srv, lines, page, "-o", result)
		require.Zero(t, code, notes)
		assert.Equal(t, requests, len(srv.Requests())-before)
	}
	assert.Equal(t, lines+", record 2", read(t, result)[1]["file"])

	// XML names no address; it is made of the name.
	xml := shelltest.Read(t, "record.xml")
	for _, name := range []string{"x1", "x2"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".xml"),
			bytes.Replace(xml, []byte(`identifierType="DOI">`), []byte(`identifierType="DOI">10.5072/`+name), 1), 0o600))
	}
	code, _, notes := start(t, srv, filepath.Join(folder, "x1.xml"), filepath.Join(folder, "x2.xml"), "--url",
		"https://repo.example.org/{suffix}?file={file}")
	require.Zero(t, code, notes)
	found, err := srv.Record("10.5072/x2")
	require.NoError(t, err)
	assert.Equal(t, "https://repo.example.org/x2?file=x2", found.URL)

	code, _, notes = start(t, srv, filepath.Join(folder, "x1.xml"), "record.xml", "--url",
		"https://repo.example.org/{file}", "--prefix", "10.5072")
	assert.Zero(t, code, notes)
	code, _, notes = start(t, srv, "record.json", "record.xml", "--url", "https://repo.example.org/{file}{file}",
		"--prefix", "10.5072")
	assert.Equal(t, 2, code)
	assert.Contains(t, notes, "rows with the same URL need a DOI each")
}

// A name that was made is shown before it is used, and waited for.
func TestWait(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	resolver := httptest.NewServer(http.RedirectHandler("https://a.example/", http.StatusFound))
	defer resolver.Close()
	code, out, notes := start(t, srv, "--wait", "--resolver", resolver.URL, "--prefix", "10.5072", "--url",
		"https://a.example/", "record.xml")
	assert.Zero(t, code, notes)
	assert.Regexp(t, `^10\.5072/\S+ created at 127\S+, now findable, leads to \S+\n10\.5072/\S+ resolves at `+resolver.URL+
		"\n$", out)
	assert.Regexp(t, `^registering 10\.5072/\S+\n$`, notes)
}

// Where nothing can be waited for, nothing is sent.
func TestWaitNeedsAResolver(t *testing.T) {
	requests := 0
	store := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer store.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	for _, tt := range []struct {
		resolver []string
		code     int
		says     string
	}{
		{nil, 2, "--wait needs --resolver: where the DOIs of " + strings.TrimPrefix(store.URL,
			"http://") + " resolve is not known"},
		{[]string{"--resolver", closed.URL}, 3, "--wait: the resolver cannot be asked, and nothing was sent: "},
		{[]string{"--resolver", store.URL}, 3, "is neither a redirect nor 404"},
	} {
		before := requests
		run := shelltest.Run{Env: map[string]string{"DATACITE_USERNAME": "A", "DATACITE_PASSWORD": "b",
			"DATACITE_SERVICE": store.URL}}
		code, _, notes := run.Do(t, quick,
			append([]string{"register", "--wait", "--doi", "10.5072/a", "--url", "https://a.example/", "record.xml"},
				tt.resolver...)...)
		assert.Contains(t, notes, tt.says)
		assert.Equal(t, tt.code, code)
		assert.LessOrEqual(t, requests-before, 1, "the look at the resolver")
	}
}

// TestWhatIsLostIsNamed has members that nobody knows on all levels, and the odd
// forms that the service itself writes, of which nothing is lost.
func TestWhatIsLostIsNamed(t *testing.T) {
	for _, tt := range []struct {
		name, member string
		lost         []string
	}{
		{"none", `"language":"en"`, nil},
		{"at the top", `"titel":"x"`, []string{"titel"}},
		{"in another case", `"Sizes":["1"]`, []string{"Sizes"}},
		{"the service's own", `"identifiers":[{"identifier":"a","identifierType":"b"}],"state":"findable","viewCount":3,` +
			`"isActive":true`, nil},
		{"in a list", `"subjects":[{"subject":"ice"},{"subject":"snow","scheme":"x"}]`, []string{"subjects[1].scheme"}},
		{"in a list of a list", `"contributors":[{"name":"A","contributorType":"Editor","affiliation":[{"name":"U",` +
			`"rorId":"x"}]}]`, []string{"contributors[0].affiliation[0].rorId"}},
		{"in a single item", `"subjects":{"subject":"ice","scheme":"x"}`, []string{"subjects.scheme"}},
		{"unreadable", `"geoLocations":[{"geoLocationPlace":"Svalbard","geoLocationBox":{"west":1}}]`,
			[]string{"geoLocations[0].geoLocationBox.west"}},
		{"of nothing", `"titel":null,"subjects":[null],"formats":[],"container":{},"contentUrl":"","version":""`, nil},
		{"an item of nothing", `"subjects":[{},{"subject":"ice"}]`, nil},
		{"a publisher's", `"publisher":{"name":"P","identifier":"x"}`, []string{"publisher.identifier"}},
		{"single items, numbers and texts", `"sizes":"5 MB","version":1,"subjects":"ice","publisher":{"name":"P"}`, nil},
		{"an old polygon", `"geoLocations":[{"geoLocationPolygon":{"polygonPoint":[{"pointLongitude":1,"pointLatitude":2},` +
			`{"pointLongitude":1,"pointLatitude":3},{"pointLongitude":2,"pointLatitude":2},{"pointLongitude":1,` +
			`"pointLatitude":2}]}}]`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const rest = `"creators":[{"name":"Example Group","nameType":"Organizational"}],"titles":[{"title":"Glacier"}],` +
				`"publisher":"P","publicationYear":"2026","types":{"resourceTypeGeneral":"Dataset"}`
			file := shelltest.File(t, "record.json", "{"+rest+","+tt.member+"}")
			code, _, notes := start(t, shelltest.Serve(t, nil), "--doi", "10.5072/a", "--url", "https://a.example/", "--dry-run",
				file)
			require.Zero(t, code, notes)
			var lost []string
			for line := range strings.Lines(notes) {
				if path, ok := strings.CutSuffix(line, ": the value has no place in a record, and is left out\n"); ok {
					lost = append(lost, strings.TrimPrefix(path, "warning: "+file+", record 1: "))
				}
			}
			assert.Equal(t, tt.lost, lost, notes)
		})
	}
}

// What is changed in the text of a good record, and what comes of it: faults stop, and findings are shown.
func TestTextsOfRecords(t *testing.T) {
	for _, tt := range []struct {
		name, from, to, says string // a warning, or with "error: " in front, an error
	}{
		{"record.json", "{", "\ufeff{", ""},
		{"record.xml", "<?xml", "\ufeff<?xml", ""},
		{"record.json", `"publicationYear": 2026,`,
			`"publicationYear": 2026, "dates": [{"date": "soon", "dateType": "Issued"}],`, "dates[0].date: "},
		{"record.json", `"Dataset"`, `"Dataset!"`, "error: types.resourceTypeGeneral: "},
		{"record.json", "2026", "26", "error: year of two digits; write all four"},
		{"record.json", "2026", `"26"`, "error: a year of publication is four digits"},
		{"record.json", "2026", `"0026"`, "error: year of two digits; write all four"},
		{"record.xml", "<resourceType ", `<dates><date dateType="Issued">soon</date></dates><resourceType `,
			"record.xml, line 16, "},
		{"record.xml", "<publicationYear>2026</publicationYear>", "", "error: line "},
		{"record.xml", "2026", "26", "error: year of publication is four digits"},
		{"record.xml", "2026", "0026", "error: year of two digits; write all four"},
	} {
		srv := shelltest.Serve(t, nil)
		file := shelltest.File(t, tt.name, strings.Replace(string(shelltest.Read(t, tt.name)), tt.from, tt.to, 1))
		code, out, notes := start(t, srv, "--doi", "10.5072/a", "--url", address, file)
		says, stops := strings.CutPrefix(tt.says, "error: ")
		assert.Contains(t, notes, says)
		assert.Equal(t, map[bool]int{true: 2, false: 0}[stops], code, "%v: %s", tt, notes)
		if stops {
			assert.Contains(t, notes, "error: "+file)
			assert.Contains(t, notes, "datacite: faults in 1 of 1 record; nothing was sent\n")
			assert.Empty(t, out)
			assert.Empty(t, writesOf(srv))
		} else {
			assert.Equal(t, says != "", strings.Contains(notes, "warning: "+file))
		}
	}
}

// TestTheNameInTheRecord: a DOI is permanent, so it has to be the one that is meant.
func TestTheNameInTheRecord(t *testing.T) {
	for from, to := range map[string]string{`{`: `{"doi":"10.5072/mine",`,
		`identifierType="DOI">`: `identifierType="DOI">10.5072/mine`} {
		name := map[bool]string{true: "record.json", false: "record.xml"}[from == "{"]
		data := shelltest.Read(t, name)
		file := shelltest.File(t, name, strings.Replace(string(data), from, to, 1))
		for _, name := range []string{"10.5072/MINE", "10.5072/yours", ""} {
			args := []string{"--url", "https://a.example/", file}
			if name != "" {
				args = append(args, "--doi", name)
			}
			srv := shelltest.Serve(t, nil)
			code, _, notes := start(t, srv, args...)
			if name != "10.5072/yours" {
				assert.Zero(t, code, notes)
				assert.Equal(t, "findable", srv.State("10.5072/mine"))
				continue
			}
			assert.Equal(t, 2, code)
			assert.Contains(t, notes, "the record names 10.5072/mine, and "+cmp.Or(name,
				"10.5072/")+" would be registered; give --doi 10.5072/mine")
			assert.Empty(t, srv.Requests())
		}
	}
}

// A name, a prefix and an event of a record are obeyed wherever it has them, as DataCite's own schema and guide write
// them, or refused: a DOI is permanent, and a findable one is seen.
func TestWhatARecordSaysOfItsDOI(t *testing.T) {
	const rest = `"url":"https://a.example/","creators":[{"name":"Example ` +
		`Group"}],"titles":[{"title":"Glacier"}],"publisher":"P","publicationYear":2026,` +
		`"types":{"resourceTypeGeneral":"Dataset"}`
	const schema = `"identifiers":[{"identifier":"https://doi.org/10.5072/Mine","identifierType":"DOI"},` +
		`{"identifier":"7","identifierType":"Local"}]`
	for _, tt := range []struct {
		record string
		args   []string
		want   string // the name and its state, or the error
	}{
		{`{` + schema + `,` + rest + `}`, []string{"--prefix", "10.5072"}, "10.5072/mine findable"},
		{`{` + schema + `,` + rest + `}`, []string{"--doi", "10.5072/other"},
			"the record names 10.5072/Mine, and 10.5072/other would be registered"},
		{`{"id":"10.5072/mine",` + rest + `}`, []string{"--prefix", "10.5072"}, "10.5072/mine findable"},
		{`{"id":"https://doi.org/10.5072/mine",` + rest + `}`, []string{"--doi", "10.5072/other"},
			"the record names 10.5072/mine"},
		{`{"data":{"id":"10.5072/mine","type":"dois","attributes":{` + rest + `}}}`, []string{"--prefix", "10.5072"},
			"10.5072/mine findable"},
		{`{"prefix":"10.5072","suffix":"mine",` + rest + `}`, []string{"--prefix", "10.5072"}, "10.5072/mine findable"},
		{`{"id":"17",` + rest + `}`, []string{"--doi", "10.5072/mine"}, "10.5072/mine findable"},
		{`{"doi":"10.5072/MINE",` + schema + `,` + rest + `}`, nil, "10.5072/mine findable"},
		{`{"doi":"10.5072/mine","identifiers":[{"identifier":"10.5072/mine","identifierType":"DOI"},` +
			`{"identifier":"10.5072/b","identifierType":"DOI"}],` + rest + `}`, nil, "10.5072/mine findable"},
		{`{"doi":"10.5072/b",` + schema + `,` + rest + `}`, nil,
			`identifiers[0]: is "10.5072/Mine", and the DOI of the record is "10.5072/b"`},
		{`{"data":{"id":"10.5072/b","type":"dois","attributes":{"doi":"10.5072/mine",` + rest + `}}}`, nil,
			`data.id: is "10.5072/b", and doi is "10.5072/mine"`},
		{`{"doi":"10.5072/mine","id":"10.5072/b",` + rest + `}`, nil, `id: is "10.5072/b", and doi is "10.5072/mine"`},
		{`{"doi":"10.5072/mine","prefix":"10.5072","suffix":"b",` + rest + `}`, nil,
			`prefix and suffix: is "10.5072/b", and doi is "10.5072/mine"`},
		{`{"doi":"10.5072/mine","prefix":"10.5073",` + rest + `}`, nil,
			`prefix: is "10.5073", and the record is 10.5072/mine`},
		{`{"prefix":"10.5073",` + rest + `}`, []string{"--prefix", "10.5072"},
			"prefix: is 10.5073, and the DOI would be below 10.5072"},
		{`{"prefix":"10.5073",` + rest + `}`, []string{"--doi", "10.5072/mine"},
			"prefix: is 10.5073, and the DOI would be below 10.5072"},
		{`{"prefix":"10.5072",` + rest + `}`, nil, "1 record without a DOI; give the --prefix of new ones"},
		{`{"data":{"type":"dois","attributes":{"doi":"10.5072/mine","event":"register",` + rest + `}}}`, nil,
			"10.5072/mine registered"},
		{`{"doi":"10.5072/mine","event":"hide",` + rest + `}`, nil, "10.5072/mine registered"},
		{`{"doi":"10.5072/mine","event":"publish",` + rest + `}`, []string{"--state", "draft"}, "10.5072/mine findable"},
		{`{"doi":"10.5072/mine","event":"","state":"draft",` + rest + `}`, nil, "10.5072/mine draft"},
		{`{"doi":"10.5072/mine","event":"hide","state":"findable",` + rest + `}`, nil,
			`event: is "hide", and state is "findable"`},
		{`{"doi":"10.5072/mine","event":"delete",` + rest + `}`, nil,
			`event: is "delete"; it may be publish, register or hide`},
		{`{"doi":"10.5072/mine","event":{"name":"hide"},` + rest + `}`, nil, "event: is "},
		{`{"doi":"10.5072/mine",` + strings.Replace(rest, "Glacier", "Glaci\xe8r", 1) + `}`, nil,
			"record 1: at byte 112: the text is not UTF-8"},
		{`{"doi":"10.5072/mine",` + strings.Replace(rest, "Glacier", `Glaci\ud800r`, 1) + `}`, nil, "record 1: at byte "},
	} {
		srv := shelltest.Serve(t, nil)
		code, _, notes := start(t, srv, append(tt.args, shelltest.File(t, "record.json", tt.record))...)
		if name, state, ok := strings.Cut(tt.want, " "); ok && strings.HasPrefix(name, "10.") {
			assert.Zero(t, code, "%s: %s", tt.record, notes)
			assert.Equal(t, state, string(srv.State(name)), tt.record)
			assert.Len(t, srv.Names(), 1, tt.record)
			assert.NotContains(t, notes, "no place in a record", tt.record)
			continue
		}
		assert.Equal(t, 2, code, tt.record)
		assert.Contains(t, notes, tt.want, tt.record)
		assert.Empty(t, srv.Requests(), tt.record)
	}
}

// What the service would lose of a record is not written, unless the flag allows it.
func TestAllowLoss(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	file := func(name, members string) string {
		return shelltest.File(t, name, `{"doi":"10.5072/sites","url":"https://a.example/","creators":[{"name":"Ice Group"}],"titles":[{"title":"Sites"}],"publisher":"P",
			"publicationYear":2026,"types":{"resourceTypeGeneral":"Dataset"},`+members+`}`)
	}
	// which no XML can say
	code, _, notes := start(t, srv, file("json.json", `"dates":[{"date":"c. 1850","dateType":"Created"}]`))
	require.Zero(t, code, notes)
	polygon := func(corners ...[2]string) string {
		var points []string
		for _, c := range corners {
			points = append(points, fmt.Sprintf(`{"polygonPoint":{"pointLongitude":%q,"pointLatitude":%q}}`, c[0], c[1]))
		}
		return "[" + strings.Join(points, ",") + "]"
	}
	square := polygon([2]string{"0", "0"}, [2]string{"1", "0"}, [2]string{"1", "1"}, [2]string{"0", "0"})
	places := file("xml.json", `"geoLocations":[{"geoLocationPolygon":[`+square+`,`+square+`]}]`) // which no JSON can say
	before := len(writesOf(srv))
	code, _, notes = start(t, srv, places)
	assert.Equal(t, 2, code, notes)
	const lost = "dates[0].date: would be missing in the JSON\n"
	assert.Contains(t, notes, "the change would lose something else: 10.5072/sites: "+lost)
	assert.Equal(t, before, len(writesOf(srv)))
	code, out, notes := start(t, srv, places, "--allow-loss")
	require.Zero(t, code, notes)
	assert.Contains(t, out, "10.5072/sites updated at ")
	assert.Contains(t, notes, lost, "it is named, too")
	found, err := srv.Record("10.5072/sites")
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(found.MetadataXML), "<geoLocationPolygon>"))
}

func TestInterruptedRecord(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	srv := shelltest.Serve(t, &datacitetest.Options{Faults: func(n int, _ *http.Request) *datacitetest.Fault {
		interrupt()
		return nil
	}})
	run := shelltest.At(srv)
	run.Ctx = ctx
	code, _, notes := run.Do(t, quick, "register", "--doi", "10.5072/a", "--url", "https://a.example/", "record.xml")
	assert.Equal(t, 130, code)
	assert.Equal(t, "datacite: interrupted; 10.5072/a may be registered; run this again with --doi 10.5072/a\n", notes)
}

// A second run without --doi would register another DOI.
func TestAMadeUpNameIsNotLost(t *testing.T) {
	srv := shelltest.Serve(t, &datacitetest.Options{Faults: func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: datacitetest.FaultDropAfter}
	}})
	code, _, notes := start(t, srv, "--prefix", "10.5072", "--url", "https://a.example/", "record.xml")
	assert.Equal(t, 1, code, notes)
	names := srv.Names()
	require.Len(t, names, 1)
	assert.Contains(t, notes, "registering "+names[0]+"\n")
	assert.Contains(t, notes, "; "+names[0]+" may be registered; run this again with --doi "+names[0]+"\n")
}

func TestFaultsOfRecords(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
		return filepath.Join(folder, name)
	}
	odd := file("odd.json", `{"titles":[]}`)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"record.xml", "--doi", "10.5072/a"},
			"error: record.xml: url: is missing; it is where the DOI leads to: give --url\n"},
		{[]string{"--url", address}, "give a file with a record or a table"},
		{[]string{"--quiet", "--prefix", "10.5072", "--url", address, "record.xml"}, "--quiet needs --doi"},
		{[]string{"--doi", "10.5072/glacier-7", "--url", address, file("a.bib", bibTeX), "--state", "draft"},
			"metadata in this format make findable DOIs only"},
		{[]string{"--url", address, "work.go", "--doi", "10.5072/a"}, "in no format that the service accepts"},
		{[]string{"--url", address, odd, "--doi", "10.5072/a"}, "datacite: faults in 1 of 1 record; nothing was sent"},
		{[]string{"--url", "repo.example.org", "record.xml", "--doi", "10.5072/a"}, "does not begin with http://, https:// or ftp://"},
		{[]string{"--url", address, "record.xml", "--prefix", "10.5072", "--doi", "10.5072/a"}, "--prefix has no effect with --doi"},
		{[]string{"--url", address + "{file}", "--wait", "--resolver", "https://doi.org", "record.xml", "record.json"}, "--wait is for a single record"},
		{[]string{"--url", address, "record.xml", "record.json", "--doi", "10.5072/a"}, "--doi is for one record, and there are 2 files"},
		{[]string{"--url", address, "record.xml", "record.json", "--prefix", "10.5072"}, "--url is the same URL for 2 records; write {doi}, {suffix} or {file} into it"},
		{[]string{"--url", address + "{suffix}", "record.xml", "--prefix", "10.5072"}, "doi: --url needs a DOI, and the record has none"},
		{[]string{"--url", address + "{file}", "record.xml", file("other.xml", string(shelltest.Read(t, "record.xml"))), "--prefix", "10.5072"}, "2 records without a DOI; give --output FILE.csv, which keeps the new DOIs"},
		{[]string{"--url", address, file("empty.json", ""), "--doi", "10.5072/a"}, "empty.json is empty"},
		{[]string{"--url", address, file("year.json", `{"publicationYear":"0026"}`), "--doi", "10.5072/a"},
			"year.json, record 1: publicationYear: 26 is a year of two digits; write all four"},
		{[]string{"--url", address, "record.xml"}, "1 record without a DOI; give the --prefix of new ones"},
		{[]string{"--doi", "10.5072/a b", "--url", address, "record.xml"}, "--doi: "},
		{[]string{"--doi", "x", "--url", address, "record.xml"}, `--doi: DOI name: "x" does not start with a prefix`},
		{[]string{"--url", address, file("cut.json", `{"titles":[`), "--doi", "10.5072/a"},
			"cut.json: record 1: unexpected EOF"},
		{[]string{"--pass-over", "a", "record.xml", "--doi", "10.5072/a"}, "--pass-over is for tables"},
		{[]string{"--doi", "10.5072/a", "--url", address,
			file("codemeta.json", `{"@context":"https://w3id.org/codemeta/3.0","type":"SoftwareSourceCode","name":"A",`+
				`"version":"1"}`)}, "codemeta.json, record 1: this is not DataCite's JSON: most of its members have no place in " +
			"a record, such as @context, name, type; datacite get --json"},
		{[]string{"--doi", "10.5072/a", "--url", address,
			file("zenodo.json", `{"title":"A","upload_type":"dataset","access_right":"open","creators":[{"name":"A, `+
				`B"}]}`)}, "this is not DataCite's JSON: "},
		{[]string{"--doi", "10.5072/a", "--url", address,
			file("inveniordm.json", `{"access":{"record":"public"},"files":{"enabled":true},"metadata":{"title":"A"}`+
				`}`)}, "this is not DataCite's JSON: "},
		{[]string{"--doi", "10.5072/a", "--url", address,
			file("ckan.json", `{"name":"a","title":"A","notes":"n","owner_org":"o","resources":[{"url":"https://a.example/"}`+
				`]}`)}, "this is not DataCite's JSON: "},
	} {
		srv := shelltest.Serve(t, nil)
		code, out, notes := start(t, srv, tt.args...)
		assert.Equal(t, 2, code, tt.args)
		assert.Empty(t, out)
		assert.Contains(t, notes, tt.want, tt.args)
		if strings.Contains(tt.want, "not DataCite's JSON") {
			assert.Equal(t, 1, strings.Count(notes, "\n"), "one sentence: %s", notes)
		}
		assert.Empty(t, writesOf(srv), tt.args)
	}
}

// What is changed in a record of the service is written, and a change of the state alone leaves the XML as it is.
func TestARecordThatWasReadAndCorrected(t *testing.T) {
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	name := filepath.Join(t.TempDir(), "record.json")
	send := func(text, says string) string {
		t.Helper()
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		code, out, notes := shelltest.At(srv).Do(t, quick, "register", name)
		require.Zero(t, code, notes)
		assert.Contains(t, out, says)
		assert.NotContains(t, notes, "package mds")
		r, err := srv.DOIs().Get(t.Context(), "10.5072/a", &dois.GetOptions{Detail: true})
		require.NoError(t, err)
		return string(r.MetadataXML)
	}
	const record = `{"doi":"10.5072/a","url":"https://a.example/","titles":[{"title":"A & B"}],"creators":[{"name":"C"}],"publisher":"P","publicationYear":"2020","types":{"resourceTypeGeneral":"Dataset"},
		"relatedIdentifiers":[{"relatedIdentifier":"10.5072/x%s","relatedIdentifierType":"DOI","relationType":"HasMetadata","relatedMetadataScheme":"s"}]%s}`
	assert.Contains(t, send(fmt.Sprintf(record, `\u200b`, ""), " created at "), "10.5072/x\u200b<")
	before := send(fmt.Sprintf(record, "", ""), " updated at ")
	assert.Contains(t, before, "10.5072/x<", "the service shows it without the character")
	assert.Equal(t, before, send(fmt.Sprintf(record, "", `,"state":"registered"`), " updated at "))
}

// writesOf are the requests that write.
func writesOf(srv *datacitetest.Server) []datacitetest.Request {
	return slices.DeleteFunc(srv.Requests(), func(r datacitetest.Request) bool { return r.Method == "GET" })
}

// A record of JSON that speaks of some properties corrects these, and no other, if its DOI exists.
func TestAPartOfARecordInJSON(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/a","url":"https://a.example/","state":"findable","titles":[{"title":"Old"}],"creators":[{"name":"Ice Group"}],"publisher":{"name":"P"},
		"publicationYear":2020,"types":{"resourceTypeGeneral":"Dataset"},"subjects":[{"subject":"ice"}],"version":"2","language":"de"}`)))
	name := shelltest.File(t, "part.jsonl", `{"doi":"10.5072/a","titles":[{"title":"New"}],"version":null}`)
	code, out, notes := shelltest.At(srv).Do(t, quick, "register", name)
	require.Zero(t, code, notes)
	assert.Contains(t, out, "10.5072/a updated at ")
	r, err := srv.DOIs().Get(t.Context(), "10.5072/a", nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"New", "ice", "", "de", "https://a.example/"},
		[]string{r.Titles[0].Title, r.Subjects[0].Subject, r.Version, r.Language, r.URL})
	// What the stored record has stays, also if it would not be accepted as new; other faults are faults.
	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/old","url":"https://a.example/","state":"findable","titles":[{"title":"Old"}],`+
			`"creators":[{"name":""},{"name":"B"}],"publicationYear":2020}`)))
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/draft","state":"draft","titles":[{"title":"Old"}]}`)))
	for part, says := range map[string]string{
		`{"doi":"10.5072/old","titles":[{"title":"Newer"}],"creators":[{"name":"C"},{"name":""}]}`: "",
		`{"doi":"10.5072/a","creators":[{"name":"","nameType":"Personal"}]}`:                       "creators[0].name",
		`{"doi":"10.5072/old","creators":[{"name":"","nameType":"Personal"}]}`:                     "creators[0].name",
		`{"doi":"10.5072/a","creators":[]}`:                                                        "a record needs a creator",
		`{"doi":"10.5072/a","titles":null}`:                                                        "titles",
		`{"doi":"10.5072/draft","titles":[{"title":"New"}]}`:                                       "url: is missing",
		// of a DOI that does not exist, a part is not enough
		`{"doi":"10.5072/new","titles":[{"title":"New"}]}`: "creators",
	} {
		before := len(srv.Requests())
		code, _, notes = shelltest.At(srv).Do(t, quick, "register", shelltest.File(t, "part.jsonl", part))
		assert.NotContains(t, notes, "cannot be asked")
		assert.Equal(t, says != "", code == shell.ExitWrong, "%s: %s", part, notes)
		assert.Contains(t, notes, says, part)
		asked := 1 // for the record, however often the file is read
		if says == "" {
			asked += 2 // a look, and the write
		}
		assert.Len(t, srv.Requests(), before+asked, part)
	}
	srv.SetFaults(func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: http.StatusBadRequest}
	})
	_, _, notes = shelltest.At(srv).Do(t, quick, "register", name)
	assert.Contains(t, notes, "warning: whether 10.5072/a exists cannot be asked: ")
}

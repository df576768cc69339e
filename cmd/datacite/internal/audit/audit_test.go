package audit

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

func TestMain(m *testing.M) { shelltest.Main(m, Command) }

// service has four DOIs: one as it should be, one moved, one hidden and one that nobody
// wants.
func service(t *testing.T, behaviour datacitetest.Behaviour) *datacitetest.Server {
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour})
	record := shelltest.Read(t, "../../../../testdata/records/minimal.xml")
	for name, address := range map[string]string{"right": "right", "moved": "old", "hidden": "hidden", "extra": "extra"} {
		_, err := srv.MDS().Register(t.Context(), "10.5072/"+name, "https://repo.example.org/"+address, mds.XML(record), nil)
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

// call runs the command on the DOIs of a prefix.
func call(t *testing.T, srv *datacitetest.Server, args ...string) (out, notes string, code int) {
	t.Helper()
	if !slices.Contains(args, "--prefix") {
		args = append([]string{"--prefix", "10.5072"}, args...)
	}
	code, out, notes = shelltest.At(srv).Do(t, Command, append([]string{"audit"}, args...)...)
	return out, notes, code
}

// of names a service in what is said of it.
func of(srv *datacitetest.Server) string { return strings.TrimPrefix(srv.URL, "http://") }

func TestAuditAndFix(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(behaviour), func(t *testing.T) {
			srv := service(t, behaviour)
			source := shelltest.File(t, "own.csv", ownTable)
			out, notes, code := call(t, srv, "--format", "csv", source)
			assert.Equal(t, shell.ExitRefused, code)
			assert.Equal(t, "\ufeff"+strings.ReplaceAll(`doi,url,state,title,kind,path,desired,found,reason,service
10.5072/extra,https://repo.example.org/extra,findable,Glacier length,extra,,,,,HOST
10.5072/hidden,https://repo.example.org/hidden,registered,Glacier length,changed,state,findable,registered,,HOST
10.5072/missing,https://repo.example.org/missing,findable,,missing,,,,,HOST
10.5072/moved,https://repo.example.org/old,findable,Glacier length,changed,url,https://repo.example.org/moved,https://repo.example.org/old,,HOST
`, "HOST", of(srv)), out)
			assert.NotContains(t, notes, "login")
			assert.Contains(t, notes, "1 of 4 DOIs right at "+of(srv)+"\n      1 missing\n      2 changed\n      1 extra\n")
			assert.Regexp(t, `what was made or changed after \d\d:\d\d:\d\d may be missing: the list of the service lags behind`,
				notes)
			assert.True(t, strings.HasSuffix(notes, "datacite: 4 DOIs wanted and 4 DOIs at "+of(srv)+": 4 differences\n"), notes)

			out, notes, code = call(t, srv, "--fix", source)
			assert.Equal(t, shell.ExitWrong, code)
			assert.Contains(t, notes, "changed\t10.5072/moved\turl: \"https://repo.example.org/old\", should be "+
				"\"https://repo.example.org/moved\"\n")
			assert.Contains(t, notes, "Write 3 DOIs at "+of(srv)+
				"? Standard input is not a terminal, so nobody can answer; --yes answers yes\n")
			assert.Empty(t, out)
			assert.Equal(t, "registered", srv.State("10.5072/hidden"))

			out, notes, code = call(t, srv, "--fix", "--yes", "--only", "url", source)
			assert.Equal(t, shell.ExitRefused, code, "a DOI is not there")
			assert.Equal(t, "KIND\tDOI\tRESULT\tDIFFERENCE\nchanged\t10.5072/moved\trepaired\turl: "+
				"\"https://repo.example.org/old\", should be \"https://repo.example.org/moved\"\n", out)
			assert.Contains(t, notes, "3 of 4 DOIs right as to url at ")
			assert.Contains(t, notes, "1 DOI repaired, 0 failed, 0 left; 1 DOI does not exist at the service")
			record, err := srv.DOIs().Get(t.Context(), "10.5072/moved", nil)
			require.NoError(t, err)
			assert.Equal(t, "https://repo.example.org/moved", record.URL)
			assert.Equal(t, "registered", srv.State("10.5072/hidden"), "that was not chosen")

			out, notes, code = call(t, srv, "--fix", "--yes", "--format", "csv", "--only", "state,missing,extra", source)
			assert.Equal(t, shell.ExitRefused, code, "a DOI without metadata cannot be made findable")
			assert.Contains(t, out, "doi,url,state,title,kind,path,desired,found,reason,service,result,error\n")
			assert.Contains(t, out, "10.5072/hidden,https://repo.example.org/hidden,registered,Glacier "+
				"length,changed,state,findable,registered,,"+of(srv)+",repaired,\n")
			assert.Contains(t, out, "10.5072/missing,https://repo.example.org/missing,findable,,missing,,,,,"+of(srv)+",failed,")
			assert.Contains(t, out, "10.5072/extra,https://repo.example.org/extra,findable,Glacier length,extra,,,,,"+of(srv)+
				",left,\n")
			assert.Contains(t, notes, ": 1 DOI repaired, 1 failed, 1 left for you to decide\n")
			assert.Equal(t, "findable", srv.State("10.5072/hidden"))

			out, notes, code = call(t, srv, "--quiet", "--fix", "--yes", "--only", "missing", source)
			assert.Equal(t, shell.ExitRefused, code)
			assert.Empty(t, out)
			assert.Contains(t, notes, "10.5072/missing: missing: failed: ")

			for _, only := range []string{"url,state,metadata", "changed", "metadata,changed"} {
				out, notes, code = call(t, srv, "--only", only, source)
				assert.Equal(t, shell.ExitRefused, code)
				assert.Empty(t, out)
				assert.Contains(t, notes, "3 of 4 DOIs right as to url, state, metadata at ")
				assert.Contains(t, notes, "0 differences; 1 DOI does not exist at the service\n")
			}
		})
	}
}

// The table that datacite register takes: titles are compared, and missing DOIs are made. What it
// has no column for stays, such as contributors and the second title.
func TestTable(t *testing.T) {
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	record := `"publisher":{"name":"Example Repository"},"publicationYear":2026,"types":{"resourceTypeGeneral":"Dataset","resourceType":"Table"},
		"creators":[{"name":"Lovelace, Ada","givenName":"Ada","familyName":"Lovelace","nameType":"Personal",
			"nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001-5727-2427","nameIdentifierScheme":"ORCID","schemeUri":"https://orcid.org"}]}],
		"contributors":[{"name":"Example Institute","nameType":"Organizational","contributorType":"HostingInstitution"}],
		"subjects":[{"subject":"glaciers"}],"state":"findable","schemaVersion":"http://datacite.org/schema/kernel-4"`
	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/same","url":"https://a.example/same","titles":[{"title":"Same"},{"title":"Gleich",`+
			`"titleType":"TranslatedTitle"}],`+record+`}`)))
	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/other","url":"https://a.example/other","titles":[{"title":"Othre"},{"title":"Anders",`+
			`"titleType":"TranslatedTitle"}],`+record+`}`)))
	own := shelltest.File(t, "items.registered.csv",
		strings.ReplaceAll("\ufeff"+`doi;url;state;title;creators;publisher;year;type;subjects;result;error;registered
10.5072/same;https://a.example/same;findable;Same;Lovelace, Ada;Example Repository;2026;Dataset;;created;;x
10.5072/other;https://a.example/other;findable;Other;Lovelace, Ada;Example Repository;2026;Dataset;;created;;x
10.5072/new;https://a.example/new;findable;New;Lovelace, Ada;Example Repository;2026;Dataset;glaciers;failed;;
10.5072/draft;https://a.example/draft;;Draft;Lovelace, Ada;Example Repository;2026;Dataset;;;;
`, "\n", "\r\n"))
	out, notes, code := call(t, srv, "--format", "csv", "--fix", "--yes", own)
	assert.Equal(t, shell.ExitDone, code, notes)
	assert.Contains(t, notes, ": 3 DOIs repaired, 0 failed, 0 left\n")
	lines := strings.SplitAfter(out, "\n")
	slices.Sort(lines[1:]) // DOIs are repaired side by side
	assert.Equal(t, "\ufeff"+strings.ReplaceAll(`doi,url,state,title,kind,path,desired,found,reason,service,result,error
10.5072/draft,https://a.example/draft,draft,Draft,missing,,,,,HOST,repaired,
10.5072/new,https://a.example/new,findable,New,missing,,,,,HOST,repaired,
10.5072/other,https://a.example/other,findable,Othre,changed,titles[0].title,Other,Othre,,HOST,repaired,
`, "HOST", of(srv)), strings.Join(lines, ""))
	assert.Equal(t, "findable", srv.State("10.5072/new"))
	assert.Equal(t, "draft", srv.State("10.5072/draft"))
	other, err := srv.DOIs().Get(t.Context(), "10.5072/other", nil)
	require.NoError(t, err)
	assert.Equal(t, metadata.List[metadata.Title]{{Title: "Other"},
		{Title: "Anders", TitleType: metadata.TitleTranslated}}, other.Titles)
	assert.Len(t, other.Contributors, 1)
	assert.Len(t, other.Creators[0].NameIdentifiers, 1)
	assert.EqualValues(t, "Table", other.Types.ResourceType)
	_, notes, code = call(t, srv, own)
	assert.Equal(t, shell.ExitDone, code, notes)
}

// Thousands of DOIs that are not in the source are listed, and not read one by one.
func TestThousandsOfExtraDOIsAreListedAndNotRead(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	for i := range 1100 {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
			`{"doi":"10.5072/e%04d","url":"https://a.example/%[1]d","titles":[{"title":"Item %[1]d"}]}`, i)))
	}
	own := shelltest.File(t, "own.csv",
		"doi,url\n10.5072/e0000,https://a.example/0\n10.5072/e0001,https://a.example/moved\n")
	for _, only := range []string{"url,missing,extra", "missing,extra,url,invalid,old-schema"} {
		before := len(srv.Requests())
		out, notes, code := call(t, srv, "--format", "json", "--only", only, own)
		assert.Equal(t, shell.ExitRefused, code, notes)
		assert.Contains(t, out, `{"kind":"extra","doi":"10.5072/e1099","title":"Item `+
			`1099","url":"https://a.example/1099","state":"findable","service":"`+of(srv)+`"}`)
		assert.LessOrEqual(t, len(srv.Requests())-before, 6)
	}
	page := filepath.Join(t.TempDir(), "report.html")
	_, notes, code := call(t, srv, "--only", "extra", "--html", page, own)
	assert.Equal(t, shell.ExitRefused, code, notes)
	html := string(shelltest.Read(t, page))
	assert.Equal(t, 500, strings.Count(html, `<th scope="row" class="doi"`))
	assert.Contains(t, html, "The first 500 are shown; the output of the command has all.")
}

func TestReadExtra(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	requests := func(args ...string) int {
		before := len(srv.Requests())
		out, _, _ := call(t, srv, append(args, "--only", "extra", shelltest.File(t, "own.csv", ownTable))...)
		assert.Contains(t, out, "extra\t10.5072/extra\t")
		return len(srv.Requests()) - before
	}
	assert.Equal(t, requests()+1, requests("--read-extra"))
}

func TestPage(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	source, name := shelltest.File(t, "own.csv", ownTable), filepath.Join(t.TempDir(), "report.html")
	read := func() string {
		html := shelltest.Read(t, name)
		page := string(html)
		for _, absent := range []string{"<script", "ZgotmplZ", "%!", "src=", "@import"} {
			assert.NotContains(t, page, absent, "it stands for itself, and runs nothing")
		}
		return page
	}
	_, notes, code := call(t, srv, "--html", name, source)
	assert.Equal(t, shell.ExitRefused, code)
	assert.Contains(t, notes, name+" is written\n")
	page := read()
	for _, part := range []string{
		"<b>1 of 4</b> DOIs right", "<b>4</b> differences", "<b>2</b> changed", "<b>1</b> extra", "Audit of 10.5072</h1>", "at <b>" + of(srv) + "</b>, ", "compared with own.csv", "UTC may be missing here",
		`<th scope="row" class="doi" rowspan="1">10.5072/moved</th><td class="title" rowspan="1">Glacier length</td><td class="what">URL</td>` +
			`<td class="side wanted" data-label="Should be">https://repo.example.org/moved</td><td class="side found" data-label="Is">https://repo.example.org/old</td>`,
		`>Glacier length</td><td class="url" data-label="URL">https://repo.example.org/extra</td><td data-label="State">findable</td>`,
		"4 records at the service", `<td class="n" data-label="missing in">4 of 4</td><td class="n">100 %</td>`,
	} {
		assert.Contains(t, page, part)
	}
	_, notes, code = call(t, srv, "--fix", "--yes", "--html", name, source)
	assert.Equal(t, shell.ExitRefused, code)
	assert.Contains(t, notes, "3 of 4 DOIs right")
	page = read()
	for _, part := range []string{"<b>3 of 4</b> DOIs right", "<b>2</b> DOIs repaired", "<b>1</b> failed",
		"<b>1</b> left for a person", `<span class="done">repaired</span>`, `<span class="differs">failed</span>` +
			`: `, "at the service before the repair"} {
		assert.Contains(t, page, part)
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	_, notes, code = call(t, srv, "--html", filepath.Join(t.TempDir(), "none", "report.html"), source)
	assert.Equal(t, shell.ExitWrong, code, notes)
}

func TestProperties(t *testing.T) {
	const orcid, ror = `"https://orcid.org/0000-0001-5727-2427"`, `"https://ror.org/04wxnsj81"`
	for record, has := range map[string][]string{
		`{}`:                nil,
		`"rightsList":[{}]`: nil, `"rightsList":[{},{"rights":"CC0"}]`: {"Licence"},
		`"rightsList":[{"rightsUri":"https://a.example/"}]`: {"Licence"},
		`"rightsList":[{"rightsIdentifier":"cc0-1.0"}]`:     {"Licence"},

		`"creators":[{"nameIdentifiers":[{"nameIdentifier":"0000-0001-5727-2427",` +
			`"nameIdentifierScheme":"ORCID"}]}]`: {"ORCID"},
		`"creators":[{},{"nameIdentifiers":[{},{"nameIdentifier":` + orcid + `}]}]`:    {"ORCID"},
		`"creators":[{"nameIdentifiers":[{"nameIdentifier":"https://forcid.org/1"}]}]`: nil,
		`"creators":[{"nameIdentifiers":[{"nameIdentifierScheme":"ORCID"}]}]`:          nil,
		`"contributors":[{"nameIdentifiers":[{"nameIdentifier":` + orcid + `}]}]`:      {"ORCID"},

		`"creators":[{"nameIdentifiers":[{"nameIdentifier":` + ror + `}]}]`:                            {"ROR"},
		`"creators":[{"affiliation":[{},{"affiliationIdentifier":` + ror + `}]}]`:                      {"ROR"},
		`"creators":[{"affiliation":[{"affiliationIdentifier":"https://ror.example.org/04wxnsj81"}]}]`: nil,
		`"creators":[{"affiliation":[{"name":"ROR"}]}]`:                                                nil,
		`"contributors":[{"affiliation":[{"affiliationIdentifier":"04wxnsj81",` +
			`"affiliationIdentifierScheme":"ror"}]}]`: {"ROR"},

		`"descriptions":[{"description":"Why","descriptionType":"Abstract"}]`: {"Abstract"},
		`"descriptions":[{"description":"How","descriptionType":"Methods"}]`:  nil,
		`"descriptions":[{"description":" ","descriptionType":"Abstract"}]`:   nil,

		`"fundingReferences":[{"funderName":"F"}]`:                 {"Funding"},
		`"relatedIdentifiers":[{"relatedIdentifier":"10.5072/x"}]`: {"Related works"},
		`"relatedItems":[{"relatedItemType":"Book"}]`:              {"Related works"},
	} {
		var r metadata.Record
		require.NoError(t, json.Unmarshal([]byte("{"+strings.Trim(record, "{}")+"}"), &r), record)
		var found []string
		for _, p := range properties {
			if p.in(&r) {
				found = append(found, p.Name)
			}
		}
		assert.Equal(t, has, found, record)
	}
}

// What others miss in records is counted over all of them, with one list.
func TestCoverage(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	for i, more := range []string{
		`"rightsList":[{"rightsUri":"https://creativecommons.org/licenses/by/4.0/"}],"descriptions":[{"description":"It is ` +
			`cold","descriptionType":"Abstract"}]`,
		`"creators":[{"name":"A","nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001-5727-2427",` +
			`"nameIdentifierScheme":"ORCID"}]}],"descriptions":[{"description":"How","descriptionType":"Methods"}]`,
		`"contributors":[{"name":"B","contributorType":"Other","affiliation":[{"name":"U",` +
			`"affiliationIdentifier":"https://ror.org/04wxnsj81"}]}],"relatedIdentifiers":[{"relatedIdentifier":"10.5072/x",` +
			`"relatedIdentifierType":"DOI","relationType":"Cites"}]`,
		`"fundingReferences":[{"funderName":"F"}],"relatedItems":[{"relatedItemType":"Book","relationType":"Cites",` +
			`"titles":[{"title":"T"}]}]`,
	} {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
			`{"doi":"10.5072/c%d","url":"https://a.example/","titles":[{"title":"T"}],%s}`, i, more)))
	}
	source, name := shelltest.File(t, "own.csv", "doi\n10.5072/c0\n"), filepath.Join(t.TempDir(), "report.html")
	before := len(srv.Requests())
	_, notes, code := call(t, srv, "--only", "missing", "--html", name, source)
	require.Zero(t, code, notes)
	assert.Len(t, srv.Requests(), before+2, "the login and the list")
	html := shelltest.Read(t, name)
	found := map[string]string{}
	for _, row := range regexp.MustCompile(
		`<th scope="row">([\w ]+)<span class="soft">[^<]+</span></th><td class="n" data-label="missing `+
			`in">(.*?)</td>`).FindAllStringSubmatch(string(html), -1) {
		found[row[1]] = row[2]
	}
	assert.Equal(t, map[string]string{
		"Licence": "3 of 4", "ORCID": "3 of 4", "ROR": "3 of 4", "Abstract": "3 of 4", "Funding": "3 of 4",
		"Related works": "2 of 4",
	}, found)
	for kind, words := range headings {
		assert.NotContains(t, words, "", kind)
	}
}

// Titles that others have chosen are texts of the page, and nothing else. DOIs lead where they resolve.
func TestHostilePage(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	title := `</title></style><script>alert(1)</script><img src=x onerror=alert(1)> \u202egpj.exe ` +
		strings.Repeat("Wide", 300)
	require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
		`{"doi":"10.5072/a\"'><b>","url":"javascript:alert(1)","titles":[{"title":%q}]}`, title)))
	name := filepath.Join(t.TempDir(), "report.html")
	_, notes, _ := call(t, srv, "--html", name, shelltest.File(t, "own.csv", "doi\n10.5072/none\n"))
	html, err := os.ReadFile(name)
	require.NoError(t, err, notes)
	for _, absent := range []string{"<script", "<img", `href="javascript`, `a"'`} {
		assert.NotContains(t, string(html), absent)
	}
	assert.Contains(t, string(html), "&lt;script&gt;")
	p := &page{Resolver: "https://handle.test.datacite.org"}
	assert.Equal(t, "https://handle.test.datacite.org/10.5072/a", p.Link("10.5072/a"))
	assert.Empty(t, (&page{}).Link("10.5072/a"), "nobody knows where it leads")
}

// The service sends & in metadata as &amp;; people read what they wrote.
func TestAmpersand(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/a","url":"https://a.example/?a=1&amp;b=2","titles":[{"title":"Ice &amp; snow"}]}`)))
	source := shelltest.File(t, "own.jsonl",
		`{"doi":"10.5072/a","url":"https://a.example/?a=1&b=2","titles":[{"title":"Ice & rain"}]}`)
	name := filepath.Join(t.TempDir(), "report.html")
	out, _, code := call(t, srv, "--only", "url,metadata", "--html", name, source)
	assert.Equal(t, shell.ExitRefused, code)
	assert.Contains(t, out, `titles[0].title: "Ice & snow", should be "Ice & rain"`)
	assert.Contains(t, out, `url: "https://a.example/?a=1&amp;b=2", should be "https://a.example/?a=1&b=2"`,
		"in a URL it is a fault")
	html := shelltest.Read(t, name)
	assert.Contains(t, string(html), `data-label="Is">Ice &amp; snow</td>`)
	assert.NotContains(t, string(html), "Ice &amp;amp; snow")
}

func TestOutcomes(t *testing.T) {
	changed, sent, now := &reconcile.Difference{DOI: "10.5072/a",
		Kind: reconcile.KindChanged}, &dois.Draft{}, &dois.Record{}
	for _, tt := range []struct {
		want outcome
		of   reconcile.Outcome
	}{
		{outcome{Result: repaired}, reconcile.Outcome{Draft: sent, Record: now}},
		{outcome{Result: asDesired}, reconcile.Outcome{Record: now}},
		{outcome{left, "interrupted"}, reconcile.Outcome{Err: context.Canceled}},
		{outcome{left, "10.5072/a is findable"},
			reconcile.Outcome{Err: fmt.Errorf("%w: 10.5072/a is findable", reconcile.ErrNotAsDesired)}},
		{outcome{left, "conflict with what is stored"}, reconcile.Outcome{Err: datacite.ErrConflict}},
		{outcome{left, "the change would lose something else"}, reconcile.Outcome{Err: reconcile.ErrLoss}},
		{outcome{failed, "outcome unknown"}, reconcile.Outcome{Err: datacite.ErrUnclear}},
		{outcome{failed, "not as desired"}, reconcile.Outcome{Draft: sent, Record: now, Err: reconcile.ErrNotAsDesired}},
	} {
		assert.Equal(t, tt.want, outcomeOf(changed, &tt.of))
	}
	invalid := &reconcile.Difference{DOI: "10.5072/a", Kind: reconcile.KindInvalid}
	assert.Equal(t, outcome{left, "the source has the same"}, outcomeOf(invalid, &reconcile.Outcome{Record: now}))
}

// A repair reports what it writes and what it leaves from two goroutines: the differences of a DOI
// follow each other in one of them, and still make one DOI.
func TestDOIsAreCountedOnce(t *testing.T) {
	c := &command{service: &account.Service{}}
	p := c.newPage()
	p.Progress.Desired = 3
	mine, others := &reconcile.Desired{}, (*reconcile.Desired)(nil)
	for _, add := range []struct {
		doi    string
		wanted *reconcile.Desired
		result string
	}{
		{"10.5072/a", mine, failed}, {"10.5072/x", others, left}, {"10.5072/a", mine, failed}, {"10.5072/x", others, left},
		{"10.5072/b", mine, repaired},
	} {
		p.add(&reconcile.Difference{DOI: add.doi, Kind: reconcile.KindChanged, Desired: add.wanted},
			outcome{Result: add.result})
	}
	assert.Equal(t, []int{1, 1, 1, 2}, []int{p.Repaired, p.Failed, p.Left, p.Right()})
}

func TestPartsInWords(t *testing.T) {
	for path, words := range map[string]string{
		"url": "URL", "titles[0].title": "title", "titles[1].title": "title 2", "creators[0].name": "creator 1",
		"creators[1].nameIdentifiers[0].nameIdentifier": "creator 2, nameIdentifiers[0].nameIdentifier",
		"publicationYear": "year", "types.resourceTypeGeneral": "type", "publisher.name": "publisher", "version": "version",
		"descriptions[0].description": "description", "rightsList[1].rights": "rights 2", "subjects[0].subject": "subject", "dates[0].date": "date",
		"contributors[0].name": "contributor 1", "fundingReferences[0].funderName": "funding, funderName", "geoLocations[0].geoLocationPlace": "place, geoLocationPlace",
		"relatedIdentifiers[0].relatedIdentifier": "related identifier", "alternateIdentifiers[0]": "alternate identifier", "sizes[0]": "size", "formats[1]": "format 2",
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
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".xml"),
			bytes.ReplaceAll(detailed.MetadataXML, []byte("Glacier length"), []byte("Glacier lengths")), 0o600))
	}
	out, _, code := call(t, srv, shelltest.File(t, "own.jsonl", harvested.String()))
	assert.Equal(t, shell.ExitRefused, code)
	assert.Equal(t, "KIND\tDOI\tDIFFERENCE\nextra\t10.5072/hidden\tregistered https://repo.example.org/hidden \"Glacier "+
		"length\"\n"+
		"changed\t10.5072/moved\turl: \"https://repo.example.org/old\", should be \"https://repo.example.org/moved\"\n", out)
	schema := `{"identifiers":[{"identifierType":"DOI","identifier":"https://doi.org/10.5072/hidden"}],` +
		`"event":"publish","titles":[{"title":"Glacier length","x":"y"}]}`
	out, notes, _ := call(t, srv, "--only", "state", shelltest.File(t, "schema.jsonl", schema))
	assert.Contains(t, out, "10.5072/hidden\tstate: \"registered\", should be \"findable\"\n")
	assert.Regexp(t, `^warning: \S*schema.jsonl, 10.5072/hidden: titles\[0\].x: the value has no place in a record`, notes)
	out, _, code = call(t, srv, "--format", "json", "--only", "metadata", folder)
	assert.Equal(t, shell.ExitRefused, code)
	assert.Equal(t, 3, strings.Count(out, "\n"))
	assert.Contains(t, out, `{"kind":"changed","doi":"10.5072/right","path":"titles[0].title","desired":"Glacier `+
		`lengths","found":"Glacier length","title":"Glacier length",`)

	document := shelltest.Read(t, filepath.Join(folder, "right.xml"))
	missing := filepath.Dir(shelltest.File(t, "missing.xml",
		strings.Replace(string(document), "10.5072/RIGHT", "10.5072/missing", 1)))
	out, _, code = call(t, srv, "--only", "missing", missing)
	assert.Equal(t, shell.ExitRefused, code)
	assert.Contains(t, out, "missing\t10.5072/missing\t- - \"Glacier lengths\"\n")
}

// What -only leaves out is not written, also of a DOI that is repaired.
func TestFixWritesOnlyWhatIsChosen(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	own := `{"doi":"10.5072/hidden","url":"https://repo.example.org/new","state":"findable","titles":[{"title":"Another ` +
		`title"}]}`
	for only, address := range map[string]string{"url": "new", "url,invalid": "newer"} {
		own := strings.Replace(own, "org/new", "org/"+address, 1)
		out, notes, code := call(t, srv, "--fix", "--yes", "--only", only, shelltest.File(t, "own.jsonl", own))
		require.Equal(t, shell.ExitDone, code, notes)
		assert.Equal(t, 2, strings.Count(out, "\n"), "the URL")
		record, err := srv.DOIs().Get(t.Context(), "10.5072/hidden", nil)
		require.NoError(t, err)
		assert.Equal(t, "https://repo.example.org/"+address, record.URL)
		assert.Equal(t, datacite.StateRegistered, record.State)
		assert.Equal(t, "Glacier length", record.Titles[0].Title)
	}

	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/old","url":"https://repo.example.org/old","schemaVersion":"http://datacite.org/schema/kernel-3",
		"creators":[{"name":"Lovelace, Ada"}],"titles":[{"title":"Old"}],"publisher":{"name":"Example"},"publicationYear":2001,"types":{"resourceTypeGeneral":"Dataset"}}`)))
	own = `{"doi":"10.5072/old","url":"https://repo.example.org/new","titles":[{"title":"Another title"}]}`
	_, notes, code := call(t, srv, "--fix", "--yes", "--only", "old-schema", shelltest.File(t, "own.jsonl", own))
	require.Equal(t, shell.ExitDone, code, notes)

	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/bad","url":"https://repo.example.org/old",
		"titles":[{"title":"Bad"}],"publisher":{"name":"Example"},"publicationYear":2001,
		"types":{"resourceTypeGeneral":"Dataset"}}`)))
	own = "doi,url,creators\n10.5072/bad,https://repo.example.org/new,\"Lovelace, Ada\"\n"
	out, notes, code := call(t, srv, "--fix", "--yes", "--only", "invalid", shelltest.File(t, "own.csv", own))
	require.Equal(t, shell.ExitDone, code, notes)
	assert.Contains(t, out, "invalid\t10.5072/bad\trepaired\tcreators: ")
	record, err := srv.DOIs().Get(t.Context(), "10.5072/bad", nil)
	require.NoError(t, err)
	assert.Len(t, record.Creators, 1)
	assert.Equal(t, "https://repo.example.org/old", record.URL)
	record, err = srv.DOIs().Get(t.Context(), "10.5072/old", nil)
	require.NoError(t, err)
	assert.Equal(t, "http://datacite.org/schema/kernel-4", string(record.SchemaVersion))
	assert.Equal(t, "https://repo.example.org/old", record.URL)
	assert.Equal(t, "Old", record.Titles[0].Title)
}

// A cell that would not be accepted as new may say what is stored.
func TestCellsThatSayWhatIsStored(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/a","dates":[{"date":"summer","dateType":"Collected"}]}`)))
	for cell, want := range map[string]int{"Collected summer": shell.ExitDone, "Collected winter": shell.ExitWrong} {
		_, notes, code := call(t, srv, "--only", "metadata", shelltest.File(t, "own.csv", "doi,dates\n10.5072/a,"+cell+"\n"))
		assert.Equal(t, want, code, notes)
	}
}

// A correction of a record that came as XML keeps what the service's JSON does not have.
func TestFixKeepsWhatOnlyTheXMLHas(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := service(t, behaviour)
		record := shelltest.Read(t, "../../../../testdata/records/minimal.xml")
		record = bytes.Replace(record, []byte("</resource>"),
			[]byte(`<relatedIdentifiers><relatedIdentifier relatedIdentifierType="DOI" relationType="HasMetadata" `+
				`relatedMetadataScheme="ddi">10.5072/m</relatedIdentifier></relatedIdentifiers></resource>`), 1)
		_, err := srv.MDS().Register(t.Context(), "10.5072/with", "https://repo.example.org/with", mds.XML(record), nil)
		require.NoError(t, err)
		item := `{"doi":"10.5072/with","relatedItems":[{"relatedItemType":"Journal","relationType":"IsPublishedIn",` +
			`"titles":[{"title":"J","lang":"fr"}]}]}`
		for _, source := range []string{shelltest.File(t, "own.csv", "doi,title\n10.5072/with,Another title\n"),
			shelltest.File(t, "own.jsonl", item)} {
			_, notes, code := call(t, srv, "--fix", "--yes", source)
			require.Equal(t, shell.ExitRefused, code, "four others are left")
			assert.NotContains(t, notes, "warning: ", behaviour)
		}
		stored, err := srv.MDS().Metadata(t.Context(), "10.5072/with")
		require.NoError(t, err)
		for _, text := range []string{"Another title", `"ddi"`, `<title xml:lang="fr">J</title>`} {
			assert.Contains(t, string(stored.Data), text, behaviour)
		}
	}
}

// What the service leaves out when it writes its XML anew is said.
func TestFixNamesWhatTheServiceLeavesOut(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/a","url":"https://a.example/","titles":[{"title":"Ice"}],
		"creators":[{"name":"A"}],"publisher":{"name":"P"},"publicationYear":2020,"types":{"resourceTypeGeneral":"Dataset"},
		"schemaVersion":"http://datacite.org/schema/kernel-4","relatedIdentifiers":[{"relatedIdentifier":"10.5072/x",
		"relatedIdentifierType":"DOI","relationType":"HasMetadata","relatedMetadataScheme":"ddi"}]}`)))
	_, notes, code := call(t, srv, "--fix", "--yes", shelltest.File(t, "own.csv", "doi,title\n10.5072/a,Snow\n"))
	assert.Equal(t, shell.ExitDone, code, notes)
	assert.Contains(t, notes, "warning: 10.5072/a: relatedIdentifiers[0].relatedMetadataScheme: ")
}

// A dry run of a repair shows in which form it would write each DOI.
func TestADryRunIsAPlan(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	source := shelltest.File(t, "own.csv",
		ownTable[:len("DOI,url,state")]+",title\n10.5072/right,https://repo.example.org/right,findable,Another title\n"+
			"10.5072/moved,https://repo.example.org/moved,findable,\n10.5072/hidden,,draft,\n")
	args := []string{"--fix", "--dry-run", "--only", "url,state,metadata", source}
	out, notes, code := call(t, srv, args...)
	assert.Equal(t, shell.ExitRefused, code, notes)
	assert.Contains(t, out, "changed\t10.5072/right\tplanned, into the stored XML\ttitles[0].title: ")
	assert.Contains(t, out, "changed\t10.5072/moved\tplanned, as JSON\turl: ")
	assert.Contains(t, out, "changed\t10.5072/hidden\tleft\tstate: ")
	assert.Contains(t, notes, ": 3 differences\n")
	for _, r := range srv.Requests() {
		assert.False(t, r.Method == "PUT" && strings.HasPrefix(r.URL.Path, "/dois/"), r.URL)
	}
	_, notes, code = call(t, srv, append(args, "--quiet")...)
	assert.Equal(t, shell.ExitRefused, code, notes)
	_, notes, code = call(t, srv, args[1:]...)
	assert.Equal(t, shell.ExitWrong, code)
	assert.Contains(t, notes, "--dry-run has no effect without --fix")
}

// What is not in the source is left alone, whatever is wrong with it.
func TestFixLeavesOthersAlone(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	untyped := base64.StdEncoding.EncodeToString([]byte(`<resource xmlns="http://datacite.org/schema/kernel-3">` +
		`<identifier identifierType="DOI">10.5072/UNTYPED</identifier>` +
		`<creators><creator><creatorName>Lovelace, Ada</creatorName></creator></creators>` +
		`<titles><title>Old</title></titles><publisher>Example</publisher><publicationYear>2001</publicationYear></resource>`))
	for name, more := range map[string]string{"old": "", "mine": "", "untyped": `,"xml":"` + untyped + `"`} {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
			`{"doi":"10.5072/%s","url":"https://a.example/%[1]s","schemaVersion":"http://datacite.org/schema/kernel-3",
			"creators":[{"name":"Lovelace, Ada"}],"titles":[{"title":"Old"}],"publisher":{"name":"Example"},
			"publicationYear":2001,"types":{"resourceTypeGeneral":"Dataset"}%s}`, name, more)))
	}
	out, notes, code := call(t, srv, "--fix", "--yes", "--only", "old-schema",
		shelltest.File(t, "own.csv",
			"doi,url\n10.5072/mine,https://a.example/mine\n10.5072/untyped,https://a.example/untyped\n"))
	assert.Equal(t, shell.ExitRefused, code)
	assert.Contains(t, out, "old-schema\t10.5072/mine\trepaired\t")
	assert.Contains(t, out, "old-schema\t10.5072/old\tleft\t")
	assert.Regexp(t, `old-schema\t10.5072/untyped\tleft\t.*; datacite upgrade --missing lists what to fill in\n`, out)
	assert.Contains(t, notes, "1 DOI repaired, 0 failed, 2 left")
	old, err := srv.DOIs().Get(t.Context(), "10.5072/old", nil)
	require.NoError(t, err)
	assert.Equal(t, "http://datacite.org/schema/kernel-3", string(old.SchemaVersion))
}

func TestWrongSources(t *testing.T) {
	srv := service(t, datacitetest.Documented)
	before := len(srv.Requests())
	damaged := shelltest.File(t, "cut.jsonl", `{"doi":"10.5072/a"}`+"\n"+`{"doi":"10.50`)
	for want, source := range map[string]string{
		"no such file": "nowhere.csv",
		damaged + ": line 2: byte 20, after the record 10.5072/a: ": damaged,
		"latin.jsonl: line 2: byte 60, after the record 10.5072/a: at byte 40: the text is not UTF-8": shelltest.File(t,
			"latin.jsonl", `{"doi":"10.5072/a"}`+"\n"+`{"doi":"10.5072/b","titles":[{"title":"A\ud800"}]}`),
		`identifiers[0]: is "10.5072/b", and the DOI of the record is "10.5072/a"`: shelltest.File(t,
			"two.jsonl", `{"doi":"10.5072/a","identifiers":[{"identifier":"10.5072/b","identifierType":"DOI"}],"titles":[]}`),
		`event: is "hide", and state is "findable"`: shelltest.File(t, "event.jsonl",
			`{"doi":"10.5072/a","event":"hide","state":"findable","titles":[]}`),
		"one.XML is one file of metadata XML; give the folder": shelltest.File(t, "one.XML", "<resource/>"),
		"; datacite harvest writes records":                    shelltest.File(t, "text.jsonl", "text"),
		"damaged: b.jsonl, line 1: byte 0: ":                   folder(t, "damaged", "b.jsonl", "{"),
		"cut.xml: ": folder(t, "documents", "cut.xml",
			`<resource xmlns="http://datacite.org/schema/kernel-4"><identifier`),
		"cut.gz: line 1: byte 19": shelltest.File(t, "cut.gz",
			gzipped(t, `{"doi":"10.5072/a"}`)[:30]),
		`a.csv, line 1, column 1: the column is named "10.5072/a"`: shelltest.File(t, "a.csv",
			"10.5072/a,https://example.org/\n"),
		"b.csv, line 3: doi: is empty; datacite register": shelltest.File(t, "b.csv",
			"doi,url\n10.5072/a,https://example.org/\n,https://example.org/\n"),
		"c.csv, line 2: there are 1 cells": shelltest.File(t, "c.csv", "doi,url\n10.5072/a\n"),
		`e.csv, line 3, DOI: "10.5072/`: shelltest.File(t, "e.csv",
			"doi,url\n10.5072/a,https://example.org/\n10.5072/A,https://example.org/\n"),
		`f.csv, line 2, column 2: state: "published" is not one of draft, registered, findable`: shelltest.File(t, "f.csv",
			"doi,state\n10.5072/a,published\n"),
		`State: is "public"; the states are`:         shelltest.File(t, "g.jsonl", `{"doi":"10.5072/a","state":"public"}`),
		"k.xlsx: the spreadsheet cannot be read":     shelltest.File(t, "k.xlsx", "PK\x03\x04"),
		"m.csv has no records; nothing was compared": shelltest.File(t, "m.csv", "doi,url\n"),
		`n.csv, line 3`:                        shelltest.File(t, "n.csv", "doi,url\n10.5072/a,\n\"10.5072/b\"x,\n"),
		string(filepath.Separator) + "a.xml: ": filepath.Dir(folder(t, "a.xml", "b", "")), // which is one, too
		"has no column doi":                    shelltest.File(t, "l.csv", "url\nhttps://example.org/\n"),
		"empty": filepath.Dir(shelltest.File(t, "a.xml",
			`<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI"></identifier></resource>`)),
	} {
		page := filepath.Join(t.TempDir(), "report.html")
		out, notes, code := call(t, srv, "--fix", "--yes", "--html", page, source)
		assert.NoFileExists(t, page)
		assert.Contains(t, notes, want)
		assert.Equal(t, shell.ExitWrong, code, notes)
		assert.NotContains(t, out, "repaired")
	}
	for _, r := range srv.Requests()[before:] {
		assert.Equal(t, "/dois?page%5Bsize%5D=1", r.URL.String(),
			"only the login was checked: nothing was read, and nothing written")
	}
}

// A table for an audit has the columns that its owner has, and says what it says.
func TestTablesOfAFewColumns(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := service(t, behaviour)
		source := shelltest.File(t, "own.csv",
			"DOI,title,Notes,shelf\n10.5072/right,Glacier width,look again,7\n10.5072/moved,Glacier "+
				"length,,\n10.5072/hidden,,lost,\n")
		_, notes, code := call(t, srv, source)
		assert.Equal(t, shell.ExitWrong, code)
		assert.Contains(t, notes, `own.csv, line 1, column 3: the column is named "Notes", which is not one of doi`)
		assert.Contains(t, notes, `own.csv, line 1, column 4: the column is named "shelf", which is not one of these columns either`)
		assert.Contains(t, notes, "--pass-over names columns of your own")

		out, notes, code := call(t, srv, "--pass-over", "Notes, shelf", "--only", "missing,url,state,metadata", "--fix",
			"--yes", source)
		assert.Equal(t, shell.ExitDone, code, notes)
		assert.Equal(t, "KIND\tDOI\tRESULT\tDIFFERENCE\nchanged\t10.5072/right\trepaired\ttitles[0].title: \"Glacier "+
			"length\", should be \"Glacier width\"\n", out)
		record, err := srv.DOIs().Get(t.Context(), "10.5072/right", nil)
		require.NoError(t, err)
		assert.Equal(t, "Glacier width", record.Titles[0].Title)
		assert.NotEmpty(t, record.Creators)
		_, notes, code = call(t, srv, "--pass-over", "notes,shelf,title", "--only", "metadata", "--fix", "--yes", source)
		assert.Equal(t, shell.ExitDone, code, notes)
		assert.Contains(t, notes, ": nothing differs\n")
		_, notes, code = call(t, srv, "--only", "url,invalid", shelltest.File(t, "own.csv", "DOI,title\n10.5072/right,Glacier depth\n"))
		assert.Equal(t, shell.ExitDone, code, "the title was read to repair invalid records, and was not chosen: %s", notes)
		source = shelltest.File(t, "own.csv", "DOI,title,result,error,registered,Notes\n10.5072/right,Glacier width,created,,r1,look again\n")
		_, notes, code = call(t, srv, "--only", "metadata", source)
		assert.Equal(t, shell.ExitDone, code, notes)
		assert.Contains(t, notes, `own.csv: the column "Notes", behind the column registered, is passed over`)
		_, notes, code = call(t, srv, "--only", "url", shelltest.File(t, "files.csv", "DOI,file\n10.5072/right,a.xml\n"))
		assert.Equal(t, shell.ExitDone, code, notes)
		source = shelltest.File(t, "new.csv", "DOI,url,state,title\n10.5072/new,,,Ice\n10.5072/bad,https://repo.example.org/,findable,Snow\n")
		out, _, code = call(t, srv, "--only", "missing", "--fix", "--yes", source)
		assert.Equal(t, shell.ExitRefused, code)
		assert.Contains(t, out, "missing\t10.5072/new\trepaired\tdraft - \"Ice\"\n")
		assert.Contains(t, out, "missing\t10.5072/bad\tfailed\tfindable https://repo.example.org/ \"Snow\": ")
		record, err = srv.DOIs().Get(t.Context(), "10.5072/new", nil)
		require.NoError(t, err)
		assert.Equal(t, "Ice", record.Titles[0].Title)
	}
}

// A table without DOIs, such as the one before its registration, says so once.
func TestEqualFaultsAreSaidOnce(t *testing.T) {
	rows := strings.Repeat(",Glacier length,\n",
		57) + "10.5072/right,Glacier length,Deutsch\n" + strings.Repeat(",Glacier length,\n", 2)
	_, notes, code := call(t, service(t, datacitetest.Deployed), shelltest.File(t, "own.csv", "DOI,title,language\n"+rows))
	assert.Equal(t, shell.ExitWrong, code)
	lines := strings.Split(strings.TrimSuffix(notes, "\n"), "\n")
	require.Len(t, lines, 4, notes)
	assert.Equal(t, "error: own.csv, line 2: doi: is empty; datacite register gives names to records", lines[0])
	assert.Contains(t, lines[1], "line 59, column 3: language: ")
	assert.Equal(t, "error: own.csv, and 58 more rows (lines 3–58, 60–61): doi: is empty; datacite register gives names "+
		"to records", lines[2])
	assert.Contains(t, lines[3], "own.csv: 59 faults in 59 rows, all above; nothing was compared or written")
}

// The differences can be a spreadsheet, too, which the next command reads.
func TestOutputFiles(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	source := shelltest.File(t, "own.csv", ownTable)
	for _, name := range []string{"differences.xlsx", "differences.csv"} {
		path := filepath.Join(t.TempDir(), name)
		out, notes, code := call(t, srv, "-o", path, source)
		assert.Equal(t, shell.ExitRefused, code)
		assert.Empty(t, out)
		assert.Contains(t, notes, path+" is written\n")
		in, err := os.Open(path)
		require.NoError(t, err)
		defer in.Close()
		r, err := table.NewReader(name, in,
			&table.Options{Others: []string{"kind", "path", "desired", "found", "reason", "service"}, Partial: true})
		require.NoError(t, err)
		var kinds []string
		for row, err := range r.All() {
			require.NoError(t, err)
			kinds = append(kinds, row.DOI+" "+row.Others[0])
		}
		assert.Equal(t, []string{"10.5072/extra extra", "10.5072/hidden changed", "10.5072/missing missing",
			"10.5072/moved changed"}, kinds)
	}
	before := shelltest.Read(t, source)
	for _, flag := range []string{"--output", "--html"} {
		_, notes, code := call(t, srv, flag, source, source)
		assert.Equal(t, shell.ExitWrong, code)
		assert.Contains(t, notes, flag+" "+source+" would replace the source")
	}
	after := shelltest.Read(t, source)
	assert.Equal(t, before, after)
}

func TestFlags(t *testing.T) {
	for want, args := range map[string]string{
		"arguments are missing: datacite audit SOURCE;": "--prefix 10.5072",
		"give --client or --prefix":                     "own.csv",
		"--yes has no effect":                           "--prefix 10.5072 --yes own.csv",
		"with --quiet, give --yes":                      "--prefix 10.5072 --fix --quiet own.csv",
		`--only: "all" is not one of`:                   "--prefix 10.5072 --only all own.csv",
		`did you mean missing?`:                         "--prefix 10.5072 --only mising own.csv",
		"--json prints JSON":                            "--prefix 10.5072 --json --format csv own.csv",
		"say which service is meant":                    "--prefix 10.5072 --fix --yes own.csv",
	} {
		code, out, notes := shelltest.Run{}.Do(t, Command, append([]string{"audit"}, strings.Fields(args)...)...)
		assert.Equal(t, shell.ExitWrong, code)
		assert.Contains(t, notes, want)
		assert.Empty(t, out)
	}
}

// An interrupted repair says what was repaired, on the page and in the table, too.
func TestInterrupt(t *testing.T) {
	const workers = 4
	srv, own := service(t, datacitetest.Documented), ownTable
	for i := range workers {
		_, err := srv.MDS().Register(t.Context(), fmt.Sprint("10.5072/moved-", i), "https://repo.example.org/old",
			mds.XML(shelltest.Read(t, "../../../../testdata/records/minimal.xml")), nil)
		require.NoError(t, err)
		own += fmt.Sprintf("10.5072/moved-%d,https://repo.example.org/moved-%[1]d,findable\n", i)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	target, err := url.Parse(srv.URL)
	require.NoError(t, err)
	var written atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			n := written.Add(1)
			if n == 1+workers { // one of them has done the first
				interrupt()
			}
			if n > 1 {
				<-ctx.Done()
				return
			}
		}
		httputil.NewSingleHostReverseProxy(target).ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	folder := t.TempDir()
	page, results := filepath.Join(folder, "report.html"), filepath.Join(folder, "results.csv")
	run := shelltest.At(srv)
	run.Ctx, run.Env["DATACITE_SERVICE"] = ctx, proxy.URL
	code, _, notes := run.Do(t, Command, "audit", "--prefix", "10.5072", "--fix", "--yes", "--html", page, "-o", results,
		shelltest.File(t, "own.csv", own))
	assert.Equal(t, shell.ExitInterrupted, code)
	assert.Contains(t, notes, "datacite: interrupted; 1 DOI repaired, ")
	assert.Contains(t, notes, "; run the same command again to continue with the rest\n")
	html := shelltest.Read(t, page)
	assert.Contains(t, string(html), "The repair was interrupted or failed.")
	assert.NotContains(t, string(html), "right</p>")
	table := shelltest.Read(t, results)
	assert.Equal(t, 1, strings.Count(string(table), ",repaired,"))
}

// A comparison that is interrupted says nothing of what it has not compared.
func TestInterruptedComparison(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	srv := shelltest.Serve(t, &datacitetest.Options{Faults: func(_ int, r *http.Request) *datacitetest.Fault {
		if strings.Contains(r.URL.RawQuery, "cursor") {
			interrupt()
		}
		return nil
	}})
	run := shelltest.At(srv)
	run.Ctx = ctx
	code, out, notes := run.Do(t, Command, "audit", "--prefix", "10.5072", shelltest.File(t, "own.csv", ownTable))
	assert.Equal(t, shell.ExitInterrupted, code)
	assert.Empty(t, out)
	assert.Equal(t, "datacite: interrupted; the comparison is incomplete; the same command begins again\n", notes)
}

// Where results cannot be printed, they are on standard error, and the repair goes on.
func TestResultsThatCannotBePrinted(t *testing.T) {
	srv := service(t, datacitetest.Documented)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	cmd, _, stderr := shelltest.At(srv).Process(t, "audit", "--prefix", "10.5072", "--only", "url,state", "--fix", "--yes",
		shelltest.File(t, "own.csv", strings.Replace(ownTable, "10.5072/missing,https://repo.example.org/missing,findable\n",
			"", 1)))
	cmd.Stdout = full
	assert.Equal(t, shell.ExitRefused, shelltest.ExitCode(t, cmd.Run()))
	assert.Contains(t, stderr.String(), "changed\t10.5072/moved\trepaired\t")
	assert.Contains(t, stderr.String(), "changed\t10.5072/hidden\trepaired\t")
	assert.Contains(t, stderr.String(), "datacite: standard output cannot be written: ")
}

// A DOI that does not exist is never right, also where missing ones are no difference.
func TestMissingAreNotRight(t *testing.T) {
	_, notes, code := call(t, service(t, datacitetest.Deployed), "--only", "url",
		shelltest.File(t, "own.csv", "doi\n10.5072/one\n10.5072/two\n"))
	assert.Equal(t, shell.ExitRefused, code)
	assert.Contains(t, notes, "0 of 2 DOIs right as to url at ")
	assert.True(t, strings.HasSuffix(notes, ": 0 differences; 2 DOIs do not exist at the service\n"), notes)
}

// Without a login, hidden DOIs are not seen; with one, nothing differs.
func TestMissingOrNotSeen(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/gone","state":"registered","url":"https://a.example/","titles":[{"title":"A"}]}`)))
	source, page := shelltest.File(t, "own.csv",
		"doi,url\n10.5072/gone,https://a.example/\n"), filepath.Join(t.TempDir(), "page.html")
	args := []string{"audit", "--prefix", "10.5072", "--only", "missing,url", source, "--quiet", "--html", page}
	code, _, notes := shelltest.Anonymous(srv).Do(t, Command, args...)
	assert.Equal(t, shell.ExitRefused, code)
	assert.Contains(t, notes, "warning: without a login only findable DOIs are seen: a missing one may be a draft, or "+
		"hidden; datacite login stores a login\n")
	html := shelltest.Read(t, page)
	assert.Contains(t, string(html), "Without a login, only findable DOIs are seen")
	code, _, notes = shelltest.At(srv).Do(t, Command, args...)
	assert.Zero(t, code, notes)
	assert.NotContains(t, notes, "login")
}

// Names and logins that are wrong are errors, although the service then shows what everybody
// may see, which may be all that is wanted.
func TestWrongNamesAndLogins(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	source := shelltest.File(t, "own.csv", "doi,url\n10.5072/right,https://repo.example.org/right\n")
	before := len(srv.Requests())
	_, notes, code := call(t, srv, "--client", "exmple.repo", source)
	assert.Len(t, srv.Requests(), before+2, "the login and the list: no row was read")
	assert.Equal(t, shell.ExitWrong, code)
	assert.True(t, strings.HasSuffix(notes, ": the service lists no DOI of exmple.repo, 10.5072; is the name right?\n"),
		notes)
	page := filepath.Join(t.TempDir(), "report.html")
	_, notes, code = call(t, srv, "--prefix", "10.5073", "--html", page, source)
	assert.Equal(t, shell.ExitWrong, code)
	assert.Contains(t, notes, "the service lists no DOI of 10.5073; is the name right?")
	assert.NoFileExists(t, page)
	code, _, notes = shelltest.Anonymous(srv).Do(t, Command, "audit", "--prefix", "10.5073", source)
	assert.Equal(t, shell.ExitWrong, code)
	assert.Contains(t, notes, "Without a login only findable DOIs are listed")
	_, notes, code = call(t, srv, "--prefix", "10.5073", "--fix", "--yes", source)
	assert.Equal(t, shell.ExitDone, code)
	assert.Contains(t, notes, "the service lists no DOI of 10.5073; is the name right?")
	assert.Contains(t, notes, "1 of 1 DOI right at ", "and it goes on")

	for _, more := range [][]string{{source}, {"--fix", "--yes", source}} {
		run := shelltest.At(srv)
		run.Env["DATACITE_PASSWORD"] = "wrong"
		code, out, notes := run.Do(t, Command, append([]string{"audit", "--prefix", "10.5072"}, more...)...)
		assert.Equal(t, shell.ExitWrong, code)
		assert.True(t, strings.HasPrefix(notes, "datacite: "+of(srv)+" refuses the login of "+datacitetest.Username+": "),
			notes)
		assert.Empty(t, out)
	}
}

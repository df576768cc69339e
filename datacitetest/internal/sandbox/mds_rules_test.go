package sandbox_test

import (
	"encoding/base64"
	"encoding/xml"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

const storeTables = "deployed-store.md"

// filledStore is a Deployed store in the state that the tables begin with.
func filledStore(t testing.TB) *sandbox.Service {
	if firstStore == nil {
		firstStore = fillStore(t, deployed())
	}
	return firstStore.Copy()
}

var firstStore *sandbox.Service

// fill makes one DOI in each state, two of another account, one that has a name alone and one
// whose XML is broken.
func fillStore(t testing.TB, s *sandbox.Service) *sandbox.Service {
	for _, doi := range []string{"10.5072/draft", "10.5072/found", "10.5072/hidden"} {
		require.Equal(t, 201, putMetadata(doi, testkit.Expand(t, storeTables, "[[RECORD]]")).do(t, s).status)
	}
	for _, doi := range []string{"10.5072/found", "10.5072/hidden"} {
		require.Equal(t, 201, putURL(doi, doi, "https://example.org/"+doi).do(t, s).status)
	}
	require.Equal(t, 200, call{method: "DELETE", path: "/metadata/10.5072/hidden", as: "repo"}.do(t, s).status)
	for _, record := range []string{
		`{"doi":"10.70000/theirs","client":"other.repo","state":"findable","url":"https://example.org/","xml":"PGEvPg=="}`,
		`{"doi":"10.70000/secret","client":"other.repo","state":"draft","url":"https://example.org/secret","xml":"PGEvPg=="}`,
		`{"doi":"10.5072/bare","state":"draft"}`,
		`{"doi":"10.5072/broken","state":"draft","xml":"PHJlc291cmNl"}`,
	} {
		require.NoError(t, s.PutRecord([]byte(record)))
	}
	return s
}

// as are the logins of the tables.
var logins = map[string]string{
	"other": "OTHER.REPO:secret", "wrong": "EXAMPLE.REPO:wrong", "unknown": "NOBODY.KNOWN:secret",
	"blank":  "EXAMPLE.REPO:",
	"member": "EXAMPLE:secret", "lead": "CONS:secret",
}

// requestOf reads a request as the tables write it: "GET /doi as wrong".
func requestOf(text, kind, body string) call {
	text, who, named := strings.Cut(text, " as ")
	method, path, _ := strings.Cut(text, " ")
	c := call{method: method, path: path, header: map[string]string{}, body: body, as: "repo"}
	if kind != "" {
		c.header["Content-Type"] = strings.TrimSuffix(kind, "(empty)")
	}
	if named {
		c.as = ""
	}
	if login, ok := logins[who]; ok {
		c.header["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(login))
	}
	return c
}

// assertAnswer compares an answer with what a table says: status and text, in
// which "…" is any text.
func assertAnswer(t *testing.T, want string, a answer) {
	t.Helper()
	status, text, _ := strings.Cut(want, " ")
	assert.Equal(t, status, strconv.Itoa(a.status), a.body)
	form := strings.ReplaceAll(regexp.QuoteMeta(text), "…", "(?s:.*)")
	assert.Regexp(t, `\A`+form+`\z`, a.body)
}

// Each name of the tables arrives where they say, read and written, or is refused.
func TestStoreNames(t *testing.T) {
	arrived := 0
	for _, table := range []struct{ name, base string }{{"Names", "/metadata/"}, {"Names in the DOI API", "/dois/"}} {
		for _, row := range testkit.Table(t, storeTables, table.name) {
			path, arrives := row[0], row[1]
			t.Run(table.base+path, func(t *testing.T) {
				if testName(t, table.base, path, arrives) {
					arrived++
				}
			})
		}
	}
	assert.Greater(t, arrived, 30)
}

// testName reports whether the name is supported.
func testName(t *testing.T, base, path, arrives string) bool {
	s := deployed()
	put := func(doi, mark string) {
		record := testkit.Expand(t, storeTables, `[[RECORD: "DOI"> => "DOI">10.5072/x]]`)
		require.NoError(t, s.PutRecord(mustJSON(t, map[string]any{
			"doi": doi, "state": "findable", "client": "example.repo", "url": "https://example.org/" + mark,
			"xml": base64.StdEncoding.EncodeToString([]byte(strings.Replace(record, "Climate of the Alps", mark, 1))),
		})))
	}
	read := call{method: "GET", path: base + path, as: "repo",
		header: map[string]string{"Accept": "application/vnd.datacite.datacite+xml"}}
	hide := call{method: "DELETE", path: base + path, as: "repo"}
	if base == "/dois/" {
		hide = call{method: "PATCH", path: base + path, as: "repo",
			body: `{"data":{"type":"dois","attributes":{"event":"hide"}}}`}
		hide.header = map[string]string{"Content-Type": "application/vnd.api+json"}
	}
	if a := read.do(t, s); a.status == 501 {
		assert.Contains(t, a.body, "Not supported by this test service")
		assert.Equal(t, 501, hide.do(t, s).status)
		return false
	}
	if arrives == "-" {
		put("10.5072/a", "x")
		put("10.5072/b", "x")
		assert.NotContains(t, read.do(t, s).body, "<title>x</title>")
		hide.do(t, s)
		assert.Equal(t, []string{"10.5072/a", "10.5072/b"}, s.Names(), "no DOI is made")
		assert.Equal(t, "findable findable", s.State("10.5072/a")+" "+s.State("10.5072/b"), "and none is changed")
		return true
	}
	doi, err := url.PathUnescape(arrives)
	require.NoError(t, err)
	put(doi, "here")
	if as, err := url.PathUnescape(path); err == nil && strings.HasPrefix(as, "10.5072/") && !strings.EqualFold(as, doi) {
		read.do(t, s) // nothing but what arrives is there
	}
	assert.Contains(t, read.do(t, s).body, "<title>here</title>")
	if base == "/metadata/" && !strings.ContainsAny(strings.ToLower(path), "%") {
		assert.Equal(t, "https://example.org/here", call{method: "GET", path: "/doi/" + path, as: "repo"}.do(t, s).body)
	}
	assert.Equal(t, 200, hide.do(t, s).status)
	assert.Equal(t, "registered", s.State(doi))
	return true
}

// Each path mints under the prefix that the table says.
func TestStorePrefixes(t *testing.T) {
	for _, row := range testkit.Table(t, storeTables, "Prefixes") {
		t.Run(row[0], func(t *testing.T) {
			s := deployed()
			a := putMetadata(row[0], testkit.Expand(t, storeTables, "[[RECORD]]")).do(t, s)
			assertAnswer(t, row[1], a)
		})
	}
}

// Each request of the table gets the answer that the table says.
func TestStoreExchanges(t *testing.T) {
	for _, row := range testkit.Table(t, storeTables, "Exchanges") {
		t.Run(strings.Join(row[:3], " | "), func(t *testing.T) {
			a := requestOf(row[0], row[1], testkit.Expand(t, storeTables, row[2])).do(t, filledStore(t))
			assertAnswer(t, row[3], a)
		})
	}
}

// What is not supported is listed with what is answered in its place, and only that.
func TestStoreExchangesUnsupported(t *testing.T) {
	for _, row := range testkit.Table(t, storeTables, "Unsupported exchanges") {
		t.Run(strings.Join(row[:3], " | "), func(t *testing.T) {
			a := requestOf(row[0], row[1], testkit.Expand(t, storeTables, row[2])).do(t, filledStore(t))
			assertAnswer(t, row[4], a)
			assert.NotEqual(t, row[3], row[4], "this is supported: move the row to Exchanges")
		})
	}
}

// Each document is taken for what the table says.
func TestStoreFormats(t *testing.T) {
	for _, row := range testkit.Table(t, storeTables, "Formats") {
		t.Run(row[0]+" | "+row[1], func(t *testing.T) {
			s := filledStore(t)
			path := "/metadata/10.5072/new"
			document, found := strings.CutPrefix(row[0], "found: ")
			if found {
				path = "/metadata/10.5072/found"
			}
			a := requestOf("PUT "+path, row[1], testkit.Expand(t, storeTables, document)).do(t, s)
			assertAnswer(t, row[2], a)
			assert.Equal(t, row[3], summary(t, s, path))
		})
	}
}

// summary are titles, creators, publisher, year and type of a stored record;
// "-" is no record.
func summary(t testing.TB, s *sandbox.Service, path string) string {
	a := call{method: "GET", path: path, as: "repo"}.do(t, s)
	if a.status != 200 {
		return "-"
	}
	var record struct {
		Titles    []string `xml:"titles>title"`
		Creators  []string `xml:"creators>creator>creatorName"`
		Publisher string   `xml:"publisher"`
		Year      string   `xml:"publicationYear"`
		Type      struct {
			General string `xml:"resourceTypeGeneral,attr"`
		} `xml:"resourceType"`
	}
	require.NoError(t, xml.Unmarshal([]byte(a.body), &record), a.body)
	return strings.Join([]string{
		strings.Join(record.Titles, ", "), strings.Join(record.Creators, " and "), record.Publisher, record.Year,
		record.Type.General,
	}, "; ")
}

// Each document is stored as the table says, if it is well-formed.
func TestStoreDocuments(t *testing.T) {
	for _, table := range []string{"Documents", "Broken documents"} {
		for _, row := range testkit.Table(t, storeTables, table) {
			t.Run(row[0], func(t *testing.T) {
				s := deployed()
				a := putMetadata("10.5072/new", testkit.Expand(t, storeTables, row[0])).do(t, s)
				status, stored, _ := strings.Cut(row[1], " ")
				if table == "Broken documents" {
					status = "501"
				}
				assert.Equal(t, status, strconv.Itoa(a.status), a.body)
				kept := call{method: "GET", path: "/metadata/10.5072/new", as: "repo"}.do(t, s)
				if a.status == 201 {
					form := strings.ReplaceAll(regexp.QuoteMeta(testkit.Expand(t, storeTables, stored)), "…", "(?s:.*)")
					assert.Regexp(t, form, kept.body)
				} else {
					assert.Equal(t, 404, kept.status)
				}
			})
		}
	}
}

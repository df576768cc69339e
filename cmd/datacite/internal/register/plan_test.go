package register

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/metadata"
)

// A record that cannot be shown as XML is an error, and not an empty document.
func TestMetadataThatXMLCannotHold(t *testing.T) {
	bad := metadata.Record{Titles: metadata.List[metadata.Title]{{Title: "Glacier\x01length"}}}
	data, err := (&row{Row: &table.Row{Record: &bad}}).metadata()
	require.ErrorIs(t, err, datacite.ErrInvalid)
	assert.Empty(t, data)
}

// A dry run says what a run would do with each record, and the run does it.
func TestADryRunIsAPlan(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	const properties = `"creators":[{"name":"Lovelace, Ada"}],"titles":[{"title":"Glacier ` +
		`length"}],"publisher":{"name":"R"},"publicationYear":2026,"types":{"resourceTypeGeneral":"Dataset"}`
	rest := `,"url":"https://a.example/",` + properties
	before := shelltest.File(t, "before.jsonl", `{"doi":"10.5072/json"`+rest+`}
{"doi":"10.5072/same"`+rest+`}
{"doi":"10.5072/loss"`+rest+`,"dates":[{"date":"c. 1850","dateType":"Created"}]}
`)
	code, _, notes := start(t, srv, before)
	require.Zero(t, code, notes)
	document := strings.Replace(string(shelltest.Read(t, "record.xml")), "</resource>",
		"<language>en</language></resource>", 1)
	for _, name := range []string{"xml", "both"} {
		code, _, notes = start(t, srv, shelltest.File(t, "record.xml", document), "--doi", "10.5072/"+name, "--url",
			"https://a.example/")
		require.Zero(t, code, notes)
	}
	const square = `{"geoLocationPolygon":[[{"polygonPoint":{"pointLongitude":0,"pointLatitude":0}},` +
		`{"polygonPoint":{"pointLongitude":1,"pointLatitude":0}},` +
		`{"polygonPoint":{"pointLongitude":1,"pointLatitude":1}},{"polygonPoint":{"pointLongitude":0,"pointLatitude":0}}],` +
		`[{"polygonPoint":{"pointLongitude":0,"pointLatitude":0}},{"polygonPoint":{"pointLongitude":2,"pointLatitude":0}},` +
		`{"polygonPoint":{"pointLongitude":2,"pointLatitude":2}},{"polygonPoint":{"pointLongitude":0,"pointLatitude":0}}]]}`
	after := shelltest.File(t, "after.jsonl", `{"doi":"10.5072/new"`+rest+`}
{"doi":"10.5072/json","titles":[{"title":"Snow depth"}]}
{"doi":"10.5072/same"`+rest+`}
{"doi":"10.5072/xml","titles":[{"title":"Snow depth"}]}
{"doi":"10.5072/both","language":null}
{"doi":"10.5072/loss","geoLocations":[`+square+`]}
`)
	writes := func() (n int) {
		for _, r := range srv.Requests() {
			if r.Method != http.MethodGet && strings.HasPrefix(r.URL.Path, "/dois") {
				n++
			}
		}
		return n
	}
	sent := writes()
	code, out, notes := start(t, srv, after, "--dry-run")
	assert.Equal(t, 1, code)
	place := regexp.MustCompile(`\S*after\.jsonl`)
	where := strings.TrimPrefix(srv.URL, "http://")
	assert.Equal(t, `after.jsonl, record 1: 10.5072/new would be created, as JSON
after.jsonl, record 2: 10.5072/json would be updated, as JSON
  titles[0].title: "Glacier length" → "Snow depth"
after.jsonl, record 4: 10.5072/xml would be updated, into the stored XML
  titles[0].title: "Glacier length" → "Snow depth"
after.jsonl, record 5: 10.5072/both would be updated, as JSON, then the XML again
  language: "en" → nothing
after.jsonl: dry run of 6 records at `+where+`: 1 created, 3 updated, 1 unchanged, 1 failed; nothing was sent
`, place.ReplaceAllString(out, "after.jsonl"))
	assert.Contains(t, notes, "after.jsonl, record 6: the change would lose something else: 10.5072/loss: "+
		"dates[0].date: would be missing in the JSON\n")
	assert.Contains(t, notes, "datacite: 1 of 6 records would fail; nothing was sent\n")

	code, out, notes = start(t, srv, after, "--dry-run", "--allow-loss")
	assert.Zero(t, code, notes)
	assert.Contains(t, out, "10.5072/loss would be updated, into the stored XML\n  geoLocations[0]")
	assert.Contains(t, notes, "warning: ")
	assert.Contains(t, notes, "after.jsonl, record 6: dates[0].date: ")
	code, out, _ = start(t, srv, after, "--dry-run", "--json")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, `"result":"checked","place":`)
	assert.Contains(t, out, `"road":"into the stored XML","changes":[{"path":"titles[0].title","desired":"Snow `+
		`depth","found":"Glacier length"}]}`)
	assert.Contains(t, out, `"result":"failed","error":"the change would lose something else: 10.5072/loss: dates[0].date`)
	assert.Equal(t, sent, writes(), "nothing was sent")

	code, out, notes = start(t, srv, after, "--allow-loss")
	require.Zero(t, code, notes)
	assert.Contains(t, out, ": 1 created, 4 updated, 1 unchanged\n")
	code, out, notes = start(t, srv, after, "--dry-run")
	require.Zero(t, code, notes)
	assert.Contains(t, out, ": 6 unchanged; nothing was sent\n")
	assert.Equal(t, 1, strings.Count(out, "\n"))
	assert.Equal(t, "findable", srv.State("10.5072/new"))
}

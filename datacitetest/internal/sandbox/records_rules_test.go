package sandbox_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

const recordTables = "deployed-records.md"

// recordsService is a deployed service in the state that the tables begin with.
func recordsService(t testing.TB) *sandbox.Service { return withRecords(t, sandbox.Deployed) }

func withRecords(t testing.TB, behaviour sandbox.Behaviour) *sandbox.Service {
	t.Helper()
	service := newServiceAs(behaviour)
	complete := testkit.Expand(t, recordTables, "[[COMPLETE]]")
	for _, attributes := range []string{
		`"doi":"10.5072/draft",` + complete, `"doi":"10.5072/found","event":"publish",` + complete, `"doi":"10.5072/bare"`,
	} {
		require.Equal(t, 201, create(attributes).do(t, service).status)
	}
	seed(t, service, `{"doi":"10.70000/theirs","client":"other.repo"}`,
		`{"doi":"10.70000/secret","client":"other.repo","state":"draft"}`)
	return service
}

// writeOf is a request of the tables with a body: attributes, a whole payload, or XML
// as the attribute of that name.
func writeOf(t testing.TB, request, body string) call {
	kind := "application/vnd.api+json"
	request, coding, _ := strings.Cut(request, " encoded ")
	if text, other, typed := strings.Cut(request, " with "); typed {
		request, kind = text, other
	}
	body = testkit.Expand(t, recordTables, body)
	switch {
	case strings.HasPrefix(body, "xml: "):
		document, more, _ := strings.Cut(strings.TrimPrefix(body, "xml: "), " and ")
		body = `"xml":"` + base64.StdEncoding.EncodeToString([]byte(document)) + `"`
		if more != "" {
			body += "," + more
		}
		body = payload(body)
	case strings.HasPrefix(body, `"`) || body == "":
		body = payload(body)
	case strings.HasPrefix(body, "gzip: "):
		body = string(zipped([]byte(strings.TrimPrefix(body, "gzip: "))))
	case strings.HasPrefix(body, "deflate: "):
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		_, _ = io.WriteString(w, strings.TrimPrefix(body, "deflate: "))
		_ = w.Close()
		body = b.String()
	case strings.HasPrefix(body, "raw: "):
		body = strings.TrimPrefix(body, "raw: ")
	}
	c := requestOf(request, kind, body)
	if coding != "" {
		c.header["Content-Encoding"] = coding
	}
	if _, who, named := strings.Cut(request, " as "); named && strings.HasPrefix(who, "role ") {
		c.as, c.header["Authorization"] = "", "Bearer "+tokenOf(strings.TrimPrefix(who, "role "))
	}
	return c
}

// tokenOf is a token of the first account with that role.
func tokenOf(role string) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part(fmt.Appendf(nil,
		`{"uid":"example.repo","role_id":%q,"exp":4102444800}`, role)) + "."
}

// outcome is an answer as the tables have it: its status, and what is wrong, or the state.
func outcome(t testing.TB, a answer) string {
	out := fmt.Sprint(a.status)
	if a.status < 300 {
		if a.body != "" {
			out += " " + fmt.Sprint(at(a.read(t), "data.attributes.state"))
		}
		return out
	}
	var said struct {
		Title  string
		Errors []struct{ Source, Title, UID, Status string }
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &said), a.body)
	var all []string
	for _, e := range said.Errors {
		if e.Status != "" {
			assert.Equal(t, fmt.Sprint(a.status), e.Status)
			all = append(all, e.Title)
		} else {
			all = append(all, e.Source+": "+e.Title)
			assert.NotEmpty(t, e.UID, "each fault names the DOI")
		}
	}
	if said.Errors == nil {
		all = append(all, said.Title)
	}
	return out + " " + strings.Join(all, "; ")
}

// assertForm compares a text with one in which "…" is any text.
func assertForm(t *testing.T, want, got string) {
	t.Helper()
	form := strings.ReplaceAll(regexp.QuoteMeta(want), "…", "(?s:.*)")
	assert.Regexp(t, `\A`+form+`\z`, got)
}

// Each write of the table gets the answer that the table says, with both behaviours or the one that it names.
func TestRecordWrites(t *testing.T) {
	for _, row := range testkit.Table(t, recordTables, "Writes") {
		t.Run(row[0]+" "+row[1], func(t *testing.T) {
			request, behaviours := supportedBy(row[0])
			for _, behaviour := range behaviours {
				service := withRecords(t, behaviour)
				before := service.Names()
				a := writeOf(t, request, row[1]).do(t, service)
				assertForm(t, row[2], outcome(t, a))
				if a.status >= 300 {
					assert.Equal(t, before, service.Names(), "nothing is stored")
				}
			}
		})
	}
}

// What is written is shown as the table says. "old" is a record that there is, in
// the state of the samples; others are new.
func TestRecordMembers(t *testing.T) {
	for _, row := range testkit.Table(t, recordTables, "Members") {
		t.Run(row[0]+" "+row[1], func(t *testing.T) {
			for _, behaviour := range []sandbox.Behaviour{sandbox.Documented, sandbox.Deployed} {
				service := withRecords(t, behaviour)
				request, written := "PUT /dois/10.5072/new", row[0]
				if old, found := strings.CutPrefix(written, "old: "); found {
					request, written = "PUT /dois/10.5072/draft", old
				}
				a := writeOf(t, request, written).do(t, service)
				require.Less(t, a.status, 300, a.body)
				kept := requestOf("GET "+strings.TrimPrefix(request, "PUT ")+"?affiliation=true&publisher=true", "", "").do(t,
					service)
				shown := at(kept.read(t), "data.attributes")
				if row[1] == "xml" {
					encoded, _ := at(shown, "xml").(string)
					text, err := base64.StdEncoding.DecodeString(encoded)
					require.NoError(t, err)
					assertForm(t, row[2], string(text))
					continue
				}
				assert.JSONEq(t, row[2], string(mustJSON(t, at(shown, row[1]))))
			}
		})
	}
}

// Each request that reads gets the answer that the table says: status, type and text.
func TestRecordReads(t *testing.T) {
	for _, row := range testkit.Table(t, recordTables, "Reads") {
		t.Run(row[0]+" "+row[1], func(t *testing.T) {
			request, behaviours := supportedBy(row[0])
			for _, behaviour := range behaviours {
				c := requestOf(request, "", "")
				if row[1] != "" {
					c.header["Accept"] = row[1]
				}
				a := c.do(t, withRecords(t, behaviour))
				assertForm(t, row[2], strings.TrimSpace(fmt.Sprintf("%d %s %s", a.status, a.header.Get("Content-Type"), a.body)))
			}
		})
	}
}

// Times of one record are to the second, those of lists without a fraction.
func TestRecordTimes(t *testing.T) {
	service := recordsService(t)
	one := requestOf("GET /dois/10.5072/found", "", "").do(t, service).read(t)
	many := listed(t, service, "", "")
	for _, name := range []string{"created", "updated", "registered"} {
		assert.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$`, at(one, "data.attributes."+name))
		assert.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, at(many, "data.0.attributes."+name))
	}
}

// A transfer moves the record as it is: its account and the time of its update are others, and nothing else. An
// ordinary write moves none.
func TestRecordTransfer(t *testing.T) {
	to := func(attributes string) string {
		return `{"data":{"attributes":{` + attributes +
			`},"relationships":{"client":{"data":{"type":"clients","id":"other.repo"}}}}}`
	}
	for _, behaviour := range []sandbox.Behaviour{sandbox.Documented, sandbox.Deployed} {
		service := withRecords(t, behaviour)
		service.Advance(time.Hour)
		show := func(who string) map[string]any {
			data := at(requestOf("GET /dois/10.5072/draft"+who, "", "").do(t, service).read(t), "data").(map[string]any)
			delete(data["attributes"].(map[string]any), "updated")
			return data
		}
		writeOf(t, "PUT /dois/10.5072/draft", to(`"url":"https://example.org/1"`)).do(t, service)
		before := show("")
		assert.Equal(t, "example.repo", at(before, "relationships.client.data.id"))
		a := writeOf(t, "PUT /dois/10.5072/draft as member", to(`"mode":"transfer","url":"https://example.org/2"`)).do(t,
			service)
		require.Equal(t, 200, a.status, a.body)
		assert.Equal(t, 404, requestOf("GET /dois/10.5072/draft", "", "").do(t, service).status, "it is a draft of others")
		after := show(" as other")
		assert.Equal(t, before["attributes"], after["attributes"])
		assert.Equal(t, "other.repo", at(after, "relationships.client.data.id"))
		assert.Equal(t, "other", at(after, "relationships.provider.data.id"))
		assert.Equal(t, 200, requestOf("GET /dois/10.5072/draft as lead", "", "").do(t, service).status)
	}
}

// The metadata have a new version when their XML is another.
func TestRecordVersions(t *testing.T) {
	service := recordsService(t)
	for _, step := range []struct {
		written string
		version float64
	}{
		{`"url":"https://example.org/2"`, 0}, {`"titles":[{"title":"Other"}]`, 1}, {`"titles":[{"title":"Other"}]`, 1},
		{`"subjects":[{"subject":"s"}]`, 2},
	} {
		a := update("10.5072/draft", step.written).do(t, service)
		assert.Equal(t, step.version, at(a.read(t), "data.attributes.metadataVersion"), step.written)
	}
	seed(t, service, `{"doi":"10.5072/seed","metadataVersion":7,`+complete+`}`)
	a := update("10.5072/seed", `"titles":[{"title":"Other"}]`).do(t, service)
	assert.Equal(t, 8.0, at(a.read(t), "data.attributes.metadataVersion"))
}

// The XML is written from the stored attributes, with the escapes of reading XML.
func TestRecordRewritten(t *testing.T) {
	service := recordsService(t)
	document := strings.Replace(strings.ReplaceAll(testkit.Expand(t, "deployed-records.md", "[[RECORD]]"), "10.5072/other",
		"10.5072/draft"), "Climate of the Alps", "Salt &amp; Pepper", 1)
	xml := base64.StdEncoding.EncodeToString([]byte(document))
	stored := func(attributes string) string {
		text, _ := at(update("10.5072/draft", attributes).do(t, service).read(t), "data.attributes.xml").(string)
		data, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		return string(data)
	}
	assert.Contains(t, stored(`"doi":"10.5072/draft","xml":"`+xml+`"`), "<title>Salt &amp; Pepper</title>")
	assert.Contains(t, stored(`"url":"https://example.org/2"`), "<title>Salt &amp; Pepper</title>")
	assert.Contains(t, stored(`"contentUrl":["https://example.org/data"]`), "<title>Salt &amp;amp; Pepper</title>")
}

// The checks of the landing page are for the owner alone.
func TestRecordLandingPage(t *testing.T) {
	service := recordsService(t)
	page := func(as string) any {
		return at(requestOf("GET /dois/10.5072/found"+as, "", "").do(t, service).read(t), "data.attributes")
	}
	assert.Nil(t, page("").(map[string]any)["landingPage"])
	assert.Contains(t, page(""), "landingPage", "it is there, and null")
	update("10.5072/found", `"landingPage":{"status":200,"unknown":1}`).do(t, service)
	assert.Equal(t, map[string]any{"status": 200.0}, at(page(""), "landingPage"))
	assert.NotContains(t, page(" as nobody"), "landingPage")
	assert.NotContains(t, page(" as other"), "landingPage")
}

// A record that was written in JSON can be read as XML, through either interface.
func TestRecordXMLOfJSON(t *testing.T) {
	service := recordsService(t)
	inStore := requestOf("GET /metadata/10.5072/found", "", "").do(t, service)
	read := requestOf("GET /dois/10.5072/found", "", "")
	read.header["Accept"] = "application/vnd.datacite.datacite+xml"
	assert.Contains(t, inStore.body, `<identifier identifierType="DOI">10.5072/FOUND</identifier>`)
	assert.Equal(t, inStore.body, read.do(t, service).body)
	assert.Empty(t, strings.TrimSpace(requestOf("GET /metadata/10.5072/bare", "", "").do(t, service).body),
		"but not one that says nothing")
}

func TestRecordRights(t *testing.T) {
	for length, want := range map[int]string{2000: "201 draft",
		2001: "422 rights_list: Rights should not have a length of more than 2000 characters."} {
		a := create(`"doi":"10.5072/x","rightsList":[{"rights":"`+strings.Repeat("é", length)+`"}]`).do(t, recordsService(t))
		assert.Equal(t, want, outcome(t, a))
	}
}

func TestRecordLocation(t *testing.T) {
	service := recordsService(t)
	assert.Regexp(t, `/dois/[0-9]+$`, create(`"doi":"10.5072/x"`).do(t, service).header.Get("Location"))
	assert.Empty(t, update("10.5072/y", "").do(t, service).header.Get("Location"))
}

func TestRecordCompressedResponses(t *testing.T) {
	const tagged = ` max-age=0, private, must-revalidate W/"…"`
	for request, want := range map[string]struct{ body, plain, zipped string }{
		"GET /dois/10.5072/found":    {"raw: ", "200 " + tagged, "200 gzip no-cache "},
		"POST /dois":                 {`"doi":"10.5072/x"`, "201 " + tagged, "201 gzip no-cache "},
		"GET /dois/10.5072/nothing":  {"raw: ", "404  no-cache ", "404  no-cache "},
		"DELETE /dois/10.5072/draft": {"raw: ", "204  no-cache ", "204  no-cache "},
	} {
		for accept, form := range map[string]string{"identity": want.plain, "gzip": want.zipped} {
			c := writeOf(t, request, want.body)
			c.header["Accept-Encoding"] = accept
			a := c.do(t, recordsService(t))
			h := a.header
			assertForm(t, form, fmt.Sprint(a.status, " ", h.Get("Content-Encoding"), " ", h.Get("Cache-Control"), " ",
				h.Get("ETag")))
			assert.Equal(t, a.status == 201, h.Get("Location") != "", "the other headers stay")
			if h.Get("Content-Encoding") == "gzip" {
				a.body = string(unzipped(t, []byte(a.body)))
			}
			assert.Equal(t, a.status < 300 && a.status != 204, strings.HasPrefix(a.body, `{"data":`), a.body)
		}
	}
}

func TestRecordMinting(t *testing.T) {
	for prefix, form := range map[string]string{"10.5072": "", "10.5072/shoulder": "shoulder-"} {
		a := create(`"prefix":"`+prefix+`"`).do(t, recordsService(t))
		assert.Regexp(t, `^10\.5072/`+form+`[0-9a-z]{4}-[0-9a-z]{4}$`, at(a.read(t), "data.id"))
	}
}

// What was put there as it is stays so until it is written, and a write that is
// refused changes nothing of it.
func TestRecordSeeds(t *testing.T) {
	service := deployed()
	seed(t, service, `{"doi":"10.5072/odd","state":"draft","publisher":"P","alternateIdentifiers":[{"alternateIdentifier":"A","alternateIdentifierType":"local"}],
		"geoLocations":[{"geoLocationPoint":{"pointLongitude":"1.50","pointLatitude":"2"}}],"unknown":[1]}`)
	read := func() any {
		return at(requestOf("GET /dois/10.5072/odd", "", "").do(t, service).read(t), "data.attributes")
	}
	before := read()
	assert.Equal(t, "1.50", at(before, "geoLocations.0.geoLocationPoint.pointLongitude"))
	assert.Equal(t, 422, update("10.5072/odd", `"url":"mailto:x@example.org"`).do(t, service).status)
	assert.Equal(t, before, read())

	assert.Equal(t, 200, update("10.5072/odd", `"url":"https://example.org/"`).do(t, service).status)
	assert.Equal(t, 1.5, at(read(), "geoLocations.0.geoLocationPoint.pointLongitude"))
	assert.Equal(t, "A", at(read(), "identifiers.0.identifier"))
	assert.Equal(t, "P", at(read(), "publisher"))
	assert.Equal(t, []any{1.0}, at(read(), "unknown"))
}

// No body makes a Deployed service panic, and what it keeps can be read in each format.
func FuzzRecordWrites(f *testing.F) {
	for _, row := range testkit.Table(f, recordTables, "Writes") {
		f.Add(writeOf(f, "", row[1]).body)
	}
	for _, row := range testkit.Table(f, recordTables, "Members") {
		f.Add(writeOf(f, "", strings.TrimPrefix(row[0], "old: ")).body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		service := deployed()
		create(`"doi":"10.5072/draft","publisher":"P"`).do(t, service)
		c := requestOf("PUT /dois/10.5072/draft", "application/json", body)
		if a := c.do(t, service); a.status >= 300 {
			return
		}
		for _, accept := range []string{
			"application/json", "application/x-bibtex", "application/vnd.citationstyles.csl+json", "text/x-bibliography",
			"application/vnd.datacite.datacite+json",
		} {
			c := requestOf("GET /dois/10.5072/draft", "", "")
			c.header["Accept"] = accept
			assert.Contains(t, []int{200, 400}, c.do(t, service).status, accept)
		}
	})
}

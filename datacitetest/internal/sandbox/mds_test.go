package sandbox_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

var xmlType = map[string]string{"Content-Type": "application/xml;charset=UTF-8"}

var textType = map[string]string{"Content-Type": "text/plain;charset=UTF-8"}

// metadataXML is a record with the mandatory properties alone.
const metadataXML = `<?xml version="1.0" encoding="UTF-8"?>
<resource xmlns="http://datacite.org/schema/kernel-4" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://datacite.org/schema/kernel-4 https://schema.datacite.org/meta/kernel-4/metadata.xsd">
  <!-- kept as it is -->
  <identifier identifierType="DOI"></identifier>
  <creators><creator><creatorName>Garza, Kristian</creatorName></creator></creators>
  <titles><title>Climate of the Alps</title></titles>
  <publisher>Example Archive</publisher>
  <publicationYear>2020</publicationYear>
  <resourceType resourceTypeGeneral="Dataset">Table</resourceType>
</resource>`

func putMetadata(path, body string) call {
	return call{method: "PUT", path: "/metadata/" + path, header: xmlType, body: body, as: "repo"}
}

func putURL(path, doi, url string) call {
	return call{method: "PUT", path: "/doi/" + path, header: textType, body: "doi=" + doi + "\nurl=" + url, as: "repo"}
}

// filled is a Documented store in the state that the tables begin with.
func filled(t *testing.T) *sandbox.Service { return fillStore(t, newService()) }

// Specification §3.1 and §8: a DOI resolves after a delay.
func TestADOIResolvesAfterADelay(t *testing.T) {
	service := sandbox.New(&sandbox.Options{ResolveDelay: time.Minute})
	const doi = "10.5072/slow"
	resolves := func() string {
		url, _ := service.Resolve(doi)
		return url
	}
	putMetadata(doi, metadataXML).do(t, service)
	putURL(doi, doi, "https://example.org/1").do(t, service)
	assert.Empty(t, resolves(), "registered a moment ago")
	service.Advance(time.Minute)
	assert.Equal(t, "https://example.org/1", resolves())

	putURL(doi, doi, "https://example.org/2").do(t, service)
	assert.Equal(t, "https://example.org/1", resolves(), "the new URL needs its time too")
	service.Advance(time.Minute)
	assert.Equal(t, "https://example.org/2", resolves())

	call{method: "DELETE", path: "/metadata/" + doi, as: "repo"}.do(t, service)
	assert.Equal(t, "https://example.org/2", resolves(), "a hidden DOI goes on resolving")
	_, ok := service.Resolve("10.5072/unknown")
	assert.False(t, ok)
}

// Specification §2.3, §4.3 and §7: what the store responds, but to metadata.
func TestSpecifiedStore(t *testing.T) {
	const draft, lines = "PUT /doi/10.5072/draft", "doi=10.5072/draft\nurl=https://example.org/"
	for _, row := range []struct {
		request, body string
		status        int
		text          string
	}{
		{"GET /metadata/10.5072/draft", "", 200, "<title>Climate of the Alps</title>"},
		{"GET /metadata/10.5072/hidden", "", 200, "<title>Climate of the Alps</title>"},
		{"GET /metadata/10.5072/FOUND", "", 200, "<title>Climate of the Alps</title>"},
		{"GET /metadata/10.5072%2Ffound", "", 200, "<title>Climate of the Alps</title>"},
		{"GET /metadata/10.5072/bare", "", 204, ""},
		{"GET /metadata/10.5072/unknown", "", 404, "DOI is unknown to MDS"},
		{"GET /metadata/unknown", "", 404, "DOI not found"},
		{"GET /metadata/10.70000/theirs", "", 403, "Access is denied"},
		{"GET /metadata/10.5072/broken", "", 422, "XML is not well formed"},
		{"GET /metadata/10.5072/found/", "", 404, "DOI is unknown to MDS"}, // the slash is part of the name

		{draft, lines, 201, "OK"},
		{draft, lines + "\n", 201, "OK"},
		{draft, strings.ReplaceAll(lines, "\n", "\r\n") + "\r\n", 201, "OK"},
		{draft, strings.Replace(lines, "https", "ftp", 1), 201, "OK"},
		{"PUT /doi/10.5072/Draft", strings.Replace(lines, "draft", "DRAFT", 1), 201, "OK"},
		{draft, "", 400, "param 'doi' required"},
		{draft, "doi=10.5072/draft", 400, "two lines"},
		{draft, strings.Replace(lines, "\n", " ", 1), 400, "two lines"},
		{draft, lines + "\nx=1", 400, "two lines"},
		{draft, "url=https://example.org/\ndoi=10.5072/draft", 400, "param 'doi' required"},
		{draft, "doi=10.5072/draft\nurl=", 400, "param 'url' required"},
		{draft, strings.Replace(lines, "draft", "found", 1), 400, "does not match"},
		{draft, strings.Replace(lines, "10.5072/", "", 1), 400, "does not match"},
		{"POST /doi", strings.Replace(lines, "10.5072/", "", 1), 400, "not a DOI"},
		{"POST /doi", lines, 201, "OK"},
		{draft, "doi=10.5072/draft\nurl=mailto:a@example.org", 400, "Not a valid"},
		{draft, lines + "a+b", 400, "Not a valid"}, // a plus is a blank
		{"PUT /doi/10.70000/theirs", strings.Replace(lines, "10.5072/draft", "10.70000/theirs", 1), 400, "prefix"},
		{"PUT /doi/10.5072/new", strings.Replace(lines, "draft", "new", 1), 412, "Metadata must be uploaded first"},
		{"PUT /doi/10.5072/bare", strings.Replace(lines, "draft", "bare", 1), 412, "Metadata must be uploaded first"},

		{"GET /doi/10.5072/FOUND", "", 200, "https://example.org/10.5072/found"},
		{"GET /doi/10.5072/draft", "", 204, ""},
		{"GET /doi/10.5072/unknown", "", 404, "DOI not found"},
		{"GET /doi/unknown", "", 404, "DOI not found"},
		{"GET /doi/10.70000/theirs", "", 403, "Access is denied"},
		{"GET /doi", "", 200, "10.5072/FOUND\n10.5072/HIDDEN"},

		{"GET /doi/doi:10.5072/found", "", 200, "https://example.org/10.5072/found"},
		{"GET /doi/https://doi.org/10.5072%2FFound", "", 200, "https://example.org/10.5072/found"},
		{"GET /doi/10.5072/draft/../found", "", 404, "DOI not found"}, // a name is no path

		{"GET /doi as nobody", "", 401, "An Authentication object was not found in the SecurityContext"},
		{"PUT /doi/10.5072/draft as wrong", lines, 401, "Bad credentials"},
		{"DELETE /metadata/10.5072/found as unknown", "", 401, "Bad credentials"},

		{"DELETE /doi/10.5072/draft", "", 200, "OK"},
		{"DELETE /doi/10.5072/found", "", 405, "Method not allowed"},
		{"DELETE /doi/10.5072/hidden", "", 405, "Method not allowed"},
		{"DELETE /doi/10.5072/unknown", "", 404, "DOI not found"},
		{"DELETE /doi/10.70000/theirs", "", 403, "Access is denied"},
		{"DELETE /metadata/10.5072/found", "", 200, "OK"},
		{"DELETE /metadata/10.5072/draft", "", 200, "OK"},
		{"DELETE /metadata/10.5072/unknown", "", 404, "DOI not found"},
		{"DELETE /metadata/10.70000/theirs", "", 403, "Access is denied"},

		{"PUT /doi", lines, 404, ""}, {"GET /", "", 404,
			""}, {"GET /nowhere", "", 404, ""}, {"POST /doi/10.5072/x", "", 404,
			""}, {"OPTIONS /metadata/10.5072/x", "", 404, ""},
		{"PATCH /reports/1", "", 404, ""}, {"PUT /dois", "", 404,
			""}, {"GET /dois/nothing", "", 404, ""}, {"POST /reports/" + someUUID, "", 404, ""},
	} {
		t.Run(row.request+" "+row.body, func(t *testing.T) {
			service := filled(t)
			a := requestOf(row.request, "text/plain;charset=UTF-8", row.body).do(t, service)
			assert.Equal(t, row.status, a.status, a.body)
			assert.Contains(t, a.body, row.text)
			if a.status == 200 && strings.HasPrefix(row.request, "GET /metadata") {
				assert.Equal(t, "application/xml; charset=utf-8", a.header.Get("Content-Type"))
			}
			if a.status >= 400 {
				assert.Equal(t, "draft", service.State("10.5072/draft"), "nothing has changed")
			}
			assert.Equal(t, a.status == 401 && a.body != "Bad credentials", a.header.Get("WWW-Authenticate") != "")
		})
	}
	assert.Equal(t, 204, call{method: "GET", path: "/doi", as: "repo"}.do(t, newService()).status)
	c := putURL("10.5072/draft", "10.5072/draft", "https://example.org/")
	c.header = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	assert.Equal(t, 400, c.do(t, filled(t)).status)
}

// Domains of an account, and a record of another one under a prefix of both.
func TestURLsThatAnAccountMayNotUse(t *testing.T) {
	service := filled(t)
	seed(t, service, `{"doi":"10.70000/mine","client":"other.repo","state":"draft",`+complete+`}`,
		`{"doi":"10.5072/theirs","client":"other.repo"}`)
	for address, status := range map[string]int{
		"https://example.org/x": 201, "https://www.example.net/x": 201, "https://a.b.example.net/": 201,
		"https://www.example.org/x": 400, "https://example.net/": 400, "https://badexample.net/": 400,
	} {
		c := putURL("10.70000/mine", "10.70000/mine", address)
		c.as = "other"
		assert.Equal(t, status, c.do(t, service).status, address)
	}
	assert.Equal(t, 403, putURL("10.5072/theirs", "10.5072/theirs", "https://example.org/").do(t, service).status)
}

// Specification §4.3 and §7, PUT /metadata.
func TestPutMetadata(t *testing.T) {
	with := func(header string) map[string]string { return map[string]string{"Content-Type": header} }
	without := func(part string) string { return strings.Replace(metadataXML, part, "", 1) }
	for name, want := range map[string]struct {
		path   string
		header map[string]string
		body   string
		status int
		text   string
	}{
		"a new DOI":              {"10.5072/new", xmlType, metadataXML, 201, "CREATED"},
		"a registered DOI":       {"10.5072/found", xmlType, metadataXML, 201, "HANDLE_ALREADY_EXISTS"},
		"without charset":        {"10.5072/new", with("application/xml"), metadataXML, 201, "CREATED"},
		"with a byte order mark": {"10.5072/new", xmlType, "\ufeff" + metadataXML, 201, "CREATED"},
		"foreign prefix":         {"10.70000/new", xmlType, metadataXML, 403, "Access is denied"},
		"plain text type":        {"10.5072/new", with("text/plain"), metadataXML, 415, "not supported"},
		"form type": {"10.5072/new", with("application/x-www-form-urlencoded"), metadataXML, 415,
			"not supported"},
		"JSON type": {"10.5072/new", with("application/json"), `{"@context":"https://schema.org"}`, 422,
			"unpermitted"},
		"no format": {"10.5072/new", with("text/plain"), "hello", 415, "Metadata format not recognized"},
		"XML of something else": {"10.5072/new", xmlType, `<feed xmlns="http://www.w3.org/2005/Atom"/>`, 415,
			"Metadata format not recognized"},
		"XML without a namespace": {"10.5072/new", xmlType, `<resource/>`, 415, "Metadata format not recognized"},
		"kernel 3": {"10.5072/new", xmlType, `<resource xmlns="http://datacite.org/schema/kernel-3"/>`, 422,
			"no longer supported"},
		"empty":      {"10.5072/new", xmlType, "", 422, "Can't be blank"},
		"broken XML": {"10.5072/new", xmlType, metadataXML[:400], 422, "not well formed"},
		"no identifier": {"10.5072/new", xmlType, without(`<identifier identifierType="DOI"></identifier>`), 422,
			"identifier"},
		"general type not listed": {"10.5072/new", xmlType, strings.Replace(metadataXML, `"Dataset"`, `"dataset"`, 1), 422,
			"resourceTypeGeneral"},
		"characters not allowed": {"10.5072/a%23b", xmlType, metadataXML, 422, "Is invalid"},
		"no DOI":                 {"new", xmlType, metadataXML, 404, "DOI not found"},
	} {
		t.Run(name, func(t *testing.T) {
			service := filled(t)
			a := call{method: "PUT", path: "/metadata/" + want.path, header: want.header, body: want.body, as: "repo"}.do(t,
				service)
			assert.Equal(t, want.status, a.status, a.body)
			assert.Contains(t, a.body, want.text)
			if a.status != 201 && want.path == "10.5072/new" {
				assert.Empty(t, service.State("10.5072/new"), "nothing is stored")
			}
		})
	}
}

// Specification §2.3 and §4.3: the value in the path is used.
func TestIdentifierIsOverwritten(t *testing.T) {
	for name, identifier := range map[string]string{
		"empty":       `<identifier identifierType="DOI"></identifier>`,
		"another DOI": `<identifier identifierType="DOI">10.1234/other</identifier>`,
		"one tag":     `<identifier identifierType="DOI" />`,
	} {
		t.Run(name, func(t *testing.T) {
			service := newService()
			body := strings.Replace(metadataXML, `<identifier identifierType="DOI"></identifier>`, identifier, 1)
			require.Equal(t, 201, putMetadata("10.5072/abc", body).do(t, service).status)
			got := call{method: "GET", path: "/metadata/10.5072/abc", as: "repo"}.do(t, service)
			want := strings.Replace(metadataXML, `></identifier>`, `>10.5072/ABC</identifier>`, 1)
			assert.Equal(t, strings.Join(strings.Fields(want), ""), strings.Join(strings.Fields(got.body), ""),
				"the rest stays, but for white space")
		})
	}
	t.Run("with a namespace prefix", func(t *testing.T) {
		service := newService()
		body := regexp.MustCompile(`<(/?)(\w)`).ReplaceAllString(metadataXML, "<${1}d:$2")
		body = strings.NewReplacer("xmlns=", "xmlns:d=", `"></d:identifier>`, `"/>`).Replace(body)
		require.Equal(t, 201, putMetadata("10.5072/abc", body).do(t, service).status, body)
		got := call{method: "GET", path: "/metadata/10.5072/abc", as: "repo"}.do(t, service)
		assert.Contains(t, got.body, `<d:identifier identifierType="DOI">10.5072/ABC</d:identifier>`)
	})
}

func TestPostMetadataTakesTheNameFromTheXML(t *testing.T) {
	service := newService()
	body := strings.Replace(metadataXML, `"DOI"><`, `"DOI">10.5072/Inside<`, 1)
	a := call{method: "POST", path: "/metadata", header: xmlType, body: body, as: "repo"}.do(t, service)
	assert.Equal(t, 201, a.status, a.body)
	assert.Equal(t, "draft", service.State("10.5072/inside"))
	a = call{method: "POST", path: "/metadata", header: xmlType, body: metadataXML, as: "repo"}.do(t, service)
	assert.Equal(t, 404, a.status)
}

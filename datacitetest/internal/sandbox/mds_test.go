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

// Specification §3.1.
func TestStates(t *testing.T) {
	service := newService()
	const doi = "10.5072/states"
	story := []struct {
		name   string
		call   call
		status int
		state  string
	}{
		{"metadata make a draft", putMetadata(doi, metadataXML), 201, "draft"},
		{"metadata again leave it a draft", putMetadata(doi, metadataXML), 201, "draft"},
		{"a URL makes it findable", putURL(doi, doi, "https://example.org/1"), 201, "findable"},
		{"another URL leaves it findable", putURL(doi, doi, "https://example.org/2"), 201, "findable"},
		{"metadata leave it findable", putMetadata(doi, metadataXML), 201, "findable"},
		{"it cannot be deleted any more", call{method: "DELETE", path: "/doi/" + doi, as: "repo"}, 405, "findable"},
		{"hiding makes it registered", call{method: "DELETE", path: "/metadata/" + doi, as: "repo"}, 200, "registered"},
		{"hiding again changes nothing", call{method: "DELETE", path: "/metadata/" + doi, as: "repo"}, 200, "registered"},
		{"registered ones cannot be deleted", call{method: "DELETE", path: "/doi/" + doi, as: "repo"}, 405, "registered"},
		{"metadata make it findable again", putMetadata(doi, metadataXML), 201, "findable"},
	}
	for _, step := range story {
		a := step.call.do(t, service)
		assert.Equal(t, step.status, a.status, "%s: %s", step.name, a.body)
		assert.Equal(t, step.state, service.State(doi), step.name)
	}

	require.Equal(t, 201, putMetadata("10.5072/mistake", metadataXML).do(t, service).status)
	a := call{method: "DELETE", path: "/doi/" + doi, as: "repo"}.do(t, service)
	assert.NotContains(t, a.header.Get("Allow"), "DELETE")
	a = call{method: "DELETE", path: "/doi/10.5072/mistake", as: "repo"}.do(t, service)
	assert.Equal(t, 200, a.status, "a draft can be deleted")
	assert.Empty(t, service.State("10.5072/mistake"))
	assert.Equal(t, 404, call{method: "GET", path: "/metadata/10.5072/mistake", as: "repo"}.do(t, service).status)
}

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

		{"DELETE /doi/10.5072/draft", "", 200, "OK"},
		{"DELETE /doi/10.5072/found", "", 405, "Method not allowed"},
		{"DELETE /doi/10.5072/hidden", "", 405, "Method not allowed"},
		{"DELETE /doi/10.5072/unknown", "", 404, "DOI not found"},
		{"DELETE /doi/10.70000/theirs", "", 403, "Access is denied"},
		{"DELETE /metadata/10.5072/found", "", 200, "OK"},
		{"DELETE /metadata/10.5072/draft", "", 200, "OK"},
		{"DELETE /metadata/10.5072/unknown", "", 404, "DOI not found"},
		{"DELETE /metadata/10.70000/theirs", "", 403, "Access is denied"},

		{"PUT /doi", lines, 404, ""}, {"GET /", "", 404, ""}, {"GET /nowhere", "", 404, ""}, {"POST /doi/10.5072/x", "", 404, ""}, {"OPTIONS /metadata/10.5072/x", "", 404, ""},
		{"PATCH /reports/1", "", 404, ""}, {"PUT /dois", "", 404, ""}, {"GET /dois/nothing", "", 404, ""}, {"POST /reports/" + someUUID, "", 404, ""},
	} {
		t.Run(row.request+" "+row.body, func(t *testing.T) {
			service := filled(t)
			a := requestOf(row.request, "text/plain;charset=UTF-8", row.body).do(t, service)
			assert.Equal(t, row.status, a.status, a.body)
			assert.Contains(t, a.body, row.text)
			if a.status == 200 && strings.HasPrefix(row.request, "GET /metadata") {
				assert.Equal(t, "application/xml; charset=utf-8", a.header.Get("Content-Type"))
			}
			if a.status == 400 {
				assert.Equal(t, "draft", service.State("10.5072/draft"), "nothing has changed")
			}
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
	seed(t, service, `{"doi":"10.70000/mine","client":"other.repo","state":"draft",`+complete+`}`, `{"doi":"10.5072/theirs","client":"other.repo"}`)
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

func TestURLIsUnescapedOnce(t *testing.T) {
	for sent, stored := range map[string]string{
		"https://example.org/?q=1&r=2": "https://example.org/?q=1&r=2", "https://example.org/a%2520b": "https://example.org/a%20b",
		"https://example.org/a%2Bb": "https://example.org/a+b", "https://example.org/%C3%A9": "https://example.org/é",
		"https://example.org/?a=b=c#frag": "https://example.org/?a=b=c#frag",
	} {
		service := filled(t)
		assert.Equal(t, 201, putURL("10.5072/draft", "10.5072/draft", sent).do(t, service).status, sent)
		assert.Equal(t, stored, call{method: "GET", path: "/doi/10.5072/draft", as: "repo"}.do(t, service).body)
	}
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
		"a new DOI":               {"10.5072/new", xmlType, metadataXML, 201, "CREATED"},
		"a registered DOI":        {"10.5072/found", xmlType, metadataXML, 201, "HANDLE_ALREADY_EXISTS"},
		"without charset":         {"10.5072/new", with("application/xml"), metadataXML, 201, "CREATED"},
		"with a byte order mark":  {"10.5072/new", xmlType, "\ufeff" + metadataXML, 201, "CREATED"},
		"foreign prefix":          {"10.70000/new", xmlType, metadataXML, 403, "Access is denied"},
		"foreign prefix alone":    {"10.70000", xmlType, metadataXML, 403, "Access is denied"},
		"of another party":        {"10.70000/theirs", xmlType, metadataXML, 403, "Access is denied"},
		"plain text type":         {"10.5072/new", with("text/plain"), metadataXML, 415, "not supported"},
		"form type":               {"10.5072/new", with("application/x-www-form-urlencoded"), metadataXML, 415, "not supported"},
		"no type":                 {"10.5072/new", nil, metadataXML, 415, "not supported"},
		"JSON type":               {"10.5072/new", with("application/json"), `{"@context":"https://schema.org"}`, 422, "unpermitted"},
		"no format":               {"10.5072/new", with("text/plain"), "hello", 415, "Metadata format not recognized"},
		"XML of something else":   {"10.5072/new", xmlType, `<feed xmlns="http://www.w3.org/2005/Atom"/>`, 415, "Metadata format not recognized"},
		"XML without a namespace": {"10.5072/new", xmlType, `<resource/>`, 415, "Metadata format not recognized"},
		"kernel 3":                {"10.5072/new", xmlType, `<resource xmlns="http://datacite.org/schema/kernel-3"/>`, 422, "no longer supported"},
		"empty":                   {"10.5072/new", xmlType, "", 422, "Can't be blank"},
		"broken XML":              {"10.5072/new", xmlType, metadataXML[:400], 422, "not well formed"},
		"two roots":               {"10.5072/new", xmlType, metadataXML + "<a/>", 422, "not well formed"},
		"attribute given twice":   {"10.5072/new", xmlType, strings.Replace(metadataXML, "<title>", `<title titleType="Other" titleType="Other">`, 1), 422, "given twice"},
		"no identifier":           {"10.5072/new", xmlType, without(`<identifier identifierType="DOI"></identifier>`), 422, "identifier"},
		"general type not listed": {"10.5072/new", xmlType, strings.Replace(metadataXML, `"Dataset"`, `"dataset"`, 1), 422, "resourceTypeGeneral"},
		"attribute misspelt":      {"10.5072/new", xmlType, strings.Replace(metadataXML, "<publisher>", `<publisher schemeUri="https://ror.org">`, 1), 422, "schemeUri"},
		"characters not allowed":  {"10.5072/a%23b", xmlType, metadataXML, 422, "Is invalid"},
		"no DOI":                  {"new", xmlType, metadataXML, 404, "DOI not found"},
	} {
		t.Run(name, func(t *testing.T) {
			service := filled(t)
			a := call{method: "PUT", path: "/metadata/" + want.path, header: want.header, body: want.body, as: "repo"}.do(t, service)
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
			assert.Equal(t, strings.Join(strings.Fields(want), ""), strings.Join(strings.Fields(got.body), ""), "the rest stays, but for white space")
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

// Specification §4.3: PUT /metadata/{prefix}.
func TestMint(t *testing.T) {
	service := newService()
	seen := map[string]bool{}
	for range 5 {
		a := putMetadata("10.5072", metadataXML).do(t, service)
		require.Equal(t, 201, a.status, a.body)
		require.Regexp(t, `^OK \(10\.5072/[0-9A-Z]{4}-[0-9A-Z]{4}\)$`, a.body)
		doi := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(a.body, "OK ("), ")"))
		assert.Equal(t, base+"/metadata/"+doi, a.header.Get("Location"))
		assert.Equal(t, "draft", service.State(doi))
		got := call{method: "GET", path: "/metadata/" + doi, as: "repo"}.do(t, service)
		assert.Contains(t, got.body, ">"+strings.ToUpper(doi)+"</identifier>")
		seen[doi] = true
	}
	assert.Len(t, seen, 5, "every name is new")
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

// Specification §5 and §7: credentials on every request.
func TestMetadataStoreAuth(t *testing.T) {
	service := filled(t)
	for _, request := range []string{
		"GET /doi", "GET /doi/10.5072/found", "GET /metadata/10.5072/found", "PUT /metadata/10.5072/found", "PUT /doi/10.5072/found",
		"DELETE /metadata/10.5072/found", "DELETE /doi/10.5072/draft",
	} {
		for who, text := range map[string]string{
			"nobody": "An Authentication object was not found in the SecurityContext", "wrong": "Bad credentials", "unknown": "Bad credentials",
		} {
			a := requestOf(request+" as "+who, "application/xml", metadataXML).do(t, service)
			assert.Equal(t, 401, a.status, request)
			assert.Equal(t, text, a.body, request)
			assert.Equal(t, who == "nobody", a.header.Get("WWW-Authenticate") != "")
		}
	}
	assert.Equal(t, "findable", service.State("10.5072/found"))
	a := call{method: "GET", path: "/doi/10.5072/found", header: map[string]string{"Authorization": "Basic ZXhhbXBsZS5yZXBvOnNhbmRib3gtcGFzc3dvcmQ="}}.do(t, service)
	assert.Equal(t, 200, a.status, "user names do not mind case")
	assert.Equal(t, "EXAMPLE.REPO", a.header.Get("X-Credential-Username"))
}

// Specification §2.3: names with other characters, from before July 2018.
func TestOddNamesAreReached(t *testing.T) {
	for path, doi := range map[string]string{
		"10.5072/a%23b":           "10.5072/a#b",
		"10.5072/a%3Fb":           "10.5072/a?b",
		"10.5072/a%25b":           "10.5072/a%b",
		"10.5072/a%2523b":         "10.5072/a%23b",
		"10.5072/a+b":             "10.5072/a+b",
		"10.5072/a%2Bb":           "10.5072/a+b",
		"10.5072/a%20b":           "10.5072/a b",
		"10.5072/a//b":            "10.5072/a//b",
		"10.5072/a/":              "10.5072/a/",
		"10.5072/a/../b":          "10.5072/a/../b",
		"10.5072/%3Ca%3E":         "10.5072/<a>",
		"10.5072/%E6%B0%94":       "10.5072/气",
		"10.5072/a%26b=c;d":       "10.5072/a&b=c;d",
		"doi:10.5072/prefixed":    "10.5072/prefixed",
		"https://doi.org/10.5/re": "10.5/re",
	} {
		t.Run(doi, func(t *testing.T) {
			service := newService()
			for _, other := range []string{"10.5072/a", "10.5072/b", "10.5072/a%", "10.5072/a/b", doi} {
				record := string(mustJSON(t, map[string]any{"doi": other, "url": "https://example.org/" + other}))
				require.NoError(t, service.PutRecord([]byte(record)))
			}
			a := call{method: "GET", path: "/doi/" + path, as: "repo"}.do(t, service)
			require.Equal(t, 200, a.status, a.body)
			assert.Equal(t, "https://example.org/"+doi, a.body)
			a = call{method: "GET", path: "/dois/" + path}.do(t, service)
			require.Equal(t, 200, a.status, a.body)
			assert.Equal(t, doi, at(a.read(t), "data.id"))
		})
	}
}

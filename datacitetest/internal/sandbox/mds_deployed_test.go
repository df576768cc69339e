package sandbox_test

import (
	"encoding/base64"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/testkit"
)

// A header names whoever asked, known or not, unless the store fails before it looks.
func TestDeployedWhoAsked(t *testing.T) {
	for name, want := range map[string]struct {
		method, path, authorization string
		status                      int
		who                         string
	}{
		"an answer": {"GET", "/doi/10.5072/found", "EXAMPLE.REPO:sandbox-password", 200, "EXAMPLE.REPO"},
		"an error of the service": {"GET", "/metadata/10.5072/unknown", "EXAMPLE.REPO:sandbox-password", 404,
			"EXAMPLE.REPO"},
		"somebody nobody knows":    {"GET", "/doi/10.5072/found", "NOBODY:x", 200, "NOBODY"},
		"wrong password":           {"GET", "/doi", "EXAMPLE.REPO:wrong", 401, "EXAMPLE.REPO"},
		"an error before it asks":  {"GET", "/doi/nothing", "EXAMPLE.REPO:sandbox-password", 404, ""},
		"a route that there isn't": {"GET", "/elsewhere", "EXAMPLE.REPO:sandbox-password", 404, ""},
		"no password":              {"GET", "/doi/10.5072/found", "EXAMPLE.REPO:", 401, ""},
	} {
		t.Run(name, func(t *testing.T) {
			authorization := "Basic " + base64.StdEncoding.EncodeToString([]byte(want.authorization))
			a := call{method: want.method, path: want.path, header: map[string]string{"Authorization": authorization}}.do(t,
				filledStore(t))
			assert.Equal(t, want.status, a.status, a.body)
			assert.Equal(t, want.who, a.header.Get("X-Credential-Username"))
			assert.Equal(t, strings.HasSuffix(want.authorization, ":"), a.header.Get("WWW-Authenticate") != "")
		})
	}
}

// What Rails puts around each answer of the store.
func TestDeployedStoreHeaders(t *testing.T) {
	const sound, none = "max-age=0, private, must-revalidate", "no-cache"
	for name, want := range map[string]struct {
		call                               call
		status                             int
		kind, cache, anonymous, validators string
	}{
		"an answer": {call{method: "GET", path: "/doi/10.5072/found", as: "repo"}, 200, "text/plain; charset=utf-8",
			sound, "", "ETag"},
		"XML": {call{method: "GET", path: "/metadata/10.5072/found", as: "repo"}, 200,
			"application/xml; charset=utf-8", sound, "", "ETag"},
		"a write": {putURL("10.5072/found", "10.5072/found", "https://example.org/"), 201,
			"text/plain; charset=utf-8", sound, "", "ETag"},
		"nothing": {call{method: "GET", path: "/doi/10.5072/draft", as: "repo"}, 204, "", none, "", ""},
		"an error": {call{method: "GET", path: "/doi/10.5072/unknown", as: "repo"}, 404, "text/plain; charset=utf-8",
			none, "", ""},
		"no login":        {call{method: "GET", path: "/doi"}, 401, "text/html; charset=utf-8", none, "", ""},
		"an empty body":   {call{method: "POST", path: "/doi", as: "repo"}, 400, "text/html", none, "", ""},
		"nobody is asked": {call{method: "GET", path: "/heartbeat"}, 200, "text/plain; charset=utf-8", sound, "true", "ETag"},
		"no such route": {call{method: "OPTIONS", path: "/doi", as: "repo"}, 404, "text/plain; charset=utf-8", none, "true",
			""},
	} {
		t.Run(name, func(t *testing.T) {
			service := filledStore(t)
			a := want.call.do(t, service)
			assert.Equal(t, want.status, a.status, a.body)
			assert.Equal(t, want.kind, a.header.Get("Content-Type"))
			assert.Equal(t, want.cache, a.header.Get("Cache-Control"))
			assert.Equal(t, want.anonymous, a.header.Get("X-Anonymous-Consumer"))
			assert.Equal(t, want.validators != "", a.header.Get("ETag") != "")
			want.call.header = with(with(want.call.header, "Accept-Encoding", "gzip"), "Accept", "text/*;q=0.5, */*")
			zipped := want.call.do(t, filledStore(t))
			assert.Equal(t, want.cache != "" && a.status != 204, zipped.header.Get("Content-Encoding") == "gzip")
			if zipped.header.Get("Content-Encoding") == "gzip" {
				assert.Equal(t, a.body, string(unzipped(t, []byte(zipped.body))))
			}
		})
	}
	t.Run("what has not changed", func(t *testing.T) {
		service := filledStore(t)
		c := call{method: "GET", path: "/metadata/10.5072/found", as: "repo"}
		c.header = map[string]string{"If-None-Match": c.do(t, service).header.Get("ETag")}
		assert.Equal(t, 304, c.do(t, service).status)
	})
}

func with(header map[string]string, name, value string) map[string]string {
	out := map[string]string{name: value}
	maps.Copy(out, header)
	return out
}

// Of what it reads behind, the store hands on only ASCII.
func TestDeployedLosesOtherCharacters(t *testing.T) {
	service := deployed()
	require.Equal(t, 201, putMetadata("10.5072/x", strings.Replace(metadataXML, "Alps", "Älps", 1)).do(t, service).status)
	require.Equal(t, 201, putURL("10.5072/x", "10.5072/x", "https://example.org/ä").do(t, service).status)
	assert.Contains(t, call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service).body, "the ??lps")
	assert.Equal(t, "https://example.org/??", call{method: "GET", path: "/doi/10.5072/x", as: "repo"}.do(t, service).body)
	record := call{method: "GET", path: "/dois/10.5072/x"}.do(t, service).read(t)
	assert.Equal(t, "Climate of the Älps", at(record, "data.attributes.titles.0.title"), "what is stored is sound")
}

// What is stored of the body; the responses are in the table Exchanges.
func TestDeployedPutURL(t *testing.T) {
	const good = "doi=10.5072/draft\nurl=https://example.org/1"
	for body, want := range map[string]string{
		good: "https://example.org/1", "url=https://example.org/1\ndoi=10.5072/draft": "https://example.org/1",
		good + "\nurl=https://example.org/2":                                "https://example.org/2",
		"doi=10.5072/draft\nurl=https://example.org/?a=b&c=d":               "https://example.org/?a=b&c=d",
		"doi=10.5072%2Fdraft\nurl=https://example.org/%2541%2B":             "https://example.org/%41+",
		"x=1\r\ndoi= 10.5072/DRAFT\r\n\r\nurl=https://example.org/1 \r\n\n": "https://example.org/1",
		"doi=10.5072/draft\nurl=mailto:me@example.org":                      "",
		"doi=10.5072/draft\nurl=https://example.org/a+b":                    "",
	} {
		service := filledStore(t)
		call{method: "PUT", path: "/doi/10.5072/draft", header: textType, body: body, as: "repo"}.do(t, service)
		assert.Equal(t, want, call{method: "GET", path: "/doi/10.5072/draft", as: "repo"}.do(t, service).body, body)
		assert.Equal(t, want != "", service.State("10.5072/draft") == "findable", body)
	}
	t.Run("a host that the account may not use", func(t *testing.T) {
		service := deployed()
		c := putMetadata("10.70000/x", metadataXML)
		c.as = "other"
		require.Equal(t, 201, c.do(t, service).status)
		c = putURL("10.70000/x", "10.70000/x", "https://elsewhere.test/")
		c.as = "other"
		a := c.do(t, service)
		assert.Equal(t, 422, a.status)
		assert.Contains(t, a.body, "domain")
	})
}

func TestDeployedPutMetadata(t *testing.T) {
	t.Run("what is kept is written anew", func(t *testing.T) {
		service := deployed()
		bare := metadataXML[strings.Index(metadataXML, "<resource"):]
		require.Equal(t, 201, putMetadata("10.5072/x", bare).do(t, service).status)
		kept := call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service).body
		assert.True(t, strings.HasPrefix(kept, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<resource"), kept)
		assert.Contains(t, kept, `<identifier identifierType="DOI">10.5072/X</identifier>`)
	})
	t.Run("unless its elements have a prefix", func(t *testing.T) {
		service := deployed()
		prefixed := strings.NewReplacer("</", "</d:", "<resource xmlns=", "<d:resource xmlns:d=", "<id", "<d:id", "<cr",
			"<d:cr", "<ti", "<d:ti",
			"<pu", "<d:pu", "<resourceType", "<d:resourceType").Replace(metadataXML)
		named := strings.Replace(prefixed, `identifierType="DOI">`, `identifierType="DOI">10.5072/other`, 1)
		require.Equal(t, 201, putMetadata("10.5072/x", named).do(t, service).status)
		kept := call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service).body
		assert.Contains(t, kept, `<d:identifier identifierType="DOI">10.5072/other</d:identifier>`)
	})
	t.Run("valid documents are returned unchanged except for white space", func(t *testing.T) {
		service := deployed()
		require.Equal(t, 201, putMetadata("10.5072/x",
			strings.ReplaceAll(fullXML(t), "<identifier", "<!-- a --><identifier")).do(t, service).status)
		once := call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service).body
		require.Equal(t, 201, putMetadata("10.5072/x", once).do(t, service).status)
		assert.Equal(t, once, call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service).body)
	})
	t.Run("too large", func(t *testing.T) {
		for _, path := range []string{"/metadata/10.5072/x", "/dois"} {
			a := call{method: map[bool]string{true: "POST", false: "PUT"}[path == "/dois"], path: path, header: xmlType,
				body: strings.Repeat(" ", 10<<20+1), as: "repo"}.do(t, deployed())
			assert.Equal(t, 413, a.status)
			assert.Contains(t, a.header.Get("Content-Type"), "text/html")
		}
	})
}

// The state after a write; the responses are in the table Exchanges.
func TestDeployedStates(t *testing.T) {
	remove := func(path string) call { return call{method: "DELETE", path: path, as: "repo"} }
	for state, calls := range map[string][]call{
		"draft": {remove("/metadata/10.5072/draft"), remove("/metadata/10.5072/new"),
			putMetadata("10.5072/draft", metadataXML)},
		"registered": {remove("/metadata/10.5072/found"), remove("/metadata/10.5072/hidden")},
		"findable": {
			remove("/metadata/10.70000/theirs"), remove("/doi/10.5072/found"), putMetadata("10.5072/found", metadataXML),
			putMetadata("10.5072/hidden", metadataXML),
			putURL("10.5072/hidden", "10.5072/hidden", "https://example.org/9"),
		},
		"": {remove("/metadata/10.70000/new"), remove("/doi/10.5072/draft"), remove("/doi/10.5072/new")},
	} {
		for _, c := range calls {
			service := filledStore(t)
			c.do(t, service)
			_, doi, _ := strings.Cut(strings.TrimPrefix(c.path, "/"), "/")
			assert.Equal(t, state, service.State(doi), "%s %s", c.method, c.path)
		}
	}
}

// kernel wraps what stands in a record of DataCite XML.
func kernel(inside string) string {
	return `<?xml version="1.0"?><resource xmlns="http://datacite.org/schema/kernel-4">` + inside + `</resource>`
}

// record is a sound record with something in it.
func record(inside string) string {
	return kernel(`<identifier identifierType="DOI">10.5072/x</identifier><creators><creator><creatorName>` +
		`a</creatorName></creator></creators>` +
		`<titles><title>a</title></titles><publisher>a</publisher><publicationYear>2020</publicationYear><resourceType ` +
		`resourceTypeGeneral="Text"/>` + inside)
}

// The parsers of the servers give up on what is nested too deep.
func TestDeployedNesting(t *testing.T) {
	service := deployed()
	for depth, status := range map[int]int{255: 201, 256: 501} {
		nested := strings.Replace(record(strings.Repeat("<a>", depth)+strings.Repeat("</a>", depth)), "kernel-4",
			"kernel-4.4", 1)
		assert.Equal(t, status, putMetadata("10.5072/x", nested).do(t, service).status)
	}
	for body, status := range map[string]int{
		strings.Repeat(`{"a":`, 100) + "0" + strings.Repeat("}", 100): 200,
		strings.Repeat(`{"a":`, 101) + "0" + strings.Repeat("}", 101): 400,
		`{"a":{}` + strings.Repeat(`,"a":{}`, 200) + "}":              200, // beside each other
		`{"a":"\"` + strings.Repeat("{[", 200) + `"}`:                 200, // a text
	} {
		c := call{method: "GET", path: "/dois", header: map[string]string{"Content-Type": "application/json"}, body: body}
		assert.Equal(t, status, c.do(t, service).status)
	}
}

// A name that does not fit the database of the DOI service is 500 in the store, too.
func TestDeployedLongNames(t *testing.T) {
	s := filledStore(t)
	for length, want := range map[int]int{255: 201, 256: 500} {
		name := "10.5072/" + strings.Repeat("x", length-len("10.5072/"))
		a := putMetadata(name, testkit.Expand(t, storeTables, "[[RECORD]]")).do(t, s)
		assert.Equal(t, want, a.status, a.body)
		assert.Equal(t, want == 500, strings.Contains(a.body, "Data too long for column 'doi'"), a.body)
	}
}

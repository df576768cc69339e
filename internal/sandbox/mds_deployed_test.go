package sandbox_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/sandbox"
)

// filledDeployed is a Deployed service with one DOI in each state, one of
// another account, one draft without metadata and one with broken XML.
func filledDeployed(t *testing.T) *sandbox.Service {
	t.Helper()
	service := deployed()
	for _, doi := range []string{"10.5072/draft", "10.5072/found", "10.5072/hidden"} {
		require.Equal(t, 201, putMetadata(doi, metadataXML).do(t, service).status)
	}
	for _, doi := range []string{"10.5072/found", "10.5072/hidden"} {
		require.Equal(t, 201, putURL(doi, doi, "https://example.org/"+doi).do(t, service).status)
	}
	require.Equal(t, 200, call{method: "DELETE", path: "/metadata/10.5072/hidden", as: "repo"}.do(t, service).status)
	for _, seeded := range []string{
		`{"doi":"10.70000/theirs","client":"other.repo","url":"https://example.org/","xml":"PGE+"}`,
		`{"doi":"10.70000/secret","client":"other.repo","state":"draft","xml":"PGE+"}`,
		`{"doi":"10.5072/bare","state":"draft"}`,
		`{"doi":"10.5072/broken","state":"draft","xml":"PHJlc291cmNl"}`,
	} {
		require.NoError(t, service.PutRecord([]byte(seeded)))
	}
	return service
}

func TestDeployedLogin(t *testing.T) {
	const wrong = "Basic RVhBTVBMRS5SRVBPOndyb25n"
	for name, want := range map[string]struct {
		method, path, authorization string
		status                      int
		body                        string
	}{
		"no login":                        {"GET", "/doi/10.5072/found", "", 401, "An Authentication object was not found in the SecurityContext"},
		"blank password":                  {"GET", "/doi/10.5072/found", "Basic RVhBTVBMRS5SRVBPOg==", 401, "An Authentication object was not found in the SecurityContext"},
		"wrong, URL of a findable DOI":    {"GET", "/doi/10.5072/found", wrong, 200, "https://example.org/10.5072/found"},
		"wrong, record of a findable DOI": {"GET", "/metadata/10.5072/found", wrong, 200, "<resource"},
		"wrong, URL of a draft":           {"GET", "/doi/10.5072/draft", wrong, 404, "DOI not found"},
		"wrong, record of a draft":        {"GET", "/metadata/10.5072/draft", wrong, 404, "DOI is unknown to MDS"},
		"wrong, list":                     {"GET", "/doi", wrong, 401, "Bad credentials"},
		"wrong, writing metadata":         {"PUT", "/metadata/10.5072/found", wrong, 401, "Bad credentials"},
		"wrong, writing a URL":            {"PUT", "/doi/10.5072/found", wrong, 401, "Bad credentials"},
		"wrong, hiding":                   {"DELETE", "/metadata/10.5072/found", wrong, 401, "Bad credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			a := call{method: want.method, path: want.path, header: map[string]string{"Authorization": want.authorization}}.do(t, filledDeployed(t))
			assert.Equal(t, want.status, a.status)
			assert.Contains(t, a.body, want.body)
			assert.NotContains(t, a.header, "X-Credential-Username")
			assert.Equal(t, want.authorization != wrong, a.header.Get("WWW-Authenticate") != "")
		})
	}
	a := call{method: "GET", path: "/metadata/10.5072/unknown", as: "repo"}.do(t, deployed())
	assert.Equal(t, "EXAMPLE.REPO", a.header.Get("X-Credential-Username"), "errors name who asked, too")
}

func TestDeployedReadingDOIs(t *testing.T) {
	for name, want := range map[string]struct {
		path   string
		status int
		body   string
	}{
		"metadata":                           {"/metadata/10.5072/draft", 200, "Climate of the Alps"},
		"metadata, none there":               {"/metadata/10.5072/bare", 200, ""},
		"metadata that are no XML":           {"/metadata/10.5072/broken", 200, "<resource"},
		"metadata, unknown DOI":              {"/metadata/10.5072/unknown", 404, "DOI is unknown to MDS"},
		"metadata, no DOI":                   {"/metadata/unknown", 404, "DOI not found"},
		"metadata of others, findable":       {"/metadata/10.70000/theirs", 200, "<a>"},
		"metadata of others, draft":          {"/metadata/10.70000/secret", 404, "DOI is unknown to MDS"},
		"URL":                                {"/doi/10.5072/found", 200, "https://example.org/10.5072/found"},
		"URL, in other case":                 {"/doi/DOI:10.5072/FOUND", 200, "https://example.org/10.5072/found"},
		"URL of a draft":                     {"/doi/10.5072/draft", 204, ""},
		"URL, unknown DOI":                   {"/doi/10.5072/unknown", 404, "DOI not found"},
		"URL of others":                      {"/doi/10.70000/theirs", 200, "https://example.org/"},
		"prefix of six digits":               {"/doi/10.507200/found", 404, "DOI not found"},
		"names are cut at #":                 {"/doi/10.5072/found%23part", 200, "https://example.org/10.5072/found"},
		"names are cut at ?":                 {"/metadata/10.5072/found%3Fpart", 200, "Climate of the Alps"},
		"names with a blank":                 {"/doi/10.5072/a%20b", 400, "bad URI"},
		"names with < and >":                 {"/doi/10.5072/%3Ca%3E", 400, "bad URI"},
		"parameters that nobody knows":       {"/doi/10.5072/found?mailto=me@example.org", 422, "found unpermitted parameter: :mailto"},
		"parameters that are known":          {"/doi/10.5072/found?testMode=true", 200, "https"},
		"a trailing slash is part of a name": {"/doi/10.5072/found/", 404, "DOI not found"},
		"heartbeat":                          {"/heartbeat", 200, "OK"},
		"login":                              {"/login", 501, ""},
		"elsewhere":                          {"/elsewhere", 404, "Resource not found"},
	} {
		t.Run(name, func(t *testing.T) {
			a := call{method: "GET", path: want.path, as: "repo"}.do(t, filledDeployed(t))
			assert.Equal(t, want.status, a.status, a.body)
			assert.Contains(t, a.body, want.body)
			if want.body == "" && a.status != 501 {
				assert.Empty(t, a.body)
			}
		})
	}
	assert.Equal(t, 301, call{method: "GET", path: "/"}.do(t, deployed()).status)
	a := call{method: "GET", path: "/doi", as: "repo"}.do(t, filledDeployed(t))
	assert.Equal(t, "10.5072/FOUND\n10.5072/HIDDEN", a.body)
}

func TestDeployedPutURL(t *testing.T) {
	const good = "doi=10.5072/draft\nurl=https://example.org/1"
	for name, want := range map[string]struct {
		path, body string
		status     int
		answer     string
		stored     string // URL of 10.5072/draft afterwards
	}{
		"two lines":                        {"10.5072/draft", good, 201, "OK", "https://example.org/1"},
		"the other way round":              {"10.5072/draft", "url=https://example.org/1\ndoi=10.5072/draft", 201, "OK", "https://example.org/1"},
		"more lines, and blanks":           {"10.5072/draft", "x=1\r\n doi = 10.5072/DRAFT\r\n\r\nnothing\r\nurl=https://example.org/1 \r\n\n", 201, "OK", "https://example.org/1"},
		"the last one wins":                {"10.5072/draft", good + "\nurl=https://example.org/2", 201, "OK", "https://example.org/2"},
		"only the first = divides":         {"10.5072/draft", "doi=10.5072/draft\nurl=https://example.org/?a=b&c=d", 201, "OK", "https://example.org/?a=b&c=d"},
		"escapes":                          {"10.5072/draft", "doi=10.5072%2Fdraft\nurl=https://example.org/%2541%2B", 201, "OK", "https://example.org/%41+"},
		"a plus is a blank":                {"10.5072/draft", "doi=10.5072/draft\nurl=https://example.org/a+b", 200, "Not a valid HTTP(S) or FTP URL", ""},
		"in the query string":              {"10.5072/draft?doi=10.5072/draft&url=https://example.org/1", "", 201, "OK", "https://example.org/1"},
		"the path may have a lead":         {"https://doi.org/10.5072/draft", good, 201, "OK", "https://example.org/1"},
		"a path that is no DOI":            {"nonsense", good, 201, "OK", "https://example.org/1"},
		"another path":                     {"10.5072/found", good, 400, "doi parameter does not match doi of resource", ""},
		"a lead in the body":               {"10.5072/draft", "doi=doi:10.5072/draft\nurl=https://example.org/", 400, "doi parameter does not match doi of resource", ""},
		"empty":                            {"10.5072/draft", "", 400, "", ""},
		"no doi":                           {"10.5072/draft", "url=https://example.org/", 400, "param 'doi' required", ""},
		"no url":                           {"10.5072/draft", "doi=10.5072/draft", 400, "param 'url' required", ""},
		"keys in capitals":                 {"10.5072/draft", "DOI=10.5072/draft\nURL=https://example.org/", 400, "param 'doi' required", ""},
		"another scheme":                   {"10.5072/draft", "doi=10.5072/draft\nurl=mailto:me@example.org", 200, "Not a valid HTTP(S) or FTP URL", ""},
		"no metadata":                      {"10.5072/new", "doi=10.5072/new\nurl=https://example.org/", 422, "Can't be blank", ""},
		"a draft without metadata":         {"10.5072/bare", "doi=10.5072/bare\nurl=https://example.org/", 422, "Can't be blank", ""},
		"a prefix of others":               {"10.70000/new", "doi=10.70000/new\nurl=https://example.org/", 403, "Access is denied", ""},
		"of others":                        {"10.70000/theirs", "doi=10.70000/theirs\nurl=https://example.org/", 403, "Access is denied", ""},
		"a parameter besides":              {"10.5072/draft?a=b", good, 422, "found unpermitted parameter: :a", ""},
		"neither path nor body name a DOI": {"nonsense", "doi=nonsense\nurl=https://example.org/", 404, "DOI not found", ""},
	} {
		t.Run(name, func(t *testing.T) {
			service := filledDeployed(t)
			a := call{method: "PUT", path: "/doi/" + want.path, header: textType, body: want.body, as: "repo"}.do(t, service)
			assert.Equal(t, want.status, a.status, a.body)
			assert.Equal(t, want.answer, a.body)
			stored := call{method: "GET", path: "/doi/10.5072/draft", as: "repo"}.do(t, service)
			assert.Equal(t, want.stored, stored.body)
			assert.Equal(t, want.stored != "", service.State("10.5072/draft") == "findable")
		})
	}
	t.Run("by other methods and types", func(t *testing.T) {
		for _, c := range []call{
			{method: "POST", path: "/doi", header: textType}, {method: "PATCH", path: "/doi/10.5072/draft", header: textType},
			{method: "PUT", path: "/doi/10.5072/draft"}, {method: "PUT", path: "/doi/10.5072/draft", header: xmlType},
		} {
			c.body, c.as = good, "repo"
			assert.Equal(t, 201, c.do(t, filledDeployed(t)).status, c)
		}
	})
	t.Run("a form", func(t *testing.T) {
		c := call{method: "PUT", path: "/doi/10.5072/draft", header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, as: "repo"}
		c.body = "doi=10.5072/draft\nurl=https://example.org/?a=1&b=2"
		a := c.do(t, filledDeployed(t))
		assert.Equal(t, 422, a.status)
		assert.Equal(t, "found unpermitted parameter: :b", a.body)
	})
	t.Run("a hidden DOI becomes findable", func(t *testing.T) {
		service := filledDeployed(t)
		require.Equal(t, 201, putURL("10.5072/hidden", "10.5072/hidden", "https://example.org/9").do(t, service).status)
		assert.Equal(t, "findable", service.State("10.5072/hidden"))
	})
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
	kernel := func(version string) string { return strings.ReplaceAll(metadataXML, "kernel-4", "kernel-"+version) }
	for name, want := range map[string]struct {
		path, kind, body string
		status           int
		answer           string
	}{
		"a new DOI":               {"10.5072/new", "application/xml;charset=UTF-8", metadataXML, 201, "OK (10.5072/NEW)"},
		"a known DOI":             {"10.5072/found", "application/xml", metadataXML, 201, "OK (10.5072/FOUND)"},
		"any other content type":  {"10.5072/new", "text/plain", metadataXML, 201, "OK (10.5072/NEW)"},
		"no content type":         {"10.5072/new", "", metadataXML, 201, "OK (10.5072/NEW)"},
		"more characters":         {"10.5072/a:b*c~d$e=f", "application/xml", metadataXML, 201, "OK (10.5072/A:B*C~D$E=F)"},
		"a form":                  {"10.5072/new", "application/x-www-form-urlencoded", metadataXML, 415, "Content type application/x-www-form-urlencoded is not supported"},
		"JSON":                    {"10.5072/new", "application/json", `{"a":1}`, 422, "found unpermitted parameter"},
		"nothing known":           {"10.5072/new", "text/plain", "hello", 415, "Metadata format not recognized"},
		"address of a page":       {"10.5072/new", "text/plain", "https://example.org/page", 415, "Metadata format not recognized"},
		"empty":                   {"10.5072/new", "application/xml", "", 422, "Can't be blank"},
		"incomplete":              {"10.5072/new", "application/xml", strings.Replace(metadataXML, "<publicationYear>2020</publicationYear>", "", 1), 422, "publicationYear"},
		"kernel 3":                {"10.5072/new", "application/xml", kernel("3"), 422, "no longer supported"},
		"characters for old DOIs": {"10.5072/a,b", "application/xml", metadataXML, 422, "Is invalid"},
		"prefix of six digits":    {"10.507200/new", "application/xml", metadataXML, 404, "DOI not found"},
		"prefix of others":        {"10.70000/new", "application/xml", metadataXML, 403, "Access is denied"},
		"no DOI anywhere":         {"", "application/xml", metadataXML, 404, "DOI not found"},
		"RIS":                     {"10.5072/new", "text/plain", "TY  - DATA\nTI  - x\nER  - ", 201, "OK (10.5072/NEW)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := call{method: "PUT", path: "/metadata/" + want.path, header: map[string]string{"Content-Type": want.kind}, body: want.body, as: "repo"}
			a := c.do(t, filledDeployed(t))
			assert.Equal(t, want.status, a.status, a.body)
			assert.Contains(t, a.body, want.answer)
			if a.status == 201 {
				location, err := url.PathUnescape(a.header.Get("Location"))
				require.NoError(t, err)
				assert.Equal(t, base+"/metadata/"+want.path, location)
			}
		})
	}
	t.Run("the body's DOI, when the path has none", func(t *testing.T) {
		named := strings.Replace(metadataXML, `<identifier identifierType="DOI">`, `<identifier identifierType="DOI">10.5072/inside`, 1)
		a := call{method: "POST", path: "/metadata", header: xmlType, body: named, as: "repo"}.do(t, deployed())
		assert.Equal(t, "OK (10.5072/INSIDE)", a.body)
	})
	t.Run("a new name", func(t *testing.T) {
		a := putMetadata("10.5072", metadataXML).do(t, deployed())
		assert.Regexp(t, `^OK \(10\.5072/[0-9A-Z]{4}-[0-9A-Z]{4}\)$`, a.body)
		a = putMetadata("10.5072?number=123456", metadataXML).do(t, deployed())
		assert.Equal(t, "OK (10.5072/003R-J076)", a.body)
	})
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
		prefixed := strings.NewReplacer("</", "</d:", "<resource xmlns=", "<d:resource xmlns:d=", "<id", "<d:id", "<cr", "<d:cr", "<ti", "<d:ti",
			"<pu", "<d:pu", "<resourceType", "<d:resourceType").Replace(metadataXML)
		require.Equal(t, 201, putMetadata("10.5072/x", prefixed).do(t, service).status)
		assert.Equal(t, prefixed, call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service).body)
	})
	t.Run("states", func(t *testing.T) {
		service := filledDeployed(t)
		for doi, want := range map[string]string{"draft": "draft", "found": "findable", "hidden": "findable"} {
			require.Equal(t, 201, putMetadata("10.5072/"+doi, metadataXML).do(t, service).status)
			assert.Equal(t, want, service.State("10.5072/"+doi))
		}
	})
	t.Run("too large", func(t *testing.T) {
		for _, path := range []string{"/metadata/10.5072/x", "/dois"} {
			a := call{method: map[bool]string{true: "POST", false: "PUT"}[path == "/dois"], path: path, header: xmlType, body: strings.Repeat(" ", 10<<20+1), as: "repo"}.do(t, deployed())
			assert.Equal(t, 413, a.status)
			assert.Contains(t, a.header.Get("Content-Type"), "text/html")
		}
	})
}

func TestDeployedDeletion(t *testing.T) {
	for name, want := range map[string]struct {
		path   string
		status int
		body   string
		doi    string
		state  string
	}{
		"hide a findable DOI":           {"/metadata/10.5072/found", 200, "OK", "10.5072/found", "registered"},
		"hide a draft":                  {"/metadata/10.5072/draft", 200, "OK", "10.5072/draft", "draft"},
		"hide a registered DOI":         {"/metadata/10.5072/hidden", 200, "OK", "10.5072/hidden", "registered"},
		"hide an unknown DOI":           {"/metadata/10.5072/new", 201, "", "10.5072/new", "draft"},
		"hide a DOI of others":          {"/metadata/10.70000/theirs", 403, "Access is denied", "10.70000/theirs", "findable"},
		"hide an unknown one of others": {"/metadata/10.70000/new", 403, "Access is denied", "10.70000/new", ""},
		"delete a draft":                {"/doi/10.5072/draft", 200, "OK", "10.5072/draft", ""},
		"delete a findable DOI":         {"/doi/10.5072/found", 405, "Method not allowed", "10.5072/found", "findable"},
		"delete an unknown DOI":         {"/doi/10.5072/new", 404, "DOI not found", "10.5072/new", ""},
		"delete another DOI than said":  {"/doi/10.5072/draft%23part", 200, "OK", "10.5072/draft", ""},
	} {
		t.Run(name, func(t *testing.T) {
			service := filledDeployed(t)
			a := call{method: "DELETE", path: want.path, as: "repo"}.do(t, service)
			assert.Equal(t, want.status, a.status)
			assert.Equal(t, want.body, a.body)
			assert.Equal(t, want.state, service.State(want.doi))
		})
	}
}

func TestDeployedMedia(t *testing.T) {
	service := filledDeployed(t)
	do := func(method, path, body string) answer {
		return call{method: method, path: path, header: textType, body: body, as: "repo"}.do(t, service)
	}
	assert.Equal(t, "No media for the DOI", do("GET", "/media/10.5072/found", "").body)
	assert.Equal(t, "DOI is unknown to MDS", do("GET", "/media/10.5072/unknown", "").body)
	for body, want := range map[string]struct {
		status int
		answer string
	}{
		"": {200, "Media type and URL missing"},
		"text/csv=https://example.org/1.csv\ntext/csv=https://example.org/2.csv": {422, ""},
		"text/csv=mailto:me": {422, ""},
	} {
		a := do("POST", "/media/10.5072/found", body)
		assert.Equal(t, want.status, a.status, body)
		assert.Contains(t, a.body, want.answer)
	}
	assert.Equal(t, "OK", do("POST", "/media/10.5072/found", "text/csv=https://example.org/?a=b").body)
	assert.Equal(t, "OK", do("POST", "/doi/10.5072/found/media", "text/xml=s3://example/x").body)
	assert.Equal(t, "text/csv=https://example.org/?a\ntext/xml=s3://example/x", do("GET", "/doi/10.5072/found/media", "").body, "cut at the second =")
	assert.Equal(t, 404, do("DELETE", "/doi/10.5072/found/media/0000-0001", "").status)
	assert.Equal(t, 404, do("PUT", "/media/10.5072/found", "x").status)
}

package sandbox_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

func seed(t testing.TB, service *sandbox.Service, records ...string) {
	t.Helper()
	for _, r := range records {
		require.NoError(t, service.PutRecord([]byte(r)), r)
	}
}

// found lists the suffixes of the DOIs in a list, in order.
func found(list map[string]any) []string {
	out := []string{}
	data, _ := list["data"].([]any)
	for _, r := range data {
		_, suffix, _ := strings.Cut(at(r, "id").(string), "/")
		out = append(out, suffix)
	}
	return out
}

func listed(t testing.TB, service *sandbox.Service, query, as string) map[string]any {
	t.Helper()
	a := call{method: "GET", path: "/dois?" + query, as: as}.do(t, service)
	require.Equal(t, 200, a.status, "%s: %s", query, a.body)
	return a.read(t)
}

// Specification §3.1 and §5: records of others, and logins of no account.
func TestWhoSeesWhat(t *testing.T) {
	service := doisLibrary(t, sandbox.Documented)
	assert.ElementsMatch(t, []string{"alps", "book", "cake", "rock", "draft", "hidden"},
		found(listed(t, service, "", "token")))
	assert.ElementsMatch(t, []string{"alps", "book", "cake", "rock"}, found(listed(t, service, "", "other")))
	for _, name := range []string{"10.5072/draft", "10.5072/unknown"} {
		a := call{method: "GET", path: "/dois/" + name, as: "other"}.do(t, service)
		assert.Equal(t, 404, a.status, name)
		assert.JSONEq(t, `{"errors":[{"status":"404","title":"The resource you are looking for doesn't exist."}]}`, a.body)
	}
	wrong := call{method: "GET", path: "/dois/10.5072/alps", header: map[string]string{"Authorization": "Basic eDp5"}}
	a := wrong.do(t, service)
	assert.Equal(t, 200, a.status, "wrong Basic credentials make a reader anonymous")
	assert.Equal(t, "true", a.header.Get("X-Anonymous-Consumer"))
	wrong.header["Authorization"] = "Bearer " + service.Token(service.Now())
	assert.Equal(t, 401, wrong.do(t, service).status, "a token that is no good is refused")
}

// Specification §2.2: what records look like alone and in a list.
func TestShapesOfRecords(t *testing.T) {
	service := doisLibrary(t, sandbox.Documented)
	t.Run("times", func(t *testing.T) {
		many := at(listed(t, service, "ids=10.5072/alps", ""), "data.0.attributes")
		one := at(call{method: "GET", path: "/dois/10.5072/alps"}.do(t, service).read(t), "data.attributes")
		assert.Equal(t, "2018-05-01T10:00:00Z", at(many, "created"))
		assert.Equal(t, "2018-05-01T10:00:00.000Z", at(one, "created"))
		assert.Nil(t, at(many, "published"))
		assert.Equal(t, "2018", at(one, "published"))
	})
	t.Run("a bare draft", func(t *testing.T) {
		seed(t, service, `{"doi":"10.5072/bare","state":"draft"}`)
		bare := at(call{method: "GET", path: "/dois/10.5072/bare", as: "repo"}.do(t, service).read(t), "data.attributes")
		for _, name := range []string{"publisher", "publicationYear", "url", "xml", "registered", "language", "version"} {
			assert.Contains(t, bare, name)
			assert.Nil(t, at(bare, name), name)
		}
		for _, name := range []string{"creators", "titles", "identifiers", "relatedIdentifiers", "sizes", "geoLocations"} {
			assert.Equal(t, []any{}, at(bare, name), name)
		}
		assert.Equal(t, "", at(bare, "published"))
		assert.Equal(t, false, at(bare, "isActive"))
	})
}

// Odd records are shown as they are.
func TestSeedsAreShownAsTheyAre(t *testing.T) {
	service := newService()
	odd := `{"doi":"10.5072/ODD","publisher":null,"titles":{"title":"one"},"creators":"me","publicationYear":"2020",` +
		`"language":["en"],"new":{"member":[1.5,null]}}`
	seed(t, service, odd)
	got := at(call{method: "GET", path: "/dois/10.5072/odd"}.do(t, service).read(t), "data.attributes")
	var sent map[string]any
	require.NoError(t, json.Unmarshal([]byte(odd), &sent))
	delete(sent, "doi")
	for name, value := range sent {
		assert.Equal(t, value, at(got, name), name)
	}
	assert.Equal(t, []string{"odd"}, found(listed(t, service, "sort=title&query=one&affiliation=true", "")))

	xml := base64.StdEncoding.EncodeToString([]byte(metadataXML))
	seed(t, service, `{"doi":"10.5072/xml","url":"https://example.org/xml","xml":"`+xml+`"}`)
	got = at(call{method: "GET", path: "/dois/10.5072/xml"}.do(t, service).read(t), "data.attributes")
	assert.Equal(t, "Climate of the Alps", at(got, "titles.0.title"))
	assert.Equal(t, xml, at(got, "xml"))
	address, ok := service.Resolve("10.5072/XML")
	assert.True(t, ok)
	assert.Equal(t, "https://example.org/xml", address)

	seed(t, service, `{"doi":"10.5072/linked","client":"","alternateIdentifiers":[{"alternateIdentifier":"A",`+
		`"alternateIdentifierType":"local"}]}`)
	linked := at(call{method: "GET", path: "/dois/10.5072/linked"}.do(t, service).read(t), "data")
	assert.Equal(t, map[string]any{"data": nil}, at(linked, "relationships.client"),
		"a copy from another agency has no client")
	assert.Equal(t, "A", at(linked, "attributes.identifiers.0.identifier"))

	for _, wrong := range []string{`{}`, `{"doi":"x"}`, `[]`, `{"doi":"10.5072/x","state":"lost"}`,
		`{"doi":"10.5072/x","created":"soon"}`, `{"doi":"10.5072/x","xml":"%"}`} {
		assert.Error(t, service.PutRecord([]byte(wrong)), wrong)
	}
}

// Specification §4.2: parameters in a JSON body.
func TestParametersInTheBody(t *testing.T) {
	service := doisLibrary(t, sandbox.Documented)
	inBody := func(kind, query, body string) answer {
		return call{method: "GET", path: "/dois" + query, header: map[string]string{"Content-Type": kind}, body: body}.do(t,
			service)
	}
	for body, want := range map[string]string{
		`{"query":"alps baking","page":{"size":1,"number":2},"sort":"name"}`: "cake",
		`{"client_id":"example.books"}`:                                      "book",
		`{"created":2019}`:                                                   "book",
		`{"publisher":true,"ids":"10.5072/book"}`:                            "book",
		``: "alps rock cake book",
	} {
		assert.Equal(t, want, strings.Join(found(inBody("application/vnd.api+json", "", body).read(t)), " "), body)
	}
	assert.Equal(t, []string{"cake"}, found(inBody("application/json", "?query=baking", `{"query":"climate"}`).read(t)),
		"the URL wins")
	assert.Len(t, found(inBody("text/plain", "", `{"query":"climate"}`).read(t)), 4,
		"another content type is no parameters")
	assert.Equal(t, 413, inBody("application/json", "", strings.Repeat(" ", 10<<20+1)).status)
	for _, body := range []string{`{`, `[]`, `{"query":["a"]}`, `{"page":{"cursor":1},"random":true}`} {
		a := inBody("application/json", "", body)
		assert.Equal(t, 400, a.status, body)
		assert.Equal(t, "400", at(a.read(t), "errors.0.status"))
	}
	assert.Equal(t, 400, call{method: "GET", path: "/dois?query=%zz"}.do(t, service).status)
	assert.Len(t, found(listed(t, service, "query=doi:10.5072/a;b", "")), 0, "a semicolon is part of a value")
}

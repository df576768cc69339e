package sandbox_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

var apiType = map[string]string{"Content-Type": "application/vnd.api+json"}

// complete is all that a findable DOI needs, but its name.
const complete = `"url":"https://example.org/1","titles":[{"title":"Alps"}],"creators":[{"name":"Garza, Kristian"}],` +
	`"publisher":"Example","publicationYear":2020,"types":{"resourceTypeGeneral":"Dataset"}`

func payload(attributes string) string {
	return `{"data":{"type":"dois","attributes":{` + attributes + `}}}`
}

func create(attributes string) call {
	return call{method: "POST", path: "/dois", header: apiType, body: payload(attributes), as: "repo"}
}

func update(doi, attributes string) call {
	return call{method: "PUT", path: "/dois/" + doi, header: apiType, body: payload(attributes), as: "repo"}
}

func TestCreateDOI(t *testing.T) {
	service := newService()
	a := create(`"doi":"10.5072/New"`).do(t, service)
	require.Equal(t, 201, a.status, a.body)
	assert.Equal(t, "10.5072/new", at(a.read(t), "data.id"))
	assert.Equal(t, "draft", at(a.read(t), "data.attributes.state"))
	assert.Regexp(t, `/dois/[0-9]+$`, a.header.Get("Location"), "a number, which is no DOI")

	a = create(`"prefix":"10.5072",`+complete).do(t, service)
	require.Equal(t, 201, a.status, a.body)
	assert.Regexp(t, `^10\.5072/[0-9a-z]{4}-[0-9a-z]{4}$`, at(a.read(t), "data.id"))
	assert.Equal(t, "draft", at(a.read(t), "data.attributes.state"), "no event, no publication")

	a = create(`"doi":"10.5072/pub","event":"publish",`+complete).do(t, service)
	require.Equal(t, 201, a.status, a.body)
	record := a.read(t)
	for path, want := range map[string]any{
		"state": "findable", "isActive": true, "url": "https://example.org/1", "publicationYear": 2020.0, "publisher": "Example",
		"metadataVersion": 0.0, "source": "api", "schemaVersion": nil, "types.ris": "DATA",
	} {
		assert.Equal(t, want, at(record, "data.attributes."+path), path)
	}
	assert.Equal(t, "example.repo", at(record, "data.relationships.client.data.id"))
	assert.Equal(t, "https://example.org/1", call{method: "GET", path: "/doi/10.5072/pub", as: "repo"}.do(t, service).body, "both interfaces share the record")
	_, ok := service.Resolve("10.5072/pub")
	assert.False(t, ok, "not yet")
}

// A record that was read without affiliation=true loses its affiliations when it is sent back, and
// its publisher the identifier.
func TestARecordThatIsSentBack(t *testing.T) {
	for _, behaviour := range []sandbox.Behaviour{sandbox.Documented, sandbox.Deployed} {
		service := sandbox.New(&sandbox.Options{Behaviour: behaviour})
		written := `"doi":"10.5072/x",` + strings.ReplaceAll(complete, `"publisher":"Example"`, `"publisher":{"name":"Example","publisherIdentifier":"https://ror.org/04wxnsj81"}`)
		written = strings.ReplaceAll(written, `"name":"Garza, Kristian"`, `"name":"Garza, Kristian","affiliation":[{"name":"U Bern"}]`)
		require.Equal(t, 201, create(written).do(t, service).status)
		one := call{method: "GET", path: "/dois/10.5072/x", as: "repo"}.do(t, service)
		require.Equal(t, []any{"U Bern"}, at(one.read(t), "data.attributes.creators.0.affiliation"))

		a := call{method: "PUT", path: "/dois/10.5072/x", header: apiType, body: one.body, as: "repo"}.do(t, service)
		require.Equal(t, 200, a.status, "%s: %s", behaviour, a.body)
		after := call{method: "GET", path: "/dois/10.5072/x?affiliation=true&publisher=true", as: "repo"}.do(t, service).read(t)
		assert.Equal(t, []any{}, at(after, "data.attributes.creators.0.affiliation"), behaviour)
		assert.Equal(t, map[string]any{"name": "Example"}, at(after, "data.attributes.publisher"), behaviour)
	}
}

func TestUpdateDOI(t *testing.T) {
	service := newService()
	read := func() any {
		return at(call{method: "GET", path: "/dois/10.5072/x", as: "repo"}.do(t, service).read(t), "data.attributes")
	}
	a := update("10.5072/X", `"titles":[{"title":"One"}],"subjects":[{"subject":"a"}]`).do(t, service)
	assert.Equal(t, 201, a.status, "PUT creates, too")
	a = update("10.5072/x", `"titles":[{"title":"Two"},{"title":"Three"}],"version":2,"publicationYear":"1999"`).do(t, service)
	assert.Equal(t, 200, a.status)
	assert.Equal(t, "Three", at(read(), "titles.1.title"), "what is sent is replaced whole")
	assert.Equal(t, "a", at(read(), "subjects.0.subject"), "what is not sent stays")
	assert.Equal(t, "2", at(read(), "version"))
	assert.Equal(t, 1999.0, at(read(), "publicationYear"))
	assert.Equal(t, 1.0, at(read(), "metadataVersion"))

	c := update("10.5072/x", `"subjects":[],"version":null,"unknown":"ignored","viewCount":7`)
	c.method = "PATCH"
	assert.Equal(t, 200, c.do(t, service).status)
	assert.Equal(t, []any{}, at(read(), "subjects"))
	assert.Nil(t, at(read(), "version"))
	assert.NotContains(t, read(), "unknown")
	assert.Equal(t, 0.0, at(read(), "viewCount"))

	update("10.5072/x", `"url":"https://example.org/2"`).do(t, service)
	assert.Equal(t, 2.0, at(read(), "metadataVersion"), "a URL is no metadata")

	update("10.5072/x", `"alternateIdentifiers":[{"alternateIdentifier":"A","alternateIdentifierType":"local"}]`).do(t, service)
	assert.Equal(t, "A", at(read(), "identifiers.0.identifier"))
	update("10.5072/x", `"identifiers":[{"identifier":"B","identifierType":"local"}],"alternateIdentifiers":[{"alternateIdentifier":"C"}]`).do(t, service)
	assert.Equal(t, "B", at(read(), "alternateIdentifiers.0.alternateIdentifier"), "identifiers win")
	update("10.5072/x", `"alternateIdentifiers":null`).do(t, service)
	assert.Equal(t, []any{}, at(read(), "identifiers"), "null is taken under either name")

	a = call{method: "PUT", path: "/dois/10.5072/x?affiliation=true&publisher=true", header: apiType, as: "repo",
		body: payload(`"publisher":"P","creators":[{"name":"A","affiliation":[{"name":"U"}]}]`)}.do(t, service)
	assert.Equal(t, "P", at(a.read(t), "data.attributes.publisher.name"), "the flags change the answer")
	assert.Equal(t, "U", at(a.read(t), "data.attributes.creators.0.affiliation.0.name"))
}

func TestEvents(t *testing.T) {
	for name, want := range map[string][]string{ // events, and the state after each
		"publish":                 {"publish", "findable"},
		"register, publish":       {"register", "registered", "publish", "findable"},
		"hide a findable one":     {"publish", "findable", "hide", "registered", "show", "findable"},
		"hide a draft":            {"hide", "draft"},
		"show a draft":            {"show", "draft"},
		"register a findable one": {"publish", "findable", "register", "findable"},
		"no event":                {"", "draft"},
		"unknown event":           {"explode", "draft"},
	} {
		t.Run(name, func(t *testing.T) {
			service := newService()
			require.Equal(t, 201, create(`"doi":"10.5072/x",`+complete).do(t, service).status)
			for i := 0; i < len(want); i += 2 {
				a := update("10.5072/x", `"event":"`+want[i]+`"`).do(t, service)
				assert.Equal(t, 200, a.status, a.body)
				assert.Equal(t, want[i+1], service.State("10.5072/x"))
			}
		})
	}
	t.Run("with a reason", func(t *testing.T) {
		service := newService()
		create(`"doi":"10.5072/x","event":"publish",`+complete).do(t, service)
		a := update("10.5072/x", `"event":"hide","reason":"withdrawn by the author"`).do(t, service)
		assert.Equal(t, "withdrawn by the author", at(a.read(t), "data.attributes.reason"))
	})
}

// What is lacking depends on the schema that the record names: see deployed-records.md.
func TestPublishingNeedsAll(t *testing.T) {
	for _, part := range []string{
		`"url":"https://example.org/1",`, `"titles":[{"title":"Alps"}],`, `"creators":[{"name":"Garza, Kristian"}],`, `"publisher":"Example",`,
		`"publicationYear":2020,`, `,"types":{"resourceTypeGeneral":"Dataset"}`,
	} {
		for _, event := range []string{"publish", "register"} {
			service := newService()
			require.Contains(t, complete, part)
			body := strings.Replace(complete, part, "", 1)
			a := create(fmt.Sprintf(`"doi":"10.5072/x","event":"%s",%s`, event, body)).do(t, service)
			assert.Equal(t, 422, a.status, part)
			assert.Empty(t, service.State("10.5072/x"), "nothing is stored")
		}
	}
}

func TestWritesThatAreRefused(t *testing.T) {
	for name, want := range map[string]struct {
		call   call
		status int
		source string
	}{
		"characters not allowed":     {create(`"doi":"10.5072/a#b"`), 422, "doi"},
		"no DOI":                     {create(`"doi":"hello"`), 403, ""},
		"neither DOI nor prefix":     {create(`"titles":[]`), 403, ""},
		"taken":                      {create(`"doi":"10.5072/mine"`), 422, "doi"},
		"no web address":             {create(`"doi":"10.5072/x","url":"mailto:x@example.org"`), 422, "url"},
		"general type not listed":    {create(`"doi":"10.5072/x","event":"publish",` + strings.Replace(complete, "Dataset", "dataset", 1)), 422, "metadata"},
		"foreign prefix":             {create(`"doi":"10.70000/x"`), 403, ""},
		"minted under a foreign one": {create(`"prefix":"10.70000"`), 403, ""},
		"of another party":           {update("10.70000/theirs", `"url":"https://example.org/"`), 403, ""},
		"for another client":         {call{method: "POST", path: "/dois", header: apiType, as: "repo", body: `{"data":{"attributes":{"doi":"10.5072/x"},"relationships":{"client":{"data":{"type":"clients","id":"other.repo"}}}}}`}, 403, ""},
		"no data":                    {call{method: "POST", path: "/dois", header: apiType, as: "repo", body: `{"doi":"10.5072/x"}`}, 400, ""},
		"no JSON":                    {call{method: "POST", path: "/dois", header: apiType, as: "repo", body: `doi`}, 400, ""},
		"no credentials":             {call{method: "POST", path: "/dois", header: apiType, body: payload(`"doi":"10.5072/x"`)}, 401, ""},
		"wrong credentials":          {call{method: "POST", path: "/dois", header: map[string]string{"Authorization": "Basic eDp5"}, body: payload(`"doi":"10.5072/x"`)}, 401, ""},
		"deleting without any":       {call{method: "DELETE", path: "/dois/10.5072/mine"}, 401, ""},
		"deleting of another party":  {call{method: "DELETE", path: "/dois/10.70000/theirs", as: "repo"}, 403, ""},
		"deleting an unknown one":    {call{method: "DELETE", path: "/dois/10.5072/unknown", as: "repo"}, 404, ""},
		"deleting a findable one":    {call{method: "DELETE", path: "/dois/10.5072/found", as: "repo"}, 405, ""},
	} {
		t.Run(name, func(t *testing.T) {
			service := newService()
			seed(t, service, `{"doi":"10.5072/mine","state":"draft"}`, `{"doi":"10.5072/found"}`, `{"doi":"10.70000/theirs","client":"other.repo"}`)
			a := want.call.do(t, service)
			assert.Equal(t, want.status, a.status, a.body)
			assert.NotEmpty(t, at(a.read(t), "errors.0.title"))
			if want.status == 422 {
				assert.Equal(t, want.source, at(a.read(t), "errors.0.source"), a.body)
			} else {
				assert.Equal(t, fmt.Sprint(want.status), at(a.read(t), "errors.0.status"))
			}
			assert.Empty(t, service.State("10.5072/x"))
		})
	}
}

func TestDeleteDraft(t *testing.T) {
	service := newService()
	create(`"doi":"10.5072/x"`).do(t, service)
	a := call{method: "DELETE", path: "/dois/10.5072/X", as: "repo"}.do(t, service)
	assert.Equal(t, 204, a.status)
	assert.Empty(t, a.body)
	assert.Empty(t, service.State("10.5072/x"))
}

func TestXMLInJSON(t *testing.T) {
	service := newService()
	xml := base64.StdEncoding.EncodeToString([]byte(metadataXML))
	a := create(`"doi":"10.5072/x","event":"publish","url":"https://example.org/","titles":[{"title":"From JSON"}],"xml":"`+xml+`"`).do(t, service)
	require.Equal(t, 201, a.status, a.body)
	assert.Equal(t, "From JSON", at(a.read(t), "data.attributes.titles.0.title"), "attributes win")
	assert.Equal(t, "Example Archive", at(a.read(t), "data.attributes.publisher"))
	assert.Equal(t, "http://datacite.org/schema/kernel-4", at(a.read(t), "data.attributes.schemaVersion"))
	got := call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service)
	assert.Equal(t, 200, got.status)
	assert.Contains(t, got.body, ">10.5072/X</identifier>")

	update("10.5072/x", `"titles":[{"title":"Later"}]`).do(t, service)
	assert.Contains(t, call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service).body, "<title>Later</title>", "the XML is written anew")

	a = create(`"doi":"10.5072/ris","xml":"`+base64.StdEncoding.EncodeToString([]byte("TY  - DATA\nT1  - Alps\nAU  - Garza, K.\nPY  - 2019\nDO  - 10.5072/ris\n"))+`"`).do(t, service)
	assert.Equal(t, "Alps", at(a.read(t), "data.attributes.titles.0.title"))
	assert.Equal(t, "Dataset", at(a.read(t), "data.attributes.types.resourceTypeGeneral"))
}

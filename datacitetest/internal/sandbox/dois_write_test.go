package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// The flags change what a write shows.
func TestFlagsOfWrites(t *testing.T) {
	a := call{method: "PUT", path: "/dois/10.5072/x?affiliation=true&publisher=true", header: apiType, as: "repo",
		body: payload(`"publisher":"P","creators":[{"name":"A","affiliation":[{"name":"U"}]}]`)}.do(t, newService())
	assert.Equal(t, "P", at(a.read(t), "data.attributes.publisher.name"))
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

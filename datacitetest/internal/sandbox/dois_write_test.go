package sandbox_test

import ()

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

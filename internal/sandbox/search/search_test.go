package search_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/sandbox/search"
)

// A small library: d1 and d2 are about climate, d3 is by the same author as
// d1, d4 is a bare draft.
var library = decode(`
{"doi":"10.5072/fj3w-0shd","state":"findable","publicationYear":2014,"language":"en","viewCount":12,
 "titles":[{"title":"Climate change in the Alps"},{"title":"Klimawandel","lang":"de"}],
 "creators":[{"name":"Garza, Kristian","familyName":"Garza","nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0003-3484-6875","nameIdentifierScheme":"ORCID"}],
  "affiliation":[{"name":"Example Institute","affiliationIdentifier":"https://ror.org/04wxnsj81"}]}],
 "publisher":"Zenodo","types":{"resourceTypeGeneral":"Dataset","resourceType":"Survey Data"},
 "created":"2015-03-02T10:00:00Z"}
{"doi":"10.5072/x/y.2","state":"findable","publicationYear":2020,"viewCount":3,
 "titles":[{"title":"How to change the climate"}],"creators":[{"name":"Lovelace, Ada"}],
 "publisher":{"name":"Dryad","publisherIdentifier":"https://ror.org/00x6h5n95"},
 "types":{"resourceTypeGeneral":"Text"},"created":"2016-12-31T23:59:59.500Z",
 "relatedIdentifiers":[{"relatedIdentifier":"10.5072/FJ3W-0SHD","relatedIdentifierType":"DOI","relationType":"Cites"}]}
{"doi":"10.5073/third","state":"registered","publicationYear":2010,"viewCount":0,
 "titles":[{"title":"Notes"}],"creators":[{"name":"Garza, Kristian"}],"publisher":"Zenodo","client":"example.repo",
 "types":{"resourceTypeGeneral":"Dataset"},"created":"2017-01-01T00:00:00Z"}
{"doi":"10.5073/draft","state":"draft","publisher":null,"types":{},"created":"2018-06-15T12:00:00Z"}
`)

func decode(lines string) map[string]map[string]any {
	records := make(map[string]map[string]any)
	dec := json.NewDecoder(strings.NewReader(lines))
	for i := 1; dec.More(); i++ {
		var record map[string]any
		if err := dec.Decode(&record); err != nil {
			panic(err)
		}
		records["d"+string(rune('0'+i))] = record
	}
	return records
}

func find(t *testing.T, query string, opts search.Options) string {
	t.Helper()
	q, err := search.Parse(query, opts)
	require.NoError(t, err, query)
	var found []string
	for id, record := range library {
		if _, ok := q.Match(record); ok {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

func TestMatch(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"", "d1 d2 d3 d4"},
		{"*:*", "d1 d2 d3 d4"},
		{"climate", "d1 d2"},
		{"garza lovelace", "d1 d2 d3"},
		{"garza AND climate", "d1"},
		{"+garza climate", "d1 d3"},
		{"garza -climate", "d3"},
		{"NOT climate", "d3 d4"},
		{`"climate change"`, "d1"},
		{`titles.title:"change climate"~1`, "d2"},
		{"doi:10.5072/*", "d1 d2"},
		{"doi:10.5072/FJ3W-0shd", "d1"},
		{"10.5072/fj3w-0shd", "d1 d2"},
		{"publicationYear:[2010 TO 2014]", "d1 d3"},
		{"publicationYear:{2010 TO 2020]", "d1 d2"},
		{"publicationYear:>2010", "d1 d2"},
		{"created:[2015 TO 2016]", "d1 d2"},
		{"viewCount:>=3", "d1 d2"},
		{"publisher:zenodo", "d1 d3"},
		{"publisher.name:dryad", "d2"},
		{"_exists_:publisher", "d1 d2 d3"},
		{"language:*", "d1"},
		{"title:climate", ""},
		{"types.resourceTypeGeneral:(Dataset Text)", "d1 d2 d3"},
		{"types.resourceTypeGeneral:dataset", ""},
		{"client_id:example.repo", "d3"},
		{"aasm_state:draft", "d4"},
		{"klimawendel~", "d1"},
		{"clim?te", "d1 d2"},
	} {
		t.Run(c.query, func(t *testing.T) {
			assert.Equal(t, c.want, find(t, c.query, search.Options{}))
		})
	}
}

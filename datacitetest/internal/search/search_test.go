package search_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
)

// The two readings of a query: the specification's and the deployed service's.
var (
	documented = false
	deployed   = true
)

// library is a small repository: two records about climate, one by the author
// of the first, one with names and numbers in unusual shapes, a bare draft.
var library = records(`
{"doi":"10.5072/fj3w-0shd","state":"findable","publicationYear":2014,"language":"en","viewCount":12,
 "version":"version: 3","url":"https://example.org/alps","schemaVersion":"http://datacite.org/schema/kernel-4",
 "titles":[{"title":"Climate change in the Alps"},{"title":"Klimawandel","lang":"de"}],
 "creators":[{"name":"Garza, Kristian","nameType":"Personal","familyName":"Garza","affiliation":["Example Institute"],
  "nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0003-3484-6875","nameIdentifierScheme":"ORCID"}]}],
 "contributors":[{"name":"Ng, Lee","contributorType":"Editor","nameIdentifiers":[{"nameIdentifier":"https://ror.org/04wxnsj81","nameIdentifierScheme":"ROR"}]}],
 "publisher":"Zenodo","types":{"resourceTypeGeneral":"Dataset","resourceType":"Survey Data"},
 "descriptions":[{"description":"Glaciers, 1950-2010: area and volume.","descriptionType":"Abstract"}],
 "subjects":[{"subject":"FOS: Earth sciences"}],"created":"2015-01-01T00:00:00Z"}

{"doi":"10.5072/x/y.2","state":"findable","publicationYear":2020,"viewCount":3,
 "titles":[{"title":"How to change the climate"}],"creators":[{"name":"Lovelace, Ada",
  "affiliation":[{"name":"University of Example","affiliationIdentifier":"https://ror.org/00x6h5n95","affiliationIdentifierScheme":"ROR"}]}],
 "publisher":{"name":"Dryad","publisherIdentifier":"https://ror.org/00x6h5n95","publisherIdentifierScheme":"ROR"},"clientId":"example.repo","providerId":"example",
 "types":{"resourceTypeGeneral":"Text"},"created":"2016-12-31T23:59:59.500Z",
 "fundingReferences":[{"funderName":"Example Fund","funderIdentifier":"https://ror.org/021nxhr62","funderIdentifierType":"ROR"}],
 "relatedIdentifiers":[{"relatedIdentifier":"10.5072/FJ3W-0SHD","relatedIdentifierType":"DOI","relationType":"Cites"}]}

{"doi":"10.5073/third","state":"registered","publicationYear":2010,"viewCount":0,
 "titles":[{"title":"Notes"}],"creators":[{"name":"Garza, Kristian"}],"publisher":"Zenodo","clientId":"example.other","client":{"name":"Other Repository"},
 "identifiers":[{"identifier":"ARK:/12345/AB","identifierType":"ARK"}],"sizes":["5 pages"],
 "types":{"resourceTypeGeneral":"Dataset"},"created":"2017-01-01T00:00:00Z","registered":"2017-06-15T12:34:56.000Z"}

{"doi":"10.5073/fourth","state":"findable","publicationYear":"2012","viewCount":"7","citationCount":2.0,
 "titles":[{"title":"Année 3.14: l'été — 気候変動 at_home","lang":null},null],"creators":{"name":"O'Brien, Pat"},
 "publisher":"U.S. Geological Survey","alternateIdentifiers":[{"alternateIdentifier":"X-1","alternateIdentifierType":"Local"}],
 "rightsList":[{"rightsIdentifier":"CC-BY-4.0"}],"types":{"resourceTypeGeneral":"Dataset","resourceType":""}}

{"doi":"10.5073/draft","state":"draft","publicationYear":null,"titles":[],"publisher":null,"types":{},"created":"2018-06-15T12:00:00Z"}
`)

// records are what the index has of records in JSON.
func records(text string) []map[string]any {
	var list []map[string]any
	for dec := json.NewDecoder(strings.NewReader(text)); dec.More(); {
		var said struct {
			DOI, State, ClientID, ProviderID, URL string
			Created, Registered                   time.Time
			Client                                map[string]any
		}
		var raw json.RawMessage
		var attributes map[string]any
		for _, into := range []any{&said, &attributes} {
			if raw == nil {
				must(dec.Decode(&raw))
			}
			must(json.Unmarshal(raw, into))
		}
		for _, name := range []string{"doi", "state", "clientId", "providerId", "url", "created", "registered", "client"} {
			delete(attributes, name)
		}
		rec := record.Record{
			DOI: said.DOI, State: said.State, URL: said.URL, Client: said.ClientID, Provider: said.ProviderID,
			Repository: said.Client,
			Created:    said.Created, Registered: said.Registered, Attributes: attributes,
		}
		list = append(list, rec.Indexed())
	}
	return list
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// match says whether a record matches, and how well.
func match(q *search.Query, record map[string]any) (score float64, ok bool) {
	ix := search.NewIndex(func(int) map[string]any { return record })
	ix.Add(record)
	found := q.Find(ix)
	if found.Len() == 0 {
		return 0, false
	}
	return found.Score(0), true
}

// find tells which records match, as their numbers from 1.
func find(t *testing.T, query string, deployed bool) string {
	t.Helper()
	q, err := search.Parse(query, deployed)
	require.NoError(t, err, query)
	var found []string
	for i, record := range library {
		if _, ok := match(q, record); ok {
			found = append(found, fmt.Sprint(i+1))
		}
	}
	return strings.Join(found, " ")
}

// hits is a query and the records it should find.
type hits struct{ query, want string }

func check(t *testing.T, cases []hits) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.query, func(t *testing.T) {
			assert.Equal(t, c.want, find(t, c.query, documented), "which records match %s", c.query)
		})
	}
}

func TestCommonFields(t *testing.T) {
	check(t, []hits{
		{"", "1 2 3 4 5"},
		{" \t", "1 2 3 4 5"},
		{"*:*", "1 2 3 4 5"},
		{"klimawandel", "1"},
		{"garza", "1 3"},
		{`"https://orcid.org/0000-0003-3484-6875"`, "1"},
		{"https://orcid.org/0000-0003-3484-6875", ""}, // the colon makes a field of https
		{"dryad", "2"},
		{"glaciers", "1"},
		{"sciences", "1"},
		{"10.5072/fj3w-0shd", "1 2"},
		{`"10.5072/X/Y.2"`, "2"},
		{"survey", "4"}, // a publisher's name; types.resourceType is not a common field
		{"Dataset", ""},
		{"nosuchword", ""},
	})
}

func TestBothReadings(t *testing.T) {
	for _, c := range []struct{ query, documented, deployed string }{
		{"garza climate", "1 2 3", ""}, // one text that no single field has whole
		{"garza AND climate", "1", "1"},
		{"kristian garza", "1 3", "3"},                              // the index has no given name of the first
		{"types.resourceTypeGeneral:(Dataset Text)", "1 2 3 4", ""}, // "Dataset Text" is no type
		{"types.resourceTypeGeneral:(Dataset OR Text)", "1 2 3 4", "1 2 3 4"},
		{"publication_year:(>=2010 AND <2014)", "3 4", "3 4"},
		{"publication_year:(>=2014 <2012)", "1 2 3", "refused"},
		{"titles.title:climate AND (titles.title:alps OR *:*)", "1 2", "1 2"},
		{"titles.title:climate OR NOT publisher:zenodo", "2", "2"},
		{"titles.title:climate OR (*:* AND NOT publisher:zenodo)", "1 2 4 5", "1 2 4 5"},
		{"titles.title:climate AND titles.title:alps OR publisher:dryad", "1", "1 2"},
		{"(titles.title:climate AND titles.title:alps) OR publisher:dryad", "1 2", "1 2"},
		{"+garza climate", "1 3", "1"},
		{"titles.title:change-alps", "1 2", "1"}, // a bare word that is two
		{"garza -climate", "3", "3"},
		{`climate titles.title:"—" garza`, "1 2 3", "1"}, // nothing but punctuation drops out
	} {
		t.Run(c.query, func(t *testing.T) {
			assert.Equal(t, c.documented, find(t, c.query, documented), "documented")
			if c.deployed == "refused" {
				_, err := search.Parse(c.query, deployed)
				require.Error(t, err)
				return
			}
			assert.Equal(t, c.deployed, find(t, c.query, deployed), "deployed")
		})
	}
}

func TestWholeValues(t *testing.T) {
	check(t, []hits{
		{"doi:10.5072/FJ3W-0shd", "1"},
		{"uid:10.5072/fj3w-0shd", "1"},
		{"id:10.5072/fj3w-0shd", "1"},
		{"doi:10.5072", ""},
		{"relatedIdentifiers.relatedIdentifier:10.5072/fj3w-0shd", "2"},
		{"relatedIdentifiers.relationType:Cites", "2"},
		{"relatedIdentifiers.relationType:cites", ""},
		{"types.resourceTypeGeneral:Dataset", "1 3 4"},
		{"types.resourceTypeGeneral:dataset", ""},
		{`types.resourceType:"survey data"`, "1"},
		{"types.resourceType:survey", ""},
		{`types.resourceType:""`, "4"},
		{"creators.nameIdentifiers.nameIdentifierScheme:ORCID", "1"},
		{"identifiers.identifier:ark\\:/12345/ab", "3"},
		{"rightsList.rightsIdentifier:cc-by-4.0", "4"},
		{"language:en", "1"},
		{"language:EN", ""},
		{"state:(registered OR draft)", "3 5"},
		{"isActive:true", "1 2 4"},
		{"sizes:5\\ pages", "3"},
		{`version:"version: 3"`, "1"},
	})
}

func TestFieldNames(t *testing.T) {
	check(t, []hits{
		{"publication_year:2014", "1"},
		{"view_count:12", "1"},
		{"related_identifiers.relatedIdentifierType:DOI", "2"},
		{"schema_version:*4", "1"},
		{"version_info:version*", "1"},
		{"aasm_state:draft", "5"},
		{"client_id:example.repo", "2"},
		{"client_id:example.other", "3"},
		{"client.uid:example.other", "3"},
		{"client.name:repository", "3"},
		{"provider_id:example", "2"},
		{"creator_names:garza", "1 3"},
		{"creators_and_contributors.name:lee", "1"},
		{"creators_and_contributors.name:garza", "1 3"},
		{"creators.affiliation.name:example", "1 2"},
		{"creators.affiliation:university", "2"},
		{"publisher:dryad", "2"},
		{"publisher.name:(dryad zenodo)", "1 2 3"},
		{"publisher_obj.name:zenodo", "1 3"},
		{`publisher_obj.publisherIdentifier:"https://ror.org/00x6h5n95"`, "2"},
		{"affiliation_id:ror.org/00x6h5n95", "2"},
		{"organization_id:ror.org/04wxnsj81", "1"},
		{"organization_id:*", "1 2"}, // a contributor, a publisher; an ORCID iD is no organization
		{"funder_rors:https\\://ror.org/021nxhr62", "2"},
		{"fundingReferences.funderName:fund", "2"},
		{"identifiers.identifier:x-1", "4"},
		{"alternateIdentifiers.alternateIdentifier:(x-1 OR \"ARK:/12345/AB\")", "3 4"},
		{"prefix:10.5073", "3 4 5"},
		{"suffix:x/y.2", "2"},
		{"creators.name:brien*", ""},
		{"creators.name:o'brien", "4"}, // an object where an array should be
		{"title:climate", ""},
		{"titles:climate", ""},
		{"NOT nosuch:x", "1 2 3 4 5"},
	})
}

// Which fields the deployed service's index has is in the table of queries. A match in each weighs as there.
func TestWeights(t *testing.T) {
	q, err := search.Parse("climate OR 10.5072\\/fj3w*", deployed)
	require.NoError(t, err)
	score, _ := match(q, library[0])
	assert.InDelta(t, 53.0, score, 1e-9, "3 for a title, 50 for the name")
}

func TestWords(t *testing.T) {
	check(t, []hits{
		{"titles.title:CLIMATE", "1 2"},
		{"titles.title:ANNÉE", "4"},
		{"titles.title:annee", ""},
		{"titles.title:3.14", "4"},
		{"titles.title:l'été", "4"},
		{"titles.title:at_home", "4"},
		{"titles.title:home", ""},
		{"publisher:u.s", "4"},
		{`publisher:"U.S. geological"`, "4"},
		{"descriptions.description:(1950 AND 2010)", "1"},
		{`subjects.subject:"fos: earth"`, "1"},
		{`subjects.subject:"fos earth"`, "1"},
		{"url:example.org", "1"},
	})
}

func TestPhrases(t *testing.T) {
	check(t, []hits{
		{`"climate change"`, "1"},
		{`"change climate"`, ""},
		{`"change climate"~0`, ""},
		{`"change climate"~1`, "2"},
		{`"change climate"~2`, "1 2"}, // to exchange two words takes two moves
		{`"climate alps"~2`, ""},
		{`"climate alps"~3`, "1"},
		{`"the the"~5`, ""},
		{`"alps klimawandel"~9`, ""}, // not across titles
		{`""`, ""},
		{`titles.title:"*"`, ""},
	})
}

func TestPatterns(t *testing.T) {
	check(t, []hits{
		{"doi:10.5072/*", "1 2"},
		{"doi:10.5072/FJ*", "1"},
		{"doi:*/y.?", "2"},
		{"doi:10.507?/*", "1 2 3 4 5"},
		{"clim*", "1 2"},
		{"titles.title:CLIM*", "1 2"},
		{"titles.title:kl?ma*el", "1"},
		{"titles.title:clima?", ""},
		{"titles.title:climate?", ""},
		{"titles.title:climate*", "1 2"},
		{"titles.title:ann?e", "4"},
		{"types.resourceTypeGeneral:Data*", "1 3 4"},
		{"types.resourceTypeGeneral:data*", ""},
		{`types.resourceType:survey\ *`, "1"},
		{`version:*\:*`, "1"},
		{`version:\**`, ""},
		{`version:version\u003a*`, "1"},
		{`version:*\u003a*`, ""}, // \u is not decoded in a pattern
		{"titles.title:climate\u00a0*", ""},
	})
}

func TestFuzzyWords(t *testing.T) {
	check(t, []hits{
		{"KLIMAWENDEL~1", "1"},
		{"klimawendle~1", ""},
		{"klimawendle~2", "1"},
		{"klimawandle~1", "1"}, // neighbours exchanged are one edit
		{"apx~1", ""},
		{"aps~1", "1"},
		{"alps~0", "1"},
		{"kxxxxandel~9", ""}, // two is the most
		{"doi:10.5073/thord~1", "3"},
		{"types.resourceTypeGeneral:dataset~1", "1 3 4"},
		{"klimawendel~1^2", "1"},
		{"klimawendel^2~1", "1"},
	})
}

func TestExists(t *testing.T) {
	check(t, []hits{
		{"_exists_:publisher", "1 2 3 4"},
		{"publisher:*", "1 2 3 4"},
		{`_exists_:"titles.title"`, "1 2 3 4"},
		{"_exists_:titles", "1 2 3 4"},
		{"NOT _exists_:titles", "5"},
		{"_exists_:types", "1 2 3 4"},
		{"types.resourceType:*", "1 4"},
		{"publicationYear:*", "1 2 3 4"},
		{"created:*", "1 2 3 5"},
		{"titles.lang:*", "1"},
		{"_exists_:tit*", ""}, // a prefix of nothing: no record has a field _exists_
		{"_exists_:nosuch", ""},
		{"*", "1 2 3 4 5"},
	})
}

func TestNumbersAndYears(t *testing.T) {
	check(t, []hits{
		{"publicationYear:2014", "1"},
		{`publicationYear:"2014"`, "1"},
		{"publicationYear:2012", "4"}, // a string in the record
		{"publicationYear:[2010 TO 2014]", "1 3 4"},
		{"publicationYear:{2010 TO 2014}", "4"},
		{"publicationYear:{2010 TO 2014]", "1 4"},
		{"publicationYear:[* TO 2012}", "3"},
		{"publicationYear:[2014 TO *]", "1 2"},
		{`publicationYear:["2014" TO "*"]`, "1 2"},
		{"publicationYear:>2012", "1 2"},
		{"publicationYear:>=2012", "1 2 4"},
		{"publicationYear:<2012", "3"},
		{"publicationYear:<=2012", "3 4"},
		{`publicationYear:\>2012`, "1 2"}, // a backslash does not hide the sign
		{"viewCount:12", "1"},
		{"viewCount:7", "4"},
		{"viewCount:[3 TO 12}", "2 4"},
		{"viewCount:>=3", "1 2 4"},
		{"viewCount:(>3 AND <12)", "4"},
		{"viewCount:<0.5", "3 5"},
		{"citationCount:2", "4"},
	})
}

func TestDates(t *testing.T) {
	check(t, []hits{
		{"created:[2015 TO 2016]", "1 2"}, // both years whole
		{"created:[2015 TO 2017}", "1 2"},
		{"created:{2015 TO 2017]", "2 3"},
		{"created:>2015", "2 3 5"},
		{"created:>=2015", "1 2 3 5"},
		{"created:<2017", "1 2"},
		{"created:<=2017", "1 2 3"},
		{"created:2016", "2"},
		{"created:2016-12", "2"},
		{`created:"2016-12-31"`, "2"},
		{`created:"2016-12-31T23:59"`, "2"},
		{`created:"2016-12-31T23:59:59"`, "2"},
		{`created:"2016-12-31T23:59:59.000Z"`, "2"}, // the index has whole seconds
		{`created:"2016-12-31T23:59:59.500Z"`, ""},
		{`created:["2016-12-31T23:59:59.000Z" TO "2016-12-31T23:59:59.999Z"]`, "2"},
		{`created:[2016-12-31T23:59:59.001Z TO 2017-01-01T00:00:00.000Z]`, "3"},
		{"created:[1483228799000 TO 1483228800000]", "2 3"}, // milliseconds since 1970
		{`created:"2017-01-01T01:00:00+01:00"`, "3"},
		{"created:[2016-12-31T23 TO 2017-01-01T00:00]", "2 3"},
		{"registered:2017", "3"},
	})
}

func TestRangesOfText(t *testing.T) {
	check(t, []hits{
		{"publisher:[D TO E]", "2"},
		{"publisher:{dryad TO zenodo]", "1 3 4"},
		{"doi:[10.5073 TO *]", "3 4 5"},
		{"doi:[* TO 10.5073]", "1 2"},
		{"language:[a TO z]", "1"},
		{"language:[A TO Z]", ""},
		{`types.resourceType:["survey a" TO "survey z"]`, "1"},
		{"publisher:>u", "1 3 4"},
		{"[TO TO TO]", "2"},
	})
}

func TestEscapes(t *testing.T) {
	check(t, []hits{
		{`titles.title:climate\u0020alps`, "1 2"},
		{`titles.title:c\limate`, "1 2"},
		{`\u0063limate`, "1 2"},
		{`doi:10.5072\/fj3w\-0shd`, "1"},
		{`doi:10.5072\u002Ffj3w-0shd`, "1"},
		{`doi:"10.5072\/fj3w-0shd"`, "1"},
		{`doi\:10.5072`, ""},
		{`version:version\:\ 3`, "1"},
		{`version:"version\: 3"`, "1"},
		{`version:["version\u003a 3" TO "version\: 3"]`, "1"},
		{`\AND`, "1"},                // "area and volume"
		{`titles.title:/alps/`, "1"}, // no regular expressions: slashes are plain
		{`doi:/10.5072.*/`, ""},
	})
}

func TestScore(t *testing.T) {
	for _, c := range []struct {
		query string
		want  float64
	}{
		{"climate", 1},
		{"climate garza", 2},
		{"climate^3 garza", 4},
		{"(climate^3 garza)^0.5", 2},
		{`"climate change"^2 doi:10.5072/*`, 3},
		{"[a TO z]^4", 4},
		{"+climate nosuchword", 1},
		{"*:*", 1},
		{"-nosuchword", 0},
		{"climate^0", 0},
	} {
		q, err := search.Parse(c.query, documented)
		require.NoError(t, err, c.query)
		score, ok := match(q, library[0])
		assert.True(t, ok, c.query)
		assert.InDelta(t, c.want, score, 1e-9, c.query)
	}
}

func TestOneQueryForManyGoroutines(t *testing.T) {
	q, err := search.Parse(`cl*te OR "alps klimawandel"~2 OR kristien~1 OR created:>2014`, documented)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				_, ok := match(q, library[0])
				assert.True(t, ok)
			}
		})
	}
	wg.Wait()
}

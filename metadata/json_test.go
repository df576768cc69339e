package metadata_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

func TestRecord_readsOddJSON(t *testing.T) {
	type record = metadata.Record
	for _, tt := range []struct {
		name, json string
		want       record
	}{
		{"null everywhere", `{"doi":null,"creators":null,"titles":null,"publisher":null,"publicationYear":null,"types":null,
			"dates":null,"language":null,"version":null,"sizes":null,"geoLocations":null,"schemaVersion":null,
			"identifiers":null,"alternateIdentifiers":null,"relatedItems":null}`, record{}},
		{"null members", `{"creators":[{"name":null,"nameType":null,"nameIdentifiers":null,"affiliation":null}],
			"titles":[{"title":"T","titleType":null,"lang":null}],"geoLocations":[{"geoLocationPoint":null,"geoLocationPolygon":null}]}`,
			record{Creators: []metadata.Creator{{}}, Titles: []metadata.Title{{Title: "T"}},
				GeoLocations: []metadata.GeoLocation{{}}}},
		{"numbers for strings", `{"publicationYear":2020,"dates":[{"date":2019,"dateType":"Issued"}],"sizes":[10,"2 ` +
			`kB"],"relatedItems":[{"volume":3,"publicationYear":1865}]}`,
			record{PublicationYear: "2020", Dates: []metadata.Date{{Date: "2019", DateType: metadata.DateIssued}},
				Sizes:        []string{"10", "2 kB"},
				RelatedItems: []metadata.RelatedItem{{Volume: "3", PublicationYear: "1865"}}}},
		{"numbers for strings of the record itself", `{"doi":1,"version":2,"language":7,"schemaVersion":4}`,
			record{DOI: "1", Version: "2", Language: "7", SchemaVersion: "4"}},
		{"one object for a list", `{"creators":{"name":"A","nameIdentifiers":{"nameIdentifier":"0000-0001",` +
			`"nameIdentifierScheme":"ORCID"}},"titles":{"title":"T"}}`,
			record{Creators: []metadata.Creator{
				{Name: "A", NameIdentifiers: []metadata.NameIdentifier{
					{NameIdentifier: "0000-0001", NameIdentifierScheme: "ORCID"}}}},
				Titles: []metadata.Title{{Title: "T"}}}},
		{"a string for a list", `{"formats":"text/csv","sizes":"","titles":"T","creators":["A",{"name":"B",` +
			`"affiliation":"C"}]}`,
			record{Formats: []string{"text/csv"}, Sizes: []string{}, Titles: []metadata.Title{{Title: "T"}},
				Creators: []metadata.Creator{{Name: "A"}, {Name: "B", Affiliation: []metadata.Affiliation{{Name: "C"}}}}}},
		{"affiliations as strings and as objects",
			`{"creators":[{"affiliation":["X",{"name":"Y","affiliationIdentifier":"https://ror.org/04wxnsj81"},null]}]}`,
			record{Creators: []metadata.Creator{
				{Affiliation: []metadata.Affiliation{{Name: "X"},
					{Name: "Y", AffiliationIdentifier: "https://ror.org/04wxnsj81"}}}}}},
		{"publisher as a string", `{"publisher":"P"}`, record{Publisher: metadata.Publisher{Name: "P"}}},
		{"publisher as an object", `{"publisher":{"name":"P","lang":"en","schemeUri":null,"unknown":[1,{"a":"}"}]}}`,
			record{Publisher: metadata.Publisher{Name: "P", Lang: "en"}}},
		{"what makes no sense is left out",
			`{"publisher":[1,2],"types":"Dataset","titles":[[1],true,{"title":{"a":1}}],"publicationYear":{},` +
				`"geoLocations":[{"geoLocationPoint":"1 2"}],"sizes":[{"a":1},["b"]]}`,
			record{Titles: []metadata.Title{{Title: "true"}, {}}, GeoLocations: []metadata.GeoLocation{{}}, Sizes: []string{}}},
		{"award titles with their language", `{"fundingReferences":[{"awardTitle":{"__content__":"W","lang":"en"}},` +
			`{"awardTitle":"V"}]}`, record{
			FundingReferences: []metadata.FundingReference{{AwardTitle: "W"}, {AwardTitle: "V"}}}},
		{"years JSON numbers cannot write", `{"publicationYear":54}`, record{PublicationYear: "0054"}},
		{"coordinates as numbers and strings",
			`{"geoLocations":[{"geoLocationPoint":{"pointLongitude":-71.0320,"pointLatitude":"41.090"},
			"geoLocationBox":{"westBoundLongitude":0,"eastBoundLongitude":"1","southBoundLatitude":-1e1,"northBoundLatitude":2}}]}`,
			record{GeoLocations: []metadata.GeoLocation{{
				Point: metadata.Point{Longitude: "-71.0320", Latitude: "41.090"},
				Box:   metadata.Box{West: "0", East: "1", South: "-1e1", North: "2"},
			}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := must(metadata.ParseJSON(strings.NewReader(tt.json)))(t)
			assert.Equal(t, &tt.want, got)

			var plain record
			err := json.Unmarshal([]byte(tt.json), &plain)
			if tt.want.DOI == "1" {
				assert.ErrorContains(t, err, "cannot unmarshal number")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, plain)
		})
	}
}

func TestParseJSON_refusesWhatIsNoRecord(t *testing.T) {
	for _, text := range []string{"", "null", `"10.5072/x"`, `[{"doi":"10.5072/x"}]`, `{"doi":"10.5072/x"`,
		`{"doi":"10.5072/x"} {}`} {
		_, err := metadata.ParseJSON(strings.NewReader(text))
		assert.ErrorIs(t, err, datacite.ErrInvalid, text)
	}
	assert.EqualError(t, failure(metadata.ParseJSON(nil)), "datacite: r: is nil")
	_, err := metadata.ParseJSON(iotest.ErrReader(fs.ErrClosed))
	require.ErrorIs(t, err, fs.ErrClosed)
	assert.NotErrorIs(t, err, datacite.ErrInvalid)
}

func TestPolygons_JSON(t *testing.T) {
	a, b := metadata.Point{Longitude: "1", Latitude: "2"}, metadata.Point{Longitude: "3", Latitude: "4"}
	tests := []struct {
		name, json string
		want       metadata.Polygons
	}{
		{"flat", `[{"polygonPoint":{"pointLongitude":1,"pointLatitude":2}},{"polygonPoint":{"pointLongitude":"3","pointLatitude":"4"}},
			{"inPolygonPoint":{"pointLongitude":1,"pointLatitude":2}}]`, metadata.Polygons{
			{Points: []metadata.Point{a, b}, InPoint: a}}},
		{"nested", `[[{"polygonPoint":{"pointLongitude":1,"pointLatitude":2}}],[{"polygonPoint":{"pointLongitude":3,` +
			`"pointLatitude":4}}]]`,
			metadata.Polygons{{Points: []metadata.Point{a}}, {Points: []metadata.Point{b}}}},
		{"object of lists", `{"polygonPoint":[{"pointLongitude":1,"pointLatitude":2},{"pointLongitude":3,"pointLatitude":4}` +
			`],"inPolygonPoint":{"pointLongitude":3,"pointLatitude":4}}`,
			metadata.Polygons{{Points: []metadata.Point{a, b}, InPoint: b}}},
		{"objects of lists", `[{"polygonPoint":[{"pointLongitude":1,"pointLatitude":2},{"pointLongitude":1,` +
			`"pointLatitude":2}]},{"polygonPoint":[{"pointLongitude":3,"pointLatitude":4},{"pointLongitude":3,` +
			`"pointLatitude":4}]}]`,
			metadata.Polygons{{Points: []metadata.Point{a, a}}, {Points: []metadata.Point{b, b}}}},
		{"none", `[]`, metadata.Polygons{}},
		{"null", `null`, nil},
		{"number", `5`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := metadata.Polygons{{}} // which is replaced
			require.NoError(t, json.Unmarshal([]byte(tt.json), &got))
			assert.Equal(t, tt.want, got)
			out := must(json.Marshal(got))(t)
			var again metadata.Polygons
			require.NoError(t, json.Unmarshal(out, &again))
			if len(got) > 0 {
				assert.Equal(t, got, again)
			}
		})
	}
	assert.ErrorIs(t, new(metadata.List[int]).UnmarshalJSON([]byte(`["a"]`)), datacite.ErrInvalid, "of no record")
	assert.Error(t, new(metadata.Polygon).UnmarshalJSON([]byte(`[{"polygonPoint":`)))
	assert.Error(t, new(metadata.Polygons).UnmarshalJSON([]byte(`[{"polygonPoint":`)))
	assert.Equal(t, "2026", string(must(json.Marshal(metadata.YearOf(2026)))(t)))
	assert.Error(t, new(metadata.Year).UnmarshalJSON([]byte(`"20`)))
}

func TestRecord_writesJSON(t *testing.T) {
	rec := metadata.Record{
		Creators: []metadata.Creator{metadata.Organization("Analytical Society").ROR("https://ror.org/04wxnsj81")},
		Contributors: []metadata.Contributor{
			{Creator: metadata.Person("Plato", "").AffiliatedWith("Academy", ""),
				ContributorType: metadata.ContributorResearcher},
		},
		Publisher:       metadata.Publisher{Name: "P"},
		PublicationYear: metadata.YearOf(54),
		Subjects:        []metadata.Subject{},
		AlternateIdentifiers: []metadata.AlternateIdentifier{
			{AlternateIdentifier: "acc-1", AlternateIdentifierType: "Accession"}},
		RightsList: []metadata.Rights{metadata.SPDX("CC0-1.0")},
		GeoLocations: []metadata.GeoLocation{{
			Point: metadata.Point{Longitude: "-71.5", Latitude: "+1"}, Box: metadata.Box{West: "NaN", East: "+Inf", South: "1 "},
			Polygons: metadata.Polygons{{
				Points:  []metadata.Point{{Longitude: "0", Latitude: "0.50"}},
				InPoint: metadata.Point{Longitude: "1", Latitude: "1"},
			}},
		}},
	}
	data := must(json.MarshalIndent(rec, "", " "))(t)
	assert.JSONEq(t, `{
		"creators": [{"name": "Analytical Society", "nameType": "Organizational", "nameIdentifiers": [
			{"nameIdentifier": "https://ror.org/04wxnsj81", "nameIdentifierScheme": "ROR", "schemeUri": "https://ror.org"}]}],
		"contributors": [{"name": "Plato", "nameType": "Personal", "familyName": "Plato",
			"affiliation": [{"name": "Academy"}], "contributorType": "Researcher"}],
		"publisher": "P",
		"publicationYear": "0054",
		"subjects": [],
		"alternateIdentifiers": [{"alternateIdentifier": "acc-1", "alternateIdentifierType": "Accession"}],
		"rightsList": [{"rightsUri": "https://spdx.org/licenses/CC0-1.0", "rightsIdentifier": "CC0-1.0",
			"rightsIdentifierScheme": "SPDX", "schemeUri": "https://spdx.org/licenses/"}],
		"geoLocations": [{
			"geoLocationPoint": {"pointLongitude": -71.5, "pointLatitude": "+1"},
			"geoLocationBox": {"westBoundLongitude": "NaN", "eastBoundLongitude": "+Inf", "southBoundLatitude": "1 "},
			"geoLocationPolygon": [
				{"polygonPoint": {"pointLongitude": 0, "pointLatitude": "0.50"}},
				{"inPolygonPoint": {"pointLongitude": 1, "pointLatitude": 1}}
			]
		}]
	}`, string(data))
	assert.Contains(t, string(data), `"pointLatitude": "0.50"`, "every digit stays")
}

// The other names of a resource come as one member or the other, or as both with the same content; records up to 2019
// have their DOI among them, and those of DataCite's own JSON schema nowhere else. No name is lost or doubled, in
// JSON or XML.
func TestRecord_keepsAlternateIdentifiers(t *testing.T) {
	type list = metadata.List[metadata.AlternateIdentifier]
	const accession = `"alternateIdentifiers":[{"alternateIdentifier":"acc-1","alternateIdentifierType":"Accession"}]`
	const copied = `"identifiers":[{"identifier":"acc-1","identifierType":"Accession"}]`
	const own = `{"identifier":"https://doi.org/10.5072/X","identifierType":"DOI"}`
	const other = `{"identifier":"10.5072/other","identifierType":"DOI"}`
	acc, otherDOI := metadata.AlternateIdentifier{AlternateIdentifier: "acc-1", AlternateIdentifierType: "Accession"},
		metadata.AlternateIdentifier{AlternateIdentifier: "10.5072/other", AlternateIdentifierType: "DOI"}
	for text, want := range map[string]metadata.Record{
		`{` + accession + `}`:                {AlternateIdentifiers: list{acc}},
		`{` + copied + `}`:                   {AlternateIdentifiers: list{acc}},
		`{` + copied + `,` + accession + `}`: {AlternateIdentifiers: list{acc}},
		`{` + accession + `,` + copied + `}`: {AlternateIdentifiers: list{acc}},
		`{` + copied + `,"alternateIdentifiers":["7",{"alternateIdentifier":"acc-1",` +
			`"alternateIdentifierType":"Accession"}]}`: {
			AlternateIdentifiers: list{{AlternateIdentifier: "7"}, acc}},
		`{` + copied + `,"alternateIdentifiers":[]}`: {AlternateIdentifiers: list{acc}},
		`{"doi":"10.5072/x","identifiers":[` + other + `,"7"],` + accession + `}`: {DOI: "10.5072/x", AlternateIdentifiers: list{
			acc, otherDOI, {AlternateIdentifier: "7"}}},
		`{"identifiers":[{"identifier":null,"identifierType":"URL"}]}`: {AlternateIdentifiers: list{
			{AlternateIdentifierType: "URL"}}},
		`{"identifiers":[` + own + `,{"identifier":null,"identifierType":"DOI"}],"doi":"10.5072/x"}`: {DOI: "10.5072/x"},
		`{"identifiers":[` + own + `],"alternateIdentifiers":[]}`:                                    {DOI: "10.5072/X", AlternateIdentifiers: list{}},
		`{"identifiers":[` + own + `,` + other + `],"doi":"10.5072/x"}`: {DOI: "10.5072/x",
			AlternateIdentifiers: list{otherDOI}},
		`{"identifiers":[` + own + `],` + accession + `}`: {DOI: "10.5072/X", AlternateIdentifiers: list{acc}},
		// one of the two is the record's name, and it does not say which
		`{"identifiers":[` + other + `,{"identifier":"10.5072/x","identifierType":"DOI"}]}`: {AlternateIdentifiers: list{
			otherDOI, {AlternateIdentifier: "10.5072/x", AlternateIdentifierType: "DOI"}}},
		`{"identifiers":[]}`:   {AlternateIdentifiers: list{}},
		`{"identifiers":null}`: {},
	} {
		rec := must(metadata.ParseJSON(strings.NewReader(text)))(t)
		assert.Equal(t, &want, rec, text)
		again := must(metadata.ParseJSON(bytes.NewReader(must(json.Marshal(rec))(t))))(t)
		assert.Equal(t, rec, again, text)
		if len(want.AlternateIdentifiers) > 0 {
			written := must(rec.XML())(t)
			assert.Equal(t, want.AlternateIdentifiers, parse(t, string(written)).AlternateIdentifiers, text)
		}
	}
}

// With the given name "" the service composes another name than without it: it is written as it was read.
func TestRecord_keepsEmptyGivenNames(t *testing.T) {
	const empty = `{"name":"Plato, ","familyName":"Plato","givenName":""}`
	read := must(metadata.ParseJSON(strings.NewReader(`{"creators":[` + empty + `,{"name":"Plato","familyName":"Plato"},` +
		`{"name":"Plato","givenName":""}]}`)))(t).Creators
	assert.JSONEq(t, `[`+empty+`,{"name":"Plato","familyName":"Plato"},{"name":"Plato"}]`,
		string(must(json.Marshal(read))(t)))
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(metadata.Organization("R&D")))
	assert.Contains(t, plain.String(), "R&D", "as who writes it wants it")
	read[0].GivenName = "P."
	assert.JSONEq(t, strings.Replace(empty, `""`, `"P."`, 1), string(must(json.Marshal(read[0]))(t)))
}

// The XML tells which references are the service's.
func TestParseJSON_readsTheXML(t *testing.T) {
	xml := base64.StdEncoding.EncodeToString([]byte(resource(`<titles><title>Salt &amp;amp; Pepper</title></titles>`)))
	for member, want := range map[string]string{``: "Salt & Pepper", `,"xml":"` + xml + `"`: "Salt &amp; Pepper"} {
		rec := must(metadata.ParseJSON(strings.NewReader(`{"titles":[{"title":"Salt &amp; Pepper"}]` + member + `}`)))(t)
		assert.Equal(t, want, rec.Titles[0].Title)
	}
}

// A larger struct may embed a record and have members of its own.
func TestRecord_embeds(t *testing.T) {
	var got struct {
		metadata.Record
		URL string `json:"url"`
	}
	require.NoError(t, json.Unmarshal([]byte(`{"doi":"10.5072/x","titles":{"title":"T"},"url":"https://example.org"}`),
		&got))
	assert.Equal(t, "https://example.org", got.URL)
	assert.Equal(t, metadata.Record{DOI: "10.5072/x", Titles: []metadata.Title{{Title: "T"}}}, got.Record)
}

func TestPolygon_JSON(t *testing.T) {
	want := metadata.Polygon{Points: []metadata.Point{{Longitude: "1", Latitude: "2"}},
		InPoint: metadata.Point{Longitude: "3", Latitude: "4"}}
	data := must(json.Marshal(want))(t)
	assert.JSONEq(t, `[{"polygonPoint":{"pointLongitude":1,"pointLatitude":2}},{"inPolygonPoint":{"pointLongitude":3,`+
		`"pointLatitude":4}}]`, string(data))
	var got metadata.Polygon
	require.NoError(t, json.Unmarshal(data, &got))
	assert.Equal(t, want, got)
	require.NoError(t, json.Unmarshal([]byte(`null`), &got))
	assert.Equal(t, metadata.Polygon{}, got)
}

// A creator handed on is not changed by what is added to a copy.
func TestCreator_addsToCopies(t *testing.T) {
	ada := metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427")
	at, elsewhere := ada.AffiliatedWith("X", ""), ada.AffiliatedWith("Y", "")
	assert.Empty(t, ada.Affiliation)
	assert.Equal(t, "X", at.Affiliation[0].Name)
	assert.Equal(t, "Y", elsewhere.Affiliation[0].Name)
}

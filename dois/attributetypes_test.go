package dois_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// TestAttributesOfOddTypes reads attributes of types that the deployed service has been seen
// to send, and some that it has not. None fails the record, and what can be
// understood is.
func TestAttributesOfOddTypes(t *testing.T) {
	creator := func(r *dois.Record) metadata.Creator { return r.Creators[0] }
	for name, tt := range map[string]struct {
		attributes string
		read       func(*dois.Record) any
		want       any
	}{
		"creator without name":      {`"creators":[{"familyName":"X"}]`, func(r *dois.Record) any { return creator(r).FamilyName }, "X"},
		"creator with null members": {`"creators":[{"name":null,"nameType":null,"givenName":null,"affiliation":null,"nameIdentifiers":null}]`, func(r *dois.Record) any { return creator(r) }, metadata.Creator{}},
		"creators null":             {`"creators":null`, func(r *dois.Record) any { return len(r.Creators) }, 0},
		"creator alone":             {`"creators":{"name":"X"}`, func(r *dois.Record) any { return creator(r).Name }, "X"},
		"affiliation plain":         {`"creators":[{"name":"X","affiliation":["Y"]}]`, func(r *dois.Record) any { return creator(r).Affiliation[0].Name }, "Y"},
		"affiliation object":        {`"creators":[{"name":"X","affiliation":[{"name":"Y","affiliationIdentifier":null}]}]`, func(r *dois.Record) any { return creator(r).Affiliation[0].Name }, "Y"},
		"affiliation alone":         {`"creators":[{"name":"X","affiliation":"Y"}]`, func(r *dois.Record) any { return creator(r).Affiliation[0].Name }, "Y"},
		"affiliations mixed":        {`"creators":[{"name":"X","affiliation":["Y",{"name":"Z"},null]}]`, func(r *dois.Record) any { return len(creator(r).Affiliation) }, 2},
		"nameIdentifiers object":    {`"creators":[{"name":"X","nameIdentifiers":{"nameIdentifier":"1","nameIdentifierScheme":"ORCID"}}]`, func(r *dois.Record) any { return creator(r).NameIdentifiers[0].NameIdentifier }, "1"},
		"nameIdentifier missing":    {`"creators":[{"name":"X","nameIdentifiers":[{"nameIdentifierScheme":"ORCID","schemeUri":null}]}]`, func(r *dois.Record) any { return creator(r).NameIdentifiers[0].NameIdentifierScheme }, "ORCID"},
		"contributor without type":  {`"contributors":[{"name":"X"}]`, func(r *dois.Record) any { return r.Contributors[0].Name }, "X"},
		"title with null members":   {`"titles":[{"title":"T","titleType":null,"lang":""}]`, func(r *dois.Record) any { return r.Titles[0] }, metadata.Title{Title: "T"}},
		"title a number":            {`"titles":[{"title":1984}]`, func(r *dois.Record) any { return r.Titles[0].Title }, "1984"},
		"publisher string":          {`"publisher":"P"`, func(r *dois.Record) any { return r.Publisher.Name }, "P"},
		"publisher object":          {`"publisher":{"name":"P"}`, func(r *dois.Record) any { return r.Publisher.Name }, "P"},
		"publisher null":            {`"publisher":null`, func(r *dois.Record) any { return r.Publisher }, metadata.Publisher{}},
		"year number":               {`"publicationYear":2020`, func(r *dois.Record) any { return string(r.PublicationYear) }, "2020"},
		"year string":               {`"publicationYear":"2020"`, func(r *dois.Record) any { return string(r.PublicationYear) }, "2020"},
		"year null":                 {`"publicationYear":null`, func(r *dois.Record) any { return string(r.PublicationYear) }, ""},
		"container empty":           {`"container":{}`, func(r *dois.Record) any { return r.Container.Title }, ""},
		"container":                 {`"container":{"type":"Series","title":"S","volume":7,"identifiers":[{"identifier":"1","identifierType":"ISSN"}]}`, func(r *dois.Record) any { return r.Container }, dois.Container{Type: "Series", Title: "S", Volume: "7", Identifiers: []metadata.Identifier{{Identifier: "1", IdentifierType: "ISSN"}}}},
		"container a string":        {`"container":"S"`, func(r *dois.Record) any { return r.Container.Title }, ""},
		"date a number":             {`"dates":[{"date":2019,"dateType":"Issued"}]`, func(r *dois.Record) any { return r.Dates[0].Date }, "2019"},
		"date null":                 {`"dates":[{"date":null,"dateType":"Issued"}]`, func(r *dois.Record) any { return r.Dates[0].Date }, ""},
		"date range":                {`"dates":[{"date":"2019/2020","dateInformation":null}]`, func(r *dois.Record) any { return r.Dates[0].Date }, "2019/2020"},
		"language null":             {`"language":null`, func(r *dois.Record) any { return string(r.Language) }, ""},
		"types empty":               {`"types":{}`, func(r *dois.Record) any { return r.Types }, metadata.Types{}},
		"types null":                {`"types":null`, func(r *dois.Record) any { return r.Types }, metadata.Types{}},
		"type an empty text":        {`"types":{"resourceTypeGeneral":"Dataset","resourceType":"","citeproc":""}`, func(r *dois.Record) any { return r.Types.ResourceTypeGeneral }, metadata.ResourceTypeDataset},
		"identifier null":           {`"identifiers":[{"identifier":null,"identifierType":"DOI"}]`, func(r *dois.Record) any { return len(r.Alternates()) }, 0},
		"identifier with the DOI":   {`"identifiers":[{"identifier":"https://doi.org/10.5072/x","identifierType":"DOI"},{"identifier":"7","identifierType":"local"}]`, func(r *dois.Record) any { return r.Alternates()[0].AlternateIdentifier }, "7"},
		"related identifier empty":  {`"relatedIdentifiers":[{"relatedIdentifier":"","relationType":"Cites","schemeUri":null}]`, func(r *dois.Record) any { return string(r.RelatedIdentifiers[0].RelationType) }, "Cites"},
		"related item with texts": {`"relatedItems":[{"relatedItemType":"Journal","publicationYear":"2018","volume":3,"publisher":"P","relatedItemIdentifier":{"relatedItemIdentifier":"1234-5678","schemeURI":"u"}}]`, func(r *dois.Record) any {
			return r.RelatedItems[0].PublicationYear + r.RelatedItems[0].Volume + r.RelatedItems[0].Publisher
		}, "20183P"},
		"sizes null":                 {`"sizes":null,"formats":null`, func(r *dois.Record) any { return len(r.Sizes) + len(r.Formats) }, 0},
		"size alone":                 {`"sizes":"5 MB"`, func(r *dois.Record) any { return r.Sizes[0] }, "5 MB"},
		"version a number":           {`"version":2.1`, func(r *dois.Record) any { return string(r.Version) }, "2.1"},
		"version null":               {`"version":null`, func(r *dois.Record) any { return string(r.Version) }, ""},
		"rights with nulls":          {`"rightsList":[{"rights":null,"rightsUri":"u","lang":""}]`, func(r *dois.Record) any { return r.RightsList[0].RightsURI }, "u"},
		"description without a text": {`"descriptions":[{"descriptionType":"Abstract"}]`, func(r *dois.Record) any { return string(r.Descriptions[0].DescriptionType) }, "Abstract"},
		"place empty":                {`"geoLocations":[{}]`, func(r *dois.Record) any { return len(r.GeoLocations) }, 1},
		"point with texts":           {`"geoLocations":[{"geoLocationPoint":{"pointLongitude":"1.50","pointLatitude":"-2"}}]`, func(r *dois.Record) any { return r.GeoLocations[0].Point }, metadata.Point{Longitude: "1.50", Latitude: "-2"}},
		"point with numbers":         {`"geoLocations":[{"geoLocationPoint":{"pointLongitude":1.50,"pointLatitude":-2}}]`, func(r *dois.Record) any { return r.GeoLocations[0].Point }, metadata.Point{Longitude: "1.50", Latitude: "-2"}},
		"polygon":                    {`"geoLocations":[{"geoLocationPolygon":[{"polygonPoint":{"pointLongitude":1,"pointLatitude":2}},{"inPolygonPoint":{"pointLongitude":3,"pointLatitude":4}}]}]`, func(r *dois.Record) any { return r.GeoLocations[0].Polygons[0].InPoint.Longitude }, metadata.Coordinate("3")},
		"polygons":                   {`"geoLocations":[{"geoLocationPolygon":[[{"polygonPoint":{"pointLongitude":1,"pointLatitude":2}}],[{"polygonPoint":{"pointLongitude":"3","pointLatitude":4}}]]}]`, func(r *dois.Record) any { return r.GeoLocations[0].Polygons[1].Points[0].Longitude }, metadata.Coordinate("3")},
		"funding null":               {`"fundingReferences":null`, func(r *dois.Record) any { return len(r.FundingReferences) }, 0},
		"award number a number":      {`"fundingReferences":[{"funderName":"F","awardNumber":12345,"awardUri":null}]`, func(r *dois.Record) any { return r.FundingReferences[0].AwardNumber }, "12345"},
		"url null":                   {`"url":null`, func(r *dois.Record) any { return r.URL }, ""},
		"content urls null":          {`"contentUrl":null`, func(r *dois.Record) any { return len(r.ContentURL) }, 0},
		"content urls":               {`"contentUrl":["a","b"]`, func(r *dois.Record) any { return r.ContentURL }, []string{"a", "b"}},
		"content url alone":          {`"contentUrl":"a"`, func(r *dois.Record) any { return r.ContentURL }, []string{"a"}},
		"metadata version":           {`"metadataVersion":3`, func(r *dois.Record) any { return r.MetadataVersion }, 3},
		"schema version null":        {`"schemaVersion":null`, func(r *dois.Record) any { return string(r.SchemaVersion) }, ""},
		"active":                     {`"isActive":true`, func(r *dois.Record) any { return r.IsActive }, true},
		"reason":                     {`"reason":"gone"`, func(r *dois.Record) any { return r.Reason }, "gone"},
		"counter":                    {`"viewCount":5`, func(r *dois.Record) any { return r.ViewCount }, 5},
		"counter a text":             {`"viewCount":"5"`, func(r *dois.Record) any { return r.ViewCount }, 5},
		"counter null":               {`"viewCount":null`, func(r *dois.Record) any { return r.ViewCount }, 0},
		"counter a fraction":         {`"viewCount":5.0`, func(r *dois.Record) any { return r.ViewCount }, 5},
		"counter an object":          {`"viewCount":{"total":5}`, func(r *dois.Record) any { return r.ViewCount }, 0},
		"month by month":             {`"viewsOverTime":[{"yearMonth":"2020-01","total":"3"},null,7]`, func(r *dois.Record) any { return r.ViewsOverTime }, dois.Series{{YearMonth: "2020-01", Total: 3}}},
		"year by year, as numbers":   {`"citationsOverTime":[{"year":2020,"total":3}]`, func(r *dois.Record) any { return r.CitationsOverTime }, dois.Series{{Year: "2020", Total: 3}}},
		"published null":             {`"published":null`, func(r *dois.Record) any { return string(r.Published) }, ""},
		"published a number":         {`"published":2016`, func(r *dois.Record) any { return string(r.Published) }, "2016"},
		"agency":                     {`"agency":"crossref"`, func(r *dois.Record) any { return r.Agency }, "crossref"},
		"state a number":             {`"state":1`, func(r *dois.Record) any { return string(r.State) }, "1"},
		"registered null":            {`"registered":null`, func(r *dois.Record) any { return string(r.Registered) }, ""},
		"texts with escapes":         {`"titles":[{"title":"\u00e9\ud83d\ude00 \"\\\/\n"}]`, func(r *dois.Record) any { return r.Titles[0].Title }, "é😀 \"\\/\n"},
		"names with escapes":         {`"\u0075rl":"https://example.org"`, func(r *dois.Record) any { return r.URL }, "https://example.org"},
		"citations as attributes":    {`"citations":["10.5072/a",{"id":"10.5072/b"}]`, func(r *dois.Record) any { return r.Citations }, []string{"10.5072/a", "10.5072/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			attributes := `{"doi":"10.5072/x",` + tt.attributes + `,"unknown":{"kept":[1,2.50,"three"]}}`
			r := recordFrom(t, attributes)
			assert.Equal(t, "10.5072/x", r.DOI)
			assert.Equal(t, tt.want, tt.read(r))
			assert.Equal(t, attributes, string(r.Raw), "Raw is what was sent, letter by letter")

			var decoded dois.Record
			require.NoError(t, json.Unmarshal([]byte(attributes), &decoded), "encoding/json reads it too")
			assert.Equal(t, tt.want, tt.read(&decoded))

			written, err := json.Marshal(r)
			require.NoError(t, err)
			var again dois.Record
			require.NoError(t, json.Unmarshal(written, &again))
			assert.Equal(t, tt.want, tt.read(&again), "what is written can be read again: %s", written)
		})
	}
}

// TestOddRecordsAreWrittenAsTheyAre reads odd records, writes them as they are, and reads the same.
func TestOddRecordsAreWrittenAsTheyAre(t *testing.T) {
	for name, attributes := range map[string]string{
		"everything": fullRecord,
		"numbers and texts": `{"doi":"10.5072/full","state":"draft","publicationYear":"1999","version":2,"titles":[{"title":1984}],"dates":[{"date":2019,"dateType":"Issued"}],
			"geoLocations":[{"geoLocationPoint":{"pointLongitude":"1.5","pointLatitude":-2}},
				{"geoLocationPolygon":[{"polygonPoint":{"pointLongitude":1,"pointLatitude":2}},{"inPolygonPoint":{"pointLongitude":3,"pointLatitude":4}}]}],
			"fundingReferences":[{"funderName":"F","awardNumber":12345}],"sizes":["5 MB"],"language":"de"}`,
		"container and content": `{"doi":"10.5072/full","state":"draft","container":{"type":"Series","title":"S","volume":"7"},"contentUrl":["https://example.org/data.zip"]}`,
		"related items": `{"doi":"10.5072/full","state":"draft","relatedItems":[{"relatedItemType":"Journal","relationType":"IsPublishedIn","publicationYear":"2018","volume":"3",
			"relatedItemIdentifier":{"relatedItemIdentifier":"1234-5678","relatedItemIdentifierType":"ISSN","schemeURI":"u"},"titles":[{"title":"J"}]}],
			"container":{"type":"Series","identifier":"1234-5678","identifierType":"ISSN","title":"J","volume":"3"}}`,
		"mixed affiliations": `{"doi":"10.5072/full","state":"draft","creators":[{"name":"X","affiliation":[{"name":"Y","affiliationIdentifier":"https://ror.org/1"},"Z"],"nameIdentifiers":[]}]}`,
		"other identifiers":  `{"doi":"10.5072/full","state":"draft","identifiers":[{"identifier":"7","identifierType":"local"}]}`,
		"without their type": `{"doi":"10.5072/full","state":"draft","identifiers":[{"identifier":"7"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				ctx, client := t.Context(), srv.DOIs()
				seed(t, srv, attributes)
				var all *dois.GetOptions
				before, err := client.Get(ctx, "10.5072/full", all)
				require.NoError(t, err)

				draft, err := before.Draft()
				require.NoError(t, err)
				_, err = client.Update(ctx, before.DOI, draft)
				require.NoError(t, err)

				after, err := client.Get(ctx, "10.5072/full", all)
				require.NoError(t, err)
				types := after.Types // the service works four members out
				after.Types = before.Types
				after.SchemaVersion = before.SchemaVersion // and a deployed one names the schema that it checks by
				assert.Equal(t, before.Record, after.Record, "the metadata")
				assert.Equal(t, before.Types.ResourceType, types.ResourceType)
				assert.Equal(t, before.Types.ResourceTypeGeneral, types.ResourceTypeGeneral)
				assert.Equal(t, before.URL, after.URL)
				assert.Equal(t, before.Container, after.Container)
				assert.Equal(t, before.ContentURL, after.ContentURL)
				assert.Equal(t, before.State, after.State)
				assert.Equal(t, before.ViewCount, after.ViewCount)
			})
		})
	}
}

// TestWriteBackLosesNothing refuses to write back what was read without the
// identifiers.
func TestWriteBackLosesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, fullRecord)
		for _, opts := range []*dois.ListOptions{nil, {Affiliation: true}, {Publisher: true}} {
			found, err := srv.DOIs().List(t.Context(), opts)
			require.NoError(t, err)
			_, err = found.Records[0].Draft()
			require.ErrorIs(t, err, datacite.ErrInvalid)
		}
		found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{Affiliation: true, Publisher: true})
		require.NoError(t, err)
		_, err = found.Records[0].Draft()
		require.NoError(t, err)
	})
}

func TestHas(t *testing.T) {
	r := recordFrom(t, `{"doi":"10.5072/x","viewCount":0,"citationCount":null}`)
	assert.True(t, r.Has("viewCount"), "a zero that was counted")
	assert.True(t, r.Has("citationCount"))
	assert.False(t, r.Has("downloadCount"), "not counted")

	var extra int
	found, err := r.Decode("viewCount", &extra)
	assert.True(t, found)
	require.NoError(t, err)
	_, err = r.Decode("viewCount", new(string))
	require.Error(t, err)
	found, err = r.Decode("other", &extra)
	assert.False(t, found)
	require.NoError(t, err)
}

// TestRelationships reads the places where the service names other resources.
func TestRelationships(t *testing.T) {
	client := scripted(t, nil, reply(200, `{"data":{"id":"10.5072/X","type":"dois","attributes":{"doi":"10.5072/x"},"relationships":{
		"client":{"data":{"id":"a.b","type":"clients"}},"provider":{"data":{"id":"a","type":"providers"}},
		"media":{"data":{"id":"10.5072/x","type":"media"}},"citations":{"data":[{"id":"10.5072/c","type":"dois"},{"id":"10.5072/d","type":"dois"}]},
		"references":{"data":[]},"parts":{"data":null},"versions":null,"partOf":"10.5072/whole"}},
		"included":[{"id":"a.b","type":"clients","attributes":{"name":"Repository","language":[]}}]}`, nil))
	r, err := client.Get(t.Context(), "10.5072/x", &dois.GetOptions{Include: []string{"client", "media"}})
	require.NoError(t, err)
	assert.Equal(t, "a.b", r.Client)
	assert.Equal(t, "a", r.Provider)
	assert.Equal(t, []string{"10.5072/c", "10.5072/d"}, r.Citations)
	assert.Equal(t, []string{}, r.References, "none, and the service said so")
	assert.Nil(t, r.Parts)
	assert.Nil(t, r.Versions)
	assert.Equal(t, []string{"10.5072/whole"}, r.PartOf)
	assert.Contains(t, string(r.Relationships), `"media"`)
	require.Len(t, r.Included, 1)
	assert.Equal(t, "clients", r.Included[0].Type)
	assert.JSONEq(t, `{"name":"Repository","language":[]}`, string(r.Included[0].Attributes))

	for name, relationships := range map[string]string{"null": "null", "a list": "[]", "a text": `"x"`, "client null": `{"client":{"data":null}}`} {
		t.Run(name, func(t *testing.T) {
			client := scripted(t, nil, reply(200, `{"data":{"id":"10.5072/x","attributes":{"doi":"10.5072/x"},"relationships":`+relationships+`}}`, nil))
			r, err := client.Get(t.Context(), "10.5072/x", nil)
			require.NoError(t, err)
			assert.Empty(t, r.Client)
		})
	}
}

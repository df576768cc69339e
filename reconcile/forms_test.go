package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// rich has properties that the service writes into its XML in other words.
func rich() metadata.Record {
	r := complete("Glaciers")
	r.Creators = append(r.Creators, metadata.Creator{GivenName: "Grace", FamilyName: "Hopper", Name: "Grace Hopper"},
		metadata.Creator{FamilyName: "Plato", Name: "Plato"})
	r.Contributors = []metadata.Contributor{{Creator: metadata.Creator{Name: "Marie Curie", GivenName: "Marie",
		FamilyName: "Curie"}, ContributorType: metadata.ContributorEditor},
		{Creator: metadata.Creator{Name: "Sappho", FamilyName: "Sappho"}, ContributorType: metadata.ContributorEditor}}
	r.RightsList = []metadata.Rights{{Rights: "CC BY 4.0", RightsIdentifier: "CC-BY-4.0"}}
	r.Subjects = []metadata.Subject{{Subject: "ice"}, {Subject: "snow", SubjectScheme: "own"}}
	r.Dates = []metadata.Date{{Date: "2020-02-03", DateType: metadata.DateCreated}}
	r.Descriptions = []metadata.Description{{Description: "On ice.", DescriptionType: metadata.DescriptionAbstract}}
	r.AlternateIdentifiers = []metadata.AlternateIdentifier{
		{AlternateIdentifier: "A-1", AlternateIdentifierType: "Accession"}}
	r.RelatedIdentifiers = []metadata.RelatedIdentifier{{RelatedIdentifier: "10.5072/other",
		RelatedIdentifierType: metadata.IdentifierDOI, RelationType: metadata.RelationIsPartOf}}
	r.FundingReferences = []metadata.FundingReference{{FunderName: "Ice Fund", FunderIdentifierType: metadata.FunderROR}}
	r.Language, r.Version = "eng", "1"
	return r
}

// square is a polygon; only XML can say several of one place.
func square() metadata.Polygon {
	return metadata.Polygon{Points: []metadata.Point{{Longitude: "0", Latitude: "0"}, {Longitude: "1", Latitude: "0"},
		{Longitude: "1", Latitude: "1"}, {Longitude: "0", Latitude: "0"}}}
}

// A record that came as JSON is corrected as JSON, also where XML says what is desired, unless only XML can say it.
func TestCorrectionsOfARecordThatCameAsJSON(t *testing.T) {
	document := func(change func(*metadata.Record)) []byte {
		r := rich()
		r.DOI, r.Creators[1].Name, r.Contributors[0].Name = "10.5072/rich", "Hopper, Grace", "Curie, Marie" // as in its XML
		r.FundingReferences[0].FunderIdentifierType = ""
		change(&r)
		data, err := r.XML()
		require.NoError(t, err)
		return data
	}
	type record = metadata.Record
	titles := []metadata.Title{{Title: "Ice"}}
	subjects := []metadata.Subject{{Subject: "water"}, {Subject: "snow", SubjectScheme: "own"}}
	polygons := document(func(r *record) {
		r.GeoLocations = []metadata.GeoLocation{{Polygons: metadata.Polygons{square(), square()}}}
	})
	other := []metadata.AlternateIdentifier{{AlternateIdentifier: "A-2", AlternateIdentifierType: "Accession"}}
	withURL := append(slices.Clone(other),
		metadata.AlternateIdentifier{AlternateIdentifier: "https://example.org/", AlternateIdentifierType: "URL"})
	inXML := rich()
	inXML.Creators[1].Name = "Hopper, Grace"
	letters := &dois.Container{Title: "Ice Letters", Type: "Series"}
	for name, tt := range map[string]struct {
		desired reconcile.Desired
		changes string // paths, and what was found and is desired
		draft   dois.Draft
		losses  []string
	}{
		"nothing":              {desired: reconcile.Desired{XML: document(func(*record) {})}},
		"the names of its XML": {desired: reconcile.Desired{Metadata: &record{Creators: inXML.Creators}}},
		"a title": {reconcile.Desired{Metadata: &record{Titles: titles}}, "titles[0].title Glaciers>Ice",
			dois.Draft{Record: record{Titles: titles}}, nil},
		"a URL beside XML": {reconcile.Desired{URL: "https://example.org/new",
			XML: document(func(*record) {})}, "url https://example.org/>https://example.org/new",
			dois.Draft{URL: "https://example.org/new"}, nil},
		"a title of XML": {reconcile.Desired{XML: document(func(r *record) { r.Titles = titles })},
			"titles[0].title Glaciers>Ice", dois.Draft{Record: record{Titles: titles}}, nil},
		"a subject of XML": {reconcile.Desired{XML: document(func(r *record) { r.Subjects = subjects })},
			"subjects[0].subject ice>water", dois.Draft{Record: record{Subjects: subjects}}, nil},
		"XML with less": {
			reconcile.Desired{XML: document(func(r *record) { r.Subjects, r.Language, r.FundingReferences = nil, "", nil })},
			"subjects[0] ice>, subjects[1] snow; own>, language eng>, fundingReferences[0] Ice Fund>",
			dois.Draft{Clear: []string{"subjects", "language", "fundingReferences"}}, nil,
		},
		"XML with polygons": {reconcile.Desired{XML: polygons},
			"geoLocations[0] >0; 0; 1; 0; 1; 1; 0; 0; 0; 0; 1; 0; 1; 1; 0; 0", dois.Draft{MetadataXML: polygons},
			[]string{"creators[1].name would be \"Hopper, Grace\" in the JSON",
				"contributors[0].name would be \"Curie, Marie\" in the JSON",
				"fundingReferences[0].funderIdentifierType would be missing in the JSON"}},
		"other names": {reconcile.Desired{Metadata: &record{AlternateIdentifiers: other}},
			"alternateIdentifiers[0].alternateIdentifier A-1>A-2", dois.Draft{Record: record{AlternateIdentifiers: other}}, nil},
		"other names, one of which is the URL": {reconcile.Desired{Metadata: &record{AlternateIdentifiers: withURL}},
			"alternateIdentifiers[0].alternateIdentifier A-1>A-2", dois.Draft{Record: record{AlternateIdentifiers: withURL}}, nil},
		"no other names": {reconcile.Desired{Clear: []string{"alternateIdentifiers", "version"}},
			"alternateIdentifiers[0] A-1; Accession>, version 1>",
			dois.Draft{Clear: []string{"alternateIdentifiers", "version"}}, nil},
		"a container": {reconcile.Desired{Container: letters}, "container Ice Notes>Ice Letters",
			dois.Draft{Container: letters}, nil},
		"the same container": {desired: reconcile.Desired{Container: &dois.Container{Title: "Ice Notes", Type: "Series"}}},
		"no container": {reconcile.Desired{Container: &dois.Container{}}, "container Ice Notes>",
			dois.Draft{Clear: []string{"container"}}, nil},
		"a file": {reconcile.Desired{ContentURL: []string{"https://example.org/a.csv"}},
			"contentUrl >https://example.org/a.csv", dois.Draft{ContentURL: []string{"https://example.org/a.csv"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				tt.desired.DOI = "10.5072/rich"
				_, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: tt.desired.DOI, URL: "https://example.org/",
					Event: dois.EventPublish, Record: rich(), Container: &dois.Container{Title: "Ice Notes", Type: "Series"}})
				require.NoError(t, err)
				if tt.losses != nil {
					_, err = srv.Reconcile().Ensure(t.Context(), tt.desired, nil)
					require.ErrorIs(t, err, reconcile.ErrLoss)
				}
				done, err := srv.Reconcile().Ensure(t.Context(), tt.desired, &reconcile.Options{AllowLoss: tt.losses != nil})
				require.NoError(t, err)
				var changes, losses []string
				for _, c := range done.Changes {
					changes = append(changes, fmt.Sprintf("%s %s>%s", c.Path, c.Found, c.Desired))
				}
				assert.Equal(t, tt.changes, strings.Join(changes, ", "))
				for _, f := range done.Losses {
					losses = append(losses, f.Path+" "+f.Reason)
				}
				assert.Equal(t, tt.losses, losses)
				if tt.changes == "" {
					assert.Nil(t, done.Draft)
					return
				}
				want := tt.draft
				if want.MetadataXML == nil && want.URL == "" { // the service would write en and cc-by-4.0 into its XML
					want.RightsList = rich().RightsList
					if !slices.Contains(want.Clear, "language") {
						want.Language = "eng"
					}
				}
				assert.Equal(t, want, *done.Draft)
				again, err := srv.Reconcile().Ensure(t.Context(), tt.desired, nil)
				require.NoError(t, err)
				assert.Nil(t, again.Draft, "a second pass sends nothing")
			})
		})
	}
}

// A new record is made as JSON; what only XML can say is made as XML, with what no XML has before it.
func TestNewRecordsInEachForm(t *testing.T) {
	letters := &dois.Container{Title: "Ice Letters", Type: "Series"}
	file := []string{"https://example.org/a.csv"}
	places := complete("Places")
	places.GeoLocations = []metadata.GeoLocation{{Polygons: metadata.Polygons{square(), square()}}}
	plain := complete("Places")
	for name, tt := range map[string]struct {
		desired reconcile.Desired
		road    reconcile.Road
	}{
		"JSON":                          {reconcile.Desired{Metadata: &plain, Container: letters}, reconcile.RoadJSON},
		"polygons":                      {reconcile.Desired{Metadata: &places}, reconcile.RoadXML},
		"polygons and a container":      {reconcile.Desired{Metadata: &places, Container: letters}, reconcile.RoadBoth},
		"XML":                           {reconcile.Desired{XML: []byte(xmlRecord)}, reconcile.RoadXML},
		"XML and a container":           {reconcile.Desired{XML: []byte(xmlRecord), Container: letters}, reconcile.RoadBoth},
		"XML and a file beside it":      {reconcile.Desired{XML: []byte(xmlRecord), ContentURL: file}, reconcile.RoadBoth},
		"nothing but the DOI and a URL": {reconcile.Desired{}, reconcile.RoadJSON},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				d := tt.desired
				d.DOI, d.URL = "10.5072/xml", "https://example.org/"
				done, err := srv.Reconcile().Ensure(t.Context(), d, nil)
				require.NoError(t, err)
				assert.Equal(t, tt.road, done.Road)
				assert.Equal(t, "https://example.org/", done.Record.URL)
				if d.Container != nil {
					assert.Equal(t, *letters, done.Record.Container)
				}
				assert.Equal(t, d.ContentURL, done.Record.ContentURL)
				polygons := 0
				if d.Metadata == &places {
					polygons = 2
				}
				assert.Equal(t, polygons, strings.Count(string(done.Record.MetadataXML), "<geoLocationPolygon>"))
				again, err := srv.Reconcile().Ensure(t.Context(), d, nil)
				require.NoError(t, err)
				assert.Nil(t, again.Draft)
			})
		})
	}
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	places.Titles = []metadata.Title{{Title: "a\x00b"}}
	_, err := srv.Reconcile().Ensure(t.Context(), reconcile.Desired{DOI: "10.5072/new", Metadata: &places}, nil)
	require.ErrorContains(t, err, "titles[0].title: XML cannot contain the character")
	_, err = srv.Reconcile().Ensure(t.Context(), reconcile.Desired{DOI: "10.5072/new", State: "gone"}, nil)
	require.ErrorIs(t, err, datacite.ErrInvalid)
	require.ErrorContains(t, err, "desired[0].State: is \"gone\"")
}

// A list with nothing but empty items is removed.
func TestListsOfNothing(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/a","state":"findable","url":"https://example.org/",`+
			`"creators":[{"name":"A"}],"titles":[{"title":"T"}],"publisher":{"name":"P"},"publicationYear":2020,`+
			`"types":{"resourceTypeGeneral":"Dataset"},"sizes":[""],"formats":["",""]}`)))
		for name, found := range map[string]string{"sizes": `[""]`, "formats": `["" ""]`, "subjects": ""} {
			planned, err := srv.Reconcile().Ensure(t.Context(), reconcile.Desired{DOI: "10.5072/a", Clear: []string{name}},
				&reconcile.Options{DryRun: true})
			require.NoError(t, err)
			if found == "" {
				assert.Nil(t, planned.Draft)
				continue
			}
			assert.Equal(t, []metadata.Change{{Path: name, Found: found}}, planned.Changes)
			assert.Equal(t, []string{name}, planned.Draft.Clear)
		}
		planned, err := srv.Reconcile().Ensure(t.Context(), reconcile.Desired{DOI: "10.5072/a",
			Metadata: &metadata.Record{Sizes: []string{}}}, &reconcile.Options{DryRun: true})
		require.NoError(t, err)
		assert.Equal(t, []string{"sizes"}, planned.Draft.Clear)
	})
}

// XML of an old schema is upgraded on the way, as it stands or corrected.
func TestCorrectionsOfAnOldSchema(t *testing.T) {
	old := strings.NewReplacer("kernel-4", "kernel-3", `<resourceType resourceTypeGeneral="Dataset">`,
		`<contributors><contributor contributorType="Funder"><contributorName>Ice Fund</contributorName></contributor>`+
			`</contributors><resourceType resourceTypeGeneral="Dataset">`).Replace(xmlRecord)
	for name, tt := range map[string]struct {
		stored  string
		desired reconcile.Desired
		title   string // afterwards; "": it cannot be
	}{
		"as it stands": {old, reconcile.Desired{}, "From XML"},
		"corrected":    {old, reconcile.Desired{Metadata: &metadata.Record{Titles: []metadata.Title{{Title: "Ice"}}}}, "Ice"},
		"replaced": {old, reconcile.Desired{XML: []byte(strings.Replace(xmlRecord, "From XML", "Ice", 1))},
			"Ice"},
		"not to be upgraded": {strings.Replace(old, "<publicationYear>2021</publicationYear>", "", 1),
			reconcile.Desired{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true})
			stored := &dois.Record{URL: "https://example.org/", State: datacite.StateFindable, MetadataXML: []byte(tt.stored)}
			r, err := metadata.ParseXML(strings.NewReader(tt.stored))
			require.NoError(t, err)
			stored.Record, stored.DOI = *r, "10.5072/xml"
			stored.SchemaVersion = "http://datacite.org/schema/kernel-3"
			require.NoError(t, srv.PutRecord(stored))
			tt.desired.DOI = "10.5072/xml"
			done, err := srv.Reconcile().Ensure(t.Context(), tt.desired, upgrade)
			if tt.title == "" {
				require.ErrorIs(t, err, reconcile.ErrNotAsDesired)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.title, done.Record.Titles[0].Title)
			assert.Contains(t, done.Record.SchemaVersion, "kernel-4")
			assert.Equal(t, tt.desired.XML == nil, strings.Contains(string(done.Record.MetadataXML), "Ice Fund"))
		})
	}
}

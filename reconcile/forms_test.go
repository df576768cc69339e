package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// rich has properties that the service writes into its XML in other words.
func rich() metadata.Record {
	r := complete("Glaciers")
	r.Creators = append(r.Creators, metadata.Creator{GivenName: "Grace", FamilyName: "Hopper", Name: "Hopper, Grace"})
	r.Contributors = []metadata.Contributor{{Creator: metadata.Creator{Name: "Curie"},
		ContributorType: metadata.ContributorEditor}}
	r.Subjects = []metadata.Subject{{Subject: "ice"}, {Subject: "snow", SubjectScheme: "own"}}
	r.Dates = []metadata.Date{{Date: "2020-02-03", DateType: metadata.DateCreated}}
	r.Descriptions = []metadata.Description{{Description: "On ice.", DescriptionType: metadata.DescriptionAbstract}}
	r.AlternateIdentifiers = []metadata.AlternateIdentifier{
		{AlternateIdentifier: "A-1", AlternateIdentifierType: "Accession"}}
	r.RelatedIdentifiers = []metadata.RelatedIdentifier{{RelatedIdentifier: "10.5072/other",
		RelatedIdentifierType: metadata.IdentifierDOI, RelationType: metadata.RelationIsPartOf}}
	r.FundingReferences = []metadata.FundingReference{{FunderName: "Ice Fund"}}
	r.Language, r.Version = "en", "1"
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
		r.DOI = "10.5072/rich"
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
	letters := &dois.Container{Title: "Ice Letters", Type: "Series"}
	for name, tt := range map[string]struct {
		desired reconcile.Desired
		changes string // paths, and what was found and is desired
		draft   dois.Draft
	}{
		"nothing": {desired: reconcile.Desired{XML: document(func(*record) {})}},
		"a title": {reconcile.Desired{Metadata: &record{Titles: titles}}, "titles[0].title Glaciers>Ice",
			dois.Draft{Record: record{Titles: titles}}},
		"a title of XML": {reconcile.Desired{XML: document(func(r *record) { r.Titles = titles })},
			"titles[0].title Glaciers>Ice", dois.Draft{Record: record{Titles: titles}}},
		"a subject of XML": {reconcile.Desired{XML: document(func(r *record) { r.Subjects = subjects })},
			"subjects[0].subject ice>water", dois.Draft{Record: record{Subjects: subjects}}},
		"XML with less": {
			reconcile.Desired{XML: document(func(r *record) { r.Subjects, r.Language, r.FundingReferences = nil, "", nil })},
			"subjects[0] ice>, subjects[1] snow; own>, language en>, fundingReferences[0] Ice Fund>",
			dois.Draft{Clear: []string{"subjects", "language", "fundingReferences"}},
		},
		"XML with polygons": {reconcile.Desired{XML: polygons},
			"geoLocations[0] >0; 0; 1; 0; 1; 1; 0; 0; 0; 0; 1; 0; 1; 1; 0; 0", dois.Draft{MetadataXML: polygons}},
		"other names": {reconcile.Desired{Metadata: &record{AlternateIdentifiers: other}},
			"alternateIdentifiers[0].alternateIdentifier A-1>A-2", dois.Draft{Record: record{AlternateIdentifiers: other}}},
		"no other names": {reconcile.Desired{Clear: []string{"alternateIdentifiers", "version"}},
			"alternateIdentifiers[0] A-1; Accession>, version 1>",
			dois.Draft{Clear: []string{"alternateIdentifiers", "version"}}},
		"a container": {reconcile.Desired{Container: letters}, "container Ice Notes>Ice Letters",
			dois.Draft{Container: letters}},
		"the same container": {desired: reconcile.Desired{Container: &dois.Container{Title: "Ice Notes", Type: "Series"}}},
		"no container": {reconcile.Desired{Container: &dois.Container{}}, "container Ice Notes>",
			dois.Draft{Clear: []string{"container"}}},
		"a file": {reconcile.Desired{ContentURL: []string{"https://example.org/a.csv"}},
			"contentUrl >https://example.org/a.csv", dois.Draft{ContentURL: []string{"https://example.org/a.csv"}}},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				tt.desired.DOI = "10.5072/rich"
				_, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: tt.desired.DOI, URL: "https://example.org/",
					Event: dois.EventPublish, Record: rich(), Container: &dois.Container{Title: "Ice Notes", Type: "Series"}})
				require.NoError(t, err)
				done, err := srv.Reconcile().Ensure(t.Context(), tt.desired, nil)
				require.NoError(t, err)
				var changes []string
				for _, c := range done.Changes {
					changes = append(changes, fmt.Sprintf("%s %s>%s", c.Path, c.Found, c.Desired))
				}
				assert.Equal(t, tt.changes, strings.Join(changes, ", "))
				assert.Empty(t, done.Losses)
				if tt.changes == "" {
					assert.Nil(t, done.Draft)
					return
				}
				assert.Equal(t, tt.draft, *done.Draft)
				again, err := srv.Reconcile().Ensure(t.Context(), tt.desired, nil)
				require.NoError(t, err)
				assert.Nil(t, again.Draft, "a second pass sends nothing")
			})
		})
	}
}

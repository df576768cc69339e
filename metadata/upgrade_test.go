package metadata_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

// oldDocument is a record with all that the last version of its generation of the schema,
// 2.2 or 3.1, has and kernel 4 has no longer, or in another way.
func oldDocument(namespace string) string {
	three := strings.Contains(namespace, "kernel-3")
	either := func(yes, no string) string { return map[bool]string{true: yes, false: no}[three] }
	return `<?xml version="1.0" encoding="UTF-8"?>
<resource` + either("", ` lastMetadataUpdate="2011-06-27" metadataVersionNumber="1"`) + ` xmlns="` + namespace + `">
  <identifier identifierType="DOI">10.5072/old</identifier>
  <creators><creator><creatorName>Lovelace, Ada</creatorName><nameIdentifier nameIdentifierScheme="ISNI">0000 0000 8085 1858</nameIdentifier></creator></creators>
  <titles><title>Notes</title><title titleType="Subtitle">On the Engine</title></titles>
  <publisher>Example Repository</publisher>
  <publicationYear>1843</publicationYear>
  <subjects><subject subjectScheme="DDC">004</subject></subjects>
  <contributors>
    <contributor contributorType="DataManager"><contributorName>Babbage, Charles</contributorName></contributor>
    <contributor contributorType="Funder"><contributorName>Treasury</contributorName><nameIdentifier nameIdentifierScheme="FundRef">10.13039/501100000780</nameIdentifier></contributor>
    <contributor contributorType="Funder"><contributorName>Treasury</contributorName><nameIdentifier nameIdentifierScheme="FundRef">10.13039/501100000780</nameIdentifier></contributor>
    <contributor contributorType="Funder"><contributorName>Royal Society</contributorName>` + either(`<affiliation>London</affiliation>`, "") + `</contributor>
  </contributors>
  <dates>` + either(`<date dateType="Valid">1843</date>`, `<date dateType="StartDate">1842-01-01</date><date dateType="EndDate">1843-12-31</date><date dateType="Valid">1843</date>`) + `</dates>
  <language>eng</language>
  <resourceType resourceTypeGeneral="` + either("Text", "Film") + `">Notes</resourceType>
  <version>1</version>
  ` + either(`<rightsList><rights rightsURI="https://example.org/free">Free</rights></rightsList>`, `<rights>Free</rights>`) + `
  <descriptions><description descriptionType="Abstract">First<br/>and second.</description></descriptions>
  ` + either(`<geoLocations><geoLocation><geoLocationPoint>31.233 -67.302</geoLocationPoint><geoLocationBox>41.09 -71.032 42.893 -69.622</geoLocationBox></geoLocation></geoLocations>`, "") + `
</resource>`
}

var oldNamespaces = []string{
	"http://datacite.org/schema/kernel-2.1", "http://datacite.org/schema/kernel-2.2", "http://datacite.org/schema/kernel-3",
	"http://datacite.org/schema/kernel-3.0", "http://datacite.org/schema/kernel-3.1",
}

func TestUpgrade(t *testing.T) {
	for _, namespace := range oldNamespaces {
		t.Run(namespace, func(t *testing.T) {
			old := parse(t, oldDocument(namespace))
			require.Error(t, old.Validate(), "it is not one of kernel 4")
			r, err := metadata.Upgrade(old)
			require.NoError(t, err)
			assert.Equal(t, parse(t, oldDocument(namespace)), old, "the old record stays as it is")

			assert.EqualValues(t, metadata.Namespace, r.SchemaVersion)
			society := metadata.FundingReference{FunderName: "Royal Society"}
			treasury := metadata.FundingReference{FunderName: "Treasury", FunderIdentifier: "10.13039/501100000780", FunderIdentifierType: metadata.FunderCrossref}
			assert.Equal(t, metadata.List[metadata.FundingReference]{treasury, society}, r.FundingReferences)
			three := strings.Contains(namespace, "kernel-3")
			if three {
				require.Len(t, r.Contributors, 2)
				assert.Equal(t, metadata.ContributorOther, r.Contributors[1].ContributorType, "the affiliation is kept")
				assert.Equal(t, "London", r.Contributors[1].Affiliation[0].Name)
				assert.Equal(t, metadata.Point{Latitude: "31.233", Longitude: "-67.302"}, r.GeoLocations[0].Point)
			} else {
				require.Len(t, r.Contributors, 1)
				assert.Equal(t, metadata.ResourceTypeAudiovisual, r.Types.ResourceTypeGeneral)
				assert.Equal(t, metadata.Date{Date: "1842-01-01", DateType: metadata.DateOther, DateInformation: "StartDate"}, r.Dates[0])
				assert.Equal(t, metadata.Date{Date: "1843-12-31", DateType: metadata.DateOther, DateInformation: "EndDate"}, r.Dates[1])
			}
			assert.Equal(t, "Free", r.RightsList[0].Rights)

			document, err := r.XML()
			require.NoError(t, err)
			require.NoError(t, metadata.ValidateXML(strings.NewReader(string(document))))
			assert.Equal(t, r, parse(t, string(document)))
			again, err := metadata.Upgrade(r)
			require.NoError(t, err)
			assert.Equal(t, r, again)
		})
	}
}

// What kernel 4 asks for and an old record does not have is named, and the rest is upgraded.
func TestUpgradeNamesWhatIsMissing(t *testing.T) {
	for _, tt := range []struct{ cut, path string }{
		{"<resourceType resourceTypeGeneral=\"Film\">Notes</resourceType>", "types.resourceTypeGeneral"},
		{"<publisher>Example Repository</publisher>", "publisher"},
		{"Valid", "dates[2].dateType"},
	} {
		r, err := metadata.Upgrade(parse(t, strings.Replace(oldDocument(oldNamespaces[1]), tt.cut, "", 1)))
		fault, ok := errors.AsType[*datacite.ValidationError](err)
		require.True(t, ok, "%v", err)
		require.Len(t, fault.Findings, 1, "%v", err)
		assert.Equal(t, tt.path, fault.Findings[0].Path)
		assert.Len(t, r.FundingReferences, 2)
	}
}

// A funder's identifier keeps its scheme where kernel 4 has it.
func TestUpgradeFunders(t *testing.T) {
	for scheme, want := range map[string]metadata.FunderIdentifierType{
		"isni": "ISNI", "GRID": "GRID", "ror": "ROR", "FundRef": "Crossref Funder ID", "Crossref Funder": "Crossref Funder ID",
		"Crossref Funder ID": "Crossref Funder ID", "VIAF": "Other", "": "Other",
	} {
		old := metadata.Record{Contributors: []metadata.Contributor{{
			ContributorType: "Funder",
			Creator: metadata.Creator{Name: "F", NameIdentifiers: []metadata.NameIdentifier{
				{NameIdentifier: "1", NameIdentifierScheme: scheme, SchemeURI: "https://example.org/"},
			}},
		}}}
		r, err := metadata.Upgrade(&old)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.Empty(t, r.Contributors)
		assert.Equal(t, metadata.List[metadata.FundingReference]{
			{FunderName: "F", FunderIdentifier: "1", FunderIdentifierType: want, SchemeURI: "https://example.org/"},
		}, r.FundingReferences, scheme)
	}
}

func TestUpgradeAgreesWithTheSchema(t *testing.T) {
	var documents []string
	for _, namespace := range oldNamespaces {
		r, err := metadata.Upgrade(parse(t, oldDocument(namespace)))
		require.NoError(t, err)
		document, err := r.XML()
		require.NoError(t, err)
		documents = append(documents, string(document))
	}
	assert.Empty(t, refusals(t, documents))
}

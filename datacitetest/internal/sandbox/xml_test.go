package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fullXML is a record with most properties.
func fullXML(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/records/full.xml")
	require.NoError(t, err)
	return string(text)
}

// Specification §1(3) and §2.2: a record from XML is found as JSON, by the specification as it is
// written.
func TestXMLBecomesJSON(t *testing.T) {
	service := newService()
	a := putMetadata("10.5072/full", fullXML(t)).do(t, service)
	require.Equal(t, 201, a.status, a.body)
	require.Equal(t, 201, putURL("10.5072/full", "10.5072/full", "https://example.org/full").do(t, service).status)
	record := call{method: "GET", path: "/dois/10.5072/full?affiliation=true&publisher=true"}.do(t, service).read(t)
	for name, want := range map[string]string{
		"alternateIdentifiers": `[{"alternateIdentifier":"GL-17","alternateIdentifierType":"Local accession number"}]`,
		"contributors":         `[{"affiliation":[],"contributorType":"ContactPerson","familyName":"Hopper","givenName":"Grace","name":"Hopper, Grace","nameIdentifiers":[],"nameType":"Personal"}]`,
		"creators":             `[{"affiliation":[{"affiliationIdentifier":"https://ror.org/04wxnsj81","affiliationIdentifierScheme":"ROR","name":"DataCite","schemeUri":"https://ror.org"}],"familyName":"Lovelace","givenName":"Ada","name":"Lovelace, Ada","nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0002-1825-0097","nameIdentifierScheme":"ORCID","schemeUri":"https://orcid.org"}],"nameType":"Personal"},{"affiliation":[],"name":"Glacier Monitoring Group","nameIdentifiers":[],"nameType":"Organizational"}]`,
		"dates":                `[{"date":"2019-06-01/2025-09-30","dateInformation":"summers only","dateType":"Collected"},{"date":"2026-01-15","dateType":"Issued"}]`,
		"descriptions":         `[{"description":"Length and mass of glaciers, measured each summer.","descriptionType":"Abstract","lang":"en"}]`,
		"formats":              `["text/csv"]`,
		"fundingReferences":    `[{"awardNumber":"7","awardTitle":"Ice over time","awardUri":"https://example.org/awards/7","funderIdentifier":"https://doi.org/10.13039/501100000780","funderIdentifierType":"Crossref Funder ID","funderName":"Example Foundation"}]`,
		"geoLocations":         `[{"geoLocationPlace":"Aletsch","geoLocationPoint":{"pointLatitude":"46.44","pointLongitude":"8.03"}}]`,
		"identifiers":          `[{"identifier":"GL-17","identifierType":"Local accession number"}]`,
		"isActive":             `true`,
		"language":             `"en"`,
		"publicationYear":      `2026`,
		"published":            `"2026"`,
		"publisher":            `{"lang":"en","name":"Example Repository","publisherIdentifier":"https://ror.org/04wxnsj81","publisherIdentifierScheme":"ROR","schemeUri":"https://ror.org"}`,
		"relatedIdentifiers":   `[{"relatedIdentifier":"10.5072/article","relatedIdentifierType":"DOI","relationType":"IsSupplementTo","resourceTypeGeneral":"JournalArticle"}]`,
		"relatedItems":         `[{"contributors":[],"creators":[],"firstPage":"1","lastPage":"9","publicationYear":"2026","relatedItemIdentifier":{"relatedItemIdentifier":"1234-5679","relatedItemIdentifierType":"ISSN"},"relatedItemType":"Journal","relationType":"IsPublishedIn","titles":[{"title":"Journal of Ice"}],"volume":"7"}]`,
		"rightsList":           `[{"lang":"en","rights":"Creative Commons Attribution 4.0 International","rightsIdentifier":"cc-by-4.0","rightsIdentifierScheme":"SPDX","rightsUri":"https://creativecommons.org/licenses/by/4.0/legalcode","schemeUri":"https://spdx.org/licenses/"}]`,
		"schemaVersion":        `"http://datacite.org/schema/kernel-4"`,
		"sizes":                `["12 MB"]`,
		"source":               `"mds"`,
		"state":                `"findable"`,
		"subjects":             `[{"lang":"en","schemeUri":"https://id.loc.gov/","subject":"Glaciers","subjectScheme":"Library of Congress","valueUri":"https://id.loc.gov/authorities/subjects/sh85055072"}]`,
		"titles":               `[{"lang":"en","title":"Glacier length \u0026 mass"},{"lang":"de","title":"Gletscherlänge","titleType":"TranslatedTitle"}]`,
		"types":                `{"bibtex":"misc","citeproc":"dataset","resourceType":"Table","resourceTypeGeneral":"Dataset","ris":"DATA","schemaOrg":"Dataset"}`,
		"url":                  `"https://example.org/full"`,
		"version":              `"1.2"`,
	} {
		assert.JSONEq(t, want, string(mustJSON(t, at(record, "data.attributes."+name))), name)
	}
}

func TestSeveralPolygonsInOnePlace(t *testing.T) {
	const polygon = `<geoLocationPolygon><polygonPoint><pointLongitude>0</pointLongitude><pointLatitude>0</pointLatitude></polygonPoint><polygonPoint><pointLongitude>1</pointLongitude><pointLatitude>0</pointLatitude></polygonPoint><polygonPoint><pointLongitude>1</pointLongitude><pointLatitude>1</pointLatitude></polygonPoint><polygonPoint><pointLongitude>0</pointLongitude><pointLatitude>0</pointLatitude></polygonPoint><inPolygonPoint><pointLongitude>0.5</pointLongitude><pointLatitude>0.4</pointLatitude></inPolygonPoint></geoLocationPolygon>`
	service := newService()
	place := "<geoLocations><geoLocation>" + polygon + polygon + "</geoLocation></geoLocations>"
	require.Equal(t, 201, putMetadata("10.5072/x", strings.Replace(metadataXML, "</resource>", place+"</resource>", 1)).do(t, service).status)
	record := call{method: "GET", path: "/dois/10.5072/x", as: "repo"}.do(t, service).read(t)
	assert.Equal(t, "0.5", at(record, "data.attributes.geoLocations.0.geoLocationPolygon.1.4.inPolygonPoint.pointLongitude"))
}

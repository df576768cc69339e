package sandbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fullXML has every property of the schema.
const fullXML = `<resource xmlns="http://datacite.org/schema/kernel-4">
  <identifier identifierType="DOI"/>
  <creators>
    <creator>
      <creatorName nameType="Personal" xml:lang="en">Garza, Kristian</creatorName>
      <givenName>Kristian</givenName><familyName>Garza</familyName>
      <nameIdentifier nameIdentifierScheme="ORCID" schemeURI="https://orcid.org"> https://orcid.org/0000-0001-5727-2427 </nameIdentifier>
      <affiliation affiliationIdentifier="https://ror.org/04wxnsj81" affiliationIdentifierScheme="ROR" schemeURI="https://ror.org">Example University</affiliation>
      <affiliation>Institute without identifier</affiliation>
    </creator>
    <creator><creatorName nameType="Organizational">Example Group</creatorName></creator>
  </creators>
  <titles>
    <title xml:lang="en">Climate of the Alps</title>
    <title titleType="Subtitle">A &amp; B</title>
  </titles>
  <publisher publisherIdentifier="https://ror.org/04z8jg394" publisherIdentifierScheme="ROR" schemeURI="https://ror.org/" xml:lang="en">Example Archive</publisher>
  <publicationYear>2020</publicationYear>
  <resourceType resourceTypeGeneral="Dataset">Table</resourceType>
  <subjects><subject subjectScheme="FOS" schemeURI="http://s.example" valueURI="http://v.example" classificationCode="1.5" xml:lang="en">climate</subject></subjects>
  <contributors><contributor contributorType="Editor"><contributorName>Fenner, Martin</contributorName></contributor></contributors>
  <dates><date dateType="Collected" dateInformation="summer">2019-06/2019-08</date></dates>
  <language>en</language>
  <alternateIdentifiers><alternateIdentifier alternateIdentifierType="local">A-1</alternateIdentifier></alternateIdentifiers>
  <relatedIdentifiers>
    <relatedIdentifier relatedIdentifierType="DOI" relationType="References" resourceTypeGeneral="Text">10.5072/REF</relatedIdentifier>
    <relatedIdentifier relatedIdentifierType="URL" relationType="HasMetadata" relatedMetadataScheme="m" schemeURI="http://m.example" schemeType="XSD">https://m.example/x</relatedIdentifier>
    <relatedIdentifier relatedIdentifierType="DOI" relationType="Other" relationTypeInformation="a word">10.5072/o</relatedIdentifier>
  </relatedIdentifiers>
  <sizes><size>3 MB</size></sizes>
  <formats><format>text/csv</format></formats>
  <version>1.0</version>
  <rightsList><rights rightsURI="https://cc.example" rightsIdentifier="cc-by-4.0" rightsIdentifierScheme="SPDX" schemeURI="https://spdx.org" xml:lang="en">CC BY</rights></rightsList>
  <descriptions><description descriptionType="Abstract" xml:lang="en">One<br/>two</description></descriptions>
  <geoLocations>
    <geoLocation>
      <geoLocationPlace>Alps</geoLocationPlace>
      <geoLocationPoint><pointLongitude>9.5</pointLongitude><pointLatitude>46.5</pointLatitude></geoLocationPoint>
      <geoLocationBox><westBoundLongitude>9</westBoundLongitude><eastBoundLongitude>10</eastBoundLongitude><southBoundLatitude>46</southBoundLatitude><northBoundLatitude>47</northBoundLatitude></geoLocationBox>
      <geoLocationPolygon>
        <polygonPoint><pointLongitude>0</pointLongitude><pointLatitude>0</pointLatitude></polygonPoint>
        <polygonPoint><pointLongitude>1</pointLongitude><pointLatitude>0</pointLatitude></polygonPoint>
        <polygonPoint><pointLongitude>1</pointLongitude><pointLatitude>1</pointLatitude></polygonPoint>
        <polygonPoint><pointLongitude>0</pointLongitude><pointLatitude>0</pointLatitude></polygonPoint>
        <inPolygonPoint><pointLongitude>0.5</pointLongitude><pointLatitude>0.4</pointLatitude></inPolygonPoint>
      </geoLocationPolygon>
    </geoLocation>
  </geoLocations>
  <fundingReferences>
    <fundingReference>
      <funderName>Example Funder</funderName>
      <funderIdentifier funderIdentifierType="Crossref Funder ID" schemeURI="https://f.example">https://doi.org/10.13039/1</funderIdentifier>
      <awardNumber awardURI="https://award.example/7">7</awardNumber><awardTitle>Award</awardTitle>
    </fundingReference>
  </fundingReferences>
  <relatedItems>
    <relatedItem relatedItemType="Journal" relationType="IsPublishedIn">
      <relatedItemIdentifier relatedItemIdentifierType="ISSN" schemeURI="http://i.example">1234-5678</relatedItemIdentifier>
      <creators><creator><creatorName>Doe, J.</creatorName></creator></creators>
      <titles><title>Journal of Alps</title></titles>
      <publicationYear>2021</publicationYear><volume>3</volume><issue>4</issue><number numberType="Article">5</number>
      <firstPage>6</firstPage><lastPage>7</lastPage><publisher>JP</publisher><edition>8</edition>
      <contributors><contributor contributorType="Editor"><contributorName>Roe, R.</contributorName></contributor></contributors>
    </relatedItem>
  </relatedItems>
</resource>`

// Specification §1(3) and §2.2: a record from XML is found as JSON.
func TestXMLBecomesJSON(t *testing.T) {
	service := newService()
	a := putMetadata("10.5072/full", fullXML).do(t, service)
	require.Equal(t, 201, a.status, a.body)
	require.Equal(t, 201, putURL("10.5072/full", "10.5072/full", "https://example.org/full").do(t, service).status)
	record := call{method: "GET", path: "/dois/10.5072/full?affiliation=true&publisher=true"}.do(t, service).read(t)
	for path, want := range map[string]any{
		"creators.0.name":                                      "Garza, Kristian",
		"creators.0.nameType":                                  "Personal",
		"creators.0.lang":                                      "en",
		"creators.0.givenName":                                 "Kristian",
		"creators.0.familyName":                                "Garza",
		"creators.0.nameIdentifiers.0.nameIdentifier":          "https://orcid.org/0000-0001-5727-2427",
		"creators.0.nameIdentifiers.0.nameIdentifierScheme":    "ORCID",
		"creators.0.nameIdentifiers.0.schemeUri":               "https://orcid.org",
		"creators.0.affiliation.0.name":                        "Example University",
		"creators.0.affiliation.0.affiliationIdentifier":       "https://ror.org/04wxnsj81",
		"creators.0.affiliation.0.affiliationIdentifierScheme": "ROR",
		"creators.0.affiliation.0.schemeUri":                   "https://ror.org",
		"creators.0.affiliation.1.name":                        "Institute without identifier",
		"creators.0.affiliation.1.affiliationIdentifier":       nil,
		"creators.1.name":                                      "Example Group",
		"contributors.0.name":                                  "Fenner, Martin",
		"contributors.0.contributorType":                       "Editor",
		"titles.0.title":                                       "Climate of the Alps",
		"titles.0.lang":                                        "en",
		"titles.1.title":                                       "A & B",
		"titles.1.titleType":                                   "Subtitle",
		"publisher.name":                                       "Example Archive",
		"publisher.publisherIdentifier":                        "https://ror.org/04z8jg394",
		"publisher.publisherIdentifierScheme":                  "ROR",
		"publisher.schemeUri":                                  "https://ror.org/",
		"publisher.lang":                                       "en",
		"publicationYear":                                      2020.0,
		"published":                                            "2020",
		"types.resourceTypeGeneral":                            "Dataset",
		"types.resourceType":                                   "Table",
		"types.ris":                                            "DATA",
		"subjects.0.subject":                                   "climate",
		"subjects.0.subjectScheme":                             "FOS",
		"subjects.0.schemeUri":                                 "http://s.example",
		"subjects.0.valueUri":                                  "http://v.example",
		"subjects.0.classificationCode":                        "1.5",
		"dates.0.date":                                         "2019-06/2019-08",
		"dates.0.dateType":                                     "Collected",
		"dates.0.dateInformation":                              "summer",
		"language":                                             "en",
		"identifiers.0.identifier":                             "A-1",
		"identifiers.0.identifierType":                         "local",
		"alternateIdentifiers.0.alternateIdentifier":           "A-1",
		"alternateIdentifiers.0.alternateIdentifierType":       "local",
		"relatedIdentifiers.0.relatedIdentifier":               "10.5072/REF",
		"relatedIdentifiers.0.relatedIdentifierType":           "DOI",
		"relatedIdentifiers.0.relationType":                    "References",
		"relatedIdentifiers.0.resourceTypeGeneral":             "Text",
		"relatedIdentifiers.1.relatedMetadataScheme":           "m",
		"relatedIdentifiers.1.schemeUri":                       "http://m.example",
		"relatedIdentifiers.1.schemeType":                      "XSD",
		"relatedIdentifiers.2.relationTypeInformation":         "a word",
		"sizes.0":                                          "3 MB",
		"formats.0":                                        "text/csv",
		"version":                                          "1.0",
		"rightsList.0.rights":                              "CC BY",
		"rightsList.0.rightsUri":                           "https://cc.example",
		"rightsList.0.rightsIdentifier":                    "cc-by-4.0",
		"rightsList.0.rightsIdentifierScheme":              "SPDX",
		"rightsList.0.schemeUri":                           "https://spdx.org",
		"descriptions.0.description":                       "Onetwo",
		"descriptions.0.descriptionType":                   "Abstract",
		"geoLocations.0.geoLocationPlace":                  "Alps",
		"geoLocations.0.geoLocationPoint.pointLongitude":   "9.5",
		"geoLocations.0.geoLocationBox.northBoundLatitude": "47",
		"geoLocations.0.geoLocationPolygon.1.polygonPoint.pointLongitude":  "1",
		"geoLocations.0.geoLocationPolygon.4.inPolygonPoint.pointLatitude": "0.4",
		"fundingReferences.0.funderName":                                   "Example Funder",
		"fundingReferences.0.funderIdentifier":                             "https://doi.org/10.13039/1",
		"fundingReferences.0.funderIdentifierType":                         "Crossref Funder ID",
		"fundingReferences.0.schemeUri":                                    "https://f.example",
		"fundingReferences.0.awardNumber":                                  "7",
		"fundingReferences.0.awardUri":                                     "https://award.example/7",
		"fundingReferences.0.awardTitle":                                   "Award",
		"relatedItems.0.relatedItemType":                                   "Journal",
		"relatedItems.0.relationType":                                      "IsPublishedIn",
		"relatedItems.0.relatedItemIdentifier.relatedItemIdentifier":       "1234-5678",
		"relatedItems.0.relatedItemIdentifier.relatedItemIdentifierType":   "ISSN",
		"relatedItems.0.relatedItemIdentifier.schemeURI":                   "http://i.example",
		"relatedItems.0.creators.0.name":                                   "Doe, J.",
		"relatedItems.0.titles.0.title":                                    "Journal of Alps",
		"relatedItems.0.publicationYear":                                   "2021",
		"relatedItems.0.volume":                                            "3",
		"relatedItems.0.issue":                                             "4",
		"relatedItems.0.number":                                            "5",
		"relatedItems.0.numberType":                                        "Article",
		"relatedItems.0.firstPage":                                         "6",
		"relatedItems.0.lastPage":                                          "7",
		"relatedItems.0.publisher":                                         "JP",
		"relatedItems.0.edition":                                           "8",
		"relatedItems.0.contributors.0.name":                               "Roe, R.",
		"relatedItems.0.contributors.0.contributorType":                    "Editor",
		"schemaVersion":                                                    "http://datacite.org/schema/kernel-4",
		"source":                                                           "mds",
		"url":                                                              "https://example.org/full",
		"state":                                                            "findable",
		"isActive":                                                         true,
	} {
		assert.Equal(t, want, at(record, "data.attributes."+path), path)
	}
	assert.Equal(t, "10.5072/ref", at(record, "data.relationships.references.data.0.id"))
}

func TestSeveralPolygonsInOnePlace(t *testing.T) {
	service := newService()
	start, end := strings.Index(fullXML, "<geoLocationPolygon>"), strings.Index(fullXML, "</geoLocationPolygon>")+len("</geoLocationPolygon>")
	polygon := fullXML[start:end]
	require.Equal(t, 201, putMetadata("10.5072/x", strings.Replace(fullXML, polygon, polygon+polygon, 1)).do(t, service).status)
	record := call{method: "GET", path: "/dois/10.5072/x", as: "repo"}.do(t, service).read(t)
	assert.Equal(t, "0.5", at(record, "data.attributes.geoLocations.0.geoLocationPolygon.1.4.inPolygonPoint.pointLongitude"))
}

// Specification §7: metadata that fail validation are refused.
func TestInvalidMetadataAreRefused(t *testing.T) {
	for name, change := range map[string][2]string{
		"contributorType not listed":     {`contributorType="Editor"><contributorName>Fenner`, `contributorType="Boss"><contributorName>Fenner`},
		"no contributorType":             {`<contributor contributorType="Editor"><contributorName>Fenner`, `<contributor><contributorName>Fenner`},
		"dateType not listed":            {`dateType="Collected"`, `dateType="Gathered"`},
		"no descriptionType":             {`<description descriptionType="Abstract"`, `<description`},
		"relationType not listed":        {`relationType="References"`, `relationType="Refers"`},
		"relatedIdentifierType missing":  {`relatedIdentifierType="URL" `, ``},
		"related item's type not listed": {`relatedItemType="Journal"`, `relatedItemType="Magazine"`},
		"nameType empty":                 {`nameType="Personal"`, `nameType=""`},
		"language with underscore":       {`<language>en`, `<language>en_US`},
		"xml:lang with underscore":       {`<title xml:lang="en"`, `<title xml:lang="en_US"`},
		"lang without xml":               {`<title xml:lang="en"`, `<title lang="en"`},
		"attribute on a size":            {`<size>`, `<size unit="MB">`},
		"latitude beyond the pole":       {`<pointLatitude>46.5`, `<pointLatitude>90.1`},
		"longitude in words":             {`<pointLongitude>9.5`, `<pointLongitude>9.5E East`},
		"point without latitude":         {`<pointLatitude>46.5</pointLatitude>`, ``},
		"polygon of three points":        {`<polygonPoint><pointLongitude>1</pointLongitude><pointLatitude>1</pointLatitude></polygonPoint>`, ``},
		"names in the wrong order":       {`<givenName>Kristian</givenName><familyName>Garza</familyName>`, `<familyName>Garza</familyName><givenName>Kristian</givenName>`},
		"related item in wrong order":    {`<volume>3</volume><issue>4</issue>`, `<issue>4</issue><volume>3</volume>`},
		"ORCID of a related creator":     {`<creatorName>Doe, J.</creatorName>`, `<creatorName>Doe, J.</creatorName><nameIdentifier nameIdentifierScheme="ORCID">0</nameIdentifier>`},
		"no funder name":                 {`<funderName>Example Funder</funderName>`, ``},
		"empty publisher":                {`>Example Archive<`, `><`},
		"text in br":                     {`<br/>`, `<br>x</br>`},
		"element of another namespace":   {`<size>3 MB</size>`, `<size xmlns="urn:x">3 MB</size>`},
		"undeclared prefix":              {`<size>`, `<size xlink:href="x">`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(fullXML, change[0]), "the change hits one place")
			a := putMetadata("10.5072/x", strings.Replace(fullXML, change[0], change[1], 1)).do(t, newService())
			assert.Equal(t, 422, a.status)
			assert.NotEmpty(t, a.body)
			assert.Less(t, len(a.body), 200, "a short text")
		})
	}
}

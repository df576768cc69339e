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
	for name, want := range map[string]string{
		"alternateIdentifiers": `[{"alternateIdentifier":"A-1","alternateIdentifierType":"local"}]`,
		"contributors":         `[{"affiliation":[],"contributorType":"Editor","name":"Fenner, Martin","nameIdentifiers":[]}]`,
		"creators":             `[{"affiliation":[{"affiliationIdentifier":"https://ror.org/04wxnsj81","affiliationIdentifierScheme":"ROR","name":"Example University","schemeUri":"https://ror.org"},{"name":"Institute without identifier"}],"familyName":"Garza","givenName":"Kristian","lang":"en","name":"Garza, Kristian","nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001-5727-2427","nameIdentifierScheme":"ORCID","schemeUri":"https://orcid.org"}],"nameType":"Personal"},{"affiliation":[],"name":"Example Group","nameIdentifiers":[],"nameType":"Organizational"}]`,
		"dates":                `[{"date":"2019-06/2019-08","dateInformation":"summer","dateType":"Collected"}]`,
		"descriptions":         `[{"description":"Onetwo","descriptionType":"Abstract","lang":"en"}]`,
		"formats":              `["text/csv"]`,
		"fundingReferences":    `[{"awardNumber":"7","awardTitle":"Award","awardUri":"https://award.example/7","funderIdentifier":"https://doi.org/10.13039/1","funderIdentifierType":"Crossref Funder ID","funderName":"Example Funder","schemeUri":"https://f.example"}]`,
		"geoLocations":         `[{"geoLocationBox":{"eastBoundLongitude":"10","northBoundLatitude":"47","southBoundLatitude":"46","westBoundLongitude":"9"},"geoLocationPlace":"Alps","geoLocationPoint":{"pointLatitude":"46.5","pointLongitude":"9.5"},"geoLocationPolygon":[{"polygonPoint":{"pointLatitude":"0","pointLongitude":"0"}},{"polygonPoint":{"pointLatitude":"0","pointLongitude":"1"}},{"polygonPoint":{"pointLatitude":"1","pointLongitude":"1"}},{"polygonPoint":{"pointLatitude":"0","pointLongitude":"0"}},{"inPolygonPoint":{"pointLatitude":"0.4","pointLongitude":"0.5"}}]}]`,
		"identifiers":          `[{"identifier":"A-1","identifierType":"local"}]`,
		"isActive":             `true`,
		"language":             `"en"`,
		"publicationYear":      `2020`,
		"published":            `"2020"`,
		"publisher":            `{"lang":"en","name":"Example Archive","publisherIdentifier":"https://ror.org/04z8jg394","publisherIdentifierScheme":"ROR","schemeUri":"https://ror.org/"}`,
		"relatedIdentifiers":   `[{"relatedIdentifier":"10.5072/REF","relatedIdentifierType":"DOI","relationType":"References","resourceTypeGeneral":"Text"},{"relatedIdentifier":"https://m.example/x","relatedIdentifierType":"URL","relatedMetadataScheme":"m","relationType":"HasMetadata","schemeType":"XSD","schemeUri":"http://m.example"},{"relatedIdentifier":"10.5072/o","relatedIdentifierType":"DOI","relationType":"Other","relationTypeInformation":"a word"}]`,
		"relatedItems":         `[{"contributors":[{"contributorType":"Editor","name":"Roe, R."}],"creators":[{"name":"Doe, J."}],"edition":"8","firstPage":"6","issue":"4","lastPage":"7","number":"5","numberType":"Article","publicationYear":"2021","publisher":"JP","relatedItemIdentifier":{"relatedItemIdentifier":"1234-5678","relatedItemIdentifierType":"ISSN","schemeURI":"http://i.example"},"relatedItemType":"Journal","relationType":"IsPublishedIn","titles":[{"title":"Journal of Alps"}],"volume":"3"}]`,
		"rightsList":           `[{"lang":"en","rights":"CC BY","rightsIdentifier":"cc-by-4.0","rightsIdentifierScheme":"SPDX","rightsUri":"https://cc.example","schemeUri":"https://spdx.org"}]`,
		"schemaVersion":        `"http://datacite.org/schema/kernel-4"`,
		"sizes":                `["3 MB"]`,
		"source":               `"mds"`,
		"state":                `"findable"`,
		"subjects":             `[{"classificationCode":"1.5","lang":"en","schemeUri":"http://s.example","subject":"climate","subjectScheme":"FOS","valueUri":"http://v.example"}]`,
		"titles":               `[{"lang":"en","title":"Climate of the Alps"},{"title":"A & B","titleType":"Subtitle"}]`,
		"types":                `{"bibtex":"misc","citeproc":"dataset","resourceType":"Table","resourceTypeGeneral":"Dataset","ris":"DATA","schemaOrg":"Dataset"}`,
		"url":                  `"https://example.org/full"`,
		"version":              `"1.0"`,
	} {
		assert.JSONEq(t, want, string(mustJSON(t, at(record, "data.attributes."+name))), name)
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

package metadata_test

import "encoding/xml"

// The record in struct tags, as far as these can say it: xml:lang needs the long
// name, lists need wrappers that go away when they are empty, and the line
// breaks of a description are lost.

type taggedText struct {
	Text string `xml:",chardata"`
	Lang string `xml:"http://www.w3.org/XML/1998/namespace lang,attr,omitempty"`
}

type taggedResource struct {
	XMLName              xml.Name            `xml:"resource"`
	Xmlns                string              `xml:"xmlns,attr"`
	XSI                  string              `xml:"xmlns:xsi,attr"`
	Identifier           taggedIdentifier    `xml:"identifier"`
	Creators             []taggedCreator     `xml:"creators>creator"`
	Titles               []taggedTitle       `xml:"titles>title"`
	Publisher            taggedPublisher     `xml:"publisher"`
	PublicationYear      string              `xml:"publicationYear"`
	ResourceType         taggedResourceType  `xml:"resourceType"`
	Subjects             []taggedSubject     `xml:"subjects>subject"`
	Contributors         []taggedContributor `xml:"contributors>contributor"`
	Dates                []taggedDate        `xml:"dates>date"`
	Language             string              `xml:"language,omitempty"`
	AlternateIdentifiers []taggedAlternate   `xml:"alternateIdentifiers>alternateIdentifier"`
	RelatedIdentifiers   []taggedRelated     `xml:"relatedIdentifiers>relatedIdentifier"`
	Sizes                []string            `xml:"sizes>size"`
	Formats              []string            `xml:"formats>format"`
	Version              string              `xml:"version,omitempty"`
	RightsList           []taggedRights      `xml:"rightsList>rights"`
	Descriptions         []taggedDescription `xml:"descriptions>description"`
	GeoLocations         []taggedGeo         `xml:"geoLocations>geoLocation"`
	FundingReferences    []taggedFunding     `xml:"fundingReferences>fundingReference"`
	RelatedItems         []taggedItem        `xml:"relatedItems>relatedItem"`
}

type taggedIdentifier struct {
	Text string `xml:",chardata"`
	Type string `xml:"identifierType,attr"`
}

type taggedName struct {
	taggedText
	NameType string `xml:"nameType,attr,omitempty"`
}

type taggedPerson struct {
	GivenName       string              `xml:"givenName,omitempty"`
	FamilyName      string              `xml:"familyName,omitempty"`
	NameIdentifiers []taggedNameID      `xml:"nameIdentifier"`
	Affiliations    []taggedAffiliation `xml:"affiliation"`
}

type taggedCreator struct {
	Name taggedName `xml:"creatorName"`
	taggedPerson
}

type taggedContributor struct {
	Type string     `xml:"contributorType,attr,omitempty"`
	Name taggedName `xml:"contributorName"`
	taggedPerson
}

type taggedNameID struct {
	Text      string     `xml:",chardata"`
	Scheme    string     `xml:"nameIdentifierScheme,attr,omitempty"`
	SchemeURI string     `xml:"schemeURI,attr,omitempty"`
	Extra     []xml.Attr `xml:",any,attr"`
}

type taggedAffiliation struct {
	Text      string     `xml:",chardata"`
	ID        string     `xml:"affiliationIdentifier,attr,omitempty"`
	Scheme    string     `xml:"affiliationIdentifierScheme,attr,omitempty"`
	SchemeURI string     `xml:"schemeURI,attr,omitempty"`
	Extra     []xml.Attr `xml:",any,attr"`
}

type taggedTitle struct {
	taggedText
	Type string `xml:"titleType,attr,omitempty"`
}

type taggedPublisher struct {
	taggedText
	ID        string `xml:"publisherIdentifier,attr,omitempty"`
	Scheme    string `xml:"publisherIdentifierScheme,attr,omitempty"`
	SchemeURI string `xml:"schemeURI,attr,omitempty"`
}

type taggedResourceType struct {
	Text    string `xml:",chardata"`
	General string `xml:"resourceTypeGeneral,attr,omitempty"`
}

type taggedSubject struct {
	taggedText
	Scheme    string `xml:"subjectScheme,attr,omitempty"`
	SchemeURI string `xml:"schemeURI,attr,omitempty"`
	ValueURI  string `xml:"valueURI,attr,omitempty"`
	Code      string `xml:"classificationCode,attr,omitempty"`
}

type taggedDate struct {
	Text        string `xml:",chardata"`
	Type        string `xml:"dateType,attr,omitempty"`
	Information string `xml:"dateInformation,attr,omitempty"`
}

type taggedAlternate struct {
	Text string `xml:",chardata"`
	Type string `xml:"alternateIdentifierType,attr,omitempty"`
}

type taggedRelated struct {
	Text           string `xml:",chardata"`
	Type           string `xml:"relatedIdentifierType,attr,omitempty"`
	Relation       string `xml:"relationType,attr,omitempty"`
	General        string `xml:"resourceTypeGeneral,attr,omitempty"`
	MetadataScheme string `xml:"relatedMetadataScheme,attr,omitempty"`
	SchemeURI      string `xml:"schemeURI,attr,omitempty"`
	SchemeType     string `xml:"schemeType,attr,omitempty"`
	Information    string `xml:"relationTypeInformation,attr,omitempty"`
}

type taggedRights struct {
	taggedText
	URI       string `xml:"rightsURI,attr,omitempty"`
	ID        string `xml:"rightsIdentifier,attr,omitempty"`
	Scheme    string `xml:"rightsIdentifierScheme,attr,omitempty"`
	SchemeURI string `xml:"schemeURI,attr,omitempty"`
}

type taggedDescription struct {
	taggedText
	Type string `xml:"descriptionType,attr,omitempty"`
}

type taggedPoint struct {
	Longitude string `xml:"pointLongitude,omitempty"`
	Latitude  string `xml:"pointLatitude,omitempty"`
}

type taggedGeo struct {
	Place string       `xml:"geoLocationPlace,omitempty"`
	Point *taggedPoint `xml:"geoLocationPoint"`
	Box   *struct {
		West  string `xml:"westBoundLongitude,omitempty"`
		East  string `xml:"eastBoundLongitude,omitempty"`
		South string `xml:"southBoundLatitude,omitempty"`
		North string `xml:"northBoundLatitude,omitempty"`
	} `xml:"geoLocationBox"`
	Polygons []struct {
		Points  []taggedPoint `xml:"polygonPoint"`
		InPoint *taggedPoint  `xml:"inPolygonPoint"`
	} `xml:"geoLocationPolygon"`
}

type taggedFunding struct {
	Name string `xml:"funderName,omitempty"`
	ID   *struct {
		Text      string `xml:",chardata"`
		Type      string `xml:"funderIdentifierType,attr,omitempty"`
		SchemeURI string `xml:"schemeURI,attr,omitempty"`
	} `xml:"funderIdentifier"`
	Number *struct {
		Text string `xml:",chardata"`
		URI  string `xml:"awardURI,attr,omitempty"`
	} `xml:"awardNumber"`
	Title string `xml:"awardTitle,omitempty"`
}

type taggedItem struct {
	Type        string `xml:"relatedItemType,attr,omitempty"`
	Relation    string `xml:"relationType,attr,omitempty"`
	Information string `xml:"relationTypeInformation,attr,omitempty"`
	Identifier  *struct {
		Text           string `xml:",chardata"`
		Type           string `xml:"relatedItemIdentifierType,attr,omitempty"`
		MetadataScheme string `xml:"relatedMetadataScheme,attr,omitempty"`
		SchemeURI      string `xml:"schemeURI,attr,omitempty"`
		SchemeType     string `xml:"schemeType,attr,omitempty"`
	} `xml:"relatedItemIdentifier"`
	Creators []taggedCreator `xml:"creators>creator"`
	Titles   []taggedTitle   `xml:"titles>title"`
	Year     string          `xml:"publicationYear,omitempty"`
	Volume   string          `xml:"volume,omitempty"`
	Issue    string          `xml:"issue,omitempty"`
	Number   *struct {
		Text string `xml:",chardata"`
		Type string `xml:"numberType,attr,omitempty"`
	} `xml:"number"`
	FirstPage    string              `xml:"firstPage,omitempty"`
	LastPage     string              `xml:"lastPage,omitempty"`
	Publisher    string              `xml:"publisher,omitempty"`
	Edition      string              `xml:"edition,omitempty"`
	Contributors []taggedContributor `xml:"contributors>contributor"`
}

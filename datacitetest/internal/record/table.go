package record

import (
	"slices"
	"strings"
	"sync"
)

// table has one property a line: its name in JSON ("[]" for a list, "-" if only XML has
// it), its place in XML ("-" if XML does not have it, "!" what must be there), how the
// search index compares it (text, keyword, lower, number, date; "text+" as a keyword,
// too), and notes:
//
//	text=year and so on   what the text must be
//	open                  the schema leaves the content untyped
//	unchecked             ... and the attributes
//	ordered               the elements have a fixed order; else any
//	many                  each element may be repeated
//	read                  read-only: not accepted in JSON
//	lost                  not written when XML is made from JSON
//	always                written even if empty
//	assent                a list that is stored as sent; other lists are made of single values, too
const table = `
-                               identifier!                 -
  -                             @identifierType!            -
creators[]                      creators!/creator!          -        ordered always assent
  name                          creatorName!                text     always
  nameType                      creatorName@nameType        keyword
  lang                          creatorName@xml:lang        -        lost
` + personTable + `titles[]                        titles!/title!              -        always assent
  title                         .                           text+
  titleType                     @titleType                  keyword
  lang                          @xml:lang                   keyword
publisher                       publisher!                  -        always
  name                          .                           text+    text=filled
  publisherIdentifier           @publisherIdentifier        lower
  publisherIdentifierScheme     @publisherIdentifierScheme  keyword
  schemeUri                     @schemeURI                  keyword
  lang                          @xml:lang                   keyword
publicationYear                 publicationYear!            year     text=year always
types                           resourceType!               -
  resourceTypeGeneral           @resourceTypeGeneral!       keyword
  resourceType                  .                           lower
  schemaOrg                     -                           keyword
  bibtex                        -                           keyword
  citeproc                      -                           keyword
  ris                           -                           keyword
subjects[]                      subjects/subject            -
  subject                       .                           text+
  subjectScheme                 @subjectScheme              keyword
  schemeUri                     @schemeURI                  keyword
  valueUri                      @valueURI                   keyword
  classificationCode            @classificationCode         keyword
  lang                          @xml:lang                   keyword
contributors[]                  contributors/contributor    -        ordered assent
  name                          contributorName!            text     text=filled always
  nameType                      contributorName@nameType    keyword
  lang                          contributorName@xml:lang    -        lost
` + personTable + `  contributorType               @contributorType!           keyword
dates[]                         dates/date                  -
  date                          .                           text
  dateType                      @dateType!                  keyword
  dateInformation               @dateInformation            keyword
language                        language                    keyword  text=language
identifiers[]                   alternateIdentifiers/alternateIdentifier -
  identifier                    .                           lower
  identifierType                @alternateIdentifierType!   keyword  always
relatedIdentifiers[]            relatedIdentifiers/relatedIdentifier -
  relatedIdentifier             .                           lower
  relatedIdentifierType         @relatedIdentifierType!     keyword
  relationType                  @relationType!              keyword
  relationTypeInformation       @relationTypeInformation    text
  resourceTypeGeneral           @resourceTypeGeneral        keyword
  relatedMetadataScheme         @relatedMetadataScheme      keyword  lost
  schemeUri                     @schemeURI                  keyword  lost
  schemeType                    @schemeType                 keyword  lost
sizes[]                         sizes/size                  keyword  always
formats[]                       formats/format              keyword  always
version                         version                     keyword  always
rightsList[]                    rightsList/rights           -
  rights                        .                           keyword
  rightsUri                     @rightsURI                  keyword
  rightsIdentifier              @rightsIdentifier           lower
  rightsIdentifierScheme        @rightsIdentifierScheme     keyword
  schemeUri                     @schemeURI                  keyword
  lang                          @xml:lang                   keyword
descriptions[]                  descriptions/description    -        text=html assent
  description                   .                           text
  lang                          @xml:lang                   keyword
  descriptionType               @descriptionType!           keyword
geoLocations[]                  geoLocations/geoLocation    -        many
  geoLocationPlace              geoLocationPlace            keyword  open
  geoLocationPoint              geoLocationPoint            -
    pointLatitude               pointLatitude!              number   text=latitude always
    pointLongitude              pointLongitude!             number   text=longitude always
  geoLocationBox                geoLocationBox              -
    westBoundLongitude          westBoundLongitude!         number   text=longitude always
    eastBoundLongitude          eastBoundLongitude!         number   text=longitude always
    southBoundLatitude          southBoundLatitude!         number   text=latitude always
    northBoundLatitude          northBoundLatitude!         number   text=latitude always
  geoLocationPolygon[]          geoLocationPolygon          -        ordered
    polygonPoint[]              polygonPoint!4              -
      pointLatitude             pointLatitude!              -        text=latitude always
      pointLongitude            pointLongitude!             -        text=longitude always
    inPolygonPoint              inPolygonPoint              -
      pointLatitude             pointLatitude!              -        text=latitude always
      pointLongitude            pointLongitude!             -        text=longitude always
fundingReferences[]             fundingReferences/fundingReference -
  funderName                    funderName!                 text     text=filled always
  funderIdentifier              funderIdentifier            lower
  funderIdentifierType          funderIdentifier@funderIdentifierType! keyword
  schemeUri                     funderIdentifier@schemeURI  keyword  lost
  awardNumber                   awardNumber                 keyword
  awardUri                      awardNumber@awardURI        keyword  always
  awardTitle                    awardTitle                  keyword  open
relatedItems[]                  relatedItems/relatedItem    -        ordered
  relatedItemType               @relatedItemType!           keyword
  relationType                  @relationType!              keyword
  relationTypeInformation       @relationTypeInformation    text
  relatedItemIdentifier         relatedItemIdentifier       -
    relatedItemIdentifier       .                           lower
    relatedItemIdentifierType   @relatedItemIdentifierType  keyword
    relatedMetadataScheme       @relatedMetadataScheme      keyword
    schemeURI                   @schemeURI                  keyword
    schemeType                  @schemeType                 keyword
  creators[]                    creators/creator            -        ordered
    name                        creatorName!                text     always
    nameType                    creatorName@nameType        text
    lang                        creatorName@xml:lang        -        read lost
    givenName                   givenName                   text     open
    familyName                  familyName                  text     open
  titles[]                      titles/title                -        always
    title                       .                           text+
    titleType                   @titleType                  keyword
    lang                        @xml:lang                   -        read
  publicationYear               publicationYear             keyword  text=year
  volume                        volume                      keyword  open
  issue                         issue                       keyword  open
  number                        number                      keyword  open
  numberType                    number@numberType           keyword
  firstPage                     firstPage                   keyword  open
  lastPage                      lastPage                    keyword  open
  publisher                     publisher                   text     open
  edition                       edition                     keyword  open
  contributors[]                contributors/contributor    -        ordered
    name                        contributorName!            text     always
    nameType                    contributorName@nameType    text
    lang                        contributorName@xml:lang    -        read lost
    givenName                   givenName                   text     open
    familyName                  familyName                  text     open
    contributorType             @contributorType!           text
container                       -                           -
  type                          -                           keyword
  identifier                    -                           lower
  identifierType                -                           keyword
  title                         -                           keyword
  volume                        -                           keyword
  issue                         -                           keyword
  firstPage                     -                           keyword
  lastPage                      -                           keyword
contentUrl[]                    -                           keyword
landingPage                     -                           -
  checked                       -                           date
  url                           -                           text+
  status                        -                           number
  contentType                   -                           keyword
  error                         -                           keyword
  redirectCount                 -                           number
  redirectUrls[]                -                           keyword
  downloadLatency               -                           number
  hasSchemaOrg                  -                           keyword
  schemaOrgId[]                 -                           keyword
  dcIdentifier                  -                           keyword
  citationDoi                   -                           keyword
  bodyHasPid                    -                           keyword
schemaVersion                   -                           keyword
url                             -                           text+
`

// personTable is what creators and contributors share.
const personTable = `  givenName                     givenName                   text     open
  familyName                    familyName                  text     open
  nameIdentifiers[]             nameIdentifier              -        unchecked
    nameIdentifier              .                           keyword
    nameIdentifierScheme        @nameIdentifierScheme       keyword  always
    schemeUri                   @schemeURI                  keyword  always
  affiliation[]                 affiliation                 -        unchecked
    name                        .                           text
    affiliationIdentifier       @affiliationIdentifier      keyword
    affiliationIdentifierScheme @affiliationIdentifierScheme keyword
    schemeUri                   @schemeURI                  keyword
`

// Vocabulary are the controlled lists, by the name of the attribute or member.
var Vocabulary = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"resourceTypeGeneral": strings.Fields(resourceTypeTerms),
		"relatedItemType":     strings.Fields(resourceTypeTerms),
		"contributorType": strings.Fields(`ContactPerson DataCollector DataCurator DataManager Distributor Editor
		HostingInstitution Other Producer ProjectLeader ProjectManager ProjectMember RegistrationAgency
		RegistrationAuthority RelatedPerson ResearchGroup RightsHolder Researcher Sponsor Supervisor Translator
		WorkPackageLeader`),
		"dateType": strings.Fields(`Accepted Available Collected Copyrighted Coverage Created Issued Other Submitted
		Updated Valid Withdrawn`),
		"descriptionType":           strings.Fields(`Abstract Methods SeriesInformation TableOfContents TechnicalInfo Other`),
		"titleType":                 strings.Fields(`AlternativeTitle Subtitle TranslatedTitle Other`),
		"nameType":                  strings.Fields(`Organizational Personal`),
		"numberType":                strings.Fields(`Article Chapter Report Other`),
		"funderIdentifierType":      {"ISNI", "GRID", "ROR", "Crossref Funder ID", "Other"},
		"relatedIdentifierType":     strings.Fields(identifierTypeTerms),
		"relatedItemIdentifierType": strings.Fields(identifierTypeTerms),
		"relationType": strings.Fields(`IsCitedBy Cites IsSupplementTo IsSupplementedBy IsContinuedBy Continues
		IsNewVersionOf IsPreviousVersionOf IsPartOf HasPart IsPublishedIn IsReferencedBy References IsDocumentedBy
		Documents IsCompiledBy Compiles IsVariantFormOf IsOriginalFormOf IsIdenticalTo HasMetadata IsMetadataFor Reviews
		IsReviewedBy IsDerivedFrom IsSourceOf Describes IsDescribedBy HasVersion IsVersionOf Requires IsRequiredBy
		Obsoletes IsObsoletedBy Collects IsCollectedBy HasTranslation IsTranslationOf Other`),
	}
})

const (
	resourceTypeTerms = `Audiovisual Award Book BookChapter Collection ComputationalNotebook
		ConferencePaper ConferenceProceeding DataPaper Dataset Dissertation Event Image Instrument InteractiveResource
		Journal JournalArticle Model OutputManagementPlan PeerReview PhysicalObject Poster Preprint Presentation Project
		Report Service Software Sound Standard StudyRegistration Text Workflow Other`
	identifierTypeTerms = `ARK arXiv bibcode CSTR DOI EAN13 EISSN Handle IGSN ISBN ISSN ISTC LISSN
		LSID PMID PURL RAiD RRID SWHID UPC URL URN w3id`
)

// IsListed says whether a value is in the controlled list of an attribute or a member.
// Without a list all values are allowed.
func IsListed(name, value string) bool {
	list, controlled := Vocabulary()[name]
	if slices.Contains(list, value) {
		return true
	}
	return !controlled
}

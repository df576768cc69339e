package query

// The fields of the DOI record (specification §2.2), and further ones that the
// deployed service can search. The comment says what a field holds where that
// is not text; a keyword is compared as a whole and with its case.
const (
	FieldDOI       Field = "doi"    // keyword, any case
	FieldPrefix    Field = "prefix" // keyword
	FieldSuffix    Field = "suffix" // keyword
	FieldURL       Field = "url"    // the landing page
	FieldTitle     Field = "titles.title"
	FieldPublisher Field = "publisher" // the name

	FieldCreatorName                  Field = "creators.name"
	FieldCreatorNameType              Field = "creators.nameType" // keyword
	FieldCreatorGivenName             Field = "creators.givenName"
	FieldCreatorFamilyName            Field = "creators.familyName"
	FieldCreatorNameIdentifier        Field = "creators.nameIdentifiers.nameIdentifier"       // keyword; see Field.IsORCID
	FieldCreatorNameIdentifierScheme  Field = "creators.nameIdentifiers.nameIdentifierScheme" // keyword
	FieldCreatorAffiliation           Field = "creators.affiliation.name"
	FieldCreatorAffiliationIdentifier Field = "creators.affiliation.affiliationIdentifier"       // keyword
	FieldCreatorAffiliationScheme     Field = "creators.affiliation.affiliationIdentifierScheme" // keyword
	FieldCreatorAffiliationSchemeURI  Field = "creators.affiliation.schemeUri"                   // keyword

	FieldContributorName                  Field = "contributors.name"
	FieldContributorType                  Field = "contributors.contributorType" // keyword
	FieldContributorGivenName             Field = "contributors.givenName"
	FieldContributorFamilyName            Field = "contributors.familyName"
	FieldContributorNameIdentifier        Field = "contributors.nameIdentifiers.nameIdentifier" // keyword
	FieldContributorAffiliation           Field = "contributors.affiliation.name"
	FieldContributorAffiliationIdentifier Field = "contributors.affiliation.affiliationIdentifier" // keyword

	FieldPublisherName             Field = "publisher.name"
	FieldPublisherIdentifier       Field = "publisher.publisherIdentifier"       // keyword
	FieldPublisherIdentifierScheme Field = "publisher.publisherIdentifierScheme" // keyword
	FieldPublisherSchemeURI        Field = "publisher.schemeUri"                 // keyword
	FieldPublisherLang             Field = "publisher.lang"                      // keyword

	FieldPublicationYear Field = "publicationYear" // year
	FieldDescription     Field = "descriptions.description"
	FieldSubject         Field = "subjects.subject"
	FieldLanguage        Field = "language" // keyword
	FieldVersion         Field = "version"  // keyword

	FieldResourceTypeGeneral Field = "types.resourceTypeGeneral" // keyword, such as Dataset
	FieldResourceType        Field = "types.resourceType"        // keyword, any case

	FieldRelatedIdentifier     Field = "relatedIdentifiers.relatedIdentifier"     // keyword, any case; see Field.IsDOI
	FieldRelatedIdentifierType Field = "relatedIdentifiers.relatedIdentifierType" // keyword
	FieldRelationType          Field = "relatedIdentifiers.relationType"          // keyword

	FieldAlternateIdentifier     Field = "identifiers.identifier"     // keyword, any case
	FieldAlternateIdentifierType Field = "identifiers.identifierType" // keyword

	FieldFunderName       Field = "fundingReferences.funderName"
	FieldFunderIdentifier Field = "fundingReferences.funderIdentifier" // keyword, any case
	FieldAwardNumber      Field = "fundingReferences.awardNumber"      // keyword
	FieldRightsIdentifier Field = "rightsList.rightsIdentifier"        // keyword, any case
	FieldGeoLocationPlace Field = "geoLocations.geoLocationPlace"      // keyword

	FieldViewCount      Field = "viewCount"       // count
	FieldDownloadCount  Field = "downloadCount"   // count
	FieldCitationCount  Field = "citationCount"   // count
	FieldReferenceCount Field = "reference_count" // count
	FieldPartCount      Field = "part_count"      // count
	FieldVersionCount   Field = "version_count"   // count

	FieldCreated    Field = "created"    // date
	FieldUpdated    Field = "updated"    // date
	FieldRegistered Field = "registered" // date

	FieldState          Field = "aasm_state"      // keyword: draft, registered, findable
	FieldClientID       Field = "client_id"       // keyword, lower case
	FieldProviderID     Field = "provider_id"     // keyword, lower case
	FieldSchemaVersion  Field = "schemaVersion"   // keyword, such as http://datacite.org/schema/kernel-4
	FieldOrganizationID Field = "organization_id" // keyword
	FieldAffiliationID  Field = "affiliation_id"  // keyword
	FieldFunderROR      Field = "funder_rors"     // keyword
)

// What a field holds decides what it can be asked for.
type fieldKind uint8

const (
	unknownField fieldKind = iota
	textField              // analysed into words
	keywordField           // one value, with its case
	foldedField            // one value, in any case
	yearField
	dateField
	countField
)

// kinds holds the fields that the service can search.
var kinds = map[Field]fieldKind{
	"": textField,

	FieldDOI: foldedField, "uid": foldedField, "id": foldedField,
	FieldPrefix: keywordField, FieldSuffix: keywordField, FieldURL: textField,
	FieldTitle: textField, FieldPublisher: textField,

	FieldCreatorName: textField, FieldCreatorNameType: keywordField,
	FieldCreatorGivenName: textField, FieldCreatorFamilyName: textField,
	FieldCreatorNameIdentifier: keywordField, FieldCreatorNameIdentifierScheme: keywordField,
	FieldCreatorAffiliation: textField, FieldCreatorAffiliationIdentifier: keywordField,
	FieldCreatorAffiliationScheme: keywordField, FieldCreatorAffiliationSchemeURI: keywordField,

	FieldContributorName: textField, FieldContributorType: keywordField,
	FieldContributorGivenName: textField, FieldContributorFamilyName: textField,
	FieldContributorNameIdentifier: keywordField,
	FieldContributorAffiliation:    textField, FieldContributorAffiliationIdentifier: keywordField,

	FieldPublisherName: textField, FieldPublisherIdentifier: keywordField,
	FieldPublisherIdentifierScheme: keywordField, FieldPublisherSchemeURI: keywordField,
	FieldPublisherLang: keywordField,

	FieldPublicationYear: yearField, FieldDescription: textField, FieldSubject: textField,
	FieldLanguage: keywordField, FieldVersion: keywordField,
	FieldResourceTypeGeneral: keywordField, FieldResourceType: foldedField,
	FieldRelatedIdentifier: foldedField, FieldRelatedIdentifierType: keywordField, FieldRelationType: keywordField,
	FieldAlternateIdentifier: foldedField, FieldAlternateIdentifierType: keywordField,

	FieldFunderName: textField, FieldFunderIdentifier: foldedField, FieldAwardNumber: keywordField,
	FieldRightsIdentifier: foldedField, FieldGeoLocationPlace: keywordField,

	FieldViewCount: countField, FieldDownloadCount: countField, FieldCitationCount: countField,
	FieldReferenceCount: countField, FieldPartCount: countField, FieldVersionCount: countField,
	FieldCreated: dateField, FieldUpdated: dateField, FieldRegistered: dateField,

	FieldState: keywordField, FieldClientID: keywordField, FieldProviderID: keywordField,
	FieldSchemaVersion: keywordField, FieldOrganizationID: keywordField,
	FieldAffiliationID: keywordField, FieldFunderROR: keywordField,
}

// isAnalysed reports whether a quoted value may become several words there.
func (f Field) isAnalysed() bool {
	k := kinds[f]
	return k == textField || k == unknownField
}

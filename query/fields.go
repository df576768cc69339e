package query

// Fields of the DOI record (specification §2.2) and others that the deployed service can
// search. Any other name works as a [Field], too. Fields without a remark hold text. A
// keyword is compared as a whole and its case counts, unless the remark says otherwise.
const (
	FieldDOI             Field = "doi"    // keyword, any case; see Field.IsDOI
	FieldPrefix          Field = "prefix" // keyword
	FieldTitle           Field = "titles.title"
	FieldPublicationYear Field = "publicationYear" // year
	FieldDescription     Field = "descriptions.description"
	FieldSubject         Field = "subjects.subject"

	FieldCreatorName           Field = "creators.name"
	FieldCreatorGivenName      Field = "creators.givenName"
	FieldCreatorFamilyName     Field = "creators.familyName"
	FieldCreatorNameIdentifier Field = "creators.nameIdentifiers.nameIdentifier" // keyword; see Field.IsORCID

	FieldCreatorAffiliationName       Field = "creators.affiliation.name"
	FieldCreatorAffiliationIdentifier Field = "creators.affiliation.affiliationIdentifier" // keyword

	FieldPublisher     Field = "publisher"
	FieldPublisherName Field = "publisher.name"

	FieldResourceTypeGeneral Field = "types.resourceTypeGeneral"            // keyword, such as Dataset
	FieldResourceType        Field = "types.resourceType"                   // keyword, any case
	FieldRelationType        Field = "relatedIdentifiers.relationType"      // keyword, such as IsPartOf
	FieldRelatedIdentifier   Field = "relatedIdentifiers.relatedIdentifier" // keyword, any case; see Field.IsDOI

	FieldViewCount     Field = "viewCount"     // count
	FieldDownloadCount Field = "downloadCount" // count
	FieldCitationCount Field = "citationCount" // count
)

// Further fields of the deployed service.
const (
	FieldURL           Field = "url"           // the landing page
	FieldLanguage      Field = "language"      // keyword
	FieldVersion       Field = "version"       // keyword
	FieldSchemaVersion Field = "schemaVersion" // keyword, such as http://datacite.org/schema/kernel-4

	FieldContributorName           Field = "contributors.name"
	FieldContributorNameIdentifier Field = "contributors.nameIdentifiers.nameIdentifier" // keyword; see Field.IsORCID

	FieldAlternateIdentifier Field = "identifiers.identifier" // keyword, any case
	FieldFunderName          Field = "fundingReferences.funderName"
	FieldFunderIdentifier    Field = "fundingReferences.funderIdentifier" // keyword, any case
	FieldRightsIdentifier    Field = "rightsList.rightsIdentifier"        // keyword, any case, such as cc-by-4.0

	FieldReferenceCount Field = "reference_count" // count
	FieldPartCount      Field = "part_count"      // count
	FieldVersionCount   Field = "version_count"   // count

	FieldCreated    Field = "created"    // date
	FieldUpdated    Field = "updated"    // date
	FieldRegistered Field = "registered" // date

	FieldState      Field = "aasm_state"  // keyword: draft, registered or findable
	FieldClientID   Field = "client_id"   // keyword
	FieldProviderID Field = "provider_id" // keyword
)

// fieldsOf lists the fields that the deployed service can search, by kind, with or
// without a constant.
var fieldsOf = map[fieldKind][]Field{
	textField: {
		"", FieldURL, FieldTitle, FieldDescription, FieldSubject, FieldPublisher, FieldPublisherName, FieldFunderName,
		FieldCreatorName, FieldCreatorGivenName, FieldCreatorFamilyName, FieldCreatorAffiliationName,
		FieldContributorName, "contributors.givenName", "contributors.familyName", "contributors.affiliation.name",
		"creators_and_contributors.name", "creators_and_contributors.givenName", "creators_and_contributors.familyName",
		"creator_names", "dates.date", "relatedItems.titles.title", "relatedItems.creators.name", "relatedItems.publisher",
		"landingPage.url", "client.name", "provider.name", "reason",
	},
	keywordField: {
		FieldPrefix, "suffix", FieldLanguage, FieldVersion, FieldSchemaVersion, FieldState, FieldClientID, FieldProviderID,
		"organization_id", "affiliation_id", "funder_rors", "funder_parent_rors", "geoLocations.geoLocationPlace", "fundingReferences.awardNumber",
		"creators.nameType", FieldCreatorNameIdentifier, "creators.nameIdentifiers.nameIdentifierScheme", "creators.affiliation.schemeUri",
		FieldCreatorAffiliationIdentifier, "creators.affiliation.affiliationIdentifierScheme",
		"contributors.contributorType", FieldContributorNameIdentifier, "contributors.affiliation.affiliationIdentifier",
		"contributors.nameType", "contributors.nameIdentifiers.nameIdentifierScheme",
		"publisher.publisherIdentifierScheme", "publisher.schemeUri", "publisher.lang",
		FieldResourceTypeGeneral, FieldRelationType, "relatedIdentifiers.relatedIdentifierType", "identifiers.identifierType",
		"titles.titleType", "titles.lang", "descriptions.descriptionType", "descriptions.lang", "dates.dateType",
		"subjects.subjectScheme", "subjects.schemeUri", "subjects.valueUri", "subjects.classificationCode", "subjects.lang",
		"types.schemaOrg", "types.citeproc", "types.bibtex", "types.ris", "sizes", "formats", "source", "agency",
		"rightsList.rights", "rightsList.rightsUri", "rightsList.schemeUri", "rightsList.rightsIdentifierScheme", "rightsList.lang",
		"fundingReferences.funderIdentifierType", "fundingReferences.awardUri", "fundingReferences.awardTitle",
		"relatedIdentifiers.resourceTypeGeneral", "relatedItems.relatedItemType", "relatedItems.relationType",
		"container.type", "container.title", "container.volume", "container.issue", "container.firstPage", "container.lastPage",
		"relatedItems.publicationYear", "contentUrl",
	},
	foldedField: {
		FieldDOI, "uid", "id", FieldResourceType, FieldRelatedIdentifier, FieldAlternateIdentifier, FieldFunderIdentifier,
		FieldRightsIdentifier, "publisher.publisherIdentifier", "relatedItems.relatedItemIdentifier.relatedItemIdentifier", "container.identifier",
	},
	yearField: {FieldPublicationYear},
	dateField: {FieldCreated, FieldUpdated, FieldRegistered},
	countField: {
		FieldViewCount, FieldDownloadCount, FieldCitationCount, FieldReferenceCount, FieldPartCount, FieldVersionCount,
		"part_of_count", "version_of_count",
	},
	objectField: {
		"titles", "creators", "creators.affiliation", "creators.nameIdentifiers", "contributors",
		"contributors.nameIdentifiers", "contributors.affiliation",
		"descriptions", "subjects", "types", "relatedIdentifiers", "relatedItems", "identifiers", "dates", "rightsList",
		"fundingReferences", "geoLocations", "container", "landingPage", "client", "provider", "creators_and_contributors",
	},
}

var kinds = func() map[Field]fieldKind {
	m := make(map[Field]fieldKind)
	for kind, fields := range fieldsOf {
		for _, f := range fields {
			m[f] = kind
		}
	}
	return m
}()

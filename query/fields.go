package query

// Frequent fields of the DOI record (specification §2.2) and others that the deployed service can
// search; write others by their name, such as Field("language"). Fields without a remark hold text. A
// keyword is compared as a whole and its case counts, unless the remark says otherwise.
const (
	FieldDOI             Field = "doi" // keyword, any case; see Field.IsDOI
	FieldTitle           Field = "titles.title"
	FieldPublicationYear Field = "publicationYear" // year
	FieldDescription     Field = "descriptions.description"
	FieldSubject         Field = "subjects.subject"

	FieldCreatorName           Field = "creators.name"
	FieldCreatorNameIdentifier Field = "creators.nameIdentifiers.nameIdentifier" // keyword; see Field.IsORCID

	FieldCreatorAffiliationName       Field = "creators.affiliation.name"
	FieldCreatorAffiliationIdentifier Field = "creators.affiliation.affiliationIdentifier" // keyword

	FieldPublisher Field = "publisher"

	FieldResourceTypeGeneral Field = "types.resourceTypeGeneral"            // keyword, such as Dataset
	FieldRelationType        Field = "relatedIdentifiers.relationType"      // keyword, such as IsPartOf
	FieldRelatedIdentifier   Field = "relatedIdentifiers.relatedIdentifier" // keyword, any case; see Field.IsDOI

	FieldViewCount     Field = "viewCount"     // count
	FieldDownloadCount Field = "downloadCount" // count
	FieldCitationCount Field = "citationCount" // count
)

// Further fields of the deployed service.
const (
	FieldURL Field = "url" // the landing page

	FieldContributorName Field = "contributors.name"

	FieldFunderName       Field = "fundingReferences.funderName"
	FieldFunderIdentifier Field = "fundingReferences.funderIdentifier" // keyword, any case
	FieldRightsIdentifier Field = "rightsList.rightsIdentifier"        // keyword, any case, such as cc-by-4.0

	FieldCreated    Field = "created"    // date
	FieldUpdated    Field = "updated"    // date
	FieldRegistered Field = "registered" // date

	FieldState    Field = "aasm_state" // keyword: draft, registered or findable
	FieldClientID Field = "client_id"  // keyword
)

// fieldsOf lists the fields that the deployed service can search, by kind, with or
// without a constant.
var fieldsOf = map[fieldKind][]Field{
	textField: {
		"", FieldURL, FieldTitle, FieldDescription, FieldSubject, FieldPublisher, "publisher.name", FieldFunderName,
		FieldCreatorName, "creators.givenName", "creators.familyName", FieldCreatorAffiliationName,
		FieldContributorName, "contributors.givenName", "contributors.familyName", "contributors.affiliation.name",
		"creators_and_contributors.name", "creators_and_contributors.givenName", "creators_and_contributors.familyName",
		"creator_names", "dates.date", "relatedItems.titles.title", "relatedItems.creators.name", "relatedItems.publisher",
		"landingPage.url", "client.name", "provider.name", "reason",
	},
	keywordField: {
		"prefix", "suffix", "language", "version", "schemaVersion", FieldState, FieldClientID, "provider_id",
		"organization_id", "affiliation_id", "funder_rors", "funder_parent_rors", "geoLocations.geoLocationPlace", "fundingReferences.awardNumber",
		"creators.nameType", FieldCreatorNameIdentifier, "creators.nameIdentifiers.nameIdentifierScheme", "creators.affiliation.schemeUri",
		FieldCreatorAffiliationIdentifier, "creators.affiliation.affiliationIdentifierScheme",
		"contributors.contributorType", "contributors.nameIdentifiers.nameIdentifier",
		"contributors.affiliation.affiliationIdentifier",
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
		FieldDOI, "uid", "id", "types.resourceType", FieldRelatedIdentifier, "identifiers.identifier", FieldFunderIdentifier,
		FieldRightsIdentifier, "publisher.publisherIdentifier", "relatedItems.relatedItemIdentifier.relatedItemIdentifier", "container.identifier",
	},
	yearField: {FieldPublicationYear},
	dateField: {FieldCreated, FieldUpdated, FieldRegistered},
	countField: {
		FieldViewCount, FieldDownloadCount, FieldCitationCount, "reference_count", "part_count", "version_count",
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

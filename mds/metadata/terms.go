package metadata

// ResourceTypeGeneral is the general type of a resource. Values the schema does
// not list pass through unchanged; [ResourceTypeGeneral.Known] tells them.
type ResourceTypeGeneral string

// The values of [ResourceTypeGeneral].
const (
	ResourceTypeAudiovisual           ResourceTypeGeneral = "Audiovisual"
	ResourceTypeAward                 ResourceTypeGeneral = "Award"       // since 4.6
	ResourceTypeBook                  ResourceTypeGeneral = "Book"        // since 4.4
	ResourceTypeBookChapter           ResourceTypeGeneral = "BookChapter" // since 4.4
	ResourceTypeCollection            ResourceTypeGeneral = "Collection"
	ResourceTypeComputationalNotebook ResourceTypeGeneral = "ComputationalNotebook" // since 4.4
	ResourceTypeConferencePaper       ResourceTypeGeneral = "ConferencePaper"       // since 4.4
	ResourceTypeConferenceProceeding  ResourceTypeGeneral = "ConferenceProceeding"  // since 4.4
	ResourceTypeDataPaper             ResourceTypeGeneral = "DataPaper"             // since 4.1
	ResourceTypeDataset               ResourceTypeGeneral = "Dataset"
	ResourceTypeDissertation          ResourceTypeGeneral = "Dissertation" // since 4.4
	ResourceTypeEvent                 ResourceTypeGeneral = "Event"
	ResourceTypeImage                 ResourceTypeGeneral = "Image"
	ResourceTypeInstrument            ResourceTypeGeneral = "Instrument" // since 4.5
	ResourceTypeInteractiveResource   ResourceTypeGeneral = "InteractiveResource"
	ResourceTypeJournal               ResourceTypeGeneral = "Journal"        // since 4.4
	ResourceTypeJournalArticle        ResourceTypeGeneral = "JournalArticle" // since 4.4
	ResourceTypeModel                 ResourceTypeGeneral = "Model"
	ResourceTypeOutputManagementPlan  ResourceTypeGeneral = "OutputManagementPlan" // since 4.4
	ResourceTypePeerReview            ResourceTypeGeneral = "PeerReview"           // since 4.4
	ResourceTypePhysicalObject        ResourceTypeGeneral = "PhysicalObject"
	ResourceTypePoster                ResourceTypeGeneral = "Poster"       // since 4.7
	ResourceTypePreprint              ResourceTypeGeneral = "Preprint"     // since 4.4
	ResourceTypePresentation          ResourceTypeGeneral = "Presentation" // since 4.7
	ResourceTypeProject               ResourceTypeGeneral = "Project"      // since 4.6
	ResourceTypeReport                ResourceTypeGeneral = "Report"       // since 4.4
	ResourceTypeService               ResourceTypeGeneral = "Service"
	ResourceTypeSoftware              ResourceTypeGeneral = "Software"
	ResourceTypeSound                 ResourceTypeGeneral = "Sound"
	ResourceTypeStandard              ResourceTypeGeneral = "Standard"          // since 4.4
	ResourceTypeStudyRegistration     ResourceTypeGeneral = "StudyRegistration" // since 4.5
	ResourceTypeText                  ResourceTypeGeneral = "Text"
	ResourceTypeWorkflow              ResourceTypeGeneral = "Workflow"
	ResourceTypeOther                 ResourceTypeGeneral = "Other"
)

// ContributorType says what part a contributor had. Values the schema does
// not list pass through unchanged; [ContributorType.Known] tells them.
type ContributorType string

// The values of [ContributorType].
const (
	ContributorContactPerson         ContributorType = "ContactPerson"
	ContributorDataCollector         ContributorType = "DataCollector"
	ContributorDataCurator           ContributorType = "DataCurator"
	ContributorDataManager           ContributorType = "DataManager"
	ContributorDistributor           ContributorType = "Distributor"
	ContributorEditor                ContributorType = "Editor"
	ContributorHostingInstitution    ContributorType = "HostingInstitution"
	ContributorOther                 ContributorType = "Other"
	ContributorProducer              ContributorType = "Producer"
	ContributorProjectLeader         ContributorType = "ProjectLeader"
	ContributorProjectManager        ContributorType = "ProjectManager"
	ContributorProjectMember         ContributorType = "ProjectMember"
	ContributorRegistrationAgency    ContributorType = "RegistrationAgency"
	ContributorRegistrationAuthority ContributorType = "RegistrationAuthority"
	ContributorRelatedPerson         ContributorType = "RelatedPerson"
	ContributorResearchGroup         ContributorType = "ResearchGroup"
	ContributorRightsHolder          ContributorType = "RightsHolder"
	ContributorResearcher            ContributorType = "Researcher"
	ContributorSponsor               ContributorType = "Sponsor"
	ContributorSupervisor            ContributorType = "Supervisor"
	ContributorTranslator            ContributorType = "Translator" // since 4.6
	ContributorWorkPackageLeader     ContributorType = "WorkPackageLeader"
)

// DateType says which event a date belongs to. Values the schema does
// not list pass through unchanged; [DateType.Known] tells them.
type DateType string

// The values of [DateType].
const (
	DateAccepted    DateType = "Accepted"
	DateAvailable   DateType = "Available"
	DateCollected   DateType = "Collected"
	DateCopyrighted DateType = "Copyrighted"
	DateCoverage    DateType = "Coverage" // since 4.6
	DateCreated     DateType = "Created"
	DateIssued      DateType = "Issued"
	DateOther       DateType = "Other" // since 4.1
	DateSubmitted   DateType = "Submitted"
	DateUpdated     DateType = "Updated"
	DateValid       DateType = "Valid"
	DateWithdrawn   DateType = "Withdrawn" // since 4.2
)

// DescriptionType is the kind of a description. Values the schema does
// not list pass through unchanged; [DescriptionType.Known] tells them.
type DescriptionType string

// The values of [DescriptionType].
const (
	DescriptionAbstract          DescriptionType = "Abstract"
	DescriptionMethods           DescriptionType = "Methods"
	DescriptionSeriesInformation DescriptionType = "SeriesInformation"
	DescriptionTableOfContents   DescriptionType = "TableOfContents"
	DescriptionTechnicalInfo     DescriptionType = "TechnicalInfo"
	DescriptionOther             DescriptionType = "Other"
)

// TitleType is the kind of a title that is not the main one. Values the schema does
// not list pass through unchanged; [TitleType.Known] tells them.
type TitleType string

// The values of [TitleType].
const (
	TitleAlternative TitleType = "AlternativeTitle"
	TitleSubtitle    TitleType = "Subtitle"
	TitleTranslated  TitleType = "TranslatedTitle"
	TitleOther       TitleType = "Other"
)

// NameType tells persons from organizations. Values the schema does
// not list pass through unchanged; [NameType.Known] tells them.
type NameType string

// The values of [NameType].
const (
	NameOrganizational NameType = "Organizational" // since 4.1
	NamePersonal       NameType = "Personal"       // since 4.1
)

// NumberType is the kind of number a related item has. Values the schema does
// not list pass through unchanged; [NumberType.Known] tells them.
type NumberType string

// The values of [NumberType].
const (
	NumberArticle NumberType = "Article" // since 4.4
	NumberChapter NumberType = "Chapter" // since 4.4
	NumberReport  NumberType = "Report"  // since 4.4
	NumberOther   NumberType = "Other"   // since 4.4
)

// FunderIdentifierType is the scheme of a funder identifier. Values the schema does
// not list pass through unchanged; [FunderIdentifierType.Known] tells them.
type FunderIdentifierType string

// The values of [FunderIdentifierType].
const (
	FunderISNI     FunderIdentifierType = "ISNI"
	FunderGRID     FunderIdentifierType = "GRID"
	FunderROR      FunderIdentifierType = "ROR" // since 4.3
	FunderCrossref FunderIdentifierType = "Crossref Funder ID"
	FunderOther    FunderIdentifierType = "Other"
)

// RelatedIdentifierType is the scheme of a related identifier. Values the schema does
// not list pass through unchanged; [RelatedIdentifierType.Known] tells them.
type RelatedIdentifierType string

// The values of [RelatedIdentifierType].
const (
	IdentifierARK     RelatedIdentifierType = "ARK"
	IdentifierArXiv   RelatedIdentifierType = "arXiv"
	IdentifierBibcode RelatedIdentifierType = "bibcode"
	IdentifierCSTR    RelatedIdentifierType = "CSTR" // since 4.6
	IdentifierDOI     RelatedIdentifierType = "DOI"
	IdentifierEAN13   RelatedIdentifierType = "EAN13"
	IdentifierEISSN   RelatedIdentifierType = "EISSN"
	IdentifierHandle  RelatedIdentifierType = "Handle"
	IdentifierIGSN    RelatedIdentifierType = "IGSN"
	IdentifierISBN    RelatedIdentifierType = "ISBN"
	IdentifierISSN    RelatedIdentifierType = "ISSN"
	IdentifierISTC    RelatedIdentifierType = "ISTC"
	IdentifierLISSN   RelatedIdentifierType = "LISSN"
	IdentifierLSID    RelatedIdentifierType = "LSID"
	IdentifierPMID    RelatedIdentifierType = "PMID"
	IdentifierPURL    RelatedIdentifierType = "PURL"
	IdentifierRAiD    RelatedIdentifierType = "RAiD"  // since 4.7
	IdentifierRRID    RelatedIdentifierType = "RRID"  // since 4.6
	IdentifierSWHID   RelatedIdentifierType = "SWHID" // since 4.7
	IdentifierUPC     RelatedIdentifierType = "UPC"
	IdentifierURL     RelatedIdentifierType = "URL"
	IdentifierURN     RelatedIdentifierType = "URN"
	IdentifierW3ID    RelatedIdentifierType = "w3id" // since 4.2
)

// RelationType is the relation of the resource to another one, read from the resource: resource IsPartOf other. Values the schema does
// not list pass through unchanged; [RelationType.Known] tells them.
type RelationType string

// The values of [RelationType].
const (
	RelationIsCitedBy           RelationType = "IsCitedBy"
	RelationCites               RelationType = "Cites"
	RelationIsSupplementTo      RelationType = "IsSupplementTo"
	RelationIsSupplementedBy    RelationType = "IsSupplementedBy"
	RelationIsContinuedBy       RelationType = "IsContinuedBy"
	RelationContinues           RelationType = "Continues"
	RelationIsNewVersionOf      RelationType = "IsNewVersionOf"
	RelationIsPreviousVersionOf RelationType = "IsPreviousVersionOf"
	RelationIsPartOf            RelationType = "IsPartOf"
	RelationHasPart             RelationType = "HasPart"
	RelationIsPublishedIn       RelationType = "IsPublishedIn" // since 4.4
	RelationIsReferencedBy      RelationType = "IsReferencedBy"
	RelationReferences          RelationType = "References"
	RelationIsDocumentedBy      RelationType = "IsDocumentedBy"
	RelationDocuments           RelationType = "Documents"
	RelationIsCompiledBy        RelationType = "IsCompiledBy"
	RelationCompiles            RelationType = "Compiles"
	RelationIsVariantFormOf     RelationType = "IsVariantFormOf"
	RelationIsOriginalFormOf    RelationType = "IsOriginalFormOf"
	RelationIsIdenticalTo       RelationType = "IsIdenticalTo"
	RelationHasMetadata         RelationType = "HasMetadata"
	RelationIsMetadataFor       RelationType = "IsMetadataFor"
	RelationReviews             RelationType = "Reviews"
	RelationIsReviewedBy        RelationType = "IsReviewedBy"
	RelationIsDerivedFrom       RelationType = "IsDerivedFrom"
	RelationIsSourceOf          RelationType = "IsSourceOf"
	RelationDescribes           RelationType = "Describes"       // since 4.1
	RelationIsDescribedBy       RelationType = "IsDescribedBy"   // since 4.1
	RelationHasVersion          RelationType = "HasVersion"      // since 4.1
	RelationIsVersionOf         RelationType = "IsVersionOf"     // since 4.1
	RelationRequires            RelationType = "Requires"        // since 4.1
	RelationIsRequiredBy        RelationType = "IsRequiredBy"    // since 4.1
	RelationObsoletes           RelationType = "Obsoletes"       // since 4.2
	RelationIsObsoletedBy       RelationType = "IsObsoletedBy"   // since 4.2
	RelationCollects            RelationType = "Collects"        // since 4.5
	RelationIsCollectedBy       RelationType = "IsCollectedBy"   // since 4.5
	RelationHasTranslation      RelationType = "HasTranslation"  // since 4.6
	RelationIsTranslationOf     RelationType = "IsTranslationOf" // since 4.6
	RelationOther               RelationType = "Other"           // since 4.7
)

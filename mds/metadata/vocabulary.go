package metadata

import "slices"

// A vocabulary is a controlled list of the schema, release by release. Nothing
// was ever taken out of one within kernel 4.
type vocabulary []release

type release struct {
	since  string
	values []string
}

func (v vocabulary) since(value string) string {
	for _, r := range v {
		if slices.Contains(r.values, value) {
			return r.since
		}
	}
	return ""
}

func list[T ~string](v vocabulary) []T {
	var out []T
	for _, r := range v {
		for _, value := range r.values {
			out = append(out, T(value))
		}
	}
	return out
}

var resourceTypes = vocabulary{
	{"4.0", []string{
		"Audiovisual", "Collection", "Dataset", "Event", "Image", "InteractiveResource", "Model", "PhysicalObject",
		"Service", "Software", "Sound", "Text", "Workflow", "Other",
	}},
	{"4.1", []string{"DataPaper"}},
	{"4.4", []string{
		"Book", "BookChapter", "ComputationalNotebook", "ConferencePaper", "ConferenceProceeding", "Dissertation",
		"Journal", "JournalArticle", "OutputManagementPlan", "PeerReview", "Preprint", "Report", "Standard",
	}},
	{"4.5", []string{"Instrument", "StudyRegistration"}},
	{"4.6", []string{"Award", "Project"}},
	{"4.7", []string{"Poster", "Presentation"}},
}

var contributorTypes = vocabulary{
	{"4.0", []string{
		"ContactPerson", "DataCollector", "DataCurator", "DataManager", "Distributor", "Editor",
		"HostingInstitution", "Other", "Producer", "ProjectLeader", "ProjectManager", "ProjectMember",
		"RegistrationAgency", "RegistrationAuthority", "RelatedPerson", "ResearchGroup", "RightsHolder",
		"Researcher", "Sponsor", "Supervisor", "WorkPackageLeader",
	}},
	{"4.6", []string{"Translator"}},
}

var dateTypes = vocabulary{
	{"4.0", []string{
		"Accepted", "Available", "Collected", "Copyrighted", "Created", "Issued", "Submitted", "Updated", "Valid",
	}},
	{"4.1", []string{"Other"}},
	{"4.2", []string{"Withdrawn"}},
	{"4.6", []string{"Coverage"}},
}

var descriptionTypes = vocabulary{
	{"4.0", []string{"Abstract", "Methods", "SeriesInformation", "TableOfContents", "TechnicalInfo", "Other"}},
}

var titleTypes = vocabulary{
	{"4.0", []string{"AlternativeTitle", "Subtitle", "TranslatedTitle", "Other"}},
}

var nameTypes = vocabulary{
	{"4.1", []string{"Organizational", "Personal"}},
}

var numberTypes = vocabulary{
	{"4.4", []string{"Article", "Chapter", "Report", "Other"}},
}

var funderIdentifierTypes = vocabulary{
	{"4.0", []string{"ISNI", "GRID", "Crossref Funder ID", "Other"}},
	{"4.3", []string{"ROR"}},
}

var relatedIdentifierTypes = vocabulary{
	{"4.0", []string{
		"ARK", "arXiv", "bibcode", "DOI", "EAN13", "EISSN", "Handle", "IGSN", "ISBN", "ISSN", "ISTC", "LISSN",
		"LSID", "PMID", "PURL", "UPC", "URL", "URN",
	}},
	{"4.2", []string{"w3id"}},
	{"4.6", []string{"CSTR", "RRID"}},
	{"4.7", []string{"RAiD", "SWHID"}},
}

var relationTypes = vocabulary{
	{"4.0", []string{
		"IsCitedBy", "Cites", "IsSupplementTo", "IsSupplementedBy", "IsContinuedBy", "Continues", "IsNewVersionOf",
		"IsPreviousVersionOf", "IsPartOf", "HasPart", "IsReferencedBy", "References", "IsDocumentedBy",
		"Documents", "IsCompiledBy", "Compiles", "IsVariantFormOf", "IsOriginalFormOf", "IsIdenticalTo",
		"HasMetadata", "IsMetadataFor", "Reviews", "IsReviewedBy", "IsDerivedFrom", "IsSourceOf",
	}},
	{"4.1", []string{"Describes", "IsDescribedBy", "HasVersion", "IsVersionOf", "Requires", "IsRequiredBy"}},
	{"4.2", []string{"Obsoletes", "IsObsoletedBy"}},
	{"4.4", []string{"IsPublishedIn"}},
	{"4.5", []string{"Collects", "IsCollectedBy"}},
	{"4.6", []string{"HasTranslation", "IsTranslationOf"}},
	{"4.7", []string{"Other"}},
}

// ResourceTypes returns the general resource types of the schema, oldest release first.
func ResourceTypes() []ResourceTypeGeneral { return list[ResourceTypeGeneral](resourceTypes) }

// Known reports whether the schema lists t.
func (t ResourceTypeGeneral) Known() bool { return t.Since() != "" }

// Since returns the version of the schema that added t, such as "4.4", and ""
// when the schema does not list it.
func (t ResourceTypeGeneral) Since() string { return resourceTypes.since(string(t)) }

// ContributorTypes returns the contributor types of the schema, oldest release first.
func ContributorTypes() []ContributorType { return list[ContributorType](contributorTypes) }

// Known reports whether the schema lists t.
func (t ContributorType) Known() bool { return t.Since() != "" }

// Since returns the version of the schema that added t, such as "4.4", and ""
// when the schema does not list it.
func (t ContributorType) Since() string { return contributorTypes.since(string(t)) }

// DateTypes returns the date types of the schema, oldest release first.
func DateTypes() []DateType { return list[DateType](dateTypes) }

// Known reports whether the schema lists t.
func (t DateType) Known() bool { return t.Since() != "" }

// Since returns the version of the schema that added t, such as "4.4", and ""
// when the schema does not list it.
func (t DateType) Since() string { return dateTypes.since(string(t)) }

// DescriptionTypes returns the description types of the schema, oldest release first.
func DescriptionTypes() []DescriptionType { return list[DescriptionType](descriptionTypes) }

// Known reports whether the schema lists t.
func (t DescriptionType) Known() bool { return t.Since() != "" }

// Since returns the version of the schema that added t, such as "4.4", and ""
// when the schema does not list it.
func (t DescriptionType) Since() string { return descriptionTypes.since(string(t)) }

// TitleTypes returns the title types of the schema, oldest release first.
func TitleTypes() []TitleType { return list[TitleType](titleTypes) }

// Known reports whether the schema lists t.
func (t TitleType) Known() bool { return t.Since() != "" }

// Since returns the version of the schema that added t, such as "4.4", and ""
// when the schema does not list it.
func (t TitleType) Since() string { return titleTypes.since(string(t)) }

// NameTypes returns the name types of the schema, oldest release first.
func NameTypes() []NameType { return list[NameType](nameTypes) }

// Known reports whether the schema lists t.
func (t NameType) Known() bool { return t.Since() != "" }

// Since returns the version of the schema that added t, such as "4.4", and ""
// when the schema does not list it.
func (t NameType) Since() string { return nameTypes.since(string(t)) }

// NumberTypes returns the number types of the schema, oldest release first.
func NumberTypes() []NumberType { return list[NumberType](numberTypes) }

// Known reports whether the schema lists t.
func (t NumberType) Known() bool { return t.Since() != "" }

// Since returns the version of the schema that added t, such as "4.4", and ""
// when the schema does not list it.
func (t NumberType) Since() string { return numberTypes.since(string(t)) }

// FunderIdentifierTypes returns the funder identifier types of the schema, oldest release first.
func FunderIdentifierTypes() []FunderIdentifierType {
	return list[FunderIdentifierType](funderIdentifierTypes)
}

// Known reports whether the schema lists t.
func (t FunderIdentifierType) Known() bool { return t.Since() != "" }

// Since returns the version of the schema that added t, such as "4.4", and ""
// when the schema does not list it.
func (t FunderIdentifierType) Since() string { return funderIdentifierTypes.since(string(t)) }

// RelatedIdentifierTypes returns the related identifier types of the schema, oldest release first.
func RelatedIdentifierTypes() []RelatedIdentifierType {
	return list[RelatedIdentifierType](relatedIdentifierTypes)
}

// Known reports whether the schema lists t.
func (t RelatedIdentifierType) Known() bool { return t.Since() != "" }

// Since returns the version of the schema that added t, such as "4.4", and ""
// when the schema does not list it.
func (t RelatedIdentifierType) Since() string { return relatedIdentifierTypes.since(string(t)) }

// RelationTypes returns the relation types of the schema, oldest release first.
func RelationTypes() []RelationType { return list[RelationType](relationTypes) }

// Known reports whether the schema lists t.
func (t RelationType) Known() bool { return t.Since() != "" }

// Since returns the version of the schema that added t, such as "4.4", and ""
// when the schema does not list it.
func (t RelationType) Since() string { return relationTypes.since(string(t)) }

// inverses pairs the relations that are each other's opposite.
var inverses = [][2]RelationType{
	{RelationIsCitedBy, RelationCites},
	{RelationIsSupplementTo, RelationIsSupplementedBy},
	{RelationIsContinuedBy, RelationContinues},
	{RelationIsNewVersionOf, RelationIsPreviousVersionOf},
	{RelationIsPartOf, RelationHasPart},
	{RelationIsReferencedBy, RelationReferences},
	{RelationIsDocumentedBy, RelationDocuments},
	{RelationIsCompiledBy, RelationCompiles},
	{RelationIsVariantFormOf, RelationIsOriginalFormOf},
	{RelationIsIdenticalTo, RelationIsIdenticalTo},
	{RelationHasMetadata, RelationIsMetadataFor},
	{RelationReviews, RelationIsReviewedBy},
	{RelationIsDerivedFrom, RelationIsSourceOf},
	{RelationDescribes, RelationIsDescribedBy},
	{RelationHasVersion, RelationIsVersionOf},
	{RelationRequires, RelationIsRequiredBy},
	{RelationObsoletes, RelationIsObsoletedBy},
	{RelationCollects, RelationIsCollectedBy},
	{RelationHasTranslation, RelationIsTranslationOf},
}

// Inverse returns the relation that the other resource has to this one: Cites
// for IsCitedBy. It is empty where the schema has none, as for IsPublishedIn
// and Other.
func (t RelationType) Inverse() RelationType {
	for _, pair := range inverses {
		switch t {
		case pair[0]:
			return pair[1]
		case pair[1]:
			return pair[0]
		}
	}
	return ""
}

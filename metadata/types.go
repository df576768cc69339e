package metadata

import (
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"sync"
)

// Types is the type of the resource. The service derives the last four values from the
// first. If they are sent back with a new general type, the service keeps the old values.
// They are not in XML.
type Types struct {
	ResourceTypeGeneral ResourceTypeGeneral `json:"resourceTypeGeneral,omitempty"`
	ResourceType        string              `json:"resourceType,omitempty"` // free text
	SchemaOrg           string              `json:"schemaOrg,omitempty"`
	Citeproc            string              `json:"citeproc,omitempty"`
	BibTeX              string              `json:"bibtex,omitempty"`
	RIS                 string              `json:"ris,omitempty"`
}

var typesElement = sync.OnceValue(func() *element[Types] {
	return newElement("resourceType", textOnly,
		mandatory("resourceTypeGeneral", resourceTypeGeneral,
			func(t *Types) *ResourceTypeGeneral { return &t.ResourceTypeGeneral }),
		text("resourceType", anyWord, func(t *Types) *string { return &t.ResourceType }),
		jsonOnly(
			jsonlex.Field("schemaOrg", func(d *decoder, t *Types) { t.SchemaOrg = d.Word() }),
			jsonlex.Field("citeproc", func(d *decoder, t *Types) { t.Citeproc = d.Word() }),
			jsonlex.Field("bibtex", func(d *decoder, t *Types) { t.BibTeX = d.Word() }),
			jsonlex.Field("ris", func(d *decoder, t *Types) { t.RIS = d.Word() }),
		),
	)
})

var resourceTypeGeneral = termOf(resourceTypes, "general resource type")

// UnmarshalJSON reads an object; any other value leaves t empty.
func (t *Types) UnmarshalJSON(data []byte) error {
	return input.JSON(data, t, typesElement().jsonObject().Read)
}

// ResourceTypeGeneral is the general type of a resource.
type ResourceTypeGeneral string

// Frequent values of [ResourceTypeGeneral]; write others as the schema has them. [Values] lists all.
const (
	ResourceTypeAudiovisual           ResourceTypeGeneral = "Audiovisual"
	ResourceTypeBook                  ResourceTypeGeneral = "Book" // since 4.4
	ResourceTypeCollection            ResourceTypeGeneral = "Collection"
	ResourceTypeComputationalNotebook ResourceTypeGeneral = "ComputationalNotebook" // since 4.4
	ResourceTypeDataset               ResourceTypeGeneral = "Dataset"
	ResourceTypeImage                 ResourceTypeGeneral = "Image"
	ResourceTypeInteractiveResource   ResourceTypeGeneral = "InteractiveResource"
	ResourceTypeJournal               ResourceTypeGeneral = "Journal" // since 4.4
	ResourceTypeModel                 ResourceTypeGeneral = "Model"
	ResourceTypeSoftware              ResourceTypeGeneral = "Software"
	ResourceTypeSound                 ResourceTypeGeneral = "Sound"
	ResourceTypeText                  ResourceTypeGeneral = "Text"
	ResourceTypeWorkflow              ResourceTypeGeneral = "Workflow"
	ResourceTypeOther                 ResourceTypeGeneral = "Other"
)

var resourceTypes = terms(ResourceTypeAudiovisual, ResourceTypeCollection, ResourceTypeDataset, "Event",
	ResourceTypeImage,
	ResourceTypeInteractiveResource, ResourceTypeModel, "PhysicalObject", "Service", ResourceTypeSoftware, ResourceTypeSound,
	ResourceTypeText, ResourceTypeWorkflow, ResourceTypeOther, "DataPaper", ResourceTypeBook, "BookChapter",
	ResourceTypeComputationalNotebook, "ConferencePaper", "ConferenceProceeding", "Dissertation", ResourceTypeJournal, "JournalArticle",
	"OutputManagementPlan", "PeerReview", "Preprint", "Report", "Standard", "Instrument", "StudyRegistration", "Award",
	"Project", "Poster", "Presentation")

func (ResourceTypeGeneral) vocabulary() vocabulary { return resourceTypes }

package record

import (
	"cmp"
	"maps"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// typesOf adds the types of other vocabularies that the service derives from a type.
// Given ones stay: bolognese lib/bolognese/readers/datacite_reader.rb and utils.rb,
// lupo app/models/doi.rb (update_types).
func typesOf(given object) object {
	own := ofOwnType[camelled(wire.String(given["resourceType"]))]
	general := ofGeneralType[strings.ReplaceAll(wire.String(given["resourceTypeGeneral"]), "_", "-")]
	schema := cmp.Or(own.schemaOrg, general.schemaOrg, "CreativeWork")
	also := ofSchemaOrg[schema]
	types := object{
		"schemaOrg": schema,
		"citeproc":  cmp.Or(own.citeproc, also.citeproc, "article"),
		"bibtex":    cmp.Or(own.bibtex, also.bibtex, "misc"),
		"ris":       cmp.Or(own.ris, general.ris, "GEN"),
	}
	if own.citeproc == "" && schema == "Article" {
		types["citeproc"] = "" // as its table has it
	}
	maps.Copy(types, given)
	maps.DeleteFunc(types, func(_ string, v any) bool { return v == nil })
	return types
}

var humps = lazy.Regexp(`([A-Z])([A-Z][a-z])|([a-z0-9])([A-Z])`)

// camelled is a free-text type in camel case: "peer-review" is PeerReview.
func camelled(text string) string {
	text = humps().ReplaceAllString(humps().ReplaceAllString(text, "${1}${3}_${2}${4}"), "${1}${3}_${2}${4}")
	var out strings.Builder
	for word := range strings.SplitSeq(strings.ToLower(strings.ReplaceAll(text, "-", "_")), "_") {
		if word != "" {
			out.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return out.String()
}

// kin are the names of a type in other vocabularies.
type kin struct{ schemaOrg, citeproc, bibtex, ris string }

var ofOwnType = map[string]kin{
	"Book":               {"Book", "book", "book", "BOOK"},
	"BookChapter":        {"Chapter", "chapter", "inbook", "CHAP"},
	"BookPart":           {"", "", "", "CHAP"},
	"BookSection":        {"", "chapter", "inbook", "CHAP"},
	"Component":          {"CreativeWork", "", "", ""},
	"Dataset":            {"Dataset", "dataset", "", "DATA"},
	"Dissertation":       {"Thesis", "thesis", "phdthesis", "THES"},
	"EditedBook":         {"Book", "book", "book", "BOOK"},
	"JournalArticle":     {"ScholarlyArticle", "article-journal", "article", "JOUR"},
	"JournalIssue":       {"PublicationIssue", "", "", ""},
	"JournalVolume":      {"PublicationVolume", "", "", ""},
	"Monograph":          {"Book", "book", "book", "BOOK"},
	"Other":              {"CreativeWork", "", "", "GEN"},
	"PeerReview":         {"Review", "", "", ""},
	"PostedContent":      {"ScholarlyArticle", "", "article", ""},
	"Proceedings":        {"", "", "proceedings", "CONF"},
	"ProceedingsArticle": {"", "paper-conference", "", "CPAPER"},
	"ReferenceBook":      {"Book", "", "book", "BOOK"},
	"ReferenceEntry":     {"", "entry-dictionary", "", "DICT"},
	"Report":             {"Report", "report", "techreport", "RPRT"},
	"Standard":           {"", "", "", "STAND"},
}

var ofGeneralType = map[string]kin{
	"Audiovisual":           {schemaOrg: "MediaObject", ris: "MPCT"},
	"Award":                 {schemaOrg: "Grant"},
	"Book":                  {schemaOrg: "Book", ris: "BOOK"},
	"BookChapter":           {schemaOrg: "Chapter", ris: "CHAP"},
	"Collection":            {schemaOrg: "Collection"},
	"ComputationalNotebook": {schemaOrg: "SoftwareSourceCode", ris: "COMP"},
	"ConferencePaper":       {schemaOrg: "Article", ris: "CPAPER"},
	"ConferenceProceeding":  {schemaOrg: "Periodical", ris: "CONF"},
	"DataCatalog":           {schemaOrg: "DataCatalog"},
	"DataPaper":             {schemaOrg: "Article"},
	"Dataset":               {schemaOrg: "Dataset", ris: "DATA"},
	"Dissertation":          {schemaOrg: "Thesis", ris: "THES"},
	"Event":                 {schemaOrg: "Event"},
	"Image":                 {schemaOrg: "ImageObject", ris: "FIGURE"},
	"Journal":               {schemaOrg: "Periodical"},
	"JournalArticle":        {schemaOrg: "ScholarlyArticle", ris: "JOUR"},
	"Other":                 {schemaOrg: "CreativeWork"},
	"PeerReview":            {schemaOrg: "Review"},
	"Periodical":            {schemaOrg: "Periodical"},
	"Poster":                {schemaOrg: "Poster", ris: "GEN"},
	"Presentation":          {schemaOrg: "PresentationDigitalDocument", ris: "SLIDE"},
	"Project":               {schemaOrg: "Project"},
	"Report":                {schemaOrg: "Report", ris: "RRPT"},
	"Service":               {schemaOrg: "Service"},
	"Software":              {schemaOrg: "SoftwareSourceCode", ris: "COMP"},
	"Sound":                 {schemaOrg: "AudioObject", ris: "SOUND"},
	"Text":                  {schemaOrg: "ScholarlyArticle", ris: "RPRT"},
}

var ofSchemaOrg = map[string]kin{
	"Article":                     {bibtex: "article"},
	"AudioObject":                 {citeproc: "song"},
	"Blog":                        {citeproc: "report"},
	"BlogPosting":                 {citeproc: "post-weblog", bibtex: "article"},
	"DataCatalog":                 {citeproc: "dataset"},
	"Dataset":                     {citeproc: "dataset"},
	"ImageObject":                 {citeproc: "graphic"},
	"Movie":                       {citeproc: "motion_picture"},
	"Poster":                      {citeproc: "document"},
	"PresentationDigitalDocument": {citeproc: "presentation"},
	"Report":                      {citeproc: "report"},
	"ScholarlyArticle":            {citeproc: "article-journal", bibtex: "article"},
	"Thesis":                      {citeproc: "thesis", bibtex: "phdthesis"},
	"VideoObject":                 {citeproc: "broadcast"},
	"WebPage":                     {citeproc: "webpage"},
	"WebSite":                     {citeproc: "webpage"},
}

// generalOf is the general type for a type of schema.org.
var generalOf = map[string]string{
	"Article": "Text", "AudioObject": "Sound", "Blog": "Text", "BlogPosting": "Text", "Book": "Book",
	"Chapter":    "BookChapter",
	"Collection": "Collection", "DataCatalog": "Dataset", "Dataset": "Dataset", "Event": "Event", "ImageObject": "Image",
	"Movie": "Audiovisual", "Poster": "Poster", "PresentationDigitalDocument": "Presentation", "PublicationIssue": "Text",
	"Report": "Report", "Review": "PeerReview", "ScholarlyArticle": "Text", "Service": "Service", "SoftwareSourceCode": "Software",
	"Thesis": "Text", "VideoObject": "Audiovisual", "WebPage": "Text", "WebSite": "Text",
}

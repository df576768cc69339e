package record

import (
	"cmp"
	"maps"
	"regexp"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
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

var humps = regexp.MustCompile(`([A-Z])([A-Z][a-z])|([a-z0-9])([A-Z])`)

// camelled is a free-text type in camel case: "peer-review" is PeerReview.
func camelled(text string) string {
	text = humps.ReplaceAllString(humps.ReplaceAllString(text, "${1}${3}_${2}${4}"), "${1}${3}_${2}${4}")
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

// ofSchemaOrg has RIS only for readers of other formats.
var ofSchemaOrg = map[string]kin{
	"Article":                     {bibtex: "article"},
	"AudioObject":                 {citeproc: "song"},
	"Blog":                        {citeproc: "report"},
	"BlogPosting":                 {citeproc: "post-weblog", bibtex: "article", ris: "BLOG"},
	"DataCatalog":                 {citeproc: "dataset", ris: "CTLG"},
	"Dataset":                     {citeproc: "dataset", ris: "DATA"},
	"ImageObject":                 {citeproc: "graphic", ris: "FIGURE"},
	"Movie":                       {citeproc: "motion_picture", ris: "MPCT"},
	"Poster":                      {citeproc: "document"},
	"PresentationDigitalDocument": {citeproc: "presentation", ris: "SLIDE"},
	"Report":                      {citeproc: "report", ris: "RPRT"},
	"ScholarlyArticle":            {citeproc: "article-journal", bibtex: "article", ris: "JOUR"},
	"SoftwareSourceCode":          {ris: "COMP"},
	"Thesis":                      {citeproc: "thesis", bibtex: "phdthesis"},
	"VideoObject":                 {citeproc: "broadcast", ris: "VIDEO"},
	"WebPage":                     {citeproc: "webpage", ris: "ELEC"},
	"WebSite":                     {citeproc: "webpage"},
}

// generalOf is the general type for a type of schema.org.
var generalOf = map[string]string{
	"Article": "Text", "AudioObject": "Sound", "Blog": "Text", "BlogPosting": "Text", "Book": "Book", "Chapter": "BookChapter",
	"Collection": "Collection", "DataCatalog": "Dataset", "Dataset": "Dataset", "Event": "Event", "ImageObject": "Image",
	"Movie": "Audiovisual", "Poster": "Poster", "PresentationDigitalDocument": "Presentation", "PublicationIssue": "Text",
	"Report": "Report", "Review": "PeerReview", "ScholarlyArticle": "Text", "Service": "Service", "SoftwareSourceCode": "Software",
	"Thesis": "Text", "VideoObject": "Audiovisual", "WebPage": "Text", "WebSite": "Text",
}

// namedType is the type in a foreign format: the general type, the free text,
// and the names in other vocabularies.
type namedType struct {
	general, own string
	kin
}

var (
	// bolognese lib/bolognese/readers/bibtex_reader.rb.
	ofBibTeX = map[string]namedType{
		"article":       {"JournalArticle", "JournalArticle", kin{"ScholarlyArticle", "article-journal", "", "JOUR"}},
		"book":          {"Book", "Book", kin{ris: "BOOK"}},
		"inbook":        {"BookChapter", "BookChapter", kin{ris: "CHAP"}},
		"inproceedings": {kin: kin{ris: "CPAPER"}},
		"misc":          {general: "Other"},
		"phdthesis":     {"Dissertation", "Dissertation", kin{"Thesis", "thesis", "", "THES"}},
		"proceedings":   {"ConferenceProceeding", "Proceedings", kin{ris: "CONF"}},
		"techreport":    {general: "Report", kin: kin{ris: "RPRT"}},
		"unpublished":   {kin: kin{ris: "UNPD"}},
	}
	// bolognese lib/bolognese/readers/ris_reader.rb.
	ofRIS = map[string]namedType{
		"BLOG":   {general: "Text", kin: kin{schemaOrg: "BlogPosting"}},
		"COMP":   {general: "Software", kin: kin{schemaOrg: "SoftwareSourceCode"}},
		"CTLG":   {general: "Collection", kin: kin{schemaOrg: "DataCatalog"}},
		"DATA":   {general: "Dataset", kin: kin{schemaOrg: "Dataset"}},
		"ELEC":   {general: "Text", kin: kin{schemaOrg: "WebPage"}},
		"FIGURE": {general: "Image", kin: kin{schemaOrg: "ImageObject"}},
		"GEN":    {general: "Poster"},
		"JOUR":   {general: "JournalArticle", kin: kin{schemaOrg: "ScholarlyArticle"}},
		"MPCT":   {general: "Audiovisual", kin: kin{schemaOrg: "Movie"}},
		"SLIDE":  {general: "Presentation"},
		"THES":   {general: "Dissertation", kin: kin{schemaOrg: "Thesis"}},
		"VIDEO":  {general: "Audiovisual", kin: kin{schemaOrg: "VideoObject"}},
	}
	// bolognese lib/bolognese/readers/citeproc_reader.rb.
	ofCiteproc = map[string]namedType{
		"article-journal": {general: "JournalArticle", kin: kin{schemaOrg: "ScholarlyArticle"}},
		"broadcast":       {general: "Audiovisual", kin: kin{schemaOrg: "VideoObject"}},
		"dataset":         {general: "Dataset", kin: kin{schemaOrg: "Dataset"}},
		"document":        {general: "Poster"},
		"graphic":         {general: "Image", kin: kin{schemaOrg: "ImageObject"}},
		"motion_picture":  {general: "Audiovisual", kin: kin{schemaOrg: "Movie"}},
		"post-weblog":     {general: "Text", kin: kin{schemaOrg: "BlogPosting"}},
		"presentation":    {general: "Presentation"},
		"song":            {general: "Audiovisual", kin: kin{schemaOrg: "AudioObject"}},
		"webpage":         {general: "Text", kin: kin{schemaOrg: "WebPage"}},
	}
)

// foreignTypes is the type in a foreign format, before others are derived from it.
func foreignTypes(f Format, name string, own any) object {
	o := object{}
	set := func(member, value string) {
		if value != "" {
			o[member] = value
		}
	}
	switch f {
	case bibtex:
		t := ofBibTeX[name]
		set("resourceTypeGeneral", t.general)
		set("resourceType", cmp.Or(t.own, name))
		set("schemaOrg", cmp.Or(t.schemaOrg, "ScholarlyArticle"))
		set("citeproc", cmp.Or(t.citeproc, "misc"))
		o["bibtex"], o["ris"] = name, cmp.Or(t.ris, "GEN")
	case ris:
		name = cmp.Or(name, "GEN")
		t := ofRIS[name]
		set("resourceTypeGeneral", t.general)
		set("schemaOrg", cmp.Or(t.schemaOrg, "CreativeWork"))
		o["citeproc"], o["ris"] = "misc", name
	case citeproc:
		t := ofCiteproc[name]
		schema := cmp.Or(t.schemaOrg, "CreativeWork")
		set("resourceTypeGeneral", t.general)
		set("citeproc", name)
		o["schemaOrg"], o["bibtex"], o["ris"] = schema, cmp.Or(ofSchemaOrg[schema].bibtex, "misc"), "GEN"
	case schemaOrg, codemeta:
		set("resourceTypeGeneral", generalOf[name])
		set("resourceType", wire.String(own))
		set("schemaOrg", name)
		also, key := ofSchemaOrg[name], name
		if f == schemaOrg {
			key = generalOf[name] // the service looks the wrong name up
		}
		o["citeproc"], o["bibtex"] = cmp.Or(also.citeproc, "article-journal"), cmp.Or(also.bibtex, "misc")
		o["ris"] = cmp.Or(ofSchemaOrg[key].ris, "GEN")
	}
	return o
}

package metadata

// Title is a name of the resource; the main title has no type.
type Title struct {
	Title     string    `json:"title"`
	TitleType TitleType `json:"titleType,omitempty"`
	Lang      string    `json:"lang,omitempty"`
}

const noTitle = "a record needs a title; where there is none, write :unav"

var titleElement = newElement("title", textOnly,
	text("title", datatype{fault: required("the title"), warning: markupWarning}, func(t *Title) *string { return &t.Title }),
	attribute("titleType", termOf(titleTypes, "title type"), func(t *Title) *TitleType { return &t.TitleType }),
	lang(func(t *Title) *string { return &t.Lang }),
)

// TitleType is the kind of a title that is not the main one.
type TitleType string

// The values of [TitleType].
const (
	TitleAlternative TitleType = "AlternativeTitle"
	TitleSubtitle    TitleType = "Subtitle"
	TitleTranslated  TitleType = "TranslatedTitle"
	TitleOther       TitleType = "Other"
)

var titleTypes = vocabulary{
	{"4.0", []string{"AlternativeTitle", "Subtitle", "TranslatedTitle", "Other"}},
}

func (TitleType) vocabulary() vocabulary { return titleTypes }

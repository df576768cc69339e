package metadata

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// Title is a name of the resource; the main title has no type.
type Title struct {
	Title     string    `json:"title"`
	TitleType TitleType `json:"titleType,omitempty"`
	Lang      string    `json:"lang,omitempty"`
}

const noTitle = "a record needs a title; where there is none, write :unav"

var titleElement = sync.OnceValue(func() *element[Title] {
	return newElement("title", textOnly,
		text("title", datatype{fault: required("the title"), warning: markupWarning},
			func(t *Title) *string { return &t.Title }),
		attribute("titleType", termOf(titleTypes, "title type"), func(t *Title) *TitleType { return &t.TitleType }),
		lang(func(t *Title) *string { return &t.Lang }),
	)
})

// TitleType is the kind of a title that is not the main one.
type TitleType string

// The values of [TitleType].
const (
	TitleAlternative TitleType = "AlternativeTitle"
	TitleSubtitle    TitleType = "Subtitle"
	TitleTranslated  TitleType = "TranslatedTitle"
	TitleOther       TitleType = "Other"
)

var titleTypes = terms(TitleAlternative, TitleSubtitle, TitleTranslated, TitleOther)

func (TitleType) vocabulary() vocabulary { return titleTypes }

// Title returns the title to show to people: the main title, else an alternative, a
// translated or another title, else a subtitle; "" without a title.
//
// If languages are given, the preferred one first, a main or translated title in one of
// them is returned before all others. The language en includes en-GB. A main title without
// a language counts as in the language of the resource.
func (r *Record) Title(languages ...string) string {
	if r == nil {
		return ""
	}
	best, least := "", math.MaxInt
	for _, t := range r.Titles {
		if rank := t.rank(r.Language, languages); rank < least && strings.TrimSpace(t.Title) != "" {
			best, least = t.Title, rank
		}
	}
	return best
}

// rank is lower the better a title is for people.
func (t *Title) rank(ofResource string, languages []string) int {
	kinds := []TitleType{"", TitleAlternative, TitleTranslated, TitleOther, TitleSubtitle}
	kind := slices.Index(kinds, t.TitleType)
	if kind < 0 {
		kind = slices.Index(kinds, TitleOther)
	}
	lang := t.Lang
	if lang == "" && t.TitleType == "" {
		lang = ofResource
	}
	preferred := slices.IndexFunc(languages, func(language string) bool {
		return strings.HasPrefix(strings.ToLower(lang)+"-", strings.ToLower(language)+"-")
	})
	if preferred < 0 || t.TitleType != "" && t.TitleType != TitleTranslated {
		preferred = len(languages)
	}
	return preferred*len(kinds) + kind
}

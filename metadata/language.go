package metadata

import (
	_ "embed" // for the list
	"slices"
	"strings"
	"sync"
)

// languagesText holds the languages of ISO 639-2 that have a code of two letters, a
// line each: that, the codes of three, the name in English.
//
//go:embed languages.txt
var languagesText string

// languageCodes has the codes of two letters by those of three and the names.
var languageCodes = sync.OnceValue(func() map[string]string {
	codes := map[string]string{}
	for line := range strings.Lines(languagesText) {
		two, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		three, name, _ := strings.Cut(rest, " ")
		for _, key := range append(strings.Split(three, ","), name) {
			codes[strings.ToLower(key)] = two
		}
	}
	return codes
})

// sameLanguage allows a code of two letters, and that what is not a language tag is dropped.
func sameLanguage(p pair) bool {
	w, f := p.texts()
	primary, _, _ := strings.Cut(bare(w), "-")
	two := languageCodes()[strings.ToLower(primary)]
	if f == "" {
		return languageRule(bare(w)) != nil
	}
	return slices.ContainsFunc([]string{primary, two}, func(code string) bool {
		return code != "" && strings.EqualFold(code, f)
	})
}

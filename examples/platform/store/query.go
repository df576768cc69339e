package store

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/doi"
)

// What one search may cost: a word may be in all datasets, and one of a few letters is the
// beginning of many words.
const (
	maxWords = 12
	maxNames = 5
	shortest = 3 // letters of a word that is also found at the beginning of longer ones
)

var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`)

// parse reads what somebody typed as an expression of FTS5, as query.Typed does it for searches
// at DataCite: all words must match, those in quotes side by side; a DOI in any form finds its
// dataset, and several DOIs those of any of them. Everything else is literal. It also tells
// whether words at the end are ignored, since there are too many. Anything can be typed: no
// text is an error.
func parse(text string) (match string, cut bool) {
	names, text := doi.Find(text)
	cut = len(names) > maxNames
	var all, any []string
	for _, name := range names[:min(len(names), maxNames)] {
		any = append(any, `"`+fold(doi.Key(name))+`"`)
	}
	if len(any) > 0 {
		all = append(all, strings.Join(any, " OR "))
	}
	left := maxWords
	add := func(text string, quoted bool) {
		words := strings.Fields(fold(text))
		if len(words) > left {
			words, cut = words[:left], true
		}
		if len(words) == 0 {
			return
		}
		term := `"` + strings.Join(words, " ") + `"`
		if !quoted && utf8.RuneCountInString(words[len(words)-1]) >= shortest {
			term += "*"
		}
		if !slices.Contains(all, term) {
			all, left = append(all, term), left-len(words)
		}
	}
	parts := strings.Split(quotes.Replace(text), `"`)
	for i, part := range parts {
		if quoted := i%2 == 1 && i < len(parts)-1; quoted { // the last quote may be open
			add(part, true)
			continue
		}
		for _, word := range strings.Fields(strings.ReplaceAll(part, " AND ", " ")) {
			add(word, false)
		}
	}
	if len(all) > 0 {
		match = "(" + strings.Join(all, ") AND (") + ")"
	}
	return match, cut
}

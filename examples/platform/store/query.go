package store

import (
	"regexp"
	"strings"

	"github.com/datacite-go/datacite-go/doi"
)

// maxWords bounds what one search may cost. A DOI has several words.
const (
	maxWords = 50
	maxNames = 5
)

var (
	quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`)
	pieces = regexp.MustCompile(`(-?)"([^"]*)"|(-\pL|[^\s"])[^\s"]*`)
)

// A term is a word or a phrase that somebody searches for.
type term struct {
	text   string
	quoted bool
}

// parse reads what somebody typed as an expression of FTS5 for what is searched for, one
// for what is left out, and whether words at the end are ignored, since there are too
// many. All terms must match, unless OR is between them. Anything can be typed: no text
// is an error, and only DOIs, quotes, a minus before a word, AND, OR and NOT have a meaning.
func parse(text string) (match, except string, cut bool) {
	var all, none []string
	names, text := doi.Find(text)
	if len(names) > maxNames {
		names, cut = names[:maxNames], true
	}
	words, or, not := 0, false, false
	for _, name := range names {
		expression, count := term{doi.Key(name), true}.expression()
		all = append(all, expression)
		words += count
	}
	found := pieces.FindAllStringSubmatch(quotes.Replace(text), -1)
	for i, piece := range found {
		between := i > 0 && i < len(found)-1
		switch {
		case between && piece[0] == "AND":
			continue
		case between && piece[0] == "OR":
			or = len(all) > 0
			continue
		case i < len(found)-1 && piece[0] == "NOT":
			not = true
			continue
		}
		t := term{piece[2], strings.HasSuffix(piece[0], `"`)}
		if !t.quoted {
			t.text = piece[0]
		}
		if piece[1] != "" || strings.HasPrefix(piece[3], "-") && len(piece[3]) > 1 {
			t.text, not = strings.TrimPrefix(t.text, "-"), true
		}
		expression, count := t.expression()
		if words += count; words > maxWords {
			cut = true
			break
		}
		switch {
		case count == 0:
		case not:
			none = append(none, expression)
		case or:
			all[len(all)-1] += " OR " + expression
		default:
			all = append(all, expression)
		}
		or, not = false, false
	}
	if len(all) > 0 {
		match = "(" + strings.Join(all, ") AND (") + ")"
	}
	return match, strings.Join(none, " OR "), cut
}

// expression returns the expression of FTS5 that finds a term, and how many words it has.
// A word is also found at the beginning of longer ones; what is quoted is not.
func (t term) expression() (text string, words int) {
	star := "*"
	if t.quoted {
		star = ""
	}
	folded := fold(t.text)
	if folded == "" {
		return "", 0
	}
	text = `"` + folded + `"` + star
	return text, 1 + strings.Count(folded, " ")
}

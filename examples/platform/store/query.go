package store

import (
	"regexp"
	"strings"

	"github.com/datacite-go/datacite-go/doi"
)

// maxWords bounds what one search may cost.
const maxWords = 50

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
// is an error, and only quotes, a minus before a word, AND, OR and NOT have a meaning.
func parse(text string) (match, except string, cut bool) {
	var all, none []string
	found := pieces.FindAllStringSubmatch(quotes.Replace(text), -1)
	words, or, not := 0, false, false
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
		case i < len(found)-1 && strings.EqualFold(strings.Trim(piece[0], ":"), "doi") && isDOI(found[i+1][0]):
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

func isDOI(text string) bool {
	_, err := doi.Parse(text)
	return err == nil
}

// expression returns the expression of FTS5 that finds a term, and how many words it has.
// A word is also found at the beginning of longer ones; a phrase or a DOI is not.
func (t term) expression() (text string, words int) {
	star := "*"
	if t.quoted {
		star = ""
	}
	if name, err := doi.Parse(t.text); err == nil {
		t.text, star = doi.Key(name), ""
	}
	folded := fold(t.text)
	if folded == "" {
		return "", 0
	}
	text = `"` + folded + `"` + star
	if spelled := spell(t.text); spelled != "" {
		text += ` OR "` + spelled + `"` + star
	}
	return text, 1 + strings.Count(folded, " ")
}

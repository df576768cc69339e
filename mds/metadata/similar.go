package metadata

import (
	"strings"
	"unicode"
)

// terms that people write for values that have another name in the schema.
var aliases = map[string]string{
	"article": "JournalArticle", "author": "Researcher", "film": "Audiovisual", "movie": "Audiovisual",
	"paper": "JournalArticle", "person": "Personal", "organisation": "Organizational",
	"organisational": "Organizational", "organization": "Organizational", "published": "Issued",
	"publication": "Text", "thesis": "Dissertation", "video": "Audiovisual", "website": "InteractiveResource",
	"fundref": "Crossref Funder ID", "funderid": "Crossref Funder ID", "crossreffunder": "Crossref Funder ID",
}

// nearest returns the value that was probably meant, "" when none comes close.
func (v vocabulary) nearest(value string) string {
	folded := fold(value)
	if alias := aliases[folded]; alias != "" && v.since(alias) != "" {
		return alias
	}
	best, least := "", min(3, len(folded)/3+1)
	for _, r := range v {
		for _, candidate := range r.values {
			if d := distance(folded, fold(candidate), least); d < least {
				best, least = candidate, d
			}
		}
	}
	return best
}

// fold keeps letters and digits, in lower case.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// distance returns how many letters must be changed, added or left out to get
// from a to b, and limit when there are that many or more.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return min(row[len(b)], limit)
}

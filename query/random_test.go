package query_test

import (
	"math/rand/v2"
	"strings"
)

func oneOf[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// pieces are what queries are made of, with every character and word that has
// a meaning to the parser or to the service.
var pieces = []string{
	"a", "b", "foo", "10.5438", "2015", "AND", "OR", "NOT", "TO", "and", "é", "气候", "😀", "_", "#", "'", "%", "@", ",", ";",
	"$",
	"<", ">", "=", "&", "|", "&&", "||", "+", "-", "!", "(", ")", ":", "^", "[", "]", "{", "}", "\"", "~", "*", "?", "\\", "/",
	" ", " ", " ", "\t", "\n", "\r", "\u3000", "\u00a0", "\v", "\x00", "\x7f", "\u2028", "\ufeff", "\ufffd",
	"publicationYear", "relatedItems", "version:", "publisher.name", "schemaVersion", "_exists_", "*:*", "\\u0041", "\\ud83d\\ude00", "\\ud83d", "\\u",
	"^2", "^0.5", "~1", "~0.5", "~2.0", "~1e0", "~0x1p1", "~NaN", " AND ", " OR ", " NOT ", " TO ", "f:", "f:(", ") ", "[a TO b]", "{* TO \"b c\"}", "/x/",
}

// soup is a random text of such pieces.
func soup(r *rand.Rand, longest int) string {
	var b strings.Builder
	for range r.IntN(longest + 1) {
		b.WriteString(oneOf(r, pieces...))
	}
	return b.String()
}

// sentence is a text that mostly is a query.
func sentence(r *rand.Rand, depth int) string {
	var b strings.Builder
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			b.WriteString(oneOf(r, " ", " ", " AND ", " OR ", " && ", " || ", "\u3000"))
		}
		b.WriteString(oneOf(r, "", "", "", "", "+", "-", "!", "NOT "))
		b.WriteString(oneOf(r, "", "", "", "f:", "a.b:", "*:", "x : ", "_exists_:", "publicationYear:", "\\AND:", "a\\:b:"))
		if depth > 0 && r.IntN(4) == 0 {
			b.WriteString("(" + sentence(r, depth-1) + ")")
		} else {
			b.WriteString(leafText(r))
		}
		b.WriteString(oneOf(r, "", "", "", "", "", "^2", "^0.25", "^0"))
	}
	return b.String()
}

func leafText(r *rand.Rand) string {
	word := oneOf(r, "a", "b", "foo", "x-y", "x+y", "<5", ">=5", "\\>5", "a\\ b", "\\u0041ND", "\\AND", "a\\/b", "é",
		"a&&b", "1.5", "\\\\", "to", "a|", "|")
	switch r.IntN(9) {
	case 0:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(soup(r, 3)) + `"` + oneOf(r, "", "", "~0", "~3", "~",
			"~x", "~-1")
	case 1:
		return word + "*"
	case 2:
		return oneOf(r, "*", "?", "**", "*"+word+"?", word+"*"+word, "*a\\/b*", "a\\*?")
	case 3:
		return oneOf(r, "[", "{") + boundText(r) + " TO " + boundText(r) + oneOf(r, "]", "}")
	case 4:
		return oneOf(r, "/a.*/", "/[a-z]+/", `/a\/b/`, `/"x"/`, `/a\\/`)
	case 5:
		return word + "~" + oneOf(r, "", "0", "1", "2", "3", "0.7", "AUTO", "1f")
	}
	return word
}

func boundText(r *rand.Rand) string {
	return oneOf(r, "*", "1", "2015-01-01", `"a b"`, `"*"`, "\\*", "TO", `"a]"`, "a\\u0020b", `"\\"`, "now-1d/d", "\"\"",
		"\ta", ">5")
}

// query is a random text: sentences, soup, and sentences with damage.
func randomText(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return soup(r, 8)
	case 1:
		s := sentence(r, 2)
		i := r.IntN(len(s) + 1)
		return strings.ToValidUTF8(s[:i]+oneOf(r, pieces...)+s[min(len(s), i+r.IntN(2)):], "")
	}
	return sentence(r, 2)
}

// value is a text that somebody might look for.
func value(r *rand.Rand) string {
	switch r.IntN(6) {
	case 0:
		return oneOf(r, pieces...)
	case 1:
		return oneOf(r, nastyValues...)
	case 2:
		return string(rune(r.IntN(0xd800)))
	}
	return soup(r, 6)
}

// nastyValues are values that break one query builder or another.
var nastyValues = []string{
	"", " ", "AND", "OR", "NOT", "TO", "and", "*", "?", "\\", "\\\\", "\\*", "\"", "\"\"", "'", "/", "//", "a/b", "/a/",
	"10.5438/fj3w-0shd",
	"10.1002/(SICI)1097-0258(19980815)17:15/16<1661::AID-SIM968>" +
		"3.0.CO;2-2", "https://doi.org/10.5438/0012", "a:b", ":", "a AND b", "a) OR (b",
	"(a)", "[a TO b]", "a]", "a}", "+a", "-a", "!a", "--", "a - b", "a!b", "a~", "a~1", "a^2", "^", "~", "&&", "||", "a&&b", "a&b", "|", "a\\", "a\\\"", "a\" OR *:*",
	">5", ">=5", "<5", "<", "=", "\t", "\n", "a\nb", "a\r\nb", "\u3000", "a\u3000b", "\u00a0", "\x00", "\x1f", "\x7f", "\u2028", "\ufeff",
	"publicationYear", "xpublicationYearx", "relatedIdentifiers", "relatedItems", "rightsList", "fundingReferences", "geoLocations",
	"version:", "version: 3", "schema_version:4", "landingPage", "contentUrl", "citationCount", "viewCount", "downloadCount", "schemaVersion",
	"publisher.name", "publisher.publisherIdentifierScheme", "publisher.schemeUri", "publisher.language", "publicationYearrelatedItems", "publisher.nameversion:",
	"\\u0041", "\\u", "u0041", "\\n", "é", "e\u0301", "气候", "😀", "👨‍👩‍👧", "ß", "İ", "\u202e", "now-1d/d", "2015-01-01||/M", "*:*", "_exists_", "NULL", "null", "0", "-1", "1e3", "%20", "+", "#", "?x=1&y=2", "${x}", "<b>",
}

package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/internal/doi"
)

// Typed looks for what somebody typed or pasted into a search box. All words must match, in any
// order and in any of the default fields; words in quotes, also typographic ones, stand side by
// side. A DOI in any form that [doi.Find] reads matches the record of that DOI, and several DOIs
// those of any of them. AND between words is left out, since it changes nothing.
//
// Everything else is literal: brackets, colons, wildcards, minus signs and words such as OR and
// NOT are no operators, and quotes that are open or empty are ignored. [Parse] reads queries with
// operators. From the 500th on, the words are looked for side by side.
//
// [Check] refuses the result if nothing in the text can be searched, because it has no letter and
// no digit. It accepts all other texts, unless they have more than 500 DOIs.
//
// [doi.Find]: https://pkg.go.dev/github.com/datacite-go/datacite-go/doi#Find
func Typed(text string) Expr {
	names, between := doi.Find(strings.ToValidUTF8(text, " "))
	var all []Expr
	if len(names) > 0 {
		all = append(all, oneOfDOIs(names))
	}
	var texts []string
	for _, s := range between {
		texts = append(texts, phrases(s)...)
	}
	texts = withoutAnd(texts)
	if len(texts) > maxTyped {
		texts = append(texts[:maxTyped-1:maxTyped-1], strings.Join(texts[maxTyped-1:], " "))
	}
	for _, s := range texts {
		all = append(all, Term(s))
	}
	if len(all) == 0 {
		return fromNode(invalid("", "nothing in "+quoteText(text)+" can be searched: it has no letter and no digit"))
	}
	return And(all...)
}

// maxTyped is how many texts are looked for one by one: half of what the service accepts in a
// query, so that there is room for more.
const maxTyped = maxClauses/2 - 12

// oneOfDOIs looks for any of the names, in one spelling each.
func oneOfDOIs(names []string) Expr {
	for i, name := range names {
		names[i] = strings.ToLower(name)
	}
	slices.Sort(names)
	return FieldDOI.In(slices.Compact(names)...)
}

// phrases returns the words of a text, and what is in quotes as a whole: all that has
// something to look for, without the punctuation around it.
func phrases(text string) (out []string) {
	add := func(s string) {
		if s = bare(s); s != "" {
			out = append(out, s)
		}
	}
	words := func(s string) {
		for word := range strings.FieldsFuncSeq(s, isQuoteOrSpace) {
			add(word)
		}
	}
	from := 0
	for {
		open, inside := nextQuote(text, from, false)
		shut, after := nextQuote(text, inside, true)
		if open < 0 || shut < 0 {
			words(text[from:])
			return out
		}
		words(text[from:open])
		add(strings.Join(strings.Fields(text[inside:shut]), " "))
		from = after
	}
}

// nextQuote finds a quote, not before from, and what follows it. A quote after a letter or a
// digit, as in 19", opens nothing.
func nextQuote(text string, from int, shuts bool) (at, after int) {
	for i, r := range text[from:] {
		at, after = from+i, from+i+utf8.RuneLen(r)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if isQuote(r) && (shuts || !isSearchable(before)) {
			return at, after
		}
	}
	return -1, len(text)
}

func isQuote(r rune) bool { return strings.ContainsRune("\"“”„‟«»＂", r) }

func isQuoteOrSpace(r rune) bool { return isQuote(r) || unicode.IsSpace(r) }

// isSearchable reports whether analysis makes a word of a character by itself.
func isSearchable(r rune) bool { return unicode.In(r, unicode.L, unicode.Nd, unicode.Nl) }

// bare returns a text without the punctuation around it, which is no part of its first and
// last word. It is empty if nothing in the text can be searched.
func bare(s string) string {
	if !strings.ContainsFunc(s, isSearchable) {
		return ""
	}
	return strings.TrimFunc(s, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Pc)
	})
}

// withoutAnd leaves out the word AND where it stands between others.
func withoutAnd(texts []string) []string {
	if len(texts) < 3 {
		return texts
	}
	last := len(texts) - 1
	return append(slices.DeleteFunc(texts[:last:last], func(s string) bool { return s == "AND" }), texts[last])
}

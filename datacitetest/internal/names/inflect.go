package names

import (
	"strings"
	"unicode"
)

// The deployed service derives names by its framework's rules for English.

// Underscored is publication_year for publicationYear, and for publication-year.
func Underscored(name string) string {
	is := func(c, low, high byte) bool { return low <= c && c <= high }
	out, from := "", 0
	for i := 1; i < len(name); i++ {
		if before := name[i-1]; is(name[i], 'A', 'Z') && (is(before, 'a', 'z') || is(before, '0', '9') ||
			is(before, 'A', 'Z') && i+1 < len(name) && is(name[i+1], 'a', 'z')) {
			out, from = out+name[from:i]+"_", i
		}
	}
	return strings.ToLower(strings.ReplaceAll(out+name[from:], "-", "_"))
}

// Dashed is journal-article for JournalArticle.
func Dashed(name string) string { return strings.ReplaceAll(Underscored(name), "_", "-") }

// Humanised is "Computer and information sciences" for computer_and_information_sciences.
func Humanised(name string) string {
	text := strings.TrimLeftFunc(strings.ReplaceAll(name, "_", " "), unicode.IsSpace)
	return capital(Lower(strings.TrimSuffix(text, " id")))
}

// Titled is Journal Article for JournalArticle.
func Titled(name string) string {
	words := strings.Split(Underscored(name), "_")
	for i := range words {
		words[i] = capital(words[i])
	}
	return strings.Join(words, " ")
}

// capital is a text with its first letter, if ASCII, in upper case.
func capital(text string) string {
	if text != "" && 'a' <= text[0] && text[0] <= 'z' {
		return string(text[0]-'a'+'A') + text[1:]
	}
	return text
}

package store

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// letters are those that have no accent to leave out.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ħ", "h", "ı", "i", "ς", "σ")

// fold brings a text into the form in which it is compared with others: words without
// case or accents, so that Muller is found in Müller.
func fold(text string) string {
	text = norm.NFKD.String(strings.ToLower(strings.ToValidUTF8(text, " ")))
	text = strings.Map(func(r rune) rune {
		if '\u0300' <= r && r <= '\u036f' { // accents
			return -1
		}
		return r
	}, text)
	return strings.Join(tokens(letters.Replace(norm.NFC.String(text))), " ")
}

// tokens are the words of a text. A character of a script that has no spaces between
// words is one of its own: a word is then found as a phrase.
func tokens(text string) []string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			b.WriteString(" " + string(r) + " ")
		case unicode.IsLetter(r), unicode.IsNumber(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}

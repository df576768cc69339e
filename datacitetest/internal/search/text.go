package search

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words yields the words of a text unchanged: runs of letters, digits and underscores.
// Points and apostrophes inside a word or a number belong to it.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			n := wordLength(s)
			if strings.Trim(s[:n], "_") != "" && !yield(s[:n]) {
				return
			}
			_, size := utf8.DecodeRuneInString(s)
			s = s[max(n, size):]
		}
	}
}

// wordLength is the length of the word that a text begins with, or 0.
func wordLength(s string) (n int) {
	before := ' '
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !isInWord(r) {
			if after, _ := utf8.DecodeRuneInString(s[n+size:]); !joins(before, r, after) {
				return n
			}
		}
		before, n = r, n+size
	}
	return n
}

func isInWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Nd, unicode.M)
}

// joins reports whether a sign between two characters leaves them in one word.
func joins(before, sign, after rune) bool {
	letters := unicode.IsLetter(before) && unicode.IsLetter(after)
	digits := unicode.IsDigit(before) && unicode.IsDigit(after)
	switch sign {
	case '.', '\'', '\u2019':
		return letters || digits
	case ':':
		return letters
	case ',', ';':
		return digits
	}
	return false
}

// unspaced are the scripts without spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// isUnspaced reports whether a character may be a word of its own, or in a word whose end
// only a dictionary knows.
func isUnspaced(r rune) bool { return r >= '\U0001f000' || unicode.In(r, unspaced...) }

// isWord compares words ignoring case; want is in lower case.
func isWord(word, want string) bool {
	for _, r := range word {
		w, size := utf8.DecodeRuneInString(want)
		if size == 0 || unicode.ToLower(r) != w {
			return false
		}
		want = want[size:]
	}
	return want == ""
}

// isPhrase finds words side by side, or as far apart as slop allows: the total
// number of places by which words may be moved to make the phrase.
func isPhrase(s string, want []string, slop int) bool {
	places := make([][]int, len(want))
	at := 0
	for word := range words(s) {
		for i, w := range want {
			if isWord(word, w) {
				places[i] = append(places[i], at)
			}
		}
		at++
	}
	for _, found := range places {
		if len(found) == 0 {
			return false
		}
	}
	return aligned(want, places, slop)
}

// aligned finds a start from which each word is at its distance, within the
// slop.
func aligned(want []string, places [][]int, slop int) bool {
	for i := range places {
		for _, place := range places[i] {
			if fits(want, places, place-i, slop) {
				return true
			}
		}
		if slop == 0 {
			return false
		}
	}
	return false
}

func fits(want []string, places [][]int, start, slop int) bool {
	taken := make(map[string]int) // last place of a word that is in the phrase twice
	for i, w := range want {
		from := start + i
		if last, ok := taken[w]; ok {
			from = max(from, last+1)
		}
		k, _ := slices.BinarySearch(places[i], from)
		if k == len(places[i]) || places[i][k] > start+i+slop {
			return false
		}
		taken[w] = places[i][k]
	}
	return true
}

// like matches a text against a pattern.
func like(s string, pattern []rune) bool {
	p, star, retry := 0, -1, 0
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case p < len(pattern) && pattern[p] == anyRunes:
			star, retry = p, at
			p++
		case p < len(pattern) && (pattern[p] == oneRune || pattern[p] == r):
			at += size
			p++
		case star >= 0:
			_, size = utf8.DecodeRuneInString(s[retry:])
			retry += size
			at, p = retry, star+1
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == anyRunes {
		p++
	}
	return p == len(pattern)
}

// near says whether at most that many edits turn one text into the other: a character
// inserted, deleted, replaced, or exchanged with its neighbour.
func near(a, b []rune, edits int) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case len(a) == 0 || len(b) == 0:
		return len(a)+len(b) <= edits
	case edits == 0:
		return false
	}
	exchanged := len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0]
	return near(a[1:], b, edits-1) || near(a, b[1:], edits-1) || near(a[1:], b[1:], edits-1) ||
		exchanged && near(a[2:], b[2:], edits-1)
}

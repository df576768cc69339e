package search

import (
	"iter"
	"slices"
	"unicode"
	"unicode/utf8"
)

// words yields the words of a text unchanged. Their boundaries are nearly those of
// Unicode (UAX #29): letters and digits belong together, as do points and apostrophes
// inside numbers and words; each ideograph is a word.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			n, isWord := segment(s)
			if isWord && !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}

type class uint8

const (
	other class = iota
	letter
	digit
	katakana
	ideograph // and other characters that are words of their own
	joiner    // such as an underscore
	extender  // marks and invisible characters belong to the character before
	midLetter
	midNumber
	midBoth
)

var asciiClass = func() (table [utf8.RuneSelf]class) {
	for c := range table {
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			table[c] = letter
		case '0' <= c && c <= '9':
			table[c] = digit
		}
	}
	table['_'] = joiner
	table[':'] = midLetter
	table[','], table[';'] = midNumber, midNumber
	table['.'], table['\''] = midBoth, midBoth
	return table
}()

func classOf(r rune) class {
	if r < utf8.RuneSelf {
		return asciiClass[r]
	}
	switch {
	case r == '\u2018' || r == '\u2019' || r == '\u2024':
		return midBoth
	case r == '\u00b7' || r == '\u0387' || r == '\u2027':
		return midLetter
	case unicode.In(r, unicode.Han, unicode.Hiragana):
		return ideograph
	case r >= 0x1f000 && unicode.Is(unicode.So, r):
		return ideograph
	case unicode.Is(unicode.Katakana, r) || r == '\u30fc':
		return katakana
	case unicode.In(r, unicode.L, unicode.Nl):
		return letter
	case unicode.Is(unicode.Nd, r):
		return digit
	case unicode.In(r, unicode.M, unicode.Cf) && r != '\u200b': // zero width, but a space
		return extender
	case unicode.Is(unicode.Pc, r):
		return joiner
	}
	return other
}

// segment is the length of the next word or of the next thing between words.
func segment(s string) (n int, isWord bool) {
	first, n := utf8.DecodeRuneInString(s)
	c := classOf(first)
	switch c {
	case other, extender, midLetter, midNumber, midBoth:
		return n, false
	}
	isWord = c != joiner
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch next := classOf(r); {
		case next == extender:
		case sticks(c, next):
			c = next
			isWord = isWord || c != joiner
		case !bridges(c, next, s[n+size:]):
			return n, isWord
		}
		n += size
	}
	return n, isWord
}

// sticks says whether two adjacent characters are in one word.
func sticks(c, next class) bool {
	switch c {
	case letter, digit:
		return next == letter || next == digit || next == joiner
	case katakana:
		return next == katakana || next == joiner
	case joiner:
		return next == letter || next == digit || next == katakana || next == joiner
	}
	return false
}

// bridges says whether a point or an apostrophe is inside a word: between two
// letters, or two digits.
func bridges(c, mid class, rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	switch mid {
	case midLetter:
		return c == letter && classOf(r) == letter
	case midNumber:
		return c == digit && classOf(r) == digit
	case midBoth:
		return (c == letter || c == digit) && classOf(r) == c
	}
	return false
}

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

// near says whether at most that many edits turn one text into the other: a
// character inserted, deleted, replaced, or exchanged with its neighbour.
func near(s string, want []rune, edits int) bool {
	if d := utf8.RuneCountInString(s) - len(want); d > edits || -d > edits {
		return false
	}
	a, b, width := []rune(s), want, len(want)+1
	rows := make([]int, 3*width)
	before, last, row := rows[:width], rows[width:2*width], rows[2*width:]
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)] <= edits
}

package doi

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Find returns the names in a text that somebody typed or pasted, in their order, and the
// texts before, between and after them, unless they are empty. A name begins with "10." and at least
// four digits. It may stand in an address of any host, in brackets or quotes, before a full stop, and
// after "doi", which all are left out.
func Find(text string) (names, between []string) {
	var words []string
	end := func() {
		if len(words) > 0 {
			between = append(between, strings.Join(words, " "))
		}
		words = nil
	}
	for word := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
		for _, piece := range pieces(word) {
			name, before, ok := findIn(piece)
			if !ok {
				words = append(words, piece)
				continue
			}
			names = append(names, name)
			if before != "" {
				words = append(words, before)
			} else if n := len(words); n > 0 && isLabel(words[n-1]) {
				words = words[:n-1]
			}
			end()
		}
	}
	end()
	return names, between
}

// pieces splits a word in which several names stand, with commas or the like between them.
func pieces(word string) (out []string) {
	i := nextName(word, 0)
	for i >= 0 {
		next := nextName(word, i+len("10."))
		if next < 0 {
			break
		}
		end := strings.LastIndexAny(word[i:next], ",;|")
		if end < 0 {
			i = next
			continue
		}
		out = append(out, word[:i+end])
		word, i = word[i+end+1:], next-(i+end+1)
	}
	return append(out, word)
}

// nextName returns where a name begins in s, not before from, or -1.
func nextName(s string, from int) int {
	for from < len(s) {
		i := strings.Index(s[from:], "10.")
		if i < 0 {
			return -1
		}
		i += from
		if !continues(s[:i]) && beginsName(s[i:]) {
			return i
		}
		from = i + len("10.")
	}
	return -1
}

// beginsName reports whether s begins with a prefix and a slash, which may be encoded.
func beginsName(s string) bool {
	digits := len(s) - len(strings.TrimLeft(s[len("10."):], "0123456789")) - len("10.")
	prefix := len(s) - len(strings.TrimLeft(s, "0123456789."))
	_, encoded := cutPrefixFold(s[prefix:], "%2F")
	return digits >= 4 && IsPrefix(s[:prefix]) && (encoded || strings.HasPrefix(s[prefix:], "/"))
}

// continues reports whether what follows before is the middle of a word or of a number. Only
// "doi" may stand right before a name.
func continues(before string) bool {
	if n := len(before) - len("doi"); n >= 0 && strings.EqualFold(before[n:], "doi") {
		before = before[:n]
	}
	if before == "" {
		return false
	}
	c := before[len(before)-1]
	return c == '.' || isASCIILetterOrDigit(c)
}

// isLabel reports whether a text only says that a name follows: doi, DOI: or info:doi/.
func isLabel(text string) bool {
	found := false
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		switch strings.ToLower(word) {
		case "doi", "hdl":
			found = true
		case "urn", "info":
		default:
			return false
		}
	}
	return found
}

// findIn returns the name in a piece, and what stands before it if that means more than that a
// name follows.
func findIn(piece string) (name, before string, ok bool) {
	i := nextName(piece, 0)
	if i < 0 {
		return "", "", false
	}
	before, name = piece[:i], withoutFormat(piece[i:])
	_, path, _ := strings.Cut(before, ".") // of a host
	address := strings.Contains(path, "/")
	if address {
		ends := "?#"
		if strings.Contains(path, "?") {
			ends = "&#"
		}
		if end := strings.IndexAny(name, ends); end >= 0 {
			name = name[:end]
		}
	}
	name = withoutEnd(name)
	if address || !IsPrefix(Prefix(name)) {
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
	}
	if _, err := check(name, name); err != nil {
		return "", "", false
	}
	if address || isLabel(before) || !strings.ContainsFunc(before, unicode.IsLetter) &&
		!strings.ContainsFunc(before, unicode.IsNumber) {
		before = ""
	}
	return name, before, true
}

// withoutFormat drops the invisible characters that come from typesetting, and turns its
// dashes into hyphens.
func withoutFormat(s string) string {
	if printable(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case lookalikes[r] == "":
			return r
		case isDash(r):
			return '-'
		}
		return -1
	}, s)
}

// withoutEnd cuts off what belongs to the sentence around a name: its punctuation, and
// brackets that the name does not open.
func withoutEnd(name string) string {
	opened := map[rune]int{}
	for _, r := range name {
		opened[r]++
	}
	for name != "" {
		r, size := utf8.DecodeLastRuneInString(name)
		switch {
		case closes[r] != 0 && opened[r] <= opened[closes[r]]:
			return name
		case closes[r] == 0 && r < utf8.RuneSelf && !strings.ContainsRune(".,;:!?'\"`*/|", r):
			return name
		case r >= utf8.RuneSelf && !unicode.IsPunct(r):
			return name
		}
		opened[r]--
		name = name[:len(name)-size]
	}
	return name
}

var closes = map[rune]rune{')': '(', ']': '[', '}': '{', '>': '<'}

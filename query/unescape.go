package query

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape returns text[start:end] without its backslashes. A backslash stands
// for the character after it, whichever that is, except that \u00e9 is é.
func (p *parser) unescape(start, end int) (string, *SyntaxError) {
	s := p.text[start:end]
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b = append(b, s[i])
			i++
			continue
		}
		if i+1 == len(s) {
			return "", &SyntaxError{start + i, "a backslash has to stand before another character"}
		}
		if s[i+1] != 'u' {
			_, n := utf8.DecodeRuneInString(s[i+1:])
			b = append(b, s[i+1:i+1+n]...)
			i += 1 + n
			continue
		}
		r, n := codepoint(s[i:])
		if n == 0 {
			return "", &SyntaxError{start + i, `four hexadecimal digits have to follow \u`}
		}
		b = utf8.AppendRune(b, r)
		i += n
	}
	return string(b), nil
}

// codepoint reads \u00e9 or the pair \ud83d\ude00. Half of a pair is U+FFFD,
// which is what Lucene searches for then.
func codepoint(s string) (r rune, n int) {
	u, ok := unit(s)
	if !ok {
		return 0, 0
	}
	if low, ok := unit(s[6:]); ok && utf16.IsSurrogate(u) {
		if r := utf16.DecodeRune(u, low); r != utf8.RuneError {
			return r, 12
		}
	}
	return u, 6 // AppendRune writes U+FFFD for half a pair
}

func unit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' || !consistsOf(s[2:6], "0123456789abcdefABCDEF") {
		return 0, false
	}
	u, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(u), err == nil
}

// patternText returns a wildcard pattern with only \*, \? and \\ escaped. Unlike
// elsewhere, \u is just a u there.
func patternText(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			if strings.IndexByte(`*?\`, s[i]) >= 0 {
				b = append(b, '\\')
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

package transport

import (
	"html"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A plainText is a text in the one form that all its spellings share: escapes of
// addresses, pages and JSON undone, whatever their number and order, in small letters,
// without backslashes, and with blanks for plus signs. Different texts may have the
// same one, which matters little to who looks for a secret.
type plainText struct {
	bytes []byte
	from  []origin
	whole int // length of the original
}

// An origin is where the spelling of a byte begins in the original, and with how many
// backslashes.
type origin struct{ at, slashes int32 }

// plain takes time and memory in proportion to the text: undoing an escape leaves less
// to look at.
func plain(text string) *plainText {
	p := &plainText{bytes: make([]byte, 0, len(text)), from: make([]origin, 0, len(text)), whole: len(text)}
	for i := range len(text) {
		p.bytes, p.from = append(p.bytes, text[i]), append(p.from, origin{at: int32(i)})
		p.slash()
		for p.unescape() {
			p.slash() // and what comes out may be the end of another escape
		}
	}
	p.fold()
	return p
}

// slash makes one of a backslash and the byte behind it: \" and \/ are a quote and a
// slash, and only \x and \u mean more.
func (p *plainText) slash() {
	n := len(p.bytes)
	if n < 2 || p.bytes[n-2] != '\\' {
		return
	}
	p.bytes, p.from = append(p.bytes[:n-2], p.bytes[n-1]), p.from[:n-1]
	p.from[n-2].slashes++
}

// unescape undoes an escape at the end of what was read so far.
func (p *plainText) unescape() bool {
	n := len(p.bytes)
	last := p.bytes[n-1]
	switch {
	case last == ';':
		return p.entity()
	case !isHex(last):
		return false
	case n >= 3 && p.bytes[n-3] == '%':
		return p.hexByte(p.from[n-3].slashes)
	case p.slashed('x', n-3):
		return p.hexByte(p.from[n-3].slashes - 1)
	case p.slashed('u', n-5):
		return p.utf16()
	}
	return false
}

func isHex(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

func (p *plainText) slashed(letter byte, i int) bool {
	return i >= 0 && p.bytes[i] == letter && p.from[i].slashes > 0
}

// replace puts what an escape stands for in its place, from a byte to the end.
// Backslashes before a whole escape are before that.
func (p *plainText) replace(i int, slashes int32, with ...byte) bool {
	o := origin{p.from[i].at, slashes}
	p.bytes, p.from = append(p.bytes[:i], with...), p.from[:i]
	for range with {
		p.from = append(p.from, o)
	}
	return true
}

// hexByte reads %2F or \x2f.
func (p *plainText) hexByte(slashes int32) bool {
	i := len(p.bytes) - len("x2f")
	v, ok := p.hex(i + 1)
	return ok && p.replace(i, slashes, byte(v))
}

// utf16 reads \u00fc, or the second half of \ud83d\ude00.
func (p *plainText) utf16() bool {
	const size = len("u00fc")
	i := len(p.bytes) - size
	r, ok := p.hex(i + 1)
	if ok && utf16.IsSurrogate(r) {
		if i -= size; !p.slashed('u', i) {
			return false
		}
		first, _ := strconv.ParseUint(string(p.bytes[i+1:i+size]), 16, 16)
		r = utf16.DecodeRune(rune(first), r)
		ok = r != unicode.ReplacementChar
	}
	return ok && p.replace(i, p.from[i].slashes-1, utf8.AppendRune(nil, r)...)
}

// hex reads digits up to the end.
func (p *plainText) hex(i int) (rune, bool) {
	v, err := strconv.ParseUint(string(p.bytes[i:]), 16, 16)
	return rune(v), err == nil
}

// longestEntity is how long a character of HTML may be, as it is written.
const longestEntity = 34

// entity reads &quot; or &#x27;.
func (p *plainText) entity() bool {
	for i := len(p.bytes) - len("lt;"); i >= max(0, len(p.bytes)-longestEntity); i-- {
		if p.bytes[i] != '&' {
			continue
		}
		// HTML also knows names without the semicolon, which leave it and more.
		text := html.UnescapeString(string(p.bytes[i:]))
		return len(text) < len(p.bytes)-i && utf8.RuneCountInString(text) <= 2 && p.replace(i, p.from[i].slashes, []byte(text)...)
	}
	return false
}

// fold makes small letters, and blanks of plus signs, and drops a backslash at the end.
func (p *plainText) fold() {
	bytes, from := p.bytes[:0], p.from[:0]
	for i := 0; i < len(p.bytes); {
		r, size := utf8.DecodeRune(p.bytes[i:])
		letter, o := p.bytes[i:i+size], p.from[i]
		if r != utf8.RuneError {
			letter = folded(r, letter)
		}
		if r != '\\' {
			bytes = append(bytes, letter...)
		}
		for len(from) < len(bytes) {
			from = append(from, o)
		}
		i += size
	}
	p.bytes, p.from = bytes, from
}

// folded writes a letter into the place of its capital, if it has room there.
func folded(r rune, place []byte) []byte {
	if r == '+' {
		r = ' '
	}
	if low := unicode.ToLower(unicode.ToUpper(r)); utf8.RuneLen(low) <= len(place) {
		r = low
	}
	return utf8.AppendRune(place[:0], r)
}

// original is the part of the original that stands for bytes of the plain text.
func (p *plainText) original(start, end int) span {
	s := span{int(p.from[start].at), p.whole}
	if end < len(p.from) {
		s.end = int(p.from[end].at)
	}
	return s
}

type span struct{ start, end int }

// without returns a text without some of its parts.
func without(text string, parts []span) string {
	if len(parts) == 0 {
		return text
	}
	slices.SortFunc(parts, func(a, b span) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, part := range parts {
		if part.start >= at {
			out = append(append(out, text[at:part.start]...), "REDACTED"...)
		}
		at = max(at, part.end)
	}
	return string(append(out, text[at:]...))
}

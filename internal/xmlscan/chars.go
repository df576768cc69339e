package xmlscan

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// blanks are the characters XML counts as white space.
const blanks = " \t\r\n"

func IsBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func Trim(s string) string { return strings.Trim(s, blanks) }

// IsChar reports whether XML may contain r (XML 1.0, production 2).
func IsChar(r rune) bool {
	switch {
	case r < ' ':
		return r == '\t' || r == '\n' || r == '\r'
	case r < 0xD800:
		return true
	}
	return r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= utf8.MaxRune
}

// BadChar returns the offset of the first character of s that XML cannot contain, -1 if
// there is none.
func BadChar(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && !IsBlank(c) {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || !IsChar(r) {
			return i
		}
		i += size
	}
	return -1
}

// nameStart holds the ranges beyond ASCII that a name may start with (XML 1.0,
// production 4).
var nameStart = [][2]rune{
	{0xC0, 0xD6}, {0xD8, 0xF6}, {0xF8, 0x2FF}, {0x370, 0x37D}, {0x37F, 0x1FFF}, {0x200C, 0x200D},
	{0x2070, 0x218F}, {0x2C00, 0x2FEF}, {0x3001, 0xD7FF}, {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF},
}

func isNameStart(r rune) bool {
	if r < utf8.RuneSelf {
		return r|0x20 >= 'a' && r|0x20 <= 'z' || r == '_' || r == ':'
	}
	for _, span := range nameStart {
		if r >= span[0] && r <= span[1] {
			return true
		}
	}
	return false
}

func isNameChar(r rune) bool {
	return isNameStart(r) || r >= '0' && r <= '9' || r == '-' || r == '.' || r == 0xB7 ||
		r >= 0x300 && r <= 0x36F || r >= 0x203F && r <= 0x2040
}

// NameLen returns the length of the XML name that s starts with, 0 if none.
func NameLen(s string) int {
	for i, r := range s {
		if r|0x20 >= 'a' && r|0x20 <= 'z' {
			continue // as most are
		}
		if !isNameChar(r) || i == 0 && !isNameStart(r) {
			return i
		}
	}
	return len(s)
}

// Newlines turns CR LF and CR into LF, as XML requires of every reader.
func Newlines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// attributeBlanks turns white space into spaces, as XML requires in attributes.
var attributeBlanks = strings.NewReplacer("\t", " ", "\n", " ")

// unescape resolves the references in raw, which begins at s.pos.
func (s *Scanner) unescape(raw string, inAttribute bool) string {
	amp := strings.IndexByte(raw, '&')
	if amp < 0 {
		return plain(raw, inAttribute)
	}
	var b strings.Builder
	b.Grow(len(raw))
	done := 0
	for amp >= 0 {
		amp += done
		b.WriteString(plain(raw[done:amp], inAttribute))
		end := strings.IndexByte(raw[amp:], ';')
		if end < 0 {
			s.Fail(s.pos+amp, `"&" must start a reference such as &amp;`)
			return ""
		}
		r, ok := reference(raw[amp+1 : amp+end])
		if !ok {
			s.Fail(s.pos+amp, "the reference %.20s is not allowed", raw[amp:amp+end+1])
			return ""
		}
		b.WriteRune(r)
		done = amp + end + 1
		amp = strings.IndexByte(raw[done:], '&')
	}
	b.WriteString(plain(raw[done:], inAttribute))
	return b.String()
}

func plain(raw string, inAttribute bool) string {
	raw = Newlines(raw)
	if inAttribute && strings.ContainsAny(raw, "\t\n") {
		return attributeBlanks.Replace(raw)
	}
	return raw
}

// reference returns the character that a reference stands for. Only the five
// names of XML itself exist, since others need a document type.
func reference(name string) (rune, bool) {
	switch name {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	digits, base := strings.TrimPrefix(name, "#"), 10
	if digits == name {
		return 0, false
	}
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune {
		return 0, false
	}
	return rune(n), IsChar(rune(n))
}

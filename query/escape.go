package query

import "strings"

// special marks the characters that have a meaning somewhere in the grammar
// outside quotes, as far as they are ASCII.
var special = func() (t [256]bool) {
	for _, c := range "\\+-!():^[]\"{}~*?&| \t\n\r" {
		t[c] = true
	}
	return t
}()

const wideSpace = "\u3000" // also separates words

// plainBytes marks the bytes that never need an escape outside quotes.
var plainBytes = func() (t [256]bool) {
	for c := range t {
		t[c] = !special[c] && !pivots[c] && c != '/' && byte(c) != wideSpace[0]
	}
	return t
}()

// isPlain reports whether a value can stand as it is: ASCII letters and
// digits, no operator, nothing that the service renames.
func isPlain(s string) bool {
	for i := range len(s) {
		if !isASCIILetterOrDigit(s[i]) || aValue.hides(s, i) {
			return false
		}
	}
	return s != "" && !isOperator(s)
}

func isASCIILetterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isOperator(s string) bool { return s == "AND" || s == "OR" || s == "NOT" || s == "TO" }

// A role tells values from names of fields: the service has to rename an attribute at the
// beginning of a name, and must not rename anything else.
type role bool

const (
	aValue role = false
	aName  role = true
)

// hides reports whether s[i] needs a backslash to keep the service from renaming a part
// of s.
func (r role) hides(s string, i int) bool { return pivots[s[i]] && r.hidesPivot(s, i) }

func (r role) hidesPivot(s string, i int) bool {
	start, end, ok := renamed(s, i)
	if !ok || r == aValue {
		return ok
	}
	return start > 0 || s[i] == ':' || s[i] != '.' && end < len(s) && s[end] != '.'
}

// appendWord writes a literal text without quotes.
func (r role) appendWord(b []byte, s string) []byte {
	if isOperator(s) {
		b = append(b, '\\')
	}
	done := 0
	for i := range len(s) {
		switch {
		case plainBytes[s[i]]:
		case s[i] == '/': // the service breaks \/, Lucene a bare slash
			b = append(append(b, s[done:i]...), `\u002f`...)
			done = i + 1
		case r.escapes(s, i):
			b = append(append(b, s[done:i]...), '\\')
			done = i
		}
	}
	return append(b, s[done:]...)
}

// escapes reports whether the character at s[i] needs a backslash outside
// quotes.
func (r role) escapes(s string, i int) bool {
	return special[s[i]] || strings.HasPrefix(s[i:], wideSpace) || r.hides(s, i)
}

// appendPattern writes a pattern in which \*, \? and \\ are literal. A slash is written
// for Lucene: no form of it in a pattern is right on both kinds of server.
func (r role) appendPattern(b []byte, s string) []byte {
	escaped := false
	for i := range len(s) {
		switch c := s[i]; {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c != '*' && c != '?' && (c == '/' || r.escapes(s, i)):
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return b
}

// appendQuoted writes what stands between quotes.
func (r role) appendQuoted(b []byte, s string) []byte {
	done := 0
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' || r.hides(s, i) {
			b = append(append(b, s[done:i]...), '\\')
			done = i
		}
	}
	return append(b, s[done:]...)
}

// appendBound writes one end of a range. A backslash before the closing quote would
// escape it, so no escape here ends in a quote or a backslash.
func appendBound(b []byte, s string) []byte {
	switch {
	case s == "":
		return append(b, '*')
	case isBareBound(s):
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		switch {
		case s[i] == '\\':
			b = append(b, `\u005c`...)
		case s[i] == '"':
			b = append(b, `\u0022`...)
		case aValue.hides(s, i):
			b = append(b, '\\', s[i])
		default:
			b = append(b, s[i])
		}
	}
	return append(b, '"')
}

func isBareBound(s string) bool {
	for i := range len(s) {
		if !isASCIILetterOrDigit(s[i]) && !strings.Contains(".:+-", s[i:i+1]) || aValue.hides(s, i) {
			return false
		}
	}
	return true
}

// appendField writes the name of a field and the colon after it.
func appendField(b []byte, f Field) []byte {
	if f == "" {
		return b
	}
	if f == "*" {
		return append(b, "*:"...)
	}
	b = aName.appendWord(b, string(f))
	if f != FieldVersion && strings.HasSuffix(string(f), "version") {
		b = append(b[:len(b)-1], `\n`...) // the colon would make it version:
	}
	return append(b, ':')
}

package query

import (
	"strings"
	"unicode/utf8"
)

// Outside quotes all of these have a meaning somewhere in the grammar.
const special = "\\+-!():^[]\"{}~*?&| \t\n\r\u3000"

// isPlain reports whether a value can stand as it is: ASCII letters and
// digits, no operator, nothing that the service renames.
func isPlain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !isASCIILetterOrDigit(c) {
			return false
		}
		if _, _, ok := renamed(s, i); ok {
			return false
		}
	}
	return s != "" && !isOperator(s)
}

func isASCIILetterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isOperator(s string) bool { return s == "AND" || s == "OR" || s == "NOT" || s == "TO" }

// appendWord writes a literal text without quotes.
func appendWord(b []byte, s string) []byte {
	if isOperator(s) {
		b = append(b, '\\')
	}
	for i, r := range s {
		if r == '/' {
			b = append(b, `\u002f`...) // the service breaks \/, Lucene a bare slash
			continue
		}
		b = appendEscaped(b, s, i, r)
	}
	return b
}

// appendPattern writes a pattern in which \*, \? and \\ are literal. A slash
// is written for Lucene: in a pattern no form of it is right on both kinds of
// server, and \u002f would stand for itself.
func appendPattern(b []byte, s string) []byte {
	escaped := false
	for i, r := range s {
		switch {
		case escaped || r == '*' || r == '?':
			b, escaped = append(b, byte(r)), false
		case r == '\\':
			b, escaped = append(b, '\\'), true
		case r == '/':
			b = append(b, `\/`...)
		default:
			b = appendEscaped(b, s, i, r)
		}
	}
	return b
}

// appendEscaped writes s[i:], whose first character is r, up to the next one.
func appendEscaped(b []byte, s string, i int, r rune) []byte {
	if _, _, hidden := renamed(s, i); hidden || strings.ContainsRune(special, r) {
		b = append(b, '\\')
	}
	return utf8.AppendRune(b, r)
}

// appendQuoted writes what stands between quotes.
func appendQuoted(b []byte, s string) []byte {
	done := 0
	for i := range len(s) {
		_, _, hidden := renamed(s, i)
		if hidden || s[i] == '"' || s[i] == '\\' {
			b = append(append(b, s[done:i]...), '\\')
			done = i
		}
	}
	return append(b, s[done:]...)
}

// appendBound writes one end of a range. A backslash before the closing quote
// would swallow it, so no escape here ends in a quote or a backslash.
func appendBound(b []byte, s string) []byte {
	switch {
	case s == "":
		return append(b, '*')
	case isBareBound(s):
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		_, _, hidden := renamed(s, i)
		switch {
		case hidden:
			b = append(b, '\\', s[i])
		case s[i] == '\\':
			b = append(b, `\u005c`...)
		case s[i] == '"':
			b = append(b, `\u0022`...)
		default:
			b = append(b, s[i])
		}
	}
	return append(b, '"')
}

func isBareBound(s string) bool {
	for i := range len(s) {
		if !isASCIILetterOrDigit(s[i]) && !strings.Contains(".:+-", s[i:i+1]) {
			return false
		}
		if _, _, hidden := renamed(s, i); hidden {
			return false
		}
	}
	return true
}

// appendField writes the name of a field. The service must rename an attribute
// of the record at the beginning of it, and nothing else.
func appendField(b []byte, f Field) []byte {
	if _, known := kinds[f]; known {
		return append(b, f...)
	}
	s := string(f)
	if s == "*" {
		return append(b, '*')
	}
	if isOperator(s) {
		b = append(b, '\\')
	}
	for i, r := range s {
		start, end, hit := renamed(s, i)
		if hit && start == 0 && r != ':' && (end == len(s) || s[end] == '.' || r == '.') {
			b = utf8.AppendRune(b, r)
			continue
		}
		if i == len(s)-1 && strings.HasSuffix(s[:i], "versio") && i > len("versio") && r == 'n' {
			b = append(b, '\\')
		}
		if r == '/' {
			b = append(b, `\u002f`...)
			continue
		}
		b = appendEscaped(b, s, i, r)
	}
	return b
}

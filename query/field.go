package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Field is the name of a field, such as titles.title: names of the JSON record, joined by
// dots (specification §2.2, §4.2.1(1)). Any name can be used, with or without a constant
// here; a * in it stands for any characters. The empty Field means the default fields.
//
// [Check] refuses [Field.Like] and [Field.StartsWith] for fields with
// years, dates and counts, which the service cannot search in these ways.
type Field string

const existsField Field = "_exists_"

// Is looks for a value: field:value. The value is always literal, and quoted where it has
// to be. In a text field the words of the value stand side by side somewhere in the text;
// in other fields the value is the whole content.
func (f Field) Is(value string) Expr { return fromNode(f.value(value)) }

// value needs no check but of the encoding: every text can be written.
func (f Field) value(text string) *node {
	n := &node{Kind: kindPhrase, Field: string(f), Text: text}
	switch {
	case isPlain(text):
		n.Kind = kindTerm
	case !utf8.ValidString(text):
		return invalid(f, notUTF8(text))
	case f.isAnalysed() && hasParts(text):
		n.Slop = &exact
	}
	return n
}

var exact = 0

// hasParts reports whether analysis may make several words of text.
func hasParts(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		if r < utf8.RuneSelf {
			return !isASCIILetterOrDigit(byte(r))
		}
		return !unicode.IsDigit(r) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
	})
}

// Near looks for the words of text near each other: field:"text"~slop. slop is the number
// of moves, each of one word by one place, that may be needed to get the exact phrase; 0
// means the exact phrase.
func (f Field) Near(text string, slop int) Expr {
	n := node{Kind: kindPhrase, Field: string(f), Text: text}
	if slop != 0 || f.isAnalysed() && hasParts(text) {
		n.Slop = &slop
	}
	return leaf(n)
}

// Like looks for words that match the pattern: * stands for any characters or
// none, ? for exactly one. Everything else is literal, and so are \*, \? and
// \\ (specification §4.2.1(3)). A pattern matches a whole word of a text, or the
// whole value of another field.
//
// [Check] refuses a pattern with a slash unless its only wildcard is a * at the end: the
// specification and the deployed service read other patterns differently. Use ? in place of
// the slash.
func (f Field) Like(pattern string) Expr {
	switch _, literal, shape := readPattern(pattern); {
	case shape == noWildcard:
		return f.Is(literal)
	case shape == otherWildcards && strings.Contains(pattern, "/"):
		return fromNode(invalid(f, quoteText(pattern)+slashInPattern))
	}
	return leaf(node{Kind: kindWildcard, Field: string(f), Text: pattern})
}

const slashInPattern = ": a slash cannot be written in a pattern such as a*/b; put ? in its place"

// A shape says where the wildcards of a pattern are.
type shape uint8

const (
	noWildcard shape = iota
	starAtEnd        // one *, at the end
	otherWildcards
)

// readPattern returns the pattern with only \*, \? and \\ escaped, and its
// literal text up to a star at the end.
func readPattern(pattern string) (text, literal string, s shape) {
	var t, l strings.Builder
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\':
			if i+1 < len(pattern) && strings.IndexByte(`*?\`, pattern[i+1]) >= 0 {
				i++
			}
			t.WriteByte('\\')
		case c == '*' && s == noWildcard && i == len(pattern)-1:
			t.WriteByte(c)
			return t.String(), l.String(), starAtEnd
		case c == '*' || c == '?':
			s = otherWildcards
		}
		t.WriteByte(pattern[i])
		l.WriteByte(pattern[i])
	}
	return t.String(), l.String(), s
}

// StartsWith looks for words that begin with the literal prefix: field:prefix*.
func (f Field) StartsWith(prefix string) Expr {
	if prefix == "" {
		return f.Exists()
	}
	return leaf(node{Kind: kindPrefix, Field: string(f), Text: prefix})
}

// Exists looks for records that have any value in the field: field:*
// (specification §4.2.1(3)).
func (f Field) Exists() Expr { return leaf(node{Kind: kindExists, Field: string(f)}) }

// Between looks for values from low to high, both included; "" leaves that side open:
// field:[low TO high]. A date may be a year or a month, which then counts as a whole: 2015
// as the high bound includes December. A literal * cannot be a bound.
func (f Field) Between(low, high string) Expr {
	return leaf(node{Kind: kindRange, Field: string(f), Range: &bounds{Low: low, High: high}})
}

// In looks for any of the values: field:(a OR b). It needs at least one.
func (f Field) In(values ...string) Expr {
	if len(values) == 0 {
		return fromNode(invalid(f, "In needs at least one value"))
	}
	clauses := make([]clause, len(values))
	for i, v := range values {
		clauses[i].Node = f.value(v)
		clauses[i].Node.Field = "" // it is before the brackets
	}
	return fromNode(f.match(list(clauses, joinOr)))
}

// Match looks for expr in the field: field:(a AND b). Parts of expr with a field of their
// own keep it.
func (f Field) Match(expr Expr) Expr { return fromNode(f.match(operand(expr))) }

func (f Field) match(n *node) *node {
	if f == "" || n.Field != "" || n.Kind == kindInvalid {
		return n
	}
	inside := *n
	searchIn(&inside, string(f))
	return &inside
}

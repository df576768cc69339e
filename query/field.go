package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Field is the name of a field, such as titles.title: the names of the JSON
// record, joined by dots (specification §2.2, §4.2.1(1)). Any name may be used,
// also one without a constant here; a * in it stands for any characters. The
// empty Field stands for the default fields.
//
// What a field holds decides what it can be asked for: a year, a date and a
// count have no [Field.Like], [Field.StartsWith] and [Field.Fuzzy]. [Check]
// says so before the service does.
type Field string

const existsField Field = "_exists_"

// Is looks for a value: field:value. The value is literal, whatever it holds,
// and quoted where it has to be. In a text field the words of the value stand
// side by side somewhere in the text; elsewhere it is the whole value.
func (f Field) Is(value string) Expr { return fromNode(f.value(value)) }

// value needs no check beyond that of the text: every text has a form.
func (f Field) value(text string) Node {
	switch {
	case isPlain(text):
		return Node{Kind: KindTerm, Field: f, Text: text}
	case !utf8.ValidString(text):
		return f.invalid(notUTF8(text))
	case f.isAnalysed() && hasParts(text):
		return Node{Kind: KindPhrase, Field: f, Text: text, Slop: &exact}
	}
	return Node{Kind: KindPhrase, Field: f, Text: text}
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

// Near looks for the words of text, at most slop moves apart from standing
// side by side and in order: field:"text"~slop. With slop 0 they stand exactly
// so.
func (f Field) Near(text string, slop int) Expr {
	n := Node{Kind: KindPhrase, Field: f, Text: text}
	if slop != 0 || f.isAnalysed() && hasParts(text) {
		n.Slop = &slop
	}
	return n.Expr()
}

// Like looks for words that fit the pattern: * stands for any characters or
// none, ? for exactly one. Everything else is literal, and so are \*, \? and
// \\ (specification §4.2.1(3)). A pattern fits a whole word of a text, or the
// whole value of another field.
//
// A slash can be written right for the specification and for the deployed
// service in a pattern whose only wildcard is a * at the end. In others it is
// refused; a ? in its place matches it.
func (f Field) Like(pattern string) Expr {
	switch _, literal, shape := readPattern(pattern); {
	case shape == noWildcard:
		return f.Is(literal)
	case shape == otherWildcards && strings.Contains(pattern, "/"):
		return fromNode(f.invalid(quoteText(pattern) + slashInPattern))
	}
	return Node{Kind: KindWildcard, Field: f, Text: pattern}.Expr()
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
	return Node{Kind: KindPrefix, Field: f, Text: prefix}.Expr()
}

// Fuzzy looks for words that differ from word in at most edits characters, 0
// to 2: field:word~1.
func (f Field) Fuzzy(word string, edits int) Expr {
	if edits < 0 || edits > 2 {
		return fromNode(f.invalid(fmt.Sprintf("%d edits: a fuzzy search allows 0, 1 or 2", edits)))
	}
	return Node{Kind: KindFuzzy, Field: f, Text: word, Edits: float32(edits)}.Expr()
}

// Exists looks for records that have any value in the field: field:*
// (specification §4.2.1(3)).
func (f Field) Exists() Expr { return Node{Kind: KindExists, Field: f}.Expr() }

// Between looks for values from low to high, both included; "" leaves that
// side open: field:[low TO high]. Dates may leave out their end and then mean
// all of it: 2015 as the high bound includes December. A literal * as a bound
// cannot be written.
func (f Field) Between(low, high string) Expr { return f.Within(Range{Low: low, High: high}) }

// Within looks for values in a range whose bounds may be excluded:
// field:{low TO high]. See [Field.Between].
func (f Field) Within(r Range) Expr {
	if fault := r.fault(); fault != "" {
		return fromNode(f.invalid(fault))
	}
	return fromNode(Node{Kind: KindRange, Field: f, Range: &r})
}

// In looks for any of the values: field:(a OR b). It needs at least one.
func (f Field) In(values ...string) Expr {
	if len(values) == 0 {
		return fromNode(f.invalid("In needs at least one value"))
	}
	clauses := make([]Clause, len(values))
	for i, v := range values {
		n := f.value(v)
		n.Field = "" // the brackets have it
		clauses[i].Expr = fromNode(n)
	}
	return f.Match(list(clauses, JoinOr))
}

// Match looks for expr in the field: field:(a AND b). Parts of expr that name
// a field keep theirs.
func (f Field) Match(expr Expr) Expr {
	expr = operand(expr)
	n := *expr.tree()
	if f == "" || n.Field != "" || n.Kind == KindInvalid {
		return expr
	}
	n.searchIn(f)
	return fromNode(n)
}

// invalid is the node of an expression that has no text; Check reports why.
func (f Field) invalid(reason string) Node {
	return Node{Kind: KindInvalid, Field: f, Text: reason}
}

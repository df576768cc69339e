package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// A SyntaxError says where and why a text is not a query.
type SyntaxError struct {
	Offset int // in bytes, from 0
	Reason string
}

// Error returns the offset and the reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("query: at offset %d: %s", e.Offset, e.Reason)
}

// Unwrap returns the fault as a [*datacite.ValidationError].
func (e *SyntaxError) Unwrap() error {
	return datacite.Invalidf("query", datacite.CodeSyntax, "at offset %d: %s", e.Offset, e.Reason)
}

const (
	maxDepth   = 200  // nested brackets
	maxClauses = 1024 // in one list; the service refuses more
)

// Parse reads a query as people type it (specification §4.2.1). The error is a
// [*SyntaxError], and with it a [*datacite.ValidationError].
//
// The structure is kept. Words side by side stay so: they are optional as specified and
// required on the deployed service; [Explicit] gives them the same meaning on both. AND and
// OR have no precedence over each other, and Parse adds none; [Advise] points out lists
// that mix them.
//
// String of the result may differ from text in blanks, brackets and escapes, but means the
// same. A result of Parse can safely be restricted: in And(mine, theirs), theirs cannot
// change the meaning of mine if [Check] accepts the whole.
//
// The grammar is that of the service's parser, except that Parse refuses some texts on
// purpose:
//
//   - after ~, anything but a plain number such as 2 or .5, or AUTO after a word. The
//     service refuses other text after a word and ignores it elsewhere, and takes
//     Java's other spellings of numbers, such as 2f and NaN.
//   - after the ~ of a word, a fraction above 1, which the service cuts off
//   - more than 1,024 clauses in one list, and more than 200 nested brackets
//   - text that is not valid UTF-8
func Parse(text string) (Expr, error) {
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	return fromNode(n), nil
}

func parse(text string) (*node, *SyntaxError) {
	if !utf8.ValidString(text) {
		return nil, &SyntaxError{invalidOffset(text), "the text is not valid UTF-8"}
	}
	p := parser{text: text, toks: tokens(text)}
	n, err := p.list()
	if err == nil && p.tok().kind != tokEnd {
		err = p.unexpected()
	}
	return n, err
}

func invalidOffset(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return i
		}
	}
	return len(text)
}

type parser struct {
	text  string
	toks  []token
	i     int
	depth int
}

func (p *parser) tok() token           { return p.toks[p.i] }
func (p *parser) image(t token) string { return p.text[t.start:t.end] }

// accept steps over the next token if it is of that kind.
func (p *parser) accept(kind tokenKind) (token, bool) {
	t := p.tok()
	if t.kind != kind {
		return t, false
	}
	p.i++
	return t, true
}

// list reads clauses up to a closing bracket or the end.
func (p *parser) list() (*node, *SyntaxError) {
	var clauses []clause
	var bracketed []bool
	join := noJoin
	for {
		sign := p.sign()
		open := p.tok().kind == tokOpen
		n, err := p.clause()
		if err != nil {
			return nil, err
		}
		clauses = append(clauses, clause{Join: join, Sign: sign, Node: n})
		bracketed = append(bracketed, open)
		if len(clauses) > maxClauses {
			return nil, &SyntaxError{p.tok().start, fmt.Sprintf("more than %d clauses in one list", maxClauses)}
		}
		if k := p.tok().kind; k == tokEnd || k == tokClose {
			break
		}
		join = p.join()
	}
	if len(clauses) == 1 && clauses[0].Sign == noSign {
		return clauses[0].Node, nil
	}
	keepBrackets(clauses, bracketed)
	return group(clauses...), nil
}

// keepBrackets keeps the brackets round a word that has neighbours without
// operator: the service hands such neighbours to analysis as one text.
func keepBrackets(clauses []clause, bracketed []bool) {
	for i, c := range clauses {
		before := i > 0 && c.Join == noJoin
		after := i+1 < len(clauses) && clauses[i+1].Join == noJoin
		if bracketed[i] && c.Sign == noSign && (before || after) && c.Node.isWord() {
			clauses[i].Node = group(clause{Node: c.Node})
		}
	}
}

func (p *parser) sign() sign {
	switch p.tok().kind {
	case tokPlus:
		p.i++
		return signMust
	case tokMinus, tokNot:
		p.i++
		return signMustNot
	}
	return noSign
}

func (p *parser) join() join {
	switch p.tok().kind {
	case tokAnd:
		p.i++
		return joinAnd
	case tokOr:
		p.i++
		return joinOr
	}
	return noJoin
}

// clause reads one leaf or one pair of brackets, with the field before it.
func (p *parser) clause() (*node, *SyntaxError) {
	field, err := p.field()
	if err != nil {
		return nil, err
	}
	read := p.leaf
	if p.tok().kind == tokOpen {
		read = p.brackets
	}
	n, err := read()
	if err != nil {
		return nil, err
	}
	if field != "" && n.Field == "" {
		searchIn(n, field)
	}
	return n, nil
}

func (p *parser) field() (string, *SyntaxError) {
	t := p.tok()
	if t.kind != tokTerm && t.kind != tokStar || p.toks[p.i+1].kind != tokColon {
		return "", nil
	}
	p.i += 2
	return p.unescape(t.start, t.end)
}

func (p *parser) brackets() (*node, *SyntaxError) {
	open := p.tok()
	if p.depth == maxDepth {
		return nil, &SyntaxError{open.start, fmt.Sprintf("more than %d nested brackets", maxDepth)}
	}
	p.i++
	p.depth++
	n, err := p.list()
	if err != nil {
		return nil, err
	}
	p.depth--
	if _, ok := p.accept(tokClose); !ok {
		return nil, &SyntaxError{open.start, "this bracket is not closed"}
	}
	boost, err := p.boost()
	if boost == nil || err != nil {
		return n, err
	}
	if n.Boost != nil {
		n = group(clause{Node: n})
	}
	n.Boost = boost
	return n, nil
}

func (p *parser) leaf() (*node, *SyntaxError) {
	t := p.tok()
	n := &node{}
	var err *SyntaxError
	switch t.kind {
	case tokTerm:
		n.Kind = kindTerm
		n.Text, err = p.unescape(t.start, t.end)
	case tokBareOperator:
		n.Kind, n.Text = kindTerm, p.image(t)
	case tokStar:
		n.Kind = kindExists
	case tokPrefix:
		n.Kind = kindPrefix
		n.Text, err = p.unescape(t.start, t.end-1)
	case tokWildcard:
		n.Kind = kindWildcard
		_, err = p.unescape(t.start, t.end)
		n.Text = patternText(p.image(t))
	case tokRegexp:
		n.Kind, n.Text = kindRegexp, p.text[t.start+1:t.end-1]
		_, err = p.unescape(t.start, t.end)
	case tokQuoted:
		n.Kind = kindPhrase
		n.Text, err = p.unescape(t.start+1, t.end-1)
	case tokRangeOpen:
		n.Kind = kindRange
		n.Range, err = p.rng()
	default:
		return nil, p.unexpected()
	}
	if err != nil {
		return nil, err
	}
	if n.Kind != kindRange {
		p.i++
	}
	return n, p.suffixes(n)
}

// suffixes reads ^2~1 or ~1^2.
func (p *parser) suffixes(n *node) (err *SyntaxError) {
	if n.Boost, err = p.boost(); err != nil {
		return err
	}
	if t, ok := p.accept(tokTilde); ok && n.Kind != kindRange {
		if err := p.tilde(n, t); err != nil {
			return err
		}
	} else if ok {
		p.i--
		return p.unexpected()
	}
	if n.Boost == nil {
		n.Boost, err = p.boost()
	}
	return err
}

func (p *parser) boost() (*float32, *SyntaxError) {
	if _, ok := p.accept(tokCaret); !ok {
		return nil, nil
	}
	t, ok := p.accept(tokNumber)
	if !ok {
		return nil, &SyntaxError{t.start, "a number such as 2 or 0.5 has to follow ^ directly"}
	}
	f, err := strconv.ParseFloat(p.image(t), 32)
	if err != nil { // the number has a form that is read
		return nil, &SyntaxError{t.start, "the number after ^ is too large"}
	}
	return new(float32(f)), nil
}

// tilde reads the number after ~: the edits of a word, the slop of a phrase. Patterns
// take one and ignore it.
func (p *parser) tilde(n *node, t token) *SyntaxError {
	digits := p.text[t.start+1 : t.end]
	if n.Kind == kindTerm && strings.EqualFold(digits, "AUTO") {
		digits = ""
	}
	if digits != "" && !decimal().MatchString(digits) {
		return &SyntaxError{t.start, "what follows ~ is not a number such as 2"}
	}
	number, _ := strconv.ParseFloat(digits, 64) // infinite if it is too large
	switch {
	case n.Kind == kindPhrase && digits != "":
		n.Slop = new(int(min(number, math.MaxInt32)))
	case n.Kind == kindTerm && digits == "":
		n.Kind, n.Edits = kindFuzzy, autoEdits
	case n.Kind == kindTerm && number >= 1 && number != math.Trunc(number):
		return &SyntaxError{t.start, "the number after ~ is not a whole number of edits"}
	case n.Kind == kindTerm:
		n.Kind, n.Edits = kindFuzzy, float32(min(number, 2))
	}
	return nil
}

var decimal = lazy.Regexp(`^([0-9]+\.?[0-9]*|\.[0-9]+)$`)

// rng reads [low TO high].
func (p *parser) rng() (*bounds, *SyntaxError) {
	open := p.tok()
	p.i++
	low, err := p.bound()
	if err != nil {
		return nil, err
	}
	if t, ok := p.accept(tokRangeTo); !ok {
		return nil, &SyntaxError{t.start,
			"a range is written [low TO high], with TO in capitals; a bound with blanks needs quotes"}
	}
	high, err := p.bound()
	if err != nil {
		return nil, err
	}
	end, ok := p.accept(tokRangeClose)
	if !ok {
		return nil, &SyntaxError{open.start, "this range is not closed; a bound with blanks needs quotes"}
	}
	return &bounds{Low: low, High: high,
		ExcludeLow: p.text[open.start] == '{', ExcludeHigh: p.text[end.start] == '}'}, nil
}

// bound returns "" for an open bound; no other bound can be empty.
func (p *parser) bound() (string, *SyntaxError) {
	t := p.tok()
	switch t.kind {
	case tokQuotedBound:
		p.i++
		return p.unescape(t.start+1, t.end-1)
	case tokBound, tokRangeTo:
		p.i++
		if p.image(t) == "*" {
			return "", nil
		}
		return p.unescape(t.start, t.end)
	}
	return "", &SyntaxError{t.start, "a range is written [low TO high]; * leaves one side open"}
}

// unexpected explains why the next token cannot stand where it is.
func (p *parser) unexpected() *SyntaxError {
	t := p.tok()
	reason := "the query ends too early"
	switch t.kind {
	case tokBad:
		reason = badReason(p.text[t.start:])
	case tokEnd:
		if p.i == 0 {
			reason = "the query is empty"
		}
	case tokAnd, tokOr:
		reason = p.image(t) + " needs something before it and after it; quote it if it is a word"
	case tokNot, tokPlus, tokMinus:
		reason = p.image(t) + " has to stand directly before a word, a field or a bracket, once"
	case tokClose:
		reason = "this bracket closes nothing, or there is nothing in it"
	case tokColon:
		reason = `a colon has to follow the name of a field; in a value it needs quotes: "a:b"`
	case tokTilde:
		reason = "a ~ has to follow a word or a quoted text"
	case tokCaret:
		reason = "a ^ has to follow a word, a quoted text, a range or a bracket, once"
	}
	return &SyntaxError{t.start, reason}
}

func badReason(rest string) string {
	switch {
	case rest[0] == '"':
		return "this quote is not closed"
	case rest[0] == '/':
		return `a slash begins a regular expression and this one does not end; quote a value with a slash: "10.5438/0012"`
	case rest[0] == '\\':
		return "a backslash has to stand before another character"
	}
	return fmt.Sprintf("%q has no meaning here; quote it", rest[:1])
}

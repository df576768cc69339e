package query

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A SyntaxError says where and why a text is not a query.
type SyntaxError struct {
	Offset int // in bytes, from 0
	Reason string
}

// Error gives the offset and the reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("query: at offset %d: %s", e.Offset, e.Reason)
}

// why returns the reason of an error of Parse.
func why(err error) string {
	e, _ := errors.AsType[*SyntaxError](err)
	return e.Reason
}

const (
	maxDepth   = 200  // brackets in brackets
	maxClauses = 1024 // in one list; more are an error of the service
)

// Parse reads a query as people type it, with the whole grammar of the
// service's own parser (specification §4.2.1). The error is a [*SyntaxError].
//
// What is read keeps its structure: words side by side stay so, and are
// optional on a server as specified and required on the deployed one;
// [Explicit] settles that. AND and OR have no precedence over each other, so
// Parse does not invent one; [Advise] points at lists that mix them.
//
// String of the result may differ from text in blanks, brackets and escapes,
// but means the same. A result of Parse can safely be restricted: in
// And(mine, theirs), theirs cannot reach beyond its place in any query that
// [Check] accepts.
func Parse(text string) (Expr, error) {
	if !utf8.ValidString(text) {
		return nil, &SyntaxError{invalidOffset(text), "the text is not valid UTF-8"}
	}
	p := parser{text: text, toks: tokens(text)}
	e, err := p.list()
	if err != nil {
		return nil, err
	}
	if p.tok().kind != tokEnd {
		return nil, p.unexpected()
	}
	return e, nil
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
func (p *parser) list() (*expr, error) {
	var clauses []Clause
	var bracketed []bool
	join := NoJoin
	for {
		sign := p.sign()
		open := p.tok().kind == tokOpen
		e, err := p.clause()
		if err != nil {
			return nil, err
		}
		clauses = append(clauses, Clause{join, sign, e})
		bracketed = append(bracketed, open)
		if len(clauses) > maxClauses {
			return nil, &SyntaxError{p.tok().start, fmt.Sprintf("more than %d clauses in one list", maxClauses)}
		}
		if k := p.tok().kind; k == tokEnd || k == tokClose {
			break
		}
		join = p.join()
	}
	if len(clauses) == 1 && clauses[0].Sign == NoSign {
		return clauses[0].Expr.(*expr), nil
	}
	keepBrackets(clauses, bracketed)
	return &expr{Node{Kind: KindGroup, Clauses: clauses}}, nil
}

// keepBrackets keeps the brackets round a word that has neighbours without
// operator: the service hands such neighbours to analysis as one text.
func keepBrackets(clauses []Clause, bracketed []bool) {
	for i, c := range clauses {
		before := i > 0 && c.Join == NoJoin
		after := i+1 < len(clauses) && clauses[i+1].Join == NoJoin
		if bracketed[i] && c.Sign == NoSign && (before || after) && isBareWord(c.Expr) {
			clauses[i].Expr = bracket(c.Expr)
		}
	}
}

func (p *parser) sign() Sign {
	switch p.tok().kind {
	case tokPlus:
		p.i++
		return SignMust
	case tokMinus, tokNot:
		p.i++
		return SignMustNot
	}
	return NoSign
}

func (p *parser) join() Join {
	switch p.tok().kind {
	case tokAnd:
		p.i++
		return JoinAnd
	case tokOr:
		p.i++
		return JoinOr
	}
	return NoJoin
}

// clause reads one leaf or one pair of brackets, with the field before it.
func (p *parser) clause() (*expr, error) {
	field, err := p.field()
	if err != nil {
		return nil, err
	}
	var e *expr
	if p.tok().kind == tokOpen {
		e, err = p.brackets()
	} else {
		e, err = p.leaf()
	}
	if err != nil {
		return nil, err
	}
	if field != "" && e.node.Field == "" {
		e.node.searchIn(field)
	}
	return e, nil
}

func (p *parser) field() (Field, error) {
	t := p.tok()
	if t.kind != tokTerm && t.kind != tokStar || p.toks[p.i+1].kind != tokColon {
		return "", nil
	}
	p.i += 2
	name, err := p.unescape(t.start, t.end)
	return Field(name), err
}

func (p *parser) brackets() (*expr, error) {
	open := p.tok()
	if p.depth == maxDepth {
		return nil, &SyntaxError{open.start, fmt.Sprintf("more than %d brackets in one another", maxDepth)}
	}
	p.i++
	p.depth++
	e, err := p.list()
	if err != nil {
		return nil, err
	}
	p.depth--
	if _, ok := p.accept(tokClose); !ok {
		return nil, &SyntaxError{open.start, "this bracket is not closed"}
	}
	boost, err := p.boost()
	if boost == nil || err != nil {
		return e, err
	}
	if e.node.Boost != nil {
		e = bracket(e).(*expr)
	}
	e.node.Boost = boost
	return e, nil
}

func (p *parser) leaf() (*expr, error) {
	t := p.tok()
	e := &expr{}
	n := &e.node
	var err error
	switch t.kind {
	case tokTerm:
		n.Kind = KindTerm
		n.Text, err = p.unescape(t.start, t.end)
	case tokBareOperator:
		n.Kind, n.Text = KindTerm, p.image(t)
	case tokStar:
		n.Kind = KindExists
	case tokPrefix:
		n.Kind = KindPrefix
		n.Text, err = p.unescape(t.start, t.end-1)
	case tokWildcard:
		n.Kind = KindWildcard
		_, err = p.unescape(t.start, t.end)
		n.Text = pattern(p.image(t))
	case tokRegexp:
		n.Kind, n.Text = KindRegexp, p.text[t.start+1:t.end-1]
		_, err = p.unescape(t.start, t.end)
	case tokQuoted:
		n.Kind = KindPhrase
		n.Text, err = p.unescape(t.start+1, t.end-1)
	case tokRangeOpen:
		n.Kind = KindRange
		n.Range, err = p.rng()
	default:
		return nil, p.unexpected()
	}
	if err != nil {
		return nil, err
	}
	if n.Kind != KindRange {
		p.i++
	}
	return e, p.suffixes(n)
}

// suffixes reads ^2~1 or ~1^2.
func (p *parser) suffixes(n *Node) (err error) {
	if n.Boost, err = p.boost(); err != nil {
		return err
	}
	if t, ok := p.accept(tokTilde); ok && n.Kind != KindRange {
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

func (p *parser) boost() (*float32, error) {
	if _, ok := p.accept(tokCaret); !ok {
		return nil, nil
	}
	t, ok := p.accept(tokNumber)
	if !ok {
		return nil, &SyntaxError{t.start, "a number such as 2 or 0.5 has to follow ^ directly"}
	}
	f, err := strconv.ParseFloat(p.image(t), 32)
	if err != nil && math.IsInf(f, 0) {
		return nil, &SyntaxError{t.start, "the number after ^ is too large"}
	}
	return new(float32(f)), nil
}

// tilde reads the number after ~: the edits of a word, the slop of a phrase.
// Patterns take one and ignore it.
func (p *parser) tilde(n *Node, t token) error {
	digits := p.text[t.start+1 : t.end]
	trimmed := strings.TrimRightFunc(digits, func(r rune) bool { return r <= ' ' }) // as Java reads numbers
	switch {
	case decimal.MatchString(digits):
	case digits == "" || word.MatchString(digits) && trimmed != "NaN" && trimmed != "Infinity":
		digits = "" // such as AUTO, or what the service takes for it
	default:
		return &SyntaxError{t.start, "what follows ~ is not a number such as 2"} // though Java may read one
	}
	number, _ := strconv.ParseFloat(digits, 64) // what is too large is infinite
	switch {
	case n.Kind == KindPhrase && digits != "":
		n.Slop = new(int(min(number, math.MaxInt32)))
	case n.Kind == KindTerm && digits == "":
		n.Kind, n.Edits = KindFuzzy, AutoEdits
	case n.Kind == KindTerm && number >= 1 && number != math.Trunc(number):
		return &SyntaxError{t.start, "the number after ~ is not a whole number of edits"}
	case n.Kind == KindTerm:
		n.Kind, n.Edits = KindFuzzy, float32(min(number, 2))
	}
	return nil
}

var (
	decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]*)?$`)
	word    = regexp.MustCompile(`^\pL`)
)

// rng reads [low TO high].
func (p *parser) rng() (*Range, error) {
	open := p.tok()
	p.i++
	low, err := p.bound()
	if err != nil {
		return nil, err
	}
	if t, ok := p.accept(tokRangeTo); !ok {
		return nil, &SyntaxError{t.start, "a range is written [low TO high], with TO in capitals; a bound with blanks needs quotes"}
	}
	high, err := p.bound()
	if err != nil {
		return nil, err
	}
	end, ok := p.accept(tokRangeClose)
	if !ok {
		return nil, &SyntaxError{open.start, "this range is not closed; a bound with blanks needs quotes"}
	}
	return &Range{Low: low, High: high,
		ExcludeLow: p.text[open.start] == '{', ExcludeHigh: p.text[end.start] == '}'}, nil
}

// bound returns "" for an open bound; no other bound can be empty.
func (p *parser) bound() (string, error) {
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
func (p *parser) unexpected() error {
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
	case rest == "":
		return "the query ends too early"
	case rest[0] == '"':
		return "this quote is not closed"
	case rest[0] == '/':
		return `a slash begins a regular expression and this one does not end; quote a value with a slash: "10.5438/0012"`
	case rest[0] == '\\':
		return "a backslash has to stand before another character"
	}
	return fmt.Sprintf("%q has no meaning here; quote it", rest[:1])
}

package search

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What a query may hold. The number of clauses is Lucene's own limit.
const (
	maxClauses = 1024
	maxDepth   = 1000
)

type parser struct {
	text    string
	tokens  []token
	at      int
	opts    Options
	depth   int
	clauses int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) kind(ahead int) tokenKind {
	return p.tokens[min(p.at+ahead, len(p.tokens)-1)].kind
}

// take consumes the next token if it is of that kind.
func (p *parser) take(kind tokenKind) (token, bool) {
	t := p.peek()
	if t.kind != kind {
		return token{}, false
	}
	p.at++
	return t, true
}

func (p *parser) unexpected() error {
	t := p.peek()
	if t.kind == tokenEnd {
		return errors.New("Encountered the end of the query where a clause or a bracket should be")
	}
	return fmt.Errorf("Encountered %q at column %d", t.text, column(p.text, t.at))
}

func (p *parser) query() (node, error) {
	root, err := p.list("")
	if err != nil {
		return nil, err
	}
	if p.kind(0) != tokenEnd {
		return nil, p.unexpected()
	}
	return root, nil
}

// list reads clauses up to a closing bracket or the end. It answers nil when
// no clause has anything to look for.
func (p *parser) list(field string) (node, error) {
	var clauses []clause
	for first := true; first || (p.kind(0) != tokenEnd && p.kind(0) != tokenClose); first = false {
		if text, ok := p.neighbours(); ok {
			n, err := p.word(field, text)
			if err != nil {
				return nil, err
			}
			clauses = appendClause(clauses, must, n)
			continue
		}
		joint := tokenEnd
		if k := p.kind(0); !first && (k == tokenAnd || k == tokenOr) {
			joint = k
			p.at++
		}
		modifier := p.modifier()
		n, err := p.clause(field)
		if err != nil {
			return nil, err
		}
		p.revisePrevious(clauses, joint)
		clauses = appendClause(clauses, p.occurOf(joint, modifier), n)
	}
	return newGroup(clauses), nil
}

// neighbours takes words in a row as one text, which is how the deployed
// service hands them to its fields. A word that begins something else, or that
// an AND or OR follows, is left alone.
func (p *parser) neighbours() (string, bool) {
	if !p.opts.And || p.kind(0) != tokenWord || !p.joins(1) {
		return "", false
	}
	words := []string{p.peek().text}
	for p.at++; p.joins(0); p.at++ {
		words = append(words, p.peek().text)
	}
	return strings.Join(words, " "), true
}

func (p *parser) joins(ahead int) bool {
	if p.kind(ahead) != tokenWord {
		return false
	}
	switch p.kind(ahead + 1) {
	case tokenColon, tokenStar, tokenTilde, tokenBoost, tokenAnd, tokenOr:
		return false
	}
	return true
}

func (p *parser) modifier() tokenKind {
	switch k := p.kind(0); k {
	case tokenPlus, tokenMinus, tokenNot:
		p.at++
		return k
	}
	return tokenEnd
}

// revisePrevious lets AND make the clause before it required. OR makes it
// optional where clauses are required by default.
func (p *parser) revisePrevious(clauses []clause, joint tokenKind) {
	if len(clauses) == 0 || clauses[len(clauses)-1].occur == mustNot {
		return
	}
	switch {
	case joint == tokenAnd:
		clauses[len(clauses)-1].occur = must
	case joint == tokenOr && p.opts.And:
		clauses[len(clauses)-1].occur = should
	}
}

func (p *parser) occurOf(joint, modifier tokenKind) occur {
	switch {
	case modifier == tokenMinus || modifier == tokenNot:
		return mustNot
	case p.opts.And && joint != tokenOr:
		return must
	case p.opts.And:
		return should
	case modifier == tokenPlus || joint == tokenAnd:
		return must
	}
	return should
}

func (p *parser) clause(field string) (node, error) {
	if p.kind(1) == tokenColon {
		switch p.kind(0) {
		case tokenStar:
			field = "*"
			p.at += 2
		case tokenWord:
			name, err := unescape(p.peek().text)
			if err != nil {
				return nil, err
			}
			field = name
			p.at += 2
		}
	}
	if _, ok := p.take(tokenOpen); ok {
		return p.bracket(field)
	}
	return p.leaf(field)
}

func (p *parser) bracket(field string) (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("brackets are nested more than %d deep", maxDepth)
	}
	n, err := p.list(field)
	if err != nil {
		return nil, err
	}
	if _, ok := p.take(tokenClose); !ok {
		return nil, p.unexpected()
	}
	p.depth--
	by, err := p.boost()
	return boosted(n, by), err
}

// boost reads the boost that may stand here; without one it is 1.
func (p *parser) boost() (float64, error) {
	t, ok := p.take(tokenBoost)
	if !ok {
		return 1, nil
	}
	by, err := strconv.ParseFloat(t.text, 32)
	if err != nil {
		return 0, fmt.Errorf("boost must be a positive float, found %q", t.text)
	}
	return by, nil
}

func (p *parser) leaf(field string) (node, error) {
	t := p.peek()
	switch t.kind {
	case tokenRangeOpen:
		return p.rangeLeaf(field)
	case tokenWord, tokenLone, tokenStar, tokenPrefix, tokenPattern, tokenQuoted:
	default:
		return nil, p.unexpected()
	}
	p.at++
	by, tilde, err := p.suffix()
	if err != nil {
		return nil, err
	}
	n, err := p.textLeaf(field, t, tilde)
	return boosted(n, by), err
}

// suffix reads a boost and a ~ in either order. The tilde is "" when there is
// none.
func (p *parser) suffix() (by float64, tilde string, err error) {
	early := p.kind(0) == tokenBoost
	by, err = p.boost()
	t, _ := p.take(tokenTilde)
	if !early {
		by, err = p.boost()
	}
	return by, t.text, err
}

// textLeaf makes the leaf of one token and the ~ that may follow it.
func (p *parser) textLeaf(field string, t token, tilde string) (node, error) {
	raw := t.text
	if t.kind == tokenQuoted {
		raw = raw[1 : len(raw)-1]
	}
	text, err := unescape(raw)
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case tokenQuoted:
		slop, err := slopOf(tilde)
		if err != nil {
			return nil, err
		}
		return p.add(field, leaf{op: opPhrase, text: text, slop: slop})
	case tokenStar:
		return p.star(field)
	case tokenPrefix, tokenPattern:
		return p.add(field, leaf{op: opPattern, pattern: pattern(raw), prefix: t.kind == tokenPrefix})
	}
	if tilde != "" {
		edits, err := editsOf(tilde, text)
		if err != nil {
			return nil, err
		}
		return p.add(field, leaf{op: opFuzzy, text: text, edits: edits})
	}
	return p.word(field, raw)
}

// star is *:* for every record, field:* for those that have the field.
func (p *parser) star(field string) (node, error) {
	if field == "*" {
		return everything{}, p.count(1)
	}
	return p.add(field, leaf{op: opExists})
}

// word makes the leaf of an unquoted text that may still be a comparison. The
// sign counts even when it was escaped: search servers look for it last.
func (p *parser) word(field, raw string) (node, error) {
	text, err := unescape(raw)
	if err != nil {
		return nil, err
	}
	if field != "" && len(text) > 1 && field != existsField {
		if l, ok := comparison(text); ok {
			return p.add(field, l)
		}
	}
	return p.add(field, leaf{op: opWord, text: text})
}

func comparison(text string) (leaf, bool) {
	l := leaf{op: opRange}
	sign, bound := text[:1], text[1:]
	if inclusive, ok := strings.CutPrefix(bound, "="); ok && inclusive != "" {
		l.withLow, l.withHigh = true, true
		bound = inclusive
	}
	switch sign {
	case ">":
		l.low, l.withHigh = openOr(bound), true
	case "<":
		l.high, l.withLow = openOr(bound), true
	default:
		return leaf{}, false
	}
	return l, true
}

func (p *parser) rangeLeaf(field string) (node, error) {
	open, _ := p.take(tokenRangeOpen)
	low, err := p.bound()
	if err != nil {
		return nil, err
	}
	if _, ok := p.take(tokenRangeTo); !ok {
		return nil, p.unexpected()
	}
	high, err := p.bound()
	if err != nil {
		return nil, err
	}
	closing, ok := p.take(tokenRangeClose)
	if !ok {
		return nil, p.unexpected()
	}
	by, err := p.boost()
	if err != nil {
		return nil, err
	}
	n, err := p.add(field, leaf{op: opRange, low: low, high: high, withLow: open.text == "[", withHigh: closing.text == "]"})
	return boosted(n, by), err
}

// bound reads one end of a range; nil is an open one.
func (p *parser) bound() (*string, error) {
	t := p.peek()
	raw := t.text
	switch t.kind {
	case tokenQuotedBound:
		raw = raw[1 : len(raw)-1]
	case tokenBound, tokenRangeTo:
	default:
		return nil, p.unexpected()
	}
	p.at++
	text, err := unescape(raw)
	if err != nil {
		return nil, err
	}
	return openOr(text), nil
}

// openOr is nil, an open end, for a star. Search servers do not tell a quoted
// or escaped star from a bare one here.
func openOr(bound string) *string {
	if bound == "*" {
		return nil
	}
	return &bound
}

// slopOf reads how far apart the words of a phrase may be. What is no number
// is ignored.
func slopOf(tilde string) (int, error) {
	n, err := strconv.ParseFloat(strings.TrimPrefix(tilde, "~"), 64)
	if err != nil || n != n {
		return 0, nil
	}
	if n <= -1 {
		return 0, fmt.Errorf("slop must be >= 0, found %q", tilde)
	}
	return int(min(n, 1<<31-1)), nil
}

// editsOf reads how many characters of a fuzzy word may differ: at most two,
// and without a number as many as the length of the word allows.
func editsOf(tilde, text string) (int, error) {
	s := strings.TrimPrefix(tilde, "~")
	if s == "" || strings.EqualFold(s, "AUTO") {
		switch n := len([]rune(text)); {
		case n < 3:
			return 0, nil
		case n < 6:
			return 1, nil
		}
		return 2, nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n != n || n <= -1 {
		return 0, fmt.Errorf("Valid edit distances are [0, 1, 2] but was [%s]", s)
	}
	return int(min(n, 2)), nil
}

// add makes the node of a leaf in the fields that name stands for.
func (p *parser) add(name string, l leaf) (node, error) {
	if name == existsField && (l.op == opWord || l.op == opPhrase) {
		name, l = l.text, leaf{op: opExists}
	}
	if err := p.count(l.size()); err != nil {
		return nil, err
	}
	fields, named := fieldsOf(name)
	nodes, vanished := best{}, false
	for _, f := range fields {
		n, err := l.in(f, p.opts)
		switch {
		case err != nil && named:
			return nil, err
		case err != nil:
			// A pattern of field names reaches fields the value is not for.
		case n == nil:
			vanished = true
		default:
			nodes = append(nodes, n)
		}
	}
	switch {
	case len(nodes) == 1:
		return nodes[0], nil
	case len(nodes) == 0 && vanished:
		return nil, nil
	}
	return nodes, nil
}

// count keeps the number of clauses within bounds.
func (p *parser) count(n int) error {
	if p.clauses += n; p.clauses > maxClauses {
		return fmt.Errorf("too many clauses: a query may have %d", maxClauses)
	}
	return nil
}

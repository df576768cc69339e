package search

import (
	"strconv"
	"strings"
)

// Limits of a query. The number of clauses is Lucene's own limit.
const (
	maxLength  = 100_000
	maxClauses = 1024
	maxDepth   = 1000
)

type parser struct {
	text     string
	tokens   []token
	at       int
	deployed bool
	depth    int
	clauses  int
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
		return refuse("Encountered the end of the query where a clause or a bracket should be")
	}
	return refuse("Encountered %q at column %d", t.text, column(p.text, t.at))
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

// list reads clauses up to a closing bracket or the end. It returns nil if no
// clause has anything to search for.
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

// neighbours reads consecutive words as one text, as the deployed service
// passes them to its fields. A word that begins another kind of clause, or is
// followed by AND or OR, stands alone.
func (p *parser) neighbours() (string, bool) {
	if !p.deployed || p.kind(0) != tokenWord || !p.joins(1) {
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
	case joint == tokenOr && p.deployed:
		clauses[len(clauses)-1].occur = should
	}
}

func (p *parser) occurOf(joint, modifier tokenKind) occur {
	switch {
	case modifier == tokenMinus || modifier == tokenNot:
		return mustNot
	case p.deployed && joint != tokenOr:
		return must
	case p.deployed:
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
		return nil, refuse("brackets are nested more than %d deep", maxDepth)
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

// boost reads an optional boost; the default is 1.
func (p *parser) boost() (float64, error) {
	t, ok := p.take(tokenBoost)
	if !ok {
		return 1, nil
	}
	by, err := strconv.ParseFloat(t.text, 32)
	if err != nil {
		return 0, refuse("boost must be a positive float, found %q", t.text)
	}
	return by, nil
}

// add makes the node of a leaf in the fields of a name.
func (p *parser) add(name string, l leaf) (node, error) {
	if name == existsField && (l.op == opWord || l.op == opPhrase) {
		name, l = l.text, leaf{op: opExists}
	}
	if err := p.count(l.size()); err != nil {
		return nil, err
	}
	fields, err := fieldsOf(name, p.deployed)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 && l.op == opExists && isObject(name) {
		fields = []field{newField(name, exact)}
	}
	nodes, vanished := best{}, false
	for _, f := range fields {
		switch n, err := l.in(f, p.deployed); {
		case err != nil:
			return nil, err
		case n == nil:
			vanished = true
		default:
			nodes = append(nodes, boosted(n, f.boost))
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

// count enforces the limit of clauses.
func (p *parser) count(n int) error {
	if p.clauses += n; p.clauses > maxClauses {
		return refuse("too many clauses: a query may have %d", maxClauses)
	}
	return nil
}

package query

import (
	"bytes"
	"strconv"
	"strings"
)

// String writes the query. Brackets stand only where the grammar needs them.
func (e *expr) String() string {
	n := e.tree()
	if n.Kind == kindRaw {
		return n.Text
	}
	p := printer{b: make([]byte, 0, 32+32*len(n.Clauses))}
	p.node(n, "", true)
	if p.swallows() {
		p = printer{b: p.b[:0], closeRegexps: true}
		p.node(n, "", true)
	}
	return string(p.b)
}

// A printer writes nodes one after the other.
type printer struct {
	b []byte
	// A regular expression that ends in a backslash goes on to the next slash,
	// wherever that is. openRegexp is the end of the first such, if any.
	openRegexp   int
	closeRegexps bool
}

func (p *printer) swallows() bool {
	return p.openRegexp > 0 && bytes.IndexByte(p.b[p.openRegexp:], '/') >= 0
}

// node writes one node; field is that of the brackets around it.
func (p *printer) node(n *node, field string, outermost bool) {
	if n.Field != "" {
		field = n.Field
	}
	if n.Kind == kindGroup {
		p.group(n, field, outermost)
	} else {
		p.leaf(n, field)
	}
	if n.Boost != nil {
		p.b = append(p.b, '^')
		p.b = strconv.AppendFloat(p.b, float64(*n.Boost), 'f', -1, 32)
	}
}

func (p *printer) group(n *node, field string, outermost bool) {
	p.b = appendField(p.b, Field(n.Field))
	brackets := !outermost || n.Field != "" || n.Boost != nil
	if brackets {
		p.b = append(p.b, '(')
	}
	words := len(n.Clauses) > 1 && n.Clauses[1].Join != noJoin
	for i, c := range n.Clauses {
		if i > 0 {
			p.b = append(p.b, ' ')
		}
		p.b = append(p.b, [...]string{noJoin: "", joinAnd: "AND ", joinOr: "OR "}[c.Join]...)
		switch {
		case c.Sign == signMustNot && (words || c.Join != noJoin):
			p.b = append(p.b, "NOT "...)
		case c.Sign == signMustNot:
			p.b = append(p.b, '-')
		case c.Sign == signMust:
			p.b = append(p.b, '+')
		}
		p.node(c.Node, field, false)
	}
	if brackets {
		p.b = append(p.b, ')')
	}
}

func (p *printer) leaf(n *node, field string) {
	if n.Kind == kindAll {
		p.b = append(p.b, "*:*"...)
		return
	}
	if n.Kind == kindInvalid || n.Kind == kindRaw { // raw texts within a query were read before
		p.b = append(p.b, "()"...)
		return
	}
	value := role(Field(field) == existsField) // the value of _exists_ is the name of a field
	p.b = appendField(p.b, Field(n.Field))
	switch n.Kind {
	case kindTerm:
		p.b = value.appendWord(p.b, n.Text)
	case kindPhrase:
		p.phrase(n, value)
	case kindPrefix:
		p.b = append(value.appendWord(p.b, n.Text), '*')
	case kindWildcard:
		p.b = value.appendPattern(p.b, n.Text)
	case kindFuzzy:
		p.b = append(value.appendWord(p.b, n.Text), '~')
		if n.Edits != autoEdits {
			p.b = strconv.AppendFloat(p.b, float64(n.Edits), 'f', -1, 32)
		}
	case kindRegexp:
		p.regexp(n.Text)
	case kindRange:
		p.rng(n.Range)
	case kindExists:
		p.b = append(p.b, '*')
	}
}

func (p *printer) phrase(n *node, value role) {
	p.b = append(p.b, '"')
	p.b = value.appendQuoted(p.b, n.Text)
	p.b = append(p.b, '"')
	if n.Slop != nil {
		p.b = append(p.b, '~')
		p.b = strconv.AppendInt(p.b, int64(*n.Slop), 10)
	}
}

func (p *printer) rng(r *bounds) {
	p.b = append(p.b, pick(r.ExcludeLow, '{', '['))
	p.b = appendBound(p.b, r.Low)
	p.b = append(p.b, " TO "...)
	p.b = appendBound(p.b, r.High)
	p.b = append(p.b, pick(r.ExcludeHigh, '}', ']'))
}

func pick(yes bool, a, b byte) byte {
	if yes {
		return a
	}
	return b
}

func (p *printer) regexp(pattern string) {
	p.b = append(p.b, '/')
	p.b = append(p.b, pattern...)
	if strings.HasSuffix(pattern, `\`) {
		if p.closeRegexps {
			p.b = append(p.b, "()"...) // matches the empty text
		} else if p.openRegexp == 0 {
			p.openRegexp = len(p.b) + 1
		}
	}
	p.b = append(p.b, '/')
}

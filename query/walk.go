package query

import (
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Walk returns the nodes of expr, each before what is inside it, in the order
// of the text. The Field of a node is the one it is searched in, also where
// the brackets around it name it.
func Walk(expr Expr) iter.Seq[Node] {
	return func(yield func(Node) bool) { walk(expr, "", yield) }
}

func walk(expr Expr, field Field, yield func(Node) bool) bool {
	n := inspect(expr, field)
	if !yield(n) {
		return false
	}
	for _, c := range n.Clauses {
		if !walk(c.Expr, n.Field, yield) {
			return false
		}
	}
	return true
}

func inspect(expr Expr, field Field) Node {
	n := Inspect(expr)
	if n.Field == "" && n.Kind != KindAll {
		n.Field = field
	}
	return n
}

// Rewrite returns expr with nodes replaced. It calls change for every node,
// first for what is inside it, with the node as [Walk] gives it. What change
// returns takes the place of the node; nil leaves the node as it is.
//
//	// Let people write title: for titles.title:
//	query.Rewrite(expr, func(n query.Node) query.Expr {
//		if n.Field != "title" {
//			return nil
//		}
//		n.Field = query.FieldTitle
//		return n.Expr()
//	})
func Rewrite(expr Expr, change func(Node) Expr) Expr { return rewrite(expr, "", change) }

func rewrite(expr Expr, field Field, change func(Node) Expr) Expr {
	n := inspect(expr, field)
	changed := false
	for i, c := range n.Clauses {
		e := rewrite(c.Expr, n.Field, change)
		if e == c.Expr {
			continue
		}
		n.Clauses[i].Expr = part(e, c.Expr)
		changed = true
	}
	if e := change(n); e != nil {
		return e
	}
	if changed {
		n.Field = expr.tree().Field
		return n.Expr()
	}
	return expr
}

// part is new as a clause in the place of old. A word must not become the
// neighbour of other words when the old clause was none.
func part(replacement, old Expr) Expr {
	e := operand(replacement)
	if isBareWord(e) && !isBareWord(old) {
		return bracket(e)
	}
	return e
}

// Expr returns the expression that the node describes. A node that cannot be
// written gives an expression that [Check] refuses.
func (n Node) Expr() Expr {
	if fault := n.fault(); fault != "" {
		return invalid(fault)
	}
	n.Range, n.Slop, n.Boost = clone(n.Range), clone(n.Slop), clone(n.Boost)
	switch n.Kind {
	case KindAll:
		n.Field = ""
	case KindExists:
		if n.Field == "*" {
			n.Kind, n.Field = KindAll, ""
		}
	case KindWildcard:
		n.Text, _, _ = readPattern(n.Text)
	case KindGroup:
		return n.group()
	}
	return fromNode(n)
}

func (n Node) group() Expr {
	n.Clauses = slices.Clone(n.Clauses)
	for i, c := range n.Clauses {
		if c.Expr == nil || c.Expr.tree().Kind == KindRaw {
			n.Clauses[i].Expr = operand(c.Expr)
		}
	}
	c := n.Clauses[0]
	keeps := n.Field == "" && n.Boost == nil && isBareWord(c.Expr) // (a) stays apart from its neighbours
	if len(n.Clauses) > 1 || c.Sign != NoSign || keeps {
		return fromNode(n)
	}
	e := n.Field.Match(c.Expr)
	if n.Boost != nil {
		return Boost(e, *n.Boost)
	}
	return e
}

// fault says why the node cannot be written, or is empty.
func (n Node) fault() string {
	switch {
	case !utf8.ValidString(n.Text) || !utf8.ValidString(string(n.Field)):
		return "a text is not valid UTF-8"
	case n.Boost != nil && !(*n.Boost >= 0 && *n.Boost <= math.MaxFloat32):
		return badBoost
	}
	switch n.Kind {
	case KindTerm, KindPrefix:
		if n.Text == "" {
			return "a word without quotes is empty"
		}
	case KindWildcard:
		if _, _, live := readPattern(n.Text); live == 0 {
			return "a pattern has no wildcard"
		}
	case KindFuzzy:
		whole := n.Edits == AutoEdits || n.Edits == 1 || n.Edits == 2
		if n.Text == "" || !whole && !(n.Edits >= 0 && n.Edits < 1) {
			return "a fuzzy search needs a word and 0, 1 or 2 edits"
		}
	case KindRegexp:
		if delimitedLen("/"+n.Text+"/", '/') != len(n.Text)+2 || strings.HasSuffix(n.Text, `\`) {
			return "a slash in a regular expression has no backslash before it, or it ends in one"
		}
	case KindRange:
		if n.Range == nil {
			return "a range has no bounds"
		}
		return n.Range.fault()
	case KindGroup:
		return groupFault(n.Clauses)
	case KindInvalid:
		return n.Text
	case KindPhrase, KindExists, KindAll, KindRaw:
	default:
		return "the kind " + string(n.Kind) + " is unknown"
	}
	return ""
}

func (r Range) fault() string {
	switch {
	case !utf8.ValidString(r.Low) || !utf8.ValidString(r.High):
		return "a bound is not valid UTF-8"
	case r.Low == "*" || r.High == "*":
		return literalStar
	}
	return ""
}

const (
	literalStar = `a literal * cannot be the bound of a range; "" leaves the range open`
	badBoost    = "a boost factor must be a finite number from 0 up"
)

func groupFault(clauses []Clause) string {
	for i, c := range clauses {
		switch c.Sign {
		case NoSign, SignMust, SignMustNot:
		default:
			return "the sign " + string(c.Sign) + " is unknown"
		}
		if c.Join != NoJoin && (i == 0 || c.Join != JoinAnd && c.Join != JoinOr) {
			return "the join " + string(c.Join) + " cannot stand there"
		}
	}
	if len(clauses) == 0 {
		return "a group is empty"
	}
	return ""
}

package query

import "slices"

// And matches what all of exprs match: a AND b (specification §4.2.1(5)). An operand made
// by [Not] or [MustNot] excludes its matches: a AND NOT b. [Check] refuses And without
// operands and a nil operand, because a lost restriction would widen the query.
func And(exprs ...Expr) Expr {
	if len(exprs) == 0 {
		return fromNode(invalid("", "And needs at least one expression"))
	}
	return fromNode(and(operands(exprs)))
}

func and(nodes []*node) *node {
	clauses := append(make([]clause, 0, len(nodes)+4), clause{Node: everything})
	clauses = appendJoined(clauses, nodes, joinAnd)
	// *:* is only needed where there is nothing else to exclude from.
	rest := slices.DeleteFunc(clauses[1:], isEverything)
	if slices.ContainsFunc(rest, isPositive) {
		return list(rest, joinAnd)
	}
	return list(clauses[:1+len(rest)], joinAnd)
}

// Or matches what at least one of exprs matches: a OR b. An operand made by [Not] or
// [MustNot] stands for all records that do not match it: a OR (*:* AND NOT b). [Check]
// refuses Or without operands and a nil operand.
func Or(exprs ...Expr) Expr {
	if len(exprs) == 0 {
		return fromNode(invalid("", "Or needs at least one expression"))
	}
	return fromNode(or(operands(exprs)))
}

func or(nodes []*node) *node {
	return list(appendJoined(make([]clause, 0, len(nodes)), nodes, joinOr), joinOr)
}

// appendJoined appends nodes as clauses, and the clauses of those that are lists with the
// same operator.
func appendJoined(clauses []clause, nodes []*node, join join) []clause {
	for _, n := range nodes {
		if isList(n, join) {
			clauses = append(clauses, n.Clauses...)
		} else {
			clauses = append(clauses, clause{Node: n})
		}
	}
	return clauses
}

// list joins clauses with one operator.
func list(clauses []clause, join join) *node {
	if len(clauses) == 1 && clauses[0].Sign == noSign {
		return clauses[0].Node
	}
	for i := range clauses {
		clauses[i].Join = join
	}
	clauses[0].Join = noJoin
	return group(clauses...)
}

func group(clauses ...clause) *node {
	return &node{Kind: kindGroup, Clauses: clauses}
}

// Not matches every record that expr does not match: *:* AND NOT expr. NOT or - alone
// would match nothing in Lucene. Not(Not(x)) is x.
func Not(expr Expr) Expr { return fromNode(not(operand(expr))) }

func not(n *node) *node {
	if isNot(n) {
		return n.Clauses[1].Node
	}
	return group(clause{Node: everything}, clause{Join: joinAnd, Sign: signMustNot, Node: n})
}

// Must is +expr: an expression that [Bool] requires (specification §4.2.1(4)).
func Must(expr Expr) Expr { return signed(signMust, expr) }

// MustNot is -expr: an expression that [Bool] excludes. By itself it matches all other
// records on the service, but nothing in plain Lucene; use [Not] there.
func MustNot(expr Expr) Expr { return signed(signMustNot, expr) }

func signed(sign sign, expr Expr) Expr {
	return fromNode(group(clause{Sign: sign, Node: operand(expr)}))
}

// Bool puts expressions side by side, as specification §4.2.1(4) has it: +a -b c. Those
// made by [Must] have to match, those made by [MustNot] must not. The others only raise
// the relevance; without a Must, at least one of them has to match.
//
// Without Must and MustNot, Bool is [Or]. With one of them, the deployed service requires
// the other expressions too: it reads +a b as a AND b. For the same meaning in the
// specification and on the deployed service, write And(a, Or(b, All())) for +a b, and
// And(Or(b, c), Not(a)) for -a b c.
func Bool(exprs ...Expr) Expr {
	switch len(exprs) {
	case 0:
		return fromNode(invalid("", "Bool needs at least one expression"))
	case 1:
		return fromNode(operand(exprs[0])) // its sign is for its neighbours here, and must not count further out
	}
	clauses := make([]clause, len(exprs))
	for i, e := range exprs {
		if c, ok := signedClause(e); ok {
			clauses[i] = c
		} else {
			clauses[i] = clause{Node: operand(e)}
		}
	}
	switch {
	case !slices.ContainsFunc(clauses, func(c clause) bool { return c.Sign != noSign }):
		return Or(exprs...)
	case !slices.ContainsFunc(clauses, isPositive):
		return And(exprs...)
	}
	return fromNode(group(apart(clauses)...))
}

// apart brackets bare words that follow one another. The service would read them as one
// text.
func apart(clauses []clause) []clause {
	bare := false
	for i, c := range clauses {
		word := c.Sign == noSign && c.Node.isWord()
		if word && bare {
			clauses[i].Node = group(clause{Node: c.Node})
			word = false
		}
		bare = word
	}
	return clauses
}

// operand returns what expr means as a part of another expression, on every kind of
// server: a raw text is read, a lone +a or (a) is a, and a group that only excludes
// excludes from everything.
func operand(expr Expr) *node {
	if expr == nil {
		return invalid("", "an expression is nil")
	}
	return asOperand(expr.tree())
}

func operands(exprs []Expr) []*node {
	out := make([]*node, len(exprs))
	for i, e := range exprs {
		out[i] = operand(e)
	}
	return out
}

func asOperand(n *node) *node {
	switch {
	case n.Kind == kindRaw:
		return readRaw(n.Text)
	case n.Kind != kindGroup:
		return n
	case !slices.ContainsFunc(n.Clauses, isPositive):
		return &node{Kind: kindGroup, Field: n.Field, Boost: n.Boost, Clauses: fromEverything(n.Clauses)}
	case len(n.Clauses) == 1 && n.Boost == nil:
		return Field(n.Field).match(asOperand(n.Clauses[0].Node))
	}
	return n
}

// fromEverything puts *:* before clauses that only exclude.
func fromEverything(clauses []clause) []clause {
	out := slices.Insert(slices.Clone(clauses), 0, clause{Node: everything})
	for i := range out[1:] {
		out[i+1].Join = joinAnd
	}
	return out
}

// readRaw reads text that becomes a part of another expression.
func readRaw(text string) *node {
	n, err := read(text)
	if err != nil {
		return invalid("", excerpt(text)+": a raw text inside a query must be a query by itself: "+err.Reason)
	}
	return asOperand(n)
}

// signedClause returns the clause of an expression made by Must or MustNot.
func signedClause(e Expr) (clause, bool) {
	if e == nil {
		return clause{}, false
	}
	n := e.tree()
	if n.Kind != kindGroup || len(n.Clauses) != 1 || n.Field != "" || n.Boost != nil {
		return clause{}, false
	}
	return n.Clauses[0], n.Clauses[0].Sign != noSign
}

// isList reports whether n is a plain list with the same operator throughout, which can
// become a part of a longer one.
func isList(n *node, join join) bool {
	if n.Kind != kindGroup || n.Field != "" || n.Boost != nil || len(n.Clauses) < 2 {
		return false
	}
	for i, c := range n.Clauses {
		if i > 0 && c.Join != join || join == joinOr && c.Sign != noSign {
			return false
		}
	}
	return true
}

func isNot(n *node) bool {
	return isList(n, joinAnd) && len(n.Clauses) == 2 &&
		isEverything(n.Clauses[0]) && n.Clauses[1].Sign == signMustNot
}

func isPositive(c clause) bool { return c.Sign != signMustNot }

func isEverything(c clause) bool {
	return c.Sign != signMustNot && c.Node.Kind == kindAll && c.Node.Boost == nil
}

package query

import "slices"

// And matches what all of exprs match: a AND b (specification §4.2.1(5)). An operand
// made by [Not] or [MustNot] excludes what it names: a AND NOT b. And of nothing
// cannot be written, and neither can a nil operand: a lost restriction must not widen
// the query.
func And(exprs ...Expr) Expr {
	if len(exprs) == 0 {
		return invalid("And needs at least one expression")
	}
	clauses := make([]Clause, 1, len(exprs)+4)
	clauses[0] = Clause{Expr: everything}
	for _, e := range exprs {
		e = operand(e)
		if n := e.tree(); isList(n, JoinAnd) {
			clauses = append(clauses, n.Clauses...)
		} else {
			clauses = append(clauses, Clause{Expr: e})
		}
	}
	// *:* is only needed for taking away from it.
	rest := slices.DeleteFunc(clauses[1:], isEverything)
	if slices.ContainsFunc(rest, isPositive) {
		return list(rest, JoinAnd)
	}
	return list(clauses[:1+len(rest)], JoinAnd)
}

// Or matches what at least one of exprs matches: a OR b. An operand made by
// [Not] or [MustNot] is every record except those named: a OR (*:* AND NOT b).
// Or of nothing and a nil operand cannot be written.
func Or(exprs ...Expr) Expr {
	if len(exprs) == 0 {
		return invalid("Or needs at least one expression")
	}
	clauses := make([]Clause, 0, len(exprs))
	for _, e := range exprs {
		e = operand(e)
		if n := e.tree(); isList(n, JoinOr) {
			clauses = append(clauses, n.Clauses...)
		} else {
			clauses = append(clauses, Clause{Expr: e})
		}
	}
	return list(clauses, JoinOr)
}

// list joins clauses, whose joins it overwrites.
func list(clauses []Clause, join Join) Expr {
	if len(clauses) == 1 && clauses[0].Sign == NoSign {
		return clauses[0].Expr
	}
	for i := range clauses {
		clauses[i].Join = join
	}
	clauses[0].Join = NoJoin
	return fromNode(Node{Kind: KindGroup, Clauses: clauses})
}

// Not matches every record that expr does not match: *:* AND NOT expr. A query
// of only NOT or - would match nothing in Lucene. Not(Not(x)) is x.
func Not(expr Expr) Expr {
	e := operand(expr)
	if n := e.tree(); isNot(n) {
		return n.Clauses[1].Expr
	}
	return fromNode(Node{Kind: KindGroup, Clauses: []Clause{
		{Expr: everything},
		{Join: JoinAnd, Sign: SignMustNot, Expr: e},
	}})
}

// Must is +expr: what [Any] requires (specification §4.2.1(4)).
func Must(expr Expr) Expr { return signed(SignMust, expr) }

// MustNot is -expr: what [Any] excludes. On its own it matches all other
// records on the service, but nothing in plain Lucene; use [Not] there.
func MustNot(expr Expr) Expr { return signed(SignMustNot, expr) }

func signed(sign Sign, expr Expr) Expr {
	return fromNode(Node{Kind: KindGroup, Clauses: []Clause{{Sign: sign, Expr: operand(expr)}}})
}

// Any puts expressions side by side, as specification §4.2.1(4) has it:
// +a -b c. Those made by [Must] have to match, those made by [MustNot] must
// not, and the others only raise the relevance, or, without a Must, at least
// one of them has to match.
//
// Without Must and MustNot, Any is [Or]. With one of them, the deployed
// service requires the other expressions too: it reads +a b as a AND b. What
// it and the specification read alike is And(a, Or(b, All())) for +a b, and
// And(Or(b, c), Not(a)) for -a b c.
func Any(exprs ...Expr) Expr {
	if len(exprs) == 0 {
		return invalid("Any needs at least one expression")
	}
	if len(exprs) == 1 {
		return operand(exprs[0]) // its sign is for those beside it, and must not count further out
	}
	clauses := make([]Clause, len(exprs))
	for i, e := range exprs {
		if c, ok := sign(e); ok {
			clauses[i] = c
		} else {
			clauses[i] = Clause{Expr: operand(e)}
		}
	}
	switch {
	case !slices.ContainsFunc(clauses, func(c Clause) bool { return c.Sign != NoSign }):
		return Or(exprs...)
	case !slices.ContainsFunc(clauses, isPositive):
		return And(exprs...)
	}
	return fromNode(Node{Kind: KindGroup, Clauses: apart(clauses)})
}

// apart brackets bare words that follow one another. The service would hand
// neighbours to analysis as one text.
func apart(clauses []Clause) []Clause {
	bare := false
	for i, c := range clauses {
		word := c.Sign == NoSign && isBareWord(c.Expr)
		if word && bare {
			clauses[i].Expr = bracket(c.Expr)
			word = false
		}
		bare = word
	}
	return clauses
}

// bracket makes a group of one: (a).
func bracket(e Expr) Expr {
	return fromNode(Node{Kind: KindGroup, Clauses: []Clause{{Expr: e}}})
}

// operand returns what expr means as a part of something else, on every kind
// of server: a raw text is read, a lone +a or (a) is a, and a group that only
// excludes takes away from everything.
func operand(expr Expr) Expr {
	if expr == nil {
		return invalid("an expression is nil")
	}
	n := expr.tree()
	switch {
	case n.Kind == KindRaw:
		return readRaw(n.Text)
	case n.Kind != KindGroup:
		return expr
	case !slices.ContainsFunc(n.Clauses, isPositive):
		return fromNode(Node{Kind: KindGroup, Field: n.Field, Boost: n.Boost, Clauses: fromEverything(n.Clauses)})
	case len(n.Clauses) == 1 && n.Boost == nil:
		return n.Field.Match(n.Clauses[0].Expr)
	}
	return expr
}

// fromEverything puts *:* before clauses that only take away.
func fromEverything(clauses []Clause) []Clause {
	out := slices.Insert(slices.Clone(clauses), 0, Clause{Expr: everything})
	for i := range out[1:] {
		out[i+1].Join = JoinAnd
	}
	return out
}

// readRaw reads text that becomes a part of something else.
func readRaw(text string) Expr {
	e, err := Parse(text)
	if err != nil {
		return invalid(excerpt(text) + ": a raw text inside a query must be a query by itself: " + why(err))
	}
	return operand(e)
}

// sign returns the clause of an expression made by Must or MustNot.
func sign(e Expr) (Clause, bool) {
	if e == nil {
		return Clause{}, false
	}
	n := e.tree()
	if n.Kind != KindGroup || len(n.Clauses) != 1 || n.Field != "" || n.Boost != nil {
		return Clause{}, false
	}
	return n.Clauses[0], n.Clauses[0].Sign != NoSign
}

// isList reports whether n is a plain list with the same operator throughout,
// so that it can become a part of a longer one.
func isList(n *Node, join Join) bool {
	if n.Kind != KindGroup || n.Field != "" || n.Boost != nil || len(n.Clauses) < 2 {
		return false
	}
	for i, c := range n.Clauses {
		if i > 0 && c.Join != join || join == JoinOr && c.Sign != NoSign {
			return false
		}
	}
	return true
}

func isNot(n *Node) bool {
	return isList(n, JoinAnd) && len(n.Clauses) == 2 &&
		isEverything(n.Clauses[0]) && n.Clauses[1].Sign == SignMustNot
}

func isPositive(c Clause) bool { return c.Sign != SignMustNot }

func isEverything(c Clause) bool {
	n := c.Expr.tree()
	return c.Sign != SignMustNot && n.Kind == KindAll && n.Boost == nil
}

func isBareWord(e Expr) bool {
	n := e.tree()
	return n.Kind == KindTerm && n.Field == "" && n.Boost == nil
}

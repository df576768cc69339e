package query

import "slices"

// An Operator is what a server puts between clauses that stand side by side.
type Operator string

// The default operators.
const (
	OperatorOr  Operator = "OR"  // as specified (specification §4.2.1(4))
	OperatorAnd Operator = "AND" // the deployed service
)

// Explicit returns a query that means on every server what expr means on one
// with the default operator op: words side by side get the operator that they
// lack, and lists that mix AND and OR get brackets. Optional clauses beside
// required ones stay as a help for [ByRelevance]: +a b becomes
// a AND (b OR *:*).
func Explicit(expr Expr, op Operator) Expr {
	expr = operand(expr)
	n := expr.tree()
	if n.Kind != KindGroup {
		return expr
	}
	var parts, optional []Expr
	at, required := 0, false
	for i, o := range occurs(n.Clauses, op) {
		e := Explicit(n.Clauses[i].Expr, op)
		switch o {
		case mustNotOccur:
			parts = append(parts, Not(e))
		case mustOccur:
			parts = append(parts, e)
			required = true
		case mayOccur:
			if len(optional) == 0 {
				at = len(parts)
			}
			optional = append(optional, e)
		}
	}
	if required && len(optional) > 0 {
		optional = append(optional, everything)
	}
	if len(optional) > 0 {
		parts = slices.Insert(parts, at, Or(optional...))
	}
	e := n.Field.Match(And(parts...))
	if n.Boost != nil {
		return Boost(e, *n.Boost)
	}
	return e
}

type occur uint8

const (
	mayOccur occur = iota
	mustOccur
	mustNotOccur
)

// occurs returns what Lucene makes of the clauses of one list. AND and OR are
// no Boolean operators there: each decides about the clause before it and the
// one after it, whatever else stands in the list.
func occurs(clauses []Clause, op Operator) []occur {
	out := make([]occur, len(clauses))
	for i, c := range clauses {
		if i > 0 && out[i-1] != mustNotOccur {
			switch {
			case c.Join == JoinAnd:
				out[i-1] = mustOccur
			case c.Join == JoinOr && op == OperatorAnd:
				out[i-1] = mayOccur
			}
		}
		switch {
		case c.Sign == SignMustNot:
			out[i] = mustNotOccur
		case op == OperatorAnd && c.Join != JoinOr,
			op != OperatorAnd && (c.Sign == SignMust || c.Join == JoinAnd):
			out[i] = mustOccur
		}
	}
	return out
}

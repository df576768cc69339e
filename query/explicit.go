package query

import "slices"

// An Operator is the operator that a server assumes between clauses that stand side by
// side.
type Operator string

// The default operators.
const (
	OperatorOr  Operator = "OR"  // as specified (specification §4.2.1(4))
	OperatorAnd Operator = "AND" // the deployed service
)

// Explicit returns a query that has the same meaning on every server: the meaning of expr on a
// server with the default operator op. Words side by side get this operator, and lists that
// mix AND and OR get brackets. Optional clauses beside required ones stay optional and affect
// only ranking: +a b becomes a AND (b OR *:*).
//
// Use Explicit in programs that send typed queries to either server. Use [Advise] to tell the
// person who typed a query that it may mean something else.
func Explicit(expr Expr, op Operator) Expr { return fromNode(explicit(operand(expr), op)) }

func explicit(n *node, op Operator) *node {
	if n.Kind != kindGroup {
		return n
	}
	var parts, optional []*node
	var at int
	required := false
	for i, o := range occurs(n.Clauses, op) {
		part := explicit(asOperand(n.Clauses[i].Node), op)
		switch o {
		case mustNotOccur:
			parts = append(parts, not(part))
		case mustOccur:
			parts = append(parts, part)
			required = true
		case mayOccur:
			if len(optional) == 0 {
				at = len(parts)
			}
			optional = append(optional, part)
		}
	}
	if required && len(optional) > 0 {
		optional = append(optional, everything)
	}
	if len(optional) > 0 {
		parts = slices.Insert(parts, at, or(optional))
	}
	joined := Field(n.Field).match(and(parts))
	if n.Boost != nil {
		return boost(joined, *n.Boost)
	}
	return joined
}

type occur uint8

const (
	mayOccur occur = iota
	mustOccur
	mustNotOccur
)

// occurs returns what Lucene makes of the clauses of one list. AND and OR are not
// Boolean operators there: each decides about the clause before it and the one after it,
// whatever else is in the list.
func occurs(clauses []clause, op Operator) []occur {
	out := make([]occur, len(clauses))
	for i, c := range clauses {
		if i > 0 && out[i-1] != mustNotOccur {
			switch {
			case c.Join == joinAnd:
				out[i-1] = mustOccur
			case c.Join == joinOr && op == OperatorAnd:
				out[i-1] = mayOccur
			}
		}
		switch {
		case c.Sign == signMustNot:
			out[i] = mustNotOccur
		case op == OperatorAnd && c.Join != joinOr,
			op != OperatorAnd && (c.Sign == signMust || c.Join == joinAnd):
			out[i] = mustOccur
		}
	}
	return out
}

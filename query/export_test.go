package query

import "github.com/datacite-go/datacite-go/query/internal/syntax"

// Occurs shows the tests what Lucene makes of the clauses of one list.
func Occurs(clauses []syntax.Clause, op Operator) []string {
	names := map[occur]string{mayOccur: "should", mustOccur: "must", mustNotOccur: "not"}
	var out []string
	for _, o := range occurs(clauses, op) {
		out = append(out, names[o])
	}
	return out
}

// Syntax shows the tests the tree of an expression.
func Syntax(e Expr) *syntax.Node { return e.tree() }

// Within is a range whose bounds may be excluded, which only Parse makes.
func (f Field) Within(r syntax.Range) Expr {
	return leaf(syntax.Node{Kind: syntax.KindRange, Field: string(f), Range: &r})
}

// Boost and Fuzzy are expressions that only Parse makes.
func Boost(expr Expr, factor float32) Expr { return fromNode(boost(operand(expr), factor)) }

func (f Field) Fuzzy(word string, edits int) Expr {
	if word == "" {
		return f.Exists()
	}
	return leaf(syntax.Node{Kind: syntax.KindFuzzy, Field: string(f), Text: word, Edits: float32(edits)})
}

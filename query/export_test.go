package query

// Names of the trees for the tests.
type (
	Node   = node
	Clause = clause
	Range  = bounds
)

const (
	KindInvalid, KindTerm, KindPhrase, KindPrefix, KindFuzzy = kindInvalid, kindTerm, kindPhrase, kindPrefix, kindFuzzy
	KindRegexp, KindRange, KindExists, KindAll, KindGroup    = kindRegexp, kindRange, kindExists, kindAll, kindGroup
	KindRaw, AutoEdits, NoSign, SignMustNot                  = kindRaw, autoEdits, noSign, signMustNot
)

func (k nodeKind) String() string {
	return [...]string{"invalid", "term", "phrase", "prefix", "wildcard", "fuzzy", "regexp", "range", "exists", "all",
		"group", "raw"}[k]
}

// Nodes are the parts of an expression, each with the field that it is searched in.
func Nodes(e Expr) (all []Node) {
	e.tree().walk("", func(n *node, field string) {
		part := *n
		part.Field = field
		all = append(all, part)
	})
	return all
}

// Occurs shows the tests what Lucene makes of the clauses of one list.
func Occurs(clauses []clause, op Operator) []string {
	names := map[occur]string{mayOccur: "should", mustOccur: "must", mustNotOccur: "not"}
	var out []string
	for _, o := range occurs(clauses, op) {
		out = append(out, names[o])
	}
	return out
}

// Syntax shows the tests the tree of an expression.
func Syntax(e Expr) *node { return e.tree() }

// Within is a range whose bounds may be excluded, which only Parse makes.
func (f Field) Within(r Range) Expr {
	return leaf(node{Kind: kindRange, Field: string(f), Range: &r})
}

// Boost and Fuzzy are expressions that only Parse makes.
func Boost(expr Expr, factor float32) Expr { return fromNode(boost(operand(expr), factor)) }

func (f Field) Fuzzy(word string, edits int) Expr {
	if word == "" {
		return f.Exists()
	}
	return leaf(node{Kind: kindFuzzy, Field: string(f), Text: word, Edits: float32(edits)})
}

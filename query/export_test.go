package query

import "github.com/datacite-go/datacite-go/query/syntax"

// Occurs shows the tests what Lucene makes of the clauses of one list.
func Occurs(clauses []syntax.Clause, op Operator) []string {
	names := map[occur]string{mayOccur: "should", mustOccur: "must", mustNotOccur: "not"}
	var out []string
	for _, o := range occurs(clauses, op) {
		out = append(out, names[o])
	}
	return out
}

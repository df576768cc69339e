package query_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/query"
)

// dump writes the tree of an expression as Lucene's parser understands it,
// in the notation of the golden files: (bool (must (term "text" "a")) …).
func dump(e query.Expr, op query.Operator) string { return dumpIn(query.Syntax(e), op, "text") }

func dumpIn(n *query.Node, op query.Operator, field string) string {
	if n.Field != "" {
		field = n.Field
	}
	out := dumpNode(n, op, field)
	if n.Boost != nil {
		out = fmt.Sprintf("(boost %s %s)", decimal(*n.Boost), out)
	}
	return out
}

func dumpNode(n *query.Node, op query.Operator, field string) string {
	f := quote(field)
	switch n.Kind {
	case query.KindAll:
		return "(matchall)"
	case query.KindExists:
		if field == "*" {
			return "(matchall)"
		}
		return fmt.Sprintf(`(wildcard %s "*")`, f)
	case query.KindPhrase:
		slop := 0
		if n.Slop != nil {
			slop = *n.Slop
		}
		return fmt.Sprintf("(phrase %s %d %s)", f, slop, quote(n.Text))
	case query.KindFuzzy:
		return fmt.Sprintf("(fuzzy %s %s %d)", f, quote(n.Text), luceneEdits(n))
	case query.KindRange:
		r := n.Range
		return fmt.Sprintf("(range %s %s %s %s %s)", f, choose(r.ExcludeLow, "{", "["),
			bound(r.Low), bound(r.High), choose(r.ExcludeHigh, "}", "]"))
	case query.KindGroup:
		return dumpGroup(n, op, field)
	}
	return fmt.Sprintf("(%s %s %s)", n.Kind, f, quote(n.Text))
}

func dumpGroup(n *query.Node, op query.Operator, field string) string {
	if len(n.Clauses) == 1 && n.Clauses[0].Sign == query.NoSign {
		return dumpIn(n.Clauses[0].Node, op, field)
	}
	var b strings.Builder
	b.WriteString("(bool")
	for i, occur := range query.Occurs(n.Clauses, op) {
		fmt.Fprintf(&b, " (%s %s)", occur, dumpIn(n.Clauses[i].Node, op, field))
	}
	b.WriteString(")")
	return b.String()
}

// luceneEdits is how Lucene turns the number after ~ into edits.
func luceneEdits(n *query.Node) int {
	switch {
	case n.Edits == query.AutoEdits:
		return 2
	case n.Edits >= 1 || n.Edits == 0:
		return int(n.Edits)
	}
	return min(2, int((1-float64(n.Edits))*float64(utf8.RuneCountInString(n.Text))))
}

func bound(s string) string {
	if s == "" {
		return "*"
	}
	return quote(s)
}

func choose(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func decimal(f float32) string {
	if math.IsInf(float64(f), 0) {
		return "Infinity"
	}
	return strconv.FormatFloat(float64(f), 'f', -1, 32)
}

// quote writes a string as the golden files have it.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

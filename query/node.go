package query

import (
	"strconv"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/query/internal/syntax"
)

// valid makes a leaf one that can be written, or an invalid node. It changes the leaf.
func valid(n *syntax.Node) *syntax.Node {
	if fault := nodeFault(n); fault != "" {
		return invalid(Field(n.Field), fault)
	}
	switch n.Kind {
	case syntax.KindExists:
		searchIn(n, n.Field)
	case syntax.KindWildcard:
		return pattern(n)
	}
	return n
}

// searchIn gives the node a field if it can have one. A * in all fields is *:*, every
// record.
func searchIn(n *syntax.Node, field string) {
	switch {
	case n.Kind == syntax.KindAll:
		n.Field = ""
	case n.Kind == syntax.KindExists && field == "*":
		n.Kind, n.Field = syntax.KindAll, ""
	default:
		n.Field = field
	}
}

// pattern gives a wildcard node the kind of its pattern.
func pattern(n *syntax.Node) *syntax.Node {
	text, literal, shape := readPattern(n.Text)
	switch {
	case shape == otherWildcards:
		n.Text = text
	case literal != "":
		n.Kind, n.Text = syntax.KindPrefix, literal
	default:
		n.Kind, n.Text = syntax.KindExists, ""
		searchIn(n, n.Field)
	}
	return n
}

// nodeFault says why a leaf cannot be written, or is empty.
func nodeFault(n *syntax.Node) string {
	switch {
	case !utf8.ValidString(n.Text):
		return notUTF8(n.Text)
	case n.Text == "" && n.Kind == syntax.KindWildcard:
		return "a word without quotes is empty"
	case n.Kind == syntax.KindPhrase && n.Slop != nil && *n.Slop < 0:
		return quoteText(n.Text) + ": the slop of a phrase must be 0 or more"
	case n.Kind == syntax.KindRange:
		return rangeFault(n.Range)
	}
	return ""
}

func rangeFault(r *syntax.Range) string {
	switch {
	case !utf8.ValidString(r.Low):
		return notUTF8(r.Low)
	case !utf8.ValidString(r.High):
		return notUTF8(r.High)
	case r.Low == "*" || r.High == "*":
		return `a literal * cannot be the bound of a range; "" leaves the range open`
	}
	return ""
}

func notUTF8(s string) string { return quoteText(s) + " is not valid UTF-8" }

// quoteText quotes a text for a message.
func quoteText(s string) string { return strconv.Quote(excerpt(s)) }

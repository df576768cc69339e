package query

import (
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/query/syntax"
)

// valid makes a tree one that can be written: parts that cannot be written become invalid
// nodes, and raw texts in it are read. It changes the tree.
func valid(n *syntax.Node) *syntax.Node {
	switch {
	case n == nil:
		return invalid("", "a node is nil")
	case !utf8.ValidString(n.Field):
		return badName(n.Field)
	}
	if fault := nodeFault(n); fault != "" {
		return invalid(Field(n.Field), fault)
	}
	switch n.Kind {
	case syntax.KindAll, syntax.KindExists:
		searchIn(n, n.Field)
	case syntax.KindWildcard:
		return pattern(n)
	case syntax.KindRaw:
		if n.Field != "" || n.Boost != nil {
			raw := &syntax.Node{Kind: syntax.KindRaw, Text: n.Text}
			return valid(&syntax.Node{Kind: syntax.KindGroup, Field: n.Field, Boost: n.Boost, Clauses: []syntax.Clause{{Node: raw}}})
		}
	case syntax.KindGroup:
		return validGroup(n)
	}
	return n
}

func validGroup(n *syntax.Node) *syntax.Node {
	for i, c := range n.Clauses {
		part := valid(c.Node)
		if part.Kind == syntax.KindRaw {
			part = asOperand(part)
		}
		n.Clauses[i].Node = part
	}
	c := n.Clauses[0]
	apart := n.Field == "" && n.Boost == nil && c.Node.IsWord() // (a) stays apart from its neighbours
	twice := n.Boost != nil && c.Node.Boost != nil
	if len(n.Clauses) > 1 || c.Sign != syntax.NoSign || apart || twice {
		return n
	}
	inside := Field(n.Field).match(asOperand(c.Node))
	if n.Boost != nil {
		return boost(inside, *n.Boost)
	}
	return inside
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
	case shape == noWildcard:
		return invalid(Field(n.Field), quoteText(n.Text)+": a pattern has no wildcard")
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

// nodeFault says why a node cannot be written, or is empty.
func nodeFault(n *syntax.Node) string {
	switch {
	case n.Kind == syntax.KindInvalid:
		return cmp.Or(n.Text, "a node has no kind")
	case !utf8.ValidString(n.Text):
		return notUTF8(n.Text)
	case n.Boost != nil && !isBoost(*n.Boost):
		return fmt.Sprintf("a boost of %v is not a finite number from 0 up", *n.Boost)
	}
	switch n.Kind {
	case syntax.KindTerm, syntax.KindPrefix, syntax.KindWildcard, syntax.KindFuzzy, syntax.KindRegexp:
		return wordFault(n)
	case syntax.KindPhrase:
		if n.Slop != nil && *n.Slop < 0 {
			return quoteText(n.Text) + ": the slop of a phrase is a number from 0 up"
		}
	case syntax.KindRange:
		return rangeFault(n.Range)
	case syntax.KindGroup:
		return groupFault(n.Clauses)
	case syntax.KindExists, syntax.KindAll, syntax.KindRaw:
	default:
		return n.Kind.String() + " is unknown"
	}
	return ""
}

func wordFault(n *syntax.Node) string {
	if n.Text == "" && n.Kind != syntax.KindRegexp {
		return "a word without quotes is empty"
	}
	switch n.Kind {
	case syntax.KindFuzzy:
		if n.Edits != syntax.AutoEdits && n.Edits != 1 && n.Edits != 2 && !(n.Edits >= 0 && n.Edits < 1) {
			return fmt.Sprintf("%v edits: a fuzzy search allows 0, 1 or 2", n.Edits)
		}
	case syntax.KindRegexp:
		if read, err := parse("/" + n.Text + "/"); err != nil || read.Kind != syntax.KindRegexp || read.Text != n.Text {
			return quoteText(n.Text) + `: in a regular expression a backslash has to stand before another character, and before every slash`
		}
	}
	return ""
}

func rangeFault(r *syntax.Range) string {
	switch {
	case r == nil:
		return "a range has no bounds"
	case !utf8.ValidString(r.Low):
		return notUTF8(r.Low)
	case !utf8.ValidString(r.High):
		return notUTF8(r.High)
	case r.Low == "*" || r.High == "*":
		return `a literal * cannot be the bound of a range; "" leaves the range open`
	}
	return ""
}

func groupFault(clauses []syntax.Clause) string {
	for i, c := range clauses {
		if c.Sign > syntax.SignMustNot || c.Join > syntax.JoinOr || i == 0 && c.Join != syntax.NoJoin {
			return "a clause has an unknown sign, an unknown join, or one before the first clause"
		}
	}
	if len(clauses) == 0 {
		return "a group is empty"
	}
	return ""
}

func notUTF8(s string) string { return quoteText(s) + " is not valid UTF-8" }

// quoteText quotes a text for a message.
func quoteText(s string) string { return strconv.Quote(excerpt(s)) }

package query

import (
	"strconv"
	"unicode/utf8"
)

// The service reads words that follow each other without an operator as one text: a b is
// a group of two clauses, each a bare word. A word in a group of its own, as in (a) b,
// is read by itself.

// A nodeKind is the kind of a [node].
type nodeKind uint8

// The kinds of nodes.
const (
	kindInvalid  nodeKind = iota // cannot be written; Text says why
	kindTerm                     // Text is a bare word
	kindPhrase                   // Text is a quoted text; Slop
	kindPrefix                   // Text is the beginning of a word
	kindWildcard                 // Text is a pattern with live * and ?; \*, \? and \\ are literal
	kindFuzzy                    // Text is a word; Edits
	kindRegexp                   // Text is what stands between the slashes
	kindRange                    // Range
	kindExists                   // any value: field:*
	kindAll                      // every record: *:*
	kindGroup                    // Clauses
	kindRaw                      // Text is query text, as in query.Raw
)

// A node is one part of a query.
type node struct {
	Kind  nodeKind
	Edits float32 // kindFuzzy: 0, 1 or 2 changed characters; autoEdits; a fraction below 1 is an old-style similarity
	Field string  // the field searched; "" means that of the group around it, or else the default fields
	Text  string  // the meaning depends on Kind

	Range *bounds  // kindRange
	Slop  *int     // kindPhrase: how many moves the words may be apart; nil leaves it to the service
	Boost *float32 // weight in the order by relevance; nil means none

	Clauses []clause // kindGroup: at least one
}

// autoEdits is the value of [node.Edits] for a ~ without a number: the service
// allows 0, 1 or 2 changes depending on the length of the word.
const autoEdits float32 = -1

// bounds say where a range begins and ends.
type bounds struct {
	Low, High               string // "" is open
	ExcludeLow, ExcludeHigh bool   // leave the bound itself out
}

// A clause is one member of a group, with the operator before it and its sign.
type clause struct {
	Join join // the operator between this clause and the one before; noJoin for the first
	Sign sign
	Node *node
}

// A join is the operator between two clauses.
type join uint8

// The joins.
const (
	noJoin  join = iota // side by side
	joinAnd             // AND, also written &&
	joinOr              // OR, also written ||
)

// A sign is what stands in front of a clause.
type sign uint8

// The signs.
const (
	noSign      sign = iota
	signMust         // +
	signMustNot      // -, also written NOT and !
)

// isWord reports whether the node is a bare word without a field or a boost of its own.
func (n *node) isWord() bool { return n.Kind == kindTerm && n.Field == "" && n.Boost == nil }

// walk calls visit for the nodes of a tree with the field that each is searched in, its own or
// that of the groups around it: each node before what is inside it, in the order of the text.
func (n *node) walk(field string, visit func(n *node, field string)) {
	if n.Field != "" || n.Kind == kindAll {
		field = n.Field
	}
	visit(n, field)
	for _, c := range n.Clauses {
		c.Node.walk(field, visit)
	}
}

// valid makes a leaf one that can be written, or an invalid node. It changes the leaf.
func valid(n *node) *node {
	if fault := nodeFault(n); fault != "" {
		return invalid(Field(n.Field), fault)
	}
	switch n.Kind {
	case kindExists:
		searchIn(n, n.Field)
	case kindWildcard:
		return pattern(n)
	}
	return n
}

// searchIn gives the node a field if it can have one. A * in all fields is *:*, every
// record.
func searchIn(n *node, field string) {
	switch {
	case n.Kind == kindAll:
		n.Field = ""
	case n.Kind == kindExists && field == "*":
		n.Kind, n.Field = kindAll, ""
	default:
		n.Field = field
	}
}

// pattern gives a wildcard node the kind of its pattern.
func pattern(n *node) *node {
	text, literal, shape := readPattern(n.Text)
	switch {
	case shape == otherWildcards:
		n.Text = text
	case literal != "":
		n.Kind, n.Text = kindPrefix, literal
	default:
		n.Kind, n.Text = kindExists, ""
		searchIn(n, n.Field)
	}
	return n
}

// nodeFault says why a leaf cannot be written, or is empty.
func nodeFault(n *node) string {
	switch {
	case !utf8.ValidString(n.Text):
		return notUTF8(n.Text)
	case n.Text == "" && n.Kind == kindWildcard:
		return "a word without quotes is empty"
	case n.Kind == kindPhrase && n.Slop != nil && *n.Slop < 0:
		return quoteText(n.Text) + ": the slop of a phrase must be 0 or more"
	case n.Kind == kindRange:
		return rangeFault(n.Range)
	}
	return ""
}

func rangeFault(r *bounds) string {
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

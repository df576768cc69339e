// Package syntax has the trees of package query: the parts of a query as plain data.
//
// The service reads words that follow each other without an operator as one text: a b is
// a group of two clauses, each a bare word. A word in a group of its own, as in (a) b,
// is read by itself.
package syntax

import (
	"iter"
	"strconv"
)

// A Kind is the kind of a [Node].
type Kind uint8

// The kinds of nodes.
const (
	KindInvalid  Kind = iota // cannot be written; Text says why
	KindTerm                 // Text is a bare word
	KindPhrase               // Text is a quoted text; Slop
	KindPrefix               // Text is the beginning of a word
	KindWildcard             // Text is a pattern with live * and ?; \*, \? and \\ are literal
	KindFuzzy                // Text is a word; Edits
	KindRegexp               // Text is what stands between the slashes
	KindRange                // Range
	KindExists               // any value: field:*
	KindAll                  // every record: *:*
	KindGroup                // Clauses
	KindRaw                  // Text is query text, as in query.Raw
)

var kindNames = [...]string{"invalid", "term", "phrase", "prefix", "wildcard", "fuzzy", "regexp", "range", "exists", "all", "group", "raw"}

// String returns the name of the kind, such as "phrase".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// A Node is one part of a query.
type Node struct {
	Kind  Kind
	Edits float32 // KindFuzzy: 0, 1 or 2 changed characters; AutoEdits; a fraction below 1 is an old-style similarity
	Field string  // the field searched; "" means that of the group around it, or else the default fields
	Text  string  // the meaning depends on Kind

	Range *Range   // KindRange
	Slop  *int     // KindPhrase: how many moves the words may be apart; nil leaves it to the service
	Boost *float32 // weight in the order by relevance; nil means none

	Clauses []Clause // KindGroup: at least one
}

// AutoEdits is the value of [Node.Edits] for a ~ without a number: the service
// allows 0, 1 or 2 changes depending on the length of the word.
const AutoEdits float32 = -1

// A Range says where a range begins and ends.
type Range struct {
	Low, High               string // "" is open
	ExcludeLow, ExcludeHigh bool   // leave the bound itself out
}

// A Clause is one member of a group, with the operator before it and its sign.
type Clause struct {
	Join Join // the operator between this clause and the one before; NoJoin for the first
	Sign Sign
	Node *Node
}

// Join is the operator between two clauses.
type Join uint8

// The joins.
const (
	NoJoin  Join = iota // side by side
	JoinAnd             // AND, also written &&
	JoinOr              // OR, also written ||
)

// Sign is what stands in front of a clause.
type Sign uint8

// The signs.
const (
	NoSign      Sign = iota
	SignMust         // +
	SignMustNot      // -, also written NOT and !
)

// IsWord reports whether the node is a bare word without a field or a boost of its own.
func (n *Node) IsWord() bool { return n.Kind == KindTerm && n.Field == "" && n.Boost == nil }

// Walk returns the nodes of a tree with the fields that they are searched in, each node
// before what is inside it, in the order of the text. The field of a node is its own, or
// that of the groups around it.
func Walk(n *Node) iter.Seq2[*Node, string] {
	return func(yield func(*Node, string) bool) { walk(n, "", yield) }
}

func walk(n *Node, field string, yield func(*Node, string) bool) bool {
	field = n.searched(field)
	if !yield(n, field) {
		return false
	}
	for _, c := range n.Clauses {
		if !walk(c.Node, field, yield) {
			return false
		}
	}
	return true
}

// searched is the field that a node in a group on a field is searched in.
func (n *Node) searched(group string) string {
	if n.Field != "" || n.Kind == KindAll {
		return n.Field
	}
	return group
}

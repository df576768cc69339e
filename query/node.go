package query

import (
	"slices"
)

// A Kind says what a [Node] is.
type Kind string

// The kinds of nodes.
const (
	KindTerm     Kind = "term"     // Text is a bare word
	KindPhrase   Kind = "phrase"   // Text is a quoted text; Slop
	KindPrefix   Kind = "prefix"   // Text is the beginning of a word
	KindWildcard Kind = "wildcard" // Text is a pattern with live * and ?; \* \? \\ are literal
	KindFuzzy    Kind = "fuzzy"    // Text is a word; Edits
	KindRegexp   Kind = "regexp"   // Text is what stands between the slashes
	KindRange    Kind = "range"    // Range
	KindExists   Kind = "exists"   // any value: field:*
	KindAll      Kind = "all"      // every record: *:*
	KindGroup    Kind = "group"    // Clauses
	KindRaw      Kind = "raw"      // Text is query text, see Raw
	KindInvalid  Kind = "invalid"  // cannot be written; Text says why
)

// A Node is one part of a query as plain data. [Inspect] and [Walk] show the
// nodes of an expression; [Node.Expr] turns one back into an expression.
type Node struct {
	Kind  Kind
	Field Field  // the field searched; "" means that of the brackets around it, or else the default fields
	Text  string // the meaning depends on Kind

	Range *Range   // KindRange only
	Slop  *int     // KindPhrase: how many moves the words may be apart; nil leaves it to the service
	Edits float32  // KindFuzzy: 0, 1 or 2 changed characters; AutoEdits; a fraction below 1 is an old-style similarity
	Boost *float32 // nil means none

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
	Expr Expr
}

// Join is the operator between two clauses.
type Join string

// The joins.
const (
	NoJoin  Join = ""    // side by side
	JoinAnd Join = "AND" // also written &&
	JoinOr  Join = "OR"  // also written ||
)

// Sign is what stands in front of a clause.
type Sign string

// The signs.
const (
	NoSign      Sign = ""
	SignMust    Sign = "+"
	SignMustNot Sign = "-" // also written NOT and !
)

// Inspect returns the outermost node of expr as plain data. Changing the copy
// does not change expr.
func Inspect(expr Expr) Node {
	n := *expr.tree()
	n.Range = clone(n.Range)
	n.Slop = clone(n.Slop)
	n.Boost = clone(n.Boost)
	n.Clauses = slices.Clone(n.Clauses)
	return n
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

package query

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// An Expr is a query or a part of one. Expressions are made by the functions
// and [Field] methods of this package and by [Parse]. They never change, so
// they can be kept, shared between goroutines and used in several queries.
//
// String gives the text that goes into the query parameter (specification
// §4.2.1). An expression that cannot be written, such as one with a text that
// is not valid UTF-8, prints as "()", which every server refuses; [Check] says
// what is wrong with it.
type Expr interface {
	String() string
	tree() *Node
}

// expr is the one implementation of Expr. Its node is never changed after the
// constructor has returned, and never handed out without a copy.
type expr struct{ node Node }

func (e *expr) tree() *Node { return &e.node }

// Term looks for one word or value in the default fields: title, creator name,
// creator nameIdentifier, publisher, description, subject and
// relatedIdentifier (specification §4.2.1(2)). The word is literal whatever it
// holds: quotes, colons, wildcards and words such as AND have no special
// meaning. Several words in it stand side by side, as in [Phrase].
func Term(word string) Expr { return Field("").Is(word) }

// Phrase looks for text in the default fields, its words side by side and in
// order (specification §4.2.1(6)). The deployed service allows one other word
// in between when a query does not say how many; Phrase allows none.
func Phrase(text string) Expr { return Field("").Near(text, 0) }

// Wildcard looks for words that fit the pattern in the default fields: *
// stands for any characters or none, ? for exactly one; everything else is
// literal, and so are \*, \? and \\ (specification §4.2.1(3)). See [Field.Like]
// for what is refused.
func Wildcard(pattern string) Expr { return Field("").Like(pattern) }

// All matches every record: *:*.
func All() Expr { return everything }

var everything = &expr{Node{Kind: KindAll}}

// Raw is query text taken as it is, for what the other functions do not offer.
// As a part of another expression it is first read with [Parse], so that it
// cannot reach beyond its place. Prefer Parse for text that other people
// typed.
func Raw(text string) Expr { return &expr{Node{Kind: KindRaw, Text: text}} }

// Boost lets the matches of expr weigh factor times as much in
// [ByRelevance] order. Which records match does not change. The factor is a
// finite number from 0 up.
func Boost(expr Expr, factor float32) Expr {
	if !(factor >= 0 && factor <= math.MaxFloat32) {
		return invalid(fmt.Sprintf("a boost of %v is no finite number from 0 up", factor))
	}
	expr = operand(expr)
	n := *expr.tree()
	if n.Kind == KindInvalid {
		return expr
	}
	if n.Boost != nil {
		n = Node{Kind: KindGroup, Clauses: []Clause{{Expr: fromNode(n)}}}
	}
	n.Boost = &factor
	return fromNode(n)
}

func fromNode(n Node) Expr {
	if !utf8.ValidString(string(n.Field)) {
		n = Field("").invalid("the name of a field, " + notUTF8(string(n.Field)))
	}
	return &expr{n}
}

func invalid(reason string) Expr { return fromNode(Field("").invalid(reason)) }

package query

import "unicode/utf8"

// An Expr is a query or a part of one. Expressions are made by the functions and [Field]
// methods of this package and by [Parse]. They are immutable: they can be kept, shared
// between goroutines and used in several queries.
//
// String returns the text of the query parameter (specification §4.2.1). An expression that
// cannot be written, such as a text that is not valid UTF-8, has the text "()", which every
// server refuses; [Check] returns the reason.
type Expr interface {
	String() string
	tree() *node
}

// expr is the one implementation of Expr. Its tree is never changed after the
// constructor has returned, and only copies of it leave the package.
type expr node

func (e *expr) tree() *node { return (*node)(e) }

// Term looks for one word or value in the default fields: title, creator name, creator
// nameIdentifier, publisher, description, subject and relatedIdentifier (specification
// §4.2.1(2)). The word is always literal: quotes, colons, wildcards and words such as AND
// have no special meaning in it. Several words are looked for side by side, as by [Phrase].
func Term(word string) Expr { return Field("").Is(word) }

// Phrase looks for text in the default fields, its words side by side and in order
// (specification §4.2.1(6)). No other word may stand in between: Phrase sets this distance,
// as the deployed service allows one other word by default.
func Phrase(text string) Expr { return Field("").Near(text, 0) }

// Wildcard looks for words that match the pattern in the default fields: * stands for any
// characters or none, ? for exactly one; everything else is literal, and so are \*, \? and
// \\ (specification §4.2.1(3)). [Field.Like] says which patterns are refused.
func Wildcard(pattern string) Expr { return Field("").Like(pattern) }

// All matches every record: *:*.
func All() Expr { return fromNode(everything) }

var everything = &node{Kind: kindAll}

// Raw is query text that is sent unchanged, for queries that the other functions cannot
// express. Inside another expression it is parsed first, so that it cannot change the query
// around it. Prefer [Parse] for text that people typed.
func Raw(text string) Expr { return fromNode(&node{Kind: kindRaw, Text: text}) }

func boost(n *node, factor float32) *node {
	switch {
	case n.Kind == kindInvalid:
		return n
	case n.Boost != nil:
		n = group(clause{Node: n})
	}
	boosted := *n
	boosted.Boost = &factor
	return &boosted
}

func fromNode(n *node) Expr {
	if !utf8.ValidString(n.Field) {
		n = badName(n.Field)
	}
	return (*expr)(n)
}

func badName(field string) *node { return invalid("", "the name of a field, "+notUTF8(field)) }

// leaf is the expression of a single node.
func leaf(n node) Expr { return fromNode(valid(&n)) }

// invalid is the node of an expression that cannot be written; Check returns the reason.
func invalid(f Field, reason string) *node {
	return &node{Kind: kindInvalid, Field: string(f), Text: reason}
}

package query

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// A Kind says what a [Node] is.
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
	KindRaw                  // Text is query text, see Raw
)

var kindNames = [...]string{"invalid", "term", "phrase", "prefix", "wildcard", "fuzzy", "regexp", "range", "exists", "all", "group", "raw"}

// String returns the name of the kind, such as "phrase".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// A Node is one part of a query as plain data. [Inspect] and [Walk] show the
// nodes of an expression; [Node.Expr] turns one back into an expression.
type Node struct {
	Kind  Kind
	Edits float32 // KindFuzzy: 0, 1 or 2 changed characters; AutoEdits; a fraction below 1 is an old-style similarity
	Field Field   // the field searched; "" means that of the brackets around it, or else the default fields
	Text  string  // the meaning depends on Kind

	Range *Range   // KindRange
	Slop  *int     // KindPhrase: how many moves the words may be apart; nil leaves it to the service
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

// Inspect returns the outermost node of expr as plain data. Changing the copy
// does not change expr.
func Inspect(expr Expr) Node {
	if expr == nil {
		return Field("").invalid("an expression is nil")
	}
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

// Expr returns the expression that the node describes. A node that cannot be
// written gives an expression that [Check] refuses.
func (n Node) Expr() Expr {
	if fault := n.fault(); fault != "" {
		return fromNode(n.Field.invalid(fault))
	}
	n.Range, n.Slop, n.Boost = clone(n.Range), clone(n.Slop), clone(n.Boost)
	switch n.Kind {
	case KindAll, KindExists:
		n.searchIn(n.Field)
	case KindWildcard:
		return n.pattern()
	case KindRaw:
		if n.Field != "" || n.Boost != nil {
			return Node{Kind: KindGroup, Field: n.Field, Boost: n.Boost, Clauses: []Clause{{Expr: Raw(n.Text)}}}.Expr()
		}
	case KindGroup:
		return n.group()
	}
	return fromNode(n)
}

// searchIn gives the node a field if it can have one. A * in all fields is
// *:*, every record.
func (n *Node) searchIn(f Field) {
	switch {
	case n.Kind == KindAll:
		n.Field = ""
	case n.Kind == KindExists && f == "*":
		n.Kind, n.Field = KindAll, ""
	default:
		n.Field = f
	}
}

func (n *Node) pattern() Expr {
	text, literal, shape := readPattern(n.Text)
	switch {
	case shape == noWildcard:
		return fromNode(n.Field.invalid(quoteText(n.Text) + ": a pattern has no wildcard"))
	case shape == otherWildcards:
		n.Text = text
	case literal != "":
		n.Kind, n.Text = KindPrefix, literal
	default:
		n.Kind, n.Text = KindExists, ""
		n.searchIn(n.Field)
	}
	return fromNode(*n)
}

func (n *Node) group() Expr {
	n.Clauses = slices.Clone(n.Clauses)
	for i, c := range n.Clauses {
		if c.Expr == nil || c.Expr.tree().Kind == KindRaw {
			n.Clauses[i].Expr = operand(c.Expr)
		}
	}
	c := n.Clauses[0]
	keeps := n.Field == "" && n.Boost == nil && isBareWord(c.Expr) // (a) stays apart from its neighbours
	if len(n.Clauses) > 1 || c.Sign != NoSign || keeps {
		return fromNode(*n)
	}
	e := n.Field.Match(c.Expr)
	if n.Boost != nil {
		return Boost(e, *n.Boost)
	}
	return e
}

// fault says why the node cannot be written, or is empty.
func (n *Node) fault() string {
	switch {
	case n.Kind == KindInvalid:
		return cmp.Or(n.Text, "a node has no kind")
	case !utf8.ValidString(n.Text):
		return notUTF8(n.Text)
	case n.Boost != nil && !(*n.Boost >= 0 && *n.Boost <= math.MaxFloat32):
		return fmt.Sprintf("a boost of %v is no finite number from 0 up", *n.Boost)
	}
	switch n.Kind {
	case KindTerm, KindPrefix, KindWildcard, KindFuzzy, KindRegexp:
		return n.wordFault()
	case KindPhrase:
		if n.Slop != nil && *n.Slop < 0 {
			return quoteText(n.Text) + ": the slop of a phrase is a number from 0 up"
		}
	case KindRange:
		return n.Range.fault()
	case KindGroup:
		return groupFault(n.Clauses)
	case KindExists, KindAll, KindRaw:
	default:
		return n.Kind.String() + " is unknown"
	}
	return ""
}

func (n *Node) wordFault() string {
	if n.Text == "" {
		return "a word without quotes is empty"
	}
	switch n.Kind {
	case KindFuzzy:
		if n.Edits != AutoEdits && n.Edits != 1 && n.Edits != 2 && !(n.Edits >= 0 && n.Edits < 1) {
			return fmt.Sprintf("%v edits: a fuzzy search allows 0, 1 or 2", n.Edits)
		}
	case KindRegexp:
		p := parser{text: n.Text}
		if _, err := p.unescape(0, len(n.Text)); err != nil || delimitedLen("/"+n.Text+"/", '/') != len(n.Text)+2 {
			return quoteText(n.Text) + `: in a regular expression a backslash has to stand before another character, and before every slash`
		}
	}
	return ""
}

func (r *Range) fault() string {
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

func groupFault(clauses []Clause) string {
	for i, c := range clauses {
		if c.Sign > SignMustNot || c.Join > JoinOr || i == 0 && c.Join != NoJoin {
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

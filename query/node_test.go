package query_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	. "github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/query/syntax"
)

func mustParse(t *testing.T, text string) Expr {
	e, err := Parse(text)
	require.NoError(t, err, text)
	return e
}

// Every node goes into data and back.
func TestNodesAreData(t *testing.T) {
	for _, text := range []string{
		"a", `"a b"~2`, "f:a*", "*a?", "f:a~1", "a~", "a~0.5", "/a/", "f:[1 TO *}", "f:*", "*:*", "a b", "+a -b", "f:(a AND b)^2", "((a)^2)^3", "(a) b", "-a", "a^0",
	} {
		e := mustParse(t, text)
		assert.Equal(t, e, FromSyntax(Syntax(e)), text)
	}
	word := func(text string) *syntax.Node { return &syntax.Node{Kind: syntax.KindTerm, Text: text} }
	for want, n := range map[string]*syntax.Node{
		`f:>5`:          {Kind: syntax.KindTerm, Field: "f", Text: ">5"},
		"f:a*":          {Kind: syntax.KindWildcard, Field: "f", Text: "a*"},
		"f:*":           {Kind: syntax.KindWildcard, Field: "f", Text: "*"},
		"*:*":           {Kind: syntax.KindExists, Field: "*"},
		`"a"`:           {Kind: syntax.KindPhrase, Text: "a"},
		"f:a":           {Kind: syntax.KindGroup, Field: "f", Clauses: []syntax.Clause{{Node: word("a")}}},
		"a^2":           {Kind: syntax.KindGroup, Boost: new(float32(2)), Clauses: []syntax.Clause{{Node: word("a")}}},
		"a b":           {Kind: syntax.KindRaw, Text: "a b"},
		"f:(a AND b)^2": {Kind: syntax.KindRaw, Field: "f", Text: "a AND b", Boost: new(float32(2))},
		"+(a b) OR c": {Kind: syntax.KindGroup, Clauses: []syntax.Clause{
			{Sign: syntax.SignMust, Node: &syntax.Node{Kind: syntax.KindRaw, Text: "a b"}}, {Join: syntax.JoinOr, Node: word("c")}}},
	} {
		e := FromSyntax(n)
		assert.Equal(t, want, e.String())
		if n.Kind != syntax.KindRaw || n.Field != "" {
			assert.Equal(t, mustParse(t, want), e)
		}
	}
	for _, n := range []*syntax.Node{
		nil, {}, {Kind: 99}, {Kind: syntax.KindGroup, Clauses: []syntax.Clause{{Node: &syntax.Node{Kind: syntax.KindTerm, Field: "\xff", Text: "a"}}}}, {Kind: syntax.KindTerm}, {Kind: syntax.KindWildcard, Text: "a"}, {Kind: syntax.KindFuzzy, Text: "a", Edits: 3}, {Kind: syntax.KindRange}, {Kind: syntax.KindGroup},
		{Kind: syntax.KindGroup, Clauses: []syntax.Clause{{}}}, {Kind: syntax.KindGroup, Clauses: []syntax.Clause{{Join: syntax.JoinAnd, Node: word("a")}}},
		{Kind: syntax.KindGroup, Clauses: []syntax.Clause{{Sign: 9, Node: word("a")}}}, {Kind: syntax.KindTerm, Text: "a", Boost: new(float32(-1))},
		{Kind: syntax.KindPhrase, Slop: new(-1)}, {Kind: syntax.KindRegexp, Text: "a/b"}, {Kind: syntax.KindRange, Range: &syntax.Range{Low: "*"}},
	} {
		assert.ErrorIs(t, Check(FromSyntax(n)), datacite.ErrInvalid, "%+v", n)
		assert.Contains(t, FromSyntax(n).String(), "()")
	}
}

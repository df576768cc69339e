package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/datacite-go/datacite-go/query"
)

func mustParse(t *testing.T, text string) Expr {
	e, err := Parse(text)
	require.NoError(t, err, text)
	return e
}

// Walk shows every part with the field it is searched in.
func TestWalk(t *testing.T) {
	var seen []string
	for n := range Walk(mustParse(t, `a titles.title:(b* OR subjects.subject:"c d" AND *:*) [1 TO 2]`)) {
		seen = append(seen, strings.TrimSpace(fmt.Sprint(n.Kind, " ", n.Field, " ", n.Text)))
	}
	assert.Equal(t, []string{
		"group", "term  a", "group titles.title", "prefix titles.title b", "phrase subjects.subject c d", "all", "range",
	}, seen)

	for n := range Walk(And(Term("a"), Term("b"))) {
		assert.Equal(t, KindGroup, n.Kind)
		break // a loop may end early
	}
	for n := range Walk(nil) {
		assert.Equal(t, KindInvalid, n.Kind)
	}
}

// A platform lets people write short names of fields.
func TestRewriteFields(t *testing.T) {
	short := map[Field]Field{"title": FieldTitle, "year": FieldPublicationYear}
	rename := func(n Node) Expr {
		f, ok := short[n.Field]
		if !ok {
			return nil
		}
		n.Field = f
		return n.Expr()
	}
	for typed, want := range map[string]string{
		"title:climate":          "titles.title:climate",
		"title:(a OR b)":         "titles.title:(titles.title:a OR titles.title:b)",
		"year:[2010 TO 2015]":    "publicationYear:[2010 TO 2015]",
		"a -year:2010^2":         "a -publicationYear:2010^2",
		"a OR (title:b c)":       "a OR (titles.title:b c)",
		`doi:"10.1/a" AND other`: `doi:"10.1/a" AND other`,
	} {
		e := Rewrite(mustParse(t, typed), rename)
		assert.Equal(t, want, e.String())
		assert.Equal(t, e, mustParse(t, want))
	}
}

// A platform takes out what it does not want, wherever it stands.
func TestRewriteParts(t *testing.T) {
	noWildcards := func(n Node) Expr {
		if n.Kind == KindPrefix || n.Kind == KindWildcard {
			return n.Field.Is(n.Text)
		}
		return nil
	}
	assert.Equal(t, "a (b) titles.title:c", Rewrite(mustParse(t, "a b* titles.title:c*"), noWildcards).String())
	assert.Equal(t, "a", Rewrite(mustParse(t, "a*"), noWildcards).String())

	onlyOr := func(n Node) Expr {
		for i := range n.Clauses {
			if n.Clauses[i].Join == JoinAnd {
				n.Clauses[i].Join = JoinOr
			}
		}
		if n.Kind == KindGroup {
			return n.Expr()
		}
		return nil
	}
	assert.Equal(t, "a OR (b OR c)", Rewrite(mustParse(t, "a AND (b AND c)"), onlyOr).String())

	nothing := func(Node) Expr { return And() }
	assert.Error(t, Check(Rewrite(mustParse(t, "a AND b"), nothing)))
}

// Every node goes into data and back.
func TestNodesAreData(t *testing.T) {
	for _, text := range []string{
		"a", `"a b"~2`, "f:a*", "*a?", "f:a~1", "a~", "a~0.5", "/a/", "f:[1 TO *}", "f:*", "*:*", "a b", "+a -b", "f:(a AND b)^2", "((a)^2)^3", "(a) b", "-a", "a^0",
	} {
		e := mustParse(t, text)
		assert.Equal(t, e, Inspect(e).Expr(), text)
	}
	for want, n := range map[string]Node{
		`f:>5`:          {Kind: KindTerm, Field: "f", Text: ">5"},
		"f:a*":          {Kind: KindWildcard, Field: "f", Text: "a*"},
		"f:*":           {Kind: KindWildcard, Field: "f", Text: "*"},
		"*:*":           {Kind: KindExists, Field: "*"},
		`"a"`:           {Kind: KindPhrase, Text: "a"},
		"f:a":           {Kind: KindGroup, Field: "f", Clauses: []Clause{{Expr: Term("a")}}},
		"a^2":           {Kind: KindGroup, Boost: new(float32(2)), Clauses: []Clause{{Expr: Term("a")}}},
		"a b":           {Kind: KindRaw, Text: "a b"},
		"f:(a AND b)^2": {Kind: KindRaw, Field: "f", Text: "a AND b", Boost: new(float32(2))},
		"+(a b) OR c": {Kind: KindGroup, Clauses: []Clause{
			{Sign: SignMust, Expr: Raw("a b")}, {Join: JoinOr, Expr: Term("c")}}},
	} {
		e := n.Expr()
		assert.Equal(t, want, e.String())
		if n.Kind != KindRaw || n.Field != "" {
			assert.Equal(t, mustParse(t, want), e)
		}
	}
	for _, n := range []Node{
		{}, {Kind: 99}, {Kind: KindTerm}, {Kind: KindWildcard, Text: "a"}, {Kind: KindFuzzy, Text: "a", Edits: 3}, {Kind: KindRange}, {Kind: KindGroup},
		{Kind: KindGroup, Clauses: []Clause{{}}}, {Kind: KindGroup, Clauses: []Clause{{Join: JoinAnd, Expr: Term("a")}}},
		{Kind: KindGroup, Clauses: []Clause{{Sign: 9, Expr: Term("a")}}}, {Kind: KindTerm, Text: "a", Boost: new(float32(-1))},
		{Kind: KindPhrase, Slop: new(-1)}, {Kind: KindRegexp, Text: "a/b"}, {Kind: KindRange, Range: &Range{Low: "*"}},
	} {
		assert.ErrorIs(t, Check(n.Expr()), ErrInvalid, "%+v", n)
		assert.Contains(t, n.Expr().String(), "()")
	}
	assert.Equal(t, "group", KindGroup.String())
	assert.Equal(t, "kind 99", Kind(99).String())
}

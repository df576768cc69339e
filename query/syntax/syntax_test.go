package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/query/syntax"
)

func parsed(t *testing.T, text string) *syntax.Node {
	e, err := query.Parse(text)
	require.NoError(t, err, text)
	return query.Syntax(e)
}

// Walk shows every part with the field it is searched in.
func TestWalk(t *testing.T) {
	var seen []string
	for n, field := range syntax.Walk(parsed(t, `a titles.title:(b* OR subjects.subject:"c d" AND *:*) [1 TO 2]`)) {
		seen = append(seen, strings.TrimSpace(fmt.Sprint(n.Kind, " ", field, " ", n.Text)))
	}
	assert.Equal(t, []string{
		"group", "term  a", "group titles.title", "prefix titles.title b", "phrase subjects.subject c d", "all", "range",
	}, seen)

	for n := range syntax.Walk(query.Syntax(query.And(query.Term("a"), query.Term("b")))) {
		assert.Equal(t, syntax.KindGroup, n.Kind)
		break // a loop may end early
	}
	for n := range syntax.Walk(query.Syntax(nil)) {
		assert.Equal(t, syntax.KindInvalid, n.Kind)
	}
}

// A platform lets people write short names of fields.
func TestRewriteFields(t *testing.T) {
	short := map[string]string{"title": "titles.title", "year": "publicationYear"}
	rename := func(n *syntax.Node, _ string) *syntax.Node {
		if f, ok := short[n.Field]; ok {
			n.Field = f
		}
		return n
	}
	for typed, want := range map[string]string{
		"title:climate":          "titles.title:climate",
		"title:(a OR b)":         "titles.title:(a OR b)",
		"year:[2010 TO 2015]":    "publicationYear:[2010 TO 2015]",
		"a -year:2010^2":         "a -publicationYear:2010^2",
		"a OR (title:b c)":       "a OR (titles.title:b c)",
		`doi:"10.1/a" AND other`: `doi:"10.1/a" AND other`,
	} {
		e := query.FromSyntax(syntax.Rewrite(parsed(t, typed), rename))
		assert.Equal(t, want, e.String())
		assert.Equal(t, parsed(t, want), query.Syntax(e))
	}
}

// A platform takes out what it does not want, wherever it stands.
func TestRewriteParts(t *testing.T) {
	rewritten := func(text string, change func(*syntax.Node, string) *syntax.Node) query.Expr {
		return query.FromSyntax(syntax.Rewrite(parsed(t, text), change))
	}
	noWildcards := func(n *syntax.Node, field string) *syntax.Node {
		if n.Kind == syntax.KindPrefix || n.Kind == syntax.KindWildcard {
			return query.Syntax(query.Field(n.Field).Is(n.Text))
		}
		return n
	}
	assert.Equal(t, "a (b) titles.title:c", rewritten("a b* titles.title:c*", noWildcards).String())
	assert.Equal(t, "a", rewritten("a*", noWildcards).String())

	onlyOr := func(n *syntax.Node, _ string) *syntax.Node {
		for i := range n.Clauses {
			if n.Clauses[i].Join == syntax.JoinAnd {
				n.Clauses[i].Join = syntax.JoinOr
			}
		}
		return n
	}
	assert.Equal(t, "a OR (b OR c)", rewritten("a AND (b AND c)", onlyOr).String())

	for _, nothing := range []*syntax.Node{query.Syntax(query.And()), nil, {}} {
		assert.Error(t, query.Check(rewritten("a AND b", func(*syntax.Node, string) *syntax.Node { return nothing })))
	}
}

// A copy of a tree shares nothing with it.
func TestACloneSharesNothing(t *testing.T) {
	tree := parsed(t, `+a "b"~2 f:([1 TO 2]^3)`)
	text := query.FromSyntax(tree).String()
	for n := range syntax.Walk(tree.Clone()) {
		n.Text, n.Field = "z", "z"
		if n.Slop != nil {
			*n.Slop = 9
		}
		if n.Boost != nil {
			*n.Boost = 9
		}
		if n.Range != nil {
			n.Range.Low = "9"
		}
		clear(n.Clauses)
		n.Clauses = nil
	}
	assert.Equal(t, text, query.FromSyntax(tree).String())
}

func TestKindNames(t *testing.T) {
	assert.Equal(t, "group", syntax.KindGroup.String())
	assert.Equal(t, "kind 99", syntax.Kind(99).String())
}

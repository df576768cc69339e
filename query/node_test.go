package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/query/internal/syntax"
)

func mustParse(t *testing.T, text string) Expr {
	e, err := Parse(text)
	require.NoError(t, err, text)
	return e
}

// Walk shows every part with the field it is searched in.
func TestWalk(t *testing.T) {
	var seen []string
	for n, field := range syntax.Walk(Syntax(mustParse(t, `a titles.title:(b* OR subjects.subject:"c d" AND *:*) [1 TO 2]`))) {
		seen = append(seen, strings.TrimSpace(fmt.Sprint(n.Kind, " ", field, " ", n.Text)))
	}
	assert.Equal(t, []string{
		"group", "term  a", "group titles.title", "prefix titles.title b", "phrase subjects.subject c d", "all", "range",
	}, seen)
}

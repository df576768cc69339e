package search_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
)

// has is a record of some of the words a, b, c and d.
type has struct{ a, b, c, d bool }

// everyRecord is one record for each set of the four words.
func everyRecord() map[has]map[string]any {
	list := make(map[has]map[string]any)
	for i := range 16 {
		h := has{i&1 > 0, i&2 > 0, i&4 > 0, i&8 > 0}
		var title strings.Builder
		for word, there := range map[string]bool{"a ": h.a, "b ": h.b, "c ": h.c, "d ": h.d} {
			if there {
				title.WriteString(word)
			}
		}
		list[h] = map[string]any{"titles": []any{map[string]any{"title": title.String()}}}
	}
	return list
}

// AND, OR and NOT set what the clauses beside them are; they do not bind as in
// a formula.
func TestOperators(t *testing.T) {
	for _, c := range []struct {
		query string
		or    func(h has) bool // what it means when neighbours are optional
		and   func(h has) bool // and when they are required; nil: the same
	}{
		{"a b", func(h has) bool { return h.a || h.b }, func(h has) bool { return h.a && h.b }},
		{"a OR b AND c", func(h has) bool { return h.b && h.c }, nil},
		{"a AND b OR c", func(h has) bool { return h.a && h.b }, func(h has) bool { return h.a }},
		{"a AND b OR c AND d", func(h has) bool { return h.a && h.b && h.c && h.d },
			func(h has) bool { return h.a && h.c && h.d }},
		{"a OR b c", func(h has) bool { return h.a || h.b || h.c }, func(h has) bool { return h.c }},
		{"a OR +b", func(h has) bool { return h.b }, func(h has) bool { return h.a || h.b }},
		{"+a b", func(h has) bool { return h.a }, func(h has) bool { return h.a && h.b }},
		{"a OR NOT b", func(h has) bool { return h.a && !h.b }, nil},
		{"a AND NOT b", func(h has) bool { return h.a && !h.b }, nil},
		{"a NOT b AND c", func(h has) bool { return !h.b && h.c }, func(h has) bool { return h.a && !h.b && h.c }},
		{"-a OR -b", func(h has) bool { return !h.a && !h.b }, nil},
		{"a OR (NOT b)", func(h has) bool { return h.a || !h.b }, nil},
		{"a OR (*:* AND NOT b)", func(h has) bool { return h.a || !h.b }, nil},
		{"NOT a", func(h has) bool { return !h.a }, nil},
		{"*:* AND NOT a", func(h has) bool { return !h.a }, nil},
		{"(a OR b) AND c", func(h has) bool { return (h.a || h.b) && h.c }, nil},
		{"a AND (b OR (c AND d))", func(h has) bool { return h.a && (h.b || h.c && h.d) }, nil},
		{"NOT (NOT a)", func(h has) bool { return h.a }, nil},
		{"((a))", func(h has) bool { return h.a }, nil},
		{"a && b || c", func(h has) bool { return h.a && h.b }, func(h has) bool { return h.a }},
		{"a !b", func(h has) bool { return h.a && !h.b }, nil},
		{"a!b", func(h has) bool { return h.a && !h.b }, nil},
		{"a -b", func(h has) bool { return h.a && !h.b }, nil},
		{"titles.title:(a - b)", func(h has) bool { return h.a || h.b }, func(h has) bool { return h.a && h.b }},
		{"a - b", func(h has) bool { return h.a || h.b }, func(h has) bool { return false }}, // no DOI is "-"
		{"a-b", func(h has) bool { return h.a || h.b }, func(h has) bool { return h.a && h.b }},
		{"a&&b", func(h has) bool { return h.a || h.b }, func(h has) bool { return h.a && h.b }},
		{"a and b", func(h has) bool { return h.a || h.b }, func(h has) bool { return false }},
		{`a "b"`, func(h has) bool { return h.a || h.b }, func(h has) bool { return h.a && h.b }},
		{"a AND b c d", func(h has) bool { return h.a && h.b }, func(h has) bool { return h.a && h.b && h.c && h.d }},
		{"a b OR c", func(h has) bool { return h.a || h.b || h.c }, func(h has) bool { return h.a }},
		{"a titles.title:b c", func(h has) bool { return h.a || h.b || h.c }, func(h has) bool { return h.a && h.b && h.c }},
		{"titles.title:(a b)", func(h has) bool { return h.a || h.b }, func(h has) bool { return h.a && h.b }},
		{"titles.title:(+a -b)", func(h has) bool { return h.a && !h.b }, nil},
		{"doi:(a titles.title:b)", func(h has) bool { return h.b }, func(h has) bool { return false }},
		{"titles.title : a", func(h has) bool { return h.a }, nil},
		{"a^1e3", func(h has) bool { return h.a }, func(h has) bool { return false }}, // 1, and a word e3
		{"a b*", func(h has) bool { return h.a || h.b }, func(h has) bool { return h.a && h.b }},
		{"a~0 AND b^2", func(h has) bool { return h.a && h.b }, nil},
		{`a AND titles.title:""`, func(h has) bool { return h.a }, nil},
		{`titles.title:(a OR ("" AND "-"))`, func(h has) bool { return h.a }, nil},
		{`NOT titles.title:""`, func(h has) bool { return false }, nil},
	} {
		t.Run(c.query, func(t *testing.T) {
			agree(t, c.query, documented, c.or)
			if c.and == nil {
				c.and = c.or
			}
			agree(t, c.query, deployed, c.and)
		})
	}
}

func agree(t *testing.T, query string, deployed bool, want func(has) bool) {
	t.Helper()
	q, err := search.Parse(query, deployed)
	require.NoError(t, err)
	for h, record := range everyRecord() {
		_, ok := match(q, record)
		assert.Equal(t, want(h), ok, "%s, deployed: %t, in a record of %+v", query, deployed, h)
	}
}

package search_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

func TestRefused(t *testing.T) {
	for _, c := range []struct{ query, reason string }{
		{"a OR", "the end of the query"},
		{"AND a", `Encountered "AND" at column 1`},
		{"a OR OR b", `Encountered "OR" at column 6`},
		{"OR", `Encountered "OR" at column 1`},
		{"()", `Encountered ")" at column 2`},
		{"(a", "the end of the query"},
		{"a)", `Encountered ")" at column 2`},
		{"é (b))", `Encountered ")" at column 6`},
		{"--a", `Encountered "-" at column 2`},
		{"+-a", `Encountered "-" at column 2`},
		{"NOT NOT a", `Encountered "NOT" at column 5`},
		{"a -", "the end of the query"},
		{"doi:", "the end of the query"},
		{"doi:-5", `Encountered "-" at column 5`},
		{"doi:NOT 5", `Encountered "NOT" at column 5`},
		{"doi::5", `Encountered ":" at column 5`},
		{`"a b":x`, `Encountered ":" at column 6`},
		{"titles.*:x", `Encountered ":" at column 9`},
		{`"a`, "the quotation mark at column 1 is not closed"},
		{`"a\"`, "the quotation mark at column 1 is not closed"},
		{`a\`, "Lexical error at column 3: the text ends too early"},
		{"a]", `Lexical error at column 2: ']'`},
		{"a^", "Lexical error at column 3"},
		{"a^.5", `Lexical error at column 3: '.'`},
		{"a^-1", `Lexical error at column 3: '-'`},
		{"a^2^3", `Encountered "3"`},
		{"a^" + strings.Repeat("9", 50), "boost must be a positive float"},
		{"AND~1", `Encountered "AND" at column 1`},
		{`\ufoo`, `Non-hex character in Unicode escape sequence: "o"`},
		{`\u00e`, "Truncated unicode escape sequence"},
		{`*\ufoo`, "Non-hex character"},
		{`\ufoo:x`, "Non-hex character"},
		{"[a TO b", "the end of the query"},
		{"[a b]", `Encountered "b" at column 4`},
		{"[1 to 2]", `Encountered "to" at column 4`},
		{"[TO b]", `Encountered "b" at column 5`},
		{`[a\ b TO c]`, "Term can not end with escape character"},
		{`[a\] TO c`, "Term can not end with escape character"},
		{`[a] TO c`, `Encountered "]" at column 3`},
		{"a [b TO c] ]", `Lexical error at column 12: ']'`},
		{`[a TO \u]`, "Truncated unicode escape sequence"},
		{`[a\ TO b]`, "Term can not end with escape character"},
		{"publication_year:20*", "Can only use prefix queries on keyword, text and wildcard fields - not on " +
			"[publication_year] which is of type [date]"},
		{"publication_year:2?10", "Can only use wildcard queries on keyword, text and wildcard fields - not on " +
			"[publication_year]"},
		{"created:2015*", "Can only use prefix queries"},
		{"view_count:1*", "not on [view_count] which is of type [integer]"},
		{"publication_year:abc", "failed to parse date field [abc] with format [yyyy]"},
		{"publication_year:2015-01", "failed to parse date field [2015-01] with format [yyyy]"},
		{"publication_year:[abc TO 2015]", "failed to parse date field [abc]"},
		{"publication_year:(x OR 2015)", "failed to parse date field [x]"},
		{"created:yesterday", "failed to parse date field [yesterday]"},
		{"created:2015-02-30", "failed to parse date field [2015-02-30]"},
		{"created:[2015 TO soon]", "failed to parse date field [soon]"},
		{"view_count:many", `failed to create query: For input string: "many"`},
		{"view_count:NaN", `failed to create query: For input string: "NaN"`},
		{"view_count:[0 TO lots]", `For input string: "lots"`},
	} {
		t.Run(c.query, func(t *testing.T) {
			for _, rules := range []bool{documented, deployed} {
				_, err := search.Parse(c.query, rules)
				require.Error(t, err)
				assert.Contains(t, err.Error(), c.reason)
			}
		})
	}
}

// What the embedded service cannot read as its servers do is refused, and not searched for.
func TestUnsupported(t *testing.T) {
	for gap, queries := range map[*wire.Gap][]string{
		wire.QueryDates: {"created:[now-1d/d TO now]", "created:>now", "created:{2015-01-01||-1d/w TO 2016]",
			"publication_year:[2014||-4y TO 2012]"},
		wire.QueryDistance: {"a~", "a~AUTO", "a~.5", "a~1.5", "a~-1", "a~foo", `"a b"~x`, `"a b"~-1`,
			"publication_year:2010~"},
		wire.QueryScript: {"titles.title:気", `titles.title:"気候"`, `titles.title:\気`, "気*", "titles.title:สวัสดี", "😀",
			"a\u3000b"},
		wire.QueryFields: {`titles.\*:a`, `\*:a`, "*:a", `_exists_:tit\*`, `titles.\*:*`},
		wire.QueryEscape: {`\ud83d\ude00`, `["a\"b" TO c]`, `["a TO b]`},
	} {
		for _, query := range queries {
			for _, rules := range []bool{documented, deployed} {
				_, err := search.Parse(query, rules)
				require.Error(t, err, query)
				assert.Contains(t, err.Error(), gap.Name, query)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	clauses := func(n int) string { return strings.TrimSuffix(strings.Repeat("a OR ", n), " OR ") }
	nested := func(n int) string { return strings.Repeat("(", n) + "a" + strings.Repeat(")", n) }
	for _, c := range []struct {
		name, query, reason string
	}{
		{"1,024 clauses", clauses(1024), ""},
		{"1,025 clauses", clauses(1025), "too many clauses"},
		{"1,025 clauses in brackets", "(" + clauses(512) + ") AND (" + clauses(513) + ")", "too many clauses"},
		{"1,025 words side by side", strings.Repeat("a ", 1025), "too many clauses"},
		{"1,025 words in one", "a" + strings.Repeat("-a", 1024), "too many clauses"},
		{"a thousand brackets", nested(1000), ""},
		{"more brackets", nested(1001), "nested more than 1000 deep"},
		{"many open brackets", strings.Repeat("(", 100_000), "nested more than 1000 deep"},
		{"a longer one", strings.Repeat("(", 100_001), "too long"},
		{"brackets side by side", strings.Repeat("(a) ", 1000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, rules := range []bool{documented, deployed} {
				_, err := search.Parse(c.query, rules)
				if c.reason == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorContains(t, err, c.reason)
			}
		})
	}
}

package query_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	. "github.com/datacite-go/datacite-go/query"
)

// What people type, and how it is written back.
func TestParse(t *testing.T) {
	for typed, want := range map[string]string{
		"  climate   change ":                    "climate change",
		"climate && change || !ice":              "climate AND change OR NOT ice",
		"NOT a":                                  "-a",
		"!a":                                     "-a",
		"(a)":                                    "a",
		"(a) b":                                  "(a) b",
		"((a AND b))":                            "a AND b",
		"titles.title : (a b)":                   "titles.title:(a b)",
		"titles.title:(a)":                       "titles.title:a",
		`doi:10.5438\/abc`:                       `doi:10.5438\u002fabc`,
		`doi:10.5438\/*`:                         `doi:10.5438\u002f*`,
		`"a"~2.0`:                                `"a"~2`,
		"a~AUTO OR a~auto OR a~":                 "a~ OR a~ OR a~",
		"a~.5 OR a~0.5 OR a~0.":                  "a~0.5 OR a~0.5 OR a~0",
		`"a b"~.5 OR "a b"~2.7 OR a*~1`:          `"a b"~0 OR "a b"~2 OR a*`,
		"a~1^2":                                  "a~1^2",
		"a^2~1":                                  "a~1^2",
		"a^2.50":                                 "a^2.5",
		"publicationYear:>=2010":                 "publicationYear:>=2010",
		"[ * TO 2015 }":                          "[* TO 2015}",
		`publisher:publicationYear`:              `publisher:publication\Year`,
		`relatedItems.publicationYear:2020`:      `relatedItems.publication\Year:2020`,
		`_exists_:publicationYear`:               `_exists_:publicationYear`,
		"c - d":                                  `c \- d`,
		`\u0041ND AND \ud83d\ude00`:              `\AND AND 😀`,
		"a\u3000b":                               "a b",
		`/a\/b/`:                                 `/a\/b/`,
		`publisher.name:x OR version:1 OR *:*^2`: "publisher.name:x OR version:1 OR *:*^2",
	} {
		assert.Equal(t, want, mustParse(t, typed).String(), typed)
	}
}

// A person can see where and why a text is no query.
func TestSyntaxErrors(t *testing.T) {
	for _, test := range []struct {
		text   string
		offset int
		reason string
	}{
		{"", 0, "empty"},
		{"a AND", 5, "ends too early"},
		{"AND a", 0, "AND needs something before it and after it"},
		{"a AND OR b", 6, "OR needs something before it"},
		{"a --b", 3, "directly before a word"},
		{"a (b OR c", 2, "this bracket is not closed"},
		{"a) OR (b", 1, "closes nothing"},
		{"()", 1, "nothing in it"},
		{`a "b c`, 2, "this quote is not closed"},
		{"doi:10.5438/0012", 11, "quote a value with a slash"},
		{"Climate: a: review", 10, "a colon has to follow the name of a field"},
		{"Climate:: review", 8, "a colon has to follow the name of a field"},
		{"title:", 6, "ends too early"},
		{"a]", 1, "has no meaning here"},
		{`a \`, 2, "before another character"},
		{`a \u00`, 2, "four hexadecimal digits"},
		{`"é \ux"`, 4, "four hexadecimal digits"},
		{"a^b", 2, "has to follow ^ directly"},
		{"a^ 2", 2, "has to follow ^ directly"},
		{"a^2^3", 3, "a ^ has to follow"},
		{"a^" + strings.Repeat("9", 50), 2, "too large"},
		{"a~-1", 1, "not a number"}, {"a~2f", 1,
			"not a number"}, {"a~NaN", 1, "not a number"}, {"a~NaN\x00", 1, "not a number"},
		{"a~foo", 1, "not a number"}, {"a~.", 1,
			"not a number"}, {"a~+1", 1, "not a number"}, {"a~1x", 1, "not a number"}, {"a~é", 1, "not a number"},
		{`"a b"~foo`, 5, "not a number"}, {`"a b"~AUTO`, 5, "not a number"}, {"a*~foo", 2, "not a number"},
		{"a~1.5", 1, "whole number"},
		{"~1", 0, "a ~ has to follow a word"},
		{"[2010 to 2015]", 6, "TO in capitals"},
		{"[a b TO c]", 3, "a bound with blanks needs quotes"},
		{"[a TO b", 0, "this range is not closed"},
		{"[]", 1, "a range is written [low TO high]"},
		{"[a TO b]~1", 8, "a ~ has to follow a word"},
		{"a\xffb", 1, "UTF-8"},
		{"\ufffd \xc3", 4, "UTF-8"},
		{strings.Repeat("(", 300) + "a" + strings.Repeat(")", 300), 200, "more than 200 nested brackets"},
		{strings.Repeat("a ", 1025), 2050, "more than 1024 clauses"},
	} {
		e, err := Parse(test.text)
		require.Error(t, err, test.text)
		assert.Nil(t, e)
		fault, ok := errors.AsType[*SyntaxError](err)
		require.True(t, ok)
		assert.Equal(t, test.offset, fault.Offset, "%s: %v", test.text, err)
		assert.ErrorContains(t, err, test.reason, test.text)
		invalid, ok := errors.AsType[*datacite.ValidationError](err)
		require.True(t, ok)
		assert.Equal(t, datacite.Finding{Path: "query", Code: "syntax",
			Reason: fmt.Sprintf("at offset %d: %s", fault.Offset, fault.Reason)}, invalid.Findings[0])
	}
}

// Explicit makes of a text what a server with that default operator reads.
func TestExplicit(t *testing.T) {
	for _, test := range []struct{ typed, or, and string }{
		{"a b", "a OR b", "a AND b"},
		{"a -b", "a AND NOT b", "a AND NOT b"},
		{"+a b", "a AND (b OR *:*)", "a AND b"},
		{"a OR b AND c", "(a OR *:*) AND b AND c", "(a OR *:*) AND b AND c"},
		{"a OR +b", "(a OR *:*) AND b", "a OR b"},
		{"a OR b c", "a OR b OR c", "(a OR b OR *:*) AND c"},
		{"f:(a b)^2 c", "f:(a OR b)^2 OR c", "f:(a AND b)^2 AND c"},
		{"-a -b", "*:* AND NOT a AND NOT b", "*:* AND NOT a AND NOT b"},
		{"a OR (-b)", "a OR (*:* AND NOT b)", "a OR (*:* AND NOT b)"},
		{"a", "a", "a"},
	} {
		e := mustParse(t, test.typed)
		assert.Equal(t, test.or, Explicit(e, OperatorOr).String(), test.typed)
		assert.Equal(t, test.and, Explicit(e, OperatorAnd).String(), test.typed)
	}
}

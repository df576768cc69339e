package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/query"
)

func ExampleTyped() {
	for _, text := range []string{
		`glacier length`,
		`"climate change" (alps`,
		`https://doi.org/10.5072/ABC`,
		`title:ice OR *`,
		`😀 ?!`,
	} {
		q := query.Typed(text)
		if err := query.Check(q); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(q)
	}
	// Output:
	// glacier AND length
	// "climate change"~0 AND alps
	// doi:"10.5072/abc"
	// "title:ice"~0 AND "OR"
	// datacite: query: an expression: nothing in "😀 ?!" can be searched: it has no letter and no digit
}

func TestTyped(t *testing.T) {
	for text, want := range map[string]string{
		"climate":                          "climate",
		" climate\tchange\u00a0\u3000ice ": "climate AND change AND ice",
		`"climate change" ice`:             `"climate change"~0 AND ice`,
		`“climate  change” „ice“ «snow»`:   `"climate change"~0 AND ice AND snow`,
		`"climate change`:                  "climate AND change",
		`climate "change" "`:               "climate AND change",
		`climate "" "?" ice`:               "climate AND ice",
		`19" rack, 5" disk`:                "19 AND rack AND 5 AND disk",
		`title:"climate change"`:           `title AND "climate change"~0`,
		"(climate) [change {ice":           "climate AND change AND ice",
		"climate AND change AND":           `climate AND change AND "AND"`,
		"AND":                              `"AND"`,
		"climate OR ice":                   `climate AND "OR" AND ice`,
		"NOT ice && || snow !":             `"NOT" AND ice AND snow`,
		"climate -ice +snow":               "climate AND ice AND snow",
		"R&D C++ C# e-mail 50%":            `"R&D"~0 AND C AND C AND "e-mail"~0 AND 50`,
		"clim* wom?n a~1 b^2":              `clim AND "wom?n"~0 AND "a~1"~0 AND "b^2"~0`,
		"what? when! _id_ e\u0301":         "what AND when AND \"_id_\"~0 AND \"e\u0301\"~0",
		"*:*) OR aasm_state:draft":         `"OR" AND "aasm_state:draft"~0`,
		"publicationYear:2020":             `"publication\Year:2020"~0`,
		"[2010 TO 2015]":                   `2010 AND "TO" AND 2015`,
		"気候 变化":                            `"気候"~0 AND "变化"~0`,
		"😀 ice Ⅳ":                          `ice AND "Ⅳ"`,
		"a\xffb \\":                        "a AND b",
		"/a/ https://example.org/x":        `a AND "https://example.org/x"~0`,
		"10.5072/ABC":                      `doi:"10.5072/abc"`,
		`see "doi: 10.5072/ABC" ice`:       `doi:"10.5072/abc" AND see AND ice`,
		`"ice 10.5072/a snow"`:             `doi:"10.5072/a" AND ice AND snow`,
		"10.5072/a, 10.5072/b, 10.5072/A":  `doi:("10.5072/a" OR "10.5072/b")`,
	} {
		e := query.Typed(text)
		assert.NoError(t, query.Check(e), text)
		assert.Equal(t, want, e.String(), text)
	}
	for _, text := range []string{"", " ", `""`, `"`, "*", "*:*", "😀 👍🏽", "?!…", "()", "- + &&", "\xff", "²"} {
		require.ErrorIs(t, query.Check(query.Typed(text)), datacite.ErrInvalid, "%q", text)
		require.ErrorContains(t, query.Check(query.And(query.FieldClientID.Is("a"), query.Typed(text))), "can be searched", "%q", text)
	}
}

// However much is pasted, it is one query that the service accepts, and no word is dropped.
func TestTypedIsWithinTheLimits(t *testing.T) {
	e := query.Typed(strings.Repeat("ice snow ", 5_000))
	require.NoError(t, query.Check(query.And(query.FieldClientID.Is("a"), e)))
	assert.Equal(t, 10_000, strings.Count(e.String(), "ice")+strings.Count(e.String(), "snow"))

	for _, s := range []string{"10.1234/", "x10.1234/", "10.", "10.1234.", ",10.1234", `"`, `a"`, `"a`, "(", "10.1234/(", "doi ", "doi10.1234/", "\u200b", "%2F10.1234%2F;"} {
		query.Typed(strings.Repeat(s, 1<<18/len(s))) // in linear time, or the test does not end
	}

	var names []string
	for i := range 500 {
		names = append(names, fmt.Sprintf("10.5072/%d", i))
	}
	require.NoError(t, query.Check(query.Typed(strings.Join(names, " ")+strings.Repeat(" ice", 1_000))))
}

func FuzzTyped(f *testing.F) {
	for _, s := range slices.Concat(curated, nastyValues) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { typedIsSafe(t, text) })
}

// Any text is either refused as one without anything to search, or becomes a query of values
// alone, which are in the text.
func typedIsSafe(t testing.TB, text string) {
	e := query.Typed(text)
	if err := query.Check(e); err != nil {
		require.ErrorContains(t, err, "can be searched")
		require.False(t, strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }), "%q", text)
		return
	}
	require.NoError(t, query.Check(query.Raw(e.String())), "%q", text)
	again, err := query.Parse(e.String())
	require.NoError(t, err, "%q", text)
	require.Equal(t, e, again, "%q", text)
	words := strings.Join(strings.Fields(strings.ToValidUTF8(text, " ")), " ")
	values := 0
	for _, n := range query.Nodes(e) {
		require.Contains(t, []string{"", "doi"}, n.Field, "%q", text)
		switch n.Kind {
		case query.KindTerm, query.KindPhrase:
			values++
			if n.Field == "" {
				require.Contains(t, words, n.Text, "%q", text)
			}
		case query.KindGroup:
		default:
			t.Fatalf("%q: %s has more than values", text, e)
		}
	}
	require.Positive(t, values)
}

func TestTypedIsSafe(t *testing.T) {
	r := newRand(t)
	for range many(20_000) {
		typedIsSafe(t, randomText(r))
		typedIsSafe(t, boxText(r))
	}
}

// boxText is what somebody might type, with accidents.
func boxText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		b.WriteString(oneOf(r, "", "", "", "(", `"`, "[", "-", "+", "!", "*", "“", "10.1000/", "https://doi.org/10.1000/"))
		b.WriteString(oneOf(r, "climate", "Change", "glaciers", "alps", "climate change", "Les glaciers", "AND", "x"))
		b.WriteString(oneOf(r, "", "", "", "", ")", `"`, "]", "?", "!", "*", "~", "^", "\\", ":", "/", "”", " -", " &&", " ||"))
		b.WriteString(oneOf(r, " ", " ", "\u3000", "\n"))
	}
	return b.String()
}

// A typed query finds the same records on all servers: those that have all its words.
func TestTypedMeansTheSameEverywhere(t *testing.T) {
	t.Parallel()
	r, rs := newRand(t), records(t)
	var texts, want []string
	some := 0
	for len(texts) < many(3_000) {
		e := query.Typed(boxText(r))
		if query.Check(e) != nil {
			continue
		}
		texts = append(texts, e.String())
		want = append(want, matching(rs, func(x record) bool { return hasAll(x, query.Syntax(e)) }))
		if want[len(want)-1] != "" {
			some++
		}
	}
	require.Greater(t, some, len(texts)/10)
	for name := range servers {
		for i, found := range startServer(t, name).found(texts) {
			require.Equal(t, want[i], found, "%s: %s", name, texts[i])
		}
	}
}

// hasAll is what a tree of values means, read without the rules of Lucene.
func hasAll(x record, n *query.Node) bool {
	switch {
	case n.Kind == query.KindGroup && n.Field == "doi":
		return slices.ContainsFunc(n.Clauses, func(c query.Clause) bool { return x.DOI == c.Node.Text })
	case n.Kind == query.KindGroup:
		return !slices.ContainsFunc(n.Clauses, func(c query.Clause) bool { return !hasAll(x, c.Node) })
	case n.Field == "doi":
		return x.DOI == n.Text
	}
	words := strings.FieldsFunc(n.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return x.hasPhrase(strings.Join(words, " "))
}

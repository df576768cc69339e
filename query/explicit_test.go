package query_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/query"
)

// A record of testdata/records.jsonl, as far as these tests look at it.
type record struct {
	ID, DOI  string
	Language string
	Suffix   string
	Titles   []struct{ Title string }
}

func records(t *testing.T) []record { return readLines[record](t, "testdata/records.jsonl") }

// words are what analysis makes of the title.
func (r record) words() []string {
	if len(r.Titles) == 0 {
		return nil
	}
	return strings.FieldsFunc(strings.ToLower(r.Titles[0].Title), func(r rune) bool {
		return strings.ContainsRune(" ,:", r)
	})
}

func (r record) hasPhrase(text string) bool {
	want, have := strings.Fields(strings.ToLower(text)), r.words()
	for i := range have {
		if i+len(want) <= len(have) && slices.Equal(have[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

// A meant is an expression together with what it means.
type meant struct {
	expr    query.Expr
	matches func(record) bool
}

// meantLeaf is a leaf for the default fields, which hold the title, and for
// fields it names itself.
func meantLeaf(r *rand.Rand) meant {
	word := oneOf(r, "climate", "change", "alps", "glaciers", "not", "nothing")
	lang := oneOf(r, "en", "de", "fr", "pt-BR", "none")
	text := oneOf(r, "climate change", "change climate", "in the Alps", "the climate", "Change")
	low, high := oneOf(r, "", "a", "de", "en"), oneOf(r, "", "en", "fr", "z")
	return oneOf(r,
		meant{query.All(), func(record) bool { return true }},
		meant{query.Term(word), func(r record) bool { return slices.Contains(r.words(), word) }},
		meant{query.Term(word), func(r record) bool { return slices.Contains(r.words(), word) }},
		meant{query.Phrase(text), func(r record) bool { return r.hasPhrase(text) }},
		meant{query.FieldTitle.Is(text), func(r record) bool { return r.hasPhrase(text) }},
		meant{query.FieldLanguage.Is(lang), func(r record) bool { return r.Language == lang }},
		meant{query.FieldLanguage.In(lang, "de"), func(r record) bool { return r.Language == lang || r.Language == "de" }},
		meant{query.Field("suffix").Exists(), func(r record) bool { return r.Suffix != "" }},
		meant{query.FieldLanguage.Between(low, high), func(r record) bool {
			return r.Language != "" && r.Language >= low && (high == "" || r.Language <= high)
		}},
		meant{query.Field("suffix").StartsWith("al"), func(r record) bool { return strings.HasPrefix(r.Suffix, "al") }},
		meant{query.Field("suffix").Like("?l*a"), func(r record) bool { return r.Suffix == "alpha" || r.Suffix == "al/pha" }},
		meant{query.Field("suffix").Fuzzy("alpa", 1), func(r record) bool { return r.Suffix == "alpha" }},
	)
}

// meantInLanguage is a leaf for brackets after language:.
func meantInLanguage(r *rand.Rand) meant {
	lang := oneOf(r, "en", "de", "pt-BR")
	return oneOf(r,
		meant{query.Term(lang), func(r record) bool { return r.Language == lang }},
		meant{query.Wildcard("?e"), func(r record) bool { return r.Language == "de" }},
		meant{query.All(), func(record) bool { return true }},
		meant{query.FieldTitle.Is("climate"), func(r record) bool { return slices.Contains(r.words(), "climate") }},
	)
}

// meantExpr builds a random expression, and beside it what it means.
func meantExpr(r *rand.Rand, depth int, leaf func(*rand.Rand) meant) meant {
	if depth == 0 {
		return leaf(r)
	}
	var exprs []query.Expr
	var tests []func(record) bool
	add := func(e query.Expr, test func(record) bool) { exprs, tests = append(exprs, e), append(tests, test) }
	for range 1 + r.IntN(4) {
		m := meantExpr(r, r.IntN(depth), leaf)
		switch r.IntN(8) {
		case 0:
			add(query.Must(m.expr), m.matches)
		case 1:
			add(query.MustNot(m.expr), func(x record) bool { return !m.matches(x) })
		default:
			add(m.expr, m.matches)
		}
	}
	all := func(x record) bool {
		return !slices.ContainsFunc(tests, func(f func(record) bool) bool { return !f(x) })
	}
	some := func(x record) bool {
		return slices.ContainsFunc(tests, func(f func(record) bool) bool { return f(x) })
	}
	switch r.IntN(9) {
	case 0, 1, 2:
		return meant{query.And(exprs...), all}
	case 3, 4:
		return meant{query.Or(exprs...), some}
	case 5:
		return meant{query.Not(exprs[0]), func(x record) bool { return !tests[0](x) }}
	case 6:
		return meant{query.Boost(query.Or(exprs...), oneOf[float32](r, 0.5, 1, 3)), some}
	case 7:
		m := meantExpr(r, depth-1, meantInLanguage)
		return meant{query.And(append(exprs, query.FieldLanguage.Match(m.expr))...), func(x record) bool {
			return all(x) && m.matches(x)
		}}
	}
	for i, e := range exprs {
		exprs[i] = query.Must(query.And(e))
	}
	add(query.MustNot(query.FieldTitle.Is("glaciers")), func(r record) bool {
		return !slices.Contains(r.words(), "glaciers")
	})
	return meant{query.Bool(exprs...), all}
}

// servers are those that a query may meet: the deployed service with its edits,
// Elasticsearch with both default operators, and Lucene by itself.
var servers = map[string][]string{
	"deployed":      {"--server", "datacite", "--fields", "titles.title"},
	"specified":     {"--op", "OR", "--fields", "titles.title"},
	"specified AND": {"--op", "AND", "--fields", "titles.title"},
	"lucene":        {"--dialect", "lucene", "--field", "titles.title"},
}

func startServer(t *testing.T, name string) *oracle {
	return startOracle(t, append([]string{"exec", "--docs", "testdata/records.jsonl", "--mapping", "datacite"},
		servers[name]...)...)
}

// found runs queries; the answers are the records found, or begin with ERR.
func (o *oracle) found(texts []string) []string {
	out := o.askTexts(texts)
	for i, s := range out {
		out[i] = strings.TrimPrefix(s, "OK\t")
	}
	return out
}

func matching(rs []record, matches func(record) bool) string {
	var ids []string
	for _, r := range rs {
		if matches(r) {
			ids = append(ids, r.ID)
		}
	}
	return strings.Join(ids, " ")
}

// A built expression finds the same records on all four servers: those that it
// says.
func TestBuiltQueriesMeanTheSameEverywhere(t *testing.T) {
	t.Parallel()
	r, rs := newRand(t), records(t)
	exprs, texts, want := make([]query.Expr, many(10_000)), make([]string, many(10_000)), make([]string, many(10_000))
	for i := range exprs {
		m := meantExpr(r, r.IntN(4), meantLeaf)
		if top := query.Syntax(m.expr); len(top.Clauses) == 1 && top.Clauses[0].Sign == query.SignMustNot {
			m.expr = query.And(m.expr) // a lone MustNot is nothing in Lucene, as its comment says
		}
		exprs[i], texts[i], want[i] = m.expr, m.expr.String(), matching(rs, m.matches)
		require.NoError(t, query.Check(m.expr), texts[i])
		again, err := query.Parse(texts[i])
		require.NoError(t, err, texts[i])
		require.Equal(t, m.expr, again, texts[i])
	}
	for name := range servers {
		for i, found := range startServer(t, name).found(texts) {
			require.Equal(t, want[i], found, "%s: %s", name, texts[i])
		}
	}
}

// Explicit fixes for all servers what a text means on one.
func TestExplicitMeansTheSameEverywhere(t *testing.T) {
	t.Parallel()
	r := newRand(t)
	texts := make([]string, many(3_000))
	for i := range texts {
		texts[i] = plainSentence(r, 2)
	}
	for _, op := range defaultOperators {
		want := startServer(t, map[query.Operator]string{query.OperatorOr: "specified",
			query.OperatorAnd: "specified AND"}[op]).found(texts)
		explicit := make([]string, len(texts))
		for i, text := range texts {
			e, err := query.Parse(text)
			require.NoError(t, err, text)
			explicit[i] = query.Explicit(e, op).String()
		}
		for name := range servers {
			for i, found := range startServer(t, name).found(explicit) {
				require.Equal(t, want[i], found, "%s with %s: %s as %s", name, op, texts[i], explicit[i])
			}
		}
	}
}

// plainSentence is a query in words, as people type it.
func plainSentence(r *rand.Rand, depth int) string {
	var b strings.Builder
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			b.WriteString(oneOf(r, " ", " ", " AND ", " OR "))
		}
		b.WriteString(oneOf(r, "", "", "", "+", "-", "NOT "))
		if depth > 0 && r.IntN(3) == 0 {
			b.WriteString(oneOf(r, "", "titles.title:") + "(" + plainSentence(r, depth-1) + ")" + oneOf(r, "", "^2"))
		} else {
			b.WriteString(oneOf(r, "climate", "change", "alps", "language:en", "language:de", "suffix:*", `"climate change"~0`))
		}
	}
	return b.String()
}

// Whatever people type, a restriction that is added to it holds, and what Check
// accepts is refused by no server.
func TestNobodyGetsAroundARestriction(t *testing.T) {
	t.Parallel()
	r, rs := newRand(t), records(t)
	allowed := strings.Fields(matching(rs, func(x record) bool { return x.Language == "en" }))
	var texts []string
	for tried := 0; len(texts) < many(5_000); tried++ {
		require.Less(t, tried, 100_000)
		theirs, err := query.Parse(oneOf(r, randomText, hostileText, typedText)(r))
		if err != nil {
			continue
		}
		e := query.And(query.FieldLanguage.Is("en"), theirs)
		if query.Check(e) == nil {
			texts = append(texts, e.String())
		}
	}
	for name := range servers {
		for i, found := range startServer(t, name).found(texts) {
			require.False(t, strings.HasPrefix(found, "ERR"), "%s: %s: %s", name, texts[i], found)
			for id := range strings.FieldsSeq(found) {
				require.Contains(t, allowed, id, "%s: %s", name, texts[i])
			}
		}
	}
}

// hostileText tries to close brackets, quotes and slashes that are not its own.
func hostileText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		b.WriteString(oneOf(r, "a", ")", "(", " OR ", "*:*", `"`, "/", `\/`, `\\/`, `\`, " ", "url:*a", "*", "?", `"x\"`,
			"^2", "~", "[a TO b]", `["`, `\" TO`, "language:de", "publicationYear"))
	}
	return b.String()
}

// typedText asks years, dates and counts for all sorts of things.
func typedText(r *rand.Rand) string {
	value := func() string {
		return oneOf(r, "2010", "2010*", "20?0", "2010~", ">2010", "<=2012", "abc", `"2010"`, "[2010 TO 2012]", "{* TO 2011}",
			"[x TO *]", "2010-06-30",
			"2010-13-45", "[now-1d/d TO now]", `"2010||+1y/d"`, "5", "1e1", "-5", `\-5`, "0x10", "1.5", "*", "99999999999999999999", "(2010 2011)", "(2010 OR >=2011)", `""`, "/2/", "20101", "2010-06", "2010-6", "12:00")
	}
	return oneOf(r, "publicationYear:", "created:", "viewCount:", "publicationYear:(") + value() + oneOf(r, "",
		" OR "+value(), ") OR (a", ")")
}

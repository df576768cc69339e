package query_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/query"
)

var update = flag.Bool("update", false, "write the golden files anew; needs LUCENE_ORACLE")

// A verdict is what Lucene's parser says about a text: its tree with either
// default operator, or nothing if the text is no query.
type verdict struct {
	Query string `json:"q"`
	Or    string `json:"or,omitempty"`
	And   string `json:"and,omitempty"`
}

// Parse agrees with what Lucene said about these texts, also on a machine that
// cannot ask.
func TestParseAgreesWithGolden(t *testing.T) {
	const file = "testdata/lucene.jsonl"
	if *update {
		writeLines(t, file, askVerdicts(t, chosenTexts()))
	}
	verdicts := readLines[verdict](t, file)
	require.Greater(t, len(verdicts), 1000)
	for _, v := range verdicts {
		e, err := query.Parse(v.Query)
		if v.Or == "" {
			assert.Error(t, err, "%q", v.Query)
			continue
		}
		if refusedTilde(v.Query, err) || !assert.NoError(t, err, "%q", v.Query) {
			continue
		}
		assert.Equal(t, v.Or, dump(e, query.OperatorOr), "%q", v.Query)
		assert.Equal(t, v.And, dump(e, query.OperatorAnd), "%q", v.Query)
		again, err := query.Parse(e.String())
		require.NoError(t, err, "%q as %q", v.Query, e)
		assert.Equal(t, e, again, "%q as %q", v.Query, e)
	}
}

func askVerdicts(t *testing.T, texts []string) []verdict {
	out := make([]verdict, len(texts))
	or := startOracle(t, "parse", "--dialect", "syntax").parsed(texts)
	and := startOracle(t, "parse", "--dialect", "syntax", "--op", "AND").parsed(texts)
	for i, s := range texts {
		out[i] = verdict{s, or[i], and[i]}
	}
	return out
}

// A written literal is the text of a leaf, which Lucene, Elasticsearch and the
// deployed service read as the value.
type written struct {
	Kind  string `json:"kind"`
	Value string `json:"v"`
	Query string `json:"q"`
}

// Leaves are written as they were when Lucene read them.
func TestLiteralsAgreeWithGolden(t *testing.T) {
	const file = "testdata/literals.jsonl"
	const field query.Field = "titles.title"
	kinds := map[string]leafKind{}
	var all []written
	var requests []any
	for _, k := range leafKinds {
		kinds[k.name] = k
		for _, v := range nastyValues {
			if !skipped(k.name, v) && !inexpressible(k.name, v) {
				all = append(all, written{k.name, v, k.build(field, v).String()})
				request := k.means(v)
				request["f"], request["q"] = field, all[len(all)-1].Query
				requests = append(requests, request)
			}
		}
	}
	if *update {
		for _, answer := range startOracle(t, "check").ask(requests) {
			require.Regexp(t, "^SAME\t", answer)
		}
		writeLines(t, file, all)
	}
	golden := readLines[written](t, file)
	require.Greater(t, len(golden), 900)
	for _, w := range golden {
		assert.Equal(t, w.Query, kinds[w.Kind].build(field, w.Value).String(), "%s %q", w.Kind, w.Value)
	}
}

func writeLines[T any](t *testing.T, file string, lines []T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		require.NoError(t, enc.Encode(l))
	}
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
}

func readLines[T any](t *testing.T, file string) []T {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	var out []T
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var l T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &l))
		out = append(out, l)
	}
	return out
}

// chosenTexts is every token beside every other, every sign with every
// operator, every bound with every bound, and every suffix on every leaf.
func chosenTexts() []string {
	texts := slices.Clone(curated)
	add := func(s string) { texts = append(texts, s) }
	tokens := []string{"+", "-", "!", "(", ")", ":", "^", "[", "]", "{", "}", `"`, "~", "*", "?", `\`, "/", "&&", "||",
		"&", "|", "<", "AND", "OR", "NOT", "TO", " "}
	for _, a := range tokens {
		for _, b := range tokens {
			add("a" + a + b + "b")
		}
	}
	signs, joins := []string{"", "+", "-", "NOT "}, []string{" ", " AND ", " OR "}
	for _, s1 := range signs {
		for _, j1 := range joins {
			for _, s2 := range signs {
				add(s1 + "a" + j1 + s2 + "b")
				for _, j2 := range joins {
					for _, s3 := range signs[:3] {
						add(s1 + "a" + j1 + s2 + "(b)" + j2 + s3 + "f:c")
					}
				}
			}
		}
	}
	bounds := []string{"*", "1", "TO", `"a b"`, `"*"`, `\*`, `""`, `a\`, `"a\"`, "\ta", "now-1d/d"}
	for _, lo := range bounds {
		for _, hi := range bounds {
			add("f:[" + lo + " TO " + hi + "}")
		}
	}
	leaves := []string{"a", "*", "a*", "*a", `"a b"`, "/a/", "[a TO b]", "(a)", "(a b)", "- ", `a\:b`, `\u0041`,
		"f:(a g:b)", "f:*", "*:*"}
	suffixes := []string{"^2", "^0.50", "^.5", "^2.", "^-1", "^1e3", "^ 2", "^", "~", "~1", "~0.7", "~1.5", "~-1", "~AUTO",
		"~2f", "~0x1p1", "~NaN", "~1^2", "^2~1", "^2^3", "~1~1", " ~1"}
	for _, l := range leaves {
		for _, s := range suffixes {
			add(l + s)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

var curated = []string{
	"", " ", "\u3000", "a", "a b", "a  b\tc\nd", "a\u3000b", "a\u00a0b", "a-b", "a+b", "a!b", "a&&b", "a && b", "a & b",
	"a || b", "a | b", "AND", "a AND", "AND a", "a AND OR b", "a OR", "NOT", "NOT NOT a",
	"--a", "+-a", "- a", "+ a", "! a", "a - b", "f:a", "f : a", "f:-5", "f:+5", "f:NOT 5", `f:\-5`, "f:", ":a", "f:g:a", `"f g":a`, `f\ g:a`, `f\:g:a`, "f:(a b)", "f:(a g:b)", "f:(g:(a b))", "f:(a)", "(f:a)", "()", "(", ")", "(a", "a)", "((a))", "(a)(b)",
	"*", "**", "?", "a*", "a**", "a*b", "*:*", "*:a", `\*:a`, `\*:*`, "*:(*)", "*:(a b)", "titles.*:a", `titles.\*:a`, "f:*", "f:**", "_exists_:f", `_exists_:"a.b"`, "_exists_:f*", `\AND:a`, "AND:a", `\AND`, "AND*", "AND~1", `\AND~1`, `a\ b`, `a\`, `"a\"`, `\\`, `"a`, `a"b"c`, `""`, `f:""`,
	`\u0041ND`, `\ufoo`, `\u00`, `*\u0041*`, `*\uzz*`, `\ud83d\ude00`, `"\u0022"`, `a\/b`, "a/b", "10.5438/fj3w-0shd", "10.5438/*", `*a\/b*`, "/a/", "//", `/a\/b/`, `/a\/`, `/a\\/`, `/a\\/ AND x/`, `/a\\()/ AND x\u002f`, "/a/i", "/a", "/[/]/", "/(/",
	">5", "f:>5", "f:>=5", `f:\>5`, `f:">5"`, "f:>5*", "f:(>5 <10)", "f:(>5 AND <10)", "f:> 5", `f:>"5"`, "f:<=2015-01-01", "[a TO b]", "{a TO b}", "[a TO b}", "[a to b]", "[a b TO c]", "[a TO b", "[a]", "[TO TO TO]", "[ * TO * ]", `["a]" TO c]`, `[a\ b TO c]`, `[a\] TO c]`, `["a\\" TO "c"]`, `["a\u005c" TO "c"]`, "[a TO b]^2", "[a TO b]~1",
	"a^2", "(a b)^2", "((a)^2)^3", "f:(a)^2", "f:(a^2)^3", "a^0", "a^1", "a^99999999999999999999999999999999999999999999999", "a^0.1", "a^16777217", `"a b"~2`, `"a b"~-1`, `"a b"~2.7`, `"a b"~x`, "a~", "a~0", "a~1", "a~2", "a~3", "a~0.0001", "a~2147483648", "a~2147483649", "a~+1", "a~-0", "a~Infinity", "a~1_0", "a~0x1", "a~0x1d", "a~0x1p1f", "a~0x.8p1", "a~0xp1", "a~1e", "a~1e+-1", "a~1e0d", "a~.5", "a~5.", "a~.", "a~f", "a~--1", "a~+-1", "a~1\u00a0", `"a"~1e10`, `"a"~-1e10`, `"a"~NaN`, `"a"~+2`, "a~\\1", "a~1\x01", "climate~0.5", "a b~1", "*~1", "a*~1",
	"a OR b AND c", "a AND b OR c AND d", "a OR NOT b", "-a OR -b", "a OR (NOT b)", "a OR (*:* AND NOT b)", "NOT (NOT a)", "+a -b c", "(a OR b) AND c", "a AND (b OR (c AND d))",
	"climate change", "publicationYear:2015", "publicationYear:[2010 TO " +
		"2015]", "titles.title:climate AND creators.familyName:garza", "creators.nameIdentifiers.nameIdentifier:*0000\\-0001*", "types.resourceTypeGeneral:(Dataset OR Text)", "relatedItems.publication\\Year:2020", "http://example.org", "10.1000/182:3", "doi:10.5067/a:b", "what? when!", "C++", "R&D", "rock 'n' roll", "50% off", "e-mail@example.org", "a=b", "{a}", "[1]", "(c) 2015", "<b>x</b>", "$x", "#1", "a,b;c", "naïve café", "气候 变化", "😀 *😀? \\😀",
}

// refusedTilde recognises what Parse refuses on purpose: text after ~ other than a plain
// number.
func refusedTilde(text string, err error) bool {
	e, ok := errors.AsType[*query.SyntaxError](err)
	return ok && strings.Contains(e.Reason, "what follows ~ is not a number") && otherTilde.MatchString(text[e.Offset:])
}

var otherTilde = regexp.MustCompile(`^~([^0-9.]|\.[^0-9]|\.$|[0-9]*\.?[0-9]*[^0-9])`)

// dump writes the tree of an expression as Lucene's parser understands it,
// in the notation of the golden files: (bool (must (term "text" "a")) …).
func dump(e query.Expr, op query.Operator) string { return dumpIn(query.Syntax(e), op, "text") }

func dumpIn(n *query.Node, op query.Operator, field string) string {
	if n.Field != "" {
		field = n.Field
	}
	out := dumpNode(n, op, field)
	if n.Boost != nil {
		out = fmt.Sprintf("(boost %s %s)", decimal(*n.Boost), out)
	}
	return out
}

func dumpNode(n *query.Node, op query.Operator, field string) string {
	f := quote(field)
	switch n.Kind {
	case query.KindAll:
		return "(matchall)"
	case query.KindExists:
		if field == "*" {
			return "(matchall)"
		}
		return fmt.Sprintf(`(wildcard %s "*")`, f)
	case query.KindPhrase:
		slop := 0
		if n.Slop != nil {
			slop = *n.Slop
		}
		return fmt.Sprintf("(phrase %s %d %s)", f, slop, quote(n.Text))
	case query.KindFuzzy:
		return fmt.Sprintf("(fuzzy %s %s %d)", f, quote(n.Text), luceneEdits(n))
	case query.KindRange:
		r := n.Range
		return fmt.Sprintf("(range %s %s %s %s %s)", f, choose(r.ExcludeLow, "{", "["),
			bound(r.Low), bound(r.High), choose(r.ExcludeHigh, "}", "]"))
	case query.KindGroup:
		return dumpGroup(n, op, field)
	}
	return fmt.Sprintf("(%s %s %s)", n.Kind, f, quote(n.Text))
}

func dumpGroup(n *query.Node, op query.Operator, field string) string {
	if len(n.Clauses) == 1 && n.Clauses[0].Sign == query.NoSign {
		return dumpIn(n.Clauses[0].Node, op, field)
	}
	var b strings.Builder
	b.WriteString("(bool")
	for i, occur := range query.Occurs(n.Clauses, op) {
		fmt.Fprintf(&b, " (%s %s)", occur, dumpIn(n.Clauses[i].Node, op, field))
	}
	b.WriteString(")")
	return b.String()
}

// luceneEdits is how Lucene turns the number after ~ into edits.
func luceneEdits(n *query.Node) int {
	switch {
	case n.Edits == query.AutoEdits:
		return 2
	case n.Edits >= 1 || n.Edits == 0:
		return int(n.Edits)
	}
	return min(2, int((1-float64(n.Edits))*float64(utf8.RuneCountInString(n.Text))))
}

func bound(s string) string {
	if s == "" {
		return "*"
	}
	return quote(s)
}

func choose(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func decimal(f float32) string {
	if math.IsInf(float64(f), 0) {
		return "Infinity"
	}
	return strconv.FormatFloat(float64(f), 'f', -1, 32)
}

// quote writes a string as the golden files have it.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

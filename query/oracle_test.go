package query_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/query"
)

// An oracle is Lucene's own query parser in another process, which answers a
// line for a line.
type oracle struct {
	t       testing.TB
	in      io.WriteCloser
	answers *bufio.Reader
}

// startOracle runs the program that LUCENE_ORACLE names.
func startOracle(t testing.TB, args ...string) *oracle {
	program := os.Getenv("LUCENE_ORACLE")
	if program == "" {
		t.Skip("LUCENE_ORACLE does not name the program with Lucene's parser; the golden files stand in for it")
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		cmd.Wait() // the context of the test ends it
	})
	return &oracle{t, in, bufio.NewReaderSize(out, 1<<20)}
}

// ask sends requests and returns the answers, one for each.
func (o *oracle) ask(requests []any) []string {
	written := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(o.in)
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, r := range requests {
			if err := enc.Encode(r); err != nil {
				written <- err
				return
			}
		}
		written <- w.Flush()
	}()
	out := make([]string, len(requests))
	for i := range out {
		line, err := o.answers.ReadString('\n')
		require.NoError(o.t, err)
		out[i] = strings.TrimSuffix(line, "\n")
	}
	require.NoError(o.t, <-written)
	return out
}

// lone is half of a surrogate pair, for which Go and Lucene's index have U+FFFD.
var lone = regexp.MustCompile(`\\\\|\\ud[89a-f][0-9a-f]{2}`)

func withoutLone(tree string) string {
	return lone.ReplaceAllStringFunc(tree, func(s string) string {
		if s == `\\` { // an escaped backslash
			return s
		}
		return "\ufffd"
	})
}

// askTexts sends texts.
func (o *oracle) askTexts(texts []string) []string {
	requests := make([]any, len(texts))
	for i, s := range texts {
		requests[i] = map[string]string{"q": s}
	}
	return o.ask(requests)
}

// parsed asks for the trees of texts; "" is an error.
func (o *oracle) parsed(texts []string) []string {
	out := o.askTexts(texts)
	for i, a := range out {
		tree, ok := strings.CutPrefix(a, "OK\t")
		if !ok {
			require.True(o.t, strings.HasPrefix(a, "ERR\t"), "%q: %s", texts[i], a)
			tree = ""
		}
		out[i] = withoutLone(tree)
	}
	return out
}

// newRand returns a fresh source and logs its seed, so that a failure can be
// looked at again with QUERY_SEED.
func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	if s := os.Getenv("QUERY_SEED"); s != "" {
		require.NoError(t, json.Unmarshal([]byte(s), &seed))
	}
	t.Logf("QUERY_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

var trials = flag.Int("trials", 1, "random queries that are tried; 10 takes minutes where Lucene's parser answers, too")

// many is how many random cases a test asks about: n with ten times the trials.
func many(n int) int { return max(n**trials/10, n/10) }

var defaultOperators = []query.Operator{query.OperatorOr, query.OperatorAnd}

// What Lucene's parser accepts, Parse accepts, with the same tree under both
// default operators; what it refuses, Parse refuses. What Parse prints means
// to Lucene what was read.
func TestParseAgreesWithLucene(t *testing.T) {
	t.Parallel()
	r := newRand(t)
	texts := make([]string, many(50_000))
	for i := range texts {
		texts[i] = randomText(r)
	}
	for _, op := range defaultOperators {
		o := startOracle(t, "parse", "--dialect", "syntax", "--op", string(op))
		trees := o.parsed(texts)
		printed := make([]string, len(texts))
		valid := 0
		for i, text := range texts {
			e, err := query.Parse(text)
			if trees[i] == "" {
				require.Error(t, err, "%q", text)
				printed[i] = text
				continue
			}
			if refusedTilde(text, err) {
				printed[i] = text
				continue
			}
			valid++
			require.NoError(t, err, "%q", text)
			require.Equal(t, trees[i], dump(e, op), "%q", text)
			printed[i] = e.String()
			again, err := query.Parse(printed[i])
			require.NoError(t, err, "%q as %q", text, printed[i])
			require.Equal(t, e, again, "%q as %q", text, printed[i])
		}
		t.Logf("default operator %s: %d of %d texts are queries", op, valid, len(texts))
		for i, tree := range o.parsed(printed) {
			require.Equal(t, trees[i], tree, "%q as %q", texts[i], printed[i])
		}
	}
}

// A leafKind builds one kind of leaf from a value and says what it means, in
// the words of the oracle.
type leafKind struct {
	name  string
	build func(f query.Field, v string) query.Expr
	means func(v string) map[string]any
}

var leafKinds = []leafKind{
	{"value", query.Field.Is, func(v string) map[string]any {
		return map[string]any{"kind": "term", "v": v}
	}},
	{"phrase", func(f query.Field, v string) query.Expr { return f.Near(v, 2) }, func(v string) map[string]any {
		return map[string]any{"kind": "term", "v": v}
	}},
	{"one of", func(f query.Field, v string) query.Expr { return f.In(v) }, func(v string) map[string]any {
		return map[string]any{"kind": "term", "v": v}
	}},
	{"prefix", query.Field.StartsWith, func(v string) map[string]any {
		return map[string]any{"kind": "prefix", "v": v}
	}},
	{"pattern", func(f query.Field, v string) query.Expr { return f.Like("*" + literalPattern(v) + "?") },
		func(v string) map[string]any {
			return map[string]any{"kind": "wildcard", "v": "*" + literalPattern(v) + "?"}
		}},
	{"fuzzy", func(f query.Field, v string) query.Expr { return f.Fuzzy(v, 1) }, func(v string) map[string]any {
		return map[string]any{"kind": "fuzzy", "v": v, "edits": 1}
	}},
	{"low bound", func(f query.Field, v string) query.Expr { return f.Between(v, "") }, func(v string) map[string]any {
		return map[string]any{"kind": "range", "lo": v}
	}},
	{"high bound", func(f query.Field, v string) query.Expr {
		return f.Within(query.Range{Low: "a b", High: v, ExcludeHigh: true})
	}, func(v string) map[string]any {
		return map[string]any{"kind": "range", "lo": "a b", "hi": v, "incHi": false}
	}},
}

// literalPattern is a pattern that only fits v.
func literalPattern(v string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(v)
}

// inexpressible are the values that a kind of leaf cannot have; Check refuses
// them. Everything else has to arrive as it is.
func inexpressible(kind, v string) bool {
	switch kind {
	case "pattern":
		return strings.Contains(v, "/")
	case "low bound", "high bound":
		return v == "*"
	case "fuzzy":
		return v == ""
	}
	return false
}

// skipped values mean something other than a literal to the constructor.
func skipped(kind, v string) bool {
	return v == "" && (kind == "prefix" || kind == "fuzzy" || strings.HasSuffix(kind, "bound")) // any value, an open side
}

// Whatever the value, a leaf means that value to Lucene, to Elasticsearch with
// both default operators, and to the deployed service with its edits.
func TestEveryLiteralArrives(t *testing.T) {
	t.Parallel()
	r := newRand(t)
	values := nastyValues
	for len(values) < many(5_000) {
		values = append(values, value(r))
	}
	for _, kind := range leafKinds {
		t.Run(kind.name, func(t *testing.T) {
			o := startOracle(t, "check")
			var requests []any
			for _, v := range values {
				if skipped(kind.name, v) {
					continue
				}
				f := oneOf(r, query.FieldTitle, query.FieldDOI, "x", "a.b")
				e := kind.build(f, v)
				if inexpressible(kind.name, v) {
					require.ErrorIs(t, query.Check(e), datacite.ErrInvalid, "%q", v)
					require.Equal(t, "()", e.String(), "%q", v)
					continue
				}
				request := kind.means(v)
				request["f"], request["q"] = f, e.String()
				requests = append(requests, request)
			}
			require.Greater(t, len(requests), len(values)*2/3)
			for i, answer := range o.ask(requests) {
				require.True(t, strings.HasPrefix(answer, "SAME\t"), "%v: %s", requests[i], answer)
			}
		})
	}
}

// Without a field the value arrives in the default fields, and the special
// leaves arrive too.
func TestOtherLeavesArrive(t *testing.T) {
	t.Parallel()
	r := newRand(t)
	o := startOracle(t, "check")
	var requests []any
	add := func(e query.Expr, means map[string]any) {
		means["q"] = e.String()
		if means["f"] == nil {
			means["f"] = "text"
		}
		requests = append(requests, means)
	}
	for range many(5_000) {
		v := value(r)
		add(query.Term(v), map[string]any{"kind": "term", "v": v})
		add(query.Phrase(v), map[string]any{"kind": "term", "v": v})
		if !strings.Contains(v, "/") {
			p := literalPattern(v)
			add(query.Wildcard(p+"?a"), map[string]any{"kind": "wildcard", "v": p + "?a"})
		}
	}
	exists := query.FieldTitle.Exists().String()
	add(query.FieldTitle.Exists(), map[string]any{"kind": "exists", "f": "titles.title", "in": "es_or,es_and,datacite"})
	add(query.Field("titles.*").Is("x"), map[string]any{"kind": "term", "f": "titles.*", "v": "x"})
	add(query.Field("AND").Is("x"), map[string]any{"kind": "term", "f": "AND", "v": "x"})
	add(query.Field("a:b c/d").Is("x"), map[string]any{"kind": "term", "f": "a:b c/d", "v": "x"})
	add(query.Field("schema_version").Is("4"), map[string]any{"kind": "term", "f": "schema_version", "v": "4"})
	add(mustParse(t, `titles.title:/a\/[bc]+/`),
		map[string]any{"kind": "regexp", "f": "titles.title", "v": `a\/[bc]+`, "in": "es_or,es_and,lucene_or"})
	add(query.FieldTitle.Between("", ""), map[string]any{"kind": "range", "f": "titles.title"})
	for i, answer := range o.ask(requests) {
		require.True(t, strings.HasPrefix(answer, "SAME\t"), "%v: %s", requests[i], answer)
	}
	assert.Equal(t, "titles.title:*", exists)
}

// The deployed service renames attributes in field names, and nothing else.
func TestFieldsAreRenamedByTheService(t *testing.T) {
	t.Parallel()
	o := startOracle(t, "parse", "--server", "datacite", "--analyzer", "keyword")
	want := map[query.Field]string{
		query.FieldPublicationYear:                   "publication_year",
		query.FieldPublisherName:                     "publisher_obj.name",
		"publisher.lang":                             "publisher_obj.lang",
		query.FieldPublisher:                         "publisher",
		query.FieldVersion:                           "version_info",
		query.FieldSchemaVersion:                     "schema_version",
		query.FieldRelatedIdentifier:                 "related_identifiers.relatedIdentifier",
		query.FieldRightsIdentifier:                  "rights_list.rightsIdentifier",
		query.FieldFunderName:                        "funding_references.funderName",
		query.Field("geoLocations.geoLocationPlace"): "geo_locations.geoLocationPlace",
		query.FieldCitationCount:                     "citation_count",
		"relatedItems.publicationYear":               "related_items.publicationYear",
		"schema_version":                             "schema_version",
		"metadata_version":                           "metadata_version",
		"titles.publisher.name":                      "titles.publisher.name",
		"x.relatedItems.rightsList.more":             "x.relatedItems.rightsList.more",
		"publicationYears":                           "publicationYears",
	}
	var texts, trees []string
	for f, renamed := range want {
		texts = append(texts, f.Is("publicationYear").String())
		trees = append(trees, fmt.Sprintf(`(term %q "publicationYear")`, renamed))
	}
	for i, tree := range o.parsed(texts) {
		assert.Equal(t, trees[i], tree, texts[i])
	}
}

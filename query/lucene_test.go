package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/query"
)

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

package query_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/query"
)

// Parse takes any text without harm, and what it reads can be printed, read
// again, settled, restricted and checked.
func FuzzParse(f *testing.F) {
	for _, s := range curated {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := query.Parse(text)
		if err != nil {
			fault, ok := errors.AsType[*query.SyntaxError](err)
			require.True(t, ok)
			require.NotEmpty(t, fault.Reason)
			require.LessOrEqual(t, fault.Offset, len(text))
			require.GreaterOrEqual(t, fault.Offset, 0)
			return
		}
		readsAsItself(t, e)
		query.Advise(e)
		for _, op := range defaultOperators {
			readsAsItself(t, query.Explicit(e, op))
		}
		servedAsItself(t, e)
		servedAsItself(t, query.And(query.FieldClientID.Is("a"), e, query.FieldDOI.Is("10.1/a")))
	})
}

// Whatever is built either is refused and cannot be read, or reads as itself
// and is served as itself.
func FuzzBuild(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, "10.1000/a", "publicationYear", "*")
	}
	for i, v := range nastyValues {
		f.Add(uint64(i), v, nastyValues[(i+7)%len(nastyValues)], "x")
	}
	f.Fuzz(func(t *testing.T, seed uint64, a, b, c string) {
		r := rand.New(rand.NewPCG(seed, 1))
		e := query.And(anyExpr(r, 3, []string{a, b, c}))
		for _, n := range query.Nodes(e) {
			if n.Kind == query.KindInvalid {
				require.ErrorIs(t, query.Check(e), datacite.ErrInvalid, "%q %+v", e, n)
				_, err := query.Parse(e.String())
				require.Error(t, err, e.String())
				return
			}
		}
		query.Advise(e)
		readsAsItself(t, e)
		servedAsItself(t, e)
	})
}

// readsAsItself holds for every expression that can be written.
func readsAsItself(t *testing.T, e query.Expr) {
	text := e.String()
	if hasEndlessRegexp(e) {
		return // a backslash before the slash that ends it is an error in Lucene
	}
	again, err := query.Parse(text)
	require.NoError(t, err, "%q", text)
	require.Equal(t, e, again, "%q", text)
}

func hasEndlessRegexp(e query.Expr) bool {
	for _, n := range query.Nodes(e) {
		if n.Kind == query.KindRegexp && strings.HasSuffix(n.Text, `\`) {
			return true
		}
	}
	return false
}

// servedAsItself holds for every expression that Check accepts: after the edits
// of the deployed service its text still says the same. That is what Check
// looks at in raw text.
func servedAsItself(t *testing.T, e query.Expr) {
	if query.Check(e) == nil {
		require.NoError(t, query.Check(query.Raw(e.String())), "%q", e)
	}
}

// anyExpr calls random constructors with the values.
func anyExpr(r *rand.Rand, depth int, values []string) query.Expr {
	v := oneOf(r, values...)
	f := oneOf(r, "", query.FieldTitle, query.FieldDOI, query.FieldPublicationYear, "*", "_exists_",
		query.Field(oneOf(r, values...)))
	if depth == 0 {
		switch r.IntN(13) {
		case 0:
			return f.Is(v)
		case 1:
			return f.Near(v, r.IntN(4)-1)
		case 2:
			return f.Like(v + oneOf(r, "", "*", "?"))
		case 3:
			return f.StartsWith(v)
		case 4:
			return f.Fuzzy(v, r.IntN(3))
		case 5:
			return f.Match(query.Raw("/" + strings.ReplaceAll(v, "/", "") + "/"))
		case 6:
			return f.Between(v, oneOf(r, values...))
		case 7:
			return f.Within(query.Range{Low: v, High: oneOf(r, values...), ExcludeLow: r.IntN(2) == 0, ExcludeHigh: true})
		case 8:
			return f.Exists()
		case 9:
			return f.In(values...)
		case 10:
			return query.Term(v)
		case 11:
			return oneOf(r, query.All(), query.Expr(nil), f.IsDOI(v), f.IsORCID(v),
				f.BetweenTimes(time.Unix(r.Int64N(1<<34), r.Int64N(2e9)),
					time.Unix(r.Int64N(1<<34), 0)), f.BetweenTimes(time.Unix(r.Int64N(1<<40), 0), time.Time{}))
		}
		return query.Phrase(v)
	}
	next := func() query.Expr { return anyExpr(r, r.IntN(depth), values) }
	switch r.IntN(10) {
	case 0:
		return query.And(next(), next(), next())
	case 1:
		return query.Or(next(), next())
	case 2:
		return query.Not(next())
	case 3:
		return query.Bool(query.Must(next()), query.MustNot(next()), next(), next())
	case 4:
		return query.Must(next())
	case 5:
		return query.MustNot(next())
	case 6:
		return query.Boost(next(), float32(r.IntN(4))/2)
	case 7:
		return f.Match(next())
	}
	return query.And(query.Raw(v), next())
}

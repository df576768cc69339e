package search_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
)

// FuzzParse feeds any text: it is refused with a reason, or matches the same
// records in brackets, and never neither a record nor its complement.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"climate", "garza AND -climate", `titles.title:"climate change"~1^2`, "doi:10.5072/*", "+a -b !c && d || e",
		"publicationYear:[2010 TO 2014}", "created:>now-1d/d", "viewCount:(>=3 <12)", "(a OR (b AND c))^0.5", "*:* AND NOT _exists_:doi",
		`\u0041 \ud83d\ude00 a\:b`, `["a\u005c" TO "b\"c"]`, "k?im*l~1 klimawendel~", `titles.\*:x`, "+ - ! 気候 \x80", "[TO TO TO]", `""`,
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, and bool) {
		q, err := search.Parse(text, and)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		if strings.Trim(text, " \t\r\n\u3000") == "" || strings.Count(text, "(") > 900 || len(text) > 2000 {
			return // brackets around it would be too much, or would hold nothing
		}
		inBrackets, err := search.Parse("("+text+")", and)
		require.NoError(t, err)
		with, err := search.Parse("*:* AND ("+text+")", and)
		require.NoError(t, err)
		without, err := search.Parse("*:* AND NOT ("+text+")", and)
		require.NoError(t, err)
		for _, record := range library {
			score, ok := match(q, record)
			require.GreaterOrEqual(t, score, 0.0)
			_, same := match(inBrackets, record)
			require.Equal(t, ok, same, "in brackets")
			_, is := match(with, record)
			_, isNot := match(without, record)
			require.True(t, is || isNot, "neither it nor its complement")
			require.True(t, !ok || is, "a match gets lost beside *:*")
		}
	})
}

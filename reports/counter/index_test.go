package counter

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pattern is tried only where its longest text begins, unless it has none.
func TestPatternsByTheirTexts(t *testing.T) {
	for text, want := range map[string]string{
		"bot": "bot", "^bot$": "bot", "Bot": "bot", "b(o|u)t+crawl": "crawl", "(spider)s": "spider", "(ab)+c": "ab",
		"ab(cd)?efg": "efg",
		"[ab]c":      "c", "a|b": "", "a?": "", "é": "", "béta": "", "bé(ta)": "ta", `\d+`: "", "ab{2}": "a",
		"long.text": "long",
	} {
		p, err := readPattern(text)
		require.NoError(t, err)
		assert.Equal(t, want, p.literal, text)
		assert.Equal(t, text, p.text)
		assert.Equal(t, !strings.ContainsAny(text, `^$()+?[]|é\{.`), p.isLiteral, text)
	}
	a, err := NewAgents(append(Robots().Patterns(), "ab", "a", "é")...)
	require.NoError(t, err)
	placed := slices.Clone(a.others)
	assert.Empty(t, a.byPair[0])
	for number, of := range a.byPair {
		for _, i := range of {
			assert.EqualValues(t, number, a.pairs[pairOf(a.patterns[i].literal)])
		}
		placed = append(placed, of...)
	}
	for _, i := range a.others {
		assert.Less(t, len(a.patterns[i].literal), 2)
	}
	slices.Sort(placed)
	require.Len(t, placed, len(a.patterns))
	for i, at := range placed {
		assert.Equal(t, i, at, "each is somewhere, once")
	}
}

// Clicks that may be double ones stay in memory while they are few.
func TestFewURLsStayInMemory(t *testing.T) {
	r, err := newRules(nil)
	require.NoError(t, err)
	made := 0
	tally := newTally(r)
	tally.most, tally.room = 2, func() *overflow { made++; return newOverflow(1<<20, t.TempDir()) }
	for i, want := range []int{0, 0, 1, 1} {
		e := Event{DOI: "10.5072/a", User: "u", URL: string(rune('a' + i)), Time: time.Unix(1e9, 0)}
		require.NoError(t, tally.add(appendRecord(nil, e.DOI, &e, false).click()))
		assert.Equal(t, want, made)
	}
	require.NoError(t, tally.finish())
	assert.EqualValues(t, 4, tally.summary.Counted)
	for i := range 1000 { // one after the other, none of which may be a double click
		e := Event{DOI: "10.5072/a", User: "u", URL: "a", Time: time.Unix(2e9+31*int64(i), 0)}
		require.NoError(t, tally.add(appendRecord(nil, e.DOI, &e, false).click()))
		require.Less(t, len(tally.open.queue), 4)
	}
}

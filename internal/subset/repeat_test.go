package subset

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRepeatsAmongMany finds the repeats of streams that stay in memory, and of
// one that does not, just as a map does.
func TestRepeatsAmongMany(t *testing.T) {
	for _, c := range []struct{ entries, names int }{
		{0, 1}, {1, 1}, {2, 1}, {100, 1000}, {5000, 500_000}, {20_000, 20_000}, {300_000, 40_000_000}, {150_000, 3},
	} {
		random := rand.New(rand.NewPCG(uint64(c.entries), uint64(c.names)))
		f := NewRepeatFinder(t.TempDir())
		first := map[int]int{}
		var want []Repeat
		for i := range c.entries {
			number := random.IntN(c.names)
			require.NoError(t, f.Add(i, fmt.Append(nil, "10.5072/fk2/", number)))
			if at, ok := first[number]; ok {
				want = append(want, Repeat{at, i})
			} else {
				first[number] = i
			}
		}
		found, count, err := f.Repeats(c.entries)
		require.NoError(t, err)
		assert.Equal(t, want, found, "%v", c)
		assert.Equal(t, len(want), count, "%v", c)

		found, count, err = f.Repeats(2)
		require.NoError(t, err)
		assert.Len(t, found, min(2, len(want)))
		assert.Equal(t, len(want), count)
		assert.Equal(t, c.entries > 70_000, f.file != nil, "only long reports need a file")
		require.NoError(t, f.Close())
	}
}

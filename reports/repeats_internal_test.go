package reports

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func named(doi string) *Dataset { return &Dataset{DatasetID: []TypedValue{{TypeDOI, doi}}} }

// TestRepeatsAmongMany finds the repeats of streams that stay in memory, and of
// one that does not, just as a map does.
func TestRepeatsAmongMany(t *testing.T) {
	for _, c := range []struct{ entries, names int }{
		{0, 1}, {1, 1}, {2, 1}, {100, 1000}, {5000, 500_000}, {20_000, 20_000}, {300_000, 40_000_000}, {150_000, 3},
	} {
		random := rand.New(rand.NewPCG(uint64(c.entries), uint64(c.names)))
		f := newRepeatFinder(t.TempDir())
		first := map[int]int{}
		var want []repeat
		for i := range c.entries {
			number := random.IntN(c.names)
			form := []string{"10.5072/FK2/%d", "doi:10.5072/fk2/%d", " 10.5072/Fk2/%d "}[random.IntN(3)]
			require.NoError(t, f.see(i, named(fmt.Sprintf(form, number))))
			if at, ok := first[number]; ok {
				want = append(want, repeat{at, i})
			} else {
				first[number] = i
			}
		}
		found, count, err := f.repeats(c.entries)
		require.NoError(t, err)
		assert.Equal(t, want, found, "%v", c)
		assert.Equal(t, len(want), count, "%v", c)

		found, count, err = f.repeats(2)
		require.NoError(t, err)
		assert.Len(t, found, min(2, len(want)))
		assert.Equal(t, len(want), count)
		assert.Equal(t, c.entries > 70_000, f.file != nil, "only long reports need a file")
		require.NoError(t, f.close())
	}
}

func TestEntriesWithoutADOIAreNoRepeats(t *testing.T) {
	f := newRepeatFinder("")
	for i := range 3 {
		require.NoError(t, f.see(i, &Dataset{DatasetID: []TypedValue{{"proprietary", "same"}}}))
		require.NoError(t, f.see(i, named(" ")))
	}
	_, count, err := f.repeats(9)
	require.NoError(t, err)
	assert.Zero(t, count)
}

func TestAppendLower(t *testing.T) {
	for c := range 256 {
		want := byte(c)
		if c >= 'A' && c <= 'Z' {
			want += 'a' - 'A'
		}
		for length := range 20 {
			for at := range length {
				in, out := make([]byte, length), make([]byte, length)
				for i := range in {
					in[i], out[i] = 0xff, 0xff
				}
				in[at], out[at] = byte(c), want
				require.Equal(t, "x"+string(out), string(appendLower([]byte("x"), string(in))), "%q", in)
			}
		}
	}
}

package main

import (
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEachLineIsInOneRange reads random texts in random ranges, which the engine splits while they are read.
func TestEachLineIsInOneRange(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var text strings.Builder
		for range r.IntN(40) {
			text.WriteString(strings.Repeat("x", r.IntN(30)*r.IntN(2)) + strings.Repeat("\n", min(r.IntN(8), 1)))
		}
		s := source{Path: write(t, "a.log", []byte(text.String())), Size: int64(text.Len())}
		f := &readFn{Block: 1 + r.Int64N(50)}
		var lines []string
		waiting := f.SplitRestriction(s, f.CreateInitialRestriction(s))
		for ranges := 0; len(waiting) > 0; ranges++ {
			part := waiting[0]
			claims := f.CreateTracker(part)
			log, err := f.open(t.Context(), claims, s)
			require.NoError(t, err)
			found := readRandomly(t, r, log, func() {
				if _, rest, err := claims.TrySplit(r.Float64()); assert.NoError(t, err) && rest != nil {
					waiting = append(waiting[:1:1], append([]offsetrange.Restriction{rest.(offsetrange.Restriction)}, waiting[1:]...)...)
				}
			})
			assert.True(t, claims.IsDone(), "seed %d: %v", seed, claims)
			require.NoError(t, log.Close())
			if part.Start > 0 {
				require.True(t, strings.HasPrefix(found, "\n"), "seed %d: %q", seed, found)
				found = found[1:]
			}
			lines = append(lines, found)
			waiting = waiting[1:]
		}
		require.Equal(t, text.String(), strings.Join(lines, ""), "seed %d, blocks of %d bytes: %q", seed, f.Block, lines)
		for _, part := range lines[:max(len(lines)-1, 0)] {
			require.True(t, part == "" || strings.HasSuffix(part, "\n") || strings.HasSuffix(text.String(), part), "seed %d: %q", seed, lines)
		}
		require.NoError(t, os.Remove(s.Path))
	}
}

// readRandomly reads all, in portions of random size, with something else between them.
func readRandomly(t *testing.T, r *rand.Rand, in io.Reader, between func()) string {
	var all strings.Builder
	for {
		p := make([]byte, 1+r.IntN(60))
		n, err := in.Read(p)
		all.Write(p[:n])
		if err == io.EOF {
			return all.String()
		}
		require.NoError(t, err)
		if r.IntN(4) == 0 {
			between()
		}
	}
}

// TestARangeThatIsGivenAway: the engine may split a range before its first block is read.
func TestARangeThatIsGivenAway(t *testing.T) {
	log := []byte(`{"doi":"10.5072/a","time":"2026-10-14T10:00:00Z","url":"/a"}` + "\n")
	for _, whole := range []bool{false, true} {
		f := &readFn{Rules: rules{Month: "2026-10", Zone: "UTC", Format: "json"}, Parts: 1, Shards: 1, Block: 100}
		require.NoError(t, f.Setup(t.Context()))
		f.StartBundle(t.Context(), nil, nil, nil)
		s := source{Path: write(t, "a.log", log), Size: int64(len(log)), Whole: whole}
		claims := f.CreateTracker(f.CreateInitialRestriction(s))
		_, rest, err := claims.TrySplit(0)
		require.NoError(t, err)
		require.Equal(t, offsetrange.Restriction{End: 1}, rest)
		require.NoError(t, f.ProcessElement(t.Context(), claims, s, nil, nil, func([]byte) { t.Error("it has a summary") }))
		assert.True(t, claims.IsDone())
		assert.Empty(t, f.accesses.blocks[0])
	}
}

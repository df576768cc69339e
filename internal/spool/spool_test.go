package spool

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSpoolGivesBackWhatItTook reads parts of what was written so far while more
// is written, across the border of memory and file.
func TestSpoolGivesBackWhatItTook(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 0))
		all := make([]byte, 20_000)
		for i := range all {
			all[i] = byte(random.Uint32())
		}
		s := &Spool{Memory: random.Int64N(25_000), Dir: t.TempDir()}
		var readers sync.WaitGroup
		for at := 0; at < len(all); {
			n, err := s.Write(all[at:min(len(all), at+1+random.IntN(3000))])
			require.NoError(t, err)
			at += n
			from := random.IntN(at)
			to := from + random.IntN(at-from)
			readers.Go(func() {
				got, err := io.ReadAll(io.NewSectionReader(s, int64(from), int64(to-from)))
				assert.NoError(t, err)
				assert.True(t, bytes.Equal(all[from:to], got), "seed %d: bytes %d to %d", seed, from, to)
			})
		}
		readers.Wait()
		got, err := io.ReadAll(io.NewSectionReader(s, 0, 1<<40))
		require.NoError(t, err, "it ends where what was written ends")
		require.True(t, bytes.Equal(all, got))
		require.NoError(t, s.Close())
		left, err := os.ReadDir(s.Dir)
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

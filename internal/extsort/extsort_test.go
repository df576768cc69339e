package extsort_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/extsort"
)

func sorted(t *testing.T, s *extsort.Sorter) (values []string) {
	t.Helper()
	for value, err := range s.Values() {
		require.NoError(t, err)
		values = append(values, string(value))
	}
	return values
}

// TestAnyMemorySortsAlike: records of one key keep their order, whether they lie in
// memory or in runs.
func TestAnyMemorySortsAlike(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		n := random.IntN(2000)
		s := &extsort.Sorter{Memory: 1 << random.IntN(20), Dir: t.TempDir()}
		type record struct{ key, value string }
		var want []record
		for i := range n {
			r := record{key(random), fmt.Sprint("value ", i)}
			want = append(want, r)
			require.NoError(t, s.Add([]byte(r.key), []byte(r.value)))
		}
		slices.SortStableFunc(want, func(a, b record) int { return strings.Compare(a.key, b.key) })
		var values []string
		for _, r := range want {
			values = append(values, r.value)
		}
		require.Equal(t, values, sorted(t, s), "seed %d, memory %d", seed, s.Memory)
		require.NoError(t, s.Close())
	}
}

// key makes one of few keys, often one that begins as another: zeros, too.
func key(random *rand.Rand) string {
	start := strings.Repeat("10.5072/", random.IntN(4))
	if random.IntN(2) == 0 {
		return start + strings.Repeat("\x00", random.IntN(20))
	}
	return start + fmt.Sprint(random.IntN(100))
}

// TestMemoryIsTakenOnce: what is held is not copied when there is more of it, which would
// take twice the memory for a moment.
func TestMemoryIsTakenOnce(t *testing.T) {
	s := &extsort.Sorter{Memory: 8 << 20, Dir: t.TempDir()}
	defer s.Close()
	key := make([]byte, 100)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 60_000 {
		require.NoError(t, s.Add(key, nil))
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(12<<20))
}

func TestKeys(t *testing.T) {
	for _, memory := range []int{1, 1 << 20} {
		s := &extsort.Sorter{Memory: memory, Dir: t.TempDir()}
		for _, key := range []string{"b", "", "c", "a", "b"} {
			require.NoError(t, s.Add([]byte(key), nil))
		}
		var keys []string
		for key, err := range s.Keys() {
			require.NoError(t, err)
			keys = append(keys, string(key))
		}
		assert.Equal(t, []string{"", "a", "b", "b", "c"}, keys)
		require.NoError(t, s.Close())
	}
}

func TestItMayBeLeftEarly(t *testing.T) {
	s := &extsort.Sorter{Memory: 1, Dir: t.TempDir()}
	defer s.Close()
	for i := range 100 {
		require.NoError(t, s.Add(fmt.Append(nil, 100+i), nil))
	}
	n := 0
	for range s.Values() {
		if n++; n == 7 {
			break
		}
	}
	assert.Equal(t, 7, n)
}

func TestNoFolder(t *testing.T) {
	s := &extsort.Sorter{Memory: 1, Dir: filepath.Join(t.TempDir(), "none")}
	require.NoError(t, s.Add([]byte("a"), nil))
	assert.ErrorIs(t, s.Add([]byte("b"), nil), os.ErrNotExist)
	assert.NoError(t, s.Close())
}

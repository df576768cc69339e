package archive

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Records are decoded in batches as large as a batch may be. A longer record has one for itself, and only one such
// is in memory at a time.
func TestBatches(t *testing.T) {
	record := func(n, size int) string {
		begin := fmt.Sprintf(`{"doi":"10.5072/r%d","language":"`, n)
		return begin + strings.Repeat("x", size-len(begin)-2) + `"}`
	}
	for name, tt := range map[string]struct {
		sizes []int
		want  string // pieces and bytes of batches
	}{
		"short ones":      {[]int{batchSize / 2, batchSize / 4, batchSize / 4, 100, 100}, "3 131072, 2 200"},
		"a byte too much": {[]int{batchSize / 2, batchSize/2 + 1, 100}, "1 65536, 2 65637"},
		"as long as one":  {[]int{100, batchSize, 100}, "1 100, 1 131072, 1 100"},
		"long ones":       {[]int{100, batchSize + 1, batchSize + 2, 100}, "1 100, 1 131073, 1 131074, 1 100"},
	} {
		var texts []string
		for i, size := range tt.sizes {
			texts = append(texts, record(i, size))
		}
		synctest.Test(t, func(t *testing.T) {
			s := newSplitter(&Options{})
			defer s.stop()
			s.run(func(s *splitter) { _ = s.read("", strings.NewReader(strings.Join(texts, "\n")), 0) })
			var got []string
			for b := range s.ordered {
				<-b.decoded
				synctest.Wait() // the splitter does what it can
				if len(b.text) == batchSize+1 {
					assert.Empty(t, s.ordered, "the other long one waits")
				} else if len(b.text) <= batchSize {
					assert.Equal(t, batchSize, cap(b.text), name)
				}
				for _, p := range b.pieces {
					require.NoError(t, p.err)
				}
				if name == "short ones" && got == nil {
					assert.NotEmpty(t, s.ordered, "they do not wait")
				}
				got = append(got, fmt.Sprint(len(b.pieces), " ", len(b.text)))
				pieces := b.pieces
				s.free(b)
				for _, p := range pieces {
					assert.Zero(t, p, "it is not held")
				}
			}
			assert.Equal(t, tt.want, strings.Join(got, ", "), name)
			for range s.count {
				b := <-s.batches
				assert.LessOrEqual(t, cap(b.text), batchSize, "a long text is not held")
			}
		})
	}
}

// Lines are read into the same memory, but for that of a long one.
func TestMemoryOfLines(t *testing.T) {
	s := &splitter{}
	src := bufio.NewReader(strings.NewReader(strings.Repeat("short\n", 2) + strings.Repeat("x", 2*batchSize) + "\nshort\n"))
	var first [4]*byte
	for i, long := range []bool{false, false, true, false} {
		_, err := s.readLine(src)
		require.NoError(t, err)
		assert.Equal(t, long, cap(s.line) > batchSize)
		first[i] = &s.line[0]
	}
	assert.Same(t, first[0], first[1])
}

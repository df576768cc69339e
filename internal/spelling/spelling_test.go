package spelling_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/internal/spelling"
)

func TestDistance(t *testing.T) {
	long := strings.Repeat("kitten", 50_000)
	for _, tt := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 5, 0}, {"ab", "", 5, 2}, {"", "ab", 5, 2}, {"abc", "abc", 5, 0}, {"abc", "abd", 5, 1}, {"abc", "ab", 5, 1},
		{"abc", "xabc", 5, 1},
		{"kitten", "sitting", 5, 3}, {"kitten", "sitting", 3, 3}, {"kitten", "sitting", 2, 2},
		{"abcd", "acbd", 5, 1}, {"ab", "ba", 5,
			1}, {"abc", "cba", 5, 2}, {"a", "abcd", 3, 3}, {"abcd", "a", 3, 3}, {"abcd", "a", 4, 3}, {"abc", "xyz", 9, 3},
		{long + "a", "b" + long, 4, 2}, {long, strings.ToUpper(long), 4, 4},
	} {
		assert.Equal(t, tt.want, spelling.Distance(tt.a, tt.b, tt.limit), "%.20q %.20q, at most %d", tt.a, tt.b, tt.limit)
	}
}

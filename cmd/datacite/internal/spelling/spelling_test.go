package spelling_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/spelling"
)

func TestNearest(t *testing.T) {
	known := []string{"doi", "error", "dates", "title", "publicationYear", "publicationYears"}
	for word, want := range map[string]string{
		"autor": "", "notes": "", "publ": "publicationYear", "TITEL": "title", "title": "title", "tilte": "title", "titles": "title", "publicatonYeer": "publicationYear",
		"pubicatonYeer": "publicationYear", "pubicatonYeerx": "", // three letters wrong, and four
		"dio": "doi", "xxi": "", "xxx": "", "do": "doi", "xx": "", "d": "", "": "",
	} {
		assert.Equal(t, want, spelling.Nearest(word, known), word)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 5, 0}, {"abc", "abc", 5, 0}, {"abc", "abd", 5, 1}, {"abc", "ab", 5, 1}, {"abc", "xabc", 5, 1},
		{"kitten", "sitting", 5, 3}, {"kitten", "sitting", 3, 3}, {"kitten", "sitting", 2, 2},
		{"abcd", "acbd", 5, 1}, {"ab", "ba", 5, 1}, {"abc", "cba", 5, 2}, {"a", "abcd", 3, 3}, {"abcd", "a", 3, 3}, {"abcd", "a", 4, 3}, {"abc", "xyz", 9, 3},
	} {
		assert.Equal(t, tt.want, spelling.Distance(tt.a, tt.b, tt.limit), "%q %q, at most %d", tt.a, tt.b, tt.limit)
	}
}

package spelling_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/spelling"
)

func TestNearest(t *testing.T) {
	known := []string{"doi", "error", "dates", "title", "publicationYear", "publicationYears"}
	for word, want := range map[string]string{
		"autor": "", "notes": "", "publ": "publicationYear", "TITEL": "title", "title": "title", "tilte": "title",
		"titles": "title", "publicatonYeer": "publicationYear",
		"pubicatonYeer": "publicationYear", "pubicatonYeerx": "", // three letters wrong, and four
		"dio": "doi", "xxi": "", "xxx": "", "do": "doi", "xx": "", "d": "", "": "",
	} {
		assert.Equal(t, want, spelling.Nearest(word, known), word)
	}
}

package dois_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// TestSort asks for each order of specification §4.2.2, both ways.
func TestSort(t *testing.T) {
	records := []string{
		`{"doi":"10.5072/a","created":"2020-01-03T00:00:00Z","updated":"2022-01-02T00:00:00Z","publicationYear":2001,
			"viewCount":30,"downloadCount":1,"citationCount":20,"titles":[{"title":"middle"}],"descriptions":[{"description":"snow"}]}`,
		`{"doi":"10.5072/b","created":"2020-01-01T00:00:00Z","updated":"2022-01-03T00:00:00Z","publicationYear":2003,
			"viewCount":10,"downloadCount":2,"citationCount":30,"titles":[{"title":"Zebra"}]}`,
		`{"doi":"10.5072/c","created":"2020-01-02T00:00:00Z","updated":"2022-01-01T00:00:00Z","publicationYear":2002,
			"viewCount":20,"downloadCount":3,"citationCount":10,"titles":[{"title":"Alps and snow"}],"descriptions":[{"description":"snow"}]}`,
	}
	for _, tt := range []struct {
		order query.Sort
		want  string
	}{
		{query.ByName, "a b c"},
		{query.ByCreated, "b c a"},
		{query.ByUpdated, "c a b"},
		{query.ByPublished, "a c b"},
		{query.ByViewCount, "b c a"},
		{query.ByDownloadCount, "a b c"},
		{query.ByCitationCount, "c a b"},
		{query.ByTitle, "c a b"}, // whatever the case
	} {
		for _, order := range []query.Sort{tt.order, tt.order.Desc()} {
			t.Run(string(order), func(t *testing.T) {
				onEach(t, func(t *testing.T, srv *datacitetest.Server) {
					seed(t, srv, records...)
					want := words(tt.want)
					if order != tt.order {
						slices.Reverse(want)
					}
					if deployed(t) && tt.order == query.ByPublished {
						want = words("a b c") // it has nothing to sort by
					}
					found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{Sort: order})
					require.NoError(t, err)
					assert.Equal(t, want, suffixes(found.Records))
				})
			})
		}
	}
	t.Run("relevance", func(t *testing.T) {
		onEach(t, func(t *testing.T, srv *datacitetest.Server) {
			seed(t, srv, records...)
			found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{Query: query.Or(query.Term("snow"), query.Term("alps")), Sort: query.ByRelevance})
			require.NoError(t, err)
			assert.Equal(t, words("c a"), suffixes(found.Records), "the better match comes first")
		})
	})
	t.Run("none is last updated first", func(t *testing.T) {
		onEach(t, func(t *testing.T, srv *datacitetest.Server) {
			seed(t, srv, records...)
			found, err := srv.DOIs().List(t.Context(), nil)
			require.NoError(t, err)
			assert.Equal(t, words("b a c"), suffixes(found.Records))
		})
	})
}

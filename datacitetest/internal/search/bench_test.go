package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
)

// tenThousand are records of the usual size; a tenth of them are about
// glaciers, in a description of some two hundred words.
func tenThousand() []map[string]any {
	prose := strings.Repeat("These measurements were taken in the high valleys between 2012 and 2019. ", 16)
	records := make([]map[string]any, 10_000)
	for i := range records {
		about := "rivers"
		if i%10 == 0 {
			about = "glaciers"
		}
		records[i] = map[string]any{
			"uid":              fmt.Sprintf("10.5072/%05d", i),
			"titles":           []any{map[string]any{"title": "Observations, part " + fmt.Sprint(i)}},
			"creators":         []any{map[string]any{"name": "Lovelace, Ada", "affiliation": []any{map[string]any{"name": "Example Institute"}}}},
			"publisher":        "Example Repository",
			"publication_year": float64(2000 + i%20),
			"descriptions":     []any{map[string]any{"description": prose + "They are about " + about + "."}},
			"subjects":         []any{map[string]any{"subject": "Hydrology"}, map[string]any{"subject": "Climatology"}},
			"created":          fmt.Sprintf("20%02d-03-04T05:06:07Z", i%20),
			"view_count":       float64(i),
		}
	}
	return records
}

func BenchmarkMatch(b *testing.B) {
	records := tenThousand()
	for _, c := range []struct {
		name, query string
		want        int
	}{
		{"two fields", "publicationYear:[2005 TO 2010] AND titles.title:observations", 3000},
		{"two dates and counts", "created:>=2010 AND viewCount:<5000", 2500},
		{"two words anywhere", "glaciers AND lovelace", 1000},
		{"phrase and wildcard", `"about glaciers" AND hydrol*`, 1000},
		{"fuzzy and pattern", "glacers~ AND *tology", 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			q, err := search.Parse(c.query, search.Options{})
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				found := 0
				for _, record := range records {
					if _, ok := q.Match(record); ok {
						found++
					}
				}
				require.Equal(b, c.want, found)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, err := search.Parse(`+titles.title:"climate change" -publisher:zenodo (doi:10.5072/* OR publicationYear:>2015)`, search.Options{})
		require.NoError(b, err)
	}
}

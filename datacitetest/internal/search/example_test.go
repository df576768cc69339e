package search_test

import (
	"fmt"

	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
)

func ExampleParse() {
	record := map[string]any{
		"titles":           []any{map[string]any{"title": "Climate change in the Alps"}},
		"publication_year": 2014.0,
	}
	q, err := search.Parse("titles.title:climate^2 publicationYear:[2010 TO 2015]", search.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q.Match(record))

	_, err = search.Parse("titles.title:(climate", search.Options{})
	fmt.Println("parse_exception:", err)
	// Output:
	// 3 true
	// parse_exception: Encountered the end of the query where a clause or a bracket should be
}

package metadata_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/metadata"
)

func ExampleVersions_Relations() {
	glacier := metadata.Versions{Concept: "10.5072/glacier", DOIs: []string{"10.5072/glacier.v1", "10.5072/glacier.v2"}}
	for _, name := range append([]string{glacier.Concept}, glacier.DOIs...) {
		rec := &metadata.Record{DOI: name, RelatedIdentifiers: glacier.Relations(name)}
		for _, r := range rec.RelatedIdentifiers {
			fmt.Println(name, r.RelationType, r.RelatedIdentifier)
		}
	}
	// Output:
	// 10.5072/glacier HasVersion 10.5072/glacier.v1
	// 10.5072/glacier HasVersion 10.5072/glacier.v2
	// 10.5072/glacier.v1 IsVersionOf 10.5072/glacier
	// 10.5072/glacier.v1 IsPreviousVersionOf 10.5072/glacier.v2
	// 10.5072/glacier.v2 IsVersionOf 10.5072/glacier
	// 10.5072/glacier.v2 IsNewVersionOf 10.5072/glacier.v1
}

// Whatever DOI of a resource has a relation to another one, that one has the opposite.
func TestVersionsAreRelatedBothWays(t *testing.T) {
	for n := range 6 {
		for _, concept := range []string{"", "10.5072/C"} {
			v := metadata.Versions{Concept: concept}
			for i := range n {
				v.DOIs = append(v.DOIs, fmt.Sprint("10.5072/V", i))
			}
			count := 0
			for _, name := range append([]string{concept}, v.DOIs...) {
				for _, r := range v.Relations(name) {
					count++
					back := metadata.RelatedIdentifier{RelatedIdentifier: name, RelatedIdentifierType: metadata.IdentifierDOI, RelationType: r.RelationType.Inverse()}
					assert.Contains(t, v.Relations(r.RelatedIdentifier), back)
					assert.False(t, doi.Same(name, r.RelatedIdentifier))
				}
			}
			want := 2 * max(n-1, 0)
			if concept != "" {
				want += 2 * n
			}
			assert.Equal(t, want, count, "%d versions, concept %q", n, concept)
		}
	}
}

func TestVersionsKnowTheirOwnNamesOnly(t *testing.T) {
	v := metadata.Versions{Concept: "10.5072/C", DOIs: []string{"10.5072/V"}}
	assert.Nil(t, v.Relations("10.5072/other"))
	assert.Nil(t, v.Relations(""))
	assert.Len(t, v.Relations("10.5072/c"), 1, "case does not count")
	assert.Nil(t, metadata.Versions{DOIs: []string{"10.5072/V"}}.Relations("10.5072/V"), "one version alone")
}

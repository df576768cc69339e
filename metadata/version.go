package metadata

import (
	"slices"

	"github.com/datacite-go/datacite-go/internal/doi"
)

// Versions are the DOI names of a resource that has several versions.
type Versions struct {
	Concept string   // stands for all versions; "" if the resource has no such DOI
	DOIs    []string // of the versions, oldest first
}

// Relations returns the related identifiers that the record of one of these DOIs needs, so
// that the versions and the concept refer to each other in both directions:
//
//   - the concept HasVersion each version, and each version IsVersionOf the concept;
//   - a version IsNewVersionOf the one before it, and IsPreviousVersionOf the one after it.
//
// It returns nil for any other DOI. A new version changes the relations of the concept and
// of the version before it; send their records, too.
func (v Versions) Relations(name string) (all []RelatedIdentifier) {
	relate := func(other string, relation RelationType) {
		all = append(all, RelatedIdentifier{RelatedIdentifier: other, RelatedIdentifierType: IdentifierDOI,
			RelationType: relation})
	}
	if v.Concept != "" && doi.Equal(name, v.Concept) {
		for _, version := range v.DOIs {
			relate(version, RelationHasVersion)
		}
		return all
	}
	i := slices.IndexFunc(v.DOIs, func(version string) bool { return doi.Equal(name, version) })
	if i >= 0 && v.Concept != "" {
		relate(v.Concept, RelationIsVersionOf)
	}
	if i > 0 {
		relate(v.DOIs[i-1], RelationIsNewVersionOf)
	}
	if i >= 0 && i+1 < len(v.DOIs) {
		relate(v.DOIs[i+1], RelationIsPreviousVersionOf)
	}
	return all
}

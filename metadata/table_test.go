package metadata

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// JSON is written by struct tags and read by the tables, so both must have the same
// names.
func TestTables_haveTheNamesOfTheStructTags(t *testing.T) {
	sameNames(t, resourceElement(), "identifiers") // are alternateIdentifiers
	sameNames(t, creatorElement())
	sameNames(t, contributorElement())
	sameNames(t, nameIdentifierElement())
	sameNames(t, affiliationElement())
	sameNames(t, titleElement())
	sameNames(t, publisherElement())
	sameNames(t, typesElement())
	sameNames(t, subjectElement())
	sameNames(t, dateElement())
	sameNames(t, alternateElement())
	sameNames(t, relatedIdentifierElement())
	sameNames(t, rightsElement())
	sameNames(t, descriptionElement())
	sameNames(t, geoLocationElement())
	sameNames(t, corner())
	sameNames(t, boxElement())
	sameNames(t, fundingElement())
	sameNames(t, relatedItemElement())
	sameNames(t, relatedItemIdentifierElement())
}

func sameNames[T any](t *testing.T, e *element[T], readOnly ...string) {
	t.Helper()
	table, tags := []string(nil), readOnly
	for _, m := range e.members {
		table = append(table, m.Name)
	}
	kind := reflect.TypeFor[T]()
	for _, field := range reflect.VisibleFields(kind) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "-" && !field.Anonymous {
			tags = append(tags, name)
		}
	}
	assert.ElementsMatch(t, tags, table, kind)
}

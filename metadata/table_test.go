package metadata

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// JSON is written by struct tags and read by the tables, so both must have the same
// names.
func TestTables_haveTheNamesOfTheStructTags(t *testing.T) {
	sameNames(t, resourceElement)
	sameNames(t, creatorElement)
	sameNames(t, contributorElement)
	sameNames(t, nameIdentifierElement)
	sameNames(t, affiliationElement)
	sameNames(t, titleElement)
	sameNames(t, publisherElement)
	sameNames(t, typesElement)
	sameNames(t, subjectElement)
	sameNames(t, dateElement)
	sameNames(t, alternateElement)
	sameNames(t, identifierTable)
	sameNames(t, relatedIdentifierElement)
	sameNames(t, rightsElement)
	sameNames(t, descriptionElement)
	sameNames(t, geoLocationElement)
	sameNames(t, corner)
	sameNames(t, boxElement)
	sameNames(t, fundingElement)
	sameNames(t, relatedItemElement)
	sameNames(t, relatedItemIdentifierElement)
}

func sameNames[T any](t *testing.T, e *element[T]) {
	t.Helper()
	var table, tags []string
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

// What has no value is left out, but an item of a list keeps its place.
func TestRecord_XML_ofEmptyItems(t *testing.T) {
	rec := &Record{
		FundingReferences: []FundingReference{{}}, GeoLocations: []GeoLocation{{}, {Polygons: Polygons{{}}}}, Sizes: []string{""},
		RelatedItems: []RelatedItem{{Titles: []Title{{}}}},
	}
	written, err := rec.XML()
	require.NoError(t, err)
	for _, part := range []string{
		"<fundingReference/>", "<geoLocation/>", "<geoLocationPolygon/>", "<size/>", "<relatedItem>\n      <titles>\n        <title/>\n",
	} {
		assert.Contains(t, string(written), part)
	}
	again, err := ParseXML(bytes.NewReader(written))
	require.NoError(t, err)
	rec.SchemaVersion = Namespace
	assert.Equal(t, rec, again)
}

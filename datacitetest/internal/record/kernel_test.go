package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A property stands in the table alone: one that is sent is kept, written to XML that
// is right by the schema, and read from it again.
func TestEveryPropertyIsKept(t *testing.T) {
	sent := everything(Properties()).(object)
	accepted, err := permitted(Properties(), sent, "")
	require.NoError(t, err)
	assert.Equal(t, sent, accepted)
	doc := parsed(t, string(kernelXML(sent, "10.5072/X")))
	assert.Empty(t, violations(doc.Root))
	read := membersOf(doc.Root, false)
	assertRead(t, "", Properties(), sent, read)
}

// everything is an object with all properties.
func everything(of []*Property) any {
	o := object{}
	for _, p := range of {
		if p.Name == "" || p.Is("read") {
			continue
		}
		var v any = p.Name
		switch list, kind := Vocabulary()[p.Name], p.Note("text"); {
		case p.Inside != nil:
			v = everything(p.Inside)
		case p.Name == "familyName":
			v = "name" // of which the name of an index is made
		case p.Name == "givenName":
			v = nil
		case list != nil:
			v = list[0]
		case p.Name == "lang" || kind == "language":
			v = "en"
		case kind == "year":
			v = "2020"
		case kind == "latitude" || kind == "longitude":
			v = "45"
		}
		switch {
		case p.Name == "polygonPoint" || v == nil:
			continue
		case p.Name == "geoLocationPolygon":
			point := v.(object)["inPolygonPoint"]
			corner := object{"polygonPoint": point}
			v = []any{corner, corner, corner, corner, object{"inPolygonPoint": point}}
		case p.List:
			v = []any{v}
		}
		o[p.Name] = v
	}
	return o
}

func assertRead(t *testing.T, path string, of []*Property, want, got any) {
	t.Helper()
	for _, p := range of {
		at, wanted, there := path+"/"+p.Name, Member(want, p.Name), Member(got, p.Name)
		switch {
		case wanted == nil || !p.InXML() || p.Is("lost") || p.Name == "publicationYear" && path == "":
		case p.Inside == nil || p.Name == "geoLocationPolygon":
			assert.Equal(t, wanted, there, at)
		case p.List:
			if items := listed(there); assert.Len(t, items, 1, at) {
				assertRead(t, at, p.Inside, wanted.([]any)[0], items[0])
			}
		default:
			assertRead(t, at, p.Inside, wanted, there)
		}
	}
}

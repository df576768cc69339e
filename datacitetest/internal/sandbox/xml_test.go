package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fullXML is a record with most properties.
func fullXML(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/records/full.xml")
	require.NoError(t, err)
	return string(text)
}

func TestSeveralPolygonsInOnePlace(t *testing.T) {
	const polygon = `<geoLocationPolygon><polygonPoint><pointLongitude>0</pointLongitude><pointLatitude>0</pointLatitude></polygonPoint><polygonPoint><pointLongitude>1</pointLongitude><pointLatitude>0</pointLatitude></polygonPoint><polygonPoint><pointLongitude>1</pointLongitude><pointLatitude>1</pointLatitude></polygonPoint><polygonPoint><pointLongitude>0</pointLongitude><pointLatitude>0</pointLatitude></polygonPoint><inPolygonPoint><pointLongitude>0.5</pointLongitude><pointLatitude>0.4</pointLatitude></inPolygonPoint></geoLocationPolygon>`
	service := newService()
	place := "<geoLocations><geoLocation>" + polygon + polygon + "</geoLocation></geoLocations>"
	require.Equal(t, 201, putMetadata("10.5072/x", strings.Replace(metadataXML, "</resource>", place+"</resource>", 1)).do(t, service).status)
	record := call{method: "GET", path: "/dois/10.5072/x", as: "repo"}.do(t, service).read(t)
	assert.Equal(t, "0.5", at(record, "data.attributes.geoLocations.0.geoLocationPolygon.1.4.inPolygonPoint.pointLongitude"))
}

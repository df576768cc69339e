package mds

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// The metadata of the DOI API stand for those of the store only where these have replaced characters.
func TestIsCopy(t *testing.T) {
	for _, tt := range []struct {
		whole, sent string
		want        bool
	}{
		{"<a>Länge?</a>", "<a>L??nge?</a>\n", true},
		{"<a>Länge!</a>", "<a>L??nge?</a>", false}, // it lags behind: the store has a question mark
		{"<a>Länge!</a>", "<a>L??nge.</a>", false},
		{"<a>éé</a>", "<a>??e.</a>", false},
		{"<a>Länge</a>", "<a>L?nge</a>", false},
		{"<a>Lange??</a>", "<a>Lange??</a>", true},
		{"<a>Lange</a>", "<a>Lange</a>", false},
		{"", "", false},
		{"<a>Länge</a", "<a>L??nge</a>", false},
		{"<a>Länge</a>", "<a>L??nge</a", false},
	} {
		assert.Equal(t, tt.want, isCopy([]byte(tt.whole), []byte(tt.sent)), tt)
	}
}

// What is longer than the service can store, or no base64, is not read, rather than cut off.
func TestMetadataOfTheAPIAreReadWhole(t *testing.T) {
	for _, tt := range []struct {
		data string
		want int
	}{
		{"", 0}, {"QUJD", 3}, {"QUJDQUJD!UJD", 0}, {"QUJDQUJ", 0},
		{base64.StdEncoding.EncodeToString(make([]byte, transport.MaxDocument)), transport.MaxDocument},
		{base64.StdEncoding.EncodeToString(make([]byte, transport.MaxDocument+1)), 0},
	} {
		require.NoError(t, jsonlex.Decode(strings.NewReader(`"`+tt.data+`"`), 1<<30, func(d *jsonlex.Decoder) error {
			assert.Len(t, readXML(d), tt.want)
			return d.Err()
		}), "%.20s", tt.data)
	}
}

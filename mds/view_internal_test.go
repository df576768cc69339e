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
	} {
		assert.Equal(t, tt.want, isCopy([]byte(tt.whole), []byte(tt.sent)), tt)
	}
}

// What is longer than the service can store is not read, rather than cut off.
func TestMetadataOfTheAPIAreReadWhole(t *testing.T) {
	for size, want := range map[int]int{0: 0, transport.MaxDocument: transport.MaxDocument, transport.MaxDocument + 1: 0} {
		body := `"` + base64.StdEncoding.EncodeToString(make([]byte, size)) + `"`
		require.NoError(t, jsonlex.Decode(strings.NewReader(body), 1<<30, func(d *jsonlex.Decoder) error {
			assert.Len(t, readXML(d), want)
			return d.Err()
		}), size)
	}
}

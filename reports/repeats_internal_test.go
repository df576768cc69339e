package reports

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func named(doi string) *Dataset { return &Dataset{DatasetID: []TypedValue{{TypeDOI, doi}}} }

func TestEntriesWithoutADOIAreNoRepeats(t *testing.T) {
	assert.Empty(t, appendDOI(nil, &Dataset{DatasetID: []TypedValue{{"proprietary", "same"}}}))
	assert.Empty(t, appendDOI(nil, named(" ")))
	assert.Equal(t, "10.5072/a", string(appendDOI(nil, named("doi:10.5072/A"))))
}

func TestAppendLower(t *testing.T) {
	for c := range 256 {
		want := byte(c)
		if c >= 'A' && c <= 'Z' {
			want += 'a' - 'A'
		}
		for length := range 20 {
			for at := range length {
				in, out := make([]byte, length), make([]byte, length)
				for i := range in {
					in[i], out[i] = 0xff, 0xff
				}
				in[at], out[at] = byte(c), want
				require.Equal(t, "x"+string(out), string(appendLower([]byte("x"), string(in))), "%q", in)
			}
		}
	}
}

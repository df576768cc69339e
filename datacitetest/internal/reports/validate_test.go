package reports

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
)

// A character that comes in pieces is whole, and one that is none is found where it is.
func TestEncodingOfStreams(t *testing.T) {
	for text, sound := range map[string]bool{`["a€😀ü"]`: true, "[\"\ufffd\"]": true, "[\"€\xff\"]": false, "[\"\xe2\x82\"]": false, "{\"\xc3\":1}": false} {
		err := check(iotest.OneByteReader(strings.NewReader(text)), anyValue)
		assert.Equal(t, sound, err == nil, "%q: %v", text, err)
		assert.Equal(t, !sound, errors.Is(err, errEncoding), "%q: %v", text, err)
	}
	assert.ErrorContains(t, check(strings.NewReader("[1,\xff]"), anyValue), "found", "outside of texts it is no JSON")
}

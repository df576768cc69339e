package country_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/internal/country"
)

func TestCodes(t *testing.T) {
	assigned, last := 0, 0
	for a := range 256 {
		for b := range 256 {
			letters := []byte{byte(a), byte(b)}
			pair := country.Pair(string(letters))
			code, ok := country.Code(letters)
			assert.Equal(t, pair != 0, ok)
			if !ok {
				continue
			}
			assert.Equal(t, string(letters), code)
			assert.Greater(t, pair, last)
			last = pair
			if country.Known(pair) {
				assigned++
			}
		}
	}
	assert.Equal(t, 249, assigned)
	for code, want := range map[string]bool{"de": true, "ss": true, "cw": true, "an": false, "eu": false, "uk": false,
		"xk": false, "zz": false} {
		assert.Equal(t, want, country.Known(country.Pair(code)), code)
	}
	for _, other := range []string{"", "d", "deu", "DE"} {
		_, ok := country.Code([]byte(other))
		assert.False(t, ok, other)
		assert.Zero(t, country.Pair(other), other)
	}
}

package access_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/internal/access"
)

func TestTheLastValuesAreHeld(t *testing.T) {
	c := access.Cache[int]{Most: 10}
	for i := range 1000 {
		c.Put(access.KeyOf(strconv.Itoa(i)), -i)
		for back := range min(i, 10) {
			value, ok := c.Get(access.KeyOf(strconv.Itoa(i - back)))
			assert.True(t, ok)
			assert.Equal(t, back-i, value)
		}
		_, ok := c.Get(access.KeyOf(strconv.Itoa(i - 20)))
		assert.False(t, ok)
	}
}

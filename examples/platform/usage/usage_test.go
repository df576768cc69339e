package usage

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAPseudonymLastsADay(t *testing.T) {
	var v visitors
	noon := time.Date(2026, 10, 14, 12, 0, 0, 0, time.UTC)
	first := v.pseudonym("192.0.2.1", noon)
	assert.Equal(t, first, v.pseudonym("192.0.2.1", noon.Add(11*time.Hour)))
	assert.NotEqual(t, first, v.pseudonym("192.0.2.2", noon))
	assert.NotEqual(t, first, v.pseudonym("192.0.2.1", noon.Add(12*time.Hour)))
	assert.NotEqual(t, first, v.pseudonym("192.0.2.1", noon), "the key of the day before is gone")
	assert.NotEqual(t, first, new(visitors).pseudonym("192.0.2.1", noon))
}

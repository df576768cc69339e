package doi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/internal/doi"
)

// Identifiers that exist.
func TestMod11(t *testing.T) {
	for _, id := range []string{"0000000218250097", "0000000151093700", "000000021694233X", "0000000121032683"} {
		assert.Equal(t, string(id[15]), string(doi.Mod11(id[:15])), id)
	}
}

func TestMod97(t *testing.T) {
	for number, digits := range map[uint64]uint64{ // of 04wxnsj81 and 05dxps055
		0b00100_11100_11101_10101_11001_10010: 81,
		0b00101_01101_11101_10110_11001_00000: 55,
	} {
		assert.Equal(t, digits, doi.Mod97(number), number)
	}
	const most = 1<<64 - 1
	assert.EqualValues(t, 1, (most%97*100+doi.Mod97(most))%97, "no overflow")
}

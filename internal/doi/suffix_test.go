package doi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNew(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		name := New("10.5072")
		require.Regexp(t, `^10\.5072/[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{2}[0-9]{2}$`, name)
		require.NoError(t, CheckNew(name))
		seen[name] = true
	}
	assert.Greater(t, len(seen), 990, "a billion are possible")
}

// numberOf reads the digits of a suffix that carry its number.
func numberOf(text string) (number uint32) {
	for _, r := range strings.ReplaceAll(text, "-", "")[:suffixDigits] {
		number = number<<5 | uint32(strings.IndexRune(alphabet, r))
	}
	return number
}

// The check digits are those of the service, and catch every mistyped character.
func TestCheckDigits(t *testing.T) {
	for _, made := range []string{"003r-j076", "ey2x-5w17", "ab3v-t139", "08a0-3f64", "236y-qx15", "x86n-nm18"} { // by the deployed service
		assert.Equal(t, made, suffix(numberOf(made)))
		for i := range len(made) - 2 {
			for _, other := range alphabet {
				if mistyped := made[:i] + string(other) + made[i+1:]; made[i] != '-' && mistyped != made {
					assert.NotEqual(t, mistyped, suffix(numberOf(mistyped)))
				}
			}
		}
	}
}

package doi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/doi"
)

func TestNew(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		suffix := strings.TrimPrefix(doi.New("10.5072"), "10.5072/")
		require.Regexp(t, `^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{2}[0-9]{2}$`, suffix)
		require.NoError(t, doi.CheckSuffix(suffix))
		require.NoError(t, doi.CheckNew("10.5072/"+suffix))
		seen[suffix] = true
	}
	assert.Greater(t, len(seen), 990, "a billion are possible")
}

func TestCheckSuffix(t *testing.T) {
	// Names that the deployed service made.
	for _, suffix := range []string{"003r-j076", "ey2x-5w17", "ab3v-t139", "08a0-3f64", "236y-qx15", "x86n-nm18"} {
		assert.NoError(t, doi.CheckSuffix(suffix))
		assert.NoError(t, doi.CheckSuffix(strings.ToUpper(suffix)))
		assert.NoError(t, doi.CheckSuffix(strings.ReplaceAll(suffix, "-", "")))
	}
	assert.NoError(t, doi.CheckSuffix("OO3R-JO76"), "o is read as zero")
	for text, fault := range map[string]string{
		"":           "is not a suffix",
		"abc":        "is not a suffix",
		"003r-j0760": "is not a suffix",
		"003u-j076":  "not a base-32 digit",
		"003r-j077":  "mistyped",
		"030r-j076":  "mistyped",
		"äöüß":       "not a base-32 digit",
	} {
		assert.ErrorContains(t, doi.CheckSuffix(text), fault, text)
	}
}

func TestCheckDigitsCatchEveryMistypedCharacter(t *testing.T) {
	const suffix, alphabet = "003rj076", "0123456789abcdefghjkmnpqrstvwxyz"
	for i := range len(suffix) {
		for _, other := range alphabet {
			if mistyped := suffix[:i] + string(other) + suffix[i+1:]; mistyped != suffix {
				assert.ErrorIs(t, doi.CheckSuffix(mistyped), doi.ErrName, mistyped)
			}
		}
	}
}

package doi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
)

// FuzzParse: a name that is read is read again from itself and from its address, and has one key.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"10.5072/ABC", "doi:10.1000/ä//..", "https://doi.org/10.5072/a%2Fb%23", "https://dx.doi.org/10.5072/%e2%80%90", " 10.5072/a b ", "10.5072/%41", "5072/abc", "10.5072/\u00ad", "10.5072.1/(a);2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := doi.Parse(text)
		if err != nil {
			require.ErrorIs(t, err, datacite.ErrInvalidDOI)
			require.Empty(t, name)
			return
		}
		again, err := doi.Parse(doi.Address(name))
		require.NoError(t, err)
		require.Equal(t, name, again)
		prefix, suffix := doi.Split(name)
		require.Equal(t, name, prefix+"/"+suffix)
		require.True(t, doi.Same(name, strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r - 'a' + 'A'
			}
			return r
		}, name)))
		require.Equal(t, doi.Key(name), doi.Key(doi.Key(name)))
		if again, err = doi.Parse(name); err == nil { // a name with dashes or blanks is read from an address alone
			require.Equal(t, name, again)
		}
	})
}

package doi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
)

func ExampleParse() {
	for _, text := range []string{"10.5072/ABC", "doi:10.5072/abc", "https://doi.org/10.5072/a%23b", "5072/abc"} {
		fmt.Println(doi.Parse(text))
	}
	// Output:
	// 10.5072/ABC <nil>
	// 10.5072/abc <nil>
	// 10.5072/a#b <nil>
	//  datacite: DOI name: "5072/abc" does not start with a prefix such as "10.5072"
}

func ExampleFind() {
	names, rest := doi.Find(`glacier length (https://doi.org/10.5072/ABC), DOI: 10.5072/def.`)
	fmt.Printf("%q %q", names, rest)
	// Output: ["10.5072/ABC" "10.5072/def"] "glacier length"
}

func ExampleKey() {
	seen := map[string]bool{}
	for _, name := range []string{"10.5072/ABC", "10.5072/abc", "10.5072/abd"} {
		fmt.Println(name, seen[doi.Key(name)])
		seen[doi.Key(name)] = true
	}
	// Output:
	// 10.5072/ABC false
	// 10.5072/abc true
	// 10.5072/abd false
}

func ExampleSplit() {
	prefix, suffix := doi.Split("10.5072/FK2/abc")
	fmt.Println(prefix, suffix)
	// Output: 10.5072 FK2/abc
}

func TestANewNameIsParsedAndChecked(t *testing.T) {
	name, err := doi.Parse(doi.New("10.5072"))
	require.NoError(t, err)
	prefix, _ := doi.Split(name)
	assert.Equal(t, "10.5072", prefix)
	require.NoError(t, doi.CheckPrefix(prefix))
	require.NoError(t, doi.CheckNew(name))
}

func TestErrors(t *testing.T) {
	_, err := doi.Parse("10.5072/a\u200bb")
	require.ErrorIs(t, err, datacite.ErrInvalidDOI)
	assert.ErrorContains(t, err, "U+200B (zero-width space")
	for _, prefix := range []string{"", "10.507", "10.507200", "10.5072/", "10.5072.1", "11.5072", " 10.5072"} {
		require.ErrorIs(t, doi.CheckPrefix(prefix), datacite.ErrInvalidDOI, prefix)
	}
	require.NoError(t, doi.CheckPrefix("10.5072"))
}

func TestOneDOIHasOneKey(t *testing.T) {
	assert.True(t, doi.Same("10.5072/ABC", "10.5072/abc"))
	assert.False(t, doi.Same("10.5072/\u00c4", "10.5072/\u00e4"), "only ASCII letters have no case")
	name, err := doi.Parse(doi.URL("10.5072/Gl\u00e4ser#1"))
	require.NoError(t, err)
	assert.Equal(t, "10.5072/Gl\u00e4ser#1", name)
}

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
		again, err := doi.Parse(doi.URL(name))
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

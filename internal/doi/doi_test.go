package doi_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/doi"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, in, want, fault string }{
		{name: "bare", in: "10.5072/abc", want: "10.5072/abc"},
		{name: "case is kept", in: "10.5072/AbC", want: "10.5072/AbC"},
		{name: "blanks around", in: " 10.5072/abc\n", want: "10.5072/abc"},
		{name: "doi scheme", in: "doi:10.5072/abc", want: "10.5072/abc"},
		{name: "doi scheme in capitals", in: "DOI: 10.5072/abc", want: "10.5072/abc"},
		{name: "resolver", in: "https://doi.org/10.5072/abc", want: "10.5072/abc"},
		{name: "old resolver", in: "http://dx.doi.org/10.5072/abc", want: "10.5072/abc"},
		{name: "resolver, encoded", in: "https://doi.org/10.5072/a%23b%2520c", want: "10.5072/a#b%20c"},
		{name: "resolver without a scheme", in: "DOI.org/10.5072/abc", want: "10.5072/abc"},
		{name: "resolver, doi scheme behind it", in: "https://doi.org/doi:10.5072/abc", want: "10.5072/abc"},
		{name: "handle resolver", in: "https://hdl.handle.net/10.5072/abc", want: "10.5072/abc"},
		{name: "test resolver", in: "https://handle.test.datacite.org/10.5072/abc", want: "10.5072/abc"},
		{name: "info scheme", in: "info:doi/10.5072/abc", want: "10.5072/abc"},
		{name: "doi scheme with slashes", in: "doi://10.5072/abc", want: "10.5072/abc"},
		{name: "first slash encoded", in: "10.5072%2Fa%23b", want: "10.5072/a#b"},
		{name: "en dash meant so", in: "https://doi.org/10.5072/a%E2%80%93b", want: "10.5072/a–b"},
		{name: "letters beyond ASCII", in: "10.5072/größe", want: "10.5072/größe"},
		{name: "en dash", in: "10.5072/a–b", fault: `has the character U+2013 (en dash, which looks like "-") after "10.5072/a"`},
		{name: "hyphen that is no hyphen", in: "https://doi.org/10.5072/a\u2010b", fault: "U+2010"},
		{name: "zero-width space", in: "10.5072/a\u200bb", fault: `U+200B (zero-width space, invisible) after "10.5072/a"`},
		{name: "byte order mark in front", in: "\ufeff10.5072/ab", fault: "U+FEFF (byte order mark, invisible) at its start"},
		{name: "no-break space inside", in: "10.5072/a\u00a0b", fault: "no-break space"},
		{name: "no-break space around", in: "\u00a010.5072/ab\u00a0", want: "10.5072/ab"},
		{name: "query of the address", in: "https://doi.org/10.5072/a?utm=x", fault: "write %3F if it belongs to the name"},
		{name: "fragment of the address", in: "https://doi.org/10.5072/a#b", fault: "write %23 if it belongs to the name"},
		{name: "control character beyond ASCII", in: "10.5072/a\u0085b", fault: "control character"},
		{name: "bare names are literal", in: "10.5072/a%23b", want: "10.5072/a%23b"},
		{name: "odd old characters", in: "10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2", want: "10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2"},
		{name: "dotted prefix", in: "10.1000.10/123", want: "10.1000.10/123"},
		{name: "double slash", in: "10.5072//a", want: "10.5072//a"},
		{name: "empty", in: "", fault: "is empty"},
		{name: "null", in: "null", fault: "does not start with a prefix"},
		{name: "prefix alone", in: "10.5072", fault: "has no suffix"},
		{name: "prefix and slash", in: "10.5072/", fault: "has no suffix"},
		{name: "not ten", in: "11.5072/a", fault: "does not start with a prefix"},
		{name: "letters in the prefix", in: "10.50a2/a", fault: "does not start with a prefix"},
		{name: "line break", in: "10.5072/a\nurl=http://evil.example", fault: "control character"},
		{name: "broken UTF-8", in: "10.5072/\xff", fault: "not valid UTF-8"},
		{name: "resolver, broken encoding", in: "https://doi.org/10.5072/a%2", fault: "without two hexadecimal digits"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := doi.Parse(tt.in)
			if tt.fault != "" {
				require.ErrorIs(t, err, doi.ErrName)
				assert.ErrorContains(t, err, tt.fault)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestCheckNew(t *testing.T) {
	assert.NoError(t, doi.CheckNew("10.5072/aZ09-._;()/x//y"))
	for _, name := range []string{"10.5072/a b", "10.5072/a#b", "10.5072/a?b", "10.5072/a%b", "10.5072/a+b", "10.5072/a<b", "10.5072/ä", "10.5072/a:b", "10.1000.10/a"} {
		assert.ErrorIs(t, doi.CheckNew(name), doi.ErrName, name)
	}
	assert.ErrorContains(t, doi.CheckNew("10.5072/a–b"), "U+2013 (en dash")
}

func TestEqualIgnoresTheCaseOfASCIIOnly(t *testing.T) {
	assert.True(t, doi.Equal("10.5072/ABC", "10.5072/abc"))
	assert.False(t, doi.Equal("10.5072/Ä", "10.5072/ä"))
	assert.False(t, doi.Equal("10.5072/\u212a", "10.5072/k"), "the Kelvin sign is no k")
}

func TestAddressReadsBack(t *testing.T) {
	for _, name := range []string{"10.5072/abc", "10.5072/a–b", "10.5072/a?b#c%d+e", "10.5072//.//..", "10.5072/<1::2>"} {
		got, err := doi.Parse(doi.Address(name))
		require.NoError(t, err)
		assert.Equal(t, name, got)
	}
}

func TestCheckPrefix(t *testing.T) {
	assert.NoError(t, doi.CheckPrefix("10.5072"))
	assert.NoError(t, doi.CheckPrefix("10.82433"))
	for _, prefix := range []string{"", "10.", "10.824331", "10.507", "10.50.1", "5072", "10.5072/", "10.5072/abc", "10.٣"} {
		assert.ErrorIs(t, doi.CheckPrefix(prefix), doi.ErrName, prefix)
	}
}

func TestPath(t *testing.T) {
	for in, want := range map[string]string{
		"10.1000/a//b#c":    "10.1000/a//b%23c",
		"10.1000/a b?c%d":   "10.1000/a%20b%3Fc%25d",
		"10.1000/a+b":       "10.1000/a%2Bb",
		"10.1000/./..":      "10.1000/%2E/%2E%2E",
		"10.1000/ü":         "10.1000/%C3%BC",
		"10.1000/ABC:d;(e)": "10.1000/ABC:d;(e)",
		"10.1000/<1::2>":    "10.1000/%3C1::2%3E",
	} {
		assert.Equal(t, want, doi.Path(in))
	}
}

// FuzzPath: what Parse accepts arrives as itself when the path is decoded.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"10.5072/abc", "doi:10.1/ä//..", "https://doi.org/10.1/a%2Fb", "10.1/%%%", "10.1/\\", "10.1/a+b?c#d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := doi.Parse(text)
		if err != nil {
			return
		}
		u, err := url.Parse("https://api.example.org/dois/" + doi.Path(name))
		require.NoError(t, err)
		assert.Equal(t, "/dois/"+name, u.Path)
		assert.Equal(t, "/dois/"+doi.Path(name), u.EscapedPath(), "net/http sends the path as written")
		assert.Empty(t, u.RawQuery+u.Fragment)
		assert.NotContains(t, strings.Split(u.EscapedPath(), "/"), "..")
	})
}

func BenchmarkPath(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		doi.Path("10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2")
	}
}

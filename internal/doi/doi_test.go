package doi_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/testkit"
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
		{name: "URN", in: "urn:doi:10.5072/abc", want: "10.5072/abc"},
		{name: "doi scheme with slashes", in: "doi://10.5072/abc", want: "10.5072/abc"},
		{name: "first slash encoded", in: "10.5072%2Fa%23b", want: "10.5072/a#b"},
		{name: "en dash meant so", in: "https://doi.org/10.5072/a%E2%80%93b", want: "10.5072/a–b"},
		{name: "letters beyond ASCII", in: "10.5072/größe", want: "10.5072/größe"},
		{name: "en dash", in: "10.5072/a–b",
			fault: `has the character U+2013 (en dash, which looks like "-") after "10.5072/a"`},
		{name: "hyphen that is no hyphen", in: "https://doi.org/10.5072/a\u2010b", fault: "U+2010"},
		{name: "zero-width space", in: "10.5072/a\u200bb", fault: `U+200B (zero-width space, invisible) after "10.5072/a"`},
		{name: "byte order mark in front", in: "\ufeff10.5072/ab", fault: "U+FEFF (byte order mark, invisible) at its start"},
		{name: "no-break space inside", in: "10.5072/a\u00a0b", fault: "no-break space"},
		{name: "no-break space around", in: "\u00a010.5072/ab\u00a0", want: "10.5072/ab"},
		{name: "query of the address", in: "https://doi.org/10.5072/a?utm=x", fault: "write %3F if it belongs to the name"},
		{name: "fragment of the address", in: "https://doi.org/10.5072/a#b", fault: "write %23 if it belongs to the name"},
		{name: "control character beyond ASCII", in: "10.5072/a\u0085b", fault: "control character"},
		{name: "bare names are literal", in: "10.5072/a%23b", want: "10.5072/a%23b"},
		{name: "odd old characters", in: "10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2",
			want: "10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2"},
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
	for _, name := range []string{"10.5072/a b", "10.5072/a#b", "10.5072/a?b", "10.5072/a%b", "10.5072/a+b", "10.5072/a<b",
		"10.5072/ä", "10.5072/a:b", "10.1000.10/a"} {
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
	for _, prefix := range []string{"", "10.", "10.824331", "10.507", "10.50.1", "5072", "10.5072/", "10.5072/abc",
		"10.٣"} {
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
	for _, seed := range []string{"10.5072/abc", "doi:10.1/ä//..", "https://doi.org/10.1/a%2Fb", "10.1/%%%", "10.1/\\",
		"10.1/a+b?c#d"} {
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

func TestNamesThatWouldArriveAsAnother(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault string // "" if the name arrives as itself
		api   bool   // it does on the route of the API
	}{
		{name: "10.5072/abc"},
		{name: "10.5072/AbC.d-e_f;g(h)/i"},
		{name: "10.5072/a.", fault: ""},
		{name: "10.5072/...", fault: ""},
		{name: "10.5072/.a/b.", fault: ""},
		{name: "10.5072/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2"},
		{name: "10.5072/a+b&c=d,e!f$g'h*i~j@k|l\\m[n]{o}^p`q\"r"},
		{name: "10.5072/a b"},
		{name: "10.5072/a/", fault: `ends with "/"`, api: true},
		{name: "10.5072//", fault: `has "//"`, api: true},
		{name: "10.5072//a", fault: `has "//"`, api: true},
		{name: "10.5072/a//b", fault: `has "//"`, api: true},
		{name: "10.5072/a/.", fault: `the part "."`},
		{name: "10.5072/a/../b", fault: `the part ".."`},
		{name: "10.5072/../../clients/x", fault: `the part ".."`},
		{name: "10.5072/a#x", fault: "'#'", api: true},
		{name: "10.5072/a?x", fault: "'?'", api: true},
		{name: "10.5072/a%41", fault: "'%'", api: true},
		{name: "10.5072/a/media", fault: "belongs to another DOI", api: true},
		{name: "10.5072/a/MEDIA/1", fault: "belongs to another DOI", api: true},
		{name: "10.5072/events/2026", fault: "belongs to another DOI", api: true},
		{name: "10.5072/a/get-url", fault: "belongs to another DOI", api: true},
		{name: "10.5072/a/metadata/x", fault: "belongs to another DOI", api: true},
		{name: "10.5072/a/activities", fault: "belongs to another DOI", api: true},
		{name: "10.5072/media/a/b", fault: "belongs to another DOI", api: true},
		{name: "10.5072/a/events/1/2/3", fault: "belongs to another DOI", api: true},
		{name: "10.5072/get-url/a"},
		{name: "10.5072/a/mediation"},
		{name: "10.5072/Ä", fault: "may confuse with another"},
		{name: "10.5072/a\ufb01", fault: "may confuse with another"},
		{name: "10.5072/a\u200bb", fault: "zero-width space"},
		{name: "10.5072/a ", fault: "ends with a blank"},
		{name: "10.5072/" + strings.Repeat("a", 247)},
		{name: "10.5072/" + strings.Repeat("a", 248), fault: "256 characters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for route, fault := range map[doi.Route]string{doi.Store: tt.fault, doi.API: tt.fault} {
				if route == doi.API && tt.api {
					fault = ""
				}
				err := route.Check(tt.name)
				if fault == "" {
					assert.NoError(t, err)
					continue
				}
				assert.ErrorIs(t, err, doi.ErrName)
				assert.ErrorContains(t, err, fault)
			}
		})
	}
}

func TestNamesInPathsOfRoutes(t *testing.T) {
	for name, want := range map[string]string{
		"10.5072/a/b":       "10.5072/a/b",
		"10.5072/a//b":      "10.5072/a%2F%2Fb",
		"10.5072//a":        "10.5072/%2Fa",
		"10.5072/a/":        "10.5072/a%2F",
		"10.5072/a/media/1": "10.5072/a%2Fmedia%2F1",
		"10.5072/a#b/c":     "10.5072/a%23b/c",
	} {
		assert.Equal(t, want, doi.API.Path(name))
	}
	assert.Equal(t, "10.5072/a/b", doi.Store.Path("10.5072/a/b"))
}

func TestNamesUnderWhichNothingIsWritten(t *testing.T) {
	assert.NoError(t, doi.Store.CheckWritable("10.5072/<1::2>"))
	assert.ErrorContains(t, doi.Store.CheckWritable("10.5072/a/"), `ends with "/"`)
	for _, name := range []string{"10.824331/x", "10.123/x", "10.5072.1/abc"} {
		assert.ErrorContains(t, doi.Store.CheckWritable(name), "four or five digits", name)
		assert.NoError(t, doi.Store.Check(name), "it can be asked for")
	}
}

// By the tables of names on their route to the deployed service: what is sent for a
// name reaches that DOI, or the name is refused.
func TestNamesOfTheTables(t *testing.T) {
	for route, section := range map[doi.Route]string{doi.Store: "Names", doi.API: "Names in the DOI API"} {
		t.Run(section, func(t *testing.T) {
			reached := map[string]string{}
			for _, row := range testkit.Table(t, "deployed-store.md", section) {
				reached[row[0]] = decoded(t, row[1])
			}
			sent, refused := 0, 0
			for path := range reached {
				name, err := doi.Parse(decoded(t, path))
				if err != nil {
					continue
				}
				path := route.Path(name)
				arrives, known := reached[path]
				if err := route.Check(name); err != nil {
					refused++
					assert.True(t, !known || arrives != doi.Normal(name) || doubtful(name), "%q reaches itself", name)
					continue
				}
				sent++
				if known && arrives != "-" {
					assert.True(t, doi.Equal(name, arrives), "%q is sent as %q and reaches %q", name, path, arrives)
				}
			}
			assert.Greater(t, sent, 5)
			assert.Greater(t, refused, 2)
		})
	}
}

// doubtful names are refused whether they arrive or not: they have characters of
// which some are taken for others, or directions that anything on the route may take.
func doubtful(name string) bool {
	beyond := strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 })
	return beyond || strings.Contains(name, "%") || strings.Contains(name+"/", "/./") || strings.Contains(name+"/", "/../")
}

func decoded(t *testing.T, text string) string {
	t.Helper()
	out, err := url.PathUnescape(text)
	require.NoError(t, err)
	return out
}

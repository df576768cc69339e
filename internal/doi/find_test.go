package doi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sici = "10.1002/(SICI)1097-0258(19980815)17:15/16<1661::AID-SIM968>3.0.CO;2-2"

func TestFind(t *testing.T) {
	const name = "10.5072/Abc-1"
	for _, text := range []string{
		name, " " + name + "\n", name + ".", name + ",", "(" + name + ")", "<" + name + ">", "[doi:" + name + "]",
		`"` + name + `"`, "“" + name + "”", "*" + name + "*",
		"doi:" + name, "doi: " + name, "DOI " + name, "DOI: " + name + ";", "DOI：" + name, "doi" + name, "doi://" +
			name, "info:doi/" + name, "urn:doi:" + name, "hdl:" + name, "(DOI: " + name + ").",
		"https://doi.org/" + name, "http://dx.doi.org/" + name, "doi.org/" + name, "www.doi.org/" + name, "HTTPS://DOI.ORG/" +
			name + "/", "<https://doi.org/" + name + ">.",
		"https://doi.org/" + name + "?utm_source=x#top", "https://doi.org/doi:" +
			name, "https://doi.org/10.5072%2FAbc-1", "10.5072%2fAbc-1", "https://handle.test.datacite.org/" +
			name, "https://hdl.handle.net/" + name,
		"https://commons.datacite.org/doi.org/" + name, "https://api.datacite.org/dois/" + name, "https://zenodo.org/doi/" +
			name, "https://doi.pangaea.de/" + name,
		"https://dataverse.example.edu/dataset.xhtml?persistentId=doi:" + name +
			"&version=1.0", "https://data.example.org/stash/dataset/doi:" + name, "https://journal.example.org/article?id=" +
			name,
		"10.5072/Abc\u20111", "10.5072/A\u200bbc\u20131", "\ufeff" + name, "参见" + name + "。",
	} {
		names, between := Find(text)
		rest := strings.Join(between, " ")
		assert.Equal(t, []string{name}, names, text)
		assert.NotRegexp(t, `[\pL\pN]`, strings.TrimPrefix(rest, "参见"), text)
	}
	for _, tt := range []struct {
		text  string
		names []string
		rest  string
	}{
		{"", nil, ""},
		{"climate change", nil, "climate change"},
		{"10.5072", nil, "10.5072"},
		{"10.5072/", nil, "10.5072/"},
		{"10.5/12 and 110.5072/a and v10.5072/a and 1.10.5072/a", nil,
			"10.5/12 and 110.5072/a and v10.5072/a and 1.10.5072/a"},
		{"10.5072./a 10.50a/b", nil, "10.5072./a 10.50a/b"},
		{"the doi of 10.5072/a", []string{"10.5072/a"}, "the doi of"},
		{"climate doi: 10.5072/a ice", []string{"10.5072/a"}, "climate / ice"},
		{"title:10.5072/a", []string{"10.5072/a"}, "title:"},
		{"10.5072/a,10.5072/b;https://doi.org/10.5072/c|doi:10.5072/d, 10.5072/e",
			[]string{"10.5072/a", "10.5072/b", "10.5072/c", "10.5072/d", "10.5072/e"}, ""},
		{sici, []string{sici}, ""},
		{"(" + sici + ").", []string{sici}, ""},
		{Address(sici), []string{sici}, ""},
		{"10.5072.1/x(1)", []string{"10.5072.1/x(1)"}, ""},
		{"10.5072/a%2Fb", []string{"10.5072/a%2Fb"}, ""},
		{"https://doi.org/10.5072/a%2Fb%23c%28", []string{"10.5072/a/b#c("}, ""},
		{"https://doi.org/10.5072/a%2", []string{"10.5072/a%2"}, ""},
		{"10.5072/gl\u00e4ser#1", []string{"10.5072/gl\u00e4ser#1"}, ""},
	} {
		names, between := Find(tt.text)
		assert.Equal(t, tt.names, names, tt.text)
		assert.Equal(t, tt.rest, strings.Join(between, " / "), tt.text)
	}
}

// What Find returns are names, in an address or not; what it leaves is in the text.
func FuzzFind(f *testing.F) {
	for _, text := range []string{sici, "doi: 10.5072/a,10.5072/b climate", "https://doi.org/10.5072/a%2",
		"10.5072/a\u2011b)", "10.10.5072/a", "\xff10.5072/\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names, between := Find(text)
		for _, name := range names {
			_, err := check(name, name)
			require.NoError(t, err)
			for _, form := range []string{Address(name), "<" + Address(name) + ">."} {
				if strings.ContainsAny(name, "\u2028") || name != withoutEnd(name) {
					break // as it came from an address, with its end encoded
				}
				again, left := Find(form)
				require.Equal(t, []string{name}, again, form)
				require.Empty(t, left, form)
			}
		}
		for word := range strings.FieldsSeq(strings.Join(between, " ")) {
			require.Contains(t, text, word)
		}
	})
}

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
	// by the deployed service
	for _, made := range []string{"003r-j076", "ey2x-5w17", "ab3v-t139", "08a0-3f64", "236y-qx15", "x86n-nm18"} {
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

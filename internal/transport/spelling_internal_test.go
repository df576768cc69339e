package transport

import (
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
)

func hidingLogin(password string) *secrets {
	s := new(secrets)
	s.give(datacite.Config{Username: "EXAMPLE.REPO", Password: password})
	return s
}

func hidingToken(token string) *secrets {
	s := new(secrets)
	s.give(datacite.Config{Token: token})
	return s
}

// What servers in other languages make of a password or of the header.
func TestSpellingsOfOtherLanguages(t *testing.T) {
	const password = `Summer!'2026"#x/ü<y>`
	h := hidingLogin(password)
	header := basicHeader("EXAMPLE.REPO", password)
	for name, text := range map[string]string{
		"encodeURIComponent of JavaScript": `Summer!'2026%22%23x%2F%C3%BC%3Cy%3E`,
		"encodeURI of JavaScript":          `Summer!'2026%22#x/%C3%BC%3Cy%3E`,
		"a page of PHP":                    `Summer!&#039;2026&quot;#x/ü&lt;y&gt;`,
		"a page of Python":                 `Summer!&#x27;2026&quot;#x/ü&lt;y&gt;`,
		"htmlentities":                     `Summer!&#39;2026&quot;#x/&uuml;&lt;y&gt;`,
		"HTML 5":                           `Summer&excl;&apos;2026&quot;&num;x&sol;&uuml;&lt;y&gt;`,
		"JSON of Ruby":                     `Summer!'2026\"#x/ü<y>`,
		"JSON of Python":                   `Summer!'2026\"#x/\u00fc<y>`,
		"JSON of PHP":                      `Summer!'2026\"#x\/\u00fc<y>`,
		"JSON of Rails":                    `Summer!'2026\"#x/ü\u003cy\u003e`,
		"bytes of Python":                  `Summer!\'2026"#x/\xc3\xbc<y>`,
		"JSON in JSON":                     `Summer!'2026\\\"#x\\/\\u00fc<y>`,
		"a page in JSON":                   `Summer!'2026\u0026quot;#x/ü\u0026lt;y\u0026gt;`,
		"an address in a page":             `Summer!&#39;2026%22%23x%2F%C3%BC%3Cy%3E`,
		"an address in an address":         `Summer%21%272026%2522%2523x%252F%25C3%25BC%253Cy%253E`,
		"small letters":                    strings.ToLower(password),
		"capitals":                         strings.ToUpper(password),
		"the header, by PHP":               strings.ReplaceAll(strings.TrimPrefix(header, "Basic "), "/", `\/`),
		"the header, in small letters":     strings.ToLower(strings.TrimPrefix(header, "Basic ")),
		"the header, in an address":        url.QueryEscape(strings.TrimPrefix(header, "Basic ")),
	} {
		assert.Equal(t, `login "REDACTED" is wrong`, h.in(`login "`+text+`" is wrong`), name)
	}
	h = hidingLogin("summer 😀 winter")
	assert.Equal(t, "REDACTED, REDACTED", h.in(`summer \ud83d\ude00 winter, summer+%F0%9F%98%80+winter`))
	assert.Equal(t, `REDACTED`, h.in(`summer \\ud83d\\ude00 winter`))
	h = hidingToken("eyJhbGciOiJSUzI1NiJ9/x")
	assert.Equal(t, `{"got":"Bearer REDACTED"}`, h.in(`{"got":"Bearer eyJhbGciOiJSUzI1NiJ9\/x"}`))
}

// spell writes a letter in one of the ways in which it may come.
func spell(r *rand.Rand, c rune) string {
	each := func(format string) string {
		var out strings.Builder
		for _, b := range []byte(string(c)) {
			fmt.Fprintf(&out, format, b)
		}
		return out.String()
	}
	way := r.IntN(10)
	if alphanumeric := c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)); alphanumeric && (way == 2 || way == 7) {
		return string(c) // no JSON escapes them
	}
	switch way {
	case 0:
		return each("%%%02x")
	case 1:
		return each("%%%02X")
	case 2:
		return each(`\x%02x`)
	case 3:
		return fmt.Sprintf("&#%d;", c)
	case 4:
		return fmt.Sprintf("&#%05d;", c)
	case 5:
		return fmt.Sprintf("&#x%X;", c)
	case 6:
		return html.EscapeString(string(c))
	case 7:
		if high, low := utf16.EncodeRune(c); high != unicode.ReplacementChar {
			return fmt.Sprintf(`\u%04x\u%04X`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, c)
	case 8:
		if unicode.IsPunct(c) {
			return `\` + string(c)
		}
	}
	return string(c)
}

var again = []func(string) string{
	func(s string) string { return s },
	url.QueryEscape,
	url.PathEscape,
	html.EscapeString,
	func(s string) string { data, _ := json.Marshal(s); return string(data[1 : len(data)-1]) },
}

// Any password, each of its letters in any spelling, and the whole written down once
// more, is cut out, and nothing else. Half of the passwords look like escapes
// themselves. Only backslashes at the end of a password may stay behind.
func TestNoSpellingOfASecretSurvives(t *testing.T) {
	alphabets := [][]rune{[]rune(`abcxuABCDEF0123456789%&\;#"'</+ =:.!~éÉ€😀`), []rune(`\\\\xxuu%&#;000419cé.`)}
	around := [][2]string{{"", ""}, {"?password=", "&user=x"}, {`{"p":"`, `"}`}, {"<b>", "</b>"}, {"login ", " is wrong"}, {"é", "é"}}
	tried := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 14))
		letters := alphabets[seed%2]
		secret := make([]rune, 8+r.IntN(20))
		for i := range secret {
			secret[i] = letters[r.IntN(len(letters))]
		}
		password := string(secret)
		if len(plain(password).bytes) < shortestSecret {
			continue
		}
		tried++
		var spelt strings.Builder
		for _, c := range secret {
			spelt.WriteString(spell(r, c))
		}
		text := again[r.IntN(len(again))](spelt.String())
		beside := around[r.IntN(len(around))]
		shown := hidingLogin(password).in(beside[0] + text + beside[1])
		left, found := strings.CutPrefix(strings.TrimSuffix(shown, beside[1]), beside[0]+"REDACTED")
		require.True(t, found, "seed %d: %s as %s: %s", seed, password, text, shown)
		require.Empty(t, string(plain(left).bytes), "seed %d: %s as %s: %s", seed, password, text, shown)
	}
	assert.Greater(t, tried, 15_000)
}

func TestTextsWithoutSecretsStayAsTheyAre(t *testing.T) {
	letters := []rune(`abcxu0123456789%&\;#"'</+ é😀` + "\xff\n")
	h := hidingLogin("a password that is nowhere")
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 15))
		var text strings.Builder
		for range r.IntN(200) {
			text.WriteString(spell(r, letters[r.IntN(len(letters))]))
		}
		require.Equal(t, text.String(), h.in(text.String()))
	}
}

// Secrets as they were sent are found whatever stands beside them.
func TestASecretBesideHalfAnEscape(t *testing.T) {
	h := hidingLogin("41abcdef%")
	assert.Equal(t, "50%REDACTED20", h.in("50%41abcdef%20"))
	h = hidingLogin(`&amp;&amp;&amp;`) // plain, it is &&&
	assert.Equal(t, "REDACTED and &&&", h.in("&amp;&amp;&amp; and &&&"))
	for _, password := range []string{`\\\\\\\\`, `\x41\x41\x41`, `with a \`} {
		assert.Equal(t, "REDACTED", hidingLogin(password).in(password))
	}
}

// BenchmarkHiding looks at bodies that were made to take long. The time for each byte
// is much the same, and with 65 tokens, too.
func BenchmarkHiding(b *testing.B) {
	one, many := hidingLogin("Summer!2026#x"), hidingLogin("Summer!2026#x")
	for i := range remembered {
		many.remember(bearerHeader(fmt.Sprintf("eyJhbGciOiJSUzI1NiJ9.eyJ1aWQiOiJyZXBvIn0.%0500d", i)))
	}
	for name, unit := range map[string]string{
		"words": "the login is wrong ", "beginnings": "RVhBTVBM", "of the password": "summer!2026#", "found": "Summer!2026#x",
		"of tokens": "eyJhbGciOiJSUzI1NiJ9.eyJ1aWQiOiJyZXBvIn0.0000", "noughts": "0",
		"entities": "&amp;", "no entities": "&;", "ampersands": "&", "semicolons": ";", "percent": "%25", "nested": "%3", "backslashes": `\\u`,
	} {
		for _, size := range []int{1 << 10, 64 << 10} {
			text := strings.Repeat(unit, size/len(unit)) + "1;"
			for known, h := range map[string]*secrets{"one login": one, "65 credentials": many} {
				h.known()
				b.Run(fmt.Sprintf("%s/%d/%s", name, size, known), func(b *testing.B) {
					b.ReportAllocs()
					b.SetBytes(int64(len(text)))
					for b.Loop() {
						h.cut(text, size)
					}
				})
			}
		}
	}
}

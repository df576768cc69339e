package transport

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

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

// The characters of the two alphabets, in plain text, where letters are small.
func TestAlphabets(t *testing.T) {
	for b := range 256 {
		assert.Equal(t, strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789 /-_", byte(b)) >= 0, isBase64([]byte{byte(b)}), "%q", rune(b))
		assert.Equal(t, strings.IndexByte("0123456789abcdefABCDEF", byte(b)) >= 0, isHex(byte(b)), "%q", rune(b))
	}
}

// Where UTF-8 is taken for Latin-1 or Windows-1252, or a text is written so.
func TestSecretsThatAreMisread(t *testing.T) {
	h := hidingLogin("Prüfung für 5 €")
	for name, text := range map[string]string{
		"as Latin-1":                       "PrÃ¼fung fÃ¼r 5 â\u0082¬",
		"as Latin-1, in JSON":              `Pr\u00c3\u00bcfung f\u00c3\u00bcr 5 \u00e2\u0082\u00ac`,
		"as Windows-1252":                  "PrÃ¼fung fÃ¼r 5 â‚¬",
		"in Windows-1252, in an address":   "Pr%FCfung+f%FCr+5+%80",
		"in Windows-1252, as it is":        "Pr\xfcfung f\xfcr 5 \x80",
		"as Latin-1, in hex, and so on":    hex.EncodeToString([]byte("PrÃ¼fung fÃ¼r 5 â\u0082¬")),
		"in Windows-1252, in base64":       base64.StdEncoding.EncodeToString([]byte("Pr\xfcfung f\xfcr 5 \x80")),
		"as Windows-1252, in a page":       "Pr&Atilde;&frac14;fung f&Atilde;&frac14;r 5 &acirc;&sbquo;&not;",
		"as Windows-1252, in an address":   "Pr%C3%83%C2%BCfung%20f%C3%83%C2%BCr%205%20%C3%A2%E2%80%9A%C2%AC",
		"in Windows-1252, as Python bytes": `Pr\xfcfung f\xfcr 5 \x80`,
	} {
		assert.Equal(t, `login "REDACTED" is wrong`, h.in(`login "`+text+`" is wrong`), name)
	}
	assert.Equal(t, "REDACTED", hidingLogin("Prüfung!").in("Pr%FCfung!"))
}

// A secret within a longer text, which is shown in base64 as a whole.
func TestSecretsWithinBase64(t *testing.T) {
	const password = "Summer!?2026"
	h := hidingLogin(password)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		for before := range 9 {
			for after := range 4 {
				text := strings.Repeat("<", before) + password + strings.Repeat(">", after)
				left, right, found := strings.Cut(h.in(encoding.EncodeToString([]byte(text))), "REDACTED")
				assert.True(t, found, text)
				assert.LessOrEqual(t, len(left)+len(strings.TrimRight(right, "=")), (before+after)*4/3+1, "%s: nothing of it is left: %s…%s", text, left, right)
				assert.NotContains(t, right, "REDACTED")
			}
		}
	}
}

// Who repeats a secret may show its beginning alone.
func TestABeginningOfASecret(t *testing.T) {
	h := hidingToken("eyJhbGciOiJSUzI1NiJ9.eyJ1aWQiOiJyZXBvIn0.c2lnbmF0dXJl")
	assert.Equal(t, "token REDACTED… is bad", h.in("token eyJhbGciOiJSUzI1NiJ9.eyJ1aW… is bad"))
	assert.Equal(t, "token eyJhbGci… is bad", h.in("token eyJhbGci… is bad"), "too little to know it by")
	h = hidingLogin("Summer!2026#xyz and more")
	assert.Equal(t, "login REDACTED…", h.in("login Summer!2026#xyz a…"))
	assert.Equal(t, "login EXAMPLE.REPO:Sum…", h.in("login EXAMPLE.REPO:Sum…"), "a user name may be shown")
}

// A client knows the credentials of its Config, whether it sends them or not, and the last
// ones that it sent.
func TestSecretsOfEarlierRequests(t *testing.T) {
	token := func(i int) string { return fmt.Sprintf("token-of-request-%03d", i) }
	s := new(secrets)
	s.give(datacite.Config{Username: "EXAMPLE.REPO", Password: "Summer!2026", Token: "eyJh.eyJ1.c2ln"})
	for i := range remembered {
		s.send(http.Header{"Authorization": {bearerHeader(token(i))}})
	}
	s.send(http.Header{"Authorization": {bearerHeader(token(0))}}) // is used again
	all := func() (shown []int) {
		for i := range remembered + 10 {
			if s.in(token(i)) != "REDACTED" {
				shown = append(shown, i)
			}
		}
		return shown
	}
	assert.Equal(t, []int{64, 65, 66, 67, 68, 69, 70, 71, 72, 73}, all(), "were not sent")
	for i := range 10 {
		s.send(http.Header{"Proxy-Authorization": {bearerHeader(token(remembered + i))}})
	}
	assert.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, all(), "were forgotten: their last use is the longest ago")
	assert.Equal(t, "REDACTED, REDACTED", s.in("Summer!2026, eyJh.eyJ1.c2ln"))
	assert.Len(t, s.sent, remembered)
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

var passwords = flag.Int("spellings", 2_000, "passwords in random spellings that are to be hidden")

// Any password, each of its letters in any spelling, and the whole written down once
// more, is cut out, and nothing else. Half of the passwords look like escapes
// themselves. Only backslashes at the end of a password may stay behind.
func TestNoSpellingOfASecretSurvives(t *testing.T) {
	alphabets := [][]rune{[]rune(`abcxuABCDEF0123456789%&\;#"'</+ =:.!~éÉ€😀`), []rune(`\\\\xxuu%&#;000419cé.`)}
	around := [][2]string{{"", ""}, {"?password=", "&user=x"}, {`{"p":"`, `"}`}, {"<b>", "</b>"}, {"login ", " is wrong"}, {"é", "é"}}
	tried := 0
	for seed := range uint64(*passwords) {
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
	assert.Greater(t, tried, *passwords*3/4)
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

// A long text is cut before secrets are looked for. One that lies across the cut, or across
// the end of what is shown, leaves no more of itself than anywhere else.
func TestASecretAcrossTheCut(t *testing.T) {
	const password = "Summer!2026#xyz+1"
	h := &secrets{}
	h.remember(basicHeader("A", password))
	for name, spell := range map[string]string{"as it is": "%c", "in an address": "%%%02x", "in JSON": `\u%04x`, "in a page": "&#%d;", "with noughts": "&#x%030x;"} {
		var spelt strings.Builder
		for _, c := range password {
			fmt.Fprintf(&spelt, spell, c)
		}
		for _, cut := range []int{maxErrorBody, h.enough()} {
			for inside := 0; inside <= spelt.Len(); inside += 1 + spelt.Len()/80 {
				text := strings.Repeat("-", cut-inside) + spelt.String() + strings.Repeat("-", 200)
				for _, shown := range []string{string(h.excerpt([]byte(text)).body()), h.part(text)} {
					left := strings.Trim(string(plain(shown).bytes), "-")
					require.NotContains(t, left, "summer!2", "%s, %d bytes before %d", name, inside, cut)
					require.LessOrEqual(t, len(shown), maxErrorBody)
				}
			}
		}
	}
	long := strings.Repeat("é", maxErrorBody)
	assert.True(t, utf8.ValidString(h.part("a"+long)), "characters stay whole")
	assert.True(t, utf8.Valid(h.excerpt([]byte("a"+long)).body()))
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
						h.in(text)
					}
				})
			}
		}
	}
}

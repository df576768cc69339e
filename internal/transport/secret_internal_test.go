package transport

import (
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
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

// How servers and programs write down what they were sent.
func TestSpellingsOfSecrets(t *testing.T) {
	const password = `Summer!'2026"#x/ü<y> &1`
	login := "EXAMPLE.REPO:" + password
	for name, text := range map[string]string{
		"as it is":                         password,
		"with the user name":               login,
		"the header":                       basicHeader("EXAMPLE.REPO", password)[len("Basic "):],
		"the header in an address":         url.QueryEscape(basicHeader("EXAMPLE.REPO", password)[len("Basic "):]),
		"encodeURIComponent of JavaScript": url.PathEscape(password),
		"a form":                           url.QueryEscape(password),
		"an address":                       strings.ReplaceAll(url.QueryEscape(password), "+", "%20"),
		"a form, in small letters":         `Summer%21%272026%22%23x%2f%c3%bc%3cy%3e+%261`,
		"JSON":                             `Summer!'2026\"#x/ü<y> &1`,
		"JSON of Rails":                    `Summer!'2026\"#x/ü\u003cy\u003e \u00261`,
		"a page of Go":                     html.EscapeString(password),
		"a page of Rails":                  `Summer!&#39;2026&quot;#x/ü&lt;y&gt; &amp;1`,
		"a page of Python":                 `Summer!&#x27;2026&quot;#x/ü&lt;y&gt; &amp;1`,
		"a page of PHP":                    `Summer!&#039;2026&quot;#x/ü&lt;y&gt; &amp;1`,
		"base64":                           base64.StdEncoding.EncodeToString([]byte(password)),
		"base64 for addresses":             base64.RawURLEncoding.EncodeToString([]byte(password)),
	} {
		assert.Equal(t, `login "REDACTED" is wrong`, hidingLogin(password).in(`login "`+text+`" is wrong`), name)
	}
	h := hidingLogin("Summer!2026#xyz and more")
	assert.Equal(t, "login REDACTED…", h.in("login Summer!2026#xyz a…"), "a message quotes its beginning")
	assert.Equal(t, "login EXAMPLE.REPO:Sum…", h.in("login EXAMPLE.REPO:Sum…"), "a user name may be shown")
	assert.EqualError(t, h.cause(errors.Join(errors.New("Summer!2026#xyz and more"), io.EOF)), "REDACTED\nEOF")
	named := new(secrets)
	named.give(datacite.Config{Password: "Summer!2026"})
	assert.Equal(t, "login REDACTED", named.in("login Summer!2026"))
	h.remember("Basic ")
	assert.Equal(t, "nothing", h.in("nothing"))
	assert.Equal(t, "50%REDACTED20", hidingLogin("41abcdef%").in("50%41abcdef%20"),
		"it is found whatever stands beside it")
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

// A long text is cut before secrets are looked for. Of one that lies across the cut nothing is shown.
func TestASecretAcrossTheCut(t *testing.T) {
	const password = "Summer!2026#xyz+1"
	h := hidingLogin(password)
	for _, spelt := range []string{password, url.QueryEscape(password), html.EscapeString(password),
		base64.StdEncoding.EncodeToString([]byte(password))} {
		for inside := range len(spelt) + 1 {
			text := strings.Repeat("-", maxErrorBody-inside) + spelt + strings.Repeat("-", 200)
			for _, shown := range []string{string(h.excerpt([]byte(text))), h.part(text)} {
				require.Empty(t, strings.ReplaceAll(strings.Trim(shown, "-"), "REDACTED", ""), "%s, %d bytes before the cut", spelt,
					inside)
				require.LessOrEqual(t, len(shown), maxErrorBody)
			}
		}
	}
	assert.Len(t, h.part(strings.Repeat(password, maxErrorBody/len(password)+1)),
		maxErrorBody/len(password)*len("REDACTED"))
	long := strings.Repeat("é", maxErrorBody)
	assert.True(t, utf8.ValidString(h.part("a"+long)), "characters stay whole")
	assert.True(t, utf8.Valid(h.excerpt([]byte("a"+long))))
}

// BenchmarkHiding looks at bodies that were made to take long, with one credential and with all that a
// client remembers.
func BenchmarkHiding(b *testing.B) {
	one, many := hidingLogin("Summer!2026#x"), hidingLogin("Summer!2026#x")
	for i := range remembered {
		many.remember(bearerHeader(fmt.Sprintf("eyJhbGciOiJSUzI1NiJ9.eyJ1aWQiOiJyZXBvIn0.%0500d", i)))
	}
	for name, unit := range map[string]string{
		"words": "the login is wrong ", "beginnings": "RVhBTVBM", "of the password": "Summer!2026#", "found": "Summer!2026#x",
		"of tokens": "eyJhbGciOiJSUzI1NiJ9.eyJ1aWQiOiJyZXBvIn0." + strings.Repeat("0", 490), "noughts": "0",
	} {
		text := strings.Repeat(unit, maxErrorBody/len(unit)+1)
		for known, h := range map[string]*secrets{"one login": one, "65 credentials": many} {
			h.known()
			b.Run(fmt.Sprintf("%s/%s", name, known), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					h.part(text)
				}
			})
		}
	}
}

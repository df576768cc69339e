package transport

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/internal/apikey"
)

// shortestSecret is the length from which a password is looked for by itself. The
// letters of a shorter one are those of common words, and taking them out would
// leave no text readable. With its user name, and encoded, it is looked for always.
const shortestSecret = 8

// hiding is the value of an Authorization header, which it takes out of every text
// that may repeat it: as it was sent, and in the ways in which servers write down
// what they received. Without a value, or nil, it hides nothing.
type hiding struct {
	header string
	texts  func() []string // made once, when first needed
}

// hiding is what hides a header, which is mostly that of the request before.
func (c *Client) hiding(header string) *hiding {
	if h := c.hidden.Load(); h != nil && h.header == header {
		return h
	}
	h := &hiding{header, sync.OnceValue(func() []string { return allSpellings(header) })}
	c.hidden.Store(h)
	return h
}

func (h *hiding) spellings() []string {
	if h == nil {
		return nil
	}
	return h.texts()
}

// allSpellings are all texts to look for, the longest first.
func allSpellings(header string) []string {
	scheme, credentials, ok := strings.Cut(header, " ")
	if !ok {
		return nil
	}
	secrets := []string{header, credentials}
	if plain, err := base64.StdEncoding.DecodeString(credentials); err == nil && scheme == "Basic" {
		username, password, _ := strings.Cut(string(plain), ":")
		secrets = append(secrets, string(plain))
		if name := strings.TrimSpace(username); apikey.Is(name) {
			secrets = append(secrets, name)
		}
		if len(password) >= shortestSecret {
			secrets = append(secrets, password)
		}
	}
	var out []string
	for _, secret := range secrets {
		out = append(out, spellings(secret)...)
	}
	out = slices.DeleteFunc(out, func(s string) bool { return s == header }) // the scheme may be shown
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(out)
}

// spellings are the ways to write a text down in an address, a page, JSON and the
// like.
func spellings(text string) []string {
	quoted, _ := json.Marshal(text) // a string is always JSON
	var percent strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&percent, "%%%02X", text[i])
	}
	out := []string{
		text, url.QueryEscape(text), url.PathEscape(text), percent.String(), html.EscapeString(text), strings.Trim(string(quoted), `"`),
		base64.StdEncoding.EncodeToString([]byte(text)), base64.RawStdEncoding.EncodeToString([]byte(text)),
		base64.URLEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)), hex.EncodeToString([]byte(text)),
	}
	for _, spelling := range []string{url.QueryEscape(text), url.PathEscape(text), percent.String(), hex.EncodeToString([]byte(text))} {
		out = append(out, lowerHex(spelling), strings.ToUpper(spelling))
	}
	return append(out, url.QueryEscape(url.QueryEscape(text)))
}

// lowerHex writes escapes with small letters.
func lowerHex(text string) string {
	out := []byte(text)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i:i+3], strings.ToLower(string(out[i:i+3])))
		}
	}
	return string(out)
}

// login is what stands in front of the host in an address, as of a proxy.
var login = regexp.MustCompile(`://[^/@\s"'<>]+@`)

// in returns a text without the secrets.
func (h *hiding) in(text string) string {
	if strings.Contains(text, "@") {
		text = login.ReplaceAllString(text, "://REDACTED@")
	}
	for _, s := range h.spellings() {
		text = strings.ReplaceAll(text, s, "REDACTED")
	}
	return text
}

// cut returns the beginning of a text that may go on, of at most limit bytes,
// without the secrets. The text is longer by more than one secret if it does go on,
// so that none is cut in two.
func (h *hiding) cut(text string, limit int) string {
	text = h.in(text)
	for _, s := range h.spellings() {
		for n := min(len(s)-1, len(text)); n >= shortestSecret; n-- {
			if strings.HasSuffix(text, s[:n]) {
				text = text[:len(text)-n] + "REDACTED"
				break
			}
		}
	}
	return text[:min(len(text), limit)]
}

// longest is a length that no spelling exceeds, without making them: JSON takes the
// most, six bytes for one.
func (h *hiding) longest() int {
	if h == nil {
		return 0
	}
	return 6 * len(h.header)
}

// cause returns an error whose text has no secrets, and is bounded and clean.
func (h *hiding) cause(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	shown := h.in(text)
	if line := Line(shown); line != strings.ReplaceAll(shown, "\n", " ") { // a line feed stands between joined errors
		shown = line
	}
	if shown != text {
		return &hiddenError{err, shown}
	}
	return err
}

// A hiddenError is another error, with a text that may be shown. What it hides
// cannot be unwrapped, but be asked for.
type hiddenError struct {
	err  error
	text string
}

func (e *hiddenError) Error() string { return e.text }

// Is asks the error that is hidden.
func (e *hiddenError) Is(target error) bool { return errors.Is(e.err, target) }

// As asks the error that is hidden, but not for an error that shows its text.
func (e *hiddenError) As(target any) bool {
	if _, ok := target.(*interface{ Timeout() bool }); ok {
		return errors.As(e.err, target)
	}
	return false
}

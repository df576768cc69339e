package transport

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
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
// that may repeat it, however the server spells what it received. Without a value, or
// nil, it hides nothing.
type hiding struct {
	header  string
	secrets func() secrets // made once, when first needed
}

// secrets are the texts to look for, the longest first.
type secrets struct {
	sent  []string // as they were sent
	plain [][]byte // as all their spellings read
}

// hiding is what hides a header, which is mostly that of the request before.
func (c *Client) hiding(header string) *hiding {
	if h := c.hidden.Load(); h != nil && h.header == header {
		return h
	}
	h := &hiding{header, sync.OnceValue(func() secrets { return secretsOf(header) })}
	c.hidden.Store(h)
	return h
}

// secretsOf are the secrets of a header. Its scheme may be shown.
func secretsOf(header string) (all secrets) {
	scheme, credentials, ok := strings.Cut(header, " ")
	if !ok {
		return all
	}
	all.sent = []string{credentials}
	if plain, err := base64.StdEncoding.DecodeString(credentials); err == nil && scheme == "Basic" {
		username, password, _ := strings.Cut(string(plain), ":")
		all.sent = append(all.sent, string(plain))
		if name := strings.TrimSpace(username); apikey.Is(name) {
			all.sent = append(all.sent, name)
		}
		if len(password) >= shortestSecret {
			all.sent = append(all.sent, password)
		}
	}
	for _, secret := range append(all.sent, header) {
		data := []byte(secret)
		for _, text := range []string{
			secret, hex.EncodeToString(data), base64.StdEncoding.EncodeToString(data), base64.RawStdEncoding.EncodeToString(data),
			base64.URLEncoding.EncodeToString(data), base64.RawURLEncoding.EncodeToString(data),
		} {
			// One of hardly more than escapes would be found everywhere.
			p := plain(text).bytes
			if text != header && (len(p) >= shortestSecret || len(p) == len(text)) {
				all.plain = append(all.plain, p)
			}
		}
	}
	slices.SortFunc(all.sent, longestFirst)
	slices.SortFunc(all.plain, func(a, b []byte) int { return longestFirst(string(a), string(b)) })
	all.plain = slices.CompactFunc(all.plain, bytes.Equal)
	return all
}

func longestFirst(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }

// login is what stands in front of the host in an address, as of a proxy.
var login = regexp.MustCompile(`://[^/@\s"'<>]+@`)

// in returns a text without the secrets.
func (h *hiding) in(text string) string { return h.without(text, false) }

// cut returns the beginning of a text that may go on, of at most limit bytes,
// without the secrets, nor the beginning of one at its end.
func (h *hiding) cut(text string, limit int) string {
	text = h.without(text, true)
	return text[:min(len(text), limit)]
}

// without takes out the secrets, and the beginning of one in an unfinished text.
func (h *hiding) without(text string, unfinished bool) string {
	if strings.Contains(text, "@") {
		text = login.ReplaceAllString(text, "://REDACTED@")
	}
	if h == nil {
		return text
	}
	var found []span
	look := func(text, secret []byte, original func(start, end int) span) {
		for at := 0; ; at += len(secret) {
			next := bytes.Index(text[at:], secret)
			if next < 0 {
				return
			}
			at += next
			found = append(found, original(at, at+len(secret)))
		}
	}
	s, data, p := h.secrets(), []byte(text), plain(text)
	for _, secret := range s.sent { // whatever escape it makes with what stands beside it
		look(data, []byte(secret), func(start, end int) span { return span{start, end} })
	}
	for _, secret := range s.plain {
		look(p.bytes, secret, p.original)
		if n := beginning(secret, p.bytes); unfinished && n > 0 {
			found = append(found, p.original(len(p.bytes)-n, len(p.bytes)))
		}
	}
	return without(text, found)
}

// beginning is how much of a secret a text ends with, if that is not a common word.
func beginning(secret, text []byte) int {
	for n := min(len(secret)-1, len(text)); n >= shortestSecret; n-- {
		if bytes.HasSuffix(text, secret[:n]) {
			return n
		}
	}
	return 0
}

// longest is how much is read beyond what is shown, so that a secret in usual spelling
// is whole: JSON takes the most, six bytes for one.
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

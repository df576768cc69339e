package transport

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
)

// shortestSecret is the length from which a password is looked for by itself.
// Redacting shorter ones would remove ordinary words. With its user name, and encoded,
// a password is looked for always.
const shortestSecret = 8

// remembered is how many of the credentials that a client has sent it redacts, beside
// those of its Config. A source of tokens may bring a new one for each request; the one
// whose last use is the longest ago is forgotten first.
const remembered = 64

// secrets redacts the credentials of a client in every text that may repeat them,
// however the server spells what it received, and whenever it does: a server, a cache or
// a log that is shown may repeat those of an earlier request.
type secrets struct {
	mu    sync.Mutex
	given []*credential // of the Config
	sent  []*credential // the last one at the end
	all   *searches     // for all of them; nil until needed
}

// A credential is the value of an Authorization header.
type credential struct {
	header    string
	spellings func() spellings // made once, when first needed
}

func newCredential(header string) *credential {
	return &credential{header, sync.OnceValue(func() spellings { return spellingsOf(header) })}
}

// spellings are the texts to look for.
type spellings struct {
	sent  []needle // as they were sent
	plain []needle // as all their spellings read
}

// give adds the credentials of a Config, also those that this client does not send:
// another client of the same Config may, to the same service.
func (s *secrets) give(cfg datacite.Config) {
	if cfg.Username != "" || cfg.Password != "" {
		s.given = append(s.given, newCredential(basicHeader(cfg.Username, cfg.Password)))
	}
	if cfg.Token != "" {
		s.given = append(s.given, newCredential(bearerHeader(cfg.Token)))
	}
}

// send adds the credentials of a request.
func (s *secrets) send(h http.Header) {
	for _, name := range []string{"Authorization", "Proxy-Authorization"} {
		for _, header := range h.Values(name) {
			s.remember(header)
		}
	}
}

func (s *secrets) remember(header string) {
	same := func(c *credential) bool { return c.header == header }
	s.mu.Lock()
	defer s.mu.Unlock()
	if header == "" || slices.ContainsFunc(s.given, same) {
		return
	}
	if i := slices.IndexFunc(s.sent, same); i >= 0 {
		again := s.sent[i]
		s.sent = append(slices.Delete(s.sent, i, i+1), again)
		return
	}
	if len(s.sent) == remembered {
		s.sent = slices.Delete(s.sent, 0, 1)
	}
	s.sent, s.all = append(s.sent, newCredential(header)), nil
}

// searches look for all spellings, as they were sent and in plain text.
type searches struct{ sent, plain search }

func (s *secrets) known() *searches {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = &searches{}
		for _, c := range slices.Concat(s.given, s.sent) {
			spelt := c.spellings()
			s.all.sent.add(spelt.sent)
			s.all.plain.add(spelt.plain)
		}
	}
	return s.all
}

// spellingsOf are those of the secrets of a header. Its scheme may be shown.
func spellingsOf(header string) (all spellings) {
	for _, secret := range secretsOf(header) {
		all.sent = append(all.sent, needle{text: []byte(secret), enough: len(secret)})
		for _, text := range misread(secret) {
			all.plain = slices.Concat(all.plain, itself(text, strings.Contains(secret, ":")), encoded(text))
		}
	}
	all.plain = append(all.plain, encoded(header)...)
	return all
}

// secretsOf are the credentials of a header and their parts.
func secretsOf(header string) []string {
	scheme, credentials, ok := strings.Cut(header, " ")
	if !ok {
		credentials = header
	}
	plain, err := base64.StdEncoding.DecodeString(credentials)
	if err != nil || scheme != "Basic" {
		if len(credentials) < shortestSecret {
			return nil
		}
		return []string{credentials}
	}
	all := []string{credentials, string(plain)}
	username, password, _ := strings.Cut(string(plain), ":")
	if name := strings.TrimSpace(username); call.IsAPIKey(name) {
		all = append(all, name)
	}
	// Blanks at either end are easily lost.
	for _, text := range []string{password, strings.TrimSpace(password)} {
		if len(text) >= shortestSecret {
			all = append(all, text)
		}
	}
	return all
}

// misread are a text and what becomes of it where somebody takes UTF-8 for Latin-1 or
// Windows-1252, or writes it so.
func misread(text string) []string {
	all := []string{text}
	for _, c := range []encoding.Encoding{charmap.ISO8859_1, charmap.Windows1252} {
		if read, err := c.NewDecoder().String(text); err == nil {
			all = append(all, read)
		}
		if written, err := c.NewEncoder().String(text); err == nil {
			all = append(all, written)
		}
	}
	slices.Sort(all[1:])
	return slices.Compact(all) // mostly the text alone
}

// itself is a text as it reads in plain text. The beginning of a login is a user name,
// which may be shown.
func itself(text string, login bool) []needle {
	p := plain(text).bytes
	if len(p) < shortestSecret && len(p) < len(text) {
		return nil // of hardly more than escapes, it would be found everywhere
	}
	n := newNeedle(p)
	if login {
		n.enough = len(p)
	}
	return []needle{n}
}

// encoded are the encodings of a text, as they read in plain text.
func encoded(text string) (all []needle) {
	data := []byte(text)
	for _, text := range []string{
		hex.EncodeToString(data), base64.StdEncoding.EncodeToString(data), base64.RawStdEncoding.EncodeToString(data),
		base64.URLEncoding.EncodeToString(data), base64.RawURLEncoding.EncodeToString(data),
	} {
		all = append(all, newNeedle(plain(text).bytes))
	}
	for _, base64 := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			if n := within64(base64, data, before); len(n.text) >= shortestSecret {
				all = append(all, n)
			}
		}
	}
	return all
}

// within64 is what stands for data within the base64 of a longer text, where the number
// of bytes before them is a multiple of three and so many more. Characters that stand for
// other bytes, too, are left out.
func within64(base64 *base64.Encoding, data []byte, before int) needle {
	text := base64.EncodeToString(append(make([]byte, before), data...))
	bits, head := 8*(before+len(data)), min(before, 1)
	n := newNeedle(plain(text[before+head : bits/6]).bytes)
	n.head, n.tail = head, min(bits%6, 1)
	return n
}

// login is what stands in front of the host in an address, as of a proxy.
var login = regexp.MustCompile(`://[^/@\s"'<>]+@`)

// in returns a text without the secrets.
func (s *secrets) in(text string) string { return s.without(text, false) }

// An excerpt is the beginning of a text of any length, without the secrets, nor the
// beginning of one at its end. Whatever is told of a response is taken from one, so that
// what a response costs does not depend on its length.
type excerpt string

// excerpt takes as much of data as an error shows, and what a secret there may take beyond.
func (s *secrets) excerpt(data []byte) excerpt {
	return excerpt(s.without(string(clipped(data, s.enough())), true))
}

// clipped is the beginning of a text, without a part of a character at its end.
func clipped[T string | []byte](text T, most int) T {
	if len(text) <= most {
		return text
	}
	end := most
	for end > most-utf8.UTFMax && end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// body is what an error keeps of it.
func (e excerpt) body() []byte { return []byte(clipped(string(e), maxErrorBody)) }

// part returns a text without the secrets, and only its beginning if it is long.
func (s *secrets) part(text string) string {
	most := s.enough()
	return clipped(s.without(clipped(text, most), len(text) > most), maxErrorBody)
}

// line is a text as one line of a message.
func (s *secrets) line(text string) string { return Line(s.part(text)) }

// enough is how many bytes of a text are read to show those of an error.
func (s *secrets) enough() int { return maxErrorBody + s.longest() }

// without redacts the secrets, and the beginning of one in an unfinished text.
func (s *secrets) without(text string, unfinished bool) string {
	if strings.Contains(text, "@") {
		text = login.ReplaceAllString(text, "://REDACTED@")
	}
	known := s.known()
	if len(known.plain.needles) == 0 {
		return text
	}
	found := known.sent.in([]byte(text)) // whatever escape they make with what stands beside them
	p := plain(text)
	for _, part := range known.plain.in(p.bytes) {
		found = append(found, p.original(part.start, part.end))
	}
	if n := known.plain.beginning(p.bytes); unfinished && n > 0 {
		found = append(found, p.original(len(p.bytes)-n, len(p.bytes)))
	}
	return without(text, found)
}

// longest is how much is read beyond what is shown, so that a secret in any spelling is
// whole: HTML takes the most, up to so many bytes for one.
func (s *secrets) longest() (most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range slices.Concat(s.given, s.sent) {
		most = max(most, longestEntity*len(c.header))
	}
	return most
}

// cause returns an error whose text has no secrets, and is bounded and clean.
func (s *secrets) cause(err error) error {
	return showing(err, func(text string) string {
		shown := s.part(text)
		if line := Line(shown); line != strings.ReplaceAll(shown, "\n", " ") { // a line feed stands between joined errors
			return line
		}
		return shown
	})
}

// Redaction returns what redacts the credentials of requests in texts, for those who keep
// exchanges. It finds those of the last 64 different headers.
func Redaction(sent []http.Header) func(text string) string {
	s := &secrets{}
	for _, h := range sent {
		s.send(h)
	}
	return s.in
}

// Text is a text that has words of the service in it, without secrets. A long one is cut.
func (c *Client) Text(text string) string { return c.hidden.part(text) }

// Shown is an error that has words of the service in its text, without secrets. That of a
// request has none already. A long text is cut.
func (c *Client) Shown(err error) error {
	if c == nil {
		return err
	}
	return showing(err, c.hidden.part)
}

func showing(err error, shown func(string) string) error {
	if err == nil || shown(err.Error()) == err.Error() {
		return err
	}
	if end, ok := err.(*call.EndedError); ok {
		return end.Shown(shown) // it can be unwrapped: its text is all that it shows
	}
	return &hiddenError{err, shown}
}

// A hiddenError is another error, with a text that may be shown. What it hides
// cannot be unwrapped, but be asked for.
type hiddenError struct {
	err   error
	shown func(string) string
}

func (e *hiddenError) Error() string { return e.shown(e.err.Error()) }

// Is asks the error that is hidden.
func (e *hiddenError) Is(target error) bool { return errors.Is(e.err, target) }

// As asks the error that is hidden, but not for one whose own text must not be shown.
func (e *hiddenError) As(target any) bool {
	if !errors.As(e.err, target) {
		return false
	}
	found := reflect.ValueOf(target).Elem()
	if err, ok := found.Interface().(error); ok && reflect.TypeOf(target) != timeout && e.shown(err.Error()) != err.Error() {
		found.SetZero()
		return false
	}
	return true
}

// timeout shows no text.
var timeout = reflect.TypeFor[*interface{ Timeout() bool }]()

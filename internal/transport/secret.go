package transport

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// shortestSecret is the length from which a password is looked for by itself.
// Redacting shorter ones would remove ordinary words. With its user name, a password is
// looked for always.
const shortestSecret = 8

// remembered is how many of the credentials that a client has sent it redacts, beside
// those of its Config. A source of tokens may bring a new one for each request; the one
// whose last use is the longest ago is forgotten first.
const remembered = 64

// secrets redacts the credentials of a client in every text that may repeat them, and
// whenever it does: a server, a cache or a log that is shown may repeat those of an earlier
// request.
type secrets struct {
	mu    sync.Mutex
	given []*credential // of the Config
	sent  []*credential // the last one at the end
	all   search        // for all of them; nil until needed
}

// A credential is the value of an Authorization header.
type credential struct {
	header string
	texts  func() map[string][]string // to look for; made once, when first needed
}

func newCredential(header string) *credential {
	return &credential{header, sync.OnceValue(func() map[string][]string { return spellings(header) })}
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

// A search finds secrets by how they begin.
type search []beginning

type beginning struct {
	text    string
	secrets []string // that begin so
}

// beginningLength is how much of a secret it is known by: messages quote only the beginning of a
// long text.
const beginningLength = 16

func (s *secrets) known() search {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		texts := map[string][]string{}
		for _, c := range slices.Concat(s.given, s.sent) {
			for start, all := range c.texts() {
				texts[start] = append(texts[start], all...)
			}
		}
		for start, all := range texts {
			slices.Sort(all)
			s.all = append(s.all, beginning{start, slices.Compact(all)})
		}
		// A password is a part of a login.
		slices.SortFunc(s.all, func(a, b beginning) int {
			return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text))
		})
	}
	return s.all
}

// redact takes out secrets, and as much of one as is there.
func (b beginning) redact(text string) string {
	at := strings.Index(text, b.text)
	if at < 0 {
		return text
	}
	var out strings.Builder
	for ; at >= 0; at = strings.Index(text, b.text) {
		out.WriteString(text[:at] + "REDACTED")
		text = text[at:]
		most := 0
		for _, secret := range b.secrets {
			n := len(b.text)
			for n < len(secret) && n < len(text) && secret[n] == text[n] {
				n++
			}
			most = max(most, n)
		}
		text = text[most:]
	}
	return out.String() + text
}

// spellings are the secrets of a header as they were sent, and escaped for URLs, JSON and
// HTML, and in base64, by their beginning. The scheme of the header may be shown.
func spellings(header string) map[string][]string {
	all := map[string][]string{}
	add := func(whole bool, texts ...string) {
		for _, text := range texts {
			start := text
			if text == "" { // such as that of a header without credentials
				continue
			}
			if !whole {
				start = text[:min(len(text), beginningLength)]
			}
			all[start] = append(all[start], text)
		}
	}
	for _, secret := range secretsOf(header) {
		login := strings.Contains(secret, ":") // its beginning is a user name, which may be shown
		add(login, secret, jsonEscaped(secret, true), jsonEscaped(secret, false))
		for _, escaped := range []string{url.QueryEscape(secret), url.PathEscape(secret),
			strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")} {
			add(login, escaped, hexDigits().ReplaceAllStringFunc(escaped, strings.ToLower))
		}
		page := html.EscapeString(secret)
		add(login, page)
		for _, quote := range []string{"'", "&#39;", "&#x27;", "&#039;"} {
			add(login, strings.NewReplacer("&#34;", "&quot;", "&#39;", quote).Replace(page))
		}
		add(false, inBase64(secret)...)
	}
	add(false, inBase64(header)...)
	return all
}

func inBase64(text string) (all []string) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding,
		base64.RawURLEncoding} {
		all = append(all, encoding.EncodeToString([]byte(text)))
	}
	return all
}

// hexDigits are in small letters in some programs.
var hexDigits = lazy.Regexp(`%[0-9A-F]{2}`)

// jsonEscaped is a text in JSON, in which the deployed service escapes the characters of HTML.
func jsonEscaped(text string, forHTML bool) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(forHTML)
	_ = e.Encode(text) // no text fails
	return strings.TrimSuffix(strings.TrimPrefix(out.String(), `"`), "\"\n")
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

// login is what stands in front of the host in an address, as of a proxy.
var login = lazy.Regexp(`://[^/@\s"'<>]+@`)

// in returns a text without the secrets.
func (s *secrets) in(text string) string {
	if strings.Contains(text, "@") {
		text = login().ReplaceAllString(text, "://REDACTED@")
	}
	for _, b := range s.known() {
		text = b.redact(text)
	}
	return text
}

// start returns the beginning of a text without the secrets, nor the beginning of one where
// the text was cut.
func (s *secrets) start(text string, most int) string {
	if len(text) <= most {
		return s.in(text)
	}
	shown, cut := s.in(clipped(text, most)), 0
	for _, b := range s.known() {
		n := min(len(b.text)-1, len(shown))
		for n > cut && !strings.HasSuffix(shown, b.text[:n]) {
			n--
		}
		cut = max(cut, n)
	}
	return clipped(shown, min(most, len(shown)-cut))
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

// part returns a text without the secrets, and only its beginning if it is long.
func (s *secrets) part(text string) string { return s.start(text, maxErrorBody) }

// excerpt is what is told of a response of any length: what that costs does not depend on its
// length.
func (s *secrets) excerpt(data []byte) []byte {
	return []byte(s.part(string(data[:min(len(data), enough)])))
}

// line is a text as one line of a message.
func (s *secrets) line(text string) string { return Line(s.part(text)) }

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
	if err, ok := found.Interface().(error); ok && reflect.TypeOf(target) != timeout &&
		e.shown(err.Error()) != err.Error() {
		found.SetZero()
		return false
	}
	return true
}

// timeout shows no text.
var timeout = reflect.TypeFor[*interface{ Timeout() bool }]()

package names

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// How the deployed software handles a DOI name: the metadata store reads it from a path
// and writes it into a path of the DOI service behind it, which reads it again. Each step
// can change the name. The steps follow in their order.

// Arrived is the path of a request as the routers of the store and of the DOI service
// see it, still escaped.
func Arrived(escaped string) string { return tidy(Sanitise(escaped)) }

// Sanitise decodes the escapes of letters, digits, "-._~" and all bytes from 80
// hex. If the result is not UTF-8, each such byte becomes U+FFFD.
func Sanitise(path string) string {
	path = escapes.ReplaceAllStringFunc(path, func(escape string) string {
		if b, ok := escaped(escape); ok && (b >= utf8.RuneSelf || isUnreserved(b)) {
			return string([]byte{b})
		}
		return escape
	})
	if !utf8.ValidString(path) {
		path = ReplaceBytes(path)
	}
	return path
}

// ReplaceBytes puts U+FFFD in place of each byte that is not ASCII, even in valid UTF-8.
func ReplaceBytes(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if text[i] < utf8.RuneSelf {
			out.WriteByte(text[i])
		} else {
			out.WriteRune(utf8.RuneError)
		}
	}
	return out.String()
}

var (
	slashes = regexp.MustCompile(`/+`)
	escapes = regexp.MustCompile(`%[0-9a-zA-Z]{2}`)
)

// tidy joins repeated slashes and drops one at the end.
func tidy(path string) string {
	path = slashes.ReplaceAllString("/"+path, "/")
	if path == "/" {
		return path
	}
	return strings.TrimSuffix(path, "/")
}

// Decode decodes escapes once. An escape with invalid digits becomes NUL, or the byte of
// its first digit.
func Decode(path string) string {
	return escapes.ReplaceAllStringFunc(path, func(escape string) string {
		b, ok := escaped(escape)
		if !ok && IsHex(escape[1]) {
			b = Unhex(escape[1])
		}
		return string([]byte{b})
	})
}

func escaped(escape string) (b byte, ok bool) {
	n, err := strconv.ParseUint(escape[1:], 16, 8)
	return byte(n), err == nil
}

var storeName = regexp.MustCompile(`\A(?:https?://?(?:dx\.)?(?:doi.org|handle.stage.datacite.org|handle.test.datacite.org)/)?(?:doi:)?(10\.[0-9]{4,5}/.+)\z`)

// Validate is the DOI name in a text: without "doi:" or resolver, in Unicode lower case,
// and without U+200B. ok is false if there is none.
func Validate(text string) (name string, ok bool) {
	m := storeName.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	name = strings.NewReplacer("\u200b", "", "İ", "i\u0307").Replace(m[1])
	return strings.ToLower(name), true
}

// paste writes a name unescaped into the path of the service behind: trailing spaces and
// the text after "#" are lost, the text after "?" is not part of the path.
func paste(name, below string) (path string) {
	path = "/dois/" + name + below
	if end := strings.IndexAny(path, "#?"); end >= 0 {
		path = path[:end]
	}
	return strings.TrimRight(path, " \t\r\n\v\f")
}

// normalise is a path as normalised by the library that builds the URL: in each segment
// escapes are decoded, characters are brought into compatibility form, and what a segment
// may not contain is escaped; "." and ".." are resolved.
func normalise(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		segments[i] = escapeSegment(compatible(Unescape(segment)))
	}
	return directed(segments)
}

// compatible is the compatibility form of a text. The library does not compose a text that
// begins with a combining accent.
func compatible(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); unicode.Is(unicode.Mn, first) {
		return norm.NFKD.String(text)
	}
	return norm.NFKC.String(text)
}

// directed resolves "." and "..", within the root.
func directed(segments []string) string {
	var out []string
	for i, segment := range segments {
		last := i == len(segments)-1
		switch segment {
		case ".":
		case "..":
			if len(out) > 1 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, segment)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return strings.Join(out, "/")
}

// subordinate are the parts of a DOI that have routes of their own in the DOI
// service, in the order of its routes.
var subordinate = []*regexp.Regexp{
	regexp.MustCompile(`\A(.+)/(metadata)(?:/(.+))?\z`),
	regexp.MustCompile(`\A(.+)/(media)(?:/(.+))?\z`),
	regexp.MustCompile(`\A(.+)/(activities)(?:/(.+))?\z`),
	regexp.MustCompile(`\A(.+)/(events)(?:/(.+))?\z`),
}

// A Target is where a request to the DOI service leads: to a DOI, or to a part of it.
type Target struct {
	Doi  string // decoded; "" if the path leads nowhere
	Part string // "get-url", "media", "metadata", "activities" or "events"; "" for the DOI itself
	Id   string // of one medium and so on
}

// Route finds the DOI in a path of the DOI service.
func Route(method, path string) Target {
	name, ok := strings.CutPrefix(path, "/dois/")
	if !ok {
		return Target{}
	}
	if doi, ok := strings.CutSuffix(name, "/get-url"); ok && doi != "" && method == http.MethodGet {
		return Target{Doi: Decode(doi), Part: "get-url"}
	}
	for _, part := range subordinate {
		m := part.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		ofAll := method == http.MethodGet || method == http.MethodPost
		ofOne := method != http.MethodPost
		if m[3] == "" && ofAll || m[3] != "" && ofOne {
			return Target{Doi: Decode(m[1]), Part: m[2], Id: Decode(m[3])}
		}
	}
	return Target{Doi: Decode(name)}
}

// BehindStore is the target of the store's request for a name; below is the path after the
// name.
func BehindStore(method, name, below string) Target {
	return Route(method, Arrived(normalise(paste(name, below))))
}

// Collate is the key under which the DOI service's database finds a name: trailing
// spaces are ignored, too.
func Collate(name string) string { return Folded(strings.TrimRight(name, " ")) }

// Folded is a text as databases compare it, without case and accents.
func Folded(text string) string {
	if IsASCII(text) {
		return Lower(text)
	}
	var key strings.Builder
	for _, r := range norm.NFD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			key.WriteRune('s')
		default:
			key.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
		}
	}
	return key.String()
}

// IsASCII reports whether a text has only ASCII characters.
func IsASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isUnreserved(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || strings.IndexByte("-._~", b) >= 0
}

// escapeSegment escapes what a path segment may not contain.
func escapeSegment(text string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(text) {
		if b := text[i]; isUnreserved(b) || strings.IndexByte("!$&'()*+,;=:@", b) >= 0 {
			out.WriteByte(b)
		} else {
			out.Write([]byte{'%', digits[b>>4], digits[b&15]})
		}
	}
	return out.String()
}

// Unescape decodes the valid escapes of a text, and keeps other "%".
func Unescape(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(escape string) string {
		if b, ok := escaped(escape); ok {
			return string([]byte{b})
		}
		return escape
	})
}

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

// How a DOI name passes through the deployed software: the metadata store reads it from a
// path and writes it into a path of the DOI service behind it, which reads it again.
// Each step can change the name. The steps are here in their order.

// Arrived is the path of a request as the routes of the store, and of the DOI service,
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

// ReplaceBytes puts U+FFFD for each byte that is not ASCII, of characters that
// were sound too.
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

// tidy makes one slash of several and drops one at the end.
func tidy(path string) string {
	path = slashes.ReplaceAllString("/"+path, "/")
	if path == "/" {
		return path
	}
	return strings.TrimSuffix(path, "/")
}

// Decode undoes escapes once. An escape with wrong
// digits becomes NUL, or the byte of its first digit.
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

// Validate is the DOI name in a text: without a lead, in lower case, of all
// letters, and without U+200B. ok is false if there is none.
func Validate(text string) (name string, ok bool) {
	m := storeName.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	name = strings.NewReplacer("\u200b", "", "İ", "i\u0307").Replace(m[1])
	return strings.ToLower(name), true
}

// paste writes a name into the path of the service behind, as it is: blanks at
// the end and what comes after "#" are lost, what comes after "?" is no part of
// the path.
func paste(name, below string) (path string) {
	path = "/dois/" + name + below
	if end := strings.IndexAny(path, "#?"); end >= 0 {
		path = path[:end]
	}
	return strings.TrimRight(path, " \t\r\n\v\f")
}

// normalise is what the library that builds the URL makes of a path: escapes
// are undone within each segment, the characters are brought into their
// compatibility form, what a segment may not have is escaped, and "." and ".."
// are taken for directions.
func normalise(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		segments[i] = escapeSegment(compatible(Unescape(segment)))
	}
	return directed(segments)
}

// compatible is the compatibility form of a text. The library composes nothing
// in one that begins with an accent.
func compatible(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); unicode.Is(unicode.Mn, first) {
		return norm.NFKD.String(text)
	}
	return norm.NFKC.String(text)
}

// directed follows the directions "." and "..", and does not leave the root.
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

// BehindStore is where the store's request for a name leads; below is what it
// puts after the name.
func BehindStore(method, name, below string) Target {
	return Route(method, Arrived(normalise(paste(name, below))))
}

// Collate is the key under which the DOI service's database finds a name: blanks at
// the end do not count either.
func Collate(name string) string { return Folded(strings.TrimRight(name, " ")) }

// Folded is a text as databases compare it: case and accents do not count.
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

// IsASCII reports whether a text has ASCII characters alone.
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

// escapeSegment escapes what may not stand in a segment of a path.
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

// Unescape undoes the escapes of a text that are sound, and leaves a stray "%" alone.
func Unescape(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(escape string) string {
		if b, ok := escaped(escape); ok {
			return string([]byte{b})
		}
		return escape
	})
}

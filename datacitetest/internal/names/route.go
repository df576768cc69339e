package names

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// Routers, libraries and the database of the deployed servers change some names on their
// way: the tables Names of deployed-store.md have the steps. A name that would not arrive as
// it was sent is refused.

// InAPI is the name in an escaped path of the DOI service, which decodes it once.
func InAPI(escaped string) (name string, err error) {
	name, err = url.PathUnescape(escaped)
	if err != nil || !isPrintable(name) || strings.Contains(escaped, "//") || strings.HasSuffix(escaped, "/") ||
		strings.HasSuffix(name, " ") {
		return "", wire.Name.Refusal(escaped)
	}
	return name, nil
}

// InStore is the name in an escaped path of the metadata store, which writes it into a path
// of the DOI service behind.
func InStore(escaped string) (name string, err error) {
	name, err = InAPI(escaped)
	if err == nil && (strings.ContainsAny(name, "#?%") || slices.ContainsFunc(strings.Split(name, "/"), isStep) ||
		strings.HasSuffix(name, "/get-url")) {
		err = wire.Name.Refusal(escaped)
	}
	return name, err
}

// isStep reports whether a segment of a path leads away from a DOI: to another path, or to a
// part of the DOI.
func isStep(segment string) bool {
	return slices.Contains([]string{"", ".", "..", "media", "metadata", "activities", "events"}, segment)
}

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

var storeName = lazy.Regexp(`\A` + resolver + `(10\.[0-9]{4,5}/.+)\z`)

// Validate is the DOI name in a text: without "doi:" or resolver, in Unicode lower case,
// and without U+200B. ok is false if there is none.
func Validate(text string) (name string, ok bool) {
	m := storeName().FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	name = strings.NewReplacer("\u200b", "", "İ", "i\u0307").Replace(m[1])
	return strings.ToLower(name), true
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

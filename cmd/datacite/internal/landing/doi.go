package landing

import (
	"bytes"
	"html"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
)

var (
	percent = lazy.Regexp(`%[0-9A-Fa-f]{2}`)
	escaped = strings.NewReplacer(`\/`, `/`, `\u002f`, `/`, `\u002F`, `/`)
)

// hasDOI reports whether a page has a DOI: in its text, in a link, or in its metadata. A longer DOI that begins
// with it is another one.
func hasDOI(page []byte, name string) bool {
	name = strings.ToLower(name)
	text := html.UnescapeString(escaped.Replace(string(bytes.ToLower(page))))
	if hasWord(text, name) {
		return true
	}
	text = percent().ReplaceAllStringFunc(text, func(code string) string {
		c, _ := strconv.ParseUint(code[1:], 16, 8) // it has two digits
		return string([]byte{byte(c)})
	})
	return hasWord(text, name)
}

// hasWord finds a DOI that neither begins before nor goes on behind.
func hasWord(text, name string) bool {
	for {
		before, rest, ok := strings.Cut(text, name)
		if !ok {
			return false
		}
		begins := before == "" || !isAlphanumeric(before[len(before)-1]) && before[len(before)-1] != '.'
		if begins && !goesOn(rest) {
			return true
		}
		text = rest
	}
}

// goesOn reports whether what is behind a DOI belongs to a longer one.
func goesOn(rest string) bool {
	more := strings.TrimLeft(rest, "-._/()")
	return more != "" && isAlphanumeric(more[0])
}

func isAlphanumeric(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }

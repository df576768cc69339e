package metadata

import (
	"strings"

	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// anyURI is what the service accepts as a URI: RFC 3986 as the service's XML library follows
// it, which allows other characters, and brackets in a fragment.
var anyURI = func() lazy.Pattern {
	const (
		letter    = `[^%:/?#\[\]@]|%[0-9A-Fa-f]{2}`
		path      = `/(?:` + letter + `|[:@/])*`
		host      = `(?:` + letter + `)*`
		authority = `//(?:(?:` + letter + `|:)*@(?:\[[^\]/?#]*\]|` + host + `)|\[[^\]/?#@]*\]|` + host + `)(?::[0-9]+)?(?:` +
			path + `)?`
		rooted    = `/(?:(?:` + letter + `|[:@])(?:` + letter + `|[:@/])*)?` // without an authority
		afterName = `(?:` + authority + `|` + rooted + `|(?:(?:` + letter + `|[:@])(?:` + letter + `|[:@/])*)?)`
		relative  = `(?:` + authority + `|` + rooted + `|(?:(?:` + letter + `|@)+(?:` + path + `)?)?)`
	)
	return lazy.Regexp(`^(?:[A-Za-z][A-Za-z0-9+.-]*:` + afterName + `|` + relative + `)` +
		`(?:\?(?:` + letter + `|[:@/?])*)?(?:#(?:` + letter + `|[:@/?\[\]])*)?$`)
}()

func isAnyURI(s string) bool { return anyURI().MatchString(xmlscan.Trim(s)) }

// isAbsoluteURI reports whether s is a URI of a common scheme.
func isAbsoluteURI(s string) bool {
	for _, scheme := range []string{"http://", "https://", "urn:", "info:"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

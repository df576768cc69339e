package doi

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hosts are the resolvers whose addresses people paste.
var hosts = []string{
	"doi.org", "www.doi.org", "dx.doi.org", "hdl.handle.net", "doi.test.datacite.org", "handle.test.datacite.org",
	"handle.stage.datacite.org",
}

// Parse reads a DOI name in any of the forms that people paste: bare, after
// "doi:" or "info:doi/", or as an address of a resolver, old or new, whose
// percent-encoding it undoes. Bare names are literal, unless their first slash
// is itself encoded. The case of the name is kept.
//
// Invisible characters, and dashes that look like the hyphen, come from typesetting; the
// error names them. A name that really has such a dash can be given as an address,
// percent-encoded.
func Parse(text string) (string, error) {
	if bare := strings.TrimPrefix(text, "doi:"); plain(bare) {
		return bare, nil
	}
	name := strings.TrimSpace(text)
	if rest, ok := cutResolver(name); ok {
		return parseAddress(rest, text)
	}
	for _, scheme := range []string{"doi://", "doi:", "info:doi/", "urn:doi:"} {
		if rest, ok := cutPrefixFold(name, scheme); ok {
			name = strings.TrimLeft(rest, " ")
			break
		}
	}
	if err := checkTyped(name, text); err != nil {
		return "", err
	}
	if i := strings.IndexByte(name, '%'); i >= 0 && IsPrefix(name[:i]) {
		if _, ok := cutPrefixFold(name[i:], "%2F"); ok {
			return parseAddress(name, text)
		}
	}
	return check(name, text)
}

// plain tells whether a text is a name as most are, of which nothing has to be undone or refused.
func plain(text string) bool {
	prefix, suffix, _ := strings.Cut(text, "/")
	return IsPrefix(prefix) && suffix != "" && printable(suffix) && suffix[len(suffix)-1] != ' ' &&
		strings.IndexByte(suffix, '%') < 0
}

// cutResolver cuts the resolver off an address, with or without a scheme.
func cutResolver(text string) (rest string, ok bool) {
	for _, scheme := range []string{"https://", "http://"} {
		if after, found := cutPrefixFold(text, scheme); found {
			text = after
			break
		}
	}
	for _, host := range hosts {
		if rest, ok := cutPrefixFold(text, host+"/"); ok {
			return rest, true
		}
	}
	return "", false
}

// parseAddress reads the path of a resolver's address.
func parseAddress(path, text string) (string, error) {
	if rest, ok := cutPrefixFold(path, "doi:"); ok {
		path = rest
	}
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		return "", &NameError{text, fmt.Sprintf(
			"has a %q, which ends the name in an address; write %%%02X if it belongs to the name", path[i], path[i])}
	}
	if err := checkTyped(path, text); err != nil {
		return "", err
	}
	name, err := url.PathUnescape(path)
	if err != nil {
		return "", &NameError{text, "has a percent sign without two hexadecimal digits after it"}
	}
	return check(name, text)
}

// check accepts what can be the name of an existing DOI.
func check(name, text string) (string, error) {
	prefix, suffix, ok := strings.Cut(name, "/")
	switch {
	case name == "":
		return "", &NameError{text, "is empty"}
	case !utf8.ValidString(name):
		return "", &NameError{text, "is not valid UTF-8"}
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", &NameError{text, "has a control character"}
	case !IsPrefix(prefix):
		return "", &NameError{text, `does not start with a prefix such as "10.5072"`}
	case !ok || suffix == "":
		return "", &NameError{text, "has no suffix after the prefix"}
	}
	return name, nil
}

// printable tells whether a name is of ASCII alone, as most are, without control characters.
func printable(name string) bool {
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' {
			return false
		}
	}
	return true
}

// checkTyped refuses characters that come from copying formatted text.
func checkTyped(name, text string) error {
	for i, r := range name {
		if r < utf8.RuneSelf || lookalikes[r] == "" {
			continue
		}
		where := "at its start"
		if i > 0 {
			where = fmt.Sprintf("after %q", name[:i])
		}
		return &NameError{text, fmt.Sprintf("has the character %s %s; such characters come from copying formatted text",
			describe(r), where)}
	}
	return nil
}

// lookalikes are the characters that are invisible or look like "-", by name.
var lookalikes = map[rune]string{
	'\u00a0': "no-break space", '\u202f': "narrow no-break space", '\u00ad': "soft hyphen",
	'\u200b': "zero-width space", '\u200c': "zero-width non-joiner", '\u200d': "zero-width joiner",
	'\u200e': "left-to-right mark", '\u200f': "right-to-left mark", '\u2060': "word joiner", '\ufeff': "byte order mark",
	'\u2028': "line separator", '\u2029': "paragraph separator",
	'\u2010': "hyphen", '\u2011': "non-breaking hyphen", '\u2012': "figure dash", '\u2013': "en dash",
	'\u2014': "em dash", '\u2015': "horizontal bar", '\u2212': "minus sign", '\ufe58': "small em dash",
	'\ufe63': "small hyphen-minus", '\uff0d': "fullwidth hyphen-minus",
}

// describe names a character so that it can be found even if it is invisible.
func describe(r rune) string {
	name := lookalikes[r]
	switch {
	case name == "":
		return fmt.Sprintf("%q", r)
	case isDash(r):
		return fmt.Sprintf("U+%04X (%s, which looks like \"-\")", r, name)
	}
	return fmt.Sprintf("U+%04X (%s, invisible)", r, name)
}

// isDash reports whether a character looks like the hyphen.
func isDash(r rune) bool {
	return strings.ContainsRune("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", r)
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

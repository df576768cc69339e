package metadata

import (
	"strings"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// isAnyURI reports whether the service accepts s as a URI. It follows RFC 3986 as the
// service's XML library does, which allows other characters and brackets in a fragment.
func isAnyURI(s string) bool {
	s = xmlscan.Trim(s)
	if end := strings.IndexAny(s, ":/?#"); end >= 0 && s[end] == ':' {
		// A colon this early ends a scheme, and nothing else.
		if !isScheme(s[:end]) {
			return false
		}
		s = s[end+1:]
	}
	s, fragment, _ := strings.Cut(s, "#")
	s, query, _ := strings.Cut(s, "?")
	if !only(fragment, ":@/?[]") || !only(query, ":@/?") {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		end := len(rest)
		if slash := strings.IndexByte(rest, '/'); slash >= 0 {
			end = slash
		}
		if !isAuthority(rest[:end]) {
			return false
		}
		s = rest[end:]
	}
	return only(s, ":@/")
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}

func isAuthority(s string) bool {
	if user, host, ok := strings.Cut(s, "@"); ok {
		if !only(user, ":") {
			return false
		}
		s = host
	}
	host, port, hasPort := strings.Cut(s, ":")
	if strings.HasPrefix(s, "[") {
		_, after, closed := strings.Cut(s, "]")
		if !closed || after != "" && after[0] != ':' {
			return false
		}
		host, port, hasPort = "", strings.TrimPrefix(after, ":"), after != ""
	}
	return only(host, "") && (!hasPort || port != "" && strings.Trim(port, "0123456789") == "")
}

// only reports whether s is free of delimiters other than the extra ones, and
// every % in it is followed by two hexadecimal digits.
func only(s, extra string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return false
			}
		case strings.IndexByte(":/?#[]@", c) >= 0 && strings.IndexByte(extra, c) < 0:
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// isAbsoluteURI reports whether s is a URI of a common scheme.
func isAbsoluteURI(s string) bool {
	for _, scheme := range []string{"http://", "https://", "urn:", "info:"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

package mds

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
)

// sameMetadata tells whether two XML documents say the same. The service
// rewrites the identifier and may lay the document out anew.
func sameMetadata(a, b []byte) bool {
	plainA, errA := plainXML(a)
	plainB, errB := plainXML(b)
	return errA == nil && errB == nil && plainA == plainB
}

// plainXML writes down what an XML document says: elements and attributes with
// their namespaces, attributes in order, texts without the blanks around them.
// Left out are comments, schema locations and the DOI's own identifier.
func plainXML(data []byte) (string, error) {
	var out, text strings.Builder
	flush := func() {
		if t := strings.TrimSpace(text.String()); t != "" {
			fmt.Fprintf(&out, "%q\n", t)
		}
		text.Reset()
	}
	decoder := newDecoder(data)
	for depth := 0; ; {
		token, err := decoder.Token()
		if err == io.EOF {
			return out.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			flush()
			if depth == 1 && token.Name.Local == "identifier" {
				if err := decoder.Skip(); err != nil {
					return "", err
				}
				continue
			}
			depth++
			fmt.Fprintf(&out, "<%s %s%s\n", token.Name.Space, token.Name.Local, plainAttributes(token.Attr))
		case xml.EndElement:
			flush()
			depth--
			out.WriteString(">\n")
		case xml.CharData:
			text.Write(token)
		}
	}
}

// newDecoder reads XML as UTF-8, whatever it declares, as the service does.
func newDecoder(data []byte) *xml.Decoder {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return decoder
}

func plainAttributes(attributes []xml.Attr) string {
	kept := slices.DeleteFunc(slices.Clone(attributes), func(a xml.Attr) bool {
		return a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || strings.HasSuffix(a.Name.Local, "chemaLocation")
	})
	slices.SortFunc(kept, func(a, b xml.Attr) int {
		return cmp.Or(cmp.Compare(a.Name.Space, b.Name.Space), cmp.Compare(a.Name.Local, b.Name.Local))
	})
	var out strings.Builder
	for _, a := range kept {
		fmt.Fprintf(&out, " %s %s=%q", a.Name.Space, a.Name.Local, a.Value)
	}
	return out.String()
}

// sameAddress tells whether two URLs are the same but for what a service may
// normalise: the case of the host and of percent-encoding, whether a character
// beyond ASCII is encoded, and the empty path.
func sameAddress(a, b string) bool { return a == b || a != "" && plainAddress(a) == plainAddress(b) }

func plainAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Path == "" {
		u.Path = "/"
	}
	var out strings.Builder
	text := u.String()
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '%' && i+2 < len(text):
			out.WriteString(strings.ToUpper(text[i : i+3]))
			i += 2
		case c >= 0x80:
			fmt.Fprintf(&out, "%%%02X", c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

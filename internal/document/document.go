// Package document decides which metadata may be sent, for every client that sends them.
package document

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// Trim leaves out a byte order mark and blanks in front, with which the service does not
// recognise some formats.
func Trim(data []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
}

// IsXML looks at the first byte, as the service does.
func IsXML(data []byte) bool { return bytes.HasPrefix(Trim(data), []byte("<")) }

// Check refuses metadata that the service would repair before it stores them. The error
// names path.
func Check(path string, data []byte) error {
	switch {
	case len(data) == 0:
		return datacite.Invalidf(path, datacite.CodeMissing, "is empty")
	case len(data) > xmlscan.MaxSize:
		return datacite.Invalidf(path, datacite.CodeLimit, "is longer than 10 MiB, the most that may be sent")
	case IsXML(data):
		if err := xmlscan.Check(bytes.NewReader(data)); err != nil {
			return datacite.Invalidf(path, datacite.CodeSyntax,
				"is not well-formed XML, of which the service would drop parts: %v", err)
		}
	case !utf8.Valid(data):
		return datacite.Invalidf(path, datacite.CodeEncoding,
			"is not UTF-8; the service would replace the invalid bytes with U+FFFD")
	}
	return nil
}

// CheckName refuses metadata that name another DOI than the one they are to be stored for.
// The service would replace the name without a word.
func CheckName(path string, data []byte, name string) error {
	own := Name(data)
	if own == "" || doi.Equal(own, name) {
		return nil
	}
	return datacite.Invalidf(path, datacite.CodeConflict,
		"names %s, another DOI than %s; AllowOtherDOI permits that", own, name)
}

// IsOfService reports whether XML has the mark of the service's writer, which writes it from the JSON of a record.
func IsOfService(data []byte) bool {
	const hint = "http://datacite.org/schema/kernel-4 http://schema.datacite.org/meta/kernel-4/metadata.xsd"
	return bytes.Contains(data[:min(len(data), 1000)], []byte(hint))
}

// Name is the DOI that metadata name as their own; "" if they name none.
func Name(data []byte) string {
	data = Trim(data)
	var texts []string
	switch {
	case bytes.HasPrefix(data, []byte("<")):
		texts = []string{identifier(data)}
	case bytes.HasPrefix(data, []byte("{")):
		texts = ids(data)
	default: // RIS, BibTeX
		if m := doiField().FindSubmatch(data); m != nil {
			texts = []string{strings.ReplaceAll(string(m[1]), `\`, "")} // BibTeX escapes some characters
		}
	}
	for _, text := range texts {
		if name, err := doi.Parse(text); err == nil {
			return name
		}
	}
	return ""
}

// identifier is the text of the element identifier of a record in XML.
func identifier(data []byte) string {
	s, err := xmlscan.Open(bytes.NewReader(data))
	if err != nil {
		return ""
	}
	var text strings.Builder
	inside := false
	for {
		switch s.Next() {
		case xmlscan.StartTag:
			inside = inside || s.Depth() == 2 && s.Name == "identifier"
		case xmlscan.Text:
			if inside {
				text.WriteString(s.Text)
			}
		case xmlscan.EndTag:
			if inside && s.Depth() < 2 {
				return text.String()
			}
		case xmlscan.End:
			return ""
		}
	}
}

// ids are the members in which the formats in JSON have the DOI, those first that the
// service reads first.
func ids(data []byte) []string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(data, &members) // what is no object names nothing
	var texts []string
	for _, member := range []string{"@id", "id", "doi", "DOI", "identifier"} {
		var text string
		if json.Unmarshal(members[member], &text) == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

var doiField = lazy.Regexp(`(?im)(?:^DO  - *|[\s,{]doi\s*=\s*[{"]\s*)([^\s}"]+)`)

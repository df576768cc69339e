package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// maxErrorBody is how much of an error response is kept.
const maxErrorBody = 64 << 10

// enough is how much of it is read: one byte more, which shows that the rest is left out.
const enough = maxErrorBody + 1

// maxShort is how long a response of a line or two may be, in bytes.
const maxShort = 1 << 20

// MaxDocument is how long the metadata of a DOI, or a text that the service makes of them,
// may be, in bytes: the service's database stores no longer ones.
const MaxDocument = 16 << 20

// maxMessage is how long a message taken from a response may be, in bytes.
const maxMessage = 500

// explain finds the best text in an error response, whatever its length. The
// services send JSON:API arrays, objects, bare titles, maps from field to
// messages, plain text, HTML and nothing at all.
func explain(contentType string, body []byte) (string, []datacite.Finding) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	if len(body) == 0 {
		return "the response is empty", nil
	}
	if isHTML(contentType, body) {
		return htmlMessage(body), nil
	}
	if !utf8.Valid(body) {
		return fmt.Sprintf("the response is %d bytes that are not text", len(body)), nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return string(body), nil
	}
	details := jsonDetails(members)
	if len(details) == 0 {
		return string(body), nil
	}
	return joinDetails(details), details
}

// jsonDetails reads the error members that the services use, the most telling first.
func jsonDetails(members map[string]json.RawMessage) []datacite.Finding {
	if raw, ok := members["errors"]; ok {
		if details := errorsMember(raw); len(details) > 0 {
			return details
		}
	}
	for _, name := range []string{"title", "error", "message", "detail"} {
		if text := jsonText(members[name]); text != "" {
			return []datacite.Finding{{Code: datacite.CodeRefused, Reason: text}}
		}
	}
	return fieldMap(members)
}

// errorsMember reads {"errors": …}: an array of objects or texts, one object, or a text.
func errorsMember(raw json.RawMessage) []datacite.Finding {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		var details []datacite.Finding
		for _, item := range list {
			details = append(details, errorItem(item)...)
		}
		return details
	}
	return errorItem(raw)
}

func errorItem(raw json.RawMessage) []datacite.Finding {
	if text := jsonText(raw); text != "" {
		return []datacite.Finding{{Code: datacite.CodeRefused, Reason: text}}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	field := jsonText(members["source"])
	if field == "" {
		var source struct{ Pointer, Parameter string }
		if json.Unmarshal(members["source"], &source) == nil {
			field = source.Pointer + source.Parameter
		}
	}
	var texts []string
	for _, name := range []string{"title", "detail", "message"} {
		if text := jsonText(members[name]); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) > 0 {
		return []datacite.Finding{{Path: field, Code: datacite.CodeRefused, Reason: strings.Join(texts, ": ")}}
	}
	return fieldMap(members)
}

// Where a schema validator's fault is, as the service passes it on and as the
// validator writes it:
//
//	DOI 10.5072/x: This element is not expected. at line 9, column 0
//	9:0: ERROR: Element '{http://datacite.org/schema/kernel-4}title': …
var position = lazy.Regexp(`at line (\d+), column (\d+)|^(\d+):(\d+): `)

// Position reads the line and the column that a message names, 0 for none.
func Position(message string) (line, column int) {
	if m := position().FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1] + m[3])
		column, _ = strconv.Atoi(m[2] + m[4])
	}
	return line, column
}

// fieldMap reads {"report_id": ["can't be blank"], "base": [[{"#/report-id": "…"}]]}:
// names with messages below them, in lists of any depth.
func fieldMap(members map[string]json.RawMessage) []datacite.Finding {
	var details []datacite.Finding
	for _, name := range slices.Sorted(maps.Keys(members)) {
		details = append(details, messages(name, members[name], 0)...)
	}
	return details
}

func messages(field string, raw json.RawMessage, depth int) []datacite.Finding {
	const deepest = 8
	if depth > deepest {
		return nil
	}
	if text := jsonText(raw); text != "" {
		return []datacite.Finding{{Path: field, Code: datacite.CodeRefused, Reason: text}}
	}
	var details []datacite.Finding
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, item := range list {
			details = append(details, messages(field, item, depth+1)...)
		}
		return details
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			details = append(details, messages(name, members[name], depth+1)...)
		}
	}
	return details
}

func jsonText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

func joinDetails(details []datacite.Finding) string {
	const most = 5
	var texts []string
	for i, d := range details {
		if i == most && len(details) > most+1 {
			texts = append(texts, fmt.Sprintf("and %d more", len(details)-most))
			break
		}
		if d.Path != "" {
			texts = append(texts, d.Path+": "+d.Reason)
			continue
		}
		texts = append(texts, d.Reason)
	}
	return strings.Join(texts, "; ")
}

func isHTML(contentType string, body []byte) bool {
	media, _, _ := mime.ParseMediaType(contentType)
	start := bytes.ToLower(body[:min(len(body), 64)])
	start = bytes.TrimSpace(bytes.TrimPrefix(start, []byte("\ufeff")))
	return media == "text/html" && len(start) > 0 && start[0] == '<' ||
		bytes.HasPrefix(start, []byte("<!doctype html")) ||
		bytes.HasPrefix(start, []byte("<html"))
}

var (
	htmlTitle = lazy.Regexp(`(?is)<(?:title|h1)[^>]*>(.*?)</(?:title|h1)>`)
	htmlTag   = lazy.Regexp(`(?s)<[^>]*>`)
)

func htmlMessage(body []byte) string {
	if m := htmlTitle().FindSubmatch(body); m != nil {
		title := htmlTag().ReplaceAllString(string(m[1]), " ")
		return "an HTML page: " + html.UnescapeString(title)
	}
	return "an HTML page without a title"
}

// Line makes one line of a text, of bounded length, without characters that
// control a terminal or the direction of writing.
func Line(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool {
		return r == ' ' || !unicode.IsPrint(r)
	}), " ")
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}

package wire

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// How Rails processes requests before the code of a deployed server, and responses after
// it.

const mimeName = `[a-zA-Z0-9][-a-zA-Z0-9!#$&^_.+]{0,126}`

var mimeForm = regexp.MustCompile(`^(?:gzip|\*/\*|` + mimeName + `/(?:\*|` + mimeName + `))$`)

// anyKind is "any type" beside others in an Accept header, as browsers send it.
var anyKind = regexp.MustCompile(`,\s*\*/\*|\*/\*\s*,`)

// WantedType is the preferred media type of the Accept header. It is text/html if the
// header includes HTML, is absent, or is like a browser's. ok is false if the header
// contains anything but media types.
func (q *Request) WantedType() (kind string, ok bool) {
	header := strings.Join(q.Header.Values("Accept"), ", ")
	if strings.TrimSpace(header) == "" || anyKind.MatchString(header) {
		return "text/html", true
	}
	most := -1.0
	for part := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(part, ";")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !mimeForm.MatchString(name) {
			return "", false
		}
		if q := Quality(part); q > most {
			kind, most = name, q
		}
	}
	switch kind {
	case "text/*", "application/*", "application/xhtml+xml":
		kind = "text/html"
	}
	return kind, true
}

// SentType is the Content-Type of a body, "" if absent. ok is false if it is not a media
// type.
func (q *Request) SentType() (kind string, ok bool) {
	given := q.Header.Values("Content-Type")
	if len(given) == 0 {
		return "", true
	}
	kind = given[0]
	if end := strings.IndexAny(kind, ",;"); end >= 0 {
		kind = kind[:end]
	}
	kind = strings.ToLower(strings.TrimSpace(kind))
	return kind, mimeForm.MatchString(kind)
}

// Outside is an error of the framework: JSON for clients that accept it by a known type,
// empty for others and if a header is not a media type.
func Outside(q *Request, status int, jsonTypes []string) *Failure {
	title := http.StatusText(status)
	res := Reply{Status: status, ContentType: "text/html; charset=UTF-8", Plain: true}
	kind, _ := q.WantedType()
	if _, ok := q.SentType(); ok && slices.Contains(jsonTypes, kind) {
		res.ContentType, res.Body = "application/json; charset=UTF-8", Encode(object{"status": status, "error": title})
	}
	return &Failure{Status: status, Title: title, Whole: &res}
}

// Varying sets Vary. The further outside a response arises, the fewer headers are in it;
// Accept is omitted if it includes HTML, as browsers send it, or if the format is named
// elsewhere. Responses of the proxy have no Vary.
func (res Reply) Varying(q *Request, err error, formatted bool) Reply {
	vary := "Accept-Encoding, Origin"
	if kind, ok := q.WantedType(); ok && kind != "text/html" && !formatted {
		vary = "Accept, " + vary
	}
	if res.Status == http.StatusNoContent || err != nil && AsFailure(err).Whole != nil {
		vary = "Origin"
	}
	if res.Status != http.StatusRequestEntityTooLarge {
		res.Header = With(res.Header, "Vary", vary)
	}
	return res
}

// With are the headers and one more.
func With(header map[string]string, name, value string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, header)
	out[name] = value
	return out
}

// Compacted removes nulls from the lists of parameters in JSON, as Rails does before a server
// sees them.
func Compacted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = Compacted(v[name])
		}
	case []any:
		kept := []any{}
		for _, e := range v {
			if e != nil {
				kept = append(kept, Compacted(e))
			}
		}
		return kept
	}
	return v
}

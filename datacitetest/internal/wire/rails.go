package wire

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// What Rails does to requests and responses before the code of a deployed server sees
// them, and after.

const mimeName = `[a-zA-Z0-9][-a-zA-Z0-9!#$&^_.+]{0,126}`

var mimeForm = regexp.MustCompile(`^(?:gzip|\*/\*|` + mimeName + `/(?:\*|` + mimeName + `))$`)

// anyKind is "any type" in an Accept header beside others, as browsers have it.
var anyKind = regexp.MustCompile(`,\s*\*/\*|\*/\*\s*,`)

// WantedType is the media type that the Accept header wants most. All that
// includes HTML is text/html, and so is no header, or one like a browser's. ok is
// false if the header holds what is no media type.
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

// SentType is the type of a body, "" if none is named. ok is false if what is named
// is no media type.
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

// Outside is an error from before the server's own code: JSON for clients
// that ask for it by a type that the server knows, and empty for others and if a header
// is not a media type.
func Outside(q *Request, status int, jsonTypes []string) *Failure {
	title := http.StatusText(status)
	res := Reply{Status: status, ContentType: "text/html; charset=UTF-8", Plain: true}
	kind, _ := q.WantedType()
	if _, ok := q.SentType(); ok && slices.Contains(jsonTypes, kind) {
		res.ContentType, res.Body = "application/json; charset=UTF-8", Encode(object{"status": status, "error": title})
	}
	return &Failure{Status: status, Title: title, Whole: &res}
}

// Varying says on which headers a response depends: fewer the further outside it
// arises, and not on Accept if that has HTML, as browsers send it, or something else
// names the format. The responses of the proxy do not say.
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

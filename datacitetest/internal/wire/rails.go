package wire

import (
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go/internal/lazy"
)

// How Rails processes requests before the code of a deployed server, and responses after
// it.

const mimeName = `[a-zA-Z0-9][-a-zA-Z0-9!#$&^_.+]{0,126}`

var mimeForm = lazy.Regexp(`^(?:gzip|` + mimeName + `/` + mimeName + `)$`)

// SentType is the Content-Type of a body, "" if absent.
func (q *Request) SentType() (kind string, err error) {
	given := q.Header.Values("Content-Type")
	if len(given) == 0 {
		return "", nil
	}
	kind, _, _ = strings.Cut(given[0], ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if !mimeForm().MatchString(kind) {
		err = MediaType.Refusal(kind)
	}
	return kind, err
}

// MediaTypes refuses headers that name what is no media type.
func (q *Request) MediaTypes() error {
	for part := range strings.SplitSeq(strings.Join(q.Header.Values("Accept"), ","), ",") {
		kind, _, _ := strings.Cut(part, ";")
		if kind = strings.TrimSpace(kind); kind != "" && !mimeForm().MatchString(strings.ReplaceAll(kind, "*", "x")) {
			return MediaType.Refusal(kind)
		}
	}
	_, err := q.SentType()
	return err
}

// Outside is an error of the framework: JSON for clients that ask for it, else empty.
func Outside(q *Request, status int) *Failure {
	title := http.StatusText(status)
	res := Reply{Status: status, ContentType: "text/html; charset=UTF-8", Plain: true}
	if strings.HasPrefix(q.Header.Get("Accept"), "application/json") {
		res.ContentType, res.Body = "application/json; charset=UTF-8", Encode(object{"status": status, "error": title})
	}
	return &Failure{Status: status, Title: title, Whole: &res}
}

// IsAbsent says whether a value in JSON counts as missing: Ruby's blank?.
func IsAbsent(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return IsBlank(v)
	case []any:
		return len(v) == 0
	case object:
		return len(v) == 0
	}
	return false
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

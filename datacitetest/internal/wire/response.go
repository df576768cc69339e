// Package wire has requests, responses, errors and JSON as they are sent, and their limits.
package wire

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
)

// object is an object in JSON.
type object = map[string]any

// Request is a request on its way through the service.
type Request struct {
	*http.Request
	Path           string // decoded once
	Verb           string // HEAD counts as GET
	ResponseHeader http.Header
	Fault          *faults.Fault // happens at a step of the work; nil for none
}

// NewRequest is a request, whose work may have a fault.
func NewRequest(r *http.Request, f *faults.Fault) *Request {
	q := &Request{Request: r, Path: r.URL.Path, Verb: r.Method, ResponseHeader: http.Header{}, Fault: f}
	if q.Verb == http.MethodHead {
		q.Verb = http.MethodGet // the same response; net/http leaves the body out
	}
	return q
}

// Reply is what a handler responds with: a body, or a stream for bodies too large to
// build first.
type Reply struct {
	Status      int
	ContentType string
	Header      map[string]string
	Body        []byte
	Stream      func(w io.Writer) error
	Etag        string // weak validator; empty means one made from the body
	Untagged    bool   // no validator
	Plain       bool   // interface C: no validator, no cache rules
}

// Failure is an error that the service responds with. Each interface has its own shape
// for it: see InJSON and InText.
type Failure struct {
	Status int
	Title  string
	Header map[string]string
	Body   any    // in JSON, in place of the usual shape
	Whole  *Reply // in place of all this
}

// Error returns the title.
func (f *Failure) Error() string { return f.Title }

// Fail is the error with that status and title.
func Fail(status int, format string, args ...any) *Failure {
	return &Failure{Status: status, Title: fmt.Sprintf(format, args...)}
}

// InJSON turns an error into the response {"errors":[{"status","title"}]}.
func InJSON(res Reply, err error) Reply {
	return in(res, err, func(f *Failure) Reply {
		if f.Body != nil {
			return JSON(f.Status, f.Body)
		}
		return JSON(f.Status, object{"errors": []any{object{"status": strconv.Itoa(f.Status), "title": f.Title}}})
	})
}

// InText turns an error into a line of plain text, as the metadata store does.
func InText(res Reply, err error) Reply {
	return in(res, err, func(f *Failure) Reply { return Text(f.Status, f.Title) })
}

// in is the response, or the error as shape writes it.
func in(res Reply, err error, shape func(*Failure) Reply) Reply {
	if err == nil {
		return res
	}
	f := AsFailure(err)
	if f.Whole != nil {
		return *f.Whole
	}
	res = shape(f)
	res.Header = f.Header
	return res
}

// AsFailure is the response to an error, 500 for unexpected ones.
func AsFailure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return Fail(http.StatusInternalServerError, "%v", err)
}

// Text is a response in plain text.
func Text(status int, body string) Reply {
	return Reply{Status: status, ContentType: "text/plain; charset=utf-8", Body: []byte(body), Plain: true}
}

// JSON is a response in JSON.
func JSON(status int, body any) Reply {
	return Reply{Status: status, ContentType: JSONType, Body: Encode(body)}
}

const JSONType = "application/json; charset=utf-8"

// Send writes the response with the headers of specification §4.1.
func (res Reply) Send(w http.ResponseWriter, q *Request, took time.Duration) {
	h := w.Header()
	if res.Status < 400 {
		maps.Copy(h, q.ResponseHeader)
	}
	for name, value := range res.Header {
		h.Set(name, value)
	}
	h.Set("X-Request-Id", cmp.Or(q.Header.Get("X-Request-Id"), uuid.NewString()))
	h.Set("X-Runtime", strconv.FormatFloat(took.Seconds(), 'f', 6, 64))
	h["Content-Type"] = nil // no type unless the response names one
	if res.ContentType != "" {
		h.Set("Content-Type", res.ContentType)
	}
	status := res.Status
	if !res.Plain {
		status = res.validators(h, q)
	}
	w.WriteHeader(status)
	if q.Method == http.MethodHead || status == http.StatusNotModified || status == http.StatusNoContent {
		return
	}
	if err := res.write(w); err != nil && res.Stream != nil {
		panic(http.ErrAbortHandler) // the client must notice that the response is incomplete
	}
}

func (res Reply) write(w io.Writer) error {
	if res.Stream != nil {
		return res.Stream(w)
	}
	_, err := w.Write(res.Body)
	return err
}

// validators sets ETag and Cache-Control, and evaluates If-None-Match.
func (res Reply) validators(h http.Header, q *Request) int {
	if res.Status >= 400 || res.Status == http.StatusNoContent || res.Untagged {
		h.Set("Cache-Control", "no-cache")
		return res.Status
	}
	h.Set("Cache-Control", "max-age=0, private, must-revalidate")
	etag := res.Etag
	if etag == "" {
		etag = WeakETag(res.Body)
	}
	h.Set("ETag", etag)
	if q.Verb == http.MethodGet && q.Header.Get("If-None-Match") == etag {
		return http.StatusNotModified
	}
	return res.Status
}

// WeakETag makes a validator of the parts of a response.
func WeakETag(parts ...[]byte) string {
	sum := md5.New()
	for _, p := range parts {
		sum.Write(p)
	}
	return `W/"` + hex.EncodeToString(sum.Sum(nil)) + `"`
}

// Unpermitted is Rails' error for parameters that a route does not accept.
func Unpermitted(names []string) *Failure {
	plural := map[bool]string{true: "s"}[len(names) > 1]
	return Fail(http.StatusUnprocessableEntity, "found unpermitted parameter%s: :%s", plural, strings.Join(names, ", :"))
}

// Crashed is the deployed service's response to an unexpected error: 500, with another
// status in the body, and no content type.
func Crashed(title string) *Failure {
	return &Failure{Status: http.StatusInternalServerError, Title: title, Whole: &Reply{
		Status: http.StatusInternalServerError, Plain: true, Body: Encode(object{"status": 400, "title": title}),
	}}
}

const NotAuthorized = "You are not authorized to access this resource."

// Address is the scheme and host that the request was sent to.
func Address(q *Request) string {
	if q.TLS != nil {
		return "https://" + q.Host
	}
	return "http://" + q.Host
}

const NotFound = "The resource you are looking for doesn't exist."

package sandbox

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// request is a request on its way through the service.
type request struct {
	*http.Request
	path   string // decoded once
	method string // HEAD counts as GET
	header http.Header
	fault  *Fault // what happens at a step of the work; nil for nothing
}

// newRequest is a request that may meet a fault at work.
func newRequest(r *http.Request, f *Fault) *request {
	q := &request{Request: r, path: r.URL.Path, method: r.Method, header: http.Header{}, fault: f}
	if q.method == http.MethodHead {
		q.method = http.MethodGet // the same answer; net/http leaves the body out
	}
	return q
}

// reply is what a handler answers: a body, or a stream for bodies too large to
// build first.
type reply struct {
	status      int
	contentType string
	header      map[string]string
	body        []byte
	stream      func(w io.Writer) error
	etag        string // weak validator; empty means one made from the body
	plain       bool   // interface C: no validator, no cache rules
}

// fault is an error the service answers with. Each interface has its own shape
// for it: see inJSON and inText.
type fault struct {
	status int
	title  string
	header map[string]string
	body   any    // in JSON, in place of the usual shape
	whole  *reply // in place of all this
}

func (f *fault) Error() string { return f.title }

func fail(status int, format string, args ...any) *fault {
	return &fault{status: status, title: fmt.Sprintf(format, args...)}
}

// inJSON makes an error the answer {"errors":[{"status","title"}]}.
func inJSON(res reply, err error) reply {
	if err == nil {
		return res
	}
	f := asFault(err)
	if f.whole != nil {
		return *f.whole
	}
	body := f.body
	if body == nil {
		body = map[string]any{"errors": []any{map[string]any{"status": strconv.Itoa(f.status), "title": f.title}}}
	}
	res = jsonReply(f.status, body)
	res.header = f.header
	return res
}

// inText makes an error a line of plain text, as the metadata store does.
func inText(res reply, err error) reply {
	if err == nil {
		return res
	}
	f := asFault(err)
	if f.whole != nil {
		return *f.whole
	}
	res = textReply(f.status, f.title)
	res.header = f.header
	return res
}

func asFault(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	return fail(http.StatusInternalServerError, "%v", err)
}

func textReply(status int, body string) reply {
	return reply{status: status, contentType: "text/plain; charset=utf-8", body: []byte(body), plain: true}
}

func jsonReply(status int, body any) reply {
	return reply{status: status, contentType: jsonType, body: encode(body)}
}

const jsonType = "application/json; charset=utf-8"

// encode writes JSON as the service does: without escapes for HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // only values that came from JSON get here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// send writes the answer with the headers of specification §4.1.
func (res reply) send(w http.ResponseWriter, q *request, took time.Duration) {
	h := w.Header()
	if res.status < 400 {
		maps.Copy(h, q.header)
	}
	for name, value := range res.header {
		h.Set(name, value)
	}
	h.Set("X-Request-Id", requestID(q))
	h.Set("X-Runtime", strconv.FormatFloat(took.Seconds(), 'f', 6, 64))
	h["Content-Type"] = nil // an answer has the type it says, or none
	if res.contentType != "" {
		h.Set("Content-Type", res.contentType)
	}
	status := res.status
	if !res.plain {
		status = res.validators(h, q)
	}
	w.WriteHeader(status)
	if q.Method == http.MethodHead || status == http.StatusNotModified || status == http.StatusNoContent {
		return
	}
	if err := res.write(w); err != nil && res.stream != nil {
		panic(http.ErrAbortHandler) // the reader must not take half an answer for a whole one
	}
}

func (res reply) write(w io.Writer) error {
	if res.stream != nil {
		return res.stream(w)
	}
	_, err := w.Write(res.body)
	return err
}

// validators sets ETag and Cache-Control, and answers If-None-Match.
func (res reply) validators(h http.Header, q *request) int {
	if res.status >= 400 || res.status == http.StatusNoContent {
		h.Set("Cache-Control", "no-cache")
		return res.status
	}
	h.Set("Cache-Control", "max-age=0, private, must-revalidate")
	etag := res.etag
	if etag == "" {
		etag = weakETag(res.body)
	}
	h.Set("ETag", etag)
	if q.method == http.MethodGet && q.Header.Get("If-None-Match") == etag {
		return http.StatusNotModified
	}
	return res.status
}

func weakETag(parts ...[]byte) string {
	sum := md5.New()
	for _, p := range parts {
		sum.Write(p)
	}
	return `W/"` + hex.EncodeToString(sum.Sum(nil)) + `"`
}

func requestID(q *request) string {
	if id := q.Header.Get("X-Request-Id"); id != "" {
		return id
	}
	return newUUID()
}

// newUUID returns a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

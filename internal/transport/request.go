package transport

import (
	"context"
	"io"
	"net/http"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// Replay says when a request may be sent again.
type Replay int

const (
	// Always is for operations that have the same effect done once or twice.
	Always Replay = iota
	// IfUnsent is for operations that add something each time: they are sent
	// again only when no connection could be made. Any failure of a gateway, 429
	// and 503 too, may hide work that was done.
	IfUnsent
)

// Access says whether a request carries credentials.
type Access int

const (
	// Anonymous requests carry none, even if the client has some.
	Anonymous Access = iota
	// Optional requests carry the client's credentials if there are any.
	Optional
	// Required requests fail before they are sent if there are none.
	Required
)

// Media types that requests and responses carry.
const (
	JSONType = "application/json"
	GzipType = "application/gzip"
)

// A Request is one operation of a service.
type Request struct {
	Op              string // package and method, such as "mds.PutURL"
	Method          string
	Path            string // escaped, begins with a slash
	Query           string // encoded, without the question mark
	Accept          string
	ContentType     string
	ContentEncoding string
	Body            Body        // nil for none
	Header          http.Header // further headers; nil for none
	Replay          Replay
	Expected        int // a status other than success that is nothing to warn of; 0 for none
	Access          Access
	Before          func() error               // called before each attempt; an error stops it
	Final           func(*datacite.Error) bool // failures after which the request is not sent again; nil for none of them

	// Refused is asked after a 403 of a service that relays: why it surely is a refusal, nil if
	// that is not sure. The reason is a [Condition]. A nil function is never sure.
	Refused func(context.Context) error

	Read Reader // nil: the response's body is kept in Data
	// Most: without Read and Stream: bytes that the body may have; 0: those of a line or two; never
	// more than MaxBody
	Most      int64
	Stream    bool // hand out the response's body unread
	Unbounded bool // with Stream: of any length; the caller sets its own bounds
}

// A Reader reads the JSON of a response as it arrives, once in each attempt. What it
// makes must not take more memory than the client's MaxBody, which the Decoder sees
// to. An error is like that of a response that is not JSON.
type Reader func(*jsonlex.Decoder) error

// A Body is what a request carries: a [bytes.Reader], or a part of a file. Each
// attempt reads it from its beginning, and may go on for a moment after it failed.
type Body interface {
	io.ReaderAt
	Size() int64
}

// A bodyReader reads a body once.
type bodyReader struct{ *io.SectionReader }

func newBodyReader(b Body) bodyReader { return bodyReader{io.NewSectionReader(b, 0, b.Size())} }

// Len is where retryablehttp looks for the Content-Length.
func (r bodyReader) Len() int { return int(r.Size()) }

// changes reports whether the operation changes something on the service.
func (r *Request) changes() bool { return !reads(r.Method) }

// A Response has a success status.
type Response struct {
	StatusCode int
	Header     http.Header
	Data       []byte        // the whole body, unless Read or Stream was asked for
	Body       io.ReadCloser // the body when Stream was asked for; the caller closes it
	RequestID  string
	Attempts   int
}

package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"

	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
)

// TooLarge is the response of the proxy in front of the service.
func TooLarge() *Failure {
	const status = http.StatusRequestEntityTooLarge
	return &Failure{Status: status, Whole: &Reply{
		Status: status, ContentType: "text/html", Plain: true, Body: faults.HTMLPage(status, "nginx"),
	}}
}

// What a request may take. The sizes of bodies are those that the proxies of the
// deployed servers let through, and so is the depth of JSON and XML that of their
// parsers; the rest are the embedded service's own: more than clients need, and low enough
// that no request uses more than about 300 MiB of memory.
const (
	MaxReportBody = 20 << 20
	MaxOtherBody  = 10 << 20
	MaxDatasets   = 50_000 // of a report (specification §8)

	MaxInflated = 256 << 20 // bytes of a report that comes compressed; it is read as a stream
	MaxPieces   = 250_000   // pieces of a body, or of the header of a report
	MaxValues   = 600_000   // pieces of the datasets of a report, where they are looked at together
	MaxFaults   = 10_000    // faults of a report that are told
	maxNesting  = 100       // objects and lists in each other
	MaxElements = 256       // elements of XML in each other
	maxResponse = 64 << 20  // bytes of the entries of a list
)

var ErrTooMuch = Fail(http.StatusRequestEntityTooLarge, "This is more than the embedded service takes at once.")

// Pieces counts what may begin or end something that is kept by itself, or is written
// longer than it came: an element or an attribute, a value in JSON, a parameter, a
// line, an escape. The same characters in texts count too.
func Pieces(text []byte) (n int) {
	for _, c := range text {
		switch c {
		case '<', '>', '=', '"', '{', '[', ',', '&', '\n':
			n++
		}
	}
	return n
}

// Limited bounds the body of a request as the proxy does.
func (q *Request) Limited(limit int64) *Request {
	q.Body = http.MaxBytesReader(nil, q.Body, limit)
	return q
}

// ReadAll reads a body of bounded size and number of pieces.
func ReadAll(r io.Reader) ([]byte, error) {
	body, err := ReadWhole(http.MaxBytesReader(nil, io.NopCloser(r), MaxOtherBody))
	if err == nil && Pieces(body) > MaxPieces {
		return nil, ErrTooMuch
	}
	return body, err
}

// ReadWhole reads a body, which may be over its limit.
func ReadWhole(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(r)
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, TooLarge()
	}
	if err != nil {
		return nil, Fail(http.StatusBadRequest, "reading the body: %v", err)
	}
	return body, nil
}

// Inflated is what a report that comes compressed holds, up to a limit. Its
// checksum may be missing or wrong.
func Inflated(r io.Reader) io.Reader { return &bounded{r, MaxInflated} }

type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrTooMuch
	}
	if err == io.ErrUnexpectedEOF || err == gzip.ErrChecksum {
		err = io.EOF
	}
	return n, err
}

// ReadBody reads a body, without the byte order mark it may begin with.
func ReadBody(q *Request) ([]byte, error) {
	body, err := ReadAll(q.Body)
	return bytes.TrimPrefix(body, ByteOrderMark), err
}

var ByteOrderMark = []byte("\ufeff")

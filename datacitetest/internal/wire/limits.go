package wire

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
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

// Limits of requests. The sizes of bodies are those of the deployed servers' proxies, the
// depths of JSON and XML those of their parsers. The others are the embedded service's own:
// more than clients need, and low enough that no request uses more than about 300 MiB of
// memory.
const (
	MaxReportBody = 20 << 20
	MaxOtherBody  = 10 << 20
	MaxDatasets   = 50_000 // of a report (specification §8)

	MaxRecord       = 32 << 20 // bytes of a decompressed record
	MaxRecordPieces = 600_000  // and pieces of it

	MaxInflated = 256 << 20 // bytes of a decompressed report, which is read as a stream
	MaxPieces   = 250_000   // pieces of a body, or of the header of a report
	MaxValues   = 600_000   // pieces of the datasets of a report, where they are decoded as a whole
	MaxFaults   = 10_000    // faults of a report in a response
	maxNesting  = 100       // objects and lists in each other
	MaxElements = 256       // elements of XML in each other
	maxResponse = 64 << 20  // bytes of the entries of a list
)

var ErrTooMuch = Fail(http.StatusRequestEntityTooLarge, "The request exceeds the limits of the embedded service.")

// Pieces counts the characters that may delimit a separately stored value, or one that
// grows when it is written: an element or attribute, a JSON value, a parameter, a line,
// an escape. The same characters in texts count, too.
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

// ReadWhole reads a body; one over its limit is an error.
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

// Inflated are the decompressed bytes of a report, up to a limit. The checksum may be
// missing or wrong.
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

// ErrUnpacking is the response to a compressed body that is damaged, or is no JSON.
var ErrUnpacking = Fail(http.StatusInternalServerError, "Internal Server Error")

// ReadCoded reads a body that is compressed as gzip or deflate.
func ReadCoded(q *Request, coding string) ([]byte, error) {
	sent, err := ReadWhole(q.Body)
	if err != nil {
		return nil, err
	}
	var plain io.ReadCloser
	if coding == "gzip" {
		plain, err = gzip.NewReader(bytes.NewReader(sent))
	} else {
		plain, err = zlib.NewReader(bytes.NewReader(sent))
	}
	if err != nil {
		return nil, ErrUnpacking
	}
	body, err := io.ReadAll(io.LimitReader(plain, MaxRecord+1))
	switch {
	case err != nil:
		return nil, ErrUnpacking
	case len(body) > MaxRecord, Pieces(body) > MaxRecordPieces:
		return nil, ErrTooMuch
	}
	return body, nil
}

// ReadBody reads a body without a leading byte order mark.
func ReadBody(q *Request) ([]byte, error) {
	body, err := ReadAll(q.Body)
	return bytes.TrimPrefix(body, ByteOrderMark), err
}

var ByteOrderMark = []byte("\ufeff")

package wire

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Coded compresses a response for clients that accept gzip, errors too. Its validator is
// made of the compressed bytes, which contain the time in seconds.
func (res Reply) Coded(q *Request, now time.Time) Reply {
	if res.Plain || res.Status == http.StatusNoContent || !takesGzip(q) {
		return res
	}
	etag := WeakETag([]byte(cmp.Or(res.Etag, WeakETag(res.Body))), fmt.Append(nil, now.Unix()))
	res = res.compressed()
	res.Etag = etag
	return res
}

// CodedUntagged compresses a response for clients that accept gzip, unless it is an error, without a
// validator.
func (res Reply) CodedUntagged(q *Request) Reply {
	if res.Plain || res.Status == http.StatusNoContent || res.Status >= http.StatusBadRequest || !takesGzip(q) {
		return res
	}
	res = res.compressed()
	res.Untagged = true
	return res
}

func (res Reply) compressed() Reply {
	plain := res
	res.Header = map[string]string{"Content-Encoding": "gzip"}
	maps.Copy(res.Header, plain.Header)
	res.Stream = func(w io.Writer) error { return Compress(w, plain.write) }
	return res
}

// Compressors are large next to what most bodies hold.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// Compress writes to w, as gzip, what write writes.
func Compress(w io.Writer, write func(io.Writer) error) error {
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(w)
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}

// takesGzip says whether a request prefers gzip.
func takesGzip(q *Request) bool {
	zipped, plain := -1.0, 0.0
	for part := range strings.SplitSeq(q.Header.Get("Accept-Encoding"), ",") {
		switch name, _, _ := strings.Cut(part, ";"); strings.TrimSpace(name) {
		case "gzip":
			zipped = Quality(part)
		case "*":
			if zipped < 0 {
				zipped = Quality(part)
			}
		case "identity":
			plain = Quality(part)
		}
	}
	return zipped > 0 && zipped >= plain
}

// Quality is the weight of an element of an Accept header.
func Quality(part string) float64 {
	_, weight, given := strings.Cut(part, "q=")
	if !given {
		return 1
	}
	q, _ := strconv.ParseFloat(strings.TrimSpace(weight), 64)
	return q
}

package sandbox

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// coded compresses an answer for who takes gzip, errors too if so. Its validator is
// one of the compressed bytes, which hold the time in seconds.
func (res reply) coded(q *request, now time.Time, errorsToo bool) reply {
	if res.plain || res.status == http.StatusNoContent || res.status >= http.StatusBadRequest && !errorsToo || !takesGzip(q) {
		return res
	}
	plain := res
	res.etag = weakETag([]byte(cmp.Or(res.etag, weakETag(res.body))), fmt.Append(nil, now.Unix()))
	res.header = map[string]string{"Content-Encoding": "gzip"}
	maps.Copy(res.header, plain.header)
	res.stream = func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := plain.write(z); err != nil {
			return err
		}
		return z.Close()
	}
	return res
}

// takesGzip says whether gzip is the coding that a request wants most.
func takesGzip(q *request) bool {
	zipped, plain := -1.0, 0.0
	for part := range strings.SplitSeq(q.Header.Get("Accept-Encoding"), ",") {
		switch name, _, _ := strings.Cut(part, ";"); strings.TrimSpace(name) {
		case "gzip":
			zipped = quality(part)
		case "*":
			if zipped < 0 {
				zipped = quality(part)
			}
		case "identity":
			plain = quality(part)
		}
	}
	return zipped > 0 && zipped >= plain
}

// crashed is what the deployed service makes of an error nobody expected: 500,
// with another status in the body, and no content type.
func crashed(title string) *fault {
	return &fault{status: http.StatusInternalServerError, title: title, whole: &reply{
		status: http.StatusInternalServerError, plain: true, body: encode(object{"status": 400, "title": title}),
	}}
}

// outside is an error from before the service's own code: JSON for who asks for
// it by name, and nothing for others, nor if a header names what is no media type.
func outside(q *request, status int) *fault {
	title := http.StatusText(status)
	res := reply{status: status, contentType: "text/html; charset=UTF-8", plain: true}
	kind, _ := wantedType(q)
	if _, ok := sentType(q); ok && slices.Contains(reportTypes, kind) {
		res.contentType, res.body = "application/json; charset=UTF-8", encode(object{"status": status, "error": title})
	}
	return &fault{status: status, title: title, whole: &res}
}

// tooLarge is the answer of the proxy in front of the service.
func tooLarge() *fault {
	const status = http.StatusRequestEntityTooLarge
	return &fault{status: status, whole: &reply{
		status: status, contentType: "text/html", plain: true, body: htmlPage(status, "nginx"),
	}}
}

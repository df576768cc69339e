package sandbox

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
)

// coded compresses an answer of interfaces A and B for who takes gzip. Its
// validator is one of the compressed bytes, which hold the time in seconds.
func (s *Service) coded(res reply, q *request) reply {
	if res.plain || res.status >= http.StatusBadRequest || res.status == http.StatusNoContent ||
		!strings.Contains(q.Header.Get("Accept-Encoding"), "gzip") {
		return res
	}
	plain := res
	res.etag = weakETag([]byte(cmp.Or(res.etag, weakETag(res.body))), fmt.Append(nil, s.Now().Unix()))
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

// crashed is what the deployed service makes of an error nobody expected: 500,
// with another status in the body, and no content type.
func crashed(title string) *fault {
	return &fault{status: http.StatusInternalServerError, title: title, whole: &reply{
		status: http.StatusInternalServerError, plain: true, body: encode(object{"status": 400, "title": title}),
	}}
}

// outside is an error from before the service's own code: JSON for who asks for
// it by name, and nothing for others.
func outside(q *request, status int) *fault {
	title := http.StatusText(status)
	res := reply{status: status, contentType: "text/html; charset=utf-8", plain: true}
	if strings.Contains(q.Header.Get("Accept"), "json") {
		res = reply{status: status, contentType: jsonType, plain: true, body: encode(object{"status": status, "error": title})}
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

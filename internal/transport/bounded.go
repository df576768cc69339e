package transport

import (
	"fmt"
	"io"
)

// readBounded reads a body of at most limit bytes. For error answers, which are
// kept in part anyway, the caller ignores ErrTooLarge.
func readBounded(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if int64(len(data)) > limit {
		return data[:limit], fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return data, err
}

// boundedBody is a streamed answer that ends with an error when it is too large.
type boundedBody struct {
	io.ReadCloser
	limit, left int64
}

func newBoundedBody(body io.ReadCloser, limit int64) io.ReadCloser {
	return &boundedBody{ReadCloser: body, limit: limit, left: limit}
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return max(n+int(b.left), 0), fmt.Errorf("%w: more than %d bytes", ErrTooLarge, b.limit)
	}
	return n, err
}

package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
)

// A responseBody is the body of a response. Reading it ends with an error when it is
// longer than limit, and with the context: what is compressed may go on long after
// the network has ended. What has come whole before is a response all the same.
type responseBody struct {
	io.ReadCloser
	ctx   context.Context
	limit int64
	read  int64
}

func (b *responseBody) Read(p []byte) (int, error) {
	const long = 1 << 20
	if err := call.Ended(b.ctx); err != nil && b.read > long {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	if b.read += int64(n); b.read > b.limit {
		return max(n-int(b.read-b.limit), 0), fmt.Errorf("%w: more than %d bytes", datacite.ErrTooLarge, b.limit)
	}
	if end := call.Ended(b.ctx); end != nil && err != nil && (err != io.EOF || errors.Is(end, io.EOF)) {
		return n, end // instead of err, which may be the cause alone, and the end of the body is a cause like any other
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("body cut off: %w", err)
	}
	return n, err
}

// ReadAll reads a body to its end. It takes no more memory than twice what it returns; io.ReadAll
// takes a quarter more.
func ReadAll(body io.Reader) ([]byte, error) {
	var pieces [][]byte
	piece := make([]byte, 0, 4<<10)
	for {
		if len(piece) == cap(piece) {
			pieces = append(pieces, piece)
			piece = make([]byte, 0, min(2*cap(piece), 1<<20))
		}
		n, err := body.Read(piece[len(piece):cap(piece)])
		piece = piece[:len(piece)+n]
		switch err {
		case nil:
			continue
		case io.EOF:
			err = nil
		}
		if len(pieces) == 0 {
			return piece, err
		}
		return bytes.Join(append(pieces, piece), nil), err
	}
}

// seen keeps the first bytes that were read.
type seen struct {
	io.Reader
	bytes []byte
	most  int
}

func (s *seen) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.bytes = append(s.bytes, p[:min(n, s.most-len(s.bytes))]...)
	return n, err
}

package faults

import (
	"io"
	"net/http"
	"slices"
	"sync"
)

// Request is one request the service has answered, without its credentials.
type Request struct {
	Method   string
	Path     string // as it was sent, still escaped
	RawQuery string
	Status   int         // of the answer; 0 when the connection was dropped before the work
	Header   http.Header // without Authorization and Cookie
	BodySize int64       // bytes of the body that the service has read
}

const logged = 1000

type requestLog struct {
	mu      sync.Mutex
	entries []Request
}

// Requests are the last requests, oldest first.
func (f *Front) Requests() []Request {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	return slices.Clone(f.log.entries)
}

func (l *requestLog) add(r *http.Request, status int, size int64) {
	header := r.Header.Clone()
	header.Del("Authorization")
	header.Del("Cookie")
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) == logged {
		l.entries = slices.Delete(l.entries, 0, 1)
	}
	l.entries = append(l.entries, Request{
		Method: r.Method, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery,
		Status: status, Header: header, BodySize: size,
	})
}

type countedBody struct {
	io.ReadCloser
	n int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	return n, err
}

package faults

import (
	"io"
	"net/http"
	"slices"
	"sync"
)

// Request is one request that the service received, without its credentials.
type Request struct {
	Method   string
	Path     string // as it was sent, still escaped
	RawQuery string
	Status   int         // of the service; 0 if the connection was dropped before
	Fault    FaultKind   // "" without one
	Header   http.Header // without Authorization and Cookie
	Body     []byte      // the first 16 KiB that the service has read
	BodySize int64       // bytes of the body that the service has read
}

const (
	logged     = 1000
	loggedBody = 16 << 10 // bytes of each body
)

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

func (l *requestLog) add(c call, status int) {
	r, kind := c.Request, FaultKind("")
	if c.fault != nil {
		kind = c.fault.Kind
	}
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
		Status: status, Fault: kind, Header: header, Body: c.body.start, BodySize: c.body.n,
	})
}

type countedBody struct {
	io.ReadCloser
	n     int64
	start []byte
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	b.start = append(b.start, p[:min(n, loggedBody-len(b.start))]...)
	return n, err
}

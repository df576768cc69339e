package faults

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// Request is one request that the service received, without its credentials.
type Request struct {
	Number   int // 1 for the first that was logged
	Method   string
	URL      *url.URL    // path and query
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
	n       int           // of all requests
	arrival chan struct{} // closed with the next one; nil if nobody waits
}

// Requests are the last requests, oldest first.
func (f *Front) Requests() []Request {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	return slices.Clone(f.log.entries)
}

// Arrival returns a channel that is closed with the next request, or by Wake.
func (f *Front) Arrival() <-chan struct{} {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	if f.log.arrival == nil {
		f.log.arrival = make(chan struct{})
	}
	return f.log.arrival
}

// Wake closes the channel of Arrival.
func (f *Front) Wake() {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	f.log.wake()
}

// wake is Wake. The caller has the lock.
func (l *requestLog) wake() {
	if l.arrival != nil {
		close(l.arrival)
		l.arrival = nil
	}
}

func (l *requestLog) add(c call, status int) {
	entry := newRequest(c.Request)
	entry.Status, entry.Body, entry.BodySize = status, c.body.start, c.body.n
	if c.fault != nil {
		entry.Fault = c.fault.Kind
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) == logged {
		l.entries = slices.Delete(l.entries, 0, 1)
	}
	l.n++
	entry.Number = l.n
	l.entries = append(l.entries, entry)
	l.wake()
}

func newRequest(r *http.Request) Request {
	header := r.Header.Clone()
	header.Del("Authorization")
	header.Del("Cookie")
	return Request{Method: r.Method, URL: &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery},
		Header: header}
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

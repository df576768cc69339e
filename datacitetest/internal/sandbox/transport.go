package sandbox

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"sync"
)

// Transport serves requests in memory, without a port. Bodies stream both
// ways. A response that fits its buffer leaves no goroutine; a longer one has
// one, which ends when the body is read to its end or closed, or the request's
// context is done. The service's work on a request goes on when the context is
// done, as it does behind a network; Wait waits for it.
func (s *Service) Transport() http.RoundTripper { return roundTripper{s} }

// Wait returns when the service has done its work on all requests that came
// through its Transport.
func (s *Service) Wait() { s.work.wait() }

// atWork counts requests. It is not a sync.WaitGroup because requests may begin
// during a wait, and from more than one bubble of testing/synctest.
type atWork struct {
	mu   sync.Mutex
	n    int
	idle []chan struct{}
}

func (a *atWork) start() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
}

func (a *atWork) done() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n--
	if a.n > 0 {
		return
	}
	for _, c := range a.idle {
		close(c)
	}
	a.idle = nil
}

func (a *atWork) wait() {
	a.mu.Lock()
	if a.n == 0 {
		a.mu.Unlock()
		return
	}
	c := make(chan struct{})
	a.idle = append(a.idle, c)
	a.mu.Unlock()
	<-c
}

type roundTripper struct{ service *Service }

// responseBuffer is how much of a response is held before it starts to stream.
const responseBuffer = 64 << 10

func (t roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	closeBody := sync.OnceFunc(func() {
		if req.Body != nil {
			_ = req.Body.Close()
		}
	})
	ctx, cancel := context.WithCancelCause(req.Context())
	in, err := incoming(req.WithContext(ctx))
	if err != nil || ctx.Err() != nil {
		closeBody()
		cancel(nil)
		return nil, errors.Join(err, req.Context().Err())
	}
	out := &responseWriter{header: http.Header{}, ready: make(chan struct{}), worked: t.service.work.done}
	out.read, out.write = io.Pipe()
	// A reader of the body learns why it ends early, and a handler that is blocked in
	// reading or writing returns.
	stop := context.AfterFunc(ctx, func() {
		_ = out.write.CloseWithError(context.Cause(ctx))
		closeBody()
	})
	t.service.work.start()
	go func() {
		err, returned := error(errReset), false
		defer func() {
			if !returned && !out.begun() { // a function of the test's, such as Options.Faults, did that
				out.end = endOf(recover())
			}
			closeBody()
			out.finish(err)
			stop()
			cancel(nil)
		}()
		err, returned = serve(t.service, out, in), true
	}()
	select {
	case <-out.ready:
	case <-ctx.Done(): // the caller has cancelled, or the handler is done and the response ready
	}
	if req.Context().Err() != nil {
		_ = out.read.Close()
		return nil, context.Cause(req.Context())
	}
	if out.end != nil {
		out.end()
	}
	if out.err != nil {
		return nil, out.err
	}
	return out.response(req, cancel), nil
}

// endOf ends a goroutine as another one ended, of which recover returned that.
func endOf(value any) func() {
	return func() {
		if value != nil {
			panic(value)
		}
		runtime.Goexit()
	}
}

// incoming is the request as a server would read it from the wire.
func incoming(req *http.Request) (*http.Request, error) {
	if req.URL == nil || req.URL.Host == "" {
		return nil, errors.New("sandbox: no host in the request URL")
	}
	address, err := url.ParseRequestURI(req.URL.RequestURI())
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	in := req.Clone(req.Context())
	in.URL, in.RequestURI = address, req.URL.RequestURI()
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	in.RemoteAddr = "192.0.2.1:1234"
	if in.Method == "" {
		in.Method = http.MethodGet
	}
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	if in.Header == nil {
		in.Header = http.Header{}
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if req.URL.Scheme == "https" {
		in.TLS = &tls.ConnectionState{HandshakeComplete: true}
	}
	return in, nil
}

// errReset is what a client reads from a connection that broke.
var errReset = &net.OpError{Op: "read", Net: "tcp", Err: connectionReset}

// serve runs the handler; the error says that it broke the response off.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			err = errReset
		} else if p != nil {
			panic(p)
		}
	}()
	h.ServeHTTP(w, r)
	return nil
}

// responseWriter collects a response, and passes it on through a pipe from the
// moment it outgrows the buffer.
type responseWriter struct {
	header http.Header // the handler's
	buf    bytes.Buffer
	read   *io.PipeReader
	write  *io.PipeWriter

	once   sync.Once
	ready  chan struct{} // closed when what follows is set
	worked func()        // called then
	sent   http.Header
	status int
	whole  bool // the buffer is the whole body
	err    error
	end    func() // of the handler that did not return
}

func (w *responseWriter) Header() http.Header { return w.header }

func (w *responseWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.sent = status, w.header.Clone()
		maps.DeleteFunc(w.sent, func(_ string, values []string) bool { return len(values) == 0 })
	}
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.buf.Len()+len(p) <= responseBuffer {
		return w.buf.Write(p)
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	if len(p) < responseBuffer/2 {
		return w.buf.Write(p)
	}
	return w.write.Write(p)
}

// Flush starts to stream.
func (w *responseWriter) Flush() {
	w.WriteHeader(http.StatusOK)
	_ = w.flush()
}

// flush sends what is in the buffer.
func (w *responseWriter) flush() error {
	w.announce(false)
	if w.buf.Len() == 0 {
		return nil
	}
	_, err := w.write.Write(w.buf.Bytes())
	w.buf.Reset()
	return err
}

func (w *responseWriter) announce(whole bool) {
	w.once.Do(func() {
		w.whole = whole
		close(w.ready)
		w.worked()
	})
}

// begun tells whether the response is on its way.
func (w *responseWriter) begun() bool {
	select {
	case <-w.ready:
		return true
	default:
		return false
	}
}

// finish ends the response; with an error, as a broken connection would.
func (w *responseWriter) finish(err error) {
	w.WriteHeader(http.StatusOK)
	if !w.begun() {
		w.err = err
		w.announce(true)
		return
	}
	if err == nil {
		err = w.flush()
	}
	_ = w.write.CloseWithError(err)
}

func (w *responseWriter) response(req *http.Request, cancel context.CancelCauseFunc) *http.Response {
	res := &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: maps.Clone(w.sent), Request: req, ContentLength: -1,
	}
	if !w.whole {
		if size, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
			res.ContentLength = size
		}
		res.Body = &streamedBody{PipeReader: w.read, cancel: cancel}
		return res
	}
	res.ContentLength = int64(w.buf.Len())
	res.Body = io.NopCloser(bytes.NewReader(w.buf.Bytes()))
	if w.status != http.StatusNoContent && w.status != http.StatusNotModified && req.Method != http.MethodHead {
		res.Header.Set("Content-Length", strconv.Itoa(w.buf.Len()))
	}
	return res
}

// streamedBody is a body whose handler may still be at work.
type streamedBody struct {
	*io.PipeReader
	cancel context.CancelCauseFunc
}

func (b *streamedBody) Close() error {
	err := b.PipeReader.Close()
	b.cancel(errors.New("sandbox: body closed"))
	return err
}

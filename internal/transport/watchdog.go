package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// A SilenceError says that no byte went in either direction for too long.
type SilenceError struct{ Silence time.Duration }

func (e *SilenceError) Error() string {
	return fmt.Sprintf("no answer: nothing sent or received for %v", e.Silence)
}

// Timeout reports true, as net.Error asks.
func (e *SilenceError) Timeout() bool { return true }

// Is matches os.ErrDeadlineExceeded and context.DeadlineExceeded, the values
// that other timeouts match.
func (e *SilenceError) Is(target error) bool {
	return target == os.ErrDeadlineExceeded || target == context.DeadlineExceeded
}

// watchdog ends an exchange in which nothing moves. A total timeout would cut
// off large uploads on slow lines; silence means the same on every line.
type watchdog struct {
	base    http.RoundTripper
	silence time.Duration
}

func (w *watchdog) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	silent := &SilenceError{Silence: w.silence}
	timer := time.AfterFunc(w.silence, func() { cancel(silent) })

	watched := req.WithContext(ctx)
	var answered atomic.Bool
	if req.Body != nil && req.Body != http.NoBody {
		watched.Body = &watchedRequest{ReadCloser: req.Body, timer: timer, silence: w.silence, answered: &answered}
	}
	res, err := w.base.RoundTrip(watched)
	answered.Store(true)
	timer.Stop()
	if err != nil {
		if context.Cause(ctx) == error(silent) {
			err = silent
		}
		cancel(nil)
		return nil, err
	}
	res.Body = &watchedAnswer{body: res.Body, timer: timer, silence: w.silence, ctx: ctx, cancel: cancel}
	return res, nil
}

// CloseIdleConnections passes on what http.Client.CloseIdleConnections asks.
func (w *watchdog) CloseIdleConnections() {
	if c, ok := w.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// watchedRequest starts the silence anew with each piece the network takes.
type watchedRequest struct {
	io.ReadCloser
	timer    *time.Timer
	silence  time.Duration
	answered *atomic.Bool // a body may be read on after the answer came; the timer is the answer's then
}

func (b *watchedRequest) Read(p []byte) (int, error) {
	if !b.answered.Load() {
		b.timer.Reset(b.silence)
	}
	return b.ReadCloser.Read(p)
}

// watchedAnswer runs the timer only while a Read waits, so a reader may take
// its time between two of them.
type watchedAnswer struct {
	body    io.ReadCloser
	timer   *time.Timer
	silence time.Duration
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

func (b *watchedAnswer) Read(p []byte) (int, error) {
	b.timer.Reset(b.silence)
	n, err := b.body.Read(p)
	b.timer.Stop()
	if err != nil && err != io.EOF {
		if silent, ok := context.Cause(b.ctx).(*SilenceError); ok {
			err = silent
		}
	}
	return n, err
}

func (b *watchedAnswer) Close() error {
	b.timer.Stop()
	err := b.body.Close()
	b.cancel(nil)
	return err
}

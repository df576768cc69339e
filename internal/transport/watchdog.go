package transport

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go/internal/call"
)

// A SilenceError says that nothing moved in either direction for too long, or too
// little.
type SilenceError struct {
	Silence time.Duration
	Speed   int // bytes a second that would have been enough; 0: nothing moved at all
}

func (e *SilenceError) Error() string {
	if e.Speed > 0 {
		return fmt.Sprintf("too slow: fewer than %d bytes a second for %v", e.Speed, e.Silence)
	}
	return fmt.Sprintf("no response: nothing sent or received for %v", e.Silence)
}

// Timeout reports true, as net.Error asks.
func (e *SilenceError) Timeout() bool { return true }

// Is matches os.ErrDeadlineExceeded and context.DeadlineExceeded, the values
// that other timeouts match.
func (e *SilenceError) Is(target error) bool {
	return target == os.ErrDeadlineExceeded || target == context.DeadlineExceeded
}

// watchdog ends an exchange in which nothing moves, or next to nothing. A total
// timeout would cut off large uploads on slow lines; silence means the same on every
// line.
type watchdog struct {
	base    http.RoundTripper
	silence time.Duration
}

// minSpeed is how many bytes a second are enough.
const minSpeed = 1 << 10

func (w *watchdog) RoundTrip(req *http.Request) (*http.Response, error) {
	settings := call.SettingsOf(req.Context())
	w = &watchdog{w.base, cmp.Or(settings.Timeout, w.silence)}
	ctx, cancel := context.WithCancelCause(req.Context())
	sending := (&watchdog{w.base, settings.Outage.Left(w.silence)}).patience(cancel)
	watched := req.WithContext(ctx)
	var answered atomic.Bool
	if req.Body != nil && req.Body != http.NoBody {
		watched.Body = &watchedRequest{ReadCloser: req.Body, patience: sending, answered: &answered}
	}
	sending.wait()
	res, err := w.base.RoundTrip(watched)
	answered.Store(true)
	sending.timer.Stop()
	if err == nil && res == nil {
		err = fmt.Errorf("the RoundTripper %T returned neither a response nor an error", w.base)
	}
	if err != nil {
		if silent, ok := context.Cause(ctx).(*SilenceError); ok && req.Context().Err() == nil {
			err = silent
		}
		cancel(nil)
		return nil, err
	}
	if res.Body == nil {
		res.Body = http.NoBody // as net/http reads it
	}
	res.Body = &watchedAnswer{body: res.Body, patience: w.patience(cancel), ctx: ctx, cancel: cancel}
	return res, nil
}

// patience is how long an exchange may still wait: waiting uses it up, and what
// moves renews it in proportion, up to the silence allowed.
type patience struct {
	*watchdog
	left  time.Duration
	since time.Time    // waiting
	moved atomic.Int64 // when something last did; 0: never
	timer *time.Timer
}

func (w *watchdog) patience(cancel context.CancelCauseFunc) *patience {
	p := &patience{watchdog: w, left: w.silence}
	p.timer = time.AfterFunc(w.silence, func() {
		err := &SilenceError{Silence: w.silence}
		if time.Since(time.Unix(0, p.moved.Load())) < w.silence {
			err.Speed = minSpeed
		}
		cancel(err)
	})
	p.timer.Stop()
	return p
}

func (p *patience) wait() {
	p.since = time.Now()
	p.timer.Reset(p.left)
}

// got ends waiting, with what has moved meanwhile.
func (p *patience) got(bytes int) {
	p.timer.Stop()
	now := time.Now()
	if bytes > 0 {
		p.moved.Store(now.UnixNano())
	}
	earned := time.Duration(float64(bytes) / minSpeed * float64(time.Second))
	p.left = min(p.left-now.Sub(p.since)+earned, p.silence)
}

// A watchedRequest waits for the network to take each piece.
type watchedRequest struct {
	io.ReadCloser
	patience *patience
	given    int          // in the last piece
	answered *atomic.Bool // a body may be read on after the response came
}

func (b *watchedRequest) Read(p []byte) (int, error) {
	if b.answered.Load() {
		return b.ReadCloser.Read(p)
	}
	b.patience.got(b.given)
	n, err := b.ReadCloser.Read(p)
	if b.given = n; err == io.EOF {
		b.patience.left = b.patience.silence // for the service to do its work
	}
	b.patience.wait()
	return n, err
}

// watchedAnswer waits only while a Read does, so a reader may take its time between
// two of them.
type watchedAnswer struct {
	body     io.ReadCloser
	patience *patience
	ctx      context.Context
	cancel   context.CancelCauseFunc
}

func (b *watchedAnswer) Read(p []byte) (int, error) {
	b.patience.wait()
	n, err := b.body.Read(p)
	b.patience.got(n)
	if err != nil && err != io.EOF {
		if silent, ok := context.Cause(b.ctx).(*SilenceError); ok {
			err = silent
		}
	}
	return n, err
}

func (b *watchedAnswer) Close() error {
	err := b.body.Close()
	b.cancel(nil)
	return err
}

package transport

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go"
)

// An outcome is what is known of an attempt that failed.
type outcome struct {
	status int // 0: no response came
	// without a response: what the network says; of a success: why it cannot be read; of a refusal: what else it may be
	err        error
	unsent     bool   // without a response: the request surely did not reach the service
	page       []byte // with status: the beginning of the body
	retryAfter string // the header of that name
}

// A verdict says what a failed attempt means.
type verdict struct {
	unclear bool          // the service may have done the work all the same
	again   bool          // the request may be sent again, and it may help
	pause   time.Duration // before that, as the service wishes; 0: ours to choose
}

// judge is the one place that decides whether a request is sent again.
//
//	outcome                              unclear  Replay Always  Replay IfUnsent
//	no connection could be made          no       again          again
//	TLS sent to a port of HTTP, or HTTP  no       no             no
//	to one of TLS
//	no response, or one that broke off   yes      again          no
//	the caller's context ended           if sent  no             no
//	a certificate that is not good       no       no             no
//	2xx that cannot be read              yes      again          no
//	2xx that is too large                yes      no             no
//	a refusal that broke off             yes      again          no
//	408, 429, 5xx, 403 with a page       yes      again          no
//	403 of a service that relays,        yes      again          no
//	unless Request.Refused is sure
//	501, any other status                no       no             no
//
// A gateway may respond with 429 and 503, too, while the service behind it goes on with the
// work.
func judge(replay Replay, o outcome, longest time.Duration) (v verdict) {
	e := &datacite.Error{StatusCode: o.status, Body: o.page, Err: o.err}
	switch {
	case o.status == 0:
		v.unclear = !o.unsent
		v.again = e.Transient() && (replay == Always || !v.unclear)
	case o.err != nil:
		v.unclear = true
		v.again = e.Transient() && replay == Always
	default:
		v.unclear = e.Transient()
		v.again = v.unclear && replay == Always
		hint, hinted := retryAfter(o.retryAfter)
		if v.pause = hint; !hinted && errors.Is(e, datacite.ErrRateLimited) {
			v.pause = longest // the service counts in windows of minutes
		}
	}
	return v
}

// A line is the way to the service, in one attempt. A context that ends while a connection
// is being made, which may take minutes, leaves an error that does not say so.
type line struct{ asked, connected atomic.Bool }

// watch returns a context in which the network says how far an attempt came. A
// http.RoundTripper of the caller's own may not say it.
func (l *line) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { l.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { l.connected.Store(true) },
	})
}

// unsent reports whether there surely was no connection.
func (l *line) unsent() bool { return l.asked.Load() && !l.connected.Load() }

// neverSent reports whether the request surely did not reach the service, by the error.
func neverSent(err error) bool {
	if _, ok := errors.AsType[*handshakeError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// backoff waits as long as the service asked for, or a random time that may
// grow with each attempt; never longer than MaxWait.
func (x *exchange) backoff(_, _ time.Duration, attempt int, _ *http.Response) time.Duration {
	const first = 500 * time.Millisecond
	pause := x.pause
	if pause == 0 {
		pause = rand.N(min(first<<min(attempt, 20), x.client.maxWait) + 1)
	}
	return x.settings.Outage.Left(min(pause, x.client.maxWait))
}

// retryAfter reads seconds or an HTTP date.
func retryAfter(value string) (time.Duration, bool) {
	if value == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1<<30)) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(time.Until(at), 0), true
}

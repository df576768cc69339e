package transport

import (
	"bytes"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

// An outcome is what is known of an attempt that failed.
type outcome struct {
	status     int    // 0: no answer came
	err        error  // without an answer: what the network says; of a success: why it cannot be read
	page       []byte // with status: the beginning of the body
	retryAfter string // the header of that name
	maybeLost  bool   // the service may have lost the one behind it
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
//	no answer, or one that broke off     yes      again          no
//	a certificate that is not good       no       no             no
//	2xx that cannot be read              yes      again          no
//	2xx that is too large                yes      no             no
//	408, 429, 5xx, 403 with a page       yes      again          no
//	403 of a service that relays         yes      again          no
//	501, any other status                no       no             no
//
// A gateway may answer 429 and 503, too, while the service behind it goes on with the
// work.
func judge(replay Replay, o outcome, longest time.Duration) (v verdict) {
	always := replay == Always
	switch {
	case o.status == 0:
		v.unclear = !neverSent(o.err)
		v.again = (always || !v.unclear) && !permanent(o.err)
	case o.err != nil:
		v.unclear, v.again = true, always && !errors.Is(o.err, ErrTooLarge)
	default:
		throttled := Throttled(o.status, o.page)
		failed := o.status >= 500 && o.status != http.StatusNotImplemented
		v.unclear = failed || o.status == http.StatusRequestTimeout || throttled || o.maybeLost
		v.again = v.unclear && always
		hint, hinted := retryAfter(o.retryAfter)
		if v.pause = hint; throttled && !hinted {
			v.pause = longest // the service counts in windows of minutes
		}
	}
	return v
}

// Throttled tells whether somebody turned a request away because there are too
// many: 429, or a 403 with a page, which gateways send instead. The services
// themselves never answer 403 with a page.
func Throttled(status int, body []byte) bool {
	page := bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	return status == http.StatusTooManyRequests || status == http.StatusForbidden && page
}

// neverSent reports whether the request surely did not reach the service.
func neverSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// permanent reports whether sending again cannot help.
func permanent(err error) bool {
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	return badCertificate
}

// backoff waits as long as the service asked for, or a random time that may
// grow with each attempt; never longer than MaxWait.
func (x *exchange) backoff(_, _ time.Duration, attempt int, _ *http.Response) time.Duration {
	const first = 500 * time.Millisecond
	if x.pause > 0 {
		return min(x.pause, x.client.maxWait)
	}
	ceiling := min(first<<min(attempt, 20), x.client.maxWait)
	return rand.N(ceiling + 1)
}

// retryAfter reads seconds or an HTTP date.
func retryAfter(value string) (time.Duration, bool) {
	if value == "" {
		return 0, false
	}
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1<<30)) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(time.Until(at), 0), true
}

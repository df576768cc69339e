package transport

import (
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

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

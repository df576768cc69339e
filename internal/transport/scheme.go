package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
)

// A handshakeError: client and server did not agree how to talk. The address has the wrong
// scheme for its port, the server refuses the client's TLS, or a proxy made no connection.
// Nothing was done.
type handshakeError struct {
	text   string
	err    error
	whole  error // that of net/http
	passes bool  // another attempt may help
}

func (e *handshakeError) Error() string { return e.text }

func (e *handshakeError) Unwrap() error { return e.err }

// Is matches the whole error, too, so that it is not said beside this one.
func (e *handshakeError) Is(target error) bool { return target == e.whole }

// Transient is what [datacite.Temporary] asks.
func (e *handshakeError) Transient() bool { return e.passes }

// refusedTLS are the alerts with which a server refuses a client's TLS for good, as crypto/tls
// words them.
var refusedTLS = map[string]bool{
	"tls: handshake failure": true, "tls: bad certificate": true, "tls: unsupported certificate": true,
	"tls: revoked certificate": true,
	"tls: expired certificate": true, "tls: unknown certificate": true, "tls: unknown certificate authority": true, "tls: access denied": true,
	"tls: protocol version not supported": true, "tls: insufficient security level": true, "tls: certificate required": true,
}

// handshake recognises the errors of the network that mean a handshakeError.
func handshake(err error) error {
	cause := err
	if e, ok := errors.AsType[*url.Error](err); ok { // which has a text of its own
		cause = e.Err
	}
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	op, _ := errors.AsType[*net.OpError](err)
	switch {
	case op != nil && op.Op == "remote error" && refusedTLS[op.Err.Error()]:
		return &handshakeError{text: cause.Error(), err: cause, whole: err}
	case noTLS, errors.Is(err, http.ErrSchemeMismatch):
		return &handshakeError{text: "the server at this port does not speak TLS; should the address begin with http://?",
			err: cause, whole: err}
	case strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`): // an alert of TLS; net/http has no type for it
		return &handshakeError{text: "the server at this port speaks TLS; should the address begin with https://?",
			err: cause, whole: err}
	}
	return err
}

// byProxy names the proxy in the error of a connection that was not made: net/http names neither
// it nor its status.
func (c *Client) byProxy(ctx context.Context, err error) error {
	e, ok := err.(*url.Error)
	if c.proxy == nil || !ok {
		return err
	}
	req, noRequest := http.NewRequestWithContext(ctx, http.MethodGet, c.base, nil)
	if noRequest != nil {
		return err
	}
	proxy, _ := c.proxy(req)
	if proxy == nil {
		return err
	}
	text := cmp.Or(strings.TrimSpace(e.Err.Error()), "a status without words")
	return &handshakeError{fmt.Sprintf("no connection by the proxy %s: %s", proxy.Host, text), e.Err, err,
		!refuses(e.Err) && (&datacite.Error{Err: e.Err}).Transient()}
}

// refuses reports whether an error is the status of a proxy that makes no connection, and will make none soon. net/http
// makes an error of the words of the status alone, which are the proxy's own. What is not known to pass is a refusal.
func refuses(err error) bool {
	isText := reflect.TypeOf(err) == reflect.TypeOf(io.EOF) && err != io.EOF && err != io.ErrUnexpectedEOF
	passing := []string{http.StatusText(http.StatusRequestTimeout), http.StatusText(http.StatusTooManyRequests)}
	for status := 500; status < 600; status++ {
		passing = append(passing, http.StatusText(status))
	}
	return isText && (err.Error() == "" || !slices.Contains(passing, err.Error()))
}

package transport

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// A schemeError: the address has the wrong scheme for its port, which another attempt does not
// change. Neither side understood the other, so nothing was done.
type schemeError struct {
	text  string
	err   error
	whole error // that of net/http
}

func (e *schemeError) Error() string { return e.text }

func (e *schemeError) Unwrap() error { return e.err }

// Is matches the whole error, too, so that it is not said beside this one.
func (e *schemeError) Is(target error) bool { return target == e.whole }

// Transient is what [datacite.Temporary] asks.
func (e *schemeError) Transient() bool { return false }

// wrongScheme recognises the errors of the network that mean a wrong scheme.
func wrongScheme(err error) error {
	cause := err
	if e, ok := errors.AsType[*url.Error](err); ok { // which has a text of its own
		cause = e.Err
	}
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case noTLS, errors.Is(err, http.ErrSchemeMismatch):
		return &schemeError{"the server at this port does not speak TLS; should the address begin with http://?", cause, err}
	case strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`): // an alert of TLS; net/http has no type for it
		return &schemeError{"the server at this port speaks TLS; should the address begin with https://?", cause, err}
	}
	return err
}

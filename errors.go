package datacite

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// Error conditions for [errors.Is]. The packages of the clients add the conditions of a
// single interface, such as mds.ErrMetadataMissing. The specification shows the status
// codes of some operations (§4, §7); the others are those of the deployed service.
var (
	// ErrBadRequest: the service could not read the request (400).
	ErrBadRequest = newCondition("datacite: bad request")
	// ErrUnauthorized: a login is required and missing, or it is not accepted (401).
	ErrUnauthorized = newCondition("datacite: login missing or not accepted")
	// ErrForbidden: the account lacks the permission (403). The metadata store also
	// responds with 403 when its backend is unreachable. Unless the DOI API confirms the
	// refusal (Service.API), a 403 from the store is therefore retried and counts as
	// Temporary; after a write it also matches ErrUnclear.
	ErrForbidden = newCondition("datacite: forbidden")
	// ErrNotFound: the DOI or the report does not exist, or the account may not see
	// it (404, in the words of the service). A 404 of a gateway or another host does not
	// match it: such an error names what came, and is Temporary.
	ErrNotFound = newCondition("datacite: not found")
	// ErrNotAllowed: the state of the DOI does not allow the operation, such as deleting a
	// DOI that is not a draft (405).
	ErrNotAllowed = newCondition("datacite: not allowed in this state")
	// ErrConflict: the DOI or the report exists already, belongs to another account, or
	// was changed in the meantime (409).
	ErrConflict = newCondition("datacite: conflict with what is stored")
	// ErrTooLarge: the service refuses the size of the request (413), or a response is
	// larger than Config.MaxBody or another limit.
	ErrTooLarge = newCondition("datacite: too large")
	// ErrMediaType: the service does not accept the Content-Type (415).
	ErrMediaType = newCondition("datacite: media type not accepted")
	// ErrInvalid: the input breaks a rule. The faults were found before sending
	// ([*ValidationError]) or by the service (422, with Error.Details); [Findings] returns
	// them.
	ErrInvalid = newCondition("datacite: invalid input")
	// ErrInvalidDOI: a text is not a DOI name, or not one that may be registered. It
	// matches ErrInvalid, too.
	ErrInvalidDOI = newCondition("datacite: invalid DOI name")
	// ErrRateLimited: too many requests, even after the retries (429, or a 403 with the
	// HTML page of a gateway, as the deployed service has sent).
	ErrRateLimited = newCondition("datacite: rate limited")
	// ErrServer: the service failed (5xx).
	ErrServer = newCondition("datacite: service failed")
	// ErrRedirect: the service points to another address, which is not followed (3xx).
	ErrRedirect = newCondition("datacite: redirect not followed")
	// ErrUnreadable: the service reported success, and its response is malformed.
	ErrUnreadable = newCondition("datacite: response cannot be read")
	// ErrIncomplete: a list, a walk or a stored report is incomplete.
	ErrIncomplete = newCondition("datacite: incomplete")
	// ErrUnclear: the outcome of a write is unknown. The response was lost or malformed, or
	// a gateway reported a failure (408, 429, 5xx) although the service may still complete
	// the request. Check the state before you repeat the write.
	ErrUnclear = newCondition("datacite: outcome unknown")
)

// A condition is an error to ask for with errors.Is.
type condition string

func newCondition(text string) error { return condition(text) }

func (c condition) Error() string { return string(c) }

// ServiceCondition says that this is a condition of this module, which the cause of a
// context must not match: it may be the response to another request.
func (c condition) ServiceCondition() {}

// meanings are the conditions that a status stands for, unless Error.Err says more.
var meanings = map[int]error{
	http.StatusBadRequest:            ErrBadRequest,
	http.StatusUnauthorized:          ErrUnauthorized,
	http.StatusForbidden:             ErrForbidden,
	http.StatusNotFound:              ErrNotFound,
	http.StatusMethodNotAllowed:      ErrNotAllowed,
	http.StatusConflict:              ErrConflict,
	http.StatusRequestEntityTooLarge: ErrTooLarge,
	http.StatusUnsupportedMediaType:  ErrMediaType,
	http.StatusUnprocessableEntity:   ErrInvalid,
}

// An Error is a failed request. If the context of the call ended, the error matches the
// context's error and its cause, but no condition of this module that the cause may match:
// that is the outcome of another call. It matches [ErrUnclear] only if the request of a
// write may have reached the service.
type Error struct {
	Op         string    // package and method, such as "mds.PutURL"
	Method     string    // HTTP method; "" if Config.TokenSource failed
	URL        string    // address, without credentials; "" if Config.TokenSource failed
	StatusCode int       // HTTP status; 0 if there was no response
	Message    string    // error text of the response or the network
	Details    []Finding // faults that the service names one by one
	Body       []byte    // the first 64 KiB of the response, credentials removed
	RequestID  string    // for questions to the operator; "" if nothing was sent
	Attempts   int       // how often the request was sent
	Unclear    bool      // the service may have carried out the request

	// Header is the header of the response: at most 16 KiB of it, without credentials and
	// cookies. It is nil if there was no response.
	Header http.Header
	// RetryAt is when the service wants the request to be sent again, by this machine's clock
	// (Retry-After). It is zero if the response does not say. The client itself waits
	// at most Config.MaxWait between two attempts.
	RetryAt time.Time

	// Err is the network error, or a more specific condition than the status code implies,
	// such as mds.ErrMetadataMissing. It may be nil.
	Err error
}

// Error returns the operation, the address and the reason of the failure.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op + ": ")
	if e.URL != "" {
		fmt.Fprintf(&b, "%s %s: ", e.Method, e.URL)
	}
	if e.StatusCode != 0 {
		fmt.Fprintf(&b, "%d %s: ", e.StatusCode, http.StatusText(e.StatusCode))
	}
	b.WriteString(e.Message)
	if e.Unclear {
		b.WriteString("; it is not known whether the service carried it out")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (after %d attempts)", e.Attempts)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " [request %s]", e.RequestID)
	}
	return b.String()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Is matches the conditions of this package.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrUnclear:
		return e.Unclear
	case ErrServer:
		return e.StatusCode >= 500
	case ErrRateLimited:
		return e.throttled()
	}
	meaning := meanings[e.StatusCode]
	return meaning != nil && meaning == target && !e.throttled() && !e.explained()
}

// explained reports whether Err is a condition, which then counts instead of the
// status.
func (e *Error) explained() bool {
	if _, ok := errors.AsType[transient](e.Err); ok || contextEnded(e.Err) {
		return true
	}
	for _, condition := range meanings {
		if errors.Is(e.Err, condition) {
			return true
		}
	}
	return false
}

// throttled reports whether the request was turned away because there are too many.
// Some gateways send 403 with a page of HTML, which the service itself never does.
func (e *Error) throttled() bool {
	page := bytes.HasPrefix(bytes.TrimSpace(e.Body), []byte("<"))
	return e.StatusCode == http.StatusTooManyRequests || e.StatusCode == http.StatusForbidden && page
}

// Transient reports whether the same request may succeed later; [Temporary] calls it.
func (e *Error) Transient() bool {
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](e.Err)
	switch {
	case badCertificate, contextEnded(e.Err), errors.Is(e.Err, context.Canceled), errors.Is(e.Err, ErrUnauthorized), errors.Is(e.Err, ErrTooLarge):
		return false
	}
	if cause, ok := errors.AsType[transient](e.Err); ok {
		return cause.Transient()
	}
	if e.StatusCode == 0 { // no response
		return true
	}
	failed := e.StatusCode >= 500 && e.StatusCode != http.StatusNotImplemented
	unreadable := e.StatusCode >= 200 && e.StatusCode < 300
	return e.Unclear || unreadable || failed || e.StatusCode == http.StatusRequestTimeout || e.throttled()
}

// A transient error knows whether it passes. Errors of the network have a method
// Temporary, which means less.
type transient interface {
	error
	Transient() bool
}

// contextEnded reports whether a context of the caller ended. The client's own Timeout is an
// error of the network, although it matches context.DeadlineExceeded, too.
func contextEnded(err error) bool {
	_, ok := errors.AsType[interface {
		error
		ContextEnded()
	}](err)
	return ok
}

// LogValue shows an Error to slog as a group.
func (e *Error) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("op", e.Op),
		slog.String("method", e.Method),
		slog.String("url", e.URL),
		slog.Int("status", e.StatusCode),
		slog.String("message", e.Message),
		slog.String("request_id", e.RequestID),
		slog.Int("attempts", e.Attempts),
		slog.Bool("unclear", e.Unclear),
	)
}

// Temporary reports whether an operation that ended with err may succeed later: the network
// or the service failed, the service was overloaded, or another program was in the way. The
// client has already retried the request if that was safe. If err also matches
// [ErrUnclear], check the state first: repeating dois.Create or mds.Mint could create a
// second DOI. Temporary is false once the context of the caller has ended, by a cancel or a
// deadline; it is true for Config.Timeout.
func Temporary(err error) bool {
	if contextEnded(err) || errors.Is(err, context.Canceled) {
		return false
	}
	e, ok := errors.AsType[transient](err)
	return ok && e.Transient()
}

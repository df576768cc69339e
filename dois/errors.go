package dois

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// Conditions to ask for with errors.Is. The specification does not show the
// errors of this interface; these are the deployed service's.
var (
	// ErrBadRequest: the service could not read the request, such as a query with
	// a syntax error (400).
	ErrBadRequest = errors.New("dois: bad request")
	// ErrUnauthorized: the login is not accepted, or a write was asked of a client
	// without one (401). The deployed service answers 404 to an account that it does not
	// know when it is to write a new DOI, which is this error and ErrNotFound.
	ErrUnauthorized = errors.New("dois: login missing or not accepted")
	// ErrForbidden: the account may not do that (403).
	ErrForbidden = errors.New("dois: forbidden")
	// ErrNotFound: there is no such DOI, or it is not public and the account may
	// not see it (404).
	ErrNotFound = errors.New("dois: DOI not found")
	// ErrNotAllowed: the DOI is not in a state that allows this, such as deleting
	// a DOI that is not a draft (405).
	ErrNotAllowed = errors.New("dois: not allowed in this state")
	// ErrConflict: the DOI exists already (409, or a 422 that says so), or it was
	// changed since the audit that Client.Repair works from.
	ErrConflict = errors.New("dois: DOI exists already")
	// ErrTooLarge: the service refuses a body of that size (413), or the answer
	// takes more than ClientOptions.MaxBody, holds more records than were asked for, or
	// one record of more than 16 MiB, which an archive must not hold either.
	ErrTooLarge = errors.New("dois: too large")
	// ErrInvalid: the input breaks a rule. It was found before sending
	// ([*FieldError]) or by the service (422).
	ErrInvalid = errors.New("dois: invalid input")
	// ErrInvalidDOI: a text is not a DOI name, or not one that may be registered.
	// It matches ErrInvalid too.
	ErrInvalidDOI = errors.New("dois: not a usable DOI name")
	// ErrRateLimited: too many requests, even after waiting if the request may be
	// sent twice (429, or a 403 whose body is a page of a gateway, as the deployed
	// service has answered). A write matches ErrUnclear, too.
	ErrRateLimited = errors.New("dois: rate limited")
	// ErrServer: the service failed (5xx).
	ErrServer = errors.New("dois: service failed")
	// ErrUnreadable: the service reported success with a malformed response, or an archive
	// is damaged (package dois/archive).
	ErrUnreadable = errors.New("dois: answer cannot be understood")
	// ErrNotModified: the record is still the one of GetOptions.IfNoneMatch (304).
	ErrNotModified = errors.New("dois: not modified")
	// ErrRedirect: the service points to another address, which is not followed
	// (3xx).
	ErrRedirect = errors.New("dois: redirect not followed")
	// ErrNoFormat: the service does not write records in that format (406).
	ErrNoFormat = errors.New("dois: no such format")
	// ErrIncomplete: a walk could not see every record that the service counts;
	// see [*IncompleteError] and [*OrderError].
	ErrIncomplete = errors.New("dois: walk is incomplete")
	// ErrUnclear: something was sent and it is not known whether the service
	// carried it out: the answer got lost or is malformed, or it is a 429
	// (ErrRateLimited, too), 5xx (ErrServer, too) or 408, which a
	// gateway may give while the service goes on with the work. Look before
	// sending it again.
	ErrUnclear = errors.New("dois: outcome unknown")
)

// An Error is a request that did not succeed: what was asked, where, and why.
type Error struct {
	Op         string   // such as "dois.Get"
	Method     string   // HTTP method
	URL        string   // address, without credentials
	StatusCode int      // HTTP status; 0 if there was no answer
	Message    string   // the service's text, or the network's
	Details    []Detail // faults that the service names one by one
	Body       []byte   // the answer's first 64 KiB, credentials removed
	RequestID  string   // quote it when you ask the operator; "" if nothing was sent
	Attempts   int      // how often the request was sent
	Unclear    bool     // the service may have carried the request out
	Err        error    // what failed below HTTP, such as a lost connection; may be nil
}

// A Detail is one fault that the service names.
type Detail = struct {
	Field   string // the member or element; may be empty
	Message string
	Line    int // in the XML that was sent, from 1; 0 if the service names none
	Column  int // from 0, as the service counts
}

// Error says what was asked, where, and why it failed.
func (e *Error) Error() string { return e.core().Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// LogValue shows an Error to slog as a group.
func (e *Error) LogValue() slog.Value { return e.core().LogValue() }

func (e *Error) core() *transport.Error { return (*transport.Error)(e) }

// Is matches the Err values of this package.
func (e *Error) Is(target error) bool { return e.core().Meets(conditions, target) }

var conditions = map[error]transport.Condition{
	ErrBadRequest:   transport.Status(http.StatusBadRequest),
	ErrUnauthorized: transport.Either(transport.Status(http.StatusUnauthorized), transport.Cause(transport.ErrNoCredentials), unknownAccount),
	ErrForbidden:    transport.Forbidden,
	ErrNotFound:     transport.Status(http.StatusNotFound),
	ErrNotAllowed:   transport.Status(http.StatusMethodNotAllowed),
	ErrNotModified:  transport.Status(http.StatusNotModified),
	ErrRedirect:     transport.But(redirect, transport.Status(http.StatusNotModified)),
	ErrNoFormat:     transport.Status(http.StatusNotAcceptable),
	ErrConflict:     transport.Either(transport.Status(http.StatusConflict), exists),
	ErrTooLarge:     transport.TooLarge,
	ErrInvalid:      transport.Status(http.StatusUnprocessableEntity),
	ErrRateLimited:  transport.RateLimited,
	ErrServer:       transport.ServerFailed,
	ErrUnreadable:   transport.Unreadable,
	ErrUnclear:      transport.Unclear,
}

func redirect(e *transport.Error) bool { return e.StatusCode/100 == 3 }

// unknownAccount recognises the answer to a login of no repository: to write to a DOI
// that there is not makes one.
func unknownAccount(e *transport.Error) bool {
	return e.StatusCode == http.StatusNotFound && (e.Method == http.MethodPost || e.Method == http.MethodPut)
}

// exists recognises the other answer to a DOI that exists.
func exists(e *transport.Error) bool {
	return e.StatusCode == http.StatusUnprocessableEntity && strings.Contains(e.Message, "already been taken")
}

// Temporary says whether an operation that ended with err may succeed later:
// the network or the service failed, or the service was overloaded. The client
// has already sent the request several times if that was safe. If err matches
// [ErrUnclear] too, look before you repeat [Client.Create].
func Temporary(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.core().Temporary()
}

// A FieldError is a fault in what the caller gave, found before anything was
// sent. It matches [ErrInvalid], and [ErrInvalidDOI] if the fault is in a DOI
// name.
type FieldError struct {
	Path   string // the parameter or option, such as "doi" or "ListOptions.Created"
	Reason string // what is wrong and what would be right

	badDOI bool
	err    error
}

// Error names the place and the fault.
func (e *FieldError) Error() string { return fmt.Sprintf("dois: %s %s", e.Path, e.Reason) }

// Unwrap returns the fault in the words of the package that found it, such as a
// [*query.Error]; often nil.
func (e *FieldError) Unwrap() error { return e.err }

// Is matches [ErrInvalid] and, for a DOI name, [ErrInvalidDOI].
func (e *FieldError) Is(target error) bool {
	return target == ErrInvalid || target == ErrInvalidDOI && e.badDOI
}

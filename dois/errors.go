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
	// datacite.ErrBadRequest: the service could not read the request, such as a query with
	// a syntax error (400).
	datacite.ErrBadRequest = errors.New("dois: bad request")
	// datacite.ErrUnauthorized: the login is not accepted, or a write was asked of a client
	// without one (401). The deployed service answers 404 to an account that it does not
	// know when it is to write a new DOI, which is this error and datacite.ErrNotFound.
	datacite.ErrUnauthorized = errors.New("dois: login missing or not accepted")
	// datacite.ErrForbidden: the account may not do that (403).
	datacite.ErrForbidden = errors.New("dois: forbidden")
	// datacite.ErrNotFound: there is no such DOI, or it is not public and the account may
	// not see it (404).
	datacite.ErrNotFound = errors.New("dois: DOI not found")
	// datacite.ErrNotAllowed: the DOI is not in a state that allows this, such as deleting
	// a DOI that is not a draft (405).
	datacite.ErrNotAllowed = errors.New("dois: not allowed in this state")
	// datacite.ErrConflict: the DOI exists already (409, or a 422 that says so), or it was
	// changed since the audit that Client.Repair works from.
	datacite.ErrConflict = errors.New("dois: DOI exists already")
	// datacite.ErrTooLarge: the service refuses a body of that size (413), or the answer
	// takes more than ClientOptions.MaxBody, holds more records than were asked for, or
	// one record of more than 16 MiB, which an archive must not hold either.
	datacite.ErrTooLarge = errors.New("dois: too large")
	// datacite.ErrInvalid: the input breaks a rule. It was found before sending
	// ([*datacite.FieldError]) or by the service (422).
	datacite.ErrInvalid = errors.New("dois: invalid input")
	// datacite.ErrInvalidDOI: a text is not a DOI name, or not one that may be registered.
	// It matches datacite.ErrInvalid too.
	datacite.ErrInvalidDOI = errors.New("dois: not a usable DOI name")
	// datacite.ErrRateLimited: too many requests, even after waiting if the request may be
	// sent twice (429, or a 403 whose body is a page of a gateway, as the deployed
	// service has answered). A write matches datacite.ErrUnclear, too.
	datacite.ErrRateLimited = errors.New("dois: rate limited")
	// datacite.ErrServer: the service failed (5xx).
	datacite.ErrServer = errors.New("dois: service failed")
	// datacite.ErrUnreadable: the service said success with an answer that is malformed, or an
	// archive is damaged ([*ArchiveError]).
	datacite.ErrUnreadable = errors.New("dois: answer cannot be understood")
	// ErrNotModified: the record is still the one of GetOptions.IfNoneMatch (304).
	ErrNotModified = errors.New("dois: not modified")
	// datacite.ErrRedirect: the service points to another address, which is not followed
	// (3xx).
	datacite.ErrRedirect = errors.New("dois: redirect not followed")
	// ErrNoFormat: the service does not write records in that format (406).
	ErrNoFormat = errors.New("dois: no such format")
	// datacite.ErrIncomplete: a walk could not see every record that the service counts;
	// see [*IncompleteError] and [*OrderError].
	datacite.ErrIncomplete = errors.New("dois: walk is incomplete")
	// datacite.ErrUnclear: something was sent and it is not known whether the service
	// carried it out: the answer got lost or is malformed, or it is a 429
	// (datacite.ErrRateLimited, too), 5xx (datacite.ErrServer, too) or 408, which a
	// gateway may give while the service goes on with the work. Look before
	// sending it again.
	datacite.ErrUnclear = errors.New("dois: outcome unknown")
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
func (e *datacite.Error) Error() string { return e.core().Error() }

// Unwrap returns Err.
func (e *datacite.Error) Unwrap() error { return e.Err }

// LogValue shows an Error to slog as a group.
func (e *datacite.Error) LogValue() slog.Value { return e.core().LogValue() }

func (e *datacite.Error) core() *datacite.Error { return (*datacite.Error)(e) }

// Is matches the Err values of this package.
func (e *datacite.Error) Is(target error) bool { return e.core().Meets(conditions, target) }

var conditions = map[error]transport.Condition{
	datacite.ErrBadRequest:   transport.Status(http.StatusBadRequest),
	datacite.ErrUnauthorized: transport.Either(transport.Status(http.StatusUnauthorized), transport.Cause(transport.ErrNoCredentials), unknownAccount),
	datacite.ErrForbidden:    transport.Forbidden,
	datacite.ErrNotFound:     transport.Status(http.StatusNotFound),
	datacite.ErrNotAllowed:   transport.Status(http.StatusMethodNotAllowed),
	ErrNotModified:  transport.Status(http.StatusNotModified),
	datacite.ErrRedirect:     transport.But(redirect, transport.Status(http.StatusNotModified)),
	ErrNoFormat:     transport.Status(http.StatusNotAcceptable),
	datacite.ErrConflict:     transport.Either(transport.Status(http.StatusConflict), exists),
	datacite.ErrTooLarge:     transport.TooLarge,
	datacite.ErrInvalid:      transport.Status(http.StatusUnprocessableEntity),
	datacite.ErrRateLimited:  transport.RateLimited,
	datacite.ErrServer:       transport.ServerFailed,
	datacite.ErrUnreadable:   transport.Unreadable,
	datacite.ErrUnclear:      transport.Unclear,
}

func redirect(e *datacite.Error) bool { return e.StatusCode/100 == 3 }

// unknownAccount recognises the answer to a login of no repository: to write to a DOI
// that there is not makes one.
func unknownAccount(e *datacite.Error) bool {
	return e.StatusCode == http.StatusNotFound && (e.Method == http.MethodPost || e.Method == http.MethodPut)
}

// exists recognises the other answer to a DOI that exists.
func exists(e *datacite.Error) bool {
	return e.StatusCode == http.StatusUnprocessableEntity && strings.Contains(e.Message, "already been taken")
}

// Temporary says whether an operation that ended with err may succeed later:
// the network or the service failed, or the service was overloaded. The client
// has already sent the request several times if that was safe. If err matches
// [datacite.ErrUnclear] too, look before you repeat [Client.Create].
func Temporary(err error) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && e.core().Temporary()
}

// A datacite.FieldError is a fault in what the caller gave, found before anything was
// sent. It matches [datacite.ErrInvalid], and [datacite.ErrInvalidDOI] if the fault is in a DOI
// name.
type datacite.FieldError struct {
	Path   string // the parameter or option, such as "doi" or "ListOptions.Created"
	Reason string // what is wrong and what would be right

	badDOI bool
	err    error
}

// Error names the place and the fault.
func (e *datacite.FieldError) Error() string { return fmt.Sprintf("dois: %s %s", e.Path, e.Reason) }

// Unwrap returns the fault in the words of the package that found it, such as a
// [*query.Error]; often nil.
func (e *datacite.FieldError) Unwrap() error { return e.err }

// Is matches [datacite.ErrInvalid] and, for a DOI name, [datacite.ErrInvalidDOI].
func (e *datacite.FieldError) Is(target error) bool {
	return target == datacite.ErrInvalid || target == datacite.ErrInvalidDOI && e.badDOI
}

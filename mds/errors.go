package mds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// Conditions to ask for with errors.Is. The status codes are those of
// specification §4.3 and §7 and, where the deployed service differs, its own.
var (
	// ErrBadRequest: the body of PutURL is not understood, or the domain or the
	// prefix is wrong (400).
	ErrBadRequest = errors.New("mds: bad request")
	// ErrUnauthorized: the service does not accept the login (401). The deployed
	// service answers 404 to an account that it does not know at all, when it is to
	// write a new DOI.
	ErrUnauthorized = errors.New("mds: login not accepted")
	// ErrForbidden: the prefix is not assigned to the account, the DOI belongs to
	// another account, or another permission problem (403). The deployed service
	// responds the same, before or after the work, when it has lost the service behind
	// it. So the client treats it like a failure of the service: it sends the request
	// again, up to ClientOptions.MaxAttempts times in all (MintOnServer and AddMedium
	// once), and then the error is Temporary and, for a write, ErrUnclear, too.
	ErrForbidden = errors.New("mds: forbidden")
	// ErrNotFound: there is no such DOI, or none that the account may see (404).
	ErrNotFound = errors.New("mds: DOI not found")
	// ErrNotAllowed: the DOI is not in a state that allows this, such as deleting
	// a DOI that is not a draft (405).
	ErrNotAllowed = errors.New("mds: not allowed in this state")
	// ErrMetadataMissing: PutURL came before PutMetadata (412, or a 422 that says
	// "Can't be blank").
	ErrMetadataMissing = errors.New("mds: metadata must be uploaded first")
	// ErrTooLarge: the service refuses a body of that size (413), or the answer
	// is longer than ClientOptions.MaxBody.
	ErrTooLarge = errors.New("mds: too large")
	// ErrMediaType: the service does not take that Content-Type, or does not
	// recognise the format of the metadata (415).
	ErrMediaType = errors.New("mds: wrong content type")
	// ErrTimeout: the service gave up waiting for the one behind it (408).
	ErrTimeout = errors.New("mds: service timed out")
	// ErrInvalid: the metadata or the DOI break a rule. It was found before
	// sending ([*FieldError]) or by the service (422, or a 200 that says so).
	// Error.Details then say where.
	ErrInvalid = errors.New("mds: invalid input")
	// ErrInvalidDOI: a text is not a DOI name, or not one that may be registered.
	// It matches ErrInvalid too.
	ErrInvalidDOI = errors.New("mds: not a usable DOI name")
	// ErrNoMetadata: the DOI is known and has no metadata (204).
	ErrNoMetadata = errors.New("mds: no metadata registered")
	// ErrNoURL: the DOI is known and has no URL yet (204).
	ErrNoURL = errors.New("mds: no URL registered")
	// ErrRateLimited: too many requests, even after waiting if the request may be
	// sent twice (429, or a 403 whose body is a page of a gateway, as the deployed
	// service has answered). A write matches ErrUnclear, too.
	ErrRateLimited = errors.New("mds: rate limited")
	// ErrServer: the service failed (5xx).
	ErrServer = errors.New("mds: service failed")
	// ErrUnreadable: the service said success with an answer that is malformed.
	ErrUnreadable = errors.New("mds: answer cannot be understood")
	// ErrIncomplete: the service returned as many entries as it ever does, and
	// there may be more. Those entries come with the error.
	ErrIncomplete = errors.New("mds: list may be incomplete")
	// ErrGarbled: what was read is not what is stored. The deployed service puts a "?"
	// for each byte of every character beyond ASCII in what it reads out; what it
	// stores is right. The text comes with the error. A text that really has "??"
	// gives the same error. Client.XML of package dois reads both unharmed.
	ErrGarbled = errors.New(`mds: "?" may stand for characters beyond ASCII`)
	// ErrUnclear: something was sent and it is not known whether the service
	// carried it out: the answer got lost or is malformed, or it is a 403
	// (ErrForbidden, too), 429 (ErrRateLimited, too), 5xx (ErrServer, too) or 408
	// (ErrTimeout, too), which may be given while the service goes on with the work.
	// Look before sending it again.
	ErrUnclear = errors.New("mds: outcome unknown")
)

// An Error is a request that did not succeed: what was asked, where, and why.
type Error struct {
	Op         string   // such as "mds.PutURL"
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
	Field   string // the element of the metadata, or the field; may be empty
	Message string
	Line    int // in the metadata that were sent, from 1; 0 if the service names none
	Column  int // from 0, as the service counts; the schema validator often leaves it at 0
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
	ErrBadRequest:      transport.Status(http.StatusBadRequest),
	ErrUnauthorized:    transport.Either(transport.Status(http.StatusUnauthorized), transport.Cause(errUnknownAccount)),
	ErrForbidden:       transport.Forbidden,
	ErrNotFound:        transport.But(transport.Status(http.StatusNotFound), transport.Cause(errUnknownAccount), transport.Cause(errForeignFormat)),
	ErrNotAllowed:      transport.Status(http.StatusMethodNotAllowed),
	ErrMetadataMissing: metadataMissing,
	ErrTooLarge:        transport.TooLarge,
	ErrMediaType:       transport.Status(http.StatusUnsupportedMediaType),
	ErrTimeout:         transport.Status(http.StatusRequestTimeout),
	ErrInvalid:         transport.Either(transport.But(transport.Status(http.StatusUnprocessableEntity), metadataMissing), transport.Cause(errForeignFormat)),
	ErrRateLimited:     transport.RateLimited,
	ErrServer:          transport.ServerFailed,
	ErrUnreadable:      transport.Unreadable,
	ErrUnclear:         transport.Unclear,
}

// metadataMissing recognises the two answers to a URL without metadata: that of
// the specification, and that of the deployed service, whose complaint is about
// the title, the creators and so on of an empty record.
func metadataMissing(e *transport.Error) bool {
	return e.StatusCode == http.StatusPreconditionFailed ||
		e.StatusCode == http.StatusUnprocessableEntity && e.Op == opPutURL && strings.HasPrefix(e.Message, "Can't be blank")
}

// Two things that the deployed service may mean by 404 when it is to make a DOI,
// which cannot be what it does not find.
var (
	errUnknownAccount = errors.New("the service says so to an account that it does not know")
	errForeignFormat  = errors.New("the service says so if it finds no DOI in the metadata, and to an account that it does not know")
)

// notMade explains a 404 to a request that makes or changes a DOI.
func notMade(err error, why error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.StatusCode == http.StatusNotFound {
		e.Err = why
		e.Message += " (" + why.Error() + ")"
	}
	return err
}

// errOtherDOI: the service stored the metadata under another name than it was
// given. To send them again would make another one.
var errOtherDOI = errors.New("another DOI was made or changed")

// Temporary says whether an operation that ended with err may succeed later:
// the network or the service failed, or the service was overloaded. An error that
// matches [ErrForbidden] may be either that or a refusal for good. The client
// has already sent the request several times if that was safe. If err matches
// [ErrUnclear] too, look before you repeat [Client.MintOnServer] or
// [Client.AddMedium].
func Temporary(err error) bool {
	if e, ok := errors.AsType[*RetriedError](err); ok {
		err = e.Err
	}
	switch {
	case errors.Is(err, errOtherDOI):
		return false
	case errors.Is(err, errStored):
		return true
	case errors.Is(err, context.Canceled):
		return false // the caller did not want to wait
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.core().Temporary()
	}
	return errors.Is(err, ErrUnconfirmed) || errors.Is(err, ErrNotResolved)
}

// A FieldError is a fault in what the caller gave, found before anything was
// sent. It matches [ErrInvalid], and [ErrInvalidDOI] if the fault is in a DOI
// name.
type FieldError struct {
	Path   string // the parameter or option, such as "doi"
	Reason string // what is wrong and what would be right

	badDOI bool
}

// Error names the place and the fault.
func (e *FieldError) Error() string { return fmt.Sprintf("mds: %s %s", e.Path, e.Reason) }

// Is matches [ErrInvalid] and, for a DOI name, [ErrInvalidDOI].
func (e *FieldError) Is(target error) bool {
	return target == ErrInvalid || target == ErrInvalidDOI && e.badDOI
}

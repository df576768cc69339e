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
	// datacite.ErrBadRequest: the body of PutURL is not understood, or the domain or the
	// prefix is wrong (400).
	datacite.ErrBadRequest = errors.New("mds: bad request")
	// datacite.ErrUnauthorized: the service does not accept the login (401). The deployed
	// service answers 404 to an account that it does not know at all, when it is to
	// write a new DOI.
	datacite.ErrUnauthorized = errors.New("mds: login not accepted")
	// datacite.ErrForbidden: the prefix is not assigned to the account, the DOI belongs to
	// another account, or another permission problem (403). The deployed service
	// says the same, sometimes after the work is done, when it loses the service
	// behind it. So the client repeats a refused request up to ten times, while the
	// service answers other requests, before it returns this error. Where it cannot
	// repeat the request (MintOnServer, AddMedium, MaxAttempts 1), or the answers
	// differ, the error is Temporary instead and, for a write, datacite.ErrUnclear.
	datacite.ErrForbidden = errors.New("mds: forbidden")
	// datacite.ErrNotFound: there is no such DOI, or none that the account may see (404).
	datacite.ErrNotFound = errors.New("mds: DOI not found")
	// datacite.ErrNotAllowed: the DOI is not in a state that allows this, such as deleting
	// a DOI that is not a draft (405).
	datacite.ErrNotAllowed = errors.New("mds: not allowed in this state")
	// ErrMetadataMissing: PutURL came before PutMetadata (412, or a 422 that says
	// "Can't be blank").
	ErrMetadataMissing = errors.New("mds: metadata must be uploaded first")
	// datacite.ErrTooLarge: the service refuses a body of that size (413), or the answer
	// is longer than ClientOptions.MaxBody.
	datacite.ErrTooLarge = errors.New("mds: too large")
	// datacite.ErrMediaType: the service does not take that Content-Type, or does not
	// recognise the format of the metadata (415).
	datacite.ErrMediaType = errors.New("mds: wrong content type")
	// ErrTimeout: the service gave up waiting for the one behind it (408).
	ErrTimeout = errors.New("mds: service timed out")
	// datacite.ErrInvalid: the metadata or the DOI break a rule. It was found before
	// sending ([*datacite.FieldError]) or by the service (422, or a 200 that says so).
	// Error.Details then say where.
	datacite.ErrInvalid = errors.New("mds: invalid input")
	// datacite.ErrInvalidDOI: a text is not a DOI name, or not one that may be registered.
	// It matches datacite.ErrInvalid too.
	datacite.ErrInvalidDOI = errors.New("mds: not a usable DOI name")
	// ErrNoMetadata: the DOI is known and has no metadata (204).
	ErrNoMetadata = errors.New("mds: no metadata registered")
	// ErrNoURL: the DOI is known and has no URL yet (204).
	ErrNoURL = errors.New("mds: no URL registered")
	// datacite.ErrRateLimited: too many requests, even after waiting if the request may be
	// sent twice (429, or a 403 whose body is a page of a gateway, as the deployed
	// service has answered). A write matches datacite.ErrUnclear, too.
	datacite.ErrRateLimited = errors.New("mds: rate limited")
	// datacite.ErrServer: the service failed (5xx).
	datacite.ErrServer = errors.New("mds: service failed")
	// datacite.ErrUnreadable: the service said success with an answer that is malformed.
	datacite.ErrUnreadable = errors.New("mds: answer cannot be understood")
	// datacite.ErrIncomplete: the service returned as many entries as it ever does, and
	// there may be more. Those entries come with the error.
	datacite.ErrIncomplete = errors.New("mds: list may be incomplete")
	// ErrGarbled: what was read is not what is stored. The deployed service puts a "?"
	// for each byte of every character beyond ASCII in what it reads out; what it
	// stores is right. The text comes with the error. A text that really has "??"
	// gives the same error. Client.XML of package dois reads both unharmed.
	ErrGarbled = errors.New(`mds: "?" may stand for characters beyond ASCII`)
	// datacite.ErrUnclear: something was sent and it is not known whether the service
	// carried it out: the answer got lost or is malformed, or it is a 429
	// (datacite.ErrRateLimited, too), 5xx (datacite.ErrServer, too) or 408 (ErrTimeout, too), which a
	// gateway may give while the service goes on with the work. Look before
	// sending it again.
	datacite.ErrUnclear = errors.New("mds: outcome unknown")
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
func (e *datacite.Error) Error() string { return e.core().Error() }

// Unwrap returns Err.
func (e *datacite.Error) Unwrap() error { return e.Err }

// LogValue shows an Error to slog as a group.
func (e *datacite.Error) LogValue() slog.Value { return e.core().LogValue() }

func (e *datacite.Error) core() *datacite.Error { return (*datacite.Error)(e) }

// Is matches the Err values of this package.
func (e *datacite.Error) Is(target error) bool { return e.core().Meets(conditions, target) }

var conditions = map[error]transport.Condition{
	datacite.ErrBadRequest:      transport.Status(http.StatusBadRequest),
	datacite.ErrUnauthorized:    transport.Either(transport.Status(http.StatusUnauthorized), transport.Cause(errUnknownAccount)),
	datacite.ErrForbidden:       transport.But(transport.Forbidden, transport.Cause(errUnproven)),
	datacite.ErrNotFound:        transport.But(transport.Status(http.StatusNotFound), transport.Cause(errUnknownAccount), transport.Cause(errForeignFormat)),
	datacite.ErrNotAllowed:      transport.Status(http.StatusMethodNotAllowed),
	ErrMetadataMissing: metadataMissing,
	datacite.ErrTooLarge:        transport.TooLarge,
	datacite.ErrMediaType:       transport.Status(http.StatusUnsupportedMediaType),
	ErrTimeout:         transport.Status(http.StatusRequestTimeout),
	datacite.ErrInvalid:         transport.Either(transport.But(transport.Status(http.StatusUnprocessableEntity), metadataMissing), transport.Cause(errForeignFormat)),
	datacite.ErrRateLimited:     transport.RateLimited,
	datacite.ErrServer:          transport.ServerFailed,
	datacite.ErrUnreadable:      transport.Unreadable,
	datacite.ErrUnclear:         transport.Unclear,
}

// metadataMissing recognises the two answers to a URL without metadata: that of
// the specification, and that of the deployed service, whose complaint is about
// the title, the creators and so on of an empty record.
func metadataMissing(e *datacite.Error) bool {
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
	if e, ok := errors.AsType[*datacite.Error](err); ok && e.StatusCode == http.StatusNotFound {
		e.Err = why
		e.Message += " (" + why.Error() + ")"
	}
	return err
}

// errOtherDOI: the service stored the metadata under another name than it was
// given. To send them again would make another one.
var errOtherDOI = errors.New("another DOI was made or changed")

// Temporary says whether an operation that ended with err may succeed later:
// the network or the service failed, or the service was overloaded. The client
// has already sent the request several times if that was safe. If err matches
// [datacite.ErrUnclear] too, look before you repeat [Client.MintOnServer] or
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
	if e, ok := errors.AsType[*datacite.Error](err); ok {
		return e.core().Temporary() || errors.Is(e.Err, errUnproven)
	}
	return errors.Is(err, ErrUnconfirmed) || errors.Is(err, ErrNotResolved)
}

// A datacite.FieldError is a fault in what the caller gave, found before anything was
// sent. It matches [datacite.ErrInvalid], and [datacite.ErrInvalidDOI] if the fault is in a DOI
// name.
type datacite.FieldError struct {
	Path   string // the parameter or option, such as "doi"
	Reason string // what is wrong and what would be right

	badDOI bool
}

// Error names the place and the fault.
func (e *datacite.FieldError) Error() string { return fmt.Sprintf("mds: %s %s", e.Path, e.Reason) }

// Is matches [datacite.ErrInvalid] and, for a DOI name, [datacite.ErrInvalidDOI].
func (e *datacite.FieldError) Is(target error) bool {
	return target == datacite.ErrInvalid || target == datacite.ErrInvalidDOI && e.badDOI
}

package reports

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// Conditions to ask for with errors.Is. The status codes are those of
// specification §7 and, where the deployed service differs, its own.
var (
	// datacite.ErrBadRequest: the service could not read the request (400).
	datacite.ErrBadRequest = errors.New("reports: bad request")
	// datacite.ErrUnauthorized: no token, or one that the service does not accept (401).
	// A client without a token fails with it before anything is sent.
	datacite.ErrUnauthorized = errors.New("reports: no token, or not an accepted one")
	// ErrTokenExpired: the token's time is over (403, or 401 when the token's own
	// expiry has passed). Ask the operator for a new one.
	ErrTokenExpired = errors.New("reports: token expired")
	// datacite.ErrForbidden: the service refuses this account (403).
	datacite.ErrForbidden = errors.New("reports: forbidden")
	// datacite.ErrNotFound: there is no report with that id (404).
	datacite.ErrNotFound = errors.New("reports: report not found")
	// datacite.ErrConflict: another report, or another account, holds this creator and
	// month (409), or what is stored under the id belongs to another account.
	datacite.ErrConflict = errors.New("reports: report exists elsewhere")
	// datacite.ErrTooLarge: the service refuses a body of that size (413), or what it
	// answers is too large: it takes more than ClientOptions.MaxBody, a stored report
	// has more than ClientOptions.MaxReport, one dataset more than 16 MiB.
	datacite.ErrTooLarge = errors.New("reports: too large")
	// datacite.ErrMediaType: the service did not get the Content-Type it asks for (415).
	datacite.ErrMediaType = errors.New("reports: wrong content type")
	// datacite.ErrInvalid: the input breaks a rule of the specification. It was found
	// before sending ([*datacite.FieldError]) or by the service (422).
	datacite.ErrInvalid = errors.New("reports: invalid input")
	// datacite.ErrRateLimited: too many requests, even after waiting if the request may be
	// sent twice (429, or a 403 whose body is a page of a gateway, as the deployed
	// service has answered). A write matches datacite.ErrUnclear, too.
	datacite.ErrRateLimited = errors.New("reports: rate limited")
	// datacite.ErrServer: the service failed (5xx).
	datacite.ErrServer = errors.New("reports: service failed")
	// datacite.ErrUnreadable: the service said success with an answer that is malformed.
	datacite.ErrUnreadable = errors.New("reports: answer cannot be understood")
	// datacite.ErrIncomplete: a walk through the list, or a stored report, misses something.
	datacite.ErrIncomplete = errors.New("reports: incomplete")
	// ErrBusy: another run on this machine is submitting the report, or another
	// program writes to it.
	ErrBusy = errors.New("reports: another program writes to this report")
	// ErrBroken: the service can no longer read a report that it stored. Only its
	// operator can help: send the id and the request id.
	ErrBroken = errors.New("reports: stored report is broken")
	// datacite.ErrUnclear: something was sent and it is not known whether the service
	// carried it out: the answer got lost or is malformed, or it is a 429
	// (datacite.ErrRateLimited, too), 5xx (datacite.ErrServer, too) or 408, which a
	// gateway may give while the service goes on with the work. Look before
	// sending it again.
	datacite.ErrUnclear = errors.New("reports: outcome unknown")
)

// An Error is a request that did not succeed: what was asked, where, and why.
type Error struct {
	Op         string   // such as "reports.Put"
	Method     string   // HTTP method
	URL        string   // address, without credentials
	StatusCode int      // HTTP status; 0 if there was no answer
	Message    string   // the best text found in the answer, or the network's
	Details    []Detail // faults that the service names one by one
	Body       []byte   // the answer's first 64 KiB, credentials removed
	RequestID  string   // quote it when you ask the operator; "" if nothing was sent
	Attempts   int      // how often the request was sent
	Unclear    bool     // the service may have carried the request out
	Err        error    // what failed below HTTP, such as a lost connection, or ErrTokenExpired; may be nil
}

// A Detail is one fault that the service names.
type Detail = struct {
	Field   string // such as "#/report-datasets/0/yop"; may be empty
	Message string
	Line    int // in what was sent, from 1; 0 if the service names none
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
	datacite.ErrUnauthorized: transport.Either(transport.Status(http.StatusUnauthorized), missingToken),
	datacite.ErrForbidden:    transport.Forbidden,
	datacite.ErrNotFound:     transport.Status(http.StatusNotFound),
	datacite.ErrConflict:     transport.Status(http.StatusConflict),
	datacite.ErrTooLarge:     transport.TooLarge,
	datacite.ErrMediaType:    transport.Status(http.StatusUnsupportedMediaType),
	datacite.ErrInvalid:      transport.But(transport.Status(http.StatusUnprocessableEntity), missingToken),
	datacite.ErrRateLimited:  transport.RateLimited,
	datacite.ErrServer:       transport.ServerFailed,
	datacite.ErrUnreadable:   transport.Unreadable,
	datacite.ErrUnclear:      transport.Unclear,
}

// missingToken recognises a request without a token, of which the deployed
// service makes a 422 with the words of its programming language.
func missingToken(e *datacite.Error) bool {
	return errors.Is(e.Err, transport.ErrNoCredentials) ||
		e.StatusCode == http.StatusUnprocessableEntity && strings.Contains(e.Message, "uid") && strings.Contains(e.Message, "nil")
}

// Temporary says whether an operation that ended with err may succeed later:
// the network or the service failed, the service was overloaded, or another run
// is submitting the report. Repeating is safe for all methods: [Client.Submit]
// looks first and goes on.
func Temporary(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrBroken) {
		return false
	}
	if errors.Is(err, ErrBusy) {
		return true
	}
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && e.core().Temporary()
}

// A datacite.FieldError is a fault in what the caller gave, found before anything was
// sent. It matches [datacite.ErrInvalid].
type datacite.FieldError struct {
	Path   string // such as "report-datasets[3].performance[0].instance[1].metric-type"
	Reason string // what is wrong and what would be right
}

// Error names the place and the fault.
func (e *datacite.FieldError) Error() string { return fmt.Sprintf("reports: %s %s", e.Path, e.Reason) }

// Is matches [datacite.ErrInvalid].
func (e *datacite.FieldError) Is(target error) bool { return target == datacite.ErrInvalid }

// A ValidationError is every fault found in a report, in the order of the
// report. It matches [datacite.ErrInvalid]; errors.AsType finds the first [*datacite.FieldError].
type ValidationError struct{ Faults []*datacite.FieldError }

// Error lists the first faults and counts the rest.
func (e *ValidationError) Error() string {
	const most = 5
	var b strings.Builder
	fmt.Fprintf(&b, "reports: %d faults", len(e.Faults))
	if len(e.Faults) == 1 {
		return e.Faults[0].Error()
	}
	for i, f := range e.Faults {
		if i == most && len(e.Faults) > most+1 {
			fmt.Fprintf(&b, "; and %d more", len(e.Faults)-most)
			break
		}
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep + f.Path + " " + f.Reason)
	}
	return b.String()
}

// Is matches [datacite.ErrInvalid].
func (e *ValidationError) Is(target error) bool { return target == datacite.ErrInvalid }

// Unwrap returns the faults.
func (e *ValidationError) Unwrap() []error {
	return slices.Collect(func(yield func(error) bool) {
		for _, f := range e.Faults {
			if !yield(f) {
				return
			}
		}
	})
}

// A SubmitState says what a failed submission left behind.
type SubmitState string

// The states that a failed submission can leave.
const (
	// Untouched: the service refused the first subset. The report is as it was,
	// except that the deployed service drops the old data of a report before it
	// refuses some faults of the header.
	Untouched SubmitState = "untouched"
	// Incomplete: exactly Stored is stored. Run Submit again; it goes on.
	Incomplete SubmitState = "incomplete"
	// Unclear: the subset after Stored may be stored too, and if Stored is empty,
	// what was there before may be gone. Run Submit again; it waits until the last
	// request is surely over, and looks.
	Unclear SubmitState = "unclear"
	// Disturbed: something other than this submission is stored, too. Make sure
	// that no other program submits this report, and run Submit again; it starts
	// over.
	Disturbed SubmitState = "disturbed"
	// Broken: the service can no longer read the report. Ask its operator, with
	// the id of the report and of the request.
	Broken SubmitState = "broken"
)

// advice is what to do in each state.
var advice = map[SubmitState]string{
	Untouched:  "nothing was stored; mend the cause and run it again",
	Incomplete: "run it again to go on",
	Unclear:    "run it again; it waits and looks first",
	Disturbed:  "make sure that no other program submits this report, then run it again to start over",
	Broken:     "ask the operator of the service, with the ids of the report and of the request",
}

// A SubmitError is a submission that stopped after something was sent. It says what
// the service holds. Until Submit succeeds, the report is not what it should be.
type SubmitError struct {
	ReportID string
	State    SubmitState
	Stored   []Subset // of this submission, as confirmed or seen
	Datasets int64    // in Stored
	Total    int      // subsets of the whole report; 0 if that is not known
	Err      error    // what stopped the submission
}

// Error says what is stored, what is not, and what to do.
func (e *SubmitError) Error() string {
	of := ""
	if e.Total > 0 {
		of = fmt.Sprintf(" of %d", e.Total)
	}
	return fmt.Sprintf("reports.Submit: report %s is %s: %d%s subsets stored: %v (%s)", e.ReportID, e.State, len(e.Stored), of, e.Err, advice[e.State])
}

// As finds what stopped the submission, such as an [*datacite.Error].
func (e *SubmitError) As(target any) bool { return errors.As(e.Err, target) }

// Is matches [datacite.ErrIncomplete], [datacite.ErrUnclear], [ErrBusy] and [ErrBroken] in their
// states alone, and otherwise what stopped the submission: a lost answer, for one,
// makes a submission unclear only until its outcome could be looked up.
func (e *SubmitError) Is(target error) bool {
	switch target {
	case datacite.ErrIncomplete:
		return e.State != Untouched
	case datacite.ErrUnclear:
		return e.State == Unclear
	case ErrBusy:
		return e.State == Disturbed
	case ErrBroken:
		return e.State == Broken
	}
	return errors.Is(e.Err, target)
}

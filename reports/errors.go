package reports

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Error conditions of this interface only, for [errors.Is] like those of package datacite.
var (
	// ErrTokenExpired: the token has expired (403, or 401 if the token's own expiry
	// has passed). Ask the operator for a new one.
	ErrTokenExpired = transport.NewError("reports: token expired")
	// ErrRepeated: two rows count the same, or two datasets have the same DOI. It is the Err
	// of a [datacite.Finding]; MergeRepeats adds these counts up.
	ErrRepeated = transport.NewError("reports: counted twice")
	// ErrBusy: another run on this machine is submitting the report, or another
	// program writes to it.
	ErrBusy error = &transport.Condition{Text: "reports: another program writes to this report", Passes: true}
	// ErrBroken: the service cannot read a report that it stored, although it lists others.
	// Submit returns it after MaxOutage: then only the operator can help; give the report
	// id and the request id. Other methods return it at once, possibly because another
	// program is writing to the report; the error is then Temporary.
	ErrBroken error = &transport.Condition{Text: "reports: stored report is broken"}
)

// missingToken recognises the response of the deployed service to a request without a
// token: 422, with an error message of its programming language.
func missingToken(e *datacite.Error) bool {
	return e.StatusCode == http.StatusUnprocessableEntity && strings.Contains(e.Message, "uid' for nil")
}

// A LowerError means that a report has lower counts than the stored report that it would
// replace, and that SubmitOptions.RefuseLower is set. Nothing was sent. It matches
// [datacite.ErrConflict].
type LowerError struct {
	Stored int64         // counts of the stored report that DOI records show
	Lower  int64         // those of them that are lower in the new report, or missing
	First  []LowerNumber // the first of these, at most ten
}

// A LowerNumber is a count that would be replaced by a lower one, or is missing.
type LowerNumber struct {
	DOI         string // in lower case
	Metric      MetricType
	Stored, Now int64
}

// Error returns how many counts are lower, and the first of them.
func (e *LowerError) Error() string {
	text := fmt.Sprintf("the stored report has %d counts that DOI records show, and this one has less in %d", e.Stored,
		e.Lower)
	if len(e.First) > 0 {
		n := e.First[0]
		text += fmt.Sprintf(", such as the %s of %s: %d, not %d", n.Metric, n.DOI, n.Now, n.Stored)
	}
	return text + "; is a log missing?"
}

// Is matches [datacite.ErrConflict].
func (e *LowerError) Is(target error) bool { return target == datacite.ErrConflict }

// A SubmitState is the state of the stored report after a failed submission.
type SubmitState string

// The states after a failed submission.
const (
	// SubmitUntouched: the service refused the first subset. The report is unchanged, except that
	// for some faults of the header the deployed service drops the old data before it
	// refuses the request.
	SubmitUntouched SubmitState = "untouched"
	// SubmitIncomplete: exactly Stored is stored. Run Submit again to continue.
	SubmitIncomplete SubmitState = "incomplete"
	// SubmitUnclear: the subset after Stored may be stored too, and if Stored is empty, the old
	// report may be gone. Run Submit again; it waits until the last request has certainly
	// ended, and reads the stored report.
	SubmitUnclear SubmitState = "unclear"
	// SubmitDisturbed: the service also holds other data. Make sure that no other program submits
	// this report, and run Submit again; it starts over.
	SubmitDisturbed SubmitState = "disturbed"
	// SubmitBroken: the service can no longer read the report. Ask its operator, with
	// the id of the report and of the request.
	SubmitBroken SubmitState = "broken"
)

// advice is what to do in each state.
var advice = map[SubmitState]string{
	SubmitUntouched:  "nothing was stored; correct the cause and run it again",
	SubmitIncomplete: "run it again to continue",
	SubmitUnclear:    "run it again; it waits and looks first",
	SubmitDisturbed:  "make sure that no other program submits this report, then run it again to start over",
	SubmitBroken:     "ask the operator of the service, with the ids of the report and of the request",
}

// A SubmitError describes a submission that stopped after a request was sent, and what the
// service holds. Until Submit succeeds, the stored report is not the submitted one.
type SubmitError struct {
	ReportID string
	State    SubmitState
	Stored   []Subset // subsets of this submission that are stored, as confirmed by a response or read back
	Datasets int64    // in Stored
	Total    int      // subsets of the whole report; 0 if that is not known
	Err      error    // what stopped the submission
}

// Error returns how much is stored, the cause, and what to do.
func (e *SubmitError) Error() string {
	of := ""
	if e.Total > 0 {
		of = fmt.Sprintf(" of %d", e.Total)
	}
	return fmt.Sprintf("reports.Submit: report %s is %s: %d%s subsets stored: %v (%s)", e.ReportID, e.State, len(e.Stored),
		of, e.Err, advice[e.State])
}

// Transient reports whether the submission may succeed later; [datacite.Temporary] calls
// it.
func (e *SubmitError) Transient() bool {
	return e.State == SubmitDisturbed || e.State != SubmitBroken && datacite.Temporary(e.Err)
}

// As finds the error that stopped the submission, such as an [*datacite.Error].
func (e *SubmitError) As(target any) bool { return errors.As(e.Err, target) }

// Is matches [datacite.ErrIncomplete], [datacite.ErrUnclear], [ErrBusy] and [ErrBroken]
// according to State alone, and other conditions as Err does: after a lost response, a
// submission is unclear only until Submit has read the stored report.
func (e *SubmitError) Is(target error) bool {
	switch target {
	case datacite.ErrIncomplete:
		return e.State != SubmitUntouched
	case datacite.ErrUnclear:
		return e.State == SubmitUnclear
	case ErrBusy:
		return e.State == SubmitDisturbed
	case ErrBroken:
		return e.State == SubmitBroken
	}
	return errors.Is(e.Err, target)
}

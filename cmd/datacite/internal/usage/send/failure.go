package send

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/source"
	"github.com/datacite-go/datacite-go/reports"
)

// explained is an error of a submission with what to do, and with its exit code.
func (c *command) explained(ctx context.Context, err error) error {
	if faults, ok := errors.AsType[*datacite.ValidationError](err); ok && !ofTheInput(err) &&
		!strings.HasPrefix(faults.Findings[0].Path, "Config.") {
		if faults.Findings[0].Code == reportedTwice {
			return shell.Refused(errors.New(whatOthersHave(faults.Findings)))
		}
		return shell.Wrong(errors.New(source.Listed(faults)))
	}
	if lower, ok := errors.AsType[*reports.LowerError](err); ok {
		return shell.Refused(errors.New(whatIsLower(lower)))
	}
	_, unverified := errors.AsType[*unverifiedError](err)
	stopped, sent := errors.AsType[*reports.SubmitError](err)
	unfinished := unfinished(ctx, err)
	lines := []string{shell.Message(err)}
	switch {
	case sent && unfinished:
		lines = append(lines, fmt.Sprintf("Stored in report %s: %s of %s, %s", stopped.ReportID,
			shell.Number(len(stopped.Stored)), shell.Count(stopped.Total, "subset"), shell.Count(stopped.Datasets, "dataset")))
	case !unverified:
		lines = append(lines, "This run changed nothing on the service.")
	}
	switch {
	case errors.Is(err, reports.ErrTokenExpired):
		lines = append(lines, "The token has expired; the operator of the service issues a new one.")
	case accountRefused(err):
		lines = append(lines, "The service does not accept the token for this report; its operator issues tokens. Is "+
			"DATACITE_TOKEN right?")
	case ofTheFolder(err) && !ofTheInput(err), !unfinished && !ofTheInput(err) && !refused(err):
		lines = append(lines, fmt.Sprintf(
			"Temporary files go to %s, which has to exist, to be this user's to write, and to have room; %s names another "+
				"folder. DATACITE_LOCK_DIR names another folder for locks, the same for all "+
				"runs.", os.TempDir(), shell.TempVariable))
	}
	if unfinished {
		lines = append(lines, advice(ctx, err)...)
	}
	if ctx.Err() != nil && !sent && !unverified {
		lines[0] = "nothing was sent"
	}
	text := strings.Join(lines, "\n")
	if ctx.Err() != nil && !ofTheInput(err) {
		return shell.Interrupted("%s", text)
	}
	return marked(err, text)
}

// whatIsLower lists what the stored report has and the new one lacks.
func whatIsLower(err *reports.LowerError) string {
	lines := []string{fmt.Sprintf("the stored report has %s that DOI records show, and this one has less in %s; nothing "+
		"was sent", shell.Count(err.Stored, "count"), shell.Number(err.Lower))}
	for _, n := range err.First {
		lines = append(lines, fmt.Sprintf("  %s, %s: %s, not %s", n.DOI, n.Metric, shell.Number(n.Now),
			shell.Number(n.Stored)))
	}
	if more := err.Lower - int64(len(err.First)); more > 0 {
		lines = append(lines, fmt.Sprintf("  and %s more", shell.Number(more)))
	}
	return strings.Join(append(lines,
		"A log may have been missing when it was counted; if this is the correction, add --allow-lower."), "\n")
}

// reportedTwice is the code of findings about other reports of the account.
const reportedTwice = datacite.Code(datacite.CodeReportedTwice)

// whatOthersHave lists the other reports of the month that have the same datasets.
func whatOthersHave(found []datacite.Finding) string {
	lines := []string{"the account has reported these datasets already, under another name; nothing was sent"}
	for _, f := range found {
		lines = append(lines, "  "+f.Reason)
	}
	return strings.Join(append(lines,
		"If that report counts the same accesses, datacite usage repair ACCOUNT FILE --replaces NAME sends this one and "+
			"sets the numbers of the other one to 0.",
		"If it counts others, add --allow-others."), "\n")
}

// advice says what to do after a submission that did not finish.
func advice(ctx context.Context, err error) []string {
	switch {
	case refused(err): // another run would end the same way
		return nil
	case errors.Is(err, reports.ErrBroken):
		return []string{"The service cannot read the report, and another run cannot fix that. Send its operator the id of " +
			"the report, and that of the request if there is one."}
	case ctx.Err() != nil:
		return []string{"Run the same command again to continue from what is stored."}
	case ofTheFolder(err):
		return []string{"Fix that, then run the same command again to continue from what is stored."}
	case errors.Is(err, reports.ErrBusy):
		return []string{"Another run submits this report. Wait until it has ended, then run the same command again: it " +
			"looks at what is stored."}
	}
	return []string{"The submission did not finish. Run the same command again to continue from what is stored; if the " +
		"service was never reached, check --service first."}
}

// unfinished tells a submission that another run may finish, from a fault of the input or of this
// machine, which it would not cure.
func unfinished(ctx context.Context, err error) bool {
	stopped, sent := errors.AsType[*reports.SubmitError](err)
	_, unverified := errors.AsType[*unverifiedError](err)
	switch {
	case ofTheInput(err):
		return false
	case unverified, sent && stopped.State != reports.SubmitUntouched:
		return true
	case sent && ofTheFolder(err):
		return false
	case ctx.Err() != nil, errors.Is(err, reports.ErrBusy):
		return true
	case accountRefused(err):
		return false
	case refused(err):
		return sent // the service may have dropped the old report by then
	}
	return ofTheService(err) // otherwise the folder is left, even where the error has no path
}

// marked is an error with a text and the exit code.
func marked(err error, text string) error {
	stopped, sent := errors.AsType[*reports.SubmitError](err)
	_, unverified := errors.AsType[*unverifiedError](err)
	told, cause := errors.New(text), err
	if sent {
		cause = stopped.Err // its own kind is the state of the report
	}
	switch {
	case ofTheInput(err), errors.Is(err, reports.ErrTokenExpired), errors.Is(err, datacite.ErrUnauthorized):
		return shell.Wrong(told)
	case errors.Is(err, reports.ErrBroken):
		return shell.Failed(told)
	case unverified, refused(err), errors.Is(err, datacite.ErrForbidden), errors.Is(err, reports.ErrBusy),
		ofTheFolder(err) && sent && stopped.State != reports.SubmitUntouched:
		return shell.Refused(told)
	case ofTheFolder(err):
		return shell.Wrong(told)
	case shell.Code(cause) == shell.ExitRefused:
		return shell.Refused(told)
	case ofTheService(err):
		return shell.Failed(told)
	}
	return shell.Wrong(told) // the folder is left, even where the error has no path
}

func ofTheInput(err error) bool {
	_, ok := errors.AsType[*source.Error](err)
	return ok
}

// refused tells whether the service does not take the report.
func refused(err error) bool {
	return errors.Is(err, datacite.ErrInvalid) || errors.Is(err, datacite.ErrConflict)
}

// ofTheFolder tells whether a file could not be written. Those that are read belong
// to the input, and come as a source.Error.
func ofTheFolder(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	return path || link
}

// ofTheService tells whether the service or the way to it is what stopped a submission that
// had not sent anything.
func ofTheService(err error) bool {
	if _, ok := errors.AsType[*datacite.Error](err); ok {
		return true
	}
	for _, condition := range []error{reports.ErrBroken, datacite.ErrIncomplete, datacite.ErrUnreadable,
		datacite.ErrTooLarge} {
		if errors.Is(err, condition) {
			return true
		}
	}
	return false
}

func accountRefused(err error) bool {
	return errors.Is(err, datacite.ErrUnauthorized) || errors.Is(err, reports.ErrTokenExpired) ||
		errors.Is(err, datacite.ErrForbidden)
}

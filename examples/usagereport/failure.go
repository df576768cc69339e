package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/reports"
)

// explained is an error of a submission with what to do, and with its exit code.
func explained(ctx context.Context, s *settings, err error) error {
	if faults, ok := errors.AsType[*datacite.ValidationError](err); ok && !ofTheInput(err) && !strings.HasPrefix(faults.Findings[0].Path, "Config.") {
		return program.Wrong(errors.New(listed(faults)))
	}
	mark := marking(ctx, err)
	_, unverified := errors.AsType[*unverifiedError](err)
	stopped, sent := errors.AsType[*reports.SubmitError](err)
	unfinished := program.Code(mark(err)) != program.ExitWrong
	lines := []string{err.Error()}
	switch {
	case sent && unfinished:
		lines = append(lines, fmt.Sprintf("Stored in report %s: %d of %d subsets, %d datasets", stopped.ReportID, len(stopped.Stored), stopped.Total, stopped.Datasets))
	case !unverified:
		lines = append(lines, "This run changed nothing on the service.")
	}
	switch {
	case errors.Is(err, reports.ErrTokenExpired):
		lines = append(lines, "The token in DATACITE_TOKEN has expired; the operator of the service issues a new one.")
	case accountRefused(err):
		lines = append(lines, "DATACITE_TOKEN holds no token that the service accepts for this report; its operator issues tokens.")
	case ofTheFolder(err) && !ofTheInput(err), !unfinished && !ofTheInput(err) && !refused(err):
		lines = append(lines, fmt.Sprintf("Temporary files go to %s, which has to exist, to be this user's to write, and to have room; TMPDIR names another folder. DATACITE_LOCK_DIR names another folder for locks, the same for all runs.", os.TempDir()))
	}
	if unfinished {
		lines = append(lines, advice(ctx, err)...)
	}
	if s.inMemory() {
		lines = append(lines, "This was in memory: no real service was sent anything, and nothing is stored.")
	}
	return mark(fmt.Errorf("%w%s", err, strings.TrimPrefix(strings.Join(lines, "\n"), lines[0])))
}

// listed are the faults of the input, with the cure if there is one.
func listed(faults *datacite.ValidationError) string {
	lines := []string{fmt.Sprintf("%d faults in the input; nothing was sent", len(faults.Findings))}
	switch n := len(faults.Findings); {
	case n == 1:
		lines[0] = "1 fault in the input; nothing was sent"
	case n >= mostFaults:
		lines[0] = fmt.Sprintf("faults in the input, the first %d; nothing was sent", n)
	}
	repeats := false
	for _, f := range faults.Findings {
		lines = append(lines, "  "+f.String())
		repeats = repeats || errors.Is(f.Err, reports.ErrRepeated)
	}
	if repeats {
		lines = append(lines, "-repeats merge adds up what is counted twice.")
	}
	return strings.Join(lines, "\n")
}

// advice says what to do after a submission that did not finish.
func advice(ctx context.Context, err error) []string {
	switch {
	case refused(err): // another run would end the same way
		return nil
	case errors.Is(err, reports.ErrBroken):
		return []string{"The service cannot read the report, and another run cannot fix that. Send its operator the id of the report, and that of the request if there is one."}
	case ctx.Err() != nil:
		return []string{"Interrupted. Run the same command again, and it goes on from what is stored."}
	case ofTheFolder(err):
		return []string{"Fix that, then run the same command again, and it goes on from what is stored."}
	case errors.Is(err, reports.ErrBusy):
		return []string{"Another run submits this report. Wait until it has ended, then run the same command again: it looks at what is stored."}
	}
	return []string{"The submission did not finish. Run the same command again, and it goes on from what is stored; if the service was never reached, check -api first."}
}

// marking chooses the exit code: it tells a fault of the input or of this machine, which
// another run would not cure, from a submission that stopped, and that from a service that
// failed before anything was changed.
func marking(ctx context.Context, err error) func(error) error {
	stopped, sent := errors.AsType[*reports.SubmitError](err)
	_, unverified := errors.AsType[*unverifiedError](err)
	switch {
	case ofTheInput(err):
		return program.Wrong
	case unverified, sent && stopped.State != reports.Untouched:
		return program.NotAllDone
	case sent && ofTheFolder(err):
		return program.Wrong
	case ctx.Err() != nil, errors.Is(err, reports.ErrBusy):
		return program.NotAllDone
	case accountRefused(err):
		return program.Wrong
	case sent && refused(err): // the service may have dropped the old report by then
		return program.NotAllDone
	case refused(err):
		return program.Wrong
	case ofTheService(err):
		return program.Failed
	}
	return program.Wrong // the folder is left, even where the error has no path
}

func ofTheInput(err error) bool {
	_, ok := errors.AsType[*inputError](err)
	return ok
}

// refused tells whether the service does not take the report.
func refused(err error) bool {
	return errors.Is(err, datacite.ErrInvalid) || errors.Is(err, datacite.ErrConflict)
}

// ofTheFolder tells whether a file could not be written. Those that are read belong
// to the input, and come as an inputError.
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
	for _, condition := range []error{reports.ErrBroken, datacite.ErrIncomplete, datacite.ErrUnreadable, datacite.ErrTooLarge} {
		if errors.Is(err, condition) {
			return true
		}
	}
	return false
}

func accountRefused(err error) bool {
	return errors.Is(err, datacite.ErrUnauthorized) || errors.Is(err, reports.ErrTokenExpired) || errors.Is(err, datacite.ErrForbidden)
}

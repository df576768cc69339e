package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

// explain prints what went wrong and what to do, and returns the exit code.
func explain(ctx context.Context, out io.Writer, err error) int {
	const name = "usagereport:"
	if faults, ok := errors.AsType[*reports.ValidationError](err); ok {
		fmt.Fprintf(out, "%s faults in the input, the first %d; nothing was sent\n", name, len(faults.Faults))
		for _, f := range faults.Faults {
			fmt.Fprintln(out, " ", f.Path, f.Reason)
		}
		return exitFault
	}
	fmt.Fprintln(out, name, err)
	code := exitCode(ctx, err)
	_, unverified := errors.AsType[*unverifiedError](err)
	if stopped, ok := errors.AsType[*reports.SubmitError](err); ok && code == exitIncomplete {
		printStored(out, stopped)
	} else if !unverified {
		fmt.Fprintln(out, "This run changed nothing on the service.")
	}
	switch {
	case errors.Is(err, reports.ErrTokenExpired):
		fmt.Fprintln(out, "The token in DATACITE_TOKEN has expired; the operator of the service issues a new one.")
	case accountRefused(err):
		fmt.Fprintln(out, "DATACITE_TOKEN holds no token that the service accepts for this report; its operator issues tokens.")
	case code == exitNoRoom || code == exitIncomplete && ofTheFolder(err):
		fmt.Fprintf(out, "Temporary files go to %s, which has to exist, to be this user's to write, and to have room; TMPDIR names another folder. DATACITE_LOCK_DIR names another folder for locks, the same for all runs.\n", os.TempDir())
	}
	if code == exitIncomplete {
		advise(ctx, out, err)
	}
	return code
}

// advise says what to do after a submission that did not finish.
func advise(ctx context.Context, out io.Writer, err error) {
	switch {
	case errors.Is(err, datacite.ErrInvalid) || errors.Is(err, datacite.ErrConflict): // another run would end the same way
	case errors.Is(err, reports.ErrBroken):
		fmt.Fprintln(out, "The service cannot read the report, and another run cannot fix that. Send its operator the id of the report, and that of the request if there is one.")
	case ctx.Err() != nil:
		fmt.Fprintln(out, "Interrupted. Run the same command again, and it goes on from what is stored.")
	case ofTheFolder(err):
		fmt.Fprintln(out, "Fix that, then run the same command again, and it goes on from what is stored.")
	case errors.Is(err, reports.ErrBusy):
		fmt.Fprintln(out, "Another run submits this report. Wait until it has ended, then run the same command again: it looks at what is stored.")
	default:
		fmt.Fprintln(out, "The submission did not finish. Run the same command again, and it goes on from what is stored.")
	}
}

func printStored(out io.Writer, e *reports.SubmitError) {
	fmt.Fprintf(out, "Stored in report %s: %d of %d subsets, %d datasets\n", e.ReportID, len(e.Stored), e.Total, e.Datasets)
	for i, part := range e.Stored {
		fmt.Fprintf(out, "  subset %d  %s  %d datasets\n", i+1, part.Checksum, part.Datasets)
	}
}

// exitCode tells a fault of the input or of this machine, which another run would
// not cure, from a submission that stopped. It is exitIncomplete unless surely
// nothing was changed.
func exitCode(ctx context.Context, err error) int {
	if _, ok := errors.AsType[*inputError](err); ok {
		return exitFault
	}
	stopped, sent := errors.AsType[*reports.SubmitError](err)
	_, unverified := errors.AsType[*unverifiedError](err)
	switch {
	case unverified:
		return exitIncomplete
	case sent && stopped.State == reports.Untouched && ofTheFolder(err):
		return exitNoRoom
	case sent && (stopped.State != reports.Untouched || !accountRefused(err)):
		// A service that refuses a report may have dropped the old one by then;
		// one that refuses the account has not.
		return exitIncomplete
	case ctx.Err() != nil:
		return exitIncomplete
	case accountRefused(err) || errors.Is(err, datacite.ErrInvalid) || errors.Is(err, datacite.ErrConflict):
		return exitFault
	case ofTheService(err):
		return exitIncomplete
	}
	return exitNoRoom // nothing else is left, not even where the error has no path
}

// ofTheFolder tells whether a file could not be written. Those that are read belong
// to the input, and come as an inputError.
func ofTheFolder(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	return path || link
}

// ofTheService tells whether the service, the way to it or another run is what
// stopped a submission that had not sent anything.
func ofTheService(err error) bool {
	if _, ok := errors.AsType[*datacite.Error](err); ok {
		return true
	}
	for _, condition := range []error{reports.ErrBusy, reports.ErrBroken, datacite.ErrIncomplete, datacite.ErrUnreadable, datacite.ErrTooLarge} {
		if errors.Is(err, condition) {
			return true
		}
	}
	return false
}

func accountRefused(err error) bool {
	return errors.Is(err, datacite.ErrUnauthorized) || errors.Is(err, reports.ErrTokenExpired) || errors.Is(err, datacite.ErrForbidden)
}

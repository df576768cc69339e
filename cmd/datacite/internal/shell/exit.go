package shell

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
)

// The exit codes of all commands. The help topic exit-codes explains them.
const (
	ExitDone        = 0
	ExitRefused     = 1 // differences were found, or not everything was done: something was refused
	ExitWrong       = 2 // the command line, the environment or a file is at fault
	ExitFailed      = 3 // the service or the way to it failed
	ExitInterrupted = 130
)

// coded is an error with its exit code.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

// Refused marks the error of a run that found differences, or did not do everything.
func Refused(err error) error { return coded{err, ExitRefused} }

// Wrong marks an error of the command line, the environment or the input.
func Wrong(err error) error { return coded{err, ExitWrong} }

// Failed marks an error of the service.
func Failed(err error) error { return coded{err, ExitFailed} }

// Interrupted is the error of a run that a signal ended. It says what was done, and how to
// continue.
func Interrupted(format string, args ...any) error {
	return coded{fmt.Errorf("interrupted; "+format, args...), ExitInterrupted}
}

// Exit is an error with another program's exit code. Nothing is printed for it.
func Exit(code int) error { return coded{errSaid, code} }

var errSaid = errors.New("standard error says what failed")

// IsInterrupted reports whether a signal ended the run.
func IsInterrupted(err error) bool { return err != nil && Code(err) == ExitInterrupted }

// OfFile names the file in an error of reading it, and marks it as one of the input: a damaged
// file may match [datacite.ErrUnreadable], as a response of the service does.
func OfFile(name string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return Wrong(fmt.Errorf("%s: %w", name, err))
}

// Code returns the exit code for an error. One without a mark is of the service if that failed,
// was not reached or refused the request, and of the input otherwise.
func Code(err error) int {
	marked, isMarked := errors.AsType[coded](err)
	failure, ofService := errors.AsType[*datacite.Error](err)
	switch {
	case err == nil:
		return ExitDone
	case isMarked:
		return marked.code
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.Is(err, datacite.ErrUnauthorized):
		return ExitWrong
	case datacite.Temporary(err), ofService && (failure.StatusCode == 0 || failure.StatusCode >= 500),
		errors.Is(err, datacite.ErrUnreadable), errors.Is(err, datacite.ErrIncomplete), errors.Is(err, datacite.ErrUnclear):
		return ExitFailed
	case ofService:
		return ExitRefused
	}
	return ExitWrong
}

// Message is the text of an error for people, who know flags and files and not the names of the
// SDK, in one line.
func Message(err error) string { return oneLine.Replace(plain(err)) }

// oneLine joins the lines of an error that has several faults.
var oneLine = strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ")

// plain is the text without the names of the SDK.
func plain(err error) string {
	if err == context.Canceled {
		return "interrupted"
	}
	return module().ReplaceAllString(operation().ReplaceAllString(err.Error(), ""), "$1")
}

// message is the text of the error that ends the command, each fault in a line of its own, with
// what helps after common mistakes.
func message(err error) string {
	text := plain(err)
	failure, ofService := errors.AsType[*datacite.Error](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, datacite.ErrUnauthorized) && !strings.Contains(text, "datacite login") &&
		!strings.Contains(text, " refuses the "):
		text += "; is the login right? datacite login tests it"
	case certificate:
		text += "; is --service right? If it is, renew the certificate of the host, or let this machine trust its authority"
	case ofService && failure.StatusCode == 0 && Code(err) == ExitFailed:
		text += "; is --service right, and is this machine connected? If so, run the command again later"
	}
	return text
}

// operation is the method, and module the package that begins the text of an error.
var (
	operation = lazy.Regexp(`\b(?:dois|mds|query|reconcile|reports|shown)\.[A-Z]\w*: `)
	module    = lazy.Regexp(`(?m)(^|: )(?:datacite|archive|counter|dois|logs|mds|reconcile): `)
)

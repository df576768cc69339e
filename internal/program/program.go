// Package program is what the example programs have in common: flags, exit codes and
// output. To copy a program, copy this folder and that of package arguments, too.
//
//	func main() { program.Main("audit", run) }
//
//	func run(ctx context.Context, p *program.Program) error {
//		flags := p.Flags()                  // -quiet is among them
//		all := flags.Bool("all", false, "…")
//		words, given, err := p.Parse(usage) // usage has no list of exit codes; -h adds it
//		if err != nil {
//			return err                      // of the command line: exit code 2
//		}
//		…
//		p.Say("%d records", n)              // words: standard error, not with -quiet
//		return p.Result("%s is registered\n", name)
//	}
//
// Standard output gets results. Requested data, such as records, are written to
// p.Stdout, or to p.Data in a program with progress, even with -quiet; [Unwritten] marks
// an error of it. Confirmations, such as a receipt or a minted name, go to
// [Program.Result] or [Program.Results]: they are left out with -quiet, and repeated on
// standard error if they cannot be written.
//
// [NewPage] makes an HTML file for those who do not read tables.
//
// An error that run returns is printed and becomes the exit code, see [Code]. [Wrong],
// [NotAllDone] and [Failed] choose the code. Interrupt and SIGTERM end ctx; run returns
// an error that says what was done and how to continue. The second signal ends the program
// at once.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/arguments"
)

// The exit codes of all programs.
const (
	ExitDone       = 0
	ExitNotAllDone = 1 // done in part, or the result could not be written
	ExitWrong      = 2 // the command line, the environment or the input is at fault
	ExitFailed     = 3 // the service or the way to it failed
)

// exitCodes ends each usage text.
const exitCodes = `
Exit codes:
  0  done
  1  not all done; standard error says what is left and how to go on
  2  wrong use or input
  3  the service failed
`

// A Program is one run of a program: its arguments and its environment.
type Program struct {
	Name           string
	Args           []string
	Getenv         func(string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	flags   *flag.FlagSet
	quiet   bool
	results results
}

// Main runs a program with the arguments of the process, and ends the process.
func Main(name string, run func(context.Context, *Program) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)   // the second signal ends the program at once
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is reported as an error of the write
	p := &Program{Name: name, Args: os.Args[1:], Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(p.Run(ctx, run))
}

// Run runs a program, prints its error and returns the exit code.
func (p *Program) Run(ctx context.Context, run func(context.Context, *Program) error) int {
	err := run(ctx, p)
	if err == nil {
		err = p.results.fault()
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(p.Stderr, "%s: %s\n", p.Name, plain(err))
	}
	return Code(err)
}

// Message is the text of an error for the users of a program, who know its flags and its
// environment, and not the names of the packages, in one line.
func Message(err error) string { return oneLine.Replace(plain(err)) }

// oneLine joins the lines of an error that has several faults.
var oneLine = strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ")

// plain is the text without the names of the packages; each fault has a line of its own.
func plain(err error) string {
	return forUsers.Replace(module.ReplaceAllString(operation.ReplaceAllString(err.Error(), ""), "$1"))
}

// operation is the method, and module the package that begins the text of an error.
var (
	operation = regexp.MustCompile(`\b(?:dois|mds|query|reports|shown)\.[A-Z]\w*: `)
	module    = regexp.MustCompile(`(?m)(^|: )(?:datacite|archive): `)
)

var forUsers = func() *strings.Replacer {
	var pairs []string
	for _, p := range [][2]string{
		{"Config.Service.API: is not a URL", "-api: is not a URL that starts with https://"},
		{"Config.Service.MDS: is not a URL", "-mds: is not a URL that starts with https://"},
		{"Config.Service.API: is empty; set Config.Service to datacite.Test or datacite.Production", "-api: is empty; give a URL that starts with https://"},
		{"Config.Service.MDS: is empty; set Config.Service to datacite.Test or datacite.Production", "-mds: is empty; give a URL that starts with https://"},
		{"Config.Service.API", "-api"},
		{"Config.Service.MDS", "-mds"},
		{"Config.Username", "DATACITE_USERNAME"},
		{"Config.Password", "DATACITE_PASSWORD"},
		{"Config.Token", "DATACITE_TOKEN"},
	} {
		pairs = append(pairs, p[0], p[1])
	}
	return strings.NewReplacer(pairs...)
}()

// Flags returns the set for the flags of the program. It has -quiet.
func (p *Program) Flags() *flag.FlagSet {
	if p.flags == nil {
		p.flags = flag.NewFlagSet(p.Name, flag.ContinueOnError)
		p.flags.BoolVar(&p.quiet, "quiet", false, "print only requested data and errors, such as for cron")
	}
	return p.flags
}

// Parse reads the command line: flags at any place, and the other words. given are the
// flags that were given. -h prints the usage, the exit codes and the flags.
func (p *Program) Parse(usage string) (words []string, given map[string]bool, err error) {
	help := &keeper{to: p.Stdout}
	words, given, err = arguments.Parse(p.Flags(), usage+exitCodes, p.Args, help)
	switch {
	case help.err != nil:
		return nil, nil, Unwritten(help.err)
	case err == nil || errors.Is(err, flag.ErrHelp):
		return words, given, err
	}
	return nil, nil, Wrong(err)
}

// A keeper keeps the error of a writer.
type keeper struct {
	to  io.Writer
	err error
}

func (k *keeper) Write(data []byte) (n int, err error) {
	if k.err == nil {
		_, k.err = k.to.Write(data)
	}
	return len(data), nil
}

// Quiet reports whether -quiet is given.
func (p *Program) Quiet() bool { return p.quiet }

// Say prints a line for people on standard error, unless -quiet is given.
func (p *Program) Say(format string, args ...any) {
	if !p.quiet {
		p.Warn(format, args...)
	}
}

// Warn prints a line on standard error, with -quiet, too.
func (p *Program) Warn(format string, args ...any) {
	fmt.Fprintf(p.Stderr, format+"\n", args...)
}

// Result prints on standard output what was done, unless -quiet is given. If it cannot
// be written, it is repeated on standard error, and the error says that.
func (p *Program) Result(format string, args ...any) error {
	fmt.Fprintf(p.Results(), format, args...)
	return p.results.fault()
}

// Results is Result as a writer, for long output. Its Write does not fail; Run does at the
// end.
func (p *Program) Results() io.Writer {
	if p.quiet {
		return io.Discard
	}
	p.results.out, p.results.spare = p.Stdout, p.Stderr
	return &p.results
}

// results go to standard output, and to standard error from the first fault on.
type results struct {
	out, spare io.Writer
	err        error
}

func (r *results) Write(data []byte) (int, error) {
	written := 0
	if r.err == nil {
		written, r.err = r.out.Write(data)
	}
	if r.err != nil {
		_, _ = r.spare.Write(data[written:]) // there is no other output
	}
	return len(data), nil
}

func (r *results) fault() error {
	if r.err == nil {
		return nil
	}
	return NotAllDone(fmt.Errorf("standard output: %w; the rest is above", r.err))
}

// Unwritten marks the error of a write to standard output, nil if there is none.
func Unwritten(err error) error {
	if err == nil {
		return nil
	}
	return NotAllDone(fmt.Errorf("standard output: %w", err))
}

// coded is an error with its exit code.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

// Wrong marks an error of the command line, the environment or the input.
func Wrong(err error) error { return coded{err, ExitWrong} }

// NotAllDone marks an error after a part of the work was done.
func NotAllDone(err error) error { return coded{err, ExitNotAllDone} }

// Failed marks an error of the service.
func Failed(err error) error { return coded{err, ExitFailed} }

// Code returns the exit code for an error. For one without a mark it is ExitNotAllDone
// after an interrupt, ExitFailed if the service failed or was not reached, and ExitWrong
// otherwise: the service refused what it was sent, or a file cannot be used.
func Code(err error) int {
	marked, isMarked := errors.AsType[coded](err)
	failure, ofService := errors.AsType[*datacite.Error](err)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return ExitDone
	case isMarked:
		return marked.code
	case errors.Is(err, context.Canceled):
		return ExitNotAllDone
	case datacite.Temporary(err), ofService && (failure.StatusCode == 0 || failure.StatusCode >= 500),
		errors.Is(err, datacite.ErrUnreadable), errors.Is(err, datacite.ErrIncomplete), errors.Is(err, datacite.ErrUnclear):
		return ExitFailed
	}
	return ExitWrong
}

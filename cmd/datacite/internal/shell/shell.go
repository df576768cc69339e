// Package shell is what all commands share: their common flags, exit codes, messages,
// progress, and output for people and for programs. See "A command" in the README.
//
// Standard output gets results and nothing else, so that it can be piped; standard error
// gets everything that is said about the work. What is styled or redrawn is so on a
// terminal only.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/datacite-go/datacite-go"
)

// A Shell is one run of the program: its arguments, its environment and its output.
type Shell struct {
	Args           []string
	Getenv         func(string) string
	Environ        []string // all variables, as NAME=VALUE, to find those that are misspelt
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// Config is what the configuration of every client begins with.
	Config datacite.Config

	// The common flags. Those that a command does not have are zero.
	Quiet, JSON, DryRun, Yes bool
	Output, Format           string

	ctx        context.Context
	mu         sync.Mutex // of everything that is printed
	progress   progress
	output     error  // the first of results on standard output
	unanswered error  // and of answers
	read       bool   // standard input
	spooled    string // folder of what Spool has copied
	warned     map[string]bool
}

// A Maker makes a command that runs in a shell.
type Maker func(*Shell) *cobra.Command

// Main runs the program with the arguments of the process, and ends the process.
func Main(agent string, makers ...Maker) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	ignorePipes()
	s := &Shell{
		Args: os.Args[1:], Getenv: os.Getenv, Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Config: datacite.Config{UserAgent: agent},
	}
	os.Exit(s.Run(ctx, makers...))
}

// Run runs the command that the arguments name, prints its error and returns the exit code.
func (s *Shell) Run(ctx context.Context, makers ...Maker) int {
	s.ctx = ctx
	root := s.root(makers)
	root.SetArgs(s.Args)
	err := root.ExecuteContext(ctx)
	s.endProgress()
	if _, marked := errors.AsType[coded](err); !marked && IsInterrupted(err) {
		err = Interrupted("run the same command again") // it says in which request it was otherwise
	}
	if err == nil || IsInterrupted(err) {
		err = errors.Join(err, s.output, s.unanswered)
	}
	closed := errors.Is(err, errClosed) && s.output == nil
	if err != nil && !closed && !errors.Is(err, errSaid) {
		s.Warn("datacite: %s", message(err))
	}
	return Code(err)
}

// Changed reports whether a flag was given.
func Changed(cmd *cobra.Command, flag string) bool { return cmd.Flags().Changed(flag) }

// Confirm asks a question whose answer is yes or no. --yes answers it. Without a terminal, and
// for another answer than yes, it is an error.
func (s *Shell) Confirm(question string) error {
	if s.Yes {
		return nil
	}
	if !IsTerminal(s.Stdin) {
		return Wrong(fmt.Errorf("%s Standard input is not a terminal, so nobody can answer; --yes answers yes", question))
	}
	answer, err := s.Ask(question + " [y/N]")
	if err != nil {
		return err
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return Refused(errors.New("the answer was not yes; nothing was done"))
	}
	return nil
}

// Ask asks a question on standard error, and reads a line from standard input.
func (s *Shell) Ask(question string) (line string, err error) {
	line, err = s.ask(question, func() (string, error) { return readLine(s.Stdin) })
	return strings.TrimSpace(line), err
}

// AskSecret is like Ask, at a terminal that does not show the answer.
func (s *Shell) AskSecret(question string) (secret string, err error) {
	in, ok := file(s.Stdin)
	if !ok {
		return "", Wrong(errors.New("standard input is not a terminal"))
	}
	fd := int(in.Fd())
	shown, err := term.GetState(fd)
	if err != nil {
		return "", Wrong(err)
	}
	defer noSuspend()()
	defer func() {
		// After an interrupt the terminal would stay as it is; ReadPassword may be about to change it.
		for wait := time.Second; s.ctx.Err() != nil && wait > 0; wait -= time.Millisecond {
			if now, err := term.GetState(fd); err != nil || *now != *shown {
				break
			}
			time.Sleep(time.Millisecond)
		}
		_ = term.Restore(fd, shown)
		s.print(s.Stderr, "\n")
	}()
	return s.ask(question, func() (string, error) {
		text, err := term.ReadPassword(fd)
		return string(text), err
	})
}

func (s *Shell) ask(question string, read func() (string, error)) (line string, err error) {
	s.print(s.Stderr, question+" ")
	answered := make(chan struct{})
	var answer string
	var failed error
	go func() { // an interrupt cannot call it back from reading
		answer, failed = read()
		close(answered)
	}()
	select {
	case <-s.ctx.Done():
		return "", Interrupted("nothing was done")
	case <-answered:
	}
	if failed != nil && (answer == "" || !errors.Is(failed, io.EOF)) {
		return "", Wrong(errors.New("there was no answer; nothing was done"))
	}
	return answer, nil
}

// readLine reads one line and nothing behind it: the next answer may be read in another way.
func readLine(in io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := in.Read(b); err != nil {
			return string(line), err
		}
		if b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[0])
	}
}

// Command audit compares a repository's own records with those at the service, and
// repairs what differs if it is told to.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/arguments"
	"github.com/datacite-go/datacite-go/metadata"
)

const usage = `Compare a repository's own records with those at the service.

  audit [flags] SOURCE          say what differs
  audit [flags] -fix SOURCE     the same, then say how many writes that takes, ask, and write

SOURCE is one of
  FILE.csv    a line for each DOI below a header that names the columns: doi, and url or
              state or both
  FILE        records as JSON lines or pages, as the service sends them and harvest
              writes them, also in gzip or TAR
  FOLDER      files with metadata XML (*.xml), or files as above

What a source does not say is not compared. At least one of -prefix and -client says
which DOIs there should be.

Environment:
  DATACITE_USERNAME, DATACITE_PASSWORD   the account; without it only findable DOIs are
                                         seen, and nothing can be written

Output: differences on standard output, as a table on a terminal and else as CSV, or as
-format says. Standard error gets progress and a summary.

Exit codes:
  0    nothing differs, or all of it was repaired
  1    something differs
  2    the flags or the source are at fault, or the service failed
  130  interrupted
`

// errDiffers is not a failure: something differs, and was said.
var errDiffers = errors.New("something differs")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	err := run(ctx, os.Args[1:], program{os.Getenv, os.Stdin, os.Stdout, os.Stderr, isTerminal(os.Stdout), isTerminal(os.Stderr)})
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errDiffers):
		os.Exit(1)
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "audit: interrupted; the same call begins again")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "audit:", err)
		os.Exit(2)
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// A program is what surrounds a run.
type program struct {
	getenv     func(string) string
	in         io.Reader
	out, notes io.Writer
	table      bool // out is a terminal
	live       bool // notes are a terminal
}

type settings struct {
	api    string
	source string
	format string
	only   []string
	fix    bool
	yes    bool
	rate   float64
	audit  dois.AuditOptions
}

// choices are what -only takes. What is not a kind is a part of Changed.
var choices = []string{"missing", "extra", "url", "state", "metadata", "invalid", "old-schema"}

func readSettings(args []string, p program) (s settings, err error) {
	flags := flag.NewFlagSet("audit", flag.ContinueOnError)
	flags.StringVar(&s.api, "api", datacite.Production.API, "base `URL` of the service")
	flags.StringVar(&s.audit.Prefix, "prefix", "", "DOIs with this `prefix`")
	flags.StringVar(&s.audit.ClientID, "client", "", "DOIs of this repository `account`, such as example.repo")
	flags.StringVar(&s.format, "format", "", "table, csv or jsonl; empty means table on a terminal, else csv")
	only := flags.String("only", strings.Join(choices, ","), "which differences, a comma `list`")
	flags.BoolVar(&s.fix, "fix", false, "write what differs, after asking; extra DOIs are never deleted")
	flags.BoolVar(&s.yes, "yes", false, "with -fix: do not ask")
	flags.Float64Var(&s.rate, "rate", 5, "requests a second at most")
	words, given, err := arguments.Parse(flags, usage, args, p.out)
	if err != nil {
		return s, err
	}
	s.only = strings.Split(*only, ",")
	if s.format == "" {
		s.format = map[bool]string{true: "table", false: "csv"}[p.table]
	}
	switch {
	case len(words) != 1:
		return s, fmt.Errorf("one SOURCE is needed, and there are %d; -h shows the usage", len(words))
	case s.audit.Prefix == "" && s.audit.ClientID == "":
		return s, errors.New("-prefix or -client is needed: which DOIs should there be?")
	case !slices.Contains([]string{"table", "csv", "jsonl"}, s.format):
		return s, fmt.Errorf("there is no -format %q; it is table, csv or jsonl", s.format)
	case !(s.rate > 0):
		return s, fmt.Errorf("-rate is %v; it must be more than 0", s.rate)
	case given["yes"] && !s.fix:
		return s, errors.New("-yes has no effect without -fix")
	case s.fix && p.getenv("DATACITE_PASSWORD") == "":
		return s, errors.New("-fix needs DATACITE_USERNAME and DATACITE_PASSWORD")
	}
	for _, choice := range s.only {
		if !slices.Contains(choices, choice) {
			return s, fmt.Errorf("-only has %q; it takes %s", choice, strings.Join(choices, ", "))
		}
	}
	s.source = words[0]
	s.audit.Kinds = kinds(s.only)
	return s, nil
}

// kinds are those that the choices are of.
func kinds(only []string) (all []dois.DifferenceKind) {
	for _, choice := range only {
		kind := dois.DifferenceKind(choice)
		if slices.Contains([]string{"url", "state", "metadata"}, choice) {
			kind = dois.Changed
		}
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}

func run(ctx context.Context, args []string, p program) error {
	s, err := readSettings(args, p)
	if err != nil {
		return err
	}
	client, err := dois.NewClient(datacite.Config{
		Service:  datacite.Service{API: s.api},
		Username: p.getenv("DATACITE_USERNAME"), Password: p.getenv("DATACITE_PASSWORD"), Limiter: rate.NewLimiter(rate.Limit(s.rate), 1),
	})
	if err != nil {
		return err
	}
	counts, writes, err := show(ctx, client, &s, p)
	if err != nil {
		return err
	}
	if len(counts) == 0 {
		fmt.Fprintln(p.notes, "nothing differs")
		return nil
	}
	for _, kind := range s.audit.Kinds {
		if n := counts[kind]; n > 0 {
			fmt.Fprintf(p.notes, "%6d %s\n", n, kind)
		}
	}
	if !s.fix || writes == 0 {
		return errDiffers
	}
	if !s.yes && !agreed(p, writes) {
		fmt.Fprintln(p.notes, "nothing was written")
		return errDiffers
	}
	return fix(ctx, client, &s, p)
}

// show writes down the differences, and counts them, and the DOIs that can be repaired.
func show(ctx context.Context, client *dois.Client, s *settings, p program) (counts map[dois.DifferenceKind]int, writes int, err error) {
	w, err := newWriter(p.out, s.format)
	if err != nil {
		return nil, 0, err
	}
	opts := s.audit
	m := meter{out: p.notes, live: p.live, began: time.Now()}
	opts.Progress = m.tell
	counts, last := map[dois.DifferenceKind]int{}, ""
	for d, err := range differences(ctx, client, s, &opts) {
		if err != nil {
			return nil, 0, errors.Join(err, w.close())
		}
		m.clear()
		if err := w.write(d); err != nil {
			return nil, 0, err
		}
		counts[d.Kind]++
		if repairable(d) && d.DOI != last {
			writes, last = writes+1, d.DOI
		}
	}
	m.clear()
	return counts, writes, w.close()
}

// differences are those that -only chooses.
func differences(ctx context.Context, client *dois.Client, s *settings, opts *dois.AuditOptions) iter.Seq2[*dois.Difference, error] {
	return func(yield func(*dois.Difference, error) bool) {
		for d, err := range client.Audit(ctx, wanted(s.source), opts) {
			if err == nil && d.Wanted != nil && d.Kind != dois.Missing {
				if d = s.chosen(d); d.Kind == dois.Changed && len(d.Changes) == 0 {
					continue
				}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// chosen is a difference without what -only leaves out: a repair must not write that
// either.
func (s *settings) chosen(d *dois.Difference) *dois.Difference {
	wanted := *d.Wanted
	if !slices.Contains(s.only, "url") {
		wanted.URL = ""
	}
	if !slices.Contains(s.only, "state") {
		wanted.State = ""
	}
	if d.Kind != dois.Invalid && !slices.Contains(s.only, "metadata") {
		wanted.Metadata = nil
	}
	d.Wanted = &wanted
	d.Changes = slices.DeleteFunc(d.Changes, func(c metadata.Change) bool { return !slices.Contains(s.only, part(c)) })
	return d
}

// part is the choice that a change is of.
func part(c metadata.Change) string {
	if c.Path == "url" || c.Path == "state" {
		return c.Path
	}
	return "metadata"
}

// repairable says whether a write could help. Of the others a person has to decide.
func repairable(d *dois.Difference) bool {
	return d.Kind == dois.Missing || d.Kind == dois.Changed || d.Kind == dois.OldSchema || d.Kind == dois.Invalid && d.Wanted != nil
}

func agreed(p program, writes int) bool {
	fmt.Fprintf(p.notes, "Write %d DOIs? Type yes: ", writes)
	answer, _ := bufio.NewReader(p.in).ReadString('\n')
	return strings.TrimSpace(answer) == "yes"
}

// fix repairs what a new audit finds, so that what has changed meanwhile is seen.
func fix(ctx context.Context, client *dois.Client, s *settings, p program) error {
	found := func(yield func(*dois.Difference, error) bool) {
		for d, err := range differences(ctx, client, s, &s.audit) {
			if (err != nil || repairable(d)) && !yield(d, err) {
				return
			}
		}
	}
	repaired, left := 0, 0
	for r, err := range client.Repair(ctx, found, nil) {
		switch {
		case err != nil:
			return fmt.Errorf("after %d DOIs were repaired: %w", repaired, err)
		case r.Err != nil:
			left++
			fmt.Fprintf(p.notes, "%s is left: %v\n", r.DOI, r.Err)
		case r.Changed:
			repaired++
		}
	}
	fmt.Fprintf(p.notes, "%d repaired, %d left\n", repaired, left)
	if left > 0 {
		return errDiffers
	}
	return nil
}

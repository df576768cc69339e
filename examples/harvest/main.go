// Command harvest writes every record of a repository, a prefix or a query to a
// file of JSON lines, in the order of creation.
//
//	go run ./examples/harvest -client ice.archive -o records.jsonl.gz
//	go run ./examples/harvest -prefix 10.5072 -contact me@example.org -o records.jsonl
//	go run ./examples/harvest -query 'titles.title:glacier*' -o - | jq .doi
//
// Interrupted, by Ctrl-C or by a crash, it continues when it is called again in
// the same way; what it needs for that is in a small file beside the output. At
// the end it reads the file back and counts. Called once more, it adds the records
// that were made since. It can be put in cron with -quiet.
//
// It exits with 0 if all records are written, with 130 if it was interrupted, and
// else with 1. -h tells the rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/arguments"
	"github.com/datacite-go/datacite-go/query"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	os.Exit(ended(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr), os.Stderr))
}

// errInterrupted is how a harvest ends that can be continued.
var errInterrupted = errors.New("interrupted")

// ended says how the harvest ended, if not well, and returns the exit code.
func ended(err error, notes io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(notes, "harvest:", err)
	if errors.Is(err, errInterrupted) {
		return 130
	}
	return 1
}

const usage = `Write all records of a repository, a prefix or a query, in the order of creation.

  harvest [flags] -o file      the same call again continues, or adds new records
  harvest [flags] -o -         to standard output, which cannot be continued

Without -client, -provider, -prefix, -type, -created or -query, it is every record
of the service.

Environment:
  DATACITE_USERNAME, DATACITE_PASSWORD   optional: an account, to see its drafts too

Output: JSON lines, one record a line with all attributes as the service sends them;
compressed with gzip if the name of the file ends in .gz. Beside the file, one named
file.position says how far it is; keep it to continue. Standard error gets progress.

Exit codes:
  0    all records are written, and counted in the file
  1    the flags or the file are at fault, or the service failed; what is stored is
       said, and the same call again continues
  130  interrupted, by Ctrl-C or SIGTERM; the same call again continues
`

// settings are what the command line and the environment say.
type settings struct {
	api, contact, file string
	username, password string
	quiet              bool
	opts               dois.ListOptions
}

func readSettings(args []string, getenv func(string) string, out io.Writer) (*settings, error) {
	s := &settings{username: getenv("DATACITE_USERNAME"), password: getenv("DATACITE_PASSWORD")}
	flags := flag.NewFlagSet("harvest", flag.ContinueOnError)
	o := &s.opts
	flags.StringVar(&s.api, "api", dois.Production, "base `URL` of the service")
	flags.StringVar(&s.contact, "contact", "", "your mail address; the service allows more requests with one")
	flags.StringVar(&s.file, "o", "", "`file` to write to, gzip if its name ends in .gz; - is standard output")
	flags.BoolVar(&s.quiet, "quiet", false, "print errors only")
	flags.StringVar(&o.ClientID, "client", "", "records of one repository")
	flags.StringVar(&o.ProviderID, "provider", "", "records of one member")
	flags.StringVar(&o.Prefix, "prefix", "", "records with one prefix")
	flags.StringVar(&o.ResourceTypeID, "type", "", "records of one general type, such as dataset")
	flags.StringVar(&o.Created, "created", "", "`year` or years of creation, as 2020 or 2020,2022")
	flags.IntVar(&o.Page.Size, "page", 200, "records asked for at a time")
	text := flags.String("query", "", "records that a query finds, in the syntax of the service (specification §4.2.1)")
	words, _, err := arguments.Parse(flags, usage, args, out)
	switch {
	case err != nil:
		return nil, err
	case len(words) > 0:
		return nil, fmt.Errorf("%q is not a flag, and there are no other arguments; -h shows the flags", words[0])
	case s.file == "":
		return nil, errors.New("give -o, the file to write to")
	case o.Page.Size < 1 || o.Page.Size > 1000:
		return nil, fmt.Errorf("-page is %d, not between 1 and 1000", o.Page.Size)
	}
	if *text != "" {
		expr, err := query.Parse(*text)
		if err != nil {
			return nil, err
		}
		o.Query = query.Explicit(expr, query.OperatorOr) // the same on every server
	}
	// A harvest is to be complete: with all identifiers and all attributes.
	o.Affiliation, o.Publisher, o.Detail = true, true, true
	return s, nil
}

func run(ctx context.Context, args []string, getenv func(string) string, out, notes io.Writer) error {
	s, err := readSettings(args, getenv, out)
	if err != nil {
		return err
	}
	client, err := dois.NewClient(s.api, &dois.ClientOptions{
		Username: s.username, Password: s.password, UserAgent: "datacite-go-harvest", Contact: s.contact,
	})
	if err != nil {
		return err
	}
	a, err := openArchive(s.file, out)
	if err != nil {
		return err
	}
	result := out
	if a.file == nil {
		result = notes // not among the records
	}
	if s.quiet {
		result, notes = io.Discard, io.Discard
	}
	if a.Position.Seen > 0 {
		fmt.Fprintf(notes, "continuing after %d records\n", a.Position.Seen)
	}
	s.opts.From = a.Position
	if err := harvest(ctx, client, s, a, newMeter(notes)); err != nil {
		return err
	}
	if a.file == nil {
		fmt.Fprintf(result, "%d records on standard output\n", a.Position.Seen)
		return nil
	}
	n, err := a.count()
	if err != nil {
		return err
	}
	if n != a.Position.Seen {
		return fmt.Errorf("%s holds %d records, and %d were written", s.file, n, a.Position.Seen)
	}
	fmt.Fprintf(result, "%d records in %s\n", n, s.file)
	return nil
}

// between is how many records are written between two positions that are saved.
const between = 1000

func harvest(ctx context.Context, client *dois.Client, s *settings, a *archive, m *meter) error {
	walk := client.Walk(&s.opts)
	m.start(a.Position.Seen)
	err := writeAll(ctx, walk, a, m)
	// Also after an error, all that was written is worth keeping.
	if unsaved := errors.Join(a.save(walk.Position()), a.close()); unsaved != nil {
		return errors.Join(err, unsaved)
	}
	if err == nil {
		return nil
	}
	m.clear()
	stored := fmt.Sprintf("%d records are in %s; the same call again continues", a.Position.Seen, a.name)
	if a.file == nil {
		stored = fmt.Sprintf("%d records were written; standard output cannot be continued", a.Position.Seen)
	}
	fault, invalid := errors.AsType[*dois.FieldError](err)
	switch {
	case invalid && fault.Path == "ListOptions.From":
		return fmt.Errorf("%s was begun with other flags; use the same ones, or another file", a.name)
	case invalid:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %s", errInterrupted, stored)
	}
	return fmt.Errorf("%w\n%s", err, stored)
}

func writeAll(ctx context.Context, walk *dois.Walk, a *archive, m *meter) error {
	for record, err := range walk.All(ctx) {
		if err != nil {
			return err
		}
		if err := a.write(record.Raw); err != nil {
			return err
		}
		at := walk.Position()
		m.at(at.Seen, walk.Total())
		if at.Seen%between == 0 {
			if err := a.save(at); err != nil {
				return err
			}
		}
	}
	m.end(walk.Position().Seen, walk.Total())
	return nil
}

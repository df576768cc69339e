// Command harvest writes every record of a repository, a prefix or a query to a
// file of JSON lines, in the order of creation.
//
//	go run ./examples/harvest -client ice.archive -o records.jsonl.gz
//	go run ./examples/harvest -prefix 10.5072 -contact me@example.org -o records.jsonl
//	go run ./examples/harvest -query 'titles.title:glacier*' -o - | jq .doi
//	go run ./examples/harvest -updated-since 2026-01-06 -o changes.jsonl.gz
//
// Interrupted, by Ctrl-C or by a crash, it continues when it is called again in
// the same way; what it needs for that is in a small file beside the output. At
// the end it reads the file back and counts. Called once more, it adds the records
// that were made since. It can be put in cron with -quiet.
//
// With -updated-since it writes what was made or changed since a time, which keeps a
// mirror fresh, or a data file of the operator; the records take the place of older
// ones with the same DOI. At the end it says from when on to ask the next time.
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
	"time"

	"github.com/datacite-go/datacite-go"
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

Without -client, -provider, -prefix, -type, -created, -query or -updated-since, it is
every record of the service.

With -updated-since it is those made or changed from then on until ten minutes ago,
since lists lag behind. Take another file each time. What is hidden or deleted meanwhile
is not among them.

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
	since              time.Time // zero: records of any time
	opts               dois.ListOptions
}

func readSettings(args []string, getenv func(string) string, out io.Writer) (*settings, error) {
	s := &settings{username: getenv("DATACITE_USERNAME"), password: getenv("DATACITE_PASSWORD")}
	flags := flag.NewFlagSet("harvest", flag.ContinueOnError)
	o := &s.opts
	flags.StringVar(&s.api, "api", datacite.Production.API, "base `URL` of the service")
	flags.StringVar(&s.contact, "contact", "", "your mail address; the service allows more requests with one")
	flags.StringVar(&s.file, "o", "", "`file` to write to, gzip if its name ends in .gz; - is standard output")
	flags.BoolVar(&s.quiet, "quiet", false, "print errors only")
	flags.StringVar(&o.ClientID, "client", "", "records of one repository")
	flags.StringVar(&o.ProviderID, "provider", "", "records of one member")
	flags.StringVar(&o.Prefix, "prefix", "", "records with one prefix")
	flags.StringVar(&o.ResourceTypeID, "type", "", "records of one general type, such as dataset")
	flags.StringVar(&o.Created, "created", "", "`year` or years of creation, as 2020 or 2020,2022")
	flags.IntVar(&o.Page.Size, "page", 200, "records asked for at a time")
	since := flags.String("updated-since", "", "records made or changed since a `time`, as 2026-01-06 or 2026-01-06T09:30:00Z")
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
	if *since != "" {
		if s.since, err = readTime(*since); err != nil {
			return nil, err
		}
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

func readTime(text string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("-updated-since is %q, not a time such as 2026-01-06 or 2026-01-06T09:30:00Z", text)
}

// bound restricts the harvest to what was updated in its time. That has an end, which
// stays the same when a harvest is continued: records may leave the results then, by
// being updated again, and none joins those that have been passed.
func (s *settings) bound(asOf time.Time) error {
	if s.since.IsZero() {
		return nil
	}
	if !asOf.IsZero() && s.since.After(asOf) {
		return fmt.Errorf("-updated-since is later than %s, and what changed after that may not be listed yet", asOf.Format(time.RFC3339))
	}
	updated := query.FieldUpdated.BetweenTimes(s.since, asOf)
	if s.opts.Query != nil {
		updated = query.And(s.opts.Query, updated)
	}
	s.opts.Query = updated
	return nil
}

func run(ctx context.Context, args []string, getenv func(string) string, out, notes io.Writer) error {
	s, err := readSettings(args, getenv, out)
	if err != nil {
		return err
	}
	client, err := dois.NewClient(datacite.Config{
		Service:  datacite.Service{API: s.api},
		Username: s.username, Password: s.password, UserAgent: "datacite-go-harvest", Contact: s.contact,
	})
	if err != nil {
		return err
	}
	o, err := openOutput(s.file, out)
	if err != nil {
		return err
	}
	result := out
	if o.file == nil {
		result = notes // not among the records
	}
	if s.quiet {
		result, notes = io.Discard, io.Discard
	}
	if o.Position.Seen > 0 {
		fmt.Fprintf(notes, "continuing after %d records\n", o.Position.Seen)
	}
	if err := s.bound(o.AsOf); err != nil {
		return errors.Join(err, o.close())
	}
	s.opts.From = o.Position
	if err := harvest(ctx, client, s, o, newMeter(notes)); err != nil {
		return err
	}
	if o.file == nil {
		fmt.Fprintf(result, "%d records on standard output\n", o.Position.Seen)
		return nil
	}
	n, err := o.count()
	if err != nil {
		return err
	}
	if n != o.Position.Seen {
		return fmt.Errorf("%s holds %d records, and %d were written", s.file, n, o.Position.Seen)
	}
	fmt.Fprintf(result, "%d records in %s\n", n, s.file)
	if !o.AsOf.IsZero() {
		fmt.Fprintf(notes, "for later changes: -updated-since %s, with another file\n", o.AsOf.Format(time.RFC3339))
	}
	return nil
}

// between is how many records are at least written between two positions that are saved.
const between = 1000

func harvest(ctx context.Context, client *dois.Client, s *settings, o *output, m *meter) error {
	walk := client.Walk(&s.opts)
	m.start(o.Position.Seen)
	err := errors.Join(writeAll(ctx, walk, o, m), o.close())
	if err == nil || o.Done && errors.Is(err, datacite.ErrIncomplete) { // the last record has been updated since
		return nil
	}
	m.clear()
	stored := fmt.Sprintf("%d records are in %s; the same call again continues", o.Position.Seen, o.name)
	if o.file == nil {
		stored = fmt.Sprintf("%d records were written; standard output cannot be continued", o.Position.Seen)
	}
	fault, invalid := errors.AsType[*datacite.FieldError](err)
	switch {
	case invalid && fault.Path == "ListOptions.From":
		return fmt.Errorf("%s was begun with other flags; use the same ones, or another file", o.name)
	case invalid:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %s", errInterrupted, stored)
	}
	return fmt.Errorf("%w\n%s", err, stored)
}

// writeAll writes page by page. A position within a page would need its last record to
// be found again, which may have left the results.
func writeAll(ctx context.Context, walk *dois.Walk, o *output, m *meter) error {
	at := walk.Position()
	for page, err := range walk.Pages(ctx) {
		if err != nil {
			return errors.Join(err, o.save(at)) // what was written is worth keeping
		}
		for i := range page.Records {
			if err := o.write(page.Records[i].Raw); err != nil {
				return err
			}
		}
		at = walk.Position()
		m.at(at.Seen, walk.Total())
		if at.Seen-o.Position.Seen >= between {
			if err := o.save(at); err != nil {
				return err
			}
		}
	}
	m.end(at.Seen, walk.Total())
	o.Done = true
	return o.save(at)
}

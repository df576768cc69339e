// Command harvest writes every record of a repository, a prefix or a query to a
// file of gzip-compressed JSON lines, in the order of creation.
//
//	go run ./examples/harvest -client ice.archive -o records.jsonl.gz
//	go run ./examples/harvest -prefix 10.5072 -contact me@example.org -o records.jsonl.gz
//
// Interrupted, by Ctrl-C or by a crash, it continues when it is called again in
// the same way; what it needs for that is in a small file beside the output. At
// the end it reads the file back and counts. Called once more, it adds the records
// that were made since.
//
// It reads public records and needs no account; DATACITE_USERNAME and
// DATACITE_PASSWORD in the environment let it see the drafts of that account too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "harvest:", err)
		os.Exit(1)
	}
}

// settings are what the command line and the environment say.
type settings struct {
	api, contact, file string
	username, password string
	opts               dois.ListOptions
}

func readSettings(args []string, getenv func(string) string, notes io.Writer) (*settings, error) {
	s := &settings{username: getenv("DATACITE_USERNAME"), password: getenv("DATACITE_PASSWORD")}
	flags := flag.NewFlagSet("harvest", flag.ContinueOnError)
	flags.SetOutput(notes)
	o := &s.opts
	flags.StringVar(&s.api, "api", dois.Production, "base `URL` of the service")
	flags.StringVar(&s.contact, "contact", "", "your mail address; the service allows more requests with one")
	flags.StringVar(&s.file, "o", "", "`file` to write to")
	flags.StringVar(&o.ClientID, "client", "", "records of one repository")
	flags.StringVar(&o.ProviderID, "provider", "", "records of one member")
	flags.StringVar(&o.Prefix, "prefix", "", "records with one prefix")
	flags.StringVar(&o.ResourceTypeID, "type", "", "records of one general type, such as dataset")
	flags.StringVar(&o.Created, "created", "", "`year` or years of creation, as 2020 or 2020,2022")
	flags.IntVar(&o.Page.Size, "page", 200, "records asked for at a time")
	text := flags.String("query", "", "records that a query finds, in the syntax of specification §4.2.1")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if s.file == "" || flags.NArg() > 0 {
		return nil, errors.New("give -o and what to harvest, such as -client")
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
	s, err := readSettings(args, getenv, notes)
	if err != nil {
		return err
	}
	client, err := dois.NewClient(s.api, &dois.ClientOptions{
		Username: s.username, Password: s.password, UserAgent: "datacite-go-harvest", Contact: s.contact,
	})
	if err != nil {
		return err
	}
	a, err := openArchive(s.file)
	if err != nil {
		return err
	}
	if a.Position != (dois.Position{}) {
		fmt.Fprintf(notes, "continuing after %d records\n", a.Position.Seen)
	}
	s.opts.From = a.Position
	if err := harvest(ctx, client, s, a, newMeter(notes)); err != nil {
		return fmt.Errorf("%w\n%d records are in %s; call it again to continue", err, a.Position.Seen, s.file)
	}
	n, err := count(s.file)
	if err != nil {
		return err
	}
	if n != a.Position.Seen {
		return fmt.Errorf("%s holds %d records, and %d were written", s.file, n, a.Position.Seen)
	}
	fmt.Fprintf(out, "%d records in %s\n", n, s.file)
	return nil
}

// between is how many records are written between two positions that are saved.
const between = 1000

func harvest(ctx context.Context, client *dois.Client, s *settings, a *archive, m *meter) error {
	walk := client.Walk(&s.opts)
	m.start(a.Position.Seen)
	err := writeAll(ctx, walk, a, m)
	// Also after an error, all that was written is worth keeping.
	return errors.Join(err, a.save(walk.Position()), a.close())
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

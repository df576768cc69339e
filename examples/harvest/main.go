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
// -h shows the flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/arguments"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/query"
)

func main() { program.Main("harvest", run) }

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

The exit code is 0 if all records are written, and counted in the file. After an interrupt,
a failure or a full disk, what is stored is said: the same call continues, or begins afresh
if nothing was stored yet.
`

// settings are what the command line and the environment say.
type settings struct {
	api, contact, file string
	username, password string
	since              time.Time // zero: records of any time
	opts               dois.ListOptions
}

func readSettings(p *program.Program) (*settings, error) {
	s := &settings{username: p.Getenv("DATACITE_USERNAME"), password: p.Getenv("DATACITE_PASSWORD")}
	flags := p.Flags()
	o := &s.opts
	flags.StringVar(&s.api, "api", datacite.Production.API, "base `URL` of the service")
	flags.StringVar(&s.contact, "contact", "", "your mail address; the service allows more requests with one")
	flags.StringVar(&s.file, "o", "", "`file` to write to, gzip if its name ends in .gz; - is standard output")
	flags.Var((*arguments.CommaList)(&o.ClientID), "client", "records of one repository, or of several, separated by commas")
	flags.Var((*arguments.CommaList)(&o.ProviderID), "provider", "records of one member, or of several, separated by commas")
	flags.Var((*arguments.CommaList)(&o.Prefix), "prefix", "records of one prefix, or of several, separated by commas")
	flags.Var((*arguments.CommaList)(&o.ResourceTypeID), "type", "records of one general `type`, such as dataset or journal-article, or of several, separated by commas")
	flags.StringVar(&o.Created, "created", "", "`year` or years of creation, as 2020 or 2020,2022")
	flags.IntVar(&o.Page.Size, "page", 200, "records asked for at a time")
	since := flags.String("updated-since", "", "records made or changed since a `time`, as 2026-01-06 or 2026-01-06T09:30:00Z")
	text := flags.String("query", "", "records that a query finds, in the syntax of the service (specification §4.2.1)")
	words, _, err := p.Parse(usage)
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

func run(ctx context.Context, p *program.Program) error {
	s, err := readSettings(p)
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
	o, err := openOutput(s.file, p.Data())
	if err != nil {
		return err
	}
	if o.Position.Seen > 0 {
		p.Say("continuing after %d records", o.Position.Seen)
	}
	if err := s.bound(o.AsOf); err != nil {
		return errors.Join(err, o.close())
	}
	s.opts.From = o.Position
	if err := harvest(ctx, client, s, o, p); err != nil {
		return err
	}
	if o.file == nil {
		p.Say("%d records on standard output", o.Position.Seen) // not among the records
		return nil
	}
	n, err := o.count()
	if err != nil {
		return err
	}
	if n != o.Position.Seen {
		return fmt.Errorf("%s holds %d records, and %d were written", s.file, n, o.Position.Seen)
	}
	if err := p.Result("%d records in %s\n", n, s.file); err != nil {
		return err
	}
	if !o.AsOf.IsZero() {
		p.Say("for later changes: -updated-since %s, with another file", o.AsOf.Format(time.RFC3339))
	}
	return nil
}

// between is how many records are at least written between two positions that are saved.
const between = 1000

func harvest(ctx context.Context, client *dois.Client, s *settings, o *output, p *program.Program) error {
	walk := client.Walk(&s.opts)
	err := errors.Join(writeAll(ctx, walk, o, p), o.close())
	if err == nil || o.Done && errors.Is(err, datacite.ErrIncomplete) { // the last record has been updated since
		return nil
	}
	if invalid, ok := errors.AsType[*datacite.ValidationError](err); ok && invalid.Findings[0].Path == "ListOptions.From" {
		return fmt.Errorf("%s was begun with other flags; use the same ones, or another file", o.name)
	} else if ok {
		return err
	}
	if ctx.Err() != nil {
		err = program.NotAllDone(errors.New("interrupted"))
	}
	err = fmt.Errorf("%w\n%s", err, o.stored())
	if o.Position.Seen > 0 {
		return program.NotAllDone(err)
	}
	return err
}

// stored says what a harvest that did not come to its end has left, and how to go on.
func (o *output) stored() string {
	switch n := o.Position.Seen; {
	case o.file == nil:
		return "what is on standard output cannot be continued; the same call begins afresh"
	case n == 0:
		return fmt.Sprintf("nothing is stored in %s yet; the same call begins afresh", o.name)
	default:
		return fmt.Sprintf("%d records are in %s; the same call again continues", n, o.name)
	}
}

// writeAll writes page by page. A position within a page would need its last record to
// be found again, which may have left the results.
func writeAll(ctx context.Context, walk *dois.Walk, o *output, p *program.Program) error {
	at := walk.Position()
	m := &meter{began: time.Now(), first: at.Seen}
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
		p.Progress("%s", m.text(at.Seen, walk.Total(), time.Since(m.began)))
		if at.Seen-o.Position.Seen >= between {
			if err := o.save(at); err != nil {
				return err
			}
		}
	}
	o.Done = true
	return o.save(at)
}

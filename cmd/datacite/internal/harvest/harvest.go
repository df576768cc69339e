// Package harvest is the command datacite harvest.
package harvest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/selection"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

type command struct {
	*shell.Shell
	flags     *account.Flags
	selection *selection.Flags
	updated   string
	since     time.Time // zero: records of any time
	opts      dois.ListOptions
	service   *account.Service
}

// Command is datacite harvest.
func Command(s *shell.Shell) *cobra.Command {
	c := &command{Shell: s}
	cmd := &cobra.Command{
		Use: "harvest [WORD...] --output FILE", GroupID: shell.Reading, ValidArgsFunction: cobra.NoFileCompletions,
		Short: "Copy all records of a repository, a prefix or a query to a file",
		Long: `Copy records to a file, in the order of creation: those of a repository, a prefix or a query, or
without any of these all records of the service. Words are read as by "datacite search".

The file has one JSON object per line, a record with all attributes as the service sends them. It is
compressed if its name ends in .gz. --output - is standard output.

Run the same command again to continue after an interruption, a crash or a full disk, or to add
the records that were made since. FILE.position says how far the file is; keep it beside the file.
At the end, the file is read back and its records are counted.

--updated-since copies what was made or changed between a time and ten minutes ago, because lists
lag behind. Such records replace older ones with the same DOI, which keeps a copy fresh. Take
another file each time; the command says which time comes next. Records that were hidden or
deleted meanwhile are not among them.

With a login, drafts and registered DOIs of the account are copied, too.`,
		Example: `  datacite harvest --client ice.archive --output records.jsonl.gz
  datacite harvest --query 'titles.title:glacier*' --output - | jq .doi
  datacite harvest --prefix 10.5072 --updated-since 2026-01-06 --output changes.jsonl.gz`,
		RunE: c.run,
	}
	flags := cmd.Flags()
	c.selection = selection.NewFlags(s, cmd, &c.opts)
	flags.StringVar(&c.updated, "updated-since", "",
		"records made or changed since a `time`, as 2026-01-06 or 2026-01-06T09:30:00Z")
	flags.IntVar(&c.opts.Page.Size, "page-size", 1000,
		"`records` in one request at most; fewer where the service fails to make as many in time")
	s.OutputFlag(cmd, "write to this `file`, gzip if its name ends in .gz; - is standard output")
	s.Flags(cmd, shell.JSON)
	c.flags = account.NewFlags(s, cmd, account.Reads)
	return cmd
}

// check reads the settings.
func (c *command) check(words []string) (err error) {
	o := &c.opts
	switch {
	case c.Output == "":
		return errors.New("give --output FILE, or --output - for standard output")
	case o.Page.Size < 1 || o.Page.Size > 1000:
		return fmt.Errorf("--page-size is %d, not between 1 and 1000", o.Page.Size)
	}
	if c.updated != "" {
		if c.since, err = readTime(c.updated); err != nil {
			return err
		}
	}
	// A harvest is to be complete: with all identifiers and all attributes.
	o.Affiliation, o.Publisher, o.Detail = true, true, true
	return c.selection.Read(words)
}

func readTime(text string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("--updated-since is %q, not a time such as 2026-01-06 or 2026-01-06T09:30:00Z", text)
}

// bound restricts the harvest to records that were updated in its time. The end of that time
// stays the same when a harvest is continued: records may leave the results then, by being
// updated again, and none joins those that have been passed.
func (c *command) bound(asOf time.Time) error {
	if c.since.IsZero() {
		return nil
	}
	if c.since.After(asOf) {
		return shell.Wrong(fmt.Errorf("--updated-since is later than %s, and what changed after that may not be listed yet",
			asOf.Format(time.RFC3339)))
	}
	updated := query.FieldUpdated.BetweenTimes(c.since, asOf)
	if c.opts.Query != nil {
		updated = query.And(c.opts.Query, updated)
	}
	c.opts.Query = updated
	return nil
}

func (c *command) run(cmd *cobra.Command, words []string) (err error) {
	if err := c.check(words); err != nil {
		return shell.Wrong(err)
	}
	ctx := cmd.Context()
	if c.service, err = c.flags.Open(); err != nil {
		return err
	}
	client, err := dois.NewClient(c.service.Config)
	if err != nil {
		return err
	}
	if err := c.selection.CheckLogin(c.service.Config); err != nil {
		return err
	}
	if err := c.service.Check(ctx, c.Shell); err != nil {
		return err
	}
	if c.Output != "-" {
		release, err := shell.Lock(c.Output)
		if err != nil {
			return err
		}
		defer release()
	}
	o, err := openOutput(c.Output, c.service.Host, shell.Tamed(c.Data()))
	if err != nil {
		return shell.Wrong(err)
	}
	if o.Position.Seen > 0 {
		c.Say("continuing after %s", shell.Count(o.Position.Seen, "record"))
	}
	if err := c.bound(o.AsOf); err != nil {
		return errors.Join(err, o.close())
	}
	c.opts.From = o.Position
	if err := c.harvest(ctx, client, o); err != nil {
		return err
	}
	return c.report(o)
}

// A result is what --json prints.
type result struct {
	File    string    `json:"file"`
	Records int       `json:"records"`
	Service string    `json:"service"`
	AsOf    time.Time `json:"asOf,omitzero"` // what changed later may be missing: the next --updated-since
}

// report counts the records of the file and says what is in it.
func (c *command) report(o *output) error {
	if o.file == nil {
		c.Say("%s of %s on standard output", shell.Count(o.Position.Seen, "record"), c.service) // not among the records
		return nil
	}
	n, err := o.count()
	if err != nil {
		return err
	}
	if n != o.Position.Seen {
		return fmt.Errorf("%s holds %s, and %s were written", o.name, shell.Count(n, "record"), shell.Number(o.Position.Seen))
	}
	c.Result(result{o.name, n, c.service.Host, o.AsOf}, "%s of %s in %s", shell.Count(n, "record"), c.service, o.name)
	if !o.AsOf.IsZero() {
		c.Say("for later changes: --updated-since %s, with another file", o.AsOf.Format(time.RFC3339))
	}
	return nil
}

func (c *command) harvest(ctx context.Context, client *dois.Client, o *output) error {
	err := errors.Join(c.writeAll(ctx, client.Walk(&c.opts), o), o.close())
	if err == nil || o.Done && errors.Is(err, datacite.ErrIncomplete) { // the last record has been updated since
		return nil
	}
	if invalid, ok := errors.AsType[*datacite.ValidationError](err); ok && invalid.Findings[0].Path == "ListOptions.From" {
		return shell.Wrong(fmt.Errorf("%s was begun with other flags; use the same ones, or another file", o.name))
	} else if ok {
		return err
	}
	if ctx.Err() != nil {
		return shell.Interrupted("%s", o.stored())
	}
	err = fmt.Errorf("%w; %s", err, o.stored())
	if o.Position.Seen > 0 && shell.Code(err) == shell.ExitWrong { // such as a disk that is full
		return shell.Refused(err)
	}
	return err
}

// stored says what a harvest that did not come to its end has left, and how to continue.
func (o *output) stored() string {
	switch n := o.Position.Seen; {
	case o.file == nil:
		return "standard output cannot be continued; the same command begins again"
	case n == 0:
		return fmt.Sprintf("nothing is stored in %s yet; the same command begins again", o.name)
	default:
		return fmt.Sprintf("%s in %s; run the same command again to continue", shell.Count(n, "record"), o.name)
	}
}

// between is how many records are at least written between two positions that are saved.
const between = 1000

// writeAll writes page by page. A position within a page would need its last record to
// be found again, which may have left the results.
func (c *command) writeAll(ctx context.Context, walk *dois.Walk, o *output) error {
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
		c.Progress(at.Seen, max(walk.Total(), 0), "records", "")
		if at.Seen-o.Position.Seen >= between {
			if err := o.save(at); err != nil {
				return err
			}
		}
	}
	o.Done = true
	return o.save(at)
}

// Package audit is the command datacite audit.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// lag is how long a change may take until the lists of the service show it.
const lag = 10 * time.Minute

type command struct {
	*shell.Shell
	flags    *account.Flags
	source   string
	html     string
	only     []string
	passOver []string
	fix      bool
	links    links
	rehearse bool // what --fix would do
	opts     reconcile.AuditOptions

	service *account.Service
	client  *reconcile.Client
	records *dois.Client
	began   time.Time
	page    *page
	warned  bool // that the service lists no DOI
}

// choices are what --only takes, but for the kind Changed, which is all of its parts.
var (
	choices   = []string{"missing", "extra", "url", "state", "metadata", "invalid", "old-schema"}
	ofChanged = []string{"url", "state", "metadata"}
)

// Command is datacite audit.
func Command(s *shell.Shell) *cobra.Command {
	c := &command{Shell: s}
	cmd := &cobra.Command{
		Use: "audit SOURCE", GroupID: shell.Writing, Args: cobra.ExactArgs(1),
		Short: "Compare your own records with those at the service, and repair what differs",
		Long: `Compare the records of a repository with those at the service, and say what differs. --client,
--prefix or both are required: they choose the DOIs that are compared. A SOURCE, or - for
standard input, is

  - a table, CSV or .xlsx, such as the one of "datacite register" or its result: the column doi,
    and any of url, state, title and the others of "datacite help tables"
  - records as JSON lines or pages, as the service sends them and "datacite harvest" writes them,
    also in gzip or TAR
  - a folder with files of metadata XML (*.xml), or with files as above

What a source does not say is not compared: columns that are missing, empty cells, and what a
table cannot express. "datacite help tables" has the rules by which a table corrects records.

Without --fix nothing is written, and production is asked if no service is chosen. --fix shows
what differs, asks, and writes: DOIs that are missing are made, in the state that the source says
or else as drafts, and what differs is changed. What is not in the source is never changed or
deleted. With --fix, each difference has a result: repaired, failed, left (for a person to
decide), or "as desired" (somebody else has repaired it). Run an interrupted repair
again to continue. With --fix --dry-run nothing is written: the result is in which form each DOI
would be written (JSON, or the stored XML), or "left", with what the repair would lose.

--html writes a page for people: how many DOIs are right, what differs, and what the records at
the service lack (licence, ORCID, ROR, abstract, funding, related works).

--links asks the landing page of each findable DOI at the service, too, by DataCite's rules: the URL
leads to a page with status 200, in HTML, with the DOI on it. It sends HEAD, and then GET for what
that does not tell; a host gets one request at a time, one per second or what --links-rate and its
robots.txt say, with your contact in the User-Agent, and neither login nor cookies. Addresses that
are not public are not asked without --allow-private. The kinds:

  page-status       the status is not 200, such as 404, or 403 of a page behind a login
  page-not-html     it is something else, such as a PDF
  page-no-doi       the DOI is not in the HTML, as it is before scripts run
  page-redirects    redirects lead nowhere: a loop, more than 10, or another scheme than http, https
  page-unreachable  no answer within 30 seconds, or the server is busy (429, 503)
  page-not-asked    robots.txt disallows it, the address is not public, or the host has not answered
                    five times in a row
  page-redirected   right, at another address: no difference, and not in the table for people

With --output or --html, an interrupted run continues: FILE.links has its results until it is
complete.

If the service lists no DOI of the account or the prefix, its name may be wrong: that is an error,
and with --fix a warning. Lists lag behind: what became different in the last ten minutes may be
missing, and an extra DOI may have been deleted meanwhile. Without a login, only findable DOIs are
seen, and drafts and hidden ones are missing.`,
		Example: `  datacite audit items.csv --client ice.archive
  datacite audit items.csv --client ice.archive --html report.html --output differences.xlsx
  datacite audit items.registered.csv --prefix 10.5072 --fix --service test`,
		RunE: c.run,
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&c.opts.ClientID, "client", nil, "DOIs of these repository `accounts`, separated by commas, such as ice.archive")
	flags.StringSliceVar(&c.opts.Prefix, "prefix", nil, "DOIs with one of these `prefixes`, separated by commas")
	flags.StringSliceVar(&c.only, "only", choices,
		"which `differences`, separated by commas; changed is url, state and metadata")
	_ = cmd.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(append(choices, string(reconcile.KindChanged)),
		cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	flags.StringSliceVar(&c.passOver, "pass-over", nil,
		"`columns` that are not compared, separated by commas, such as those of your own")
	flags.BoolVar(&c.opts.ReadExtra, "read-extra", false,
		"read each extra DOI once more, with a request each, so that none is reported that was just deleted")
	flags.BoolVar(&c.fix, "fix", false, "write what differs, after asking; extra DOIs are never deleted")
	flags.StringVar(&c.html, "html", "", "write a page for people to this `file`")
	c.links.flags(cmd)
	s.FormatFlags(cmd)
	s.Flags(cmd, shell.DryRun, shell.Yes)
	c.flags = account.NewFlags(s, cmd, account.Writes)
	return cmd
}

// check reads the settings.
func (c *command) check(cmd *cobra.Command, source string) error {
	c.source = source
	switch {
	case c.opts.Prefix == nil && c.opts.ClientID == nil:
		return errors.New("give --client or --prefix: which DOIs should there be?")
	case c.Yes && !c.fix:
		return errors.New("--yes has no effect without --fix")
	case c.DryRun && !c.fix:
		return errors.New("--dry-run has no effect without --fix, which alone writes")
	case c.fix && !c.Yes && !c.DryRun && c.Quiet:
		return errors.New("--fix asks before it writes; with --quiet, give --yes, too")
	}
	if err := c.checkLinks(cmd); err != nil {
		return err
	}
	chosen := map[string]bool{}
	for _, choice := range c.only {
		switch choice = strings.TrimSpace(choice); {
		case choice == string(reconcile.KindChanged):
			for _, part := range ofChanged {
				chosen[part] = true
			}
		case slices.Contains(choices, choice):
			chosen[choice] = true
		default:
			return fmt.Errorf("--only: %w", shell.NotOne(choice, append(choices, string(reconcile.KindChanged))))
		}
	}
	c.only = slices.DeleteFunc(slices.Clone(choices), func(choice string) bool { return !chosen[choice] })
	for flag, name := range map[string]string{"--output": c.Output, "--html": c.html} {
		if name != "" && shell.IsSame(name, source) {
			return fmt.Errorf("%s %s would replace the source; give another name", flag, name)
		}
	}
	c.opts.Kinds, c.opts.Adapt = kinds(c.only), c.adapt
	c.rehearse, c.DryRun = c.DryRun, c.DryRun || !c.fix // it reads
	return c.ChooseFormat(cmd)
}

// kinds are those that the choices are of. A DOI that does not exist is never right.
func kinds(only []string) (all []reconcile.DifferenceKind) {
	all = []reconcile.DifferenceKind{reconcile.KindMissing}
	for _, choice := range only {
		kind := reconcile.DifferenceKind(choice)
		if slices.Contains(ofChanged, choice) {
			kind = reconcile.KindChanged
		}
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}

// adapt leaves out of what is desired what --only leaves out, so that it is neither compared
// nor written, and adds what a table cannot say.
func (c *command) adapt(d *reconcile.Desired, found *dois.Record) error {
	if found == nil { // it is made as the source says
		return nil
	}
	if !slices.Contains(c.only, "url") {
		d.URL = ""
	}
	if !slices.Contains(c.only, "state") {
		d.State = ""
	}
	switch {
	case !slices.Contains(c.only, "metadata") && !slices.Contains(c.only, "invalid"):
		d.Metadata, d.XML, d.Clear = nil, nil, nil
	case isTable(c.source) && d.Metadata != nil:
		table.Adapt(c.Shell, d, d.Metadata, found)
	}
	return nil
}

// differences are those that --only chooses. With --fix, the service may list no DOI: the first
// ones are made.
func (c *command) differences(ctx context.Context,
	progress func(reconcile.AuditProgress)) iter.Seq2[*reconcile.Difference, error] {
	return func(yield func(*reconcile.Difference, error) bool) {
		opts := c.opts
		opts.Progress, opts.AllowEmpty = progress, c.warned
		if c.html != "" {
			c.page.Coverage = &coverage{}
		}
		if c.html != "" || c.links.wanted {
			opts.Listed = c.list
		}
		for d, err := range c.client.Audit(ctx, c.desired(ctx), &opts) {
			if errors.Is(err, reconcile.ErrNothingListed) {
				err = shell.Wrong(c.nothingListed(err))
				if c.fix {
					c.warned = true
					c.Warn("%s", shell.Message(err))
					c.differences(ctx, progress)(yield)
					return
				}
			}
			if err == nil && !c.choose(d) {
				continue
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// list takes a record that the service lists.
func (c *command) list(r *dois.Record) {
	if c.page.Coverage != nil {
		c.page.Coverage.count(r)
	}
	if c.links.wanted {
		c.links.list(r)
	}
}

// nothingListed adds what may be the cause, too.
func (c *command) nothingListed(err error) error {
	if c.service.Config.Password != "" {
		return err
	}
	return fmt.Errorf("%w Without a login only findable DOIs are listed", err)
}

// choose takes metadata out of a change that was compared only to repair invalid ones. It
// reports whether something is left.
func (c *command) choose(d *reconcile.Difference) bool {
	if d.Kind == reconcile.KindMissing && !slices.Contains(c.only, "missing") {
		c.page.Absent++
		return false
	}
	if d.Kind == reconcile.KindInvalid || d.Kind == reconcile.KindMissing || d.Desired == nil ||
		slices.Contains(c.only, "metadata") {
		return true
	}
	desired := *d.Desired
	desired.Metadata, desired.XML, desired.Clear = nil, nil, nil
	d.Desired = &desired
	d.Changes = slices.DeleteFunc(d.Changes, func(c metadata.Change) bool { return c.Path != "url" && c.Path != "state" })
	return d.Kind != reconcile.KindChanged || len(d.Changes) > 0
}

func (c *command) run(cmd *cobra.Command, args []string) (err error) {
	sources, remove, err := c.Spool(args, true)
	defer remove()
	if err != nil {
		return err
	}
	if err := c.check(cmd, sources[0]); err != nil {
		return shell.Wrong(err)
	}
	ctx := cmd.Context()
	c.began = time.Now()
	if c.service, err = c.flags.Open(); err != nil {
		return err
	}
	c.page = c.newPage()
	if c.client, err = reconcile.NewClient(c.service.Config); err != nil {
		return err
	}
	if c.records, err = dois.NewClient(c.service.Config); err != nil {
		return err
	}
	table, page, err := c.Files(c.html)
	if err != nil {
		return err
	}
	defer table.Discard()
	defer page.Discard()
	if err := c.links.open(c.Output, c.html); err != nil {
		return errors.Join(err, c.links.close(false))
	}
	err = c.audit(ctx, table)
	if err == nil || c.page.Done() { // what was repaired is reported, also of a run that was interrupted
		c.page.Broken = err != nil
		err = errors.Join(err, c.Keep(table), c.savePage(page))
	}
	err = errors.Join(err, c.links.close(err == nil))
	if err != nil {
		return err
	}
	return c.verdict()
}

func (c *command) savePage(page *shell.File) error {
	if page == nil {
		return nil
	}
	if err := pageTemplate().Execute(page, c.page); err != nil {
		return err
	}
	return c.Keep(page)
}

// audit compares, and repairs with --fix. The differences go to a file or, without one, to standard output.
func (c *command) audit(ctx context.Context, file *shell.File) error {
	if err := c.service.Check(ctx, c.Shell); err != nil {
		return err
	}
	data, results := c.Data(), c.Results()
	if file != nil {
		data, results = file, file
	} else if c.Quiet && c.Format == shell.FormatTable {
		results = io.Discard
	}
	if !c.fix {
		_, err := c.show(ctx, c.printer(c.Format, data, false))
		return err
	}
	if c.Yes || c.rehearse {
		return c.repair(ctx, 0, results)
	}
	writes, err := c.show(ctx, c.printer(shell.FormatTable, c.Notes(), false))
	if err != nil {
		return err
	}
	if writes > 0 {
		if err := c.Confirm(fmt.Sprintf("Write %s at %s?", shell.Count(writes, "DOI"), c.service)); err != nil {
			return err
		}
	}
	c.page = c.newPage()
	return c.repair(ctx, writes, results)
}

// show prints the differences, and counts the DOIs that can be repaired.
func (c *command) show(ctx context.Context, out printer) (writes int, err error) {
	last := ""
	for d, err := range c.differences(ctx, c.progress) {
		if err != nil {
			if ctx.Err() != nil {
				err = shell.Interrupted("the comparison is incomplete; the same command begins again")
			}
			return 0, errors.Join(err, out.End())
		}
		c.page.add(d, outcome{})
		if err := c.print(out, d, outcome{}); err != nil {
			return 0, err
		}
		if repairable(d) && d.DOI != last {
			writes, last = writes+1, d.DOI
		}
	}
	return writes, errors.Join(c.askPages(ctx, out), out.End())
}

func (c *command) progress(now reconcile.AuditProgress) {
	c.page.Progress = now
	more := fmt.Sprintf("%s in the source, %s compared, %s", shell.Number(now.Desired), shell.Number(now.Compared),
		shell.Count(now.Differences, "difference"))
	c.Progress(now.Found, now.Total, "records", more)
}

// verdict sums up, and is an error if something differs.
func (c *command) verdict() error {
	p := c.page
	as := ""
	if !p.Complete {
		as = " as to " + strings.Join(c.only, ", ")
	}
	c.Say("%s of %s right%s at %s", shell.Number(p.Right()), shell.Count(p.Progress.Desired, "DOI"), as, c.service)
	before := ""
	if p.Fixed {
		before = " before"
	}
	for _, s := range p.Sections() {
		c.Say("%7s %s%s", shell.Number(s.Count), s.Kind, before)
	}
	if p.Unseen() {
		c.Warn("warning: without a login only findable DOIs are seen: a missing one may be a draft, or hidden; datacite " +
			"login stores a login")
	}
	c.Say("what was made or changed after %s may be missing: the list of the service lags behind by up to ten minutes",
		c.began.Add(-lag).Format(time.TimeOnly))
	read := fmt.Sprintf("%s wanted and %s at %s", shell.Count(p.Progress.Desired, "DOI"),
		shell.Count(p.Progress.Found, "DOI"), c.service)
	absent := ""
	if p.Absent > 0 {
		does := "do"
		if p.Absent == 1 {
			does = "does"
		}
		absent = fmt.Sprintf("; %s %s not exist at the service", shell.Count(p.Absent, "DOI"), does)
	}
	absent += c.sayPages()
	switch {
	case p.Fixed && p.Failed+p.Left > 0:
		return shell.Refused(fmt.Errorf("%s: %s repaired, %s for you to decide%s", read, shell.Count(p.Repaired, "DOI"),
			p.rest(), absent))
	case p.Fixed && p.Repaired > 0 && absent != "":
		return shell.Refused(fmt.Errorf("%s: %s repaired, %s%s", read, shell.Count(p.Repaired, "DOI"), p.rest(), absent))
	case p.Fixed && p.Repaired > 0:
		c.Say("%s: %s repaired, %s", read, shell.Count(p.Repaired, "DOI"), p.rest())
	case absent != "" || p.Count() > 0 && !p.Fixed:
		return shell.Refused(fmt.Errorf("%s: %s%s", read, shell.Count(p.Count(), "difference"), absent))
	default:
		c.Say("%s: nothing differs", read)
	}
	return nil
}

// isTable reports whether a source is a table.
func isTable(source string) bool {
	return table.Is(source) || strings.HasSuffix(strings.ToLower(source), ".txt")
}

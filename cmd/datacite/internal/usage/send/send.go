// Package send is the command datacite usage send.
package send

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/usage/source"
	"github.com/datacite-go/datacite-go/reports"
)

type command struct {
	*shell.Shell
	flags *account.Flags

	files *source.Files
	opts  reports.SubmitOptions

	allowLower, allowOthers bool

	service *account.Service // nil in a dry run without one
	client  *reports.Client
	meter   *meter
}

// Command is datacite usage send.
func Command(s *shell.Shell) *cobra.Command {
	c := &command{Shell: s}
	cmd := &cobra.Command{
		Use: "send FILE…", Args: cobra.MinimumNArgs(1),
		Short: "Send usage reports, from report files or tables of counts",
		Long: `Send usage reports, and make sure that the service holds exactly them. A FILE is

` + source.Help + `

Several reports are sent one after the other. A report is refused that is lower than the stored one
in counts that DOI records show, since a log may have been missing; --allow-lower sends such a
correction. A report is also refused if another report of the account, such as one under an earlier
name of the repository, has numbers of the same datasets in that month, since records show the sum:
"datacite usage repair --replaces" sets those to 0, and --allow-others sends a report of other accesses.

The service makes the numbers of DOI records from a report by rules of its own. What they will not
show as it was counted is a warning, and so is a number of an earlier version that this one lacks:
records continue to show it, unless --zero-dropped sends a count of 0 in its place, now or in a
later run.

--dry-run reads and checks the files. If a service is said, it also asks the service whether the
token is right, and looks for the stored report that would be replaced.

The receipt is printed after the stored report was read back and compared. Running the command
again changes nothing, and after an interruption it continues from what is stored. When a response
is lost, it waits before it sends again, since the service may still be working on the request; a
run after one that was cut off waits for the rest of that time. It waits for a service that cannot be
reached, too (--max-outage). While a report is sent, other runs
for it on this machine end at once. They know of each other by files in the folder that the variable
DATACITE_LOCK_DIR names, or else /tmp.

The stored report is dated today, unless the service has these data already: records may lack its
counts for a day or two from then.

It needs the token of an account (DATACITE_TOKEN in "datacite help logins").`,
		Example: `  datacite usage send report.json.gz --service test
  datacite usage send counts.csv --creator "My Repository" --month 2026-10 --dry-run
  datacite usage send counts.xlsx --creator "My Repository" --month 2026-10 \
      --platform "My Portal" --publisher "My University" --service production --quiet`,
		RunE: c.run,
	}
	flags := cmd.Flags()
	c.files = source.NewFiles(s, cmd)
	flags.BoolVar(&c.allowLower, "allow-lower", false, "replace the stored report even if counts decrease")
	flags.BoolVar(&c.opts.ZeroDropped, "zero-dropped", false,
		"send the count 0 for numbers of earlier versions that this one lacks")
	flags.BoolVar(&c.allowOthers, "allow-others", false,
		"send a report although another one of the account has numbers of the same datasets in that month; records show "+
			"the sum")
	flags.BoolVar(&c.opts.AllowInconsistent, "allow-inconsistent", false,
		"send counts that contradict each other, such as more unique than total ones, as they are")
	flags.StringVar(&c.opts.HelpURL, "help-url", "", "`URL` for the note that the report is compressed")
	flags.IntVar(&c.opts.MaxDatasets, "max-datasets", reports.MaxDatasets, "most `datasets` in one subset")
	flags.DurationVar(&c.opts.MaxProcessing, "max-processing", 5*time.Minute,
		"the longest `time` for which the service may still work on a request whose response was lost; until then nothing "+
			"else is sent")
	flags.DurationVar(&c.opts.MaxOutage, "max-outage", 30*time.Minute,
		"the longest `time` to wait for a service that cannot be reached or fails")
	s.Flags(cmd, shell.DryRun, shell.JSON, shell.Yes)
	c.flags = account.NewFlags(s, cmd, account.Writes)
	return cmd
}

func (c *command) run(cmd *cobra.Command, files []string) error {
	switch {
	case c.opts.MaxDatasets < 1 || c.opts.MaxDatasets > reports.MaxDatasets:
		return shell.Wrong(fmt.Errorf("--max-datasets is %d, not between 1 and %d", c.opts.MaxDatasets, reports.MaxDatasets))
	case c.opts.MaxProcessing <= 0:
		return shell.Wrong(fmt.Errorf("--max-processing is %v; it must be more than 0", c.opts.MaxProcessing))
	case c.opts.MaxOutage <= 0:
		return shell.Wrong(fmt.Errorf("--max-outage is %v; it must be more than 0", c.opts.MaxOutage))
	}
	c.opts.CompareOthers, c.opts.RefuseOthers = c.allowOthers, !c.allowOthers
	c.opts.RefuseLower, c.opts.MergeRepeats = !c.allowLower, c.files.MergeRepeats
	inputs, err := c.files.Open(cmd, files)
	defer func() {
		for _, in := range inputs {
			in.Close()
		}
	}()
	if err != nil {
		return err
	}
	if err := c.connect(); err != nil {
		return err
	}
	for _, in := range inputs {
		if err := c.send(cmd.Context(), in); err != nil {
			return c.explained(cmd.Context(), err)
		}
	}
	return nil
}

// connect makes a client of the service. A dry run asks none if none is said.
func (c *command) connect() (err error) {
	c.meter = &meter{shell: c.Shell}
	cfg := c.Config
	cfg.Service = datacite.Production
	if !c.DryRun || c.flags.Said() {
		if c.service, err = c.flags.Open(); err == nil {
			cfg, err = c.flags.ForReports(c.service)
		}
		if err != nil {
			return err
		}
	}
	c.client, err = reports.NewClient(cfg)
	return err
}

// stored is the id of the report that a dry run would replace; "" if there is none.
func (c *command) stored(ctx context.Context, h reports.Header) (string, error) {
	if c.service == nil {
		c.Say("the service and the token are not checked, since no service is said; --service checks them")
		return "", nil
	}
	if _, _, err := c.service.ProveToken(ctx); errors.Is(err, account.ErrUnproven) {
		c.Warn("warning: %s", shell.Message(err))
	} else if err != nil {
		return "", err
	}
	for r, err := range c.client.All(ctx, &reports.ListOptions{CreatedBy: h.CreatedBy}) {
		if err != nil {
			return "", err
		}
		if r.Header.CreatedBy == h.CreatedBy && r.Header.ReportingPeriod.BeginDate == h.ReportingPeriod.BeginDate {
			return r.ID, nil
		}
	}
	return "", nil
}

// send sends one report.
func (c *command) send(ctx context.Context, in *source.Report) error {
	if err := in.Begin(ctx); err != nil {
		return err
	}
	if !c.DryRun && c.service.Name == "production" && shell.IsTerminal(c.Stdin) {
		if err := c.Confirm(fmt.Sprintf("Send the report of %s for %s to %s?", in.Header.CreatedBy,
			in.Header.ReportingPeriod.BeginDate, c.service)); err != nil {
			return err
		}
	}
	in.Header.Created = reports.Day(time.Now().UTC()) // from which usage check counts the days that the service may take
	watch := &watcher{show: c.meter}
	warn := func(f datacite.Finding) {
		if in.Warn(f); f.Code == reportedTwice && c.Quiet && !c.allowOthers {
			c.Warn("%v", f) // it could not be looked for
		}
	}
	opts := c.opts
	opts.DryRun, opts.LeaveOut, opts.Warn, opts.Progress = c.DryRun, in.LeavingOut(), account.WarnOfToken(c.Shell,
		warn), watch.progress
	stored, err := c.client.Submit(ctx, in.Header, in.Datasets(), &opts)
	switch {
	case err != nil:
	case c.DryRun:
		stored.ReportID, err = c.stored(ctx, in.Header)
	default:
		c.Say("reading the report back")
		if err = c.client.Verify(ctx, stored); err != nil {
			err = &unverifiedError{stored, err}
		}
	}
	if err != nil {
		in.PrintWarnings(c.Warn)
		return err
	}
	in.PrintWarnings(c.Say)
	done := c.newReceipt(in, stored)
	if kept := done.kept(); c.Quiet && kept != "" {
		c.Warn("warning: kept: %s", kept)
	}
	c.Result(done, "%s", strings.TrimSuffix(done.text(), "\n"))
	return nil
}

// An unverifiedError is a report that was stored, and is not known to be as it
// should.
type unverifiedError struct {
	stored *reports.Receipt
	err    error
}

func (e *unverifiedError) Error() string {
	return fmt.Sprintf("report %s was stored, all %d subsets of it, but reading it back failed: %v", e.stored.ReportID,
		len(e.stored.Subsets), e.err)
}

func (e *unverifiedError) Unwrap() error { return e.err }

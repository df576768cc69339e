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
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/table"
)

type command struct {
	*shell.Shell
	flags *account.Flags

	creator, month, created, name, reportID string // of the header of a table
	table                                   table.Options
	leaveOut                                bool
	opts                                    reports.SubmitOptions

	header  reports.Header   // of a table
	service *account.Service // nil in a dry run
	client  *reports.Client
	meter   *meter
}

// ofTables are the flags that a report file has no use for.
var ofTables = []string{"creator", "month", "created", "name", "report-id", "platform", "publisher"}

// Command is datacite usage send.
func Command(s *shell.Shell) *cobra.Command {
	c := &command{Shell: s}
	cmd := &cobra.Command{
		Use: "send FILE…", Args: cobra.MinimumNArgs(1),
		Short: "Send usage reports, from report files or tables of counts",
		Long: `Send usage reports, and make sure that the service holds exactly them. A FILE is

  - a report as JSON; several are sent one after the other
  - a table of counts, CSV or .xlsx; several make one report. --creator and --month are required

Either may be compressed with gzip; - is standard input. A table has the columns

  doi, metric, access, count         required
  platform, publisher                required, here or as flags
  title, year, uri, country

in any order. A row counts one metric (total- or unique-dataset-requests, total- or
unique-dataset-investigations) of one DOI for one kind of access (regular or machine) and one
country of two letters, or none if it is not known. The rows of a DOI make one dataset. They may
come in any order and number, and make the same report in any order.

A row that counts what another row has counted is a fault, and so is a cell that cannot be read:
nothing is sent. --leave-out leaves out the dataset of such a row, since its counts would be wrong
without it, and --merge-repeats adds up what is counted twice.

The service makes the numbers of DOI records from a report by rules of its own. What they will not
show as it was counted is a warning, and so is a number of an earlier version that this one lacks:
records continue to show it, unless --zero-dropped sends a count of 0 in its place, now or in a
later run.

The receipt is printed after the stored report was read back and compared. Running the command
again changes nothing, and after an interruption it goes on from what is stored. When a response
is lost, it waits before it sends again, since the service may still be working on the request; a
run after one that was cut off waits for the rest of that time. While a report is sent, other runs
for it on this machine end at once. They know of each other by files in the folder that the variable
DATACITE_LOCK_DIR names, or else /tmp.

It needs the token of an account (DATACITE_TOKEN in "datacite help logins").`,
		Example: `  datacite usage send report.json.gz --service test
  datacite usage send counts.csv --creator "My Repository" --month 2026-10 --dry-run
  datacite usage send counts.xlsx --creator "My Repository" --month 2026-10 \
      --platform "My Portal" --publisher "My University" --service production --quiet`,
		RunE: c.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&c.creator, "creator", "", "of a table: `name` of the repository or platform that counted")
	flags.StringVar(&c.month, "month", "", "of a table: the `month` that was counted, YYYY-MM")
	flags.StringVar(&c.created, "created", "", "of a table: the `day` on which the report was made, YYYY-MM-DD (without it: the day after the month, so that each run makes the same report)")
	flags.StringVar(&c.name, "name", "Dataset Report", "of a table: `name` of the report, for people")
	flags.StringVar(&c.reportID, "report-id", "dsr", "of a table: short `code` of the type of the report")
	flags.StringVar(&c.table.Platform, "platform", "", "of a table: `platform` of rows that do not name one")
	flags.StringVar(&c.table.Publisher, "publisher", "", "of a table: `publisher` of rows that do not name one")
	flags.BoolVar(&c.leaveOut, "leave-out", false, "leave out datasets with faults, and send the others")
	flags.BoolVar(&c.opts.MergeRepeats, "merge-repeats", false, "add up what is counted twice")
	flags.BoolVar(&c.opts.ZeroDropped, "zero-dropped", false, "send the count 0 for numbers of earlier versions that this one lacks")
	flags.BoolVar(&c.opts.CompareOthers, "compare-others", false, "read the other reports of the account for that month, and warn of datasets that they have as well; records show the sum")
	flags.StringVar(&c.opts.HelpURL, "help-url", "", "`URL` for the note that the report is compressed")
	flags.IntVar(&c.opts.MaxDatasets, "max-datasets", reports.MaxDatasets, "most `datasets` in one subset")
	flags.DurationVar(&c.opts.MaxProcessing, "max-processing", 5*time.Minute, "how `long` the service may still work on a request whose response was lost; until then nothing else is sent")
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
	}
	inputs, err := c.open(files)
	defer func() {
		for _, in := range inputs {
			in.close()
		}
	}()
	if err == nil {
		err = c.readHeader(cmd, inputs[0].isTable)
	}
	if err != nil {
		return shell.Wrong(err)
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

// readHeader makes the header of a table.
func (c *command) readHeader(cmd *cobra.Command, isTable bool) error {
	if !isTable {
		for _, name := range ofTables {
			if shell.Changed(cmd, name) {
				return fmt.Errorf("--%s is for tables: a report file has its own", name)
			}
		}
		return nil
	}
	if c.creator == "" || c.month == "" {
		return errors.New("a table needs --creator and --month")
	}
	month, err := time.Parse("2006-01", c.month)
	if err != nil {
		return fmt.Errorf("--month is %q, not YYYY-MM", c.month)
	}
	created := month.AddDate(0, 1, 0)
	switch {
	case c.created != "":
		if created, err = time.Parse(time.DateOnly, c.created); err != nil {
			return fmt.Errorf("--created is %q, not YYYY-MM-DD", c.created)
		}
	case created.After(time.Now()):
		return fmt.Errorf("the month %s is not over; give --created to report it all the same", c.month)
	}
	c.header = reports.NewHeader(c.creator, reports.Day(created), reports.Month(month.Year(), month.Month()))
	c.header.ReportName, c.header.ReportID = c.name, c.reportID
	return nil
}

// connect makes a client of the service. A dry run asks none.
func (c *command) connect() (err error) {
	c.meter = &meter{shell: c.Shell}
	cfg := c.Config
	if c.DryRun {
		cfg.Service = datacite.Production
	} else {
		if c.service, err = c.flags.Open(); err != nil {
			return err
		}
		cfg = c.service.Config
		cfg.Username, cfg.Password = "", "" // reports take a token alone
		if cfg.Token == "" {
			return shell.Wrong(fmt.Errorf("usage reports need a token, and the login for %s has none; put it into DATACITE_TOKEN, or into a file for --login", c.service))
		}
		if at, err := reports.TokenExpiry(cfg.Token); err == nil && time.Until(at) < 30*24*time.Hour && time.Now().Before(at) {
			c.Warn("warning: the token expires on %s; ask the operator of the service for a new one", at.Format(time.DateOnly))
		}
	}
	c.client, err = reports.NewClient(cfg)
	return err
}

// send sends one report.
func (c *command) send(ctx context.Context, in *input) error {
	if err := in.open(ctx); err != nil {
		return err
	}
	if c.service != nil && c.service.Name == "production" && shell.IsTerminal(c.Stdin) {
		if err := c.Confirm(fmt.Sprintf("Send the report of %s for %s to %s?", in.header.CreatedBy, in.header.ReportingPeriod.BeginDate, c.service)); err != nil {
			return err
		}
	}
	watch := &watcher{show: c.meter, in: in}
	opts := c.opts
	opts.DryRun, opts.LeaveOut, opts.Warn, opts.Progress = c.DryRun, in.leavingOut(), in.warn, watch.progress
	stored, err := c.client.Submit(ctx, in.header, watch.datasets(), &opts)
	if err == nil && !c.DryRun {
		c.Say("reading the report back")
		if err = c.client.Verify(ctx, stored); err != nil {
			err = &unverifiedError{stored, err}
		}
	}
	if err != nil {
		in.printWarnings(c.Warn)
		return err
	}
	in.printWarnings(c.Say)
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
	return fmt.Sprintf("report %s was stored, all %d subsets of it, but reading it back failed: %v", e.stored.ReportID, len(e.stored.Subsets), e.err)
}

func (e *unverifiedError) Unwrap() error { return e.err }

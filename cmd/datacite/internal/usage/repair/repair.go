// Package repair is the command datacite usage repair.
package repair

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
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/shown"
)

type command struct {
	*shell.Shell
	flags    *account.Flags
	files    *source.Files
	account  string
	replaces []string

	service *account.Service
	reports *reports.Client
	dois    *dois.Client
}

// Command is datacite usage repair.
func Command(s *shell.Shell) *cobra.Command {
	c := &command{Shell: s}
	cmd := &cobra.Command{
		Use: "repair ACCOUNT FILE…", Args: cobra.MinimumNArgs(2),
		Short: "Make DOI records show the counts of a month, whatever was sent before",
		Long: `Make DOI records show the counts of a month, in the reports of a repository account, such as
example.repo. A FILE is

` + source.Help + `

The counts are compared with the stored reports of the account and with what records show. The
changes are printed: the report, with the count 0 for each number that is gone, and zeros in the
place of all numbers of a report of --replaces, such as one under an earlier name of the repository.
Other reports of the month are named and left as they are. Then a question is asked, which --yes
answers; --dry-run ends there.

A second repair changes nothing, and after an interruption it continues from what is stored. Records
show the numbers when the service has read the reports, in a day or two. What no repair mends, such
as a number of another account, is a warning, and the exit code is 1.

It needs the token of the account (DATACITE_TOKEN in "datacite help logins"), but not for --dry-run;
with name and password, DOIs that are not findable are seen, too.`,
		Example: `  datacite usage repair example.repo report.json --dry-run
  datacite usage repair example.repo report.json --replaces "Old Name" --service production`,
		RunE: c.run,
	}
	cmd.Flags().StringArrayVar(&c.replaces, "replaces", nil,
		"`name` of the creator (or the id) of another report of the month that counts the same accesses; its numbers "+
			"become 0; may be repeated")
	c.files = source.NewFiles(s, cmd)
	s.Flags(cmd, shell.DryRun, shell.JSON, shell.Yes)
	c.flags = account.NewFlags(s, cmd, account.Writes)
	return cmd
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	c.account = strings.ToLower(args[0])
	ctx, files := cmd.Context(), args[1:]
	if err := c.connect(ctx); err != nil {
		return err
	}
	if !c.DryRun && !c.Yes {
		question := fmt.Sprintf("Send this to %s?", c.service)
		if !shell.IsTerminal(c.Stdin) {
			return c.Confirm(question)
		}
		plan, err := c.repair(cmd, files, true) // nobody can answer before it is known
		if err != nil {
			return err
		}
		c.Warn("%s", c.text(plan, true))
		if changes(plan) {
			if err := c.Confirm(question); err != nil {
				return err
			}
		}
	}
	done, err := c.repair(cmd, files, c.DryRun)
	if err != nil {
		return err
	}
	c.Result(c.outcome(done), "%s", c.text(done, c.DryRun))
	return c.remaining(done)
}

// connect makes the clients. A dry run only reads, for which reports are public.
func (c *command) connect(ctx context.Context) (err error) {
	if c.service, err = c.flags.Open(); err != nil {
		return err
	}
	cfg := c.service.Config
	cfg.Username, cfg.Password, cfg.Token = "", "", ""
	if !c.DryRun {
		if cfg, err = c.flags.ForReports(c.service); err != nil {
			return err
		}
	}
	if c.reports, err = reports.NewClient(cfg); err != nil {
		return err
	}
	cfg = c.service.Config
	cfg.Token = ""
	if c.dois, err = dois.NewClient(cfg); err != nil {
		return err
	}
	return c.service.Check(ctx, c.Shell)
}

// repair reads the files, and repairs or only finds what to do.
func (c *command) repair(cmd *cobra.Command, files []string, dry bool) (*shown.Repaired, error) {
	inputs, err := c.files.Open(cmd, files)
	defer func() {
		for _, in := range inputs {
			in.Close()
		}
	}()
	if err == nil && len(inputs) > 1 {
		err = shell.Wrong(errors.New("there are several reports; repair one month at a time"))
	}
	if err != nil {
		return nil, err
	}
	ctx, in := cmd.Context(), inputs[0]
	if err := in.Begin(ctx); err != nil {
		return nil, shell.Wrong(err)
	}
	in.Header.Created = reports.Day(time.Now().UTC()) // as datacite usage send does
	done, err := shown.Repair(ctx, c.reports, c.dois, c.account, in.Header, in.Datasets(), &shown.RepairOptions{
		DryRun: dry, Replaces: c.replaces, Warn: func(doi string, f datacite.Finding) {
			account.WarnOfToken(c.Shell, func(f datacite.Finding) { in.WarnOf(doi, f) })(f)
		},
		Submit: reports.SubmitOptions{MergeRepeats: c.files.MergeRepeats, LeaveOut: in.LeavingOut(),
			Progress: func(p reports.Progress) {
				c.Progress(int(p.Datasets), 0, "datasets sent", p.Reason)
			}},
		Compare: shown.Options{Progress: func(p shown.Progress) {
			c.Progress(p.Records, max(p.AllRecords, 0), "records compared", shell.Count(p.Differences, "difference"))
		}},
	})
	if err != nil {
		in.PrintWarnings(c.Warn)
		return nil, c.explained(ctx, err, done)
	}
	if in.PrintWarnings(c.Say); in.LeftOut > 0 {
		c.Warn("warning: left out: %s; the first: %s", shell.Count(in.LeftOut, "dataset"), in.Faults[0])
	}
	return done, nil
}

// explained is an error with what was sent before, and what to do.
func (c *command) explained(ctx context.Context, err error, done *shown.Repaired) error {
	_, ofInput := errors.AsType[*source.Error](err)
	if faults, ok := errors.AsType[*datacite.ValidationError](err); ok && !ofInput {
		return shell.Wrong(errors.New(source.Listed(faults)))
	}
	if done != nil && !c.DryRun {
		c.Warn("%s", strings.TrimSpace(listed(done, false)))
	}
	stopped, sent := errors.AsType[*reports.SubmitError](err)
	const again = "run the same command again to continue from what is stored"
	switch {
	case ctx.Err() != nil:
		return shell.Interrupted(again)
	case ofInput:
		return shell.Wrong(err)
	case sent && stopped.State != reports.SubmitUntouched, errors.Is(err, reports.ErrBusy):
		return shell.Refused(fmt.Errorf("%w; "+again, err))
	case sent: // its own kind is the state of the report
		return fmt.Errorf("report %s was not sent: %w", stopped.ReportID, stopped.Err)
	case errors.Is(err, datacite.ErrConflict):
		return shell.Refused(err)
	}
	return err
}

// mostShown are the changes that are shown of each report.
const mostShown = 20

// changes reports whether something is to be sent.
func changes(done *shown.Repaired) bool {
	for _, one := range done.Reports {
		if one.Datasets > 0 {
			return true
		}
	}
	return false
}

// listed is what changes, or would change.
func listed(done *shown.Repaired, dry bool) string {
	var b strings.Builder
	for _, one := range done.Reports {
		fmt.Fprintf(&b, "%s, report %s: %s\n", one.Header.CreatedBy, one.ID, outcomeOf(one, dry))
		for i, change := range one.Changes {
			if i == mostShown {
				fmt.Fprintf(&b, "  and %s more\n", shell.Count(len(one.Changes)-i, "number"))
				break
			}
			fmt.Fprintf(&b, "  %s: %s, %s becomes %s", change.DOI, change.Metric, shell.Number(change.Was),
				shell.Number(change.Now))
			if change.Cause != "" {
				fmt.Fprintf(&b, " (%s)", change.Cause)
			}
			fmt.Fprintln(&b)
		}
		fmt.Fprintln(&b)
	}
	for _, other := range done.Others {
		fmt.Fprintf(&b, "%s, report %s: left as it is; if it counts the same accesses, --replaces %q takes its numbers "+
			"back\n\n", other.Header.CreatedBy, other.ID, other.Header.CreatedBy)
	}
	return b.String()
}

// text is that, and a last line that says what to do.
func (c *command) text(done *shown.Repaired, dry bool) string {
	end := fmt.Sprintf("Records at %s show the numbers when the service has read the reports, in a day or two.", c.service)
	switch changed := changes(done); {
	case dry && changed:
		end = fmt.Sprintf("Nothing was sent to %s yet.", c.service)
	case !changed && len(done.Remain) > 0:
		end = "Nothing is to be sent, but differences remain: the warnings name them."
	case !changed:
		end = fmt.Sprintf("The reports at %s are stored as they should be; nothing is to be sent.", c.service)
	}
	return listed(done, dry) + end
}

func outcomeOf(one *shown.RepairedReport, dry bool) string {
	datasets, numbers := shell.Count(one.Datasets, "dataset"), shell.Count(len(one.Changes), "number")
	switch {
	case one.Datasets == 0:
		return "nothing to send"
	case dry:
		return fmt.Sprintf("%s to send, %s would change", datasets, numbers)
	case one.Receipt == nil:
		return "not sent: " + datasets
	}
	return fmt.Sprintf("sent: %s, %s changed", datasets, numbers)
}

// remaining prints what no repair mends. It is an error, but for numbers that only need time.
func (c *command) remaining(done *shown.Repaired) error {
	lasting := 0
	for i, d := range done.Remain {
		if d.Cause != datacite.CodeNotProcessed {
			lasting++
		}
		if i < mostShown {
			c.Warn("warning: remains: %v", d)
		}
	}
	if more := len(done.Remain) - mostShown; more > 0 {
		c.Warn("warning: remain: %s in all, of which %d are shown; datacite usage check lists them",
			shell.Count(len(done.Remain), "difference"), mostShown)
	}
	if lasting > 0 {
		return shell.Refused(fmt.Errorf("%s of the month may remain, which this repair does not mend",
			shell.Count(lasting, "difference")))
	}
	return nil
}

// An outcome is for programs.
type outcome struct {
	DryRun  bool       `json:"dryRun"`
	Service string     `json:"service"` // its host
	Found   int        `json:"found"`
	Reports []repaired `json:"reports"`
	Others  []string   `json:"others"` // ids
	Remain  []remains  `json:"remain"`
}

type repaired struct {
	ID        string   `json:"report"`
	CreatedBy string   `json:"createdBy"`
	Datasets  int      `json:"datasets"`
	Sent      bool     `json:"sent"`
	Changes   []change `json:"changes"`
}

type change struct {
	DOI    string        `json:"doi"`
	Metric shown.Metric  `json:"metric"`
	Was    int64         `json:"was"`
	Now    int64         `json:"now"`
	Cause  datacite.Code `json:"cause,omitempty"`
}

type remains struct {
	DOI      string        `json:"doi"`
	Metric   shown.Metric  `json:"metric"`
	Reported int64         `json:"reported"`
	Shown    int64         `json:"shown"`
	Cause    datacite.Code `json:"cause"`
}

func (c *command) outcome(done *shown.Repaired) *outcome {
	o := &outcome{DryRun: c.DryRun, Service: c.service.Host, Found: done.Found, Others: []string{}, Remain: []remains{}}
	for _, one := range done.Reports {
		r := repaired{one.ID, one.Header.CreatedBy, one.Datasets, one.Receipt != nil && one.Datasets > 0, []change{}}
		for _, of := range one.Changes {
			r.Changes = append(r.Changes, change(of))
		}
		o.Reports = append(o.Reports, r)
	}
	for _, other := range done.Others {
		o.Others = append(o.Others, other.ID)
	}
	for _, d := range done.Remain {
		o.Remain = append(o.Remain, remains{d.DOI, d.Metric, d.Reported, d.Shown, d.Cause})
	}
	return o
}

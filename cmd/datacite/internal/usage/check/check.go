// Package check is the command datacite usage check.
package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/shown"
)

type command struct {
	*shell.Shell
	flags        *account.Flags
	account      string
	html         string
	only, except []string
	leaveOut     bool
	opts         shown.Options

	service *account.Service
	dois    *dois.Client
	reports *reports.Client
	page    *page
}

// Command is datacite usage check.
func Command(s *shell.Shell) *cobra.Command {
	c := &command{Shell: s}
	cmd := &cobra.Command{
		Use: "check ACCOUNT", Args: cobra.ExactArgs(1),
		Short: "Compare the reports of an account with what its DOI records show",
		Long: `Compare the usage reports of a repository account, such as example.repo, with the views and
downloads that DOI records show, and say why they differ.

All reports of the account are read, and all its records listed; a DOI whose numbers differ is
read again by itself, since lists are a day behind. Nothing is written to the service. Without a
login, only findable DOIs are seen. An interrupted comparison begins again.

--html writes a page for people, which can be sent to others as it is: totals, months as bars,
the most used datasets of the account (not with --creator), causes and the largest differences.

Causes, for --only and --except:
` + causes(),
		Example: `  datacite usage check example.repo
  datacite usage check example.repo --html usage.html --output differences.xlsx`,
		RunE: c.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&c.opts.CreatedBy, "creator", "",
		"compare the reports of this `creator`, instead of those that the account sent; numbers from others then have the "+
			"cause unreported")
	flags.DurationVar(&c.opts.Lag, "lag", 48*time.Hour,
		"the `time` that the service may take to process a report, from the end of the day on which it was created")
	flags.StringSliceVar(&c.only, "only", nil, "look for these `causes`, separated by commas")
	flags.StringSliceVar(&c.except, "except", nil, "look for all but these `causes`")
	for _, name := range []string{"only", "except"} {
		var all []string
		for _, cause := range shown.AllCauses() {
			all = append(all, string(cause)+"\t"+shown.Sentence(cause))
		}
		// the flag is there
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))
	}
	flags.BoolVar(&c.leaveOut, "leave-out", false, "leave out reports that cannot be read, and their months")
	flags.StringVar(&c.html, "html", "", "write a page for people to this `file`")
	s.FormatFlags(cmd)
	c.flags = account.NewFlags(s, cmd, account.Reads)
	return cmd
}

// causes are the lines of the help.
func causes() string {
	var b strings.Builder
	for _, cause := range shown.AllCauses() {
		line := ""
		fmt.Fprintf(&b, "\n  %-19s", cause)
		for word := range strings.FieldsSeq(shown.Sentence(cause)) {
			if len(line)+len(word) > 70 {
				b.WriteString(line + "\n" + strings.Repeat(" ", 21))
				line = ""
			}
			line += " " + word
		}
		b.WriteString(line)
	}
	return b.String()
}

// choose reads the settings.
func (c *command) choose(cmd *cobra.Command) error {
	switch {
	case c.opts.Lag <= 0:
		return fmt.Errorf("--lag is %v; it must be more than 0", c.opts.Lag)
	case c.only != nil && c.except != nil:
		return errors.New("--only and --except are both given; leave one of them out")
	case c.only != nil || c.except != nil:
		var known []string
		for _, cause := range shown.AllCauses() {
			known = append(known, string(cause))
		}
		var listed []datacite.Code
		for _, name := range append(c.only, c.except...) {
			name = strings.TrimSpace(name)
			if !slices.Contains(known, name) {
				return fmt.Errorf("--only and --except: %w", shell.NotOne(name, known))
			}
			listed = append(listed, datacite.Code(name))
		}
		c.opts.Causes = listed
		if c.except != nil {
			c.opts.Causes = slices.DeleteFunc(shown.AllCauses(), func(cause datacite.Code) bool {
				return slices.Contains(listed, cause)
			})
		}
	}
	return c.ChooseFormat(cmd)
}

func (c *command) run(cmd *cobra.Command, args []string) (err error) {
	if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() && filepath.Ext(args[0]) != ".repo" {
		return shell.Wrong(fmt.Errorf("%s is a file, and the service is checked: give the name of the account, such as "+
			"example.repo; datacite usage send --dry-run checks a file", args[0]))
	}
	c.account = strings.ToLower(args[0])
	if err := c.choose(cmd); err != nil {
		return shell.Wrong(err)
	}
	if err := c.connect(cmd.Context()); err != nil {
		return err
	}
	c.page = c.newPage()
	table, page, err := c.Files(c.html)
	if err != nil {
		return err
	}
	defer table.Discard()
	defer page.Discard()
	out := c.Data()
	if table != nil {
		out = table
	}
	if err := c.check(cmd.Context(), c.printer(out)); err != nil {
		return err
	}
	if page != nil {
		if err := c.page.addMostUsed(cmd.Context(), c.dois); err != nil {
			return err
		}
		if err := pageTemplate().Execute(page, c.page); err != nil {
			return err
		}
	}
	if err := errors.Join(c.Keep(page), c.Keep(table)); err != nil {
		return err
	}
	return c.verdict()
}

// connect makes the clients. Reports are public.
func (c *command) connect(ctx context.Context) (err error) {
	if c.service, err = c.flags.Open(); err != nil {
		return err
	}
	cfg := c.service.Config
	cfg.Username, cfg.Password, cfg.Token = "", "", ""
	if c.reports, err = reports.NewClient(cfg); err != nil {
		return err
	}
	cfg.Username, cfg.Password = c.service.Config.Username, c.service.Config.Password
	if c.dois, err = dois.NewClient(cfg); err != nil {
		return err
	}
	return c.service.Check(ctx, c.Shell)
}

// check writes the differences.
func (c *command) check(ctx context.Context, out printer) error {
	opts := c.opts
	opts.Progress = func(now shown.Progress) {
		c.page.Progress = now
		c.progress(now)
	}
	opts.Months = func(months []shown.Month) { c.page.Months = months }
	if c.leaveOut {
		opts.LeaveOut = func(err error) bool {
			c.page.LeftOut = append(c.page.LeftOut, shell.Message(err))
			c.Warn("left out: %s", shell.Message(err))
			return true
		}
	}
	for d, err := range shown.Compare(ctx, c.reports, c.dois, c.account, &opts) {
		if err != nil && ctx.Err() != nil {
			err = shell.Interrupted("the comparison is incomplete; the same command begins again")
		}
		if err != nil {
			return errors.Join(err, out.End())
		}
		c.page.add(d)
		if err := out.Print(d); err != nil {
			return err
		}
	}
	if err := out.End(); err != nil {
		return err
	}
	return c.nothing(c.page.Progress)
}

// nothing is an error if there was nothing to compare.
func (c *command) nothing(read shown.Progress) error {
	switch {
	case c.opts.CreatedBy != "" && read.AllReports == 0:
		return shell.Wrong(fmt.Errorf("%s has no report that %q created; is the name right?", c.service, c.opts.CreatedBy))
	case read.AllReports+read.Records > 0:
		return nil
	case c.service.Config.Password == "":
		return shell.Wrong(fmt.Errorf("%s has no report and no findable DOI of %s; is the name right?", c.service, c.account))
	}
	return shell.Wrong(fmt.Errorf("%s has no report and no DOI of %s; is the name right?", c.service, c.account))
}

// progress shows how far the comparison is.
func (c *command) progress(now shown.Progress) {
	switch {
	case now.AllReports < 0:
	case now.Reports < now.AllReports:
		c.Progress(now.Reports, now.AllReports, "reports", shell.Count(now.Datasets, "dataset"))
	case now.Compared == 0:
		c.Progress(now.Records, max(now.AllRecords, 0), "records", "")
	default:
		c.Progress(now.Compared, 0, "DOIs compared", shell.Count(now.Differences, "difference"))
	}
}

// verdict sums up, and is an error if something differs.
func (c *command) verdict() error {
	p := c.page
	for _, cause := range p.Causes() {
		c.Say("%7s %s: %s", shell.Number(cause.Differences), cause.Cause, shown.Sentence(cause.Cause))
	}
	found := fmt.Sprintf("%s and %s at %s: ", shell.Count(p.Progress.Reports-len(p.LeftOut), "report"),
		shell.Count(p.Progress.Compared, "DOI"), c.service)
	as := ""
	if p.Some {
		as = " but for causes that were left out"
	}
	if p.Differences == 0 {
		found += "all numbers match" + as
	} else {
		found += fmt.Sprintf("%s right%s, %s with %s that differ",
			shell.Count(p.Progress.Compared-p.wrong,
				"DOI"), as, shell.Count(p.wrong, "DOI"), shell.Count(p.Differences, "number"))
	}
	if n := len(p.LeftOut); n > 0 {
		found += fmt.Sprintf("; %s could not be read", shell.Count(n, "report"))
	}
	if p.Differences > 0 || len(p.LeftOut) > 0 {
		return shell.Refused(errors.New(found))
	}
	c.Say("%s", found)
	return nil
}

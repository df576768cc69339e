// Package register is the command datacite register.
package register

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/record"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reconcile"
)

type command struct {
	*shell.Shell
	flags             *account.Flags
	doi, url, prefix  string
	state             string
	leaveOut, wait    bool
	allowLoss         bool
	template          bool
	resolver          string
	passOver          []string
	workers           int
	pause             time.Duration // before rows are tried again for which the service failed
	service           *account.Service
	isTable, isSingle bool
}

// Command is datacite register.
func Command(s *shell.Shell) *cobra.Command { return newCommand(s, 30*time.Second) }

func newCommand(s *shell.Shell, pause time.Duration) *cobra.Command {
	c := &command{Shell: s, pause: pause}
	cmd := &cobra.Command{
		Use: "register FILE…", GroupID: shell.Writing,
		Short: "Register DOIs, or change them, from records and tables",
		Long: `Make DOIs as files say: register those that are new, and change those that differ. A FILE, or -
for standard input, is

  - a table, CSV or .xlsx: one row, one DOI ("datacite help tables")
  - DataCite JSON, with the names of the service (creators, titles, …): a record, many of them
    one after the other, or a page of the service, such as "datacite search --json" prints.
    A missing member changes nothing, [] removes what the service shows, and null removes
    also what only the stored XML has
  - DataCite XML: a record
  - another format that the service takes, such as BibTeX, RIS or Citeproc JSON: a record

A record without a DOI gets a new one with the --prefix, and needs a URL of its own. New DOIs and
drafts become findable, unless --state or the column state says otherwise; other DOIs keep their
state.

Nothing is sent before everything was read. If a record has faults, nothing is sent at all, unless
--leave-out is given. --dry-run shows all faults and, with a login, whether the account may use
the prefixes, and what would change of each DOI: in which form it would be written (JSON, or the
stored XML), each value, and what else would be lost.

The result table is beside the table, items.registered.csv beside items.csv: the same rows with the
DOIs, and the columns result, error and registered. Run the same command again to continue after
an interruption or a failure. Or correct the result table, and run the command with it: only rows
that failed or were changed are sent. A new DOI is on disk before it is sent (in a file .journal
beside the result table), so none is lost.`,
		Example: `  datacite register record.xml --doi 10.5072/glacier-7 --url https://repo.example.org/glacier/7
  datacite register --template --output items.xlsx
  datacite register items.csv --prefix 10.5072 --dry-run
  datacite register items.csv --prefix 10.5072 --service test
  datacite register records/*.xml --url 'https://repo.example.org/items/{suffix}'`,
		RunE: c.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&c.doi, "doi", "", "the `DOI` of a single record")
	flags.StringVar(&c.prefix, "prefix", "", "the `prefix` of new DOIs")
	flags.StringVar(&c.url, "url", "",
		"the `URL` that the DOI of a record leads to; {doi}, {suffix} and {file} stand for the DOI, what follows its "+
			"prefix, and the name of the file without its ending")
	shell.Choice(cmd, &c.state, "state", "`state` of DOIs whose record gives none: findable, registered or draft",
		string(datacite.StateFindable), string(datacite.StateRegistered), string(datacite.StateDraft))
	flags.BoolVar(&c.leaveOut, "leave-out", false, "register what has no faults, and leave out the rest")
	flags.BoolVar(&c.allowLoss, "allow-loss", false,
		"write also where the service would lose something else of a record, which is listed")
	flags.StringSliceVar(&c.passOver, "pass-over", nil,
		"`columns` of your own, separated by commas, which stay in the table and are not registered; in the result table "+
			"they are behind the others, and need not be named again")
	flags.IntVar(&c.workers, "workers", 4, "how many `records` are written at the same time")
	flags.BoolVar(&c.wait, "wait", false, "wait until the DOI of a single record resolves")
	flags.StringVar(&c.resolver, "resolver", "",
		"with --wait: base `URL` of the resolver; that of DataCite's services is known")
	flags.BoolVar(&c.template, "template", false, "print an empty table, and exit")
	s.OutputFlag(cmd, "`file` for the result table, .csv or .xlsx (default for a table: beside it)")
	s.Flags(cmd, shell.JSON, shell.DryRun, shell.Yes)
	c.flags = account.NewFlags(s, cmd, account.Writes)
	return cmd
}

// check reads the settings.
func (c *command) check(files []string, isInput bool) error {
	count := 0
	for _, file := range files {
		if table.Is(file) {
			count++
		}
	}
	c.isTable = count > 0
	switch {
	case len(files) == 0:
		return errors.New("give a file with a record or a table; datacite register --help shows how")
	case count > 0 && len(files) > 1:
		return errors.New("give one table, or records alone: each table has results of its own")
	case c.isTable && (c.doi != "" || c.url != ""):
		return fmt.Errorf("--doi and --url are for records; the table %s has columns for them", files[0])
	case !c.isTable && c.passOver != nil:
		return errors.New("--pass-over is for tables")
	case len(files) > 1 && c.doi != "":
		return fmt.Errorf("--doi is for one record, and there are %d files", len(files))
	case len(files) > 1 && c.url != "" && !strings.Contains(c.url, "{"):
		return fmt.Errorf("--url is the same URL for %d records; write {doi}, {suffix} or {file} into it", len(files))
	case c.doi != "" && c.prefix != "":
		return errors.New("--prefix has no effect with --doi; leave one of them out")
	case c.prefix != "" && doi.CheckPrefix(c.prefix) != nil:
		return fmt.Errorf(`--prefix is %q, not "10." and four or five digits`, c.prefix)
	case c.workers < 1:
		return fmt.Errorf("--workers is %d; it must be at least 1", c.workers)
	case c.wait && (c.isTable || len(files) > 1):
		return errors.New("--wait is for a single record")
	case c.resolver != "" && !c.wait:
		return errors.New("--resolver has no effect without --wait")
	case c.isTable && isInput && c.Output == "":
		return errors.New("a table from standard input needs --output FILE.csv, which keeps the DOIs of its rows")
	case c.Output != "" && !table.IsOutput(c.Output):
		return fmt.Errorf("--output %s is neither .csv nor .xlsx", c.Output)
	}
	if c.doi != "" {
		name, err := doi.Parse(c.doi)
		if err == nil {
			err = doi.CheckNew(name)
		}
		if err != nil {
			return fmt.Errorf("--doi: %s", shell.Message(err))
		}
		c.doi = name
	}
	if c.Output == "" && c.isTable {
		c.Output = resultOf(files[0])
	}
	return nil
}

// resultOf is the file for the results of a table: a result table is replaced.
func resultOf(file string) string {
	end := ".registered.csv"
	if table.IsSpreadsheet(file) {
		end = ".registered.xlsx"
	}
	if strings.HasSuffix(file, end) {
		return file
	}
	return strings.TrimSuffix(file, filepath.Ext(file)) + end
}

// resolverURL is where the DOIs of the service resolve, "" if that is not known.
func (c *command) resolverURL() string { return cmp.Or(c.resolver, c.service.Resolver()) }

func (c *command) resolverAt() resolver { return resolver{base: c.resolverURL()} }

func (c *command) run(cmd *cobra.Command, files []string) (err error) {
	if c.template {
		return c.printTemplate(files)
	}
	isInput := slices.Contains(files, "-")
	files, remove, err := c.Spool(files, false)
	defer remove()
	if err != nil {
		return err
	}
	if err := c.check(files, isInput); err != nil {
		return shell.Wrong(err)
	}
	if c.service, err = c.flags.Open(); err != nil {
		return err
	}
	if c.wait && c.resolverURL() == "" {
		return shell.Wrong(fmt.Errorf("--wait needs --resolver: where the DOIs of %s resolve is not known", c.service))
	}
	j := &job{command: c, items: map[string]*item{}, prefixes: map[string]bool{}, refused: map[string]error{}}
	if j.client, err = reconcile.NewClient(c.service.Config); err != nil {
		return err
	}
	looker, err := dois.NewClient(c.service.Config)
	if err != nil {
		return err
	}
	var s source = &records{command: c, files: files, ctx: cmd.Context(), client: looker,
		stored: map[string]*dois.Record{}}
	if c.isTable {
		rows := &rows{command: c, file: files[0], look: table.Look{Shell: c.Shell, Client: looker}}
		if err := rows.prepare(cmd.Context()); err != nil {
			return shell.Wrong(err)
		}
		s = rows
	}
	j.source = s
	if !c.DryRun && c.Output != "" {
		release, err := shell.Lock(c.Output)
		if err != nil {
			return err
		}
		defer release()
	}
	if j.kept, err = record.NewKept(c.Shell, c.Output); err != nil {
		return shell.Wrong(err)
	}
	if j.results, err = loadResults(c.Output, s); err != nil {
		return shell.Wrong(err)
	}
	if c.isTable {
		if err := j.results.lookFor(resultOf(files[0])); err != nil {
			return shell.Wrong(err)
		}
	}
	ctx := cmd.Context()
	if err := j.check(ctx); err != nil || c.DryRun {
		return err
	}
	if err := j.ask(ctx); err != nil {
		return err
	}
	return j.report(ctx, j.run(ctx))
}

// printTemplate writes a table without rows. It replaces no table, which may be filled in.
func (c *command) printTemplate(files []string) error {
	switch _, err := os.Stat(c.Output); {
	case len(files) > 0:
		return shell.Wrong(fmt.Errorf("--template reads no file; leave %s out", files[0]))
	case c.Output != "" && c.Output != "-" && !table.IsOutput(c.Output):
		return shell.Wrong(fmt.Errorf("--output %s is neither .csv nor .xlsx", c.Output))
	case c.Output != "" && c.Output != "-" && err == nil:
		return shell.Wrong(fmt.Errorf("--output %s is there already; give the name of a new file", c.Output))
	}
	return c.WriteOutput(func(to io.Writer) error {
		return table.NewWriter(to, &table.WriterOptions{Spreadsheet: table.IsSpreadsheet(c.Output)}).Flush()
	})
}

// ask asks before something permanent is made at the production service.
func (j *job) ask(ctx context.Context) error {
	if left := j.rows - j.faulty - j.earlier; left > 0 && j.service.Name == "production" && shell.IsTerminal(j.Stdin) {
		if err := j.Confirm(fmt.Sprintf("Write %s at %s? Registered and findable DOIs are permanent.",
			shell.Count(left, "DOI"), j.service)); err != nil {
			return err
		}
	}
	if !j.wait { // what cannot be waited for is known before anything is sent
		return nil
	}
	if _, err := j.resolverAt().ask(ctx, j.lookedFor()); err != nil && ctx.Err() == nil {
		return shell.Failed(fmt.Errorf("--wait: the resolver cannot be asked, and nothing was sent: %w", err))
	}
	return nil
}

// check reads everything and prints the faults.
func (j *job) check(ctx context.Context) error {
	torn := false
	j.findings.Shell = j.Shell
	for r, err := range j.read(true) {
		if ctx.Err() != nil {
			return shell.Interrupted("nothing was sent")
		}
		if err != nil {
			return shell.Wrong(err)
		}
		torn = j.checkRow(r) || torn
		j.Progress(j.rows, 0, "records read", fmt.Sprintf("%d with faults", j.faulty))
	}
	j.findings.End()
	if strays := j.results.strays(); len(strays) > 0 {
		return shell.Wrong(fmt.Errorf("%s has %s that the rows of %s lack, such as %s for %s; continue with the result "+
			"table, or move it away",
			j.Output, shell.Count(len(strays), "DOI"), j.source.name(), strays[0].DOI, strays[0].URL))
	}
	j.isSingle = j.rows == 1 && !j.isTable
	if j.DryRun && (j.JSON || j.faulty == 0 && (j.unnamed == 0 || j.prefix != "")) {
		if err := j.rehearse(ctx); err != nil {
			return err
		}
	}
	switch {
	case j.rows == 0:
		return shell.Wrong(fmt.Errorf("%s has no rows; fill in one for each DOI", j.source.name()))
	case torn && !j.DryRun:
		return shell.Wrong(errors.New("rows have too many or too few cells; nothing was sent"))
	case j.faulty > 0 && (j.DryRun || !j.leaveOut || j.isSingle):
		hint := "; --leave-out registers the others"
		if j.DryRun || j.isSingle {
			hint = ""
		}
		return shell.Wrong(fmt.Errorf("faults in %s of %s; nothing was sent%s", shell.Number(j.faulty),
			shell.Count(j.rows, "record"), hint))
	case j.unnamed > 0 && j.prefix == "":
		return shell.Wrong(fmt.Errorf("%s without a DOI; give the --prefix of new ones", shell.Count(j.unnamed, "record")))
	case j.unnamed > 0 && j.results.earlier != "":
		return shell.Wrong(fmt.Errorf("%s has the DOIs that an earlier run made; leave out --output to continue it, or "+
			"move it away: %s would get another DOI, and nothing was sent",
			j.results.earlier, shell.Count(j.unnamed, "record")))
	case j.unnamed > 1 && j.Output == "" && !j.DryRun:
		return shell.Wrong(fmt.Errorf("%s without a DOI; give --output FILE.csv, which keeps the new DOIs",
			shell.Count(j.unnamed, "record")))
	case j.unnamed > 0 && j.Quiet && !j.JSON && j.Output == "" && !j.DryRun:
		return shell.Wrong(errors.New("--quiet needs --doi: the new DOI would be shown nowhere"))
	case j.wait && !j.isSingle:
		return shell.Wrong(fmt.Errorf("--wait is for a single record, and there are %d", j.rows))
	case j.doi != "" && !j.isSingle:
		return shell.Wrong(fmt.Errorf("--doi is for a single record, and there are %d", j.rows))
	}
	return j.rehearsed()
}

// askPrefixes asks whether the account may make DOIs below the prefixes of the rows to write, and reports whether it
// could ask: with a login, of a service that answers.
func (j *job) askPrefixes(ctx context.Context) (isAsked bool, err error) {
	if j.service.Config.Password == "" {
		return false, nil
	}
	store, err := mds.NewClient(j.service.Config)
	if err != nil {
		return false, err
	}
	for _, prefix := range slices.Sorted(maps.Keys(j.prefixes)) {
		switch err := store.CheckAccess(ctx, prefix, ""); {
		case errors.Is(err, datacite.ErrUnauthorized), ctx.Err() != nil:
			return false, err
		case err == nil:
		case errors.Is(err, datacite.ErrForbidden) && !datacite.Temporary(err) && prefix == j.prefix:
			return false, shell.Refused(fmt.Errorf("the prefix %s belongs to another account: %s would refuse new DOIs below it",
				prefix, j.service))
		case errors.Is(err, datacite.ErrForbidden) && !datacite.Temporary(err):
			j.Warn("warning: the prefix %s belongs to another account: %s would refuse new DOIs below it", prefix, j.service)
		default:
			j.Warn("warning: whether the account may make DOIs below %s cannot be asked: %s", prefix, shell.Message(err))
			return false, nil
		}
	}
	return true, nil
}

// read reads the source. A row that may be that of several DOIs has a fault.
func (j *job) read(say bool) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		for r, err := range j.source.rows(say) {
			switch {
			case err != nil || r.DOI != "" || r.Err() != nil:
			case j.results.ambiguous(r):
				r.fault("url", "is not enough: the result table has several DOIs with this URL; give the row its DOI")
			default:
				if known := j.results.of(r); known.contested && known.Registered != j.digest(r, known.DOI) {
					r.fault("url", "is that of "+known.DOI+
						" and of a row that was left out; give the row its DOI, or continue with the result table")
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// checkRow prints the faults of a row, and counts it. It reports whether the number of its
// cells is not that of the columns, so that cells may be in wrong columns.
func (j *job) checkRow(r *row) (torn bool) {
	j.rows++
	if r.isForeign() {
		j.foreign++
	}
	known := j.results.of(r)
	j.findings.Print(r.Row)
	torn = slices.ContainsFunc(r.Findings, func(f datacite.Finding) bool { return f.Code == "cells" })
	switch {
	case r.Err() != nil:
		j.faulty++
	case known.DOI == "":
		j.unnamed++
		if j.prefix != "" {
			j.prefixes[j.prefix] = true
		}
	case known.Registered != "" && known.Registered == j.digest(r, known.DOI):
		j.earlier++
	default:
		prefix, _, _ := strings.Cut(known.DOI, "/")
		j.prefixes[prefix] = true
	}
	return torn
}

// report says how the run ended.
func (j *job) report(ctx context.Context, err error) error {
	left := j.rows - j.earlier - j.right()
	if !j.isSingle {
		place := ""
		if j.Output != "" {
			place = j.Output + ": "
		}
		if !j.JSON {
			j.Result(nil, "%s%s at %s: %s", place, shell.Count(j.rows, "record"), j.service, j.counts)
		}
	}
	again := "run the same command again to continue"
	if j.isSingle {
		again = "run this again with --doi " + j.lookedFor()
	}
	switch {
	case ctx.Err() != nil && j.isSingle:
		return shell.Interrupted("%s may be registered; %s", j.lookedFor(), again)
	case ctx.Err() != nil:
		return shell.Interrupted("%s left; %s", shell.Count(left, "record"), again)
	case err != nil && j.right() > 0:
		return shell.Refused(fmt.Errorf("%w; %s left; %s", err, shell.Count(left, "record"), again))
	case err != nil:
		return err
	case left == 0 && j.wait:
		return j.waitResolved(ctx)
	case left == 0:
		return nil
	case j.isSingle:
		return j.singleFailed(again)
	case j.right() == 0 && j.faulty == 0 && j.down == j.failed && j.first != nil:
		return shell.Failed(fmt.Errorf("the service failed for all that was to do, %s; run the same command again; the "+
			"first one: %w", shell.Count(left, "record"), j.first))
	case j.isTable:
		return shell.Refused(fmt.Errorf("%s, as the column error says; correct them in the result table, and run the same "+
			"command with it", j.unfinished()))
	}
	return shell.Refused(fmt.Errorf("%s; run the same command again when they are corrected", j.unfinished()))
}

// String lists the numbers that are not 0.
func (c counts) String() string {
	var all []string
	for _, n := range []struct {
		count int
		words string
	}{
		{c.created, "created"}, {c.updated, "updated"}, {c.unchanged, "unchanged"}, {c.earlier, "written earlier"},
		{c.failed, "failed"}, {c.faulty, "with faults"},
	} {
		if n.count > 0 {
			all = append(all, shell.Number(n.count)+" "+n.words)
		}
	}
	if all == nil {
		return "nothing was done"
	}
	return strings.Join(all, ", ")
}

// unfinished are the records that are not right yet, in words.
func (c *counts) unfinished() string {
	return (counts{failed: c.failed, faulty: c.faulty}).String()
}

// singleFailed is the error of a single record, with what to do about a DOI that may exist.
func (j *job) singleFailed(again string) error {
	if isUnclear(j.first) {
		return shell.Refused(fmt.Errorf("%w; %s may be registered; %s", j.first, j.lookedFor(), again))
	}
	return j.first
}

// waitResolved returns when the single record resolves.
func (j *job) waitResolved(ctx context.Context) error {
	e, _ := j.results.ofName(j.lookedFor())
	err := j.resolverAt().wait(ctx, e.DOI, e.URL)
	switch {
	case ctx.Err() != nil:
		return shell.Interrupted("%s is registered, and was not seen to resolve", e.DOI)
	case err != nil:
		return shell.Refused(fmt.Errorf("%w; %s is registered", err, e.DOI))
	}
	if !j.JSON {
		j.Result(nil, "%s resolves at %s", e.DOI, j.resolverURL())
	}
	return nil
}

// lookedFor is the name of the single record.
func (j *job) lookedFor() string { return j.lastName }

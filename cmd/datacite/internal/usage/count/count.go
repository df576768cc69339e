// Package count is the command datacite usage count.
package count

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for --zone on systems without a database of time zones

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

type command struct {
	*shell.Shell
	flags *account.Flags
	now   time.Time

	settings                                   settings
	monthText, until, robotsFile, machinesFile string
	creator, platform, publisher               string
	geoip, describe, unknown                   string
	days                                       string // folder
	gap                                        time.Duration
	memory                                     int // MiB for each thing that is sorted
	month                                      time.Time
	period                                     reports.Period
	format                                     logs.Format
	reading                                    *logs.Options
	robots, machines                           *counter.Agents
	tables                                     error // faults of rows
}

// Command is datacite usage count.
func Command(s *shell.Shell) *cobra.Command { return newCommand(s, time.Now()) }

func newCommand(s *shell.Shell, now time.Time) *cobra.Command {
	c := &command{Shell: s, now: now}
	cmd := &cobra.Command{
		Use: "count FILE…", Args: cobra.MinimumNArgs(1),
		Short: "Count the accesses in log files, and write the usage report of a month",
		Long: `Count the accesses in log files, by the COUNTER code of practice for research data.

A FILE is a log, plain or compressed with gzip, bzip2 or zstd; - is standard input. Give the logs
of all servers, in any order, and that of the first day of the next month: double clicks across
midnight need it. Other months in the logs are not counted. A month that is not over is counted
until yesterday, and the report tells it (exception 3040). Keep the logs of each server in a
folder, or under a name, of its own: a day without an access on a server that has many on other
days is refused (--gap).

The summary accounts for every line, and lists the most used datasets. --output writes

  report.json                 the report, for "datacite usage send"; for --output -, on standard output
  counts.csv, counts.xlsx     a table of its counts, which "datacite usage send" reads, too; it has
                              no contributors and no dates

Nothing is written before all logs have been read without a fault, and the same logs make the same
report. With --days, counts of days are kept in a folder: each night only new logs are read. A run
that was killed is repeated without harm.

Formats of logs:
` + formats() + `
With the format combined, --investigations and --requests find the DOI in the path, as the first
group, or a name whose DOI is in the table of --dois; or the table of --paths has the path.
Counting needs no network, but for --describe service.`,
		Example: `  datacite usage count counter_2026-1[01]-*.log --month 2026-10 --creator "My Repository" --output report.json
  datacite usage count /var/log/mdc/counter_*.log --month 2026-10 --days /var/lib/datacite --output counts.xlsx
  datacite usage count access.log* --month 2026-10 --log-format combined \
      --investigations '^/data/(10\..+)$' --requests '^/download/(10\..+)$' --describe service`,
		RunE: c.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&c.monthText, "month", "", "the `month` to count, YYYY-MM")
	flags.StringVar(&c.creator, "creator", "", "`name` of the repository, as in all of its reports")
	flags.StringVar(&c.platform, "platform", "", "`platform` of the datasets; --creator without it")
	flags.StringVar(&c.publisher, "publisher", "", "`publisher` of datasets for which nothing names one")
	s.OutputFlag(cmd, "write the report to this `file`; .csv and .xlsx write a table of its counts")
	flags.StringVar(&c.days, "days", "",
		"`folder` that keeps the counts of each day, so that a nightly run reads only new logs")
	c.settings.addFlags(cmd)
	flags.StringVar(&c.describe, "describe", "",
		"`source` of titles and publishers that the logs lack: service (that of --service), or a file or a folder of "+
			"records, such as of datacite harvest")
	shell.Choice(cmd, &c.unknown, "unknown", "`how` to treat DOIs that --describe does not know: keep, leave-out or stop",
		"keep", "leave-out", "stop")
	flags.StringVar(&c.geoip, "geoip", "",
		"`file` .mmdb that maps addresses to countries; without it, no countries are reported")
	flags.StringVar(&c.robotsFile, "robots", "",
		"`file` of user agents that are not counted, as COUNTER-Robots publishes it or one pattern per line (default: the "+
			"list of COUNTER, built in)")
	flags.StringVar(&c.machinesFile, "machines", "", "`file` of user agents that count as machines, in the same form")
	flags.StringVar(&c.until, "until", "",
		"last `day` to count, YYYY-MM-DD (default: the end of the month, or yesterday if that is not over)")
	flags.DurationVar(&c.gap, "gap", 24*time.Hour,
		"refuse logs of a busy server that have no access for this `time`, such as 72h; 0 refuses none")
	flags.IntVar(&c.memory, "memory", 24, "`MiB` of events that are sorted in memory; more go to temporary files")
	s.Flags(cmd, shell.JSON)
	c.flags = account.NewFlags(s, cmd, account.Reads)
	return cmd
}

// formats are those of logs, for the help.
func formats() string {
	var b strings.Builder
	for _, f := range logs.Formats() {
		fmt.Fprintf(&b, "\n  %-10s %s", f.Name, f.Summary)
	}
	return b.String() + "\n"
}

func (c *command) run(cmd *cobra.Command, files []string) error {
	if err := c.choose(cmd, files); err != nil {
		return shell.Wrong(err)
	}
	header, err := c.header()
	if err != nil {
		return shell.Wrong(err)
	}
	in, err := c.open(cmd.Context(), files)
	if err != nil {
		return err
	}
	defer in.close()
	for _, log := range in.sources {
		if c.Output != "" && shell.IsSame(c.Output, log.Name) {
			return shell.Wrong(fmt.Errorf("--output %s would replace a log; give another name", c.Output))
		}
	}
	if c.tables != nil {
		c.Say("note: a table has faults; the logs are read, so that theirs are told, too")
		return c.explained(cmd.Context(), faults{c.tables, in.moreFaults(nil)})
	}
	about, err := c.describer(cmd.Context())
	if err != nil {
		return c.explained(cmd.Context(), err)
	}
	defer about.close()

	done := &totals{}
	datasets := in.descriptions.Describe(reports.Group(in.rows(), &reports.GroupOptions{Sorted: true, Period: c.period}))
	datasets = done.add(in.complete(about.describe(cmd.Context(), datasets)))
	switch {
	case c.Output == "":
		err = drain(datasets)
	case c.isTable():
		err = c.WriteOutput(func(out io.Writer) error { return writeTable(out, datasets, table.IsSpreadsheet(c.Output)) })
	default:
		err = c.WriteOutput(func(out io.Writer) error { return reports.WriteFile(out, header, datasets) })
	}
	if err != nil {
		return c.explained(cmd.Context(), err)
	}
	in.warn()
	about.warn(c.Shell)
	if c.isTable() && len(header.Exceptions) > 0 {
		c.Say("note: the table does not say that it is of a part of the month (exception %d); a report (.json) does",
			reports.ExceptionPartial)
	}
	return in.summarize(header, done, about)
}

// isTable reports whether the output is a table of counts.
func (c *command) isTable() bool {
	return table.IsSpreadsheet(c.Output) || strings.EqualFold(filepath.Ext(c.Output), ".csv")
}

// explained is an error with what to do.
func (c *command) explained(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return shell.Interrupted("nothing was written; run the same command again")
	}
	if all, several := errors.AsType[faults](err); several {
		var each []error
		for _, err := range all {
			if err != nil {
				each = append(each, c.explained(ctx, err))
			}
		}
		return shell.Wrong(errors.Join(each...))
	}
	file, ofFile := errors.AsType[*fs.PathError](err)
	faults, ofLines := errors.AsType[*logs.FaultsError](err)
	switch {
	case ofFile && filepath.Dir(file.Path) == filepath.Clean(os.TempDir()) && strings.HasPrefix(filepath.Base(file.Path),
		"datacite-"):
		return fmt.Errorf("%w; %s names another folder for temporary files", err, shell.TempVariable)
	case !ofLines:
		return err
	}
	limit := ""
	if faults.Allowed > 0 {
		limit = fmt.Sprintf(", more than %.3g%% of them or of the accesses", 100*faults.Allowed)
	}
	var codes []string
	n := int64(0)
	for _, f := range faults.Faults {
		n += f.Lines
		codes = append(codes, string(f.Code))
	}
	layout := ""
	if c.format.Name == logs.Combined.Name && slices.Contains(codes, "syntax") {
		layout = "--layout names the layout of the log, as the configuration of its server has it.\n"
	}
	return shell.Wrong(fmt.Errorf("%s of %s cannot be read%s; nothing was written\n%s%s"+
		"--bad-lines leave-out counts the other lines if these are at most 1%%, --leave-out %s in any case",
		shell.Count(n, "line"), shell.Number(faults.Lines), limit, listed(faults.Faults), layout, strings.Join(codes, ",")))
}

// listed are the codes of faults, each with the first lines that have it.
func listed(faults []logs.CodeFaults) string {
	var b strings.Builder
	for _, c := range faults {
		fmt.Fprintf(&b, "  %s: %s\n", c.Code, shell.Count(c.Lines, "line"))
		for _, f := range c.First {
			fmt.Fprintf(&b, "    %v\n", f)
		}
		if more := c.Lines - int64(len(c.First)); more > 0 {
			fmt.Fprintf(&b, "    and %s more\n", shell.Number(more))
		}
	}
	return b.String()
}

// choose reads the settings.
func (c *command) choose(cmd *cobra.Command, files []string) (err error) {
	switch {
	case c.monthText == "":
		return errors.New("--month is needed, such as --month 2026-10")
	case c.creator == "" && c.Output != "" && !c.isTable():
		return errors.New(`a report needs --creator, the name of the repository`)
	case c.JSON && c.Output == "-":
		return errors.New("--json prints the summary, and --output - the report; leave one of them out")
	case shell.Changed(cmd, "unknown") && c.describe == "":
		return errors.New("--unknown has no effect without --describe")
	case c.days != "" && slices.Contains(files, "-"):
		return errors.New("--days needs files, not standard input: it knows a log by its name and its content")
	case c.gap < 0:
		return fmt.Errorf("--gap is %v and must not be negative", c.gap)
	case c.memory < 1 || c.memory > 2000:
		return fmt.Errorf("--memory is %d, not between 1 and 2000", c.memory)
	}
	c.memory <<= 20
	if c.month, err = time.Parse("2006-01", c.monthText); err != nil {
		return fmt.Errorf("--month is %q, not YYYY-MM", c.monthText)
	}
	if c.format, c.reading, c.tables = c.settings.options(); c.reading == nil {
		return c.tables
	}
	if c.tables != nil { // lines of datasets that they lack are no further faults
		c.reading.Tolerance.Always = append(c.reading.Tolerance.Always, datacite.CodeNoDataset, datacite.CodeHandle)
	}
	if c.period, err = c.periodUntil(reports.Date(c.until), reports.Day(c.now.In(c.reading.Location))); err != nil {
		return err
	}
	c.reading.Period = c.period
	if c.robots, err = readAgents("--robots", c.robotsFile); err != nil {
		return err
	}
	if c.robots != nil {
		c.robots = c.robots.Without(counter.GeneralPurpose()...)
	}
	c.machines, err = readAgents("--machines", c.machinesFile)
	return err
}

// periodUntil is what is counted: whole days that are over.
func (c *command) periodUntil(last, today reports.Date) (reports.Period, error) {
	p := reports.Month(c.month.Year(), c.month.Month())
	switch {
	case today <= p.BeginDate:
		return p, fmt.Errorf("no day of %s is over: today is %s in the time zone of --zone", c.monthText, today)
	case last == "" && today <= p.EndDate:
		day, err := today.Time()
		p.EndDate = reports.Day(day.AddDate(0, 0, -1))
		return p, err
	case last == "":
		return p, nil
	}
	switch _, err := time.Parse(time.DateOnly, string(last)); {
	case err != nil || last < p.BeginDate || last > p.EndDate:
		return p, fmt.Errorf("--until is %q, not a day from %s to %s", last, p.BeginDate, p.EndDate)
	case last >= today:
		return p, fmt.Errorf("--until is %s, which is not over: today is %s in the time zone of --zone", last, today)
	}
	p.EndDate = last
	return p, nil
}

// readAgents reads a list of user agents; nil is the one that is built in.
func readAgents(flag, name string) (*counter.Agents, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	defer file.Close()
	list, err := counter.ReadAgents(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", flag, name, err)
	}
	if len(list.Patterns()) == 0 {
		return nil, fmt.Errorf("%s: %s has no pattern", flag, name)
	}
	return list, nil
}

// header is that of the report. It is the same for the same logs, so that running it
// again changes nothing: the report of a month that is over is from the day after it.
func (c *command) header() (reports.Header, error) {
	created := c.month.AddDate(0, 1, 0)
	if today := c.now.In(c.reading.Location); reports.Day(today) < reports.Day(created) {
		created = today
	}
	h := reports.NewHeader(c.creator, reports.Day(created), c.period)
	return h, h.EndOn(c.period.EndDate)
}

// complete fills in --publisher. A report without a dataset is a fault: the wrong logs, or
// the wrong month.
func (in *input) complete(datasets iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		n := 0
		for d, err := range datasets {
			n++
			d.Publisher = cmp.Or(d.Publisher, in.publisher)
			// as tables are read
			d.Title, d.Publisher, d.Platform = strings.TrimSpace(d.Title), strings.TrimSpace(d.Publisher), strings.TrimSpace(d.Platform)
			if !yield(d, err) || err != nil {
				return
			}
		}
		if n == 0 {
			l, e := in.lines, in.events
			yield(reports.Dataset{}, shell.Wrong(
				fmt.Errorf("no access is to be counted: of %d lines, %d are comments or empty, %d neither investigations nor "+
					"requests, %d cannot be read; of %d accesses, %d are not from %s to %s, %d without a dataset, %d by robots",
					l.Lines(), l.Comments, l.Other, l.Faulty, l.Events, e.OtherMonths, in.period.BeginDate, in.period.EndDate, e.NoDataset, e.Robots)))
		}
	}
}

func drain(datasets iter.Seq2[reports.Dataset, error]) error {
	for _, err := range datasets {
		if err != nil {
			return err
		}
	}
	return nil
}

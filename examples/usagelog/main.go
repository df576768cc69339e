// Command usagelog counts the accesses in log files by the COUNTER Code of Practice for
// Research Data, and makes the usage report of a month. It can take the place of
// counter-processor.
//
//	usagelog -month 2026-10 -name "My Repository" -o report.json /var/log/mdc/counter_2026-*.log
//
// docs/counting.md says what is counted. -h lists all flags.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // for -zone on systems without a database of time zones

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/arguments"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
	"github.com/datacite-go/datacite-go/reports/shown"
)

const usage = `Count the accesses in log files, and make the usage report of a month.

  usagelog [flags] -month YYYY-MM -name NAME FILE...                 count, and show the counts
  usagelog [flags] -month YYYY-MM -name NAME -o report.json FILE...  and write the report
  usagelog [flags] -month YYYY-MM -name NAME -send -api URL FILE...  and submit it
  usagelog [flags] -month YYYY-MM -name NAME -repair ACCOUNT -api URL FILE...
                                    say what makes DOI records show what the logs say;
                                    with -yes, send it

FILE is a log, plain or compressed with gzip, bzip2 or zstd; "-" is standard input.
Give the logs of all servers, in any order, and that of the first day of the next month:
double clicks across midnight need it. Other months in the logs are not counted. A month
that is not over is counted until yesterday, and the report says so (exception 3040).
Keep the logs of each server in a folder, or under a name, of its own: a day without an
access on a server that has many on other days is refused (-gap).

Formats:
FORMATS
With -format combined, -investigations and -requests find the DOI in the path, as the
first group, or a name whose DOI is in the table of -dois; or -paths has it.

Environment:
  DATACITE_TOKEN                         with -send or -yes: the token for usage reports
  DATACITE_USERNAME, DATACITE_PASSWORD   optional, with -describe URL and -repair: to see
                                         registered and draft DOIs, too
  TMPDIR                                 folder for temporary files
  DATACITE_LOCK_DIR                      with -send: folder for locks, the same for all
                                         runs on a machine; /tmp without it

Output: a summary on standard output, or on standard error if the report goes to
standard output (-o -). Standard error gets errors, warnings of what DOI records will not
show as it was counted and, if it is a terminal, progress. With -quiet there is only the
report that -o - prints, unless something goes wrong.
Nothing is written or sent before all logs have been read without a fault. A report is
submitted once: running it again with the same logs changes nothing.

Exit codes:
  0    done
  1    the submission did not finish; run it again, and it goes on from what is stored;
       or differences remain that -repair does not mend
  2    the flags, the logs or another file are at fault, a log seems to be missing, or the
       stored report has more; nothing was sent
  3    the service failed; nothing was changed
  130  interrupted by Ctrl-C or SIGTERM; run it again
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	p := program{getenv: os.Getenv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: time.Now}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// A program is the command with what it uses of the world.
type program struct {
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	now            func() time.Time
}

func (p *program) run(ctx context.Context, args []string) int {
	s, err := readSettings(args, p.stdout, p.now())
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		err = p.count(ctx, s)
	}
	if err == nil {
		return 0
	}
	return p.explain(ctx, s, err)
}

// explain prints what went wrong, and returns the exit code. Settings are nil if they are at
// fault.
func (p *program) explain(ctx context.Context, s *settings, err error) int {
	const name = "usagelog:"
	if ctx.Err() != nil {
		fmt.Fprintln(p.stderr, name, "interrupted; run it again:", err)
		return 130
	}
	if faults, ok := errors.AsType[*logs.FaultsError](err); ok {
		p.explainFaults(faults)
		return 2
	}
	if faults, ok := errors.AsType[*datacite.ValidationError](err); ok && len(faults.Findings) > 1 {
		fmt.Fprintf(p.stderr, "%s faults in the input, the first %d; nothing was written or sent\n", name, len(faults.Findings))
		for _, f := range faults.Findings {
			fmt.Fprintln(p.stderr, " ", f)
		}
		return 2
	}
	if lower, ok := errors.AsType[*reports.LowerError](err); ok {
		p.explainLower(lower)
		return 2
	}
	fmt.Fprintln(p.stderr, name, err)
	stopped, sent := errors.AsType[*reports.SubmitError](err)
	_, remain := errors.AsType[*remainError](err)
	_, unverified := errors.AsType[*unverifiedError](err)
	_, service := errors.AsType[*serviceError](err)
	switch {
	case remain || unverified || sent && stopped.State != reports.Untouched || errors.Is(err, reports.ErrBusy):
		return 1
	case errors.Is(err, datacite.ErrUnauthorized), errors.Is(err, datacite.ErrForbidden), errors.Is(err, reports.ErrTokenExpired), errors.Is(err, datacite.ErrInvalid), errors.Is(err, datacite.ErrConflict):
		return 2
	case service || sent:
		return 3
	}
	return 2
}

// explainLower prints what the stored report has and this one lacks.
func (p *program) explainLower(err *reports.LowerError) {
	fmt.Fprintf(p.stderr, "usagelog: the stored report has %s that DOI records show, and this one has less in %s; nothing was sent\n", several(err.Stored, "count"), thousands(err.Lower))
	for _, n := range err.First {
		fmt.Fprintf(p.stderr, "  %s, %s: %s, not %s\n", n.DOI, n.Metric, thousands(n.Now), thousands(n.Stored))
	}
	if more := err.Lower - int64(len(err.First)); more > 0 {
		fmt.Fprintf(p.stderr, "  and %s more\n", thousands(more))
	}
	fmt.Fprintln(p.stderr, "  give the logs that are missing, or -allow-lower if this is the correction")
}

// explainFaults prints which lines cannot be read.
func (p *program) explainFaults(err *logs.FaultsError) {
	limit := ""
	if err.Allowed > 0 {
		limit = fmt.Sprintf(", more than %.3g%% of them or of the accesses", 100*err.Allowed)
	}
	var codes []string
	n := int64(0)
	for _, c := range err.Faults {
		n += c.Lines
		codes = append(codes, string(c.Code))
	}
	fmt.Fprintf(p.stderr, "usagelog: %s of %s cannot be read%s; nothing was written or sent\n", several(n, "line"), thousands(err.Lines), limit)
	printFaults(p.stderr, "  ", err.Faults)
	fmt.Fprintf(p.stderr, "  -bad-lines leave-out counts the other lines if these are at most 1%%, -leave-out %s in any case\n", strings.Join(codes, ","))
}

// printFaults prints the codes of faults, each with the first lines that have it.
func printFaults(out io.Writer, before string, faults []logs.CodeFaults) {
	for _, c := range faults {
		fmt.Fprintf(out, "%s%s: %s\n", before, c.Code, several(c.Lines, "line"))
		for _, f := range c.First {
			fmt.Fprintf(out, "%s  %v\n", before, f)
		}
		if more := c.Lines - int64(len(c.First)); more > 0 {
			fmt.Fprintf(out, "%s  and %s more\n", before, thousands(more))
		}
	}
}

// A serviceError is a request that failed.
type serviceError struct{ error }

func (e *serviceError) Unwrap() error { return e.error }

// An unverifiedError is a report that was stored, and could not be read back.
type unverifiedError struct{ error }

func (e *unverifiedError) Error() string {
	return "the report was stored, but reading it back failed: " + e.error.Error()
}
func (e *unverifiedError) Unwrap() error { return e.error }

// settings are what the command line says.
type settings struct {
	files            []string
	logs             logs.Settings
	format           logs.Format
	reading          *logs.Options
	name, platform   string
	publisher        string
	month            time.Time // first day
	period           reports.Period
	gap              time.Duration
	robots, machines *counter.Agents
	geoip, describe  string
	days             string // folder
	output, api      string
	send, quiet      bool
	zeroDropped      bool
	allowLower       bool
	compareOthers    bool
	mending          mending
	unknown          string // DOIs that -describe does not know: keep, leave-out or stop
	memory           int    // bytes for each thing that is sorted
}

// formats are those of logs, for -h.
func formats() string {
	var b strings.Builder
	for _, f := range logs.Formats() {
		fmt.Fprintf(&b, "  %-10s %s\n", f.Name, f.Summary)
	}
	return b.String()
}

func readSettings(args []string, out io.Writer, now time.Time) (*settings, error) {
	s := &settings{}
	flags := flag.NewFlagSet("usagelog", flag.ContinueOnError)
	s.logs.AddFlags(flags)
	month := flags.String("month", "", "the month to count, as `YYYY-MM`")
	until := flags.String("until", "", "the last `day` to count, as YYYY-MM-DD; the end of the month without it, or yesterday if that is not over")
	flags.DurationVar(&s.gap, "gap", 24*time.Hour, "refuse logs of a busy server without an access in a `time` as long as this, such as 72h; 0 refuses none")
	robots := flags.String("robots", "", "`file` of user agents that are not counted, as COUNTER-Robots publishes it or one pattern a line; that of COUNTER is built in")
	machines := flags.String("machines", "", "`file` of user agents that are programs, likewise")
	flags.StringVar(&s.name, "name", "", "`name` of the repository, as in all of its reports")
	flags.StringVar(&s.platform, "platform", "", "`platform` of the datasets; -name without it")
	flags.StringVar(&s.publisher, "publisher", "", "`publisher` of datasets for which nothing names one")
	flags.StringVar(&s.geoip, "geoip", "", "`file` .mmdb with the countries of addresses; no countries without it")
	flags.StringVar(&s.describe, "describe", "", "where titles and publishers come from that the logs do not have: `URL` of a DOI query service such as "+datacite.Production.API+", or an archive, a file or a folder of records")
	flags.StringVar(&s.unknown, "unknown", "keep", "DOIs that -describe does not know: keep, leave-out or stop")
	flags.StringVar(&s.days, "days", "", "`folder` that keeps the counts of days, so that each night only the logs that are new are read")
	flags.StringVar(&s.output, "o", "", "`file` for the report, as JSON; - is standard output")
	flags.BoolVar(&s.send, "send", false, "submit the report")
	flags.BoolVar(&s.compareOthers, "compare-others", false, "with -send: read the other reports of the account for that month, and warn of datasets that they have as well; records show the sum")
	s.mending.addFlags(flags)
	flags.StringVar(&s.api, "api", "", "with -send or -repair: base `URL` of the service, "+datacite.Test.API+" or "+datacite.Production.API)
	dropped := flags.String("dropped", "keep", "with -send: numbers of earlier versions that this one lacks, which DOI records continue to show: keep, or zero (send the count 0)")
	flags.BoolVar(&s.allowLower, "allow-lower", false, "with -send: replace a stored report that has more in some counts, as a correction does")
	flags.BoolVar(&s.quiet, "quiet", false, "no summary, warnings and progress, unless something goes wrong")
	flags.IntVar(&s.memory, "memory", 24, "`MiB` of events that are sorted in memory; more go to temporary files")
	words, given, err := arguments.Parse(flags, strings.Replace(usage, "FORMATS\n", formats(), 1), args, out)
	if err != nil {
		return nil, err
	}
	s.files, s.zeroDropped = words, *dropped == "zero"
	if s.platform == "" {
		s.platform = s.name
	}
	switch {
	case *month == "" || s.name == "":
		return nil, errors.New("-month and -name are needed; -h shows the flags")
	case len(words) == 0:
		return nil, errors.New("no log is given; - is standard input")
	case (s.send || s.mending.account != "") != given["api"]:
		return nil, errors.New("-send (or -repair) and -api belong together: -send -api " + datacite.Test.API)
	case *dropped != "keep" && *dropped != "zero":
		return nil, fmt.Errorf("-dropped is %q, not keep or zero", *dropped)
	case given["dropped"] && !s.send:
		return nil, errors.New("-dropped has no effect without -send")
	case s.allowLower && !s.send:
		return nil, errors.New("-allow-lower has no effect without -send")
	case s.unknown != "keep" && s.unknown != "leave-out" && s.unknown != "stop":
		return nil, fmt.Errorf("-unknown is %q, not keep, leave-out or stop", s.unknown)
	case given["unknown"] && s.describe == "":
		return nil, errors.New("-unknown has no effect without -describe")
	case s.days != "" && slices.Contains(words, "-"):
		return nil, errors.New("-days needs files, not standard input: it knows a log by its name and its content")
	case s.gap < 0:
		return nil, fmt.Errorf("-gap is %v, less than nothing", s.gap)
	case s.memory < 1 || s.memory > 2000:
		return nil, fmt.Errorf("-memory is %d, not between 1 and 2000", s.memory)
	}
	if err := s.mending.check(s, given); err != nil {
		return nil, err
	}
	s.memory <<= 20
	if s.month, err = time.Parse("2006-01", *month); err != nil {
		return nil, fmt.Errorf("-month is %q, not YYYY-MM", *month)
	}
	if s.format, s.reading, err = s.logs.Options(); err != nil {
		return nil, inFlag(err)
	}
	if s.period, err = s.periodUntil(reports.Date(*until), reports.Day(now.In(s.reading.Location))); err != nil {
		return nil, err
	}
	s.reading.Period = s.period
	if s.robots, err = readAgents("-robots", *robots); err != nil {
		return nil, err
	}
	if s.robots != nil {
		s.robots = s.robots.Without(counter.GeneralPurpose()...)
	}
	s.machines, err = readAgents("-machines", *machines)
	return s, err
}

// periodUntil is what is counted: whole days that are over.
func (s *settings) periodUntil(last, today reports.Date) (reports.Period, error) {
	p := reports.Month(s.month.Year(), s.month.Month())
	switch {
	case today <= p.BeginDate:
		return p, fmt.Errorf("no day of %s is over: today is %s in the time zone of -zone", s.month.Format("2006-01"), today)
	case last == "" && today <= p.EndDate:
		day, err := today.Time()
		p.EndDate = reports.Day(day.AddDate(0, 0, -1))
		return p, err
	case last == "":
		return p, nil
	}
	switch _, err := time.Parse(time.DateOnly, string(last)); {
	case err != nil || last < p.BeginDate || last > p.EndDate:
		return p, fmt.Errorf("-until is %q, not a day from %s to %s", last, p.BeginDate, p.EndDate)
	case last >= today:
		return p, fmt.Errorf("-until is %s, which is not over: today is %s in the time zone of -zone", last, today)
	}
	p.EndDate = last
	return p, nil
}

// inFlag names the flag of a setting that is wrong. Faults in tables have their place.
func inFlag(err error) error {
	found := datacite.Findings(err)
	switch {
	case len(found) == 1 && found[0].File == "":
		return fmt.Errorf("-%s %s", found[0].Path, found[0].Reason)
	case found != nil:
		return err
	}
	return fmt.Errorf("-%w", err)
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
func (s *settings) header(now time.Time) (reports.Header, error) {
	created := s.month.AddDate(0, 1, 0)
	if today := now.In(s.reading.Location); reports.Day(today) < reports.Day(created) {
		created = today
	}
	h := reports.NewHeader(s.name, reports.Day(created), s.period)
	return h, h.EndOn(s.period.EndDate)
}

// count reads the logs, and writes and sends the report.
func (p *program) count(ctx context.Context, s *settings) (err error) {
	header, err := s.header(p.now())
	if err != nil {
		return err
	}
	client, err := p.reports(s)
	if err != nil {
		return err
	}
	in, err := openLogs(ctx, s, p)
	if err != nil {
		return err
	}
	defer in.close()
	about, err := p.describer(ctx, s)
	if err != nil {
		return err
	}
	defer about.close()
	out, err := newOutput(s.output, header, p.stdout)
	if err != nil {
		return err
	}
	defer out.discard()

	totals := &totals{}
	datasets := in.descriptions.Describe(reports.Group(in.rows(), &reports.GroupOptions{Sorted: true, Period: s.period}))
	datasets = about.describe(ctx, datasets)
	datasets = out.write(totals.add(in.complete(datasets)))
	var receipt *reports.Receipt
	warned := &warnings{}
	var repaired *shown.Repaired
	switch {
	case s.send:
		receipt, err = in.send(ctx, client, header, datasets, warned)
	case s.mending.account != "":
		repaired, err = in.repair(ctx, p, client, header, datasets, warned)
	default:
		err = drain(datasets)
	}
	in.meter.clear()
	if err != nil {
		warned.print(p.stderr)
		if repaired != nil { // what was sent before
			printRepair(p.stderr, repaired, s.mending.yes)
		}
		return err
	}
	warned.print(in.notes)
	in.warn(p.stderr)
	about.warn(p.stderr)
	summary := p.stdout
	switch {
	case s.quiet:
		summary = io.Discard
	case s.output == "-":
		summary = p.stderr
	}
	if err := in.print(summary, header, totals); err != nil {
		return err
	}
	if s.quiet && receipt != nil && keptText(receipt) != "" {
		fmt.Fprintln(p.stderr, "warning:", keptText(receipt))
	}
	if repaired != nil {
		printRepair(summary, repaired, s.mending.yes)
		if err := remaining(p.stderr, repaired); err != nil {
			return err
		}
	}
	return printEnd(summary, s, receipt)
}

// reports is a client of the service to send to; nil if there is none.
func (p *program) reports(s *settings) (*reports.Client, error) {
	if !s.send && s.mending.account == "" {
		return nil, nil
	}
	token := p.getenv("DATACITE_TOKEN")
	if token == "" && (s.send || s.mending.yes) {
		return nil, errors.New("-send and -yes need a token in the environment variable DATACITE_TOKEN")
	}
	return reports.NewClient(datacite.Config{Service: datacite.Service{API: s.api}, Token: token, UserAgent: "usagelog"})
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/reports"
)

// settings are what the options and the environment say.
type settings struct {
	file  string // the report, or the table if csv; "-" is standard input
	csv   bool
	table tableSettings

	header reports.Header // of a table; a report file has its own

	api    string // base URL; empty means the service in memory
	token  string
	dryRun bool
	json   bool

	badRows     reports.BadRows
	repeats     reports.Repeats
	helpURL     string
	maxDatasets int
	settle      time.Duration
}

// options are the settings as they are written.
type options struct {
	csv, creator, month, created, name, reportID string
	badRows, repeats                             string
	sandbox                                      bool
}

func readSettings(args []string, getenv func(string) string, stdout io.Writer) (s settings, err error) {
	var o options
	flags := flag.NewFlagSet("usagereport", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // explain prints the error, and help goes to standard output
	flags.StringVar(&o.csv, "csv", "", "read a table of counts from this `file` instead of a report")
	flags.StringVar(&o.creator, "creator", "", "with -csv: `name` of the repository or platform that counted")
	flags.StringVar(&o.month, "month", "", "with -csv: the month that was counted, as `YYYY-MM`")
	flags.StringVar(&o.created, "created", "", "with -csv: `day` the report was made, as YYYY-MM-DD; empty means the day after the month, so that every run makes the same report")
	flags.StringVar(&o.name, "name", "Dataset Report", "with -csv: report `name`, for people")
	flags.StringVar(&o.reportID, "report-id", "dsr", "with -csv: short `code` of the report type")
	flags.StringVar(&s.table.platform, "platform", "", "with -csv: `platform` of rows that do not name one")
	flags.StringVar(&s.table.publisher, "publisher", "", "with -csv: `publisher` of rows that do not name one")
	flags.IntVar(&s.table.maxRows, "max-rows", 1_000_000, "with -csv: most `rows` to read into memory, some 300 bytes each, where they are not sorted by doi")
	flags.StringVar(&s.api, "api", "", "base `URL` of the service, "+reports.Test+" or "+reports.Production+"; needs DATACITE_TOKEN in the environment")
	flags.BoolVar(&o.sandbox, "sandbox", false, "use a service in memory, as without -api")
	flags.BoolVar(&s.dryRun, "dry-run", false, "check the input, print what would be sent, contact nobody")
	flags.BoolVar(&s.json, "json", false, "print the receipt as JSON")
	flags.StringVar(&o.badRows, "bad-rows", "stop", "datasets that break a rule: stop, or leave-out")
	flags.StringVar(&o.repeats, "repeats", "refuse", "a DOI that occurs twice: refuse, merge (add up neighbours), or send")
	flags.StringVar(&s.helpURL, "help-url", "", "`URL` for the note that the report is compressed")
	flags.IntVar(&s.maxDatasets, "max-datasets", reports.MaxDatasets, "most datasets in one subset")
	flags.DurationVar(&s.settle, "settle", 5*time.Minute, "how long the service may still work on a request whose answer was lost; nothing is sent before")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		help(flags, stdout)
		return s, err
	case err != nil:
		return s, optionFault(err)
	}
	if err := s.apply(o, flags.Args()); err != nil {
		return s, optionFault(err)
	}
	s.token = getenv("DATACITE_TOKEN")
	if s.api != "" && !s.dryRun && s.token == "" {
		return s, optionFault(errors.New("-api needs a token in the environment variable DATACITE_TOKEN"))
	}
	return s, nil
}

func help(flags *flag.FlagSet, out io.Writer) {
	fmt.Fprint(out, `Submit a usage report, and make sure that the service holds exactly that.

  usagereport [options] report.json        plain or gzip; "-" is standard input
  usagereport [options] -csv counts.csv    a table: doi, title, year, uri, publisher,
                                           platform, metric, access, country, count

Exit codes:
  0  the service holds exactly the report (with -dry-run: it could be sent)
  1  the input, the options, the token or this machine are at fault; nothing was changed
     on the service
  2  the submission did not come to its end; what is stored is printed; run it again

Options:
`)
	flags.SetOutput(out)
	flags.PrintDefaults()
}

// optionFault marks an error as one of the command line.
func optionFault(err error) error {
	return &inputError{fmt.Errorf("%w; -help shows the options", err)}
}

// apply checks the options against each other.
func (s *settings) apply(o options, files []string) (err error) {
	switch {
	case o.csv != "" && len(files) > 0:
		return fmt.Errorf("-csv %s and %q are both given; options go before the file", o.csv, files)
	case o.csv == "" && len(files) != 1:
		return fmt.Errorf("give one report file, after the options, or -csv; got %q", files)
	case o.sandbox && s.api != "":
		return errors.New("-sandbox and -api are both given")
	case s.maxDatasets < 1 || s.maxDatasets > reports.MaxDatasets:
		return fmt.Errorf("-max-datasets is %d, not between 1 and %d", s.maxDatasets, reports.MaxDatasets)
	case s.settle <= 0:
		return fmt.Errorf("-settle is %v; it must be more than nothing", s.settle)
	case s.table.maxRows < 1:
		return fmt.Errorf("-max-rows is %d", s.table.maxRows)
	}
	s.csv = o.csv != ""
	if s.file = o.csv; !s.csv {
		s.file = files[0]
	}
	if s.badRows, err = choice("-bad-rows", o.badRows, map[string]reports.BadRows{
		"stop": reports.StopAtBadRows, "leave-out": reports.LeaveOutBadRows,
	}); err != nil {
		return err
	}
	if s.repeats, err = choice("-repeats", o.repeats, map[string]reports.Repeats{
		"refuse": reports.RefuseRepeats, "merge": reports.MergeRepeats, "send": reports.SendRepeats,
	}); err != nil {
		return err
	}
	s.table.leaveOut = s.badRows == reports.LeaveOutBadRows
	s.table.merge = s.repeats == reports.MergeRepeats
	return s.applyHeader(o)
}

func choice[T any](option, word string, meaning map[string]T) (T, error) {
	v, ok := meaning[word]
	if !ok {
		return v, fmt.Errorf("%s is %q; -help lists what it can be", option, word)
	}
	return v, nil
}

// applyHeader makes the header of a table.
func (s *settings) applyHeader(o options) error {
	if !s.csv {
		if given := cmp.Or(o.creator, o.month, o.created, s.table.platform, s.table.publisher); given != "" {
			return fmt.Errorf("%q is given, and a report file says that itself; it is for -csv", given)
		}
		return nil
	}
	if strings.TrimSpace(o.creator) == "" || o.month == "" {
		return errors.New("-csv needs -creator and -month")
	}
	month, err := time.Parse("2006-01", o.month)
	if err != nil {
		return fmt.Errorf("-month is %q, not YYYY-MM", o.month)
	}
	created := month.AddDate(0, 1, 0)
	switch {
	case o.created != "":
		if created, err = time.Parse(time.DateOnly, o.created); err != nil {
			return fmt.Errorf("-created is %q, not YYYY-MM-DD", o.created)
		}
	case created.After(time.Now()):
		return fmt.Errorf("the month %s is not over; give -created to report it all the same", o.month)
	}
	s.table.period = reports.Month(month.Year(), month.Month())
	s.header = reports.Header{
		ReportName: o.name, ReportID: o.reportID, Release: reports.ReleaseRD1,
		CreatedBy: o.creator, Created: reports.Day(created), ReportingPeriod: s.table.period,
	}
	return nil
}

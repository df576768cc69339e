package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/program"
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

	leaveOut      bool // datasets that break a rule
	mergeRepeats  bool
	zeroDropped   bool // counts that the stored report has and this one lacks become 0
	compareOthers bool
	helpURL       string
	maxDatasets   int
	maxProcessing time.Duration
}

func (s *settings) inMemory() bool { return s.api == "" && !s.dryRun }

// options are the settings as they are written.
type options struct {
	csv, creator, month, created, name, reportID string
	badRows, repeats, dropped                    string
	given                                        map[string]bool
	quiet                                        bool
}

// ofTables are the options that a report file has no use for.
var ofTables = []string{"creator", "month", "created", "name", "report-id", "platform", "publisher"}

func readSettings(p *program.Program) (s settings, err error) {
	var o options
	flags := p.Flags()
	flags.StringVar(&o.csv, "csv", "", "read a table of counts from this `file` instead of a report; - is standard input")
	flags.StringVar(&o.creator, "creator", "", "with -csv: `name` of the repository or platform that counted")
	flags.StringVar(&o.month, "month", "", "with -csv: the month that was counted, as `YYYY-MM`")
	flags.StringVar(&o.created, "created", "", "with -csv: `day` the report was made, as YYYY-MM-DD; without it, the day after the month, so that every run makes the same report")
	flags.StringVar(&o.name, "name", "Dataset Report", "with -csv: report `name`, for people")
	flags.StringVar(&o.reportID, "report-id", "dsr", "with -csv: short `code` of the report type")
	flags.StringVar(&s.table.platform, "platform", "", "with -csv: `platform` of rows that do not name one")
	flags.StringVar(&s.table.publisher, "publisher", "", "with -csv: `publisher` of rows that do not name one")
	flags.StringVar(&s.api, "api", "", "base `URL` of the service to send to, "+datacite.Test.API+" or "+datacite.Production.API+"; needs DATACITE_TOKEN in the environment")
	flags.BoolVar(&s.dryRun, "dry-run", false, "check the input, print what would be sent, contact no service")
	flags.BoolVar(&s.json, "json", false, "print the receipt as JSON")
	flags.StringVar(&o.badRows, "bad-rows", "stop", "datasets that break a rule: stop, or leave-out")
	flags.StringVar(&o.repeats, "repeats", "refuse", "a DOI that occurs twice: refuse, or merge (add up neighbours)")
	flags.StringVar(&o.dropped, "dropped", "keep", "numbers of earlier versions that this one lacks, which DOI records continue to show: keep, or zero (send the count 0)")
	flags.BoolVar(&s.compareOthers, "compare-others", false, "read the other reports of the account for that month, and warn of datasets that they have as well; records show the sum")
	flags.StringVar(&s.helpURL, "help-url", "", "`URL` for the note that the report is compressed")
	flags.IntVar(&s.maxDatasets, "max-datasets", reports.MaxDatasets, "most datasets in one subset")
	flags.DurationVar(&s.maxProcessing, "max-processing", 5*time.Minute, "how long the service may still work on a request whose response was lost; until then nothing else is sent")
	files, given, err := p.Parse(usage)
	if err != nil {
		return s, err
	}
	o.given, o.quiet = given, p.Quiet()
	if err := s.apply(o, files); err != nil {
		return s, program.Wrong(fmt.Errorf("%w; -h shows the flags", err))
	}
	s.token = p.Getenv("DATACITE_TOKEN")
	if s.api != "" && !s.dryRun && s.token == "" {
		return s, errors.New("-api needs a token in the environment variable DATACITE_TOKEN")
	}
	return s, nil
}

const usage = `Submit a usage report, and make sure that the service holds exactly that.

  usagereport [flags] report.json        on a service in memory, to see it work
  usagereport -api URL [flags] report.json
  usagereport -dry-run [flags] report.json
  usagereport [flags] -csv counts.csv -creator name -month YYYY-MM

Environment:
  DATACITE_TOKEN   with -api: the token of the account
  TMPDIR           folder for temporary files
  DATACITE_LOCK_DIR
                   folder for locks and records, the same for all runs on a machine;
                   /tmp without it. Set it in containers and under systemd's
                   PrivateTmp, where /tmp is another one for each service.

Input: a report as JSON, or a table as CSV, plain or compressed with gzip; "-" is
standard input. A table is in UTF-8, separated by commas, semicolons or tabs. Its first
row names the columns: doi, metric, access and count have to be there; title, year, uri,
publisher, platform and country may be; without the column, -platform and
-publisher are needed.
  metric   total-dataset-requests, unique-dataset-requests,
           total-dataset-investigations or unique-dataset-investigations
  access   regular or machine
  country  two letters; empty if it is not known

Output: the receipt on standard output, as text or, with -json, as JSON. Standard
error gets progress, warnings and errors.

After 0, the service holds exactly the report (with -dry-run: it could be sent). After 1
and 3, run the same command again: it goes on from what is stored. After 2 and 3, this run
has changed nothing on the service.
`

// apply checks the options against each other.
func (s *settings) apply(o options, files []string) (err error) {
	switch {
	case o.csv != "" && len(files) > 0:
		return fmt.Errorf("-csv %s and %q are both given", o.csv, files)
	case o.csv == "" && len(files) != 1:
		return fmt.Errorf("give one report file, or -csv; got %q", files)
	case o.quiet && s.inMemory():
		return errors.New("-quiet would hide that nothing is sent; give -api or -dry-run with it")
	case o.quiet && s.json:
		return errors.New("-json has no effect with -quiet; leave one of them out")
	case s.maxDatasets < 1 || s.maxDatasets > reports.MaxDatasets:
		return fmt.Errorf("-max-datasets is %d, not between 1 and %d", s.maxDatasets, reports.MaxDatasets)
	case s.maxProcessing <= 0:
		return fmt.Errorf("-max-processing is %v; it must be more than nothing", s.maxProcessing)
	}
	s.csv = o.csv != ""
	if s.file = o.csv; !s.csv {
		s.file = files[0]
	}
	if s.leaveOut, err = choice("-bad-rows", o.badRows, map[string]bool{"stop": false, "leave-out": true}); err != nil {
		return err
	}
	if s.mergeRepeats, err = choice("-repeats", o.repeats, map[string]bool{"refuse": false, "merge": true}); err != nil {
		return err
	}
	if s.zeroDropped, err = choice("-dropped", o.dropped, map[string]bool{"keep": false, "zero": true}); err != nil {
		return err
	}
	return s.applyHeader(o)
}

func choice[T any](option, word string, meaning map[string]T) (T, error) {
	v, ok := meaning[word]
	if !ok {
		return v, fmt.Errorf("%s is %q, not one of %s", option, word, strings.Join(slices.Sorted(maps.Keys(meaning)), ", "))
	}
	return v, nil
}

// applyHeader makes the header of a table.
func (s *settings) applyHeader(o options) error {
	if !s.csv {
		for _, name := range ofTables {
			if o.given[name] {
				return fmt.Errorf("-%s has no effect without -csv: a report file says that itself", name)
			}
		}
		return nil
	}
	if o.creator == "" || o.month == "" {
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
	s.header = reports.NewHeader(o.creator, reports.Day(created), s.table.period)
	s.header.ReportName, s.header.ReportID = o.name, o.reportID
	return nil
}

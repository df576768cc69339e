// Package shown compares stored usage reports with the views and downloads that DOI records
// show, and explains each difference:
//
//	for d, err := range shown.Compare(ctx, reportsClient, doisClient, "example.repo", nil) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(d)
//	}
//
// The service stores a report as it was sent, but the views and downloads of records differ
// from it for several reasons. For example, the service reads only a part of each dataset, adds
// up counts that are reported twice, and keeps numbers that a corrected report no longer
// contains. [AllCauses] lists the reasons, and datacitetest/evidence/deployed-usage.md the rules with their
// evidence.
//
// Compare does not predict the effect of:
//
//   - a null among the instances of a dataset
//   - a metric in capitals that replaces a number
//   - a header without created or begin-date
//   - a damaged subset
//
// # Repair
//
// [Repair] sends a 0 for each number that the wanted datasets lack but that the stored report
// has, or that a record still shows although no report has it any more. The 0 is in the wanted
// dataset of the DOI, if there is one. A report of RepairOptions.Replaces gets zeros in place of
// all its numbers, under its own header, so that records do not show the sum ([datacite.CodeReportedTwice]).
//
//   - A 0 of views beside downloads is inconsistent: without Submit.AllowInconsistent it is a
//     fault. A wanted dataset that needs a 0 and already has 8 instances is one, too.
//   - A number that no report of the account has may be that of another account. Repair cannot
//     distinguish them, and sends a 0, which then changes nothing; the next comparison names it
//     as [datacite.CodeUnreported].
//   - A report that is already correct is not sent again. Records change when the service has
//     processed the reports. Until then their differences are [datacite.CodeNotProcessed], or [datacite.CodeLost] if the
//     reports are old, and remain. After an interruption in between, a later Repair may still
//     find a number of an earlier version, which remains until then.
//   - With DryRun nothing is sent, and the outcome is the same except for the receipts, and for
//     zeros that Submit finds only in its LockDir, for records of other accounts; Receipt.Zeros
//     includes them.
//   - Repair reads the wanted datasets to their end, into a temporary file, before the first
//     request. It holds the numbers of the month in memory, about 200 bytes for each DOI, and
//     the datasets that get zeros.
package shown

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/reports"
)

// Options are the optional settings of Compare.
type Options struct {
	Causes []datacite.Code // which differences to look for; nil means all
	Now    time.Time       // for the age of reports; zero means the present

	// CreatedBy compares the reports of this creator instead of the account's. Numbers from
	// other creators' reports, and numbers left over from earlier versions, then both have
	// the cause Unreported.
	CreatedBy string

	// Month compares one month, such as "2026-10", and reads only its reports. "" means all.
	Month string

	// Lag is how long the service may take to process a report. It begins with the end, in
	// UTC, of the day on which the report was created, because a report has no other time: store
	// reports with that day as Header.Created, as datacite usage send does.
	// A missing count is NotProcessed until then, and Lost after that. 0 means 48 hours.
	Lag time.Duration

	// LeaveOut is called for each report that cannot be read, such as one that the
	// service has lost, with an error that names it. If it returns true, its month is not
	// compared. If it is nil or returns false, the error ends the sequence.
	LeaveOut func(error) bool

	Progress func(Progress) // called after each report, each thousandth entry and each difference, one call at a time
	Months   func([]Month)  // called with the totals when everything has been compared
	TempDir  string         // for temporary files; "" means that of the system
}

// Progress is the state of a comparison. It first reads all reports, then lists the
// records, and then compares both.
type Progress struct {
	Reports     int // read
	AllReports  int // in the service's list; -1 before it is read
	Datasets    int // read from the reports
	Records     int // listed
	AllRecords  int // by the service's count; -1 before its first response
	Compared    int // DOIs, reported or listed
	Differences int
}

// A Month has the reported and the shown totals of one month.
type Month struct {
	Month     string // such as "2026-10"
	Views     Total
	Downloads Total
}

// A Total is a sum over all DOIs of a month.
type Total struct {
	Reported    int64
	Shown       int64
	Differences int // DOIs with a Difference
}

// Compare compares all reports of an account with the numbers of DOI records, and returns
// the differences in the order of DOIs, months and metrics, each once. The account is that
// of a repository, such as "example.repo". Nothing is written to the service.
//
// Compare reads each report once, in constant memory, and lists the records of the account
// once: all of them with a login, only findable ones without. About 2 MiB are held in
// memory, the rest in temporary files that are removed at the end.
//
// Lists are a day or more behind records, so each DOI that seems to differ is read again
// with [dois.Client.Get] before it is compared. Compare needs one request for 1,000
// reports, one for each report, one for 1,000 records, one for 100 DOIs of other accounts,
// and one for each DOI that seems to differ. A number that is in no report is found as soon
// as the list shows it. Listed DOIs are read again only for differences of Options.Causes.
//
// After an interruption, Compare starts from the beginning.
//
// An error ends the sequence and comes with a nil Difference: an error of the service or
// the context, a report that cannot be read (see Options.LeaveOut), or a
// [*datacite.ValidationError] for bad options.
func Compare(ctx context.Context, r *reports.Client, d *dois.Client, account string,
	opts *Options) iter.Seq2[*Difference, error] {
	return compare(ctx, r, d, account, opts, nil)
}

// compare is Compare, and calls even for numbers that do not differ although the record has
// entries that no stored report makes, such as a 0.
func compare(ctx context.Context, r *reports.Client, d *dois.Client, account string, opts *Options,
	even func(*Difference)) iter.Seq2[*Difference, error] {
	return func(yield func(*Difference, error) bool) {
		c := &comparison{
			reports: r, dois: d, account: account, even: even,
			progress: Progress{AllReports: -1,
				AllRecords: -1}, skipped: map[string]bool{}, totalled: map[string]*Month{}, of: map[string][]string{},
		}
		if opts != nil {
			c.opts = *opts
		}
		if err := c.run(ctx, func(d *Difference) bool { return yield(d, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

const (
	sortMemory = 2 << 20 // bytes
	defaultLag = 48 * time.Hour
)

type comparison struct {
	reports *reports.Client
	dois    *dois.Client
	account string
	opts    Options
	even    func(*Difference)

	stored   []stored            // by the number in entries
	of       map[string][]string // ids of the reports of a month
	skipped  map[string]bool     // months of reports that were left out
	sorter   extsort.Sorter      // entries and records by DOI
	totalled map[string]*Month   // by month
	progress Progress
}

func (c *comparison) check() error {
	switch {
	case c.reports == nil || c.dois == nil:
		return datacite.Invalidf("Compare", datacite.CodeMissing,
			"needs a client for reports and a client for DOIs; one of them is nil")
	case c.account == "":
		return datacite.Invalidf("account", datacite.CodeMissing,
			`is empty; give the repository account, such as "example.repo"`)
	case c.opts.Lag < 0:
		return datacite.Invalidf("Options.Lag", datacite.CodeLimit, "is negative")
	}
	if _, err := time.Parse("2006-01", c.opts.Month); c.opts.Month != "" && err != nil {
		return datacite.Invalidf("Options.Month", datacite.CodeDate, "is %q, not YYYY-MM", c.opts.Month)
	}
	if c.opts.Causes != nil && len(c.opts.Causes) == 0 {
		return datacite.Invalidf("Options.Causes", datacite.CodeValue,
			"is empty, so nothing would be reported; leave it nil to look for all")
	}
	for _, cause := range c.opts.Causes {
		if !slices.Contains(AllCauses(), cause) {
			return datacite.Invalidf("Options.Causes", datacite.CodeVocabulary,
				"has %q, which is not a cause", string(cause))
		}
	}
	if c.opts.Now.IsZero() {
		c.opts.Now = time.Now()
	}
	if c.opts.Lag == 0 {
		c.opts.Lag = defaultLag
	}
	return nil
}

// run reads everything, and calls f for the differences that are looked for, until it returns false.
func (c *comparison) run(ctx context.Context, f func(*Difference) bool) error {
	if err := c.check(); err != nil {
		return err
	}
	c.sorter = extsort.Sorter{Memory: sortMemory, Dir: c.opts.TempDir}
	defer c.sorter.Close() // the temporary file is of no further use
	if err := c.readReports(ctx); err != nil {
		return err
	}
	if err := c.listRecords(ctx); err != nil {
		return err
	}
	for h, err := range c.holdings(ctx) {
		var all []*Difference
		if err == nil {
			all, err = c.judge(ctx, h)
		}
		if err != nil {
			return err
		}
		for _, d := range all {
			c.progress.Differences++
			c.reportProgress(0)
			if !f(d) {
				return nil
			}
		}
	}
	c.reportProgress(0)
	if c.opts.Months != nil {
		c.opts.Months(c.totals())
	}
	return nil
}

// reportProgress calls Progress after each thousandth entry, and if n is 0.
func (c *comparison) reportProgress(n int) {
	if n%1000 == 0 && c.opts.Progress != nil {
		c.opts.Progress(c.progress)
	}
}

// covers reports whether a month is compared.
func (c *comparison) covers(month string) bool { return c.opts.Month == "" || c.opts.Month == month }

func (c *comparison) looksFor(cause datacite.Code) bool {
	return c.opts.Causes == nil || slices.Contains(c.opts.Causes, cause)
}

// A Metric is one of the two numbers that DOI records show for each month.
type Metric string

// The metrics.
const (
	MetricViews     Metric = "views"     // unique-dataset-investigations, regular
	MetricDownloads Metric = "downloads" // unique-dataset-requests, regular
)

var metrics = [...]Metric{display.Views: MetricViews, display.Downloads: MetricDownloads}

// A Difference is a number of a DOI record that differs from the reported number.
type Difference struct {
	DOI    string // in lower case; as reported if it is not a DOI
	Month  string // such as "2026-10"
	Metric Metric
	// Reported: number in the latest report that has it, except a 0 that replaces another report's
	// number; for NotUnique, the total
	Reported int64
	// Expected: number by the service's rules for the reports that are stored now; several values if the order of
	// processing matters; of more than 64, the least and the greatest
	Expected []int64
	Shown    int64         // by the record; 0 without one
	Cause    datacite.Code // why Shown differs from Reported
	Detail   string        // the place in the report that causes it, or other details; may be ""
	Reports  []string      // ids of the reports that cause it, the oldest first

	shares  []share  // of reports that have the number, the oldest first
	surplus []int64  // entries of the record that no stored report makes, the greatest first
	old     int      // further entries that have the number of no report, and may be of earlier versions
	owners  []string // ids of the reports without the number, of which an earlier version may have had it
}

// A share is what a report has of a number.
type share struct {
	report        string   // its id
	counts        bool     // not only a 0, or one under another name
	hidden        bool     // records do not show it as it is reported, or under another name
	misattributed []string // names under which it is reported for another DOI or month
}

// String returns the difference and its cause on one line.
func (d *Difference) String() string {
	text := fmt.Sprintf("%s: %s of %s: %d reported, %d shown: %s", d.DOI, d.Metric, d.Month, d.Reported, d.Shown,
		Sentence(d.Cause))
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	if len(d.Reports) > 0 {
		text += " (" + strings.Join(d.Reports, ", ") + ")"
	}
	return text
}

var sentences = []struct {
	cause datacite.Code
	text  string
}{
	{datacite.CodeNotProcessed, "the report is recent, and the service has not processed it yet"},
	{datacite.CodeLost, "the service stored the report long ago, and does not show this count of it; storing it again " +
		"makes the service read it again"},
	{datacite.CodeNoRecord, "the DOI is not registered, or not visible to the account"},
	{datacite.CodeReportedTwice, "several reports have this count, and the service adds them up"},
	{datacite.CodeLeft, "the report of the month no longer has this count, and the service keeps the old number until a " +
		"count of 0 replaces it"},
	{datacite.CodeUnreported, "no report that is compared has this count: another account or creator reported it, or a " +
		"report that was deleted or moved to another month, or had it under a name with # or ?"},
	{datacite.CodeNotRegular, "the report has only machine counts, which are not shown, and the service keeps the old " +
		"number"},
	{datacite.CodeNotUnique, "the report has no unique counts by people, and the service shows no others"},
	{datacite.CodeTooManyInstances, "the dataset has more than 8 instances, and the service reads none of them"},
	{datacite.CodeLaterPerformance, "the service reads only the first performance of a dataset"},
	{datacite.CodeSeveralCounts, "the report has several counts of the same kind, and the service shows one of them"},
	{datacite.CodeLaterIdentifier, "the service reads only the first identifier of a dataset, and it is not the DOI"},
	{datacite.CodeNotADOI, "the dataset has no DOI"},
	{datacite.CodeSpelling, "the service does not read the DOI in this spelling"},
	{datacite.CodeCharacters, "the service does not find DOIs with such characters"},
	{datacite.CodeOtherDOI, "the service reads a DOI only up to # or ?, and adds the counts to those of the DOI that " +
		"remains"},
	{datacite.CodeOtherMonth, "in UTC the report begins in another month, under which the service shows its counts"},
	{datacite.CodeTooLarge, "the service shows no count above 2,147,483,647"},
	{datacite.CodeNoCount, "the count is missing in the report, and the service shows 1 for it, or keeps an earlier " +
		"number"},
}

// AllCauses returns the codes of all reasons why a record does not show the reported number. Those that
// lie in reports are also the codes of the findings with which Submit and [reports.Report.Findings]
// warn in advance.
func AllCauses() (all []datacite.Code) {
	for _, s := range sentences {
		all = append(all, s.cause)
	}
	return all
}

// Sentence describes a cause, such as "several reports have this count, and the
// service adds them up".
func Sentence(c datacite.Code) string {
	for _, s := range sentences {
		if s.cause == c {
			return s.text
		}
	}
	return string(c)
}

package shown

import (
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/display"
)

// A Metric is one of the two numbers that DOI records show for each month.
type Metric string

// The metrics.
const (
	Views     Metric = "views"     // unique-dataset-investigations, regular
	Downloads Metric = "downloads" // unique-dataset-requests, regular
)

var metrics = [...]Metric{display.Views: Views, display.Downloads: Downloads}

// A Difference is a number of a DOI record that differs from the reported number.
type Difference struct {
	DOI      string // in lower case; as reported if it is not a DOI
	Month    string // such as "2026-10"
	Metric   Metric
	Reported int64    // number in the latest report that has it, except a 0 that replaces another report's number; for NotUnique, the total
	Expected []int64  // number by the service's rules for the reports that are stored now; several values if the order of processing matters; of more than 64, the least and the greatest
	Shown    int64    // by the record; 0 without one
	Cause    Cause    // why Shown differs from Reported
	Detail   string   // the place in the report that causes it, or other details; may be ""
	Reports  []string // ids of the reports that cause it, the oldest first

	shares  []share  // of reports that have the number, the oldest first
	surplus []int64  // entries of the record that no stored report makes, the greatest first
	old     int      // further entries that have the number of no report, and may be of earlier versions
	owners  []string // ids of the reports without the number, of which an earlier version may have had it
}

// A share is what a report has of a number.
type share struct {
	report        string   // its id
	counts        bool     // not only a 0
	hidden        bool     // records do not show it as it is reported
	misattributed []string // names under which it is reported for another DOI or month
}

// String returns the difference and its cause on one line.
func (d *Difference) String() string {
	text := fmt.Sprintf("%s: %s of %s: %d reported, %d shown: %s", d.DOI, d.Metric, d.Month, d.Reported, d.Shown, Sentence(d.Cause))
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	if len(d.Reports) > 0 {
		text += " (" + strings.Join(d.Reports, ", ") + ")"
	}
	return text
}

// A Cause is the reason why a record does not show the reported number, such as [Left].
// [datacite.Code] lists the causes. Those that lie in reports are also the codes of the findings
// with which Submit and [reports.Report.Findings] warn in advance.
type Cause = datacite.Code

// The causes; [Sentence] describes each.
const (
	NotProcessed     Cause = "not-processed"
	Lost             Cause = "lost"
	NoRecord         Cause = "no-record"
	Unreported       Cause = "unreported"
	NotRegular       Cause = "not-regular"
	NotADOI          Cause = "not-a-doi"
	ReportedTwice    Cause = "reported-twice"
	Left             Cause = "left"
	NotUnique        Cause = "not-unique"
	TooManyInstances Cause = "too-many-instances"
	LaterPerformance Cause = "later-performance"
	SeveralCounts    Cause = "several-counts"
	LaterIdentifier  Cause = "later-identifier"
	Spelling         Cause = "spelling"
	Characters       Cause = "characters"
	OtherDOI         Cause = "other-doi"
	OtherMonth       Cause = "other-month"
	TooLarge         Cause = "too-large"
	NoCount          Cause = "no-count"
)

var sentences = []struct {
	cause Cause
	text  string
}{
	{NotProcessed, "the report is recent, and the service has not processed it yet"},
	{Lost, "the service stored the report long ago, and does not show this count of it; storing it again makes the service read it again"},
	{NoRecord, "the DOI is not registered, or not visible to the account"},
	{ReportedTwice, "several reports have this count, and the service adds them up"},
	{Left, "the report of the month no longer has this count, and the service keeps the old number until a count of 0 replaces it"},
	{Unreported, "no report that is compared has this count: another account or creator reported it, or a report that was deleted or moved to another month, or had it under a name with # or ?"},
	{NotRegular, "the report has only machine counts, which are not shown, and the service keeps the old number"},
	{NotUnique, "the report has no unique counts by people, and the service shows no others"},
	{TooManyInstances, "the dataset has more than 8 instances, and the service reads none of them"},
	{LaterPerformance, "the service reads only the first performance of a dataset"},
	{SeveralCounts, "the report has several counts of the same kind, and the service shows one of them"},
	{LaterIdentifier, "the service reads only the first identifier of a dataset, and it is not the DOI"},
	{NotADOI, "the dataset has no DOI"},
	{Spelling, "the service does not read the DOI in this spelling"},
	{Characters, "the service does not find DOIs with such characters"},
	{OtherDOI, "the service reads a DOI only up to # or ?, and adds the counts to those of the DOI that remains"},
	{OtherMonth, "in UTC the report begins in another month, under which the service shows its counts"},
	{TooLarge, "the service shows no count above 2,147,483,647"},
	{NoCount, "the count is missing in the report, and the service shows 1 for it, or keeps an earlier number"},
}

// AllCauses returns all causes.
func AllCauses() (all []Cause) {
	for _, s := range sentences {
		all = append(all, s.cause)
	}
	return all
}

// Sentence describes a cause, such as "several reports have this count, and the
// service adds them up".
func Sentence(c Cause) string {
	for _, s := range sentences {
		if s.cause == c {
			return s.text
		}
	}
	return string(c)
}

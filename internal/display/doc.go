// Package display has the rules by which DOI records display the counts of usage reports.
//
// Workers of the deployed service read each dataset of a stored report and make an event of
// each count (levriero), store the events (events), and a DOI record displays the sums of its
// events (lupo). The sender of the report learns nothing of this. The rules have names, which
// are the codes of findings about reports and the causes of differences between reports and
// records. Their numbers are those of datacitetest/evidence/deployed-usage.md, which has the evidence.
//
// Some rules cannot be applied to a report as it is read, or to the reports that an account can
// see, and are not predicted:
//
//   - a null among the instances of a dataset, and a header without "created" (12): nothing of
//     the dataset, or of the report, is displayed;
//   - a metric or access method in capitals (17) makes no event, which is predicted, but
//     replaces the number of an existing one, which is not;
//   - exception code "69" as text (18), broken subsets (19), reports at several addresses (21),
//     a header without begin-date (25);
//   - of DOIs with the same first 175 characters in one report, only one is displayed (24);
//   - the order in which workers process reports, and reports that they lose.
package display

import "github.com/datacite-go/datacite-go"

// The names of the rules. A rule that hides or changes more of a dataset comes before others.
const (
	LaterIdentifier  datacite.Code = "later-identifier"   // 3: only the first identifier is read
	Spelling         datacite.Code = "spelling"           // 13: of a DOI that is not read
	Characters       datacite.Code = "characters"         // 14: of a DOI whose record is not found
	OtherDOI         datacite.Code = "other-doi"          // 15: a DOI is read only up to # or ?
	TooManyInstances datacite.Code = "too-many-instances" // 2: more than 8, and none is read
	NotUnique        datacite.Code = "not-unique"         // 4: only unique counts by people are displayed
	LaterPerformance datacite.Code = "later-performance"  // 1: only the first performance is read
	NoCount          datacite.Code = "no-count"           // 8: a missing count is 1, or changes nothing
	SeveralCounts    datacite.Code = "several-counts"     // 10, 11: of several counts of one kind, one is displayed
	TooLarge         datacite.Code = "too-large"          // 16: counts have 32 bits
	OtherMonth       datacite.Code = "other-month"        // 5: the month is that of the report's begin date in UTC
	Left             datacite.Code = "left"               // 6: a number that a corrected report lacks stays
	ReportedTwice    datacite.Code = "reported-twice"     // 7: the counts of several reports are added up
)

// precedence orders the rules about one dataset.
var precedence = []datacite.Code{
	LaterIdentifier, Spelling, Characters, OtherDOI, TooManyInstances, NotUnique, LaterPerformance, NoCount, SeveralCounts, TooLarge,
}

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

// precedence orders the rules about one dataset: one that hides or changes more of it comes before others. The
// numbers are those of the rules above. Of the others, CodeOtherMonth is 5, CodeLeft 6 and CodeReportedTwice 7.
var precedence = []datacite.Code{
	datacite.CodeLaterIdentifier,  // 3: only the first identifier is read
	datacite.CodeSpelling,         // 13: of a DOI that is not read
	datacite.CodeCharacters,       // 14: of a DOI whose record is not found
	datacite.CodeOtherDOI,         // 15: a DOI is read only up to # or ?
	datacite.CodeTooManyInstances, // 2: more than 8, and none is read
	datacite.CodeNotUnique,        // 4: only unique counts by people are displayed
	datacite.CodeLaterPerformance, // 1: only the first performance is read
	datacite.CodeNoCount,          // 8: a missing count is 1, or changes nothing
	datacite.CodeSeveralCounts,    // 10, 11: of several counts of one kind, one is displayed
	datacite.CodeTooLarge,         // 16: counts have 32 bits
}

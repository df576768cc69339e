// Package counter counts accesses to datasets by the COUNTER Code of Practice for
// Research Data, release RD1, and makes the rows of a usage report.
//
//	events := logs.Read(logs.Files(names...), logs.Dataverse, nil) // or of your own
//	rows := counter.Count(events, &counter.Options{Period: reports.Month(2026, time.October)})
//	datasets := reports.Group(rows, &reports.GroupOptions{Sorted: true})
//	receipt, err := client.Submit(ctx, header, datasets, nil)
//
// An [Event] is one successful access: an investigation, or a request if content was
// retrieved. Robots are left out, programs are counted apart, of repeated clicks the
// last one counts, and sessions make the unique counts. docs/counting.md in the
// repository has the rules, with examples, and what the package decides where the
// code of practice leaves it open.
//
// [Handler] stores the events of a platform while it serves them, with [Pseudonyms] for addresses.
//
// [Count] takes any number of events in constant memory. [Days] keeps counts of single days,
// so that a night counts what is new. [Key] and [CountKey] are the
// same rules for systems that sort and distribute by themselves.
//
// Package logs, below this one, reads log files: those of Dataverse and Dryad, those of
// web servers, and what a platform stored of the events that [FromRequest] makes while it
// serves them.
package counter

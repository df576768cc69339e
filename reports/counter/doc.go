// Package counter counts accesses by the COUNTER Code of Practice for Research Data, release RD1,
// and makes the rows of a usage report.
//
//	events := logs.Read([]logs.Log{logs.FromReader(name, file)}, logs.Dataverse, nil) // or of your own
//	rows := counter.Count(events, &counter.Options{Period: reports.Month(2026, time.October)})
//	datasets := reports.Group(rows, &reports.GroupOptions{Sorted: true})
//	receipt, err := client.Submit(ctx, header, datasets, nil)
//
// An [Event] is one successful access: an investigation, or a request if content was
// retrieved.
//
//   - Robots are not counted, and programs are counted separately from people.
//   - Of repeated clicks only the last is counted.
//   - Unique counts are numbers of sessions.
//
// docs/counting-rules.md in the repository has the rules with examples, and the decisions of this
// package where the code of practice is silent.
//
// Events come from log files (package logs) or from a running platform: [Handler] stores an
// event for each successful access, with [Pseudonyms] in place of addresses, and [FromRequest]
// makes an event of a single request.
//
// [Count] takes any number of events in constant memory. [Days] keeps the counts of single
// days, so that a nightly run reads only new logs. [Key] and [CountKey] apply the same rules
// in systems that sort and distribute events themselves.
package counter

// Package logs reads the accesses in log files, for package counter to count.
//
//	opts := &logs.Options{Location: berlin, Period: october, Stats: &sum}
//	events := logs.Read([]logs.Log{logs.FromReader("counter_2026-10-14.log", file)}, logs.Dataverse, opts)
//	rows := counter.Count(events, &counter.Options{Location: berlin, Period: october})
//
// The formats of [Formats] are built in, such as [Dataverse] and [Combined]. Define a [Format] to read
// another. Files may be compressed with gzip, bzip2 or zstd.
//
// A line that cannot be read is a fault with one of the [Codes], and an error of [Read], unless
// Options.Tolerance allows a share of such lines. [Stats] has:
//
//   - the numbers of lines that were counted and left out, and the faults with their places
//   - the first and last time of each log, and hours without any line
//   - the lines whose UTC offset differs from the platform's time zone
package logs

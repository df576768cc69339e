// Package logs reads the accesses in log files, for package counter to count.
//
//	opts := &logs.Options{Location: berlin, Period: october, Summary: &sum}
//	events := logs.Read(logs.Files("counter_2026-10-14.log", "web2.log.gz"), logs.Dataverse, opts)
//	rows := counter.Count(events, &counter.Options{Location: berlin, Period: october})
//
// Three formats are built in: [Dataverse] is what Dataverse and Dryad write for
// counter-processor, [Combined] the access log of Apache, nginx and other web servers, and
// [JSON] what a platform stored of its own events. A further one is a [Format] of your
// own. Files may be compressed with gzip, bzip2 or zstd.
//
// A line that cannot be read is a [Fault] of a [Class]. [Read] fails if there is one,
// unless Options.Tolerance allows a share of them. [Summary] says what became of all lines,
// which faults there were and where, when each log begins and ends, in which hours
// nothing was logged, and which lines have another UTC offset than the time zone of the
// platform.
package logs

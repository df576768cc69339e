package count

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// input is the log files, and what became of their lines.
type input struct {
	*command
	ctx context.Context

	sources      []logs.Log
	lines        logs.Stats
	events       counter.Tally
	countries    *countries // nil without --geoip
	descriptions *logs.Descriptions

	size     int64        // bytes of the files
	done     atomic.Int64 // bytes that were read
	accesses int          // read so far
	located  bool         // one of them has a country
	unread   int          // files that an earlier night has read
	kept     []counter.Day
}

// open looks at the files: a name that is wrong is told before hours of counting.
func (c *command) open(ctx context.Context, files []string) (*input, error) {
	in := &input{command: c, ctx: ctx, descriptions: &logs.Descriptions{Memory: c.memory / 2}}
	for _, name := range files {
		if name == "-" {
			stdin, err := c.Stdinput()
			if err != nil {
				return nil, err
			}
			in.sources = append(in.sources, logs.Log{Name: "standard input", Open: func() (io.ReadCloser, error) {
				return watched{io.NopCloser(stdin), &in.done}, nil
			}})
			continue
		}
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a folder; name the logs in it, such as %s", name, filepath.Join(name, "*.log"))
		}
		if err == nil {
			err = isCounted(name, info)
		}
		if err != nil {
			return nil, shell.Wrong(err)
		}
		in.size += info.Size()
		in.sources = append(in.sources, logs.Log{Name: name, Open: func() (io.ReadCloser, error) {
			file, err := os.Open(name)
			return watched{file, &in.done}, err
		}})
	}
	if c.geoip != "" {
		var err error
		if in.countries, err = openCountries(c.geoip); err != nil {
			return nil, shell.Wrong(fmt.Errorf("--geoip %w", err))
		}
	}
	return in, nil
}

// isCounted is an error for a file that usage count has written.
func isCounted(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return nil // a pipe can be read once
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	start := make([]byte, 1000)
	n, _ := io.ReadFull(file, start) // reading the log tells the error
	first, _, _ := strings.Cut(strings.TrimPrefix(string(start[:n]), "\ufeff"), "\n")
	kind := ""
	switch {
	case strings.HasPrefix(first, `{"report-header"`):
		kind = "a usage report"
	case strings.Contains(first, "doi") && strings.Contains(first, "metric") && strings.Contains(first,
		"access"), table.IsSpreadsheet(name):
		kind = "a table"
	default:
		return nil
	}
	return fmt.Errorf("%s is %s, not a log; datacite usage send sends it", name, kind)
}

// watched adds up what is read.
type watched struct {
	io.ReadCloser
	done *atomic.Int64
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.done.Add(int64(n))
	return n, err
}

func (in *input) close() {
	if in.countries != nil {
		_ = in.countries.db.Close() // it was only read
	}
	_ = in.descriptions.Close() // what it held has been read
}

// rows are the counts. Whatever ends them is a fault of the input.
func (in *input) rows() iter.Seq2[reports.Row, error] {
	opts := &counter.Options{
		Period: in.reading.Period, Location: in.reading.Location,
		Robots: in.robots, Machines: in.machines, Tally: &in.events, Memory: in.memory,
	}
	rows := counter.Count(in.all(), opts)
	if in.days != "" {
		rows = in.rowsOfNights()
	}
	return func(yield func(reports.Row, error) bool) {
		for row, err := range rows {
			row.Platform = in.platformName()
			if err != nil {
				err = shell.Wrong(err)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func (c *command) platformName() string {
	if c.platform == "" {
		return c.creator
	}
	return c.platform
}

// all are the events of all files.
func (in *input) all() iter.Seq2[counter.Event, error] {
	return func(yield func(counter.Event, error) bool) {
		for e, err := range in.eventsOf(in.sources, &in.lines, in.period) {
			if !yield(e, err) || err != nil {
				return
			}
		}
		if err := in.checkGaps(); err != nil {
			yield(counter.Event{}, err)
		}
	}
}

// eventsOf are the events of some files, with what became of their lines.
func (in *input) eventsOf(sources []logs.Log, sum *logs.Stats, period reports.Period) iter.Seq2[counter.Event, error] {
	opts := *in.reading
	opts.Stats, opts.Descriptions, opts.Period = sum, in.descriptions, period
	if in.countries != nil {
		opts.Country = in.countries.of
	}
	return func(yield func(counter.Event, error) bool) {
		for e, err := range logs.Read(sources, in.format, &opts) {
			if err == nil {
				err = in.ctx.Err()
			}
			if in.accesses++; in.accesses%1000 == 0 {
				in.progress()
			}
			in.located = in.located || e.Country != ""
			if _, ofLines := errors.AsType[*logs.FaultsError](err); ofLines {
				err = faults{err, in.settings.checkZone(sum)}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		if err := in.settings.checkZone(sum); err != nil {
			yield(counter.Event{}, faults{err})
		}
	}
}

// faults are all that is wrong with tables, lines and zone, so that one run finds them; some may be nil.
type faults []error

func (f faults) Error() string { return errors.Join(f...).Error() }

func (f faults) Unwrap() []error { return f }

// moreFaults are what is wrong with the logs beside what ended a run.
func (in *input) moreFaults(found error) error {
	for _, err := range in.all() {
		if err != nil {
			return err
		}
	}
	return found
}

func (in *input) progress() {
	read := ""
	if in.size > 0 {
		read = fmt.Sprintf("%d %% of the logs", min(100, 100*in.done.Load()/in.size))
	}
	in.Progress(in.accesses, 0, "accesses", read)
}

// checkGaps refuses logs that have nothing of times in which other days have much: a report of
// a month looks the same with a day less.
func (in *input) checkGaps() error {
	if in.gap == 0 {
		return nil
	}
	var missing []string
	longest, shorter, late := time.Duration(0), "", ""
	servers := serversOf(in.lines.Files)
	for _, s := range servers {
		for _, g := range coverageOf(in.reading, in.gap, &s).Gaps {
			missing = append(missing, fmt.Sprintf("  %s: none from %s to %s", serverText(&s), g.From.Format(toTheMinute),
				g.Until.Format(toTheMinute)))
			longest = max(longest, g.Until.Sub(g.From))
			if oneOfMany(&s, servers) {
				late = fmt.Sprintf("\n%s counts as a server of its own: if it came late, put it with the others of its server",
					s.Logs[0].Name)
			}
			if reports.Day(g.Until.AddDate(0, 0, -1)) == in.period.EndDate && len(missing) == 1 {
				shorter = fmt.Sprintf(", --until %s", reports.Day(g.From.AddDate(0, 0, -1)))
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if more := len(missing) - 10; more > 0 {
		missing = append(missing[:10], fmt.Sprintf("  and %d more", more))
	}
	return fmt.Errorf("logs seem to be missing, of servers that have accesses on other days; nothing was written\n%s\n"+
		"Give them%s, or --gap %dh if nobody came or a server was off.%s", strings.Join(missing,
		"\n"), shorter, int(longest/time.Hour)+1, late)
}

// oneOfMany tells whether the only log of a server is named like the logs in another folder.
func oneOfMany(s *logServer, servers []logServer) bool {
	return len(s.Logs) == 1 && slices.ContainsFunc(servers, func(other logServer) bool {
		return len(other.Logs) > 1 && filepath.Base(other.Name) == filepath.Base(s.Name)
	})
}

const toTheMinute = "2006-01-02 15:04"

// serverText names a server, or its only log.
func serverText(s *logServer) string {
	if len(s.Logs) == 1 {
		return s.Logs[0].Name
	}
	return fmt.Sprintf("%s (%d logs)", s.Name, len(s.Logs))
}

// warn prints what was left out, with --quiet, too.
func (in *input) warn() {
	if in.lines.Faulty > 0 {
		in.Warn("warning: %s of %s left out, since they cannot be read\n%s", shell.Count(in.lines.Faulty, "line"),
			shell.Number(in.lines.Lines()-in.lines.Comments), strings.TrimSuffix(listed(in.lines.Faults), "\n"))
	}
	if len(in.kept) > 0 {
		var days []string
		for _, day := range in.kept {
			days = append(days, string(day.Date))
		}
		in.Say("note: the counts of days stay whose logs are gone: %s", strings.Join(days, ", "))
	}
	for _, f := range in.lines.Files {
		switch {
		case f.Truncated:
			in.Warn("warning: %s is cut after line %d; what followed is not counted", f.Name, f.Lines())
		case f.Lines() == 0:
			in.Warn("warning: %s is empty", f.Name)
		}
	}
	for _, s := range serversOf(in.lines.Files) {
		var all logs.Counts
		proxies := 0
		for _, f := range s.Logs {
			all.Events, all.Other = all.Events+f.Events, all.Other+f.Other
			proxies = max(proxies, f.Proxies)
		}
		if all.Events == 0 && all.Other > 0 {
			in.Warn("warning: no line of %s counts, of %s: none is a successful access to a dataset; is this its layout, and "+
				"are its paths those of the patterns?", serverText(&s), shell.Number(all.Other))
		}
		if proxies > 0 {
			from := map[bool]string{true: "one address, that of a proxy perhaps",
				false: fmt.Sprintf("%d private addresses, those of proxies perhaps", proxies)}
			in.Warn("warning: all accesses in %s come from %s, so the counts of users are too low; log the addresses of "+
				"visitors, such as X-Forwarded-For", serverText(&s), from[proxies == 1])
		}
	}
	if in.countries != nil && in.accesses > 0 && !in.located {
		in.Warn("warning: --geoip %s: no access has a country; does it know countries of these addresses?", in.geoip)
	}
	for _, o := range in.lines.Offsets {
		if !in.hasOffset(o.Seconds) {
			in.Warn("warning: the offset of %s is %s from UTC, which %s never has in this month; is --zone right? The first "+
				"is in %s, line %d", shell.Count(o.Lines, "line"), o, in.reading.Location, o.First.File, o.First.Line)
			continue
		}
		in.Say("note: the offset of %s is %s from UTC, which %s does not have at that time; the first is in %s, line %d",
			shell.Count(o.Lines, "line"), o, in.reading.Location, o.First.File, o.First.Line)
	}
}

// hasOffset tells whether the zone has an offset from UTC at some time of the month, as a server that
// ignores summer time does.
func (in *input) hasOffset(seconds int) bool {
	end := in.month.AddDate(0, 1, 1)
	for day := in.month.AddDate(0, 0, -1); !day.After(end); day = day.AddDate(0, 0, 1) {
		if _, offset := day.In(in.reading.Location).Zone(); offset == seconds {
			return true
		}
	}
	return false
}

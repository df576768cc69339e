package counter

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/reports"
)

// Days keeps the counts of single days in a folder. No session is longer than a day, so the
// counts of the days of a month add up to those of the month. Each night only days with new
// logs need to be counted.
//
//	days, err := counter.OpenDays(folder, nil)
//	…
//	defer days.Close()
//	added, err := days.Add(sources, nil)      // of all servers
//	rows := days.Rows(reports.Month(2026, time.November))
//
// A day is a file of a few bytes for each dataset. The folder holds counts, names of logs
// and checksums of all accesses in a log on a day. Of each visitor, a checksum has 16 bits
// of a hash, so that it shows that a log was replaced, and not who accessed a dataset.
type Days struct {
	folder string
	rules  rules
	lock   *flock.Flock
	index  daysIndex
}

// A EventLog is a log, or a part of one, that [Days.Add] counts.
type EventLog struct {
	Name string // identifies the source in messages and in later calls, such as its path
	// Version: changes whenever the content does, such as its checksum; "" means that the log is
	// always read
	Version string
	Events  iter.Seq2[Event, error] // can be ranged over again
}

// AddOptions are the optional settings of [Days.Add].
type AddOptions struct {
	// Replace says that the given sources are complete for their days: counts of other logs
	// for these days are discarded. Without it, a day of which a log is missing is an error.
	Replace bool
	// Tally receives the numbers of events; it may be nil. OtherMonths, NoDataset and InvalidDOI are of the sources
	// that were new, the others of the days that were counted. What both lack was counted before.
	Tally *Tally
}

// Added is the result of [Days.Add].
type Added struct {
	Counted   []reports.Date // days that were counted, or counted again
	Unchanged []string       // names of sources that were not read, since they were added before
	// Kept: counts that stay though their logs are gone: deleted, or replaced by later ones when logs
	// were rotated
	Kept []Day
}

// A Day describes a day that was counted.
type Day struct {
	Date    reports.Date
	Events  int64    // accesses to datasets, robots and double clicks included
	Sources []string // names of the logs, as given to Add
}

// daysIndex says what the folder holds. It is written last: files that it does not name are
// left from a run that was interrupted.
type daysIndex struct {
	Rules   string                   `json:"rules"` // time zone and lists of user agents
	Sources map[string]addedSource   `json:"sources"`
	Days    map[reports.Date]*dayLog `json:"days"`
}

// An addedSource is a log as it was when it was added.
type addedSource struct {
	Version string                `json:"version"`
	Days    map[reports.Date]part `json:"days"`
}

// A dayLog is a day that was counted.
type dayLog struct {
	File  string          `json:"file"`
	Parts map[string]part `json:"parts"` // by name of the source
}

// A part is what a log has of a day. Two that are equal are the same accesses, also under
// another name or compressed: logs are rotated.
type part struct {
	Events int64  `json:"events"` // of the day, and of the 30 seconds after it, which may be double clicks
	Sum    uint64 `json:"sum"`
	Within int64  `json:"within"` // those of the day
}

const (
	indexFile = "days.json"
	lockFile  = "days.lock"

	mostDays   = 10_000 // in a source
	daysAtOnce = 62     // files that are open together
)

// OpenDays opens a folder of counts of days, and creates it if it does not exist. Of opts, it
// uses Location, Robots, Machines, Period, Faulty, Memory and TempDir; the first four must be the same each
// time, because days that were counted differently do not add up. Days outside the period are not
// kept. It fails while another process has the folder open.
func OpenDays(folder string, opts *Options) (*Days, error) {
	r, err := newRules(opts)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	lock := filepath.Join(folder, lockFile)
	if info, err := os.Lstat(lock); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("counter: %s is not a regular file; a symbolic link could lead anywhere", lock)
	}
	d := &Days{folder: folder, rules: *r, lock: flock.New(lock)}
	switch taken, err := d.lock.TryLock(); {
	case err != nil:
		return nil, err
	case !taken:
		return nil, fmt.Errorf("counter: %s is in use by another run; wait until it has ended", folder)
	}
	if err := d.read(rulesOf(r)); err != nil {
		return nil, errors.Join(err, d.lock.Close())
	}
	return d, nil
}

// errZeroDays is the error of Days that OpenDays did not make.
var errZeroDays = datacite.Invalidf("Days", datacite.CodeMissing, "is the zero value; OpenDays makes one")

// Close lets other runs open the folder.
func (d *Days) Close() error {
	if d.lock == nil {
		return errZeroDays
	}
	return d.lock.Close()
}

// rulesOf identifies the rules by which days are counted.
func rulesOf(r *rules) string {
	sum := sha256.New()
	for _, list := range []*Agents{r.Robots, r.Machines} {
		for _, pattern := range list.Patterns() {
			fmt.Fprintf(sum, "%q\n", pattern)
		}
		fmt.Fprintln(sum)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %x %s", r.zone, sum.Sum(nil)[:8], r.Period.BeginDate+r.Period.EndDate))
}

// read reads the index, and removes what an interrupted run left.
func (d *Days) read(rules string) error {
	path := filepath.Join(d.folder, indexFile)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.index = daysIndex{Rules: rules}
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(data, &d.index); err != nil {
			return damaged(path, err, "count into an empty folder")
		}
	}
	if d.index.Rules != rules {
		return datacite.Invalidf("Options", datacite.CodeConflict,
			"have another time zone, period or lists of user agents than the days in %s; count all of the month "+
				"into an empty folder", d.folder)
	}
	if d.index.Sources == nil {
		d.index.Sources = map[string]addedSource{}
	}
	if d.index.Days == nil {
		d.index.Days = map[reports.Date]*dayLog{}
	}
	return d.sweep()
}

// sweep removes files that the index does not name.
func (d *Days) sweep() error {
	named := map[string]bool{indexFile: true, lockFile: true}
	for _, day := range d.index.Days {
		named[day.File] = true
	}
	entries, err := os.ReadDir(d.folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); !named[name] && strings.HasPrefix(name, "day-") {
			if err := os.Remove(filepath.Join(d.folder, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// List returns the days that were counted, in order. A day that is missing between two
// others had no access, or its log is missing.
func (d *Days) List() []Day {
	var list []Day
	for _, date := range slices.Sorted(maps.Keys(d.index.Days)) {
		if day := dayOf(date, d.index.Days[date].Parts); day.Events > 0 {
			list = append(list, day)
		}
	}
	return list
}

func dayOf(date reports.Date, parts map[string]part) Day {
	day := Day{Date: date}
	for name, p := range parts {
		if p.Within > 0 {
			day.Events += p.Within
			day.Sources = append(day.Sources, name)
		}
	}
	slices.Sort(day.Sources)
	return day
}

// Add counts the days of logs that are new or have changed, and stores their counts.
//
// A visitor may use several servers, so a day is counted from all of its logs at once: if a log
// arrives late, the other logs of its day must be given again, and an error names those that are
// missing. Therefore give all logs that still exist, each time; a log with a known version is
// read only if a day needs it. A log that was rotated or compressed is recognised by its
// accesses. The same accesses in two logs of one call are an error.
//
// The counts of a day state what its logs had. Those of a log that is gone are kept; a log is gone if it is not
// given, or if its name has accesses of later days now. A log that has other or fewer accesses, or none, is an
// error unless opts.Replace is set.
//
// Add stores all counts or none. An error of a source ends Add.
func (d *Days) Add(sources []EventLog, opts *AddOptions) (*Added, error) {
	if d.lock == nil {
		return nil, errZeroDays
	}
	if opts == nil {
		opts = &AddOptions{}
	}
	a := &adding{days: d, options: *opts, sources: sources, given: map[string]addedSource{}}
	if err := a.scan(); err != nil {
		return nil, err
	}
	if err := a.compare(); err != nil {
		return nil, err
	}
	if err := a.count(); err != nil {
		return nil, err
	}
	return &a.added, nil
}

// An adding is one call of Add.
type adding struct {
	days    *Days
	options AddOptions
	sources []EventLog
	given   map[string]addedSource             // by name
	parts   map[reports.Date]map[string]part   // of the days that a source has
	grown   map[reports.Date]map[string]string // parts that a source continues, by name, and its name
	changed map[reports.Date][]part            // what sources have no more
	anew    map[reports.Date]bool              // days to count
	summary Tally
	added   Added
}

// scan finds the days of each source.
func (a *adding) scan() error {
	a.parts, a.grown, a.changed = map[reports.Date]map[string]part{}, map[reports.Date]map[string]string{}, map[reports.Date][]part{}
	for i, s := range a.sources {
		if _, again := a.given[s.Name]; again || s.Name == "" || s.Events == nil {
			return datacite.Invalidf(fmt.Sprintf("sources[%d]", i), datacite.CodeMissing,
				"is %q; each source needs a name of its own, and events", s.Name)
		}
		found, known := a.days.index.Sources[s.Name]
		if known = known && s.Version != "" && s.Version == found.Version; known {
			a.added.Unchanged = append(a.added.Unchanged, s.Name)
		} else {
			days, err := a.scanned(&s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			before := found.Days
			if found = (addedSource{s.Version, days}); !a.rotated(s.Name, before, days) {
				for date, p := range before {
					a.changed[date] = append(a.changed[date], p)
				}
			}
		}
		for name, other := range a.given {
			if len(found.Days) > 0 && maps.Equal(other.Days, found.Days) {
				return datacite.Invalidf(fmt.Sprintf("sources[%d]", i), datacite.CodeConflict,
					"%s has the same accesses as %s", s.Name, name)
			}
		}
		a.given[s.Name] = found
		for date, p := range found.Days {
			if a.parts[date] == nil {
				a.parts[date] = map[string]part{}
			}
			a.parts[date][s.Name] = p
		}
	}
	return nil
}

// rotated tells whether a name was given to a later log, which begins on the last day of the earlier one or after it.
func (a *adding) rotated(name string, before, now map[reports.Date]part) bool {
	first, last := reports.Date(""), reports.Date("")
	for date, p := range now {
		if p.Within > 0 && (first == "" || date < first) {
			first = date
		}
	}
	for date, p := range before {
		if p.Within > 0 {
			last = max(last, date)
		}
	}
	if first == "" || first < last || now[last] == before[last] {
		return false
	}
	for earlier, source := range a.grown[last] {
		if source == name && a.days.index.Days[last].Parts[earlier] == before[last] {
			return false // the same log, whose other days are gone
		}
	}
	return true
}

// scanned reads a source and returns its days. It notes where the source begins as a part
// that was counted before: a log that was growing then.
func (a *adding) scanned(s *EventLog) (map[reports.Date]part, error) {
	r := &a.days.rules
	found := map[int64]*part{}
	of := func(day int64) *part {
		p := found[day]
		if p == nil {
			p = new(part)
			found[day] = p
		}
		return p
	}
	add := func(day int64, within int64, sum uint64) {
		p := of(day)
		*p = part{p.Events + 1, p.Sum + sum, p.Within + within}
		a.continues(dateOf(day), s.Name, p)
	}
	n := 0
	for e, err := range s.Events {
		if err != nil {
			return nil, err
		}
		n++
		name, err := parse(&e)
		switch {
		case isNoDOI(err):
			if a.summary.InvalidDOI++; a.summary.InvalidDOI <= mostFaults {
				f := datacite.Findings(err)[0]
				f.File, f.Path = s.Name, fmt.Sprintf("event %d, %s", n, f.Path)
				r.Faulty(f)
			}
			continue
		case err != nil:
			return nil, fmt.Errorf("event %d: %w", n, err)
		}
		sec := e.Time.Unix()
		within, after := r.inPeriod(sec), r.inPeriod(sec-doubleClick)
		switch {
		case name == "":
			a.summary.NoDataset++
			continue
		case !within:
			a.summary.OtherMonths++
		}
		day, before, sum := r.day(sec), r.day(sec-doubleClick), sumOf(name, &e)
		if within {
			add(day, 1, sum)
		}
		if after && before != day {
			add(before, 0, sum)
		}
		if len(found) > mostDays {
			return nil, datacite.Invalidf("", datacite.CodeLimit, "has accesses of more than %d days", mostDays)
		}
	}
	days := make(map[reports.Date]part, len(found))
	for day, p := range found {
		days[dateOf(day)] = *p
	}
	return days, nil
}

// continues notes the parts of a day that are the beginning of a source.
func (a *adding) continues(date reports.Date, source string, p *part) {
	counted := a.days.index.Days[date]
	if counted == nil {
		return
	}
	for name, before := range counted.Parts {
		if before == *p {
			if a.grown[date] == nil {
				a.grown[date] = map[string]string{}
			}
			a.grown[date][name] = source
		}
	}
}

// sumOf is a number that is the same for the same access. Sums of it do not depend on order.
func sumOf(name string, e *Event) uint64 {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s\n%d\n%s\n%s\n%t\n%d", jsonlex.AppendLower(nil, name), e.Time.UnixNano(), e.URL, e.Agent,
		e.Request, visitorSum(e))
	return sum.Sum64()
}

// visitorSum shows that a visitor is another one. It is short, so that nobody can test who it is: 65,536
// addresses of IPv4 share each value.
func visitorSum(e *Event) uint16 {
	kind, who := appendUser(nil, e)
	sum := fnv.New64a()
	_, _ = sum.Write(append(who, kind)) // a hash takes all
	all := sum.Sum64()
	return uint16(all ^ all>>16 ^ all>>32 ^ all>>48)
}

// compare finds the days that must be counted, and refuses those for which a log is missing.
func (a *adding) compare() error {
	a.anew = map[reports.Date]bool{}
	dates := maps.Clone(a.days.index.Days)
	for date := range a.parts {
		dates[date] = nil
	}
	var faults []datacite.Finding
	for _, date := range slices.Sorted(maps.Keys(dates)) {
		counted := a.days.index.Days[date]
		if counted == nil {
			a.anew[date] = true
			continue
		}
		missing := a.missing(date, counted)
		gone, err := a.gone(counted)
		switch {
		case err != nil:
			return err
		case a.adds(date, counted) == 0 && !a.lacks(date, missing) && !gone: // what is missing was counted
			if kept := dayOf(date, missing); kept.Events > 0 {
				a.added.Kept = append(a.added.Kept, kept)
			}
		case len(missing) > 0 && !a.options.Replace:
			faults = append(faults, datacite.Finding{Path: string(date), Code: datacite.CodeMissing,
				Reason: fmt.Sprintf("was counted from %s, whose accesses are in none of the logs: give all logs of the day",
					named(missing))})
		default:
			a.anew[date] = true
		}
	}
	return datacite.Invalid(faults...)
}

// lacks tells whether accesses that are missing were in a log that was given again.
func (a *adding) lacks(date reports.Date, missing map[string]part) bool {
	for _, p := range missing {
		if slices.Contains(a.changed[date], p) {
			return true
		}
	}
	return false
}

// named are logs, with what they had of a day.
func named(parts map[string]part) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		names = append(names, fmt.Sprintf("%s (%s)", name, accesses(parts[name].Events)))
	}
	return strings.Join(names, ", ")
}

func accesses(n int64) string {
	if n == 1 {
		return "1 access"
	}
	return fmt.Sprint(n, " accesses")
}

// missing are the logs from which a day was counted, and whose accesses no source has.
func (a *adding) missing(date reports.Date, counted *dayLog) map[string]part {
	missing := map[string]part{}
	for name, before := range counted.Parts {
		_, found := a.grown[date][name]
		for _, p := range a.parts[date] {
			found = found || p == before
		}
		if !found {
			missing[name] = before
		}
	}
	return missing
}

// gone tells whether the file of a day was removed, so that it must be counted again.
func (a *adding) gone(day *dayLog) (bool, error) {
	if day.File == "" {
		return false, nil
	}
	_, err := os.Stat(filepath.Join(a.days.folder, day.File))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// adds is how many parts are new.
func (a *adding) adds(date reports.Date, counted *dayLog) (n int) {
	before := slices.Collect(maps.Values(counted.Parts))
	for _, p := range a.parts[date] {
		if !slices.Contains(before, p) {
			n++
		}
	}
	return n
}

// count counts the days, and stores all that is new.
func (a *adding) count() error {
	d := a.days
	index := daysIndex{Rules: d.index.Rules, Sources: maps.Clone(d.index.Sources), Days: maps.Clone(d.index.Days)}
	maps.Copy(index.Sources, a.given)
	a.added.Counted = slices.Sorted(maps.Keys(a.anew))
	sum := Tally{}
	for some := range slices.Chunk(a.added.Counted, daysAtOnce) {
		files, counted, err := a.write(some)
		if err != nil {
			return err
		}
		sum.add(counted)
		for _, date := range some {
			index.Days[date] = &dayLog{files[date], a.parts[date]}
		}
	}
	if a.options.Tally != nil {
		sum.OtherMonths, sum.NoDataset, sum.InvalidDOI = a.summary.OtherMonths, a.summary.NoDataset, a.summary.InvalidDOI
		*a.options.Tally = sum
	}
	data, err := json.MarshalIndent(index, "", " ")
	if err != nil {
		return err
	}
	if err := store(d.folder, indexFile, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return err
	}
	d.index = index
	return d.sweep()
}

// write writes a file for each of some days, and returns their names. Rows come by DOI, so
// the files are open together.
func (a *adding) write(dates []reports.Date) (files map[reports.Date]string, sum Tally, err error) {
	r := a.days.rules                                                             // a copy
	r.Tally, r.only, r.Faulty = &sum, map[int64]bool{}, func(datacite.Finding) {} // scan named them
	needed := map[string]bool{}
	for _, date := range dates {
		day, err := date.Time()
		if err != nil {
			return nil, sum, err
		}
		r.only[day.Unix()/secondsOfDay] = true
		for name := range a.parts[date] {
			needed[name] = true
		}
	}
	writers := map[reports.Date]*dayFile{}
	defer func() {
		for _, w := range writers {
			err = errors.Join(err, w.remove())
		}
	}()
	var failed error
	err = r.count(a.events(needed), func(row reports.Row) bool {
		w := writers[row.Date]
		if w == nil {
			if w, failed = a.days.create(); failed != nil {
				return false
			}
			writers[row.Date] = w
		}
		failed = w.rows.Write([]string{row.DOI, string(row.Metric), string(row.Access), row.Country,
			strconv.FormatInt(row.Count, 10)})
		return failed == nil
	})
	if err := cmp.Or(failed, err); err != nil {
		return nil, sum, err
	}
	files = map[reports.Date]string{} // a day of robots alone has none
	for date, w := range writers {
		if files[date], err = w.finish(a.days.folder, date); err != nil {
			return nil, sum, err
		}
	}
	return files, sum, nil
}

// events are those of the sources of the days that are counted.
func (a *adding) events(needed map[string]bool) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, s := range a.sources {
			if !needed[s.Name] {
				continue
			}
			for e, err := range s.Events {
				if err != nil {
					err = fmt.Errorf("%s: %w", s.Name, err)
				}
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

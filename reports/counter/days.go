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
	rules  Options
	lock   *flock.Flock
	index  daysIndex
}

// A Source is a log, or a part of one, that [Days.Add] counts.
type Source struct {
	Name    string                  // identifies the source in messages and in later calls, such as its path
	Version string                  // changes whenever the content does, such as its checksum; "" means that the log is always read
	Events  iter.Seq2[Event, error] // can be ranged over again
}

// AddOptions are the optional settings of [Days.Add].
type AddOptions struct {
	// Replace says that the given sources are complete for their days: counts of other logs
	// for these days are discarded. Without it, a day of which a log is missing is an error.
	Replace bool
	// Summary receives the numbers of counted and left out events of the days that were counted;
	// it may be nil.
	Summary *Summary
}

// Added is the result of [Days.Add].
type Added struct {
	Counted   []reports.Date // days that were counted, or counted again
	Unchanged []string       // names of sources that were not read, since they were added before
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
// uses Location, Robots, Machines, Memory and TempDir; the first three must be the same each
// time, because days that were counted differently do not add up. It fails while another process
// has the folder open.
func OpenDays(folder string, opts *Options) (*Days, error) {
	r, err := newRules(opts)
	if err != nil {
		return nil, err
	}
	if r.Period != (reports.Period{}) {
		return nil, datacite.Invalid(datacite.Finding{Path: "Options.Period", Code: "conflict", Reason: "has no meaning for OpenDays; give it to Rows"})
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	lock := filepath.Join(folder, lockFile)
	if info, err := os.Lstat(lock); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("counter: %s is not a regular file; a symbolic link could lead anywhere", lock)
	}
	d := &Days{folder: folder, rules: r.Options, lock: flock.New(lock)}
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

// Close lets other runs open the folder.
func (d *Days) Close() error { return d.lock.Close() }

// rulesOf identifies the rules by which days are counted.
func rulesOf(r *rules) string {
	sum := sha256.New()
	for _, list := range []*Agents{r.Robots, r.Machines} {
		for _, pattern := range list.Patterns() {
			fmt.Fprintf(sum, "%q\n", pattern)
		}
		fmt.Fprintln(sum)
	}
	return fmt.Sprintf("%s %x", r.zone, sum.Sum(nil)[:8])
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
		return datacite.Invalid(datacite.Finding{Path: "Options", Code: "conflict", Reason: fmt.Sprintf("have another time zone or other lists of user agents than the days in %s; count all of the month into an empty folder", d.folder)})
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
		day := Day{Date: date}
		for name, p := range d.index.Days[date].Parts {
			if p.Within > 0 {
				day.Events += p.Within
				day.Sources = append(day.Sources, name)
			}
		}
		if slices.Sort(day.Sources); day.Events > 0 {
			list = append(list, day)
		}
	}
	return list
}

// Add counts the days of logs that are new or have changed, and stores their counts.
//
// A visitor may use several servers, so a day is counted from all of its logs at once: if a log
// arrives late, the other logs of its day must be given again, and an error names those that are
// missing. Therefore give all logs that still exist, each time; a log with a known version is
// read only if a day needs it. A log that was rotated or compressed is recognised by its
// accesses. The same accesses in two logs of one call are an error.
//
// Add stores all counts or none. An error of a source ends Add.
func (d *Days) Add(sources []Source, opts *AddOptions) (*Added, error) {
	if opts == nil {
		opts = &AddOptions{}
	}
	a := &adding{days: d, options: *opts, sources: sources, given: map[string]addedSource{}, known: map[reports.Date]*dayLog{}}
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
	sources []Source
	given   map[string]addedSource             // by name
	parts   map[reports.Date]map[string]part   // of the days that a source has
	grown   map[reports.Date]map[string]string // parts that a source continues, by name, and its name
	known   map[reports.Date]*dayLog           // what counted has found
	anew    map[reports.Date]bool              // days to count
	added   Added
}

// scan finds the days of each source.
func (a *adding) scan() error {
	a.parts, a.grown = map[reports.Date]map[string]part{}, map[reports.Date]map[string]string{}
	for i, s := range a.sources {
		if _, again := a.given[s.Name]; again || s.Name == "" || s.Events == nil {
			return datacite.Invalid(datacite.Finding{Path: fmt.Sprintf("sources[%d]", i), Code: "missing", Reason: fmt.Sprintf("is %q; each source needs a name of its own, and events", s.Name)})
		}
		found, known := a.days.index.Sources[s.Name]
		if known = known && s.Version != "" && s.Version == found.Version; known {
			a.added.Unchanged = append(a.added.Unchanged, s.Name)
		} else {
			days, err := a.scanned(&s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			found = addedSource{s.Version, days}
		}
		for name, other := range a.given {
			if len(found.Days) > 0 && maps.Equal(other.Days, found.Days) {
				return datacite.Invalid(datacite.Finding{Path: fmt.Sprintf("sources[%d]", i), Code: "conflict", Reason: fmt.Sprintf("%s has the same accesses as %s", s.Name, name)})
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

// scanned reads a source and returns its days. It notes where the source begins as a part
// that was counted before: a log that was growing then.
func (a *adding) scanned(s *Source) (map[reports.Date]part, error) {
	r, err := newRules(&a.days.rules)
	if err != nil {
		return nil, err
	}
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
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", n, err)
		}
		if name == "" {
			continue
		}
		sec, sum := e.Time.Unix(), sumOf(name, &e)
		day := r.day(sec)
		add(day, 1, sum)
		if before := r.day(sec - doubleClick); before != day {
			add(before, 0, sum)
		}
		if len(found) > mostDays {
			return nil, datacite.Invalid(datacite.Finding{Code: "limit", Reason: fmt.Sprintf("has accesses of more than %d days", mostDays)})
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
	counted := a.counted(date)
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
	fmt.Fprintf(sum, "%s\n%d\n%s\n%s\n%t\n%d", jsonlex.AppendLower(nil, name), e.Time.UnixNano(), e.URL, e.Agent, e.Request, visitorSum(e))
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
	var faults []datacite.Finding
	for _, date := range slices.Sorted(maps.Keys(a.parts)) {
		now, counted := a.parts[date], a.counted(date)
		if counted == nil {
			a.anew[date] = true
			continue
		}
		missing := a.missing(date, counted)
		if a.adds(now, counted) == 0 {
			continue // nothing new: what is missing was counted
		}
		if len(missing) > 0 && !a.options.Replace {
			faults = append(faults, datacite.Finding{Path: string(date), Code: "missing", Reason: fmt.Sprintf("was counted from %s, whose accesses are in none of the logs: give all logs of the day", strings.Join(missing, ", "))})
			continue
		}
		a.anew[date] = true
	}
	return datacite.Invalid(faults...)
}

func accesses(n int64) string {
	if n == 1 {
		return "1 access"
	}
	return fmt.Sprint(n, " accesses")
}

// missing are the logs from which a day was counted, and whose accesses no source has.
func (a *adding) missing(date reports.Date, counted *dayLog) []string {
	var names []string
	for name, before := range counted.Parts {
		_, continued := a.grown[date][name]
		same := slices.Contains(slices.Collect(maps.Values(a.parts[date])), before)
		if !continued && !same {
			names = append(names, fmt.Sprintf("%s (%s)", name, accesses(before.Events)))
		}
	}
	slices.Sort(names)
	return names
}

// counted is what is known of a day, or nil if it must be counted: its file was removed. The file
// system is asked once for each day, not for each access.
func (a *adding) counted(date reports.Date) *dayLog {
	day, found := a.known[date]
	if found {
		return day
	}
	if day = a.days.index.Days[date]; day != nil && day.File != "" {
		if _, err := os.Stat(filepath.Join(a.days.folder, day.File)); err != nil {
			day = nil
		}
	}
	a.known[date] = day
	return day
}

// adds is how many parts are new.
func (a *adding) adds(now map[string]part, counted *dayLog) (n int) {
	before := slices.Collect(maps.Values(counted.Parts))
	for _, p := range now {
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
	sum := Summary{}
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
	if a.options.Summary != nil {
		*a.options.Summary = sum
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
func (a *adding) write(dates []reports.Date) (files map[reports.Date]string, sum Summary, err error) {
	r, err := newRules(&a.days.rules)
	if err != nil {
		return nil, sum, err
	}
	r.Summary, r.only = &sum, map[int64]bool{}
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
		failed = w.rows.Write([]string{row.DOI, string(row.Metric), string(row.Access), row.Country, strconv.FormatInt(row.Count, 10)})
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

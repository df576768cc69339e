package counter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/access"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/reports"
)

// Options are the optional settings of [Count] and [CountKey].
type Options struct {
	// Period is the first and the last day that are counted. Include the events of the 30
	// seconds after it, so that double clicks at its end are recognised. Without a period
	// all months are counted.
	Period   reports.Period
	Location *time.Location // time zone of the platform, in which months, days and hours begin; nil means UTC

	Robots   *Agents // user agents that are not counted; nil means Robots()
	Machines *Agents // user agents whose access method is machine; nil means Machines()

	Tally *Tally // receives the numbers of counted and left out events at the end; may be nil

	// Faulty is called before the first row with the first 100 events that are left out because their DOI is invalid,
	// such as what a visitor typed into the URL; nil logs them with slog.Default.
	Faulty func(datacite.Finding)

	Memory  int    // bytes of events held in memory; more go to temporary files; 0 means 32 MiB
	TempDir string // folder for the temporary files; "" means the system's
}

// A Tally says how many events were counted and how many were left out, and why. Each
// event is in one of these numbers.
type Tally struct {
	Counted      int64 // actions, as in the total investigations
	DoubleClicks int64 // removed because the same user accessed the same URL again within 30 seconds
	Robots       int64 // of user agents that are robots
	OtherMonths  int64 // outside Options.Period
	NoDataset    int64 // without a DOI
	InvalidDOI   int64 // with an invalid DOI
}

// Events is the number of all events.
func (s Tally) Events() int64 {
	return s.Counted + s.DoubleClicks + s.Robots + s.OtherMonths + s.NoDataset + s.InvalidDOI
}

func (s *Tally) add(o Tally) {
	s.Counted += o.Counted
	s.DoubleClicks += o.DoubleClicks
	s.Robots += o.Robots
	s.OtherMonths += o.OtherMonths
	s.NoDataset += o.NoDataset
	s.InvalidDOI += o.InvalidDOI
}

// Count counts events by the COUNTER Code of Practice for Research Data. Its rows have the
// order that [reports.Group] needs for GroupOptions.Sorted, and DOIs in lower case. Counts
// of zero have no row.
//
// Events may come in any order and number, from several servers and files. They are
// sorted in memory or in temporary files, on all processors, so memory does not grow
// with their number. The same events make the same rows in any order.
//
// An event with an invalid DOI is left out: Options.Faulty names it, and Tally.InvalidDOI counts it.
// An error of events ends the sequence before the first row. So do events that have other faults
// ([Event.Validate]): after the last event, the first 100 of them are returned together as a
// [*datacite.ValidationError], with their numbers.
//
// The result can be ranged over as often as events can.
func Count(events iter.Seq2[Event, error], opts *Options) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		r, err := newRules(opts)
		if err != nil {
			yield(reports.Row{}, err)
			return
		}
		if err := r.count(events, func(row reports.Row) bool {
			return yield(row, nil)
		}); err != nil && !errors.Is(err, errLeft) {
			yield(reports.Row{}, err)
		}
	}
}

// CountKey counts events that have one [Key], in any order. Rows of all keys with the same
// DOI, date, metric, access method and country add up to those of [Count]: so a system that
// groups events by key can count on many machines. Apart from setting Options.Tally, it
// is a pure function. It panics if opts or an event are not valid ([Event.Validate]).
func CountKey(events []Event, opts *Options) []reports.Row {
	r, err := newRules(opts)
	if err != nil {
		panic(err)
	}
	var records []record
	recorder := newRecorder(r)
	for i := range events {
		rec, err := recorder.record(nil, &events[i])
		if err != nil {
			panic(err)
		}
		if rec != nil {
			records = append(records, rec)
		}
	}
	slices.SortFunc(records, func(a, b record) int { return bytes.Compare(a, b) })
	t := newTally(r)
	for _, rec := range records {
		_ = t.add(rec.click()) // it needs no file
	}
	_ = t.finish()
	if r.Tally != nil {
		*r.Tally = recorder.left
		r.Tally.add(t.summary)
	}
	if len(records) == 0 {
		return nil
	}
	return appendRows(nil, string(records[0].click().doi), t.counts.take())
}

// rules are Options, read.
type rules struct {
	Options
	zone       *time.Location
	begin, end int64 // days of the period, since 1970

	only map[int64]bool // days that are counted, each by itself; nil means the months of the period
}

func newRules(opts *Options) (*rules, error) {
	r := &rules{}
	if opts != nil {
		r.Options = *opts
	}
	r.zone = cmp.Or(r.Location, time.UTC)
	if r.Robots == nil {
		r.Robots = Robots()
	}
	if r.Machines == nil {
		r.Machines = Machines()
	}
	if r.Faulty == nil {
		r.Faulty = func(f datacite.Finding) { slog.Error("counter: an access is not counted", "error", f.String()) }
	}
	if r.Memory < 0 {
		return nil, datacite.Invalidf("Options.Memory", datacite.CodeLimit, "is negative")
	}
	if r.Period == (reports.Period{}) {
		return r, nil
	}
	begin, err := r.Period.BeginDate.Time()
	end, err2 := r.Period.EndDate.Time()
	if err := cmp.Or(err, err2); err != nil || end.Before(begin) {
		return nil, datacite.Invalidf("Options.Period", datacite.CodeDate,
			"is from %q to %q, not from one day YYYY-MM-DD to a later one", r.Period.BeginDate, r.Period.EndDate)
	}
	r.begin, r.end = begin.Unix()/secondsOfDay, end.Unix()/secondsOfDay
	return r, nil
}

// local is a time as the clocks of the platform show it.
func (r *rules) local(sec int64) int64 {
	if r.zone == time.UTC {
		return sec
	}
	_, offset := time.Unix(sec, 0).In(r.zone).Zone()
	return sec + int64(offset)
}

const secondsOfDay = 24 * 60 * 60

// day is the day of a time, since 1970.
func (r *rules) day(sec int64) int64 { return floor(r.local(sec), secondsOfDay) }

func (r *rules) inPeriod(sec int64) bool {
	day := r.day(sec)
	if r.only != nil {
		return r.only[day]
	}
	return r.Period == (reports.Period{}) || r.begin <= day && day <= r.end
}

// A recorder makes records of events.
type recorder struct {
	*rules
	left Tally // events without a record

	agents access.Cache[agentKind]
}

func newRecorder(r *rules) recorder {
	return recorder{rules: r, agents: access.Cache[agentKind]{Most: 1 << 16}}
}

// An agentKind is what a user agent is.
type agentKind byte

const (
	person agentKind = iota
	machine
	robot
)

// kind tells what a user agent is.
func (r *recorder) kind(agent string) agentKind {
	key := access.KeyOf(agent)
	kind, known := r.agents.Get(key)
	if known {
		return kind
	}
	switch text := readAgent(agent); {
	case agent == "":
		kind = machine
	case r.Robots.match(text):
		kind = robot
	case r.Machines.match(text):
		kind = machine
	}
	r.agents.Put(key, kind)
	return kind
}

// record appends the record of an event, or returns nil if it is left out.
func (r *recorder) record(dst record, e *Event) (record, error) {
	name, err := parse(e)
	if err != nil {
		return nil, err
	}
	sec := e.Time.Unix()
	switch {
	case name == "":
		r.left.NoDataset++
		return nil, nil
	case !r.inPeriod(sec) && !r.inPeriod(sec-doubleClick):
		r.left.OtherMonths++
		return nil, nil
	}
	kind := r.kind(e.Agent)
	if kind == robot {
		r.left.Robots++
		return nil, nil
	}
	return appendRecord(dst, name, e, e.Access == reports.AccessMachine || e.Access == "" && kind == machine), nil
}

// errLeft ends a count whose rows nobody wants any more.
var errLeft = errors.New("loop left")

// mostFaults bounds the list of faulty events.
const mostFaults = 100

// count hands events to workers, each of which sorts and counts those of some users,
// and adds up what they count, dataset by dataset.
func (r *rules) count(events iter.Seq2[Event, error], yield func(reports.Row) bool) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	workers := make([]*worker, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(errLeft)
	for i := range workers {
		w := &worker{recorder: newRecorder(r), events: make(chan []numbered, 4), used: make(chan []numbered, 4),
			done: make(chan struct{}), datasets: make(chan dataset, 64)}
		w.sorter = extsort.Sorter{Memory: cmp.Or(r.Memory, 32<<20) / len(workers), Dir: cmp.Or(r.TempDir, os.TempDir())}
		workers[i] = w
		running.Go(func() {
			defer close(w.datasets)
			if err := w.run(ctx); err != nil {
				cancel(fmt.Errorf("counter: sorting: %w", err))
			}
		})
	}
	if err := distribute(ctx, events, workers); err != nil {
		return err
	}
	if err := r.faults(ctx, workers); err != nil {
		return err
	}
	if err := merge(ctx, workers, yield); err != nil {
		return err
	}
	if r.Tally != nil {
		*r.Tally = Tally{}
		for _, w := range workers {
			r.Tally.add(w.summary)
		}
	}
	return nil
}

// A numbered event is the n-th of all.
type numbered struct {
	n int64
	Event
}

// distribute hands the events of each user to the same worker.
func distribute(ctx context.Context, events iter.Seq2[Event, error], workers []*worker) error {
	const batch = 256
	seed := maphash.MakeSeed()
	full := make([][]numbered, len(workers))
	send := func(i int) error {
		select {
		case workers[i].events <- full[i]:
			full[i] = nil
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	n := int64(0)
	empty := func(w *worker) []numbered {
		select {
		case used := <-w.used:
			return used[:0]
		default:
			return make([]numbered, 0, batch)
		}
	}
	for e, err := range events {
		if err != nil {
			return err
		}
		n++
		i := maphash.String(seed, worksFor(&e)) % uint64(len(workers))
		if full[i] == nil {
			full[i] = empty(workers[i])
		}
		if full[i] = append(full[i], numbered{n, e}); len(full[i]) == batch {
			if err := send(int(i)); err != nil {
				return err
			}
		}
	}
	for i, w := range workers {
		if err := send(i); err != nil {
			return err
		}
		close(w.events)
	}
	return nil
}

// worksFor is what a worker is chosen by: the same for all events of a user.
func worksFor(e *Event) string {
	if who := cmp.Or(e.User, e.Cookie, e.Session); who != "" {
		return who
	}
	return e.address()
}

// faults waits until all events are sorted. It returns those that are not valid, and names those without a valid DOI.
func (r *rules) faults(ctx context.Context, workers []*worker) error {
	var invalid, left []fault
	for _, w := range workers {
		select {
		case <-w.done:
			invalid, left = append(invalid, w.invalid...), append(left, w.noDOI...)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if len(invalid) > 0 {
		return datacite.Invalid(findings(invalid)...)
	}
	for _, f := range findings(left) {
		r.Faulty(f)
	}
	return nil
}

// findings are the first mostFaults, in the order of events.
func findings(all []fault) (list []datacite.Finding) {
	slices.SortFunc(all, func(a, b fault) int { return cmp.Compare(a.n, b.n) })
	for _, f := range all[:min(len(all), mostFaults)] {
		f.Path = fmt.Sprintf("event %d, %s", f.n, f.Path)
		list = append(list, f.Finding)
	}
	return list
}

// merge yields rows of the datasets that the workers counted.
func merge(ctx context.Context, workers []*worker, yield func(reports.Row) bool) error {
	ended := func(w *worker) bool {
		next, ok := <-w.datasets
		w.head = next
		return !ok
	}
	counting := slices.DeleteFunc(slices.Clone(workers), ended)
	var all counts
	var space []reports.Row
	for len(counting) > 0 {
		doi := slices.MinFunc(counting, func(a, b *worker) int { return cmp.Compare(a.head.doi, b.head.doi) }).head.doi
		counting = slices.DeleteFunc(counting, func(w *worker) bool {
			if w.head.doi != doi {
				return false
			}
			for _, one := range w.head.counts {
				sum := all.of(one.cell)
				for i, n := range one.sum {
					sum[i] += n
				}
			}
			return ended(w)
		})
		if ctx.Err() != nil { // a worker that fails ends, too
			break
		}
		space = appendRows(space[:0], doi, all.take())
		for _, row := range space {
			if !yield(row) {
				return errLeft
			}
		}
	}
	return context.Cause(ctx)
}

// A dataset is what a worker counted for a DOI.
type dataset struct {
	doi    string
	counts []cellCounts
}

// A fault is why the n-th event is not valid.
type fault struct {
	n int64
	datacite.Finding
}

// A worker sorts and counts the events of some users.
type worker struct {
	recorder
	events   chan []numbered
	used     chan []numbered // the events of which have been sorted
	sorter   extsort.Sorter
	done     chan struct{} // is closed when all events are sorted
	datasets chan dataset  // by DOI
	head     dataset       // the last one that merge took
	invalid  []fault       // the first mostFaults
	noDOI    []fault       // likewise, of those that are left out
	summary  Tally         // when all are counted
}

func (w *worker) run(ctx context.Context) error {
	defer w.sorter.Close() // the temporary file is of no further use
	if err := w.sort(ctx); err != nil {
		return err
	}
	close(w.done)
	t := newTally(w.rules)
	const size = 160 // of an open click
	t.most = max(1, w.sorter.Memory/size)
	t.room = func() *overflow { return newOverflow(w.sorter.Memory/4, w.sorter.Dir) }
	defer func() {
		if t.over != nil { // the loop was left
			_ = errors.Join(t.over.byURL.Close(), t.over.byTime.Close())
		}
	}()
	var doi []byte
	finish := func() error {
		if err := t.finish(); err != nil || len(t.counts.list) == 0 {
			return err
		}
		select {
		case w.datasets <- dataset{string(doi), t.counts.take()}:
		case <-ctx.Done():
		}
		return nil
	}
	for rec, err := range w.sorter.Keys() {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		c := record(rec).click()
		if !bytes.Equal(c.doi, doi) {
			if err := finish(); err != nil {
				return err
			}
			doi = append(doi[:0], c.doi...)
		}
		if err := t.add(c); err != nil {
			return err
		}
	}
	if err := finish(); err != nil {
		return err
	}
	w.summary = w.left
	w.summary.add(t.summary)
	return nil
}

// sort puts the records of events into the sorter.
func (w *worker) sort(ctx context.Context) error {
	var rec record
	for {
		select {
		case batch, ok := <-w.events:
			if !ok {
				return nil
			}
			for i := range batch {
				made, err := w.record(rec[:0], &batch[i].Event)
				if err != nil {
					w.fault(batch[i].n, err)
				} else if made != nil {
					rec = made
					if err := w.sorter.Add(rec, nil); err != nil {
						return err
					}
				}
			}
			select {
			case w.used <- batch:
			default:
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *worker) fault(n int64, err error) {
	list := &w.invalid
	if isNoDOI(err) {
		list = &w.noDOI
		w.left.InvalidDOI++
	}
	for _, f := range datacite.Findings(err) {
		if len(*list) < mostFaults {
			*list = append(*list, fault{n, f})
		}
	}
}

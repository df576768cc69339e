package register

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/record"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reconcile"
)

// A job registers the rows of a source.
type job struct {
	*command
	client   *reconcile.Client
	source   source
	results  *results
	findings table.Findings
	kept     *record.Kept
	counts
	first    error            // of those with which rows failed
	lastName string           // of the row that was begun last
	prefixes map[string]bool  // of rows to send
	refused  map[string]error // prefixes of other accounts, found by the metadata store

	mu    sync.Mutex
	items map[string]*item // under way, by key
	again []*item          // whose names were taken
}

// counts are numbers of rows.
type counts struct {
	rows, faulty, unnamed int
	foreign               int // with metadata that the metadata store alone takes
	earlier               int // registered by an earlier run
	created, updated      int
	unchanged, failed     int
	down                  int // of the failed ones, because the service failed
}

// An item is a row under way.
type item struct {
	*row
	entry  entry
	begun  bool // the name may have been sent
	names  int  // that were made for it
	digest string
}

// outcome is what --json prints of a DOI.
type outcome struct {
	DOI     string `json:"doi,omitempty"`
	URL     string `json:"url,omitempty"`
	State   string `json:"state,omitempty"`
	Result  string `json:"result"` // created, updated, unchanged, failed, checked
	Error   string `json:"error,omitempty"`
	Place   string `json:"place"` // of the record: "items.csv, line 3"
	Service string `json:"service"`

	*plan // with --dry-run
}

// errTaken says that a name that was made exists already.
var errTaken = errors.New("the name that was made is taken")

const draws = 5 // another name is needed rarely, a third one hardly ever

// run registers what is not registered yet, and writes the table of results in any case.
func (j *job) run(ctx context.Context) error {
	if err := j.results.begin(); err != nil {
		return shell.Wrong(fmt.Errorf("the results cannot be kept: %w", err))
	}
	err := j.ensure(ctx, j.fresh)
	for err == nil && len(j.again) > 0 {
		taken := j.again
		j.again = nil
		err = j.ensure(ctx, func(yield func(*item, error) bool) {
			for _, it := range taken {
				if !yield(it, nil) {
					return
				}
			}
		})
	}
	return errors.Join(err, j.results.save(j.source, j.read(false)))
}

// ensure registers items, several at a time. Where nobody answers the first, it ends at once.
func (j *job) ensure(ctx context.Context, items iter.Seq2[*item, error]) error {
	if j.foreign > 0 {
		if err := j.storeForeign(ctx, items); err != nil {
			return err
		}
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	var silent error
	opts := &reconcile.Options{Adapt: j.adapt, BeforeWrite: j.begin, Workers: j.workers, Pause: j.pause,
		AllowLoss: j.allowLoss, Progress: func(p reconcile.EnsureProgress) {
			switch {
			case p.Done+p.Failed == 0 && isSilent(p.Err):
				silent = p.Err
				stop()
			case p.Pause > 0:
				j.Say("the service failed for %s; trying again in %v; the first one: %s", shell.Count(p.Waiting, "record"),
					p.Pause, shell.Message(p.Err))
			}
		}}
	for o, err := range j.client.EnsureAll(running, j.desired(items), opts) {
		switch {
		case silent != nil && ctx.Err() == nil: // the others were not sent
			j.first = silent
			return nil
		case err != nil && running.Err() != nil:
			return ctx.Err()
		case err == nil:
			err = j.take(ctx, o)
		}
		if err != nil {
			return err
		}
		j.Progress(j.earlier+j.right(), j.rows, "records", fmt.Sprintf("%s failed", shell.Number(j.failed+j.faulty)))
	}
	return nil
}

// desired is what items should become, but for those that the metadata store alone takes.
func (j *job) desired(items iter.Seq2[*item, error]) iter.Seq2[reconcile.Desired, error] {
	return func(yield func(reconcile.Desired, error) bool) {
		for it, err := range items {
			var d reconcile.Desired
			if err == nil {
				if it.isForeign() {
					continue
				}
				d = j.desiredOf(it)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// storeForeign stores the metadata that the metadata store alone takes, one after the other.
func (j *job) storeForeign(ctx context.Context, items iter.Seq2[*item, error]) error {
	for it, err := range items {
		if err == nil && it.isForeign() {
			err = j.take(ctx, j.store(ctx, it, j.desiredOf(it)))
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// isSilent reports whether no connection was made.
func isSilent(err error) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && e.StatusCode == 0 && !isUnclear(err)
}

// fresh are the rows without a fault that are not registered yet.
func (j *job) fresh(yield func(*item, error) bool) {
	for r, err := range j.read(false) {
		if err != nil {
			yield(nil, shell.Wrong(err))
			return
		}
		if r.Err() != nil {
			continue
		}
		known := j.results.of(r)
		it := &item{row: r, entry: entry{DOI: known.DOI, URL: r.URL, State: known.State, Made: known.Made}}
		it.begun = known.DOI != ""
		if it.begun {
			if it.digest = j.digest(r, known.DOI); known.Registered == it.digest {
				continue
			}
		}
		if !yield(it, nil) {
			return
		}
	}
}

// desiredOf is what an item should become. It gets a name if it has none.
func (j *job) desiredOf(it *item) reconcile.Desired {
	j.mu.Lock()
	defer j.mu.Unlock()
	for it.entry.DOI == "" {
		name := doi.New(j.prefix)
		if !j.results.has(name) && j.items[doi.Key(name)] == nil {
			it.entry.DOI, it.entry.Made = name, true
			it.digest = j.digest(it.row, name)
			it.names++
		}
	}
	j.items[doi.Key(it.entry.DOI)] = it
	j.lastName = it.entry.DOI
	d := it.desired
	switch {
	case it.isForeign():
	case it.document.Data != nil:
		d.XML = it.document.Data
	default:
		record := *it.Record
		record.DOI = "" // the request names it
		d.Metadata = &record
	}
	d.DOI, d.URL, d.New, d.Place = it.entry.DOI, it.URL, it.entry.Made && !it.begun, it.place()
	return d
}

func (j *job) item(name string) *item {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.items[doi.Key(name)]
}

// adapt applies a row of a table to the record. A name that was made is not used if
// somebody else has it, since before the run that made it was killed.
func (j *job) adapt(d *reconcile.Desired, found *dois.Record) error {
	it := j.item(d.DOI)
	if found != nil && it.entry.Made && found.URL != it.URL {
		return errTaken
	}
	if d.State = j.stateOf(it.row, found); found == nil || !it.isRow {
		return nil
	}
	table.Adapt(j.Shell, d, it.Record, found)
	return nil
}

// stateOf is the state that a DOI should have; found is nil if it does not exist.
func (c *command) stateOf(r *row, found *dois.Record) datacite.State {
	switch {
	case r.State != "":
		return datacite.State(r.State)
	case found != nil && found.State != datacite.StateDraft:
		return found.State
	}
	return datacite.State(c.state)
}

// begin keeps a name on disk before it is sent, and the XML of a correction that takes two writes.
func (j *job) begin(ctx context.Context, o *reconcile.Outcome) error {
	it := j.item(o.Desired.DOI)
	if err := j.kept.Keep(ctx, o); err != nil {
		return err
	}
	if it.begun {
		return nil
	}
	if err := j.results.note(it.entry, true); err != nil {
		return shell.Wrong(fmt.Errorf("the name cannot be kept, and is not used: %w", err))
	}
	if it.entry.Made && j.isSingle {
		j.Say("registering %s", it.entry.DOI)
	}
	it.begun = true
	return nil
}

// store registers metadata that the metadata store alone takes.
func (j *job) store(ctx context.Context, it *item, d reconcile.Desired) *reconcile.Outcome {
	o := &reconcile.Outcome{Desired: d}
	prefix, _ := doi.Split(it.entry.DOI)
	if o.Err = j.refused[prefix]; o.Err != nil {
		return o
	}
	client, err := mds.NewClient(j.service.Config)
	if err == nil {
		var done *mds.Registration
		done, err = client.Register(ctx, it.entry.DOI, it.URL, it.document, &mds.RegisterOptions{
			NoReadBack:  true,
			BeforeWrite: func(ctx context.Context, _ string, _ datacite.State) error { return j.begin(ctx, o) },
		})
		if err == nil {
			o.Record, o.Draft = &dois.Record{State: done.State}, &dois.Draft{} // metadata in other formats are always written
			if done.Change != mds.ChangeCreated {
				o.Found = o.Record
			}
		}
	}
	if o.Err = err; errors.Is(err, datacite.ErrForbidden) && !datacite.Temporary(err) && !isUnclear(err) &&
		!errors.Is(err, mds.ErrHidden) {
		j.refused[prefix] = fmt.Errorf("not sent, as another DOI below %s was refused: %w", prefix, err)
	}
	return o
}

// take keeps an outcome. The error is one that ends the run.
func (j *job) take(ctx context.Context, done *reconcile.Outcome) error {
	it, key := j.item(done.Desired.DOI), doi.Key(done.Desired.DOI)
	j.mu.Lock()
	delete(j.items, key)
	j.mu.Unlock()
	if err := j.kept.Settle(key, done.Err); err != nil {
		return shell.Wrong(err)
	}
	e := it.entry
	isTaken := it.entry.Made && (errors.Is(done.Err, errTaken) || errors.Is(done.Err, datacite.ErrConflict))
	switch err := done.Err; {
	case err == nil:
		if done.Draft != nil {
			// the others are known from the file
			table.PrintOfWrite(j.Shell, it.place(), slices.Concat(done.Losses, done.Record.Warnings))
		}
		e.Result, e.Error, e.Registered, e.State = j.count(done), "", it.digest, string(done.Record.State)
	case ctx.Err() != nil: // what it was is on disk
		return nil
	case isTaken && it.names < draws:
		it.entry, it.begun = entry{URL: it.URL}, false
		j.again = append(j.again, it)
		return j.results.note(it.entry, false)
	default:
		j.fail(err)
		if shell.Code(err) == shell.ExitFailed {
			j.down++
		}
		e.Result, e.Error = "failed", strings.TrimPrefix(shell.Message(err), shell.Message(reconcile.ErrNotAsDesired)+": ")
		if errors.Is(err, mds.ErrHidden) {
			e.Error = "the DOI is hidden, or may be, and metadata in this format would show it"
		}
		if it.entry.Made && (!it.begun || errors.Is(err, datacite.ErrForbidden) && !isUnclear(err)) {
			e.DOI = "" // it was not sent, or its prefix is refused, and the row may get another
		}
	}
	if err := j.results.note(e, false); err != nil {
		return shell.Wrong(err)
	}
	j.say(it, e, done.Err)
	return nil
}

// fail counts a DOI that failed.
func (j *job) fail(err error) {
	j.failed++
	if j.first == nil {
		j.first = err
	}
}

// count counts what became of a DOI, and says it.
func (j *job) count(o *reconcile.Outcome) string {
	switch {
	case o.Draft == nil:
		j.unchanged++
		return "unchanged"
	case o.Found == nil:
		j.created++
		return "created"
	}
	j.updated++
	return "updated"
}

// right is how many DOIs are as the source says, by this run.
func (c *counts) right() int { return c.created + c.updated + c.unchanged }

// say prints an outcome: always for programs, and for people unless a table has it.
func (j *job) say(it *item, e entry, failed error) {
	o := outcome{DOI: e.DOI, URL: e.URL, State: e.State, Result: e.Result, Error: e.Error, Place: it.place(),
		Service: j.service.Host}
	switch {
	case j.JSON:
		j.Result(o, "")
	case failed != nil && j.isTable && isNotSent(failed): // the first of its prefix was shown, and the table has it
	case failed != nil && !j.isSingle:
		j.Warn("%s: %s", it.place(), e.Error)
	case failed == nil && !j.isTable:
		j.Result(o, "%s %s at %s, now %s, leads to %s", e.DOI, e.Result, j.service, e.State, e.URL)
	}
}

// digest tells whether a row is the one that was registered, at the same service.
func (j *job) digest(r *row, name string) string {
	sum := sha256.New()
	for _, text := range []string{j.service.Host, doi.Key(name), r.URL, string(j.stateOf(r, nil)), r.content()} {
		fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	return fmt.Sprintf("r%x", sum.Sum(nil)[:8]) // no spreadsheet program takes that for a number
}

// isUnclear reports whether a DOI may have been written in spite of an error.
func isUnclear(err error) bool {
	return errors.Is(err, datacite.ErrUnclear) || errors.Is(err, mds.ErrUnconfirmed) ||
		errors.Is(err, mds.ErrHalfRegistered)
}

// isNotSent reports whether a new DOI was not sent because another one of its prefix was refused.
func isNotSent(err error) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && e.Attempts == 0 && e.StatusCode != 0
}

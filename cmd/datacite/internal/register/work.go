package register

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// A job registers the rows of a source.
type job struct {
	*command
	client  *dois.Client
	source  source
	results *results
	counts
	first    error           // of those with which rows failed
	lastName string          // of the row that was begun last
	prefixes map[string]bool // of rows to send

	mu    sync.Mutex
	items map[string]*item // under way, by key
	again []*item          // whose names were taken
}

// counts are numbers of rows.
type counts struct {
	rows, faulty, unnamed int
	earlier               int // registered by an earlier run
	done, failed          int
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
		err = j.ensure(ctx, func(yield func(dois.Wanted, error) bool) {
			for _, it := range taken {
				if !yield(j.wantedOf(it), nil) {
					return
				}
			}
		})
	}
	return errors.Join(err, j.results.save(j.source, j.read(false)))
}

// ensure registers what is wanted, several at a time. Where nobody answers the first, it
// ends at once.
func (j *job) ensure(ctx context.Context, wanted func(func(dois.Wanted, error) bool)) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	opts := &dois.EnsureOptions{Adapt: j.adapt, Before: j.begin, Register: j.store, Workers: j.workers, Pause: j.pause, Progress: func(p dois.EnsureProgress) {
		switch {
		case p.Done+p.Failed == 0 && isSilent(p.Err):
			stop()
		case p.Pause > 0:
			j.Say("the service failed for %s; trying again in %v; the first one: %s", shell.Count(p.Waiting, "record"), p.Pause, shell.Message(p.Err))
		}
	}}
	for e, err := range j.client.EnsureAll(running, wanted, opts) {
		if err != nil && running.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			err = j.take(ctx, e)
		}
		if err != nil {
			return err
		}
		j.Progress(j.earlier+j.done, j.rows, "records", fmt.Sprintf("%s failed", shell.Number(j.failed+j.faulty)))
	}
	return nil
}

// isSilent reports whether no connection was made.
func isSilent(err error) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && e.StatusCode == 0 && !isUnclear(err)
}

// fresh are the rows without a fault that are not registered yet.
func (j *job) fresh(yield func(dois.Wanted, error) bool) {
	for r, err := range j.read(false) {
		if err != nil {
			yield(dois.Wanted{}, shell.Wrong(err))
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
		if !yield(j.wantedOf(it), nil) {
			return
		}
	}
}

// wantedOf is what an item should become. It gets a name if it has none.
func (j *job) wantedOf(it *item) dois.Wanted {
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
	w := dois.Wanted{DOI: it.entry.DOI, URL: it.URL, New: it.entry.Made && !it.begun, Place: it.place()}
	if doc := it.metadata(); doc.ContentType == mds.XMLType {
		w.Metadata, w.MetadataXML, w.ContentURL = it.Record, doc.Data, it.contentURL
		if it.container != nil && !it.ofSeries() {
			w.Container = it.container
		}
	}
	return w
}

func (j *job) item(name string) *item {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.items[doi.Key(name)]
}

// adapt keeps what the columns of a table do not say. A name that was made is not used if
// somebody else has it, since before the run that made it was killed.
func (j *job) adapt(w *dois.Wanted, found *dois.Record) error {
	it := j.item(w.DOI)
	if found != nil && it.entry.Made && found.URL != it.URL {
		return errTaken
	}
	if w.State = j.wanted(it.row, found); found == nil || !it.isRow && !it.isJSON {
		return nil
	}
	stored := table.Stored(found)
	if it.isJSON { // which may be that of the service: it adds a date Issued, leaves out repeats, and has its own URLs of licences
		shown := metadata.Diff(&found.Record, stored)
		if !slices.ContainsFunc(metadata.Diff(it.Record, stored), func(c metadata.Change) bool {
			invisible := strings.ContainsFunc(c.Found, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) // to be corrected, as its warning says
			return !slices.Contains(shown, c) || invisible
		}) {
			w.Metadata, w.MetadataXML = nil, nil
		}
		return nil
	}
	form := *found
	form.Record = *stored
	completed, removed := table.Complete(it.Record, &form)
	for _, f := range removed {
		j.Warn("%s: %s", it.place(), f)
	}
	whole := *completed
	whole.DOI = ""
	doc, err := mds.NewDocument(&whole)
	if err != nil {
		return fmt.Errorf("merging with the stored record: %w", err)
	}
	w.Metadata, w.MetadataXML = &whole, doc.Data
	return nil
}

// ofSeries reports whether the service finds the container in the metadata.
func (it *item) ofSeries() bool {
	return len(it.Record.RelatedItems) > 0 || slices.ContainsFunc(it.Record.Descriptions, func(d metadata.Description) bool {
		return d.DescriptionType == metadata.DescriptionSeriesInformation
	})
}

// wanted is the state that a DOI should have; found is nil if it does not exist.
func (c *command) wanted(r *row, found *dois.Record) dois.State {
	switch {
	case r.State != "":
		return dois.State(r.State)
	case found != nil && found.State != dois.StateDraft:
		return found.State
	}
	return dois.State(c.state)
}

// begin keeps a name on disk before it is sent.
func (j *job) begin(_ context.Context, e *dois.Ensured) error {
	it := j.item(e.Wanted.DOI)
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
func (j *job) store(ctx context.Context, e *dois.Ensured) (bool, error) {
	it := j.item(e.Wanted.DOI)
	doc := it.metadata()
	if doc.ContentType == mds.XMLType {
		return false, nil
	}
	client, err := mds.NewClient(j.service.Config)
	if err != nil {
		return true, err
	}
	done, err := client.Ensure(ctx, it.entry.DOI, it.URL, doc, &mds.EnsureOptions{
		NoReadBack: true,
		Before:     func(ctx context.Context, _ string, _ mds.State) error { return j.begin(ctx, e) },
	})
	if err != nil {
		return true, err
	}
	e.Record = &dois.Record{State: dois.State(done.State)}
	if done.Change != mds.Created {
		e.Found = e.Record
	}
	if done.Change != mds.Unchanged {
		e.Draft = &dois.Draft{}
	}
	return true, nil
}

// take keeps an outcome. The error is one that ends the run.
func (j *job) take(ctx context.Context, done *dois.Ensured) error {
	it, key := j.item(done.Wanted.DOI), doi.Key(done.Wanted.DOI)
	j.mu.Lock()
	delete(j.items, key)
	j.mu.Unlock()
	e := it.entry
	isTaken := it.entry.Made && (errors.Is(done.Err, errTaken) || errors.Is(done.Err, datacite.ErrConflict))
	switch err := done.Err; {
	case err == nil:
		j.done++
		if done.Draft != nil {
			table.PrintOfWrite(j.Shell, it.place(), done.Record.Warnings) // the others are known from the file
		}
		e.Result, e.Error, e.Registered, e.State = change(done), "", it.digest, string(done.Record.State)
	case ctx.Err() != nil: // what it was is on disk
		return nil
	case isTaken && it.names < draws:
		it.entry, it.begun = entry{URL: it.URL}, false
		j.again = append(j.again, it)
		return j.results.note(it.entry, false)
	default:
		j.failed++
		if j.first == nil {
			j.first = err
		}
		if shell.Code(err) == shell.ExitFailed {
			j.down++
		}
		e.Result, e.Error = "failed", strings.TrimPrefix(shell.Message(err), shell.Message(dois.ErrNotAsWanted)+": ")
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

// change is what became of a DOI.
func change(e *dois.Ensured) string {
	switch {
	case e.Draft == nil:
		return "unchanged"
	case e.Found == nil:
		return "created"
	}
	return "updated"
}

// say prints an outcome: always for programs, and for people unless a table has it.
func (j *job) say(it *item, e entry, failed error) {
	o := outcome{DOI: e.DOI, URL: e.URL, State: e.State, Result: e.Result, Error: e.Error, Place: it.place(), Service: j.service.Host}
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
	for _, text := range []string{j.service.Host, doi.Key(name), r.URL, string(j.wanted(r, nil)), string(r.metadata().Data), strings.Join(r.contentURL, "\n")} {
		fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	return fmt.Sprintf("r%x", sum.Sum(nil)[:8]) // no spreadsheet program takes that for a number
}

// isUnclear reports whether a DOI may have been written in spite of an error.
func isUnclear(err error) bool {
	return errors.Is(err, datacite.ErrUnclear) || errors.Is(err, mds.ErrUnconfirmed) || errors.Is(err, mds.ErrHalfRegistered)
}

// isNotSent reports whether a new DOI was not sent because another one of its prefix was refused.
func isNotSent(err error) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && e.Attempts == 0 && e.StatusCode != 0
}

package register

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/metadata/table"
)

// A job registers the rows of a source.
type job struct {
	*command
	client  *dois.Client
	source  source
	results *results
	counts
	first    error  // of those with which rows failed
	lastName string // of the row that was begun last

	mu    sync.Mutex
	items map[string]*item // under way, by key
}

// counts are numbers of rows.
type counts struct {
	rows, faulty, unnamed int
	earlier               int // registered by an earlier run
	done, failed          int
	down                  int // of the failed ones, because the service failed
	forbidden             int // one after the other
}

// An item is a row under way.
type item struct {
	*row
	entry  entry
	begun  bool // the name may have been sent
	tries  int
	digest string
	change string
	state  dois.State

	written error // a write whose outcome is unknown
	err     error
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

const (
	rounds = 3 // how often an item is tried for which the service fails
	draws  = 5 // another name is needed rarely, a third one hardly ever
	looks  = 3 // how often a write is followed by a look that shows what became of it
)

// run registers what is not registered yet, and writes the table of results in any case.
func (j *job) run(ctx context.Context) error {
	if err := j.results.begin(); err != nil {
		return shell.Wrong(fmt.Errorf("the results cannot be kept: %w", err))
	}
	again, err := j.round(ctx, j.fresh)
	for err == nil && len(again) > 0 {
		pause := j.pause
		if !slices.ContainsFunc(again, func(it *item) bool { return it.begun }) {
			pause = 0 // names were taken, and nothing failed
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(pause):
			left := again
			again, err = j.round(ctx, func(yield func(*item) bool) error {
				for _, it := range left {
					if !yield(it) {
						break
					}
				}
				return nil
			})
		}
	}
	return errors.Join(err, j.results.save(j.source))
}

// fresh are the rows without a fault that are not registered yet.
func (j *job) fresh(yield func(*item) bool) error {
	for r, err := range j.source.rows(false) {
		if err != nil {
			return shell.Wrong(err)
		}
		if r.Err() != nil {
			continue
		}
		known, _ := j.results.of(r)
		it := &item{row: r, entry: entry{DOI: known.DOI, URL: r.URL, State: known.State, Made: known.Made}}
		it.begun = known.DOI != ""
		if it.begun {
			if it.digest = j.digest(r, known.DOI); known.Registered == it.digest {
				continue
			}
		}
		if !yield(it) {
			return nil
		}
	}
	return nil
}

// name gives an item a new name.
func (j *job) name(it *item) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for it.entry.DOI == "" {
		name := doi.New(j.prefix)
		if !j.results.has(name) && j.items[doi.Key(name)] == nil {
			it.entry.DOI, it.entry.Made = name, true
			it.digest = j.digest(it.row, name)
		}
	}
	j.items[doi.Key(it.entry.DOI)] = it
	j.lastName = it.entry.DOI
}

// round tries each item once, several at a time. It returns those to try again.
func (j *job) round(ctx context.Context, todo func(yield func(*item) bool) error) (again []*item, err error) {
	work, stop := context.WithCancel(ctx)
	defer stop()
	in, out := make(chan *item), make(chan *item)
	var workers sync.WaitGroup
	for range j.workers {
		workers.Go(func() {
			for it := range in {
				j.try(work, it)
				out <- it
			}
		})
	}
	var source error
	go func() {
		source = todo(func(it *item) bool {
			j.name(it)
			select {
			case in <- it:
				return true
			case <-work.Done():
				return false
			}
		})
		close(in)
		workers.Wait()
		close(out)
	}()
	for it := range out {
		end := j.take(ctx, it, &again)
		if end != nil && err == nil {
			err = end
			stop()
		}
		j.Progress(j.earlier+j.done, j.rows, "records", fmt.Sprintf("%s failed", shell.Number(j.failed+j.faulty)))
	}
	return again, errors.Join(err, source, ctx.Err())
}

// try makes the DOI of an item as it should be.
func (j *job) try(ctx context.Context, it *item) {
	it.tries++
	it.err = nil
	if ctx.Err() != nil {
		it.err = ctx.Err()
		return
	}
	if doc := it.metadata(); doc.ContentType != mds.XMLType {
		it.err = j.tryStore(ctx, it, doc)
		return
	}
	it.err = j.put(ctx, it)
}

// put creates a DOI, or changes what differs. A name that was made now is known to be new; of
// any other, the service is asked first. After a write whose outcome is unknown, it is asked again.
func (j *job) put(ctx context.Context, it *item) error {
	isNew := !it.begun && it.entry.Made
	for look := 0; ; look++ {
		var found *dois.Record
		if !isNew {
			var err error
			if found, err = j.client.Get(ctx, it.entry.DOI, &dois.GetOptions{Detail: true}); errors.Is(err, datacite.ErrNotFound) {
				found = nil
			} else if err != nil {
				return it.after(err)
			}
		}
		after, err := j.write(ctx, it, found)
		switch {
		case err == nil && after == nil: // nothing differs
			it.change, it.state = cmp.Or(it.change, "unchanged"), found.State
			return nil
		case err == nil:
			it.state = after.State
			if wanted := j.wanted(it.row, found); wanted != after.State {
				return fmt.Errorf("the service took the record, and the DOI is %s, not %s", after.State, wanted)
			}
			return nil
		case errors.Is(err, datacite.ErrConflict) && isNew:
			return errTaken
		case errors.Is(err, datacite.ErrConflict) && found == nil && look == 0:
			return fmt.Errorf("%w, perhaps by another account", err)
		case !errors.Is(err, datacite.ErrUnclear) && !errors.Is(err, datacite.ErrConflict), look == looks, ctx.Err() != nil:
			return err
		}
		isNew, it.written = false, err // it may be there now
	}
}

// after is the error of a look after a write whose outcome is unknown: it matches that of the
// write, too.
func (it *item) after(err error) error {
	if it.written == nil {
		return err
	}
	return fmt.Errorf("%w, after a write whose outcome is unknown: %w", err, it.written)
}

// write creates a DOI that was not found, and corrects one that was. It returns nil if nothing
// differs.
func (j *job) write(ctx context.Context, it *item, found *dois.Record) (after *dois.Record, err error) {
	draft := &dois.Draft{DOI: it.entry.DOI, URL: it.URL}
	doc, differs := it.metadata(), true
	if found != nil {
		if doc, differs, err = it.compare(found); err != nil {
			return nil, err
		}
		if it.entry.Made && found.URL != it.URL {
			return nil, errTaken // by somebody else, before the run that made it was killed
		}
	}
	state := dois.StateDraft
	if found != nil {
		state = found.State
	}
	// With more than the XML in a draft, the service writes the XML anew, from its JSON.
	if found == nil || !slices.Equal(it.contentURL, found.ContentURL) {
		draft.ContentURL = it.contentURL
	}
	if it.container != nil && !it.ofSeries() && (found == nil || !reflect.DeepEqual(*it.container, found.Container)) {
		draft.Container = it.container
	}
	if found == nil || differs { // or else only the URL or the state changes
		draft.MetadataXML = doc.Data
	}
	differs = found == nil || differs || it.URL != found.URL || draft.ContentURL != nil || draft.Container != nil
	wanted := j.wanted(it.row, found)
	if draft.Event = eventTo(state, wanted); draft.Event == "" && wanted != state {
		return nil, fmt.Errorf("it is %s, and cannot become %s", state, wanted)
	}
	if found != nil && !differs && draft.Event == "" {
		return nil, nil
	}
	if err := j.begin(it); err != nil {
		return nil, err
	}
	if found == nil {
		it.change = "created"
		after, err = j.client.Create(ctx, draft)
	} else {
		it.change = cmp.Or(it.change, "updated")
		after, err = j.client.Update(ctx, it.entry.DOI, draft)
	}
	if err == nil {
		for _, f := range after.Warnings {
			if f.Code == "escaped" || f.Code == "not-in-xml" { // the others are known from the file
				j.Warn("warning: %s: %s", it.place(), f)
			}
		}
	}
	return after, err
}

// ofSeries reports whether the service finds the container in the metadata.
func (it *item) ofSeries() bool {
	return len(it.Record.RelatedItems) > 0 || slices.ContainsFunc(it.Record.Descriptions, func(d metadata.Description) bool {
		return d.DescriptionType == metadata.DescriptionSeriesInformation
	})
}

// compare returns the metadata to write, and whether they differ from those of a record. What
// the columns of a table do not say stays.
func (it *item) compare(found *dois.Record) (doc mds.Document, differs bool, err error) {
	stored := &found.Record
	if record, err := metadata.ParseXML(bytes.NewReader(found.MetadataXML)); err == nil {
		stored = record
	}
	whole, doc := it.Record, it.metadata()
	if it.isRow {
		whole = table.Complete(it.Record, stored)
		copied := *whole
		copied.DOI = ""
		if doc, err = mds.NewDocument(&copied); err != nil {
			return doc, false, fmt.Errorf("with what is stored of it: %w", err)
		}
	}
	changes := metadata.Diff(whole, stored)
	if it.isJSON { // which may be that of the service: it adds a date Issued, leaves out repeats, and has its own URLs of licences
		shown := metadata.Diff(&found.Record, stored)
		changes = slices.DeleteFunc(changes, func(c metadata.Change) bool {
			invisible := strings.ContainsFunc(c.Found, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) // to be corrected, as its warning says
			return slices.Contains(shown, c) && !invisible
		})
	}
	return doc, len(changes) > 0, nil
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

// eventTo is the event that leads from one state to another; "" if none does.
func eventTo(from, to dois.State) dois.Event {
	switch {
	case from == to:
	case to == dois.StateFindable:
		return dois.Publish
	case to == dois.StateRegistered && from == dois.StateDraft:
		return dois.RegisterHidden
	case to == dois.StateRegistered:
		return dois.Hide
	}
	return ""
}

// begin keeps a name that was made on disk before it is sent.
func (j *job) begin(it *item) error {
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

// tryStore registers metadata that the metadata store alone takes.
func (j *job) tryStore(ctx context.Context, it *item, doc mds.Document) error {
	store, err := mds.NewClient(j.service.Config)
	if err != nil {
		return err
	}
	done, err := store.Ensure(ctx, it.entry.DOI, it.URL, doc, &mds.EnsureOptions{
		NoReadBack: true,
		Before:     func(context.Context, string, mds.State) error { return j.begin(it) },
	})
	if err == nil {
		it.change, it.state = string(done.Change), dois.State(done.State)
	}
	return err
}

// take keeps the outcome of a try. The error is one that ends the run.
func (j *job) take(ctx context.Context, it *item, again *[]*item) error {
	key := doi.Key(it.entry.DOI)
	j.mu.Lock()
	delete(j.items, key)
	j.mu.Unlock()
	e := it.entry
	switch err := it.err; {
	case err == nil:
		j.done++
		j.forbidden = 0
		e.Result, e.Error, e.Registered, e.State = it.change, "", it.digest, string(it.state)
	case ctx.Err() != nil: // what it was is on disk
		return nil
	case errors.Is(err, errTaken) && it.tries < draws:
		*again = append(*again, it)
		it.entry, it.begun, it.change = entry{URL: it.URL}, false, ""
		return j.results.note(it.entry, false)
	case datacite.Temporary(err) && it.tries < rounds:
		*again = append(*again, it)
		return nil
	default:
		j.failed++
		if j.first == nil {
			j.first = err
		}
		if shell.Code(err) == shell.ExitFailed {
			j.down++
		}
		e.Result, e.Error = "failed", shell.Message(err)
		if errors.Is(err, mds.ErrHidden) {
			e.Error = "the DOI is hidden, or may be, and metadata in this format would show it"
		}
		if !it.begun && it.entry.Made {
			e.DOI = "" // it was not sent
		}
		if j.forbidden++; !errors.Is(err, datacite.ErrForbidden) {
			j.forbidden = 0
		}
	}
	if err := j.results.note(e, false); err != nil {
		return shell.Wrong(err)
	}
	j.say(it, e)
	switch {
	case it.err == nil:
		return nil
	case errors.Is(it.err, datacite.ErrUnauthorized):
		return it.err
	case j.forbidden == refusals && j.done+j.earlier == 0:
		return shell.Refused(fmt.Errorf("%w; the first %d were refused, so the rest was not sent; may the account write below this prefix?", it.err, refusals))
	}
	return nil
}

// refusals is after how many without a success the rest is not sent.
const refusals = 3

// say prints an outcome: always for programs, and for people unless a table has it.
func (j *job) say(it *item, e entry) {
	o := outcome{DOI: e.DOI, URL: e.URL, State: e.State, Result: e.Result, Error: e.Error, Place: it.place(), Service: j.service.Host}
	switch {
	case j.JSON:
		j.Result(o, "")
	case it.err != nil && !j.isSingle:
		j.Warn("%s: %s", it.place(), e.Error)
	case it.err == nil && !j.isTable:
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

package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata/table"
)

// A job registers the rows of a table.
type job struct {
	*settings
	p       *program.Program
	client  *mds.Client
	source  *source
	results *results
	counts
	first error // of those with which rows failed

	mu    sync.Mutex
	names map[string]*item // under way, by key
	again map[string]bool  // addresses of rows whose name was taken
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
	entry
	begun  bool // the name is on disk
	digest string
}

// errTaken says that a name that was made exists already.
var errTaken = errors.New("the name that was made is taken")

// run registers what is not registered yet, and writes the result table in any case.
func (j *job) run(ctx context.Context) error {
	if err := j.results.begin(); err != nil {
		return err
	}
	var err error
	const draws = 5 // another name is needed rarely, a third one hardly ever
	for draw := 0; err == nil && (draw == 0 || len(j.again) > 0 && draw < draws); draw++ {
		only := j.again
		j.again = map[string]bool{}
		err = j.registerAll(ctx, only)
	}
	j.failed += len(j.again)
	return errors.Join(err, j.results.save(j.source))
}

func (j *job) registerAll(ctx context.Context, only map[string]bool) error {
	opts := &mds.BulkOptions{Workers: j.workers, Pause: j.pause, Ensure: mds.EnsureOptions{NoReadBack: true, Before: j.before}}
	for o, err := range j.client.RegisterAll(ctx, j.items(only), opts) {
		if err != nil {
			return err
		}
		if err := j.outcome(o); err != nil {
			return err
		}
		j.p.Progress("%d of %d rows registered, %d failed", j.earlier+j.done, j.rows, j.failed+j.faulty)
	}
	return nil
}

// items are the rows without a fault that are not registered yet. With only, they are
// those with these addresses.
func (j *job) items(only map[string]bool) iter.Seq2[mds.Item, error] {
	return func(yield func(mds.Item, error) bool) {
		for row, err := range j.source.rows() {
			if err != nil {
				yield(mds.Item{}, err)
				return
			}
			if row.Err() != nil || only != nil && !only[row.URL] {
				continue
			}
			known, _ := j.results.of(row)
			one, doc := j.item(row, known)
			if one == nil {
				continue
			}
			if !yield(mds.Item{DOI: one.DOI, URL: one.URL, Document: doc}, nil) {
				return
			}
		}
	}
}

// item makes an item of a row, nil if the row is registered already.
func (j *job) item(row *table.Row, known entry) (*item, mds.Document) {
	row.Record.DOI = ""                   // the request names it
	doc, _ := mds.NewDocument(row.Record) // the row has no faults
	one := &item{entry: entry{DOI: known.DOI, URL: row.URL, State: known.State, Made: known.Made}, digest: j.digest(known.DOI, row.URL, doc)}
	if known.DOI != "" && known.Registered == one.digest {
		return nil, doc
	}
	one.begun = known.DOI != ""
	for one.DOI == "" {
		if name := j.prefix + "/" + doi.NewSuffix(); !j.results.has(name) && !j.underWay(name) {
			one.DOI, one.Made = name, true
			one.digest = j.digest(name, row.URL, doc)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.names[doi.Key(one.DOI)] = one
	return one, doc
}

func (j *job) underWay(name string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.names[doi.Key(name)] != nil
}

// digestOf is the digest of a row with a name.
func (j *job) digestOf(row *table.Row, name string) string {
	row.Record.DOI = ""
	doc, _ := mds.NewDocument(row.Record) // the row has no faults
	return j.digest(name, row.URL, doc)
}

// digest tells whether a row is the one that was registered, at the same service.
func (j *job) digest(name, url string, doc mds.Document) string {
	sum := sha256.New()
	for _, text := range []string{j.mds, doi.Key(name), url, string(doc.Data)} {
		fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	return fmt.Sprintf("r%x", sum.Sum(nil)[:8]) // no spreadsheet program takes that for a number
}

// before keeps a name that was made on disk before it is sent, and refuses one that exists.
func (j *job) before(_ context.Context, name string, found mds.State) error {
	j.mu.Lock()
	one := j.names[doi.Key(name)]
	j.mu.Unlock()
	switch {
	case one == nil || one.begun:
		return nil
	case found != mds.StateNone:
		return errTaken
	}
	if err := j.results.note(one.entry, true); err != nil {
		return fmt.Errorf("the name cannot be kept, and is not used: %w", err)
	}
	one.begun = true
	return nil
}

// outcome keeps the outcome of an item.
func (j *job) outcome(o mds.Outcome) error {
	key := doi.Key(o.Item.DOI)
	j.mu.Lock()
	one := j.names[key]
	delete(j.names, key)
	j.mu.Unlock()
	if errors.Is(o.Err, errTaken) {
		j.again[one.URL] = true
		return nil
	}
	e := one.entry
	if o.Err != nil {
		j.failed++
		j.first = cmp.Or(j.first, o.Err)
		if program.Code(o.Err) == program.ExitFailed {
			j.down++
		}
		e.Result, e.Error = "failed", oneLine(o.Err)
		if errors.Is(o.Err, mds.ErrHidden) {
			e.Error = "the DOI is hidden, or may be, and registering it would show it; audit -fix changes it and keeps it hidden"
		}
		if !one.begun {
			e.DOI = "" // it was not sent
		}
	} else {
		j.done++
		e.Result, e.Registered = string(o.Registration.Change), one.digest
		if o.Registration.State == mds.StateFindable || one.Made {
			e.State = string(mds.StateFindable)
		}
	}
	return j.results.note(e, false)
}

// oneLine makes an error fit into a cell.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

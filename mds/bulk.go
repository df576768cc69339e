package mds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// An Item is one DOI to register.
type Item struct {
	DOI, URL string
	Document Document
}

// An Outcome is the result of an Item.
type Outcome struct {
	Item         Item
	Registration *Registration // nil if Err is not
	Err          error         // as of Client.Ensure, or a *RetriedError
	Tries        int           // how often the item was tried

	left error // of a try that may have changed something
}

// A RetriedError is the failure of an item that was tried more than once, where
// the last try changed nothing, and an earlier one did or may have.
type RetriedError struct {
	Err     error // of the last try
	Earlier error // of the try that left something behind; matches ErrHalfRegistered, datacite.ErrUnclear or ErrUnconfirmed
}

// Error describes both tries.
func (e *RetriedError) Error() string {
	return fmt.Sprintf("%v; an earlier try: %v", e.Err, e.Earlier)
}

// Unwrap returns both errors.
func (e *RetriedError) Unwrap() []error { return []error{e.Err, e.Earlier} }

// Transient is what [datacite.Temporary] asks: of the last try.
func (e *RetriedError) Transient() bool { return datacite.Temporary(e.Err) }

// leavesChanges tells whether something may have been changed in spite of an error.
func leavesChanges(err error) bool {
	return errors.Is(err, datacite.ErrUnclear) || errors.Is(err, ErrHalfRegistered) || errors.Is(err, ErrUnconfirmed)
}

// BulkOptions are the optional settings of RegisterAll.
type BulkOptions struct {
	Ensure   EnsureOptions  // for each item
	Workers  int            // items at work at the same time; 0 means 4
	Rounds   int            // how often an item is tried whose failure is temporary; 0 means 3, 1 means once
	Pause    time.Duration  // before each further round; 0 means 30 seconds
	Progress func(Progress) // called after each try, one call at a time
}

// Progress counts the items of a run.
type Progress struct {
	Done    int // registered, or right already
	Failed  int // given up
	Waiting int // failed for now, to be tried in the next round
}

// RegisterAll makes every item's DOI have its URL and metadata, as
// [Client.Ensure] does, several at a time, and returns the result of each as
// soon as it is known. Items whose failure is [Temporary] are tried again after
// all others, and their outcome is that of the last try; if an earlier one may
// have changed more than that says, the error is a
// [*RetriedError] and matches both. An item whose DOI came before is not tried.
// Items that wait for another try, and the names of all, are kept in memory.
//
// When three items of a prefix are [datacite.ErrForbidden] and none of it was registered, the
// prefix is not the account's, or the service has lost the one behind it. No more
// items of it are sent in that round. They wait for the next one, which sends one of
// them to find out. In the last round they fail with that error, whose URL is of an
// item that was sent, and whose Attempts are 0.
//
// Items are taken from another goroutine, one by one as workers get free. The
// sequence should end, or bring an error, when ctx does.
//
// An error ends the sequence and comes with an empty Outcome: the context's, one
// that items brings, or [datacite.ErrUnauthorized], which the other items would meet, too.
// To stop, leave the loop; to continue, run it again: DOIs that are right already
// are only read. Config.Limiter keeps the requests below a rate.
func (c *Client) RegisterAll(ctx context.Context, items iter.Seq2[Item, error], opts *BulkOptions) iter.Seq2[Outcome, error] {
	if opts == nil {
		opts = &BulkOptions{}
	}
	o := *opts
	o.Workers, o.Rounds, o.Pause = max(cmp.Or(o.Workers, 4), 1), max(cmp.Or(o.Rounds, 3), 1), cmp.Or(o.Pause, 30*time.Second)
	return func(yield func(Outcome, error) bool) {
		if items == nil {
			yield(Outcome{}, &datacite.FieldError{Path: "items", Reason: "is nil"})
			return
		}
		run := &bulkRun{client: c, opts: o, yield: yield, refusals: refusals{prefixes: map[string]refusal{}}}
		if err := run.rounds(ctx, items); err != nil && !errors.Is(err, bulk.ErrLeft) {
			yield(Outcome{}, err)
		}
	}
}

// bulkRun is one run of RegisterAll. Its fields belong to the goroutine that ranges
// over the outcomes.
type bulkRun struct {
	client   *Client
	opts     BulkOptions
	yield    func(Outcome, error) bool
	progress Progress
	begun    int       // rounds
	again    []Outcome // for the next round
	refusals refusals  // of this round
}

func (b *bulkRun) rounds(ctx context.Context, items iter.Seq2[Item, error]) error {
	err := b.round(ctx, fresh(items))
	for err == nil && len(b.again) > 0 {
		if err = transport.Sleep(ctx, b.opts.Pause); err != nil {
			break
		}
		failed, begun := b.again, 0
		b.again, b.progress.Waiting = nil, 0
		slices.Reverse(failed) // refused DOIs stand together
		slices.SortStableFunc(failed, func(x, y Outcome) int { return x.Tries - y.Tries })
		b.refusals.relent()
		err = b.round(ctx, func(yield func(Outcome, error) bool) {
			for begun < len(failed) && yield(failed[begun], nil) {
				begun++
			}
		})
		b.again = append(b.again, failed[begun:]...)
	}
	if errors.Is(err, bulk.ErrLeft) {
		return err
	}
	for i, o := range b.again { // there is no next round
		b.progress.Waiting = len(b.again) - i - 1
		if !b.give(o) {
			return bulk.ErrLeft
		}
	}
	return err
}

// fresh turns items into outcomes yet to come, and fails those whose DOI came
// before: two at a time would undo each other's work.
func fresh(items iter.Seq2[Item, error]) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		seen := map[string]bool{}
		for item, err := range items {
			o := Outcome{Item: item}
			if name, bad := doi.Parse(item.DOI); bad == nil {
				name = doi.Normal(name)
				if seen[name] {
					o.Err = &datacite.FieldError{Path: "item.DOI", Reason: name + " came before"}
				}
				seen[name] = true
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// round tries each item once. It returns when all goroutines have ended.
func (b *bulkRun) round(ctx context.Context, todo iter.Seq2[Outcome, error]) error {
	b.begun++
	return bulk.Run(ctx, todo, b.opts.Workers, func(ctx context.Context, o Outcome) Outcome {
		return b.try(ctx, o)
	}, func(ctx context.Context, o Outcome) error {
		switch {
		case !b.take(ctx, o):
			return bulk.ErrLeft
		case errors.Is(o.Err, datacite.ErrUnauthorized):
			return o.Err
		}
		return nil
	})
}

func (b *bulkRun) try(ctx context.Context, o Outcome) Outcome {
	if o.Err != nil && !datacite.Temporary(o.Err) {
		return o
	}
	name, _ := doi.Parse(o.Item.DOI)
	if o.Err = b.refusals.of(name); o.Err == nil {
		o.Tries++
		o.Registration, o.Err = b.client.Ensure(ctx, o.Item.DOI, o.Item.URL, o.Item.Document, &b.opts.Ensure)
		b.refusals.note(name, o.Err)
	}
	switch {
	case leavesChanges(o.Err):
		o.left = o.Err
	case o.Err != nil && o.left != nil:
		o.Err = &RetriedError{Err: o.Err, Earlier: o.left}
	}
	return o
}

// take keeps an outcome for the next round, or gives it out.
func (b *bulkRun) take(ctx context.Context, o Outcome) bool {
	if o.Err != nil && datacite.Temporary(o.Err) && b.begun < b.opts.Rounds && ctx.Err() == nil {
		b.again = append(b.again, o)
		b.progress.Waiting++
		b.report()
		return true
	}
	return b.give(o)
}

func (b *bulkRun) give(o Outcome) bool {
	if o.Err != nil {
		b.progress.Failed++
	} else {
		b.progress.Done++
	}
	b.report()
	return b.yield(o, nil)
}

func (b *bulkRun) report() {
	if b.opts.Progress != nil {
		b.opts.Progress(b.progress)
	}
}

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
)

// An Item is one DOI to register.
type Item struct {
	DOI, URL string
	Document Document

	// Err is the reason why the item cannot be registered, such as an unreadable row of a
	// table. Nothing is sent for the item, its outcome has this error, and the other items
	// go on.
	Err error
}

// An Outcome is the result of an Item.
type Outcome struct {
	Item         Item
	Registration *Registration // nil if Err is not nil
	Err          error         // the error of Client.Ensure, or Item.Err
	Tries        int           // how often the item was tried

	place int   // among the items
	left  error // of a try that may have changed something
	asked bool  // EnsureOptions.Before, by an earlier try
}

// leavesChanges reports whether something may have been changed in spite of an error.
func leavesChanges(err error) bool {
	return errors.Is(err, datacite.ErrUnclear) || errors.Is(err, ErrHalfRegistered) || errors.Is(err, ErrUnconfirmed)
}

// BulkOptions are the optional settings of RegisterAll.
type BulkOptions struct {
	Ensure   EnsureOptions  // for each item
	Workers  int            // items at work at the same time; 0 means 4
	Rounds   int            // how often an item is tried at most; 0 means 3
	Pause    time.Duration  // before each further round; 0 means 30 seconds
	Progress func(Progress) // called after each try, one call at a time
}

// Progress counts the items of a run.
type Progress struct {
	Done    int // registered, or unchanged
	Failed  int // given up
	Waiting int // failed, to be tried again in the next round
}

// RegisterAll calls [Client.Ensure] for every item, several at a time, and returns each
// result as soon as it is known. Items that fail with a temporary error
// ([datacite.Temporary]) are tried again in further rounds, after all others. Their outcome
// is that of the last try. The error also matches the error of an earlier try that may have
// changed something: [ErrHalfRegistered], [ErrUnconfirmed] or [datacite.ErrUnclear]. A DOI
// that comes twice is an error the second time.
//
// After the DOI API has confirmed that the account has no right to a prefix, a further item of it is only
// looked up, and fails with the same error unless its DOI exists. Where nothing confirms a refusal, after
// three items of a prefix with [datacite.ErrForbidden] and none registered, RegisterAll sends no more
// items of that prefix in the round: either the prefix is not the account's, or the store cannot reach its
// backend. The next round first sends one item of the prefix. In the last round the items that were not sent fail with this error, with the
// URL of an item that was sent and Attempts 0.
//
// An error ends the sequence and comes with an empty Outcome: an error of ctx or of items,
// or [datacite.ErrUnauthorized], which all items would get. Leave the loop to stop; run
// RegisterAll again to continue. DOIs that need no change are only read, in three requests
// each; [Client.Ensure] lists the exceptions.
//
// Items are taken one by one, from another goroutine, as workers become free. The
// sequence should end when ctx does. Items that wait for another try, and the names of
// all DOIs, are kept in memory. Config.Limiter limits the rate of requests.
func (c *Client) RegisterAll(ctx context.Context, items iter.Seq2[Item, error], opts *BulkOptions) iter.Seq2[Outcome, error] {
	if opts == nil {
		opts = &BulkOptions{}
	}
	o := *opts
	o.Workers, o.Rounds, o.Pause = cmp.Or(o.Workers, 4), cmp.Or(o.Rounds, 3), cmp.Or(o.Pause, 30*time.Second)
	return func(yield func(Outcome, error) bool) {
		err := c.core.Ready(ctx)
		if err == nil && items == nil {
			err = datacite.Invalid(datacite.Finding{Path: "items", Code: "missing", Reason: "is nil"})
		}
		if err != nil {
			yield(Outcome{}, err)
			return
		}
		if min(o.Workers, o.Rounds) < 0 || o.Pause < 0 {
			yield(Outcome{}, datacite.Invalid(datacite.Finding{Path: "BulkOptions", Code: "limit", Reason: "has a negative Workers, Rounds or Pause"}))
			return
		}
		run := &bulkRun{client: c, opts: o, yield: yield, refusals: refusals{prefixes: map[string]refusal{}}}
		if err := run.rounds(ctx, items); err != nil && !errors.Is(err, bulk.ErrLeft) {
			yield(Outcome{}, fmt.Errorf("mds.RegisterAll: %w", err))
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
		if err = b.client.core.Sleep(ctx, b.opts.Pause); err != nil {
			break
		}
		failed, begun := b.again, 0
		b.again, b.progress.Waiting = nil, 0
		b.arrange(failed)
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

// arrange puts the items of a further round in order: those that were not sent first, and
// of these the last one in the second round, one in the middle in the third, as the DOIs of
// others stand together.
func (b *bulkRun) arrange(failed []Outcome) {
	slices.SortFunc(failed, func(x, y Outcome) int { return cmp.Or(x.Tries-y.Tries, y.place-x.place) })
	n := 0 // not sent
	for n < len(failed) && failed[n].Tries == 0 {
		n++
	}
	start := n - n/b.begun
	copy(failed, slices.Concat(failed[start:n], failed[:start]))
}

// fresh makes outcomes of items that were not tried yet. It fails those whose DOI came
// before: two workers would undo each other's work.
func fresh(items iter.Seq2[Item, error]) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		seen, place := map[string]bool{}, 0
		for item, err := range items {
			o := Outcome{Item: item, Err: item.Err, place: place}
			place++
			if name, bad := doi.Parse(item.DOI); bad == nil && item.Err == nil {
				name = doi.Normal(name)
				if seen[name] {
					o.Err = datacite.Invalid(datacite.Finding{Path: "item.DOI", Code: "repeated", Reason: name + " occurs twice"})
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
		case errors.Is(o.Err, datacite.ErrUnauthorized) && o.Item.Err == nil && !errors.Is(o.Err, errBefore):
			return o.Err
		}
		return nil
	})
}

func (b *bulkRun) try(ctx context.Context, o Outcome) Outcome {
	if o.Item.Err != nil || o.Err != nil && !datacite.Temporary(o.Err) {
		return o
	}
	name, _ := doi.Parse(o.Item.DOI)
	known := func() bool {
		state, _, err := b.client.look(ctx, opRegister, name)
		return err != nil || state != StateNone
	}
	if o.Err = b.refusals.of(name, known); o.Err == nil {
		o.Tries++
		opts := b.opts.Ensure
		if before := opts.Before; before != nil {
			opts.Before = func(ctx context.Context, doi string, found State) error {
				if o.asked {
					return nil // found is what the earlier try made
				}
				o.asked = true
				return before(ctx, doi, found)
			}
		}
		o.Registration, o.Err = b.client.Ensure(ctx, o.Item.DOI, o.Item.URL, o.Item.Document, &opts)
		b.refusals.note(name, o.Err)
	}
	switch {
	case leavesChanges(o.Err):
		o.left = o.Err
	case o.Err != nil && o.left != nil:
		o.Err = fmt.Errorf("%w; an earlier try: %w", o.Err, o.left)
	}
	return o
}

// take keeps an outcome for the next round, or yields it.
func (b *bulkRun) take(ctx context.Context, o Outcome) bool {
	if o.Err != nil && o.Item.Err == nil && datacite.Temporary(o.Err) && b.begun < b.opts.Rounds && ctx.Err() == nil {
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

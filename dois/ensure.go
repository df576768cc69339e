package dois

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// ErrNotAsWanted: a DOI cannot become as wanted, since no event leads to the wanted state; or
// the service accepted the change, and the DOI still differs.
var ErrNotAsWanted = transport.NewSign("dois: not as wanted")

// EnsureOptions are the optional settings of Ensure and EnsureAll.
type EnsureOptions struct {
	DryRun bool // read and compare, but write nothing

	// Adapt may change what is wanted by what was found, which it must not change: add
	// properties that the source does not contain, or choose the state. found is nil if the DOI
	// does not exist. After an error nothing is written, and the DOI is not tried again. Adapt
	// is called after each look, with the Wanted as given.
	Adapt func(w *Wanted, found *Record) error

	// Before is called before each write, with the Draft that is sent. After an error nothing
	// is written, and the DOI is not tried again. Use it to save a new name before it is sent.
	Before func(ctx context.Context, e *Ensured) error

	// Register may bring a DOI to its wanted state in another way than through this interface,
	// such as with mds.Client.Ensure, for metadata that only the metadata store accepts. It
	// sets Found, Draft and Record as far as they are known, and returns false for a DOI that
	// it leaves to Ensure.
	Register func(ctx context.Context, e *Ensured) (bool, error)

	// The fields below are for EnsureAll.

	Workers  int                  // DOIs at work at the same time; 0 means 4
	Rounds   int                  // how often a DOI is tried at most; 0 means 3
	Pause    time.Duration        // before each further round; 0 means 30 seconds
	Progress func(EnsureProgress) // called after each try and before each pause, one call at a time
}

// EnsureProgress counts the DOIs of a run.
type EnsureProgress struct {
	Done    int // as wanted
	Failed  int // given up
	Waiting int // failed, to be tried again in the next round

	Pause time.Duration // how long the pause is that begins now, before a further round or as the service asks (Retry-After); 0 at other times
	Err   error         // of the DOI that was tried last or, before a pause, of the first that waits
}

// An Ensured is the outcome of one [Wanted]. It was created if Found is nil, updated if Draft is
// not, and needed no change if Draft is nil.
type Ensured struct {
	Wanted Wanted  // as given
	Found  *Record // as it was before the first write; nil if the DOI did not exist
	Draft  *Draft  // what was sent or, with DryRun, would be sent; nil if nothing differed
	Record *Record // as it is now, with warnings about the wanted metadata; nil if that is not known, and with DryRun
	Err    error
	Tries  int // how often the DOI was tried
}

// Ensure brings a DOI to a wanted state: it reads the DOI, and creates it, or sends what differs,
// in one request. A DOI that is as wanted is only read. After a write whose outcome is unknown, the
// DOI is read before anything is sent again.
//
// Of [Wanted.Metadata] only the properties that differ are written; [Wanted.MetadataXML] is
// written whole. A DOI that is wanted in no state becomes a draft if it is new, and otherwise
// keeps its state. A hidden DOI stays hidden unless it is wanted findable, and a draft that is
// wanted hidden is registered without being findable in between.
//
// Errors are those of [Client.Get], [Client.Create] and [Client.Update], and of Adapt and Before;
// [ErrNotAsWanted]; and [datacite.ErrConflict] if the DOI exists and the account does not see it.
//
// Ensure sends GET /dois/{doi}, unless Wanted.New is set, and then POST /dois or PUT /dois/{doi}
// if something differs.
func (c *Client) Ensure(ctx context.Context, wanted Wanted, opts *EnsureOptions) (*Ensured, error) {
	run := newEnsuring(c, opts)
	t := &task{Ensured: Ensured{Wanted: wanted}}
	if err := cmp.Or(c.core.Ready(ctx), t.check(0)); err != nil {
		return nil, err
	}
	if run.try(ctx, t); t.Err != nil {
		return nil, t.Err
	}
	return &t.Ensured, nil
}

// EnsureAll calls [Client.Ensure] for each wanted DOI, several at a time, and returns each
// outcome as soon as it is known; Err has the error of that DOI. DOIs that fail with a temporary
// error ([datacite.Temporary]) are tried again in further rounds, after all others; the last error
// also matches [datacite.ErrUnclear] if an earlier try may have had an effect. A DOI that is wanted
// twice is an error the second time. Whether the account has a right to a prefix is asked once:
// after a refusal, new DOIs of the prefix are not sent, and have the same error
// ([datacite.ErrForbidden]).
//
// If the service says when it wants the next request ([datacite.Error].RetryAt), all workers wait
// until then.
//
// An error ends the sequence and comes with a nil Ensured: an error of wanted or of ctx, a login
// that is not accepted (401), or a service that has turned all requests away and wants none before
// 30 minutes are over; the error says when to come back. DOIs that wait for another try have their outcome before it.
// Leave the loop to stop; run EnsureAll again to continue, which only reads what is as wanted.
//
// wanted is read one by one, in another goroutine, as workers become free. DOIs that wait for
// another try, and the names of all DOIs, are kept in memory.
func (c *Client) EnsureAll(ctx context.Context, wanted iter.Seq2[Wanted, error], opts *EnsureOptions) iter.Seq2[*Ensured, error] {
	return func(yield func(*Ensured, error) bool) {
		run := newEnsuring(c, opts)
		err := c.core.Ready(ctx)
		switch {
		case err != nil:
		case wanted == nil:
			err = datacite.Invalid(datacite.Finding{Path: "wanted", Code: "missing", Reason: "is nil"})
		case min(run.opts.Workers, run.opts.Rounds) < 0 || run.opts.Pause < 0:
			err = datacite.Invalid(datacite.Finding{Path: "EnsureOptions", Code: "limit", Reason: "has a negative Workers, Rounds or Pause"})
		default:
			run.give = func(t *task) bool { return yield(&t.Ensured, nil) }
			err = run.rounds(ctx, tasksOf(wanted))
		}
		if err != nil && !errors.Is(err, bulk.ErrLeft) {
			yield(nil, err)
		}
	}
}

// A task is a DOI on its way to the wanted state.
type task struct {
	Ensured
	name  string
	diffs []*Difference // that Repair is to repair
	sent  error         // of a write whose outcome is unknown
	final bool          // it was refused before it was sent
	pause time.Duration // of all workers, which began with the last try
	ends  error         // the run
}

// tasksOf are tasks for what is wanted. What is faulty, or is wanted twice, has its error: two
// workers would undo each other's work.
func tasksOf(wanted iter.Seq2[Wanted, error]) iter.Seq2[*task, error] {
	return func(yield func(*task, error) bool) {
		seen, n := map[string]bool{}, 0
		for w, err := range wanted {
			t := &task{Ensured: Ensured{Wanted: w}}
			if err == nil {
				if t.Err = t.check(n); t.Err == nil && seen[t.name] {
					t.Err = datacite.Invalid(datacite.Finding{Path: (&entry{w, n}).path("DOI"), Code: "repeated", Reason: fmt.Sprintf("%q is wanted twice", t.name)})
				}
				seen[t.name] = true
				n++
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// check completes what is wanted, the n-th from 0.
func (t *task) check(n int) (err error) {
	e := entry{t.Wanted, n}
	t.name, err = e.check()
	t.Wanted = e.Wanted
	return err
}

// An ensuring is one run of Ensure, EnsureAll or Repair. Its fields belong to the goroutine that
// ranges over the outcomes.
type ensuring struct {
	client   *Client
	opts     EnsureOptions
	give     func(*task) bool
	progress EnsureProgress
	begun    int     // rounds
	again    []*task // for the next round
	prefixes prefixes
	hold     hold
}

func newEnsuring(c *Client, opts *EnsureOptions) *ensuring {
	o := *cmp.Or(opts, &EnsureOptions{})
	o.Workers, o.Rounds, o.Pause = cmp.Or(o.Workers, 4), cmp.Or(o.Rounds, 3), cmp.Or(o.Pause, 30*time.Second)
	return &ensuring{client: c, opts: o, prefixes: prefixes{known: map[string]*right{}}}
}

func (r *ensuring) rounds(ctx context.Context, tasks iter.Seq2[*task, error]) error {
	err := r.round(ctx, tasks)
	for err == nil && len(r.again) > 0 {
		r.progress.Pause, r.progress.Err = r.opts.Pause, r.again[0].Err
		r.report()
		r.progress.Pause, r.progress.Err = 0, nil
		if err = r.client.core.Sleep(ctx, r.opts.Pause); err != nil {
			break
		}
		waiting, begun := r.again, 0
		r.again, r.progress.Waiting = nil, 0
		err = r.round(ctx, func(yield func(*task, error) bool) {
			for begun < len(waiting) && yield(waiting[begun], nil) {
				begun++
			}
		})
		r.again = append(r.again, waiting[begun:]...)
	}
	if errors.Is(err, bulk.ErrLeft) {
		return err
	}
	for i, t := range r.again { // there is no next round
		r.progress.Waiting = len(r.again) - i - 1
		if !r.end(t) {
			return bulk.ErrLeft
		}
	}
	return err
}

// round tries each task once. It returns when all goroutines have ended.
func (r *ensuring) round(ctx context.Context, tasks iter.Seq2[*task, error]) error {
	r.begun++
	return bulk.Run(ctx, tasks, r.opts.Workers, func(ctx context.Context, t *task) *task {
		if t.Tries > 0 || t.Err == nil {
			r.hold.wait(ctx)
			r.try(ctx, t)
			t.pause, t.ends = r.hold.note(r.client.core, t.Err)
		}
		return t
	}, func(ctx context.Context, t *task) error {
		r.progress.Pause = t.pause
		defer func() { r.progress.Pause = 0 }()
		switch {
		case t.ends != nil && ctx.Err() == nil:
			r.again = append(r.again, t)
			return t.ends
		case datacite.Temporary(t.Err) && !t.final && r.begun < r.opts.Rounds && ctx.Err() == nil:
			r.again = append(r.again, t)
			r.progress.Waiting++
			r.progress.Err = t.Err
			r.report()
		case !r.end(t):
			return bulk.ErrLeft
		case errors.Is(t.Err, datacite.ErrUnauthorized) && !t.final && !(t.Found != nil && errors.Is(t.Err, datacite.ErrNotFound)):
			return t.Err // all would get it; a 404 for a DOI that was there concerns that one
		}
		return nil
	})
}

func (r *ensuring) end(t *task) bool {
	if t.Err != nil {
		r.progress.Failed++
	} else {
		r.progress.Done++
	}
	r.progress.Err = t.Err
	r.report()
	return r.give(t)
}

func (r *ensuring) report() {
	if r.opts.Progress != nil {
		r.opts.Progress(r.progress)
	}
}

// try tries a task once.
func (r *ensuring) try(ctx context.Context, t *task) {
	t.Tries++
	t.Err = call.Ended(ctx)
	isDone := false
	if t.Err == nil && r.opts.Register != nil {
		isDone, t.Err = r.opts.Register(ctx, &t.Ensured)
	}
	if t.Err == nil && !isDone {
		t.Err = r.ensure(ctx, t)
	}
	if errors.Is(t.Err, datacite.ErrUnclear) {
		t.sent = t.Err
	} else if t.Err != nil && t.sent != nil {
		t.Err = fmt.Errorf("%w, after a write whose outcome is unknown: %w", t.Err, t.sent)
	}
	t.Err = r.client.core.Shown(t.Err)
}

// looks is how often a write is followed by a look that shows what became of it.
const looks = 3

func (r *ensuring) ensure(ctx context.Context, t *task) error {
	var lost error // of the last write: it may have had its effect, or the DOI exists
	for look := 0; ; look++ {
		var found *Record
		if !t.Wanted.New || t.Draft != nil { // of which something may have been sent
			var err error
			if found, err = r.client.look(ctx, t.name); err != nil {
				return err
			}
		}
		if found == nil && errors.Is(lost, datacite.ErrConflict) {
			return fmt.Errorf("%w: the DOI exists, and the account does not see it, as if it belongs to another account", lost)
		}
		if t.Draft == nil {
			t.Found = found
		}
		wanted := t.Wanted
		if err := t.refused(r.opts.Adapt != nil, func() error { return r.opts.Adapt(&wanted, found) }); err != nil {
			return err
		}
		if len(t.left(&wanted, found)) == 0 {
			t.Record = found
			return nil
		}
		if err := t.refused(t.diffs != nil, func() error { return t.sameAsAudited(found) }); err != nil {
			return err
		}
		draft, err := wanted.draft(found)
		if err != nil {
			return err
		}
		if t.Draft = draft; r.opts.DryRun {
			return nil
		}
		after, err := r.write(ctx, t, found)
		switch {
		case err == nil:
			t.Record = after
			if rest := t.left(&wanted, after); len(rest) > 0 {
				return fmt.Errorf("%w: the service accepted the change, but a difference remains: %s", ErrNotAsWanted, rest[0])
			}
			return nil
		case !errors.Is(err, datacite.ErrUnclear) && !errors.Is(err, datacite.ErrConflict), t.final, look == looks, ctx.Err() != nil:
			return err
		case errors.Is(err, datacite.ErrUnclear):
			t.sent = err
		}
		lost = err
	}
}

// refused calls a function that may refuse the DOI for good.
func (t *task) refused(asked bool, f func() error) error {
	if !asked {
		return nil
	}
	err := f()
	t.final = err != nil
	return err
}

// write creates a DOI that was not found, and updates one that was.
func (r *ensuring) write(ctx context.Context, t *task, found *Record) (*Record, error) {
	if found == nil {
		settle, err := r.prefixes.ask(ctx, doi.Prefix(t.name))
		if err != nil {
			return nil, err
		}
		defer func() { settle(err) }()
		if err = t.before(ctx, r); err != nil {
			return nil, err
		}
		after, failed := r.client.Create(ctx, t.Draft)
		err = failed
		return after, err
	}
	if err := t.before(ctx, r); err != nil {
		return nil, err
	}
	return r.client.Update(ctx, t.name, t.Draft)
}

func (t *task) before(ctx context.Context, r *ensuring) error {
	return t.refused(r.opts.Before != nil, func() error { return r.opts.Before(ctx, &t.Ensured) })
}

// left are the differences that are still to be repaired.
func (t *task) left(w *Wanted, now *Record) []*Difference {
	return differences(t.name, w, now, func(k DifferenceKind) bool {
		return k == Missing || k == Changed || slices.ContainsFunc(t.diffs, func(d *Difference) bool { return d.Kind == k })
	})
}

// prefixes are what is known of the account's rights. The first new DOI of a prefix is created
// alone, and the others wait for the response.
type prefixes struct {
	mu    sync.Mutex
	known map[string]*right
}

// A right is that of the account to make DOIs below a prefix.
type right struct {
	turn    chan struct{} // has room for the one who asks
	isOpen  bool          // the first was not refused because of its prefix
	refused error
}

// ask returns the error of a prefix that was refused. Otherwise settle must be called with the
// error of the DOI that is created.
func (p *prefixes) ask(ctx context.Context, name string) (settle func(error), err error) {
	p.mu.Lock()
	one := p.known[name]
	if one == nil {
		one = &right{turn: make(chan struct{}, 1)}
		p.known[name] = one
	}
	p.mu.Unlock()
	select {
	case one.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, call.Ended(ctx)
	}
	if e, ok := errors.AsType[*datacite.Error](one.refused); ok {
		<-one.turn
		again := *e
		again.Attempts, again.Message = 0, again.Message+"; not sent, as another new DOI below "+name+" was refused"
		return nil, &again
	}
	isFirst := !one.isOpen
	if !isFirst {
		<-one.turn
	}
	return func(err error) {
		if !isFirst {
			one.turn <- struct{}{}
		}
		switch _, ofService := errors.AsType[*datacite.Error](err); {
		case errors.Is(err, errForeign), errors.Is(err, datacite.ErrUnauthorized):
			one.refused = err
		case err == nil, ofService:
			one.isOpen = true
		}
		<-one.turn
	}, nil
}

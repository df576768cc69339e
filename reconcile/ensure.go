package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/metadata"
)

// ErrNotAsDesired: a DOI cannot become as desired, since no event leads to the state; or
// the service accepted the change, and the DOI still differs.
var ErrNotAsDesired = transport.NewError("reconcile: not as desired")

// Options are the optional settings of Ensure and EnsureAll.
type Options struct {
	DryRun    bool // read, compare and plan, but write nothing
	AllowLoss bool // write also where something else would be lost; see [ErrLoss]

	// Upgrade stores metadata of an older schema in the current one, also where nothing else differs.
	Upgrade bool

	// Adapt changes what is desired by what was found. After an error nothing is written, and the DOI is not tried
	// again. Adapt is called after each look.
	Adapt Adapter

	// BeforeWrite is called before each write, with the Draft that is sent. After an error nothing
	// is written, and the DOI is not tried again. Use it to save a new name before it is sent.
	BeforeWrite func(ctx context.Context, o *Outcome) error

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

	// Pause: how long the pause is that begins now, before a further round or as the service asks
	// (Retry-After); 0 at other times
	Pause time.Duration
	Err   error // of the DOI that was tried last or, before a pause, of the first that waits
}

// An Outcome is what became of one [Desired]. The DOI was created if Found is nil, changed if Draft is
// not, and needed no change if Draft is nil.
type Outcome struct {
	Desired Desired      // as given
	Found   *dois.Record // as it was before the first write; nil if the DOI did not exist

	Changes []metadata.Change  // what differed: paths in the metadata, "url", "state", "contentUrl" and "container"
	Road    Road               // how it was written; "" if nothing differed
	Draft   *dois.Draft        // what was sent or, with DryRun, would be sent; nil if nothing differed
	Then    *dois.Draft        // what was or would be sent after it, on [RoadBoth]
	Losses  []datacite.Finding // what else the write changes, with AllowLoss, or would change ([ErrLoss])

	Record   *dois.Record // as it is now, with warnings about the metadata; nil if that is not known, and with DryRun
	Err      error
	Attempts int // how often the DOI was tried
}

// Ensure brings a DOI to its desired record, URL and state: it reads the DOI, and creates it or
// sends what differs, on the [Road] that changes nothing else. A DOI that is as desired is only read. After a
// write whose outcome is unknown, the DOI is read before anything is sent again.
//
// A DOI without a desired state becomes a draft if it is new, and otherwise keeps its state. A hidden DOI
// stays hidden unless it is desired findable, and a draft that is desired hidden is registered without being
// findable in between.
//
// Errors are those of [dois.Client.Get], [dois.Client.Create] and [dois.Client.Update], and of
// Adapt and BeforeWrite; [ErrLoss]; [ErrHalfWritten]; [ErrNotAsDesired]; and [datacite.ErrConflict] if the DOI exists
// and the account does not see it. With ErrLoss and ErrHalfWritten, the Outcome is not nil.
//
// On [RoadBoth], a context that ends after the first write does not keep the second from being sent, for
// up to a minute. A program that may be killed in between saves Outcome.Then in Options.BeforeWrite.
//
// Ensure sends GET /dois/{doi}, unless Desired.New is set, and then POST /dois or PUT /dois/{doi}
// if something differs.
func (c *Client) Ensure(ctx context.Context, desired Desired, opts *Options) (*Outcome, error) {
	run := newEnsuring(c, opts)
	t, err := newTask(desired, 0)
	if err = cmp.Or(c.core.Ready(ctx), err); err != nil {
		return nil, err
	}
	if run.try(ctx, t); t.Err == nil || errors.Is(t.Err, ErrLoss) || errors.Is(t.Err, ErrHalfWritten) {
		return &t.Outcome, t.Err
	}
	return nil, t.Err
}

// EnsureAll calls [Client.Ensure] for each DOI, several at a time, and returns each
// outcome as soon as it is known; Err has the error of that DOI. DOIs that fail with a temporary
// error ([datacite.Temporary]) are tried again in further rounds, after all others; the last error
// also matches [datacite.ErrUnclear] if an earlier try may have had an effect. A DOI that is desired
// twice is an error the second time. Whether the account has a right to a prefix is asked once:
// after a refusal, new DOIs of the prefix are not sent, and have the same error
// ([datacite.ErrForbidden]).
//
// If the service says when it wants the next request ([datacite.Error].RetryAt), all workers wait
// until then.
//
// An error ends the sequence and comes with a nil Outcome: an error of desired or of ctx, a login
// that is not accepted (401), or a service that has turned all requests away and wants none before
// 30 minutes are over; the error says when to come back. DOIs that wait for another try have their outcome before it.
// Leave the loop to stop; run EnsureAll again to continue, which only reads what is as desired.
//
// desired is read one by one, in another goroutine, as workers become free. DOIs that wait for
// another try, and the names of all DOIs, are kept in memory.
func (c *Client) EnsureAll(ctx context.Context, desired iter.Seq2[Desired, error],
	opts *Options) iter.Seq2[*Outcome, error] {
	return func(yield func(*Outcome, error) bool) {
		run := newEnsuring(c, opts)
		err := c.core.Ready(ctx)
		switch {
		case err != nil:
		case desired == nil:
			err = datacite.Invalidf("desired", datacite.CodeMissing, "is nil")
		case min(int64(run.opts.Workers), int64(run.opts.Rounds), int64(run.opts.Pause)) < 0:
			err = datacite.Invalidf("Options", datacite.CodeLimit, "has a negative Workers, Rounds or Pause")
		default:
			run.give = func(t *task) bool { return yield(&t.Outcome, nil) }
			err = run.rounds(ctx, tasksOf(desired))
		}
		if err != nil && !errors.Is(err, bulk.ErrLeft) {
			yield(nil, err)
		}
	}
}

// A task is a DOI on its way to the desired state.
type task struct {
	Outcome
	*request
	sent    error         // of a write whose outcome is unknown
	final   bool          // it was refused before it was sent
	pause   time.Duration // of all workers, which began with the last try
	ends    error         // the run
	created bool          // the DOI was sent to be created, and is not known to have been refused
	planned *comparison   // of which the Draft was made
	half    bool          // of two writes, the first may have arrived, and the second is not known to have
}

// newTask is a task for a Desired, also with an error, which it has.
func newTask(d Desired, number int) (*task, error) {
	t := &task{Outcome: Outcome{Desired: d}}
	t.request, t.Err = newRequest(d, number)
	return t, t.Err
}

// tasksOf are tasks for what is desired. What is faulty, or is desired twice, has its error: two
// workers would undo each other's work.
func tasksOf(desired iter.Seq2[Desired, error]) iter.Seq2[*task, error] {
	return func(yield func(*task, error) bool) {
		seen, n := map[string]bool{}, 0
		for d, err := range desired {
			if err != nil {
				yield(nil, err)
				return
			}
			t, bad := newTask(d, n)
			if bad == nil && seen[t.name] {
				t.Err = datacite.Invalidf(t.path("DOI"), datacite.CodeRepeated, "%q is desired twice", t.name)
			}
			seen[t.name] = true
			if n++; !yield(t, nil) {
				return
			}
		}
	}
}

// An ensuring is one run of Ensure or EnsureAll. Its fields belong to the goroutine that
// ranges over the outcomes.
type ensuring struct {
	client   *Client
	opts     Options
	give     func(*task) bool
	progress EnsureProgress
	begun    int     // rounds
	again    []*task // for the next round
	prefixes prefixes
	hold     hold
}

func newEnsuring(c *Client, opts *Options) *ensuring {
	o := *cmp.Or(opts, &Options{})
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
		if t.Attempts > 0 || t.Err == nil {
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
		case errors.Is(t.Err, datacite.ErrUnauthorized) && !t.final &&
			!(t.Found != nil && errors.Is(t.Err, datacite.ErrNotFound)):
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
	t.Attempts++
	t.Err = call.Ended(ctx)
	if t.Err == nil {
		t.Err = r.ensure(ctx, t)
	}
	if errors.Is(t.Err, datacite.ErrUnclear) {
		t.sent = t.Err
	} else if t.Err != nil && t.sent != nil {
		t.Err = fmt.Errorf("%w, after a write whose outcome is unknown: %w", t.Err, t.sent)
	}
	if t.Err != nil && t.half {
		t.Err = fmt.Errorf("%w: the XML of %s may lack what its JSON does not have, and was not stored again: %w",
			ErrHalfWritten, t.name, t.Err)
	}
	t.Err = r.client.core.Shown(t.Err)
}

// looks is how often a write is followed by a look that shows what became of it.
const looks = 3

func (r *ensuring) ensure(ctx context.Context, t *task) error {
	longer, end := outlasting(ctx)
	defer end()
	var lost error // of the last write: it may have had its effect, or the DOI exists
	for look := 0; ; look++ {
		if t.half {
			ctx = longer
		}
		found, err := r.find(ctx, t, lost)
		if err != nil {
			return err
		}
		if !t.isHalfDone(found) {
			if isDone, err := r.prepare(t, found, lost); isDone || err != nil {
				return err
			}
		}
		after, err := r.write(ctx, longer, t, found)
		switch {
		case err == nil:
			t.Record = after
			return t.check()
		case !errors.Is(err, datacite.ErrUnclear) && !errors.Is(err,
			datacite.ErrConflict), t.final, look == looks, ctx.Err() != nil && !t.half:
			return err
		case errors.Is(err, datacite.ErrUnclear):
			t.sent = err
		}
		lost = err
	}
}

// find looks for the DOI, unless nobody can have it.
func (r *ensuring) find(ctx context.Context, t *task, lost error) (found *dois.Record, err error) {
	if !t.request.New || t.Draft != nil { // of which something may have been sent
		if found, err = r.client.look(ctx, t.name); err != nil {
			return nil, err
		}
	}
	if found == nil && errors.Is(lost, datacite.ErrConflict) {
		return nil, fmt.Errorf("%w: the DOI exists, and the account does not see it, as if it belongs to another account",
			lost)
	}
	if t.Found == nil && !t.created { // made by somebody else, or before
		t.Found = found
	}
	return found, nil
}

// prepare compares, and plans what differs. It reports whether nothing is to be written.
func (r *ensuring) prepare(t *task, found *dois.Record, lost error) (isDone bool, err error) {
	c, err := t.compare(found, r.opts.Adapt)
	if err != nil {
		return false, t.refuse(err)
	}
	if found != nil && len(c.changes) == 0 && !(r.opts.Upgrade && c.isOldSchema) {
		t.Record, t.half = found, false
		return true, nil
	}
	if t.request.New && found != nil && !t.created {
		return false, t.refuse(fmt.Errorf("%w: the name is not new, and the DOI is not as desired", lost))
	}
	if err := t.sameAsAudited(found); err != nil {
		return false, t.refuse(err)
	}
	plan, err := c.plan(r.opts.AllowLoss)
	if t.Changes = c.changes; plan != nil {
		t.Losses = plan.losses
	}
	if err != nil {
		return false, t.refuse(err)
	}
	t.planned, t.Road, t.Draft, t.Then = c, plan.road, plan.draft, plan.then
	return r.opts.DryRun, nil
}

// check compares what the service has after a write.
func (t *task) check() error {
	before, again := t.planned, *t.request
	again.Desired = before.Desired
	c, err := again.compare(t.Record, nil)
	if err != nil {
		return err
	}
	if len(c.changes) > 0 {
		return fmt.Errorf("%w: the service accepted the change, but a difference remains: %s", ErrNotAsDesired, c.changes[0])
	}
	for _, gone := range before.unseen {
		t.Record.Warnings = append(t.Record.Warnings,
			datacite.Finding{Path: gone.Path, Code: datacite.CodeLoss, Warning: true, Value: gone.Found,
				Reason: "was in the stored XML only, which the JSON does not show; the list that was desired took its place"})
	}
	writes := 1
	if t.Then != nil {
		writes = 2
	}
	if before.found != nil && t.Record.MetadataVersion > before.found.MetadataVersion+writes {
		t.Record.Warnings = append(t.Record.Warnings,
			datacite.Finding{Path: "metadataVersion", Code: datacite.CodeConflict, Warning: true,
				Value: fmt.Sprint(t.Record.MetadataVersion),
				Reason: fmt.Sprintf("was %d before the write: somebody else changed the metadata at the same time, and that "+
					"change may be undone", before.found.MetadataVersion)})
	}
	return nil
}

// refuse ends a task before anything is sent.
func (t *task) refuse(err error) error {
	t.final = true
	return err
}

// sameAsAudited is an error if somebody else has changed the DOI since it was audited.
func (t *task) sameAsAudited(now *dois.Record) error {
	if audited := t.request.Audited; audited != nil && !sameRecord(audited, now) {
		return fmt.Errorf("%w: %s has changed since the audit and is still not as desired", datacite.ErrConflict, t.name)
	}
	return nil
}

// sameRecord reports whether two records have the same content; the second may be nil.
func sameRecord(a, b *dois.Record) bool {
	return b != nil && a.URL == b.URL && a.State == b.State &&
		len(metadata.Diff(&a.Record, &b.Record)) == 0 && len(metadata.Diff(&b.Record, &a.Record)) == 0
}

// writeFirst is the one write, or the first of two: from when it is sent, these have the longer context.
func (r *ensuring) writeFirst(ctx, longer context.Context, t *task,
	found *dois.Record) (after *dois.Record, err error) {
	if found == nil {
		settle, refused := r.prefixes.ask(ctx, doi.Prefix(t.name))
		if refused != nil {
			return nil, refused
		}
		defer func() { settle(err) }()
	}
	if r.opts.BeforeWrite != nil {
		if err = r.opts.BeforeWrite(ctx, &t.Outcome); err != nil {
			return nil, t.refuse(err)
		}
	}
	if t.Then != nil {
		if err = call.Ended(ctx); err != nil {
			return nil, err
		}
		ctx = longer
	}
	if found != nil {
		return r.client.dois.Update(ctx, t.name, t.Draft)
	}
	after, err = r.client.dois.Create(ctx, t.Draft)
	t.created = err == nil || errors.Is(err, datacite.ErrUnclear)
	return after, err
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
		case errors.Is(err, dois.ErrForeign), errors.Is(err, datacite.ErrUnauthorized):
			one.refused = err
		case err == nil, ofService:
			one.isOpen = true
		}
		<-one.turn
	}, nil
}

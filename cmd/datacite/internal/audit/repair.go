package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/record"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/reconcile"
)

// An outcome is what became of a difference. It is empty without -fix.
type outcome struct {
	Result string // repaired, failed, left or as wanted
	Error  string
}

const (
	repaired  = "repaired"
	failed    = "failed"
	left      = "left"
	asDesired = "as desired"
)

func outcomeOf(d *reconcile.Difference, o *reconcile.Outcome) outcome {
	switch err := o.Err; {
	case err == nil && o.Draft != nil:
		return outcome{Result: repaired}
	case err == nil && d.Kind == reconcile.KindInvalid && o.Record.Validate() != nil:
		return outcome{left, "the source has the same"}
	case err == nil:
		return outcome{Result: asDesired}
	case errors.Is(err, context.Canceled) && !errors.Is(err, datacite.ErrUnclear):
		return outcome{left, "interrupted"}
	case o.Record == nil && isLeft(err):
		text := strings.TrimPrefix(shell.Message(err), shell.Message(reconcile.ErrNotAsDesired)+": ")
		if d.Kind == reconcile.KindOldSchema {
			text += "; datacite upgrade --missing lists what to fill in"
		}
		return outcome{left, text}
	}
	return outcome{failed, shell.Message(o.Err)}
}

// isLeft reports whether a DOI was left as it is, for a person to decide.
func isLeft(err error) bool {
	return errors.Is(err, reconcile.ErrNotAsDesired) || errors.Is(err, reconcile.ErrLoss) ||
		errors.Is(err, datacite.ErrConflict)
}

// repairable says whether a DOI is in the source, so that it is known how it should be. Of the
// others a person has to decide.
func repairable(d *reconcile.Difference) bool { return d.Desired != nil }

// A repairing is one run. The differences come in another goroutine than the outcomes.
type repairing struct {
	*command
	out    printer
	writes int // how many DOIs there may be, 0 if that is not known

	kept *record.Kept

	mu   sync.Mutex
	open map[string][]*reconcile.Difference // by DOI, until it has an outcome
}

// repair repairs what a new audit finds, so that what has changed meanwhile is seen, and
// prints each result as soon as it is known.
func (c *command) repair(ctx context.Context, writes int, to io.Writer) error {
	r := &repairing{command: c, out: c.printer(c.Format, to, true), writes: writes,
		open: map[string][]*reconcile.Difference{}}
	var err error
	if r.kept, err = record.NewKept(c.Shell, c.Output); err != nil {
		return shell.Wrong(err)
	}
	c.page.Fixed = !c.rehearse
	opts := &reconcile.Options{Adapt: c.adapt, BeforeWrite: r.kept.Keep, Rounds: 1, DryRun: c.rehearse,
		Upgrade: slices.Contains(c.only, string(reconcile.KindOldSchema))}
	for o, err := range c.client.EnsureAll(ctx, reconcile.Corrections(r.differences(ctx)), opts) {
		if err == nil {
			err = r.take(o)
		}
		if err != nil {
			return c.stopped(ctx, errors.Join(err, r.out.End()))
		}
	}
	return r.out.End()
}

// differences are those of DOIs that can be repaired. The others are reported.
func (r *repairing) differences(ctx context.Context) iter.Seq2[*reconcile.Difference, error] {
	return func(yield func(*reconcile.Difference, error) bool) {
		var same []*reconcile.Difference // of one DOI, which follow each other
		flush := func() bool {
			if len(same) == 0 {
				return true
			}
			r.mu.Lock()
			r.open[same[0].DOI] = same
			r.mu.Unlock()
			first := same[0]
			same = nil
			return yield(first, nil)
		}
		for d, err := range r.command.differences(ctx, func(now reconcile.AuditProgress) { r.page.Progress = now }) {
			if err == nil && !repairable(d) {
				err = r.report(d, outcome{Result: left})
				d = nil
			}
			switch {
			case err != nil:
				_ = flush() && yield(nil, err)
				return
			case d == nil:
				continue
			case len(same) > 0 && same[0].DOI != d.DOI && !flush():
				return
			}
			same = append(same, d)
		}
		flush()
	}
}

// take reports an outcome, for each difference of the DOI.
func (r *repairing) take(o *reconcile.Outcome) error {
	key := doi.Key(o.Desired.DOI)
	r.mu.Lock()
	same := r.open[key]
	delete(r.open, key)
	r.mu.Unlock()
	if err := r.kept.Settle(key, o.Err); err != nil {
		return shell.Wrong(err)
	}
	if o.Draft != nil && o.Record != nil {
		table.PrintOfWrite(r.Shell, key, o.Record.Warnings)
	}
	for _, d := range same {
		result := outcomeOf(d, o)
		if r.rehearse && result.Result == repaired {
			result.Result = "planned, " + table.Road(o)
		}
		if err := r.report(d, result); err != nil {
			return err
		}
	}
	return nil
}

func (r *repairing) report(d *reconcile.Difference, o outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.page.add(d, o)
	if r.Quiet && o.Error != "" {
		r.Warn("%s: %s: %s: %s", d.DOI, d.Kind, o.Result, o.Error)
	}
	err := r.print(r.out, d, o)
	r.Progress(r.page.Repaired, r.writes, "DOIs repaired", r.page.rest())
	return err
}

// stopped is the error of a repair that did not come to its end.
func (c *command) stopped(ctx context.Context, err error) error {
	rest := fmt.Sprintf("%s repaired, %s; run the same command again to continue with the rest",
		shell.Count(c.page.Repaired, "DOI"), c.page.rest())
	switch {
	case ctx.Err() != nil:
		return shell.Interrupted("%s", rest)
	case !c.page.Done():
		return err
	}
	return shell.Refused(fmt.Errorf("%w; %s", err, rest))
}

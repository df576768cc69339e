package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/dois"
)

// An outcome is what became of a difference. It is empty without -fix.
type outcome struct {
	Result string // repaired, failed, left or as wanted
	Error  string
}

const (
	repaired = "repaired"
	failed   = "failed"
	left     = "left"
	asWanted = "as wanted"
)

func outcomeOf(r *dois.Repaired) outcome {
	switch {
	case r.Err == nil && r.Changed:
		return outcome{Result: repaired}
	case r.Err == nil:
		return outcome{Result: asWanted}
	case errors.Is(r.Err, context.Canceled) && !errors.Is(r.Err, datacite.ErrUnclear):
		return outcome{left, "interrupted"}
	case !r.Changed && (errors.Is(r.Err, dois.ErrNotAsWanted) || errors.Is(r.Err, datacite.ErrConflict)):
		return outcome{left, strings.TrimPrefix(shell.Message(r.Err), dois.ErrNotAsWanted.Error()+": ")}
	}
	return outcome{failed, shell.Message(r.Err)}
}

// repairable says whether a DOI is in the source, so that it is known how it should be. Of the
// others a person has to decide.
func repairable(d *dois.Difference) bool { return d.Wanted != nil }

// repair repairs what a new audit finds, so that what has changed meanwhile is seen, and
// prints each result as soon as it is known. writes is how many DOIs there may be, 0 if that is
// not known.
func (c *command) repair(ctx context.Context, writes int, to io.Writer) error {
	out := c.printer(c.Format, to, true)
	c.page.Fixed = true
	var one sync.Mutex // Repair finds in one goroutine, and writes in others
	report := func(d *dois.Difference, o outcome) error {
		one.Lock()
		defer one.Unlock()
		c.page.add(d, o)
		if c.Quiet && o.Error != "" {
			c.Warn("%s: %s: %s: %s", d.DOI, d.Kind, o.Result, o.Error)
		}
		err := c.print(out, d, o)
		c.Progress(c.page.Repaired, writes, "DOIs repaired", c.page.rest())
		return err
	}
	found := func(yield func(*dois.Difference, error) bool) {
		for d, err := range c.differences(ctx, func(now dois.AuditProgress) { c.page.Progress = now }) {
			if err == nil && !repairable(d) {
				if err = report(d, outcome{Result: left}); err == nil {
					continue
				}
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
	for r, err := range c.client.Repair(ctx, found, nil) {
		if err == nil {
			table.PrintOfWrite(c.Shell, r.DOI, r.Warnings)
			err = report(r.Difference, outcomeOf(r))
		}
		if err != nil {
			return c.stopped(ctx, errors.Join(err, out.End()))
		}
	}
	return out.End()
}

// stopped is the error of a repair that did not come to its end.
func (c *command) stopped(ctx context.Context, err error) error {
	rest := fmt.Sprintf("%s repaired, %s; run the same command again to continue with the rest", shell.Count(c.page.Repaired, "DOI"), c.page.rest())
	switch {
	case ctx.Err() != nil:
		return shell.Interrupted("%s", rest)
	case !c.page.Done():
		return err
	}
	return shell.Refused(fmt.Errorf("%w; %s", err, rest))
}

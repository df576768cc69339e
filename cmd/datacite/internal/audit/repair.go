package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/program"
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
	case !r.Changed && (errors.Is(r.Err, dois.ErrNoRepair) || errors.Is(r.Err, datacite.ErrConflict)):
		return outcome{left, strings.TrimPrefix(program.Message(r.Err), dois.ErrNoRepair.Error()+": ")}
	}
	return outcome{failed, program.Message(r.Err)}
}

// repairable says whether a DOI is in the source, so that it is known how it should be. Of the
// others a person has to decide.
func repairable(d *dois.Difference) bool { return d.Wanted != nil }

// agreed asks the person at the keyboard.
func (a *auditor) agreed(ctx context.Context, writes int) bool {
	fmt.Fprintf(a.p.Words(), "Write %s? Type yes: ", program.Count(writes, "DOI"))
	typed := make(chan string, 1)
	go func() { // it cannot be called back from reading; an interrupt ends the process
		text, _ := bufio.NewReader(a.p.Stdin).ReadString('\n')
		typed <- text
	}()
	select {
	case text := <-typed:
		return strings.TrimSpace(text) == "yes"
	case <-ctx.Done():
		return false
	}
}

// repair repairs what a new audit finds, so that what has changed meanwhile is seen, and
// tells each result as soon as it is known. writes is how many DOIs there may be, 0 if that is
// not known.
func (a *auditor) repair(ctx context.Context, writes int) error {
	out := formats[a.format](a.p.Results(), true)
	defer a.p.SayDefused(out)
	a.page.Fixed = true
	of := ""
	if writes > 0 {
		of = " of " + program.Number(writes)
	}
	var one sync.Mutex // Repair finds in one goroutine, and writes in others
	tell := func(d *dois.Difference, o outcome) error {
		one.Lock()
		defer one.Unlock()
		a.page.add(d, o)
		if a.p.Quiet() && o.Error != "" {
			a.p.Warn("%s: %s: %s: %s", d.DOI, d.Kind, o.Result, o.Error)
		}
		err := out.print(rows(d, o))
		a.p.Progress("%s%s repaired, %s", program.Number(a.page.Repaired), of, a.page.rest())
		return err
	}
	opts := a.audit
	opts.Progress = func(now dois.AuditProgress) { a.page.Progress = now }
	found := func(yield func(*dois.Difference, error) bool) {
		for d, err := range a.differences(ctx, opts) {
			if err == nil && !repairable(d) {
				if err = tell(d, outcome{Result: left}); err == nil {
					continue
				}
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
	for r, err := range a.client.Repair(ctx, found, nil) {
		if err == nil {
			err = tell(r.Difference, outcomeOf(r))
		}
		if err != nil {
			return a.stopped(ctx, errors.Join(err, out.end()))
		}
	}
	return out.end()
}

// stopped is the error of a repair that did not come to its end.
func (a *auditor) stopped(ctx context.Context, err error) error {
	if !a.page.Done() && ctx.Err() == nil {
		return err
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return program.NotAllDone(fmt.Errorf("%w\n%s repaired, %s; the same call goes on with the rest", err, program.Count(a.page.Repaired, "DOI"), a.page.rest()))
}

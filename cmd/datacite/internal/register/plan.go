package register

import (
	"cmp"
	"context"
	"fmt"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/reconcile"
)

// A plan is what a run would do with a DOI.
type plan struct {
	Road    string   `json:"road,omitempty"`
	Changes []change `json:"changes,omitempty"`
	Losses  []string `json:"losses,omitempty"`

	result string
	failed error
}

// A change is one value that a run would replace.
type change struct {
	Path    string `json:"path"`
	Desired string `json:"desired"`
	Found   string `json:"found"`
}

// plans compares the records that have a DOI with what is stored, by DOI. It returns nil without a login: drafts and
// hidden DOIs would seem to be missing.
func (j *job) plans(ctx context.Context) (map[string]*plan, error) {
	if isAsked, err := j.askPrefixes(ctx); !isAsked {
		return nil, err
	}
	named := func(yield func(*item, error) bool) {
		for it, err := range j.fresh {
			if (err != nil || it.begun) && !yield(it, err) {
				return
			}
		}
	}
	all := map[string]*plan{}
	opts := &reconcile.Options{DryRun: true, Rounds: 1, Adapt: j.adapt, Workers: j.workers, AllowLoss: j.allowLoss}
	for o, err := range j.client.EnsureAll(ctx, j.desired(named), opts) {
		if err != nil {
			return nil, err
		}
		all[doi.Key(o.Desired.DOI)] = j.planOf(o)
		j.Progress(len(all), j.rows, "records compared", "")
	}
	return all, nil
}

func (j *job) planOf(o *reconcile.Outcome) *plan {
	p := &plan{failed: o.Err}
	if o.Err == nil {
		p.result, p.Road = j.count(o), table.Road(o)
	} else {
		j.fail(o.Err)
	}
	for _, c := range o.Changes {
		if o.Found != nil {
			p.Changes = append(p.Changes, change{c.Path, c.Desired, c.Found})
		}
	}
	for _, f := range o.Losses {
		f.Warning = false // where it is printed, it is called one
		p.Losses = append(p.Losses, f.String())
	}
	return p
}

// rehearse says what a run would do with each record.
func (j *job) rehearse(ctx context.Context) error {
	var plans map[string]*plan
	var err error
	if j.faulty == 0 {
		plans, err = j.plans(ctx)
	}
	if err != nil {
		return err
	}
	for r, err := range j.read(false) {
		if err != nil {
			return shell.Wrong(err)
		}
		known := j.results.of(r)
		p := plans[doi.Key(known.DOI)]
		if p == nil && known.DOI == "" && r.Err() == nil {
			j.created++
		}
		j.print(r, known, p)
		if j.isSingle && !j.JSON {
			return j.show(r)
		}
	}
	left := j.rows - j.faulty - j.earlier
	switch {
	case j.JSON:
	case plans == nil:
		j.Answer(nil, "%s: %s without faults, %s of them written already, %s to write at %s; nothing was sent",
			j.source.name(), shell.Count(j.rows-j.faulty, "record"), shell.Number(j.earlier), shell.Number(left), j.service)
	default:
		others := ""
		if n := left - j.right() - j.failed; n > 0 {
			others = ", " + shell.Number(n) + " in formats that are not compared"
		}
		j.Answer(nil, "%s: dry run of %s at %s: %s%s; nothing was sent", j.source.name(), shell.Count(j.rows, "record"),
			j.service, j.counts, others)
	}
	return nil
}

// print prints a plan, for people if there is one.
func (j *job) print(r *row, known entry, p *plan) {
	o := outcome{DOI: known.DOI, URL: r.URL, State: string(j.stateOf(r, nil)), Result: "checked", Place: r.place(),
		Service: j.service.Host, plan: p}
	switch {
	case r.Err() != nil:
		o.Result, o.Error = "failed", faults(r)
	case p != nil && p.failed != nil:
		o.Result, o.Error = "failed", shell.Message(p.failed)
	}
	switch {
	case j.JSON:
		j.Answer(o, "")
	case p == nil:
	case p.failed != nil:
		j.Warn("%s: %s", o.Place, o.Error)
	case p.Road != "":
		j.Answer(nil, "%s: %s would be %s, %s", o.Place, o.DOI, p.result, p.Road)
		for _, c := range p.Changes {
			j.Answer(nil, "  %s: %s → %s", c.Path, shell.Quoted(c.Found), shell.Quoted(c.Desired))
		}
		for _, loss := range p.Losses {
			j.Warn("warning: %s: %s", o.Place, loss)
		}
	}
}

// show shows a single record as it would be written.
func (j *job) show(r *row) error {
	data, err := r.metadata()
	if err != nil {
		return shell.Wrong(fmt.Errorf("%s: %w", r.place(), err))
	}
	j.Answer(nil, "%s would become %s at %s, and lead to %s, with these metadata; nothing was sent",
		cmp.Or(r.DOI, "A new DOI"), j.stateOf(r, nil), j.service, r.URL)
	_, err = j.Data().Write(data)
	return err
}

// rehearsed is the error of a dry run that found records that a run would refuse.
func (j *job) rehearsed() error {
	if j.failed == 0 {
		return nil
	}
	return shell.Refused(fmt.Errorf("%s of %s would fail; nothing was sent", shell.Number(j.failed),
		shell.Count(j.rows, "record")))
}

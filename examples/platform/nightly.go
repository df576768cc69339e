package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reports"
)

// nightly sends the usage report of the month that is over, and compares the
// service's records with the repository's, once a day until the context is done.
func (p *Platform) nightly(ctx context.Context) {
	for ctx.Err() == nil {
		if err := p.reportLastMonth(ctx, time.Now()); err != nil && ctx.Err() == nil {
			p.log.Error("usage report", "error", err) // tomorrow it goes on from there
		}
		if err := p.check(ctx); err != nil && ctx.Err() == nil {
			p.log.Error("check", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(24 * time.Hour):
		}
	}
}

// reportLastMonth sends the report of the month before now, unless all of it was sent: a
// report from before the month was over is replaced.
func (p *Platform) reportLastMonth(ctx context.Context, now time.Time) error {
	now = now.UTC()
	first := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	sent, err := p.store.reports(ctx)
	if err != nil || slices.ContainsFunc(sent, func(r Report) bool { return r.Complete && r.Month == first.Format("2006-01") }) {
		return err
	}
	return p.report(ctx, first, now)
}

// report sends the usage of a month. Sending it again replaces what is there only if
// it has changed.
func (p *Platform) report(ctx context.Context, month, now time.Time) error {
	rows := p.usage(ctx, month)
	used := false
	for _, err := range rows {
		if err != nil {
			return err
		}
		used = true
		break
	}
	if !used {
		return nil // nothing was counted, and a report without datasets is refused
	}
	header := reports.Header{
		ReportName: "Dataset Report", ReportID: "dsr", Release: reports.ReleaseRD1,
		CreatedBy: p.config.Name, Created: reports.Day(now),
		ReportingPeriod: reports.Month(month.Year(), month.Month()),
	}
	receipt, err := p.reports.Submit(ctx, header, reports.Group(rows, nil), nil)
	if err != nil {
		return err
	}
	return p.store.reported(ctx, Report{
		Month: month.Format("2006-01"), ID: receipt.ReportID, Datasets: receipt.Datasets, Complete: !now.Before(month.AddDate(0, 1, 0)),
	})
}

// check compares what the service has under the prefix with the repository's own
// datasets. What differs goes into the outbox; what the repository does not know is
// for a person to look at.
func (p *Platform) check(ctx context.Context) error {
	ours, err := p.store.datasets(ctx, `WHERE d.state <> 'draft' OR d.claimed`)
	if err != nil {
		return err
	}
	missing := make(map[string]*Dataset, len(ours))
	for _, d := range ours {
		missing[doi.Key(d.DOI)] = d
	}
	var findings []string
	states := []dois.State{dois.StateDraft, dois.StateRegistered, dois.StateFindable}
	for r, err := range p.dois.All(ctx, &dois.ListOptions{Prefix: p.config.Prefix, States: states}) {
		if err != nil {
			return err
		}
		d := missing[doi.Key(r.DOI)]
		delete(missing, doi.Key(r.DOI))
		if d == nil {
			findings = append(findings, r.DOI+" is registered and belongs to no dataset")
		} else if why := p.differs(d, r); why != "" {
			findings, err = p.confirm(ctx, d, findings)
		}
		if err != nil {
			return err
		}
	}
	for _, d := range missing {
		if findings, err = p.confirm(ctx, d, findings); err != nil {
			return err
		}
	}
	return p.store.checked(ctx, time.Now(), findings)
}

// confirm looks at a record alone, since lists lag behind what was written.
func (p *Platform) confirm(ctx context.Context, d *Dataset, findings []string) ([]string, error) {
	if d.Pending || d.State == Draft {
		return findings, nil // on its way
	}
	why := "is not registered"
	r, err := p.dois.Get(ctx, d.DOI, nil)
	switch {
	case err == nil:
		why = p.differs(d, r)
	case !errors.Is(err, datacite.ErrNotFound):
		return findings, err
	}
	if why == "" {
		return findings, nil
	}
	return append(findings, d.DOI+" "+why+"; it is sent again"), p.store.again(ctx, d.ID)
}

// differs says in which way a record is not as it should be. The outbox compares the
// rest of the metadata before it writes.
func (p *Platform) differs(d *Dataset, r *dois.Record) string {
	state := map[State]dois.State{Published: dois.StateFindable, Withdrawn: dois.StateRegistered}[d.State]
	switch {
	case r.State != state:
		return fmt.Sprintf("is %s, not %s", r.State, state)
	case r.URL != p.config.Public+d.Path():
		return "leads to " + r.URL
	case len(r.Titles) == 0 || r.Titles[0].Title != d.Title:
		return "has another title"
	case string(r.Version) != fmt.Sprint(d.Version):
		return "has the metadata of another version"
	}
	return ""
}

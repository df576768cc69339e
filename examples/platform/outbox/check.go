package outbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
	"github.com/datacite-go/datacite-go/reconcile"
)

// Check compares what the service has under the prefix with the repository's own
// datasets. What differs goes into the outbox; what the repository does not know is for
// a person to look at. It also notes the usage that the service shows.
func (o *Outbox) Check(ctx context.Context) error {
	public, err := o.Store.AllPublic(ctx)
	if err != nil {
		return err
	}
	owners := map[string]*dataset.Dataset{}
	sent := false // whether the service must have something
	for _, d := range public {
		sent = sent || !d.Pending
		for _, w := range d.Wanted(o.By) {
			owners[doi.Key(w.DOI)] = d
		}
	}
	if err := o.display(ctx, owners); err != nil {
		return err
	}
	findings, err := o.differences(ctx, public, owners, sent)
	if err != nil {
		return err
	}
	o.Log.Info("records compared", "dois", len(owners), "findings", len(findings))
	return o.Store.Checked(ctx, time.Now(), findings)
}

func (o *Outbox) differences(ctx context.Context, public []*dataset.Dataset, owners map[string]*dataset.Dataset, sent bool) (findings []store.Finding, err error) {
	opts := &reconcile.AuditOptions{Prefix: []string{o.Prefix}, AllowEmpty: !sent, Kinds: []reconcile.DifferenceKind{reconcile.KindMissing, reconcile.KindExtra, reconcile.KindChanged}}
	wanted := func(yield func(reconcile.Desired, error) bool) {
		for _, d := range public {
			for _, w := range d.Wanted(o.By) {
				if !yield(w, nil) {
					return
				}
			}
		}
	}
	for difference, err := range o.Records.Audit(ctx, wanted, opts) {
		if err != nil {
			return nil, err
		}
		d := owners[doi.Key(difference.DOI)]
		if d == nil {
			findings = append(findings, lost(difference.Found))
			continue
		}
		now, err := o.Store.Dataset(ctx, d.ID)
		if err != nil {
			return nil, err
		}
		if d.Pending || now.Pending || now.Revision != d.Revision {
			continue // on its way
		}
		findings = append(findings, store.Finding{Text: words(difference) + "; it is sent again"})
		if err := o.Store.Again(ctx, d.ID); err != nil {
			return nil, err
		}
		o.Wake()
	}
	return findings, nil
}

// lost is the finding of an unknown DOI, such as one that was registered after the backup that
// was restored.
func lost(r *dois.Record) store.Finding {
	f := store.Finding{Text: r.DOI + " is registered and belongs to no public dataset"}
	switch r.State {
	case datacite.StateFindable:
		f.DOI = r.DOI
	case datacite.StateRegistered:
		f.Text += "; searches do not find it"
	}
	return f
}

// Hide hides a DOI of no public dataset from searches.
func (o *Outbox) Hide(ctx context.Context, name string) error {
	_, findings, err := o.Store.Findings(ctx)
	if err != nil {
		return err
	}
	if name == "" || !slices.ContainsFunc(findings, func(f store.Finding) bool { return f.DOI == name }) {
		return store.ErrNotFound
	}
	if _, err := o.DOIs.ChangeState(ctx, name, dois.EventHide, nil); err != nil {
		return err
	}
	return o.Check(ctx)
}

// words say how a DOI differs, in one line.
func words(difference *reconcile.Difference) string {
	if difference.Kind == reconcile.KindMissing {
		return difference.DOI + " is not registered"
	}
	var changes []string
	for _, c := range difference.Changes {
		changes = append(changes, c.String())
	}
	return difference.DOI + ": " + strings.Join(changes, "; ")
}

// display stores the usage counts that the records of our DOIs show.
func (o *Outbox) display(ctx context.Context, owners map[string]*dataset.Dataset) error {
	counts := map[string]store.Used{}
	opts := &dois.ListOptions{Prefix: []string{o.Prefix}, Fields: []string{"doi", "viewCount", "downloadCount"}}
	for r, err := range o.DOIs.All(ctx, opts) {
		if err != nil {
			return err
		}
		if owners[doi.Key(r.DOI)] != nil {
			counts[r.DOI] = store.Used{Views: int64(r.ViewCount), Downloads: int64(r.DownloadCount)}
		}
	}
	return o.Store.Display(ctx, counts)
}

// Package outbox registers and updates the DOIs of the repository at DataCite, and compares
// both once a day.
package outbox

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/store"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reconcile"
)

// An Outbox registers what changed.
type Outbox struct {
	Store   *store.Store
	MDS     *mds.Client
	DOIs    *dois.Client
	Records *reconcile.Client
	By      dataset.Repository
	Prefix  string        // of new DOIs
	Retry   time.Duration // until the next try, doubled each time
	Log     *slog.Logger

	wake chan struct{}
}

// New returns an outbox with these settings.
func New(o Outbox) *Outbox {
	o.wake = make(chan struct{}, 1)
	return &o
}

// Wake makes Deliver look at the outbox.
func (o *Outbox) Wake() {
	select {
	case o.wake <- struct{}{}:
	default: // it is awake
	}
}

// Deliver works until the context is done. A dataset is put into the outbox by the transaction
// that changes it, so a killed process loses nothing: the next one repeats what may have been
// done, and all requests have the same effect when they are repeated.
func (o *Outbox) Deliver(ctx context.Context) {
	for ctx.Err() == nil {
		datasets, next, err := o.Store.Due(ctx)
		if err != nil && ctx.Err() == nil {
			o.Log.Error("outbox", "error", err)
			next = time.Now().Add(time.Second)
		}
		for _, d := range datasets {
			if err := o.settle(ctx, d); err != nil && ctx.Err() == nil {
				o.Log.Error("outbox", "doi", d.DOI, "error", err)
			}
		}
		if len(datasets) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-o.wake:
		case <-time.After(time.Until(next)):
		}
	}
}

// settle registers a dataset, or records why that failed.
func (o *Outbox) settle(ctx context.Context, d *dataset.Dataset) error {
	err := o.tell(ctx, d)
	switch {
	case ctx.Err() != nil:
		return nil // the next run goes on
	case err == nil:
		message := map[bool]string{true: "registered", false: "reserved"}[len(d.Public()) > 0]
		o.Log.Info(message, "dataset", d.ID, "doi", d.DOI, "versions", len(d.Public()))
		return o.Store.Settled(ctx, d)
	case datacite.Temporary(err):
		pause := o.pause(d, err)
		o.Log.Warn("not registered yet", "dataset", d.ID, "doi", d.DOI, "tries", d.Tries+1, "again", pause, "error", err)
		return o.Store.Failed(ctx, d, err.Error(), time.Now().Add(pause))
	}
	// A person has to look; changing the dataset puts it to the front again.
	o.Log.Error("not registered", "dataset", d.ID, "doi", d.DOI, "tries", d.Tries+1, "error", err)
	return o.Store.Failed(ctx, d, err.Error(), time.Now().Add(store.LongestPause))
}

// pause is how long until the next try: twice as long as the one before, and longer if the
// service asks for that.
func (o *Outbox) pause(d *dataset.Dataset, err error) time.Duration {
	pause := min(o.Retry<<min(d.Tries, 10), time.Hour)
	if e, ok := errors.AsType[*datacite.Error](err); ok {
		pause = max(pause, time.Until(e.RetryAt))
	}
	return min(pause, store.LongestPause)
}

// tell brings the records of all versions and of the concept DOI to their wanted state, since a new
// version changes the relations of others. Nothing is sent of a draft, but its DOI is checked to be free, since
// curators copy it into their articles.
func (o *Outbox) tell(ctx context.Context, d *dataset.Dataset) error {
	if err := o.claim(ctx, &d.DOI, &d.Claimed); err != nil {
		return err
	}
	for _, v := range d.Versions {
		if err := o.claim(ctx, &v.DOI, &v.Claimed); err != nil {
			return err
		}
	}
	for _, w := range d.Wanted(o.By) {
		if _, err := o.Records.Ensure(ctx, w, nil); err != nil {
			return err
		}
	}
	return nil
}

// claim reserves a DOI before anything is sent under it. A DOI that exists at the service belongs
// to somebody else, and is replaced. Once a DOI is claimed, its record is ours.
func (o *Outbox) claim(ctx context.Context, name *string, claimed *bool) error {
	for !*claimed {
		state, err := o.MDS.State(ctx, *name)
		if err != nil {
			return err
		}
		if state != mds.StateNone {
			*name, err = o.Store.Rename(ctx, *name, o.Prefix)
		} else {
			err = o.Store.Claim(ctx, *name)
			*claimed = err == nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

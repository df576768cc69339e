package main

import (
	"context"
	"fmt"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
)

// deliver works on the outbox until the context is done. A dataset is in it from
// the same transaction on that changed it, so a process that dies loses nothing: the
// next one does again what may have been done, and doing it twice has the effect of
// doing it once.
func (p *Platform) deliver(ctx context.Context) {
	for ctx.Err() == nil {
		datasets, next, err := p.store.due(ctx)
		if err != nil {
			p.log.Error("outbox", "error", err)
			next = time.Now().Add(time.Second)
		}
		for _, d := range datasets {
			if err := p.settle(ctx, d); err != nil {
				p.log.Error("outbox", "doi", d.DOI, "error", err)
			}
		}
		if len(datasets) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-p.wake:
		case <-time.After(time.Until(next)):
		}
	}
}

// settle makes the service agree with a dataset, or notes why it does not.
func (p *Platform) settle(ctx context.Context, d *Dataset) error {
	err := p.tell(ctx, d)
	switch {
	case ctx.Err() != nil:
		return nil // the next run goes on
	case err == nil:
		return p.store.settled(ctx, d)
	case datacite.Temporary(err):
		pause := min(p.config.Retry<<min(d.Tries, 10), time.Hour)
		return p.store.failed(ctx, d, err.Error(), time.Now().Add(pause))
	}
	// A person has to look; editing the dataset puts it to the front again.
	return p.store.failed(ctx, d, err.Error(), time.Now().AddDate(0, 0, 1))
}

func (p *Platform) tell(ctx context.Context, d *Dataset) error {
	if err := p.claim(ctx, d); err != nil {
		return err
	}
	doc, err := mds.NewDocument(d.Record(p.config.Name))
	if err != nil {
		return err
	}
	// The store's own reading spoils characters beyond ASCII, so what is there is read
	// through the other interface before anything is written again.
	if _, err := p.mds.Ensure(ctx, d.DOI, p.config.Public+d.Path(), doc, &mds.EnsureOptions{Stored: p.dois.XML}); err != nil {
		return err
	}
	if d.State == Withdrawn {
		return p.mds.Hide(ctx, d.DOI)
	}
	return p.show(ctx, d)
}

// show makes sure that the DOI can be found before the dataset says so.
func (p *Platform) show(ctx context.Context, d *Dataset) error {
	r, err := p.dois.Get(ctx, d.DOI, nil)
	if err != nil || r.State == dois.StateFindable {
		return err
	}
	if err := p.mds.Show(ctx, d.DOI); err != nil { // somebody has hidden it
		return err
	}
	if r, err = p.dois.Get(ctx, d.DOI, nil); err == nil && r.State != dois.StateFindable {
		err = fmt.Errorf("%s is %s", d.DOI, r.State)
	}
	return err
}

// claim makes sure that the name is the dataset's before anything is sent under it: a
// name that the service knows already is somebody else's, and another one is chosen.
// Once it is claimed, whatever is there is ours.
func (p *Platform) claim(ctx context.Context, d *Dataset) error {
	for !d.Claimed {
		state, err := p.mds.State(ctx, d.DOI)
		if err != nil {
			return err
		}
		if state != mds.StateNone {
			err = p.store.rename(ctx, d, p.config.Prefix)
		} else {
			err = p.store.claim(ctx, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package reconcile

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// ErrHalfWritten: of the two writes of [RoadBoth], the first has arrived or may have, and the second
// is not known to have arrived. The JSON is as desired, but the stored XML may be what the service wrote from it.
// Outcome.Then has the document: send it with [dois.Client.Update]. A later run of Ensure would see no difference.
var ErrHalfWritten = transport.NewError("reconcile: half written")

// lasting is how much longer than the context of the call the two writes of RoadBoth may take.
const lasting = time.Minute

// outlasting returns a context that ends one minute after another one.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lasting, cancel) })
	return longer, func() { stop(); cancel() }
}

// isHalfDone reports whether the first of two writes has arrived: it changes the XML, or has nothing left to change.
func (t *task) isHalfDone(found *dois.Record) bool {
	if !t.half || found == nil {
		return false
	}
	before := t.planned.found
	if before == nil || !bytes.Equal(found.MetadataXML, before.MetadataXML) {
		return true
	}
	now := &comparison{request: t.request, Desired: t.planned.Desired, found: found}
	now.compareAttributes()
	return len(now.changes) == 0 && !slices.ContainsFunc(t.Draft.Clear, func(name string) bool {
		_, isMetadata := properties[name]
		return isMetadata && !isEmpty(field(&found.Record, name))
	})
}

// write creates a DOI that was not found, and updates one that was. The longer context is for two writes.
func (r *ensuring) write(ctx, longer context.Context, t *task, found *dois.Record) (*dois.Record, error) {
	var warnings []datacite.Finding
	switch isHalfDone := t.isHalfDone(found); {
	case isHalfDone && bytes.Equal(found.MetadataXML, t.Then.MetadataXML):
		t.half = false
		return found, nil
	case !isHalfDone:
		after, err := r.writeFirst(ctx, longer, t, found)
		if t.half = t.Then != nil && (err == nil || errors.Is(err, datacite.ErrUnclear)); err != nil || t.Then == nil {
			return after, err
		}
		warnings = after.Warnings
	}
	after, err := r.client.dois.Update(longer, t.name, t.Then)
	if t.half = err != nil; err != nil {
		return nil, err
	}
	after.Warnings = append(warnings, after.Warnings...)
	return after, nil
}

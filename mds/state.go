package mds

import (
	"context"
	"errors"
	"net/http"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A State is what a DOI can be (specification §3.1). The package documentation
// shows which call leads from one to another.
type State string

// The states of a DOI.
const (
	StateDraft      State = "draft"      // metadata are stored, nothing is public, the DOI can be deleted
	StateRegistered State = "registered" // the DOI resolves and is not found by searching
	StateFindable   State = "findable"   // the DOI resolves and is found by searching
)

// What this interface shows of a state.
const (
	StateNone   State = ""       // the service does not know the DOI
	StatePublic State = "public" // registered or findable: the DOI has a URL, and the interface does not tell the two apart
)

// State returns what the interface lets a client know of a DOI's state: [StateNone],
// [StateDraft] or [StatePublic]. A draft that was given a URL through another
// interface counts as StatePublic.
//
// State sends GET /doi/{doi} (specification §4.3).
func (c *Client) State(ctx context.Context, doiName string) (State, error) {
	name, err := readable(doiName)
	if err != nil {
		return StateNone, err
	}
	state, _, err := c.look(ctx, "mds.State", name)
	return state, err
}

// look asks for a DOI's URL, from which follows what can be known of its state.
func (c *Client) look(ctx context.Context, op, name string) (State, string, error) {
	address, err := c.url(ctx, op, name, http.StatusNotFound)
	switch {
	case errors.Is(err, datacite.ErrNotFound):
		return StateNone, "", nil
	case errors.Is(err, ErrNoURL):
		return StateDraft, "", nil
	case err != nil:
		return StateNone, "", err
	}
	return StatePublic, address, nil
}

// Hide takes a findable DOI out of the search index. The DOI goes on resolving,
// and its state becomes [StateRegistered]; [Client.Show] makes it findable again. In
// the other states nothing changes. Sending it twice has the same effect as
// once.
//
// Hide sends GET /doi/{doi}, and DELETE /metadata/{doi} (specification §3.1,
// §4.3). It looks first because the deployed service makes a draft of a DOI that
// it does not know when it is told to hide it. Such a DOI is [datacite.ErrNotFound].
func (c *Client) Hide(ctx context.Context, doiName string) error {
	const op = "mds.Hide"
	name, err := c.writable(doiName)
	if err != nil {
		return err
	}
	if _, err := c.url(ctx, op, name, 0); err != nil && !errors.Is(err, ErrNoURL) {
		return err
	}
	return c.delete(ctx, transport.Request{Op: op, Method: "DELETE", Path: "/metadata/" + doi.Store.Path(name)})
}

// Show makes a registered DOI findable again, by storing its metadata once more,
// or its URL if the service shows the metadata garbled ([ErrGarbled]); if it does
// both, that is the error, and nothing was written. A draft is [ErrNoURL]:
// [Client.PutURL] makes it findable. Nothing else may change the DOI meanwhile.
//
// Show sends GET /doi/{doi}, GET /metadata/{doi} and PUT /metadata/{doi}
// (specification §3.1, §4.3), or PUT /doi/{doi}, which has the same effect on the
// deployed service.
func (c *Client) Show(ctx context.Context, doiName string) error {
	const op = "mds.Show"
	name, err := c.writable(doiName)
	if err != nil {
		return err
	}
	address, err := c.url(ctx, op, name, 0)
	if err != nil {
		return err
	}
	doc, err := c.metadata(ctx, op, name)
	switch {
	case err != nil:
		return err
	case !garbled(doc.Data):
		_, err = c.putMetadata(ctx, op, name, XML(doc.Data))
	case !garbled(address):
		_, err = c.putURL(ctx, name, address)
	default:
		err = garbledError(op, name)
	}
	return err
}

// DeleteDraft removes a draft for good. Only drafts can be deleted
// ([datacite.ErrNotAllowed]).
//
// DeleteDraft sends DELETE /doi/{doi} (specification §3.1, §4.3). When it had to
// be sent again and the service then does not know the DOI, the first one did
// its work.
func (c *Client) DeleteDraft(ctx context.Context, doiName string) error {
	name, err := c.writable(doiName)
	if err != nil {
		return err
	}
	err = c.delete(ctx, transport.Request{Op: "mds.DeleteDraft", Method: "DELETE", Path: "/doi/" + doi.Store.Path(name)})
	if e, ok := errors.AsType[*datacite.Error](err); ok && e.StatusCode == http.StatusNotFound && e.Unclear {
		return nil
	}
	return err
}

// delete sends a request that takes something away, and reads the service's word.
func (c *Client) delete(ctx context.Context, r transport.Request) error {
	res, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	_, err = c.accepted(r, res)
	return err
}

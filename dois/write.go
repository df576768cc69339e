package dois

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/params"
	"github.com/datacite-go/datacite-go/internal/transport"
)

const writeType = "application/vnd.api+json"

// Create makes a new DOI: the one that draft names, or one under its prefix.
//
// A second request would make a second DOI, or an error about the first, so it is
// sent again only when no connection could be made. After a lost answer, or a 429
// or 503, which a gateway may give while the service goes on with the work, the
// error matches [datacite.ErrUnclear]. Before you call again, look: with [Client.Get] for
// the DOI that draft names, and if the service was to choose one, with
// [Client.List] for the latest DOIs of the prefix (ListOptions.Prefix, and for
// Sort query.ByCreated.Desc()). Lists lag behind by seconds or minutes.
//
// Create sends POST /dois, which specification §4.2 mentions without showing it;
// the shapes are the deployed service's.
func (c *Client) Create(ctx context.Context, draft *Draft) (*Record, error) {
	d, err := draft.checked()
	if err != nil {
		return nil, err
	}
	body, err := d.body()
	if err != nil {
		return nil, err
	}
	return c.doRecord(ctx, transport.Request{
		Op: "dois.Create", Method: "POST", Path: "/dois", Query: d.answer(), ContentType: writeType, Body: bytes.NewReader(body),
		Access: transport.Required, Replay: transport.IfUnsent,
	})
}

// Update changes a DOI: what draft has replaces what is stored, property by
// property. Sending it twice has the same effect as once. If the DOI does not
// exist, the deployed service makes it; [Client.Exists] tells beforehand.
//
// Update sends PUT /dois/{doi}, which specification §4.2 mentions without showing
// it; the shapes are the deployed service's.
func (c *Client) Update(ctx context.Context, doiName string, draft *Draft) (*Record, error) {
	return c.update(ctx, "dois.Update", doiName, draft)
}

func (c *Client) update(ctx context.Context, op, doiName string, draft *Draft) (*Record, error) {
	name, err := writable(doiName)
	if err != nil {
		return nil, err
	}
	if err := draft.checkName(name); err != nil {
		return nil, err
	}
	d := *draft
	if len(d.MetadataXML) > 0 {
		d.DOI = name // that of the path does not count for XML
	}
	body, err := d.body()
	if err != nil {
		return nil, err
	}
	return c.doRecord(ctx, transport.Request{
		Op: op, Method: "PUT", Path: "/dois/" + doi.API.Path(name), Query: draft.answer(), ContentType: writeType, Body: bytes.NewReader(body),
		Access: transport.Required,
	})
}

// answer is the flags of a write, which change the body of the answer only
// (specification §4.2).
func (d *Draft) answer() string {
	if d.Answer == nil {
		return params.Encode((&GetOptions{Affiliation: true, Publisher: true}).values())
	}
	return params.Encode(d.Answer.values())
}

// Publish makes a DOI findable. The DOI must have a URL and complete metadata;
// what is missing is in the Details of the [*datacite.Error].
//
// Publish, Register and Hide look at the DOI first and then send PUT /dois/{doi}
// with an event. The service would ignore an event that the state of the DOI does
// not allow, and make a DOI that it does not know; here that is [datacite.ErrNotAllowed]
// and [datacite.ErrNotFound]. A DOI that is in the state already is left alone.
func (c *Client) Publish(ctx context.Context, doiName string) (*Record, error) {
	return c.event(ctx, "dois.Publish", doiName, &Draft{Event: Publish}, StateFindable, StateDraft, StateRegistered)
}

// Register makes a draft a registered DOI: it resolves and is not found by
// searching. It needs what [Client.Publish] needs.
func (c *Client) Register(ctx context.Context, doiName string) (*Record, error) {
	return c.event(ctx, "dois.Register", doiName, &Draft{Event: Register}, StateRegistered, StateDraft)
}

// Hide takes a findable DOI out of the search index. It goes on resolving, and
// [Client.Publish] makes it findable again. The reason is shown in
// Record.Reason; "" gives none.
func (c *Client) Hide(ctx context.Context, doiName, reason string) (*Record, error) {
	return c.event(ctx, "dois.Hide", doiName, &Draft{Event: Hide, Reason: reason}, StateRegistered, StateFindable)
}

// event takes a DOI from one of the states to another.
func (c *Client) event(ctx context.Context, op, doiName string, draft *Draft, to State, from ...State) (*Record, error) {
	found, err := c.Get(ctx, doiName, &GetOptions{Affiliation: true, Publisher: true})
	if err != nil {
		return nil, err
	}
	if found.State == to {
		return found, nil
	}
	if !slices.Contains(from, found.State) {
		return nil, notAllowed(op, found, to)
	}
	changed, err := c.update(ctx, op, found.DOI, draft)
	if err == nil && changed.State != to {
		return nil, notAllowed(op, changed, to)
	}
	return changed, err
}

func notAllowed(op string, r *Record, to State) error {
	return fmt.Errorf("%s: %w: %s is %s and cannot become %s", op, datacite.ErrNotAllowed, r.DOI, r.State, to)
}

// Delete removes a draft for good. Other DOIs cannot be deleted
// ([datacite.ErrNotAllowed]).
//
// Delete sends DELETE /dois/{doi}. When it had to be sent again and the service
// then does not know the DOI, the first one did its work.
func (c *Client) Delete(ctx context.Context, doiName string) error {
	name, err := writable(doiName)
	if err != nil {
		return err
	}
	_, err = c.core.Do(ctx, transport.Request{
		Op: "dois.Delete", Method: "DELETE", Path: "/dois/" + doi.API.Path(name), Accept: transport.JSONType, Access: transport.Required,
	})
	if e, ok := errors.AsType[*datacite.Error](err); ok && e.StatusCode == http.StatusNotFound && e.Unclear {
		return nil
	}
	return err
}

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

// EventOptions are the optional settings of [Client.ChangeState].
type EventOptions struct {
	Reason string // shown in Record.Reason, such as why a DOI is hidden
}

// ChangeState takes a DOI to another state:
//
//   - [Publish] makes a draft or a registered DOI findable,
//   - [Register] makes a draft registered: it resolves, and searching does not find it,
//   - [Hide] makes a findable DOI registered. Publish reverses it.
//
// Publish and Register need a URL and complete metadata; what is missing is in the
// Details of the [*datacite.Error]. A DOI that is in the new state already is left as it
// is. An event that the state does not allow is [datacite.ErrNotAllowed], and an unknown DOI
// [datacite.ErrNotFound]. The service itself would ignore the event, or create the DOI, so
// the record is read first.
//
// ChangeState sends GET and PUT /dois/{doi}. nil options mean the defaults.
func (c *Client) ChangeState(ctx context.Context, doiName string, event Event, opts *EventOptions) (*Record, error) {
	change, known := transitions[event]
	if !known {
		return nil, &datacite.FieldError{Path: "event", Reason: event.fault()}
	}
	const op = "dois.ChangeState"
	found, err := c.Get(ctx, doiName, &GetOptions{Affiliation: true, Publisher: true})
	if err != nil {
		return nil, err
	}
	if found.State == change.to {
		return found, nil
	}
	if !slices.Contains(change.from, found.State) {
		return nil, notAllowed(op, found, change.to)
	}
	draft := &Draft{Event: event}
	if opts != nil {
		draft.Reason = opts.Reason
	}
	changed, err := c.update(ctx, op, found.DOI, draft)
	if err == nil && changed.State != change.to {
		return nil, notAllowed(op, changed, change.to)
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

package mds

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A State is the state of a DOI (specification §3.1). The package documentation shows
// which call leads from one to another.
type State string

// The states. The metadata store itself does not distinguish registered DOIs from findable
// ones.
const (
	StateNone                 State = ""           // the service does not know the DOI
	StateDraft                State = "draft"      // not public, can be deleted
	StateRegistered           State = "registered" // hidden: resolves, but is not found by searching
	StateFindable             State = "findable"   // resolves and is found by searching
	StateRegisteredOrFindable State = "registered or findable"
)

// State returns [StateNone], [StateDraft] or [StateRegisteredOrFindable]. A draft whose URL
// was set through another interface is reported as the latter. Get of package dois
// distinguishes registered from findable.
//
// State sends GET /doi/{doi} (specification §4.3).
func (c *Client) State(ctx context.Context, doiName string) (State, error) {
	name, err := doi.Store.Readable(doiName)
	if err != nil {
		return StateNone, err
	}
	state, _, err := c.look(ctx, "mds.State", name)
	return state, err
}

// look asks for a DOI's URL, which shows its state.
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
	return StateRegisteredOrFindable, address, nil
}

// A view is what the DOI API shows of a DOI, beyond what the store shows.
type view struct {
	state State  // StateRegisteredOrFindable if the API does not show the DOI
	xml   []byte // its metadata, without the store's garbling; nil if they are not shown
}

// view asks the DOI API. It tells registered from findable, and a draft that was given a URL
// through another interface from both.
func (c *Client) view(ctx context.Context, op, name string) (view, error) {
	none := view{state: StateRegisteredOrFindable}
	if c.records == nil || doi.API.Check(name) != nil {
		return none, nil
	}
	request := transport.Request{
		Op: op, Method: "GET", Path: "/dois/" + doi.API.Path(name), Query: "detail=true", Accept: transport.JSONType,
		Access: transport.Required, Long: true, Expected: http.StatusNotFound,
	}
	res, err := c.records.Do(ctx, request)
	if errors.Is(err, datacite.ErrNotFound) {
		return none, nil
	}
	if err != nil {
		return view{}, err
	}
	var record struct {
		Data struct {
			Attributes struct {
				State State
				XML   json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(res.Data, &record); err != nil {
		return view{}, c.records.Unreadable(request, res, err)
	}
	switch a := record.Data.Attributes; a.State {
	case StateDraft, StateRegistered, StateFindable:
		var xml []byte
		_ = json.Unmarshal(a.XML, &xml) // nil if it is not base64
		return view{a.State, xml}, nil
	}
	return none, nil
}

package mds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
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
	case transport.NotFound(err):
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
	id     string // the DOI of the record
	state  State  // StateRegisteredOrFindable if the API does not show the DOI
	xml    []byte // its metadata, without the store's replacements; nil if they are not shown
	reason string // why it is or was hidden
}

// view asks the DOI API. It tells registered from findable, and a draft that was given a URL
// through another interface from both.
func (c *Client) view(ctx context.Context, op, name string) (view, error) {
	none := view{state: StateRegisteredOrFindable}
	if c.records == nil || doi.API.Check(name) != nil {
		return none, nil
	}
	var shown view
	_, err := c.records.Do(ctx, transport.Request{
		Op: op, Method: "GET", Path: "/dois/" + doi.API.Path(name), Query: "detail=true", Accept: transport.JSONType,
		Access: transport.Required, Expected: http.StatusNotFound,
		Read: func(d *jsonlex.Decoder) error {
			shown = view{}
			viewJSON.Read(d, &shown)
			if err := d.Err(); err != nil || doi.Equal(shown.id, name) {
				return err
			}
			return fmt.Errorf("it is not the record of %q", name)
		},
	})
	if transport.NotFound(err) {
		return none, nil
	}
	if err != nil {
		return view{}, err
	}
	switch shown.state {
	case StateDraft, StateRegistered, StateFindable:
		return shown, nil
	}
	return none, nil
}

// viewJSON reads what is needed of a record, and drops the rest as it comes in.
var viewJSON = jsonlex.NewObject(jsonlex.Field("data", jsonlex.NewObject(
	jsonlex.Field("id", func(d *jsonlex.Decoder, v *view) { v.id = d.Text() }),
	jsonlex.Field("attributes", jsonlex.NewObject(
		jsonlex.Field("state", func(d *jsonlex.Decoder, v *view) { v.state = State(d.Word()) }),
		jsonlex.Field("reason", func(d *jsonlex.Decoder, v *view) { v.reason = d.Text() }),
		jsonlex.Field("xml", func(d *jsonlex.Decoder, v *view) { v.xml = readXML(d) }),
	).Read),
).Read))

// readXML reads metadata in base64; nil for anything else.
func readXML(d *jsonlex.Decoder) []byte {
	if d.Kind() != '"' {
		d.Skip()
		return nil
	}
	encoded := d.Lexer.Base64()
	data, err := io.ReadAll(io.LimitReader(encoded, transport.MaxDocument))
	if bad := encoded.Drain(); err != nil || bad != nil || encoded.Size() > int64(len(data)) {
		return nil
	}
	return data
}

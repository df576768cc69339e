package mds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// What the metadata store shows of a state beside [datacite.StateDraft]: it does not distinguish
// registered DOIs from findable ones. The package documentation shows which call leads from one
// state to another.
const (
	StateNone                 datacite.State = "" // the service does not know the DOI
	StateRegisteredOrFindable datacite.State = "registered or findable"
)

// State returns [StateNone], [datacite.StateDraft] or [StateRegisteredOrFindable]. A draft whose URL
// was set through another interface is reported as the latter. Get of package dois
// distinguishes registered from findable.
//
// State sends GET /doi/{doi} (specification §4.3).
func (c *Client) State(ctx context.Context, doiName string) (datacite.State, error) {
	name, err := doi.Store.Readable(doiName)
	if err != nil {
		return StateNone, err
	}
	state, _, err := c.look(ctx, "mds.State", name)
	return state, err
}

// look asks for a DOI's URL, which shows its state.
func (c *Client) look(ctx context.Context, op, name string) (datacite.State, string, error) {
	address, err := c.url(ctx, op, name, http.StatusNotFound)
	switch {
	case transport.NotFound(err):
		return StateNone, "", nil
	case errors.Is(err, ErrNoURL):
		return datacite.StateDraft, "", nil
	case err != nil:
		return StateNone, "", err
	}
	return StateRegisteredOrFindable, address, nil
}

// A view is what the DOI API shows of a DOI, beyond what the store shows.
type view struct {
	id     string         // the DOI of the record
	state  datacite.State // StateRegisteredOrFindable if the API does not show the DOI
	xml    []byte         // its metadata, without the store's replacements; nil if they are not shown
	reason string         // why it is or was hidden
	owner  string         // the account
}

// view asks the DOI API. It tells registered from findable, and a draft that was given a URL
// through another interface from both.
func (c *Client) view(ctx context.Context, op, name string) (view, error) {
	none := view{state: StateRegisteredOrFindable}
	if c.records == nil || doi.API.Check(name) != nil {
		return none, nil
	}
	shown, err := c.record(ctx, op, name, "detail=true")
	if transport.NotFound(err) {
		return none, nil
	}
	if err != nil {
		return view{}, err
	}
	switch shown.state {
	case datacite.StateDraft, datacite.StateRegistered, datacite.StateFindable:
		return shown, nil
	}
	return none, nil
}

func (c *Client) record(ctx context.Context, op, name, query string) (shown view, err error) {
	_, err = c.records.Do(ctx, transport.Request{
		Op: op, Method: "GET", Path: "/dois/" + doi.API.Path(name), Query: query, Accept: transport.JSONType,
		Access: transport.Required, Expected: http.StatusNotFound,
		Read: func(d *jsonlex.Decoder) error {
			d.Tolerate(true) // the texts of the record are not read
			var now view
			viewJSON.Read(d, &now)
			shown = now
			if d.Err() != nil || doi.Equal(shown.id, name) {
				return nil
			}
			return fmt.Errorf("it is not the record of %q", name)
		},
	})
	return shown, err
}

// viewJSON reads what is needed of a record, and drops the rest as it comes in.
var viewJSON = jsonlex.NewObject(jsonlex.Field("data", jsonlex.NewObject(
	jsonlex.Field("id", func(d *jsonlex.Decoder, v *view) { v.id = d.Text() }),
	jsonlex.Field("attributes", jsonlex.NewObject(
		jsonlex.Field("state", func(d *jsonlex.Decoder, v *view) { v.state = datacite.State(d.Word()) }),
		jsonlex.Field("reason", func(d *jsonlex.Decoder, v *view) { v.reason = d.Text() }),
		jsonlex.Field("xml", func(d *jsonlex.Decoder, v *view) { v.xml = readXML(d) }),
	).Read),
	jsonlex.Field("relationships", jsonlex.NewObject(jsonlex.Field("client",
		jsonlex.NewObject(jsonlex.Field("data", jsonlex.NewObject(
			jsonlex.Field("id", func(d *jsonlex.Decoder, v *view) { v.owner = d.Text() }),
		).Read)).Read)).Read),
).Read))

// readXML reads metadata in base64; nil for anything else.
func readXML(d *jsonlex.Decoder) []byte {
	if d.Kind() != '"' {
		d.Skip()
		return nil
	}
	encoded := d.Lexer.Base64()
	data, _ := transport.ReadAll(io.LimitReader(encoded, transport.MaxDocument)) // Drain has the error
	if encoded.Drain() != nil || encoded.Size() > int64(len(data)) {
		return nil
	}
	return data
}

// Hide takes a findable DOI out of the search index: it becomes registered and still
// resolves. [Client.Show] makes it findable again. In the other states nothing
// changes. Sending it twice has the same effect as once.
//
// Hide sends GET /doi/{doi}, and DELETE /metadata/{doi} (specification §3.1, §4.3). It
// reads the DOI first, because the deployed service creates a draft when it is asked to
// hide an unknown DOI. An unknown DOI is [datacite.ErrNotFound].
func (c *Client) Hide(ctx context.Context, doiName string) error {
	const op = "mds.Hide"
	name, err := doi.Store.Writable(doiName)
	if err != nil {
		return err
	}
	if _, err := c.url(ctx, op, name, 0); err != nil && !errors.Is(err, ErrNoURL) {
		return err
	}
	return c.delete(ctx, op, name, "/metadata/"+doi.Store.Path(name))
}

// Show makes a registered DOI findable again. It stores the DOI's metadata again, or its
// URL if the metadata come back with replaced characters. If both do, Show writes nothing
// and returns [ErrReplacedCharacters]. A draft is [ErrNoURL]: [Client.PutURL] makes it findable.
// Nobody else may change the DOI at the same time. Show keeps a stored reason for hiding;
// ChangeState of package dois removes it.
//
// Show sends GET /doi/{doi}, GET /metadata/{doi} and PUT /metadata/{doi}
// (specification §3.1, §4.3), or PUT /doi/{doi}, which has the same effect on the
// deployed service.
func (c *Client) Show(ctx context.Context, doiName string) error {
	const op = "mds.Show"
	name, err := doi.Store.Writable(doiName)
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
	case !hasReplaced(doc.Data):
		again := XML(doc.Data)
		again.AllowOtherDOI = true // they are what is stored for this one
		_, err = c.putMetadata(ctx, op, name, again)
	case !hasReplaced(address):
		_, err = c.putURL(ctx, name, address)
	default:
		err = replacedError(op, name)
	}
	return c.core.Shown(err) // it may quote what is stored
}

// DeleteDraft removes a draft for good. Only drafts can be deleted
// ([datacite.ErrNotAllowed]).
//
// DeleteDraft sends DELETE /doi/{doi} (specification §3.1, §4.3). If a retry finds that the
// DOI no longer exists, the earlier request removed it, and the error is nil.
func (c *Client) DeleteDraft(ctx context.Context, doiName string) error {
	name, err := doi.Store.Writable(doiName)
	if err != nil {
		return err
	}
	err = c.delete(ctx, "mds.DeleteDraft", name, "/doi/"+doi.Store.Path(name))
	if transport.NotFound(err) && errors.Is(err, datacite.ErrUnclear) {
		return nil
	}
	return err
}

// delete sends DELETE and reads the service's short text.
func (c *Client) delete(ctx context.Context, op, name, path string) error {
	request := transport.Request{Op: op, Method: "DELETE", Path: path}
	res, err := c.write(ctx, name, request)
	if err != nil {
		return err
	}
	_, err = c.accepted(request, res)
	return err
}

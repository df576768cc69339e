package dois

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/mds/metadata"
)

// An Event changes the state of a DOI. The service ignores one that is not
// possible in the present state.
type Event string

// The events.
const (
	Publish  Event = "publish"  // to findable
	Register Event = "register" // from draft to registered
	Hide     Event = "hide"     // from findable to registered
)

// A Draft is what [Client.Create] and [Client.Update] send. Fields that are zero
// are not sent, and an update leaves them as they are. A list that is empty and
// not nil clears its property; for other properties there is Clear.
type Draft struct {
	DOI    string // the name to register; or:
	Prefix string // for Create: let the service choose a suffix under this prefix
	URL    string // needed before a DOI can be registered or findable
	Event  Event  // "" leaves the state as it is; a new DOI becomes a draft

	metadata.Record          // the metadata; its own DOI is not sent
	MetadataXML     []byte   // metadata XML in place of the record; single properties of the record win over it
	Clear           []string // attributes to remove, such as "version"
	ClientID        string   // the repository account, if the credentials do not tell
}

func (d *Draft) body() ([]byte, error) {
	record := d.Record
	record.DOI = ""
	data, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	attributes := map[string]any{}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	for name, value := range members {
		attributes[name] = value
	}
	maps.DeleteFunc(attributes, func(name string, _ any) bool { return name == "doi" })
	for name, value := range map[string]string{
		"doi": d.DOI, "prefix": d.Prefix, "url": d.URL, "event": string(d.Event), "xml": base64.StdEncoding.EncodeToString(d.MetadataXML),
	} {
		if value != "" {
			attributes[name] = value
		}
	}
	for _, name := range d.Clear {
		attributes[name] = nil
	}
	resource := map[string]any{"type": "dois", "attributes": attributes}
	if d.ClientID != "" {
		resource["relationships"] = map[string]any{
			"client": map[string]any{"data": map[string]string{"type": "clients", "id": d.ClientID}},
		}
	}
	return json.Marshal(map[string]any{"data": resource})
}

// Create makes a new DOI: the one that draft names, or one under its prefix. It
// is sent again only when it surely did not arrive, since a second DOI, or an
// error about the first, would come of it.
//
// Create sends POST /dois, which the specification mentions without showing it;
// the shapes are the deployed service's.
func (c *Client) Create(ctx context.Context, draft *Draft) (*Record, error) {
	d := *draft
	switch {
	case d.DOI == "" && d.Prefix == "":
		return nil, &FieldError{Path: "Draft", Reason: "has neither DOI nor Prefix"}
	case d.DOI != "" && d.Prefix != "":
		return nil, &FieldError{Path: "Draft", Reason: "has both DOI and Prefix; give one"}
	case d.Prefix != "":
		if err := doi.CheckPrefix(d.Prefix); err != nil {
			return nil, nameError("Draft.Prefix", err)
		}
	default:
		name, err := parseName("Draft.DOI", d.DOI)
		if err != nil {
			return nil, err
		}
		if err := doi.CheckNew(name); err != nil {
			return nil, nameError("Draft.DOI", err)
		}
		d.DOI = name
	}
	body, err := d.body()
	if err != nil {
		return nil, err
	}
	return c.one(ctx, transport.Request{
		Op: "dois.Create", Method: "POST", Path: "/dois", ContentType: "application/vnd.api+json", Body: body,
		Access: transport.Required, Replay: transport.IfUnsent,
	})
}

// Update changes an existing DOI, or makes it if there is none: what draft has
// replaces what is stored, property by property. Sending it twice has the same
// effect as once.
//
// Update sends PUT /dois/{doi}, which the specification mentions without showing
// it; the shapes are the deployed service's.
func (c *Client) Update(ctx context.Context, doiName string, draft *Draft) (*Record, error) {
	name, err := parseName("doi", doiName)
	if err != nil {
		return nil, err
	}
	if draft.DOI != "" && !doi.Equal(draft.DOI, name) || draft.Prefix != "" {
		return nil, &FieldError{Path: "Draft", Reason: "names another DOI than the one to update, or a prefix"}
	}
	body, err := draft.body()
	if err != nil {
		return nil, err
	}
	return c.one(ctx, transport.Request{
		Op: "dois.Update", Method: "PUT", Path: "/dois/" + doi.Path(name), ContentType: "application/vnd.api+json", Body: body,
		Access: transport.Required,
	})
}

// Delete removes a draft for good. Other DOIs cannot be deleted
// ([ErrNotAllowed]).
//
// Delete sends DELETE /dois/{doi}. When it had to be sent again and the service
// then does not know the DOI, the first one did its work.
func (c *Client) Delete(ctx context.Context, doiName string) error {
	name, err := parseName("doi", doiName)
	if err != nil {
		return err
	}
	_, err = c.core.Do(ctx, transport.Request{
		Op: "dois.Delete", Method: "DELETE", Path: "/dois/" + doi.Path(name), Access: transport.Required,
	})
	err = wrap(err)
	if e, ok := errors.AsType[*Error](err); ok && e.StatusCode == http.StatusNotFound && e.Unclear {
		return nil
	}
	return err
}

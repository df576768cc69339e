package dois

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/metadata"
)

const writeType = "application/vnd.api+json"

// Create creates a DOI: the one that draft names, or one under its prefix.
//
// It is sent again only if no connection was made, because a second request could create a second
// DOI. If the error matches [datacite.ErrUnclear], look before you call Create again: with
// [Client.Get] or, if the service was to choose the name, with [Client.List] for the latest DOIs
// of the prefix (Sort: query.ByCreated.Desc()), where they appear after seconds or minutes.
//
// Create sends POST /dois, of which specification §4.2 has no details.
func (c *Client) Create(ctx context.Context, draft *Draft) (*Record, error) {
	d, err := draft.checked()
	if err != nil {
		return nil, err
	}
	body, err := d.body(true)
	if err != nil {
		return nil, err
	}
	return d.warned(c.write(ctx, d.DOI, body, transport.Request{
		Op: "dois.Create", Method: "POST", Path: "/dois", Query: d.flags(), Replay: transport.IfUnsent,
	}))
}

// Update changes a DOI: each property in draft replaces the stored one. Sending it twice
// has the same effect as once. If the DOI does not exist, the deployed service creates
// it; check with [Client.Exists].
//
// Update sends PUT /dois/{doi}, of which specification §4.2 has no details.
func (c *Client) Update(ctx context.Context, doiName string, draft *Draft) (*Record, error) {
	return c.update(ctx, "dois.Update", doiName, draft)
}

func (c *Client) update(ctx context.Context, op, doiName string, draft *Draft) (*Record, error) {
	name, err := doi.API.Writable(doiName)
	if err != nil {
		return nil, err
	}
	if err := draft.check(); err != nil {
		return nil, err
	}
	if draft.Prefix != "" {
		return nil, datacite.Invalidf("Draft.Prefix", datacite.CodeConflict, "is for Create; an update has a DOI")
	}
	if err := draft.checkName(name); err != nil {
		return nil, err
	}
	d := *draft
	if _, given := d.Extra["reason"]; d.Event == EventPublish && d.Reason == "" && !given &&
		!slices.Contains(d.Clear, "reason") {
		d.Clear = append(slices.Clone(d.Clear), "reason")
	}
	if len(d.MetadataXML) > 0 {
		d.DOI = name // for XML, the service ignores the name in the path
	}
	body, err := d.body(false)
	if err != nil {
		return nil, err
	}
	return d.warned(c.write(ctx, name, body, transport.Request{
		Op: op, Method: "PUT", Path: "/dois/" + doi.API.Path(name), Query: draft.flags(),
	}))
}

// compressedFrom is the size in bytes from which on bodies are sent compressed: the gateway before the service takes
// 10 MB of what is sent, and the service unpacks them.
const compressedFrom = 1 << 20

// write sends a POST or a PUT with a body in JSON.
func (c *Client) write(ctx context.Context, name string, body []byte, r transport.Request) (*Record, error) {
	r.ContentType, r.Access = writeType, transport.Required
	if len(body) >= compressedFrom {
		var err error
		if body, err = gzipbody.Compress(body); err != nil {
			return nil, err
		}
		r.ContentEncoding = "gzip"
	}
	r.Body = bytes.NewReader(body)
	return c.doRecord(ctx, name, r)
}

// flags are the parameters of a write. They change only the response (specification §4.2).
func (d *Draft) flags() string {
	return cmp.Or(d.Response, &GetOptions{}).query()
}

// EventOptions are the optional settings of [Client.ChangeState].
type EventOptions struct {
	Reason string // shown in Record.Reason, such as why a DOI is hidden; "" removes that of an earlier change
}

// ChangeState changes the state of a DOI by an [Event]. EventPublish and EventRegister need a URL and
// complete metadata; the Details of the [*datacite.Error] name missing values.
//
// A DOI that already has the new state is left unchanged, except for its Reason: a new one is
// stored, and EventPublish removes an old one. An event that the state does not allow is
// [datacite.ErrNotAllowed], and an unknown DOI [datacite.ErrNotFound]: the service would ignore the
// event, or create the DOI, so the record is read first.
//
// ChangeState sends GET and PUT /dois/{doi}.
func (c *Client) ChangeState(ctx context.Context, doiName string, event Event,
	opts *EventOptions) (_ *Record, err error) {
	defer func() { err = c.core.Shown(err) }()
	if err := event.check("event"); err != nil {
		return nil, err
	}
	change := transitions[event]
	const op = "dois.ChangeState"
	if _, err := doi.API.Writable(doiName); err != nil {
		return nil, err
	}
	found, err := c.Get(ctx, doiName, nil)
	if err != nil {
		return nil, err
	}
	draft := &Draft{}
	if opts != nil {
		draft.Reason = opts.Reason
	}
	switch there := found.State == change.to; {
	case there && (found.Reason == draft.Reason || draft.Reason == "" && event != EventPublish):
		return found, nil
	case !there && !slices.Contains(change.from, found.State):
		return nil, notAllowed(op, found, change.to)
	case !there:
		draft.Event = event
	}
	if draft.Reason == "" && found.Reason != "" {
		draft.Clear = []string{"reason"}
	}
	changed, err := c.update(ctx, op, doiName, draft)
	if err == nil && changed.State != change.to {
		return nil, notAllowed(op, changed, change.to)
	}
	return changed, err
}

func notAllowed(op string, r *Record, to datacite.State) error {
	return fmt.Errorf("%s: %w: %s is %.100s and cannot become %s", op, datacite.ErrNotAllowed, r.DOI, r.State, to)
}

// Delete removes a draft permanently. Other DOIs cannot be deleted
// ([datacite.ErrNotAllowed]).
//
// Delete sends DELETE /dois/{doi}. If a retry finds that the DOI no longer exists, the
// earlier request removed it, and Delete returns nil.
func (c *Client) Delete(ctx context.Context, doiName string) error {
	name, err := doi.API.Writable(doiName)
	if err != nil {
		return err
	}
	request := transport.Request{
		Op: "dois.Delete", Method: "DELETE", Path: "/dois/" + doi.API.Path(name), Accept: transport.JSONType,
		Access: transport.Required,
	}
	res, err := c.core.Do(ctx, request)
	switch {
	case transport.NotFound(err) && errors.Is(err, datacite.ErrUnclear):
		return nil
	case err == nil && res.StatusCode != http.StatusNoContent:
		return c.core.Unreadable(request, res, errors.New("the service deletes with status 204"))
	}
	return err
}

const maxWarnings = 100

// warned adds what is known to be wrong with the metadata of a draft to the response.
func (d *Draft) warned(r *Record, err error) (*Record, error) {
	if err == nil {
		found := slices.Concat(r.Warnings, d.findings(), d.Record.OwnNames(r.DOI, r.URL), d.rewritten(r))
		if inXML, bad := metadata.ParseXML(bytes.NewReader(d.MetadataXML)); bad == nil { // without XML, it is bad
			found = append(found, inXML.OwnNames(r.DOI, r.URL)...)
		}
		if d.ClientID != "" && r.Client != "" && !strings.EqualFold(d.ClientID, r.Client) {
			stays := datacite.Finding{Path: "ClientID", Code: datacite.CodeAccount, Value: d.ClientID, Warning: true,
				Reason: fmt.Sprintf("the DOI stays with %.100q: the service ignores the account of an update; Transfer moves a DOI",
					r.Client)}
			found = slices.Insert(found, 0, stays)
		}
		r.Warnings = first(found)
	}
	return r, err
}

// first are the findings that are kept.
func first(found []datacite.Finding) []datacite.Finding {
	return slices.Clip(found[:min(len(found), maxWarnings)])
}

// notMetadata are attributes after which the service does not write the XML anew.
var notMetadata = strings.Fields("doi prefix url event reason xml source")

// writesMetadata reports whether the service writes XML from its JSON.
func (d *Draft) writesMetadata() bool {
	attributes, _ := d.attributes() // body has returned the error
	for name := range attributes {
		if !slices.Contains(notMetadata, name) {
			return true
		}
	}
	return false
}

// rewritten finds what the service damaged in the XML of a record outside the properties that
// were sent: it writes the XML from its JSON, in which texts that came as XML are escaped, and
// leaves some values out.
func (d *Draft) rewritten(r *Record) []datacite.Finding {
	if len(r.MetadataXML) == 0 || !d.writesMetadata() {
		return nil
	}
	attributes, _ := d.attributes()
	var found []datacite.Finding
	for _, f := range metadata.Unescape(r.Record.Clone(), nil) {
		name := property(f.Path)
		if _, sent := attributes[name]; !sent {
			f.Code, f.Reason = datacite.CodeEscaped, "the service wrote this into the XML, where it may have been without "+
				"references; it writes the XML anew from its JSON, unless a draft has "+name+
				", as that of Record.Draft; send "+name+" as it is meant"
			found = append(found, f)
		}
	}
	for _, f := range r.Findings() {
		if _, sent := attributes[property(f.Path)]; f.Code == datacite.CodeNotInXML && !sent {
			found = append(found, f)
		}
	}
	return found
}

// findings are those of the metadata that are sent. What is not sent is not missing: an
// update leaves it as it is.
func (d *Draft) findings() []datacite.Finding {
	sent := members(&d.Record)
	ofRecord := slices.DeleteFunc(d.Record.Findings(), func(f datacite.Finding) bool {
		return f.Code == datacite.CodeMissing && !taken(sent, property(f.Path))
	})
	if len(d.MetadataXML) == 0 {
		return ofRecord
	}
	inXML, _ := metadata.FindingsXML(bytes.NewReader(d.MetadataXML)) // the error is that of a reader
	return append(ofRecord, slices.DeleteFunc(inXML, func(f datacite.Finding) bool {
		return f.Code == datacite.CodeIdentifier || taken(sent, property(f.Path)) // the record overrides it
	})...)
}

// checkJSON refuses what the service takes as XML only.
func (d *Draft) checkJSON() error {
	for _, f := range d.Record.Findings() {
		if f.Code == datacite.CodeJSON {
			f.Path, f.Reason, f.Warning = "Draft."+f.Path, f.Reason+"; package mds sends XML", false
			return datacite.Invalid(f)
		}
	}
	return nil
}

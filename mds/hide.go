package mds

import (
	"context"
	"errors"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

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
		again.OtherDOI = true // they are what is stored for this one
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

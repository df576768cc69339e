package mds

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Mint stores metadata under a new DOI of a prefix, a draft, and returns its
// name. The suffix is random, with check digits (as package doi makes them). The identifier in
// the metadata is overwritten. [Client.PutURL] makes the DOI findable.
//
// One call never makes two DOIs: Mint chooses the name before it sends anything,
// makes sure that the service does not know it, and a request for that name may
// be repeated. When it is not clear whether the last one was carried out, Mint
// looks for the name; if the name is not there yet, or Mint cannot look, the
// error matches [datacite.ErrUnclear] and the name is returned too, as it may exist:
// [Client.PutMetadata] for that name finishes the work, and calling Mint again
// would make another DOI.
//
// Mint sends GET /doi/{doi} and PUT /metadata/{doi} (specification §4.3).
func (c *Client) Mint(ctx context.Context, prefix string, doc Document) (string, error) {
	const op = "mds.Mint"
	if err := checkPrefix(prefix, doc); err != nil {
		return "", err
	}
	name, err := c.freeName(ctx, op, prefix)
	if err != nil {
		return "", err
	}
	_, err = c.putMetadata(ctx, op, name, doc)
	if err == nil {
		return name, nil
	}
	if !errors.Is(err, datacite.ErrUnclear) {
		return "", err
	}
	if state, _, lost := c.look(ctx, op, name); lost == nil && state == StateDraft {
		return name, nil // nobody else knows the name
	}
	return name, err
}

// freeName draws names under a prefix until the service does not know one.
func (c *Client) freeName(ctx context.Context, op, prefix string) (string, error) {
	const draws = 5 // the second is needed once in a billion times, so this many mean a fault
	for range draws {
		name := prefix + "/" + doi.NewSuffix()
		state, _, err := c.look(ctx, op, name)
		switch {
		case err != nil:
			return "", err
		case state == StateNone:
			return name, nil
		}
	}
	return "", fmt.Errorf("%s: %w: the service knows %d random names under %s", op, datacite.ErrUnreadable, draws, prefix)
}

// MintOnServer is Mint with a suffix that the service chooses.
//
// Each request makes another DOI, so it is sent again only when no connection
// could be made. After a lost answer, or a 429 or 503, which a gateway may give
// while the service goes on with the work, the error matches [datacite.ErrUnclear]: a
// draft may exist whose name is not known. Before you call again, list the drafts
// of the prefix with package dois (ListOptions.Prefix, States, and for Sort
// query.ByCreated.Desc()); lists lag behind by seconds or minutes. And the
// deployed service does not make sure that the name is new. That is why
// [Client.Mint] works differently.
//
// MintOnServer sends PUT /metadata/{prefix} (specification §4.3).
func (c *Client) MintOnServer(ctx context.Context, prefix string, doc Document) (string, error) {
	if err := checkPrefix(prefix, doc); err != nil {
		return "", err
	}
	request := transport.Request{
		Op: "mds.MintOnServer", Method: "PUT", Path: "/metadata/" + prefix,
		ContentType: doc.ContentType, Body: bytes.NewReader(doc.Data), Replay: transport.IfUnsent,
	}
	res, err := c.do(ctx, request)
	if err != nil {
		return "", explainRefusal(err, doc)
	}
	name, ok := storedName(res)
	switch {
	case !ok:
		err = errors.New("it does not name the new DOI")
	case doi.Prefix(name) != prefix:
		err = fmt.Errorf("the new DOI %s does not have the prefix %s: %w", name, prefix, errOtherDOI)
	default:
		return name, nil
	}
	return "", c.core.Unreadable(request, res, err)
}

func checkPrefix(prefix string, doc Document) error {
	if err := doi.CheckPrefix(prefix); err != nil {
		return doi.At("prefix", err)
	}
	return doc.check()
}

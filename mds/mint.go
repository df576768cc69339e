package mds

import (
	"context"
	"errors"
	"fmt"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
)

// Mint stores metadata under a new DOI of a prefix, a draft, and returns its name. The
// suffix is random, with check digits (see New of package doi). The identifier in
// the metadata is overwritten. [Client.PutURL] makes the DOI findable.
//
// One call never makes two DOIs: Mint chooses the name before it writes, checks that the
// service does not know it, and can then safely repeat the request. If the outcome of the
// last attempt is unknown, Mint looks the name up. If it is not found, or the lookup fails,
// the error matches [datacite.ErrUnclear] and the name is returned with it, as the draft
// may exist. Then call [Client.PutMetadata] with this name; another call of Mint would make
// another DOI.
//
// The service itself can choose a name: send PUT /metadata/{prefix} with [Client.Do]. It
// does not check whether the name exists, and after a lost response a draft with an unknown
// name may remain.
//
// Mint sends GET /doi/{doi} and PUT /metadata/{doi} (specification §4.3).
func (c *Client) Mint(ctx context.Context, prefix string, doc Document) (string, error) {
	const op = "mds.Mint"
	if err := doi.CheckPrefix(prefix); err != nil {
		return "", doi.At("prefix", err)
	}
	if err := doc.check(); err != nil {
		return "", err
	}
	name, err := c.freeName(ctx, op, prefix)
	if err != nil {
		return "", err
	}
	doc.OtherDOI = true // whatever they name, the name is new
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
		name := doi.New(prefix)
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

package mds

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
)

// CheckAccess returns nil if the client's account may register DOIs under a prefix
// with URLs like the one given. It writes nothing. The error is
// [datacite.ErrUnauthorized] for a wrong login, and [datacite.ErrForbidden],
// [datacite.ErrBadRequest] or [datacite.ErrInvalid] for a prefix or domain that is not
// the account's.
//
// Reading does not test a login: the deployed service lets anybody read much. So
// CheckAccess asks to register a random name of the prefix, which has no metadata. The
// service checks the login, the prefix and the domain, and then refuses
// (specification §7, 412). The deployed one refuses before it checks the domain, so a
// wrong domain is not found, and the address may be "". Of a service that checks the
// domain, "" tests whether https://example.org/ may be registered.
//
// CheckAccess sends PUT /doi/{doi}.
func (c *Client) CheckAccess(ctx context.Context, prefix, address string) error {
	if err := doi.CheckPrefix(prefix); err != nil {
		return doi.At("prefix", err)
	}
	address = cmp.Or(address, "https://example.org/")
	if err := checkAddress(address); err != nil {
		return err
	}
	name := doi.New(prefix)
	_, err := c.putURL(ctx, name, address)
	switch {
	case errors.Is(err, ErrMetadataMissing):
		return nil
	case err == nil:
		return fmt.Errorf("mds.CheckAccess: %w: it registered %s, which has no metadata", datacite.ErrUnreadable, name)
	}
	return err
}

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
// Reading does not test a login, because the deployed service permits many reads without
// one. CheckAccess therefore tries to set the URL of a random name of the prefix, which has
// no metadata. The service checks the login, the prefix and the domain, and then refuses
// (specification §7, 412). The deployed service refuses before it checks the domain, so a
// wrong domain is not detected. The address "" means https://example.org/, for services
// that do not check the domain.
//
// CheckAccess sends PUT /doi/{doi}. After a 403 it asks the DOI API whether that is final, as all
// methods do (see the page of the package).
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

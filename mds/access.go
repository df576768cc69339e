package mds

import (
	"context"
	"errors"
	"fmt"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
)

// CheckAccess says whether the client's account may register DOIs under a prefix
// with URLs like the one given, without writing anything. It returns nil if it
// may; otherwise [datacite.ErrUnauthorized] for a login that is not accepted or an account
// that the service does not know, and [datacite.ErrForbidden], [datacite.ErrBadRequest] or
// [datacite.ErrInvalid] for a prefix or domain that is not the account's.
//
// Reading cannot tell: the deployed service answers many reads to anybody. So
// CheckAccess asks to register a random name of the prefix that has no metadata.
// The service checks the login, the prefix and the domain, and then refuses, as
// specification §7 (412) says it must. The deployed one refuses before it looks at
// the domain, so that a wrong domain does not show.
//
// CheckAccess sends PUT /doi/{doi}.
func (c *Client) CheckAccess(ctx context.Context, prefix, address string) error {
	if err := doi.CheckPrefix(prefix); err != nil {
		return doi.At("prefix", err)
	}
	if err := checkAddress(address); err != nil {
		return err
	}
	name := prefix + "/" + doi.NewSuffix()
	_, err := c.putURL(ctx, name, address)
	switch {
	case errors.Is(err, ErrMetadataMissing):
		return nil
	case err == nil:
		return fmt.Errorf("mds.CheckAccess: %w: it registered %s, which has no metadata", datacite.ErrUnreadable, name)
	}
	return err
}

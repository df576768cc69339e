package mds

import (
	"context"
	"errors"
	"net/http"

	"github.com/datacite-go/datacite-go"
)

// A State is what this interface shows of the state of a DOI (specification §3.1). The
// package documentation shows which call leads from one to another.
type State string

// The states. StateFindable is that of a registration that has just been written: by
// reading, this interface does not tell registered DOIs from findable ones.
const (
	StateNone                 State = ""      // the service does not know the DOI
	StateDraft                State = "draft" // has metadata and no URL, is not public, can be deleted
	StateRegisteredOrFindable State = "registered or findable"
	StateFindable             State = "findable" // resolves and is found by searching
)

// State returns [StateNone], [StateDraft] or [StateRegisteredOrFindable]. A draft that
// was given a URL through another interface counts as the latter. Get of package dois
// tells registered from findable.
//
// State sends GET /doi/{doi} (specification §4.3).
func (c *Client) State(ctx context.Context, doiName string) (State, error) {
	name, err := readable(doiName)
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
	case errors.Is(err, datacite.ErrNotFound):
		return StateNone, "", nil
	case errors.Is(err, ErrNoURL):
		return StateDraft, "", nil
	case err != nil:
		return StateNone, "", err
	}
	return StateRegisteredOrFindable, address, nil
}

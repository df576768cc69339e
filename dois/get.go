package dois

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/params"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// GetOptions choose the shape of a record on the wire. A [Record] holds what
// each shape says; identifiers of affiliations and publishers are there only
// when asked for.
type GetOptions struct {
	Affiliation bool // affiliations with their identifiers
	Publisher   bool // publisher with its identifier
	Detail      bool // the attributes of specification §2.2 that a list leaves out; the deployed service always sends them here
}

func (o *GetOptions) values() url.Values {
	if o == nil {
		o = &GetOptions{}
	}
	// The flags are always sent, because the service has announced to change
	// their defaults.
	v := url.Values{
		"affiliation": {strconv.FormatBool(o.Affiliation)},
		"publisher":   {strconv.FormatBool(o.Publisher)},
	}
	if o.Detail {
		v.Set("detail", "true")
	}
	return v
}

// Get returns one record. Records that are not findable are [ErrNotFound] unless
// the client has the credentials of their account.
//
// Get sends GET /dois/{doi} (specification §4.2).
func (c *Client) Get(ctx context.Context, doiName string, opts *GetOptions) (*Record, error) {
	name, err := parseName("doi", doiName)
	if err != nil {
		return nil, err
	}
	return c.one(ctx, transport.Request{
		Op: "dois.Get", Method: "GET", Path: "/dois/" + doi.Path(name), Query: params.Encode(opts.values()),
		Access: transport.Optional,
	})
}

// one sends a request that is answered with one record.
func (c *Client) one(ctx context.Context, request transport.Request) (*Record, error) {
	type envelope struct {
		Data *resource `json:"data"`
	}
	found, res, err := transport.JSON[envelope](ctx, c.core, request)
	if err != nil {
		return nil, wrap(err)
	}
	if found.Data == nil || len(found.Data.Attributes) == 0 {
		return nil, wrap(c.core.Unreadable(request, res, errors.New("it holds no record")))
	}
	record, err := found.Data.record()
	if err != nil {
		return nil, wrap(c.core.Unreadable(request, res, err))
	}
	return &record, nil
}

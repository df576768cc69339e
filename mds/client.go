package mds

import (
	"context"
	"errors"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A Client registers DOIs. [NewClient] makes one; the methods of a nil Client panic. Many
// goroutines may use it at once.
type Client struct {
	core    *transport.Client
	records *transport.Client // of the DOI API; nil without its address

	username string
}

// NewClient makes a client for the metadata store at cfg.Service.MDS. Nothing is sent yet.
// cfg.Service.API is asked what the store does not show: whether a DOI is hidden, and whether a 403
// is a refusal. Without that address, no refusal is final, and Register refuses a DOI
// that may be hidden ([ErrHidden]).
//
// Username and Password are required; the password may be an API key of the deployed service. An
// API key as Username is refused, because the service repeats user names in its responses. Tokens
// are not used. If cfg has faults, the error is a [*datacite.ValidationError] with all of them.
func NewClient(cfg datacite.Config) (*Client, error) {
	login, noLogin := transport.Basic(cfg)
	if login == nil && noLogin == nil {
		noLogin = datacite.Invalidf("Config.Username", datacite.CodeMissing,
			"is empty; the metadata store needs Username and Password")
	}
	core, err := transport.New(cfg, transport.Interface{Name: "MDS", Login: login, Relays: true, Explain: explain})
	if err := datacite.Invalid(datacite.Findings(errors.Join(noLogin, err))...); err != nil {
		return nil, err
	}
	c := &Client{core: core, username: cfg.Username}
	if cfg.Service.API != "" {
		// The API has 404 for what an account may not see, so a 403 passes.
		c.records, err = transport.New(cfg, transport.Interface{Name: "API", Login: login, Relays: true})
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Do sends a request that this package has no method for, with the client's login,
// limits, retries and errors.
func (c *Client) Do(ctx context.Context, r *datacite.Request) (*datacite.Response, error) {
	return c.core.Custom(ctx, "mds.Do", r)
}

// do sends a request with the client's credentials.
func (c *Client) do(ctx context.Context, r transport.Request) (*transport.Response, error) {
	r.Access = transport.Required
	return c.core.Do(ctx, r)
}

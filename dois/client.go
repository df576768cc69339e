package dois

import (
	"context"
	"errors"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A Client finds, reads and writes DOI records. [NewClient] makes one; the methods of a nil
// Client panic. Many goroutines may use it at once.
type Client struct {
	core *transport.Client
}

// NewClient makes a client for the DOI query interface at cfg.Service.API. Nothing is
// sent yet.
//
// Reading public records needs no login. Writing, and reading records that are not
// public, needs Username and Password or, without them, Token or TokenSource. An API
// key of the deployed service may be the Password or the token.
//
// If cfg has faults, the error is a [*datacite.ValidationError] with all of them.
func NewClient(cfg datacite.Config) (*Client, error) {
	login, noLogin := login(cfg)
	core, err := transport.New(cfg, transport.Interface{Name: "API", Login: login, Explain: explain})
	if err := datacite.Invalid(datacite.Findings(errors.Join(noLogin, err))...); err != nil {
		return nil, err
	}
	return &Client{core: core}, nil
}

func login(cfg datacite.Config) (transport.Authorizer, error) {
	basic, noBasic := transport.Basic(cfg)
	token, noToken := transport.Token(cfg)
	if basic != nil || token == nil {
		return basic, errors.Join(noBasic, noToken)
	}
	return transport.Bearer(token), errors.Join(noBasic, noToken)
}

const opDo = "dois.Do"

// Do sends a request that this package has no method for, with the client's login, limits,
// retries and errors.
func (c *Client) Do(ctx context.Context, r *datacite.Request) (*datacite.Response, error) {
	return c.core.Custom(ctx, opDo, r)
}

func parseName(path, text string) (string, error) {
	name, err := doi.Parse(text)
	return name, doi.At(path, err)
}

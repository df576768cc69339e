package dois

import (
	"cmp"
	"context"
	"errors"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A Client finds, reads and writes DOI records. Many goroutines may use it at
// once.
type Client struct {
	core     *transport.Client
	attempts int // as Config.MaxAttempts
}

// NewClient makes a client for the DOI query interface at cfg.Service.API. Nothing is
// sent yet.
//
// Reading public records needs no login. Writing, and reading records that are not
// public, needs Username and Password or, without them, Token or TokenSource. An API
// key of the deployed service may be the Password or the token.
//
// A cfg with faults is a [*datacite.ValidationError], which has all of them.
func NewClient(cfg datacite.Config) (*Client, error) {
	login, noLogin := login(cfg)
	core, err := transport.New(cfg, transport.Interface{Name: "API", Login: login, Explain: explain})
	if err := datacite.Invalid(datacite.Findings(errors.Join(noLogin, err))...); err != nil {
		return nil, err
	}
	return &Client{core: core, attempts: cmp.Or(cfg.MaxAttempts, transport.DefaultMaxAttempts)}, nil
}

func login(cfg datacite.Config) (transport.Authorizer, error) {
	basic, noBasic := transport.Basic(cfg)
	token, noToken := transport.Token(cfg)
	if basic != nil || token == nil {
		return basic, errors.Join(noBasic, noToken)
	}
	return transport.Bearer(token), errors.Join(noBasic, noToken)
}

// Do sends a request of the caller's own to the interface, with the client's login,
// limits, retries and errors, for what this package does not cover.
func (c *Client) Do(ctx context.Context, r *datacite.Request) (*datacite.Response, error) {
	return c.core.Custom(ctx, "dois.Do", r)
}

func parseName(path, text string) (string, error) {
	name, err := doi.Parse(text)
	return name, doi.At(path, err)
}

// readable parses a name to read by its path, and refuses one for which the service would
// return another DOI's record.
func readable(text string) (string, error) {
	name, err := doi.Parse(text)
	if err == nil {
		err = doi.API.Check(name)
	}
	return name, doi.At("doi", err)
}

// writable parses a name to change, and refuses one for which the service would change
// another DOI.
func writable(text string) (string, error) {
	name, err := doi.Parse(text)
	if err == nil {
		err = doi.API.CheckWritable(name)
	}
	return name, doi.At("doi", err)
}

package reports

import (
	"context"
	"errors"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A Client reads and stores usage reports. Many goroutines may use it at once.
type Client struct {
	core      *transport.Client
	token     *tokens
	maxReport int64
}

// NewClient makes a client for usage reports at cfg.Service.API. Nothing is sent yet.
//
// Reading needs no login. Writing needs Token or TokenSource: a JSON web token from the
// operator, not an API key. Username and Password are not used. Using a token that has
// expired, or expires within 30 days, logs a warning.
//
// A cfg with faults is a [*datacite.ValidationError], which has all of them.
func NewClient(cfg datacite.Config) (*Client, error) {
	token, noToken := newTokens(cfg)
	// A full subset takes the deployed service up to a minute.
	core, err := transport.New(cfg, transport.Interface{Name: "API", Timeout: 5 * time.Minute, Login: token.authorizer(), Explain: token.explain})
	if err := datacite.Invalid(datacite.Findings(errors.Join(noToken, err))...); err != nil {
		return nil, err
	}
	return &Client{core: core, token: token, maxReport: 16 << 30}, nil
}

// WithMaxReport returns a client that limits the size of the stored reports that it reads:
// the bytes of the response, and the bytes of all subsets when decompressed. The default is
// 16 GiB. It panics if bytes is not positive.
func (c *Client) WithMaxReport(bytes int64) *Client {
	if bytes <= 0 {
		panic("reports: WithMaxReport needs a positive number of bytes")
	}
	limited := *c
	limited.maxReport = bytes
	return &limited
}

// Do sends a request of the caller's own to the interface, with the client's token,
// limits, retries and errors, for what this package does not cover.
func (c *Client) Do(ctx context.Context, r *datacite.Request) (*datacite.Response, error) {
	return c.core.Custom(ctx, "reports.Do", r)
}

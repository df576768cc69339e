package reports

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A Client reads and stores usage reports. [NewClient] makes one; the methods of a nil Client
// panic. Many goroutines may use it at once.
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
// If cfg has faults, the error is a [*datacite.ValidationError] with all of them.
func NewClient(cfg datacite.Config) (*Client, error) {
	token, noToken := newTokens(cfg)
	// A full subset takes the deployed service up to a minute.
	core, err := transport.New(cfg, transport.Interface{Name: "API", Timeout: 5 * time.Minute, Login: token.authorizer(), Explain: token.explain})
	if err := datacite.Invalid(datacite.Findings(errors.Join(noToken, err))...); err != nil {
		return nil, err
	}
	return &Client{core: core, token: token, maxReport: cmp.Or(cfg.MaxReport, defaultMaxReport)}, nil
}

const defaultMaxReport = 16 << 30

// Do sends a request that this package has no method for, with the client's token, limits,
// retries and errors.
func (c *Client) Do(ctx context.Context, r *datacite.Request) (*datacite.Response, error) {
	return c.core.Custom(ctx, "reports.Do", r)
}

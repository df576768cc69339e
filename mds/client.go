package mds

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// Addresses of the public deployment, DataCite.
const (
	Production = "https://mds.datacite.org"
	Test       = "https://mds.test.datacite.org"
)

// A Client registers DOIs. Many goroutines may use it at once.
type Client struct {
	core     *transport.Client
	oldNames bool
}

// ClientOptions are the optional settings of a client.
type ClientOptions struct {
	// OldNames lets the methods that write use DOI names with characters that new
	// names cannot have (specification §2.3), such as "<" or "+". Older DOIs have
	// them. Names that the deployed service would take for another one, such as
	// those with "#", stay refused.
	OldNames bool

	HTTPClient  *http.Client  // copied, not changed; its CheckRedirect is not used; nil means a new one
	UserAgent   string        // put in front of the SDK's own, such as "my-repository/2.1"
	Contact     string        // mail address, added to the User-Agent so that the operator can write to you
	Logger      *slog.Logger  // one record per attempt: debug for success, and for a DOI that is not there yet; warn for failure; nil is silent
	MaxAttempts int           // how often a request is sent at most; 0 means 5, 1 means once; MintOnServer and AddMedium again only if no connection was made
	MaxWait     time.Duration // longest pause between two attempts, whatever the service asks; 0 means 30 seconds
	Timeout     time.Duration // an attempt ends after so long without a byte, or slower than MinSpeed; 0 means 2 minutes
	MinSpeed    int           // bytes a second that have to move, on average over Timeout; 0 means 1,024
	MaxBody     int64         // bytes that one answer may take up, uncompressed and in memory; 0 means 100 MiB
	Limiter     Limiter       // asked before each attempt; nil means no limit
}

// A Limiter delays requests. *rate.Limiter of golang.org/x/time/rate is one.
type Limiter interface {
	// Wait returns when the next request may be sent, or an error, such as the
	// context's, if it may not.
	Wait(context.Context) error
}

// NewClient makes a client for the service at baseURL, such as [Production] or
// [Test]: HTTPS, or plain HTTP on a loopback host. Every request carries creds.
// Nothing is sent yet. Empty or unusable credentials, such as an API key for a name,
// and each bad option, are a [*FieldError]; the error joins them.
func NewClient(baseURL string, creds Credentials, opts *ClientOptions) (*Client, error) {
	if opts == nil {
		opts = &ClientOptions{}
	}
	noLogin := optionError("credentials: ", transport.CheckBasic(creds.Username, creds.Password))
	if transport.IsKey(creds.Username) {
		noLogin = &FieldError{Path: "credentials: username", Reason: "is an API key; give the name of the account, and the key as password"}
	}
	core, err := transport.New(transport.Config{
		BaseURL: baseURL, HTTPClient: opts.HTTPClient, UserAgent: opts.UserAgent, Contact: opts.Contact, Logger: opts.Logger,
		MaxAttempts: opts.MaxAttempts, MaxWait: opts.MaxWait, Timeout: opts.Timeout, MinSpeed: opts.MinSpeed, MaxBody: opts.MaxBody, Limiter: opts.Limiter,
		Authorize: transport.Basic(creds.Username, creds.Password), Relays: true, Show: func(e *transport.Error) error { return (*Error)(e) },
	})
	if err := errors.Join(noLogin, optionError("", err)); err != nil {
		return nil, err
	}
	return &Client{core: core, oldNames: opts.OldNames}, nil
}

func optionError(at string, err error) error {
	return transport.OptionErrors(err, func(e *transport.OptionError) error { return &FieldError{Path: at + e.Option, Reason: e.Reason} })
}

// do sends a request with the client's credentials.
func (c *Client) do(ctx context.Context, r transport.Request) (*transport.Response, error) {
	r.Access = transport.Required
	return c.core.Do(ctx, r)
}

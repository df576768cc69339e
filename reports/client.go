package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// Addresses of the public deployment, DataCite.
const (
	Production = "https://api.datacite.org"
	Test       = "https://api.test.datacite.org"
)

// A Client reads and stores usage reports. Many goroutines may use it at once.
type Client struct {
	core      *transport.Client
	token     *tokens
	maxReport int64
}

// ClientOptions are the optional settings of a client. Reading needs none of them,
// writing needs Token or TokenSource.
type ClientOptions struct {
	Token       string                                // JSON web token from the operator, without quotes; not an API key
	TokenSource func(context.Context) (string, error) // asked for a token before each write, instead of Token

	// TokenExpiring is called before a write whose token expires within
	// TokenMargin, or has expired; nil means no warning.
	TokenExpiring func(at time.Time)
	TokenMargin   time.Duration // 0 means 30 days

	MaxReport int64 // most bytes of one stored report, counted as sent and again when its subsets are inflated; 0 means 16 GiB

	HTTPClient  *http.Client  // copied, not changed; its CheckRedirect is not used; nil means a new one
	UserAgent   string        // put in front of the SDK's own, such as "my-repository/2.1"
	Contact     string        // mail address, added to the User-Agent so that the operator can write to you
	Logger      *slog.Logger  // one record per attempt: debug for success, warn for failure; nil is silent
	MaxAttempts int           // how often a request is sent at most; 0 means 5, 1 means once
	MaxWait     time.Duration // longest pause between two attempts, even if the service asks for more; 0 means 30 seconds
	Timeout     time.Duration // an attempt ends after so long without a byte, or slower than MinSpeed; 0 means 5 minutes: a full subset takes the deployed service up to one
	MinSpeed    int           // bytes a second that have to move, on average over Timeout; 0 means 1,024
	MaxBody     int64         // bytes that one answer may take up, uncompressed and in memory; 0 means 100 MiB
	Limiter     Limiter       // asked before each attempt; nil means no limit
}

// String shows which credentials there are, and not what they are.
func (o ClientOptions) String() string {
	return fmt.Sprintf("reports.ClientOptions{Token:%s, …}", transport.Redacted(o.Token))
}

// Format hides the token, whatever the verb.
func (o ClientOptions) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, o.String()) }

// LogValue hides the token.
func (o ClientOptions) LogValue() slog.Value { return slog.StringValue(o.String()) }

const defaultMaxReport = 16 << 30

// A Limiter delays requests. *rate.Limiter of golang.org/x/time/rate is one.
type Limiter interface {
	// Wait returns when the next request may be sent, or an error, such as the
	// context's, if it may not.
	Wait(context.Context) error
}

// NewClient makes a client for the service at baseURL, such as [Production] or
// [Test]: HTTPS, or plain HTTP on a loopback host. It sends nothing. Each invalid
// option is a [*datacite.FieldError]; the error joins them.
func NewClient(baseURL string, opts *ClientOptions) (*Client, error) {
	if opts == nil {
		opts = &ClientOptions{}
	}
	o := *opts
	token, noToken := newTokens(&o)
	var faults []error
	if o.MaxReport < 0 {
		faults = append(faults, &datacite.FieldError{Path: "MaxReport", Reason: "is negative"})
	}
	if o.TokenMargin < 0 {
		faults = append(faults, &datacite.FieldError{Path: "TokenMargin", Reason: "is negative"})
	}
	core, err := transport.New(transport.Config{
		BaseURL: baseURL, HTTPClient: o.HTTPClient, UserAgent: o.UserAgent, Contact: o.Contact, Logger: o.Logger,
		MaxAttempts: o.MaxAttempts, MaxWait: o.MaxWait, Timeout: cmp.Or(o.Timeout, 5*time.Minute), MinSpeed: o.MinSpeed, MaxBody: o.MaxBody, Limiter: o.Limiter,
		Authorize: token.authorizer(), Show: token.show,
	})
	if err := errors.Join(noToken, errors.Join(faults...), optionError(err)); err != nil {
		return nil, err
	}
	return &Client{core: core, token: token, maxReport: cmp.Or(o.MaxReport, defaultMaxReport)}, nil
}

func optionError(err error) error {
	return transport.OptionErrors(err, func(e *transport.OptionError) error { return &datacite.FieldError{Path: e.Option, Reason: e.Reason} })
}

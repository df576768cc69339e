package dois

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Addresses of the public deployment, DataCite.
const (
	Production = "https://api.datacite.org"
	Test       = "https://api.test.datacite.org"
)

// A Client finds, reads and writes DOI records. Many goroutines may use it at
// once.
type Client struct {
	core     *transport.Client
	attempts int // as ClientOptions.MaxAttempts
}

// ClientOptions are the optional settings of a client. Reading public records needs
// none of them; writing, and reading records that are not public, needs Username
// and Password, or Token, or TokenSource. An API key of the deployed service may be
// the Username alone, the Password of the account it was issued to, or the token.
type ClientOptions struct {
	Username, Password string                                // of a repository account; or an API key as Username alone
	Token              string                                // instead of Username and Password: a JSON web token or an API key
	TokenSource        func(context.Context) (string, error) // asked for a token before each request, instead of Token

	HTTPClient  *http.Client  // copied, not changed; its CheckRedirect is not used; nil means a new one
	UserAgent   string        // put in front of the SDK's own, such as "my-repository/2.1"
	Contact     string        // mail address, added to the User-Agent; the service allows more requests with one
	Logger      *slog.Logger  // one record per attempt: debug for success, warn for failure; nil is silent
	MaxAttempts int           // how often a request is sent at most; 0 means 5, 1 means once; Create again only if no connection was made
	MaxWait     time.Duration // longest pause between two attempts, whatever the service asks; 0 means 30 seconds
	Timeout     time.Duration // an attempt ends after so long without a byte, or slower than MinSpeed; 0 means 2 minutes
	MinSpeed    int           // bytes a second that have to move, on average over Timeout; 0 means 1,024
	MaxBody     int64         // bytes that one answer may take up, uncompressed and in memory; 0 means 100 MiB
	Limiter     Limiter       // asked before each attempt; nil means no limit
}

// String shows which credentials there are, and not what they are.
func (o ClientOptions) String() string {
	return fmt.Sprintf("dois.ClientOptions{Username:%q, Password:%s, Token:%s, …}", transport.Name(o.Username), transport.Redacted(o.Password), transport.Redacted(o.Token))
}

// Format hides password, token and key, whatever the verb.
func (o ClientOptions) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, o.String()) }

// LogValue hides password, token and key.
func (o ClientOptions) LogValue() slog.Value { return slog.StringValue(o.String()) }

// A Limiter delays requests. *rate.Limiter of golang.org/x/time/rate is one.
type Limiter interface {
	// Wait returns when the next request may be sent, or an error, such as the
	// context's, if it may not.
	Wait(context.Context) error
}

// NewClient makes a client for the service at baseURL, such as [Production] or
// [Test]: HTTPS, or plain HTTP on a loopback host. Nothing is sent yet. Each bad
// option is a [*datacite.FieldError]; the error joins them.
func NewClient(baseURL string, opts *ClientOptions) (*Client, error) {
	if opts == nil {
		opts = &ClientOptions{}
	}
	authorize, noLogin := opts.authorizer()
	core, err := transport.New(transport.Config{
		BaseURL: baseURL, HTTPClient: opts.HTTPClient, UserAgent: opts.UserAgent, Contact: opts.Contact, Logger: opts.Logger,
		MaxAttempts: opts.MaxAttempts, MaxWait: opts.MaxWait, Timeout: opts.Timeout, MinSpeed: opts.MinSpeed, MaxBody: opts.MaxBody, Limiter: opts.Limiter,
		Authorize: authorize, Show: func(e *datacite.Error) error { return (*datacite.Error)(e) },
	})
	if err := errors.Join(noLogin, optionError(err)); err != nil {
		return nil, err
	}
	return &Client{core: core, attempts: cmp.Or(opts.MaxAttempts, transport.DefaultMaxAttempts)}, nil
}

func (o *ClientOptions) authorizer() (transport.Authorizer, error) {
	basic := o.Username != "" || o.Password != ""
	switch {
	case basic && (o.Token != "" || o.TokenSource != nil), o.Token != "" && o.TokenSource != nil:
		return nil, &datacite.FieldError{Path: "ClientOptions", Reason: "has more than one of Username and Password, Token, and TokenSource; give one"}
	case basic:
		if err := transport.CheckBasic(o.Username, o.Password); err != nil {
			return nil, optionError(err)
		}
		return transport.Basic(o.Username, o.Password), nil
	case o.TokenSource != nil:
		return transport.Bearer(o.TokenSource), nil
	case o.Token != "":
		token := o.Token
		if err := transport.CheckToken(token); err != nil {
			return nil, optionError(err)
		}
		return transport.Bearer(func(context.Context) (string, error) { return token, nil }), nil
	}
	return nil, nil
}

func optionError(err error) error {
	return transport.OptionErrors(err, func(e *transport.OptionError) error { return &datacite.FieldError{Path: e.Option, Reason: e.Reason} })
}

func parseName(path, text string) (string, error) {
	name, err := doi.Parse(text)
	return name, doi.At(path, err)
}

// readable parses a name that is asked for in a path, and refuses one that would
// be answered with another DOI's record.
func readable(text string) (string, error) {
	name, err := doi.Parse(text)
	if err == nil {
		err = doi.API.Check(name)
	}
	return name, doi.At("doi", err)
}

// writable parses a name that is changed, and refuses one under which another DOI
// would be.
func writable(text string) (string, error) {
	name, err := doi.Parse(text)
	if err == nil {
		err = doi.API.CheckWritable(name)
	}
	return name, doi.At("doi", err)
}

func doi.At(path string, err error) error {
	if e, ok := errors.AsType[*doi.NameError](err); ok {
		return &datacite.FieldError{Path: path, Reason: fmt.Sprintf("%q %s", e.Name, e.Reason), Err: datacite.ErrInvalidDOI}
	}
	return err
}

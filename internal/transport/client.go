package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Version is the version of the module that the User-Agent header names.
const Version = "0.1.0"

// Defaults of [Config].
const (
	DefaultMaxAttempts = 5
	DefaultMaxWait     = 30 * time.Second
	DefaultTimeout     = 2 * time.Minute
	DefaultMinSpeed    = 1 << 10
	DefaultMaxBody     = 100 << 20
)

// Limiter makes a caller wait before each attempt.
type Limiter interface {
	Wait(context.Context) error
}

// Authorizer puts credentials on a request's header.
type Authorizer func(context.Context, http.Header) error

// Config says how to reach a service. Zero values stand for the defaults.
type Config struct {
	BaseURL     string
	HTTPClient  *http.Client
	UserAgent   string
	Contact     string
	Logger      *slog.Logger
	MaxAttempts int
	MaxWait     time.Duration
	Timeout     time.Duration
	MinSpeed    int
	MaxBody     int64
	Limiter     Limiter
	Authorize   Authorizer // nil: no credentials
	Relays      bool       // the service passes requests on, and answers 403 when it loses the service behind it, too

	// Show makes the public package's error of one of the core; nil leaves it as it is.
	Show func(*Error) error
}

// Client sends requests to one service. It is safe for concurrent use.
type Client struct {
	base        string
	origin      string
	http        *http.Client
	userAgent   string
	logger      *slog.Logger
	maxAttempts int
	maxWait     time.Duration
	maxBody     int64
	limiter     Limiter
	authorize   Authorizer
	relays      bool
	show        func(*Error) error
	hidden      atomic.Pointer[hiding] // of the last request
}

// New checks cfg and makes a Client. The error has an [*OptionError] for each option
// that is wrong.
func New(cfg Config) (*Client, error) {
	base, noBase := parseBase(cfg.BaseURL)
	agent, noAgent := userAgent(cfg.UserAgent, cfg.Contact)
	if err := errors.Join(noBase, noAgent, cfg.checkNumbers()); err != nil {
		return nil, err
	}
	logger := cfg.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	c := &Client{
		base:        strings.TrimRight(base.String(), "/"),
		origin:      base.Scheme + "://" + base.Host,
		userAgent:   agent,
		logger:      logger,
		maxAttempts: cmp.Or(cfg.MaxAttempts, DefaultMaxAttempts),
		maxWait:     cmp.Or(cfg.MaxWait, DefaultMaxWait),
		maxBody:     cmp.Or(cfg.MaxBody, DefaultMaxBody),
		limiter:     cfg.Limiter,
		authorize:   cfg.Authorize,
		relays:      cfg.Relays,
		show:        cfg.Show,
	}
	if c.show == nil {
		c.show = func(e *Error) error { return e }
	}
	c.http = c.httpClient(cfg)
	return c, nil
}

// BaseURL returns the address requests go to, in its plainest spelling: the host
// in lower case, no default port, no trailing slash.
func (c *Client) BaseURL() string { return c.base }

// An OptionError names the option that a client cannot be made with.
type OptionError struct{ Option, Reason string }

func (e *OptionError) Error() string { return e.Option + " " + e.Reason }

func (cfg Config) checkNumbers() error {
	var faults []error
	for _, o := range []struct {
		name  string
		value int64
	}{
		{"MaxAttempts", int64(cfg.MaxAttempts)},
		{"MaxWait", int64(cfg.MaxWait)},
		{"Timeout", int64(cfg.Timeout)},
		{"MinSpeed", int64(cfg.MinSpeed)},
		{"MaxBody", cfg.MaxBody},
	} {
		if o.value < 0 {
			faults = append(faults, &OptionError{o.name, "is negative"})
		}
	}
	return errors.Join(faults...)
}

// OptionErrors makes an error of what a public package says of each [OptionError] in
// err.
func OptionErrors(err error, say func(*OptionError) error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, err := range joined.Unwrap() {
			all = append(all, OptionErrors(err, say))
		}
		return errors.Join(all...)
	}
	if e, ok := err.(*OptionError); ok {
		return say(e)
	}
	return err
}

// parseBase accepts https addresses, and http for a loopback host, since
// credentials must not travel in the clear (specification §5).
func parseBase(text string) (*url.URL, error) {
	const option = "base URL"
	if text == "" {
		return nil, &OptionError{option, "is empty; use the package's Production or Test constant"}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Opaque != "":
		return nil, &OptionError{option, "is not a URL"} // the cause would quote the text, and with it any password
	case u.User != nil:
		return nil, &OptionError{option, "holds credentials; pass them as options instead"}
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, &OptionError{option, fmt.Sprintf("%q does not start with https://", text)}
	case u.Host == "":
		return nil, &OptionError{option, fmt.Sprintf("%q has no host", text)}
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, &OptionError{option, "has a query or a fragment"}
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, &OptionError{option, fmt.Sprintf("%q is not HTTPS; plain HTTP is for loopback hosts only", text)}
	}
	// One spelling for one address.
	u.Host = strings.ToLower(u.Host)
	u.Host = strings.TrimSuffix(u.Host, map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
	return u, nil
}

// loopback leaves out names below localhost: a name server or a proxy may decide
// where they lead.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func userAgent(product, contact string) (string, error) {
	agent := "datacite-go/" + Version
	if product != "" {
		agent = product + " " + agent
	}
	if contact != "" {
		agent += " (mailto:" + strings.TrimPrefix(contact, "mailto:") + ")"
	}
	if strings.ContainsFunc(agent, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", &OptionError{"UserAgent or Contact", "has a character that a header cannot hold"}
	}
	return agent, nil
}

// httpClient copies the caller's client, so that its own is never changed, and
// adds what keeps credentials and patience in bounds.
func (c *Client) httpClient(cfg Config) *http.Client {
	var hc http.Client
	if cfg.HTTPClient != nil {
		hc = *cfg.HTTPClient
	}
	if hc.Transport == nil {
		hc.Transport = http.DefaultTransport
	}
	hc.Transport = &watchdog{base: hc.Transport, silence: cmp.Or(cfg.Timeout, DefaultTimeout), speed: cmp.Or(cfg.MinSpeed, DefaultMinSpeed)}
	hc.CheckRedirect = c.checkRedirect
	return &hc
}

// errRedirect is the cause when an answer points somewhere we do not follow.
var errRedirect = errors.New("redirect not followed")

// checkRedirect follows a redirect only for a read and only on the same origin:
// a write must not arrive anywhere, or in any shape, that the caller did not ask for.
func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	same := req.URL.Scheme+"://"+req.URL.Host == c.origin
	if !same || !reads(first.Method) || len(via) >= 10 {
		return http.ErrUseLastResponse
	}
	return nil
}

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

package transport

import (
	"cmp"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
)

// Version is the version of the module that the User-Agent header names.
const Version = "0.1.0"

// The defaults of a [datacite.Config].
const (
	defaultMaxAttempts = 5
	DefaultMaxWait     = 30 * time.Second
	defaultTimeout     = 2 * time.Minute
	defaultMaxBody     = 100 << 20
)

// An Interface is what a client needs to know beside its [datacite.Config].
type Interface struct {
	Name    string        // the field of [datacite.Service] with its address: "API" or "MDS"
	Timeout time.Duration // the default of Config.Timeout; 0 means 2 minutes
	Login   Authorizer    // nil: no credentials

	// Relays says that the service passes requests on, and responds with 403 when it has
	// lost the service behind it, too.
	Relays bool

	// Explain finds out what a refusal means beyond its status; nil adds nothing.
	Explain func(*datacite.Error)
}

// Client sends requests to one service. It is safe for concurrent use.
type Client struct {
	name        string // of the interface
	base        string
	origin      string
	http        *http.Client
	proxy       func(*http.Request) (*url.URL, error) // of a http.Transport; may be nil
	userAgent   string
	logger      *slog.Logger
	maxAttempts int
	maxWait     time.Duration
	maxBody     int64
	limiter     datacite.Limiter
	authorize   Authorizer
	relays      bool
	explain     func(*datacite.Error)
	embedded    bool // the service is, and pauses are short
	lockDir     func() (string, error)
	hidden      secrets
}

// New checks cfg and makes a Client. A cfg with faults is a [*datacite.ValidationError], which
// has all of them.
func New(cfg datacite.Config, i Interface) (*Client, error) {
	address := map[string]string{"API": cfg.Service.API, "MDS": cfg.Service.MDS}[i.Name]
	base, noBase := parseBase("Config.Service."+i.Name, address)
	agent, noAgent := userAgent(cfg.UserAgent, cfg.Contact)
	if err := errors.Join(noBase, noAgent, checkNumbers(cfg)); err != nil {
		return nil, err
	}
	logger := cfg.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	c := &Client{
		name:        i.Name,
		base:        strings.TrimRight(base.String(), "/"),
		origin:      base.Scheme + "://" + base.Host,
		userAgent:   agent,
		logger:      logger,
		maxAttempts: cmp.Or(cfg.MaxAttempts, defaultMaxAttempts),
		maxBody:     cmp.Or(cfg.MaxBody, defaultMaxBody),
		limiter:     cfg.Limiter,
		authorize:   i.Login,
		relays:      i.Relays,
		explain:     i.Explain,
	}
	c.hidden.give(cfg)
	service := embeddedIn(cfg.HTTPClient, address)
	c.embedded, c.lockDir = service.BaseURL != "" && !service.RealTime, service.LockDir
	c.maxWait = c.Pause(cmp.Or(cfg.MaxWait, DefaultMaxWait))
	if c.explain == nil {
		c.explain = func(*datacite.Error) {}
	}
	c.http = c.httpClient(cfg, cmp.Or(cfg.Timeout, i.Timeout, defaultTimeout))
	return c, nil
}

// BaseURL returns the address requests go to, in its plainest spelling: the host
// in lower case, no default port, no trailing slash.
func (c *Client) BaseURL() string { return c.base }

func checkNumbers(cfg datacite.Config) error {
	var faults []datacite.Finding
	for _, o := range []struct {
		name  string
		value int64
	}{
		{"MaxAttempts", int64(cfg.MaxAttempts)},
		{"MaxWait", int64(cfg.MaxWait)},
		{"Timeout", int64(cfg.Timeout)},
		{"MaxBody", cfg.MaxBody},
		{"MaxReport", cfg.MaxReport},
	} {
		if o.value < 0 {
			faults = append(faults, negative("Config."+o.name))
		}
	}
	return datacite.Invalid(faults...)
}

// parseBase accepts https addresses, and http for a loopback host, since
// credentials must not travel in the clear (specification §5).
func parseBase(field, text string) (*url.URL, error) {
	if text == "" {
		return nil, datacite.Invalidf(field, datacite.CodeMissing,
			"is empty; set Config.Service to datacite.Test or datacite.Production")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Opaque != "":
		// the cause would quote the text, and with it any password
		return nil, datacite.Invalidf(field, datacite.CodeURI, "is not a URL")
	case u.User != nil:
		return nil, datacite.Invalidf(field, datacite.CodeURI, "holds credentials; pass them as options instead")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, datacite.Invalidf(field, datacite.CodeURI, "%q does not start with https://", text)
	case u.Host == "":
		return nil, datacite.Invalidf(field, datacite.CodeURI, "%q has no host", text)
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, datacite.Invalidf(field, datacite.CodeURI, "has a query or a fragment")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, datacite.Invalidf(field, datacite.CodeURI,
			"%q is not HTTPS; plain HTTP is for loopback hosts only", text)
	}
	// One spelling for one address.
	u.Host = strings.ToLower(u.Host)
	u.Host = strings.TrimSuffix(u.Host, map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
	return u, nil
}

// loopback leaves out names below localhost: a name server or a proxy may decide
// where they lead.
func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
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
		return "", datacite.Invalidf("Config.UserAgent or Contact", datacite.CodeEncoding,
			"has a character that a header cannot hold")
	}
	return agent, nil
}

// httpClient copies the caller's client, so that its own is never changed, and
// adds what keeps credentials and patience in bounds.
func (c *Client) httpClient(cfg datacite.Config, timeout time.Duration) *http.Client {
	var hc http.Client
	if cfg.HTTPClient != nil {
		hc = *cfg.HTTPClient
	}
	if hc.Transport == nil {
		hc.Transport = http.DefaultTransport
	}
	if t, ok := hc.Transport.(*http.Transport); ok {
		c.proxy = t.Proxy
	}
	hc.Transport = &watchdog{base: hc.Transport, silence: timeout}
	hc.CheckRedirect = c.checkRedirect
	return &hc
}

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

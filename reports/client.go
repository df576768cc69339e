package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/input"
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
	core, err := transport.New(cfg, transport.Interface{Name: "API", Timeout: 5 * time.Minute, Login: token.authorizer(),
		Explain: token.explain})
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

// TokenExpiry returns when a token expires: one year after it was issued
// (specification §5). It does not verify the token; only the service can. The error says
// what is wrong without quoting the token. An API key is not a valid token.
func TokenExpiry(token string) (time.Time, error) {
	c, err := readToken(token)
	if err != nil {
		return time.Time{}, input.Invalid(err, datacite.Finding{Path: "token", Code: datacite.CodeSyntax})
	}
	return c.Expires, nil
}

// errKey: the deployed service accepts API keys only on its other interfaces. Here
// it would refuse one, and write it to its log.
var errKey = errors.New("an API key, which the service does not accept for reports; use a JSON web token")

func readToken(token string) (transport.Claims, error) {
	if call.IsAPIKey(token) {
		return transport.Claims{}, errKey
	}
	return transport.ReadToken(token)
}

// tokens provides the token for a request and remembers when the last one expires,
// because the service does not distinguish an expired token from a wrong one.
type tokens struct {
	source    transport.TokenSource
	renewable bool // the source may have another one when it is asked again
	log       *slog.Logger
	expiry    atomic.Int64 // Unix seconds; 0 if not known
}

// expiresSoon is how long before the expiry of a token its use logs a warning.
const expiresSoon = 30 * 24 * time.Hour

func newTokens(cfg datacite.Config) (*tokens, error) {
	source, err := transport.Token(cfg)
	if call.IsAPIKey(cfg.Token) {
		err = datacite.Invalidf("Config.Token", datacite.CodeValue, "is %v", errKey)
	}
	return &tokens{source: source, renewable: cfg.TokenSource != nil, log: cfg.Logger}, err
}

func (t *tokens) authorizer() transport.Authorizer {
	if t.source == nil {
		return nil
	}
	return transport.Bearer(func(ctx context.Context) (string, error) {
		token, err := t.source(ctx)
		if err != nil {
			return "", err
		}
		if call.IsAPIKey(token) {
			return "", errKey
		}
		t.note(token)
		return token, nil
	})
}

// claims returns what the token says. It is called early, to fail before any work if the service
// would refuse the token.
func (t *tokens) claims(ctx context.Context) (c transport.Claims, err error) {
	if t.source == nil {
		return c, datacite.ErrUnauthorized
	}
	token, err := t.source(ctx)
	if end := call.Ended(ctx); err != nil && end != nil {
		return c, end
	}
	if err != nil {
		return c, err
	}
	c, err = readToken(token)
	switch {
	case err != nil:
		return c, fmt.Errorf("%w: %w", datacite.ErrUnauthorized, err)
	case !time.Now().Before(c.Expires):
		return c, fmt.Errorf("%w at %s", ErrTokenExpired, moment(c.Expires))
	}
	return c, nil
}

// moment is a time to the second, in UTC.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// note remembers when a token expires, and warns when that is soon.
func (t *tokens) note(token string) {
	at, err := TokenExpiry(token)
	if err != nil {
		t.expiry.Store(0) // only the service knows
		return
	}
	if t.expiry.Swap(at.Unix()) != at.Unix() && t.log != nil && time.Until(at) <= expiresSoon {
		t.log.Warn("reports: the token expires soon, or has expired; ask the operator for a new one",
			slog.Time("expires", at))
	}
}

// explain sets the condition of a refusal that its status does not tell.
func (t *tokens) explain(e *datacite.Error) {
	switch {
	case !errors.Is(e, datacite.ErrRateLimited) && t.expired(e.StatusCode, e.Message):
		e.Err = ErrTokenExpired
	case missingToken(e):
		e.Err = datacite.ErrUnauthorized
	}
}

// expired reports whether a response means that the token has expired.
func (t *tokens) expired(status int, message string) bool {
	expiry := t.expiry.Load()
	past := expiry != 0 && time.Now().Unix() >= expiry
	switch status {
	case http.StatusUnauthorized:
		return past
	case http.StatusForbidden:
		return past || expiry == 0 || strings.Contains(strings.ToLower(message), "expired")
	}
	return false
}

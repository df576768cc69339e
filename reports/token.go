package reports

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/apikey"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// TokenExpiry reads when a token stops being accepted: one year after it was
// made (specification §5). The token is read, not checked: only the service can
// tell whether it is genuine. The error says what is wrong without quoting the
// token. An API key is not such a token.
func TokenExpiry(token string) (time.Time, error) {
	c, err := readToken(token)
	if err != nil {
		return time.Time{}, fmt.Errorf("reports.TokenExpiry: %w", err)
	}
	return c.Expires, nil
}

// errKey: the deployed service knows API keys on the other interfaces alone. Here
// it would refuse one, and write it to its log.
var errKey = errors.New("an API key, which the service does not take for reports; give a JSON web token")

func readToken(token string) (transport.Claims, error) {
	if apikey.Is(token) {
		return transport.Claims{}, errKey
	}
	return transport.ReadToken(token)
}

// tokens hands out the token for a request and remembers when the last one
// expires, because the service does not tell an expired token from a wrong one.
type tokens struct {
	source    transport.TokenSource
	renewable bool // the source may have another one when it is asked again
	log       *slog.Logger
	expiry    atomic.Int64 // Unix seconds; 0 if not known
}

// expiresSoon is the time before its expiry in which a token is warned of.
const expiresSoon = 30 * 24 * time.Hour

func newTokens(cfg datacite.Config) (*tokens, error) {
	source, err := transport.Token(cfg)
	if apikey.Is(cfg.Token) {
		err = &datacite.FieldError{Path: "Config.Token", Reason: "is " + errKey.Error()}
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
		if apikey.Is(token) {
			return "", errKey
		}
		t.note(token)
		return token, nil
	})
}

// account asks for a token before it is needed, to know early that the service
// would not take it, and returns the account that it is for; "" if it does not
// say.
func (t *tokens) account(ctx context.Context) (string, error) {
	if t.source == nil {
		return "", datacite.ErrUnauthorized
	}
	token, err := t.source(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", datacite.ErrUnauthorized, err)
	}
	c, err := readToken(token)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %w", datacite.ErrUnauthorized, err)
	case !time.Now().Before(c.Expires):
		return "", fmt.Errorf("%w on %s", ErrTokenExpired, c.Expires.Format(time.DateOnly))
	}
	return c.Account, nil
}

// note remembers when a token expires, and warns when that is soon.
func (t *tokens) note(token string) {
	at, err := TokenExpiry(token)
	if err != nil {
		t.expiry.Store(0) // not a token that says so; only the service knows
		return
	}
	if t.expiry.Swap(at.Unix()) != at.Unix() && t.log != nil && time.Until(at) <= expiresSoon {
		t.log.Warn("reports: the token expires soon, or has expired; ask the operator for a new one", slog.Time("expires", at))
	}
}

// explain finds out what a refusal means beyond its status.
func (t *tokens) explain(e *datacite.Error) {
	switch {
	case !errors.Is(e, datacite.ErrRateLimited) && t.expired(e.StatusCode, e.Message):
		e.Err = ErrTokenExpired
	case missingToken(e):
		e.Err = datacite.ErrUnauthorized
	}
}

// expired tells whether an answer means that the token's time is over.
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

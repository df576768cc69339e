package reports

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// TokenExpiry reads when a token stops being accepted: one year after it was
// made (specification §5). The token is read, not checked: only the service can
// tell whether it is genuine. The error says what is wrong without quoting the
// token.
func TokenExpiry(token string) (time.Time, error) {
	c, err := readClaims(token)
	if err != nil {
		return time.Time{}, fmt.Errorf("reports.TokenExpiry: %w", err)
	}
	return c.expiry(), nil
}

// claims are what a token says of itself.
type claims struct {
	Account any      `json:"uid"` // as a stored report shows it; not in the specification
	Expires *float64 `json:"exp"`
}

func readClaims(token string) (c claims, err error) {
	if err := transport.CheckToken(token); err != nil {
		return c, err
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, errors.New("not a JSON web token: it does not have three parts")
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	switch {
	case err != nil:
		return c, errors.New("not a JSON web token: its second part is not base64")
	case json.Unmarshal(payload, &c) != nil:
		return c, errors.New("not a JSON web token: its second part is not a JSON object with a numeric exp")
	case c.Expires == nil:
		return c, errors.New("the token does not say when it expires")
	}
	return c, nil
}

func (c *claims) expiry() time.Time {
	seconds := min(max(*c.Expires, 0), 1<<40)
	return time.Unix(int64(math.Trunc(seconds)), 0)
}

// tokens hands out the token for a request and remembers when the last one
// expires, because the service does not tell an expired token from a wrong one.
type tokens struct {
	source    func(context.Context) (string, error)
	renewable bool // the source may have another one when it is asked again
	expiring  func(time.Time)
	margin    time.Duration
	expiry    atomic.Int64 // Unix seconds; 0 if not known
}

func newTokens(opts *ClientOptions) (*tokens, error) {
	t := &tokens{expiring: opts.TokenExpiring, margin: cmp.Or(opts.TokenMargin, 30*24*time.Hour)}
	switch token := opts.Token; {
	case token != "" && opts.TokenSource != nil:
		return nil, &FieldError{"ClientOptions.Token", "and TokenSource are both set; give one"}
	case opts.TokenSource != nil:
		t.source, t.renewable = opts.TokenSource, true
	case token != "":
		if err := transport.CheckToken(token); err != nil {
			return nil, optionError(err)
		}
		t.source = func(context.Context) (string, error) { return token, nil }
	}
	return t, nil
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
		t.note(token)
		return token, nil
	})
}

// account asks for a token before it is needed, to know early that the service
// would not take it, and returns the account that it is for; "" if it does not
// say.
func (t *tokens) account(ctx context.Context) (string, error) {
	if t.source == nil {
		return "", ErrUnauthorized
	}
	token, err := t.source(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnauthorized, err)
	}
	c, err := readClaims(token)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrUnauthorized, err)
	case !time.Now().Before(c.expiry()):
		return "", fmt.Errorf("%w on %s", ErrTokenExpired, c.expiry().Format(time.DateOnly))
	}
	account, _ := c.Account.(string)
	return account, nil
}

// note remembers when a token expires, and warns when that is soon.
func (t *tokens) note(token string) {
	at, err := TokenExpiry(token)
	if err != nil {
		t.expiry.Store(0) // not a token that says so; only the service knows
		return
	}
	t.expiry.Store(at.Unix())
	if t.expiring != nil && time.Until(at) <= t.margin {
		t.expiring(at)
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

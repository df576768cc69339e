package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

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

func readToken(token string) (transport.Token, error) {
	if transport.IsKey(token) {
		return transport.Token{}, errKey
	}
	return transport.ReadToken(token)
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
		return t, &datacite.FieldError{Path: "ClientOptions.Token", Reason: "and TokenSource are both set; give one"}
	case opts.TokenSource != nil:
		t.source, t.renewable = opts.TokenSource, true
	case token != "":
		if err := transport.CheckToken(token); err != nil {
			return t, optionError(err)
		}
		if transport.IsKey(token) {
			return t, &datacite.FieldError{Path: "token", Reason: "is " + errKey.Error()}
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
		if transport.IsKey(token) {
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
	t.expiry.Store(at.Unix())
	if t.expiring != nil && time.Until(at) <= t.margin {
		t.expiring(at)
	}
}

// show makes an error of this package, with ErrTokenExpired as its cause where it is.
func (t *tokens) show(e *datacite.Error) error {
	if !transport.Throttled(e.StatusCode, e.Body) && t.expired(e.StatusCode, e.Message) {
		e.Err = ErrTokenExpired
	}
	return (*datacite.Error)(e)
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

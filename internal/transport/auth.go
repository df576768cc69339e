package transport

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
)

// Authorizer puts credentials on a request's header.
type Authorizer func(context.Context, http.Header) error

// A TokenSource returns the token for a request.
type TokenSource = func(context.Context) (string, error)

// Bearer authorizes with the token that source returns.
func Bearer(source TokenSource) Authorizer {
	return func(ctx context.Context, h http.Header) error {
		token, err := source(ctx)
		if err != nil {
			return err
		}
		if err := CheckToken(token); err != nil {
			return err
		}
		h.Set("Authorization", bearerHeader(token))
		return nil
	}
}

// Basic authorizes with the name and the password of a Config, nil if it has neither.
func Basic(cfg datacite.Config) (Authorizer, error) {
	if cfg.Username == "" && cfg.Password == "" {
		return nil, nil
	}
	if err := errors.Join(checkUsername(cfg.Username), checkPassword(cfg.Password)); err != nil {
		return nil, err
	}
	value := basicHeader(cfg.Username, cfg.Password)
	return func(_ context.Context, h http.Header) error {
		h.Set("Authorization", value)
		return nil
	}, nil
}

func basicHeader(username, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))
}

func bearerHeader(token string) string { return "Bearer " + token }

func checkUsername(name string) error {
	switch {
	case name == "":
		return datacite.Invalidf("Config.Username", datacite.CodeMissing, "is empty")
	case call.IsAPIKey(strings.TrimSpace(name)):
		return datacite.Invalidf("Config.Username", datacite.CodeValue,
			"is an API key; give the name of the account, and the key as Password")
	case strings.Contains(name, ":"):
		return datacite.Invalidf("Config.Username", datacite.CodeEncoding,
			"has a colon, which Basic credentials cannot carry")
	case hasControl(name):
		return datacite.Invalidf("Config.Username", datacite.CodeEncoding, "has a control character")
	}
	return nil
}

func checkPassword(password string) error {
	switch {
	case password == "":
		return datacite.Invalidf("Config.Password", datacite.CodeMissing, "is empty")
	case hasControl(password):
		return datacite.Invalidf("Config.Password", datacite.CodeEncoding, "has a control character")
	}
	return nil
}

// Token is the source of the tokens of a Config, nil if it has none.
func Token(cfg datacite.Config) (TokenSource, error) {
	switch token := cfg.Token; {
	case token != "" && cfg.TokenSource != nil:
		return nil, datacite.Invalidf("Config.Token", datacite.CodeConflict, "and TokenSource are both set; give one")
	case token != "":
		return func(context.Context) (string, error) { return token, nil }, CheckToken(token)
	}
	if cfg.TokenSource == nil {
		return nil, nil
	}
	return func(ctx context.Context) (string, error) {
		token, err := cfg.TokenSource(ctx)
		if err != nil {
			return "", &sourceError{err, passes(err)}
		}
		return token, nil
	}, nil
}

// A sourceError is one of Config.TokenSource. The service was not asked.
type sourceError struct {
	cause  error
	passes bool
}

func (e *sourceError) Error() string { return "Config.TokenSource: " + e.cause.Error() }

func (e *sourceError) Unwrap() error { return e.cause }

// Transient is what [datacite.Temporary] asks.
func (e *sourceError) Transient() bool { return e.passes }

// passes judges the network of a caller's function like that of a request.
func passes(err error) bool {
	if _, ofNetwork := errors.AsType[net.Error](err); ofNetwork {
		return (&datacite.Error{Err: err}).Transient()
	}
	return datacite.Temporary(err)
}

// CheckToken refuses a token that a header cannot carry, without quoting it.
func CheckToken(token string) error {
	switch {
	case token == "":
		return datacite.Invalidf("Config.Token", datacite.CodeMissing, "is empty")
	case strings.Trim(token, `"'`) != token:
		return datacite.Invalidf("Config.Token", datacite.CodeSyntax,
			"has quotes around it; they belong to the command line, not to the token")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return datacite.Invalidf("Config.Token", datacite.CodeEncoding,
			"has a blank or another character that a token cannot hold")
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

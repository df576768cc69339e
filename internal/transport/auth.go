package transport

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
)

// Bearer authorizes with the token that source returns.
func Bearer(source func(context.Context) (string, error)) Authorizer {
	return func(ctx context.Context, h http.Header) error {
		token, err := source(ctx)
		if err != nil {
			return err
		}
		if err := CheckToken(token); err != nil {
			return err
		}
		h.Set("Authorization", "Bearer "+token)
		return nil
	}
}

// Basic authorizes with a name and a password.
func Basic(username, password string) Authorizer {
	value := "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))
	return func(_ context.Context, h http.Header) error {
		h.Set("Authorization", value)
		return nil
	}
}

// CheckToken refuses a token that a header cannot carry, without quoting it.
func CheckToken(token string) error {
	switch {
	case token == "":
		return &OptionError{"token", "is empty"}
	case strings.Trim(token, `"'`) != token:
		return &OptionError{"token", "has quotes around it; they belong to the command line, not to the token"}
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return &OptionError{"token", "has a blank or another character that a token cannot hold"}
	}
	return nil
}

// IsKey says whether a token or a user name counts as an API key, by the rule of
// the service itself: more than 20 characters that begin with "DC.".
func IsKey(text string) bool { return len(text) > 20 && strings.EqualFold(text[:3], "DC.") }

// CheckBasic refuses a name or password that Basic credentials cannot carry. A name
// that is an API key needs no password.
func CheckBasic(username, password string) error {
	switch {
	case username == "":
		return &OptionError{"username", "is empty"}
	case password == "" && !IsKey(username):
		return &OptionError{"password", "is empty"}
	case strings.Contains(username, ":"):
		return &OptionError{"username", "has a colon, which Basic credentials cannot carry"}
	case hasControl(username):
		return &OptionError{"username", "has a control character"}
	case hasControl(password):
		return &OptionError{"password", "has a control character"}
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

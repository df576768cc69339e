package datacite

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/datacite-go/datacite-go/internal/call"
)

// String shows which credentials are set, but not their values.
func (c Config) String() string {
	return fmt.Sprintf("datacite.Config{Service:%q, Username:%q, Password:%s, Token:%s, …}",
		c.Service, shownName(c.Username), redacted(c.Password), redacted(c.Token))
}

// Format hides the password, token and API key, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// LogValue hides the password, token and API key.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText hides the password, token and API key.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// shownName is a user name, unless an API key stands in its place.
func shownName(username string) string {
	if call.IsAPIKey(strings.TrimSpace(username)) {
		return "REDACTED"
	}
	return username
}

func redacted(secret string) string {
	if secret == "" {
		return `""`
	}
	return "REDACTED"
}

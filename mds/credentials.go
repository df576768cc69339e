package mds

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// Credentials are the name and the password of an account (specification §5). An
// API key of the account may stand for the password. However they are printed, the
// password does not show.
type Credentials struct{ Username, Password string }

// String hides the password.
func (c Credentials) String() string { return transport.Name(c.Username) + ":REDACTED" }

// Format hides the password, whatever the verb: fmt would print the fields of
// a struct for %d and the like.
func (c Credentials) Format(f fmt.State, verb rune) {
	text := c.String()
	switch {
	case verb == 'v' && f.Flag('#'):
		text = fmt.Sprintf("mds.Credentials{Username:%q, Password:REDACTED}", transport.Name(c.Username))
	case verb == 'q':
		text = fmt.Sprintf("%q", text)
	}
	_, _ = io.WriteString(f, text)
}

// LogValue hides the password.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText hides the password from encoders such as JSON.
func (c Credentials) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

package dois

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// String shows which credentials there are, and not what they are.
func (o ClientOptions) String() string {
	return fmt.Sprintf("dois.ClientOptions{Username:%q, Password:%s, Token:%s, …}", transport.Name(o.Username), transport.Redacted(o.Password), transport.Redacted(o.Token))
}

// Format hides password, token and key, whatever the verb.
func (o ClientOptions) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, o.String()) }

// LogValue hides password, token and key.
func (o ClientOptions) LogValue() slog.Value { return slog.StringValue(o.String()) }

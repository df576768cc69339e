package reports

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// String shows which credentials there are, and not what they are.
func (o ClientOptions) String() string {
	return fmt.Sprintf("reports.ClientOptions{Token:%s, …}", transport.Redacted(o.Token))
}

// Format hides the token, whatever the verb.
func (o ClientOptions) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, o.String()) }

// LogValue hides the token.
func (o ClientOptions) LogValue() slog.Value { return slog.StringValue(o.String()) }

package datacite

import (
	"cmp"
	"context"
	"time"

	"github.com/datacite-go/datacite-go/internal/call"
)

// CallOptions change settings of a [Config] for single calls; see [WithCallOptions].
type CallOptions struct {
	MaxAttempts int           // in place of Config.MaxAttempts; 0 keeps that
	Timeout     time.Duration // in place of Config.Timeout; 0 keeps that
}

// WithCallOptions returns a context whose calls have other settings than their client, with
// which they still share connections, login and limiter:
//
//	ctx = datacite.WithCallOptions(ctx, &datacite.CallOptions{MaxAttempts: 1, Timeout: 5 * time.Second})
//	record, err := client.Get(ctx, doi, nil)
//
// They hold for every request of a call that is given the context: with MaxAttempts 1,
// Submit of package reports sends each of its requests once, and still looks and waits as
// SubmitOptions say. An option that is 0 keeps what ctx has already. A call with a negative
// option is refused, and sends nothing. To limit a call as a whole, use
// [context.WithTimeout]. nil options change nothing.
func WithCallOptions(ctx context.Context, opts *CallOptions) context.Context {
	if ctx == nil || opts == nil {
		return ctx // the call refuses a context that is nil
	}
	earlier := call.SettingsOf(ctx)
	return call.WithSettings(ctx, call.Settings{
		MaxAttempts: cmp.Or(opts.MaxAttempts, earlier.MaxAttempts),
		Timeout:     cmp.Or(opts.Timeout, earlier.Timeout),
	})
}

// Operation returns the operation that a request belongs to, such as "dois.Get", as in
// Error.Op and in the log. ctx is the context of a request, which Config.HTTPClient and
// Config.Limiter receive; for others the result is "". A transport names its spans and
// metrics with it. Register and other methods that send several requests name each of them
// after themselves or after the method that sends the like, such as "mds.PutURL".
func Operation(ctx context.Context) string {
	if ctx == nil {
		return ""
	}
	return call.OperationOf(ctx)
}

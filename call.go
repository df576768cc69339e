package datacite

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/datacite-go/datacite-go/internal/call"
)

// CallOptions change settings of a [Config] for single calls; see [WithCallOptions].
type CallOptions struct {
	MaxAttempts int           // in place of Config.MaxAttempts; 0 keeps that
	Timeout     time.Duration // in place of Config.Timeout; 0 keeps that

	// Done receives the outcome of each request when its last attempt has ended, before the
	// call returns. Calls that send several requests side by side, such as EnsureAll of
	// package reconcile, also call it side by side. nil keeps what ctx has already.
	Done func(RequestResult)
}

// A RequestResult is what became of a request, over all its attempts.
type RequestResult struct {
	Op         string        // such as "dois.Get"; see [Operation]
	StatusCode int           // of the last response; 0 if none came
	Header     http.Header   // of the last response, as in Error.Header
	RequestID  string        // for questions to the operator
	Attempts   int           // how often the request was sent
	Duration   time.Duration // of all attempts and the pauses between them
	Err        error         // with which the request failed, an [*Error]; nil for a success
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
	settings := call.SettingsOf(ctx)
	settings.MaxAttempts = cmp.Or(opts.MaxAttempts, settings.MaxAttempts)
	settings.Timeout = cmp.Or(opts.Timeout, settings.Timeout)
	if opts.Done != nil {
		settings.Done = func(r call.Result) { opts.Done(RequestResult(r)) }
	}
	return call.WithSettings(ctx, settings)
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

// Each returns the items of a slice as a sequence without errors, for calls that take many
// items, such as EnsureAll of package reconcile, Submit of package reports and Count of
// package counter.
func Each[T any](items []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

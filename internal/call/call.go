// Package call has what belongs to one call of a client. Its context keeps the settings that the
// caller changes for it, and the name of the operation, which a RoundTripper may ask for. When
// the context ends, the call returns the error of [Ended].
package call

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// Settings replace those of a client; what is 0 does not.
type Settings struct {
	MaxAttempts int
	Timeout     time.Duration
	Outage      *Outage      // of the requests that are sent one after another; nil: each may fail for as long as it does
	Done        func(Result) // receives the outcome of each request; may be nil
}

// A Result is a RequestResult of the root, which describes it.
type Result struct {
	Op         string
	StatusCode int
	Header     http.Header
	RequestID  string
	Attempts   int
	Duration   time.Duration
	Err        error
}

// An Outage is how long requests may fail, in all their attempts, until one succeeds. A slow response is no failure.
type Outage struct {
	Most    time.Duration
	Since   time.Time // when the first attempt began that failed since the last success; without one, the last attempt
	failing bool
}

// Begins is called before each attempt.
func (o *Outage) Begins(now time.Time) {
	if o != nil && !o.failing {
		o.Since = now
	}
}

// Ends is called after each attempt.
func (o *Outage) Ends(failed bool) {
	if o != nil {
		o.failing = failed
	}
}

// Over reports whether no attempt should be made again.
func (o *Outage) Over() bool { return o != nil && o.failing && time.Since(o.Since) >= o.Most }

// Left is how much of d may be waited.
func (o *Outage) Left(d time.Duration) time.Duration {
	if o == nil {
		return d
	}
	return min(d, max(o.Most-time.Since(o.Since), time.Millisecond))
}

type (
	settingsKey  struct{}
	operationKey struct{}
	expectedKey  struct{}
	unreadKey    struct{}
)

// WithSettings returns a context with settings.
func WithSettings(ctx context.Context, s Settings) context.Context {
	return context.WithValue(ctx, settingsKey{}, s)
}

// SettingsOf returns the settings of a context.
func SettingsOf(ctx context.Context) Settings {
	s, _ := ctx.Value(settingsKey{}).(Settings)
	return s
}

// WithOperation returns a context with the name of an operation.
func WithOperation(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, operationKey{}, name)
}

// OperationOf returns the name of the operation of a context, "" if it has none.
func OperationOf(ctx context.Context) string {
	name, _ := ctx.Value(operationKey{}).(string)
	return name
}

// WithExpected returns a context with a status other than success that is nothing to warn of.
func WithExpected(ctx context.Context, status int) context.Context {
	return context.WithValue(ctx, expectedKey{}, status)
}

// ExpectedOf returns the expected status of a context, 0 if it has none.
func ExpectedOf(ctx context.Context) int {
	if ctx == nil {
		return 0 // the call refuses it
	}
	status, _ := ctx.Value(expectedKey{}).(int)
	return status
}

// WithUnread returns a context in which a walk reads no more of its records than their names, and keeps them as
// they were sent.
func WithUnread(ctx context.Context) context.Context {
	return context.WithValue(ctx, unreadKey{}, true)
}

// IsUnread reports whether WithUnread made the context.
func IsUnread(ctx context.Context) bool { return ctx.Value(unreadKey{}) != nil }

// IsAPIKey reports whether a user name, password or token counts as an API key, by the
// service's own rule: more than 20 characters that begin with "DC.".
func IsAPIKey(text string) bool { return len(text) > 20 && strings.EqualFold(text[:3], "DC.") }

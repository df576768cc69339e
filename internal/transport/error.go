package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
)

// Causes that an [Error] can carry.
var (
	// ErrNoCredentials: the operation needs credentials and the client has none.
	ErrNoCredentials = errors.New("no credentials given")
	// ErrUnreadable: the service said success, but the answer is not what the
	// specification promises (an HTML page, a body cut off, broken JSON).
	ErrUnreadable = errors.New("answer cannot be understood")
	// ErrMaybeLost: a service that relays requests refused one, or lost the service
	// behind it.
	ErrMaybeLost = errors.New("the service responds the same when it has lost the service behind it")
	// ErrTooLarge: the answer is longer than the client is willing to read.
	ErrTooLarge = errors.New("answer is too large")
)

// An Error is the outcome of an operation that did not succeed. Each public package
// has a type of its own with the same fields, to which [Config.Show] converts it.
type Error struct {
	Op         string
	Method     string
	URL        string
	StatusCode int
	Message    string
	Details    []Detail
	Body       []byte
	RequestID  string
	Attempts   int
	Unclear    bool
	Err        error
}

// A Detail is one fault that the service names in an error answer.
type Detail = struct {
	Field, Message string
	Line, Column   int
}

// Error says what was asked, where, and why it failed.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s: ", e.Op, e.Method, e.URL)
	if e.StatusCode != 0 {
		fmt.Fprintf(&b, "%d %s: ", e.StatusCode, http.StatusText(e.StatusCode))
	}
	b.WriteString(e.Message)
	if e.Unclear {
		b.WriteString("; it is not known whether the service carried it out")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (after %d attempts)", e.Attempts)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " [request %s]", e.RequestID)
	}
	return b.String()
}

// Temporary says whether the same request may succeed later: the network or the service
// failed, or too many asked. It is false of what the caller cancelled.
func (e *Error) Temporary() bool {
	switch {
	case errors.Is(e.Err, context.Canceled), errors.Is(e.Err, ErrNoCredentials), errors.Is(e.Err, ErrTooLarge), permanent(e.Err):
		return false
	case e.StatusCode == 0, e.StatusCode >= 200 && e.StatusCode < 300: // lost, or unreadable
		return true
	}
	return e.Unclear || errors.Is(e.Err, ErrMaybeLost) || judge(Always, outcome{status: e.StatusCode, page: e.Body}, 0).again
}

// Unwrap returns the cause below HTTP, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// LogValue shows an Error to slog as a group.
func (e *Error) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("op", e.Op),
		slog.String("method", e.Method),
		slog.String("url", e.URL),
		slog.Int("status", e.StatusCode),
		slog.String("message", e.Message),
		slog.String("request_id", e.RequestID),
		slog.Int("attempts", e.Attempts),
		slog.Bool("unclear", e.Unclear),
	)
}

package call

import (
	"context"
	"errors"
)

// Ended returns nil until ctx ends, and then an error that matches ctx.Err() and the cause
// with which the caller ended it.
//
// The cause is often the error of another request, such as that of a sibling in a group of
// goroutines. It must not be taken for the response to this one. So its conditions of this
// module do not match, errors.As does not find what is in it, and it is not what Unwrap
// returns.
func Ended(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	e := &EndedError{err: err, cause: context.Cause(ctx), text: err.Error()}
	if e.cause == nil {
		e.cause = err // a context of the caller's own type
	}
	if text := e.cause.Error(); text != e.text {
		e.text += ": " + text
	}
	return e
}

// IsEnded reports whether an error says that a context of the caller ended.
func IsEnded(err error) bool {
	_, ok := errors.AsType[*EndedError](err)
	return ok
}

// An EndedError says that a context ended, and why.
type EndedError struct {
	err, cause error
	text       string
}

// Error returns what ended, and the cause.
func (e *EndedError) Error() string { return e.text }

// Unwrap returns the error of the context.
func (e *EndedError) Unwrap() error { return e.err }

// Is matches the cause and the errors in it, but for conditions of this module.
func (e *EndedError) Is(target error) bool {
	if _, condition := target.(interface{ ServiceCondition() }); condition {
		return false
	}
	return errors.Is(e.cause, target)
}

// ContextEnded is what [datacite.Temporary] asks.
func (e *EndedError) ContextEnded() {}

// Shown returns the error with another text.
func (e *EndedError) Shown(shown func(string) string) error {
	with := *e
	with.text = shown(e.text)
	return &with
}

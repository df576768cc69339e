package transport

import (
	"errors"
	"net/http"
	"slices"
)

// A Condition is what errors.Is can ask an [Error] for. Each public package has a
// table of its own errors and the condition that each of them stands for.
type Condition func(*Error) bool

// Meets reports whether the error that target stands for in a table holds.
func (e *Error) Meets(conditions map[error]Condition, target error) bool {
	holds, known := conditions[target]
	return known && holds(e)
}

// Status holds for answers with one of the codes.
func Status(codes ...int) Condition {
	return func(e *Error) bool { return slices.Contains(codes, e.StatusCode) }
}

// Either holds if one of them does.
func Either(conditions ...Condition) Condition {
	return func(e *Error) bool {
		return slices.ContainsFunc(conditions, func(c Condition) bool { return c(e) })
	}
}

// But holds if the first does and none of the others.
func But(condition Condition, others ...Condition) Condition {
	return func(e *Error) bool { return condition(e) && !Either(others...)(e) }
}

// Cause holds if the cause is target.
func Cause(target error) Condition {
	return func(e *Error) bool { return errors.Is(e.Err, target) }
}

// The conditions that mean the same for all interfaces.
var (
	RateLimited  Condition = func(e *Error) bool { return Throttled(e.StatusCode, e.Body) }
	Forbidden              = But(Status(http.StatusForbidden), RateLimited)
	TooLarge               = Either(Status(http.StatusRequestEntityTooLarge), Cause(ErrTooLarge))
	ServerFailed Condition = func(e *Error) bool { return e.StatusCode >= 500 }
	Unreadable             = Cause(ErrUnreadable)
	Unclear      Condition = func(e *Error) bool { return e.Unclear }
)

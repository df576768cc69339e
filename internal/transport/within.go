package transport

import (
	"errors"
	"strings"

	"github.com/datacite-go/datacite-go"
)

// Within returns err for the text of another error of the operation op, which begins
// with that name: without a name of its own.
func Within(op string, err error) error {
	names := []string{op}
	if e, ok := errors.AsType[*datacite.Error](err); ok {
		names = append(names, e.Op)
	}
	for _, name := range names {
		if err != nil && strings.HasPrefix(err.Error(), name+": ") {
			return &within{err, len(name + ": ")}
		}
	}
	return err
}

type within struct {
	error
	name int // bytes of it
}

func (e *within) Error() string { return e.error.Error()[e.name:] }

func (e *within) Unwrap() error { return e.error }

package query

import (
	"errors"
	"fmt"
)

// ErrInvalid is matched by every [*Error].
var ErrInvalid = errors.New("the service would refuse it or read it as something else")

// An Error says which part of a query, or of the sort order, page or sample
// that goes with it, cannot be sent, and why.
type Error struct {
	Part   string // the part of the query as text, or the name of a parameter
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("query: %s: %s", e.Part, e.Reason) }

// Is matches [ErrInvalid].
func (e *Error) Is(target error) bool { return target == ErrInvalid }

// Check returns an error for every part of expr that the service would refuse
// or read as something else, each an [*Error]. A nil expression is no query
// and has no fault.
func Check(expr Expr) error {
	if expr == nil {
		return nil
	}
	var errs []error
	checkNode(expr.tree(), &errs)
	return errors.Join(errs...)
}

func checkNode(n *Node, errs *[]error) {
	if n.Kind == KindInvalid {
		*errs = append(*errs, &Error{Part: "()", Reason: n.Text})
	}
	for _, c := range n.Clauses {
		checkNode(c.Expr.tree(), errs)
	}
}

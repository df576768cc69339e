package transport

import "github.com/datacite-go/datacite-go"

// A Condition is an error to ask for with [errors.Is], for one interface alone.
type Condition struct {
	Text    string
	General error // what it is a special case of, such as [datacite.ErrUnauthorized]; may be nil
	Passes  bool  // the same call may succeed later
}

// Error returns the text.
func (c *Condition) Error() string { return c.Text }

// Unwrap returns the general condition.
func (c *Condition) Unwrap() error { return c.General }

// Transient is what [datacite.Temporary] asks.
func (c *Condition) Transient() bool { return c.Passes }

// errMaybeLost: a service that relays requests refused one, or lost the service behind
// it.
var errMaybeLost error = &Condition{
	Text:    "the service responds the same when it has lost the service behind it",
	General: datacite.ErrForbidden, Passes: true,
}

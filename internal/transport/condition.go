package transport

import (
	"errors"
	"net/http"
	"slices"

	"github.com/datacite-go/datacite-go"
)

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

// ServiceCondition tells it from other errors, see package call.
func (c *Condition) ServiceCondition() {}

// NewError makes a condition that does not say whether the same call may succeed later.
func NewError(text string) error { return condition(text) }

type condition string

func (s condition) Error() string { return string(s) }

// ServiceCondition tells it from other errors, see package call.
func (s condition) ServiceCondition() {}

// NotFound reports whether the service said that what was asked for does not exist: the
// response itself, and no other error that is within err.
func NotFound(err error) bool {
	e, ofRequest := errors.AsType[*datacite.Error](err)
	return errors.Is(err, datacite.ErrNotFound) && (!ofRequest || e.StatusCode == http.StatusNotFound)
}

// absent are the words with which the services say, with 404, that something does not exist:
// the DOI API and the reports (lupo and sashimi, application_controller.rb) as the title of a
// JSON:API error, the metadata store (poodle, application_controller.rb, dois_controller.rb,
// metadata_controller.rb and media_controller.rb) as plain text. Those for another path are
// not among them. datacitetest/deployed-*.md have the requests.
var absent = map[string][]string{
	"API": {"The resource you are looking for doesn't exist."},
	"MDS": {"DOI not found", "DOI is unknown to MDS", "No media for the DOI"},
}

// absentInWrites is what the metadata store passes on of an unknown account.
const absentInWrites = "Not found"

// saysAbsent reports whether the body of a 404 has the words of the service.
func (c *Client) saysAbsent(method, contentType string, body []byte) bool {
	message, details := explain(contentType, body)
	isJSON := len(details) > 0
	return isJSON == (c.name == "API") && (slices.Contains(absent[c.name], message) ||
		c.name == "MDS" && message == absentInWrites && !reads(method))
}

// errElsewhere: a 404 that is not the service's says nothing about what was asked for. It
// passes where a gateway has lost the service for a while.
var errElsewhere error = &Condition{
	Text: "this is not how the service says that something does not exist, but how a gateway or another host " +
		"responds; check the address in Config.Service",
	Passes: true,
}

// errCut: what a refusal means is in its body, of which only the beginning came.
var errCut error = &Condition{Text: "the response did not come whole", Passes: true}

// errMaybeLost: a service that relays requests refused one, or lost the service behind
// it.
var errMaybeLost error = &Condition{
	Text:    "the service responds the same when it has lost the service behind it",
	General: datacite.ErrForbidden, Passes: true,
}

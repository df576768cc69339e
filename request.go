package datacite

import (
	"net/http"
	"net/url"
)

// A Request is a request for which the clients have no method. The Do method of each client
// sends it.
type Request struct {
	Method string     // required
	Path   string     // required: escaped path below the service's base URL, beginning with a slash
	Query  url.Values // nil for none

	Accept      string      // media type; "" leaves it to the service
	ContentType string      // media type of Body
	Body        []byte      // nil for none
	Header      http.Header // further headers; nil for none

	// Repeatable says that the request has the same effect whether it is carried out once
	// or twice. Other requests are retried only if no connection was made. GET and HEAD are
	// always repeatable.
	Repeatable bool
}

// A Response is the response to a successful [Request] (2xx).
type Response struct {
	StatusCode int
	Header     http.Header
	Body       []byte // at most Config.MaxBody bytes
	RequestID  string // for questions to the operator
}

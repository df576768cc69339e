package datacite

import (
	"net/http"
	"net/url"
)

// A Request is one that the clients do not cover; each client sends it with its Do.
type Request struct {
	Method string     // required
	Path   string     // required: escaped, from the slash after the service's base URL
	Query  url.Values // nil for none

	Accept      string      // media type; "" leaves it to the service
	ContentType string      // media type of Body
	Body        []byte      // nil for none
	Header      http.Header // further headers; nil for none

	// Repeatable says that the request has the same effect whether it is carried out
	// once or twice. Others are sent again only if no connection was made. GET and HEAD
	// are always repeatable.
	Repeatable bool
}

// A Response is that of a [Request] which succeeded (2xx).
type Response struct {
	StatusCode int
	Header     http.Header
	Body       []byte // of at most Config.MaxBody bytes
	RequestID  string // quote it when you ask the operator
}

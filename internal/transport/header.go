package transport

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go"
)

// maxHeader is how much of the header of a response is kept, names included.
const maxHeader = 16 << 10

// keepHeader gives an error the header of its response, and when the service wants to be asked
// again.
func (c *Client) keepHeader(e *datacite.Error, h http.Header) {
	if after, ok := retryAfter(h.Get("Retry-After")); ok {
		e.RetryAt = time.Now().Add(after)
	}
	e.Header = c.shownHeader(h)
}

// shownHeader is what a caller sees of a header. Cookies open a session as credentials do.
func (c *Client) shownHeader(h http.Header) http.Header {
	header, left := http.Header{}, maxHeader
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if name == "Set-Cookie" || len(name) > maxMessage || c.hidden.in(name) != name {
			continue
		}
		for _, value := range h[name] {
			shown := Line(c.hidden.start(value, maxMessage))
			if left -= len(name) + len(shown); left < 0 {
				return header
			}
			header[name] = append(header[name], shown)
		}
	}
	return header
}

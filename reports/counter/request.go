package counter

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/internal/access"
)

// FromRequest makes an event, with the present time, of a request to which a platform has
// responded with status. ok is false if the access does not count: the status is not 200,
// 206 or 304, or the method is not GET or POST. The caller adds the DOI, whether it is a
// request, and the user or cookie if there is one, and stores it:
//
//	if e, ok := counter.FromRequest(r, status, nil); ok {
//		e.DOI, e.Request, e.User = dataset, download, login
//		err := store(e)
//		…
//	}
//
// The address is that of the connection or, if this is a trusted proxy, the last address of
// X-Forwarded-For that is not a trusted proxy. The URL begins with the host that the client named, but behind a
// trusted proxy with the path: many proxies put the name of an instance in place of the host, so that a double click on
// two instances would count twice, and X-Forwarded-Host may be the client's own. Where two hosts have
// different files of one dataset under the same path, the caller sets the URL.
func FromRequest(r *http.Request, status int, trusted []netip.Prefix) (e Event, ok bool) {
	switch status {
	case http.StatusOK, http.StatusPartialContent, http.StatusNotModified:
	default:
		return Event{}, false
	}
	if r.Method != http.MethodGet && r.Method != http.MethodPost && r.Method != "" {
		return Event{}, false
	}
	host := r.Host
	if ip, ok := access.Address(r.RemoteAddr); ok && access.Has(trusted, ip) {
		host = ""
	}
	return Event{
		Time: time.Now(), URL: host + r.URL.RequestURI(),
		Address: clientAddress(r, trusted), Agent: r.UserAgent(),
	}, true
}

// clientAddress is that of the client, as far as trusted proxies tell.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	var chain []string
	for _, header := range r.Header.Values("X-Forwarded-For") {
		chain = append(chain, strings.Split(header, ",")...)
	}
	return access.Visitor(slices.Backward(append(chain, r.RemoteAddr)), func(ip netip.Addr) bool {
		return access.Has(trusted, ip)
	})
}

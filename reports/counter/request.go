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
// X-Forwarded-For that is not a trusted proxy. So is the host of the URL: many proxies write the name of an
// instance into Host, so that of a trusted proxy is taken from X-Forwarded-Host or Forwarded, and left out if neither has it.
func FromRequest(r *http.Request, status int, trusted []netip.Prefix) (e Event, ok bool) {
	switch status {
	case http.StatusOK, http.StatusPartialContent, http.StatusNotModified:
	default:
		return Event{}, false
	}
	if r.Method != http.MethodGet && r.Method != http.MethodPost && r.Method != "" {
		return Event{}, false
	}
	return Event{
		Time: time.Now(), URL: clientHost(r, trusted) + r.URL.RequestURI(),
		Address: clientAddress(r, trusted), Agent: r.UserAgent(),
	}, true
}

// clientHost is the host that the client named, as far as a trusted proxy tells.
func clientHost(r *http.Request, trusted []netip.Prefix) string {
	if ip, ok := access.Address(r.RemoteAddr); !ok || !access.Has(trusted, ip) {
		return r.Host
	}
	if host, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Host"), ","); host != "" {
		return strings.TrimSpace(host)
	}
	for pair := range strings.FieldsFuncSeq(r.Header.Get("Forwarded"), func(c rune) bool { return c == ';' || c == ',' }) {
		if name, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(name, "host") {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// clientAddress is that of the client, as far as trusted proxies tell.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	var chain []string
	for _, header := range r.Header.Values("X-Forwarded-For") {
		chain = append(chain, strings.Split(header, ",")...)
	}
	return access.Visitor(slices.Backward(append(chain, r.RemoteAddr)), func(ip netip.Addr) bool { return access.Has(trusted, ip) })
}

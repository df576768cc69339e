package counter

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
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
// X-Forwarded-For that is not a trusted proxy.
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
		Time: time.Now(), URL: r.Host + r.URL.RequestURI(),
		Address: clientAddress(r, trusted), Agent: r.UserAgent(),
	}, true
}

// clientAddress walks back from the connection to the first address that no trusted
// proxy has: what it wrote about clients before it may be invented.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	var chain []string
	for _, header := range r.Header.Values("X-Forwarded-For") {
		for address := range strings.SplitSeq(header, ",") {
			chain = append(chain, strings.TrimSpace(address))
		}
	}
	client := ""
	for _, text := range append([]string{r.RemoteAddr}, reversed(chain)...) {
		address, ok := readAddress(text)
		if !ok {
			break
		}
		client = address.String()
		if !slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(address) }) {
			break
		}
	}
	return client
}

func reversed(list []string) []string {
	slices.Reverse(list)
	return list
}

// readAddress reads an address with or without a port.
func readAddress(text string) (netip.Addr, bool) {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap(), true
	}
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return address.Unmap(), err == nil
}

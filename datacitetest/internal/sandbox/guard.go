package sandbox

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Guard serves requests only under loopback names and Options.Hosts, and only for web pages of
// these and of Options.Origins. Any page in a browser of this machine can otherwise read a service on a port of it:
// scripts of other origins by CORS, and a page whose name suddenly leads to this machine (DNS
// rebinding) without it.
func (s *Server) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.isNamed(hostname(r.Host)) {
			refuse(w, http.StatusMisdirectedRequest, fmt.Sprintf("the name %q is not served here", r.Host))
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			// The origin "null" can be that of any page.
			if u, err := url.Parse(origin); err != nil || !slices.Contains(s.origins, origin) && !s.isNamed(hostname(u.Host)) {
				refuse(w, http.StatusForbidden, fmt.Sprintf("pages of %q are not served here", origin))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, status int, reason string) {
	http.Error(w, reason+": this service for tests knows only loopback names, such as localhost, and those that it was "+
		"told of (Options.Hosts and Options.Origins, or sandbox --host and --allow-origin)", status)
}

// hostname is a host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func (s *Server) isNamed(host string) bool {
	return isLoopback(host) || host != "" && slices.ContainsFunc(s.hosts, func(name string) bool {
		return strings.EqualFold(hostname(name), host)
	})
}

// isLoopback reports whether a name leads to this machine wherever it is looked up.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

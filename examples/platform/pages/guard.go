package pages

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// The most bytes of a form of a curator, and of somebody who may be one.
const (
	maxForm  = 1 << 20
	maxLogin = 4 << 10
)

// large are routes with larger bodies, which they limit themselves.
var large = map[string]bool{"POST /datasets/{suffix}/files": true}

// readBody reads the form of a request.
func readBody(w http.ResponseWriter, r *http.Request, pattern string) error {
	if large[pattern] {
		return nil
	}
	if curator(r) == "" && r.Method == http.MethodPost && pattern != "POST /login" {
		r.Form = url.Values{} // nobody reads what was typed
		return nil
	}
	most := int64(maxForm)
	if curator(r) == "" {
		most = maxLogin
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); err != nil && r.Method == http.MethodPost {
		return fmt.Errorf("%w: %w", errForm, err)
	}
	return nil
}

// maxRanges is how many parts of a file somebody gets in one response.
const maxRanges = 10

// guard refuses requests for other host names (DNS rebinding), sets the security headers, and
// forbids caches to store responses; see public.
func (p *Pages) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.ours(r.Host) {
			http.Error(w, "This repository is at "+p.By.Public, http.StatusMisdirectedRequest)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-store")
		h.Set("Vary", "Cookie")
		if p.secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if strings.Count(r.Header.Get("Range"), ",") >= maxRanges {
			r.Header.Del("Range") // the whole costs less
		}
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a host is the repository's, or this machine's own.
func (p *Pages) ours(host string) bool {
	if standard := map[bool]string{true: ":443", false: ":80"}[p.secure]; strings.EqualFold(strings.TrimSuffix(host, standard), strings.TrimSuffix(p.host, standard)) {
		return true
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	address, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return name == "localhost" || err == nil && address.IsLoopback()
}

// public lets caches store a response for some time, unless its reader is logged in and may see
// more. The time is 0 for responses that are counted: caches then revalidate each time.
func public(w http.ResponseWriter, r *http.Request, fresh time.Duration) {
	if curator(r) != "" {
		return
	}
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%.0f, must-revalidate", fresh.Seconds()))
}

// short shortens a text of a request for the log.
func short(text string) string { return fmt.Sprintf("%.200s", text) }

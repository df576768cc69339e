package pages

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// maxForm is the most bytes of a form.
const maxForm = 1 << 20

// large are the pages that take more, and read and bound it themselves.
var large = map[string]bool{"POST /datasets/{suffix}/files": true}

// readBody reads the form of a request.
func readBody(w http.ResponseWriter, r *http.Request, pattern string) error {
	if large[pattern] {
		return nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil && r.Method == http.MethodPost {
		return fmt.Errorf("%w: %w", errForm, err)
	}
	return nil
}

// guard refuses requests for other hosts, whose pages could otherwise read what is here
// through a name of theirs, and tells browsers what our pages never do. Nobody stores a
// response unless its page is public.
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

// public lets caches store a response for some time, since everybody may have it; but not
// what somebody gets who is logged in, who may see more. The time is 0 for what is counted:
// caches ask each time whether they may use what they have, and so every access is known.
func public(w http.ResponseWriter, r *http.Request, fresh time.Duration) {
	if curator(r) != "" {
		return
	}
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%.0f, must-revalidate", fresh.Seconds()))
}

// short is a text that somebody else chose, as much of it as a log needs.
func short(text string) string { return fmt.Sprintf("%.200s", text) }

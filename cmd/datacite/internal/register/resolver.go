package register

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/doi"
)

// A resolver redirects DOIs to their URLs. New DOIs and URLs reach the global one after a delay of
// usually a few minutes.
type resolver struct {
	base string            // its URL
	line http.RoundTripper // nil means that of package net/http
}

// ask returns the URL that a DOI leads to, "" if it does not resolve. It follows no redirect, and
// sends no credentials.
func (r resolver) ask(ctx context.Context, name string) (string, error) {
	address := strings.TrimRight(r.base, "/") + strings.TrimPrefix(doi.URL(name), "https://doi.org")
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return "", err
	}
	client := http.Client{
		Transport: r.line, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	_ = res.Body.Close() // empty after HEAD
	switch location := res.Header.Get("Location"); {
	case res.StatusCode == http.StatusNotFound:
		return "", nil
	case res.StatusCode/100 == 3 && location != "":
		return location, nil
	}
	return "", fmt.Errorf("HEAD %s: %s is neither a redirect nor 404", address, res.Status)
}

// wait returns when a DOI leads to an address. For 15 minutes it asks again, also when the resolver
// fails or does not know the DOI.
func (r resolver) wait(ctx context.Context, name, address string) error {
	end := time.Now().Add(15 * time.Minute)
	for pause := 5 * time.Second; ; pause = min(pause+pause/2, time.Minute) {
		found, err := r.ask(ctx, name)
		left := time.Until(end)
		switch {
		case err == nil && sameURL(found, address):
			return nil
		case left <= 0 && err != nil:
			return fmt.Errorf("%s does not resolve yet: %w", name, err)
		case left <= 0:
			return fmt.Errorf("%s does not resolve yet: it leads to %.500q", name, found)
		}
		select {
		case <-time.After(min(pause, left)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sameURL reports whether two URLs are the same but for what a resolver may normalise: the case of
// the host, percent-encoding, and the empty path.
func sameURL(a, b string) bool { return a == b || a != "" && plainURL(a) == plainURL(b) }

func plainURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	query, err := url.PathUnescape(u.RawQuery)
	if err != nil {
		return address
	}
	return strings.ToLower(u.Scheme+"://"+u.Host) + cmp.Or(u.Path, "/") + "?" + query + "#" + u.Fragment
}

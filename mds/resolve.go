package mds

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// ErrNotResolved: a DOI did not resolve to its URL before the time was up.
var ErrNotResolved error = &transport.Condition{Text: "mds: DOI does not resolve yet", Passes: true}

// A Resolver returns the URLs that DOIs resolve to. The global resolver is not part of the
// metadata store: a new DOI or URL reaches it after a delay of usually a few minutes
// (specification §8).
type Resolver interface {
	// Resolve returns the URL that a DOI resolves to, "" if it does not resolve. The name
	// is bare, as Parse of package doi returns it.
	Resolve(ctx context.Context, doi string) (string, error)
}

// TestResolver is the address of the resolver for the DOIs of the test service, for
// [HTTPResolver].
const TestResolver = "https://handle.test.datacite.org"

// HTTPResolver asks a resolver for the redirect of a DOI. It follows no redirect and
// sends no credentials.
type HTTPResolver struct {
	BaseURL    string       // "" means the global one, https://doi.org
	HTTPClient *http.Client // its CheckRedirect is not used; nil means one with a timeout of 30 seconds
}

// Resolve returns the target of the redirect, "" for a status of 404.
func (h *HTTPResolver) Resolve(ctx context.Context, doiName string) (string, error) {
	if ctx == nil {
		return "", transport.ErrNilContext
	}
	address := strings.TrimRight(cmp.Or(h.BaseURL, "https://doi.org"), "/") + "/" + doi.Path(doiName)
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return "", err
	}
	client := http.Client{Timeout: 30 * time.Second}
	if h.HTTPClient != nil {
		client = *h.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if end := call.Ended(ctx); err != nil && end != nil {
		return "", fmt.Errorf("mds.Resolve: HEAD %s: %w", address, end) // err may be the cause alone
	}
	if err != nil {
		return "", err
	}
	_ = res.Body.Close() // empty after HEAD
	switch {
	case res.StatusCode == http.StatusNotFound:
		return "", nil
	case res.StatusCode/100 == 3 && res.Header.Get("Location") != "":
		return res.Header.Get("Location"), nil
	}
	return "", fmt.Errorf("mds.Resolve: HEAD %s: %s is neither a redirect nor 404", address, res.Status)
}

// WaitOptions are the optional settings of WaitResolved.
type WaitOptions struct {
	First   time.Duration // pause after the first look; later pauses grow by half; 0 means 5 seconds
	Longest time.Duration // longest pause; 0 means 1 minute
	Timeout time.Duration // of the whole; 0 means 15 minutes
}

// WaitResolved returns when a DOI resolves to the given address, or to any address if "" is
// given. It asks again when the resolver fails or does not know the DOI. After
// WaitOptions.Timeout the error matches [ErrNotResolved] and says what the resolver
// returned last; when ctx ends, it is the context's error.
func WaitResolved(ctx context.Context, r Resolver, doiName, address string, opts *WaitOptions) error {
	if opts == nil {
		opts = &WaitOptions{}
	}
	if ctx == nil {
		return transport.ErrNilContext
	}
	name, err := doi.Parse(doiName)
	if err != nil {
		return doi.At("doi", err)
	}
	if r == nil {
		return datacite.Invalid(datacite.Finding{Path: "r", Code: "missing", Reason: "is nil"})
	}
	if min(opts.First, opts.Longest, opts.Timeout) < 0 {
		return datacite.Invalid(datacite.Finding{Path: "opts", Code: "limit", Reason: "has a negative duration"})
	}
	pause, longest := cmp.Or(opts.First, 5*time.Second), cmp.Or(opts.Longest, time.Minute)
	end := time.Now().Add(cmp.Or(opts.Timeout, 15*time.Minute))
	for {
		found, err := r.Resolve(ctx, name)
		if err == nil && found != "" && (address == "" || sameURL(found, address)) {
			return nil
		}
		left := time.Until(end)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("mds.WaitResolved: %s: %w", name, call.Ended(ctx))
		case left <= 0 && err != nil:
			return fmt.Errorf("%w: %s: %w", ErrNotResolved, name, err)
		case left <= 0:
			return fmt.Errorf("%w: %s leads to %.500q", ErrNotResolved, name, found)
		}
		if err := transport.Sleep(ctx, min(pause, left)); err != nil {
			return fmt.Errorf("mds.WaitResolved: %s: %w", name, err)
		}
		pause = min(pause+pause/2, longest)
	}
}

package transport

import (
	"context"
	"net/http"
	"time"
)

// Embedded is the way to a service in the same process, for tests. A client that is made
// with it, for its BaseURL, makes short pauses. Nothing but package datacitetest makes one.
type Embedded struct {
	http.RoundTripper
	BaseURL string
}

// CloseIdleConnections is for [http.Client.CloseIdleConnections].
func (e Embedded) CloseIdleConnections() {
	if t, ok := e.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

func isEmbedded(c *http.Client, baseURL string) bool {
	if c == nil {
		return false
	}
	e, ok := c.Transport.(Embedded)
	return ok && e.BaseURL == baseURL
}

// shorter is by how much the pauses of a client of an embedded service are shorter.
const shorter = 10_000

// Pause is how long the client really waits where it should wait d.
func (c *Client) Pause(d time.Duration) time.Duration {
	if c.embedded && d > 0 {
		return max(d/shorter, 1)
	}
	return d
}

// Outage is how long the client really puts up with failures where it should for d. An
// embedded service takes as much time for a request as any, so this shrinks less.
func (c *Client) Outage(d time.Duration) time.Duration {
	if c.embedded {
		return min(d, 10*c.Pause(d))
	}
	return d
}

// Sleep waits for [Client.Pause], or returns the context's error when it ends first.
func (c *Client) Sleep(ctx context.Context, d time.Duration) error {
	return Sleep(ctx, c.Pause(d))
}

// Sleep waits, or returns the context's error when it ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

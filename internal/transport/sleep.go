package transport

import (
	"context"
	"net/http"
	"time"

	"github.com/datacite-go/datacite-go/internal/call"
)

// Embedded is the way to a service in the same process, for tests. A client that is made
// with it, for its BaseURL, makes short pauses, unless RealTime is set, and keeps its locks in
// LockDir. Nothing but package datacitetest makes one.
type Embedded struct {
	http.RoundTripper
	BaseURL  string
	RealTime bool
	LockDir  func() (string, error)
}

// CloseIdleConnections is for [http.Client.CloseIdleConnections].
func (e Embedded) CloseIdleConnections() {
	if t, ok := e.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// embeddedIn returns the embedded service that the client reaches, or the zero value.
func embeddedIn(c *http.Client, baseURL string) Embedded {
	if c == nil {
		return Embedded{}
	}
	if e, ok := c.Transport.(Embedded); ok && e.BaseURL == baseURL {
		return e
	}
	return Embedded{}
}

// LockDir returns what returns the folder for the locks of an embedded service; nil for any
// other.
func (c *Client) LockDir() func() (string, error) { return c.lockDir }

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
		return call.Ended(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return call.Ended(ctx)
	}
}

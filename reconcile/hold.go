package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// longestHold is how long the workers wait for a service that turns all requests away.
const longestHold = 30 * time.Minute

// A hold is the one wait of all workers for a service that says when it wants the next request.
type hold struct {
	mu    sync.Mutex
	since time.Time // when it turned away the first request after one that it served; zero: none
	until time.Time
}

// wait waits for the end of the hold, or of ctx.
func (h *hold) wait(ctx context.Context) {
	h.mu.Lock()
	left := time.Until(h.until)
	h.mu.Unlock()
	_ = transport.Sleep(ctx, left) // who goes on asks ctx
}

// note looks for such a wish in the outcome of a try. It returns the wait that begins with it, 0
// for none, and an error if that is too long.
func (h *hold) note(client *transport.Client, outcome error) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := errors.AsType[*datacite.Error](outcome)
	if outcome == nil {
		h.since = time.Time{}
	}
	if !ok || !datacite.Temporary(outcome) || time.Until(e.RetryAt) <= 0 {
		return 0, nil
	}
	if h.since.IsZero() {
		h.since = time.Now()
	}
	if e.RetryAt.Sub(h.since) > longestHold {
		h.until = time.Now().Add(longestHold) // no worker sends another request before the run ends
		return 0, fmt.Errorf("the service turns all requests away; come back at %s: %w",
			e.RetryAt.UTC().Format("2006-01-02 15:04:05 UTC"), outcome)
	}
	until := time.Now().Add(client.Pause(time.Until(e.RetryAt)))
	if until.Sub(h.until) < client.Pause(time.Second) { // another worker has said so
		return 0, nil
	}
	h.until = until
	return time.Until(e.RetryAt).Round(time.Second), nil
}

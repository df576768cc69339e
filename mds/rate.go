package mds

import (
	"context"
	"sync"
	"time"
)

// A Rate is a [Limiter] that spaces requests evenly. One Rate may serve several
// clients and many goroutines.
type Rate struct {
	mu    sync.Mutex
	space time.Duration
	next  time.Time
}

// NewRate makes a Rate of at most n requests in every stretch of time per, such
// as NewRate(3000, 5*time.Minute), the documented limit of DataCite for accounts.
// An n below 1 counts as 1.
func NewRate(n int, per time.Duration) *Rate {
	return &Rate{space: per / time.Duration(max(n, 1))}
}

// Wait returns when it is the caller's turn, or the context's error.
func (r *Rate) Wait(ctx context.Context) error {
	r.mu.Lock()
	now := time.Now()
	turn := r.next
	if turn.Before(now) {
		turn = now
	}
	r.next = turn.Add(r.space)
	r.mu.Unlock()
	return sleep(ctx, turn.Sub(now))
}

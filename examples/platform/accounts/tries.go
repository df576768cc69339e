package accounts

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// From is who tries a password.
type From struct {
	Address string // of the network
	Browser string // what Login gave it the last time; "" for one that is not known
}

const (
	maxWrong   = 10 // wrong passwords of one network or known browser, in the pause
	pause      = 15 * time.Minute
	maxWaiting = 50
)

// Tries limit wrong passwords, and how many comparisons run at the same time, since one takes a
// quarter of a second. Known browsers have limits of their own, so that a curator can always log
// in from one, however many others guess.
type tries struct {
	mu      sync.Mutex
	lately  map[string][]time.Time // wrong and unfinished tries, by network or known browser
	waiting int
	turn    map[bool]chan struct{} // for known browsers, and for others
}

func newTries() *tries {
	return &tries{lately: map[string][]time.Time{}, turn: map[bool]chan struct{}{
		true: make(chan struct{}, 1), false: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
	}}
}

// begin counts a try and waits until it may compare. The caller ends it and says whether the
// password was right. The error is ErrTooMany or ErrBusy.
func (t *tries) begin(ctx context.Context, who string, known bool) (end func(right bool), err error) {
	if err := t.reserve(who, known); err != nil {
		return nil, err
	}
	turn := t.turn[known]
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		err = ctx.Err()
		t.release(who)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting--
	return func(right bool) {
		<-turn
		if right {
			t.release(who)
		}
	}, err
}

func (t *tries) reserve(who string, known bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for from, times := range t.lately {
		for len(times) > 0 && now.Sub(times[0]) > pause {
			times = times[1:]
		}
		if t.lately[from] = times; len(times) == 0 {
			delete(t.lately, from)
		}
	}
	switch {
	case len(t.lately[who]) >= maxWrong:
		return ErrTooMany
	case t.waiting >= maxWaiting && !known:
		return ErrBusy
	}
	t.lately[who] = append(t.lately[who], now)
	t.waiting++
	return nil
}

// release forgets the last try.
func (t *tries) release(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if times := t.lately[who]; len(times) > 0 {
		t.lately[who] = times[:len(times)-1]
	}
}

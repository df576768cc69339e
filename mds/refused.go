package mds

import (
	"errors"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
)

// refusedAfter is how many items of one prefix the service refuses until no more of
// it are sent in that round: a few DOIs may belong to somebody else.
const refusedAfter = 3

// refusals spare a service, round by round, the items of prefixes that are not the
// account's: several were refused, and none was registered. What looks like a refusal
// may be a lost service behind the store, so each further round asks again.
type refusals struct {
	mu       sync.Mutex
	prefixes map[string]refusal
}

type refusal struct {
	items      int
	last       *datacite.Error
	registered bool // one item at least
}

// of returns the error of an item that need not be sent, nil for others.
func (r *refusals) of(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.prefixes[doi.Prefix(name)]
	if found.registered || found.items < refusedAfter {
		return nil
	}
	e := *found.last
	e.Message += "; " + name + " was not sent, as others of its prefix were refused"
	e.Attempts, e.Unclear = 0, false
	return &e
}

// note keeps what became of an item that was sent.
func (r *refusals) note(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	prefix := doi.Prefix(name)
	found := r.prefixes[prefix]
	if err == nil {
		found.registered = true
	} else if e, ok := err.(*datacite.Error); ok && errors.Is(e, datacite.ErrForbidden) {
		found.items, found.last = found.items+1, e
	}
	r.prefixes[prefix] = found
}

// relent lets one item of each prefix find out whether it is still refused.
func (r *refusals) relent() {
	for prefix, found := range r.prefixes {
		found.items = min(found.items, refusedAfter-1)
		r.prefixes[prefix] = found
	}
}

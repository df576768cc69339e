package mds

import (
	"errors"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
)

// refusedAfter is how many items of a prefix must be refused before no more of it are
// sent in that round: a few DOIs may belong to somebody else.
const refusedAfter = 3

// refusals knows the prefixes of which items are not sent in this round, because
// several were refused and none was registered. Each further round tries again, as
// what looks like a refusal may be a lost service behind the store.
type refusals struct {
	mu       sync.Mutex
	prefixes map[string]refusal
}

type refusal struct {
	items      int
	last       *datacite.Error
	registered bool // one item at least
}

// of returns the error of an item that need not be sent, nil for others. An item of a prefix to which the
// account surely has no right may have its DOI all the same, from another account: known reports whether
// there is such a DOI.
func (r *refusals) of(name string, known func() bool) error {
	r.mu.Lock()
	found := r.prefixes[doi.Prefix(name)]
	r.mu.Unlock()
	sure := found.last != nil && errors.Is(found.last, errForeignPrefix)
	switch {
	case sure && known(), !sure && (found.registered || found.items < refusedAfter):
		return nil
	}
	e := *found.last
	e.Message += "; " + name + " was not sent, as others of its prefix were refused"
	e.Attempts, e.Unclear = 0, false
	return &e
}

// note keeps the result of an item that was sent.
func (r *refusals) note(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	prefix := doi.Prefix(name)
	found := r.prefixes[prefix]
	if err == nil {
		found.registered = true
	} else if e, ok := err.(*datacite.Error); ok && errors.Is(e, datacite.ErrForbidden) && !errors.Is(e, errForeignDOI) {
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

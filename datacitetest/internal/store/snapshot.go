package store

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/usage"
)

// A Snapshot is the whole state of a store, for storing as JSON.
type Snapshot struct {
	Moved   time.Duration     // total of Advance
	Keys    map[string]string // the client id of each API key
	Records []*record.Record
	Usage   []usage.Event

	Relations []usage.Relation
}

// Snapshot returns the current state.
func (s *Store) Snapshot() Snapshot {
	snap := Snapshot{Moved: time.Duration(s.moved.Load()), Keys: map[string]string{}}
	s.keys.Range(func(key, account any) bool {
		snap.Keys[key.(string)] = account.(*record.Account).ClientID
		return true
	})
	s.mu.RLock()
	defer s.mu.RUnlock()
	snap.Records = slices.SortedFunc(maps.Values(s.records), func(a, b *record.Record) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.DOI, b.DOI))
	})
	snap.Usage, snap.Relations = s.usage.All(), s.usage.Relations()
	return snap
}

// Copy returns a store with the same contents, which changes of either do not reach the other.
func (s *Store) Copy() *Store {
	c := New(s.Settings)
	c.moved.Store(s.moved.Load())
	s.keys.Range(func(key, account any) bool {
		c.keys.Store(key, c.Client(account.(*record.Account).ClientID))
		return true
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	c.usage.Restore(s.usage.All())
	c.usage.RestoreRelations(s.usage.Relations())
	s.catchUp(s.Now())
	c.records, c.removed, c.behind = maps.Clone(s.records), maps.Clone(s.removed), maps.Clone(s.behind)
	s.shared, c.index, c.shared = true, s.index, true
	return c
}

// Restore adds the contents of a snapshot. Keys of accounts that no longer exist are left out.
func (s *Store) Restore(snap Snapshot) {
	s.moved.Store(int64(snap.Moved))
	for key, clientID := range snap.Keys {
		if account := s.Client(clientID); account != nil {
			s.keys.Store(key, account)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage.Restore(snap.Usage)
	s.usage.RestoreRelations(snap.Relations)
	for _, rec := range snap.Records {
		s.keep(rec)
	}
}

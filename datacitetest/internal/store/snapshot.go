package store

import (
	"maps"
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
	for _, rec := range s.All() {
		if !rec.Gone {
			snap.Records = append(snap.Records, rec)
		}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
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
	s.mu.RLock()
	defer s.mu.RUnlock()
	c.usage.Restore(s.usage.All())
	c.usage.RestoreRelations(s.usage.Relations())
	c.removed = maps.Clone(s.removed)
	c.records = make(map[string]*record.Record, len(s.records))
	// Its views and relationships are there already: making them anew would take a hundred times as long.
	all := make([]record.Record, 0, len(s.records))
	for key, rec := range s.records {
		all = append(all, *rec)
		copied := &all[len(all)-1]
		copied.Known = c.known
		c.records[key] = copied
	}
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

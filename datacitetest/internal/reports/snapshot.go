package reports

import (
	"maps"
	"slices"
)

// A Snapshot is the whole state of the service, for storing as JSON.
type Snapshot struct {
	Reports   map[string]*stored
	Keys      map[string]string
	Documents map[string]attachment
	Inserted  int64
}

// Snapshot returns the current state.
func (s *Service) Snapshot() Snapshot {
	a := &s.Archive
	a.mu.Lock()
	defer a.mu.Unlock()
	snap := Snapshot{map[string]*stored{}, maps.Clone(a.keys), maps.Clone(a.documents), a.inserted}
	for uid, r := range a.reports {
		copied := *r
		copied.Header, copied.Rows = maps.Clone(r.Header), slices.Clone(r.Rows)
		snap.Reports[uid] = &copied
	}
	return snap
}

// Restore adds the contents of a snapshot, which later changes may change.
func (s *Service) Restore(snap Snapshot) {
	a := &s.Archive
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inserted = max(a.inserted, snap.Inserted)
	for uid, r := range snap.Reports {
		a.remove(uid)
		a.reports[uid] = r
	}
	maps.Copy(a.keys, snap.Keys)
	maps.Copy(a.documents, snap.Documents)
}

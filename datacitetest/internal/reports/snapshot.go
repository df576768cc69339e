package reports

import (
	"maps"
	"slices"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
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
		copied.Header, copied.Rows, copied.Parts = maps.Clone(r.Header), slices.Clone(r.Rows), slices.Clone(r.Parts)
		snap.Reports[uid] = &copied
	}
	return snap
}

// CopyTo gives the service of another store the same contents, which changes of either do not
// reach the other.
func (s *Service) CopyTo(other *Service) { other.Archive.add(s.Snapshot()) }

// Restore adds the contents of a snapshot that was stored.
func (s *Service) Restore(snap Snapshot) error {
	for _, r := range snap.Reports {
		for i, p := range r.Parts {
			text, err := withoutCoding(p.Coding, p.Body)
			if err == nil {
				p.content, err = readReport(text, false, wire.MaxDatasets)
			}
			if err != nil {
				return err
			}
			p.checksum = sum256(p.Body)
			r.Parts[i] = p
		}
	}
	s.Archive.add(snap)
	return nil
}

func (a *archive) add(snap Snapshot) {
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

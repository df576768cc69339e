package reports

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// A Snapshot is the whole state of the service, for storing as JSON.
type Snapshot struct {
	Reports  []SavedReport
	Inserted int64
}

// SavedReport is a report with its document.
type SavedReport struct {
	UID, Owner, Year, Month, Key string
	Header                       object
	Datasets                     json.RawMessage `json:",omitempty"`
	Compressed                   []byte
	Documented                   bool
	Rows                         []row
	Parts                        []SavedPart
	Document                     *attachment `json:",omitempty"`
}

// SavedPart is a body as received.
type SavedPart struct {
	Body   []byte
	Coding string
}

// Snapshot returns the current state.
func (s *Service) Snapshot() Snapshot {
	a := &s.Archive
	a.mu.Lock()
	defer a.mu.Unlock()
	snap := Snapshot{Inserted: a.inserted}
	for _, r := range a.list() {
		saved := SavedReport{
			UID: r.uid, Owner: r.owner, Year: r.year, Month: r.month, Key: r.key, Header: r.header, Datasets: r.datasets,
			Compressed: r.compressed, Documented: r.documented, Rows: slices.Clone(r.rows),
		}
		for _, p := range r.parts {
			saved.Parts = append(saved.Parts, SavedPart{p.body, p.coding})
		}
		if d, there := a.documents[names.Folded(r.uid)]; there {
			d.Subsets = slices.Clone(d.Subsets)
			saved.Document = &d
		}
		snap.Reports = append(snap.Reports, saved)
	}
	return snap
}

// CopyTo gives the service of another store the same contents, which changes of either do not
// reach the other.
func (s *Service) CopyTo(other *Service) {
	a := &s.Archive
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &other.Archive
	c.inserted = a.inserted
	c.keys = maps.Clone(a.keys)
	for uid, r := range a.reports {
		copied := *r
		copied.header, copied.rows, copied.parts = maps.Clone(r.header), slices.Clone(r.rows), slices.Clone(r.parts)
		c.reports[uid] = &copied
	}
	for uid, d := range a.documents {
		d.Subsets = slices.Clone(d.Subsets)
		c.documents[uid] = d
	}
}

// Restore adds the contents of a snapshot.
func (s *Service) Restore(snap Snapshot) error {
	a := &s.Archive
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inserted = max(a.inserted, snap.Inserted)
	for _, saved := range snap.Reports {
		r := &stored{
			uid: saved.UID, owner: saved.Owner, year: saved.Year, month: saved.Month, key: saved.Key, header: saved.Header, datasets: saved.Datasets,
			compressed: saved.Compressed, documented: saved.Documented, rows: slices.Clone(saved.Rows),
		}
		for _, p := range saved.Parts {
			text, err := withoutCoding(p.Coding, p.Body)
			if err != nil {
				return err
			}
			c, err := readReport(text, anyValue, anyValue, wire.MaxDatasets)
			if err != nil {
				return err
			}
			r.parts = append(r.parts, part{content: c, body: bytes.Clone(p.Body), coding: p.Coding, checksum: sum256(p.Body)})
		}
		a.remove(r.uid)
		a.insert(r)
		if d := saved.Document; d != nil {
			a.documents[names.Folded(r.uid)] = *d
		}
	}
	return nil
}

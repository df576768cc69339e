package reports

import (
	"bytes"
	"encoding/json"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// A Snapshot is all that the service holds, to be kept as JSON.
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
	Rows                         []SavedRow
	Parts                        []SavedPart
	Document                     *SavedDocument `json:",omitempty"`
}

// SavedRow is a subset.
type SavedRow struct {
	ID, Nth  int64
	Checksum string
	Gzip     []byte
}

// SavedPart is a body as it came.
type SavedPart struct {
	Body   []byte
	Coding string
}

// SavedDocument is what is stored beside the database.
type SavedDocument struct {
	Header   object
	Datasets json.RawMessage `json:",omitempty"`
	Subsets  []SavedRow
}

// Snapshot returns what the service holds now.
func (s *Service) Snapshot() Snapshot {
	a := &s.Archive
	a.mu.Lock()
	defer a.mu.Unlock()
	snap := Snapshot{Inserted: a.inserted}
	for _, r := range a.list() {
		saved := SavedReport{
			UID: r.uid, Owner: r.owner, Year: r.year, Month: r.month, Key: r.key, Header: r.header, Datasets: r.datasets,
			Compressed: r.compressed, Documented: r.documented, Rows: savedRows(r.rows),
		}
		for _, p := range r.parts {
			saved.Parts = append(saved.Parts, SavedPart{p.body, p.coding})
		}
		if d, there := a.documents[names.Folded(r.uid)]; there {
			saved.Document = &SavedDocument{d.header, d.datasets, savedRows(d.subsets)}
		}
		snap.Reports = append(snap.Reports, saved)
	}
	return snap
}

func savedRows(rows []row) (saved []SavedRow) {
	for _, r := range rows {
		saved = append(saved, SavedRow{r.id, r.nth, r.checksum, r.gzip})
	}
	return saved
}

func restoredRows(saved []SavedRow) (rows []row) {
	for _, r := range saved {
		rows = append(rows, row{r.ID, r.Nth, r.Checksum, r.Gzip})
	}
	return rows
}

// Restore adds what a snapshot holds.
func (s *Service) Restore(snap Snapshot) error {
	a := &s.Archive
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inserted = max(a.inserted, snap.Inserted)
	for _, saved := range snap.Reports {
		r := &stored{
			uid: saved.UID, owner: saved.Owner, year: saved.Year, month: saved.Month, key: saved.Key, header: saved.Header, datasets: saved.Datasets,
			compressed: saved.Compressed, documented: saved.Documented, rows: restoredRows(saved.Rows),
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
			a.documents[names.Folded(r.uid)] = attachment{d.Header, d.Datasets, restoredRows(d.Subsets)}
		}
	}
	return nil
}

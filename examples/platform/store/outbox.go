package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

func enqueue(ctx context.Context, tx *sql.Tx, id int64) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO outbox (dataset, due) VALUES (?, 0)`, id) // at once, whatever the clock does
	return err
}

// Again puts a dataset into the outbox whose DOIs are not as they should be.
func (s *Store) Again(ctx context.Context, id int64) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error { return enqueue(ctx, tx, id) })
}

// A Waiting dataset is in the outbox.
type Waiting struct {
	*dataset.Dataset
	Due time.Time // when it is tried next
}

// Waiting returns the datasets in the outbox, the next one first, at most as many.
func (s *Store) Waiting(ctx context.Context, most int) ([]Waiting, error) {
	found, err := datasets(ctx, s.db, "WHERE o.dataset IN (SELECT dataset FROM outbox ORDER BY due LIMIT ?) ORDER BY o.due, d.id, v.number", most)
	if err != nil {
		return nil, err
	}
	var all []Waiting
	for _, d := range found {
		var due int64
		err := s.db.QueryRowContext(ctx, `SELECT due FROM outbox WHERE dataset = ?`, d.ID).Scan(&due)
		if errors.Is(err, sql.ErrNoRows) {
			continue // registered in the meantime
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Waiting{d, time.UnixMilli(due)})
	}
	return all, nil
}

// TryNow makes it the turn of a dataset in the outbox.
func (s *Store) TryNow(ctx context.Context, id int64) error {
	_, err := s.db.ExecContext(ctx, `UPDATE outbox SET due = ? WHERE dataset = ?`, time.Now().UnixMilli(), id)
	return err
}

// LongestPause is the most until the outbox tries again. A dataset whose turn comes later is
// from a time when the clock was ahead: its turn has come.
const LongestPause = 24 * time.Hour

// Due returns the datasets whose turn in the outbox has come, and when that of the
// next one comes.
func (s *Store) Due(ctx context.Context) (now []*dataset.Dataset, next time.Time, err error) {
	at := time.Now()
	latest := at.Add(LongestPause + time.Hour).UnixMilli()
	now, err = datasets(ctx, s.db, `WHERE o.dataset IN (SELECT dataset FROM outbox WHERE due <= ? OR due > ? ORDER BY due LIMIT 100) ORDER BY o.due, d.id, v.number`, at.UnixMilli(), latest)
	if err != nil {
		return nil, next, err
	}
	var soonest int64
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(min(due), 0) FROM outbox WHERE due > ? AND due <= ?`, at.UnixMilli(), latest).Scan(&soonest)
	next = at.Add(time.Hour) // also after the clock has stepped
	if soonest > 0 && time.UnixMilli(soonest).Before(next) {
		next = time.UnixMilli(soonest)
	}
	return now, next, err
}

// Rename gives a dataset or a version another DOI, before anything was sent under the
// first.
func (s *Store) Rename(ctx context.Context, old, prefix string) (name string, err error) {
	err = sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		if name, err = s.newName(ctx, tx, prefix); err != nil {
			return err
		}
		if err := named(ctx, tx, `SET doi = ?2 WHERE doi = ?1 AND claimed = 0`, old, name); err != nil {
			return err
		}
		ids, err := column[int64](ctx, tx, `SELECT dataset FROM version WHERE doi = ?1 UNION SELECT id FROM dataset WHERE doi = ?1`, name)
		for _, id := range ids {
			err = errors.Join(err, index(ctx, tx, id))
		}
		return err
	})
	return name, err
}

// Claim notes that from now on something may be sent under a DOI.
func (s *Store) Claim(ctx context.Context, name string) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error { return named(ctx, tx, `SET claimed = 1 WHERE doi = ?1`, name) })
}

// named changes the dataset or the version that has a DOI.
func named(ctx context.Context, tx *sql.Tx, set string, args ...any) error {
	if _, err := tx.ExecContext(ctx, "UPDATE dataset "+set, args...); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE version "+set, args...)
	return err
}

// Settled notes that the service has a dataset as it was read, and takes it out of the
// outbox unless it has changed since.
func (s *Store) Settled(ctx context.Context, d *dataset.Dataset) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		for _, v := range d.Public() {
			if _, err := tx.ExecContext(ctx, `UPDATE version SET shown = ? WHERE dataset = ? AND number = ?`, v.State, d.ID, v.Number); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM outbox WHERE dataset = ?1 AND (SELECT revision FROM dataset WHERE id = ?1) = ?2`, d.ID, d.Revision)
		return err
	})
}

// Failed notes why a dataset stays in the outbox, and when it is tried again.
func (s *Store) Failed(ctx context.Context, d *dataset.Dataset, problem string, due time.Time) error {
	_, err := s.db.ExecContext(ctx, `UPDATE outbox SET tries = tries + 1, problem = ?, due = ? WHERE dataset = ? AND (SELECT revision FROM dataset WHERE id = ?) = ?`,
		problem, due.UnixMilli(), d.ID, d.ID, d.Revision)
	return err
}

// A Finding of a check is for a person to look at.
type Finding struct {
	Text string
	DOI  string // findable, and of no public dataset; "" for other findings
}

// Checked stores what a check found in place of what the last one did.
func (s *Store) Checked(ctx context.Context, at time.Time, findings []Finding) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM finding`); err != nil {
			return err
		}
		for _, f := range append(findings, Finding{}) { // the empty one says when it was
			if _, err := tx.ExecContext(ctx, `INSERT INTO finding (at, text, doi) VALUES (?, ?, ?)`, at.Unix(), f.Text, f.DOI); err != nil {
				return err
			}
		}
		return nil
	})
}

// Findings returns what the last check found, and when it was.
func (s *Store) Findings(ctx context.Context) (at time.Time, all []Finding, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT at, text, doi FROM finding`)
	if err != nil {
		return at, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var seconds int64
		var f Finding
		if err := rows.Scan(&seconds, &f.Text, &f.DOI); err != nil {
			return at, nil, err
		}
		at = time.Unix(seconds, 0)
		if f.Text != "" {
			all = append(all, f)
		}
	}
	return at, all, rows.Err()
}

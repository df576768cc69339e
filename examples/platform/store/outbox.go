package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

func enqueue(ctx context.Context, tx *sql.Tx, id int64) error {
	// at once, whatever the clock does
	return sqlite.Do(ctx, tx, `INSERT OR REPLACE INTO outbox (dataset, due) VALUES (?, 0)`, id)
}

// Again puts a dataset into the outbox.
func (s *Store) Again(ctx context.Context, id int64) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error { return enqueue(ctx, tx, id) })
}

// first are the datasets in the outbox that a condition chooses, the next one first.
func (s *Store) first(ctx context.Context, most int, condition string, args ...any) ([]*dataset.Dataset, error) {
	return datasets(ctx, s.db, "WHERE o.dataset IN (SELECT dataset FROM outbox WHERE "+condition+
		" ORDER BY due LIMIT ?) ORDER BY o.due, d.id, v.number", append(args, most)...)
}

// Waiting returns the datasets in the outbox, the next one first, at most as many.
func (s *Store) Waiting(ctx context.Context, most int) ([]*dataset.Dataset, error) {
	return s.first(ctx, most, "true")
}

// TryNow makes a dataset in the outbox due.
func (s *Store) TryNow(ctx context.Context, id int64) error {
	return sqlite.Do(ctx, s.db, `UPDATE outbox SET due = ? WHERE dataset = ?`, time.Now().UnixMilli(), id)
}

// LongestPause is the longest pause between two tries. A dataset that is due later than that was
// put off while the clock was ahead, and is due now.
const LongestPause = 24 * time.Hour

// Due returns the datasets that are due, and when the next one will be.
func (s *Store) Due(ctx context.Context) (now []*dataset.Dataset, next time.Time, err error) {
	at := time.Now()
	latest := at.Add(LongestPause + time.Hour).UnixMilli()
	now, err = s.first(ctx, 100, "due <= ? OR due > ?", at.UnixMilli(), latest)
	if err != nil {
		return nil, next, err
	}
	var soonest int64
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(min(due), 0) FROM outbox WHERE due > ? AND due <= ?`, at.UnixMilli(),
		latest).Scan(&soonest)
	next = at.Add(time.Hour) // also after the clock has stepped
	if soonest > 0 && time.UnixMilli(soonest).Before(next) {
		next = time.UnixMilli(soonest)
	}
	return now, next, err
}

// Rename replaces a DOI under which nothing was sent yet.
func (s *Store) Rename(ctx context.Context, old, prefix string) (name string, err error) {
	err = s.commit(ctx, func(tx *sql.Tx) error {
		if name, err = s.newName(ctx, tx, prefix); err != nil {
			return err
		}
		if err := named(ctx, tx, `SET doi = ?2 WHERE doi = ?1 AND claimed = 0`, old, name); err != nil {
			return err
		}
		ids, err := sqlite.Column[int64](ctx, tx,
			`SELECT dataset FROM version WHERE doi = ?1 UNION SELECT id FROM dataset WHERE doi = ?1`, name)
		for _, id := range ids {
			err = errors.Join(err, index(ctx, tx, id))
		}
		return err
	})
	return name, err
}

// Claim records that records may be sent under a DOI from now on.
func (s *Store) Claim(ctx context.Context, name string) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		return named(ctx, tx, `SET claimed = 1 WHERE doi = ?1`, name)
	})
}

// named updates the dataset or the version with a DOI.
func named(ctx context.Context, tx *sql.Tx, set string, args ...any) error {
	if err := sqlite.Do(ctx, tx, "UPDATE dataset "+set, args...); err != nil {
		return err
	}
	return sqlite.Do(ctx, tx, "UPDATE version "+set, args...)
}

// Settled records that the service agrees with a dataset as it was read, and removes the dataset
// from the outbox unless it has changed since.
func (s *Store) Settled(ctx context.Context, d *dataset.Dataset) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		for _, v := range d.Public() {
			if err := sqlite.Do(ctx, tx, `UPDATE version SET shown = ? WHERE dataset = ? AND number = ?`, v.State, d.ID,
				v.Number); err != nil {
				return err
			}
		}
		return sqlite.Do(ctx, tx, `DELETE FROM outbox WHERE dataset = ?1 AND (SELECT revision FROM dataset WHERE id = ?1) `+
			`= ?2`, d.ID, d.Revision)
	})
}

// Failed records why a dataset stays in the outbox, and when it is due again.
func (s *Store) Failed(ctx context.Context, d *dataset.Dataset, problem string, due time.Time) error {
	return sqlite.Do(ctx, s.db, `UPDATE outbox SET tries = tries + 1, problem = ?, due = ? WHERE dataset = ? AND `+
		`(SELECT revision FROM dataset WHERE id = ?) = ?`,
		problem, due.UnixMilli(), d.ID, d.ID, d.Revision)
}

// A Finding of the comparison with DataCite's records is for an administrator.
type Finding struct {
	Text string
	DOI  string // findable, and of no public dataset; "" for other findings
}

// Checked replaces the findings of the last comparison.
func (s *Store) Checked(ctx context.Context, at time.Time, findings []Finding) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		if err := sqlite.Do(ctx, tx, `DELETE FROM finding`); err != nil {
			return err
		}
		for _, f := range append(findings, Finding{}) { // the empty one says when it was
			if err := sqlite.Do(ctx, tx, `INSERT INTO finding (at, text, doi) VALUES (?, ?, ?)`, at.Unix(), f.Text,
				f.DOI); err != nil {
				return err
			}
		}
		return nil
	})
}

// Findings returns the findings of the last comparison and its time.
func (s *Store) Findings(ctx context.Context) (at time.Time, all []Finding, err error) {
	all, err = sqlite.All(ctx, s.db, func(row *sql.Rows, f *Finding) error {
		var seconds int64
		err := row.Scan(&seconds, &f.Text, &f.DOI)
		at = time.Unix(seconds, 0)
		return err
	}, `SELECT at, text, doi FROM finding`)
	return at, slices.DeleteFunc(all, func(f Finding) bool { return f.Text == "" }), err
}

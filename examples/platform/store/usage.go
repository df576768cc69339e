package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
	"github.com/datacite-go/datacite-go/reports/counter"
)

const month = "2006-01"

// ErrFinal means that an access would change what is reported already, or that the version
// was not published yet: the clock is wrong, or was wrong.
var ErrFinal = errors.New("its month was reported as complete, or it is before the publication: is the clock right?")

// A note is an access that is to be stored.
type note struct {
	version *dataset.Version
	event   counter.Event
	stored  bool
	err     error
}

// notes are those that wait to be stored.
type notes struct {
	writing sync.Mutex // held while some are stored
	mu      sync.Mutex
	waiting []*note
}

// Accessed stores an access to a version, which is counted later, or returns ErrFinal.
// Whoever comes while others are written waits, and is written with all who have come
// meanwhile: the disk is waited for once for all of them.
func (s *Store) Accessed(ctx context.Context, v *dataset.Version, e counter.Event) error {
	n := &note{version: v, event: e}
	s.notes.mu.Lock()
	s.notes.waiting = append(s.notes.waiting, n)
	s.notes.mu.Unlock()
	s.notes.writing.Lock()
	defer s.notes.writing.Unlock()
	if n.stored || n.err != nil {
		return n.err // others did it
	}
	s.notes.mu.Lock()
	notes := s.notes.waiting
	s.notes.waiting = nil
	s.notes.mu.Unlock()
	ctx = context.WithoutCancel(ctx) // it is the work of others, too
	err := sqlite.Change(ctx, s.db, func(tx *sql.Tx) error { return store(ctx, tx, notes) })
	for _, n := range notes {
		n.stored, n.err = err == nil, cmp.Or(err, n.err)
	}
	return n.err
}

func store(ctx context.Context, tx *sql.Tx, notes []*note) error {
	insert, err := tx.PrepareContext(ctx, `INSERT INTO access (version, at, event) SELECT id, ?, ? FROM version WHERE dataset = ? AND number = ? AND published <= ?
		AND NOT EXISTS (SELECT 1 FROM report WHERE month = ? AND complete)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, n := range notes {
		event, err := json.Marshal(n.event)
		if err != nil {
			return err
		}
		at := n.event.Time.UTC()
		res, err := insert.ExecContext(ctx, at.Unix(), event, n.version.Dataset, n.version.Number, at.Format(time.DateOnly), at.Format(month))
		if err != nil {
			return err
		}
		rows, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if rows == 0 {
			n.err = ErrFinal
		}
	}
	return nil
}

// AccessesOn returns how many accesses of a day are stored.
func (s *Store) AccessesOn(ctx context.Context, day string) (n int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM access WHERE at >= unixepoch(?1) AND at < unixepoch(?1, '+1 day')`, day).Scan(&n)
	return n, err
}

// Missed adds to the accesses that were not stored, by month.
func (s *Store) Missed(ctx context.Context, counts map[string]int64) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		for month, n := range counts {
			if _, err := tx.ExecContext(ctx, `INSERT INTO missed VALUES (?1, ?2) ON CONFLICT (month) DO UPDATE SET accesses = accesses + ?2`, month, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// AllMissed returns how many accesses were not stored, by month.
func (s *Store) AllMissed(ctx context.Context) (map[string]int64, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT month, accesses FROM missed`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]int64{}
	for rows.Next() {
		var month string
		var n int64
		if err := rows.Scan(&month, &n); err != nil {
			return nil, err
		}
		all[month] = n
	}
	return all, rows.Err()
}

// Accesses yields what happened from one time until another.
func (s *Store) Accesses(ctx context.Context, from, until time.Time) iter.Seq2[counter.Event, error] {
	return func(yield func(counter.Event, error) bool) {
		rows, err := s.db.QueryContext(ctx, `SELECT v.doi, a.event FROM access a JOIN version v ON v.id = a.version WHERE a.at BETWEEN ? AND ?`, from.Unix(), until.Unix())
		if err != nil {
			yield(counter.Event{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var e counter.Event
			var name string
			var event []byte
			err := rows.Scan(&name, &event)
			if err == nil {
				err = json.Unmarshal(event, &e)
			}
			e.DOI = name
			if !yield(e, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(counter.Event{}, err)
		}
	}
}

// Months returns those of which accesses are stored, and whose reports are not complete.
func (s *Store) Months(ctx context.Context) (all []time.Time, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT DISTINCT strftime('%Y-%m', at, 'unixepoch') AS month FROM access
		WHERE month NOT IN (SELECT month FROM report WHERE complete) ORDER BY month`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		first, err := time.Parse(month, text)
		if err != nil {
			return nil, err
		}
		all = append(all, first)
	}
	return all, rows.Err()
}

// Used is how often people looked at a version and downloaded files of it.
type Used struct{ Views, Downloads int64 }

// Counted stores what was counted in a month, by DOI.
func (s *Store) Counted(ctx context.Context, first time.Time, counts map[string]Used) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error { return counted(ctx, tx, first, counts) })
}

func counted(ctx context.Context, tx *sql.Tx, first time.Time, counts map[string]Used) error {
	for name, n := range counts {
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO used VALUES (?, ?, ?, ?)`, doi.Key(name), first.Format(month), n.Views, n.Downloads); err != nil {
			return err
		}
	}
	return nil
}

// Display stores what the service shows, by DOI.
func (s *Store) Display(ctx context.Context, counts map[string]Used) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		for name, n := range counts {
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO displayed VALUES (?, ?, ?)`, doi.Key(name), n.Views, n.Downloads); err != nil {
				return err
			}
		}
		return nil
	})
}

// Usage returns what the repository counted of a DOI, and what the service shows of it.
func (s *Store) Usage(ctx context.Context, name string) (own, displayed Used, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT
		(SELECT coalesce(sum(views), 0) FROM used WHERE doi = ?1), (SELECT coalesce(sum(downloads), 0) FROM used WHERE doi = ?1),
		coalesce((SELECT views FROM displayed WHERE doi = ?1), 0), coalesce((SELECT downloads FROM displayed WHERE doi = ?1), 0)`, doi.Key(name)).
		Scan(&own.Views, &own.Downloads, &displayed.Views, &displayed.Downloads)
	return own, displayed, err
}

// A Report is a usage report that was sent.
type Report struct {
	Month    string
	ID       string // "" if nothing was counted and so nothing was sent
	Datasets int64
	Complete bool // sent when the month was over
	Used     Used // what was counted in the month
}

// Reports returns the reports that were sent, the last month first.
func (s *Store) Reports(ctx context.Context) ([]Report, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT month, id, datasets, complete,
		(SELECT coalesce(sum(views), 0) FROM used u WHERE u.month = r.month), (SELECT coalesce(sum(downloads), 0) FROM used u WHERE u.month = r.month)
		FROM report r ORDER BY month DESC`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Report
	for rows.Next() {
		var r Report
		if err := rows.Scan(&r.Month, &r.ID, &r.Datasets, &r.Complete, &r.Used.Views, &r.Used.Downloads); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// Final tells whether the report of a month was sent when the month was over.
func (s *Store) Final(ctx context.Context, first time.Time) (final bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM report WHERE month = ? AND complete)`, first.Format(month)).Scan(&final)
	return final, err
}

// Reported stores that the report of a month was sent, and what it says. The accesses of a
// month are kept until the report of a later month is complete.
func (s *Store) Reported(ctx context.Context, first time.Time, r Report, counts map[string]Used) error {
	r.Month = first.Format(month)
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		if err := counted(ctx, tx, first, counts); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO report VALUES (?, ?, ?, ?)`, r.Month, r.ID, r.Datasets, r.Complete); err != nil || !r.Complete {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM access WHERE at < ? AND strftime('%Y-%m', at, 'unixepoch') IN (SELECT month FROM report WHERE complete)`, first.Unix())
		return err
	})
}

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"iter"
	"time"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
	"github.com/datacite-go/datacite-go/reports/counter"
)

const month = "2006-01"

// Accessed stores an access to a version, which is counted later.
func (s *Store) Accessed(ctx context.Context, v *dataset.Version, e counter.Event) error {
	event, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO access (version, at, event) SELECT id, ?, ? FROM version WHERE dataset = ? AND number = ?`,
		e.Time.Unix(), event, v.Dataset, v.Number)
	return err
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

// Months returns those of which accesses are stored: their reports are not complete.
func (s *Store) Months(ctx context.Context) (all []time.Time, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT DISTINCT strftime('%Y-%m', at, 'unixepoch') AS month FROM access ORDER BY month`)
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

// Reported stores that the report of a month was sent, and what it says. The accesses of
// a month whose report is complete are not needed any more.
func (s *Store) Reported(ctx context.Context, first time.Time, r Report, counts map[string]Used) error {
	r.Month = first.Format(month)
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		if err := counted(ctx, tx, first, counts); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO report VALUES (?, ?, ?, ?)`, r.Month, r.ID, r.Datasets, r.Complete); err != nil || !r.Complete {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM access WHERE at >= ? AND at < ?`, first.Unix(), first.AddDate(0, 1, 0).Unix())
		return err
	})
}

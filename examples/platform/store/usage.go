package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
	"github.com/datacite-go/datacite-go/reports/counter"
)

const month = "2006-01"

// ErrFinal means that an access would change what is reported already, or that the version
// was not published yet: the clock is wrong, or was wrong.
var ErrFinal = errors.New("the report of its month is complete, or the version was not published yet; is the clock " +
	"right?")

// An Access is one to a version, which is counted later.
type Access struct {
	Dataset int64
	Number  int // of the version
	Event   counter.Event
}

// Accessed stores accesses together, since each time the disk is waited for. It returns how
// many of them were not stored because of ErrFinal.
func (s *Store) Accessed(ctx context.Context, all ...Access) (final int, err error) {
	err = sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx,
			`INSERT INTO access (version, at, event) SELECT id, ?, ? FROM version WHERE dataset = ? AND number = ? AND published <= ?
			AND NOT EXISTS (SELECT 1 FROM report WHERE month = ? AND complete)`)
		if err != nil {
			return err
		}
		defer insert.Close()
		for _, a := range all {
			event, err := json.Marshal(a.Event)
			if err != nil {
				return err
			}
			at := a.Event.Time.UTC()
			res, err := insert.ExecContext(ctx, at.Unix(), event, a.Dataset, a.Number, at.Format(time.DateOnly),
				at.Format(month))
			if err != nil {
				return err
			}
			stored, err := res.RowsAffected()
			if err != nil {
				return err
			}
			final += 1 - int(stored)
		}
		return nil
	})
	return final, err
}

// AccessesOn returns how many accesses of a day are stored.
func (s *Store) AccessesOn(ctx context.Context, day string) (n int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM access WHERE at >= unixepoch(?1) AND at < unixepoch(?1, '+1 `+
		`day')`, day).Scan(&n)
	return n, err
}

// Missed adds to the accesses that were not stored, by month.
func (s *Store) Missed(ctx context.Context, counts map[string]int64) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		for month, n := range counts {
			if err := sqlite.Do(ctx, tx, `INSERT INTO missed VALUES (?1, ?2) ON CONFLICT (month) DO UPDATE SET accesses = `+
				`accesses + ?2`, month, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// AllMissed returns how many accesses were not stored, by month.
func (s *Store) AllMissed(ctx context.Context) (map[string]int64, error) {
	all := map[string]int64{}
	_, err := sqlite.All(ctx, s.db, func(row *sql.Rows, month *string) error {
		var n int64
		err := row.Scan(month, &n)
		all[*month] = n
		return err
	}, `SELECT month, accesses FROM missed`)
	return all, err
}

// Accesses yields what happened from one time until another.
func (s *Store) Accesses(ctx context.Context, from, until time.Time) iter.Seq2[counter.Event, error] {
	return sqlite.Rows(ctx, s.db, func(row *sql.Rows, e *counter.Event) error {
		var name string
		var event []byte
		err := row.Scan(&name, &event)
		if err == nil {
			err = json.Unmarshal(event, e)
		}
		e.DOI = name
		return err
	}, `SELECT v.doi, a.event FROM access a JOIN version v ON v.id = a.version WHERE a.at BETWEEN ? AND `+
		`?`, from.Unix(), until.Unix())
}

// Months returns those of which accesses are stored, and whose reports are not complete.
func (s *Store) Months(ctx context.Context) (all []time.Time, err error) {
	texts, err := sqlite.Column[string](ctx, s.db, `SELECT DISTINCT strftime('%Y-%m', at, 'unixepoch') AS month FROM access
		WHERE month NOT IN (SELECT month FROM report WHERE complete) ORDER BY month`)
	for _, text := range texts {
		first, err := time.Parse(month, text)
		if err != nil {
			return nil, err
		}
		all = append(all, first)
	}
	return all, err
}

// Used is how often people looked at a version and downloaded files of it.
type Used struct{ Views, Downloads int64 }

// Counted stores what was counted in a month, by DOI.
func (s *Store) Counted(ctx context.Context, first time.Time, counts map[string]Used) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error { return counted(ctx, tx, first, counts) })
}

func counted(ctx context.Context, tx *sql.Tx, first time.Time, counts map[string]Used) error {
	return put(ctx, tx, counts, `INSERT OR REPLACE INTO used VALUES (?1, ?4, ?2, ?3)`, first.Format(month))
}

// put stores counts by DOI.
func put(ctx context.Context, tx *sql.Tx, counts map[string]Used, statement string, more ...any) error {
	for name, n := range counts {
		if err := sqlite.Do(ctx, tx, statement, append([]any{doi.Key(name), n.Views, n.Downloads}, more...)...); err != nil {
			return err
		}
	}
	return nil
}

// Display stores what the service shows, by DOI.
func (s *Store) Display(ctx context.Context, counts map[string]Used) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		return put(ctx, tx, counts, `INSERT OR REPLACE INTO displayed VALUES (?, ?, ?)`)
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
	return sqlite.All(ctx, s.db, func(row *sql.Rows, r *Report) error {
		return row.Scan(&r.Month, &r.ID, &r.Datasets, &r.Complete, &r.Used.Views, &r.Used.Downloads)
	}, `SELECT month, id, datasets, complete,
		(SELECT coalesce(sum(views), 0) FROM used u WHERE u.month = r.month), (SELECT coalesce(sum(downloads), 0) FROM used u WHERE u.month = r.month)
		FROM report r ORDER BY month DESC`)
}

// Final tells whether the report of a month was sent when the month was over.
func (s *Store) Final(ctx context.Context, first time.Time) (final bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM report WHERE month = ? AND complete)`,
		first.Format(month)).Scan(&final)
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
		if err := sqlite.Do(ctx, tx, `INSERT OR REPLACE INTO report VALUES (?, ?, ?, ?)`, r.Month, r.ID, r.Datasets,
			r.Complete); err != nil || !r.Complete {
			return err
		}
		return sqlite.Do(ctx, tx, `DELETE FROM access WHERE at < ? AND strftime('%Y-%m', at, 'unixepoch') IN (SELECT month `+
			`FROM report WHERE complete)`, first.Unix())
	})
}

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"time"

	_ "modernc.org/sqlite" // SQLite without cgo

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// A store is the repository's own database. What it says survives a crash at any
// moment; what has to be told to the registration service waits in its outbox.
type store struct{ db *sql.DB }

const schema = `
CREATE TABLE IF NOT EXISTS dataset (
	id          INTEGER PRIMARY KEY,
	doi         TEXT NOT NULL UNIQUE,
	claimed     INTEGER NOT NULL DEFAULT 0,
	state       TEXT NOT NULL DEFAULT 'draft',
	revision    INTEGER NOT NULL DEFAULT 1, -- grows with each change
	version     INTEGER NOT NULL DEFAULT 1, -- grows when something public changes
	title       TEXT NOT NULL,
	description TEXT NOT NULL,
	year        TEXT NOT NULL,
	license     TEXT NOT NULL,
	creators    TEXT NOT NULL, -- JSON
	file        TEXT NOT NULL DEFAULT '',
	bytes       BLOB
);
-- A row for each dataset whose DOI is not known to be as the dataset is.
CREATE TABLE IF NOT EXISTS outbox (
	dataset INTEGER PRIMARY KEY REFERENCES dataset,
	due     INTEGER NOT NULL, -- milliseconds since 1970
	tries   INTEGER NOT NULL DEFAULT 0,
	problem TEXT NOT NULL DEFAULT ''
);
-- What was looked at and downloaded.
CREATE TABLE IF NOT EXISTS access (
	dataset INTEGER NOT NULL REFERENCES dataset,
	at      INTEGER NOT NULL, -- seconds since 1970
	event   TEXT NOT NULL     -- a counter.Event in JSON, without the DOI, which may still change
);
CREATE INDEX IF NOT EXISTS accesses ON access (at);
CREATE TABLE IF NOT EXISTS report (
	month    TEXT PRIMARY KEY, -- such as 2026-10
	id       TEXT NOT NULL,
	datasets INTEGER NOT NULL,
	complete INTEGER NOT NULL -- sent when the month was over
);
-- What the last check of the service's records found.
CREATE TABLE IF NOT EXISTS finding (at INTEGER NOT NULL, text TEXT NOT NULL);
`

func openStore(path string) (*store, error) {
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec(schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &store{db}, nil
}

func (s *store) close() error { return s.db.Close() }

// change does several things to the database, all or none.
func (s *store) change(ctx context.Context, work func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

const columns = `SELECT d.id, d.doi, d.claimed, d.state, d.revision, d.version, d.title, d.description, d.year, d.license, d.creators, d.file,
	o.dataset IS NOT NULL, coalesce(o.tries, 0), coalesce(o.problem, '')
	FROM dataset d LEFT JOIN outbox o ON o.dataset = d.id `

// datasets returns those that a condition chooses, with a consistent view.
func (s *store) datasets(ctx context.Context, condition string, args ...any) ([]*Dataset, error) {
	rows, err := s.db.QueryContext(ctx, columns+condition, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*Dataset
	for rows.Next() {
		var d Dataset
		var creators []byte
		if err := rows.Scan(&d.ID, &d.DOI, &d.Claimed, &d.State, &d.Revision, &d.Version, &d.Title, &d.Description, &d.Year, &d.License, &creators, &d.File,
			&d.Pending, &d.Tries, &d.Problem); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(creators, &d.Creators); err != nil {
			return nil, err
		}
		all = append(all, &d)
	}
	return all, rows.Err()
}

func (s *store) dataset(ctx context.Context, id int64) (*Dataset, error) {
	found, err := s.datasets(ctx, "WHERE d.id = ?", id)
	if err == nil && len(found) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// create stores a new dataset under a DOI that it chooses.
func (s *store) create(ctx context.Context, d *Dataset, prefix string, file []byte) error {
	creators, err := json.Marshal(d.Creators)
	if err != nil {
		return err
	}
	d.DOI, d.State, d.Revision, d.Version = prefix+"/"+doi.NewSuffix(), Draft, 1, 1
	res, err := s.db.ExecContext(ctx, `INSERT INTO dataset (doi, title, description, year, license, creators, file, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		d.DOI, d.Title, d.Description, d.Year, d.License, creators, d.File, file)
	if err != nil {
		return err
	}
	d.ID, err = res.LastInsertId()
	return err
}

// update stores what was edited, unless somebody else has changed it since it was
// read, and puts a dataset that is public into the outbox.
func (s *store) update(ctx context.Context, d *Dataset) error {
	creators, err := json.Marshal(d.Creators)
	if err != nil {
		return err
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE dataset SET title = ?, description = ?, year = ?, license = ?, creators = ?,
			revision = revision + 1, version = version + (state <> 'draft') WHERE id = ? AND revision = ?`,
			d.Title, d.Description, d.Year, d.License, creators, d.ID, d.Revision)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errChanged)
		}
		if d.State == Draft {
			return nil
		}
		return enqueue(ctx, tx, d.ID)
	})
}

// decide changes the state of a dataset, and puts it into the outbox.
func (s *store) decide(ctx context.Context, id int64, state State) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE dataset SET state = ?, revision = revision + 1 WHERE id = ?`, state, id); err != nil {
			return err
		}
		return enqueue(ctx, tx, id)
	})
}

// again puts a dataset into the outbox whose DOI is not as it should be.
func (s *store) again(ctx context.Context, id int64) error {
	return s.change(ctx, func(tx *sql.Tx) error { return enqueue(ctx, tx, id) })
}

func enqueue(ctx context.Context, tx *sql.Tx, id int64) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO outbox (dataset, due) VALUES (?, ?)`, id, time.Now().UnixMilli())
	return err
}

// due returns the datasets whose turn in the outbox has come, and when that of the
// next one comes.
func (s *store) due(ctx context.Context) (now []*Dataset, next time.Time, err error) {
	now, err = s.datasets(ctx, `WHERE o.due <= ? ORDER BY o.due LIMIT 100`, time.Now().UnixMilli())
	if err != nil {
		return nil, next, err
	}
	var at int64
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(min(due), 0) FROM outbox WHERE due > ?`, time.Now().UnixMilli()).Scan(&at)
	if at == 0 {
		return now, time.Now().Add(time.Hour), err
	}
	return now, time.UnixMilli(at), err
}

// rename gives a dataset another DOI, before anything was sent under the first.
func (s *store) rename(ctx context.Context, d *Dataset, prefix string) error {
	name := prefix + "/" + doi.NewSuffix()
	_, err := s.db.ExecContext(ctx, `UPDATE dataset SET doi = ? WHERE id = ? AND claimed = 0`, name, d.ID)
	d.DOI = name
	return err
}

// claim notes that from now on something may be sent under the dataset's DOI.
func (s *store) claim(ctx context.Context, d *Dataset) error {
	_, err := s.db.ExecContext(ctx, `UPDATE dataset SET claimed = 1 WHERE id = ?`, d.ID)
	d.Claimed = err == nil
	return err
}

// settled takes a dataset out of the outbox, unless it has changed since it was read.
func (s *store) settled(ctx context.Context, d *Dataset) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM outbox WHERE dataset = ? AND (SELECT revision FROM dataset WHERE id = ?) = ?`, d.ID, d.ID, d.Revision)
	return err
}

// failed notes why a dataset stays in the outbox, and when it is tried again.
func (s *store) failed(ctx context.Context, d *Dataset, problem string, due time.Time) error {
	_, err := s.db.ExecContext(ctx, `UPDATE outbox SET tries = tries + 1, problem = ?, due = ? WHERE dataset = ? AND (SELECT revision FROM dataset WHERE id = ?) = ?`,
		problem, due.UnixMilli(), d.ID, d.ID, d.Revision)
	return err
}

func (s *store) file(ctx context.Context, id int64) (data []byte, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT bytes FROM dataset WHERE id = ?`, id).Scan(&data)
	return data, err
}

// accessed stores an access to a dataset, which is counted when its month is reported.
func (s *store) accessed(ctx context.Context, id int64, e counter.Event) error {
	event, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO access (dataset, at, event) VALUES (?, ?, ?)`, id, e.Time.Unix(), event)
	return err
}

// accesses yields what happened from one time until another.
func (s *store) accesses(ctx context.Context, from, until time.Time) iter.Seq2[counter.Event, error] {
	return func(yield func(counter.Event, error) bool) {
		rows, err := s.db.QueryContext(ctx, `SELECT d.doi, a.event FROM access a JOIN dataset d ON d.id = a.dataset WHERE a.at BETWEEN ? AND ?`, from.Unix(), until.Unix())
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

// A Report is a usage report that was sent.
type Report struct {
	Month    string
	ID       string
	Datasets int64
	Complete bool // sent when the month was over
}

func (s *store) reports(ctx context.Context) ([]Report, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT month, id, datasets, complete FROM report ORDER BY month DESC`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Report
	for rows.Next() {
		var r Report
		if err := rows.Scan(&r.Month, &r.ID, &r.Datasets, &r.Complete); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

func (s *store) reported(ctx context.Context, r Report) error {
	_, err := s.db.ExecContext(ctx, `INSERT OR REPLACE INTO report (month, id, datasets, complete) VALUES (?, ?, ?, ?)`, r.Month, r.ID, r.Datasets, r.Complete)
	return err
}

// checked stores what a check found in place of what the last one did.
func (s *store) checked(ctx context.Context, at time.Time, findings []string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM finding`); err != nil {
			return err
		}
		for _, text := range append(findings, "") { // the empty one says when it was
			if _, err := tx.ExecContext(ctx, `INSERT INTO finding (at, text) VALUES (?, ?)`, at.Unix(), text); err != nil {
				return err
			}
		}
		return nil
	})
}

// findings returns what the last check found, and when it was.
func (s *store) findings(ctx context.Context) (at time.Time, texts []string, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT at, text FROM finding`)
	if err != nil {
		return at, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var seconds int64
		var text string
		if err := rows.Scan(&seconds, &text); err != nil {
			return at, nil, err
		}
		at = time.Unix(seconds, 0)
		if text != "" {
			texts = append(texts, text)
		}
	}
	return at, texts, rows.Err()
}

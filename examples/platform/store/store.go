// Package store keeps datasets, their files, and what has to be told to the
// registration service. What it says survives a crash at any moment.
package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

var (
	// ErrNotFound means that there is no such dataset.
	ErrNotFound = errors.New("not found")
	// ErrChanged means that somebody else changed the dataset in the meantime.
	ErrChanged = errors.New("the dataset has changed in the meantime")
)

// A Store is the repository's own database, and the folder of its files.
type Store struct {
	db     *sqlite.DB
	folder string
	Room   int64                      // bytes of the disk that uploads leave free
	lock   *flock.Flock               // held by the process that has the folder
	choose func(prefix string) string // a DOI at random

	notes notes

	mu       sync.Mutex     // of the folder of files
	arriving map[string]int // files that were received, and not released, by hash
}

// Open opens the store in a folder, which it makes if there is none. Other accounts of
// the machine may not read it. Files that belong to no version are removed, so only one
// process at a time may have the folder: for a second one it is an error.
func Open(folder string) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(folder, "files"), 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others may read %s, where drafts are kept: run chmod 700 %[1]s", folder)
	}
	lock, err := take(folder)
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(filepath.Join(folder, database), steps...)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	s := &Store{db: db, folder: folder, Room: Room, lock: lock, choose: doi.New, arriving: map[string]int{}}
	err = errors.Join(s.reindex(context.Background()), s.sweep())
	if reserving := sqlite.Reserve(folder); !sqlite.Full(reserving) { // a full disk is what Healthy reports
		err = errors.Join(err, reserving)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// take makes a folder this process's own.
func take(folder string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(folder, "lock"), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err == nil && !got {
		err = fmt.Errorf("another process uses %s; stop it first", folder)
	}
	return lock, err
}

// database is the name of the store's own in its folder.
const database = "platform.db"

// Close closes the database, and leaves the folder to other processes.
func (s *Store) Close() error { return errors.Join(s.db.Close(), s.lock.Unlock()) }

// A querier is the database, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// One statement, so that a dataset and its versions are of the same moment.
const columns = `SELECT d.id, d.owner, d.doi, d.claimed, d.revision, o.dataset IS NOT NULL, coalesce(o.tries, 0), coalesce(o.problem, ''),
	v.number, v.doi, v.claimed, v.state, v.shown, v.published, v.withdrawn, v.reason, v.review, v.revision, v.about, v.files
	FROM dataset d JOIN version v ON v.dataset = d.id LEFT JOIN outbox o ON o.dataset = d.id `

// datasets returns those that a condition chooses, the newest first unless the
// condition has an order. The rows of a dataset must follow each other.
func datasets(ctx context.Context, db querier, condition string, args ...any) ([]*dataset.Dataset, error) {
	if !strings.Contains(condition, "ORDER BY o.due") {
		condition += " ORDER BY d.id DESC, v.number"
	}
	rows, err := db.QueryContext(ctx, columns+condition, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*dataset.Dataset
	for rows.Next() {
		var d dataset.Dataset
		var v dataset.Version
		var about, files []byte
		if err := rows.Scan(&d.ID, &d.Owner, &d.DOI, &d.Claimed, &d.Revision, &d.Pending, &d.Tries, &d.Problem,
			&v.Number, &v.DOI, &v.Claimed, &v.State, &v.Shown, &v.Published, &v.Withdrawn, &v.Reason, &v.Review, &v.Revision, &about, &files); err != nil {
			return nil, err
		}
		if err := errors.Join(json.Unmarshal(about, &v.About), json.Unmarshal(files, &v.Files)); err != nil {
			return nil, err
		}
		v.Dataset = d.ID
		if len(all) == 0 || all[len(all)-1].ID != d.ID {
			all = append(all, &d)
		}
		last := all[len(all)-1]
		last.Versions = append(last.Versions, &v)
	}
	return all, rows.Err()
}

// Dataset returns a dataset, or ErrNotFound.
func (s *Store) Dataset(ctx context.Context, id int64) (*dataset.Dataset, error) {
	return s.one(ctx, "WHERE d.id = ?", id)
}

// Find returns the dataset that has a DOI with a suffix, and the version, which is nil for
// the concept DOI; or ErrNotFound.
func (s *Store) Find(ctx context.Context, suffix string) (*dataset.Dataset, *dataset.Version, error) {
	d, err := s.one(ctx, "WHERE d.id IN (SELECT id FROM dataset WHERE "+suffixOf+" = ?1 UNION SELECT dataset FROM version WHERE "+suffixOf+" = ?1)", suffix)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range d.Versions {
		if strings.HasSuffix(v.DOI, "/"+suffix) {
			return d, v, nil
		}
	}
	return d, nil, nil
}

// Numbered returns the dataset that had a number in its address, before addresses had the
// suffix of the DOI, and its version, which is nil for the number 0; or ErrNotFound.
func (s *Store) Numbered(ctx context.Context, id int64, number int) (*dataset.Dataset, *dataset.Version, error) {
	d, err := s.one(ctx, "WHERE d.id IN (SELECT dataset FROM version WHERE numbered AND dataset = ?1 AND ?2 IN (0, number))", id, number)
	if err != nil {
		return nil, nil, err
	}
	return d, d.Version(number), nil
}

// UnderReview returns the draft that has a secret address for reviewers, or ErrNotFound.
func (s *Store) UnderReview(ctx context.Context, secret string) (*dataset.Dataset, *dataset.Version, error) {
	d, err := s.one(ctx, "WHERE d.id = (SELECT dataset FROM version WHERE review = ? AND review <> '' AND state = 'draft')", secret)
	if err != nil {
		return nil, nil, err
	}
	return d, d.Last(), nil
}

func (s *Store) one(ctx context.Context, condition string, args ...any) (*dataset.Dataset, error) {
	found, err := datasets(ctx, s.db, condition, args...)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Public returns the datasets that have a DOI, or will have one soon.
func (s *Store) Public(ctx context.Context) ([]*dataset.Dataset, error) {
	return datasets(ctx, s.db, "WHERE d.id IN (SELECT dataset FROM version WHERE state <> 'draft')")
}

// Create stores a new dataset, with a draft of its first version, under DOIs that it
// chooses, and returns its id.
func (s *Store) Create(ctx context.Context, owner, prefix string, about dataset.About) (id int64, err error) {
	err = sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		name, err := s.newName(ctx, tx, prefix)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO dataset (owner, doi) VALUES (?, ?)`, owner, name)
		if err != nil {
			return err
		}
		if id, err = res.LastInsertId(); err != nil {
			return err
		}
		return s.insertVersion(ctx, tx, prefix, &dataset.Version{Dataset: id, Number: 1, About: about})
	})
	return id, err
}

// suffixOf is the suffix of a DOI, which has an index.
const suffixOf = "substr(doi, instr(doi, '/') + 1)"

// newName chooses a DOI whose suffix no dataset and no version has. Among 100,000 datasets,
// one choice in 5,000 is in use.
func (s *Store) newName(ctx context.Context, tx *sql.Tx, prefix string) (name string, err error) {
	for used := true; used && err == nil; {
		name = s.choose(prefix)
		_, suffix := doi.Split(name)
		err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM dataset WHERE "+suffixOf+" = ?1) OR EXISTS (SELECT 1 FROM version WHERE "+suffixOf+" = ?1)", suffix).Scan(&used)
	}
	return name, err
}

func (s *Store) insertVersion(ctx context.Context, tx *sql.Tx, prefix string, v *dataset.Version) error {
	name, err := s.newName(ctx, tx, prefix)
	about, err1 := json.Marshal(v.About)
	files, err2 := json.Marshal(append([]dataset.File{}, v.Files...))
	if err := errors.Join(err, err1, err2); err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, `INSERT INTO version (dataset, number, doi, about, files) VALUES (?, ?, ?, ?, ?)`,
		v.Dataset, v.Number, name, about, files); err != nil {
		return err
	}
	return enqueue(ctx, tx, v.Dataset) // which reserves the DOI
}

// change does something to a dataset, unless somebody else has changed it since it was
// read. If the public sees the change, the outbox and the index get it with it.
func (s *Store) change(ctx context.Context, d *dataset.Dataset, public bool, work func(*sql.Tx) (sql.Result, error)) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		current, err := column[int](ctx, tx, `SELECT revision FROM dataset WHERE id = ?`, d.ID)
		if err != nil {
			return err
		}
		if !slices.Equal(current, []int{d.Revision}) {
			return ErrChanged
		}
		if _, err := work(tx); err != nil {
			return err
		}
		return s.touch(ctx, tx, d.ID, public)
	})
}

// touch notes that a dataset has changed.
func (s *Store) touch(ctx context.Context, tx *sql.Tx, id int64, public bool) error {
	_, err := tx.ExecContext(ctx, `UPDATE dataset SET revision = revision + 1, changed = iif(?, ?, changed) WHERE id = ?`, public, time.Now().UTC().Format(time.RFC3339), id)
	if err != nil || !public {
		return err
	}
	return errors.Join(enqueue(ctx, tx, id), index(ctx, tx, id))
}

// Edit stores what was edited of a version, unless somebody has edited it since it was read.
// Other changes, such as an upload, do not contradict it.
func (s *Store) Edit(ctx context.Context, v *dataset.Version, about dataset.About) error {
	data, err := json.Marshal(about)
	if err != nil {
		return err
	}
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		states, err := column[dataset.State](ctx, tx, `UPDATE version SET about = ?, revision = revision + 1 WHERE dataset = ? AND number = ? AND revision = ? RETURNING state`,
			data, v.Dataset, v.Number, v.Revision)
		if err != nil {
			return err
		}
		if len(states) == 0 {
			return ErrChanged
		}
		return s.touch(ctx, tx, v.Dataset, states[0] != dataset.Draft)
	})
}

// AddVersion adds a draft with the contents of the last version, which is not a draft.
func (s *Store) AddVersion(ctx context.Context, d *dataset.Dataset, prefix string) error {
	next := &dataset.Version{Dataset: d.ID, Number: d.Last().Number + 1, About: d.Last().About, Files: d.Last().Files}
	return s.change(ctx, d, false, func(tx *sql.Tx) (sql.Result, error) { return nil, s.insertVersion(ctx, tx, prefix, next) })
}

// Discard removes the draft that is the last version, and a dataset that had no other. Files
// that only the draft has are deleted.
func (s *Store) Discard(ctx context.Context, d *dataset.Dataset) error {
	err := s.db.Freeing(func() error {
		return s.change(ctx, d, false, func(tx *sql.Tx) (sql.Result, error) {
			res, err := tx.ExecContext(ctx, `DELETE FROM version WHERE dataset = ? AND number = ? AND state = 'draft'`, d.ID, d.Last().Number)
			if err != nil || len(d.Versions) > 1 {
				return res, err
			}
			return tx.ExecContext(ctx, `DELETE FROM outbox WHERE dataset = ?1; DELETE FROM dataset WHERE id = ?1`, d.ID)
		})
	})
	if err != nil {
		return err
	}
	return s.drop(ctx, d.Last().Files)
}

// ChangeFiles changes which files a draft has. The work gets those that it has at that moment,
// whatever it had when it was read: nobody's upload contradicts what others change. Files that
// no version has any more are deleted.
func (s *Store) ChangeFiles(ctx context.Context, v *dataset.Version, work func([]dataset.File) ([]dataset.File, error)) error {
	return s.contents(ctx, v, dataset.Draft, func(v *dataset.Version) (err error) {
		v.Files, err = work(slices.Clone(v.Files))
		return err
	})
}

// Erase deletes the files of a version that was withdrawn, and what was said of the data,
// also from the free pages of the database.
func (s *Store) Erase(ctx context.Context, v *dataset.Version) error {
	err := s.contents(ctx, v, dataset.Withdrawn, func(v *dataset.Version) error {
		v.Files, v.About = nil, v.Says()
		return nil
	})
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`) // readers that are busy delay it until the next one
	return err
}

// contents changes what a version has and says, in a state.
func (s *Store) contents(ctx context.Context, v *dataset.Version, state dataset.State, work func(*dataset.Version) error) error {
	if err := syncFolder(filepath.Join(s.folder, "files")); err != nil { // once for all that were received
		return err
	}
	var before, after []dataset.File
	err := s.db.Freeing(func() error {
		return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
			found, err := datasets(ctx, tx, "WHERE d.id = ?", v.Dataset)
			if err != nil {
				return err
			}
			if len(found) == 0 || found[0].Version(v.Number) == nil || found[0].Version(v.Number).State != state {
				return ErrChanged
			}
			now := found[0].Version(v.Number)
			before = now.Files
			if err := work(now); err != nil {
				return err
			}
			after = now.Files
			about, err1 := json.Marshal(now.About)
			files, err2 := json.Marshal(append([]dataset.File{}, after...))
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE version SET about = ?, files = ? WHERE dataset = ? AND number = ?`, about, files, v.Dataset, v.Number); err != nil {
				return err
			}
			return s.touch(ctx, tx, v.Dataset, state != dataset.Draft)
		})
	})
	if err != nil {
		return err
	}
	return s.drop(ctx, slices.DeleteFunc(slices.Clone(before), func(f dataset.File) bool { return slices.Contains(after, f) }))
}

// Decide stores what was decided about a version: its state, since when, and why.
func (s *Store) Decide(ctx context.Context, d *dataset.Dataset, decided *dataset.Version) error {
	return s.change(ctx, d, true, func(tx *sql.Tx) (sql.Result, error) {
		return tx.ExecContext(ctx, `UPDATE version SET state = ?, reason = ?, withdrawn = ?, published = ? WHERE dataset = ? AND number = ?`,
			decided.State, decided.Reason, decided.Withdrawn, decided.Published, d.ID, decided.Number)
	})
}

// SetReview gives a draft another secret address for reviewers, or takes it away with "".
func (s *Store) SetReview(ctx context.Context, d *dataset.Dataset, draft *dataset.Version, secret string) error {
	return s.change(ctx, d, false, func(tx *sql.Tx) (sql.Result, error) {
		return tx.ExecContext(ctx, `UPDATE version SET review = ? WHERE dataset = ? AND number = ? AND state = 'draft'`, secret, d.ID, draft.Number)
	})
}

// Give makes one curator the owner of what another one has, and returns how many datasets
// that is.
func (s *Store) Give(ctx context.Context, from, to string) (given int64, err error) {
	res, err := s.db.ExecContext(ctx, `UPDATE dataset SET owner = ?, revision = revision + 1 WHERE owner = ?`, to, from)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
